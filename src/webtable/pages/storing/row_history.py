"""The captures of one page and their versions, indexed: the cost of a new capture is constant.

A page may have very many captures. The newest capture, the version that is valid at a second, and
the captures that wait for a body are found without a search through all captures. The indexes are
built at the first use and updated from then on. `Histories` caches the longest histories between
batches, so that they are not read again for each batch.
"""

from __future__ import annotations

import bisect
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from webtable.index.index_and_change import Change
from webtable.pages.columns import BODY_OF, CAPTURE, CAPTURES_FAMILY, LINKS_OF
from webtable.pages.formats.payload_digests import is_digest_of
from webtable.pages.storing.capture_cells import decode_body_of, decode_note
from webtable.pages.storing.page_versions import (
    CaptureNote,
    Versions,
    counting,
    first_of_digest,
    run_start,
)
from webtable.store.cells_and_rows import Row
from webtable.store.mutation import Mutation, Put
from webtable.store.scan import ALL_VERSIONS
from webtable.store.table import Table

__all__ = ["HISTORY", "Decided", "Histories", "RowHistory", "history_of", "read_history"]

HISTORY = (CAPTURES_FAMILY, BODY_OF, LINKS_OF)
"""The columns that are read for the history of a row."""

_MANY_NOTES = 64
"""A shorter history is not cached: to read it again is faster."""
_MAX_NOTES = 200_000
"""The limit for all cached histories together: about 100 MB."""


class RowHistory:
    """The captures of a page, and the times of the versions of its body and links.

    Attributes:
        notes: the captures by time and digest. Change them with `add` only.
        own_digests: the digests of the stored bodies themselves, by the digests of their captures.
    """

    __slots__ = (
        "_counted",
        "_first",
        "_revisited",
        "_since",
        "_sized",
        "_sizes",
        "_waiting",
        "bodies",
        "links",
        "notes",
        "own_digests",
    )

    def __init__(
        self,
        notes: Mapping[tuple[int, str], CaptureNote] | None = None,
        bodies: Mapping[int, str] | None = None,
        links: Mapping[int, str] | None = None,
        own_digests: Mapping[str, str] | None = None,
    ) -> None:
        self.notes = dict(notes or {})
        self.own_digests = dict(own_digests or {})
        self.bodies = Versions(bodies)
        self.links = Versions(links)
        self._counted: list[CaptureNote] | None = None
        self._since: int | None = None
        self._waiting: dict[str, set[int]] = {}
        self._first: dict[str, CaptureNote] = {}
        self._sizes: dict[str, set[int]] = {}
        self._revisited: set[str] = set()
        self._sized: set[str] = set()

    @property
    def counted(self) -> list[CaptureNote]:
        """The captures that count: one for each second, in the order of time. Do not change it."""
        if self._counted is None:
            self._counted = counting(self.notes.values())
            for note in self.notes.values():
                self._index(note)
        return self._counted

    @property
    def newest(self) -> CaptureNote | None:
        """The capture with the greatest time and digest."""
        counted = self.counted
        return counted[-1] if counted else None

    @property
    def since(self) -> int:
        """The start of the run of captures with the newest digest; a capture must exist."""
        if self._since is None:
            self._since = run_start(self.counted)
        return self._since

    @property
    def waits(self) -> bool:
        """Whether some capture waits for its body."""
        return bool(self.counted and self._waiting)

    def waiting(self, digest: str) -> Iterable[int]:
        """Returns the times of the captures that wait for the body of a digest."""
        return self._waiting.get(digest, ()) if self.counted else ()

    def lacks_body(self, digest: str) -> bool:
        """Whether revisits repeat a body that neither this page nor another one had so far."""
        return bool(
            self.counted
            and digest in self._revisited
            and digest not in self._sized
            and digest not in self._sizes
            and self.bodies.last(digest) is None
            and not is_digest_of(digest, b"")
        )

    @property
    def lacking(self) -> list[str]:
        """The digests for which `lacks_body` is true, in order."""
        return sorted(filter(self.lacks_body, self._revisited)) if self.counted else []

    def newest_revisit(self, digest: str) -> CaptureNote | None:
        """Returns the newest capture that waits for the body of a digest, if it is a revisit."""
        times = self.waiting(digest)
        found = (self.notes[time, digest] for time in sorted(times, reverse=True))
        return next((note for note in found if note.is_revisit), None)

    def first(self, digest: str) -> CaptureNote | None:
        """Returns the capture of a digest that revisits repeat: the first that has a body."""
        return self._first.get(digest) if self.counted else None

    def sizes(self, digest: str) -> set[int]:
        """Returns the sizes of the bodies of a digest: more than one only for a forged digest."""
        return self._sizes.get(digest, set()) if self.counted else set()

    def counts(self, note: CaptureNote) -> bool:
        """Whether a capture is the one that counts in its second."""
        counted = self.counted
        at = bisect.bisect_left(counted, note.time, key=_time)
        return at < len(counted) and counted[at] == note

    def add(self, note: CaptureNote) -> None:
        """Adds a capture, or replaces the capture with the same time and digest."""
        counted = self.counted
        self.notes[note.time, note.digest] = note
        self._index(note)
        at = bisect.bisect_left(counted, note.time, key=_time)
        if at < len(counted) and counted[at].time == note.time:
            if note.digest >= counted[at].digest:
                if note.digest != counted[at].digest:
                    self._since = None
                counted[at] = note
            return
        counted.insert(at, note)
        if self._since is not None:
            self._move_since(at)

    def _move_since(self, at: int) -> None:
        """Updates the start of the newest run after a capture was inserted at a place."""
        counted = self._counted
        assert counted is not None
        assert self._since is not None
        note, newest = counted[at], counted[-1]
        if at == len(counted) - 1:
            is_same = at > 0 and counted[at - 1].digest == note.digest
            self._since = self._since if is_same else note.time
        elif note.digest != newest.digest:
            if note.time > self._since:
                self._since = counted[at + 1].time
        elif counted[at + 1].time == self._since:
            self._since = note.time

    def _index(self, note: CaptureNote) -> None:
        time, digest = note.time, note.digest
        if note.waits_for_body:
            self._waiting.setdefault(digest, set()).add(time)
        else:
            self._sizes.setdefault(digest, set()).add(note.size)
            times = self._waiting.get(digest)
            if times is not None:
                times.discard(time)
                if not times:
                    del self._waiting[digest]
        if note.is_revisit:
            self._revisited.add(digest)
            if note.size:
                self._sized.add(digest)
        if note.has_size:
            first = self._first.get(digest)
            self._first[digest] = note if first is None else first_of_digest(note, first)

    def apply(self, mutations: Iterable[Mutation]) -> None:
        """Applies the mutations that were written to the row."""
        for put in mutations:
            if not isinstance(put, Put) or put.timestamp is None:
                continue
            time = put.timestamp // 1000
            for column, value in put.values.items():
                if column.startswith(CAPTURE):
                    self.add(decode_note(column[len(CAPTURE) :], value))
                elif column == BODY_OF:
                    digest, own = decode_body_of(value)
                    self.bodies.put(time, digest)
                    if own is not None:
                        self.own_digests[digest] = own
                elif column == LINKS_OF:
                    self.links.put(time, value.decode())


