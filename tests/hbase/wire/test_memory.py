"""What a server announces costs nothing: memory grows with the bytes that it sends."""

from __future__ import annotations

import struct
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

from tests.hbase.cluster.test_zk_client import WELCOME, read_message, send
from tests.hbase.servers import Peer, listening, varint
from tests.hbase.wire.forms import form_of, pipeline_of
from webtable.store.hbase.admin import zk_status
from webtable.store.hbase.cluster.zk_client import ZooKeeperSession
from webtable.store.hbase.ops.row_assembler import Stitching
from webtable.store.hbase.proto import client_pb2
from webtable.store.hbase.wire.auth import Identity
from webtable.store.hbase.wire.errors_and_responses import (
    CallTimedOut,
    NotHBase,
    RemoteError,
    RpcResponse,
    Server,
)

SERVER = Server("host", 16020)
MEGABYTE = 1 << 20
ANNOUNCED = 900 * MEGABYTE
FORMS = pytest.mark.parametrize("form", ["plain", "compiled"])


@pytest.fixture
def peak() -> Iterator[Callable[[], float]]:
    """Returns how much more memory was in use at some time, in megabytes."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    try:
        yield lambda: (tracemalloc.get_traced_memory()[1] - before) / MEGABYTE
    finally:
        tracemalloc.stop()


@FORMS
@pytest.mark.parametrize(
    ("size", "part_bytes"),
    [(32 * MEGABYTE, 1 << 14), (80 * MEGABYTE, MEGABYTE), (MEGABYTE // 16, 1)],
)
def test_a_frame_takes_little_more_than_its_bytes(
    form: str, size: int, part_bytes: int, peak: Callable[[], float]
) -> None:
    made = form_of("webtable.store.hbase.wire", "frames", form).Frames(SERVER)
    assert made.add(b"\0\0\0\1\0" + size.to_bytes(4, "big")) == [b"\0"]
    found: list[bytes] = []
    for number in range(size // part_bytes):
        found += made.add(bytes((number & 0xFF,)) * part_bytes)
    assert peak() < size / MEGABYTE * 1.25 + 1.5
    assert [len(frame) for frame in found] == [size]
    assert found[0][part_bytes * 77] == 77
    assert made.add(b"\0\0\0\1x") == [b"x"]


@FORMS
def test_a_frame_that_is_announced_and_does_not_come(
    form: str, peak: Callable[[], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    is_sent = threading.Event()
    sent_bytes = 24 * MEGABYTE

    def play(peer: Peer) -> None:
        peer.read_hello()
        peer.read_request()
        peer.socket.sendall(ANNOUNCED.to_bytes(4, "big"))
        for _ in range(sent_bytes >> 14):
            peer.socket.sendall(bytes(1 << 14))
        is_sent.set()
        peer.read(1 << 20)

    pipe = pipeline_of(form, monkeypatch)
    with listening(play) as server:
        connection = pipe.Connection(server, "ClientService", Identity("me"), server, 20.0)
        call = connection.submit("Scan", client_pb2.ScanRequest(), 20.0)
        while not is_sent.is_set():
            connection.take_in()
        with pytest.raises(CallTimedOut):
            call.wait(client_pb2.ScanResponse, 0.5)
        connection.close()
    assert peak() < sent_bytes / MEGABYTE * 1.25 + 2


@FORMS
def test_a_head_that_is_too_large_for_one(form: str, peak: Callable[[], float]) -> None:
    """A head with the whole text of an exception has some kilobytes."""
    frames: ModuleType = form_of("webtable.store.hbase.wire", "frames", form)
    size = 17 * MEGABYTE
    frame = varint(size) + bytes(size)
    before = peak()
    with pytest.raises(IndexError, match="a head of 17,825,792 bytes"):
        frames.read_head(frame)
    assert peak() < before + 1


def test_a_message_that_is_too_large_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = pipeline_of("plain", monkeypatch)
    monkeypatch.setattr(
        form_of("webtable.store.hbase.wire", "calls", "plain"), "MOST_MESSAGE_BYTES", 99
    )

    def play(peer: Peer) -> None:
        peer.read_hello()
        number = peer.read_request().header.call_id
        peer.answer(number, client_pb2.ScanResponse(cells_per_result=[1] * 100))

    with listening(play) as server:
        connection = pipe.Connection(server, "ClientService", Identity("me"), server, 20.0)
        with pytest.raises(NotHBase, match=r"a message of \d+ bytes") as caught:
            connection.call("Scan", client_pb2.ScanRequest(), client_pb2.ScanResponse, 20.0)
        connection.close()
    assert caught.value.server == server


def test_the_text_of_an_exception_is_cut() -> None:
    error = RemoteError("a.B", "a.B: " + "x" * MEGABYTE + "\n\tat C", SERVER)
    assert len(error.detail) < 70_000


def test_a_message_of_zookeeper_that_comes_in_small_parts(peak: Callable[[], float]) -> None:
    size = 1 << 16

    def play(peer: Peer) -> None:
        read_message(peer)
        send(peer, WELCOME)
        read_message(peer)
        answer = struct.pack(">iqi", 1, 99, 0) + struct.pack(">i", size) + bytes(size)
        peer.socket.sendall(struct.pack(">i", len(answer)))
        for at in range(0, len(answer), 8):
            peer.socket.sendall(answer[at : at + 8])

    with listening(play) as server, ZooKeeperSession(server, 20.0) as session:
        assert session.data("/hbase") == bytes(size)
    assert peak() < 1.5


def test_a_stat_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part comes in time, so only a limit for all of them ends it."""
    monkeypatch.setattr(zk_status, "_STAT_SECONDS", 0.3)
    is_over = threading.Event()

    def play(peer: Peer) -> None:
        end = time.monotonic() + 20
        while time.monotonic() < end and not is_over.wait(0.02):
            peer.socket.sendall(b"x")

    with listening(play) as server:
        (said,) = zk_status._stat(server)
        is_over.set()
    assert said == "ERROR: timed out"


def test_many_notes_about_no_rows(peak: Callable[[], float]) -> None:
    """A note has a byte on the wire, and eight in a list of Python."""
    count = 4 * MEGABYTE
    response = client_pb2.ScanResponse(partial_flag_per_result=[False] * count)
    before = peak()
    with pytest.raises(ValueError, match="0 rows, 4194304 notes"):
        Stitching().rows(RpcResponse(response, b"", 0), is_region_over=False)
    assert peak() < before + 1
