"""The types that fields of records may have, and the annotations that choose them.

site: EntityKey[str]                key fields come first, those of the entity before all others
at: Key[datetime]
status: UInt16 = 200                numbers of other widths than 64 bits
referrer: str | None = None         may be None
tags: list[str] = []
"""

from __future__ import annotations

import types
from datetime import date, datetime
from enum import Enum
from typing import Annotated, NamedTuple, TypeAlias, TypeVar, Union, get_args, get_origin
from uuid import UUID

from webtable.records.codecs import (
    BadValue,
    BoolCodec,
    BytesCodec,
    Codec,
    DateCodec,
    DatetimeCodec,
    EnumCodec,
    FloatCodec,
    IntCodec,
    ListCodec,
    TextCodec,
    UuidCodec,
)

__all__ = [
    "EntityKey",
    "FieldType",
    "Float32",
    "Float64",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Key",
    "KeyValue",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "field_type",
]

T = TypeVar("T")


class _KeyMark(NamedTuple):
    is_entity: bool


class _Bits(NamedTuple):
    bits: int
    is_signed: bool = True


Key = Annotated[T, _KeyMark(is_entity=False)]
"""Marks a field as part of the key."""

EntityKey = Annotated[T, _KeyMark(is_entity=True)]
"""Marks a field as part of the key, and of the entity key, which chooses the partition."""

Int8 = Annotated[int, _Bits(8)]
Int16 = Annotated[int, _Bits(16)]
Int32 = Annotated[int, _Bits(32)]
Int64 = Annotated[int, _Bits(64)]
UInt8 = Annotated[int, _Bits(8, is_signed=False)]
UInt16 = Annotated[int, _Bits(16, is_signed=False)]
UInt32 = Annotated[int, _Bits(32, is_signed=False)]
UInt64 = Annotated[int, _Bits(64, is_signed=False)]
Float32 = Annotated[float, _Bits(32)]
Float64 = Annotated[float, _Bits(64)]

KeyValue: TypeAlias = bool | int | float | str | bytes | date | datetime | Enum | UUID
"""What a part of a key may be."""

_PLAIN: dict[object, type[Codec]] = {
    bool: BoolCodec,
    str: TextCodec,
    bytes: BytesCodec,
    date: DateCodec,
    datetime: DatetimeCodec,
    UUID: UuidCodec,
}


class FieldType(NamedTuple):
    """The type of a field, as its annotation gives it."""

    codec: Codec
    is_nullable: bool
    is_key: bool
    is_entity: bool


def field_type(hint: object) -> FieldType:
    """Returns the field type of a resolved annotation.

    Raises:
        BadValue: a record cannot have a field of that type.
    """
    hint, marks = _unwrap(hint)
    is_nullable = False
    if get_origin(hint) in (Union, types.UnionType):
        choices = [each for each in get_args(hint) if each is not type(None)]
        is_nullable = len(choices) < len(get_args(hint))
        if len(choices) != 1:
            raise BadValue(f"{hint!r:.80} is a choice of types")
        hint, inner = _unwrap(choices[0])
        marks += inner
    keys = [mark for mark in marks if isinstance(mark, _KeyMark)]
    codec = _codec(hint, marks)
    if keys and is_nullable:
        raise BadValue("a key field cannot be None")
    if keys and not codec.is_key:
        raise BadValue(f"a {codec.name} cannot be part of a key")
    return FieldType(codec, is_nullable, bool(keys), any(mark.is_entity for mark in keys))


def _unwrap(hint: object) -> tuple[object, list[object]]:
    if get_origin(hint) is Annotated:
        inner, *marks = get_args(hint)
        return inner, marks
    return hint, []


def _codec(hint: object, marks: list[object]) -> Codec:
    sizes = [mark for mark in marks if isinstance(mark, _Bits)]
    if hint is int:
        size = sizes[0] if sizes else _Bits(64)
        return IntCodec(size.bits, is_signed=size.is_signed)
    if hint is float:
        return FloatCodec(sizes[0].bits if sizes else 64)
    if get_origin(hint) is list:
        item, inner = _unwrap(get_args(hint)[0])
        if get_origin(item) is list or get_origin(item) in (Union, types.UnionType):
            raise BadValue("items of a list are neither lists nor None")
        return ListCodec(_codec(item, inner))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return EnumCodec(hint)
    plain = _PLAIN.get(hint)
    if plain is None:
        supported = "int, float, bool, str, bytes, date, datetime, an Enum, UUID, list[…]"
        raise BadValue(f"{hint!r:.80} is no field type; use one of {supported}")
    return plain()
