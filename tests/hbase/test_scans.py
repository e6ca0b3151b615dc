"""Scans over the regions of a real table: in order, whole, each row once, whatever happens."""

from __future__ import annotations

import contextlib
import gc
import itertools
from collections.abc import Generator, Iterator
from typing import Any, cast

import pytest

from webtable.errors import FamilyNotFound, StoreClosed, TableNotFound
from webtable.store.hbase.connection import Connection
from webtable.store.hbase.engine import HBaseEngine
from webtable.store.hbase.proto import client_pb2
from webtable.store.hbase.scanner import scan_rows
from webtable.store.hbase.wire import RemoteError
from webtable.store.model import Row
from webtable.store.mutation import Put
from webtable.store.scan import Scan
from webtable.store.schema import Family, TableSchema

from .conftest import NewTable

SPLITS = (b"0300", b"0600", b"0600\x00", b"0900")
KEYS = [b"%04d" % number for number in range(0, 1200, 3)]


@pytest.fixture(scope="module")
def numbers(engine: HBaseEngine) -> Iterator[str]:
    """A table of five regions, one of them for a single key."""
    name = "numbers"
    engine.create_table(TableSchema(name=name, families=(Family(name="f"),)), SPLITS)
    engine.mutate_many(name, [Put(key, {b"f:n": key, b"f:x": b"x" * 50}) for key in KEYS], "wal")
    yield name
    engine.drop_table(name)


def keys_of(rows: Iterator[Row]) -> list[bytes]:
    return [row.key for row in rows]


EDGES = [
    b"",
    b"0",
    b"0003",
    b"0300",
    b"0301",
    b"0600",
    b"0600\x00",
    b"0603",
    b"0900",
    b"1197",
    b"9",
]


def test_every_range_both_ways(engine: HBaseEngine, numbers: str) -> None:
    for start, stop in itertools.product(EDGES, EDGES):
        expected = [key for key in KEYS if start <= key and (not stop or key < stop)]
        found = keys_of(engine.scan(numbers, Scan(start=start, stop=stop)))
        assert found == expected, (start, stop)
        found = keys_of(engine.scan(numbers, Scan(start=start, stop=stop, reverse=True)))
        assert found == expected[::-1], (start, stop)


@pytest.mark.parametrize("limit", [0, 1, 99, 100, 101, 200, 399, 400, 401])
@pytest.mark.parametrize("batch_rows", [None, 1, 7])
@pytest.mark.parametrize("reverse", [False, True])
def test_limits_end_where_they_say(
    engine: HBaseEngine, numbers: str, limit: int, batch_rows: int | None, reverse: bool
) -> None:
    scan = Scan(limit=limit, batch_rows=batch_rows, reverse=reverse)
    expected = KEYS[::-1][:limit] if reverse else KEYS[:limit]
    assert keys_of(engine.scan(numbers, scan)) == expected


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("max_bytes", [1, 300, 5_000])
def test_small_answers_lose_nothing(
    engine: HBaseEngine, numbers: str, max_bytes: int, reverse: bool
) -> None:
    rows = list(scan_rows(engine._cluster, numbers, Scan(reverse=reverse), max_bytes))
    assert [row.key for row in rows] == (KEYS[::-1] if reverse else KEYS)
    assert all(row.values() == {b"f:n": row.key, b"f:x": b"x" * 50} for row in rows)


@pytest.mark.parametrize("reverse", [False, True])
def test_large_rows_come_in_parts_and_whole(
    engine: HBaseEngine, new_table: NewTable, reverse: bool
) -> None:
    table = new_table(Family(name="f"), Family(name="g"), splits=(b"c",))
    wide = {b"f:%04d" % number: bytes([number % 256]) * 500 for number in range(300)}
    wide |= {b"g:last": b"end"}
    rows = {b"a": {b"f:x": b"1"}, b"b": wide, b"c": wide, b"d": {b"g:x": b"2"}, b"e": wide}
    engine.mutate_many(table, [Put(key, values) for key, values in rows.items()], "wal")
    expected = sorted(rows.items(), reverse=reverse)
    for limit in (None, 2, 5):
        scan = Scan(reverse=reverse, limit=limit)
        found = [(row.key, row.values()) for row in scan_rows(engine._cluster, table, scan, 20_000)]
        assert found == expected[:limit]


