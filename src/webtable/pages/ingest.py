"""Loading crawls: files in, pages stored, and a report of everything that was not.

Files are read and parsed by worker processes; this one stores. In an embedded store each batch is
one commit, with the position in its file, so that a load that was killed goes on exactly there; on
a cluster the position is written behind the batch, and some captures may be stored twice, which
changes nothing. Positions are forgotten when all files are done: to load a file again reads it
again.
"""

from __future__ import annotations

import gc
import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from webtable.pages import batches, schema
from webtable.pages.batches import Batch, Taken, Task, read_batches, read_file
from webtable.pages.captures import START, Position, Skipped
from webtable.pages.distinct import Distinct
from webtable.pages.page import NewCapture, Outcome
from webtable.pages.schema import SETTINGS_TABLE
from webtable.pages.sources import STANDARD_INPUT
from webtable.pages.table import PageTable
from webtable.pages.workers import Workers
from webtable.store.mutation import Delete, Mutation, Put

__all__ = ["LoadReport", "Loader"]

_HEAD_BYTES = 65_536
_POSITION = b"a:position"
_RARELY = 100_000
_MANY_KNOWN = 0.25


class LoadReport(msgspec.Struct):
    """What a load did.

    Attributes:
        records: everything that the files held.
        captures: those that were stored, or were there already; the four outcomes add up to it.
        pages: distinct URLs among them.
        skipped: how many records were not stored, by reason.
        expired: captures whose body is older than the store keeps bodies.
        links: on the pages that were read.
        failed: files that could not be read to their end, with the reason.
    """

    records: int = 0
    captures: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    older: int = 0
    pages: int = 0
    skipped: Counter[str] = msgspec.field(default_factory=Counter)
    expired: int = 0
    links: int = 0
    seconds: float = 0.0
    pages_per_second: float = 0.0
    failed: dict[str, str] = {}

    def took(self, seconds: float) -> None:
        """Notes how long it took so far."""
        self.seconds = seconds
        self.pages_per_second = self.captures / seconds if seconds else 0.0


