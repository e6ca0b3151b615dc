"""Reading nodes of ZooKeeper, from servers that a test plays; all other tests ask the real one."""

from __future__ import annotations

import random
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest

from tests.hbase.servers import Peer, listening
from webtable.store.hbase.cluster.find_meta_and_master import RegistryUnavailable, ZooKeeperRegistry
from webtable.store.hbase.cluster.zk_client import (
    MOST_BYTES,
    NoNode,
    ZooKeeperFailed,
    ZooKeeperSession,
)
from webtable.store.hbase.location import parse_location
from webtable.store.hbase.wire.errors_and_responses import ConnectFailed, NotHBase

LIMIT = 20.0
HELLO = "0000002d 00000000 0000000000000000 00002710 0000000000000000 00000010" + "00" * 16 + "01"
WELCOME = struct.pack(">iiqi16s?", 0, 10_000, 7, 16, b"secret", False)
STAT = bytes(68)


def text(value: bytes) -> bytes:
    return struct.pack(">i", len(value)) + value


def send(peer: Peer, message: bytes) -> None:
    peer.socket.sendall(text(message))


def answer(payload: bytes, number: int = 1, error: int = 0) -> bytes:
    return struct.pack(">iqi", number, 99, error) + payload


def welcome(peer: Peer) -> None:
    assert peer.read(49) == bytes.fromhex(HELLO)
    send(peer, WELCOME)


def read_message(peer: Peer) -> bytes:
    return peer.read(int.from_bytes(peer.read(4), "big"))


def plays(*messages: bytes) -> Callable[[Peer], None]:
    """Returns a server that responds to each request with the next of some messages."""

    def play(peer: Peer) -> None:
        welcome(peer)
        for message in messages:
            read_message(peer)
            send(peer, message)
        peer.read(1_000)

    return play


def test_a_query_is_these_bytes() -> None:
    heard: list[bytes] = []
    is_over = threading.Event()

    def play(peer: Peer) -> None:
        welcome(peer)
        heard.append(read_message(peer))
        send(peer, answer(text(b"what is there") + STAT))
        heard.append(read_message(peer))
        send(peer, answer(struct.pack(">i", 2) + text(b"rs") + text(b"table")))
        heard.append(read_message(peer))
        heard.append(peer.read(1))
        is_over.set()

    with listening(play) as server:
        with ZooKeeperSession(server, LIMIT) as session:
            assert session.data("/hbase/master") == b"what is there"
            assert session.children("/hbase") == ["rs", "table"]
        assert is_over.wait(LIMIT)
    assert heard == [
        bytes.fromhex("00000001 00000004 0000000d") + b"/hbase/master\0",
        bytes.fromhex("00000001 00000008 00000006") + b"/hbase\0",
        bytes.fromhex(
            "00000002 fffffff5"
        ),  # the end of the session, which the server need not keep
        b"",
    ]


def test_no_data_and_no_children() -> None:
    with (
        listening(plays(answer(struct.pack(">i", -1)), answer(bytes(4)))) as server,
        ZooKeeperSession(server, LIMIT) as session,
    ):
        assert session.data("/a") == b""
        assert session.children("/a") == []


def test_a_node_that_is_not_there() -> None:
    with (
        listening(plays(answer(b"", error=-101))) as server,
        ZooKeeperSession(server, LIMIT) as session,
        pytest.raises(NoNode),
    ):
        session.data("/a")


def test_events_without_a_request_are_skipped() -> None:
    def play(peer: Peer) -> None:
        welcome(peer)
        read_message(peer)
        for number in (-1, -2):  # a watch, a ping
            send(peer, answer(b"something else", number=number))
        send(peer, answer(text(b"mine")))
        peer.read(1_000)

    with listening(play) as server, ZooKeeperSession(server, LIMIT) as session:
        assert session.data("/a") == b"mine"


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (answer(b"", error=-102), "it returned error -102 for '/a'"),
        (answer(b"\0\0"), "it is not ZooKeeper"),
        (answer(text(b"four")[:-1]), "it announces 4 bytes and sends 3"),
        (answer(struct.pack(">i", 2**31 - 1)), "it announces 2147483647 bytes and sends 0"),
        (b"short", "it is not ZooKeeper: it sent b'short'"),
    ],
)
def test_responses_that_make_no_sense(message: bytes, reason: str) -> None:
    with (
        listening(plays(message)) as server,
        ZooKeeperSession(server, LIMIT) as session,
        pytest.raises(ZooKeeperFailed, match=reason),
    ):
        session.data("/a")


