"""Queries about pages. Every answer is bounded, can be gone on from, and says what it has cost.

Most are answered from an index; those that must look at every page say so in what they explain.
"""

from __future__ import annotations

import heapq
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec

from webtable.errors import InvalidRequest
from webtable.index.table import Found, Hit
from webtable.pages.asking.results import QueryCost, ResultPage, after_key, bounded, wrong_cursor
from webtable.pages.captures import payload_digest
from webtable.pages.columns import BODY, LINKS, METADATA_FAMILY
from webtable.pages.indexes import DIGESTS
from webtable.pages.keys import KeyRange, SaltedKeys, is_under, reversed_host
from webtable.pages.page import Page, page_of
from webtable.pages.table import PageTable
from webtable.pages.urls import port_of, typed_site
from webtable.store.model import Row
from webtable.store.scan import Scan

__all__ = ["MOST_DUPLICATES", "Duplicates", "PageQueries", "QueryCost", "ResultPage"]

MOST_DUPLICATES = 100
"""How many pages with the same body are shown of each, unless more are asked for."""

_HTML = ("text/html", "application/xhtml+xml")
_EMPTY_BODY = f"{payload_digest(b'')}_".encode()
_FEW = 8
_SORTED_AT_ONCE = 1_024
_SALTS = tuple(b"%02x:" % number for number in range(256))
_TIME_SIGNS = str.maketrans("T", "_", "-:Z")
# What the keys of pages look like, and those of entries in front of them.
_SALTED_ROW = re.compile(rb"[0-9a-f]{2}:[^/]+/")
_READABLE_ROW = re.compile(rb"[^_/]+_[^/]")
_ENTRY = {
    "webtable_time_idx": re.compile(rb"\d{8}_(?:\d{6}_)?"),
    "webtable_domain_idx": re.compile(rb"[^_].*?_\d{8}_\d{6}_"),
    "webtable_size_idx": re.compile(rb"\d{4}KB_[a-z]+_\d{12}_"),
    "webtable_link_idx": re.compile(rb"(?:in|out)links_\d\d_\d{12}_"),
    "webtable_status_idx": re.compile(rb"\d+_"),
    DIGESTS: re.compile(rb"[^_]+_"),
}


class Duplicates(msgspec.Struct):
    """Pages with the same body.

    Attributes:
        pages: by row key, as many as were asked for at most.
        is_truncated: whether there are more.
    """

    digest: str
    pages: list[Page]
    is_truncated: bool = False


