"""Where a `Connection` connects, and the stores that connections share.

A program of happybase names its gateway; here the same arguments name a store. Connections of one
process to one place share one open store, because an embedded store has one writer, and because a
second connection to a cluster would bring nothing: the store is safe to use from many threads.
"""

from __future__ import annotations

import os
import threading

import webtable
from webtable.store.store import Store

__all__ = ["DEFAULT_HOST", "DEFAULT_PORT", "Lease", "acquire", "location_of"]

DEFAULT_HOST = "localhost"
DEFAULT_PORT = 9090
_VARIABLE = "WEBTABLE_STORE"
_LONGEST_SECONDS = 999_999  # a location takes less than a million


def location_of(
    host: str | os.PathLike[str] | None, port: int | None, timeout_ms: float | None
) -> str:
    """Returns the location that the arguments of a `Connection` name.

    The default host stands for `WEBTABLE_STORE` where that is set. A host that is a location is
    used as it is, one with a slash is a directory, and any other is where ZooKeeper is. The port
    is ZooKeeper's, except 9090: that was the gateway's. The time-out replaces that of the location;
    0 was none for happybase, as None was, and here leaves the location's too.

    >>> location_of("zk1,zk2", 9090, None)
    'hbase://zk1,zk2'
    >>> location_of("zk1", 2182, 30_000)
    'hbase://zk1:2182?timeout=30'
    >>> location_of("./crawl.wt", 9090, 30_000)
    './crawl.wt'
    """
    if isinstance(host, os.PathLike):
        return os.fspath(host)
    chosen = host or DEFAULT_HOST
    is_default_port = not port or port == DEFAULT_PORT
    if chosen == DEFAULT_HOST and is_default_port and os.environ.get(_VARIABLE):
        chosen = os.environ[_VARIABLE]
        if "://" not in chosen:
            return chosen
    if "://" not in chosen:
        if "/" in chosen or chosen.startswith("rocks:"):
            return chosen
        own_port = "" if is_default_port else f":{port}"
        hosts = (each if ":" in each else each + own_port for each in chosen.split(","))
        chosen = f"hbase://{','.join(hosts)}"
    return _with_timeout(chosen, timeout_ms / 1000) if timeout_ms else chosen


def _with_timeout(location: str, seconds: float) -> str:
    address, _, query = location.partition("?")
    options = [each for each in query.split("&") if each and not each.startswith("timeout=")]
    # Digits only: the parser of the location would read the + of 1e+07 as a blank.
    digits = f"{min(seconds, _LONGEST_SECONDS):.6f}".rstrip("0").rstrip(".")
    return f"{address}?{'&'.join([*options, f'timeout={digits}'])}"


class Lease:
    """The right to use an open store until `release`; releasing again does nothing."""

    def __init__(self, store: Store, shared: _Shared | None = None) -> None:
        self.store = store
        self._shared = shared

    def release(self) -> None:
        """Gives the store back; the last one closes it."""
        shared, self._shared = self._shared, None
        if shared is not None:
            shared.leave()


def acquire(location: str) -> Lease:
    """Opens the store at a location, or shares it with the other users of it.

    Raises:
        WebTableError: it cannot be opened, see `webtable.open`.
    """
    key = _key(location)
    with _lock:
        shared = _stores.setdefault((os.getpid(), key), _Shared(key))
        shared.users += 1
    try:
        return Lease(shared.opened(location), shared)
    except BaseException:
        shared.leave()
        raise


class _Shared:
    """A store and the number of its users."""

    def __init__(self, key: str) -> None:
        self.users = 0
        self._key = (os.getpid(), key)
        # Connections are released by the garbage collector too, in whatever thread it runs.
        self._lock = threading.RLock()
        self._store: Store | None = None

    def opened(self, location: str) -> Store:
        with self._lock:
            if self._store is None:
                self._store = webtable.open(location)
            return self._store

    def leave(self) -> None:
        if self._key[0] != os.getpid():  # a fork's copy of it: the store belongs to the parent
            return
        with self._lock:
            with _lock:
                self.users -= 1
                if self.users:
                    return
            store, self._store = self._store, None
            if store is not None:
                store.close()
            with _lock:
                # Another thread may have joined during the close; then the store is opened again.
                if not self.users:
                    _stores.pop(self._key, None)


_lock = threading.RLock()
_stores: dict[tuple[int, str], _Shared] = {}


def _forget_locks() -> None:
    global _lock  # noqa: PLW0603 - another thread may have held it when this process was forked
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_forget_locks)


def _key(location: str) -> str:
    if "://" in location:
        return location
    return os.path.realpath(location.removeprefix("rocks:"))
