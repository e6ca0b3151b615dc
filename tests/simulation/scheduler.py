"""A seeded scheduler: tasks take turns at every store call, and nowhere else.

Each task is a plain function that runs in a thread of its own, so the real code runs as it is. Only
one thread has the baton. At a pause the scheduler, in whichever thread is there, draws what happens
next: another task goes on, one is killed, or something of the world happens (time passes, a delayed
write lands, files are compacted). All draws come from one random generator, so a seed repeats.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import TypeAlias

__all__ = ["Killed", "Scheduler", "Task"]

_HANG_SECONDS = 60.0


class Killed(BaseException):
    """The task's process died; nothing in it may catch this."""


class Task:
    """One worker of a schedule.

    Attributes:
        limit: while a call of the task is under way, the time by which it has landed.
        frozen_until: the turn before which the others go first.
        is_doomed: whether the task dies when its turn comes.
        is_mortal: whether it may be killed by chance.
    """

    def __init__(self, name: str, work: Callable[[], object]) -> None:
        self.name = name
        self.work = work
        self.limit: int | None = None
        self.is_doomed = False
        self.frozen_until = 0
        self.is_mortal = True
        self.thread: _Thread | None = None


Event: TypeAlias = Callable[[], bool]
"""Something of the world; returns whether it happened. Drawn before every turn."""


class Scheduler:
    """Runs the tasks of one schedule.

    Args:
        chance: where every draw comes from.
        event: called before each turn, to let the world move.
        kill_chance: how likely a turn kills the task instead.
        stay_chance: how likely the same task goes on; the others stand still for longer then.
        freeze_chance: how likely a task stands still for many turns of the others.
    """

    def __init__(
        self,
        chance: random.Random,
        event: Event,
        *,
        kill_chance: float = 0.0,
        stay_chance: float = 0.0,
        freeze_chance: float = 0.0,
    ) -> None:
        self.chance = chance
        self.tells = False
        self.until: int | None = None
        """While set, calls that must have landed by then go first."""
        self.story: list[str] = []
        self.current: Task | None = None
        self._event = event
        self._kill_chance = kill_chance
        self._stay_chance = stay_chance
        self._freeze_chance = freeze_chance
        self._turn = 0
        self._alive: list[Task] = []
        self._error: BaseException | None = None
        self._main = threading.Lock()

    def add(self, name: str, work: Callable[[], object], *, mortal: bool = True) -> Task:
        """Adds a task; it starts when its turn comes. May be called while the schedule runs."""
        task = Task(name, work)
        task.is_mortal = mortal
        self._alive.append(task)
        return task

    def run(self) -> None:
        """Runs until every task is done or dead; raises the first error of any."""
        if self._alive:
            self._main.acquire()
            self._hand_over(self._next())
            if not self._main.acquire(timeout=_HANG_SECONDS):
                raise AssertionError(f"the schedule hangs; story: {self.story[-20:]}")
            self._main.release()
        if self._error is not None:
            raise self._error

    def pause(self, limit: int | None = None) -> None:
        """Lets others have their turns; called by a task at a store call.

        Args:
            limit: by when the call has landed; None: the task stands still, for any time.
        """
        task = self.current
        assert task is not None
        if task.is_doomed:
            raise Killed
        task.limit = limit
        if self._freeze_chance and self.chance.random() < self._freeze_chance:
            task.frozen_until = self._turn + self.chance.choice((10, 40, 200))
        follower = self._next()
        if follower is not task:
            assert task.thread is not None
            self._hand_over(follower)
            task.thread.wait()
        task.limit = None
        if task.is_doomed:
            raise Killed

    def note(self, *what: object, name: str = "") -> None:
        """Adds a line to the story of the schedule, if there is one."""
        if self.tells:
            who = name or (self.current.name if self.current else "the world")
            self.story.append(f"{who}: {' '.join(map(str, what))}")

    def limits(self) -> list[int]:
        """Returns the times by which calls under way have landed."""
        return [task.limit for task in self._alive if task.limit is not None]

    def _next(self) -> Task:
        """Draws whose turn it is; things of the world happen before."""
        try:
            while self._error is None and self._event():
                pass
        except AssertionError as error:
            self._give_up(error)
        chance, alive = self.chance, self._alive
        self._turn += 1
        if self.until is not None:
            alive = [task for task in alive if task.limit is not None and task.limit < self.until]
        elif self._freeze_chance:
            alive = [task for task in alive if task.frozen_until <= self._turn] or alive
        task = self.current
        if task not in alive or chance.random() >= self._stay_chance:
            task = alive[int(chance.random() * len(alive))]
        assert task is not None
        if self._kill_chance and task.is_mortal and chance.random() < self._kill_chance:
            task.is_doomed = True
            self.note("killed", name=task.name)
        return task

    def _hand_over(self, task: Task) -> None:
        self.current = task
        if task.thread is None:
            task.thread = _idle.pop() if _idle else _Thread()
            task.thread.start_task(self, task)
        else:
            task.thread.wake()

    def finish(self, task: Task, error: BaseException | None) -> None:
        """Takes a task out and gives the baton on; called at the end of its thread's work."""
        self._alive.remove(task)
        if error is not None:
            self._give_up(error)
        if self._alive:
            self._hand_over(self._next())
        else:
            self.current = None
            self._main.release()

    def _give_up(self, error: BaseException) -> None:
        """Ends the schedule at the first thing that goes wrong."""
        self._error = self._error or error
        self.until = None
        for task in self._alive:
            task.is_doomed = True


class _Thread:
    """A thread that runs one task after another, over many schedules: starting one is slow."""

    def __init__(self) -> None:
        self._baton = threading.Lock()
        self._baton.acquire()
        self._job: tuple[Scheduler, Task] | None = None
        self._thread = threading.Thread(target=self._loop, daemon=True)
        self._thread.start()

    def start_task(self, scheduler: Scheduler, task: Task) -> None:
        self._job = (scheduler, task)
        self._baton.release()

    def wake(self) -> None:
        self._baton.release()

    def wait(self) -> None:
        self._baton.acquire()

    def _loop(self) -> None:
        while True:
            self._baton.acquire()
            assert self._job is not None
            scheduler, task = self._job
            failure: BaseException | None = None
            try:
                if not task.is_doomed:
                    task.work()
            except Killed:
                pass
            except BaseException as error:  # noqa: BLE001 - the schedule raises it
                failure = error
            self._job = None
            _idle.append(self)
            scheduler.finish(task, failure)


_idle: list[_Thread] = []
