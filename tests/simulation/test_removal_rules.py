"""Each rule of removals is needed: without it, some schedule breaks the promise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from tests.simulation.removal_world import (
    BesideRebuild,
    BlockedLinks,
    LateLoaders,
    RemovalWorld,
    SlowRemovals,
)
from tests.simulation.test_links_rules import broken_by
from webtable.links import write_protocol_rules
from webtable.links.updating import cluster, link_changes
from webtable.links.updating.cluster import Intents, Updater
from webtable.links.updating.cluster_counts import Exporter
from webtable.links.updating.purge_removed_page import LinkPurge
from webtable.links.updating.shard_writer import State
from webtable.pages.removing.purge import Purger
from webtable.pages.removing.row_removal import RowRemoval
from webtable.pages.removing.tombstones import Tombstone, Tombstones
from webtable.pages.storing.capture_writer import CaptureWriter
from webtable.store.mutation import Put


def test_a_writer_reads_the_block_list_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CaptureWriter, "_remove_blocked", lambda *_: {})
    assert broken_by(LateLoaders)


def test_an_exporter_reads_the_block_list_for_a_writer_that_died(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Exporter, "_remove_blocked", lambda *_: None)
    assert broken_by(LateLoaders)


def test_a_link_to_a_url_that_was_blocked_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_protocol_rules, "checks_again", lambda: False)
    assert broken_by(BlockedLinks)


def test_states_at_blocked_targets_are_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    forced = cluster._without_blocked

    def plain(target: bytes, state: State, *rest: object) -> State:
        return forced(target, state, *rest)._replace(is_forced=False)  # type: ignore[arg-type]

    monkeypatch.setattr(cluster, "_without_blocked", plain)
    assert broken_by(BlockedLinks)


def test_the_end_of_links_stays_as_a_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(stored: Mapping[bytes, bytes]) -> int:
        return int(stored.get(b"page:at") or 0)

    monkeypatch.setattr(link_changes, "_guard", without)
    assert broken_by(RemovalWorld)


def test_the_links_are_recorded_before_the_row_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    def unlinked(self: Tombstones, tombstone: Tombstone) -> list[tuple[str, Put]]:
        return puts(self, tombstone._replace(links=frozenset()))

    puts = Tombstones.puts
    monkeypatch.setattr(Tombstones, "puts", unlinked)
    assert broken_by(RemovalWorld)


def test_an_intent_comes_before_the_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(self: Updater, urls: Sequence[str]) -> Intents:
        return Intents(self._clock, self._clock.elapsed_ms(), [])

    monkeypatch.setattr(Updater, "begin_pages", silent)
    assert broken_by(RemovalWorld)


def test_a_removal_and_a_rebuild_exclude_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_protocol_rules, "waits_for_rebuild", lambda: False)
    assert broken_by(BesideRebuild)


def test_a_tombstone_stays_for_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Purger, "_is_young", lambda *_: False)
    assert broken_by(SlowRemovals)


def test_a_purge_waits_for_the_links(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Purger, "_is_young", lambda *_: False)
    monkeypatch.setattr(LinkPurge, "purge", lambda *_: None)
    assert broken_by(RemovalWorld)


def test_every_cell_of_the_row_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RowRemoval, "__call__", lambda self, state: None)
    assert broken_by(LateLoaders)
