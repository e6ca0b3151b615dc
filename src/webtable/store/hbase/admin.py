"""Administration: tables through the master's procedures, and the upkeep of regions.

The master answers with the number of a procedure, which is then asked for until it is done. Flushes
and compactions go to the region servers themselves, to all regions at once.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from google.protobuf.message import Message

from webtable.errors import InvalidRequest, TableNotFound, Timeout, WebTableError
from webtable.store.engine import FamilyStats, Region, TableStats
from webtable.store.hbase.cluster import ADMIN, Cluster, RegionCall
from webtable.store.hbase.descriptors import schema_from_message, schema_to_message
from webtable.store.hbase.meta import Place
from webtable.store.hbase.proto import admin_pb2, master_pb2
from webtable.store.hbase.retry import Attempts, translate
from webtable.store.hbase.wire import RemoteError, RpcError
from webtable.store.schema import TableSchema

__all__ = ["Admin"]

M = TypeVar("M", bound=Message)
T = TypeVar("T")

PROCEDURE_FACTOR = 5
"""Procedures may take this many times as long as a read or a write."""

MEGABYTE = 1 << 20
_PARALLEL_REGIONS = 8
POLL_SHARE = 0.1
SHORTEST_POLL_SECONDS = 0.005
LONGEST_POLL_SECONDS = 1.0


class Admin:
    """What an engine does to tables and regions. Safe to use from many threads."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._names = cluster.names

    def create_table(self, schema: TableSchema, splits: Sequence[bytes]) -> None:
        """Creates a table, and its namespace where that is missing.

        Raises:
            TableExists: there is one of that name.
            InvalidRequest: the cluster does not take the schema.
        """
        attempts = self._attempts(schema.name)
        request = master_pb2.CreateTableRequest(
            table_schema=schema_to_message(schema, self._names.message(schema.name)),
            split_keys=splits,
        )
        self._ensure_namespace(schema.name, attempts)
        self._run("CreateTable", request, master_pb2.CreateTableResponse, attempts)
        self._cluster.regions.forget(self._names.full(schema.name))

    def alter_table(self, schema: TableSchema) -> None:
        """Makes a table's schema this one; returns when every region has been opened with it."""
        attempts = self._attempts(schema.name)
        name = self._names.message(schema.name)
        request = master_pb2.ModifyTableRequest(
            table_name=name, table_schema=schema_to_message(schema, name)
        )
        self._on_table("ModifyTable", request, master_pb2.ModifyTableResponse, attempts)

    def truncate_table(self, table: str) -> None:
        """Removes every row, keeping schema and splits; the table is disabled meanwhile."""
        attempts = self._attempts(table)
        self.disable_table(table)
        request = master_pb2.TruncateTableRequest(
            tableName=self._names.message(table), preserveSplits=True
        )
        try:
            self._on_table("truncateTable", request, master_pb2.TruncateTableResponse, attempts)
        except WebTableError:
            with contextlib.suppress(WebTableError):
                self.enable_table(table)
            raise
        self._cluster.regions.forget(self._names.full(table))

    def drop_table(self, table: str) -> None:
        """Removes a table and its data."""
        attempts = self._attempts(table)
        self.disable_table(table)
        request = master_pb2.DeleteTableRequest(table_name=self._names.message(table))
        self._on_table("DeleteTable", request, master_pb2.DeleteTableResponse, attempts)
        self._cluster.regions.forget(self._names.full(table))

    def disable_table(self, table: str) -> None:
        """Takes a table out of service; nothing happens where it is already."""
        request = master_pb2.DisableTableRequest(table_name=self._names.message(table))
        with _ignoring("TableNotEnabledException"):
            kind = master_pb2.DisableTableResponse
            self._on_table("DisableTable", request, kind, self._attempts(table))

    def enable_table(self, table: str) -> None:
        """Puts a table back into service; nothing happens where it is already."""
        request = master_pb2.EnableTableRequest(table_name=self._names.message(table))
        with _ignoring("TableNotDisabledException"):
            kind = master_pb2.EnableTableResponse
            self._on_table("EnableTable", request, kind, self._attempts(table))

    def describe_table(self, table: str) -> TableSchema:
        """Returns a table's schema."""
        attempts = self._cluster.attempts(table)
        request = master_pb2.GetTableDescriptorsRequest(table_names=[self._names.message(table)])
        kind = master_pb2.GetTableDescriptorsResponse
        answer = self._cluster.call_master("GetTableDescriptors", request, kind, attempts)
        for found in answer.table_schema:
            return schema_from_message(found, table)
        raise TableNotFound(table, self.list_tables())

    def list_tables(self) -> list[str]:
        """Returns the names of the tables that the store sees, sorted."""
        return self._ask(lambda attempts: self._cluster.regions.known_tables(attempts.deadline))

    def flush(self, table: str) -> None:
        """Writes what is in memory to files; returns when nothing is left in memory."""
        self._each_region(table, self._flush_region)

    def major_compact(self, table: str) -> None:
        """Flushes and rewrites all files; returns when the old ones are out of use."""
        # A compaction keeps what scanners that are still open could ask for.
        self._cluster.finish_background()
        self._each_region(table, self._compact_region)

    def split(self, table: str, row: bytes) -> None:
        """Splits the region that holds a row key, so that a new one begins with it."""
        attempts = self._attempts(table)
        full = self._names.full(table)
        place = self._ask(lambda asked: self._cluster.regions.locate(full, row, asked.deadline))
        request = master_pb2.SplitTableRegionRequest(split_row=row)
        region = request.region_info
        region.region_id = place.region_id
        region.table_name.CopyFrom(self._names.message(table))
        region.start_key, region.end_key = place.start, place.stop
        self._run("SplitRegion", request, master_pb2.SplitTableRegionResponse, attempts)

    def regions(self, table: str) -> list[Region]:
        """Returns the regions in key order; their sizes are in whole megabytes."""
        return [
            Region(
                table=table,
                name=place.encoded_name.decode(),
                start=place.start,
                stop=place.stop,
                server=str(place.server),
                size_bytes=load.storefile_size_MB * MEGABYTE,
            )
            for place, load in self._loads(table)
        ]

    def stats(self, table: str) -> TableStats:
        """Returns a table's sizes family by family; HBase does not count its cells.

        It knows sizes by region only, in whole megabytes. What a region has on disk is shared
        out among its families by their files, what it has in memory evenly.
        """
        names = [family.name for family in self.describe_table(table).families]
        disk, memory, files = (dict.fromkeys(names, 0) for _ in range(3))
        for place, load in self._loads(table):
            counts = {name: self._count_files(table, place, name) for name in names}
            total = sum(counts.values())
            for name, count in counts.items():
                files[name] += count
                memory[name] += load.mem_store_size_MB * MEGABYTE // len(names)
                if total:
                    disk[name] += load.storefile_size_MB * MEGABYTE * count // total
        return TableStats(
            table,
            tuple(FamilyStats(name, disk[name], memory[name], None, files[name]) for name in names),
        )

    def _count_files(self, table: str, place: Place, family: str) -> int:
        return len(self._files(place, self._cluster.attempts(table), family.encode()))

    def _ensure_namespace(self, table: str, attempts: Attempts) -> None:
        namespace, _ = self._names.split(table)
        kind = master_pb2.ListNamespacesResponse
        request = master_pb2.ListNamespacesRequest()
        known = self._cluster.call_master("ListNamespaces", request, kind, attempts).namespaceName
        if namespace in known:
            return
        creation = master_pb2.CreateNamespaceRequest()
        creation.namespaceDescriptor.name = namespace.encode()
        with _ignoring("NamespaceExistException"):  # somebody else may have been quicker
            self._run("CreateNamespace", creation, master_pb2.CreateNamespaceResponse, attempts)

    def _on_table(
        self, method: str, request: Message, kind: type[Message], attempts: Attempts
    ) -> None:
        try:
            self._run(method, request, kind, attempts)
        except TableNotFound:
            raise TableNotFound(attempts.table, self.list_tables()) from None

    def _run(self, method: str, request: Message, kind: type[Message], attempts: Attempts) -> None:
        """Starts a procedure and waits for its end."""
        # With a nonce the master knows a request that is sent again, and starts no second one.
        request.nonce_group = self._cluster.nonce_group  # type: ignore[attr-defined]
        request.nonce = self._cluster.nonce()  # type: ignore[attr-defined]
        number: int = self._cluster.call_master(method, request, kind, attempts).proc_id  # type: ignore[attr-defined]
        question = master_pb2.GetProcedureResultRequest(proc_id=number)
        kind_of_result = master_pb2.GetProcedureResultResponse

        def is_done() -> bool:
            answer = self._cluster.call_master(
                "getProcedureResult", question, kind_of_result, attempts
            )
            if answer.HasField("exception"):
                said = answer.exception.generic_exception
                error = RemoteError(said.class_name, said.message, None)
                raise translate(error, attempts.table) from error
            return answer.state != kind_of_result.RUNNING

        _wait(is_done, attempts, method)

    def _places(self, table: str) -> list[Place]:
        full = self._names.full(table)
        return self._ask(lambda attempts: self._cluster.regions.all(full, attempts.deadline), table)

    def _ask(self, question: Callable[[Attempts], T], table: str = "") -> T:
        attempts = self._cluster.attempts(table)
        while True:
            try:
                return question(attempts)
            except RpcError as exc:
                attempts.failed(exc)

    def _each_region(self, table: str, work: Callable[[Place, Attempts], None]) -> None:
        places = self._places(table)
        with ThreadPoolExecutor(_PARALLEL_REGIONS, "webtable-hbase-admin") as pool:
            list(pool.map(lambda place: work(place, self._attempts(table)), places))

    def _flush_region(self, place: Place, attempts: Attempts) -> None:
        def is_flushed() -> bool:
            request = admin_pb2.FlushRegionRequest()
            kind = admin_pb2.FlushRegionResponse
            answer = self._on_region(place, "FlushRegion", request, kind, attempts)
            # "Not flushed" may mean that there was nothing, or that the region could not just now.
            return answer.flushed or not self._is_in_memory(place, attempts)

        _wait(is_flushed, attempts, "flush")

    def _compact_region(self, place: Place, attempts: Attempts) -> None:
        self._flush_region(place, attempts)
        old = self._files(place, attempts)
        if not old:
            return

        def is_idle() -> bool:
            request = admin_pb2.GetRegionInfoRequest(compaction_state=True)
            kind = admin_pb2.GetRegionInfoResponse
            answer = self._on_region(place, "GetRegionInfo", request, kind, attempts)
            return answer.compaction_state == kind.NONE

        def is_compacted() -> bool:
            # A compaction that runs already keeps a major one from starting. So: let it end,
            # start ours, let that end, and believe it only when every old file is gone.
            _wait(is_idle, attempts, "compaction")
            request = admin_pb2.CompactRegionRequest(major=True)
            self._on_region(
                place, "CompactRegion", request, admin_pb2.CompactRegionResponse, attempts
            )
            _wait(is_idle, attempts, "compaction")
            return old.isdisjoint(self._files(place, attempts))

        _wait(is_compacted, attempts, "compaction")

    def _files(self, place: Place, attempts: Attempts, *families: bytes) -> frozenset[str]:
        request = admin_pb2.GetStoreFileRequest(family=families)
        kind = admin_pb2.GetStoreFileResponse
        answer = self._on_region(place, "GetStoreFile", request, kind, attempts)
        return frozenset(answer.store_file)

    def _is_in_memory(self, place: Place, attempts: Attempts) -> bool:
        for other, load in self._loads(attempts.table):
            if other.holds(place.start):
                return load.mem_store_size_MB > 0  # rounded up: 0 means empty
        return True

    def _loads(self, table: str) -> list[tuple[Place, admin_pb2.RegionLoad]]:
        """Returns the regions and what their servers say about them just now."""
        full = self._names.full(table)
        request = admin_pb2.GetRegionLoadRequest(table_name=self._names.message(table))
        kind = admin_pb2.GetRegionLoadResponse

        def ask(attempts: Attempts) -> list[tuple[Place, admin_pb2.RegionLoad]]:
            deadline = attempts.deadline
            places = self._cluster.regions.all(full, deadline)
            loads: dict[bytes, admin_pb2.RegionLoad] = {}
            for server in {place.server for place in places}:
                connection = self._cluster.connections.to(server, ADMIN, deadline.attempt())
                answer = connection.call("GetRegionLoad", request, kind, deadline.attempt())
                loads.update(
                    (load.region_specifier.value, load) for load in answer.message.region_loads
                )
            return [(place, loads.get(place.name) or admin_pb2.RegionLoad()) for place in places]

        return self._ask(ask, table)

    def _on_region(
        self, place: Place, method: str, request: Message, kind: type[M], attempts: Attempts
    ) -> M:
        call = RegionCall(place.table, place.start, method, request, kind, service=ADMIN)
        return self._cluster.call_region(call, attempts).message

    def _attempts(self, table: str) -> Attempts:
        return self._cluster.attempts(table, PROCEDURE_FACTOR)


@contextlib.contextmanager
def _ignoring(java_class: str) -> Iterator[None]:
    """Lets one refusal of the master pass: what was asked for is so already."""
    try:
        yield
    except InvalidRequest as exc:
        cause = exc.__cause__
        if not isinstance(cause, RemoteError) or cause.java_class != java_class:
            raise


def _wait(is_done: Callable[[], bool], attempts: Attempts, what: str) -> None:
    began = time.monotonic()
    while not is_done():
        # Short waits end promptly, long ones ask seldom: each pause is a part of what has passed.
        passed = time.monotonic() - began
        pause = min(max(passed * POLL_SHARE, SHORTEST_POLL_SECONDS), LONGEST_POLL_SECONDS)
        if attempts.deadline.remaining() < pause:
            raise Timeout(
                f"{what} of table '{attempts.table}' is not done after "
                f"{attempts.deadline.seconds:.0f} s",
                hint="it goes on in the cluster; look again later",
            )
        time.sleep(pause)
