"""Queries of the link index: the most linked pages, the links to a page, the links on a page.

Every query returns a page of results with a cursor and its cost.
`webtable.links.asking.link_history` has the queries about earlier times,
`webtable.links.asking.link_problems` those about a whole site.
"""

from __future__ import annotations

import itertools
from bisect import insort
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from webtable.errors import InvalidRequest
from webtable.index.indexed_table import Found, Hit
from webtable.links import schema
from webtable.links.asking.cursors import (
    cursor_of,
    link_place,
    number_of,
    parts_of,
)
from webtable.links.asking.find_or_suggest import find_page, parse_domain
from webtable.links.asking.link_reader import ALL_LINKS, Kind, LinkPick, LinkReader, Source
from webtable.links.asking.page_links_at_time import Past
from webtable.links.batching import batches
from webtable.links.cell_encoding import unpacked_links
from webtable.links.link_index import LinkIndex
from webtable.links.schema import page_row, uri_of, url_of
from webtable.pages.asking.paged_results import QueryCost, ResultPage, bounded
from webtable.pages.keys import reversed_host
from webtable.pages.storing.capture_cells import encode_time
from webtable.pages.urls import Site, typed_site
from webtable.result_base import Value
from webtable.store.scan import Scan

__all__ = [
    "ANCHOR_SOURCES",
    "Anchor",
    "DomainPages",
    "LinkFrom",
    "LinkQueries",
    "LinkTo",
    "Ranked",
]


ANCHOR_SOURCES = 200
"""How many linking pages `anchors` reads by default: that takes some milliseconds."""


class Ranked(Value, msgspec.Struct, frozen=True):
    """A page, and how many others link to it.

    Attributes:
        url: the page; it need not be crawled.
        inlinks: how many pages link to it.
    """

    url: str
    inlinks: int


class LinkTo(Value, msgspec.Struct, frozen=True):
    """A link to a page.

    Attributes:
        source: the page that has the link.
        anchor: the text of the link.
        rel: its relation, such as `nofollow`.
        internal: whether both pages are of one registered domain.
        first_seen, last_seen: the first and the last capture of the source that had such a link.
    """

    source: str
    anchor: str
    rel: str
    internal: bool
    first_seen: str | None
    last_seen: str | None


class LinkFrom(Value, msgspec.Struct, frozen=True):
    """A link on a page.

    Attributes:
        target: the page that it leads to.
        anchor: the text of the link.
        rel: its relation, such as `nofollow`.
        internal: whether both pages are of one registered domain.
        status: of the target's newest capture; None where it was not crawled.
    """

    target: str
    anchor: str
    rel: str
    internal: bool
    status: int | None


class DomainPages(Value, msgspec.Struct, frozen=True):
    """A domain, and how many of its pages are crawled or linked to.

    Attributes:
        domain: a registered domain, such as `example.com`.
        pages: how many.
    """

    domain: str
    pages: int


class Anchor(Value, msgspec.Struct, frozen=True):
    """An anchor text, and how many pages use it to link to a page.

    Attributes:
        anchor: the text.
        pages: how many.
    """

    anchor: str
    pages: int


