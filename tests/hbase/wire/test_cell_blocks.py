"""The bytes of cells, against bytes written down by hand, in plain Python and compiled."""

from __future__ import annotations

import gc
import importlib
import random
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webtable.errors import InvalidRequest
from webtable.store.cells_and_rows import MAX_TIMESTAMP, CellType, RawCell, Row
from webtable.store.hbase.proto import client_pb2
from webtable.store.hbase.wire import cell_blocks as chosen
from webtable.store.hbase.wire import cell_codec as plain
from webtable.store.hbase.wire.cell_blocks import encode_marker, message_cells
from webtable.store.mutation import Marker

# length 29 | key 18 | value 3 | row 3 "row" | family 1 "f" | "qu" | timestamp 258 | put | "abc"
GOLDEN = bytes.fromhex(
    "0000001d 00000012 00000003 0003 726f77 01 66 7175 0000000000000102 04 616263"
)


Found: TypeAlias = list[tuple[bytes, list[RawCell], dict[bytes, bytes]]] | str


@pytest.fixture(params=["plain", "compiled"])
def codec(request: pytest.FixtureRequest) -> ModuleType:
    """Each form of the module."""
    if request.param == "plain":
        assert not plain.COMPILED
        return plain
    if not chosen.COMPILED:
        pytest.skip("no compiled form here: `make setup` makes it where there is a C compiler")
    return importlib.import_module("webtable.store.hbase.wire._cell_codec")


def encoded(
    codec: ModuleType, row: bytes, values: dict[bytes, bytes], timestamp: int | None
) -> bytes:
    parts: list[bytes] = []
    size = codec.encode_cells(parts, row, values.items(), timestamp)
    block = b"".join(parts)
    assert size == len(block)
    return block


def test_a_cell_is_these_bytes(codec: ModuleType) -> None:
    assert encoded(codec, b"row", {b"f:qu": b"abc"}, 258) == GOLDEN


def test_these_bytes_are_a_cell(codec: ModuleType) -> None:
    row, at = codec.cut_row(GOLDEN, 0, 1)
    assert (row.key, row.raw_cells, at) == (b"row", [(b"f:qu", 258, b"abc", 4)], len(GOLDEN))


def test_no_timestamp_lets_the_server_choose(codec: ModuleType) -> None:
    row, _ = codec.cut_row(encoded(codec, b"r", {b"f:": b""}, None), 0, 1)
    assert row.raw_cells == [(b"f:", MAX_TIMESTAMP, b"", 4)]


@pytest.mark.parametrize(
    ("kind", "column", "shown"),
    [
        (CellType.DELETE, b"f:q", b"f:q"),
        (CellType.DELETE_COLUMN, b"f:q:r", b"f:q:r"),
        (CellType.DELETE_FAMILY, b"f", b"f:"),
        (CellType.DELETE_FAMILY_VERSION, b"f", b"f:"),
    ],
)
def test_delete_markers(codec: ModuleType, kind: CellType, column: bytes, shown: bytes) -> None:
    parts: list[bytes] = []
    size = encode_marker(parts, b"row", Marker(kind, column, 7))
    block = b"".join(parts)
    assert size == len(block)
    row, at = codec.cut_row(block, 0, 1)
    assert (row.key, row.raw_cells, at) == (b"row", [(shown, 7, b"", int(kind))], len(block))
    assert row.values() == {}


@pytest.mark.parametrize("column", [b"", b"f", b":q", b"f" * 128 + b":q"])
def test_columns_that_are_none(codec: ModuleType, column: bytes) -> None:
    with pytest.raises(InvalidRequest, match="family"):
        codec.encode_cells([], b"row", [(column, b"")], None)


def test_columns_without_end(codec: ModuleType) -> None:
    # More than are remembered: what is forgotten is made again.
    values = {b"f:%d" % number: b"%d" % number for number in range(20_100)}
    for _ in range(2):
        row, _end = codec.cut_row(encoded(codec, b"row", values, 1), 0, len(values))
        assert row.values() == values


def test_values_are_bytes(codec: ModuleType) -> None:
    with pytest.raises(InvalidRequest, match="is str, not bytes"):
        codec.encode_cells([], b"row", [(b"f:q", "text")], None)


