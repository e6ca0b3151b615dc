"""Filters do not read what they can skip, counted at the iterators of RocksDB.

Every scan and get here is a public call; between it and RocksDB stands a family that counts where
its iterators come to.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import webtable
from webtable import Table
from webtable.filters import (
    ColumnPaginationFilter,
    ColumnPrefixFilter,
    ColumnRangeFilter,
    Filter,
    FilterList,
    FirstKeyOnlyFilter,
    FuzzyRowFilter,
    InclusiveStopFilter,
    KeyOnlyFilter,
    MultipleColumnPrefixFilter,
    MultiRowRangeFilter,
    PageFilter,
    PrefixFilter,
    RegexStringComparator,
    RowFilter,
    RowRange,
    SingleColumnValueFilter,
    ValueFilter,
)
from webtable.store.rocks.engine import RocksEngine

ROWS, COLUMNS, WIDTH = 200, 40, 5_000
CELLS = ROWS * COLUMNS
LARGE = b"large" * 2_000


class Counts:
    """What the iterators of one family did: the cells they came to, the values they handed out."""

    def __init__(self) -> None:
        self.cells = 0
        self.values = 0


class CountedIterator:
    """A real iterator that is counted."""

    def __init__(self, real: Any, counts: Counts) -> None:
        self._real = real
        self._counts = counts

    def __getattr__(self, name: str) -> Any:
        if name in {"next", "prev", "seek", "seek_for_prev", "seek_to_first", "seek_to_last"}:
            self._counts.cells += 1
        return getattr(self._real, name)

    def value(self) -> bytes:
        self._counts.values += 1
        value: bytes = self._real.value()
        return value


class CountedRocks:
    """A real column family of RocksDB whose iterators are counted."""

    def __init__(self, real: Any) -> None:
        self._real = real
        self.counts = Counts()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def iter(self, *options: Any) -> CountedIterator:
        return CountedIterator(self._real.iter(*options), self.counts)

    def items(self, **options: Any) -> Iterator[tuple[bytes, bytes]]:
        for entry in self._real.items(**options):
            self.counts.cells += 1
            self.counts.values += 1
            yield entry


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Table, Any]]:
    """A table, and its families with their counts.

    Rows of many columns in family `f`, two large cells each in `g`, and one row that is very wide.
    """
    path: Path = tmp_path_factory.mktemp("skips")
    with webtable.open(str(path / "store")) as store:
        table = store.create_table("t", "f", "g")
        columns = [b"f:%02d" % number for number in range(COLUMNS)]
        with table.batch(size=50) as batch:
            for number in range(ROWS):
                row = b"%d-%03d" % (number % 2, number)
                values = dict.fromkeys(columns, b"%d" % number)
                batch.put(row, values | {b"g:a": LARGE, b"g:b": LARGE})
        table.put(b"wide", {b"f:%05d" % number: b"" for number in range(WIDTH)})
        table.flush()
        engine = store._engine
        assert isinstance(engine, RocksEngine)
        families = engine._admin.table("t").families
        for family in families.values():
            family.rocks = CountedRocks(family.rocks)
        yield table, families


def read(counted: tuple[Table, Any], filter: Filter, **options: Any) -> tuple[int, Counts, Counts]:
    """Returns how many rows a scan gives, and what it did to both families."""
    table, families = counted
    for family in families.values():
        family.rocks.counts = Counts()
    found = sum(1 for _ in table.scan(stop=b"w", filter=filter, **options))
    return found, families[b"f"].rocks.counts, families[b"g"].rocks.counts


def test_all_is_counted(counted: tuple[Table, Any]) -> None:
    """A filter that must see every value reads every cell, and no cell more than twice."""
    found, f, g = read(counted, ValueFilter("!=", b"none"))
    assert found == ROWS
    assert CELLS <= f.cells < CELLS * 1.2
    assert ROWS * 2 <= g.cells < ROWS * 2 * 1.6
    bare, families = counted
    families[b"f"].rocks.counts = Counts()
    assert sum(1 for _ in bare.scan(stop=b"w")) == ROWS
    assert CELLS <= families[b"f"].rocks.counts.cells < CELLS * 1.1


A_ROW = b"1-199"


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("filter", "rows"),
    [
        (PrefixFilter(A_ROW), 1),
        (PrefixFilter(b"1-19"), 5),
        (FilterList((PrefixFilter(b"1-19"), FirstKeyOnlyFilter())), 5),
        (FilterList((PrefixFilter(b"1-19"), SingleColumnValueFilter(b"f:00", "=", b"191"))), 1),
        (RowFilter("=", A_ROW), 1),
        (FuzzyRowFilter(((A_ROW, b"\1\0\0\0\0"),)), 1),
        (MultiRowRangeFilter((RowRange(b"0-100", b"0-101"), RowRange(A_ROW))), 2),
        (PageFilter(1), 1),
    ],
)
def test_rows_that_are_left_out_are_not_read(
    counted: tuple[Table, Any], filter: Filter, rows: int, reverse: bool
) -> None:
    found, f, g = read(counted, filter, reverse=reverse)
    assert found == rows
    # The cells of five rows at most, and a few steps around them; two hundred are there.
    assert f.cells < 6 * (COLUMNS + 5)
    assert g.cells < 6 * 12


def test_a_stop_ends_the_scan(counted: tuple[Table, Any]) -> None:
    found, f, _ = read(counted, InclusiveStopFilter(b"0-008"))
    assert found == 5
    assert f.cells < 7 * (COLUMNS + 5)


@pytest.mark.parametrize(
    ("filter", "most"),
    [
        (FirstKeyOnlyFilter(), 8),
        (ColumnPrefixFilter(b"39"), 5),
        (ColumnPrefixFilter(b"20"), 10),
        (ColumnRangeFilter(b"20", True, b"21", False), 10),
        (ColumnRangeFilter(b"38", True, None, False), 6),
        (MultipleColumnPrefixFilter((b"10", b"30")), 12),
        (ColumnPaginationFilter(1, b"30"), 10),
        (FilterList((ColumnPrefixFilter(b"2"), ColumnPrefixFilter(b"29"))), 10),
        (FilterList((FirstKeyOnlyFilter(), KeyOnlyFilter())), 8),
        (FilterList((RowFilter("=", RegexStringComparator("9$")), KeyOnlyFilter())), 14),
    ],
)
def test_columns_that_are_left_out_are_not_read(
    counted: tuple[Table, Any], filter: Filter, most: int
) -> None:
    found, f, _ = read(counted, filter)
    assert found
    assert f.cells <= ROWS * most + COLUMNS  # of forty a row


@pytest.mark.parametrize(
    ("filter", "kept"),
    [
        (ColumnPrefixFilter(b"04990"), 1),
        (ColumnPrefixFilter(b"0499"), 10),
        (ColumnRangeFilter(b"04990", True, b"04992", False), 2),
        (MultipleColumnPrefixFilter((b"00100", b"04990")), 2),
        (ColumnPaginationFilter(3, b"02500"), 3),
        (FirstKeyOnlyFilter(), 1),
    ],
)
def test_a_get_reads_a_part_of_a_wide_row(
    counted: tuple[Table, Any], filter: Filter, kept: int
) -> None:
    table, families = counted
    families[b"f"].rocks.counts = Counts()
    row = table.get(b"wide", filter=filter)
    assert row is not None
    assert len(row) == kept
    assert families[b"f"].rocks.counts.cells < kept + 20


def test_a_scan_that_begins_with_a_wide_row_does_not_read_it(counted: tuple[Table, Any]) -> None:
    table, families = counted
    families[b"f"].rocks.counts = Counts()
    for filter in (FirstKeyOnlyFilter(), ColumnPrefixFilter(b"04990")):
        assert [len(row) for row in table.scan(start=b"w", filter=filter)] == [1]
    # Two checks whether it is wide, and a few seeks.
    assert families[b"f"].rocks.counts.cells < WIDTH / 2


def test_families_that_do_not_matter_are_read_for_rows_that_pass(
    counted: tuple[Table, Any],
) -> None:
    one = SingleColumnValueFilter(b"f:00", "=", b"7", filter_if_missing=True)
    found, f, g = read(counted, one)
    assert found == 1
    assert f.cells <= CELLS + COLUMNS + 10
    assert g.values == 2
    assert g.cells < 10


def test_large_values_are_not_read_for_their_keys(counted: tuple[Table, Any]) -> None:
    found, _, g = read(counted, KeyOnlyFilter(), columns=(b"g",))
    assert found == ROWS
    assert g.values < ROWS / 20  # of two a row
