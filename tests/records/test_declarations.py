"""What a record class may declare, and what happens when classes and stored data disagree."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any

import msgspec
import pytest

import webtable
from webtable import Put, Store
from webtable.errors import (
    CorruptData,
    InvalidRequest,
    SchemaMismatch,
    TableNotFound,
    WebTableError,
)
from webtable.records import (
    Collection,
    EntityKey,
    Int32,
    Key,
    Record,
    clean_ghosts,
    find_ghosts,
    key_of,
)
from webtable.records.declaration_catalog import stored_declaration
from webtable.records.record import declaration_of

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


class Page(Record, table="pages"):
    url: Key[str]
    title: str = ""
    size: int = 0


def refused(make: Any, why: str) -> None:
    with pytest.raises(InvalidRequest, match=why):
        make()


class TestClasses:
    def test_a_class_without_a_key(self) -> None:
        def make() -> None:
            class Bad(Record, table="bad"):
                text: str

        refused(make, "record class Bad has no key")

    def test_a_key_after_a_value(self) -> None:
        def make() -> None:
            class Bad(Record, table="bad"):
                text: str
                key: Key[str]

        refused(make, "key field after a value field")

    def test_an_entity_key_after_a_key(self) -> None:
        def make() -> None:
            class Bad(Record, table="bad"):
                one: Key[str]
                two: EntityKey[str]

        refused(make, "entity key field after another key field")

    def test_a_key_that_may_be_none(self) -> None:
        def make() -> None:
            class Bad(Record, table="bad"):
                key: Key[str | None]

        refused(make, "field 'key' of Bad: a key field cannot be None")

    def test_a_key_that_is_a_list(self) -> None:
        def make() -> None:
            class Bad(Record, table="bad"):
                key: Key[list[int]]

        refused(make, "a list of int64 cannot be part of a key")

    @pytest.mark.parametrize("kind", [Decimal, dict[str, int], int | str, list[list[int]], object])
    def test_a_type_that_is_none(self, kind: Any) -> None:
        def make(kind: Any = kind) -> None:
            class Bad(Record, table="bad"):
                key: Key[str]
                value: kind

        refused(make, "field 'value' of Bad")

    def test_an_enum_of_other_things(self) -> None:
        def make() -> None:
            class Odd(Enum):
                ONE = 1
                TWO = "two"

            class Bad(Record, table="bad"):
                key: Key[Odd]

        refused(make, "neither all str nor all int")

    def test_a_default_that_cannot_be_stored(self) -> None:
        def make() -> None:
            class Bad(Record, table="bad"):
                key: Key[str]
                value: Int32 = 2**40

        refused(make, "field 'value' of Bad: .* is not in")

    def test_a_default_besides_none(self) -> None:
        def make() -> None:
            class Bad(Record, table="bad"):
                key: Key[str]
                value: int | None = 5

        refused(make, "may be None and has another default")

    def test_an_unknown_name(self) -> None:
        def make() -> None:
            class Bad(Record, table="bad"):
                key: Key[Nothing]  # type: ignore[name-defined]  # noqa: F821

        refused(make, "an annotation of Bad cannot be read: name 'Nothing'")

    @pytest.mark.parametrize("partitions", [0, -1, 65_537, "16", True])
    def test_numbers_of_partitions(self, partitions: Any) -> None:
        def make() -> None:
            class Bad(Record, table="bad", partitions=partitions):
                key: Key[str]

        refused(make, "partitions")

    @pytest.mark.parametrize("ttl", [timedelta(0), timedelta(seconds=1.5), 30])
    def test_times_to_live(self, ttl: Any) -> None:
        def make() -> None:
            class Bad(Record, table="bad", ttl=ttl):
                key: Key[str]

        refused(make, "ttl")

    def test_something_else_is_no_record_class(self, embedded: Store) -> None:
        refused(lambda: Collection(embedded, msgspec.Struct), "does not declare records")  # type: ignore[type-var]

    def test_a_class_without_a_table(self, embedded: Store) -> None:
        class Loose(Record):
            key: Key[str]

        refused(lambda: Collection(embedded, Loose), "record class Loose has no table")

    def test_options_of_structs_work_too(self, embedded: Store) -> None:
        class Frozen(Record, table="frozen", frozen=True, kw_only=True):
            key: Key[int]
            text: str = "x"
            more: str

        frozen = Collection(embedded, Frozen)
        frozen.put(Frozen(key=1, more="m"))
        assert frozen.get(1) == Frozen(key=1, more="m")
        with pytest.raises(AttributeError):
            Frozen(key=1, more="m").text = "y"  # type: ignore[misc]


class TestKeys:
    def test_keys_that_are_none(self, embedded: Store) -> None:
        pages = Collection(embedded, Page)
        refused(pages.get, "fields url; 0 values were given")
        refused(lambda: pages.get("a", "b"), "2 values were given")
        refused(lambda: pages.get(3), "field 'url' of Page: 3 is int")
        refused(lambda: pages.get_many(["a"]), "key 'a' is not a tuple")
        refused(lambda: pages.scan(prefix=("a", "b")), "2 values were given")
        refused(lambda: pages.scan(limit=-1), "negative")
        refused(pages.entity, "an entity key of Page has the fields url")
        refused(lambda: pages.find("none"), "Page has no index 'none'")

    def test_a_key_that_is_too_long(self, embedded: Store) -> None:
        refused(lambda: Collection(embedded, Page).put(Page("x" * 40_000)), "40,001 bytes")


class TestTables:
    def test_reading_does_not_make_a_table(self, embedded: Store, tmp_path: Path) -> None:
        with pytest.raises(TableNotFound):
            Collection(embedded, Page, create=False)
        Collection(embedded, Page).put(Page("a"))
        with webtable.open(embedded.location, read_only=True) as reader:
            assert list(Collection(reader, Page).scan()) == [Page("a")]

    @pytest.mark.parametrize("what", ["key", "type", "partitions", "entity", "partitioner"])
    def test_classes_that_disagree(self, embedded: Store, what: str) -> None:
        class Visit(Record, table="visits"):
            site: EntityKey[str]
            at: Key[int]
            text: str = ""

        class Key2(Record, table="visits"):
            site: EntityKey[str]
            at: Key[datetime]

        class Type(Record, table="visits"):
            site: EntityKey[str]
            at: Key[int]
            text: bytes = b""

        class Partitions(Record, table="visits", partitions=4):
            site: EntityKey[str]
            at: Key[int]

        class Entity(Record, table="visits"):
            site: Key[str]
            at: Key[int]

        class Own:
            name = "own"

            def partition(self, entity_key: bytes, partitions: int) -> int:
                return len(entity_key) % partitions

        class Partitioner(Record, table="visits", partitioner=Own()):
            site: EntityKey[str]
            at: Key[int]

        other: Any = {
            "key": Key2,
            "type": Type,
            "partitions": Partitions,
            "entity": Entity,
            "partitioner": Partitioner,
        }[what]
        Collection(embedded, Visit).put(Visit("a", 1))
        with pytest.raises(SchemaMismatch, match="table 'visits'"):
            Collection(embedded, other)
        assert list(Collection(embedded, Visit).scan()) == [Visit("a", 1)]

    def test_a_table_of_something_else(self, embedded: Store) -> None:
        embedded.create_table("pages", "f")
        with pytest.raises(SchemaMismatch, match="has no family 'a'"):
            Collection(embedded, Page)

    def test_a_dropped_table_may_become_another(self, embedded: Store) -> None:
        class Other(Record, table="pages"):
            number: Key[int]

        Collection(embedded, Page)
        embedded.drop_table("pages")
        others = Collection(embedded, Other)
        others.put(Other(1))
        assert list(others.scan()) == [Other(1)]

    def test_ttl_and_versions_get_into_the_table(self, embedded: Store) -> None:
        class Kept(Record, table="kept", ttl=timedelta(days=21), versions=3):
            key: Key[str]

        Collection(embedded, Kept)
        family = embedded.describe_table("kept").family("a")
        assert family is not None
        assert (family.ttl_seconds, family.versions) == (21 * 86_400, 3)


def evolved(**fields: Any) -> Any:
    """Returns a later form of Page."""
    annotations = {"url": Key[str], **{name: kind for name, (kind, _) in fields.items()}}
    namespace = {"__annotations__": annotations, "__module__": __name__}
    namespace |= {name: default for name, (_, default) in fields.items() if default is not ...}
    make: Any = type(Record)
    return make("Page", (Record,), namespace, table="pages")


class TestEvolution:
    def test_an_added_field_reads_as_its_default(self, embedded: Store) -> None:
        Collection(embedded, Page).put(Page("a", "t", 3))
        later = evolved(
            title=(str, ""),
            size=(int, 0),
            lang=(str, "en"),
            tags=(list[str], []),
            n=(int | None, None),
        )
        pages = Collection(embedded, later)
        assert pages.get("a") == later("a", "t", 3, "en", [], None)
        pages.put(later("b", "t", 3, "de", ["x"], 4))
        assert Collection(embedded, Page).get("b") == Page("b", "t", 3)
        known = stored_declaration(embedded, "pages")
        assert known is not None
        assert known.values == {
            "title": "str",
            "size": "int64",
            "lang": "str",
            "tags": "list of str",
            "n": "int64",
        }

    def test_an_added_field_without_a_default(self, embedded: Store) -> None:
        Collection(embedded, Page).put(Page("a", "t", 3))
        pages = Collection(embedded, evolved(lang=(str, ...), title=(str, "")))
        with pytest.raises(CorruptData, match=r"row b'.*a' of table 'pages' has no field 'lang'"):
            pages.get("a")

    def test_ghosts_are_found_and_cleaned(self, embedded: Store) -> None:
        Collection(embedded, Page).put_many([Page("a", "t", 3), Page("b", "u", 4)])
        later = evolved(title=(str, ""))
        pages = Collection(embedded, later)
        pages.put(later("c", "v"))
        assert list(pages.scan()) == [later("a", "t"), later("b", "u"), later("c", "v")]
        (ghost,) = find_ghosts(embedded, later)
        assert (ghost.name, ghost.records) == ("size", 2)
        assert find_ghosts(embedded, Page) == []
        refused(lambda: clean_ghosts(embedded, later, ["title"]), "is a field of Page")
        assert clean_ghosts(embedded, later, ["none"]) == []
        assert clean_ghosts(embedded, later) == [ghost]
        assert find_ghosts(embedded, later) == []
        assert list(Collection(embedded, Page).scan()) == [
            Page("a", "t", 0),
            Page("b", "u", 0),
            Page("c", "v", 0),
        ]

    def test_a_ghost_keeps_its_type_until_it_is_cleaned(self, embedded: Store) -> None:
        Collection(embedded, Page).put(Page("a", "t", 3))
        text = evolved(title=(str, ""), size=(str, ""))
        with pytest.raises(
            SchemaMismatch, match="field 'size' of table 'pages' is stored as int64"
        ):
            Collection(embedded, text)
        clean_ghosts(embedded, evolved(title=(str, "")))
        assert Collection(embedded, text).get("a") == text("a", "t", "")


class TestDamage:
    @pytest.mark.parametrize(
        ("column", "value", "why"),
        [
            (b"a:size", b"123", "field 'size' does not decode: 3 bytes are not the 8 of int64"),
            (b"a:title", b"\xff", "field 'title' does not decode"),
        ],
    )
    def test_bytes_that_do_not_decode(
        self, store: Store, column: bytes, value: bytes, why: str
    ) -> None:
        class Damaged(Record, table="damaged"):
            url: Key[str]
            title: str = ""
            size: int = 0

        pages = Collection(store, Damaged)
        pages.put(Damaged("bad"))
        row = declaration_of(Damaged).row_key(("bad",))
        pages.table.put(row, {column: value})
        for read in (lambda: pages.get("bad"), lambda: list(pages.scan())):
            with pytest.raises(CorruptData, match=why) as caught:
                read()
            assert "bad' of table 'damaged'" in caught.value.message
        pages.put(Damaged("bad", "mended"))
        assert pages.get("bad") == Damaged("bad", "mended")

    def test_a_key_that_does_not_decode(self, embedded: Store) -> None:
        class Numbered(Record, table="numbered"):
            name: EntityKey[str]
            number: Key[int]
            text: str = ""

        numbered = Collection(embedded, Numbered)
        numbered.table.mutate(b"\x00abc", [Put(b"\x00abc", {b"a:text": b"x"})])
        with pytest.raises(CorruptData, match="field 'name' does not decode: its end is missing"):
            list(numbered.scan())
        embedded.truncate_table("numbered")
        for row in (b"\x00abc\x00short", b"\x00abc\x00" + b"x" * 12):
            numbered.table.mutate(row, [Put(row, {b"a:text": b"x"})])
            for read in (numbered.scan, numbered.keys):
                with pytest.raises(CorruptData, match="field 'number' does not decode"):
                    list(read())
            numbered.table.delete(row)


def test_errors_of_records_are_ours() -> None:
    assert issubclass(SchemaMismatch, WebTableError)
    assert key_of(Page("a")) == ("a",)
