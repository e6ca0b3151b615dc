"""Turning mutations into RocksDB batches, with the reads that some of them need first.

Increments, appends and deletes of "the newest version" read what was committed before the step
they belong to, as in HBase; so the caller holds `Database.commits`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from rocksdict import WriteBatch

from webtable.errors import InvalidRequest
from webtable.store.cells_and_rows import CellType, RawCell, Row, split_column
from webtable.store.mutation import (
    Check,
    CompareOp,
    Delete,
    Increment,
    Mutation,
    Put,
    Spread,
    Write,
)
from webtable.store.rocks.cell_keys import (
    TAGGED,
    decode_tagged,
    encode_suffix,
    encode_tagged,
    escape,
)
from webtable.store.rocks.open_tables import OpenFamily, OpenTable

__all__ = ["Encoder", "check_mutation", "holds", "needs_read"]

ReadColumn: TypeAlias = Callable[[OpenTable, bytes, bytes, int], list[RawCell]]
"""(table, row, column, versions) → its visible versions, newest first."""


class Notebook(Protocol):
    """Where an encoder records, for good, the facts about a family that reads and writes need."""

    def note_tagged(self, table: OpenTable, family: OpenFamily) -> None:
        """The family's puts are tagged from now on; see `cell_keys.py`."""

    def note_marked(self, table: OpenTable, family: OpenFamily) -> None:
        """The family may have markers of the whole family from now on."""


_PUT = int(CellType.PUT)


def needs_read(mutation: Mutation) -> bool:
    """Whether what the mutation writes depends on what is stored."""
    if isinstance(mutation, Delete):
        return any(
            marker.type == CellType.DELETE and marker.timestamp is None
            for marker in mutation.markers
        )
    return not isinstance(mutation, Put)


def check_mutation(table: OpenTable, mutation: Mutation) -> None:
    """Makes sure that a mutation can be encoded.

    Raises:
        InvalidRequest, FamilyNotFound: it cannot; the message has the reason.
    """
    if isinstance(mutation, Delete):
        for marker in mutation.markers:
            table.family(split_column(marker.column)[0])
    elif isinstance(mutation, Increment):
        for column in mutation.amounts:
            table.check_column(column)
    else:
        for column, value in mutation.values.items():
            table.check_column(column)
            if not isinstance(value, bytes):
                raise InvalidRequest(
                    f"the value of {column!r:.80} is {type(value).__name__}, not bytes",
                    hint="encode it first",
                )
        if isinstance(mutation, Put):
            for column in mutation.clears:
                table.family(column.partition(b":")[0])


