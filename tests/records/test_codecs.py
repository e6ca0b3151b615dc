"""The bytes of values and keys: frozen, and in the order that Python gives the values."""

from __future__ import annotations

import math
import struct
import uuid
from datetime import UTC, date, datetime, timedelta, timezone
from enum import Enum, IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webtable.records.codecs import BadValue, Codec
from webtable.records.declaration import Declaration
from webtable.records.field_types import (
    EntityKey,
    Float32,
    Int8,
    Int16,
    Int32,
    Int64,
    Key,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    field_type,
)
from webtable.records.record import Record, declaration_of
from webtable.store.zero_byte_escaping import escape, unescape


class Level(IntEnum):
    LOW = -3
    MIDDLE = 0
    HIGH = 10


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


class Mood(Enum):
    GOOD = "g"
    BAD = "b"


def codec(hint: object) -> Codec:
    return field_type(hint).codec


GOLDEN: list[tuple[object, object, str]] = [
    (int, 0, "8000000000000000"),
    (int, -1, "7fffffffffffffff"),
    (int, 2**63 - 1, "ffffffffffffffff"),
    (Int8, -128, "00"),
    (Int16, 1, "8001"),
    (Int32, -2, "7ffffffe"),
    (UInt8, 255, "ff"),
    (UInt16, 200, "00c8"),
    (UInt32, 1, "00000001"),
    (UInt64, 2**64 - 1, "ffffffffffffffff"),
    (float, 1.0, "bff0000000000000"),
    (float, -1.0, "400fffffffffffff"),
    (float, 0.0, "8000000000000000"),
    (Float32, 1.5, "bfc00000"),
    (bool, False, "00"),
    (bool, True, "01"),
    (str, "né", "6ec3a9"),
    (str, "", ""),
    (bytes, b"\x00\xff", "00ff"),
    (date, date(1970, 1, 2), "80000001"),
    (datetime, datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), "80000000000f4240"),
    (Level, Level.LOW, "7ffffffffffffffd"),
    (Colour, Colour.RED, "726564"),
    (Mood, Mood.BAD, "62"),
    (uuid.UUID, uuid.UUID(int=1), "00000000000000000000000000000001"),
    (list[UInt8], [1, 2], "0102"),
    (list[str], ["a", ""], "000000016100000000"),
    (list[int], [], ""),
]


@pytest.mark.parametrize(("hint", "value", "stored"), GOLDEN, ids=repr)
def test_these_are_the_bytes_of_a_cell(hint: object, value: object, stored: str) -> None:
    assert codec(hint).encode(value).hex() == stored
    assert codec(hint).decode(bytes.fromhex(stored)) == value


TEXT = st.text(alphabet=st.sampled_from("\x00\x01\x02aé\U0001f600"), max_size=4) | st.text(
    alphabet=st.characters(codec="utf-8"), max_size=6
)
BYTES = st.binary(max_size=4) | st.lists(st.sampled_from([0, 1, 2, 254, 255]), max_size=4).map(
    bytes
)
FLOATS = st.floats(allow_nan=False)
MOMENTS = st.datetimes(
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=-11)), timezone(timedelta(hours=9))]),
    min_value=datetime(2, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone
    max_value=datetime(9998, 1, 1),  # noqa: DTZ001
)

TYPES: dict[object, st.SearchStrategy[Any]] = {
    int: st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3),
    Int8: st.integers(-128, 127),
    Int16: st.integers(-(2**15), 2**15 - 1),
    Int32: st.integers(-(2**31), 2**31 - 1),
    Int64: st.integers(-(2**63), 2**63 - 1),
    UInt8: st.integers(0, 255),
    UInt16: st.integers(0, 2**16 - 1),
    UInt32: st.integers(0, 2**32 - 1),
    UInt64: st.integers(0, 2**64 - 1),
    float: FLOATS,
    Float32: st.floats(allow_nan=False, width=32),
    bool: st.booleans(),
    str: TEXT,
    bytes: BYTES,
    date: st.dates(),
    datetime: MOMENTS,
    Level: st.sampled_from(Level),
    Colour: st.sampled_from(Colour),
    uuid.UUID: st.uuids(),
}


@pytest.mark.parametrize("hint", TYPES, ids=str)
def test_bytes_have_the_order_of_values(hint: object) -> None:
    kind = codec(hint)

    @given(TYPES[hint], TYPES[hint])
    def check(one: Any, other: Any) -> None:
        left, right = kind.encode_key(one), kind.encode_key(other)
        assert (left < right, left == right) == (one < other, one == other)
        assert kind.decode(left) == one

    check()


class Wide(Record):
    text: EntityKey[str]
    number: Key[int]
    raw: Key[bytes]
    ratio: Key[float]
    day: Key[date]
    last: Key[str]


class TextLast(Record):
    raw: EntityKey[bytes]
    text: Key[str]


class TextFirst(Record):
    text: EntityKey[str]
    more: Key[str]
    small: Key[Int8]


KEYS = {
    Wide: st.tuples(
        TEXT, st.integers(-2, 2), BYTES, FLOATS, st.dates(max_value=date(2, 1, 1)), TEXT
    ),
    TextLast: st.tuples(BYTES, TEXT),
    TextFirst: st.tuples(TEXT, TEXT, st.integers(-128, 127)),
}


