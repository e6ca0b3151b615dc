"""The administration of a cluster: one object for each area, all of which call one master client.

`HBaseAdmin` offers the methods of all areas, as `Admin` does; each method is one call of its area,
which is documented there. An area gets the other areas that it needs when it is constructed:

    MasterClient ── NamespaceAdmin ── TableAdmin ── RegionList ─┬─ RegionMaintenance ── RegionAdmin
         │                └──────────────┴── SnapshotAdmin      └─ ServerMaintenance
         ├── ChoreAdmin (needs NamespaceAdmin)
         └── ServerAdmin ── ServerLogs, ClusterStatus
"""

# ruff: noqa: D102 - the methods have their contract in store/admin.py and store/cluster_admin.py

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from webtable.store.admin import Admin
from webtable.store.cluster_activity import ZooKeeperReport
from webtable.store.hbase.admin.cluster_status import ClusterStatus
from webtable.store.hbase.admin.master_chores import ChoreAdmin
from webtable.store.hbase.admin.master_client import MasterClient
from webtable.store.hbase.admin.move_split_merge_regions import RegionAdmin
from webtable.store.hbase.admin.namespaces import NamespaceAdmin
from webtable.store.hbase.admin.region_list import RegionList
from webtable.store.hbase.admin.region_maintenance import RegionMaintenance
from webtable.store.hbase.admin.server_logs import ServerLogs
from webtable.store.hbase.admin.server_maintenance import ServerMaintenance
from webtable.store.hbase.admin.servers import ServerAdmin
from webtable.store.hbase.admin.snapshots import SnapshotAdmin
from webtable.store.hbase.admin.tables import TableAdmin
from webtable.store.hbase.admin.zk_status import zookeeper_report

__all__ = ["HBaseAdmin"]

A = TypeVar("A")
P = ParamSpec("P")
R = TypeVar("R")


def _of(
    area: type[A], method: Callable[Concatenate[A, P], R]
) -> Callable[Concatenate[HBaseAdmin, P], R]:
    """Returns a method of `HBaseAdmin` that calls the method of one of its areas."""

    @functools.wraps(method)
    def call(admin: HBaseAdmin, /, *args: P.args, **options: P.kwargs) -> R:
        return method(admin.areas[area], *args, **options)

    return call


