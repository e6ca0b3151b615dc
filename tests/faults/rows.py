"""The rows of the load: which there are, what is in them, and how to read a number out of one.

The keys of all kinds are spread over the whole key space, so that every region has some of each.
A row with a number carries it in several columns of two families, always written together: a row
in which they differ was torn. Counters, texts and chains live in a third family.
"""

from __future__ import annotations

import hashlib

from tests.faults.checker import ChainEnd
from webtable import Family, Row, TableSchema

__all__ = [
    "CHAIN",
    "COUNT",
    "NUMBERED",
    "PLACES",
    "SPLITS",
    "TEXT",
    "Torn",
    "chain_end",
    "key",
    "number_in",
    "numbered",
    "schema",
    "wide",
    "wide_number_in",
]

PLACES = 10_000
SPLITS = (b"2500", b"5000", b"7500")
NUMBERED = (b"a", b"b")
COUNT, TEXT, CHAIN = b"n:count", b"n:text", b"n:chain"
_BEFORE = b"n:after/"
_COLUMNS = (b"a:n", b"a:pad", b"b:", b"b:n")
_WIDE_COLUMNS = tuple(b"w:%02d" % number for number in range(24))
_WIDE_BYTES = 120_000


class Torn(Exception):
    """A row was seen whose columns do not belong together."""


def schema(name: str) -> TableSchema:
    """Returns the table of the load."""
    return TableSchema(name=name, families=tuple(Family(name=each) for each in "abnw"))


def key(kind: str, number: int) -> bytes:
    """Returns a row key, at a place of its own in the key space."""
    digest = hashlib.sha256(f"{kind} {number}".encode()).digest()
    return b"%04d/%s%d" % (int.from_bytes(digest[:4], "big") % PLACES, kind.encode(), number)


def numbered(number: int) -> dict[bytes, bytes]:
    """Returns the columns of a row that carries a number."""
    return {column: _value(column, number) for column in _COLUMNS}


def number_in(row: Row) -> int:
    """Returns the number that a row carries.

    Raises:
        Torn: its columns are not those of one write.
    """
    return _number_in(row, numbered)


def wide(number: int) -> dict[bytes, bytes]:
    """Returns the columns of a row that is larger than a server puts into one response."""
    return {
        column: b"%d " % number + bytes([number % 251]) * _WIDE_BYTES for column in _WIDE_COLUMNS
    }


def wide_number_in(row: Row) -> int:
    """As `number_in`, of a wide row."""
    return _number_in(row, wide)


def chain_end(row: Row | None) -> ChainEnd:
    """Returns what a chain's row says."""
    values = row.values() if row is not None else {}
    before = {
        column.removeprefix(_BEFORE): value
        for column, value in values.items()
        if column.startswith(_BEFORE)
    }
    count = values.get(COUNT)
    return ChainEnd(
        values.get(CHAIN, b""),
        before,
        values.get(TEXT),
        int.from_bytes(count, "big") if count is not None else None,
    )


def step_columns(token: bytes, before: bytes) -> dict[bytes, bytes]:
    """Returns what a step of a chain puts: the token, and for good that it came after another."""
    return {CHAIN: token, _BEFORE + token: before}


def _value(column: bytes, number: int) -> bytes:
    if column != b"a:pad":
        return b"%d" % number
    return b"%d " % number + bytes([number % 251]) * (number * 7919 % 900)


def _number_in(row: Row, columns: object) -> int:
    values = row.values()
    number = int(next(iter(values.values())).partition(b" ")[0])
    assert callable(columns)
    wanted = columns(number)
    if values != wanted:
        wrong = {name: value[:20] for name, value in values.items() if wanted.get(name) != value}
        missing = sorted(wanted.keys() - values.keys())
        raise Torn(f"row {row.key!r} of number {number}: {wrong} do not fit, {missing} are missing")
    return number
