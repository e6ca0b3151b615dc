"""Redirects: their targets, the number of hops, how a chain ends, and the links to them."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from webtable.links.asking.find_or_suggest import find_page
from webtable.links.asking.link_reader import ALL_LINKS, Kind, LinkPick, LinkReader, Source
from webtable.links.link_index import LinkIndex
from webtable.links.schema import uri_of, url_of
from webtable.pages.asking.paged_results import QueryCost, ResultPage, bounded
from webtable.pages.asking.queries import PageQueries
from webtable.pages.columns import REDIRECT, STATUS
from webtable.pages.page import Page
from webtable.pages.urls import typed_site
from webtable.result_base import Value

__all__ = [
    "MAX_HOPS",
    "RESOLVED_HOPS",
    "Outcome",
    "Redirect",
    "Resolved",
    "ThroughLink",
    "redirects",
    "resolved",
]

MAX_HOPS = 20
"""The longest chain of redirects that is followed; browsers have the same limit."""
RESOLVED_HOPS = 5
"""A link counts for a page through at most this number of redirects: search engines follow few."""

Outcome: TypeAlias = Literal["ok", "broken", "not-crawled", "loop", "too-long"]
"""How a chain ends: at a page with a status from 200 to 299; at a page with another status that is
no redirect; at a page that was not crawled; at a page that is in the chain already; or not within
20 redirects (`MAX_HOPS`)."""

_SHOWN_LINKS = 5
_AT_ONCE = 256


class ThroughLink(Value, msgspec.Struct, frozen=True):
    """A link that goes through a redirect.

    Attributes:
        source: the page that has the link.
        anchor: the text of the link.
        rel: its relation, such as `nofollow`.
        internal: whether both pages are of one registered domain.
    """

    source: str
    anchor: str
    rel: str
    internal: bool


class Redirect(Value, msgspec.Struct, frozen=True):
    """A page that redirects.

    Attributes:
        url: the page.
        hops: how many redirects follow each other, at most 20.
        end: where the last of them leads; in a loop, the page that comes again.
        status: that of the end; None where it was not crawled.
        is_loop: whether the chain comes back to a page that it has passed.
        outcome: how the chain ends.
        chain: the pages from the first target to the end.
        inlinks: how many pages link to this one.
        links: some of those links.
    """

    url: str
    hops: int
    end: str
    status: int | None
    is_loop: bool
    outcome: Outcome
    chain: list[str]
    inlinks: int
    links: list[ThroughLink]

    @property
    def linked_from(self) -> str:
        """The first page that links to this one."""
        return self.links[0].source if self.links else ""


class Resolved(Value, msgspec.Struct, frozen=True):
    """How many pages link to one, counted through redirects of at most five hops.

    Attributes:
        url: the page.
        inlinks: those that link to it itself.
        redirects: how many pages redirect to it.
        resolved: how many pages link to it or to one of its redirects, each counted once.
    """

    url: str
    inlinks: int
    redirects: int
    resolved: int


class _Hop(msgspec.Struct, frozen=True):
    status: int
    redirect: str

    @property
    def is_redirect(self) -> bool:
        return bool(self.redirect) and 300 <= self.status <= 399


def redirects(
    index: LinkIndex, picked: LinkPick = ALL_LINKS, *, limit: int = 20, after: str | None = None
) -> ResultPage[Redirect]:
    """Returns the pages that redirect, by status, with their targets and the links to them."""
    found = PageQueries(index.pages).redirects(domain=picked.domain, limit=limit, after=after)
    reader = LinkReader(index, found.cost)
    items = _described(index, found.items, reader, picked.kind)
    return ResultPage(items, found.next, found.cost)


def resolved(
    index: LinkIndex,
    url: str,
    picked: LinkPick = ALL_LINKS,
    *,
    limit: int = 20,
    after: str | None = None,
) -> tuple[Resolved, ResultPage[Redirect]]:
    """Counts the pages that link to a page through redirects; returns the redirects, too.

    Reads all redirects of the store.

    Raises:
        NotFound: the page is not in the index.
    """
    kind, domain = picked
    cost = QueryCost(index="webtable_status_idx", is_scan=True)
    reader = LinkReader(index, cost)
    uri = find_page(index, url, reader)
    pages = {page.url: page for page in _all_redirects(index, cost)}
    targets = {each: page.redirect for each, page in pages.items()}
    leading = [each for each in sorted(targets) if each != url and _leads_to(targets, each, url)]
    streams = [reader.sources(each, LinkPick(kind)) for each in (uri, *map(uri_of, leading))]
    merged = heapq.merge(*streams, key=_source)
    total = sum(1 for _ in itertools.groupby(merged, key=_source))
    direct = reader.count(uri, kind)
    site = typed_site(domain) if domain else None
    behind = [
        each
        for each in leading
        if (after is None or each > after) and (site is None or site.has(each))
    ]
    results = bounded(((each, pages[each]) for each in behind), limit, cost)
    items = _described(index, results.items, reader, kind)
    return Resolved(url, direct, len(leading), total), ResultPage(items, results.next, cost)


def _source(source: Source) -> bytes:
    return source.uri


def _all_redirects(index: LinkIndex, cost: QueryCost) -> Iterator[Page]:
    queries, after = PageQueries(index.pages), None
    while True:
        results = queries.redirects(limit=_AT_ONCE, after=after)
        cost.entries += results.cost.entries
        cost.rows += results.cost.rows
        yield from results.items
        if results.next is None:
            return
        after = results.next


def _leads_to(targets: Mapping[str, str], url: str, end: str) -> bool:
    for _ in range(RESOLVED_HOPS):
        url = targets.get(url, "")
        if url == end:
            return True
    return False


def _described(
    index: LinkIndex, pages: Sequence[Page], reader: LinkReader, kind: Kind
) -> list[Redirect]:
    uris = [uri_of(page.url) for page in pages]
    chains = _follow(index, pages, reader.cost)
    counts = reader.counts(uris)
    firsts = reader.first_sources(uris, _SHOWN_LINKS) if kind == "all" else []
    items = []
    for at, (chain, status, outcome) in enumerate(chains):
        sources: Iterable[Source] = firsts[at] if firsts else ()
        if kind != "all":
            sources = reader.sources(uris[at], LinkPick(kind), most=_SHOWN_LINKS)
        links = list(itertools.islice(_through(index, uris[at], sources), _SHOWN_LINKS))
        items.append(
            Redirect(
                url=pages[at].url,
                hops=len(chain),
                end=chain[-1],
                status=status,
                is_loop=outcome == "loop",
                outcome=outcome,
                chain=chain,
                inlinks=counts[at],
                links=links,
            )
        )
    return items


def _through(index: LinkIndex, uri: bytes, sources: Iterable[Source]) -> Iterator[ThroughLink]:
    for source in sources:
        is_internal = index.domains.share_domain(uri, source.uri)
        for rel, anchor in source.links:
            yield ThroughLink(url_of(source.uri), anchor, rel, is_internal)


class _Chain(NamedTuple):
    pages: list[str]
    status: int | None
    outcome: Outcome


def _follow(index: LinkIndex, pages: Sequence[Page], cost: QueryCost) -> list[_Chain]:
    """Follows the redirect of each page; reads the next pages of all chains together."""
    hops: dict[str, _Hop | None] = {page.url: _Hop(page.status, page.redirect) for page in pages}
    while True:
        chains = [_chain(page.url, hops) for page in pages]
        unread = dict.fromkeys(each for each in chains if isinstance(each, str))
        if not unread:
            return [each for each in chains if isinstance(each, _Chain)]
        hops.update(dict.fromkeys(unread))
        hops.update(_hops(index, list(unread), cost))


def _chain(url: str, hops: Mapping[str, _Hop | None]) -> _Chain | str:
    """Follows a redirect through the pages in `hops`; returns the first URL that is missing."""
    chain: list[str] = []
    passed = {url}
    hop = hops[url]
    while hop is not None and hop.is_redirect:
        if len(chain) == MAX_HOPS:
            return _Chain(chain, hop.status, "too-long")
        url = hop.redirect
        chain.append(url)
        if url not in hops:
            return url
        hop = hops[url]
        if url in passed:
            return _Chain(chain, None if hop is None else hop.status, "loop")
        passed.add(url)
    if hop is None:
        return _Chain(chain, None, "not-crawled")
    return _Chain(chain, hop.status, "ok" if 200 <= hop.status <= 299 else "broken")


def _hops(index: LinkIndex, urls: Sequence[str], cost: QueryCost) -> Iterator[tuple[str, _Hop]]:
    rows = [index.pages.keys.row_key(url) for url in urls]
    cost.rows += len(rows)
    found = index.pages.rows.table.get_many(rows, (STATUS, REDIRECT))
    for url, row in zip(urls, found, strict=True):
        if row is not None:
            values = row.values()
            yield url, _Hop(int(values.get(STATUS, b"0")), values.get(REDIRECT, b"").decode())