def test_children_without_end() -> None:
    with (
        listening(plays(answer(struct.pack(">i", 2**31 - 1) + text(b"one")))) as server,
        ZooKeeperSession(server, LIMIT) as session,
        pytest.raises(ZooKeeperFailed, match="it is not ZooKeeper"),
    ):
        session.children("/a")


def drip(peer: Peer) -> None:
    peer.socket.sendall(b"\0\0\x10\0")
    while True:
        peer.socket.sendall(b"x")
        time.sleep(0.05)


def chatter(peer: Peer) -> None:
    """Sends messages that are small enough, one after the other, for ever."""
    peer.read(49)
    send(peer, WELCOME)
    while True:
        send(peer, answer(b"not yet", number=5))
        time.sleep(0.001)


def noise(peer: Peer) -> None:
    chance = random.Random(4)
    while True:
        peer.socket.sendall(chance.randbytes(5_000))
        time.sleep(0.01)


def web(peer: Peer) -> None:
    peer.read(20)
    peer.socket.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def hang_up(peer: Peer) -> None:
    peer.read(4)


def silence(peer: Peer) -> None:
    peer.read(1_000)


def too_much(peer: Peer) -> None:
    peer.socket.sendall(struct.pack(">i", MOST_BYTES + 1))


def refuse(peer: Peer) -> None:
    send(peer, struct.pack(">iiqi16s?", 0, 0, 0, 16, b"", False))


@pytest.mark.parametrize(
    ("play", "reason"),
    [
        (drip, "timed out"),
        (chatter, "timed out"),
        (silence, "timed out"),
        (noise, "it is not ZooKeeper: it sent"),
        (web, "it is not ZooKeeper: it sent b'HTTP'"),
        (too_much, "it is not ZooKeeper"),
        (hang_up, "it closed the connection"),
        (refuse, "it rejects the session"),
    ],
)
def test_something_else_is_there(play: Callable[[Peer], None], reason: str) -> None:
    with listening(play) as server:
        registry = ZooKeeperRegistry(parse_location(f"hbase://{server}"))
        began = time.monotonic()
        with pytest.raises(RegistryUnavailable) as caught:
            registry.meta_server(0.5)
        took = time.monotonic() - began
    assert took < 5
    assert f"no ZooKeeper responds at {server}" in str(caught.value)
    assert reason in str(caught.value)


def test_one_of_several_responses() -> None:
    with listening(hang_up) as wrong, listening(plays(answer(b"", error=-101))) as right:
        registry = ZooKeeperRegistry(parse_location(f"hbase://{wrong},{right}"))
        assert registry.children("rs", LIMIT) == []


@pytest.mark.parametrize(
    ("there", "reason"),
    [
        ((answer(bytes(4)),), "has no '/hbase/master': no master is active there"),
        (
            (answer(b"", error=-101), answer(struct.pack(">i", 1) + text(b"hbase-secure"))),
            r"no HBase is running under '/hbase' \(it has /hbase-secure\)",
        ),
    ],
)
def test_what_is_missing_is_named(there: tuple[bytes, ...], reason: str) -> None:
    with listening(plays(answer(b"", error=-101), *there)) as server:
        registry = ZooKeeperRegistry(parse_location(f"hbase://{server}"))
        with pytest.raises(ConnectFailed, match=reason):
            registry.active_master(LIMIT)


def test_a_node_of_another_program() -> None:
    with listening(plays(answer(text(b"hello") + STAT))) as server:
        registry = ZooKeeperRegistry(parse_location(f"hbase://{server}"))
        with pytest.raises(NotHBase, match=r"'/hbase/master' in ZooKeeper at .* is not HBase's"):
            registry.active_master(LIMIT)


@pytest.mark.parametrize("play", [silence, drip])
def test_ctrl_c_is_heard_at_once(play: Callable[[Peer], None]) -> None:
    is_there = threading.Event()

    def notice(peer: Peer) -> None:
        peer.read(49)  # the request for a session: the client waits for the response now
        is_there.set()
        play(peer)

    with listening(notice) as server:
        command = [sys.executable, "-m", "webtable", "tables", "--store"]
        with subprocess.Popen(
            [*command, f"hbase://{server}?timeout=60"], stdout=-1, stderr=-1
        ) as running:
            try:
                assert is_there.wait(LIMIT)

                began = time.monotonic()
                running.send_signal(signal.SIGINT)
                assert running.wait(LIMIT) == 130
                assert time.monotonic() - began < 5
            finally:
                running.kill()
            assert running.stderr is not None
            assert b"Traceback" not in running.stderr.read()
