"""What the master reports on its cluster: servers, their load, regions in transition, tasks."""

from __future__ import annotations

from collections.abc import Iterable

from webtable.store.admin_results import ClusterReport, RegionInTransition, RegionServer
from webtable.store.cluster_activity import (
    ClusterLoad,
    RegionLoad,
    ReplicationSink,
    ReplicationSource,
    ServerLoad,
    ServerTask,
)
from webtable.store.hbase.admin.master_client import MasterClient
from webtable.store.hbase.admin.region_list import MEGABYTE, ServerId, compaction_of
from webtable.store.hbase.admin.servers import ServerAdmin
from webtable.store.hbase.proto import status_pb2

__all__ = ["ClusterStatus"]

_REPORTED = (
    status_pb2.HBASE_VERSION,
    status_pb2.CLUSTER_ID,
    status_pb2.LIVE_SERVERS,
    status_pb2.DEAD_SERVERS,
    status_pb2.MASTER,
    status_pb2.BACKUP_MASTERS,
    status_pb2.REGIONS_IN_TRANSITION,
    status_pb2.BALANCER_ON,
)
_EVERYTHING = (
    status_pb2.HBASE_VERSION,
    status_pb2.LIVE_SERVERS,
    status_pb2.DEAD_SERVERS,
    status_pb2.MASTER,
    status_pb2.BACKUP_MASTERS,
    status_pb2.MASTER_COPROCESSORS,
    status_pb2.REGIONS_IN_TRANSITION,
    status_pb2.TASKS,
    status_pb2.UNKNOWN_SERVERS,
)
_STATES = status_pb2.ServerTask.State


class ClusterStatus:
    """Reports on a cluster; see `Admin` and `ClusterAdmin` for the contract of each method."""

    def __init__(self, master: MasterClient, servers: ServerAdmin) -> None:
        self._master = master
        self._servers = servers

    def report(self) -> ClusterReport:
        """Returns the cluster as its master sees it; see `Admin.report`."""
        status = self._master.cluster_status(*_REPORTED)
        has_master = status.HasField("master")
        return ClusterReport(
            version=status.hbase_version.version or None,
            cluster_id=status.cluster_id.cluster_id or None,
            master=str(ServerId.of(status.master)) if has_master else None,
            backup_masters=tuple(str(ServerId.of(each)) for each in status.backup_masters),
            servers=tuple(sorted(map(_region_server, status.live_servers))),
            dead_servers=tuple(sorted(str(ServerId.of(each)) for each in status.dead_servers)),
            in_transition=tuple(map(self._transition, status.regions_in_transition)),
            is_balancing=status.balancer_on,
        )

    def load(self) -> ClusterLoad:
        """Returns everything about servers; see `ClusterAdmin.load`."""
        status = self._master.cluster_status(*_EVERYTHING)
        moving = tuple(map(self._transition, status.regions_in_transition))
        return _cluster_load(status, moving)

    def tasks(self, server: str | None = None) -> list[ServerTask]:
        """Returns what servers do; see `ClusterAdmin.tasks`."""
        chosen = None if server is None else str(self._servers.live_server(server))
        found = self._master.cluster_status(status_pb2.LIVE_SERVERS)
        return [
            task
            for each in _cluster_load(found, ()).servers
            if chosen in (None, each.name)
            for task in each.tasks
        ]

    def _transition(self, found: status_pb2.RegionInTransition) -> RegionInTransition:
        state = found.region_state
        table = state.region_info.table_name
        full = table.qualifier
        if table.namespace != b"default":
            full = b"%b:%b" % (table.namespace, table.qualifier)
        return RegionInTransition(
            region=found.spec.value.decode("utf-8", "replace"),
            table=self._master.shown_name(full),
            state=status_pb2.RegionState.State.Name(state.state),
            since_ms=state.stamp or None,
        )


def _cluster_load(
    status: status_pb2.ClusterStatus, moving: tuple[RegionInTransition, ...]
) -> ClusterLoad:
    """Returns a report as a value; `moving` are the regions in transition, by the store's names."""
    master = str(ServerId.of(status.master)) if status.HasField("master") else None
    return ClusterLoad(
        version=status.hbase_version.version,
        master=master,
        master_tasks=_tasks(master or "", status.master_tasks),
        master_coprocessors=_names(status.master_coprocessors),
        backup_masters=tuple(str(ServerId.of(each)) for each in status.backup_masters),
        servers=tuple(map(_server, sorted(status.live_servers, key=_id))),
        dead_servers=tuple(sorted(str(ServerId.of(each)) for each in status.dead_servers)),
        unknown_servers=tuple(sorted(str(ServerId.of(each)) for each in status.unknown_servers)),
        in_transition=moving,
    )


