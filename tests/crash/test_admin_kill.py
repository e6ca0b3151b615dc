"""Kills during table administration: the table is as before or as after, never in between."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
import rocksdict

import webtable
from tests.crash.administrator import TABLE, State, cells_of
from tests.crash.child import Child, Report

SOAK = bool(os.environ.get("WEBTABLE_SOAK"))


class Expected:
    """The state that the table must have, and the one that it may have instead."""

    def __init__(self) -> None:
        self.sure = State()
        self.begun: State | None = None
        self.steps = 0

    def take(self, reports: Iterable[Report]) -> None:
        for report in reports:
            assert "error" not in report, report["error"]
            if "begin" in report:
                families, filled, fill = report["begin"]
                self.begun = State(tuple(families), tuple(filled), fill)
            elif "done" in report:
                assert self.begun is not None
                self.sure, self.begun = self.begun, None
                self.steps += 1

    def settle(self, store: webtable.Store) -> None:
        allowed = [self.sure] if self.begun is None else [self.sure, self.begun]
        matching = [state for state in allowed if _is_in(state, store)]
        assert matching, f"the table is none of {allowed}; families {_families(store)}"
        self.sure, self.begun = matching[-1], None


def _families(store: webtable.Store) -> tuple[str, ...]:
    if TABLE not in store.tables():
        return ()
    return tuple(family.name for family in store.describe_table(TABLE).families)


def _is_in(state: State, store: webtable.Store) -> bool:
    if _families(store) != state.families:
        return False
    if not state.families:
        return True
    found = {row.key: row.values() for row in store.table(TABLE).scan()}
    return found == cells_of(state)


@pytest.mark.parametrize("seed", range(40 if SOAK else 2))
def test_tables_are_in_the_old_or_the_new_state(tmp_path: Path, seed: int) -> None:
    chance, expected, path = random.Random(seed), Expected(), tmp_path / "store"
    with webtable.open(str(path)) as store:
        beside = store.create_table("beside", "f")
        beside.put(b"row", {b"f:q": b"stays"})
    for kill in range(5):
        with Child("administrator", path, 1 + kill * 10**6) as child:
            child.wait_for(opened=child.pid)
            expected.take(child.listen(chance.uniform(0.01, 0.4)))
            expected.take(child.kill())
        with webtable.open(str(path), read_only=chance.random() < 0.3) as store:
            expected.settle(store)
            row = store.table("beside").get(b"row")
            assert row is not None
            assert row.value(b"f:q") == b"stays"
    assert expected.steps > 0
    _check_nothing_is_left(path)


def _check_nothing_is_left(path: Path) -> None:
    """The next writer has removed the column families that an interrupted change left over."""
    with webtable.open(str(path)) as store:
        families = [
            family.name
            for table in store.tables()
            for family in store.describe_table(table).families
        ]
        if TABLE in store.tables():
            store.drop_table(TABLE)
            families = ["f"]
        store.create_table(TABLE, "a", "b", "c", "d")
        assert list(store.table(TABLE).scan(raw=True)) == []
        store.drop_table(TABLE)
    names = rocksdict.Rdict.list_cf(str(path), rocksdict.Options(raw_mode=True))
    assert len(names) == 1 + len(families), f"{names} are more than {families} need"


def _family(name: str) -> webtable.Family:
    return webtable.Family(name=name)


def test_a_table_is_created_again_after_its_creation_was_killed(tmp_path: Path) -> None:
    location = str(tmp_path / "store")
    schema = webtable.TableSchema(name="made", families=tuple(map(_family, "abcde")))
    with webtable.open(location) as store:
        # What a kill leaves between the column families and the catalog.
        store._engine._admin._new_families(schema, list("abc"))  # type: ignore[attr-defined]
    with webtable.open(location) as store:
        store.create_table(schema).put(b"row", {b"a:x": b"y"})
    # In a process of its own: one that could not read the list of files was ended by it.
    script = f"import webtable; print(webtable.open({location!r}, read_only=True).tables())"
    command = [sys.executable, "-c", script]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout.strip()) == (0, "['made']")
