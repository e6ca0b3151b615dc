"""A call of a connection: the thread that waits for it, and its result.

This module may be running compiled, by Cython from this very file and the C types in `_calls.pxd`,
which those of `pipelined_connection` rely on; that module imports the form that is to run.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

from google.protobuf.message import DecodeError

from webtable import compiled
from webtable.store.cells_and_rows import Row
from webtable.store.hbase.wire.cell_blocks import cut_row
from webtable.store.hbase.wire.errors_and_responses import (
    CallTimedOut,
    NotHBase,
    Response,
    RpcError,
    RpcResponse,
)
from webtable.store.hbase.wire.requests_and_results import response_row

if TYPE_CHECKING:
    from webtable.store.hbase.wire import frames, request_bytes
    from webtable.store.hbase.wire.pipelined_connection import Connection
else:
    frames = compiled.load("webtable.store.hbase.wire", "frames")
    request_bytes = compiled.load("webtable.store.hbase.wire", "request_bytes")

__all__ = ["COMPILED", "Call"]

COMPILED: bool = not __file__.endswith((".py", ".pyc"))
"""Whether this is machine code."""

_compiled = COMPILED  # the same as a C variable
_WOKEN = 1
MOST_MESSAGE_BYTES = 1 << 27
"""A message that is larger is not HBase's: cells travel beside it, and are as many as may be."""

M = TypeVar("M", bound=Response)
_read_varint = frames.read_varint
_cells_in_result = request_bytes.cells_in_result


class Call:
    """A call under way. One thread may wait for it, once."""

    __slots__ = (
        "_block_bytes",
        "_body_at",
        "_connection",
        "_error",
        "_frame",
        "_is_awake",
        "_woken",
        "id",
        "in_turn",
        "is_settled",
        "is_waited_for",
        "is_withdrawn",
        "request",
    )

    def __init__(self, connection: Connection, call_id: int, request: bytes) -> None:
        self.id = call_id
        self.request = request
        self.is_withdrawn = False  # from the outbox, so nothing of it was sent
        self.is_settled = False  # its response has come, or will not come
        self.is_waited_for = False  # a thread sleeps until it is woken, or is about to
        self.in_turn = False  # its thread may be woken by another, and checks now and then
        self._connection = connection
        self._error: RpcError | None = None
        self._frame: bytes | None = None
        self._body_at = 0
        self._block_bytes = 0
        self._is_awake = False
        self._woken: threading.Lock | None = None

    def wait(self, kind: type[M], timeout: float) -> RpcResponse[M]:
        """Returns the response, as `kind` reads it.

        Raises:
            RpcError: no response came.
        """
        if not self.is_settled:
            self._connection.settle(self, timeout)
        body, frame, block_at = self._received(timeout)
        try:
            message = kind.FromString(body)
        except DecodeError as exc:
            raise self._unreadable(exc) from exc
        return RpcResponse(message, frame, block_at)

    def row(self, waited: float) -> Row | None:
        """Returns the row that a get found, after so many seconds if it is not settled.

        Raises:
            RpcError: no response came.
        """
        body, frame, block_at = self._received(waited)
        count = _cells_in_result(body)
        if count > 0:
            try:
                return cut_row(frame, block_at, count)[0]
            except ValueError:
                pass  # which is raised below
        return response_row(body, frame, block_at)

    def _received(self, timeout: float) -> tuple[bytes, bytes, int]:
        """Returns the message of the response, the frame that it came in, where its cells begin."""
        if not self.is_settled:
            server = self._connection.server
            waited = f"within {timeout:.1f} s" if timeout > 0 else "in the time that was left"
            text = f"{server} did not respond {waited}"
            raise CallTimedOut(text, server, maybe_applied=not self.is_withdrawn)
        if self._error is not None:
            raise self._error
        frame = self._frame
        assert frame is not None
        block_at = len(frame) - self._block_bytes
        try:
            start = self._body_at + 1
            size = frame[start - 1] if start <= block_at else 0x80
            if size >= 0x80:
                size, start = _read_varint(frame, self._body_at)
            # Not as a sum: C's would overflow where a damaged size is as large as can be.
            if size > block_at - start:
                raise IndexError(f"{size} and {self._block_bytes} bytes in {len(frame)}")
            if size > MOST_MESSAGE_BYTES:
                raise IndexError(f"a message of {size} bytes")
        except IndexError as exc:
            raise self._unreadable(exc) from exc
        return frame[start : start + size], frame, block_at

    def _unreadable(self, why: Exception) -> NotHBase:
        server = self._connection.server
        return NotHBase(f"unreadable response: {why}", server, maybe_applied=True)

    @property
    def error(self) -> RpcError | None:
        """Why no response will come; None while that is open."""
        return self._error

    def begin_waiting(self) -> None:
        """Makes the call one that can be woken."""
        if _compiled:
            self._lock = c_acquired_lock()  # type: ignore[name-defined,misc]  # noqa: F821
        else:
            self._woken = threading.Lock()
            self._woken.acquire()
        self.is_waited_for = True

    def sleep(self, seconds: float, following: Call | None) -> bool:
        """Waits until it is woken, or until the time is up; returns whether it was woken.

        The thread that waits for the call `following` is woken first; in the compiled form when
        Python's lock is free, so that it need not wait for that.
        """
        if _compiled:
            micros = int(max(seconds, 0) * 1e6)
            if following is None or following._is_awake:
                got = c_sleep(self._lock, micros)  # type: ignore[name-defined]  # noqa: F821
            else:
                following._is_awake = True
                got = c_wake_and_sleep(following._lock, self._lock, micros)  # type: ignore[name-defined]  # noqa: F821
            if got == _WOKEN:
                self._is_awake = False
                return True
            # Whether or not it was one that ended the sleep: it may have come before.
            PyErr_CheckSignals()  # type: ignore[name-defined]  # noqa: F821
            return False
        assert self._woken is not None
        if following is not None:
            following.wake()
        return self._woken.acquire(timeout=max(seconds, 0))

    def wake(self) -> None:
        """Lets the thread that waits look again; waking twice does nothing more."""
        if _compiled:
            if self.is_waited_for and not self._is_awake:
                self._is_awake = True
                c_wake(self._lock)  # type: ignore[name-defined]  # noqa: F821
        elif self._woken is not None:
            try:
                self._woken.release()
            except RuntimeError:
                return

    def __dealloc__(self) -> None:
        # Of the compiled form only; Python's own locks see to themselves.
        c_free_lock(self._lock)  # type: ignore[name-defined]  # noqa: F821

    def receive(self, frame: bytes, body_at: int, block_bytes: int) -> None:
        """Settles the call with a response; the thread that waits for it is still to be woken."""
        self._body_at = body_at
        self._block_bytes = block_bytes
        self._frame = frame
        self.is_settled = True

    def fail(self, error: RpcError) -> None:
        """Settles the call without a response."""
        self._error = error
        self.is_settled = True
        self.wake()
