"""Batches of captures on their way from files to the store, and the messages between processes.

A worker process first reads a batch and then parses it. Before it parses, it may send summaries:
the captures without their bodies. A capture that the store accepts without its body is neither
parsed nor sent.
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
from webtable.pages.page import CaptureSummary, NewCapture
from webtable.pages.storing.capture_parser import ready, summarize

__all__ = [
    "Batch",
    "Began",
    "BodiesNeeded",
    "Failed",
    "Repeated",
    "Summaries",
    "Task",
    "Unparsed",
    "read_batches",
    "read_file",
    "read_unparsed",
]

BATCH_CAPTURES = 200
BATCH_BYTES = 4 * 1024 * 1024
_SMALL = 1_000  # bytes of a capture besides its body


class Task(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """A file to read, and the position to begin at.

    `path` is its name as it can be displayed; `file` has the bytes of its name, where they are not
    UTF-8. Where a process died while it read the file, the next process sends the first records one
    by one, so that the record at fault is found. Then that record is skipped.
    """

    path: str
    start: Position = START
    careful: int = 0
    """How many records are sent one by one."""
    skip_first: bool = False
    """Whether the first record is not parsed, but reported as `crashed`."""
    most: int = BATCH_CAPTURES
    """The largest number of captures of a batch."""
    file: bytes = b""
    is_stream: bool = False
    """Whether it can be read only once, as a pipe or the standard input."""


class Began(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """A process that sends records one by one begins with the first: its death is due to it."""


class Failed(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """A process cannot continue with its file, and ends."""

    why: str


class Summaries(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The captures of the next batch without their bodies; each is of a different page."""

    captures: list[CaptureSummary]


class BodiesNeeded(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Which captures of `Summaries` are needed with their bodies, and whether to send more.

    `places` is None where no summaries were sent; then the message only sets `send_summaries`.
    """

    places: list[int] | None
    send_summaries: bool


class Repeated(NamedTuple):
    """A capture that was stored by its summary, and the number of its links."""

    url: str
    links: int


class Batch(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Some captures of a file, ready to be stored, and the records that were skipped between them.

    `after` is the position behind them. `error` is the reason why reading ended before the end of
    the file: the message of the error and its hint. `repeated` are the captures that were stored by
    their summaries; the storing process fills it in. `wrong_digests` counts the captures whose
    payload does not have the digest in its header.
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
    """Some captures of a file, read but not parsed; see `Batch`."""

    def __init__(self, path: str, after: Position) -> None:
        self.path = path
        self.captures: list[Capture] = []
        self.skipped: list[Skipped] = []
        self.after = after
        self.size_bytes = 0
        self.is_last = False
        self.error: tuple[str, str] | None = None

    def add(self, found: Capture | Skipped) -> None:
        """Adds the next item of the file."""
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

    def summaries(self) -> dict[int, CaptureSummary]:
        """Returns the summaries of the captures that have one, by their places in the batch.

        Pages with several captures in the batch have none: their captures are stored together.
        """
        times = Counter([capture.url for capture in self.captures])
        found = {
            place: summarize(capture)
            for place, capture in enumerate(self.captures)
            if times[capture.url] == 1
        }
        return {place: each for place, each in found.items() if each is not None}

    def parsed(self, without: Collection[int] = ()) -> Batch:
        """Returns the captures ready to be stored, except those at the places in `without`.

        Raises:
            MemoryError: together they need too much memory; `singles` has them one by one.
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
        """Yields the same captures in batches of one capture each."""
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
        """Returns a batch of one capture without that capture: it is reported as skipped."""
        (capture,) = self.captures
        skipped = [*self.skipped, _crashed(capture, why)]
        return Batch(self.path, [], skipped, self.after, self.is_last, self.error)


def read_unparsed(task: Task, source: Source) -> Iterator[Unparsed]:
    """Reads a file and yields its batches; the last one has `is_last`."""
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
    """Reads and parses a file and yields its batches; the last one has `is_last`."""
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
