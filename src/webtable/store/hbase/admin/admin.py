"""The administration of a cluster: one object for each area, all of which call one master client.

`HBaseAdmin` offers the methods of all areas, as `Admin` does; each method is one call of its area,
which is documented there. An area gets the other areas that it needs when it is constructed:

    MasterClient ── NamespaceAdmin ── TableAdmin ── RegionList ─┬─ RegionMaintenance ── RegionAdmin
         │                └──────────────┴── SnapshotAdmin      └─ ServerMaintenance
         ├── SwitchAdmin (needs NamespaceAdmin)
         └── ServerAdmin ── ServerLogs
"""

# ruff: noqa: D102 - the methods have their contract in store/admin.py and store/cluster_admin.py

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from webtable.store.admin import Admin
from webtable.store.cluster_activity import (
    BalancerDecision,
    BalancerRejection,
    CacheCleared,
    ClusterLoad,
    CompactionQueue,
    ServerTask,
    SlowCall,
    Switch,
    ZooKeeperReport,
)
from webtable.store.cluster_values import (
    Balanced,
    ClusterReport,
    CompactionState,
    Namespace,
    Region,
    Snapshot,
    TableStats,
)
from webtable.store.hbase.admin.master_client import MasterClient
from webtable.store.hbase.admin.namespaces import NamespaceAdmin
from webtable.store.hbase.admin.region_list import RegionList
from webtable.store.hbase.admin.region_maintenance import RegionMaintenance
from webtable.store.hbase.admin.regions import RegionAdmin
from webtable.store.hbase.admin.server_logs import ServerLogs
from webtable.store.hbase.admin.server_maintenance import ServerMaintenance
from webtable.store.hbase.admin.servers import ServerAdmin
from webtable.store.hbase.admin.snapshots import SnapshotAdmin
from webtable.store.hbase.admin.switches import SwitchAdmin
from webtable.store.hbase.admin.tables import TableAdmin
from webtable.store.hbase.admin.zk_status import zookeeper_report

__all__ = ["HBaseAdmin"]


