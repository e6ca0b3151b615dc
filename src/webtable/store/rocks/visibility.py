"""Which cells of a row a read sees: HBase's rules, for one family of one row at a time.

A `Matcher` gets the cells of a row in stored order and decides for each whether it is visible. The
order of the checks is HBase's (time to live, delete markers, time range, columns, versions),
because a check that ends a column early also hides what comes after it. `Compactor` decides
in the same way which cells a major compaction keeps. Nothing here depends on RocksDB.
"""

from __future__ import annotations

import time

from webtable.store.cells_and_rows import MAX_TIMESTAMP, CellType
from webtable.store.schema import Family, KeepDeletedCells

__all__ = ["Compactor", "Matcher", "current_ms", "oldest_alive"]

_PUT = int(CellType.PUT)
_DELETE = int(CellType.DELETE)
_DELETE_FAMILY_VERSION = int(CellType.DELETE_FAMILY_VERSION)
_DELETE_COLUMN = int(CellType.DELETE_COLUMN)
_DELETE_FAMILY = int(CellType.DELETE_FAMILY)

# The column without a name, ended as in a key. Markers of the whole family stand between its
# versions, so they count even after enough of them were seen.
_NAMELESS = b"\x00"
_NEVER = -1  # smaller than every timestamp: a mask up to it hides nothing


def current_ms() -> int:
    """Returns the time that cells are written and read by."""
    return time.time_ns() // 1_000_000


def oldest_alive(family: Family, now_ms: int) -> int:
    """Returns the oldest timestamp that the family's TTL has not expired."""
    return 0 if family.ttl_seconds is None else max(0, now_ms - family.ttl_seconds * 1000)


