"""Making the tables of a store of pages, and those of its indexes that are not there any more."""

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
    """A table that a store of pages is to have."""

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
    """Makes sure that no table of these names is anybody else's.

    One that is empty and has just the planned schema is taken for a part of a store whose making
    was interrupted.

    Raises:
        InvalidRequest: there are others; it names all of them.
    """
    known = set(store.tables())
    foreign = [
        each.schema.name
        for each in planned
        if each.schema.name in known and not _is_ours(store, each.schema)
    ]
    if foreign:
        names = "', '".join(foreign)
        raise InvalidRequest(
            f"'{store.location}' has tables of other origin with the names of a store of pages:"
            f" '{names}'",
            hint="drop or rename them, or take another location (on HBase another namespace,"
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
    """Creates the tables that are not there."""
    known = set(store.tables())
    for each in planned:
        if each.schema.name not in known:
            store.create_table(each.schema, splits=each.splits)


def unbuilt(rows: IndexedTable) -> dict[str, str]:
    """Returns the indexes that answer no questions, each with the reason."""
    known, found = set(rows.store.tables()), {}
    for name, index in rows.indexes.items():
        if index.table not in known:
            found[name] = f"its table '{index.table}' is not there"
            continue
        try:
            if rows.state(name) != "ready":
                found[name] = "it is not built to its end"
        except SchemaMismatch as error:
            found[name] = error.message
    return found


def build_index(rows: IndexedTable, keys: KeyScheme, name: str) -> int:
    """Builds an index anew, its table too where there is none; returns how many pages it is of."""
    index, store = rows.index(name), rows.store
    is_embedded = store.capabilities.atomic_commits
    if index.table in store.tables():
        rows.set_state(name, "building")
    else:
        rows.ready.discard(name)
        create_missing(store, [index_table(index, keys, "building", is_embedded=is_embedded)])
    return build(rows, name)
