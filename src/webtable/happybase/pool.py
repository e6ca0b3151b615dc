"""`ConnectionPool`: a number of connections that threads take in turns.

Connections to one store share it, so a pool limits how many threads work at once and opens nothing
twice. It is here because programs have one.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterator
from typing import Any

from webtable.happybase.connection import Connection
from webtable.happybase.errors import TException

__all__ = ["ConnectionPool", "NoConnectionsAvailable"]


class NoConnectionsAvailable(RuntimeError):
    """No connection of the pool became free within the time-out."""


class ConnectionPool:
    """Connections for threads. The first is opened at once, so that a wrong host shows at once.

    Args:
        size: the number of connections.
        kwargs: what `Connection` takes; `autoconnect` is the pool's own business.
    """

    def __init__(self, size: int, **kwargs: Any) -> None:
        if not isinstance(size, int):
            raise TypeError("Pool 'size' arg must be an integer")
        if not size > 0:
            raise ValueError("Pool 'size' arg must be greater than zero")
        # The one that was used last goes out first, so that no more are opened than are needed.
        self._free: queue.LifoQueue[Connection] = queue.LifoQueue(maxsize=size)
        self._of_thread = threading.local()
        for _ in range(size):
            self._free.put(Connection(**{**kwargs, "autoconnect": False}))
        with self.connection():
            pass

    @contextlib.contextmanager
    def connection(self, timeout: float | None = None) -> Iterator[Connection]:
        """Gives a connection for the time of a `with` block, the same one in blocks within it.

        Args:
            timeout: seconds to wait for one; None means for ever.

        Raises:
            NoConnectionsAvailable: none became free in time.
        """
        connection: Connection | None = getattr(self._of_thread, "connection", None)
        if connection is not None:
            with _usable(connection):
                yield connection
            return
        try:
            connection = self._free.get(timeout=timeout)
        except queue.Empty:
            raise NoConnectionsAvailable(
                "No connection available from pool within specified timeout"
            ) from None
        self._of_thread.connection = connection
        try:
            with _usable(connection):
                yield connection
        finally:
            del self._of_thread.connection
            self._free.put(connection)


@contextlib.contextmanager
def _usable(connection: Connection) -> Iterator[None]:
    """Opens a connection where it is not, before a block, and after one that failed."""
    connection.open()
    try:
        yield
    except Exception:
        with contextlib.suppress(TException):
            connection.open()
        raise
