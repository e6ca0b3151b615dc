"""Random filters over a small vocabulary, so that they meet the rows that a test writes.

Row keys are names; a test that uses a filter puts a prefix before all of them (`with_prefix`).
Filters with more than one right result on HBase are left out, see
docs/explain/hbase-differences.md: columns without a name, patterns and prefixes longer than row
keys.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from hypothesis import strategies as st
from msgspec import structs

from webtable import filters as f
from webtable.store.filtering.filters import inner_filters
from webtable.store.scan import prefix_end

__all__ = ["Vocabulary", "filters_over", "tuples", "with_prefix"]

T = TypeVar("T")


class Vocabulary(NamedTuple):
    """What filters speak of.

    Attributes:
        rows: row keys, none shorter than `stem` bytes, and so none than a prefix or pattern.
        numbered: columns all of whose values are 8-byte numbers, for comparisons of numbers.
        with_dependent: whether filters may ask which cells share a timestamp.
    """

    rows: tuple[bytes, ...]
    prefixes: tuple[bytes, ...]
    families: tuple[bytes, ...]
    columns: tuple[bytes, ...]
    qualifiers: tuple[bytes, ...]
    values: tuple[bytes, ...]
    times: tuple[int, ...]
    stem: int
    numbered: tuple[bytes, ...] = ()
    numbers: tuple[int, ...] = ()
    with_dependent: bool = True


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


def tuples(elements: st.SearchStrategy[T], most: int) -> st.SearchStrategy[tuple[T, ...]]:
    """Some different elements."""
    return st.lists(elements, min_size=1, max_size=most, unique=True).map(tuple)


_equality = st.sampled_from(("=", "!="))
_ops = st.sampled_from(("<", "<=", "=", "!=", ">=", ">"))
_patterns = st.sampled_from(
    (
        *("v", "^v", "v$", "^$", ".", "V|w", "[a-u]", "1", "^.{13}a", r"\w\W"),
        *(".*v.*", "^.*v.*1$", "(v+)+$", "(v|w)*1", "(.)\\1", "^(?!.*v)"),
    )
)


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


def _single(words: Vocabulary) -> st.SearchStrategy[f.Filter]:
    by_value: st.SearchStrategy[f.Filter] = st.builds(
        lambda kind, column, comparison, missing, latest: kind(
            column, *comparison, missing, latest
        ),
        st.sampled_from((f.SingleColumnValueFilter, f.SingleColumnValueExcludeFilter)),
        st.sampled_from(words.columns),
        _comparisons(st.sampled_from(words.values)),
        st.booleans(),
        st.booleans(),
    )
    if not words.numbered:
        return by_value
    by_number = st.builds(
        f.SingleColumnValueFilter,
        st.sampled_from(words.numbered),
        _ops,
        st.sampled_from(words.numbers).map(f.LongComparator),
        st.booleans(),
    )
    return st.one_of(by_value, by_number)


def _dependent(words: Vocabulary) -> st.SearchStrategy[f.Filter]:
    columns = st.sampled_from(words.columns)
    return st.one_of(
        st.builds(f.DependentColumnFilter, columns, st.booleans()),
        st.builds(
            lambda column, drops, comparison: f.DependentColumnFilter(column, drops, *comparison),
            columns,
            st.booleans(),
            _comparisons(st.sampled_from(words.values)),
        ),
    )


def _column_filters(words: Vocabulary) -> st.SearchStrategy[f.Filter]:
    qualifiers = st.sampled_from(words.qualifiers)
    by_value = _comparisons(st.sampled_from(words.values))
    families = _comparisons(st.sampled_from(words.families))
    single = _single(words)
    return st.one_of(
        st.builds(f.KeyOnlyFilter, st.booleans()),
        st.just(f.FirstKeyOnlyFilter()),
        qualifiers.map(f.ColumnPrefixFilter),
        tuples(qualifiers, 3).map(f.MultipleColumnPrefixFilter),
        st.integers(0, 3).map(f.ColumnCountGetFilter),
        st.builds(f.ColumnPaginationFilter, st.integers(0, 3), st.integers(0, 3)),
        st.builds(f.ColumnPaginationFilter, st.integers(0, 3), qualifiers),
        tuples(st.sampled_from(words.times), 3).map(f.TimestampsFilter),
        st.builds(lambda given: f.FamilyFilter(*given), families),
        st.builds(lambda given: f.QualifierFilter(*given), _comparisons(qualifiers)),
        st.builds(lambda given: f.ValueFilter(*given), by_value),
        st.builds(
            f.ColumnRangeFilter,
            st.one_of(st.none(), qualifiers),
            st.booleans(),
            st.one_of(st.none(), qualifiers),
            st.booleans(),
        ),
        single,
        single,
        _dependent(words) if words.with_dependent else single,
        st.builds(
            lambda column, given: f.ColumnValueFilter(column, *given),
            st.sampled_from(words.columns),
            by_value,
        ),
    )


def _row_filters(words: Vocabulary) -> st.SearchStrategy[f.Filter]:
    rows = st.sampled_from(words.rows)
    ranges = st.builds(
        lambda pair, flags: f.RowRange(
            min(pair), max(pair), *((True, True) if pair[0] == pair[1] else flags)
        ),
        st.tuples(rows, rows),
        st.tuples(st.booleans(), st.booleans()),
    )
    masks = st.tuples(*[st.sampled_from((0, 1))] * words.stem).map(bytes)
    return st.one_of(
        st.sampled_from(words.prefixes).map(f.PrefixFilter),
        st.integers(0, 4).map(f.PageFilter),
        st.sampled_from((*words.rows, *words.prefixes)).map(f.InclusiveStopFilter),
        st.builds(
            lambda given: f.RowFilter(*given),
            _comparisons(st.sampled_from((*words.rows, *words.prefixes))),
        ),
        tuples(st.tuples(rows.map(lambda row: row[: words.stem]), masks), 2).map(f.FuzzyRowFilter),
        tuples(ranges, 3).map(f.MultiRowRangeFilter),
        st.sampled_from((0.0, 1.0)).map(f.RandomRowFilter),
    )


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


def filters_over(words: Vocabulary) -> st.SearchStrategy[f.Filter]:
    """Any filter that speaks of these."""
    columns = _column_filters(words)
    leaves = st.one_of(columns, columns, _row_filters(words))
    return st.recursive(leaves, _combined, max_leaves=5)
