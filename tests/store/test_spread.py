"""One column of many rows in a commit: what is stored is what a put for each row would store."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import webtable
from webtable.errors import FamilyNotFound, InvalidRequest
from webtable.store.mutation import Delete, Put, Spread, Write
from webtable.store.scan import ALL_VERSIONS
from webtable.store.schema import Family, TableSchema
from webtable.store.store import Store

ROWS = [b"a", b"a\0b", b"a\1b", b"b", b"b\xff", b"c\0\0\1"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with webtable.open(str(tmp_path / "store")) as store:
        for name in ("one", "other"):
            families = (Family(name="f", versions=3), Family(name="g"))
            store.create_table(TableSchema(name=name, families=families))
        yield store


def cells(store: Store, table: str) -> list[tuple[bytes, object]]:
    scan = webtable.Scan(versions=ALL_VERSIONS, raw=True)
    return [(row.key, list(row.raw_cells)) for row in store.table(table).scan(scan)]


def single(spread: Spread) -> list[Write]:
    """What a spread stands for."""
    made: list[Write] = []
    for name, value in spread.values.items():
        row = spread.before + name + spread.after
        if value is None:
            made.append(Delete(row, timestamp=spread.timestamp).column(spread.column))
        else:
            made.append(Put(row, {spread.column: value}, timestamp=spread.timestamp))
    return made


@pytest.mark.parametrize("seed", range(8))
def test_a_spread_is_a_put_for_each_row(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    if seed % 4 == 0:  # the family's puts are tagged from here on
        for table in ("one", "other"):
            store.table(table).put(b"b", {b"f:q": b"short"}, timestamp=1, ttl_ms=10**9)
    for _ in range(10):
        writes: list[Write] = []
        for column in (b"f:q", b"f:\0\1", b"f:", b"g:q"):
            rows = chance.sample(ROWS, chance.randrange(1, len(ROWS)))
            values = {row: chance.choice((b"", b"x", b"y" * 30, None)) for row in rows}
            around = {} if chance.random() < 0.5 else {"before": b"p\1", "after": b"\0000"}
            writes.append(Spread(column, values, timestamp=chance.randrange(1, 50), **around))
        writes.append(Put(b"d", {b"f:q": b"beside"}, timestamp=chance.randrange(1, 50)))
        chance.shuffle(writes)
        store.commit([("one", each) for each in writes])
        store.commit(
            [
                ("other", mine)
                for each in writes
                for mine in (single(each) if isinstance(each, Spread) else [each])
            ]
        )
        assert cells(store, "one") == cells(store, "other")


def test_a_spread_beside_what_must_read_first(store: Store) -> None:
    store.table("one").put(b"a", {b"f:n": b"x"}, timestamp=7)
    spread = Spread(b"f:q", {b"a": b"1", b"b": b"2"}, timestamp=9)
    store.commit([("one", spread), ("one", Delete(b"a").version(b"f:n"))])
    found = {row.key: row.values() for row in store.table("one").scan()}
    assert found == {b"a": {b"f:q": b"1"}, b"b": {b"f:q": b"2"}}


@pytest.mark.parametrize(
    ("column", "values", "timestamp"),
    [
        (b"f", {b"a": b"x"}, 1),
        (b"f:q", {}, 1),
        (b"f:q", {b"": b"x"}, 1),
        (b"f:q", {"a": b"x"}, 1),
        (b"f:q", {b"a": b"x"}, None),
        (b"f:q", {b"a": b"x"}, -1),
    ],
)
def test_a_spread_that_is_none(column: bytes, values: dict[bytes, bytes], timestamp: int) -> None:
    with pytest.raises(InvalidRequest):
        Spread(column, values, timestamp=timestamp)


@pytest.mark.parametrize("other", [Delete(b"a").version(b"f:n"), Put(b"a", {b"f:n": b"x"})])
def test_nothing_of_a_commit_is_written_where_a_spread_cannot_be(
    store: Store, other: Write
) -> None:
    values: dict[bytes, bytes | None] = {b"a": b"x", b"b": "text"}  # type: ignore[dict-item]
    with pytest.raises(InvalidRequest, match="not bytes"):
        store.commit([("one", other), ("one", Spread(b"f:q", values, timestamp=1))])
    with pytest.raises(FamilyNotFound):
        store.commit([("one", other), ("one", Spread(b"x:q", {b"a": b"x"}, timestamp=1))])
    assert cells(store, "one") == []
