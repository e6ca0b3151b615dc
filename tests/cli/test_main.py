"""The main command: help, version, and what errors look like to a shell."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from types import ModuleType

import click
import pytest
from click.testing import CliRunner

import webtable
from tools.reference import leaf_commands
from webtable import errors
from webtable.cli import main as command_line
from webtable.cli.main import COMMANDS, Entry, cli, main
from webtable.cli.shared_options import format_option

LEAVES = dict(leaf_commands())


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Adds a command `webtable probe` that raises what it is given."""

    def add(error: BaseException) -> None:
        @click.command()
        @format_option
        def run(form: str) -> None:
            raise error

        module = ModuleType("webtable.cli.probe")
        module.run = run  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setitem(COMMANDS, "probe", Entry("probe", "run", "Raise an error."))

    return add


def test_version() -> None:
    done = CliRunner().invoke(cli, ["--version"], prog_name="webtable")
    assert done.output == f"webtable {webtable.__version__}\n"


def test_python_m_is_the_same_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "webtable", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"webtable {webtable.__version__}\n"


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from webtable.cli.main import main\n"
        "sys.argv = ['webtable', '--help']\n"
        "try: main()\n"
        "except SystemExit: print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = set(done.stderr.split())
    assert "webtable.cli.main" in imported
    assert (
        imported & {"rich", "rocksdict", "google.protobuf", "webtable.cli.development.tour"}
        == set()
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_in_the_help_is_the_commands_own(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.get_short_help_str(limit=100) == COMMANDS[name].summary


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_takes_a_store(name: str) -> None:
    (option,) = [option for option in LEAVES[name].params if "--store" in option.opts]
    assert option.envvar == "WEBTABLE_STORE"


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_has_help(name: str) -> None:
    done = CliRunner().invoke(cli, [*name.split()[1:], "-h"])
    assert done.exit_code == 0
    assert done.output.startswith("Usage: ")


def test_an_unknown_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert _exit_code(["tablez"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "No such command 'tablez'. (Did you mean one of: 'table', 'tables'?)" in captured.err


@pytest.mark.parametrize(
    ("error", "exit_code"),
    [
        (errors.WebTableError("it failed"), 1),
        (errors.InvalidRequest("wrong"), 2),
        (errors.TableNotFound("t", known=["u"]), 3),
        (errors.StoreNotFound("no store"), 3),
        (errors.StoreLocked("in use"), 4),
        (errors.ServerUnavailable("nobody there"), 5),
        (errors.CorruptData("broken"), 6),
        (errors.ReadOnly("may not"), 1),
        (
            errors.BatchError(
                "2 failed", [errors.Timeout("late"), errors.ReadOnly("may not")], [1]
            ),
            5,
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_exit_codes(
    error: errors.WebTableError, exit_code: int, probe: Callable[[BaseException], None]
) -> None:
    probe(error)
    done = CliRunner().invoke(cli, ["probe"])
    assert done.exit_code == exit_code
    assert done.stdout == ""
    assert done.stderr.startswith(f"webtable: {error.message}\n")


def test_one_clause_catches_whatever_is_not_found() -> None:
    found = [
        errors.NotFound("page", "x"),
        errors.TableNotFound("x", known=["y"]),
        errors.StoreNotFound("there is no store at 'x'", hint="create one"),
        errors.FamilyNotFound("t", "x", known=["y"]),
    ]
    for error in found:
        assert isinstance(error, errors.NotFound)
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), vars(again)) == (str(error), vars(error))
    assert [error.code for error in found] == [
        "not-found",
        "table-not-found",
        "store-not-found",
        "family-not-found",
    ]
    assert [error.kind for error in found] == ["page", "table", "store", "family"]


def test_every_error_is_public() -> None:
    kinds = {name for name, value in vars(errors).items() if isinstance(value, type)}
    public = {name for name in kinds if vars(errors)[name].__module__ == errors.__name__}
    assert public <= set(errors.__all__)


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_a_wrong_option_is_an_object_for_programs_too(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _exit_code(["pages", "example.com", "--format", form, "--limit", "0"]) == 2
    body = json.loads(capsys.readouterr().err)
    assert (body["ok"], body["code"], body["status"]) == (False, "usage", 400)
    assert "--limit" in body["error"]


def test_an_error_is_a_line_and_a_hint(probe: Callable[[BaseException], None]) -> None:
    probe(errors.WebTableError("the disk is on fire", hint="put it out"))
    done = CliRunner().invoke(cli, ["probe"])
    assert done.stderr == "webtable: the disk is on fire\nhint: put it out\n"


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_an_error_for_programs_is_an_object(
    form: str, probe: Callable[[BaseException], None]
) -> None:
    probe(errors.TableNotFound("t", known=["u"]))
    done = CliRunner().invoke(cli, ["probe", "--format", form])
    assert done.exit_code == 3
    assert json.loads(done.stderr) == {
        "ok": False,
        "code": "table-not-found",
        "error": "table 't' does not exist",
        "hint": "known tables: u",
        "status": 404,
    }


def test_ctrl_c_stops_quietly(
    probe: Callable[[BaseException], None], capsys: pytest.CaptureFixture[str]
) -> None:
    probe(KeyboardInterrupt())
    assert _exit_code(["probe"]) == command_line.STOPPED == 130
    assert "Traceback" not in capsys.readouterr().err


def test_a_bug_keeps_its_traceback(probe: Callable[[BaseException], None]) -> None:
    probe(ZeroDivisionError("a bug"))
    with pytest.raises(ZeroDivisionError):
        _exit_code(["probe"])


def test_a_reader_that_went_away_is_no_error_message() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as gone:
        done = subprocess.run(
            [sys.executable, "-m", "webtable", "--help"],
            stdout=gone,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.stderr == b""


def _exit_code(arguments: list[str]) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["webtable", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
    return left.value.code
