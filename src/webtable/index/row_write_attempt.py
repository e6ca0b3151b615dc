"""One attempt to write one row: what it puts, what it removes, and under which revision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from webtable import compiled
from webtable.index import write_protocol
from webtable.index.cell_encoding import Removal, Revision, encode_pending, encode_revision
from webtable.index.index_and_change import Change, Entry, Index, RowState
from webtable.index.table_and_indexes import IndexHome
from webtable.index.write_protocol import Clock
from webtable.store.mutation import Check, Delete, Mutation, Put

if TYPE_CHECKING:
    from webtable.index import entry_changes
else:
    entry_changes = compiled.load("webtable.index", "entry_changes")

__all__ = ["Moment", "RowAttempt", "markers"]


class Moment(NamedTuple):
    """When the revisions of attempts were chosen."""

    now_ms: int
    elapsed_ms: int

    @classmethod
    def by(cls, clock: Clock) -> Moment:
        """Returns what a clock shows."""
        return cls(clock.now_ms(), clock.elapsed_ms())

    def after(self, number: int) -> Moment:
        """Returns the moment for a revision that is higher than a number, whatever the clock."""
        return self._replace(now_ms=max(self.now_ms, number + 1))


class RowAttempt:
    """What one attempt does. Made from a row as it was read; good for that revision only."""

    __slots__ = (
        "_change",
        "_home",
        "_of_revision",
        "cell",
        "chosen_ms",
        "claims",
        "facts",
        "gone",
        "put_entries",
        "revision",
        "row",
        "state",
    )

    def __init__(self, home: IndexHome, state: RowState, change: Change, moment: Moment) -> None:
        self._home = home
        self._change = change
        self.state = state
        self.row = state.row
        self.chosen_ms = moment.elapsed_ms
        number = write_protocol.new_revision(moment.now_ms, state.revision.number)
        self.revision = Revision(number, home.new_token())
        self.cell = encode_revision(self.revision)
        self.facts = change.facts_after(state.facts)
        self._of_revision: Mapping[bytes, bytes] = {}
        if change.of_revision is not None:
            self._of_revision = change.of_revision(number)
            self.facts = {**self.facts, **self._of_revision}
        self.put_entries: list[tuple[str, Put]] = []
        self.claims: list[tuple[Index, Entry]] = []
        self.gone: list[Removal] = []
        for index in home.indexes.values():
            self._compare(index)

    def _compare(self, index: Index) -> None:
        """Notes which entries of an index come and go; `entry_changes.moved_entries` decides it."""
        home, row, number = self._home, self.row, self.revision.number
        # An index that is being built, or whose entries expire, may lack entries of the row.
        puts_all = self._change.renew or home.renews or index.name not in home.ready
        moved = entry_changes.moved_entries(index, row, self.state.facts, self.facts, puts_all)
        if moved is None:
            return
        put_entries, removed = moved
        column, table = index.column, index.table
        if index.is_unique:
            self.claims += [(index, entry) for entry in put_entries]
        else:
            self.put_entries += entry_changes.entry_puts(index, row, put_entries, number)
        for key, cover in removed:
            self.gone.append(Removal(table, key, column + cover, index.is_unique))

    def check(self) -> Check:
        """The row's revision cell is still the one that was read, all of it."""
        column, cell = self._home.revision_column, self.state.cell
        if cell is None:
            return Check.absent(column, unique=True)
        return Check.equal(column, cell, unique=True)

    def mutations(self, *, keeps_pending: bool = True) -> list[Mutation]:
        """Returns the mutations of the row itself; the first one puts the revision.

        Args:
            keeps_pending: whether what is to be removed is noted, to be done afterwards.
        """
        number, change = self.revision.number, self._change
        own = {self._home.revision_column: self.cell, **self._of_revision}
        pending = b""
        if keeps_pending:
            pending = encode_pending(self.state.revision.number, self.gone)
        if pending or self.state.pending:
            own[self._home.pending_column] = pending
        mutations: list[Mutation] = [
            Put(self.row, {**change.put, **own} if change.put else own, timestamp=number)
        ]
        # Facts have the old revision at most; those of a row from before its indexes have any time.
        gone = change.delete and [
            c for c in change.delete if c not in change.put and self._may_have(c)
        ]
        if gone:
            delete = Delete(self.row, timestamp=number - 1)
            for column in gone:
                delete.column(column)
            mutations.append(delete)
        if change.more:
            mutations.extend(change.more)
        return mutations

    def _may_have(self, column: bytes) -> bool:
        """Whether the row has a column, or that was not read."""
        if column in self.state.facts:
            return True
        read = self._home.read_columns
        return not (not read or column in read or column.partition(b":")[0] in read)

    def after(self) -> RowState:
        """Returns the row as it is once the attempt was made with nothing left to remove."""
        return RowState(self.row, self.facts, self.revision, self.cell, b"", 0)


def markers(gone: Iterable[Removal], old_revision: int) -> list[tuple[str, Mutation]]:
    """Returns the delete markers of plain entries that their row has no more.

    Their timestamp is the revision that the row had before, not the time of the removal: an entry
    that a later write put again survives them, whenever they land.
    """
    return [
        (table, Delete(key, timestamp=old_revision).column(column))
        for table, key, column, is_claim in gone
        if not is_claim
    ]
