"""Scans over the regions of a real table: in order, whole, each row once, whatever happens."""

from __future__ import annotations

import contextlib
import gc
import itertools
import subprocess
import sys
import tracemalloc
from collections.abc import Generator, Iterator
from typing import Any, cast

import pytest

from tests.hbase.conftest import NewTable
from webtable.errors import FamilyNotFound, StoreClosed, TableNotFound
from webtable.store.cells_and_rows import Row
from webtable.store.filtering.filters import ValueFilter
from webtable.store.hbase.engine import HBaseEngine
from webtable.store.hbase.ops import parallel_scan
from webtable.store.hbase.ops.parallel_scan import MOST_AHEAD, MOST_SCANNERS, scan_rows
from webtable.store.hbase.ops.scanner import RangeScanner, ScanJob
from webtable.store.hbase.proto import client_pb2
from webtable.store.hbase.retry import Attempts, Remedy
from webtable.store.hbase.wire.choose_compiled_connection import Connection, RpcResponse
from webtable.store.hbase.wire.errors_and_responses import NotHBase, RemoteError, RpcError
from webtable.store.mutation import Put
from webtable.store.scan import Scan, ScanOptions
from webtable.store.schema import Family, TableSchema

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
def test_small_responses_lose_nothing(
    engine: HBaseEngine, numbers: str, max_bytes: int, reverse: bool
) -> None:
    rows = list(scan_rows(ScanJob(engine._cluster, numbers, Scan(reverse=reverse), max_bytes)))
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
        found_rows = scan_rows(ScanJob(engine._cluster, table, scan, 20_000))
        found = [(row.key, row.values()) for row in found_rows]
        assert found == expected[:limit]


def test_many_rows_over_many_responses(engine: HBaseEngine, new_table: NewTable) -> None:
    table = new_table(splits=(b"k1", b"k2"))
    puts = [Put(b"k%05d" % number, {b"f:v": b"v" * 200}) for number in range(15_000)]
    engine.mutate_many(table, puts, "none")
    rows = engine.scan(table, Scan())
    assert [row.key for row in rows] == [put.row for put in puts]


def scanners_of(rows: Iterator[Row]) -> list[RangeScanner]:
    """Returns the scanners that stand behind the rows of a scan."""
    return list(cast("Any", rows).gi_frame.f_locals["self"]._scanners)


def is_open(connection: Connection, scanner_id: int) -> bool:
    """Whether a server has a scanner: then a call that is not the next one is out of order."""
    request = client_pb2.ScanRequest(scanner_id=scanner_id, next_call_seq=10**6)
    with pytest.raises(RemoteError) as caught:
        connection.call("Scan", request, client_pb2.ScanResponse, 10)
    # A server remembers for a while which scanners were closed.
    is_unknown = caught.value.java_class == "UnknownScannerException"
    return not is_unknown and "closed request" not in caught.value.detail


@pytest.mark.parametrize("read", [0, 1, 5, 9, 90, 195])
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("how", ["close", "drop"])
def test_an_abandoned_scan_is_closed_on_the_servers(
    engine: HBaseEngine, numbers: str, how: str, read: int, ordered: bool
) -> None:
    rows = engine.scan(numbers, Scan(batch_rows=5, ordered=ordered))
    assert len(keys_of(itertools.islice(rows, read))) == read
    scanners = scanners_of(rows)
    opened = []
    for scanner in scanners:
        scanner.next_rows()  # so that its number is known here
        if scanner.scanner_id is not None:
            assert scanner.connection is not None
            opened.append((scanner.connection, scanner.scanner_id))
            scanner.send_request()
    # Others may just have come to the end of their regions.
    assert any(is_open(*each) for each in opened)
    if how == "close":
        cast("Generator[Row, None, None]", rows).close()
    del rows, scanners, scanner
    gc.collect()
    engine._cluster.finish_background()
    assert not any(is_open(*each) for each in opened)


def test_scanners_are_opened_as_rows_are_read(engine: HBaseEngine, numbers: str) -> None:
    rows = engine.scan(numbers, Scan(batch_rows=10))
    opened = []
    for number, _ in enumerate(rows):
        if number % 10 == 0:
            opened.append(len(scanners_of(rows)))
    assert opened[0] == 1
    assert max(opened) == MOST_SCANNERS
    assert opened[-1] <= 1
    for scan in (Scan(limit=300), Scan(start=b"0003", stop=b"0299"), Scan(prefix=b"00")):
        rows = engine.scan(numbers, scan)
        assert all(len(scanners_of(rows)) <= 1 for _ in rows)


@pytest.mark.parametrize("ordered", [True, False])
def test_a_scanner_that_the_server_forgot_is_opened_again(
    engine: HBaseEngine, numbers: str, ordered: bool
) -> None:
    # As after a pause that is longer than the server's lease on scanners.
    found, closed = [], 0
    rows = engine.scan(numbers, Scan(batch_rows=10, ordered=ordered))
    for number, row in enumerate(rows):
        found.append(row.key)
        if number % 25 == 0:
            for scanner in scanners_of(rows):
                if scanner.scanner_id is None:
                    continue
                assert scanner.connection is not None
                request = client_pb2.ScanRequest(
                    scanner_id=scanner.scanner_id, close_scanner=True, number_of_rows=0
                )
                # It may be rejected, while the scanner is at work.
                with contextlib.suppress(RemoteError):
                    scanner.connection.call("Scan", request, client_pb2.ScanResponse, 10)
                    closed += 1
    assert (found if ordered else sorted(found)) == KEYS
    assert closed > 0


