"""Processes that outlive the one that started them: spawn, recognise again, end.

A process is known by its pid, the moment it started and the boot it belongs to, so that a number that the
system has given to somebody else is never signalled. Linux only: it reads `/proc`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

__all__ = ["Process", "end", "is_alive", "send", "spawn", "this_process", "wait_until"]

_STARTED_FIELD = 19  # of /proc/PID/stat, counted after the command's name; clock ticks since boot


class Process(msgspec.Struct, frozen=True):
    """One process of the system, now or in the past."""

    pid: int
    started: int
    boot: str


def spawn(command: Sequence[str], environment: Mapping[str, str], output: Path) -> Process:
    """Starts `command` in a session of its own, with stdout and stderr appended to `output`.

    Its own session keeps a Ctrl-C at the terminal away from it. `command[0]` is an absolute path.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    pid = os.posix_spawn(
        command[0],
        command,
        environment,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(output), flags, 0o644),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
        setsigmask=[],
        # Python ignores SIGPIPE, and a child would inherit that.
        setsigdef=[signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGHUP],
    )
    # Dead or alive, a child keeps its entry in /proc until it is waited for, so this finds it.
    return Process(pid, _stat(pid)[1], _boot())


def this_process() -> Process:
    """Returns the process that calls."""
    return Process(os.getpid(), _stat(os.getpid())[1], _boot())


def is_alive(process: Process) -> bool:
    """Says whether exactly this process still runs; one that only waits to be reaped does not."""
    state, started = _stat(process.pid)
    if started != process.started or process.boot != _boot():
        return False
    if state == "Z":
        with contextlib.suppress(ChildProcessError):  # not a child of ours: its parent will
            os.waitpid(process.pid, os.WNOHANG)
    return state not in "ZX"


def send(process: Process, signal_number: int) -> None:
    """Sends a signal to the process if it is alive; does nothing otherwise."""
    if is_alive(process):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal_number)


def end(processes: Iterable[Process], grace_seconds: float) -> None:
    """Ends all of the processes and returns when none is left.

    They get `grace_seconds` together to end by themselves (SIGTERM), then SIGKILL; 0 kills at once.
    """
    alive = list(processes)
    if grace_seconds > 0:
        for process in alive:
            send(process, signal.SIGTERM)
            send(process, signal.SIGCONT)  # a stopped process would not see the first
        wait_until(lambda: not any(map(is_alive, alive)), grace_seconds)
    for process in alive:
        send(process, signal.SIGKILL)
    wait_until(lambda: not any(map(is_alive, alive)), 30)


def wait_until(condition: Callable[[], bool], limit_seconds: float) -> bool:
    """Asks again and again until `condition` holds; returns False when the limit is over first."""
    deadline = time.monotonic() + limit_seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _stat(pid: int) -> tuple[str, int]:
    """Returns the state and the start of a process; ("X", -1) when there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "X", -1
    # The name of the command stands in parentheses and may itself have blanks and parentheses.
    fields = stat[stat.rindex(")") + 2 :].split()
    return fields[0], int(fields[_STARTED_FIELD])


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
