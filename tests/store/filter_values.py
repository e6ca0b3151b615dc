"""Random filters of every kind that the filter language has words for."""

from __future__ import annotations

from typing import TypeVar

from hypothesis import strategies as st

from webtable import filters as f

__all__ = ["filters_with_text"]

T = TypeVar("T", bytes, int)


def _sorted(elements: st.SearchStrategy[T]) -> st.SearchStrategy[tuple[T, ...]]:
    # In order and without repeats, as Java keeps them.
    return st.lists(elements, max_size=3, unique=True).map(lambda chosen: tuple(sorted(chosen)))


_bytes = st.one_of(st.binary(max_size=6), st.text(max_size=6).map(str.encode))
_names = st.sampled_from((b"f", b"family"))
_columns = st.builds(lambda family, name: family + b":" + name, _names, _bytes)
_flags = st.booleans()
_ops = st.sampled_from(("<", "<=", "=", "!=", ">=", ">"))
_equality = st.sampled_from(("=", "!="))
# Java makes them small letters at once.
_texts = st.text(st.characters(codec="utf-8"), max_size=6).filter(lambda text: text == text.lower())
_comparisons = st.one_of(
    st.tuples(_ops, st.builds(f.BinaryComparator, _bytes)),
    st.tuples(_ops, st.builds(f.BinaryPrefixComparator, _bytes)),
    st.tuples(_equality, st.builds(f.SubstringComparator, _texts)),
    st.tuples(
        _equality,
        st.builds(f.RegexStringComparator, st.sampled_from(("", "a'b", "^x.*$", "é")), _flags),
    ),
)
_numbers = st.integers(0, 2**31 - 1)
_leaves: st.SearchStrategy[f.Filter] = st.one_of(
    st.builds(f.KeyOnlyFilter, _flags),
    st.builds(f.FirstKeyOnlyFilter),
    st.builds(f.PrefixFilter, _bytes),
    st.builds(f.ColumnPrefixFilter, _bytes),
    _sorted(_bytes).map(f.MultipleColumnPrefixFilter),
    st.builds(f.ColumnCountGetFilter, _numbers),
    st.builds(f.PageFilter, st.integers(0, 2**63 - 1)),
    st.builds(f.ColumnPaginationFilter, _numbers, _numbers),
    st.builds(f.InclusiveStopFilter, _bytes),
    _sorted(st.integers(0, 2**63 - 1)).map(f.TimestampsFilter),
    st.builds(lambda given: f.RowFilter(*given), _comparisons),
    st.builds(lambda given: f.FamilyFilter(*given), _comparisons),
    st.builds(lambda given: f.QualifierFilter(*given), _comparisons),
    st.builds(lambda given: f.ValueFilter(*given), _comparisons),
    st.builds(f.ColumnRangeFilter, _bytes, _flags, _bytes, _flags),
    st.builds(
        lambda kind, column, given, missing, latest: kind(column, *given, missing, latest),
        st.sampled_from((f.SingleColumnValueFilter, f.SingleColumnValueExcludeFilter)),
        _columns,
        _comparisons,
        _flags,
        _flags,
    ),
    st.builds(f.DependentColumnFilter, _columns, _flags),
    st.builds(
        lambda column, drops, given: f.DependentColumnFilter(column, drops, *given),
        _columns,
        _flags,
        _comparisons,
    ),
    st.builds(lambda column, given: f.ColumnValueFilter(column, *given), _columns, _comparisons),
)
filters_with_text: st.SearchStrategy[f.Filter] = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.builds(
            f.FilterList,
            st.lists(inner, min_size=2, max_size=3).map(tuple),
            st.sampled_from(("all", "one")),
        ),
        inner.map(f.SkipFilter),
        inner.map(f.WhileMatchFilter),
    ),
    max_leaves=6,
)
"""Any filter of the language."""
