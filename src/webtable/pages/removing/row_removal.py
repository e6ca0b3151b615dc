"""Turns the row of a page into a tombstone: every cell goes, and the hash of the row key stays.

The cells of a capture have the time of that capture as their timestamps. A delete marker masks
every cell at or below its timestamp, also one that is put later, until a major compaction. So each
version is deleted by a marker for exactly this version: captures of other seconds can be stored at
once. A capture of a second that was removed cannot, until the markers are gone: `masked_seconds`
finds these seconds, so that no capture is lost without a word.

What stays in the row of a removed page:

    metadata:rev, metadata:pending   the cells of the index machinery
    metadata:changed                 its revision, and the kind `removed`
    metadata:removed                 SHA-256 of the row key, 64 hex digits

When the page is captured again, `metadata:removed` stays, as a sign that the row may have such
markers: a row with it is a tombstone only if it has no URL.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from webtable.errors import CorruptData
from webtable.index.index_and_change import Change, RowState
from webtable.pages.columns import (
    CHANGED,
    INLINK_COUNT,
    INLINKS,
    INLINKS_AT,
    LINKS,
    PENDING,
    REMOVED,
    REVISION,
    URL,
    WAITS,
)
from webtable.pages.page import NewCapture, Outcome
from webtable.pages.removing.targets import row_hash
from webtable.pages.removing.tombstones import link_targets
from webtable.pages.storing.content_revision import ContentRevision, encode_changed
from webtable.pages.storing.page_versions import CaptureNote
from webtable.pages.storing.row_history import read_history
from webtable.store.cells_and_rows import CellType, Row
from webtable.store.mutation import Delete
from webtable.store.scan import ALL_VERSIONS, Scan
from webtable.store.table import Table

__all__ = [
    "RemovedPage",
    "RowRemoval",
    "is_tombstone",
    "links_of_row",
    "masked_seconds",
    "raw_row",
    "stored_page",
    "unmasked",
]

_KEPT = frozenset({REVISION, PENDING})
# These have a revision as timestamp, not the time of a capture.
_DERIVED = _KEPT | {CHANGED, REMOVED, WAITS, INLINKS, INLINKS_AT, INLINK_COUNT}
_KEYS_ONLY = "KeyOnlyFilter()"


class RemovedPage(NamedTuple):
    """A page that was removed, and what its row had.

    Attributes:
        captures: how many captures.
        bytes: the sizes of its distinct bodies together.
        links: the URLs of all pages that it linked to, in any stored version.
    """

    row: bytes
    url: str
    captures: int
    bytes: int
    links: frozenset[str]


def is_tombstone(facts: Mapping[bytes, bytes]) -> bool:
    """Whether a row, of which the metadata was read, is that of a removed page."""
    return REMOVED in facts and URL not in facts


def raw_row(table: Table, row: bytes) -> Row | None:
    """Reads the keys of all stored cells of a row: every version, and the delete markers."""
    scan = Scan(
        start=row, stop=row + b"\0", versions=ALL_VERSIONS, raw=True, filter=_KEYS_ONLY, limit=1
    )
    return next(iter(table.scan(scan)), None)


def masked_seconds(table: Table, row: bytes) -> frozenset[int]:
    """Returns the seconds of removed captures whose delete markers still mask new cells."""
    found = raw_row(table, row)
    cells = () if found is None else found.raw_cells
    return frozenset(
        timestamp // 1000
        for column, timestamp, _, kind in cells
        if kind == CellType.DELETE and column not in _DERIVED and not timestamp % 1000
    )


def unmasked(
    table: Table, row: bytes, captures: Sequence[NewCapture]
) -> tuple[list[NewCapture], dict[tuple[int, str], Outcome]]:
    """Returns the captures that no removal masks, and the outcomes of the others."""
    masked = masked_seconds(table, row)
    left = [each for each in captures if each.note.time not in masked]
    hidden: dict[tuple[int, str], Outcome] = {
        each.key: "hidden" for each in captures if each.note.time in masked
    }
    return left, hidden


def links_of_row(table: Table, row: bytes) -> set[str]:
    """Returns the URLs of all pages that the stored versions of a page link to."""
    found = table.get(row, (LINKS,), versions=ALL_VERSIONS)
    return set() if found is None else link_targets(cell[2] for cell in found.raw_cells)


def stored_page(table: Table, row: bytes, url: str) -> RemovedPage:
    """Returns what the row of a page has, without changing it."""
    notes: Collection[CaptureNote] = ()
    with contextlib.suppress(CorruptData):  # of a damaged page nothing is counted
        notes = read_history(table, row).notes.values()
    sizes = {note.digest: note.size for note in notes if note.has_size}
    links = frozenset(links_of_row(table, row))
    return RemovedPage(row, url, len(notes), sum(sizes.values()), links)


class RowRemoval:
    """Removes the page of one row; called at every attempt with the row as it was read.

    After the last attempt, `removed` has the page, None where the row had none. `guard` is called
    before every attempt, and `record` with the page that the attempt removes.
    """

    def __init__(self, table: Table, row: bytes) -> None:
        self.guard: Callable[[], None] | None = None
        self.record: Callable[[RemovedPage], None] | None = None
        self.removed: RemovedPage | None = None
        self.row = row
        self._table = table

    def __call__(self, state: RowState) -> Change | None:
        """Computes the change of the row; see `webtable.index.indexed_table.Decide`."""
        if self.guard is not None:
            self.guard()
        self.removed = None
        if not state.facts or is_tombstone(state.facts):
            return None
        found = raw_row(self._table, self.row)
        if found is None:
            return None
        delete = Delete(self.row)
        puts = {
            (column, timestamp)
            for column, timestamp, _, kind in found.raw_cells
            if kind == CellType.PUT and column not in _KEPT
        }
        for column, timestamp in sorted(puts):
            delete.version(column, timestamp)
        url = state.facts.get(URL, b"").decode("utf-8", "replace")
        self.removed = stored_page(self._table, self.row, url)
        if self.record is not None:
            self.record(self.removed)
        mark = {REMOVED: row_hash(self.row).encode()}
        return Change(
            put=mark, more=[delete] if delete.markers else [], facts=mark, of_revision=_changed
        )


def _changed(number: int) -> dict[bytes, bytes]:
    return {CHANGED: encode_changed(ContentRevision(number, "removed"))}
