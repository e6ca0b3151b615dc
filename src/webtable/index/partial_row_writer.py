"""Writing some columns of indexed rows, in an embedded store.

A change of the same few columns of very many rows need not read the other columns, nor compute
indexes that do not depend on these. What is stored is what `Writer` would store:
tests/index/test_partial_row_writer.py compares the two over random input.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from webtable import compiled
from webtable.errors import InvalidRequest
from webtable.index import write_protocol
from webtable.index.index_and_change import Index, RowState
from webtable.index.table_and_indexes import IndexHome
from webtable.store.mutation import Spread, Write

if TYPE_CHECKING:
    from webtable.index import entry_changes
else:
    entry_changes = compiled.load("webtable.index", "entry_changes")

__all__ = ["Columns", "PartialRowWriter"]

Columns: TypeAlias = Mapping[bytes, bytes | None]
"""Columns and their new values; None: the column goes."""

OfRevision: TypeAlias = Callable[[RowState, Columns, int], Columns]
"""(row as read, its change, new revision) → the whole change."""


class PartialRowWriter:
    """Plans changes of some columns of rows; for a commit, under `commit_lock`.

    Args:
        home: the rows, in a store with atomic commits.
        changes: the columns that may change. No unique or grouped index depends on them.
        reads: further columns to read, which the decision needs.
        of_revision: adds columns that depend on the new revision to a change, as
            `Change.of_revision` does; then revisions also grow with every commit, see
            `HighestRevision`.
    """

    def __init__(
        self,
        home: IndexHome,
        changes: Sequence[bytes],
        reads: Sequence[bytes],
        *,
        of_revision: OfRevision | None = None,
    ) -> None:
        self._home = home
        self._of_revision = of_revision
        self._indexes: list[Index] = []
        columns = dict.fromkeys(reads)
        for index in home.indexes.values():
            if index.columns and set(index.columns).isdisjoint(changes):
                continue
            if not index.columns or index.is_unique or index.is_grouped:
                raise InvalidRequest(
                    f"index '{index.name}' is unique or grouped, or depends on whole rows",
                    hint="write whole rows of such tables",
                )
            self._indexes.append(index)
            columns |= dict.fromkeys(index.columns)
        columns[home.revision_column] = None
        self._columns = tuple(sorted(columns))

    def read(self, rows: Sequence[bytes]) -> list[RowState]:
        """Reads what is needed of rows; the facts are no others."""
        home = self._home
        found = home.table.get_many(rows, self._columns)
        return [home.state_of(row, each) for row, each in zip(rows, found, strict=True)]

    def plan(
        self, states: Sequence[RowState], changes: Sequence[Columns | None]
    ) -> tuple[list[int | None], list[tuple[str, Write]]]:
        """Returns the new revisions of rows, None where nothing changes, and what to write."""
        home, name = self._home, self._home.name
        home.check_states()
        now_ms, token = home.clock.now_ms(), home.new_token()
        highest = home.highest if self._of_revision is not None else None
        if highest is not None:
            now_ms = max(now_ms, highest.number + 1)
        cells: _Cells = defaultdict(dict)
        revisions: list[int | None] = []
        for state, change in zip(states, changes, strict=True):
            if change is None:
                revisions.append(None)
                continue
            row = state.row
            number = write_protocol.new_revision(now_ms, state.revision.number)
            revisions.append(number)
            if self._of_revision is not None:
                change = self._of_revision(state, change, number)
            for column, value in change.items():
                # As in `RowAttempt`: what is deleted has the old revision at most.
                cells[name, column, number - (value is None)][row] = value
            cells[name, home.revision_column, number][row] = number.to_bytes(8, "big") + token
            if self._indexes:
                self._move_entries(cells, state, change, number)
        writes: list[tuple[str, Write]] = [
            (table, Spread(column, values, timestamp=timestamp))
            for (table, column, timestamp), values in cells.items()
        ]
        made = [number for number in revisions if number is not None]
        if highest is not None and made:
            writes.append(highest.move(max(made)))
        return revisions, writes

    def _move_entries(self, cells: _Cells, state: RowState, change: Columns, number: int) -> None:
        home, row, at = self._home, state.row, state.revision.number
        facts = {c: v for c, v in {**state.facts, **change}.items() if v is not None}
        for index in self._indexes:
            # An index that is being built, or whose entries expire, may lack entries of the row.
            puts_all = home.renews or index.name not in home.ready
            moved = entry_changes.moved_entries(index, row, state.facts, facts, puts_all)
            if moved is None:
                continue
            table, column = index.table, index.column
            for key, cover in moved[0]:
                cells[table, column + cover, number][key] = row
            for key, cover in moved[1]:
                cells[table, column + cover, at][key] = None


_Cells: TypeAlias = defaultdict[tuple[str, bytes, int], dict[bytes, bytes | None]]
"""(table, column, timestamp) → row → value."""
