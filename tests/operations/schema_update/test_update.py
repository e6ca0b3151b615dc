"""Schema updates of declared tables and record classes, on both engines."""

from __future__ import annotations

import time
from datetime import timedelta

import msgspec
import pytest

import webtable
from webtable.config import Config, FamilyOptions, SchemaUpdateOptions, TableOptions
from webtable.errors import InvalidRequest, SchemaMismatch
from webtable.operations.schema_update import SchemaUpdate
from webtable.records import Collection, EntityKey, Key, Record
from webtable.store.scan import ALL_VERSIONS
from webtable.store.schema import Family, TableSchema
from webtable.store.store import Store

DAY = 86_400
COMPACTION_MIN = "hbase.hstore.compaction.min"
NOW = int(time.time() * 1000)


class Visit(Record, table="visits", partitions=4, versions=3):
    site: EntityKey[str]
    at: Key[int]
    url: str = ""


class Later(
    Record,
    table="visits",
    partitions=4,
    ttl=timedelta(days=21),
    versions=5,
    compression="NONE",
    bloomfilter="ROW",
    data_block_encoding="DIFF",
    max_filesize=1 << 31,
    memstore_flushsize=64 << 20,
):
    site: EntityKey[str]
    at: Key[int]
    url: str = ""


def config(tables: dict[str, TableOptions] | None = None, **switches: object) -> Config:
    options = msgspec.convert(switches, SchemaUpdateOptions)
    return Config(schema_update=options, tables=tables or {})


def declared(**families: FamilyOptions) -> dict[str, TableOptions]:
    return {"t": TableOptions(families=families)}


def cells(store: Store, table: str) -> int:
    return sum(len(row) for row in store.table(table).scan(versions=ALL_VERSIONS))


def test_a_declared_table_is_created_altered_and_then_complete(store: Store) -> None:
    tables = {
        "t": TableOptions(
            families={
                "a": FamilyOptions(versions=2, attributes={"hbase.hstore.compaction.min": "5"})
            },
            splits=("m",),
            max_filesize=2**33,
            attributes={"owner.name": "tests"},
        )
    }
    update = SchemaUpdate(store, config(tables))
    found = update.diff()
    assert [each.text for each in found.statements] == [
        "create 't', {NAME => 'a', VERSIONS => 2, CONFIGURATION =>"
        " {'hbase.hstore.compaction.min' => '5'}}, {MAX_FILESIZE => 8589934592,"
        " CONFIGURATION => {'owner.name' => 'tests'}, SPLITS => ['m']}"
    ]
    assert "t" not in store.tables()  # a diff changes nothing
    assert update.apply() == found
    assert [region.start for region in store.admin.regions("t")] == [b"", b"m"]
    assert update.diff().is_empty

    store.table("t").put(b"row", {b"a:q": b"kept"})
    tables["t"] = TableOptions(
        families={
            "a": FamilyOptions(versions=4, ttl_seconds=0, compression="GZ"),
            "b": FamilyOptions(ttl_seconds=DAY),
        },
        max_filesize=2**34,
    )
    changed = SchemaUpdate(store, config(tables)).apply()
    assert [each.text for each in changed.statements] == [
        "alter 't', {NAME => 'a', VERSIONS => 4, COMPRESSION => 'GZ'},"
        " {NAME => 'b', TTL => 86400}, {MAX_FILESIZE => 17179869184}"
    ]
    assert SchemaUpdate(store, config(tables)).diff().is_empty
    described = store.describe_table("t")
    # What is not declared any more stays as it is.
    assert described.attributes == {"owner.name": "tests"}
    family = described.family("a")
    assert family is not None
    assert (family.versions, family.compression) == (4, "GZ")
    assert family.attributes == {COMPACTION_MIN: "5"}
    row = store.table("t").get(b"row")
    assert row is not None
    assert row.values() == {b"a:q": b"kept"}


def test_a_record_class_changes_all_options_of_its_table(store: Store) -> None:
    records = Collection(store, Visit)
    records.put(Visit("a", 1, "u"))
    assert SchemaUpdate(store).diff().is_empty  # by the catalog alone
    update = SchemaUpdate(store, config(drop_data=True), record_classes=[Later])
    found = update.apply()
    assert [each.text for each in found.statements] == [
        "alter 'visits', {NAME => 'a', VERSIONS => 5, TTL => 1814400, BLOOMFILTER => 'ROW',"
        " COMPRESSION => 'NONE', DATA_BLOCK_ENCODING => 'DIFF'},"
        " {MAX_FILESIZE => 2147483648, MEMSTORE_FLUSHSIZE => 67108864}"
    ]
    assert found.lost_cells == 0
    assert update.diff().is_empty
    # The catalog has the class now, so the next update does not undo it.
    assert SchemaUpdate(store).diff().is_empty
    assert list(Collection(store, Later).scan()) == [Later("a", 1, "u")]


