"""Pages with the same body: found by their marks, and without them in stores made before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import webtable
from tests.pages.asking.test_queries import made
from tests.pages.conftest import parse
from webtable import Store
from webtable.cli.main import cli
from webtable.index.maintenance import verify
from webtable.index.model import MARKS_FAMILY
from webtable.pages import table as table_module
from webtable.pages.asking.queries import PageQueries
from webtable.pages.indexes import DIGESTS, page_indexes
from webtable.pages.page import NewCapture
from webtable.pages.storing.capture_parser import parse_stored
from webtable.pages.table import PageTable
from webtable.store.scan import Scan

ALONE = 60


def crawl() -> list[NewCapture]:
    """Some pages with bodies of their own, and eight with one of four."""
    pages = [made(f"https://example.com/{n}", 0, b"alone %d" % n) for n in range(ALONE)]
    pages += [made(f"https://site{n}.org/", 0, b"same %d" % (n % 4)) for n in range(8)]
    return pages


def shown(asked: PageQueries, limit: int = 20) -> list[list[str]]:
    """All groups, asked for so many at a time."""
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
    assert not answer.cost.is_whole_index
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


def made_before(location: str, keys: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes a store as it was made before there were marks."""

    def without(*given: object) -> object:
        return page_indexes(*given, with_groups=False)  # type: ignore[arg-type]

    with webtable.open(location) as store, monkeypatch.context() as patch:
        patch.setattr(table_module, "page_indexes", without)
        patch.setattr(PageTable, "open", classmethod(lambda *_: None))
        PageTable.create(store, parse_stored, keys=keys, profile="archive")
        store.table("webtable_settings").delete(b"pages", (b"a:groups",))
    with webtable.open(location) as store:
        PageTable.open(store, parse_stored).store_captures(crawl())
        assert not has_marks(store)


def has_marks(store: Store) -> bool:
    return store.describe_table(DIGESTS).family(MARKS_FAMILY) is not None


@pytest.mark.parametrize("keys", ["readable", "salted"])
def test_a_store_made_before_answers_and_is_brought_up_to_date(
    tmp_path: Path, keys: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = str(tmp_path / "store")
    made_before(location, keys, monkeypatch)
    runner = CliRunner()
    asked = runner.invoke(
        cli, ["report", "duplicates", "--store", location, "--format", "json", "--explain"]
    )
    assert f"{ALONE + 8} entries" not in asked.stderr  # those that are alone are not looked up
    assert "webtable index build webtable_digest_idx" in asked.stderr
    assert sorted(sorted(each["pages"]) for each in json.loads(asked.stdout)["items"]) == GROUPS
    built = runner.invoke(cli, ["index", "build", DIGESTS, "--store", location])
    assert built.exit_code == 0, built.stderr
    with webtable.open(location) as store:
        pages = PageTable.open(store, parse_stored)
        assert has_marks(store)
        assert shown(PageQueries(pages), 1) == GROUPS
        answer = PageQueries(pages).duplicates()
        assert (answer.cost.rows, answer.cost.is_whole_index) == (8, False)
        report = verify(pages.rows)
        assert report.is_clean
        # What the index had under salts is left over, and goes when it is old enough.
        assert report.young == (ALONE + 8 if keys == "salted" else 0)


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
