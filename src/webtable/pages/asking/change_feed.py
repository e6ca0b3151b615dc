"""`ChangeFeed`: reads an index of rows by the revision of their last change, from a cursor on.

Two feeds are read with it: that of the pages (`page_feed.py`) and that of their links
(`webtable.links.asking.link_feed`). Each has an index with one entry for each row. To read what
changed since a cursor is to read that index from the cursor on.

In an embedded store every commit has a higher revision than all commits before it, so a reader
that is at the end has missed nothing. On a cluster, writers commit up to ten minutes after they
chose a revision. So entries are delivered as soon as they appear, but the cursor moves only to the
time before that window; the window is read again (swept) from time to time, for entries that
appeared behind the reader. Each change is delivered at least once: after a restart from a cursor,
the changes of the window are delivered again. They carry their revision, so a consumer can
recognise them.

A tombstone is deleted some time after the page. A reader that was behind it then has missed the
removal, so its cursor is rejected. The cursor has the mark of what was purged when the reader
began: a reader that began later did not need those tombstones.
"""

from __future__ import annotations

import base64
import binascii
import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from webtable.errors import ConflictError, InvalidRequest
from webtable.index.indexed_table import Hit
from webtable.index.write_protocol import WRITE_LIMIT_MS, Clock
from webtable.pages.keys import KeyRange
from webtable.pages.storing.content_revision import DIGITS
from webtable.store.store import Store

__all__ = ["WINDOW_MS", "ChangeFeed", "FeedSource", "Position"]

WINDOW_MS = WRITE_LIMIT_MS + 60_000
"""After this time every entry with a revision has appeared on a cluster."""
_SWEEP_MS = 30_000
_FIRST_READ, _LARGEST_READ, _MORE = 32, 500, 4
"""Entries that are read at once: few at first, as a caller may need no more, then four times as
many each time."""
_END = b"\xff"


class _Revised(Protocol):
    """Anything with a revision."""

    @property
    def revision(self) -> int:
        """The revision of the change."""


C = TypeVar("C", bound=_Revised)


class FeedSource(ABC, Generic[C]):
    """The index that a feed reads, and the changes that its entries stand for.

    Attributes:
        name: `pages` or `links`.
        skip: how many bytes of a bucket are in front of the keys of entries.
        purged: the table, row and column of the mark of purged tombstones: the highest revision
            of those that were deleted. It is written before they are.
    """

    name: str
    store: Store
    clock: Clock
    skip: int
    purged: tuple[str, bytes, bytes]

    @abstractmethod
    def incarnation(self) -> str:
        """Returns what identifies the feed: a restored or rebuilt one has another.

        Raises:
            ConflictError: the feed cannot be read yet.
        """

    @abstractmethod
    def hits(self, bounds: KeyRange, *, reverse: bool = False) -> Iterator[Hit]:
        """Yields the entries in a range of keys without buckets, in the order of those."""

    @abstractmethod
    def changes(self, hits: Sequence[Hit]) -> Iterator[tuple[bytes, C]]:
        """Yields row and change of those entries that are valid now."""

    def place(self, hit: Hit) -> Position:
        """Returns the place of an entry."""
        return Position(int(hit.key[self.skip : self.skip + DIGITS]), hit.row)

    def purged_up_to(self) -> int:
        """Returns the highest revision of purged tombstones; 0 where none was purged."""
        table, row, column = self.purged
        found = self.store.table(table).get(row, (column,))
        return int((found.value(column) if found is not None else None) or 0)


class Position(NamedTuple):
    """A place in a feed: after the entry of a row at a revision."""

    revision: int
    row: bytes = b""

    @property
    def key(self) -> bytes:
        """The key of the entry, without its bucket."""
        return b"%0*d_%b" % (DIGITS, self.revision, self.row)

    @property
    def rest(self) -> KeyRange:
        """The keys of all entries after this place."""
        return KeyRange(self.key + b"\0", b":")


BEGIN = Position(0)


