"""Scans that decide about whole rows: they give what the walk cell by cell does, for less."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rocksdict import ReadOptions

import webtable
from webtable import ALL_VERSIONS, Delete, Family, Put, Row, Scan, Store, Table
from webtable.errors import InvalidRequest
from webtable.filters import (
    ColumnPrefixFilter,
    ColumnRangeFilter,
    Filter,
    FilterList,
    FirstKeyOnlyFilter,
    KeyOnlyFilter,
    PrefixFilter,
    QualifierFilter,
    RegexStringComparator,
    RowFilter,
    SingleColumnValueExcludeFilter,
    SingleColumnValueFilter,
    SkipFilter,
    ValueFilter,
    WhileMatchFilter,
)
from webtable.store.rocks import range_reader
from webtable.store.rocks.cell_keys import escape, unescape
from webtable.store.rocks.engine import RocksEngine
from webtable.store.rocks.filtering.filtered_reader import Span, read_filtered
from webtable.store.rocks.filtering.rule_factory import make_rule
from webtable.store.rocks.filtering.whole_row_decisions import row_decision
from webtable.store.rocks.filtering.whole_row_scan import WholeRows

COLUMNS = (b"a:x", b"a:y", b"b:", b"b:x", b"c:x")
VALUES = (b"", b"1", b"2")
STAMPS = (10, 20, 30)

ops = st.sampled_from(("<", "=", "!=", ">="))
columns = st.sampled_from((*COLUMNS, b"c:never"))
values = st.sampled_from(VALUES)
qualifiers = st.sampled_from((b"", b"x", b"y", b"xy"))
conditions = st.one_of(
    *[
        st.builds(SingleColumnValueFilter, columns, ops, values, st.booleans(), st.booleans()),
    ]
    * 3,
    st.sampled_from(("[02]$", "1$", "3")).map(
        lambda pattern: RowFilter("=", RegexStringComparator(pattern))
    ),
)
formulas: st.SearchStrategy[Filter] = st.recursive(
    conditions,
    lambda inner: st.builds(
        FilterList,
        st.lists(inner, min_size=1, max_size=3).map(tuple),
        st.sampled_from(("all", "one")),
    ),
    max_leaves=4,
)
decided = st.one_of(
    formulas,
    formulas,
    st.builds(SingleColumnValueExcludeFilter, columns, ops, values, st.booleans(), st.booleans()),
    st.builds(ValueFilter, ops, values),
    st.builds(QualifierFilter, ops, qualifiers),
    qualifiers.map(ColumnPrefixFilter),
    st.builds(
        ColumnRangeFilter,
        st.one_of(st.none(), qualifiers),
        st.booleans(),
        st.one_of(st.none(), qualifiers),
        st.booleans(),
    ),
    st.just(FirstKeyOnlyFilter()),
    st.builds(KeyOnlyFilter, st.booleans()),
    st.builds(lambda size: FilterList((FirstKeyOnlyFilter(), KeyOnlyFilter(size))), st.booleans()),
    st.just(FilterList((KeyOnlyFilter(), FirstKeyOnlyFilter()))),
)
puts = st.builds(
    lambda column, stamp, value: (column, stamp, value),
    st.sampled_from(COLUMNS),
    st.sampled_from(STAMPS),
    st.one_of(st.sampled_from(VALUES), st.sampled_from(("column", "version", "family"))),
)
contents = st.lists(st.lists(puts, max_size=8), min_size=1, max_size=6)
scans = st.builds(
    lambda columns, versions, reverse, time_range: Scan(
        columns=columns, versions=versions, reverse=reverse, time_range=time_range
    ),
    st.sampled_from(((), (), (b"a",), (b"a:x", b"c"), (b"b:x", b"b:"))),
    st.sampled_from((1, 2, ALL_VERSIONS)),
    st.booleans(),
    st.sampled_from((None, None, (10, 30), (20, 31))),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with webtable.open(str(tmp_path_factory.mktemp("whole") / "store")) as store:
        store.create_table("t", "a", Family(name="b", versions=2), Family(name="c", versions=3))
        store.create_table("wide", "f", "g")
        yield store


def mutation(row: bytes, column: bytes, stamp: int, value: bytes | str) -> Put | Delete:
    if isinstance(value, bytes):
        return Put(row, {column: value}, timestamp=stamp)
    delete = Delete(row)
    getattr(delete, value)(column[:1] if value == "family" else column, stamp)
    return delete


def cell_by_cell(store: Store, scan: Scan, filter: Filter) -> list[Row]:
    """Returns what a scan gives that asks the filter for every cell."""
    engine = store._engine
    assert isinstance(engine, RocksEngine)
    start, stop = scan.bounds()
    bounds = ReadOptions()
    bounds.set_iterate_upper_bound(escape(stop))
    reads = range_reader.select(engine._admin.table("t"), scan.columns)
    view = range_reader.View(scan.versions, scan.time_range)
    span = Span(escape(start), bounds, scan.reverse, together=scan.reverse)
    rule = make_rule(filter, reverse=scan.reverse)
    found = read_filtered(engine._database, reads, view, span, rule)
    return [Row(unescape(prefix[:-1]), cells) for prefix, cells in found]


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(content=contents, filter=decided, scan=scans, has_prefix=st.booleans())
def test_both_ways_give_the_same(
    store: Store, content: list[list[Any]], filter: Filter, scan: Scan, has_prefix: bool
) -> None:
    table = store.table("t")
    prefix = uuid.uuid4().hex.encode()
    for number, cells in enumerate(content):
        row = b"%b-%d" % (prefix, number)
        for cell in cells:
            table.mutate(row, [mutation(row, *cell)])
    if has_prefix and decision(store, FilterList((PrefixFilter(b""), filter))):
        filter = FilterList((PrefixFilter(prefix + b"-"), filter))
    asked = Scan(
        prefix=prefix,
        columns=scan.columns,
        versions=scan.versions,
        reverse=scan.reverse,
        time_range=scan.time_range,
        filter=filter,
    )
    assert list(table.scan(asked)) == cell_by_cell(store, asked, filter)


IS_ONE = SingleColumnValueFilter(b"a:x", "=", b"1")
IN_OLD = SingleColumnValueFilter(b"b:x", "=", b"1", latest_version_only=False)


def decision(store: Store, filter: Filter, *, raw: bool = False) -> object:
    engine = store._engine
    assert isinstance(engine, RocksEngine)
    reads = range_reader.select(engine._admin.table("t"), ())
    return row_decision(filter, reads, range_reader.View(raw=raw))


def test_which_filters_decide_about_whole_rows(store: Store) -> None:
    row, prefix = RowFilter("<", b"r"), PrefixFilter(b"r")
    without = SingleColumnValueExcludeFilter(b"a:x", "=", b"1")
    for filter in (
        *(IS_ONE, IN_OLD, row, prefix, without, ValueFilter("=", b"1"), QualifierFilter("=", b"x")),
        *(FirstKeyOnlyFilter(), KeyOnlyFilter(), ColumnPrefixFilter(b"x"), ColumnRangeFilter(b"x")),
        FilterList((prefix, IS_ONE)),
        FilterList((FirstKeyOnlyFilter(), KeyOnlyFilter())),
        FilterList((IS_ONE, FilterList((IS_ONE, row), "one"))),
    ):
        assert decision(store, filter), filter
        assert decision(store, filter, raw=True) is None
    walked: tuple[Filter, ...] = (
        SkipFilter(IS_ONE),
        WhileMatchFilter(row),
        FilterList((prefix, IS_ONE), "one"),
        FilterList(()),
        FilterList((IS_ONE, ValueFilter("=", b"1"))),
        FilterList((FirstKeyOnlyFilter(), KeyOnlyFilter()), "one"),
        # Of such rows HBase shows what other families have.
        SingleColumnValueExcludeFilter(b"a:x", "=", b"1", filter_if_missing=True),
    )
    for each in walked:
        assert decision(store, each) is None, each


def test_a_bad_expression_is_rejected_at_once(store: Store) -> None:
    with pytest.raises(InvalidRequest):
        store.table("t").scan(
            filter=SingleColumnValueFilter(b"a:x", "=", RegexStringComparator("("))
        )


WIDTH, ROWS = 200, 150


@pytest.fixture(scope="module")
def wide(store: Store) -> Table:
    """Rows of many columns; `f:000` and `f:199` have the row's number."""
    table = store.table("wide")
    with table.batch(size=10) as batch:
        for number in range(ROWS):
            values = dict.fromkeys((b"f:%03d" % at for at in range(WIDTH)), b"%d" % number)
            batch.put(b"%03d" % number, values | {b"g:large": b"large"})
    return table


