"""Reports about links, against the captures themselves."""

from __future__ import annotations

import pytest

from tests.links.test_queries import ABOUT, KINDS, NOW, everything, is_kind
from tests.links.web import DAYS, EXAMPLE, Seen, captures, inlinks_at, links_at, status_at
from webtable.errors import NotFound
from webtable.links.graph import LinkIndex
from webtable.links.reading import Kind
from webtable.links.redirects import Redirect, Resolved, ThroughLink, redirects, resolved
from webtable.links.reports import BrokenLink, LinkReports
from webtable.pages.cells import encode_time

URLS = {capture.url for capture in captures()}
GOOD = {url for url in URLS if status_at(NOW, url) == 200} - {f"{EXAMPLE}/file"}


@pytest.mark.parametrize("kind", KINDS)
def test_broken_links_are_all_those_to_errors(web: LinkIndex, kind: Kind) -> None:
    found = everything(lambda **more: LinkReports(web).broken(kind=kind, **more), 1)
    broken = {
        link
        for url in URLS
        for link in inlinks_at(NOW, url)
        if (status_at(NOW, url) or 0) >= 400 and is_kind(link, kind)
    }
    assert {Seen(item.source, item.target, item.rel, item.anchor) for item in found} == broken
    assert len(found) == len(broken)


def test_a_broken_link_says_since_when(web: LinkIndex) -> None:
    assert LinkReports(web).broken().items == [
        BrokenLink(f"{EXAMPLE}/gone", 410, encode_time(DAYS[1]), f"{EXAMPLE}/", "Gone", "", True)
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_orphans_are_good_pages_that_nobody_links_to(web: LinkIndex, kind: Kind) -> None:
    found = everything(lambda **more: LinkReports(web).orphans(kind=kind, **more), 2)
    linked = {link.target for link in links_at(NOW) if is_kind(link, kind)}
    assert sorted(page.url for page in found) == sorted(GOOD - linked)
    assert f"{EXAMPLE}/orphan" in {page.url for page in found}
    assert LinkReports(web).orphans(kind=kind).explained.is_scan == (kind != "all")


@pytest.mark.parametrize("kind", KINDS)
def test_dead_ends_are_good_pages_without_links(web: LinkIndex, kind: Kind) -> None:
    found = everything(lambda **more: LinkReports(web).dead_ends(kind=kind, **more), 2)
    linking = {link.source for link in links_at(NOW) if is_kind(link, kind)}
    assert sorted(page.url for page in found) == sorted(GOOD - linking)


def test_redirects_are_followed_to_their_ends(web: LinkIndex) -> None:
    found = {item.url: item for item in everything(lambda **more: redirects(web, **more), 1)}
    old, older, one, two = (f"{EXAMPLE}/{name}" for name in ("old", "older", "one", "two"))
    through = ThroughLink(f"{EXAMPLE}/", "Old", "", True)
    assert found.pop(old) == Redirect(old, 2, ABOUT, 200, False, [older, ABOUT], 1, [through])
    assert found.pop(older).links == [ThroughLink(f"{EXAMPLE}/orphan", "About", "", True)]
    assert found.pop(one) == Redirect(one, 2, one, 301, True, [two, one], 0, [])
    assert found.pop(two).is_loop
    assert not found
    external = redirects(web, kind="external").items
    assert [item.links for item in external] == [[]] * 4


def test_links_are_counted_through_redirects(web: LinkIndex) -> None:
    count, answer = resolved(web, ABOUT)
    linking = {link.source for link in inlinks_at(NOW, ABOUT)}
    assert count == Resolved(ABOUT, len(linking), 2, len(linking | {f"{EXAMPLE}/orphan"}))
    assert [item.url for item in answer.items] == [f"{EXAMPLE}/old", f"{EXAMPLE}/older"]
    first = resolved(web, ABOUT, limit=1)[1]
    rest = resolved(web, ABOUT, after=first.next)[1]
    assert [*first.items, *rest.items] == answer.items
    none, _ = resolved(web, ABOUT, kind="external")
    assert none.resolved == len({link for link in linking if "example.com" not in link})
    with pytest.raises(NotFound):
        resolved(web, "https://nowhere.example/")
