"""A job in another process gives way, is cancelled, is killed; a job that finds a loader waits."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import webtable
from tests.crash.child import Child
from tests.crash.job_process import JOB, NAME
from tests.operations.jobs.clock import HandClock
from tests.waiting import wait_for
from webtable.errors import ConflictError, StoreLocked
from webtable.operations.jobs import leases, open_store_after_jobs
from webtable.operations.jobs import scheduler as scheduler_module
from webtable.operations.jobs.leases import TAKE_AFTER_MS
from webtable.operations.jobs.scheduler import Scheduler
from webtable.operations.jobs.store_access import StoreAccess
from webtable.operations.jobs.waiting_writers import KIND

WAITING = f"is used by job '{NAME}'; waiting until the job gives way"


@pytest.fixture
def path(tmp_path: Path) -> str:
    location = str(tmp_path / "store")
    webtable.WebTable.create(location).close()
    with webtable.open(location) as store:
        store.create_table("t", "f", "g").put(b"row", {b"f:q": b"v"})
    return location


@pytest.fixture
def scheduler(path: str) -> Iterator[Scheduler]:
    access = StoreAccess(path)
    yield Scheduler(access, jobs=[JOB], clock=HandClock())
    access.close()


def test_a_job_gives_way_to_a_process_that_opens_the_store(
    path: str, scheduler: Scheduler, caplog: pytest.LogCaptureFixture
) -> None:
    with Child("job_process", path) as child:
        child.wait_for(holds=child.pid)
        with caplog.at_level(logging.WARNING, "webtable.operations"), webtable.open(path) as store:
            store.table("t").put(b"row", {b"f:q": b"w"})
        child.wait_for(outcome="gave way")
        child.finish()
    assert [each.getMessage() for each in caplog.records] == [f"store '{path}' {WAITING}"]
    (ended,) = scheduler.history(NAME)
    assert ended.run.outcome == "gave way"
    access = StoreAccess(path)
    assert not access.state.items(KIND)


def test_a_load_waits_for_a_job_with_one_line_on_stderr(path: str, tmp_path: Path) -> None:
    crawl = tmp_path / "crawl.jsonl"
    page = {"url": "https://example.com/", "html": "<p>x", "status": 200, "fetched": "2026-01-01"}
    crawl.write_text(json.dumps(page) + "\n")
    command = [sys.executable, "-m", "webtable", "load", str(crawl), "--store", path]
    with Child("job_process", path) as child:
        child.wait_for(holds=child.pid)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        child.wait_for(outcome="gave way")
        child.finish()
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "waiting" in line]
    assert lines == [f"webtable: warning: store '{path}' {WAITING}"]


def test_several_processes_wait_for_one_job(path: str) -> None:
    code = (
        "import sys, webtable\n"
        "with webtable.open(sys.argv[1]) as store:\n"
        "    store.table('t').put(b'row' + sys.argv[2].encode(), {b'f:q': b'v'})\n"
    )
    with Child("job_process", path) as child:
        child.wait_for(holds=child.pid)
        loaders = [
            subprocess.Popen([sys.executable, "-c", code, path, str(n)], stderr=subprocess.PIPE)
            for n in range(2)
        ]
        errors = [loader.communicate()[1].decode() for loader in loaders]
        child.wait_for(outcome="gave way")
        child.finish()
    # The second one may find the first one in the store: an error then, as without jobs.
    failed = [error for loader, error in zip(loaders, errors, strict=True) if loader.returncode]
    assert len(failed) <= 1
    assert all("StoreLocked" in error for error in failed)
    with webtable.open(path, read_only=True) as store:
        assert len(list(store.table("t").scan())) == 3 - len(failed)


def test_the_wait_is_bounded(path: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(open_store_after_jobs, "WAIT_SECONDS", 0)
    with Child("job_process", path) as child:
        child.wait_for(holds=child.pid)
        with pytest.raises(StoreLocked, match="is open for writing") as caught:
            webtable.open(path)
        assert f"job '{NAME}' did not give way" in caught.value.hint
        assert caught.value.holder is not None
        assert caught.value.holder[1] == child.pid


def test_a_job_that_finds_a_loader_waits_for_its_next_turn(path: str, scheduler: Scheduler) -> None:
    with Child("puppet", path) as loader:
        loader.wait_for(opened=loader.pid)
        for times in (1, 2):
            run = scheduler.run_once(NAME)
            assert (run.outcome, run.times) == ("store busy", times)
            assert f"by process {loader.pid}" in run.summary
        (status,) = scheduler.status()
        assert status.next_ms == HandClock().now_ms() + 300_000
        assert scheduler.run_due() == []
        loader.finish()


def test_a_job_of_another_process_is_cancelled(path: str, scheduler: Scheduler) -> None:
    with Child("job_process", path) as child:
        child.wait_for(holds=child.pid)
        assert scheduler.cancel(NAME).endswith(f":{child.pid}")
        child.wait_for(outcome="cancelled")
        child.finish()
    assert [each.run.outcome for each in scheduler.history()] == ["cancelled"]


def test_a_job_that_another_process_runs_is_not_run_here(
    path: str, scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler_module, "_WATCH_SECONDS", 0.01)
    access = StoreAccess(path)
    with Child("job_process", path) as child:
        child.wait_for(holds=child.pid)
        # The other process moves its lease every ten seconds; here the test does it in its name.

        class Moving(HandClock):
            def elapsed_ms(self) -> int:
                raw = access.state.get("job", NAME) or b""
                lease = leases.decode("job", NAME, raw)
                moved = msgspec.structs.replace(lease, beat=lease.beat + 1)
                access.state.put_if("job", NAME, raw, leases.encode(moved))
                return super().elapsed_ms()

        other = Scheduler(access, jobs=[JOB], clock=Moving())
        with pytest.raises(ConflictError, match=f"running in process .*:{child.pid}"):
            other.run_once(NAME)


def test_the_lease_and_the_store_of_a_killed_job_pass_on(path: str, scheduler: Scheduler) -> None:
    clock = HandClock()
    with Child("job_process", path) as child:
        child.wait_for(holds=child.pid)
        child.kill()
    access = StoreAccess(path)
    other = Scheduler(access, jobs=[JOB], clock=clock)
    assert other.run_due() == []
    with webtable.open(path) as store:  # the system has released the lock
        assert store.table("t").get(b"row") is not None
    clock.pass_ms(TAKE_AFTER_MS)
    (lost,) = other.run_due()
    assert (lost.run.outcome, lost.run.number) == ("lost", 1)
    assert lost.run.by.endswith(f":{child.pid}")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_scheduler_of_the_command_line_ends_cleanly(path: str, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "webtable", "jobs", "run", "--store", path]
    daemon = subprocess.Popen(
        command, stderr=subprocess.PIPE, env={**os.environ, "WEBTABLE_STORE": ""}
    )
    try:
        access = StoreAccess(path)
        reader = Scheduler(access)
        wait_for(lambda: len(reader.history()) == len(reader.jobs) == 3, seconds=60)
        daemon.send_signal(number)
        _, shown = daemon.communicate(timeout=60)
    finally:
        daemon.kill()
        daemon.wait()
    assert daemon.returncode == 0
    assert all(status.holder == "" for status in reader.status())
    lines = shown.decode().splitlines()
    assert lines[0] == "running the jobs health, verify, compact; stop with Ctrl-C"
    assert [line.split(": ")[:2] for line in lines[1:4]] == [
        ["health", "done"],
        ["verify", "done"],
        ["compact", "done"],
    ]
    assert lines[-1] == "stopped"


def test_a_damaged_state_hides_no_locked_store(path: str) -> None:
    with Child("puppet", path) as loader:
        loader.wait_for(opened=loader.pid)
        Path(path, "OPERATIONS").write_bytes(b"damaged" * 1_000)
        with pytest.raises(StoreLocked):
            webtable.open(path)
        loader.finish()
