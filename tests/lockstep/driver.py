"""Runs one program on two stores, step by step, and compares every result.

The reference is right by definition; the subject has to agree. Results are compared without what
the clock decides: a timestamp that an engine took from the clock during operation k becomes
`("now", k)`. After every write all that is stored, and all that is seen, is compared too.

A real HBase drops hidden cells when it flushes, and some when it increments; the embedded engine
keeps them until a major compaction. Both are right. After such a step the driver makes sure that
the reference lacks nothing that is seen, and has the subject drop exactly what it dropped,
so that the two go on in step.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, Protocol, TypeAlias

from msgspec import structs

from tests.lockstep.filter_draws import with_prefix
from tests.lockstep.programs import (
    COLUMNS,
    NAMED_COLUMNS,
    SCHEMAS,
    Appends,
    Batched,
    Checked,
    Compact,
    Deletes,
    Flush,
    Increments,
    Mixed,
    Operation,
    Program,
    Puts,
    ReadRows,
    ScanRows,
    Step,
)
from webtable import (
    ALL_VERSIONS,
    Append,
    CellType,
    Check,
    CheckResult,
    CompareOp,
    Delete,
    Get,
    Increment,
    Mutation,
    Put,
    Row,
    Scan,
    Store,
    Table,
)
from webtable.errors import BatchError, WebTableError
from webtable.filters import Filter
from webtable.store.cells_and_rows import MAX_TIMESTAMP, split_column

__all__ = ["Difference", "Follower", "StoredCell", "run"]

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
TTLS = {None: None, "ample": 1_000_000 * DAY_MS, "spent": 1}


class StoredCell(NamedTuple):
    """A cell and the row it is in."""

    row: bytes
    column: bytes
    timestamp: int
    value: bytes
    type: int


_Key: TypeAlias = tuple[bytes, bytes, object, int]
"""A cell without its value: row, column, comparable timestamp, type."""


class Follower(Protocol):
    """Changes what is stored in a table of the subject, below the engine's own rules."""

    def __call__(
        self, table: str, *, drop: Sequence[StoredCell], replace: Sequence[StoredCell]
    ) -> None:
        """Drops cells without a trace, and gives others another value."""


class Difference(AssertionError):
    """The two stores gave different results."""


class _Side:
    """One of the two stores, and what its clock said while each operation ran."""

    def __init__(self, store: Store, table: str) -> None:
        self.table: Table = store.table(table)
        self._windows: list[tuple[int, int]] = []

    def run(self, work: Callable[[Table], object], *, is_write: bool) -> object:
        """Returns the result of one operation, or the error that it gave."""
        started = _next_millisecond() if is_write else 0
        try:
            answer = work(self.table)
        except WebTableError as error:
            answer = error
        if is_write:
            self._windows.append((started, _now_ms()))
        return answer

    def stamp(self, timestamp: int) -> object:
        """Returns the timestamp, or the operation during which the engine's clock said it."""
        if not self._windows or timestamp < self._windows[0][0]:
            return timestamp
        for number, (first, last) in enumerate(self._windows):
            if first <= timestamp <= last:
                return ("now", number)
        return timestamp

    def plain(self, answer: object) -> object:
        """Returns a result in a form that can be compared between stores."""
        match answer:
            case BatchError():
                errors = [self.plain(error) for error in answer.exceptions]
                return ("batch", list(zip(answer.positions, errors, strict=True)))
            case WebTableError():
                return (type(answer).__name__, answer.code)
            case CheckResult():
                return (answer.success, self.plain(answer.row))
            case Row():
                cells = [(c.column, self.stamp(c.timestamp), c.value, int(c.type)) for c in answer]
                return (answer.key, cells)
            case list():
                return [self.plain(each) for each in answer]
            case _:
                return answer


