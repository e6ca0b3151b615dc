"""The public names of the package: all resolve, and none is imported before it is used."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import webtable

# Imported by no command that does not open a store; each costs start-up time.
HEAVY = ("rocksdict", "msgspec", "google.protobuf", "asyncio", "webtable.store", "webtable.pages")


@pytest.mark.parametrize("name", webtable.__all__)
def test_a_public_name_resolves(name: str) -> None:
    value = getattr(webtable, name)
    assert getattr(webtable, name) is value
    assert name in dir(webtable)
    if isinstance(value, type):
        assert value.__name__ == name


def test_public_names_are_sorted_and_the_table_of_modules_has_exactly_them() -> None:
    assert webtable.__all__ == sorted(webtable.__all__)
    assert list(webtable._MODULES) == webtable.__all__


def test_type_checkers_read_the_same_modules() -> None:
    source = Path(webtable.__file__).read_text(encoding="utf-8")
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
    assert checked == webtable._MODULES


def test_an_unknown_name_is_an_error_that_names_the_module() -> None:
    with pytest.raises(AttributeError, match="module 'webtable' has no attribute 'nosuch'"):
        _ = webtable.nosuch  # type: ignore[attr-defined]
    with pytest.raises(ImportError, match="cannot import name 'nosuch' from 'webtable'"):
        from webtable import nosuch  # type: ignore[attr-defined]  # noqa: F401


def test_importing_the_package_imports_none_of_its_parts() -> None:
    code = "import sys, webtable; print(*sorted(sys.modules), sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "webtable" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_a_name_is_imported_when_it_is_used() -> None:
    code = (
        "import sys, webtable; from webtable import Scan, open; "
        "assert webtable.Scan is Scan and webtable.open is open; "
        "assert webtable.errors.InvalidRequest; assert 'webtable.store.store' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
