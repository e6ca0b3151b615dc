"""`Reports`: lists of pages, for programs. See `WebTable.reports`."""

from __future__ import annotations

from functools import partial
from typing import TypeVar

from webtable.pages.asking.duplicates import MOST_DUPLICATES, Duplicates
from webtable.pages.asking.paged_results import Fetch, Results
from webtable.pages.asking.queries import PageQueries
from webtable.pages.page import Page
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_cells import encode_time
from webtable.pages.time_arguments import When, second_of
from webtable.pages.urls import typed_url

__all__ = ["Reports", "list_of", "pages_under"]

T = TypeVar("T")

_DIGITS_ONLY = str.maketrans("", "", "-:TZ")


def list_of(
    query: str, fetch: Fetch[T], limit: int | None, cursor: str | None, **arguments: object
) -> Results[T]:
    """Returns the results of a query; its cursors belong to its name and arguments."""
    given = " ".join(f"{key}={value}" for key, value in arguments.items() if value)
    return Results(f"{query} {given}".rstrip(), fetch, limit=limit, cursor=cursor)


def pages_under(
    pages: PageTable,
    domain: str,
    limit: int | None,
    cursor: str | None,
    with_subdomains: bool,
) -> Results[Page]:
    """Returns the pages of a domain or a directory, or all; see `WebTable.pages`."""
    queries = PageQueries(pages)
    if not domain:
        return list_of("all-pages", queries.everything, limit, cursor)
    if "/" in domain.rstrip("/"):
        url = typed_url(domain)
        return list_of("directory", partial(queries.in_directory, url), limit, cursor, url=url)
    fetch = partial(queries.under, domain, with_subdomains=with_subdomains)
    return list_of("pages", fetch, limit, cursor, domain=domain, subdomains=with_subdomains)


class Reports:
    """Lists of pages. Each takes `domain=`, `limit=` and `cursor=`; without a limit it is complete.

    A domain is a host with its subdomains, such as `example.com`, or a host and a port; for a
    domain without pages a list is empty. Days and times are in UTC: `2026-09-01`,
    `2026-09-01T12:30:00Z`, dates, or datetimes with a time zone.
    """

    def __init__(self, pages: PageTable) -> None:
        self._queries = PageQueries(pages)

    def largest(
        self, *, domain: str = "", limit: int | None = None, cursor: str | None = None
    ) -> Results[Page]:
        """Returns the pages with the largest bodies, the largest first."""
        fetch = partial(self._queries.largest, domain=domain)
        return list_of("largest", fetch, limit, cursor, domain=domain)

    def errors(
        self, *, domain: str = "", limit: int | None = None, cursor: str | None = None
    ) -> Results[Page]:
        """Returns the pages with a status of 400 or more, by status."""
        fetch = partial(self._queries.errors, domain=domain)
        return list_of("errors", fetch, limit, cursor, domain=domain)

    def redirects(
        self, *, domain: str = "", limit: int | None = None, cursor: str | None = None
    ) -> Results[Page]:
        """Returns the pages that redirect to another one, by status."""
        fetch = partial(self._queries.redirects, domain=domain)
        return list_of("redirects", fetch, limit, cursor, domain=domain)

    def inlinked(
        self,
        *,
        least: int = 1,
        domain: str = "",
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Results[Page]:
        """Returns the pages with at least so many inlinks, the most linked first."""
        fetch = partial(self._queries.inlinked, least=least, domain=domain)
        return list_of("inlinked", fetch, limit, cursor, least=least, domain=domain)

    def dead_ends(
        self, *, domain: str = "", limit: int | None = None, cursor: str | None = None
    ) -> Results[Page]:
        """Returns the HTML pages with a 2xx status that have no links."""
        fetch = partial(self._queries.dead_ends, domain=domain)
        return list_of("dead-ends", fetch, limit, cursor, domain=domain)

    def modified(
        self,
        since: When | None = None,
        until: When | None = None,
        *,
        domain: str = "",
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Results[Page]:
        """Returns the pages that changed from one time until before another, the newest first.

        Raises:
            InvalidRequest: `since` is not before `until`.
        """
        begin, end = _time_key(since), _time_key(until)
        fetch = partial(self._queries.modified, begin, end, domain=domain)
        return list_of("modified", fetch, limit, cursor, since=begin, until=end, domain=domain)

    def outdated(
        self, before: When, *, domain: str = "", limit: int | None = None, cursor: str | None = None
    ) -> Results[Page]:
        """Returns the pages that did not change since a time, the oldest first."""
        end = _time_key(before)
        fetch = partial(self._queries.outdated, end, domain=domain)
        return list_of("outdated", fetch, limit, cursor, before=end, domain=domain)

    def duplicates(
        self,
        *,
        domain: str = "",
        most: int = MOST_DUPLICATES,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Results[Duplicates]:
        """Returns the groups of pages with the same body, by digest.

        Args:
            domain: only groups with a page of this domain; all pages of such a group are shown.
            most: how many pages to show of each group.
        """
        fetch = partial(self._queries.duplicates, domain=domain, most=most)
        return list_of("duplicates", fetch, limit, cursor, domain=domain)

    def untitled(
        self, *, domain: str = "", limit: int | None = None, cursor: str | None = None
    ) -> Results[Page]:
        """Returns the HTML pages with a 2xx status that have no title. Reads every page."""
        fetch = partial(self._queries.untitled, domain=domain)
        return list_of("untitled", fetch, limit, cursor, domain=domain)

    def search(
        self, words: str, *, domain: str = "", limit: int | None = None, cursor: str | None = None
    ) -> Results[Page]:
        """Returns the pages with a text in title or body, in any case. Reads every page."""
        fetch = partial(self._queries.search, words, domain=domain)
        return list_of("search", fetch, limit, cursor, words=words, domain=domain)


def _time_key(when: When | None) -> str:
    """Returns a time as queries take it; nothing for None."""
    if when is None:
        return ""
    return encode_time(second_of(when, begins=True)).translate(_DIGITS_ONLY)
