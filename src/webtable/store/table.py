"""`Table`: the verbs on rows. It checks arguments, adds defaults and calls the engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, Unpack, overload

from webtable.errors import InvalidRequest, WebTableError
from webtable.store.admin_results import Region, TableStats
from webtable.store.cells_and_rows import Row
from webtable.store.engine import Engine, joined
from webtable.store.filtering.filter_language import as_filter
from webtable.store.filtering.filters import Filter
from webtable.store.mutation import (
    Append,
    Check,
    CheckResult,
    Conditional,
    Delete,
    Durability,
    Increment,
    Mutation,
    Put,
    check_column,
    check_durability,
    check_one_row,
    check_timestamp,
)
from webtable.store.rows_as_nested_dicts import NestedRows, NestedText, nested_rows, nested_text
from webtable.store.scan import Get, Scan, ScanOptions
from webtable.store.schema import TableSchema

__all__ = ["Batch", "Table"]


class Table:
    """A table of a store. Light: make as many as you like, share them between threads.

    Rows, columns and values are bytes; a column is `b"family:qualifier"`, and where columns are
    named for reading or deleting, `b"family"` means all of it. Reads give the newest version
    by default. Writes get the current time in milliseconds as their timestamp by default.

    Every method raises `TableNotFound` or `FamilyNotFound` where a table or family does not exist,
    `InvalidRequest` where an argument cannot be right, and a `RetryableError` where a cluster does
    not respond in time. Writes raise `ReadOnly` in a store that was opened for reading only.
    """

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self.name = name

    def __repr__(self) -> str:
        return f"Table({self.name!r} of {self._engine.location!r})"

    # Reading

    def get(
        self,
        row: bytes,
        columns: Iterable[bytes] = (),
        *,
        versions: int = 1,
        timestamp: int | None = None,
        time_range: tuple[int, int] | None = None,
        filter: Filter | str | None = None,
    ) -> Row | None:
        """Reads one row, or the named families and columns of it; None when none of it exists.

        Args:
            columns: families and columns; empty means the whole row.
            versions: how many versions of each column at most.
            timestamp: only the version with exactly this timestamp.
            time_range: only versions in `[start, stop)` milliseconds.
            filter: a filter of `webtable.filters` or its text; None when it leaves nothing.
        """
        if timestamp is not None:
            time_range = _one_version(timestamp, time_range)
        if type(columns) is not tuple:
            columns = _columns(columns)
        return self._engine.get(self.name, Get(row, columns, versions, time_range, filter))

    def get_many(
        self,
        rows: Iterable[bytes | Get],
        columns: Iterable[bytes] = (),
        *,
        versions: int = 1,
        time_range: tuple[int, int] | None = None,
        filter: Filter | str | None = None,
    ) -> list[Row | None]:
        """Reads many rows at once; one result a row, in the given order, None for missing rows.

        An entry that is a `Get` is used as it is; the other arguments apply to plain row keys.
        """
        chosen = _columns(columns)
        wanted = None if filter is None else as_filter(filter)
        gets = [
            row if isinstance(row, Get) else Get(row, chosen, versions, time_range, wanted)
            for row in rows
        ]
        return self._engine.get_many(self.name, gets)

    def scan(self, scan: Scan | None = None, **options: Unpack[ScanOptions]) -> Iterator[Row]:
        """Yields rows in key order: `scan(prefix=b"com.", limit=10)`, or with a `Scan`.

        The rows are read while the caller iterates; a row is never seen half-written. Stopping
        early is cheap; the engine's resources are freed when the iterator is closed or collected.
        """
        if scan is None:
            if "columns" in options:
                options["columns"] = _columns(options["columns"])
            scan = Scan(**options)  # type: ignore[arg-type]
        elif options:
            raise InvalidRequest("both a Scan and options", hint="put the options into the Scan")
        return self._engine.scan(self.name, scan)

    def scan_many(self, scans: Iterable[Scan]) -> list[Iterator[Row]]:
        """Begins several scans at once, to be read in turns.

        A cluster works on all of them at the same time; see `scan` for each.
        """
        return self._engine.scan_many(self.name, list(scans))

    @overload
    def nested(
        self,
        scan: Scan | None = None,
        *,
        text: Literal[False] = False,
        **options: Unpack[ScanOptions],
    ) -> NestedRows: ...

    @overload
    def nested(
        self, scan: Scan | None = None, *, text: Literal[True], **options: Unpack[ScanOptions]
    ) -> NestedText: ...

    def nested(
        self, scan: Scan | None = None, *, text: bool = False, **options: Unpack[ScanOptions]
    ) -> NestedRows | NestedText:
        """Returns the rows of a scan as `{row: {family: {qualifier: {timestamp: value}}}}`.

        Takes what `scan` takes, so it shows the newest versions by default, and has
        all rows in memory at once: give a range or a limit where the table is large. Delete markers
            are not
        part of it.

        Args:
            text: give all bytes as text, UTF-8 where they are that, else as the HBase shell does.

        Raises:
            InvalidRequest: as text, two row keys or two columns of a row look the same.
        """
        rows = self.scan(scan, **options)
        return nested_text(rows) if text else nested_rows(rows)

    # Writing

    def put(
        self,
        row: bytes,
        values: Mapping[bytes, bytes],
        *,
        timestamp: int | None = None,
        ttl_ms: int | None = None,
        durability: Durability = "wal",
    ) -> None:
        """Stores column → value in a row, all at once. `ttl_ms` can only shorten the TTL."""
        put = Put(row, values, timestamp=timestamp, ttl_ms=ttl_ms)
        self._engine.mutate_row(self.name, row, (put,), check_durability(durability))

    def delete(
        self,
        row: bytes,
        columns: Iterable[bytes] = (),
        *,
        timestamp: int | None = None,
        one_version: bool = False,
        durability: Durability = "wal",
    ) -> None:
        """Deletes a row, or families and columns of it, with every version up to `timestamp`.

        Args:
            timestamp: the newest version to delete; now when left out.
            one_version: delete only the version with that timestamp; the newest one of each named
                column when none is given. For a family a timestamp is needed.
        """
        delete = Delete(row, timestamp=timestamp)
        chosen = _columns(columns)
        if one_version and not chosen:
            raise InvalidRequest("one_version needs columns", hint="name families or columns")
        for column in chosen:
            if b":" in check_column(column, whole_family=True):
                (delete.version if one_version else delete.column)(column, timestamp)
            elif not one_version:
                delete.family(column, timestamp)
            elif timestamp is not None:
                delete.family_version(column, timestamp)
            else:
                raise InvalidRequest(
                    f"one version of family {column!r} without a timestamp", hint="give one"
                )
        self._engine.mutate_row(self.name, row, (delete,), check_durability(durability))

    def increment(
        self, row: bytes, column: bytes, amount: int = 1, *, durability: Durability = "wal"
    ) -> int:
        """Adds to a counter and returns its new value; an absent counter counts as 0.

        Raises:
            InvalidRequest: the column holds something that is not an 8-byte number.
        """
        increment = Increment(row, {column: amount})
        result = self._engine.mutate_row(self.name, row, (increment,), check_durability(durability))
        return int.from_bytes(_value(result, column), "big", signed=True)

    def append(
        self, row: bytes, column: bytes, value: bytes, *, durability: Durability = "wal"
    ) -> bytes:
        """Adds bytes to the end of a value and returns the whole; an absent one counts as empty."""
        append = Append(row, {column: value})
        return _value(
            self._engine.mutate_row(self.name, row, (append,), check_durability(durability)), column
        )

    def mutate(
        self, row: bytes, mutations: Sequence[Mutation], *, durability: Durability = "wal"
    ) -> Row | None:
        """Makes several mutations of one row as one atomic step.

        Returns the new values of increments and appends, None when there were none. A delete and
        a put of one column at the same time: the delete wins, so give it an older timestamp.
        """
        check_one_row(row, mutations)
        return self._engine.mutate_row(self.name, row, mutations, check_durability(durability))

    def check_and_mutate(
        self,
        row: bytes,
        check: Check,
        mutations: Mutation | Sequence[Mutation],
        *,
        durability: Durability = "wal",
    ) -> CheckResult:
        """Makes mutations of one row if a condition on it holds, as one atomic step.

        The result is true when they were made; its `row` has the new values of increments and
        appends.
        """
        steps = mutations if isinstance(mutations, Sequence) else (mutations,)
        check_one_row(row, steps)
        check_durability(durability)
        step = Conditional(row, check, steps)
        return self._engine.check_and_mutate(self.name, step, durability)

    def check_and_mutate_many(
        self, steps: Iterable[Conditional], *, durability: Durability = "wal"
    ) -> list[CheckResult | WebTableError]:
        """Makes conditional steps of many rows with few round trips, each row at most once.

        Each step is atomic for itself, and they are made in any order. The result has one entry
        a step: its result, or the error that `check_and_mutate` would raise for it.

        Raises:
            InvalidRequest: a row appears twice, or a step changes another row than its own.
        """
        chosen = list(steps)
        for row, _, mutations in chosen:
            check_one_row(row, mutations)
        if len({row for row, _, _ in chosen}) < len(chosen):
            raise InvalidRequest(
                f"several conditional steps of one row of table '{self.name}' at once",
                hint="make them one after the other: which comes first would be left to chance",
            )
        return self._engine.check_and_mutate_many(self.name, chosen, check_durability(durability))

    def batch(self, *, size: int = 1000, durability: Durability = "wal") -> Batch:
        """Collects mutations and sends them `size` at a time; use it in a `with` block.

        Each mutation is atomic, the batch is not; for all or nothing see `Store.commit`. All of
        them are stored when the block, or `Batch.send`, is over. A cluster works on a full batch
        while the next is filled: reads may not see it yet, its errors come later, and what was
        added to it must not be changed.
        """
        return Batch(self._engine, self.name, size, durability)

    # About the table

    def schema(self) -> TableSchema:
        """Returns the table's schema as it is now."""
        return self._engine.describe_table(self.name)

    def regions(self) -> list[Region]:
        """Returns the table's regions in key order."""
        return self._engine.regions(self.name)

    def stats(self) -> TableStats:
        """Returns the table's sizes and counts, family by family."""
        return self._engine.stats(self.name)

    def flush(self) -> None:
        """Writes what is in memory to files."""
        self._engine.flush(self.name)

    def major_compact(self) -> None:
        """Rewrites the table without deleted, expired and surplus cells; returns when done."""
        self._engine.major_compact(self.name)


