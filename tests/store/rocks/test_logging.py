"""What the embedded engine logs."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import webtable
from webtable.store.rocks.files import database
from webtable.store.schema import Family, TableSchema

PEOPLE = TableSchema(name="people", families=(Family(name="f"),))
KILLED = """
import os, sys, webtable
from webtable.store.schema import Family, TableSchema
store = webtable.open(sys.argv[1])
store.create_table(TableSchema(name="people", families=(Family(name="f"),)))
store.table("people").put(b"ada", {b"f:q": b"v"})
os.kill(os.getpid(), 9)
"""


@pytest.fixture(autouse=True)
def _all_levels(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.DEBUG, "webtable"):
        yield


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        record.getMessage() for record in caplog.records if record.name == "webtable.store.rocks"
    ]


def test_a_recovery_after_a_crash_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = str(tmp_path / "store")
    subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    for _ in range(2):
        with webtable.open(path) as store:
            assert store.table("people").get(b"ada") is not None
    (message,) = logged(caplog)
    assert message.startswith(f"store '{path}' was not closed by its last writer; recovered")


def test_a_store_that_works_logs_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        with webtable.open(str(tmp_path / "store")) as store:
            if "people" not in store.tables():
                store.create_table(PEOPLE)
            store.table("people").put(b"ada", {b"f:q": b"v"})
            store.table("people").flush()
    assert logged(caplog) == []


def test_slow_operations_are_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "store")
    with webtable.open(path) as store:
        store.create_table(PEOPLE)
        table = store.table("people")
        table.put(b"ada", {b"f:q": b"v"})
        monkeypatch.setattr(database, "SLOW_SECONDS", 0.0)
        for work, what in (
            (table.flush, "flushing"),
            (table.major_compact, "compacting a column family"),
            (lambda: store.checkpoint(str(tmp_path / "copy")), "copying"),
        ):
            caplog.clear()
            work()
            slow = [each for each in logged(caplog) if each.startswith("slow operation: " + what)]
            assert len(slow) == 1
            assert slow[0].startswith(f"slow operation: {what} store '{path}' took ")


def test_a_follower_that_is_opened_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = str(tmp_path / "store")
    with webtable.open(path) as writer:
        writer.create_table(PEOPLE)
        with webtable.open(path, read_only=True) as reader:
            assert logged(caplog) == []
            writer.create_table(TableSchema(name="others", families=(Family(name="f"),)))
            reader.refresh()
            assert "others" in reader.tables()
    assert set(logged(caplog)) == {f"store '{path}' was opened again to follow its writer"}