def key_bytes(declaration: Declaration, key: tuple[Any, ...]) -> bytes:
    return b"".join(declaration.encode_parts(key, is_whole=True))


@pytest.mark.parametrize("record", KEYS, ids=lambda record: record.__name__)
def test_keys_have_the_order_of_tuples(record: type[Record]) -> None:
    declaration = declaration_of(record)

    @given(KEYS[record], KEYS[record], st.integers(0, 6))
    def check(one: Any, other: Any, shared: int) -> None:
        other = one[:shared] + other[shared:]  # else the first parts nearly always decide
        left, right = key_bytes(declaration, one), key_bytes(declaration, other)
        assert (left < right, left == right) == (one < other, one == other)
        # Beginnings of keys, as ranges have them, stand where their tuples do.
        start = b"".join(declaration.encode_parts(other[:shared], is_whole=shared == len(other)))
        assert (start <= left) == (other[:shared] <= one)

    check()


@pytest.mark.parametrize("record", KEYS, ids=lambda record: record.__name__)
def test_keys_come_back(record: type[Record]) -> None:
    declaration = declaration_of(record)

    @given(KEYS[record])
    def check(key: Any) -> None:
        assert declaration.decode_key(declaration.row_key(key)) == key

    check()


def test_the_layout_of_a_key() -> None:
    wide = declaration_of(Wide)
    key = ("com", -1, b"\x00\x01", 1.0, date(1970, 1, 1), "end\x00")
    assert key_bytes(wide, key).hex() == "".join(
        (
            "636f6d00",  # ended by 00
            "7fffffffffffffff",
            "0101010200",  # 00 and 01 escaped, ended by 00
            "bff0000000000000",
            "80000000",
            "656e6400",  # open: neither escaped nor ended
        )
    )


@given(BYTES)
def test_escaping_comes_back_and_has_no_00(part: bytes) -> None:
    assert 0 not in escape(part)
    assert unescape(escape(part)) == part


WRONG: list[tuple[object, object, str]] = [
    (int, True, "is bool, not int64"),
    (int, "1", "is str, not int64"),
    (int, 2**63, "is not in"),
    (UInt8, -1, "is not in 0 … 255"),
    (UInt8, 256, "is not in 0 … 255"),
    (float, "1", "is str, not float64"),
    (float, 2**53 + 1, "not exact as a float"),
    (float, 10**400, "not exact as a float"),
    (Float32, 1e300, "out of the range"),
    (bool, 1, "is int, not bool"),
    (str, b"a", "is bytes, not str"),
    (str, "\ud800", "half of a surrogate pair"),
    (bytes, "a", "is str, not bytes"),
    (date, datetime(2020, 1, 1, tzinfo=UTC), "is datetime, not date"),
    (datetime, datetime(2020, 1, 1), "no time zone"),  # noqa: DTZ001
    (datetime, date(2020, 1, 1), "is date, not datetime"),
    (Level, 10, "is int, not Level"),
    (Colour, "red", "is str, not Colour"),
    (uuid.UUID, "0", "is str, not uuid"),
    (list[int], (1,), "is tuple, not list"),
    (list[int], [None], "is NoneType, not int64"),
]


@pytest.mark.parametrize(("hint", "value", "why"), WRONG, ids=repr)
def test_a_wrong_value_is_named(hint: object, value: object, why: str) -> None:
    with pytest.raises(BadValue, match=why):
        codec(hint).encode(value)


@pytest.mark.parametrize(
    ("hint", "value", "why"),
    [(float, math.nan, "NaN"), (Float32, math.nan, "NaN"), (Float32, 0.1, "not exact in 32 bits")],
)
def test_floats_that_no_key_can_have(hint: object, value: float, why: str) -> None:
    with pytest.raises(BadValue, match=why):
        codec(hint).encode_key(value)


def test_floats_that_cells_can_have() -> None:
    assert math.isnan(float(str(codec(float).decode(codec(float).encode(math.nan)))))
    assert (
        codec(Float32).decode(codec(Float32).encode(0.1))
        == struct.unpack(">f", struct.pack(">f", 0.1))[0]
    )
    assert math.copysign(1, float(str(codec(float).decode(codec(float).encode(-0.0))))) == -1
    assert codec(float).encode_key(-0.0) == codec(float).encode_key(0.0)
    assert codec(float).decode(codec(float).encode(3)) == 3.0


BAD_BYTES = [
    (int, b"123", "3 bytes are not the 8"),
    (bool, b"\x02", "neither 00 nor 01"),
    (str, b"\xff", "not UTF-8"),
    (date, b"\xff\xff\xff\xff", "no date"),
    (datetime, b"\xff" * 8, "no datetime"),
    (Level, b"\x80" + b"\x00" * 6 + b"\x01", "no member of Level"),
    (Colour, b"blue", "no member of Colour"),
    (uuid.UUID, b"x", "1 bytes are not the 16"),
    (list[str], b"\x00\x00\x00\x05a", "end within an item"),
    (list[int], b"\x00" * 9, "end within an item"),
]


@pytest.mark.parametrize(("hint", "stored", "why"), BAD_BYTES, ids=repr)
def test_bytes_that_are_not_of_the_type(hint: object, stored: bytes, why: str) -> None:
    with pytest.raises(BadValue, match=why):
        codec(hint).decode(stored)
