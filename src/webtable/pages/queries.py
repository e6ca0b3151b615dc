"""Questions about pages. Every answer is bounded, can be gone on from, and says what it has cost.

Most are answered from an index; those that must look at every page say so in what they explain.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator, Sequence

import msgspec

from webtable.errors import InvalidRequest
from webtable.pages.bounded import Answer, Explained, after_key, bounded
from webtable.pages.captures import payload_digest
from webtable.pages.indexes import DIGESTS
from webtable.pages.keys import KeyRange, SaltedKeys, is_under, reversed_host
from webtable.pages.page import Page, page_of
from webtable.pages.table import PageTable
from webtable.records.index import Found, Hit
from webtable.store.model import Row
from webtable.store.scan import Scan

__all__ = ["MOST_DUPLICATES", "Answer", "Duplicates", "Explained", "Questions"]

MOST_DUPLICATES = 100
"""How many pages with the same body are shown of each, unless more are asked for."""

_METADATA = b"metadata"
_HTML = ("text/html", "application/xhtml+xml")
_EMPTY_BODY = f"{payload_digest(b'')}_".encode()
_FEW = 8
_SALTS = tuple(b"%02x:" % number for number in range(256))


class Duplicates(msgspec.Struct):
    """Pages with the same body.

    Attributes:
        pages: by row key, as many as were asked for at most.
        is_truncated: whether there are more.
    """

    digest: str
    pages: list[Page]
    is_truncated: bool = False


class Questions:
    """The questions that a store of pages answers. Days are `YYYYMMDD`, from inclusive."""

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
    ) -> Answer[Page]:
        """Returns the pages of a host, in the order of their row keys."""
        host = host.lower().rstrip("/")
        if not host or "/" in host:
            raise InvalidRequest(f"'{host}' is not a domain", hint="give a host, as example.com")
        ranges = self._pages.keys.host_ranges(host, with_subdomains=with_subdomains)
        return self._by_key(
            ranges,
            lambda page: is_under(page.url, host, with_subdomains=with_subdomains),
            limit,
            after,
        )

    def in_directory(self, url: str, *, limit: int = 20, after: str | None = None) -> Answer[Page]:
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
    ) -> Answer[Page]:
        """Returns the pages that changed from one day up to another, the newest first."""
        index, before, salts = "webtable_time_idx", b"", _SALTS
        is_wanted: Callable[[Page], bool] | None = None
        if domain:
            index = "webtable_domain_idx"
            registered = self._pages.suffixes.registered_domain(domain)
            before = f"{reversed_host(registered)}_".encode()
            salts = (self._pages.keys.host_ranges(registered)[0].start[: self._skip],)
            is_wanted = lambda page: is_under(page.url, domain)  # noqa: E731
        bounds = KeyRange(before + since.encode(), before + (until.encode() or b":"))
        return self._by_index(
            index, bounds, limit, after, is_wanted=is_wanted, reverse=True, salts=salts
        )

    def outdated(self, before: str, *, limit: int = 20, after: str | None = None) -> Answer[Page]:
        """Returns the pages that did not change since a day, the oldest first."""
        return self._by_index("webtable_time_idx", KeyRange(b"0", before.encode()), limit, after)

    def largest(self, *, limit: int = 20, after: str | None = None) -> Answer[Page]:
        """Returns the pages with the largest bodies, the largest first."""
        bounds = KeyRange(b"0", b":")
        return self._by_index("webtable_size_idx", bounds, limit, after, reverse=True)

    def errors(self, *, limit: int = 20, after: str | None = None) -> Answer[Page]:
        """Returns the pages that answer with a status from 400 on, by status."""
        return self._by_index("webtable_status_idx", KeyRange(b"400", b"600"), limit, after)

    def redirects(self, *, limit: int = 20, after: str | None = None) -> Answer[Page]:
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
    ) -> Answer[Page]:
        """Returns the pages that most others link to, the most linked first."""
        return self._by_index(
            "webtable_link_idx",
            KeyRange(b"inlinks_", b"inlinks`"),
            limit,
            after,
            is_wanted=lambda page: (page.inlinks or 0) >= least,
            reverse=True,
        )

    def dead_ends(self, *, limit: int = 20, after: str | None = None) -> Answer[Page]:
        """Returns the pages that answer well and link nowhere."""
        return self._by_index(
            "webtable_link_idx",
            KeyRange(b"outlinks_00_", b"outlinks_00`"),
            limit,
            after,
        )

    def duplicates(
        self, *, most: int = MOST_DUPLICATES, limit: int = 20, after: str | None = None
    ) -> Answer[Duplicates]:
        """Returns the groups of pages that have the same body, which is not empty, by digest.

        Reads the entries of these alone. In a store made before it was marked which pages have the
        same body it reads the whole index, until that is built anew.

        Args:
            most: how many pages to show of each group.
        """
        explained = Explained(index=DIGESTS)
        start, skip = after_key(after), 0
        if self._pages.rows.index(DIGESTS).is_grouped:
            pieces = self._marked_pieces(start, limit + 1, most + 1)
        else:
            explained.is_whole_index, skip = True, self._skip
            hits = self._hits(DIGESTS, KeyRange(start, b"\xff"), reverse=False)
            pieces = iter([_groups(hits, skip)])
        read: list[Found] = []

        def found() -> Iterator[tuple[str, Duplicates]]:
            for piece in pieces:
                read.append(self._pages.rows.check_hits(DIGESTS, piece))
                yield from _duplicates(read[-1], skip, most)

        answer = bounded(found(), limit, explained)
        explained.entries = sum(checked.counts.entries for checked in read)
        explained.rows = sum(checked.counts.rows for checked in read)
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

    def untitled(self, *, limit: int = 20, after: str | None = None) -> Answer[Page]:
        """Returns the pages that answer well and have no title. Looks at every page."""
        return self._by_key(
            [KeyRange(b"", b"")],
            lambda page: not page.title and _is_good_html(page),
            limit,
            after,
            is_scan=True,
        )

    def search(self, words: str, *, limit: int = 20, after: str | None = None) -> Answer[Page]:
        """Returns the pages with some words in title or body, in any case. Looks at every page."""
        wanted = words.casefold()
        if not wanted:
            raise InvalidRequest("there are no words to search for", hint="give at least one")

        def has_words(row: Row, page: Page) -> bool:
            if wanted in page.title.casefold():
                return True
            body = row.value(b"content:html")
            return body is not None and wanted in body.decode("utf-8", "replace").casefold()

        return self._by_rows(Scan(columns=(_METADATA, b"content:html")), has_words, limit, after)

    def linking_to(self, url: str, *, limit: int = 20, after: str | None = None) -> Answer[Page]:
        """Returns the pages with a link to a URL. Looks at every page."""
        line = f"{url}\t".encode()

        def links(row: Row, _: Page) -> bool:
            text = row.value(b"outlinks:urls") or b""
            return text.startswith(line) or b"\n" + line in text

        return self._by_rows(Scan(columns=(_METADATA, b"outlinks:urls")), links, limit, after)

    # How

    def _by_key(
        self,
        ranges: list[KeyRange],
        is_wanted: Callable[[Page], bool],
        limit: int,
        after: str | None,
        *,
        is_scan: bool = False,
    ) -> Answer[Page]:
        explained = Explained(is_scan=is_scan)
        table, start = self._pages.rows.table, after_key(after)

        def found() -> Iterator[tuple[str, Page]]:
            for low, high in ranges:
                if high and start >= high:
                    continue
                scan = Scan(start=max(low, start), stop=high, columns=(_METADATA,))
                for row in table.scan(scan):
                    explained.rows += 1
                    page = page_of(row.key, row.values())
                    if page is not None and is_wanted(page):
                        yield row.key.decode("latin-1"), page

        return bounded(found(), limit, explained)

    def _by_rows(
        self, scan: Scan, is_wanted: Callable[[Row, Page], bool], limit: int, after: str | None
    ) -> Answer[Page]:
        explained = Explained(is_scan=True)
        scan = msgspec.structs.replace(scan, start=after_key(after))

        def found() -> Iterator[tuple[str, Page]]:
            for row in self._pages.rows.table.scan(scan):
                explained.rows += 1
                page = page_of(row.key, row.values())
                if page is not None and is_wanted(row, page):
                    yield row.key.decode("latin-1"), page

        return bounded(found(), limit, explained)

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
    ) -> Answer[Page]:
        start, stop = bounds
        if after is not None:
            if reverse:
                stop = min(stop, after.encode("latin-1"))
            else:
                start = max(start, after_key(after))
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

        answer = bounded(found(), limit, Explained(index=name))
        answer.explained.entries = checked.counts.entries
        answer.explained.rows = checked.counts.rows
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
