"""`Links`: what a program asks about links. See `WebTable.links`."""

from __future__ import annotations

import time
from functools import partial
from typing import TypeVar, Unpack

import msgspec

from webtable.errors import NotFound, StaleIndex
from webtable.links.asking.dump import DumpCell, dump
from webtable.links.asking.history import Change, LinkHistory, PastPage
from webtable.links.asking.queries import (
    ANCHOR_SOURCES,
    Anchor,
    DomainPages,
    LinkFrom,
    LinkQueries,
    LinkTo,
    Ranked,
)
from webtable.links.asking.redirects import Redirect, redirects, resolved
from webtable.links.asking.reports import BrokenLink, LinkReports, linking_pages
from webtable.links.asking.wide_rows import Kind
from webtable.links.index import LinkIndex
from webtable.links.schema import INCOUNT, page_row, uri_of
from webtable.pages.asking.queries import PageQueries
from webtable.pages.asking.reports import ListOptions, list_of
from webtable.pages.asking.results import QueryCost, ResultPage, Results, bounded
from webtable.pages.page import Page
from webtable.pages.storing.cells import encode_time
from webtable.pages.table import PageTable
from webtable.pages.times import When, second_of
from webtable.pages.urls import typed_urls

__all__ = ["Links"]

T = TypeVar("T")


