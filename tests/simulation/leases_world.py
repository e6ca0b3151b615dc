"""Leases in the simulator: processes that take a lease in turns, and are paused, killed, cut off.

The content of the lease is a list to which each save of a holder adds one entry. Every state that
the lease ever had is recorded with its time, and judged when it is written:

- an entry that was written stays: a holder that was paused overwrites nothing
- a lease is taken only from a holder that did not move it for a minute
- a holder acts, between two calls, only while no other process has taken the lease
- each holder has a number of its own, greater than all before it
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.simulation.world import Faults, WorkerClock, World
from webtable.errors import RetryableError, WebTableError
from webtable.operations.jobs import leases
from webtable.operations.jobs.leases import Lease, LeaseLost, Leases, StoredLease
from webtable.operations.operational_state_table import TABLE, TableState

__all__ = ["Broken", "LeasesWorld", "SteadyClock", "play"]

KIND, NAME = "job", "compact"
_DRIFT = 1.1
_LEAST_UNMOVED_MS = int(leases.TAKE_AFTER_MS / _DRIFT)


class Broken(AssertionError):
    """A promise was broken."""


class SteadyClock:
    """The clocks of a process: a time of day that is wrong, a monotonic clock of its own speed."""

    def __init__(self, world: World, day: WorkerClock) -> None:
        self._day = day
        self._origin = world.chance.randrange(10**9)
        self._speed = world.chance.choice((1 / _DRIFT, 1.0, _DRIFT))

    def now_ms(self) -> int:
        """Returns the time of day as this process sees it."""
        return self._day.now_ms()

    def elapsed_ms(self) -> int:
        """Returns a time that nothing sets."""
        return self._origin + int(self._day.elapsed_ms() * self._speed)


class LeasesWorld:
    """One schedule of processes that want one lease.

    Args:
        make_clock, make: a test gives others to take a rule out.
    """

    def __init__(
        self,
        seed: int,
        *,
        make_clock: Callable[[World, WorkerClock], SteadyClock] = SteadyClock,
        has_tokens: bool = True,
    ) -> None:
        drawn = Faults.drawn(World(seed).chance)
        # Time must pass, or no lease is ever lost; a leap is longer than a minute at times.
        self.world = World(seed, drawn._replace(leap=0.03, tick=0.3))
        self._make_clock = make_clock
        self._has_tokens = has_tokens
        self._history: list[tuple[int, StoredLease, list[str]]] = []
        self._taken: set[int] = set()
        self.events: set[str] = set()
        # A value of another name makes the table: the world compacts tables from the beginning.
        assert self._leases(9).state.put_if(KIND, "other", None, b"")
        self.world.engine.on_write = self._record

    def populate(self) -> None:
        """Adds the processes."""
        for number in range(self.world.chance.choice((2, 2, 3))):
            self.world.scheduler.add(f"process {number}", self._worker(number))

    def check(self) -> None:
        """Checks that the lease of a process that died passes on after a minute."""
        for clock in self.world.clocks:
            clock.skew_ms = 0
        own = self._leases(9)
        if own.take(NAME, self._took) is None:
            self.world.pass_time(int(leases.TAKE_AFTER_MS * _DRIFT) + 1)
            if own.take(NAME, self._took) is None:
                raise Broken("the lease does not pass on")

    # A process

    def _leases(self, number: int) -> Leases:
        day = self.world.clock()
        state = TableState(self.world.store, now_ms=day.now_ms, new_token=self.world.token)
        return Leases(
            state,
            KIND,
            clock=self._make_clock(self.world, day),
            process=lambda: f"host:{number if self._has_tokens else 0}",
            token=self.world.token if self._has_tokens else lambda: b"",
        )

    def _worker(self, number: int) -> Callable[[], None]:
        own = self._leases(number)
        chance = self.world.chance

        def work() -> None:
            for _ in range(chance.choice((3, 10, 30))):
                try:
                    taken = own.take(NAME, self._took)
                    if taken is not None:
                        self._hold(taken[0])
                except LeaseLost:
                    self.events.add("lost")
                except RetryableError:
                    self.events.add("unknown")

        return work

    def _took(self, old: StoredLease | None) -> bytes:
        log = [] if old is None else _log_of(old)
        return json.dumps([*log, "taken"]).encode()

    def _hold(self, lease: Lease) -> None:
        chance = self.world.chance
        if lease.number in self._taken:
            raise Broken(f"two processes hold the lease with number {lease.number}")
        self._taken.add(lease.number)
        log = json.loads(lease.content)
        for step in range(chance.choice((0, 2, 5, 12))):
            lease.confirm()
            self._act(lease.number)
            if chance.random() < 0.5:
                lease.renew()
                continue
            log.append(f"{lease.number}.{step}")
            lease.save(json.dumps(log).encode())
            if not any(entry[-1:] == log[-1:] for _, _, entry in self._history):
                raise Broken(f"{log[-1]} was acknowledged and never written")
        lease.give_back(json.dumps(log).encode())
        self.events.add("given back")

    def _act(self, number: int) -> None:
        newest = self._history[-1][1]
        if newest.number != number and number in self._taken:
            raise Broken(f"holder {number} acts, and {newest.number} has the lease")

    # What was written

    def _record(self, table: str, row: bytes) -> None:
        if table != TABLE:
            return
        cells = self.world.engine.tables[TABLE].rows[row]
        schema = self.world.engine.tables[TABLE].schema
        (cell,) = cells.read(schema, (), self.world.time_ms, 1)
        new = leases.decode(KIND, NAME, cell[2][9:])
        log = _log_of(new)
        if self._history:
            before_ms, old, old_log = self._history[-1]
            if log[: len(old_log)] != old_log:
                raise Broken(f"{old_log} became {log}")
            if new.number != old.number:
                self._judge_take(before_ms, old, new)
        self._history.append((self.world.time_ms, new, log))

    def _judge_take(self, before_ms: int, old: StoredLease, new: StoredLease) -> None:
        if new.number < old.number:
            raise Broken(f"number {old.number} became {new.number}")
        if old.holder:
            self.events.add("taken over")
            if self.world.time_ms - before_ms < _LEAST_UNMOVED_MS:
                raise Broken(f"taken {self.world.time_ms - before_ms} ms after it was moved")


def _log_of(lease: StoredLease) -> list[str]:
    log: list[str] = json.loads(bytes(lease.content))
    return log


def play(seed: int, *, tells: bool = False, **changes: Any) -> LeasesWorld:
    """Plays one schedule; a broken promise is reported with its seed and its story."""
    world = LeasesWorld(seed, **changes)
    world.world.scheduler.tells = tells
    try:
        world.populate()
        world.world.run()
        world.check()
    except (AssertionError, WebTableError) as error:
        if not tells:
            play(seed, tells=True, **changes)
            raise AssertionError(f"LeasesWorld, seed {seed} failed only once") from error
        story = "\n".join(world.world.scheduler.story)
        raise Broken(f"LeasesWorld, seed {seed}: {error!r}\n{story}") from error
    return world
