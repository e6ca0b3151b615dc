"""Compares the stored facts of a body with those that the body gives, and writes them again."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from webtable.errors import CorruptData
from webtable.index.indexed_table import Change, RowState
from webtable.pages.body_facts import PageFacts, decode_facts
from webtable.pages.checking.foreign_cells import ForeignCell, remove_cells
from webtable.pages.columns import FACTS, URL
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import stored_facts
from webtable.store.cells_and_rows import Row
from webtable.store.mutation import Mutation, Put

__all__ = ["CheckedBody", "FactsChecker", "StoredFacts", "facts_of_row", "with_facts"]


class StoredFacts(NamedTuple):
    """A cell of the family `facts`."""

    timestamp: int
    value: bytes


class CheckedBody(NamedTuple):
    """A stored body; `time` is the time of its version."""

    row: bytes
    url: str
    time: int
    digest: str
    media_type: str
    body: bytes


def facts_of_row(row: Row) -> dict[str, StoredFacts]:
    """Returns the facts of a row by the digests of their bodies."""
    found: dict[str, StoredFacts] = {}
    for column, timestamp, value, _ in row.raw_cells:
        if column.startswith(FACTS):
            digest = column[len(FACTS) :].decode("utf-8", "replace")
            found.setdefault(digest, StoredFacts(timestamp, value))
    return found


class FactsChecker:
    """Computes the facts of bodies again.

    Attributes:
        table: the main table.
    """

    def __init__(self, pages: PageTable, *, repair: bool) -> None:
        self.table = pages.rows.table
        self._pages = pages
        self._repair = repair

    def check(self, body: CheckedBody, stored: StoredFacts | None) -> tuple[str, bool] | None:
        """Returns how the facts of a body differ, and whether that was repaired; None: not."""
        expected, what = self._pages.parse(body.url, body.body, body.media_type).facts, ""
        if stored is None:
            what = "are missing" if expected else ""
        elif stored.value != expected:
            what = _difference(body, stored.value, expected)
        if not what:
            return None
        if self._repair:
            self._write(body, stored, expected)
        return f"its facts of {body.digest} {what}", self._repair

    def _write(self, body: CheckedBody, stored: StoredFacts | None, expected: bytes) -> None:
        column = FACTS + body.digest.encode()
        if stored is not None and not expected:
            remove_cells(self.table, body.row, [ForeignCell(column, stored.timestamp)])
            return
        at = body.time * 1000 if stored is None else stored.timestamp
        put = Put(body.row, {column: expected}, timestamp=at)
        self._pages.rows.write(body.row, partial(with_facts, [put]))


def _difference(body: CheckedBody, value: bytes, expected: bytes) -> str:
    try:
        facts = decode_facts(value)
    except CorruptData:
        return "do not decode"
    # A capture with another media type may have written them.
    if not expected:
        return ""
    # The charset may be from a header, which the body does not have.
    charset = facts.charset if isinstance(facts, PageFacts) else ""
    if charset and stored_facts(body.url, body.body, body.media_type, charset) == value:
        return ""
    return "are not those of its body"


def with_facts(puts: list[Mutation], state: RowState) -> Change | None:
    """Adds facts to the row of a page, if that still exists; it is a `Decide`."""
    return Change(more=puts, facts=state.facts) if URL in state.facts else None
