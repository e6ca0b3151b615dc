"""The bytes on disk: their order, and the golden ones that freeze format 1."""

from __future__ import annotations

import json
import struct
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from webtable import CellType, Family, TableSchema
from webtable.store.cells_and_rows import MAX_TIMESTAMP
from webtable.store.rocks import cell_keys
from webtable.store.rocks.catalog_entries import TableEntry, encode_entry, table_key
from webtable.store.rocks.files.acknowledged_writes import Marks

# On-disk: a change here is a new format version, never an edit of these bytes.
GOLDEN_KEYS = {
    (b"com.example/", b"q", 1, CellType.PUT): ("636f6d2e6578616d706c652f0071007ffffffffffffffefb"),
    (b"\x00\x01\x02\xff", b"\x00", 0, cell_keys.TAGGED): ("0101010202ff000101007ffffffffffffffffa"),
    (b"r", b"", 1_700_000_000_000, CellType.DELETE_FAMILY): ("7200007ffffe74301a97fff1"),
    (b"r", b"c", MAX_TIMESTAMP, CellType.DELETE_COLUMN): "720063000000000000000000f3",
    (b"r", b"c", 5, CellType.DELETE): "720063007ffffffffffffffaf7",
    (b"r", b"", 5, CellType.DELETE_FAMILY_VERSION): "7200007ffffffffffffffaf5",
}

# Bytes that the escape touches must be common, or the order of escaped keys is hardly tried.
parts = st.binary(max_size=6) | st.lists(st.sampled_from([0, 1, 2, 254, 255]), max_size=6).map(
    bytes
)
rows = parts.filter(bool)
kinds = st.sampled_from([*CellType, cell_keys.TAGGED])
timestamps = st.integers(0, MAX_TIMESTAMP) | st.integers(0, 5)


def test_cell_keys_of_format_1() -> None:
    assert cell_keys.FORMAT_VERSION == 1
    for cell, golden in GOLDEN_KEYS.items():
        assert cell_keys.encode_key(*cell).hex() == golden, cell
        assert cell_keys.decode_key(bytes.fromhex(golden)) == cell


def test_tagged_values_of_format_1() -> None:
    assert cell_keys.encode_tagged(b"v").hex() == "7600"
    assert cell_keys.encode_tagged(b"v", 60_000).hex() == "76000000000000ea6001"
    assert cell_keys.decode_tagged(bytes.fromhex("7600")) == (b"v", None)
    assert cell_keys.decode_tagged(bytes.fromhex("76000000000000ea6001")) == (b"v", 60_000)


def test_a_catalog_entry_of_format_1() -> None:
    schema = TableSchema(name="pages", families=(Family(name="content", versions=3),))
    entry = TableEntry(schema, ("10", "f0"), {"content": "pages/content/1"}, ("content",), ())
    assert table_key("pages") == b"table pages"
    assert json.loads(encode_entry(entry)) == {
        "schema": {
            "name": "pages",
            "families": [
                {
                    "name": "content",
                    "versions": 3,
                    "min_versions": 0,
                    "ttl_seconds": None,
                    "keep_deleted_cells": "FALSE",
                    "bloomfilter": "ROW",
                    "compression": "NONE",
                    "data_block_encoding": "NONE",
                    "blocksize": 65536,
                    "in_memory": False,
                    "attributes": {},
                }
            ],
            "max_filesize": None,
            "memstore_flushsize": None,
            "attributes": {},
        },
        "splits": ["10", "f0"],
        "column_families": {"content": "pages/content/1"},
        "tagged": ["content"],
        "marked": [],
    }


def test_marks_of_format_1(tmp_path: Path) -> None:
    (tmp_path / "CURRENT").write_text("MANIFEST-000005\n")
    # One whole record (checksum, length, kind) of 100 bytes, and the beginning of another.
    record = struct.pack("<4xHB", 93, 1) + b"x" * 93
    (tmp_path / "MANIFEST-000005").write_bytes(record + record[:50])
    marks = Marks(str(tmp_path))
    marks.open(7)
    marks.move(9, synced=True)
    marks.move(12, synced=False)
    marks.close()
    stored = (tmp_path / "ACKNOWLEDGED").read_bytes()
    assert len(stored) == 72
    assert struct.unpack("=QQQQ", stored[40:]) == (12, 9, 5, 100)


@given(rows, parts, timestamps, kinds)
def test_a_key_says_what_it_was_made_of(row: bytes, name: bytes, timestamp: int, kind: int) -> None:
    assert cell_keys.decode_key(cell_keys.encode_key(row, name, timestamp, kind)) == (
        row,
        name,
        timestamp,
        kind,
    )


@given(*[st.tuples(rows, parts, timestamps, kinds)] * 2)
@example((b"a", b"", 1, CellType.PUT), (b"a\x00", b"", 1, CellType.PUT))
@example((b"a\x00", b"", 1, CellType.PUT), (b"a\x01", b"", 1, CellType.PUT))
@example((b"a", b"\x00", 1, CellType.PUT), (b"a", b"\x01", 1, CellType.PUT))
def test_keys_sort_as_hbase_sorts_cells(
    one: tuple[bytes, bytes, int, int], other: tuple[bytes, bytes, int, int]
) -> None:
    """Row and qualifier up, timestamp and type down."""

    def order(cell: tuple[bytes, bytes, int, int]) -> tuple[bytes, bytes, int, int]:
        row, qualifier, timestamp, kind = cell
        return row, qualifier, -timestamp, -kind

    expected = (order(one) > order(other)) - (order(one) < order(other))
    first, second = cell_keys.encode_key(*one), cell_keys.encode_key(*other)
    assert (first > second) - (first < second) == expected


@given(rows, parts, timestamps, kinds)
def test_a_row_ends_before_the_next_begins(
    row: bytes, qualifier: bytes, timestamp: int, kind: int
) -> None:
    key = cell_keys.encode_key(row, qualifier, timestamp, kind)
    prefix = cell_keys.escape(row) + b"\x00"
    assert prefix < key < cell_keys.row_end(prefix)
    assert cell_keys.row_end(prefix) < cell_keys.escape(row + b"\x00")
