"""A connection against simulated servers that respond late, out of order, wrongly, not at all."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.hbase.servers import HOST, Peer, delimited, listening, unused_port, varint
from tests.hbase.wire.forms import pipeline_of
from webtable.errors import NotAuthenticated
from webtable.store.hbase.proto import client_pb2, rpc_pb2
from webtable.store.hbase.wire.auth import Channel, Identity
from webtable.store.hbase.wire.errors_and_responses import (
    CallTimedOut,
    ConnectFailed,
    ConnectionLost,
    NotHBase,
    RemoteError,
    Server,
)
from webtable.store.hbase.wire.pipelined_connection import Connection

LIMIT = 20.0


@pytest.fixture(autouse=True, params=["plain", "compiled"])
def _form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets each test run with both forms of the modules."""
    monkeypatch.setitem(globals(), "Connection", pipeline_of(request.param, monkeypatch).Connection)


@contextmanager
def connected(play: Callable[[Peer], None]) -> Iterator[Connection]:
    with listening(play) as server:
        connection = Connection(server, "ClientService", Identity("me"), server, LIMIT)
        yield connection
        connection.close()


def scan(number: int) -> client_pb2.ScanRequest:
    return client_pb2.ScanRequest(scanner_id=number)


def response(number: int) -> client_pb2.ScanResponse:
    return client_pb2.ScanResponse(scanner_id=number)


def echo(peer: Peer, *, reverse_groups_of: int = 1) -> None:
    peer.read_hello()
    while True:
        group = [peer.read_request() for _ in range(reverse_groups_of)]
        for request in reversed(group):
            number = client_pb2.ScanRequest.FromString(request.body).scanner_id
            peer.answer(request.header.call_id, response(number), request.cells)


def exchange(channel: Channel, seconds: float) -> None:
    """A way to prove who calls: the server gives a word, and gets it back in capitals."""
    end = time.monotonic() + seconds
    word = b""
    while len(word) < 4 and time.monotonic() < end:
        try:
            word += channel.recv(4 - len(word)) or b"gone"
        except BlockingIOError:
            continue
    if word == b"nope":
        raise NotAuthenticated("the server did not believe it")
    channel.send(word.upper())


def test_a_handshake_stands_between_preamble_and_header() -> None:
    seen: list[bytes] = []

    def play(peer: Peer) -> None:
        seen.append(peer.read(6))
        peer.socket.sendall(b"word")
        seen.append(peer.read(4))
        size = int.from_bytes(peer.read(4), "big")
        header = rpc_pb2.ConnectionHeader.FromString(peer.read(size))
        seen.append(header.user_info.effective_user.encode())
        request = peer.read_request()
        peer.answer(request.header.call_id, response(3))

    identity = Identity("me", 0x51, exchange)
    with listening(play) as server:
        connection = Connection(server, "ClientService", identity, server, LIMIT)
        answer = connection.call("Scan", scan(3), client_pb2.ScanResponse, LIMIT)
        connection.close()
    assert answer.message.scanner_id == 3
    assert seen == [b"HBas\0\x51", b"WORD", b"me"]


def test_a_handshake_that_fails_says_why() -> None:
    def play(peer: Peer) -> None:
        peer.read(6)
        peer.socket.sendall(b"nope")

    with listening(play) as server, pytest.raises(NotAuthenticated, match="not believe"):
        Connection(server, "ClientService", Identity("me", 0x51, exchange), server, LIMIT)


def test_a_call_and_its_response() -> None:
    seen: list[str] = []

    def play(peer: Peer) -> None:
        seen.append(peer.read_hello()[1].service_name)
        request = peer.read_request()
        seen.append(request.header.method_name)
        assert request.header.request_param
        assert request.header.timeout == 20_000
        peer.answer(request.header.call_id, response(8), request.cells)

    with connected(play) as connection:
        answer = connection.call("Scan", scan(7), client_pb2.ScanResponse, LIMIT, b"cells")
        assert answer.message.scanner_id == 8
        assert answer.frame[answer.block_at :] == b"cells"
    assert seen == ["ClientService", "Scan"]


