"""Captures of pages: in any order, in any batches, once or twice, the same store comes out."""

from __future__ import annotations

import itertools
import os
import re
import time
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

import webtable
from tests.pages.conftest import parse
from webtable.errors import (
    AlreadyExists,
    BatchError,
    ConflictError,
    InvalidRequest,
    NotFound,
)
from webtable.pages.columns import WAITS
from webtable.pages.page import NewCapture
from webtable.pages.page_table import PageTable
from webtable.pages.storing.page_versions import CaptureNote, counting
from webtable.pages.storing.row_history import read_history

BEGIN = 1_788_264_000  # 2026-09-01T12:00:00Z
BODIES = {"a": b"alpha", "b": b"beta gamma", "c": b""}
OWN_DIGEST = re.compile(r"(sha1:[abc])-[0-9]+")
COUNTER = itertools.count()
SECONDS = 6
EXAMPLES = 500 if os.environ.get("WEBTABLE_SOAK") else 40


def new_url() -> str:
    return f"https://example{next(COUNTER)}.com/"


def capture(
    url: str,
    second: int,
    digest: str,
    *,
    status: int = 200,
    header: int | None = None,
    revisit: bool = False,
) -> NewCapture:
    body = BODIES[digest]
    note = CaptureNote(
        BEGIN + second,
        f"sha1:{digest}",
        status,
        0 if revisit else len(body),
        "" if revisit else "text/html",
        "",
        None if header is None else BEGIN + header,
        revisit,
    )
    if revisit:
        return NewCapture(url, note, None, None)
    return NewCapture(url, note, body, parse(url, body, "text/html"))


@st.composite
def histories(draw: DrawFn) -> list[NewCapture]:
    """Captures of one page, in an order of their own."""
    key = st.tuples(st.integers(1, SECONDS), st.sampled_from("abc"))
    keys = draw(st.lists(key, min_size=1, max_size=7, unique=True))
    return [
        capture(
            "",
            second,
            digest,
            status=draw(st.sampled_from([200, 200, 200, 404])),
            header=draw(st.sampled_from([None, None, 0, second, second + 1])),
            revisit=draw(st.integers(0, 3)) == 0,
        )
        for second, digest in keys
    ]


def told(pages: PageTable, url: str) -> dict[str, object]:
    """Everything that is read of a page, but for URL, revision and whose digests it has."""
    row = pages.keys.row_key(url)
    found = pages.rows.table.get(row, (b"metadata",))
    assert found is not None
    own = (b"metadata:rev", b"metadata:pending", b"metadata:changed", b"metadata:url")
    return {
        "metadata": {
            column: OWN_DIGEST.sub(r"\1", value.decode())
            for column, value in found.values().items()
            # Empty once every body that the page waited for is there.
            if column not in own and (column, value) != (WAITS, b"")
        },
        "captures": [
            _shared(note) for _, note in sorted(read_history(pages.rows.table, row).notes.items())
        ],
        "contents": [
            None if content is None else content._replace(note=_shared(content.note))
            for content in (pages.content(url, BEGIN + second) for second in range(SECONDS + 2))
        ],
    }


def _shared(note: CaptureNote) -> CaptureNote:
    return note._replace(digest=OWN_DIGEST.sub(r"\1", note.digest))


def _of_page(each: NewCapture, url: str) -> NewCapture:
    """A capture with a digest that no other page has: a revisit would take the body from there."""
    number = url.removeprefix("https://example").removesuffix(".com/")
    return each._replace(url=url, note=each.note._replace(digest=f"{each.note.digest}-{number}"))


def _is_kept(history: list[NewCapture]) -> bool:
    """Whether no reference is to a body that only came second in its second, and is not kept."""
    counted = counting(each.note for each in history)
    bodies = {each.note.digest for each in history if each.body is not None}
    kept = {note.digest for note in counted if not note.is_revisit}
    return all(note.digest in kept or note.digest not in bodies for note in counted)


def _same_in_any_order(pages: PageTable, history: list[NewCapture], data: st.DataObject) -> None:
    assume(_is_kept(history))
    in_order, shuffled = new_url(), new_url()
    for each in sorted(history, key=lambda each: (each.note.time, each.note.digest)):
        pages.store_captures([_of_page(each, in_order)])
    order = [_of_page(each, shuffled) for each in data.draw(st.permutations(history))]
    while order:
        size = data.draw(st.integers(1, len(order)))
        pages.store_captures(order[:size])
        order = order[size:]
    expected = told(pages, in_order)
    assert told(pages, shuffled) == expected
    assert expected["contents"] == [_expected(history, second) for second in range(SECONDS + 2)]


