"""Queries about links at earlier times, against the captures themselves."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

import webtable
from tests.links.asking.test_link_queries import ABOUT, KINDS, everything, is_kind
from tests.links.web import DAYS, EXAMPLE, Seen, inlinks_at, links_at, seen_at, status_at
from webtable.errors import InvalidRequest, NotFound
from webtable.links.asking.link_history import Change, LinkHistory
from webtable.links.asking.link_reader import Kind, LinkPick
from webtable.links.asking.page_links_at_time import links_to
from webtable.links.link_index import LinkIndex
from webtable.links.updating.hook import LinkHook
from webtable.pages.page import NewCapture
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_cells import decode_time, encode_time
from webtable.pages.storing.capture_parser import parse_stored
from webtable.pages.storing.page_versions import CaptureNote

DAY = 86_400
NOW = int(time.time())
EVERY = sorted({link.target for day in DAYS for link in links_at(day)})


@pytest.mark.parametrize("kind", KINDS)
def test_links_to_every_page_at_every_crawl(web: LinkIndex, kind: Kind) -> None:
    asked = LinkHistory(web)
    for day in DAYS:
        for target in EVERY:
            found = everything(
                lambda t=target, d=day, **more: (
                    asked.inlinks(t, d + DAY, LinkPick(kind), **more).results
                ),
                2,
            )
            links = [Seen(item.source, target, item.rel, item.anchor) for item in found]
            assert len(links) == len(set(links))
            assert set(links) == {link for link in inlinks_at(day, target) if is_kind(link, kind)}
            for item, link in zip(found, links, strict=True):
                assert item.internal == is_kind(link, "internal")
                assert (item.first_seen, item.last_seen) == seen_at(link)


@pytest.mark.parametrize("kind", KINDS)
def test_links_on_every_page_at_every_crawl(web: LinkIndex, kind: Kind) -> None:
    asked = LinkHistory(web)
    for day in DAYS:
        for source in {link.source for link in links_at(day)}:
            found = everything(
                lambda s=source, d=day, **more: (
                    asked.outlinks(s, d + DAY, LinkPick(kind), **more).results
                ),
                3,
            )
            expected = [
                link for link in links_at(day) if link.source == source and is_kind(link, kind)
            ]
            assert [(item.target, item.rel, item.anchor) for item in found] == [
                (link.target, link.rel, link.anchor) for link in expected
            ]
            assert [item.status for item in found] == [
                status_at(day, link.target) for link in expected
            ]


def test_what_came_and_went_to_a_page(web: LinkIndex) -> None:
    span = (DAYS[0] + DAY, DAYS[2] + DAY)
    asked = LinkHistory(web)
    found = everything(lambda **more: asked.changes(ABOUT, span, **more).results, 2)
    second, third = encode_time(DAYS[1]), encode_time(DAYS[2])
    home = f"{EXAMPLE}/"
    words = "About | more", " | nofollow", "About us | more"
    assert found == [
        Change("rel", "https://docs.example.com/", ABOUT, "Example", "ugc", None, True, second),
        Change("anchor", home, ABOUT, *words, True, second),
        Change("gained", "https://new.org/", ABOUT, "Example", "", None, False, second),
        Change("lost", "https://shop.co.uk/", ABOUT, "Example", "", None, False, third),
    ]
    assert asked.changes(ABOUT, span, LinkPick("external")).results.items == found[2:]


@pytest.mark.parametrize(("since", "until"), [(0, 1), (0, 2), (1, 2), (-1, 2)])
def test_what_came_and_went_to_a_domain(web: LinkIndex, since: int, until: int) -> None:
    began = DAYS[since] + DAY if since >= 0 else DAYS[0] - DAY
    span = (began, DAYS[until] + DAY)
    asked = LinkHistory(web)
    found = everything(
        lambda **more: asked.changes("example.com", span, is_domain=True, **more).results, 3
    )
    expected = set()
    targets = [target for target in EVERY if target.split("/")[2].endswith("example.com")]
    for target in targets:
        before, behind = (inlinks_at(second, target) for second in span)
        for source in {link.source for link in before | behind}:
            was, now = (
                {link for link in each if link.source == source} for each in (before, behind)
            )
            if was != now:
                what = "gained" if not was else "lost" if not now else "anchor"
                if {link.anchor for link in was} == {link.anchor for link in now}:
                    what = "rel"
                expected.add((what, source, target))
    assert {(item.change, item.source, item.target) for item in found} == expected
    assert len(found) == len(expected)


def test_a_host_of_a_domain(web: LinkIndex) -> None:
    span = (DAYS[0] - DAY, DAYS[0] + DAY)
    found = LinkHistory(web).changes("Docs.example.com", span, is_domain=True).results.items
    assert [(item.change, item.target) for item in found] == [
        ("gained", "https://docs.example.com/")
    ]


def test_a_date_before_the_first_capture_says_so(web: LinkIndex) -> None:
    asked = LinkHistory(web)
    with pytest.raises(NotFound) as error:
        asked.outlinks(ABOUT, DAYS[0] - DAY)
    assert "2026-08-31" in error.value.message
    assert error.value.hint == "stored since 2026-09-01T00:00:00Z"
    found = asked.inlinks(ABOUT, DAYS[0] - DAY)
    assert (found.results.items, found.not_kept) == ([], 0)
    assert found.retention == (None, None)
    with pytest.raises(NotFound, match="capture"):
        asked.outlinks(f"{EXAMPLE}/never", DAYS[0])
    with pytest.raises(NotFound) as error:
        asked.inlinks(f"{ABOUT}s", DAYS[0])
    assert ABOUT in error.value.hint


def test_a_time_that_ends_before_it_begins_is_rejected(web: LinkIndex) -> None:
    with pytest.raises(InvalidRequest, match="is not before"):
        LinkHistory(web).changes(ABOUT, (DAYS[1], DAYS[0]))


# How far back a store remembers


def capture(url: str, second: int, *targets: str) -> NewCapture:
    body = "".join(f'<a href="{target}">{second}</a>' for target in targets).encode()
    note = CaptureNote(
        second, f"{url}{second}", 200, len(body), "text/html", "", None, is_revisit=False
    )
    return NewCapture(url, note, body, parse_stored(url, body, "text/html"))


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LinkIndex]:
    """A store that keeps two versions for 180 days: a page that changed thrice, and an old one."""
    location = str(tmp_path_factory.mktemp("live") / "store")
    with webtable.open(location) as store:
        pages = PageTable.create(store, parse_stored, profile="live")
        index = LinkIndex.create(pages)
        keeper = LinkHook(index)
        pages.hook = keeper
        for number, age in enumerate((30, 20, 10)):
            targets = ("https://to.com/", f"https://to.com/{number}")
            pages.store_captures([capture("https://often.com/", NOW - age * DAY, *targets)])
        for age in (400, 300):
            pages.store_captures([capture("https://long.com/", NOW - age * DAY, "https://to.com/")])
        keeper.drain()
        yield index


def test_a_result_says_how_far_back_it_reaches(live: LinkIndex) -> None:
    asked = LinkHistory(live)
    found = asked.inlinks("https://to.com/", NOW - 15 * DAY)
    assert [item.source for item in found.results.items] == [
        "https://long.com/",
        "https://often.com/",
    ]
    assert found.retention.versions == 2
    assert found.retention.since == pytest.approx(NOW - 180 * DAY, abs=DAY)
    assert found.not_kept == 0
    early = asked.inlinks("https://to.com/", NOW - 25 * DAY)
    assert [item.source for item in early.results.items] == ["https://long.com/"]
    assert early.not_kept == 1
    changed = asked.changes("https://to.com/0", (NOW - 25 * DAY, NOW))
    assert (changed.results.items, changed.not_kept) == ([], 1)


def test_a_date_before_what_is_kept_says_so(live: LinkIndex) -> None:
    asked = LinkHistory(live)
    with pytest.raises(NotFound) as error:
        asked.inlinks("https://to.com/", NOW - 350 * DAY)
    assert error.value.hint.startswith("stored since ")
    since = decode_time(error.value.hint.rpartition(" ")[2])
    assert since == pytest.approx(NOW - 180 * DAY, abs=DAY)
    with pytest.raises(NotFound) as error:
        asked.outlinks("https://often.com/", NOW - 25 * DAY)
    assert error.value.hint == f"stored since {encode_time(NOW - 20 * DAY)}"
    with pytest.raises(NotFound):
        asked.changes("https://to.com/", (NOW - 350 * DAY, NOW - 290 * DAY))


def test_first_seen_is_as_far_back_as_links_are_kept(live: LinkIndex) -> None:
    (item,) = LinkHistory(live).inlinks("https://to.com/1", NOW - 15 * DAY).results.items
    assert (item.first_seen, item.last_seen) == (encode_time(NOW - 20 * DAY),) * 2


def test_words_are_of_the_very_target() -> None:
    text = b"https://a.com/\t\tA\nhttps://a.com/b\t\tB\nhttps://a.com/\tnofollow\tC"
    assert [words.anchor for words in links_to(text, "https://a.com/")] == ["A", "C"]
    assert [words.anchor for words in links_to(text, "https://a.com/b")] == ["B"]
    assert links_to(text, "https://a.co") == ()
    assert links_to(b"", "https://a.com/") == ()
