"""Processes that outlive the one that started them: spawn, recognise again, end.

A process is identified by its pid, the moment it started and the boot it belongs to, so that a pid
that the system has given to another process is never signalled. Linux only: it reads `/proc`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

__all__ = ["Process", "end", "is_alive", "send", "spawn", "this_process", "wait_until"]

_KILL_SECONDS = 30


class Process(msgspec.Struct, frozen=True):
    """One process of the system, now or in the past."""

    pid: int
    started: int
    boot: str


def spawn(command: list[str], environment: Mapping[str, str], output: Path) -> Process:
    """Starts `command`, with what it prints in the file `output`.

    It gets a session of its own, so that a Ctrl-C at the terminal does not reach it. `command[0]`
    is an absolute path.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    # Not subprocess.Popen: that warns when it is dropped while its process runs, which is the
    # very purpose here.
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
        setsigdef=[signal.SIGHUP, signal.SIGINT, signal.SIGPIPE, signal.SIGTERM],
    )
    # Dead or alive, a child keeps its entry in /proc until its parent waits for it.
    return _identified(pid)


def this_process() -> Process:
    """Returns the process that calls."""
    return _identified(os.getpid())


def is_alive(process: Process) -> bool:
    """Returns whether exactly this process runs; one that only waits to be reaped does not."""
    stat = _stat(process.pid)
    if stat is None or stat.started != process.started or process.boot != _boot():
        return False
    # While other threads still end, and hold files and ports, the first one is a zombie already.
    if stat.state != "Z" or stat.threads > 1:
        return True
    with contextlib.suppress(ChildProcessError):  # another process's child, or reaped just now
        os.waitpid(process.pid, os.WNOHANG)
    return False


def send(process: Process, signal_number: int) -> None:
    """Sends a signal to the process if it is alive; does nothing otherwise."""
    if is_alive(process):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal_number)


def end(processes: Iterable[Process], grace_seconds: float) -> None:
    """Ends all of the processes and returns when none runs.

    They get `grace_seconds` together to end by themselves (SIGTERM), then SIGKILL; 0 kills at once.
    """
    ending = list(processes)
    if grace_seconds > 0:
        for process in ending:
            send(process, signal.SIGTERM)
            send(process, signal.SIGCONT)  # a stopped process would not see the first one
        wait_until(lambda: not any(map(is_alive, ending)), grace_seconds)
    for process in ending:
        send(process, signal.SIGKILL)
    wait_until(lambda: not any(map(is_alive, ending)), _KILL_SECONDS)


def wait_until(condition: Callable[[], bool], limit_seconds: float) -> bool:
    """Waits until `condition` holds; returns False when the limit is over first."""
    deadline = time.monotonic() + limit_seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _identified(pid: int) -> Process:
    stat = _stat(pid)
    return Process(pid, stat.started if stat else -1, _boot())


class _Stat(NamedTuple):
    state: str
    threads: int
    started: int  # clock ticks since the system booted


def _stat(pid: int) -> _Stat | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The command's name is in parentheses and may have blanks and parentheses itself. See
    # proc_pid_stat(5) for what follows it.
    fields = stat[stat.rindex(")") + 2 :].split()
    return _Stat(state=fields[0], threads=int(fields[17]), started=int(fields[19]))


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
