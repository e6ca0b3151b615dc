"""Reading an index: entries, and the reader's check against the rows that they are of."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import NamedTuple

import msgspec

from webtable.index import write_protocol
from webtable.index.cell_encoding import decode_claim
from webtable.index.index_and_change import Entry, Hit, Index
from webtable.index.table_and_indexes import IndexHome
from webtable.store.argument_checks import MAX_ROW_BYTES
from webtable.store.cells_and_rows import Row
from webtable.store.filtering.filters import MultiRowRangeFilter, RowRange
from webtable.store.scan import Scan, prefix_end
from webtable.store.table import Table

__all__ = [
    "Found",
    "ReadCounts",
    "ReadOptions",
    "hits",
    "hits_of_many",
    "hits_of_prefixes",
    "scans_of_few",
]

_FIRST_BATCH, _LARGEST_BATCH = 32, 1024
_MORE = 4


class ReadOptions(NamedTuple):
    """What to read and return of the rows in the range."""

    columns: tuple[bytes, ...] = ()
    where: Callable[[Hit], bool] | None = None
    limit: int | None = None
    first: int | None = None
    """Of how many hits to read the rows at once to begin with."""


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
    """Returns what `hits` does for each range, after requests for the first entries of all.

    See `scans_of_few`.
    """
    narrowed = [_narrowed(index, scan) for scan in scans]
    streams = scans_of_few(home.store.table(index.table), narrowed)
    return [_as_hits(index, rows) for rows in streams]


def hits_of_prefixes(
    home: IndexHome, index: Index, prefixes: Sequence[bytes], few: int
) -> list[Iterator[Hit]]:
    """Returns the entries of each of some prefixes, after requests for the first `few` of each.

    On a cluster one call for each range between splits of the table reads all prefixes in that
    range, as a call costs more than the rows of a prefix.

    Args:
        prefixes: in order; none begins with another one.
    """
    if not home.store.capabilities.cluster:
        scans = [Scan(prefix=prefix, batch_rows=few) for prefix in prefixes]
        return hits_of_many(home, index, scans)
    table = home.store.table(index.table)
    first = _first_of_prefixes(home, index, prefixes, few)
    # The entries of one prefix may have used up the limit of a call.
    cut = [prefix for prefix in prefixes if not first[prefix].is_complete]
    scans = [_behind(index, prefix, first[prefix].rows, few) for prefix in cut]
    rest = dict(zip(cut, scans_of_few(table, scans), strict=True))
    each = (itertools.chain(first[prefix].rows, rest.get(prefix, ())) for prefix in prefixes)
    return [_as_hits(index, rows) for rows in each]


class _FirstRows:
    """The first entries of a prefix; complete where there are no others."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.is_complete = True


def _first_of_prefixes(
    home: IndexHome, index: Index, prefixes: Sequence[bytes], few: int
) -> dict[bytes, _FirstRows]:
    found = {prefix: _FirstRows() for prefix in prefixes}
    between_splits = itertools.groupby(prefixes, lambda each: bisect.bisect(index.splits, each))
    parts = [list(part) for _, part in between_splits]
    scans = [_of_prefixes(index, part, few) for part in parts]
    for part, rows in zip(parts, home.store.table(index.table).scan_many(scans), strict=True):
        at = count = 0
        for row in rows:
            count, at = count + 1, bisect.bisect(part, row.key, lo=at) - 1
            found[part[at]].rows.append(row)
        if count == few * len(part):
            for prefix in part[at:]:
                found[prefix].is_complete = False
    return found


def _of_prefixes(index: Index, prefixes: Sequence[bytes], few: int) -> Scan:
    most = few * len(prefixes)
    ranges = tuple(RowRange(prefix, prefix_end(prefix)) for prefix in prefixes)
    scan = Scan(
        start=prefixes[0],
        stop=prefix_end(prefixes[-1]),
        filter=MultiRowRangeFilter(ranges),
        batch_rows=most,
    )
    return msgspec.structs.replace(_narrowed(index, scan), limit=most)


def _behind(index: Index, prefix: bytes, rows: Sequence[Row], few: int) -> Scan:
    start = rows[-1].key + b"\0" if rows else prefix
    return _narrowed(index, Scan(start=start, stop=prefix_end(prefix), batch_rows=few))


def scans_of_few(table: Table, scans: Sequence[Scan]) -> list[Iterator[Row]]:
    """Returns the rows of each of several scans, after requests for the first rows of all.

    With `batch_rows`, no more than these are requested until they are used: a server does not keep
    a scanner open for a range whose first rows are enough.
    """
    first = [msgspec.structs.replace(scan, limit=scan.batch_rows) for scan in scans]
    streams = table.scan_many(first)
    return [_continued(table, scan, rows) for scan, rows in zip(scans, streams, strict=True)]


def _continued(table: Table, scan: Scan, first: Iterator[Row]) -> Iterator[Row]:
    """Yields the first rows of a scan, and then the rest of them."""
    count, last = 0, b""
    for row in first:
        count, last = count + 1, row.key
        yield row
    if not scan.batch_rows or count < scan.batch_rows:
        return
    start, stop = scan.bounds()
    start, stop = (start, last) if scan.reverse else (last + b"\0", stop)
    rest = msgspec.structs.replace(
        scan, prefix=b"", start=start, stop=stop, batch_rows=scan.batch_rows * _MORE
    )
    yield from table.scan(rest)


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
        size = min(self._options.first or _FIRST_BATCH, _LARGEST_BATCH)
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
            if write_protocol.is_current(Entry(hit.key, hit.cover), entries[hit.row]):
                yield hit._replace(found=found[hit.row])
            else:
                self.counts.stale += 1
