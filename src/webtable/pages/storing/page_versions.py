"""Computes the state of a page from its captures, whatever the order of their arrival.

The family `captures` defines the order: the newest capture is the one with the greatest (time,
digest). Of several captures in one second only the one with the greatest digest counts for content
and links. Bodies and link lists are stored as versions; equal neighbours share a version. A version
is valid from its second on until the next version. This module only computes; it does not read or
write the store.
"""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

__all__ = [
    "CaptureNote",
    "Version",
    "Versions",
    "completed",
    "counting",
    "first_of_digest",
    "last_modified",
    "modified",
    "rank",
    "run_start",
    "versions_to_put",
]


class CaptureNote(NamedTuple):
    """One capture of a page, as its row stores it in one small cell.

    Attributes:
        time: when it was fetched, in seconds since 1970.
        digest: the digest of the payload, as text.
        status: the HTTP status; 0 where it is missing.
        size: the bytes of the body.
        type: the media type.
        redirect: the target of a redirect, a canonical URL; empty: none.
        last_modified: the time in the header, in seconds; None where it is missing or not valid.
        is_revisit: whether it has no body, but refers to an earlier capture with the same body.
        is_described: whether a file without bodies (WAT) describes it; another may have its body.
    """

    time: int
    digest: str
    status: int
    size: int
    type: str
    redirect: str
    last_modified: int | None
    is_revisit: bool
    is_described: bool = False

    @property
    def waits_for_body(self) -> bool:
        """Whether its body is missing, and a later capture may bring it."""
        return self.is_revisit or self.is_described

    @property
    def has_size(self) -> bool:
        """Whether it has the size of its body; a revisit has it where another URL has the body."""
        return not self.is_revisit or self.size > 0

    @property
    def is_ok(self) -> bool:
        """Whether the response was a success: links of other responses do not count."""
        return 200 <= self.status <= 299


class Version(NamedTuple):
    """A version to be put: its first second, and its identity (see `versions_to_put`)."""

    time: int
    identity: str


class Versions:
    """Stored versions: the first second at which each is valid, and its identity."""

    __slots__ = ("_last", "_times", "by_time")

    def __init__(self, by_time: Mapping[int, str] | None = None) -> None:
        self.by_time = dict(by_time or {})
        self._times: list[int] | None = None
        self._last: dict[str, int] | None = None

    def put(self, time: int, identity: str) -> None:
        """Adds a version, or replaces the version at the same time."""
        before = self.by_time.get(time)
        self.by_time[time] = identity
        if before is not None:
            if before != identity:
                self._last = None
            return
        if self._times is not None:
            bisect.insort(self._times, time)
        if self._last is not None:
            self._last[identity] = max(time, self._last.get(identity, time))

    def visible(self, time: int) -> int | None:
        """Returns the time of the version that is valid at a second; None where none is."""
        if self._times is None:
            self._times = sorted(self.by_time)
        at = bisect.bisect_right(self._times, time)
        return self._times[at - 1] if at else None

    def last(self, identity: str) -> int | None:
        """Returns the time of the newest version of an identity; None where it has none."""
        if self._last is None:
            self._last = {self.by_time[time]: time for time in sorted(self.by_time)}
        return self._last.get(identity)

    def visible_with(self, time: int, put: Mapping[int, str]) -> Version | None:
        """Returns the version that is valid at a second after a few others are put."""
        found = [each for each in put if each <= time]
        stored = self.visible(time)
        if stored is not None:
            found.append(stored)
        if not found:
            return None
        at = max(found)
        return Version(at, put[at] if at in put else self.by_time[at])


def rank(note: CaptureNote) -> tuple[object, ...]:
    """Returns a sort key: of two captures with the same time and digest, the greater one stays."""
    header = -1 if note.last_modified is None else note.last_modified
    kind = not note.is_revisit, not note.is_described
    return *kind, note.status, note.size, note.type, note.redirect, header


