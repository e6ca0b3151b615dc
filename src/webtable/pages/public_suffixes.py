"""Registered domains: the part of a host name that its owner registered.

The registered domain of `docs.example.co.uk` is `example.co.uk`, since the public suffix list
contains `co.uk`. Only ICANN's part of that list is used: the domain of a hosting company counts as
one domain. Row keys depend on the list, so a store keeps the list that it was created with.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cached_property, lru_cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

__all__ = ["Suffixes", "newest_list", "suffixes_of"]

_CACHED_HOSTS = 65_536
_BEGIN, _END = "// ===BEGIN ICANN DOMAINS===\n", "// ===END ICANN DOMAINS===\n"


@lru_cache(4)
def suffixes_of(text: str) -> Suffixes:
    """Returns the list that a text is; all callers share one, with the domains it has found."""
    return Suffixes(text)


@lru_cache(1)
def newest_list() -> str:
    """Returns the public suffix list that is installed, for stores that are made now."""
    return (resources.files("publicsuffixlist") / "public_suffix_list.dat").read_text("utf-8")


class Suffixes:
    """A public suffix list. `text` is the whole of it, `digest` tells one list from another.

    It is parsed when the first domain is looked up: many queries need none.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        # Crawls visit a host many times; to look it up takes longer than all the rest of a key.
        self.registered_domain = lru_cache(_CACHED_HOSTS)(self._registered_domain)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @cached_property
    def _list(self) -> PublicSuffixList:
        from publicsuffixlist import PublicSuffixList

        return PublicSuffixList(list(_rules(self.text)), accept_encoded_idn=False)

    def _registered_domain(self, host: str) -> str:
        """Returns the registered domain of a host; the host itself where it has none.

        Addresses, single names such as `localhost`, and public suffixes have none.
        """
        if host.startswith("[") or host.replace(".", "").isdigit():
            return host
        return self._list.privatesuffix(host) or host


def _rules(text: str) -> Iterator[str]:
    """Yields the rules of ICANN's part, those with letters beyond ASCII in their encoded form too.

    The library can do both by itself, but encodes every rule, which takes five times as long.
    """
    _, _, rest = text.partition(_BEGIN)
    for line in rest.partition(_END)[0].splitlines():
        rule = line.partition(" ")[0].strip()
        if rule and not rule.startswith("//"):
            yield rule
            if not rule.isascii():
                yield "!" * rule.startswith("!") + rule.lstrip("!").encode("idna").decode()
