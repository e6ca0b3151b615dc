"""`webtable jobs …`: the scheduler of maintenance, what it has done, and single runs."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

import click
import msgspec

from webtable import errors
from webtable.cli.output_formats import Column, print_item, print_items, talk
from webtable.cli.shared_options import (
    Format,
    count_option,
    format_option,
    group_store_option,
    store_option,
)
from webtable.errors import NotFound, WebTableError, door
from webtable.operations.jobs.job_record import Run
from webtable.operations.jobs.scheduler import JobStatus, NamedRun, Scheduler
from webtable.operations.jobs.store_access import StoreAccess

__all__ = ["jobs"]

T = TypeVar("T")

FAILED, UNAVAILABLE, STOPPED = 1, 5, 130
_SHOWN = ("job", "outcome", "summary", "error", "seconds")
_COLUMNS = (
    Column("name", "JOB"),
    Column("schedule", "SCHEDULE"),
    Column("next_run", "NEXT RUN", "time"),
    Column("last_result", "LAST RESULT"),
    Column("last_run", "LAST RUN", "time", spare=1),
    Column("holder", "HELD BY", spare=2),
)
_HISTORY = (
    Column("ended", "ENDED", "time"),
    Column("job", "JOB"),
    Column("number", "RUN", "count"),
    Column("seconds", "SECONDS", "count"),
    Column("outcome", "RESULT"),
    Column("times", "TIMES", "count", spare=3),
    Column("summary", "SUMMARY"),
    Column("error", "ERROR", spare=1),
    Column("hint", "HINT", spare=4),
    Column("by", "PROCESS", spare=2),
)


@click.group(short_help="Run jobs of maintenance; list, stop and review them.")
@group_store_option
def jobs() -> None:
    """Run jobs of maintenance on a schedule, list them, stop one, and show what they did."""


@jobs.command("run", short_help="Run all jobs when they are due, or one job now.")
@click.argument("name", required=False)
@store_option
@format_option
@click.pass_context
def run_(ctx: click.Context, name: str | None, location: str, form: Format) -> None:
    """Run all jobs when they are due, until Ctrl-C or SIGTERM; or run the job NAME once, now.

    Several processes may do this for one store: a job runs in one of them at a time. At the end,
    the job under way stops at its next step, and a later run continues it. The exit code is then 0
    without NAME, and 130 with it. With NAME, it is 1 if the run failed or was cancelled, 5 if the
    store is in use, and 6 if the job verify found differences.
    """
    with _scheduler(location, shows_runs=name is None) as scheduler:
        if name is None:
            names = ", ".join(job.name for job in scheduler.jobs)
            talk(f"running the jobs {names}; stop with Ctrl-C")
            _until_stopped(scheduler.run, scheduler.stop)
            talk("stopped")
            return
        done = _until_stopped(lambda: scheduler.run_once(name), scheduler.stop)
    if done is None:
        ctx.exit(STOPPED)
    item = _item(NamedRun(name, done))
    print_item(item, form, shown={key: item[key] for key in _SHOWN if item[key]})
    if done.hint and form not in ("json", "jsonl"):
        talk(f"hint: {done.hint}")
    code = next(job.problem_code for job in scheduler.jobs if job.name == name)
    ctx.exit(code if done.outcome == "problems" else _exit_code(done))


@jobs.command("list", short_help="List the jobs with their next run and last result.")
@store_option
@format_option
def list_(location: str, form: Format) -> None:
    """List the jobs: schedule, next run, last result, and the process that runs each one now."""
    with _scheduler(location) as scheduler:
        items = [_status_item(each) for each in scheduler.status()]
    print_items(items, _COLUMNS, form)


@jobs.command("history", short_help="List the runs that have ended, the newest first.")
@click.argument("name", required=False)
@store_option
@format_option
@count_option("--limit", "Print at most N.", default=20)
@click.option("--start", metavar="JOB:RUN", default="", help="Begin with this run.")
def history_(name: str | None, *, location: str, form: Format, limit: int, start: str) -> None:
    """List the runs of the job NAME, or of all jobs, that have ended, the newest first.

    The last 50 runs of each job are stored.
    """
    with _scheduler(location) as scheduler:
        runs = scheduler.history(name)
    keys = [f"{each.job}:{each.run.number}" for each in runs]
    if start and start not in keys:
        raise NotFound("run", start, hint="`webtable jobs history` lists the last 50 of each job")
    first = keys.index(start) if start else 0
    rest = keys[first + limit :]
    shown = [_item(each) for each in runs[first : first + limit]]
    print_items(shown, _HISTORY, form, next_key=rest[0] if rest else None)


@jobs.command("cancel", short_help="Stop a running job, also one in another process.")
@click.argument("name")
@store_option
def cancel_(name: str, location: str) -> None:
    """Request that the job NAME ends at its next step, in whichever process it runs."""
    with _scheduler(location) as scheduler:
        process = scheduler.cancel(name)
    talk(f"{name}: process {process} will end it at its next step")


@contextlib.contextmanager
def _scheduler(location: str, *, shows_runs: bool = False) -> Iterator[Scheduler]:
    with contextlib.closing(StoreAccess(location)) as access:
        yield Scheduler(access, on_run=(lambda ended: talk(_line(ended))) if shows_runs else None)


def _line(ended: NamedRun) -> str:
    run = ended.run
    return ": ".join(part for part in (ended.job, run.outcome, run.error, run.summary) if part)


class _Work(threading.Thread, Generic[T]):
    """Work in a thread, so that a signal never comes in the middle of it."""

    def __init__(self, work: Callable[[], T]) -> None:
        super().__init__(name="webtable-jobs", daemon=True)
        self._work = work
        self.result: T | None = None
        self.error: BaseException | None = None

    def run(self) -> None:
        """Does the work."""
        try:
            self.result = self._work()
        except BaseException as error:  # noqa: BLE001 - raised again in the main thread
            self.error = error


def _until_stopped(work: Callable[[], T], stop: Callable[[], None]) -> T | None:
    """Does the work until Ctrl-C or SIGTERM; a second one does not wait for the next step.

    Returns its result; None if it was stopped.
    """
    thread = _Work(work)
    thread.start()
    is_stopped = False
    try:
        while thread.is_alive():
            thread.join(0.2)
    except (KeyboardInterrupt, SystemExit):
        is_stopped = True
        stop()
        talk("stopping; the job under way ends at its next step")
        thread.join()
    if is_stopped:
        return None
    if thread.error is not None:
        raise thread.error
    return thread.result


def _exit_code(run: Run) -> int:
    if run.outcome in ("done", "problems"):
        return 0
    if run.outcome in ("gave way", "store busy"):
        return UNAVAILABLE
    kind = getattr(errors, run.error, None)
    if isinstance(kind, type) and issubclass(kind, WebTableError):
        return door(kind).exit_code
    return FAILED


def _status_item(status: JobStatus) -> dict[str, object]:
    last = status.last
    return {
        "name": status.name,
        "schedule": _every(status.every_seconds),
        "next_run": status.next_ms,
        "last_result": "never run" if last is None else last.outcome,
        "last_run": None if last is None else last.ended_ms,
        "holder": status.holder or None,
        "running_since": status.running_ms,
        "failures": status.failures,
        "summary": status.summary,
        "last": None if last is None else msgspec.to_builtins(last),
    }


def _item(ended: NamedRun) -> dict[str, object]:
    run = ended.run
    return {
        "job": ended.job,
        "number": run.number,
        "outcome": run.outcome,
        "summary": run.summary,
        "error": run.error,
        "hint": run.hint,
        "began": run.began_ms,
        "ended": run.ended_ms,
        "seconds": round((run.ended_ms - run.began_ms) / 1000, 3),
        "times": run.times,
        "by": run.by,
    }


def _every(seconds: int) -> str:
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size and seconds % size == 0:
            count = seconds // size
            return f"every {unit}" if count == 1 else f"every {count} {unit}s"
    return f"every {seconds} seconds"
