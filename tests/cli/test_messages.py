"""What commands print to stderr: logs, and advice after Ctrl-C."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from types import ModuleType

import click
import pytest
from click.testing import CliRunner

from webtable.cli.main import COMMANDS, STOPPED, Entry, cli, main
from webtable.cli.shared_options import go_on_with, store_option


@pytest.fixture(autouse=True)
def _probe(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Adds a command `webtable probe` that logs, and is stopped at a given step."""

    @click.command()
    @click.option("--stop", is_flag=True)
    @store_option
    def probe(stop: bool, location: str) -> None:
        logging.getLogger("webtable.probe").info("retry of %s", location)
        logging.getLogger("webtable.probe").debug("bytes \x1b[2J")
        logging.getLogger("webtable.probe").warning("lost\x1b[2J")
        if stop:
            go_on_with("repeat the command to continue")
            raise KeyboardInterrupt

    module = ModuleType("webtable.cli.probe")
    module.probe = probe  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(COMMANDS, "probe", Entry("probe", "probe", "Log."))
    yield
    left = logging.getLogger("webtable").handlers
    assert all(type(each) is logging.NullHandler for each in left)


@pytest.mark.parametrize(
    ("arguments", "levels"),
    [
        (["-v", "probe"], ["INFO", "WARNING"]),
        (["probe", "-v"], ["INFO", "WARNING"]),
        (["probe", "-vv"], ["INFO", "DEBUG", "WARNING"]),
        (["-v", "probe", "--verbose"], ["INFO", "DEBUG", "WARNING"]),
    ],
)
def test_verbose_prints_logs_to_stderr(arguments: list[str], levels: list[str]) -> None:
    done = CliRunner().invoke(cli, [*arguments, "--store", "here"])
    assert (done.exit_code, done.stdout) == (0, "")
    lines = done.stderr.splitlines()
    assert [line.split()[2] for line in lines] == levels
    assert lines[0].endswith("INFO webtable.probe: retry of here")
    assert "\x1b" not in done.stderr


def test_warnings_are_always_printed() -> None:
    done = CliRunner().invoke(cli, ["probe", "--store", "here"])
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "webtable: warning: lost\\x1B[2J\n"


def test_ctrl_c_prints_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["webtable", "probe", "--stop"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == STOPPED
    shown = capsys.readouterr().err
    assert shown.splitlines()[1] == "webtable: stopped; repeat the command to continue"
    assert "Traceback" not in shown
