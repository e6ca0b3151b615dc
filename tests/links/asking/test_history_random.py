"""Random histories, stored in any order, and every query about any date, compared with a model."""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Iterator
from typing import NamedTuple

import pytest

import webtable
from webtable.links.asking.link_history import LinkHistory
from webtable.links.asking.link_queries import LinkQueries
from webtable.links.checking.rebuild import rebuild
from webtable.links.link_index import LinkIndex
from webtable.links.updating.hook import LinkHook
from webtable.pages.page import NewCapture
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_cells import encode_time
from webtable.pages.storing.capture_parser import parse_stored
from webtable.pages.storing.page_versions import CaptureNote

BEGIN = 1_788_220_800
HOUR = 3_600
HOURS = 40
URLS = [
    *(f"https://one.example.com/{number}" for number in range(3)),
    *(f"https://two.example.com/{number}" for number in range(2)),
    *(f"https://example.org/{number}" for number in range(3)),
]


class Taken(NamedTuple):
    """The response of a page at an hour: its links, or an error."""

    links: tuple[tuple[str, str], ...]
    status: int


Histories = dict[str, dict[int, Taken]]


def histories(seed: int) -> Histories:
    """Makes up some histories; few different bodies, so that they come again."""
    chance = random.Random(seed)
    made: Histories = {}
    for url in URLS:
        bodies = [
            tuple(
                (target, chance.choice(["a", "b"]))
                for target in chance.sample(URLS, chance.randrange(4))
                if target != url
            )
            for _ in range(3)
        ]
        hours = chance.sample(range(HOURS), chance.randrange(1, 7))
        made[url] = {
            hour: Taken(chance.choice(bodies), chance.choice([200, 200, 200, 404]))
            for hour in hours
        }
    return made


def captures(made: Histories) -> Iterator[NewCapture]:
    for url, taken in made.items():
        for hour, (links, status) in taken.items():
            body = f"<title>{url}{status}</title>" + "".join(
                f'<a href="{target}">{anchor}</a>' for target, anchor in links
            )
            digest = hashlib.sha1(body.encode(), usedforsecurity=False).hexdigest()
            time = BEGIN + hour * HOUR
            note = CaptureNote(time, digest, status, len(body), "text/html", "", None, False)
            info = parse_stored(url, body.encode(), "text/html")
            yield NewCapture(url, note, body.encode(), info)


def links_at(made: Histories, hour: int) -> set[tuple[str, str, str]]:
    """Returns (source, target, anchor) of all links at an hour."""
    found = set()
    for url, taken in made.items():
        newest = max((each for each in taken if each <= hour), default=None)
        if newest is not None and taken[newest].status == 200:
            found |= {(url, target, anchor) for target, anchor in taken[newest].links}
    return found


def seen(made: Histories, source: str, target: str) -> tuple[str, str]:
    """Returns the first and the last capture of a page with a link to another."""
    hours = [
        hour
        for hour, taken in made[source].items()
        if taken.status == 200 and target in dict(taken.links)
    ]
    return encode_time(BEGIN + min(hours) * HOUR), encode_time(BEGIN + max(hours) * HOUR)


@pytest.fixture(scope="module", params=range(6))
def stored(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Histories, LinkIndex]]:
    made = histories(request.param)
    with webtable.open(str(tmp_path_factory.mktemp("random") / "store")) as store:
        pages = PageTable.create(store, parse_stored, profile="archive")
        index = LinkIndex.create(pages)
        keeper = LinkHook(index)
        pages.hook = keeper
        every = list(captures(made))
        random.Random(request.param).shuffle(every)
        for at in range(0, len(every), 5):
            pages.store_captures(every[at : at + 5])
        keeper.drain()
        if request.param % 2:
            rebuild(index)  # which must remember the past as well
        yield made, index


def test_links_at_any_hour(stored: tuple[Histories, LinkIndex]) -> None:
    made, index = stored
    asked, now = LinkHistory(index), LinkQueries(index)
    known = set(made) | {target for hour in range(HOURS) for _, target, _ in links_at(made, hour)}
    for target, hour in itertools.product(sorted(known), range(0, HOURS, 7)):
        found = asked.inlinks(target, BEGIN + hour * HOUR, limit=100).results.items
        assert {(item.source, target, item.anchor) for item in found} == {
            link for link in links_at(made, hour) if link[1] == target
        }
        for item in found:
            assert (item.first_seen, item.last_seen) == seen(made, item.source, target)
    for target in known:
        items = now.inlinks(target, limit=100).items
        assert {(item.source, target, item.anchor) for item in items} == {
            link for link in links_at(made, HOURS) if link[1] == target
        }
        for item in items:
            assert (item.first_seen, item.last_seen) == seen(made, item.source, target)


def test_changes_between_any_hours(stored: tuple[Histories, LinkIndex]) -> None:
    made, index = stored
    asked = LinkHistory(index)
    for since, until in ((0, 10), (5, 25), (12, 39), (20, 21)):
        span = (BEGIN + since * HOUR, BEGIN + until * HOUR)
        expected = set()
        before, behind = links_at(made, since), links_at(made, until)
        for source, target in {(link[0], link[1]) for link in before | behind}:
            was, now = (
                {anchor for one, other, anchor in links if (one, other) == (source, target)}
                for links in (before, behind)
            )
            if was != now:
                what = "gained" if not was else "lost" if not now else "anchor"
                expected.add((what, source, target))
        found = [
            item
            for domain in ("example.com", "example.org")
            for item in asked.changes(domain, span, is_domain=True, limit=500).results.items
        ]
        assert {(item.change, item.source, item.target) for item in found} == expected
        assert len(found) == len(expected)
        assert all(encode_time(span[0]) < item.at <= encode_time(span[1]) for item in found)
