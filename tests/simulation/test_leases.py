"""A lease has one holder at a time, and a holder that was paused does no harm."""

from __future__ import annotations

import os

from tests.simulation.leases_world import play

SOAK = bool(os.environ.get("WEBTABLE_SOAK"))


def test_a_paused_holder_does_no_harm() -> None:
    events: set[str] = set()
    for seed in range(20_000 if SOAK else 500):
        events |= play(seed).events
    assert events >= {"lost", "given back", "taken over"}


def test_schedules_go_through_what_they_should() -> None:
    awaited = {
        "killed",
        "is still on its way",
        "a late write",
        "the answer is lost",
        "is lost on the way",
        "world: it is",
    }
    for seed in range(2_000):
        story = "\n".join(play(seed, tells=True).world.scheduler.story)
        awaited = {event for event in awaited if event not in story}
        if not awaited:
            break
    assert awaited == set()


def test_a_schedule_repeats_from_its_seed() -> None:
    for seed in range(20):
        first, second = play(seed, tells=True), play(seed, tells=True)
        assert first.world.scheduler.story == second.world.scheduler.story
