"""The load: threads that write, count, chain, read and scan, and record exactly what came of it."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from tests.faults import rows
from tests.faults.history import (
    History,
    Joined,
    Outcome,
    Read,
    ScanSeen,
    Step,
    Tally,
    Write,
)
from webtable import Append, Check, Delete, Increment, Mutation, Put, Scan, Table
from webtable.errors import BatchError, RetryableError

__all__ = ["Keys", "Load"]

T = TypeVar("T")

SLACK_SECONDS = 5.0
"""How much longer than its time-out a call may take, on a machine with much else to do."""

BULK_FACTOR = 4
"""A batch and a scan have their time-out for each part that gets on."""


class Keys(NamedTuple):
    """The rows of a table, by what is done to them."""

    stable: tuple[bytes, ...]
    owned: tuple[bytes, ...]
    timed: tuple[bytes, ...]
    wide: tuple[bytes, ...]
    counters: tuple[bytes, ...]
    texts: tuple[bytes, ...]
    chains: tuple[bytes, ...]

    @classmethod
    def of_size(cls, scale: int = 1) -> Keys:
        """Returns the keys of a table, many or few."""

        def some(kind: str, count: int) -> tuple[bytes, ...]:
            return tuple(rows.key(kind, each) for each in range(count))

        return cls(
            stable=some("stable", 600 * scale),
            owned=some("owned", 60 * scale),
            timed=some("timed", 60 * scale),
            wide=some("wide", 1),
            counters=some("counter", 4),
            texts=some("text", 4),
            chains=some("chain", 6),
        )


class Clock:
    """Makes calls, notes when they began and ended, and complains when they took too long."""

    def __init__(self, history: History, timeout: float) -> None:
        self._history = history
        self.timeout = timeout
        self.began = 0.0
        self.ended = 0.0

    def call(self, what: str, work: Callable[[], T], factor: float = 1) -> tuple[T | None, Outcome]:
        """Returns what a call gave, None where it failed with an error that it may fail with."""
        self.began = time.monotonic()
        value: T | None = None
        try:
            value = work()
            outcome = Outcome.DONE
        except BatchError as error:
            outcome = Outcome.UNKNOWN
            self._judge(what, list(error.exceptions))
        except RetryableError as error:
            outcome = Outcome.UNKNOWN if error.maybe_applied else Outcome.FAILED
            if not error.hint:
                self._history.complain(f"{what}: no hint in {error!r}")
        except rows.Torn as error:
            outcome = Outcome.FAILED
            self._history.complain(f"{what}: {error}")
        except Exception as error:  # noqa: BLE001 - anything else is a finding
            outcome = Outcome.UNKNOWN
            self._history.complain(f"{what} raised {error!r} ({error.__cause__!r})")
        self.ended = time.monotonic()
        took = self.ended - self.began
        if took > self.timeout * factor + SLACK_SECONDS:
            self._history.complain(f"{what} took {took:.1f} s and ended: {outcome.value}")
        return value, outcome

    def _judge(self, what: str, errors: list[Exception]) -> None:
        for error in errors:
            if not isinstance(error, RetryableError):
                self._history.complain(f"{what} raised {error!r} in a batch")


class Load:
    """The threads over one table in one round. `start`, let it run, `finish`."""

    def __init__(self, tables: list[Table], keys: Keys, history: History, seed: int) -> None:
        self.keys = keys
        self.history = history
        self._tables = tables
        self._seed = seed
        self._stop = threading.Event()
        self._tokens = iter(range(1, 1 << 62))
        self._threads: list[threading.Thread] = []
        history.stable = frozenset(keys.stable)

    def start(self, timeout: float, pace: float) -> None:
        """Starts one writer, one counter, one chainer and two readers for each table handle."""
        for number, table in enumerate(self._tables):
            for worker in (_Writer, _Counter, _Chainer, _Scanner, _Getter):
                name = f"{worker.__name__.strip('_').lower()}-{number}"
                draw = random.Random(f"{self._seed} {name}")
                clock = Clock(self.history, timeout)
                turn = worker(self, table, number, draw, clock)
                thread = threading.Thread(target=self._run, args=(turn, pace), name=name)
                self._threads.append(thread)
                thread.start()

    def finish(self, limit: float) -> None:
        """Ends the load; every call that is under way must end by itself."""
        self._stop.set()
        end = time.monotonic() + limit
        for thread in self._threads:
            thread.join(max(end - time.monotonic(), 0))
            if thread.is_alive():
                self.history.complain(f"{thread.name} hangs")

    def mine(self, number: int, among: tuple[bytes, ...]) -> tuple[bytes, ...]:
        """Returns the rows that the writer with this number owns."""
        return among[number :: len(self._tables)]

    def next_token(self, number: int) -> bytes:
        """Returns a unique token."""
        return b"%d-%d;" % (number, next(self._tokens))

    def _run(self, turn: _Worker, pace: float) -> None:
        try:
            while not self._stop.wait(pace):
                turn.take_turn()
        except Exception as error:  # noqa: BLE001 - reported at the end of the round
            self.history.complain(f"{threading.current_thread().name} died of {error!r}")


class _Worker:
    def __init__(
        self, load: Load, table: Table, number: int, draw: random.Random, clock: Clock
    ) -> None:
        self.load, self.keys, self.history = load, load.keys, load.history
        self.table, self.number, self.draw, self.clock = table, number, draw, clock

    def take_turn(self) -> None:
        raise NotImplementedError


class _Writer(_Worker):
    """Writes its own rows: one by one and in batches, with the server's time or with its own."""

    def __init__(
        self, load: Load, table: Table, number: int, draw: random.Random, clock: Clock
    ) -> None:
        super().__init__(load, table, number, draw, clock)
        self._numbers: dict[bytes, int] = {}
        self._owned = load.mine(number, load.keys.owned)
        self._timed = load.mine(number, load.keys.timed)
        self._wide = load.mine(number, load.keys.wide)

    def take_turn(self) -> None:
        dice = self.draw.random()
        if dice < 0.4:
            self._one(self.draw.choice(self._owned), timed=False)
        elif dice < 0.7:
            self._one(self.draw.choice(self._timed), timed=True)
        elif dice < 0.99 or not self._wide:
            self._batch()
        else:
            self._one_wide(self.draw.choice(self._wide))

    def _next(self, row: bytes) -> int:
        self._numbers[row] = number = self._numbers.get(row, 0) + 1
        return number

    def _one(self, row: bytes, *, timed: bool) -> None:
        number = self._next(row)
        mutation, seen = self._mutation(row, number, timed=timed)
        table = self.table
        if isinstance(mutation, Put):
            put = mutation
            work = lambda: table.put(row, put.values, timestamp=put.timestamp)  # noqa: E731
        else:
            work = lambda: table.delete(row, timestamp=number)  # noqa: E731
        _, outcome = self.clock.call("a put", work)
        self.history.wrote(row, Write(seen, self.clock.began, self.clock.ended, outcome))

    def _mutation(self, row: bytes, number: int, *, timed: bool) -> tuple[Mutation, int | None]:
        # Only with times of our own do deletes and puts keep their order within a millisecond.
        if timed and self.draw.random() < 0.25:
            return Delete(row, timestamp=number), None
        timestamp = number if timed else None
        return Put(row, rows.numbered(number), timestamp=timestamp), number

    def _batch(self) -> None:
        batch: list[Mutation] = []
        writes: list[tuple[bytes, int | None]] = []
        for row in self.draw.sample((*self._owned, *self._timed), self.draw.randrange(2, 20)):
            mutation, seen = self._mutation(row, self._next(row), timed=row in self._timed)
            batch.append(mutation)
            writes.append((row, seen))

        failed: dict[int, Exception] = {}
        # Some go in several bulks, of which one is under way while the next is sent.
        size = len(batch) + 1 if self.draw.random() < 0.5 else self.draw.randrange(1, 6)

        def send() -> None:
            try:
                with self.table.batch(size=size) as sending:
                    for each in batch:
                        sending.add(each)
            except BatchError as error:
                failed.update(zip(error.positions, error.exceptions, strict=True))
                raise

        _, whole = self.clock.call("a batch", send, BULK_FACTOR)
        for position, (row, seen) in enumerate(writes):
            outcome = Outcome.DONE
            if position in failed:
                sure = isinstance(failed[position], RetryableError) and not getattr(
                    failed[position], "maybe_applied", True
                )
                outcome = Outcome.FAILED if sure else Outcome.UNKNOWN
            elif not failed or size <= len(batch):
                outcome = whole  # of several bulks, later ones may not have been sent
            self.history.wrote(row, Write(seen, self.clock.began, self.clock.ended, outcome))

    def _one_wide(self, row: bytes) -> None:
        number = self._next(row)
        _, outcome = self.clock.call("a wide put", lambda: self.table.put(row, rows.wide(number)))
        self.history.wrote(row, Write(number, self.clock.began, self.clock.ended, outcome))


