"""`IndexHome`: an indexed table and its indexes, for its writer, reader and maintenance."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from copy import copy

import msgspec
from msgspec.structs import force_setattr

from webtable.errors import InvalidRequest, SchemaMismatch, TableExists, TableNotFound
from webtable.index.cell_encoding import Removal, decode_revision
from webtable.index.clock_check import ClockCheck
from webtable.index.index_and_change import Change, Index, IndexState, RowState, state_setting
from webtable.index.write_protocol import NO_REVISION, Clock, SystemClock, new_token
from webtable.store.cells_and_rows import Row
from webtable.store.mutation import Put
from webtable.store.scan import Get
from webtable.store.store import Store

__all__ = ["IndexHome", "commit_lock"]

_STATES_MS = 10_000  # how long a writer caches the states of indexes

# One process writes to an embedded store, so a lock in this process keeps writers apart.
_locks: weakref.WeakKeyDictionary[Store, threading.RLock] = weakref.WeakKeyDictionary()
_locks_lock = threading.Lock()
_highest: weakref.WeakKeyDictionary[Store, dict[tuple[str, bytes, bytes], int]] = (
    weakref.WeakKeyDictionary()
)


def commit_lock(store: Store) -> threading.RLock:
    """Returns the lock under which indexed rows of an embedded store are read and written."""
    lock = _locks.get(store)
    if lock is None:
        with _locks_lock:
            lock = _locks.setdefault(store, threading.RLock())
    return lock


class HighestRevision:
    """The highest revision of the rows of a table, in a cell of an embedded store.

    Each commit chooses a higher one, also if the clock was set back. So a reader of the
    rows in the order of their revisions, up to the highest, has seen every commit before it.
    """

    def __init__(self, store: Store, cell: tuple[str, bytes, bytes]) -> None:
        self._table, self._row, self._column = cell
        with _locks_lock:
            self._numbers = _highest.setdefault(store, {})
        self._cell = cell
        self._store = store

    @property
    def number(self) -> int:
        """The highest revision. The caller holds `commit_lock`."""
        found = self._numbers.get(self._cell)
        if found is None:
            row = self._store.table(self._table).get(self._row, (self._column,))
            stored = None if row is None else row.value(self._column)
            found = self._numbers[self._cell] = int(stored or 0)
        return found

    def move(self, number: int) -> tuple[str, Put]:
        """Returns the put of a higher revision, for the commit that has it."""
        self._numbers[self._cell] = number
        # With the time of the clock, a clock that was set back would hide it behind the one before.
        return self._table, Put(self._row, {self._column: b"%d" % number}, timestamp=number)


class IndexHome:
    """A table with its indexes. Share it between threads.

    Args:
        table: the indexed table; its families `columns` and `cells` must keep at least one version.
        columns: the families and columns that are facts; empty means the whole row. Every write
            reads them first, so name only what the indexes depend on.
        cells: the family and the beginning of the two columns that the machinery keeps in each
            row, `rev` and `pending`.
        prefix: what the keys of the indexed rows begin with, where the table holds others too.
        renew: whether each write puts all its entries again. Needed where facts have a TTL, so that
            entries do not expire before their row; each write must then put all facts, too.
        workers: 1: conditional writes on a cluster are made one by one, else many with one call.
        highest: the table, row and column of the cell with the highest revision; in an embedded
            store each commit then has a higher revision than all commits before it.
        clock, tokens: where time and randomness come from.
        clock_check: compares that clock with the cluster's before writes; None: it is not checked.
    """

    def __init__(
        self,
        store: Store,
        table: str,
        indexes: Iterable[Index],
        *,
        columns: Sequence[bytes] = (),
        cells: bytes = b"a:.",
        prefix: bytes = b"",
        renew: bool = False,
        workers: int = 4,
        highest: tuple[str, bytes, bytes] | None = None,
        clock: Clock | None = None,
        tokens: Callable[[], bytes] = new_token,
        clock_check: ClockCheck | None = None,
    ) -> None:
        self.store = store
        self.clock_check = clock_check
        self.highest: HighestRevision | None = None
        if highest is not None and store.capabilities.atomic_commits:
            self.highest = HighestRevision(store, highest)
        self.name = table
        self.indexes = {index.name: index for index in indexes}
        self.has_unique = any(index.is_unique for index in self.indexes.values())
        self.grouped = {i.table: i for i in self.indexes.values() if i.is_grouped}
        self.revision_column = cells + b"rev"
        self.pending_column = cells + b"pending"
        self.clock: Clock = clock or SystemClock()
        self.new_token = tokens
        self.prefix = prefix
        self.renews = renew
        self.workers = workers
        family = cells.partition(b":")[0]
        own = () if family in columns else (self.revision_column, self.pending_column)
        self.read_columns: tuple[bytes, ...] = (*columns, *own) if columns else ()
        self._few_columns: tuple[bytes, ...] | None = None
        if all(index.columns for index in self.indexes.values()):
            few = [column for index in self.indexes.values() for column in index.columns]
            few.append(self.revision_column)
            if not store.capabilities.atomic_commits:
                # Elsewhere nothing is pending, but in a copy of a cluster's store; then it is
                # garbage that `verify` removes.
                few.append(self.pending_column)
            self._few_columns = tuple(dict.fromkeys(few))
            self._few_get = Get(b"row", self._few_columns)
        self.ready: set[str] = set()
        self._checked_ms: int | None = None
        self.table = store.table(table)
        self.lock = commit_lock(store)

    # Tables and states

    @property
    def is_plain(self) -> bool:
        """Whether entries are put where they are new and deleted where they are old, no more."""
        return not (
            self.has_unique or self.grouped or self.renews or len(self.ready) != len(self.indexes)
        )

    def create_tables(self) -> None:
        """Creates the missing tables of indexes, and marks the indexes that are to be built.

        The index of a table that has rows already starts as `building`: from now on writes keep
        it, and `upkeep.build` adds the rows that were there. Every writer must have it declared by
        then.
        """
        found = self.table.scan(prefix=self.prefix, columns=self.read_columns, limit=1)
        state: IndexState = "ready" if next(found, None) is None else "building"
        tables = set(self.store.tables())
        for index in self.indexes.values():
            if index.table not in tables:
                # Another process may be at it, too.
                with contextlib.suppress(TableExists):
                    self.store.create_table(index.schema(state), splits=index.splits)
            if state_setting(index.name) not in self.store.describe_table(index.table).attributes:
                self.set_state(index.name, state)

    def state(self, name: str) -> IndexState:
        """Returns whether an index is ready to be read.

        Raises:
            SchemaMismatch: its table was not made by `create_tables`.
        """
        index = self.index(name)
        if name in self.ready:
            return "ready"
        try:
            attributes = self.store.describe_table(index.table).attributes
        except TableNotFound as exc:
            raise _unmade(index) from exc
        state = attributes.get(state_setting(name))
        if state == "ready":
            self.ready.add(name)
            return "ready"
        if state == "building":
            return "building"
        raise _unmade(index)

    def check_states(self) -> None:
        """Checks, now and then, whether the indexes are ready; for writers, which can wait.

        To them an index that is being built means more work, no less.
        """
        if len(self.ready) == len(self.indexes):
            return
        now = self.clock.elapsed_ms()
        if self._checked_ms is None or now - self._checked_ms > _STATES_MS:
            for name in self.indexes:
                self.state(name)
            self._checked_ms = now

    def set_state(self, name: str, state: IndexState) -> None:
        """Records, for every process, that an index is ready, or that it is to be built.

        A process that has seen it ready goes on reading it; open the table again there.
        """
        index = self.index(name)
        schema = self.store.describe_table(index.table)
        attributes = {**schema.attributes, state_setting(name): state}
        self.store.alter_table(msgspec.structs.replace(schema, attributes=attributes))
        self.ready.discard(name)

    def index(self, name: str) -> Index:
        """Returns the index of that name.

        Raises:
            InvalidRequest: the table has none.
        """
        index = self.indexes.get(name)
        if index is None:
            names = ", ".join(sorted(self.indexes)) or "none"
            raise InvalidRequest(
                f"table '{self.name}' has no index '{name}'", hint=f"known indexes: {names}"
            )
        return index

    # Rows

    def entries(self, state: RowState) -> set[Removal]:
        """Returns where the entries of a row are, of all indexes, by its facts."""
        return {
            Removal(index.table, key, index.column + cover, index.is_unique)
            for index in self.indexes.values()
            for key, cover in index.entries(state.row, state.facts)
        }

    def read_state(self, row: bytes) -> RowState:
        """Reads a row's facts and revision."""
        return self.state_of(row, self.table.get(row, self.read_columns))

    def read_states(self, rows: Sequence[bytes]) -> list[RowState]:
        """Reads the facts and revisions of many rows at once."""
        if len(rows) == 1:
            return [self.read_state(rows[0])]
        found = self.table.get_many(rows, self.read_columns)
        return [self.state_of(row, each) for row, each in zip(rows, found, strict=True)]

    def read_for(self, changes: Sequence[tuple[bytes, Change]]) -> list[RowState]:
        """Reads of each row what its indexes and this change need."""
        found, state_of = self.read_rows(changes), self.state_of
        return [state_of(row, each) for (row, _), each in zip(changes, found, strict=True)]

    def read_rows(self, changes: Sequence[tuple[bytes, Change]]) -> list[Row | None]:
        """Reads what `read_for` does, as rows of the store."""
        few = self._few_columns
        if len(changes) == 1:
            row, change = changes[0]
            if few is not None and change.delete:
                few += tuple([c for c in change.delete if c not in few])
            return [self.table.get(row, self.read_columns if few is None else few)]
        if few is None:
            return self.table.get_many([row for row, _ in changes], self.read_columns)
        gets = []
        for row, change in changes:
            # Where there is nothing to delete, no marker is needed.
            more = tuple([c for c in change.delete if c not in few]) if change.delete else ()
            if more:
                gets.append(Get(row, few + more))
            else:
                # The columns are checked once, and the row when it is put.
                get = copy(self._few_get)
                force_setattr(get, "row", row)
                gets.append(get)
        return self.table.get_many(gets)

    def state_of(self, row: bytes, found: Row | None) -> RowState:
        """Returns the state of a row that was read with (at least) `read_columns`."""
        if found is None:
            return RowState(row, {}, NO_REVISION, None, b"", 0)
        # The same as `Row.values`, without a second pass over the cells.
        facts: dict[bytes, bytes] = {}
        for column, _, value, _ in found.raw_cells:
            if column not in facts:
                facts[column] = value
        cell = facts.pop(self.revision_column, None)
        pending = facts.pop(self.pending_column, b"")
        pending_at = 0
        if pending:
            pending_at = found.versions(self.pending_column)[0].timestamp
        revision = NO_REVISION if cell is None else decode_revision(cell)
        return RowState(row, facts, revision, cell, pending, pending_at)


def _unmade(index: Index) -> SchemaMismatch:
    return SchemaMismatch(
        f"the table '{index.table}' is not that of index '{index.name}'",
        hint="make it with create_tables, before the first write",
    )
