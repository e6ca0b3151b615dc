"""The region cache, over a meta table that the test simulates."""

from __future__ import annotations

import itertools
from typing import TypeVar

import pytest
from google.protobuf.message import Message

from webtable.errors import InvalidRequest, TableNotFound
from webtable.store.hbase.cluster.meta import MetaTable
from webtable.store.hbase.cluster.region_cache import RegionCache
from webtable.store.hbase.cluster.table_names import Names
from webtable.store.hbase.proto import base_pb2, client_pb2
from webtable.store.hbase.retry import Deadline, translate
from webtable.store.hbase.wire.cell_blocks import encode_cells
from webtable.store.hbase.wire.choose_compiled_connection import RpcResponse
from webtable.store.hbase.wire.errors_and_responses import (
    ConnectionLost,
    NotHBase,
    RemoteError,
    Server,
)

M = TypeVar("M", bound=Message)
META_SERVER = Server("meta", 16020)
NSRE = "org.apache.hadoop.hbase.NotServingRegionException"


class MetaServer:
    """Responds as the server of a meta table would: a sorted list of rows of cells."""

    def __init__(self) -> None:
        self.rows: dict[bytes, dict[bytes, bytes]] = {}
        self.calls: list[str] = []
        self.is_slow = False
        self.most_bytes: int | None = None  # of the cells of a response
        self._searching = client_pb2.ScanRequest()

    def add_region(
        self,
        table: bytes,
        start: bytes,
        stop: bytes,
        region_id: int = 1,
        *,
        is_parent: bool = False,
    ) -> bytes:
        info = base_pb2.RegionInfo(region_id=region_id, start_key=start, end_key=stop)
        info.offline = info.split = is_parent
        info.table_name.namespace, info.table_name.qualifier = b"default", table
        name = b"%b,%b,%d.hash." % (table, start, region_id)
        self.rows[name] = {
            b"info:regioninfo": b"PBUF" + info.SerializeToString(),
            b"info:server": b"rs:16020",
            b"info:serverstartcode": (99).to_bytes(8, "big"),
        }
        return name

    def add_table(
        self,
        table: bytes,
        *splits: bytes,
        state: base_pb2.TableState.State = 0,  # type: ignore[assignment]
    ) -> None:
        self.rows[table] = {b"table:state": base_pb2.TableState(state=state).SerializeToString()}
        edges = (b"", *splits, b"")
        for start, stop in itertools.pairwise(edges):
            self.add_region(table, start, stop)

    def __call__(
        self, method: str, request: Message, kind: type[M], deadline: Deadline
    ) -> tuple[RpcResponse[M], Server]:
        self.calls.append(method)
        if isinstance(request, client_pb2.GetRequest):
            values = self.rows.get(request.get.row, {})
            got = client_pb2.GetResponse()
            got.result.associated_cell_count = len(values)
            return self._answer(got, kind, [(request.get.row, values)])
        assert isinstance(request, client_pb2.ScanRequest)
        if self.is_slow and not request.HasField("scanner_id"):
            self._searching = request
            heartbeat = client_pb2.ScanResponse(
                scanner_id=7, more_results=True, more_results_in_region=True, heartbeat_message=True
            )
            return self._answer(heartbeat, kind, [])
        if request.HasField("scanner_id"):
            assert (request.scanner_id, request.next_call_seq) == (7, 0)
            request = self._searching
        chosen = self._scan(request.scan)[: request.number_of_rows]
        counts = [len(values) for _, values in chosen]
        return self._answer(client_pb2.ScanResponse(cells_per_result=counts), kind, chosen)

    def _scan(self, scan: client_pb2.Scan) -> list[tuple[bytes, dict[bytes, bytes]]]:
        family = scan.column[0].family + b":"
        rows = sorted(
            (row for row in self.rows.items() if next(iter(row[1])).startswith(family)),
            key=lambda row: _meta_order(row[0]),
            reverse=scan.reversed,
        )
        start, stop = _meta_order(scan.start_row), _meta_order(scan.stop_row)
        if scan.reversed:
            return [row for row in rows if stop <= _meta_order(row[0]) <= start]
        return [
            row
            for row in rows
            if (not scan.start_row or start < _meta_order(row[0]))
            and (not scan.stop_row or _meta_order(row[0]) < stop)
        ]

    def _answer(
        self, message: Message, kind: type[M], rows: list[tuple[bytes, dict[bytes, bytes]]]
    ) -> tuple[RpcResponse[M], Server]:
        parts: list[bytes] = []
        for key, values in rows:
            encode_cells(parts, key, values.items(), 1)
        assert isinstance(message, kind)
        return RpcResponse(message, b"".join(parts)[: self.most_bytes], 0), META_SERVER