def test_responses_in_another_order() -> None:
    with connected(lambda peer: echo(peer, reverse_groups_of=5)) as connection:
        calls = [connection.submit("Scan", scan(number), LIMIT) for number in range(5)]
        for number, call in enumerate(calls):
            assert call.wait(client_pb2.ScanResponse, LIMIT).message.scanner_id == number


def test_large_responses() -> None:
    cells = bytes(range(256)) * 20_000
    with connected(echo) as connection:
        calls = [connection.submit("Scan", scan(n), LIMIT, cells) for n in range(4)]
        for number, call in enumerate(calls):
            answer = call.wait(client_pb2.ScanResponse, LIMIT)
            assert answer.message.scanner_id == number
            assert answer.frame[answer.block_at :] == cells


def test_responses_are_read_without_waiting_for_more() -> None:
    may_answer = threading.Event()

    def play(peer: Peer) -> None:
        peer.read_hello()
        requests = [peer.read_request() for _ in range(3)]
        may_answer.wait(LIMIT)
        for request in requests[1:]:
            peer.answer(request.header.call_id, response(0), b"c" * 3_000_000)
        peer.read_request()

    with connected(play) as connection:
        calls = [connection.submit("Scan", scan(number), LIMIT) for number in range(3)]
        connection.take_in()
        assert not any(call.is_settled for call in calls)
        may_answer.set()
        end = time.monotonic() + LIMIT
        while not (calls[1].is_settled and calls[2].is_settled) and time.monotonic() < end:
            connection.take_in()
        assert [call.is_settled for call in calls] == [False, True, True]
        assert len(calls[2].wait(client_pb2.ScanResponse, 0).frame) > 3_000_000
    connection.take_in()  # does nothing once it is closed
    with pytest.raises(ConnectionLost):
        calls[0].wait(client_pb2.ScanResponse, LIMIT)


@pytest.mark.parametrize("impatient", [False, True])
def test_many_threads_get_their_own_responses(impatient: bool) -> None:
    wrong: list[int] = []

    def work(start: int) -> None:
        for number in range(start, start + 200):
            if impatient and number % 3 == 0:
                # A thread that gives up while it reads, or is about to, must leave that to another.
                with contextlib.suppress(CallTimedOut):
                    connection.call("Scan", scan(number), client_pb2.ScanResponse, 0)
                continue
            answer = connection.call("Scan", scan(number), client_pb2.ScanResponse, LIMIT)
            if answer.message.scanner_id != number:
                wrong.append(number)

    with connected(echo) as connection:
        threads = [threading.Thread(target=work, args=(n * 1000,)) for n in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LIMIT)
        assert not any(thread.is_alive() for thread in threads)
    assert wrong == []


def test_an_exception_belongs_to_its_call() -> None:
    def play(peer: Peer) -> None:
        peer.read_hello()
        first, second = peer.read_request(), peer.read_request()
        peer.refuse(first.header.call_id, "org.apache.hadoop.hbase.RegionTooBusyException", "wait")
        peer.answer(second.header.call_id, response(2))
        peer.read_request()

    with connected(play) as connection:
        first = connection.submit("Scan", scan(1), LIMIT)
        second = connection.submit("Scan", scan(2), LIMIT)
        assert second.wait(client_pb2.ScanResponse, LIMIT).message.scanner_id == 2
        with pytest.raises(RemoteError, match="RegionTooBusyException: wait"):
            first.wait(client_pb2.ScanResponse, LIMIT)
        assert connection.is_open


def test_a_response_that_no_thread_waits_for_is_dropped() -> None:
    go_on = threading.Event()

    def play(peer: Peer) -> None:
        peer.read_hello()
        late = peer.read_request()
        go_on.wait(LIMIT)
        peer.answer(late.header.call_id, response(1))
        request = peer.read_request()
        peer.answer(request.header.call_id, response(2))
        peer.read_request()

    with connected(play) as connection:
        call = connection.submit("Scan", scan(1), LIMIT)
        with pytest.raises(CallTimedOut) as caught:
            call.wait(client_pb2.ScanResponse, 0.01)
        assert caught.value.maybe_applied
        go_on.set()
        answer = connection.call("Scan", scan(2), client_pb2.ScanResponse, LIMIT)
        assert answer.message.scanner_id == 2


