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


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webtable.Store]:
    with webtable.open(str(tmp_path_factory.mktemp("shared") / "store.db")) as opened:
        table = opened.create_table("t", webtable.Family(name="f", versions=3), "g")
        table.put(b"a", {b"f:q": b"one"}, timestamp=1)
        table.put(b"a", {b"f:q": b"two"}, timestamp=2)
        table.put(b"b", {b"g:n": b"\x00\x00\x00\x07"}, timestamp=3)
        yield opened


@pytest.fixture
def reader(shared_store: webtable.Store, capsys: pytest.CaptureFixture[str]) -> Shell:
    """A shell for tests that leave the table `t` as it is; opening a store takes time."""
    return Shell(shared_store, capsys)


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
