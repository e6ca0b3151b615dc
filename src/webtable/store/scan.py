"""What a read is: which rows, which columns, which versions.

`Get` and `Scan` are frozen requests; `start` is inclusive and `stop` exclusive, always.
"""

from __future__ import annotations

from typing import TypedDict

import msgspec
from msgspec.structs import force_setattr

from webtable.errors import InvalidRequest
from webtable.store.argument_checks import (
    MAX_ROW_BYTES,
    check_column,
    check_row_key,
    check_time_range,
)
from webtable.store.filtering.filter_language import as_filter
from webtable.store.filtering.filters import Filter
from webtable.store.filtering.row_bounds import both_bounds, filter_bounds, prefix_end

__all__ = ["ALL_VERSIONS", "Get", "Scan", "ScanOptions", "prefix_end"]

ALL_VERSIONS = 2**31 - 1
"""As many versions as the family keeps (HBase's `Integer.MAX_VALUE`)."""


class Get(msgspec.Struct, frozen=True):
    """Reads one row: all of it, or the named families and columns.

    Attributes:
        row: the row key.
        columns: families (`b"f"`) and columns (`b"f:q"`); empty means everything.
        versions: the newest versions of each column to return at most.
        time_range: only versions in `[start, stop)` milliseconds; `(t, t + 1)` is a single version.
        filter: a filter of `webtable.filters`, or its text, of which a filter is made at once.
    """

    row: bytes
    columns: tuple[bytes, ...] = ()
    versions: int = 1
    time_range: tuple[int, int] | None = None
    filter: Filter | str | None = None

    def __post_init__(self) -> None:
        # The check of the key is repeated here because a call costs a twentieth of a get.
        row = self.row
        if type(row) is not bytes or not 0 < len(row) <= MAX_ROW_BYTES:
            check_row_key(row)
        if self.columns or self.versions != 1 or self.time_range is not None:
            _check_selection(self.columns, self.versions, self.time_range)
        if self.filter is not None:
            force_setattr(self, "filter", as_filter(self.filter))


class ScanOptions(TypedDict, total=False):
    """The fields of `Scan`, for calls that take them as keywords."""

    start: bytes
    stop: bytes
    prefix: bytes
    columns: tuple[bytes, ...] | list[bytes]
    versions: int
    time_range: tuple[int, int] | None
    limit: int | None
    reverse: bool
    raw: bool
    ordered: bool
    filter: Filter | str | None
    batch_rows: int | None


class Scan(msgspec.Struct, frozen=True, kw_only=True):
    """Reads rows, in key order unless `ordered` is False.

    Attributes:
        start: the first row key; empty means from the first row.
        stop: the row key to stop before; empty means to the last row.
        prefix: only rows whose keys begin so; narrows `start` and `stop` further.
        columns: families (`b"f"`) and columns (`b"f:q"`); empty means everything.
        versions: the newest versions of each column to return at most.
        time_range: only versions in `[start, stop)` milliseconds.
        limit: the number of rows to return at most.
        reverse: from the last row of the range to the first.
        raw: also delete markers and what they hide; only whole families may be named.
        ordered: False lets rows of different regions come as they come, which can be quicker on a
            cluster; within a region they are in order. An embedded store always has the order.
        filter: what to leave out, a filter of `webtable.filters` or its text, which is read at
            once. A filter sees as many versions as the family keeps, and of those that it keeps
            the newest `versions` are returned.
        batch_rows: rows to fetch at a time from a server; a hint, None lets the engine choose.
    """

    start: bytes = b""
    stop: bytes = b""
    prefix: bytes = b""
    columns: tuple[bytes, ...] = ()
    versions: int = 1
    time_range: tuple[int, int] | None = None
    limit: int | None = None
    reverse: bool = False
    raw: bool = False
    ordered: bool = True
    filter: Filter | str | None = None
    batch_rows: int | None = None

    def __post_init__(self) -> None:
        for bound in (self.start, self.stop, self.prefix):
            if bound:
                check_row_key(bound)
        _check_selection(self.columns, self.versions, self.time_range)
        if self.limit is not None and self.limit < 0:
            raise InvalidRequest(f"limit {self.limit} is negative", hint="leave it out for none")
        if self.raw and any(b":" in column for column in self.columns):
            raise InvalidRequest(
                "a raw scan cannot name columns", hint="name whole families, or drop raw"
            )
        if self.filter is not None:
            force_setattr(self, "filter", as_filter(self.filter))

    def bounds(self) -> tuple[bytes, bytes]:
        """Returns the range `[start, stop)` that `start`, `stop`, `prefix` and `filter` leave.

        Rows outside of it are not looked at. An empty `stop` means no upper bound. The range is
        empty when stop <= start and stop is not empty.
        """
        bounds = self.start, self.stop
        if self.prefix:
            bounds = both_bounds(bounds, (self.prefix, prefix_end(self.prefix)))
        if self.filter is not None:
            bounds = both_bounds(bounds, filter_bounds(as_filter(self.filter)))
        return bounds


def _check_selection(
    columns: tuple[bytes, ...], versions: int, time_range: tuple[int, int] | None
) -> None:
    if columns and not _is_checked(columns):
        for column in columns:
            check_column(column, whole_family=True)
        if len(_checked) >= _MOST_CHECKED:
            _checked.clear()
        _checked.add(columns)
    if versions < 1:
        raise InvalidRequest(f"versions {versions} is less than 1", hint="ask for at least one")
    check_time_range(time_range)


# Programs ask for the same few columns again and again.
_MOST_CHECKED = 1_000
_checked: set[tuple[bytes, ...]] = set()


def _is_checked(columns: tuple[bytes, ...]) -> bool:
    try:
        return columns in _checked
    except TypeError:  # something in it is no bytes, and is told of by the check
        return False
