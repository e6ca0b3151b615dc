"""The text of `describe`: tables and families as HBase 2.6 writes them, its defaults included."""

from __future__ import annotations

from collections.abc import Iterable

from webtable import Family, TableSchema

__all__ = ["describe_family", "describe_table", "java_order"]

# HBase writes them into every table it makes.
_TABLE_DEFAULTS = {"hbase.store.file-tracker.impl": "DEFAULT"}
_FAMILY_DEFAULTS = {"INDEX_BLOCK_ENCODING": "NONE", "REPLICATION_SCOPE": "0", "BLOCKCACHE": "true"}
_FAMILY_WORDS = {
    "BLOCKCACHE", "BLOCKSIZE", "BLOOMFILTER", "COMPRESSION", "DATA_BLOCK_ENCODING",
    "INDEX_BLOCK_ENCODING", "IN_MEMORY", "IS_MOB", "KEEP_DELETED_CELLS", "MIN_VERSIONS",
    "MOB_COMPACT_PARTITION_POLICY", "MOB_THRESHOLD", "REPLICATION_SCOPE", "TTL", "VERSIONS",
}  # fmt: skip
_TABLE_WORDS = {
    "DURABILITY", "ERASURE_CODING_POLICY", "MAX_FILESIZE", "MEMSTORE_FLUSHSIZE", "PRIORITY",
    "READONLY", "REGION_REPLICATION",
}  # fmt: skip
_SIZES = ((2**40, "TB"), (2**30, "GB"), (2**20, "MB"), (2**10, "KB"), (1, "B"))
_SPANS = ((86_400, "DAY"), (3600, "HOUR"), (60, "MINUTE"), (1, "SECOND"))


def describe_table(schema: TableSchema) -> str:
    """Returns a table's name and options in one line."""
    options = {**_TABLE_DEFAULTS, **schema.attributes}
    for name in ("max_filesize", "memstore_flushsize"):
        if (size := getattr(schema, name)) is not None:
            options[name.upper()] = _size(size)
    parts = [_pair(name, options[name]) for name in sorted(options) if name in _TABLE_WORDS]
    others = sorted(name for name in options if name not in _TABLE_WORDS)
    parts += _metadata(options, others)
    return f"{schema.name}, {{TABLE_ATTRIBUTES => {{{', '.join(parts)}}}}}"


def describe_family(family: Family) -> str:
    """Returns a family and its options in one line."""
    options = {**_FAMILY_DEFAULTS, **family.attributes} | {
        "VERSIONS": str(family.versions),
        "KEEP_DELETED_CELLS": family.keep_deleted_cells,
        "DATA_BLOCK_ENCODING": family.data_block_encoding,
        "TTL": "FOREVER" if family.ttl_seconds is None else _span(family.ttl_seconds),
        "MIN_VERSIONS": str(family.min_versions),
        "BLOOMFILTER": family.bloomfilter,
        "IN_MEMORY": str(family.in_memory).lower(),
        "COMPRESSION": family.compression,
        "BLOCKSIZE": _size(family.blocksize),
    }
    parts = [_pair("NAME", family.name)]
    names = java_order(options, size=32)
    parts += [_pair(name, options[name]) for name in names if name in _FAMILY_WORDS]
    parts += _metadata(options, [name for name in names if name not in _FAMILY_WORDS])
    return f"{{{', '.join(parts)}}}"


def _pair(name: str, value: str) -> str:
    return f"{name} => '{value}'"


def _metadata(options: dict[str, str], names: list[str]) -> list[str]:
    pairs = ", ".join(f"'{name}' => '{options[name]}'" for name in names)
    return [f"METADATA => {{{pairs}}}"] if names else []


def _size(size: int) -> str:
    if size < 1024:
        return f"{size} B"
    parts, rest = [], size
    for unit, word in _SIZES:
        if rest >= unit:
            parts.append(f"{rest // unit}{word}")
            rest %= unit
    return f"{size} B ({' '.join(parts)})"


def _span(seconds: int) -> str:
    def plural(number: int, word: str) -> str:
        return f"{number} {word}{'' if number == 1 else 'S'}"

    if seconds < 60:
        return plural(seconds, "SECOND")
    parts, rest = [], seconds
    for unit, word in _SPANS:
        if rest >= unit:
            parts.append(plural(rest // unit, word))
            rest %= unit
    return f"{seconds} SECONDS ({' '.join(parts)})"


def java_order(names: Iterable[str], seed: int = 1, size: int = 16) -> list[str]:
    """Returns names in the order in which a Java `HashMap` has them.

    HBase prints a family's options in that order.

    Args:
        seed: 1 for keys that are HBase's `Bytes`, 0 for strings.
        size: how many buckets the map has at least.
    """
    listed = list(names)
    while len(listed) > size * 3 // 4:
        size *= 2

    def bucket(name: str) -> int:
        number = seed
        for byte in name.encode():
            signed = byte - 256 if byte > 127 else byte
            number = (31 * number + signed) & 0xFFFFFFFF
        return (number ^ number >> 16) & (size - 1)

    return sorted(listed, key=bucket)
