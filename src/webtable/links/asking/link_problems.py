"""Reports about the links of all pages: broken ones, orphans, dead ends.

Each report starts from an index of the pages, or from the ranks of the link index, and reads only
the links that it returns. `webtable.links.asking.redirects` has the report about redirects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from webtable.links import schema
from webtable.links.asking.cursors import cursor_of, number_of, parts_of
from webtable.links.asking.find_or_suggest import parse_domain
from webtable.links.asking.link_reader import ALL_LINKS, Kind, LinkPick, LinkReader, host_ranges
from webtable.links.asking.page_links_at_time import Past
from webtable.links.batching import batches
from webtable.links.cell_encoding import unpacked_links
from webtable.links.link_index import LinkIndex
from webtable.links.schema import page_row, uri_of, url_of
from webtable.pages.asking.paged_results import QueryCost, ResultPage, bounded
from webtable.pages.asking.queries import PageQueries
from webtable.pages.columns import METADATA_FAMILY
from webtable.pages.keys import reversed_host
from webtable.pages.page import Page, page_of
from webtable.pages.storing.capture_cells import encode_time
from webtable.pages.storing.page_versions import CaptureNote
from webtable.pages.urls import Site, typed_site
from webtable.result_base import Value
from webtable.store.cells_and_rows import Row
from webtable.store.scan import Scan

__all__ = ["BrokenLink", "LinkReports"]

_ERROR = 400
_HTML = ("text/html", "application/xhtml+xml")
_UNLINKED = b"%b:" % schema.rank_of_count(0)
_FEW, _MANY = 8, 256
_AT_ONCE = 32


class BrokenLink(Value, msgspec.Struct, frozen=True):
    """A link to a page whose newest capture has a status of 400 or more.

    Attributes:
        target: the page that it leads to.
        status: of the target.
        since: the capture of the target that showed an error first, after the last good one.
        source: the page that has the link.
        anchor: the text of the link.
        rel: its relation, such as `nofollow`.
        internal: whether both pages are of one registered domain.
    """

    target: str
    status: int
    since: str
    source: str
    anchor: str
    rel: str
    internal: bool


class _Place(NamedTuple):
    """Where a report continues: an index entry of a page, a source and the number of its link."""

    page: bytes
    source: bytes
    shown: int


class LinkReports:
    """Reports about the links of all pages; the domain of `picked` is that of the pages."""

    def __init__(self, index: LinkIndex) -> None:
        self._index = index

    # Broken links

    def broken(
        self, picked: LinkPick = ALL_LINKS, *, limit: int = 20, after: str | None = None
    ) -> ResultPage[BrokenLink]:
        """Returns the links to pages with a status of 400 or more, by status and page."""
        cost = QueryCost(index="webtable_status_idx")
        reader, past = LinkReader(self._index, cost), Past(self._index.pages, cost)
        place, links = _Place(b"", b"", -1), LinkPick(picked.kind)
        if after is not None:
            page, source, number = parts_of(after, 3)
            place = _Place(page, source, number_of(number))

        def found() -> Iterator[tuple[str, BrokenLink]]:
            for key, page in self._errors(place.page, picked.domain, cost):
                start = place.source if key == place.page else b""
                uri, since = uri_of(page.url), ""
                for source in reader.sources(uri, links, start=start, most=limit + 1):
                    since = since or _broken_since(past.notes([page.url])[0])
                    is_internal = self._index.domains.share_domain(uri, source.uri)
                    url = url_of(source.uri)
                    for number, (rel, anchor) in enumerate(source.links):
                        if source.uri != start or number > place.shown:
                            yield (
                                cursor_of(key, source.uri, b"%d" % number),
                                BrokenLink(
                                    page.url, page.status, since, url, anchor, rel, is_internal
                                ),
                            )

        return bounded(found(), limit, cost)

    def _errors(self, start: bytes, domain: str, cost: QueryCost) -> Iterator[tuple[bytes, Page]]:
        """Yields the pages whose status is an error, with their index keys, from a key on."""
        pages = self._index.pages
        if start:
            row = start.partition(b"_")[2]
            found = pages.rows.table.get(row, (METADATA_FAMILY,)) if row else None
            page = None if found is None else page_of(row, found.values())
            if page is not None and page.status >= _ERROR:
                yield start, page
        queries, after = PageQueries(pages), start.decode("latin-1") if start else None
        size = _FEW
        while True:
            results = queries.errors(domain=domain, limit=size, after=after)
            size = min(size * 2, _MANY)
            cost.entries += results.cost.entries
            cost.rows += results.cost.rows
            for page in results.items:
                yield b"%d_%b" % (page.status, pages.keys.row_key(page.url)), page
            if results.next is None:
                return
            after = results.next

    # Pages without links to them, or without links on them

    def orphans(
        self, picked: LinkPick = ALL_LINKS, *, limit: int = 20, after: str | None = None
    ) -> ResultPage[Page]:
        """Returns the good HTML pages that no page links to, in the order of their URIs.

        With a kind of links: the pages without such links to them; reads every page.
        """
        kind, domain = picked
        cost = QueryCost(index=schema.TOP_RANKS if kind == "all" else "")
        cost.is_scan = kind != "all"
        if kind == "all":
            uris = self._unlinked(domain, _behind(after), cost)
        else:
            uris = self._unlinked_by(kind, domain, _behind(after), cost)
        return self._pages(uris, _is_good, limit, cost)

    def _unlinked(self, domain: str, start: bytes, cost: QueryCost) -> Iterator[bytes]:
        """Yields the URIs without inlinks, which the ranks know."""
        name, prefix = schema.TOP_RANKS, b"t:"
        site: Site | None = None
        if domain:
            site, registered = parse_domain(self._index, domain)
            name, prefix = schema.DOMAIN_RANKS, b"d:%b:" % registered
        unlinked = prefix + _UNLINKED
        scan = Scan(prefix=unlinked, start=unlinked + start, batch_rows=_AT_ONCE)
        for hit in self._index.rows.find(name, scan):
            cost.entries += 2
            if site is None or site.has(url_of(hit.row[2:])):
                yield hit.row[2:]

    def _unlinked_by(
        self, kind: Kind, domain: str, start: bytes, cost: QueryCost
    ) -> Iterator[bytes]:
        reader = LinkReader(self._index, cost)
        for row in self._page_rows(domain, start, schema.AT, cost):
            if not reader.has_source(row.key[2:], kind):
                yield row.key[2:]

    def _page_rows(
        self, domain: str, start: bytes, column: bytes, cost: QueryCost
    ) -> Iterator[Row]:
        """Yields the rows of all pages, or of those of a domain, from a URI on."""
        ranges, site = [(b"", b"")], None
        if domain:
            site = typed_site(domain)
            ranges = host_ranges(reversed_host(site.host).encode())
        for low, high in ranges:
            if high and start >= high:
                continue
            stop = page_row(high) if high else b"p;"
            scan = Scan(start=page_row(max(low, start)), stop=stop, columns=(column,))
            for row in self._index.table.scan(scan):
                cost.entries += 1
                if site is None or site.has(url_of(row.key[2:])):
                    yield row

    def dead_ends(
        self, picked: LinkPick = ALL_LINKS, *, limit: int = 20, after: str | None = None
    ) -> ResultPage[Page]:
        """Returns the good HTML pages without links.

        With a kind of links: the pages without such links; reads every page.
        """
        kind, domain = picked
        if kind == "all":
            return PageQueries(self._index.pages).dead_ends(domain=domain, limit=limit, after=after)
        cost = QueryCost(is_scan=True)
        uris = self._without_links(kind, domain, _behind(after), cost)
        return self._pages(uris, _is_good, limit, cost)

    def _without_links(
        self, kind: Kind, domain: str, start: bytes, cost: QueryCost
    ) -> Iterator[bytes]:
        reader = LinkReader(self._index, cost)
        for row in self._page_rows(domain, start, schema.CUR, cost):
            uri = row.key[2:]
            lines = unpacked_links(row.value(schema.CUR) or b"")
            targets = (uri_of(line.partition("\t")[0]) for line in lines)
            if not any(reader.is_kind(uri, target, kind) for target in targets):
                yield uri

    def _pages(
        self, uris: Iterator[bytes], is_wanted: Callable[[Page], bool], limit: int, cost: QueryCost
    ) -> ResultPage[Page]:
        """Returns the pages of URIs, without those that were not crawled or are not wanted."""

        def found() -> Iterator[tuple[str, Page]]:
            for batch in batches(uris, limit + 1):
                pages = _pages_of(self._index, batch, cost)
                for uri, page in zip(batch, pages, strict=True):
                    if page is not None and is_wanted(page):
                        yield cursor_of(uri), page

        return bounded(found(), limit, cost)

    def linking_pages(
        self, url: str, picked: LinkPick = ALL_LINKS, *, limit: int = 20, after: str | None = None
    ) -> ResultPage[Page]:
        """Returns the pages with a link to a URL, by URI; nothing where the URL is unknown."""
        cost = QueryCost(index=schema.INDEX_TABLE)
        reader, start = LinkReader(self._index, cost), _behind(after)
        sources = reader.sources(uri_of(url), picked, start=start, most=limit + 1)
        return self._pages((source.uri for source in sources), lambda _: True, limit, cost)


def _is_good(page: Page) -> bool:
    return 200 <= page.status <= 299 and page.type in _HTML


def _behind(after: str | None) -> bytes:
    """Returns the first URI after a cursor that is a URI."""
    return b"" if after is None else parts_of(after, 1)[0] + b"\0"


def _broken_since(notes: Sequence[CaptureNote]) -> str:
    """Returns the time of the first capture since which all captures are errors."""
    since = 0
    for note in reversed(notes):
        if note.status < _ERROR:
            break
        since = note.time
    return encode_time(since)


def _pages_of(index: LinkIndex, uris: Sequence[bytes], cost: QueryCost) -> list[Page | None]:
    """Reads pages; None for a page that was not crawled."""
    rows = [index.pages.keys.row_key(url_of(uri)) for uri in uris]
    found = index.pages.rows.table.get_many(rows, (METADATA_FAMILY,))
    cost.rows += len(rows)
    return [
        None if each is None else page_of(row, each.values())
        for row, each in zip(rows, found, strict=True)
    ]
