"""Beside a run of a job: its lease is moved, and each step finds out whether the run must end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from webtable.errors import WebTableError
from webtable.index.write_protocol import Clock
from webtable.loggers import get_logger
from webtable.operations.jobs.job import Interrupted, Job
from webtable.operations.jobs.leases import BEAT_MS, Lease, LeaseLost
from webtable.operations.jobs.waiting_writers import WriterQueue
from webtable.operations.operational_state import OperationalState

__all__ = ["Beating", "RunChecks", "is_cancelled", "request_cancel"]

POLL_MS = 500
"""Steps read operational state no more often than this."""
CANCEL_KIND = "job-cancel"
"""A value of this kind has the name of a job, and the number of the run that is to end."""
_ATTEMPTS = 5

_log = get_logger("webtable.operations")


class RunChecks:
    """What a run checks at each step.

    Args:
        queue: the processes that wait for the store; None where the job does not hold it.
        is_stopping: whether the scheduler stops.
    """

    def __init__(
        self,
        state: OperationalState,
        job: Job,
        lease: Lease,
        *,
        clock: Clock,
        queue: WriterQueue | None,
        is_stopping: Callable[[], bool],
    ) -> None:
        self._state = state
        self._name = job.name
        self._lease = lease
        self._clock = clock
        self._queue = queue
        self._is_stopping = is_stopping
        self._polled_ms: int | None = None

    def check(self) -> None:
        """Returns if the run may continue; see `JobRun.step`."""
        if self._is_stopping():
            raise Interrupted("stopped")
        self._lease.confirm()
        now_ms = self._clock.elapsed_ms()
        if self._polled_ms is not None and now_ms - self._polled_ms < POLL_MS:
            return
        self._polled_ms = now_ms
        if is_cancelled(self._state, self._name, self._lease.number):
            raise Interrupted("cancelled")
        if self._queue is not None and self._queue.is_waiting():
            raise Interrupted("gave way")


class Beating:
    """A thread that moves a lease while a step takes long; it ends with the block."""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="webtable-lease", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._ended.wait(BEAT_MS / 1000):
            try:
                self._lease.renew()
            except LeaseLost:
                return  # the run finds out at its next step
            except WebTableError as error:
                # The next beat tries again, and the holder stops by its own clock.
                _log.info("the lease of a job could not be moved: %s", error)


def is_cancelled(state: OperationalState, name: str, number: int) -> bool:
    """Whether the run of a job with this number is to end."""
    return state.get(CANCEL_KIND, name) == b"%d" % number


def request_cancel(state: OperationalState, name: str, number: int) -> None:
    """Requests the end of the run of a job with this number; later runs are not concerned."""
    for _ in range(_ATTEMPTS):
        old = state.get(CANCEL_KIND, name)
        if old == b"%d" % number or state.put_if(CANCEL_KIND, name, old, b"%d" % number):
            return
