"""Loads crawl files: stores their pages, and reports everything that was not stored.

Worker processes with limited memory read and parse the files; this process stores. In an embedded
store each batch and the position in its file are one commit, so a killed load resumes exactly
there. On a cluster the position is written after the batch: some captures may be stored twice,
which changes nothing. A file with an unreadable part gets no position behind that part. Positions
are deleted when all files are done: to load a file again reads it again.
"""

from __future__ import annotations

import gc
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import msgspec

from webtable.errors import CorruptData, IncompleteLoad, UrlBlocked, WebTableError
from webtable.loggers import get_logger
from webtable.pages import schema
from webtable.pages.captures import EXPECTED_REASONS, REASONS, START, Position, Skipped
from webtable.pages.loading import capture_batches
from webtable.pages.loading.capture_batches import Batch, Repeated
from webtable.pages.loading.distinct_count import Distinct
from webtable.pages.loading.file_positions import Positions
from webtable.pages.loading.workers import Workers, task_of
from webtable.pages.page import NewCapture, Outcome
from webtable.pages.page_table import PageTable
from webtable.pages.schema import SETTINGS_TABLE
from webtable.result_base import Value
from webtable.store.mutation import Mutation

__all__ = ["UNREAD_REASONS", "LoadReport", "Loader"]

UNREAD_REASONS = frozenset(
    {"bad-record", "crashed", "damaged", "garbage", "not-a-crawl", "truncated", "wrong-length"}
)
"""The skip reasons of unreadable parts of a file; the others concern the content of a record."""
_RARELY = 100_000
_MANY_UNCHANGED = 0.25
_SHOWN_FILES = 5

_log = get_logger("webtable.pages.load")


class LoadReport(Value, msgspec.Struct):
    """The result of a load.

    Attributes:
        files: the number of files to load.
        records: the number of records in the files.
        captures: records that are stored now, or were before; the outcomes add up to it.
        new, changed, unchanged, older: the outcomes of the captures: of a page that was not stored;
            the newest capture of its page, with another or the same body; older than the newest.
        hidden: captures that no read returns: on a cluster, their pages were removed, or the rows
            of these were deleted by hand, and no major compaction has run since.
        pages: distinct URLs among the captures.
        skipped: how many records were not stored, by reason.
        expired: captures whose body is older than the time to live of bodies.
        links: links on the pages that were read.
        seconds, pages_per_second: the duration of the load, and its speed.
        links_cut: captures that are stored without all their links, since they have too many.
        wrong_digests: captures whose payload does not have the digest in its header.
        failed: files that were not read to their end, with the reason.
        unread: files with unreadable parts; how many parts, by reason.
    """

    files: int = 0
    records: int = 0
    captures: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    older: int = 0
    hidden: int = 0
    pages: int = 0
    skipped: Counter[str] = msgspec.field(default_factory=Counter)
    expired: int = 0
    links: int = 0
    wrong_digests: int = 0
    links_cut: int = 0
    seconds: float = 0.0
    pages_per_second: float = 0.0
    failed: dict[str, str] = {}
    unread: dict[str, Counter[str]] = {}

    @property
    def is_complete(self) -> bool:
        """Whether all of every file was read."""
        return not self.failed and not self.unread

    def problems(self) -> list[str]:
        """Returns a sentence for each file that was not read completely."""
        failed = (f"'{path}' was not read to its end: {why}" for path, why in self.failed.items())
        unread = (
            f"'{path}' has parts that could not be read: "
            + ", ".join(f"{reason} {count:,}" for reason, count in sorted(reasons.items()))
            for path, reasons in self.unread.items()
        )
        return [*failed, *unread]

    def check(self) -> None:
        """Checks that everything was read and stored, and that reads return it.

        Raises:
            IncompleteLoad: a part of a file was not read, or the store rejected a page. The message
                names them, the hint what to do. Everything else is stored.
            CorruptData: delete markers that were made by hand mask captures.
        """
        if incomplete := self.failed.keys() | self.unread.keys():
            shown = ", ".join(f"'{path}'" for path in sorted(incomplete)[:_SHOWN_FILES])
            more = ", …" if len(incomplete) > _SHOWN_FILES else ""
            error = IncompleteLoad(
                f"{len(incomplete):,} of {self.files:,} files were not read completely: "
                f"{shown}{more}",
                hint="everything else is stored; repair these files or fetch them again, then load"
                " them again",
            )
            for problem in self.problems()[:_SHOWN_FILES]:
                error.add_note(problem)
            raise error
        if rejected := self.skipped["refused"]:
            raise IncompleteLoad(
                f"the store rejected {rejected:,} pages",
                hint="the others are stored; --skipped-to (on_skipped= in Python) has the reasons",
            )
        if not self.captures and set(self.skipped) - EXPECTED_REASONS:
            raise IncompleteLoad(
                "no record could be stored",
                hint="--skipped-to (on_skipped= in Python) has the reasons",
            )
        if self.hidden:
            raise CorruptData(
                f"{self.hidden:,} captures stay hidden, because their pages were removed, or the"
                " rows of these pages were deleted by hand",
                hint=f"run `webtable compact {schema.TABLE}`, then load the same files again",
            )

    def took(self, seconds: float) -> None:
        """Sets the time of the load so far."""
        self.seconds = seconds
        self.pages_per_second = self.captures / seconds if seconds else 0.0


