"""Repairs rows of pages: the captures of a row decide its metadata.

Cells that no capture wrote are removed version by version. Delete markers that were made by hand
mask new cells, so a row is read again after it was written. In an embedded store its markers are
then removed; on a cluster only a major compaction can do that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from webtable.index.indexed_table import Change, RowState
from webtable.pages.checking.foreign_cells import (
    has_markers,
    read_later_cells,
    remove_cells,
    split_cells,
    stray_cells,
)
from webtable.pages.columns import (
    BODY_OF,
    CAPTURES_FAMILY,
    DIGEST,
    FACTS_FAMILY,
    FETCHED,
    HTTP_FAMILY,
    LAST_MODIFIED,
    LINK_COUNT,
    LINKS_OF,
    METADATA_COLUMNS,
    METADATA_FAMILY,
    NEWEST,
    REDIRECT,
    REMOVED,
    SIZE,
    STATUS,
    TYPE,
    URL,
    WAITS,
)
from webtable.pages.page import NewCapture, PageInfo, info_of, metadata_of
from webtable.pages.page_table import PageTable
from webtable.pages.schema import TABLE
from webtable.pages.storing.capture_cells import encode_time
from webtable.pages.storing.content_revision import content_change
from webtable.pages.storing.page_versions import (
    CaptureNote,
    completed,
    counting,
    last_modified,
)
from webtable.pages.storing.row_history import history_of
from webtable.pages.storing.waiting_revisits import encode_waits
from webtable.store.mutation import Put
from webtable.store.scan import ALL_VERSIONS

__all__ = ["HIDDEN", "RowRepair", "decided_columns"]

HIDDEN = (
    f"hidden by delete markers that were made by hand: run `webtable compact {TABLE}`, load the"
    " page again if it is gone then, and repair again"
)

_ROW = (METADATA_FAMILY, CAPTURES_FAMILY, FACTS_FAMILY)
_ROW_AND_BODIES = (*_ROW, BODY_OF)


def decided_columns(notes: Iterable[CaptureNote]) -> dict[bytes, bytes]:
    """Returns the columns of metadata that the captures alone decide."""
    found = list(notes)
    counted = counting(found)
    newest = completed(counted[-1], [n for n in found if n.digest == counted[-1].digest])
    texts = {
        STATUS: str(newest.status),
        LAST_MODIFIED: encode_time(last_modified(counted)),
        FETCHED: encode_time(newest.time),
        SIZE: str(newest.size),
        TYPE: newest.type,
        DIGEST: newest.digest,
        REDIRECT: newest.redirect,
    }
    return {column: text.encode() for column, text in texts.items()}


class RowRepair:
    """Repairs rows, one at a time."""

    def __init__(self, pages: PageTable) -> None:
        self._pages = pages
        self._table = pages.rows.table

    def repair(self, row: bytes, read_again: Callable[[], str | None]) -> str | None:
        """Repairs a row; returns the remaining difference, None where the row is right.

        Args:
            read_again: reads the row again and returns its first difference.
        """
        for _ in range(2):
            self._write(row)
            left = read_again()
            if left is None:
                return None
            if not has_markers(self._table, row):
                return f"damaged: {left}"
            if not self._purge(row):
                return HIDDEN
        return left

    def _write(self, row: bytes) -> None:
        found = self._table.get(row, (*_ROW, HTTP_FAMILY), versions=ALL_VERSIONS)
        if found is None:
            return
        notes, foreign = split_cells(found)
        if not notes and REMOVED in found.values():
            foreign = stray_cells(found)  # of the tombstone of a removed page
        later = read_later_cells(self._table, {row: max(notes)[0]}) if notes else {}
        remove_cells(self._table, row, [*foreign, *later.get(row, [])])
        if notes:
            self._pages.rows.write(row, partial(_repaired, self._pages))

    def _purge(self, row: bytes) -> bool:
        """Removes the markers of a row and the masked cells; False: this store cannot do that."""
        if not self._pages.store.admin.purge_row(TABLE, row):
            return False
        found = self._table.get(row, _ROW)
        if found is not None and not split_cells(found)[0]:
            # The page was deleted by hand: the remaining cells are not a page.
            self._table.delete(row)
            self._pages.store.admin.purge_row(TABLE, row)
        return True


def _repaired(pages: PageTable, state: RowState) -> Change | None:
    """Computes a row from its captures; see `webtable.index.indexed_table.Decide`."""
    found = pages.rows.table.get(state.row, _ROW_AND_BODIES, versions=ALL_VERSIONS)
    notes = {} if found is None else split_cells(found)[0]
    if not notes:
        return None
    waits = encode_waits(filter(None, history_of(found).lacking))
    derived = {} if waits == state.facts.get(WAITS, b"") else {WAITS: waits}
    metadata = decided_columns(notes.values())
    newest = counting(notes.values())[-1]
    if any(column not in state.facts for column in METADATA_COLUMNS):
        metadata = {**_lost(pages, state, newest), **metadata}
    # The stored value may be wrong too; without it, the next capture is stored by all rules.
    metadata[NEWEST] = b""
    put = Put(state.row, metadata, timestamp=newest.time * 1000)
    facts = {**state.facts, **metadata, **derived}
    changed = content_change(state.facts, facts)
    return Change(put=derived, more=[put], facts=facts, renew=True, of_revision=changed)


def _lost(pages: PageTable, state: RowState, newest: CaptureNote) -> dict[bytes, bytes]:
    """Returns the missing columns, as far as the body has their values."""
    facts = state.facts
    url = facts.get(URL, b"").decode("utf-8", "replace")
    info = info_of(facts)
    if url:
        content = pages.content(url)
        if content is not None and content.body is not None:
            info = pages.parse(url, content.body, newest.type)
        else:
            info = info._replace(link_count=_link_count(pages, state.row, newest))
    made = metadata_of(NewCapture(url, newest, None, None), info, newest.time)
    return {
        column: value
        for column, value in made.items()
        if column not in facts and (value or column != URL)
    }


def _link_count(pages: PageTable, row: bytes, newest: CaptureNote) -> int:
    found = pages.rows.table.get(row, (LINKS_OF, LINK_COUNT))
    values = {} if found is None else found.values()
    is_stored = values.get(LINKS_OF) == newest.digest.encode()
    return int(values.get(LINK_COUNT) or 0) if is_stored else PageInfo().link_count
