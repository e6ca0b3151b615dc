"""Creates the tables of a store of pages, and missing index tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

from webtable.errors import InvalidRequest, SchemaMismatch
from webtable.index.build_and_verify import build
from webtable.index.indexed_table import Index, IndexedTable, IndexState
from webtable.pages import schema
from webtable.store.schema import Family, TableSchema
from webtable.store.store import Store

__all__ = [
    "PlannedTable",
    "add_http_family",
    "build_index",
    "check_foreign",
    "create_missing",
    "in_parallel",
    "index_table",
    "unbuilt",
]

T = TypeVar("T")


class PlannedTable(NamedTuple):
    """A table that a store of pages needs."""

    schema: TableSchema
    splits: Sequence[bytes] = ()


def index_table(index: Index, state: IndexState, *, is_embedded: bool) -> PlannedTable:
    """Returns the table of an index."""
    described = schema.packed_schema(index.schema(state), is_embedded=is_embedded)
    return PlannedTable(described, index.splits)


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
    """Creates the tables that do not exist, on a cluster all at the same time.

    If some cannot be created, the others are; the error is that of the first one.
    """
    existing = set(store.tables())
    missing = [each for each in planned if each.schema.name not in existing]

    def create(each: PlannedTable) -> None:
        store.create_table(each.schema, splits=each.splits)

    in_parallel(store, create, missing)


def in_parallel(store: Store, change: Callable[[T], None], items: Sequence[T]) -> None:
    """Changes some tables, on a cluster all at the same time: the master works on several.

    Every item is tried there; the error that is raised is that of the first one.
    """
    if not store.capabilities.cluster or len(items) <= 1:
        for item in items:
            change(item)
        return
    with ThreadPoolExecutor(len(items), thread_name_prefix="webtable-tables") as pool:
        changes = [pool.submit(change, item) for item in items]
    for done in changes:
        done.result()


def add_http_family(store: Store) -> None:
    """Adds the family of heads to the main table of a store of an older format.

    The heads of the captures that are stored already stay absent. Another call does nothing, so a
    process that was stopped can begin again.
    """
    described = store.describe_table(schema.TABLE)
    if described.family(schema.HTTP) is not None:
        return
    content = described.family(schema.CONTENT)
    seconds = None if content is None else content.ttl_seconds
    family = schema.http_family(seconds, is_embedded=store.capabilities.atomic_commits)
    store.alter_table(described.with_family(family))


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


def build_index(rows: IndexedTable, name: str) -> int:
    """Rebuilds an index, and creates its table if it is missing; returns the number of pages."""
    index, store = rows.index(name), rows.store
    is_embedded = store.capabilities.atomic_commits
    if index.table in store.tables():
        rows.set_state(name, "building")
    else:
        rows.ready.discard(name)
        create_missing(store, [index_table(index, "building", is_embedded=is_embedded)])
    return build(rows, name)