class HBaseAdmin(Admin):
    """What an engine on a cluster can do beyond rows. Safe to use from many threads."""

    def __init__(self, master: MasterClient) -> None:
        self._master = master
        namespaces = NamespaceAdmin(master)
        self.tables = tables = TableAdmin(master, namespaces)
        servers = ServerAdmin(master)
        region_list = RegionList(master, tables)
        maintenance = RegionMaintenance(master, tables, region_list, servers)
        areas = (
            namespaces,
            tables,
            ClusterStatus(master, servers),
            maintenance,
            RegionAdmin(master, region_list, servers, maintenance),
            SnapshotAdmin(master, tables, namespaces),
            ChoreAdmin(master, namespaces),
            ServerMaintenance(master, region_list, servers),
            ServerLogs(master, servers),
        )
        self.areas: dict[type, Any] = {type(area): area for area in areas}

    # Tables

    enable_table = _of(TableAdmin, TableAdmin.enable_table)
    disable_table = _of(TableAdmin, TableAdmin.disable_table)
    is_enabled = _of(TableAdmin, TableAdmin.is_enabled)

    # Namespaces

    namespaces = _of(NamespaceAdmin, NamespaceAdmin.namespaces)
    create_namespace = _of(NamespaceAdmin, NamespaceAdmin.create_namespace)
    drop_namespace = _of(NamespaceAdmin, NamespaceAdmin.drop_namespace)
    namespace_properties = _of(NamespaceAdmin, NamespaceAdmin.namespace_properties)
    alter_namespace = _of(NamespaceAdmin, NamespaceAdmin.alter_namespace)

    # Regions: moves, splits, merges, assignment

    move = _of(RegionAdmin, RegionAdmin.move)
    split = _of(RegionAdmin, RegionAdmin.split)
    split_region = _of(RegionAdmin, RegionAdmin.split_region)
    merge = _of(RegionAdmin, RegionAdmin.merge)
    assign = _of(RegionAdmin, RegionAdmin.assign)
    unassign = _of(RegionAdmin, RegionAdmin.unassign)
    truncate_region = _of(RegionAdmin, RegionAdmin.truncate_region)

    # Regions: sizes, flushes, compactions

    regions = _of(RegionMaintenance, RegionMaintenance.regions)
    region = _of(RegionMaintenance, RegionMaintenance.region)
    stats = _of(RegionMaintenance, RegionMaintenance.stats)
    flush = _of(RegionMaintenance, RegionMaintenance.flush)
    flush_region = _of(RegionMaintenance, RegionMaintenance.flush_region)
    flush_server = _of(RegionMaintenance, RegionMaintenance.flush_server)
    compact = _of(RegionMaintenance, RegionMaintenance.compact)
    compact_region = _of(RegionMaintenance, RegionMaintenance.compact_region)
    compaction_state = _of(RegionMaintenance, RegionMaintenance.compaction_state)

    # Snapshots

    snapshots = _of(SnapshotAdmin, SnapshotAdmin.snapshots)
    take_snapshot = _of(SnapshotAdmin, SnapshotAdmin.take_snapshot)
    restore_snapshot = _of(SnapshotAdmin, SnapshotAdmin.restore_snapshot)
    clone_snapshot = _of(SnapshotAdmin, SnapshotAdmin.clone_snapshot)
    delete_snapshot = _of(SnapshotAdmin, SnapshotAdmin.delete_snapshot)

    # The balancer and other chores of the master

    switch_balancer = _of(ChoreAdmin, ChoreAdmin.switch_balancer)
    balance = _of(ChoreAdmin, ChoreAdmin.balance)
    is_switched_on = _of(ChoreAdmin, ChoreAdmin.is_switched_on)
    switch = _of(ChoreAdmin, ChoreAdmin.switch)
    normalize = _of(ChoreAdmin, ChoreAdmin.normalize)
    run_catalog_janitor = _of(ChoreAdmin, ChoreAdmin.run_catalog_janitor)
    run_cleaner = _of(ChoreAdmin, ChoreAdmin.run_cleaner)
    run_hbck = _of(ChoreAdmin, ChoreAdmin.run_hbck)
    flush_master_store = _of(ChoreAdmin, ChoreAdmin.flush_master_store)
    is_in_maintenance = _of(ChoreAdmin, ChoreAdmin.is_in_maintenance)

    # The cluster and the load of its servers

    report = _of(ClusterStatus, ClusterStatus.report)
    load = _of(ClusterStatus, ClusterStatus.load)
    tasks = _of(ClusterStatus, ClusterStatus.tasks)

    # Servers: in and out of service, maintenance

    stop_master = _of(ServerMaintenance, ServerMaintenance.stop_master)
    clear_block_cache = _of(ServerMaintenance, ServerMaintenance.clear_block_cache)
    decommissioned = _of(ServerMaintenance, ServerMaintenance.decommissioned)
    decommission = _of(ServerMaintenance, ServerMaintenance.decommission)
    recommission = _of(ServerMaintenance, ServerMaintenance.recommission)
    clear_dead_servers = _of(ServerMaintenance, ServerMaintenance.clear_dead_servers)
    stop_server = _of(ServerMaintenance, ServerMaintenance.stop_server)
    roll_wal = _of(ServerMaintenance, ServerMaintenance.roll_wal)
    switch_compactions = _of(ServerMaintenance, ServerMaintenance.switch_compactions)
    clear_compaction_queues = _of(ServerMaintenance, ServerMaintenance.clear_compaction_queues)

    # Logs of servers

    slow_calls = _of(ServerLogs, ServerLogs.slow_calls)
    clear_slow_calls = _of(ServerLogs, ServerLogs.clear_slow_calls)
    balancer_decisions = _of(ServerLogs, ServerLogs.balancer_decisions)
    balancer_rejections = _of(ServerLogs, ServerLogs.balancer_rejections)

    def zookeeper(self) -> ZooKeeperReport:
        return zookeeper_report(self._master)
