"""The feed of the pages: the index `webtable_change_idx`, every page at its newest change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from webtable.index.indexed_table import Hit
from webtable.pages.asking.change_feed import FeedSource
from webtable.pages.asking.pages_by_index import IndexQuery, PageIndexReader
from webtable.pages.columns import CHANGED, DIGEST, FETCHED, REMOVED, STATUS, URL
from webtable.pages.indexes import CHANGES
from webtable.pages.keys import KeyRange
from webtable.pages.page_table import PageTable
from webtable.pages.settings import PURGED
from webtable.pages.storing.content_revision import ChangeKind, decode_changed
from webtable.result_base import Value
from webtable.store.scan import Scan

__all__ = ["PageChange", "PageFeed"]


class PageChange(Value, msgspec.Struct, frozen=True):
    """The newest change of a page.

    Attributes:
        url: the canonical URL.
        kind: `new`, `changed`, `status` (another HTTP status), `gone` (404 or 410 now) or
            `removed`: then only `revision` and `removed` have values.
        fetched: the time of the newest capture.
        digest: the digest of its body.
        status: its HTTP status.
        revision: grows with every change of the page.
        removed: of a removed page, the SHA-256 of its row key in hex; else empty.
    """

    url: str
    kind: ChangeKind
    fetched: str
    digest: str
    status: int
    revision: int
    removed: str = ""


class PageFeed(FeedSource[PageChange]):
    """The index of the pages by their content revisions."""

    name = "pages"
    purged = PURGED

    def __init__(self, pages: PageTable) -> None:
        self._pages = pages
        self._reader = PageIndexReader(pages)
        self.store = pages.store
        self.clock = pages.rows.clock
        self.skip = self._reader.skip

    def incarnation(self) -> str:
        """Returns the incarnation of the store."""
        return self._pages.incarnation

    def hits(self, bounds: KeyRange, *, reverse: bool = False) -> Iterator[Hit]:
        """Yields the entries in a range."""
        return self._reader.hits(IndexQuery(CHANGES, bounds, is_reverse=reverse), bounds)

    def changes(self, hits: Sequence[Hit]) -> Iterator[tuple[bytes, PageChange]]:
        """Yields row and change of those entries that are valid now."""
        at_once = Scan(batch_rows=len(hits) or 1)
        for hit in self._pages.rows.check_hits(CHANGES, hits, scan=at_once):
            change = _change_of(hit)
            if change is not None:
                yield hit.row, change


def _change_of(hit: Hit) -> PageChange | None:
    facts = {} if hit.found is None else hit.found.values()
    if CHANGED not in facts or not (URL in facts or REMOVED in facts):
        return None

    def text(column: bytes) -> str:
        return facts.get(column, b"").decode()

    number, kind = decode_changed(facts[CHANGED])
    status = int(text(STATUS) or 0)
    removed = text(REMOVED) if kind == "removed" else ""
    return PageChange(text(URL), kind, text(FETCHED), text(DIGEST), status, number, removed)
