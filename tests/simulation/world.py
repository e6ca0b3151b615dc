"""The world of one schedule: a simulated clock, faults, delayed writes, compactions.

It is the `Host` of the engine: at each store call it pauses the caller, so that others have their
turns, and draws what becomes of the call. All of it follows from the seed.

What can happen to a write: it takes effect; its task is killed before, or after; its task is killed
and the write lands later, or never; its response is lost, and it lands now, later, or never.
A call lands within `CALL_LIMIT_MS` of being sent, or never; a task may stand still for any time
between two calls. The clocks of two tasks differ by at most `SKEW_MS`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from tests.simulation.engine import LostAnswer, MemoryEngine
from tests.simulation.scheduler import Killed, Scheduler
from webtable.index.write_protocol import CALL_LIMIT_MS, SKEW_MS
from webtable.store.store import Store

__all__ = ["PURGE_SETTING", "Faults", "WorkerClock", "World"]

T = TypeVar("T")

_LEAPS_MS = (30_000, 120_000, 400_000, 800_000, 4_000_000)
_START_MS = 1_800_000_000_000
PURGE_SETTING = "hbase.hstore.time.to.purge.deletes"


class Faults(NamedTuple):
    """How likely, at each turn, something goes wrong or time goes on."""

    kill: float = 0.0
    lose: float = 0.0
    delay: float = 0.0
    stall: float = 0.3
    compact: float = 0.0
    tick: float = 0.3
    leap: float = 0.0
    skew: float = 0.0
    stay: float = 0.0
    freeze: float = 0.0

    @classmethod
    def drawn(cls, chance: random.Random) -> Faults:
        """Returns a mix of faults: each schedule has its own."""

        def some(most: float) -> float:
            return chance.choice((0.0, 0.0, most / 4, most))

        return cls(
            kill=some(0.02),
            lose=some(0.1),
            delay=some(0.1),
            stall=chance.choice((0.0, 0.3)),
            compact=some(0.1),
            tick=chance.choice((0.02, 0.3)),
            leap=some(0.08),
            skew=some(0.05),
            stay=chance.choice((0.0, 0.7, 0.93)),
            freeze=some(0.08),
        )


class WorkerClock:
    """The clock of one worker, which is wrong by some time."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.skew_ms = 0

    def now_ms(self) -> int:
        """Returns the time of day as this worker sees it."""
        return self._world.time_ms + self.skew_ms

    def elapsed_ms(self) -> int:
        """Returns the true time, which no task sets."""
        return self._world.time_ms


class _Late(NamedTuple):
    """A write on its way after its task has given it up."""

    limit: int
    what: object
    effect: Callable[[], object]


