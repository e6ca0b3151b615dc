"""A shortcut for filters that select a page of a row's columns: the piece is read as it is stored.

Most rows hold plain puts alone, of families that keep no time to live: then the first cell of each
column is what a read sees, and the rules are not needed. Other rows are left to the modules that
apply the rules, `webtable.store.rocks.range_reader` and `webtable.store.rocks.filtering`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from webtable.store.cells_and_rows import RawCell
from webtable.store.filtering.filters import (
    ColumnPaginationFilter,
    ColumnRangeFilter,
    Filter,
    FilterList,
)
from webtable.store.rocks.cell_keys import escape
from webtable.store.rocks.open_tables import OpenFamily
from webtable.store.rocks.range_reader import View, read_piece

__all__ = ["WHOLE", "Piece", "piece_of", "walk_filtered"]


class Piece(NamedTuple):
    """Which columns of a row: escaped qualifiers from `low` up to `high`, `most` of them."""

    low: bytes = b""
    high: bytes | None = None
    most: int | None = None


WHOLE = Piece()


def piece_of(filter: Filter) -> Piece | None:
    """Returns the piece of a row that a filter leaves, None where it does something else."""
    if isinstance(filter, ColumnPaginationFilter):
        if isinstance(filter.offset, bytes):
            return Piece(escape(filter.offset), None, filter.limit)
        return Piece(most=filter.limit) if filter.offset == 0 else None
    if not isinstance(filter, FilterList) or filter.must_pass != "all":
        return None
    if len(filter.filters) != 2:
        return None
    bounds, paging = filter.filters
    if not isinstance(bounds, ColumnRangeFilter) or not isinstance(paging, ColumnPaginationFilter):
        return None
    if paging.offset != 0 or not bounds.min_column_inclusive or bounds.max_column_inclusive:
        return None
    high = None if bounds.max_column is None else escape(bounds.max_column) + b"\x00"
    return Piece(escape(bounds.min_column or b""), high, paging.limit)


def walk_filtered(
    family: OpenFamily, view: View, seeker: Any, row: bytes, filter: Filter
) -> list[RawCell] | None:
    """Returns what a filter leaves of a row, if it is a piece; else None: the rules decide."""
    piece = piece_of(filter)
    if piece is None or not view.is_simple(family):
        return None
    return read_piece(family, seeker, escape(row) + b"\x00", piece)
