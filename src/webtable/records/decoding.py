"""Where rows become records: chooses the compiled form of `rows` where there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webtable import compiled
from webtable.records.codecs import (
    BoolCodec,
    BytesCodec,
    Codec,
    FloatCodec,
    IntCodec,
    TextCodec,
)

if TYPE_CHECKING:
    from webtable.records import rows
else:
    rows = compiled.load("webtable.records", "rows")

__all__ = ["ABSENT", "COMPILED", "RowPlan", "decode_key", "decode_keys", "decode_rows", "kind_of"]

ABSENT = rows.ABSENT
COMPILED = rows.COMPILED
RowPlan = rows.RowPlan
decode_key = rows.decode_key
decode_keys = rows.decode_keys
decode_rows = rows.decode_rows


def kind_of(codec: Codec) -> int:
    """Returns the number by which the decoder knows a codec."""
    if isinstance(codec, IntCodec):
        return rows.SIGNED if codec.is_signed else rows.UNSIGNED
    if isinstance(codec, TextCodec):
        return rows.TEXT
    if isinstance(codec, BytesCodec):
        return rows.BYTES
    if isinstance(codec, FloatCodec) and codec.width == 8:
        return rows.DOUBLE
    return rows.FALSE_OR_TRUE if isinstance(codec, BoolCodec) else rows.OTHER
