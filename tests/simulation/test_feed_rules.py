"""Each rule of the change feeds is needed: without it, a consumer misses a change.

A rule is taken out by replacing its one small function, or a step; never by a switch in the
product.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.simulation.feed_world import (
    FeedWorld,
    LatePage,
    LateWriters,
    SetClock,
    WrongClocks,
    play_feed,
)
from tests.simulation.links_world import LinksBroken
from webtable import WebTable
from webtable.index import write_protocol
from webtable.index.table_and_indexes import HighestRevision
from webtable.operations.feed_consumers import FeedConsumer
from webtable.pages.asking import change_feed
from webtable.pages.asking.change_feed import ChangeFeed, Position

LIMIT = 10_000


def broken_by(kind: type[FeedWorld] = FeedWorld) -> str:
    """Returns what the first schedule that breaks the promise says."""
    for seed in range(LIMIT):
        try:
            play_feed(seed, kind=kind)
        except LinksBroken as broken:
            return str(broken).partition("\n")[0]
    raise AssertionError(f"{LIMIT:,} schedules pass without the rule")


# On a cluster


def test_the_cursor_moves_to_the_time_before_the_window_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(change_feed, "durable_limit", lambda now_ms: Position(now_ms, b"\xff"))
    assert "consumer of" in broken_by(LateWriters)


def test_the_window_is_as_long_as_a_write_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_feed, "WINDOW_MS", 300_000)
    assert "consumer of" in broken_by(LatePage)


def test_a_writer_drops_a_write_that_would_land_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_protocol, "may_still_write", lambda chosen_ms, now_ms: True)
    assert "consumer of" in broken_by(LateWriters)


def test_the_window_is_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unswept(ChangeFeed[Any]):
        def _sweep(self) -> Iterator[Any]:
            limit = change_feed.durable_limit(self._source.clock.now_ms())
            self._durable = max(self._durable, min(limit, self._next))
            return iter(())

    monkeypatch.setattr("webtable.operations.feed_consumers.ChangeFeed", Unswept)
    assert "consumer of" in broken_by(LateWriters)


def test_a_newer_revision_of_a_handled_row_is_delivered(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_row(place: Position, delivered: set[tuple[bytes, int]]) -> bool:
        return any(row == place.row for row, _ in delivered)

    monkeypatch.setattr(change_feed, "is_handled", by_row)
    assert "consumer of" in broken_by()


def test_the_cursor_follows_a_pass_only_from_where_nothing_was_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(change_feed, "has_missed_none", lambda following, durable: True)
    assert "consumer of" in broken_by(LatePage)


def test_the_cursor_is_stored_after_the_changes_are_handled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Hasty(FeedWorld):
        def follow(self, feed: str, consumer: FeedConsumer[Any]) -> None:
            changes = consumer.read()
            consumer.commit()
            for change in changes:
                self.handle(feed, change)

    assert "consumer of" in broken_by(Hasty)


def test_a_writer_with_a_wrong_clock_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_protocol, "may_trust_clock", lambda server, before, after: True)
    monkeypatch.setattr("webtable.index.clock_check.may_trust_clock", lambda *_: True)
    assert "consumer of" in broken_by(WrongClocks)


def test_a_clock_that_is_set_is_compared_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webtable.index.clock_check._STEP_MS", 10**12)
    assert "consumer of" in broken_by(SetClock)


# In an embedded store


class EmbeddedFeeds:
    """Writes of a store whose clock is set back and forth, and a consumer of each feed."""

    def __init__(self, seed: int, location: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.chance = random.Random(seed)
        self.location = location
        self.now = 2_000_000_000_000
        self.known: dict[bool, dict[str, int]] = {False: {}, True: {}}
        monkeypatch.setattr(write_protocol.SystemClock, "now_ms", lambda _: self.now)

    def play(self) -> list[str]:
        """Plays one schedule; returns what the consumers have missed."""
        for turn in range(1, 7):
            with WebTable.open(self.location) as web:
                for number in range(self.chance.choice((1, 2))):
                    name = self.chance.choice("abc")
                    link = f"<a href='https://z.example/'>{turn} {number}</a>"
                    web.put(f"https://{name}.example/", link, fetched=f"2026-09-{turn:02}")
                for links in (False, True):
                    self._consume(web, links=links)
            self.now += self.chance.choice((-3_600_000, -1, 1, 3_600_000))
        with WebTable.open(self.location) as web:
            return [
                f"{change.url} of {links}"
                for links in (False, True)
                for change in (web.changes(links=True) if links else web.changes())
                if self.known[links].get(change.url) != change.revision
            ]

    def _consume(self, web: WebTable, *, links: bool) -> None:
        changed: Any = web.changes(consumer=f"links {links}", links=links)  # type: ignore[call-overload]
        with changed as feed:
            for change in feed:
                self.known[links][change.url] = change.revision


def test_a_clock_that_is_set_back_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(3):
        assert EmbeddedFeeds(seed, tmp_path / str(seed), monkeypatch).play() == []


def test_revisions_grow_with_every_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HighestRevision, "number", property(lambda _: 0))
    missed = [
        each
        for seed in range(3)
        for each in EmbeddedFeeds(seed, tmp_path / str(seed), monkeypatch).play()
    ]
    assert any(each.endswith("of False") for each in missed)
    assert any(each.endswith("of True") for each in missed)
