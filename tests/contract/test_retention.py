"""What stays: VERSIONS, TTLs, MIN_VERSIONS, KEEP_DELETED_CELLS, flush and major compaction."""

from __future__ import annotations

import time

import pytest

from tests.waiting import wait_for
from webtable import ALL_VERSIONS, CellType, Family, Scan, Store, Table, TableSchema

from .conftest import DAY, Rows

HOUR_MS = 3_600_000
YEAR_MS = 365 * DAY * 1000


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def stamps(table: Table, row: bytes, column: bytes, **options: tuple[int, int]) -> list[int]:
    found = table.get(row, [column], versions=ALL_VERSIONS, **options)  # type: ignore[arg-type]
    return [] if found is None else [cell.timestamp for cell in found]


def physical(table: Table, row: bytes) -> list[tuple[bytes, int, int]]:
    """What is stored, seen or not: column, timestamp, type."""
    found = table.scan(Scan(prefix=row, raw=True, versions=ALL_VERSIONS))
    return [(cell.column, cell.timestamp, cell.type) for row in found for cell in row]


def test_a_compaction_keeps_as_many_versions_as_the_family_says(table: Table, rows: Rows) -> None:
    for stamp in range(1, 6):
        table.put(rows(), {b"one:a": b"", b"three:a": b"", b"every:a": b""}, timestamp=stamp)
    assert stamps(table, rows(), b"one:a") == [5]
    assert stamps(table, rows(), b"three:a") == [5, 4, 3]
    assert stamps(table, rows(), b"every:a") == [5, 4, 3, 2, 1]
    table.major_compact()
    assert physical(table, rows()) == [
        *((b"every:a", stamp, CellType.PUT) for stamp in (5, 4, 3, 2, 1)),
        (b"one:a", 5, CellType.PUT),
        *((b"three:a", stamp, CellType.PUT) for stamp in (5, 4, 3)),
    ]


def test_versions_older_than_the_ttl_are_not_seen(table: Table, rows: Rows) -> None:
    recent = now_ms() - HOUR_MS
    table.put(rows(), {b"aged:a": b"old", b"aged:b": b"old"}, timestamp=recent - 2 * DAY * 1000)
    table.put(rows(), {b"aged:a": b"new"}, timestamp=recent)
    assert stamps(table, rows(), b"aged:a") == [recent]
    assert stamps(table, rows(), b"aged:b") == []
    assert stamps(table, rows(), b"aged:a", time_range=(0, recent)) == []
    table.major_compact()
    assert physical(table, rows()) == [(b"aged:a", recent, CellType.PUT)]


def test_a_row_of_only_expired_cells_is_gone(table: Table, rows: Rows) -> None:
    table.put(rows(), {b"aged:a": b"old"}, timestamp=1000)
    assert table.get(rows()) is None
    assert list(table.scan(prefix=rows())) == []


def test_min_versions_outlive_the_ttl(table: Table, rows: Rows) -> None:
    for stamp in (1000, 2000, 3000, 4000):
        table.put(rows(), {b"least:a": b"%d" % stamp}, timestamp=stamp)
    found = table.get(rows(), [b"least"], versions=ALL_VERSIONS)
    assert found is not None
    assert [cell.timestamp for cell in found] == [4000, 3000]
    recent = now_ms() - HOUR_MS
    table.put(rows(), {b"least:a": b"new"}, timestamp=recent)
    found = table.get(rows(), [b"least"], versions=ALL_VERSIONS)
    assert found is not None
    assert [cell.timestamp for cell in found] == [recent, 4000]
    table.major_compact()
    assert [stamp for _, stamp, _ in physical(table, rows())] == [recent, 4000]


def test_a_cell_may_live_shorter_than_its_family(table: Table, rows: Rows) -> None:
    recent = now_ms() - HOUR_MS
    table.put(rows(), {b"three:a": b"spent"}, timestamp=recent, ttl_ms=1000)
    table.put(rows(), {b"three:b": b"alive"}, timestamp=recent, ttl_ms=10 * HOUR_MS)
    table.put(
        rows(), {b"aged:a": b"no longer than the family"}, timestamp=1000, ttl_ms=100 * YEAR_MS
    )
    found = table.get(rows())
    assert found is not None
    assert found.values() == {b"three:b": b"alive"}
    assert [row.values() for row in table.scan(prefix=rows())] == [{b"three:b": b"alive"}]


def test_an_expired_cell_lets_the_version_before_it_be_seen(table: Table, rows: Rows) -> None:
    table.put(rows(), {b"one:a": b"before"}, timestamp=10)
    table.put(rows(), {b"one:a": b"spent"}, timestamp=20, ttl_ms=1)
    found = table.get(rows())
    assert found is not None
    assert found.value(b"one:a") == b"before"


