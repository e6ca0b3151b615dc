"""Threads that read rows over one connection, and wake each other: each gets its own response."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from typing import cast

import pytest
from google.protobuf.message import Message

from tests.hbase.conftest import NewTable
from tests.hbase.servers import Peer, Proxy, Request, listening
from tests.hbase.wire.forms import form_of, pipeline_of
from tests.waiting import wait_for
from webtable.errors import FamilyNotFound
from webtable.store.cells_and_rows import Row
from webtable.store.hbase.cluster.find_meta_and_master import ZooKeeperRegistry
from webtable.store.hbase.engine import HBaseEngine
from webtable.store.hbase.location import parse_location
from webtable.store.hbase.proto import client_pb2
from webtable.store.hbase.wire.auth import Identity
from webtable.store.hbase.wire.calls import Call
from webtable.store.hbase.wire.cell_blocks import encode_cells
from webtable.store.hbase.wire.errors_and_responses import CallTimedOut, ConnectionLost, RemoteError
from webtable.store.hbase.wire.pipelined_connection import Connection
from webtable.store.hbase.wire.requests_and_results import get_bytes
from webtable.store.hbase.wire.thread_turns import Right, Turns
from webtable.store.mutation import Put
from webtable.store.scan import Get

LIMIT = 20.0
BUSY = "org.apache.hadoop.hbase.RegionTooBusyException"


@pytest.fixture(autouse=True, params=["plain", "compiled"])
def _form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets each test run with both forms of the modules."""
    turns = form_of("webtable.store.hbase.wire", "thread_turns", request.param)
    monkeypatch.setitem(globals(), "Connection", pipeline_of(request.param, monkeypatch).Connection)
    monkeypatch.setitem(globals(), "Turns", turns.Turns)
    monkeypatch.setitem(globals(), "Right", turns.Right)


def test_a_right_is_one_threads_at_a_time() -> None:
    right, done = Right(), threading.Event()
    inside = had = 0
    wrong: list[int] = []

    def work() -> None:
        nonlocal inside, had
        while not done.is_set():
            if right.take():
                inside += 1
                had += 1
                if inside != 1 or not right.is_in_use:
                    wrong.append(inside)
                time.sleep(0)  # lets the others try
                inside -= 1
                right.give_back()
            time.sleep(0)

    with ThreadPoolExecutor(4) as threads:
        workers = [threads.submit(work) for _ in range(4)]
        try:
            wait_for(lambda: had >= 2_000, LIMIT)
        finally:
            done.set()
        for worker in workers:
            worker.result()
    assert not wrong
    assert not right.is_in_use
    assert right.take()
    assert not right.take()


class Crowd:
    """Threads that read rows over one connection, to a server that a test plays."""

    def __init__(self, connection: Connection, threads: ThreadPoolExecutor) -> None:
        self.connection = connection
        self._threads = threads

    def get(self, row: bytes, seconds: float = LIMIT) -> Future[Row | None]:
        return self._threads.submit(self.connection.get, b"a", get_bytes(Get(row)), seconds)

    def scan(self, number: int) -> int:
        """Makes a call of another kind, and waits for it."""
        request = client_pb2.ScanRequest(scanner_id=number)
        answer = self.connection.call("Scan", request, client_pb2.ScanResponse, LIMIT)
        return answer.message.scanner_id


@contextmanager
def crowd(play: Callable[[Peer], None]) -> Iterator[Crowd]:
    with listening(play) as server, ThreadPoolExecutor(40) as threads:
        connection = Connection(server, "ClientService", Identity("me"), server, LIMIT)
        # Lest a busy machine is taken for threads that do something else.
        connection._turns.long_seconds = LIMIT
        try:
            yield Crowd(connection, threads)
        finally:
            connection.close()


def found(request: Request) -> tuple[int, Message, bytes]:
    """Returns the response to a get, with the requested row, or to another call."""
    call_id = request.header.call_id
    if request.header.method_name == "Scan":
        number = client_pb2.ScanRequest.FromString(request.body).scanner_id
        return call_id, client_pb2.ScanResponse(scanner_id=number), b""
    row = client_pb2.GetRequest.FromString(request.body).get.row
    parts: list[bytes] = []
    encode_cells(parts, row, [(b"f:row", row)], 5)
    result = client_pb2.Result(associated_cell_count=1)
    return call_id, client_pb2.GetResponse(result=result), b"".join(parts)


