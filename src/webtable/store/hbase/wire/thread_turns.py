"""Threads whose responses came together, woken one after the other.

Python runs one thread at a time. Of several that are woken at once, all but one wake up only to
queue for Python's lock, on another processor than the one that they are to run on next. So a
thread that is about to wait again wakes the next one first: by then the lock is free for it.

That is right where threads come back soon. One that does something else in between keeps the next
one waiting; so each thread that waits for a turn checks after a short while by itself, and where
turns take long, all are woken at once for a time.

`Turns` keeps that order for a connection. `Right` is for what one thread of it does at a time, as
to send and to read: no thread queues for that; one that does not get it does something else.

This module may be running compiled, by Cython from this very file and the C types in
`_thread_turns.pxd`; `pipelined_connection` imports the form that is to run.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Iterator
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webtable.store.hbase.wire.calls import Call

__all__ = ["COMPILED", "Right", "Turns"]

COMPILED = not __file__.endswith((".py", ".pyc"))
"""Whether this is machine code."""

_compiled = COMPILED  # the same as a C variable

WATCHES = 8
LEAST_PATIENCE_SECONDS = 0.001
FIRST_PATIENCE_SECONDS = 0.005
MOST_PATIENCE_SECONDS = 0.05
LONG_SECONDS = 0.0003
MISSED_SECONDS = 0.001
FIRST_PAUSE_SECONDS = 0.01
LAST_PAUSE_SECONDS = 5.0
TURNS_IN_PEACE = 256


def _now() -> float:
    return c_now() if _compiled else monotonic()  # type: ignore[name-defined]  # noqa: F821


class Right:
    """The right to do what one thread does at a time. No thread waits for it.

    Attributes:
        is_in_use: whether a thread has it.
    """

    def __init__(self) -> None:
        self.is_in_use = False
        if not _compiled:
            self._lock = threading.Lock()

    def take(self) -> bool:
        """Takes the right and returns whether that was possible."""
        if _compiled:
            # The thread holds Python's own lock from here to the end.
            if self.is_in_use:
                return False
        elif not self._lock.acquire(blocking=False):
            return False
        self.is_in_use = True
        return True

    def give_back(self) -> None:
        """Gives the right back, for the next one to take."""
        self.is_in_use = False
        if not _compiled:
            self._lock.release()


class Turns:
    """The threads of one connection that are to be woken, in the order of their responses.

    It has no lock: what threads that change it at once may spoil is a count, and turns that do not
    go on for that end by themselves.

    Attributes:
        long_seconds: turns that take longer on average are not worth taking.
        patience: how long to wait for a response, for most.
    """

    def __init__(self) -> None:
        self.long_seconds = LONG_SECONDS
        self.patience = FIRST_PATIENCE_SECONDS
        self._waiting: deque[Call] = deque()
        self._running = 0
        self._seconds = 0.0
        self._since = 0.0
        self._turns_given = 0
        self._none_until = 0.0
        self._pause = FIRST_PAUSE_SECONDS

    def are_used(self) -> bool:
        """Whether threads are to be woken in turn now."""
        return not self._none_until or _now() >= self._none_until

    def are_waited_for(self) -> bool:
        """Whether a thread waits for its turn."""
        return bool(self._waiting)

    def add(self, call: Call) -> None:
        """Gives a turn, after the threads that have one already."""
        if not self._waiting:
            self._since = _now()
        self._waiting.append(call)

    def next(self) -> Call | None:
        """Returns the call to wake now; None where no turn is due, or a turn is running."""
        if self._running > 0:
            return None
        try:
            call = self._waiting.popleft()
        except IndexError:
            return None
        self._running = 1
        now = _now()
        self._seconds += (now - self._since - self._seconds) / 16
        self._since = now
        self._turns_given += 1
        if self._seconds > self.long_seconds:
            self._stop(now)
        elif self._turns_given > TURNS_IN_PEACE:
            self._pause = FIRST_PAUSE_SECONDS
        return call

    def begin(self) -> None:
        """Takes note of a thread that goes on without having been woken."""
        self._running += 1

    def end(self) -> None:
        """Takes note of a thread that is back, to wait again."""
        if self._running > 0:
            self._running -= 1

    def patience_of(self, number: int) -> float:
        """Returns how long to wait for a call before looking what has become of it."""
        # A few look early for all, as most calls take as long as that.
        return self.patience if number % WATCHES else LEAST_PATIENCE_SECONDS

    def waited(self, seconds: float) -> None:
        """Takes note of how long a call took: many that are under way take longer."""
        patience = self.patience + (3 * seconds - self.patience) / 32
        self.patience = min(max(patience, LEAST_PATIENCE_SECONDS), MOST_PATIENCE_SECONDS)

    def leave(self, call: Call) -> bool:
        """Gives up the turn of a thread that did not wait any longer, if it has one.

        Returns False where no turn came for long; then all are to be woken.
        """
        is_somebody_waiting = bool(self._waiting)
        with contextlib.suppress(ValueError):
            self._waiting.remove(call)
        now = _now()
        if not is_somebody_waiting or now - self._since < MISSED_SECONDS:
            return True
        self._stop(now)
        return False

    def all(self) -> Iterator[Call]:
        """Yields all calls whose turn is to come, and ends their turns."""
        try:
            while True:
                yield self._waiting.popleft()
        except IndexError:
            return

    def _stop(self, now: float) -> None:
        """Makes all threads be woken at once for a time."""
        self._none_until = now + self._pause
        self._pause = min(self._pause * 2, LAST_PAUSE_SECONDS)
        self._running = self._turns_given = 0
        self._seconds = 0.0