def test_a_class_that_opened_its_table_is_compared_without_the_class(embedded: Store) -> None:
    Collection(embedded, Visit)
    Collection(embedded, Later)  # opens the table as it is, and declares its options
    found = SchemaUpdate(embedded).diff()
    assert [each.switch for each in found.withheld] == ["drop_data"]
    assert found.withheld[0].statement.text == "alter 'visits', {NAME => 'a', TTL => 1814400}"
    assert len(found.statements) == 1
    SchemaUpdate(embedded, config(drop_data=True)).apply()
    family = embedded.describe_table("visits").family("a")
    assert family is not None
    assert (family.ttl_seconds, family.versions) == (21 * DAY, 5)


def test_a_dropped_table_of_records_is_created_only_for_its_class(embedded: Store) -> None:
    Collection(embedded, Visit)
    embedded.drop_table("visits")
    assert SchemaUpdate(embedded).diff().is_empty
    SchemaUpdate(embedded, record_classes=[Visit]).apply()
    assert len(embedded.admin.regions("visits")) == 4


def test_what_cannot_be_altered_is_a_mismatch(embedded: Store) -> None:
    class Other(Record, table="visits", partitions=8):
        site: EntityKey[str]
        at: Key[int]
        url: str = ""

    Collection(embedded, Visit)
    with pytest.raises(SchemaMismatch, match="partitions 4, Other declares 8"):
        SchemaUpdate(embedded, record_classes=[Other]).diff()


def test_record_classes_are_named_in_the_configuration(embedded: Store) -> None:
    name = f"{__name__}:Visit"
    SchemaUpdate(embedded, config(records=[name])).apply()
    assert "visits" in embedded.tables()
    with pytest.raises(InvalidRequest, match="'nothing:Visit' cannot be imported"):
        SchemaUpdate(embedded, config(records=["nothing:Visit"]))


def test_data_is_dropped_only_by_its_own_switch_and_counted_exactly(store: Store) -> None:
    table = store.create_table("t", Family(name="a", versions=5), Family(name="b", versions=5))
    days = {b"r1": (0, 1, 2, 30, 40), b"r2": (50,), b"r3": (1, 60)}
    for row, ages in days.items():
        for age in ages:
            table.put(row, {b"a:x": b"", b"b:x": b""}, timestamp=NOW - age * DAY * 1000)
    before = cells(store, "t")
    tables = declared(
        a=FamilyOptions(versions=4, min_versions=1, ttl_seconds=35 * DAY),
        b=FamilyOptions(versions=2),
    )
    careful = SchemaUpdate(store, config(tables))
    found = careful.diff()
    assert [each.text for each in found.statements] == [
        "alter 't', {NAME => 'a', MIN_VERSIONS => 1}"
    ]
    (withheld,) = found.withheld
    assert withheld.switch == "drop_data"
    assert withheld.statement.text == (
        "alter 't', {NAME => 'a', VERSIONS => 4, TTL => 3024000}, {NAME => 'b', VERSIONS => 2}"
    )
    # Of a: the version of 40 days, and that of 60; those of 50 days is the only one of its row.
    # Of b: three versions of the first row.
    assert withheld.lost_cells == 2 + 3
    careful.apply()
    assert cells(store, "t") == before
    assert careful.diff().withheld == (withheld,)

    done = SchemaUpdate(store, config(tables, drop_data=True)).apply()
    assert done.lost_cells == 5
    assert cells(store, "t") == before - 5
    assert SchemaUpdate(store, config(tables)).diff().is_empty