class HBaseAdmin(Admin):
    """What an engine on a cluster can do beyond rows. Safe to use from many threads."""

    def __init__(self, master: MasterClient) -> None:
        self._master = master
        self._namespaces = NamespaceAdmin(master)
        self.tables = TableAdmin(master, self._namespaces)
        self._servers = ServerAdmin(master)
        region_list = RegionList(master, self.tables)
        self._maintenance = RegionMaintenance(master, self.tables, region_list, self._servers)
        self._regions = RegionAdmin(master, region_list, self._servers, self._maintenance)
        self._snapshots = SnapshotAdmin(master, self.tables, self._namespaces)
        self._switches = SwitchAdmin(master, self._namespaces)
        self._server_maintenance = ServerMaintenance(master, region_list, self._servers)
        self._logs = ServerLogs(master, self._servers)

    # Tables

    def enable_table(self, table: str) -> None:
        self.tables.enable_table(table)

    def disable_table(self, table: str) -> None:
        self.tables.disable_table(table)

    def is_enabled(self, table: str) -> bool:
        return self.tables.is_enabled(table)

    # Namespaces

    def namespaces(self) -> list[Namespace]:
        return self._namespaces.namespaces()

    def create_namespace(self, name: str, properties: Mapping[str, str] | None = None) -> None:
        self._namespaces.create_namespace(name, properties)

    def drop_namespace(self, name: str) -> None:
        self._namespaces.drop_namespace(name)

    def namespace_properties(self, name: str) -> dict[str, str]:
        return self._namespaces.namespace_properties(name)

    def alter_namespace(self, name: str, properties: Mapping[str, str | None]) -> None:
        self._namespaces.alter_namespace(name, properties)

    # Regions: moves, splits, merges, assignment

    def move(self, region: str | Region, server: str | None = None) -> str:
        return self._regions.move(region, server)

    def split(self, table: str, at: bytes | None = None) -> None:
        self._regions.split(table, at)

    def split_region(self, region: str | Region, at: bytes | None = None) -> None:
        self._regions.split_region(region, at)

    def merge(self, regions: Sequence[str | Region]) -> None:
        self._regions.merge(regions)

    def assign(self, region: str | Region) -> None:
        self._regions.assign(region)

    def unassign(self, region: str | Region) -> None:
        self._regions.unassign(region)

    def truncate_region(self, region: str | Region) -> None:
        self._regions.truncate_region(region)

    # Regions: sizes, flushes, compactions

    def regions(self, table: str | None = None, *, server: str | None = None) -> list[Region]:
        return self._maintenance.regions(table, server=server)

    def region(self, name: str) -> Region:
        return self._maintenance.region(name)

    def stats(self, table: str) -> TableStats:
        return self._maintenance.stats(table)

    def flush(self, table: str, family: str | None = None) -> None:
        self._maintenance.flush(table, family)

    def flush_region(self, region: str | Region, family: str | None = None) -> None:
        self._maintenance.flush_region(region, family)

    def flush_server(self, server: str) -> None:
        self._maintenance.flush_server(server)

    def compact(
        self, table: str, family: str | None = None, *, major: bool = False, wait: bool = True
    ) -> None:
        self._maintenance.compact(table, family, major=major, wait=wait)

    def compact_region(
        self,
        region: str | Region,
        family: str | None = None,
        *,
        major: bool = False,
        wait: bool = True,
    ) -> None:
        self._maintenance.compact_region(region, family, major=major, wait=wait)

    def compaction_state(self, table: str) -> CompactionState:
        return self._maintenance.compaction_state(table)

    # Snapshots

    def snapshots(self) -> list[Snapshot]:
        return self._snapshots.snapshots()

    def take_snapshot(
        self,
        name: str,
        table: str,
        *,
        flush: bool = True,
        ttl_seconds: int | None = None,
        max_file_size: int | None = None,
    ) -> None:
        self._snapshots.take_snapshot(
            name, table, flush=flush, ttl_seconds=ttl_seconds, max_file_size=max_file_size
        )

    def restore_snapshot(self, name: str, *, with_permissions: bool = False) -> None:
        self._snapshots.restore_snapshot(name, with_permissions=with_permissions)

    def clone_snapshot(
        self,
        name: str,
        table: str,
        *,
        with_permissions: bool = False,
        file_tracker: str | None = None,
    ) -> None:
        self._snapshots.clone_snapshot(
            name, table, with_permissions=with_permissions, file_tracker=file_tracker
        )

    def delete_snapshot(self, name: str) -> None:
        self._snapshots.delete_snapshot(name)

    # The balancer and other chores of the master

    def switch_balancer(self, *, on: bool) -> bool:
        return self._switches.switch_balancer(on=on)

    def balance(self, *, dry_run: bool = False, ignore_transitions: bool = False) -> Balanced:
        return self._switches.balance(dry_run=dry_run, ignore_transitions=ignore_transitions)

    def is_switched_on(self, switch: Switch) -> bool:
        return self._switches.is_switched_on(switch)

    def switch(self, switch: Switch, *, on: bool) -> bool:
        return self._switches.switch(switch, on=on)

    def normalize(
        self, tables: Iterable[str] = (), *, regex: str | None = None, namespace: str | None = None
    ) -> bool:
        return self._switches.normalize(tables, regex=regex, namespace=namespace)

    def run_catalog_janitor(self) -> int:
        return self._switches.run_catalog_janitor()

    def run_cleaner(self) -> bool:
        return self._switches.run_cleaner()

    def run_hbck(self) -> bool:
        return self._switches.run_hbck()

    def flush_master_store(self) -> None:
        self._switches.flush_master_store()

    def is_in_maintenance(self) -> bool:
        return self._switches.is_in_maintenance()

    # Servers

    def report(self) -> ClusterReport:
        return self._servers.report()

    def load(self) -> ClusterLoad:
        return self._servers.load()

    def tasks(self, server: str | None = None) -> list[ServerTask]:
        return self._servers.tasks(server)

    # Servers: in and out of service, maintenance

    def stop_master(self) -> None:
        self._server_maintenance.stop_master()

    def clear_block_cache(self, table: str) -> CacheCleared:
        return self._server_maintenance.clear_block_cache(table)

    def decommissioned(self) -> list[str]:
        return self._server_maintenance.decommissioned()

    def decommission(self, servers: Iterable[str], *, offload: bool = False) -> None:
        self._server_maintenance.decommission(servers, offload=offload)

    def recommission(self, server: str, regions: Sequence[str | Region] = ()) -> None:
        self._server_maintenance.recommission(server, regions)

    def clear_dead_servers(self, servers: Iterable[str] = ()) -> list[str]:
        return self._server_maintenance.clear_dead_servers(servers)

    def stop_server(self, server: str) -> None:
        self._server_maintenance.stop_server(server)

    def roll_wal(self, server: str) -> None:
        self._server_maintenance.roll_wal(server)

    def switch_compactions(self, *, on: bool, servers: Iterable[str] = ()) -> dict[str, bool]:
        return self._server_maintenance.switch_compactions(on=on, servers=servers)

    def clear_compaction_queues(
        self, server: str, queues: Iterable[CompactionQueue] = ("long", "short")
    ) -> None:
        self._server_maintenance.clear_compaction_queues(server, queues)

    # Logs of servers

    def slow_calls(
        self,
        servers: Iterable[str] | None = None,
        *,
        large: bool = False,
        limit: int = 10,
        where: Mapping[str, str] | None = None,
        match_all: bool = False,
    ) -> list[SlowCall]:
        return self._logs.slow_calls(
            servers, large=large, limit=limit, where=where, match_all=match_all
        )

    def clear_slow_calls(self, servers: Iterable[str] | None = None) -> dict[str, bool]:
        return self._logs.clear_slow_calls(servers)

    def balancer_decisions(self, limit: int = 250) -> list[BalancerDecision]:
        return self._logs.balancer_decisions(limit)

    def balancer_rejections(self, limit: int = 250) -> list[BalancerRejection]:
        return self._logs.balancer_rejections(limit)

    def zookeeper(self) -> ZooKeeperReport:
        return zookeeper_report(self._master)
