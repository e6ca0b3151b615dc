"""Filters in the embedded engine: what they do not read, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rocksdict import ReadOptions

import webtable
from webtable import Store, Table
from webtable.errors import InvalidRequest, StoreClosed
from webtable.filters import (
    ColumnPrefixFilter,
    ColumnRangeFilter,
    Filter,
    FilterList,
    FirstKeyOnlyFilter,
    FuzzyRowFilter,
    KeyOnlyFilter,
    LongComparator,
    MultipleColumnPrefixFilter,
    MultiRowRangeFilter,
    PageFilter,
    PrefixFilter,
    RandomRowFilter,
    RegexStringComparator,
    RowFilter,
    RowRange,
    SingleColumnValueFilter,
    ValueFilter,
)
from webtable.store.rocks import reader
from webtable.store.rocks.engine import RocksEngine
from webtable.store.rocks.filtering.making import make_rule
from webtable.store.rocks.filtering.reading import FamilyCursor, Span, filtered_rows

ROWS, COLUMNS = 400, 40


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with webtable.open(str(tmp_path / "store")) as store:
        yield store


@pytest.fixture
def table(store: Store) -> Table:
    """Many rows of many columns in family `f`, and one large column of each in family `g`."""
    table = store.create_table("t", "f", "g")
    columns = [b"f:%02d" % number for number in range(COLUMNS)]
    with table.batch() as batch:
        for number in range(ROWS):
            row = b"%d-%03d" % (number % 2, number)
            batch.put(row, dict.fromkeys(columns, b"%d" % number) | {b"g:": b"large"})
    return table


class Counting:
    """A real iterator that counts how often it is moved, and how many values are looked at."""

    def __init__(self, real: Any) -> None:
        self._real = real
        self.moves = 0
        self.values = 0

    def __getattr__(self, name: str) -> Any:
        if name in {"next", "prev", "seek", "seek_for_prev"}:
            self.moves += 1
        if name == "value":
            return self._value
        return getattr(self._real, name)

    def _value(self) -> bytes:
        self.values += 1
        value: bytes = self._real.value()
        return value


def work(store: Store, filter: Filter, *, reverse: bool = False) -> tuple[int, list[Counting]]:
    """Returns the number of rows that a scan gives, and its iterators."""
    engine = store._engine
    assert isinstance(engine, RocksEngine)
    reads = reader.select(engine._admin.table("t"), ())
    span = Span(b"", ReadOptions(), reverse, together=reverse)
    seekers = [Counting(read.family.rocks.iter()) for read in reads]
    cursors = [
        FamilyCursor(read, reader.NEWEST, seeker, span)  # type: ignore[arg-type]
        for read, seeker in zip(reads, seekers, strict=True)
    ]
    rule = make_rule(filter, reverse=reverse)
    return len(list(filtered_rows(cursors, rule, span, lambda: False))), seekers


CELLS = ROWS * COLUMNS
A_ROW = b"1-399"


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("filter", "rows"),
    [
        (PrefixFilter(A_ROW), 1),
        (FuzzyRowFilter(((A_ROW, b"\1\0\0\0\0"),)), 1),
        (MultiRowRangeFilter((RowRange(b"0-100", b"0-101"), RowRange(A_ROW))), 2),
        (PageFilter(1), 1),
        (FilterList((PrefixFilter(A_ROW), FirstKeyOnlyFilter())), 1),
    ],
)
def test_rows_that_are_left_out_are_not_walked_through(
    store: Store, filter: Filter, rows: int, reverse: bool
) -> None:
    found, seekers = work(store, filter, reverse=reverse)
    assert found == rows
    assert sum(seeker.moves for seeker in seekers) < CELLS / 50


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    "filter",
    [
        FirstKeyOnlyFilter(),
        ColumnPrefixFilter(b"39"),
        ColumnRangeFilter(b"20", True, b"21", False),
        MultipleColumnPrefixFilter((b"10", b"30")),
        FilterList((RowFilter("=", RegexStringComparator("9$")), KeyOnlyFilter())),
    ],
)
def test_columns_that_are_left_out_are_not_walked_through(store: Store, filter: Filter) -> None:
    found, seekers = work(store, filter)
    assert found
    assert seekers[0].moves < CELLS / 3


@pytest.mark.usefixtures("table")
def test_families_that_do_not_matter_are_read_for_rows_that_pass(store: Store) -> None:
    one = SingleColumnValueFilter(b"f:00", "=", b"7", filter_if_missing=True)
    found, seekers = work(store, one)
    assert found == 1
    assert seekers[1].values == 1
    assert seekers[1].moves < 10


@pytest.mark.usefixtures("table")
def test_keys_are_read_without_values(store: Store) -> None:
    found, seekers = work(store, KeyOnlyFilter())
    assert found == ROWS
    assert [seeker.values for seeker in seekers] == [0, 0]


def test_a_random_part_of_the_rows(table: Table) -> None:
    counts = {sum(1 for _ in table.scan(filter=RandomRowFilter(0.5))) for _ in range(10)}
    assert len(counts) > 1
    assert all(ROWS / 4 < count < ROWS * 3 / 4 for count in counts)


def test_a_scan_ends_with_its_store(store: Store, table: Table) -> None:
    rows = table.scan(filter=KeyOnlyFilter())
    next(rows)
    store.close()
    with pytest.raises(StoreClosed):
        list(rows)


def test_a_number_must_have_eight_bytes(table: Table) -> None:
    with pytest.raises(InvalidRequest, match="8"):
        list(table.scan(filter=ValueFilter("=", LongComparator(1))))


@pytest.mark.parametrize(
    "pattern",
    [
        r"\p{L}",
        r"\Qa\E",
        r"\h",
        r"\R",
        r"\v",
        r"\0",
        r"\x{61}",
        r"\e",
        r"\b{g}",
        r"\k",
        r"\12",
        "[a[b]]",
        "[a&&b]",
        "[]a]",
        "[a",
        "[a--b]",
        "a{,2}",
        "{",
        "(?m)a",
        "(?x)a",
        "(?-s:a)",
        "a(?i)b",
        "(?P<name>a)",
        "(?#comment)",
        "(?(1)a|b)",
        "(?<=a*)b",
        "a**",
        "(a",
        "a\\",
        "(a)\\2",
    ],
)
def test_what_java_and_python_read_differently_is_refused(table: Table, pattern: str) -> None:
    """At once, before a row is read."""
    match = ValueFilter("=", RegexStringComparator(pattern))
    with pytest.raises(InvalidRequest, match="regular expression") as caught:
        table.scan(filter=match)
    assert caught.value.hint