class Encoder:
    """Mutations of any rows and tables on their way into one atomic batch."""

    __slots__ = ("_notebook", "_now_ms", "_put_ms", "_put_suffix", "_read", "batch")

    def __init__(
        self, read: ReadColumn, notebook: Notebook, now_ms: int, *, puts_from_ms: int = 0
    ) -> None:
        """Starts an empty batch; puts without a timestamp are stamped `puts_from_ms` at least."""
        self.batch = WriteBatch(raw_mode=True)
        self._read = read
        self._notebook = notebook
        self._now_ms = now_ms
        self._put_ms = max(now_ms, puts_from_ms)
        self._put_suffix = encode_suffix(self._put_ms, _PUT)

    def add_blind(self, table: OpenTable, mutations: Sequence[Write]) -> bool:
        """Adds mutations that need no read; returns False at the first one that does.

        When it returns False or raises, the batch must not be written.
        """
        batch, places = self.batch, table.places
        current, last, suffix = None, None, self._put_suffix
        spreads = []
        for mutation in mutations:
            if type(mutation) is not Put:
                if isinstance(mutation, Spread):
                    spreads.append(mutation)
                    continue
                if type(mutation) is Delete and self._mark_column(table, mutation):
                    continue
                if needs_read(mutation):
                    return False
                self.add(table, mutation)
                continue
            # As in `_put`, without its calls: this is the loop of every bulk load.
            row, timestamp = mutation.row, mutation.timestamp
            if timestamp != last:
                suffix = self._put_suffix if timestamp is None else encode_suffix(timestamp, _PUT)
                last = timestamp
            prefix = (escape(row) if b"\x00" in row or b"\x01" in row else row) + b"\x00"
            try:
                if mutation.ttl_ms is not None:
                    raise KeyError
                for column, value in mutation.values.items():
                    place = places.get(column)
                    if place is None:
                        table.check_column(column)
                        place = places[column]
                    handle, qualifier = place
                    if handle is not current:
                        batch.set_default_column_family(handle)
                        current = handle
                    batch[prefix + qualifier + suffix] = value
                if mutation.clears:
                    self._clear(table, prefix, mutation)
            except (KeyError, TypeError, ValueError):
                # A tagged column, or a mistake. Adding a cell twice is harmless.
                self._put(table, mutation)
        if spreads:
            self._spread(table, spreads)
        return True

    def add(self, table: OpenTable, mutation: Write) -> Row | None:
        """Adds a mutation; returns the new values of an increment or append, else None.

        When it raises, the batch may hold a part of the mutation and must not be written.
        """
        if isinstance(mutation, Put):
            self._put(table, mutation)
            return None
        if isinstance(mutation, Delete):
            self._delete(table, mutation)
            return None
        if isinstance(mutation, Spread):
            self._spread(table, [mutation])
            return None
        check_mutation(table, mutation)
        if isinstance(mutation, Increment):
            changes = [
                (column, _incremented(column, amount))
                for column, amount in mutation.amounts.items()
            ]
        else:
            changes = [(column, _appended(value)) for column, value in mutation.values.items()]
        return self._change(table, mutation.row, changes)

    def _put(self, table: OpenTable, put: Put) -> None:
        timestamp = self._put_ms if put.timestamp is None else put.timestamp
        prefix = escape(put.row) + b"\x00"
        # Checked first: a stored traceback must not keep a handle of the database open.
        check_mutation(table, put)
        for column, value in put.values.items():
            self._put_cell(table, prefix, (column, timestamp, value, _PUT), put.ttl_ms)
        if put.clears:
            self._clear(table, prefix, put)

    def _spread(self, table: OpenTable, spreads: Sequence[Spread]) -> None:
        """Adds columns of many rows, sorted: cells in order cost RocksDB a third."""
        families: dict[bytes, list[Spread]] = {}
        for spread in spreads:
            families.setdefault(spread.column.partition(b":")[0], []).append(spread)
        for name, mine in families.items():
            family, cells = table.family(name), dict[bytes, bytes]()
            for spread in mine:
                _spread_cells(table, family, spread, cells)
            batch = self.batch
            batch.set_default_column_family(family.handle)
            for key in sorted(cells):
                batch[key] = cells[key]

    def _clear(self, table: OpenTable, prefix: bytes, put: Put) -> None:
        timestamp = self._put_ms if put.timestamp is None else put.timestamp
        suffix = encode_suffix(timestamp, CellType.DELETE_COLUMN)
        for column in put.clears:
            name, _, qualifier = column.partition(b":")
            key = prefix + escape(qualifier) + b"\x00" + suffix
            self.batch.put(key, b"", table.family(name).handle)

    def _put_cell(self, table: OpenTable, prefix: bytes, cell: RawCell, ttl_ms: int | None) -> None:
        column, timestamp, value, _ = cell
        name, _, qualifier = column.partition(b":")
        family = table.family(name)
        if ttl_ms is not None and not family.notes.is_tagged:
            self._notebook.note_tagged(table, family)
        kind, stored = _PUT, value
        if family.notes.is_tagged:
            kind, stored = TAGGED, encode_tagged(value, ttl_ms)
        key = prefix + escape(qualifier) + b"\x00" + encode_suffix(timestamp, kind)
        self.batch.put(key, stored, family.handle)

    def _delete(self, table: OpenTable, delete: Delete) -> None:
        prefix = escape(delete.row) + b"\x00"
        add = self.batch.put
        if not delete.markers:
            timestamp = self._now_ms if delete.timestamp is None else delete.timestamp
            suffix = encode_suffix(timestamp, CellType.DELETE_FAMILY)
            for family in table.families.values():
                self._note_marked(table, family)
                add(prefix + b"\x00" + suffix, b"", family.handle)
            return
        newest: dict[bytes, int] = {}
        for kind, column, chosen in delete.markers:
            name, qualifier = split_column(column)
            if chosen is None and kind == CellType.DELETE:
                newest[column] = newest.get(column, 0) + 1
                chosen = self._nth_newest(table, delete.row, column, newest[column])
            suffix = encode_suffix(self._now_ms if chosen is None else chosen, kind)
            key = prefix + escape(qualifier or b"") + b"\x00" + suffix
            family = table.family(name)
            if qualifier is None:
                self._note_marked(table, family)
            add(key, b"", family.handle)

    def _mark_column(self, table: OpenTable, delete: Delete) -> bool:
        """Adds the marker of one column up to a time, if that is all; as `_delete`, but quicker."""
        if len(delete.markers) != 1:
            return False
        kind, column, timestamp = delete.markers[0]
        place = table.places.get(column)
        if kind is not CellType.DELETE_COLUMN or timestamp is None or place is None:
            return False
        prefix = escape(delete.row) + b"\x00"
        self.batch.put(prefix + place[1] + encode_suffix(timestamp, kind), b"", place[0])
        return True

    def _note_marked(self, table: OpenTable, family: OpenFamily) -> None:
        if not family.notes.is_marked:
            self._notebook.note_marked(table, family)

    def _nth_newest(self, table: OpenTable, row: bytes, column: bytes, n: int) -> int | None:
        versions = self._read(table, row, column, n)
        return versions[n - 1][1] if len(versions) >= n else None

    def _change(
        self,
        table: OpenTable,
        row: bytes,
        changes: Sequence[tuple[bytes, Callable[[bytes | None], bytes]]],
    ) -> Row:
        prefix = escape(row) + b"\x00"
        results: list[RawCell] = []
        for column, change in changes:
            found = self._read(table, row, column, 1)
            timestamp, value, ttl_ms = self._now_ms, change(found[0][2] if found else None), None
            if found:
                ttl_ms = _own_ttl(table, prefix, column, found[0][1])
                timestamp = max(found[0][1] + 1, timestamp)
            cell = (column, timestamp, value, _PUT)
            self._put_cell(table, prefix, cell, ttl_ms)
            results.append(cell)
        return Row(row, sorted(results, key=lambda cell: cell[0].partition(b":")[::2]))