class _Run:
    def __init__(
        self, reference: Store, subject: Store, follow: Follower | None, table: str
    ) -> None:
        self._prefix = uuid.uuid4().hex[:12].encode() + b"/"
        self._start = _now_ms()
        self._reference = _Side(reference, table)
        self._subject = _Side(subject, table)
        self._follow = follow
        self._views = self._standing_views()
        self._where = ""

    def operate(self, number: int, operation: Operation) -> None:
        if isinstance(operation, Compact):
            # It flushes first, which drops cells without reading older files.
            self.operate(number, Flush())
        self._where = f"operation {number}: {operation!r}"
        is_read = isinstance(operation, ReadRows | ScanRows)
        self._compare("the answer", self._work(operation), is_write=not is_read)
        if is_read:
            return
        if self._may_drop(operation):
            self._follow_drops()
        for what, view in self._views.items():
            self._compare(what, partial(_scanned, view))

    def _compare(
        self, what: str, work: Callable[[Table], object], *, is_write: bool = False
    ) -> None:
        expected = self._reference.plain(self._reference.run(work, is_write=is_write))
        got = self._subject.plain(self._subject.run(work, is_write=is_write))
        if expected != got:
            raise Difference(self._story(what, expected, got))

    def _story(self, what: str, expected: object, got: object) -> str:
        lines = [
            f"{what} differs after {self._where}",
            f"  reference {expected}",
            f"  subject   {got}",
        ]
        for name, side in (("reference", self._reference), ("subject", self._subject)):
            lines.append(f"stored in the {name}:")
            for row in self._scan(side.table, raw=True):
                lines.append(f"  {row.key!r}")
                lines += [
                    f"    {c.column!r} {side.stamp(c.timestamp)} {c.type!r} {c.value!r}"
                    for c in row
                ]
        return "\n".join(lines)

    def _standing_views(self) -> dict[str, Scan]:
        """What is compared after every write, whatever the program reads."""
        everything = Scan(prefix=self._prefix, versions=ALL_VERSIONS)
        early = (0, self._time("recent2"))
        names = tuple({*COLUMNS, *NAMED_COLUMNS})
        return {
            "what is stored": structs.replace(everything, raw=True),
            "what is seen": everything,
            "the newest version": structs.replace(everything, versions=1),
            "two versions of named columns": structs.replace(everything, versions=2, columns=names),
            "what was seen earlier": structs.replace(everything, time_range=early),
            "what was new earlier": structs.replace(
                everything, time_range=early, versions=1, columns=names, reverse=True
            ),
        }

    # What hidden cells the reference no longer has

    def _may_drop(self, operation: Operation) -> bool:
        """Whether a real HBase may drop hidden cells in this step."""
        match operation:
            case Flush():
                return True
            case Mixed(steps=steps) | Checked(steps=steps) | Batched(steps=steps):
                return any(self._may_drop(step) for step in steps)
            case Increments() | Appends():
                # In a family with one version they replace what is in memory.
                return True
            case _:
                return False

    def _follow_drops(self) -> None:
        """Has the subject drop what the reference dropped, after making sure that it could go.

        Where the reference dropped a value that had overwritten another one, the other is back.
        """
        if self._follow is None:
            return
        kept = self._cells(self._reference, raw=True)
        stored = self._cells(self._subject, raw=True)
        lost = kept.keys() - stored.keys()
        if lost:
            raise Difference(self._story("what the subject lost", sorted(lost, key=repr), []))
        seen = self._cells(self._subject, raw=False)
        drop = stored.keys() - kept.keys()
        replace = {key for key in kept if kept[key].value != stored[key].value}
        wrong = {key for key in drop & seen.keys() if not self._is_excess(seen[key], kept)}
        wrong |= replace & seen.keys()
        if wrong:
            raise Difference(self._story("what the reference lost", [], sorted(wrong, key=repr)))
        self._follow(
            self._subject.table.name,
            drop=[stored[key] for key in drop],
            replace=[stored[key]._replace(value=kept[key].value) for key in replace],
        )

    def _is_excess(self, cell: StoredCell, kept: dict[_Key, StoredCell]) -> bool:
        """Whether a cell that is seen is one too many when deleted ones are counted too.

        HBase counts so when it flushes: it does not read markers in older files, and with
        KEEP_DELETED_CELLS at none.
        """
        family = SCHEMAS[self._subject.table.name].family(split_column(cell.column)[0].decode())
        assert family is not None
        age_ms = _now_ms() - cell.timestamp
        is_expired = family.ttl_seconds is not None and age_ms > family.ttl_seconds * 1000
        newer = [
            other
            for (row, column, _, kind), other in kept.items()
            if (row, column, kind) == (cell.row, cell.column, CellType.PUT)
            and other.timestamp > cell.timestamp
        ]
        return len(newer) >= (family.min_versions if is_expired else family.versions)

    def _cells(self, side: _Side, *, raw: bool) -> dict[_Key, StoredCell]:
        """Returns the cells of the program's rows by all but their values."""
        return {
            (row.key, cell.column, side.stamp(cell.timestamp), cell.type): StoredCell(
                row.key, *cell
            )
            for row in self._scan(side.table, raw=raw)
            for cell in row
        }

    def _scan(self, table: Table, *, raw: bool) -> list[Row]:
        return list(table.scan(prefix=self._prefix, versions=ALL_VERSIONS, raw=raw))

    # From operations to calls

    def _work(self, operation: Operation) -> Callable[[Table], object]:
        match operation:
            case Mixed():
                steps = [self._mutation(step) for step in operation.steps]
                return lambda table: table.mutate(self._row(operation.row), steps)
            case Checked():
                return self._checked(operation)
            case Batched():
                batch = [self._mutation(step) for step in operation.steps]
                return lambda table: _send(table, batch)
            case ReadRows():
                gets = [
                    Get(
                        self._row(row),
                        operation.columns,
                        operation.versions,
                        self._range(operation.between),
                        self._filter(operation.filter),
                    )
                    for row in operation.rows
                ]
                return lambda table: table.get_many(gets)
            case ScanRows():
                return partial(_scanned, self._scan_request(operation))
            case Flush():
                return lambda table: table.flush()
            case Compact():
                return lambda table: table.major_compact()
            case _:
                mutation = self._mutation(operation)
                return lambda table: table.mutate(mutation.row, [mutation])

    def _checked(self, operation: Checked) -> Callable[[Table], object]:
        steps = [self._mutation(step) for step in operation.steps]
        between, filter = self._range(operation.between), self._filter(operation.filter)
        if filter is not None:
            check = Check.matches(filter, time_range=between)
        else:
            op = CompareOp(operation.op)
            check = Check(operation.column, op, operation.value, time_range=between)
        return lambda table: table.check_and_mutate(self._row(operation.row), check, steps)

    def _scan_request(self, operation: ScanRows) -> Scan:
        filter = self._filter(operation.filter)
        start = self._row(operation.start) if operation.start else b""
        if filter is not None and not start:
            # A start shorter than a prefix in a filter can make a server fail.
            start = self._row(b"\x00")
        return Scan(
            prefix=self._prefix,
            start=start,
            stop=self._row(operation.stop) if operation.stop else b"",
            columns=operation.columns,
            versions=operation.versions,
            time_range=self._range(operation.between),
            limit=operation.limit,
            reverse=operation.reverse,
            raw=operation.raw,
            filter=filter,
        )

    def _mutation(self, step: Step) -> Mutation:
        row = self._row(step.row)
        match step:
            case Puts():
                at = None if step.at is None else self._time(step.at)
                return Put(row, dict(step.values), timestamp=at, ttl_ms=TTLS[step.ttl])
            case Increments():
                return Increment(row, dict(step.amounts))
            case Appends():
                return Append(row, dict(step.values))
            case Deletes():
                delete = Delete(row, timestamp=None if step.at is None else self._time(step.at))
                for kind, column, when in step.parts:
                    getattr(delete, kind)(column, None if when is None else self._time(when))
                return delete

    def _filter(self, filter: Filter | None) -> Filter | None:
        return None if filter is None else with_prefix(filter, self._prefix)

    def _row(self, name: bytes) -> bytes:
        return self._prefix + name

    def _range(self, between: tuple[str, str] | None) -> tuple[int, int] | None:
        if between is None:
            return None
        low, high = sorted(self._time(name) for name in between)
        return low, high

    def _time(self, name: str) -> int:
        """Returns the timestamp that a name of `programs` stands for."""
        recent, future = self._start - HOUR_MS, self._start + 10 * DAY_MS
        return {
            "zero": 0,
            "old1": 10,
            "spent1": 15,
            "old2": 20,
            "old3": 30,
            "recent1": recent + 10,
            "spent2": recent + 15,
            "recent2": recent + 20,
            "recent3": recent + 30,
            "start": self._start,
            "future1": future,
            "end": MAX_TIMESTAMP,
        }[name]


def run(reference: Store, subject: Store, program: Program, follow: Follower | None = None) -> None:
    """Runs a program on both stores, whose tables must be there.

    Args:
        reference: the store that is right.
        subject: the store that has to agree.
        program: what to do.
        follow: changes the subject as the reference may change before a major compaction; None
            when it never does.

    Raises:
        Difference: the stores disagreed.
    """
    running = _Run(reference, subject, follow, program.table)
    for number, operation in enumerate(program.operations):
        running.operate(number, operation)


def _scanned(scan: Scan, table: Table) -> list[Row]:
    return list(table.scan(scan))


def _send(table: Table, mutations: Sequence[Mutation]) -> None:
    with table.batch() as batch:
        for mutation in mutations:
            batch.add(mutation)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _next_millisecond() -> int:
    """Returns the time when the clock has left the millisecond of the call.

    Each operation gets milliseconds of its own, so that two writes without a timestamp are two
    versions on both stores.
    """
    last = _now_ms()
    while (now := _now_ms()) == last:
        pass
    return now