class Loader:
    """Loads files into a store of pages.

    Args:
        workers: processes that read and parse; 0: this one does it all.
        on_skipped: is told of every record that is not stored, and why.
        on_progress: is told after each batch: the file, and where in it all before is stored.
    """

    def __init__(
        self,
        pages: PageTable,
        *,
        workers: int = 1,
        on_skipped: Callable[[Skipped], None] | None = None,
        on_progress: Callable[[str, Position], None] | None = None,
    ) -> None:
        self._pages = pages
        self._workers = workers
        self._on_skipped = on_skipped or (lambda _: None)
        self._on_progress = on_progress or (lambda _, __: None)
        self._settings = pages.store.table(SETTINGS_TABLE)
        family = pages.store.describe_table(schema.TABLE).family(schema.CONTENT)
        self._ttl = None if family is None else family.ttl_seconds
        self._seen = Distinct()
        self._rows: dict[str, bytes] = {}
        self._finished: list[bytes] = []
        self._readers: Workers | None = None
        self.report = LoadReport()

    def load(self, paths: Sequence[str]) -> LoadReport:
        """Loads files, `-` for the standard input; goes on where an earlier load was cut off.

        A file that cannot be read is in the report, and the others are loaded all the same.

        Raises:
            RetryableError, StorageError: the store failed. What was loaded until then is stored.
        """
        # Captures and cells are many small values without cycles: to look through them again and
        # again would take a tenth of the time.
        thresholds = gc.get_threshold()
        gc.set_threshold(_RARELY, *thresholds[1:])
        try:
            return self._load(paths)
        finally:
            gc.set_threshold(*thresholds)

    def _load(self, paths: Sequence[str]) -> LoadReport:
        began = time.monotonic()
        report, hook = self.report, self._pages.hook
        tasks = [Task(path, self._start_of(path), most=batches.BATCH_CAPTURES) for path in paths]
        for batch in self._batches(tasks):
            self._store(batch)
            if hook is not None:
                hook.settle(is_last=False)
            report.pages = len(self._seen)
            report.took(time.monotonic() - began)
            self._on_progress(batch.path, batch.after)
        if hook is not None:
            hook.settle(is_last=True)
            report.took(time.monotonic() - began)
        self._forget_positions()
        return report

    def _batches(self, tasks: list[Task]) -> Iterator[Batch]:
        # The standard input belongs to this process.
        here = [task for task in tasks if task.path == STANDARD_INPUT or not self._workers]
        for task in here:
            yield from read_batches(task, read_file)
        rest = [task for task in tasks if task not in here]
        if rest:
            with Workers(rest, self._workers, self._pages.take_offered) as workers:
                self._readers = workers
                yield from workers.batches()

    # Positions

    def _start_of(self, path: str) -> Position:
        """Returns where a load of this very file was cut off, or its beginning."""
        row = _file_row(path)
        if row is None:
            return START
        self._rows[path] = row
        found = self._settings.get(row, (_POSITION,))
        value = None if found is None else found.value(_POSITION)
        return START if not value else msgspec.json.decode(value, type=Position)

    def _position(self, batch: Batch) -> list[Mutation]:
        row = self._rows.get(batch.path)
        if row is None or batch.error is not None:
            return []
        if batch.is_last:
            self._finished.append(row)
        return [Put(row, {_POSITION: msgspec.json.encode(batch.after)})]

    def _forget_positions(self) -> None:
        with self._settings.batch() as mutations:
            for row in self._finished:
                mutations.add(Delete(row))
        self._finished.clear()

    # Batches

    def _store(self, batch: Batch) -> None:
        report = self.report
        position = [(SETTINGS_TABLE, mutation) for mutation in self._position(batch)]
        is_atomic = self._pages.store.capabilities.atomic_commits
        if batch.captures:
            also = position if is_atomic else []
            outcomes = self._pages.store_captures(batch.captures, also=also)
            self._count(batch.captures, outcomes)
            # What is known already need not be parsed: from now on it is asked for first.
            known = outcomes.count("unchanged")
            if self._readers is not None and known >= _MANY_KNOWN * len(outcomes):
                self._readers.ask_for_offers(batch.path)
        if position and not (is_atomic and batch.captures):
            self._settings.mutate(position[0][1].row, [position[0][1]])
        for skipped in batch.skipped:
            report.skipped[skipped.reason] += 1
            self._on_skipped(skipped)
        self._count_taken(batch.taken)
        report.records += len(batch.captures) + len(batch.taken) + len(batch.skipped)
        if batch.error is not None:
            report.failed[batch.path] = batch.error[0]

    def _count(self, captures: Sequence[NewCapture], outcomes: Sequence[Outcome]) -> None:
        report = self.report
        oldest = time.time() - self._ttl if self._ttl is not None else 0
        report.captures += len(captures)
        for capture, outcome in zip(captures, outcomes, strict=True):
            setattr(report, outcome, getattr(report, outcome) + 1)
            self._seen.add(capture.url)
            if capture.info is not None:
                report.links += capture.info.link_count
            if capture.body is not None and capture.note.time < oldest:
                report.expired += 1

    def _count_taken(self, taken: Sequence[Taken]) -> None:
        report = self.report
        report.captures += len(taken)
        report.unchanged += len(taken)
        for url, links in taken:
            self._seen.add(url)
            report.links += links


def _file_row(path: str) -> bytes | None:
    """Returns the row in which the position in a file is kept; None for what cannot be read again.

    It is found by the file's name, size and beginning: another file of that name is another file.
    """
    if path == STANDARD_INPUT or not Path(path).is_file():
        return None
    try:
        with Path(path).open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return None
    name = Path(path).name
    identity = f"{name}\0{Path(path).stat().st_size}\0".encode() + head
    return f"load:{hashlib.sha256(identity).hexdigest()[:32]}:{name}".encode()[:1_000]
