"""Records with indexes over every engine: typed ranges, covered fields, unique values."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import timedelta

import msgspec
import pytest

from webtable import Store
from webtable.errors import (
    BatchError,
    InvalidRequest,
    NotFound,
    NotUnique,
    SchemaMismatch,
    StaleIndex,
)
from webtable.records import Collection, EntityKey, IndexBy, Key, Record, UInt16, drop_index
from webtable.records.indexes import FieldIndex
from webtable.records.record import declaration_of

Own = Callable[[str], str]


class Person(
    Record,
    table="people",
    indexes=[
        IndexBy("city", "age", covers=("mail", "score")),
        IndexBy("mail", unique=True, name="people_mails"),
        IndexBy("score"),
    ],
):
    group: EntityKey[str]
    name: Key[str]
    city: str = ""
    age: UInt16 = 0
    mail: str | None = None
    score: float | None = None


@pytest.fixture
def people(store: Store) -> Collection[Person]:
    return Collection(store, Person)


def names(found: object) -> list[str]:
    return [person.name for person in found]  # type: ignore[attr-defined]


def test_records_are_found_by_fields(people: Collection[Person], own: Own) -> None:
    city = own("city")
    put = [
        Person("g1", own("a"), city, 30),
        Person("g2", own("b"), city, 20),
        Person("g1", own("c"), city + "x", 10),
        Person("g3", own("d"), city, 30),
    ]
    people.put_many(put)
    by = "people_by_city_age"
    assert list(people.find(by, prefix=(city,))) == [put[1], put[0], put[3]]
    assert list(people.find(by, prefix=(city, 30))) == [put[0], put[3]]
    assert list(people.find(by, prefix=(city,), reverse=True)) == [put[3], put[0], put[1]]
    assert list(people.find(by, prefix=(city,), limit=2)) == [put[1], put[0]]
    assert list(people.find(by, start=(city, 21), stop=(city + "y",))) == [put[0], put[3], put[2]]
    assert list(people.find(by, prefix=(city, 30, "g3"))) == [put[3]]
    assert list(people.find(by, start=(city + "y",), stop=(city,))) == []
    people.put(Person("g1", own("a"), city, 15))
    assert names(people.find(by, prefix=(city,))) == [own("a"), own("b"), own("d")]
    people.delete("g2", own("b"))
    assert names(people.find(by, prefix=(city,))) == [own("a"), own("d")]
    assert people.get("g2", own("b")) is None
    assert not people.exists("g2", own("b"))
    assert people.exists("g1", own("a"))
    cost = people.explain(by, prefix=(city,))
    assert (cost.counts.shown, cost.counts.stale) == (2, 0)
    assert cost.counts.entries == cost.counts.rows == 2


def test_covered_fields_save_reading_records(people: Collection[Person], own: Own) -> None:
    city = own("covered")
    people.put_many(
        [
            Person("g", own("1"), city, 1, own("m1"), 1.5),
            Person("g", own("2"), city, 2, None, -2.5),
            Person("g", own("3"), city, 3),
        ]
    )
    seen = []

    def wanted(covered: object) -> bool:
        seen.append(dict(covered))  # type: ignore[call-overload]
        return covered["mail"] is None  # type: ignore[index]

    found = people.find("people_by_city_age", prefix=(city,), where=wanted)
    assert names(found) == [own("2"), own("3")]
    assert (found.counts.entries, found.counts.rows, found.counts.passed_over) == (3, 2, 1)
    assert seen == [
        {"mail": own("m1"), "score": 1.5},
        {"mail": None, "score": -2.5},
        {"mail": None, "score": None},
    ]


def test_a_unique_value_has_one_owner(people: Collection[Person], own: Own) -> None:
    mail = own("mail")
    first, second = Person("g", own("1"), mail=mail), Person("g", own("2"), mail=mail)
    people.put(first)
    with pytest.raises(NotUnique, match="people_mails"):
        people.put(second)
    with pytest.raises(BatchError) as failed:
        people.put_many([Person("g", own("3")), second])
    assert [type(error) for error in failed.value.exceptions] == [NotUnique]
    assert people.get("g", own("2")) is None
    assert people.lookup("people_mails", mail) == first
    people.put(Person("g", own("1"), mail=None))
    assert people.lookup("people_mails", mail) is None
    people.put(second)
    assert people.lookup("people_mails", mail) == second
    people.delete("g", own("2"))
    assert people.lookup("people_mails", mail) is None
    with pytest.raises(InvalidRequest, match="is not unique"):
        people.lookup("people_by_city_age", "a", 1)
    with pytest.raises(InvalidRequest, match="has the fields mail; 2 values"):
        people.lookup("people_mails", "a", "b")


def test_numbers_are_in_order_and_nan_is_in_no_index(people: Collection[Person], own: Own) -> None:
    scores = [1.5, -2.0, 0.0, math.inf, -math.inf, math.nan, None, 1e-300]
    people.put_many(
        Person(own("scores"), f"{number}", score=score) for number, score in enumerate(scores)
    )
    found = [p.score for p in people.find("people_by_score") if p.group == own("scores")]
    assert found == [-math.inf, -2.0, 0.0, 1e-300, 1.5, math.inf]
    stored = people.get(own("scores"), "5")
    assert stored is not None
    assert stored.score is not None
    assert math.isnan(stored.score)


def test_the_bytes_of_an_entry() -> None:
    index: FieldIndex = declaration_of(Person).indexes[0]
    person = Person("g", "n", "Paris", 7, "m", None)
    put = declaration_of(Person).put(person)
    (entry,) = index.index.entries(put.row, dict(put.values))
    assert entry.key == b"Paris\x00\x00\x07g\x00n"
    assert entry.cover == b"\x01\x00\x00\x00\x01m\x00"
    (unique,) = declaration_of(Person).indexes[1].index.entries(put.row, dict(put.values))
    assert (unique.key, unique.cover) == (b"m\x00", b"")


def test_an_index_is_added_and_built(embedded: Store) -> None:
    class Page(Record, table="pages"):
        url: Key[str]
        lang: str = "en"

    class Indexed(Record, table="pages", indexes=[IndexBy("lang"), IndexBy("url", name="urls")]):
        url: Key[str]
        lang: str = "en"

    class Otherwise(Record, table="pages", indexes=[IndexBy("lang", "url", name="pages_by_lang")]):
        url: Key[str]
        lang: str = "en"

    Collection(embedded, Page).put_many([Page("a"), Page("b", "de"), Page("c")])
    pages = Collection(embedded, Indexed)
    pages.put(Indexed("d", "de"))
    with pytest.raises(StaleIndex, match="being built"):
        list(pages.find("pages_by_lang"))
    assert pages.build_index("pages_by_lang") == 4
    assert [page.url for page in pages.find("pages_by_lang", prefix=("de",))] == ["b", "d"]
    assert [page.url for page in pages.find("pages_by_lang")] == ["b", "d", "a", "c"]
    report = pages.verify()
    assert report.is_tidy
    assert (report.rows, report.entries) == (4, 4)
    for other in (Page, Otherwise):
        with pytest.raises(SchemaMismatch, match="index 'pages_by_lang'"):
            Collection(embedded, other)
    drop_index(embedded, "pages", "pages_by_lang")
    drop_index(embedded, "pages", "urls")
    with pytest.raises(NotFound, match="index 'urls'"):
        drop_index(embedded, "pages", "urls")
    assert [page.url for page in Collection(embedded, Page).scan()] == ["a", "b", "c", "d"]


def test_records_that_expire_keep_their_entries_as_long(embedded: Store) -> None:
    class Short(Record, table="short", ttl=timedelta(days=1), indexes=[IndexBy("kind")]):
        key: Key[int]
        kind: str = "a"

    short = Collection(embedded, Short)
    short.put_many([Short(1), Short(2, "b")])
    short.put(Short(1))
    assert [each.key for each in short.find("short_by_kind", prefix=("a",))] == [1]
    assert short.verify().is_clean


@pytest.mark.parametrize(
    ("by", "why"),
    [
        (IndexBy(), "has no fields"),
        (IndexBy("nothing"), "has no field 'nothing'"),
        (IndexBy("tags"), "field 'tags', a list of str"),
        (IndexBy("text", unique=True, covers=("key",)), "is unique and covers"),
    ],
    ids=lambda each: str(each) if isinstance(each, str) else "",
)
def test_indexes_that_cannot_be(by: IndexBy, why: str) -> None:
    with pytest.raises(InvalidRequest, match=why):

        class Bad(Record, table="bad", indexes=[by]):
            key: Key[int]
            text: str = ""
            tags: list[str] = msgspec.field(default_factory=list)


def test_damage_and_ranges_that_are_none(people: Collection[Person]) -> None:
    with pytest.raises(InvalidRequest, match="is not a range of index"):
        people.find("people_mails", prefix=("a", "b"))
    with pytest.raises(InvalidRequest, match="is not a range of index"):
        people.find("people_mails", prefix="a")
    with pytest.raises(InvalidRequest, match="field 'age' of Person: 'x' is str"):
        people.find("people_by_city_age", prefix=("a", "x"))
