"""Reading an index: entries, and the reader's check against the rows that they are of."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import NamedTuple

import msgspec

from webtable.index import rules
from webtable.index.cells import decode_claim
from webtable.index.model import Entry, Hit, Index
from webtable.index.table_base import IndexHome
from webtable.store.argument_checks import MAX_ROW_BYTES
from webtable.store.model import Row
from webtable.store.scan import Scan

__all__ = ["Found", "ReadCounts", "ReadOptions", "hits", "hits_of_many"]

_FIRST_BATCH, _LARGEST_BATCH = 32, 1024


class ReadOptions(NamedTuple):
    """What to read and return of the rows in the range."""

    columns: tuple[bytes, ...] = ()
    where: Callable[[Hit], bool] | None = None
    limit: int | None = None
    first: int | None = None
    """Of how many hits to read the rows at once to begin with, where that is few."""


class ReadCounts(msgspec.Struct):
    """What a scan of an index has cost so far.

    Attributes:
        entries: entries read.
        passed_over: of those, the ones that `where` rejected.
        rows: rows read.
        stale: entries whose rows do not have them any more, or not yet.
        repeated: entries of rows that were shown already.
        shown: rows shown.
    """

    entries: int = 0
    passed_over: int = 0
    rows: int = 0
    stale: int = 0
    repeated: int = 0
    shown: int = 0


def hits(home: IndexHome, index: Index, scan: Scan) -> Iterator[Hit]:
    """Yields the entries of a range as they are stored."""
    return _as_hits(index, home.store.table(index.table).scan(_narrowed(index, scan)))


def hits_of_many(home: IndexHome, index: Index, scans: Sequence[Scan]) -> list[Iterator[Hit]]:
    """Returns what `hits` does for each range, after requests for the first entries of all."""
    narrowed = [_narrowed(index, scan) for scan in scans]
    streams = home.store.table(index.table).scan_many(narrowed)
    return [_as_hits(index, rows) for rows in streams]


def _narrowed(index: Index, scan: Scan) -> Scan:
    prefix = index.prefix
    return msgspec.structs.replace(
        scan,
        columns=(index.family.encode(),),
        versions=1,
        limit=None,
        prefix=scan.prefix if len(scan.prefix) > len(prefix) else prefix,
    )


def _as_hits(index: Index, rows: Iterator[Row]) -> Iterator[Hit]:
    skip = len(index.column)
    for found in rows:
        for column, timestamp, value, _ in found.raw_cells:
            if not index.is_unique:
                # A row key has at least one byte: another value was not written by the index.
                if 0 < len(value) <= MAX_ROW_BYTES:
                    yield Hit(found.key, value, column[skip:], None, timestamp)
                continue
            owner = decode_claim(value).owner
            if owner is not None:
                yield Hit(found.key, owner, b"", None, timestamp)


class Found(Iterator[Hit]):
    """The rows that a scan of an index finds; `counts` has the cost so far."""

    def __init__(
        self, home: IndexHome, index: Index, candidates: Iterator[Hit], options: ReadOptions
    ) -> None:
        self.counts = ReadCounts()
        self.index = index
        self._home = home
        self._options = options
        self._rows = self._checked(candidates)

    def __next__(self) -> Hit:
        return next(self._rows)

    def close(self) -> None:
        """Ends the scan."""
        self._rows.close()

    def _checked(self, candidates: Iterator[Hit]) -> Generator[Hit, None, None]:
        counts, limit = self.counts, self._options.limit
        shown: set[bytes] = set()
        size = min(self._options.first or _FIRST_BATCH, _FIRST_BATCH)
        while limit is None or counts.shown < limit:
            left = size if limit is None else min(size, limit - counts.shown)
            batch = self._next_batch(candidates, left, shown)
            if not batch:
                return
            for hit in self._read(batch):
                if hit.row in shown:
                    counts.repeated += 1
                    continue
                shown.add(hit.row)
                counts.shown += 1
                yield hit
            size = min(size * 2, _LARGEST_BATCH)

    def _next_batch(self, candidates: Iterator[Hit], size: int, shown: set[bytes]) -> list[Hit]:
        """Returns the next hits that are worth reading their rows for."""
        counts, where = self.counts, self._options.where
        batch: list[Hit] = []
        for hit in candidates:
            counts.entries += 1
            if hit.row in shown:
                counts.repeated += 1
            elif where is not None and not where(hit):
                counts.passed_over += 1
            else:
                batch.append(hit)
                if len(batch) >= size:
                    break
        return batch

    def _read(self, batch: list[Hit]) -> Iterator[Hit]:
        """Reads the rows of hits and yields those that agree."""
        home, index = self._home, self.index
        columns = home.read_columns
        if columns:
            columns = (*columns, *(c for c in self._options.columns if c not in columns))
        rows = list(dict.fromkeys(hit.row for hit in batch))
        found = dict(zip(rows, home.table.get_many(rows, columns), strict=True))
        self.counts.rows += len(rows)
        entries = {row: index.entries(row, home.state_of(row, found[row]).facts) for row in rows}
        for hit in batch:
            if rules.is_current(Entry(hit.key, hit.cover), entries[hit.row]):
                yield hit._replace(found=found[hit.row])
            else:
                self.counts.stale += 1
