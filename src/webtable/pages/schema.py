"""The tables of a store of pages: the main table, in two profiles, and the settings.

| family     | cells                                  | `live`               | `archive` |
|------------|----------------------------------------|----------------------|-----------|
| `content`  | html, the body as received; its digest | 3 versions, 90 days  | all       |
| `metadata` | values of the newest capture; rev      | 1, forever           | the same  |
| `outlinks` | urls, count; digest of their body      | 2 (1 kept), 180 days | all       |
| `inlinks`  | count                                  | 2 (1 kept), 180 days | all       |
| `captures` | a small cell for each capture          | 1, forever           | the same  |
| `http`     | head of the response of each capture   | 1, 90 days           | 1, forever |
| `facts`    | a cell for each distinct body          | 1, forever           | the same  |
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec.structs import replace

from webtable.store.schema import Compression, Family, TableSchema

__all__ = [
    "CAPTURES",
    "CONTENT",
    "FACTS",
    "HTTP",
    "METADATA",
    "OUTLINKS",
    "PROFILES",
    "SETTINGS_TABLE",
    "TABLE",
    "Profile",
    "facts_family",
    "http_family",
    "packed_schema",
    "pages_schema",
    "settings_schema",
]

Profile: TypeAlias = Literal["live", "archive"]

PROFILES: tuple[Profile, ...] = ("live", "archive")
TABLE = "webtable"
SETTINGS_TABLE = "webtable_settings"
CONTENT, METADATA, OUTLINKS, INLINKS, CAPTURES, HTTP, FACTS = (
    "content",
    "metadata",
    "outlinks",
    "inlinks",
    "captures",
    "http",
    "facts",
)

_DAY = 86_400
_ALL_VERSIONS = 2**31 - 1
# A large block compresses several bodies of a site, or versions of a page, together. Small blocks
# are for the columns that queries read of many pages.
_LARGE_BLOCK, _SMALL_BLOCK = 65_536, 16_384


def packed_schema(described: TableSchema, *, is_embedded: bool) -> TableSchema:
    """Returns the schema of an index table with compressed families: index keys are similar."""
    packed = _packing(is_embedded=is_embedded)
    families = [replace(family, compression=packed) for family in described.families]
    return replace(described, families=tuple(families))


def _packing(*, is_embedded: bool) -> Compression:
    # Region servers have GZ without further libraries; RocksDB has ZSTD, which is faster.
    return "ZSTD" if is_embedded else "GZ"


def pages_schema(profile: Profile, *, is_embedded: bool) -> TableSchema:
    """Returns the schema of the main table."""
    packed = _packing(is_embedded=is_embedded)
    if profile == "live":
        content = Family(
            name=CONTENT,
            versions=3,
            ttl_seconds=90 * _DAY,
            compression=packed,
            blocksize=_LARGE_BLOCK,
        )
        outlinks, inlinks = (
            Family(
                name=name,
                versions=2,
                min_versions=1,
                ttl_seconds=180 * _DAY,
                compression=packed,
                blocksize=_SMALL_BLOCK,
            )
            for name in (OUTLINKS, INLINKS)
        )
    else:
        content, outlinks, inlinks = (
            Family(name=name, versions=_ALL_VERSIONS, compression=packed, blocksize=block)
            for name, block in (
                (CONTENT, _LARGE_BLOCK),
                (OUTLINKS, _SMALL_BLOCK),
                (INLINKS, _SMALL_BLOCK),
            )
        )
    metadata, captures = (
        Family(name=name, compression=packed, data_block_encoding="FAST_DIFF")
        for name in (METADATA, CAPTURES)
    )
    families = (
        content,
        metadata,
        outlinks,
        inlinks,
        captures,
        http_family(content.ttl_seconds, is_embedded=is_embedded),
        facts_family(is_embedded=is_embedded),
    )
    return TableSchema(name=TABLE, families=families)


def http_family(content_seconds: int | None, *, is_embedded: bool) -> Family:
    """Returns the family of the heads of responses, which are stored as long as bodies."""
    return Family(
        name=HTTP,
        ttl_seconds=content_seconds,
        compression=_packing(is_embedded=is_embedded),
        # Heads of one site are nearly equal and compress together; they are rarely read.
        blocksize=4 * _LARGE_BLOCK,
    )


def facts_family(*, is_embedded: bool) -> Family:
    """Returns the family of facts, which stores of earlier formats do not have."""
    return Family(name=FACTS, compression=_packing(is_embedded=is_embedded), blocksize=_SMALL_BLOCK)


def settings_schema() -> TableSchema:
    """Returns the schema of the table with the settings of a store."""
    return TableSchema(name=SETTINGS_TABLE, families=(Family(name="a"),))
