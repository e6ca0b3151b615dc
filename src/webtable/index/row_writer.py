"""Writing indexed rows: the protocol on a cluster, and one atomic commit where there are such.

On a cluster a write is, for each row: the new entries at the new revision; check-and-mutate of
the row on its old revision, with the facts and what is to be removed; the removals at the old
revision; and that nothing is pending any more. A process that dies on the way leaves garbage at
most. A writer that loses the race for a row removes the entries that it has put for nothing.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from webtable import compiled
from webtable.errors import (
    BatchError,
    CheckFailed,
    ConflictError,
    CorruptData,
    InvalidRequest,
    NotUnique,
    RetryableError,
    WebTableError,
)
from webtable.index import write_protocol
from webtable.index.cell_encoding import Removal, decode_pending
from webtable.index.index_and_change import Change, Decide, RowState
from webtable.index.row_write_attempt import Moment, RowAttempt, markers
from webtable.index.shared_value_marks import commit_marks, new_marks
from webtable.index.table_and_indexes import IndexHome
from webtable.index.unique_entries import Claims, Ledger
from webtable.loggers import get_logger
from webtable.store.mutation import (
    Conditional,
    Durability,
    Mutation,
    Put,
    Write,
    check_durability,
)

if TYPE_CHECKING:
    from webtable.index import entry_changes
else:
    entry_changes = compiled.load("webtable.index", "entry_changes")

__all__ = ["Also", "Writer"]

Outcome: TypeAlias = int | WebTableError | None
"""The new revision, None where nothing was to be done, or why the row was not written."""

Also: TypeAlias = Sequence[tuple[str, Write]] | Callable[[], Sequence[tuple[str, Write]]]
"""(table, mutation) pairs for the same commit; a function is called after the rows are decided."""

Before: TypeAlias = Callable[[Sequence[RowState]], None]
"""Called with the rows of an attempt as they were read, before their changes are decided."""

_ATTEMPTS = 1000
_CHUNK = 500  # rows under way at a time on a cluster
_log = get_logger("webtable.index")
_OF_ONE_ROW = (InvalidRequest, ConflictError, CorruptData)
"""What is wrong with one row, when its change is decided, and does not stop the others."""


class Writer:
    """Writes rows of one indexed table. Holds nothing between calls."""

    def __init__(self, home: IndexHome) -> None:
        self._home = home
        self.claims = Claims(home)
        self._lock = home.lock
        self._durability: Durability = "wal"
        self.before: Before | None = None

    def write(
        self,
        items: Sequence[tuple[bytes, Change | Decide]],
        also: Also,
        durability: Durability,
    ) -> list[Outcome]:
        """Writes rows; the result has one outcome for each.

        Raises:
            InvalidRequest: there is something for the same commit, and no atomic commits, or
                what was acknowledged could be lost, and with it an entry and not its row.
        """
        self._durability = self.claims.durability = check_durability(durability)
        self._home.check_states()
        if self._home.store.capabilities.atomic_commits:
            return self._commit(items, also)
        if durability == "none":
            raise InvalidRequest(
                "an indexed write with durability 'none'",
                hint="a server that dies may lose entries and not their rows: take 'wal'",
            )
        if also:
            raise InvalidRequest(
                "further mutations for the commit of an indexed write",
                hint="this store has no atomic commits; write them by themselves",
            )
        outcomes: list[Outcome] = []
        races: Races = {}
        for at in range(0, len(items), _CHUNK):
            outcomes += self._write_chunk(items[at : at + _CHUNK], races)
        if races and not any(isinstance(outcome, RetryableError) for outcome in outcomes):
            self._tidy_up(races)
        return outcomes

    # On a cluster

    def _write_chunk(
        self, items: Sequence[tuple[bytes, Change | Decide]], races: Races
    ) -> list[Outcome]:
        outcomes: list[Outcome] = [None] * len(items)
        waiting = list(range(len(items)))
        for _ in range(_ATTEMPTS):
            turn, later = _first_of_each_row(items, waiting)
            try:
                lost = self._attempt(items, turn, outcomes, races)
            except (RetryableError, BatchError) as error:
                # Before any row of this attempt was touched; entries may be left over.
                reason = _first_error(error)
                if len(turn) > 1 and not isinstance(reason, RetryableError):
                    # An entry was rejected. Written alone, each row fails for its own reasons only.
                    for position in waiting:
                        (outcomes[position],) = self._write_chunk([items[position]], races)
                    return outcomes
                for position in waiting:
                    outcomes[position] = reason
                return outcomes
            waiting = sorted(lost + later)
            if not waiting:
                return outcomes
        for position in waiting:
            outcomes[position] = CheckFailed(
                f"row {items[position][0]!r:.80} of table '{self._home.name}' was changed by"
                f" others {_ATTEMPTS} times",
                hint="try again when less is written to it",
            )
        return outcomes

    def _attempt(
        self,
        items: Sequence[tuple[bytes, Change | Decide]],
        turn: list[int],
        outcomes: list[Outcome],
        races: Races,
    ) -> list[int]:
        """Makes one attempt for each row; returns the positions of those that others changed.

        What the attempts for those have put is added to `races`.
        """
        states = self._read([items[position] for position in turn])
        # A resumed load often has nothing to change in a row, and leaves nothing pending either.
        self.finish(states, clears=True)
        if self.before is not None:
            self.before(states)
        moment = Moment.by(self._home.clock)
        if self._home.clock_check is not None:
            # After the revisions were chosen: they are times of the clock that is compared now.
            self._home.clock_check.check()
        attempts: dict[int, RowAttempt] = {}
        for position, state in zip(turn, states, strict=True):
            race = races.get(state.row)
            try:
                change = _decided(items[position][1], state)
                if change is not None:
                    begins = moment if race is None else moment.after(race.number)
                    attempts[position] = RowAttempt(self._home, state, change, begins)
            except _OF_ONE_ROW as error:
                outcomes[position] = error
        for position, reason in self._take_claims(attempts).items():
            outcomes[position] = reason
            del attempts[position]
        won = self.make(list(attempts.values()))
        lost = []
        for (position, attempt), result in zip(attempts.items(), won, strict=True):
            if isinstance(result, WebTableError):
                outcomes[position] = result
            elif result:
                outcomes[position] = attempt.revision.number
            else:
                lost.append(position)
                races.setdefault(attempt.row, _Race()).add(attempt)
        return lost

    def _tidy_up(self, races: Races) -> None:
        """Removes the entries of attempts that lost the race, where the row does not have them.

        Where the row is behind such an attempt, its revision is moved first. A process that dies
        before this is done leaves the entries to `verify`.
        """
        self.before = None
        with contextlib.suppress(RetryableError, BatchError):
            for _ in range(_ATTEMPTS):
                rows = list(races)[:_CHUNK]
                jobs, behind = [], []
                for state in self._home.read_states(rows):
                    race = races[state.row]
                    if not write_protocol.may_remove_lost(state.revision.number, race.number):
                        behind.append((state.row, Change()))
                        continue
                    stale = race.entries - self._home.entries(state)
                    jobs.append(_Job(state.row, 0, race.number, sorted(stale)))
                    del races[state.row]
                self._remove(jobs)
                if behind:
                    self._attempt(behind, list(range(len(behind))), [None] * len(behind), races)
                if not races:
                    return

    def _read(self, items: Sequence[tuple[bytes, Change | Decide]]) -> list[RowState]:
        """Reads each row once; only the columns that the changes need, where those are given."""
        fixed = [(row, change) for row, change in items if isinstance(change, Change)]
        rows = dict.fromkeys([row for row, _ in items])
        if len(rows) == len(fixed) == len(items):
            return self._home.read_for(fixed)
        return self._home.read_states(list(rows))

    def _take_claims(self, attempts: dict[int, RowAttempt]) -> dict[int, WebTableError]:
        errors: dict[int, WebTableError] = {}
        for position, attempt in attempts.items():
            try:
                for index, entry in attempt.claims:
                    self.claims.take(index, entry, attempt.row, attempt.revision)
            except (NotUnique, CheckFailed, RetryableError) as error:
                errors[position] = error
        return errors

    def make(self, attempts: Sequence[RowAttempt]) -> list[bool | WebTableError]:
        """Makes the steps of attempts: entries, rows, removals. Returns which rows were changed."""
        self.put_entries(attempts)
        self.put_marks(attempts)
        won = self.swap_rows(attempts)
        self.clean_up(
            [attempt for attempt, result in zip(attempts, won, strict=True) if result is True]
        )
        return won

    def put_entries(self, attempts: Iterable[RowAttempt]) -> None:
        """Puts the entries that are new, before any row that needs them."""
        self._mutate(each for attempt in attempts for each in attempt.put_entries)

    def put_marks(self, attempts: Sequence[RowAttempt]) -> None:
        """Marks the groups that others are in too, once the entries are there to be seen."""
        if self._home.grouped:
            self._mutate(new_marks(self._home, attempts))

    def swap_rows(self, attempts: Sequence[RowAttempt]) -> list[bool | WebTableError]:
        """Changes the rows that still have the revision that was read."""
        won: list[bool | WebTableError] = []
        size = _CHUNK if self._home.workers > 1 else 1
        for at in range(0, len(attempts), size):
            some = attempts[at : at + size]
            if self._may_write(some):
                steps = [
                    Conditional(attempt.row, attempt.check(), attempt.mutations())
                    for attempt in some
                ]
                made = self._home.table.check_and_mutate_many(steps, durability=self._durability)
                won += [each if isinstance(each, WebTableError) else bool(each) for each in made]
            else:
                won += [False] * len(some)
        return won

    def _may_write(self, attempts: Sequence[RowAttempt]) -> bool:
        # Rows whose responses are missing are written by calls of their own, after the one for all.
        longer = write_protocol.CALL_LIMIT_MS if len(attempts) > 1 else 0
        now = self._home.clock.elapsed_ms() + longer
        return all(write_protocol.may_still_write(attempt.chosen_ms, now) for attempt in attempts)

    def clean_up(self, attempts: Sequence[RowAttempt]) -> None:
        """Removes the entries that rows had before, and notes that this is done."""
        jobs = []
        for attempt in attempts:
            if attempt.gone:
                old, new = attempt.state.revision.number, attempt.revision.number
                jobs.append(_Job(attempt.row, new, old, attempt.gone))
        # The rows are written; what cannot be removed now stays pending for the next writer.
        with contextlib.suppress(RetryableError, BatchError):
            self._remove(jobs)
            self._clear(jobs)

    def finish(self, states: Iterable[RowState], *, clears: bool = False) -> int:
        """Removes what others left pending in rows; safe at any time.

        Args:
            clears: whether to note that it is done; not needed before a write of the row.

        Returns how many rows had something pending.
        """
        jobs = []
        for state in states:
            if state.pending:
                old, gone = decode_pending(state.pending)
                jobs.append(_Job(state.row, state.pending_at, old, gone))
        self._remove(jobs)
        if clears:
            self._clear(jobs)
        if jobs:
            _log.info(
                "table '%s': removed index entries that other writers had left pending in %d rows,"
                " first %.80r",
                *(self._home.name, len(jobs), jobs[0].row),
            )
        return len(jobs)

    def _remove(self, jobs: Sequence[_Job]) -> None:
        for job in jobs:
            for gone in job.gone:
                if gone.is_claim:
                    self.claims.free(gone, job.row, job.old_revision)
        self._mutate(pair for job in jobs for pair in markers(job.gone, job.old_revision))

    def _clear(self, jobs: Iterable[_Job]) -> None:
        # Stamped with its own revision, an empty value hides just this one, not a later one.
        column = self._home.pending_column
        self._mutate(
            (self._home.name, Put(job.row, {column: b""}, timestamp=job.pending_at)) for job in jobs
        )

    def _mutate(self, writes: Iterable[tuple[str, Mutation]]) -> None:
        """Makes mutations of many rows, with one call a table."""
        by_table: dict[str, list[Mutation]] = defaultdict(list)
        for table, mutation in writes:
            by_table[table].append(mutation)
        for table, mutations in by_table.items():
            batch = self._home.store.table(table).batch(
                size=len(mutations) + 1, durability=self._durability
            )
            with batch:
                for mutation in mutations:
                    batch.add(mutation)

    # In one atomic commit

    def _commit(self, items: Sequence[tuple[bytes, Change | Decide]], also: Also) -> list[Outcome]:
        """Writes rows, their entries and what goes with them in one commit, under a lock."""
        with self._lock:
            outcomes, planned = self.plan(items)
            writes: list[tuple[str, Write]] = [*planned]
            if also:
                if any(isinstance(outcome, WebTableError) for outcome in outcomes):
                    return outcomes
                writes += also() if callable(also) else also
            if writes:
                self._home.store.commit(writes, durability=self._durability)
        return outcomes

    def plan(
        self, items: Sequence[tuple[bytes, Change | Decide]]
    ) -> tuple[list[Outcome], list[tuple[str, Mutation]]]:
        """Returns the mutations of a write. The caller holds `commit_lock` until their commit."""
        home = self._home
        if self.before is None and home.is_plain and entry_changes.is_plain(items):
            stored = home.read_rows(items)  # type: ignore[arg-type] # they are changes
            quick = entry_changes.plan_puts(home, items, stored, home.clock.now_ms())
            if quick is not None:
                return quick
        outcomes: list[Outcome] = []
        writes: list[tuple[str, Mutation]] = []
        attempts: list[RowAttempt] = []
        found = self._read(items)
        if self.before is not None:
            self.before(found)
        states = {state.row: state for state in found}
        ledger = Ledger(home, states) if home.has_unique else None
        moment = Moment.by(home.clock)
        if home.highest is not None:
            moment = moment.after(home.highest.number)
        looks_back = len(states) < len(items) or home.has_unique
        for row, item in items:
            state = states[row]
            try:
                change = item if isinstance(item, Change) else item(state)
                if change is None:
                    outcomes.append(None)
                    continue
                attempt = RowAttempt(home, state, change, moment)
                if ledger is not None:
                    writes += ledger.claim(attempt)
            except _OF_ONE_ROW as error:
                outcomes.append(error)
                continue
            self._add(writes, attempt)
            attempts.append(attempt)
            if looks_back:
                states[row] = attempt.after()
            outcomes.append(attempt.revision.number)
        if home.grouped:
            writes += commit_marks(home, attempts)
        if home.highest is not None and attempts:
            writes.append(home.highest.move(max(attempt.revision.number for attempt in attempts)))
        return outcomes, writes

    def _add(self, writes: list[tuple[str, Mutation]], attempt: RowAttempt) -> None:
        """Adds everything that one row's write consists of, but for claims."""
        state, name = attempt.state, self._home.name
        writes += attempt.put_entries
        if attempt.gone:
            writes += markers(attempt.gone, state.revision.number)
        if state.pending:  # from a copy of a store on a cluster
            old, gone = decode_pending(state.pending)
            writes += markers(gone, old)
        for mutation in attempt.mutations(keeps_pending=False):
            writes.append((name, mutation))


