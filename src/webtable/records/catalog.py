"""What a store knows of its record tables: one row a table in the table `webtable_records`.

    row                the table's name
    a:declaration      JSON: key fields with their types in order, how many of them are the entity
                       key, partitions, partitioner, the indexes, and every value field ever used
                       with its type

Two classes that disagree about any of it cannot share a table; fields may be added at any time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from webtable.errors import NotFound, ReadOnly, SchemaMismatch, TableExists, TableNotFound
from webtable.index.table import IndexedTable
from webtable.records.declaration import FAMILY, Declaration
from webtable.store.mutation import Check, Delete, Put
from webtable.store.schema import TableSchema
from webtable.store.store import Store
from webtable.store.table import Table

__all__ = [
    "CATALOG",
    "Stored",
    "Wanted",
    "drop_index",
    "forget_fields",
    "open_indexes",
    "open_table",
    "stored_declaration",
    "stored_form",
    "wanted_table",
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


class Wanted(NamedTuple):
    """A table as somebody declares it: for the case that there is none, and to be compared."""

    who: str
    schema: TableSchema
    splits: Sequence[bytes]
    stored: Stored


def open_table(store: Store, wanted: Wanted, *, create: bool = True) -> Table:
    """Returns a table of records, after making it where there is none.

    Raises:
        TableNotFound: there is none, and it was not to be made.
        SchemaMismatch: it is another class's table, or has other options.
    """
    name = wanted.schema.name
    known = _read(store, name)
    try:
        schema = store.describe_table(name)
    except TableNotFound:
        if not create:
            raise
        if known is not None:
            # Of a table that was dropped since. Not if another process has just written it.
            check = Check.equal(_COLUMN, known)
            _catalog(store).check_and_mutate(name.encode(), check, Delete(name.encode()))
        with contextlib.suppress(TableExists):
            store.create_table(wanted.schema, splits=wanted.splits)
        schema = store.describe_table(name)
    _check_options(wanted, schema)
    with contextlib.suppress(ReadOnly):
        _agree(store, name, wanted.who, wanted.stored)
    return store.table(name)


def wanted_table(declaration: Declaration) -> Wanted:
    """Returns the table that a record class declares."""
    return Wanted(
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
    """Drops an index of a record table. No process that knows it may write at that time.

    Raises:
        NotFound: the table has no such index.
    """
    while True:
        known = _read(store, table)
        stored = None if known is None else msgspec.json.decode(known, type=Stored)
        if known is None or stored is None or name not in stored.indexes:
            raise NotFound("index", name, stored.indexes if stored else ())
        left = {each: form for each, form in stored.indexes.items() if each != name}
        put = Put(
            table.encode(),
            {_COLUMN: msgspec.json.encode(msgspec.structs.replace(stored, indexes=left))},
        )
        if _catalog(store).check_and_mutate(put.row, Check.equal(_COLUMN, known), put):
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
    """Returns what is stored of a table's declaration, None if nothing is."""
    known = _read(store, table)
    return None if known is None else msgspec.json.decode(known, type=Stored)


def forget_fields(store: Store, declaration: Declaration) -> None:
    """Forgets the fields that a class does not have, so that their names may get other types."""
    assert declaration.table is not None
    row, known = declaration.table.encode(), _read(store, declaration.table)
    wanted = msgspec.json.encode(stored_form(declaration))
    if known is not None and known != wanted:
        put = Put(row, {_COLUMN: wanted})
        _catalog(store).check_and_mutate(row, Check.equal(_COLUMN, known), put)


def _agree(store: Store, table: str, who: str, wanted: Stored) -> None:
    """Makes sure that the stored declaration fits, and adds to it what is new.

    Raises:
        SchemaMismatch: it does not fit.
    """
    row = table.encode()
    while True:
        known = _read(store, table)
        joined = wanted
        if known is None:
            check = Check.absent(_COLUMN)
        else:
            stored = msgspec.json.decode(known, type=Stored)
            _compare(table, who, stored, wanted)
            _compare_indexes(table, who, stored, wanted)
            joined = msgspec.structs.replace(wanted, values={**stored.values, **wanted.values})
            if joined == stored:
                return
            check = Check.equal(_COLUMN, known)
        put = Put(row, {_COLUMN: msgspec.json.encode(joined)})
        if _catalog(store).check_and_mutate(row, check, put):
            return


def _compare(table: str, who: str, stored: Stored, wanted: Stored) -> None:
    for what in ("key", "entity", "partitions", "partitioner"):
        theirs, ours = getattr(stored, what), getattr(wanted, what)
        if theirs != ours:
            if what == "key":
                theirs, ours = (
                    ", ".join(f"{name}: {kind}" for name, kind in each) for each in (theirs, ours)
                )
            shown = "entity key size" if what == "entity" else what
            raise SchemaMismatch(
                f"table '{table}' was made with {shown} {theirs}, {who} declares {ours}",
                hint="use the class it was made with, or another table",
            )
    for name, kind in wanted.values.items():
        known = stored.values.get(name, kind)
        if known != kind:
            raise SchemaMismatch(
                f"field '{name}' of table '{table}' is stored as {known}, {who} declares {kind}",
                hint="give the new field another name, or clean the old one away as a ghost first",
            )


def _compare_indexes(table: str, who: str, stored: Stored, wanted: Stored) -> None:
    for name, form in stored.indexes.items():
        declared = wanted.indexes.get(name)
        if declared is None:
            raise SchemaMismatch(
                f"table '{table}' has the index '{name}' by {form}, {who} does not declare it",
                hint="declare it, or drop it with `drop_index`: who writes must know every index",
            )
        if declared != form:
            raise SchemaMismatch(
                f"index '{name}' of table '{table}' is by {form}, {who} declares {declared}",
                hint="give the new index another name, or drop the old one with `drop_index`",
            )


def _check_options(wanted: Wanted, schema: TableSchema) -> None:
    family, declared = schema.family(FAMILY), wanted.schema.family(FAMILY)
    assert declared is not None
    if family is None:
        raise SchemaMismatch(
            f"table '{schema.name}' has no family '{FAMILY}', so it does not hold records",
            hint="choose another table for the class",
        )
    for option in ("ttl_seconds", "versions"):
        has, wants = getattr(family, option), getattr(declared, option)
        if has != wants:
            raise SchemaMismatch(
                f"table '{schema.name}' has {option} {has}, {wanted.who} declares {wants}",
                hint="alter the table or change the class",
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
