"""What a load did and saw, exactly: every write with what became of it, and every read.

All times are of one clock (`time.monotonic` of one process). A write that ended in an error either
certainly left no trace (`FAILED`), or may have been made (`UNKNOWN`). The owner of a row writes
it alone and one write after the other; counters, texts and chains are shared.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple

__all__ = ["History", "Joined", "Outcome", "Read", "ScanSeen", "Step", "Tally", "Write"]


class Outcome(Enum):
    """What is known about a write after its call ended."""

    DONE = "acknowledged"
    REFUSED = "its condition did not hold"
    FAILED = "failed, nothing was changed"
    UNKNOWN = "failed, and may have been made"


class Write(NamedTuple):
    """The owner of a row wrote a number into all its columns; None deleted the row."""

    number: int | None
    began: float
    ended: float
    outcome: Outcome


class Read(NamedTuple):
    """A number that was seen in a row, None where the row was not there, and by what."""

    number: int | None
    began: float
    ended: float
    by: str = ""


class ScanSeen(NamedTuple):
    """A scan over the rows with numbers: its request and the keys that it returned."""

    start: bytes
    stop: bytes
    limit: int | None
    reverse: bool
    is_ordered: bool
    keys: tuple[bytes, ...]


class Tally(NamedTuple):
    """A counter was moved by one; `value` is the result."""

    value: int | None
    began: float
    ended: float
    outcome: Outcome


class Joined(NamedTuple):
    """A token was added to a text; `text` is the result."""

    token: bytes
    text: bytes | None
    began: float
    ended: float
    outcome: Outcome


class Step(NamedTuple):
    """A chain was to be moved from one token, which had been seen there, to a new one."""

    token: bytes
    expected: bytes
    began: float
    ended: float
    outcome: Outcome


class History:
    """Everything that happened in one round. Safe to add to from many threads."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self.stable: frozenset[bytes] = frozenset()
        self.writes: dict[bytes, list[Write]] = {}
        self.reads: dict[bytes, list[Read]] = {}
        self.scans: list[ScanSeen] = []
        self.tallies: dict[bytes, list[Tally]] = {}
        self.joined: dict[bytes, list[Joined]] = {}
        self.steps: dict[bytes, list[Step]] = {}
        self.complaints: list[str] = []

    def wrote(self, row: bytes, write: Write) -> None:
        """Adds a write of a row by its owner."""
        with self._changing:
            self.writes.setdefault(row, []).append(write)

    def saw(self, row: bytes, read: Read) -> None:
        """Adds what a read of an owned row saw."""
        with self._changing:
            self.reads.setdefault(row, []).append(read)

    def scanned(self, scan: ScanSeen) -> None:
        """Adds a scan that came to its end."""
        with self._changing:
            self.scans.append(scan)

    def tallied(self, row: bytes, tally: Tally) -> None:
        """Adds an increment."""
        with self._changing:
            self.tallies.setdefault(row, []).append(tally)

    def joined_to(self, row: bytes, joined: Joined) -> None:
        """Adds an append."""
        with self._changing:
            self.joined.setdefault(row, []).append(joined)

    def stepped(self, row: bytes, step: Step) -> None:
        """Adds a conditional write."""
        with self._changing:
            self.steps.setdefault(row, []).append(step)

    def complain(self, text: str) -> None:
        """Adds something that must not happen and was noticed at once."""
        with self._changing:
            self.complaints.append(text)

    def counts(self) -> dict[str, int]:
        """Returns how much of everything there is, and of each outcome."""
        found = {
            "reads": sum(map(len, self.reads.values())),
            "scans": len(self.scans),
        }
        kinds: dict[str, Iterable[Sequence[Write | Tally | Joined | Step]]] = {
            "puts": self.writes.values(),
            "increments": self.tallies.values(),
            "appends": self.joined.values(),
            "checks": self.steps.values(),
        }
        for name, rows in kinds.items():
            for entries in rows:
                for entry in entries:
                    key = f"{name} {entry.outcome.name.lower()}"
                    found[key] = found.get(key, 0) + 1
        return found
