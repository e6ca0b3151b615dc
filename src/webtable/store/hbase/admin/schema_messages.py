"""Schemas as HBase writes them: attributes and settings of a table and its families, as text.

What `Family` and `TableSchema` have no field for is stored in their `attributes`. HBase has two
kinds, attributes (`NEW_VERSION_BEHAVIOR`) and settings (`hbase.hstore.time.to.purge.deletes`); a
name with a dot is a setting. What the server adds by itself, at its default, is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from webtable.errors import InvalidRequest
from webtable.store.hbase.proto import base_pb2
from webtable.store.schema import Family, TableSchema

__all__ = ["schema_from_message", "schema_to_message"]

FOREVER = 2**31 - 1

# Field of `Family` → HBase's name, and how its text is read.
_FAMILY_FIELDS: dict[str, tuple[str, Callable[[str], object]]] = {
    "versions": ("VERSIONS", int),
    "min_versions": ("MIN_VERSIONS", int),
    "keep_deleted_cells": ("KEEP_DELETED_CELLS", str.upper),
    "bloomfilter": ("BLOOMFILTER", str.upper),
    "compression": ("COMPRESSION", str.upper),
    "data_block_encoding": ("DATA_BLOCK_ENCODING", str.upper),
    "blocksize": ("BLOCKSIZE", int),
    "in_memory": ("IN_MEMORY", lambda text: text.lower() == "true"),
}
_TABLE_FIELDS = {"max_filesize": "MAX_FILESIZE", "memstore_flushsize": "MEMSTORE_FLUSHSIZE"}

# Written by the server into every descriptor, with the values that mean nothing special.
_FAMILY_DEFAULTS = {
    "BLOCKCACHE": "true",
    "REPLICATION_SCOPE": "0",
    "NEW_VERSION_BEHAVIOR": "false",
    "CACHE_DATA_ON_WRITE": "false",
    "CACHE_INDEX_ON_WRITE": "false",
    "CACHE_BLOOMS_ON_WRITE": "false",
    "EVICT_BLOCKS_ON_CLOSE": "false",
    "INDEX_BLOCK_ENCODING": "NONE",
    "PREFETCH_BLOCKS_ON_OPEN": "false",
}
_TABLE_DEFAULTS = {"IS_META": "false", "hbase.store.file-tracker.impl": "DEFAULT"}


def schema_to_message(schema: TableSchema, name: base_pb2.TableName) -> base_pb2.TableSchema:
    """Returns a schema as the master takes it."""
    message = base_pb2.TableSchema(table_name=name)
    for field, attribute in _TABLE_FIELDS.items():
        value = getattr(schema, field)
        if value is not None:
            _add(message, attribute, str(value))
    for attribute, text in schema.attributes.items():
        _add(message, attribute, text)
    for family in schema.families:
        into = message.column_families.add(name=family.name.encode())
        for field, (attribute, _) in _FAMILY_FIELDS.items():
            value = getattr(family, field)
            _add(into, attribute, str(value).lower() if isinstance(value, bool) else str(value))
        _add(into, "TTL", str(family.ttl_seconds or FOREVER))
        for attribute, text in family.attributes.items():
            _add(into, attribute, text)
    return message


def schema_from_message(message: base_pb2.TableSchema, name: str) -> TableSchema:
    """Returns the schema that the master describes.

    Raises:
        InvalidRequest: it has values that this version does not support.
    """
    rest = _texts(message)
    fields = {
        field: _read(name, attribute, int, rest.pop(attribute))
        for field, attribute in _TABLE_FIELDS.items()
        if attribute in rest
    }
    families = tuple(_family(name, family) for family in message.column_families)
    attributes = _without(rest, _TABLE_DEFAULTS)
    return TableSchema(name=name, families=families, attributes=attributes, **fields)  # type: ignore[arg-type]


def _family(table: str, message: base_pb2.ColumnFamilySchema) -> Family:
    rest = _texts(message)
    fields = {
        field: _read(table, attribute, read, rest.pop(attribute))
        for field, (attribute, read) in _FAMILY_FIELDS.items()
        if attribute in rest
    }
    ttl = rest.pop("TTL", "FOREVER")
    seconds = FOREVER if ttl.upper() == "FOREVER" else _read(table, "TTL", int, ttl)
    fields["ttl_seconds"] = None if seconds == FOREVER else seconds
    attributes = _without(rest, _FAMILY_DEFAULTS)
    return Family(name=message.name.decode(), attributes=attributes, **fields)  # type: ignore[arg-type]


def _add(message: base_pb2.TableSchema | base_pb2.ColumnFamilySchema, name: str, text: str) -> None:
    if "." in name:
        message.configuration.add(name=name, value=text)
    else:
        message.attributes.add(first=name.encode(), second=text.encode())


def _texts(message: base_pb2.TableSchema | base_pb2.ColumnFamilySchema) -> dict[str, str]:
    texts = {
        pair.first.decode("utf-8", "replace"): pair.second.decode("utf-8", "replace")
        for pair in message.attributes
    }
    texts.update((pair.name, pair.value) for pair in message.configuration)
    return texts


def _without(texts: Mapping[str, str], defaults: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in texts.items() if text != defaults.get(name)}


def _read(table: str, attribute: str, read: Callable[[str], object], text: str) -> object:
    try:
        return read(text)
    except ValueError as exc:
        raise InvalidRequest(
            f"{attribute} of table '{table}' is '{text}'", hint="this version cannot read that"
        ) from exc
