"""The feed of the links: every page at the newest change of its links.

It is read from the index `webindex_change_idx`.

A page is listed when the links that its newest successful capture has are others than before, or
have other anchors or rels. The numbers of links to it do not count. The status, digest and time of
a change are those of the page now, read from its own row.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

import msgspec

from webtable.errors import ConflictError
from webtable.index.indexed_table import Hit
from webtable.links import schema
from webtable.links.link_index import LinkIndex
from webtable.pages.asking.change_feed import FeedSource
from webtable.pages.columns import DIGEST, FETCHED, REMOVED, STATUS, URL
from webtable.pages.keys import KeyRange
from webtable.pages.removing.targets import row_hash
from webtable.pages.settings import PURGED_LINKS
from webtable.pages.storing.content_revision import decode_changed
from webtable.result_base import Value
from webtable.store.scan import Scan

__all__ = ["LinkChange", "LinkFeed"]

LinkChangeKind: TypeAlias = Literal["new", "changed", "removed"]

_FEW = 32
_PAGE_COLUMNS = (URL, FETCHED, DIGEST, STATUS, REMOVED)


class LinkChange(Value, msgspec.Struct, frozen=True):
    """The newest change of the links of a page.

    Attributes:
        url: the canonical URL of the page with the links.
        kind: `new` (the first links of the page), `changed`, or `removed`: the page was removed
            with its links; then only `revision` and `removed` have values.
        fetched: the time of the newest capture of the page.
        digest: the digest of its body.
        status: its HTTP status.
        revision: grows with every change of the links of the page.
        removed: of a removed page, the SHA-256 of its row key in hex; else empty.
    """

    url: str
    kind: LinkChangeKind
    fetched: str
    digest: str
    status: int
    revision: int
    removed: str = ""


class LinkFeed(FeedSource[LinkChange]):
    """The index of the rows of pages in the link index, by the revision of their links."""

    name = "links"
    purged = PURGED_LINKS

    def __init__(self, index: LinkIndex) -> None:
        self._index = index
        self.store = index.store
        self.clock = index.rows.clock
        self.skip = schema.CHANGE_BUCKET_BYTES if index.has_buckets else 0

    def incarnation(self) -> str:
        """Returns the incarnation of the store, and that of the link index.

        Raises:
            ConflictError: the link index is being rebuilt.
        """
        own = self._index.incarnation()
        if own is None:
            raise ConflictError(
                f"the link index of store '{self.store.location}' is being rebuilt",
                hint="read the feed of the links when `webtable links rebuild` has ended",
            )
        return f"{self._index.pages.incarnation}.{own}"

    def hits(self, bounds: KeyRange, *, reverse: bool = False) -> Iterator[Hit]:
        """Yields the entries in a range."""
        rows, (start, stop) = self._index.rows, bounds
        if not self._index.has_buckets:
            return rows.hits(schema.CHANGES, Scan(start=start, stop=stop, reverse=reverse))
        scans = [
            Scan(start=bucket + start, stop=bucket + stop, reverse=reverse, batch_rows=_FEW)
            for bucket in schema.CHANGE_BUCKETS
        ]
        each = rows.hits_of_many(schema.CHANGES, scans)
        return heapq.merge(*each, key=lambda hit: hit.key[self.skip :], reverse=reverse)

    def changes(self, hits: Sequence[Hit]) -> Iterator[tuple[bytes, LinkChange]]:
        """Yields row and change of those entries that are valid now."""
        at_once, pages = Scan(batch_rows=len(hits) or 1), self._index.pages
        checked = list(self._index.rows.check_hits(schema.CHANGES, hits, scan=at_once))
        urls = [schema.url_of(hit.row[2:]) for hit in checked]
        keys = [pages.keys.row_key(url) for url in urls]
        found = pages.rows.table.get_many(keys, _PAGE_COLUMNS) if keys else []
        for hit, key, url, page in zip(checked, keys, urls, found, strict=True):
            facts = {} if page is None else page.values()
            yield hit.row, _change_of(hit, url, facts, row_hash(key))


def _change_of(hit: Hit, url: str, page: dict[bytes, bytes], removed: str) -> LinkChange:
    assert hit.found is not None
    number, kind = decode_changed(hit.found.values()[schema.CHANGED])
    # The row of the page is removed first, and its links follow.
    if kind == "removed" or (REMOVED in page and URL not in page):
        return LinkChange("", "removed", "", "", 0, number, removed)

    def text(column: bytes) -> str:
        return page.get(column, b"").decode()

    kind_of_links: LinkChangeKind = "new" if kind == "new" else "changed"
    status = int(text(STATUS) or 0)
    return LinkChange(url, kind_of_links, text(FETCHED), text(DIGEST), status, number)
