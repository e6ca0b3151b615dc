"""Frames as bytes, and how they are put together again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webtable.errors import NotAuthenticated
from webtable.store.hbase.auth import Identity, identify
from webtable.store.hbase.proto import client_pb2, rpc_pb2
from webtable.store.hbase.wire import (
    ConnectionLost,
    Frames,
    NotHBase,
    RemoteError,
    Server,
    connection_header,
    preamble,
    read_varint,
    request_frame,
)

from .servers import delimited

SERVER = Server("host", 16020)


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


def test_a_request_is_these_bytes() -> None:
    request = client_pb2.ScanRequest(scanner_id=5)
    header = rpc_pb2.RequestHeader(call_id=7, method_name="Scan", request_param=True, timeout=1500)
    header.cell_block_meta.length = 300
    body = delimited(header) + delimited(request) + b"x" * 300
    expected = len(body).to_bytes(4, "big") + body
    assert request_frame(7, "Scan", request, 1.5, b"x" * 300) == expected


@given(st.integers(0, 2**40), st.binary(max_size=3))
def test_numbers_of_any_length(number: int, before: bytes) -> None:
    data, rest = bytearray(before), number
    while rest >= 0x80:
        data.append(rest & 0x7F | 0x80)
        rest >>= 7
    data.append(rest)
    assert read_varint(bytes(data) + b"\x80", len(before)) == (number, len(data))


@given(st.lists(st.binary(min_size=1, max_size=200_000), max_size=6), st.data())
def test_frames_come_back_however_they_are_cut(bodies: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(len(body).to_bytes(4, "big") + body for body in bodies)
    frames, found = Frames(SERVER), []
    while stream:
        size = data.draw(st.integers(1, min(frames.wanted, len(stream))))
        found += frames.add(stream[:size])
        stream = stream[size:]
    assert found == bodies


def test_the_end_of_a_connection() -> None:
    with pytest.raises(ConnectionLost, match="host:16020 closed the connection"):
        Frames(SERVER).add(b"")


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n", b"SSH-2.0-x", b"\0\0\0\0\0"])
def test_another_protocol_is_noticed(said: bytes) -> None:
    with pytest.raises(NotHBase):
        Frames(SERVER).add(said)


def test_an_exception_is_taken_apart() -> None:
    name = "org.apache.hadoop.hbase.NotServingRegionException"
    error = RemoteError(name, f"{name}: t,,1.a. is not online: \n\tat Foo.bar(Foo.java:1)", SERVER)
    assert error.java_class == "NotServingRegionException"
    assert error.detail == "t,,1.a. is not online:"
    assert error.package == "org.apache.hadoop.hbase"


def test_the_name_of_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HADOOP_USER_NAME", "someone")
    assert identify() == Identity("someone", 0x50)


def test_other_ways_to_prove_it_are_refused() -> None:
    with pytest.raises(NotAuthenticated, match="'kerberos' is not supported"):
        identify("kerberos")
