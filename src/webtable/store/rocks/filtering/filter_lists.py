"""Combined filters: lists, `SKIP` and `WHILE`, with HBase's rules for merging decisions."""

from __future__ import annotations

from collections.abc import Sequence

from webtable.store.cells_and_rows import RawCell
from webtable.store.rocks.filtering.cell_rules import (
    INCLUDE,
    INCLUDE_NEXT_COLUMN,
    INCLUDE_NEXT_ROW,
    NEXT_COLUMN,
    NEXT_ROW,
    SEEK,
    SKIP,
    FilterCell,
    Hint,
    Rule,
)

__all__ = ["All", "One", "SkipRow", "While"]


class _Several(Rule):
    """What both kinds of lists share. An empty one leaves out nothing."""

    def __init__(self, rules: Sequence[Rule], *, reverse: bool) -> None:
        self._rules = rules
        self._reverse = reverse
        self.checks_rows = any(rule.checks_rows for rule in rules)
        self.may_end = any(rule.may_end for rule in rules)

    def reset(self) -> None:
        for rule in self._rules:
            rule.reset()

    def trim(self, cells: list[RawCell]) -> list[RawCell]:
        for rule in self._rules:
            cells = rule.trim(cells)
        return cells

    def needs(self, family: bytes) -> bool:
        return not self._rules or any(rule.needs(family) for rule in self._rules)

    def _is_before(self, one: Hint, other: Hint) -> bool:
        """Whether a scan meets the one before the other."""
        return one > other if self._reverse else one < other


class All(_Several):
    """A list all of whose filters must pass: the greatest step that any of them takes."""

    def __init__(self, rules: Sequence[Rule], *, reverse: bool) -> None:
        super().__init__(rules, reverse=reverse)
        self._seeking: list[Rule] = []

    def reset(self) -> None:
        super().reset()
        self._seeking.clear()

    def leaves_out_key(self, row: bytes) -> bool:
        leaves_out = may_hint = False
        for rule in self._rules:
            if rule.may_end and rule.is_done():
                return True
            # All others are called: some note by this that a row begins.
            if rule.leaves_out_key(row):
                leaves_out = True
            elif rule.is_hinting:
                may_hint = True
        # As in HBase: a filter that may give a hint gets the cells of the row.
        return leaves_out and not may_hint

    def is_done(self) -> bool:
        return any(rule.is_done() for rule in self._rules)

    def judge(self, cell: FilterCell) -> int:
        merged = INCLUDE
        self._seeking.clear()
        evaluated = 0
        for rule in self._rules:
            evaluated += 1
            if rule.may_end and rule.is_done():
                merged = NEXT_ROW
                break
            code = rule.judge(cell)
            if code == SEEK:
                self._seeking.append(rule)
            merged = _both(merged, code)
            if merged > INCLUDE_NEXT_ROW:
                break
        for rule in self._rules[evaluated:]:
            if rule.is_hinting and rule.judge(cell) == SEEK:
                self._seeking.append(rule)
        return SEEK if self._seeking else merged

    def hint(self, cell: FilterCell) -> Hint | None:
        farthest: Hint | None = None
        for rule in self._seeking:
            if rule.is_done():
                continue
            hint = rule.hint(cell)
            if farthest is None or (hint is not None and self._is_before(farthest, hint)):
                farthest = hint
        return farthest

    def change(self, cell: FilterCell) -> None:
        for rule in self._rules:
            rule.change(cell)

    def leaves_out_row(self) -> bool:
        return any(rule.leaves_out_row() for rule in self._rules)


