"""The way in: where the cluster's meta table and its active master are.

Two registries have that: ZooKeeper, in which HBase stores it, and the masters themselves, which
every region server can replace once one of them has responded.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic
from typing import Protocol, TypeVar

from google.protobuf.message import DecodeError, Message

from webtable.loggers import get_logger
from webtable.store.hbase.cluster.zk_client import NoNode, ZooKeeperSession
from webtable.store.hbase.location import Location
from webtable.store.hbase.proto import base_pb2, registry_pb2
from webtable.store.hbase.wire.choose_compiled_connection import Connection
from webtable.store.hbase.wire.errors_and_responses import (
    CallTimedOut,
    ConnectFailed,
    ConnectionLost,
    NotHBase,
    RpcError,
    Server,
)

__all__ = ["MastersRegistry", "Registry", "RegistryUnavailable", "ZooKeeperRegistry"]

M = TypeVar("M", bound=Message)
T = TypeVar("T")
LOOKUP_SECONDS = 10.0
"""A registry responds at once or has a fault; waiting longer would only hide it."""

SHORTEST_SECONDS = 0.05
_MOST_SHOWN = 5
_log = get_logger("webtable.store.hbase")
_MEANING = {
    "master": "no master is active there",
    "meta-region-server": "no server has the meta table yet",
}


_SILENT = (ConnectFailed, ConnectionLost, CallTimedOut)
"""The errors of a server that did not respond."""


class RegistryUnavailable(RpcError):
    """None of the servers that a location names responds."""


class Registry(Protocol):
    """What both registries offer."""

    def meta_server(self, timeout: float) -> Server:
        """Returns the server that has the meta table.

        Raises:
            RpcError: it cannot be found out now.
        """

    def active_master(self, timeout: float) -> Server:
        """Returns the master that is in charge.

        Raises:
            RpcError: it cannot be found out now.
        """


class ZooKeeperRegistry:
    """Reads what HBase stores in ZooKeeper. Connects for each query: they are rare."""

    def __init__(self, location: Location) -> None:
        self._servers = location.servers
        self._parent = location.parent
        self._text = ",".join(map(str, location.servers))
        self._silent = _SilentServers("ZooKeeper")

    def meta_server(self, timeout: float) -> Server:
        """Returns the server that has the meta table."""
        stored = self.read("meta-region-server", registry_pb2.MetaRegionServer, timeout)
        return _server(stored.server)

    def active_master(self, timeout: float) -> Server:
        """Returns the master that is in charge."""
        return _server(self.read("master", registry_pb2.Master, timeout).master)

    def children(self, node: str, timeout: float) -> list[str]:
        """Returns the names of the nodes under one of HBase's; none where it is not there."""
        path = f"{self._parent}/{node}".rstrip("/")
        try:
            return self._query(timeout, lambda session: session.children(path))
        except NoNode:
            return []

    def read(self, node: str, kind: type[M], timeout: float) -> M:
        """Returns what HBase keeps in one of its nodes.

        Raises:
            ConnectFailed: there is no such node.
            RpcError: it cannot be found out now.
        """
        stored = self._query(timeout, lambda session: self._stored(session, node))
        try:
            # 0xff | u32 length | the writer's name | "PBUF" | message
            size = int.from_bytes(stored[1:5], "big") if stored[:1] == b"\xff" else -5
            body = stored[5 + size :]
            if not body.startswith(b"PBUF"):
                raise DecodeError("no PBUF mark")
            return kind.FromString(body[4:])
        except DecodeError as exc:
            message = f"'{self._parent}/{node}' in ZooKeeper at {self._text} is not HBase's: {exc}"
            raise NotHBase(message, self._servers[0]) from exc

    def _stored(self, session: ZooKeeperSession, node: str) -> bytes:
        parent, path = self._parent, f"{self._parent}/{node}"
        try:
            return session.data(path)
        except NoNode:
            pass
        # During a start or a change of masters this is normal, so it may go away.
        try:
            session.children(parent or "/")
            reason = _MEANING.get(node, "HBase has not started, or is no more")
        except NoNode:
            others = ", ".join(f"/{name}" for name in sorted(session.children("/"))[:_MOST_SHOWN])
            reason = f"no HBase is running under '{parent}' (it has {others})"
        message = f"ZooKeeper at {self._text} has no '{path}': {reason}"
        raise ConnectFailed(message, self._servers[0])

    def _query(self, timeout: float, query: Callable[[ZooKeeperSession], T]) -> T:
        """Sends a query to the servers, one after the other, until one of them responds."""
        if timeout <= 0:
            raise CallTimedOut(f"no time was left to query ZooKeeper at {self._text}", None)
        failures: dict[Server, Exception] = {}
        for server, seconds in _in_turn(self._servers, min(timeout, LOOKUP_SECONDS)):
            try:
                with ZooKeeperSession(server, seconds) as session:
                    result = query(session)
                self._silent.report(failures, server)
                return result
            except OSError as exc:
                failures[server] = exc
        reasons = "; ".join(f"{server}: {exc}" for server, exc in failures.items())
        raise RegistryUnavailable(
            f"no ZooKeeper responds at {self._text} ({reasons})", self._servers[0]
        )