class Links:
    """Lists of links. Each takes `limit=` and `cursor=`; without a limit it is complete.

    `kind` is `"internal"` for links inside a registered domain, `"external"` for links between
    two, or `"all"`. `https://` may be left out of URLs.

    Every call raises `NotFound` where the store has no link index, and `StaleIndex` where the
    index does not have all pages: `WebTable.rebuild_links` writes it.
    """

    def __init__(self, pages: PageTable) -> None:
        self._pages = pages
        self._opened: LinkIndex | None = None

    @property
    def index(self) -> LinkIndex:
        """The link index, once it has all pages."""
        if self._opened is None:
            opened = LinkIndex.open(self._pages)
            if not opened.is_ready:
                raise StaleIndex(
                    f"the link index of '{self._pages.store.location}' does not have all pages",
                    hint="write it anew with `webtable links rebuild`",
                )
            self._opened = opened
        return self._opened

    @property
    def is_ready(self) -> bool:
        """Whether the link index exists and has all pages."""
        try:
            return LinkIndex.open(self._pages).is_ready
        except NotFound:
            return False

    @property
    def are_counts_complete(self) -> bool:
        """Whether no counts are still to be updated from links that are stored."""
        # Only the marks: on a cluster every page that is loaded leaves an intent for a moment.
        return next(self.index.work.scan(prefix=b"m:", limit=1), None) is None

    def _url(self, text: str) -> str:
        """Returns the URL that a person means: https, or http where only that is known."""
        urls = typed_urls(text)
        if len(urls) > 1:
            rows = [page_row(uri_of(url)) for url in urls]
            found = self.index.table.get_many(rows, (INCOUNT,))
            urls = [url for url, row in zip(urls, found, strict=True) if row is not None] or urls
        return urls[0]

    # The links of a page

    def to(
        self,
        url: str,
        *,
        as_of: When | None = None,
        kind: Kind = "all",
        domain: str = "",
        **options: Unpack[ListOptions],
    ) -> Results[LinkTo]:
        """Returns the links to a page, by source; several of one source are several results.

        Args:
            as_of: as they were then, as far back as the store keeps versions.
            domain: only links from pages of it.

        Raises:
            NotFound: the page was never crawled nor linked to.
        """
        url = self._url(url)
        if as_of is None:
            fetch = partial(LinkQueries(self.index).inlinks, url, kind=kind, domain=domain)
            return list_of("links-to", fetch, options, url=url, kind=kind, domain=domain)
        second = second_of(as_of)
        past = LinkHistory(self.index).inlinks
        return list_of(
            "links-to",
            lambda **bounds: _past(past(url, second, kind=kind, domain=domain, **bounds)),
            options,
            url=url,
            kind=kind,
            as_of=second,
            domain=domain,
        )

    def on(
        self,
        url: str,
        *,
        as_of: When | None = None,
        kind: Kind = "all",
        domain: str = "",
        **options: Unpack[ListOptions],
    ) -> Results[LinkFrom]:
        """Returns the links on a page, in its order, with the status of each target.

        Args:
            as_of: as they were then, as far back as the store keeps versions.
            domain: only links to pages of it.

        Raises:
            NotFound: the page was never crawled nor linked to.
        """
        url = self._url(url)
        if as_of is None:
            fetch = partial(LinkQueries(self.index).outlinks, url, kind=kind, domain=domain)
            return list_of("links-on", fetch, options, url=url, kind=kind, domain=domain)
        second = second_of(as_of)
        past = LinkHistory(self.index).outlinks
        return list_of(
            "links-on",
            lambda **bounds: _past(past(url, second, kind=kind, domain=domain, **bounds)),
            options,
            url=url,
            kind=kind,
            as_of=second,
            domain=domain,
        )

    def anchors(
        self,
        url: str,
        *,
        kind: Kind = "all",
        sources: int = ANCHOR_SOURCES,
        **options: Unpack[ListOptions],
    ) -> Results[Anchor]:
        """Returns the anchor texts of the links to a page, the most frequent first.

        `page().about["of_all_sources"]` says whether all linking pages were counted.

        Args:
            sources: of how many linking pages to count the texts, at most; 0: of all.
        """
        url = self._url(url)

        def fetch(*, limit: int, after: str | None) -> ResultPage[Anchor]:
            found, is_all = LinkQueries(self.index).anchors(
                url, kind=kind, sources=sources, limit=limit, after=after
            )
            return msgspec.structs.replace(found, about={"of_all_sources": is_all})

        return list_of("anchors", fetch, options, url=url, kind=kind, sources=sources)

    def linking_pages(self, url: str, **options: Unpack[ListOptions]) -> Results[Page]:
        """Returns the pages with a link to a URL; reads every page where there is no link index."""
        try:
            fetch = partial(linking_pages, self.index, url := self._url(url))
        except (NotFound, StaleIndex):
            url = self._pages.find_url(url)
            fetch = partial(PageQueries(self._pages).linking_to, url)
            return list_of("linking-to-by-scan", fetch, options, url=url)
        return list_of("linking-to", fetch, options, url=url)

    def changes(
        self,
        name: str,
        since: When,
        until: When | None = None,
        *,
        kind: Kind = "all",
        **options: Unpack[ListOptions],
    ) -> Results[Change]:
        """Returns the links to a page or a domain that were gained, lost, or got other texts.

        Args:
            name: a URL, or a domain: a name without a slash.

        Raises:
            NotFound: the page or domain is not known, or all that is known of it is younger.
        """
        is_domain = "/" not in name
        name = name if is_domain else self._url(name)
        span = second_of(since), int(time.time()) if until is None else second_of(until)
        ask = LinkHistory(self.index).changes
        return list_of(
            "link-changes",
            lambda **bounds: _past(ask(name, span, is_domain=is_domain, kind=kind, **bounds)),
            options,
            name=name,
            kind=kind,
            since=span[0],
            until=None if until is None else span[1],
        )

    # All links

    def top(
        self, *, domain: str = "", kind: Kind = "all", **options: Unpack[ListOptions]
    ) -> Results[Ranked]:
        """Returns the pages with the most inlinks, the most linked first."""
        fetch = partial(LinkQueries(self.index).top, domain, kind=kind)
        return list_of("top", fetch, options, domain=domain, kind=kind)

    def domains(self, **options: Unpack[ListOptions]) -> Results[DomainPages]:
        """Returns the domains, sorted, with the number of pages crawled or linked to."""
        return list_of("domains", LinkQueries(self.index).domains, options)

    def broken(
        self, *, domain: str = "", kind: Kind = "all", **options: Unpack[ListOptions]
    ) -> Results[BrokenLink]:
        """Returns the links to pages with a status of 400 or more, and since when.

        Args:
            domain: only links to pages of it.
        """
        fetch = partial(LinkReports(self.index).broken, domain=domain, kind=kind)
        return list_of("broken", fetch, options, domain=domain, kind=kind)

    def orphans(
        self, *, domain: str = "", kind: Kind = "all", **options: Unpack[ListOptions]
    ) -> Results[Page]:
        """Returns the HTML pages with a 2xx status that no page links to.

        With a kind of links: that no such link leads to; reads every page.
        """
        fetch = partial(LinkReports(self.index).orphans, domain=domain, kind=kind)
        return list_of("orphans", fetch, options, domain=domain, kind=kind)

    def dead_ends(
        self, *, domain: str = "", kind: Kind = "all", **options: Unpack[ListOptions]
    ) -> Results[Page]:
        """Returns the HTML pages with a 2xx status that have no links.

        With a kind of links: that have no such links; reads every page.
        """
        fetch = partial(LinkReports(self.index).dead_ends, domain=domain, kind=kind)
        return list_of("links-dead-ends", fetch, options, domain=domain, kind=kind)

    def redirects(
        self,
        *,
        to: str | None = None,
        domain: str = "",
        kind: Kind = "all",
        **options: Unpack[ListOptions],
    ) -> Results[Redirect]:
        """Returns the pages that redirect, with the chain that follows and the links to them.

        Args:
            to: only those that lead there within five hops. `page().about["resolved"]` then counts
                the pages that link to it directly and through redirects.
        """
        if to is None:
            fetch = partial(redirects, self.index, domain=domain, kind=kind)
            return list_of("link-redirects", fetch, options, domain=domain, kind=kind)
        url = self._url(to)

        def fetch_resolved(*, limit: int, after: str | None) -> ResultPage[Redirect]:
            count, found = resolved(
                self.index, url, domain=domain, kind=kind, limit=limit, after=after
            )
            return msgspec.structs.replace(found, about={"resolved": msgspec.to_builtins(count)})

        return list_of("link-redirects", fetch_resolved, options, to=url, domain=domain, kind=kind)

    def dump(self, **options: Unpack[ListOptions]) -> Results[DumpCell]:
        """Returns the whole link index as the cells of one table, in its order."""

        def fetch(*, limit: int, after: str | None) -> ResultPage[DumpCell]:
            return bounded(dump(self.index, after), limit, QueryCost())

        return list_of("dump", fetch, options)


def _past(found: PastPage[T]) -> ResultPage[T]:
    """Returns results about earlier times with how far back the store reaches."""
    retention = found.retention
    about = {
        "kept_since": None if retention.since is None else encode_time(retention.since),
        "kept_versions": retention.versions,
        "not_kept": found.not_kept,
    }
    return msgspec.structs.replace(found.results, about=about)
