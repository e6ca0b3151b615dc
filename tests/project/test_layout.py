"""The shape of the repository: sizes, names and rooms that keep it readable; no machine traces."""

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


def _folders_in_the_page() -> dict[str, set[str]]:
    """Returns the modules of each folder, as docs/develop/layout.md lists them."""
    page = (ROOT / "docs" / "develop" / "layout.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w/]+)/` \| .+ \| (.+) \|$", page, re.MULTILINE)
    return {folder: set(re.findall(r"`(\w+)`", modules)) for folder, modules in rows}


def _folders_that_are_there() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in (ROOT / "src" / "webtable").rglob("*.py"):
        folder = path.parent.relative_to(ROOT / "src" / "webtable").as_posix()
        modules = found.setdefault(folder, set())
        if path.name != "__init__.py" and "_pb2" not in path.name:
            modules.add(path.stem)
    return found


def test_the_page_about_the_layout_names_every_folder_and_module() -> None:
    there = _folders_that_are_there()
    top = there.pop(".")
    assert _folders_in_the_page() == there
    page = (ROOT / "docs" / "develop" / "layout.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^  (?!__init__)(\w+)\.py  ", page, re.MULTILINE)) == top


@pytest.mark.parametrize(("folder", "modules"), _folders_that_are_there().items())
def test_a_folder_has_few_modules(folder: str, modules: set[str]) -> None:
    assert len(modules) <= 15, f"give {folder} folders that say what its parts are"
