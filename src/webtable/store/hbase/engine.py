"""The engine on a cluster: the seam's contract in calls to region servers and the master."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple, TypeGuard

from webtable.errors import InvalidRequest, ReadOnly, RetryableError, Timeout, WebTableError
from webtable.store.cells_and_rows import Row
from webtable.store.engine import Capabilities, Engine, Writer
from webtable.store.hbase.admin.admin import HBaseAdmin
from webtable.store.hbase.admin.master_client import MasterClient
from webtable.store.hbase.cluster.cluster import Cluster, RegionCall
from webtable.store.hbase.location import parse_location
from webtable.store.hbase.ops.bulk_writer import BulkWriter
from webtable.store.hbase.ops.conditional import ConditionalSteps
from webtable.store.hbase.ops.multi import Multi
from webtable.store.hbase.ops.parallel_scan import scan_rows, scans_rows
from webtable.store.hbase.ops.scanner import ScanJob
from webtable.store.hbase.proto import client_pb2
from webtable.store.hbase.retry import Attempts
from webtable.store.hbase.wire.choose_compiled_connection import RpcResponse
from webtable.store.hbase.wire.errors_and_responses import AsBytes, NotHBase, Server, inner_error
from webtable.store.hbase.wire.requests_and_results import (
    atomic_step,
    condition_bytes,
    get_bytes,
    has_nonce,
    mutate_request,
    mutation_bytes,
    nonce_group_field,
    response_row,
    result_row,
    varint,
    was_processed,
)
from webtable.store.mutation import (
    Append,
    Check,
    CheckResult,
    Conditional,
    Durability,
    Increment,
    Mutation,
    Put,
    Write,
)
from webtable.store.scan import Get, Scan
from webtable.store.schema import TableSchema

__all__ = ["HBaseEngine"]


class HBaseEngine(Engine):
    """A store on a cluster. Make it with `connect`; share it between threads."""

    capabilities: ClassVar[Capabilities] = Capabilities(
        atomic_commits=False, checkpoints=False, cluster=True, snapshots=True
    )

    def __init__(self, cluster: Cluster, *, read_only: bool = False) -> None:
        self.location = cluster.location.text
        self._cluster = cluster
        self._nonce_group = varint(cluster.nonce_group)
        self._master = MasterClient(cluster, read_only=read_only)
        admin = HBaseAdmin(self._master)
        self._tables = admin.tables
        self.admin = admin
        self._read_only = read_only

    @classmethod
    def connect(cls, location: str, *, read_only: bool = False) -> HBaseEngine:
        """Connects to the cluster at a location, see `location.parse_location`.

        Raises:
            InvalidRequest: the location is not a cluster's.
            ServerUnavailable: no HBase responds there.
        """
        cluster = Cluster(parse_location(location))
        try:
            cluster.connect()
        except BaseException:
            cluster.close()
            raise
        return cls(cluster, read_only=read_only)

    def get_many(self, table: str, gets: Sequence[Get]) -> list[Row | None]:
        """Reads rows; see `Engine.get_many`."""
        if len(gets) == 1:
            return [self.get(table, gets[0])]
        multi = Multi(self._cluster, table, gets)
        multi.run()
        rows: list[Row | None] = []
        for outcome in multi.outcomes:
            if isinstance(outcome, WebTableError):
                raise outcome
            rows.append(outcome)
        return rows

    def get(self, table: str, get: Get) -> Row | None:
        """Reads one row; see `Engine.get`."""
        return self._cluster.get_row(table, get.row, get_bytes(get))

    def scan(self, table: str, scan: Scan) -> Iterator[Row]:
        """Yields rows in order; see `Engine.scan`."""
        start, stop = scan.bounds()
        if scan.limit == 0 or _is_empty(start, stop):
            # Nothing to read, but an unknown table or family must still raise its error.
            self.get(table, Get(start or b"\0", columns=scan.columns))
            return iter(())
        return scan_rows(ScanJob(self._cluster, table, scan))

    def scan_many(self, table: str, scans: Sequence[Scan]) -> list[Iterator[Row]]:
        """Begins several scans, all of them before the first is waited for."""
        if any(scan.limit == 0 or _is_empty(*scan.bounds()) for scan in scans):
            return super().scan_many(table, scans)
        return scans_rows([ScanJob(self._cluster, table, scan) for scan in scans])

    def mutate_many(
        self, table: str, mutations: Sequence[Mutation], durability: Durability
    ) -> list[Row | None]:
        """Makes mutations, each atomic; see `Engine.mutate_many`."""
        self._check_writable()
        multi = Multi(self._cluster, table, mutations, durability)
        multi.run()
        return multi.made()

    def writer(self, table: str, durability: Durability) -> Writer:
        """Returns what makes bulks of mutations; see `Engine.writer`."""
        if self._read_only:
            return super().writer(table, durability)  # rejects what is sent
        return BulkWriter(self._cluster, table, durability)

    def mutate_row(
        self, table: str, row: bytes, mutations: Sequence[Mutation], durability: Durability
    ) -> Row | None:
        """Makes mutations of one row as one step; see `Engine.mutate_row`."""
        self._check_writable()
        attempts = self._writing(table, mutations)
        if len(mutations) > 1:
            step = _Step(table, row, mutations, durability)
            return self._take_step(step, attempts).row
        return self._mutate(_Step(table, row, mutations, durability), attempts).row

    def check_and_mutate(
        self, table: str, step: Conditional, durability: Durability
    ) -> CheckResult:
        """Makes mutations of one row if a condition holds; see `Engine.check_and_mutate`.

        Raises:
            Timeout: a response was lost, the call was sent again, and then the condition did not
                hold: its own first try may be the reason, which shows only where the check
                is `unique` and the value that it put is still there.
        """
        self._check_writable()
        row, check, mutations = step
        attempts = self._writing(table, mutations)
        request = _Step(table, row, mutations, durability, check)
        if len(mutations) == 1 and not has_nonce(mutations[0]):
            # A lighter call than that of several mutations, for the server above all.
            result = self._mutate(request, attempts)
        else:
            result = self._take_step(request, attempts)
        if not result.success and attempts.maybe_applied:
            if check.unique and self._has_put(table, row, check.column, mutations):
                if any(map(has_nonce, mutations)):
                    raise _lost_response(table, row)
                return CheckResult(True)
            raise _unknown(table, row)
        return result

    def check_and_mutate_many(
        self, table: str, steps: Sequence[Conditional], durability: Durability
    ) -> list[CheckResult | WebTableError]:
        """Makes conditional steps of many rows; see `Engine.check_and_mutate_many`."""
        self._check_writable()

        def single(step: Conditional, is_lost: bool) -> CheckResult:
            result = self.check_and_mutate(table, step, durability)
            if result.success or not is_lost:
                return result
            if self._has_put(table, step.row, step.check.column, step.mutations):
                return CheckResult(True)
            raise _unknown(table, step.row)

        if len(steps) == 1:
            return super().check_and_mutate_many(table, steps, durability)
        return ConditionalSteps(self._cluster, table, durability, single).run(steps)

    def _has_put(
        self, table: str, row: bytes, column: bytes, mutations: Sequence[Mutation]
    ) -> bool:
        """Whether a column has the value that the mutations put there, after a lost response."""
        try:
            found = self.get(table, Get(row, (column,)))
        except RetryableError as error:
            error.maybe_applied = True  # they, whatever became of the read
            raise
        stored = found.value(column) if found is not None else None
        puts = [each.values[column] for each in mutations if _puts(each, column)]
        return stored is not None and stored in puts

    def _mutate(self, step: _Step, attempts: Attempts) -> CheckResult:
        """Makes the only mutation of a step."""
        (mutation,) = step.mutations
        parts: list[bytes] = []
        nonce = self._cluster.nonce()
        message, _ = mutation_bytes(parts, mutation, step.durability, nonce)
        request = mutate_request(message, step.row, step.check, self._nonce_group)
        call = RegionCall(
            self._cluster.names.full(step.table),
            step.row,
            "Mutate",
            request,
            AsBytes,
            cells=b"".join(parts),
            once=has_nonce(mutation),
        )

        def read(response: RpcResponse[AsBytes], _: Server) -> CheckResult:
            if not has_nonce(mutation):
                return CheckResult(was_processed(response))
            row = response_row(response.message, response.frame, response.block_at)
            _check_values(step, row, attempts.lost)
            return CheckResult(True, row)

        made = self._cluster.call_region(call, read, attempts)
        self._confirm_response(step, made.row, attempts)
        return made

    def _take_step(self, step: _Step, attempts: Attempts) -> CheckResult:
        parts: list[bytes] = []
        # One nonce for all: the server uses the first one of an atomic step.
        nonce = self._cluster.nonce()
        condition = None if step.check is None else condition_bytes(step.row, step.check)
        action, _ = atomic_step(parts, step.mutations, step.durability, nonce, condition)
        call = RegionCall(
            self._cluster.names.full(step.table),
            step.row,
            "Multi",
            action,
            client_pb2.MultiResponse,
            cells=b"".join(parts),
            after=nonce_group_field(self._nonce_group),
            once=any(map(has_nonce, step.mutations)),
        )

        def read(response: RpcResponse[client_pb2.MultiResponse], server: Server) -> CheckResult:
            result = _only_result(response.message, server)
            if not result.processed and step.check is None:
                raise NotHBase(
                    "a step without a condition was not made", server, maybe_applied=True
                )
            row = None
            for each in result.resultOrException:
                row = row or result_row(each.result, response.frame, response.block_at)[0]
            if result.processed:
                _check_values(step, row, attempts.lost)
            return CheckResult(result.processed, row)

        made = self._cluster.call_region(call, read, attempts)
        row = made.row
        if row is not None:
            # They come in the order of the mutations.
            row.raw_cells = sorted(row.raw_cells, key=lambda cell: cell[0].partition(b":"))
            row = _one_cell_a_column(row)
            self._confirm_response(step, row, attempts)
        return CheckResult(made.success, row)

    def _confirm_response(self, step: _Step, row: Row | None, attempts: Attempts) -> None:
        """Reads the new values again where an increment or append was sent twice.

        The server responds to a resend with the values that a read saw just after the first try.
        Where another write came after it and both were flushed, that read finds the value of an
        older file: one from before the first try. Only the newest value is certainly the step's
            own.

        Raises:
            Timeout: another write changed the values since.
        """
        if row is None or not attempts.lost:
            return
        try:
            found = self.get(step.table, Get(step.row, tuple(cell[0] for cell in row.raw_cells)))
        except RetryableError as error:
            error.maybe_applied = True  # the increment or append, whatever became of the read
            raise
        if found is None or list(found.raw_cells) != list(row.raw_cells):
            raise _lost_response(step.table, step.row)

    def commit(
        self, writes: Sequence[tuple[str, Write]], durability: Durability
    ) -> list[Row | None]:
        """Raises: HBase has no atomic step over several rows."""
        raise InvalidRequest(
            "HBase cannot commit several rows as one step",
            hint="use a batch, or check-and-mutate row by row",
        )

    def create_table(self, schema: TableSchema, splits: Sequence[bytes]) -> None:
        """Creates a table, and its namespace where that is missing."""
        self._tables.create_table(schema, splits)

    def alter_table(self, schema: TableSchema) -> None:
        """Makes a table's schema this one; returns when every region has it."""
        self._tables.alter_table(schema)

    def truncate_table(self, table: str) -> None:
        """Removes every row; the table is disabled meanwhile."""
        self._tables.truncate_table(table)

    def drop_table(self, table: str) -> None:
        """Removes a table and its data."""
        self._tables.drop_table(table)

    def describe_table(self, table: str) -> TableSchema:
        """Returns a table's schema."""
        return self._tables.describe_table(table)

    def list_tables(self) -> list[str]:
        """Returns the names of the tables that this store sees, sorted."""
        return self._master.table_names()

    def checkpoint(self, path: str) -> None:
        """Raises: a cluster is copied by its own means."""
        raise InvalidRequest("HBase writes no checkpoints", hint="take snapshots of its tables")

    def refresh(self) -> None:
        """Does nothing: every read calls the servers."""

    def close(self) -> None:
        """Closes all connections; calls under way fail."""
        self._cluster.close()

    def _writing(self, table: str, mutations: Sequence[Mutation]) -> Attempts:
        attempts = self._cluster.attempts(table)
        attempts.is_write, attempts.mutations = True, mutations
        return attempts

    def _check_writable(self) -> None:
        if self._read_only:
            raise ReadOnly(
                f"store '{self.location}' was opened for reading only", hint="open it for writing"
            )


