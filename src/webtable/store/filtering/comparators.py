"""What a filter compares with: the comparators of HBase, as frozen values.

In a filter the stored bytes stand on the left: `RowFilter("<", b"m")` keeps rows before `m`. Plain
bytes in place of a comparator mean a `BinaryComparator`.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import msgspec

from webtable.errors import InvalidRequest

__all__ = [
    "BinaryComparator",
    "BinaryPrefixComparator",
    "BitComparator",
    "BitwiseOp",
    "Comparator",
    "FilterOp",
    "LongComparator",
    "NullComparator",
    "RegexStringComparator",
    "SubstringComparator",
    "check_bytes",
    "check_comparison",
]

FilterOp: TypeAlias = Literal["<", "<=", "=", "!=", ">=", ">"]
"""How a filter compares what is stored, on the left, with what it was given."""

BitwiseOp: TypeAlias = Literal["and", "or", "xor"]

_OPS = get_args(FilterOp)
_LONG_LIMIT = 2**63


class Comparator(msgspec.Struct, frozen=True):
    """The base of all comparators."""


class BinaryComparator(Comparator, frozen=True):
    """Compares all bytes in byte order."""

    value: bytes

    def __post_init__(self) -> None:
        check_bytes(self.value, "the value to compare with")


class BinaryPrefixComparator(Comparator, frozen=True):
    """Compares as many bytes from the front as the given value has."""

    value: bytes

    def __post_init__(self) -> None:
        check_bytes(self.value, "the prefix to compare with")


class RegexStringComparator(Comparator, frozen=True):
    """Is equal to what a regular expression finds something in; only for `=` and `!=`.

    The stored bytes are read as UTF-8, and a dot matches line ends too. On HBase the
    expression is Java's; the embedded engine takes what means the same in Java and Python, limits
    the steps of a search, and raises `InvalidRequest` for the rest.
    """

    pattern: str
    ignore_case: bool = False

    def __post_init__(self) -> None:
        _check_text(self.pattern, "pattern")


class SubstringComparator(Comparator, frozen=True):
    """Is equal to what contains the text, in small or capital letters; only for `=` and `!=`."""

    text: str

    def __post_init__(self) -> None:
        _check_text(self.text, "substring")


class NullComparator(Comparator, frozen=True):
    """Is equal to nothing that is stored; only for `=` and `!=`."""


class BitComparator(Comparator, frozen=True):
    """Is equal to values of the same length that have a bit in common (`and`, `or`, `xor`).

    Equal means: the result of the operation has a bit that is set. Only for `=` and `!=`.
    """

    value: bytes
    bitwise_op: BitwiseOp

    def __post_init__(self) -> None:
        check_bytes(self.value, "the value to compare with")
        if self.bitwise_op not in get_args(BitwiseOp):
            raise InvalidRequest(
                f"bitwise operation {self.bitwise_op!r:.80} is not valid",
                hint=f"one of {', '.join(get_args(BitwiseOp))}",
            )


class LongComparator(Comparator, frozen=True):
    """Compares values of 8 bytes as signed numbers; a value of another length is an error."""

    value: int

    def __post_init__(self) -> None:
        if not isinstance(self.value, int) or not -_LONG_LIMIT <= self.value < _LONG_LIMIT:
            raise InvalidRequest(
                f"number {self.value!r:.80} to compare with does not fit",
                hint="give a whole number of 64 bits",
            )


_EQUALITY_ONLY = (RegexStringComparator, SubstringComparator, NullComparator, BitComparator)


def check_comparison(op: FilterOp, comparator: Comparator | bytes) -> Comparator:
    """Returns the comparator that a filter with this operator compares with.

    Raises:
        InvalidRequest: the operator is not valid, or does not fit the comparator.
    """
    if op not in _OPS:
        raise InvalidRequest(
            f"comparison {op!r:.80} is not valid", hint=f"one of {'  '.join(_OPS)}"
        )
    if isinstance(comparator, bytes):
        return BinaryComparator(comparator)
    if not isinstance(comparator, Comparator):
        raise InvalidRequest(
            f"comparator {comparator!r:.80} is {type(comparator).__name__}",
            hint="give a comparator of webtable.filters, or bytes",
        )
    if isinstance(comparator, _EQUALITY_ONLY) and op not in {"=", "!="}:
        raise InvalidRequest(
            f"a {type(comparator).__name__} cannot be compared by {op}", hint="use = or !="
        )
    return comparator


def check_bytes(value: bytes, what: str) -> bytes:
    """Returns the value if it is bytes.

    Raises:
        InvalidRequest: it is not.
    """
    if not isinstance(value, bytes):
        raise InvalidRequest(
            f"{what} {value!r:.80} is {type(value).__name__}, not bytes", hint="encode it first"
        )
    return value


def _check_text(text: str, what: str) -> None:
    if not isinstance(text, str):
        raise InvalidRequest(
            f"{what} {text!r:.80} is {type(text).__name__}, not text", hint="give a str"
        )
    try:
        text.encode()
    except UnicodeEncodeError as exc:
        raise InvalidRequest(
            f"{what} {text!r:.80} is not UTF-8", hint="compare bytes with a BinaryComparator"
        ) from exc
