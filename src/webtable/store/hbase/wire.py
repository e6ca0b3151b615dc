"""The frames of HBase's RPC, and what can go wrong with a call.

On the wire (all numbers big-endian, "delimited" = varint length in front):

    once      "HBas" | version 0 | auth byte | u32 length | ConnectionHeader
    request   u32 length | delimited RequestHeader | delimited request | cell block
    response  u32 length | delimited ResponseHeader | delimited response | cell block

The errors here stay inside `store.hbase`: `retry` decides what follows from them and translates
what the caller gets to see.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from google.protobuf.message import Message

from webtable.store.hbase.auth import Identity
from webtable.store.hbase.proto import base_pb2, rpc_pb2

__all__ = [
    "CallTimedOut",
    "ConnectFailed",
    "ConnectionLost",
    "Frames",
    "NotHBase",
    "NotTrusted",
    "RemoteError",
    "RpcError",
    "Server",
    "connection_header",
    "inner_error",
    "preamble",
    "read_varint",
    "remote_error",
    "request_frame",
]

# What another protocol says first, read as a length, is more than this: "HTTP" is 1.2 GB.
MAX_RESPONSE_BYTES = 1 << 30
_SMALL_READ = 1 << 16
_LARGE_READ = 1 << 20
_ONE_BYTE = tuple(bytes((number,)) for number in range(0x80))
CODEC = "org.apache.hadoop.hbase.codec.KeyValueCodec"


class Server(NamedTuple):
    """The address under which a server is registered."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class RpcError(Exception):
    """A call did not get its answer.

    `maybe_applied` says whether the server may nevertheless have done what it was asked for.
    """

    def __init__(self, message: str, server: Server | None, *, maybe_applied: bool = False) -> None:
        super().__init__(message)
        self.server = server
        self.maybe_applied = maybe_applied

    def again(self) -> RpcError:
        """Returns an equal error to raise in another thread, with a traceback of its own."""
        twin = type(self).__new__(type(self), *self.args)
        twin.__dict__.update(self.__dict__)
        return twin


class ConnectFailed(RpcError):
    """Nobody answers at the address; nothing was sent."""


class NotTrusted(RpcError):
    """Server and client could not agree on who they are, or on whether to encrypt."""


class NotHBase(RpcError):
    """Somebody answers at the address, but not in HBase's protocol."""


class ConnectionLost(RpcError):
    """The connection broke while the call was under way, or before."""


class CallTimedOut(RpcError):
    """The server did not answer in time."""


class RemoteError(RpcError):
    """The server answered with an exception.

    Attributes:
        java_class: the exception's class, without its package.
        detail: its message, without the stack trace.
        do_not_retry: whether the server says that trying again is of no use.
        overloaded: whether the server says that it has too much to do.
        moved_to: where the region is now, if the server knows.
    """

    def __init__(self, java_class: str, stack_trace: str, server: Server | None) -> None:
        self.package, _, name = java_class.rpartition(".")
        self.java_class = name.rpartition("$")[2]
        text = stack_trace.partition("\n")[0]
        self.detail = text.removeprefix(java_class).removeprefix(":").strip()
        super().__init__(f"{self.java_class}: {self.detail}", server)
        self.do_not_retry = False
        self.overloaded = False
        self.moved_to: Server | None = None


def remote_error(exception: rpc_pb2.ExceptionResponse, server: Server) -> RemoteError:
    """Returns the error that a response header carries."""
    error = RemoteError(exception.exception_class_name, exception.stack_trace, server)
    error.do_not_retry = exception.do_not_retry
    error.overloaded = exception.server_overloaded
    if exception.hostname:
        error.moved_to = Server(exception.hostname, exception.port)
    return error


def inner_error(exception: base_pb2.NameBytesPair, server: Server) -> RemoteError:
    """Returns the error that stands in the answer to a batch, in place of a result."""
    return RemoteError(exception.name, exception.value.decode("utf-8", "replace"), server)


def preamble(identity: Identity) -> bytes:
    """Returns what a client says first."""
    return b"HBas\0" + bytes((identity.method,))


def connection_header(service: str, identity: Identity) -> bytes:
    """Returns what a client says next: who it is and which service it wants."""
    # Without a version the server would never answer a Get in cell blocks, and would say less
    # precisely why a scanner ended.
    version = base_pb2.VersionInfo(
        version="2.6.4",
        url="",
        revision="",
        user=identity.user,
        date="",
        src_checksum="",
        version_major=2,
        version_minor=6,
    )
    header = rpc_pb2.ConnectionHeader(
        user_info=rpc_pb2.UserInformation(effective_user=identity.user),
        service_name=service,
        cell_block_codec_class=CODEC,
        version_info=version,
    ).SerializeToString()
    return len(header).to_bytes(4, "big") + header


def request_frame(
    call_id: int, method: str, request: Message, timeout: float, cells: bytes
) -> bytes:
    """Returns a call as bytes. The server drops it when it cannot begin within the time-out."""
    head = b"".join(
        (
            b"\x08",
            _varint(call_id),
            _named(method),
            _cell_block_meta(len(cells)) if cells else b"",
            b"\x38",
            _varint(max(int(timeout * 1000), 1)),
        )
    )
    body = request.SerializeToString()
    head_size, body_size = _varint(len(head)), _varint(len(body))
    total = len(head_size) + len(head) + len(body_size) + len(body) + len(cells)
    return b"".join((total.to_bytes(4, "big"), head_size, head, body_size, body, cells))


@functools.cache
def _named(method: str) -> bytes:
    """Returns the part of a RequestHeader that is the same in each call of a method.

    The rest is put around it by hand: a message takes three times as long.
    """
    return rpc_pb2.RequestHeader(method_name=method, request_param=True).SerializeToString()


def _cell_block_meta(size: int) -> bytes:
    length = _varint(size)
    return b"\x2a%c\x08%b" % (len(length) + 1, length)


class Frames:
    """Puts frames together from what a socket gives."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._rest = b""
        self._parts: list[bytes] = []
        self._missing = 0

    @property
    def wanted(self) -> int:
        """How much to ask the socket for."""
        return min(self._missing, _LARGE_READ) or _SMALL_READ

    def add(self, data: bytes) -> list[bytes]:
        """Returns the frames that are complete now, without their lengths."""
        if not data:
            raise ConnectionLost(f"{self._server} closed the connection", self._server)
        if self._missing:  # then no more than that was asked for
            self._parts.append(data)
            self._missing -= len(data)
            if self._missing:
                return []
            parts, self._parts = self._parts, []
            return [b"".join(parts)]
        if self._rest:
            data = self._rest + data
        frames: list[bytes] = []
        at, size = 0, len(data)
        while size - at >= 4:
            end = at + 4 + int.from_bytes(data[at : at + 4], "big")
            if not at + 4 < end <= at + 4 + MAX_RESPONSE_BYTES:
                raise NotHBase(f"it says {data[at : at + 20]!r}", self._server)
            if end > size:
                self._parts, self._missing = [data[at + 4 :]], end - size
                at = size
                break
            frames.append(data[at + 4 : end])
            at = end
        self._rest = data[at:]
        return frames


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Returns the number that begins at a position, and the position after it."""
    byte = data[at]
    if byte < 0x80:
        return byte, at + 1
    number, shift = byte & 0x7F, 7
    while True:
        at += 1
        byte = data[at]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at + 1
        shift += 7


def _varint(number: int) -> bytes:
    if number < 0x80:
        return _ONE_BYTE[number]
    if number < 0x4000:
        return bytes((number & 0x7F | 0x80, number >> 7))
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
