"""What the captures of a page amount to, in whatever order they came.

`captures` is the truth about order: the newest capture is the one with the greatest (time, digest),
and of several in one second only the one with the greatest digest counts for content and links.
Bodies and link lists are kept as versions, and equal neighbours share one: a version holds from
its second on until the next. Everything here is computed from the captures alone; nothing is read
or written.
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
    "counting",
    "last_modified",
    "modified",
    "rank",
    "run_start",
    "versions_to_put",
]


class CaptureNote(NamedTuple):
    """What the row of a page remembers of one capture, in one small cell.

    Attributes:
        time: when it was fetched, in seconds.
        digest: that of the payload, as text.
        status: of HTTP; 0 where there was none.
        size: of the body in bytes.
        type: the media type.
        redirect: where it redirects to, a canonical URL or nothing.
        last_modified: what the header said, in seconds; None where it said nothing valid.
        is_revisit: whether it came without a body, as a reference to one.
        is_told: whether a file only told of it (WAT), and its body may come with another.
    """

    time: int
    digest: str
    status: int
    size: int
    type: str
    redirect: str
    last_modified: int | None
    is_revisit: bool
    is_told: bool = False

    @property
    def waits_for_body(self) -> bool:
        """Whether it came without its body, which something else may bring."""
        return self.is_revisit or self.is_told

    @property
    def is_ok(self) -> bool:
        """Whether the answer was a success: of others the links do not count."""
        return 200 <= self.status <= 299


class Version(NamedTuple):
    """A version to be put: from when on it holds, and what it is (see `versions_to_put`)."""

    time: int
    identity: str


class Versions:
    """From when on which version holds: seconds, and the identity of each. In no fixed order."""

    __slots__ = ("_last", "_times", "by_time")

    def __init__(self, by_time: Mapping[int, str] | None = None) -> None:
        self.by_time = dict(by_time or {})
        self._times: list[int] | None = None
        self._last: dict[str, int] | None = None

    def put(self, time: int, identity: str) -> None:
        """Adds a version, or puts another one in its place."""
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
        """Returns the time of the version that holds at a second; None where there is none."""
        if self._times is None:
            self._times = sorted(self.by_time)
        at = bisect.bisect_right(self._times, time)
        return self._times[at - 1] if at else None

    def last(self, identity: str) -> int | None:
        """Returns the time of the newest version of an identity; None where there is none."""
        if self._last is None:
            self._last = {self.by_time[time]: time for time in sorted(self.by_time)}
        return self._last.get(identity)

    def visible_with(self, time: int, put: Mapping[int, str]) -> Version | None:
        """Returns the version that holds at a second once a few others are put."""
        found = [each for each in put if each <= time]
        stored = self.visible(time)
        if stored is not None:
            found.append(stored)
        if not found:
            return None
        at = max(found)
        return Version(at, put[at] if at in put else self.by_time[at])


def rank(note: CaptureNote) -> tuple[object, ...]:
    """Says which of two captures with one time and one digest is kept: the greater one."""
    header = -1 if note.last_modified is None else note.last_modified
    kind = not note.is_revisit, not note.is_told
    return *kind, note.status, note.size, note.type, note.redirect, header


def counting(notes: Iterable[CaptureNote]) -> list[CaptureNote]:
    """Returns the captures that count, one a second, in the order of time."""
    by_time: dict[int, CaptureNote] = {}
    for note in sorted(notes, key=lambda note: (note.time, note.digest)):
        by_time[note.time] = note
    return list(by_time.values())


def last_modified(counting: Sequence[CaptureNote]) -> int:
    """Returns when the newest of these captures changed last.

    That is what its header says, unless that is missing or later than the fetch; then it is the
    first of the captures before it, one after the other, that had the same digest.
    """
    newest = counting[-1]
    return modified(newest, newest.time if _has_header(newest) else run_start(counting))


def modified(newest: CaptureNote, since: int) -> int:
    """Returns what `last_modified` does, where it is known since when the newest digest is so."""
    header = newest.last_modified
    return header if header is not None and _has_header(newest) else since


def _has_header(note: CaptureNote) -> bool:
    return note.last_modified is not None and note.last_modified <= note.time


def run_start(counting: Sequence[CaptureNote]) -> int:
    """Returns the first of the captures, one after the other, with the digest of the newest."""
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
    is_known: Callable[[str], bool],
) -> list[Version]:
    """Returns the versions that make every read as of a date right, in the order of time.

    A version is put where what holds at a capture's second is not what that capture had. That
    changes what the captures after it show; so the next one is looked at too, and gets a version
    of its own where it shared the one before.

    Args:
        counting: the captures that count, the new ones among them.
        stored: the versions that are there: from when on each holds, and its identity.
        new: the seconds of the captures that were not there before.
        identity: what a capture's version is: equal ones share a version.
        is_known: whether a version of an identity can be had, from the store or from new captures.
    """
    puts: dict[int, str] = {}
    waiting = sorted(set(new))
    looked_at: set[int] = set()
    put_times: list[int] = []
    while waiting:
        time = heapq.heappop(waiting)
        at = bisect.bisect_left(counting, time, key=_time)
        if time in looked_at or at == len(counting) or counting[at].time != time:
            continue
        looked_at.add(time)
        wanted = identity(counting[at])
        if _identity_at(time, stored, puts, put_times) == wanted or not is_known(wanted):
            continue
        puts[time] = wanted
        bisect.insort(put_times, time)
        if at + 1 < len(counting):
            heapq.heappush(waiting, counting[at + 1].time)
    return [Version(time, puts[time]) for time in put_times]


def _identity_at(
    time: int, stored: Versions, puts: Mapping[int, str], put_times: Sequence[int]
) -> str | None:
    """Returns what holds at a second, of what is stored and what is put."""
    before = bisect.bisect_right(put_times, time)
    put = put_times[before - 1] if before else None
    at = stored.visible(time)
    if put is not None and (at is None or put >= at):
        return puts[put]
    return None if at is None else stored.by_time[at]


def _time(note: CaptureNote) -> int:
    return note.time
