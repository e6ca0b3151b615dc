"""Captures stored without their bodies give the same cells as with their bodies."""

from __future__ import annotations

import itertools
import os
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import webtable
from tests.pages.conftest import parse
from webtable.pages.columns import NEWEST
from webtable.pages.page import CaptureSummary, NewCapture
from webtable.pages.page_table import PageTable
from webtable.pages.storing.page_versions import CaptureNote
from webtable.pages.storing.repeated_captures import (
    Retention,
    encode_newest,
    repeat,
    stored_parse_context,
)

BEGIN = 1_788_264_000  # 2026-09-01T12:00:00Z
DAY = 86_400
BODIES = {"a": b"alpha", "b": b"beta gamma", "c": b"delta"}
CONTEXTS = ("utf-8", "", "utf-8\t\tnoindex")
COUNTER = itertools.count()
EXAMPLES = 500 if os.environ.get("WEBTABLE_SOAK") else 60
FOR_EVER = Retention(None, None, 0)

NOTE = CaptureNote(BEGIN, "sha1:a", 200, 5, "text/html", "", BEGIN - DAY, False)
VALUE = (
    b"1\t2026-08-02T12:00:00Z\t2026-08-12T12:00:00Z\t2026-08-02T12:00:00Z\t2026-08-31T12:00:00Z"
    b"\tutf-8\t\tnoindex, a\tb"
)


def capture(
    at: int, digest: str = "a", context: str | None = "utf-8", *, header: int | None = None
) -> NewCapture:
    body = BODIES[digest]
    note = CaptureNote(at, f"sha1:{digest}", 200, len(body), "text/html", "", header, False)
    info = parse("", body, "")
    # What a page is called depends on its headers here, so that a title of another one shows.
    return NewCapture(
        "",
        note,
        body,
        info._replace(title=f"{info.title} {context}", context=context),
        head=f"HTTP/1.1 200 OK\r\nX-Time: {at}".encode(),
        origin=f"crawl.warc.gz\t{at}",
    )


@st.composite
def crawls(draw: st.DrawFn) -> NewCapture:
    second = draw(st.integers(1, 8))
    made = capture(
        BEGIN + second,
        draw(st.sampled_from("aaab")),
        draw(st.sampled_from(CONTEXTS)),
        header=draw(st.sampled_from([None, None, BEGIN, BEGIN + 5])),
    )
    status = draw(st.sampled_from([200, 200, 200, 203, 404]))
    media_type = draw(st.sampled_from(["text/html", "text/html", "application/xhtml+xml"]))
    note = made.note._replace(status=status, type=media_type)
    if draw(st.integers(0, 5)) == 0:
        return made._replace(note=note._replace(is_revisit=True, size=0), body=None, info=None)
    return made._replace(note=note)


def store_summaries(pages: PageTable, captures: list[NewCapture]) -> list[NewCapture]:
    """Stores captures without their bodies; returns the captures whose bodies are needed."""
    bodies = [
        each
        for each in captures
        if each.info is not None and each.info.context is not None and each.body is not None
    ]
    links = pages.store_summaries(
        [
            CaptureSummary(
                each.url,
                each.note,
                (each.info and each.info.context) or "",
                each.head,
                each.origin,
            )
            for each in bodies
        ]
    )
    for each, count in zip(bodies, links, strict=True):
        if count is not None:
            assert each.info is not None
            assert count == each.info.link_count
    stored = [each for each, count in zip(bodies, links, strict=True) if count is not None]
    return [each for each in captures if each not in stored]


def of_page(each: NewCapture, url: str) -> NewCapture:
    """A capture of a page, with digests of its own: no other page completes its revisits."""
    return each._replace(url=url, note=each.note._replace(digest=f"{each.note.digest}@{url}"))


def cells(pages: PageTable, url: str) -> list[tuple[bytes, int, bytes]]:
    """All cells of a page, but for those of the writer, and what only one way of writing has."""
    row = pages.rows.table.get(pages.keys.row_key(url), versions=100)
    assert row is not None
    derived = (b"metadata:rev", b"metadata:pending", b"metadata:changed", b"metadata:waits")
    own = (*derived, b"metadata:url", NEWEST)
    page = f"@{url}".encode()
    return [
        (column.replace(page, b""), stamp, value.replace(page, b""))
        for column, stamp, value, _ in row.raw_cells
        if column not in own
    ]


