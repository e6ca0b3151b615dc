"""Filters: what each of them keeps, on every engine; `tests/lockstep` compares them at random."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from webtable import ALL_VERSIONS, Check, Delete, Get, Put, Store, Table
from webtable.errors import FamilyNotFound, InvalidRequest
from webtable.filters import (
    BinaryComparator,
    BinaryPrefixComparator,
    BitComparator,
    ColumnCountGetFilter,
    ColumnPaginationFilter,
    ColumnPrefixFilter,
    ColumnRangeFilter,
    ColumnValueFilter,
    DependentColumnFilter,
    FamilyFilter,
    Filter,
    FilterList,
    FirstKeyOnlyFilter,
    FuzzyRowFilter,
    InclusiveStopFilter,
    KeyOnlyFilter,
    LongComparator,
    MultipleColumnPrefixFilter,
    MultiRowRangeFilter,
    NullComparator,
    PageFilter,
    PrefixFilter,
    QualifierFilter,
    RandomRowFilter,
    RegexStringComparator,
    RowFilter,
    RowRange,
    SingleColumnValueExcludeFilter,
    SingleColumnValueFilter,
    SkipFilter,
    SubstringComparator,
    TimestampsFilter,
    ValueFilter,
    WhileMatchFilter,
)

from .conftest import Rows

Kept = list[tuple[bytes, list[tuple[bytes, int]]]]
NAMES = (b"a1", b"a2", b"b1")


@pytest.fixture
def grid(table: Table, rows: Rows) -> Callable[..., Kept]:
    """Three rows with three columns in two families, two versions each; the values name them.

    Returns a function that gives row names, columns and timestamps that a scan keeps.
    """
    with table.batch() as batch:
        for name in NAMES:
            for stamp in (10, 20):
                values = dict.fromkeys((b"one:x", b"three:x", b"three:y"), name + b" %d" % stamp)
                batch.put(rows(name), values, timestamp=stamp)

    def kept(filter: Filter | str, **options: object) -> Kept:
        found = table.scan(prefix=rows(b""), filter=filter, **options)  # type: ignore[arg-type]
        return [(rows.name(row), [(c.column, c.timestamp) for c in row]) for row in found]

    return kept


X1, X3, Y3 = (b"one:x", 20), (b"three:x", 20), (b"three:y", 20)
ALL = [X1, X3, Y3]


def test_filters_on_rows(grid: Callable[..., Kept], rows: Rows) -> None:
    def names(filter: Filter, **options: object) -> list[bytes]:
        found = grid(filter, **options)
        assert all(cells == ALL for _, cells in found)
        return [name for name, _ in found]

    assert names(PrefixFilter(rows(b"a"))) == [b"a1", b"a2"]
    assert names(PrefixFilter(rows(b"a")), reverse=True) == [b"a2", b"a1"]
    assert names(PrefixFilter(rows(b"c"))) == []
    assert names(InclusiveStopFilter(rows(b"a2"))) == [b"a1", b"a2"]
    assert names(InclusiveStopFilter(rows(b"a2")), reverse=True) == [b"b1", b"a2"]
    assert names(PageFilter(2)) == [b"a1", b"a2"]
    assert names(PageFilter(0)) == []
    assert names(RowFilter("<=", rows(b"a2"))) == [b"a1", b"a2"]
    assert names(RowFilter("!=", BinaryPrefixComparator(rows(b"a")))) == [b"b1"]
    assert names(RowFilter("=", RegexStringComparator("[ab]1$"))) == [b"a1", b"b1"]
    assert names(RandomRowFilter(0)) == []
    assert names(RandomRowFilter(1)) == [b"a1", b"a2", b"b1"]
    zeros = b"\0" * len(rows.prefix)
    assert names(FuzzyRowFilter(((rows(b"?1"), zeros + b"\1\0"),))) == [b"a1", b"b1"]
    ranges = (RowRange(rows(b"a2"), rows(b"a9")), RowRange(rows(b"a1"), rows(b"a2"), False, True))
    assert names(MultiRowRangeFilter(ranges)) == [b"a2"]
    assert names(MultiRowRangeFilter(ranges), reverse=True) == [b"a2"]
    assert names(MultiRowRangeFilter((RowRange(rows(b"a2")),)), stop=rows(b"b2")) == [b"a2", b"b1"]


def test_filters_on_columns(grid: Callable[..., Kept]) -> None:
    def columns(filter: Filter) -> list[tuple[bytes, int]]:
        found = grid(filter)
        assert [name for name, _ in found] == list(NAMES)
        assert all(cells == found[0][1] for _, cells in found)
        return found[0][1]

    assert columns(FirstKeyOnlyFilter()) == [X1]
    assert columns(ColumnPrefixFilter(b"y")) == [Y3]
    assert columns(ColumnPrefixFilter(b"")) == ALL
    assert columns(MultipleColumnPrefixFilter((b"y", b"z"))) == [Y3]
    assert columns(MultipleColumnPrefixFilter(())) == ALL
    assert columns(ColumnPaginationFilter(1, 1)) == [X3]
    assert columns(ColumnPaginationFilter(5, b"y")) == [Y3]
    assert columns(ColumnRangeFilter(b"x", False, b"y", True)) == [Y3]
    assert columns(ColumnRangeFilter(b"", True, b"y", False)) == [X1, X3]
    assert columns(ColumnRangeFilter()) == ALL
    assert columns(FamilyFilter("=", b"three")) == [X3, Y3]
    assert columns(QualifierFilter(">", b"x")) == [Y3]
    assert columns(TimestampsFilter((10,))) == [(b"three:x", 10), (b"three:y", 10)]


def test_filters_on_values(grid: Callable[..., Kept]) -> None:
    assert grid(ValueFilter("=", b"a2 20")) == [(b"a2", ALL)]
    assert grid(ValueFilter("=", SubstringComparator("A2 10"))) == [
        (b"a2", [(b"three:x", 10), (b"three:y", 10)])
    ]
    assert grid(ColumnValueFilter(b"three:y", "<", b"b")) == [(b"a1", [Y3]), (b"a2", [Y3])]
    column = b"three:y"
    assert grid(SingleColumnValueFilter(column, "=", b"a2 20")) == [(b"a2", ALL)]
    assert grid(SingleColumnValueFilter(column, "=", b"a2 10")) == []
    older = SingleColumnValueFilter(column, "=", b"a2 10", latest_version_only=False)
    assert grid(older) == [(b"a2", ALL)]
    assert grid(SingleColumnValueExcludeFilter(column, "=", b"a2 20")) == [(b"a2", [X1, X3])]
    missing = SingleColumnValueFilter(b"three:none", "=", b"")
    assert len(grid(missing)) == 3
    assert grid(SingleColumnValueFilter(b"three:none", "=", b"", filter_if_missing=True)) == []


def test_a_dependent_column(table: Table, rows: Rows) -> None:
    table.put(rows(), {b"every:a": b"1", b"every:b": b"", b"every:c": b""}, timestamp=10)
    table.put(rows(), {b"every:a": b"2", b"every:b": b""}, timestamp=20)
    table.put(rows(), {b"every:c": b""}, timestamp=30)

    def stamps(filter: Filter) -> list[tuple[bytes, int]]:
        row = table.get(rows(), versions=ALL_VERSIONS, filter=filter)
        return [] if row is None else [(c.qualifier, c.timestamp) for c in row]

    assert stamps(DependentColumnFilter(b"every:c")) == [
        (b"a", 10),
        (b"b", 10),
        (b"c", 30),
        (b"c", 10),
    ]
    assert stamps(DependentColumnFilter(b"every:a", True)) == [(b"b", 20), (b"b", 10), (b"c", 10)]
    assert stamps(DependentColumnFilter(b"every:a", True, ">", b"1")) == [(b"b", 20)]


def test_keys_without_values(table: Table, rows: Rows) -> None:
    table.put(rows(), {b"one:v": b"value"})
    for length_as_value, value in ((False, b""), (True, b"\0\0\0\5")):
        (row,) = table.scan(prefix=rows(), filter=KeyOnlyFilter(length_as_value))
        assert row.values() == {b"one:v": value}


def test_filters_of_filters(grid: Callable[..., Kept], rows: Rows) -> None:
    row = RowFilter("=", rows(b"a2"))
    prefix = ColumnPrefixFilter(b"y")
    assert grid(FilterList((row, prefix))) == [(b"a2", [Y3])]
    assert grid(FilterList((row, prefix), "one")) == [(b"a1", [Y3]), (b"a2", ALL), (b"b1", [Y3])]
    assert len(grid(FilterList(()))) == 3
    assert grid(SkipFilter(ValueFilter("!=", b"a1 20"))) == [(b"a2", ALL), (b"b1", ALL)]
    assert grid(WhileMatchFilter(RowFilter("<", rows(b"b1")))) == [(b"a1", ALL), (b"a2", ALL)]
    ended = WhileMatchFilter(ValueFilter("!=", b"a2 20"))
    assert grid(ended) == [(b"a1", ALL)]
    assert grid(f"PrefixFilter('{rows(b'a').decode()}') AND KeyOnlyFilter()") == [
        (b"a1", ALL),
        (b"a2", ALL),
    ]


def test_comparators(table: Table, rows: Rows) -> None:
    numbers = {-5: b"a", 0: b"b", 7: b"c"}
    for number, name in numbers.items():
        table.put(rows(name), {b"one:n": number.to_bytes(8, "big", signed=True)})

    def names(filter: Filter) -> list[bytes]:
        return rows.names(table.scan(prefix=rows(b""), filter=filter))

    assert names(ValueFilter("<", LongComparator(0))) == [b"a"]
    assert names(ValueFilter(">=", LongComparator(0))) == [b"b", b"c"]
    assert names(ValueFilter("<", BinaryComparator((0).to_bytes(8, "big")))) == []
    five = b"\0" * 7 + b"\5"
    assert names(ValueFilter("=", BitComparator(five, "and"))) == [b"a", b"c"]
    assert names(ValueFilter("=", BitComparator(b"\0" * 7 + b"\7", "xor"))) == [b"a", b"b"]
    assert names(ValueFilter("=", BitComparator(b"\5", "or"))) == []
    assert names(ValueFilter("!=", NullComparator())) == [b"a", b"b", b"c"]
    assert names(ValueFilter("=", NullComparator())) == []


TEXTS = ["", "a", "A\n", "ab\r\n", "x1_", "é", "Ünder", "a\nb", "\u2028", "aa bb", "[]{}", "\\"]
# Which of the texts each finds something in, with and without regard to case: Java's results.
PATTERNS: dict[str, tuple[str, str]] = {
    "a": ("010100010100", "011100010100"),
    "^a": ("010100010100", "011100010100"),
    "a$": ("010000000000", "011000000000"),
    "^$": ("100000001000", "100000001000"),
    "b$": ("000100010100", "000100010100"),
    "a\\Z": ("010000000000", "011000000000"),
    "b\\z": ("000000010100", "000000010100"),
    "\\Aa": ("010100010100", "011100010100"),
    "a.b": ("000000010100", "000000010100"),
    "\\d": ("000010000000", "000010000000"),
    "\\w": ("011110110100", "011110110100"),
    "^\\W$": ("000001001001", "000001001001"),
    "\\s": ("001100010100", "001100010100"),
    "[^a]": ("001111111111", "001111111111"),
    "[\\w\\d]$": ("011110110100", "011110110100"),
    "[\\]\\[]": ("000000000010", "000000000010"),
    "(?i)a": ("011100010100", "011100010100"),
    "(?i:A)b": ("000100000000", "000100000000"),
    "a|x": ("010110010100", "011110010100"),
    "(a)\\1": ("000000000100", "000000000100"),
    "(?<first>a)\\k<first>": ("000000000100", "000000000100"),
    "a{2}": ("000000000100", "000000000100"),
    "a{1,}b": ("000100000000", "000100000000"),
    "a*?b": ("000100010100", "000100010100"),
    "a++b": ("000100000000", "000100000000"),
    "(?>a|ab)b": ("000100000000", "000100000000"),
    "(?=a)a": ("010100010100", "011100010100"),
    "(?!a)b": ("000100010100", "000100010100"),
    "(?<=a)b": ("000100000000", "000100000000"),
    "\\x61": ("010100010100", "011100010100"),
    "\\u00e9": ("000001000000", "000001000000"),
    "é": ("000001000000", "000001000000"),
    "\\{": ("000000000010", "000000000010"),
    "\\\\": ("000000000001", "000000000001"),
    "ü": ("000000000000", "000000000000"),
    "": ("111111111111", "111111111111"),
}


def test_regular_expressions_mean_the_same_everywhere(table: Table, rows: Rows) -> None:
    with table.batch() as batch:
        for at, text in enumerate(TEXTS):
            batch.put(rows(b"%02d" % at), {b"one:v": text.encode()})

    def found(pattern: str, ignore_case: bool) -> str:
        match = ValueFilter("=", RegexStringComparator(pattern, ignore_case))
        names = rows.names(table.scan(prefix=rows(b""), filter=match))
        return "".join("1" if b"%02d" % at in names else "0" for at in range(len(TEXTS)))

    answers = {pattern: (found(pattern, False), found(pattern, True)) for pattern in PATTERNS}
    assert answers == PATTERNS


def test_filters_and_the_other_options_of_a_scan(grid: Callable[..., Kept]) -> None:
    old = ValueFilter("=", RegexStringComparator("10$"))
    x, y = (b"three:x", 10), (b"three:y", 10)
    assert grid(old, limit=1) == [(b"a1", [x, y])]
    assert grid(old, columns=(b"three:y", b"one")) == [(name, [y]) for name in NAMES]
    assert grid(old, time_range=(11, 99)) == []
    assert grid(old, reverse=True) == [(name, [x, y]) for name in NAMES[::-1]]
    assert grid(KeyOnlyFilter(), versions=2)[0] == (
        b"a1",
        [X1, X3, (b"three:x", 10), Y3, (b"three:y", 10)],
    )
    with pytest.raises(FamilyNotFound):
        grid(old, columns=(b"thre",))


def test_a_raw_scan_shows_markers_to_the_filter(table: Table, rows: Rows) -> None:
    table.put(rows(), {b"every:a": b"1", b"every:b": b"2"}, timestamp=10)
    table.mutate(rows(), [Delete(rows()).column(b"every:a", 20)])
    (row,) = table.scan(
        prefix=rows(), raw=True, versions=ALL_VERSIONS, filter=TimestampsFilter((20,))
    )
    assert [(c.column, c.timestamp, int(c.type)) for c in row] == [(b"every:a", 20, 12)]


@pytest.mark.usefixtures("grid")
def test_gets(table: Table, rows: Rows) -> None:
    row = table.get(rows(b"a1"), filter=ColumnCountGetFilter(2))
    assert row is not None
    assert [c.column for c in row] == [b"one:x", b"three:x"]
    assert table.get(rows(b"a1"), filter="ValueFilter(=, 'binary:none')") is None
    assert table.get(rows(b"none"), filter=KeyOnlyFilter()) is None
    found = table.get_many(
        [rows(b"a1"), Get(rows(b"a2")), rows(b"none")], filter=FirstKeyOnlyFilter()
    )
    assert [None if row is None else len(row) for row in found] == [1, 3, None]


@pytest.mark.usefixtures("grid")
def test_a_filter_is_a_condition(table: Table, rows: Rows) -> None:
    row = rows(b"a1")
    marks = (b"one:mark%d" % number for number in itertools.count())

    def holds(filter: Filter | str, **options: tuple[int, int]) -> bool:
        mark = next(marks)
        check = Check.matches(filter, **options)
        result = table.check_and_mutate(row, check, Put(row, {mark: b""}))
        assert result.success is (table.get(row, [mark]) is not None)
        return result.success

    assert holds("SingleColumnValueFilter('three', 'y', =, 'binary:a1 20', true, true)")
    assert not holds("SingleColumnValueFilter('three', 'y', =, 'binary:a1 10', true, true)")
    assert holds(
        FilterList((QualifierFilter("=", b"y"), ValueFilter("=", b"a1 10"))), time_range=(0, 11)
    )
    assert not holds(ColumnPrefixFilter(b"nothing"))
    absent = Check.matches(FirstKeyOnlyFilter())
    assert not table.check_and_mutate(rows(b"none"), absent, Put(rows(b"none"), {b"one:a": b""}))


def test_filters_over_many_regions(store: Store, new_name: str, engine_name: str) -> None:
    table = store.create_table(new_name, "f", splits=[b"b", b"c", b"d"])
    for key in (b"a1", b"a2", b"b1", b"b2", b"c1", b"d1", b"d2"):
        table.put(key, {b"f:v": key})

    def keys(filter: Filter, **options: object) -> list[bytes]:
        found = table.scan(filter=filter, **options)  # type: ignore[arg-type]
        return [row.key for row in found]

    assert keys(RowFilter("=", SubstringComparator("2"))) == [b"a2", b"b2", b"d2"]
    assert keys(RowFilter("=", SubstringComparator("2")), reverse=True) == [b"d2", b"b2", b"a2"]
    assert keys(PrefixFilter(b"d")) == [b"d1", b"d2"]
    assert keys(ValueFilter("=", b"none")) == []
    ranges = MultiRowRangeFilter((RowRange(b"a2", b"b2"), RowRange(b"d", b"d2")))
    assert keys(ranges) == [b"a2", b"b1", b"d1"]
    assert keys(FirstKeyOnlyFilter(), limit=3) == [b"a1", b"a2", b"b1"]
    # A region that has nothing before its filter ends the scan ends it for all that follow.
    assert keys(WhileMatchFilter(RowFilter("!=", b"b1"))) == [b"a1", b"a2"]
    assert keys(WhileMatchFilter(RowFilter("!=", b"c1")), reverse=True) == [b"d2", b"d1"]
    # HBase counts in each region separately; an embedded table is one region to a filter.
    pages = {"rocks": [b"a1"], "hbase": [b"a1", b"b1", b"c1", b"d1"]}
    assert keys(PageFilter(1)) == pages[engine_name]


def test_a_prefix_longer_than_a_row_key(table: Table, rows: Rows) -> None:
    """The filter of HBase 2.6.4 fails over it, where the scan is not narrowed before."""
    for name in (b"a", b"a\x00", b"a\x00b", b"b"):
        table.put(rows(name), {b"one:v": b""})
    for columns in ((), (b"one:v",)):
        found = table.scan(start=rows.prefix, columns=columns, filter=PrefixFilter(rows(b"a\x00")))
        assert rows.names(found) == [b"a\x00", b"a\x00b"]


def test_unreadable_values_and_expressions_are_rejected(table: Table, rows: Rows) -> None:
    table.put(rows(), {b"one:v": b"short"})
    for pattern in ("(", "[", "a{", "*", "\\"):
        bad = ValueFilter("=", RegexStringComparator(pattern))
        with pytest.raises(InvalidRequest):
            list(table.scan(prefix=rows(), filter=bad))
        with pytest.raises(InvalidRequest):
            table.get(rows(), filter=bad)
