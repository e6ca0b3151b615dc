"""Many threads on one store: nothing is lost, and no reader sees half a row."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from webtable import Check, Delete, Increment, Put, Table

from .conftest import Rows

THREADS = 8


def run(work: Callable[[int], int]) -> list[int]:
    """Runs one call a thread, all started together, and returns their results."""
    start = threading.Barrier(THREADS)

    def started(number: int) -> int:
        start.wait(10)
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(started, range(THREADS)))


def counter(table: Table, row: bytes, column: bytes) -> int:
    found = table.get(row, [column])
    assert found is not None
    return int.from_bytes(found.values()[column], "big")


def test_increments_are_exact(table: Table, rows: Rows) -> None:
    row = rows()

    def count(number: int) -> int:
        answers = [table.increment(row, b"one:n") for _ in range(50)]
        assert answers == sorted(set(answers))
        return answers[-1]

    assert max(run(count)) == 50 * THREADS
    assert counter(table, row, b"one:n") == 50 * THREADS


def test_appends_are_whole(table: Table, rows: Rows) -> None:
    def write(number: int) -> int:
        return max(len(table.append(rows(), b"one:t", bytes([97 + number]) * 5)) for _ in range(20))

    assert max(run(write)) == 20 * 5 * THREADS
    found = table.get(rows())
    assert found is not None
    text = found.values()[b"one:t"]
    pieces = [text[at : at + 5] for at in range(0, len(text), 5)]
    assert all(len(set(piece)) == 1 for piece in pieces)


def test_compare_and_set_loops_lose_nothing(table: Table, rows: Rows) -> None:
    row = rows()
    table.put(row, {b"one:rev": b"0"}, timestamp=1)

    def climb(number: int) -> int:
        wins = 0
        for _ in range(40):
            found = table.get(row, [b"one:rev"])
            assert found is not None
            old = found.values()[b"one:rev"]
            new = b"%d" % (int(old) + 1)
            wins += table.check_and_mutate(
                row,
                Check.equal(b"one:rev", old),
                [
                    # The revision is its own clock, so that a later one is always the newest.
                    Put(row, {b"one:rev": new}, timestamp=int(new) + 1),
                    Increment(row, {b"three:n": 1}),
                    Delete(row).column(b"every:x", int(new)),
                ],
            ).success
        return wins

    wins = sum(run(climb))
    found = table.get(row, [b"one:rev"])
    assert found is not None
    assert 40 <= wins <= 40 * THREADS
    assert int(found.values()[b"one:rev"]) == wins == counter(table, row, b"three:n")


def test_one_of_many_wins_what_is_absent(table: Table, rows: Rows) -> None:
    def claim(number: int) -> int:
        return sum(
            table.check_and_mutate(
                rows(b"%d" % each),
                Check.absent(b"one:owner"),
                Put(rows(b"%d" % each), {b"one:owner": b"x"}),
            ).success
            for each in range(20)
        )

    assert sum(run(claim)) == 20


def test_readers_never_see_half_a_row(table: Table, rows: Rows) -> None:
    row, columns = rows(), (b"every:a", b"one:b", b"one:c", b"three:d")
    table.put(row, dict.fromkeys(columns, b"0"), timestamp=1)
    done = threading.Event()

    def work(number: int) -> int:
        if number < 2:
            for step in range(150):
                stamp = 2 + 2 * step + number
                values = dict.fromkeys(columns, b"%d" % stamp)
                if step % 3:
                    table.put(row, values, timestamp=stamp)
                else:
                    table.mutate(
                        row, [Put(row, {c: v}, timestamp=stamp) for c, v in values.items()]
                    )
            if number == 0:
                done.set()
            return 0
        seen = 0
        while not done.is_set():
            found = table.get(row) if number % 2 else next(table.scan(prefix=row))
            assert found is not None
            assert len(found) == len(columns)
            assert len(set(found.values().values())) == 1, found
            seen += 1
        return seen

    assert sum(run(work)) > 0


def test_batches_from_many_threads(table: Table, rows: Rows) -> None:
    def write(number: int) -> int:
        with table.batch(size=50) as batch:
            for each in range(200):
                batch.put(rows(b"%d-%03d" % (number, each)), {b"one:a": b"1", b"three:b": b"2"})
        return 200

    written = sum(run(write))
    assert len(list(table.scan(prefix=rows(b"")))) == written
