"""`webtable jobs`: what it prints, and its exit codes. `tests/operations/jobs` has the daemon."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import webtable
from webtable.cli.main import cli
from webtable.cli.store.jobs import _every
from webtable.operations.jobs.leases import Leases
from webtable.operations.jobs.store_access import StoreAccess
from webtable.webtable import WebTable

Run = Callable[..., Result]


@pytest.fixture
def location(tmp_path: Path) -> str:
    location = str(tmp_path / "store")
    with WebTable.open(location) as web:
        web.put("https://example.com/", "<p>one", fetched="2026-01-01")
    return location


@pytest.fixture
def run(location: str) -> Run:
    def call(*arguments: str) -> Result:
        return CliRunner().invoke(cli, ["jobs", *arguments, "--store", location])

    return call


def _items(done: Result) -> list[dict[str, object]]:
    assert done.exit_code == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_jobs_before_and_after_a_run(run: Run) -> None:
    before = _items(run("list", "--format", "jsonl"))
    assert [(each["name"], each["schedule"], each["last_result"]) for each in before] == [
        ("health", "every hour", "never run"),
        ("verify", "every hour", "never run"),
        ("compact", "every day", "never run"),
    ]
    done = run("run", "verify")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["job", "outcome", "summary", "seconds"]
    assert "1 pages verified, 0 differences" in done.stdout
    after = _items(run("list", "--format", "jsonl"))[1]
    assert after["last_result"] == "done"
    assert after["holder"] is None
    last = after["last_run"]
    assert isinstance(last, int)
    assert after["next_run"] == last + 3_600_000
    assert "NEXT RUN" in run("list").stdout


def test_the_history_is_of_one_job_or_of_all(run: Run) -> None:
    for name in ("verify", "health", "verify"):
        assert run("run", name).exit_code == 0
    everything = _items(run("history", "--format", "jsonl"))
    shown = [(each["job"], each["number"], each["outcome"]) for each in everything]
    assert shown == [("verify", 2, "done"), ("health", 1, "done"), ("verify", 1, "done")]
    page = json.loads(run("history", "--limit", "2", "--format", "json").stdout)
    assert (len(page["items"]), page["next"], page["truncated"]) == (2, "verify:1", True)
    rest = json.loads(run("history", "--start", page["next"], "--format", "json").stdout)
    assert [(each["job"], each["number"]) for each in rest["items"]] == [("verify", 1)]
    assert rest["truncated"] is False
    assert run("history", "--start", "verify:9").exit_code == 3
    one = _items(run("history", "verify", "--limit", "1", "--format", "jsonl"))
    assert [(each["job"], each["number"]) for each in one] == [("verify", 2)]
    assert one[0]["by"]


def test_a_run_that_fails_has_the_exit_code_of_its_error(run: Run, location: str) -> None:
    with webtable.open(location):
        busy = run("run", "compact", "--format", "json")
    assert busy.exit_code == 5
    assert json.loads(busy.stdout)["outcome"] == "store busy"
    assert run("run", "compact").exit_code == 0


def test_differences_have_the_exit_code_of_verify(run: Run, location: str) -> None:
    with WebTable.open(location) as web:
        page = web.page("https://example.com/")
        assert page is not None
        web.store.table("webtable").put(page.row_key, {b"metadata:size": b"1"})
    done = run("run", "verify")
    assert done.exit_code == 6
    assert "problems" in done.stdout
    assert "hint: run `webtable verify --repair`" in done.stderr


def test_a_failed_check_of_health_has_the_exit_code_of_doctor(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webtable.pages.checking.doctor.MOST_SECONDS", -1.0)
    assert run("run", "health").exit_code == 1


@pytest.mark.parametrize("command", ["run", "cancel", "history"])
def test_an_unknown_job(run: Run, command: str) -> None:
    done = run(command, "backup")
    assert done.exit_code == 3
    assert "job 'backup' does not exist" in done.stderr
    assert "known jobs: compact, health, verify" in done.stderr


def test_a_running_job_is_listed_and_cancelled(run: Run, location: str) -> None:
    assert run("cancel", "verify").exit_code == 4
    access = StoreAccess(location)
    taken = Leases(access.state, "job").take("verify", lambda old: b'{"began_ms":7}')
    assert taken is not None
    (status,) = [
        each for each in _items(run("list", "--format", "jsonl")) if each["name"] == "verify"
    ]
    assert str(status["holder"]).startswith(socket.gethostname())
    assert (status["next_run"], status["running_since"]) == (None, 7)
    done = run("cancel", "verify")
    assert done.exit_code == 0
    assert f"verify: process {taken[0].process} will end it at its next step" in done.stderr
    assert access.state.get("job-cancel", "verify") == b"1"


def test_a_store_that_does_not_exist(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    for command in (["run"], ["list"], ["history"], ["cancel", "verify"]):
        done = CliRunner().invoke(cli, ["jobs", *command, "--store", missing])
        assert done.exit_code == 3
    assert not Path(missing).exists()


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (60, "every minute"),
        (900, "every 15 minutes"),
        (3_600, "every hour"),
        (86_400, "every day"),
        (345_600, "every 4 days"),
        (90, "every 90 seconds"),
    ],
)
def test_schedules(seconds: int, shown: str) -> None:
    assert _every(seconds) == shown
