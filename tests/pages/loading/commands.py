"""Commands that are killed at a chosen step; see `command_child`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

__all__ = ["KILLED", "KilledCommands"]

KILLED = -9
_ROOT = Path(__file__).parents[3]


class KilledCommands:
    """Starts commands, one after the other."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.pages.loading.command_child"],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.steps = 0

    def run(self, last: int, *words: str) -> int:
        """Returns how a command ended; -9: it was killed before step `last`.

        `steps` is how many there were, if it came to its end.
        """
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write("\t".join([str(last), *words]) + "\n")
        self._server.stdin.flush()
        while line := self._server.stdout.readline():
            word, _, number = line.partition(" ")
            if word == "steps":
                self.steps = int(number)
            elif word == "ended":
                return int(number)
        raise AssertionError("the process that starts them has ended")

    def close(self) -> None:
        """Ends the process that starts commands."""
        self._server.communicate(timeout=60)