def entries(pages: PageTable, url: str) -> set[tuple[str, bytes]]:
    key = pages.keys.row_key(url)
    return {
        (name, row.key.replace(key, b"").replace(f"@{url}".encode(), b""))
        for name, index in pages.rows.indexes.items()
        if name not in ("webtable_url_idx", "webtable_domain_idx", "webtable_change_idx")
        for row in pages.store.table(index.table).scan()
        if row.key.endswith(b"_" + key)
    }


def new_url() -> str:
    return f"https://summarized{next(COUNTER)}.com/"


@pytest.mark.parametrize("pages", ["rocks"], indirect=True)
@given(st.lists(crawls(), min_size=2, max_size=8))
@settings(deadline=None, max_examples=EXAMPLES)
def test_cell_for_cell_as_with_bodies(pages: PageTable, captures: list[NewCapture]) -> None:
    plain, summarized = new_url(), new_url()
    for each in captures:
        # Without a context the row stores no newest cell: every capture goes by the rules.
        info = each.info._replace(context=None) if each.info is not None else None
        pages.store_captures([of_page(each, plain)._replace(info=info)])
        if needed := store_summaries(pages, [of_page(each, summarized)]):
            pages.store_captures(needed)
    assert cells(pages, summarized) == cells(pages, plain)
    assert entries(pages, summarized) == entries(pages, plain)


def test_a_repeated_capture_is_stored_and_any_other_body_is_needed(pages: PageTable) -> None:
    url = new_url()
    first = capture(BEGIN, header=BEGIN - DAY)._replace(url=url)
    assert store_summaries(pages, [first]) == [first]  # of a page that is not there
    assert pages.store_captures([first]) == ["new"]
    later = capture(BEGIN + DAY, header=BEGIN - DAY)._replace(url=url)
    note = later.note
    for other in (
        capture(BEGIN + DAY, "b")._replace(url=url),
        capture(BEGIN + DAY, context="latin-1")._replace(url=url),
        capture(BEGIN + DAY, context="utf-8\thttps://example.com/\t")._replace(url=url),
        capture(BEGIN - DAY)._replace(url=url),
        later._replace(note=note._replace(status=404)),
        later._replace(note=note._replace(type="text/plain")),
        later._replace(note=note._replace(size=note.size + 1)),
        first._replace(note=first.note._replace(last_modified=None)),
    ):
        assert store_summaries(pages, [other]) == [other]
    assert store_summaries(pages, [first]) == []  # is there
    assert len(pages.captures(url)) == 1
    assert store_summaries(pages, [later]) == []
    assert [each.time for each in pages.captures(url)] == [BEGIN, BEGIN + DAY]
    assert store_summaries(pages, [later]) == []
    assert len(pages.captures(url)) == 2
    found = pages.page(url)
    assert found is not None
    assert (found.fetched, found.last_modified) == ("2026-09-02T12:00:00Z", "2026-08-31T12:00:00Z")
    changed = capture(BEGIN + 2 * DAY, "b")._replace(url=url)
    assert pages.store_captures([changed]) == ["changed"]
    # What was there before the last change is not the newest capture again.
    assert store_summaries(pages, [capture(BEGIN + 3 * DAY)._replace(url=url)]) != []


def test_a_body_that_is_about_to_expire_is_needed(tmp_path_factory: pytest.TempPathFactory) -> None:
    now = int(time.time())
    with webtable.open(str(tmp_path_factory.mktemp("live") / "store")) as store:
        pages = PageTable.create(store, parse, profile="live")
        for age, is_needed in ((10, False), (44, False), (50, True), (80, True), (95, True)):
            url = new_url()
            pages.store_captures([capture(now - age * DAY)._replace(url=url)])
            again = capture(now - DAY)._replace(url=url)
            needed = store_summaries(pages, [again])
            assert bool(needed) == is_needed, age
            if needed:
                assert pages.store_captures(needed) == ["unchanged"]
            content = pages.content(url)
            assert content is not None
            assert content.body == BODIES["a"]
            # It was written again, and is young enough from now on.
            assert store_summaries(pages, [capture(now)._replace(url=url)]) == []


