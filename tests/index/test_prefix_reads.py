"""Entries of several prefixes that are read at once: the same on both engines, however few fit."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from webtable import Store
from webtable.index.index_and_change import Hit
from webtable.index.indexed_table import Change, Entry, Facts, Index, IndexedTable

CITY = b"a:city"
BY_CITY = "people_by_district"
SIZES = {b"a1": 1, b"a2": 30, b"a3": 2, b"b1": 7, b"b2": 0, b"b3": 12, b"c1": 3}
"""How many people live in each city; the table of the index is split at b and c."""


def by_city(row: bytes, facts: Facts) -> Iterator[Entry]:
    if CITY in facts:
        yield Entry(facts[CITY] + b"/" + row)


@pytest.fixture
def people(store: Store) -> IndexedTable:
    index = Index(BY_CITY, by_city, columns=(CITY,), grouped=True, splits=(b"b", b"c"))
    is_new = "residents" not in store.tables()
    if is_new:
        store.create_table("residents", "a")
    residents = IndexedTable(store, "residents", [index], columns=(b"a",))
    residents.create_tables()
    if is_new:
        residents.write_many(
            (b"%b-%03d" % (city, number), Change(put={CITY: city}))
            for city, count in SIZES.items()
            for number in range(count)
        )
    return residents


def rows_of(hits: Iterator[Hit]) -> list[bytes]:
    return [hit.row for hit in hits]


@pytest.mark.parametrize("few", [1, 2, 5, 12, 100])
@pytest.mark.parametrize("number", [0, 1, 3, len(SIZES)])
def test_all_entries_of_each_prefix_are_read_in_order(
    people: IndexedTable, few: int, number: int
) -> None:
    for cities in itertools.combinations(SIZES, number):
        streams = people.hits_of_prefixes(BY_CITY, [city + b"/" for city in cities], few=few)
        expected = [[b"%b-%03d" % (city, n) for n in range(SIZES[city])] for city in cities]
        assert [rows_of(stream) for stream in streams] == expected


def test_the_streams_may_be_read_in_any_order_and_in_part(people: IndexedTable) -> None:
    streams = people.hits_of_prefixes(BY_CITY, [b"a1/", b"a2/", b"b1/", b"c1/"], few=2)
    assert rows_of(itertools.islice(streams[1], 25)) == [b"a2-%03d" % n for n in range(25)]
    assert rows_of(streams[3]) == [b"c1-%03d" % n for n in range(3)]
    assert rows_of(itertools.islice(streams[2], 1)) == [b"b1-000"]
    assert rows_of(streams[0]) == [b"a1-000"]
    assert rows_of(streams[1]) == [b"a2-%03d" % n for n in range(25, 30)]
