"""Collections over every engine: what is put comes back, by key, by range, in order."""

from __future__ import annotations

import itertools
import math
import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Any, assert_type

import pytest

from webtable import Scan, Store
from webtable.errors import InvalidRequest, SchemaMismatch
from webtable.records import (
    Collection,
    EntityKey,
    Float32,
    Int8,
    Key,
    Record,
    UInt16,
    clean_ghosts,
    find_ghosts,
    key_of,
)
from webtable.records.declaration import MARKER
from webtable.records.recent_deletes import MOMENT_SECONDS
from webtable.records.record import declaration_of

Own = Callable[[str], str]
NOON = datetime(2026, 1, 2, 12, 0, 0, 123456, tzinfo=UTC)


class Kind(StrEnum):
    PAGE = "page"
    IMAGE = "image"


class Visit(Record, table="visits"):
    site: EntityKey[str]
    at: Key[datetime]
    url: str
    status: UInt16 = 200
    referrer: str | None = None
    ratio: float = 0.5
    kind: Kind = Kind.PAGE


class Everything(Record, table="everything", partitions=3):
    name: Key[str]
    small: Int8 | None = None
    big: int | None = None
    ratio: float | None = None
    short: Float32 | None = None
    flag: bool | None = None
    text: str | None = None
    raw: bytes | None = None
    day: date | None = None
    moment: datetime | None = None
    kind: Kind | None = None
    id: uuid.UUID | None = None
    tags: list[str] | None = None
    counts: list[UInt16] | None = None


class Link(Record, table="links"):
    """Keys only."""

    source: EntityKey[str]
    target: Key[str]


@pytest.fixture
def visits(store: Store) -> Collection[Visit]:
    return Collection(store, Visit)


def made(own: Own, sites: int = 5, each: int = 6) -> list[Visit]:
    """Returns visits in the order of their keys."""
    return [
        Visit(own(f"{site:02}"), NOON + timedelta(hours=hour), f"/{site}/{hour}", status=hour)
        for site in range(sites)
        for hour in range(each)
    ]


def test_what_is_put_comes_back(visits: Collection[Visit], own: Own) -> None:
    visit = Visit(own("a"), NOON, "/", 404, "http://b/", math.inf, Kind.IMAGE)
    assert visits.get(own("a"), NOON) is None
    assert not visits.exists(own("a"), NOON)
    visits.put(visit)
    assert visits.get(*key_of(visit)) == visit
    assert visits.exists(own("a"), NOON)
    assert type(visits.get(own("a"), NOON)) is Visit


def test_type_checkers_know_the_results(visits: Collection[Visit], own: Own) -> None:
    visits.put(Visit(own("typed"), NOON, "/"))
    assert_type(visits.get(own("typed"), NOON), Visit | None)
    found = assert_type(list(visits.entity(own("typed"))), list[Visit])
    assert assert_type(found[0].status, int) == 200


def test_every_type_and_none_of_them(store: Store, own: Own) -> None:
    everything = Collection(store, Everything)
    full = Everything(
        own("full"),
        small=-5,
        big=2**40,
        ratio=-0.25,
        short=0.5,
        flag=True,
        text="\x00é",
        raw=b"\x00\xff",
        day=date(2020, 2, 29),
        moment=NOON,
        kind=Kind.IMAGE,
        id=uuid.UUID(int=7),
        tags=["a", ""],
        counts=[1, 65_535],
    )
    empty = Everything(own("empty"))
    everything.put_many([full, empty])
    assert everything.get_many([(own("full"),), (own("empty"),)]) == [full, empty]
    everything.put(Everything(own("full"), text=""))
    assert everything.get(own("full")) == Everything(own("full"), text="")
    everything.put(Everything(own("full"), tags=[]))
    assert everything.get(own("full")) == Everything(own("full"), tags=[])
    everything.put(Everything(own("full")))
    assert everything.get(own("full")) == Everything(own("full"))


def test_the_cells_of_a_record(store: Store, visits: Collection[Visit], own: Own) -> None:
    visits.put(Visit(own("cells"), NOON, "/", 404))
    row = store.table("visits").get(declaration_of(Visit).row_key((own("cells"), NOON)))
    assert row is not None
    assert row.values() == {
        b"a:kind": b"page",
        b"a:ratio": bytes.fromhex("bfe0000000000000"),
        b"a:status": b"\x01\x94",
        b"a:url": b"/",
    }