class Loader:
    """Loads files into a store of pages.

    Args:
        workers: the number of processes that read and parse, at least one. Each may use 1 GB.
        on_skipped: is called with every record that is not stored, or not completely, and why.
        on_progress: is called after each batch with the file, and the position up to which all
            of it is stored.
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
        self._report_skipped = on_skipped or (lambda _: None)
        self.on_progress = on_progress or (lambda _, __: None)
        self._settings = pages.store.table(SETTINGS_TABLE)
        family = pages.store.describe_table(schema.TABLE).family(schema.CONTENT)
        self._ttl = None if family is None else family.ttl_seconds
        self._seen = Distinct()
        self._positions = Positions(self._settings)
        self._readers: Workers
        self._paths: dict[str, str] = {}
        self.report = LoadReport()

    def load(self, paths: Sequence[str]) -> LoadReport:
        """Loads files, `-` for the standard input; resumes where an earlier load stopped.

        A file that cannot be read is in the report; the other files are loaded.

        Raises:
            RetryableError, StorageError: the store failed. All captures before that are stored.
        """
        # Captures and cells are many small values without cycles: frequent garbage collection
        # would take a tenth of the time.
        thresholds = gc.get_threshold()
        gc.set_threshold(_RARELY, *thresholds[1:])
        try:
            return self._load(paths)
        finally:
            gc.set_threshold(*thresholds)

    def _load(self, paths: Sequence[str]) -> LoadReport:
        began = time.monotonic()
        report, hook = self.report, self._pages.hook
        report.files = len(paths)
        tasks = [
            task_of(path, self._positions.start_of(path), capture_batches.BATCH_CAPTURES)
            for path in paths
        ]
        for task in tasks:
            if task.start > START:
                _log.info("file '%s' resumes at %s, where a load stopped", task.path, task.start)
        # Positions are stored by path; batches have the path as it can be displayed.
        self._paths = {task.path: path for task, path in zip(tasks, paths, strict=True)}
        with Workers(tasks, self._workers, self._pages.store_summaries) as workers:
            self._readers = workers
            self._store_all(workers.batches(), began)
        if hook is not None:
            hook.settle(is_last=True)
            report.took(time.monotonic() - began)
        self._positions.forget_finished()
        return report

    def _store_all(self, found: Iterable[Batch], began: float) -> None:
        report, hook = self.report, self._pages.hook
        for batch in found:
            self._store(batch)
            if hook is not None:
                hook.settle(is_last=False)
            report.pages = len(self._seen)
            report.took(time.monotonic() - began)
            self.on_progress(batch.path, batch.after)

    # Batches

    def _position(self, batch: Batch) -> list[Mutation]:
        """Returns the mutations that let the next load resume behind a batch; maybe none."""
        self._note_unread(batch)
        path = self._paths[batch.path]
        if batch.error is not None:
            return []
        if batch.is_last:
            self._positions.finish(path)
        if batch.path in self.report.unread:
            return []
        put = self._positions.put(path, batch.after)
        return [] if put is None else [put]

    def _note_unread(self, batch: Batch) -> None:
        for skipped in batch.skipped:
            if skipped.reason in UNREAD_REASONS:
                self.report.unread.setdefault(batch.path, Counter())[skipped.reason] += 1

    def _on_skipped(self, skipped: Skipped) -> None:
        if _log.isEnabledFor(logging.DEBUG):
            _log.debug(
                "skipped a record of '%s' at %s (%s): %.200s: %.300s",
                *(skipped.source, skipped.position, skipped.reason, skipped.url, skipped.why),
            )
        self._report_skipped(skipped)

    def _store(self, batch: Batch) -> None:
        report = self.report
        position = [(SETTINGS_TABLE, mutation) for mutation in self._position(batch)]
        is_atomic = self._pages.store.capabilities.atomic_commits
        if batch.captures:
            also = position if is_atomic else []
            outcomes = self._pages.try_captures(batch.captures, also=also)
            self._count(batch.path, batch.captures, outcomes)
            # Stored captures need no parsing: from now on the process sends summaries first.
            unchanged = outcomes.count("unchanged")
            if unchanged >= _MANY_UNCHANGED * len(outcomes):
                self._readers.request_summaries(batch.path)
        if position and not (is_atomic and batch.captures):
            self._settings.mutate(position[0][1].row, [position[0][1]])
        for skipped in batch.skipped:
            report.skipped[skipped.reason] += 1
            self._on_skipped(skipped)
        self._count_repeated(batch.repeated)
        report.wrong_digests += batch.wrong_digests
        report.records += len(batch.captures) + len(batch.repeated) + len(batch.skipped)
        if batch.error is not None:
            why = "; ".join(filter(None, batch.error))
            _log.info("the load gives up file '%s' at %s: %.300s", batch.path, batch.after, why)
            report.failed[batch.path] = why

    def _count(
        self,
        path: str,
        captures: Sequence[NewCapture],
        outcomes: Sequence[Outcome | WebTableError],
    ) -> None:
        report = self.report
        oldest = time.time() - self._ttl if self._ttl is not None else 0
        for capture, outcome in zip(captures, outcomes, strict=True):
            if isinstance(outcome, UrlBlocked):
                # The URL was removed: neither the report nor a file may name it again.
                report.skipped["blocked"] += 1
                why = REASONS["blocked"]
                self._on_skipped(Skipped("blocked", why, source=path, position=capture.position))
                continue
            if isinstance(outcome, WebTableError):
                report.skipped["refused"] += 1
                self._on_skipped(_named("refused", str(outcome), path, capture))
                continue
            report.captures += 1
            setattr(report, outcome, getattr(report, outcome) + 1)
            self._seen.add(capture.url)
            if capture.info is not None:
                report.links += capture.info.link_count
                if capture.info.links_cut:
                    report.links_cut += 1
                    why = f"the page is stored with the first {capture.info.link_count:,} targets"
                    self._on_skipped(_named("links-cut", why, path, capture))
            if capture.body is not None and capture.note.time < oldest:
                report.expired += 1

    def _count_repeated(self, repeated: Sequence[Repeated]) -> None:
        report = self.report
        report.captures += len(repeated)
        report.unchanged += len(repeated)
        for url, links in repeated:
            self._seen.add(url)
            report.links += links


def _named(reason: str, why: str, path: str, capture: NewCapture) -> Skipped:
    return Skipped(reason, why, capture.url, source=path, position=capture.position)