def test_a_broken_connection_fails_every_call() -> None:
    def play(peer: Peer) -> None:
        peer.read_hello()
        peer.read_request()
        peer.read_request()
        peer.socket.sendall(b"\0\0\1\0 part of an answer")

    with connected(play) as connection:
        calls = [connection.submit("Scan", scan(number), LIMIT) for number in range(2)]
        for call in calls:
            with pytest.raises(ConnectionLost, match="closed the connection") as caught:
                call.wait(client_pb2.ScanResponse, LIMIT)
            assert caught.value.maybe_applied
        assert not connection.is_open
        with pytest.raises(ConnectionLost) as caught:
            connection.submit("Scan", scan(3), LIMIT)
        assert not caught.value.maybe_applied


def test_a_connection_that_ended_behind_unread_responses_is_not_used() -> None:
    has_ended = threading.Event()

    def play(peer: Peer) -> None:
        peer.read_hello()
        peer.answer(peer.read_request().header.call_id, response(7))
        peer.socket.shutdown(2)
        has_ended.set()

    with connected(play) as connection:
        call = connection.submit("Scan", scan(7), LIMIT)
        assert has_ended.wait(LIMIT)
        time.sleep(0.05)  # longer than a server that is at work is silent
        with pytest.raises(ConnectionLost) as caught:
            connection.submit("Scan", scan(8), LIMIT)
        assert not caught.value.maybe_applied
        assert call.wait(client_pb2.ScanResponse, LIMIT).message.scanner_id == 7


def test_a_connection_that_ended_while_idle_is_not_used() -> None:
    ended = threading.Event()

    def play(peer: Peer) -> None:
        peer.read_hello()
        request = peer.read_request()
        peer.answer(request.header.call_id, response(1))

    def play_and_tell(peer: Peer) -> None:
        play(peer)
        peer.socket.shutdown(2)
        ended.set()

    with connected(play_and_tell) as connection:
        connection.call("Scan", scan(1), client_pb2.ScanResponse, LIMIT)
        assert ended.wait(LIMIT)
        with pytest.raises(ConnectionLost) as caught:
            connection.submit("Scan", scan(2), LIMIT)
        assert not caught.value.maybe_applied


def test_a_refusal_of_the_connection_reaches_the_caller() -> None:
    def play(peer: Peer) -> None:
        peer.read_hello()
        peer.refuse(0xFFFFFFFF, "org.apache.hadoop.hbase.security.AccessDeniedException", "no")
        peer.read_request()

    with (
        connected(play) as connection,
        pytest.raises(RemoteError, match="AccessDeniedException"),
    ):
        connection.call("Scan", scan(1), client_pb2.ScanResponse, LIMIT)


@pytest.mark.parametrize(
    "said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"<!DOCTYPE HTML>\n<html>", b"220 mail ESMTP\r\n"]
)
def test_a_web_or_mail_server_is_not_hbase(said: bytes) -> None:
    def play(peer: Peer) -> None:
        peer.socket.recv(100)
        peer.socket.sendall(said)
        while peer.socket.recv(1000):
            pass

    with connected(play) as connection, pytest.raises(NotHBase, match=str(said[:4], "ascii")):
        connection.call("Scan", scan(1), client_pb2.ScanResponse, LIMIT)


@pytest.mark.parametrize("cells", [10_000, 2**32 - 1, 1])
def test_a_response_with_more_cells_than_bytes_is_not_read(cells: int) -> None:
    def play(peer: Peer) -> None:
        peer.read_hello()
        header = rpc_pb2.ResponseHeader(call_id=peer.read_request().header.call_id)
        header.cell_block_meta.length = cells
        said = delimited(header) + delimited(response(3))
        peer.socket.sendall(len(said).to_bytes(4, "big") + said)

    with connected(play) as connection, pytest.raises(NotHBase, match="unreadable response"):
        connection.call("Scan", scan(1), client_pb2.ScanResponse, LIMIT)


