"""Ranges of rows, and the ranges that a filter can keep rows in.

A range is `(start, stop)`, start inclusive and stop exclusive; an empty stop is no bound. A scan
that is narrowed by its filter calls fewer regions and reads fewer rows, and keeps the same ones.
"""

from __future__ import annotations

from typing import TypeAlias

from webtable.store.argument_checks import MAX_ROW_BYTES
from webtable.store.filtering import filters as f
from webtable.store.filtering.comparators import BinaryComparator, BinaryPrefixComparator

__all__ = ["Bounds", "both_bounds", "filter_bounds", "prefix_end"]

Bounds: TypeAlias = tuple[bytes, bytes]

_ALL_ROWS: Bounds = (b"", b"")


def prefix_end(prefix: bytes) -> bytes:
    r"""Returns the first key after all keys with the prefix; empty when no key follows.

    >>> prefix_end(b"com.")
    b'com/'
    >>> prefix_end(bytes([1, 255]))
    b'\x02'
    """
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes([stem[-1] + 1]) if stem else b""


def both_bounds(one: Bounds, other: Bounds) -> Bounds:
    """Returns the rows that lie in both ranges."""
    stop = min(one[1], other[1]) if one[1] and other[1] else one[1] or other[1]
    return max(one[0], other[0]), stop


def filter_bounds(filter: f.Filter) -> Bounds:
    """Returns a range outside of which the filter keeps no row, and notes nothing of any row."""
    bounds = _bounds(filter)
    # No row key is longer, and a cluster takes none that is.
    return bounds if max(map(len, bounds)) < MAX_ROW_BYTES else _ALL_ROWS


def _bounds(filter: f.Filter) -> Bounds:
    match filter:
        case f.PrefixFilter(prefix):
            return prefix, prefix_end(prefix)
        case f.MultiRowRangeFilter(ranges):
            last = ranges[-1]
            return ranges[0].start, _after(last.stop) if last.stop_inclusive else last.stop
        case f.RowFilter(op, BinaryComparator(row)) if row:
            return _compared(op, row)
        case f.RowFilter("=", BinaryPrefixComparator(prefix)):
            return prefix, prefix_end(prefix)
        case f.FilterList(filters, "all") if not any(map(_ends_at_any_row, filters)):
            bounds = _ALL_ROWS
            for each in filters:
                bounds = both_bounds(bounds, _bounds(each))
            return bounds
        case _:
            return _ALL_ROWS


def _compared(op: str, row: bytes) -> Bounds:
    start = {"=": row, ">=": row, ">": _after(row)}.get(op, b"")
    stop = {"=": _after(row), "<=": _after(row), "<": row}.get(op, b"")
    return start, stop


def _ends_at_any_row(filter: f.Filter) -> bool:
    """Whether rows that another filter leaves out can end a scan through this one."""
    kinds = f.WhileMatchFilter | f.ColumnCountGetFilter
    return any(isinstance(each, kinds) for each in f.inner_filters(filter))


def _after(row: bytes) -> bytes:
    return row + b"\x00" if row else row
