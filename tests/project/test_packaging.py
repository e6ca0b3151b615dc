"""Metadata, lock file, Makefile and CI agree with each other."""

from __future__ import annotations

import re
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import webtable

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
DECLARED = [
    *PYPROJECT["build-system"]["requires"],
    *PYPROJECT["project"]["dependencies"],
    *PYPROJECT["dependency-groups"]["dev"],
]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")


def _locked() -> dict[str, Requirement]:
    lines = [line for line in LOCK.splitlines() if line and not line.startswith("#")]
    return {entry.name: entry for entry in map(Requirement, lines)}


@pytest.mark.parametrize("declared", DECLARED)
def test_the_lock_file_holds_a_version_that_fits(declared: str) -> None:
    wanted = Requirement(declared)
    (pin,) = _locked()[wanted.name].specifier
    assert pin.operator == "=="
    assert wanted.specifier.contains(pin.version)


def test_the_lock_file_names_no_registry() -> None:
    assert "://" not in LOCK
    assert "--index-url" not in LOCK


def test_the_environment_is_the_locked_one() -> None:
    wrong = {
        name: (metadata.version(name), str(entry.specifier))
        for name, entry in _locked().items()
        if (entry.marker is None or entry.marker.evaluate())
        and not entry.specifier.contains(metadata.version(name))
    }
    assert wrong == {}, "run `make setup`"


def test_one_version_number() -> None:
    assert metadata.version("webtable-db") == webtable.__version__


def test_no_text_installs_the_project_that_owns_the_name_on_the_package_index() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.py")]
    wrong = re.compile(r"(?:pip|pipx|uv|uvx)\b[^`\n]*[\s'\"]webtable(?:\[\w+\])?(?:['\"`\s]|==|$)")
    assert [
        (path.relative_to(ROOT), found[0])
        for path in pages
        for found in wrong.finditer(path.read_text(encoding="utf-8"))
    ] == []


def test_the_script_is_the_main_function() -> None:
    (script,) = metadata.distribution("webtable-db").entry_points.select(name="webtable")
    assert script.value == "webtable.cli.main:main"


def test_ci_runs_the_test_command_of_the_readme() -> None:
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert lines[-1] == "make test"
    assert "make test" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_make_alone_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony is not None
    listed = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    # `java` is a part of `test`, not a group of its own.
    assert set(re.findall(r"make (\w+)", listed)) == set(phony[1].split()) - {"java"}
