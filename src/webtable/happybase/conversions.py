"""Forms of arguments and results: text as bytes, and families as happybase writes them."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, SupportsIndex, TypeAlias

from webtable.errors import InvalidRequest
from webtable.store.admin_results import Region
from webtable.store.schema import Family

__all__ = [
    "Text",
    "as_bytes",
    "as_columns",
    "as_integer",
    "as_text",
    "family_of",
    "options_of",
    "region_of",
]

Text: TypeAlias = str | bytes
"""Names and values: bytes, or text, which is stored as UTF-8."""

FOREVER = 2**31 - 1
_NB = "bloom_filter_nb_hashes"
_VECTOR = "bloom_filter_vector_size"

# The gateway's values of options that a program leaves out. They are not HBase's own defaults.
_DEFAULTS: Mapping[str, object] = {
    "max_versions": 3,
    "compression": "NONE",
    "in_memory": False,
    "bloom_filter_type": "NONE",
    _VECTOR: 0,
    _NB: 0,
    "block_cache_enabled": False,
    "time_to_live": -1,
}


def as_bytes(text: Text) -> bytes:
    """Returns bytes as they are, and text as UTF-8.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(text, bytes):
        return text
    if isinstance(text, str):
        return text.encode()
    if isinstance(text, (bytearray, memoryview)):
        return bytes(text)
    raise TypeError(f"input must be a text or byte string, got {type(text).__name__}")


def as_integer(given: SupportsIndex, message: str) -> int:
    """Returns a whole number of any kind, numpy's too, as an `int`.

    Raises:
        TypeError: the value is of another type; `message` is its text.
    """
    try:
        return int(operator.index(given))  # of True, `index` makes nothing else
    except TypeError:
        raise TypeError(message) from None


def as_columns(columns: Sequence[Text] | None) -> tuple[bytes, ...]:
    """Returns the columns to read; none of them means all.

    Raises:
        TypeError: it is not a list or tuple, or holds something else than names.
    """
    if columns is None:
        return ()
    if not isinstance(columns, (tuple, list)):
        raise TypeError("'columns' must be a tuple or list")
    return tuple(as_bytes(column) for column in columns)


def family_of(name: Text, options: Mapping[str, object] | None) -> Family:
    """Returns the family that a name and its options describe.

    Raises:
        TypeError: there is no such option, or it is of a wrong kind.
        InvalidRequest: HBase would not take the family.
    """
    # None meant to leave a field out of what the gateway was sent.
    given = {option: value for option, value in (options or {}).items() if option != "name"}
    for option in given:
        if option not in _DEFAULTS:
            raise TypeError(
                f"family {name!r} has an unknown option {option!r}; known: {', '.join(_DEFAULTS)}"
            )
    chosen: dict[str, Any] = {
        option: default if given.get(option) is None else given[option]
        for option, default in _DEFAULTS.items()
    }
    for option in ("max_versions", "time_to_live"):
        message = f"option '{option}' of family {name!r} must be an integer"
        chosen[option] = as_integer(chosen[option], message)
    for option in ("compression", "bloom_filter_type"):
        if not isinstance(chosen[option], (str, bytes)):
            raise TypeError(f"option '{option}' of family {name!r} must be text")
    ttl = chosen["time_to_live"]
    return Family(  # checks what it is given
        name=as_text(name).partition(":")[0],  # as the gateway took names, qualifier and all
        versions=chosen["max_versions"],
        compression=as_text(chosen["compression"]).upper(),  # type: ignore[arg-type]
        in_memory=bool(chosen["in_memory"]),
        bloomfilter=as_text(chosen["bloom_filter_type"]),  # type: ignore[arg-type]
        ttl_seconds=ttl if ttl > 0 and ttl != FOREVER else None,
        attributes={"BLOCKCACHE": str(bool(chosen["block_cache_enabled"])).lower()},
    )


def options_of(family: Family) -> dict[str, Any]:
    """Returns a family's options as `Table.families` shows them."""
    return {
        "name": family.name.encode() + b":",
        "max_versions": family.versions,
        "compression": family.compression.encode(),
        "in_memory": family.in_memory,
        "bloom_filter_type": family.bloomfilter.encode(),
        _VECTOR: 0,
        _NB: 0,
        "block_cache_enabled": family.attributes.get("BLOCKCACHE", "true").lower() == "true",
        "time_to_live": family.ttl_seconds or FOREVER,
    }


def region_of(region: Region) -> dict[str, Any]:
    """Returns a region as `Table.regions` shows it."""
    # A server's name is `host,port,start code`, that of the embedded engine only a name.
    host, _, rest = (region.server or "").partition(",")
    port = rest.partition(",")[0]
    # A region's whole name is `table,start key,id.short name.`; the id is its time of creation.
    number = region.full_name.rpartition(b",")[2].partition(b".")[0]
    return {
        "start_key": region.start,
        "end_key": region.stop,
        "id": int(number) if number.isdigit() else 0,
        "name": region.full_name,
        "version": 1,
        "server_name": host.encode(),
        "port": int(port) if port.isdigit() else 0,
    }


def as_text(name: Text) -> str:
    """Returns text as it is, and bytes as the UTF-8 that they are.

    Raises:
        InvalidRequest: they are not.
    """
    if isinstance(name, str):
        return name
    try:
        return as_bytes(name).decode()
    except UnicodeDecodeError as exc:
        raise InvalidRequest(f"name {name!r:.80} is not text", hint="use UTF-8") from exc
