"""`webtable init`, interrupted and among tables of others: finished by the next, or rejected."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import webtable
from tests.pages.loading.commands import KILLED, KilledCommands
from webtable.cli.main import cli
from webtable.errors import AlreadyExists, InvalidRequest, SchemaMismatch
from webtable.links.create_or_open_tables import create_tables
from webtable.links.link_index import LinkIndex
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored

SOAK = bool(os.environ.get("WEBTABLE_SOAK"))
ROOT = Path(__file__).parents[3]
STEPS = 105


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


@pytest.fixture(scope="module")
def commands() -> Iterator[KilledCommands]:
    started = KilledCommands()
    yield started
    started.close()


def check_finished(location: str) -> None:
    """The next command of any kind says what to do, and the next `init` does it."""
    asked = run("pages", "example.com", "--store", location)
    assert asked.exit_code in (0, 2, 3), asked.output
    if asked.exit_code:
        assert "webtable init" in asked.output or "there is no store" in asked.output
    again = run("init", "--store", location, "--profile", "archive")
    assert again.exit_code == 0 or "exists already" in again.output, again.output
    assert run("verify", "--store", location).exit_code == 0
    described = run("table", "describe", "webtable", "--store", location, "--format", "json")
    families = json.loads(described.output)["items"]
    assert {each["ttl_seconds"] for each in families} == {None}  # the profile that was begun with


@pytest.mark.parametrize("last", range(1, STEPS + 1) if SOAK else (4, 20, 37, 60, 85, 104))
def test_an_init_that_was_killed_is_finished(
    commands: KilledCommands, tmp_path: Path, last: int
) -> None:
    location = str(tmp_path / "store")
    assert commands.run(last, "init", "--store", location, "--profile", "archive") == KILLED
    check_finished(location)


@pytest.mark.skipif(not SOAK, reason="a long run")
def test_inits_killed_at_any_moment_are_finished(tmp_path: Path) -> None:
    for number in range(100):
        location = str(tmp_path / f"store{number}")
        command = [sys.executable, "-m", "webtable", "init", "--store", location]
        process = subprocess.Popen([*command, "--profile", "archive"], cwd=ROOT)
        deadline = time.monotonic() + 60
        while not Path(location).exists() and time.monotonic() < deadline:
            pass
        with suppress(subprocess.TimeoutExpired):  # a random moment before its end
            process.wait(random.random() * 0.5)
        with suppress(ProcessLookupError):
            process.kill()
        process.wait(60)
        if Path(location).exists():
            check_finished(location)


def test_files_of_a_database_that_was_never_made_are_no_obstacle(tmp_path: Path) -> None:
    for names in (["WEBTABLE.new"], ["MANIFEST-000001", "000001.dbtmp", "LOG", "IDENTITY"]):
        location = tmp_path / f"store{len(names)}"
        if "MANIFEST-000001" in names:
            webtable.open(str(location)).close()
            for path in location.iterdir():
                if path.name not in ("WEBTABLE", "WRITER"):
                    path.unlink()
            (location / "WRITER").write_text('{"pid": 1, "host": "x", "since": 1}')
        location.mkdir(exist_ok=True)
        for name in names:
            (location / name).write_bytes(b"\0" * 10)
        asked = run("pages", "example.com", "--store", str(location))
        assert (asked.exit_code, "`webtable init`" in asked.output) == (3, True), asked.output
        made = run("init", "--store", str(location))
        assert made.exit_code == 0, made.output


def test_tables_of_other_origin_are_rejected_by_name(tmp_path: Path) -> None:
    location = str(tmp_path / "store")
    with webtable.open(location) as store:
        store.create_table("webtable_time_idx", "mine")
        store.create_table("webindex", "mine")
        store.create_table("others", "mine")
    refused = run("init", "--store", location)
    assert refused.exit_code == 2
    assert "'webtable_time_idx', 'webindex'" in refused.output
    with webtable.open(location) as store:
        assert store.tables() == ["others", "webindex", "webtable_time_idx"]
        store.drop_table("webindex")
        store.drop_table("webtable_time_idx")
        store.create_table("webtable_settings", "a").put(b"mine", {b"a:x": b"y"})
    assert "'webtable_settings'" in run("init", "--store", location).output


def test_an_init_without_its_link_index_is_finished(tmp_path: Path) -> None:
    location = str(tmp_path / "store")
    with webtable.open(location) as store:
        PageTable.create(store, parse_stored)
    verified = run("verify", "--store", location, "--format", "json")
    assert verified.exit_code == 6
    assert json.loads(verified.output)["link_examples"][0]["name"] == "webindex"
    assert run("init", "--store", location).exit_code == 0
    assert run("verify", "--store", location).exit_code == 0
    assert run("init", "--store", location).exit_code == 4


class Interrupted(Exception):
    pass


class FewTables:
    """A store in which only so many tables can be created before the work is interrupted."""

    def __init__(self, store: webtable.Store, most: int) -> None:
        self._store = store
        self._left = most
        self._lock = threading.Lock()  # on a cluster several are created at the same time

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def create_table(self, *arguments: object, **options: object) -> object:
        with self._lock:
            if not self._left:
                raise Interrupted
            self._left -= 1
        return self._store.create_table(*arguments, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ["rocks", pytest.param("hbase", marks=pytest.mark.hbase)])
def test_an_init_interrupted_between_tables_is_finished(
    request: pytest.FixtureRequest, tmp_path: Path, engine: str
) -> None:
    location = str(tmp_path / "store")
    if engine == "hbase":
        location = f"{request.getfixturevalue('hbase_location')}?namespace=i{uuid.uuid4().hex[:8]}"
    with webtable.open(location) as store:
        # Each time it goes on from where it was: 10 tables of pages, 3 of links.
        for most in (0, 1, 2, 4, 1):
            with pytest.raises(Interrupted):
                create_tables(FewTables(store, most), "readable", "archive")  # type: ignore[arg-type]
            if len(store.tables()) > 1:
                with pytest.raises(SchemaMismatch, match="interrupted"):
                    PageTable.open(store, parse_stored)
        with pytest.raises(InvalidRequest, match="began with profile=archive"):
            create_tables(store, profile="live")
        with pytest.raises(Interrupted):
            create_tables(FewTables(store, 1), None, None)  # type: ignore[arg-type]
        made = create_tables(store)
        assert (made.keys.name, made.profile) == ("readable", "archive")
        assert LinkIndex.open(made).is_ready
        assert len(store.tables()) == 13
        with pytest.raises(AlreadyExists):
            create_tables(store)
        if engine == "hbase":
            for name in store.tables():
                store.drop_table(name)
