"""Cells as bytes: HBase's KeyValueCodec, in which cells travel beside the messages.

A cell block is a row of cells, each (all numbers big-endian):

    u32 length of the rest | u32 key length | u32 value length
    | u16 row length | row | u8 family length | family | qualifier | u64 timestamp | u8 type
    | value

Which cells belong to which result is said by the message. This is the hottest code of the
client: a scan spends most of its time here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from struct import Struct

from webtable.errors import InvalidRequest
from webtable.store.hbase.proto import client_pb2
from webtable.store.model import MAX_TIMESTAMP, CellType, RawCell, Row
from webtable.store.mutation import Marker, check_column

__all__ = [
    "encode_cells",
    "encode_marker",
    "iter_rows",
    "message_cells",
    "read_cells",
    "skip_cells",
]

_SIZES = Struct(">II").unpack_from
_ROW_SIZE = Struct(">H").unpack_from
_STAMP = Struct(">QB").unpack_from
_HEAD = Struct(">IIIH").pack
_TAIL = Struct(">QB").pack
_LATEST_PUT = _TAIL(MAX_TIMESTAMP, 4)

_KEPT_COLUMNS = 20_000


class _Columns(dict[bytes, bytes]):
    """Family length, family and qualifier as on the wire → the column's name.

    Tables repeat their columns, so one object a column saves building it a cell. Where they do
    not, the memory stays bounded.
    """

    def __missing__(self, wire: bytes) -> bytes:
        size = wire[0]
        column = b"%b:%b" % (wire[1 : size + 1], wire[size + 1 :])
        if len(self) >= _KEPT_COLUMNS:
            self.clear()
        self[wire] = column
        return column


class _WireColumns(dict[bytes, bytes]):
    """A column's name → family length, family and qualifier as on the wire."""

    def __missing__(self, column: bytes) -> bytes:
        family, _, qualifier = check_column(column).partition(b":")
        if len(family) > 127:
            raise InvalidRequest(
                f"family {family[:40]!r}… has {len(family)} bytes", hint="at most 127 are possible"
            )
        wire = bytes((len(family),)) + family + qualifier
        if len(self) >= _KEPT_COLUMNS:
            self.clear()
        self[column] = wire
        return wire


_columns = _Columns()
_wire_columns = _WireColumns()


def read_cells(block: bytes, at: int, count: int) -> tuple[bytes, list[RawCell], int]:
    """Returns the row key, the cells of one result, and the position after them."""
    (row_size,) = _ROW_SIZE(block, at + 12)
    row = block[at + 14 : at + 14 + row_size]
    column_at = 14 + row_size
    cells: list[RawCell] = []
    append, columns, sizes, stamp = cells.append, _columns, _SIZES, _STAMP
    for _ in range(count):
        size, key_size = sizes(block, at)
        value_at = at + 12 + key_size
        stamp_at = value_at - 9
        end = at + 4 + size
        timestamp, kind = stamp(block, stamp_at)
        append((columns[block[at + column_at : stamp_at]], timestamp, block[value_at:end], kind))
        at = end
    return row, cells, at


def iter_rows(block: bytes, at: int, counts: Iterable[int]) -> Iterator[Row]:
    """Yields a row for each number of cells, one result after the other."""
    for count in counts:
        row, cells, at = read_cells(block, at, count)
        yield Row(row, cells)


def skip_cells(block: bytes, at: int, count: int) -> int:
    """Returns the position after a number of cells."""
    for _ in range(count):
        at += 4 + _SIZES(block, at)[0]
    return at


def message_cells(cells: Sequence[client_pb2.Cell]) -> list[RawCell]:
    """Returns cells that came inside the message, as answers to conditional writes do."""
    return [
        (b"%b:%b" % (cell.family, cell.qualifier), cell.timestamp, cell.value, cell.cell_type)
        for cell in cells
    ]


def encode_cells(
    parts: list[bytes], row: bytes, values: Iterable[tuple[bytes, bytes]], timestamp: int | None
) -> int:
    """Appends a put's cells to `parts`, which joined are a cell block; returns their bytes.

    A time of None lets the server choose.

    Raises:
        InvalidRequest: a column is not one, or a value is not bytes.
    """
    wire_columns, head = _wire_columns, _HEAD
    tail = _LATEST_PUT if timestamp is None else _TAIL(timestamp, 4)
    row_size, total = len(row), 0
    for column, value in values:
        if type(value) is not bytes:
            raise InvalidRequest(
                f"value of column {column!r:.80} is {type(value).__name__}, not bytes",
                hint="encode it first",
            )
        wire = wire_columns[column]
        value_size, key_size = len(value), row_size + len(wire) + 11
        size = key_size + value_size + 8
        total += size + 4
        parts += (head(size, key_size, value_size, row_size), row, wire, tail, value)
    return total


def encode_marker(parts: list[bytes], row: bytes, marker: Marker) -> int:
    """Appends a delete marker to `parts`; returns its bytes.

    Raises:
        InvalidRequest: its column is not one.
    """
    family_kinds = (CellType.DELETE_FAMILY, CellType.DELETE_FAMILY_VERSION)
    wire = _wire_columns[marker.column + b":" if marker.type in family_kinds else marker.column]
    key_size = len(row) + len(wire) + 11
    timestamp = MAX_TIMESTAMP if marker.timestamp is None else marker.timestamp
    head, tail = _HEAD(key_size + 8, key_size, 0, len(row)), _TAIL(timestamp, marker.type)
    parts += (head, row, wire, tail)
    return key_size + 12
