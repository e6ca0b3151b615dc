"""The two forms of a hot module: plain Python, and compiled where there is a C compiler."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from webtable import compiled

PACKAGE = "webtable.store.hbase.wire"
# What uses hot modules, of all below `pipelined_connection`; each imported the form to run.
_USERS = ("pipelined_connection", "calls", "requests_and_results", "request_bytes", "cell_blocks")


def form_of(package: str, name: str, form: str) -> ModuleType:
    """Returns one form of a module; skips the test if it does not exist."""
    plain = importlib.import_module(f"{package}.{name}")
    assert not plain.COMPILED
    if form == "plain":
        return plain
    assert plain.__file__ is not None
    if not compiled.is_current(Path(plain.__file__).parent, name):
        pytest.skip("no compiled form here: `make setup` makes it where there is a C compiler")
    return importlib.import_module(f"{package}._{name}")


def pipeline_of(form: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Returns one form of `pipelined_connection`, with the same form of all below it."""
    if form == "plain":
        for user in _USERS:
            module = importlib.import_module(f"{PACKAGE}.{user}")
            for name, value in list(vars(module).items()):
                package, _, hot = origin_of(value).rpartition("._")
                if package == PACKAGE:
                    plain = form_of(PACKAGE, hot, "plain")
                    part = plain if isinstance(value, ModuleType) else vars(plain)[value.__name__]
                    monkeypatch.setattr(module, name, part)
    return form_of(PACKAGE, "pipelined_connection", form)


def origin_of(value: object) -> str:
    """Returns the name of the module that a value comes from, or is."""
    of_module = isinstance(value, ModuleType)
    return str(getattr(value, "__name__" if of_module else "__module__", ""))
