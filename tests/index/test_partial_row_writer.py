"""Changes of some columns of indexed rows store what changes of whole rows do."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import webtable
from webtable.errors import InvalidRequest
from webtable.index.indexed_table import Change, Entry, Facts, Index, IndexedTable, commit_lock
from webtable.index.partial_row_writer import Columns, PartialRowWriter
from webtable.store.scan import ALL_VERSIONS
from webtable.store.schema import Family, TableSchema
from webtable.store.store import Store

ROWS = [b"ada", b"bob", b"cy", b"dora"]
CITY, STREET, AGE = b"a:city", b"a:street", b"a:age"


class TestClock:
    """A clock that is set by hand."""

    __test__ = False

    def __init__(self) -> None:
        self.time_ms = 1_800_000_000_000

    def now_ms(self) -> int:
        return self.time_ms

    def elapsed_ms(self) -> int:
        return self.time_ms


def by_place(row: bytes, facts: Facts) -> list[Entry]:
    if CITY not in facts:
        return []
    streets = facts.get(STREET, b"").split(b",")
    return [Entry(b"%b/%b/%b" % (facts[CITY], street, row), street) for street in streets]


def by_age(row: bytes, facts: Facts) -> list[Entry]:
    return [Entry(facts[AGE] + row)] if AGE in facts else []


def people(store: Store, name: str, clock: TestClock) -> IndexedTable:
    store.create_table(TableSchema(name=name, families=(Family(name="a", versions=3),)))
    table = IndexedTable(
        store,
        name,
        [
            Index(f"{name}_place", by_place, columns=(CITY, STREET)),
            Index(f"{name}_age", by_age, columns=(AGE,)),
        ],
        columns=(b"a",),
        clock=clock,
        tokens=lambda: b"one same",
    )
    table.create_tables()
    return table


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with webtable.open(str(tmp_path / "store")) as store:
        yield store


def cells(table: IndexedTable) -> list[object]:
    """Everything that is stored of a table and its indexes, also what is hidden."""
    scan = webtable.Scan(versions=ALL_VERSIONS, raw=True)
    names = (table.name, f"{table.name}_place", f"{table.name}_age")
    return [
        [(row.key, sorted(row.raw_cells)) for row in table.store.table(name).scan(scan)]
        for name in names
    ]


def drawn(chance: random.Random) -> Columns | None:
    if chance.random() < 0.2:
        return None
    values: dict[bytes, bytes | None] = {}
    if chance.random() < 0.7:
        values[CITY] = chance.choice((b"York", b"Rome", None))
    if chance.random() < 0.5:
        values[b"a:beside"] = chance.choice((b"1", b"2"))
    return values


@pytest.mark.parametrize("seed", range(10))
def test_columns_are_written_as_whole_rows_are(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    clock = TestClock()
    whole, some = people(store, "whole", clock), people(store, "some", clock)
    for table in (whole, some):
        table.write(b"ada", Change(put={CITY: b"York", STREET: b"High St,Mill Rd", AGE: b"36"}))
    writer = PartialRowWriter(some, (CITY, b"a:beside"), (CITY,))
    for _ in range(20):
        clock.time_ms += chance.choice((-5_000, 0, 1, 1_000))
        rows = chance.sample(ROWS, 3)
        with commit_lock(store):
            states = writer.read(rows)
            changes = [drawn(chance) for _ in rows]
            for at, state in enumerate(states):  # what is not there is not deleted
                change = changes[at]
                if change is not None and change.get(CITY, b"") is None:
                    is_there = CITY in state.facts
                    changes[at] = change if is_there else {b"a:beside": b"3"}
            revisions, writes = writer.plan(states, changes)
            if writes:
                store.commit(writes)
        wanted: list[int | None] = []
        for row, columns in zip(rows, changes, strict=True):
            if columns is None:
                wanted.append(None)
                continue
            put = {column: value for column, value in columns.items() if value is not None}
            gone = [column for column in columns if column not in put]
            wanted.append(whole.write(row, Change(put=put, delete=gone)))
        assert revisions == wanted
        assert cells(some) == cells(whole)


def test_only_what_is_needed_is_read(store: Store) -> None:
    table = people(store, "people", TestClock())
    table.write(b"ada", Change(put={CITY: b"York", STREET: b"High St", AGE: b"36"}))
    (state,) = PartialRowWriter(table, (CITY,), ()).read([b"ada"])
    assert state.facts == {CITY: b"York", STREET: b"High St"}
    (state,) = PartialRowWriter(table, (b"a:beside",), (AGE,)).read([b"ada"])
    assert state.facts == {AGE: b"36"}


def test_indexes_of_whole_rows_are_rejected(store: Store) -> None:
    store.create_table(TableSchema(name="t", families=(Family(name="a"),)))
    table = IndexedTable(store, "t", [Index("t_all", by_age)], columns=(b"a",))
    with pytest.raises(InvalidRequest, match="whole rows"):
        PartialRowWriter(table, (AGE,), ())
