"""Each rule of the link protocol is needed: without it, some schedule breaks the promise.

A rule is taken out by replacing its one small function, or a step; never by a switch in the
product.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import SimpleNamespace

import pytest

from tests.simulation.links_world import (
    ChangingWords,
    CrowdedLinks,
    LeftBehind,
    LinksBroken,
    LinksWorld,
    MovingCounts,
    SlowLinks,
    play_links,
)
from webtable.index.indexed_table import Change, RowState
from webtable.links import schema, write_protocol_rules
from webtable.links.updating import cluster, cluster_counts, count_rules, hook, shard_writer
from webtable.links.updating.cluster import Intent, Intents, Own, Updater
from webtable.links.updating.page_row_update import PageRowDecision
from webtable.links.updating.shard_writer import ShardWriter, State
from webtable.pages.page import NewCapture
from webtable.store.cells_and_rows import Row
from webtable.store.mutation import Conditional

LIMIT = 20_000


def broken_by(kind: type[LinksWorld] = LinksWorld) -> str:
    """Returns what the first schedule that breaks a promise says."""
    for seed in range(LIMIT):
        try:
            play_links(seed, kind=kind)
        except LinksBroken as broken:
            return str(broken).partition("\n")[0]
    raise AssertionError(f"{LIMIT:,} schedules pass without the rule")


def without_guard(patch: pytest.MonkeyPatch, module: object) -> None:
    """Lets one module write states over newer ones."""
    changed = {**vars(write_protocol_rules), "is_newer": lambda guard, stored: True}
    patch.setattr(module, "write_protocol_rules", SimpleNamespace(**changed))


class Unguarded(ShardWriter):
    """Writes states over newer ones."""

    def _step(self, row: bytes, states: Iterable[State], found: Row | None) -> Conditional | None:
        with pytest.MonkeyPatch.context() as patch:
            without_guard(patch, shard_writer)
            return super()._step(row, states, found)


# The journal


def test_a_journal_has_what_is_left_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_protocol_rules, "merged", lambda earlier, changed: set(changed))
    assert broken_by()


def test_a_journal_moves_with_the_links(monkeypatch: pytest.MonkeyPatch) -> None:
    # It names the same as the one before, and the task that updates the old links clears both.
    class Staying(PageRowDecision):
        def __call__(self, state: RowState) -> Change | None:
            change = super().__call__(state)
            view = self._view
            assert view is not None
            if change is None or self.found is None or schema.JOURNAL not in change.put:
                return change
            cells = self.found.versions(schema.JOURNAL)
            if not cells or cells[0].value != change.put[schema.JOURNAL]:
                return change
            self._view = view._replace(journal_at=cells[0].timestamp)
            return Change(put={c: v for c, v in change.put.items() if c != schema.JOURNAL})

    monkeypatch.setattr(cluster, "PageRowDecision", Staying)
    assert broken_by(ChangingWords)


def test_a_journal_is_cleared_when_all_targets_are_updated(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hasty(Updater):
        def _bring_up(self, begun: Intents, some: Sequence[Intent], own: Own) -> None:
            views = self._write_page_rows(begun, [intent.uri for intent in some], own)
            self._clear(views)
            self._mark(self._write_states(views))
            self._end(some)

    assert _broken_by_updater(Hasty, monkeypatch)


# States


def test_the_guard_of_a_link(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "ShardWriter", Unguarded)
    assert broken_by(CrowdedLinks)


def test_the_guard_of_a_member(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_counts, "ShardWriter", Unguarded)
    assert broken_by(MovingCounts)


def test_the_guard_of_the_number_in_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    without_guard(monkeypatch, count_rules)
    assert broken_by(MovingCounts)


# Marks and counts


def test_a_target_is_marked_where_it_was_current_already(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_protocol_rules, "needs_mark", lambda is_changed: is_changed)
    assert broken_by()


def test_marks_come_before_the_journal_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    class MarksLast(Updater):
        def _bring_up(self, begun: Intents, some: Sequence[Intent], own: Own) -> None:
            views = self._write_page_rows(begun, [intent.uri for intent in some], own)
            marked = self._write_states(views)
            self._clear(views)
            self._end(some)
            self._mark(marked)

    assert _broken_by_updater(MarksLast, monkeypatch)


def test_the_exporter_sums_after_it_has_read_the_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_protocol_rules, "sums_late", lambda: False)
    assert broken_by(MovingCounts)


def test_the_exporter_always_moves_the_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    # A count that is the same now as it was may have been another one in between.
    class Still(cluster_counts._Recount):
        def __call__(self, state: RowState) -> Change:
            change = super().__call__(state)
            self.exported.revision = state.revision.number
            if state.cell is not None and all(
                state.facts.get(c) == v for c, v in change.put.items()
            ):
                return None  # type: ignore[return-value]
            return change

    class Exporter(cluster_counts.Exporter):
        def _count(self, uris: Sequence[bytes]) -> list[cluster_counts._Exported]:
            sums = cluster_counts._Sums(self._index, uris)
            decisions = [Still(uri, sums) for uri in uris]
            items = [(schema.page_row(each.exported.uri), each) for each in decisions]
            for each, revision in zip(decisions, self._index.rows.write_many(items), strict=True):
                if revision is not None:
                    each.exported.revision = revision
            return [each.exported for each in decisions]

    monkeypatch.setattr(hook, "Exporter", Exporter)
    assert broken_by(MovingCounts)


# Intents


def test_an_intent_comes_before_the_row(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unannounced(Updater):
        def begin(self, captures: Sequence[NewCapture]) -> Intents:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(cluster, "_send", lambda table, mutations: None)
                return super().begin(captures)

    assert _broken_by_updater(Unannounced, monkeypatch)


def test_an_intent_is_finished_by_others_only_when_it_is_abandoned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(write_protocol_rules, "is_abandoned", lambda begun_ms, now_ms: True)
    assert broken_by(CrowdedLinks)


def test_nothing_is_written_under_an_old_intent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_protocol_rules, "may_write", lambda begun_ms, now_ms: True)
    assert broken_by(SlowLinks)


def test_a_process_that_takes_over_writes_its_own_intent(monkeypatch: pytest.MonkeyPatch) -> None:
    class Bold(Updater):
        def take_over(self, intents: Sequence[Intent], own: Own) -> None:
            begun = Intents(self._clock, self._clock.elapsed_ms(), intents)
            uris = list(dict.fromkeys(intent.uri for intent in intents))
            views = self._write_page_rows(begun, uris, own)
            self._mark(self._write_states(views))
            self._clear(views)
            self._end(intents)

    assert _broken_by_updater(Bold, monkeypatch, LeftBehind)


def _broken_by_updater(
    updater: type[Updater],
    monkeypatch: pytest.MonkeyPatch,
    kind: type[LinksWorld] = LinksWorld,
) -> str:
    monkeypatch.setattr(hook, "Updater", updater)
    monkeypatch.setattr(cluster_counts, "Updater", updater)
    return broken_by(kind)
