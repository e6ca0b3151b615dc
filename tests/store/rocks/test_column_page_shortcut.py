"""Rows and pieces of rows that are read by walking over them are what the rules say of them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import webtable
from webtable import Scan, Table
from webtable.filters import ColumnPaginationFilter, ColumnRangeFilter, Filter, FilterList
from webtable.store.rocks.column_page_shortcut import Piece, piece_of
from webtable.store.scan import Get
from webtable.store.schema import Family, TableSchema

ROWS = [b"r%d" % n for n in range(8)]
QUALIFIERS = [b"", b"a", b"a\x00", b"a\x01b", b"b", b"c", b"cc", b"d"]


def filled(table: Table, chance: random.Random) -> None:
    """Puts cells of several versions into rows; some rows have markers of all kinds."""
    for row in ROWS:
        for _ in range(chance.randrange(40)):
            column = b"f:" + chance.choice(QUALIFIERS)
            table.put(row, {column: b"%d" % chance.randrange(99)}, timestamp=chance.randrange(1, 9))
        if chance.random() < 0.4:
            columns = chance.choice(((b"f",), (b"f:a", b"f:c"), (b"f:",)))
            table.delete(row, columns, timestamp=chance.randrange(1, 9))
        if chance.random() < 0.2:
            table.put(row, {b"f:b": b"short"}, timestamp=9, ttl_ms=3_600_000)


def pieces(chance: random.Random) -> list[Filter | None]:
    low, high = sorted(chance.sample(QUALIFIERS, 2))
    most = chance.randrange(1, 5)
    bounds = ColumnRangeFilter(low or None, True, high, False)
    return [
        None,
        ColumnPaginationFilter(most, 0),
        ColumnPaginationFilter(most, 2),
        ColumnPaginationFilter(most, low),
        FilterList((bounds, ColumnPaginationFilter(most, 0))),
        FilterList((bounds, ColumnPaginationFilter(most, 0)), "one"),
    ]


@pytest.mark.parametrize("versions", [1, 3])
def test_a_get_sees_what_a_scan_of_the_row_does(tmp_path: Path, versions: int) -> None:
    chance = random.Random(versions)
    with webtable.open(str(tmp_path / "store")) as store:
        for turn in range(12):
            name = f"t{turn}"
            store.create_table(
                TableSchema(name=name, families=(Family(name="f", versions=versions),))
            )
            table = store.table(name)
            filled(table, chance)
            for filter in pieces(chance):
                gets = [Get(row, (b"f",), filter=filter) for row in ROWS]
                for row, found in zip(ROWS, table.get_many(gets), strict=True):
                    scan = Scan(start=row, stop=row + b"\0", columns=(b"f",), filter=filter)
                    seen = next(iter(table.scan(scan)), None)
                    assert (found and found.raw_cells) == (seen and seen.raw_cells), (row, filter)


def test_only_filters_that_leave_a_piece_are_walked() -> None:
    assert piece_of(ColumnPaginationFilter(3, b"a")) == Piece(b"a", None, 3)
    bounds = ColumnRangeFilter(b"a", True, b"c", False)
    both = FilterList((bounds, ColumnPaginationFilter(3, 0)))
    assert piece_of(both) == Piece(b"a", b"c\0", 3)
    for other in (
        ColumnPaginationFilter(3, 1),
        bounds,
        FilterList((ColumnPaginationFilter(3, 0), bounds)),
        FilterList((ColumnRangeFilter(b"a", False, b"c", False), ColumnPaginationFilter(3, 0))),
        FilterList((ColumnRangeFilter(b"a", True, b"c", True), ColumnPaginationFilter(3, 0))),
        FilterList((bounds, ColumnPaginationFilter(3, b"b"))),
    ):
        assert piece_of(other) is None
