"""Answers to questions: bounded, to be gone on from, and saying what they have cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

import msgspec

from webtable.errors import InvalidRequest

__all__ = ["QueryCost", "ResultPage", "after_key", "bounded", "wrong_cursor"]

T = TypeVar("T")


class QueryCost(msgspec.Struct):
    """What an answer has cost.

    Attributes:
        index: the index that was read; empty where the pages themselves were.
        entries: entries of the index that were read.
        rows: rows of pages that were read.
        is_scan: whether pages were read that the answer does not show because there is no index.
        is_whole_index: whether all of the index was read, because it is of an earlier format.
        is_by_day: whether all pages of a day were read to put them in order, because the index is
            of an earlier format and knows days only.
    """

    index: str = ""
    entries: int = 0
    rows: int = 0
    is_scan: bool = False
    is_whole_index: bool = False
    is_by_day: bool = False


class ResultPage(msgspec.Struct, Generic[T]):
    """Some items, and how to go on.

    Attributes:
        items: at most as many as were asked for.
        next: what to give as `after` for those that follow; None where there are none.
    """

    items: list[T]
    next: str | None
    cost: QueryCost

    @property
    def is_truncated(self) -> bool:
        """Whether there is more; exact."""
        return self.next is not None


def after_key(cursor: str | None) -> bytes:
    """Returns the first key behind a cursor.

    Raises:
        InvalidRequest: it has characters that no cursor has.
    """
    try:
        return b"" if cursor is None else cursor.encode("latin-1") + b"\0"
    except UnicodeEncodeError as exc:
        raise wrong_cursor(cursor or "") from exc


def wrong_cursor(cursor: str) -> InvalidRequest:
    """Returns the error for a cursor that no answer to the question has given."""
    return InvalidRequest(
        f"{cursor!r:.80} is not a cursor of this question",
        hint="give --after the value that the answer before printed, for the same question",
    )


def bounded(found: Iterator[tuple[str, T]], limit: int, cost: QueryCost) -> ResultPage[T]:
    """Takes as many items as are wanted, and looks whether there is one more.

    Args:
        found: each item with the cursor that leads behind it.

    Raises:
        InvalidRequest: the limit is less than one.
    """
    if limit < 1:
        raise InvalidRequest(f"limit {limit} is less than 1", hint="ask for at least one")
    items: list[T] = []
    last = ""
    for cursor, item in found:
        if len(items) == limit:
            return ResultPage(items, last, cost)
        items.append(item)
        last = cursor
    return ResultPage(items, None, cost)
