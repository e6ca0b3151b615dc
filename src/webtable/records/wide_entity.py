r"""Wide entities: all records of one entity, of several classes, in one row.

    sites = EntityTable(store, "sites", {"visit": Visit, "note": Note})
    sites.put(visit, note)                          # of one entity: one atomic step
    site = sites.get("example.org")                 # one read
    site.all(Visit), site.all(Note)

On-disk: changing this needs a new format version. Frozen by golden tests.

    row key      partition | the entity key as a key of its own
    qualifier    tag of the class | 00 | the rest of the key, every str and bytes ended | field
    a:\x00size   bytes put into the row since it was last counted, an 8-byte counter

The classes have the same entity key fields. Each needs a tag, which is stored and never changes.

A row is read and kept in memory as a whole, by servers too, and a region cannot be split within it.
So it has a limit, by default 64 MiB: a put that would exceed it is rejected. Use this
where entities are small for sure and mostly read as a whole; anything else is better off in a
table a class, where the records of an entity are neighbours, too. There are no indexes here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from webtable.errors import CheckFailed, CorruptData, InvalidRequest
from webtable.records.codecs import BadValue
from webtable.records.declaration import FAMILY, MARKER, Declaration, table_schema
from webtable.records.declaration_catalog import DeclaredTable, Stored, open_table
from webtable.records.field_types import KeyValue
from webtable.records.reading.key_range_reader import KeyRange, RangeReader
from webtable.records.recent_deletes import recent_deletes
from webtable.records.record import Record, declaration_of
from webtable.store.cells_and_rows import Row
from webtable.store.mutation import Check, CompareOp, Delete, Increment, Mutation, Put
from webtable.store.store import Store
from webtable.store.zero_byte_escaping import escape, unescape

__all__ = ["DEFAULT_ROW_BYTES", "MOST_ROW_BYTES", "EntityTable", "WideEntity"]

R = TypeVar("R", bound=Record)

DEFAULT_ROW_BYTES = 64 << 20
"""The default limit on the size of a row."""

MOST_ROW_BYTES = 256 << 20
"""What a row may be allowed to hold: more does not pass through one call to HBase."""

_PREFIX = f"{FAMILY}:".encode()
_SIZE = _PREFIX + b"\x00size"
_CELL_BYTES = 24  # a cell in a store, besides its row key, column and value
_ATTEMPTS = 20


class WideEntity:
    """The records of one entity, as one read found them."""

    def __init__(self, key: tuple[KeyValue, ...], records: Mapping[type, list[Any]]) -> None:
        self.key = key
        self._records = records

    def all(self, record: type[R]) -> list[R]:
        """Returns the records of one class, in the order of their keys."""
        return list(self._records.get(record, ()))

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(each)} {kind.__name__}" for kind, each in self._records.items())
        return f"WideEntity({self.key!r}: {counts})"


class EntityTable:
    """A table with a row for each entity. Share it between threads.

    Args:
        records: tag → record class, of classes with the same entity key.
        row_bytes: what a row may hold, about; at most 256 MiB.

    Raises:
        SchemaMismatch: the table was made with other classes.
    """

    def __init__(
        self,
        store: Store,
        table: str,
        records: Mapping[str, type[Record]],
        *,
        row_bytes: int = DEFAULT_ROW_BYTES,
        create: bool = True,
    ) -> None:
        if not 1 <= row_bytes <= MOST_ROW_BYTES:
            raise InvalidRequest(
                f"row_bytes {row_bytes:,} is out of range", hint=f"1 to {MOST_ROW_BYTES:,}"
            )
        self._limit = row_bytes
        self._kinds = {tag: declaration_of(record) for tag, record in records.items()}
        self._tags = {each.record: tag for tag, each in self._kinds.items()}
        _check_kinds(table, self._kinds)
        first = next(iter(self._kinds.values()))
        self._partitions = first.partitions
        self._keys = first.keys[: first.entity_size]
        # The entity key as the key of a class of its own.
        self._entity = first.entity_declaration(table)
        stored = Stored(
            key=tuple((field.name, field.codec.name) for field in self._keys),
            entity=len(self._keys),
            partitions=self._partitions.count,
            partitioner=self._partitions.partitioner.name,
            values=_stored_fields(self._kinds),
        )
        declared = DeclaredTable(
            "the entity", table_schema(table), self._partitions.splits(), stored
        )
        self.table = open_table(store, declared, create=create)
        self._reader = RangeReader(self.table, self._entity, is_remote=False)
        self._deletes = recent_deletes(store.location, table)

    # Reading

    def get(self, *entity_key: KeyValue) -> WideEntity | None:
        """Returns everything of one entity by one read, None when there is nothing."""
        row = self.table.get(self._entity.row_key(entity_key), (FAMILY.encode(),))
        return None if row is None else self._decode(row)

    def scan(
        self,
        *,
        start: Sequence[KeyValue] = (),
        stop: Sequence[KeyValue] = (),
        reverse: bool = False,
        ordered: bool = True,
    ) -> Iterator[WideEntity]:
        """Yields entities in the order of their keys. All their records are read."""
        keys = KeyRange(self._entity, (), start, stop)
        for rows in self._reader.pieces(keys, reverse=reverse, ordered=ordered):
            for row in rows:
                entity = self._decode(row)
                if entity is not None:
                    yield entity

    # Writing

    def put(self, *records: Record) -> None:
        """Stores records of one entity in one atomic step.

        Raises:
            InvalidRequest: a field cannot be stored, they are of several entities, or the row would
                become too large; nothing was written.
        """
        rows: dict[bytes, tuple[dict[bytes, bytes], list[bytes]]] = {}
        for record in records:
            self._add(rows, record)
        if len(rows) != 1:
            raise InvalidRequest(
                f"a put of {len(records)} records of {len(rows)} entities",
                hint="give records of one entity, or use put_many",
            )
        for row, (cells, clears) in rows.items():
            self._write(row, cells, clears)

    def put_many(self, records: Iterable[Record]) -> None:
        """Stores records of any entities; those of one entity in one atomic step."""
        rows: dict[bytes, tuple[dict[bytes, bytes], list[bytes]]] = {}
        for record in records:
            self._add(rows, record)
        for row, (cells, clears) in rows.items():
            self._write(row, cells, clears)

    def delete(self, record: type[Record], *key: KeyValue) -> None:
        """Deletes one record by its class and its whole key."""
        declaration, tag = self._declared(record)
        row, prefix = self._place(declaration, tag, key)
        delete = Delete(row)
        for field in declaration.values:
            delete.column(prefix + field.name.encode())
        delete.column(prefix + MARKER)
        self._deletes.wait((row,))
        self.table.mutate(row, [delete])
        self._deletes.note((row,))

    def delete_entity(self, *entity_key: KeyValue) -> None:
        """Deletes everything of one entity."""
        row = self._entity.row_key(entity_key)
        self.table.delete(row)
        self._deletes.note((row,))

    def _add(
        self, rows: dict[bytes, tuple[dict[bytes, bytes], list[bytes]]], record: Record
    ) -> None:
        declaration, tag = self._declared(type(record))
        key = [getattr(record, field.name) for field in declaration.keys]
        row, prefix = self._place(declaration, tag, key)
        values, nulls = declaration.cells(record)
        cells, clears = rows.setdefault(row, ({}, []))
        for column, value in values.items():
            cells[prefix + column[len(_PREFIX) :]] = value
        # Of several records with one key the last counts.
        fresh = [prefix + column[len(_PREFIX) :] for column in nulls]
        for column in fresh:
            cells.pop(column, None)
        clears[:] = [column for column in (*clears, *fresh) if column not in cells]

    def _write(self, row: bytes, cells: dict[bytes, bytes], clears: list[bytes]) -> None:
        size = sum(len(row) + len(c) + len(v) + _CELL_BYTES for c, v in cells.items())
        self._deletes.wait((row,))
        for _ in range(_ATTEMPTS):
            if size > self._limit:
                break
            room = (self._limit - size).to_bytes(8, "big")
            steps: list[Mutation] = [Put(row, cells, clears=clears), Increment(row, {_SIZE: size})]
            fits = Check(_SIZE, CompareOp.GREATER_OR_EQUAL, room)
            if self.table.check_and_mutate(row, fits, steps) or self.table.check_and_mutate(
                row, Check.absent(_SIZE), steps
            ):
                if clears:
                    self._deletes.note((row,))
                return
            if not self._recount(row, size):
                break
        else:
            raise CheckFailed(
                f"row {row!r:.80} of table '{self.table.name}' was changed at every attempt",
                hint="try again when less is written to it",
            )
        raise InvalidRequest(
            f"the row {row!r:.80} of table '{self.table.name}' would hold more than"
            f" {self._limit:,} bytes",
            hint="keep the records in a table of their own class, or raise row_bytes",
        )

    def _recount(self, row: bytes, more: int) -> bool:
        """Counts what is really in a row; returns whether there is room for more."""
        found = self.table.get(row, (FAMILY.encode(),))
        if found is None:
            return True
        stored = found.value(_SIZE)
        size = sum(
            len(row) + len(cell[0]) + len(cell[2]) + _CELL_BYTES
            for cell in found.raw_cells
            if cell[0] != _SIZE
        )
        if stored is not None:
            check = Check.equal(_SIZE, stored)
            self.table.check_and_mutate(row, check, Put(row, {_SIZE: size.to_bytes(8, "big")}))
        return size + more <= self._limit

    # Places

    def _declared(self, record: type[Record]) -> tuple[Declaration, str]:
        tag = self._tags.get(record)
        if tag is None:
            names = ", ".join(kind.__name__ for kind in self._tags)
            raise InvalidRequest(
                f"{record.__name__} is not a class of table '{self.table.name}'",
                hint=f"its classes: {names}",
            )
        return self._kinds[tag], tag

    def _place(self, declaration: Declaration, tag: str, key: Sequence[Any]) -> tuple[bytes, bytes]:
        """Returns the row of a record, and what its columns begin with."""
        declaration.encode_parts(key, is_whole=True)  # checks all of it
        size = declaration.entity_size
        rest = []
        for field, value in zip(declaration.keys[size:], key[size:], strict=True):
            part = declaration.encode_key_part(field, value)
            rest.append(part if field.codec.width else escape(part) + b"\x00")
        prefix = _PREFIX + tag.encode() + b"\x00" + b"".join(rest)
        return self._entity.row_key(key[:size]), prefix

    def _decode(self, row: Row) -> WideEntity | None:
        key = self._entity.decode_key(row.key)
        parts: dict[str, dict[tuple[Any, ...], dict[str, bytes]]] = defaultdict(dict)
        for column, _, value, _ in row.raw_cells:
            first, _, rest = column[len(_PREFIX) :].partition(b"\x00")
            tag = first.decode(errors="replace")
            declaration = self._kinds.get(tag)
            if declaration is None:
                continue
            try:
                tail, field = _split(declaration, rest)
            except BadValue as exc:
                raise CorruptData(
                    f"row {row.key!r:.80} of table '{self.table.name}': column {column!r:.80} does"
                    f" not decode: {exc}",
                    hint="it was written by something else; delete it",
                ) from exc
            parts[tag].setdefault(tail, {})[field] = value
        records: dict[type, list[Any]] = {}
        for tag, kind in self._kinds.items():
            found = []
            for tail, values in parts[tag].items():
                record = kind.make(row.key, (*key, *tail), values)
                if record is not None:
                    found.append(record)
            if found:
                records[kind.record] = found  # in the order of columns, which is that of keys
        return WideEntity(key, records) if records else None


def _split(declaration: Declaration, rest: bytes) -> tuple[tuple[Any, ...], str]:
    """Returns the rest of a key, and the name of the field, of the end of a qualifier."""
    at, values = 0, []
    for field in declaration.keys[declaration.entity_size :]:
        width = field.codec.width
        if width is None:
            end = rest.find(0, at)
            if end < 0:
                raise BadValue("the end of a part of the key is missing")
            values.append(field.codec.decode(unescape(rest[at:end])))
            at = end + 1
        else:
            values.append(field.codec.decode(rest[at : at + width]))
            at += width
    return tuple(values), rest[at:].decode(errors="replace")


def _stored_fields(kinds: Mapping[str, Declaration]) -> dict[str, str]:
    fields = {}
    for tag, declaration in kinds.items():
        rest = declaration.keys[declaration.entity_size :]
        fields[f"{tag}/"] = ", ".join(f"{each.name}: {each.codec.name}" for each in rest)
        for field in declaration.values:
            fields[f"{tag}/{field.name}"] = field.codec.name
    return fields


def _check_kinds(table: str, kinds: Mapping[str, Declaration]) -> None:
    if not kinds:
        raise InvalidRequest(f"table '{table}' has no record classes", hint="give at least one")
    shapes = {
        tag: (
            [(field.name, field.codec.name) for field in each.keys[: each.entity_size]],
            each.partitions.count,
            each.partitions.partitioner.name,
        )
        for tag, each in kinds.items()
    }
    first = next(iter(shapes))
    for tag, shape in shapes.items():
        if not tag or "\x00" in tag:
            raise InvalidRequest(f"tag {tag!r} is not valid", hint="give a word without U+0000")
        if shape != shapes[first]:
            raise InvalidRequest(
                f"'{tag}' has not the entity key and partitions of '{first}'",
                hint="records of one entity have the same EntityKey fields, first in the class",
            )
        if kinds[tag].indexes:
            raise InvalidRequest(
                f"'{tag}' has indexes", hint="an entity in one row has none; use a Collection"
            )
