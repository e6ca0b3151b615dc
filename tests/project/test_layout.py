"""The shape of the repository: sizes and names that keep it readable, and no trace of a machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = (".ci", "benchmarks", "docs", "examples", "src", "tests", "tools")
FILES = [
    # In a linked work tree .git is a file, with a path of this machine in it.
    *(path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"),
    *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()),
]
PYTHON = [path for path in FILES if path.suffix == ".py" and "_pb2" not in path.name]
SOURCE = [path for path in PYTHON if path.is_relative_to(ROOT / "src")]

VAGUE_NAMES = {"utils", "helpers", "common", "manager", "handler", "data", "info"}

# Written so that this file does not match itself.
MACHINE_TRACES = re.compile(
    rb"(?<![\w.-])/(?:wor[k]|roo[t]|hom[e]/\w+)/|pypi[.]org|repo1?[.]maven[.]|deb[.]debian"
)


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", PYTHON, ids=_name)
def test_a_file_fits_in_a_head(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= (500 if path in SOURCE else 600)


@pytest.mark.parametrize("path", SOURCE, ids=_name)
def test_names_say_something(path: Path) -> None:
    assert path.stem not in VAGUE_NAMES


def test_no_trace_of_a_machine_or_a_registry() -> None:
    # What is compiled here is not in the repository, and knows where its libraries are.
    found = [
        _name(path)
        for path in FILES
        if "__pycache__" not in path.parts
        and path.suffix not in {".so", ".pyd"}
        and MACHINE_TRACES.search(path.read_bytes())
    ]
    assert found == []
