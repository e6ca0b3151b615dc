"""Named consumers of the change feeds: their cursors are operational state.

A consumer reads a feed from its stored cursor on. The cursor is moved only after the changes before
it were handled, by compare-and-set: of two processes with one name, the second one that commits
gets an error. So every change is handled at least once, wherever a process dies.

The value of the kind `consumer` is JSON. On-disk: changing this needs a new format version. Frozen
by tests/operations/test_feed_consumers.py:

    {"feed": "pages", "cursor": "…", "committed_ms": 1788264000000, "commits": 3}

A consumer is stored when it is opened for the first time. From then on, tombstones of removed pages
are not purged before it has read them; see `lowest_position`.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Generic, Self

import msgspec

from webtable.errors import ConflictError, CorruptData, NotFound
from webtable.operations.operational_state import OperationalState
from webtable.pages.asking.change_feed import BEGIN, C, ChangeFeed, FeedSource, Position, decoded
from webtable.result_base import Value

__all__ = ["Consumer", "FeedConsumer", "forget_consumer", "list_consumers", "lowest_position"]

KIND = "consumer"
_MOST_COUNTED = 10_000


class _Stored(msgspec.Struct):
    """What is stored about a consumer."""

    feed: str
    cursor: str
    committed_ms: int
    commits: int


class Consumer(Value, msgspec.Struct, frozen=True):
    """A named consumer, and how far it has read.

    Attributes:
        name: its name.
        feed: what it reads: `pages` or `links`.
        revision: the revision up to which it has handled all changes; 0 at the beginning.
        lag_seconds: from there to the newest change.
        behind: how many changes come after its cursor, at most 10,000. On a cluster those of the
            last eleven minutes always do.
        committed: when its cursor was stored the last time.
        is_valid: false where it can read no more: the store was restored or copied, or the link
            index rebuilt. `webtable changes forget NAME` lets it begin again.
        cursor: the cursor itself.
    """

    name: str
    feed: str
    revision: int
    lag_seconds: float
    behind: int
    committed: str
    is_valid: bool
    cursor: str


class FeedConsumer(Generic[C]):
    """The changes that a named consumer has not handled yet. Not for several threads at a time.

    `commit` stores that all changes that were returned so far are handled. In a `with` block, the
    end of the block does it, unless the block raises an error.

    Raises:
        ConflictError: the consumer reads another feed, or its cursor belongs to another store, or
            to this one before it was restored; or removals after it are no longer listed.
    """

    def __init__(self, name: str, source: FeedSource[C], state: OperationalState) -> None:
        self.name = name
        self._source = source
        self._state = state
        stored = state.get(KIND, name)
        if stored is None:
            first = _encoded(source.name, ChangeFeed(source).cursor, source, 0)
            # Another process may have been first; then it goes on as that one does.
            stored = first if state.put_if(KIND, name, None, first) else state.get(KIND, name)
        if stored is None:
            raise self._lost()
        self._stored = stored
        found = _decoded(name, stored)
        if found.feed != source.name:
            raise ConflictError(
                f"consumer '{name}' reads the feed of {found.feed}, not that of {source.name}",
                hint="use another name",
            )
        self._commits = found.commits
        self._cursor = found.cursor
        try:
            self._feed = ChangeFeed(source, found.cursor)
        except ConflictError as exc:
            raise ConflictError(
                f"consumer '{name}' cannot continue: {exc.message}",
                hint=f"let it begin again: `webtable changes forget {name}`, and drop what it"
                " has from before",
            ) from exc

    @property
    def cursor(self) -> str:
        """The cursor after the changes that were returned so far."""
        return self._feed.cursor

    def read(self, limit: int = 1_000) -> list[C]:
        """Returns the next changes, at most `limit`; an empty list where there are no more yet."""
        return self._feed.read(limit)

    def __iter__(self) -> Iterator[C]:
        """Yields all changes up to now."""
        return iter(self._feed)

    def commit(self) -> None:
        """Stores durably that all changes that were returned so far are handled.

        Raises:
            ConflictError: another process has moved the cursor of this consumer, or forgot it.
            ReadOnly, RetryableError: the cursor could not be stored; it stays where it was.
        """
        cursor = self._feed.cursor
        if cursor == self._cursor:
            return
        new = _encoded(self._source.name, cursor, self._source, self._commits + 1)
        if not self._state.put_if(KIND, self.name, self._stored, new):
            raise self._lost()
        self._stored, self._cursor = new, cursor
        self._commits += 1

    def _lost(self) -> ConflictError:
        return ConflictError(
            f"another process has moved consumer '{self.name}' since this one read its cursor",
            hint="let one process at a time use this name, or use another name here",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.commit()


def list_consumers(
    state: OperationalState, sources: Mapping[str, FeedSource[Any]]
) -> list[Consumer]:
    """Returns all consumers in the order of their names.

    Args:
        sources: the feeds by their names; without that of the links where it cannot be read.
    """
    return [_consumer(name, _decoded(name, value), sources) for name, value in state.items(KIND)]


def _consumer(name: str, stored: _Stored, sources: Mapping[str, FeedSource[Any]]) -> Consumer:
    source = sources.get(stored.feed)
    place = None if source is None else _place(stored, source)
    revision, lag, behind = 0, 0.0, 0
    if source is not None and place is not None:
        rest = source.hits(place.rest)
        first = next(rest, None)
        newest = next(source.hits(BEGIN.rest, reverse=True), None)
        revision = place.revision
        if first is not None and newest is not None:
            # A consumer at the beginning is behind from the first change on, not from 1970 on.
            since = place.revision or source.place(first).revision
            lag = max(0, source.place(newest).revision - since) / 1000
            behind = 1 + sum(1 for _ in itertools.islice(rest, _MOST_COUNTED - 1))
    committed = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(stored.committed_ms // 1000))
    return Consumer(
        name, stored.feed, revision, lag, behind, committed, place is not None, stored.cursor
    )


def forget_consumer(state: OperationalState, name: str) -> None:
    """Deletes a consumer; the next one of that name begins from the beginning.

    Raises:
        NotFound: there is no consumer of that name.
    """
    while True:
        stored = state.get(KIND, name)
        if stored is None:
            raise NotFound("consumer", name, [each for each, _ in state.items(KIND)])
        if state.delete_if(KIND, name, stored):
            return


def lowest_position(state: OperationalState, source: FeedSource[Any]) -> Position | None:
    """Returns the place up to which every named consumer of a feed has handled all changes.

    None where it has no consumers. A consumer that can read no more does not count. The tombstone
    of a page may be purged when `Position(revision, row)` of its entry is at or before this place,
    and, on a cluster, it is older than two windows. Before that, the mark of purged tombstones is
    set to its revision: a reader without a name is rejected if it was behind.
    """
    places = [
        place
        for name, value in state.items(KIND)
        if (stored := _decoded(name, value)).feed == source.name
        and (place := _place(stored, source)) is not None
    ]
    return min(places, default=None)


def _place(stored: _Stored, source: FeedSource[Any]) -> Position | None:
    """Returns where a consumer is; None where it can read no more."""
    try:
        return decoded(stored.cursor, source)[0]
    except ConflictError:
        return None


def _encoded(feed: str, cursor: str, source: FeedSource[Any], commits: int) -> bytes:
    return msgspec.json.encode(_Stored(feed, cursor, source.clock.now_ms(), commits))


def _decoded(name: str, value: bytes) -> _Stored:
    try:
        return msgspec.json.decode(value, type=_Stored)
    except msgspec.MsgspecError as exc:
        raise CorruptData(
            f"what is stored about consumer '{name}' does not decode: {value!r:.80}",
            hint=f"let it begin again: `webtable changes forget {name}`",
        ) from exc
