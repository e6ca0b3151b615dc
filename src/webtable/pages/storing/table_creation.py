"""Creates the tables of a store of pages, and missing index tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from webtable.errors import InvalidRequest, SchemaMismatch
from webtable.index.maintenance import build
from webtable.index.table import Index, IndexedTable, IndexState
from webtable.pages import schema
from webtable.pages.keys import SALT_SPLITS, KeyScheme, SaltedKeys
from webtable.store.schema import Family, TableSchema
from webtable.store.store import Store

__all__ = [
    "PlannedTable",
    "build_index",
    "check_foreign",
    "create_missing",
    "index_table",
    "unbuilt",
]


class PlannedTable(NamedTuple):
    """A table that a store of pages needs."""

    schema: TableSchema
    splits: Sequence[bytes] = ()


def index_table(
    index: Index, keys: KeyScheme, state: IndexState, *, is_embedded: bool
) -> PlannedTable:
    """Returns the table of an index."""
    described = schema.packed_schema(index.schema(state), is_embedded=is_embedded)
    splits = SALT_SPLITS if isinstance(keys, SaltedKeys) else ()
    return PlannedTable(described, index.splits or splits)


def check_foreign(store: Store, planned: Iterable[PlannedTable]) -> None:
    """Checks that no table of another application has one of these names.

    An empty table with exactly the planned schema counts as a part of a store of pages whose
    creation was interrupted.

    Raises:
        InvalidRequest: such tables exist; the message names all of them.
    """
    existing = set(store.tables())
    foreign = [
        each.schema.name
        for each in planned
        if each.schema.name in existing and not _is_ours(store, each.schema)
    ]
    if foreign:
        names = "', '".join(foreign)
        raise InvalidRequest(
            f"'{store.location}' has tables of other origin with the names of a store of pages:"
            f" '{names}'",
            hint="drop or rename them, or use another location (on HBase another namespace,"
            " ?namespace=NAME)",
        )


def _is_ours(store: Store, planned: TableSchema) -> bool:
    there = store.describe_table(planned.name)
    if list(map(_shape, there.families)) != list(map(_shape, planned.families)):
        return False
    if not planned.attributes.items() <= there.attributes.items():
        return False
    return next(store.table(planned.name).scan(limit=1), None) is None


def _shape(family: Family) -> tuple[object, ...]:
    return family.name, family.versions, family.min_versions, family.ttl_seconds


def create_missing(store: Store, planned: Iterable[PlannedTable]) -> None:
    """Creates the tables that do not exist."""
    existing = set(store.tables())
    for each in planned:
        if each.schema.name not in existing:
            store.create_table(each.schema, splits=each.splits)


def unbuilt(rows: IndexedTable) -> dict[str, str]:
    """Returns the indexes that queries cannot use, each with the reason."""
    existing, found = set(rows.store.tables()), {}
    for name, index in rows.indexes.items():
        if index.table not in existing:
            found[name] = f"its table '{index.table}' does not exist"
            continue
        try:
            if rows.state(name) != "ready":
                found[name] = "its build is not finished"
        except SchemaMismatch as error:
            found[name] = error.message
    return found


def build_index(rows: IndexedTable, keys: KeyScheme, name: str) -> int:
    """Rebuilds an index, and creates its table if it is missing; returns the number of pages."""
    index, store = rows.index(name), rows.store
    is_embedded = store.capabilities.atomic_commits
    if index.table in store.tables():
        rows.set_state(name, "building")
    else:
        rows.ready.discard(name)
        create_missing(store, [index_table(index, keys, "building", is_embedded=is_embedded)])
    return build(rows, name)
