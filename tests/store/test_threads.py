"""Many threads of one process on one store: no reader sees half a row, no increment is lost."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path

import pytest

import webtable
from webtable import Check, Delete, Mutation, Put, Row, Store
from webtable.errors import StoreClosed

FAMILIES = ("content", "links", "metadata")
ROUNDS = 20_000 if os.environ.get("WEBTABLE_SOAK") else 1500
ROWS = 20


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with webtable.open(str(tmp_path / "store")) as store:
        store.create_table("pages", *FAMILIES)
        yield store


def run_all(writers: list[Callable[[], None]], readers: list[Callable[[], None]]) -> None:
    """Runs the readers again and again until all writers are done; an error of any is raised."""
    failures: list[BaseException] = []
    done = threading.Event()

    def guarded(work: Callable[[], None], *, again: bool) -> None:
        try:
            work()
            while again and not done.is_set():
                work()
        except BaseException as error:  # noqa: BLE001 - a thread must hand its failure over
            failures.append(error)
            done.set()

    def thread(work: Callable[[], None], again: bool) -> threading.Thread:
        return threading.Thread(target=guarded, args=(work,), kwargs={"again": again})

    writing = [thread(work, False) for work in writers]
    reading = [thread(work, True) for work in readers]
    for each in (*writing, *reading):
        each.start()
    for each in writing:
        each.join()
    done.set()
    for each in reading:
        each.join()
    if failures:
        raise failures[0]


def put(row: bytes, generation: int) -> Put:
    values = {f"{family}:g".encode(): b"%d" % generation for family in FAMILIES}
    return Put(row, values, timestamp=generation)


def check_rows(rows: Iterable[Row | None]) -> None:
    for row in rows:
        if row is not None:
            values = row.values()
            assert len(values) == len(FAMILIES), f"{row.key!r} has only {sorted(values)}"
            assert len(set(values.values())) == 1, f"{row.key!r} is torn: {values}"


def write(store: Store, thread: int) -> None:
    chance = random.Random(thread)
    table = store.table("pages")
    for number in range(ROUNDS):
        generation = 1 + number * 10 + thread
        row = b"row%02d" % chance.randrange(ROWS)
        kind = chance.randrange(5)
        if kind == 0:
            with table.batch() as batch:
                for each in range(ROWS):
                    batch.add(put(b"row%02d" % each, generation))
        elif kind == 1:
            steps: list[Mutation] = [Delete(row, timestamp=generation - 1), put(row, generation)]
            table.mutate(row, steps)
        elif kind == 2:
            other = b"row%02d" % chance.randrange(ROWS)
            store.commit([("pages", put(each, generation)) for each in {row, other}])
        else:
            table.mutate(row, [put(row, generation)])


def keep_up(store: Store) -> None:
    store.table("pages").flush()
    store.table("pages").major_compact()


def test_readers_see_whole_rows_while_threads_write(store: Store) -> None:
    table = store.table("pages")
    keys = [b"row%02d" % number for number in range(ROWS)]
    readers: list[Callable[[], None]] = [
        lambda: check_rows(table.scan()),
        lambda: check_rows(table.scan(reverse=True)),
        lambda: check_rows(table.get_many(keys)),
        lambda: check_rows(map(table.get, keys)),
        lambda: keep_up(store),
    ]
    run_all([lambda: write(store, 0), lambda: write(store, 1)], readers)


def test_counters_and_checks_of_many_threads_add_up(store: Store) -> None:
    table = store.table("pages")
    times = ROUNDS // 5
    wins: list[int] = []

    def add() -> None:
        for _ in range(times):
            table.increment(b"counter", b"links:n")

    def compare_and_set() -> None:
        won = 0
        while won < times // 10:
            row = table.get(b"shared", [b"content:v"])
            held = None if row is None else row.value(b"content:v")
            check = Check(b"content:v") if held is None else Check.equal(b"content:v", held)
            new = {b"content:v": b"%d" % (int(held or b"0") + 1)}
            won += bool(table.check_and_mutate(b"shared", check, Put(b"shared", new)))
        wins.append(won)

    run_all([add, add, add, compare_and_set, compare_and_set], [lambda: keep_up(store)])
    assert table.increment(b"counter", b"links:n", 0) == 3 * times
    row = table.get(b"shared")
    assert row is not None
    assert row.value(b"content:v") == b"%d" % sum(wins)


def test_a_store_closed_under_work_ends_it_by_a_clear_error(store: Store) -> None:
    table = store.table("pages")
    started = threading.Barrier(4)

    def work(use: Callable[[int], object]) -> Callable[[], None]:
        def run() -> None:
            started.wait()
            try:
                for number in count():
                    use(number)
            except StoreClosed:
                return

        return run

    def close() -> None:
        started.wait()
        for number in range(200):
            table.mutate(b"row%02d" % (number % ROWS), [put(b"row%02d" % (number % ROWS), number)])
        store.close()

    run_all(
        [
            close,
            work(lambda number: table.mutate(b"row", [put(b"row", number)])),
            work(lambda number: list(table.scan())),
            work(lambda number: table.get(b"row%02d" % (number % ROWS))),
        ],
        [],
    )