KEYS = st.binary(min_size=1, max_size=300)
COLUMNS = st.builds(
    lambda family, qualifier: family.encode() + b":" + qualifier,
    st.text("abcXYZ_0", min_size=1, max_size=5),
    st.binary(max_size=300),
)
ROWS = st.dictionaries(
    KEYS, st.dictionaries(COLUMNS, st.binary(max_size=300), min_size=1), max_size=5
)


def forms() -> Iterator[ModuleType]:
    yield plain
    if chosen.COMPILED:
        yield importlib.import_module("webtable.store.hbase.wire._cell_codec")


@given(ROWS, st.integers(0, MAX_TIMESTAMP))
def test_what_was_encoded_comes_back(rows: dict[bytes, dict[bytes, bytes]], timestamp: int) -> None:
    for codec in forms():
        before = b"before"
        cells = [encoded(codec, key, values, timestamp) for key, values in rows.items()]
        counts = [len(values) for values in rows.values()]
        found = codec.cut_rows(before + b"".join(cells), len(before), counts)
        assert [row.key for row in found] == list(rows)
        for row, values in zip(found, rows.values(), strict=True):
            assert row.values() == values
            assert list(row.values()) == list(values)
            assert row.raw_cells == [(column, timestamp, values[column], 4) for column in values]


def damage(block: bytes, chance: random.Random) -> bytes:
    """Returns the block with some bytes changed, taken out, put in, or cut off."""
    out = bytearray(block)
    for _ in range(chance.choice([0, 1, 1, 2, 5])):
        at = chance.randrange(len(out) + 1)
        match chance.randrange(5):
            case 0 if at < len(out):
                out[at] ^= 1 << chance.randrange(8)
            case 1 if at < len(out):
                out[at] = chance.choice([0, 1, 127, 128, 255])
            case 2:
                del out[at : at + chance.randrange(40)]
            case 3:
                out[at:at] = chance.randbytes(chance.randrange(40))
            case _:
                del out[at:]
    return bytes(out)


def look(cut: Callable[[], list[Row]]) -> Found:
    try:
        rows = cut()
    except ValueError as exc:
        return str(exc)
    # Bytes that were accepted never fail later, however they are read.
    return [(row.key, list(row.raw_cells), row.values()) for row in rows]


def one_row(codec: ModuleType, block: bytes, at: int, count: int) -> list[Row]:
    return [codec.cut_row(block, at, count)[0]]


@given(ROWS, st.randoms(use_true_random=False))
def test_both_forms_agree_on_damaged_bytes(
    rows: dict[bytes, dict[bytes, bytes]], chance: random.Random
) -> None:
    block = b"".join(encoded(plain, key, values, 5) for key, values in rows.items())
    counts = [len(values) for values in rows.values()]
    if counts and chance.random() < 0.3:
        counts[chance.randrange(len(counts))] += chance.choice([-1, 1, 1000])
    damaged = damage(block, chance)
    at = chance.randrange(len(damaged) + 1) if chance.random() < 0.1 else 0
    found = [look(partial(codec.cut_rows, damaged, at, counts)) for codec in forms()]
    assert all(each == found[0] for each in found)
    first = sum(counts[:1]) or 1
    single = [look(partial(one_row, codec, damaged, at, first)) for codec in forms()]
    assert all(each == single[0] for each in single)


@pytest.mark.parametrize(
    "sizes",
    [
        (29, 18, 4, 3),  # does not add up
        (29, 17, 4, 3),  # adds up, but the family does not fit
        (29, 18, 3, 4),  # a row that leaves no place for the family
        (29, 11, 10, 3),  # a key that is too short for what every key has
        (2**32 - 1, 2**31, 2**31 - 9, 3),  # far beyond the end
        (30, 18, 4, 3),  # one byte beyond the end
    ],
)
def test_sizes_that_cannot_be(codec: ModuleType, sizes: tuple[int, int, int, int]) -> None:
    block = b"".join(
        number.to_bytes(width, "big") for number, width in zip(sizes, (4, 4, 4, 2), strict=True)
    )
    qualifier = b"\x03fq" if sizes[1] == 17 else GOLDEN[17:21]
    block += GOLDEN[14:17] + qualifier + GOLDEN[14 + 3 + len(qualifier) :]
    with pytest.raises(ValueError, match="no 1 cells of one row at byte 0 of"):
        codec.cut_rows(block, 0, [1])


