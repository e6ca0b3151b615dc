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
    "RowHistory",
    "Version",
    "counting",
    "last_modified",
    "rank",
    "run_start",
    "versions_to_put",
    "visible_at",
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


class RowHistory(NamedTuple):
    """The captures of a page, and from when on which version of body and links holds."""

    notes: dict[tuple[int, str], CaptureNote]
    bodies: dict[int, str]
    links: dict[int, str]


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
    if newest.last_modified is not None and newest.last_modified <= newest.time:
        return newest.last_modified
    return run_start(counting)


def run_start(counting: Sequence[CaptureNote]) -> int:
    """Returns the first of the captures, one after the other, with the digest of the newest."""
    since, digest = counting[-1].time, counting[-1].digest
    for note in reversed(counting):
        if note.digest != digest:
            break
        since = note.time
    return since


def visible_at(time: int, stored: Mapping[int, str]) -> int | None:
    """Returns the time of the version that holds at a second; None where there is none."""
    return max((each for each in stored if each <= time), default=None)


def versions_to_put(
    counting: Sequence[CaptureNote],
    stored: Mapping[int, str],
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
    times = [note.time for note in counting]
    held = dict(stored)
    kept = sorted(stored)
    puts: list[Version] = []
    waiting = sorted(set(new))
    looked_at: set[int] = set()
    while waiting:
        time = heapq.heappop(waiting)
        at = bisect.bisect_left(times, time)
        if time in looked_at or at == len(times) or times[at] != time:
            continue
        looked_at.add(time)
        wanted = identity(counting[at])
        before = bisect.bisect_right(kept, time)
        holds = held[kept[before - 1]] if before else None
        if holds == wanted or not is_known(wanted):
            continue
        puts.append(Version(time, wanted))
        held[time] = wanted
        if not before or kept[before - 1] != time:
            kept.insert(before, time)
        if at + 1 < len(times):
            heapq.heappush(waiting, times[at + 1])
    return puts