def _id(live: status_pb2.LiveServerInfo) -> ServerId:
    return ServerId.of(live.server)


def _server(live: status_pb2.LiveServerInfo) -> ServerLoad:
    name, load = str(_id(live)), live.server_load
    sink = load.replLoadSink
    return ServerLoad(
        name=name,
        # By its name this would be a number since the last report; servers put the rate there.
        requests_per_second=float(load.number_of_requests),
        heap_used_mb=load.used_heap_MB,
        heap_max_mb=load.max_heap_MB,
        regions=tuple(sorted(map(_region, load.region_loads))),
        coprocessors=_names(load.coprocessors),
        tasks=_tasks(name, load.tasks),
        sources=tuple(map(_source, load.replLoadSource)),
        sink=ReplicationSink(
            sink.timestampStarted, sink.timeStampsOfLastAppliedOp, sink.ageOfLastAppliedOp
        )
        if load.HasField("replLoadSink")
        else None,
    )


def _region(load: status_pb2.RegionLoad) -> RegionLoad:
    return RegionLoad(
        full_name=load.region_specifier.value,
        stores=load.stores,
        store_files=load.storefiles,
        references=load.store_ref_count,
        most_compacted_references=load.max_compacted_store_file_ref_count,
        uncompressed_mb=load.store_uncompressed_size_MB,
        size_mb=load.storefile_size_MB,
        memory_mb=load.mem_store_size_MB,
        reads=load.read_requests_count,
        filtered_reads=load.filtered_read_requests_count,
        writes=load.write_requests_count,
        root_index_kb=load.root_index_size_KB,
        index_kb=load.total_static_index_size_KB,
        bloom_kb=load.total_static_bloom_size_KB,
        compacting_cells=load.total_compacting_KVs,
        compacted_cells=load.current_compacted_KVs,
        sequence_id=_signed(load.complete_sequence_id),
        last_major_compaction_ms=load.last_major_compaction_ts,
        locality=load.data_locality,
        ssd_locality=load.data_locality_for_ssd,
        local_weight=load.blocks_local_weight,
        local_ssd_weight=load.blocks_local_with_ssd_weight,
        total_weight=load.blocks_total_weight,
        compaction=compaction_of(load) or "NONE",
        region_mb=load.region_size_MB,
        cached_ratio=load.current_region_cached_ratio,
    )


def _source(load: status_pb2.ReplicationLoadSource) -> ReplicationSource:
    return ReplicationSource(
        peer=load.peerID,
        queue=load.queueId,
        is_recovered=load.recovered,
        is_running=load.running,
        has_edits=load.editsSinceRestart,
        last_shipped_ms=load.timeStampOfLastShippedOp,
        last_shipped_age_ms=load.ageOfLastShippedOp,
        next_ms=load.timeStampOfNextToReplicate,
        lag_ms=load.replicationLag,
        queued_logs=load.sizeOfLogQueue,
        edits_read=load.editsRead,
        operations_shipped=load.oPsShipped,
    )


def _tasks(server: str, tasks: Iterable[status_pb2.ServerTask]) -> tuple[ServerTask, ...]:
    return tuple(
        ServerTask(
            server=server,
            description=task.description,
            status=task.status,
            state=_STATES.Name(task.state),
            started_ms=task.startTime,
            ended_ms=ended if (ended := _signed(task.completionTime)) > 0 else None,
        )
        for task in tasks
    )


def _names(coprocessors: Iterable[status_pb2.Coprocessor]) -> tuple[str, ...]:
    return tuple(sorted({each.name for each in coprocessors}))


def _signed(number: int) -> int:
    """Returns a number that a message has without its sign: -1 means that it is missing."""
    return number - (1 << 64) if number >= 1 << 63 else number


def _region_server(live: status_pb2.LiveServerInfo) -> RegionServer:
    server, load = ServerId.of(live.server), live.server_load
    regions = load.region_loads
    return RegionServer(
        name=str(server),
        address=str(server.address),
        started_ms=server.start_code,
        regions=len(regions),
        # By its name in the message this would be a number since the last report; servers of
        # HBase 2 put the rate there.
        requests_per_second=float(load.number_of_requests),
        requests=load.total_number_of_requests,
        reads=sum(region.read_requests_count for region in regions),
        writes=sum(region.write_requests_count for region in regions),
        heap_used_bytes=load.used_heap_MB * MEGABYTE,
        heap_max_bytes=load.max_heap_MB * MEGABYTE,
        memory_bytes=sum(region.mem_store_size_MB for region in regions) * MEGABYTE,
        size_bytes=sum(region.storefile_size_MB for region in regions) * MEGABYTE,
        store_files=sum(region.storefiles for region in regions),
        reported_ms=load.report_end_time or None,
    )
