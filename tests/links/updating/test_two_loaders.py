"""Two loaders of the same crawls at once, on HBase: they leave nothing behind."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import webtable
from webtable.index.build_and_verify import verify
from webtable.index.indexed_table import IndexedTable
from webtable.index.row_writer import Writer
from webtable.links.checking.verify import verify_links
from webtable.links.link_index import LinkIndex
from webtable.links.updating.hook import LinkHook
from webtable.local.hbase import LocalHBase
from webtable.pages.page import NewCapture, PageInfo
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored
from webtable.pages.storing.page_versions import CaptureNote

BEGIN = 1_788_264_000
PAGES, BATCH, CRAWLS, LOADERS = 20, 10, 3, 2

pytestmark = pytest.mark.hbase


@pytest.fixture
def location(hbase_location: str, local_hbase: LocalHBase | None) -> Iterator[str]:
    location = f"{hbase_location}?namespace=loaders_{uuid.uuid4().hex[:8]}"
    with webtable.open(location) as store:
        pages = PageTable.create(store, parse_stored, keys="readable", profile="archive")
        LinkIndex.create(pages)
        yield location
        if local_hbase is None:  # A cluster that ends with the tests need not be cleared up.
            for name in store.tables():
                store.drop_table(name)


def crawl(number: int) -> list[NewCapture]:
    """Pages that change, and link to others, at each crawl."""
    captures = []
    for page in range(PAGES):
        # All pages of a batch link to the same few, so that counts move while others move them.
        target = (page % 3 + number + page // BATCH * BATCH + BATCH) % PAGES
        note = CaptureNote(
            BEGIN + number * 86_400,
            f"sha1:{page}-{number}",
            200 if (page + number) % 5 else 404,
            1_000 * (page + number),
            "text/html",
            "",
            None,
            False,
        )
        links = PageInfo(links=f"https://two.example/{target}\t\tx", link_count=1)
        captures.append(NewCapture(f"https://two.example/{page}", note, b"x", links))
    return captures


def test_two_loaders_leave_no_entries_that_no_row_has(
    location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = count_lost_races(monkeypatch)
    barrier = threading.Barrier(LOADERS)

    def load() -> None:
        with webtable.open(location) as store:
            pages = PageTable.open(store, parse_stored)
            pages.hook = keeper = LinkHook(LinkIndex.open(pages))
            for number in range(CRAWLS):
                captures = crawl(number)
                for at in range(0, PAGES, BATCH):
                    barrier.wait(60)
                    pages.store_captures(captures[at : at + BATCH])
                    keeper.drain()

    with ThreadPoolExecutor(LOADERS) as pool:
        for done in [pool.submit(load) for _ in range(LOADERS)]:
            done.result()
    with webtable.open(location) as store:
        pages = PageTable.open(store, parse_stored)
        index = LinkIndex.open(pages)
        assert verify_links(index).is_clean
        for table in (pages.rows, index.rows):
            report = verify(table)
            assert report.is_tidy, (table.name, report)
            assert newer_than_their_rows(table) == []
    assert lost


def count_lost_races(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Lets writers note the rows that others changed before them."""
    lost: list[bytes] = []
    swap_rows = Writer.swap_rows

    def noting(self: Writer, plans: list[object]) -> list[object]:
        won = swap_rows(self, plans)  # type: ignore[arg-type]
        pairs = zip(plans, won, strict=True)
        lost.extend(plan.row for plan, result in pairs if result is False)  # type: ignore[attr-defined]
        return won  # type: ignore[return-value]

    monkeypatch.setattr(Writer, "swap_rows", noting)
    return lost


def newer_than_their_rows(table: IndexedTable) -> list[bytes]:
    """Returns the entries that would stay when their row has them no more."""
    found = []
    for name in table.indexes:
        for hit in table.hits(name):
            if hit.timestamp > table.read_state(hit.row).revision.number:
                found.append(hit.key)
    return found