class World:
    """One schedule's world; `store` is what its tasks work on."""

    def __init__(self, seed: int, faults: Faults | None = None) -> None:
        self.seed = seed
        self.chance = random.Random(seed)
        self.faults = faults or Faults.drawn(self.chance)
        self.time_ms = _START_MS
        self.engine = MemoryEngine(self)
        self.store = Store(self.engine)
        self.scheduler = Scheduler(
            self.chance,
            self._happens,
            kill_chance=self.faults.kill,
            stay_chance=self.faults.stay,
            freeze_chance=self.faults.freeze,
        )
        self.clocks: list[WorkerClock] = []
        self._late: list[_Late] = []

    def clock(self) -> WorkerClock:
        """Returns the clock of a new worker."""
        clock = WorkerClock(self)
        if self.faults.skew:
            clock.skew_ms = self.chance.randrange(-SKEW_MS // 2, SKEW_MS // 2 + 1)
        self.clocks.append(clock)
        return clock

    def token(self) -> bytes:
        """Returns eight random bytes that the seed repeats."""
        return self.chance.getrandbits(64).to_bytes(8, "big")

    def run(self) -> None:
        """Runs the tasks, then lets what is still on its way land, or not."""
        self.scheduler.run()
        while self.has_late:
            self.land()

    def pass_time(self, milliseconds: int) -> None:
        """Lets time go by when no task runs."""
        assert self.scheduler.current is None
        self.time_ms += milliseconds

    # The host of the engine

    def now_ms(self) -> int:
        return self.time_ms

    def shuffled(self, count: int) -> list[int]:
        order = list(range(count))
        if count > 1 and self.scheduler.current is not None:
            self.chance.shuffle(order)
        return order

    def read(self, what: object, effect: Callable[[], T]) -> T:
        if self.scheduler.current is None:
            return effect()
        self.scheduler.pause()
        found = effect()
        self.scheduler.note(what, "→", found)
        return found

    def write(self, what: object, effect: Callable[[], T]) -> T:
        if self.scheduler.current is None:
            return effect()
        scheduler, chance, faults = self.scheduler, self.chance, self.faults
        if faults.delay and chance.random() < faults.delay:
            self._leave(what, effect)
        scheduler.pause(self.time_ms + CALL_LIMIT_MS)
        if faults.lose and chance.random() < faults.lose:
            if chance.random() < 0.7:
                scheduler.note(what, "→", effect(), "and the answer is lost")
            else:
                scheduler.note(what, "is lost on the way")
            raise LostAnswer
        result = effect()
        scheduler.note(what, "→", result)
        if scheduler.until is not None or (faults.stall and chance.random() < faults.stall):
            scheduler.pause()
        return result

    def _leave(self, what: object, effect: Callable[[], object]) -> None:
        """The task gives a write up, or dies, with the write still on its way."""
        limit = self.time_ms + CALL_LIMIT_MS
        self._late.append(_Late(limit, what, effect))
        self.scheduler.note(what, "is still on its way")
        task = self.scheduler.current
        assert task is not None
        if task.is_mortal and self.chance.random() < 0.5:
            task.is_doomed = True
            raise Killed
        self.scheduler.pause()
        raise LostAnswer

    # What happens by itself

    def _happens(self) -> bool:
        """Draws one thing that happens before the next turn; False: nothing more."""
        chance, faults = self.chance, self.faults
        if self.scheduler.until is not None:
            self._advance(self.scheduler.until)
            return self.scheduler.until is None
        draw = chance.random()
        if self._late and chance.random() < 0.2:
            self.land()
            return True
        for likely, event in (
            (faults.tick, self._tick),
            (faults.leap, self._leap),
            (faults.compact, self._compact),
            (faults.skew, self._set_clock),
        ):
            draw -= likely
            if draw < 0:
                event()
                return True
        return False

    def _tick(self) -> None:
        self._advance(self.time_ms + self.chance.choice((1, 1, 2, 5, 1000)))

    def _leap(self) -> None:
        self._advance(self.time_ms + self.chance.choice(_LEAPS_MS))

    def _advance(self, wanted: int) -> None:
        """Lets time go by; calls under way land in time, so the clock waits for them."""
        if any(limit < wanted for limit in self.scheduler.limits()):
            self.scheduler.until = wanted
            return
        self.scheduler.until = None
        for late in [late for late in self._late if late.limit < wanted]:
            self._late.remove(late)
            self._end(late)
        self.time_ms = wanted
        self.scheduler.note("it is", wanted - _START_MS, name="world")

    @property
    def has_late(self) -> bool:
        """Whether writes are on their way that their tasks have given up."""
        return bool(self._late)

    def land(self) -> None:
        """Lets one of the late writes land, or be lost."""
        self._end(self._late.pop(int(self.chance.random() * len(self._late))))

    def _end(self, late: _Late) -> None:
        if self.chance.random() < 0.8:
            self.scheduler.note(late.what, "→", late.effect(), name="a late write")

    def _compact(self) -> None:
        """Compacts a table: what is in memory takes no part, markers stay as long as they must."""
        names = list(self.engine.tables)
        table = self.engine.tables[names[int(self.chance.random() * len(names))]]
        upto = self.engine.number - self.chance.choice((0, 1, 3, 10))
        purge_ms = int(table.schema.attributes.get(PURGE_SETTING, 0))
        is_major = self.chance.random() < 0.7
        before = self.time_ms - purge_ms

        def purges(timestamp: int) -> bool:
            return not purge_ms or timestamp < before

        kind = "major" if is_major else "minor"
        self.scheduler.note(kind, "compaction of", table.schema.name, "up to", upto, name="world")
        table.compact(upto, purges if is_major else None)

    def _set_clock(self) -> None:
        if self.clocks:
            clock = self.clocks[int(self.chance.random() * len(self.clocks))]
            clock.skew_ms = self.chance.randrange(-SKEW_MS // 2, SKEW_MS // 2 + 1)
