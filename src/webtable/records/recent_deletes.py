"""Rows in which something was deleted just now, for a put that follows at once.

A delete marker hides puts of its own millisecond too, also later ones. So a put after a delete of
the same key, or a value after None, within one millisecond would be lost. A process remembers
for a moment where it put markers, and waits that moment out before it writes there again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable

__all__ = ["RecentDeletes", "recent_deletes"]

MOMENT_SECONDS = 0.002
"""Longer than a millisecond: after it the clock that stamped the marker shows a later one."""


def recent_deletes(location: str, table: str) -> RecentDeletes:
    """Returns what this process remembers of a table, by whatever object it is used."""
    return _tables.setdefault((location, table), RecentDeletes())


class RecentDeletes:
    """The rows of one table. Any number of threads may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: set[bytes] = set()
        self._newest = 0.0

    def note(self, rows: Iterable[bytes]) -> None:
        """Remembers rows whose deletes have been acknowledged."""
        with self._lock:
            self._rows.update(rows)
            self._newest = time.monotonic()

    def wait(self, rows: Iterable[bytes]) -> None:
        """Returns when a put of these rows is sure to be seen."""
        with self._lock:
            if not self._rows:
                return
            left = self._newest + MOMENT_SECONDS - time.monotonic()
            if left <= 0:
                self._rows.clear()
                return
            is_meant = not self._rows.isdisjoint(rows)
        if is_meant:
            time.sleep(left)


_tables: dict[tuple[str, str], RecentDeletes] = {}