class ChangeFeed(Generic[C]):
    """The changes after a cursor. Not for several threads at a time.

    Args:
        since: a cursor of this feed; None: from the beginning, which is every row once.

    Raises:
        InvalidRequest: the text is not a cursor.
        ConflictError: it is the cursor of another store or feed, or of this one before it was
            restored or rebuilt; or removals after it are no longer listed.
    """

    def __init__(self, source: FeedSource[C], since: str | None = None) -> None:
        self._source = source
        source.store.refresh()
        self._incarnation = source.incarnation()
        if since is None:
            self._durable, self._purged = BEGIN, source.purged_up_to()
        else:
            self._durable, self._purged = decoded(since, source)
        self._next = self._durable
        self._has_window = not source.store.capabilities.atomic_commits
        self._delivered: set[tuple[bytes, int]] = set()
        self._swept_ms: int | None = None
        if since is not None:
            self._check_removals(self._durable)

    @property
    def position(self) -> Position:
        """The place to continue from after the changes that `read` has returned."""
        return self._durable if self._has_window else self._next

    @property
    def cursor(self) -> str:
        """The same as a text."""
        place, name = self.position, self._source.name.encode()
        parts = self._incarnation.encode(), name, b"%d" % self._purged, b"%d" % place.revision
        text = b"\t".join((*parts, place.row))
        return base64.urlsafe_b64encode(text).rstrip(b"=").decode()

    def read(self, limit: int = 1_000) -> list[C]:
        """Returns the next changes, at most `limit`; an empty list where there are no more yet."""
        return list(itertools.islice(self, limit))

    def __iter__(self) -> Iterator[C]:
        """Yields all changes up to now. `cursor` is always that after the last one yielded."""
        self._source.store.refresh()
        if self._source.incarnation() != self._incarnation:
            raise _other_store(self._source)
        settled = BEGIN
        if has_missed_none(self._next, self._durable):
            settled = durable_limit(self._source.clock.now_ms())
        for place, change in self._changes(self._next):
            self._next = place
            self._durable = max(self._durable, min(place, settled))
            if change is not None:
                yield change
        if self._has_window:
            yield from self._sweep()

    def _sweep(self) -> Iterator[C]:
        """Reads the window again, from time to time, and moves the cursor at the end of it."""
        now = self._source.clock.now_ms()
        if self._swept_ms is not None and abs(now - self._swept_ms) < _SWEEP_MS:
            return
        for _, change in self._changes(self._durable):
            if change is not None:
                yield change
        self._swept_ms = now
        # What has a later revision than that may appear yet, in front of or behind the last place.
        self._durable = max(self._durable, min(durable_limit(now), self._next))
        self._delivered = {each for each in self._delivered if each[1] > self._durable.revision}

    def _changes(self, after: Position) -> Iterator[tuple[Position, C | None]]:
        """Yields the places of entries, with the change where it was not delivered before."""
        source = self._source
        hits, size = source.hits(after.rest), _FIRST_READ
        while some := list(itertools.islice(hits, size)):
            size = min(size * _MORE, _LARGEST_READ)
            new = [hit for hit in some if not is_handled(source.place(hit), self._delivered)]
            changes = {(row, change.revision): change for row, change in source.changes(new)}
            self._check_removals(after)
            for hit in some:
                place = after = source.place(hit)
                change = changes.pop((place.row, place.revision), None)
                if change is not None and self._has_window and place > self._durable:
                    self._delivered.add((place.row, place.revision))
                yield place, change
        self._check_removals(after)

    def _check_removals(self, place: Position) -> None:
        """Checks that no tombstone was purged that a reader at this place has not read."""
        mark = self._source.purged_up_to()
        if place.revision < mark and self._purged < mark:
            raise ConflictError(
                "removals before the cursor's end are no longer listed: tombstones up to revision"
                f" {mark} have been purged, and the cursor is at {place.revision}",
                hint="read from the beginning, without a cursor, and drop what is not listed",
            )


def is_handled(place: Position, delivered: set[tuple[bytes, int]]) -> bool:
    """Whether a sweep leaves out an entry: the same row at the same revision was delivered."""
    return (place.row, place.revision) in delivered


def has_missed_none(following: Position, durable: Position) -> bool:
    """Whether the cursor may follow a pass up to the window, so that a long one is not repeated.

    It may not where entries were read behind the cursor: others may have appeared among them.
    """
    return following == durable


def durable_limit(now_ms: int) -> Position:
    """Up to where all entries of a cluster have appeared: no cursor moves behind that place."""
    return Position(now_ms - WINDOW_MS, _END)


def decoded(cursor: str, source: FeedSource[C]) -> tuple[Position, int]:
    """Returns the place in a cursor, and the mark of purged tombstones.

    Raises:
        InvalidRequest: the text is not a cursor.
        ConflictError: it is the cursor of another store or feed.
    """
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True)
        incarnation, name, purged, number, row = text.split(b"\t", 4)
        place, mark = Position(int(number), row), int(purged)
        if not (0 <= place.revision < 10**DIGITS and 0 <= mark < 10**DIGITS):
            raise ValueError(number)
    except (ValueError, binascii.Error) as exc:
        raise InvalidRequest(
            f"{cursor!r:.80} is not a cursor of changes",
            hint="use the cursor of an earlier call, or none to read from the beginning",
        ) from exc
    if name.decode("utf-8", "replace") != source.name:
        other = name.decode("utf-8", "replace")
        raise ConflictError(
            f"the cursor belongs to the feed of {other!r:.20}, not to that of {source.name}",
            hint="read the feed that it belongs to, or read from the beginning, without a cursor",
        )
    if incarnation.decode("utf-8", "replace") != source.incarnation():
        raise _other_store(source)
    return place, mark


def _other_store(source: FeedSource[C]) -> ConflictError:
    rebuilt = ", rebuilt" if source.name == "links" else ""
    return ConflictError(
        "the cursor belongs to another store, or to this one before it was restored"
        f"{rebuilt} or copied",
        hint="read from the beginning, without a cursor",
    )
