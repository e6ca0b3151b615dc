"""Pages in the order of an index: the part of the queries that reads entries.

A query over one site reads the index first and leaves out the entries of other sites. Where these
are too many, it reads the pages of the site instead and sorts them as the index would: both ways
give the same pages, the same order and the same cursors.
"""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Callable, Iterator
from typing import NamedTuple

from webtable.index.indexed_table import Hit
from webtable.pages.asking.paged_results import QueryCost, ResultPage, bounded
from webtable.pages.columns import METADATA_FAMILY
from webtable.pages.indexes import BUCKET_BYTES, BUCKETS
from webtable.pages.keys import KeyRange, SaltedKeys
from webtable.pages.page import Page, page_of
from webtable.pages.page_table import PageTable
from webtable.pages.urls import split_url, typed_site
from webtable.store.scan import Scan

__all__ = ["FEW", "IndexQuery", "PageIndexReader", "SiteRows"]

FEW = 12
"""Entries of each bucket that are read at once: enough for most queries of a site or two, whose
pages are in one bucket each. More would cost time in reverse scans, where HBase seeks every row."""
# Between two entries of a site; then its pages are read instead. An entry costs a tenth of a page.
_MOST_OTHERS = 2_000


class SiteRows:
    """The rows of a site: of a host with its subdomains, and of one port if one is named.

    Raises:
        InvalidRequest: the text is not a domain.
    """

    def __init__(self, pages: PageTable, domain: str, *, with_subdomains: bool = True) -> None:
        self._site = typed_site(domain)
        self.host = self._site.host
        self.ranges = pages.keys.host_ranges(self.host, with_subdomains=with_subdomains)
        self._starts = [low for low, _ in self.ranges]
        self._with_subdomains = with_subdomains

    def may_have(self, row: bytes) -> bool:
        """Whether a row lies in the ranges of the site; it may be a neighbour's."""
        at = bisect.bisect_right(self._starts, row) - 1
        return at >= 0 and row < self.ranges[at].stop

    def has(self, page: Page) -> bool:
        """Whether a page is one of the site."""
        is_there = self._site.has(page.url)
        return is_there and (self._with_subdomains or split_url(page.url).host == self.host)


class IndexQuery(NamedTuple):
    """Which entries of an index a query is about.

    Attributes:
        bounds: the keys of the entries, without buckets.
        is_wanted: leaves out pages that the index alone does not tell from others.
        is_reverse: whether the last entry comes first.
        site: leaves out the pages of other sites.
    """

    name: str
    bounds: KeyRange
    is_wanted: Callable[[Page], bool] | None = None
    is_reverse: bool = False
    site: SiteRows | None = None

    def behind(self, after: str | None) -> KeyRange:
        """Returns the keys of the entries that follow a cursor."""
        start, stop = self.bounds
        if after is None:
            return self.bounds
        key = after.encode("latin-1")
        return KeyRange(start, key) if self.is_reverse else KeyRange(key + b"\0", stop)

    def wants(self, page: Page) -> bool:
        """Whether a page of the entries is one of the results."""
        if self.site is not None and not self.site.has(page):
            return False
        return self.is_wanted is None or self.is_wanted(page)


