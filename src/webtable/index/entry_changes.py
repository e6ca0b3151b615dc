"""The hottest code of indexed writes: which entries come and go, and rows that are put whole.

`moved_entries` is the rule of which entries a write puts and removes; every way of writing calls
it: `plan_puts` here, `RowAttempt` and `PartialRowWriter`. `plan_puts` does what `RowAttempt` does
for any write, for the most frequent one: values are put, nothing is deleted, no index is unique,
and the rows that were read have nothing pending. tests/index/test_entry_changes.py compares the two
over random input.

Cython compiles this file, with the C types in `_entry_changes.pxd`; `compiled.load` imports it.
Both forms do the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtable.index import write_protocol
from webtable.index.cell_encoding import REVISION_BYTES, decode_revision
from webtable.index.index_and_change import Change
from webtable.store.argument_checks import MAX_ROW_BYTES
from webtable.store.cells_and_rows import MAX_TIMESTAMP, CellType, Row
from webtable.store.mutation import Delete, Marker, Mutation, Put

__all__ = ["COMPILED", "entry_puts", "is_plain", "moved_entries", "plan_puts"]

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
            or change.of_revision is not None
            or not change.put
        ):
            return False
        rows.add(row)
    return len(rows) == len(items)


def plan_puts(
    home: Any, items: Sequence[tuple[bytes, Any]], found: Sequence[Row | None], now_ms: int
) -> tuple[list[Any], list[tuple[str, Mutation]]] | None:
    """Returns the new revisions of rows and the mutations; None: `RowAttempt` must do it.

    Args:
        home: the table, an `IndexHome` whose indexes are ready, and neither unique nor grouped.
        items: the rows and their changes, which are plain.
        found: the rows as they were read, in the same order.
        now_ms: the time of the revisions.
    """
    name, indexes = home.name, list(home.indexes.values())
    revision_column, pending_column = home.revision_column, home.pending_column
    new_revision, new_token = write_protocol.new_revision, home.new_token
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
                # The same as `decode_revision`, which raises the error where the cell is damaged.
                whole = len(cell) == REVISION_BYTES
                old_number = from_bytes(cell[:8], "big") if whole else decode_revision(cell).number
        number = new_revision(now_ms, old_number)
        if number >= MAX_TIMESTAMP:
            return None
        new = old.copy()
        new.update(change.put)
        for index in indexes:
            moved = moved_entries(index, row, old, new, False)
            if moved is not None:
                _move(writes, index, row, moved, (old_number, number))
        values = dict(change.put)
        values[revision_column] = number.to_bytes(8, "big") + new_token()
        writes.append((name, _put(row, values, number)))
        revisions.append(number)
    return revisions, writes


def moved_entries(
    index: Any, row: bytes, old: Any, new: Any, puts_all: bool
) -> tuple[list[Any], list[Any]] | None:
    """Returns the entries of an index that a write of a row puts, and those that it removes.

    Args:
        index: an `Index`.
        row: the key of the row.
        old: its facts before the write, and `new` those after it.
        puts_all: whether to put all entries of the new facts, not only those that the old facts
            did not have: the index may lack entries of the row.

    Returns None where the write moves nothing.

    Raises:
        InvalidRequest: an entry that is to be put cannot be stored.
    """
    # A row without facts has no entries: the usual case of a new row, which needs no calls.
    if old and not puts_all and index.is_same(old, new):
        return None
    before = index.entries(row, old) if old else {}
    after = index.entries(row, new)
    is_strict = index.is_unique or index.is_grouped
    prefix = index.prefix
    put = []
    for entry in after:
        if puts_all or entry not in before:
            key = entry[0]
            if is_strict or not key or not key.startswith(prefix):
                index.check_entry(entry, row)  # which raises the error
            put.append(entry)
    removed = [entry for entry in before if entry not in after]
    return (put, removed) if put or removed else None


def entry_puts(index: Any, row: bytes, entries: list[Any], number: int) -> list[tuple[str, Put]]:
    """Returns the puts of entries that lead to a row, each with the table it belongs to."""
    table, column = index.table, index.column
    return [(table, _put(key, {column + cover: row}, number)) for key, cover in entries]


def _move(
    writes: list[tuple[str, Mutation]],
    index: Any,
    row: bytes,
    moved: tuple[list[Any], list[Any]],
    numbers: tuple[int, int],
) -> None:
    """Puts entries of an index, and deletes others."""
    table = index.table
    writes.extend(entry_puts(index, row, moved[0], numbers[1]))
    for key, cover in moved[1]:
        # At the revision that the row had before, see `row_write_attempt.markers`.
        delete = _new_delete(Delete)
        delete.row, delete.timestamp = key, numbers[0]
        marker = (_DELETE_COLUMN, index.column + cover, numbers[0])
        delete.markers = [_new_tuple(Marker, marker)]
        writes.append((table, delete))


def _put(row: bytes, values: dict[bytes, bytes], timestamp: int) -> Put:
    if type(row) is not bytes or not 0 < len(row) <= MAX_ROW_BYTES:
        return Put(row, values, timestamp=timestamp)  # which raises the error
    # Without the call of __init__, because its checks are done already.
    put = _new_put(Put)
    put.row, put.values, put.timestamp = row, values, timestamp
    put.ttl_ms, put.clears = None, ()
    return put
