"""Compares the clock of a writer on a cluster with that of a region server.

Revisions are times of writers' clocks, and readers of a change feed rely on it that a revision has
appeared eleven minutes after that time. So a writer whose clock is wrong must not write. It puts a
cell without a timestamp, which a region server then gives the cell, and compares that with its own
clock before and after the call: at its first write, once a minute while it writes, and at once
when its clock was set.
"""

from __future__ import annotations

import time

from webtable.errors import ClocksDiffer, WebTableError
from webtable.index.write_protocol import Clock, may_trust_clock
from webtable.store.store import Store

__all__ = ["ClockCheck"]

_EVERY_MS = 60_000
_STEP_MS = 1_000
_TTL_MS = 600_000


class ClockCheck:
    """The comparison of one writer. Threads may share it.

    Args:
        place: a table and a row, in which every writer has a cell of its own for ten minutes.
        name: the qualifier of this writer's cell, random.
    """

    def __init__(self, store: Store, clock: Clock, place: tuple[str, bytes], name: bytes) -> None:
        self._table = store.table(place[0])
        self._row = place[1]
        self._column = b"a:" + name.hex().encode()
        self._store = store
        self._clock = clock
        self._checked: tuple[int, int] | None = None

    def check(self) -> None:
        """Compares the clocks, if that was a minute ago, or this clock was set since.

        Raises:
            ClocksDiffer: they differ by more than 30 seconds; nothing was written.
            RetryableError: the server does not respond.
        """
        now, elapsed = self._clock.now_ms(), self._clock.elapsed_ms()
        if self._checked is not None:
            at, offset = self._checked
            if elapsed - at < _EVERY_MS and abs(now - elapsed - offset) < _STEP_MS:
                return
        self._table.put(self._row, {self._column: b"1"}, ttl_ms=_TTL_MS)
        found = self._table.get(self._row, (self._column,))
        after = self._clock.now_ms()
        # Where the cell expired or was deleted by hand already, the next write compares again.
        if found is None:
            return
        server_ms = found.raw_cells[0][1]
        if not may_trust_clock(server_ms, now, after):
            raise self._error(server_ms, after)
        self._checked = elapsed, now - elapsed

    def _error(self, server_ms: int, own_ms: int) -> ClocksDiffer:
        try:
            server = next(
                each.server for each in reversed(self._table.regions()) if each.start <= self._row
            )
        except (WebTableError, StopIteration):
            server = None
        error = ClocksDiffer(
            f"the clock of this machine shows {_shown(own_ms)}, that of region server"
            f" '{server or 'unknown'}' {_shown(server_ms)}: they differ by"
            f" {abs(own_ms - server_ms) / 1000:.0f} seconds, at most 30 are possible",
            hint="set both clocks by NTP, then write again; nothing was written",
        )
        error.maybe_applied = False
        return error


def _shown(milliseconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(milliseconds // 1000))
