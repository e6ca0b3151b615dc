"""Frames as bytes, and how they are put together again."""

from __future__ import annotations

from types import ModuleType

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from tests.hbase.servers import delimited, varint
from tests.hbase.wire.forms import form_of
from webtable.errors import NotAuthenticated
from webtable.store.hbase.proto import client_pb2, rpc_pb2
from webtable.store.hbase.wire.auth import Identity, connection_header, identify, preamble
from webtable.store.hbase.wire.errors_and_responses import (
    ConnectionLost,
    NotHBase,
    RemoteError,
    Server,
)

SERVER = Server("host", 16020)


@pytest.fixture(scope="module", params=["plain", "compiled"])
def frames(request: pytest.FixtureRequest) -> ModuleType:
    """Each form of the module."""
    return form_of("webtable.store.hbase.wire", "frames", request.param)


def test_the_first_words() -> None:
    me = Identity("me")
    said = preamble(me) + connection_header("ClientService", me)
    assert said[:6] == b"HBas\x00\x50"
    size = int.from_bytes(said[6:10], "big")
    header = rpc_pb2.ConnectionHeader.FromString(said[10:])
    assert size == len(said) - 10
    assert header.user_info.effective_user == "me"
    assert header.service_name == "ClientService"
    assert header.cell_block_codec_class == "org.apache.hadoop.hbase.codec.KeyValueCodec"
    assert (header.version_info.version_major, header.version_info.version_minor) == (2, 6)


def test_a_request_is_these_bytes(frames: ModuleType) -> None:
    request = client_pb2.ScanRequest(scanner_id=5)
    header = rpc_pb2.RequestHeader(call_id=7, method_name="Scan", request_param=True, timeout=1500)
    header.cell_block_meta.length = 300
    body = delimited(header) + delimited(request) + b"x" * 300
    expected = len(body).to_bytes(4, "big") + body
    content = request.SerializeToString()
    assert frames.request_frame(7, "Scan", content, 1.5, b"x" * 300) == expected


@given(number=st.integers(0, 2**63 - 1), before=st.binary(max_size=3))
def test_numbers_of_any_length(frames: ModuleType, number: int, before: bytes) -> None:
    written = varint(number)
    assert frames.varint(number) == written
    end = len(before) + len(written)
    assert frames.read_varint(before + written + b"\x80", len(before)) == (number, end)


@pytest.mark.parametrize("data", [b"", b"\x80", b"\xff" * 12])
def test_what_is_not_a_number(frames: ModuleType, data: bytes) -> None:
    with pytest.raises(IndexError):
        frames.read_varint(data, 0)


@given(
    call_id=st.integers(0, 2**32 - 1),
    block=st.none() | st.integers(0, 2**32 - 1),
    error=st.none() | st.text(max_size=200),
    body=st.binary(max_size=5),
)
def test_the_head_of_a_response(
    frames: ModuleType, call_id: int, block: int | None, error: str | None, body: bytes
) -> None:
    header = rpc_pb2.ResponseHeader(call_id=call_id)
    if block is not None:
        header.cell_block_meta.length = block
    if error is not None:
        header.exception.exception_class_name = error
    frame = delimited(header) + body
    found = frames.read_head(frame)
    assert found[:3] == (call_id, len(frame) - len(body), block or 0)
    assert (found[3] and found[3].exception_class_name) == error


@pytest.mark.parametrize("size", [6, 300, 2**32, 2**62, 2**63 - 1, 2**64 - 1])
def test_a_head_of_more_bytes_than_came(frames: ModuleType, size: int) -> None:
    header = rpc_pb2.ResponseHeader(call_id=7).SerializeToString()
    with pytest.raises(IndexError):
        frames.read_head(varint(size) + header)


