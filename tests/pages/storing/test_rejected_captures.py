"""A page that a store does not take, or not in full: it is named, and the others are stored."""

from __future__ import annotations

import json
import os
import random
import string
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

import webtable
from webtable.cli.main import cli
from webtable.errors import BatchError, CorruptData, InvalidRequest
from webtable.index.build_and_verify import verify
from webtable.links.checking.verify import verify_links
from webtable.links.link_index import LinkIndex
from webtable.links.updating import page_row_update
from webtable.links.updating.hook import LinkHook
from webtable.pages.captures import Skipped
from webtable.pages.loading.loader import Loader, LoadReport
from webtable.pages.page import NewCapture, PageInfo
from webtable.pages.page_table import PageTable
from webtable.pages.storing import rejected_captures
from webtable.pages.storing.capture_parser import parse_stored
from webtable.pages.storing.page_versions import CaptureNote
from webtable.store.store import Store

SOAK = bool(os.environ.get("WEBTABLE_SOAK"))
CELL_LIMIT = 10 * 1024 * 1024  # hbase.server.keyvalue.maxsize
BEGIN = 1_788_264_000


class Home(NamedTuple):
    """A store of pages with a link index."""

    store: Store
    pages: PageTable
    link_index: LinkIndex

    def load(self, path: Path, pages: dict[str, str]) -> tuple[LoadReport, list[Skipped]]:
        """Loads pages from a file."""
        write(path, pages)
        skipped: list[Skipped] = []
        return Loader(self.pages, on_skipped=skipped.append).load([str(path)]), skipped


@pytest.fixture(scope="module", params=["rocks", pytest.param("hbase", marks=pytest.mark.hbase)])
def home(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Home]:
    if request.param == "hbase":
        shared = request.getfixturevalue("hbase_location")
        location = f"{shared}?namespace=refused_{uuid.uuid4().hex[:8]}"
    else:
        location = str(tmp_path_factory.mktemp("refused") / "store")
    with webtable.open(location) as store:
        # Readable keys: one region a table, which is quicker to make.
        pages = PageTable.create(store, parse_stored, keys="readable", profile="archive")
        index = LinkIndex.create(pages)
        pages.hook = LinkHook(index)
        home = Home(store, pages, index)
        yield home
        assert_whole(home)
        # A cluster that ends with the tests need not be cleared up.
        if request.param == "hbase" and request.getfixturevalue("local_hbase") is None:
            for name in store.tables():
                store.drop_table(name)


