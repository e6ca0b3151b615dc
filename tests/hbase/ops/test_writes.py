"""Writes to a real cluster: what goes wrong entry by entry, order, namespaces, administration."""

from __future__ import annotations

import pytest

from tests.hbase.conftest import NewTable
from webtable.errors import (
    BatchError,
    FamilyNotFound,
    InvalidRequest,
    ReadOnly,
    StoreClosed,
    TableExists,
    TableNotFound,
)
from webtable.store.hbase.cluster.find_meta_and_master import ZooKeeperRegistry
from webtable.store.hbase.engine import HBaseEngine
from webtable.store.hbase.location import parse_location
from webtable.store.mutation import Append, Check, Conditional, Delete, Increment, Mutation, Put
from webtable.store.scan import Get, Scan
from webtable.store.schema import Family, TableSchema

SPLITS = (b"1", b"2", b"3")


def masters_location(location: str) -> str:
    """Returns the same store as the masters lead to it."""
    master = ZooKeeperRegistry(parse_location(location)).active_master(10)
    return f"hbase+masters://{master}?{location.partition('?')[2]}"


def test_both_registries_lead_to_the_same_tables(
    engine: HBaseEngine, location: str, new_table: NewTable
) -> None:
    table = new_table()
    engine.mutate_row(table, b"r", [Put(b"r", {b"f:q": b"v"})], "wal")
    other = HBaseEngine.connect(masters_location(location))
    try:
        (row,) = other.get_many(table, [Get(b"r")])
        assert row is not None
        assert row.value(b"f:q") == b"v"
        assert other.list_tables() == engine.list_tables()
        assert other.describe_table(table) == engine.describe_table(table)
    finally:
        other.close()


def test_what_fails_in_a_batch_is_named_and_the_rest_is_done(
    engine: HBaseEngine, new_table: NewTable
) -> None:
    table = new_table(splits=SPLITS)
    mutations: list[Mutation] = [Put(b"%d" % number, {b"f:q": b"v"}) for number in range(5)]
    mutations[1] = Put(b"1", {b"unknown:q": b"v"})
    mutations[3] = Put(b"3", {b"no-family": b"v"})
    mutations += [Put(b"4", {b"f:text": b"abc"}), Increment(b"4", {b"f:text": 1})]
    with pytest.raises(BatchError, match="3 of 7 mutations of table") as caught:
        engine.mutate_many(table, mutations, "wal")
    assert caught.value.positions == (1, 3, 6)
    kinds = [type(error) for error in caught.value.exceptions]
    assert kinds == [FamilyNotFound, InvalidRequest, InvalidRequest]
    refused = str(caught.value.exceptions[2])
    assert f"column b'f:text' of row b'4' of table '{table}' is not a counter" in refused
    assert "its value has 3 bytes, not 8" in refused
    assert [row.key for row in engine.scan(table, Scan())] == [b"0", b"2", b"4"]


def test_large_batches_go_to_all_regions(engine: HBaseEngine, new_table: NewTable) -> None:
    table = new_table(splits=SPLITS)
    keys = [b"%d-%05d" % (number % 4, number) for number in range(3_500)]
    assert (
        engine.mutate_many(table, [Put(key, {b"f:k": key}) for key in keys], "wal")
        == [None] * 3_500
    )
    rows = engine.get_many(table, [Get(key) for key in reversed(keys)] + [Get(b"missing")])
    assert [row and row.value(b"f:k") for row in rows] == [*reversed(keys), None]


def test_mutations_of_one_row_keep_their_order(engine: HBaseEngine, new_table: NewTable) -> None:
    table = new_table(splits=SPLITS)
    mutations: list[Mutation] = []
    for number in range(2_500):
        key = b"%d" % (number % 4)
        mutations.append(Append(key, {b"f:log": b"%d," % number}))
        if number % 3 == 0:
            mutations.append(Increment(key, {b"f:count": 1}))
    results = engine.mutate_many(table, mutations, "wal")
    for first in range(4):
        (row,) = engine.get_many(table, [Get(b"%d" % first)])
        assert row is not None
        assert row.value(b"f:log") == b"".join(b"%d," % n for n in range(first, 2_500, 4))
        of_row = [r for m, r in zip(mutations, results, strict=True) if m.row == row.key]
        assert of_row[-1] is not None
        assert set(of_row[-1].values().items()) <= set(row.values().items())


def test_a_large_response_to_many_gets_comes_in_parts(
    engine: HBaseEngine, new_table: NewTable
) -> None:
    table = new_table()
    value = b"x" * 400_000
    rows = [b"%02d" % number for number in range(40)]
    for row in rows:
        engine.mutate_row(table, row, [Put(row, {b"f:v": value + row})], "none")
    found = engine.get_many(table, [Get(row) for row in rows])
    assert [row and row.value(b"f:v") for row in found] == [value + row for row in rows]


