"""Region servers in and out of service, and the maintenance of single servers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import get_args

from webtable.errors import InvalidRequest, NotFound, Timeout
from webtable.store.admin import check_regions
from webtable.store.admin_results import Region
from webtable.store.cluster_activity import CacheCleared, CompactionQueue
from webtable.store.hbase.admin.master_client import MasterClient, wait_for
from webtable.store.hbase.admin.region_list import RegionList, ServerId
from webtable.store.hbase.admin.servers import ServerAdmin, names_as_list
from webtable.store.hbase.proto import admin_pb2, base_pb2, chores_pb2, status_pb2
from webtable.store.hbase.retry import is_untouched
from webtable.store.hbase.wire.errors_and_responses import ConnectionLost, RpcError

__all__ = ["ServerMaintenance"]


class ServerMaintenance:
    """Maintains single servers; see `ClusterAdmin` for the contract of each method."""

    def __init__(self, master: MasterClient, regions: RegionList, servers: ServerAdmin) -> None:
        self._master = master
        self._regions = regions
        self._servers = servers

    # Through the master

    def decommissioned(self) -> list[str]:
        """Returns the servers that get no regions; see `ClusterAdmin.decommissioned`."""
        request = chores_pb2.ListDecommissionedRegionServersRequest()
        kind = chores_pb2.ListDecommissionedRegionServersResponse
        response = self._master.query("ListDecommissionedRegionServers", request, kind)
        return sorted(str(ServerId.of(each)) for each in response.server_name)

    def decommission(self, servers: Iterable[str], *, offload: bool = False) -> None:
        """Gives servers no more regions; see `ClusterAdmin.decommission`."""
        self._master.check_writable()
        chosen = self._servers.chosen(servers)
        if not chosen:
            raise InvalidRequest("no server is named", hint="`servers` lists them")
        request = chores_pb2.DecommissionRegionServersRequest(
            server_name=[each.message() for each in chosen], offload=offload
        )
        kind = chores_pb2.DecommissionRegionServersResponse
        self._master.call(
            "DecommissionRegionServers", request, kind, self._master.change_attempts()
        )

    def recommission(self, server: str, regions: Sequence[str | Region] = ()) -> None:
        """Lets a server have regions again; see `ClusterAdmin.recommission`."""
        self._master.check_writable()
        rows = [self._regions.find(each) for each in check_regions(regions)]
        request = chores_pb2.RecommissionRegionServerRequest(
            server_name=self._servers.live_server(server).message(),
            region=[row.specifier for row in rows],
        )
        kind = chores_pb2.RecommissionRegionServerResponse
        self._master.call("RecommissionRegionServer", request, kind, self._master.change_attempts())

    def clear_dead_servers(self, servers: Iterable[str] = ()) -> list[str]:
        """Forgets dead servers; see `ClusterAdmin.clear_dead_servers`."""
        self._master.check_writable()
        dead = {
            str(ServerId.of(each)): each
            for each in self._master.cluster_status(status_pb2.DEAD_SERVERS).dead_servers
        }
        names = names_as_list(servers) or list(dead)
        for name in names:
            if name not in dead:
                raise NotFound("dead server", name, dead)
        if not names:
            return []
        request = chores_pb2.ClearDeadServersRequest(server_name=[dead[name] for name in names])
        kind = chores_pb2.ClearDeadServersResponse
        response = self._master.call(
            "ClearDeadServers", request, kind, self._master.change_attempts()
        )
        return sorted(str(ServerId.of(each)) for each in response.server_name)

    def stop_master(self) -> None:
        """Ends the master in charge; see `ClusterAdmin.stop_master`."""
        self._master.check_writable()
        request, kind = chores_pb2.StopMasterRequest(), chores_pb2.StopMasterResponse
        attempts = self._master.cluster.attempts()
        while True:
            try:
                self._master.cluster.call_this_master(
                    "StopMaster", request, kind, attempts.deadline
                )
                return
            except RpcError as exc:
                # Not sent again once a master may have got it: the next master would stop too.
                if isinstance(exc, ConnectionLost) and not is_untouched(exc):
                    return
                attempts.failed(exc)
                if attempts.maybe_applied:
                    raise Timeout(
                        "whether the master stops is unknown", hint="see `report()`"
                    ) from exc

    # At a server itself

    def stop_server(self, server: str) -> None:
        """Ends a region server; see `ClusterAdmin.stop_server`."""
        self._master.check_writable()
        chosen = self._servers.live_server(server)
        attempts = self._master.change_attempts()
        request = admin_pb2.StopServerRequest(reason="requested by a client of WebTable")
        kind = admin_pb2.StopServerResponse
        try:
            self._servers.call(chosen, "StopServer", request, kind, attempts)
        except NotFound:
            if not attempts.maybe_applied:
                raise
        attempts.is_patient = True
        wait_for(
            lambda: chosen not in self._servers.live_servers(), attempts, f"the end of {chosen}"
        )

    def roll_wal(self, server: str) -> None:
        """Begins a new log file; see `ClusterAdmin.roll_wal`."""
        self._master.check_writable()
        request, kind = admin_pb2.RollWALWriterRequest(), admin_pb2.RollWALWriterResponse
        chosen = self._servers.live_server(server)
        self._servers.call(chosen, "RollWALWriter", request, kind, self._master.change_attempts())

    def switch_compactions(self, *, on: bool, servers: Iterable[str] = ()) -> dict[str, bool]:
        """Lets servers compact, or not; see `ClusterAdmin.switch_compactions`."""
        self._master.check_writable()
        request = admin_pb2.CompactionSwitchRequest(enabled=on)
        kind = admin_pb2.CompactionSwitchResponse

        def switch(server: ServerId) -> bool:
            response = self._servers.call(
                server, "CompactionSwitch", request, kind, self._master.change_attempts()
            )
            return response.prev_state

        chosen = self._servers.chosen(servers) or self._servers.live_servers()
        before = self._master.in_parallel(switch, chosen)
        return {str(server): state for server, state in zip(chosen, before, strict=True)}

    def clear_compaction_queues(
        self, server: str, queues: Iterable[CompactionQueue] = ("long", "short")
    ) -> None:
        """Drops the compactions that wait; see `ClusterAdmin.clear_compaction_queues`."""
        self._master.check_writable()
        names = names_as_list(queues)
        queue_names = get_args(CompactionQueue)
        for name in names:
            if name not in queue_names:
                raise InvalidRequest(
                    f"queue {name!r:.60} is not valid", hint=f"one of {', '.join(queue_names)}"
                )
        request = admin_pb2.ClearCompactionQueuesRequest(queue_name=names)
        kind = admin_pb2.ClearCompactionQueuesResponse
        chosen = self._servers.live_server(server)
        self._servers.call(
            chosen, "ClearCompactionQueues", request, kind, self._master.change_attempts()
        )

    def clear_block_cache(self, table: str) -> CacheCleared:
        """Drops what servers keep of a table in memory; see `ClusterAdmin.clear_block_cache`."""
        self._master.check_writable()
        regions: dict[ServerId, list[base_pb2.RegionSpecifier]] = {}
        for row in self._regions.of_enabled_table(table):
            if row.server is not None:
                regions.setdefault(row.server, []).append(row.whole_specifier)
        kind = admin_pb2.ClearRegionBlockCacheResponse

        def clear(server: ServerId) -> admin_pb2.CacheEvictionStats:
            request = admin_pb2.ClearRegionBlockCacheRequest(region=regions[server])
            attempts = self._master.change_attempts(table)
            return self._servers.call(
                server, "ClearRegionBlockCache", request, kind, attempts
            ).stats

        found = self._master.in_parallel(clear, sorted(regions))
        failed = {
            each.region.value.decode("utf-8", "replace"): each.exception.name
            for stats in found
            for each in stats.exception
        }
        return CacheCleared(
            blocks=sum(stats.evicted_blocks for stats in found),
            cache_bytes=sum(stats.max_cache_size for stats in found),
            failed=failed,
        )
