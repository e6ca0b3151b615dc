"""The upgrade step `feed`: the change feed of the pages of an earlier format.

Every page gets a content revision, in the order of the row keys, and the store an incarnation.
"""

from __future__ import annotations

import itertools

from webtable.index.indexed_table import Change, IndexedTable, RowState
from webtable.pages import columns
from webtable.pages.indexes import CHANGES, page_indexes
from webtable.pages.schema import TABLE
from webtable.pages.settings import HIGHEST_REVISION, INCARNATION, new_incarnation
from webtable.pages.storing.content_revision import content_change
from webtable.pages.storing.table_creation import create_missing, index_table
from webtable.pages.upgrading.step_context import StepRun
from webtable.store.scan import Scan

__all__ = ["add_feed"]

_BATCH = 500


def add_feed(run: StepRun) -> None:
    """Creates the index of changes, and gives every page without one a content revision."""
    store, settings = run.store, run.settings
    if INCARNATION not in run.values:
        run.change_settings({INCARNATION: new_incarnation()})
    indexes = [
        each for each in page_indexes(settings.keys, settings.suffixes) if each.name == CHANGES
    ]
    is_embedded = store.capabilities.atomic_commits
    create_missing(
        store, [index_table(each, "building", is_embedded=is_embedded) for each in indexes]
    )
    rows = IndexedTable(
        store,
        TABLE,
        indexes,
        columns=(columns.METADATA_FAMILY,),
        cells=columns.METADATA,
        highest=HIGHEST_REVISION,
    )
    scan = Scan(start=run.position or b"", columns=(columns.URL,))
    found, pages = (row.key for row in rows.table.scan(scan)), 0
    while some := list(itertools.islice(found, _BATCH)):
        rows.write_many((row, _changed) for row in some)
        pages += len(some)
        run.save_position(some[-1] + b"\0", pages)
    rows.set_state(CHANGES, "ready")


def _changed(state: RowState) -> Change | None:
    """Gives a row its first content revision; see `webtable.index.indexed_table.Decide`."""
    if columns.URL not in state.facts or columns.CHANGED in state.facts:
        return None
    return Change(of_revision=content_change(state.facts, state.facts))
