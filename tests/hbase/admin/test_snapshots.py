"""Snapshots: taken, listed, restored, cloned, deleted."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator

import pytest

from tests.hbase.conftest import NewTable
from webtable.errors import (
    AlreadyExists,
    InvalidRequest,
    NotFound,
    ReadOnly,
    TableExists,
    TableNotFound,
)
from webtable.store.hbase.engine import HBaseEngine
from webtable.store.mutation import Delete, Put
from webtable.store.scan import Scan
from webtable.store.schema import Family


@pytest.fixture
def new_snapshot(engine: HBaseEngine) -> Iterator[str]:
    """A name for a snapshot that goes when the test ends."""
    name = f"s{uuid.uuid4().hex[:12]}"
    yield name
    if name in {each.name for each in engine.admin.snapshots()}:
        engine.admin.delete_snapshot(name)


def rows(engine: HBaseEngine, table: str) -> dict[bytes, bytes | None]:
    return {row.key: row.value(b"f:v") for row in engine.scan(table, Scan())}


def put(engine: HBaseEngine, table: str, **values: bytes) -> None:
    puts = [Put(key.encode(), {b"f:v": value}) for key, value in values.items()]
    engine.mutate_many(table, puts, "wal")


def test_a_table_becomes_what_it_was(
    engine: HBaseEngine, new_table: NewTable, new_snapshot: str
) -> None:
    table = new_table(splits=(b"m",))
    put(engine, table, a=b"1", x=b"1")
    schema = engine.describe_table(table)
    before_ms = time.time() * 1000
    engine.admin.take_snapshot(new_snapshot, table)
    (taken,) = [each for each in engine.admin.snapshots() if each.name == new_snapshot]
    assert (taken.table, taken.ttl_seconds) == (table, None)
    assert before_ms - 1000 < (taken.created_ms or 0) < time.time() * 1000 + 1000

    put(engine, table, a=b"2", b=b"2")
    engine.mutate_row(table, b"x", [Delete(b"x")], "wal")
    engine.alter_table(schema.with_family(Family(name="g")))
    with pytest.raises(InvalidRequest, match=f"table '{table}' is enabled") as caught:
        engine.admin.restore_snapshot(new_snapshot)
    assert "disable it first" in caught.value.hint
    assert rows(engine, table) == {b"a": b"2", b"b": b"2"}

    engine.admin.disable_table(table)
    engine.admin.restore_snapshot(new_snapshot)
    assert not engine.admin.is_enabled(table)
    engine.admin.enable_table(table)
    assert rows(engine, table) == {b"a": b"1", b"x": b"1"}
    assert engine.describe_table(table) == schema
    assert [region.start for region in engine.regions(table)] == [b"", b"m"]


def test_a_clone_is_a_table_of_its_own(
    engine: HBaseEngine, new_table: NewTable, new_snapshot: str
) -> None:
    table = new_table()
    clone = f"{table}_clone"
    put(engine, table, a=b"1")
    engine.admin.disable_table(table)
    engine.admin.take_snapshot(new_snapshot, table)  # a table out of service has its snapshots too
    engine.admin.enable_table(table)
    with pytest.raises(AlreadyExists, match=f"snapshot '{new_snapshot}' exists already"):
        engine.admin.take_snapshot(new_snapshot, table)
    with pytest.raises(TableExists):
        engine.admin.clone_snapshot(new_snapshot, table)
    engine.admin.clone_snapshot(new_snapshot, clone)
    try:
        put(engine, clone, a=b"2", b=b"2")
        assert rows(engine, table) == {b"a": b"1"}
        engine.drop_table(table)
        engine.admin.restore_snapshot(new_snapshot)  # what was dropped is made again
        assert rows(engine, table) == {b"a": b"1"}
        engine.admin.delete_snapshot(new_snapshot)
        assert rows(engine, clone) == {b"a": b"2", b"b": b"2"}
    finally:
        engine.drop_table(clone)


def test_unknown_snapshots_and_tables(engine: HBaseEngine, new_table: NewTable) -> None:
    uses: list[Callable[[str], None]] = [
        engine.admin.delete_snapshot,
        engine.admin.restore_snapshot,
        lambda name: engine.admin.clone_snapshot(name, "other"),
    ]
    for use in uses:
        with pytest.raises(NotFound, match="snapshot 'nothing' does not exist"):
            use("nothing")
    with pytest.raises(TableNotFound):
        engine.admin.take_snapshot("s", "nothing")
    table = new_table()
    for name in ("", "a b", "-a", ".a", "a/b", "ä", "a:b", "x" * 201):
        with pytest.raises(InvalidRequest, match="is not valid"):
            engine.admin.take_snapshot(name, table)


def test_a_store_sees_the_snapshots_of_its_own_tables(
    engine: HBaseEngine, hbase_location: str, new_table: NewTable, new_snapshot: str
) -> None:
    table = new_table()
    engine.admin.take_snapshot(new_snapshot, table)
    other = HBaseEngine.connect(f"{hbase_location}?namespace=other")
    whole = HBaseEngine.connect(hbase_location, read_only=True)
    try:
        assert new_snapshot not in {each.name for each in other.admin.snapshots()}
        with pytest.raises(NotFound):
            other.admin.delete_snapshot(new_snapshot)
        (seen,) = [each for each in whole.admin.snapshots() if each.name == new_snapshot]
        assert seen.table.endswith(f":{table}")
        for change in (whole.admin.delete_snapshot, whole.admin.restore_snapshot):
            with pytest.raises(ReadOnly):
                change(new_snapshot)
    finally:
        other.close()
        whole.close()
