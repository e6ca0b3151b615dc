"""Random rows, and random reads of them through random filters.

Everything is a frozen value whose `repr` is the Python that makes it. Row keys are names; whoever
runs the reads puts a prefix before all of them, also before those inside filters (`with_prefix`).

Left out is what HBase answers in more than one way, see docs/explain/hbase-differences.md: columns
without a name, patterns and prefixes longer than row keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from hypothesis import strategies as st
from msgspec import structs

from webtable import ALL_VERSIONS
from webtable import filters as f
from webtable.store.filters import inner_filters
from webtable.store.scan import prefix_end

__all__ = ["Dataset", "FilteredRead", "Written", "datasets", "filters", "with_prefix"]

T = TypeVar("T")
ROWS = (b"a0", b"a1", b"a1x", b"b0", b"b1", b"c0")
FAMILIES = (b"a", b"b", b"c")
COLUMNS = (b"a:n", b"a:x", b"a:xy", b"b:x", b"b:y", b"c:n", b"c:x", b"c:z")
QUALIFIERS = (b"n", b"x", b"xy", b"y", b"z", b"w")
TIMES = (10, 20, 30, 40)
VALUES = (b"", b"v", b"V", b"vw", b"w\n", "é".encode(), b"\xff\x00")
NUMBERS = (0, 7, -1)


@dataclass(frozen=True)
class Written:
    """One write: a put of a value, or a delete; `kind` is put, version, column or family."""

    kind: str
    row: bytes
    column: bytes
    timestamp: int
    value: bytes = b""


@dataclass(frozen=True)
class FilteredRead:
    """A scan through a filter; a get of `row` if that is given; a condition if `checks`."""

    filter: f.Filter
    columns: tuple[bytes, ...] = ()
    versions: int = 1
    time_range: tuple[int, int] | None = None
    start: bytes = b""
    stop: bytes = b""
    limit: int | None = None
    reverse: bool = False
    raw: bool = False
    row: bytes | None = None
    checks: bool = False


@dataclass(frozen=True)
class Dataset:
    """What is written to a table, and then read."""

    table: str
    writes: tuple[Written, ...]
    is_flushed: bool
    reads: tuple[FilteredRead, ...]


def with_prefix(filter: f.Filter, prefix: bytes) -> f.Filter:
    """Returns the filter with the prefix before every row key in it."""
    match filter:
        case f.FilterList():
            parts = tuple(with_prefix(each, prefix) for each in filter.filters)
            return f.FilterList(parts, filter.must_pass)
        case f.SkipFilter() | f.WhileMatchFilter():
            return structs.replace(filter, filter=with_prefix(filter.filter, prefix))
        case f.PrefixFilter():
            return f.PrefixFilter(prefix + filter.prefix)
        case f.InclusiveStopFilter():
            return f.InclusiveStopFilter(prefix + filter.stop_row)
        case f.RowFilter(comparator=f.BinaryComparator() | f.BinaryPrefixComparator() as given):
            return f.RowFilter(filter.op, structs.replace(given, value=prefix + given.value))
        case f.FuzzyRowFilter():
            zeros = b"\x00" * len(prefix)
            patterns = [(prefix + row, zeros + mask) for row, mask in filter.patterns]
            return f.FuzzyRowFilter(tuple(patterns))
        case f.MultiRowRangeFilter():
            ranges = [
                each._replace(
                    start=prefix + each.start,
                    stop=prefix + each.stop if each.stop else prefix_end(prefix),
                )
                for each in filter.ranges
            ]
            return f.MultiRowRangeFilter(tuple(ranges))
        case _:
            return filter


def _tuples(elements: st.SearchStrategy[T], most: int) -> st.SearchStrategy[tuple[T, ...]]:
    return st.lists(elements, min_size=1, max_size=most, unique=True).map(tuple)


_rows = st.sampled_from(ROWS)
_columns = st.sampled_from(COLUMNS)
_qualifiers = st.sampled_from(QUALIFIERS)
_values = st.sampled_from(VALUES)
_times = st.sampled_from(TIMES)
_equality = st.sampled_from(("=", "!="))
_ops = st.sampled_from(("<", "<=", "=", "!=", ">=", ">"))
_patterns = st.sampled_from(("v", "^v", "v$", "^$", ".", "V|w", "[a-u]", "1", "^.{13}a", r"\w\W"))


def _comparisons(given: st.SearchStrategy[bytes]) -> st.SearchStrategy[tuple[str, f.Comparator]]:
    return st.one_of(
        st.tuples(_ops, given.map(f.BinaryComparator)),
        st.tuples(_ops, given.map(f.BinaryPrefixComparator)),
        st.tuples(_equality, st.builds(f.RegexStringComparator, _patterns, st.booleans())),
        st.tuples(_equality, st.sampled_from(("v", "X", "a", "")).map(f.SubstringComparator)),
        st.tuples(_equality, st.just(f.NullComparator())),
        st.tuples(
            _equality,
            st.builds(
                f.BitComparator,
                st.sampled_from((b"v", b"\x01", b"\x00\x01")),
                st.sampled_from(("and", "or", "xor")),
            ),
        ),
    )


_by_value = _comparisons(_values)
_ranges = st.builds(
    lambda rows, flags: f.RowRange(
        min(rows), max(rows), *((True, True) if rows[0] == rows[1] else flags)
    ),
    st.tuples(_rows, _rows),
    st.tuples(st.booleans(), st.booleans()),
)
_masks = st.tuples(st.sampled_from((0, 1)), st.sampled_from((0, 1))).map(bytes)
_fuzzy = _tuples(st.tuples(_rows.map(lambda row: row[:2]), _masks), 2).map(f.FuzzyRowFilter)
_single = st.one_of(
    st.builds(
        lambda kind, column, comparison, missing, latest: kind(
            column, *comparison, missing, latest
        ),
        st.sampled_from((f.SingleColumnValueFilter, f.SingleColumnValueExcludeFilter)),
        _columns,
        _by_value,
        st.booleans(),
        st.booleans(),
    ),
    st.builds(
        f.SingleColumnValueFilter,
        st.sampled_from((b"a:n", b"c:n")),
        _ops,
        st.sampled_from(NUMBERS).map(f.LongComparator),
        st.booleans(),
    ),
)
_dependent = st.one_of(
    st.builds(f.DependentColumnFilter, _columns, st.booleans()),
    st.builds(
        lambda column, drops, comparison: f.DependentColumnFilter(column, drops, *comparison),
        _columns,
        st.booleans(),
        _by_value,
    ),
)
_column_filters: st.SearchStrategy[f.Filter] = st.one_of(
    st.builds(f.KeyOnlyFilter, st.booleans()),
    st.just(f.FirstKeyOnlyFilter()),
    _qualifiers.map(f.ColumnPrefixFilter),
    _tuples(_qualifiers, 3).map(f.MultipleColumnPrefixFilter),
    st.integers(0, 3).map(f.ColumnCountGetFilter),
    st.builds(f.ColumnPaginationFilter, st.integers(0, 3), st.integers(0, 3)),
    st.builds(f.ColumnPaginationFilter, st.integers(0, 3), _qualifiers),
    _tuples(_times, 3).map(f.TimestampsFilter),
    st.builds(lambda given: f.FamilyFilter(*given), _comparisons(st.sampled_from(FAMILIES))),
    st.builds(lambda given: f.QualifierFilter(*given), _comparisons(_qualifiers)),
    st.builds(lambda given: f.ValueFilter(*given), _by_value),
    st.builds(
        f.ColumnRangeFilter,
        st.one_of(st.none(), _qualifiers),
        st.booleans(),
        st.one_of(st.none(), _qualifiers),
        st.booleans(),
    ),
    _single,
    _single,
    _dependent,
    st.builds(lambda column, given: f.ColumnValueFilter(column, *given), _columns, _by_value),
)
_row_filters: st.SearchStrategy[f.Filter] = st.one_of(
    st.sampled_from((b"", b"a", b"b", b"a1", b"b0")).map(f.PrefixFilter),
    st.integers(0, 4).map(f.PageFilter),
    st.sampled_from((*ROWS, b"a", b"b")).map(f.InclusiveStopFilter),
    st.builds(lambda given: f.RowFilter(*given), _comparisons(st.sampled_from((*ROWS, b"b")))),
    _fuzzy,
    _tuples(_ranges, 3).map(f.MultiRowRangeFilter),
    st.sampled_from((0.0, 1.0)).map(f.RandomRowFilter),
)
_leaves = st.one_of(_column_filters, _column_filters, _row_filters)


def _may_be_skipped(filter: f.Filter) -> bool:
    return not any(isinstance(each, f.MultiRowRangeFilter) for each in inner_filters(filter))


def _combined(inner: st.SearchStrategy[f.Filter]) -> st.SearchStrategy[f.Filter]:
    several = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(f.FilterList, several, st.just("all")),
        st.builds(f.FilterList, several, st.just("one")),
        inner.filter(_may_be_skipped).map(f.SkipFilter),
        inner.map(f.WhileMatchFilter),
    )


filters: st.SearchStrategy[f.Filter] = st.recursive(_leaves, _combined, max_leaves=5)
"""Any filter."""


def _has_no_numbers(filter: f.Filter) -> bool:
    return not any(
        isinstance(getattr(each, "comparator", None), f.LongComparator)
        for each in inner_filters(filter)
    )


_writes = st.one_of(
    *[st.builds(Written, st.just("put"), _rows, _columns, _times, _values)] * 5,
    st.builds(Written, st.sampled_from(("version", "column", "family")), _rows, _columns, _times),
)
_selection = st.one_of(
    st.just(()),
    st.just(()),
    _tuples(st.sampled_from(FAMILIES), 2),
    _tuples(_columns, 4),
)
_between = st.one_of(
    st.none(),
    st.none(),
    st.tuples(_times, _times).map(lambda pair: (min(pair), max(pair) + 1)),
)
_versions = st.sampled_from((1, 2, ALL_VERSIONS))
_reads = st.one_of(
    *[
        st.builds(
            FilteredRead,
            filters,
            _selection,
            _versions,
            _between,
            st.sampled_from((b"", b"", b"a1", b"b0")),
            st.sampled_from((b"", b"", b"b1", b"c0")),
            st.sampled_from((None, None, 1, 3)),
            st.booleans(),
        )
    ]
    * 5,
    # A marker has no value, so it is no number either.
    st.builds(FilteredRead, filters.filter(_has_no_numbers), versions=_versions, raw=st.just(True)),
    *[st.builds(FilteredRead, filters, _selection, _versions, _between, row=_rows)] * 2,
    st.builds(FilteredRead, filters, time_range=_between, row=_rows, checks=st.just(True)),
)


def _numbered(write: Written) -> Written:
    """Gives the columns that are counters a number."""
    if not write.column.endswith(b":n"):
        return write
    number = NUMBERS[(len(write.value) + write.timestamp) % len(NUMBERS)]
    return Written(
        write.kind, write.row, write.column, write.timestamp, number.to_bytes(8, "big", signed=True)
    )


def datasets(reads: int) -> st.SearchStrategy[Dataset]:
    """Rows and so many reads of them."""
    return st.builds(
        Dataset,
        st.sampled_from(("limits", "kept")),
        st.lists(_writes.map(_numbered), min_size=1, max_size=40).map(tuple),
        st.sampled_from((False,) * 5 + (True,)),
        st.lists(_reads, min_size=reads, max_size=reads).map(tuple),
    )
