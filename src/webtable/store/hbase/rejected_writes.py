"""Errors for writes that a server rejects, with the row and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from webtable.errors import InvalidRequest
from webtable.store.mutation import Append, Increment, Mutation, Put

__all__ = ["rejection_of"]

_NOT_A_COUNTER = re.compile(r"Field is not a long, it's (\d{1,10}) bytes wide")
_TOO_LARGE = re.compile(r"with size (\d{1,19}) exceeds limit of (\d{1,19}) bytes")
_MOST_COLUMNS = 5


def rejection_of(detail: str, table: str, mutations: Sequence[Mutation]) -> InvalidRequest | None:
    """Returns the error for a write that a server rejected; None if its own message must do.

    Args:
        detail: the message of the server.
        mutations: what was to be made together, all of one row.
    """
    if not mutations:
        return None
    of_row = f"of row {mutations[0].row!r:.80} of table '{table}'"
    found = _NOT_A_COUNTER.search(detail)
    columns = [each for step in mutations if isinstance(step, Increment) for each in step.amounts]
    if found and columns:
        return InvalidRequest(
            f"{_one_of(columns)} {of_row} is not a counter: its value has {found[1]} bytes, not 8",
            hint="increment only columns written by increments, or put an 8-byte number first",
        )
    found = _TOO_LARGE.search(detail)
    if found:
        size, limit = int(found[1]), int(found[2])
        return InvalidRequest(
            f"{_largest(mutations)} {of_row} is too large: its cell has {size:,} bytes, "
            f"and the server takes {limit:,}",
            hint="cut the value into several columns, or raise hbase.server.keyvalue.maxsize "
            "on the region servers",
        )
    return None


def _one_of(columns: Sequence[bytes]) -> str:
    # The server does not report which.
    names = [f"{column!r:.80}" for column in dict.fromkeys(columns)]
    if len(names) == 1:
        return f"column {names[0]}"
    more = ", …" if len(names) > _MOST_COLUMNS else ""
    return f"one of the columns {', '.join(names[:_MOST_COLUMNS])}{more}"


def _largest(mutations: Iterable[Mutation]) -> str:
    values = [
        (len(value), column)
        for step in mutations
        if isinstance(step, Put | Append)
        for column, value in step.values.items()
    ]
    return f"column {max(values)[1]!r:.80}" if values else "a column"