def write(path: Path, pages: dict[str, str]) -> None:
    lines = [
        json.dumps({"url": url, "html": html, "fetched": "2026-09-01T12:00:00Z"})
        for url, html in pages.items()
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def small(host: str, count: int) -> dict[str, str]:
    """Pages that link to one another."""
    return {
        f"https://{host}/{n}": f"<title>{n}</title><a href='/{n + 1}'>next</a>"
        for n in range(count)
    }


def capture(url: str, second: int, *targets: str) -> NewCapture:
    links = "\n".join(f"{target}\t\tx" for target in targets)
    note = CaptureNote(BEGIN + second, f"sha1:{second}", 200, 1, "text/html", "", None, False)
    return NewCapture(url, note, b"x", PageInfo(links=links, link_count=len(targets)))


def long_targets(seed: int, size: int) -> list[str]:
    """So many bytes of URLs that can hardly be packed."""
    chance = random.Random(seed)
    letters = string.ascii_letters + string.digits + "-_"
    words = ["".join(chance.choices(letters, k=8_000)) for _ in range(size // 8_000)]
    return [f"https://t.example/{word}" for word in words]


def assert_whole(home: Home) -> None:
    """The indexes agree with the pages, no work is left, and no cell is too large for HBase."""
    LinkHook(home.link_index).drain()
    assert verify_links(home.link_index).is_clean
    assert verify(home.pages.rows).is_clean
    assert next(home.link_index.work.scan(), None) is None
    for name in home.store.tables():
        for row in home.store.table(name).scan():
            assert all(len(row.key) + len(cell[2]) < CELL_LIMIT for cell in row.raw_cells), row.key


def test_a_page_with_too_many_bytes_of_links_is_stored_with_the_first_ones(
    home: Home, tmp_path: Path
) -> None:
    base = "https://long.example/" + "d/" * 4_000
    html = f"<base href='{base}'>" + "".join(f"<a href={n}>{n}</a>" for n in range(5_000))
    large = "https://cut.example/large"
    pages = {**small("cut.example", 3), large: html, **small("more.cut.example", 3)}
    report, skipped = home.load(tmp_path / "a.jsonl", pages)
    assert (report.new, report.records, report.links_cut) == (7, 7, 1)
    (told,) = skipped
    assert (told.reason, told.url, told.source) == ("links-cut", large, str(tmp_path / "a.jsonl"))
    assert told.position.offset > 0
    links, page = home.pages.links(large), home.pages.page(large)
    assert links is not None
    assert page is not None
    assert [link.anchor for link in links] == [str(n) for n in range(page.outlinks)]
    assert 400 < page.outlinks < 600


def test_links_that_change_whole_fit_into_a_journal(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "https://journal.example/"
    size = 4_000_000 if SOAK else 40_000
    if not SOAK:
        monkeypatch.setattr(page_row_update, "MAX_JOURNAL_BYTES", 90_000)
    home.pages.store_captures([capture(url, 5, *long_targets(5, size))])
    # Four versions at once: the newest replaces the first one, and three are between them.
    several = [capture(url, second, *long_targets(second, size)) for second in (6, 7, 8, 9)]
    assert 4 * size > page_row_update.MAX_JOURNAL_BYTES
    home.pages.store_captures([*several, capture("https://other.journal.example/", 5, url)])
    assert len(home.pages.captures(url)) == 5
    learnt = {
        row.key
        for row in home.link_index.table.scan(prefix=b"p:example.t/")
        if any(cell[0] == b"inlinks:example.journal/" for cell in row.raw_cells)
    }
    assert len(learnt) == 5 * (size // 8_000)


def test_a_row_that_a_store_rejects_does_not_stop_the_others(home: Home, tmp_path: Path) -> None:
    pages = small("no.example", 6)
    conflict, damaged = "https://no.example/2", "https://no.example/4"
    table, key = home.pages.rows.table, home.pages.keys.row_key
    table.put(key(conflict), {b"metadata:url": b"https://somebody.else/"})
    table.put(key(damaged), {b"captures:nothing": b"x", b"metadata:rev": bytes(16)})
    report, skipped = home.load(tmp_path / "a.jsonl", pages)
    assert (report.new, report.captures, report.records) == (4, 4, 6)
    assert report.skipped == {"refused": 2}
    assert [(told.reason, told.url) for told in skipped] == [
        ("refused", conflict),
        ("refused", damaged),
    ]
    assert "is the page 'https://somebody.else/'" in skipped[0].why
    assert "does not decode" in skipped[1].why or "is not a time" in skipped[1].why
    again, _ = home.load(tmp_path / "a.jsonl", pages)
    assert (again.unchanged, again.skipped) == (4, {"refused": 2})
    with pytest.raises(BatchError) as caught:
        home.pages.store_captures([capture("https://ok.example/", 1), capture(damaged, 1)])
    assert caught.value.positions == (1,)
    assert isinstance(caught.value.exceptions[0], CorruptData)
    assert home.pages.page("https://ok.example/") is not None
    for url in (conflict, damaged):
        home.store.table("webtable").delete(key(url))


def test_entries_that_a_store_rejects_are_those_of_one_page(home: Home) -> None:
    captures = [capture(f"https://entry.example/{n}", 1) for n in range(3)]
    note = captures[1].note._replace(digest="sha1:" + "x" * 40_000)
    captures[1] = captures[1]._replace(note=note)
    first, refused, last = home.pages.try_captures(captures)
    assert (first, last) == ("new", "new")
    assert isinstance(refused, InvalidRequest)
    assert "row key" in str(refused)
    assert home.pages.page("https://entry.example/1") is None


@pytest.mark.parametrize("home", [pytest.param("hbase", marks=pytest.mark.hbase)], indirect=True)
def test_a_cell_that_hbase_rejects_is_named_and_the_others_are_stored(home: Home) -> None:
    captures = [
        capture(f"https://cell.example/{n}", 1, f"https://to.example/{n}") for n in range(5)
    ]
    captures[2] = capture(captures[2].url, 1, *long_targets(1, 11_000_000))
    results = home.pages.try_captures(captures)
    error = results.pop(2)
    assert results == ["new"] * 4
    assert isinstance(error, InvalidRequest)
    assert "column b'outlinks:urls'" in str(error)


def test_what_is_much_is_written_in_parts(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rejected_captures, "MAX_PART_BYTES", 100)
    url = "https://parts.example/"
    captures = [capture(url, second, f"https://to.example/{second}") for second in range(8)]
    parts = list(rejected_captures.cut(captures))
    assert 1 < len(parts) < 8
    assert [each for part in parts for each in part] == captures
    assert home.pages.try_captures(captures) == ["new"] + ["changed"] * 7
    assert list(rejected_captures.cut([])) == [[]]


def test_a_load_with_rejected_pages_ends_with_1(tmp_path: Path) -> None:
    location = str(tmp_path / "store")
    with webtable.open(location) as store:
        pages = PageTable.create(store, parse_stored)
        row = pages.keys.row_key("https://no.example/1")
        pages.rows.table.put(row, {b"metadata:url": b"https://somebody.else/"})
    write(tmp_path / "a.jsonl", small("no.example", 3))
    told = tmp_path / "skipped.jsonl"
    command = ["load", "--store", location, str(tmp_path / "a.jsonl"), "--skipped-to", str(told)]
    done = CliRunner().invoke(cli, command)
    assert done.exit_code == 1
    assert "1 not stored (refused)" in done.stderr
    (line,) = map(json.loads, told.read_text().splitlines())
    assert (line["reason"], line["url"]) == ("refused", "https://no.example/1")
