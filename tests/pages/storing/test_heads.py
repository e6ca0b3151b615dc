"""The head and the origin of every capture are stored, whatever way the capture takes."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

import webtable
from tests.pages.conftest import ENGINES, parse
from webtable.pages import schema
from webtable.pages.columns import CAPTURE, HEAD
from webtable.pages.page import CaptureSummary, NewCapture
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_cells import note_qualifier
from webtable.pages.storing.page_versions import CaptureNote
from webtable.pages.storing.table_creation import add_http_family

BEGIN = 1_788_264_000  # 2026-09-01T12:00:00Z
COUNTER = itertools.count()


def new_url() -> str:
    return f"https://heads{next(COUNTER)}.com/"


def capture(url: str, second: int, body: str, *, status: int = 200, file: str = "a") -> NewCapture:
    digest = f"sha1:{body}-{url}"
    info = parse(url, body.encode(), "")._replace(context="utf-8")
    note = CaptureNote(
        BEGIN + second, digest, status, len(body), "text/html", "", None, is_revisit=False
    )
    head = f"HTTP/1.1 {status} Some\r\nX-Second: {second}".encode()
    origin = f"{file}.warc.gz\t{second}"
    return NewCapture(url, note, body.encode(), info, head=head, origin=origin)


def revisit(url: str, second: int, body: str) -> NewCapture:
    made = capture(url, second, body)
    return made._replace(note=made.note._replace(is_revisit=True, size=0), body=None, info=None)


def heads(pages: PageTable, url: str) -> dict[int, tuple[str, str]]:
    """The head of each capture, and the file that it came from, by second."""
    return {
        note.time - BEGIN: ((pages.head_of(url, note) or b"").decode(), origin.file)
        for note, origin in pages.origins(url)
    }


def head(second: int, status: int = 200) -> str:
    return f"HTTP/1.1 {status} Some\r\nX-Second: {second}"


def test_every_way_of_storing_a_capture_stores_its_head(pages: PageTable) -> None:
    url = new_url()
    pages.store_captures([capture(url, 1, "one")])  # appended
    pages.store_captures([capture(url, 2, "one")])  # repeated
    summary = capture(url, 3, "one").summary
    assert summary is not None
    assert pages.store_summaries([summary]) == [1]  # without its body
    pages.store_captures([revisit(url, 4, "one"), capture(url, 0, "two")])  # by the rules
    pages.store_captures([capture(url, 5, "none", status=404)])
    pages.store_captures([capture(url, 6, "", status=301)])
    expected = {second: (head(second), "a.warc.gz") for second in range(5)}
    expected |= {5: (head(5, 404), "a.warc.gz"), 6: (head(6, 301), "a.warc.gz")}
    assert heads(pages, url) == expected
    found = pages.head(url, BEGIN + 4)
    assert found is not None
    assert (found.note.time, found.head) == (BEGIN + 4, head(4).encode())
    newest = pages.head(url)
    assert newest is not None
    assert newest.head == head(6, 301).encode()
    assert pages.head(url, BEGIN - 1) is None
    assert pages.head(new_url()) is None


def test_a_head_has_the_time_and_the_qualifier_of_its_capture(pages: PageTable) -> None:
    url = new_url()
    made = capture(url, 1, "one")
    pages.store_captures([made])
    row = pages.rows.table.get(pages.keys.row_key(url), (b"http", b"captures"))
    assert row is not None
    qualifier = note_qualifier(made.note)
    cells = {column: timestamp for column, timestamp, _, _ in row.raw_cells}
    at = made.note.time * 1000
    assert cells == {CAPTURE + qualifier: at, HEAD + qualifier: at}


def test_the_same_capture_of_another_file_changes_nothing(pages: PageTable) -> None:
    url = new_url()
    pages.store_captures([capture(url, 1, "one"), revisit(url, 2, "one")])
    row = pages.keys.row_key(url)
    before = pages.rows.table.get(row, versions=9)
    again = [capture(url, 1, "one", file="b"), revisit(url, 2, "one")]
    assert pages.store_captures(again) == ["unchanged", "unchanged"]
    newest = capture(url, 1, "one", file="c").summary
    assert newest is not None
    pages.store_summaries([newest])
    assert pages.rows.table.get(row, versions=9) == before
    assert heads(pages, url)[1] == (head(1), "a.warc.gz")


def test_a_capture_that_is_known_better_brings_its_own_origin(pages: PageTable) -> None:
    url = new_url()
    whole = capture(url, 1, "one", file="crawl")
    described = whole._replace(
        note=whole.note._replace(is_described=True), body=None, head=b"", origin="wat.gz\t0"
    )
    pages.store_captures([described])
    assert heads(pages, url)[1] == ("", "wat.gz")
    pages.store_captures([whole])
    assert heads(pages, url)[1] == (head(1), "crawl.warc.gz")


def test_a_summary_has_no_head_unless_its_capture_has_one(pages: PageTable) -> None:
    url = new_url()
    pages.store_captures([capture(url, 1, "one")._replace(head=b"", origin="")])
    note = capture(url, 2, "one").note
    assert pages.store_summaries([CaptureSummary(url, note, "utf-8")]) == [1]
    assert heads(pages, url) == {1: ("", ""), 2: ("", "")}


def test_a_body_with_the_digest_of_another_one_keeps_the_claim(pages: PageTable) -> None:
    url = new_url()
    first = capture(url, 1, "one")
    other = first._replace(
        note=first.note._replace(time=BEGIN + 2, size=5), body=b"other", origin="b.warc.gz\t9"
    )
    pages.store_captures([first])
    pages.store_captures([other])
    (_, before), (note, after) = pages.origins(url)
    assert note.digest.startswith("sha256:")
    assert (before.claimed_digest, after.claimed_digest) == ("", first.note.digest)
    assert (after.file, after.offset) == ("b.warc.gz", 9)
    assert pages.head_of(url, note) == other.head


@pytest.mark.parametrize(("profile", "days"), [("live", 90), ("archive", None)])
def test_heads_are_stored_as_long_as_bodies(profile: schema.Profile, days: int | None) -> None:
    family = schema.pages_schema(profile, is_embedded=True).family("http")
    assert family is not None
    assert family.versions == 1
    assert family.ttl_seconds == (None if days is None else days * 86_400)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_older_store_gets_the_family(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    location = str(tmp_path / "store")
    if engine == "hbase":
        location = request.getfixturevalue("hbase_location") + "?namespace=older_heads"
    with webtable.open(location) as store:
        PageTable.create(store, parse, profile="live")
        described = store.describe_table(schema.TABLE)
        store.alter_table(described.without_family(schema.HTTP))
        url = new_url()
        old = capture(url, 1, "one")._replace(head=b"", origin="")
        PageTable.open(store, parse).store_captures([old])
        for _ in range(2):
            add_http_family(store)
        family = store.describe_table(schema.TABLE).family(schema.HTTP)
        assert family == described.family(schema.HTTP)
        pages = PageTable.open(store, parse)
        pages.store_captures([capture(url, 2, "one")])
        assert heads(pages, url) == {1: ("", ""), 2: (head(2), "a.warc.gz")}
        for name in store.tables():
            store.drop_table(name)
