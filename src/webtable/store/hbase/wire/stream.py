"""The bytes of a connection: what goes into its socket, and what comes out.

This module may be running compiled, by Cython from this very file and the C types in
`_stream.pxd`, which those of `pipelined_connection` rely on; that module imports the form to run.
Compiled, it sends, and takes what has come, without letting go of Python's lock: neither waits for
anything, and to have the lock back can take longer. What is encrypted goes through Python either
way.

A thread that waits alone for a response spins before it sleeps, where responses are quick: it
polls the socket for a moment, as to be put to sleep and woken takes long. Only the compiled form
does so, for it can without Python's lock.
"""

from __future__ import annotations

import os
import socket
from time import monotonic

from webtable.store.hbase.wire.tls import TlsSocket

__all__ = ["COMPILED", "Stream"]

COMPILED = not __file__.endswith((".py", ".pyc"))
"""Whether this is machine code."""

_compiled = COMPILED  # the same as a C variable

SPIN_SECONDS = 0.0003
QUICK_ANSWERS = 3
BUFFER_BYTES = 1 << 16
# As plain numbers: to combine the named ones takes longer than the call of the system.
_AT_ONCE = int(socket.MSG_DONTWAIT)
_PEEK = int(socket.MSG_PEEK | socket.MSG_DONTWAIT)


class Stream:
    """Sends and receives through a connected socket, whose reads return after a moment.

    One thread may send and one receive at a time; call `end` before the socket is closed.
    """

    def __init__(self, connected: socket.socket | TlsSocket, *, spins: bool) -> None:
        self._socket = connected
        # Its number, for what the compiled form does itself; -1 where that cannot be.
        self._number = -1 if isinstance(connected, TlsSocket) else connected.fileno()
        # With one processor, a thread that spins keeps the server's process from running.
        self._spins = spins and _compiled and self._number >= 0 and _processors() > 1
        self._quick = 0

    def send(self, frame: bytes) -> int:
        """Sends what can be sent without waiting and returns how much that is.

        Raises:
            BlockingIOError: nothing can.
            OSError: the connection is broken.
        """
        if _compiled and self._number >= 0:
            sent = c_send(self._number, frame, len(frame), _AT_ONCE)  # type: ignore[name-defined]  # noqa: F821
            if sent > 0:
                return sent  # type: ignore[no-any-return]
        return self._socket.send(frame, _AT_ONCE)

    def take(self, wanted: int) -> bytes | None:
        """Returns what has come, of so many bytes at most; None where that needs a wait."""
        if _compiled and self._number >= 0 and wanted <= BUFFER_BYTES:
            got = c_recv(self._number, self._buffer, wanted, _AT_ONCE)  # type: ignore[name-defined,attr-defined]  # noqa: F821
            if got > 0:
                return self._buffer[:got]  # type: ignore[attr-defined,no-any-return]
        return None

    def receive(self, wanted: int, is_alone: bool) -> bytes:
        """Waits a moment for bytes and returns them, so many at most; b"" at the end.

        Args:
            is_alone: no other thread waits for a response on this connection.

        Raises:
            BlockingIOError: nothing came.
            OSError: the connection is broken.
        """
        started = 0.0
        if self._spins and is_alone and wanted <= BUFFER_BYTES:
            if self._quick >= QUICK_ANSWERS:
                got = c_spin(self._number, self._buffer, wanted, _AT_ONCE, SPIN_SECONDS)  # type: ignore[name-defined,attr-defined]  # noqa: F821
                if got > 0:
                    return self._buffer[:got]  # type: ignore[attr-defined,no-any-return]
            started = monotonic()
        # After a slow response some quick ones must come before it is worth to spin again.
        quick, self._quick = self._quick, 0
        data = self._socket.recv(wanted)
        if started and quick < QUICK_ANSWERS and monotonic() - started < SPIN_SECONDS:
            self._quick = quick + 1
        return data

    def is_ended(self) -> bool:
        """Whether the other side has closed the connection, or it broke; looks without waiting."""
        try:
            if _compiled and self._number >= 0:
                got = c_peek(self._number, _PEEK)  # type: ignore[name-defined]  # noqa: F821
                if got > 0 or (got < 0 and c_errno == EAGAIN):  # type: ignore[name-defined]  # noqa: F821
                    return False
            return not self._socket.recv(1, _PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def end(self) -> None:
        """Forgets the socket's number, which the system gives to the next one."""
        self._number = -1
        self._spins = False


def _processors() -> int:
    """Returns how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
