"""Filters and comparators as servers take them: the name of a Java class, and its message."""

from __future__ import annotations

from google.protobuf.message import Message

from webtable.store.filtering import comparators as c
from webtable.store.filtering import filters as f
from webtable.store.hbase.proto import base_pb2, client_pb2, filter_pb2

__all__ = ["fill_comparator", "fill_filter"]

_PACKAGE = "org.apache.hadoop.hbase.filter."
_COMPARE: dict[c.FilterOp, base_pb2.CompareType] = {
    "<": base_pb2.LESS,
    "<=": base_pb2.LESS_OR_EQUAL,
    "=": base_pb2.EQUAL,
    "!=": base_pb2.NOT_EQUAL,
    ">=": base_pb2.GREATER_OR_EQUAL,
    ">": base_pb2.GREATER,
}
_BITWISE: dict[c.BitwiseOp, filter_pb2.BitComparator.BitwiseOp] = {
    "and": filter_pb2.BitComparator.AND,
    "or": filter_pb2.BitComparator.OR,
    "xor": filter_pb2.BitComparator.XOR,
}
# Flags of java.util.regex.Pattern. DOTALL is HBase's default.
_DOTALL = 32
_CASE_INSENSITIVE = 2
# In a mask on the wire: a byte that must be there, and one that may be any.
_FIXED = 0xFF
_FREE = 2


def fill_filter(message: client_pb2.Filter, filter: f.Filter) -> None:
    """Writes a filter into its message."""
    message.name = _PACKAGE + type(filter).__name__
    content = _row_filter(filter) or _column_filter(filter)
    message.serialized_filter = b"" if content is None else content.SerializeToString()


def fill_comparator(message: client_pb2.Comparator, comparator: c.Comparator) -> None:
    """Writes a comparator into its message."""
    message.name = _PACKAGE + type(comparator).__name__
    content = _comparator(comparator)
    message.serialized_comparator = b"" if content is None else content.SerializeToString()


def _row_filter(filter: f.Filter) -> Message | None:
    """Returns the message of a filter that is about rows, or about other filters."""
    match filter:
        case f.FilterList():
            kind = filter_pb2.FilterList
            is_all = filter.must_pass == "all"
            message = kind(operator=kind.MUST_PASS_ALL if is_all else kind.MUST_PASS_ONE)
            for each in filter.filters:
                fill_filter(message.filters.add(), each)
            return message
        case f.SkipFilter():
            skip = filter_pb2.SkipFilter()
            fill_filter(skip.filter, filter.filter)
            return skip
        case f.WhileMatchFilter():
            match = filter_pb2.WhileMatchFilter()
            fill_filter(match.filter, filter.filter)
            return match
        case f.PrefixFilter():
            return filter_pb2.PrefixFilter(prefix=filter.prefix)
        case f.InclusiveStopFilter():
            return filter_pb2.InclusiveStopFilter(stop_row_key=filter.stop_row)
        case f.PageFilter():
            return filter_pb2.PageFilter(page_size=filter.page_size)
        case f.RandomRowFilter():
            return filter_pb2.RandomRowFilter(chance=filter.chance)
        case f.FuzzyRowFilter():
            return _fuzzy(filter)
        case f.MultiRowRangeFilter():
            return _ranges(filter)
        case _:
            return None


def _column_filter(filter: f.Filter) -> Message | None:
    """Returns the message of a filter that is about cells; None if it is not about cells."""
    match filter:
        case f.CompareFilter():
            kind = getattr(filter_pb2, type(filter).__name__)
            message: Message = kind(compare_filter=_comparison(filter.op, filter.comparator))
            return message
        case f.SingleColumnValueFilter() | f.DependentColumnFilter() | f.ColumnValueFilter():
            return _value_filter(filter)
        case f.KeyOnlyFilter():
            return filter_pb2.KeyOnlyFilter(len_as_val=filter.length_as_value)
        case f.ColumnPrefixFilter():
            return filter_pb2.ColumnPrefixFilter(prefix=filter.prefix)
        case f.MultipleColumnPrefixFilter():
            return filter_pb2.MultipleColumnPrefixFilter(sorted_prefixes=sorted(filter.prefixes))
        case f.ColumnCountGetFilter():
            return filter_pb2.ColumnCountGetFilter(limit=filter.limit)
        case f.ColumnPaginationFilter(offset=bytes() as column):
            return filter_pb2.ColumnPaginationFilter(limit=filter.limit, column_offset=column)
        case f.ColumnPaginationFilter(offset=int() as offset):
            return filter_pb2.ColumnPaginationFilter(limit=filter.limit, offset=offset)
        case f.TimestampsFilter():
            stamps = sorted(set(filter.timestamps))
            return filter_pb2.TimestampsFilter(timestamps=stamps, can_hint=False)
        case f.ColumnRangeFilter():
            return filter_pb2.ColumnRangeFilter(
                min_column=filter.min_column,
                min_column_inclusive=filter.min_column_inclusive,
                max_column=filter.max_column,
                max_column_inclusive=filter.max_column_inclusive,
            )
        case _:
            return None


