"""Commits without timestamps on an embedded store: no two of them share a millisecond in a cell."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import webtable
from webtable import (
    ALL_VERSIONS,
    Append,
    Check,
    Delete,
    Family,
    Increment,
    Mutation,
    Put,
    Table,
    TableSchema,
)
from webtable.store.rocks.commit_timestamps import Stamps

ROW, CELL = b"row", b"f:q"
TIMES = 30


@pytest.fixture
def store(tmp_path: Path) -> Iterator[webtable.Store]:
    with webtable.open(str(tmp_path / "store")) as store:
        families = (Family(name="f", versions=1000), Family(name="g"))
        store.create_table(TableSchema(name="t", families=families))
        yield store


@pytest.fixture
def table(store: webtable.Store) -> Table:
    return store.table("t")


def values(table: Table) -> list[bytes]:
    """Returns the versions of the cell, oldest first, and checks that their times are right."""
    row = table.get(ROW, [CELL], versions=ALL_VERSIONS)
    cells = [] if row is None else list(row)
    times = [cell.timestamp for cell in cells]
    assert times == sorted(set(times), reverse=True)
    assert not times or times[0] <= time.time() * 1000
    return [cell.value for cell in reversed(cells)]


NUMBERS = [b"%d" % number for number in range(TIMES)]


def test_each_put_is_a_version(table: Table) -> None:
    for number in NUMBERS:
        table.put(ROW, {CELL: number})
    assert values(table) == NUMBERS


def test_each_batch_and_each_commit_is_a_version(store: webtable.Store, table: Table) -> None:
    for number in NUMBERS[::2]:
        with table.batch() as batch:
            batch.put(b"other", {CELL: b"x"})
            batch.put(ROW, {CELL: number})
        following = b"%d" % (int(number) + 1)
        store.commit([("t", Put(ROW, {CELL: following})), ("t", Put(b"third", {CELL: b"x"}))])
    assert values(table) == NUMBERS


def test_a_batch_has_one_time_as_in_hbase(table: Table) -> None:
    with table.batch() as batch:
        batch.put(ROW, {CELL: b"first"})
        batch.put(ROW, {CELL: b"second"})
    assert values(table) == [b"second"]


def test_each_conditional_put_is_a_version(table: Table) -> None:
    table.put(ROW, {CELL: NUMBERS[0]})
    for before, number in itertools.pairwise(NUMBERS):
        assert table.check_and_mutate(ROW, Check.equal(CELL, before), Put(ROW, {CELL: number}))
    assert values(table) == NUMBERS


def test_puts_of_many_threads_are_versions(table: Table) -> None:
    def work(name: int) -> None:
        for number in range(10):
            table.put(ROW, {CELL: b"%d-%d" % (name, number)})

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = values(table)
    assert sorted(found) == sorted(b"%d-%d" % (name, n) for name in range(4) for n in range(10))


@pytest.mark.parametrize(
    "delete",
    [Delete(ROW), Delete(ROW).family(b"f"), Delete(ROW).column(CELL), Delete(ROW).version(CELL)],
    ids=["row", "family", "column", "newest version"],
)
def test_a_delete_hides_the_put_before_it_and_not_the_one_after_it(
    table: Table, delete: Delete
) -> None:
    for number in NUMBERS:
        table.put(ROW, {CELL: number})
        assert table.get(ROW) is not None
        table.mutate(ROW, [delete])
        assert table.get(ROW) is None
    table.put(ROW, {CELL: b"last"})
    assert values(table) == [b"last"]


@pytest.mark.parametrize(
    "change",
    [Increment(ROW, {CELL: 1}), Append(ROW, {CELL: b"x" * 8})],
    ids=["increment", "append"],
)
def test_an_increment_after_a_delete_is_seen(table: Table, change: Increment | Append) -> None:
    for _ in NUMBERS:
        table.mutate(ROW, [change])
        row = table.get(ROW)
        assert row is not None
        assert len(row.value(CELL) or b"") == 8
        table.delete(ROW)
        assert table.get(ROW) is None


def test_a_put_that_clears_a_column_hides_what_was_put_before(table: Table) -> None:
    for number in NUMBERS:
        table.put(ROW, {CELL: number})
        table.mutate(ROW, [Put(ROW, {b"f:other": number}, clears=[CELL])])
        assert table.get(ROW, [CELL]) is None


def test_only_what_meets_in_a_cell_waits() -> None:
    stamps = Stamps()
    for number in range(5_000):
        column = b"f:%d" % number
        assert stamps.take("t", [Put(ROW, {column: b"v"})]), "another column"
        assert stamps.take("t", [Put(column, {CELL: b"v"})]), "another row"
        assert stamps.take(f"t{number}", [Put(ROW, {CELL: b"v"})]), "another table"
        assert stamps.take("t", [Put(ROW, {CELL: b"v"}, timestamp=number)])
        assert stamps.take("t", [Delete(ROW, timestamp=number)])
        assert stamps.take("t", [Increment(ROW, {CELL: 1})])
        both: list[Mutation] = [Delete(b"%d" % number), Put(b"%d" % number, {CELL: b"v"})]
        assert stamps.take("t", both), "mutations of one step"
        batch = [Put(b"%d-%d" % (number, each % 2), {CELL: b"v"}) for each in range(3)]
        assert stamps.take_many([("t", batch)]), "a row twice in a batch"


def test_a_commit_waits_for_the_clock_and_not_longer() -> None:
    stamps, put = Stamps(), Put(ROW, {CELL: b"v"})
    rows: list[list[Mutation]] = [[Delete(ROW)], [put, Increment(ROW, {b"f:n": 1})], [put]]
    batches: list[list[Mutation]] = [[put, Put(b"r", {CELL: b"v"})], [Increment(ROW, {CELL: 1})]]
    refused = last = 0
    for number in range(50):
        chosen = (rows + batches)[number % 5]
        while not (
            stamp := stamps.take_many([("t", chosen)])
            if chosen in batches
            else stamps.take("t", chosen)
        ):
            refused += 1
            stamps.wait()
        assert last < stamp <= time.time() * 1000
        last = stamp
    assert refused < 1_000


def test_a_store_keeps_all_versions_of_a_pasted_script(tmp_path: Path) -> None:
    with webtable.open(str(tmp_path / "store")) as store:
        families = (Family(name="a", versions=3),)
        store.create_table(TableSchema(name="w", families=families))
        table = store.table("w")
        for value in (b"1", b"2", b"3", b"4"):
            table.put(ROW, {b"a:x": value})
        row = table.get(ROW, versions=ALL_VERSIONS)
        assert row is not None
        assert [cell.value for cell in row] == [b"4", b"3", b"2"]
