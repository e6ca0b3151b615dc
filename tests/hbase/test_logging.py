"""What the HBase engine logs, on clusters that a test plays: each event once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import webtable
from tests.hbase.cluster.test_region_cache import MetaServer
from tests.hbase.cluster.test_zk_client import WELCOME, answer, read_message, send, text
from tests.hbase.played import Reply, played
from tests.hbase.servers import HOST, Peer, Request, listening, unused_port
from webtable.errors import InvalidRequest, WebTableError
from webtable.store.hbase import retry
from webtable.store.hbase.cluster import cluster as clusters
from webtable.store.hbase.cluster.cluster import CLIENT, CLIENT_META, Connections
from webtable.store.hbase.cluster.find_meta_and_master import (
    MastersRegistry,
    RegistryUnavailable,
    ZooKeeperRegistry,
)
from webtable.store.hbase.cluster.meta import MetaTable
from webtable.store.hbase.cluster.region_cache import RegionCache
from webtable.store.hbase.cluster.table_names import Names
from webtable.store.hbase.engine import HBaseEngine
from webtable.store.hbase.location import parse_location
from webtable.store.hbase.ops import multi
from webtable.store.hbase.proto import client_pb2
from webtable.store.hbase.retry import Deadline
from webtable.store.hbase.wire.cell_blocks import encode_cells
from webtable.store.hbase.wire.errors_and_responses import (
    ConnectFailed,
    ConnectionLost,
    RemoteError,
    Server,
)
from webtable.store.mutation import Put
from webtable.store.scan import Get, Scan

LIMIT = 20.0
HBASE = "org.apache.hadoop.hbase"


@pytest.fixture(autouse=True)
def _all_levels(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.DEBUG, "webtable"):
        yield


def logged(caplog: pytest.LogCaptureFixture, *levels: str) -> list[str]:
    """Returns the messages of the engine, from the information level up unless levels are named."""
    return [
        record.getMessage()
        for record in caplog.records
        if record.name == "webtable.store.hbase"
        and record.levelname in (levels or ("INFO", "WARNING"))
    ]


def busy_for(calls: int) -> Reply:
    """Returns a region server that is too busy for so many calls."""
    seen: list[Request] = []

    def reply(peer: Peer, request: Request) -> None:
        seen.append(request)
        call_id = request.header.call_id
        if len(seen) <= calls:
            peer.refuse(call_id, f"{HBASE}.RegionTooBusyException", "not\x1b[2J now")
        else:
            peer.answer(call_id, client_pb2.GetResponse())

    return reply


def test_a_retry_is_logged_once_an_operation_and_the_next_ones_for_debugging(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reply = busy_for(3)
    with played(reply, LIMIT) as (cluster, server):
        assert HBaseEngine(cluster).get("t", Get(b"r")) is None
    (message,) = logged(caplog)
    assert message.startswith("table 't': retry in 0.0")
    assert "send it again after a pause" in message
    assert f"error of {server}: RegionTooBusyException" in message
    later = [each for each in logged(caplog, "DEBUG") if "retry" in each]
    assert [each.split()[3] for each in later] == ["2", "3"]


def test_a_moved_region_is_logged_by_the_first_thread_that_meets_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    meta = MetaServer()
    meta.add_table(b"t")
    cache = RegionCache(MetaTable(meta), Names(None))
    place = cache.locate(b"t", b"a", Deadline(LIMIT))
    moved = RemoteError(
        f"{HBASE}.exceptions.RegionMovedException",
        "Region moved to: hostname=other port=7 startCode=1. As of locationSeqNum=2.",
        None,
    )
    for _ in range(3):
        cache.failed(place, moved, Deadline(LIMIT))
    assert logged(caplog) == ["region t,,1.hash. moved from server rs:16020 to other:7"]


def test_a_region_that_is_looked_up_again_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    meta = MetaServer()
    meta.add_table(b"t")
    cache = RegionCache(MetaTable(meta), Names(None))
    place = cache.locate(b"t", b"a", Deadline(LIMIT))
    for _ in range(3):
        cache.failed(place, ConnectionLost("lost", place.server), Deadline(LIMIT))
    assert logged(caplog) == ["region t,,1.hash. is looked up again: it was on server rs:16020"]


def test_a_reconnect(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[Request] = []

    def reply(peer: Peer, request: Request) -> None:
        seen.append(request)
        if len(seen) == 2:
            raise OSError("the server hangs up")
        peer.answer(request.header.call_id, client_pb2.GetResponse())

    with played(reply, LIMIT) as (cluster, server):
        engine = HBaseEngine(cluster)
        assert engine.get("t", Get(b"r")) is None
        assert logged(caplog) == []
        assert engine.get("t", Get(b"r")) is None
    messages = logged(caplog)
    assert messages.count(f"connected to server {server} again, to its ClientService") == 1
    assert len([each for each in messages if "retry" in each]) == 1
    first = f"connected to server {server}, to its ClientService"
    assert logged(caplog, "DEBUG").count(first) == 1


def test_a_server_that_is_down_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = Server(HOST, unused_port())
    connections = Connections(parse_location(f"hbase+masters://{server}?timeout=5"))

    def connect(_: int) -> None:
        with pytest.raises(ConnectFailed):
            connections.to(server, CLIENT, 5)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(connect, range(8)))
    (message,) = logged(caplog, "WARNING")
    assert message.startswith(f"server {server} cannot be reached: ")
    connections.close()


def test_a_new_scanner_in_the_middle_of_a_scan(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[client_pb2.ScanRequest] = []

    def reply(peer: Peer, request: Request) -> None:
        scan = client_pb2.ScanRequest.FromString(request.body)
        call_id = request.header.call_id
        if scan.close_scanner and scan.HasField("scanner_id"):
            peer.answer(call_id, client_pb2.ScanResponse())
            return
        calls.append(scan)
        if len(calls) == 2:
            peer.refuse(call_id, f"{HBASE}.UnknownScannerException", "it is gone")
            return
        parts: list[bytes] = []
        encode_cells(parts, b"row%d" % len(calls), [(b"f:q", b"v")], 1)
        is_last = len(calls) > 2
        response = client_pb2.ScanResponse(
            cells_per_result=[1],
            partial_flag_per_result=[False],
            scanner_id=len(calls),
            more_results=not is_last,
            more_results_in_region=not is_last,
        )
        peer.answer(call_id, response, b"".join(parts))

    with played(reply, LIMIT) as (cluster, _):
        rows = [row.key for row in HBaseEngine(cluster).scan("t", Scan())]
    assert rows == [b"row1", b"row3"]
    assert logged(caplog) == [
        "scan of table 't' opens a new scanner at row b'row1': UnknownScannerException: it is gone"
    ]


def test_the_registry_is_queried_again(caplog: pytest.LogCaptureFixture) -> None:
    reply = busy_for(0)
    with played(reply, LIMIT, meta_hangs_up=True) as (cluster, _):
        engine = HBaseEngine(cluster)
        assert engine.get("t", Get(b"r")) is None
        assert [each for each in logged(caplog) if "looked up again at" in each] == []
        cluster.regions.forget(b"t")
        assert engine.get("t", Get(b"r")) is None
    (message,) = [each for each in logged(caplog) if "looked up again at" in each]
    assert message.startswith(
        "looked up again at the masters: the server of the meta table is 127.0.0.1:"
    )


def zookeeper(peer: Peer) -> None:
    """Responds to one query for the children of a node."""
    peer.read(49)
    send(peer, WELCOME)
    read_message(peer)
    send(peer, answer(text(b"") + bytes(4)))


def test_a_zookeeper_server_that_does_not_respond_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    is_up = threading.Event()

    def play(peer: Peer) -> None:
        if is_up.is_set():
            zookeeper(peer)

    with listening(play) as first, listening(zookeeper) as second:
        registry = ZooKeeperRegistry(parse_location(f"hbase://{first},{second}"))
        for _ in range(3):
            registry.children("rs", LIMIT)
        (message,) = logged(caplog)
        assert message.startswith(f"server {first} of ZooKeeper does not respond: ")
        is_up.set()
        registry.children("rs", LIMIT)
        is_up.clear()
        registry.children("rs", LIMIT)
    assert len(logged(caplog)) == 2


def test_no_warning_where_the_error_names_every_zookeeper_server(
    caplog: pytest.LogCaptureFixture,
) -> None:
    servers = [Server(HOST, unused_port()) for _ in range(2)]
    registry = ZooKeeperRegistry(parse_location(f"hbase://{servers[0]},{servers[1]}"))
    with pytest.raises(RegistryUnavailable) as error:
        registry.children("rs", LIMIT)
    assert all(f"{server}: " in str(error.value) for server in servers)
    assert logged(caplog) == []


def test_a_master_that_does_not_respond_is_logged_if_another_one_does(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reply, silent = busy_for(0), Server(HOST, unused_port())
    with played(reply, LIMIT) as (cluster, _):
        (master,) = cluster.location.servers
        registry = MastersRegistry(
            parse_location(f"hbase+masters://{silent},{master}"),
            lambda at, timeout: cluster.connections.to(at, CLIENT_META, timeout),
        )
        registry.meta_server(LIMIT)
    (message,) = logged(caplog, "WARNING")
    assert message.startswith(f"server {silent} of the registry does not respond: ")


def test_no_warning_where_no_master_responds(caplog: pytest.LogCaptureFixture) -> None:
    location = parse_location(f"hbase+masters://{HOST}:{unused_port()}")
    connections = Connections(location)
    registry = MastersRegistry(
        location, lambda at, timeout: connections.to(at, CLIENT_META, timeout)
    )
    with pytest.raises(RegistryUnavailable, match="no master responds"):
        registry.meta_server(LIMIT)
    assert logged(caplog, "WARNING") == []
    connections.close()


def test_slow_operations(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (retry, clusters, multi):
        monkeypatch.setattr(module, "SLOW_SECONDS", 0.0)
    reply = busy_for(0)
    with played(reply, LIMIT) as (cluster, server):
        engine = HBaseEngine(cluster)
        for _ in range(2):  # where the region is looked up, and where it is known
            engine.get("t", Get(b"r"))
    slow = [each for each in logged(caplog) if each.startswith("slow operation: Get of table 't'")]
    assert len(slow) == 2
    assert all(each.endswith(f"s on {server}") for each in slow)


def test_a_slow_batch(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multi, "SLOW_SECONDS", 0.0)

    def reply(peer: Peer, request: Request) -> None:
        response = client_pb2.MultiResponse()
        asked = client_pb2.MultiRequest.FromString(request.body)
        for region in asked.regionAction:
            result = response.regionActionResult.add()
            for action in region.action:
                result.resultOrException.add(index=action.index).result.SetInParent()
        peer.answer(request.header.call_id, response)

    with played(reply, LIMIT) as (cluster, server):
        puts = [Put(row, {b"f:q": b"v"}) for row in (b"r", b"s")]
        HBaseEngine(cluster).mutate_many("t", puts, "wal")
    (message,) = logged(caplog)
    assert message.startswith("slow operation: Multi of table 't' took ")
    assert message.endswith(f"s on {server}")


def test_no_secret_of_a_location(caplog: pytest.LogCaptureFixture) -> None:
    port = unused_port()
    with pytest.raises(InvalidRequest):
        webtable.open(f"hbase+masters://someone:geheim@{HOST}:{port}")
    with pytest.raises(WebTableError):
        webtable.open(f"hbase+masters://{HOST}:{port}?timeout=1&password=geheim")
    with pytest.raises(WebTableError):
        webtable.open(f"hbase+masters://{HOST}:{port}?timeout=1")
    assert logged(caplog)
    assert "geheim" not in caplog.text
