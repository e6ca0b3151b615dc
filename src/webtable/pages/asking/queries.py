"""Queries over the pages of a store. Each returns a page of results: bounded, with a cursor.

Most read an index; those that must read every page say so in their cost.
`webtable.pages.asking.reports` is the public form of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from webtable.errors import InvalidRequest
from webtable.pages.asking.duplicates import MOST_DUPLICATES, Duplicates, duplicates
from webtable.pages.asking.paged_results import QueryCost, ResultPage, after_key, bounded
from webtable.pages.asking.pages_by_index import IndexQuery, PageIndexReader, SiteRows
from webtable.pages.columns import BODY, LINKS, METADATA_FAMILY
from webtable.pages.keys import KeyRange, is_suffix, reversed_host
from webtable.pages.page import Page, page_of
from webtable.pages.page_table import PageTable
from webtable.store.cells_and_rows import Row
from webtable.store.scan import Scan

__all__ = ["PageQueries"]

_HTML = ("text/html", "application/xhtml+xml")
_EVERYTHING = KeyRange(b"", b"")


class _ScanQuery(NamedTuple):
    """Which rows a query reads, and which of them it returns.

    Attributes:
        columns: the columns that `is_wanted` needs besides the metadata.
        is_scan: whether the query reads pages only to leave them out.
    """

    ranges: list[KeyRange]
    is_wanted: Callable[[Row, Page], bool]
    columns: tuple[bytes, ...] = ()
    is_scan: bool = False


class PageQueries:
    """The queries over a store of pages.

    Times are `YYYYMMDD` or `YYYYMMDDhhmmss` in UTC, from inclusive; a day begins at midnight.
    A `domain` is a host with its subdomains, or a host and a port; empty: all pages.
    """

    def __init__(self, pages: PageTable) -> None:
        self._pages = pages
        self._index = PageIndexReader(pages)

    # By domain and directory

    def everything(self, *, limit: int = 20, after: str | None = None) -> ResultPage[Page]:
        """Returns all pages, in the order of their row keys."""
        return self._by_scan(_ScanQuery([_EVERYTHING], lambda _row, _page: True), limit, after)

    def under(
        self,
        host: str,
        *,
        with_subdomains: bool = True,
        limit: int = 20,
        after: str | None = None,
    ) -> ResultPage[Page]:
        """Returns the pages of a host, or of a host and a port, in the order of their row keys.

        Raises:
            InvalidRequest: it is no host.
        """
        site = SiteRows(self._pages, host, with_subdomains=with_subdomains)
        return self._by_scan(_ScanQuery(site.ranges, lambda _, page: site.has(page)), limit, after)

    def in_directory(
        self, url: str, *, limit: int = 20, after: str | None = None
    ) -> ResultPage[Page]:
        """Returns the pages whose URLs begin with this one, in the order of their row keys."""
        ranges = self._pages.keys.directory_ranges(url)
        query = _ScanQuery(ranges, lambda _, page: page.url.startswith(url))
        return self._by_scan(query, limit, after)

    # By index

    def modified(
        self,
        since: str = "",
        until: str = "",
        *,
        domain: str = "",
        limit: int = 20,
        after: str | None = None,
    ) -> ResultPage[Page]:
        """Returns the pages that changed from one time up to another, the newest first.

        Raises:
            InvalidRequest: the range ends before it begins, or the domain is not valid.
        """
        if since and until and since.ljust(14, "0") >= until.ljust(14, "0"):
            raise InvalidRequest(
                f"since {_dashed(since)} is not before until {_dashed(until)}",
                hint="until is the day after the last one: --since 2026-09-01 --until 2026-09-02",
            )
        name, before, site = self._time_index(domain)
        bounds = KeyRange(before + _time_key(since), before + (_time_key(until) or b":"))
        query = IndexQuery(name, bounds, is_reverse=True, site=site)
        return self._index.read(query, limit, after)

    def outdated(
        self, before: str, *, domain: str = "", limit: int = 20, after: str | None = None
    ) -> ResultPage[Page]:
        """Returns the pages that did not change since a time, the oldest first."""
        name, prefix, site = self._time_index(domain)
        bounds = KeyRange(prefix + b"0", prefix + _time_key(before))
        return self._index.read(IndexQuery(name, bounds, site=site), limit, after)

    def largest(
        self, *, domain: str = "", limit: int = 20, after: str | None = None
    ) -> ResultPage[Page]:
        """Returns the pages with the largest bodies, the largest first."""
        bounds = KeyRange(b"0", b":")
        query = IndexQuery("webtable_size_idx", bounds, is_reverse=True, site=self._site(domain))
        return self._index.read(query, limit, after)

    def errors(
        self, *, domain: str = "", limit: int = 20, after: str | None = None
    ) -> ResultPage[Page]:
        """Returns the pages with a status of 400 or more, by status."""
        bounds = KeyRange(b"400", b"600")
        query = IndexQuery("webtable_status_idx", bounds, site=self._site(domain))
        return self._index.read(query, limit, after)

    def redirects(
        self, *, domain: str = "", limit: int = 20, after: str | None = None
    ) -> ResultPage[Page]:
        """Returns the pages that redirect to another one, by status."""
        query = IndexQuery(
            "webtable_status_idx",
            KeyRange(b"300", b"400"),
            is_wanted=lambda page: bool(page.redirect),
            site=self._site(domain),
        )
        return self._index.read(query, limit, after)

    def inlinked(
        self, *, least: int = 1, domain: str = "", limit: int = 20, after: str | None = None
    ) -> ResultPage[Page]:
        """Returns the pages with the most inlinks, the most linked first."""
        query = IndexQuery(
            "webtable_link_idx",
            KeyRange(b"inlinks_", b"inlinks`"),
            is_wanted=lambda page: (page.inlinks or 0) >= least,
            is_reverse=True,
            site=self._site(domain),
        )
        return self._index.read(query, limit, after)

    def dead_ends(
        self, *, domain: str = "", limit: int = 20, after: str | None = None
    ) -> ResultPage[Page]:
        """Returns the HTML pages with a 2xx status that have no links."""
        bounds = KeyRange(b"outlinks_00_", b"outlinks_00`")
        query = IndexQuery("webtable_link_idx", bounds, site=self._site(domain))
        return self._index.read(query, limit, after)

    def duplicates(
        self,
        *,
        domain: str = "",
        most: int = MOST_DUPLICATES,
        limit: int = 20,
        after: str | None = None,
    ) -> ResultPage[Duplicates]:
        """Returns the groups of pages with the same body, with a page of the domain, by digest."""
        return duplicates(self._pages, domain=domain, most=most, limit=limit, after=after)

    # By reading every page

    def untitled(
        self, *, domain: str = "", limit: int = 20, after: str | None = None
    ) -> ResultPage[Page]:
        """Returns the HTML pages with a 2xx status that have no title. Reads every page."""
        query = self._in_site(lambda _, page: not page.title and _is_good_html(page), domain)
        return self._by_scan(query, limit, after)

    def search(
        self, words: str, *, domain: str = "", limit: int = 20, after: str | None = None
    ) -> ResultPage[Page]:
        """Returns the pages with a text in title or body, in any case. Reads every page.

        Raises:
            InvalidRequest: the text is empty.
        """
        wanted = words.casefold()
        if not wanted:
            raise InvalidRequest("there are no words to search for", hint="give at least one")

        def has_words(row: Row, page: Page) -> bool:
            if wanted in page.title.casefold():
                return True
            body = row.value(BODY)
            return body is not None and wanted in body.decode("utf-8", "replace").casefold()

        return self._by_scan(self._in_site(has_words, domain, BODY), limit, after)

    def linking_to(
        self, url: str, *, domain: str = "", limit: int = 20, after: str | None = None
    ) -> ResultPage[Page]:
        """Returns the pages with a link to a URL. Reads every page."""
        line = f"{url}\t".encode()

        def links(row: Row, _: Page) -> bool:
            text = row.value(LINKS) or b""
            return text.startswith(line) or b"\n" + line in text

        return self._by_scan(self._in_site(links, domain, LINKS), limit, after)

    # How

    def _site(self, domain: str) -> SiteRows | None:
        return SiteRows(self._pages, domain) if domain else None

    def _time_index(self, domain: str) -> tuple[str, bytes, SiteRows | None]:
        """Returns the index by time, what its keys begin with, and the site inside of it."""
        site = self._site(domain)
        if site is None or is_suffix(self._pages.suffixes, site.host):
            return "webtable_time_idx", b"", site
        registered = self._pages.suffixes.registered_domain(site.host)
        return "webtable_domain_idx", f"{reversed_host(registered)}_".encode(), site

    def _in_site(
        self, is_wanted: Callable[[Row, Page], bool], domain: str, *columns: bytes
    ) -> _ScanQuery:
        """Returns the query that reads every page, or every page of a domain."""
        site = self._site(domain)
        if site is None:
            return _ScanQuery([_EVERYTHING], is_wanted, columns, is_scan=True)
        return _ScanQuery(
            site.ranges,
            lambda row, page: site.has(page) and is_wanted(row, page),
            columns,
            is_scan=True,
        )

    def _by_scan(self, query: _ScanQuery, limit: int, after: str | None) -> ResultPage[Page]:
        table, start, cost = self._pages.rows.table, after_key(after), QueryCost()
        cost.is_scan = query.is_scan

        def found() -> Iterator[tuple[str, Page]]:
            for low, high in query.ranges:
                if high and start >= high:
                    continue
                columns = (METADATA_FAMILY, *query.columns)
                for row in table.scan(Scan(start=max(low, start), stop=high, columns=columns)):
                    cost.rows += 1
                    page = page_of(row.key, row.values())
                    if page is not None and query.is_wanted(row, page):
                        yield row.key.decode("latin-1"), page

        return bounded(found(), limit, cost)


def _dashed(time: str) -> str:
    day = f"{time[:4]}-{time[4:6]}-{time[6:8]}"
    return f"{day}T{time[8:10]}:{time[10:12]}:{time[12:]}Z" if time[8:].strip("0") else day


def _time_key(time: str) -> bytes:
    """Returns what keys of indexes by time begin with: the day, and the second if it is given."""
    return (f"{time[:8]}_{time[8:]}" if time[8:] else time).encode()


def _is_good_html(page: Page) -> bool:
    return 200 <= page.status <= 299 and page.type in _HTML