def answer_by(pause_seconds: float) -> Callable[[Peer], None]:
    """Returns a server that pauses, and then responds to all requests that have come."""

    def play(peer: Peer) -> None:
        peer.read_hello()
        came: SimpleQueue[Request] = SimpleQueue()

        def read() -> None:
            with contextlib.suppress(OSError, IndexError, ValueError):
                while True:
                    came.put(peer.read_request())

        threading.Thread(target=read, daemon=True).start()
        while True:
            answers = [found(came.get())]
            time.sleep(pause_seconds)
            while not came.empty():
                answers.append(found(came.get()))
            peer.answer_all(answers)

    return play


def row_of(row: bytes) -> Row:
    return Row(row, [(b"f:row", 5, row, 4)])


@pytest.mark.parametrize("pause_seconds", [0, 0.0002, 0.003])
def test_each_thread_has_its_own_row(pause_seconds: float) -> None:
    with crowd(answer_by(pause_seconds)) as many, ThreadPoolExecutor(12) as readers:
        get = many.connection.get

        def read(first: int) -> list[Row | None]:
            keys = [b"%d-%d" % (first, n) for n in range(100)]
            rows = [get(b"a", get_bytes(Get(key)), LIMIT) for key in keys]
            return [row for key, row in zip(keys, rows, strict=True) if row != row_of(key)]

        assert list(readers.map(read, range(12))) == [[]] * 12


def test_threads_that_do_not_come_back_leave_no_thread_waiting() -> None:
    with crowd(answer_by(0.001)) as many:
        for turn in range(25):
            rows = [b"%d-%d" % (turn, n) for n in range(8)]
            gets = [many.get(row) for row in rows]
            assert [each.result(LIMIT) for each in gets] == [row_of(row) for row in rows]


def test_other_calls_get_their_response_whichever_thread_reads() -> None:
    """Gets receive their responses together and leave; then another call receives its response."""
    chance = random.Random(5)

    def play(peer: Peer) -> None:
        peer.read_hello()
        while True:
            requests = [peer.read_request() for _ in range(9)]
            late = [each for each in requests if each.header.method_name == "Scan"]
            time.sleep(chance.uniform(0, 0.003))  # about when the others look by themselves
            peer.answer_all([found(each) for each in requests if each not in late])
            time.sleep(chance.choice([0, 0, 0.0005, 0.002]))
            peer.answer_all(map(found, late))

    with crowd(play) as many, ThreadPoolExecutor(3) as scanning:
        for turn in range(300):
            scans = [scanning.submit(many.scan, 3 * turn + n) for n in range(3)]
            gets = [many.get(b"%d" % n) for n in range(6)]
            assert [each.result(LIMIT) for each in scans] == [3 * turn + n for n in range(3)]
            assert all(each.result(LIMIT) for each in gets)


def test_each_get_has_its_own_time_and_its_own_error() -> None:
    late = threading.Event()

    def play(peer: Peer) -> None:
        peer.read_hello()
        requests = [peer.read_request() for _ in range(8)]
        rows = {client_pb2.GetRequest.FromString(each.body).get.row: each for each in requests}
        last = rows.pop(b"late")
        peer.refuse(rows.pop(b"bad").header.call_id, BUSY, "bad")
        peer.answer_all(map(found, rows.values()))
        assert late.wait(LIMIT)
        peer.answer_all([found(last)])
        peer.read_request()

    with crowd(play) as many:
        impatient = many.get(b"late", seconds=0.3)
        refused = many.get(b"bad")
        gets = [many.get(b"row%d" % n) for n in range(6)]
        assert [each.result(LIMIT) for each in gets] == [row_of(b"row%d" % n) for n in range(6)]
        with pytest.raises(RemoteError, match="RegionTooBusyException: bad"):
            refused.result(LIMIT)
        with pytest.raises(CallTimedOut, match="did not respond within") as caught:
            impatient.result(LIMIT)
        assert caught.value.maybe_applied
        late.set()


def test_a_connection_that_breaks_ends_every_call_under_way() -> None:
    def play(peer: Peer) -> None:
        peer.read_hello()
        requests = [peer.read_request() for _ in range(10)]
        peer.answer_all([found(each) for each in requests[:5]])
        peer.socket.shutdown(2)

    with crowd(play) as many:
        ended = [many.get(b"row%d" % n) for n in range(10)]
        errors = [each.exception(LIMIT) for each in ended]
        failed = [each for each in errors if each is not None]
        assert len(failed) == 5
        assert {type(each) for each in failed} == {ConnectionLost}
        assert len(set(map(id, failed))) == 5  # one of its own for each thread
        assert all(each.maybe_applied for each in failed)  # type: ignore[attr-defined]


