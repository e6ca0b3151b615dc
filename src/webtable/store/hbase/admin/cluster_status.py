"""The master's report on its cluster, as values, field by field."""

from __future__ import annotations

from collections.abc import Iterable

from webtable.store.cluster_activity import (
    ClusterLoad,
    RegionLoad,
    ReplicationSink,
    ReplicationSource,
    ServerLoad,
    ServerTask,
)
from webtable.store.cluster_values import RegionInTransition
from webtable.store.hbase.admin.region_list import ServerId, compaction_of
from webtable.store.hbase.proto import status_pb2

__all__ = ["EVERYTHING", "cluster_load"]

EVERYTHING = (
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


def cluster_load(
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