class MastersRegistry:
    """Queries the masters, or region servers that one of them named, over RPC.

    `connect` opens a connection to a server's ClientMetaService.
    """

    def __init__(self, location: Location, connect: Callable[[Server, float], Connection]) -> None:
        self._servers = location.servers
        self._more: tuple[Server, ...] = ()
        self._last_server = location.servers[0]
        self._connect = connect
        self._silent = _SilentServers("the registry")

    def meta_server(self, timeout: float) -> Server:
        """Returns the server that has the meta table."""
        request = registry_pb2.GetMetaRegionLocationsRequest()
        response = self._query(
            "GetMetaRegionLocations", request, registry_pb2.GetMetaRegionLocationsResponse, timeout
        )
        for place in response.meta_locations:
            if place.region_info.replica_id == 0 and place.HasField("server_name"):
                return _server(place.server_name)
        raise ConnectFailed("the masters do not know where the meta table is", self._servers[0])

    def active_master(self, timeout: float) -> Server:
        """Returns the master that is in charge."""
        request = registry_pb2.GetActiveMasterRequest()
        response = self._query(
            "GetActiveMaster", request, registry_pb2.GetActiveMasterResponse, timeout
        )
        if not response.HasField("server_name"):
            raise ConnectFailed("there is no active master", self._servers[0])
        return _server(response.server_name)

    def _query(self, method: str, request: Message, kind: type[M], timeout: float) -> M:
        failures: dict[Server, RpcError] = {}
        servers = sorted((*self._servers, *self._more), key=lambda each: each != self._last_server)
        for server, seconds in _in_turn(servers, min(timeout, LOOKUP_SECONDS)):
            end = monotonic() + seconds
            try:
                connection = self._connect(server, seconds)
                response = connection.call(method, request, kind, end - monotonic()).message
            except RpcError as exc:
                failures[server] = exc
            else:
                self._last_server = server
                silent = {at: exc for at, exc in failures.items() if isinstance(exc, _SILENT)}
                self._silent.report(silent, server)
                with contextlib.suppress(RpcError):  # this is an extra, which may fail
                    self._learn(connection, end - monotonic())
                return response
        reasons = list(failures.values())
        for reason in reasons:
            if not isinstance(reason, _SILENT):
                raise reason
        names = ", ".join(map(str, self._servers))
        raise RegistryUnavailable(
            f"no master responds at {names} ({reasons[0]})", self._servers[0]
        ) from reasons[0]

    def _learn(self, connection: Connection, timeout: float) -> None:
        if self._more:
            return
        request = registry_pb2.GetBootstrapNodesRequest()
        kind = registry_pb2.GetBootstrapNodesResponse
        response = connection.call("GetBootstrapNodes", request, kind, timeout)
        self._more = tuple(map(_server, response.message.server_name))


class _SilentServers:
    """The servers that did not respond to the last query. Each is logged once.

    They are logged when another server has responded: if none responds, the error that the caller
    gets names all of them, and a warning would say the same.
    """

    def __init__(self, group: str) -> None:
        self._group = group
        self._logged: set[Server] = set()

    def report(self, failures: Mapping[Server, Exception], responding: Server) -> None:
        """Logs the servers that failed before another one responded."""
        for server, error in failures.items():
            if server not in self._logged:
                _log.warning("server %s of %s does not respond: %.300s", server, self._group, error)
        self._logged.difference_update([responding])
        self._logged.update(failures)


def _in_turn(servers: Sequence[Server], timeout: float) -> Iterator[tuple[Server, float]]:
    """Yields servers and how long to try each: one that is silent leaves time for the others."""
    end = monotonic() + timeout
    for number, server in enumerate(servers):
        share = (end - monotonic()) / (len(servers) - number)
        yield server, max(share, SHORTEST_SECONDS)


def _server(name: base_pb2.ServerName) -> Server:
    return Server(name.host_name, name.port)
