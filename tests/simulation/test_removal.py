"""A page that was removed and blocked is nowhere in the end, whatever crashes or stalls."""

from __future__ import annotations

import os

import pytest

from tests.simulation.links_world import LinksWorld, play_links
from tests.simulation.removal_world import (
    BesideRebuild,
    BlockedLinks,
    LateLoaders,
    RemovalWorld,
    SlowRemovals,
)

SOAK = bool(os.environ.get("WEBTABLE_SOAK"))


def test_removals_beside_loaders_exporters_and_purges() -> None:
    for seed in range(20_000 if SOAK else 400):
        play_links(seed, kind=RemovalWorld)


@pytest.mark.parametrize("kind", [BesideRebuild, BlockedLinks, LateLoaders, SlowRemovals])
def test_crowded_and_slow_removals(kind: type[LinksWorld]) -> None:
    for seed in range(10_000 if SOAK else 150):
        play_links(seed, kind=kind)


def test_a_schedule_repeats_from_its_seed() -> None:
    for seed in range(10):
        stories = [
            play_links(seed, kind=RemovalWorld, tells=True).world.scheduler.story for _ in range(2)
        ]
        assert stories[0] == stories[1]
