"""One TCP connection to one service of one server: many calls in flight, answered in any order.

A thread reads the responses and hands each to the call that waits for it. When the connection
breaks, every call under way fails with `ConnectionLost`, and whoever needs it connects anew.
"""

from __future__ import annotations

import contextlib
import itertools
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from google.protobuf.message import DecodeError, Message

from webtable.store.hbase.auth import Identity
from webtable.store.hbase.proto import rpc_pb2
from webtable.store.hbase.wire import (
    CallTimedOut,
    ConnectFailed,
    ConnectionLost,
    NotHBase,
    RpcError,
    Server,
    hello,
    read_varint,
    remote_error,
    request_frame,
)

__all__ = ["Answer", "Call", "Connection"]

# What another protocol says first, read as a length, is more than this: "HTTP" is 1.2 GB.
MAX_RESPONSE_BYTES = 1 << 30
FATAL_CALL_ID = 0xFFFFFFFF
SEND_TIMEOUT_SECONDS = 30

M = TypeVar("M", bound=Message)


class Answer(NamedTuple, Generic[M]):
    """A response, and the bytes of its frame, in which the cell block begins at `block_at`."""

    message: M
    frame: bytes
    block_at: int


class Call:
    """A call under way. One thread may wait for it, once."""

    __slots__ = (
        "_answered",
        "_block_bytes",
        "_body_at",
        "_connection",
        "_error",
        "_frame",
        "_late",
        "id",
    )

    def __init__(self, connection: Connection, call_id: int) -> None:
        self.id = call_id
        self._connection = connection
        self._error: RpcError | None = None
        self._late: Callable[[Call], None] | None = None
        self._frame = b""
        self._body_at = 0
        self._block_bytes = 0
        # A bare lock, released by the reader, is several times cheaper than an Event.
        self._answered = threading.Lock()
        self._answered.acquire()

    def wait(self, kind: type[M], timeout: float) -> Answer[M]:
        """Returns the response.

        Raises:
            RpcError: there is none.
        """
        server = self._connection.server
        if not self._answered.acquire(timeout=max(timeout, 0)):
            self._connection.abandon(self, timeout)
            raise CallTimedOut(
                f"{server} did not answer within {timeout:.1f} s", server, maybe_applied=True
            )
        if self._error is not None:
            raise self._error
        frame = self._frame
        try:
            size, start = read_varint(frame, self._body_at)
            message = kind.FromString(frame[start : start + size])
        except (DecodeError, IndexError) as exc:
            raise NotHBase(f"unreadable answer: {exc}", server, maybe_applied=True) from exc
        return Answer(message, frame, len(frame) - self._block_bytes)

    def answer(self, frame: bytes, body_at: int, block_bytes: int) -> None:
        """Hands the response over; called by the connection's reader."""
        self._frame = frame
        self._body_at = body_at
        self._block_bytes = block_bytes
        self._answered.release()
        if self._late is not None:
            self._late(self)

    def fail(self, error: RpcError) -> None:
        """Ends the call without a response; called by the connection."""
        self._error = error
        self._answered.release()

    def abandon(self, late: Callable[[Call], None] | None = None) -> None:
        """Lets the answer go to nobody, or to `late` when it comes, in whatever thread.

        Where the answer comes at this very moment, `late` may be called twice; the call has the
        answer for the first one only.
        """
        if late is None:
            self._connection.abandon(self, 0)
            return
        self._late = late
        if self._answered.acquire(blocking=False):
            self._answered.release()
            late(self)


