"""Completion of commands, options, values and file names, in real shells."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.shell_completion import CompletionItem, ShellComplete
from click.testing import CliRunner

from tests.shell.terminal import Terminal
from webtable.cli.completion import SHELLS, VARIABLE
from webtable.cli.main import COMMANDS, cli

BIN = str(Path(sys.executable).parent)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns a folder with files to complete, and completion scripts for the shells."""
    (tmp_path / "september.warc.gz").write_bytes(b"")
    (tmp_path / "crawl.db").mkdir()
    for shell in SHELLS:
        done = CliRunner().invoke(cli, ["completion", shell])
        assert done.exit_code == 0
        (tmp_path / f"script.{shell}").write_text(done.stdout)
    return tmp_path


@pytest.fixture
def bash(folder: Path) -> Iterator[Terminal]:
    env = {"PATH": f"{BIN}:{os.environ['PATH']}", "PS1": "READY ", "HOME": str(folder)}
    arguments = ["--norc", "--noprofile", "-i"]
    with Terminal(arguments, env, program=Path("/bin/bash")) as terminal:
        terminal.press(f"cd {folder}; bind 'set bell-style none'; . ./script.bash; echo loa''ded\n")
        terminal.expect("loaded")
        terminal.expect("READY ")  # from now on bash echoes the keys, not the terminal
        yield terminal


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("webtable ver", "webtable verify "),
        ("webtable links dead", "webtable links dead-ends "),
        ("webtable report large", "webtable report largest "),
        ("webtable pages example.com --exp", "webtable pages example.com --explain "),
        ("webtable tables --format jsonl --sto", "webtable tables --format jsonl --store "),
        ("webtable tables --format cs", "webtable tables --format csv "),
        ("webtable completion zs", "webtable completion zsh "),
        ("webtable load sep", "webtable load september.warc.gz "),
        ("webtable tables --store cra", "webtable tables --store crawl.db/"),
        ("webtable --store cra", "webtable --store crawl.db/"),
        ("webtable export --urls sep", "webtable export --urls september.warc.gz "),
        ("webtable load --skipped-to sep", "webtable load --skipped-to september.warc.gz "),
    ],
)
def test_bash_completes(bash: Terminal, typed: str, completed: str) -> None:
    # The line is not run: its end shows where the cursor was after the completion.
    bash.press(f"{typed}\t#end")
    assert bash.expect("#end").endswith(f"{completed}#end")


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes(folder: Path) -> None:
    def completed(typed: str) -> list[str]:
        script = f"source script.fish; complete --do-complete '{typed}'"
        done = subprocess.run(
            ["fish", "--no-config", "-c", script],
            cwd=folder,
            env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(folder)},
            capture_output=True,
            text=True,
            check=True,
        )
        return [line.split("\t")[0] for line in done.stdout.splitlines()]

    assert completed("webtable ver") == ["verify"]
    assert completed("webtable tables --format j") == ["json", "jsonl"]
    assert completed("webtable load sep") == ["september.warc.gz"]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_completes(folder: Path) -> None:
    env = {
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "PS1": "READY ",
        "HOME": str(folder),
        "ZDOTDIR": str(folder),
    }
    (folder / ".zshrc").write_text("")
    zsh = shutil.which("zsh")
    assert zsh is not None
    with Terminal(["-i"], env, program=Path(zsh)) as terminal:
        start = "autoload -Uz compinit && compinit -u; setopt nobeep interactivecomments"
        terminal.press(f"cd {folder}; {start}; . ./script.zsh; echo loa''ded\n")
        terminal.expect("loaded")
        terminal.expect("READY ")
        terminal.press("webtable ver\t#end")
        assert "verify" in terminal.expect("#end")
        terminal.press("\x15webtable load sep\t#end")
        assert "september.warc.gz" in terminal.expect("#end")


def complete(*words: str) -> list[CompletionItem]:
    *before, incomplete = words
    return ShellComplete(cli, {}, "webtable", VARIABLE).get_completions(before, incomplete)


def test_all_commands_are_completed() -> None:
    assert {item.value for item in complete("")} == set(COMMANDS)


def _parameters(
    command: click.Command, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Parameter]]:
    ctx = click.Context(command)
    for parameter in command.params:
        yield path, parameter
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            found = command.get_command(ctx, name)
            assert found is not None
            yield from _parameters(found, (*path, name))


def test_files_are_completed_wherever_a_file_is_meant() -> None:
    seen = 0
    for path, parameter in _parameters(cli):
        names = {parameter.name, *(name.lstrip("-") for name in parameter.opts)}
        words = (parameter.make_metavar(click.Context(cli)) or "").strip("[].")
        is_file = words in ("FILE", "DIR", "OUT") or names & {"store"}
        if not is_file or "shell" in path:
            continue
        seen += 1
        kinds = {each.type for each in parameter.shell_complete(click.Context(cli), "x")}
        assert kinds <= {"file", "dir"}, (path, parameter)
        assert kinds, (path, parameter)
    assert seen > 60


def test_the_values_of_every_choice_are_completed() -> None:
    for path, parameter in _parameters(cli):
        if isinstance(parameter.type, click.Choice):
            found = parameter.shell_complete(click.Context(cli), "")
            assert [each.value for each in found] == list(parameter.type.choices), path
