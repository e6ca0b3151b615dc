"""Operational state: one suite over both implementations, and the bytes of each."""

from __future__ import annotations

import itertools
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import webtable
from tests.simulation.world import World
from webtable.errors import (
    CorruptData,
    FormatVersionError,
    InvalidRequest,
    ReadOnly,
    RetryableError,
)
from webtable.operations.operational_state import MAX_VALUE_BYTES, OperationalState, open_state
from webtable.operations.operational_state_table import TABLE, TableState
from webtable.operations.sqlite_state import SqliteState
from webtable.store.store import Store


@pytest.fixture
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.node.originalname).replace("_", "-")


# The contract


def test_a_value_is_replaced_only_if_it_is_the_old_one(state: OperationalState, kind: str) -> None:
    assert state.get(kind, "one") is None
    assert not state.put_if(kind, "one", b"1", b"2")
    assert state.put_if(kind, "one", None, b"1")
    assert not state.put_if(kind, "one", None, b"2")
    assert not state.put_if(kind, "one", b"0", b"2")
    assert state.get(kind, "one") == b"1"
    assert state.put_if(kind, "one", b"1", b"2")
    assert state.get(kind, "one") == b"2"


def test_a_value_is_deleted_only_if_it_is_the_old_one(state: OperationalState, kind: str) -> None:
    assert not state.delete_if(kind, "one", b"1")
    assert state.put_if(kind, "one", None, b"1")
    assert not state.delete_if(kind, "one", b"2")
    assert state.delete_if(kind, "one", b"1")
    assert state.get(kind, "one") is None
    assert list(state.items(kind)) == []
    assert not state.delete_if(kind, "one", b"1")


def test_a_deleted_value_can_be_written_again_at_once(state: OperationalState, kind: str) -> None:
    for _ in range(5):
        assert state.put_if(kind, "one", None, b"1")
        assert state.get(kind, "one") == b"1"
        assert state.delete_if(kind, "one", b"1")
        assert state.get(kind, "one") is None


def test_items_are_those_of_a_kind_in_the_order_of_their_names(
    state: OperationalState, kind: str
) -> None:
    names = ["b", "a", "é", "a:b", "Z", "a b", "ab", "日本"]
    for name in names:
        assert state.put_if(kind, name, None, name.encode())
    assert state.put_if(kind + "-more", "c", None, b"c")
    expected = [(name, name.encode()) for name in sorted(names)]
    assert list(state.items(kind)) == expected
    assert list(state.items("unused")) == []


def test_empty_and_binary_values_are_values(state: OperationalState, kind: str) -> None:
    assert state.put_if(kind, "one", None, b"")
    assert state.get(kind, "one") == b""
    everything = bytes(range(256))
    assert state.put_if(kind, "one", b"", everything)
    assert state.get(kind, "one") == everything


def test_of_many_writers_with_one_old_value_one_succeeds(store: Store, kind: str) -> None:
    """Each thread counts up by compare-and-set: no step of any is lost."""

    def count(_: int) -> None:
        mine = open_state(store)
        for _ in range(5):
            while True:
                old = mine.get(kind, "counter")
                if mine.put_if(kind, "counter", old, b"%d" % (int(old or 0) + 1)):
                    break

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count, range(4)))
    assert open_state(store).get(kind, "counter") == b"20"


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 1001, "\ud800"])
def test_a_name_that_is_not_valid_is_rejected(state: OperationalState, name: str) -> None:
    with pytest.raises(InvalidRequest, match="is not valid"):
        state.get("consumer", name)


def test_a_kind_or_value_that_is_not_valid_is_rejected(state: OperationalState) -> None:
    with pytest.raises(InvalidRequest, match="kind 'a:b' is not valid"):
        state.items("a:b")
    with pytest.raises(InvalidRequest, match="has 1,048,577 bytes"):
        state.put_if("consumer", "one", None, bytes(MAX_VALUE_BYTES + 1))


# The file of an embedded store


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    path = tmp_path / "store"
    with webtable.open(str(path)) as store:
        store.create_table("t", "a")
    return path


@pytest.fixture
def written(directory: Path) -> Path:
    assert SqliteState(str(directory)).put_if("consumer", "one", None, b"1")
    return directory


def test_reading_creates_no_file(directory: Path) -> None:
    state = SqliteState(str(directory))
    assert state.get("consumer", "one") is None
    assert list(state.items("consumer")) == []
    assert not list(directory.glob("OPERATIONS*"))


def test_it_is_written_beside_a_writer_by_a_process_that_only_reads_the_store(
    written: Path,
) -> None:
    code = (
        "import sys, webtable; from webtable.operations.operational_state import open_state\n"
        "with webtable.open(sys.argv[1], read_only=True) as store:\n"
        "    assert open_state(store).put_if('consumer', 'one', b'1', b'2')\n"
    )
    with webtable.open(str(written)) as store:
        subprocess.run([sys.executable, "-c", code, str(written)], check=True)
        assert open_state(store).get("consumer", "one") == b"2"
        assert store.tables() == ["t"]
    with webtable.open(str(written)) as store:
        assert store.tables() == ["t"]


def test_a_checkpoint_does_not_contain_it(written: Path, tmp_path: Path) -> None:
    with webtable.open(str(written)) as store:
        store.checkpoint(str(tmp_path / "copy"))
    with webtable.open(str(written), read_only=True) as store:
        store.checkpoint(str(tmp_path / "copy2"))
    for name in ("copy", "copy2"):
        assert not list((tmp_path / name).glob("OPERATIONS*"))
        assert SqliteState(str(tmp_path / name)).get("consumer", "one") is None


