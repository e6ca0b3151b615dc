"""The block list: URLs, domains and prefixes that may not be stored again, by their hashes.

It lies in the table `webtable_settings`, and names nothing in clear:

    blocked:url:HASH             a:since = 2026-09-01T12:00:00Z
    blocked:domain:HASH          HASH of the reversed host, with its port if it has one
    blocked:prefix:NNNN:HASH     NNNN: how many characters of a URL the prefix has
    blocks                       a:version = random; changed by every change of the list

HASH is a SHA-256 in hex; for a URL, of its row key. To check a URL is to look up the hash of its
row key, those of its host and of every domain above, and one for each length of a prefix.
On-disk: changing this needs a new format version. Frozen by
tests/pages/removing/test_block_list.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

import msgspec

from webtable.errors import NotFound, UrlBlocked
from webtable.pages.keys import KeyScheme
from webtable.pages.removing.targets import Target, domain_hashes, prefix_hash, row_hash
from webtable.pages.schema import SETTINGS_TABLE
from webtable.pages.storing.capture_cells import encode_time
from webtable.pages.urls import port_of
from webtable.result_base import Value
from webtable.store.mutation import Delete, Mutation, Put
from webtable.store.store import Store

__all__ = ["BlockList", "Blocked"]

_PREFIX, _VERSION_ROW = b"blocked:", b"blocks"
_SINCE, _VERSION = b"a:since", b"a:version"
_CACHED_URLS = 65_536


class Blocked(Value, msgspec.Struct, frozen=True):
    """An entry of the block list.

    Attributes:
        kind: `url`, `domain` or `prefix`.
        hash: the SHA-256 of the row key, of the reversed host, or of the prefix.
        since: when it was blocked.
        length: how many characters the prefix has; 0 for others.
    """

    kind: str
    hash: str
    since: str
    length: int = 0


class _Entries(NamedTuple):
    """The list as it was read: the hashes by kind, and the lengths of prefixes."""

    urls: frozenset[str] = frozenset()
    domains: frozenset[str] = frozenset()
    prefixes: frozenset[str] = frozenset()
    lengths: tuple[int, ...] = ()


class BlockList:
    """The block list of a store. Threads may share it.

    `blocks` uses a cached copy; `refresh` reads one cell, and the list where it changed.

    Attributes:
        version: changes with every change that `refresh` has seen.
    """

    def __init__(self, store: Store, keys: KeyScheme, tokens: Callable[[], bytes]) -> None:
        self._store = store
        self._keys = keys
        self._tokens = tokens
        self._entries = _Entries()
        self.version = b""
        self._check = lru_cache(_CACHED_URLS)(self._is_blocked)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is blocked."""
        return not any(self._entries)

    def refresh(self) -> bool:
        """Reads the list where it has changed; returns whether it had."""
        table = self._store.table(SETTINGS_TABLE)
        found = table.get(_VERSION_ROW, (_VERSION,))
        version = b"" if found is None else found.value(_VERSION) or b""
        if version == self.version:
            return False
        # The version is read first: entries that are added meanwhile change it once more.
        entries = [_decoded(row.key, b"") for row in table.scan(prefix=_PREFIX)]
        self._entries = _Entries(
            frozenset(each.hash for each in entries if each.kind == "url"),
            frozenset(each.hash for each in entries if each.kind == "domain"),
            frozenset(each.hash for each in entries if each.kind == "prefix"),
            tuple(sorted({each.length for each in entries if each.kind == "prefix"})),
        )
        self._check.cache_clear()
        self.version = version
        return True

    def blocks(self, url: str) -> bool:
        """Whether a canonical URL is blocked, by the list as it was read last."""
        return any(self._entries) and self._check(url)

    def check(self, url: str) -> None:
        """Checks that a canonical URL is not blocked.

        Raises:
            UrlBlocked: it is.
        """
        if self.blocks(url):
            raise UrlBlocked

    def _is_blocked(self, url: str) -> bool:
        urls, domains, prefixes, lengths = self._entries
        if urls and row_hash(self._keys.row_key(url)) in urls:
            return True
        if domains and not domains.isdisjoint(domain_hashes(url, port_of(url))):
            return True
        return any(prefix_hash(url[:n]) in prefixes for n in lengths if n <= len(url))

    # The list itself

    def entries(self) -> list[Blocked]:
        """Returns the entries, by kind and hash."""
        table = self._store.table(SETTINGS_TABLE)
        return [_decoded(row.key, row.value(_SINCE) or b"") for row in table.scan(prefix=_PREFIX)]

    def add(self, targets: Iterable[Target], now_ms: int) -> None:
        """Blocks URLs, domains or prefixes; returns when every writer can see it."""
        since = encode_time(now_ms // 1000).encode()
        self._write([Put(_row_of(target), {_SINCE: since}) for target in targets])

    def remove(self, target: Target) -> None:
        """Removes an entry.

        Raises:
            NotFound: it is not blocked. A URL may be blocked by its domain or a prefix.
        """
        row = _row_of(target)
        if self._store.table(SETTINGS_TABLE).get(row) is None:
            raise NotFound(
                "entry of the block list",
                target.text,
                hint="name it as it was blocked: the URL, the domain or the prefix",
            )
        self._write([Delete(row)])

    def _write(self, mutations: list[Mutation]) -> None:
        table = self._store.table(SETTINGS_TABLE)
        with table.batch(durability="sync") as batch:
            for mutation in mutations:
                batch.add(mutation)
        # After the entries: a writer that reads the new version reads them, too.
        version = self._tokens().hex().encode()
        table.put(_VERSION_ROW, {_VERSION: version}, durability="sync")
        self.refresh()


def _row_of(target: Target) -> bytes:
    length = f"{target.length:04}:" if target.kind == "prefix" else ""
    return _PREFIX + f"{target.kind}:{length}{target.hash}".encode()


def _decoded(row: bytes, since: bytes) -> Blocked:
    kind, *length, digest = row[len(_PREFIX) :].decode().split(":")
    return Blocked(kind, digest, since.decode(), int(length[0]) if length else 0)
