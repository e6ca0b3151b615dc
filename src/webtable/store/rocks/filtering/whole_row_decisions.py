"""Filters that need no walk cell by cell: a plain read brings a row, a function cuts it.

Most filters that people write are such: conditions on columns, on row keys, on values. What the
function leaves is what HBase's rules (`cell_rules`, `filter_lists`) come to for them, whatever the
order of the cells; a test compares both. Filters that count, end a scan or remember something of
other rows have no such form. Cells that could have been jumped over are read; a `Decision` has
their number.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import reduce
from typing import NamedTuple, TypeAlias

from webtable.store.cells_and_rows import RawCell
from webtable.store.filtering import filters as f
from webtable.store.rocks.filtering.comparators import passing
from webtable.store.rocks.range_reader import FamilyRead, View

__all__ = ["Cells", "Cut", "Decision", "row_decision"]

Cells: TypeAlias = Sequence[RawCell]
"""The cells of a row; never changed here, and the very same where all of them stay."""

Cut: TypeAlias = Callable[[bytes, Cells], Cells]
"""Returns what stays of a row, by its key and its cells; nothing leaves it out."""

Keeps: TypeAlias = Callable[[bytes, Cells], bool]
"""Decides whether a row stays as it is."""

Waste: TypeAlias = Callable[[Cells, Cells], int]
"""Returns what was read in vain of a row, by its cells and those that stay; in cells."""

_NOTHING: Cells = ()
_CELL_BYTES = 256  # so many bytes of values cost as much as one cell more
# Cells read in vain a row, on average, up to which going on is better than seeks: a seek and what
# is done around it cost as much as a few dozen cells. Less for filters that are made to jump.
_PATIENCE = 40
_SHORT_PATIENCE = 8


class Decision(NamedTuple):
    """What does the work of a filter on a whole row.

    Attributes:
        cut: what stays of the row.
        waste: what was read in vain, None where all of the row had to be read.
        patience: how much of that, row by row, is still cheaper than jumping over it.
        all_versions: whether the row must have all versions that its families keep.
        is_jump: whether it replaces a filter that would jump over most of what it leaves out.
    """

    cut: Cut
    waste: Waste | None = None
    patience: int = 0
    all_versions: bool = False
    is_jump: bool = False


def row_decision(filter: f.Filter, reads: Sequence[FamilyRead], view: View) -> Decision | None:
    """Returns what does the filter's work on whole rows; None where that cannot be.

    Raises:
        InvalidRequest: a regular expression is not valid, or not the same in Java and Python.
    """
    if view.raw:  # A raw scan counts markers as versions, and a filter sees them.
        return None
    several = any(read.family.schema.versions > 1 for read in reads)
    match filter:
        case f.ValueFilter():
            return Decision(_by_value(filter), all_versions=several)
        case f.QualifierFilter():
            return Decision(_by_qualifier(passing(filter.op, filter.comparator)))
        case f.SingleColumnValueExcludeFilter():
            # Read with families that do not matter for the decision, HBase shows what is left of
            # them even of a row that is left out. Such things are left to the rules.
            if filter.filter_if_missing and len(reads) > 1:
                return None
            behind = _behind(filter.column)
            return Decision(_without(filter), behind, _PATIENCE, _looks_back(filter) and several)
        case _ if _is_formula(filter):
            parts = list(f.inner_filters(filter))
            conditions = [each for each in parts if isinstance(each, f.SingleColumnValueFilter)]
            behind = _behind(max((each.column for each in conditions), default=b""))
            looks_back = any(map(_looks_back, conditions))
            return Decision(_whole(_keeps(filter)), behind, _PATIENCE, looks_back and several)
        case _:
            cut = _jumping(filter)
            return None if cut is None else Decision(cut, _cut_away, _SHORT_PATIENCE, is_jump=True)


def _behind(column: bytes) -> Waste:
    """What lies after the last column that is checked, in rows that are left out."""

    def waste(cells: Cells, kept: Cells) -> int:
        return 0 if kept else _cost(cells[bisect_right(cells, column, key=_column) :])

    return waste


def _cut_away(cells: Cells, kept: Cells) -> int:
    """What was cut away, as far as it is more than what it would cost to jump to what stays."""
    return max(0, _cost(cells) - _cost(kept) - 2 * len(kept))


def _cost(cells: Cells) -> int:
    return len(cells) + sum(len(cell[2]) for cell in cells) // _CELL_BYTES


def _column(cell: RawCell) -> bytes:
    return cell[0]


def _is_formula(filter: f.Filter) -> bool:
    """Whether it consists of conditions, and at most an `AND` with prefixes of row keys."""
    if isinstance(filter, f.FilterList) and filter.must_pass == "all" and filter.filters:
        # A scan is narrowed to such a prefix, so none of its rows is read in vain.
        rest = [each for each in filter.filters if not isinstance(each, f.PrefixFilter)]
        return all(map(_is_condition, rest))
    return isinstance(filter, f.PrefixFilter) or _is_condition(filter)


def _is_condition(filter: f.Filter) -> bool:
    match filter:
        case f.FilterList(filters):
            return bool(filters) and all(map(_is_condition, filters))
        case f.SingleColumnValueFilter():
            return not isinstance(filter, f.SingleColumnValueExcludeFilter)
        case _:
            return isinstance(filter, f.RowFilter)


def _looks_back(filter: f.SingleColumnValueFilter) -> bool:
    return not filter.latest_version_only


def _keeps(filter: f.Filter) -> Keeps:
    match filter:
        case f.PrefixFilter():
            prefix = filter.prefix
            return lambda row, cells: row.startswith(prefix)
        case f.RowFilter():
            passes = passing(filter.op, filter.comparator)
            return lambda row, cells: passes(row)
        case f.FilterList(filters, must_pass):
            return reduce(_both if must_pass == "all" else _either, map(_keeps, filters))
        case _:
            assert isinstance(filter, f.SingleColumnValueFilter)
            return _keeps_value(filter)


def _both(one: Keeps, other: Keeps) -> Keeps:
    return lambda row, cells: one(row, cells) and other(row, cells)


def _either(one: Keeps, other: Keeps) -> Keeps:
    return lambda row, cells: one(row, cells) or other(row, cells)


def _keeps_value(filter: f.SingleColumnValueFilter) -> Keeps:
    column, passes = filter.column, passing(filter.op, filter.comparator)
    keeps_missing = not filter.filter_if_missing

    def newest(_row: bytes, cells: Cells) -> bool:
        for cell in cells:
            if cell[0] == column:
                return passes(cell[2])
        return keeps_missing

    def any_version(_row: bytes, cells: Cells) -> bool:
        versions = [cell[2] for cell in cells if cell[0] == column]
        return any(map(passes, versions)) if versions else keeps_missing

    return any_version if _looks_back(filter) else newest


def _whole(keeps: Keeps) -> Cut:
    return lambda row, cells: cells if keeps(row, cells) else _NOTHING


def _without(filter: f.SingleColumnValueExcludeFilter) -> Cut:
    keeps, column = _keeps_value(filter), filter.column

    def cut(row: bytes, cells: Cells) -> Cells:
        if not keeps(row, cells):
            return _NOTHING
        return [cell for cell in cells if cell[0] != column]

    return cut


def _by_value(filter: f.ValueFilter) -> Cut:
    passes = passing(filter.op, filter.comparator)
    return lambda row, cells: [cell for cell in cells if passes(cell[2])]


def _by_qualifier(passes: Callable[[bytes], bool]) -> Cut:
    return lambda row, cells: [cell for cell in cells if passes(cell[0].partition(b":")[2])]


def _jumping(filter: f.Filter) -> Cut | None:
    """Returns what a filter leaves that would rather jump, None for most filters."""
    match filter:
        case f.ColumnPrefixFilter(prefix):
            return _by_qualifier(lambda qualifier: qualifier.startswith(prefix))
        case f.ColumnRangeFilter():
            return _by_qualifier(_in_range(filter))
        case f.FirstKeyOnlyFilter():
            return lambda row, cells: cells[:1]
        case f.KeyOnlyFilter():
            return _without_values(filter)
        case f.FilterList(
            (f.FirstKeyOnlyFilter(), f.KeyOnlyFilter() as keys), "all"
        ) | f.FilterList((f.KeyOnlyFilter() as keys, f.FirstKeyOnlyFilter()), "all"):
            cut = _without_values(keys)
            return lambda row, cells: cut(row, cells[:1])
        case _:
            return None


def _in_range(filter: f.ColumnRangeFilter) -> Callable[[bytes], bool]:
    low, high = filter.min_column or b"", filter.max_column
    has_low, has_high = filter.min_column_inclusive or not low, filter.max_column_inclusive

    def holds(qualifier: bytes) -> bool:
        if qualifier < low or (qualifier == low and not has_low):
            return False
        return high is None or qualifier < high or (has_high and qualifier == high)

    return holds


def _without_values(filter: f.KeyOnlyFilter) -> Cut:
    if filter.length_as_value:
        return lambda row, cells: [
            (column, timestamp, len(value).to_bytes(4, "big"), kind)
            for column, timestamp, value, kind in cells
        ]
    return lambda row, cells: [
        (column, timestamp, b"", kind) for column, timestamp, _, kind in cells
    ]
