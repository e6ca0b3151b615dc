"""Reading a row, or a piece of a wide one, by walking over its cells with one iterator.

Most rows hold plain puts alone, of families that keep no time to live: then the first cell of each
column is what a read sees, and the rules are not needed. Other rows are left to the modules that
apply the rules, `webtable.store.rocks.reader` and `webtable.store.rocks.filtering`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from webtable.store.filtering.filters import (
    ColumnPaginationFilter,
    ColumnRangeFilter,
    Filter,
    FilterList,
)
from webtable.store.model import MAX_TIMESTAMP, CellType, RawCell
from webtable.store.rocks.keys import SUFFIX_BYTES, escape
from webtable.store.rocks.open_tables import OpenFamily

__all__ = ["WHOLE", "Piece", "piece_of", "walk", "walk_filtered"]

_PUT = int(CellType.PUT)
_PUT_BYTE = 255 - _PUT
_EMPTY_QUALIFIER = b"\x00"  # escaped and ended, as in a key
_SKIP_LIMIT = 32  # after so many older versions a seek is cheaper than going on


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


def walk(family: OpenFamily, seeker: Any, prefix: bytes, piece: Piece) -> list[RawCell] | None:
    """Returns the newest cells of a piece of a row; None where the rules must decide.

    Args:
        seeker: an iterator of the family's, opened before this is called.
        prefix: the row, `escaped row | 00`.
    """
    low, high, most = piece
    if most == 0:
        return None
    # Checked after the iterator was opened: a marker that it can see has set this before.
    if low and family.notes.is_marked and _may_be_hidden(seeker, prefix):
        return None
    cells: list[RawCell] = []
    columns, start = family.columns, len(prefix)
    previous, skipped = b"", 0
    is_valid, next_key, go_on = seeker.valid, seeker.key, seeker.next
    seeker.seek(prefix + low)
    while is_valid():
        key = next_key()
        if not key.startswith(prefix):
            return cells
        end = len(key) - SUFFIX_BYTES
        if key[-1] != _PUT_BYTE or end <= start:
            return None
        qualifier = key[start:end]
        if qualifier == previous:
            skipped += 1
            # Markers of the whole family stand between the cells of the column without a name.
            if skipped > _SKIP_LIMIT and qualifier != _EMPTY_QUALIFIER:
                seeker.seek(prefix + qualifier + b"\xff" * SUFFIX_BYTES)
                continue
        else:
            if len(cells) == most or (high is not None and qualifier >= high):
                return cells
            previous, skipped = qualifier, 0
            timestamp = MAX_TIMESTAMP - int.from_bytes(key[end:-1], "big")
            column = columns.get(qualifier) or family.column(qualifier)
            cells.append((column, timestamp, seeker.value(), _PUT))
        go_on()
    seeker.status()
    return cells


def walk_filtered(
    family: OpenFamily, view: Any, seeker: Any, row: bytes, filter: Filter
) -> list[RawCell] | None:
    """Returns what a filter leaves of a row, if it is a piece; else None: the rules decide."""
    piece = piece_of(filter)
    if piece is None or not view.is_simple(family):
        return None
    return walk(family, seeker, escape(row) + b"\x00", piece)


def _may_be_hidden(seeker: Any, prefix: bytes) -> bool:
    """Whether a row begins with what may be a marker of the whole family."""
    seeker.seek(prefix)
    return bool(seeker.valid() and seeker.key().startswith(prefix + _EMPTY_QUALIFIER))
