"""Bulks of mutations in flight while the next is made, with servers that do not respond."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.faults.proxy import Proxy
from tests.hbase.conftest import NewTable
from tests.waiting import wait_for
from webtable import Table
from webtable.errors import BatchError, FamilyNotFound, RetryableError, StoreClosed, Timeout
from webtable.store.engine import Writer
from webtable.store.hbase.cluster.find_meta_and_master import ZooKeeperRegistry
from webtable.store.hbase.engine import HBaseEngine
from webtable.store.hbase.location import parse_location
from webtable.store.mutation import Mutation, Put
from webtable.store.scan import Get, Scan

Connect = Callable[[float], HBaseEngine]


@pytest.fixture
def proxy(location: str) -> Iterator[Proxy]:
    proxy = Proxy(ZooKeeperRegistry(parse_location(location)).meta_server(10))
    yield proxy
    proxy.close()


@pytest.fixture
def connect(location: str, proxy: Proxy) -> Iterator[Connect]:
    """Opens engines behind the proxy, whose calls may take so many seconds."""
    engines: list[HBaseEngine] = []

    def open_engine(seconds: float) -> HBaseEngine:
        mapped = f"{proxy.target}={proxy.address}"
        engines.append(HBaseEngine.connect(f"{location}&timeout={seconds}&host_map={mapped}"))
        return engines[-1]

    yield open_engine
    proxy.heal()
    for each in engines:
        each.close()


def puts(value: bytes, *names: bytes) -> list[Mutation]:
    return [Put(name, {b"f:q": value}) for name in names]


def writer_of(engine: HBaseEngine, table: str) -> Writer:
    """Returns a writer of an engine that knows the table's regions already."""
    assert engine.get(table, Get(b"a")) is None
    return engine.writer(table, "wal")


def values(engine: HBaseEngine, table: str) -> dict[bytes, bytes | None]:
    return {row.key: row.value(b"f:q") for row in engine.scan(table, Scan())}


def test_a_bulk_is_not_waited_for_until_the_next(
    engine: HBaseEngine, connect: Connect, proxy: Proxy, new_table: NewTable
) -> None:
    table = new_table(splits=(b"m",))
    writer = writer_of(connect(60), table)
    proxy.hold_responses()
    writer.send(puts(b"1", b"a", b"z"), 0)
    wait_for(lambda: values(engine, table) == {b"a": b"1", b"z": b"1"})
    proxy.heal()
    writer.send(puts(b"2", b"b", b"y"), 2)
    writer.finish()
    assert values(engine, table) == {b"a": b"1", b"b": b"2", b"y": b"2", b"z": b"1"}


def test_a_bulk_waits_for_the_one_before_where_they_have_a_row_in_common(
    engine: HBaseEngine, connect: Connect, proxy: Proxy, new_table: NewTable
) -> None:
    table = new_table()
    writer = writer_of(connect(60), table)
    proxy.hold_responses()
    writer.send(puts(b"1", b"a", b"b"), 0)
    wait_for(lambda: values(engine, table) == {b"a": b"1", b"b": b"1"})
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(writer.send, puts(b"2", b"b", b"c"), 2)
        with pytest.raises(TimeoutError):
            second.result(0.3)  # long enough to do what it must not
        assert values(engine, table) == {b"a": b"1", b"b": b"1"}
        proxy.heal()
        second.result(20)
    writer.finish()
    assert values(engine, table) == {b"a": b"1", b"b": b"2", b"c": b"2"}


def test_what_was_lost_on_the_way_is_sent_again(
    engine: HBaseEngine, connect: Connect, proxy: Proxy, new_table: NewTable
) -> None:
    table = new_table()
    writer = writer_of(connect(60), table)
    proxy.cut_in("request", 30)  # in the middle of it
    writer.send(puts(b"1", b"a", b"b"), 0)
    wait_for(lambda: proxy.cuts == 1)
    writer.send(puts(b"2", b"c", b"d"), 2)
    proxy.cut_all()
    writer.finish()
    assert values(engine, table) == {b"a": b"1", b"b": b"1", b"c": b"2", b"d": b"2"}


def test_a_caller_may_take_longer_than_a_call_may(connect: Connect, new_table: NewTable) -> None:
    table = new_table()
    behind = connect(2)
    writer = behind.writer(table, "wal")
    writer.send(puts(b"1", b"a", b"b"), 0)
    time.sleep(2.2)
    writer.finish()
    assert values(behind, table) == {b"a": b"1", b"b": b"1"}


