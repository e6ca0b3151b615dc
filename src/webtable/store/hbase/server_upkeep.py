"""Region servers in and out of service, and what is asked of one of them by itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar, get_args

from google.protobuf.message import Message

from webtable.errors import InvalidRequest, NotFound, Timeout
from webtable.store.admin import check_regions
from webtable.store.cluster_load import CacheCleared, ClusterLoad, CompactionQueue, ServerTask
from webtable.store.hbase.cluster import ADMIN
from webtable.store.hbase.cluster_status import EVERYTHING, cluster_load
from webtable.store.hbase.procedures import wait_for
from webtable.store.hbase.proto import admin_pb2, base_pb2, chores_pb2, status_pb2
from webtable.store.hbase.region_rows import ServerId
from webtable.store.hbase.retry import Attempts, is_untouched
from webtable.store.hbase.switches import SwitchWork
from webtable.store.hbase.wire import ConnectionLost, RpcError
from webtable.store.load import Region

__all__ = ["ServerUpkeep"]

M = TypeVar("M", bound=Message)


class ServerUpkeep(SwitchWork):
    """Looks after single servers; see `ClusterAdmin` for what each call does."""

    # Servers as the master knows them

    def load(self) -> ClusterLoad:
        """Returns everything about servers; see `ClusterAdmin.load`."""
        status = self._status(*EVERYTHING)
        moving = tuple(map(self._transition, status.regions_in_transition))
        return cluster_load(status, moving)

    def tasks(self, server: str | None = None) -> list[ServerTask]:
        """Returns what servers do; see `ClusterAdmin.tasks`."""
        chosen = None if server is None else str(self._live_server(server))
        found = self._status(status_pb2.LIVE_SERVERS)
        return [
            task
            for each in cluster_load(found, ()).servers
            if chosen in (None, each.name)
            for task in each.tasks
        ]

    def decommissioned(self) -> list[str]:
        """Returns the servers that get no regions; see `ClusterAdmin.decommissioned`."""
        request = chores_pb2.ListDecommissionedRegionServersRequest()
        kind = chores_pb2.ListDecommissionedRegionServersResponse
        answer = self._question("ListDecommissionedRegionServers", request, kind)
        return sorted(str(ServerId.of(each)) for each in answer.server_name)

    def decommission(self, servers: Iterable[str], *, offload: bool = False) -> None:
        """Gives servers no more regions; see `ClusterAdmin.decommission`."""
        self._check_writable()
        chosen = self._chosen(servers)
        if not chosen:
            raise InvalidRequest("no server is named", hint="`servers` lists them")
        request = chores_pb2.DecommissionRegionServersRequest(
            server_name=[each.message() for each in chosen], offload=offload
        )
        kind = chores_pb2.DecommissionRegionServersResponse
        self._call("DecommissionRegionServers", request, kind, self._attempts())

    def recommission(self, server: str, regions: Sequence[str | Region] = ()) -> None:
        """Lets a server have regions again; see `ClusterAdmin.recommission`."""
        self._check_writable()
        rows = [self._find(each) for each in check_regions(regions)]
        request = chores_pb2.RecommissionRegionServerRequest(
            server_name=self._live_server(server).message(),
            region=[row.specifier for row in rows],
        )
        kind = chores_pb2.RecommissionRegionServerResponse
        self._call("RecommissionRegionServer", request, kind, self._attempts())

    def clear_dead_servers(self, servers: Iterable[str] = ()) -> list[str]:
        """Forgets dead servers; see `ClusterAdmin.clear_dead_servers`."""
        self._check_writable()
        dead = {
            str(ServerId.of(each)): each
            for each in self._status(status_pb2.DEAD_SERVERS).dead_servers
        }
        names = _names(servers) or list(dead)
        for name in names:
            if name not in dead:
                raise NotFound("dead server", name, dead)
        if not names:
            return []
        request = chores_pb2.ClearDeadServersRequest(server_name=[dead[name] for name in names])
        kind = chores_pb2.ClearDeadServersResponse
        answer = self._call("ClearDeadServers", request, kind, self._attempts())
        return sorted(str(ServerId.of(each)) for each in answer.server_name)

    def stop_master(self) -> None:
        """Ends the master in charge; see `ClusterAdmin.stop_master`."""
        self._check_writable()
        request, kind = chores_pb2.StopMasterRequest(), chores_pb2.StopMasterResponse
        attempts = self._cluster.attempts()
        while True:
            try:
                self._cluster.call_this_master("StopMaster", request, kind, attempts.deadline)
                return
            except RpcError as exc:
                # Never again once it may have been heard: it would end the one that took over.
                if isinstance(exc, ConnectionLost) and not is_untouched(exc):
                    return
                attempts.failed(exc)
                if attempts.maybe_applied:
                    raise Timeout(
                        "whether the master stops is not known", hint="see `report()`"
                    ) from exc

    # One server itself

    def stop_server(self, server: str) -> None:
        """Ends a region server; see `ClusterAdmin.stop_server`."""
        self._check_writable()
        chosen = self._live_server(server)
        attempts = self._attempts()
        request = admin_pb2.StopServerRequest(reason="asked for by a client of WebTable")
        kind = admin_pb2.StopServerResponse
        try:
            self._on_server(chosen, "StopServer", request, kind, attempts)
        except NotFound:
            if not attempts.maybe_applied:
                raise
        attempts.is_patient = True
        wait_for(lambda: chosen not in self._live_servers(), attempts, f"the end of {chosen}")

    def roll_wal(self, server: str) -> None:
        """Begins a new log file; see `ClusterAdmin.roll_wal`."""
        self._check_writable()
        request, kind = admin_pb2.RollWALWriterRequest(), admin_pb2.RollWALWriterResponse
        chosen = self._live_server(server)
        self._on_server(chosen, "RollWALWriter", request, kind, self._attempts())

    def switch_compactions(self, *, on: bool, servers: Iterable[str] = ()) -> dict[str, bool]:
        """Lets servers compact, or not; see `ClusterAdmin.switch_compactions`."""
        self._check_writable()
        request = admin_pb2.CompactionSwitchRequest(enabled=on)
        kind = admin_pb2.CompactionSwitchResponse

        def switch(server: ServerId) -> bool:
            answer = self._on_server(server, "CompactionSwitch", request, kind, self._attempts())
            return answer.prev_state

        chosen = self._chosen(servers) or self._live_servers()
        before = self._each(switch, chosen)
        return {str(server): state for server, state in zip(chosen, before, strict=True)}

    def clear_compaction_queues(
        self, server: str, queues: Iterable[CompactionQueue] = ("long", "short")
    ) -> None:
        """Drops the compactions that wait; see `ClusterAdmin.clear_compaction_queues`."""
        self._check_writable()
        names = _names(queues)
        known = get_args(CompactionQueue)
        for name in names:
            if name not in known:
                raise InvalidRequest(
                    f"queue {name!r:.60} is not known", hint=f"one of {', '.join(known)}"
                )
        request = admin_pb2.ClearCompactionQueuesRequest(queue_name=names)
        kind = admin_pb2.ClearCompactionQueuesResponse
        chosen = self._live_server(server)
        self._on_server(chosen, "ClearCompactionQueues", request, kind, self._attempts())

    def clear_block_cache(self, table: str) -> CacheCleared:
        """Drops what servers keep of a table in memory; see `ClusterAdmin.clear_block_cache`."""
        self._check_writable()
        regions: dict[ServerId, list[base_pb2.RegionSpecifier]] = {}
        for row in self._enabled_rows(table):
            if row.server is not None:
                regions.setdefault(row.server, []).append(row.whole_specifier)
        kind = admin_pb2.ClearRegionBlockCacheResponse

        def clear(server: ServerId) -> admin_pb2.CacheEvictionStats:
            request = admin_pb2.ClearRegionBlockCacheRequest(region=regions[server])
            attempts = self._attempts(table)
            return self._on_server(server, "ClearRegionBlockCache", request, kind, attempts).stats

        found = self._each(clear, sorted(regions))
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

    def _chosen(self, servers: Iterable[str]) -> list[ServerId]:
        return [self._live_server(name) for name in _names(servers)]

    def _on_server(
        self, server: ServerId, method: str, request: Message, kind: type[M], attempts: Attempts
    ) -> M:
        """Calls one server, for as long as the master believes that it is alive.

        Raises:
            NotFound: it is no longer.
        """
        deadline = attempts.deadline
        while True:
            try:
                connection = self._cluster.connections.to(server.address, ADMIN, deadline.attempt())
                return connection.call(method, request, kind, deadline.attempt()).message
            except RpcError as exc:
                attempts.failed(exc)
            self._live_server(str(server))


def _names(names: Iterable[str]) -> list[str]:
    """Returns names as a list; a single one is easily given for a list of its letters."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InvalidRequest(f"{names!r:.80} is not a list of names", hint="give a list")
    return list(names)
