"""A cluster as a client sees it: its connections, its regions, its master, and calls to them.

A call finds its server, is sent, and is sent again as `retry` decides until its time is up. The
result is a response or an error of `webtable.errors`.
"""

from __future__ import annotations

import itertools
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, NamedTuple, TypeVar

from google.protobuf.message import Message

from webtable.errors import StoreClosed
from webtable.loggers import SLOW_SECONDS, get_logger
from webtable.store.cells_and_rows import Row
from webtable.store.hbase.cluster.find_meta_and_master import (
    MastersRegistry,
    Registry,
    ZooKeeperRegistry,
)
from webtable.store.hbase.cluster.meta import MetaTable, Place
from webtable.store.hbase.cluster.region_cache import RegionCache
from webtable.store.hbase.cluster.table_names import Names
from webtable.store.hbase.location import Location
from webtable.store.hbase.proto import base_pb2
from webtable.store.hbase.retry import (
    Attempts,
    Deadline,
    Remedy,
    attempt_seconds,
    forgotten,
    is_untouched,
    log_slow,
    remedy_for,
)
from webtable.store.hbase.wire.auth import identify
from webtable.store.hbase.wire.choose_compiled_connection import Connection, RpcResponse
from webtable.store.hbase.wire.errors_and_responses import (
    AsBytes,
    CallTimedOut,
    ConnectFailed,
    Response,
    RpcError,
    Server,
)
from webtable.store.hbase.wire.requests_and_results import (
    get_request,
    region_action,
    region_field,
    response_row,
)
from webtable.store.hbase.wire.tls import make_context

__all__ = ["ADMIN", "CLIENT", "HBCK", "Cluster", "Connections", "RegionCall", "address_region"]

M = TypeVar("M", bound=Response)
T = TypeVar("T")

CLIENT = "ClientService"
ADMIN = "AdminService"
MASTER = "MasterService"
HBCK = "HbckService"
CLIENT_META = "ClientMetaService"
CONNECT_SECONDS = 10.0
_BY_NAME = base_pb2.RegionSpecifier.REGION_NAME

_ACTIVE_MASTER = "the active master"
_META_SERVER = "the server of the meta table"
_log = get_logger("webtable.store.hbase")


class RegionCall(NamedTuple, Generic[M]):
    """A call to whichever server has a row.

    Attributes:
        table: the table's full name.
        request: a message, whose `region` is filled in; or bytes, to go after the region's field.
        kind: what reads the response.
        after: where it is not None, region and request are the one action of a batch, and this
            is what follows it.
        once: whether it carries a nonce: it must be sent again to the server that may have done
            it already.
    """

    table: bytes
    row: bytes
    method: str
    request: Message | bytes
    kind: type[M]
    cells: bytes = b""
    service: str = CLIENT
    after: bytes | None = None
    once: bool = False


class Connections:
    """One connection for each server and service, made at its first use."""

    def __init__(self, location: Location) -> None:
        self._location = location
        self._identity = identify(location.auth)
        if location.tls is not None:
            self._identity = self._identity._replace(encryption=make_context(location.tls))
        self._open: dict[tuple[Server, str], Connection] = {}
        self._connecting: dict[tuple[Server, str], threading.Lock] = {}
        self._failures: dict[Server, tuple[float, ConnectFailed]] = {}
        self._logged: set[Server] = set()  # servers that cannot be reached
        self._changing = threading.Lock()
        self._is_closed = False

    def existing(self, server: Server, service: str) -> Connection | None:
        """Returns the open connection; None where no connection is open."""
        connection = self._open.get((server, service))
        return connection if connection is not None and connection.is_open else None

    def to(self, server: Server, service: str, timeout: float) -> Connection:
        """Returns an open connection. To make one may take all of the time.

        Raises:
            ConnectFailed: the server does not respond.
            StoreClosed: the store was closed.
        """
        return self.existing(server, service) or self._connect(server, service, timeout)

    def _connect(self, server: Server, service: str, timeout: float) -> Connection:
        started_at = time.monotonic()
        key = (server, service)
        with self._changing:
            lock = self._connecting.setdefault(key, threading.Lock())
        with turn(lock, timeout, server):
            if self._is_closed:
                raise StoreClosed(self._location.text)
            connection = self.existing(server, service)
            if connection is not None:
                return connection
            failed_at, failure = self._failures.get(server, (0.0, None))
            if failure is not None and failed_at >= started_at:
                raise failure.again()  # this thread waited for the same attempt
            address = self._location.address_of(server)
            limit = min(started_at + timeout - time.monotonic(), CONNECT_SECONDS)
            try:
                spins = self._location.spins
                connection = Connection(
                    server, service, self._identity, address, limit, spins=spins
                )
            except ConnectFailed as exc:
                # The registry logs the servers of its own queries.
                if server not in self._logged and service != CLIENT_META:
                    _log.warning("server %s cannot be reached: %.300s", server, exc)
                    self._logged.add(server)
                self._failures[server] = (time.monotonic(), exc)
                raise
            self._logged.discard(server)
            if self._failures.pop(server, None) is not None or key in self._open:
                _log.info("connected to server %s again, to its %s", server, service)
            else:
                _log.debug("connected to server %s, to its %s", server, service)
            with self._changing:
                self._open[key] = connection
                if not self._is_closed:
                    return connection
        connection.close()
        raise StoreClosed(self._location.text)

    def close(self) -> None:
        """Closes all connections; calls under way fail."""
        with self._changing:
            self._is_closed = True
            connections = list(self._open.values())
        for connection in connections:
            connection.close()

    def check_open(self) -> None:
        """Makes sure that the store was not closed.

        Raises:
            StoreClosed: it was.
        """
        if self._is_closed:
            raise StoreClosed(self._location.text)