def test_a_record_without_values_is_there(store: Store, own: Own) -> None:
    links = Collection(store, Link)
    links.put_many([Link(own("a"), "y"), Link(own("a"), "x"), Link(own("a"), "")])
    assert [link.target for link in links.entity(own("a"))] == ["", "x", "y"]
    assert links.exists(own("a"), "x")
    assert not links.exists(own("a"), "z")
    row = store.table("links").get(declaration_of(Link).row_key((own("a"), "x")))
    assert row is not None
    assert row.values() == {b"a:" + MARKER: b""}
    links.delete(own("a"), "x")
    assert [link.target for link in links.entity(own("a"))] == ["", "y"]


def test_puts_and_deletes_follow_each_other_at_once(visits: Collection[Visit], own: Own) -> None:
    key = own("again")
    for number in range(20):
        visits.put(Visit(key, NOON, "/", number, referrer=None))
        visits.put(Visit(key, NOON, "/", number, referrer=f"{number}"))
        found = visits.get(key, NOON)
        assert found is not None
        assert (found.status, found.referrer) == (number, f"{number}")
        visits.delete(key, NOON)
        assert visits.get(key, NOON) is None
    assert MOMENT_SECONDS > 0.001


def test_of_one_key_twice_in_a_batch_the_last_counts(visits: Collection[Visit], own: Own) -> None:
    key = own("twice")
    visits.put_many(
        [Visit(key, NOON, "/", referrer=None), Visit(key, NOON, "/2", referrer="there")]
    )
    assert visits.get(key, NOON) == Visit(key, NOON, "/2", referrer="there")


def test_get_many_keeps_the_order_of_the_request(visits: Collection[Visit], own: Own) -> None:
    put = made(own)
    assert visits.put_many(iter(put)) == len(put)
    wanted = [put[7], put[0], put[29]]
    keys = [key_of(visit) for visit in wanted]
    keys.insert(1, (own("none"), NOON))
    assert visits.get_many(keys) == [put[7], None, put[0], put[29]]


def test_delete_many(visits: Collection[Visit], own: Own) -> None:
    put = made(own, 3, 3)
    visits.put_many(put)
    visits.delete_many(key_of(visit) for visit in put[::2])
    assert list(visits.scan(start=(own(""),), stop=(own("~"),))) == put[1::2]


class TestScans:
    @pytest.fixture
    def put(self, visits: Collection[Visit], own: Own) -> list[Visit]:
        put = made(own)
        visits.put_many(put[::-1])
        return put

    @pytest.fixture
    def span(self, own: Own) -> dict[str, Any]:
        return {"start": (own(""),), "stop": (own("~"),)}

    def test_in_the_order_of_keys(
        self, visits: Collection[Visit], put: list[Visit], span: dict[str, Any]
    ) -> None:
        assert list(visits.scan(**span)) == put
        assert list(visits.scan(**span, reverse=True)) == put[::-1]
        found = list(visits.scan(**span, ordered=False))
        assert sorted(found, key=key_of) == put
        assert list(visits.keys(**span)) == [key_of(visit) for visit in put]
        assert list(visits.keys(**span, reverse=True)) == [key_of(visit) for visit in put[::-1]]

    def test_limit_and_offset(
        self, visits: Collection[Visit], put: list[Visit], span: dict[str, Any]
    ) -> None:
        for offset, limit in itertools.product((0, 3, 29, 40), (None, 0, 1, 7, 100)):
            end = None if limit is None else offset + limit
            assert list(visits.scan(**span, offset=offset, limit=limit)) == put[offset:end]
            keys = visits.keys(**span, offset=offset, limit=limit)
            assert list(keys) == [key_of(visit) for visit in put[offset:end]]
        assert list(visits.scan(**span, limit=4, reverse=True)) == put[:-5:-1]

    def test_prefixes(self, visits: Collection[Visit], put: list[Visit], own: Own) -> None:
        assert list(visits.scan(prefix=(own("02"),))) == put[12:18]
        assert list(visits.entity(own("02"))) == put[12:18]
        assert list(visits.entity(own("02"), reverse=True)) == put[12:18][::-1]
        assert list(visits.scan(prefix=key_of(put[3]))) == put[3:4]
        assert list(visits.scan(prefix=(own("0"),))) == []

    def test_ranges(self, visits: Collection[Visit], put: list[Visit], own: Own) -> None:
        def between(start: tuple[str | datetime, ...], stop: tuple[str | datetime, ...]) -> object:
            return list(visits.scan(start=start, stop=stop))

        for low, high in itertools.product(put[::7], put[::5]):
            wanted = [visit for visit in put if key_of(low) <= key_of(visit) < key_of(high)]
            assert between((low.site, low.at), (high.site, high.at)) == wanted
        assert between((own("01"),), (own("03"),)) == put[6:18]
        assert between((own("01"),), (own("01"), NOON + timedelta(hours=2))) == put[6:8]
        assert between((own("03"),), (own("01"),)) == []
        inner = visits.scan(prefix=(own("02"),), start=(own("02"), NOON + timedelta(hours=4)))
        assert list(inner) == put[16:18]
        assert list(visits.scan(prefix=(own("02"),), stop=(own("01"),))) == []

    def test_a_scan_may_be_left(
        self, visits: Collection[Visit], put: list[Visit], span: dict[str, Any]
    ) -> None:
        found = visits.scan(**span)
        assert next(found) == put[0]
        del found
        assert next(visits.scan(**span)) == put[0]


