"""The logs that servers have in memory: slow calls, and decisions of the balancer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from google.protobuf.message import Message

from webtable.errors import InvalidRequest
from webtable.store.cluster_activity import BalancerDecision, BalancerRejection, SlowCall
from webtable.store.hbase.admin.master_client import MasterClient
from webtable.store.hbase.admin.region_list import ServerId
from webtable.store.hbase.admin.servers import ServerAdmin
from webtable.store.hbase.proto import logs_pb2

__all__ = ["ServerLogs"]

M = TypeVar("M", bound=Message)
_MOST = 2**31 - 1
_JAVA_CLASS = "org.apache.hadoop.hbase.shaded.protobuf.generated.MasterProtos$"
_FIELDS = {
    "region": "region_name",
    "table": "table_name",
    "client": "client_address",
    "user": "user_name",
}


class ServerLogs:
    """Reads the logs of servers; see `ClusterAdmin` for the contract of each method."""

    def __init__(self, master: MasterClient, servers: ServerAdmin) -> None:
        self._master = master
        self._servers = servers

    def slow_calls(
        self,
        servers: Iterable[str] | None = None,
        *,
        large: bool = False,
        limit: int = 10,
        where: Mapping[str, str] | None = None,
        match_all: bool = False,
    ) -> list[SlowCall]:
        """Returns slow calls; see `ClusterAdmin.slow_calls`."""
        kinds = logs_pb2.SlowLogResponseRequest
        request = kinds(
            limit=_checked(limit),
            filter_by_operator=kinds.AND if match_all else kinds.OR,
            log_type=kinds.LARGE_LOG if large else kinds.SLOW_LOG,
        )
        for key, value in (where or {}).items():
            if key not in _FIELDS:
                raise InvalidRequest(
                    f"calls have no {key!r:.60} to look for", hint=f"one of {', '.join(_FIELDS)}"
                )
            setattr(request, _FIELDS[key], value)
        method = "GetLargeLogResponses" if large else "GetSlowLogResponses"
        kind = logs_pb2.SlowLogResponses

        def read(server: ServerId) -> logs_pb2.SlowLogResponses:
            return self._servers.call(
                server, method, request, kind, self._master.cluster.attempts()
            )

        found = self._master.in_parallel(read, self._chosen(servers))
        return [_call(each) for response in found for each in response.slow_log_payloads]

    def clear_slow_calls(self, servers: Iterable[str] | None = None) -> dict[str, bool]:
        """Lets servers forget; see `ClusterAdmin.clear_slow_calls`."""
        self._master.check_writable()
        request, kind = logs_pb2.ClearSlowLogResponseRequest(), logs_pb2.ClearSlowLogResponses

        def clear(server: ServerId) -> bool:
            attempts = self._master.change_attempts()
            response = self._servers.call(server, "ClearSlowLogsResponses", request, kind, attempts)
            return response.is_cleaned

        chosen = self._chosen(servers)
        done = self._master.in_parallel(clear, chosen)
        return {str(server): state for server, state in zip(chosen, done, strict=True)}

    def balancer_decisions(self, limit: int = 250) -> list[BalancerDecision]:
        """Returns the balancer's last plans; see `ClusterAdmin.balancer_decisions`."""
        request = logs_pb2.BalancerDecisionsRequest(limit=_checked(limit))
        response = self._log_entries(request, logs_pb2.BalancerDecisionsResponse)
        return [
            BalancerDecision(
                costs_before=each.initial_function_costs,
                costs_after=each.final_function_costs,
                total_before=each.init_total_cost,
                total_after=each.computed_total_cost,
                steps=each.computed_steps,
                moves=tuple(each.region_plans),
            )
            for each in response.balancer_decision
        ]

    def balancer_rejections(self, limit: int = 250) -> list[BalancerRejection]:
        """Returns why it made no plans; see `ClusterAdmin.balancer_rejections`."""
        request = logs_pb2.BalancerRejectionsRequest(limit=_checked(limit))
        response = self._log_entries(request, logs_pb2.BalancerRejectionsResponse)
        return [
            BalancerRejection(reason=each.reason, costs=tuple(each.cost_func_info))
            for each in response.balancer_rejection
        ]

    def _log_entries(self, request: Message, kind: type[M]) -> M:
        """Reads a log of the master; request and response are wrapped in messages of their own."""
        wrapped = logs_pb2.LogRequest(
            log_class_name=_JAVA_CLASS + request.DESCRIPTOR.name,
            log_message=request.SerializeToString(),
        )
        found = self._master.query("GetLogEntries", wrapped, logs_pb2.LogEntry)
        return kind.FromString(found.log_message)

    def _chosen(self, servers: Iterable[str] | None) -> list[ServerId]:
        return self._servers.live_servers() if servers is None else self._servers.chosen(servers)


def _checked(limit: int) -> int:
    if isinstance(limit, bool) or not isinstance(limit, int) or not 0 < limit <= _MOST:
        raise InvalidRequest(f"limit {limit!r:.60} is out of range", hint=f"from 1 to {_MOST}")
    return limit


def _call(found: logs_pb2.SlowLogPayload) -> SlowCall:
    return SlowCall(
        started_ms=found.start_time,
        processing_ms=found.processing_time,
        queue_ms=found.queue_time,
        filesystem_ms=found.fs_read_time,
        response_bytes=found.response_size,
        scanned_bytes=found.block_bytes_scanned,
        client=found.client_address,
        service=found.server_class,
        method=found.method_name,
        details=found.call_details,
        parameter=found.param if found.HasField("param") else None,
        user=found.user_name,
        region=found.region_name if found.HasField("region_name") else None,
        gets=found.multi_gets,
        mutations=found.multi_mutations,
        service_calls=found.multi_service_calls,
        kind=logs_pb2.SlowLogPayload.Type.Name(found.type),
        connection_attributes={each.name: each.value for each in found.connection_attribute},
        request_attributes={each.name: each.value for each in found.request_attribute},
    )
