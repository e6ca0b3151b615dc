"""Regions: where they are and how large, split and merged; `tests/faults` moves them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.hbase.conftest import NewTable
from webtable.errors import InvalidRequest, NotFound, TableDisabled, TableNotFound, UsageError
from webtable.store.admin_results import Region
from webtable.store.hbase.admin.master_client import MasterClient
from webtable.store.hbase.admin.namespaces import NamespaceAdmin
from webtable.store.hbase.admin.region_list import RegionList
from webtable.store.hbase.admin.region_maintenance import RegionMaintenance
from webtable.store.hbase.admin.servers import ServerAdmin
from webtable.store.hbase.admin.tables import TableAdmin
from webtable.store.hbase.cluster.meta import Place
from webtable.store.hbase.engine import HBaseEngine
from webtable.store.mutation import Put
from webtable.store.scan import Scan
from webtable.store.schema import Family, TableSchema

KEYS = [b"%02d" % number for number in range(40)]


def fill(engine: HBaseEngine, table: str) -> None:
    engine.mutate_many(table, [Put(key, {b"f:v": b"x" * 8000}) for key in KEYS], "wal")


def keys(engine: HBaseEngine, table: str) -> list[bytes]:
    return [row.key for row in engine.scan(table, Scan())]


def bounds(regions: list[Region]) -> list[tuple[bytes, bytes]]:
    return [(region.start, region.stop) for region in regions]


def test_the_load_of_a_region(engine: HBaseEngine, new_table: NewTable) -> None:
    table = new_table(splits=(b"2",))
    fill(engine, table)
    low, high = engine.admin.regions(table)
    assert low.full_name.startswith(b"client_")
    assert low.full_name.endswith(b".%b." % low.name.encode())
    assert (low.size_bytes, low.store_files, low.last_major_compaction_ms) == (0, 0, None)
    assert (low.memory_bytes or 0) > 0
    assert (low.writes, high.writes) == (20, 20)
    assert (low.compaction, low.state) == ("NONE", "OPEN")
    assert low.locality is not None
    assert len(keys(engine, table)) == 40
    engine.admin.compact_region(low, major=True)
    now = engine.admin.region(low.name)
    assert (now.memory_bytes, now.store_files) == (0, 1)
    assert (now.size_bytes or 0) > 0
    assert (now.last_major_compaction_ms or 0) > 1_700_000_000_000
    assert (now.reads or 0) > 0
    assert engine.admin.region(high.name).store_files == 0
    # HBase's whole name of a region is one of its names too.
    assert engine.admin.region(low.full_name.decode()) == now


def test_sizes_of_families_that_hbase_does_not_know(
    engine: HBaseEngine, new_table: NewTable
) -> None:
    table = new_table(Family(name="f"), Family(name="g"))
    engine.mutate_row(table, b"r", [Put(b"r", {b"f:v": b"1"})], "wal")
    engine.flush(table)
    stats = engine.stats(table)
    assert (stats.disk_bytes, stats.memory_bytes) == (1 << 20, 0)
    assert stats.families[0] == ("f", None, None, None, 1)
    assert stats.families[1] == ("g", None, None, None, 0)
    engine.admin.disable_table(table)
    stats = engine.stats(table)
    assert (stats.disk_bytes, stats.memory_bytes) == (None, None)
    assert {family.files for family in stats.families} == {None}


def test_a_split_at_a_key_and_in_the_middle(engine: HBaseEngine, new_table: NewTable) -> None:
    table = new_table(splits=(b"2",))
    fill(engine, table)
    low, high = engine.admin.regions(table)
    engine.admin.split_region(low.name, b"05")
    engine.admin.split_region(high)
    regions = engine.admin.regions(table)
    assert bounds(regions)[:2] == [(b"", b"05"), (b"05", b"2")]
    (start, middle), (same, stop) = bounds(regions)[2:]
    assert (start, same, stop) == (b"2", middle, b"")
    assert b"20" < middle < b"39"
    assert keys(engine, table) == KEYS
    with pytest.raises(NotFound, match="may have been split"):
        engine.admin.split_region(low, b"03")
    # They share files with what they were made from, so they cannot be split or merged yet.
    refused: list[Callable[[], None]] = [
        lambda: engine.admin.split(table, b"03"),
        lambda: engine.admin.split(table),
        lambda: engine.admin.merge(regions[:2]),
    ]
    for again in refused:
        with pytest.raises(InvalidRequest) as caught:
            again()
        assert "shares files with what it was made from" in caught.value.hint


def test_a_table_is_split_where_its_regions_have_a_middle(
    engine: HBaseEngine, new_table: NewTable
) -> None:
    table = new_table(splits=(b"5",))
    fill(engine, table)
    engine.admin.split(table)
    regions = engine.admin.regions(table)
    assert [region.start for region in regions[::2]] == [b"", b"5"]
    assert b"00" < regions[1].start < b"39"
    assert keys(engine, table) == KEYS
    with pytest.raises(InvalidRequest, match="no middle"):
        engine.admin.split_region(regions[2])


@pytest.mark.parametrize(
    "at", [b"", b"2", b"39", b"1" * 40_000], ids=["empty", "first", "outside", "long"]
)
def test_split_keys_that_are_none(
    engine: HBaseEngine, split_table: tuple[str, list[Region]], at: bytes
) -> None:
    _, regions = split_table
    with pytest.raises(InvalidRequest):
        engine.admin.split_region(regions[1], at)


@pytest.fixture(scope="module")
def split_table(engine: HBaseEngine) -> Iterator[tuple[str, list[Region]]]:
    """A table that tests read and do not change."""
    schema = TableSchema(name="admin_fixed", families=(Family(name="f"),))
    engine.create_table(schema, (b"2", b"3"))
    yield schema.name, engine.admin.regions(schema.name)
    engine.drop_table(schema.name)


def test_merges(engine: HBaseEngine, new_table: NewTable) -> None:
    table = new_table(splits=(b"1", b"2", b"3"))
    fill(engine, table)
    one, two, three, four = engine.admin.regions(table)
    engine.admin.merge([two, one.name])
    assert bounds(engine.admin.regions(table)) == [(b"", b"2"), (b"2", b"3"), (b"3", b"")]
    assert keys(engine, table) == KEYS
    with pytest.raises(NotFound):
        engine.admin.merge([one, two])
    engine.admin.merge([three, four])
    assert bounds(engine.admin.regions(table)) == [(b"", b"2"), (b"2", b"")]
    assert keys(engine, table) == KEYS


def test_three_regions_are_merged_at_once(engine: HBaseEngine, new_table: NewTable) -> None:
    table = new_table(splits=(b"1", b"2"))
    fill(engine, table)
    engine.admin.merge(engine.admin.regions(table))
    assert bounds(engine.admin.regions(table)) == [(b"", b"")]
    assert keys(engine, table) == KEYS


def test_regions_that_cannot_be_merged(
    engine: HBaseEngine, new_table: NewTable, split_table: tuple[str, list[Region]]
) -> None:
    one, two, three = split_table[1]
    (other,) = engine.admin.regions(new_table())
    for chosen in ([one, three], [two, other], [one], [one, one], [one, two, two], []):
        with pytest.raises(InvalidRequest) as caught:
            engine.admin.merge(chosen)
        assert caught.value.hint
    with pytest.raises(NotFound, match="region 'nothing' does not exist"):
        engine.admin.merge([one, "nothing"])
    assert len(engine.admin.regions(split_table[0])) == 3


def test_arguments_of_the_wrong_kind(
    engine: HBaseEngine, split_table: tuple[str, list[Region]]
) -> None:
    admin: Any = engine.admin
    table, (one, two, _) = split_table
    uses: list[Callable[[], object]] = [
        lambda: admin.merge(one),
        lambda: admin.merge(one.name),
        lambda: admin.merge(7),
        lambda: admin.merge([one, 7]),
        lambda: admin.move(7),
        lambda: admin.move(one, 7),
        lambda: admin.split(table, "m"),
        lambda: admin.split(7),
        lambda: admin.split_region(two, 7),
        lambda: admin.take_snapshot(7, table),
        lambda: admin.take_snapshot("s", 7),
        lambda: admin.restore_snapshot(7),
        lambda: admin.clone_snapshot(None, "t"),
        lambda: admin.delete_snapshot(b"s"),
    ]
    for use in uses:
        with pytest.raises(UsageError):
            use()


def test_moves_that_lead_nowhere(
    engine: HBaseEngine, split_table: tuple[str, list[Region]]
) -> None:
    region = split_table[1][0]
    with pytest.raises(NotFound, match="server 'nowhere:1' does not exist; known servers: "):
        engine.admin.move(region, "nowhere:1")
    with pytest.raises(NotFound, match="region 'nothing'"):
        engine.admin.move("nothing")
    if len(engine.admin.servers()) == 1:
        with pytest.raises(InvalidRequest, match="no other server"):
            engine.admin.move(region)


def test_a_disabled_table_has_no_region_to_work_on(
    engine: HBaseEngine, new_table: NewTable
) -> None:
    table = new_table(splits=(b"2",))
    regions = engine.admin.regions(table)
    engine.admin.disable_table(table)
    assert [region.server for region in engine.admin.regions(table)] == [None, None]
    uses: list[Callable[[], object]] = [
        lambda: engine.admin.move(regions[0]),
        lambda: engine.admin.split(table, b"1"),
        lambda: engine.admin.split_region(regions[0], b"1"),
        lambda: engine.admin.merge(regions),
        lambda: engine.admin.flush_region(regions[0]),
        lambda: engine.admin.compact_region(regions[0]),
    ]
    for use in uses:
        with pytest.raises(TableDisabled, match=f"table '{table}' is disabled"):
            use()


def test_an_unknown_table_cannot_be_split(engine: HBaseEngine) -> None:
    with pytest.raises(TableNotFound):
        engine.admin.split("nothing")
    with pytest.raises(InvalidRequest, match="is not valid"):
        engine.admin.split("a,b")


def region_parts(engine: HBaseEngine) -> tuple[RegionList, RegionMaintenance]:
    """Returns the two areas of the administration that work on lists of regions."""
    master = MasterClient(engine._cluster)
    tables = TableAdmin(master, NamespaceAdmin(master))
    region_list = RegionList(master, tables)
    return region_list, RegionMaintenance(master, tables, region_list, ServerAdmin(master))


def test_maintenance_follows_a_region_into_its_daughters(
    engine: HBaseEngine, new_table: NewTable
) -> None:
    table = new_table(splits=(b"2",))
    region_list, maintenance = region_parts(engine)
    before = region_list.of_enabled_table(table)
    # What a split, a merge and writes between the list of regions and the calls look like.
    engine.admin.split(table, b"1")
    fill(engine, table)
    assert all((region.memory_bytes or 0) > 0 for region in engine.admin.regions(table))
    maintenance.each_region(before, maintenance.flush_place)
    regions = engine.admin.regions(table)
    assert [(region.memory_bytes, region.store_files) for region in regions] == [(0, 1)] * 3


def test_maintenance_follows_regions_into_one(engine: HBaseEngine, new_table: NewTable) -> None:
    table = new_table(splits=(b"2",))
    region_list, maintenance = region_parts(engine)
    before = region_list.of_enabled_table(table)
    engine.admin.merge(engine.admin.regions(table))
    fill(engine, table)
    done: list[bytes] = []

    def flush(place: Place) -> None:
        maintenance.flush_place(place)
        done.append(place.name)

    maintenance.each_region(before, flush)
    (region,) = engine.admin.regions(table)
    assert (region.memory_bytes, region.store_files) == (0, 1)
    assert done == [region.full_name]


def test_regions_in_the_order_of_tables(engine: HBaseEngine, new_table: NewTable) -> None:
    names = [new_table(splits=(b"2",)), new_table()]
    regions = engine.admin.regions()
    tables = [table for table, _ in itertools.groupby(region.table for region in regions)]
    assert tables == sorted(set(tables))
    assert set(names) <= set(tables)
