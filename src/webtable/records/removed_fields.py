"""Ghost fields: cells of fields that a record class had once and has no more.

A record is written with the fields that its class has. Cells of a field that was removed from
the class stay in the table, unseen, and cost room. They are found by a scan of the whole table,
and cleaned at the version that was found: what another program writes meanwhile stays.
"""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Iterator
from typing import NamedTuple

from webtable.errors import InvalidRequest
from webtable.records.declaration import FAMILY, Declaration
from webtable.records.declaration_catalog import forget_fields
from webtable.records.record import declaration_of
from webtable.store.cells_and_rows import Row
from webtable.store.mutation import Delete
from webtable.store.scan import Scan
from webtable.store.store import Store

__all__ = ["Ghost", "clean_ghosts", "find_ghosts"]

_OWN = f"{FAMILY}:.".encode()  # what the index machinery keeps in a row


class Ghost(NamedTuple):
    """A field that no class has: its name, in how many records it is, and one of their rows."""

    name: str
    records: int
    row: bytes


def find_ghosts(store: Store, record: type) -> list[Ghost]:
    """Returns the ghost fields of a record class's table, by name. Reads the whole table."""
    counts: dict[bytes, int] = {}
    rows: dict[bytes, bytes] = {}
    declaration = _declaration(record)
    for row, columns in _ghostly(store, declaration):
        for column, _ in columns:
            counts[column] = counts.get(column, 0) + 1
            rows.setdefault(column, row.key)
    return [Ghost(_name(column), counts[column], rows[column]) for column in sorted(counts)]


def clean_ghosts(store: Store, record: type, names: Names[str] = ()) -> list[Ghost]:
    """Deletes the cells of ghost fields, or of those named, and returns what they were.

    Every program that still declares a field must have ended, or it writes new ones.
    """
    declaration = _declaration(record)
    declared = {field.name for field in declaration.fields}
    if wrong := sorted(declared.intersection(names)):
        raise InvalidRequest(
            f"'{wrong[0]}' is a field of {declaration.name}, not a ghost",
            hint="take it out of the class first",
        )
    counts: dict[bytes, int] = {}
    rows: dict[bytes, bytes] = {}
    assert declaration.table is not None
    with store.table(declaration.table).batch() as batch:
        for row, columns in _ghostly(store, declaration):
            delete = Delete(row.key)
            for column, timestamp in columns:
                if not names or _name(column) in names:
                    delete.column(column, timestamp)
                    counts[column] = counts.get(column, 0) + 1
                    rows.setdefault(column, row.key)
            if delete.markers:
                batch.add(delete)
    if not names:
        forget_fields(store, declaration)
    return [Ghost(_name(column), counts[column], rows[column]) for column in sorted(counts)]


def _declaration(record: type) -> Declaration:
    declaration = declaration_of(record)
    if declaration.table is None:
        raise InvalidRequest(
            f"record class {declaration.name} has no table", hint='add table="…" to its line'
        )
    return declaration


def _ghostly(
    store: Store, declaration: Declaration
) -> Iterator[tuple[Row, list[tuple[bytes, int]]]]:
    assert declaration.table is not None
    keys_only = "KeyOnlyFilter()" if store.capabilities.cluster else None
    scan = Scan(columns=(FAMILY.encode(),), filter=keys_only, ordered=False)
    columns = declaration.columns
    for row in store.table(declaration.table).scan(scan):
        ghosts = [
            (cell[0], cell[1])
            for cell in row.raw_cells
            if cell[0] not in columns and not cell[0].startswith(_OWN)
        ]
        if ghosts:
            yield row, ghosts


def _name(column: bytes) -> str:
    return column.partition(b":")[2].decode(errors="backslashreplace")
