"""Batches of captures on their way from files to the store, and what is said about them between.

A batch is read first and parsed then. In between it can be offered: its captures without their
bodies go ahead, and those that are stored so are neither parsed nor sent. These values go from
process to process.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from webtable.errors import WebTableError
from webtable.pages.captures import START, Capture, Position, Skipped
from webtable.pages.held import Offered
from webtable.pages.page import NewCapture
from webtable.pages.parsing import offered, ready
from webtable.pages.sources import read_captures

__all__ = [
    "Answer",
    "Batch",
    "Offer",
    "Taken",
    "Task",
    "Unparsed",
    "read_batches",
    "read_file",
    "read_unparsed",
]

BATCH_CAPTURES = 200
BATCH_BYTES = 4 * 1024 * 1024
_SMALL = 1_000  # what a capture takes besides its body


class Task(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """A file to read, and where to begin.

    Of a file that ended the process before, captures are sent one by one (`is_careful`), and the
    first is only told of where it was that one (`skips_first`).
    """

    path: str
    start: Position = START
    is_careful: bool = False
    skips_first: bool = False
    most: int = BATCH_CAPTURES
    """Captures of a batch."""


class Offer(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Captures of the next batch without their bodies, each of a page of its own."""

    captures: list[Offered]


class Answer(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Which captures of an offer are wanted with their bodies, and whether to offer more.

    `wanted` is None where nothing was offered, and this only says whether to.
    """

    wanted: list[int] | None
    offers: bool


class Taken(NamedTuple):
    """A capture that was stored when it was offered, and the number of its links."""

    url: str
    links: int


class Batch(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Some captures of a file, ready to be stored, and what was skipped between them.

    `after` is where to go on behind them. `error` says why reading ended, if that was not at the
    end of the file: the name of an error's class, its message and its hint. `taken` are those that
    were stored already when they were offered; whoever stores fills it in.
    """

    path: str
    captures: list[NewCapture]
    skipped: list[Skipped]
    after: Position
    is_last: bool = False
    error: tuple[str, str] | None = None
    taken: Sequence[Taken] = ()


Source: TypeAlias = Callable[[Task], Iterator[Capture | Skipped]]


class Unparsed:
    """Some captures of a file as they were read; see `Batch`."""

    def __init__(self, path: str, after: Position) -> None:
        self.path = path
        self.captures: list[Capture] = []
        self.skipped: list[Skipped] = []
        self.after = after
        self.size_bytes = 0
        self.is_last = False
        self.error: tuple[str, str] | None = None

    def add(self, found: Capture | Skipped) -> None:
        """Adds what was found next."""
        self.after = found.after
        self.size_bytes += _SMALL
        if isinstance(found, Skipped):
            self.skipped.append(found)
        else:
            self.captures.append(found)
            self.size_bytes += len(found.body or b"")

    def is_full(self, most: int) -> bool:
        """Whether the next capture belongs to the next batch."""
        return len(self.captures) >= most or self.size_bytes >= BATCH_BYTES

    def offered(self) -> dict[int, Offered]:
        """Returns what can be offered, by its place among the captures.

        Captures of one page are stored together, by the rules for captures in any order.
        """
        times = Counter([capture.url for capture in self.captures])
        found = {
            place: offered(capture)
            for place, capture in enumerate(self.captures)
            if times[capture.url] == 1
        }
        return {place: each for place, each in found.items() if each is not None}

    def parsed(self, without: Collection[int] = ()) -> Batch:
        """Returns the captures ready to be stored, but for those that were taken."""
        captures: list[NewCapture] = []
        skipped = list(self.skipped)
        for place, capture in enumerate(self.captures):
            if place in without:
                continue
            try:
                captures.append(ready(capture))
            except Exception as exc:  # noqa: BLE001  one page must not end a load
                skipped.append(_crashed(capture, f"parsing it failed: {exc!r:.200}"))
        return Batch(self.path, captures, skipped, self.after, self.is_last, self.error)


def read_unparsed(task: Task, source: Source) -> Iterator[Unparsed]:
    """Reads a file and yields its batches; the last one says so."""
    batch = Unparsed(task.path, task.start)
    skips = task.skips_first
    try:
        for found in source(task):
            if skips and isinstance(found, Capture):
                found = _crashed(found, "the process that read it ended")
            skips = False
            batch.add(found)
            if task.is_careful or batch.is_full(task.most):
                yield batch
                batch = Unparsed(task.path, batch.after)
    except WebTableError as exc:
        batch.error = exc.message, exc.hint
    except OSError as exc:
        batch.error = f"'{task.path}' cannot be read: {exc.strerror or exc}", "check the file"
    batch.is_last = True
    yield batch


def read_batches(task: Task, source: Source) -> Iterator[Batch]:
    """Reads and parses a file and yields its batches; the last one says so."""
    for batch in read_unparsed(task, source):
        yield batch.parsed()


def read_file(task: Task) -> Iterator[Capture | Skipped]:
    """Reads the file of a task."""
    return read_captures(task.path, task.start)


def _crashed(capture: Capture, why: str) -> Skipped:
    return Skipped(
        "crashed",
        why,
        url=capture.url,
        record_id=capture.record_id,
        source=capture.source,
        position=capture.position,
        after=capture.after,
    )
