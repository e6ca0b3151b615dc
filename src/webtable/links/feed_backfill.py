"""The upgrade step `link-feed`: the feed of the links of an earlier format.

Every row with the links of a page gets a revision of these links, in the order of the rows.
"""

from __future__ import annotations

import itertools

from webtable.index.indexed_table import Change, IndexedTable, RowState
from webtable.links import schema
from webtable.links.link_index import LINK_SETTINGS, change_index
from webtable.links.updating.link_changes import links_changed
from webtable.pages.schema import SETTINGS_TABLE
from webtable.pages.settings import HIGHEST_LINK_REVISION, INCARNATION, new_incarnation
from webtable.pages.storing.table_creation import create_missing, index_table
from webtable.pages.upgrading.step_context import StepRun
from webtable.store.scan import Scan

__all__ = ["LINK_STEPS", "add_link_feed"]

_BATCH = 500


def add_link_feed(run: StepRun) -> None:
    """Creates the index of changes of links, and adds the rows without an entry.

    A store without a link index stays as it is: the index is created with its feed.
    """
    store = run.store
    settings = store.table(SETTINGS_TABLE)
    found = settings.get(LINK_SETTINGS)
    if found is None or schema.INDEX_TABLE not in store.tables():
        return
    if INCARNATION not in found.values():
        run.check_alone()
        settings.put(LINK_SETTINGS, {INCARNATION: new_incarnation()}, durability="sync")
    is_embedded = store.capabilities.atomic_commits
    index = change_index(has_buckets=int(found.values()[b"a:shards"]) > 1)
    create_missing(store, [index_table(index, "building", is_embedded=is_embedded)])
    rows = IndexedTable(
        store,
        schema.INDEX_TABLE,
        [index],
        columns=(schema.AT, schema.CHANGED),
        cells=b"page:",
        prefix=b"p:",
        highest=HIGHEST_LINK_REVISION,
    )
    # Only rows of pages have this column, not those of their shards.
    scan = Scan(prefix=b"p:", start=run.position or b"", columns=(schema.AT,))
    keys, pages = (row.key for row in rows.table.scan(scan)), 0
    while some := list(itertools.islice(keys, _BATCH)):
        rows.write_many((row, _changed) for row in some)
        pages += len(some)
        run.save_position(some[-1] + b"\0", pages)
    rows.set_state(schema.CHANGES, "ready")


def _changed(state: RowState) -> Change | None:
    """Gives a row the first revision of its links; see `webtable.index.indexed_table.Decide`."""
    if schema.AT not in state.facts or schema.CHANGED in state.facts:
        return None
    # The links were there before: not new, as in the feed of the pages.
    return Change(of_revision=links_changed({schema.CHANGED: b""}))


LINK_STEPS = {"link-feed": add_link_feed}
"""How the upgrade steps of the link index run; see `webtable.pages.upgrading.upgrade`."""