def completed(note: CaptureNote, same: Iterable[CaptureNote]) -> CaptureNote:
    """Returns a capture; a revisit gets the size and type of the capture that it repeats.

    Args:
        same: captures of the same digest. A revisit with a size has the body of another URL.
    """
    repeated = min((each for each in same if each.has_size), key=_by_kind, default=None)
    if not note.is_revisit or repeated is None:
        return note
    return note._replace(size=repeated.size, type=note.type or repeated.type)


def first_of_digest(note: CaptureNote, other: CaptureNote) -> CaptureNote:
    """Returns the one of two captures of a digest that revisits repeat; see `completed`."""
    return note if _by_kind(note) <= _by_kind(other) else other


def _by_kind(note: CaptureNote) -> tuple[bool, int]:
    return note.is_revisit, note.time


def counting(notes: Iterable[CaptureNote]) -> list[CaptureNote]:
    """Returns the captures that count: one for each second, in the order of time."""
    by_time: dict[int, CaptureNote] = {}
    for note in sorted(notes, key=lambda note: (note.time, note.digest)):
        by_time[note.time] = note
    return list(by_time.values())


def last_modified(counting: Sequence[CaptureNote]) -> int:
    """Returns the time of the last change of the page, as of the newest of these captures.

    That is the time in its header, unless that is missing or later than the fetch. Otherwise it is
    the time of the first capture in the unbroken run of captures with the newest digest.
    """
    newest = counting[-1]
    return modified(newest, newest.time if _has_header(newest) else run_start(counting))


def modified(newest: CaptureNote, since: int) -> int:
    """Returns the same as `last_modified`, given the start of the run of the newest digest."""
    header = newest.last_modified
    return header if header is not None and _has_header(newest) else since


def _has_header(note: CaptureNote) -> bool:
    return note.last_modified is not None and note.last_modified <= note.time


def run_start(counting: Sequence[CaptureNote]) -> int:
    """Returns the time of the first capture in the run of captures with the newest digest."""
    since, digest = counting[-1].time, counting[-1].digest
    for note in reversed(counting):
        if note.digest != digest:
            break
        since = note.time
    return since


def versions_to_put(
    counting: Sequence[CaptureNote],
    stored: Versions,
    new: Collection[int],
    identity: Callable[[CaptureNote], str],
    is_available: Callable[[str], bool],
) -> list[Version]:
    """Returns the versions that make every read as of a date right, in the order of time.

    A version is put where the version that is valid at a capture's second does not belong to that
    capture. The new version is valid for later captures too. So the next capture is checked as
    well, and gets a version of its own where it shared the version before. A new capture that
    shares the new version, or one without a version, does not end that: the one behind it is
    checked too.

    Args:
        counting: the captures that count, with the new ones.
        stored: the stored versions.
        new: the seconds of the captures that were not stored before.
        identity: returns the identity of a capture's version: equal ones share a version.
        is_available: whether the store or a new capture has a version of an identity.
    """
    puts: dict[int, str] = {}
    waiting = sorted(set(new))
    checked: set[int] = set()
    put_times: list[int] = []
    while waiting:
        time = heapq.heappop(waiting)
        at = bisect.bisect_left(counting, time, key=_time)
        if time in checked or at == len(counting) or counting[at].time != time:
            continue
        checked.add(time)
        wanted = identity(counting[at])
        visible, is_put = _identity_at(time, stored, puts, put_times)
        is_right = visible == wanted
        if not is_right and is_available(wanted):
            puts[time] = wanted
            bisect.insort(put_times, time)
        elif not is_put or (is_right and time not in new):
            # What was valid for the captures behind it before still is.
            continue
        if at + 1 < len(counting):
            heapq.heappush(waiting, counting[at + 1].time)
    return [Version(time, puts[time]) for time in put_times]


def _identity_at(
    time: int, stored: Versions, puts: Mapping[int, str], put_times: Sequence[int]
) -> tuple[str | None, bool]:
    """Returns the identity that is valid at a second, and whether a new version has it."""
    before = bisect.bisect_right(put_times, time)
    put = put_times[before - 1] if before else None
    at = stored.visible(time)
    if put is not None and (at is None or put >= at):
        return puts[put], True
    return (None if at is None else stored.by_time[at]), False


def _time(note: CaptureNote) -> int:
    return note.time
