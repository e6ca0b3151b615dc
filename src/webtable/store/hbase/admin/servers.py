"""Finds the live servers of a cluster by name or address, and calls one of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from google.protobuf.message import Message

from webtable.errors import InvalidRequest, NotFound
from webtable.store.hbase.admin.master_client import MasterClient
from webtable.store.hbase.admin.region_list import ServerId
from webtable.store.hbase.cluster.cluster import ADMIN
from webtable.store.hbase.proto import status_pb2
from webtable.store.hbase.retry import Attempts
from webtable.store.hbase.wire.errors_and_responses import RpcError

__all__ = ["ServerAdmin", "names_as_list"]

M = TypeVar("M", bound=Message)


class ServerAdmin:
    """Finds live servers and calls them."""

    def __init__(self, master: MasterClient) -> None:
        self._master = master

    def live_servers(self) -> list[ServerId]:
        """Returns the servers that are alive, by name."""
        # Only the names are needed, but this option works in every version.
        status = self._master.cluster_status(status_pb2.LIVE_SERVERS)
        return sorted(ServerId.of(each.server) for each in status.live_servers)

    def live_server(self, server: str) -> ServerId:
        """Returns a server that is alive by its name or its address.

        Raises:
            NotFound: no server of that name is alive.
        """
        live = self.live_servers()
        for each in live:
            if server in (str(each), f"{each.host},{each.port}", str(each.address)):
                return each
        raise NotFound("server", server, map(str, live))

    def chosen(self, servers: Iterable[str]) -> list[ServerId]:
        """Returns servers that are alive by their names or addresses."""
        return [self.live_server(name) for name in names_as_list(servers)]

    def call(
        self, server: ServerId, method: str, request: Message, kind: type[M], attempts: Attempts
    ) -> M:
        """Calls one server, for as long as the master believes that it is alive.

        Raises:
            NotFound: it is no longer alive.
        """
        deadline = attempts.deadline
        connections = self._master.cluster.connections
        while True:
            try:
                connection = connections.to(server.address, ADMIN, deadline.attempt())
                return connection.call(method, request, kind, deadline.attempt()).message
            except RpcError as exc:
                attempts.failed(exc)
            self.live_server(str(server))


def names_as_list(names: Iterable[str]) -> list[str]:
    """Returns names as a list.

    Raises:
        InvalidRequest: it is a single name, which would be used as a list of its letters.
    """
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InvalidRequest(f"{names!r:.80} is not a list of names", hint="give a list")
    return list(names)
