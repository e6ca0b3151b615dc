"""Calls to the master: single ones, and procedures, which the cluster works on in the background.

The master responds to most changes with the number of a procedure. The client polls the procedure
until it is done. A procedure outlives the master that started it: when another master takes over,
the client looks that one up and goes on polling.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

from google.protobuf.message import Message

from webtable.errors import InvalidRequest, ReadOnly, RetryableError, Timeout, WebTableError
from webtable.store.hbase.cluster.cluster import Cluster
from webtable.store.hbase.proto import base_pb2, master_pb2, status_pb2
from webtable.store.hbase.retry import Attempts, translate
from webtable.store.hbase.wire.errors_and_responses import RemoteError, RpcError
from webtable.store.schema import check_table_name

__all__ = ["MasterClient", "Procedure", "on_rejection", "wait_for"]

M = TypeVar("M", bound=Message)
S = TypeVar("S")
T = TypeVar("T")

PROCEDURE_FACTOR = 5
"""Procedures may take this many times as long as a read or a write."""

PARALLEL = 8
POLL_SHARE = 0.05
SHORTEST_POLL_SECONDS = 0.005
LONGEST_POLL_SECONDS = 1.0


class Procedure(NamedTuple):
    """A request to which the master responds with the number of a procedure.

    `what` describes it, for the error when its time is up: "creating table 't'".
    """

    method: str
    request: Message
    kind: type[Message]
    what: str


class MasterClient:
    """Calls the master of a cluster; every area of the administration has one.

    Safe to use from many threads.
    """

    def __init__(self, cluster: Cluster, *, read_only: bool = False) -> None:
        self.cluster = cluster
        self.names = cluster.names
        self._read_only = read_only

    def check_writable(self) -> None:
        """Makes sure that the store was opened for writing.

        Raises:
            ReadOnly: it was not.
        """
        if self._read_only:
            raise ReadOnly(
                f"store '{self.cluster.location.text}' was opened for reading only",
                hint="open it for writing",
            )

    # Calls

    def change_attempts(self, table: str = "") -> Attempts:
        """Returns the attempts of a call that changes something, with time for a procedure."""
        attempts = self.cluster.attempts(table, PROCEDURE_FACTOR)
        attempts.is_write = True
        return attempts

    def query(self, method: str, request: Message, kind: type[M]) -> M:
        """Returns the master's response to a request that changes nothing."""
        return self.cluster.call_master(method, request, kind, self.cluster.attempts())

    def cluster_status(self, *options: status_pb2.Option) -> status_pb2.ClusterStatus:
        """Returns the requested parts of the master's report on its cluster."""
        request = master_pb2.GetClusterStatusRequest(options=options)
        kind = master_pb2.GetClusterStatusResponse
        return self.query("GetClusterStatus", request, kind).cluster_status

    def retry(self, read: Callable[[Attempts], T], table: str = "") -> T:
        """Returns what `read` returns; `read` is called again as long as servers fail."""
        attempts = self.cluster.attempts(table)
        while True:
            try:
                return read(attempts)
            except RpcError as exc:
                attempts.failed(exc)

    def call(self, method: str, request: Message, kind: type[M], attempts: Attempts) -> M:
        """Returns the master's response to a change.

        Once the change may have begun, the client waits for a new master until its time is up.
        """
        while True:
            try:
                return self.cluster.call_master(method, request, kind, attempts)
            except RetryableError:
                if attempts.is_patient or not attempts.maybe_applied:
                    raise
                attempts.is_patient = True

    def run(self, procedure: Procedure, attempts: Attempts) -> None:
        """Starts a procedure and waits for its end.

        Raises:
            Timeout: it goes on in the cluster.
            WebTableError: it failed.
        """
        request = procedure.request
        # By its nonce the master recognises a request that is sent again, and starts it only once.
        request.nonce_group = self.cluster.nonce_group  # type: ignore[attr-defined]
        request.nonce = self.cluster.nonce()  # type: ignore[attr-defined]
        response = self.call(procedure.method, request, procedure.kind, attempts)
        self.await_procedure(response.proc_id, procedure.what, attempts)  # type: ignore[attr-defined]

    def await_procedure(self, number: int, what: str, attempts: Attempts) -> None:
        """Waits for the end of a procedure that has been started."""
        request = master_pb2.GetProcedureResultRequest(proc_id=number)
        kind = master_pb2.GetProcedureResultResponse
        attempts.is_patient = True

        def is_done() -> bool:
            response = self.call("getProcedureResult", request, kind, attempts)
            if response.HasField("exception"):
                failure = response.exception.generic_exception
                error = RemoteError(failure.class_name, failure.message, None)
                raise _final(error, attempts.table, what) from error
            return response.state != kind.RUNNING

        wait_for(is_done, attempts, what)

    def in_parallel(self, work: Callable[[S], T], items: Sequence[S]) -> list[T]:
        """Returns what `work` returns for each item, in order; works on several at a time."""
        if len(items) < 2:
            return [work(item) for item in items]
        with ThreadPoolExecutor(PARALLEL, "webtable-hbase-admin") as pool:
            return list(pool.map(work, items))

    # Names of tables

    def full_name(self, table: str) -> bytes:
        """Returns the name by which the cluster has a table, namespace included."""
        return self.names.full(check_table_name(table))

    def name_message(self, table: str) -> base_pb2.TableName:
        """Returns the name of a table as messages carry it."""
        return self.names.message(check_table_name(table))

    def shown_name(self, full: bytes) -> str:
        """Returns the name of a table as the store shows it."""
        return self.names.shown(full) or full.decode()

    def table_names(self) -> list[str]:
        """Returns the names of the tables that the store sees, sorted."""
        return self.retry(lambda attempts: self.cluster.regions.table_names(attempts.deadline))


def wait_for(is_done: Callable[[], bool], attempts: Attempts, what: str) -> None:
    """Polls until it is done.

    Raises:
        Timeout: it was not done in time.
    """
    began = time.monotonic()
    while not is_done():
        # A pause is a share of the time that has passed: short work is noticed promptly, and
        # long work is polled seldom.
        passed = time.monotonic() - began
        pause = min(max(passed * POLL_SHARE, SHORTEST_POLL_SECONDS), LONGEST_POLL_SECONDS)
        if attempts.deadline.remaining() < pause:
            raise Timeout(
                f"{what} is not done after {attempts.deadline.seconds:.0f} s",
                hint="it goes on in the cluster; look again later",
            )
        time.sleep(pause)


@contextlib.contextmanager
def on_rejection(
    java_class: str, error: Callable[[RemoteError], WebTableError | None] = lambda rejection: None
) -> Iterator[None]:
    """Turns one exception class of a server into a more precise error, or ignores it.

    `error` returns that error; None means that the cluster has the requested state already.
    """
    try:
        yield
    except WebTableError as exc:
        cause = exc.__cause__
        if not isinstance(cause, RemoteError) or cause.java_class != java_class:
            raise
        clearer = error(cause)
        if clearer is not None:
            raise clearer from cause


def _final(error: RemoteError, table: str, what: str) -> WebTableError:
    """Returns the error of a procedure that has failed: it is final, whatever its class is."""
    translated = translate(error, table)
    if isinstance(translated, RetryableError):
        return InvalidRequest(
            f"{what} failed: {error.detail}", hint=f"HBase raised {error.java_class}"
        )
    return translated
