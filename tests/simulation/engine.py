"""A row-atomic engine in memory, behind the engine seam, as weak as HBase is.

Single rows are atomic, and nothing else: the rows of a batch land one by one in any order, a scan
and a `get_many` read row by row with others at work in between. When a call takes effect, and
whether, is up to the `Host`; without a host everything happens at once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar, Protocol, TypeVar, cast

from tests.simulation.cells import Row as CellRow
from webtable.errors import (
    BatchError,
    FamilyNotFound,
    InvalidRequest,
    RetryableError,
    TableExists,
    TableNotFound,
    Timeout,
)
from webtable.store.admin import Admin
from webtable.store.admin_results import Region
from webtable.store.cells_and_rows import Row, split_column
from webtable.store.engine import Capabilities, Engine
from webtable.store.filtering.filters import ColumnPaginationFilter
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
    Write,
)
from webtable.store.rocks.mutation_encoder import holds
from webtable.store.scan import Get, Scan
from webtable.store.schema import TableSchema

__all__ = ["Host", "LostAnswer", "MemoryEngine", "MemoryTable"]

T = TypeVar("T")


class LostAnswer(Exception):
    """The call took effect, or not, and the caller got no response."""


class Host(Protocol):
    """Decides when calls take effect."""

    def read(self, what: object, effect: Callable[[], T]) -> T:
        """Makes a read when its time has come."""

    def write(self, what: object, effect: Callable[[], T]) -> T:
        """Makes a write of one row when its time has come.

        Raises:
            LostAnswer: it may have been made, now or later.
        """

    def shuffled(self, count: int) -> list[int]:
        """Returns the order in which the rows of a batch land."""

    def now_ms(self) -> int:
        """Returns the server's time."""


class _AtOnce:
    """No host: everything happens when it is called."""

    def read(self, what: object, effect: Callable[[], T]) -> T:
        return effect()

    def write(self, what: object, effect: Callable[[], T]) -> T:
        return effect()

    def shuffled(self, count: int) -> list[int]:
        return list(range(count))

    def now_ms(self) -> int:
        return 1_000


class MemoryTable:
    """One table: its schema, its rows, and their keys in order."""

    def __init__(self, schema: TableSchema) -> None:
        self.schema = schema
        self.rows: dict[bytes, CellRow] = {}
        self.keys: list[bytes] = []

    def row(self, key: bytes) -> CellRow:
        row = self.rows.get(key)
        if row is None:
            row = self.rows[key] = CellRow()
            insort(self.keys, key)
        return row

    def compact(self, upto: int, purges: Callable[[int], bool] | None) -> None:
        """Compacts every row; see `CellRow.compact`."""
        for row in self.rows.values():
            row.compact(self.schema, upto, purges)


class _Administration:
    """What the code under simulation calls of an `Admin`."""

    def regions(self, table: str) -> list[Region]:
        return []

    def purge_row(self, table: str, row: bytes) -> bool:
        return False  # as on a cluster

    def flush(self, table: str) -> None:
        return


