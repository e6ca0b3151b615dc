"""What a cluster reports about its servers' work: tasks, slow calls, the balancer, ZooKeeper.

Values only, as in `admin_results`, which has those that every engine has. Times are
milliseconds.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from webtable.store.admin_results import CompactionState, RegionInTransition

__all__ = [
    "BalancerDecision",
    "BalancerRejection",
    "CacheCleared",
    "ClusterLoad",
    "CompactionQueue",
    "RegionLoad",
    "ReplicationSink",
    "ReplicationSource",
    "ServerLoad",
    "ServerTask",
    "SlowCall",
    "Switch",
    "ZooKeeperReport",
]

Switch: TypeAlias = Literal[
    "balancer", "catalog_janitor", "cleaner", "merge", "normalizer", "snapshot_cleanup", "split"
]
"""What a master does by itself, and can be switched off."""

CompactionQueue: TypeAlias = Literal["long", "short"]
"""Where compactions wait on a server: large ones and small ones."""


class ServerTask(NamedTuple):
    """Something that a server does, waits for or has just done.

    Attributes:
        server: the name of the server.
        description: what it is about, such as a flush of a region, or which thread it is.
        status: how far it is.
        state: RUNNING, WAITING, COMPLETE or ABORTED.
        started_ms: when it began.
        ended_ms: when it was over; None where it is not.
    """

    server: str
    description: str
    status: str
    state: str
    started_ms: int
    ended_ms: int | None


class RegionLoad(NamedTuple):
    """Everything that a server reports of a region; `Region` has the figures used most.

    Sizes of files and memory are in whole megabytes, those of indexes and Bloom filters in whole
    kilobytes. `sequence_id` is that of the last flush, -1 before there was one.
    """

    full_name: bytes
    stores: int
    store_files: int
    references: int
    most_compacted_references: int
    uncompressed_mb: int
    size_mb: int
    memory_mb: int
    reads: int
    filtered_reads: int
    writes: int
    root_index_kb: int
    index_kb: int
    bloom_kb: int
    compacting_cells: int
    compacted_cells: int
    sequence_id: int
    last_major_compaction_ms: int
    locality: float
    ssd_locality: float
    local_weight: int
    local_ssd_weight: int
    total_weight: int
    compaction: CompactionState
    region_mb: int
    cached_ratio: float


class ReplicationSource(NamedTuple):
    """How far a server is with sending writes to another cluster. Times are milliseconds."""

    peer: str
    queue: str
    is_recovered: bool
    is_running: bool
    has_edits: bool
    last_shipped_ms: int
    last_shipped_age_ms: int
    next_ms: int
    lag_ms: int
    queued_logs: int
    edits_read: int
    operations_shipped: int


class ReplicationSink(NamedTuple):
    """How far a server is with writes that another cluster sent."""

    started_ms: int
    last_applied_ms: int
    last_applied_age_ms: int


class ServerLoad(NamedTuple):
    """Everything that a region server reports of itself."""

    name: str
    requests_per_second: float
    heap_used_mb: int
    heap_max_mb: int
    regions: tuple[RegionLoad, ...]
    coprocessors: tuple[str, ...]
    tasks: tuple[ServerTask, ...]
    sources: tuple[ReplicationSource, ...]
    sink: ReplicationSink | None


class ClusterLoad(NamedTuple):
    """Everything that a master reports of its cluster, system tables included.

    `ClusterReport` has the figures used most. `unknown_servers` are those that regions are assigned
    to, though the master lists them neither as alive nor as dead.
    """

    version: str
    master: str | None
    master_tasks: tuple[ServerTask, ...]
    master_coprocessors: tuple[str, ...]
    backup_masters: tuple[str, ...]
    servers: tuple[ServerLoad, ...]
    dead_servers: tuple[str, ...]
    unknown_servers: tuple[str, ...]
    in_transition: tuple[RegionInTransition, ...]


class SlowCall(NamedTuple):
    """A call that took a server long, or whose response was large.

    Attributes:
        started_ms: when it began.
        processing_ms, queue_ms: how long it was worked on, and how long it waited before.
        filesystem_ms: how long files were read meanwhile.
        response_bytes, scanned_bytes: the size of the response, and of the blocks read for it.
        client: address and port of the caller.
        service, method: what was called.
        details: the call as the server writes it.
        parameter: the parameter of the call; None where the server does not report it.
        user: the user that called.
        region: the whole name of the region; None where the call was for no region.
        gets, mutations, service_calls: how many of each a batch had.
        kind: SLOW_LOG, LARGE_LOG, or ALL when it is both.
        connection_attributes, request_attributes: what the client sent along.
    """

    started_ms: int
    processing_ms: int
    queue_ms: int
    filesystem_ms: int
    response_bytes: int
    scanned_bytes: int
    client: str
    service: str
    method: str
    details: str
    parameter: str | None
    user: str
    region: str | None
    gets: int
    mutations: int
    service_calls: int
    kind: str
    connection_attributes: dict[str, bytes]
    request_attributes: dict[str, bytes]


class BalancerDecision(NamedTuple):
    """A plan that the balancer made: what it cost before and after, and which regions it moves."""

    costs_before: str
    costs_after: str
    total_before: float
    total_after: float
    steps: int
    moves: tuple[str, ...]


class BalancerRejection(NamedTuple):
    """Why the balancer made no plan, and what each of its reasons for one cost."""

    reason: str
    costs: tuple[str, ...]


class CacheCleared(NamedTuple):
    """What was dropped from the block caches of a table's servers.

    Attributes:
        blocks: how many blocks.
        cache_bytes: the size of the caches together.
        failed: the encoded names of regions that could not be done, each with the reason.
    """

    blocks: int
    cache_bytes: int
    failed: dict[str, str]


class ZooKeeperReport(NamedTuple):
    """What ZooKeeper has stored about a cluster.

    Attributes:
        parent: the node under which HBase keeps everything.
        master: the name of the master in charge; None while no master is active.
        backup_masters: the names of the backup masters.
        meta_servers: the names of the servers of the meta table and of its copies.
        servers: the names of the region servers, as ZooKeeper lists them.
        quorum: the status lines of each server of ZooKeeper, by its address.
    """

    parent: str
    master: str | None
    backup_masters: tuple[str, ...]
    meta_servers: tuple[str | None, ...]
    servers: tuple[str, ...]
    quorum: dict[str, tuple[str, ...]]
