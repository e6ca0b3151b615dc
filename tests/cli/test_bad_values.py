"""Every command with bad values for every option: an error that helps, never a traceback."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from tests.pages.formats.crawls import http, record
from tools.reference import leaf_commands
from webtable.cli.list_options import Moment
from webtable.cli.main import cli
from webtable.cli.shared_options import RowKey

Run = Callable[..., Result]

NOT_UTF8 = os.fsdecode(b"\xff\xfe")
DATES = (
    "2026-13-01",
    "99999999",
    "0000-01-01",
    "2026-02-30",
    "2026-09-01T24:00:00Z",
    "x",
    NOT_UTF8,
)
NUMBERS = ("x", "-1", "1e3", "", NOT_UTF8)
TEXTS = ("", "ex ample.com", "\x1b[2J", NOT_UTF8)
PATHS = ("", "no/such/folder/file", "/dev/null/file", NOT_UTF8 + "/file", "x" * 300)
KEYS = ("zzz", "", "\\x00", "\t\t\t", NOT_UTF8)
STORES = ("", "no/such/store", "hbase:/host", "hbase://", NOT_UTF8)

# Starts servers of its own, or waits for a person.
LEFT_OUT = ("webtable hbase", "webtable tour")
ARGUMENTS = {"url": "example.com/", "domain": "example.com", "name": "example.com", "words": "x"}
TESTED_ELSEWHERE = (("webtable load", "files"), ("webtable checkpoint", "directory"))
COMMANDS = {name: command for name, command in leaf_commands() if not name.startswith(LEFT_OUT)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of two pages in it."""
    path = tmp_path_factory.mktemp("bad-values")
    crawl = path / "crawl.warc"
    pages = [record(http(b'<a href="/b">b</a>'), "https://example.com/"), record(http(b"b"))]
    crawl.write_bytes(b"".join(pages))
    for arguments in (["init"], ["load", str(crawl), "--workers", "0"]):
        done = CliRunner().invoke(cli, [*arguments, "--store", str(path / "store")])
        assert done.exit_code == 0, done.output
    return path


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(folder)

    def call(name: str, *arguments: str) -> Result:
        words = name.split()[1:]
        given = () if "--store" in arguments else ("--store", str(folder / "store"))
        return CliRunner().invoke(cli, [*words, *given, *arguments], input="")

    return call


def right_arguments(command: click.Command, but: click.Parameter | None = None) -> Iterator[str]:
    """Yields what a command needs besides the parameter that is tried."""
    for parameter in command.params:
        if not parameter.required or parameter is but:
            continue
        value = ARGUMENTS.get(parameter.name or "", "nosuch")
        if isinstance(parameter.type, Moment):
            value = "2026-09-01"
        if parameter.name == "record":
            value = "tests.index.people:Person"
        yield from (
            (value,) if isinstance(parameter, click.Argument) else (parameter.opts[-1], value)
        )


def with_bad(command: click.Command, parameter: click.Parameter, value: str) -> list[str]:
    """Returns arguments with one bad value, at the place of its parameter."""
    if isinstance(parameter, click.Option):
        return [*right_arguments(command, parameter), parameter.opts[-1], value]
    # Arguments stand behind all options; a bad one takes its own place among them.
    return [
        word
        for each in command.params
        for word in (
            ("--", value)
            if each is parameter
            else right_arguments(click.Command("", params=[each]))
        )
    ]


def parameters(*kinds: type) -> list[Any]:
    """Returns every parameter of these types with its command; `--store` has a test of its own."""
    return [
        pytest.param(name, parameter, id=f"{name} {parameter.opts[-1]}")
        for name, command in COMMANDS.items()
        for parameter in command.params
        if isinstance(parameter.type, kinds)
        and not getattr(parameter, "count", False)  # -v takes no value
        and (name, parameter.name) not in TESTED_ELSEWHERE
        and parameter.name != "location"
    ]


def check(done: Result, *, codes: tuple[int, ...]) -> None:
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    assert done.exit_code in codes, done.output
    if done.exit_code:
        # The shell names the line of the script in front of an error.
        assert re.match(r"webtable: |Usage: |-c:1:", done.stderr), done.stderr


@pytest.mark.parametrize(("name", "parameter"), parameters(Moment, click.DateTime))
def test_dates(run: Run, name: str, parameter: click.Parameter) -> None:
    for value in DATES:
        done = run(name, *with_bad(COMMANDS[name], parameter, value))
        check(done, codes=(2,))
        assert parameter.opts[-1] in done.stderr, value
        assert "2026-09-01" in done.stderr or "%Y-%m-%d" in done.stderr, value


@pytest.mark.parametrize(
    ("name", "parameter"), parameters(click.types.IntParamType, click.types.FloatParamType)
)
def test_numbers(run: Run, name: str, parameter: click.Parameter) -> None:
    for value in NUMBERS:
        done = run(name, *with_bad(COMMANDS[name], parameter, value))
        if value == "-1" and not isinstance(parameter.type, click.IntRange):
            check(done, codes=(0, 1, 2, 3, 4))
            continue
        check(done, codes=(2,))
        assert parameter.opts[-1] in done.stderr, value


@pytest.mark.parametrize(("name", "parameter"), parameters(RowKey))
def test_keys_and_cursors(run: Run, name: str, parameter: click.Parameter) -> None:
    for value in KEYS:
        done = run(name, *with_bad(COMMANDS[name], parameter, value))
        check(done, codes=(0, 2, 3) if parameter.name == "after" else (0, 2, 3, 4))


@pytest.mark.parametrize(("name", "parameter"), parameters(click.types.StringParamType))
def test_texts(run: Run, name: str, parameter: click.Parameter) -> None:
    for value in TEXTS:
        check(run(name, *with_bad(COMMANDS[name], parameter, value)), codes=(0, 1, 2, 3, 4))


@pytest.mark.parametrize(("name", "parameter"), parameters(click.Path))
def test_paths(run: Run, name: str, parameter: click.Parameter, tmp_path: Path) -> None:
    for value in (*PATHS, str(tmp_path)):
        check(run(name, *with_bad(COMMANDS[name], parameter, value)), codes=(0, 1, 2, 3, 4))


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"webtable sample"}))
def test_stores(run: Run, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for value in STORES:
        monkeypatch.chdir(tmp_path)
        done = run(name, "--store", value, *right_arguments(COMMANDS[name]))
        check(done, codes=(0, 1, 2, 3, 4, 5, 6))
