"""A process that starts commands to be killed: `python -m tests.pages.loading.command_child`.

It has everything imported, and forks at every line that it reads: a number N and the words of a
command, with tabs between them. The child kills itself at the Nth step that changes files; 0: it
does not. It prints how many steps it took, if it came to its end.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

import webtable.store.rocks.engine  # noqa: F401 - before the fork
from webtable.cli.main import cli

STEPS = frozenset(
    (
        *("mkdir", "open", "pwrite", "ftruncate", "replace", "write", "close"),
        *("create_column_family", "drop_column_family"),
    )
)


class Killer:
    """Counts the steps that change files, and ends the process at one of them."""

    def __init__(self, last: int) -> None:
        self.steps = 0
        self._last = last

    def __call__(self, frame: FrameType, event: str, called: object) -> None:
        if event != "c_call" or getattr(called, "__name__", "") not in STEPS:
            return
        if frame.f_globals.get("__name__", "").startswith(("webtable.store.rocks", "pathlib")):
            self.steps += 1
            if self.steps == self._last:
                os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    for line in sys.stdin:
        last, *words = line.rstrip("\n").split("\t")
        child = os.fork()
        if not child:
            killer = Killer(int(last))
            sys.setprofile(killer)
            cli(words, standalone_mode=False)
            sys.setprofile(None)
            os.write(1, f"steps {killer.steps}\n".encode())
            os._exit(0)
        _, status = os.waitpid(child, 0)
        os.write(1, f"ended {os.waitstatus_to_exitcode(status)}\n".encode())


if __name__ == "__main__":
    main()
