"""What a filter says about the rows that it can keep."""

from __future__ import annotations

import pytest

from webtable import Scan
from webtable.filters import (
    BinaryPrefixComparator,
    ColumnCountGetFilter,
    Filter,
    FilterList,
    KeyOnlyFilter,
    MultiRowRangeFilter,
    PageFilter,
    PrefixFilter,
    RowFilter,
    RowRange,
    SkipFilter,
    WhileMatchFilter,
)
from webtable.store.filtering.row_bounds import filter_bounds

AB = PrefixFilter(b"ab")
NONE = (b"", b"")


@pytest.mark.parametrize(
    ("filter", "bounds"),
    [
        (AB, (b"ab", b"ac")),
        (PrefixFilter(b""), NONE),
        (PrefixFilter(b"\xff"), (b"\xff", b"")),
        (PrefixFilter(b"a" * 40_000), NONE),
        (RowFilter("=", b"a"), (b"a", b"a\0")),
        (RowFilter("<", b"a"), (b"", b"a")),
        (RowFilter("<=", b"a"), (b"", b"a\0")),
        (RowFilter(">", b"a"), (b"a\0", b"")),
        (RowFilter(">=", b"a"), (b"a", b"")),
        (RowFilter("!=", b"a"), NONE),
        (RowFilter("<", b""), NONE),
        (RowFilter("=", BinaryPrefixComparator(b"a")), (b"a", b"b")),
        (RowFilter("<", BinaryPrefixComparator(b"a")), NONE),
        (MultiRowRangeFilter((RowRange(b"x", b"y"), RowRange(b"b", b"c"))), (b"b", b"y")),
        (MultiRowRangeFilter((RowRange(b"b", b"c", True, True),)), (b"b", b"c\0")),
        (MultiRowRangeFilter((RowRange(b"b"),)), (b"b", b"")),
        (FilterList((AB, RowFilter(">", b"abc"), KeyOnlyFilter())), (b"abc\0", b"ac")),
        (FilterList((AB, FilterList((RowFilter("<", b"abc"),)))), (b"ab", b"abc")),
        (FilterList((AB, PageFilter(1))), (b"ab", b"ac")),
        # What other rows can end, or pass, does not narrow.
        (FilterList((AB, KeyOnlyFilter()), "one"), NONE),
        (FilterList((AB, WhileMatchFilter(KeyOnlyFilter()))), NONE),
        (FilterList((AB, FilterList((ColumnCountGetFilter(1),)))), NONE),
        (WhileMatchFilter(AB), NONE),
        (SkipFilter(AB), NONE),
        (FilterList(()), NONE),
        (KeyOnlyFilter(), NONE),
    ],
)
def test_bounds_of_a_filter(filter: Filter, bounds: tuple[bytes, bytes]) -> None:
    assert filter_bounds(filter) == bounds


def test_a_scan_is_narrowed_by_its_filter() -> None:
    assert Scan(start=b"aa", stop=b"abz", filter=AB).bounds() == (b"ab", b"abz")
    assert Scan(prefix=b"ab1", filter=AB).bounds() == (b"ab1", b"ab2")
    assert Scan(filter="PrefixFilter('x') AND KeyOnlyFilter()").bounds() == (b"x", b"y")
    start, stop = Scan(stop=b"a", filter=AB).bounds()
    assert stop <= start
