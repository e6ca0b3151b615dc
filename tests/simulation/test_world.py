"""The scheduler and the world: turns, deaths, lost responses, late writes, clocks."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.simulation.scheduler import Killed
from tests.simulation.world import PURGE_SETTING, Faults, World
from webtable import Check, Delete, Family, Put, Table, TableSchema
from webtable.errors import Timeout
from webtable.index.write_protocol import CALL_LIMIT_MS, SKEW_MS


def make(seed: int, faults: Faults) -> tuple[World, Table]:
    world = World(seed, faults)
    return world, world.store.create_table("t", "f")


def value(table: Table, row: bytes = b"r") -> bytes | None:
    found = table.get(row)
    return None if found is None else found.value(b"f:q")


def test_tasks_take_turns_at_store_calls_only() -> None:
    orders = set()
    for seed in range(50):
        world, table = make(seed, Faults())
        order: list[str] = []

        def work(name: str, order: list[str] = order, table: Table = table) -> None:
            for _ in range(2):
                table.get(b"r")
                order.append(name)
                order.append(name)

        world.scheduler.add("a", lambda work=work: work("a"))  # type: ignore[misc]
        world.scheduler.add("b", lambda work=work: work("b"))  # type: ignore[misc]
        world.run()
        pairs = order[::2]
        assert order[1::2] == pairs
        orders.add("".join(pairs))
    assert orders == {"aabb", "abab", "abba", "baab", "baba", "bbaa"}


def test_a_seed_repeats_and_another_differs() -> None:
    def story(seed: int) -> list[str]:
        world, table = make(seed, Faults.drawn(World(seed).chance))
        world.scheduler.tells = True
        for name in "abc":
            world.scheduler.add(name, lambda name=name: _put(table, name.encode()))  # type: ignore[misc]
        world.run()
        return world.scheduler.story

    assert [story(seed) for seed in range(30)] == [story(seed) for seed in range(30)]
    assert len({tuple(story(seed)) for seed in range(30)}) > 20


def _put(table: Table, text: bytes) -> None:
    try:
        table.put(b"r", {b"f:q": text})
        table.put(b"s", {b"f:q": text})
    except Timeout:
        return


def test_a_task_may_die_before_or_after_a_write_but_not_inside() -> None:
    outcomes: Counter[object] = Counter()
    for seed in range(300):
        world, table = make(seed, Faults(kill=0.3))
        world.scheduler.add("a", lambda table=table: _put(table, b"x"))  # type: ignore[misc]
        world.run()
        outcomes[value(table), value(table, b"s")] += 1
    assert set(outcomes) == {(None, None), (b"x", None), (b"x", b"x")}


def test_what_is_dead_writes_no_more() -> None:
    for seed in range(100):
        world, table = make(seed, Faults(kill=0.5))

        def work(table: Table = table) -> None:
            try:
                table.put(b"r", {b"f:q": b"x"})
                table.put(b"r", {b"f:q": b"y"})
            except Killed:
                table.put(b"r", {b"f:q": b"from the grave"})

        world.scheduler.add("a", work)
        world.run()
        assert value(table) != b"from the grave"


def test_an_immortal_task_lives() -> None:
    for seed in range(100):
        world, table = make(seed, Faults(kill=0.5, delay=0.2))
        done: list[bool] = []

        def work(table: Table = table, done: list[bool] = done) -> None:
            _put(table, b"x")
            done.append(True)

        world.scheduler.add("a", work, mortal=False)
        world.run()
        assert done == [True]


def test_a_late_write_lands_within_the_limit_or_never() -> None:
    fates: Counter[object] = Counter()
    for seed in range(300):
        world, table = make(seed, Faults(delay=0.5, leap=0.3))
        times: list[int] = []

        def work(table: Table = table, times: list[int] = times, world: World = world) -> None:
            times.append(world.time_ms)
            table.put(b"r", {b"f:q": b"x"})

        world.engine.on_write = lambda name, row, times=times, world=world: times.append(
            world.time_ms
        )
        world.scheduler.add("a", work)
        fate = "dead or told"
        try:
            world.run()
        except Timeout:
            fate = "not known"
        while world.has_late:
            world.land()
        assert times[-1] <= times[0] + CALL_LIMIT_MS
        fates[fate, len(times) - 1] += 1
    assert {(fate, n) for fate in ("dead or told", "not known") for n in (0, 1)} == set(fates)


def test_after_a_lost_response_a_unique_value_identifies_the_write() -> None:
    outcomes: Counter[object] = Counter()
    for seed in range(300):
        world, table = make(seed, Faults(lose=0.5))
        said: list[object] = []

        def work(table: Table = table, said: list[object] = said) -> None:
            check = Check.absent(b"f:q", unique=True)
            try:
                put = Put(b"r", {b"f:q": b"x"})
                said.append(table.check_and_mutate(b"r", check, put).success)
            except Timeout:
                said.append("not known")

        world.scheduler.add("a", work)
        world.run()
        outcomes[said[0], value(table)] += 1
    assert set(outcomes) == {(True, b"x"), ("not known", b"x"), ("not known", None)}


def test_clocks_differ_by_the_skew_at_most() -> None:
    for seed in range(50):
        world, table = make(seed, Faults(skew=0.3, leap=0.3))
        clocks = [world.clock() for _ in range(3)]

        def work(table: Table = table, clocks: list = clocks, world: World = world) -> None:  # type: ignore[type-arg]
            for _ in range(5):
                table.get(b"r")
                times = [clock.now_ms() for clock in clocks]
                assert max(times) - min(times) <= SKEW_MS
                assert {clock.elapsed_ms() for clock in clocks} == {world.time_ms}

        world.scheduler.add("a", work)
        world.run()


def test_time_waits_for_calls_under_way_and_not_for_tasks_that_stand_still() -> None:
    longest = 0
    for seed in range(200):
        world, table = make(seed, Faults(leap=0.5, stall=0.5))
        sent: list[int] = []

        def work(table: Table = table, sent: list[int] = sent, world: World = world) -> None:
            sent.append(world.time_ms)
            table.put(b"r", {b"f:q": b"x"}, timestamp=1)
            sent.append(world.time_ms)

        world.engine.on_write = lambda name, row, sent=sent, world=world: sent.append(world.time_ms)
        world.scheduler.add("a", work)
        world.scheduler.add("b", lambda table=table: table.get(b"r"))  # type: ignore[misc]
        world.run()
        assert sent[1] - sent[0] <= CALL_LIMIT_MS
        longest = max(longest, sent[2] - sent[1])
    assert longest > 600_000


def test_the_first_error_ends_a_schedule() -> None:
    world, table = make(3, Faults())

    def fails() -> None:
        table.get(b"r")
        raise ValueError("wrong")

    def works() -> None:
        for _ in range(1000):
            table.get(b"r")

    world.scheduler.add("a", fails)
    world.scheduler.add("b", works)
    with pytest.raises(ValueError, match="wrong"):
        world.run()


def test_markers_stay_as_long_as_their_table_says() -> None:
    gone = {"kept": 0, "plain": 0}
    for seed in range(60):
        world = World(seed, Faults(compact=0.5))
        kept = TableSchema(
            name="kept", families=(Family(name="f"),), attributes={PURGE_SETTING: "3600000"}
        )
        tables = [world.store.create_table(kept), world.store.create_table("plain", "f")]

        def work(tables: list[Table] = tables, world: World = world) -> None:
            for table in tables:
                table.mutate(b"r", [Delete(b"r", timestamp=world.time_ms).column(b"f:q")])
            for _ in range(20):
                tables[0].get(b"r")

        world.scheduler.add("a", work)
        world.run()
        for table in tables:
            cells = world.engine.tables[table.name].rows[b"r"].cells
            gone[table.name] += b"f:q" not in cells
    assert gone["kept"] == 0
    assert gone["plain"] > 20
