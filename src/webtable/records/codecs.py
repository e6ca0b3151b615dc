r"""The bytes of one value, as part of a key or as a cell.

On-disk: changing this needs a new format version. Frozen by golden tests. All numbers big-endian.

    int, IntN    N / 8 bytes, the sign bit flipped (`int` alone is `Int64`)   -1 → 7f ff … ff
    UIntN        N / 8 bytes                                                    1 → 00 … 01
    float        8 bytes IEEE 754; all bits flipped if negative,              1.0 → bf f0 00 …
    Float32      4 bytes       else the sign bit                             -1.0 → 40 0f ff …
    bool         00 or 01
    str          UTF-8                                                       "né" → 6e c3 a9
    bytes        as they are
    date         days since 1970-01-01 as an Int32
    datetime     microseconds since 1970-01-01 00:00 UTC as an Int64
    enum         its value, which is a str or an int, as a str or an Int64
    UUID         16 bytes
    list         one after the other; str and bytes each after its length in 4 bytes

A cell holds exactly these bytes. In a key the parts stand one after the other, and the order of
keys as bytes is the order of the tuples of their values in Python. A str or bytes that is not
the last part is ended by 00: `"com"` → 63 6f 6d 00. For that it must not hold 00 itself: 00 is
written 01 01, and 01 is written 01 02; what has neither stays as it is. (No form can leave every
01 as it is: `("a", x)` comes before `("a\0", y)` and that before `("a\1", z)`, whatever x and z
are, and between 61 00 ff ff … and 61 01 00 there is no room.) The last part of a key is neither
ended nor escaped.

In keys NaN is rejected, -0.0 is 0.0 (they are equal in Python, so they are one key), and a
`Float32` must be exact; cells store all of them, rounded to 32 bits where the annotation is
`Float32`.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from typing import ClassVar, Final
from uuid import UUID

__all__ = [
    "BadValue",
    "BoolCodec",
    "BytesCodec",
    "Codec",
    "DateCodec",
    "DatetimeCodec",
    "EnumCodec",
    "FloatCodec",
    "IntCodec",
    "ListCodec",
    "TextCodec",
    "UuidCodec",
]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
_MICROSECOND: Final = timedelta(microseconds=1)
_LENGTH_BYTES: Final = 4


class BadValue(ValueError):
    """A value that a codec cannot encode, or bytes that it cannot decode, with the reason."""


class Codec(ABC):
    """How the values of one type become bytes and come back.

    Attributes:
        name: the type's name in stored declarations and messages; never changes.
        width: the number of bytes; None where it depends on the value.
        is_key: whether it can be part of a key.
    """

    name: str
    width: int | None = None
    is_key: ClassVar[bool] = True

    @abstractmethod
    def encode(self, value: object) -> bytes:
        """Returns the bytes of a cell.

        Raises:
            BadValue: the value is of another type, or out of range.
        """

    def encode_key(self, value: object) -> bytes:
        """Returns the bytes of a key's last part; the same but for floats."""
        return self.encode(value)

    @abstractmethod
    def decode(self, stored: bytes) -> object:
        """Returns the value.

        Raises:
            BadValue: the bytes are not of this type.
        """

    def _reject(self, value: object) -> BadValue:
        return BadValue(f"{value!r:.80} is {type(value).__name__}, not {self.name}")

    def _check_width(self, stored: bytes) -> None:
        if len(stored) != self.width:
            raise BadValue(f"{len(stored)} bytes are not the {self.width} of {self.name}")


class IntCodec(Codec):
    """Whole numbers of 8 to 64 bits. A bool is rejected."""

    width: int

    def __init__(self, bits: int, *, is_signed: bool) -> None:
        self.name = f"{'int' if is_signed else 'uint'}{bits}"
        self.width = bits // 8
        self.is_signed = is_signed
        # Flipping the sign bit is adding half of the range.
        self._shift = 1 << bits - 1 if is_signed else 0
        self._range = 1 << bits

    def encode(self, value: object) -> bytes:
        """Returns the bytes of a number."""
        if type(value) is not int:
            raise self._reject(value)
        shifted = value + self._shift
        if not 0 <= shifted < self._range:
            least, most = -self._shift, self._range - self._shift - 1
            raise BadValue(
                f"{value!r:.80} is not in {least:,} … {most:,}, the range of {self.name}"
            )
        return shifted.to_bytes(self.width, "big")

    def decode(self, stored: bytes) -> int:
        """Returns the number."""
        self._check_width(stored)
        return int.from_bytes(stored, "big") - self._shift


