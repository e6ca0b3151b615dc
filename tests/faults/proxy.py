"""A TCP proxy that spoils connections: cuts them in the middle of something, stalls them, delays.

If a client resets its connection, the bytes that it sent before are not passed on, however long the
proxy has held them: a network that stalls does not deliver packets that are not sent again, either.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from typing import Literal, TypeAlias

from webtable.store.hbase.wire.errors_and_responses import Server

__all__ = ["Direction", "Proxy"]

HOST = "127.0.0.1"
Direction: TypeAlias = Literal["request", "response"]


class Proxy:
    """Stands before one server. Every fault is for all its connections.

    `held_at` is when the last response was held back.
    """

    def __init__(self, target: Server) -> None:
        self.target = target
        self.cuts = 0
        self.held_at = 0.0
        self._listener = socket.create_server((HOST, 0))
        self.address = Server(HOST, self._listener.getsockname()[1])
        self._changing = threading.Lock()
        self._open: set[socket.socket] = set()
        self._bytes_left: dict[Direction, int] = {}
        self._stalled_until = 0.0
        self._is_holding = False
        self._slow_until = 0.0
        self._slow_seconds = 0.0
        threading.Thread(target=self._accept, name=f"proxy {target}", daemon=True).start()

    def cut_in(self, direction: Direction, size: int) -> None:
        """Cuts the connection over which the byte after so many in this direction would go."""
        with self._changing:
            self._bytes_left[direction] = size

    def cut_all(self) -> None:
        """Cuts every connection now."""
        with self._changing:
            connections = list(self._open)
        self.cuts += len(connections) // 2
        for each in connections:
            shut(each)

    def stall(self, seconds: float) -> None:
        """Passes nothing on for a while, in neither direction, and closes nothing."""
        self._stalled_until = time.monotonic() + seconds

    def hold_responses(self) -> None:
        """Passes on requests, but no responses, until `heal`; then passes on those responses."""
        self._is_holding = True

    def slow(self, seconds: float, delay: float) -> None:
        """Holds every piece back for a moment, for a while."""
        self._slow_seconds = delay
        self._slow_until = time.monotonic() + seconds

    def heal(self) -> None:
        """Ends all faults."""
        with self._changing:
            self._bytes_left.clear()
        self._stalled_until = self._slow_until = 0.0
        self._is_holding = False

    def close(self) -> None:
        """Cuts everything and listens no more."""
        shut(self._listener)
        self.cut_all()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(self.target, timeout=10)
            server.settimeout(None)
        except OSError:
            shut(client)
            return
        with self._changing:
            self._open |= {client, server}
        requests = threading.Thread(
            target=self._pass_on, args=(client, server, "request"), daemon=True
        )
        requests.start()
        self._pass_on(server, client, "response")

    def _pass_on(self, source: socket.socket, sink: socket.socket, direction: Direction) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(1 << 16):
                self._hold(source, direction)
                kept = self._cut_of(direction, len(piece))
                sink.sendall(piece[:kept])
                if kept < len(piece):
                    break
        for each in (source, sink):
            with self._changing:
                self._open.discard(each)
            shut(each)

    def _hold(self, source: socket.socket, direction: Direction) -> None:
        """Waits as long as the faults say; raises OSError when the sender has gone meanwhile."""
        now = time.monotonic()
        until = now + self._slow_seconds * (now < self._slow_until)
        while (now := time.monotonic()) < max(until, self._stalled_until) or (
            self._is_holding and direction == "response"
        ):
            self.held_at = now if direction == "response" else self.held_at
            time.sleep(0.02)
            with contextlib.suppress(BlockingIOError):
                source.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)  # a reset raises

    def _cut_of(self, direction: Direction, size: int) -> int:
        """Returns how many bytes of a piece to pass on; fewer than it has: then comes the cut."""
        with self._changing:
            left = self._bytes_left.get(direction)
            if left is None:
                return size
            if left >= size:
                self._bytes_left[direction] = left - size
                return size
            del self._bytes_left[direction]
            self.cuts += 1
            return left


def shut(connected: socket.socket) -> None:
    """Closes a socket, whatever state it is in."""
    with contextlib.suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)
    connected.close()
