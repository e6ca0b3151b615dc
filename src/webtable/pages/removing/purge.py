"""Purges tombstones: after that the store has nothing more of a removed page but its hashes.

A tombstone may go when no writer can come late any more, which on a cluster is two windows of the
change feed after the removal, and when every named consumer of the feeds has passed it. The mark
`a:purged` in the settings is written first: a reader whose cursor is below it has missed removals.
Its timestamp is the revision in it, so a lower mark never replaces a higher one.
"""

from __future__ import annotations

from functools import partial

import msgspec

from webtable.index.cell_encoding import encode_revision
from webtable.index.indexed_table import Change, RowState
from webtable.index.row_writer import Writer
from webtable.pages.asking.change_feed import WINDOW_MS, Position
from webtable.pages.columns import CHANGED, REMOVED, URL
from webtable.pages.hooks import PageHook
from webtable.pages.page_table import PageTable
from webtable.pages.removing.row_removal import is_tombstone, raw_row
from webtable.pages.removing.tombstones import Tombstone, Tombstones
from webtable.pages.schema import TABLE
from webtable.pages.settings import PURGED
from webtable.pages.storing.content_revision import decode_changed
from webtable.result_base import Value
from webtable.store.cells_and_rows import CellType
from webtable.store.mutation import Check, Delete, Put
from webtable.store.store import Store

__all__ = ["PurgeReport", "Purger", "is_passed", "write_mark"]

_WAIT_MS = 2 * WINDOW_MS


class PurgeReport(Value, msgspec.Struct):
    """What a purge did.

    Attributes:
        purged: how many tombstones went.
        young: how many stay, since a writer may still come late.
        unread: how many stay, since a named consumer has not read the removal.
        unfinished: how many stay, since the links of their pages are not removed yet.
    """

    purged: int = 0
    young: int = 0
    unread: int = 0
    unfinished: int = 0


class Purger:
    """Purges the tombstones of a store.

    Args:
        hook: that of the store; None: it has no link index.
        passed: the place up to which every named consumer of the feed of pages has read;
            None: it has no consumers.
        links_passed: the same of the feed of the links.
    """

    def __init__(
        self,
        pages: PageTable,
        hook: PageHook | None,
        passed: Position | None = None,
        links_passed: Position | None = None,
    ) -> None:
        self._pages = pages
        self._rows = pages.rows
        self._hook = hook
        self._passed = passed
        self._links_passed = links_passed
        self._is_atomic = pages.store.capabilities.atomic_commits
        self._tombstones = Tombstones(pages.store)

    def purge(self, limit: int | None = None) -> PurgeReport:
        """Purges what may go; checks so many tombstones at most."""
        report = PurgeReport()
        for tombstone in self._tombstones.scan(limit=limit):
            what = self._purge(tombstone)
            setattr(report, what, getattr(report, what) + 1)
        return report

    def _purge(self, tombstone: Tombstone) -> str:
        if self._is_young(tombstone.began_ms):
            return "young"
        state = self._rows.read_state(tombstone.row)
        if URL in state.facts:
            # The page is stored again, or its removal was killed before it had begun.
            self._tombstones.forget(tombstone)
            return "purged"
        if is_tombstone(state.facts):
            revision = decode_changed(state.facts[CHANGED]).number
            if self._is_young(revision):
                return "young"
            if not is_passed(Position(revision, tombstone.row), self._passed):
                return "unread"
            if self._hook is not None:
                links = sorted(tombstone.links)
                left = self._hook.purge(tombstone.url, links, self._links_passed)
                if left is not None:
                    return left
            write_mark(self._pages.store, PURGED, revision)
            self._rows.write(tombstone.row, partial(_without_tombstone, revision))
        if not self._purge_row(tombstone.row):
            return "unfinished"
        self._tombstones.forget(tombstone)
        return "purged"

    def _is_young(self, since_ms: int) -> bool:
        return not self._is_atomic and self._rows.clock.now_ms() - since_ms <= _WAIT_MS

    def _purge_row(self, row: bytes) -> bool:
        """Deletes every cell of a row that has no facts; False: it was written meanwhile."""
        rows = self._rows
        state = rows.read_state(row)
        if state.facts or state.cell is None:
            return not state.facts
        if state.pending:
            Writer(rows).finish([state], clears=True)
        found = raw_row(rows.table, row)
        delete = Delete(row)
        for column, timestamp, _, kind in () if found is None else found.raw_cells:
            if kind == CellType.PUT:
                delete.version(column, timestamp)
        cell = encode_revision(state.revision)
        check = Check.equal(rows.revision_column, cell, unique=True)
        if delete.markers and not rows.table.check_and_mutate(row, check, delete):
            return False
        if self._is_atomic:
            self._pages.store.admin.purge_row(TABLE, row)
        return True


def _without_tombstone(revision: int, state: RowState) -> Change | None:
    """Takes the tombstone of a revision away; see `webtable.index.indexed_table.Decide`."""
    if not is_tombstone(state.facts) or decode_changed(state.facts[CHANGED]).number != revision:
        return None
    return Change(delete=(CHANGED, REMOVED), facts={})


def is_passed(place: Position, passed: Position | None) -> bool:
    """Whether every named consumer has read a place; `passed` is None without consumers."""
    return passed is None or place <= passed


def write_mark(store: Store, mark: tuple[str, bytes, bytes], revision: int) -> None:
    """Writes the mark of purged tombstones; a higher one stays."""
    table, row, column = mark
    put = Put(row, {column: b"%d" % revision}, timestamp=revision)
    store.table(table).mutate(row, [put], durability="sync")
