"""The examples in docstrings do what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import webtable

MODULES = [
    module.name
    for module in pkgutil.walk_packages(webtable.__path__, "webtable.")
    if not module.name.endswith("_pb2")
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
