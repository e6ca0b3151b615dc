"""The public names and signatures are those of happybase 1.3."""

from __future__ import annotations

import importlib
import inspect
from importlib.metadata import version
from typing import Any

import pytest

import webtable.happybase as ours

theirs: Any = importlib.import_module("happybase")

CLASSES = ("Batch", "Connection", "ConnectionPool", "Table")


def public(module_or_class: Any) -> dict[str, Any]:
    return {
        name: value
        for name, value in vars(module_or_class).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }


def parameters(function: Any) -> list[tuple[str, object, object]]:
    return [
        (each.name, each.kind, each.default)
        for each in inspect.signature(function).parameters.values()
    ]


CALLS = [
    (kind, name)
    for kind in CLASSES
    for name in ("__init__", *public(getattr(theirs, kind)))
    if callable(getattr(getattr(theirs, kind), name))
]


def test_it_is_compared_with_the_named_version() -> None:
    assert ours.__version__ == theirs.__version__ == version("happybase")


def test_every_public_name_is_there() -> None:
    assert set(public(theirs)) == set(ours.__all__)
    assert ours.DEFAULT_HOST == theirs.DEFAULT_HOST
    assert ours.DEFAULT_PORT == theirs.DEFAULT_PORT
    assert issubclass(ours.NoConnectionsAvailable, theirs.NoConnectionsAvailable.__base__)


def test_submodules_have_the_same_names() -> None:
    for name in ("batch", "connection", "pool", "table"):
        theirs_too = importlib.import_module(f"happybase.{name}")
        module = importlib.import_module(f"webtable.happybase.{name}")
        defined = {
            each
            for each, value in public(theirs_too).items()
            if getattr(value, "__module__", "") == theirs_too.__name__ and inspect.isclass(value)
        }
        assert defined <= set(vars(module))


def test_constants_of_connections() -> None:
    names = ("DEFAULT_COMPAT", "DEFAULT_PROTOCOL", "DEFAULT_TRANSPORT", "COMPAT_MODES")
    for name in names:
        assert getattr(ours.connection, name) == getattr(theirs.connection, name)


@pytest.mark.parametrize("kind", CLASSES)
def test_every_method_is_there(kind: str) -> None:
    assert set(public(getattr(theirs, kind))) <= set(public(getattr(ours, kind)))


@pytest.mark.parametrize(("kind", "name"), CALLS, ids=str)
def test_signature(kind: str, name: str) -> None:
    expected = parameters(getattr(getattr(theirs, kind), name))
    assert parameters(getattr(getattr(ours, kind), name)) == expected


def test_there_is_something_to_compare() -> None:
    assert len(CALLS) > 25
