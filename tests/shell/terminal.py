"""A shell behind a real pseudo-terminal: keys go in, what appears is waited for."""

from __future__ import annotations

import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from fcntl import ioctl
from pathlib import Path
from types import TracebackType

WEBTABLE = Path(sys.executable).with_name("webtable")
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>]|[\x00\x08\r]")


class Terminal:
    """Runs a program in a terminal of 24 lines. Ends it when its `with` block is left."""

    def __init__(
        self,
        arguments: Sequence[str],
        env: Mapping[str, str],
        columns: int = 200,
        program: Path = WEBTABLE,
    ) -> None:
        self._main, child = pty.openpty()
        ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        # Keys such as Ctrl-C become signals only for the process that the terminal belongs to.
        self.process = subprocess.Popen(
            ["setsid", "--ctty", str(program), *arguments],
            stdin=child,
            stdout=child,
            stderr=child,
            env={**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", **env},
        )
        os.close(child)
        self._seen = ""

    def press(self, keys: str) -> None:
        """Presses keys."""
        os.write(self._main, keys.encode())

    def expect(self, text: str, seconds: float = 60) -> str:
        """Waits until a text appears; returns what came up to its end and forgets that."""
        deadline = time.monotonic() + seconds
        while text not in self._seen:
            left = deadline - time.monotonic()
            if left <= 0 or not self._read(left):
                raise AssertionError(f"no {text!r} in {self._seen!r}")
        end = self._seen.index(text) + len(text)
        found, self._seen = self._seen[:end], self._seen[end:]
        return found

    def exit_code(self, seconds: float = 60) -> int:
        """Waits until the program has ended."""
        deadline = time.monotonic() + seconds
        while self._read(max(0.0, deadline - time.monotonic())):
            pass
        return self.process.wait(timeout=seconds)

    def _read(self, seconds: float) -> bool:
        """Reads what there is; False when nothing came in time, or nothing can come any more."""
        if not select.select([self._main], [], [], seconds)[0]:
            return False
        try:
            found = os.read(self._main, 65_536)
        except OSError:  # the other side is closed
            return False
        self._seen += _CONTROL.sub("", found.decode("utf-8", "replace"))
        return bool(found)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._main)
