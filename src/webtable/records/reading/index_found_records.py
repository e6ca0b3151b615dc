"""Records found by an index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from webtable.index.entry_reader import Found, ReadCounts
from webtable.records.declaration import Declaration
from webtable.records.reading.decoder_choice import decode_rows

__all__ = ["FoundRecords"]

T = TypeVar("T")


class FoundRecords(Iterator[T], Generic[T]):
    """The records that a scan of an index finds, read while the caller iterates.

    Attributes:
        counts: what it has cost so far: entries and rows read, and what was stale.
    """

    def __init__(self, declaration: Declaration, found: Found | None) -> None:
        self._plan = declaration.plan
        self._found = found
        self.counts = ReadCounts() if found is None else found.counts

    def __next__(self) -> T:
        if self._found is not None:
            for hit in self._found:
                assert hit.found is not None, "the machinery reads the row of each hit"
                records: list[T] = decode_rows(self._plan, (hit.found,))
                if records:
                    return records[0]
        raise StopIteration

    def close(self) -> None:
        """Ends the scan."""
        if self._found is not None:
            self._found.close()
