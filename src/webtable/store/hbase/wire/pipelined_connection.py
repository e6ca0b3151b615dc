"""One TCP connection to one service of one server: many calls in flight, responses in any order.

It has no thread of its own. Of the threads that wait for responses one reads, and gives each to
the call that it belongs to; when its own has come, the next one reads. A thread that is alone thus
waits in the socket itself, which is quicker by a third than to be woken by a reader thread.
Requests go through an outbox: a thread that finds another one sending leaves its request there, and
that thread sends it too. So no thread waits for the right to send, and many requests share a
packet. When the connection breaks, every call under way fails with `ConnectionLost`.

The module to import is `choose_compiled_connection`: this one may be running compiled, by Cython
from this very file and the C types in `_pipelined_connection.pxd`.
"""

from __future__ import annotations

import contextlib
import itertools
import select
import socket
import struct
from collections import deque
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from google.protobuf.message import DecodeError, Message

from webtable import compiled
from webtable.errors import NotAuthenticated
from webtable.store.cells_and_rows import Row
from webtable.store.hbase.wire.auth import Identity, connection_header, preamble
from webtable.store.hbase.wire.errors_and_responses import (
    ConnectFailed,
    ConnectionLost,
    NotHBase,
    NotTrusted,
    Response,
    RpcError,
    RpcResponse,
    Server,
    remote_error,
)
from webtable.store.hbase.wire.requests_and_results import region_field, varint
from webtable.store.hbase.wire.sockets import dial
from webtable.store.hbase.wire.tls import TlsFailed

if TYPE_CHECKING:
    from webtable.store.hbase.wire import calls, frames, stream, thread_turns
    from webtable.store.hbase.wire.calls import Call
else:
    calls = compiled.load("webtable.store.hbase.wire", "calls")
    frames = compiled.load("webtable.store.hbase.wire", "frames")
    stream = compiled.load("webtable.store.hbase.wire", "stream")
    thread_turns = compiled.load("webtable.store.hbase.wire", "thread_turns")

__all__ = ["COMPILED", "Connection"]

COMPILED = not __file__.endswith((".py", ".pyc"))
"""Whether this is machine code."""

_compiled = COMPILED  # the same as a C variable
if COMPILED and not all(each.COMPILED for each in (calls, frames, stream, thread_turns)):
    raise ImportError(
        "it works with calls, frames, stream and thread_turns in their compiled form only"
    )
_new_call = calls.Call
_SYSTEM = b"hbase:"
_read_head, _request_frame = frames.read_head, frames.request_frame

FATAL_CALL_ID = 0xFFFFFFFF
SEND_TIMEOUT_SECONDS = 30
LEAST_SILENCE_SECONDS = 1.0
IDLE_SECONDS = 0.02
SENT_TOGETHER_BYTES = 1 << 16
SLEEP_SECONDS = 0.2

M = TypeVar("M", bound=Response)
_NO_LINGER = struct.pack("ii", 1, 0)


