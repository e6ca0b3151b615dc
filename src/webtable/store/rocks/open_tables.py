"""Open tables and families: the forms in memory that reads and writes use."""

from __future__ import annotations

from typing import Any

from rocksdict import ColumnFamily, DbClosedError, Rdict

from webtable.errors import FamilyNotFound
from webtable.store.mutation import check_column
from webtable.store.rocks.catalog_entries import TableEntry
from webtable.store.rocks.cell_keys import escape, unescape
from webtable.store.schema import Family

__all__ = [
    "FamilyNotes",
    "OpenFamily",
    "OpenTable",
]

_CACHED_COLUMNS = 10_000  # qualifiers may be data: a cache of them must not grow for ever


class _Closed:
    """Replaces RocksDB after the close, for threads that come too late."""

    def __getattr__(self, name: str) -> Any:
        raise DbClosedError(name)


_CLOSED = _Closed()


class FamilyNotes:
    """Facts about a family's cells; shared by all open forms of one RocksDB column family.

    Attributes:
        is_tagged: whether puts are to be tagged.
        is_marked: whether markers of the whole family may be there, so that reads of single
            columns have to look for them. Set before the first one can be seen.
    """

    __slots__ = ("is_marked", "is_tagged")

    def __init__(self, *, is_tagged: bool, is_marked: bool) -> None:
        self.is_tagged = is_tagged
        self.is_marked = is_marked


class OpenFamily:
    """A family with its RocksDB column family.

    `columns` remembers the columns' names by their escaped, ended qualifiers.
    """

    __slots__ = ("_prefix", "columns", "handle", "notes", "rocks", "schema")

    def __init__(
        self, schema: Family, rocks: Rdict, handle: ColumnFamily, notes: FamilyNotes
    ) -> None:
        self.schema = schema
        self.notes = notes
        self.rocks: Any = rocks  # Any: rocksdict's own stubs type keys and values loosely
        self.handle: Any = handle
        self._prefix = schema.name.encode() + b":"
        self.columns: dict[bytes, bytes] = {}

    def column(self, qualifier: bytes) -> bytes:
        """Returns the column's name, of an escaped qualifier with its ending 00."""
        column = self.columns.get(qualifier)
        if column is None:
            if len(self.columns) >= _CACHED_COLUMNS:
                self.columns.clear()
            column = self._prefix + unescape(qualifier[:-1])
            self.columns[qualifier] = column
        return column


class OpenTable:
    """A table with its families, in the order of their names.

    `places` remembers where untagged puts of a column go: the column family, and the escaped, ended
    qualifier.
    """

    __slots__ = ("entry", "families", "places", "reads", "schema")

    def __init__(self, entry: TableEntry, families: dict[bytes, OpenFamily]) -> None:
        self.entry = entry
        self.schema = entry.schema
        self.families = families
        self.places: dict[bytes, tuple[ColumnFamily, bytes]] = {}
        self.reads: dict[tuple[bytes, ...], Any] = {}  # the cache of `range_reader.select`

    def family(self, name: bytes) -> OpenFamily:
        """Returns a family.

        Raises:
            FamilyNotFound: the table has none of that name.
        """
        family = self.families.get(name)
        if family is None:
            families = [each.schema.name for each in self.families.values()]
            raise FamilyNotFound(self.schema.name, name.decode(errors="replace"), families)
        return family

    def release(self) -> None:
        """Releases RocksDB, also where this object stays alive, for example in a traceback."""
        self.places.clear()
        self.reads.clear()
        for family in self.families.values():
            family.rocks = family.handle = _CLOSED

    def check_column(self, column: bytes) -> None:
        """Makes sure that a column can be written, and remembers where its puts go.

        Raises:
            InvalidRequest: the column is not well formed.
            FamilyNotFound: the table has no such family.
        """
        name, _, qualifier = check_column(column).partition(b":")
        family = self.family(name)
        if not family.notes.is_tagged:
            if len(self.places) >= _CACHED_COLUMNS:
                self.places.clear()
            self.places[column] = (family.handle, escape(qualifier) + b"\x00")
