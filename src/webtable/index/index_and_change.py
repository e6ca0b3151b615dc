"""What an index is and what a write is: declarations, entries, facts, changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from webtable.errors import InvalidRequest
from webtable.index.cell_encoding import Revision
from webtable.store.cells_and_rows import Row
from webtable.store.mutation import Mutation
from webtable.store.schema import Family, TableSchema

__all__ = [
    "MARK",
    "Change",
    "Decide",
    "Entry",
    "Facts",
    "Hit",
    "Index",
    "IndexState",
    "RowState",
    "state_setting",
]

Facts: TypeAlias = Mapping[bytes, bytes]
"""column → newest value, without the machinery's own two cells; empty: there is no row."""

IndexState: TypeAlias = Literal["building", "ready"]

PURGE_SETTING = "hbase.hstore.time.to.purge.deletes"
PURGE_MS = 3_600_000  # index tables keep their delete markers for an hour
MARKS_FAMILY = "shared"
MARK = b"shared:"
"""The column of a mark, in the row of a group; see `webtable.index.shared_value_marks`."""


class Entry(NamedTuple):
    """One entry of an index: its row key in the index's table, and what it covers.

    A key of a plain index must be of one row only: end it in the row's key. What an entry covers
    can be tested before the row is read; a unique entry covers nothing.
    """

    key: bytes
    cover: bytes = b""


class Index:
    """One declaration of an index.

    Args:
        name: the index's name, and its table's unless `table` is given.
        entries: (row key, facts) → the entries of a row; pure, and quick: it runs for every write
            and every hit. Never called with empty facts: a row without facts has no entries.
        columns: the columns that `entries` depends on, if they are few: it must depend on nothing
            else, and give nothing for a row that has none of them. Writes then read only these.
        unique: whether a key belongs to one row at most; a write that breaks it is `NotUnique`.
        table: the table that holds the entries; it may be the indexed one.
        prefix: what the keys of all its entries begin with, where a table holds other rows too.
        family: the family of the entries.
        grouped: whether it is marked which entries several rows share, but for the row's key at the
            end of the entry's: every key must end so. For queries about shared entries only.
        layout: the schema that its table is made with, instead of a plain one.
        splits: the keys at which its table is split when it is made.
    """

    __slots__ = (
        "_entries",
        "_layout",
        "column",
        "columns",
        "family",
        "is_grouped",
        "is_unique",
        "name",
        "prefix",
        "splits",
        "table",
    )

    def __init__(
        self,
        name: str,
        entries: Callable[[bytes, Facts], Iterable[Entry]],
        *,
        columns: Sequence[bytes] = (),
        unique: bool = False,
        table: str = "",
        prefix: bytes = b"",
        family: str = "e",
        grouped: bool = False,
        layout: TableSchema | None = None,
        splits: Sequence[bytes] = (),
    ) -> None:
        self.name = name
        self.is_unique = unique
        self.is_grouped = grouped
        self.table = table or name
        self.prefix = prefix
        self.family = family
        self.column = family.encode() + b":"
        self.columns = tuple(columns)
        self.splits = tuple(splits)
        self._layout = layout
        self._entries = entries

    def entries(self, row: bytes, facts: Facts) -> dict[Entry, None]:
        """Returns the entries that a row with these facts has, each once, in their order."""
        return dict.fromkeys(self._entries(row, facts)) if facts else {}

    def is_same(self, old: Facts, new: Facts) -> bool:
        """Whether two states of a row surely have the same entries."""
        for column in self.columns:
            if old.get(column) != new.get(column):
                return False
        return bool(self.columns)

    def check_entry(self, entry: Entry, row: bytes) -> None:
        """Makes sure that an entry can be stored.

        Raises:
            InvalidRequest: the index's function gave one that cannot.
        """
        key, cover = entry
        if not key or not key.startswith(self.prefix):
            raise InvalidRequest(
                f"index '{self.name}' gave the key {key!r:.80} for row {row!r:.80}",
                hint=f"its keys begin with {self.prefix!r}, and no key is empty",
            )
        if cover and self.is_unique:
            raise InvalidRequest(
                f"the unique index '{self.name}' covers something",
                hint="a unique entry leads to one row; read that",
            )
        if self.is_grouped and not key.endswith(row):
            raise InvalidRequest(
                f"index '{self.name}' gave the key {key!r:.80} for row {row!r:.80}",
                hint="the keys of a grouped index end in those of their rows",
            )

    def schema(self, state: IndexState) -> TableSchema:
        """Returns the schema of a table that holds this index alone."""
        layout = self._layout or TableSchema(
            name=self.table, families=(Family(name=self.family, data_block_encoding="FAST_DIFF"),)
        )
        own = {PURGE_SETTING: str(PURGE_MS), state_setting(self.name): state}
        marks = (Family(name=MARKS_FAMILY),) if self.is_grouped else ()
        return msgspec.structs.replace(
            layout,
            name=self.table,
            families=(*layout.families, *marks),
            attributes={**layout.attributes, **own},
        )

    def __repr__(self) -> str:
        return f"Index({self.name!r})"


class RowState(NamedTuple):
    """An indexed row as it was read.

    Attributes:
        facts: empty when the row was never written or is deleted.
        revision: its number is 0 when the row was never written through its indexes.
        cell: the whole revision cell, None when the row has none.
        pending: the cell of entries still to remove, and `pending_at` its timestamp.
    """

    row: bytes
    facts: Facts
    revision: Revision
    cell: bytes | None
    pending: bytes
    pending_at: int


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What a write does to a row. Without any of these it only moves the row's revision.

    Attributes:
        put: values to store, stamped with the new revision.
        delete: columns to delete (no families), with all their versions.
        more: further mutations of the row, with timestamps of their own.
        facts: the facts that the row has afterwards. None: the old ones, with `put` and `delete`;
            must be given where `more` changes facts. Empty facts: the row is deleted.
        renew: put all entries again, also those that the row has already.
        of_revision: returns values to store that depend on the new revision; they are facts too.
    """

    put: Mapping[bytes, bytes] = {}
    delete: Sequence[bytes] = ()
    more: Sequence[Mutation] = ()
    facts: Mapping[bytes, bytes] | None = None
    renew: bool = False
    of_revision: Callable[[int], Mapping[bytes, bytes]] | None = None

    def facts_after(self, old: Facts) -> Facts:
        """Returns the facts that a row has after this change, without those of the revision."""
        if self.facts is not None:
            return self.facts
        if not self.delete:
            return {**old, **self.put}
        gone = set(self.delete)
        return {c: v for c, v in {**old, **self.put}.items() if c not in gone or c in self.put}


Decide: TypeAlias = Callable[[RowState], Change | None]
"""Decides the change of a row after a read; called again at every attempt. None: no change."""


class Hit(NamedTuple):
    """A row that an index scan found.

    Attributes:
        key: the row key of the entry.
        row: the row key of the row.
        cover: what the entry covers.
        found: the row as it was read, with its facts; None while it was not read yet.
        timestamp: that of the entry.
    """

    key: bytes
    row: bytes
    cover: bytes
    found: Row | None
    timestamp: int


def state_setting(name: str) -> str:
    """Returns the name of the table setting that holds an index's state."""
    return f"webtable.index.{name}"