@pytest.mark.parametrize("number", [100, 2**32, 2**62, 2**63 - 1, 2**64 - 1])
@pytest.mark.parametrize("part", ["head", "body", "cells"])
def test_a_get_is_not_complete_with_fewer_bytes_than_announced(part: str, number: int) -> None:
    def play(peer: Peer) -> None:
        peer.read_hello()
        header = rpc_pb2.ResponseHeader(call_id=peer.read_request().header.call_id)
        head = header.SerializeToString()
        if part == "cells":
            block = b"\x08" + varint(number)
            head += b"\x1a" + varint(len(block)) + block
        said = varint(number if part == "head" else len(head)) + head
        said += varint(number if part == "body" else 0)
        peer.socket.sendall(len(said).to_bytes(4, "big") + said)
        peer.read_request()

    with connected(play) as connection, pytest.raises(NotHBase, match="unreadable response"):
        connection.get(b"region", b"", LIMIT)


def test_no_server_at_the_address() -> None:
    server = Server(HOST, unused_port())
    with pytest.raises(ConnectFailed, match=f"cannot connect to {server}"):
        Connection(server, "ClientService", Identity("me"), server, LIMIT)


def stay_silent(peer: Peer) -> None:
    while peer.socket.recv(1000):
        pass


def test_a_silent_server_is_given_up() -> None:
    with connected(stay_silent) as connection:
        with pytest.raises(CallTimedOut):
            connection.call("Scan", scan(1), client_pb2.ScanResponse, 1.1)
        assert not connection.is_open


def test_a_call_without_time_says_so() -> None:
    with (
        connected(stay_silent) as connection,
        pytest.raises(CallTimedOut, match="did not respond in the time that was left"),
    ):
        connection.call("Scan", scan(1), client_pb2.ScanResponse, -0.1)


def test_a_server_that_is_silent_for_short_calls_is_given_up_too() -> None:
    with connected(stay_silent) as connection:
        for _ in range(5):
            with pytest.raises((CallTimedOut, ConnectionLost)):
                connection.call("Scan", scan(1), client_pb2.ScanResponse, 0.3)
        assert not connection.is_open


def test_a_server_that_reads_nothing_costs_no_more_than_the_time_out() -> None:
    leave = threading.Event()

    def play(peer: Peer) -> None:
        peer.read_hello()
        leave.wait(LIMIT)

    with connected(play) as connection:
        began = time.monotonic()
        with pytest.raises(ConnectionLost, match=r"did not take a request in within 1\.5 s"):
            connection.call("Scan", scan(1), client_pb2.ScanResponse, 1.5, bytes(50_000_000))
        assert time.monotonic() - began < 15
        leave.set()


def test_what_is_given_up_is_not_delivered_later() -> None:
    size = 500_000  # more than the server's end takes in by itself, less than ours holds ready
    with socket.create_server((HOST, 0)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8_192)
        server = Server(HOST, listener.getsockname()[1])
        connection = Connection(server, "ClientService", Identity("me"), server, LIMIT)
        peer, _ = listener.accept()
        with pytest.raises(CallTimedOut):
            connection.call("Scan", scan(1), client_pb2.ScanResponse, 1.1, bytes(size))
        assert not connection.is_open
        arrived = 0
        with peer, contextlib.suppress(ConnectionResetError):
            while data := peer.recv(1 << 20):
                arrived += len(data)
    assert arrived < size


def test_a_request_that_waits_behind_a_large_one_can_be_withdrawn() -> None:
    read_on = threading.Event()
    arrived: list[int] = []

    def play(peer: Peer) -> None:
        peer.read_hello()
        read_on.wait(LIMIT)
        while True:
            request = peer.read_request()
            number = client_pb2.ScanRequest.FromString(request.body).scanner_id
            arrived.append(number)
            peer.answer(request.header.call_id, response(number))

    with connected(play) as connection:
        large = threading.Thread(
            target=connection.call,
            args=("Scan", scan(1), client_pb2.ScanResponse, LIMIT, bytes(50_000_000)),
        )
        large.start()
        end = time.monotonic() + LIMIT
        while not connection._sending.is_in_use:  # until the large one is on its way
            assert time.monotonic() < end
        with pytest.raises(CallTimedOut) as given_up:
            connection.call("Scan", scan(2), client_pb2.ScanResponse, 0.3)
        assert not given_up.value.maybe_applied
        read_on.set()
        answer = connection.call("Scan", scan(3), client_pb2.ScanResponse, LIMIT)
        large.join(LIMIT)
    assert answer.message.scanner_id == 3
    assert arrived == [1, 3]
