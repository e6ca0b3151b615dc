"""What the writer writes and what a reader may see: rows that are whole, and a model of them.

Every write of a row puts one generation number into all families of the row, so a row that mixes
two generations was torn. Generations grow, and are the timestamps too: what is visible does not
depend on the clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import webtable
from tests.crash.child import Report

__all__ = [
    "COUNTER",
    "TABLES",
    "World",
    "check_whole",
    "payload",
    "read_counters",
    "read_rows",
    "row_key",
]

TABLES: Mapping[str, tuple[str, ...]] = {
    "pages": ("content", "links", "metadata"),
    "index": ("e", "f"),
}
THREADS = 2
ROWS = 40
COUNTER = b"!counter"

Place: TypeAlias = tuple[str, bytes]
"""A table and a row key."""


def row_key(thread: int, number: int) -> bytes:
    """Returns a row that belongs to one writer thread."""
    return b"%d-row%03d" % (thread, number)


def payload(generation: int, family: str) -> bytes:
    """Returns the value of a generation in a family; one in sixteen fills several log blocks."""
    size = 70_000 if generation % 16 == 5 else generation * 7919 % 1500
    head = b"%d %s " % (generation, family.encode())
    return head + bytes([generation % 251]) * size


def check_whole(table: str, row: webtable.Row) -> int:
    """Returns the row's generation; fails when its families disagree or one is missing."""
    values = row.values()
    families = TABLES[table]
    wanted = {f"{family}:g".encode() for family in families}
    assert set(values) == wanted, f"{table} {row.key!r} has {sorted(values)} of {sorted(wanted)}"
    generation = int(next(iter(values.values())).partition(b" ")[0])
    for family in families:
        value = values[f"{family}:g".encode()]
        same = value == payload(generation, family)
        assert same, f"{table} {row.key!r} is torn: {family} has {value[:40]!r}, not {generation}"
    return generation


def read_rows(store: webtable.Store) -> dict[Place, int]:
    """Returns the generation of every row of every table; each row must be whole."""
    found: dict[Place, int] = {}
    for table in TABLES:
        for row in store.table(table).scan():
            if row.key != COUNTER:
                found[table, row.key] = check_whole(table, row)
    return found


def read_counters(store: webtable.Store) -> int:
    """Returns the counter, which two families hold and one increment moves in both."""
    row = store.table("pages").get(COUNTER)
    if row is None:
        return 0
    values = {column: int.from_bytes(value, "big") for column, value in row.values().items()}
    assert set(values) == {b"content:n", b"links:n"}, values
    assert values[b"content:n"] == values[b"links:n"], f"the counters are torn: {values}"
    return values[b"links:n"]


class World:
    """What must be stored, as far as the writer's reports tell.

    A step that was begun and not acknowledged may have happened or not; `settle` compares what a
    store holds with every possibility and takes over the one that is true.
    """

    def __init__(self) -> None:
        # The generations that a place may have, oldest first; below 0 for a delete, 0 for nothing.
        self.rows: dict[Place, list[int]] = {}
        self.acknowledged = 0
        self._counter = 0
        self._counter_begun = 0
        self._open: dict[int, Report] = {}
        self._commits: list[Report] = []

    def take(self, reports: Iterable[Report]) -> None:
        """Takes over the reports of a writer, in their order."""
        for report in reports:
            assert "error" not in report, report["error"]
            if "begin" in report:
                self._open[report["thread"]] = report
                self._counter_begun += report["begin"] == "increment"
            elif "done" in report:
                self._acknowledge(self._open.pop(report["thread"]))
            elif "flushed" in report:
                self._flushed(report)

    def _acknowledge(self, step: Report) -> None:
        self.acknowledged += 1
        if step["begin"] == "increment":
            self._counter += 1
            self._counter_begun -= 1
        if step["begin"] == "commit":
            self._commits.append(step)
        for place, generation in _writes(step):
            # A write that skips the log may be lost in a crash: the earlier ones stay possible.
            kept = self._held(place) if step["how"] == "none" else []
            self.rows[place] = [*kept, generation]

    def _flushed(self, report: Report) -> None:
        # The flush began after these writes, so they and what came later is what can be there.
        for table, row, generation in report["flushed"]:
            held = self._held((table, row.encode()))
            if generation in held:
                self.rows[table, row.encode()] = held[held.index(generation) :]

    def _held(self, place: Place) -> list[int]:
        return self.rows.get(place, [0])

    def settle(self, store: webtable.Store) -> None:
        """Fails when the store holds anything else than what it may hold."""
        found = read_rows(store)
        for step in self._open.values():
            for place, generation in _writes(step):
                self.rows[place] = [*self._held(place), generation]
        for place, generation in found.items():
            assert place in self.rows, f"{place} was never written, has {generation}"
        for place, allowed in self.rows.items():
            actual = found.get(place, 0)
            fits = actual in allowed or (not actual and min(allowed) < 0)
            assert fits, f"{place} has generation {actual}, allowed: {allowed}"
        for step in (*self._commits, *self._open.values()):
            if step["begin"] == "commit":
                self._check_commit(step, found)
        self._settle_counter(store)
        self.rows = {place: [found.get(place, 0)] for place in self.rows}
        self._open.clear()
        self._commits.clear()

    def _check_commit(self, step: Report, found: Mapping[Place, int]) -> None:
        # Later writes may hide a commit in one row and not in another: what counts is whether
        # each row is at the commit or after it. Behind a delete the commit cannot be determined.
        reached = set()
        for place, generation in _writes(step):
            allowed, actual = self.rows[place], found.get(place, 0)
            if generation in allowed and actual:
                reached.add(allowed.index(actual) >= allowed.index(generation))
        assert len(reached) < 2, f"a commit is there in part: {step}"

    def _settle_counter(self, store: webtable.Store) -> None:
        counter, most = read_counters(store), self._counter + self._counter_begun
        assert self._counter <= counter <= most, f"{counter} is not in {self._counter}…{most}"
        self._counter, self._counter_begun = counter, 0


def _writes(step: Report) -> list[tuple[Place, int]]:
    """Returns the places that a step writes, with their new generations."""
    return [((table, row.encode()), generation) for table, row, generation in step["writes"]]
