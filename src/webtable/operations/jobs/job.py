"""`Job`: how a job is declared, and `JobRun`: what its function works with while it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from webtable.errors import NotFound
from webtable.operations.jobs.job_record import JobRecord, Outcome
from webtable.operations.jobs.leases import Lease
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored
from webtable.store.store import Store

__all__ = ["EngineKind", "Interrupted", "Job", "JobResult", "JobRun"]

EngineKind: TypeAlias = Literal["embedded", "cluster"]


class JobResult(NamedTuple):
    """What a run did.

    Attributes:
        summary: one line.
        problems: what needs attention, a line each; the run is complete nevertheless.
        hint: what to do about the problems.
    """

    summary: str
    problems: Sequence[str] = ()
    hint: str = ""


class Job(NamedTuple):
    """A job: one declaration in `job_list.py` adds it to the scheduler and the command line.

    Attributes:
        name: what the command line calls it.
        summary: what it does, in one line.
        every_seconds: how long after the end of a run the next one is due.
        engines: on which engines it runs.
        work: does it. Everything that it does must be idempotent, or be stored by `JobRun.save`,
            and it calls `JobRun.step` between steps of some seconds.
        writes: whether it writes: in an embedded store it is then the writer while it runs.
        problem_code: the exit code of `webtable jobs run NAME` if it found problems.
    """

    name: str
    summary: str
    every_seconds: int
    engines: frozenset[EngineKind]
    work: Callable[[JobRun], JobResult]
    writes: bool = False
    problem_code: int = 1


class Interrupted(Exception):
    """A run must end at this step. A job lets it pass; the next run continues."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


class JobRun:
    """One run of a job, under its lease.

    Attributes:
        store: the store, open as the job needs it.
        number: the number of the lease; it fences effects outside of operational state.
        record: what is stored about the job.
    """

    store: Store

    def __init__(self, lease: Lease, record: JobRecord) -> None:
        self._lease = lease
        self._check: Callable[[], None] = lease.confirm
        self.record = record
        self.number = lease.number

    def begin(self, store: Store, check: Callable[[], None]) -> None:
        """Sets the store, and what is called at each step. Raises what `step` does."""
        self.store = store
        self._check = check
        check()

    @property
    def position(self) -> object:
        """What the job saved last, as plain values of JSON; None before."""
        return self.record.position

    def step(self) -> None:
        """Returns if the job may take its next step.

        Raises:
            Interrupted: the job was cancelled, the scheduler stops, or a process waits for the
                store.
            LeaseLost: this process stood still for a minute, and another one has the job.
        """
        self._check()

    def save(self, position: object) -> None:
        """Stores where to continue, only while the lease is held.

        Args:
            position: plain values of JSON.

        Raises:
            LeaseLost: see `step`.
        """
        record = msgspec.structs.replace(self.record, position=position)
        self._lease.save(record.encode())
        self.record = record

    def pages(self) -> PageTable | None:
        """Returns the pages of the store; None if it has no pages."""
        try:
            return PageTable.open(self.store, parse_stored)
        except NotFound:
            return None
