"""Reports about the links of all pages: broken ones, orphans, dead ends.

Each begins with an index of the pages, or with the ranks of the link index, and reads of the links
as much as is shown. `webtable.links.asking.redirects` has the one about redirects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from webtable.links import schema
from webtable.links.asking.cursors import check_uri, cursor_of, number_of, parts_of
from webtable.links.asking.page_history import Past
from webtable.links.asking.wide_rows import Kind, LinkReader, batches, lines_of
from webtable.links.index import LinkIndex
from webtable.links.schema import page_row, uri_of, url_of
from webtable.pages.asking.queries import PageQueries
from webtable.pages.asking.results import QueryCost, ResultPage, bounded, wrong_cursor
from webtable.pages.columns import METADATA_FAMILY
from webtable.pages.page import Page, page_of
from webtable.pages.storing.cells import encode_time
from webtable.pages.storing.history import CaptureNote
from webtable.store.scan import Scan

__all__ = ["BrokenLink", "LinkReports", "linking_pages"]

_ERROR = 400
_HTML = ("text/html", "application/xhtml+xml")
_ORPHANS = b"t:%b:" % schema.rank_of_count(0)
_FEW, _MANY = 8, 256
_AT_ONCE = 32
_STATUS_ENTRY = re.compile(rb"\d{3}_.")


class BrokenLink(msgspec.Struct, frozen=True):
    """A link to a page that answers with an error, and since when it does."""

    target: str
    status: int
    since: str
    source: str
    anchor: str
    rel: str
    internal: bool


class _Place(NamedTuple):
    """Where a report of links goes on: between the links to a page of an index."""

    page: bytes
    source: bytes
    shown: int


class LinkReports:
    """Reports about the links of all pages."""

    def __init__(self, index: LinkIndex) -> None:
        self._index = index

    # Broken links

    def broken(
        self, *, kind: Kind = "all", limit: int = 20, after: str | None = None
    ) -> ResultPage[BrokenLink]:
        """Returns the links to pages that answer with a status from 400 on, by status and page."""
        cost = QueryCost(index="webtable_status_idx")
        reader, past = LinkReader(self._index, cost), Past(self._index.pages, cost)
        place = _Place(b"", b"", -1)
        if after is not None:
            page, source, number = parts_of(after, 3)
            if not _STATUS_ENTRY.match(page):
                raise wrong_cursor(after)
            place = _Place(page, check_uri(source), number_of(number))

        def found() -> Iterator[tuple[str, BrokenLink]]:
            for key, page in self._errors(place.page, cost):
                start = place.source if key == place.page else b""
                uri, since = uri_of(page.url), ""
                for source in reader.sources(uri, start=start, kind=kind, most=limit + 1):
                    since = since or _broken_since(past.notes([page.url])[0])
                    is_internal = self._index.domains.are_one(uri, source.uri)
                    url = url_of(source.uri)
                    for number, (rel, anchor) in enumerate(source.words):
                        if source.uri != start or number > place.shown:
                            yield (
                                cursor_of(key, source.uri, b"%d" % number),
                                BrokenLink(
                                    page.url, page.status, since, url, anchor, rel, is_internal
                                ),
                            )

        return bounded(found(), limit, cost)

    def _errors(self, start: bytes, cost: QueryCost) -> Iterator[tuple[bytes, Page]]:
        """Yields the pages that answer with errors, with their keys in the index, from one on."""
        pages = self._index.pages
        if start:
            row = start.partition(b"_")[2]
            found = pages.rows.table.get(row, (METADATA_FAMILY,)) if row else None
            page = None if found is None else page_of(row, found.values())
            if page is not None and page.status >= _ERROR:
                yield start, page
        asked, after = PageQueries(pages), start.decode("latin-1") if start else None
        size = _FEW
        while True:
            answer = asked.errors(limit=size, after=after)
            size = min(size * 2, _MANY)
            cost.entries += answer.cost.entries
            cost.rows += answer.cost.rows
            for page in answer.items:
                yield b"%d_%b" % (page.status, pages.keys.row_key(page.url)), page
            if answer.next is None:
                return
            after = answer.next

    # Pages that nothing leads to, or that lead nowhere

    def orphans(
        self, *, kind: Kind = "all", limit: int = 20, after: str | None = None
    ) -> ResultPage[Page]:
        """Returns the good HTML pages that no page links to, in the order of their URIs.

        With a kind of links: those that no such link leads to; looks at every page.
        """
        cost = QueryCost(index=schema.TOP_RANKS if kind == "all" else "")
        cost.is_scan = kind != "all"
        uris = self._unlinked(kind, _behind(after), cost)
        return self._good_pages(uris, limit, cost)

    def _unlinked(self, kind: Kind, start: bytes, cost: QueryCost) -> Iterator[bytes]:
        if kind == "all":
            scan = Scan(prefix=_ORPHANS, start=_ORPHANS + start, batch_rows=_AT_ONCE)
            for hit in self._index.rows.find(schema.TOP_RANKS, scan):
                cost.entries += 2
                yield hit.row[2:]
            return
        reader = LinkReader(self._index, cost)
        scan = Scan(start=page_row(start), stop=b"p;", columns=(schema.AT,))
        for row in self._index.table.scan(scan):
            cost.entries += 1
            uri = row.key[2:]
            if not reader.has_source(uri, kind):
                yield uri

    def dead_ends(
        self, *, kind: Kind = "all", limit: int = 20, after: str | None = None
    ) -> ResultPage[Page]:
        """Returns the good HTML pages without links.

        With a kind of links: those without such links; looks at every page.
        """
        if kind == "all":
            return PageQueries(self._index.pages).dead_ends(limit=limit, after=after)
        cost = QueryCost(is_scan=True)
        return self._good_pages(self._leading_nowhere(kind, _behind(after), cost), limit, cost)

    def _leading_nowhere(self, kind: Kind, start: bytes, cost: QueryCost) -> Iterator[bytes]:
        reader = LinkReader(self._index, cost)
        scan = Scan(start=page_row(start), stop=b"p;", columns=(schema.CUR,))
        for row in self._index.table.scan(scan):
            cost.entries += 1
            uri = row.key[2:]
            lines = lines_of(row.value(schema.CUR) or b"")
            targets = (uri_of(line.partition("\t")[0]) for line in lines)
            if not any(reader.is_kind(uri, target, kind) for target in targets):
                yield uri

    def _good_pages(self, uris: Iterator[bytes], limit: int, cost: QueryCost) -> ResultPage[Page]:
        def found() -> Iterator[tuple[str, Page]]:
            for batch in batches(uris, limit + 1):
                pages = _pages_of(self._index, batch, cost)
                for uri, page in zip(batch, pages, strict=True):
                    if page is not None and 200 <= page.status <= 299 and page.type in _HTML:
                        yield cursor_of(uri), page

        return bounded(found(), limit, cost)


def _behind(after: str | None) -> bytes:
    """Returns the first URI behind a cursor that is one."""
    return b"" if after is None else check_uri(parts_of(after, 1)[0]) + b"\0"


def _broken_since(notes: Sequence[CaptureNote]) -> str:
    """Returns the first of the captures, up to the newest, that all were errors."""
    since = 0
    for note in reversed(notes):
        if note.status < _ERROR:
            break
        since = note.time
    return encode_time(since)


def linking_pages(
    index: LinkIndex, url: str, *, limit: int = 20, after: str | None = None
) -> ResultPage[Page]:
    """Returns the pages with a link to a URL, by URI; nothing where the URL is not known."""
    cost = QueryCost(index=schema.INDEX_TABLE)
    reader, start = LinkReader(index, cost), _behind(after)

    def found() -> Iterator[tuple[str, Page]]:
        sources = reader.sources(uri_of(url), start=start, most=limit + 1)
        for batch in batches((source.uri for source in sources), limit + 1):
            for uri, page in zip(batch, _pages_of(index, batch, cost), strict=True):
                if page is not None:
                    yield cursor_of(uri), page

    return bounded(found(), limit, cost)


def _pages_of(index: LinkIndex, uris: Sequence[bytes], cost: QueryCost) -> list[Page | None]:
    """Reads some pages; None where one was not crawled."""
    rows = [index.pages.keys.row_key(url_of(uri)) for uri in uris]
    found = index.pages.rows.table.get_many(rows, (METADATA_FAMILY,))
    cost.rows += len(rows)
    return [
        None if each is None else page_of(row, each.values())
        for row, each in zip(rows, found, strict=True)
    ]
