"""The rules of the index protocol, each one small function; see `docs/explain/indexes.md`.

`tests/simulation` takes them out one by one and shows that the promise breaks.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterable
from typing import Protocol

from webtable.index.cell_encoding import Claim, Revision

__all__ = ["CALL_LIMIT_MS", "REPAIR_AGE_MS", "WRITE_LIMIT_MS", "Clock", "SystemClock"]

WRITE_LIMIT_MS = 600_000
"""Within ten minutes of the choice of a revision, everything written under it has landed."""

CALL_LIMIT_MS = 120_000
"""A call to the store has landed after two minutes, or never will: twice a call's time-out."""

SKEW_MS = 120_000
"""The clocks of two workers differ by two minutes at most."""

CLOCK_LIMIT_MS = 30_000
"""A writer whose clock differs by more from a region server's does not write."""

REPAIR_AGE_MS = WRITE_LIMIT_MS + SKEW_MS
"""A leftover of this age belongs to no writer under way."""

TOKEN_BYTES = 8


class Clock(Protocol):
    """Where the machinery has its time from."""

    def now_ms(self) -> int:
        """Returns the time of day, as cells are stamped with it."""

    def elapsed_ms(self) -> int:
        """Returns a time that clock changes do not affect; it goes on while the machine sleeps."""


class SystemClock:
    """The clocks of this machine."""

    def now_ms(self) -> int:
        """Returns the time of day."""
        return time.time_ns() // 1_000_000

    def elapsed_ms(self) -> int:
        """Returns the time since the machine was started."""
        return time.clock_gettime_ns(_STEADY) // 1_000_000


_STEADY: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def new_revision(now_ms: int, old: int) -> int:
    """Revisions of a row only grow, whatever the clocks do."""
    return max(now_ms, old + 1)


def new_token() -> bytes:
    """Returns random bytes: two writers that choose the same number still write different cells."""
    try:
        return _tokens.pop()
    except IndexError:
        # A call to the system for each would cost as much as the rest of a small write.
        drawn = os.urandom(TOKEN_BYTES * 256)
        _tokens.extend(drawn[at : at + TOKEN_BYTES] for at in range(0, len(drawn), TOKEN_BYTES))
        return os.urandom(TOKEN_BYTES)


_tokens: deque[bytes] = deque()
# A child process must not use the tokens of its parent.
os.register_at_fork(after_in_child=_tokens.clear)


def may_still_write(chosen_ms: int, now_ms: int) -> bool:
    """A worker drops a write that could land later than the limit: repair may have come by."""
    return now_ms - chosen_ms <= WRITE_LIMIT_MS - CALL_LIMIT_MS


def may_trust_clock(server_ms: int, before_ms: int, after_ms: int) -> bool:
    """Whether the clock of a writer is near that of a server, which was read in between."""
    return before_ms - CLOCK_LIMIT_MS <= server_ms <= after_ms + CLOCK_LIMIT_MS


def is_current(entry: object, entries: Iterable[object]) -> bool:
    """A reader shows a hit only if the row's facts still give this entry."""
    return entry in entries


def is_abandoned(timestamp: int, now_ms: int) -> bool:
    """Repair removes what is older than any writer under way; younger ones may be used yet."""
    return now_ms - timestamp > REPAIR_AGE_MS


def may_remove_lost(revision: int, lost: int) -> bool:
    """Entries of an attempt that lost are removed once their row has reached its revision.

    Markers at that revision then spare what any later write puts. Before that they could hide the
    entries of another writer that chose a lower revision, or the same one, and is yet to win.
    """
    return revision >= lost


def claim_timestamp(revision: int, stored: int) -> int:
    """A change of a unique entry is never hidden behind an earlier one of another row's clock."""
    return max(revision, stored + 1)


def may_free(claim: Claim, row: bytes, old_revision: int) -> bool:
    """A removal frees only what the row had at its old revision, not what it claimed since."""
    return claim.owner == row and claim.revision.number <= old_revision


NO_REVISION = Revision(0, b"")
