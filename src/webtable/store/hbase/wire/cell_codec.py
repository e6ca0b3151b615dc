"""The hottest code of the client: cells from bytes and to bytes, and rows that hold their bytes.

The format is drawn in `cell_blocks`, which is also the module to import: this one may be running in
a compiled form, made by Cython from this very file and the C types in `_cell_codec.pxd`. Both
return the same and raise the same errors; `COMPILED` distinguishes them where one way is quick in C
and another in Python. The compiled form reads memory unchecked, so `_end_of` checks every byte
first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from struct import Struct
from types import MemberDescriptorType

from webtable.errors import InvalidRequest
from webtable.store.cells_and_rows import MAX_TIMESTAMP, RawCell, Row
from webtable.store.mutation import check_column

__all__ = ["COMPILED", "Rows", "UndecodedRow", "cut_row", "cut_rows", "encode_cells", "wire_column"]

COMPILED = not __file__.endswith((".py", ".pyc"))
"""Whether this is machine code."""

_compiled = COMPILED  # the same as a C variable

LARGE_CELL_BYTES = 2_000
"""Cells that are larger than this on average are copied once, as values, and not as bytes first."""

_SIZES = Struct(">II").unpack_from
_ALL_SIZES = Struct(">IIIH").unpack_from
_ROW_SIZE = Struct(">H").unpack_from
_STAMP = Struct(">QB").unpack_from
_HEAD = Struct(">IIIH").pack
_TAIL = Struct(">QB").pack
_LATEST_PUT = _TAIL(MAX_TIMESTAMP, 4)

_KEPT_COLUMNS = 20_000


# Tables repeat their columns: one object for each column saves making one for each cell. Plain
# dicts: a lookup in a dict with `__missing__` takes twice as long.
_columns: dict[bytes, bytes] = {}  # as on the wire → the column's name
_wire_columns: dict[bytes, bytes] = {}  # the column's name → as on the wire
# Both forms of the column that was last the first of its row, the second, and so on: mostly the
# next row has the same, and in C to compare them is faster than to look them up in a dict.
_recent = [(b"", b"")] * 64


def _column(wire: bytes, number: int) -> bytes:
    """Returns the name of a column: on the wire it is family length, family and qualifier.

    Args:
        number: which one it is in its row.
    """
    column = _columns.get(wire)
    if column is None:
        size = wire[0]
        column = b"%b:%b" % (wire[1 : size + 1], wire[size + 1 :])
        if len(_columns) >= _KEPT_COLUMNS:
            _columns.clear()
        _columns[wire] = column
    _recent[number & 63] = (wire, column)
    return column


def wire_column(column: bytes) -> bytes:
    """Returns a column as it is on the wire.

    Raises:
        InvalidRequest: it is not valid.
    """
    cached = _wire_columns.get(column)
    if cached is not None:
        return cached
    family, _, qualifier = check_column(column).partition(b":")
    if len(family) > 127:
        raise InvalidRequest(
            f"family {family[:40]!r}… has {len(family)} bytes", hint="at most 127 are possible"
        )
    wire = bytes((len(family),)) + family + qualifier
    if len(_wire_columns) >= _KEPT_COLUMNS:
        _wire_columns.clear()
    _wire_columns[column] = wire
    return wire


class UndecodedRow(Row):
    """A row that stores its cells as they came, and decodes them at their first use.

    The bytes are the row's own, so that a row in use does not keep the whole response in memory.
    """

    __slots__ = ("_stored",)

    def __init__(self, key: bytes, stored: bytes) -> None:
        self.key = key
        self._stored: bytes | Sequence[RawCell] = stored
        self._newest = None

    @property
    def raw_cells(self) -> Sequence[RawCell]:
        """All cells of the row, as plain tuples."""
        stored = self._stored
        if isinstance(stored, bytes):
            self._stored = stored = _read_cells(stored, 0, len(stored))
        return stored

    @raw_cells.setter
    def raw_cells(self, cells: Sequence[RawCell]) -> None:
        self._stored = cells

    def value(self, column: bytes) -> bytes | None:
        """Returns the newest value of a column, or None when the row has none."""
        return self.values().get(column)

    def values(self) -> dict[bytes, bytes]:
        """Returns column → newest value. The row caches the dict: do not change it."""
        newest, stored = self._newest, self._stored
        if newest is None and isinstance(stored, bytes):
            self._newest = newest = _read_values(stored, 0, len(stored))
        return super().values() if newest is None else newest


# Where the slots of a row are in memory: to fill them there takes a third of what `__init__` takes.
_key_offset = _stored_offset = _newest_offset = 0
if _compiled:
    _slots = (Row.__dict__["key"], UndecodedRow.__dict__["_stored"], Row.__dict__["_newest"])
    if any(type(slot) is not MemberDescriptorType for slot in _slots):
        raise ImportError("rows keep their parts elsewhere than in slots")
    _key_offset, _stored_offset, _newest_offset = map(c_offset, _slots)  # type: ignore[name-defined]  # noqa: F821


def cut_row(block: bytes, at: int, count: int) -> tuple[Row, int]:
    """Returns the row that so many cells make, and the position after them.

    Raises:
        ValueError: they are not cells of one row.
    """
    end = _end_of(block, at, count, len(block))
    if end < 0:
        raise ValueError(f"no {count} cells of one row at byte {at} of {len(block)}")
    return _row(block, at, end, count), end


def cut_rows(block: bytes, at: int, counts: Iterable[int]) -> list[Row]:
    """Returns a row for each number of cells, which are all that is left of the block.

    Raises:
        ValueError: they are not, or not cells of one row each.
    """
    rows = Rows(block, at, counts)
    return rows.take(len(rows))


class Rows:
    """The rows of a response, in order: checked when it comes, made when they are read.

    Made all at once, they would be out of the processor's caches before they are used,
    and the garbage collector would go through them meanwhile.
    """

    def __init__(self, block: bytes, at: int, counts: Iterable[int]) -> None:
        """Takes a row for each number of cells, which are all that is left of the block.

        Raises:
            ValueError: they are not, or not cells of one row each.
        """
        self._block = block
        self._at = at
        self._ends: list[int] = []
        self._counts: list[int] = []
        self._next = 0
        self._check(block, len(block), counts)

    def __len__(self) -> int:
        return len(self._ends) - self._next

    def last_key(self) -> bytes:
        """Returns the key of the last row; there must be one that was not read."""
        return _key(self._block, self._last_at())

    def take(self, most: int) -> list[Row]:
        """Returns the next rows, up to a number; an empty list at the end."""
        return self._make(self._block, min(self._next + most, len(self._ends)))

    def take_last(self) -> Row:
        """Returns the last row; there must be one that was not read."""
        at = self._last_at()
        return _row(self._block, at, self._ends.pop(), self._counts.pop())

    def _last_at(self) -> int:
        return self._ends[len(self._ends) - 2] if len(self) > 1 else self._at

    def _check(self, block: bytes, limit: int, counts: Iterable[int]) -> None:
        at = self._at
        ends, kept = self._ends, self._counts
        for count in counts:
            end = _end_of(block, at, count, limit)
            if end < 0:
                raise ValueError(f"no {count} cells of one row at byte {at} of {limit}")
            if count:
                ends.append(end)
                kept.append(count)
            at = end
        if at != limit:
            raise ValueError(f"{limit - at} bytes too many after {sum(kept)} cells")

    def _make(self, block: bytes, stop: int) -> list[Row]:
        rows: list[Row] = []
        at, ends, counts = self._at, self._ends, self._counts
        for number in range(self._next, stop):
            end = ends[number]
            rows.append(_row(block, at, end, counts[number]))
            at = end
        self._at, self._next = at, stop
        return rows


def _key(block: bytes, at: int) -> bytes:
    key_at = at + 14
    return block[key_at : key_at + (block[at + 12] << 8 | block[at + 13])]


def _row(block: bytes, at: int, end: int, count: int) -> Row:
    key = _key(block, at)
    if end - at > count * LARGE_CELL_BYTES:
        return Row(key, _read_cells(block, at, end))
    if _compiled:
        return c_stored_row(UndecodedRow, key, block[at:end])  # type: ignore[name-defined,no-any-return]  # noqa: F821
    return UndecodedRow(key, block[at:end])


def _end_of(block: bytes, at: int, count: int, limit: int) -> int:
    """Returns the position after so many cells of one row, or -1 where they are not that."""
    if count <= 0:
        return -1 if count else at
    last = limit - 26  # the sizes, an empty row, an empty column, the timestamp, the type
    if at > last:
        return -1
    row_size = block[at + 12] << 8 | block[at + 13]
    column_at, least_size = 14 + row_size, 12 + row_size
    compiled, all_sizes = _compiled, _ALL_SIZES
    for _ in range(count):
        if at > last:
            return -1
        if compiled:
            size, key_size = _u32(block, at), _u32(block, at + 4)
            value_size, own_row_size = _u32(block, at + 8), _u32(block, at + 10) & 0xFFFF
        else:
            size, key_size, value_size, own_row_size = all_sizes(block, at)
        after = at + 4 + size
        if (
            after > limit
            or size != key_size + value_size + 8
            or own_row_size != row_size
            or key_size < least_size
            or key_size < least_size + block[at + column_at]
        ):
            return -1
        at = after
    return at


def _read_cells(block: bytes, at: int, end: int) -> list[RawCell]:
    """Returns the cells between two positions, which `_end_of` found to be cells of one row."""
    column_at = 14 + (block[at + 12] << 8 | block[at + 13])
    cells: list[RawCell] = []
    compiled, columns, sizes, stamp, number = _compiled, _columns, _SIZES, _STAMP, 0
    while at < end:
        if compiled:
            size, key_size = _u32(block, at), _u32(block, at + 4)
            stamp_at = at + 3 + key_size
            timestamp, kind = _u64(block, stamp_at), block[stamp_at + 8]
        else:
            size, key_size = sizes(block, at)
            stamp_at = at + 3 + key_size
            timestamp, kind = stamp(block, stamp_at)
        after = at + 4 + size
        if compiled:
            column = c_recent(_recent, number, block, at + column_at, stamp_at)  # type: ignore[name-defined]  # noqa: F821
        else:
            column = columns.get(block[at + column_at : stamp_at])
        if column is None:
            column = _column(block[at + column_at : stamp_at], number)
        cells.append((column, timestamp, block[stamp_at + 9 : after], kind))
        at = after
        number += 1
    return cells


def _read_values(block: bytes, at: int, end: int) -> dict[bytes, bytes]:
    """Returns the newest value of each column between two positions, as `_read_cells` does."""
    column_at = 14 + (block[at + 12] << 8 | block[at + 13])
    newest: dict[bytes, bytes] = {}
    compiled, columns, sizes, number = _compiled, _columns, _SIZES, 0
    while at < end:
        if compiled:
            size, key_size = _u32(block, at), _u32(block, at + 4)
        else:
            size, key_size = sizes(block, at)
        stamp_at = at + 3 + key_size
        after = at + 4 + size
        if block[stamp_at + 8] == 4:
            if compiled:
                column = c_recent(_recent, number, block, at + column_at, stamp_at)  # type: ignore[name-defined]  # noqa: F821
            else:
                column = columns.get(block[at + column_at : stamp_at])
            if column is None:
                column = _column(block[at + column_at : stamp_at], number)
            if column not in newest:
                newest[column] = block[stamp_at + 9 : after]
        at = after
        number += 1
    return newest


def _u32(block: bytes, at: int) -> int:
    first = block[at]  # in C of 64 bits too: 32 would make a large number negative
    return first << 24 | block[at + 1] << 16 | block[at + 2] << 8 | block[at + 3]


def _u64(block: bytes, at: int) -> int:
    high = _u32(block, at)
    return high << 32 | _u32(block, at + 4)


def encode_cells(
    parts: list[bytes], row: bytes, values: Iterable[tuple[bytes, bytes]], timestamp: int | None
) -> int:
    """Appends a put's cells to `parts`, which joined are a cell block; returns their bytes.

    A time of None lets the server choose.

    Raises:
        InvalidRequest: a column is not valid, or a value is not bytes.
    """
    columns, head = _wire_columns, _HEAD
    tail = _LATEST_PUT if timestamp is None else _TAIL(timestamp, 4)
    row_size, total = len(row), 0
    for column, value in values:
        if type(value) is not bytes:
            raise InvalidRequest(
                f"value of column {column!r:.80} is {type(value).__name__}, not bytes",
                hint="encode it first",
            )
        wire = columns.get(column)
        if wire is None:
            wire = wire_column(column)
        value_size, key_size = len(value), row_size + len(wire) + 11
        size = key_size + value_size + 8
        total += size + 4
        parts += (head(size, key_size, value_size, row_size), row, wire, tail, value)
    return total