@pytest.mark.parametrize(
    ("switch", "statement"),
    [
        ("create", "create 'new', {NAME => 'a'}"),
        ("create", "alter 't', {NAME => 'c', VERSIONS => 2}"),
        ("ttl", "alter 't', {NAME => 'a', TTL => 'FOREVER'}"),
        ("versions", "alter 't', {NAME => 'a', VERSIONS => 3, MIN_VERSIONS => 1}"),
        ("options", "alter 't', {NAME => 'a', IN_MEMORY => true}, {MEMSTORE_FLUSHSIZE => 1000000}"),
    ],
)
def test_each_kind_of_change_has_its_switch(embedded: Store, switch: str, statement: str) -> None:
    schema = TableSchema(name="t", families=(Family(name="a", ttl_seconds=DAY),))
    embedded.create_table(schema)
    tables = {
        "t": TableOptions(
            families={
                "a": FamilyOptions(versions=3, min_versions=1, ttl_seconds=0, in_memory=True),
                "c": FamilyOptions(versions=2),
            },
            memstore_flushsize=1_000_000,
        ),
        "new": TableOptions(families={"a": FamilyOptions()}),
    }
    found = SchemaUpdate(embedded, config(tables, **{switch: False})).apply()
    assert statement in [each.statement.text for each in found.withheld]
    assert {each.switch for each in found.withheld} == {switch}
    left = SchemaUpdate(embedded, config(tables)).diff()
    assert statement in [each.text for each in left.statements]
    assert not left.withheld
    SchemaUpdate(embedded, config(tables)).apply()
    assert SchemaUpdate(embedded, config(tables)).diff().is_empty


def test_fewer_min_versions_drop_data_unless_the_ttl_goes_too(embedded: Store) -> None:
    family = Family(name="a", versions=3, min_versions=2, ttl_seconds=DAY)
    table = embedded.create_table("t", family)
    table.put(b"row", {b"a:x": b""}, timestamp=NOW - 2 * DAY * 1000)
    tables = declared(a=FamilyOptions(min_versions=0, ttl_seconds=0))
    assert not SchemaUpdate(embedded, config(tables)).diff().withheld
    found = SchemaUpdate(embedded, config(tables, ttl=False)).diff()
    assert [(each.switch, each.lost_cells) for each in found.withheld] == [
        ("drop_data", 1),
        ("ttl", 0),
    ]
    only = declared(a=FamilyOptions(min_versions=0))
    assert SchemaUpdate(embedded, config(only)).diff().withheld[0].lost_cells == 1


def test_ignored_tables_are_not_compared(embedded: Store) -> None:
    tables = {
        name: TableOptions(families={"a": FamilyOptions()}) for name in ("one", "test_1", "test_2")
    }
    SchemaUpdate(embedded, config(tables, ignore=["test_*"])).apply()
    assert embedded.tables() == ["one"]
    SchemaUpdate(embedded, config(tables, ignore=["test_2"])).apply()
    assert embedded.tables() == ["one", "test_1"]


def test_the_configuration_counts_before_a_record_class(embedded: Store) -> None:
    Collection(embedded, Visit)
    tables = {"visits": TableOptions(families={"a": FamilyOptions(versions=7)})}
    update = SchemaUpdate(embedded, config(tables), record_classes=[Visit])
    assert [each.text for each in update.apply().statements] == [
        "alter 'visits', {NAME => 'a', VERSIONS => 7}"
    ]
    assert update.diff().is_empty


def test_counting_can_be_left_out(embedded: Store) -> None:
    embedded.create_table("t", Family(name="a", versions=5))
    tables = declared(a=FamilyOptions(versions=2))
    assert (
        SchemaUpdate(embedded, config(tables)).diff(with_counts=False).withheld[0].lost_cells
        is None
    )
    dropping = SchemaUpdate(embedded, config(tables, drop_data=True))
    assert dropping.diff(with_counts=False).lost_cells is None


@pytest.mark.hbase
def test_tables_are_split_at_declared_keys(hbase_location: str) -> None:
    with webtable.open(f"{hbase_location}?namespace=schema_splits") as store:
        tables = {
            name: TableOptions(families={"a": FamilyOptions()}, splits=("25", "50", "75"))
            for name in ("empty", "full")
        }
        store.create_table("empty", "a")
        full = store.create_table("full", "a")
        for number in range(100):
            full.put(b"%02d" % number, {b"a:x": b"value"})
        assert SchemaUpdate(store, config(tables)).diff().is_empty  # off by default
        update = SchemaUpdate(store, config(tables, splits=True))
        found = update.apply()
        assert [each.text for each in found.statements] == [
            "split 'empty', '50'",
            "split 'full', '50'",
        ]
        assert [each.rpartition(": ")[2] for each in found.advice] == ["2", "2"]
        assert [each.start for each in store.admin.regions("full")] == [b"", b"50"]
        assert cells(store, "full") == 100

        # New regions without files can be split at once.
        careful = SchemaUpdate(store, config(tables, splits=True, ignore=["full"]))
        assert [each.text for each in careful.apply().statements] == [
            "split 'empty', '25'",
            "split 'empty', '75'",
        ]
        assert [each.start for each in store.admin.regions("empty")] == [b"", b"25", b"50", b"75"]
        assert careful.diff().is_empty
        for name in tables:
            store.drop_table(name)
