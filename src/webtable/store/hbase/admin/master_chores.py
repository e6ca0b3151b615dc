"""The balancer and the other chores of the master: switched on and off, and run at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeVar, get_args

from google.protobuf.message import Message

from webtable.errors import InvalidRequest, Timeout
from webtable.store.admin import check_namespace_name
from webtable.store.admin_results import Balanced
from webtable.store.cluster_activity import Switch
from webtable.store.hbase.admin.master_client import MasterClient, on_rejection
from webtable.store.hbase.admin.namespaces import NamespaceAdmin
from webtable.store.hbase.cluster.cluster import HBCK
from webtable.store.hbase.proto import chores_pb2, master_pb2
from webtable.store.hbase.wire.errors_and_responses import RemoteError, RpcError

__all__ = ["ChoreAdmin"]

M = TypeVar("M", bound=Message)
_SPLIT, _MERGE = chores_pb2.SPLIT, chores_pb2.MERGE


class _Calls(NamedTuple):
    """The two calls of a switch, and the fields of their responses."""

    set_method: str
    set_kind: type[Message]
    before: str
    get_method: str
    get_request: Message
    get_kind: type[Message]
    is_on: str = "enabled"


_CALLS: dict[Switch, _Calls] = {
    "catalog_janitor": _Calls(
        "EnableCatalogJanitor",
        chores_pb2.EnableCatalogJanitorResponse,
        "prev_value",
        "IsCatalogJanitorEnabled",
        chores_pb2.IsCatalogJanitorEnabledRequest(),
        chores_pb2.IsCatalogJanitorEnabledResponse,
        "value",
    ),
    "cleaner": _Calls(
        "SetCleanerChoreRunning",
        chores_pb2.SetCleanerChoreRunningResponse,
        "prev_value",
        "IsCleanerChoreEnabled",
        chores_pb2.IsCleanerChoreEnabledRequest(),
        chores_pb2.IsCleanerChoreEnabledResponse,
        "value",
    ),
    "normalizer": _Calls(
        "SetNormalizerRunning",
        chores_pb2.SetNormalizerRunningResponse,
        "prev_normalizer_value",
        "IsNormalizerEnabled",
        chores_pb2.IsNormalizerEnabledRequest(),
        chores_pb2.IsNormalizerEnabledResponse,
    ),
    "snapshot_cleanup": _Calls(
        "SwitchSnapshotCleanup",
        chores_pb2.SetSnapshotCleanupResponse,
        "prev_snapshot_cleanup",
        "IsSnapshotCleanupEnabled",
        chores_pb2.IsSnapshotCleanupEnabledRequest(),
        chores_pb2.IsSnapshotCleanupEnabledResponse,
    ),
    "split": _Calls(
        "SetSplitOrMergeEnabled",
        chores_pb2.SetSplitOrMergeEnabledResponse,
        "prev_value",
        "IsSplitOrMergeEnabled",
        chores_pb2.IsSplitOrMergeEnabledRequest(switch_type=_SPLIT),
        chores_pb2.IsSplitOrMergeEnabledResponse,
    ),
    "merge": _Calls(
        "SetSplitOrMergeEnabled",
        chores_pb2.SetSplitOrMergeEnabledResponse,
        "prev_value",
        "IsSplitOrMergeEnabled",
        chores_pb2.IsSplitOrMergeEnabledRequest(switch_type=_MERGE),
        chores_pb2.IsSplitOrMergeEnabledResponse,
    ),
}


class ChoreAdmin:
    """Switches and runs the chores of the master; see `Admin` for the contract."""

    def __init__(self, master: MasterClient, namespaces: NamespaceAdmin) -> None:
        self._master = master
        self._namespaces = namespaces

    # The balancer

    def switch_balancer(self, *, on: bool) -> bool:
        """Switches the balancer; see `Admin.switch_balancer`."""
        self._master.check_writable()
        # Synchronous: when it returns, no run that began before is under way.
        request = master_pb2.SetBalancerRunningRequest(on=on, synchronous=True)
        kind = master_pb2.SetBalancerRunningResponse
        response = self._master.call(
            "SetBalancerRunning", request, kind, self._master.change_attempts()
        )
        return response.prev_balance_value

    def balance(self, *, dry_run: bool = False, ignore_transitions: bool = False) -> Balanced:
        """Runs the balancer once; see `Admin.balance`."""
        self._master.check_writable()
        request = master_pb2.BalanceRequest(dry_run=dry_run, ignore_rit=ignore_transitions)
        kind = master_pb2.BalanceResponse
        try:
            response = self._master.call("Balance", request, kind, self._master.change_attempts())
        except Timeout as exc:
            hint = "it goes on in the cluster; see where the regions are"
            raise Timeout("balancing is not done in time", hint=hint) from exc
        return Balanced(
            has_run=response.balancer_ran,
            moves_planned=response.moves_calculated
            if response.HasField("moves_calculated")
            else None,
            moves_made=response.moves_executed if response.HasField("moves_executed") else None,
        )

    # Switches and chores

    def is_switched_on(self, switch: Switch) -> bool:
        """Whether the master does something by itself; see `ClusterAdmin.is_switched_on`."""
        _check_switch(switch)
        if switch == "balancer":
            request = chores_pb2.IsBalancerEnabledRequest()
            kind = chores_pb2.IsBalancerEnabledResponse
            return self._master.query("IsBalancerEnabled", request, kind).enabled
        calls = _CALLS[switch]
        response = self._master.query(calls.get_method, calls.get_request, calls.get_kind)
        return bool(getattr(response, calls.is_on))

    def switch(self, switch: Switch, *, on: bool) -> bool:
        """Switches something on or off; see `ClusterAdmin.switch`."""
        _check_switch(switch)
        if switch == "balancer":
            return self.switch_balancer(on=on)
        calls = _CALLS[switch]
        response = self._change(calls.set_method, _set_request(switch, on=on), calls.set_kind)
        before = getattr(response, calls.before)
        return bool(before) if isinstance(before, bool) else bool(before[0])

    def _change(self, method: str, request: Message, kind: type[M]) -> M:
        self._master.check_writable()
        return self._master.call(method, request, kind, self._master.change_attempts())

    def normalize(
        self, tables: Iterable[str] = (), *, regex: str | None = None, namespace: str | None = None
    ) -> bool:
        """Runs the normalizer; see `ClusterAdmin.normalize`."""
        self._master.check_writable()
        if isinstance(tables, str):
            raise InvalidRequest(f"tables {tables!r:.80} is not a list", hint="give a list")
        if namespace is not None:
            check_namespace_name(namespace)
        only = self._master.names.only
        if only is not None and namespace not in (None, only):
            raise InvalidRequest(
                f"namespace '{namespace}' is not the namespace '{only}' of this store",
                hint="leave out '?namespace=' to reach every table of the cluster",
            )
        space = namespace or only
        request = chores_pb2.NormalizeRequest(regex=regex, namespace=space)
        request.table_names.extend(self._master.name_message(table) for table in tables)
        with on_rejection(
            "NamespaceNotFoundException", lambda _: self._namespaces.not_found(space or "")
        ):
            return self._normalize(request)
        return False

    def _normalize(self, request: chores_pb2.NormalizeRequest) -> bool:
        kind = chores_pb2.NormalizeResponse
        attempts = self._master.change_attempts()
        while True:
            try:
                deadline = attempts.deadline
                found = self._master.cluster.call_this_master("Normalize", request, kind, deadline)
                return found.normalizer_ran
            except RpcError as exc:
                # The class of this exception would otherwise mean that a retry may help.
                if isinstance(exc, RemoteError) and "near index" in exc.detail:
                    raise InvalidRequest(
                        f"{request.regex!r:.80} is not a regular expression of Java",
                        hint=exc.detail,
                    ) from exc
                attempts.failed(exc)

    def run_catalog_janitor(self) -> int:
        """Removes what splits and merges left; see `ClusterAdmin.run_catalog_janitor`."""
        request, kind = chores_pb2.RunCatalogScanRequest(), chores_pb2.RunCatalogScanResponse
        return self._change("RunCatalogScan", request, kind).scan_result

    def run_cleaner(self) -> bool:
        """Removes old files and logs; see `ClusterAdmin.run_cleaner`."""
        request, kind = chores_pb2.RunCleanerChoreRequest(), chores_pb2.RunCleanerChoreResponse
        return self._change("RunCleanerChore", request, kind).cleaner_chore_ran

    def run_hbck(self) -> bool:
        """Looks for regions that are lost; see `ClusterAdmin.run_hbck`."""
        self._master.check_writable()
        request, kind = chores_pb2.RunHbckChoreRequest(), chores_pb2.RunHbckChoreResponse
        attempts = self._master.change_attempts()
        response = self._master.cluster.call_master(
            "RunHbckChore", request, kind, attempts, service=HBCK
        )
        return response.ran

    def flush_master_store(self) -> None:
        """Flushes what the master keeps itself; see `ClusterAdmin.flush_master_store`."""
        request, kind = chores_pb2.FlushMasterStoreRequest(), chores_pb2.FlushMasterStoreResponse
        self._change("FlushMasterStore", request, kind)

    def is_in_maintenance(self) -> bool:
        """Whether the master is there for repairs only; see `ClusterAdmin.is_in_maintenance`."""
        request = chores_pb2.IsInMaintenanceModeRequest()
        kind = chores_pb2.IsInMaintenanceModeResponse
        return self._master.query("IsMasterInMaintenanceMode", request, kind).inMaintenanceMode


def _set_request(switch: Switch, *, on: bool) -> Message:
    if switch == "catalog_janitor":
        return chores_pb2.EnableCatalogJanitorRequest(enable=on)
    if switch == "cleaner":
        return chores_pb2.SetCleanerChoreRunningRequest(on=on)
    if switch == "normalizer":
        return chores_pb2.SetNormalizerRunningRequest(on=on)
    if switch == "snapshot_cleanup":
        return chores_pb2.SetSnapshotCleanupRequest(enabled=on, synchronous=False)
    kind = _SPLIT if switch == "split" else _MERGE
    return chores_pb2.SetSplitOrMergeEnabledRequest(
        enabled=on, synchronous=False, switch_types=[kind]
    )


def _check_switch(switch: Switch) -> None:
    switches = get_args(Switch)
    if switch not in switches:
        raise InvalidRequest(
            f"switch {switch!r:.60} is not valid", hint=f"one of {', '.join(switches)}"
        )
