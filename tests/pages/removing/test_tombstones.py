"""The record of a removed page until its tombstone is purged."""

from __future__ import annotations

import zlib

import pytest

from webtable.pages.page_table import PageTable
from webtable.pages.removing import tombstones
from webtable.pages.removing.tombstones import Tombstone, Tombstones, link_targets
from webtable.pages.schema import SETTINGS_TABLE

URL = "https://a.example/"


def record(pages: PageTable, tombstone: Tombstone) -> None:
    for table, put in Tombstones(pages.store).puts(tombstone):
        pages.store.table(table).mutate(put.row, [put])


def test_the_stored_cells(pages: PageTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tombstones, "_PART_BYTES", 30)
    links = frozenset(f"https://{name}.example/" for name in "bcd")
    record(pages, Tombstone(b"row-1", URL, 1_000, links))
    found = pages.store.table(SETTINGS_TABLE).get(b"tombstone:row-1")
    assert found is not None
    values = found.values()
    assert values.pop(b"a:url") == URL.encode()
    assert sorted(values) == [b"a:links0000", b"a:links0001", b"a:links0002"]
    assert zlib.decompress(values[b"a:links0000"]) == b"https://b.example/"
    assert {cell.timestamp for cell in found.cells} == {1_000}
    assert Tombstones(pages.store).get_many([b"row-1", b"row-2"]) == [
        Tombstone(b"row-1", URL, 1_000, links),
        None,
    ]


def test_a_later_record_of_the_page_stays(pages: PageTable) -> None:
    first = Tombstone(b"row-3", URL, 1_000, frozenset())
    later = first._replace(began_ms=2_000)
    record(pages, first)
    record(pages, later)
    Tombstones(pages.store).forget(first)
    assert Tombstones(pages.store).get_many([b"row-3"]) == [later]
    Tombstones(pages.store).forget(later)
    assert Tombstones(pages.store).get_many([b"row-3"]) == [None]


def test_the_targets_of_stored_links() -> None:
    text = b"https://a.example/\tnofollow\tx\nhttps://b.example/\t\ty\nhttps://a.example/\t\tz"
    assert link_targets([text, b""]) == {"https://a.example/", "https://b.example/"}