def test_a_store_that_was_closed_meanwhile(connect: Connect, new_table: NewTable) -> None:
    table = new_table()
    behind = connect(60)
    writer = behind.writer(table, "wal")
    writer.send(puts(b"1", b"a", b"b"), 0)
    behind.close()
    with pytest.raises(StoreClosed):
        writer.finish()


def test_mutations_without_a_response_are_named_with_their_position(
    connect: Connect, proxy: Proxy, new_table: NewTable
) -> None:
    table = new_table()
    behind = connect(2)
    assert behind.get(table, Get(b"a")) is None
    batch = Table(behind, table).batch(size=2)
    batch.add(Put(b"a", {b"f:q": b"1"}))
    batch.add(Put(b"b", {b"f:q": b"1"}))
    batch.send()
    proxy.hold_responses()
    batch.add(Put(b"c", {b"f:q": b"1"}))
    with pytest.raises(BatchError) as caught:
        batch.send()
    assert caught.value.positions == (2,)
    (error,) = caught.value.exceptions
    assert isinstance(error, Timeout)
    assert error.maybe_applied


def leave(table: Table, error: BaseException) -> None:
    with table.batch(size=2) as batch:
        for number in range(3):
            batch.put(b"%d" % number, {b"f:q": b"1"})
        raise error


def test_leaving_by_an_exception_reports_the_outcome_of_sent_mutations(
    connect: Connect, proxy: Proxy, new_table: NewTable
) -> None:
    table = Table(connect(2), new_table())
    assert table.get(b"0") is None
    proxy.hold_responses()
    with pytest.raises(KeyError) as caught:
        leave(table, KeyError("mine"))
    (note,) = caught.value.__notes__
    assert note.startswith("Of what was sent before: 2 of 2 mutations of table")


def test_ctrl_c_does_not_wait(connect: Connect, proxy: Proxy, new_table: NewTable) -> None:
    table = Table(connect(60), new_table())
    assert table.get(b"0") is None
    proxy.hold_responses()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        leave(table, KeyboardInterrupt())
    assert time.monotonic() - began < 30


def test_an_error_of_the_batch_itself_names_all_that_failed(
    engine: HBaseEngine, new_table: NewTable
) -> None:
    table = new_table()

    def fill() -> None:
        with Table(engine, table).batch(size=3) as batch:
            for number in range(8):
                family = b"nope" if number in (1, 4) else b"f"
                batch.put(b"%d" % number, {family + b":q": b"1"})

    with pytest.raises(BatchError) as caught:
        fill()
    assert caught.value.positions == (1, 4)
    assert [type(each) for each in caught.value.exceptions] == [FamilyNotFound] * 2
    assert sorted(values(engine, table)) == [b"0", b"2", b"3", b"5"]


def test_interrupted_mutations_are_reported_at_the_end(
    connect: Connect, proxy: Proxy, new_table: NewTable
) -> None:
    table = Table(connect(60), new_table())
    assert table.get(b"0") is None
    is_done = False

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    def fill() -> None:
        nonlocal is_done
        with table.batch(size=2) as batch:
            for number in range(3):
                batch.put(b"%d" % number, {b"f:q": b"1"})
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                batch.put(b"3", {b"f:q": b"1"})
            proxy.heal()
            is_done = True

    before = signal.signal(signal.SIGUSR1, stop)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGUSR1))
    proxy.hold_responses()
    try:
        with pytest.raises(BatchError, match=r"2 mutations of table .* were interrupted") as caught:
            fill()
    finally:
        timer.cancel()
        signal.signal(signal.SIGUSR1, before)
    assert is_done
    assert caught.value.positions == (0, 1)
    assert all(isinstance(each, RetryableError) for each in caught.value.exceptions)


def test_a_generator_that_is_dropped_stores_what_it_has_sent(
    engine: HBaseEngine, new_table: NewTable
) -> None:
    table = new_table()

    def numbers() -> Iterator[int]:
        with Table(engine, table).batch(size=2) as batch:
            for number in range(10):
                batch.put(b"%d" % number, {b"f:q": b"1"})
                yield number

    dropped = numbers()
    assert [next(dropped) for _ in range(5)] == [0, 1, 2, 3, 4]
    dropped.close()  # type: ignore[attr-defined]
    assert sorted(values(engine, table)) == [b"0", b"1", b"2", b"3"]
