"""A writer whose clock differs from that of the cluster does not write."""

from __future__ import annotations

import uuid

import pytest

import webtable
from tests.simulation.world import Faults, WorkerClock, World
from webtable.errors import BatchError, ClocksDiffer, WebTableError, door
from webtable.index.clock_check import ClockCheck
from webtable.index.indexed_table import Change, IndexedTable
from webtable.index.write_protocol import Clock, SystemClock
from webtable.store.store import Store

PLACE = ("settings", b"clocks")


def rows_of(store: Store, clock: Clock) -> IndexedTable:
    check = ClockCheck(store, clock, PLACE, b"mine")
    return IndexedTable(store, "t", [], columns=(b"a",), clock=clock, clock_check=check)


def written(rows: IndexedTable) -> WebTableError | None:
    try:
        rows.write_many([(b"one", Change(put={b"a:v": b"1"}))])
    except BatchError as error:
        (first,) = error.exceptions
        assert isinstance(first, WebTableError)
        return first
    return None


class Writer:
    """A writer in a simulated world without faults, and its clock."""

    def __init__(self) -> None:
        self.world = World(1, Faults())
        self.clock: WorkerClock = self.world.clock()
        for name in ("t", "settings"):
            self.world.store.create_table(name, "a")
        self.rows = rows_of(self.world.store, self.clock)

    def checks(self) -> int:
        """Returns how often the clocks were compared."""
        return sum(1 for each in self.rows.store.table("settings").scan(versions=100) for _ in each)


@pytest.mark.parametrize("skew", [-30_000, -1_000, 0, 29_000, 30_000])
def test_a_clock_that_is_nearly_right_is_trusted(skew: int) -> None:
    writer = Writer()
    writer.clock.skew_ms = skew
    assert written(writer.rows) is None


@pytest.mark.parametrize("skew", [-31_000, -86_400_000, 31_000, 86_400_000])
def test_a_clock_that_is_wrong_is_rejected(skew: int) -> None:
    writer = Writer()
    writer.clock.skew_ms = skew
    error = written(writer.rows)
    assert isinstance(error, ClocksDiffer)
    assert (error.maybe_applied, door(error).exit_code) == (False, 5)
    assert f"differ by {abs(skew) // 1000} seconds" in str(error)
    assert "2027-01-15T08:00:00Z" in str(error)  # the clock of the server
    assert "region server 'unknown'" in str(error)  # a simulated store has no regions
    assert "NTP" in error.hint
    assert writer.rows.table.get(b"one") is None
    writer.clock.skew_ms = 0
    assert written(writer.rows) is None


def test_clocks_are_compared_once_a_minute_and_when_a_clock_was_set() -> None:
    writer = Writer()
    stamps: set[int] = set()
    for wanted in (1, 1, 1, 2, 3):
        if len(stamps) < wanted and stamps:
            writer.world.pass_time(60_000)
        assert written(writer.rows) is None
        found = writer.world.store.table("settings").get(b"clocks")
        assert found is not None
        stamps.add(found.cells[0].timestamp)
        assert len(stamps) == wanted
    writer.clock.skew_ms = 45_000
    assert isinstance(written(writer.rows), ClocksDiffer)
    writer.clock.skew_ms = -500
    assert written(writer.rows) is None


class ShiftedClock(SystemClock):
    """A clock that is wrong."""

    def __init__(self, skew_ms: int) -> None:
        self.skew_ms = skew_ms

    def now_ms(self) -> int:
        return super().now_ms() + self.skew_ms


@pytest.mark.hbase
def test_on_a_cluster(hbase_location: str) -> None:
    with webtable.open(f"{hbase_location}?namespace=clocks{uuid.uuid4().hex[:8]}") as store:
        for name in ("t", "settings"):
            store.create_table(name, "a")
        assert written(rows_of(store, ShiftedClock(0))) is None
        for skew in (-40_000, 40_000):
            clock = ShiftedClock(skew)
            rows = rows_of(store, clock)
            error = written(rows)
            assert isinstance(error, ClocksDiffer)
            (region,) = store.table("settings").regions()
            assert region.server is not None
            assert f"region server '{region.server}'" in str(error)
            clock.skew_ms = 0
            assert written(rows) is None
            clock.skew_ms = skew  # it is set while the writer runs
            assert isinstance(written(rows), ClocksDiffer)
        for name in store.tables():
            store.drop_table(name)
