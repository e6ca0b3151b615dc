"""Gets of several threads that go together: each has its own answer, error and time."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from webtable.errors import FamilyNotFound
from webtable.store.hbase.auth import Identity
from webtable.store.hbase.cells import encode_cells
from webtable.store.hbase.engine import HBaseEngine
from webtable.store.hbase.location import parse_location
from webtable.store.hbase.messages import get_bytes
from webtable.store.hbase.pipe import Connection
from webtable.store.hbase.proto import client_pb2
from webtable.store.hbase.registry import ZooKeeperRegistry
from webtable.store.hbase.wire import CallTimedOut, ConnectionLost, NotHBase, RemoteError
from webtable.store.model import Row
from webtable.store.mutation import Put
from webtable.store.scan import Get

from .conftest import NewTable
from .forms import form_of
from .servers import Peer, Proxy, Request, listening

LIMIT = 20.0
BUSY = "org.apache.hadoop.hbase.RegionTooBusyException"


@pytest.fixture(params=["plain", "compiled"])
def _form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    module = form_of("webtable.store.hbase", "pipe", request.param)
    gets = form_of("webtable.store.hbase", "gets", request.param)
    monkeypatch.setitem(globals(), "Connection", module.Connection)
    if request.param == "plain":
        monkeypatch.setattr(module, "gets", gets)


@dataclass
class Asked:
    """A get as far as those who combine it look at it."""

    id: int
    region: bytes = b"a"
    request: bytes = b"r"
    seconds: float = LIMIT
    is_taken_back: bool = False


class Crowd:
    """Threads that read rows over one connection, to a server that a test plays."""

    def __init__(self, connection: Connection, threads: ThreadPoolExecutor) -> None:
        self.connection = connection
        self._threads = threads

    def get(self, row: bytes, region: bytes = b"a", seconds: float = LIMIT) -> Future[Row | None]:
        message = get_bytes(Get(row))
        return self._threads.submit(self.connection.get, region, message, seconds)


@contextmanager
def crowd(play: Callable[[Peer], None]) -> Iterator[Crowd]:
    with listening(play) as server, ThreadPoolExecutor(40) as threads:
        connection = Connection(server, "ClientService", Identity("me"), server, LIMIT)
        # Lest a busy machine is taken for a slow server.
        connection._gets.slow_seconds = connection._gets.overdue_seconds = LIMIT
        try:
            yield Crowd(connection, threads)
        finally:
            connection.close()


def cells_of(row: bytes) -> bytes:
    parts: list[bytes] = []
    encode_cells(parts, row, [(b"f:row", row)], 5)
    return b"".join(parts)


def answer_get(peer: Peer, request: Request) -> None:
    row = client_pb2.GetRequest.FromString(request.body).get.row
    found = client_pb2.GetResponse(result=client_pb2.Result(associated_cell_count=1))
    peer.answer(request.header.call_id, found, cells_of(row))


def answer_multi(peer: Peer, request: Request) -> list[list[bytes]]:
    """Answers gets that came together, and returns their rows by region.

    A row that begins with `no` is empty, one with `bad` an error; a region `gone` is not there.
    """
    asked = client_pb2.MultiRequest.FromString(request.body)
    response, cells = client_pb2.MultiResponse(), b""
    for action in asked.regionAction:
        result = response.regionActionResult.add()
        if action.region.value == b"gone":
            result.exception.name = "org.apache.hadoop.hbase.NotServingRegionException"
            continue
        for each in action.action:
            row = each.get.row
            outcome = result.resultOrException.add(index=each.index)
            if row.startswith(b"bad"):
                outcome.exception.name = BUSY
                outcome.exception.value = b"%b: %b\n\tat somewhere" % (BUSY.encode(), row)
            elif row.startswith(b"no"):
                outcome.result.SetInParent()
            else:
                outcome.result.associated_cell_count = 1
                cells += cells_of(row)
    peer.answer(request.header.call_id, response, cells)
    return [[each.get.row for each in action.action] for action in asked.regionAction]


class Played:
    """A server that keeps the first get waiting until it is told to answer."""

    def __init__(self, then: Callable[[Peer, Request], object]) -> None:
        self.go_on = threading.Event()
        self.has_first = threading.Event()
        self.methods: list[str] = []
        self._then = then

    def __call__(self, peer: Peer) -> None:
        peer.read_hello()
        first = peer.read_request()
        second = peer.read_request()
        self.has_first.set()
        assert self.go_on.wait(LIMIT)
        answer_get(peer, first)
        answer_get(peer, second)
        while True:
            request = peer.read_request()
            self.methods.append(request.header.method_name)
            if request.header.method_name == "Get":
                answer_get(peer, request)
            else:
                self._then(peer, request)


def wait_until_held(crowd: Crowd, count: int) -> None:
    end = time.monotonic() + LIMIT
    while len(crowd.connection._pending) < count:
        assert time.monotonic() < end
        time.sleep(0.001)


def begin(crowd: Crowd, played: Played) -> list[Future[Row | None]]:
    """Has two gets under way, so that further ones are held."""
    begun = [crowd.get(b"first"), crowd.get(b"second")]
    assert played.has_first.wait(LIMIT)
    return begun


@pytest.mark.usefixtures("_form")
def test_gets_that_were_held_go_together_and_each_has_its_own() -> None:
    regions: list[list[bytes]] = []
    played = Played(lambda peer, request: regions.extend(answer_multi(peer, request)))
    rows = [b"%s%d" % (kind, n) for n in range(4) for kind in (b"row", b"no", b"bad")]
    with crowd(played) as many:
        begun = begin(many, played)
        held = {row: many.get(row, b"ab"[n % 2 :][:1]) for n, row in enumerate(rows)}
        gone = many.get(b"row", b"gone")
        wait_until_held(many, len(rows) + 3)
        played.go_on.set()
        for row, found in held.items():
            if row.startswith(b"bad"):
                with pytest.raises(RemoteError, match=f"RegionTooBusyException: {row.decode()}"):
                    found.result(LIMIT)
            elif row.startswith(b"no"):
                assert found.result(LIMIT) is None
            else:
                assert found.result(LIMIT) == Row(row, [(b"f:row", 5, row, 4)])
        with pytest.raises(RemoteError, match="NotServingRegionException"):
            gone.result(LIMIT)
        assert [each.result(LIMIT) is not None for each in begun] == [True, True]
    assert "Multi" in played.methods
    assert len(played.methods) < len(rows)
    assert any(len(region) > 1 for region in regions)


@pytest.mark.usefixtures("_form")
def test_a_get_that_is_held_has_its_own_time() -> None:
    played = Played(answer_multi)
    with crowd(played) as many:
        begun = begin(many, played)
        impatient = many.get(b"row0", seconds=0.05)
        patient = [many.get(b"row%d" % n) for n in (1, 2, 3)]
        with pytest.raises(CallTimedOut, match="did not answer within") as caught:
            impatient.result(LIMIT)
        assert not caught.value.maybe_applied  # it never went
        wait_until_held(many, 5)
        played.go_on.set()
        assert all(each.result(LIMIT) for each in [*begun, *patient])


@pytest.mark.usefixtures("_form")
def test_a_get_that_went_with_others_has_its_own_time() -> None:
    late = threading.Event()

    def answer_late(peer: Peer, request: Request) -> None:
        assert late.wait(LIMIT)
        answer_multi(peer, request)

    played = Played(answer_late)
    with crowd(played) as many:
        begun = begin(many, played)
        held = [many.get(b"row%d" % n) for n in range(6)]
        impatient = many.get(b"row6", seconds=0.5)
        wait_until_held(many, 9)
        played.go_on.set()
        with pytest.raises(CallTimedOut):
            impatient.result(LIMIT)
        late.set()
        found = [each.result(LIMIT) for each in held]
        assert [row and row.key for row in found] == [b"row%d" % n for n in range(6)]
        assert all(each.result(LIMIT) for each in begun)


@pytest.mark.usefixtures("_form")
@pytest.mark.parametrize("after", ["first", "together", "nonsense", "refused"])
def test_what_ends_a_call_reaches_each_get(after: str) -> None:
    def spoil(peer: Peer, request: Request) -> None:
        if after == "nonsense":
            peer.answer(request.header.call_id, client_pb2.MultiResponse())
        elif after == "refused":
            peer.refuse(request.header.call_id, BUSY, "wait")
        else:
            peer.socket.shutdown(2)

    def play(peer: Peer) -> None:
        if after == "first":
            peer.read_hello()
            requests = [peer.read_request() for _ in range(2)]
            played.has_first.set()
            played.go_on.wait(LIMIT)
            assert requests
            peer.socket.shutdown(2)
        else:
            played(peer)

    played = Played(spoil)
    error = {"nonsense": NotHBase, "refused": RemoteError}.get(after, ConnectionLost)
    with crowd(play) as many:
        begun = begin(many, played)
        held = [many.get(b"row%d" % n) for n in range(6)]
        wait_until_held(many, 8)
        played.go_on.set()
        ended = [each.exception(LIMIT) for each in held]
        failed = [each for each in ended if each is not None]  # the last ones may go alone
        assert {type(each) for each in failed} == {error}
        assert len(set(map(id, failed))) == len(failed) > 2  # one of its own for each thread
        if after == "first":
            assert not any(each.maybe_applied for each in failed)  # type: ignore[attr-defined]
            assert all(each.exception(LIMIT).maybe_applied for each in begun)  # type: ignore[union-attr]


@pytest.mark.usefixtures("_form")
@pytest.mark.parametrize("why", ["large", "overdue"])
def test_gets_that_take_long_go_alone(why: str) -> None:
    numbers: list[int] = []

    def play(peer: Peer) -> None:
        peer.read_hello()
        first = peer.read_request()
        if why == "large":
            found = client_pb2.GetResponse(result=client_pb2.Result(associated_cell_count=1))
            parts: list[bytes] = []
            encode_cells(parts, b"first", [(b"f:row", bytes(1 << 20))], 5)
            peer.answer(first.header.call_id, found, b"".join(parts))
        requests = [first] if why == "overdue" else []
        while len(requests) < 6:
            requests.append(peer.read_request())
        numbers.append(len(requests))
        for request in requests:
            answer_get(peer, request)
        peer.read_request()

    with crowd(play) as many:
        if why == "overdue":
            many.connection._gets.overdue_seconds = 0.01
        first = many.get(b"first")
        if why == "large":
            assert first.result(LIMIT)
        others = [many.get(b"row%d" % n) for n in range(6 if why == "large" else 5)]
        assert all(each.result(LIMIT) for each in [first, *others])
    assert numbers == [6]


@pytest.mark.hbase
def test_many_threads_read_their_own_rows_whatever_happens(
    location: str, engine: HBaseEngine, new_table: NewTable
) -> None:
    server = ZooKeeperRegistry(parse_location(location)).meta_server(10)
    proxy = Proxy(server)
    table = new_table(splits=(b"3", b"6"))
    rows = [b"%d%03d" % (n % 10, n) for n in range(200)]
    engine.mutate_many(table, [Put(row, {b"f:a": row * 9, b"f:b": b"b"}) for row in rows], "wal")
    behind = HBaseEngine.connect(f"{location}&host_map={server}={proxy.address}")
    wrong: list[object] = []

    def work(first: int) -> None:
        for number in range(first, first + 100):
            row = rows[number * 7 % 200]
            found = behind.get(table, Get(row))
            if found is None or found.key != row or found.value(b"f:a") != row * 9:
                wrong.append((row, found))
            found = behind.get(table, Get(row, (b"f:b",), filter="ValueFilter(=, 'binary:c')"))
            if found is not None or behind.get(table, Get(row + b"!")) is not None:
                wrong.append((row, found))
            if number % 10 == 0:
                with pytest.raises(FamilyNotFound, match="'g'"):
                    behind.get(table, Get(row, (b"g",)))
            if number % 25 == 0:
                proxy.cut_after = 20_000

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(work, range(0, 160, 10)))
    behind.close()
    proxy.close()
    assert wrong == []
    assert proxy.cuts > 0


@pytest.mark.parametrize("form", ["plain", "compiled"])
def test_gets_go_alone_for_a_while_where_calls_are_slow(form: str) -> None:
    gets = form_of("webtable.store.hbase", "gets", form).Gets()
    gets.overdue_seconds = LIMIT
    ids = itertools.count(1)

    def go() -> int:
        """Returns how many gets go together of six that were held; 0 where they go alone."""
        first = Asked(next(ids))
        assert gets.at_once(first)
        assert not any(gets.at_once(Asked(next(ids))) for _ in range(6))
        gets.answered(first.id, 100)
        assert gets.are_due()
        call_id = next(ids)
        assert gets.next_frame(iter([call_id]))
        sent = gets.answered(call_id, 100)
        gets.take_back_all()
        return len(sent.calls) if sent else 0

    gets.slow_seconds = LIMIT
    assert {go() for _ in range(20)} == {3}
    gets.slow_seconds = -1.0  # so each call is slow
    found = [go() for _ in range(40)]
    assert found[:4] == [3] * 4
    assert 0 in found
