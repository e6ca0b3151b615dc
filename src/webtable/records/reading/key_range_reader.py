"""Ranges of keys, and how their rows are read: from one partition, or from all, in order."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

from webtable.records.declaration import FAMILY, Declaration
from webtable.records.field_types import KeyValue
from webtable.records.reading.partition_merge import Stream, collate, in_turn
from webtable.store.cells_and_rows import Row
from webtable.store.scan import Scan, prefix_end
from webtable.store.table import Table

__all__ = ["KeyRange", "RangeReader", "tuple_bounds"]

MOST_OPEN = 64
"""In more partitions than this no scan is kept open; each piece is a short scan of its own."""

AHEAD_ROWS = 2_000
"""How many rows of a partition a server sends at a time."""

ONE_PIECE = 512
KEYS_ONLY = "KeyOnlyFilter()"
_COLUMNS = (FAMILY.encode(),)


class KeyRange:
    """The keys from one tuple to before another, and those that begin with a third.

    Attributes:
        start, stop: bytes of keys without a partition; an empty `stop` means to the end.
        partition: the bytes of the one partition that has all of them, None if there are more.
    """

    def __init__(
        self,
        declaration: Declaration,
        prefix: Sequence[KeyValue],
        start: Sequence[KeyValue],
        stop: Sequence[KeyValue],
    ) -> None:
        whole = len(declaration.keys)

        def encode(values: Sequence[KeyValue]) -> bytes:
            return b"".join(declaration.encode_parts(values, is_whole=len(values) == whole))

        bounds = tuple_bounds(encode, (prefix, start, stop), whole)
        self.is_empty = bounds is None
        self.start, self.stop = bounds or (b"", b"")
        size = declaration.entity_size
        fixed = _common(start, stop) if len(start) >= size and len(stop) >= size else ()
        entity = prefix if len(prefix) >= size else fixed
        self.partition: bytes | None = None
        if len(entity) >= size:
            entity_parts = declaration.encode_parts(entity, is_whole=len(entity) == whole)
            self.partition = declaration.partition(entity, entity_parts)


def tuple_bounds(
    encode: Callable[[Sequence[KeyValue]], bytes],
    ranges: tuple[Sequence[KeyValue], Sequence[KeyValue], Sequence[KeyValue]],
    whole: int,
) -> tuple[bytes, bytes] | None:
    """Returns the bytes from which and before which keys are, None if there can be none.

    Args:
        encode: makes bytes of the beginning of a tuple.
        ranges: what keys begin with, are not before, and are before; each may be empty.
        whole: how many values a whole key has.
    """
    prefix, start, stop = ranges
    lower, upper = encode(start), encode(stop)
    if stop and upper <= lower:
        return None
    if prefix:
        first = encode(prefix)
        # A whole key may end in an open string, of which longer ones begin with it.
        after = first + b"\x00" if len(prefix) == whole else prefix_end(first)
        lower = max(lower, first)
        upper = min(upper, after) if upper and after else upper or after
        if upper and upper <= lower:
            return None
    return lower, upper


def _common(one: Sequence[KeyValue], other: Sequence[KeyValue]) -> Sequence[KeyValue]:
    pairs = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return [value for value, _ in pairs]


class RangeReader:
    """Reads the rows of ranges of keys of one table."""

    def __init__(self, table: Table, declaration: Declaration, *, is_remote: bool) -> None:
        self._table = table
        self._partitions = declaration.partitions
        self._is_there = declaration.is_there
        # On the embedded engine a filter costs more than the values that it leaves out.
        self.keys_filter = KEYS_ONLY if is_remote else None

    def is_record(self, row: Row) -> bool:
        """Whether a row has a cell of the record class, and not only of something else."""
        return self._is_there(cell[0] for cell in row.raw_cells)

    def pieces(
        self,
        keys: KeyRange,
        *,
        reverse: bool,
        ordered: bool,
        limit: int | None = None,
        keys_only: bool = False,
    ) -> Iterator[list[Row]]:
        """Yields the rows of a range, list by list; `limit` is about the number of rows needed."""
        if keys.is_empty:
            return iter(())
        prefixes = self._partitions.prefixes if keys.partition is None else [keys.partition]
        scans = [
            Scan(
                start=prefix + keys.start,
                stop=prefix + keys.stop if keys.stop else prefix_end(prefix),
                columns=_COLUMNS,
                reverse=reverse,
                filter=self.keys_filter if keys_only else None,
                batch_rows=_batch_rows(limit, len(prefixes)),
            )
            for prefix in prefixes
        ]
        if len(scans) == 1:
            return _one_stream(iter(self._table.scan(scans[0])))
        if len(scans) <= MOST_OPEN:
            streams = [Stream(rows) for rows in self._table.scan_many(scans)]
        else:
            streams = [self._resumable(scan) for scan in scans]
        if ordered:
            return collate(streams, self._partitions.width, reverse=reverse)
        return in_turn(streams)

    def _resumable(self, scan: Scan) -> Stream:
        def resume(last: bytes | None, most: int) -> Iterator[Row]:
            start, stop = scan.start, scan.stop
            if last is not None and scan.reverse:
                stop = last
            elif last is not None:
                start = last + b"\x00"
            return self._table.scan(
                start=start,
                stop=stop,
                columns=scan.columns,
                reverse=scan.reverse,
                filter=scan.filter,
                limit=most,
            )

        return Stream(resume=resume)


def _batch_rows(limit: int | None, streams: int) -> int | None:
    if limit is None:
        return AHEAD_ROWS if streams > 1 else None
    return min(limit + 1, AHEAD_ROWS)


def _one_stream(rows: Iterator[Row]) -> Iterator[list[Row]]:
    size = 1
    while piece := list(itertools.islice(rows, size)):
        yield piece
        size = min(size * 2, ONE_PIECE)
