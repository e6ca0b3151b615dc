"""Scans that decide about whole rows: a plain read brings them, a `Decision` cuts them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from webtable.store.cells_and_rows import RawCell, Row
from webtable.store.rocks.cell_keys import escape, row_end
from webtable.store.rocks.filtering.cell_rules import Rule
from webtable.store.rocks.filtering.filtered_reader import FamilyCursor, Span, filtered_rows
from webtable.store.rocks.filtering.whole_row_decisions import Cells, Decision
from webtable.store.rocks.range_reader import (
    FamilyRead,
    RowPieces,
    View,
    as_pieces,
    merge,
    row_pieces,
    rows_backward,
    rows_forward,
)
from webtable.store.scan import ALL_VERSIONS

__all__ = ["WholeRows", "plain_pieces"]

Iterators: TypeAlias = tuple[Any, Any]
"""Of one family at one moment: one to seek with, one over all keys and values to read."""

_EVERYTHING = Rule()
_HUGE = 1_000  # cells of one row in one family
_OUTLIERS = 3  # rows that may be much wider than the rest before anything is concluded


def plain_pieces(
    reads: Sequence[FamilyRead], view: View, span: Span, opened: Sequence[Iterators]
) -> RowPieces:
    """Yields the rows of a scan without a filter, list by list."""
    if len(reads) == 1 and not span.reverse:
        seeker, items = opened[0]
        return row_pieces(reads[0], view, items, seeker, span.first)
    walk = rows_backward if span.reverse else rows_forward
    streams = [
        walk(read, view, items, seeker, span.first)
        for read, (seeker, items) in zip(reads, opened, strict=True)
    ]
    return as_pieces(merge(streams, reverse=span.reverse))


class WholeRows:
    """A scan that decides about whole rows.

    Where too much is read in vain (rows are wide, or values large), jumping from cell to cell is
    better; so the scan goes on that way once it has met enough of it.
    """

    def __init__(self, decision: Decision, rule: Rule, is_stopped: Callable[[], bool]) -> None:
        """Takes the decision, the rule it replaces, and a function that ends the scan at a row."""
        self._decision = decision
        self._rule = rule
        self._is_stopped = is_stopped

    def pieces(
        self,
        reads: Sequence[FamilyRead],
        view: View,
        span: Span,
        opened: Sequence[Iterators],
    ) -> RowPieces:
        """Yields the rows that stay, list by list; a list may be empty.

        Args:
            reads: the families to read, in family order.
            view: the versions and times to return.
            span: the keys to read.
            opened: for each family an iterator to seek with and one to walk with.
        """
        pairs = list(zip(reads, opened, strict=True))
        deciding = [each for each in pairs if span.together or self._rule.needs(_name(each[0]))]
        decision = self._decision
        # Backwards there is no change of ways later.
        if decision.is_jump and (span.reverse or _begins_huge(deciding, span)):
            yield from self._jumping(pairs, view, span)
            return
        # Families that do not matter for the decision are read only for rows that stay.
        others = [
            FamilyCursor(read, view, seeker, span)
            for read, (seeker, _) in pairs
            if all(read is not each for each, _ in deciding)
        ]
        shown = View(ALL_VERSIONS, view.time_range) if decision.all_versions else view
        walked = plain_pieces([each[0] for each in deciding], shown, span, [e[1] for e in deciding])
        checked = wasted = 0
        for rows in walked:
            if self._is_stopped():
                return
            if not rows:
                continue
            kept = self._cut(rows, view.versions)
            if others:
                kept = [_with(row, others) for row in kept]
            # One row of each list is a sample of all of it; the first lists are short.
            last = rows[-1]
            checked += 1
            wasted += self._waste(last)
            yield kept
            if wasted > decision.patience * (checked + _OUTLIERS) and not span.reverse:
                break
        else:
            return
        walked.close()
        after = row_end(escape(last.key) + b"\x00")
        yield from self._jumping(pairs, view, span._replace(first=after))

    def _cut(self, rows: list[Row], versions: int) -> list[Row]:
        cut, all_versions = self._decision.cut, self._decision.all_versions
        kept = []
        for row in rows:
            cells = row.raw_cells
            found = cut(row.key, cells)
            if not found:
                continue
            if all_versions:
                found = _newest(found, versions)
            kept.append(row if found is cells else Row(row.key, found))
        return kept

    def _waste(self, row: Row) -> int:
        """Returns what was read in vain of a row, as far as it can be computed."""
        waste, cells = self._decision.waste, row.raw_cells
        return 0 if waste is None else waste(cells, self._decision.cut(row.key, cells))

    def _jumping(
        self, pairs: Sequence[tuple[FamilyRead, Iterators]], view: View, span: Span
    ) -> RowPieces:
        cursors = [FamilyCursor(read, view, seeker, span) for read, (seeker, _) in pairs]
        return as_pieces(filtered_rows(cursors, self._rule, span, self._is_stopped))


def _begins_huge(pairs: Sequence[tuple[FamilyRead, Iterators]], span: Span) -> bool:
    """Whether the first row is so large that it must not be read to find that out."""
    for _, (seeker, _) in pairs:
        seeker.seek(span.first)
        key = seeker.key()
        prefix = b"" if key is None else key[: key.index(0) + 1]
        for _ in range(_HUGE):
            if key is None or not key.startswith(prefix):
                break
            seeker.next()
            key = seeker.key()
        else:
            return True
    return False


def _newest(cells: Cells, versions: int) -> Cells:
    """Returns the first cells of each column."""
    kept: list[RawCell] = []
    column, count = b"", 0
    for cell in cells:
        count = count + 1 if cell[0] == column else 1
        column = cell[0]
        if count <= versions:
            kept.append(cell)
    return kept


def _name(read: FamilyRead) -> bytes:
    return read.family.schema.name.encode()


def _with(row: Row, others: Sequence[FamilyCursor]) -> Row:
    """Returns a row together with what other families have of it, in family order."""
    prefix = escape(row.key) + b"\x00"
    cells = list(row.raw_cells)
    for each in others:
        each.go_to(prefix)
        if each.prefix == prefix:
            cells += each.read_row(row.key, _EVERYTHING)
    cells.sort(key=_family)
    return Row(row.key, cells)


def _family(cell: RawCell) -> bytes:
    return cell[0].partition(b":")[0]
