"""How records get into their table: straight, or through the index machinery."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from webtable.index.indexed_table import Change, IndexedTable, RowState
from webtable.records.recent_deletes import recent_deletes
from webtable.store.mutation import Delete, Durability, Put
from webtable.store.table import Table

__all__ = ["IndexedWriter", "PlainWriter", "RowWriter"]


class RowWriter(Protocol):
    """Stores and deletes rows of a record table; each row is atomic."""

    def put(self, puts: Sequence[Put], durability: Durability) -> None:
        """Stores records; of several with one row the last counts."""

    def delete(self, rows: Sequence[bytes], durability: Durability) -> None:
        """Deletes records."""


class PlainWriter:
    """Writes to a table without indexes."""

    def __init__(self, table: Table, location: str) -> None:
        self._table = table
        self._deletes = recent_deletes(location, table.name)

    def put(self, puts: Sequence[Put], durability: Durability) -> None:
        """Stores records."""
        # A later put of one key replaces an earlier one as a whole. Side by side in one batch they
        # would have the same time, and what one clears hide what the other stores.
        last = {put.row: put for put in puts}
        self._deletes.wait(last)
        with self._table.batch(size=len(last) + 1, durability=durability) as batch:
            for put in last.values():
                batch.add(put)
        if cleared := [row for row, put in last.items() if put.clears]:
            self._deletes.note(cleared)

    def delete(self, rows: Sequence[bytes], durability: Durability) -> None:
        """Deletes records."""
        with self._table.batch(size=len(rows) + 1, durability=durability) as batch:
            for row in rows:
                batch.add(Delete(row))
        self._deletes.note(rows)


class IndexedWriter:
    """Writes to a table with indexes, which it keeps right."""

    def __init__(self, indexed: IndexedTable) -> None:
        self._indexed = indexed

    def put(self, puts: Sequence[Put], durability: Durability) -> None:
        """Stores records and moves their entries."""
        if len(puts) == 1:
            self._indexed.write(*_change(puts[0]), durability=durability)
        else:
            last = {put.row: put for put in puts}
            changes = (_change(put) for put in last.values())
            self._indexed.write_many(changes, durability=durability)

    def delete(self, rows: Sequence[bytes], durability: Durability) -> None:
        """Deletes records and their entries."""
        self._indexed.write_many(((row, _gone) for row in rows), durability=durability)


def _change(put: Put) -> tuple[bytes, Change]:
    return put.row, Change(put=put.values, delete=put.clears)


def _gone(state: RowState) -> Change | None:
    return Change(delete=tuple(state.facts), facts={}) if state.facts else None
