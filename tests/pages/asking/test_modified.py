"""Pages by the time of their last change: to the second, also in stores that know days only."""

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
from webtable.index.maintenance import verify
from webtable.pages.asking import page_index
from webtable.pages.asking.queries import PageQueries
from webtable.pages.asking.results import ResultPage
from webtable.pages.page import NewCapture
from webtable.pages.storing.capture_parser import parse_stored
from webtable.pages.table import PageTable
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


@pytest.fixture(
    params=[(keys, form) for keys in ("readable", "salted") for form in ("seconds", "days")],
    ids="-".join,
)
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    keys, form = request.param
    path = str(tmp_path / "store")
    with webtable.open(path) as store:
        PageTable.create(store, parse_stored, keys=keys, profile="archive")
        if form == "days":  # as stores were made up to format 2
            settings = store.table("webtable_settings")
            settings.delete(b"pages", (b"a:times",))
            settings.put(b"pages", {b"a:format": b"2"})
        PageTable.open(store, parse_stored).store_captures(crawl())
    return path


def is_by_day(location: str) -> bool:
    with webtable.open(location) as store:
        return not PageTable.open(store, parse_stored).exact_times


def test_the_newest_come_first_also_within_a_day(
    location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_index, "_SORTED_AT_ONCE", 5)
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


def test_what_it_costs(location: str) -> None:
    """An index with seconds reads what is shown; one with days reads a day, and says so."""
    was_by_day = is_by_day(location)
    arguments = ["report", "modified", "--limit", "3", "--format", "json", "--store", location]
    answer = CliRunner().invoke(cli, [*arguments, "--explain"])
    assert [item["url"] for item in json.loads(answer.stdout)["items"]] == newest_first()[:3]
    rows = PAGES_A_DAY if was_by_day else 4
    assert f"{rows} entries, {rows} pages" in answer.stderr
    assert ("webtable index build webtable_time_idx" in answer.stderr) == was_by_day


def test_a_store_that_knows_days_is_brought_up_to_date(location: str) -> None:
    for name in ("webtable_time_idx", "webtable_domain_idx"):
        built = CliRunner().invoke(cli, ["index", "build", name, "--store", location])
        assert built.exit_code == 0, built.stderr
    with webtable.open(location) as store:
        pages = PageTable.open(store, parse_stored)
        asked = PageQueries(pages)
        for answer in (asked.modified(limit=3), asked.modified(limit=3, domain="other.org")):
            assert not answer.cost.is_by_day
            assert answer.cost.rows <= 4
        assert urls(asked.modified(limit=100)) == newest_first()
        assert list(in_parts(asked, 4, domain="example.com")) == newest_first("example.com")
        report = verify(pages.rows)
        assert report.is_clean
        assert (report.leftovers, report.young) == (0, 0)
        assert store.table("webtable_settings").get(b"pages").value(b"a:format") == b"3"  # type: ignore[union-attr]