class Counted:
    """Entries of a real iterator, counted as they are taken."""

    def __init__(self, entries: Any) -> None:
        self._entries = entries
        self.taken = 0

    def __iter__(self) -> Iterator[Any]:
        for each in self._entries:
            self.taken += 1
            yield each


def walked(store: Store, filter: Filter) -> tuple[list[bytes], list[int]]:
    """Returns the rows that a scan gives, and how many cells of each family it walked through."""
    engine = store._engine
    assert isinstance(engine, RocksEngine)
    reads = range_reader.select(engine._admin.table("wide"), ())
    decided = row_decision(filter, reads, range_reader.NEWEST)
    assert decided is not None
    span = Span(b"", ReadOptions())
    counted = [Counted(read.family.rocks.items()) for read in reads]
    opened = [(read.family.rocks.iter(), items) for read, items in zip(reads, counted, strict=True)]
    whole = WholeRows(decided, make_rule(filter), lambda: False)
    pieces = whole.pieces(reads, range_reader.NEWEST, span, opened)
    return [row.key for piece in pieces for row in piece], [each.taken for each in counted]


@pytest.mark.usefixtures("wide")
def test_wide_rows_that_are_left_out_are_not_read_to_their_ends(store: Store) -> None:
    first = SingleColumnValueFilter(b"f:000", "=", b"50", filter_if_missing=True)
    rows, (cells, others) = walked(store, first)
    assert rows == [b"050"]
    assert cells < WIDTH * ROWS / 3
    assert others == 0  # only the row that stays has it read, by a seek
    # Where the deciding column is the last one there is nothing to jump over.
    last = SingleColumnValueFilter(b"f:199", "=", b"50")
    rows, (cells, _) = walked(store, last)
    assert rows == [b"050"]
    assert cells == WIDTH * ROWS


def test_rows_come_whole_from_both_ways(wide: Table) -> None:
    asked = SingleColumnValueFilter(b"f:000", ">=", b"5", filter_if_missing=True)
    found = {row.key: len(row) for row in wide.scan(filter=asked)}
    wanted = {b"%03d" % number for number in range(ROWS) if b"%d" % number >= b"5"}
    assert found == dict.fromkeys(sorted(wanted), WIDTH + 1)
