"""Queries about pages, on both engines and with both kinds of keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import webtable
from tests.pages.conftest import parse
from webtable.errors import InvalidRequest
from webtable.pages.asking.paged_results import ResultPage
from webtable.pages.asking.queries import PageQueries
from webtable.pages.page import NewCapture
from webtable.pages.page_table import PageTable
from webtable.pages.storing.page_versions import CaptureNote

DAY = 86_400
BEGIN = 1_788_220_800  # 2026-09-01T00:00:00Z


def made(url: str, day: int = 0, body: bytes = b"word", **more: Any) -> NewCapture:
    note = CaptureNote(
        BEGIN + day * DAY, body.hex()[:40], 200, len(body), "text/html", "", None, False
    )._replace(**more)
    return NewCapture(url, note, body, parse(url, body, "text/html"))


PAGES = [
    made("https://example.com/", 0, b"home of example"),
    made("https://example.com/about", 1, b"same"),
    made("https://example.com/blog/one", 2, b"same"),
    made("https://example.com/blog/two", 3, b"x" * 150_000),
    made("https://docs.example.com/", 4, b""),
    made("http://example.com/", 5, b"", status=301, redirect="https://example.com/"),
    made("https://example2.com/", 6, b"neighbour"),
    made("https://example_x.com/", 7, b"another neighbour"),
    made("https://other.org/gone", 8, b"not found", status=404),
    made("https://other.org/broken", 9, b"", status=500),
    made("https://other.org/file", 10, b"", type="application/pdf"),
]


@pytest.fixture(
    scope="module",
    params=["readable", "salted", pytest.param("hbase", marks=pytest.mark.hbase)],
)
def asked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PageQueries]:
    if request.param == "hbase":
        location = request.getfixturevalue("hbase_location") + "?namespace=questions"
        keys = "salted"
    else:
        location, keys = str(tmp_path_factory.mktemp("questions") / "store"), request.param
    with webtable.open(location) as store:
        pages = PageTable.create(store, parse, keys=keys, profile="archive")
        pages.store_captures(PAGES)
        yield PageQueries(pages)
        # A cluster that ends with the tests need not be cleared up.
        if request.param == "hbase" and request.getfixturevalue("local_hbase") is None:
            for name in store.tables():
                store.drop_table(name)


def urls(answer: ResultPage) -> list[str]:  # type: ignore[type-arg]
    return [page.url.removeprefix("https://") for page in answer.items]


def test_pages_of_a_domain_are_without_its_neighbours(asked: PageQueries) -> None:
    answer = asked.under("example.com", limit=50)
    assert sorted(urls(answer)) == [
        "docs.example.com/",
        "example.com/",
        "example.com/about",
        "example.com/blog/one",
        "example.com/blog/two",
        "http://example.com/",
    ]
    assert not answer.is_truncated
    alone = asked.under("example.com", with_subdomains=False, limit=50)
    assert "docs.example.com/" not in urls(alone)
    assert len(alone.items) == 5


def test_pages_of_a_directory(asked: PageQueries) -> None:
    answer = asked.in_directory("https://example.com/blog/")
    assert urls(answer) == ["example.com/blog/one", "example.com/blog/two"]


def test_the_largest_come_first(asked: PageQueries) -> None:
    answer = asked.largest(limit=2)
    assert urls(answer) == ["example.com/blog/two", "example_x.com/"]
    assert answer.is_truncated
    assert answer.cost.index == "webtable_size_idx"
    assert not answer.cost.is_scan


def test_errors_and_redirects(asked: PageQueries) -> None:
    assert urls(asked.errors()) == ["other.org/gone", "other.org/broken"]
    assert urls(asked.redirects()) == ["http://example.com/"]


def test_modified_in_a_range_of_days(asked: PageQueries) -> None:
    answer = asked.modified("20260903", "20260905")
    assert urls(answer) == ["example.com/blog/two", "example.com/blog/one"]
    inside = asked.modified("20260903", domain="example.com")
    assert urls(inside) == [
        "http://example.com/",
        "docs.example.com/",
        "example.com/blog/two",
        "example.com/blog/one",
    ]
    below = asked.modified(domain="docs.example.com")
    assert urls(below) == ["docs.example.com/"]
    assert urls(asked.outdated("20260903")) == ["example.com/", "example.com/about"]


def test_dead_ends_and_untitled_are_good_pages(asked: PageQueries) -> None:
    assert urls(asked.dead_ends()) == ["docs.example.com/"]
    answer = asked.untitled()
    assert urls(answer) == ["docs.example.com/"]
    assert answer.cost.is_scan
    assert answer.cost.rows == len(PAGES)


def test_duplicates_come_in_groups(asked: PageQueries) -> None:
    answer = asked.duplicates()
    assert [sorted(page.url for page in group.pages) for group in answer.items] == [
        ["https://example.com/about", "https://example.com/blog/one"]
    ]
    assert (answer.cost.entries, answer.cost.rows) == (2, 2)


def test_search_and_links(asked: PageQueries) -> None:
    assert sorted(urls(asked.search("NEIGHBOUR"))) == ["example2.com/", "example_x.com/"]
    assert urls(asked.linking_to("https://home.example/")) == ["example.com/"]
    assert urls(asked.linking_to("https://hom.example/")) == []


@pytest.mark.parametrize(
    "question",
    [
        lambda asked, **more: asked.under("example.com", **more),
        lambda asked, **more: asked.largest(**more),
        lambda asked, **more: asked.modified(**more),
        lambda asked, **more: asked.outdated("20271231", **more),
        lambda asked, **more: asked.search("e", **more),
    ],
    ids=["under", "largest", "modified", "outdated", "search"],
)
def test_results_can_be_resumed(
    asked: PageQueries,
    question: Callable[..., ResultPage],  # type: ignore[type-arg]
) -> None:
    whole = question(asked, limit=50)
    assert whole.next is None
    parts, after = [], None
    while True:
        answer = question(asked, limit=4, after=after)
        assert len(answer.items) <= 4
        parts += answer.items
        after = answer.next
        if after is None:
            break
    assert parts == whole.items


def test_queries_that_are_not_valid(asked: PageQueries) -> None:
    with pytest.raises(InvalidRequest, match="give a host"):
        asked.under("example.com/path")
    with pytest.raises(InvalidRequest, match="at least 1"):
        asked.largest(limit=0)
    with pytest.raises(InvalidRequest, match="no words"):
        asked.search("")
