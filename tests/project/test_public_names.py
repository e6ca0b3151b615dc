"""The public names of the packages: all resolve, and none is imported before it is used."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import webtable
import webtable.links
import webtable.pages

# Imported by no command that does not open a store; each costs start-up time.
HEAVY = ("rocksdict", "msgspec", "google.protobuf", "asyncio", "webtable.store", "webtable.pages")
PACKAGES = [webtable, webtable.pages, webtable.links]
NAMES = [(package, name) for package in PACKAGES for name in package.__all__]


def _name(given: object) -> str:
    return given.__name__ if isinstance(given, ModuleType) else str(given)


@pytest.mark.parametrize(("package", "name"), NAMES, ids=_name)
def test_a_public_name_resolves(package: ModuleType, name: str) -> None:
    value = getattr(package, name)
    assert getattr(package, name) is value
    assert name in dir(package)
    if isinstance(value, type):
        assert value.__name__ == name
        assert value.__doc__


@pytest.mark.parametrize("package", PACKAGES, ids=_name)
def test_public_names_are_sorted_and_the_table_of_modules_has_exactly_them(
    package: ModuleType,
) -> None:
    assert package.__all__ == sorted(package.__all__)
    assert list(package._MODULES) == package.__all__


@pytest.mark.parametrize("package", PACKAGES, ids=_name)
def test_type_checkers_read_the_same_modules(package: ModuleType) -> None:
    source = Path(package.__file__ or "").read_text(encoding="utf-8")
    blocks = [node for node in ast.parse(source).body if isinstance(node, ast.If)][:1]
    checked = {
        alias.asname or alias.name: (
            f"webtable.{alias.name}" if statement.module == "webtable" else statement.module
        )
        for block in blocks
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert checked == package._MODULES


@pytest.mark.parametrize("package", PACKAGES, ids=_name)
def test_an_unknown_name_is_an_error_that_names_the_module(package: ModuleType) -> None:
    name = package.__name__
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'nosuch'"):
        _ = package.nosuch
    with pytest.raises(ImportError, match=f"cannot import name 'nosuch' from '{name}'"):
        exec(f"from {name} import nosuch")


def test_importing_the_packages_imports_none_of_their_parts() -> None:
    for name, heavy in (
        ("webtable", HEAVY),
        ("webtable.pages", (*HEAVY[:-1], "webtable.pages.page")),
        ("webtable.links", HEAVY),
    ):
        code = f"import sys, {name}; print(*sorted(sys.modules), sep='\\n')"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        loaded = set(done.stdout.split())
        assert name in loaded
        assert loaded.isdisjoint(heavy)


def test_a_name_is_imported_when_it_is_used() -> None:
    code = (
        "import sys, webtable; from webtable import Scan, open; "
        "assert webtable.Scan is Scan and webtable.open is open; "
        "assert webtable.errors.InvalidRequest; assert 'webtable.store.store' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_same_name_is_the_same_value_in_every_package() -> None:
    assert webtable.pages.Page is webtable.Page
    assert webtable.pages.Results is webtable.Results
    web = webtable.WebTable
    assert {"load", "put", "page", "pages", "history", "diff"} <= set(dir(web))
