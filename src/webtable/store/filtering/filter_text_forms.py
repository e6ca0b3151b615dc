"""How each filter is written in the filter language: its arguments, and a value as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from webtable.errors import InvalidRequest
from webtable.store.filtering import filters as f
from webtable.store.filtering.comparators import (
    BinaryComparator,
    BinaryPrefixComparator,
    Comparator,
    RegexStringComparator,
    SubstringComparator,
)

__all__ = [
    "COMPARATORS",
    "FLAG_ARGUMENTS",
    "FORMS",
    "NUMBER_ARGUMENTS",
    "Form",
    "as_text",
    "filter_text",
    "make_filter",
    "usage",
]


class Form(NamedTuple):
    """How a filter is written: its arguments, how many there may be, and whether they repeat."""

    kind: Callable[..., f.Filter]
    arguments: tuple[str, ...]
    counts: tuple[int, ...] = ()
    repeats: bool = False

    @property
    def allowed(self) -> tuple[int, ...]:
        """The numbers of arguments that will do."""
        return self.counts or (len(self.arguments),)


_COMPARE = ("op", "comparator")
_COLUMN = ("family", "qualifier")
_FLAGS = ("filter_if_missing", "latest_version_only")
FORMS: dict[str, Form] = {
    "KeyOnlyFilter": Form(f.KeyOnlyFilter, ("length_as_value",), (0, 1)),
    "FirstKeyOnlyFilter": Form(f.FirstKeyOnlyFilter, ()),
    "PrefixFilter": Form(f.PrefixFilter, ("prefix",)),
    "ColumnPrefixFilter": Form(f.ColumnPrefixFilter, ("prefix",)),
    "MultipleColumnPrefixFilter": Form(
        f.MultipleColumnPrefixFilter, ("prefix",), (0,), repeats=True
    ),
    "ColumnCountGetFilter": Form(f.ColumnCountGetFilter, ("limit",)),
    "PageFilter": Form(f.PageFilter, ("page_size",)),
    "ColumnPaginationFilter": Form(f.ColumnPaginationFilter, ("limit", "offset")),
    "InclusiveStopFilter": Form(f.InclusiveStopFilter, ("stop_row",)),
    "TimestampsFilter": Form(f.TimestampsFilter, ("timestamp",), (0,), repeats=True),
    "RowFilter": Form(f.RowFilter, _COMPARE),
    "FamilyFilter": Form(f.FamilyFilter, _COMPARE),
    "QualifierFilter": Form(f.QualifierFilter, _COMPARE),
    "ValueFilter": Form(f.ValueFilter, _COMPARE),
    "ColumnRangeFilter": Form(
        f.ColumnRangeFilter,
        ("min_column", "min_column_inclusive", "max_column", "max_column_inclusive"),
    ),
    "SingleColumnValueFilter": Form(
        f.SingleColumnValueFilter, (*_COLUMN, *_COMPARE, *_FLAGS), (4, 6)
    ),
    "SingleColumnValueExcludeFilter": Form(
        f.SingleColumnValueExcludeFilter, (*_COLUMN, *_COMPARE, *_FLAGS), (4, 6)
    ),
    "DependentColumnFilter": Form(
        f.DependentColumnFilter, (*_COLUMN, "drop_dependent_column", *_COMPARE), (2, 3, 5)
    ),
    "ColumnValueFilter": Form(f.ColumnValueFilter, (*_COLUMN, *_COMPARE)),
}
"""Every filter of the language, by name."""

FLAG_ARGUMENTS = {"length_as_value", "drop_dependent_column", *_FLAGS}
FLAG_ARGUMENTS |= {"min_column_inclusive", "max_column_inclusive"}
NUMBER_ARGUMENTS = {"limit", "offset", "page_size", "timestamp"}
COMPARATORS: dict[bytes, Callable[[bytes], Comparator]] = {
    b"binary": BinaryComparator,
    b"binaryprefix": BinaryPrefixComparator,
    b"regexstring": lambda value: RegexStringComparator(as_text(value)),
    b"regexstringnocase": lambda value: RegexStringComparator(as_text(value), ignore_case=True),
    b"substring": lambda value: SubstringComparator(as_text(value)),
}


def make_filter(form: Form, values: Sequence[Any]) -> f.Filter:
    """Returns the filter that has these arguments.

    Raises:
        InvalidRequest: one is of the right type, but not what the filter takes.
    """
    if form.repeats:
        return form.kind(tuple(values))
    if form.arguments[:2] == _COLUMN:
        family, qualifier, *rest = values
        if b":" in family or not family:
            raise InvalidRequest(
                f"family {family!r:.80} is not valid", hint="a name without a colon"
            )
        return form.kind(family + b":" + qualifier, *rest)
    return form.kind(*values)


def usage(name: str) -> str:
    """Returns how a filter is written, with names for its arguments."""
    form = FORMS[name]
    if form.repeats:
        return f"{name}({form.arguments[0]}, …)"
    least = min(form.allowed)
    needed = ", ".join(form.arguments[:least])
    more = ", ".join(form.arguments[least:])
    return f"{name}({needed}[{', ' if needed else ''}{more}])" if more else f"{name}({needed})"


def as_text(source: bytes) -> str:
    """Returns bytes of the language as text, from which the same bytes can be had again."""
    return source.decode("utf-8", "surrogateescape")


def filter_text(filter: f.Filter) -> str:
    """Returns the text from which `parse_filter` makes an equal filter.

    Raises:
        InvalidRequest: the language cannot express it.
    """
    match filter:
        case f.FilterList(filters=(_, _, *_)):
            word = " AND " if filter.must_pass == "all" else " OR "
            return word.join(_in_parentheses(each) for each in filter.filters)
        case f.SkipFilter():
            return f"SKIP {_in_parentheses(filter.filter)}"
        case f.WhileMatchFilter():
            return f"WHILE {_in_parentheses(filter.filter)}"
    name = type(filter).__name__
    if name not in FORMS:
        raise _not_expressible(filter)
    return f"{name}({', '.join(_arguments(filter, FORMS[name]))})"


def _in_parentheses(filter: f.Filter) -> str:
    text = filter_text(filter)
    # More of them than are needed: HBase's parser stumbles where a weaker operator comes first.
    is_simple = type(filter).__name__ in FORMS
    return text if is_simple else f"({text})"


def _arguments(filter: f.Filter, form: Form) -> list[str]:
    values = [getattr(filter, name) for name in filter.__struct_fields__]
    if form.repeats:
        return [_argument(filter, each) for each in values[0]]
    if form.arguments[:2] == _COLUMN:
        family, _, qualifier = values[0].partition(b":")
        values = [family, qualifier, *values[1:]]
    # As short as it can be: what is left out must be what it would be anyway.
    defaults = list(filter.__struct_defaults__)
    for count in form.allowed:
        left_out = values[count:]
        if left_out == defaults[len(defaults) - len(left_out) :]:
            values = values[:count]
            break
    return [_argument(filter, each) for each in values]


def _argument(filter: f.Filter, value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            return value  # an operator
        case None:
            return "''"  # a bound of a range of columns
        case bytes():
            # As the second number of a page bytes would be read as a number.
            if isinstance(filter, f.ColumnPaginationFilter):
                raise _not_expressible(filter)
            return _quoted(value)
        case BinaryComparator():
            return _quoted(b"binary:" + value.value)
        case BinaryPrefixComparator():
            return _quoted(b"binaryprefix:" + value.value)
        case RegexStringComparator():
            kind = b"regexstringnocase:" if value.ignore_case else b"regexstring:"
            return _quoted(kind + value.pattern.encode())
        case SubstringComparator():
            return _quoted(b"substring:" + value.text.encode())
        case _:
            raise _not_expressible(filter)


def _quoted(value: bytes) -> str:
    return "'" + as_text(value.replace(b"'", b"''")) + "'"


def _not_expressible(thing: f.Filter) -> InvalidRequest:
    return InvalidRequest(
        f"the filter language cannot express {thing!r:.120}", hint="give the filter itself"
    )
