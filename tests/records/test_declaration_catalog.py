"""The declarations of record tables as they are stored, and what a later class may change."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest

from webtable import Store
from webtable.errors import InvalidRequest, SchemaMismatch
from webtable.records import Collection, EntityKey, IndexBy, Key, Record
from webtable.records.declaration_catalog import (
    CATALOG,
    Stored,
    check_fits,
    declared_table,
    stored_declaration,
    stored_tables,
)
from webtable.records.record import declaration_of

# The bytes of a stored declaration, and those that earlier versions wrote.
GOLDEN = (
    b'{"key":[["site","str"],["at","int64"]],"entity":1,"partitions":2,"partitioner":"crc32",'
    b'"values":{"url":"str"},"indexes":{"visits_by_url":"url"},'
    b'"schema":{"name":"visits","families":[{"name":"a","versions":3,"min_versions":0,'
    b'"ttl_seconds":1814400,"keep_deleted_cells":"FALSE","bloomfilter":"ROW",'
    b'"compression":"ZSTD","data_block_encoding":"NONE","blocksize":65536,"in_memory":false,'
    b'"attributes":{}}],"max_filesize":1073741824,"memstore_flushsize":134217728,'
    b'"attributes":{}},"splits":["01"]}'
)
EARLIER = (
    b'{"key":[["site","str"],["at","int64"]],"entity":1,"partitions":2,"partitioner":"crc32",'
    b'"values":{"url":"str"},"indexes":{"visits_by_url":"url"}}'
)


class Visit(
    Record,
    table="visits",
    partitions=2,
    ttl=timedelta(days=21),
    versions=3,
    compression="ZSTD",
    bloomfilter="ROW",
    data_block_encoding="NONE",
    max_filesize=1 << 30,
    memstore_flushsize=128 << 20,
    indexes=[IndexBy("url")],
):
    site: EntityKey[str]
    at: Key[int]
    url: str


def stored_bytes(store: Store) -> bytes | None:
    row = store.table(CATALOG).get(b"visits")
    return None if row is None else row.value(b"a:declaration")


def test_the_bytes_of_a_declaration(embedded: Store) -> None:
    Collection(embedded, Visit)
    assert stored_bytes(embedded) == GOLDEN
    stored = stored_tables(embedded)
    assert list(stored) == ["visits"]
    assert stored["visits"].schema == embedded.describe_table("visits")


def test_a_declaration_of_an_earlier_version_gets_the_schema(embedded: Store) -> None:
    Collection(embedded, Visit)
    embedded.table(CATALOG).put(b"visits", {b"a:declaration": EARLIER})
    assert stored_declaration(embedded, "visits") == msgspec.structs.replace(
        msgspec.json.decode(GOLDEN, type=Stored), schema=None, splits=()
    )
    Collection(embedded, Visit)
    assert stored_bytes(embedded) == GOLDEN


def test_a_class_with_other_options_opens_the_table_and_declares_them(embedded: Store) -> None:
    class Later(Record, table="visits", partitions=2, indexes=[IndexBy("url")]):
        site: EntityKey[str]
        at: Key[int]
        url: str

    Collection(embedded, Visit).put(Visit("a", 1, "u"))
    before = embedded.describe_table("visits")
    assert [each.url for each in Collection(embedded, Later).scan()] == ["u"]
    assert embedded.describe_table("visits") == before  # only a schema update alters it
    stored = stored_declaration(embedded, "visits")
    assert stored is not None
    assert stored.schema == declaration_of(Later).schema()


def test_what_cannot_be_altered_is_a_mismatch(embedded: Store) -> None:
    class Other(Record, table="visits", partitions=4, indexes=[IndexBy("url")]):
        site: EntityKey[str]
        at: Key[int]
        url: str

    Collection(embedded, Visit)
    check_fits(embedded, declared_table(declaration_of(Visit)))
    with pytest.raises(SchemaMismatch, match="made with partitions 2, Other declares 4"):
        check_fits(embedded, declared_table(declaration_of(Other)))


def test_an_option_that_is_not_valid_is_an_error_of_the_class() -> None:
    with pytest.raises(InvalidRequest, match="compression 'GZIP' is not valid"):

        class Bad(Record, table="bad", compression="GZIP"):
            key: Key[str]