class Connection:
    """A connection to one service. Made connected; safe to use from many threads.

    `address` is where to connect, which differs from `server` where a host map has it; `spins`,
    whether a thread that waits alone may spin before it sleeps.
    """

    def __init__(
        self,
        server: Server,
        service: str,
        identity: Identity,
        address: Server,
        timeout: float,
        *,
        spins: bool = True,
    ) -> None:
        self.server = server
        self.is_open = True
        self._ids = itertools.count(1)
        self._pending: dict[int, Call] = {}
        self._outbox: deque[Call] = deque()
        self._settled: list[Call] = []
        self._turns = thread_turns.Turns()
        self._is_crowded = False
        self._sending = thread_turns.Right()
        self._reading = thread_turns.Right()
        self._frames = frames.Frames(server)
        self._heard_at = self._sent_at = self._now()
        self._socket = dial(server, address, identity, timeout)
        self._stream = stream.Stream(self._socket, spins=spins)
        opening, header = preamble(identity), connection_header(service, identity)
        if identity.handshake is None:
            opening += header  # saves a packet
        try:
            self._send(opening, timeout)
            if identity.handshake is not None:
                identity.handshake(self._socket, timeout)
                self._send(header, timeout)
        except OSError as exc:
            self._socket.close()
            raise ConnectFailed(f"{self.server} broke off: {exc}", self.server) from exc
        except NotAuthenticated:
            self._socket.close()
            raise

    def submit(
        self, method: str, request: Message | bytes, timeout: float, cells: bytes = b""
    ) -> Call:
        """Sends a call and returns without waiting for its response.

        Raises:
            RpcError: it could not be sent. Later failures are raised in the thread that waits.
        """
        call_id = next(self._ids) & 0x7FFFFFFF
        body = request if isinstance(request, bytes) else request.SerializeToString()
        call = _new_call(self, call_id, _request_frame(call_id, method, body, timeout, cells))
        # After calls that no thread waited for lately the end of the stream may be unread too.
        is_idle = not self._pending or self._now() - self._heard_at > IDLE_SECONDS
        self._begin(call, timeout, is_idle)
        return call

    def get(self, region: bytes, message: bytes, timeout: float) -> Row | None:
        """Reads a row of a region.

        Raises:
            RpcError: no response came.
        """
        call_id = next(self._ids) & 0x7FFFFFFF
        # A server finds the priority of a call by reflection where it is not given.
        method = "Get" if region.startswith(_SYSTEM) else "Get!"
        body = b"".join((region_field(region), b"\x12", varint(len(message)), message))
        call = _new_call(self, call_id, _request_frame(call_id, method, body, timeout, b""))
        # Threads that read rows come back soon, if any do.
        call.in_turn = self._turns.are_used()
        # After recent data from the server a check of the connection is not needed; a get may be
        # lost.
        is_idle = not self._pending and self._now() - self._heard_at > IDLE_SECONDS
        self._begin(call, timeout, is_idle)
        if not call.is_settled:
            self.settle(call, timeout)
        return call.row(timeout)

    def _now(self) -> float:
        return c_now() if _compiled else monotonic()  # type: ignore[name-defined]  # noqa: F821

    def _begin(self, call: Call, timeout: float, is_idle: bool) -> None:
        if is_idle:
            self._check_alive()
        if self._heard_at >= self._sent_at:
            self._sent_at = self._now()
        self._pending[call.id] = call
        # Checked after the call is among the pending ones: the thread that breaks the connection
        # sets the flag first and empties the list then, so no call is left waiting.
        if not self.is_open:
            self._pending.pop(call.id, None)
            raise ConnectionLost(f"connection to {self.server} is closed", self.server)
        self._outbox.append(call)
        self._send_out(timeout)
        if not self.is_open and call.error is not None:
            raise call.error

    def call(
        self,
        method: str,
        request: Message | bytes,
        kind: type[M],
        timeout: float,
        cells: bytes = b"",
    ) -> RpcResponse[M]:
        """Sends a call and waits for its response.

        Raises:
            RpcError: no response came.
        """
        return self.submit(method, request, timeout, cells).wait(kind, timeout)

    def settle(self, call: Call, timeout: float) -> bool:
        """Waits until a call is settled, and reads for all threads where no other thread does.

        Returns False when the time is up; the call is abandoned then.
        """
        end = self._now() + timeout
        patience = 0.0
        if call.in_turn:
            patience = self._turns.patience_of(call.id)
            self._turns.end()
        try:
            while not call.is_settled and self._now() < end:
                if self._reads_for(call, end):
                    continue
                if not call.is_waited_for:
                    # After this one more attempt to read: a reader that stops releases its right
                    # first, and looks for a call that is waited for then. So it either leaves the
                    # place to us or wakes us.
                    call.begin_waiting()
                elif not call.in_turn:
                    # Not for long, as a signal may have come just before.
                    call.sleep(min(SLEEP_SECONDS, end - self._now()), None)
                elif not call.sleep(
                    min(patience, SLEEP_SECONDS, end - self._now()), self._turns.next()
                ):
                    patience *= 2
                    if not self._turns.leave(call):
                        self._wake_all()
                    if call.is_settled:
                        # The last reader may have left that to this thread, as it had a turn.
                        self._wake_reader(None)
        except BaseException:
            self._wake_all()  # threads that this one was to wake would wait in vain
            self._wake_reader(None)
            raise
        finally:
            if not call.is_settled:
                self.abandon(call, timeout)
                # We may just have been woken to read; then the next one must be.
                if self._reading.take():
                    self._stop_reading(None)
            elif call.in_turn:
                self._turns.waited(self._now() - end + timeout)
        return call.is_settled

    def _reads_for(self, call: Call, end: float) -> bool:
        """Reads until a call is settled; returns whether there is no more to do about it.

        Another thread may be reading, or another thread may have its turn first.
        """
        if not self._reading.take():
            return False
        is_on = True
        try:
            while is_on and not call.is_settled and self._now() < end:
                is_on = self._read(not (call.in_turn and self._turns.are_waited_for()))
        finally:
            self._stop_reading(call)
        return is_on

    def take_in(self) -> None:
        """Reads the responses that have come, without waiting for more."""
        if not self._pending or not self._reading.take():
            return
        try:
            if self.is_open:
                poller = select.poll()
                poller.register(self._socket, select.POLLIN)
                while self.is_open and poller.poll(0):
                    self._read(True)
        finally:
            self._stop_reading(None)

    def abandon(self, call: Call, waited: float) -> None:
        """Forgets a call whose response no thread waits for any more.

        A connection on which nothing at all came in meanwhile counts as dead; where time-outs
        are short, meanwhile means since the first request without a response.
        """
        self._pending.pop(call.id, None)
        with contextlib.suppress(ValueError):
            self._outbox.remove(call)
            call.is_withdrawn = True
        silent_since = max(self._heard_at, self._sent_at)
        if self._now() - silent_since >= max(waited, LEAST_SILENCE_SECONDS):
            self._break(ConnectionLost(f"{self.server} fell silent", self.server))

    def close(self) -> None:
        """Closes the connection after what was sent; calls under way fail."""
        was_open, self.is_open = self.is_open, False
        if was_open:
            end = self._now() + 1
            with contextlib.suppress(OSError):
                # Half-closed, the server still reads what was sent; then its own end comes back.
                self._socket.shutdown(socket.SHUT_WR)
                while self._now() < end and self._reading.take():
                    try:
                        if not self._socket.recv(1 << 16):
                            break
                    finally:
                        self._reading.give_back()
        self._break(ConnectionLost("the store was closed", self.server), take_back=False)

    def _check_alive(self) -> None:
        # A server that closed the connection while it was idle has left the end to be read.
        if self._pending:
            self.take_in()
        elif self._stream.is_ended():
            self._break(ConnectionLost(f"{self.server} closed the connection", self.server))

    def _send_out(self, timeout: float) -> None:
        """Sends what is in the outbox, unless another thread does it."""
        # A sender checks again after it has released the right; so no request is left behind.
        while self._outbox and self._sending.take():
            try:
                self._send(self._next_out(), timeout)
            except OSError as exc:
                message = f"connection to {self.server} broke: {exc}"
                self._break(ConnectionLost(message, self.server))
            finally:
                self._sending.give_back()
                if not self.is_open:
                    self._close_if_unused()

    def _next_out(self) -> bytes:
        frames: list[bytes] = []
        frame = b""
        size = 0
        while self._outbox and size < SENT_TOGETHER_BYTES:
            try:
                frame = self._outbox.popleft().request
            except IndexError:
                break  # a thread whose time was up has withdrawn its request
            frames.append(frame)
            size += len(frame)
        return frame if len(frames) == 1 else b"".join(frames)

    def _send(self, frame: bytes, timeout: float) -> None:
        try:
            sent = self._stream.send(frame)
        except BlockingIOError:
            sent = 0
        if sent < len(frame):
            self._send_rest(memoryview(frame)[sent:], timeout)

    def _send_rest(self, rest: memoryview, timeout: float) -> None:
        # A server that cannot send its responses stops reading requests. So while a request does
        # not go out, responses are read, unless another thread does that anyway.
        # A part of a request cannot be withdrawn; a thread with little time gets a moment more.
        seconds = min(max(timeout, LEAST_SILENCE_SECONDS), SEND_TIMEOUT_SECONDS)
        end = self._now() + seconds
        poller = select.poll()
        while rest:
            is_reader = self._reading.take()
            try:
                poller.register(self._socket, select.POLLOUT | (select.POLLIN if is_reader else 0))
                events = poller.poll(100)
                if is_reader and events and events[0][1] & select.POLLIN:
                    self._read(True)
            finally:
                if is_reader:
                    self._stop_reading(None)
            with contextlib.suppress(BlockingIOError):
                rest = rest[self._socket.send(rest, socket.MSG_DONTWAIT) :]
            if rest and self._now() > end:
                raise TimeoutError(f"it did not take a request in within {seconds:.1f} s")

    def _read(self, waits: bool) -> bool:
        """Reads what comes within a moment; called by the thread that has the right to read.

        Returns False where it should not wait and nothing has come.
        """
        try:
            data = self._receive(waits)
            if data is None:
                return False
            self._heard_at = self._now()
            complete = self._frames.add(data)
            self._is_crowded = len(complete) > 1
            for frame in complete:
                self._deliver(frame)
        except BlockingIOError:
            self._is_crowded = False
            if _compiled:
                PyErr_CheckSignals()  # type: ignore[name-defined]  # noqa: F821
        except RpcError as exc:
            self._break(exc)
        except (DecodeError, IndexError) as exc:
            self._break(NotHBase(f"unreadable response: {exc}", self.server))
        except TlsFailed as exc:
            self._break(NotTrusted(f"{self.server}: {exc}", self.server))
        except OSError as exc:
            self._break(ConnectionLost(f"connection to {self.server} broke: {exc}", self.server))
        return True

    def _receive(self, waits: bool) -> bytes | None:
        wanted = self._frames.wanted
        # Where several responses came at once, more may have come by now.
        if self._is_crowded or not waits:
            data = self._stream.take(wanted)
            if data is not None or not waits:
                return data
        # Only now, when Python's lock is about to come free: before that they could do nothing.
        self._wake_settled()
        self._wake_next()
        return self._stream.receive(wanted, len(self._pending) == 1)

    def _wake_settled(self) -> None:
        if self._settled:
            settled, self._settled = self._settled, []
            are_used = len(settled) > 1 and self._turns.are_used()
            for call in settled:
                if are_used and call.in_turn:
                    self._turns.add(call)
                else:
                    call.wake()

    def _wake_next(self) -> None:
        following = self._turns.next()
        if following is not None:
            following.wake()

    def _wake_all(self) -> None:
        """Wakes all threads whose turn is to come, as the one that was to wake them does not."""
        for call in self._turns.all():
            call.wake()

    def _stop_reading(self, reader: Call | None) -> None:
        self._wake_settled()
        self._reading.give_back()
        if not self.is_open:
            self._close_if_unused()
        if reader is not None and reader.in_turn and self._turns.are_waited_for():
            if reader.is_settled:
                self._turns.begin()
            return  # it will be back soon, to read or to wake the next one
        self._wake_next()
        self._wake_reader(reader)

    def _wake_reader(self, former: Call | None) -> None:
        if self._pending:
            for call in list(self._pending.values()):
                if call is not former and call.is_waited_for:
                    call.wake()
                    return

    def _deliver(self, frame: bytes) -> None:
        call_id, body_at, block_bytes, exception = _read_head(frame)
        call = self._pending.pop(call_id, None)
        if exception is not None:
            error = remote_error(exception, self.server)
            if call is not None:
                call.fail(error)
            elif call_id == FATAL_CALL_ID:
                raise error
        elif call is not None:
            call.receive(frame, body_at, block_bytes)
            if call.is_waited_for:
                self._settled.append(call)

    def _break(self, error: RpcError, *, take_back: bool = True) -> None:
        self.is_open = False
        with contextlib.suppress(OSError):
            if take_back:
                # Closing resets the connection then: what the system has not delivered yet, it
                # drops, and a request that is made again elsewhere does not arrive here later.
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
            self._socket.shutdown(socket.SHUT_RDWR)
        self._close_if_unused()
        with contextlib.suppress(IndexError):
            while True:
                self._outbox.popleft().is_withdrawn = True
        self._wake_all()
        with contextlib.suppress(KeyError):
            while True:
                _, call = self._pending.popitem()
                mine = error.again()
                mine.maybe_applied = not call.is_withdrawn
                call.fail(mine)

    def _close_if_unused(self) -> None:
        # Not while another thread is about to read or write: the system gives the number of a
        # closed socket to the next one that is opened, which it would then read from.
        if self._sending.take():
            try:
                if self._reading.take():
                    try:
                        self._stream.end()
                        self._socket.close()
                    finally:
                        self._reading.give_back()
            finally:
                self._sending.give_back()
