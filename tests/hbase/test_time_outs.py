"""How long an operation may take, on a cluster that a test plays: late to connect, or silent."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

import pytest
from google.protobuf.message import Message

from webtable.errors import WebTableError
from webtable.store.hbase.cells import encode_cells
from webtable.store.hbase.cluster import CLIENT, Cluster, Connections
from webtable.store.hbase.engine import HBaseEngine
from webtable.store.hbase.location import parse_location
from webtable.store.hbase.proto import base_pb2, client_pb2, registry_pb2
from webtable.store.hbase.retry import Deadline
from webtable.store.hbase.wire import NotTrusted, Server
from webtable.store.mutation import Check, Conditional, Put
from webtable.store.scan import Get

from .servers import Peer, listening

LIMIT = 20.0
TIMEOUT = 2.0
CONNECTING = 1.2
SLACK = 1.0
META = base_pb2.TableName(namespace=b"hbase", qualifier=b"meta")
TABLE = base_pb2.TableName(namespace=b"default", qualifier=b"t")


def slow_to(servers: set[Server], seconds: float, patch: pytest.MonkeyPatch) -> list[float]:
    """Makes connecting to servers take long; returns how long it may take, each time."""
    allowed: list[float] = []
    connect = socket.create_connection

    def connect_late(address: Server, timeout: float) -> socket.socket:
        if address in servers:
            allowed.append(timeout)
            time.sleep(seconds)
        return connect(address, timeout)

    patch.setattr(socket, "create_connection", connect_late)
    return allowed


class Played(NamedTuple):
    """A cluster: one server knows where everything is, one has the only region of table `t`.

    `told` is how many milliseconds each call gave the server of the region.
    """

    cluster: Cluster
    region_server: Server
    told: list[int]


@contextmanager
def played(answers: int = 0) -> Iterator[Played]:
    """Yields a cluster that answers so many gets of rows, and then no call to the region."""
    told: list[int] = []

    def play_region(peer: Peer) -> None:
        peer.read_hello()
        while True:
            header = peer.read_request().header
            told.append(header.timeout)
            if len(told) <= answers:
                peer.answer(header.call_id, client_pb2.GetResponse())

    with listening(play_region) as region_server:

        def play_meta(peer: Peer) -> None:
            peer.read_hello()
            while True:
                header = peer.read_request().header
                peer.answer(header.call_id, *meta_answer(header.method_name, meta, region_server))

        with listening(play_meta) as meta:
            cluster = Cluster(parse_location(f"hbase+masters://{meta}?timeout={TIMEOUT}"))
            try:
                yield Played(cluster, region_server, told)
            finally:
                cluster.close()


def meta_answer(method: str, meta: Server, region_server: Server) -> tuple[Message, bytes]:
    """Returns what a server says that is master and has the meta table."""
    name = base_pb2.ServerName(host_name=meta.host, port=meta.port)
    if method == "GetMetaRegionLocations":
        place = base_pb2.RegionLocation(region_info=region(META), server_name=name, seq_num=1)
        return registry_pb2.GetMetaRegionLocationsResponse(meta_locations=[place]), b""
    if method == "GetBootstrapNodes":
        return registry_pb2.GetBootstrapNodesResponse(server_name=[name]), b""
    assert method == "Scan"
    info = b"PBUF" + region(TABLE).SerializeToString()
    where = str(region_server).encode()
    parts: list[bytes] = []
    encode_cells(parts, b"t,,1.abc.", [(b"info:regioninfo", info), (b"info:server", where)], 1)
    return client_pb2.ScanResponse(cells_per_result=[2], more_results=False), b"".join(parts)


def region(table: base_pb2.TableName) -> base_pb2.RegionInfo:
    return base_pb2.RegionInfo(region_id=1, table_name=table)


def get(engine: HBaseEngine) -> object:
    return engine.get("t", Get(b"r"))


def get_many(engine: HBaseEngine) -> object:
    return engine.get_many("t", [Get(b"r"), Get(b"s")])


def put(engine: HBaseEngine) -> object:
    return engine.mutate_row("t", b"r", [Put(b"r", {b"f:q": b"v"})], "wal")


def put_many(engine: HBaseEngine) -> object:
    return engine.mutate_many("t", [Put(row, {b"f:q": b"v"}) for row in (b"r", b"s")], "wal")


def check_many(engine: HBaseEngine) -> object:
    check = Check.equal(b"f:q", b"u", unique=True)
    steps = [Conditional(row, check, [Put(row, {b"f:q": b"v"})]) for row in (b"r", b"s")]
    for outcome in engine.check_and_mutate_many("t", steps, "wal"):
        if isinstance(outcome, WebTableError):
            raise outcome
    return None


@pytest.mark.parametrize("is_region_known", [False, True])
def test_connecting_is_a_part_of_the_time_of_an_operation(
    monkeypatch: pytest.MonkeyPatch, is_region_known: bool
) -> None:
    slow: set[Server] = set()
    slow_to(slow, CONNECTING, monkeypatch)

    def run(operation: Callable[[HBaseEngine], object]) -> tuple[float, list[int]]:
        with played() as (cluster, region_server, told):
            slow.add(region_server)
            if is_region_known:
                cluster.regions.locate(b"t", b"r", Deadline(LIMIT))
            began = time.monotonic()
            with pytest.raises(WebTableError):
                operation(HBaseEngine(cluster))
            return time.monotonic() - began, told

    operations = (get, get_many, put, put_many, check_many)
    with ThreadPoolExecutor(len(operations)) as pool:
        ended = list(pool.map(run, operations))
    for operation, (took, told) in zip(operations, ended, strict=True):
        assert took < TIMEOUT + SLACK, operation.__name__
        assert told, operation.__name__
        assert max(told) <= (TIMEOUT - CONNECTING) * 1000, operation.__name__


def test_who_waited_for_another_to_connect_has_less_time_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # An attempt that nobody trusts is not one for all who wait for it.
    def hang_up(peer: Peer) -> None:
        peer.socket.recv(1000)
        peer.socket.sendall(b"no TLS here")

    with listening(hang_up) as server, ThreadPoolExecutor(2) as threads:
        allowed = slow_to({server}, 0.5, monkeypatch)
        connections = Connections(parse_location(f"hbase+masters://{server}?tls=on"))
        attempts = [threads.submit(connections.to, server, CLIENT, TIMEOUT) for _ in range(2)]
        for attempt in attempts:
            assert isinstance(attempt.exception(LIMIT), NotTrusted)
    assert len(allowed) == 2
    assert allowed[1] <= TIMEOUT - 0.4 < allowed[0]


def test_a_get_that_is_silent_at_first_ends_in_its_time() -> None:
    with played(answers=1) as (cluster, _, told):
        engine = HBaseEngine(cluster)
        assert engine.get("t", Get(b"r")) is None
        began = time.monotonic()
        with pytest.raises(WebTableError):
            engine.get("t", Get(b"r"))
        assert TIMEOUT - 0.1 < time.monotonic() - began < TIMEOUT + SLACK
    assert len(told) >= 2
