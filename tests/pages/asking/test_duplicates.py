"""Pages with the same body: found by their marks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import webtable
from tests.pages.asking.test_queries import made
from tests.pages.conftest import parse
from webtable.index.build_and_verify import verify
from webtable.index.index_and_change import MARKS_FAMILY
from webtable.pages.asking.queries import PageQueries
from webtable.pages.indexes import DIGESTS
from webtable.pages.page import NewCapture
from webtable.pages.page_table import PageTable
from webtable.store.scan import Scan

ALONE = 60


def crawl() -> list[NewCapture]:
    """Some pages with bodies of their own, and eight with one of four."""
    pages = [made(f"https://example.com/{n}", 0, b"alone %d" % n) for n in range(ALONE)]
    pages += [made(f"https://site{n}.org/", 0, b"same %d" % (n % 4)) for n in range(8)]
    return pages


def shown(asked: PageQueries, limit: int = 20) -> list[list[str]]:
    """All groups, read so many at a time."""
    found: list[list[str]] = []
    after = None
    while True:
        answer = asked.duplicates(limit=limit, after=after)
        found += [sorted(page.url for page in group.pages) for group in answer.items]
        assert answer.is_truncated == (len(answer.items) == limit and len(found) < 4)
        if answer.next is None:
            return sorted(found)
        after = answer.next


GROUPS = [[f"https://site{n}.org/", f"https://site{n + 4}.org/"] for n in range(4)]


@pytest.fixture(params=["readable", "salted"])
def pages(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PageTable]:
    with webtable.open(str(tmp_path / "store")) as store:
        yield PageTable.create(store, parse, keys=request.param, profile="archive")


def test_no_more_is_read_than_is_shown(pages: PageTable) -> None:
    pages.store_captures(crawl())
    asked = PageQueries(pages)
    answer = asked.duplicates()
    assert (answer.cost.entries, answer.cost.rows) == (8, 8)
    assert shown(asked) == shown(asked, 1) == shown(asked, 3) == GROUPS
    # A page changes, and is alone now as the one is that was its double.
    pages.store_captures([made("https://site0.org/", 1, b"another body")])
    assert shown(asked) == GROUPS[1:]
    pages.store_captures([made("https://site4.org/", 2, b"alone 7")])
    assert ["https://example.com/7", "https://site4.org/"] in shown(asked)
    assert verify(pages.rows).is_clean


def test_pages_are_shown_up_to_a_number(tmp_path: Path) -> None:
    with webtable.open(str(tmp_path / "store")) as store:
        pages = PageTable.create(store, parse, profile="archive")
        pages.store_captures([made(f"https://a.com/{n}", 0, b"same") for n in range(9)])
        pages.store_captures([made(f"https://b.com/{n}", 0, b"other") for n in range(5)])
        answer = PageQueries(pages).duplicates(most=5)
        numbers = sorted((len(each.pages), each.is_truncated) for each in answer.items)
        assert numbers == [(5, False), (5, True)]
        assert answer.cost.rows == 11


def test_an_empty_body_is_no_duplicate(tmp_path: Path) -> None:
    empty = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
    with webtable.open(str(tmp_path / "store")) as store:
        pages = PageTable.create(store, parse, profile="archive")
        pages.store_captures(
            [made(f"https://a.com/{n}", 0, b"", digest=empty, status=301) for n in range(50)]
        )
        marks = store.table(DIGESTS).scan(Scan(columns=(MARKS_FAMILY.encode(),)))
        assert [row.key for row in marks] == [f"{empty}_".encode()]
        answer = PageQueries(pages).duplicates()
        assert (answer.items, answer.cost.rows) == ([], 0)


def test_a_site_is_found_in_groups_of_any_length(pages: PageTable) -> None:
    """The entries of a site may be behind those that are read first, or the only ones."""
    texts = [b"group %d" % n for n in range(40)]
    captures, expected = [], []
    for n, text in enumerate(texts):
        count = n % 4 * 15 + 2
        captures += [made(f"https://a{n}.example/{page:03}", 0, text) for page in range(count)]
        if n % 3 == 0:
            captures.append(made(f"https://z.org/{n}", 0, text))
            expected.append((text.decode(), count + 1))
    pages.store_captures(captures)
    asked = PageQueries(pages)
    for limit in (1, 5, 100):
        found, after = [], None
        while True:
            answer = asked.duplicates(domain="z.org", limit=limit, after=after)
            found += [(group.pages[0].title, len(group.pages)) for group in answer.items]
            after = answer.next
            if after is None:
                break
        assert sorted(found) == sorted(expected)
