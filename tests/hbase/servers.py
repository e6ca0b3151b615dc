"""Servers that a test plays itself: one that speaks HBase's RPC, one that passes bytes on."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from google.protobuf.message import Message

from webtable.store.hbase.proto import rpc_pb2
from webtable.store.hbase.wire.errors_and_responses import Server
from webtable.store.hbase.wire.frames import read_varint

HOST = "127.0.0.1"


class Request(NamedTuple):
    header: rpc_pb2.RequestHeader
    body: bytes
    cells: bytes


class Peer:
    """The server's end of one connection."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self._file = connected.makefile("rb")

    def read(self, size: int) -> bytes:
        return self._file.read(size)

    def read_hello(self) -> tuple[bytes, rpc_pb2.ConnectionHeader]:
        preamble = self._file.read(6)
        size = int.from_bytes(self._file.read(4), "big")
        return preamble, rpc_pb2.ConnectionHeader.FromString(self._file.read(size))

    def read_request(self) -> Request:
        size = int.from_bytes(self._file.read(4), "big")
        frame = self._file.read(size)
        size, at = read_varint(frame, 0)
        header = rpc_pb2.RequestHeader.FromString(frame[at : at + size])
        size, at = read_varint(frame, at + size)
        end = at + size
        return Request(header, frame[at:end], frame[end:])

    def answer(self, call_id: int, message: Message, cells: bytes = b"") -> None:
        self.answer_all([(call_id, message, cells)])

    def answer_all(self, answers: Iterable[tuple[int, Message, bytes]]) -> None:
        """Sends several responses at once."""
        frames: list[bytes] = []
        for call_id, message, cells in answers:
            header = rpc_pb2.ResponseHeader(call_id=call_id)
            if cells:
                header.cell_block_meta.length = len(cells)
            frames.append(_frame(delimited(header) + delimited(message) + cells))
        self.socket.sendall(b"".join(frames))

    def refuse(self, call_id: int, java_class: str, text: str = "") -> None:
        header = rpc_pb2.ResponseHeader(call_id=call_id)
        header.exception.exception_class_name = java_class
        header.exception.stack_trace = f"{java_class}: {text}\n\tat somewhere"
        self.socket.sendall(_frame(delimited(header)))


def delimited(message: Message) -> bytes:
    data = message.SerializeToString()
    return varint(len(data)) + data


def varint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


@contextlib.contextmanager
def listening(play: Callable[[Peer], None]) -> Iterator[Server]:
    """Plays the server's part on every connection, each in a thread of its own."""
    with socket.create_server((HOST, 0)) as listener:
        connections: list[socket.socket] = []

        def run(connected: socket.socket) -> None:
            with contextlib.suppress(OSError, IndexError), connected:
                play(Peer(connected))

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connected, _ = listener.accept()
                    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    connections.append(connected)
                    threading.Thread(target=run, args=(connected,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield Server(HOST, listener.getsockname()[1])
        for connected in connections:
            _shut(connected)


class Proxy:
    """Passes bytes on to a server, and cuts connections on request.

    `cut_after` is a number of bytes from the server: when so many have passed on one connection,
    the connection is cut, in the middle of whatever it was; once for each time it is set.
    """

    def __init__(self, target: Server) -> None:
        self._target = target
        self._listener = socket.create_server((HOST, 0))
        self._open: list[socket.socket] = []
        self.cut_after: int | None = None
        self.cuts = 0
        self.address = Server(HOST, self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        _shut(self._listener)
        for each in self._open:
            _shut(each)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._target)
                self._open += (client, server)
                for source, sink in ((client, server), (server, client)):
                    is_answer = source is server
                    threading.Thread(
                        target=self._pass_on, args=(source, sink, is_answer), daemon=True
                    ).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket, is_answer: bool) -> None:
        passed = 0
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                passed += len(data)
                limit = self.cut_after
                if is_answer and limit is not None and passed > limit:
                    self.cut_after = None
                    self.cuts += 1
                    sink.sendall(data[: len(data) // 2])
                    break
                sink.sendall(data)
        _shut(source)
        _shut(sink)


def unused_port() -> int:
    """Returns a port at which no process listens."""
    with socket.create_server((HOST, 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _frame(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def _shut(connected: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)
    connected.close()
