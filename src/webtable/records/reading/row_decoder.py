"""The hottest code of records: rows of the store become records.

Made into machine code where that can be, by Cython from this very file and the C types in
`_row_decoder.pxd`; import it from `decoder_choice`. Both forms return the same rows and raise
the same errors. The compiled form reads memory unchecked, so every length is checked before bytes
are read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from webtable.errors import CorruptData
from webtable.records.codecs import BadValue, Codec
from webtable.store.cells_and_rows import Row
from webtable.store.zero_byte_escaping import unescape

__all__ = [
    "BYTES",
    "COMPILED",
    "DOUBLE",
    "FALSE_OR_TRUE",
    "OTHER",
    "SIGNED",
    "TEXT",
    "UNSIGNED",
    "RowPlan",
    "decode_key",
    "decode_keys",
    "decode_rows",
]

COMPILED = not __file__.endswith((".py", ".pyc"))
"""Whether this is machine code."""

_compiled = COMPILED  # the same as a C variable

# Kinds of values that are decoded here; `OTHER` calls the codec.
OTHER, UNSIGNED, SIGNED, TEXT, BYTES, FALSE_OR_TRUE, DOUBLE = range(7)

_all_bits = (1 << 64) - 1
_unsigned, _signed, _text, _bytes, _false_or_true, _double = range(1, 7)  # as C variables


class RowPlan:
    """What `decode_rows` needs of a record class.

    Fields are numbered in the order in which the class takes them; keys come first.

    Attributes:
        make: makes a record of its values in order.
        table: the table's name, for errors.
        skip: how many bytes of a row key stand before the key.
        names, kinds, widths, codecs: of each field; the width is 0 where it depends on the value.
        keys: how many fields are keys.
        places: column → number of its field, of value fields.
        marker: the column that marks a record without values.
        template: the values of a record without stored fields; ABSENT where a field has no default.
        required: how many fields of the template are ABSENT, besides the keys.
        fill: completes the values of a row in which some of the required are not there.
    """

    make: Callable[..., Any]
    table: str
    skip: int
    names: list[str]
    kinds: bytes
    widths: bytes
    codecs: list[Codec]
    keys: int
    places: dict[bytes, int]
    marker: bytes
    template: list[Any]
    required: int
    fill: Callable[[list[Any], bytes], None]


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()


def decode_rows(plan: RowPlan, rows: Sequence[Row]) -> list[Any]:
    """Returns the records that rows hold; a row without any cell of the class holds none.

    Raises:
        CorruptData: bytes do not decode; it names the row and the field.
    """
    make, places, template, marker = plan.make, plan.places, plan.template, plan.marker
    kinds, widths, codecs = plan.kinds, plan.widths, plan.codecs
    skip, required, absent = plan.skip, plan.required, ABSENT
    keys, names = plan.keys, plan.names
    records = []
    field = 0
    for row in rows:
        key = row.key
        values = list(template)
        found, missing = 0, required
        try:
            for cell in row.raw_cells:
                column = cell[0]
                place = places.get(column)
                if place is None:
                    if column == marker:
                        found += 1
                    continue
                field = place
                if values[field] is absent:
                    missing -= 1
                value = cell[2]
                values[field] = _decode(
                    kinds[field], widths[field], value, 0, len(value), codecs[field]
                )
                found += 1
            if not found:
                continue
            at, size = skip, len(key)
            for field in range(keys):
                at = _decode_part(plan, values, field, key, at, size)
            if at != size:
                raise BadValue(f"{size - at} bytes too many after the last part of the key")
        except (ValueError, OverflowError) as exc:
            raise CorruptData(
                f"row {key!r:.120} of table '{plan.table}': field '{names[field]}' does not"
                f" decode: {exc}",
                hint="it was written by something else, or with another type; delete or rewrite it",
            ) from exc
        if missing:
            plan.fill(values, key)
        records.append(make(*values))
    return records


def decode_keys(plan: RowPlan, rows: Sequence[Row]) -> list[Any]:
    """Returns the keys of the rows that hold records.

    Raises:
        CorruptData: one does not decode.
    """
    places, marker = plan.places, plan.marker
    found = []
    for row in rows:
        for cell in row.raw_cells:
            if cell[0] in places or cell[0] == marker:
                found.append(decode_key(plan, row.key))
                break
    return found


def decode_key(plan: RowPlan, key: bytes) -> tuple[Any, ...]:
    """Returns the values of a row's key.

    Raises:
        CorruptData: it does not decode.
    """
    values: list[Any] = [None] * plan.keys
    at, size, field = plan.skip, len(key), 0
    try:
        for field in range(plan.keys):
            at = _decode_part(plan, values, field, key, at, size)
        if at != size:
            raise BadValue(f"{size - at} bytes too many after the last part of the key")
    except (ValueError, OverflowError) as exc:
        raise CorruptData(
            f"row {key!r:.120} of table '{plan.table}': key field '{plan.names[field]}' does not"
            f" decode: {exc}",
            hint="it was written by something else; delete it",
        ) from exc
    return tuple(values)


def _decode_part(  # noqa: PLR0917 - called for every part of every key
    plan: RowPlan, values: list[Any], field: int, key: bytes, at: int, size: int
) -> int:
    """Decodes one part of a key at a position; returns the position after it."""
    width = plan.widths[field]
    if width:
        end = after = at + width
        if end > size:
            raise BadValue(f"the key ends after {size - at} of {width} bytes")
    elif field == plan.keys - 1:
        end = after = size
    else:
        is_escaped = False
        if _compiled:
            end = at
            while end < size and key[end] != 0:
                is_escaped |= key[end] == 1
                end += 1
        else:
            end = key.find(0, at)
            is_escaped = key.find(1, at, end) >= 0
        if end < 0 or end >= size:
            raise BadValue("its end is missing")
        after = end + 1
        if is_escaped:
            part = unescape(key[at:end])
            values[field] = _decode(plan.kinds[field], 0, part, 0, len(part), plan.codecs[field])
            return after
    values[field] = _decode(plan.kinds[field], width, key, at, end, plan.codecs[field])
    return after


def _decode(  # noqa: PLR0917 - called for every value
    kind: int, width: int, stored: bytes, at: int, end: int, codec: Codec
) -> Any:
    """Returns the value that the bytes between two positions hold."""
    if kind == _text:
        return stored[at:end].decode("utf-8")
    if kind in (_signed, _unsigned):
        if end - at != width:
            raise BadValue(f"{end - at} bytes are not the {width} of {codec.name}")
        return _integer(kind == _signed, stored, at, end)
    if kind == _bytes:
        return stored[at:end]
    if kind == _false_or_true and end - at == 1 and stored[at] < 2:
        return stored[at] == 1
    if kind == _double and _compiled and end - at == 8:
        return _number(stored, at)
    return codec.decode(stored[at:end])


def _integer(is_signed: bool, stored: bytes, at: int, end: int) -> int:
    if not _compiled:
        whole = int.from_bytes(stored[at:end], "big")
        return whole - (1 << (end - at) * 8 - 1) if is_signed else whole
    if is_signed:
        signed = stored[at] - 128
        for place in range(at + 1, end):
            signed = signed * 256 + stored[place]
        return signed
    unsigned = 0
    for place in range(at, end):
        unsigned = unsigned * 256 + stored[place]
    return unsigned


def _number(stored: bytes, at: int) -> float:
    """Returns a float; only the compiled form has a way that is quicker than the codec's."""
    bits = 0
    for place in range(at, at + 8):
        bits = bits * 256 + stored[place]
    # A set first bit means a positive number, of which only that was flipped.
    number: float = _as_double(bits ^ (1 << 63 if stored[at] & 128 else _all_bits))  # type: ignore[name-defined]  # noqa: F821
    return number
