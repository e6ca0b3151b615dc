"""The way in: where the cluster's meta table and its active master are.

Two registries answer that: ZooKeeper, in which HBase writes it down, and the masters themselves,
which every region server can stand in for once one of them has answered.
"""

from __future__ import annotations

import contextlib
import logging
import socket
from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import Any, Protocol, TypeVar

from google.protobuf.message import DecodeError, Message

from webtable.store.hbase.connection import Connection
from webtable.store.hbase.location import Location
from webtable.store.hbase.proto import base_pb2, registry_pb2
from webtable.store.hbase.wire import (
    CallTimedOut,
    ConnectFailed,
    ConnectionLost,
    NotHBase,
    RpcError,
    Server,
)

__all__ = ["MastersRegistry", "Registry", "RegistryUnavailable", "ZooKeeperRegistry"]

M = TypeVar("M", bound=Message)
LOOKUP_SECONDS = 10.0
"""A registry answers at once or is not well; waiting longer would only hide it."""

SHORTEST_SECONDS = 0.05


class RegistryUnavailable(RpcError):
    """None of the servers that a location names gives an answer."""


class Registry(Protocol):
    """What both registries can say."""

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
    """Reads what HBase keeps in ZooKeeper. Connects for each question: they are rare."""

    def __init__(self, location: Location) -> None:
        self._servers = location.servers
        self._parent = location.parent
        self._text = ",".join(map(str, location.servers))

    def meta_server(self, timeout: float) -> Server:
        """Returns the server that has the meta table."""
        stored = self.read("meta-region-server", registry_pb2.MetaRegionServer, timeout)
        return _server(stored.server)

    def active_master(self, timeout: float) -> Server:
        """Returns the master that is in charge."""
        return _server(self.read("master", registry_pb2.Master, timeout).master)

    def children(self, node: str, timeout: float) -> list[str]:
        """Returns the names of the nodes under one of HBase's; none where it is not there."""
        try:
            found = self._fetch(f"{self._parent}/{node}".rstrip("/"), timeout, "get_children_async")
        except ConnectFailed:
            return []
        return [str(name) for name in found]

    def read(self, node: str, kind: type[M], timeout: float) -> M:
        """Returns what HBase keeps in one of its nodes.

        Raises:
            ConnectFailed: there is no such node.
            RpcError: it cannot be found out now.
        """
        if timeout <= 0:
            raise CallTimedOut(f"no time was left to ask ZooKeeper at {self._text}", None)
        path = f"{self._parent}/{node}"
        stored = bytes(self._fetch(path, min(timeout, LOOKUP_SECONDS), "get_async")[0])
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

    def _fetch(self, path: str, timeout: float, question: str) -> Any:
        from kazoo.client import KazooClient
        from kazoo.exceptions import KazooException, NoNodeError
        from kazoo.handlers.threading import KazooTimeoutError

        end = monotonic() + timeout
        self._knock(timeout)
        client = KazooClient(hosts=self._text, timeout=timeout, read_only=True, logger=_silent)
        try:
            client.start(timeout=max(end - monotonic(), SHORTEST_SECONDS))
            answer = getattr(client, question)(path)
            return answer.get(timeout=max(end - monotonic(), SHORTEST_SECONDS))
        except NoNodeError as exc:
            # During a start or a change of masters this is normal, so it may go away.
            raise ConnectFailed(
                f"ZooKeeper at {self._text} has no '{path}': no HBase is running under "
                f"'{self._parent}'",
                self._servers[0],
            ) from exc
        except KazooTimeoutError as exc:
            raise RegistryUnavailable(
                f"no ZooKeeper answers at {self._text}", self._servers[0]
            ) from exc
        except KazooException as exc:
            raise RegistryUnavailable(
                f"ZooKeeper at {self._text} failed: {exc!r}", self._servers[0]
            ) from exc
        finally:
            with contextlib.suppress(KazooException):
                client.stop()
                client.close()

    def _knock(self, timeout: float) -> None:
        # Kazoo tries for as long as it may; a refused connection need not take that long.
        reasons = []
        for server, seconds in _in_turn(self._servers, timeout):
            try:
                socket.create_connection(server, timeout=seconds).close()
            except OSError as exc:
                reasons.append(f"{server}: {exc}")
            else:
                return
        raise RegistryUnavailable(
            f"no ZooKeeper answers at {self._text} ({'; '.join(reasons)})", self._servers[0]
        )


class MastersRegistry:
    """Asks the masters, or region servers that one of them named, over RPC.

    `connect` opens a connection to a server's ClientMetaService.
    """

    def __init__(self, location: Location, connect: Callable[[Server, float], Connection]) -> None:
        self._servers = location.servers
        self._more: tuple[Server, ...] = ()
        self._answered = location.servers[0]
        self._connect = connect

    def meta_server(self, timeout: float) -> Server:
        """Returns the server that has the meta table."""
        request = registry_pb2.GetMetaRegionLocationsRequest()
        answer = self._ask(
            "GetMetaRegionLocations", request, registry_pb2.GetMetaRegionLocationsResponse, timeout
        )
        for place in answer.meta_locations:
            if place.region_info.replica_id == 0 and place.HasField("server_name"):
                return _server(place.server_name)
        raise ConnectFailed("the masters do not know where the meta table is", self._servers[0])

    def active_master(self, timeout: float) -> Server:
        """Returns the master that is in charge."""
        request = registry_pb2.GetActiveMasterRequest()
        answer = self._ask(
            "GetActiveMaster", request, registry_pb2.GetActiveMasterResponse, timeout
        )
        if not answer.HasField("server_name"):
            raise ConnectFailed("there is no active master", self._servers[0])
        return _server(answer.server_name)

    def _ask(self, method: str, request: Message, kind: type[M], timeout: float) -> M:
        reasons: list[RpcError] = []
        servers = sorted((*self._servers, *self._more), key=lambda each: each != self._answered)
        for server, seconds in _in_turn(servers, min(timeout, LOOKUP_SECONDS)):
            try:
                connection = self._connect(server, seconds)
                answer = connection.call(method, request, kind, seconds).message
                self._learn(connection, seconds)
            except RpcError as exc:
                reasons.append(exc)
            else:
                self._answered = server
                return answer
        for reason in reasons:
            if not isinstance(reason, ConnectFailed | ConnectionLost | CallTimedOut):
                raise reason
        names = ", ".join(map(str, self._servers))
        raise RegistryUnavailable(
            f"no master answers at {names} ({reasons[0]})", self._servers[0]
        ) from reasons[0]

    def _learn(self, connection: Connection, timeout: float) -> None:
        if self._more:
            return
        request = registry_pb2.GetBootstrapNodesRequest()
        kind = registry_pb2.GetBootstrapNodesResponse
        answer = connection.call("GetBootstrapNodes", request, kind, timeout)
        self._more = tuple(map(_server, answer.message.server_name))


def _in_turn(servers: Sequence[Server], timeout: float) -> Iterator[tuple[Server, float]]:
    """Yields servers and how long to try each: one that is silent leaves time for the others."""
    end = monotonic() + timeout
    for number, server in enumerate(servers):
        share = (end - monotonic()) / (len(servers) - number)
        yield server, max(share, SHORTEST_SECONDS)


def _server(name: base_pb2.ServerName) -> Server:
    return Server(name.host_name, name.port)


# Kazoo reports every refused connection; what matters comes out as an error of ours.
_silent = logging.getLogger("webtable.store.hbase.zookeeper")
_silent.addHandler(logging.NullHandler())
_silent.propagate = False
