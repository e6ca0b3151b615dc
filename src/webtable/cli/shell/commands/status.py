"""The command `status`: the servers of a cluster as its master sees them, in five forms.

The figures are written as HBase's Java classes write themselves, with their names and units. An
embedded store is one server with fewer figures.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from webtable import (
    ClusterLoad,
    Region,
    RegionLoad,
    RegionServer,
    ReplicationSource,
    ServerLoad,
    ServerTask,
)
from webtable.cli.output_formats import show_bytes
from webtable.cli.shell.language.ruby_values import Value, inspect_value, show_float, to_text
from webtable.cli.shell.session import Session
from webtable.errors import InvalidRequest

_FORMS = ("summary", "simple", "detailed", "tasks", "replication")
_KINDS = ("both", "source", "sink")


def status(session: Session, form: Value = b"summary", kind: Value = b"both") -> None:
    """Shows the servers: how many there are, or each with its load, its tasks or its replication.

    status
    status 'simple'
    status 'detailed'
    status 'tasks'
    status 'replication'
    status 'replication', 'source'
    """
    word = to_text(form, "the form")
    if word not in _FORMS:
        raise InvalidRequest(f"status '{word:.40}' is not valid", hint=", ".join(_FORMS))
    part = to_text(kind, "the part").lower()
    if part not in _KINDS:
        raise InvalidRequest(f"status of '{part:.40}' is not valid", hint=", ".join(_KINDS))
    if word == "summary":
        _print_summary(session)
    elif not session.store.capabilities.cluster and word in ("simple", "detailed"):
        _print_embedded(session, with_regions=word == "detailed")
    elif word == "simple":
        _print_simple(session, session.store.admin.load())
    elif word == "detailed":
        _print_detailed(session, session.store.admin.load())
    elif word == "tasks":
        _print_tasks(session, session.store.admin.load())
    else:
        _print_replication(session, session.store.admin.load(), part)


def _print_summary(session: Session) -> None:
    report = session.store.admin.report()
    regions = sum(server.regions for server in report.servers)
    average = regions / len(report.servers) if report.servers else 0.0
    session.out.line(
        f"1 active master, {len(report.backup_masters)} backup masters, "
        f"{len(report.servers)} servers, {len(report.dead_servers)} dead, "
        f"{average:.4f} average load"
    )


def _print_simple(session: Session, load: ClusterLoad) -> None:
    out = session.out
    _print_masters(session, load, ())
    out.line(f"{len(load.servers)} live servers")
    for server in load.servers:
        out.line(f"    {_address(server.name)}")
        out.line(f"        {_server_figures(server)}")
    _print_dead(session, load.dead_servers)
    requests = sum(server.requests_per_second for server in load.servers)
    regions = sum(len(server.regions) for server in load.servers)
    out.line(f"Aggregate load: {requests:.0f}, regions: {regions}")


def _print_detailed(session: Session, load: ClusterLoad) -> None:
    out = session.out
    out.line(f"version {load.version}")
    out.line(f"{len(load.in_transition)} regionsInTransition")
    for each in load.in_transition:
        since = each.since_ms or 0
        out.line(f"    {{{each.region} state={each.state}, ts={since}, server=null}}")
    _print_masters(session, load, load.master_tasks)
    out.line(f"master coprocessors: [{', '.join(load.master_coprocessors)}]")
    out.line(f"{len(load.servers)} live servers")
    for server in load.servers:
        out.line(f"    {_address(server.name)}")
        out.line(f"        {_server_figures(server)}")
        for region in server.regions:
            out.line(f"        {_quoted(region.full_name)}")
            out.line(f"            {_region_figures(region)}")
        for task in server.tasks:
            out.line(f"        {_described(task)}")
    _print_dead(session, load.dead_servers)


def _print_tasks(session: Session, load: ClusterLoad) -> None:
    out = session.out
    if load.master is not None:
        out.line(f"active master:  {_address(load.master)}")
        _print_running(session, load.master_tasks, "    ")
    out.line(f"{len(load.servers)} live servers")
    for server in load.servers:
        out.line(f"    {_address(server.name)}")
        _print_running(session, server.tasks, "        ")


def _print_running(session: Session, tasks: Sequence[ServerTask], indent: str) -> None:
    running = [task for task in tasks if task.state == "RUNNING"]
    for task in running:
        session.out.line(f"{indent}{_described(task)}")
    if not running:
        session.out.line(f"{indent}no active tasks")


def _print_replication(session: Session, load: ClusterLoad, part: str) -> None:
    out = session.out
    out.line(f"version {load.version}")
    out.line(f"{len(load.servers)} live servers")
    indent = "\n            "
    for server in load.servers:
        sink = server.sink
        if sink is None:
            continue
        applied = ["Waiting for OPs... "]
        if sink.last_applied_ms != sink.started_ms:
            applied = [
                f"AgeOfLastAppliedOp={sink.last_applied_age_ms}",
                f"TimeStampsOfLastAppliedOp={sink.last_applied_ms}",
            ]
        out.line(f"    {server.name.partition(',')[0]}:")
        if part != "sink":
            out.line(f"        SOURCE:{_sources(server.sources)}")
        if part != "source":
            figures = f",{indent}".join([f"TimeStampStarted={sink.started_ms}", *applied])
            out.line(f"        SINK:{indent}{figures}")


def _sources(sources: Iterable[ReplicationSource]) -> str:
    by_peer: dict[str, list[ReplicationSource]] = {}
    for each in sources:
        by_peer.setdefault(each.peer, []).append(each)
    indent = "\n            "
    return "".join(
        f"{indent}PeerID={peer}"
        + "".join(f",{indent}{f',{indent}'.join(_source(each))}\n" for each in found)
        for peer, found in by_peer.items()
    )


def _source(source: ReplicationSource) -> list[str]:
    lines = [f"Queue({'Recovered' if source.is_recovered else 'Normal'})={source.queue}"]
    if not source.is_running:
        # As HBase writes it.
        idle = "No Reader/Shipper threads runnning yet."  # codespell:ignore runnning
        return [*lines, f"IsRunning=false, {idle}"]
    if source.last_shipped_ms:
        lines.append(f"AgeOfLastShippedOp={source.last_shipped_age_ms}")
        lines.append(f"TimeStampOfLastShippedOp={source.last_shipped_ms}")
    else:
        lines.append("TimeStampOfLastShippedOp=0, No Ops shipped since last restart")
    lines.append(f"SizeOfLogQueue={source.queued_logs}")
    lines.append(f"EditsReadFromLogQueue={source.edits_read}")
    lines.append(f"OpsShippedToTarget={source.operations_shipped}")
    if source.has_edits:
        lines.append(f"TimeStampOfNextToReplicate={source.next_ms}")
    else:
        lines.append("HasEditsSinceRestart=false, No edits for this source since it started")
    return [*lines, f"ReplicationLag={source.lag_ms}"]


def _print_masters(session: Session, load: ClusterLoad, tasks: Iterable[ServerTask]) -> None:
    out = session.out
    out.line(f"active master:  {_address(load.master or '')}")
    for task in tasks:
        out.line(f"    {_described(task)}")
    out.line(f"{len(load.backup_masters)} backup masters")
    for name in load.backup_masters:
        out.line(f"    {_address(name)}")


def _print_dead(session: Session, names: Sequence[str]) -> None:
    session.out.line(f"{len(names)} dead servers")
    for name in names:
        session.out.line(f"    {name}")


def _quoted(full_name: bytes) -> str:
    return inspect_value(show_bytes(full_name).encode())


def _address(name: str) -> str:
    host, _, rest = name.partition(",")
    return f"{host}:{rest.replace(',', ' ')}" if rest else host


def _described(task: ServerTask) -> str:
    ended = -1 if task.ended_ms is None else task.ended_ms
    return (
        f"{task.description}: status={task.status}, state={task.state}, "
        f"startTime={task.started_ms}, completionTime={ended}"
    )


def _server_figures(server: ServerLoad) -> str:
    regions = server.regions

    def total(name: str) -> int:
        return sum(getattr(region, name) for region in regions)

    figures: dict[str, object] = {
        "requestsPerSecond": show_float(server.requests_per_second),
        "numberOfOnlineRegions": len(regions),
        "usedHeapMB": f"{server.heap_used_mb}.0MB",
        "maxHeapMB": f"{server.heap_max_mb}.0MB",
        "numberOfStores": total("stores"),
        "numberOfStorefiles": total("store_files"),
        "storeRefCount": total("references"),
        "maxCompactedStoreFileRefCount": max(
            (region.most_compacted_references for region in regions), default=0
        ),
        "storefileUncompressedSizeMB": total("uncompressed_mb"),
        "storefileSizeMB": total("size_mb"),
        "compressionRatio": _ratio(total("size_mb"), total("uncompressed_mb")),
        "memstoreSizeMB": total("memory_mb"),
        "readRequestsCount": total("reads"),
        "filteredReadRequestsCount": total("filtered_reads"),
        "writeRequestsCount": total("writes"),
        "rootIndexSizeKB": total("root_index_kb"),
        "totalStaticIndexSizeKB": total("index_kb"),
        # HBase adds up whole megabytes here, whatever the name suggests.
        "totalStaticBloomSizeKB": sum(region.bloom_kb // 1024 for region in regions),
        "totalCompactingKVs": total("compacting_cells"),
        "currentCompactedKVs": total("compacted_cells"),
        "compactionProgressPct": _progress(total("compacted_cells"), total("compacting_cells")),
        "coprocessors": f"[{', '.join(server.coprocessors)}]",
    }
    return _joined(figures)


def _region_figures(region: RegionLoad) -> str:
    return _joined(
        {
            "storeCount": region.stores,
            "storeFileCount": region.store_files,
            "storeRefCount": region.references,
            "maxCompactedStoreFileRefCount": region.most_compacted_references,
            "uncompressedStoreFileSize": f"{region.uncompressed_mb}.0MB",
            "lastMajorCompactionTimestamp": region.last_major_compaction_ms,
            "storeFileSize": f"{region.size_mb}.0MB",
            "compressionRatio": _ratio(region.size_mb, region.uncompressed_mb),
            "memStoreSize": f"{region.memory_mb}.0MB",
            "readRequestCount": region.reads,
            "writeRequestCount": region.writes,
            "rootLevelIndexSize": f"{region.root_index_kb}.0KB",
            "uncompressedDataIndexSize": f"{region.index_kb}.0KB",
            "bloomFilterSize": f"{region.bloom_kb}.0KB",
            "compactingCellCount": region.compacting_cells,
            "compactedCellCount": region.compacted_cells,
            "compactionProgressPct": _progress(region.compacted_cells, region.compacting_cells),
            "completedSequenceId": region.sequence_id,
            "dataLocality": _float32(region.locality),
            "dataLocalityForSsd": _float32(region.ssd_locality),
            "blocksLocalWeight": region.local_weight,
            "blocksLocalWithSsdWeight": region.local_ssd_weight,
            "blocksTotalWeight": region.total_weight,
            "compactionState": region.compaction,
            "regionSizeMB": f"{region.region_mb}.0MB",
            "currentRegionCachedRatio": _float32(region.cached_ratio),
        }
    )


def _print_embedded(session: Session, *, with_regions: bool) -> None:
    report = session.store.admin.report()
    out = session.out
    out.line(f"active master:  {report.master}")
    out.line("0 backup masters")
    out.line(f"{len(report.servers)} live servers")
    for server in report.servers:
        out.line(f"    {server.name}")
        out.line(f"        {_embedded_figures(server)}")
        if with_regions:
            for region in session.store.admin.regions():
                out.line(f"        {_quoted(region.full_name)}")
                out.line(f"            {_embedded_region_figures(region)}")
    _print_dead(session, report.dead_servers)
    if not with_regions:
        regions = sum(server.regions for server in report.servers)
        out.line(f"Aggregate load: 0, regions: {regions}")


def _embedded_figures(server: RegionServer) -> str:
    return _joined(
        {
            "numberOfOnlineRegions": server.regions,
            "numberOfStorefiles": server.store_files,
            "storefileSizeMB": _megabytes(server.size_bytes),
            "memstoreSizeMB": _megabytes(server.memory_bytes),
        }
    )


def _embedded_region_figures(region: Region) -> str:
    return _joined(
        {
            "storeFileCount": region.store_files,
            "storeFileSize": _megabytes(region.size_bytes),
            "memStoreSize": _megabytes(region.memory_bytes),
            "dataLocality": region.locality,
        }
    )


def _joined(figures: dict[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in figures.items() if value is not None)


def _megabytes(size: int | None) -> int | None:
    return None if size is None else -(-size // 2**20)


def _ratio(size: int, uncompressed: int) -> str | None:
    return f"{size / uncompressed:.4f}" if uncompressed else None


def _progress(done: int, whole: int) -> str:
    return _float32(done / whole) if whole else "NaN"


def _float32(value: float) -> str:
    """Returns a number of four bytes with as few digits as distinguish it from its neighbours."""
    (exact,) = struct.unpack("f", struct.pack("f", value))
    for digits in range(1, 10):
        short = float(f"{exact:.{digits}g}")
        if struct.pack("f", short) == struct.pack("f", exact):
            return show_float(short)
    return show_float(exact)
