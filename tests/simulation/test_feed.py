"""Consumers of the change feeds that die anywhere end with the newest state of every page."""

from __future__ import annotations

import os

import pytest

from tests.simulation.feed_world import (
    FeedWorld,
    LatePage,
    LateWriters,
    SetClock,
    WrongClocks,
    play_feed,
)

SCHEDULES = 10_000 if os.environ.get("WEBTABLE_SOAK") else 200


@pytest.mark.parametrize("kind", [FeedWorld, LateWriters, WrongClocks])
def test_consumers_miss_nothing(kind: type[FeedWorld]) -> None:
    for seed in range(SCHEDULES):
        play_feed(seed, kind=kind)


@pytest.mark.parametrize("kind", [LatePage, SetClock])
def test_the_written_schedules_pass(kind: type[FeedWorld]) -> None:
    play_feed(0, kind=kind)


def test_a_schedule_repeats_from_its_seed() -> None:
    stories = [play_feed(7, tells=True).world.scheduler.story for _ in range(2)]
    assert stories[0] == stories[1]
    assert stories[0]


def test_schedules_go_through_what_they_should() -> None:
    stories = [
        "\n".join(play_feed(seed, kind=kind, tells=True).world.scheduler.story)
        for kind in (FeedWorld, LateWriters, WrongClocks)
        for seed in range(60)
    ]
    for part in (
        "killed",
        "metadata:removed",
        "consumer 1 of links",
        "a late write",
        "webtable_operations",
        "exporter 0",
        "is lost on the way",
    ):
        assert any(part in story for story in stories), part
