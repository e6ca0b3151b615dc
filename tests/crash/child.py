"""Real processes that the crash tests start, listen to, and kill."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

__all__ = ["LIMIT_SECONDS", "ROOT", "Child", "Report", "send"]

ROOT = Path(__file__).resolve().parents[2]
LIMIT_SECONDS = 60.0
"""A child that does not report for so long is a failure."""

Report: TypeAlias = dict[str, Any]
"""One line that a child has sent."""


def send(report: Report) -> None:
    """Sends a line to the parent; called in the child.

    One system call straight into the pipe: when the child dies, what it has sent stays sent. A
    line is shorter than PIPE_BUF, so lines of several threads do not mix.
    """
    os.write(1, json.dumps(report, separators=(",", ":")).encode() + b"\n")


class Child:
    """A process that runs a module of this folder. Killed, at the latest, when its block ends."""

    def __init__(self, module: str, *arguments: object) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the block ends
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"tests.crash.{module}", *map(str, arguments)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        assert self._process.stdout is not None
        self._pipe = self._process.stdout.fileno()
        os.set_blocking(self._pipe, False)
        self._rest = b""
        self._arrived: deque[Report] = deque()

    @property
    def pid(self) -> int:
        return self._process.pid

    def listen(self, seconds: float) -> Iterator[Report]:
        """Yields the lines that arrive within the time; ends early when the child does."""
        deadline = time.monotonic() + seconds
        while True:
            while self._arrived:
                yield self._arrived.popleft()
            left = deadline - time.monotonic()
            if left < 0 or not select.select([self._pipe], [], [], left)[0]:
                return
            piece = os.read(self._pipe, 1 << 20)
            if not piece:
                return
            *lines, self._rest = (self._rest + piece).split(b"\n")
            self._arrived.extend(json.loads(line) for line in lines)

    def wait_for(self, **wanted: object) -> Report:
        """Returns the first line that has these entries."""
        for report in self.listen(LIMIT_SECONDS):
            if wanted.items() <= report.items():
                return report
        raise AssertionError(f"no {wanted} from the child: {self.errors()}")

    def tell(self, *command: object) -> None:
        """Sends a command to a puppet."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command).encode() + b"\n")
        self._process.stdin.flush()

    def ask(self, *command: object) -> None:
        """Sends a command to a puppet and waits until it has done it."""
        self.tell(*command)
        report = self.wait_for(did=command[0])
        assert "error" not in report, report

    def kill(self) -> list[Report]:
        """Kills the process with -9 and returns the lines that it had still sent."""
        assert self._process.poll() is None, f"the child ended by itself: {self.errors()}"
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        return self._drain()

    def finish(self) -> list[Report]:
        """Asks the process to end, by closing its input; returns the lines that it still sent."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        reports: list[Report] = []
        deadline = time.monotonic() + LIMIT_SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            reports += self.listen(0.05)
        assert self._process.poll() == 0, f"the child failed: {self.errors()}"
        return reports + self._drain()

    def errors(self) -> str:
        """Returns what the process wrote to its standard error."""
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")[-4000:]

    def _drain(self) -> list[Report]:
        reports = list(self.listen(LIMIT_SECONDS))
        # A line cut short by the kill says that the child was about to report, not that it did.
        self._rest = b""
        return reports

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                stream.close()