def test_a_row_without_the_cell_gets_it_when_it_is_written_again(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Rows of format 1 have no such cell, and an upgrade cannot know their headers."""
    with webtable.open(str(tmp_path_factory.mktemp("before") / "store")) as store:
        pages = PageTable.create(store, parse, profile="archive")
        url = new_url()
        pages.store_captures([capture(BEGIN, context=None)._replace(url=url)])
        assert NEWEST not in pages.rows.read_state(pages.keys.row_key(url)).facts
        later = capture(BEGIN + DAY)._replace(url=url)
        assert store_summaries(pages, [later]) == [later]
        assert pages.store_captures([later]) == ["unchanged"]
        assert store_summaries(pages, [capture(BEGIN + 2 * DAY)._replace(url=url)]) == []


def test_the_cell_is_frozen() -> None:
    context = "utf-8\t\tnoindex, a\tb"
    versions = BEGIN - 30 * DAY, BEGIN - 20 * DAY
    assert encode_newest(NOTE, versions, BEGIN - 30 * DAY, context) == VALUE
    assert stored_parse_context({NEWEST: VALUE}) == context
    assert stored_parse_context({NEWEST: b"0" + VALUE[1:]}) is None  # parsed by other rules
    facts = {
        NEWEST: VALUE,
        b"metadata:url": b"https://example.com/",
        b"metadata:digest": b"sha1:a",
        b"metadata:size": b"5",
        b"metadata:type": b"text/html",
        b"metadata:status_code": b"200",
        b"metadata:redirect": b"",
        b"metadata:fetched": b"2026-09-01T12:00:00Z",
        b"metadata:last_modified": b"2026-08-31T12:00:00Z",
    }
    later = NOTE._replace(time=BEGIN + DAY, last_modified=None)
    repeated = repeat(CaptureSummary("https://example.com/", later, context), facts, FOR_EVER)
    assert repeated is not None
    assert repeated.values == {
        b"captures:20260902120000_sha1:a": b"response\t200\t5\ttext/html\t\t",
        b"metadata:fetched": b"2026-09-02T12:00:00Z",
        b"metadata:last_modified": b"2026-08-02T12:00:00Z",
        NEWEST: VALUE.replace(b"2026-08-31T12:00:00Z", b""),
    }
    facts[NEWEST] = b"0" + VALUE[1:]
    assert repeat(CaptureSummary("https://example.com/", later, context), facts, FOR_EVER) is None


def test_a_repeat_brings_its_head_and_origin() -> None:
    facts = {
        NEWEST: encode_newest(NOTE, (BEGIN, BEGIN), BEGIN, "utf-8"),
        b"metadata:url": b"https://example.com/",
        b"metadata:digest": b"sha1:a",
        b"metadata:size": b"5",
        b"metadata:type": b"text/html",
        b"metadata:fetched": b"2026-09-01T12:00:00Z",
    }
    later, head = NOTE._replace(time=BEGIN + DAY), b"HTTP/2 200"
    summary = CaptureSummary("https://example.com/", later, "utf-8", head, "a.warc.gz\t7")
    repeated = repeat(summary, facts, FOR_EVER)
    assert repeated is not None
    qualifier = b"20260902120000_sha1:a"
    assert repeated.values[b"http:" + qualifier] == head
    assert repeated.values[b"captures:" + qualifier].endswith(b"\ta.warc.gz\t7")
    # The capture that is stored keeps the head and the origin of its first arrival.
    same = repeat(summary._replace(note=NOTE, origin="b.warc.gz\t8"), {
        **facts, b"metadata:status_code": b"200", b"metadata:redirect": b""}, FOR_EVER)  # fmt: skip
    assert same is not None
    assert same.values == {}


@pytest.mark.parametrize(
    ("note", "versions", "context"),
    [
        (NOTE, (BEGIN, BEGIN), None),
        (NOTE, (None, BEGIN), ""),
        (NOTE, (BEGIN, None), ""),
        (NOTE._replace(status=301), (BEGIN, BEGIN), ""),
        (NOTE._replace(is_revisit=True), (BEGIN, BEGIN), ""),
        (NOTE._replace(is_described=True), (BEGIN, BEGIN), ""),
    ],
)
def test_the_cell_is_empty_without_a_complete_capture(
    note: CaptureNote, versions: tuple[int | None, int | None], context: str | None
) -> None:
    assert encode_newest(note, versions, BEGIN, context) == b""


def test_a_revisit_keeps_the_headers_of_its_capture(pages: PageTable) -> None:
    url = "https://example.com/"
    first = capture(BEGIN, context="utf-8\t\tnoindex")._replace(url=url)
    revisit = first._replace(
        note=first.note._replace(time=BEGIN + DAY, is_revisit=True, size=0), body=None, info=None
    )
    pages.store_captures([first])
    pages.store_captures([revisit])
    page = pages.page(url)
    assert page is not None
    assert page.title == "alpha utf-8\t\tnoindex"
    assert page.fetched == "2026-09-02T12:00:00Z"