class FloatCodec(Codec):
    """IEEE 754 numbers of 32 or 64 bits."""

    width: int

    def __init__(self, bits: int) -> None:
        self.name = f"float{bits}"
        self.width = bits // 8
        self._form = struct.Struct(">d" if bits == 64 else ">f")
        self._sign = 1 << bits - 1
        self._all = (1 << bits) - 1

    def encode(self, value: object) -> bytes:
        """Returns the bytes of a number; a whole number that is exact as a float will do too."""
        if type(value) is not float:
            value = self._exact(value)
        try:
            bits = int.from_bytes(self._form.pack(value), "big")
        except OverflowError:
            raise BadValue(f"{value!r} is out of the range of {self.name}") from None
        return (bits ^ (self._all if bits & self._sign else self._sign)).to_bytes(self.width, "big")

    def encode_key(self, value: object) -> bytes:
        """Returns the bytes of a number that has one place in the order of numbers."""
        if type(value) is not float:
            value = self._exact(value)
        if value != value:
            raise BadValue("NaN has no place in the order of keys")
        stored = self.encode(value + 0.0)  # so that -0.0 becomes 0.0
        if self.width == 4 and self.decode(stored) != value:
            raise BadValue(f"{value!r} is not exact in 32 bits, as a key must be")
        return stored

    def _exact(self, value: object) -> float:
        if type(value) is not int:
            raise self._reject(value)
        try:
            number = float(value)
        except OverflowError:
            number = 0.0 if value else 1.0
        if number != value:
            raise BadValue(f"{value!r:.80} is not exact as a float")
        return number

    def decode(self, stored: bytes) -> float:
        """Returns the number."""
        self._check_width(stored)
        bits = int.from_bytes(stored, "big")
        bits ^= self._sign if bits & self._sign else self._all
        number: float = self._form.unpack(bits.to_bytes(self.width, "big"))[0]
        return number


class BoolCodec(Codec):
    """False and True, in this order."""

    name = "bool"
    width = 1

    def encode(self, value: object) -> bytes:
        """Returns 00 or 01."""
        if type(value) is not bool:
            raise self._reject(value)
        return b"\x01" if value else b"\x00"

    def decode(self, stored: bytes) -> bool:
        """Returns the truth value."""
        if stored == b"\x01":
            return True
        if stored == b"\x00":
            return False
        raise BadValue(f"{stored[:20]!r} is neither 00 nor 01")


class TextCodec(Codec):
    """Text in UTF-8, whose order of bytes is that of the code points."""

    name = "str"

    def encode(self, value: object) -> bytes:
        """Returns the text's bytes."""
        if type(value) is not str:
            raise self._reject(value)
        try:
            return value.encode()
        except UnicodeEncodeError as exc:
            raise BadValue(f"{value!r:.80} holds half of a surrogate pair") from exc

    def decode(self, stored: bytes) -> str:
        """Returns the text."""
        try:
            return stored.decode()
        except UnicodeDecodeError as exc:
            raise BadValue(f"{stored[:40]!r} is not UTF-8") from exc


class BytesCodec(Codec):
    """Bytes as they are."""

    name = "bytes"

    def encode(self, value: object) -> bytes:
        """Returns the bytes."""
        if type(value) is not bytes:
            raise self._reject(value)
        return value

    def decode(self, stored: bytes) -> bytes:
        """Returns the bytes."""
        return stored


