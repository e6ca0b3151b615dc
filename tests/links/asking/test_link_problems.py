"""Reports about links, against the captures themselves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import webtable
from tests.links.asking.test_link_queries import ABOUT, KINDS, NOW, everything, is_kind
from tests.links.web import DAYS, EXAMPLE, Seen, captures, inlinks_at, links_at, status_at
from webtable.errors import NotFound
from webtable.links.asking.link_problems import BrokenLink, LinkReports
from webtable.links.asking.link_reader import Kind, LinkPick
from webtable.links.asking.redirects import (
    MAX_HOPS,
    Redirect,
    Resolved,
    ThroughLink,
    redirects,
    resolved,
)
from webtable.links.link_index import LinkIndex
from webtable.links.updating.hook import LinkHook
from webtable.pages.page import NewCapture, PageInfo
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_cells import encode_time
from webtable.pages.storing.capture_parser import parse_stored
from webtable.pages.storing.page_versions import CaptureNote

URLS = {capture.url for capture in captures()}
GOOD = {url for url in URLS if status_at(NOW, url) == 200} - {f"{EXAMPLE}/file"}


@pytest.mark.parametrize("kind", KINDS)
def test_broken_links_are_all_those_to_errors(web: LinkIndex, kind: Kind) -> None:
    found = everything(lambda **more: LinkReports(web).broken(LinkPick(kind), **more), 1)
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
def test_orphans_are_good_pages_without_inlinks(web: LinkIndex, kind: Kind) -> None:
    found = everything(lambda **more: LinkReports(web).orphans(LinkPick(kind), **more), 2)
    linked = {link.target for link in links_at(NOW) if is_kind(link, kind)}
    assert sorted(page.url for page in found) == sorted(GOOD - linked)
    assert f"{EXAMPLE}/orphan" in {page.url for page in found}
    assert LinkReports(web).orphans(LinkPick(kind)).cost.is_scan == (kind != "all")


@pytest.mark.parametrize("kind", KINDS)
def test_dead_ends_are_good_pages_without_links(web: LinkIndex, kind: Kind) -> None:
    found = everything(lambda **more: LinkReports(web).dead_ends(LinkPick(kind), **more), 2)
    linking = {link.source for link in links_at(NOW) if is_kind(link, kind)}
    assert sorted(page.url for page in found) == sorted(GOOD - linking)


def test_redirects_are_followed_to_their_ends(web: LinkIndex) -> None:
    found = {item.url: item for item in everything(lambda **more: redirects(web, **more), 1)}
    old, older, one, two = (f"{EXAMPLE}/{name}" for name in ("old", "older", "one", "two"))
    through = ThroughLink(f"{EXAMPLE}/", "Old", "", True)
    chain = [older, ABOUT]
    assert found.pop(old) == Redirect(old, 2, ABOUT, 200, False, "ok", chain, 1, [through])
    assert found.pop(older).links == [ThroughLink(f"{EXAMPLE}/orphan", "About", "", True)]
    assert found.pop(one) == Redirect(one, 2, one, 301, True, "loop", [two, one], 0, [])
    assert found.pop(two).is_loop
    assert not found
    external = redirects(web, LinkPick("external")).items
    assert [item.links for item in external] == [[]] * 4


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LinkIndex]:
    """Pages that redirect: in chains that end in every way."""
    leads = {f"a{n}": f"a{n + 1}" for n in range(4)}
    leads |= {"b0": "b1", "b1": "b0", "c0": "b0", "d0": "d1", "e0": "e1", "f0": "f0"}
    leads |= {f"g{n:02}": f"g{n + 1:02}" for n in range(MAX_HOPS + 1)}
    answers = {"a4": 200, "d1": 404}
    with webtable.open(str(tmp_path_factory.mktemp("moved") / "store")) as store:
        pages = PageTable.create(store, parse_stored, profile="archive")
        pages.hook = keeper = LinkHook(LinkIndex.create(pages))
        pages.store_captures([_redirect(name, leads[name]) for name in leads])
        pages.store_captures([_redirect(name, "", status) for name, status in answers.items()])
        keeper.drain()
        yield LinkIndex.open(pages)


def _redirect(name: str, target: str, status: int = 301) -> NewCapture:
    where = f"{EXAMPLE}/{target}" if target else ""
    note = CaptureNote(DAYS[0], f"sha1:{name}", status, 1, "text/html", where, None, False)
    return NewCapture(f"{EXAMPLE}/{name}", note, name.encode(), PageInfo())


@pytest.mark.parametrize("limit", [1, 3, 20, 100])
def test_chains_of_redirects_end_the_same_whatever_the_limit(moved: LinkIndex, limit: int) -> None:
    every = everything(lambda **more: redirects(moved, **more), limit)
    found = {item.url.rpartition("/")[2]: item for item in every}
    assert len(found) == len(every) == 4 + 6 + MAX_HOPS + 1
    shown = {name: (item.hops, item.status, item.outcome) for name, item in found.items()}
    assert [shown[f"a{n}"] for n in range(4)] == [(4 - n, 200, "ok") for n in range(4)]
    assert found["a0"].chain == [f"{EXAMPLE}/a{n}" for n in range(1, 5)]
    assert shown["b0"] == shown["b1"] == (2, 301, "loop")
    assert found["b0"].chain == [f"{EXAMPLE}/b1", f"{EXAMPLE}/b0"]
    assert shown["c0"] == (3, 301, "loop")
    assert shown["f0"] == (1, 301, "loop")
    assert shown["d0"] == (1, 404, "broken")
    assert shown["e0"] == (1, None, "not-crawled")
    assert shown["g00"] == (MAX_HOPS, 301, "too-long")
    assert shown["g01"] == (MAX_HOPS, None, "not-crawled")
    assert [name for name in found if found[name].is_loop] == ["b0", "b1", "c0", "f0"]


def test_links_are_counted_through_redirects(web: LinkIndex) -> None:
    count, answer = resolved(web, ABOUT)
    linking = {link.source for link in inlinks_at(NOW, ABOUT)}
    assert count == Resolved(ABOUT, len(linking), 2, len(linking | {f"{EXAMPLE}/orphan"}))
    assert [item.url for item in answer.items] == [f"{EXAMPLE}/old", f"{EXAMPLE}/older"]
    first = resolved(web, ABOUT, limit=1)[1]
    rest = resolved(web, ABOUT, after=first.next)[1]
    assert [*first.items, *rest.items] == answer.items
    none, _ = resolved(web, ABOUT, LinkPick("external"))
    assert none.resolved == len({link for link in linking if "example.com" not in link})
    with pytest.raises(NotFound):
        resolved(web, "https://nowhere.example/")
