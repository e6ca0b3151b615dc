"""A process that runs a job that never ends by itself: `python -m tests.crash.job_process PATH`.

It tells when the job has the store, and how its run ended. Then it waits for the end of its input.
"""

from __future__ import annotations

import os
import sys
import threading

from tests.crash.child import send
from webtable.operations.jobs.job import Job, JobResult, JobRun
from webtable.operations.jobs.scheduler import Scheduler
from webtable.operations.jobs.store_access import StoreAccess

NAME = "hold"


def hold(run: JobRun) -> JobResult:
    """Takes step after step."""
    send({"holds": os.getpid(), "number": run.number})
    pause = threading.Event()
    while True:
        run.step()
        pause.wait(0.01)


JOB = Job(NAME, "For a test.", 3_600, frozenset({"embedded"}), hold, writes=True)


def main(path: str) -> None:
    access = StoreAccess(path)
    scheduler = Scheduler(access, jobs=[JOB])
    for run in scheduler.run_due():
        send({"outcome": run.run.outcome})
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