@pytest.mark.parametrize("reverse", [False, True])
def test_regions_split_and_reopened_under_scans(
    engine: HBaseEngine, new_table: NewTable, reverse: bool
) -> None:
    table = new_table(splits=(b"0600",))
    engine.mutate_many(table, [Put(key, {b"f:n": key}) for key in KEYS], "wal")
    found, unordered = [], []
    both = (
        engine.scan(table, Scan(batch_rows=10, reverse=reverse)),
        engine.scan(table, Scan(batch_rows=10, reverse=reverse, ordered=False)),
    )
    for number, (row, other) in enumerate(zip(*both, strict=True)):
        found.append(row.key)
        unordered.append(other.key)
        if number == 15:
            # Once where the scan is at work, and once where it has only begun to look ahead.
            engine.admin.split(table, b"0900" if reverse else b"0200")
            engine.admin.split(table, b"0200" if reverse else b"0900")
        if number == 215:  # in the other of the two first regions
            schema = engine.describe_table(table)
            engine.alter_table(schema.with_family(Family(name="g")))
    assert found == (KEYS[::-1] if reverse else KEYS)
    assert sorted(unordered) == KEYS
    assert len(engine.regions(table)) == 4


OPTIONS: list[ScanOptions] = [
    {},
    {"reverse": True},
    {"prefix": b"06"},
    {"start": b"0297", "stop": b"0904", "reverse": True},
    {"versions": 3, "columns": (b"f:n",)},
    {"raw": True, "versions": 3},
    {"limit": 250},
    {"limit": 250, "reverse": True, "batch_rows": 7},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_in_any_order_the_rows_are_the_same(
    engine: HBaseEngine, numbers: str, options: ScanOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel_scan, "ONE_BY_ONE_ROWS", 0)  # so that limits are no reason for it
    expected = list(engine.scan(numbers, Scan(**options)))  # type: ignore[arg-type]
    keys = [row.key for row in expected]
    assert keys == sorted(keys, reverse=options.get("reverse", False))
    options = {**options, "ordered": False}
    found = list(engine.scan(numbers, Scan(**options)))  # type: ignore[arg-type]
    if "limit" in options:  # then which rows they are depends on which server responds first
        assert len({row.key for row in found}) == len(found) == len(expected) == 250
    else:
        assert sorted(found, key=lambda row: row.key) == sorted(expected, key=lambda row: row.key)


def test_memory_is_bounded_by_responses(engine: HBaseEngine, new_table: NewTable) -> None:
    table = new_table(splits=(b"k1", b"k2", b"k3", b"k4", b"k5"))
    value = b"v" * 400
    puts = [Put(b"k%04d" % number, {b"f:v": value}) for number in range(6_000)]
    engine.mutate_many(table, puts, "none")
    for ordered in (True, False):
        job = ScanJob(engine._cluster, table, Scan(ordered=ordered), max_result_bytes=20_000)
        count = sum(1 for _ in scan_rows(job))  # what is made once is made now
        tracemalloc.start()
        try:
            for row in scan_rows(job):
                assert row.value(b"f:v") == value
                count += 1
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert count == 2 * len(puts)
        # A response in flight for each scanner, some kept, one returned; as bytes, then as rows.
        assert peak < 3 * (MOST_SCANNERS + MOST_AHEAD + 1) * 20_000 < len(puts) * len(value) / 4


@pytest.mark.parametrize(
    ("counts", "flags", "cells"),
    [([1], [False], b"\0" * 40), ([2], [False], b""), ([], [], b"x"), ([], [True], b"")],
)
def test_an_unreadable_response_is_rejected_when_it_comes(
    engine: HBaseEngine, numbers: str, counts: list[int], flags: list[bool], cells: bytes
) -> None:
    response = client_pb2.ScanResponse(cells_per_result=counts, partial_flag_per_result=flags)
    scanner = RangeScanner(ScanJob(engine._cluster, numbers, Scan()), b"", b"")
    with pytest.raises(NotHBase, match="unreadable cells"):
        scanner._take(RpcResponse(response, cells, 0))


def test_unknown_names_are_reported_at_the_call(engine: HBaseEngine, numbers: str) -> None:
    with pytest.raises(TableNotFound, match=r"table 'number' does not exist.*numbers"):
        engine.scan("number", Scan())
    with pytest.raises(FamilyNotFound, match=r"family 'ff' is not in table 'numbers'; has: f"):
        engine.scan(numbers, Scan(columns=(b"ff:n",)))
    with pytest.raises(FamilyNotFound):
        engine.scan(numbers, Scan(columns=(b"ff",), limit=0))
    with pytest.raises(TableNotFound):
        engine.scan("number", Scan(start=b"b", stop=b"a"))


def test_many_scans_at_once_are_not_too_many_for_a_server(
    engine: HBaseEngine, numbers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The shared server has few threads, and rejects calls that would have to wait behind 60 others.
    failures: list[RpcError] = []
    failed = Attempts.failed

    def note(attempts: Attempts, error: RpcError, *, on_the_way: bool = False) -> Remedy:
        failures.append(error)
        return failed(attempts, error, on_the_way=on_the_way)

    monkeypatch.setattr(Attempts, "failed", note)
    nothing = ValueFilter("=", b"nothing")
    rows = engine.scan_many(numbers, [Scan(filter=nothing)] * 400)
    assert [keys_of(each) for each in rows] == [[]] * 400
    assert failures == []


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


def test_a_program_ends_that_leaves_a_scan_and_its_store_open(location: str, numbers: str) -> None:
    program = (
        f"import webtable; table = webtable.open({location!r}).table({numbers!r});"
        "rows = table.scan(batch_rows=5); print(next(rows).key)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout == f"{KEYS[0]!r}\n"
