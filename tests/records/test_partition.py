"""Partitions: frozen hashes, every number of them, and partitioners of one's own."""

from __future__ import annotations

import zlib
from collections import Counter

import pytest

from webtable import Store
from webtable.errors import InvalidRequest
from webtable.records import Collection, EntityKey, HashPartitioner, Key, Record
from webtable.records.partition import MOST_PARTITIONS, Partitions
from webtable.records.record import declaration_of


class Visit(Record, table="visits"):
    site: EntityKey[str]
    at: Key[int]


class Note(Record, table="notes"):
    site: EntityKey[str]
    title: Key[str]


def test_partitions_are_these() -> None:
    hashed = HashPartitioner()
    keys = [b"", b"a", b"example.org", bytes(8)]
    assert [hashed.partition(key, 16) for key in keys] == [0, 3, 15, 9]
    assert [hashed.partition(key, 65_536) for key in keys] == [0, 48707, 13023, 57193]


def test_a_row_key_is_these_bytes() -> None:
    assert declaration_of(Visit).row_key(("example.org", 1)) == (
        b"\x0fexample.org\x00\x80\x00\x00\x00\x00\x00\x00\x01"
    )


def test_an_entity_is_in_the_same_partition_in_every_class() -> None:
    for site in ("a", "", "x\x00y", "example.org"):
        row, other = (
            declaration_of(Visit).row_key((site, 5)),
            declaration_of(Note).row_key((site, "t")),
        )
        assert row[0] == other[0] == zlib.crc32(site.encode()) % 16


def test_entities_are_spread() -> None:
    hashed = HashPartitioner()
    for keys in (
        [b"site%05d" % number for number in range(16_000)],
        [number.to_bytes(8, "big") for number in range(16_000)],
    ):
        counts = Counter(hashed.partition(key, 16) for key in keys)
        assert min(counts.values()) > 800
        assert max(counts.values()) < 1_200


@pytest.mark.parametrize(
    ("count", "width", "last"), [(1, 1, b"\x00"), (256, 1, b"\xff"), (257, 2, b"\x01\x00")]
)
def test_prefixes(count: int, width: int, last: bytes) -> None:
    partitions = Partitions(count, HashPartitioner())
    assert (partitions.width, partitions.prefixes[-1]) == (width, last)
    assert len(partitions.splits()) == count - 1


@pytest.mark.parametrize("count", [1, 2, 100, 256, 300, MOST_PARTITIONS])
def test_scans_over_any_number_of_partitions(embedded: Store, count: int) -> None:
    class Item(Record, table="items", partitions=count):
        name: EntityKey[str]
        number: Key[int]
        text: str = ""

    items = Collection(embedded, Item)
    put = [Item(f"{number // 3:03}", number, f"t{number}") for number in range(300)]
    items.put_many(put)
    assert list(items.scan()) == put
    assert list(items.entity("007")) == put[21:24]
    if count < MOST_PARTITIONS:
        assert list(items.scan(reverse=True)) == put[::-1]
        assert list(items.scan(limit=5, offset=100)) == put[100:105]
        assert sorted(item.number for item in items.scan(ordered=False)) == list(range(300))


class ByLength:
    """A partitioner of one's own."""

    name = "by length"

    def partition(self, entity_key: bytes, partitions: int) -> int:
        return len(entity_key) % partitions


class Wrong(ByLength):
    name = "wrong"

    def partition(self, entity_key: bytes, partitions: int) -> int:
        return partitions


def test_a_partitioner_of_ones_own(embedded: Store) -> None:
    class Item(Record, table="items", partitions=4, partitioner=ByLength()):
        name: Key[str]

    items = Collection(embedded, Item)
    items.put_many([Item("aaa"), Item("bb"), Item("c"), Item("dddd")])
    assert [row.key for row in items.table.scan()] == [b"\x00dddd", b"\x01c", b"\x02bb", b"\x03aaa"]
    assert [item.name for item in items.scan()] == ["aaa", "bb", "c", "dddd"]


def test_a_partitioner_that_chooses_none() -> None:
    class Item(Record, table="items", partitioner=Wrong()):
        name: Key[str]

    with pytest.raises(InvalidRequest, match="partitioner 'wrong' chose partition 16"):
        declaration_of(Item).row_key(("a",))
    with pytest.raises(InvalidRequest, match="is not a partitioner"):
        Partitions(16, object())  # type: ignore[arg-type]
