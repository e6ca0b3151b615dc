"""`webtable hbase up`, `down` and `status`, run as a user runs them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import webtable
from webtable.local import hbase_state
from webtable.local.hbase import LocalHBase
from webtable.local.processes import Process, is_alive, wait_until

WEBTABLE = [sys.executable, "-m", "webtable", "hbase"]
SMALL = ["--storage", "local", "--profile", "tests"]


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*WEBTABLE, *arguments, "--dir", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _processes(folder: Path) -> list[Process]:
    state = hbase_state.load(folder)
    assert state is not None
    return list(state.processes.values())


def test_a_cluster_on_local_files_from_first_to_last(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    started = _run(folder, "up", *SMALL, "--set", "hbase.test.name=a<b", "--format", "json")
    try:
        _life_of_a_cluster(folder, started)
    finally:
        LocalHBase(folder).down(delete=True)


def _life_of_a_cluster(folder: Path, started: subprocess.CompletedProcess[str]) -> None:
    assert started.returncode == 0, started.stderr
    answer = json.loads(started.stdout)
    location = answer["location"]
    assert answer["state"] == "running"
    assert answer["dir"] == str(folder)
    names = [process["name"] for process in answer["processes"]]
    assert names == ["zookeeper", "master", "region-server-1"]
    assert "<value>a&lt;b</value>" in (folder / "conf" / "hbase-site.xml").read_text()
    with webtable.open(location) as store:
        store.create_table("kept", "f").put(b"row", {b"f:q": b"value"})

    status = _run(folder, "status", "--format", "json")
    assert (status.returncode, json.loads(status.stdout)) == (0, answer)
    again = _run(folder, "up")
    assert (again.returncode, again.stdout) == (0, f"{location}\n")
    assert "already running" in again.stderr

    ours = _processes(folder)
    down = _run(folder, "down")
    assert (down.returncode, down.stdout, down.stderr) == (0, "", "stopped\n")
    assert not any(map(is_alive, ours))
    assert _run(folder, "status").returncode == 5
    wrong = _run(folder, "up", "--storage", "hdfs")
    assert wrong.returncode == 2
    assert "is in 'local' storage, not in 'hdfs'" in wrong.stderr

    # Nothing is said about storage and profile: as they were.
    third = _run(folder, "up")
    assert (third.returncode, third.stdout) == (0, f"{location}\n")
    assert third.stderr.endswith(f" s; to end it: webtable hbase down --dir {folder}\n")
    with webtable.open(location) as store:
        row = store.table("kept").get(b"row")
        assert row is not None
        assert row.value(b"f:q") == b"value"

    ours = _processes(folder)
    deleted = _run(folder, "down", "--delete", "--format", "json")
    assert json.loads(deleted.stdout)["state"] == "stopped"
    assert not any(map(is_alive, ours))
    assert not folder.exists()


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_a_start_that_is_called_off_leaves_nothing(tmp_path: Path, signal_number: int) -> None:
    folder = tmp_path / "cluster"
    with subprocess.Popen(
        [*WEBTABLE, "up", *SMALL, "--dir", str(folder)], stderr=subprocess.PIPE, text=True
    ) as starting:
        assert wait_until(lambda: len(LocalHBase(folder).status().processes) == 3, 60)
        starting.send_signal(signal_number)
        assert starting.wait(timeout=60) == 130
        assert starting.stderr is not None
        assert "Traceback" not in starting.stderr.read()
    assert not any(map(is_alive, _processes(folder)))


def test_status_where_nothing_was_started(tmp_path: Path) -> None:
    status = _run(tmp_path / "none", "status", "--format", "json")
    assert status.returncode == 5
    assert json.loads(status.stdout) == {
        "location": None,
        "masters_location": None,
        "state": "stopped",
        "dir": str(tmp_path / "none"),
        "storage": None,
        "profile": None,
        "processes": [],
    }
    assert status.stderr == f"stopped: {tmp_path / 'none'}\n"


def test_down_where_nothing_was_started(tmp_path: Path) -> None:
    down = _run(tmp_path / "none", "down")
    assert (down.returncode, down.stdout, down.stderr) == (0, "", "it was not running\n")


def test_status_is_a_table_of_processes(local_hbase: LocalHBase | None) -> None:
    if local_hbase is None:
        pytest.skip("the run was given a cluster that it did not start")
    status = _run(local_hbase.folder, "status")
    assert status.returncode == 0
    heading, *lines = status.stdout.splitlines()
    assert heading.split() == ["PROCESS", "PID", "PORT", "LOG"]
    assert [line.split()[0] for line in lines] == [
        process.name for process in local_hbase.status().processes
    ]
    assert status.stderr == f"running: {local_hbase.location}\n"


@pytest.mark.parametrize("text", ["nonsense", "=value"])
def test_a_property_needs_a_name_and_a_value(tmp_path: Path, text: str) -> None:
    refused = _run(tmp_path, "up", "--set", text)
    assert refused.returncode == 2
    assert f"'{text}' is not NAME=VALUE" in refused.stderr
    assert list(tmp_path.iterdir()) == []


def test_without_java_nothing_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    refused = _run(tmp_path / "cluster", "up")
    assert refused.returncode == 1
    assert refused.stderr.splitlines()[1:] == [
        "webtable: 'java' is not installed (HBase runs on Java 17)",
        "hint: run: apt-get install openjdk-17-jre-headless maven",
    ]