def test_one_partition_is_read_for_a_given_entity(store: Store, own: Own) -> None:
    links = Collection(store, Link)
    site = own("one")
    links.put_many(Link(site, f"{number}") for number in range(20))
    rows = [row.key for row in store.table("links").scan(Scan()) if site.encode() in row.key]
    assert len({row[0] for row in rows}) == 1
    asked: list[int] = []

    class Counting(type(links._reader._table)):  # type: ignore[misc]
        def scan_many(self, scans: list[Scan]) -> object:
            asked.append(len(scans))
            return super().scan_many(scans)

    links._reader._table = Counting(links.table._engine, "links")
    assert len(list(links.scan(prefix=(site,)))) == 20
    assert len(list(links.scan(start=(site, "3"), stop=(site, "5")))) == 2
    assert asked == []
    assert len(list(links.scan(start=(site,), stop=(site + "x",)))) == 20
    assert asked == [16]


def test_a_new_table_has_these_options(store: Store, visits: Collection[Visit]) -> None:
    schema = store.describe_table("visits")
    assert (schema.max_filesize, schema.memstore_flushsize) == (4 << 30, 256 << 20)
    (family,) = schema.families
    assert family.name == "a"
    assert (family.versions, family.ttl_seconds, family.bloomfilter) == (1, None, "NONE")
    assert (family.data_block_encoding, family.compression) == ("FAST_DIFF", "GZ")
    starts = [region.start for region in store.table("visits").regions()]
    assert starts == [b"", *(bytes([number]) for number in range(1, 16))]


def test_wrong_records_are_rejected_and_nothing_is_written(
    visits: Collection[Visit], own: Own
) -> None:
    good = Visit(own("good"), NOON, "/")
    wrong: list[tuple[Visit, str]] = [
        (Visit(own("w"), NOON, 3), "field 'url' of Visit: 3 is int, not str"),  # type: ignore[arg-type]
        (Visit(own("w"), NOON, "/", 70_000), "field 'status' of Visit: 70000 is not in 0 … 65,535"),
        (Visit(own("w"), None, "/"), "key field 'at' of Visit is None"),  # type: ignore[arg-type]
        (Visit(own("w"), NOON, None), "field 'url' of Visit is None"),  # type: ignore[arg-type]
    ]
    for record, why in wrong:
        for put in (visits.put, lambda record: visits.put_many([good, record])):
            with pytest.raises(InvalidRequest, match=why.replace("(", r"\(")):
                put(record)
    with pytest.raises(InvalidRequest, match="is not a Visit"):
        visits.put(Link("a", "b"))  # type: ignore[arg-type]
    assert list(visits.scan(start=(own(""),), stop=(own("~"),))) == []


def test_ghost_fields_are_found_and_cleaned(store: Store) -> None:
    class Before(Record, table="evolving"):
        key: Key[str]
        text: str = ""
        old: int | None = None

    class After(Record, table="evolving"):
        key: Key[str]
        text: str = ""
        new: str = "default"

    Collection(store, Before).put_many([Before("a", "x", 1), Before("b", "y"), Before("c", "z", 3)])
    records = Collection(store, After)
    assert list(records.scan()) == [After("a", "x"), After("b", "y"), After("c", "z")]
    (ghost,) = find_ghosts(store, After)
    assert (ghost.name, ghost.records) == ("old", 2)
    assert clean_ghosts(store, After) == [ghost]
    assert find_ghosts(store, After) == []
    assert list(records.scan()) == [After("a", "x"), After("b", "y"), After("c", "z")]


def test_classes_that_disagree_cannot_share_a_table(store: Store) -> None:
    class Other(Record, table="visits"):
        site: EntityKey[str]
        at: Key[int]

    Collection(store, Visit)
    with pytest.raises(SchemaMismatch, match="table 'visits' was made with key site: str"):
        Collection(store, Other)