class Connection:
    """A connection to one service. Made connected; safe to use from many threads.

    `address` is where to connect, which differs from `server` where a host map says so.
    """

    def __init__(
        self, server: Server, service: str, identity: Identity, address: Server, timeout: float
    ) -> None:
        self.server = server
        self.is_open = True
        self._ids = itertools.count(1)
        self._pending: dict[int, Call] = {}
        self._sending = threading.Lock()
        self._unsent: deque[bytes] = deque()
        self._heard_at = time.monotonic()
        self._socket = _connect(server, address, timeout)
        self._incoming = self._socket.makefile("rb", buffering=1 << 16)
        self._reader = threading.Thread(
            target=self._read, name=f"webtable-hbase-{server}-{service}", daemon=True
        )
        self._reader.start()
        self._transmit(hello(service, identity), timeout)

    def submit(self, method: str, request: Message, timeout: float, cells: bytes = b"") -> Call:
        """Sends a call and returns without waiting for its answer.

        Raises:
            RpcError: it could not be sent.
        """
        call = Call(self, next(self._ids) & 0x7FFFFFFF)
        frame = request_frame(call.id, method, request, timeout, cells)
        self._pending[call.id] = call
        # Looked at after the call is among the pending ones: whoever closes the connection sets
        # the flag first and empties the list then, so no call is left waiting.
        if not self.is_open:
            self._pending.pop(call.id, None)
            raise ConnectionLost(f"connection to {self.server} is closed", self.server)
        try:
            self._transmit(frame, timeout)
        except RpcError:
            self._pending.pop(call.id, None)
            raise
        return call

    def call(
        self, method: str, request: Message, kind: type[M], timeout: float, cells: bytes = b""
    ) -> Answer[M]:
        """Sends a call and waits for its answer.

        Raises:
            RpcError: there is none.
        """
        return self.submit(method, request, timeout, cells).wait(kind, timeout)

    def tell(self, method: str, request: Message) -> None:
        """Sends a call whose answer does not matter; never waits for one and never raises.

        An abandoned scan is closed by it, which may happen in any thread at any point, also in
        one that is in the middle of sending; then whoever sends takes it along.
        """
        self._unsent.append(request_frame(next(self._ids) & 0x7FFFFFFF, method, request, 10, b""))
        self._send_unsent()

    def abandon(self, call: Call, waited: float) -> None:
        """Forgets a call whose answer nobody waits for any more.

        A connection on which nothing at all came in meanwhile is taken for dead.
        """
        self._pending.pop(call.id, None)
        if waited > 1 and time.monotonic() - self._heard_at >= waited:
            self._break(ConnectionLost(f"{self.server} fell silent", self.server))

    def close(self) -> None:
        """Closes the connection after what was sent; calls under way fail."""
        was_open, self.is_open = self.is_open, False
        if was_open:
            # Half-closed, the server still reads what was sent; then its own end comes back.
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)
            if threading.current_thread() is not self._reader:
                self._reader.join(timeout=1)
        self._break(ConnectionLost("the store was closed", self.server))

    def _transmit(self, frame: bytes, timeout: float) -> None:
        if not self._sending.acquire(timeout=max(timeout, 0)):
            raise CallTimedOut(f"connection to {self.server} is congested", self.server)
        try:
            self._socket.sendall(frame)
        except OSError as exc:
            message = f"connection to {self.server} broke: {exc}"
            error = ConnectionLost(message, self.server, maybe_applied=True)
            self._break(error)
            raise error from exc
        finally:
            self._sending.release()
        if self._unsent:
            self._send_unsent()

    def _send_unsent(self) -> None:
        while self._unsent and self._sending.acquire(blocking=False):
            try:
                self._socket.sendall(self._unsent.popleft())
            except (OSError, IndexError):
                return
            finally:
                self._sending.release()

    def _read(self) -> None:
        try:
            while True:
                self._deliver(self._next_frame())
        except RpcError as exc:
            self._break(exc)
        except (DecodeError, IndexError) as exc:
            self._break(NotHBase(f"unreadable answer: {exc}", self.server))
        except (OSError, ValueError) as exc:  # ValueError: the socket was closed meanwhile
            self._break(ConnectionLost(f"connection to {self.server} broke: {exc}", self.server))
        finally:
            self._incoming.close()

    def _next_frame(self) -> bytes:
        head = self._incoming.read(4)
        if len(head) == 4:
            size = int.from_bytes(head, "big")
            if not 0 < size <= MAX_RESPONSE_BYTES:
                raise NotHBase(f"it says {head!r}", self.server)
            frame = self._incoming.read(size)
            if len(frame) == size:
                self._heard_at = time.monotonic()
                return frame
        raise ConnectionLost(f"{self.server} closed the connection", self.server)

    def _deliver(self, frame: bytes) -> None:
        size, start = read_varint(frame, 0)
        end = start + size
        header = rpc_pb2.ResponseHeader.FromString(frame[start:end])
        call = self._pending.pop(header.call_id, None)
        if header.HasField("exception"):
            error = remote_error(header.exception, self.server)
            if call is not None:
                call.fail(error)
            elif header.call_id == FATAL_CALL_ID:
                raise error
        elif call is not None:
            call.answer(frame, end, header.cell_block_meta.length)

    def _break(self, error: RpcError) -> None:
        self.is_open = False
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        while self._pending:
            try:
                _, call = self._pending.popitem()
            except KeyError:
                break
            mine = error.again()
            mine.maybe_applied = True
            call.fail(mine)


def _connect(server: Server, address: Server, timeout: float) -> socket.socket:
    try:
        connected = socket.create_connection(address, timeout=max(timeout, 0.05))
        connected.settimeout(None)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        # Bounds a send to a server that no longer reads, and leaves the reader waiting for ever.
        limit = struct.pack("ll", SEND_TIMEOUT_SECONDS, 0)
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
    except OSError as exc:
        where = str(server) if server == address else f"{server} (at {address})"
        raise ConnectFailed(f"cannot connect to {where}: {exc}", server) from exc
    return connected