def _meta_order(key: bytes) -> tuple[bytes, bytes, bytes]:
    # HBase compares the three parts of a region's name one by one.
    table, _, rest = key.partition(b",")
    start, _, region_id = rest.rpartition(b",")
    return table, start, region_id


@pytest.fixture
def server() -> MetaServer:
    return MetaServer()


@pytest.fixture
def cache(server: MetaServer) -> RegionCache:
    return RegionCache(MetaTable(server), Names(None))


DEADLINE = Deadline(60)


def test_rows_find_their_regions(server: MetaServer, cache: RegionCache) -> None:
    server.add_table(b"t", b"g", b"p,q")
    server.add_table(b"t2", b"a")
    for row, start in [
        (b"", b""),
        (b"a", b""),
        (b"g", b"g"),
        (b"p", b"g"),
        (b"p,q", b"p,q"),
        (b"\xff", b"p,q"),
    ]:
        assert cache.locate(b"t", row, DEADLINE).start == start
    place = cache.locate(b"t", b"h", DEADLINE)
    assert (place.stop, place.server, place.table) == (b"p,q", Server("rs", 16020), b"t")
    assert (place.encoded_name, place.start_code) == (b"hash", 99)


def test_a_table_is_looked_up_once(server: MetaServer, cache: RegionCache) -> None:
    server.add_table(b"t", b"g", b"p")
    for row in (b"a", b"h", b"z", b"g"):
        cache.locate(b"t", row, DEADLINE)
    assert server.calls == ["Scan"]


def test_regions_backwards(server: MetaServer, cache: RegionCache) -> None:
    server.add_table(b"t", b"g", b"p")
    for _ in range(2):  # from the meta table, and from what was kept of it
        assert cache.locate_before(b"t", b"", DEADLINE).start == b"p"
        assert cache.locate_before(b"t", b"p\0", DEADLINE).start == b"p"
        assert cache.locate_before(b"t", b"p", DEADLINE).start == b"g"
        assert cache.locate_before(b"t", b"g", DEADLINE).start == b""


def test_a_split_takes_the_place_of_its_parent(server: MetaServer, cache: RegionCache) -> None:
    server.add_table(b"t")
    parent = cache.locate(b"t", b"a", DEADLINE)
    server.add_region(b"t", b"", b"", 1, is_parent=True)
    server.add_region(b"t", b"", b"m", 2)
    server.add_region(b"t", b"m", b"", 2)
    cache.failed(parent, RemoteError(NSRE, "", None), DEADLINE)
    assert cache.locate(b"t", b"a", DEADLINE).name == b"t,,2.hash."
    assert cache.locate(b"t", b"z", DEADLINE).name == b"t,m,2.hash."


def test_a_merge_takes_the_place_of_both(server: MetaServer, cache: RegionCache) -> None:
    server.add_table(b"t", b"m")
    left, right = cache.locate(b"t", b"a", DEADLINE), cache.locate(b"t", b"z", DEADLINE)
    del server.rows[left.name], server.rows[right.name]
    merged = server.add_region(b"t", b"", b"", 2)
    cache.failed(left, ConnectionLost("lost", left.server), DEADLINE)
    assert cache.locate(b"t", b"a", DEADLINE).name == merged
    assert cache.locate(b"t", b"z", DEADLINE).name == merged


def test_a_moved_region_is_followed_without_asking(server: MetaServer, cache: RegionCache) -> None:
    server.add_table(b"t", b"m")
    place = cache.locate(b"t", b"a", DEADLINE)
    text = "Region moved to: hostname=other port=7 startCode=1. As of locationSeqNum=2."
    server.calls.clear()
    moved = RemoteError("org.apache.hadoop.hbase.exceptions.RegionMovedException", text, None)
    cache.failed(place, moved, DEADLINE)
    assert cache.locate(b"t", b"a", DEADLINE).server == Server("other", 7)
    assert cache.locate(b"t", b"z", DEADLINE).server == Server("rs", 16020)
    assert server.calls == []


def test_servers_that_point_at_each_other_are_not_believed(
    server: MetaServer, cache: RegionCache
) -> None:
    # A region that was merged or split away leaves such memories behind for two minutes.
    server.add_table(b"t")
    first = cache.locate(b"t", b"a", DEADLINE)
    server.rows.clear()
    server.add_table(b"t", b"m")
    name = "org.apache.hadoop.hbase.exceptions.RegionMovedException"
    there = "Region moved to: hostname=other port=7 startCode=1. As of locationSeqNum=2."
    back = "Region moved to: hostname=rs port=16020 startCode=99. As of locationSeqNum=3."
    cache.failed(first, RemoteError(name, there, None), DEADLINE)
    second = cache.locate(b"t", b"a", DEADLINE)
    assert second.server == Server("other", 7)
    cache.failed(second, RemoteError(name, back, None), DEADLINE)
    assert cache.locate(b"t", b"a", DEADLINE).stop == b"m"


