"""Regions, servers, namespaces and snapshots as values: the results of `store.admin`.

A figure that an engine does not have is None, never a guess.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

__all__ = [
    "Balanced",
    "ClusterReport",
    "CompactionState",
    "FamilyStats",
    "Namespace",
    "Region",
    "RegionInTransition",
    "RegionServer",
    "Snapshot",
    "TableStats",
]

CompactionState: TypeAlias = Literal["NONE", "MINOR", "MAJOR", "MAJOR_AND_MINOR"]
"""What is being compacted just now, in HBase's terms."""


class Region(NamedTuple):
    """A contiguous range of a table's rows, where it is served, and its load.

    Attributes:
        table: the table's name.
        name: the short name of the region in administration; HBase's encoded name.
        start: the first row key; b"" in a table's first region.
        stop: the row key after the last; b"" in a table's last region.
        server: the name of the server that has it; None while none has.
        size_bytes: the size of its files.
        full_name: HBase's whole name of it, `table,start key,id.name.`.
        state: OPEN when it can be used; else HBase's state, such as CLOSED or SPLITTING.
        memory_bytes: what is not in files yet.
        store_files: the number of its files.
        reads: requests for reading since the server opened it.
        writes: requests for writing since the server opened it.
        locality: which share of its files lies on the server's own disks, from 0 to 1.
        compaction: what is being compacted in it now.
        last_major_compaction_ms: the time of the oldest file that a major compaction wrote.
    """

    table: str
    name: str
    start: bytes
    stop: bytes
    server: str | None
    size_bytes: int | None
    full_name: bytes = b""
    state: str = "OPEN"
    memory_bytes: int | None = None
    store_files: int | None = None
    reads: int | None = None
    writes: int | None = None
    locality: float | None = None
    compaction: CompactionState | None = None
    last_major_compaction_ms: int | None = None

    def holds(self, row: bytes) -> bool:
        """Whether a row key belongs to the region."""
        return self.start <= row and (not self.stop or row < self.stop)


class FamilyStats(NamedTuple):
    """The sizes of one family, None where the engine does not have them by family.

    `cells` is an estimate and counts all versions.
    """

    family: str
    disk_bytes: int | None
    memory_bytes: int | None
    cells: int | None
    files: int | None


class TableStats(NamedTuple):
    """The sizes of a table, as a whole and family by family."""

    table: str
    families: tuple[FamilyStats, ...]
    disk_bytes: int | None
    memory_bytes: int | None


class Namespace(NamedTuple):
    """A namespace and the number of its tables."""

    name: str
    tables: int


class RegionServer(NamedTuple):
    """A server that is alive, and its load.

    Attributes:
        name: `host,port,start code`; a server that is started again has a new name.
        address: `host:port`.
        started_ms: when it was started.
        regions: the number of regions that it has.
        requests_per_second: over the last seconds.
        requests: since it was started.
        reads, writes: requests to the regions that it has now.
        heap_used_bytes, heap_max_bytes: the memory of its process.
        memory_bytes: what is not in files yet.
        size_bytes, store_files: of the regions that it has now.
        version: of its program.
        reported_ms: when these figures were reported.
    """

    name: str
    address: str
    started_ms: int
    regions: int
    requests_per_second: float | None = None
    requests: int | None = None
    reads: int | None = None
    writes: int | None = None
    heap_used_bytes: int | None = None
    heap_max_bytes: int | None = None
    memory_bytes: int | None = None
    size_bytes: int | None = None
    store_files: int | None = None
    version: str | None = None
    reported_ms: int | None = None


class RegionInTransition(NamedTuple):
    """A region that is on its way from one state or server to another, and since when."""

    region: str
    table: str
    state: str
    since_ms: int | None


class ClusterReport(NamedTuple):
    """The cluster as its master sees it.

    Attributes:
        version: of the master's program.
        cluster_id: the cluster's own name for itself.
        master: the name of the master in charge.
        backup_masters: the names of those that stand by.
        servers: the region servers that are alive, by name.
        dead_servers: the names of those that were.
        in_transition: the regions that are on their way.
        is_balancing: whether the balancer is switched on.
    """

    version: str | None
    cluster_id: str | None
    master: str | None
    backup_masters: tuple[str, ...]
    servers: tuple[RegionServer, ...]
    dead_servers: tuple[str, ...]
    in_transition: tuple[RegionInTransition, ...]
    is_balancing: bool


class Balanced(NamedTuple):
    """What a run of the balancer did; the numbers are None where the cluster does not report them.

    `has_run` is False when the balancer would not run: it is off, or regions are in transition.
    """

    has_run: bool
    moves_planned: int | None
    moves_made: int | None


class Snapshot(NamedTuple):
    """A table as it was at one time, stored by the cluster under a name.

    `ttl_seconds` is None for a snapshot that stays until it is deleted.
    """

    name: str
    table: str
    created_ms: int | None
    owner: str | None
    ttl_seconds: int | None
