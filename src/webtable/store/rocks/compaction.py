"""Major compaction: our own rewrite of what no read can see, then RocksDB's.

RocksDB compacts by itself, but has no notion of versions, delete markers and times to live. So the
cells that HBase's major compaction would drop are deleted here, a few thousand at a time with
writers locked out, and RocksDB then frees the space.
"""

from __future__ import annotations

from collections.abc import Iterable

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

__all__ = ["compact_family", "purge_row"]

_CHUNK = 5_000  # cells checked while writers wait: about 5 ms


def compact_family(
    database: Database, family: OpenFamily, now_ms: int, purge_after_ms: int = 0
) -> int:
    """Removes the cells of a family that no read can see; returns how many there were.

    Delete markers younger than `purge_after_ms` stay.
    """
    keeps_deleted = family.schema.keep_deleted_cells != "FALSE"
    earliest = _earliest_put(family) if keeps_deleted else 0
    compactor = Compactor(
        family.schema, now_ms=now_ms, earliest_put=earliest, purge_after_ms=purge_after_ms
    )
    start: bytes | None = None
    removed = 0
    while True:
        with database.commits:
            doomed, start = _chunk(family, compactor, start)
            if doomed:
                # What hides these cells must be as durable as their removal.
                database.flush_unlogged()
                batch = WriteBatch(raw_mode=True)
                for key in doomed:
                    batch.delete(key, family.handle)
                database.write(batch, "wal")
                removed += len(doomed)
        if start is None:
            break
    database.compact(family.rocks)
    return removed


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
            for key in _chunk(family, compactor, prefix, most=1)[0]:
                batch.delete(key, family.handle)
                count += 1
        if count:
            database.write(batch, "wal")
    return count


def _chunk(
    family: OpenFamily, compactor: Compactor, start: bytes | None, most: int = _CHUNK
) -> tuple[list[bytes], bytes | None]:
    """Checks whole rows from `start` on, until `most` cells were seen.

    Returns what goes, and where to go on (None: done).
    """
    doomed: list[bytes] = []
    seeker = family.rocks.iter()
    if start is None:
        seeker.seek_to_first()
    else:
        seeker.seek(start)
    prefix, size, seen = b"\x00", 0, 0
    while seeker.valid():
        key = seeker.key()
        if not key.startswith(prefix):
            if seen >= most:
                return doomed, key
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
        seeker.next()
    seeker.status()
    return doomed, None


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
