"""The hottest code of the embedded store: entries of RocksDB become rows.

Made into machine code where that can be, by Cython from this very file and the C types in
`_row_decoder.pxd`; import it from `range_reader`. Both forms do the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from webtable.errors import CorruptData
from webtable.store.cells_and_rows import MAX_TIMESTAMP, RawCell, Row
from webtable.store.rocks.cell_keys import decode_tagged

__all__ = ["COMPILED", "RowCutter", "read_columns", "read_newest", "read_piece"]

COMPILED = not __file__.endswith((".py", ".pyc"))
"""Whether this is machine code."""

# After so many skipped cells in a row, a seek (about 2 µs) is cheaper than reading on.
_SKIP_LIMIT = 32
_EMPTY_QUALIFIER = b"\x00"  # escaped and ended, as in a key
_NO_COLUMN = b""
_TAGGED = 5
_PUT_BYTE = 255 - 4  # the last byte of a put's key
_new_row = Row.__new__  # without the call of __init__, a third of the time
_PIECE_BYTES = 32 * 1024  # what is cut ahead of the caller, about
_CELL_BYTES = 64  # a cell, besides its value


def _not_a_cell(key: bytes) -> CorruptData:
    return CorruptData(
        f"{key!r:.120} is not the key of a cell",
        hint="check the disk, then restore the store from a checkpoint",
    )


def read_newest(
    family: Any, wanted: tuple[bytes, ...], seeker: Any, prefix: bytes
) -> list[RawCell] | None:
    """Returns the newest cell of one named column, or None where the rules must decide.

    What `range_reader.read_columns` does, for the read that is made most often and needs the least.

    Args:
        family: the family, an `OpenFamily`.
        wanted: the escaped, ended qualifiers to read.
        seeker: an iterator of RocksDB's.
        prefix: the row, `escaped row | 00`.
    """
    qualifier = wanted[0]
    if (
        len(wanted) > 1
        or qualifier == _EMPTY_QUALIFIER
        or family.notes.is_marked
        or family.schema.ttl_seconds is not None
    ):
        return None
    target = prefix + qualifier
    seeker.seek(target)
    if not seeker.valid():
        seeker.status()
        return []
    key = seeker.key()
    if not key.startswith(target):
        return []
    end = len(key) - 1
    if end != len(target) + 8 or key[end] != _PUT_BYTE:
        return None
    timestamp = MAX_TIMESTAMP - int.from_bytes(key[end - 8 : end], "big")
    column = family.columns.get(qualifier) or family.column(qualifier)
    return [(column, timestamp, seeker.value(), 4)]


def read_piece(
    family: Any, seeker: Any, prefix: bytes, piece: tuple[bytes, bytes | None, int | None]
) -> list[RawCell] | None:
    """Returns the newest cells of a row, or of a piece of it; None where the rules must decide.

    Args:
        family: the family, an `OpenFamily`, without a time to live.
        seeker: an iterator of RocksDB's, opened before this is called.
        prefix: the row, `escaped row | 00`.
        piece: the lowest escaped qualifier, the end of them, and the most columns; a `Piece`.
    """
    low, high, limit = piece
    most = -1 if limit is None else limit
    if most == 0:
        return None
    # Checked after the iterator was opened: a marker that it can see has set this before.
    if low and family.notes.is_marked:
        seeker.seek(prefix)
        if seeker.valid() and seeker.key().startswith(prefix + _EMPTY_QUALIFIER):
            return None  # maybe a marker of the whole family
    cells: list[RawCell] = []
    columns, start = family.columns, len(prefix)
    previous, skipped = b"", 0
    is_valid, next_key, go_on, value_of = seeker.valid, seeker.key, seeker.next, seeker.value
    seeker.seek(prefix + low)
    while is_valid():
        key = next_key()
        if not key.startswith(prefix):
            return cells
        end = len(key) - 9
        if end <= start or key[end + 8] != _PUT_BYTE:
            return None
        qualifier = key[start:end]
        if qualifier == previous:
            skipped += 1
            # Markers of the whole family stand between the cells of the column without a name.
            if skipped > _SKIP_LIMIT and qualifier != _EMPTY_QUALIFIER:
                seeker.seek(prefix + qualifier + b"\xff" * 9)
                continue
        else:
            if len(cells) == most or (high is not None and qualifier >= high):
                return cells
            previous, skipped = qualifier, 0
            timestamp = MAX_TIMESTAMP - int.from_bytes(key[end : end + 8], "big")
            column = columns.get(qualifier) or family.column(qualifier)
            cells.append((column, timestamp, value_of(), 4))
        go_on()
    seeker.status()
    return cells


def read_columns(read: Any, view: Any, seeker: Any, prefix: bytes) -> list[RawCell]:
    """Returns what the read sees of the named columns of one row, by one seek for each.

    Args:
        read: the family and its columns, a `FamilyRead`.
        view: the versions and times to read, a `View`.
        seeker: an iterator of RocksDB's.
        prefix: the row, `escaped row | 00`.
    """
    family, wanted = read
    assert wanted is not None
    matcher: Any = None if view.is_simple(family) else view.matcher(read)
    cells: list[RawCell] = []
    key: bytes | None = b""
    # Checked after the iterator was opened: a marker that it can see has set this before.
    if family.notes.is_marked or wanted[0] == _EMPTY_QUALIFIER:
        seeker.seek(prefix)
        key = seeker.key() if seeker.valid() else None
        if key is not None and key.startswith(prefix + _EMPTY_QUALIFIER):
            # Markers of the whole family stand in the column without a name.
            matcher, key = _family_markers(read, view, seeker, prefix, cells)
    for qualifier in wanted:
        if qualifier == _EMPTY_QUALIFIER:
            continue
        target = prefix + qualifier
        if key is not None and key < target:
            seeker.seek(target)
            key = seeker.key() if seeker.valid() else None
        while key is not None and key.startswith(target):
            stored = seeker.value()
            if len(key) != len(target) + 9:
                raise _not_a_cell(key)
            suffix = key[len(target) :]
            if matcher is None:
                if suffix[8] == _PUT_BYTE:
                    timestamp = MAX_TIMESTAMP - int.from_bytes(suffix[:8], "big")
                    cells.append((family.column(qualifier), timestamp, stored, 4))
                    break
                matcher = view.matcher(read)
            timestamp, kind, value, ttl_ms = _decode(suffix, stored)
            if matcher.sees(qualifier, timestamp, kind, ttl_ms):
                cells.append((family.column(qualifier), timestamp, value, kind))
            if matcher.is_done:
                break
            seeker.next()
            key = seeker.key() if seeker.valid() else None
    if key is None:
        seeker.status()
    return cells


def _family_markers(
    read: Any, view: Any, seeker: Any, prefix: bytes, cells: list[RawCell]
) -> tuple[Any, bytes | None]:
    """Feeds the column without a name to a new matcher; returns it and the key after."""
    family, wanted = read
    is_wanted = wanted is not None and _EMPTY_QUALIFIER in wanted
    matcher = view.matcher(read)
    target = prefix + _EMPTY_QUALIFIER
    while seeker.valid() and (key := seeker.key()).startswith(target):
        if len(key) != len(target) + 9:
            raise _not_a_cell(key)
        suffix = key[len(target) :]
        timestamp, kind, value, ttl_ms = _decode(suffix, seeker.value())
        is_selected = is_wanted or kind != 4
        if is_selected and matcher.sees(_EMPTY_QUALIFIER, timestamp, kind, ttl_ms):
            cells.append((family.column(_EMPTY_QUALIFIER), timestamp, value, kind))
        seeker.next()
    return matcher, seeker.key() if seeker.valid() else None


def _decode(suffix: bytes, stored: bytes) -> tuple[int, int, bytes, int | None]:
    """Returns timestamp, type, value and own time to live of a cell, with tagged puts as puts."""
    timestamp, kind = MAX_TIMESTAMP - int.from_bytes(suffix[:8], "big"), 255 - suffix[8]
    if kind == _TAGGED:
        return timestamp, 4, *decode_tagged(stored)
    return timestamp, kind, stored, None


class RowCutter:
    """Cuts the entries of one family into rows, with the cells that a read sees of them.

    Args:
        family: the family, an `OpenFamily`.
        wanted: the escaped, ended qualifiers to read, None for all.
        matcher: the rules for cells that are not plain, a `Matcher`.
        is_simple: whether the first of the plain cells of a column is all that is seen of it.
        may_seek: whether to stop where entries need not be read one by one.

    Attributes:
        last: the last key that was read, empty before the first.
        qualifier: the column of that key, escaped and ended.
        needs_seek: whether it waits for entries of another place, see `go_on`.
        has_jumped: whether it has gone on with such.
    """

    def __init__(
        self,
        family: Any,
        wanted: tuple[bytes, ...] | None,
        matcher: Any,
        entries: Iterable[tuple[bytes, bytes]],
        *,
        is_simple: bool,
        may_seek: bool,
    ) -> None:
        self._family = family
        self._may_seek = may_seek
        self._columns: dict[bytes, bytes] = family.columns
        self._wanted = wanted
        self._matcher = matcher
        self._is_simple = self._is_plain = is_simple
        self._source: Iterator[tuple[bytes, bytes]] = iter(entries)
        self._prefix, self._size, self._skipped = b"", 0, 0
        self._previous, self._suffix = b"", b""
        self._timestamp, self._kind = 0, 4
        self._cells: list[RawCell] = []
        # The columns of the row before, in order: mostly those of the next one too.
        self._earlier: list[bytes] = []
        self._named: list[bytes] = []
        self.last, self.qualifier = b"", b""
        self.is_over = self.needs_seek = self.has_jumped = False

    @property
    def row(self) -> bytes:
        """The row that it is in: `escaped row | 00`."""
        return self._prefix

    def go_on(self, entries: Iterable[tuple[bytes, bytes]]) -> None:
        """Goes on with these entries."""
        self._source = iter(entries)
        self._skipped = 0
        self.needs_seek = False
        self.has_jumped = True

    def take_rows(self, most: int) -> list[Row]:
        """Returns what `take` does as rows."""
        rows = []
        for prefix, cells in self.take(most):
            key = prefix[: len(prefix) - 1]
            row = _new_row(Row)
            if 1 in key:  # as `unescape` does it
                key = key.replace(b"\x01\x01", b"\x00").replace(b"\x01\x02", b"\x01")
            row.key = key
            row.raw_cells = cells
            row._newest = None
            rows.append(row)
        return rows

    def take(self, most: int) -> list[tuple[bytes, list[RawCell]]]:  # noqa: PLR0915 - one loop
        """Returns up to so many rows: `escaped row | 00`, and the cells that are seen of it.

        Fewer when they are large, when it `needs_seek`, and none only when it `is_over` or
        `needs_seek`.
        """
        rows: list[tuple[bytes, list[RawCell]]] = []
        wanted, columns, matcher = self._wanted, self._columns, self._matcher
        prefix, size, skipped = self._prefix, self._size, self._skipped
        previous, suffix, is_plain = self._previous, self._suffix, self._is_plain
        timestamp, kind, cells = self._timestamp, self._kind, self._cells
        earlier, named = self._earlier, self._named
        key, qualifier = self.last, self.qualifier
        at, total = len(cells), 0
        is_full = False
        for key, stored in self._source:
            if not size or not key.startswith(prefix):
                if cells:
                    rows.append((prefix, cells))
                    is_full = len(rows) >= most or total > _PIECE_BYTES
                    cells = []
                size = key.find(0) + 1
                if not 1 < size <= len(key) - 10:
                    raise _not_a_cell(key)
                prefix = key[:size]
                previous = b""
                skipped = at = 0
                is_plain = self._is_simple
                if not is_plain:
                    matcher.start_row()
            if not key.endswith(suffix) or not suffix:
                suffix = key[len(key) - 9 :]
                timestamp, kind = MAX_TIMESTAMP - int.from_bytes(suffix[:8], "big"), 255 - suffix[8]
            is_seen = False
            expected = earlier[at] if at < len(earlier) else _NO_COLUMN
            if (
                is_plain
                and kind == 4
                and len(key) == size + len(expected) + 9
                and key.startswith(expected, size)
                and expected != previous
            ):
                # As in the row before, whose columns were wanted.
                previous = qualifier = expected
                cells.append((named[at], timestamp, stored, 4))
                at += 1
                is_seen = True
            else:
                qualifier = key[size : len(key) - 9]
                if is_plain:
                    # No cell of this row so far hides another, so the rules are not needed.
                    if kind == 4:
                        if qualifier != previous and (wanted is None or qualifier in wanted):
                            previous = qualifier
                            column = columns.get(qualifier)
                            if column is None:
                                column = self._family.column(qualifier)
                            del earlier[at:], named[at:]
                            earlier.append(qualifier)
                            named.append(column)
                            at += 1
                            cells.append((column, timestamp, stored, 4))
                            is_seen = True
                    elif qualifier != previous or qualifier == _EMPTY_QUALIFIER:
                        is_plain = False
                        matcher.start_row()
                        if previous:
                            matcher.resume_column(previous)
                if not is_plain and (
                    wanted is None
                    or qualifier in wanted
                    or (qualifier == _EMPTY_QUALIFIER and kind not in (4, _TAGGED))
                ):
                    is_seen = self._ask(cells, qualifier, timestamp, kind, stored)
            total += len(stored) + _CELL_BYTES
            if not is_seen:
                skipped += 1
                if skipped > _SKIP_LIMIT and self._can_skip(qualifier, is_plain):
                    self.needs_seek = True
                    break
            if is_full:
                break
        else:
            self.is_over = True
            if cells:
                rows.append((prefix, cells))
                cells = []
        self._prefix, self._size, self._skipped = prefix, size, skipped
        self._previous, self._suffix, self._is_plain = previous, suffix, is_plain
        self._timestamp, self._kind, self._cells = timestamp, kind, cells
        self.last, self.qualifier = key, qualifier
        return rows

    def _ask(
        self, cells: list[RawCell], qualifier: bytes, timestamp: int, kind: int, stored: bytes
    ) -> bool:
        """Adds a cell that is not plain, if the rules let it be seen; returns whether."""
        ttl_ms: int | None = None
        value = stored
        if kind == _TAGGED:
            kind = 4
            value, ttl_ms = decode_tagged(stored)
        if not self._matcher.sees(qualifier, timestamp, kind, ttl_ms):
            return False
        cells.append((self._family.column(qualifier), timestamp, value, kind))
        return True

    def _can_skip(self, qualifier: bytes, is_plain: bool) -> bool:
        """Whether nothing more of this column matters, and it can be jumped over."""
        # Markers of the whole family stand between the cells of the column without a name.
        if not self._may_seek or qualifier == _EMPTY_QUALIFIER:
            return False
        if is_plain or (self._wanted is not None and qualifier not in self._wanted):
            return True
        matcher = self._matcher
        return bool(matcher.is_done and matcher.column == qualifier)
