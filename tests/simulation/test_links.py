"""The link index keeps its promise in every schedule, whatever crashes or stalls."""

from __future__ import annotations

import os

import pytest

from tests.simulation.links_world import (
    ChangingWords,
    CrowdedLinks,
    LeftBehind,
    LinksWorld,
    MovingCounts,
    SlowLinks,
    SummaryLinks,
    play_links,
)
from webtable.links.updating import page_row_update

SOAK = bool(os.environ.get("WEBTABLE_SOAK"))
KINDS = [ChangingWords, CrowdedLinks, LeftBehind, MovingCounts, SummaryLinks, SlowLinks]


def test_schedules_keep_the_link_promise() -> None:
    for seed in range(20_000 if SOAK else 500):
        play_links(seed)


@pytest.mark.parametrize("kind", KINDS)
def test_crowded_and_slow_schedules_keep_it_too(kind: type[LinksWorld]) -> None:
    for seed in range(10_000 if SOAK else 200):
        play_links(seed, kind=kind)


def test_journals_that_would_be_too_large_are_written_in_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_row_update, "MAX_JOURNAL_BYTES", 20)  # a target or two
    for seed in range(10_000 if SOAK else 100):
        play_links(seed)


def test_a_schedule_repeats_from_its_seed() -> None:
    for seed in range(20):
        first, second = play_links(seed, tells=True), play_links(seed, tells=True)
        assert first.world.scheduler.story == second.world.scheduler.story


def test_schedules_differ_and_go_through_what_they_should() -> None:
    awaited = {
        "killed",
        "is still on its way",
        "a late write",
        "the answer is lost",
        "major compaction of webindex",
        "minor compaction of webindex_work",
        "exporter 0: ('webindex_work', Delete(b'i:",
        "exporter 0: ('webindex_work', Delete(b'm:",
        "loader 1: ('webindex_work', Delete(b'm:",
        "b'inlinks:com.a/': b'-'",
        "b'members:org.c/': b'-'",
    }
    stories: set[str] = set()
    shards: set[int] = set()
    killed_at_once = 0
    for seed in range(5_000):
        world = play_links(seed, tells=True)
        story = "\n".join(world.world.scheduler.story)
        stories.add(story)
        # A single loader that is killed at its first call: such schedules may be equal.
        killed_at_once += len(world.world.scheduler.story) < 5
        shards.add(world.shards)
        awaited = {event for event in awaited if event not in story}
        if not awaited and seed >= 100:
            break
    assert awaited == set()
    assert shards == {1, 2, 16}
    assert killed_at_once < seed / 50
    assert len(stories) >= seed + 1 - killed_at_once


def test_links_that_only_change_their_order_are_stored() -> None:
    # The newest capture had the same links as the one before it, the other way round.
    play_links(2759, kind=SummaryLinks)