def test_what_a_killed_process_left_of_a_creation_is_replaced(directory: Path) -> None:
    for end in ("", "-wal", "-shm", "-journal"):
        Path(directory, f"OPERATIONS.new{end}").write_bytes(b"half")
    state = SqliteState(str(directory))
    assert state.put_if("consumer", "one", None, b"1")
    assert state.get("consumer", "one") == b"1"
    assert [each.name for each in directory.glob("OPERATIONS*")] == ["OPERATIONS"]


WITHOUT_RIGHTS = """
import os, sys
from webtable.errors import ReadOnly
from webtable.operations.sqlite_state import SqliteState
if os.geteuid() == 0:  # root may write every file, so it becomes a user without files
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
state, written = SqliteState(sys.argv[1]), sys.argv[2] == "written"
assert state.get("consumer", "one") == (b"1" if written else None)
assert len(state.items("consumer")) == written
try:
    state.put_if("consumer", "one", b"1" if written else None, b"2")
except ReadOnly as error:
    print(error)
"""


@pytest.mark.parametrize("is_written", [True, False])
def test_without_the_right_to_write_it_is_read_and_a_write_is_an_error(is_written: bool) -> None:
    # Folders of tests belong to the user of the run alone.
    with tempfile.TemporaryDirectory() as path:
        if is_written:
            assert SqliteState(path).put_if("consumer", "one", None, b"1")
            Path(path, "OPERATIONS").chmod(0o444)
        Path(path).chmod(0o555)
        word = "written" if is_written else "empty"
        command = [sys.executable, "-c", WITHOUT_RIGHTS, path, word]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        Path(path).chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert "cannot be written; use a store on a medium" in done.stdout


def test_a_lock_that_is_held_for_long_is_an_error_to_try_again(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webtable.operations.sqlite_state._BUSY_SECONDS", 0.01)
    other = sqlite3.connect(written / "OPERATIONS", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    state = SqliteState(str(written))
    with pytest.raises(RetryableError, match="try again"):
        state.put_if("consumer", "one", b"1", b"2")
    assert state.get("consumer", "one") == b"1"
    other.close()
    assert state.put_if("consumer", "one", b"1", b"2")


def test_a_damaged_file_is_an_error_that_names_the_next_step(written: Path) -> None:
    Path(written, "OPERATIONS").write_bytes(b"no database at all" * 1000)
    with pytest.raises(CorruptData, match="remove it"):
        SqliteState(str(written)).get("consumer", "one")


def test_a_newer_format_is_rejected(written: Path) -> None:
    other = sqlite3.connect(written / "OPERATIONS")
    other.execute("PRAGMA user_version = 2")
    other.close()
    state = SqliteState(str(written))
    with pytest.raises(FormatVersionError, match="has format 2"):
        state.get("consumer", "one")
    with pytest.raises(FormatVersionError, match="has format 2"):
        state.put_if("consumer", "one", b"1", b"2")


def test_the_schema_of_the_file_is_frozen(written: Path) -> None:
    file = sqlite3.connect(written / "OPERATIONS")
    assert file.execute("PRAGMA user_version").fetchone() == (1,)
    assert file.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert file.execute("SELECT name, sql FROM sqlite_master").fetchall() == [
        (
            "state",
            "CREATE TABLE state (kind TEXT NOT NULL, name TEXT NOT NULL, value BLOB NOT NULL,"
            " PRIMARY KEY (kind, name)) WITHOUT ROWID",
        )
    ]
    assert file.execute("SELECT * FROM state").fetchall() == [("consumer", "one", b"1")]
    file.close()


# The table of a cluster, on the simulated engine


def test_the_cells_of_the_table_are_frozen() -> None:
    world = World(1)
    tokens = itertools.count(1)
    state = TableState(
        world.store, now_ms=lambda: 1_000, new_token=lambda: next(tokens).to_bytes(8, "big")
    )
    assert not state.delete_if("consumer", "one", b"x")
    assert world.store.tables() == []
    assert state.put_if("consumer", "one", None, b"x")
    assert state.put_if("consumer", "one", b"x", b"y")
    assert state.put_if("consumer", "two", None, b"")
    assert state.delete_if("consumer", "two", b"")
    found = world.store.table(TABLE).scan()
    assert [(row.key.hex(), row.cells[0].value.hex(), row.cells[0].timestamp) for row in found] == [
        (b"consumer:one".hex(), "0000000000000002" + b"1y".hex(), 1_001),
        (b"consumer:two".hex(), "0000000000000004" + b"0".hex(), 1_001),
    ]


def test_a_clock_behind_hides_no_later_value() -> None:
    world = World(1)
    ahead = TableState(world.store, now_ms=lambda: 5_000)
    behind = TableState(world.store, now_ms=lambda: 1_000)
    assert ahead.put_if("consumer", "one", None, b"1")
    assert ahead.delete_if("consumer", "one", b"1")
    assert behind.put_if("consumer", "one", None, b"2")
    assert behind.put_if("consumer", "one", b"2", b"3")
    assert ahead.get("consumer", "one") == b"3"


@pytest.mark.hbase
def test_a_store_on_a_cluster_that_was_opened_for_reading_writes_nothing(
    hbase_location: str,
) -> None:
    location = hbase_location + "?namespace=operations"
    with webtable.open(location, read_only=True) as store, pytest.raises(ReadOnly):
        open_state(store).put_if("consumer", "nobody", None, b"")