class DateCodec(Codec):
    """Days."""

    name = "date"
    width = 4
    _days = IntCodec(32, is_signed=True)

    def encode(self, value: object) -> bytes:
        """Returns the bytes of a day."""
        if type(value) is not date:  # a datetime is a date too, but not here
            raise self._reject(value)
        return self._days.encode(value.toordinal() - _EPOCH_DAY)

    def decode(self, stored: bytes) -> date:
        """Returns the day."""
        self._check_width(stored)
        days = self._days.decode(stored)
        try:
            return date.fromordinal(days + _EPOCH_DAY)
        except (ValueError, OverflowError) as exc:
            raise BadValue(f"{days:,} days from 1970 are no date") from exc


class DatetimeCodec(Codec):
    """Moments, to the microsecond. They come back in UTC, whatever zone they were given in."""

    name = "datetime"
    width = 8
    _microseconds = IntCodec(64, is_signed=True)

    def encode(self, value: object) -> bytes:
        """Returns the bytes of a datetime that has a time zone."""
        if not isinstance(value, datetime):
            raise self._reject(value)
        try:
            since = (value - _EPOCH) // _MICROSECOND
        except TypeError:
            raise BadValue(f"{value!r:.80} has no time zone") from None
        return self._microseconds.encode(since)

    def decode(self, stored: bytes) -> datetime:
        """Returns the moment, in UTC."""
        self._check_width(stored)
        since = self._microseconds.decode(stored)
        try:
            return _EPOCH + timedelta(microseconds=since)
        except OverflowError as exc:
            raise BadValue(f"{since:,} microseconds from 1970 are no datetime") from exc


class EnumCodec(Codec):
    """Members of one enum, by their values: these stay when members are added or moved."""

    def __init__(self, kind: type[Enum]) -> None:
        values = [member.value for member in kind]
        self._kind = kind
        self._values: Codec
        # The value itself, and not the member: those of an IntEnum are ints too.
        if values and all(type(value) is int for value in values):
            self._values = IntCodec(64, is_signed=True)
        elif values and all(type(value) is str for value in values):
            self._values = TextCodec()
        else:
            raise BadValue(f"the values of enum {kind.__name__} are neither all str nor all int")
        self.name = f"enum of {self._values.name}"
        self.width = self._values.width
        self._members = {self._values.encode(member.value): member for member in kind}

    def encode(self, value: object) -> bytes:
        """Returns the bytes of a member's value."""
        if not isinstance(value, self._kind):
            raise BadValue(f"{value!r:.80} is {type(value).__name__}, not {self._kind.__name__}")
        return self._values.encode(value.value)

    def decode(self, stored: bytes) -> Enum:
        """Returns the member."""
        member = self._members.get(stored)
        if member is None:
            value = self._values.decode(stored)
            raise BadValue(f"{value!r:.80} is the value of no member of {self._kind.__name__}")
        return member


class UuidCodec(Codec):
    """UUIDs, in the order of their bytes."""

    name = "uuid"
    width = 16

    def encode(self, value: object) -> bytes:
        """Returns the 16 bytes."""
        if not isinstance(value, UUID):
            raise self._reject(value)
        return value.bytes

    def decode(self, stored: bytes) -> UUID:
        """Returns the UUID."""
        self._check_width(stored)
        return UUID(bytes=stored)


class ListCodec(Codec):
    """Lists of one type; values only."""

    is_key = False

    def __init__(self, item: Codec) -> None:
        self.name = f"list of {item.name}"
        self._item = item

    def encode(self, value: object) -> bytes:
        """Returns the bytes of the items."""
        if type(value) is not list:
            raise self._reject(value)
        items = [self._item.encode(item) for item in value]
        if self._item.width is None:
            items = [len(item).to_bytes(_LENGTH_BYTES, "big") + item for item in items]
        return b"".join(items)

    def decode(self, stored: bytes) -> list[object]:
        """Returns the items."""
        item, at, values = self._item, 0, []
        while at < len(stored):
            width = item.width
            if width is None:
                width = int.from_bytes(stored[at : at + _LENGTH_BYTES], "big")
                at += _LENGTH_BYTES
            if at + width > len(stored):
                raise BadValue(f"{len(stored)} bytes end within an item of a {self.name}")
            values.append(item.decode(stored[at : at + width]))
            at += width
        return values
