"""What several rows share is always marked, and each rule of that is needed."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from tests.simulation.groups_world import GroupsWorld, SlowGroupsWorld
from tests.simulation.index_world import IndexWorld, play
from tests.simulation.test_index_rules import broken_by, changed_writer
from webtable.errors import WebTableError
from webtable.index.row_write_attempt import RowAttempt
from webtable.index.row_writer import Writer

SOAK = bool(os.environ.get("WEBTABLE_SOAK"))


@pytest.mark.parametrize("kind", [GroupsWorld, SlowGroupsWorld])
def test_what_several_rows_share_is_always_marked(kind: type[IndexWorld]) -> None:
    for seed in range(10_000 if SOAK else 200):
        play(seed, kind=kind)


def test_entries_come_before_the_look() -> None:
    class LooksFirst(Writer):
        def make(self, attempts: Sequence[RowAttempt]) -> list[bool | WebTableError]:
            self.put_marks(attempts)
            self.put_entries(attempts)
            won = self.swap_rows(attempts)
            self.clean_up(
                [attempt for attempt, each in zip(attempts, won, strict=True) if each is True]
            )
            return won

    assert "share" in broken_by(changed_writer(LooksFirst), GroupsWorld)


def test_the_look_comes_before_the_row() -> None:
    class LooksLast(Writer):
        def make(self, attempts: Sequence[RowAttempt]) -> list[bool | WebTableError]:
            self.put_entries(attempts)
            won = self.swap_rows(attempts)
            made = [attempt for attempt, each in zip(attempts, won, strict=True) if each is True]
            self.put_marks(made)
            self.clean_up(made)
            return won

    assert "share" in broken_by(changed_writer(LooksLast), GroupsWorld)
