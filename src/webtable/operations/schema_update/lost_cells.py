"""Counts the cells that an alteration would drop: those that reads return now and not afterwards.

The count is exact for the moment at which each row is read. It scans the families that change,
without values, so it takes as long as reading their keys. What a delete marker hides is not
counted, also where a change of KEEP_DELETED_CELLS lets it disappear.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from webtable.store.cells_and_rows import RawCell
from webtable.store.filtering.filters import KeyOnlyFilter
from webtable.store.scan import ALL_VERSIONS, Scan
from webtable.store.schema import Family, TableSchema
from webtable.store.store import Store

__all__ = ["count_lost_cells"]

PROGRESS_ROWS = 1_000


def count_lost_cells(
    store: Store,
    before: TableSchema,
    after: TableSchema,
    on_progress: Callable[[int], None] | None = None,
) -> int:
    """Returns the number of cells of a table that reads return now and would not afterwards.

    Args:
        on_progress: is called now and then with the number of rows read.
    """
    rules = {
        family.name.encode(): family
        for family in after.families
        if (old := before.family(family.name)) is not None and _is_stricter(old, family)
    }
    if not rules:
        return 0
    now_ms = int(time.time() * 1000)
    scan = Scan(columns=tuple(rules), versions=ALL_VERSIONS, filter=KeyOnlyFilter(), ordered=False)
    lost = 0
    for number, row in enumerate(store.table(before.name).scan(scan), 1):
        lost += _lost_of_row(row.raw_cells, rules, now_ms)
        if on_progress is not None and number % PROGRESS_ROWS == 0:
            on_progress(number)
    return lost


def _is_stricter(old: Family, new: Family) -> bool:
    return new.versions < old.versions or (
        new.ttl_seconds is not None
        and (old.ttl_seconds, old.min_versions) != (new.ttl_seconds, new.min_versions)
    )


def _lost_of_row(cells: Sequence[RawCell], rules: dict[bytes, Family], now_ms: int) -> int:
    lost, position, column = 0, 0, b""
    for cell_column, timestamp, _, _ in cells:  # the newest version of a column comes first
        position = position + 1 if cell_column == column else 0
        column = cell_column
        family = rules[column.partition(b":")[0]]
        is_expired = (
            family.ttl_seconds is not None and timestamp < now_ms - family.ttl_seconds * 1000
        )
        if position >= family.versions or (is_expired and position >= family.min_versions):
            lost += 1
    return lost