def test_one_step_with_everything(engine: HBaseEngine, new_table: NewTable) -> None:
    table = new_table(Family(name="f"), Family(name="g"))
    engine.mutate_row(table, b"r", [Put(b"r", {b"g:old": b"1", b"f:text": b"ab"})], "wal")
    steps: list[Mutation] = [
        Put(b"r", {b"g:new": b"2"}),
        Delete(b"r").column(b"g:old"),
        Increment(b"r", {b"g:count": 5}),
        Append(b"r", {b"f:text": b"cd"}),
    ]
    check = Check.equal(b"f:text", b"ab")
    result = engine.check_and_mutate(table, Conditional(b"r", check, steps), "sync")
    assert result.success
    assert result.row is not None
    assert [cell[0] for cell in result.row.raw_cells] == [b"f:text", b"g:count"]
    count = (5).to_bytes(8, "big")
    assert result.row.values() == {b"f:text": b"abcd", b"g:count": count}
    assert not engine.check_and_mutate(table, Conditional(b"r", check, steps), "sync").success
    (row,) = engine.get_many(table, [Get(b"r")])
    assert row is not None
    assert row.values() == {b"f:text": b"abcd", b"g:count": count, b"g:new": b"2"}


def test_a_cell_that_is_too_large_is_rejected(engine: HBaseEngine, new_table: NewTable) -> None:
    table = new_table()
    put = Put(b"r", {b"f:u": b"y", b"f:v": b"x" * (10 << 20)})
    with pytest.raises(InvalidRequest, match="and the server takes 10,485,760") as caught:
        engine.mutate_row(table, b"r", [put], "wal")
    assert f"column b'f:v' of row b'r' of table '{table}' is too large" in str(caught.value)
    assert "hbase.server.keyvalue.maxsize" in (caught.value.hint or "")


@pytest.mark.parametrize("is_in_order", [False, True])
def test_a_cell_that_is_too_large_fails_alone(
    engine: HBaseEngine, new_table: NewTable, is_in_order: bool
) -> None:
    # The server rejects everything that a call has for the region.
    table = new_table(splits=(b"0500", b"0700"))
    keys = [b"%04d" % number for number in range(1_000)]
    mutations: list[Mutation] = [Put(key, {b"f:v": key}) for key in keys]
    mutations[600] = Put(b"0600", {b"f:v": b"x" * (11 << 20)})
    expected = {key: key for key in keys if key != b"0600"}
    if is_in_order:
        mutations += [Put(b"0600", {b"f:v": b"late"}), Delete(b"0599")]
        expected[b"0600"] = b"late"
        del expected[b"0599"]
    # Not in the same call: to reject a put before increments can end a server.
    mutations += [Increment(b"06%02d+" % number, {b"f:v": 7}) for number in range(50)]
    expected |= {each.row: (7).to_bytes(8, "big") for each in mutations[-50:]}
    with pytest.raises(BatchError) as caught:
        engine.mutate_many(table, mutations, "wal")
    assert caught.value.positions == (600,)
    assert {row.key: row.value(b"f:v") for row in engine.scan(table, Scan())} == expected


def test_a_column_that_is_not_a_counter_is_named(engine: HBaseEngine, new_table: NewTable) -> None:
    table = new_table()
    engine.mutate_row(table, b"r", [Put(b"r", {b"f:text": b"a"})], "wal")
    one: list[Mutation] = [Increment(b"r", {b"f:text": 1})]
    with pytest.raises(InvalidRequest, match=r"column b'f:text' of row b'r' .* is not a counter"):
        engine.mutate_row(table, b"r", one, "wal")
    two: list[Mutation] = [Put(b"r", {b"f:q": b"v"}), Increment(b"r", {b"f:n": 1, b"f:text": 1})]
    with pytest.raises(InvalidRequest, match="one of the columns b'f:n', b'f:text' of row b'r'"):
        engine.mutate_row(table, b"r", two, "wal")


def test_a_disabled_table_says_so(engine: HBaseEngine, new_table: NewTable) -> None:
    table = new_table()
    engine.mutate_row(table, b"r", [Put(b"r", {b"f:v": b"1"})], "wal")
    engine.admin.disable_table(table)
    engine.admin.disable_table(table)
    with pytest.raises(InvalidRequest, match=f"table '{table}' is disabled"):
        engine.get_many(table, [Get(b"r")])
    with pytest.raises(InvalidRequest, match="is disabled"):
        engine.mutate_many(table, [Put(b"a", {b"f:v": b"1"}), Put(b"b", {b"f:v": b"1"})], "wal")
    with pytest.raises(InvalidRequest, match="is disabled"):
        engine.scan(table, Scan())
    engine.admin.enable_table(table)
    engine.admin.enable_table(table)
    assert [row.key for row in engine.scan(table, Scan())] == [b"r"]


