"""Reports of one domain: read from an index or from the pages of the domain, with the same results.

Both ways are compared with the report of all pages, filtered by the URL.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.pages.formats.crawls import http, record
from webtable import Page, Results, WebTable
from webtable.pages.asking import pages_by_index
from webtable.pages.asking.reports import Reports
from webtable.pages.urls import typed_site

HOSTS = ("a.com", "www.a.com", "a.com:8080", "b.a.com", "a2.com", "za.com", "b.org", "a.org")
DOMAINS = ("a.com", "www.a.com", "a.com:8080", "a.com:443", "a2.com", "b.org", "nowhere.net", "org")
Ask = Callable[..., Results[Page]]
REPORTS: dict[str, Ask] = {
    "largest": Reports.largest,
    "errors": Reports.errors,
    "redirects": Reports.redirects,
    "inlinked": Reports.inlinked,
    "dead_ends": Reports.dead_ends,
    "untitled": Reports.untitled,
    "modified": Reports.modified,
    "modified since": lambda reports, **more: Reports.modified(reports, "2026-01-10", **more),
    "outdated": lambda reports, **more: Reports.outdated(reports, "2026-01-15", **more),
    "search": lambda reports, **more: Reports.search(reports, "even", **more),
}


@pytest.fixture(scope="module", params=["readable", "salted"])
def web(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WebTable]:
    folder = tmp_path_factory.mktemp("domains")
    chance = random.Random(17)
    records = []
    for number in range(160):
        host = chance.choice(HOSTS)
        links = "".join(
            f"<a href='https://{chance.choice(HOSTS)}/{chance.randrange(40)}'>x</a>"
            for _ in range(chance.randrange(4))
        )
        title = "<title>even</title>" if number % 2 else ""
        body = f"{title}{links}{'x' * chance.randrange(20)}".encode()
        status = chance.choice(["200 OK"] * 3 + ["404 No", "503 Down", "301 Moved"])
        headers = [("Location", "/1")] if status.startswith("301") else []
        url = f"{chance.choice(['https', 'http'])}://{host}/{chance.randrange(40)}"
        day = f"2026-01-{1 + chance.randrange(20):02}T00:00:00Z"
        records.append(record(http(body, *headers, status=status), url, date=day))
    (folder / "crawl.warc").write_bytes(b"".join(records))
    with WebTable.open(folder / "store", keys=request.param) as opened:
        opened.load(folder / "crawl.warc", workers=1)
        yield opened


@pytest.mark.parametrize("others", [0, 3, 1_000])
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_of_a_domain_is_that_of_all_pages_filtered(
    web: WebTable, name: str, others: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages_by_index, "_MOST_OTHERS", others)
    ask = REPORTS[name]
    everything = list(ask(web.reports))
    assert everything
    for domain in DOMAINS:
        site = typed_site(domain)
        expected = [page.url for page in everything if site.has(page.url)]
        assert [page.url for page in ask(web.reports, domain=domain)] == expected
        for size in (1, 3):
            pieces: list[str] = []
            part = ask(web.reports, domain=domain, limit=size)
            pieces += [page.url for page in part.page().items]
            while part.cursor is not None:
                part = ask(web.reports, domain=domain, limit=size, cursor=part.cursor)
                pieces += [page.url for page in part.page().items]
            assert pieces == expected


def test_duplicates_of_a_domain(web: WebTable) -> None:
    everything = list(web.reports.duplicates())
    assert everything
    for domain in DOMAINS:
        site = typed_site(domain)
        expected = [
            group.digest for group in everything if any(site.has(page.url) for page in group.pages)
        ]
        # The ports of a host share its ranges of rows.
        found = [group.digest for group in web.reports.duplicates(domain=domain)]
        assert set(expected) <= set(found)
        if not site.port:
            assert found == expected


def test_the_cost_says_what_was_read(
    web: WebTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = web.reports.largest(domain="a.com", limit=1)
    assert found.page().items
    assert found.explain.index == "webtable_size_idx"
    assert found.explain.rows <= 3
    monkeypatch.setattr(pages_by_index, "_MOST_OTHERS", 0)
    rare = web.reports.largest(domain="b.a.com", limit=1)
    assert rare.page().items
    assert rare.explain.rows > found.explain.rows
