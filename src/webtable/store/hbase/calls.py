"""A call of a connection: who waits for it, and what came of it.

This module may be running compiled, by Cython from this very file and the C types in `_calls.pxd`,
which those of `pipe` rely on; `pipe` imports the form that is to run.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

from google.protobuf.message import DecodeError

from webtable import compiled
from webtable.store.hbase.wire import Answer, CallTimedOut, NotHBase, Response, RpcError
from webtable.store.model import Row

if TYPE_CHECKING:
    from webtable.store.hbase import gets
    from webtable.store.hbase.pipe import Connection
else:
    gets = compiled.load("webtable.store.hbase", "gets")

__all__ = ["COMPILED", "Call"]

COMPILED: bool = not __file__.endswith((".py", ".pyc"))
"""Whether this is machine code."""

M = TypeVar("M", bound=Response)
_body_of, _row_of = gets.body_of, gets.row_of


class Call:
    """A call under way. One thread may wait for it, once."""

    __slots__ = (
        "_block_bytes",
        "_body_at",
        "_connection",
        "_error",
        "_frame",
        "_row",
        "_woken",
        "id",
        "is_settled",
        "is_taken_back",
        "region",
        "request",
        "seconds",
    )

    def __init__(
        self,
        connection: Connection,
        call_id: int,
        request: bytes,
        region: bytes = b"",
        seconds: float = 0.0,
    ) -> None:
        self.id = call_id
        self.request = request  # the frame; of a get, the message
        self.region = region
        self.seconds = seconds
        self.is_taken_back = False  # from the outbox, so nothing of it was sent
        self.is_settled = False  # its answer has come, or will not come
        self._connection = connection
        self._error: RpcError | None = None
        self._frame: bytes | None = None
        self._row: Row | None = None
        self._body_at = 0
        self._block_bytes = 0
        self._woken: threading.Lock | None = None

    def wait(self, kind: type[M], timeout: float) -> Answer[M]:
        """Returns the response, as `kind` reads it.

        Raises:
            RpcError: there is none.
        """
        frame = self._settled_frame(timeout)
        assert frame is not None
        server = self._connection.server
        body, block_at = _body_of(frame, self._body_at, self._block_bytes, server)
        try:
            message = kind.FromString(body)
        except DecodeError as exc:
            raise NotHBase(f"unreadable answer: {exc}", server, maybe_applied=True) from exc
        return Answer(message, frame, block_at)

    def wait_row(self, timeout: float) -> Row | None:
        """Returns the row that a get found.

        Raises:
            RpcError: there is no answer.
        """
        frame = self._settled_frame(timeout)
        if frame is None:  # it came along with others
            return self._row
        return _row_of(frame, self._body_at, self._block_bytes, self._connection.server)

    def _settled_frame(self, timeout: float) -> bytes | None:
        if not self.is_settled and not self._connection.settle(self, timeout):
            server = self._connection.server
            waited = f"within {timeout:.1f} s" if timeout > 0 else "in the time that was left"
            text = f"{server} did not answer {waited}"
            raise CallTimedOut(text, server, maybe_applied=not self.is_taken_back)
        if self._error is not None:
            raise self._error
        return self._frame

    @property
    def error(self) -> RpcError | None:
        """Why there will be no answer, if that is known by now."""
        return self._error

    @property
    def is_waited_for(self) -> bool:
        """Whether a thread wants the answer by now."""
        return self._woken is not None

    def begin_waiting(self) -> None:
        """Makes the call one that can be woken."""
        self._woken = threading.Lock()
        self._woken.acquire()

    def sleep(self, seconds: float) -> None:
        """Waits until it is woken, or until the time is up."""
        assert self._woken is not None
        self._woken.acquire(timeout=max(seconds, 0))

    def wake(self) -> None:
        """Lets the thread that waits look again; waking twice does nothing more."""
        if self._woken is not None:
            try:
                self._woken.release()
            except RuntimeError:
                return

    def answer(self, frame: bytes, body_at: int, block_bytes: int) -> None:
        """Settles the call with a response; who waits for it is still to be woken."""
        self._body_at = body_at
        self._block_bytes = block_bytes
        self._frame = frame
        self.is_settled = True

    def answer_row(self, row: Row | None) -> None:
        """Settles a get whose answer came along with others, as `answer` does."""
        self._row = row
        self.is_settled = True

    def fail(self, error: RpcError) -> None:
        """Settles the call without a response."""
        self._error = error
        self.is_settled = True
        self.wake()
