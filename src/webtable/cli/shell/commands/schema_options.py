"""The options of `create` and `alter`: from hashes to families and tables.

An option that a family or table of ours has a field for is checked there; the others that HBase
has are stored under their names. Unknown options are named and left out, as in HBase's shell.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from webtable import Family, TableSchema
from webtable.cli.shell.language.ruby_constants import FOREVER
from webtable.cli.shell.language.ruby_values import (
    Value,
    inspect_value,
    to_bool,
    to_bytes,
    to_hash,
    to_int,
    to_list,
    to_text,
)
from webtable.errors import InvalidRequest

__all__ = ["TableOptions", "family_of", "parse_size", "parse_ttl", "split_keys"]

_UNITS = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
_SECONDS = {"DAY": 86_400, "HOUR": 3600, "MINUTE": 60, "SECOND": 1}
_SIZE = re.compile(r"(\d{1,19})\s*(B|KB|MB|GB|TB)\b")
_SPAN = re.compile(r"(\d{1,10})\s*(DAY|HOUR|MINUTE|SECOND)S?\b")
_ESCAPED = re.compile(rb"\\x([0-9A-Fa-f]{2})")

_KEPT_OF_FAMILY = {
    "BLOCKCACHE", "CACHE_BLOOMS_ON_WRITE", "CACHE_DATA_IN_L1", "CACHE_DATA_ON_WRITE",
    "CACHE_INDEX_ON_WRITE", "COMPRESSION_COMPACT", "COMPRESSION_COMPACT_MAJOR",
    "COMPRESSION_COMPACT_MINOR", "COMPRESS_TAGS", "DFS_REPLICATION", "EVICT_BLOCKS_ON_CLOSE",
    "INDEX_BLOCK_ENCODING", "IN_MEMORY_COMPACTION", "IS_MOB", "MOB_COMPACT_PARTITION_POLICY",
    "MOB_THRESHOLD", "NEW_VERSION_BEHAVIOR", "PREFETCH_BLOCKS_ON_OPEN", "REPLICATION_SCOPE",
    "STORAGE_POLICY",
}  # fmt: skip
_KEPT_OF_TABLE = {
    "COMPACTION_ENABLED", "DURABILITY", "ERASURE_CODING_POLICY", "FLUSH_POLICY",
    "MERGE_ENABLED", "NORMALIZATION_ENABLED", "NORMALIZER_TARGET_REGION_COUNT",
    "NORMALIZER_TARGET_REGION_SIZE_MB", "PRIORITY", "READONLY", "REGION_MEMSTORE_REPLICATION",
    "REGION_REPLICATION", "SPLIT_ENABLED", "SPLIT_POLICY",
}  # fmt: skip
_REFUSED = {
    "COPROCESSOR": "coprocessors run inside HBase's servers; use HBase's own shell",
    "ENCRYPTION": "encrypted families need the keys of the cluster; use HBase's own shell",
    "ENCRYPTION_KEY": "encrypted families need the keys of the cluster; use HBase's own shell",
}


def parse_size(value: Value, what: str) -> int:
    """Returns a size in bytes: a number, or text such as '128 MB' or '1GB 512MB'."""
    if isinstance(value, bytes) and not value.isdigit():
        return _units(value, what, _SIZE, _UNITS, "such as 134217728 or '128 MB'")
    return to_int(value, what)


def parse_ttl(value: Value) -> int | None:
    """Returns a time to live in seconds: a number, 'FOREVER' or text such as '1 DAY 2 HOURS'."""
    if isinstance(value, bytes):
        if value.upper() == b"FOREVER":
            return None
        if not value.isdigit():
            return _units(value, "TTL", _SPAN, _SECONDS, "such as 86400, '1 DAY' or FOREVER")
    seconds = to_int(value, "TTL")
    return None if seconds == FOREVER else seconds


def _units(value: bytes, what: str, form: re.Pattern[str], units: dict[str, int], hint: str) -> int:
    text = value.decode("utf-8", "replace").upper()
    found = form.findall(text)
    if not found or form.sub("", text).strip():
        raise InvalidRequest(f"{what} '{text:.60}' is not valid", hint=hint)
    return sum(int(number) * units[unit] for number, unit in found)


def _upper(value: Value, what: str) -> str:
    return "TRUE" if value is True else "FALSE" if value is False else to_text(value, what).upper()


_FAMILY_FIELDS: dict[str, tuple[str, Callable[[Value, str], object]]] = {
    "VERSIONS": ("versions", to_int),
    "MIN_VERSIONS": ("min_versions", to_int),
    "TTL": ("ttl_seconds", lambda value, _: parse_ttl(value)),
    "KEEP_DELETED_CELLS": ("keep_deleted_cells", _upper),
    "BLOOMFILTER": ("bloomfilter", _upper),
    "COMPRESSION": ("compression", _upper),
    "DATA_BLOCK_ENCODING": ("data_block_encoding", _upper),
    "BLOCKSIZE": ("blocksize", parse_size),
    "IN_MEMORY": ("in_memory", to_bool),
}


def family_of(given: Value, base: Family | None, warn: Callable[[str], None]) -> Family:
    """Returns the family that a name or a hash with NAME describes, based on an existing one.

    Args:
        warn: called with a message for each option that was left out.
    """
    if not isinstance(given, dict):
        return base or Family(name=to_text(given, "the family"))
    options = dict(given)
    name = to_text(options.pop("NAME", None), "NAME")
    changes: dict[str, Any] = {}
    attributes = dict(base.attributes) if base else {}
    for key, value in options.items():
        if key in _REFUSED:
            raise InvalidRequest(f"family '{name}' cannot have {key}", hint=_REFUSED[key])
        if key in _FAMILY_FIELDS:
            field, convert = _FAMILY_FIELDS[key]
            changes[field] = convert(value, key)
        elif not _keep(attributes, key, value, _KEPT_OF_FAMILY):
            warn(f"Unknown argument ignored for column family {name}: {key}")
    if base is None:
        return Family(name=name, attributes=attributes, **changes)
    return msgspec.structs.replace(base, attributes=attributes, **changes)


def _keep(attributes: dict[str, str], key: str, value: Value, stored: set[str]) -> bool:
    """Puts an option among the attributes; False when it is not a stored option."""
    if key in stored:
        attributes[key] = _attribute(value)
    elif key in ("METADATA", "CONFIGURATION"):
        for name, each in to_hash(value, key).items():
            if each is None:
                attributes.pop(name, None)
            else:
                attributes[name] = _attribute(each)
    else:
        return False
    return True


def _attribute(value: Value) -> str:
    return to_text(value, "an option") if isinstance(value, bytes) else inspect_value(value)


class TableOptions(NamedTuple):
    """The options of a table in a hash, apart from its families."""

    changes: dict[str, Any]
    attributes: dict[str, str]
    ignored: list[str]

    @classmethod
    def read(cls, options: dict[str, Value], base: TableSchema | None = None) -> TableOptions:
        """Reads a hash without NAME; unknown options come back in `ignored`."""
        read = cls({}, dict(base.attributes) if base else {}, [])
        for key, value in options.items():
            if key in _REFUSED or "coprocessor" in key.lower():
                hint = _REFUSED.get(key, _REFUSED["COPROCESSOR"])
                raise InvalidRequest(f"a table cannot have {key} here", hint=hint)
            if key in ("MAX_FILESIZE", "MEMSTORE_FLUSHSIZE"):
                read.changes[key.lower()] = parse_size(value, key)
            elif not _keep(read.attributes, key, value, _KEPT_OF_TABLE):
                read.ignored.append(key)
        return read


def split_keys(options: dict[str, Value], attributes: dict[str, str]) -> list[bytes]:
    """Takes the split keys out of a table's options and returns them.

    A file of them is noted among the attributes, as HBase does.
    """
    if "SPLITS_FILE" in options:
        path = to_text(options.pop("SPLITS_FILE"), "SPLITS_FILE")
        try:
            lines = Path(path).read_bytes().splitlines()
        except (OSError, ValueError) as exc:
            raise InvalidRequest(
                f"SPLITS_FILE '{path}' cannot be read",
                hint=getattr(exc, "strerror", None) or str(exc),
            ) from exc
        attributes["SPLITS_FILE"] = path
        return [_unescaped(line) for line in lines]
    if "SPLITS" in options:
        listed = to_list(options.pop("SPLITS"), "SPLITS")
        return [_unescaped(to_bytes(each, "a split key")) for each in listed]
    if "NUMREGIONS" in options or "SPLITALGO" in options:
        regions = to_int(options.pop("NUMREGIONS", None), "NUMREGIONS")
        return _computed(regions, to_text(options.pop("SPLITALGO", None), "SPLITALGO"))
    return []


def _unescaped(key: bytes) -> bytes:
    return _ESCAPED.sub(lambda found: bytes.fromhex(found[1].decode()), key)


def _computed(regions: int, algorithm: str) -> list[bytes]:
    if not 2 <= regions <= 100_000:
        raise InvalidRequest(f"NUMREGIONS {regions} is out of range", hint="from 2 to 100,000")
    numbers = range(1, regions)
    if algorithm == "HexStringSplit":
        return [b"%08x" % (number * (2**32 // regions)) for number in numbers]
    if algorithm == "DecimalStringSplit":
        return [b"%08d" % (number * (10**8 // regions)) for number in numbers]
    if algorithm == "UniformSplit":
        return [(number * (2**64 // regions)).to_bytes(8, "big") for number in numbers]
    raise InvalidRequest(
        f"SPLITALGO '{algorithm:.60}' is not valid",
        hint="HexStringSplit, DecimalStringSplit or UniformSplit",
    )
