"""What a Python programmer gives `WebTable` by mistake, and what the results turn into."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from webtable import WebTable, WebTableError
from webtable.errors import IncompleteLoad, InvalidRequest

URL = "https://www.example.com/"


# One store for all tests: none of them stores anything.
@pytest.fixture(scope="module", params=["readable", "salted"])
def web(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[WebTable]:
    path = tmp_path_factory.mktemp("front-door") / "crawl.db"
    with WebTable.open(path, keys=request.param) as opened:
        opened.put(URL, "<title>Old</title><a href=/one>one</a>", fetched="2026-08-01")
        opened.put(URL, "<title>New</title><a href=/two>two</a>", fetched="2026-09-01")
        opened.put("https://www.example.org/two", "<a href=//www.example.com/>home</a>")
        yield opened


def test_pages_without_a_domain_are_all_pages(web: WebTable) -> None:
    assert sorted(page.url for page in web.pages()) == [URL, "https://www.example.org/two"]
    first = web.pages(limit=1)
    rest = list(web.pages(cursor=first.cursor))
    assert [*first, *rest] == list(web.pages())
    assert not web.pages().page().cost.is_scan


def test_the_row_key_of_a_page_reads_its_row(web: WebTable) -> None:
    page = web.page(URL)
    assert page is not None
    row = web.store.table("webtable").get(page.row_key)
    assert row is not None
    assert row.value(b"metadata:title") == b"New"


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "identity", "unheard-of"])
def test_a_body_that_the_client_has_unpacked_is_stored_as_it_is(
    tmp_path: Path, coding: str
) -> None:
    body = b"<title>Unpacked</title>" + b"the quick brown fox " * 50
    headers = {"Content-Type": "text/html", "Content-Encoding": coding, "Content-Length": "99"}
    with WebTable.open(tmp_path / "crawl.db") as opened:
        opened.put(URL, body, headers=headers)
        assert opened.body(URL) == body
        page = opened.page(URL)
        assert page is not None
        assert page.title == "Unpacked"
        if coding == "gzip":
            opened.put("https://www.example.com/packed", gzip.compress(body), headers=headers)
            assert opened.body("https://www.example.com/packed") == body


def test_an_export_takes_urls_as_people_type_them(web: WebTable) -> None:
    out = io.BytesIO()
    report = web.export(out, form="jsonl", urls=["www.example.com", "nosuch.example"])
    assert (report.pages, report.unknown) == (1, 1)
    assert b'"New"' in out.getvalue()


def test_an_export_of_one_text_is_an_error(web: WebTable) -> None:
    with pytest.raises(InvalidRequest, match="a list of URLs"):
        web.export(io.BytesIO(), urls=URL)


def test_a_diff_turns_into_plain_values_with_names(web: WebTable) -> None:
    found = web.diff(URL)
    plain = found.to_dict()
    assert plain["gained"] == [
        {"url": "https://www.example.com/two", "rel": "", "anchor": "two"},
    ]
    assert plain["lost"] == [
        {"url": "https://www.example.com/one", "rel": "", "anchor": "one"},
    ]
    newest, oldest = web.history(URL)
    assert (plain["old"], plain["new"]) == (oldest.to_dict(), newest.to_dict())


@pytest.mark.parametrize(
    "ask",
    [
        lambda web: web.links.to(URL, kind="outer"),
        lambda web: web.links.to(URL, kind="outer", as_of="2026-09-01"),
        lambda web: web.links.on(URL, kind="outer"),
        lambda web: web.links.anchors(URL, kind="outer"),
        lambda web: web.links.changes(URL, "2026-08-01", kind="outer"),
        lambda web: web.links.top(kind="outer"),
        lambda web: web.links.broken(kind="outer"),
        lambda web: web.links.orphans(kind="outer"),
        lambda web: web.links.dead_ends(kind="outer"),
        lambda web: web.links.redirects(kind="outer"),
    ],
)
def test_a_wrong_kind_of_links_is_an_error(
    web: WebTable, ask: Callable[[WebTable], object]
) -> None:
    with pytest.raises(InvalidRequest, match=r"'outer' is not a kind of links.*internal, external"):
        ask(web)


@pytest.mark.parametrize(
    "ask",
    [
        lambda web: web.links.anchors(URL, sources=-1).page(),
        lambda web: web.reports.duplicates(most=0).page(),
        lambda web: web.put(URL, "", headers={b"Content-Type": b"text/plain"}),
        lambda web: web.put(URL, "", headers={"Set-Cookie": ["a=1", "b=2"]}),
    ],
)
def test_a_wrong_argument_is_an_error(web: WebTable, ask: Callable[[WebTable], object]) -> None:
    with pytest.raises(InvalidRequest):
        ask(web)


@pytest.mark.parametrize(
    "ask",
    [
        lambda web: web.diff(URL, "2026-09-01", "2026-08-01"),
        lambda web: web.diff("https://nosuch.example/"),
        lambda web: web.reports.modified("2026-09-01", "2026-08-01").page(),
        lambda web: web.links.changes(URL, "2026-09-01", "2026-08-01").page(),
        lambda web: web.put("nosuch.example/x", ""),
        lambda web: web.put(URL, "", fetched="2990-01-01"),
        lambda web: web.put(URL, "", status=20),
    ],
)
def test_messages_name_no_options_of_commands_and_no_missing_page(
    web: WebTable, ask: Callable[[WebTable], object]
) -> None:
    with pytest.raises(WebTableError) as failed:
        ask(web)
    assert "--" not in failed.value.message  # a hint may name the option besides
    text = str(failed.value)
    for page in re.findall(r"docs/[\w/-]+\.md", text):
        assert (Path(__file__).parents[2] / page).exists(), text


def test_a_load_that_fails_shows_the_reason_of_each_file(web: WebTable) -> None:
    with pytest.raises(IncompleteLoad, match=r"'nosuch\.warc'") as failed:
        web.load("nosuch.warc")
    assert any("'nosuch.warc' does not exist" in note for note in failed.value.__notes__)


def test_a_wrong_keyword_is_reported_for_the_method_that_was_called(web: WebTable) -> None:
    with pytest.raises(TypeError, match=r"Reports\.largest\(\) got an unexpected keyword"):
        web.reports.largest(size=3)  # type: ignore[call-arg]
