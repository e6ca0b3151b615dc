"""Where rows become records: chooses the compiled form of `row_decoder` where there is one."""

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
    from webtable.records.reading import row_decoder
else:
    row_decoder = compiled.load("webtable.records.reading", "row_decoder")

__all__ = ["ABSENT", "COMPILED", "RowPlan", "decode_key", "decode_keys", "decode_rows", "kind_of"]

ABSENT = row_decoder.ABSENT
COMPILED = row_decoder.COMPILED
RowPlan = row_decoder.RowPlan
decode_key = row_decoder.decode_key
decode_keys = row_decoder.decode_keys
decode_rows = row_decoder.decode_rows


def kind_of(codec: Codec) -> int:
    """Returns the number that stands for a codec in the decoder."""
    if isinstance(codec, IntCodec):
        return row_decoder.SIGNED if codec.is_signed else row_decoder.UNSIGNED
    if isinstance(codec, TextCodec):
        return row_decoder.TEXT
    if isinstance(codec, BytesCodec):
        return row_decoder.BYTES
    if isinstance(codec, FloatCodec) and codec.width == 8:
        return row_decoder.DOUBLE
    return row_decoder.FALSE_OR_TRUE if isinstance(codec, BoolCodec) else row_decoder.OTHER
