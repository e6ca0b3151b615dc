"""Looking after indexes: building new ones, verifying, repairing, explaining.

All of it runs beside writers, on any number of machines, and may be stopped and started again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

import msgspec

from webtable.errors import BatchError, InvalidRequest, NotUnique
from webtable.index import write_protocol
from webtable.index.cell_encoding import Removal
from webtable.index.entry_reader import ReadCounts
from webtable.index.indexed_table import Change, Entry, Hit, Index, IndexedTable, RowState
from webtable.index.row_writer import Writer
from webtable.index.shared_value_mark_repair import UnmarkedFinder, find_stale, mark, unmark
from webtable.index.shared_value_marks import marked
from webtable.index.unique_entries import Claims
from webtable.loggers import get_logger
from webtable.store.mutation import Delete
from webtable.store.scan import Scan

__all__ = [
    "EntryState",
    "Explanation",
    "Missing",
    "Report",
    "add_entries",
    "build",
    "explain",
    "explain_row",
    "verify",
]

T = TypeVar("T")

_BATCH = 500
_MOST_KEPT = 1_000

_log = get_logger("webtable.index")


class Missing(NamedTuple):
    """An entry that a row should have and has not; that is damage, not garbage.

    Or the mark of a group; then the key is the group, and the row one of those in it.
    """

    name: str
    row: bytes
    key: bytes


class Report(msgspec.Struct):
    """What `verify` found, and what it did about it.

    Attributes:
        rows: rows that were checked.
        entries: entries that were checked.
        missing: entries that should be there, the first thousand; with `repair` they were put.
        lacking: how many there are.
        conflicts: keys of unique indexes that two rows have; a user must decide.
        pending: rows whose old entries were still to be removed.
        leftovers: entries of no row, and marks of no group, old enough to go.
        young: such that may belong to a writer under way.
        is_repaired: whether what is counted here was repaired, as far as possible.
    """

    rows: int = 0
    entries: int = 0
    missing: list[Missing] = []
    lacking: int = 0
    conflicts: list[Missing] = []
    pending: int = 0
    leftovers: int = 0
    young: int = 0
    is_repaired: bool = False

    def add_missing(self, missing: Missing) -> None:
        """Notes an entry that should be there."""
        self.lacking += 1
        if len(self.missing) < _MOST_KEPT:
            self.missing.append(missing)

    @property
    def is_clean(self) -> bool:
        """Whether every result of the indexes is right; leftovers are garbage, not errors."""
        return not self.lacking and not self.conflicts

    @property
    def is_tidy(self) -> bool:
        """Whether there is no garbage either."""
        return self.is_clean and not (self.pending or self.leftovers or self.young)


def build(table: IndexedTable, name: str, *, start: bytes = b"") -> int:
    """Adds the rows that were there before an index, and makes it ready to be read.

    Every writer must have the index declared before this begins: then it keeps the entries of what
    it writes, and this adds those of the rest. Each row's revision is moved, so that a write which
    began before its writer knew starts again. Started again, it begins at `start`.

    Returns how many rows were read.

    Raises:
        BatchError: rows have the same key in a unique index; it stays as it is.
    """
    if table.state(name) == "ready":
        raise InvalidRequest(
            f"index '{name}' is built already", hint="verify it, or set its state to building"
        )
    _log.info("table '%s': building index '%s'", table.name, name)
    count = add_entries(table, f"index '{name}'", start=start)
    table.set_state(name, "ready")
    _log.info("table '%s': index '%s' is built, rows read: %d", table.name, name, count)
    return count


def add_entries(
    table: IndexedTable,
    what: str,
    *,
    start: bytes = b"",
    on_batch: Callable[[bytes, int], None] = lambda _, __: None,
) -> int:
    """Adds the entries of all rows to the indexes that are being built; returns how many rows.

    Args:
        what: names these indexes in an error.
        start: the first row.
        on_batch: is called with the last row whose entries are stored, and the number of rows.

    Raises:
        BatchError: rows have the same key in a unique index.
    """
    count = 0
    errors: list[NotUnique] = []
    for batch in _batches(_states(table, start), _BATCH):
        count += len(batch)
        try:
            table.write_many((state.row, Change()) for state in batch if state.facts)
        except BatchError as error:
            conflicts, rest = error.split(NotUnique)
            if rest is not None:
                raise
            assert conflicts is not None
            errors += conflicts.exceptions  # type: ignore[arg-type]
        on_batch(batch[-1].row, count)
    if errors:
        raise BatchError(f"{len(errors):,} rows cannot be in the unique {what}", errors)
    return count


def verify(table: IndexedTable, *, names: Sequence[str] = (), repair: bool = False) -> Report:
    """Compares the indexes with the rows, while others write.

    Args:
        names: the indexes to verify; by default all that are ready.
        repair: put what is missing, and remove what is left over and older than ten minutes.
    """
    report = Report(is_repaired=repair)
    indexes = [table.index(name) for name in names or table.indexes]
    indexes = [index for index in indexes if table.state(index.name) == "ready"]
    doing = "repairing" if repair else "verifying"
    named = ", ".join(index.name for index in indexes)
    _log.info("table '%s': %s the indexes %s", table.name, doing, named)
    checker = _Checker(table, report, repair)
    for states in _batches(_states(table, b""), _BATCH):
        checker.check_rows(states, indexes)
    for index in indexes:
        groups = UnmarkedFinder(table, index) if index.is_grouped else None
        for hits in _batches(table.hits(index.name), _BATCH):
            checker.check_entries(index, hits, groups)
        if groups is not None:
            for marks in _batches(marked(table, index), _BATCH):
                checker.check_marks(index, marks)
    _log.info(
        "table '%s': %s its indexes is done; entries missing: %d, in conflict: %d, left over: %d,"
        " rows with pending work: %d",
        *(table.name, doing, report.lacking, len(report.conflicts)),
        *(report.leftovers + report.young, report.pending),
    )
    return report


class _Checker:
    def __init__(self, table: IndexedTable, report: Report, repair: bool) -> None:
        self._table = table
        self._report = report
        self._repair = repair
        self._claims = Claims(table)

    def check_rows(self, states: Sequence[RowState], indexes: Sequence[Index]) -> None:
        """Looks for pending removals and missing entries of rows."""
        report = self._report
        report.rows += len(states)
        report.pending += sum(1 for state in states if state.pending)
        if self._repair:
            Writer(self._table).finish(states, clears=True)
        for index in indexes:
            missing = self._missing(index, states)
            if not missing:
                continue
            # A row that was changed meanwhile has moved its entries; only the others count.
            again = {s.row: s for s in self._table.read_states([s.row for s, _ in missing])}
            for state, entry in missing:
                if again[state.row].cell == state.cell:
                    report.add_missing(Missing(index.name, state.row, entry.key))
                    if self._repair:
                        self._renew(index, state.row, entry)

    def _missing(self, index: Index, states: Sequence[RowState]) -> list[tuple[RowState, Entry]]:
        wanted = [
            (state, entry) for state in states for entry in index.entries(state.row, state.facts)
        ]
        if index.is_unique:
            claims = self._claims.read_many(index, [entry.key for _, entry in wanted])
            pairs = zip(wanted, claims, strict=True)
            return [pair for pair, claim in pairs if claim.owner != pair[0].row]
        keys = list(dict.fromkeys(entry.key for _, entry in wanted))
        rows = self._table.store.table(index.table).get_many(keys, (index.family.encode(),))
        stored = {key: row.values() if row else {} for key, row in zip(keys, rows, strict=True)}
        return [
            (state, entry)
            for state, entry in wanted
            if index.column + entry.cover not in stored[entry.key]
        ]

    def _renew(self, index: Index, row: bytes, entry: Entry) -> None:
        try:
            self._table.write(row, Change(renew=True))
        except NotUnique:
            self._report.conflicts.append(Missing(index.name, row, entry.key))

    def check_entries(
        self, index: Index, hits: Sequence[Hit], groups: UnmarkedFinder | None = None
    ) -> None:
        """Looks for entries that no row has, and for groups of those that are right without marks.

        With `groups` the entries come in the order of their keys.
        """
        report, table = self._report, self._table
        report.entries += len(hits)
        rows = list(dict.fromkeys(hit.row for hit in hits))
        # The clock is read before the rows are: what is abandoned by then can get into no row
        # any more, while what a row lacks now may be in it when this worker goes on after a stall.
        now = table.clock.now_ms()
        states = {state.row: state for state in table.read_states(rows)}
        gone: list[Hit] = []
        for hit in hits:
            entries = index.entries(hit.row, states[hit.row].facts)
            if Entry(hit.key, hit.cover) in entries:
                if groups is not None:
                    groups.see(hit, states[hit.row])
                continue
            if write_protocol.is_abandoned(hit.timestamp, now):
                report.leftovers += 1
                gone.append(hit)
            else:
                report.young += 1
        if self._repair and gone:
            self._remove(index, gone)
        unmarked = [] if groups is None else groups.found()
        for group, row in unmarked:
            report.add_missing(Missing(index.name, row, group))
        if self._repair and unmarked:
            mark(table, index, unmarked)

    def check_marks(self, index: Index, marks: Sequence[tuple[bytes, int]]) -> None:
        """Looks for marks of groups that have fallen apart."""
        gone, young = find_stale(self._table, index, marks)
        self._report.leftovers += len(gone)
        self._report.young += young
        if self._repair and gone:
            unmark(self._table, index, gone)

    def _remove(self, index: Index, gone: Sequence[Hit]) -> None:
        entries = self._table.store.table(index.table)
        if not index.is_unique:
            with entries.batch() as batch:
                for hit in gone:
                    column = index.column + hit.cover
                    batch.add(Delete(hit.key, timestamp=hit.timestamp).column(column))
            return
        for hit in gone:
            stored = self._claims.read(index.table, hit.key, index.column)
            if stored.owner == hit.row and stored.timestamp == hit.timestamp:
                place = Removal(index.table, hit.key, index.column)
                self._claims.release(place, stored, stored.timestamp)


class Explanation(NamedTuple):
    """How a scan of an index was executed, and what it cost."""

    name: str
    table: str
    start: bytes
    stop: bytes
    counts: ReadCounts


def explain(table: IndexedTable, name: str, scan: Scan | None = None) -> Explanation:
    """Runs a scan of an index and returns what was read for it."""
    index = table.index(name)
    start, stop = (scan or Scan(prefix=index.prefix)).bounds()
    found = table.find(name, scan)
    for _ in found:
        pass
    return Explanation(name, index.table, start, stop, found.counts)


class EntryState(NamedTuple):
    """One entry of a row, and whether it is there."""

    name: str
    entry: Entry
    is_there: bool


def explain_row(table: IndexedTable, row: bytes) -> tuple[RowState, list[EntryState]]:
    """Returns a row's revision, what is pending, and the entries that its facts give."""
    state = table.read_state(row)
    checker = _Checker(table, Report(), repair=False)
    entries: list[EntryState] = []
    for index in table.indexes.values():
        missing = {entry for _, entry in checker._missing(index, [state])}
        entries += [
            EntryState(index.name, entry, entry not in missing)
            for entry in index.entries(row, state.facts)
        ]
    return state, entries


def _states(table: IndexedTable, start: bytes) -> Iterator[RowState]:
    for found in table.table.scan(start=start, prefix=table.prefix, columns=table.read_columns):
        yield table.state_of(found.key, found)


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch
