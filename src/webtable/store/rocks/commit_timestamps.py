"""`Stamps`: the times of commits whose mutations have no timestamp of their own.

A timestamp is a millisecond, and a commit may take a fraction of one. Two puts of a cell at one
time would be one version, and a put would stay hidden behind a delete of the same time. So a commit
that shares a cell and a millisecond with an earlier one waits for the next millisecond. Times never
run ahead of the clock, so nothing has to be remembered beyond a millisecond, or over a restart.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from webtable.store.mutation import Delete, Increment, Put, Spread, Write
from webtable.store.rocks.visibility import current_ms

__all__ = ["Stamps"]

_NAP_SECONDS = 0.0003
# A clock that has stopped must not stop writes for good.
_MOST_NAPS = 200

_Place: TypeAlias = tuple[str, bytes]
"""A table and a row of it."""

_Touch: TypeAlias = tuple[bytes, set[bytes] | None, bool]
"""What a mutation stamps: its row, columns (None: all), and whether it is a change of what is
stored. An increment is newer than what it changes by itself, so only a delete can hide it."""


class Stamps:
    """Gives each commit of a store the current time, unless a cell of it has that time already.

    The caller holds the lock `Database.commits` during each call, except for `wait`. A time of 0
    means that the caller releases the lock, waits, and tries again.
    """

    __slots__ = ("_batches", "_ms", "_rows")

    def __init__(self) -> None:
        self._ms = 0
        # What has the stamp `_ms`: the columns of each row, None for all of them. Only names:
        # the values of a commit must not stay in memory until the next one.
        self._rows: dict[_Place, tuple[bytes, ...] | set[bytes] | None] = {}
        # Batches are added to it when the next commit comes in the same millisecond: most take
        # longer than that, and are spared the work.
        self._batches: list[tuple[str, list[bytes]]] = []

    def take(self, table: str, mutations: Sequence[Write]) -> int:
        """Returns the time for mutations of one row."""
        now_ms = current_ms()
        if now_ms != self._ms:
            self._start(now_ms)
        elif self._batches:
            self._add_batches()
        if len(mutations) == 1:
            return now_ms if self._take_one(table, mutations[0]) else 0
        touches = [touch for each in mutations if (touch := _touch(each)) is not None]
        for row, columns, is_change in touches:
            place = (table, row)
            if place in self._rows and _collide(self._rows[place], columns, is_change=is_change):
                return 0
        for row, columns, _ in touches:
            self._note((table, row), columns)
        return now_ms

    def _take_one(self, table: str, mutation: Write) -> bool:
        """Does what `take` does for the commit that is made most often, at a third of the cost."""
        rows = self._rows
        if type(mutation) is Put and not mutation.clears:
            if mutation.timestamp is not None:
                return True
            place = (table, mutation.row)
            if place not in rows:
                rows[place] = (*mutation.values,)
                return True
            used = rows[place]
            if used is None:
                return False
            if type(used) is not set:
                used = rows[place] = {*used}
            if not used.isdisjoint(mutation.values):
                return False
            used.update(mutation.values)
            return True
        touch = _touch(mutation)
        if touch is not None:
            row, columns, is_change = touch
            place = (table, row)
            if place not in rows:
                rows[place] = columns
            elif _collide(rows[place], columns, is_change=is_change):
                return False
            else:
                self._note(place, columns)
        return True

    def take_many(self, batches: Iterable[tuple[str, Sequence[Write]]]) -> int:
        """Returns one time for mutations of many rows, by their tables; rows count as a whole."""
        now_ms = current_ms()
        if now_ms != self._ms:
            self._start(now_ms)
        elif self._batches:
            self._add_batches()
        stamped = [(table, _stamped_rows(mutations)) for table, mutations in batches]
        if self._rows:
            for table, names in stamped:
                if any((table, name) in self._rows for name in names):
                    return 0
        self._batches += stamped
        return now_ms

    def wait(self) -> None:
        """Waits until the clock has moved on."""
        used_ms = self._ms
        for _ in range(_MOST_NAPS):
            if current_ms() != used_ms:
                return
            time.sleep(_NAP_SECONDS)
        self._ms = 0

    def _start(self, now_ms: int) -> None:
        self._ms = now_ms
        self._rows = {}
        self._batches = []

    def _add_batches(self) -> None:
        for table, names in self._batches:
            self._rows.update({(table, name): None for name in names})
        self._batches = []

    def _note(self, place: _Place, columns: set[bytes] | None) -> None:
        used = self._rows.setdefault(place, ())
        if used is None or columns is None:
            self._rows[place] = None
        elif isinstance(used, set):
            used |= columns
        else:
            self._rows[place] = columns.union(used)


def _collide(
    used: tuple[bytes, ...] | set[bytes] | None, columns: set[bytes] | None, *, is_change: bool
) -> bool:
    if used is None or columns is None:
        return True
    return not is_change and not columns.isdisjoint(used)


def _touch(mutation: Write) -> _Touch | None:
    if isinstance(mutation, Put):
        if mutation.timestamp is not None:
            return None
        return (mutation.row, {*mutation.values, *mutation.clears}, False)
    if isinstance(mutation, Spread):
        return None
    if isinstance(mutation, Delete):
        chosen = [marker.timestamp for marker in mutation.markers] or [mutation.timestamp]
        return (mutation.row, None, False) if None in chosen else None
    changed = mutation.amounts if isinstance(mutation, Increment) else mutation.values
    return (mutation.row, {*changed}, True)


def _stamped_rows(mutations: Sequence[Write]) -> list[bytes]:
    """Returns the rows that a commit stamps, and maybe more: deletes may have their own times."""
    try:
        return [each.row for each in mutations if each.timestamp is None]  # type: ignore[union-attr]
    except AttributeError:
        return [
            each.row
            for each in mutations
            if not isinstance(each, Spread) and getattr(each, "timestamp", None) is None
        ]