def test_a_hole_is_a_region_under_way(server: MetaServer, cache: RegionCache) -> None:
    server.add_table(b"t", b"g", b"p")
    del server.rows[b"t,g,1.hash."]
    assert cache.locate(b"t", b"a", DEADLINE).start == b""
    with pytest.raises(RemoteError, match="NotServingRegionException"):
        cache.locate(b"t", b"h", DEADLINE)
    for row in (b"h", b"p"):
        with pytest.raises(RemoteError, match="NotServingRegionException"):
            cache.locate_before(b"t", row, DEADLINE)
    with pytest.raises(RemoteError, match="NotServingRegionException"):
        cache.all(b"t", DEADLINE)
    del server.rows[b"t,p,1.hash."]
    cache.forget(b"t")
    with pytest.raises(RemoteError, match="NotServingRegionException"):
        cache.locate_before(b"t", b"", DEADLINE)


def test_an_unknown_table_names_the_known_ones(server: MetaServer, cache: RegionCache) -> None:
    server.add_table(b"pages")
    server.add_table(b"web:links")
    server.add_table(b"hbase:namespace")
    for ask in (cache.locate, cache.locate_before):
        with pytest.raises(
            TableNotFound, match="known tables: pages, web:links; did you mean 'pages'"
        ):
            ask(b"page", b"a", DEADLINE)
    with pytest.raises(TableNotFound):
        cache.all(b"page", DEADLINE)


def test_a_dropped_table_is_noticed(server: MetaServer, cache: RegionCache) -> None:
    server.add_table(b"t")
    place = cache.locate(b"t", b"a", DEADLINE)
    server.rows.clear()
    with pytest.raises(TableNotFound):
        cache.failed(place, RemoteError(NSRE, "", None), DEADLINE)


def test_a_disabled_table_is_noticed(server: MetaServer, cache: RegionCache) -> None:
    server.add_table(b"t", state=base_pb2.TableState.DISABLED)
    place = cache.locate(b"t", b"a", DEADLINE)
    with pytest.raises(InvalidRequest, match="table 't' is disabled"):
        cache.failed(place, RemoteError(NSRE, "", None), DEADLINE)


def test_many_regions_come_page_by_page(server: MetaServer, cache: RegionCache) -> None:
    splits = [b"%05d" % number for number in range(1, 1234)]
    server.add_table(b"t", *splits)
    places = cache.all(b"t", DEADLINE)
    assert [place.start for place in places] == [b"", *splits]
    assert len(server.calls) == 3


def test_a_server_that_searches_long_is_queried_again(
    server: MetaServer, cache: RegionCache
) -> None:
    server.add_table(b"t", b"g")
    server.is_slow = True
    assert cache.locate(b"t", b"h", DEADLINE).start == b"g"
    assert cache.locate_before(b"t", b"g", DEADLINE).start == b""
    assert server.calls == ["Scan", "Scan"]
    assert cache.table_names(DEADLINE) == ["t"]


def test_an_error_about_an_unreadable_response_names_the_server_of_the_meta_table(
    server: MetaServer, cache: RegionCache
) -> None:
    server.add_table(b"t")
    server.most_bytes = 20
    with pytest.raises(NotHBase, match="unreadable cells") as caught:
        cache.locate(b"t", b"a", DEADLINE)
    assert caught.value.server == META_SERVER
    assert str(translate(caught.value)).startswith("meta:16020 does not respond as HBase does: ")


def test_unreadable_rows_of_the_meta_table(server: MetaServer, cache: RegionCache) -> None:
    server.add_table(b"t")
    server.rows[b"t"] = {b"table:state": b"\xff"}
    with pytest.raises(NotHBase, match="row b't' of the meta table is unreadable") as caught:
        MetaTable(server).table_state(b"t", DEADLINE)
    assert str(translate(caught.value)).startswith("the cluster does not respond as HBase does: ")
    (name,) = (row for row in server.rows if row != b"t")
    server.rows[name][b"info:regioninfo"] = b"PBUF\xff"
    with pytest.raises(NotHBase, match="of the meta table is unreadable"):
        cache.locate(b"t", b"a", DEADLINE)
