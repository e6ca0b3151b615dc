"""Repairs the marks of groups: adds missing ones, removes those of groups with too few rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from webtable.index import write_protocol
from webtable.index.index_and_change import MARK, Hit, Index, RowState
from webtable.index.shared_value_marks import group_of, put_mark, sizes
from webtable.index.table_and_indexes import IndexHome
from webtable.store.mutation import Delete

__all__ = ["Unmarked", "UnmarkedFinder", "find_stale", "mark", "unmark"]


class Unmarked(NamedTuple):
    """A group that has no mark, and a row in it."""

    group: bytes
    row: bytes


class UnmarkedFinder:
    """Finds groups without marks among the entries of an index, which are shown to it in order."""

    def __init__(self, home: IndexHome, index: Index) -> None:
        self._home = home
        self._index = index
        self._group = b""
        self._first: RowState | None = None
        self._pairs: dict[bytes, tuple[RowState, RowState]] = {}

    def see(self, hit: Hit, state: RowState) -> None:
        """Takes the next entry, which its row has."""
        group = group_of(hit.key, hit.row)
        if group != self._group:
            self._group, self._first = group, state
        elif self._first is not None and self._first.row != state.row:
            self._pairs[group] = self._first, state
            self._first = None

    def found(self) -> list[Unmarked]:
        """Returns the groups among those seen since that lack their marks."""
        pairs, self._pairs = self._pairs, {}
        if not pairs:
            return []
        table = self._home.store.table(self._index.table)
        marks = table.get_many(list(pairs), (MARK,))
        lacking = [group for group, mark in zip(pairs, marks, strict=True) if mark is None]
        # A group that fell apart meanwhile has lost its mark with that; only the others count.
        rows = {state.row: state for group in lacking for state in pairs[group]}
        again = {state.row: state.cell for state in self._home.read_states(list(rows))}
        return [
            Unmarked(group, pairs[group][0].row)
            for group in lacking
            if all(again[state.row] == state.cell for state in pairs[group])
        ]


def mark(home: IndexHome, index: Index, groups: Sequence[Unmarked]) -> None:
    """Puts marks that are missing."""
    now = home.clock.now_ms()
    with home.store.table(index.table).batch() as batch:
        for group, _ in groups:
            batch.add(put_mark(home, index, group, now))


def find_stale(
    home: IndexHome, index: Index, marks: Sequence[tuple[bytes, int]]
) -> tuple[list[tuple[bytes, int]], int]:
    """Returns the marks of groups of fewer than two entries, and how many others are too young.

    Entries count, not rows: one whose row is about to be written may rely on the mark already.
    """
    # As with entries, the clock is read before the marks and entries are.
    now = home.clock.now_ms()
    counts = sizes(home, index, [group for group, _ in marks])
    stale = [mark for mark, count in zip(marks, counts, strict=True) if count < 2]
    gone = [(group, at) for group, at in stale if write_protocol.is_abandoned(at, now)]
    return gone, len(stale) - len(gone)


def unmark(home: IndexHome, index: Index, marks: Sequence[tuple[bytes, int]]) -> None:
    """Removes marks, and none that is put later."""
    with home.store.table(index.table).batch() as batch:
        for group, at in marks:
            batch.add(Delete(group, timestamp=at).column(MARK))
