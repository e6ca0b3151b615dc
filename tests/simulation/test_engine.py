"""The simulated engine sees what the embedded engine sees, and is as weak as it says."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import webtable
from tests.simulation.engine import MemoryEngine
from tests.simulation.world import Faults, World
from webtable import ALL_VERSIONS, Check, Delete, Family, Increment, Put, Row, Store, TableSchema
from webtable.errors import FamilyNotFound, TableExists, TableNotFound
from webtable.store.scan import Scan

SCHEMA = TableSchema(name="t", families=(Family(name="one"), Family(name="three", versions=3)))
ROWS = (b"r1", b"r2", b"r3")
COLUMNS = (b"one:a", b"one:b", b"three:a", b"three:b")


def drawn_mutation(chance: random.Random, row: bytes) -> Put | Delete:
    timestamp = chance.randrange(1, 12)
    if chance.random() < 0.6:
        columns = chance.sample(COLUMNS, chance.randrange(1, 3))
        return Put(row, dict.fromkeys(columns, chance.randbytes(2)), timestamp=timestamp)
    delete = Delete(row, timestamp=timestamp)
    match chance.randrange(5):
        case 0:
            delete.column(chance.choice(COLUMNS))
        case 1:
            delete.version(chance.choice(COLUMNS), timestamp)
        case 2:
            delete.family(chance.choice((b"one", b"three")))
        case 3:
            delete.family_version(chance.choice((b"one", b"three")), timestamp)
    return delete


def drawn_step(chance: random.Random) -> Callable[[Store], object]:
    """Returns something to do to both stores, whose results are compared."""
    row = chance.choice(ROWS)
    mutation = drawn_mutation(chance, row)
    columns = chance.choice(((), (b"one",), (b"three:a",), (b"one:a", b"three:b")))
    versions = chance.choice((1, 2, ALL_VERSIONS))
    span = chance.choice((None, (3, 9)))
    match chance.randrange(8):
        case 0:
            check = Check(chance.choice(COLUMNS), value=chance.choice((None, b"no")))
            return lambda store: store.table("t").check_and_mutate(row, check, mutation).success
        case 1:
            return lambda store: store.table("t").get(
                row, columns, versions=versions, time_range=span
            )
        case 2:
            scan = Scan(
                columns=columns,
                versions=versions,
                time_range=span,
                reverse=chance.random() < 0.5,
                start=chance.choice((b"", b"r2")),
                limit=chance.choice((None, 1)),
            )
            return lambda store: list(store.table("t").scan(scan))
        case 3:
            return lambda store: store.table("t").get_many(ROWS, columns)
    return lambda store: store.table("t").mutate(row, [mutation])


@pytest.fixture(scope="module")
def rocks(tmp_path_factory: pytest.TempPathFactory) -> webtable.Store:
    return webtable.open(str(tmp_path_factory.mktemp("simulation") / "store"))


@pytest.mark.parametrize("seed", range(200 if os.environ.get("WEBTABLE_SOAK") else 12))
def test_it_sees_what_the_embedded_engine_sees(rocks: Store, seed: int) -> None:
    chance = random.Random(seed)
    memory = MemoryEngine()
    stores = (Store(memory), rocks)
    if "t" in rocks.tables():
        rocks.drop_table("t")
    for store in stores:
        store.create_table(SCHEMA)
    for _ in range(60):
        step = drawn_step(chance)
        assert step(stores[0]) == step(stores[1])
        if chance.random() < 0.03:
            memory.tables["t"].compact(memory.number, lambda timestamp: True)
            rocks.table("t").major_compact()
    everything = Scan(versions=ALL_VERSIONS)
    assert list(stores[0].table("t").scan(everything)) == list(rocks.table("t").scan(everything))


def test_a_marker_hides_later_puts_until_it_is_compacted() -> None:
    memory = MemoryEngine()
    table = Store(memory).create_table("t", "f")
    table.mutate(b"r", [Delete(b"r").column(b"f:q", 20)])
    filed = memory.number
    table.put(b"r", {b"f:q": b"late"}, timestamp=10)
    assert table.get(b"r") is None
    memory.tables["t"].compact(filed, lambda timestamp: timestamp < 20)
    assert table.get(b"r") is None
    memory.tables["t"].compact(filed, lambda timestamp: True)
    found = table.get(b"r")
    assert found is not None
    assert found.value(b"f:q") == b"late"


def test_counters_and_errors() -> None:
    store = Store(MemoryEngine())
    table = store.create_table("t", "f")
    assert table.increment(b"r", b"f:n", 5) == 5
    assert table.increment(b"r", b"f:n", 2) == 7
    assert table.append(b"r", b"f:text", b"ab") == b"ab"
    assert table.append(b"r", b"f:text", b"c") == b"abc"
    changed = table.mutate(b"r", [Increment(b"r", {b"f:n": 1})])
    assert isinstance(changed, Row)
    with pytest.raises(TableExists):
        store.create_table("t", "f")
    with pytest.raises(TableNotFound):
        store.table("u").get(b"r")
    with pytest.raises(FamilyNotFound):
        table.put(b"r", {b"g:q": b""})
    with pytest.raises(FamilyNotFound):
        table.scan(columns=(b"g",))


def test_a_scan_reads_row_by_row_while_others_write() -> None:
    seen: set[tuple[bytes, ...]] = set()
    for seed in range(100):
        world = World(seed, Faults())
        table = world.store.create_table("t", "f")
        found: list[bytes] = []

        def read(found: list[bytes] = found, table: webtable.Table = table) -> None:
            found.extend(row.key for row in table.scan())

        def write(table: webtable.Table = table) -> None:
            for key in (b"2", b"1", b"3"):
                table.put(key, {b"f:q": b"v"})

        world.scheduler.add("reader", read)
        world.scheduler.add("writer", write)
        world.run()
        seen.add(tuple(found))
    # Also what no single moment ever was: the last row without the one that came before it.
    assert {(), (b"2",), (b"2", b"3"), (b"1", b"2", b"3")} <= seen


def test_the_store_is_not_touched_by_reading(tmp_path: Path) -> None:
    memory = MemoryEngine()
    table = Store(memory).create_table("t", "f")
    table.put(b"r", {b"f:q": b"v"}, timestamp=1)
    number = memory.number
    assert table.get(b"other") is None
    assert [row.key for row in table.scan()] == [b"r"]
    assert (memory.number, list(memory.tables["t"].rows)) == (number, [b"r"])
