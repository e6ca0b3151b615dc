"""A writer killed with -9 at random moments: nothing acknowledged is lost, no row is torn."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

import webtable
from tests.crash.child import Child
from tests.crash.world import TABLES, World

KILLS = 500 if os.environ.get("WEBTABLE_SOAK") else 25
KILLS_A_STORE = 5


def make_store(path: Path) -> None:
    with webtable.open(str(path)) as store:
        for table, families in TABLES.items():
            store.create_table(table, *families)


def kill_once(path: Path, world: World, chance: random.Random, mode: str, first: int) -> None:
    """Lets a writer work for a random while, kills it, and takes its reports into the world."""
    with Child("writer", path, chance.getrandbits(30), first, mode) as writer:
        # One kill in five may fall into the opening, which replays the log of the kill before.
        if chance.random() < 0.8:
            writer.wait_for(opened=writer.pid)
        world.take(writer.listen(chance.uniform(0.02, 0.35)))
        world.take(writer.kill())


@pytest.mark.parametrize("seed", range(KILLS // KILLS_A_STORE))
def test_acknowledged_writes_survive_a_kill(tmp_path: Path, seed: int) -> None:
    chance, world, path = random.Random(seed), World(), tmp_path / "store"
    make_store(path)
    with Child("reader", path) as reader:
        reader.wait_for(opened=True)
        for kill in range(KILLS_A_STORE):
            kill_once(path, world, chance, "logged", 1 + kill * 10**6)
            # Every other time only a reader looks, so that the next writer finds the raw crash.
            with webtable.open(str(path), read_only=chance.random() < 0.5) as store:
                world.settle(store)
        ended = reader.finish()[-1]
    assert ended["passes"] > 0
    assert world.acknowledged > 0


@pytest.mark.parametrize("mode", ["none", "compacting"])
@pytest.mark.parametrize("seed", range(KILLS // 25))
def test_rows_stay_whole_without_the_log_and_under_compaction(
    tmp_path: Path, mode: str, seed: int
) -> None:
    chance, world, path = random.Random(seed), World(), tmp_path / "store"
    make_store(path)
    for kill in range(KILLS_A_STORE):
        kill_once(path, world, chance, mode, 1 + kill * 10**6)
        with webtable.open(str(path)) as store:
            world.settle(store)
    assert world.acknowledged > 0
