"""The servers of a cluster as its master sees them, and the balancer."""

from __future__ import annotations

from webtable.errors import NotFound, Timeout
from webtable.store.hbase.proto import master_pb2, status_pb2
from webtable.store.hbase.region_rows import MEGABYTE, RegionRows, ServerId
from webtable.store.load import Balanced, ClusterReport, RegionInTransition, RegionServer

__all__ = ["ServerWork"]

_ALL = (
    status_pb2.HBASE_VERSION,
    status_pb2.CLUSTER_ID,
    status_pb2.LIVE_SERVERS,
    status_pb2.DEAD_SERVERS,
    status_pb2.MASTER,
    status_pb2.BACKUP_MASTERS,
    status_pb2.REGIONS_IN_TRANSITION,
    status_pb2.BALANCER_ON,
)


class ServerWork(RegionRows):
    """Asks the master about servers, and for balance between them."""

    def report(self) -> ClusterReport:
        """Returns the cluster as its master sees it; see `Admin.report`."""
        status = self._status(*_ALL)
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

    def switch_balancer(self, *, on: bool) -> bool:
        """Switches the balancer; see `Admin.switch_balancer`."""
        self._check_writable()
        # Synchronous: when it returns, no run that began before is under way.
        request = master_pb2.SetBalancerRunningRequest(on=on, synchronous=True)
        kind = master_pb2.SetBalancerRunningResponse
        answer = self._call("SetBalancerRunning", request, kind, self._attempts())
        return answer.prev_balance_value

    def balance(self, *, dry_run: bool = False, ignore_transitions: bool = False) -> Balanced:
        """Runs the balancer once; see `Admin.balance`."""
        self._check_writable()
        request = master_pb2.BalanceRequest(dry_run=dry_run, ignore_rit=ignore_transitions)
        kind = master_pb2.BalanceResponse
        try:
            answer = self._call("Balance", request, kind, self._attempts())
        except Timeout as exc:
            hint = "it goes on in the cluster; see where the regions are"
            raise Timeout("balancing is not done in time", hint=hint) from exc
        return Balanced(
            has_run=answer.balancer_ran,
            moves_planned=answer.moves_calculated if answer.HasField("moves_calculated") else None,
            moves_made=answer.moves_executed if answer.HasField("moves_executed") else None,
        )

    def _status(self, *options: status_pb2.Option) -> status_pb2.ClusterStatus:
        request = master_pb2.GetClusterStatusRequest(options=options)
        kind = master_pb2.GetClusterStatusResponse
        attempts = self._cluster.attempts()
        answer = self._cluster.call_master("GetClusterStatus", request, kind, attempts)
        return answer.cluster_status

    def _transition(self, found: status_pb2.RegionInTransition) -> RegionInTransition:
        state = found.region_state
        table = state.region_info.table_name
        full = table.qualifier
        if table.namespace != b"default":
            full = b"%b:%b" % (table.namespace, table.qualifier)
        return RegionInTransition(
            region=found.spec.value.decode("utf-8", "replace"),
            table=self._shown(full),
            state=status_pb2.RegionState.State.Name(state.state),
            since_ms=state.stamp or None,
        )

    def _live_servers(self) -> list[ServerId]:
        # Only the names are wanted, but this option works in every version.
        status = self._status(status_pb2.LIVE_SERVERS)
        return sorted(ServerId.of(each.server) for each in status.live_servers)

    def _live_server(self, server: str) -> ServerId:
        """Returns a server that is alive by its name or its address.

        Raises:
            NotFound: there is none.
        """
        live = self._live_servers()
        for each in live:
            if server in (str(each), f"{each.host},{each.port}", str(each.address)):
                return each
        raise NotFound("server", server, map(str, live))


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
