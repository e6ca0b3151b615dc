"""Registered domains: which part of a host its owner registered.

`docs.example.co.uk` is a part of `example.co.uk`; that `co.uk` itself is nobody's is known from
the public suffix list, of which the part that registries keep (ICANN's) is used: the domains of
hosting companies count as one domain each. Row keys depend on it, so a store keeps the list that
it was made with.
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
