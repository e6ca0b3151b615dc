"""`Links`: what a program asks about links. See `WebTable.links`.

A module that only some queries need is imported by these: a command starts faster without it.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from webtable.errors import NotFound, StaleIndex
from webtable.links.asking.link_queries import (
    ANCHOR_SOURCES,
    Anchor,
    DomainPages,
    LinkFrom,
    LinkQueries,
    LinkTo,
    Ranked,
)
from webtable.links.asking.link_reader import Kind, LinkPick, check_kind
from webtable.links.link_index import LinkIndex
from webtable.links.schema import INCOUNT, page_row, uri_of
from webtable.pages.asking.paged_results import Fetch, QueryCost, ResultPage, Results, bounded
from webtable.pages.asking.reports import list_of
from webtable.pages.page import Page
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_cells import encode_time
from webtable.pages.time_arguments import When, second_of
from webtable.pages.urls import typed_urls

if TYPE_CHECKING:
    from webtable.links.asking.dump import DumpCell
    from webtable.links.asking.link_history import Change, LinkHistory, PastPage
    from webtable.links.asking.link_problems import BrokenLink, LinkReports
    from webtable.links.asking.redirects import Redirect

__all__ = ["Links"]

T = TypeVar("T")


class Links:
    """Lists of links. Each takes `limit=` and `cursor=`; without a limit it is complete.

    `kind` is `"internal"` for links inside a registered domain, `"external"` for links between
    two, or `"all"`. `https://` may be left out of URLs.

    If the page or domain of a query is unknown, reading the list raises `NotFound`, whose hint has
    similar names. The argument `domain=` only narrows a list: for an unknown domain the list is
    empty, and `near_domains` has similar ones. Every call raises `NotFound` where the store has no
    link index, and `StaleIndex` where the index does not have all pages: `WebTable.rebuild_links`
    writes it.
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
                    hint="write it again with `webtable links rebuild`",
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

    def near_domains(self, name: str) -> list[str]:
        """Returns up to three domains of the link index that are similar to an unknown domain.

        The list is empty if the index has the domain, or if the store has no link index.
        """
        from webtable.links.asking.find_or_suggest import similar_domains

        try:
            return similar_domains(self.index, name)
        except (NotFound, StaleIndex):
            return []

    def _url(self, text: str) -> str:
        """Returns the URL that a user means: https, or http if only that is in the index."""
        urls = typed_urls(text)
        if len(urls) > 1:
            rows = [page_row(uri_of(url)) for url in urls]
            found = self.index.table.get_many(rows, (INCOUNT,))
            urls = [url for url, row in zip(urls, found, strict=True) if row is not None] or urls
        return urls[0]

    def _history(self) -> LinkHistory:
        from webtable.links.asking.link_history import LinkHistory

        return LinkHistory(self.index)

    def _reports(self) -> LinkReports:
        from webtable.links.asking.link_problems import LinkReports

        return LinkReports(self.index)

    def _page_query(
        self, way: Literal["inlinks", "outlinks"], url: str, as_of: When | None, picked: LinkPick
    ) -> tuple[Fetch[Any], dict[str, object]]:
        """Returns the query of the links to or on a page, now or then, and its arguments."""
        url = self._url(url)
        asked = {"url": url, "as_of": None, **picked._asdict()}
        if as_of is None:
            return partial(getattr(LinkQueries(self.index), way), url, picked), asked
        asked["as_of"] = second = second_of(as_of)
        ask = partial(getattr(self._history(), way), url, second, picked)
        return (lambda **bounds: _past(ask(**bounds))), asked

    # The links of a page

    def to(
        self,
        url: str,
        *,
        as_of: When | None = None,
        kind: Kind = "all",
        domain: str = "",
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Results[LinkTo]:
        """Returns the links to a page, by source; several of one source are several results.

        Args:
            as_of: as they were then, as far back as the store keeps versions.
            domain: only links from pages of it.

        Raises:
            NotFound: the page was never crawled nor linked to.
        """
        fetch, asked = self._page_query("inlinks", url, as_of, _picked(kind, domain))
        return list_of("links-to", fetch, limit, cursor, **asked)

    def on(
        self,
        url: str,
        *,
        as_of: When | None = None,
        kind: Kind = "all",
        domain: str = "",
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Results[LinkFrom]:
        """Returns the links on a page, in its order, with the status of each target.

        Args:
            as_of: as they were then, as far back as the store keeps versions.
            domain: only links to pages of it.

        Raises:
            NotFound: the page was never crawled nor linked to.
        """
        fetch, asked = self._page_query("outlinks", url, as_of, _picked(kind, domain))
        return list_of("links-on", fetch, limit, cursor, **asked)

    def anchors(
        self,
        url: str,
        *,
        kind: Kind = "all",
        sources: int = ANCHOR_SOURCES,
        domain: str = "",
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Results[Anchor]:
        """Returns the anchor texts of the links to a page, the most frequent first.

        `page().about["of_all_sources"]` says whether all linking pages were counted.

        Args:
            sources: of how many linking pages to count the texts, at most; 0: of all.
            domain: only links from pages of it.
        """
        picked = _picked(kind, domain)
        url = self._url(url)

        def fetch(*, limit: int, after: str | None) -> ResultPage[Anchor]:
            found, is_all = LinkQueries(self.index).anchors(
                url, picked, sources=sources, limit=limit, after=after
            )
            return msgspec.structs.replace(found, about={"of_all_sources": is_all})

        return list_of(
            "anchors", fetch, limit, cursor, url=url, kind=kind, sources=sources, domain=domain
        )

    def linking_pages(
        self,
        url: str,
        *,
        domain: str = "",
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Results[Page]:
        """Returns the pages with a link to a URL; reads every page where there is no link index.

        Args:
            domain: only pages of it.
        """
        from webtable.pages.asking.queries import PageQueries

        try:
            url, picked = self._url(url), LinkPick(domain=domain)
            fetch = partial(self._reports().linking_pages, url, picked)
        except (NotFound, StaleIndex):
            url = self._pages.find_url(url)
            fetch = partial(PageQueries(self._pages).linking_to, url, domain=domain)
            return list_of("linking-to-by-scan", fetch, limit, cursor, url=url, domain=domain)
        return list_of("linking-to", fetch, limit, cursor, url=url, domain=domain)

    def changes(
        self,
        name: str,
        since: When,
        until: When | None = None,
        *,
        kind: Kind = "all",
        domain: str = "",
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Results[Change]:
        """Returns the links to a page or a domain that were gained, lost, or got other texts.

        Args:
            name: a URL, or a domain: a name without a slash.
            domain: only links from pages of it.

        Raises:
            NotFound: the page or domain is unknown, or its first capture is younger.
        """
        picked = _picked(kind, domain)
        is_domain = "/" not in name
        name = name if is_domain else self._url(name)
        span = second_of(since), int(time.time()) if until is None else second_of(until)
        ask = self._history().changes
        return list_of(
            "link-changes",
            lambda **bounds: _past(ask(name, span, picked, is_domain=is_domain, **bounds)),
            limit,
            cursor,
            name=name,
            kind=kind,
            domain=domain,
            since=span[0],
            until=None if until is None else span[1],
        )

    # All links

    def top(
        self,
        *,
        domain: str = "",
        kind: Kind = "all",
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Results[Ranked]:
        """Returns the pages with the most inlinks, the most linked first."""
        check_kind(kind)
        fetch = partial(LinkQueries(self.index).top, domain, kind=kind)
        return list_of("top", fetch, limit, cursor, domain=domain, kind=kind)

    def domains(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> Results[DomainPages]:
        """Returns the domains, sorted, with the number of pages crawled or linked to."""
        return list_of("domains", LinkQueries(self.index).domains, limit, cursor)

    def broken(
        self,
        *,
        domain: str = "",
        kind: Kind = "all",
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Results[BrokenLink]:
        """Returns the links to pages with a status of 400 or more, and since when.

        Args:
            domain: only links to pages of it.
        """
        fetch = partial(self._reports().broken, _picked(kind, domain))
        return list_of("broken", fetch, limit, cursor, domain=domain, kind=kind)

    def orphans(
        self,
        *,
        domain: str = "",
        kind: Kind = "all",
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Results[Page]:
        """Returns the HTML pages with a 2xx status that no page links to.

        With a kind of links: that no such link leads to; reads every page.
        """
        fetch = partial(self._reports().orphans, _picked(kind, domain))
        return list_of("orphans", fetch, limit, cursor, domain=domain, kind=kind)

    def dead_ends(
        self,
        *,
        domain: str = "",
        kind: Kind = "all",
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Results[Page]:
        """Returns the HTML pages with a 2xx status that have no links.

        With a kind of links: that have no such links; reads every page.
        """
        fetch = partial(self._reports().dead_ends, _picked(kind, domain))
        return list_of("links-dead-ends", fetch, limit, cursor, domain=domain, kind=kind)

    def redirects(
        self,
        *,
        to: str | None = None,
        domain: str = "",
        kind: Kind = "all",
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Results[Redirect]:
        """Returns the pages that redirect, with the chain that follows and the links to them.

        Args:
            to: only those that lead there within five hops. `page().about["resolved"]` then counts
                the pages that link to it directly and through redirects.
        """
        from webtable.links.asking.redirects import redirects, resolved

        picked = _picked(kind, domain)
        if to is None:
            fetch = partial(redirects, self.index, picked)
            return list_of("link-redirects", fetch, limit, cursor, domain=domain, kind=kind)
        url = self._url(to)

        def fetch_resolved(*, limit: int, after: str | None) -> ResultPage[Redirect]:
            count, found = resolved(self.index, url, picked, limit=limit, after=after)
            return msgspec.structs.replace(found, about={"resolved": msgspec.to_builtins(count)})

        return list_of(
            "link-redirects", fetch_resolved, limit, cursor, to=url, domain=domain, kind=kind
        )

    def dump(self, *, limit: int | None = None, cursor: str | None = None) -> Results[DumpCell]:
        """Returns the whole link index as the cells of one table, in its order."""
        from webtable.links.asking.dump import dump

        def fetch(*, limit: int, after: str | None) -> ResultPage[DumpCell]:
            return bounded(dump(self.index, after), limit, QueryCost())

        return list_of("dump", fetch, limit, cursor)


def _picked(kind: Kind, domain: str) -> LinkPick:
    check_kind(kind)
    return LinkPick(kind, domain)


def _past(found: PastPage[T]) -> ResultPage[T]:
    """Returns results about earlier times with how far back the store reaches."""
    retention = found.retention
    about = {
        "kept_since": None if retention.since is None else encode_time(retention.since),
        "kept_versions": retention.versions,
        "not_kept": found.not_kept,
    }
    return msgspec.structs.replace(found.results, about=about)
