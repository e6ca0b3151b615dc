"""The tables that are declared: by pages and links, by record classes, by the configuration.

The configuration may also declare options of tables that pages, links or records have; it counts.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from webtable.config import Config, FamilyOptions, TableOptions
from webtable.errors import InvalidRequest
from webtable.index.index_and_change import IndexState, state_setting
from webtable.links.link_index import LinkIndex
from webtable.operations.schema_update.statements import (
    FAMILY_FIELDS,
    TABLE_FIELDS,
    PutCell,
    Statement,
)
from webtable.pages.indexes import page_indexes
from webtable.pages.keys import SALT_SPLITS, SaltedKeys
from webtable.pages.schema import SETTINGS_TABLE, TABLE, Profile, pages_schema, settings_schema
from webtable.pages.settings import check_current, decode_settings, read_settings
from webtable.pages.storing.table_creation import PlannedTable, index_table
from webtable.records import Record
from webtable.records.declaration import FAMILY, Declaration
from webtable.records.declaration_catalog import CATALOG, check_fits, declared_table, stored_tables
from webtable.records.record import declaration_of
from webtable.store.schema import Family, TableSchema
from webtable.store.store import Store

__all__ = [
    "Declared",
    "configured_tables",
    "merged",
    "page_tables",
    "record_class",
    "record_tables",
]


class Declared(NamedTuple):
    """A table as it is declared.

    Attributes:
        schema: what a new table gets. Options of the table that are None are not compared.
        splits: the row keys at which it is split.
        silent: (family, field) of the options that are not declared, and so not compared.
        may_create: whether the table is created where it is missing.
        before: statements that must run before the table is created.
        advice: what to do after it was created.
    """

    schema: TableSchema
    splits: Sequence[bytes] = ()
    silent: frozenset[tuple[str, str]] = frozenset()
    may_create: bool = True
    before: tuple[Statement, ...] = ()
    advice: str = ""


# Pages and links


def page_tables(store: Store, profile: Profile | None = None) -> list[Declared]:
    """Returns the tables of pages and links; none where the store has no pages.

    Args:
        profile: that of the store; None: the one in its settings.

    Raises:
        SchemaMismatch: the creation of the store was interrupted.
        FormatVersionError: the pages have another format, and must be upgraded first.
    """
    values = read_settings(store)
    if not values:
        return []
    check_current(store, values)
    settings = decode_settings(values)
    is_embedded = store.capabilities.atomic_commits
    existing = set(store.tables())
    indexes = page_indexes(settings.keys, settings.suffixes)
    links: list[PlannedTable] = []
    if store.table(SETTINGS_TABLE).get(b"links") is not None:
        links = LinkIndex.planned_tables(is_embedded=is_embedded)
    derived = {*(index.table for index in indexes), *(each.schema.name for each in links)}
    # An index that is created beside pages has none of them until it is built.
    has_pages = TABLE in existing and not derived <= existing and not _is_empty(store, TABLE)
    state: IndexState = "building" if has_pages else "ready"
    main = pages_schema(profile or settings.profile, is_embedded=is_embedded)
    splits = SALT_SPLITS if isinstance(settings.keys, SaltedKeys) else ()
    declared = [Declared(settings_schema()), Declared(main, splits)]
    for index in indexes:
        planned = index_table(index, state, is_embedded=is_embedded)
        advice = f"fill it with `webtable index build {index.name}`" if has_pages else ""
        declared.append(Declared(_stateless(planned.schema, existing), index.splits, advice=advice))
    return [*declared, *_link_tables(links, existing, has_pages=has_pages)]


def _is_empty(store: Store, table: str) -> bool:
    return next(store.table(table).scan(limit=1), None) is None


def _link_tables(
    planned: Sequence[PlannedTable], existing: set[str], *, has_pages: bool
) -> list[Declared]:
    # As `LinkIndex.create` does: an index without all pages is marked as stale first.
    before: tuple[Statement, ...] = ()
    if has_pages and not {each.schema.name for each in planned} <= existing:
        before = (PutCell(SETTINGS_TABLE, b"links", b"a:state", b"stale"),)
    advice = "fill it with `webtable links rebuild`" if before else ""
    return [
        Declared(_stateless(each.schema, existing), each.splits, before=before, advice=advice)
        for each in planned
    ]


def _stateless(schema: TableSchema, existing: set[str]) -> TableSchema:
    """Returns a schema as it is compared: the state of an index is no declaration."""
    if schema.name not in existing:
        return schema
    prefix = state_setting("")
    kept = {key: text for key, text in schema.attributes.items() if not key.startswith(prefix)}
    return msgspec.structs.replace(schema, attributes=kept)


# Records


def record_tables(store: Store, classes: Iterable[type[Record]] = ()) -> list[Declared]:
    """Returns the tables of record classes, and those that the catalog of the store has.

    The catalog has the options of the class that opened a table last; a table that was dropped
    since is not created again.

    Raises:
        SchemaMismatch: a class disagrees with the store about what cannot be altered.
    """
    declared: dict[str, Declared] = {}
    for name, stored in stored_tables(store).items():
        if stored.schema is not None:
            splits = [bytes.fromhex(key) for key in stored.splits]
            declared[name] = Declared(stored.schema, splits, may_create=False)
    if declared:
        catalog = TableSchema(name=CATALOG, families=(Family(name=FAMILY),))
        declared = {CATALOG: Declared(catalog, may_create=False), **declared}
    for record in classes:
        given = declared_table(_with_table(record))
        check_fits(store, given)
        declared[given.schema.name] = Declared(given.schema, given.splits)
    return list(declared.values())


def _with_table(record: type[Record]) -> Declaration:
    declaration = declaration_of(record)
    if declaration.table is None:
        raise InvalidRequest(
            f"record class {declaration.name} has no table", hint='add table="…" to its line'
        )
    return declaration


def record_class(text: str) -> type[Record]:
    """Returns the record class of `MODULE:CLASS`.

    Raises:
        InvalidRequest: it cannot be imported, or is not a record class.
    """
    module, colon, name = text.partition(":")
    if not module or not colon or not name:
        raise InvalidRequest(f"'{text}' is not a record class", hint="write MODULE:CLASS")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as exc:
        raise InvalidRequest(
            f"record class '{text}' cannot be imported: {exc}",
            hint="name a module that can be imported from this folder, and a class of it",
        ) from exc
    if not isinstance(found, type) or not issubclass(found, Record):
        raise InvalidRequest(f"'{text}' is not a record class", hint="derive it from Record")
    return found


# The configuration


def configured_tables(config: Config) -> list[Declared]:
    """Returns the tables that a configuration declares.

    Raises:
        InvalidRequest: a name or an option is not valid.
    """
    return [_configured(name, options) for name, options in config.tables.items()]


def _configured(name: str, options: TableOptions) -> Declared:
    families: list[Family] = []
    silent: set[tuple[str, str]] = set()
    for family_name, given in options.families.items():
        named = _named(given)
        family = msgspec.structs.replace(
            Family(name=family_name, attributes=given.attributes), **named
        )
        families.append(family)
        for field in Family.__struct_fields__:
            if field not in ("name", "attributes") and field not in named:
                silent.add((family_name, field))
    schema = TableSchema(
        name=name,
        families=tuple(families),
        max_filesize=options.max_filesize,
        memstore_flushsize=options.memstore_flushsize,
        attributes=options.attributes,
    )
    return Declared(schema, [key.encode() for key in options.splits], frozenset(silent))


def merged(declared: Iterable[Declared]) -> list[Declared]:
    """Returns one declaration for each table; where two declare an option, the later one counts."""
    tables: dict[str, Declared] = {}
    for each in declared:
        earlier = tables.get(each.schema.name)
        tables[each.schema.name] = each if earlier is None else _joined(earlier, each)
    return list(tables.values())


def _joined(earlier: Declared, later: Declared) -> Declared:
    schema, silent = earlier.schema, set(earlier.silent)
    for family in later.schema.families:
        spoken = [field for field in FAMILY_FIELDS if (family.name, field) not in later.silent]
        found = schema.family(family.name)
        if found is None:
            schema = schema.with_family(family)
            silent |= {key for key in later.silent if key[0] == family.name}
            continue
        changes: dict[str, Any] = {field: getattr(family, field) for field in spoken}
        changes["attributes"] = {**found.attributes, **family.attributes}
        schema = schema.with_family(msgspec.structs.replace(found, **changes))
        silent -= {(family.name, field) for field in spoken}
    options = {field: getattr(later.schema, field) for field in TABLE_FIELDS}
    schema = msgspec.structs.replace(
        schema,
        attributes={**schema.attributes, **later.schema.attributes},
        **{field: value for field, value in options.items() if value is not None},
    )
    return earlier._replace(
        schema=schema,
        silent=frozenset(silent),
        splits=later.splits or earlier.splits,
        may_create=earlier.may_create or later.may_create,
    )


def _named(given: FamilyOptions) -> dict[str, Any]:
    """Returns the options that are given, by field of `Family`."""
    named = {
        field: value
        for field, value in msgspec.structs.asdict(given).items()
        if field != "attributes" and value is not None
    }
    if "ttl_seconds" in named:
        named["ttl_seconds"] = named["ttl_seconds"] or None  # TOML has no null: 0 means for ever
    return named
