"""What ZooKeeper knows of a cluster, read for whoever looks for a fault in it.

Clients need two nodes only, see `registry`; this reads more of them, and asks each server of the
quorum about itself with the word `stat`, which ZooKeeper answers where it is allowed there.
"""

from __future__ import annotations

import socket
from typing import TypeVar

from google.protobuf.message import Message

from webtable.errors import InvalidRequest
from webtable.store.cluster_load import ZooKeeperReport
from webtable.store.hbase.call_log import CallLog
from webtable.store.hbase.location import Location
from webtable.store.hbase.proto import base_pb2, registry_pb2
from webtable.store.hbase.region_rows import ServerId
from webtable.store.hbase.registry import ZooKeeperRegistry
from webtable.store.hbase.wire import ConnectFailed, Server

__all__ = ["ZooKeeperWork"]

M = TypeVar("M", bound=Message)
_SECONDS = 10.0
_STAT_SECONDS = 2.0
_LONGEST_STAT = 1 << 20


class ZooKeeperWork(CallLog):
    """Reads ZooKeeper; see `ClusterAdmin.zookeeper`."""

    def zookeeper(self) -> ZooKeeperReport:
        """Returns what ZooKeeper knows; see `ClusterAdmin.zookeeper`."""
        location = self._cluster.location
        if not location.by_zookeeper:
            raise InvalidRequest(
                f"store '{location.text}' is reached by its masters, not by ZooKeeper",
                hint="open it at hbase://, with the servers of ZooKeeper",
            )
        return self._ask(lambda attempts: _report(location, attempts.deadline.attempt()))


def _report(location: Location, timeout: float) -> ZooKeeperReport:
    registry = ZooKeeperRegistry(location)
    seconds = min(timeout, _SECONDS)
    children = registry.children("", seconds)
    copies = sorted(name for name in children if name.startswith("meta-region-server"))
    master = _stored(registry, "master", registry_pb2.Master, seconds)
    found = (_stored(registry, each, registry_pb2.MetaRegionServer, seconds) for each in copies)
    return ZooKeeperReport(
        parent=location.parent,
        master=None if master is None else _name(master.master),
        backup_masters=tuple(registry.children("backup-masters", seconds)),
        meta_servers=tuple(None if each is None else _name(each.server) for each in found),
        servers=tuple(name for name in registry.children("rs", seconds)),
        quorum={str(server): _stat(server) for server in location.servers},
    )


def _stored(registry: ZooKeeperRegistry, node: str, kind: type[M], timeout: float) -> M | None:
    try:
        return registry.read(node, kind, timeout)
    except ConnectFailed:  # the node is not there
        return None


def _name(server: base_pb2.ServerName) -> str:
    return str(ServerId.of(server))


def _stat(server: Server) -> tuple[str, ...]:
    said = b""
    try:
        with socket.create_connection(server, timeout=_STAT_SECONDS) as connection:
            connection.sendall(b"stat\n")
            while len(said) < _LONGEST_STAT and (part := connection.recv(1 << 16)):
                said += part
    except OSError as exc:
        return (f"ERROR: {exc}",)
    return tuple(said.decode("utf-8", "replace").splitlines())
