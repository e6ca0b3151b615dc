"""A cluster that a test plays: one server knows where everything is, one has the only region."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from google.protobuf.message import Message

from webtable.store.hbase.cluster.cluster import Cluster
from webtable.store.hbase.location import parse_location
from webtable.store.hbase.proto import base_pb2, client_pb2, registry_pb2
from webtable.store.hbase.wire.cell_blocks import encode_cells
from webtable.store.hbase.wire.errors_and_responses import Server

from .servers import Peer, Request, listening

META = base_pb2.TableName(namespace=b"hbase", qualifier=b"meta")
TABLE = base_pb2.TableName(namespace=b"default", qualifier=b"t")

Reply = Callable[[Peer, Request], None]
"""Responds to a request, or does not."""


class Played(NamedTuple):
    """A cluster, and the server that has the only region of table `t`."""

    cluster: Cluster
    region_server: Server


@contextmanager
def played(reply: Reply, timeout: float, *, meta_hangs_up: bool = False) -> Iterator[Played]:
    """Yields a cluster whose only region is served as `reply` does.

    Args:
        meta_hangs_up: whether the server of the meta table ends a connection after each lookup.
    """

    def play_region(peer: Peer) -> None:
        peer.read_hello()
        while True:
            reply(peer, peer.read_request())

    with listening(play_region) as region_server:

        def play_meta(peer: Peer) -> None:
            peer.read_hello()
            while True:
                header = peer.read_request().header
                peer.answer(header.call_id, *_meta_answer(header.method_name, meta, region_server))
                if meta_hangs_up and header.method_name == "Scan":
                    return

        with listening(play_meta) as meta:
            cluster = Cluster(parse_location(f"hbase+masters://{meta}?timeout={timeout}"))
            try:
                yield Played(cluster, region_server)
            finally:
                cluster.close()


def _meta_answer(method: str, meta: Server, region_server: Server) -> tuple[Message, bytes]:
    """Returns what a server says that is master and has the meta table."""
    name = base_pb2.ServerName(host_name=meta.host, port=meta.port)
    if method == "GetMetaRegionLocations":
        place = base_pb2.RegionLocation(region_info=_region(META), server_name=name, seq_num=1)
        return registry_pb2.GetMetaRegionLocationsResponse(meta_locations=[place]), b""
    if method == "GetBootstrapNodes":
        return registry_pb2.GetBootstrapNodesResponse(server_name=[name]), b""
    assert method == "Scan"
    info = b"PBUF" + _region(TABLE).SerializeToString()
    where = str(region_server).encode()
    parts: list[bytes] = []
    encode_cells(parts, b"t,,1.abc.", [(b"info:regioninfo", info), (b"info:server", where)], 1)
    return client_pb2.ScanResponse(cells_per_result=[2], more_results=False), b"".join(parts)


def _region(table: base_pb2.TableName) -> base_pb2.RegionInfo:
    return base_pb2.RegionInfo(region_id=1, table_name=table)
