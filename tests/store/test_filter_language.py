"""The filter language without a store: both ways, and what is said of a text that is none."""

from __future__ import annotations

import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import webtable
from tests.store.filter_values import filters_with_text
from webtable import Check, Get, Scan, filters
from webtable.errors import InvalidRequest
from webtable.filters import (
    BitComparator,
    ColumnPaginationFilter,
    ColumnRangeFilter,
    DependentColumnFilter,
    Filter,
    FilterList,
    FuzzyRowFilter,
    KeyOnlyFilter,
    LongComparator,
    MultiRowRangeFilter,
    PageFilter,
    PrefixFilter,
    RandomRowFilter,
    RegexStringComparator,
    RowFilter,
    RowRange,
    SingleColumnValueFilter,
    SkipFilter,
    SubstringComparator,
    ValueFilter,
    WhileMatchFilter,
    filter_text,
    parse_filter,
)

KEYS: Filter = KeyOnlyFilter()


@given(filter=filters_with_text)
def test_every_filter_comes_back_from_its_text(filter: Filter) -> None:
    assert parse_filter(filter_text(filter)) == filter


@given(text=st.one_of(st.text(max_size=40), st.text("PageFilter(5)' ANDORSKIP,", max_size=40)))
def test_any_text_is_read_or_rejected(text: str) -> None:
    read: Filter | InvalidRequest
    try:
        read = parse_filter(text)
    except InvalidRequest as error:
        read = error
    if isinstance(read, InvalidRequest):
        assert read.message.startswith("filter text, position ")
        assert read.hint
    else:
        assert parse_filter(filter_text(read)) == read


def test_operators_bind_as_in_hbase() -> None:
    one, two, three = (PageFilter(number) for number in (1, 2, 3))
    assert parse_filter("PageFilter(1) OR PageFilter(2) AND PageFilter(3)") == FilterList(
        (one, FilterList((two, three))), "one"
    )
    assert parse_filter("PageFilter(1) AND PageFilter(2) AND PageFilter(3)") == FilterList(
        (one, two, three)
    )
    assert parse_filter("(PageFilter(1) AND PageFilter(2)) AND PageFilter(3)") == FilterList(
        (FilterList((one, two)), three)
    )
    assert parse_filter("SKIP PageFilter(1) AND WHILE PageFilter(2)") == FilterList(
        (SkipFilter(one), WhileMatchFilter(two))
    )
    assert parse_filter("SKIP (PageFilter(1) OR PageFilter(2))") == SkipFilter(
        FilterList((one, two), "one")
    )


def test_arguments() -> None:
    assert parse_filter("PrefixFilter('it''s)')") == PrefixFilter(b"it's)")
    assert parse_filter(b"PrefixFilter('\xff')") == PrefixFilter(b"\xff")
    assert parse_filter("RowFilter(>=, 'binary:a:b')") == RowFilter(">=", b"a:b")
    assert parse_filter("ColumnRangeFilter('',TRUE,'b',False)") == ColumnRangeFilter(
        None, True, b"b", False
    )
    assert parse_filter("DependentColumnFilter('f', 'q', true)") == DependentColumnFilter(
        b"f:q", True
    )
    assert parse_filter(
        "SingleColumnValueFilter('f','',=,'regexstringnocase:^a',true,false)"
    ) == SingleColumnValueFilter(
        b"f:", "=", RegexStringComparator("^a", ignore_case=True), True, False
    )


@pytest.mark.parametrize(
    ("text", "position", "said"),
    [
        ("", 0, "write one"),
        ("PageFilter(5) and KeyOnlyFilter()", 14, "capital letters: AND"),
        ("PageFilter(5) KeyOnlyFilter()", 14, "AND or OR"),
        ("PageFilter(5) AND ", 18, "write one"),
        ("OR PageFilter(5)", 0, "between two filters"),
        ("PageFilter(5))", 13, "remove it"),
        ("(PageFilter(5)", 0, "never closed"),
        ("PageFilter", 10, "PageFilter(page_size)"),
        ("PageFilter(5", 12, "do not end"),
        ("PageFilter()", 0, "PageFilter(page_size)"),
        ("PageFilter('5')", 11, "without quotes"),
        ("PageFilter(" + "9" * 50 + ")", 11, "whole number"),
        ("PageFilter(-1)", 0, "from 0"),
        ("PageFliter(5)", 0, "PageFilter"),
        ("FuzzyRowFilter('a')", 0, "webtable.filters.FuzzyRowFilter"),
        ("PrefixFilter(a)", 13, "'a'"),
        ("PrefixFilter('é) AND KeyOnlyFilter()", 13, "never closed"),
        ("PrefixFilter('a'b)", 16, "comma"),
        ("KeyOnlyFilter(yes)", 14, "true or false"),
        ("RowFilter(==, 'binary:a')", 10, "!="),
        ("RowFilter(=, 'a')", 13, "binary:VALUE"),
        ("RowFilter(<, 'substring:a')", 0, "= or !="),
        ("RowFilter(=, 'binary:é') OR X()", 28, "known filters"),
        ("SingleColumnValueFilter('f','q',=,'binary:a',true)", 0, "[, filter_if_missing"),
        ("ColumnValueFilter('', 'q', =, 'binary:a')", 0, "family"),
        ("SKIP " * 200 + "PageFilter(5)", 499, "flatten"),
    ],
)
def test_a_bad_text_is_rejected_with_its_position(text: str, position: int, said: str) -> None:
    with pytest.raises(InvalidRequest, match=f"^filter text, position {position}: ") as caught:
        parse_filter(text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "filter",
    [
        FuzzyRowFilter(((b"a", b"\0"),)),
        RandomRowFilter(0.5),
        MultiRowRangeFilter((RowRange(b"a", b"b"),)),
        FilterList(()),
        FilterList((PageFilter(1),)),
        ColumnPaginationFilter(1, b"a"),
        ValueFilter("=", LongComparator(1)),
        SkipFilter(ValueFilter("=", BitComparator(b"a", "and"))),
    ],
)
def test_filters_without_a_text_are_reported(filter: Filter) -> None:
    with pytest.raises(InvalidRequest, match="cannot express"):
        filter_text(filter)


