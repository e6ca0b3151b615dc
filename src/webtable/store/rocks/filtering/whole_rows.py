"""Filters that keep a row as it is or leave it out, and look at single columns only.

They need no walk cell by cell: a plain read brings the row, and a function says whether it stays.
What it says is what HBase's rules (`rules`, `lists`) come to for such filters, whatever the order
of the cells. Versions need no care either, as long as it is the newest one that decides.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from webtable.store import filters as f
from webtable.store.model import RawCell
from webtable.store.rocks.filtering.comparing import passing
from webtable.store.rocks.filtering.reading import FamilyCursor, Span, filtered_rows
from webtable.store.rocks.filtering.rules import Rule
from webtable.store.rocks.keys import escape, row_end
from webtable.store.rocks.reader import (
    FamilyRead,
    RowStream,
    View,
    merge,
    rows_backward,
    rows_forward,
)

__all__ = ["Decision", "WholeRows", "plain_rows", "row_decision"]

Keeps: TypeAlias = Callable[[bytes, list[RawCell]], bool]
"""Says whether a row stays, by its `escaped row | 00` and its cells, of which the newest count."""


class Decision(NamedTuple):
    """What decides about whole rows in place of a filter; `last_column` is the last it looks at."""

    keeps: Keeps
    last_column: bytes


Iterators: TypeAlias = tuple[Any, Any]
"""Of one family at one moment: one to seek with, one over all keys and values to read."""

_EVERYTHING = Rule()
# After so many rows that were left out with more cells behind the deciding column than this on
# average, single cells are looked at: a seek costs as much as a few dozen cells.
_ENOUGH = 16
_WIDE = 40


def row_decision(filter: f.Filter, reads: Sequence[FamilyRead], view: View) -> Decision | None:
    """Returns what decides about whole rows in place of the filter; None where that cannot be.

    Raises:
        InvalidRequest: a regular expression is not one, or not the same in Java and Python.
    """
    # A raw scan counts markers as versions, and a filter sees them.
    if view.raw or not _has_columns(filter):
        return None
    conditions = [
        each for each in f.inner_filters(filter) if isinstance(each, f.SingleColumnValueFilter)
    ]
    deep = {
        each.column.partition(b":")[0].decode()
        for each in conditions
        if not each.latest_version_only
    }
    for family in (read.family.schema for read in reads):
        if family.name in deep and family.versions > 1:
            return None  # older versions count, which a plain read need not bring
    return Decision(_keeps(filter), max(each.column for each in conditions))


def _has_columns(filter: f.Filter) -> bool:
    """Whether it is made of conditions on columns, and at most an `AND` with row prefixes."""
    if isinstance(filter, f.FilterList) and filter.must_pass == "all":
        # A scan is narrowed to such a prefix, so none of its rows is looked at in vain.
        rest = [each for each in filter.filters if not isinstance(each, f.PrefixFilter)]
        return bool(rest) and all(map(_is_condition, rest))
    return _is_condition(filter)


def _is_condition(filter: f.Filter) -> bool:
    match filter:
        case f.FilterList(filters):
            return bool(filters) and all(map(_is_condition, filters))
        case _:
            return type(filter) is f.SingleColumnValueFilter


def _keeps(filter: f.Filter) -> Keeps:
    match filter:
        case f.PrefixFilter():
            prefix = escape(filter.prefix)
            return lambda row, cells: row.startswith(prefix)
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

    def keeps(_row: bytes, cells: list[RawCell]) -> bool:
        for cell in cells:
            if cell[0] == column:
                return passes(cell[2])
        return keeps_missing

    return keeps


def plain_rows(
    reads: Sequence[FamilyRead], view: View, span: Span, opened: Sequence[Iterators]
) -> RowStream:
    """Yields the rows of a scan without a filter."""
    walk = rows_backward if span.reverse else rows_forward
    streams = [
        walk(read, view, items, seeker, span.first)
        for read, (seeker, items) in zip(reads, opened, strict=True)
    ]
    return merge(streams, reverse=span.reverse)


class WholeRows:
    """A scan that decides about whole rows.

    Rows that are left out with much behind the deciding column are better walked through cell by
    cell, and that jumped over; so the scan goes on that way once it has met enough of them.
    """

    def __init__(self, decision: Decision, rule: Rule, is_stopped: Callable[[], bool]) -> None:
        """Takes the decision, the rule it stands for, and what tells at a row to end at once."""
        self._decision = decision
        self._rule = rule
        self._is_stopped = is_stopped

    def rows(
        self,
        reads: Sequence[FamilyRead],
        view: View,
        span: Span,
        opened: Sequence[Iterators],
    ) -> RowStream:
        """Yields the rows that stay.

        Args:
            reads: the families to read, in family order.
            view: the versions and times to return.
            span: the keys to read.
            opened: for each family an iterator to seek with and one to walk with.
        """
        pairs = list(zip(reads, opened, strict=True))
        deciding = [each for each in pairs if span.together or self._rule.needs(_name(each[0]))]
        # Families that do not matter for the decision are read only for rows that stay.
        others = [
            FamilyCursor(read, view, seeker, span)
            for read, (seeker, _) in pairs
            if all(read is not each for each, _ in deciding)
        ]
        walked = plain_rows([each[0] for each in deciding], view, span, [e[1] for e in deciding])
        keeps, last = self._decision
        looked = wasted = 0
        for prefix, cells in walked:
            if self._is_stopped():
                return
            if keeps(prefix, cells):
                yield prefix, _with(cells, others, prefix) if others else cells
                continue
            looked += 1
            if len(cells) > _WIDE:
                wasted += len(cells) - bisect_right(cells, last, key=_column)
            if looked >= _ENOUGH and wasted > _WIDE * looked and not span.reverse:
                break
        else:
            return
        walked.close()
        onward = span._replace(first=row_end(prefix))
        cursors = [FamilyCursor(read, view, seeker, onward) for read, (seeker, _) in pairs]
        yield from filtered_rows(cursors, self._rule, onward, self._is_stopped)


def _name(read: FamilyRead) -> bytes:
    return read.family.schema.name.encode()


def _with(cells: list[RawCell], others: Sequence[FamilyCursor], prefix: bytes) -> list[RawCell]:
    """Returns the cells of a row together with those of other families, in family order."""
    for each in others:
        each.go_to(prefix)
        if each.prefix == prefix:
            cells += each.read_row(prefix, _EVERYTHING)
    cells.sort(key=_family)
    return cells


def _column(cell: RawCell) -> bytes:
    return cell[0]


def _family(cell: RawCell) -> bytes:
    return cell[0].partition(b":")[0]