def test_a_table_that_others_dropped_and_made_again(
    engine: HBaseEngine, location: str, new_table: NewTable
) -> None:
    table = new_table()
    engine.mutate_row(table, b"r", [Put(b"r", {b"f:v": b"1"})], "wal")
    other = HBaseEngine.connect(location)
    try:
        schema = other.describe_table(table)
        other.drop_table(table)
        with pytest.raises(TableNotFound):
            engine.get_many(table, [Get(b"r")])
        other.create_table(schema, SPLITS)
        assert engine.get_many(table, [Get(b"r"), Get(b"2")]) == [None, None]
        other.truncate_table(table)
        engine.mutate_row(table, b"2", [Put(b"2", {b"f:v": b"2"})], "wal")
        assert [row.key for row in other.scan(table, Scan())] == [b"2"]
    finally:
        other.close()


def test_namespaces_keep_stores_apart(hbase_location: str, location: str) -> None:
    mine, other = HBaseEngine.connect(location), HBaseEngine.connect(f"{location}_b")
    whole = HBaseEngine.connect(hbase_location)
    schema = TableSchema(name="apart", families=(Family(name="f"),))
    try:
        mine.create_table(schema, ())
        with pytest.raises(TableExists):
            mine.create_table(schema, ())
        with pytest.raises(TableNotFound):
            other.get_many("apart", [Get(b"r")])
        other.create_table(schema, ())
        mine.mutate_row("apart", b"r", [Put(b"r", {b"f:v": b"mine"})], "wal")
        assert other.get_many("apart", [Get(b"r")]) == [None]
        namespace = location.partition("namespace=")[2]
        assert {f"{namespace}:apart", f"{namespace}_b:apart"} <= set(whole.list_tables())
        (row,) = whole.get_many(f"{namespace}:apart", [Get(b"r")])
        assert row is not None
        with pytest.raises(InvalidRequest, match="not in the namespace"):
            mine.get_many("default:apart", [Get(b"r")])
    finally:
        for engine in (mine, other):
            if "apart" in engine.list_tables():
                engine.drop_table("apart")
        for engine in (mine, other, whole):
            engine.close()


def test_a_major_compaction_has_happened_when_it_returns(
    engine: HBaseEngine, new_table: NewTable
) -> None:
    table = new_table(Family(name="f", versions=2), Family(name="g"), splits=SPLITS)
    for number in range(3):
        for row in (b"0", b"1", b"2", b"3"):
            puts = [Put(row, {b"f:v": b"%d" % n, b"g:v": b"x"}, timestamp=n) for n in range(1, 6)]
            engine.mutate_many(table, puts, "none")
            engine.mutate_row(table, row, [Delete(row, timestamp=3 if number else 9)], "wal")
        if number == 1:
            engine.flush(table)
        engine.major_compact(table)
        raw = Scan(raw=True, versions=100)
        left = [[cell[:2] for cell in row.raw_cells] for row in engine.scan(table, raw)]
        expected = [(b"f:v", 5), (b"f:v", 4), (b"g:v", 5)] if number else []
        assert left == [expected] * 4 * bool(number)


def test_sizes_and_regions_are_those_of_the_servers(
    engine: HBaseEngine, new_table: NewTable
) -> None:
    table = new_table(splits=SPLITS)
    engine.mutate_row(table, b"2", [Put(b"2", {b"f:v": b"x" * 3_000_000})], "none")
    assert (engine.stats(table).families[0].memory_bytes or 0) > 0
    engine.flush(table)
    (family,) = engine.stats(table).families
    assert (family.memory_bytes, family.files) == (0, 1)
    assert (family.disk_bytes or 0) >= 2_000_000
    regions = engine.regions(table)
    assert [region.start for region in regions] == [b"", *SPLITS]
    assert [bool(region.size_bytes) for region in regions] == [False, False, True, False]


def test_a_store_for_reading_only(location: str, new_table: NewTable) -> None:
    table = new_table()
    reader = HBaseEngine.connect(location, read_only=True)
    put = Put(b"r", {b"f:v": b"1"})
    try:
        assert reader.get_many(table, [Get(b"r")]) == [None]
        for write in (
            lambda: reader.mutate_row(table, b"r", [put], "wal"),
            lambda: reader.mutate_many(table, [put], "wal"),
            lambda: reader.drop_table(table),
            lambda: reader.flush(table),
        ):
            with pytest.raises(ReadOnly):
                write()
    finally:
        reader.close()
    with pytest.raises(StoreClosed):
        reader.get_many(table, [Get(b"r")])


def test_what_hbase_cannot_do_is_reported(engine: HBaseEngine) -> None:
    assert not engine.capabilities.atomic_commits
    with pytest.raises(InvalidRequest, match="several rows"):
        engine.commit([("t", Put(b"r", {b"f:q": b"v"}))], "wal")
    with pytest.raises(InvalidRequest, match="checkpoints"):
        engine.checkpoint("copy")
