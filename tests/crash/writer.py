"""A writer to be killed: `python -m tests.crash.writer PATH SEED FIRST MODE`.

Two threads write their own rows by every verb there is, a third flushes and compacts. A thread
reports a step before its call begins and again after it has returned, and never has more than
one step open. MODE: `logged` for durability wal and sync, `none` for writes that skip the log,
`compacting` for logged writes beside a major compaction that never rests.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from itertools import count
from typing import TypeAlias

import webtable
from tests.crash.child import send
from tests.crash.world import COUNTER, ROWS, TABLES, THREADS, payload, row_key
from webtable import Check, Delete, Durability, Increment, Mutation, Put

Writes: TypeAlias = Sequence[tuple[str, bytes, int]]
"""Table, row and generation; a generation below 0 is a delete at that time."""


class Writer:
    """One thread's work; its rows are its own, the counter is shared by all."""

    def __init__(
        self, store: webtable.Store, thread: int, first: int, seed: int, mode: str
    ) -> None:
        self._store = store
        self._thread = thread
        self._chance = random.Random(seed * 31 + thread)
        # Threads take turns through the numbers, so that no two use one.
        self._generations = count(first + thread, THREADS)
        self._mode = mode
        self.written: dict[tuple[str, bytes], int] = {}

    def run(self) -> None:
        steps: list[Callable[[], None]] = [
            self.put, self.put, self.batch, self.batch, self.commit, self.commit,
            self.increment, self.delete, self.replace, self.check,
        ]  # fmt: skip
        while True:
            self._chance.choice(steps)()

    def put(self) -> None:
        table, row = self._place()
        with self._step("put", [(table, row, generation := next(self._generations))]) as how:
            put = _put(table, row, generation)
            self._store.table(table).put(row, put.values, timestamp=put.timestamp, durability=how)

    def batch(self) -> None:
        table = self._chance.choice(list(TABLES))
        numbers = self._chance.sample(range(ROWS), self._chance.randrange(2, 20))
        writes = [(table, row_key(self._thread, n), next(self._generations)) for n in numbers]
        with (
            self._step("batch", writes) as how,
            self._store.table(table).batch(durability=how) as batch,
        ):
            for table, row, generation in writes:
                batch.add(_put(table, row, generation))

    def commit(self) -> None:
        rows = [self._place()[1] for _ in range(self._chance.randrange(1, 4))]
        generation = next(self._generations)
        writes = [(table, row, generation) for row in dict.fromkeys(rows) for table in TABLES]
        with self._step("commit", writes) as how:
            mutations = [(table, _put(table, row, generation)) for table, row, _ in writes]
            self._store.commit(mutations, durability=how)

    def increment(self) -> None:
        with self._step("increment", []) as how:
            step = Increment(COUNTER, {b"content:n": 1, b"links:n": 1})
            self._store.table("pages").mutate(COUNTER, [step], durability=how)

    def delete(self) -> None:
        table, row = self._place()
        generation = next(self._generations)
        with self._step("delete", [(table, row, -generation)]) as how:
            self._store.table(table).delete(row, timestamp=generation, durability=how)

    def replace(self) -> None:
        table, row = self._place()
        generation = next(self._generations)
        with self._step("replace", [(table, row, generation)]) as how:
            steps: list[Mutation] = [
                Delete(row, timestamp=generation - 1),
                _put(table, row, generation),
            ]
            self._store.table(table).mutate(row, steps, durability=how)

    def check(self) -> None:
        table, row = self._place()
        column = f"{TABLES[table][-1]}:g".encode()
        old = self._store.table(table).get(row, [column])
        held = None if old is None else old.value(column)
        check = Check.absent(column) if held is None else Check.equal(column, held)
        generation = next(self._generations)
        with self._step("check", [(table, row, generation)]) as how:
            made = self._store.table(table).check_and_mutate(
                row, check, _put(table, row, generation), durability=how
            )
            assert made, f"{table} {row!r} changed between a read and a check"

    def _place(self) -> tuple[str, bytes]:
        table = self._chance.choice(list(TABLES))
        return table, row_key(self._thread, self._chance.randrange(ROWS))

    def _step(self, name: str, writes: Writes) -> _Step:
        how: Durability = "none"
        if self._mode != "none" or name == "increment":
            how = self._chance.choice(["wal", "wal", "wal", "sync"])
        return _Step(self, name, writes, how)


class _Step:
    """Reports the beginning of a step and, if its call returned, its end."""

    def __init__(
        self,
        writer: Writer,
        name: str,
        writes: Writes,
        how: Durability,
    ) -> None:
        self._writer, self._name, self._writes, self._how = writer, name, writes, how

    def __enter__(self) -> Durability:
        writes = [(table, row.decode(), generation) for table, row, generation in self._writes]
        thread = self._writer._thread
        send({"thread": thread, "begin": self._name, "how": self._how, "writes": writes})
        return self._how

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            for table, row, generation in self._writes:
                self._writer.written[table, row] = generation
            send({"thread": self._writer._thread, "done": self._name})


def _put(table: str, row: bytes, generation: int) -> Put:
    values = {f"{family}:g".encode(): payload(generation, family) for family in TABLES[table]}
    return Put(row, values, timestamp=generation)


def _maintain(store: webtable.Store, writers: list[Writer], seed: int, mode: str) -> None:
    chance = random.Random(seed)
    compactions = 1.0 if mode == "compacting" else 0.4
    while True:
        table = chance.choice(list(TABLES))
        if chance.random() < compactions:
            store.table(table).major_compact()
            send({"compacted": table})
            continue
        before = [dict(writer.written) for writer in writers]
        store.table(table).flush()
        for written in before:
            rows = [(t, r.decode(), g) for (t, r), g in written.items() if t == table]
            for at in range(0, len(rows), 20):
                send({"flushed": rows[at : at + 20]})


def _guarded(work: Callable[[], None]) -> Callable[[], None]:
    def run() -> None:
        try:
            work()
        except BaseException:  # noqa: BLE001 - whatever it is, the parent must hear of it
            send({"error": traceback.format_exc()[-3000:]})
            os._exit(1)

    return run


def main(path: str, seed: int, first: int, mode: str) -> None:
    store = webtable.open(path, create=False)
    send({"opened": os.getpid()})
    writers = [Writer(store, thread, first, seed, mode) for thread in range(THREADS)]
    work: list[Callable[[], None]] = [writer.run for writer in writers]
    work.append(lambda: _maintain(store, writers, seed, mode))
    threads = [threading.Thread(target=_guarded(each)) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
