"""What the filters on rows do, as HBase's own classes do it."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable

from webtable.store.filtering import filters as f
from webtable.store.filtering.row_bounds import prefix_end
from webtable.store.rocks.filtering.cell_rules import (
    INCLUDE,
    NEXT_ROW,
    SEEK,
    FilterCell,
    Hint,
    Rule,
)

__all__ = ["Fuzzy", "Page", "Prefix", "RandomRow", "RowKey", "RowRanges", "Stop"]


class Prefix(Rule):
    """`PrefixFilter`."""

    may_end = True
    is_hinting = True

    def __init__(self, filter: f.PrefixFilter, *, reverse: bool) -> None:
        self._prefix = filter.prefix
        self._reverse = reverse
        self._has_passed = False
        self._is_before = False
        self._leaves_out = True

    def reset(self) -> None:
        self._leaves_out = True

    def leaves_out_key(self, row: bytes) -> bool:
        if self._has_passed:
            return True
        self._leaves_out = not row.startswith(self._prefix)
        is_less = self._leaves_out and row < self._prefix
        self._is_before = self._leaves_out and is_less is not self._reverse
        self._has_passed = self._leaves_out and not self._is_before
        return self._has_passed

    def is_done(self) -> bool:
        return self._has_passed

    def judge(self, cell: FilterCell) -> int:
        if self._is_before:
            return SEEK
        return NEXT_ROW if self._leaves_out else INCLUDE

    def hint(self, cell: FilterCell) -> Hint | None:
        if self._reverse:
            end = prefix_end(self._prefix)
            return (end,) if end else None
        return (self._prefix,)

    def leaves_out_row(self) -> bool:
        return self._leaves_out


class Stop(Rule):
    """`InclusiveStopFilter`."""

    may_end = True

    def __init__(self, filter: f.InclusiveStopFilter, *, reverse: bool) -> None:
        self._stop = filter.stop_row
        self._reverse = reverse
        self._is_done = False

    def leaves_out_key(self, row: bytes) -> bool:
        if not self._is_done:
            self._is_done = row < self._stop if self._reverse else row > self._stop
        return self._is_done

    def is_done(self) -> bool:
        return self._is_done

    def judge(self, cell: FilterCell) -> int:
        return NEXT_ROW if self._is_done else INCLUDE


class Page(Rule):
    """`PageFilter`, with the whole table as one region."""

    checks_rows = True
    may_end = True

    def __init__(self, filter: f.PageFilter) -> None:
        self._size = filter.page_size
        self._accepted = 0

    def is_done(self) -> bool:
        return self._accepted >= self._size

    def leaves_out_row(self) -> bool:
        self._accepted += 1
        return self._accepted > self._size


class RowKey(Rule):
    """`RowFilter`."""

    def __init__(self, passes: Callable[[bytes], bool]) -> None:
        self._passes = passes
        self._leaves_out = False

    def reset(self) -> None:
        self._leaves_out = False

    def leaves_out_key(self, row: bytes) -> bool:
        self._leaves_out = not self._passes(row)
        return self._leaves_out

    def judge(self, cell: FilterCell) -> int:
        return NEXT_ROW if self._leaves_out else INCLUDE

    def leaves_out_row(self) -> bool:
        return self._leaves_out


class RandomRow(RowKey):
    """`RandomRowFilter`."""

    checks_rows = True

    def __init__(self, filter: f.RandomRowFilter) -> None:
        chance = filter.chance
        super().__init__(lambda _row: random.random() < chance)


class Fuzzy(Rule):
    """`FuzzyRowFilter`. Rows shorter than a pattern fit it if all they have fits."""

    may_end = True
    is_hinting = True

    def __init__(self, filter: f.FuzzyRowFilter, *, reverse: bool) -> None:
        self._patterns = filter.patterns
        self._reverse = reverse
        self._leaves_out = False
        self._is_done = False

    def reset(self) -> None:
        self._leaves_out = False

    def is_done(self) -> bool:
        return self._is_done

    def judge(self, cell: FilterCell) -> int:
        for pattern in self._patterns:
            if _misfit(cell.row, pattern) is None:
                return INCLUDE
        self._leaves_out = True
        return SEEK

    def hint(self, cell: FilterCell) -> Hint | None:
        find = _fitting_before if self._reverse else _fitting_after
        found = [row for pattern in self._patterns if (row := find(cell.row, pattern)) is not None]
        if not found:
            self._is_done = True
            return None
        return (max(found) if self._reverse else min(found),)

    def leaves_out_row(self) -> bool:
        return self._leaves_out


def _misfit(row: bytes, pattern: tuple[bytes, bytes]) -> int | None:
    """Returns the first position at which the row does not match the pattern."""
    for at, (byte, wanted, free) in enumerate(zip(row, *pattern, strict=False)):
        if byte != wanted and not free:
            return at
    return None


def _fitting_after(row: bytes, pattern: tuple[bytes, bytes]) -> bytes | None:
    """Returns the first key after the row that fits the pattern."""
    key, mask = pattern
    at = _misfit(row, pattern)
    if at is None:
        return row + b"\x00"
    if row[at] < key[at]:
        return row[:at] + key[at : at + 1]
    for earlier in range(at - 1, -1, -1):
        if mask[earlier] and row[earlier] < 255:
            return row[:earlier] + bytes([row[earlier] + 1])
    return None


def _fitting_before(row: bytes, pattern: tuple[bytes, bytes]) -> bytes | None:
    """Returns a key before the row, and not before any other that fits the pattern."""
    at = _misfit(row, pattern)
    if at is None:
        return row
    if row[at] > pattern[0][at]:
        return prefix_end(row[:at] + pattern[0][at : at + 1])
    return row[:at] or None


class RowRanges(Rule):
    """`MultiRowRangeFilter`. Its ranges are in order and do not touch."""

    may_end = True
    is_hinting = True

    def __init__(self, filter: f.MultiRowRangeFilter, *, reverse: bool) -> None:
        self._ranges = filter.ranges
        self._starts = [each.start for each in self._ranges]
        self._reverse = reverse
        self._is_done = False
        self._code = INCLUDE
        self._next = b""

    def is_done(self) -> bool:
        return self._is_done

    def leaves_out_key(self, row: bytes) -> bool:
        if self._is_done:
            return True
        at = bisect_right(self._starts, row) - 1  # the last range that begins at or before the row
        if at >= 0 and _contains(self._ranges[at], row):
            self._code = INCLUDE
        elif self._reverse:
            self._look_down(at, row)
        else:
            self._look_up(at, row)
        return False

    def _look_up(self, at: int, row: bytes) -> None:
        if at >= 0 and self._ranges[at].start == row:
            self._code = NEXT_ROW  # the range begins right after the row
        elif at + 1 < len(self._ranges):
            self._code, self._next = SEEK, self._ranges[at + 1].start
        else:
            self._code, self._is_done = NEXT_ROW, True

    def _look_down(self, at: int, row: bytes) -> None:
        if at >= 0 and self._ranges[at].start == row:
            at -= 1
        if at < 0:
            self._code, self._is_done = NEXT_ROW, True
        elif self._ranges[at].stop == row:
            self._code = NEXT_ROW  # the range ends right before the row
        else:
            self._code, self._next = SEEK, self._ranges[at].stop

    def judge(self, cell: FilterCell) -> int:
        return self._code

    def hint(self, cell: FilterCell) -> Hint | None:
        return (self._next,)


def _contains(range: f.RowRange, row: bytes) -> bool:
    after_start = row > range.start or (range.start_inclusive and row == range.start)
    before_stop = not range.stop or row < range.stop or (range.stop_inclusive and row == range.stop)
    return after_start and before_stop