def test_a_cell_vanishes_when_its_time_is_up(table: Table, rows: Rows) -> None:
    row = rows()
    table.put(row, {b"one:a": b"1", b"one:b": b"stays"})
    table.put(row, {b"one:c": b"2"}, ttl_ms=400)
    wait_for(lambda: table.get(row, [b"one:c"]) is None)
    found = table.get(row)
    assert found is not None
    assert list(found.values()) == [b"one:a", b"one:b"]


def test_an_increment_keeps_the_ttl_of_what_it_adds_to(table: Table, rows: Rows) -> None:
    row = rows()
    table.put(row, {b"three:n": (1).to_bytes(8, "big")}, ttl_ms=600)
    assert table.increment(row, b"three:n", 4) == 5
    wait_for(lambda: table.get(row) is None)


def test_deleted_cells_are_kept_for_reads_of_an_earlier_time(table: Table, rows: Rows) -> None:
    row = rows()
    for stamp in (10, 30):
        table.put(row, {b"kept:a": b"", b"three:a": b""}, timestamp=stamp)
    table.delete(row, timestamp=40)
    for _ in range(2):
        assert table.get(row) is None
        assert stamps(table, row, b"kept:a", time_range=(0, 40)) == [30, 10]
        assert stamps(table, row, b"kept:a", time_range=(0, 41)) == []
        assert stamps(table, row, b"three:a", time_range=(0, 40)) == []
        # Once more on what a major compaction leaves.
        table.major_compact()
    assert [cell for cell in physical(table, row) if cell[0].startswith(b"three")] == []


def test_deleted_cells_are_kept_until_the_ttl(table: Table, rows: Rows) -> None:
    row = rows()
    recent = now_ms() - HOUR_MS
    for stamp in (1000, recent, recent + 10):
        table.put(row, {b"window:a": b""}, timestamp=stamp)
    table.delete(row, [b"window:a"], timestamp=recent + 20)
    for _ in range(2):
        assert table.get(row) is None
        assert stamps(table, row, b"window:a", time_range=(0, recent + 20)) == [recent + 10, recent]
        table.major_compact()
    assert [stamp for _, stamp, _ in physical(table, row)] == [recent + 20, recent + 10, recent]


@pytest.mark.parametrize("family", [b"one", b"three", b"every", b"kept", b"least", b"window"])
def test_what_is_seen_stays_through_flush_and_compaction(
    table: Table, rows: Rows, family: bytes
) -> None:
    row, recent = rows(), now_ms() - HOUR_MS
    for step in range(8):
        column = family + b":" + b"ab"[step % 2 :][:1]
        table.put(row, {column: b"%d" % step}, timestamp=recent + step)
        if step == 4:
            table.delete(row, [column], timestamp=recent + 2)
    before = table.get(row, versions=ALL_VERSIONS)
    assert before is not None
    table.flush()
    assert table.get(row, versions=ALL_VERSIONS) == before
    table.major_compact()
    assert table.get(row, versions=ALL_VERSIONS) == before


def test_markers_stay_for_as_long_as_the_table_says(store: Store, new_name: str) -> None:
    schema = TableSchema(
        name=new_name,
        families=(Family(name="f", versions=3),),
        attributes={"hbase.hstore.time.to.purge.deletes": str(2 * HOUR_MS)},
    )
    table, recent = store.create_table(schema), now_ms() - HOUR_MS
    table.put(b"row", {b"f:a": b"", b"f:b": b""}, timestamp=10)
    table.delete(b"row", [b"f:a"], timestamp=20)
    table.delete(b"row", [b"f:b"], timestamp=recent)
    table.major_compact()
    # What they hide is gone; the young marker is not, and goes on hiding what comes late.
    assert physical(table, b"row") == [(b"f:b", recent, CellType.DELETE_COLUMN)]
    table.put(b"row", {b"f:a": b"", b"f:b": b""}, timestamp=10)
    assert stamps(table, b"row", b"f:a") == [10]
    assert stamps(table, b"row", b"f:b") == []


def test_kept_markers_go_when_every_put_is_newer(store: Store, new_name: str) -> None:
    table = store.create_table(new_name, Family(name="f", versions=3, keep_deleted_cells="TRUE"))
    table.delete(b"row", [b"f:a"], timestamp=5)
    table.delete(b"row", [b"f:b"], timestamp=15)
    table.put(b"row", {b"f:a": b"", b"f:b": b""}, timestamp=10)
    table.major_compact()
    assert physical(table, b"row") == [
        (b"f:a", 10, CellType.PUT),
        (b"f:b", 15, CellType.DELETE_COLUMN),
        (b"f:b", 10, CellType.PUT),
    ]
