"""Filters: what a read leaves out beyond its rows, columns, versions and times.

Each is a frozen value with the name that HBase gives it, and does what HBase 2.6 does: on a cluster
the servers evaluate it, in an embedded store the engine does. `filter_language` reads and writes
the text form. The order of the fields is that of the arguments in the text form.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import force_setattr

from webtable.errors import InvalidRequest
from webtable.store.argument_checks import check_column, check_timestamp
from webtable.store.filtering.comparators import Comparator, FilterOp, check_bytes, check_comparison

__all__ = [
    "MAX_DEPTH",
    "ColumnCountGetFilter",
    "ColumnPaginationFilter",
    "ColumnPrefixFilter",
    "ColumnRangeFilter",
    "ColumnValueFilter",
    "CompareFilter",
    "DependentColumnFilter",
    "FamilyFilter",
    "Filter",
    "FilterList",
    "FirstKeyOnlyFilter",
    "FuzzyRowFilter",
    "InclusiveStopFilter",
    "KeyOnlyFilter",
    "MultiRowRangeFilter",
    "MultipleColumnPrefixFilter",
    "PageFilter",
    "PrefixFilter",
    "QualifierFilter",
    "RandomRowFilter",
    "RowFilter",
    "RowRange",
    "SingleColumnValueExcludeFilter",
    "SingleColumnValueFilter",
    "SkipFilter",
    "TimestampsFilter",
    "ValueFilter",
    "WhileMatchFilter",
    "inner_filters",
]

MAX_DEPTH = 100
"""How deep filters may lie in each other."""

_MAX_INT = 2**31 - 1
_MAX_LONG = 2**63 - 1


class Filter(msgspec.Struct, frozen=True):
    """The base of all filters. `filter_text.parse_filter` makes one from text."""


class KeyOnlyFilter(Filter, frozen=True):
    """Keeps every cell without its value; with `length_as_value` the length in 4 bytes instead."""

    length_as_value: bool = False


class FirstKeyOnlyFilter(Filter, frozen=True):
    """Keeps the first cell of each row: the cheapest way to see which rows there are."""


class PrefixFilter(Filter, frozen=True):
    """Keeps rows whose keys have the prefix. `Scan.prefix` does the same and is never slower."""

    prefix: bytes

    def __post_init__(self) -> None:
        check_bytes(self.prefix, "prefix")


class ColumnPrefixFilter(Filter, frozen=True):
    """Keeps columns whose qualifiers have the prefix."""

    prefix: bytes

    def __post_init__(self) -> None:
        check_bytes(self.prefix, "column prefix")


class MultipleColumnPrefixFilter(Filter, frozen=True):
    """Keeps columns whose qualifiers begin with one of the prefixes; all without prefixes."""

    prefixes: tuple[bytes, ...]

    def __post_init__(self) -> None:
        prefixes = _many(self, "prefixes")
        for prefix in prefixes:
            check_bytes(prefix, "column prefix")
        if len(set(prefixes)) < len(prefixes):
            raise InvalidRequest("column prefixes are repeated", hint="name each of them once")


class ColumnCountGetFilter(Filter, frozen=True):
    """Keeps the newest version of the first columns of a row; made for gets."""

    limit: int

    def __post_init__(self) -> None:
        _check_count(self.limit, "limit", _MAX_INT)


class PageFilter(Filter, frozen=True):
    """Ends a scan after so many rows, on HBase in each region again. `Scan.limit` is exact."""

    page_size: int

    def __post_init__(self) -> None:
        _check_count(self.page_size, "page size", _MAX_LONG)


class ColumnPaginationFilter(Filter, frozen=True):
    """Keeps the newest version of `limit` columns of each row, after the first `offset`.

    An offset of bytes is the qualifier to begin with.
    """

    limit: int
    offset: int | bytes

    def __post_init__(self) -> None:
        _check_count(self.limit, "limit", _MAX_INT)
        if not isinstance(self.offset, bytes):
            _check_count(self.offset, "offset", _MAX_INT)


class InclusiveStopFilter(Filter, frozen=True):
    """Ends a scan after this row."""

    stop_row: bytes

    def __post_init__(self) -> None:
        check_bytes(self.stop_row, "stop row")


class TimestampsFilter(Filter, frozen=True):
    """Keeps versions with one of these timestamps."""

    timestamps: tuple[int, ...]

    def __post_init__(self) -> None:
        for timestamp in _many(self, "timestamps"):
            check_timestamp(timestamp)


class CompareFilter(Filter, frozen=True):
    """The base of the four filters that compare one part of each cell."""

    op: FilterOp
    comparator: Comparator | bytes

    def __post_init__(self) -> None:
        _compare(self, self.op, self.comparator)


class RowFilter(CompareFilter, frozen=True):
    """Keeps rows whose keys pass the comparison."""


class FamilyFilter(CompareFilter, frozen=True):
    """Keeps families whose names pass the comparison."""


class QualifierFilter(CompareFilter, frozen=True):
    """Keeps columns whose qualifiers pass the comparison."""


class ValueFilter(CompareFilter, frozen=True):
    """Keeps versions whose values pass the comparison."""


class ColumnRangeFilter(Filter, frozen=True):
    """Keeps columns whose qualifiers lie between two; an empty or absent one is no bound."""

    min_column: bytes | None = None
    min_column_inclusive: bool = True
    max_column: bytes | None = None
    max_column_inclusive: bool = False

    def __post_init__(self) -> None:
        for name in ("min_column", "max_column"):
            bound = getattr(self, name)
            if bound is not None:
                check_bytes(bound, "qualifier")
                force_setattr(self, name, bound or None)


class SingleColumnValueFilter(Filter, frozen=True):
    """Keeps rows whose column has a newest value that passes the comparison.

    Args:
        column: the column; if a read names columns, this one must be among them.
        filter_if_missing: whether rows without the column are left out.
        latest_version_only: False to have every version that the family keeps tried.
    """

    column: bytes
    op: FilterOp
    comparator: Comparator | bytes
    filter_if_missing: bool = False
    latest_version_only: bool = True

    def __post_init__(self) -> None:
        check_column(self.column)
        _compare(self, self.op, self.comparator)


class SingleColumnValueExcludeFilter(SingleColumnValueFilter, frozen=True):
    """Does what `SingleColumnValueFilter` does, and leaves out the column itself."""


class DependentColumnFilter(Filter, frozen=True):
    """Keeps cells whose timestamp a version of this column has too.

    With an operator and a comparator only versions of the column that compare so count.
    """

    column: bytes
    drop_dependent_column: bool = False
    op: FilterOp | None = None
    comparator: Comparator | bytes | None = None

    def __post_init__(self) -> None:
        check_column(self.column)
        if (self.op is None) != (self.comparator is None):
            raise InvalidRequest(
                "an operator without a comparator, or the other way round",
                hint="give both or neither",
            )
        if self.op is not None and self.comparator is not None:
            _compare(self, self.op, self.comparator)


class ColumnValueFilter(Filter, frozen=True):
    """Keeps only the versions of one column whose values pass the comparison."""

    column: bytes
    op: FilterOp
    comparator: Comparator | bytes

    def __post_init__(self) -> None:
        check_column(self.column)
        _compare(self, self.op, self.comparator)


class FuzzyRowFilter(Filter, frozen=True):
    """Keeps rows that fit one of the patterns, and jumps to the next that may fit.

    A pattern is a row key and a mask as long: a 0 byte in the mask means that the byte of the key
    must be there, a 1 byte that any may. What a longer row key has after the pattern is free.
    """

    patterns: tuple[tuple[bytes, bytes], ...]

    def __post_init__(self) -> None:
        patterns = _many(self, "patterns")
        if not patterns:
            raise InvalidRequest("a FuzzyRowFilter has no patterns", hint="give at least one")
        for row, mask in patterns:
            check_bytes(row, "fuzzy row key")
            check_bytes(mask, "fuzzy mask")
            if len(row) != len(mask) or not row or set(mask) - {0, 1}:
                raise InvalidRequest(
                    f"fuzzy mask {mask!r:.80} does not fit row key {row!r:.80}",
                    hint="a mask has a 0 or 1 byte for each byte of a row key that is not empty",
                )


class RowRange(NamedTuple):
    """A range of rows for `MultiRowRangeFilter`; an empty bound is no bound."""

    start: bytes = b""
    stop: bytes = b""
    start_inclusive: bool = True
    stop_inclusive: bool = False


class MultiRowRangeFilter(Filter, frozen=True):
    """Keeps rows of several ranges, and jumps from one to the next.

    The ranges may overlap; they are stored in order, and adjacent ones are merged.
    """

    ranges: tuple[RowRange, ...]

    def __post_init__(self) -> None:
        ranges = tuple(RowRange(*each) for each in _many(self, "ranges"))
        if not ranges:
            raise InvalidRequest("a MultiRowRangeFilter has no ranges", hint="give at least one")
        for start, stop, *inclusive in ranges:
            check_bytes(start, "start row")
            check_bytes(stop, "stop row")
            if stop and (stop < start or (stop == start and not all(inclusive))):
                raise InvalidRequest(
                    f"row range from {start!r:.80} to {stop!r:.80} is empty",
                    hint="give a start before the stop; a single row includes both",
                )
        force_setattr(self, "ranges", _merged(ranges))


class RandomRowFilter(Filter, frozen=True):
    """Keeps each row with this chance, from 0 to 1."""

    chance: float

    def __post_init__(self) -> None:
        if not isinstance(self.chance, int | float) or not 0 <= self.chance <= 1:
            raise InvalidRequest(
                f"chance {self.chance!r:.80} is not valid", hint="give a number from 0 to 1"
            )


class SkipFilter(Filter, frozen=True):
    """Leaves out a whole row as soon as its filter leaves out one cell of it.

    Its filter does not see row keys: inside, a `RowFilter` keeps everything, a `PrefixFilter`
    nothing, and a `MultiRowRangeFilter`, with which HBase cannot go on, is rejected.
    """

    filter: Filter

    def __post_init__(self) -> None:
        _check_filter(self.filter)
        _check_depth(self)
        if any(isinstance(each, MultiRowRangeFilter) for each in inner_filters(self.filter)):
            raise InvalidRequest(
                "a MultiRowRangeFilter inside a SkipFilter",
                hint="join the two by a FilterList, or scan the ranges one by one",
            )


class WhileMatchFilter(Filter, frozen=True):
    """Ends the scan as soon as its filter leaves out anything; on HBase only in that region."""

    filter: Filter

    def __post_init__(self) -> None:
        _check_filter(self.filter)
        _check_depth(self)


Pass: TypeAlias = Literal["all", "one"]


class FilterList(Filter, frozen=True):
    """Keeps what passes all of its filters, or at least one of them."""

    filters: tuple[Filter, ...]
    must_pass: Pass = "all"

    def __post_init__(self) -> None:
        for each in _many(self, "filters"):
            _check_filter(each)
        _check_depth(self)
        if self.must_pass not in {"all", "one"}:
            raise InvalidRequest(
                f"must_pass {self.must_pass!r:.80} is neither", hint='"all" or "one"'
            )


def inner_filters(filter: Filter) -> Iterator[Filter]:
    """Yields a filter and all filters in it."""
    yield filter
    if isinstance(filter, FilterList):
        for each in filter.filters:
            yield from inner_filters(each)
    elif isinstance(filter, SkipFilter | WhileMatchFilter):
        yield from inner_filters(filter.filter)


def _merged(ranges: tuple[RowRange, ...]) -> tuple[RowRange, ...]:
    """Returns the same rows as ranges in order that neither overlap nor touch."""
    merged: list[RowRange] = []
    for each in sorted(ranges, key=lambda one: (one.start, not one.start_inclusive)):
        last = merged[-1] if merged else None
        if last is None or (
            last.stop
            and (
                last.stop < each.start
                or (last.stop == each.start and not (last.stop_inclusive or each.start_inclusive))
            )
        ):
            merged.append(each)
        elif last.stop and (not each.stop or each.stop >= last.stop):
            includes = each.stop_inclusive or (each.stop == last.stop and last.stop_inclusive)
            merged[-1] = last._replace(stop=each.stop, stop_inclusive=includes)
    return tuple(merged)


def _compare(filter: Filter, op: FilterOp, comparator: Comparator | bytes) -> None:
    force_setattr(filter, "comparator", check_comparison(op, comparator))


def _check_filter(filter: Filter) -> None:
    if not isinstance(filter, Filter):
        raise InvalidRequest(
            f"{filter!r:.80} is {type(filter).__name__}, not a filter",
            hint="give a filter of webtable.filters; parse_filter makes one from text",
        )


def _check_depth(filter: Filter) -> None:
    if _depth(filter) > MAX_DEPTH:
        raise InvalidRequest(
            f"filters are nested more than {MAX_DEPTH} deep",
            hint="flatten them: a list holds any number",
        )


def _depth(filter: Filter) -> int:
    if isinstance(filter, FilterList):
        return 1 + max(map(_depth, filter.filters), default=0)
    if isinstance(filter, SkipFilter | WhileMatchFilter):
        return 1 + _depth(filter.filter)
    return 1


def _check_count(count: int, what: str, most: int) -> None:
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= most:
        raise InvalidRequest(
            f"{what} {count!r:.80} is not valid", hint=f"give a whole number from 0 to {most:,}"
        )


def _many(filter: Filter, name: str) -> tuple[Any, ...]:
    """Returns a field that holds several things, as the tuple that the filter keeps."""
    given = getattr(filter, name)
    if isinstance(given, bytes | str):
        raise InvalidRequest(f"{name} {given!r:.80} is not a tuple", hint="give a tuple of bytes")
    kept = tuple(given)
    force_setattr(filter, name, kept)
    return kept
