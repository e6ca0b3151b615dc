"""Marks of what several rows share in an index: exact where commits are atomic."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from webtable import Store
from webtable.errors import InvalidRequest
from webtable.index.build_and_verify import build, verify
from webtable.index.index_and_change import MARK
from webtable.index.indexed_table import Change, Entry, Facts, Index, IndexedTable
from webtable.index.write_protocol import REPAIR_AGE_MS
from webtable.store.mutation import Put

CITY = b"a:city"
BY_CITY = "people_by_city"


class HandClock:
    """A clock that shows a given time."""

    def __init__(self) -> None:
        self.time_ms = 1_800_000_000_000

    def now_ms(self) -> int:
        return self.time_ms

    def elapsed_ms(self) -> int:
        return self.time_ms


def by_city(row: bytes, facts: Facts) -> Iterator[Entry]:
    if facts.get(CITY):
        yield Entry(facts[CITY] + b"/" + row)


def people_of(store: Store, clock: HandClock | None = None) -> IndexedTable:
    index = Index(BY_CITY, by_city, columns=(CITY,), grouped=True)
    if "people" not in store.tables():
        store.create_table("people", "a")
    people = IndexedTable(store, "people", [index], columns=(b"a",), clock=clock)
    people.create_tables()
    return people


def lives(city: bytes) -> Change:
    return Change(put={CITY: city})


def test_marks_come_with_the_second_row_and_go_with_it(embedded: Store) -> None:
    people = people_of(embedded)
    people.write(b"ada", lives(b"London"))
    assert list(people.marked(BY_CITY)) == []
    people.write(b"bob", lives(b"London"))
    people.write(b"cid", lives(b"London"))
    assert list(people.marked(BY_CITY)) == [b"London/"]
    people.write(b"ada", lives(b"Paris"))
    assert list(people.marked(BY_CITY)) == [b"London/"]
    people.write(b"bob", Change(delete=(CITY,)))
    assert list(people.marked(BY_CITY)) == []
    assert verify(people).is_tidy


def test_a_commit_looks_at_its_own_rows_too(embedded: Store) -> None:
    people = people_of(embedded)
    people.write_many([(b"ada", lives(b"London")), (b"bob", lives(b"London"))])
    assert list(people.marked(BY_CITY)) == [b"London/"]
    # They move together, and one of them twice.
    moves = [(b"ada", lives(b"Paris")), (b"bob", lives(b"Rome")), (b"bob", lives(b"Paris"))]
    people.write_many(moves)
    assert list(people.marked(BY_CITY)) == [b"Paris/"]


def test_a_clock_that_goes_back_hides_no_mark(embedded: Store) -> None:
    clock = HandClock()
    people = people_of(embedded, clock)
    people.write_many([(b"ada", lives(b"London")), (b"bob", lives(b"London"))])
    people.write(b"bob", lives(b"Paris"))
    clock.time_ms -= 1_000_000
    people.write(b"cid", lives(b"London"))
    assert list(people.marked(BY_CITY)) == [b"London/"]


def test_marks_are_what_the_rows_share_after_any_commits(embedded: Store) -> None:
    people = people_of(embedded)
    chance, cities = random.Random(7), (b"London", b"Paris", b"Rome", b"")
    homes: dict[bytes, bytes] = {}
    for _ in range(150):
        names = [b"p%d" % chance.randrange(6) for _ in range(chance.choice((1, 1, 3)))]
        moves = [(name, chance.choice(cities)) for name in names]
        people.write_many([(name, lives(city)) for name, city in moves])
        homes.update(moves)
        living = list(homes.values())
        shared = sorted(city + b"/" for city in {*living} - {b""} if living.count(city) > 1)
        assert list(people.marked(BY_CITY)) == shared
    assert verify(people).is_tidy


def test_a_mark_that_is_lost_is_found_and_put_again(embedded: Store) -> None:
    people = people_of(embedded)
    people.write_many([(b"ada", lives(b"London")), (b"bob", lives(b"London"))])
    embedded.table(BY_CITY).delete(b"London/", (MARK,))
    report = verify(people)
    assert [(each.name, each.key) for each in report.missing] == [(BY_CITY, b"London/")]
    verify(people, repair=True)
    assert list(people.marked(BY_CITY)) == [b"London/"]
    assert verify(people).is_tidy


def test_a_mark_of_no_group_goes_when_it_is_old(embedded: Store) -> None:
    clock = HandClock()
    people = people_of(embedded, clock)
    people.write(b"ada", lives(b"London"))
    embedded.table(BY_CITY).put(b"London/", {MARK: b""}, timestamp=clock.time_ms)
    report = verify(people, repair=True)
    assert (report.is_clean, report.young, report.leftovers) == (True, 1, 0)
    clock.time_ms += REPAIR_AGE_MS + 1
    assert verify(people, repair=True).leftovers == 1
    assert list(people.marked(BY_CITY)) == []


def test_marks_are_made_when_the_index_is_built(embedded: Store) -> None:
    people = people_of(embedded)
    people.write_many([(b"ada", lives(b"London")), (b"bob", lives(b"London"))])
    embedded.truncate_table(BY_CITY)
    people.set_state(BY_CITY, "building")
    assert build(people_of(embedded), BY_CITY) == 2
    assert list(people_of(embedded).marked(BY_CITY)) == [b"London/"]


def test_keys_of_a_grouped_index_end_in_those_of_their_rows(embedded: Store) -> None:
    embedded.create_table("people", "a")
    index = Index(BY_CITY, lambda row, facts: [Entry(facts[CITY])], grouped=True)
    people = IndexedTable(embedded, "people", [index], columns=(b"a",))
    people.create_tables()
    with pytest.raises(InvalidRequest, match="end in those of their rows"):
        people.write(b"ada", lives(b"London"))


def test_a_mark_is_not_an_entry(embedded: Store) -> None:
    people = people_of(embedded)
    people.write_many([(b"ada", lives(b"London")), (b"bob", lives(b"London"))])
    assert [hit.row for hit in people.find(BY_CITY)] == [b"ada", b"bob"]
    embedded.table("people").mutate(b"ada", [Put(b"ada", {CITY: b"Rome"})])
    assert [hit.row for hit in people.find(BY_CITY)] == [b"bob"]
