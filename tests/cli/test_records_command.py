"""`webtable records`: ghosts, verify, build-index, by the name of a class."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

MODELS = """
from webtable.records import IndexBy, Key, Record

class Page(Record, table="pages"):
    url: Key[str]
    title: str = ""
    size: int = 0

class Later(Record, table="pages", indexes=[IndexBy("title")]):
    url: Key[str]
    title: str = ""

NOT_A_RECORD = 3
"""

FILL = """
import sys, webtable
from models import Page
from webtable.records import Collection
with webtable.open("store") as store:
    Collection(store, Page).put_many([Page("a", "t", 1), Page("b", "u", 2)])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "models.py").write_text(MODELS)
    subprocess.run([sys.executable, "-c", FILL], cwd=tmp_path, check=True)
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "webtable", "records", *arguments, "--store", "store"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_ghosts_are_listed_and_cleaned(folder: Path) -> None:
    done = run(folder, "ghosts", "--record", "models:Later", "--format", "json")
    assert done.returncode == 0, done.stderr
    (ghost,) = json.loads(done.stdout)["items"]
    assert (ghost["field"], ghost["records"]) == ("size", 2)
    refused = run(folder, "ghosts", "--record", "models:Later", "--field", "size")
    assert (refused.returncode, "--field without --clean" in refused.stderr) == (2, True)
    done = run(folder, "ghosts", "--record", "models:Later", "--clean")
    assert (done.returncode, "deleted 2 cells" in done.stderr) == (0, True)
    done = run(folder, "ghosts", "--record", "models:Later", "--format", "jsonl")
    assert (done.returncode, done.stdout) == (0, "")


def test_an_index_is_built_and_verified(folder: Path) -> None:
    done = run(folder, "build-index", "pages_by_title", "--record", "models:Later")
    assert (done.returncode, "built from 2 rows" in done.stderr) == (0, True), done.stderr
    done = run(folder, "verify", "--record", "models:Later", "--format", "json")
    assert done.returncode == 0, done.stderr
    (report,) = json.loads(done.stdout)["items"]
    assert (report["rows"], report["entries"], report["missing"]) == (2, 2, 0)
    broken = "import webtable\nwith webtable.open('store') as s: s.truncate_table('pages_by_title')"
    subprocess.run([sys.executable, "-c", broken], cwd=folder, check=True)
    done = run(folder, "verify", "--record", "models:Later")
    assert (done.returncode, "see --repair" in done.stderr) == (6, True)
    assert run(folder, "verify", "--record", "models:Later", "--repair").returncode == 0
    assert run(folder, "verify", "--record", "models:Later").returncode == 0


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ("models", "write MODULE:CLASS"),
        ("nothing:Page", "No module named 'nothing'"),
        ("models:Nothing", "no attribute 'Nothing'"),
        ("models:NOT_A_RECORD", "derive it from Record"),
    ],
)
def test_classes_that_are_none(folder: Path, record: str, why: str) -> None:
    done = run(folder, "ghosts", "--record", record)
    assert done.returncode == 2
    assert why in done.stderr
    assert "Traceback" not in done.stderr