class _Counter(_Worker):
    """Moves counters that all share, and adds to texts, alone and together in a batch."""

    def take_turn(self) -> None:
        dice = self.draw.random()
        if dice < 0.5:
            row = self.draw.choice(self.keys.counters)
            value, outcome = self.clock.call(
                "an increment", lambda: self.table.increment(row, rows.COUNT)
            )
            self.history.tallied(row, Tally(value, self.clock.began, self.clock.ended, outcome))
        elif dice < 0.8:
            row = self.draw.choice(self.keys.texts)
            token = self.load.next_token(self.number)
            text, outcome = self.clock.call(
                "an append", lambda: self.table.append(row, rows.TEXT, token)
            )
            joined = Joined(token, text, self.clock.began, self.clock.ended, outcome)
            self.history.joined_to(row, joined)
        else:
            self._both()

    def _both(self) -> None:
        """One atomic step on a row that is a counter and a text."""
        row = self.draw.choice(self.keys.counters)
        token = self.load.next_token(self.number)
        step = (Increment(row, {rows.COUNT: 1}), Append(row, {rows.TEXT: token}))
        answer, outcome = self.clock.call("a step", lambda: self.table.mutate(row, step))
        value = answer.value(rows.COUNT) if answer is not None else None
        text = answer.value(rows.TEXT) if answer is not None else None
        began, ended = self.clock.began, self.clock.ended
        count = int.from_bytes(value, "big") if value is not None else None
        self.history.tallied(row, Tally(count, began, ended, outcome))
        self.history.joined_to(row, Joined(token, text, began, ended, outcome))