class Batch:
    """Mutations on their way to a table. Leaving the `with` block sends what is left.

    When the block is left by an exception, what was not sent yet is dropped. The positions in a
    `BatchError` count all mutations from the first that was added.
    """

    def __init__(self, engine: Engine, table: str, size: int, durability: Durability) -> None:
        if size < 1:
            raise InvalidRequest(f"batch size {size} is less than 1", hint="1,000 is a good one")
        self._writer = engine.writer(table, check_durability(durability))
        self._size = size
        self._sent = 0
        self._pending: list[Mutation] = []
        self._raised: WebTableError | None = None

    def put(
        self,
        row: bytes,
        values: Mapping[bytes, bytes],
        *,
        timestamp: int | None = None,
        ttl_ms: int | None = None,
    ) -> None:
        """Adds a put; see `Table.put`."""
        pending = self._pending
        pending.append(Put(row, values, timestamp=timestamp, ttl_ms=ttl_ms))
        if len(pending) >= self._size:
            self._send_pending()

    def delete(
        self, row: bytes, columns: Iterable[bytes] = (), *, timestamp: int | None = None
    ) -> None:
        """Adds a delete of a row, or of families and columns with all their versions."""
        delete = Delete(row, timestamp=timestamp)
        for column in _columns(columns):
            is_whole = b":" not in check_column(column, whole_family=True)
            (delete.family if is_whole else delete.column)(column, timestamp)
        self.add(delete)

    def add(self, mutation: Mutation) -> None:
        """Adds any mutation; sends the batch when it is full.

        Raises:
            BatchError: mutations that were sent, now or before, failed.
        """
        pending = self._pending
        pending.append(mutation)
        if len(pending) >= self._size:
            self._send_pending()

    def send(self) -> None:
        """Sends what was added so far, and returns when all of it is stored.

        Raises:
            BatchError: mutations that were sent, now or before, failed.
        """
        error: WebTableError | None = None
        try:
            if self._pending:
                self._send_pending()
        except WebTableError as exc:
            error = exc
        try:
            self._writer.finish()
        except WebTableError as exc:
            error = joined(error, exc)
        if error is not None:
            raise error

    def _send_pending(self) -> None:
        pending, self._pending = self._pending, []
        first, self._sent = self._sent, self._sent + len(pending)
        try:
            self._writer.send(pending, first)
        except WebTableError as exc:
            self._raised = exc
            raise

    def __len__(self) -> int:
        return len(self._pending)

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if kind is None:
            self.send()
            return
        self._pending = []
        if error is None or isinstance(error, KeyboardInterrupt):
            return  # a user who stops the program does not want to wait
        try:
            self._writer.finish()
        except WebTableError as exc:
            if error is self._raised:  # our own error, which must contain all failures
                raise joined(self._raised, exc) from None
            error.add_note(f"Of what was sent before: {exc}")


def _columns(columns: Iterable[bytes]) -> tuple[bytes, ...]:
    if isinstance(columns, (bytes, str)):
        raise InvalidRequest(f"columns {columns!r} is one column", hint="give a list of columns")
    return tuple(columns)


def _one_version(timestamp: int, time_range: tuple[int, int] | None) -> tuple[int, int]:
    if time_range is not None:
        raise InvalidRequest("both timestamp and time_range", hint="give one of them")
    check_timestamp(timestamp)
    return (timestamp, timestamp + 1)


def _value(row: Row | None, column: bytes) -> bytes:
    value = None if row is None else row.value(column)
    assert value is not None, "an engine returns the new values of increments and appends"
    return value