@pytest.mark.parametrize(
    "make",
    [
        lambda: PrefixFilter("text"),  # type: ignore[arg-type]
        lambda: PageFilter(-1),
        lambda: PageFilter(2**63),
        lambda: PageFilter("5"),  # type: ignore[arg-type]
        lambda: RowFilter("==", b"a"),  # type: ignore[arg-type]
        lambda: RowFilter("=", "a"),  # type: ignore[arg-type]
        lambda: ValueFilter("<", RegexStringComparator("a")),
        lambda: ValueFilter("=", SubstringComparator(b"a")),  # type: ignore[arg-type]
        lambda: ValueFilter("=", SubstringComparator("\udcff")),
        lambda: ValueFilter("=", LongComparator(2**63)),
        lambda: ValueFilter("=", BitComparator(b"a", "nor")),  # type: ignore[arg-type]
        lambda: SingleColumnValueFilter(b"column", "=", b""),
        lambda: DependentColumnFilter(b"f:q", False, "="),
        lambda: filters.MultipleColumnPrefixFilter((b"a", b"a")),
        lambda: filters.MultipleColumnPrefixFilter(b"ab"),  # type: ignore[arg-type]
        lambda: filters.TimestampsFilter((-1,)),
        lambda: FuzzyRowFilter(()),
        lambda: FuzzyRowFilter(((b"ab", b"\0"),)),
        lambda: FuzzyRowFilter(((b"ab", b"\0\2"),)),
        lambda: MultiRowRangeFilter(()),
        lambda: MultiRowRangeFilter((RowRange(b"b", b"a"),)),
        lambda: MultiRowRangeFilter((RowRange(b"a", b"a"),)),
        lambda: RandomRowFilter(1.5),
        lambda: SkipFilter("PageFilter(5)"),  # type: ignore[arg-type]
        lambda: SkipFilter(FilterList((MultiRowRangeFilter((RowRange(b"a"),)),))),
        lambda: FilterList((PageFilter(1),), "both"),  # type: ignore[arg-type]
        lambda: functools.reduce(lambda inner, _: SkipFilter(inner), range(200), KEYS),
        lambda: functools.reduce(lambda inner, _: FilterList((inner,)), range(200), KEYS),
        lambda: FilterList(("PageFilter(5)",)),  # type: ignore[arg-type]
        lambda: Scan(filter=5),  # type: ignore[arg-type]
        lambda: Scan(filter="PageFilter"),
        lambda: Get(b"row", filter="PageFilter"),
        lambda: Check.matches("PageFilter"),
    ],
)
def test_bad_arguments_are_rejected_at_once(make: object) -> None:
    assert callable(make)
    with pytest.raises(InvalidRequest) as caught:
        make()
    assert caught.value.hint


def test_a_request_keeps_the_filter_of_a_text() -> None:
    assert Scan(filter="KeyOnlyFilter()").filter == KeyOnlyFilter()
    assert Get(b"row", filter="KeyOnlyFilter()") == Get(b"row", filter=KeyOnlyFilter())
    assert Check.matches("KeyOnlyFilter()").filter == KeyOnlyFilter()
    assert "KeyOnlyFilter" in repr(Check.matches("KeyOnlyFilter()"))


def test_ranges_that_touch_are_one() -> None:
    merged = MultiRowRangeFilter(
        (
            RowRange(b"m", b"p"),
            RowRange(b"a", b"c"),
            RowRange(b"c", b"d", True, True),
            RowRange(b"d", b"f", False, False),
            RowRange(b"f", b"g", False, False),
            RowRange(b"n", b"o"),
        )
    )
    assert merged.ranges == (
        RowRange(b"a", b"f"),
        RowRange(b"f", b"g", False, False),
        RowRange(b"m", b"p"),
    )
    assert MultiRowRangeFilter((RowRange(b"a"), RowRange(b"b", b"c"))).ranges == (RowRange(b"a"),)


def test_the_public_names() -> None:
    assert filters.__all__ == sorted(filters.__all__)
    assert all(hasattr(filters, name) for name in filters.__all__)
    assert webtable.filters is filters
    assert webtable.__all__ == sorted(webtable.__all__)
