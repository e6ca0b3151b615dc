"""Scans that decide about whole rows: a plain read brings them, a `Decision` cuts them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from webtable.store.model import RawCell
from webtable.store.rocks.filtering.deciding import Decision, row_decision
from webtable.store.rocks.filtering.reading import FamilyCursor, Span, filtered_rows
from webtable.store.rocks.filtering.rules import Rule
from webtable.store.rocks.keys import row_end
from webtable.store.rocks.reader import (
    FamilyRead,
    RowStream,
    View,
    merge,
    rows_backward,
    rows_forward,
)
from webtable.store.scan import ALL_VERSIONS

__all__ = ["WholeRows", "plain_rows", "row_decision"]

Iterators: TypeAlias = tuple[Any, Any]
"""Of one family at one moment: one to seek with, one over all keys and values to read."""

_EVERYTHING = Rule()
# How often what was read in vain is looked at: of the first rows each, then of some.
_FIRST = 16
_EVERY = 8
_HUGE = 1_000  # cells of one row in one family
_OUTLIERS = 3  # rows that may be much wider than the rest before anything is concluded


def plain_rows(
    reads: Sequence[FamilyRead], view: View, span: Span, opened: Sequence[Iterators]
) -> RowStream:
    """Yields the rows of a scan without a filter."""
    walk = rows_backward if span.reverse else rows_forward
    streams = [
        walk(read, view, items, seeker, span.first)
        for read, (seeker, items) in zip(reads, opened, strict=True)
    ]
    return streams[0] if len(streams) == 1 else merge(streams, reverse=span.reverse)


class WholeRows:
    """A scan that decides about whole rows.

    Where too much is read in vain (rows are wide, or values large), jumping from cell to cell is
    better; so the scan goes on that way once it has met enough of it.
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
        cut, waste, patience, all_versions, is_jump = self._decision
        # Backwards there is no change of ways later.
        if is_jump and (span.reverse or _begins_huge(deciding, span)):
            yield from self._jumping(pairs, view, span)
            return
        # Families that do not matter for the decision are read only for rows that stay.
        others = [
            FamilyCursor(read, view, seeker, span)
            for read, (seeker, _) in pairs
            if all(read is not each for each, _ in deciding)
        ]
        shown = View(ALL_VERSIONS, view.time_range) if all_versions else view
        walked = plain_rows([each[0] for each in deciding], shown, span, [e[1] for e in deciding])
        looked = wasted = 0
        for number, (prefix, cells) in enumerate(walked):
            if self._is_stopped():
                return
            kept = cut(prefix, cells)
            if waste is not None and (number < _FIRST or not number % _EVERY):
                looked += 1
                wasted += waste(cells, kept)
            if kept:
                if all_versions:
                    kept = _newest(kept, view.versions)
                yield prefix, _with(kept, others, prefix) if others else kept
            if wasted > patience * (looked + _OUTLIERS) and not span.reverse:
                break
        else:
            return
        walked.close()
        yield from self._jumping(pairs, view, span._replace(first=row_end(prefix)))

    def _jumping(
        self, pairs: Sequence[tuple[FamilyRead, Iterators]], view: View, span: Span
    ) -> RowStream:
        cursors = [FamilyCursor(read, view, seeker, span) for read, (seeker, _) in pairs]
        return filtered_rows(cursors, self._rule, span, self._is_stopped)


def _begins_huge(pairs: Sequence[tuple[FamilyRead, Iterators]], span: Span) -> bool:
    """Whether the first row is so large that it must not be read to know that."""
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


def _newest(cells: list[RawCell], versions: int) -> list[RawCell]:
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


def _with(cells: list[RawCell], others: Sequence[FamilyCursor], prefix: bytes) -> list[RawCell]:
    """Returns the cells of a row together with those of other families, in family order."""
    for each in others:
        each.go_to(prefix)
        if each.prefix == prefix:
            cells += each.read_row(prefix, _EVERYTHING)
    cells.sort(key=_family)
    return cells


def _family(cell: RawCell) -> bytes:
    return cell[0].partition(b":")[0]