class LinkQueries:
    """Queries about the current links.

    `kind` selects links from inside the domain of a page, or from outside. The domain of `picked`
    is that of the page at the other end of a link. A page that is not in the index is `NotFound`.
    """

    def __init__(self, index: LinkIndex) -> None:
        self._index = index

    # Ranks

    def top(
        self, domain: str = "", *, kind: Kind = "all", limit: int = 20, after: str | None = None
    ) -> ResultPage[Ranked]:
        """Returns the most linked pages, the page with most links first.

        With a kind of links it counts the links of many pages to rank them, and leaves out pages
        without such links.
        """
        if kind != "all":
            return self._top_of_kind(domain, kind, limit, after)
        ranks, skip = self._ranks(domain, after, limit)

        def found() -> Iterator[tuple[str, Ranked]]:
            for hit in ranks:
                yield cursor_of(hit.key[skip:]), Ranked(url_of(hit.row[2:]), _count(hit))

        results = bounded(found(), limit, QueryCost(index=ranks.index.name))
        results.cost.entries = ranks.counts.entries + ranks.counts.rows
        return results

    def _ranks(self, domain: str, after: str | None, limit: int | None) -> tuple[Found, int]:
        """Returns the ranks behind a cursor, and what to leave away of their keys for a cursor."""
        name, prefix = schema.TOP_RANKS, b"t:"
        site: Site | None = None
        if domain:
            site, registered = parse_domain(self._index, domain)
            name, prefix = schema.DOMAIN_RANKS, b"d:%b:" % registered
            if site == (reversed_host(registered.decode()), ""):
                site = None
        start = b""
        if after is not None:
            start = prefix + parts_of(after, 1)[0] + b"\0"
        most = None if limit is None else limit + 1
        scan = Scan(prefix=prefix, start=start, limit=most, batch_rows=None if site else most)

        def is_wanted(hit: Hit) -> bool:
            return site is None or site.has(url_of(hit.row[2:]))

        found = self._index.rows.find(name, scan, where=is_wanted if site else None)
        return found, len(prefix)

    def _top_of_kind(
        self, domain: str, kind: Kind, limit: int, after: str | None
    ) -> ResultPage[Ranked]:
        """Counts the links of a kind, in the order of ranks, until no later page can have more."""
        ranks, _ = self._ranks(domain, None, None)
        cost = QueryCost(index=ranks.index.name, is_scan=True)
        reader = LinkReader(self._index, cost)
        behind = (1, b"")
        if after is not None:
            number, last = parts_of(after, 2)
            behind = -number_of(number), last
        best: list[tuple[int, bytes]] = []
        for hit in ranks:
            uri, total = hit.row[2:], _count(hit)
            if not total or (len(best) > limit and -best[limit][0] > total):
                break
            rank = -reader.count(uri, kind), uri
            if rank[0] and (after is None or rank > behind):
                insort(best, rank)
                del best[limit + 1 :]
        cost.entries += ranks.counts.entries + ranks.counts.rows
        found = ((cursor_of(b"%d" % -n, uri), Ranked(url_of(uri), -n)) for n, uri in best)
        return bounded(found, limit, cost)

    def domains(self, *, limit: int = 20, after: str | None = None) -> ResultPage[DomainPages]:
        """Returns the domains in the order of their reversed names, with their numbers of pages.

        Domains without pages now are left out.
        """
        cost = QueryCost(index=schema.INDEX_TABLE)
        start = b"d:"
        if after is not None:
            start = b"d:%b\0\xff" % parts_of(after, 1)[0]
        most = (limit + 1) * self._index.shards
        scan = Scan(start=start, stop=b"d;", columns=(schema.PAGE_COUNT,), batch_rows=most)

        def found() -> Iterator[tuple[str, DomainPages]]:
            rows = self._index.table.scan(scan)
            for domain, shards in itertools.groupby(rows, lambda row: row.key.partition(b"\0")[0]):
                counts = [int(row.value(schema.PAGE_COUNT) or 0) for row in shards]
                cost.entries += len(counts)
                if sum(counts):
                    name = reversed_host(domain[2:].decode())
                    yield cursor_of(domain[2:]), DomainPages(name, sum(counts))

        return bounded(found(), limit, cost)

    # Links

    def _of_page(self, url: str) -> tuple[LinkReader, bytes]:
        """Returns what reads the links of a page, and the URI of the page, which is known."""
        reader = LinkReader(self._index, QueryCost(index=schema.INDEX_TABLE))
        return reader, find_page(self._index, url, reader)

    def inlinks(
        self, url: str, picked: LinkPick = ALL_LINKS, *, limit: int = 20, after: str | None = None
    ) -> ResultPage[LinkTo]:
        """Returns the links to a page, by source; links from one source are side by side."""
        reader, uri = self._of_page(url)
        past = Past(self._index.pages, reader.cost)
        start, shown = link_place(after)

        def found() -> Iterator[tuple[str, LinkTo]]:
            sources = reader.sources(uri, picked, start=start, most=limit + 1)
            for batch in batches(sources, limit + 1):
                for source, times in zip(batch, _times(past, url, batch), strict=True):
                    is_internal = self._index.domains.share_domain(uri, source.uri)
                    for number, text in enumerate(source.links):
                        if source.uri == start and number <= shown:
                            continue
                        link = LinkTo(
                            url_of(source.uri), text.anchor, text.rel, is_internal, *times
                        )
                        yield cursor_of(source.uri, b"%d" % number), link

        return bounded(found(), limit, reader.cost)

    def outlinks(
        self, url: str, picked: LinkPick = ALL_LINKS, *, limit: int = 20, after: str | None = None
    ) -> ResultPage[LinkFrom]:
        """Returns the links on a page, in its order; links to one target are side by side."""
        reader, uri = self._of_page(url)
        row = self._index.table.get(page_row(uri), (schema.CUR,))
        reader.cost.entries += 1
        lines = unpacked_links(b"" if row is None else row.value(schema.CUR) or b"")
        return self.links_on(uri, lines, reader, picked, limit=limit, after=after)

    def links_on(
        self,
        uri: bytes,
        lines: Iterator[str],
        reader: LinkReader,
        picked: LinkPick,
        *,
        limit: int,
        after: str | None,
        as_of: int | None = None,
    ) -> ResultPage[LinkFrom]:
        """Returns the links on a page from their stored lines.

        Args:
            as_of: return the statuses of the targets at this time.
        """
        begin = 0 if after is None else number_of(parts_of(after, 1)[0]) + 1
        past = Past(self._index.pages, reader.cost)
        site = typed_site(picked.domain) if picked.domain else None

        def wanted() -> Iterator[tuple[int, list[str]]]:
            for number, line in enumerate(lines):
                fields = line.split("\t")
                if (
                    number >= begin
                    and reader.is_kind(uri, uri_of(fields[0]), picked.kind)
                    and (site is None or site.has(fields[0]))
                ):
                    yield number, fields

        def found() -> Iterator[tuple[str, LinkFrom]]:
            for batch in batches(wanted(), limit + 1):
                statuses = past.statuses([fields[0] for _, fields in batch], as_of)
                for (number, fields), status in zip(batch, statuses, strict=True):
                    target, rel, anchor = fields
                    is_internal = self._index.domains.share_domain(uri, uri_of(target))
                    yield str(number), LinkFrom(target, anchor, rel, is_internal, status)

        return bounded(found(), limit, reader.cost)

    def anchors(
        self,
        url: str,
        picked: LinkPick = ALL_LINKS,
        *,
        sources: int = ANCHOR_SOURCES,
        limit: int = 20,
        after: str | None = None,
    ) -> tuple[ResultPage[Anchor], bool]:
        """Returns the anchor texts of the links to a page, those of most pages first.

        The second value is whether the anchors of all linking pages were counted.

        Args:
            sources: of how many pages to count the words, at most; 0: of all.

        Raises:
            InvalidRequest: the number of pages is negative.
        """
        if sources < 0:
            raise InvalidRequest(f"sources {sources} is negative", hint="0 counts all of them")
        reader, uri = self._of_page(url)
        counts: Counter[str] = Counter()
        most = sources + 1 if sources else None
        linking = reader.sources(uri, picked, most=most)
        for source in itertools.islice(linking, sources or None):
            counts.update({link.anchor for link in source.links})
        is_all = next(linking, None) is None
        ranked = sorted((-number, anchor) for anchor, number in counts.items())
        if after is not None:
            number, anchor = parts_of(after, 2)
            last = -number_of(number), anchor.decode("utf-8", "replace")
            ranked = [each for each in ranked if each > last]
        found = ((cursor_of(b"%d" % -n, each.encode()), Anchor(each, -n)) for n, each in ranked)
        return bounded(found, limit, reader.cost), is_all


def _count(hit: Hit) -> int:
    assert hit.found is not None
    return int(hit.found.value(schema.INCOUNT) or 0)


def _times(
    past: Past, url: str, sources: Sequence[Source]
) -> Iterator[tuple[str | None, str | None]]:
    """Yields the first and last times when pages linked to a page that they link to now."""
    urls = [url_of(source.uri) for source in sources]
    for first, last in past.seen(urls, [True] * len(urls), url):
        yield _text(first), _text(last)


def _text(seconds: int | None) -> str | None:
    return None if seconds is None else encode_time(seconds)
