"""The index machinery keeps its promise in every schedule, whatever crashes or stalls."""

from __future__ import annotations

import os

import pytest

from tests.simulation.index_world import (
    BuildingWorld,
    CalmWorld,
    IndexWorld,
    SlowWorld,
    UniqueWorld,
    play,
)

SOAK = bool(os.environ.get("WEBTABLE_SOAK"))


def test_schedules_keep_the_index_promise() -> None:
    for seed in range(20_000 if SOAK else 500):
        play(seed)


def test_an_index_is_built_while_others_write() -> None:
    for seed in range(10_000 if SOAK else 250):
        play(seed, kind=BuildingWorld)


@pytest.mark.parametrize("kind", [UniqueWorld, SlowWorld])
def test_crowded_and_slow_schedules_keep_it_too(kind: type[IndexWorld]) -> None:
    for seed in range(5_000 if SOAK else 100):
        play(seed, kind=kind)


def test_nothing_is_left_over_where_no_writer_dies() -> None:
    for seed in range(20_000 if SOAK else 400):
        play(seed, kind=CalmWorld)


def test_a_schedule_repeats_from_its_seed() -> None:
    for seed in range(20):
        first, second = play(seed, tells=True), play(seed, tells=True)
        assert first.world.scheduler.story == second.world.scheduler.story
        assert first.history == second.history


def test_schedules_differ_and_go_through_what_they_should() -> None:
    awaited = {
        "killed",
        "is still on its way",
        "a late write",
        "the answer is lost",
        "is lost on the way",
        "major compaction of t_by_value",
        "minor compaction of t_by_mail",
        "world: it is",
        "'again'",
        "repairer 0: ('t_by_value', Delete(",
    }
    stories: set[str] = set()
    for seed in range(2_000):
        story = "\n".join(play(seed, tells=True).world.scheduler.story)
        stories.add(story)
        awaited = {event for event in awaited if event not in story}
        if not awaited and seed >= 100:
            break
    assert awaited == set()
    assert len(stories) == seed + 1