class _Chainer(_Worker):
    """Moves chains from token to token by conditional writes, against others who do the same."""

    def __init__(
        self, load: Load, table: Table, number: int, draw: random.Random, clock: Clock
    ) -> None:
        super().__init__(load, table, number, draw, clock)
        self._seen: dict[bytes, bytes | None] = {}

    def take_turn(self) -> None:
        row = self.draw.choice(self.keys.chains)
        expected = self._seen.get(row)
        if expected is None:
            found, outcome = self.clock.call("a get", lambda: self.table.get(row, [rows.CHAIN]))
            if outcome is not Outcome.DONE:
                return
            expected = (found.value(rows.CHAIN) if found is not None else None) or b""
        token = self.load.next_token(self.number)
        check = Check(rows.CHAIN, value=expected or None, unique=self.draw.random() < 0.5)
        steps: list[Mutation] = [Put(row, rows.step_columns(token, expected))]
        if self.keys.chains.index(row) % 2:
            steps += [Append(row, {rows.TEXT: token}), Increment(row, {rows.COUNT: 1})]
        result, outcome = self.clock.call(
            "a check", lambda: self.table.check_and_mutate(row, check, steps)
        )
        if result is not None and not result.success:
            outcome = Outcome.REFUSED
        self.history.stepped(
            row, Step(token, expected, self.clock.began, self.clock.ended, outcome)
        )
        self._seen[row] = token if outcome is Outcome.DONE else None


class _Getter(_Worker):
    """Reads single rows and many."""

    def take_turn(self) -> None:
        wanted = (*self.keys.owned, *self.keys.timed)
        if self.draw.random() < 0.02:
            self._read((self.draw.choice(self.keys.wide),), "a wide get", b"w")
        elif self.draw.random() < 0.6:
            self._read((self.draw.choice(wanted),), "a get", *rows.NUMBERED)
        else:
            chosen = tuple(self.draw.sample(wanted, 20))
            self._read(chosen, "a get of many", *rows.NUMBERED)

    def _read(self, keys: tuple[bytes, ...], what: str, *families: bytes) -> None:
        def work() -> list[int | None]:
            number_in = rows.wide_number_in if families == (b"w",) else rows.number_in
            found = (
                [self.table.get(keys[0], families)]
                if len(keys) == 1
                else self.table.get_many(keys, families)
            )
            return [number_in(row) if row is not None else None for row in found]

        numbers, _ = self.clock.call(what, work, 1 if len(keys) == 1 else BULK_FACTOR)
        for key, number in zip(keys, numbers or (), strict=False):
            self.history.saw(key, Read(number, self.clock.began, self.clock.ended))


class _Scanner(_Worker):
    """Scans ranges, forwards and backwards, in small batches so that much can happen meanwhile."""

    def take_turn(self) -> None:
        scan = self._choose()
        found: list[tuple[bytes, int, float]] = []

        def work() -> bool:
            last = time.monotonic()
            for row in self.table.scan(scan):
                found.append((row.key, rows.number_in(row), time.monotonic()))
                waited, last = found[-1][2] - last, found[-1][2]
                # One time-out to find the next region, one for its rows.
                if waited > 2 * self.clock.timeout + SLACK_SECONDS:
                    self.history.complain(f"a scan gave nothing for {waited:.1f} s")
            return True

        done, _ = self.clock.call(f"{scan}", work, 10 * BULK_FACTOR)
        stable = self.history.stable
        for key, number, at in found:
            if key not in stable:
                self.history.saw(key, Read(number, self.clock.began, at, str(scan)))
            elif number != 0:
                self.history.complain(f"{scan} showed {number} in the stable row {key!r}")
        if not done:
            return
        start, stop = scan.bounds()
        keys = tuple(key for key, _, _ in found)
        seen = ScanSeen(start, stop, scan.limit, scan.reverse, scan.ordered, keys)
        self.history.scanned(seen)
        if scan.limit is None:
            for key in {*self.keys.owned, *self.keys.timed}.difference(keys):
                if start <= key and (not stop or key < stop):
                    self.history.saw(key, Read(None, self.clock.began, self.clock.ended, str(scan)))

    def _choose(self) -> Scan:
        start = stop = b""
        if self.draw.random() < 0.5:
            ends = sorted(self.draw.sample(range(rows.PLACES), 2))
            start, stop = (b"%04d" % end for end in ends)
        return Scan(
            start=start,
            stop=stop,
            columns=rows.NUMBERED,
            reverse=self.draw.random() < 0.4,
            ordered=self.draw.random() < 0.7,
            limit=self.draw.choice((None, None, 1, 17, 150)),
            batch_rows=self.draw.choice((1, 5, 20, 100, None)),
        )
