"""The values that the store returns: cells and rows.

Rows come out of hot loops, so an engine hands over plain tuples and a `Row` makes the named
forms only when they are used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple, TypeAlias

__all__ = ["MAX_TIMESTAMP", "Cell", "CellType", "Nested", "RawCell", "Row", "split_column"]

MAX_TIMESTAMP = 2**63 - 1
"""The greatest timestamp, HBase's `Long.MAX_VALUE`; as a mutation's time it means "now"."""


class CellType(IntEnum):
    """What a cell is: a put, or one of the four delete markers. The numbers are HBase's."""

    PUT = 4
    DELETE = 8
    DELETE_FAMILY_VERSION = 10
    DELETE_COLUMN = 12
    DELETE_FAMILY = 14


class Cell(NamedTuple):
    """One version of one column. Delete markers appear only in raw scans.

    Attributes:
        column: `b"family:qualifier"`.
        timestamp: in milliseconds since 1970, unless the writer chose otherwise.
        value: the stored bytes.
        type: a put, or a kind of delete marker; see `CellType`.
    """

    column: bytes
    timestamp: int
    value: bytes
    type: int = CellType.PUT

    @property
    def family(self) -> bytes:
        """The family's name: the column up to its first colon."""
        return self.column.partition(b":")[0]

    @property
    def qualifier(self) -> bytes:
        """The column without its family; may be empty."""
        return self.column.partition(b":")[2]


# `Cell._make` without the check of the length: a third of its time, for every cell of a scan.
_new = tuple.__new__

RawCell: TypeAlias = tuple[bytes, int, bytes, int]
"""A `Cell` as a plain tuple: column, timestamp, value, type."""

Nested: TypeAlias = dict[bytes, dict[bytes, dict[int, bytes]]]
"""family → qualifier → timestamp → value."""


class Row:
    """One row as a read found it: its key and its cells in the store's order.

    Order: family, then qualifier, then newest version first. Cells are decoded when they are read.
    """

    __slots__ = ("_newest", "key", "raw_cells")

    def __init__(self, key: bytes, raw_cells: Sequence[RawCell]) -> None:
        self.key = key
        self.raw_cells = raw_cells
        self._newest: dict[bytes, bytes] | None = None

    @property
    def cells(self) -> list[Cell]:
        """All cells of the row that the read selected."""
        return [_new(Cell, cell) for cell in self.raw_cells]

    def value(self, column: bytes) -> bytes | None:
        """Returns the newest value of a column, or None when the row has none."""
        if len(self.raw_cells) == 1:  # as reads of one column bring it; spares the dict
            cell = self.raw_cells[0]
            return cell[2] if cell[0] == column and cell[3] == 4 else None
        return self.values().get(column)

    def values(self) -> dict[bytes, bytes]:
        """Returns column → newest value. The row caches the dict: do not change it."""
        newest = self._newest
        if newest is None:
            # The newest version comes first, so going backwards lets it have the last word.
            newest = {cell[0]: cell[2] for cell in reversed(self.raw_cells) if cell[3] == 4}
            if len(newest) > 1:
                newest = dict(reversed(newest.items()))
            self._newest = newest
        return newest

    def versions(self, column: bytes) -> list[Cell]:
        """Returns the versions of one column that the read brought, newest first."""
        return [_new(Cell, cell) for cell in self.raw_cells if cell[0] == column]

    def nested(self) -> Nested:
        """Returns the row as family → qualifier → timestamp → value, without delete markers."""
        nested: Nested = {}
        for column, timestamp, value, kind in self.raw_cells:
            if kind == 4:
                family, _, qualifier = column.partition(b":")
                nested.setdefault(family, {}).setdefault(qualifier, {})[timestamp] = value
        return nested

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.raw_cells)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row):
            return NotImplemented
        return self.key == other.key and list(self.raw_cells) == list(other.raw_cells)

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"Row({self.key!r}, {self.cells!r})"


def split_column(column: bytes) -> tuple[bytes, bytes | None]:
    """Returns family and qualifier; the qualifier is None when the column names a whole family."""
    family, colon, qualifier = column.partition(b":")
    return family, qualifier if colon else None
