"""Batches of captures on their way from files to the store, and what is said about them between.

A batch is read first and parsed then. In between it can be offered: its captures without their
bodies go ahead, and those that are stored so are neither parsed nor sent. These values go from
process to process.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from webtable.errors import WebTableError
from webtable.pages.captures import START, Capture, Position, Skipped
from webtable.pages.formats.crawl_files import read_captures
from webtable.pages.page import NewCapture
from webtable.pages.storing.capture_parser import offered, ready
from webtable.pages.storing.newest_cell import Offered

__all__ = [
    "Batch",
    "Began",
    "Failed",
    "Offer",
    "Repeated",
    "Task",
    "Unparsed",
    "Wanted",
    "read_batches",
    "read_file",
    "read_unparsed",
]

BATCH_CAPTURES = 200
BATCH_BYTES = 4 * 1024 * 1024
_SMALL = 1_000  # what a capture takes besides its body


class Task(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """A file to read, and where to begin.

    `path` is its name as it can be shown; `file` the bytes of its name, where they are no UTF-8.
    Where reading it ended a process before, the first records are sent one by one, so that the
    one that did it is found; then that one is passed over.
    """

    path: str
    start: Position = START
    careful: int = 0
    """How many records are sent one by one."""
    skip_first: bool = False
    """Whether the first record is not looked into, only named."""
    most: int = BATCH_CAPTURES
    """Captures of a batch."""
    file: bytes = b""
    is_stream: bool = False
    """Whether it can be read once only, as a pipe or the standard input."""


class Began(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """A process that reads carefully is at the first record: if it ends now, that is why."""


class Failed(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """A process cannot go on with its file, and ends."""

    why: str


class Offer(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Captures of the next batch without their bodies, each of a page of its own."""

    captures: list[Offered]


class Wanted(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Which captures of an offer are wanted with their bodies, and whether to offer more.

    `wanted` is None where nothing was offered, and this only says whether to.
    """

    wanted: list[int] | None
    offers: bool


class Repeated(NamedTuple):
    """A capture that was stored when it was offered, and the number of its links."""

    url: str
    links: int


class Batch(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Some captures of a file, ready to be stored, and what was skipped between them.

    `after` is where to go on behind them. `error` says why reading ended, if that was not at the
    end of the file: the message of the error and its hint. `repeated` are those that
    were stored already when they were offered; whoever stores fills it in. `wrong_digests` counts
    the captures that name a digest that their payload does not have.
    """

    path: str
    captures: list[NewCapture]
    skipped: list[Skipped]
    after: Position
    is_last: bool = False
    error: tuple[str, str] | None = None
    repeated: Sequence[Repeated] = ()
    wrong_digests: int = 0


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
        """Returns the captures ready to be stored, but for those that were taken.

        Raises:
            MemoryError: they need too much memory together; `singles` has them one by one.
        """
        captures: list[NewCapture] = []
        skipped = list(self.skipped)
        for place, capture in enumerate(self.captures):
            if place in without:
                continue
            try:
                captures.append(ready(capture))
            except Exception as exc:  # one page must not end a load
                if isinstance(exc, MemoryError) and len(self.captures) > 1:
                    raise
                skipped.append(_crashed(capture, f"parsing it failed: {exc!r:.200}"))
        wrong = sum("wrong-digest" in capture.notes for capture in self.captures)
        return Batch(
            self.path, captures, skipped, self.after, self.is_last, self.error, wrong_digests=wrong
        )

    def singles(self) -> Iterator[Unparsed]:
        """Yields the same in batches of one capture."""
        skipped = deque(self.skipped)
        for capture in self.captures[:-1]:
            single = Unparsed(self.path, capture.after)
            single.captures.append(capture)
            while skipped and skipped[0].position < capture.position:
                single.skipped.append(skipped.popleft())
            yield single
        last = Unparsed(self.path, self.after)
        last.captures = self.captures[-1:]
        last.skipped = list(skipped)
        last.is_last, last.error = self.is_last, self.error
        yield last

    def without_capture(self, why: str) -> Batch:
        """Returns a batch of one capture without it: it is named, with the reason."""
        (capture,) = self.captures
        skipped = [*self.skipped, _crashed(capture, why)]
        return Batch(self.path, [], skipped, self.after, self.is_last, self.error)


def read_unparsed(task: Task, source: Source) -> Iterator[Unparsed]:
    """Reads a file and yields its batches; the last one says so."""
    batch = Unparsed(task.path, task.start)
    careful = task.careful
    try:
        for found in source(task):
            batch.add(found)
            if careful > 0 or batch.is_full(task.most):
                careful -= 1
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
    return read_captures(
        os.fsdecode(task.file) if task.file else task.path,
        task.start,
        name=task.path,
        is_careful=task.careful > 0,
        skip_first=task.skip_first,
    )


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