class Cluster:
    """The servers of one cluster. Safe to use from many threads."""

    def __init__(self, location: Location) -> None:
        self.location = location
        self.names = Names(location.namespace)
        self.connections = Connections(location)
        # Together they are unlike those of any other client; 0 would mean no nonce.
        self.nonce_group = secrets.randbits(63) | 1
        self._nonces = itertools.count(1)
        self.meta = MetaTable(self._call_meta)
        self.regions = RegionCache(self.meta, self.names)
        self._registry: Registry = (
            ZooKeeperRegistry(location)
            if location.by_zookeeper
            else MastersRegistry(location, self._to_registry)
        )
        self._lookup_lock = threading.Lock()
        self._workers: set[threading.Thread] = set()
        self._attempt_seconds = attempt_seconds(location.timeout_seconds)
        self._known: dict[str, Server] = {}
        self._looked_up: dict[str, Server] = {}

    def connect(self) -> None:
        """Makes sure that the cluster responds.

        Raises:
            ServerUnavailable: it does not.
        """
        attempts = self.attempts()
        while True:
            try:
                self.meta.table_state(b"hbase:namespace", attempts.deadline)
                return
            except RpcError as exc:
                attempts.failed(exc)

    def attempts(
        self, table: str = "", factor: float = 1, *, started: float | None = None
    ) -> Attempts:
        """Returns the bookkeeping for an operation.

        Args:
            factor: stretches its time.
            started: when it began, on the clock of `time.monotonic`; None means now.
        """
        self.connections.check_open()
        seconds = self.location.timeout_seconds * factor
        return Attempts(seconds, table, self._is_down, started)

    def nonce(self) -> int:
        """Returns a number by which a server recognises a call that is sent again."""
        return next(self._nonces)

    def call_region(
        self, call: RegionCall[M], read: Callable[[RpcResponse[M], Server], T], attempts: Attempts
    ) -> T:
        """Calls the server that has a row, wherever it may go meanwhile.

        Args:
            read: converts the response of a server to the result. It raises an `RpcError` where
                the response contains one, or does not belong to this call.

        Raises:
            WebTableError: it could not be done.
        """
        deadline = attempts.deadline
        lost: Place | None = None
        while True:
            place: Place | None = None
            try:
                place = self.regions.locate(call.table, call.row, deadline)
                if call.once and lost is not None and lost.process != place.process:
                    raise forgotten(call.row, attempts.table)
                connection = self.connections.to(place.server, call.service, deadline.attempt())
                request = _addressed(call, place)
                timeout = deadline.attempt()  # connecting may have used most of it
                response = connection.call(call.method, request, call.kind, timeout, call.cells)
                result = read(response, place.server)
                attempts.succeeded(call.method, place.server)
                return result
            except RpcError as exc:
                if place is not None and not is_untouched(exc):
                    lost = place
                self.recover(place, exc, attempts)

    def get_row(self, table: str, row: bytes, message: bytes) -> Row | None:
        """Reads a row from the server that has it, wherever it may go meanwhile.

        Args:
            message: the get, as `messages.get_bytes` makes it.

        Raises:
            WebTableError: it could not be done.
        """
        full = self.names.full(table)
        place = self.regions.cached(full, row)
        connection = None if place is None else self.connections.existing(place.server, CLIENT)
        if place is None or connection is None:
            attempts = self.attempts(table)
        else:
            # Most gets need no more than this; the bookkeeping begins where one fails.
            started = time.monotonic()
            try:
                row_read = connection.get(place.name, message, self._attempt_seconds)
                if time.monotonic() - started > SLOW_SECONDS:
                    log_slow("Get", table, place.server, time.monotonic() - started)
                return row_read
            except RpcError as exc:
                attempts = self.attempts(table, started=started)
                self.recover(place, exc, attempts)
        call = RegionCall(full, row, "Get", get_request(message), AsBytes)

        def read(response: RpcResponse[AsBytes], _: Server) -> Row | None:
            return response_row(response.message, response.frame, response.block_at)

        return self.call_region(call, read, attempts)

    def recover(self, place: Place | None, error: RpcError, attempts: Attempts) -> Remedy:
        """Does what the failure of a call to a region needs, and waits where that is needed.

        Raises:
            WebTableError: there is no remedy, or no time left for it.
        """
        if place is not None and error.server is None:
            error.server = place.server  # the reader of a response does not know its server
        remedy = attempts.failed(error, on_the_way=place is None)
        if remedy is Remedy.RELOCATE and place is not None:
            self.regions.failed(place, error, attempts.deadline)
        return remedy

    def call_master(
        self,
        method: str,
        request: Message,
        kind: type[M],
        attempts: Attempts,
        *,
        service: str = MASTER,
    ) -> M:
        """Calls the active master, which may have changed.

        Raises:
            WebTableError: it could not be done.
        """
        while True:
            try:
                return self.call_this_master(
                    method, request, kind, attempts.deadline, service=service
                )
            except RpcError as exc:
                attempts.failed(exc)

    def call_this_master(
        self,
        method: str,
        request: Message,
        kind: type[M],
        deadline: Deadline,
        *,
        service: str = MASTER,
    ) -> M:
        """Calls the master that is in charge, once.

        Raises:
            RpcError: it did not work; where the master may have changed, it is forgotten.
        """
        master: Server | None = None
        try:
            master = self._server(_ACTIVE_MASTER, self._registry.active_master, deadline)
            connection = self.connections.to(master, service, deadline.attempt())
            return connection.call(method, request, kind, deadline.attempt()).message
        except RpcError as exc:
            if remedy_for(exc) is Remedy.RELOCATE:
                self._forget(_ACTIVE_MASTER, master)
            raise

    def in_background(self, work: Callable[[], None]) -> None:
        """Does some tidying up in a thread; not when the interpreter is about to end."""
        if sys.is_finalizing():
            return  # `start` would wait for a thread that never gets to run

        def run() -> None:
            try:
                work()
            finally:
                self._workers.discard(threading.current_thread())

        worker = threading.Thread(target=run, name="webtable-hbase-tidy", daemon=True)
        self._workers.add(worker)
        try:
            worker.start()
        except RuntimeError:  # the same, in later versions of Python
            self._workers.discard(worker)

    def finish_background(self) -> None:
        """Waits a moment until what goes on in the background is done."""
        for worker in list(self._workers):
            worker.join(timeout=1)

    def close(self) -> None:
        """Closes all connections; calls under way fail."""
        self.finish_background()
        self.connections.close()

    def _call_meta(
        self, method: str, request: Message, kind: type[M], deadline: Deadline
    ) -> tuple[RpcResponse[M], Server]:
        server: Server | None = None
        try:
            server = self._server(_META_SERVER, self._registry.meta_server, deadline)
            connection = self.connections.to(server, CLIENT, deadline.attempt())
            return connection.call(method, request, kind, deadline.attempt()), server
        except RpcError:
            self._forget(_META_SERVER, server)
            raise

    def _server(self, what: str, read: Callable[[float], Server], deadline: Deadline) -> Server:
        """Returns a server, from the registry if the cache does not have it."""
        server = self._known.get(what)
        if server is None:
            with turn(self._lookup_lock, deadline.attempt(), None):
                server = self._known.get(what) or self._look_up(what, read, deadline)
                self._known[what] = server
        return server

    def _forget(self, what: str, server: Server | None) -> None:
        """Forgets a server, unless another one is known by now."""
        if self._known.get(what) == server:
            self._known.pop(what, None)

    def _look_up(self, what: str, read: Callable[[float], Server], deadline: Deadline) -> Server:
        """Reads a server from the registry. The second time the one before does not serve."""
        server = read(deadline.attempt())
        before = self._looked_up.get(what)
        self._looked_up[what] = server
        registry = "ZooKeeper" if self.location.by_zookeeper else "the masters"
        if before is None:
            _log.debug("looked up at %s: %s is %s", registry, what, server)
        else:
            _log.info("looked up again at %s: %s is %s; it was %s", registry, what, server, before)
        return server

    def _to_registry(self, server: Server, timeout: float) -> Connection:
        return self.connections.to(server, CLIENT_META, timeout)

    def _is_down(self) -> bool:
        try:
            master = self._registry.active_master(2.0)
            self.connections.to(master, MASTER, 2.0)
        except RpcError:
            return True
        return False


@contextmanager
def turn(lock: threading.Lock, timeout: float, server: Server | None) -> Iterator[None]:
    """Waits for the lock of a slow lookup, which other threads need too, but not for ever.

    Raises:
        CallTimedOut: it did not come free in time.
    """
    if not lock.acquire(timeout=max(timeout, 0)):
        where = server or "the registry"
        raise CallTimedOut(f"{where} did not respond within {timeout:.1f} s", server)
    try:
        yield
    finally:
        lock.release()


def _addressed(call: RegionCall[M], place: Place) -> Message | bytes:
    if not isinstance(call.request, bytes):
        address_region(call.request, place)
        return call.request
    body = region_field(place.name) + call.request
    return body if call.after is None else region_action(body) + call.after


def address_region(request: Message, place: Place) -> None:
    """Fills in which region a request is for."""
    region: base_pb2.RegionSpecifier = request.region  # type: ignore[attr-defined]
    region.type = _BY_NAME
    region.value = place.name
