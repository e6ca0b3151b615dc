"""What ZooKeeper has stored about a cluster, for the search for a fault.

Clients need two nodes only, see `find_meta_and_master`. This module reads more of them, and sends
the command `stat` to each server of the quorum, which responds where its configuration allows the
command.
"""

from __future__ import annotations

import socket
from time import monotonic
from typing import TypeVar

from google.protobuf.message import Message

from webtable.errors import InvalidRequest
from webtable.store.cluster_activity import ZooKeeperReport
from webtable.store.hbase.admin.master_client import MasterClient
from webtable.store.hbase.admin.region_list import ServerId
from webtable.store.hbase.cluster.find_meta_and_master import ZooKeeperRegistry
from webtable.store.hbase.location import Location
from webtable.store.hbase.proto import base_pb2, registry_pb2
from webtable.store.hbase.wire.errors_and_responses import ConnectFailed, Server

__all__ = ["zookeeper_report"]

M = TypeVar("M", bound=Message)
_SECONDS = 10.0
_STAT_SECONDS = 2.0
_LONGEST_STAT = 1 << 20


def zookeeper_report(master: MasterClient) -> ZooKeeperReport:
    """Returns what ZooKeeper has about the cluster; see `ClusterAdmin.zookeeper`."""
    location = master.cluster.location
    if not location.by_zookeeper:
        raise InvalidRequest(
            f"store '{location.text}' is reached by its masters, not by ZooKeeper",
            hint="open it at hbase://, with the servers of ZooKeeper",
        )
    return master.retry(lambda attempts: _report(location, attempts.deadline.attempt()))


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
    response = bytearray()
    end = monotonic() + _STAT_SECONDS
    try:
        with socket.create_connection(server, timeout=_STAT_SECONDS) as connection:
            connection.sendall(b"stat\n")
            while len(response) < _LONGEST_STAT and (part := connection.recv(1 << 16)):
                response += part
                # For all parts together: a server may send a byte now and then.
                connection.settimeout(max(end - monotonic(), 0.001))
    except OSError as exc:
        return (f"ERROR: {exc}",)
    return tuple(response.decode("utf-8", "replace").splitlines())