def test_a_block_has_just_the_cells_it_says(codec: ModuleType) -> None:
    for end in range(len(GOLDEN)):
        with pytest.raises(ValueError, match="no 1 cells"):
            codec.cut_rows(GOLDEN[:end], 0, [1])
    with pytest.raises(ValueError, match="1 bytes too many after 1 cells"):
        codec.cut_rows(GOLDEN + b"\0", 0, [1])
    other_row = GOLDEN.replace(b"\0\x03row\x01fqu", b"\0\x02ro\x01fquu")
    assert len(codec.cut_rows(GOLDEN + other_row, 0, [1, 1])) == 2
    with pytest.raises(ValueError, match="no 2 cells of one row"):
        codec.cut_rows(GOLDEN + other_row, 0, [2])
    assert codec.cut_rows(b"", 0, []) == codec.cut_rows(b"", 0, [0]) == []
    for count in (-1, -(2**31)):
        with pytest.raises(ValueError, match=f"no {count} cells of one row"):
            codec.cut_row(GOLDEN, 0, count)


def test_a_row_is_the_same_whichever_way_it_is_read_first(codec: ModuleType) -> None:
    values = {b"f:a": b"1", b"f:b": b"2", b"g:": b""}
    block = encoded(codec, b"row", values, 9) + encoded(codec, b"row", {b"g:": b"old"}, 8)

    def fresh() -> Row:
        (row,) = codec.cut_rows(block, 0, [4])
        assert isinstance(row, Row)
        return row

    by_hand = Row(b"row", fresh().raw_cells)
    assert fresh() == by_hand
    assert repr(fresh()) == repr(by_hand)
    assert hash(fresh()) == hash(by_hand)
    assert len(fresh()) == 4
    assert list(fresh()) == by_hand.cells == fresh().cells
    assert fresh().values() == by_hand.values() == values
    assert fresh().nested() == by_hand.nested()
    assert fresh().versions(b"g:") == by_hand.versions(b"g:")
    for column in (*values, b"f:c"):
        assert fresh().value(column) == by_hand.value(column)
    row = fresh()
    row.raw_cells = by_hand.raw_cells[:1]
    assert (len(row), row.values(), row.value(b"f:b")) == (1, {b"f:a": b"1"}, None)


@pytest.mark.parametrize("size", [500, 5_000])
def test_a_row_that_is_kept_does_not_keep_the_response(codec: ModuleType, size: int) -> None:
    block = b"".join(encoded(codec, b"%06d" % n, {b"f:q": b"v" * size}, 1) for n in range(1_000))
    tracemalloc.start()
    try:
        answer = bytes(bytearray(block))
        before = tracemalloc.get_traced_memory()[0]
        kept = codec.cut_rows(answer, 0, [1] * 1_000)[500]
        del answer
        left = tracemalloc.get_traced_memory()[0] - before + len(block)
    finally:
        tracemalloc.stop()
    assert kept.value(b"f:q") == b"v" * size
    assert left < 100_000  # Python keeps some freed tuples for itself


def test_rows_that_were_let_go_leave_nothing(codec: ModuleType) -> None:
    block = b"".join(encoded(codec, b"%06d" % n, {b"f:q": b"v"}, 1) for n in range(1_000))
    kind = type(codec.cut_row(block, 0, 1)[0])

    def go_through() -> None:
        rows = codec.Rows(block, 0, [1] * 1_000)
        while rows.take(100):
            pass

    go_through()
    kinds = sys.getrefcount(kind)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(5):
            go_through()
        left = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert sys.getrefcount(kind) == kinds
    assert left < 20_000  # one that kept a key or its cells would have kept 400,000


def test_rows_are_seen_by_the_garbage_collector(codec: ModuleType) -> None:
    (row,) = codec.cut_rows(GOLDEN, 0, [1])
    assert gc.is_tracked(row)
    row.raw_cells = [row]  # a ring
    gc.collect()
    del row
    assert gc.collect() >= 2  # the row and its list


def test_cells_inside_a_message() -> None:
    cell = client_pb2.Cell(
        row=b"r", family=b"f", qualifier=b"q", timestamp=5, cell_type=client_pb2.PUT, value=b"v"
    )
    assert message_cells([cell]) == [(b"f:q", 5, b"v", 4)]
