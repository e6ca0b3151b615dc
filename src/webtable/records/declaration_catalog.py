"""The declarations of a store's record tables: one row a table in the table `webtable_records`.

    row                the table's name
    a:declaration      JSON: key fields with their types in order, how many of them are the entity
                       key, partitions, partitioner, every value field ever used with its type, the
                       indexes, and the schema and the split keys in hex that the class declares

Two classes that disagree about any of it but the schema cannot share a table; fields may be added
at any time. The schema is that of the class which opened the table last: the schema update compares
the table with it.
On-disk: changing this needs a new format version. Frozen by
tests/records/test_declaration_catalog.py. Stores of earlier versions have neither schema nor split
keys.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from webtable.errors import NotFound, ReadOnly, SchemaMismatch, TableExists, TableNotFound
from webtable.index.indexed_table import IndexedTable
from webtable.records.declaration import FAMILY, Declaration
from webtable.store.mutation import Check, Delete, Put
from webtable.store.schema import TableSchema
from webtable.store.store import Store
from webtable.store.table import Table

__all__ = [
    "CATALOG",
    "DeclaredTable",
    "Stored",
    "agree",
    "check_fits",
    "declared_table",
    "drop_index",
    "forget_fields",
    "open_indexes",
    "open_table",
    "stored_declaration",
    "stored_form",
    "stored_tables",
]

CATALOG = "webtable_records"
_COLUMN = b"a:declaration"


class Stored(msgspec.Struct, frozen=True):
    """A declaration as it is stored."""

    key: tuple[tuple[str, str], ...]
    entity: int
    partitions: int
    partitioner: str
    values: dict[str, str]
    indexes: dict[str, str] = {}
    schema: TableSchema | None = None
    splits: tuple[str, ...] = ()


class DeclaredTable(NamedTuple):
    """A table as a program declares it: to create the table, or to compare with the stored one."""

    declarer: str
    schema: TableSchema
    splits: Sequence[bytes]
    stored: Stored


def open_table(store: Store, declared: DeclaredTable, *, create: bool = True) -> Table:
    """Returns a table of records; creates it where it does not exist.

    Raises:
        TableNotFound: the table does not exist, and `create` is false.
        SchemaMismatch: it is another class's table.
    """
    name = declared.schema.name
    encoded = _read(store, name)
    try:
        schema = store.describe_table(name)
    except TableNotFound:
        if not create:
            raise
        if encoded is not None:
            # Of a table that was dropped since. Not if another process has just written it.
            check = Check.equal(_COLUMN, encoded)
            _catalog(store).check_and_mutate(name.encode(), check, Delete(name.encode()))
        with contextlib.suppress(TableExists):
            store.create_table(declared.schema, splits=declared.splits)
        schema = store.describe_table(name)
    _check_family(schema)
    with contextlib.suppress(ReadOnly):
        agree(store, declared)
    return store.table(name)


def declared_table(declaration: Declaration) -> DeclaredTable:
    """Returns the table that a record class declares."""
    return DeclaredTable(
        declaration.name,
        declaration.schema(),
        declaration.partitions.splits(),
        stored_form(declaration),
    )


def open_indexes(store: Store, declaration: Declaration, *, create: bool = True) -> IndexedTable:
    """Returns the table of a record class with its indexes, after making what is missing."""
    assert declaration.table is not None
    indexed = IndexedTable(
        store,
        declaration.table,
        [index.index for index in declaration.indexes],
        columns=(FAMILY.encode(),),
        renew=declaration.ttl_seconds is not None,
    )
    if create:
        with contextlib.suppress(ReadOnly):
            indexed.create_tables()
    return indexed


def drop_index(store: Store, table: str, name: str) -> None:
    """Drops an index of a record table. No process that declares it may write at that time.

    Raises:
        NotFound: the table has no such index.
    """
    while True:
        encoded = _read(store, table)
        stored = None if encoded is None else msgspec.json.decode(encoded, type=Stored)
        if encoded is None or stored is None or name not in stored.indexes:
            raise NotFound("index", name, stored.indexes if stored else ())
        left = {each: form for each, form in stored.indexes.items() if each != name}
        put = Put(
            table.encode(),
            {_COLUMN: msgspec.json.encode(msgspec.structs.replace(stored, indexes=left))},
        )
        if _catalog(store).check_and_mutate(put.row, Check.equal(_COLUMN, encoded), put):
            break
    with contextlib.suppress(TableNotFound):
        store.drop_table(name)


def stored_form(declaration: Declaration) -> Stored:
    """Returns what is to be stored of a declaration."""
    return Stored(
        key=tuple((field.name, field.codec.name) for field in declaration.keys),
        entity=declaration.entity_size,
        partitions=declaration.partitions.count,
        partitioner=declaration.partitions.partitioner.name,
        values={field.name: field.codec.name for field in declaration.values},
        indexes={index.name: index.form for index in declaration.indexes},
    )


def stored_declaration(store: Store, table: str) -> Stored | None:
    """Returns the stored declaration of a table, None if it has none."""
    encoded = _read(store, table)
    return None if encoded is None else msgspec.json.decode(encoded, type=Stored)


def forget_fields(store: Store, declaration: Declaration) -> None:
    """Forgets the fields that a class does not have, so that their names may get other types."""
    assert declaration.table is not None
    row, encoded = declaration.table.encode(), _read(store, declaration.table)
    declared = msgspec.json.encode(_with_schema(declared_table(declaration)))
    if encoded is not None and encoded != declared:
        put = Put(row, {_COLUMN: declared})
        _catalog(store).check_and_mutate(row, Check.equal(_COLUMN, encoded), put)


def stored_tables(store: Store) -> dict[str, Stored]:
    """Returns the stored declaration of every table of records, by the name of the table."""
    try:
        rows = list(store.table(CATALOG).scan(columns=(_COLUMN,)))
    except TableNotFound:
        return {}
    return {
        row.key.decode(): msgspec.json.decode(row.values()[_COLUMN], type=Stored) for row in rows
    }


def check_fits(store: Store, given: DeclaredTable) -> None:
    """Checks that a declaration fits the stored one; the options of its schema may differ.

    Raises:
        SchemaMismatch: keys, partitions, types of fields or indexes differ.
    """
    stored = stored_declaration(store, given.schema.name)
    if stored is not None:
        _compare(given.schema.name, given.declarer, stored, given.stored)
        _compare_indexes(given.schema.name, given.declarer, stored, given.stored)


def agree(store: Store, given: DeclaredTable) -> None:
    """Checks that the stored declaration fits, and adds to it what is new.

    Raises:
        SchemaMismatch: it does not fit.
    """
    table, declarer = given.schema.name, given.declarer
    declared = _with_schema(given)
    row = table.encode()
    while True:
        encoded = _read(store, table)
        joined = declared
        if encoded is None:
            check = Check.absent(_COLUMN)
        else:
            stored = msgspec.json.decode(encoded, type=Stored)
            _compare(table, declarer, stored, declared)
            _compare_indexes(table, declarer, stored, declared)
            joined = msgspec.structs.replace(declared, values={**stored.values, **declared.values})
            if joined == stored:
                return
            check = Check.equal(_COLUMN, encoded)
        put = Put(row, {_COLUMN: msgspec.json.encode(joined)})
        if _catalog(store).check_and_mutate(row, check, put):
            return


def _with_schema(given: DeclaredTable) -> Stored:
    splits = tuple(key.hex() for key in given.splits)
    return msgspec.structs.replace(given.stored, schema=given.schema, splits=splits)


def _compare(table: str, declarer: str, stored: Stored, declared: Stored) -> None:
    for what in ("key", "entity", "partitions", "partitioner"):
        theirs, ours = getattr(stored, what), getattr(declared, what)
        if theirs != ours:
            if what == "key":
                theirs, ours = (
                    ", ".join(f"{name}: {kind}" for name, kind in each) for each in (theirs, ours)
                )
            shown = "entity key size" if what == "entity" else what
            raise SchemaMismatch(
                f"table '{table}' was made with {shown} {theirs}, {declarer} declares {ours}",
                hint="use the class it was made with, or another table",
            )
    for name, kind in declared.values.items():
        stored_kind = stored.values.get(name, kind)
        if stored_kind != kind:
            raise SchemaMismatch(
                f"field '{name}' of table '{table}' is stored as {stored_kind}, "
                f"{declarer} declares {kind}",
                hint="give the new field another name, or remove the old one as a ghost first",
            )


def _compare_indexes(table: str, declarer: str, stored: Stored, declared: Stored) -> None:
    for name, form in stored.indexes.items():
        ours = declared.indexes.get(name)
        if ours is None:
            raise SchemaMismatch(
                f"table '{table}' has the index '{name}' by {form}, {declarer} does not declare it",
                hint="declare it, or drop it with `drop_index`: a writer must declare every index",
            )
        if ours != form:
            raise SchemaMismatch(
                f"index '{name}' of table '{table}' is by {form}, {declarer} declares {ours}",
                hint="give the new index another name, or drop the old one with `drop_index`",
            )


def _check_family(schema: TableSchema) -> None:
    if schema.family(FAMILY) is None:
        raise SchemaMismatch(
            f"table '{schema.name}' has no family '{FAMILY}', so it does not hold records",
            hint="choose another table for the class",
        )


def _read(store: Store, table: str) -> bytes | None:
    try:
        row = store.table(CATALOG).get(table.encode(), (_COLUMN,))
    except TableNotFound:
        return None
    return None if row is None else row.value(_COLUMN)


def _catalog(store: Store) -> Table:
    try:
        store.describe_table(CATALOG)
    except TableNotFound:
        with contextlib.suppress(TableExists):
            store.create_table(CATALOG, FAMILY)
    return store.table(CATALOG)
