"""The queue of processes that wait to write an embedded store; jobs give way to them.

    writer-queue:host:pid:token    JSON: {"moves": 3}

An entry belongs to one waiting process, which moves its counter twice a second and removes the
entry when it is done. The entry of a process that died is left behind and does not move: jobs
remove it after a minute, or at once if that process was one of this machine.

On-disk: changing this needs a new format version. Frozen by
tests/operations/jobs/test_waiting_writers.py.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

import msgspec

from webtable.errors import WebTableError
from webtable.index.write_protocol import Clock, SystemClock, new_token
from webtable.operations.jobs.leases import Sightings, is_abandoned, process_name
from webtable.operations.operational_state import OperationalState

__all__ = ["KIND", "MOVE_SECONDS", "WaitingWriter", "WriterQueue", "is_process_alive"]

KIND = "writer-queue"
MOVE_SECONDS = 0.5
_ATTEMPTS = 3


class _Entry(msgspec.Struct, frozen=True):
    moves: int


class WaitingWriter:
    """The entry of a process that waits; removed when the block ends."""

    def __init__(self, state: OperationalState) -> None:
        self._state = state
        self._name = f"{process_name()}:{new_token().hex()}"
        self._moves = 0
        self._moved_at = 0.0

    def __enter__(self) -> Self:
        self._put()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for _ in range(_ATTEMPTS):
            try:
                stored = self._state.get(KIND, self._name)
                if stored is not None:
                    self._state.delete_if(KIND, self._name, stored)
                return
            except WebTableError:
                continue  # the entry stays for a minute, and does no other harm

    def move(self) -> None:
        """Moves the counter, if that is due."""
        if time.monotonic() - self._moved_at >= MOVE_SECONDS:
            self._put()

    def _put(self) -> None:
        self._moves += 1
        self._moved_at = time.monotonic()
        # A job that took this process for a dead one has removed the entry.
        stored = self._state.get(KIND, self._name)
        self._state.put_if(KIND, self._name, stored, msgspec.json.encode(_Entry(self._moves)))


class WriterQueue:
    """The queue as jobs see it.

    Args:
        is_alive: whether a process of this machine with a number exists.
    """

    def __init__(
        self,
        state: OperationalState,
        *,
        clock: Clock | None = None,
        is_alive: Callable[[int], bool] | None = None,
    ) -> None:
        self._state = state
        self._sightings = Sightings(clock or SystemClock())
        self._is_alive = is_alive or is_process_alive

    def is_waiting(self) -> bool:
        """Whether a process waits. Removes the entries of processes that died."""
        is_waiting = False
        for name, value in self._state.items(KIND):
            if self._is_dead(name) or is_abandoned(self._sightings.unmoved_ms(name, value)):
                self._state.delete_if(KIND, name, value)
            else:
                is_waiting = True
        return is_waiting

    def _is_dead(self, name: str) -> bool:
        host, pid, _ = (*name.rsplit(":", 2), "", "")[:3]
        return host == socket.gethostname() and pid.isdecimal() and not self._is_alive(int(pid))


def is_process_alive(pid: int) -> bool:
    """Whether a process of this machine exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # of another user
    return True
