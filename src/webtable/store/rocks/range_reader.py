"""Reading rows from RocksDB: forward, backward, and single columns by seeking.

The loops here are the hot path of every read. A RocksDB iterator is a consistent view of its own
column family; opening several at one point in time is the database's job (`Database.pin`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from rocksdict import RdictIter

from webtable import compiled
from webtable.errors import CorruptData
from webtable.store.cells_and_rows import RawCell, Row, split_column
from webtable.store.rocks.cell_keys import (
    SUFFIX_BYTES,
    escape,
    row_end,
    unescape,
)
from webtable.store.rocks.open_tables import OpenFamily, OpenTable
from webtable.store.rocks.visibility import Matcher, current_ms

if TYPE_CHECKING:
    from webtable.store.rocks import row_decoder
else:
    row_decoder = compiled.load("webtable.store.rocks", "row_decoder")

read_columns = row_decoder.read_columns
read_newest = row_decoder.read_newest
read_piece = row_decoder.read_piece

__all__ = [
    "NEWEST",
    "FamilyRead",
    "RowPieces",
    "RowStream",
    "View",
    "as_pieces",
    "merge",
    "read_columns",
    "read_newest",
    "read_piece",
    "row_pieces",
    "rows_backward",
    "rows_forward",
    "select",
]

RowStream: TypeAlias = Generator[tuple[bytes, list[RawCell]], None, None]
"""Rows in order: `escaped row | 00`, and the cells that are seen of it."""

RowPieces: TypeAlias = Generator[list[Row], None, None]
"""Rows in order, list by list."""

_PIECE_ROWS = 32  # rows cut at a time, at most; few stay in the processor's cache
_CACHED_READS = 1_000
_EMPTY_QUALIFIER = b"\x00"  # escaped and ended, as in a key
_PUT = 4
_PUT_BYTE = 255 - _PUT
_NO_ROW = b"\x00"  # no key begins so: an escaped row key is not empty and has no 00


class FamilyRead(NamedTuple):
    """A family to read; `wanted` has the escaped, ended qualifiers in order, None means all."""

    family: OpenFamily
    wanted: tuple[bytes, ...] | None


class View:
    """What a read selects of every family: versions and times."""

    __slots__ = ("raw", "time_range", "versions")

    def __init__(
        self,
        versions: int = 1,
        time_range: tuple[int, int] | None = None,
        *,
        raw: bool = False,
    ) -> None:
        self.versions = versions
        self.time_range = time_range
        self.raw = raw

    def matcher(self, read: FamilyRead) -> Matcher:
        """Returns the rules of visibility for one family, by the clock as it is now."""
        return Matcher(
            read.family.schema,
            now_ms=current_ms(),
            versions=self.versions,
            time_range=self.time_range,
            raw=self.raw,
            explicit=read.wanted is not None,
        )

    def is_simple(self, family: OpenFamily) -> bool:
        """Whether the first of the plain cells of a column is all that is seen of it."""
        return (
            (self.versions == 1 or family.schema.versions == 1)
            and self.time_range is None
            and family.schema.ttl_seconds is None
            and not self.raw
        )


NEWEST = View()
"""The newest version of everything, which is what most reads need."""


def select(table: OpenTable, columns: tuple[bytes, ...]) -> list[FamilyRead]:
    """Returns what to read of each family, in family order. Do not change the list: it is cached.

    A family named as a whole is read as a whole, even if columns of it are named too.

    Raises:
        FamilyNotFound: the table lacks one.
    """
    cached: list[FamilyRead] | None = table.reads.get(columns)
    if cached is not None:
        return cached
    reads = _select(table, columns)
    if len(table.reads) >= _CACHED_READS:
        table.reads.clear()
    table.reads[columns] = reads
    return reads


def _select(table: OpenTable, columns: tuple[bytes, ...]) -> list[FamilyRead]:
    if not columns:
        return [FamilyRead(family, None) for family in table.families.values()]
    wanted: dict[bytes, set[bytes] | None] = {}
    for column in columns:
        name, qualifier = split_column(column)
        table.family(name)
        chosen = wanted.setdefault(name, set())
        if qualifier is None:
            wanted[name] = None
        elif chosen is not None:
            chosen.add(escape(qualifier) + b"\x00")
    reads = []
    for name, family in table.families.items():
        if name in wanted:
            chosen = wanted[name]
            reads.append(FamilyRead(family, None if chosen is None else tuple(sorted(chosen))))
    return reads


def rows_forward(
    read: FamilyRead,
    view: View,
    entries: Iterable[tuple[bytes, bytes]],
    seeker: RdictIter | None,
    start: bytes,
) -> RowStream:
    """Yields `(escaped row | 00, cells)` for every row of which the read sees something.

    Args:
        entries: keys and values in order, from `start` on.
        seeker: an iterator of the same moment, to jump over what need not be read and to find
            out whether the entries ended by an error; None when they cannot have one.
    """
    cutter = _cutter(read, view, entries, seeker)
    most = 1
    while not cutter.is_over:
        yield from cutter.take(most)
        _prepare(cutter, read, seeker, start)
        most = min(most * 2, _PIECE_ROWS)


def row_pieces(
    read: FamilyRead,
    view: View,
    entries: Iterable[tuple[bytes, bytes]],
    seeker: RdictIter | None,
    start: bytes,
) -> RowPieces:
    """Yields what `rows_forward` does as lists of rows, short ones first."""
    cutter = _cutter(read, view, entries, seeker)
    most = 1
    while not cutter.is_over:
        yield cutter.take_rows(most)
        _prepare(cutter, read, seeker, start)
        most = min(most * 2, _PIECE_ROWS)


def as_pieces(stream: RowStream) -> RowPieces:
    """Yields the rows of a stream, each in a list of its own."""
    for prefix, cells in stream:
        yield [Row(unescape(prefix[:-1]), cells)]


def _cutter(
    read: FamilyRead,
    view: View,
    entries: Iterable[tuple[bytes, bytes]],
    seeker: RdictIter | None,
) -> row_decoder.RowCutter:
    return row_decoder.RowCutter(
        read.family,
        read.wanted,
        view.matcher(read),
        entries,
        is_simple=view.is_simple(read.family),
        may_seek=seeker is not None,
    )


def _prepare(
    cutter: row_decoder.RowCutter, read: FamilyRead, seeker: RdictIter | None, start: bytes
) -> None:
    """Jumps to where the cutter goes on, and checks why entries ended where they did."""
    if seeker is None:
        return
    if cutter.needs_seek:
        seeker.seek(_next_wanted(cutter.row, cutter.qualifier, read.wanted))
        cutter.go_on(_walk(seeker))
    elif cutter.is_over and cutter.has_jumped:
        seeker.status()
    elif cutter.is_over:
        _check_end(seeker, cutter.last, start)


def rows_backward(
    read: FamilyRead,
    view: View,
    entries: Iterable[tuple[bytes, bytes]],
    seeker: RdictIter,
    start: bytes,
) -> RowStream:
    """Yields what `rows_forward` does, for entries that come from the last down to `start`.

    The cells of a row are in forward order all the same. Holds one row of a family in memory.
    """
    prefix = _NO_ROW
    row: list[tuple[bytes, bytes]] = []
    for key, stored in entries:
        if not key.startswith(prefix):
            if row:
                row.reverse()
                yield from rows_forward(read, view, row, None, start)
                row = []
            if key < start:  # rocksdict has no lower bound that works
                return
            prefix = key[: key.index(0) + 1]
        row.append((key, stored))
    if row:
        seeker.seek(row[-1][0])
        seeker.prev()
        row.reverse()
        yield from rows_forward(read, view, row, None, start)
    else:
        seeker.seek_to_last()
    _check_exhausted(seeker)


def merge(readers: Sequence[RowStream], *, reverse: bool = False) -> RowStream:
    """Yields each row once, with the cells of all families in family order."""
    if len(readers) == 1:
        yield from readers[0]
        return
    first = max if reverse else min
    heads = [next(reader, None) for reader in readers]
    while live := [head[0] for head in heads if head is not None]:
        prefix = first(live)
        cells: list[RawCell] = []
        for position, head in enumerate(heads):
            if head is not None and head[0] == prefix:
                cells = cells + head[1] if cells else head[1]
                heads[position] = next(readers[position], None)
        yield prefix, cells


def _walk(seeker: RdictIter) -> Iterator[tuple[bytes, bytes]]:
    while seeker.valid():
        yield seeker.key(), seeker.value()
        seeker.next()


def _next_wanted(prefix: bytes, qualifier: bytes, wanted: tuple[bytes, ...] | None) -> bytes:
    """Returns the first key that may matter after this column."""
    if wanted is None:
        return prefix + qualifier + b"\xff" * SUFFIX_BYTES
    following = next((each for each in wanted if each > qualifier), None)
    return row_end(prefix) if following is None else prefix + following


def _check_end(seeker: RdictIter, last: bytes, start: bytes) -> None:
    """Makes sure that entries ended because there are no more.

    rocksdict's `items()` ends silently when a block is damaged; an iterator's `status` raises.
    """
    if last:
        seeker.seek(last)
        seeker.next()
    else:
        seeker.seek(start)
    _check_exhausted(seeker)


def _check_exhausted(seeker: RdictIter) -> None:
    seeker.status()
    if seeker.valid():
        raise CorruptData(
            "a read of the store ended before its last cell",
            hint="check the disk, then restore the store from a checkpoint",
        )