def _time(note: CaptureNote) -> int:
    return note.time


def read_history(table: Table, row: bytes) -> RowHistory:
    """Reads the captures of a page and the times of its versions, without any body."""
    return history_of(table.get(row, HISTORY, versions=ALL_VERSIONS))


def history_of(found: Row | None) -> RowHistory:
    """Returns the history of a row that was read with the columns `HISTORY`."""
    notes: dict[tuple[int, str], CaptureNote] = {}
    bodies: dict[int, str] = {}
    links: dict[int, str] = {}
    own_digests: dict[str, str] = {}
    for column, timestamp, value, _ in () if found is None else found.raw_cells:
        if column == BODY_OF:
            digest, own = decode_body_of(value)
            bodies[timestamp // 1000] = digest
            if own is not None:
                own_digests[digest] = own
        elif column == LINKS_OF:
            links[timestamp // 1000] = value.decode()
        elif column.startswith(CAPTURE):
            note = decode_note(column[len(CAPTURE) :], value)
            notes[note.time, note.digest] = note
    return RowHistory(notes, bodies, links, own_digests)


class Decided(NamedTuple):
    """The change that an attempt computed for a row, and the revision of the row.

    `history` is the history of the row, where it was read. It may contain the captures of the
    change already, but not its versions.
    """

    revision: int
    history: RowHistory | None
    change: Change | None


class Histories:
    """A cache of long histories, with the revision of their rows.

    `pop` removes a history from the cache, so that only one thread has it until `put`.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cached: OrderedDict[bytes, tuple[int, RowHistory]] = OrderedDict()
        self._notes = 0

    def pop(self, row: bytes, revision: int) -> RowHistory | None:
        """Removes and returns the history of a row at a revision; None where it is not cached."""
        if row not in self._cached:
            return None
        with self._lock:
            found = self._cached.pop(row, None)
            if found is None:
                return None
            self._notes -= len(found[1].notes)
        return found[1] if found[0] == revision else None

    def update(self, row: bytes, decided: Decided, revision: int | None) -> None:
        """Updates the cache after a write; `revision` is the new one, None: unchanged."""
        history = decided.history or self.pop(row, decided.revision)
        if history is None or len(history.notes) < _MANY_NOTES:
            return
        if decided.change is not None:
            history.apply(decided.change.more)
        self.put(row, decided.revision if revision is None else revision, history)

    def put(self, row: bytes, revision: int, history: RowHistory) -> None:
        """Adds a history to the cache, if it is long."""
        size = len(history.notes)
        if not _MANY_NOTES <= size <= _MAX_NOTES:
            return
        with self._lock:
            _, before = self._cached.pop(row, (0, None))
            self._notes += size - (len(before.notes) if before is not None else 0)
            self._cached[row] = revision, history
            while self._notes > _MAX_NOTES:
                _, (_, dropped) = self._cached.popitem(last=False)
                self._notes -= len(dropped.notes)
