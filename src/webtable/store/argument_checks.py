"""Checks of the form of requests: row keys, columns, timestamps and time ranges."""

from __future__ import annotations

from webtable.errors import InvalidRequest
from webtable.store.cells_and_rows import MAX_TIMESTAMP

__all__ = [
    "MAX_ROW_BYTES",
    "check_column",
    "check_row_key",
    "check_time_range",
    "check_timestamp",
]

MAX_ROW_BYTES = 32_767


def check_row_key(row: bytes) -> bytes:
    """Returns the row key if a store can hold it.

    Raises:
        InvalidRequest: it is not bytes, is empty, or is longer than 32,767 bytes.
    """
    if not isinstance(row, bytes):
        raise InvalidRequest(
            f"row key {row!r:.80} is {type(row).__name__}, not bytes", hint="encode it first"
        )
    if not row:
        raise InvalidRequest("row key is empty", hint="a row key has 1 to 32,767 bytes")
    if len(row) > MAX_ROW_BYTES:
        raise InvalidRequest(
            f"row key {row[:40]!r}… has {len(row):,} bytes",
            hint="a row key has 1 to 32,767 bytes; shorten it or end it in a hash",
        )
    return row


def check_timestamp(timestamp: int | None) -> int | None:
    """Returns the timestamp if it is valid; None and `MAX_TIMESTAMP` both mean now.

    Raises:
        InvalidRequest: it is negative or has more than 63 bits.
    """
    if timestamp is None or timestamp == MAX_TIMESTAMP:
        return None
    if not isinstance(timestamp, int) or not 0 <= timestamp <= MAX_TIMESTAMP:
        raise InvalidRequest(
            f"timestamp {timestamp!r} is not valid",
            hint="a timestamp is a whole number of milliseconds from 0 to 2^63 - 1",
        )
    return timestamp


def check_time_range(time_range: tuple[int, int] | None) -> tuple[int, int] | None:
    """Returns the time range if it is valid.

    Raises:
        InvalidRequest: it is not, or runs backwards.
    """
    if time_range is not None:
        start, stop = time_range
        if not 0 <= start <= stop <= MAX_TIMESTAMP:
            raise InvalidRequest(
                f"time range [{start}, {stop}) is not valid",
                hint="give (start, stop) in milliseconds with 0 <= start <= stop",
            )
    return time_range


def check_column(column: bytes, *, whole_family: bool = False) -> bytes:
    """Returns the column if it is well formed: `b"family:qualifier"`.

    Args:
        whole_family: whether a family alone, without a colon, will do too.

    Raises:
        InvalidRequest: it is not bytes or lacks its family.
    """
    if not isinstance(column, bytes):
        raise InvalidRequest(
            f"column {column!r:.80} is not bytes", hint='write b"family:qualifier"'
        )
    colon = column.find(b":")
    if colon == 0 or not column or (colon < 0 and not whole_family):
        wrong = "names only a family" if colon < 0 < len(column) else "does not name a family"
        raise InvalidRequest(f"column {column!r:.80} {wrong}", hint='write b"family:qualifier"')
    return column