class _Masks:
    """The delete markers met so far in a row, and what they hide."""

    __slots__ = ("column", "column_until", "family_until", "family_versions", "version")

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forgets everything: a new row begins."""
        self.family_until = _NEVER
        self.family_versions: set[int] | None = None
        self.column = b""
        self.column_until = _NEVER
        self.version = _NEVER

    def add(self, qualifier: bytes, timestamp: int, kind: int) -> None:
        if kind == _DELETE_FAMILY:
            self.family_until = max(self.family_until, timestamp)
        elif kind == _DELETE_FAMILY_VERSION:
            if self.family_versions is None:
                self.family_versions = set()
            self.family_versions.add(timestamp)
        else:
            if qualifier != self.column:
                self.column = qualifier
                self.column_until = self.version = _NEVER
            if kind == _DELETE_COLUMN:
                self.column_until = max(self.column_until, timestamp)
            else:
                self.version = timestamp

    def hides_rest(self, qualifier: bytes, timestamp: int) -> bool:
        """Whether this put and every older one of its column is hidden."""
        if timestamp <= self.family_until:
            return True
        return timestamp <= self.column_until and qualifier == self.column

    def hides(self, qualifier: bytes, timestamp: int) -> bool:
        """Whether just this put is hidden."""
        if self.family_versions is not None and timestamp in self.family_versions:
            return True
        return timestamp == self.version and qualifier == self.column


class _Rules:
    """What reads and compactions share: where they stand in a row, and the first checks."""

    __slots__ = (
        "_count",
        "_last_put",
        "_masks",
        "_max_versions",
        "_min_versions",
        "_now_ms",
        "_oldest",
        "column",
        "is_done",
    )

    def __init__(self, family: Family, now_ms: int, oldest: int, max_versions: int) -> None:
        self._now_ms = now_ms
        self._oldest = oldest
        self._min_versions = family.min_versions
        self._max_versions = max_versions
        self._masks = _Masks()
        self.start_row()

    def start_row(self) -> None:
        """A new row begins."""
        self._masks.reset()
        self._start_column(b"")

    def _start_column(self, qualifier: bytes) -> None:
        self.column = qualifier
        self._count = 0
        self._last_put = _NEVER
        self.is_done = False

    def _is_over(self, qualifier: bytes, timestamp: int, kind: int, ttl_ms: int | None) -> bool:
        """Whether the cell is out because its column is done, it was written over, or expired."""
        if qualifier != self.column:
            self._start_column(qualifier)
        elif self.is_done and (kind == _PUT or qualifier != _NAMELESS):
            return True
        if kind == _PUT:
            if timestamp == self._last_put:
                return True  # written over by the tagged put before it
            self._last_put = timestamp
        if timestamp < self._oldest and self._min_versions == 0:
            self.is_done = True
            return True
        return ttl_ms is not None and timestamp + ttl_ms < self._now_ms

    def _is_hidden(self, qualifier: bytes, timestamp: int) -> bool:
        """Whether a marker hides the put."""
        if self._masks.hides_rest(qualifier, timestamp):
            self.is_done = True
            return True
        return self._masks.hides(qualifier, timestamp)

    def _is_excess(self, timestamp: int) -> bool:
        """Whether the versions counted so far are more than are to be had, with this one."""
        has_expired = timestamp < self._oldest
        if self._count > self._max_versions or (has_expired and self._count > self._min_versions):
            self.is_done = True
            return True
        return False


class Matcher(_Rules):
    """Decides, cell by cell in stored order, what a read of one family sees.

    `is_simple` means that, as long as a row has no markers and no cells with a TTL of their own,
    the first cell of each column is seen and no other. Readers use it to skip the calls.
    """

    __slots__ = ("_explicit", "_high", "_is_raw", "_low", "_sees_past_markers", "is_simple")

    def __init__(
        self,
        family: Family,
        *,
        now_ms: int,
        versions: int = 1,
        time_range: tuple[int, int] | None = None,
        raw: bool = False,
        explicit: bool = False,
    ) -> None:
        oldest = 0 if raw else oldest_alive(family, now_ms)
        super().__init__(
            family, now_ms, oldest, versions if raw else min(versions, family.versions)
        )
        # The default range has no upper end; only a chosen one excludes the greatest timestamp.
        self._low, self._high = time_range or (0, MAX_TIMESTAMP + 1)
        self._sees_past_markers = family.keep_deleted_cells != "FALSE"
        self._is_raw = raw
        self._explicit = explicit
        self.is_simple = (
            not raw and time_range is None and self._max_versions == 1 and self._oldest == 0
        )

    def resume_column(self, qualifier: bytes) -> None:
        """A column goes on of which one version was seen already, all that `is_simple` allows."""
        self._start_column(qualifier)
        self._count = 1
        self.is_done = self._explicit

    def sees(self, qualifier: bytes, timestamp: int, kind: int, ttl_ms: int | None) -> bool:
        """Whether the read sees this cell.

        Afterwards `is_done` means that no older one of the same column will be seen.
        """
        if self._is_over(qualifier, timestamp, kind, ttl_ms):
            return False
        if not self._is_raw:
            if kind != _PUT:
                if timestamp >= self._low and (
                    timestamp < self._high or not self._sees_past_markers
                ):
                    self._masks.add(qualifier, timestamp, kind)
                return False
            if self._is_hidden(qualifier, timestamp):
                return False
        if timestamp >= self._high:
            return False
        if timestamp < self._low:
            self.is_done = True
            return False
        if kind == _PUT:
            self._count += 1
        if self._explicit and not self._is_raw:
            # HBase returns the version that fills the count even if it has expired, when columns
            # are named; only what comes after it is cut off.
            has_expired = timestamp < self._oldest
            self.is_done = self._count >= self._max_versions or (
                has_expired and self._count >= self._min_versions
            )
            return True
        return not self._is_excess(timestamp)


class Compactor(_Rules):
    """Decides, cell by cell in stored order, what a major compaction of one family keeps."""

    __slots__ = ("_earliest_put", "_keep", "_purge_before")

    def __init__(
        self, family: Family, *, now_ms: int, earliest_put: int, purge_after_ms: int = 0
    ) -> None:
        """Starts before the first row.

        Args:
            earliest_put: the smallest timestamp of any put in the family.
            purge_after_ms: how old a marker must be to go.
        """
        super().__init__(family, now_ms, oldest_alive(family, now_ms), family.versions)
        self._purge_before = now_ms - purge_after_ms if purge_after_ms else MAX_TIMESTAMP + 1
        self._keep: KeepDeletedCells = family.keep_deleted_cells
        self._earliest_put = earliest_put

    def keeps(self, qualifier: bytes, timestamp: int, kind: int, ttl_ms: int | None) -> bool:
        """Whether the cell stays."""
        if self._is_over(qualifier, timestamp, kind, ttl_ms):
            return False
        if kind != _PUT:
            keeps_deleted = self._keeps_deleted(timestamp)
            if not keeps_deleted:
                self._masks.add(qualifier, timestamp, kind)
            if timestamp >= self._purge_before:
                return True
            if not keeps_deleted:
                return False
            if timestamp < self._earliest_put:
                # No put is older: neither this marker nor an older one hides anything.
                self.is_done = True
                return False
        elif self._is_hidden(qualifier, timestamp):
            return False
        else:
            self._count += 1
        return not self._is_excess(timestamp)

    def _keeps_deleted(self, timestamp: int) -> bool:
        return self._keep == "TRUE" or (self._keep == "TTL" and timestamp >= self._oldest)
