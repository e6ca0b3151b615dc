"""How long an operation may take, on a cluster that a test plays: late to connect, or silent."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.hbase.played import played
from tests.hbase.servers import Peer, Request, listening
from webtable.errors import BatchError, RegionBusy, Timeout, WebTableError
from webtable.store.hbase.cluster.cluster import CLIENT, Connections
from webtable.store.hbase.engine import HBaseEngine
from webtable.store.hbase.location import parse_location
from webtable.store.hbase.proto import client_pb2
from webtable.store.hbase.retry import Deadline
from webtable.store.hbase.wire.errors_and_responses import NotTrusted, Server
from webtable.store.mutation import Check, Conditional, Put
from webtable.store.scan import Get, Scan

LIMIT = 20.0
TIMEOUT = 2.0
CONNECTING = 1.2
SLACK = 1.0


def slow_to(servers: set[Server], seconds: float, patch: pytest.MonkeyPatch) -> list[float]:
    """Makes connecting to servers take long; returns how long it may take, each time."""
    allowed: list[float] = []
    connect = socket.create_connection

    def connect_late(address: Server, timeout: float) -> socket.socket:
        if address in servers:
            allowed.append(timeout)
            time.sleep(seconds)
        return connect(address, timeout)

    patch.setattr(socket, "create_connection", connect_late)
    return allowed


class Silence:
    """Responds to so many gets of rows, and then to no call to the region.

    `limits` has the time limit of each call, in milliseconds.
    """

    def __init__(self, answers: int = 0) -> None:
        self._answers = answers
        self.limits: list[int] = []

    def __call__(self, peer: Peer, request: Request) -> None:
        self.limits.append(request.header.timeout)
        if len(self.limits) <= self._answers:
            peer.answer(request.header.call_id, client_pb2.GetResponse())


def get(engine: HBaseEngine) -> object:
    return engine.get("t", Get(b"r"))


def get_many(engine: HBaseEngine) -> object:
    return engine.get_many("t", [Get(b"r"), Get(b"s")])


def scan(engine: HBaseEngine) -> object:
    return list(engine.scan("t", Scan()))


def put(engine: HBaseEngine) -> object:
    return engine.mutate_row("t", b"r", [Put(b"r", {b"f:q": b"v"})], "wal")


def put_many(engine: HBaseEngine) -> object:
    return engine.mutate_many("t", [Put(row, {b"f:q": b"v"}) for row in (b"r", b"s")], "wal")


def check_many(engine: HBaseEngine) -> object:
    check = Check.equal(b"f:q", b"u", unique=True)
    steps = [Conditional(row, check, [Put(row, {b"f:q": b"v"})]) for row in (b"r", b"s")]
    for outcome in engine.check_and_mutate_many("t", steps, "wal"):
        if isinstance(outcome, WebTableError):
            raise outcome
    return None


@pytest.mark.parametrize("is_region_known", [False, True])
def test_connecting_is_a_part_of_the_time_of_an_operation(
    monkeypatch: pytest.MonkeyPatch, is_region_known: bool
) -> None:
    slow: set[Server] = set()
    slow_to(slow, CONNECTING, monkeypatch)

    def run(operation: Callable[[HBaseEngine], object]) -> tuple[float, list[int]]:
        silence = Silence()
        with played(silence, TIMEOUT) as (cluster, region_server):
            slow.add(region_server)
            if is_region_known:
                cluster.regions.locate(b"t", b"r", Deadline(LIMIT))
            began = time.monotonic()
            with pytest.raises(WebTableError):
                operation(HBaseEngine(cluster))
            return time.monotonic() - began, silence.limits

    operations = (get, get_many, put, put_many, check_many)
    with ThreadPoolExecutor(len(operations)) as pool:
        ended = list(pool.map(run, operations))
    for operation, (took, told) in zip(operations, ended, strict=True):
        assert took < TIMEOUT + SLACK, operation.__name__
        assert told, operation.__name__
        assert max(told) <= (TIMEOUT - CONNECTING) * 1000, operation.__name__


def test_a_thread_that_waited_for_another_to_connect_has_less_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A failed attempt does not count for the threads that wait for it.
    def hang_up(peer: Peer) -> None:
        peer.socket.recv(1000)
        peer.socket.sendall(b"no TLS here")

    with listening(hang_up) as server, ThreadPoolExecutor(2) as threads:
        allowed = slow_to({server}, 0.5, monkeypatch)
        connections = Connections(parse_location(f"hbase+masters://{server}?tls=on"))
        attempts = [threads.submit(connections.to, server, CLIENT, TIMEOUT) for _ in range(2)]
        for attempt in attempts:
            assert isinstance(attempt.exception(LIMIT), NotTrusted)
    assert len(allowed) == 2
    assert allowed[1] <= TIMEOUT - 0.4 < allowed[0]


def test_only_writes_may_have_taken_effect() -> None:
    def run(operation: Callable[[HBaseEngine], object]) -> str | None:
        with played(Silence(), TIMEOUT) as (cluster, _):
            with pytest.raises(WebTableError) as caught:
                operation(HBaseEngine(cluster))
            error = caught.value
            first = error.exceptions[0] if isinstance(error, BatchError) else error
            assert isinstance(first, Timeout)
            return first.hint

    reads, writes = (get, get_many, scan), (put, put_many)
    with ThreadPoolExecutor(len(reads) + len(writes)) as pool:
        hints = list(pool.map(run, (*reads, *writes)))
    assert hints[: len(reads)] == ["try again"] * len(reads)
    unknown = "try again; it is unknown whether it took effect"
    assert hints[len(reads) :] == [unknown] * len(writes)


def test_a_write_whose_outcome_is_unknown_may_have_taken_effect() -> None:
    mutates: list[int] = []

    def reply(peer: Peer, request: Request) -> None:
        if request.header.method_name == "Get":
            peer.refuse(request.header.call_id, "org.apache.hadoop.hbase.RegionTooBusyException")
            return
        mutates.append(request.header.call_id)
        if len(mutates) == 1:
            raise OSError("gone, with the answer")
        peer.answer(request.header.call_id, client_pb2.MutateResponse(processed=False))

    check = Check.equal(b"f:q", b"u", unique=True)
    puts = [Put(b"r", {b"f:q": b"v"})]
    with played(reply, TIMEOUT) as (cluster, _), pytest.raises(RegionBusy) as caught:
        HBaseEngine(cluster).check_and_mutate("t", Conditional(b"r", check, puts), "wal")
    assert caught.value.maybe_applied


def test_a_get_that_is_silent_at_first_ends_in_its_time() -> None:
    silence = Silence(answers=1)
    with played(silence, TIMEOUT) as (cluster, _):
        engine = HBaseEngine(cluster)
        assert engine.get("t", Get(b"r")) is None
        began = time.monotonic()
        with pytest.raises(WebTableError):
            engine.get("t", Get(b"r"))
        assert TIMEOUT - 0.1 < time.monotonic() - began < TIMEOUT + SLACK
    assert len(silence.limits) >= 2
