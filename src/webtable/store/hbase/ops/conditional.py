"""Many conditional writes at once: a step for each row, many steps in one call of a server.

HBase takes any number of conditional steps in one `Multi`, each an action of its own with a
condition of its own. A server makes the steps of a call one after the other, each with a write of
its log; so several calls are under way at a time, and their log writes go together.

Only what may safely be read again afterwards goes this way: checks that are `unique`, of puts
and deletes. The rest, and every step whose response is missing, is made by a call of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from google.protobuf.message import DecodeError

from webtable.errors import Timeout, WebTableError
from webtable.store.hbase.cluster.cluster import CLIENT, Cluster
from webtable.store.hbase.cluster.meta import Place
from webtable.store.hbase.proto import client_pb2
from webtable.store.hbase.retry import Deadline, is_untouched
from webtable.store.hbase.wire.choose_compiled_connection import Call
from webtable.store.hbase.wire.errors_and_responses import (
    AsBytes,
    NotHBase,
    RpcError,
    Server,
    inner_error,
)
from webtable.store.hbase.wire.requests_and_results import (
    atomic_step,
    condition_bytes,
    has_nonce,
    nonce_group_field,
    region_action,
    region_field,
    varint,
)
from webtable.store.mutation import CheckResult, Conditional, Durability

__all__ = ["ConditionalSteps", "Single"]

CALLS_UNDER_WAY = 8
MOST_STEPS = 100
MOST_BYTES = 1 << 20

Single = Callable[[Conditional, bool], CheckResult]
"""Makes one step by a call of its own; the flag is whether an earlier call may have made it."""


class ConditionalSteps:
    """One bulk call of conditional steps, each of another row."""

    def __init__(
        self, cluster: Cluster, table: str, durability: Durability, single: Single
    ) -> None:
        self._cluster = cluster
        self._full = cluster.names.full(table)
        self._durability = durability
        self._single = single
        self._deadline = cluster.attempts(table).deadline

    def run(self, steps: Sequence[Conditional]) -> list[CheckResult | WebTableError]:
        """Makes the steps; one result or error for each."""
        outcomes: list[CheckResult | WebTableError | None] = [None] * len(steps)
        lost: set[int] = set()
        calls: list[_StepsCall] = []
        for server, placed in self._by_server(steps).items():
            for call in _cut(placed, steps, self._durability):
                calls.append(call)
                call.send(self._cluster, server, self._deadline)
                if len(calls) >= CALLS_UNDER_WAY:
                    calls.pop(0).collect(outcomes, lost, self._deadline.attempt())
        for call in calls:
            call.collect(outcomes, lost, self._deadline.attempt())
        return [
            self._alone(steps[index], index in lost) if outcome is None else outcome
            for index, outcome in enumerate(outcomes)
        ]

    def _alone(self, step: Conditional, is_lost: bool) -> CheckResult | WebTableError:
        if self._deadline.remaining() <= 0:
            error = Timeout(
                f"no time was left for the conditional write to row {step.row!r:.80}",
                hint="try again when the cluster is at rest",
            )
            error.maybe_applied = is_lost
            return error
        try:
            return self._single(step, is_lost)
        except WebTableError as error:
            return error

    def _by_server(self, steps: Sequence[Conditional]) -> dict[Server, list[tuple[int, Place]]]:
        by_server: dict[Server, list[tuple[int, Place]]] = {}
        for index, step in enumerate(steps):
            if not step.check.unique or any(map(has_nonce, step.mutations)):
                continue
            try:
                place = self._cluster.regions.locate(self._full, step.row, self._deadline)
            except RpcError:
                continue
            by_server.setdefault(place.server, []).append((index, place))
        return by_server


class _StepsCall:
    """Steps that travel together: one call to one server."""

    def __init__(self) -> None:
        self.indexes: list[int] = []
        self.actions: list[bytes] = []
        self.cells: list[bytes] = []
        self._call: Call | None = None
        self._server: Server | None = None

    def send(self, cluster: Cluster, server: Server, deadline: Deadline) -> None:
        """Sends the call; where that fails its steps stay without an outcome."""
        request = b"".join(self.actions) + nonce_group_field(varint(cluster.nonce_group))
        try:
            connection = cluster.connections.to(server, CLIENT, deadline.attempt())
            cells = b"".join(self.cells)
            self._call = connection.submit("Multi", request, deadline.attempt(), cells)
            self._server = server
        except RpcError:
            self._call = None

    def collect(
        self,
        outcomes: list[CheckResult | WebTableError | None],
        lost: set[int],
        timeout: float,
    ) -> None:
        """Waits for the response; notes the steps that may or may not have been made."""
        if self._call is None:
            return
        assert self._server is not None
        try:
            received = self._call.wait(AsBytes, timeout)
            try:
                response = client_pb2.MultiResponse.FromString(received.message)
            except DecodeError as exc:
                message = f"unreadable response: {exc}"
                raise NotHBase(message, self._server, maybe_applied=True) from exc
        except RpcError as exc:
            if not is_untouched(exc):
                lost.update(self.indexes)
            return
        results = response.regionActionResult
        if len(results) != len(self.indexes):
            lost.update(self.indexes)  # the response to another call
            return
        for index, result in zip(self.indexes, results, strict=True):
            error = _error_of(result, self._server)
            if error is None and result.HasField("processed"):
                outcomes[index] = CheckResult(result.processed)
            elif error is None or not is_untouched(error):
                lost.add(index)


def _cut(
    placed: Iterable[tuple[int, Place]], steps: Sequence[Conditional], durability: Durability
) -> Iterable[_StepsCall]:
    """Yields the calls that the steps for one server are made by."""
    found = list(placed)
    most = min(MOST_STEPS, -(-len(found) // CALLS_UNDER_WAY))
    call, size = _StepsCall(), 0
    for index, place in found:
        step = steps[index]
        before = len(call.cells)
        condition = condition_bytes(step.row, step.check)
        try:
            fields, cells = atomic_step(call.cells, step.mutations, durability, 0, condition)
        except WebTableError:
            del call.cells[before:]  # raised when the step is made by itself
            continue
        size += cells
        call.indexes.append(index)
        call.actions.append(region_action(region_field(place.name) + fields))
        if len(call.indexes) >= most or size >= MOST_BYTES:
            yield call
            call, size = _StepsCall(), 0
    if call.indexes:
        yield call


def _error_of(result: client_pb2.RegionActionResult, server: Server) -> RpcError | None:
    if result.HasField("exception"):
        return inner_error(result.exception, server)
    for each in result.resultOrException:
        if each.HasField("exception"):
            return inner_error(each.exception, server)
    return None
