"""Processes are recognised for sure, and ended whatever they do."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from webtable.local.processes import Process, end, is_alive, send, spawn, this_process, wait_until

SLEEP = shutil.which("sleep") or ""
IGNORES_SIGTERM = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True)"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Starts a program; it is killed at the end of the test."""
    started: list[Process] = []

    def spawn_one(*command: str) -> Process:
        started.append(spawn(list(command), os.environ, tmp_path / "out"))
        return started[-1]

    yield spawn_one
    end(started, grace_seconds=0)


def test_a_process_is_alive_until_it_ends(start: Callable[..., Process]) -> None:
    process = start(SLEEP, "60")
    assert is_alive(process)
    end([process], grace_seconds=10)
    assert not is_alive(process)
    assert not Path(f"/proc/{process.pid}").exists(), "it was not reaped"


def test_what_it_prints_is_in_the_file(start: Callable[..., Process], tmp_path: Path) -> None:
    code = "import sys; print('out', flush=True); print('err', file=sys.stderr)"
    process = start(sys.executable, "-c", code)
    assert wait_until(lambda: not is_alive(process), 10)
    assert (tmp_path / "out").read_text() == "out\nerr\n"


def test_it_has_a_session_of_its_own(start: Callable[..., Process]) -> None:
    assert os.getsid(start(SLEEP, "60").pid) != os.getsid(0)


@pytest.mark.parametrize("changed", [{"started": 1}, {"boot": "another"}])
def test_another_process_with_the_same_pid_is_never_touched(
    start: Callable[..., Process], changed: dict[str, object]
) -> None:
    process = start(SLEEP, "60")
    gone = msgspec.structs.replace(process, **changed)
    assert not is_alive(gone)
    send(gone, signal.SIGKILL)
    end([gone], grace_seconds=1)
    assert is_alive(process)


def test_one_that_does_not_listen_is_killed(start: Callable[..., Process], tmp_path: Path) -> None:
    process = start(sys.executable, "-c", f"{IGNORES_SIGTERM}; time.sleep(60)")
    assert wait_until(lambda: (tmp_path / "out").read_text() == "1\n", 10)
    send(process, signal.SIGTERM)
    end([process], grace_seconds=0.1)
    assert not is_alive(process)


def test_one_that_is_stopped_ends_too(start: Callable[..., Process]) -> None:
    process = start(SLEEP, "60")
    send(process, signal.SIGSTOP)
    end([process], grace_seconds=10)
    assert not is_alive(process)


def test_a_zombie_of_another_parent_is_dead() -> None:
    # The parent waits for a line before it looks after its child.
    code = (
        "import subprocess, sys; p = subprocess.Popen(['true']); print(p.pid, flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        stat = Path(f"/proc/{pid}/stat")
        assert wait_until(lambda: stat.read_text().split()[2] == "Z", 10)
        child = Process(pid, int(stat.read_text().split()[21]), this_process().boot)
        assert not is_alive(child)
        parent.communicate("\n")


def test_while_a_thread_still_runs_the_process_is_alive(
    start: Callable[..., Process], tmp_path: Path
) -> None:
    # The first thread ends and is a zombie; the other one still holds the process's ports.
    code = (
        "import ctypes, threading, time\n"
        "threading.Thread(target=time.sleep, args=(60,)).start()\n"
        "print(1, flush=True)\n"
        "ctypes.CDLL(None).pthread_exit(None)\n"
    )
    process = start(sys.executable, "-c", code)
    stat = Path(f"/proc/{process.pid}/stat")
    assert wait_until(lambda: stat.read_text().split()[2] == "Z", 10)
    assert is_alive(process)
    end([process], grace_seconds=0)
    assert not is_alive(process)


def test_waiting_has_a_limit() -> None:
    assert wait_until(lambda: True, 0)
    assert not wait_until(lambda: False, 0)
