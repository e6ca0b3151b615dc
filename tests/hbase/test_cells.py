"""The bytes of cells, against bytes written down by hand."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webtable.errors import InvalidRequest
from webtable.store.hbase.cells import (
    encode_cells,
    encode_marker,
    iter_rows,
    message_cells,
    read_cells,
    skip_cells,
)
from webtable.store.hbase.proto import client_pb2
from webtable.store.model import MAX_TIMESTAMP, CellType
from webtable.store.mutation import Marker

# length 29 | key 18 | value 3 | row 3 "row" | family 1 "f" | "qu" | timestamp 258 | put | "abc"
GOLDEN = bytes.fromhex(
    "0000001d 00000012 00000003 0003 726f77 01 66 7175 0000000000000102 04 616263"
)


def encoded(row: bytes, values: dict[bytes, bytes], timestamp: int | None) -> bytes:
    parts: list[bytes] = []
    size = encode_cells(parts, row, values.items(), timestamp)
    block = b"".join(parts)
    assert size == len(block)
    return block


def test_a_cell_is_these_bytes() -> None:
    assert encoded(b"row", {b"f:qu": b"abc"}, 258) == GOLDEN


def test_these_bytes_are_a_cell() -> None:
    row, cells, at = read_cells(GOLDEN, 0, 1)
    assert (row, cells, at) == (b"row", [(b"f:qu", 258, b"abc", 4)], len(GOLDEN))


def test_no_timestamp_lets_the_server_choose() -> None:
    _, cells, _ = read_cells(encoded(b"r", {b"f:": b""}, None), 0, 1)
    assert cells == [(b"f:", MAX_TIMESTAMP, b"", 4)]


@pytest.mark.parametrize(
    ("kind", "column", "shown"),
    [
        (CellType.DELETE, b"f:q", b"f:q"),
        (CellType.DELETE_COLUMN, b"f:q:r", b"f:q:r"),
        (CellType.DELETE_FAMILY, b"f", b"f:"),
        (CellType.DELETE_FAMILY_VERSION, b"f", b"f:"),
    ],
)
def test_delete_markers(kind: CellType, column: bytes, shown: bytes) -> None:
    parts: list[bytes] = []
    size = encode_marker(parts, b"row", Marker(kind, column, 7))
    block = b"".join(parts)
    assert size == len(block)
    assert read_cells(block, 0, 1) == (b"row", [(shown, 7, b"", int(kind))], len(block))


@pytest.mark.parametrize("column", [b"", b"f", b":q", b"f" * 128 + b":q"])
def test_columns_that_are_none(column: bytes) -> None:
    with pytest.raises(InvalidRequest, match="family"):
        encode_cells([], b"row", [(column, b"")], None)


def test_values_are_bytes() -> None:
    with pytest.raises(InvalidRequest, match="is str, not bytes"):
        encode_cells([], b"row", [(b"f:q", "text")], None)  # type: ignore[list-item]


KEYS = st.binary(min_size=1, max_size=300)
COLUMNS = st.builds(
    lambda family, qualifier: family.encode() + b":" + qualifier,
    st.text("abcXYZ_0", min_size=1, max_size=5),
    st.binary(max_size=300),
)
ROWS = st.dictionaries(
    KEYS, st.dictionaries(COLUMNS, st.binary(max_size=300), min_size=1), max_size=5
)


@given(ROWS, st.integers(0, MAX_TIMESTAMP))
def test_what_was_encoded_comes_back(rows: dict[bytes, dict[bytes, bytes]], timestamp: int) -> None:
    before, after = b"before", b"after"
    block = b"".join(encoded(key, values, timestamp) for key, values in rows.items())
    counts = [len(values) for values in rows.values()]
    found = list(iter_rows(before + block + after, len(before), counts))
    assert [row.key for row in found] == list(rows)
    for row, values in zip(found, rows.values(), strict=True):
        assert row.raw_cells == [(column, timestamp, values[column], 4) for column in values]
    assert skip_cells(before + block, len(before), sum(counts)) == len(before + block)


def test_a_block_that_ends_too_early_is_noticed() -> None:
    with pytest.raises(struct.error):
        read_cells(GOLDEN[:20], 0, 1)


def test_cells_inside_a_message() -> None:
    cell = client_pb2.Cell(
        row=b"r", family=b"f", qualifier=b"q", timestamp=5, cell_type=client_pb2.PUT, value=b"v"
    )
    assert message_cells([cell]) == [(b"f:q", 5, b"v", 4)]
