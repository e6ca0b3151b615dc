"""Every pattern stores exactly what its description draws, and returns the same on both engines.

`drawn.json` has the rows as they are drawn in the description of the data model, `expected/` what a
pattern prints about its rows and its queries.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import webtable
from examples.patterns.stage import PATTERNS, show
from webtable import ALL_VERSIONS, Family, Store

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DRAWN: dict[str, Any] = json.loads((HERE / "drawn.json").read_text(encoding="utf-8"))


def module_of(name: str) -> ModuleType:
    return import_module(f"examples.patterns.{name}")


def numbered(level: Any) -> Any:
    """Returns drawn rows with numbers in place of the labels of timestamps."""
    if not isinstance(level, dict):
        return level
    return {
        int(name.removeprefix("timestamp-")) if name.startswith("timestamp-") else name: numbered(
            part
        )
        for name, part in level.items()
    }


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern(name: str, store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    pattern = module_of(name)
    table = store.create_table(pattern.SCHEMA)
    pattern.write(table)
    assert table.nested(versions=ALL_VERSIONS, text=True) == numbered(DRAWN[name])
    show(table)
    shown = capsys.readouterr().out
    assert json.loads(shown.partition("\n")[2]) == DRAWN[name]
    pattern.ask(table)
    told = shown + capsys.readouterr().out
    assert told == (HERE / "expected" / f"{name}.txt").read_text(encoding="utf-8")


def test_the_nested_view(store: Store) -> None:
    """Two rows, of which cells have several versions, written cell by cell and read back."""
    families = [Family(name=name, versions=3) for name in ("Home", "Office")]
    table = store.create_table("people", *families)
    drawn = numbered(DRAWN["nested_view"])
    for row, parts in drawn.items():
        for family, columns in parts.items():
            for qualifier, versions in columns.items():
                for timestamp, value in versions.items():
                    column = f"{family}:{qualifier}".encode()
                    table.put(row.encode(), {column: value.encode()}, timestamp=timestamp)
    assert table.nested(versions=3, text=True) == drawn
    newest = table.nested(text=True)
    assert newest["Row-0001"]["Home"]["Phones"] == {3: "+61 2 4567890"}


def test_every_pattern_is_listed_and_says_when_to_use_it() -> None:
    files = {path.stem for path in (ROOT / "examples" / "patterns").glob("*.py")}
    assert files == {*PATTERNS, "stage", "__init__", "__main__"}
    assert {*PATTERNS, "nested_view"} == DRAWN.keys()
    for name in PATTERNS:
        about = module_of(name).__doc__ or ""
        for word in ("\nUse it ", "\nNot ", "\nCheap "):
            assert word in about, f"{name} does not say {word.strip()}"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_a_pattern_runs_as_a_file_from_anywhere(tmp_path: Path) -> None:
    for name in PATTERNS:
        path = ROOT / "examples" / "patterns" / f"{name}.py"
        done = subprocess.run(
            [sys.executable, str(path), "--help"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), name


def test_a_pattern_is_a_program(tmp_path: Path) -> None:
    alone = run("examples.patterns.graph")
    assert (alone.returncode, alone.stderr) == (0, "")
    about = module_of("graph").__doc__ or ""
    told = (HERE / "expected" / "graph.txt").read_text(encoding="utf-8")
    assert alone.stdout == f"{about}\n{told}"

    location = str(tmp_path / "store")
    assert run("examples.patterns.graph", "--store", location).stdout == alone.stdout
    with webtable.open(location, create=False) as store:
        assert store.tables() == []
    assert run("examples.patterns.graph", "--store", location, "--keep").returncode == 0
    again = run("examples.patterns.graph", "--store", location)
    assert again.returncode == 1
    assert "pattern_graph" in again.stderr
    assert again.stdout == ""
    with webtable.open(location, create=False) as store:
        assert store.tables() == ["pattern_graph"]  # what was there is left alone


def test_the_list_of_patterns() -> None:
    listed = run("examples.patterns")
    assert listed.returncode == 0
    for name in PATTERNS:
        assert f"  {name} " in listed.stdout
