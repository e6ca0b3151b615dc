"""Each rule of the index protocol is needed: without it, some schedule breaks the promise.

A rule is taken out by replacing its one small function, or a step of the writer; never by a switch
in the product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

from tests.simulation.index_world import (
    Broken,
    BuildingWorld,
    CalmWorld,
    IndexWorld,
    MakeTable,
    SlowWorld,
    UniqueWorld,
    play,
)
from webtable.errors import WebTableError
from webtable.index import row_writer as index_writer
from webtable.index import unique_entries, write_protocol
from webtable.index.cell_encoding import Removal, Revision
from webtable.index.indexed_table import Entry, Index, IndexedTable
from webtable.index.row_write_attempt import RowAttempt
from webtable.index.row_writer import Writer
from webtable.index.unique_entries import Claims, StoredClaim
from webtable.store.mutation import Check, CompareOp, Delete, Mutation

LIMIT = 20_000


def broken_by(
    make: MakeTable = IndexedTable, kind: type[IndexWorld] = IndexWorld, first: int = 0
) -> str:
    """Returns what the first schedule that breaks a promise says, from a seed on."""
    for seed in range(first, first + LIMIT):
        try:
            play(seed, make=make, kind=kind)
        except Broken as broken:
            return str(broken).partition("\n")[0]
    raise AssertionError(f"{LIMIT:,} schedules pass without the rule")


def test_the_token_in_the_revision_cell() -> None:
    # Two writers choose the same number, the response to one is lost: both believe they won.
    class WithoutToken(IndexedTable):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **{**options, "tokens": lambda: bytes(8)})

    assert broken_by(WithoutToken)


def test_revisions_only_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_protocol, "new_revision", lambda now_ms, old: now_ms)
    assert broken_by()


def test_a_deleted_row_keeps_its_revision() -> None:
    class Forgetful(RowAttempt):
        def mutations(self, *, keeps_pending: bool = True) -> list[Mutation]:
            made = super().mutations(keeps_pending=keeps_pending)
            if not self.facts:
                made.append(Delete(self.row, timestamp=self.revision.number))
            return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_writer, "RowAttempt", Forgetful)
        assert broken_by()


def test_entries_come_before_the_row() -> None:
    class RowFirst(Writer):
        def make(self, attempts: Sequence[RowAttempt]) -> list[bool | WebTableError]:
            won = self.swap_rows(attempts)
            made = [
                attempt for attempt, result in zip(attempts, won, strict=True) if result is True
            ]
            self.put_entries(made)
            self.clean_up(made)
            return won

    assert broken_by(changed_writer(RowFirst))


def test_the_check_of_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_protocol, "is_current", lambda entry, entries: True)
    assert broken_by()


def test_markers_stand_at_the_old_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    def markers(gone: Iterable[Removal], old_revision: int) -> list[tuple[str, Delete]]:
        plain = [each for each in gone if not each.is_claim]
        return [(each.table, Delete(each.key).column(each.column)) for each in plain]

    monkeypatch.setattr(index_writer, "markers", markers)
    assert broken_by()


def test_a_row_reaches_the_revision_of_lost_attempts_before_they_are_tidied_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(write_protocol, "may_remove_lost", lambda revision, lost: True)
    # Few schedules come to it: the markers hide what another writer put, and then wins with.
    assert "missing=[Missing" in broken_by(kind=CalmWorld, first=17_898)


def test_a_writer_that_loses_a_race_removes_its_entries() -> None:
    class Careless(Writer):
        def _tidy_up(self, races: object) -> None:
            pass

    assert "left over" in broken_by(changed_writer(Careless), CalmWorld)


def test_the_age_limit_of_repair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_protocol, "is_abandoned", lambda timestamp, now_ms: True)
    assert broken_by(kind=SlowWorld)


def test_a_worker_drops_a_write_that_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_protocol, "may_still_write", lambda chosen_ms, now_ms: True)
    assert broken_by(kind=SlowWorld)


def test_writers_keep_all_entries_of_an_index_that_is_built() -> None:
    class OnlyChanges(IndexedTable):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.ready = set(self.indexes)

        def state(self, name: str) -> Any:
            self.ready.discard(name)
            state = super().state(name)
            self.ready.add(name)
            return state

    assert broken_by(OnlyChanges, BuildingWorld)


# Unique entries


def test_a_unique_entry_is_never_deleted() -> None:
    class Deleting(Claims):
        def release(self, gone: Removal, stored: StoredClaim, revision: int) -> bool:
            timestamp = write_protocol.claim_timestamp(revision, stored.timestamp)
            delete = Delete(gone.key, timestamp=timestamp).column(gone.column)
            check = unique_entries.unchanged(gone.column, stored)
            table = self._home.store.table(gone.table)
            return bool(table.check_and_mutate(gone.key, check, delete))

    assert broken_by(changed_writer(claims=Deleting), UniqueWorld)


def test_a_unique_entry_is_changed_only_from_its_exact_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def there(column: bytes, stored: StoredClaim) -> Check:
        if stored.value is None:
            return Check.absent(column)
        return Check(column, CompareOp.NOT_EQUAL, b"something else")

    monkeypatch.setattr(unique_entries, "unchanged", there)
    assert broken_by(kind=UniqueWorld)


def test_a_unique_entry_is_stamped_after_the_stored_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_protocol, "claim_timestamp", lambda revision, stored: revision)
    assert broken_by(kind=UniqueWorld)


def test_each_attempt_renews_its_claim() -> None:
    class Trusting(Claims):
        def take(self, index: Index, entry: Entry, row: bytes, revision: Revision) -> None:
            if self.read(index.table, entry.key, index.column).owner != row:
                super().take(index, entry, row, revision)

    assert broken_by(changed_writer(claims=Trusting), UniqueWorld)


def test_a_writer_that_takes_over_first_moves_the_revision_of_the_owner() -> None:
    class Hasty(Claims):
        def move_owner(self, state: object) -> bool:
            return True

    assert broken_by(changed_writer(claims=Hasty), UniqueWorld)


def test_a_removal_frees_only_what_the_row_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        write_protocol, "may_free", lambda claim, row, old_revision: claim.owner == row
    )
    assert broken_by(kind=UniqueWorld)


def changed_writer(
    writer: Callable[[IndexedTable], Writer] = Writer,
    claims: Callable[[IndexedTable], Claims] = Claims,
) -> MakeTable:
    """Returns an indexed table with another writer, or other claims."""

    class Changed(IndexedTable):
        def _writer(self) -> Writer:
            made = writer(self)
            made.claims = claims(self)
            return made

    return Changed