class PageQueries:
    """The questions that a store of pages answers.

    Times are `YYYYMMDD` or `YYYYMMDDhhmmss` in UTC, from inclusive; a day begins at midnight.
    """

    def __init__(self, pages: PageTable) -> None:
        self._pages = pages
        self._skip = 3 if isinstance(pages.keys, SaltedKeys) else 0  # the salt, in front of keys

    # By domain and directory

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
        name, port = typed_site(host)
        ranges = self._pages.keys.host_ranges(name, with_subdomains=with_subdomains)

        return self._by_key(
            ranges,
            lambda page: _is_of_site(page, name, port, with_subdomains=with_subdomains),
            limit,
            after,
        )

    def in_directory(
        self, url: str, *, limit: int = 20, after: str | None = None
    ) -> ResultPage[Page]:
        """Returns the pages whose URLs begin with this one, in the order of their row keys."""
        ranges = self._pages.keys.directory_ranges(url)
        return self._by_key(ranges, lambda page: page.url.startswith(url), limit, after)

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

        In a store made before the indexes knew more than days it reads all pages of a day to put
        them in order, until the index is built anew.

        Raises:
            InvalidRequest: the range ends before it begins, or the domain is none.
        """
        if since and until and since.ljust(14, "0") >= until.ljust(14, "0"):
            raise InvalidRequest(
                f"--since {_dashed(since)} is not before --until {_dashed(until)}",
                hint="--until is the day after the last one, as in --since 2026-09-01 "
                "--until 2026-09-02",
            )
        index, before, salts = "webtable_time_idx", b"", _SALTS
        is_wanted: Callable[[Page], bool] | None = None
        if domain:
            index = "webtable_domain_idx"
            host, port = typed_site(domain)
            registered = self._pages.suffixes.registered_domain(host)
            before = f"{reversed_host(registered)}_".encode()
            salts = (self._pages.keys.host_ranges(registered)[0].start[: self._skip],)
            is_wanted = lambda page: _is_of_site(page, host, port)  # noqa: E731
        bounds = KeyRange(before + _time_key(since), before + (_time_key(until) or b":"))
        if index not in self._pages.exact_times:
            ask = partial(self._by_day, len(before))
        else:
            ask = partial(self._by_index, reverse=True)
        return ask(index, bounds, limit, after, is_wanted=is_wanted, salts=salts)

    def outdated(
        self, before: str, *, limit: int = 20, after: str | None = None
    ) -> ResultPage[Page]:
        """Returns the pages that did not change since a time, the oldest first."""
        index, stop = "webtable_time_idx", _time_key(before)
        if index in self._pages.exact_times:
            return self._by_index(index, KeyRange(b"0", stop), limit, after)
        return self._by_index(
            index,
            KeyRange(b"0", stop[:8] + b"`"),
            limit,
            after,
            is_wanted=lambda page: _modified_key(page) < stop,
        )

    def largest(self, *, limit: int = 20, after: str | None = None) -> ResultPage[Page]:
        """Returns the pages with the largest bodies, the largest first."""
        bounds = KeyRange(b"0", b":")
        return self._by_index("webtable_size_idx", bounds, limit, after, reverse=True)

    def errors(self, *, limit: int = 20, after: str | None = None) -> ResultPage[Page]:
        """Returns the pages that answer with a status from 400 on, by status."""
        return self._by_index("webtable_status_idx", KeyRange(b"400", b"600"), limit, after)

    def redirects(self, *, limit: int = 20, after: str | None = None) -> ResultPage[Page]:
        """Returns the pages that lead elsewhere."""
        return self._by_index(
            "webtable_status_idx",
            KeyRange(b"300", b"400"),
            limit,
            after,
            is_wanted=lambda page: bool(page.redirect),
        )

    def inlinked(
        self, *, least: int = 1, limit: int = 20, after: str | None = None
    ) -> ResultPage[Page]:
        """Returns the pages that most others link to, the most linked first."""
        return self._by_index(
            "webtable_link_idx",
            KeyRange(b"inlinks_", b"inlinks`"),
            limit,
            after,
            is_wanted=lambda page: (page.inlinks or 0) >= least,
            reverse=True,
        )

    def dead_ends(self, *, limit: int = 20, after: str | None = None) -> ResultPage[Page]:
        """Returns the pages that answer well and link nowhere."""
        return self._by_index(
            "webtable_link_idx",
            KeyRange(b"outlinks_00_", b"outlinks_00`"),
            limit,
            after,
        )

    def duplicates(
        self, *, most: int = MOST_DUPLICATES, limit: int = 20, after: str | None = None
    ) -> ResultPage[Duplicates]:
        """Returns the groups of pages that have the same body, which is not empty, by digest.

        Reads the entries of these alone. In a store made before it was marked which pages have the
        same body it reads the whole index, until that is built anew.

        Args:
            most: how many pages to show of each group.
        """
        cost = QueryCost(index=DIGESTS)
        start, skip = after_key(after), 0
        if after is not None:
            self._check_entry(DIGESTS, KeyRange(b"", b"\xff"), after)
        if self._pages.rows.index(DIGESTS).is_grouped:
            pieces = self._marked_pieces(start, limit + 1, most + 1)
        else:
            cost.is_whole_index, skip = True, self._skip
            hits = self._hits(DIGESTS, KeyRange(start, b"\xff"), reverse=False)
            pieces = iter([_groups(hits, skip)])
        read: list[Found] = []

        def found() -> Iterator[tuple[str, Duplicates]]:
            for piece in pieces:
                read.append(self._pages.rows.check_hits(DIGESTS, piece))
                yield from _duplicates(read[-1], skip, most)

        answer = bounded(found(), limit, cost)
        cost.entries = sum(checked.counts.entries for checked in read)
        cost.rows = sum(checked.counts.rows for checked in read)
        return answer

    def _marked_pieces(self, start: bytes, size: int, most: int) -> Iterator[Iterator[Hit]]:
        """Yields so many entries of so many marked groups at a time, of those behind a key."""
        rows = self._pages.rows
        marked = (group for group in rows.marked(DIGESTS, start) if group != _EMPTY_BODY)
        while groups := list(itertools.islice(marked, size)):
            scans = [Scan(prefix=group, batch_rows=_FEW) for group in groups]
            streams = rows.hits_of_many(DIGESTS, scans)
            each = (itertools.islice(stream, most) for stream in streams)
            yield itertools.chain.from_iterable(each)

    # By looking at every page

    def untitled(self, *, limit: int = 20, after: str | None = None) -> ResultPage[Page]:
        """Returns the pages that answer well and have no title. Looks at every page."""
        return self._by_key(
            [KeyRange(b"", b"")],
            lambda page: not page.title and _is_good_html(page),
            limit,
            after,
            is_scan=True,
        )

    def search(self, words: str, *, limit: int = 20, after: str | None = None) -> ResultPage[Page]:
        """Returns the pages with some words in title or body, in any case. Looks at every page."""
        wanted = words.casefold()
        if not wanted:
            raise InvalidRequest("there are no words to search for", hint="give at least one")

        def has_words(row: Row, page: Page) -> bool:
            if wanted in page.title.casefold():
                return True
            body = row.value(BODY)
            return body is not None and wanted in body.decode("utf-8", "replace").casefold()

        return self._by_rows(Scan(columns=(METADATA_FAMILY, BODY)), has_words, limit, after)

    def linking_to(
        self, url: str, *, limit: int = 20, after: str | None = None
    ) -> ResultPage[Page]:
        """Returns the pages with a link to a URL. Looks at every page."""
        line = f"{url}\t".encode()

        def links(row: Row, _: Page) -> bool:
            text = row.value(LINKS) or b""
            return text.startswith(line) or b"\n" + line in text

        return self._by_rows(Scan(columns=(METADATA_FAMILY, LINKS)), links, limit, after)

    # How

    def _row_behind(self, after: str | None) -> bytes:
        """Returns the first row key behind a cursor that is the key of a page."""
        start = after_key(after)
        if after is not None and not self._is_row_key(start[:-1]):
            raise wrong_cursor(after)
        return start

    def _is_row_key(self, key: bytes) -> bool:
        return bool((_SALTED_ROW if self._skip else _READABLE_ROW).match(key))

    def _check_entry(self, name: str, bounds: KeyRange, after: str) -> bytes:
        """Returns the key of an entry that a cursor is, without its salt.

        Raises:
            InvalidRequest: it is not one of this index, or outside of what was asked for.
        """
        key = after_key(after)[:-1]
        found = _ENTRY[name].match(key)
        is_entry = found is not None and self._is_row_key(key[found.end() :])
        if not is_entry or not bounds.start <= key < bounds.stop:
            raise wrong_cursor(after)
        return key

    def _by_key(
        self,
        ranges: list[KeyRange],
        is_wanted: Callable[[Page], bool],
        limit: int,
        after: str | None,
        *,
        is_scan: bool = False,
    ) -> ResultPage[Page]:
        cost = QueryCost(is_scan=is_scan)
        table, start = self._pages.rows.table, self._row_behind(after)
        if after is not None and not any(
            low <= start and (not high or start < high) for low, high in ranges
        ):
            raise wrong_cursor(after)

        def found() -> Iterator[tuple[str, Page]]:
            for low, high in ranges:
                if high and start >= high:
                    continue
                scan = Scan(start=max(low, start), stop=high, columns=(METADATA_FAMILY,))
                for row in table.scan(scan):
                    cost.rows += 1
                    page = page_of(row.key, row.values())
                    if page is not None and is_wanted(page):
                        yield row.key.decode("latin-1"), page

        return bounded(found(), limit, cost)

    def _by_rows(
        self, scan: Scan, is_wanted: Callable[[Row, Page], bool], limit: int, after: str | None
    ) -> ResultPage[Page]:
        cost = QueryCost(is_scan=True)
        scan = msgspec.structs.replace(scan, start=self._row_behind(after))

        def found() -> Iterator[tuple[str, Page]]:
            for row in self._pages.rows.table.scan(scan):
                cost.rows += 1
                page = page_of(row.key, row.values())
                if page is not None and is_wanted(row, page):
                    yield row.key.decode("latin-1"), page

        return bounded(found(), limit, cost)

    def _by_day(
        self,
        prefix_bytes: int,
        name: str,
        bounds: KeyRange,
        limit: int,
        after: str | None,
        *,
        is_wanted: Callable[[Page], bool] | None = None,
        salts: Sequence[bytes] = _SALTS,
    ) -> ResultPage[Page]:
        """Answers from an index that knows days only, in the order of times, the newest first.

        Reads all pages of each day that the answer touches; keeps no more of them than are shown.
        """
        start, stop = bounds
        if after is not None:
            stop = self._check_entry(name, bounds, after)
        day = slice(self._skip + prefix_bytes, self._skip + prefix_bytes + 8)
        days = KeyRange(start[: prefix_bytes + 8], stop[: prefix_bytes + 8] + b"`")
        cost = QueryCost(index=name, is_by_day=True)

        def timed(hits: Iterator[Hit]) -> Iterator[tuple[bytes, Page]]:
            while some := list(itertools.islice(hits, _SORTED_AT_ONCE)):
                checked = self._pages.rows.check_hits(name, iter(some))
                for hit in checked:
                    page = None if hit.found is None else page_of(hit.row, hit.found.values())
                    if page is not None and (is_wanted is None or is_wanted(page)):
                        key = start[:prefix_bytes] + _modified_key(page) + b"_" + hit.row
                        if start <= key < stop:
                            yield key, page
                cost.entries += checked.counts.entries
                cost.rows += checked.counts.rows

        def found() -> Iterator[tuple[str, Page]]:
            hits = self._hits(name, days, reverse=True, salts=salts)
            for _, same in itertools.groupby(hits, key=lambda hit: hit.key[day]):
                for key, page in heapq.nlargest(limit + 1, timed(same), key=lambda pair: pair[0]):
                    yield key.decode("latin-1"), page

        return bounded(found(), limit, cost)

    def _by_index(
        self,
        name: str,
        bounds: KeyRange,
        limit: int,
        after: str | None,
        *,
        is_wanted: Callable[[Page], bool] | None = None,
        reverse: bool = False,
        salts: Sequence[bytes] = _SALTS,
    ) -> ResultPage[Page]:
        start, stop = bounds
        if after is not None:
            key = self._check_entry(name, bounds, after)
            start, stop = (start, key) if reverse else (key + b"\0", stop)
        hits = self._hits(name, KeyRange(start, stop), reverse=reverse, salts=salts)
        # With nothing to sort out afterwards, no more rows are read than are shown.
        wanted = max(limit, 0) + 1
        most = Scan(limit=wanted if is_wanted is None else None, batch_rows=wanted)
        checked = self._pages.rows.check_hits(name, hits, scan=most)
        skip = self._skip

        def found() -> Iterator[tuple[str, Page]]:
            for hit in checked:
                page = None if hit.found is None else page_of(hit.row, hit.found.values())
                if page is not None and (is_wanted is None or is_wanted(page)):
                    yield hit.key[skip:].decode("latin-1"), page

        answer = bounded(found(), limit, QueryCost(index=name))
        answer.cost.entries = checked.counts.entries
        answer.cost.rows = checked.counts.rows
        return answer

    def _hits(
        self, name: str, bounds: KeyRange, *, reverse: bool, salts: Sequence[bytes] = _SALTS
    ) -> Iterator[Hit]:
        """Yields the entries of a range of keys without their salts, of all salts in one order.

        A domain has one salt: who asks for the pages of one names it.
        """
        start, stop = bounds
        if stop <= start:
            return iter(())
        rows = self._pages.rows
        if not isinstance(self._pages.keys, SaltedKeys):
            return rows.hits(name, Scan(start=start, stop=stop, reverse=reverse))
        # A few entries of each salt are enough for most answers.
        scans = [
            Scan(start=salt + start, stop=salt + stop, reverse=reverse, batch_rows=_FEW)
            for salt in salts
        ]
        each = rows.hits_of_many(name, scans)
        return heapq.merge(*each, key=lambda hit: hit.key[3:], reverse=reverse)


def _is_of_site(page: Page, host: str, port: str, *, with_subdomains: bool = True) -> bool:
    is_there = is_under(page.url, host, with_subdomains=with_subdomains)
    return is_there and (not port or port_of(page.url) == port)


def _dashed(time: str) -> str:
    day = f"{time[:4]}-{time[4:6]}-{time[6:8]}"
    return f"{day}T{time[8:10]}:{time[10:12]}:{time[12:]}Z" if time[8:].strip("0") else day


def _time_key(time: str) -> bytes:
    """Returns what keys of indexes by time begin with: the day, and the second if it is given."""
    return (f"{time[:8]}_{time[8:]}" if time[8:] else time).encode()


def _modified_key(page: Page) -> bytes:
    return page.last_modified.translate(_TIME_SIGNS).encode()


def _is_good_html(page: Page) -> bool:
    return 200 <= page.status <= 299 and page.type in _HTML


def _duplicates(checked: Found, skip: int, most: int) -> Iterator[tuple[str, Duplicates]]:
    """Yields the groups among pages in the order of their digests, with cursors."""
    pages = (
        (hit.key[skip:].decode("latin-1"), page_of(hit.row, hit.found.values()))
        for hit in checked
        if hit.found is not None
    )
    known = ((key, page) for key, page in pages if page is not None and page.size)
    for digest, group in itertools.groupby(known, key=lambda pair: pair[1].digest):
        keys, same = zip(*group, strict=True)
        if len(same) > 1:
            yield keys[-1], Duplicates(digest, list(same[:most]), len(same) > most)


def _groups(hits: Iterator[Hit], skip: int) -> Iterator[Hit]:
    """Yields the entries that share a digest with another one."""
    for _, group in itertools.groupby(hits, key=lambda hit: hit.key[skip:].partition(b"_")[0]):
        same = list(group)
        if len(same) > 1:
            yield from same
