"""What queries return: pages of results, and lists that read on by themselves.

A query reads a page of results: bounded, with the place where it goes on and what it has cost.
`Results` is the list that programs see. It makes that place a cursor: an opaque text that only
the same query accepts.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterator, Mapping
from typing import Generic, Protocol, TypeVar

import msgspec

from webtable.errors import InvalidRequest
from webtable.result_base import Value

__all__ = ["Fetch", "QueryCost", "ResultPage", "Results", "after_key", "bounded", "wrong_cursor"]

T = TypeVar("T")

_SEAL_BYTES = 6
_FIRST_PAGE, _LARGEST_PAGE = 100, 5_000


class QueryCost(Value, msgspec.Struct):
    """What a query has cost.

    Attributes:
        index: the index that was read; empty where the pages themselves were.
        entries: entries of the index that were read.
        rows: rows of pages that were read.
        is_scan: whether pages were read that the results do not show, because there is no index.
    """

    index: str = ""
    entries: int = 0
    rows: int = 0
    is_scan: bool = False

    def add(self, other: QueryCost) -> None:
        """Adds what the next page has cost."""
        self.index = self.index or other.index
        self.entries += other.entries
        self.rows += other.rows
        self.is_scan |= other.is_scan


class ResultPage(msgspec.Struct, Generic[T]):
    """Some results, and where the list goes on.

    Attributes:
        items: the results; at most as many as requested.
        next: the cursor of the results that follow; None at the end of the list.
        cost: what reading the results has cost.
        about: facts about the whole list, such as how far back it reaches.
    """

    items: list[T]
    next: str | None
    cost: QueryCost
    about: Mapping[str, object] = {}

    @property
    def is_truncated(self) -> bool:
        """Whether more results follow; exact."""
        return self.next is not None


class Fetch(Protocol[T]):
    """Reads one page of results behind a place."""

    def __call__(self, *, limit: int, after: str | None) -> ResultPage[T]:
        """Returns at most `limit` results."""


class Results(Generic[T]):
    """A list of results. Iterating reads it page by page, so it may be longer than memory.

    Results are read when they are needed. Each iteration starts from the beginning and returns what
    is stored at that time. Every list of `WebTable` has the arguments `limit`, the maximum number
    of results (None: all), and `cursor`, the cursor of earlier results of the same query, to resume
    behind them; a limit below 1 or the cursor of another query is an `InvalidRequest`. An object
    belongs to one thread.

    Attributes:
        explain: what has been read so far, a `QueryCost`.
        about: facts about the whole list, such as how far back it reaches.
    """

    # Cursors belong to `query`, the query with its arguments as a text.
    def __init__(
        self, query: str, fetch: Fetch[T], *, limit: int | None = None, cursor: str | None = None
    ) -> None:
        _check_limit(limit)
        self._query = query
        self._fetch = fetch
        self._limit = limit
        self._after = None if cursor is None else _unsealed(query, cursor)
        self._first: ResultPage[T] | None = None
        self.explain = QueryCost()
        self.about: dict[str, object] = {}

    def __iter__(self) -> Iterator[T]:
        """Reads all results up to the limit, page by page."""
        left, size, after = self._limit, _FIRST_PAGE, self._after
        while left is None or left > 0:
            page = self._read(size if left is None else min(left, size), after)
            yield from page.items
            if page.next is None:
                return
            after = page.next
            left = None if left is None else left - len(page.items)
            # Some queries begin from the start for each page.
            size = min(size * 2, _LARGEST_PAGE)

    def page(self) -> ResultPage[T]:
        """Returns the results up to the limit, or the first 100 if the list has no limit.

        The results are read once, at the first call.
        """
        if self._first is None:
            found = self._read(self._limit or _FIRST_PAGE, self._after)
            sealed = None if found.next is None else _sealed(self._query, found.next)
            self._first = ResultPage(found.items, sealed, found.cost, found.about)
        return self._first

    @property
    def cursor(self) -> str | None:
        """Where the list goes on behind `page()`; None where nothing follows."""
        return self.page().next

    def to_dicts(self) -> list[dict[str, object]]:
        """Returns all results up to the limit as dicts: the rows of a data frame."""
        return [msgspec.to_builtins(item) for item in self]

    def _read(self, limit: int, after: str | None) -> ResultPage[T]:
        page = self._fetch(limit=limit, after=after)
        self.explain.add(page.cost)
        omitted = self.about.get("not_kept")
        self.about = dict(page.about)
        if isinstance(omitted, int):  # counted page by page
            self.about["not_kept"] = omitted + int(str(page.about.get("not_kept", 0)))
        return page

    def __repr__(self) -> str:
        return f"<Results of {self._query}>"


def after_key(after: str | None) -> bytes:
    """Returns the first key behind a place that is a key."""
    return b"" if after is None else after.encode("latin-1") + b"\0"


def wrong_cursor(cursor: str) -> InvalidRequest:
    """Returns the error for a cursor that no results of the query have given."""
    return InvalidRequest(
        f"{cursor!r:.80} is not a cursor of this query",
        hint="give --after (cursor= in Python) the cursor that the same query printed before",
    )


def bounded(found: Iterator[tuple[str, T]], limit: int, cost: QueryCost) -> ResultPage[T]:
    """Takes as many results as are wanted, and looks whether there is one more.

    Args:
        found: each result with the place that is behind it.

    Raises:
        InvalidRequest: the limit is less than 1.
    """
    _check_limit(limit)
    items: list[T] = []
    last = ""
    for place, item in found:
        if len(items) == limit:
            return ResultPage(items, last, cost)
        items.append(item)
        last = place
    return ResultPage(items, None, cost)


def _check_limit(limit: int | None) -> None:
    if limit is not None and limit < 1:
        raise InvalidRequest(f"limit {limit} is less than 1", hint="give at least 1")


def _sealed(query: str, place: str) -> str:
    """Returns the cursor of a place: the place, and a hash that only this query accepts."""
    at = place.encode("latin-1")
    return base64.urlsafe_b64encode(_seal(query, at) + at).decode().rstrip("=")


def _unsealed(query: str, cursor: str) -> str:
    try:
        text = cursor.encode("ascii")
        sealed = base64.b64decode(text + b"=" * (-len(text) % 4), b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error) as exc:
        raise wrong_cursor(cursor) from exc
    seal, at = sealed[:_SEAL_BYTES], sealed[_SEAL_BYTES:]
    if seal != _seal(query, at):
        raise wrong_cursor(cursor)
    return at.decode("latin-1")


def _seal(query: str, at: bytes) -> bytes:
    text = query.encode("utf-8", "surrogatepass") + b"\0" + at
    return hashlib.blake2b(text, digest_size=_SEAL_BYTES).digest()
