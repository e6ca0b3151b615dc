"""Runs shell commands in this process, and takes what they print apart."""

from __future__ import annotations

import io
import re
from typing import NamedTuple

import pytest

from tools.record_shell import without_figures
from webtable import Store
from webtable.cli.shell.hbase_layout import Printer
from webtable.cli.shell.script import Lines, Script, run_script
from webtable.cli.shell.session import Session


class Done(NamedTuple):
    """What a script printed, and the exit code that it would leave with."""

    out: str
    err: str
    code: int


class Shell:
    """A session on a store; `run` prints no times, so that results can be compared."""

    def __init__(self, store: Store, capsys: pytest.CaptureFixture[str]) -> None:
        self.store = store
        self._capsys = capsys
        self._out = io.StringIO()
        self.session = Session(store, Printer(self._out), lambda _: "n", with_times=False)

    def run(self, text: str, *, keep_going: bool = False, echo: bool = False) -> Done:
        """Runs the lines of a script; it has the replies to prompts, too."""
        lines = Lines(text.splitlines())
        self.session.ask = lines.reply
        script = Script("script", lines, keep_going=keep_going, echo=echo)
        code = run_script(self.session, script)
        out = self._out.getvalue()
        self._out.seek(0)
        self._out.truncate()
        return Done(out, self._capsys.readouterr().err, code)

    def answer(self, text: str) -> str:
        """Runs commands that must work, and returns what they print."""
        done = self.run(text)
        assert done.code == 0, done.err
        return done.out

    def error(self, text: str) -> str:
        """Runs commands of which one must fail, and returns what is said about it."""
        done = self.run(text)
        assert done.code != 0, done.out
        return done.err


def masked(printed: str) -> str:
    """Returns what was printed without the times, and the sizes of caches."""
    return re.sub(r"Took [0-9.]+ seconds", "Took X seconds", without_figures(printed))