def _unknown(table: str, row: bytes) -> Timeout:
    return Timeout(
        f"it is unknown whether the conditional write to row {row!r:.80} of table '{table}' was "
        "made: its response was lost, and when sent again its condition did not hold",
        hint="read the row and decide",
    )


def _is_empty(start: bytes, stop: bytes) -> bool:
    return bool(stop) and stop <= start


class _Step(NamedTuple):
    """Mutations of one row to be made together, if their condition holds."""

    table: str
    row: bytes
    mutations: Sequence[Mutation]
    durability: Durability
    check: Check | None = None


def _puts(mutation: Mutation, column: bytes) -> TypeGuard[Put]:
    return isinstance(mutation, Put) and column in mutation.values


def _check_values(step: _Step, row: Row | None, lost: int) -> None:
    """Makes sure that a response has the new values, and after a resend those of its write.

    What a server has done before it does not do again, but looks up what it gave then. That is
    gone when newer versions have been flushed meanwhile. And each resend moves the moment that the
    next one reads, so after two lost responses the third may show writes of others.

    Raises:
        Timeout: it may be another's.
        NotHBase: it was not sent again, and has not all of the values.
    """
    for mutation in step.mutations:
        if isinstance(mutation, Increment | Append):
            columns = mutation.amounts if isinstance(mutation, Increment) else mutation.values
            is_whole = row is not None and all(row.value(column) is not None for column in columns)
            if lost > 1 or (lost and not is_whole):
                raise _lost_response(step.table, step.row)
            if not is_whole:
                text = "an increment or append without its new value"
                raise NotHBase(text, None, maybe_applied=True)