@pytest.mark.parametrize("pages", ["rocks"], indirect=True)
@settings(max_examples=EXAMPLES, deadline=None)
@given(history=histories(), data=st.data())
def test_captures_in_any_order_give_the_same_page(
    pages: PageTable, history: list[NewCapture], data: st.DataObject
) -> None:
    _same_in_any_order(pages, history, data)


@pytest.mark.hbase
@pytest.mark.parametrize("pages", ["hbase"], indirect=True)
@settings(max_examples=EXAMPLES // 8, deadline=None)
@given(history=histories(), data=st.data())
def test_captures_in_any_order_give_the_same_page_on_a_cluster(
    pages: PageTable, history: list[NewCapture], data: st.DataObject
) -> None:
    _same_in_any_order(pages, history, data)


def _only_told(each: NewCapture) -> NewCapture:
    """A capture as a file tells of it that has no bodies, and other words for the links."""
    assert each.info is not None
    info = each.info._replace(
        title="hearsay", links="https://hearsay.example/\t\thearsay", link_count=1
    )
    return NewCapture(each.url, each.note._replace(is_described=True), None, info)


@pytest.mark.parametrize("others", [[], [(1, "b")], [(3, "a")], [(1, "a"), (3, "c")]])
def test_a_body_may_come_after_its_wat_record(
    others: list[tuple[int, str]], pages: PageTable
) -> None:
    found = []
    for comes_first in (False, True):
        url = new_url()
        whole = capture(url, 2, "a")
        pages.store_captures([capture(url, *other) for other in others])
        for each in [_only_told(whole), whole] if comes_first else [whole, _only_told(whole)]:
            pages.store_captures([each])
        content = pages.content(url, BEGIN + 2)
        assert content is not None
        assert content[1] == BODIES["a"]
        found.append((told(pages, url), pages.links(url, BEGIN + 2)))
    assert found[0] == found[1]
    assert found[0][1] is not None
    assert "hearsay" not in str(found[0])


def test_values_of_a_wat_record_are_stored_until_the_body_comes(pages: PageTable) -> None:
    url = new_url()
    only = _only_told(capture(url, 1, "a"))
    assert pages.store_captures([only]) == ["new"]
    assert pages.store_captures([only]) == ["unchanged"]
    page = pages.page(url)
    assert page is not None
    assert page.title == "hearsay"
    # A later capture with that body makes the earlier one whole.
    pages.store_captures([capture(url, 3, "a")])
    content = pages.content(url, BEGIN + 1)
    assert content is not None
    assert content[1] == BODIES["a"]


def _expected(history: list[NewCapture], second: int) -> tuple[CaptureNote, bytes | None] | None:
    notes = [each.note for each in history if each.note.time <= BEGIN + second]
    if not notes:
        return None
    note = counting(notes)[-1]
    bodies = [
        each.body for each in history if each.note.digest == note.digest and each.body is not None
    ]
    return (note, bodies[0] if bodies else None)


def test_what_each_capture_was(pages: PageTable) -> None:
    url = new_url()
    assert pages.store_captures([capture(url, 3, "a")]) == ["new"]
    assert pages.store_captures([capture(url, 3, "a")]) == ["unchanged"]
    later = [capture(url, 4, "a"), capture(url, 5, "b"), capture(url, 1, "c")]
    assert pages.store_captures(later) == ["unchanged", "changed", "older"]


def test_the_same_captures_again_write_nothing(pages: PageTable) -> None:
    url = new_url()
    captures = [capture(url, 3, "a"), capture(url, 4, "b", revisit=True), capture(url, 1, "c")]
    pages.store_captures(captures)
    row = pages.keys.row_key(url)
    before = pages.rows.table.get(row, versions=9)
    assert set(pages.store_captures(captures)) == {"unchanged"}
    assert pages.rows.table.get(row, versions=9) == before


def test_a_page_as_it_is_now(pages: PageTable) -> None:
    url = new_url()
    pages.store_captures([capture(url, 3, "b", header=1), capture(url, 1, "a")])
    page = pages.page(url)
    assert page is not None
    assert (page.url, page.title, page.status) == (url, "beta gamma", 200)
    assert (page.fetched, page.last_modified) == ("2026-09-01T12:00:03Z", "2026-09-01T12:00:01Z")
    assert (page.size, page.outlinks, page.inlinks) == (10, 2, None)
    assert pages.page(new_url()) is None
    assert pages.content(new_url()) is None


def test_links_of_a_response_that_is_no_success_do_not_count(pages: PageTable) -> None:
    url = new_url()
    pages.store_captures([capture(url, 1, "b"), capture(url, 2, "b", status=404)])
    row = pages.keys.row_key(url)
    links = pages.rows.table.get(row, (b"outlinks:count",), versions=9)
    assert links is not None
    assert [cell.value for cell in links.versions(b"outlinks:count")] == [b"0", b"2"]
    page = pages.page(url)
    assert page is not None
    assert page.outlinks == 0


def test_indexes_find_the_pages(pages: PageTable) -> None:
    url = new_url()
    pages.store_captures([capture(url, 3, "b", status=418)])
    row = pages.keys.row_key(url)
    bucket = row[:1] + b":" if pages.keys.name == "salted" else b""
    found = pages.rows.find("webtable_status_idx", webtable.Scan(prefix=bucket + b"418_"))
    assert [hit.row for hit in found] == [row]
    pages.store_captures([capture(url, 4, "b", status=200)])
    found = pages.rows.find("webtable_status_idx", webtable.Scan(prefix=bucket + b"418_"))
    assert list(found) == []


def test_a_row_of_another_url_is_left_alone(pages: PageTable) -> None:
    url, other = new_url(), new_url()
    pages.store_captures([capture(url, 1, "a")])
    row = pages.keys.row_key(url)
    pages.rows.table.put(row, {b"metadata:url": other.encode()}, timestamp=(BEGIN + 2) * 1000)
    with pytest.raises(BatchError) as caught:
        pages.store_captures([capture(url, 3, "b")])
    (reason,) = caught.value.exceptions
    assert isinstance(reason, ConflictError)
    assert f"is the page '{other}', not '{url}'" in str(reason)


def test_what_a_store_of_pages_rejects(tmp_path: Path) -> None:
    with webtable.open(str(tmp_path / "store")) as store:
        with pytest.raises(NotFound, match="webtable init"):
            PageTable.open(store, parse)
        with pytest.raises(InvalidRequest, match="use live or archive"):
            PageTable.create(store, parse, profile="dead")
        with pytest.raises(InvalidRequest, match="use readable or salted"):
            PageTable.create(store, parse, keys="sorted")
        assert store.tables() == []
        PageTable.create(store, parse, keys="salted")
        with pytest.raises(AlreadyExists):
            PageTable.create(store, parse)
        opened = PageTable.open(store, parse)
        assert (opened.keys.name, opened.profile) == ("salted", "archive")


def test_a_page_that_never_changes_keeps_its_body(tmp_path: Path) -> None:
    day = 86_400
    now = int(time.time())
    with webtable.open(str(tmp_path / "store")) as store:
        pages = PageTable.create(store, parse)
        for age in range(200, -1, -10):
            made = capture("https://example.com/", 0, "a")
            note = made.note._replace(time=now - age * day)
            pages.store_captures([made._replace(note=note)])
        found = pages.content("https://example.com/")
        assert found is not None
        assert found.body == BODIES["a"]
        row = store.table("webtable").get(b"com.example_home", (b"content:html",), versions=9)
        assert row is not None
        assert len(row.versions(b"content:html")) <= 3


def test_what_a_body_says_is_kept_also_where_the_body_does_not_come(pages: PageTable) -> None:
    url = new_url()
    whole = capture(url, 0, "b")
    told = whole._replace(body=None)
    assert pages.store_captures([told]) == ["new"]
    page, content = pages.page(url), pages.content(url)
    assert page is not None
    assert content is not None
    assert page.title == "beta gamma"
    assert page.outlinks == 2
    assert content.body is None
    links = pages.links(url)
    assert links is not None
    assert len(links) == 2
    # The links of a page that is described later replace them, and nothing of the first is lost.
    assert pages.store_captures([capture(url, 3, "a")]) == ["changed"]
    assert pages.links(url, BEGIN) == links
    assert pages.links(url) != links
