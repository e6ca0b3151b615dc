"""Redirects: where they lead, over how many hops, in a circle or not, and who links to them."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from webtable.links.cursors import parts_of
from webtable.links.graph import LinkIndex
from webtable.links.known import check_known
from webtable.links.reading import Kind, LinkReader, Source
from webtable.links.schema import uri_of, url_of
from webtable.pages.bounded import Answer, Explained, bounded
from webtable.pages.page import Page
from webtable.pages.queries import Questions

__all__ = ["MAX_HOPS", "Redirect", "Resolved", "ThroughLink", "redirects", "resolved"]

MAX_HOPS = 5
"""How far a chain of redirects is followed."""

_SHOWN_LINKS = 5
_AT_ONCE = 256
_STATUS, _REDIRECT = b"metadata:status_code", b"metadata:redirect"


class ThroughLink(msgspec.Struct, frozen=True):
    """A link that goes through a redirect."""

    source: str
    anchor: str
    rel: str
    internal: bool


class Redirect(msgspec.Struct, frozen=True):
    """A page that leads elsewhere.

    Attributes:
        hops: how many redirects follow each other, at most `MAX_HOPS`.
        end: where the last of them leads; the page that comes again, in a circle.
        status: that of the end; None where it was not crawled.
        chain: the pages from the first target to the end.
        inlinks: how many pages link to this one.
        links: some of those links.
    """

    url: str
    hops: int
    end: str
    status: int | None
    is_loop: bool
    chain: list[str]
    inlinks: int
    links: list[ThroughLink]

    @property
    def linked_from(self) -> str:
        """The first page that links to this one."""
        return self.links[0].source if self.links else ""


class Resolved(msgspec.Struct, frozen=True):
    """How many pages link to one, counted through redirects of at most `MAX_HOPS` hops.

    Attributes:
        inlinks: those that link to it itself.
        redirects: how many pages redirect to it.
        resolved: the pages that link to it or to one of those, each counted once.
    """

    url: str
    inlinks: int
    redirects: int
    resolved: int


class _Hop(msgspec.Struct, frozen=True):
    status: int
    redirect: str


def redirects(
    index: LinkIndex, *, kind: Kind = "all", limit: int = 20, after: str | None = None
) -> Answer[Redirect]:
    """Returns the pages that lead elsewhere, by status, with where to and the links to them."""
    asked = Questions(index.pages).redirects(limit=limit, after=after)
    reader = LinkReader(index, asked.explained)
    items = _described(index, asked.items, reader, kind)
    return Answer(items, asked.next, asked.explained)


def resolved(
    index: LinkIndex,
    url: str,
    *,
    kind: Kind = "all",
    limit: int = 20,
    after: str | None = None,
) -> tuple[Resolved, Answer[Redirect]]:
    """Counts the pages that link to one through redirects; returns these, too. Reads all redirects.

    Raises:
        NotFound: the page is not known.
    """
    explained = Explained(index="webtable_status_idx", is_scan=True)
    reader = LinkReader(index, explained)
    uri = check_known(index, url, reader)
    known = {page.url: page for page in _all_redirects(index, explained)}
    targets = {each: page.redirect for each, page in known.items()}
    leading = [each for each in sorted(targets) if each != url and _leads_to(targets, each, url)]
    streams = [reader.sources(each, kind=kind) for each in (uri, *map(uri_of, leading))]
    merged = heapq.merge(*streams, key=_source)
    total = sum(1 for _ in itertools.groupby(merged, key=_source))
    direct = reader.count(uri, kind)
    behind = [each for each in leading if after is None or each.encode() > parts_of(after, 1)[0]]
    answer = bounded(((each, known[each]) for each in behind), limit, explained)
    items = _described(index, answer.items, reader, kind)
    return Resolved(url, direct, len(leading), total), Answer(items, answer.next, explained)


def _source(source: Source) -> bytes:
    return source.uri


def _all_redirects(index: LinkIndex, explained: Explained) -> Iterator[Page]:
    asked, after = Questions(index.pages), None
    while True:
        answer = asked.redirects(limit=_AT_ONCE, after=after)
        explained.entries += answer.explained.entries
        explained.rows += answer.explained.rows
        yield from answer.items
        if answer.next is None:
            return
        after = answer.next


def _leads_to(targets: Mapping[str, str], url: str, end: str) -> bool:
    for _ in range(MAX_HOPS):
        url = targets.get(url, "")
        if url == end:
            return True
    return False


def _described(
    index: LinkIndex, pages: Sequence[Page], reader: LinkReader, kind: Kind
) -> list[Redirect]:
    uris = [uri_of(page.url) for page in pages]
    chains = _follow(index, pages, reader.explained)
    counts = reader.counts(uris)
    firsts = reader.first_sources(uris, _SHOWN_LINKS) if kind == "all" else []
    items = []
    for at, (chain, status, is_loop) in enumerate(chains):
        sources: Iterable[Source] = firsts[at] if firsts else ()
        if kind != "all":
            sources = reader.sources(uris[at], kind=kind, most=_SHOWN_LINKS)
        links = list(itertools.islice(_through(index, uris[at], sources), _SHOWN_LINKS))
        url, end = pages[at].url, chain[-1]
        items.append(Redirect(url, len(chain), end, status, is_loop, chain, counts[at], links))
    return items


def _through(index: LinkIndex, uri: bytes, sources: Iterable[Source]) -> Iterator[ThroughLink]:
    for source in sources:
        is_internal = index.domains.are_one(uri, source.uri)
        for rel, anchor in source.words:
            yield ThroughLink(url_of(source.uri), anchor, rel, is_internal)


def _follow(
    index: LinkIndex, pages: Sequence[Page], explained: Explained
) -> list[tuple[list[str], int | None, bool]]:
    """Returns the chain of each page, the status of its end, and whether it is a circle."""
    known: dict[str, _Hop | None] = {page.url: _Hop(page.status, page.redirect) for page in pages}
    chains = [[page.redirect] for page in pages]
    for _ in range(MAX_HOPS):
        asked = dict.fromkeys(chain[-1] for chain in chains if chain[-1] not in known)
        if not asked:
            break
        known.update(asked)
        known.update(_hops(index, list(asked), explained))
        for page, chain in zip(pages, chains, strict=True):
            if len(chain) < MAX_HOPS and not _is_circle(page.url, chain):
                hop = known.get(chain[-1])
                if hop is not None and hop.redirect and 300 <= hop.status < 400:
                    chain.append(hop.redirect)
    ends = [known.get(chain[-1]) for chain in chains]
    return [
        (chain, None if end is None else end.status, _is_circle(page.url, chain))
        for page, chain, end in zip(pages, chains, ends, strict=True)
    ]


def _is_circle(url: str, chain: Sequence[str]) -> bool:
    return chain[-1] == url or chain[-1] in chain[:-1]


def _hops(
    index: LinkIndex, urls: Sequence[str], explained: Explained
) -> Iterator[tuple[str, _Hop]]:
    rows = [index.pages.keys.row_key(url) for url in urls]
    explained.rows += len(rows)
    found = index.pages.rows.table.get_many(rows, (_STATUS, _REDIRECT))
    for url, row in zip(urls, found, strict=True):
        if row is not None:
            values = row.values()
            yield url, _Hop(int(values.get(_STATUS, b"0")), values.get(_REDIRECT, b"").decode())
