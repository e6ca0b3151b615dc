"""The servers of a cluster as its master sees them, and calls to one of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from google.protobuf.message import Message

from webtable.errors import InvalidRequest, NotFound
from webtable.store.cluster_activity import ClusterLoad, ServerTask
from webtable.store.cluster_values import ClusterReport, RegionInTransition, RegionServer
from webtable.store.hbase.admin.cluster_status import EVERYTHING, cluster_load
from webtable.store.hbase.admin.master_client import MasterClient
from webtable.store.hbase.admin.region_list import MEGABYTE, ServerId
from webtable.store.hbase.cluster.cluster import ADMIN
from webtable.store.hbase.proto import master_pb2, status_pb2
from webtable.store.hbase.retry import Attempts
from webtable.store.hbase.wire.errors import RpcError

__all__ = ["ServerAdmin", "names_as_list"]

M = TypeVar("M", bound=Message)

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


class ServerAdmin:
    """Finds servers and reports on them; see `Admin` for the contract of each method."""

    def __init__(self, master: MasterClient) -> None:
        self._master = master

    def report(self) -> ClusterReport:
        """Returns the cluster as its master sees it; see `Admin.report`."""
        status = self.status(*_REPORTED)
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
        status = self.status(*EVERYTHING)
        moving = tuple(map(self._transition, status.regions_in_transition))
        return cluster_load(status, moving)

    def tasks(self, server: str | None = None) -> list[ServerTask]:
        """Returns what servers do; see `ClusterAdmin.tasks`."""
        chosen = None if server is None else str(self.live_server(server))
        found = self.status(status_pb2.LIVE_SERVERS)
        return [
            task
            for each in cluster_load(found, ()).servers
            if chosen in (None, each.name)
            for task in each.tasks
        ]

    def status(self, *options: status_pb2.Option) -> status_pb2.ClusterStatus:
        """Returns the requested parts of the master's report."""
        request = master_pb2.GetClusterStatusRequest(options=options)
        kind = master_pb2.GetClusterStatusResponse
        return self._master.query("GetClusterStatus", request, kind).cluster_status

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

    # Single servers

    def live_servers(self) -> list[ServerId]:
        """Returns the servers that are alive, by name."""
        # Only the names are needed, but this option works in every version.
        status = self.status(status_pb2.LIVE_SERVERS)
        return sorted(ServerId.of(each.server) for each in status.live_servers)

    def live_server(self, server: str) -> ServerId:
        """Returns a server that is alive by its name or its address.

        Raises:
            NotFound: no server of that name is alive.
        """
        live = self.live_servers()
        for each in live:
            if server in (str(each), f"{each.host},{each.port}", str(each.address)):
                return each
        raise NotFound("server", server, map(str, live))

    def chosen(self, servers: Iterable[str]) -> list[ServerId]:
        """Returns servers that are alive by their names or addresses."""
        return [self.live_server(name) for name in names_as_list(servers)]

    def call(
        self, server: ServerId, method: str, request: Message, kind: type[M], attempts: Attempts
    ) -> M:
        """Calls one server, for as long as the master believes that it is alive.

        Raises:
            NotFound: it is no longer alive.
        """
        deadline = attempts.deadline
        connections = self._master.cluster.connections
        while True:
            try:
                connection = connections.to(server.address, ADMIN, deadline.attempt())
                return connection.call(method, request, kind, deadline.attempt()).message
            except RpcError as exc:
                attempts.failed(exc)
            self.live_server(str(server))


def names_as_list(names: Iterable[str]) -> list[str]:
    """Returns names as a list.

    Raises:
        InvalidRequest: it is a single name, which would be used as a list of its letters.
    """
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InvalidRequest(f"{names!r:.80} is not a list of names", hint="give a list")
    return list(names)


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