class One(_Several):
    """A list one of whose filters must pass: the smallest step that any of them takes.

    A filter that returned a greater step does not see the cells in between, so that it behaves
    as if it were alone.
    """

    def __init__(self, rules: Sequence[Rule], *, reverse: bool) -> None:
        super().__init__(rules, reverse=reverse)
        self._codes: list[int] = [INCLUDE] * len(rules)
        self._cells: list[FilterCell | None] = [None] * len(rules)
        self._kept = [False] * len(rules)

    def reset(self) -> None:
        super().reset()
        count = len(self._rules)
        self._codes = [INCLUDE] * count
        self._cells = [None] * count
        self._kept = [False] * count

    def leaves_out_key(self, row: bytes) -> bool:
        if not self._rules:
            return False
        decisions = [rule.is_done() or rule.leaves_out_key(row) for rule in self._rules]
        return all(decisions)

    def is_done(self) -> bool:
        return bool(self._rules) and all(rule.is_done() for rule in self._rules)

    def judge(self, cell: FilterCell) -> int:
        merged: int | None = None
        for at, rule in enumerate(self._rules):
            self._kept[at] = False
            if rule.may_end and rule.is_done():
                continue
            code = self._remembered(at, rule, cell)
            if code is None:
                code = rule.judge(cell)
            self._codes[at] = code
            self._cells[at] = None if code in {INCLUDE, SKIP} else cell
            self._kept[at] = code <= INCLUDE_NEXT_ROW
            merged = code if merged is None else _either(merged, code)
        if merged is None:
            return SKIP if self._rules else INCLUDE
        return merged

    def _remembered(self, at: int, rule: Rule, cell: FilterCell) -> int | None:
        """Returns the decision that follows from an earlier one in this row, else None."""
        earlier = self._cells[at]
        if earlier is None:
            return None
        code = self._codes[at]
        if code == SEEK:
            hint = rule.hint(earlier)
            if hint is None:
                return None
            # A hint lies before the cells at its place, which backwards means behind them.
            is_short = cell.place >= hint if self._reverse else cell.place < hint
            return SEEK if is_short else None
        if code in {NEXT_COLUMN, INCLUDE_NEXT_COLUMN}:
            return NEXT_COLUMN if earlier.column == cell.column else None
        return NEXT_ROW if earlier.family == cell.family else None

    def hint(self, cell: FilterCell) -> Hint | None:
        nearest: Hint | None = None
        for rule in self._rules:
            if rule.is_done():
                continue
            hint = rule.hint(cell)
            if hint is None:
                return None
            if nearest is None or self._is_before(hint, nearest):
                nearest = hint
        return nearest

    def change(self, cell: FilterCell) -> None:
        for rule, kept in zip(self._rules, self._kept, strict=True):
            if kept:
                rule.change(cell)

    def leaves_out_row(self) -> bool:
        if not self._rules:
            return False
        return all(rule.leaves_out_row() for rule in self._rules)


class _Around(Rule):
    """A rule around another one."""

    checks_rows = True

    def __init__(self, rule: Rule) -> None:
        self._rule = rule

    def reset(self) -> None:
        self._rule.reset()

    def change(self, cell: FilterCell) -> None:
        self._rule.change(cell)

    def needs(self, family: bytes) -> bool:
        return self._rule.needs(family)


class SkipRow(_Around):
    """`SkipFilter`. As in HBase its filter does not see row keys, and gives no hints."""

    _leaves_out = False

    def reset(self) -> None:
        super().reset()
        self._leaves_out = False

    def leaves_out_key(self, row: bytes) -> bool:
        return False

    def judge(self, cell: FilterCell) -> int:
        code = self._rule.judge(cell)
        if code != INCLUDE:
            self._leaves_out = True
        return code

    def leaves_out_row(self) -> bool:
        return self._leaves_out


class While(_Around):
    """`WhileMatchFilter`. As in HBase it gives no hints."""

    may_end = True
    _is_done = False

    def leaves_out_key(self, row: bytes) -> bool:
        if self.is_done():
            return True
        return self._note(self._rule.leaves_out_key(row))

    def is_done(self) -> bool:
        return self._is_done or self._rule.is_done()

    def judge(self, cell: FilterCell) -> int:
        code = self._rule.judge(cell)
        self._note(code != INCLUDE)
        return code

    def leaves_out_row(self) -> bool:
        return self._note(self._rule.leaves_out_row())

    def _note(self, leaves_out: bool) -> bool:
        self._is_done = self._is_done or leaves_out
        return leaves_out


def _both(one: int, other: int) -> int:
    """Merges the decisions of two filters that must both pass."""
    if SEEK in {one, other}:
        return SEEK
    is_kept = one < SKIP and other < SKIP
    return max(one % 3, other % 3) + (0 if is_kept else SKIP)


def _either(one: int, other: int) -> int:
    """Merges the decisions of two filters one of which must pass."""
    if one == other == SEEK:
        return SEEK
    is_kept = one < SKIP or other < SKIP
    # How far a hint goes is unknown, so it counts as the smallest step; 6 % 3 is just that.
    return min(one % 3, other % 3) + (0 if is_kept else SKIP)
