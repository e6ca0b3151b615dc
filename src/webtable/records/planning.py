"""The hottest code of indexed writes: rows that are put whole, in one atomic commit.

What `Plan` says for any write, for the write that is made most often: values are put, nothing is
deleted, no index is unique, and what was read has nothing pending. Made into machine code where
that can be, by Cython from this very file and the C types in `_planning.pxd`; import it from
`index_writer`. Both forms do the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtable.records import index_rules as rules
from webtable.records.index_cells import REVISION_BYTES, decode_revision
from webtable.records.index_model import Change
from webtable.store.checks import MAX_ROW_BYTES
from webtable.store.model import MAX_TIMESTAMP, CellType, Row
from webtable.store.mutation import Delete, Marker, Mutation, Put

__all__ = ["COMPILED", "is_plain", "plan_puts"]

COMPILED = not __file__.endswith((".py", ".pyc"))
"""Whether this is machine code."""

_new_put = Put.__new__
_new_delete = Delete.__new__
_new_tuple = tuple.__new__
_DELETE_COLUMN = CellType.DELETE_COLUMN


def is_plain(items: Sequence[tuple[bytes, object]]) -> bool:
    """Whether these are changes of different rows that put values and do nothing else."""
    rows = set()
    for row, change in items:
        if (
            type(change) is not Change
            or type(row) is not bytes
            or not 0 < len(row) <= MAX_ROW_BYTES
            or change.delete
            or change.more
            or change.facts is not None
            or change.renew
            or not change.put
        ):
            return False
        rows.add(row)
    return len(rows) == len(items)


def plan_puts(
    home: Any, items: Sequence[tuple[bytes, Any]], found: Sequence[Row | None], now_ms: int
) -> tuple[list[Any], list[tuple[str, Mutation]]] | None:
    """Returns the new revisions of rows and what is to be written; None: let `Plan` say it.

    Args:
        home: the table, an `IndexHome` whose indexes are ready, and neither unique nor grouped.
        items: the rows and their changes, which are plain.
        found: the rows as they were read, in the same order.
        now_ms: the time of the revisions.
    """
    name, indexes = home.name, list(home.indexes.values())
    revision_column, pending_column = home.revision_column, home.pending_column
    new_revision, new_token = rules.new_revision, home.new_token
    from_bytes = int.from_bytes
    revisions: list[Any] = []
    writes: list[tuple[str, Mutation]] = []
    for position in range(len(items)):
        row, change = items[position]
        stored = found[position]
        old: dict[bytes, bytes] = {}
        old_number = 0
        if stored is not None:
            for column, _, value, _ in stored.raw_cells:
                if column not in old:
                    old[column] = value
            if old.pop(pending_column, None):
                return None
            cell = old.pop(revision_column, None)
            if cell is not None:
                # As `decode_revision` does it, which says what is wrong where something is.
                whole = len(cell) == REVISION_BYTES
                old_number = from_bytes(cell[:8], "big") if whole else decode_revision(cell).number
        number = new_revision(now_ms, old_number)
        if number >= MAX_TIMESTAMP:
            return None
        new = old.copy()
        new.update(change.put)
        for index in indexes:
            if not index.is_same(old, new):
                _move(writes, index, row, (old, new), (old_number, number))
        values = dict(change.put)
        values[revision_column] = number.to_bytes(8, "big") + new_token()
        writes.append((name, _put(row, values, number)))
        revisions.append(number)
    return revisions, writes


def _move(
    writes: list[tuple[str, Mutation]],
    index: Any,
    row: bytes,
    facts: tuple[dict[bytes, bytes], dict[bytes, bytes]],
    numbers: tuple[int, int],
) -> None:
    """Puts the entries of an index that come with new facts, and deletes those that go."""
    before = index.entries(row, facts[0])
    after = index.entries(row, facts[1])
    table = index.table
    for entry in after:
        if entry not in before:
            index.check_entry(entry, row)
            key, cover = entry
            writes.append((table, _put(key, {index.column + cover: row}, numbers[1])))
    for entry in before:
        if entry not in after:
            # At the revision that the row had before, see `index_plan.markers`.
            key, cover = entry
            delete = _new_delete(Delete)
            delete.row, delete.timestamp = key, numbers[0]
            marker = (_DELETE_COLUMN, index.column + cover, numbers[0])
            delete.markers = [_new_tuple(Marker, marker)]
            writes.append((table, delete))


def _put(row: bytes, values: dict[bytes, bytes], timestamp: int) -> Put:
    if type(row) is not bytes or not 0 < len(row) <= MAX_ROW_BYTES:
        return Put(row, values, timestamp=timestamp)  # which says what is wrong
    # Without the call of __init__, whose checks are made.
    put = _new_put(Put)
    put.row, put.values, put.timestamp = row, values, timestamp
    put.ttl_ms, put.clears = None, ()
    return put
