"""Pages by the time of their last change: to the second."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

import webtable
from tests.pages.asking.test_queries import made
from webtable.cli.main import cli
from webtable.errors import InvalidRequest
from webtable.pages.asking.paged_results import ResultPage
from webtable.pages.asking.queries import PageQueries
from webtable.pages.page import NewCapture
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored
from webtable.pages.urls import split_url

HOSTS = ("example.com", "docs.example.com", "other.org")
PAGES_A_DAY, DAYS = 12, 3


def crawl() -> list[NewCapture]:
    """Returns pages of three days; their times are not in the order of their keys."""
    chance = random.Random(5)
    found = []
    for day, number in itertools.product(range(DAYS), range(PAGES_A_DAY)):
        url = f"https://{HOSTS[number % 3]}/{day}/{number}"
        page = made(url, day, f"{day} {number}".encode())
        second = chance.randrange(86_400)
        found.append(page._replace(note=page.note._replace(time=page.note.time + second)))
    return found


def newest_first(domain: str = "") -> list[str]:
    chosen = [page for page in crawl() if split_url(page.url).host.endswith(domain)]
    return [page.url for page in sorted(chosen, key=lambda page: -page.note.time)]


def urls(answer: ResultPage) -> list[str]:  # type: ignore[type-arg]
    return [page.url for page in answer.items]


def in_parts(asked: PageQueries, limit: int, **more: str) -> Iterator[str]:
    after = None
    while True:
        answer = asked.modified(limit=limit, after=after, **more)
        yield from urls(answer)
        if answer.next is None:
            return
        after = answer.next


@pytest.fixture(params=["readable", "salted"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    path = str(tmp_path / "store")
    with webtable.open(path) as store:
        pages = PageTable.create(store, parse_stored, keys=request.param, profile="archive")
        pages.store_captures(crawl())
    return path


def test_the_newest_come_first_also_within_a_day(location: str) -> None:
    with webtable.open(location) as store:
        asked = PageQueries(PageTable.open(store, parse_stored))
        assert urls(asked.modified(limit=100)) == newest_first()
        for limit in (1, 5, 7):
            assert list(in_parts(asked, limit)) == newest_first()
        assert list(in_parts(asked, 4, domain="example.com")) == newest_first("example.com")


def test_times_count_to_the_second(location: str) -> None:
    times = sorted({page.note.time for page in crawl()})
    middle = times[len(times) // 2]
    at = f"{datetime.fromtimestamp(middle, tz=UTC):%Y%m%d%H%M%S}"
    with webtable.open(location) as store:
        asked = PageQueries(PageTable.open(store, parse_stored))
        since = urls(asked.modified(since=at, limit=100))
        until = urls(asked.modified(until=at, limit=100))
        assert since + until == newest_first()
        assert len(since) == len(times) - len(times) // 2
        assert sorted(urls(asked.outdated(at, limit=100))) == sorted(until)
        day = at[:8]
        assert set(urls(asked.modified(since=day, limit=100))) >= set(since)
        with pytest.raises(InvalidRequest, match="is not before"):
            asked.modified(at, at)


def test_it_reads_what_is_shown(location: str) -> None:
    arguments = ["report", "modified", "--limit", "3", "--format", "json", "--store", location]
    answer = CliRunner().invoke(cli, [*arguments, "--explain"])
    assert [item["url"] for item in json.loads(answer.stdout)["items"]] == newest_first()[:3]
    assert "4 entries, 4 pages" in answer.stderr
