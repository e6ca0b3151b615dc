"""Connections that break, servers that are gone or are something else."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest

from tests.faults.proxy import Proxy as StallingProxy
from tests.hbase.conftest import NewTable
from tests.hbase.servers import HOST, Peer, Proxy, listening, unused_port
from webtable.errors import (
    BatchError,
    RetryableError,
    ServerUnavailable,
    Timeout,
    WebTableError,
)
from webtable.store.hbase.cluster.find_meta_and_master import ZooKeeperRegistry
from webtable.store.hbase.engine import HBaseEngine
from webtable.store.hbase.location import parse_location
from webtable.store.hbase.wire.errors_and_responses import CallTimedOut, Server
from webtable.store.mutation import Append, Check, Conditional, Increment, Mutation, Put
from webtable.store.scan import Get, Scan
from webtable.store.schema import Family


@pytest.fixture
def region_server(location: str) -> Server:
    # The only one of the shared cluster.
    return ZooKeeperRegistry(parse_location(location)).meta_server(10)


@pytest.fixture
def proxy(region_server: Server) -> Iterator[Proxy]:
    proxy = Proxy(region_server)
    yield proxy
    proxy.close()


@pytest.fixture
def behind(location: str, region_server: Server, proxy: Proxy) -> Iterator[HBaseEngine]:
    """An engine whose connections to the region server go through the proxy."""
    engine = HBaseEngine.connect(f"{location}&host_map={region_server}={proxy.address}")
    yield engine
    engine.close()


def test_the_host_map_is_used(behind: HBaseEngine, proxy: Proxy) -> None:
    proxy.cut_after = 0
    behind.list_tables()
    assert proxy.cuts == 1


@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_survives_cuts_in_the_middle_of_responses(
    behind: HBaseEngine, proxy: Proxy, new_table: NewTable, reverse: bool
) -> None:
    table = new_table(splits=(b"0700",))
    keys = [b"%04d" % number for number in range(1500)]
    values = {b"f:a": b"a" * 100, b"f:b": b"b" * 100}
    behind.mutate_many(table, [Put(key, values) for key in keys], "wal")
    found = []
    for number, row in enumerate(behind.scan(table, Scan(batch_rows=50, reverse=reverse))):
        found.append(row.key)
        assert row.values() == values
        if number % 100 == 0:
            proxy.cut_after = 7_000
    assert found == (keys[::-1] if reverse else keys)
    assert proxy.cuts >= 5


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("large", [False, True])
def test_a_scan_is_whole_where_its_region_is_flushed_meanwhile(
    engine: HBaseEngine, new_table: NewTable, reverse: bool, large: bool
) -> None:
    # A file with two new rows, one before and one behind the place where the scan is: at that
    # HBase 2.6.4 loses its place in a reverse scanner that stays open.
    table = new_table(Family(name="f"), Family(name="g"))
    keys = [b"%02d" % number for number in range(20 if large else 40)]
    first, last = keys[2], keys[-3]
    size = 700_000 if large else 10
    old = {b"f:a": b"old", b"f:b": bytes(size), b"g:a": b"old", b"g:b": bytes(size)}
    engine.mutate_many(table, [Put(key, old) for key in keys], "wal")
    engine.flush(table)
    found: list[bytes] = []
    for number, row in enumerate(engine.scan(table, Scan(batch_rows=3, reverse=reverse))):
        found.append(row.key)
        if row.key not in (first, last):
            assert row.values() == old
        if number in (8, 14):
            new = dict.fromkeys(old, b"new %d" % number)
            engine.mutate_many(table, [Put(first, new), Put(last, new)], "wal")
            engine.flush(table)
    assert found == (keys[::-1] if reverse else keys)


def test_increments_and_appends_happen_once(
    behind: HBaseEngine, proxy: Proxy, new_table: NewTable
) -> None:
    table = new_table()
    for number in range(1, 11):
        proxy.cut_after = 0
        row = behind.mutate_row(table, b"r", [Increment(b"r", {b"f:n": 1})], "wal")
        assert row is not None
        assert row.value(b"f:n") == number.to_bytes(8, "big")
        proxy.cut_after = 0
        behind.mutate_many(
            table, [Increment(b"s", {b"f:n": 1}), Append(b"s", {b"f:t": b"x"})], "wal"
        )
        proxy.cut_after = 0
        step: list[Mutation] = [
            Increment(b"t", {b"f:n": 1}),
            Put(b"t", {b"f:p": b"%d" % number}),
        ]
        behind.mutate_row(table, b"t", step, "wal")
    assert proxy.cuts == 30
    r, s, t = behind.get_many(table, [Get(b"r"), Get(b"s"), Get(b"t")])
    ten = (10).to_bytes(8, "big")
    assert r is not None
    assert r.values() == {b"f:n": ten}
    assert s is not None
    assert s.values() == {b"f:n": ten, b"f:t": b"x" * 10}
    assert t is not None
    assert t.values() == {b"f:n": ten, b"f:p": b"10"}


def test_a_check_whose_response_was_lost_is_never_called_a_failure(
    behind: HBaseEngine, proxy: Proxy, new_table: NewTable
) -> None:
    table = new_table()
    put = [Put(b"r", {b"f:q": b"v"})]
    assert behind.get_many(table, [Get(b"r")]) == [None]  # so that it knows the way
    proxy.cut_after = 0
    with pytest.raises(Timeout, match="is unknown"):
        behind.check_and_mutate(table, Conditional(b"r", Check.absent(b"f:q"), put), "wal")
    (row,) = behind.get_many(table, [Get(b"r")])
    assert row is not None  # it was made the first time
    assert not behind.check_and_mutate(
        table, Conditional(b"r", Check.absent(b"f:q"), put), "wal"
    ).success
    # Where the condition still holds after the first time, success is certain.
    proxy.cut_after = 0
    assert behind.check_and_mutate(
        table, Conditional(b"r", Check.equal(b"f:q", b"v"), put), "wal"
    ).success


def test_what_was_lost_on_the_way_to_the_region_leaves_no_doubt(
    engine: HBaseEngine, behind: HBaseEngine, proxy: Proxy, new_table: NewTable
) -> None:
    table = new_table()
    put = [Put(b"r", {b"f:q": b"v"})]
    engine.mutate_row(table, b"r", put, "wal")
    behind.list_tables()  # so that there is a connection to cut
    proxy.cut_after = 0  # the response of the meta table: where the region is
    assert not behind.check_and_mutate(
        table, Conditional(b"r", Check.absent(b"f:q"), put), "wal"
    ).success
    assert proxy.cuts == 1


def test_a_check_with_a_unique_value_is_distinguished_from_others(
    engine: HBaseEngine, behind: HBaseEngine, proxy: Proxy, new_table: NewTable
) -> None:
    table = new_table()
    absent = Check.absent(b"f:q", unique=True)
    assert behind.get_many(table, [Get(b"r")]) == [None]  # so that it knows the way
    proxy.cut_after = 0
    assert behind.check_and_mutate(
        table, Conditional(b"r", absent, [Put(b"r", {b"f:q": b"1"})]), "wal"
    ).success
    assert proxy.cuts == 1
    # Another's value in its place says nothing about ours.
    proxy.cut_after = 0
    with pytest.raises(Timeout, match="is unknown"):
        behind.check_and_mutate(
            table, Conditional(b"r", absent, [Put(b"r", {b"f:q": b"2"})]), "wal"
        )
    # The new value of a counter is not to be had that way.
    step: list[Mutation] = [Put(b"r", {b"f:q": b"3"}), Increment(b"r", {b"f:n": 1})]
    equal = Check.equal(b"f:q", b"1", unique=True)
    proxy.cut_after = 0
    with pytest.raises(Timeout, match="was made"):
        behind.check_and_mutate(table, Conditional(b"r", equal, step), "wal")
    (row,) = engine.get_many(table, [Get(b"r")])
    assert row is not None
    assert row.values() == {b"f:n": (1).to_bytes(8, "big"), b"f:q": b"3"}


def test_a_server_that_falls_silent_costs_the_time_out(
    location: str, region_server: Server, new_table: NewTable
) -> None:
    table = new_table()
    stalling = StallingProxy(region_server)
    hurried = HBaseEngine.connect(
        f"{location}&timeout=2&host_map={region_server}={stalling.address}"
    )
    check = Check.absent(b"f:never")
    put = [Put(b"r", {b"f:q": b"v"})]
    calls: dict[str, Callable[[], object]] = {
        "get": lambda: hurried.get_many(table, [Get(b"r")]),
        "gets": lambda: hurried.get_many(table, [Get(b"r"), Get(b"s")]),
        "put": lambda: hurried.mutate_row(table, b"r", put, "wal"),
        "puts": lambda: hurried.mutate_many(table, put * 3, "wal"),
        "large puts": lambda: hurried.mutate_many(
            table, [Put(b"%d" % n, {b"f:q": bytes(1 << 20)}) for n in range(30)], "wal"
        ),
        "check": lambda: hurried.check_and_mutate(table, Conditional(b"r", check, put), "wal"),
        "scan": lambda: list(hurried.scan(table, Scan())),
        "unknown table": lambda: hurried.get_many("nothing", [Get(b"r")]),
        "regions": lambda: hurried.regions(table),
    }
    assert hurried.get_many(table, [Get(b"r")]) == [None]
    stalling.stall(60)

    def run(name: str) -> tuple[str, float, WebTableError]:
        began = time.monotonic()
        with pytest.raises(WebTableError) as caught:
            calls[name]()
        return name, time.monotonic() - began, caught.value

    with ThreadPoolExecutor(len(calls)) as pool:
        ended = list(pool.map(run, calls))
    stalling.close()
    hurried.close()
    for name, took, error in ended:
        errors = error.exceptions if isinstance(error, BatchError) else (error,)
        assert all(isinstance(each, RetryableError) and each.hint for each in errors), name
        assert took < 8, f"{name} took {took:.1f} s: {error}"


def test_batches_survive_cuts(behind: HBaseEngine, proxy: Proxy, new_table: NewTable) -> None:
    table = new_table(splits=(b"0700",))
    keys = [b"%04d" % number for number in range(1500)]
    proxy.cut_after = 0
    behind.mutate_many(table, [Put(key, {b"f:k": key}) for key in keys], "wal")
    proxy.cut_after = 20_000
    rows = behind.get_many(table, [Get(key) for key in keys])
    assert [row and row.value(b"f:k") for row in rows] == keys
    assert proxy.cuts == 2


def test_a_row_keeps_its_order_where_its_region_is_not_found_at_once(
    behind: HBaseEngine, proxy: Proxy, new_table: NewTable
) -> None:
    table = new_table()
    behind.list_tables()  # so that there is a connection to cut
    proxy.cut_after = 0
    puts = [Put(b"r", {b"f:q": b"%d" % number}) for number in range(3)]
    behind.mutate_many(table, puts, "wal")
    assert proxy.cuts == 1
    (row,) = behind.get_many(table, [Get(b"r")])
    assert row is not None
    assert row.value(b"f:q") == b"2"
    proxy.cut_after = 0
    mixed: list[Mutation] = []
    for number in range(3):
        mixed += [Append(b"s", {b"f:q": b"%d" % number}), Put(b"s", {b"f:p": b"%d" % number})]
        mixed += [Increment(b"s", {b"f:n": 1})] * 2
    behind.mutate_many(table, mixed, "wal")
    (row,) = behind.get_many(table, [Get(b"s")])
    assert row is not None
    six = (6).to_bytes(8, "big")
    assert row.values() == {b"f:n": six, b"f:p": b"2", b"f:q": b"012"}


def test_a_cluster_that_stops_is_reported_soon(
    engine: HBaseEngine, location: str, region_server: Server, proxy: Proxy, new_table: NewTable
) -> None:
    table = new_table()
    master = ZooKeeperRegistry(parse_location(location)).active_master(10)
    gate = Proxy(master)
    namespace = location.partition("namespace=")[2]
    stopping = HBaseEngine.connect(
        f"hbase+masters://{master}?namespace={namespace}"
        f"&host_map={master}={gate.address},{region_server}={proxy.address}"
    )
    try:
        assert stopping.get_many(table, [Get(b"r")]) == [None]
        gate.close()
        proxy.close()
        with pytest.raises(ServerUnavailable) as caught:
            stopping.get_many(table, [Get(b"r")])
        assert str(master) in str(caught.value)
        assert "check that HBase is running" in caught.value.hint
        with pytest.raises(ServerUnavailable):
            stopping.describe_table(table)
    finally:
        stopping.close()


def say_http(peer: Peer) -> None:
    peer.socket.recv(1000)
    peer.socket.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    say_nothing(peer)


def say_nothing(peer: Peer) -> None:
    while peer.socket.recv(1000):
        pass


class Refused(NamedTuple):
    """What became of an attempt to connect."""

    servers: str
    error: WebTableError
    seconds: float


SCHEMES = ("hbase", "hbase+masters")
PLACES = ("nobody", "http", "silence", "much silence")


@pytest.fixture(scope="module")
def refused() -> dict[tuple[str, str], Refused]:
    """Attempts to connect where no HBase is, all at once: each waits for its time-out."""

    def attempt(case: tuple[str, str]) -> Refused:
        scheme, place = case
        servers, options = servers_of[place], "" if place == "nobody" else "?timeout=1"
        began = time.monotonic()
        with pytest.raises((ServerUnavailable, Timeout)) as caught:
            HBaseEngine.connect(f"{scheme}://{servers}{options}")
        return Refused(servers, caught.value, time.monotonic() - began)

    with contextlib.ExitStack() as stack:

        def listen(play: Callable[[Peer], None]) -> str:
            return str(stack.enter_context(listening(play)))

        servers_of = {
            "nobody": f"{HOST}:{unused_port()}",
            "http": listen(say_http),
            "silence": listen(say_nothing),
            "much silence": ",".join(listen(say_nothing) for _ in range(3)),
        }
        cases = [(scheme, place) for scheme in SCHEMES for place in PLACES]
        with ThreadPoolExecutor(len(cases)) as pool:
            return dict(zip(cases, pool.map(attempt, cases), strict=True))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("place", ["nobody", "http", "silence"])
def test_something_else_or_nothing_at_the_location(
    refused: dict[tuple[str, str], Refused], scheme: str, place: str
) -> None:
    servers, error, _ = refused[scheme, place]
    assert servers in str(error)
    assert error.hint
    if place == "nobody":
        assert isinstance(error, ServerUnavailable)
    if (scheme, place) == ("hbase+masters", "http"):
        assert "does not respond as HBase does: it sent b'HTTP" in str(error)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_many_that_say_nothing_cost_no_more_than_one(
    refused: dict[tuple[str, str], Refused], scheme: str
) -> None:
    assert refused[scheme, "much silence"].seconds < 5


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("play", [say_http, say_nothing])
def test_a_failed_connection_leaves_no_threads(scheme: str, play: Callable[[Peer], None]) -> None:
    with listening(play) as server:
        before = set(threading.enumerate())
        with pytest.raises((ServerUnavailable, Timeout)):
            HBaseEngine.connect(f"{scheme}://{server}?timeout=0.3")
        ours = [each.name for each in set(threading.enumerate()) - before]
        assert all("(run)" in name for name in ours), ours  # the test's own server's


def test_a_registry_is_not_queried_when_there_is_no_time_left(hbase_location: str) -> None:
    registry = ZooKeeperRegistry(parse_location(hbase_location))
    with pytest.raises(CallTimedOut, match="no time was left"):
        registry.meta_server(-0.1)


def test_zookeeper_without_hbase(hbase_location: str) -> None:
    with pytest.raises(ServerUnavailable, match="no HBase is running under '/nothing'"):
        HBaseEngine.connect(f"{hbase_location}/nothing?timeout=2")
