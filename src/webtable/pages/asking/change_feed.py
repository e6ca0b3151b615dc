"""The change feed: every page at its newest change, in the order of the changes.

The index `webtable_change_idx` has one entry for each page, by the revision of its last change. To
read what changed since a cursor is to read that index from the cursor on.

In an embedded store every commit has a higher revision than all commits before it, so a reader
that is at the end has missed nothing. On a cluster, writers commit up to ten minutes after they
chose a revision. So entries are delivered as soon as they appear, but the cursor moves only to the
time before that window; the window is read again (swept) from time to time, for entries that
appeared behind the reader. Each change is delivered at least once: after a restart from a cursor,
the changes of the window are delivered again. They carry their revision, so a consumer can
recognise them.
"""

from __future__ import annotations

import base64
import binascii
import itertools
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from webtable.errors import ConflictError, InvalidRequest
from webtable.index.indexed_table import Hit
from webtable.index.write_protocol import WRITE_LIMIT_MS
from webtable.pages.asking.pages_by_index import IndexQuery, PageIndexReader
from webtable.pages.columns import CHANGED, DIGEST, FETCHED, REMOVED, STATUS, URL
from webtable.pages.indexes import CHANGES
from webtable.pages.keys import KeyRange
from webtable.pages.page_table import PageTable
from webtable.pages.storing.content_revision import DIGITS, ChangeKind, decode_changed
from webtable.result_base import Value
from webtable.store.scan import Scan

__all__ = ["WINDOW_MS", "ChangeFeed", "PageChange"]

WINDOW_MS = WRITE_LIMIT_MS + 60_000
"""After this time every entry with a revision has appeared on a cluster."""
_SWEEP_MS = 30_000
_FIRST_READ, _LARGEST_READ, _MORE = 32, 500, 4
"""Entries that are read at once: few at first, as a caller may need no more, then four times as
many each time."""
_END = b"\xff"


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


class _Position(NamedTuple):
    """A place in the feed: after the entry of a row at a revision."""

    revision: int
    row: bytes = b""

    @property
    def key(self) -> bytes:
        """The key of the entry, without its salt."""
        return b"%0*d_%b" % (DIGITS, self.revision, self.row)


_BEGIN = _Position(0)


class ChangeFeed:
    """The changes after a cursor. Not for several threads at a time.

    Args:
        since: a cursor of this store; None: from the beginning, which is every page once.

    Raises:
        InvalidRequest: the text is not a cursor.
        ConflictError: it is the cursor of another store, or of this one before it was restored.
    """

    def __init__(self, pages: PageTable, since: str | None = None) -> None:
        self._pages = pages
        self._reader = PageIndexReader(pages)
        self._durable = _BEGIN if since is None else _decoded(since, pages)
        self._next = self._durable
        self._has_window = not pages.store.capabilities.atomic_commits
        self._delivered: set[tuple[bytes, int]] = set()
        self._swept_ms: int | None = None

    @property
    def cursor(self) -> str:
        """The cursor to continue from after the changes that `read` has returned."""
        place = self._durable if self._has_window else self._next
        text = b"%b\t%d\t%b" % (self._pages.incarnation.encode(), place.revision, place.row)
        return base64.urlsafe_b64encode(text).rstrip(b"=").decode()

    def read(self, limit: int = 1_000) -> list[PageChange]:
        """Returns the next changes, at most `limit`; an empty list where there are no more yet."""
        return list(itertools.islice(self, limit))

    def __iter__(self) -> Iterator[PageChange]:
        """Yields all changes up to now. `cursor` is always that after the last one yielded."""
        self._pages.store.refresh()
        for place, change in self._changes(self._next):
            self._next = place
            if change is not None:
                yield change
        if self._has_window:
            yield from self._sweep()

    def _sweep(self) -> Iterator[PageChange]:
        """Reads the window again, from time to time, and moves the cursor at the end of it."""
        now = self._pages.rows.clock.now_ms()
        if self._swept_ms is not None and abs(now - self._swept_ms) < _SWEEP_MS:
            return
        for _, change in self._changes(self._durable):
            if change is not None:
                yield change
        self._swept_ms = now
        # What has a later revision than that may appear yet, in front of or behind the last place.
        self._durable = max(self._durable, min(_Position(now - WINDOW_MS, _END), self._next))
        self._delivered = {each for each in self._delivered if each[1] > self._durable.revision}

    def _changes(self, after: _Position) -> Iterator[tuple[_Position, PageChange | None]]:
        """Yields the places of entries, with the change where it was not delivered before."""
        bounds = KeyRange(after.key + b"\0", b":")
        hits = self._reader.hits(IndexQuery(CHANGES, bounds), bounds)
        size = _FIRST_READ
        while some := list(itertools.islice(hits, size)):
            size = min(size * _MORE, _LARGEST_READ)
            new = [hit for hit in some if self._place(hit)[::-1] not in self._delivered]
            changes = {
                (hit.row, change.revision): change
                for hit in self._pages.rows.check_hits(CHANGES, new, scan=Scan(batch_rows=size))
                if (change := _change_of(hit)) is not None
            }
            for hit in some:
                place = self._place(hit)
                change = changes.pop(place[::-1], None)
                if change is not None and self._has_window:
                    self._delivered.add((place.row, place.revision))
                yield place, change

    def _place(self, hit: Hit) -> _Position:
        skip = self._reader.skip
        return _Position(int(hit.key[skip : skip + DIGITS]), hit.row)


def _change_of(hit: Hit) -> PageChange | None:
    facts = {} if hit.found is None else hit.found.values()
    if CHANGED not in facts or not (URL in facts or REMOVED in facts):
        return None

    def text(column: bytes) -> str:
        return facts.get(column, b"").decode()

    number, kind = decode_changed(facts[CHANGED])
    status = int(text(STATUS) or 0)
    return PageChange(text(URL), kind, text(FETCHED), text(DIGEST), status, number, text(REMOVED))


def _decoded(cursor: str, pages: PageTable) -> _Position:
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True)
        incarnation, number, row = text.split(b"\t", 2)
        place = _Position(int(number), row)
        if not 0 <= place.revision < 10**DIGITS:
            raise ValueError(number)
    except (ValueError, binascii.Error) as exc:
        raise InvalidRequest(
            f"{cursor!r:.80} is not a cursor of changes",
            hint="use the cursor of an earlier call, or none to read from the beginning",
        ) from exc
    if incarnation.decode("utf-8", "replace") != pages.incarnation:
        raise ConflictError(
            "the cursor belongs to another store, or to this one before it was restored or copied",
            hint="read from the beginning, without a cursor",
        )
    return place
