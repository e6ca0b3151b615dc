"""Reads one row of an open table, by the shortest way that the request allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rocksdict import ReadOptions

from webtable.store.cells_and_rows import RawCell
from webtable.store.filtering.filters import Filter
from webtable.store.rocks import range_reader
from webtable.store.rocks.cell_keys import escape, row_end
from webtable.store.rocks.column_page_shortcut import WHOLE
from webtable.store.rocks.files.database import Database
from webtable.store.rocks.filtering.filtered_reader import Span, read_filtered
from webtable.store.rocks.filtering.rule_factory import make_rule
from webtable.store.rocks.open_tables import OpenTable

__all__ = ["SingleRowReader", "seeker_of"]


class SingleRowReader:
    """Reads rows of one database."""

    __slots__ = ("_database",)

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(
        self,
        reads: Sequence[range_reader.FamilyRead],
        view: range_reader.View,
        row: bytes,
        seeker: Any = None,
    ) -> list[RawCell]:
        """Returns the cells that a read sees of a row, in order.

        Args:
            seeker: an iterator of the family, where only one is read and several rows are.
        """
        prefix = escape(row) + b"\x00"
        seeker = seeker_of(reads) if seeker is None else seeker
        if seeker is not None:
            read = reads[0]
            family, wanted = read
            found = None
            if wanted is None:
                if view.is_simple(family):
                    found = range_reader.read_piece(family, seeker, prefix, WHOLE)
            elif view is range_reader.NEWEST:
                found = range_reader.read_newest(family, wanted, seeker, prefix)
            if found is not None:
                return found
            if wanted is not None:
                return range_reader.read_columns(read, view, seeker, prefix)
        bounds = ReadOptions()
        bounds.set_iterate_upper_bound(row_end(prefix))

        def open_all() -> list[tuple[Any, Any]]:
            return [
                (
                    read.family.rocks.iter(bounds),
                    read.family.rocks.items(from_key=prefix, read_opt=bounds)
                    if read.wanted is None
                    else None,
                )
                for read in reads
            ]

        opened = open_all() if len(reads) == 1 else self._database.pin(open_all)
        cells: list[RawCell] = []
        for read, (seeker, items) in zip(reads, opened, strict=True):
            if items is None:
                cells += range_reader.read_columns(read, view, seeker, prefix)
            else:
                for _, found in range_reader.rows_forward(read, view, items, seeker, prefix):
                    cells += found
        return cells

    def read_filtered(
        self,
        reads: Sequence[range_reader.FamilyRead],
        view: range_reader.View,
        row: bytes,
        filter: Filter,
        *,
        together: bool = False,
    ) -> list[RawCell]:
        """Returns what a filter keeps of a row; `together`: it gets the row as a whole."""
        prefix = escape(row) + b"\x00"
        bounds = ReadOptions()
        bounds.set_iterate_upper_bound(row_end(prefix))
        span = Span(prefix, bounds, together=together)
        rows = read_filtered(self._database, reads, view, span, make_rule(filter))
        return next(rows, (prefix, []))[1]

    def read_column(
        self, table: OpenTable, row: bytes, column: bytes, versions: int
    ) -> list[RawCell]:
        """Returns the newest versions of one column, newest first."""
        reads = range_reader.select(table, (column,))
        return self.read(reads, range_reader.View(versions), row)


def seeker_of(reads: Sequence[range_reader.FamilyRead]) -> Any:
    """Returns an iterator for a read of one family, None for any other."""
    return reads[0].family.rocks.iter() if len(reads) == 1 else None
