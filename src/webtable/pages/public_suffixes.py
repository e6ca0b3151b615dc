"""Registered domains: the part of a host name that its owner registered.

The registered domain of `docs.example.co.uk` is `example.co.uk`, since the public suffix list
contains `co.uk`. Only ICANN's part of that list is used: the domain of a hosting company counts as
one domain. Row keys depend on the list, so a store keeps the list that it was created with.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib import resources

from publicsuffixlist import PublicSuffixList

__all__ = ["Suffixes", "newest_list", "suffixes_of"]

_CACHED_HOSTS = 65_536


@lru_cache(4)
def suffixes_of(text: str) -> Suffixes:
    """Returns the list that a text is; to read one takes a tenth of a second."""
    return Suffixes(text)


@lru_cache(1)
def newest_list() -> str:
    """Returns the public suffix list that is installed, for stores that are made now."""
    return (resources.files("publicsuffixlist") / "public_suffix_list.dat").read_text("utf-8")


class Suffixes:
    """A public suffix list. `text` is the whole of it, `digest` tells one list from another."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.digest = hashlib.sha256(text.encode()).hexdigest()
        self._list = PublicSuffixList(text.splitlines(), only_icann=True)
        # Crawls visit a host many times; to look it up takes longer than all the rest of a key.
        self.registered_domain = lru_cache(_CACHED_HOSTS)(self._registered_domain)

    def _registered_domain(self, host: str) -> str:
        """Returns the registered domain of a host; the host itself where it has none.

        Addresses, single names such as `localhost`, and public suffixes have none.
        """
        if host.startswith("[") or host.replace(".", "").isdigit():
            return host
        return self._list.privatesuffix(host) or host
