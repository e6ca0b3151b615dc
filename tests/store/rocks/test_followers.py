"""Readers beside a writer in another process: they see what it stored, and follow what it does."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import webtable
from tests.crash.child import Child
from tests.crash.world import TABLES
from tests.store.refusal import refused
from webtable import Store
from webtable.errors import FamilyNotFound, TableNotFound, WebTableError

ROWS = 2000


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Child]:
    with Child("puppet", tmp_path / "store") as child:
        child.wait_for(opened=child.pid)
        child.ask("create", "pages")
        child.ask("put", "pages", 0, ROWS, 1)
        yield child
        child.finish()


@pytest.fixture
def reader(writer: Child, tmp_path: Path) -> Iterator[Store]:
    with webtable.open(str(tmp_path / "store"), read_only=True) as store:
        yield store


def generations(store: Store, table: str = "pages") -> list[int]:
    """Returns the generation of each row; both families must agree."""
    found = []
    for row in store.table(table).scan():
        assert row.value(b"f:q") == row.value(b"g:q")
        found.append(int((row.value(b"f:q") or b"")[:1]))
    return found


def test_a_refresh_shows_what_the_writer_stored(writer: Child, reader: Store) -> None:
    assert generations(reader) == [1] * ROWS
    writer.ask("put", "pages", 0, ROWS, 2)
    reader.refresh()
    assert generations(reader) == [2] * ROWS


def test_new_tables_and_families_appear(writer: Child, reader: Store) -> None:
    with refused(TableNotFound, "'more'", exit_code=3):
        reader.table("more").get(b"row")
    writer.ask("create", "more")
    writer.ask("put", "more", 0, 10, 3)
    writer.ask("add_family", "pages", "h")
    reader.refresh()
    assert reader.tables() == ["more", "pages"]
    assert generations(reader, "more") == [3] * 10
    assert [family.name for family in reader.describe_table("pages").families] == ["f", "g", "h"]
    assert reader.table("pages").get(b"row000000", [b"h"]) is None


@pytest.mark.parametrize("upkeep", ["flush", "compact"])
def test_reading_goes_on_over_upkeep(writer: Child, reader: Store, upkeep: str) -> None:
    for generation in (2, 3, 4):
        scan = reader.table("pages").scan()
        first = next(scan)
        writer.ask("put", "pages", 0, ROWS, generation)
        writer.ask(upkeep, "pages")
        # The scan shows the moment at which it began, also when its files are gone by now.
        rest = [row.value(b"f:q") for row in scan]
        assert set(rest) == {first.value(b"f:q")}
        assert len(rest) == ROWS - 1
        reader.refresh()
        assert generations(reader) == [generation] * ROWS


def test_a_dropped_table_is_not_there_any_more(writer: Child, reader: Store) -> None:
    scan = reader.table("pages").scan()
    next(scan)
    writer.ask("drop", "pages")
    reader.refresh()
    assert reader.tables() == []
    with refused(TableNotFound, "'pages'", exit_code=3):
        reader.table("pages").get(b"row000000")
    # A scan under way ends well, or by a clear error; it does not end early in silence.
    with contextlib.suppress(WebTableError):
        assert len(list(scan)) == ROWS - 1


def test_a_truncated_table_is_empty_and_fills_again(writer: Child, reader: Store) -> None:
    writer.ask("truncate", "pages")
    reader.refresh()
    assert generations(reader) == []
    writer.ask("put", "pages", 0, 5, 7)
    reader.refresh()
    assert generations(reader) == [7] * 5


def test_a_family_added_or_not_is_named(writer: Child, reader: Store) -> None:
    with refused(FamilyNotFound, "'h'", exit_code=3):
        reader.table("pages").get(b"row000000", [b"h:q"])


def test_several_readers_follow_a_busy_writer(tmp_path: Path) -> None:
    path = str(tmp_path / "store")
    with Child("puppet", path) as writer:
        writer.wait_for(opened=writer.pid)
        writer.ask("create", "pages")
        writer.tell("put_for_ever", "pages")
        with webtable.open(path, read_only=True) as one, webtable.open(path, read_only=True) as two:
            for _ in range(5):
                for store in (one, two):
                    store.refresh()
                    rows = list(store.table("pages").scan())
                    assert all(row.value(b"f:q") == row.value(b"g:q") for row in rows)


def test_threads_of_a_reader_go_on_while_files_and_tables_change(tmp_path: Path) -> None:
    path = str(tmp_path / "store")
    with Child("puppet", path) as writer:
        writer.wait_for(opened=writer.pid)
        writer.ask("create", "pages")
        writer.ask("put", "pages", 0, 50, 1)
        writer.tell("churn_for_ever", "pages")
        with webtable.open(path, read_only=True) as store:
            tables = len(store.tables())
            pages = store.table("pages")

            def look(_: int) -> None:
                for _ in range(5):
                    row = pages.get(b"row000007", [b"f:q"])
                    assert row is not None
                    for each in pages.scan():
                        assert each.value(b"f:q") == each.value(b"g:q")

            with ThreadPoolExecutor(3) as pool:
                done = pool.map(look, range(3))
                for _ in range(10):
                    store.refresh()
                list(done)
            for _ in range(1_000):
                store.refresh()
                if len(store.tables()) > tables:
                    break
            assert len(store.tables()) > tables


def test_a_reader_outlives_its_writer(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with Child("puppet", path) as first:
        first.wait_for(opened=first.pid)
        first.ask("create", "pages")
        first.ask("put", "pages", 0, 10, 1)
        store = webtable.open(str(path), read_only=True)
        first.kill()
    with store:
        store.refresh()
        assert generations(store) == [1] * 10
        with Child("puppet", path) as second:
            second.wait_for(opened=second.pid)
            second.ask("put", "pages", 0, 10, 2)
            store.refresh()
            assert generations(store) == [2] * 10
            second.finish()
        store.refresh()
        assert generations(store) == [2] * 10


def test_killed_readers_leave_nothing_behind_for_long(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with webtable.open(str(path)) as store:
        for table, families in TABLES.items():
            store.create_table(table, *families)
    before = {each for each in path.rglob("*") if each.is_file()}
    for _ in range(3):
        with Child("reader", path) as reader:
            reader.wait_for(opened=True)
            reader.kill()
    with webtable.open(str(path), read_only=True) as store:
        assert store.tables() == sorted(TABLES)
    assert {each for each in path.rglob("*") if each.is_file()} == before


def test_a_counter_moved_often_is_read(tmp_path: Path) -> None:
    with webtable.open(str(tmp_path / "store")) as store:
        table = store.create_table("pages", "f", "g")
        for _ in range(100):
            table.increment(b"row", b"f:n")
        row = table.get(b"row")
        assert row is not None
        assert row.value(b"f:n") == (100).to_bytes(8, "big")
        assert list(table.scan()) == [row]
