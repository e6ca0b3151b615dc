"""The two forms of a hot module: plain Python, and compiled where there is a C compiler."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from webtable import compiled


def form_of(package: str, name: str, form: str) -> ModuleType:
    """Returns one form of a module; skips the test where there is none."""
    plain = importlib.import_module(f"{package}.{name}")
    assert not plain.COMPILED
    if form == "plain":
        return plain
    assert plain.__file__ is not None
    if not compiled.is_current(Path(plain.__file__).parent, name):
        pytest.skip("no compiled form here: `make setup` makes it where there is a C compiler")
    return importlib.import_module(f"{package}._{name}")


def pipe_of(form: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Returns one form of `pipe`, which works with the same form of what it stands on."""
    package = "webtable.store.hbase"
    pipe = form_of(package, "pipe", form)
    if form == "plain":
        for name in ("stream", "turns"):
            monkeypatch.setattr(pipe, name, form_of(package, name, form))
        monkeypatch.setattr(pipe, "_new_call", form_of(package, "calls", form).Call)
    return pipe