def _spread_cells(
    table: OpenTable, family: OpenFamily, spread: Spread, cells: dict[bytes, bytes]
) -> None:
    """Adds the cells of a spread, key → value. Of a key only the row is made for each."""
    values, timestamp, is_tagged = spread.values, spread.timestamp, family.notes.is_tagged
    before, qualifier = escape(spread.before), escape(spread.column.partition(b":")[2])
    middle = b"%b\x00%b\x00" % (escape(spread.after), qualifier)
    end = middle + encode_suffix(timestamp, TAGGED if is_tagged else _PUT)
    names = b"".join(values)
    is_plain = not (is_tagged or b"\x00" in names or b"\x01" in names)
    if is_plain and {*map(type, values.values())} == {bytes}:
        keys = [before + row + end for row in values]
        cells.update(zip(keys, values.values(), strict=True))  # type: ignore[arg-type]
        return
    gone = middle + encode_suffix(timestamp, CellType.DELETE_COLUMN)
    for row, value in values.items():
        key = before + escape(row)
        if value is None:
            cells[key + gone] = b""
        elif type(value) is bytes:
            cells[key + end] = encode_tagged(value) if is_tagged else value
        else:
            check_mutation(table, Put(row, {spread.column: value}))


def _own_ttl(table: OpenTable, prefix: bytes, column: bytes, timestamp: int) -> int | None:
    """Returns the time to live that one version of a column has of its own."""
    name, _, qualifier = column.partition(b":")
    family = table.family(name)
    if not family.notes.is_tagged:
        return None
    stored = family.rocks.get(
        prefix + escape(qualifier) + b"\x00" + encode_suffix(timestamp, TAGGED)
    )
    return None if stored is None else decode_tagged(stored)[1]


def _incremented(column: bytes, amount: int) -> Callable[[bytes | None], bytes]:
    def change(value: bytes | None) -> bytes:
        if value is not None and len(value) != 8:
            raise InvalidRequest(
                f"column {column!r:.80} is not a counter: its value has {len(value)} bytes, not 8",
                hint="increment only columns written by increments, or put an 8-byte number first",
            )
        old = 0 if value is None else int.from_bytes(value, "big", signed=True)
        # A counter goes round at 64 bits, as HBase's does.
        return ((old + amount) % 2**64).to_bytes(8, "big")

    return change


def _appended(addition: bytes) -> Callable[[bytes | None], bytes]:
    return lambda value: (value or b"") + addition


def holds(check: Check, current: bytes | None) -> bool:
    """Whether a condition holds for a column's newest visible value, None when it has none."""
    if not check.value:
        # HBase takes an empty value for no value, on both sides.
        return (not current) == (check.op is not CompareOp.NOT_EQUAL)
    if current is None:
        return False
    given = check.value
    match check.op:
        case CompareOp.LESS:
            return given < current
        case CompareOp.LESS_OR_EQUAL:
            return given <= current
        case CompareOp.EQUAL:
            return given == current
        case CompareOp.NOT_EQUAL:
            return given != current
        case CompareOp.GREATER_OR_EQUAL:
            return given >= current
        case CompareOp.GREATER:
            return given > current
