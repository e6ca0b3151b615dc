"""Nodes of ZooKeeper, read: the little of its protocol that finding a cluster takes.

A session lasts for one question, and ends in the time that it was given, whatever is at the other
end. There are no watches and no writes.

A message is its length and so many bytes. All numbers are big-endian; a text or a piece of bytes
has its length (i32) in front:

    hello     i32 0 | i64 0 | i32 session in ms | i64 0 | bytes password | bool read-only will do
    answer    i32 0 | i32 session in ms | i64 session | bytes password | …
    question  i32 number | i32 kind | text path | bool watch
    answer    i32 number | i64 zxid | i32 error | data: bytes | …, or children: i32 count | text …
"""

from __future__ import annotations

import contextlib
import socket
import struct
from time import monotonic

from webtable.store.hbase.wire.errors import Server

__all__ = ["NoNode", "ZooKeeperFailed", "ZooKeeperSession"]

SESSION_MS = 10_000
MOST_BYTES = 4 << 20
"""What ZooKeeper answers is less, unless it is told otherwise; a text read as a length is more."""

_HELLO = struct.pack(">iqiqi16s?", 0, 0, SESSION_MS, 0, 16, b"", True)
_READ_BYTES = 1 << 16
_DATA, _CHILDREN, _CLOSE = 4, 8, -11
_NO_NODE = -101
_NUMBER = 1


class NoNode(LookupError):
    """There is no such node."""


class ZooKeeperFailed(OSError):
    """A server answers, but not as it should."""


class ZooKeeperSession:
    """A session with one server. Use it in a `with` block.

    Raises:
        OSError: the server cannot be reached, does not answer in time, or is none of ZooKeeper's.
    """

    def __init__(self, server: Server, timeout: float) -> None:
        self._end = monotonic() + timeout
        self._socket = socket.create_connection(server, timeout=timeout)
        try:
            self._send(_HELLO)
            _, session_ms = _unpack(">ii", self._receive(), 0)
            if session_ms <= 0:
                raise ZooKeeperFailed("it refuses the session")
        except BaseException:
            self._socket.close()
            raise

    def __enter__(self) -> ZooKeeperSession:
        return self

    def __exit__(self, *_: object) -> None:
        # Told that it is over, the server need not keep the session until its time is up.
        with contextlib.suppress(OSError):
            self._send(struct.pack(">ii", _NUMBER + 1, _CLOSE))
        self._socket.close()

    def data(self, path: str) -> bytes:
        """Returns what a node holds.

        Raises:
            NoNode: there is none.
            OSError: there is no answer.
        """
        answer = self._ask(_DATA, path)
        return _piece(answer, 0)[0]

    def children(self, path: str) -> list[str]:
        """Returns the names of the nodes under one.

        Raises:
            NoNode: there is no such node.
            OSError: there is no answer.
        """
        answer = self._ask(_CHILDREN, path)
        (count,) = _unpack(">i", answer, 0)
        names: list[str] = []
        at = 4
        for _ in range(count):
            name, at = _piece(answer, at)
            names.append(name.decode("utf-8", "replace"))
        return names

    def _ask(self, kind: int, path: str) -> bytes:
        name = path.encode()
        self._send(struct.pack(f">iii{len(name)}s?", _NUMBER, kind, len(name), name, False))
        while True:
            answer = self._receive()
            number, _, error = _unpack(">iqi", answer, 0)
            if number != _NUMBER:
                continue  # not about this
            if error == _NO_NODE:
                raise NoNode(path)
            if error:
                raise ZooKeeperFailed(f"it says error {error} about '{path}'")
            return answer[16:]

    def _send(self, message: bytes) -> None:
        self._socket.settimeout(self._left())
        self._socket.sendall(struct.pack(">i", len(message)) + message)

    def _receive(self) -> bytes:
        start = self._read(4)
        size = int.from_bytes(start, "big")
        if not 0 < size <= MOST_BYTES:
            raise ZooKeeperFailed(f"it is not ZooKeeper: it says {start!r}")
        return self._read(size)

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            # For each part anew: who sends a byte now and then has no more time for it.
            self._socket.settimeout(self._left())
            part = self._socket.recv(min(size - len(data), _READ_BYTES))
            if not part:
                raise ZooKeeperFailed("it closed the connection")
            data += part
        return bytes(data)

    def _left(self) -> float:
        left = self._end - monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        return left


def _unpack(form: str, answer: bytes, at: int) -> tuple[int, ...]:
    try:
        return struct.unpack_from(form, answer, at)
    except struct.error as exc:
        raise ZooKeeperFailed(f"it is not ZooKeeper: it says {answer[:20]!r}") from exc


def _piece(answer: bytes, at: int) -> tuple[bytes, int]:
    """Returns the bytes at a position, and the position after them."""
    (size,) = _unpack(">i", answer, at)
    if size < 0:  # which means that there are none
        size = 0
    end = at + 4 + size
    if end > len(answer):
        raise ZooKeeperFailed(f"it tells of {size} bytes and sends {len(answer) - at - 4}")
    return answer[at + 4 : end], end
