"""Loads with summaries give the same store and the same report as loads without them."""

from __future__ import annotations

import gzip
import os
import random
from pathlib import Path

import msgspec
import pytest

import webtable
from tests.pages.loading.loads import stored_cells, worker_ids
from webtable.links.link_index import LinkIndex
from webtable.links.updating.hook import LinkHook
from webtable.pages.loading import capture_batches, loader
from webtable.pages.loading.capture_batches import Task, read_batches, read_file, read_unparsed
from webtable.pages.loading.loader import Loader, LoadReport
from webtable.pages.page import CaptureSummary, NewCapture
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored

PAGES, BATCH = 110, 20
CHANGED, MOVED, BROKEN, HEADED = 7, 25, 40, 30
"""Which pages are different the second time: every so manyth."""
# A batch does not fit into a pipe: no process is more than one ahead of what is stored.
PADDING = "<!--" + "x" * 20_000 + "-->"
NEVER = 2  # more than all captures of a batch: no summaries are sent


def record(number: int, day: int) -> bytes:
    """A response; on the second day some differ in their body, status, charset or header."""
    is_later = day > 1
    status = "404 Not Found" if is_later and number % BROKEN == 0 else "200 OK"
    kind = "text/html; charset=iso-8859-1" if is_later and number % MOVED == 0 else "text/html"
    robots = "X-Robots-Tag: noindex\r\n" if is_later and number % HEADED == 0 else ""
    change = " later" if is_later and number % CHANGED == 0 else ""
    links = "".join(f'<a href="/p{n}">to {n}</a>' for n in range(number % 5))
    body = f"<title>Page {number} \u00e9</title>{links}<p>text{change}{PADDING}".encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{robots}\r\n"
    response = head.encode() + body
    warc = (
        "WARC/1.1\r\nWARC-Type: response\r\n"
        f"WARC-Target-URI: https://site{number % 5}.example.com/p{number}\r\n"
        f"WARC-Date: 2026-09-{day:02}T12:00:{number % 60:02}Z\r\n"
        "Content-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(response)}\r\n\r\n"
    )
    return gzip.compress(warc.encode() + response + b"\r\n\r\n", 1)


def write(path: Path, records: list[tuple[int, int]]) -> str:
    path.write_bytes(b"".join(record(number, day) for number, day in records))
    return str(path)


@pytest.fixture
def crawls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setattr(capture_batches, "BATCH_CAPTURES", BATCH)
    first = [(number, 1) for number in range(PAGES)]
    second = [(number, 2) for number in range(PAGES)]
    shuffled = [*second, *[(number, 3) for number in range(PAGES)]]
    random.Random(1).shuffle(shuffled)
    names = {"first": first, "second": second, "shuffled": shuffled}
    return {name: write(tmp_path / f"{name}.warc.gz", each) for name, each in names.items()}


def load(location: str, files: list[str]) -> list[LoadReport]:
    """Loads files one after the other, with the link index, each with a loader of its own."""
    reports = []
    with webtable.open(location) as store:
        if "webtable_settings" not in store.tables():
            LinkIndex.create(PageTable.create(store, parse_stored, profile="archive"))
        pages = PageTable.open(store, parse_stored)
        pages.hook = LinkHook(LinkIndex.open(pages))
        for file in files:
            report = Loader(pages).load([file])
            report.took(0)
            reports.append(report)
    return reports


def cells(location: str) -> object:
    with webtable.open(location, read_only=True) as store:
        found = stored_cells(store)
    for name in ("webindex", "webindex_work"):
        # What the link index has is stamped with revisions.
        own = (b"page:rev", b"page:at")
        found[name] = [
            (row, column, 0, value) for row, column, _, value in found[name] if column not in own
        ]
    counts = (b"metadata:inlinks", b"inlinks:count")
    found["webtable"] = [
        (row, column, 0 if column in counts else stamp, value)
        for row, column, stamp, value in found["webtable"]
        if column != b"metadata:inlinks_at"
    ]
    return found


@pytest.mark.parametrize("names", [("second", "second"), ("shuffled", "first")])
def test_the_same_store_and_the_same_report(
    tmp_path: Path, crawls: dict[str, str], names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [crawls["first"], *(crawls[name] for name in names)]
    counted = _counted(monkeypatch)
    with_summaries = load(str(tmp_path / "with_summaries"), files)
    assert counted["stored"] > PAGES / 3
    monkeypatch.setattr(loader, "_MANY_UNCHANGED", NEVER)
    before = dict(counted)
    plain = load(str(tmp_path / "plain"), files)
    assert counted == before
    assert with_summaries == plain
    assert cells(str(tmp_path / "with_summaries")) == cells(str(tmp_path / "plain"))


def _counted(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    counts = {"captures": 0, "stored": 0}
    store_summaries = PageTable.store_summaries

    def counting(pages: PageTable, captures: list[CaptureSummary]) -> list[int | None]:
        found = store_summaries(pages, captures)
        counts["captures"] += len(found)
        counts["stored"] += len(found) - found.count(None)
        return found

    monkeypatch.setattr(PageTable, "store_summaries", counting)
    return counts


def test_no_summaries_are_sent_of_a_new_crawl(
    tmp_path: Path, crawls: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = _counted(monkeypatch)
    (report,) = load(str(tmp_path / "store"), [crawls["first"]])
    assert report.new == PAGES
    assert counted["captures"] == 0


def test_a_process_that_is_killed_loses_nothing(
    tmp_path: Path, crawls: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    location, killed = str(tmp_path / "with_summaries"), []
    load(location, [crawls["first"]])
    store_summaries = PageTable.store_summaries

    def store_and_kill(pages: PageTable, captures: list[CaptureSummary]) -> list[int | None]:
        found = store_summaries(pages, captures)
        for process in worker_ids():
            os.kill(process, 9)
            killed.append(found)
        return found

    monkeypatch.setattr(PageTable, "store_summaries", store_and_kill)
    (with_summaries,) = load(location, [crawls["second"]])
    (found,) = killed  # after a death, the records are sent one by one
    assert len(found) - found.count(None) > BATCH / 2
    monkeypatch.setattr(loader, "_MANY_UNCHANGED", NEVER)
    *_, plain = load(str(tmp_path / "plain"), [crawls["first"], crawls["second"]])
    assert with_summaries == plain
    assert cells(location) == cells(str(tmp_path / "plain"))


def test_a_page_with_two_captures_in_a_batch_has_no_summary(tmp_path: Path) -> None:
    path = write(tmp_path / "twice.warc.gz", [(1, 1), (2, 1), (1, 2), (3, 1)])
    (batch,) = read_unparsed(Task(path), read_file)
    assert [batch.captures[place].url[-2:] for place in batch.summaries()] == ["p2", "p3"]


def test_a_capture_stored_by_its_summary_is_not_parsed(tmp_path: Path) -> None:
    path = write(tmp_path / "some.warc.gz", [(number, 1) for number in range(4)])
    (batch,) = read_unparsed(Task(path), read_file)
    (whole,) = read_batches(Task(path), read_file)
    assert batch.parsed() == whole
    some = batch.parsed(without={0, 2})
    kept: list[NewCapture] = [whole.captures[1], whole.captures[3]]
    assert some == msgspec.structs.replace(whole, captures=kept)
