"""`Batch`: puts and deletes on their way to a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, SupportsIndex

from webtable.happybase.conversions import Text, as_bytes, as_integer
from webtable.happybase.errors import translated
from webtable.store.mutation import Delete, Durability, Mutation, Put

if TYPE_CHECKING:
    from webtable.happybase.table import Table

__all__ = ["Batch"]


class _Change:
    """What a batch does to one row."""

    __slots__ = ("columns", "delete_wal", "is_whole", "put_wal", "values")

    def __init__(self) -> None:
        self.values: dict[bytes, bytes] = {}
        self.columns: list[bytes] = []
        self.is_whole = False
        self.put_wal = self.delete_wal = True

    def put(self, row: bytes, timestamp: int | None) -> Put | None:
        return Put(row, self.values, timestamp=timestamp) if self.values else None

    def delete(self, row: bytes, timestamp: int | None) -> Delete | None:
        if not self.is_whole and not self.columns:
            return None
        delete = Delete(row, timestamp=timestamp)
        for column in () if self.is_whole else self.columns:
            (delete.column if b":" in column else delete.family)(column)
        return delete


class Batch:
    """Collects puts and deletes until `send`, until it is full, or to the end of a `with` block.

    Make it with `Table.batch`. As in happybase all puts of a batch are made before its deletes: a
    row that is deleted and then put in one batch ends up deleted. What could not be sent stays in
    the batch. Each row is atomic, the batch is not.

    Args:
        timestamp: the time of all puts and deletes; that of the server when left out.
        batch_size: the number of columns to put or delete at which the batch is sent.
        transaction: send nothing when the `with` block is left by an exception. Without it, what
            was collected until then is sent all the same.
        wal: whether the changes must survive the death of a server.
    """

    def __init__(
        self,
        table: Table,
        timestamp: SupportsIndex | None = None,
        batch_size: int | None = None,
        transaction: bool = False,
        wal: bool = True,
    ) -> None:
        if timestamp is not None:
            timestamp = as_integer(timestamp, "'timestamp' must be an integer or None")
        if batch_size is not None:
            if transaction:
                raise TypeError("'transaction' cannot be used when 'batch_size' is specified")
            if not batch_size > 0:
                raise ValueError("'batch_size' must be > 0")
        self._table = table
        self._timestamp = timestamp
        self._batch_size = batch_size
        self._transaction = transaction
        self._wal = wal
        self._families: list[bytes] | None = None
        self._reset_mutations()

    def _reset_mutations(self) -> None:
        """Forgets what was added and not sent; programs call it after a failure."""
        self._changes: dict[bytes, _Change] = {}
        self._mutation_count = 0

    def put(self, row: Text, data: Mapping[Text, Text | None], wal: bool | None = None) -> None:
        """Adds a put; see `Table.put`. `wal` overrides the batch's."""
        # None was "no value" on the wire, and the gateway made it an empty one.
        values = {
            as_bytes(column): b"" if value is None else as_bytes(value)
            for column, value in data.items()
        }
        change = self._change(row)
        change.values.update(values)
        change.put_wal = self._wal if wal is None else wal
        self._added(len(data))

    def delete(
        self, row: Text, columns: Iterable[Text] | None = None, wal: bool | None = None
    ) -> None:
        """Adds a delete; see `Table.delete`. `wal` overrides the batch's.

        The first delete of a whole row reads the table's families, and so raises for a table that
        does not exist. A whole row counts as so many columns.
        """
        if columns is None and self._families is None:
            self._families = self._table._column_family_names()
        self._delete(row, columns, wal)

    def _delete(self, row: Text, columns: Iterable[Text] | None, wal: bool | None = None) -> None:
        if isinstance(columns, (str, bytes)):
            raise TypeError("'columns' must be a list of columns")
        named = None if columns is None else [as_bytes(column) for column in columns]
        change = self._change(row)
        change.delete_wal = self._wal if wal is None else wal
        if named is None:
            change.is_whole = True
            self._added(len(self._families or ()))
        else:
            change.columns += named
            self._added(len(named))

    def send(self) -> None:
        """Sends what was added so far.

        Raises:
            IOError: some of it failed; the rest was stored, and all of it stays in the batch.
        """
        with translated():
            self._send(
                (change.put(row, self._timestamp), change.put_wal)
                for row, change in self._changes.items()
            )
            self._send(
                (change.delete(row, self._timestamp), change.delete_wal)
                for row, change in self._changes.items()
            )
        self._reset_mutations()

    def _send(self, mutations: Iterable[tuple[Mutation | None, bool]]) -> None:
        chosen: dict[Durability, list[Mutation]] = {"wal": [], "none": []}
        for mutation, wal in mutations:
            if mutation is not None:
                chosen["wal" if wal else "none"].append(mutation)
        for durability, together in chosen.items():
            if together:
                with self._table._table.batch(
                    size=len(together) + 1, durability=durability
                ) as batch:
                    for mutation in together:
                        batch.add(mutation)

    def _change(self, row: Text) -> _Change:
        return self._changes.setdefault(as_bytes(row), _Change())

    def _added(self, count: int) -> None:
        self._mutation_count += count
        if self._batch_size and self._mutation_count >= self._batch_size:
            self.send()

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if not (self._transaction and kind is not None):
            self.send()
