"""Queries about links as they are now, against the captures themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from tests.links.web import DAYS, EXAMPLE, Seen, inlinks_at, links_at, seen_at, status_at
from webtable.errors import InvalidRequest, NotFound
from webtable.links.asking.find_or_suggest import find_domain
from webtable.links.asking.link_problems import LinkReports
from webtable.links.asking.link_queries import LinkQueries, LinkTo, Ranked
from webtable.links.asking.link_reader import Kind, LinkPick, LinkReader
from webtable.links.asking.links_api import Links
from webtable.links.link_index import LinkIndex
from webtable.links.schema import INLINK, shard_of, shard_row, uri_of
from webtable.pages.asking.paged_results import QueryCost, ResultPage, Results
from webtable.store.mutation import Put

T = TypeVar("T")
NOW = DAYS[-1]
ABOUT = f"{EXAMPLE}/about"
KINDS: tuple[Kind, ...] = ("all", "internal", "external")


def everything(ask: Callable[..., ResultPage[T]], limit: int) -> list[T]:
    """Asks on and on, so many items at a time."""
    items: list[T] = []
    after = None
    while True:
        answer = ask(limit=limit, after=after)
        assert len(answer.items) <= limit
        assert answer.is_truncated == (answer.next is not None)
        items += answer.items
        if answer.next is None:
            return items
        assert len(answer.items) == limit
        after = answer.next


def domain_of(url: str) -> str:
    host = url.split("/")[2].partition(":")[0]
    return host if host in ("co.uk", "shop.co.uk") else ".".join(host.split(".")[-2:])


def is_kind(link: Seen, kind: Kind) -> bool:
    is_internal = domain_of(link.source) == domain_of(link.target)
    return kind == "all" or is_internal == (kind == "internal")


@pytest.mark.parametrize("kind", KINDS)
def test_links_to_every_page_are_those_of_the_newest_captures(web: LinkIndex, kind: Kind) -> None:
    asked = LinkQueries(web)
    for target in {link.target for link in links_at(NOW)}:
        found = everything(lambda t=target, **more: asked.inlinks(t, LinkPick(kind), **more), 2)
        links = [Seen(item.source, target, item.rel, item.anchor) for item in found]
        assert len(links) == len(set(links))
        assert set(links) == {link for link in inlinks_at(NOW, target) if is_kind(link, kind)}
        for item, link in zip(found, links, strict=True):
            assert item.internal == is_kind(link, "internal")
            assert (item.first_seen, item.last_seen) == seen_at(link)


def test_an_item_has_the_words_of_one_link(web: LinkIndex) -> None:
    answer = LinkQueries(web).inlinks(ABOUT, LinkPick("internal"))
    assert answer.items[-3:] == [
        LinkTo(f"{EXAMPLE}/", "About", "", True, "2026-09-01T00:00:00Z", "2026-09-11T00:00:00Z"),
        LinkTo(
            f"{EXAMPLE}/", "more", "nofollow", True, "2026-09-01T00:00:00Z", "2026-09-11T00:00:00Z"
        ),
        LinkTo(
            "http://example.com:8080/",
            "secure",
            "",
            True,
            "2026-09-01T00:00:00Z",
            "2026-09-01T00:00:00Z",
        ),
    ]
    assert not answer.cost.is_scan


@pytest.mark.parametrize("kind", KINDS)
def test_links_on_every_page(web: LinkIndex, kind: Kind) -> None:
    asked = LinkQueries(web)
    for source in {link.source for link in links_at(NOW)}:
        found = everything(lambda s=source, **more: asked.outlinks(s, LinkPick(kind), **more), 2)
        expected = [link for link in links_at(NOW) if link.source == source and is_kind(link, kind)]
        assert [(item.target, item.rel, item.anchor) for item in found] == [
            (link.target, link.rel, link.anchor) for link in expected
        ]
        assert [item.internal for item in found] == [is_kind(link, "internal") for link in expected]
        assert [item.status for item in found] == [status_at(NOW, item.target) for item in found]


def test_a_page_with_an_error_status_has_no_links(web: LinkIndex) -> None:
    assert LinkQueries(web).outlinks("https://shop.co.uk/").items == []
    assert LinkQueries(web).outlinks(f"{EXAMPLE}/never").items == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_most_linked_come_first(web: LinkIndex, kind: Kind) -> None:
    counts = Counter(
        target
        for _, target in {
            (each.source, each.target) for each in links_at(NOW) if is_kind(each, kind)
        }
    )
    asked = LinkQueries(web)
    found = everything(lambda **more: asked.top(kind=kind, **more), 3)
    assert {item.url: item.inlinks for item in found if item.inlinks or kind != "all"} == counts
    assert [(-item.inlinks, uri_of(item.url)) for item in found] == sorted(
        (-item.inlinks, uri_of(item.url)) for item in found
    )
    assert len(found) == len({item.url for item in found})
    assert (f"{EXAMPLE}/orphan" in {item.url for item in found}) == (kind == "all")


def test_the_most_linked_of_a_domain_and_of_a_host(web: LinkIndex) -> None:
    asked = LinkQueries(web)
    found = everything(lambda **more: asked.top("example.com", **more), 4)
    assert found[0] == Ranked(ABOUT, 7)
    assert {domain_of(item.url) for item in found} == {"example.com"}
    assert asked.top("docs.example.com").items == [Ranked("https://docs.example.com/", 1)]
    assert asked.top("docs.example.com").cost.entries < asked.top("example.com").cost.entries
    assert asked.top("example.com", limit=1).is_truncated
    external = asked.top("example.com", kind="external", limit=2).items
    assert external == [Ranked(ABOUT, 4), Ranked(f"{EXAMPLE}/never", 1)]


@pytest.mark.parametrize(
    "typed", ["Example.COM", "example.com/", "https://example.com", " example.com"]
)
def test_a_domain_may_be_typed_in_many_ways(web: LinkIndex, typed: str) -> None:
    assert LinkQueries(web).top(typed, limit=1).items == [Ranked(ABOUT, 7)]


@pytest.mark.parametrize("typed", ["", "a b", "example.com/about", "example.com:x", "ftp://a.b"])
def test_what_is_no_domain_is_rejected(web: LinkIndex, typed: str) -> None:
    with pytest.raises(InvalidRequest, match="is not a domain"):
        find_domain(web, typed)


def test_domains_have_the_pages_that_are_crawled_or_linked_to(web: LinkIndex) -> None:
    found = everything(LinkQueries(web).domains, 2)
    known = {link.target for link in links_at(NOW)}
    known |= {
        *(f"{EXAMPLE}/{name}" for name in ("", "gone", "old", "older", "one", "two", "orphan")),
        *("http://example.com:8080/", "https://docs.example.com/", "https://example2.com/"),
        *(
            "https://example-a.com/",
            "https://other.org/",
            "https://shop.co.uk/",
            "https://new.org/",
        ),
        "https://co.uk/shops",
    }
    counts = Counter(map(domain_of, known))
    assert {item.domain: item.pages for item in found} == counts
    assert len(found) == len(counts)


def test_words_are_counted_by_page(web: LinkIndex) -> None:
    asked = LinkQueries(web)
    found = everything(lambda **more: asked.anchors(ABOUT, **more)[0], 2)
    pairs = {(link.source, link.anchor) for link in inlinks_at(NOW, ABOUT)}
    counts = Counter(anchor for _, anchor in pairs)
    assert [(item.anchor, item.pages) for item in found] == sorted(
        counts.items(), key=lambda pair: (-pair[1], pair[0])
    )
    some, is_all = asked.anchors(ABOUT, sources=2)
    assert not is_all
    assert sum(item.pages for item in some.items) < sum(counts.values())
    assert asked.anchors(ABOUT, sources=len(pairs) + 1)[1]
    assert asked.anchors(ABOUT, LinkPick("internal"))[0].items != asked.anchors(ABOUT)[0].items


def test_pages_that_link_to_one(web: LinkIndex) -> None:
    found = everything(lambda **more: LinkReports(web).linking_pages(ABOUT, **more), 2)
    assert {page.url for page in found} == {link.source for link in inlinks_at(NOW, ABOUT)}
    assert LinkReports(web).linking_pages("https://nowhere.example/").items == []


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("https://example.com/aboutt", ABOUT),
        ("https://example.com/about/", ABOUT),
        ("http://example.com/about", ABOUT),
        ("https://www.example2.com/", "https://example2.com/"),
        ("https://other.org/missing", "https://other.org/"),
    ],
)
def test_an_unknown_page_is_named_with_those_near_to_it(
    web: LinkIndex, typed: str, near: str
) -> None:
    asked = LinkQueries(web)
    asks: list[Callable[[str], Any]] = [asked.inlinks, asked.outlinks, asked.anchors]
    for ask in asks:
        with pytest.raises(NotFound) as error:
            ask(typed)
        assert near in error.value.hint
        assert typed in error.value.message


@pytest.mark.parametrize("kind", ["all", "internal", "external"])
def test_every_list_of_an_unknown_domain_is_empty(web: LinkIndex, kind: Kind) -> None:
    links, unknown = Links(web.pages), "example3.com"
    found: list[Results[Any]] = [
        links.top(domain=unknown, kind=kind),
        links.broken(domain=unknown, kind=kind),
        links.orphans(domain=unknown, kind=kind),
        links.dead_ends(domain=unknown, kind=kind),
        links.redirects(domain=unknown, kind=kind),
        links.to(ABOUT, domain=unknown, kind=kind),
        links.on(ABOUT, domain=unknown, kind=kind),
        links.anchors(ABOUT, domain=unknown, kind=kind),
        links.linking_pages(ABOUT, domain=unknown),
    ]
    assert [list(each) for each in found] == [[]] * len(found)
    assert "example2.com" in links.near_domains(unknown)


def test_changes_of_an_unknown_domain_are_an_error_with_similar_domains(web: LinkIndex) -> None:
    with pytest.raises(NotFound) as error:
        Links(web.pages).changes("example3.com", "2020-01-01").page()
    assert "example2.com" in error.value.hint


@pytest.mark.parametrize("after", ["", "x", "com.example/", "1\tx\ty", "\u20ac"])
def test_a_cursor_of_another_query_is_rejected(web: LinkIndex, after: str) -> None:
    with pytest.raises(InvalidRequest, match="is not a cursor"):
        LinkQueries(web).inlinks(ABOUT, after=after)


def test_a_page_with_very_many_links_to_it_is_read_in_pieces(web: LinkIndex) -> None:
    """The cells are those of a page that was never stored; with sixteen shards they are spread."""
    target = b"com.hub/"
    sources = [b"com.site%03d/%d" % (number % 97, number) for number in range(3_000)]
    sources += [b"com.hub/%d" % number for number in range(20)] + [b"com.hub:http/", b"com.hub.a/"]
    with web.table.batch() as batch:
        for number, source in enumerate(sources):
            row = shard_row(b"p:", target, shard_of(source, web.shards))
            state = b"-" if number % 10 == 9 and number < 3_000 else b"+\tword"
            batch.add(Put(row, {INLINK + source: state}))
    live = sorted(
        source for number, source in enumerate(sources) if number >= 3_000 or number % 10 != 9
    )

    def read(most: int, **more: Any) -> tuple[list[bytes], int]:
        cost = QueryCost()
        found = LinkReader(web, cost).sources(target, most=most, **more)
        return [next(found).uri for _ in range(most)], cost.entries

    for start in (b"", live[1_000]):
        shown, entries = read(21, start=start)
        assert shown == [source for source in live if source >= start][:21]
        assert entries < 200
    inside = [
        source for source in live if source.startswith((b"com.hub.", b"com.hub/", b"com.hub:"))
    ]
    assert read(len(inside), picked=LinkPick("internal"))[0] == inside
    outside = [source for source in live if source not in inside]
    assert read(30, picked=LinkPick("external"))[0] == outside[:30]
    cost = QueryCost()
    assert [each.uri for each in LinkReader(web, cost).sources(target)] == live
    gone = LinkReader(web, cost).sources(target, with_gone=True)
    assert [each.uri for each in gone] == sorted(sources)
