"""Tables: create, describe, alter, truncate, drop and list; regions, sizes, and closing a store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from webtable import ALL_VERSIONS, Family, Store, TableSchema
from webtable.errors import FamilyNotFound, InvalidRequest, StoreClosed, TableExists, TableNotFound

EVERY_OPTION = Family(
    name="full",
    versions=7,
    min_versions=2,
    ttl_seconds=86_400,
    keep_deleted_cells="TTL",
    bloomfilter="ROWCOL",
    compression="GZ",
    data_block_encoding="FAST_DIFF",
    blocksize=32_768,
    in_memory=True,
    attributes={"hbase.hstore.compaction.min": "5"},
)


def test_every_option_comes_back(store: Store, new_name: str) -> None:
    schema = TableSchema(
        name=new_name,
        families=(
            EVERY_OPTION,
            Family(name="plain"),
            Family(
                name="all", versions=ALL_VERSIONS, keep_deleted_cells="TRUE", bloomfilter="NONE"
            ),
        ),
        max_filesize=10 * 2**30,
        memstore_flushsize=64 * 2**20,
        attributes={"hbase.hstore.time.to.purge.deletes": "3600000"},
    )
    table = store.create_table(schema)
    assert table.schema() == store.describe_table(new_name) == schema
    assert new_name in store.tables()


def test_the_defaults_are_those_of_hbase(store: Store, new_name: str) -> None:
    schema = store.create_table(new_name, "f").schema()
    assert schema == TableSchema(name=new_name, families=(Family(name="f"),))
    family = schema.families[0]
    assert (family.versions, family.min_versions, family.ttl_seconds) == (1, 0, None)
    assert (family.bloomfilter, family.compression, family.blocksize) == ("ROW", "NONE", 65_536)


def test_tables_are_listed_in_order(store: Store, new_name: str) -> None:
    for ending in ("b", "a"):
        store.create_table(new_name + ending, "f")
    tables = store.tables()
    assert tables == sorted(tables)
    assert {new_name + "a", new_name + "b"} <= set(tables)


def test_a_table_is_there_once(store: Store, new_name: str) -> None:
    table = store.create_table(new_name, "f")
    table.put(b"row", {b"f:a": b"1"})
    with pytest.raises(TableExists) as caught:
        store.create_table(new_name, "g")
    assert caught.value.code == "table-exists"
    assert [family.name for family in table.schema().families] == ["f"]
    assert table.get(b"row") is not None


def test_families_come_and_go(store: Store, new_name: str) -> None:
    table = store.create_table(new_name, "f", "g")
    table.put(b"row", {b"f:a": b"1", b"g:a": b"2"})
    with pytest.raises(FamilyNotFound):
        table.put(b"row", {b"h:a": b"3"})

    store.alter_table(table.schema().with_family(Family(name="h", versions=5)))
    table.put(b"row", {b"h:a": b"3"})
    found = table.get(b"row")
    assert found is not None
    assert found.values() == {b"f:a": b"1", b"g:a": b"2", b"h:a": b"3"}

    store.alter_table(table.schema().without_family("g"))
    found = table.get(b"row")
    assert found is not None
    assert found.values() == {b"f:a": b"1", b"h:a": b"3"}
    with pytest.raises(FamilyNotFound):
        table.get(b"row", [b"g"])
    assert [family.name for family in table.schema().families] == ["f", "h"]

    # A family that comes back comes back empty.
    store.alter_table(table.schema().with_family(Family(name="g")))
    assert table.get(b"row", [b"g"]) is None


def test_altered_options_take_effect(store: Store, new_name: str) -> None:
    table = store.create_table(new_name, Family(name="f", versions=3))
    for stamp in (1, 2, 3):
        table.put(b"row", {b"f:a": b""}, timestamp=stamp)
    changed = table.schema().with_family(Family(name="f", versions=2, in_memory=True))
    changed = msgspec.structs.replace(changed, max_filesize=2**33, attributes={"owner": "tests"})
    store.alter_table(changed)
    assert table.schema() == changed
    found = table.get(b"row", versions=ALL_VERSIONS)
    assert found is not None
    assert [cell.timestamp for cell in found] == [3, 2]
    # Options can be taken back as well.
    plain = TableSchema(name=new_name, families=(Family(name="f"),))
    store.alter_table(plain)
    assert table.schema() == plain


def test_truncate_keeps_schema_and_regions(store: Store, new_name: str) -> None:
    table = store.create_table(new_name, Family(name="f", versions=4), splits=[b"g", b"p"])
    schema = table.schema()
    with table.batch() as batch:
        for key in (b"a", b"h", b"z"):
            batch.put(key, {b"f:a": b"1"}, timestamp=10)
    table.delete(b"m", timestamp=100)
    store.truncate_table(new_name)
    assert list(table.scan(raw=True, versions=ALL_VERSIONS)) == []
    assert table.schema() == schema
    assert [region.start for region in table.regions()] == [b"", b"g", b"p"]
    # Nothing masks what is written afterwards.
    table.put(b"m", {b"f:a": b"1"}, timestamp=10)
    assert [row.key for row in table.scan()] == [b"m"]


def test_drop_and_create_again(store: Store, new_name: str) -> None:
    table = store.create_table(new_name, "f")
    table.put(b"row", {b"f:a": b"1"})
    store.drop_table(new_name)
    assert new_name not in store.tables()
    with pytest.raises(TableNotFound):
        table.get(b"row")
    table = store.create_table(new_name, "f", "g")
    assert list(table.scan()) == []
    table.put(b"row", {b"g:a": b"1"})
    assert [row.values() for row in table.scan()] == [{b"g:a": b"1"}]


def test_regions_cover_every_row_once(store: Store, new_name: str) -> None:
    table = store.create_table(new_name, "f", splits=[b"\x80", b"m", b"m\x00"])
    regions = table.regions()
    assert [(region.start, region.stop) for region in regions] == [
        (b"", b"m"),
        (b"m", b"m\x00"),
        (b"m\x00", b"\x80"),
        (b"\x80", b""),
    ]
    assert {region.table for region in regions} == {new_name}
    assert len({region.name for region in regions}) == 4
    for key in (b"a", b"m", b"m\x00", b"n", b"\x80", b"\xff"):
        table.put(key, {b"f:k": key})
    assert [row.key for row in table.scan()] == [b"a", b"m", b"m\x00", b"n", b"\x80", b"\xff"]


def test_a_table_without_splits_is_one_region(store: Store, new_name: str) -> None:
    (region,) = store.create_table(new_name, "f").regions()
    assert (region.start, region.stop) == (b"", b"")


def test_sizes_are_reported_family_by_family(store: Store) -> None:
    stats = store.table("shared").stats()
    assert stats.table == "shared"
    known = [family.name for family in store.describe_table("shared").families]
    assert [family.family for family in stats.families] == known
    for family in stats.families:
        assert family.files is not None
        assert family.files >= 0
    assert stats.disk_bytes is not None
    assert stats.memory_bytes is not None


def test_sizes_of_the_only_family_are_known(store: Store, new_name: str) -> None:
    table = store.create_table(new_name, "f")
    table.put(b"row", {b"f:a": b"x" * 1000})
    table.flush()
    stats = table.stats()
    (family,) = stats.families
    assert (family.disk_bytes, family.memory_bytes) == (stats.disk_bytes, stats.memory_bytes)
    assert (stats.disk_bytes or 0) > 0
    assert family.files == 1


@pytest.mark.parametrize(
    "name",
    ["", "a b", "-a", ".a", "a/b", "ä", "a:b:c", "x" * 201],
    ids=["empty", "blank", "dash", "dot", "slash", "umlaut", "colons", "long"],
)
def test_table_names_that_are_none(store: Store, name: str) -> None:
    with pytest.raises(InvalidRequest):
        store.create_table(name, "f")
    with pytest.raises(InvalidRequest):
        store.table(name)


@pytest.mark.parametrize("name", ["", "a:b", "a/b", ".a", "x" * 128, "tab\t"])
def test_family_names_that_are_none(store: Store, new_name: str, name: str) -> None:
    with pytest.raises(InvalidRequest):
        store.create_table(new_name, name)
    assert new_name not in store.tables()


def test_family_names_that_are_unusual(store: Store, new_name: str) -> None:
    names = ["a b", "a.b-c", "x" * 127]
    table = store.create_table(new_name, *names)
    values = {name.encode() + b":q": name.encode() for name in names}
    table.put(b"row", values)
    found = table.get(b"row")
    assert found is not None
    assert found.values() == values
    assert [family.name for family in table.schema().families] == sorted(names)


def test_schemas_that_are_none(store: Store, new_name: str) -> None:
    with pytest.raises(InvalidRequest):
        store.create_table(new_name)
    with pytest.raises(InvalidRequest):
        store.create_table(new_name, "f", "f")
    with pytest.raises(InvalidRequest):
        store.create_table(new_name, "f", splits=[b"a", b"a"])
    with pytest.raises(InvalidRequest):
        store.create_table(new_name, "f", splits=[b""])
    assert new_name not in store.tables()


def test_checkpoints_or_a_clear_no(store: Store, tmp_path: Path) -> None:
    target = tmp_path / "copy"
    if store.capabilities.checkpoints:
        store.checkpoint(str(target))
        assert target.is_dir()
    else:
        with pytest.raises(InvalidRequest):
            store.checkpoint(str(target))


def test_a_closed_store_says_so(open_another: Callable[[], Store]) -> None:
    store = open_another()
    table = store.table("shared")
    store.close()
    store.close()
    for call in (
        lambda: table.get(b"row"),
        lambda: table.put(b"row", {b"one:a": b"1"}),
        lambda: list(table.scan()),
        store.tables,
        lambda: store.create_table("other", "f"),
    ):
        with pytest.raises(StoreClosed) as caught:
            call()
        assert caught.value.code == "store-closed"
