"""What each filter does to the cells of a row, as HBase's own classes do it.

A `Rule` is one filter at work in one read, with the state that HBase keeps in the filter. Its
methods are called in HBase's order: the row key, cell by cell, the cells of the row together, the
row; then `reset` for the next row. Nothing here depends on RocksDB.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import TypeAlias

from webtable.store.cells_and_rows import MAX_TIMESTAMP, RawCell
from webtable.store.filtering import filters as f

__all__ = [
    "INCLUDE",
    "INCLUDE_NEXT_COLUMN",
    "INCLUDE_NEXT_ROW",
    "NEXT_COLUMN",
    "NEXT_ROW",
    "SEEK",
    "SKIP",
    "ColumnCount",
    "ColumnPage",
    "ColumnPrefix",
    "ColumnPrefixes",
    "ColumnRange",
    "ColumnValue",
    "Dependent",
    "FilterCell",
    "FirstKeyOnly",
    "Hint",
    "KeyOnly",
    "Part",
    "Rule",
    "SingleValue",
    "SingleValueExclude",
    "Timestamps",
]

# The decision of a rule on a cell: what to do with it, and how far to go. The number modulo 3 is
# the step (0 the next version, 1 the next column, 2 the next row); below 3 the cell is kept.
INCLUDE = 0
INCLUDE_NEXT_COLUMN = 1
INCLUDE_NEXT_ROW = 2
SKIP = 3
NEXT_COLUMN = 4
NEXT_ROW = 5
SEEK = 6  # not kept; `Rule.hint` returns where to go

Hint: TypeAlias = tuple[bytes, ...]
"""Where to go on: a row, or a row, a family and a qualifier; before all cells that are there."""

Passes: TypeAlias = Callable[[bytes], bool]


class FilterCell:
    """A cell that a filter checks. Its value is read from the store only when it is used."""

    __slots__ = ("_load", "_value", "column", "family", "row", "shown", "timestamp")

    def __init__(
        self, row: bytes, family: bytes, column: bytes, timestamp: int, load: Callable[[], bytes]
    ) -> None:
        self.row = row
        self.family = family
        self.column = column
        self.timestamp = timestamp
        self.shown: bytes | None = None
        self._load = load
        self._value: bytes | None = None

    @property
    def qualifier(self) -> bytes:
        """The column without its family."""
        return self.column[len(self.family) + 1 :]

    @property
    def value(self) -> bytes:
        """The value as it is stored."""
        if self._value is None:
            self._value = self._load()
        return self._value

    @property
    def result(self) -> bytes:
        """The value as the read returns it."""
        return self.value if self.shown is None else self.shown

    @property
    def place(self) -> Hint:
        """Row, family and qualifier."""
        return (self.row, self.family, self.qualifier)


class Rule:
    """A filter that leaves out nothing. All others override one or more of its methods.

    Attributes:
        checks_rows: whether `trim` and `leaves_out_row` are called for every row with cells.
        may_end: whether `is_done` can ever become true.
        is_hinting: whether HBase gets a hint from it even after filters that reject the cell.
    """

    checks_rows = False
    may_end = False
    is_hinting = False

    def reset(self) -> None:
        """A new row begins."""

    def leaves_out_key(self, row: bytes) -> bool:
        """Whether the key alone is enough to leave out the row. Called for every row."""
        return self.may_end and self.is_done()

    def is_done(self) -> bool:
        """Whether everything from here on is left out."""
        return False

    def judge(self, cell: FilterCell) -> int:
        """Returns what to do with a cell, one of the codes above."""
        return INCLUDE

    def hint(self, cell: FilterCell) -> Hint | None:
        """Returns where to go on after `SEEK`; None means at the next cell."""
        return None

    def change(self, cell: FilterCell) -> None:
        """Changes what a kept cell shows."""

    def trim(self, cells: list[RawCell]) -> list[RawCell]:
        """Returns what is left of the kept cells of a row."""
        return cells

    def leaves_out_row(self) -> bool:
        """Whether the row is left out in the end."""
        return False

    def needs(self, family: bytes) -> bool:
        """Whether the family must be read to decide about a row."""
        return True


class KeyOnly(Rule):
    """`KeyOnlyFilter`."""

    def __init__(self, filter: f.KeyOnlyFilter) -> None:
        self._length_as_value = filter.length_as_value

    def change(self, cell: FilterCell) -> None:
        cell.shown = len(cell.result).to_bytes(4, "big") if self._length_as_value else b""


class FirstKeyOnly(Rule):
    """`FirstKeyOnlyFilter`."""

    def __init__(self) -> None:
        self._found = False

    def reset(self) -> None:
        self._found = False

    def judge(self, cell: FilterCell) -> int:
        if self._found:
            return NEXT_ROW
        self._found = True
        return INCLUDE


class ColumnPrefix(Rule):
    """`ColumnPrefixFilter`."""

    is_hinting = True

    def __init__(self, filter: f.ColumnPrefixFilter) -> None:
        self._prefix = filter.prefix

    def judge(self, cell: FilterCell) -> int:
        if cell.qualifier.startswith(self._prefix):
            return INCLUDE
        return SEEK if cell.qualifier < self._prefix else NEXT_ROW

    def hint(self, cell: FilterCell) -> Hint | None:
        return (cell.row, cell.family, self._prefix)


class ColumnPrefixes(Rule):
    """`MultipleColumnPrefixFilter`."""

    is_hinting = True

    def __init__(self, filter: f.MultipleColumnPrefixFilter) -> None:
        self._prefixes = sorted(filter.prefixes)
        self._next = b""

    def judge(self, cell: FilterCell) -> int:
        if not self._prefixes:
            return INCLUDE
        # As HBase does it: only the last prefix at or before the qualifier is checked, so of
        # two prefixes where one begins the other the shorter one may be overlooked.
        at = bisect_right(self._prefixes, cell.qualifier)
        if at and cell.qualifier.startswith(self._prefixes[at - 1]):
            return INCLUDE
        if at == len(self._prefixes):
            return NEXT_ROW
        self._next = self._prefixes[at]
        return SEEK

    def hint(self, cell: FilterCell) -> Hint | None:
        return (cell.row, cell.family, self._next)


class ColumnRange(Rule):
    """`ColumnRangeFilter`."""

    is_hinting = True

    def __init__(self, filter: f.ColumnRangeFilter) -> None:
        self._min = filter.min_column
        self._max = filter.max_column
        self._has_min = filter.min_column_inclusive
        self._has_max = filter.max_column_inclusive

    def judge(self, cell: FilterCell) -> int:
        qualifier = cell.qualifier
        if self._min is not None:
            if qualifier < self._min:
                return SEEK
            if qualifier == self._min and not self._has_min:
                return NEXT_COLUMN
        if self._max is None or qualifier < self._max:
            return INCLUDE
        return INCLUDE if self._has_max and qualifier == self._max else NEXT_ROW

    def hint(self, cell: FilterCell) -> Hint | None:
        return (cell.row, cell.family, self._min or b"")


class ColumnCount(Rule):
    """`ColumnCountGetFilter`."""

    may_end = True

    def __init__(self, filter: f.ColumnCountGetFilter) -> None:
        self._limit = filter.limit
        self._count = 0

    def reset(self) -> None:
        self._count = 0

    def is_done(self) -> bool:
        return self._count > self._limit

    def judge(self, cell: FilterCell) -> int:
        self._count += 1
        return NEXT_COLUMN if self._count > self._limit else INCLUDE_NEXT_COLUMN


class ColumnPage(Rule):
    """`ColumnPaginationFilter`."""

    def __init__(self, filter: f.ColumnPaginationFilter) -> None:
        self._limit = filter.limit
        self._offset = filter.offset
        self._count = 0

    def reset(self) -> None:
        self._count = 0

    def judge(self, cell: FilterCell) -> int:
        offset = self._offset
        if isinstance(offset, bytes):
            if self._count >= self._limit:
                return NEXT_ROW
            if self._count == 0 and cell.qualifier < offset:
                return SEEK
            self._count += 1
            return INCLUDE_NEXT_COLUMN
        if self._count >= offset + self._limit:
            return NEXT_ROW
        self._count += 1
        return NEXT_COLUMN if self._count <= offset else INCLUDE_NEXT_COLUMN

    def hint(self, cell: FilterCell) -> Hint | None:
        assert isinstance(self._offset, bytes)
        return (cell.row, cell.family, self._offset)


class Timestamps(Rule):
    """`TimestampsFilter`."""

    is_hinting = True

    def __init__(self, filter: f.TimestampsFilter) -> None:
        self._timestamps = frozenset(filter.timestamps)
        self._oldest = min(self._timestamps, default=MAX_TIMESTAMP)

    def judge(self, cell: FilterCell) -> int:
        if cell.timestamp in self._timestamps:
            return INCLUDE
        return NEXT_COLUMN if cell.timestamp < self._oldest else SKIP


class Part(Rule):
    """`FamilyFilter`, `QualifierFilter` and `ValueFilter`."""

    def __init__(self, filter: f.CompareFilter, passes: Passes) -> None:
        self._passes = passes
        self._part = {f.FamilyFilter: "family", f.QualifierFilter: "qualifier"}.get(
            type(filter), "value"
        )
        self._rejected = NEXT_ROW if isinstance(filter, f.FamilyFilter) else SKIP

    def judge(self, cell: FilterCell) -> int:
        return INCLUDE if self._passes(getattr(cell, self._part)) else self._rejected


class SingleValue(Rule):
    """`SingleColumnValueFilter`."""

    checks_rows = True

    def __init__(self, filter: f.SingleColumnValueFilter, passes: Passes) -> None:
        self._column = filter.column
        self._family = filter.column.partition(b":")[0]
        self._passes = passes
        self._if_missing = filter.filter_if_missing
        self._latest_only = filter.latest_version_only
        self._found = self._matched = False

    def reset(self) -> None:
        self._found = self._matched = False

    def leaves_out_key(self, row: bytes) -> bool:
        return False

    def judge(self, cell: FilterCell) -> int:
        if self._matched:
            return INCLUDE
        if self._latest_only and self._found:
            return NEXT_ROW
        if cell.column != self._column:
            return INCLUDE
        self._found = True
        if self._passes(cell.value):
            self._matched = True
            return INCLUDE
        return NEXT_ROW if self._latest_only else INCLUDE

    def leaves_out_row(self) -> bool:
        return not self._matched if self._found else self._if_missing

    def needs(self, family: bytes) -> bool:
        return not self._if_missing or family == self._family


class SingleValueExclude(SingleValue):
    """`SingleColumnValueExcludeFilter`."""

    def trim(self, cells: list[RawCell]) -> list[RawCell]:
        return [cell for cell in cells if cell[0] != self._column]


class Dependent(Rule):
    """`DependentColumnFilter`."""

    checks_rows = True

    def __init__(self, filter: f.DependentColumnFilter, passes: Passes | None) -> None:
        self._column = filter.column
        self._drops = filter.drop_dependent_column
        self._passes = passes
        self._stamps: set[int] = set()

    def reset(self) -> None:
        self._stamps.clear()

    def judge(self, cell: FilterCell) -> int:
        if cell.column != self._column:
            return INCLUDE
        if self._passes is not None and not self._passes(cell.value):
            return SKIP
        self._stamps.add(cell.timestamp)
        return SKIP if self._drops else INCLUDE

    def trim(self, cells: list[RawCell]) -> list[RawCell]:
        return [cell for cell in cells if cell[1] in self._stamps]


class ColumnValue(Rule):
    """`ColumnValueFilter`."""

    def __init__(self, filter: f.ColumnValueFilter, passes: Passes) -> None:
        self._column = filter.column
        self._family = filter.column.partition(b":")[0]
        self._passes = passes
        self._found = False

    def reset(self) -> None:
        self._found = False

    def judge(self, cell: FilterCell) -> int:
        if cell.column != self._column:
            return NEXT_ROW if self._found else NEXT_COLUMN
        self._found = True
        return INCLUDE if self._passes(cell.value) else SKIP

    def needs(self, family: bytes) -> bool:
        return family == self._family
