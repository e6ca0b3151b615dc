"""Major compaction: our own rewrite of what no read can see, then RocksDB's.

RocksDB compacts by itself, but has no notion of versions, delete markers and times to live. So the
cells that HBase's major compaction would drop are deleted here, a few thousand at a time with
writers locked out, and RocksDB then frees the space.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from rocksdict import WriteBatch

from webtable.store.cells_and_rows import MAX_TIMESTAMP, CellType
from webtable.store.rocks.cell_keys import (
    SUFFIX_BYTES,
    TAGGED,
    decode_tagged,
    decode_timestamp,
    escape,
    is_put,
)
from webtable.store.rocks.files.database import Database
from webtable.store.rocks.open_tables import OpenFamily
from webtable.store.rocks.visibility import Compactor

__all__ = ["compact_family", "compact_in_steps", "purge_row"]

_CHUNK = 5_000  # cells checked while writers wait: about 5 ms
_MERGED_BYTES = 256 * 1024 * 1024  # merged in one step, before compression: some seconds


class _Chunk(NamedTuple):
    """Rows that were checked: the keys that go, where to continue (None: done), and their size."""

    doomed: list[bytes]
    next_key: bytes | None
    size_bytes: int


def compact_family(
    database: Database, family: OpenFamily, now_ms: int, purge_after_ms: int = 0
) -> int:
    """Removes the cells of a family that no read can see; returns how many there were.

    Delete markers younger than `purge_after_ms` stay.
    """
    return sum(compact_in_steps(database, family, now_ms, purge_after_ms))


def compact_in_steps(
    database: Database, family: OpenFamily, now_ms: int, purge_after_ms: int = 0
) -> Iterator[int]:
    """As `compact_family`, step by step; yields after each how many cells it has removed.

    What was removed stays removed if the caller does not continue.
    """
    keeps_deleted = family.schema.keep_deleted_cells != "FALSE"
    earliest = _earliest_put(family) if keeps_deleted else 0
    compactor = Compactor(
        family.schema, now_ms=now_ms, earliest_put=earliest, purge_after_ms=purge_after_ms
    )
    start: bytes | None = None
    bounds: list[bytes | None] = [None]
    size_bytes = 0
    while True:
        with database.commits:
            chunk = _chunk(family, compactor, start, most=_CHUNK)
            start = chunk.next_key
            if chunk.doomed:
                # What hides these cells must be as durable as their removal.
                database.flush_unlogged()
                batch = WriteBatch(raw_mode=True)
                for key in chunk.doomed:
                    batch.delete(key, family.handle)
                database.write(batch, "wal")
        yield len(chunk.doomed)
        if start is None:
            break
        size_bytes += chunk.size_bytes
        if size_bytes >= _MERGED_BYTES:
            bounds.append(start)
            size_bytes = 0
    for first, last in pairwise((*bounds, None)):
        database.compact(family.rocks, first, last)
        yield 0


def purge_row(database: Database, families: Iterable[OpenFamily], row: bytes, now_ms: int) -> int:
    """Removes the delete markers of one row, of any age, and what they hide.

    One atomic step over all families. Families that keep deleted cells keep theirs. Returns how
    many cells were removed.
    """
    prefix = escape(row) + b"\x00"
    with database.commits:
        database.flush_unlogged()
        batch, count = WriteBatch(raw_mode=True), 0
        for family in families:
            compactor = Compactor(family.schema, now_ms=now_ms, earliest_put=0)
            seeker = family.rocks.iter()
            seeker.seek(prefix)
            if not (seeker.valid() and seeker.key().startswith(prefix)):
                seeker.status()
                continue
            for key in _chunk(family, compactor, prefix, most=1).doomed:
                batch.delete(key, family.handle)
                count += 1
        if count:
            database.write(batch, "wal")
    return count


def _chunk(family: OpenFamily, compactor: Compactor, start: bytes | None, *, most: int) -> _Chunk:
    """Checks whole rows from `start` on, until `most` cells were seen."""
    doomed: list[bytes] = []
    seeker = family.rocks.iter()
    if start is None:
        seeker.seek_to_first()
    else:
        seeker.seek(start)
    prefix, size, seen, size_bytes = b"\x00", 0, 0, 0
    while seeker.valid():
        key = seeker.key()
        if not key.startswith(prefix):
            if seen >= most:
                return _Chunk(doomed, key, size_bytes)
            size = key.index(0) + 1
            prefix = key[:size]
            compactor.start_row()
        stored = seeker.value()
        suffix = key[-SUFFIX_BYTES:]
        kind = 255 - suffix[8]
        ttl_ms = None
        if kind == TAGGED:
            kind, ttl_ms = CellType.PUT, decode_tagged(stored)[1]
        qualifier = key[size:-SUFFIX_BYTES]
        if not compactor.keeps(qualifier, decode_timestamp(suffix), kind, ttl_ms):
            doomed.append(key)
        seen += 1
        size_bytes += len(key) + len(stored)
        seeker.next()
    seeker.status()
    return _Chunk(doomed, None, size_bytes)


def _earliest_put(family: OpenFamily) -> int:
    earliest = MAX_TIMESTAMP
    seeker = family.rocks.iter()
    seeker.seek_to_first()
    while seeker.valid():
        key = seeker.key()
        if is_put(255 - key[-1]):
            earliest = min(earliest, decode_timestamp(key[-SUFFIX_BYTES:]))
        seeker.next()
    seeker.status()
    return earliest