def test_many_rows_over_many_answers(engine: HBaseEngine, new_table: NewTable) -> None:
    table = new_table(splits=(b"k1", b"k2"))
    puts = [Put(b"k%05d" % number, {b"f:v": b"v" * 200}) for number in range(15_000)]
    engine.mutate_many(table, puts, "none")
    rows = engine.scan(table, Scan())
    assert [row.key for row in rows] == [put.row for put in puts]


def inside(rows: Iterator[Row]) -> Any:
    """Returns what stands behind the rows of a scan."""
    return cast("Any", rows).gi_frame.f_locals["self"]


def is_open(connection: Connection, scanner_id: int) -> bool:
    """Whether a server has a scanner: then a call that is not the next one is out of order."""
    request = client_pb2.ScanRequest(scanner_id=scanner_id, next_call_seq=10**6)
    with pytest.raises(RemoteError) as caught:
        connection.call("Scan", request, client_pb2.ScanResponse, 10)
    # A server remembers for a while which scanners were closed.
    is_unknown = caught.value.java_class == "UnknownScannerException"
    return not is_unknown and "closed request" not in caught.value.detail


@pytest.mark.parametrize("read", [0, 1, 5, 9])
@pytest.mark.parametrize("how", ["close", "drop"])
def test_an_abandoned_scan_is_closed_on_the_server(
    engine: HBaseEngine, numbers: str, how: str, read: int
) -> None:
    rows = engine.scan(numbers, Scan(batch_rows=5))
    assert [row.key for row in itertools.islice(rows, read)] == KEYS[:read]
    scanner = inside(rows)
    connection, scanner_id = scanner._connection, scanner._scanner_id
    assert is_open(connection, scanner_id)
    if how == "close":
        cast("Generator[Row, None, None]", rows).close()
    del rows, scanner
    gc.collect()
    engine._cluster.finish_background()
    assert not is_open(connection, scanner_id)


def test_a_scanner_that_the_server_forgot_is_opened_anew(engine: HBaseEngine, numbers: str) -> None:
    # As after a pause that is longer than the server's lease on scanners.
    found, closed = [], 0
    rows = engine.scan(numbers, Scan(batch_rows=10))
    for number, row in enumerate(rows):
        found.append(row.key)
        if number % 25 == 0:
            scanner = inside(rows)
            if scanner._scanner_id is not None:
                request = client_pb2.ScanRequest(
                    scanner_id=scanner._scanner_id, close_scanner=True, number_of_rows=0
                )
                # It may be refused, while the scanner is at work.
                with contextlib.suppress(RemoteError):
                    scanner._connection.call("Scan", request, client_pb2.ScanResponse, 10)
                    closed += 1
    assert found == KEYS
    assert closed > 0


@pytest.mark.parametrize("reverse", [False, True])
def test_regions_split_and_reopened_under_a_scan(
    engine: HBaseEngine, new_table: NewTable, reverse: bool
) -> None:
    table = new_table(splits=(b"0600",))
    engine.mutate_many(table, [Put(key, {b"f:n": key}) for key in KEYS], "wal")
    found = []
    for number, row in enumerate(engine.scan(table, Scan(batch_rows=10, reverse=reverse))):
        found.append(row.key)
        if number == 15:
            engine._admin.split(table, b"0900" if reverse else b"0200")
        if number == 215:  # in the other of the two first regions
            schema = engine.describe_table(table)
            engine.alter_table(schema.with_family(Family(name="g")))
    assert found == (KEYS[::-1] if reverse else KEYS)
    assert len(engine.regions(table)) == 3


def test_what_is_unknown_is_told_at_the_call(engine: HBaseEngine, numbers: str) -> None:
    with pytest.raises(TableNotFound, match=r"table 'number' does not exist.*numbers"):
        engine.scan("number", Scan())
    with pytest.raises(FamilyNotFound, match=r"family 'ff' is not in table 'numbers'; has: f"):
        engine.scan(numbers, Scan(columns=(b"ff:n",)))
    with pytest.raises(FamilyNotFound):
        engine.scan(numbers, Scan(columns=(b"ff",), limit=0))
    with pytest.raises(TableNotFound):
        engine.scan("number", Scan(start=b"b", stop=b"a"))


def test_a_closed_store_ends_a_scan(location: str, numbers: str) -> None:
    engine = HBaseEngine.connect(location)
    rows = engine.scan(numbers, Scan(batch_rows=5))
    next(rows)
    engine.close()
    with pytest.raises(StoreClosed):
        list(rows)
    with pytest.raises(StoreClosed):
        engine.scan(numbers, Scan())
    engine.close()
