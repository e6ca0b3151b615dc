"""`Scheduler`: runs the jobs of a store when they are due, and reports about them.

Any number of schedulers may run for one store: the leases let one of them run a job at a time. A
server runs one in a thread; `webtable jobs run` runs one in the foreground.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import msgspec

from webtable.errors import ConflictError, NotFound, WebTableError
from webtable.index.write_protocol import Clock, SystemClock
from webtable.loggers import get_logger
from webtable.operations.jobs.job import Job
from webtable.operations.jobs.job_list import JOBS
from webtable.operations.jobs.job_record import KIND, JobRecord, Run, decode_record
from webtable.operations.jobs.job_runner import JobRunner
from webtable.operations.jobs.lease_renewal_and_interruption import request_cancel
from webtable.operations.jobs.leases import TAKE_AFTER_MS, Leases, StoredLease
from webtable.operations.jobs.store_access import StoreAccess
from webtable.result_base import Value

__all__ = ["JobStatus", "NamedRun", "Scheduler"]

TICK_SECONDS = 2.0
_WATCH_SECONDS = 1.0
_MOST_WATCHED_MS = TAKE_AFTER_MS * 2

_log = get_logger("webtable.operations")


class JobStatus(Value, msgspec.Struct, frozen=True):
    """A job and its state.

    Attributes:
        name, summary, every_seconds: as declared.
        next_ms: when it is due, in milliseconds since 1970; None while it runs.
        running_ms: since when it runs; None if it does not.
        holder: the process that runs it, as `host:pid`; empty if none does.
        failures: how many runs in a row have failed.
        last: its last run; None if it never ran.
    """

    name: str
    summary: str
    every_seconds: int
    next_ms: int | None
    running_ms: int | None
    holder: str
    failures: int
    last: Run | None


class NamedRun(Value, msgspec.Struct, frozen=True):
    """A run that has ended, and the name of its job."""

    job: str
    run: Run


class Scheduler:
    """The jobs of a store. Threads may share it, but one at a time runs jobs.

    Args:
        access: the store; the caller closes it.
        jobs: by default those of `job_list.py` for the engine of the store.
        on_run: is called with the end of each run.
    """

    def __init__(
        self,
        access: StoreAccess,
        *,
        jobs: Sequence[Job] = JOBS,
        clock: Clock | None = None,
        on_run: Callable[[NamedRun], None] | None = None,
    ) -> None:
        self.jobs = [job for job in jobs if access.engine in job.engines]
        self._clock: Clock = clock or SystemClock()
        self._access = access
        self._leases = Leases(access.state, KIND, clock=self._clock)
        self._stop = threading.Event()
        self._runner = JobRunner(access, self._leases, is_stopping=self._stop.is_set)
        self._on_run = on_run or (lambda _: None)
        self._problems: dict[str, str] = {}

    # Running

    def run(self) -> None:
        """Runs jobs when they are due, until `stop` is called."""
        while not self._stop.is_set():
            self.run_due()
            self._stop.wait(TICK_SECONDS)

    def stop(self) -> None:
        """Ends `run`; a job under way ends at its next step. Any thread or signal may call it."""
        self._stop.set()

    def run_due(self) -> list[NamedRun]:
        """Runs once each job that is due now, one after the other; returns how the runs ended."""
        ended = []
        for job in self.jobs:
            if self._stop.is_set():
                break
            try:
                run = self._run_if_due(job)
            except WebTableError as error:
                # A server that is down now, or the record of a newer version of this program.
                if self._problems.get(job.name) != error.message:
                    _log.warning("job '%s' cannot be scheduled: %s", job.name, error)
                self._problems[job.name] = error.message
                continue
            self._problems.pop(job.name, None)
            if run is not None:
                ended.append(NamedRun(job.name, run))
                self._on_run(ended[-1])
        return ended

    def run_once(self, name: str) -> Run:
        """Runs a job now, whether it is due or not.

        If another process holds its lease, this watches for up to two minutes whether that process
        still lives; if it does not, the job is taken over.

        Raises:
            NotFound: there is no such job for the engine of this store.
            ConflictError: another process runs it.
        """
        job = self._job(name)
        before = self._leases.read(name)
        run = self._runner.run(job)
        began_ms = self._clock.elapsed_ms()
        while run is None:
            now = self._leases.read(name)
            is_moving = now is not None and before is not None and now != before
            if is_moving or self._clock.elapsed_ms() - began_ms > _MOST_WATCHED_MS:
                holder = "another process" if now is None else f"process {now.process}"
                raise ConflictError(
                    f"job '{name}' is running in {holder or 'another process'}",
                    hint=f"wait for its end, or run `webtable jobs cancel {name}`",
                )
            if self._stop.wait(_WATCH_SECONDS):
                raise ConflictError(f"job '{name}' was not run: it was stopped")
            run = self._runner.run(job)
        self._on_run(NamedRun(name, run))
        return run

    def cancel(self, name: str) -> str:
        """Requests that a running job ends at its next step; returns the process that runs it.

        Raises:
            NotFound: there is no such job for the engine of this store.
            ConflictError: it does not run.
        """
        self._job(name)
        lease = self._leases.read(name)
        if lease is None or not lease.holder:
            raise ConflictError(f"job '{name}' is not running", hint="see `webtable jobs list`")
        request_cancel(self._access.state, name, lease.number)
        return lease.process

    # Reporting

    def status(self) -> list[JobStatus]:
        """Returns the jobs and their state, in the order of their declaration."""
        stored = dict(self._leases.read_all())
        return [self._status(job, stored.get(job.name)) for job in self.jobs]

    def history(self, name: str | None = None) -> list[NamedRun]:
        """Returns the runs that have ended, of one job or of all, the newest first.

        The last 50 of each job are stored.

        Raises:
            NotFound: there is no such job for the engine of this store.
        """
        names = [job.name for job in self.jobs] if name is None else [self._job(name).name]
        runs = [
            NamedRun(each, run)
            for each, lease in self._leases.read_all()
            if each in names
            for run in decode_record(each, bytes(lease.content)).runs
        ]
        return sorted(runs, key=lambda each: (each.run.ended_ms, each.run.number), reverse=True)

    def _status(self, job: Job, lease: StoredLease | None) -> JobStatus:
        record = _record(job, lease)
        is_running = lease is not None and bool(lease.holder)
        return JobStatus(
            name=job.name,
            summary=job.summary,
            every_seconds=job.every_seconds,
            next_ms=None if is_running else record.next_ms or self._clock.now_ms(),
            running_ms=record.began_ms if is_running else None,
            holder="" if lease is None else lease.process,
            failures=record.failures,
            last=record.runs[-1] if record.runs else None,
        )

    def _run_if_due(self, job: Job) -> Run | None:
        lease = self._leases.read(job.name)
        if lease is not None and lease.holder:
            # Each call sees whether the lease moves; that of a dead process is settled.
            return self._runner.settle(job)
        if not is_due(job, _record(job, lease), self._clock.now_ms()):
            return None
        return self._runner.run(job)

    def _job(self, name: str) -> Job:
        for job in self.jobs:
            if job.name == name:
                return job
        raise NotFound("job", name, [job.name for job in self.jobs])


def is_due(job: Job, record: JobRecord, now_ms: int) -> bool:
    """Whether a job is to run now.

    Also where its next run is further away than any rule puts it: then the clock was set back.
    """
    longest_ms = max(job.every_seconds, 3_600) * 1000
    return now_ms >= record.next_ms or record.next_ms > now_ms + longest_ms


def _record(job: Job, lease: StoredLease | None) -> JobRecord:
    return JobRecord() if lease is None else decode_record(job.name, bytes(lease.content))
