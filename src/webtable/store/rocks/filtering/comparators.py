"""Comparators at work: from an operator and a comparator to a function that decides what passes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from webtable.errors import InvalidRequest
from webtable.store.filtering import comparators as c

__all__ = ["passing"]

_OPS: dict[c.FilterOp, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}
# With the sides exchanged: what is given on the left, as `partial` puts it there.
_TURNED = _OPS | {"<": operator.gt, "<=": operator.ge, ">=": operator.le, ">": operator.lt}


def passing(op: c.FilterOp, comparator: c.Comparator | bytes) -> Callable[[bytes], bool]:
    """Returns a function that decides whether stored bytes pass the comparison.

    Raises:
        InvalidRequest: a regular expression is not valid, not the same in Java and Python, or
            could take too many steps.
    """
    compare = _OPS[op]
    match comparator:
        case c.BinaryComparator(value):
            return partial(_TURNED[op], value)  # a third of what a function of ours would take
        case c.BinaryPrefixComparator(value):
            size = len(value)
            return lambda stored: compare(stored[:size], value)
        case c.LongComparator(number):
            return lambda stored: compare(_number(stored), number)
        case c.RegexStringComparator():
            # Imported when needed: most programs have no regular expression in a filter.
            from webtable.store.regex import compile_regex

            search = compile_regex(comparator.pattern, comparator.ignore_case)
            return _equality(
                op, lambda stored: search(stored.decode("utf-8", "replace")) is not None
            )
        case c.SubstringComparator(text):
            part = text.lower()
            return _equality(op, lambda stored: part in stored.decode("utf-8", "replace").lower())
        case c.BitComparator():
            return _equality(op, _bits(comparator))
        case _:  # a NullComparator: what is stored is never nothing
            return _equality(op, lambda stored: False)


def _equality(op: c.FilterOp, equals: Callable[[bytes], bool]) -> Callable[[bytes], bool]:
    return equals if op == "=" else lambda stored: not equals(stored)


def _number(stored: bytes) -> int:
    if len(stored) != 8:
        raise InvalidRequest(
            f"a LongComparator met {stored!r:.40}, which has {len(stored):,} bytes and not 8",
            hint="use it only where all values are 8-byte numbers, or name the column",
        )
    return int.from_bytes(stored, "big", signed=True)


def _bits(comparator: c.BitComparator) -> Callable[[bytes], bool]:
    size = len(comparator.value)
    number = int.from_bytes(comparator.value, "big")
    combine = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}[comparator.bitwise_op]

    def equals(stored: bytes) -> bool:
        return len(stored) == size and bool(combine(int.from_bytes(stored, "big"), number))

    return equals
