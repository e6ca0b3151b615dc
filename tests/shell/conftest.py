"""Stores for the shell: an embedded one for most tests, and both engines for transcripts."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import webtable
from tests.shell.running import Shell

ENGINES = [pytest.param("embedded"), pytest.param("hbase", marks=pytest.mark.hbase)]


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Dates are printed in local time; the transcripts were recorded in UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[webtable.Store]:
    with webtable.open(str(tmp_path / "store.db")) as opened:
        yield opened


@pytest.fixture
def shell(store: webtable.Store, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(store, capsys)


@pytest.fixture(params=ENGINES)
def engine_name(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def location(engine_name: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A store of the engine, empty; what a test leaves in a cluster is removed."""
    if engine_name == "embedded":
        yield str(tmp_path / "store.db")
        return
    cluster: str = request.getfixturevalue("hbase_location")
    namespace = f"shell_{secrets.token_hex(4)}"
    where = f"{cluster}?namespace={namespace}"
    yield where
    with webtable.open(where) as opened:
        for table in opened.tables():
            opened.drop_table(table)
    with webtable.open(cluster) as opened:
        if namespace in {each.name for each in opened.admin.namespaces()}:
            opened.admin.drop_namespace(namespace)
