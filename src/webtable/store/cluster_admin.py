"""Administration that only a cluster has: switches, chores, snapshots, single servers.

A part of `Admin`, with its contract. An engine that is no cluster inherits these methods, and each
raises an `InvalidRequest`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn

from webtable.errors import InvalidRequest

if TYPE_CHECKING:
    from webtable.store.admin_results import Balanced, Region, Snapshot
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

__all__ = ["ClusterAdmin"]


def _reject(what: str, hint: str = "this needs a cluster: a store at hbase://…") -> NoReturn:
    raise InvalidRequest(f"the embedded store {what}", hint=hint)


class ClusterAdmin:
    """What can be done to a cluster of servers under a master."""

    # Switches and chores of the master

    def is_switched_on(self, switch: Switch) -> bool:
        """Whether the master does something by itself; see `switch`."""
        _reject("has no switches")

    def switch(self, switch: Switch, *, on: bool) -> bool:
        """Lets the master do something by itself, or not; returns whether it did before.

        `balancer` moves regions to level the servers, `normalizer` splits large regions and merges
        small ones, `catalog_janitor` removes what splits and merges leave, `cleaner` removes old
        files and logs, `snapshot_cleanup` expired snapshots; `split` and `merge` are of
        regions, also those that a user requests.
        """
        _reject("has no switches")

    def switch_balancer(self, *, on: bool) -> bool:
        """Lets the cluster move regions by itself, or not; returns whether it did before."""
        _reject("has no balancer", "it is one server; there is nothing to balance")

    def balance(self, *, dry_run: bool = False, ignore_transitions: bool = False) -> Balanced:
        """Runs the balancer once, now.

        Args:
            dry_run: make a plan, and move nothing.
            ignore_transitions: run also while regions are on their way.
        """
        _reject("has no balancer", "it is one server; there is nothing to balance")

    def normalize(
        self, tables: Iterable[str] = (), *, regex: str | None = None, namespace: str | None = None
    ) -> bool:
        """Runs the normalizer on the tables that match all conditions; returns whether it ran."""
        _reject("has no regions to normalize")

    def run_catalog_janitor(self) -> int:
        """Removes what splits and merges left, now; returns how many; -1 when it runs already."""
        _reject("has no catalog janitor")

    def run_cleaner(self) -> bool:
        """Removes old files and logs, now; returns whether it ran and could remove all."""
        _reject("has no cleaner: old files go by themselves")

    def run_hbck(self) -> bool:
        """Looks for regions that are lost or in two places; False when that is under way already.

        What it finds is in the master's log and on its web page.
        """
        _reject("has no regions that could be lost")

    def flush_master_store(self) -> None:
        """Writes what the master itself has in memory to files."""
        _reject("has no master")

    def is_in_maintenance(self) -> bool:
        """Whether the master was started for repairs only."""
        _reject("has no master")

    def stop_master(self) -> None:
        """Stops the active master. A backup master takes over; region servers go on."""
        _reject("has no master")

    # Single regions

    def assign(self, region: str | Region) -> None:
        """Lets a server open a region that is out of service.

        Raises:
            InvalidRequest: it is in service.
        """
        _reject("assigns no regions")

    def unassign(self, region: str | Region) -> None:
        """Takes a region out of service until it is assigned; its rows cannot be reached.

        Raises:
            InvalidRequest: it is out of service.
        """
        _reject("assigns no regions")

    def truncate_region(self, region: str | Region) -> None:
        """Removes all rows of a region; the region stays."""
        _reject("truncates no regions")

    def clear_block_cache(self, table: str) -> CacheCleared:
        """Drops what the servers of a table keep of its files in memory."""
        _reject("has one cache for all tables, which empties itself")

    # Region servers

    def load(self) -> ClusterLoad:
        """Returns everything that the master reports of the servers; `report` is shorter."""
        _reject("is one server")

    def tasks(self, server: str | None = None) -> list[ServerTask]:
        """Returns what the servers do, or one of them, as of their last report."""
        _reject("has no tasks")

    def decommissioned(self) -> list[str]:
        """Returns the names of the servers that get no regions."""
        _reject("is one server")

    def decommission(self, servers: Iterable[str], *, offload: bool = False) -> None:
        """Gives servers no more regions, from now on and after a start of the master.

        Args:
            offload: also move their regions away; this goes on after the call.
        """
        _reject("is one server")

    def recommission(self, server: str, regions: Sequence[str | Region] = ()) -> None:
        """Lets a server have regions again, and moves some to it; this goes on after the call."""
        _reject("is one server")

    def clear_dead_servers(self, servers: Iterable[str] = ()) -> list[str]:
        """Forgets dead servers, or all of them; returns those that are still needed."""
        _reject("is one server")

    def stop_server(self, server: str) -> None:
        """Ends a region server. It closes its regions first, which then open elsewhere."""
        _reject("is one server")

    def roll_wal(self, server: str) -> None:
        """Lets a server begin a new file for its log of writes."""
        _reject("begins new logs by itself")

    def switch_compactions(self, *, on: bool, servers: Iterable[str] = ()) -> dict[str, bool]:
        """Lets servers compact, or stops them; returns whether each did before.

        Until they are started again. None named means all of them.
        """
        _reject("compacts when it has to")

    def clear_compaction_queues(
        self, server: str, queues: Iterable[CompactionQueue] = ("long", "short")
    ) -> None:
        """Drops the compactions that wait on a server."""
        _reject("has no queues of compactions")

    # What servers remember

    def slow_calls(
        self,
        servers: Iterable[str] | None = None,
        *,
        large: bool = False,
        limit: int = 10,
        where: Mapping[str, str] | None = None,
        match_all: bool = False,
    ) -> list[SlowCall]:
        """Returns calls that took servers long, newest first, server by server.

        Servers remember some if `hbase.regionserver.slowlog.buffer.enabled` is set there.

        Args:
            servers: None means all of them.
            large: those with large responses instead.
            limit: how many of each server.
            where: what `region`, `table`, `client` or `user` must be.
            match_all: every one of these must fit, not any.
        """
        _reject("remembers no slow calls")

    def clear_slow_calls(self, servers: Iterable[str] | None = None) -> dict[str, bool]:
        """Lets servers forget slow calls; returns whether each did."""
        _reject("remembers no slow calls")

    def balancer_decisions(self, limit: int = 250) -> list[BalancerDecision]:
        """Returns the balancer's last plans, newest first.

        The master remembers some if `hbase.master.balancer.decision.buffer.enabled` is set there.
        """
        _reject("has no balancer")

    def balancer_rejections(self, limit: int = 250) -> list[BalancerRejection]:
        """Returns why the balancer made no plans, newest first.

        The master remembers some if `hbase.master.balancer.rejection.buffer.enabled` is set there.
        """
        _reject("has no balancer")

    def zookeeper(self) -> ZooKeeperReport:
        """Returns what ZooKeeper has stored about the cluster.

        Raises:
            InvalidRequest: the location names masters, not ZooKeeper.
        """
        _reject("needs no ZooKeeper")

    # Namespaces

    def namespace_properties(self, name: str) -> dict[str, str]:
        """Returns the properties of a namespace, by name.

        Raises:
            NotFound: there is no such namespace.
        """
        _reject("keeps no properties of namespaces")

    def alter_namespace(self, name: str, properties: Mapping[str, str | None]) -> None:
        """Sets properties of a namespace; None removes one. The others stay.

        Raises:
            NotFound: there is no such namespace.
        """
        _reject("keeps no properties of namespaces")

    # Snapshots

    def snapshots(self) -> list[Snapshot]:
        """Returns the snapshots of the tables that this store sees, by name."""
        _reject("takes no snapshots", "write a checkpoint of the whole store")

    def take_snapshot(
        self,
        name: str,
        table: str,
        *,
        flush: bool = True,
        ttl_seconds: int | None = None,
        max_file_size: int | None = None,
    ) -> None:
        """Stores a table as it is now under a name, with almost no space used at first.

        Region by region: writes meanwhile may be in or not.

        Args:
            flush: write what is in memory to files first; else it is not in the snapshot.
            ttl_seconds: after this time the cluster removes it.
            max_file_size: tables cloned from it get this MAX_FILESIZE.

        Raises:
            AlreadyExists: a snapshot of that name exists; names are unique in the cluster.
        """
        _reject("takes no snapshots", "write a checkpoint of the whole store")

    def restore_snapshot(self, name: str, *, with_permissions: bool = False) -> None:
        """Makes the table what it was, schema and regions too; it stays disabled.

        What was written since is lost. A table that was dropped is made again, and enabled.

        Args:
            with_permissions: also restore its permissions, where the cluster enforces any.

        Raises:
            InvalidRequest: the table is enabled.
        """
        _reject("takes no snapshots", "write a checkpoint of the whole store")

    def clone_snapshot(
        self,
        name: str,
        table: str,
        *,
        with_permissions: bool = False,
        file_tracker: str | None = None,
    ) -> None:
        """Makes a new table of a snapshot, enabled; files are shared until they are rewritten.

        Args:
            with_permissions: also restore its permissions, where the cluster enforces any.
            file_tracker: how HBase shall keep the list of its files, such as FILE.

        Raises:
            TableExists: there is a table of that name.
        """
        _reject("takes no snapshots", "write a checkpoint of the whole store")

    def delete_snapshot(self, name: str) -> None:
        """Removes a snapshot; tables are not touched."""
        _reject("takes no snapshots", "write a checkpoint of the whole store")