class MemoryEngine(Engine):
    """Tables in memory."""

    capabilities: ClassVar[Capabilities] = Capabilities(
        atomic_commits=False, checkpoints=False, cluster=True, snapshots=False
    )

    def __init__(self, host: Host | None = None) -> None:
        self.location = "memory:"
        self.admin = cast(Admin, _Administration())
        self.host: Host = host or _AtOnce()
        self.tables: dict[str, MemoryTable] = {}
        self.number = 0
        self.on_write: Callable[[str, bytes], None] | None = None
        """Called after each step that changed a row, with the table and the row key."""

    # Reading

    def get_many(self, table: str, gets: Sequence[Get]) -> list[Row | None]:
        self._check_columns(table, [column for get in gets for column in get.columns])
        return [self.host.read(("get", table, get.row), self._getter(table, get)) for get in gets]

    def _getter(self, table: str, get: Get) -> Callable[[], Row | None]:
        return lambda: self._read(
            self.tables[table], get.row, get.columns, get.versions, get.time_range
        )

    def _read(
        self,
        table: MemoryTable,
        key: bytes,
        columns: tuple[bytes, ...],
        versions: int = 1,
        time_range: tuple[int, int] | None = None,
    ) -> Row | None:
        row = table.rows.get(key)
        if row is None:
            return None
        cells = row.read(table.schema, columns, self.host.now_ms(), versions, time_range)
        return Row(key, cells) if cells else None

    def scan(self, table: str, scan: Scan) -> Iterator[Row]:
        # Simulated rows are narrow: a filter that cuts wide rows into pieces leaves nothing out.
        is_piece = isinstance(scan.filter, ColumnPaginationFilter)
        if scan.filter is not None and not scan.raw and not is_piece:
            raise InvalidRequest("a simulated scan has no filters")
        self._check_columns(table, scan.columns)
        return self._scan(table, scan)

    def _scan(self, name: str, scan: Scan) -> Iterator[Row]:
        left = -1 if scan.limit is None else scan.limit
        bounds = scan.bounds()
        at: bytes | None = None
        while left != 0:
            row = self.host.read(("scan", name, at), partial(self._after, name, scan, bounds, at))
            if row is None:
                return
            at = row.key
            left -= 1
            yield row

    def _after(
        self, name: str, scan: Scan, bounds: tuple[bytes, bytes], at: bytes | None
    ) -> Row | None:
        """Returns the first row beyond the last one that was read."""
        table = self.tables[name]
        keys, (low, high) = table.keys, bounds
        first = bisect_left(keys, low)
        last = bisect_left(keys, high) if high else len(keys)
        if at is not None and scan.reverse:
            last = min(last, bisect_left(keys, at))
        elif at is not None:
            first = max(first, bisect_right(keys, at))
        order = range(last - 1, first - 1, -1) if scan.reverse else range(first, last)
        for position in order:
            key = keys[position]
            if scan.raw:  # with values, also where the filter would leave them out
                cells = table.rows[key].raw(scan.columns)
                found = Row(key, cells) if cells else None
            else:
                found = self._read(table, key, scan.columns, scan.versions, scan.time_range)
            if found is not None:
                return found
        return None

    # Writing

    def mutate_many(
        self, table: str, mutations: Sequence[Mutation], durability: Durability
    ) -> list[Row | None]:
        by_row: dict[bytes, list[int]] = {}
        for position, mutation in enumerate(mutations):
            self._check_mutation(table, mutation)
            by_row.setdefault(mutation.row, []).append(position)
        results: list[Row | None] = [None] * len(mutations)
        rows = list(by_row.values())
        failed: list[int] = []
        for turn in self.host.shuffled(len(rows)):
            for position in rows[turn]:
                mutation = mutations[position]
                try:
                    results[position] = self.host.write(
                        (table, mutation), partial(self._apply, table, [mutation])
                    )
                except LostAnswer:
                    failed.append(position)
        if failed:
            errors = [_unknown(table) for _ in failed]
            raise BatchError(f"{len(failed)} of {len(mutations)} mutations failed", errors, failed)
        return results

    def mutate_row(
        self, table: str, row: bytes, mutations: Sequence[Mutation], durability: Durability
    ) -> Row | None:
        for mutation in mutations:
            self._check_mutation(table, mutation)
        try:
            return self.host.write((table, mutations), partial(self._apply, table, mutations))
        except LostAnswer:
            raise _unknown(table) from None

    def check_and_mutate(
        self, table: str, step: Conditional, durability: Durability
    ) -> CheckResult:
        row, check, mutations = step
        if check.filter is not None:
            raise InvalidRequest("a simulated check has no filters")
        for mutation in mutations:
            self._check_mutation(table, mutation)

        def effect() -> CheckResult:
            opened = self.tables[table]
            found = self._read(opened, row, (check.column,), 1, check.time_range)
            current = found.value(check.column) if found else None
            if not holds(check, current):
                return CheckResult(False)
            return CheckResult(True, self._apply(table, mutations))

        what = (table, check, mutations)
        try:
            return self.host.write(what, effect)
        except LostAnswer:
            return self._resent(table, row, check, mutations, effect)

    def _resent(
        self,
        table: str,
        row: bytes,
        check: Check,
        mutations: Sequence[Mutation],
        effect: Callable[[], CheckResult],
    ) -> CheckResult:
        """As the HBase engine does: sends again, and after a no looks whether it was its own."""
        try:
            result = self.host.write(("again", table, check, mutations), effect)
        except LostAnswer:
            raise _unknown(table) from None
        if result.success:
            return result
        if check.unique:
            found = self.host.read(
                ("look", table, row), lambda: self._read(self.tables[table], row, (check.column,))
            )
            value = found.value(check.column) if found else None
            puts = [m.values.get(check.column) for m in mutations if isinstance(m, Put)]
            if value is not None and value in puts:
                return CheckResult(True)
        raise _unknown(table)

    def _apply(self, name: str, mutations: Sequence[Mutation]) -> Row | None:
        """Makes mutations of one row as one step."""
        table = self.tables[name]
        self.number += 1
        now = self.host.now_ms()
        results: list[Any] = []
        for mutation in mutations:
            row = table.row(mutation.row)
            if isinstance(mutation, Put):
                row.put(mutation, now, self.number)
            elif isinstance(mutation, Delete):
                row.delete(mutation, table.schema, now, self.number)
            else:
                results += self._changed(table, mutation, now)
        if self.on_write is not None:
            self.on_write(name, mutations[0].row)
        return Row(mutations[0].row, sorted(results)) if results else None

    def _changed(
        self, table: MemoryTable, mutation: Increment | Append, now: int
    ) -> Iterator[tuple[bytes, int, bytes, int]]:
        changes = mutation.amounts if isinstance(mutation, Increment) else mutation.values
        for column, change in changes.items():
            found = self._read(table, mutation.row, (column,))
            old = found.value(column) if found else None
            stamp = max(now, found.cells[0].timestamp + 1) if found else now
            if isinstance(change, bytes):
                value = (old or b"") + change
            else:
                value = (int.from_bytes(old or bytes(8), "big") + change).to_bytes(8, "big")
            table.row(mutation.row).put(
                Put(mutation.row, {column: value}, timestamp=stamp), now, self.number
            )
            yield column, stamp, value, 4

    def commit(
        self, writes: Sequence[tuple[str, Write]], durability: Durability
    ) -> list[Row | None]:
        raise InvalidRequest("no atomic commits")

    # Tables

    def create_table(self, schema: TableSchema, splits: Sequence[bytes]) -> None:
        if schema.name in self.tables:
            raise TableExists(schema.name)
        self.tables[schema.name] = MemoryTable(schema)

    def alter_table(self, schema: TableSchema) -> None:
        self._table(schema.name).schema = schema

    def truncate_table(self, table: str) -> None:
        self.tables[table] = MemoryTable(self._table(table).schema)

    def drop_table(self, table: str) -> None:
        del self.tables[self._table(table).schema.name]

    def describe_table(self, table: str) -> TableSchema:
        return self.host.read(f"describe {table}", lambda: self._table(table).schema)

    def list_tables(self) -> list[str]:
        return sorted(self.tables)

    def checkpoint(self, path: str) -> None:
        raise InvalidRequest("no checkpoints")

    def refresh(self) -> None:
        return

    def close(self) -> None:
        return

    def _table(self, name: str) -> MemoryTable:
        if name not in self.tables:
            raise TableNotFound(name, self.tables)
        return self.tables[name]

    def _check_columns(self, table: str, columns: Sequence[bytes]) -> None:
        schema = self._table(table).schema
        for column in columns:
            family = split_column(column)[0].decode()
            if schema.family(family) is None:
                raise FamilyNotFound(table, family, [each.name for each in schema.families])

    def _check_mutation(self, table: str, mutation: Mutation) -> None:
        if isinstance(mutation, Delete):
            self._check_columns(table, [marker.column for marker in mutation.markers])
        elif isinstance(mutation, Increment):
            self._check_columns(table, list(mutation.amounts))
        else:
            self._check_columns(table, list(mutation.values))


def _unknown(table: str) -> RetryableError:
    return Timeout(f"whether a write to table '{table}' was made is not known", hint="read it")
