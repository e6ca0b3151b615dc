"""The page about logging lists every message of the library, with its logger and its level."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "reference" / "logging.md").read_text(encoding="utf-8")
SOURCE = ROOT / "src" / "webtable"
LEVELS = {"debug", "info", "warning", "error", "critical", "exception", "log"}
MODULES = {
    path: ast.parse(path.read_text(encoding="utf-8"))
    for path in SOURCE.rglob("*.py")
    if "_pb2" not in path.name
}


def loggers_of(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "get_logger":
            (name,) = node.args
            assert isinstance(name, ast.Constant)
            yield str(name.value)


def messages_of(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yields the level and the text of each message; texts that are put together have no place."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in LEVELS
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "_log"
        ):
            text = node.args[0]
            assert isinstance(text, ast.Constant), ast.unparse(node)
            yield node.func.attr, str(text.value)


def shown(text: str) -> str:
    """Returns a message as the page writes it: `…` stands for what is filled in."""
    return re.sub(r"%[.\d]*[sdfr]", "…", text)


def test_every_message_is_listed_with_its_logger_and_level() -> None:
    listed = set(re.findall(r"^\| `(webtable[\w.]*)` \| (\w+) \| `(.+?)` \| .+ \|$", PAGE, re.M))
    logged = set()
    for tree in MODULES.values():
        for level, text in messages_of(tree):
            (name,) = set(loggers_of(tree))
            logged.add((name, level, shown(text)))
    assert listed == logged


def test_every_logger_is_named() -> None:
    used = {name for tree in MODULES.values() for name in loggers_of(tree)}
    assert set(re.findall(r"^- `(webtable[\w.]+)`: ", PAGE, re.M)) == used
    for name in used:
        # A logger is named after the folder that it speaks for.
        assert (SOURCE / Path(*name.split(".")[1:])).is_dir() or name == "webtable.pages.load"


def test_only_one_module_gets_loggers_and_only_the_command_line_adds_handlers() -> None:
    calls = {"getLogger", "addHandler", "basicConfig", "setLevel", "dictConfig"}
    found = {
        path.relative_to(SOURCE).as_posix()
        for path, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in calls
    }
    assert found == {"loggers.py", "cli/log_messages.py"}


def test_a_program_that_configures_no_logging_gets_nothing_on_stderr() -> None:
    code = (
        "import webtable.store.rocks.engine, logging;"
        "logging.getLogger('webtable.store.rocks').warning('printed')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