def _lost_response(table: str, row: bytes) -> Timeout:
    return Timeout(
        f"the increment or append to row {row!r:.80} of table '{table}' was made, but its response "
        "was lost and cannot be read again",
        hint="do not make it again; read the row",
    )


def _one_cell_a_column(row: Row) -> Row:
    """Returns the row with what was stored of each column.

    Two increments of one column in one step both return a value; the last one is stored.
    """
    kept = {cell[0]: cell for cell in row.raw_cells}
    return row if len(kept) == len(row.raw_cells) else Row(row.key, list(kept.values()))


def _only_result(
    response: client_pb2.MultiResponse, server: Server
) -> client_pb2.RegionActionResult:
    """Returns the result of the only action of a call.

    Raises:
        RemoteError: it is an error.
        NotHBase: it is not exactly one, or does not contain whether the action was made.
    """
    for result in response.regionActionResult:
        if result.HasField("exception"):
            raise inner_error(result.exception, server)
        for each in result.resultOrException:
            if each.HasField("exception"):
                raise inner_error(each.exception, server)
    count = len(response.regionActionResult)
    if count != 1 or not response.regionActionResult[0].HasField("processed"):
        text = f"{count} results of one step, or no word on whether it was made"
        raise NotHBase(text, server, maybe_applied=True)
    return response.regionActionResult[0]
