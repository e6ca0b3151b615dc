"""Cells as bytes: HBase's KeyValueCodec, in which cells travel beside the messages.

A cell block is a row of cells, each (all numbers big-endian):

    u32 length of the rest | u32 key length | u32 value length
    | u16 row length | row | u8 family length | family | qualifier | u64 timestamp | u8 type
    | value

The message lists which cells belong to which result. The work is done by `cell_codec`, in its
compiled form where it exists. `WEBTABLE_PURE=1` in the environment chooses plain Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import TYPE_CHECKING

from webtable import compiled
from webtable.store.cells_and_rows import MAX_TIMESTAMP, CellType, RawCell
from webtable.store.hbase.proto import client_pb2
from webtable.store.mutation import Marker

if TYPE_CHECKING:
    from webtable.store.hbase.wire import cell_codec

__all__ = [
    "COMPILED",
    "Rows",
    "cut_row",
    "cut_rows",
    "encode_cells",
    "encode_marker",
    "message_cells",
]

_HEAD = Struct(">IIIH").pack
_TAIL = Struct(">QB").pack
_FAMILY_KINDS = (CellType.DELETE_FAMILY, CellType.DELETE_FAMILY_VERSION)


if not TYPE_CHECKING:
    cell_codec = compiled.load("webtable.store.hbase.wire", "cell_codec")

COMPILED = cell_codec.COMPILED
Rows = cell_codec.Rows
cut_row = cell_codec.cut_row
cut_rows = cell_codec.cut_rows
encode_cells = cell_codec.encode_cells


def message_cells(cells: Sequence[client_pb2.Cell]) -> list[RawCell]:
    """Returns cells that came inside the message, as responses to conditional writes do."""
    return [
        (b"%b:%b" % (cell.family, cell.qualifier), cell.timestamp, cell.value, cell.cell_type)
        for cell in cells
    ]


def encode_marker(parts: list[bytes], row: bytes, marker: Marker) -> int:
    """Appends a delete marker to `parts`; returns its bytes.

    Raises:
        InvalidRequest: its column is not valid.
    """
    column = marker.column + b":" if marker.type in _FAMILY_KINDS else marker.column
    wire = cell_codec.wire_column(column)
    key_size = len(row) + len(wire) + 11
    timestamp = MAX_TIMESTAMP if marker.timestamp is None else marker.timestamp
    head, tail = _HEAD(key_size + 8, key_size, 0, len(row)), _TAIL(timestamp, marker.type)
    parts += (head, row, wire, tail)
    return key_size + 12