class PageIndexReader:
    """Reads pages in the order of their indexes."""

    def __init__(self, pages: PageTable) -> None:
        self._pages = pages
        self._is_salted = isinstance(pages.keys, SaltedKeys)
        self.skip = BUCKET_BYTES if self._is_salted else 0
        """Bytes of the bucket in front of keys."""

    def read(self, query: IndexQuery, limit: int, after: str | None) -> ResultPage[Page]:
        """Returns the pages behind a cursor."""
        if query.site is None:
            return self._from_index(query, limit, after)
        others = _Others(query.site)
        found = self._from_index(query, limit, after, others)
        # If all requested results are found, the entries behind them do not matter.
        if not others.are_too_many or found.is_truncated:
            return found
        return self._from_site(query, query.site, limit, after, found.cost)

    def _from_index(
        self,
        query: IndexQuery,
        limit: int,
        after: str | None,
        others: _Others | None = None,
    ) -> ResultPage[Page]:
        hits = self.hits(query, query.behind(after))
        if others is not None:
            hits = others.left_out(hits)
        # With nothing to sort out afterwards, no more rows are read than are shown.
        wanted = max(limit, 0) + 1
        is_exact = query.is_wanted is None and query.site is None
        most = Scan(limit=wanted if is_exact else None, batch_rows=wanted)
        checked = self._pages.rows.check_hits(query.name, hits, scan=most)

        def found() -> Iterator[tuple[str, Page]]:
            for hit in checked:
                page = None if hit.found is None else page_of(hit.row, hit.found.values())
                if page is not None and query.wants(page):
                    yield hit.key[self.skip :].decode("latin-1"), page

        results = bounded(found(), limit, QueryCost(index=query.name))
        results.cost.entries = checked.counts.entries + (others.count if others else 0)
        results.cost.rows = checked.counts.rows
        return results

    def _from_site(
        self, query: IndexQuery, site: SiteRows, limit: int, after: str | None, cost: QueryCost
    ) -> ResultPage[Page]:
        """Sorts the pages of a site by the entries that they have; keeps no more than are shown."""
        index = self._pages.rows.index(query.name)
        start, stop = query.behind(after)

        def entries() -> Iterator[tuple[bytes, Page]]:
            for low, high in site.ranges:
                scan = Scan(start=low, stop=high, columns=(METADATA_FAMILY,))
                for row in self._pages.rows.table.scan(scan):
                    cost.rows += 1
                    facts = row.values()
                    page = page_of(row.key, facts)
                    if page is not None and query.wants(page):
                        for entry in index.entries(row.key, facts):
                            if start <= (key := entry.key[self.skip :]) < stop:
                                yield key, page

        choose = heapq.nlargest if query.is_reverse else heapq.nsmallest
        chosen = choose(max(limit, 0) + 1, entries(), key=lambda pair: pair[0])
        return bounded(((key.decode("latin-1"), page) for key, page in chosen), limit, cost)

    def hits(self, query: IndexQuery, bounds: KeyRange) -> Iterator[Hit]:
        """Yields the entries of a range of keys without buckets, of all buckets in one order."""
        start, stop = bounds
        if stop <= start:
            return iter(())
        rows, reverse = self._pages.rows, query.is_reverse
        if not self._is_salted:
            return rows.hits(query.name, Scan(start=start, stop=stop, reverse=reverse))
        buckets = BUCKETS
        if query.site is not None:
            # The pages of a registered domain have one salt, so they are in one bucket.
            buckets = tuple(dict.fromkeys(low[:1] + b":" for low, _ in query.site.ranges))
        scans = [
            Scan(start=bucket + start, stop=bucket + stop, reverse=reverse, batch_rows=FEW)
            for bucket in buckets
        ]
        each = rows.hits_of_many(query.name, scans)
        return heapq.merge(*each, key=lambda hit: hit.key[BUCKET_BYTES:], reverse=reverse)


class _Others:
    """The entries of other sites in what a query reads.

    Attributes:
        count: how many there were.
        are_too_many: whether reading ended because too many stood in a row.
    """

    def __init__(self, site: SiteRows) -> None:
        self._site = site
        self.count = 0
        self.are_too_many = False

    def left_out(self, hits: Iterator[Hit]) -> Iterator[Hit]:
        """Yields the entries of the site, until too many others stand in a row."""
        in_a_row = 0
        for hit in hits:
            if self._site.may_have(hit.row):
                in_a_row = 0
                yield hit
                continue
            self.count += 1
            in_a_row += 1
            if in_a_row > _MOST_OTHERS:
                self.are_too_many = True
                return
