"""Long work in the cluster: starting it, waiting for its end, and what its failure means.

The master answers most requests with the number of a procedure, which is then asked for until it is
done. A procedure outlives the master that began it: whoever waits looks the new one up and asks on.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

from google.protobuf.message import Message

from webtable.errors import InvalidRequest, ReadOnly, RetryableError, Timeout, WebTableError
from webtable.store.hbase.cluster import Cluster
from webtable.store.hbase.proto import master_pb2
from webtable.store.hbase.retry import Attempts, translate
from webtable.store.hbase.wire import RemoteError, RpcError

__all__ = ["Procedure", "Work", "on_refusal", "wait_for"]

M = TypeVar("M", bound=Message)
S = TypeVar("S")
T = TypeVar("T")

PROCEDURE_FACTOR = 5
"""Procedures may take this many times as long as a read or a write."""

PARALLEL = 8
POLL_SHARE = 0.1
SHORTEST_POLL_SECONDS = 0.005
LONGEST_POLL_SECONDS = 1.0


class Procedure(NamedTuple):
    """A request that the master answers with the number of a procedure.

    `what` says what it does, for the error when its time is up: "creating table 't'".
    """

    method: str
    request: Message
    kind: type[Message]
    what: str


class Work:
    """What all parts of the administration stand on. Safe to use from many threads."""

    def __init__(self, cluster: Cluster, *, read_only: bool = False) -> None:
        self._cluster = cluster
        self._names = cluster.names
        self._read_only = read_only

    def _check_writable(self) -> None:
        if self._read_only:
            raise ReadOnly(
                f"store '{self._cluster.location.text}' was opened for reading only",
                hint="open it for writing",
            )

    def _attempts(self, table: str = "") -> Attempts:
        attempts = self._cluster.attempts(table, PROCEDURE_FACTOR)
        attempts.is_write = True
        return attempts

    def _ask(self, question: Callable[[Attempts], T], table: str = "") -> T:
        """Returns the answer to a question, asked again as long as servers fail."""
        attempts = self._cluster.attempts(table)
        while True:
            try:
                return question(attempts)
            except RpcError as exc:
                attempts.failed(exc)

    def _question(self, method: str, request: Message, kind: type[M]) -> M:
        """Asks the master something that changes nothing."""
        return self._cluster.call_master(method, request, kind, self._cluster.attempts())

    def _call(self, method: str, request: Message, kind: type[M], attempts: Attempts) -> M:
        """Calls the master; once it may have begun, no absence of a master ends the wait."""
        while True:
            try:
                return self._cluster.call_master(method, request, kind, attempts)
            except RetryableError:
                if attempts.is_patient or not attempts.maybe_applied:
                    raise
                attempts.is_patient = True

    def _run(self, procedure: Procedure, attempts: Attempts) -> None:
        """Starts a procedure and waits for its end.

        Raises:
            Timeout: it goes on in the cluster.
            WebTableError: it failed.
        """
        request = procedure.request
        # With a nonce the master knows a request that is sent again, and starts no second one.
        request.nonce_group = self._cluster.nonce_group  # type: ignore[attr-defined]
        request.nonce = self._cluster.nonce()  # type: ignore[attr-defined]
        answer = self._call(procedure.method, request, procedure.kind, attempts)
        self._follow(answer.proc_id, procedure.what, attempts)  # type: ignore[attr-defined]

    def _follow(self, number: int, what: str, attempts: Attempts) -> None:
        """Waits for the end of a procedure."""
        question = master_pb2.GetProcedureResultRequest(proc_id=number)
        kind = master_pb2.GetProcedureResultResponse
        attempts.is_patient = True

        def is_done() -> bool:
            answer = self._call("getProcedureResult", question, kind, attempts)
            if answer.HasField("exception"):
                said = answer.exception.generic_exception
                error = RemoteError(said.class_name, said.message, None)
                raise _final(error, attempts.table, what) from error
            return answer.state != kind.RUNNING

        wait_for(is_done, attempts, what)

    def _each(self, work: Callable[[S], T], items: Sequence[S]) -> list[T]:
        """Does the same for many things, some of them at a time; the answers are in order."""
        if len(items) < 2:
            return [work(item) for item in items]
        with ThreadPoolExecutor(PARALLEL, "webtable-hbase-admin") as pool:
            return list(pool.map(work, items))


def wait_for(is_done: Callable[[], bool], attempts: Attempts, what: str) -> None:
    """Asks until it is done.

    Raises:
        Timeout: it was not in time.
    """
    began = time.monotonic()
    while not is_done():
        # Short waits end promptly, long ones ask seldom: each pause is a part of what has passed.
        passed = time.monotonic() - began
        pause = min(max(passed * POLL_SHARE, SHORTEST_POLL_SECONDS), LONGEST_POLL_SECONDS)
        if attempts.deadline.remaining() < pause:
            raise Timeout(
                f"{what} is not done after {attempts.deadline.seconds:.0f} s",
                hint="it goes on in the cluster; look again later",
            )
        time.sleep(pause)


@contextlib.contextmanager
def on_refusal(
    java_class: str, error: Callable[[RemoteError], WebTableError | None] = lambda refusal: None
) -> Iterator[None]:
    """Turns one refusal of a server into an error that says more, or lets it pass.

    `error` makes it; None means that what was asked for is so already.
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
    """Returns the error of a procedure that has failed: for good, whatever its class is."""
    translated = translate(error, table)
    if isinstance(translated, RetryableError):
        return InvalidRequest(
            f"{what} failed: {error.detail}", hint=f"HBase says {error.java_class}"
        )
    return translated