@pytest.mark.parametrize("length", [2**62, 2**63 - 1])
def test_a_head_that_announces_more_cells_than_possible(frames: ModuleType, length: int) -> None:
    block = b"\x08" + varint(length)
    head = b"\x08\x07\x1a" + varint(len(block)) + block
    frame = varint(len(head)) + head
    assert frames.read_head(frame) == (
        7,
        len(frame),
        length,
        None,
    )  # reported when the body is read


@given(data=st.binary(min_size=1, max_size=20))
def test_a_head_that_is_none(data: bytes) -> None:
    answers = []
    for name in ("plain", "compiled"):
        frames = form_of("webtable.store.hbase.wire", "frames", name)
        try:
            answers.append(repr(frames.read_head(data)))
        except (IndexError, DecodeError) as exc:
            answers.append(type(exc).__name__)
    assert answers[0] == answers[1]


@given(bodies=st.lists(st.binary(min_size=1, max_size=200_000), max_size=6), data=st.data())
def test_frames_come_back_however_they_are_cut(
    frames: ModuleType, bodies: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(len(body).to_bytes(4, "big") + body for body in bodies)
    made, found = frames.Frames(SERVER), []
    while stream:
        size = data.draw(st.integers(1, min(made.wanted, len(stream))))
        found += made.add(stream[:size])
        stream = stream[size:]
    assert found == bodies


def test_the_end_of_a_connection(frames: ModuleType) -> None:
    with pytest.raises(ConnectionLost, match="host:16020 closed the connection"):
        frames.Frames(SERVER).add(b"")


@pytest.mark.parametrize(
    "said", [b"HTTP/1.1 400 Bad Request\r\n", b"SSH-2.0-x", b"\0\0\0\0\0", b"\xff" * 8]
)
def test_another_protocol_is_noticed(frames: ModuleType, said: bytes) -> None:
    with pytest.raises(NotHBase):
        frames.Frames(SERVER).add(said)


@pytest.mark.parametrize(
    "said",
    [
        b"<!DOCTYPE HTML>\n<html>",
        b"220 mail.example.org ESMTP",
        b"-ERR unknown command",
        b"+OK\r\n",
        b"\r\nlogin: ",
        b"HTTP/1.1 400 Bad Request\r\n",
    ],
)
def test_text_is_not_the_length_of_a_first_frame(frames: ModuleType, said: bytes) -> None:
    with pytest.raises(NotHBase, match=r"it sent b'.*', which is text") as caught:
        frames.Frames(SERVER).add(said)
    assert repr(said[:20])[:-1] in str(caught.value)
    slow = frames.Frames(SERVER)
    for byte in said[:3]:
        assert slow.add(bytes((byte,))) == []
    with pytest.raises(NotHBase, match="which is text"):
        slow.add(said[3:])


def test_a_later_frame_may_have_a_length_like_text(frames: ModuleType) -> None:
    made = frames.Frames(SERVER)
    assert made.add(b"\0\0\0\1x") == [b"x"]
    assert made.add(b"<!DO") == []  # a gigabyte: no server is met for the first time twice
    assert made.wanted == 1 << 20


def test_a_large_first_frame_is_waited_for(frames: ModuleType) -> None:
    made = frames.Frames(SERVER)
    assert made.add(b"\x30\0\0\0") == []
    assert made.add(b"text") == []


def test_an_exception_is_decoded() -> None:
    name = "org.apache.hadoop.hbase.NotServingRegionException"
    error = RemoteError(name, f"{name}: t,,1.a. is not online: \n\tat Foo.bar(Foo.java:1)", SERVER)
    assert error.java_class == "NotServingRegionException"
    assert error.detail == "t,,1.a. is not online:"
    assert error.package == "org.apache.hadoop.hbase"


def test_the_name_of_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HADOOP_USER_NAME", "someone")
    assert identify() == Identity("someone", 0x50)


def test_other_ways_to_prove_it_are_rejected() -> None:
    with pytest.raises(NotAuthenticated, match="'kerberos' is not supported"):
        identify("kerberos")