def _value_filter(
    filter: f.SingleColumnValueFilter | f.DependentColumnFilter | f.ColumnValueFilter,
) -> Message:
    family, _, qualifier = filter.column.partition(b":")
    compared = _comparison(filter.op, filter.comparator)
    if isinstance(filter, f.DependentColumnFilter):
        return filter_pb2.DependentColumnFilter(
            compare_filter=compared,
            column_family=family,
            column_qualifier=qualifier,
            drop_dependent_column=filter.drop_dependent_column,
        )
    if isinstance(filter, f.ColumnValueFilter):
        return filter_pb2.ColumnValueFilter(
            family=family,
            qualifier=qualifier,
            compare_op=compared.compare_op,
            comparator=compared.comparator,
        )
    single = filter_pb2.SingleColumnValueFilter(
        column_family=family,
        column_qualifier=qualifier,
        compare_op=compared.compare_op,
        comparator=compared.comparator,
        filter_if_missing=filter.filter_if_missing,
        latest_version_only=filter.latest_version_only,
    )
    if isinstance(filter, f.SingleColumnValueExcludeFilter):
        return filter_pb2.SingleColumnValueExcludeFilter(single_column_value_filter=single)
    return single


def _comparison(
    op: c.FilterOp | None, comparator: c.Comparator | bytes | None
) -> filter_pb2.CompareFilter:
    if op is None:
        return filter_pb2.CompareFilter(compare_op=base_pb2.NO_OP)
    assert isinstance(comparator, c.Comparator), "filters keep comparators, never bytes"
    message = filter_pb2.CompareFilter(compare_op=_COMPARE[op])
    fill_comparator(message.comparator, comparator)
    return message


def _fuzzy(filter: f.FuzzyRowFilter) -> Message:
    message = filter_pb2.FuzzyRowFilter(is_mask_v2=True)
    for row, mask in filter.patterns:
        # As Java's client sends it: a mask of 0 and 1 means something else to some servers.
        coded = bytes(_FREE if free else _FIXED for free in mask)
        key = bytes(0 if free else byte for byte, free in zip(row, mask, strict=True))
        message.fuzzy_keys_data.add(first=key, second=coded)
    return message


def _ranges(filter: f.MultiRowRangeFilter) -> Message:
    message = filter_pb2.MultiRowRangeFilter()
    for start, stop, start_inclusive, stop_inclusive in filter.ranges:
        message.row_range_list.add(
            start_row=start,
            start_row_inclusive=start_inclusive,
            stop_row=stop,
            stop_row_inclusive=stop_inclusive,
        )
    return message


def _comparator(comparator: c.Comparator) -> Message | None:
    match comparator:
        case c.BinaryComparator():
            return client_pb2.BinaryComparator(comparable=_comparable(comparator.value))
        case c.BinaryPrefixComparator():
            return filter_pb2.BinaryPrefixComparator(comparable=_comparable(comparator.value))
        case c.LongComparator():
            value = comparator.value.to_bytes(8, "big", signed=True)
            return filter_pb2.LongComparator(comparable=_comparable(value))
        case c.BitComparator():
            return filter_pb2.BitComparator(
                comparable=_comparable(comparator.value), bitwise_op=_BITWISE[comparator.bitwise_op]
            )
        case c.RegexStringComparator():
            flags = _DOTALL | (_CASE_INSENSITIVE if comparator.ignore_case else 0)
            return filter_pb2.RegexStringComparator(
                pattern=comparator.pattern, pattern_flags=flags, charset="UTF-8", engine="JAVA"
            )
        case c.SubstringComparator():
            return filter_pb2.SubstringComparator(substr=comparator.text)
        case _:
            return None


def _comparable(value: bytes) -> client_pb2.ByteArrayComparable:
    return client_pb2.ByteArrayComparable(value=value)
