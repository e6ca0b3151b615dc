"""Wide entities: several classes in one row, one read, and a limit to its size."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest

from webtable import Store
from webtable.errors import CorruptData, InvalidRequest, SchemaMismatch
from webtable.records import EntityKey, EntityTable, IndexBy, Key, Record
from webtable.records.wide_entity import MOST_ROW_BYTES

Own = Callable[[str], str]


class Note(Record):
    site: EntityKey[str]
    day: Key[date]
    title: Key[str]
    text: str = ""
    stars: int | None = None


class Owner(Record):
    site: EntityKey[str]
    name: str = ""


class Mark(Record):
    site: EntityKey[str]
    label: Key[str]


DAY = date(2026, 1, 2)
CLASSES: dict[str, type[Record]] = {"note": Note, "owner": Owner, "mark": Mark}


@pytest.fixture
def sites(store: Store) -> EntityTable:
    return EntityTable(store, "sites", CLASSES)


def test_everything_of_an_entity_is_read_at_once(sites: EntityTable, own: Own) -> None:
    site = own("a")
    notes = [
        Note(site, DAY, "", "empty title"),
        Note(site, DAY, "a", stars=5),
        Note(site, DAY, "a\x00b"),
        Note(site, DAY, "ab", "x"),
        Note(site, date(2026, 2, 1), "a"),
    ]
    assert sites.get(site) is None
    sites.put(notes[3], Owner(site, "Ada"), notes[1], Mark(site, "x"))
    sites.put_many([notes[4], notes[0], notes[2], Owner(own("b"))])
    found = sites.get(site)
    assert found is not None
    assert found.key == (site,)
    assert found.all(Note) == notes
    assert found.all(Owner) == [Owner(site, "Ada")]
    assert found.all(Mark) == [Mark(site, "x")]
    keys = [entity.key for entity in sites.scan(start=(own(""),), stop=(own("~"),))]
    assert keys == [(own("a"),), (own("b"),)]


def test_puts_and_deletes_follow_each_other(sites: EntityTable, own: Own) -> None:
    site = own("a")
    for number in range(5):
        sites.put(Note(site, DAY, "t", stars=None), Mark(site, "m"))
        sites.put(Note(site, DAY, "t", stars=number))
        found = sites.get(site)
        assert found is not None
        assert found.all(Note) == [Note(site, DAY, "t", stars=number)]
        sites.delete(Note, site, DAY, "t")
        found = sites.get(site)
        assert found is not None
        assert (found.all(Note), found.all(Mark)) == ([], [Mark(site, "m")])
        sites.delete_entity(site)
        assert sites.get(site) is None


def test_the_columns_of_a_wide_row(sites: EntityTable, own: Own) -> None:
    site = own("cells")
    sites.put(Note(site, DAY, "t", "x", 1), Mark(site, "m"))
    row = next(row for row in sites.table.scan() if site.encode() in row.key)
    assert row.key[1:] == site.encode()
    values = dict(row.values())
    assert values.pop(b"a:\x00size") > bytes(8)
    day = bytes.fromhex("80004fe7")
    assert values == {
        b"a:mark\x00m\x00\x00": b"",
        b"a:note\x00" + day + b"t\x00stars": b"\x80" + bytes(6) + b"\x01",
        b"a:note\x00" + day + b"t\x00text": b"x",
    }


def test_a_row_has_a_limit(store: Store, own: Own) -> None:
    small = EntityTable(store, "sites", CLASSES, row_bytes=20_000)
    site = own("large")
    for _ in range(20):  # the same note again: what it replaces does not count for ever
        small.put(Note(site, DAY, "t", "x" * 5_000))
    with pytest.raises(InvalidRequest, match="would hold more than 20,000 bytes"):
        small.put(Note(site, DAY, "u", "x" * 15_000))
    found = small.get(site)
    assert found is not None
    assert [note.title for note in found.all(Note)] == ["t"]
    small.put(Note(site, DAY, "u", "x" * 10_000))
    with pytest.raises(InvalidRequest, match="would hold more than"):
        small.put(Owner(site, "y" * 10_000))
    with pytest.raises(InvalidRequest, match="would hold more than"):
        small.put(Owner(own("new"), "y" * 30_000))
    assert small.get(own("new")) is None


def test_what_is_rejected(embedded: Store) -> None:
    class Other(Record):
        place: EntityKey[str]

    class Indexed(Record, indexes=[IndexBy("name")]):
        site: EntityKey[str]
        name: str = ""

    sites = EntityTable(embedded, "sites", CLASSES)
    for records, why in [
        ((), "0 records of 0 entities"),
        ((Owner("a"), Owner("b")), "2 records of 2 entities"),
        ((Other("a"),), "Other is not a class of table 'sites'"),
        ((Owner("a", 3),), "field 'name' of Owner: 3 is int"),  # type: ignore[arg-type]
    ]:
        with pytest.raises(InvalidRequest, match=why):
            sites.put(*records)
    assert list(sites.scan()) == []
    wrong: list[tuple[dict[str, type[Record]], str]] = [
        ({}, "has no record classes"),
        ({"": Owner}, "tag '' is not valid"),
        ({"a": Owner, "b": Other}, "'b' has not the entity key"),
        ({"a": Indexed}, "'a' has indexes"),
    ]
    for classes, why in wrong:
        with pytest.raises(InvalidRequest, match=why):
            EntityTable(embedded, "other", classes)
    with pytest.raises(InvalidRequest, match="row_bytes"):
        EntityTable(embedded, "other", CLASSES, row_bytes=MOST_ROW_BYTES + 1)


def test_classes_that_disagree_and_bytes_that_do_not_decode(embedded: Store) -> None:
    class Note2(Record):
        site: EntityKey[str]
        day: Key[int]

    sites = EntityTable(embedded, "sites", CLASSES)
    with pytest.raises(SchemaMismatch, match="table 'sites'"):
        EntityTable(embedded, "sites", {"note": Note2})
    sites.put(Owner("a"))
    (row,) = sites.table.scan()
    sites.table.put(row.key, {b"a:owner\x00name": b"\xff"})
    with pytest.raises(CorruptData, match="field 'name' does not decode"):
        sites.get("a")
    sites.table.put(row.key, {b"a:note\x00xx": b""})
    with pytest.raises(CorruptData, match="does not decode"):
        sites.get("a")
