"""Nodes of ZooKeeper, read: the little of its protocol that finding a cluster takes.

A session lasts for one query, and ends within its time-out, whatever is at the other
end. There are no watches and no writes.

A message is its length and so many bytes. All numbers are big-endian; a text or a piece of bytes
has its length (i32) in front:

    hello     i32 0 | i64 0 | i32 session in ms | i64 0 | bytes password | bool read-only will do
    response  i32 0 | i32 session in ms | i64 session | bytes password | …
    request   i32 number | i32 kind | text path | bool watch
    response  i32 number | i64 zxid | i32 error | data: bytes | …, or children: i32 count | text …
"""

from __future__ import annotations

import contextlib
import socket
import struct
from time import monotonic

from webtable.store.hbase.wire.errors_and_responses import Server

__all__ = ["NoNode", "ZooKeeperFailed", "ZooKeeperSession"]

SESSION_MS = 10_000
MOST_BYTES = 4 << 20
"""ZooKeeper's default limit on responses; text read as a length is more."""

_HELLO = struct.pack(">iqiqi16s?", 0, 0, SESSION_MS, 0, 16, b"", True)
_READ_BYTES = 1 << 16
_DATA, _CHILDREN, _CLOSE = 4, 8, -11
_NO_NODE = -101
_NUMBER = 1


class NoNode(LookupError):
    """There is no such node."""


class ZooKeeperFailed(OSError):
    """A server responds, but not as it should."""


class ZooKeeperSession:
    """A session with one server. Use it in a `with` block.

    Raises:
        OSError: the server cannot be reached, does not respond in time, or is not ZooKeeper.
    """

    def __init__(self, server: Server, timeout: float) -> None:
        self._end = monotonic() + timeout
        self._socket = socket.create_connection(server, timeout=timeout)
        try:
            self._send(_HELLO)
            _, session_ms = _unpack(">ii", self._receive(), 0)
            if session_ms <= 0:
                raise ZooKeeperFailed("it rejects the session")
        except BaseException:
            self._socket.close()
            raise

    def __enter__(self) -> ZooKeeperSession:
        return self

    def __exit__(self, *_: object) -> None:
        # After this message the server need not keep the session until its time is up.
        with contextlib.suppress(OSError):
            self._send(struct.pack(">ii", _NUMBER + 1, _CLOSE))
        self._socket.close()

    def data(self, path: str) -> bytes:
        """Returns the data of a node.

        Raises:
            NoNode: the node does not exist.
            OSError: no response came.
        """
        response = self._request(_DATA, path)
        return _piece(response, 0)[0]

    def children(self, path: str) -> list[str]:
        """Returns the names of the nodes under one.

        Raises:
            NoNode: there is no such node.
            OSError: no response came.
        """
        response = self._request(_CHILDREN, path)
        (count,) = _unpack(">i", response, 0)
        names: list[str] = []
        at = 4
        for _ in range(count):
            name, at = _piece(response, at)
            names.append(name.decode("utf-8", "replace"))
        return names

    def _request(self, kind: int, path: str) -> bytes:
        name = path.encode()
        self._send(struct.pack(f">iii{len(name)}s?", _NUMBER, kind, len(name), name, False))
        while True:
            response = self._receive()
            number, _, error = _unpack(">iqi", response, 0)
            if number != _NUMBER:
                continue  # not about this
            if error == _NO_NODE:
                raise NoNode(path)
            if error:
                raise ZooKeeperFailed(f"it returned error {error} for '{path}'")
            return response[16:]

    def _send(self, message: bytes) -> None:
        self._socket.settimeout(self._left())
        self._socket.sendall(struct.pack(">i", len(message)) + message)

    def _receive(self) -> bytes:
        start = self._read(4)
        size = int.from_bytes(start, "big")
        if not 0 < size <= MOST_BYTES:
            raise ZooKeeperFailed(f"it is not ZooKeeper: it sent {start!r}")
        return self._read(size)

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            # For each part again: a server that sends a byte now and then gets no more time.
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


def _unpack(form: str, response: bytes, at: int) -> tuple[int, ...]:
    try:
        return struct.unpack_from(form, response, at)
    except struct.error as exc:
        raise ZooKeeperFailed(f"it is not ZooKeeper: it sent {response[:20]!r}") from exc


def _piece(response: bytes, at: int) -> tuple[bytes, int]:
    """Returns the bytes at a position, and the position after them."""
    (size,) = _unpack(">i", response, at)
    if size < 0:  # which means that the field is null
        size = 0
    end = at + 4 + size
    if end > len(response):
        raise ZooKeeperFailed(f"it announces {size} bytes and sends {len(response) - at - 4}")
    return response[at + 4 : end], end
