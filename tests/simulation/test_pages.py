"""Captures in any order, loaders killed anywhere: the same pages, and indexes that are right."""

from __future__ import annotations

import os

from tests.simulation.pages_world import play_pages

SCHEDULES = 5_000 if os.environ.get("WEBTABLE_SOAK") else 60


def test_loaders_that_are_killed_leave_what_one_load_in_order_makes() -> None:
    for seed in range(SCHEDULES):
        play_pages(seed)
