"""The upgrade step `buckets`: index tables of earlier formats in their present form.

What earlier formats had in place of the entries that `webtable.pages.indexes` draws:

    format 3, salted keys     a1:20260901_120000_a1:com.example/about   the whole salt in front
    formats 1 and 2           20260901_com.example_about                days, in the indexes by time
    format 1                  no marks of pages with the same body; with salted keys, digest entries
                              with a salt

An index by time with the second, and marks, may have been added since: the settings name them.
"""

from __future__ import annotations

from webtable.index.build_and_verify import add_entries
from webtable.index.indexed_table import Index, IndexedTable
from webtable.pages import columns
from webtable.pages.indexes import BY_TIME, DIGESTS, page_indexes
from webtable.pages.keys import SaltedKeys
from webtable.pages.schema import TABLE
from webtable.pages.storing.table_creation import create_missing, in_parallel, index_table
from webtable.pages.upgrading.step_context import StepRun

__all__ = ["rebuild_indexes"]

_GROUPS, _TIMES = b"a:groups", b"a:times"


def rebuild_indexes(run: StepRun) -> None:
    """Replaces the index tables of an earlier form, and adds the entries of all pages."""
    indexes = _outdated(run)
    if not indexes:
        return
    # Only these: the tables of other indexes may be missing, until their own step creates them.
    rows = IndexedTable(
        run.store, TABLE, indexes, columns=(columns.METADATA_FAMILY,), cells=columns.METADATA
    )
    if run.position is None:
        _replace_tables(run, indexes)
        run.save_position(b"", 0)
    add_entries(
        rows,
        "indexes",
        start=run.position or b"",
        on_batch=lambda last, count: run.save_position(last + b"\0", count),
    )
    in_parallel(run.store, lambda index: rows.set_state(index.name, "ready"), indexes)


def _outdated(run: StepRun) -> list[Index]:
    """Returns the indexes whose tables have an earlier form."""
    keys, values = run.settings.keys, run.values
    exact = values.get(_TIMES, b"").decode().split()
    outdated = {name for name in BY_TIME if name not in exact}
    if _GROUPS not in values:
        outdated.add(DIGESTS)
    return [
        index
        for index in page_indexes(keys, run.settings.suffixes)
        if index.name in outdated or (isinstance(keys, SaltedKeys) and index.name != DIGESTS)
    ]


def _replace_tables(run: StepRun, indexes: list[Index]) -> None:
    """Drops index tables and creates them again, with their present families and splits."""
    store, is_embedded = run.store, run.store.capabilities.atomic_commits
    existing = set(store.tables())
    run.check_alone()
    dropped = [index.table for index in indexes if index.table in existing]
    in_parallel(store, store.drop_table, dropped)
    create_missing(
        store, [index_table(each, "building", is_embedded=is_embedded) for each in indexes]
    )