class _Job(NamedTuple):
    """Entries of a row to be removed, as a pending cell stamped `pending_at` names them."""

    row: bytes
    pending_at: int
    old_revision: int
    gone: Sequence[Removal]


class _Race:
    """The entries that losing attempts for one row have put.

    Attributes:
        number: the highest revision of these attempts.
        entries: theirs, and their claims.
    """

    __slots__ = ("entries", "number")

    def __init__(self) -> None:
        self.number = 0
        self.entries: set[Removal] = set()

    def add(self, attempt: RowAttempt) -> None:
        """Adds an attempt."""
        self.number = max(self.number, attempt.revision.number)
        for table, put in attempt.put_entries:
            self.entries.update(Removal(table, put.row, column) for column in put.values)
        for index, entry in attempt.claims:
            self.entries.add(Removal(index.table, entry.key, index.column, is_claim=True))


Races: TypeAlias = dict[bytes, _Race]
"""row → the entries that were put for nothing."""


def _first_of_each_row(
    items: Sequence[tuple[bytes, Change | Decide]], waiting: Iterable[int]
) -> tuple[list[int], list[int]]:
    """Returns the positions whose turn it is, and those that wait for an earlier one."""
    seen: set[bytes] = set()
    turn: list[int] = []
    later: list[int] = []
    for position in waiting:
        row = items[position][0]
        (later if row in seen else turn).append(position)
        seen.add(row)
    return turn, later


def _first_error(error: WebTableError) -> WebTableError:
    """Returns the reason of a failure before the rows were written, as that of each row."""
    while isinstance(error, BatchError):
        first = error.exceptions[0]
        assert isinstance(first, WebTableError)
        error = first
    if isinstance(error, RetryableError):
        error.maybe_applied = False
    return error


def _decided(change: Change | Decide, state: RowState) -> Change | None:
    return change if isinstance(change, Change) else change(state)
