"""Filters that need no walk cell by cell: a plain read brings a row, a function cuts it.

Most filters that people write are such: conditions on columns, on row keys, on values. What the
function leaves is what HBase's rules (`rules`, `lists`) come to for them, whatever the order of
the cells; a test compares both. Filters that jump, count, end a scan or remember something of
other rows are not made so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from webtable.store import filters as f
from webtable.store.model import RawCell
from webtable.store.rocks.filtering.comparing import passing
from webtable.store.rocks.keys import escape, unescape
from webtable.store.rocks.reader import FamilyRead, View

__all__ = ["Cut", "Decision", "row_decision"]

Cut: TypeAlias = Callable[[bytes, list[RawCell]], list[RawCell]]
"""Returns what stays of a row, by its `escaped row | 00` and its cells; empty leaves it out."""

Keeps: TypeAlias = Callable[[bytes, list[RawCell]], bool]
"""Says whether a row stays as it is."""

_NOTHING: list[RawCell] = []


class Decision(NamedTuple):
    """What does the work of a filter on a whole row.

    Attributes:
        cut: what stays of the row.
        last_column: the last column that is looked at; what lies behind it in a row that is left
            out was read in vain. None where all of the row is looked at.
        all_versions: whether the row must have all versions that its families keep.
    """

    cut: Cut
    last_column: bytes | None
    all_versions: bool = False


def row_decision(filter: f.Filter, reads: Sequence[FamilyRead], view: View) -> Decision | None:
    """Returns what does the filter's work on whole rows; None where that cannot be.

    Raises:
        InvalidRequest: a regular expression is not one, or not the same in Java and Python.
    """
    if view.raw:  # A raw scan counts markers as versions, and a filter sees them.
        return None
    several = {read.family.schema.name for read in reads if read.family.schema.versions > 1}
    match filter:
        case f.ValueFilter():
            return Decision(_by_value(filter), None, bool(several))
        case f.QualifierFilter():
            return Decision(_by_qualifier(filter), None)
        case f.SingleColumnValueExcludeFilter():
            # Read with families that do not matter for the decision, HBase shows what is left of
            # them even of a row that is left out. Such things are left to the rules.
            if filter.filter_if_missing and len(reads) > 1:
                return None
            return Decision(_without(filter), filter.column, _looks_back(filter) and bool(several))
        case _ if _is_formula(filter):
            parts = list(f.inner_filters(filter))
            conditions = [each for each in parts if isinstance(each, f.SingleColumnValueFilter)]
            return Decision(
                _whole(_keeps(filter)),
                max((each.column for each in conditions), default=b""),
                any(map(_looks_back, conditions)) and bool(several),
            )
        case _:
            return None


def _is_formula(filter: f.Filter) -> bool:
    """Whether it is made of conditions, and at most an `AND` with prefixes of row keys."""
    if isinstance(filter, f.FilterList) and filter.must_pass == "all" and filter.filters:
        # A scan is narrowed to such a prefix, so none of its rows is looked at in vain.
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
            prefix = escape(filter.prefix)
            return lambda row, cells: row.startswith(prefix)
        case f.RowFilter():
            passes = passing(filter.op, filter.comparator)
            return lambda row, cells: passes(unescape(row[:-1]))
        case f.FilterList(filters, must_pass):
            parts = [_keeps(each) for each in filters]
            if must_pass == "all":
                return lambda row, cells: all(keeps(row, cells) for keeps in parts)
            return lambda row, cells: any(keeps(row, cells) for keeps in parts)
        case _:
            assert isinstance(filter, f.SingleColumnValueFilter)
            return _keeps_value(filter)


def _keeps_value(filter: f.SingleColumnValueFilter) -> Keeps:
    column, passes = filter.column, passing(filter.op, filter.comparator)
    keeps_missing = not filter.filter_if_missing

    def newest(_row: bytes, cells: list[RawCell]) -> bool:
        for cell in cells:
            if cell[0] == column:
                return passes(cell[2])
        return keeps_missing

    def any_version(_row: bytes, cells: list[RawCell]) -> bool:
        versions = [cell[2] for cell in cells if cell[0] == column]
        return any(map(passes, versions)) if versions else keeps_missing

    return any_version if _looks_back(filter) else newest


def _whole(keeps: Keeps) -> Cut:
    return lambda row, cells: cells if keeps(row, cells) else _NOTHING


def _without(filter: f.SingleColumnValueExcludeFilter) -> Cut:
    keeps, column = _keeps_value(filter), filter.column

    def cut(row: bytes, cells: list[RawCell]) -> list[RawCell]:
        if not keeps(row, cells):
            return _NOTHING
        return [cell for cell in cells if cell[0] != column]

    return cut


def _by_value(filter: f.ValueFilter) -> Cut:
    passes = passing(filter.op, filter.comparator)
    return lambda row, cells: [cell for cell in cells if passes(cell[2])]


def _by_qualifier(filter: f.QualifierFilter) -> Cut:
    passes = passing(filter.op, filter.comparator)
    return lambda row, cells: [cell for cell in cells if passes(cell[0].partition(b":")[2])]
