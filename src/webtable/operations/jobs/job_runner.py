"""Runs one job: takes its lease, opens the store, and records how the run ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from webtable.errors import StoreLocked, WebTableError
from webtable.loggers import get_logger
from webtable.operations.jobs.job import Interrupted, Job, JobResult, JobRun
from webtable.operations.jobs.job_record import JobRecord, Outcome, Run, decode_record, with_run
from webtable.operations.jobs.lease_renewal_and_interruption import Beating, RunChecks
from webtable.operations.jobs.leases import Lease, LeaseLost, Leases, StoredLease
from webtable.operations.jobs.store_access import StoreAccess
from webtable.operations.jobs.waiting_writers import WriterQueue

__all__ = ["JobRunner", "retry_seconds"]

FIRST_RETRY_SECONDS = 60
LONGEST_RETRY_SECONDS = 3_600
"""A job that fails again and again runs once an hour, or in its period if that is longer."""
GAVE_WAY_SECONDS = 60
BUSY_SECONDS = 300
_MOST_TEXT = 500
_MOST_PROBLEMS = 5

_log = get_logger("webtable.operations")


class _End(NamedTuple):
    """How a run ended, before it is recorded."""

    outcome: Outcome
    summary: str = ""
    error: str = ""
    hint: str = ""


class JobRunner:
    """Runs jobs in this process, one at a time.

    Args:
        is_stopping: whether the run under way is to end at its next step.
    """

    def __init__(
        self, access: StoreAccess, leases: Leases, *, is_stopping: Callable[[], bool]
    ) -> None:
        self._access = access
        self._leases = leases
        self._is_stopping = is_stopping
        self._queue = WriterQueue(access.state, clock=leases.clock)

    def run(self, job: Job) -> Run | None:
        """Runs a job, whether it is due or not; None if another process holds its lease."""
        taken = self._take(job)
        if taken is None:
            return None
        lease, _ = taken
        run = JobRun(lease, decode_record(job.name, lease.content))
        try:
            with Beating(lease):
                end = self._work(job, lease, run)
        except BaseException:
            self._finish(job, lease, run.record, _End("stopped"))
            raise
        return self._finish(job, lease, run.record, end)

    def settle(self, job: Job) -> Run | None:
        """Records the run of a process that died, if its lease may be taken, and returns that run.

        The job is then due after the delay of a failure: it may be what ended the process.
        """
        taken = self._take(job)
        if taken is None:
            return None
        lease, old = taken
        record = decode_record(job.name, lease.content)
        is_lost = old is not None and bool(old.holder)
        if is_lost:
            delay = retry_seconds(job, record.failures)
            record = msgspec.structs.replace(record, next_ms=self._now_ms() + delay * 1000)
        lease.give_back(msgspec.structs.replace(record, began_ms=0, is_writing=False).encode())
        return record.runs[-1] if is_lost else None

    def _now_ms(self) -> int:
        return self._leases.clock.now_ms()

    def _take(self, job: Job) -> tuple[Lease, StoredLease | None] | None:
        def begin(old: StoredLease | None) -> bytes:
            record = JobRecord()
            if old is not None:
                record = decode_record(job.name, bytes(old.content))
                if old.holder:
                    record = self._with_lost_run(record, old)
            return msgspec.structs.replace(
                record, began_ms=self._now_ms(), is_writing=job.writes
            ).encode()

        return self._leases.take(job.name, begin)

    def _with_lost_run(self, record: JobRecord, old: StoredLease) -> JobRecord:
        """Returns the record with the end of a run whose lease did not move for a minute."""
        run = Run(
            number=old.number,
            began_ms=record.began_ms,
            ended_ms=self._now_ms(),
            outcome="lost",
            by=old.process,
            summary="its process ended, or stood still for a minute",
        )
        return msgspec.structs.replace(with_run(record, run), failures=record.failures + 1)

    def _work(self, job: Job, lease: Lease, run: JobRun) -> _End:
        """Calls the job's function with the store; returns how the run ended."""
        holds_store = job.writes and self._access.engine == "embedded"
        checks = RunChecks(
            self._access.state,
            job,
            lease,
            clock=self._leases.clock,
            queue=self._queue if holds_store else None,
            is_stopping=self._is_stopping,
        )
        try:
            if holds_store and self._queue.is_waiting():
                return _End("store busy", "another process waits for the store")
            with self._access.opened(writes=job.writes) as store:
                run.begin(store, checks.check)
                return _end_of(job.work(run))
        except Interrupted as interrupted:
            return _End(interrupted.outcome)
        except StoreLocked as error:
            return _End("store busy", error.message)
        except LeaseLost as error:
            return _End("lost", error.message)
        except WebTableError as error:
            return _End("failed", _text(error), type(error).__name__, error.hint)
        except Exception as error:  # noqa: BLE001 - a defect of one job must not end the others
            _log.warning("job '%s' has a defect: %r", job.name, error, exc_info=True)
            return _End("failed", str(error), type(error).__name__)

    def _finish(self, job: Job, lease: Lease, record: JobRecord, end: _End) -> Run:
        """Records how a run ended, and gives its lease back."""
        now_ms = self._now_ms()
        run = Run(
            number=lease.number,
            began_ms=record.began_ms,
            ended_ms=now_ms,
            outcome=end.outcome,
            by=lease.process,
            summary=end.summary[:_MOST_TEXT],
            error=end.error,
            hint=end.hint[:_MOST_TEXT],
        )
        failures = record.failures
        if end.outcome == "failed":
            failures += 1
        elif end.outcome in ("done", "problems"):
            failures = 0
        delay = _delay_seconds(job, end.outcome, failures)
        record = msgspec.structs.replace(
            with_run(record, run), failures=failures, next_ms=now_ms + delay * 1000
        )
        try:
            lease.give_back(record.encode())
        except LeaseLost as error:
            # The process that has taken the lease has recorded this run as lost.
            return msgspec.structs.replace(run, outcome="lost", summary=error.message)
        return record.runs[-1]


def retry_seconds(job: Job, failures: int) -> int:
    """Returns when to run a job again that has failed so often in a row: each time twice as late.

    The first failure may be a server that restarts; a lasting one must not fill the history.
    """
    longest = max(job.every_seconds, LONGEST_RETRY_SECONDS)
    return min(FIRST_RETRY_SECONDS << min(max(failures - 1, 0), 20), longest)


def _delay_seconds(job: Job, outcome: Outcome, failures: int) -> int:
    """Returns after how long the job is due again."""
    if outcome == "failed":
        return retry_seconds(job, failures)
    waits = {"stopped": 0, "gave way": GAVE_WAY_SECONDS, "store busy": BUSY_SECONDS}
    return waits.get(outcome, job.every_seconds)


def _end_of(result: JobResult) -> _End:
    if not result.problems:
        return _End("done", result.summary)
    shown = list(result.problems[:_MOST_PROBLEMS])
    if len(result.problems) > _MOST_PROBLEMS:
        shown.append(f"{len(result.problems) - _MOST_PROBLEMS:,} more")
    return _End("problems", "; ".join([result.summary, *shown]), hint=result.hint)


def _text(error: WebTableError) -> str:
    return str(error) if isinstance(error, ExceptionGroup) else error.message
