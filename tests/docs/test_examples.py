"""Every example in the README and in docs/ does what it says."""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, Block, blocks, commands

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
WITH_EXAMPLES = [page for page in PAGES if blocks(page)]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WEBTABLE_STORE", raising=False)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    names: dict[str, object] = {"__name__": "__example__"}
    for block in blocks(page):
        where = f"{page.relative_to(ROOT)}, line {block.line}"
        if block.language == "console":
            _run_commands(block, where)
        elif ">>>" in block.text:
            _run_doctest(block, where, names)
        else:
            exec(compile(block.text, where, "exec"), names)


def _run_doctest(block: Block, where: str, names: dict[str, object]) -> None:
    example = doctest.DocTestParser().get_doctest(block.text, names, where, where, block.line)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    failed = runner.run(example, out=said.append, clear_globs=False).failed
    names.update(example.globs)
    assert not failed, "".join(said)


def _run_commands(block: Block, where: str) -> None:
    listed = list(commands(block))
    assert listed, f"{where}: a console block without a command"
    exit_code = 0
    for number, command in enumerate(listed):
        # The sub-shell hands the exit code of the last command on to `echo $?`.
        done = subprocess.run(
            ["bash", "-c", f"(exit {exit_code}); {command.line}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        exit_code = done.returncode
        fits = doctest.OutputChecker().check_output(command.expected, done.stdout, FLAGS)
        assert fits, f"{where}: $ {command.line}\n{done.stdout}"
        asked = number + 1 < len(listed) and listed[number + 1].line == "echo $?"
        assert exit_code == 0 or asked, f"{where}: $ {command.line}\nexit code {exit_code}"