# Taken by another thread, a signal does not end the sleep of the one that it is for; nor does one
# that came just before the thread slept.
@pytest.mark.parametrize("is_taken_elsewhere", [False, True])
def test_an_interrupt_reaches_a_thread_that_waits_for_another_to_read(
    is_taken_elsewhere: bool,
) -> None:
    def play(peer: Peer) -> None:
        peer.read_hello()
        reads = peer.read_request()
        is_there.set()
        peer.read_request()
        if is_taken_elsewhere:
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        else:
            os.kill(os.getpid(), signal.SIGINT)
        assert interrupted.wait(LIMIT)
        peer.answer_all([found(reads)])
        peer.read_request()

    is_there, interrupted = threading.Event(), threading.Event()
    with crowd(play) as many:
        reader = many.get(b"row")
        assert is_there.wait(LIMIT)
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            many.scan(1)
        assert time.monotonic() - began < LIMIT / 2
        interrupted.set()
        assert reader.result(LIMIT) == row_of(b"row")


def new_call() -> Call:
    """Returns a call, only to be distinguished from others."""
    return cast("Call", object())


def test_one_runs_at_a_time_in_the_order_of_responses() -> None:
    turns = Turns()
    turns.long_seconds = LIMIT
    first, second, third = new_call(), new_call(), new_call()
    assert turns.next() is None
    for each in (first, second, third):
        turns.add(each)
    assert turns.next() is first
    assert turns.next() is None  # it is still at it
    turns.end()
    assert turns.next() is second
    turns.end()
    turns.begin()  # a thread that was not woken
    assert turns.next() is None
    turns.end()
    assert turns.next() is third
    assert not turns.are_waited_for()
    assert turns.are_used()


def test_a_thread_that_is_not_woken_in_time_ends_the_turns_for_a_while() -> None:
    turns = Turns()
    turns.long_seconds = LIMIT
    first, second, third = new_call(), new_call(), new_call()
    for each in (first, second, third):
        turns.add(each)
    assert turns.next() is first
    time.sleep(0.002)  # it does something else
    assert not turns.leave(second)
    assert not turns.are_used()
    assert list(turns.all()) == [third]
    assert turns.leave(first)  # no thread waits any more
    wait_for(turns.are_used)


def test_turns_that_take_long_are_suspended_for_a_while() -> None:
    turns = Turns()
    turns.long_seconds = 0.00001
    for _ in range(3):
        turns.add(new_call())
    assert turns.are_used()
    for _ in range(3):
        time.sleep(0.001)
        assert turns.next() is not None
        turns.end()
    assert not turns.are_used()


def test_patience_follows_how_long_calls_take_within_bounds() -> None:
    turns = Turns()
    for _ in range(300):
        turns.waited(0.004)
    assert 0.0115 < turns.patience < 0.0125
    turns.waited(60.0)  # a server that was away
    assert turns.patience < 0.1
    for _ in range(60):
        turns.waited(0.001)
    assert 0.003 < turns.patience < 0.01
    # Some look early for all the others.
    assert sum(turns.patience_of(n) < 0.002 for n in range(80)) == 10


@pytest.mark.hbase
@pytest.mark.parametrize("_form", ["plain"], indirect=True)  # the engine has its own form
def test_many_threads_read_their_own_rows_whatever_happens(
    location: str, engine: HBaseEngine, new_table: NewTable
) -> None:
    server = ZooKeeperRegistry(parse_location(location)).meta_server(10)
    proxy = Proxy(server)
    table = new_table(splits=(b"3", b"6"))
    rows = [b"%d%03d" % (n % 10, n) for n in range(200)]
    engine.mutate_many(table, [Put(row, {b"f:a": row * 9, b"f:b": b"b"}) for row in rows], "wal")
    behind = HBaseEngine.connect(f"{location}&host_map={server}={proxy.address}")
    wrong: list[object] = []

    def work(first: int) -> None:
        for number in range(first, first + 100):
            row = rows[number * 7 % 200]
            found = behind.get(table, Get(row))
            if found is None or found.key != row or found.value(b"f:a") != row * 9:
                wrong.append((row, found))
            found = behind.get(table, Get(row, (b"f:b",), filter="ValueFilter(=, 'binary:c')"))
            if found is not None or behind.get(table, Get(row + b"!")) is not None:
                wrong.append((row, found))
            if number % 10 == 0:
                with pytest.raises(FamilyNotFound, match="'g'"):
                    behind.get(table, Get(row, (b"g",)))
            if number % 25 == 0:
                proxy.cut_after = 20_000

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(work, range(0, 160, 10)))
    behind.close()
    proxy.close()
    assert wrong == []
    assert proxy.cuts > 0
