"""Tables and families as they are declared: names and the options that HBase has.

A schema is a frozen value; `create_table` and `alter_table` take one, `describe_table` gives one.
Options that only matter to a cluster (bloom filters, block encoding …) are stored by the embedded
engine as well, so that a table moves between engines unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias, get_args

import msgspec

from webtable.errors import InvalidRequest

__all__ = ["Family", "KeepDeletedCells", "TableSchema", "check_splits", "check_table_name"]

BloomFilter: TypeAlias = Literal["NONE", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH"]
Compression: TypeAlias = Literal[
    "NONE", "GZ", "SNAPPY", "LZO", "LZ4", "BZIP2", "ZSTD", "LZMA", "BROTLI"
]
BlockEncoding: TypeAlias = Literal["NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"]
KeepDeletedCells: TypeAlias = Literal["FALSE", "TRUE", "TTL"]

MAX_FAMILY_BYTES = 127  # HBase stores the length of the family in one signed byte.
MAX_TTL_SECONDS = 2**31 - 1  # HBase's FOREVER
_TABLE_NAME = re.compile(r"(?:[A-Za-z0-9_]+:)?[A-Za-z0-9_][A-Za-z0-9_.-]*")


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """A column family and its options; the names in capitals are HBase's.

    Attributes:
        name: the family's name, printable, without `:` and `/`.
        versions: VERSIONS, the number of versions kept of each column.
        min_versions: MIN_VERSIONS, how many of them outlive the TTL.
        ttl_seconds: TTL; None means for ever.
        keep_deleted_cells: KEEP_DELETED_CELLS, whether reads of an earlier time range see past
            delete markers, and major compaction keeps what they hide.
        bloomfilter, compression, data_block_encoding, blocksize, in_memory: as in HBase.
        attributes: further options by their HBase names, stored unchanged.
    """

    name: str
    versions: int = 1
    min_versions: int = 0
    ttl_seconds: int | None = None
    keep_deleted_cells: KeepDeletedCells = "FALSE"
    bloomfilter: BloomFilter = "ROW"
    compression: Compression = "NONE"
    data_block_encoding: BlockEncoding = "NONE"
    blocksize: int = 65_536
    in_memory: bool = False
    attributes: Mapping[str, str] = {}

    def __post_init__(self) -> None:
        _check_family_name(self.name)
        _choice(self, "keep_deleted_cells", KeepDeletedCells)
        _choice(self, "bloomfilter", BloomFilter)
        _choice(self, "compression", Compression)
        _choice(self, "data_block_encoding", BlockEncoding)
        _number(self, "versions", 1, 2**31 - 1)
        _number(self, "min_versions", 0, self.versions)
        _number(self, "blocksize", 1024, 16 * 1024 * 1024)
        if self.ttl_seconds is not None:
            _number(self, "ttl_seconds", 1, MAX_TTL_SECONDS)


class TableSchema(msgspec.Struct, frozen=True, kw_only=True):
    """A table: its name, its families and its options.

    Attributes:
        name: `name` or `namespace:name`, of letters, digits, `_`, `-` and `.`.
        families: at least one; stored in the order of their names.
        max_filesize: MAX_FILESIZE, the size at which a region is split, in bytes.
        memstore_flushsize: MEMSTORE_FLUSHSIZE, in bytes.
        attributes: further options by their HBase names, stored unchanged.
    """

    name: str
    families: tuple[Family, ...]
    max_filesize: int | None = None
    memstore_flushsize: int | None = None
    attributes: Mapping[str, str] = {}

    def __post_init__(self) -> None:
        check_table_name(self.name)
        names = [family.name for family in self.families]
        if not names:
            raise InvalidRequest(f"table '{self.name}' has no family", hint="give at least one")
        if len(set(names)) < len(names):
            raise InvalidRequest(
                f"table '{self.name}' names a family twice: {', '.join(sorted(names))}",
                hint="family names are unique in a table",
            )
        for option in ("max_filesize", "memstore_flushsize"):
            if getattr(self, option) is not None:
                _number(self, option, 1, 2**63 - 1)
        ordered = tuple(sorted(self.families, key=lambda family: family.name.encode()))
        msgspec.structs.force_setattr(self, "families", ordered)

    def family(self, name: str) -> Family | None:
        """Returns the family of that name, or None."""
        return next((family for family in self.families if family.name == name), None)

    def with_family(self, family: Family) -> TableSchema:
        """Returns the schema with the family added, or put in place of one of the same name."""
        others = tuple(each for each in self.families if each.name != family.name)
        return msgspec.structs.replace(self, families=(*others, family))

    def without_family(self, name: str) -> TableSchema:
        """Returns the schema without the family."""
        rest = tuple(family for family in self.families if family.name != name)
        return msgspec.structs.replace(self, families=rest)


def check_table_name(name: str) -> str:
    """Returns the table name if HBase would take it too.

    Raises:
        InvalidRequest: it would not.
    """
    if not isinstance(name, str) or not _TABLE_NAME.fullmatch(name) or len(name) > 200:
        raise InvalidRequest(
            f"table name {name!r:.220} is not valid",
            hint="use letters, digits, '_', '-' and '.', not '-' or '.' first, at most 200",
        )
    return name


def check_splits(splits: Iterable[bytes]) -> tuple[bytes, ...]:
    """Returns the split keys sorted.

    Raises:
        InvalidRequest: one is empty or there twice.
    """
    keys = tuple(sorted(splits))
    if b"" in keys or len(set(keys)) < len(keys):
        raise InvalidRequest("split keys hold an empty key or one twice", hint="name each once")
    return keys


def _check_family_name(name: str) -> None:
    wrong = (
        not isinstance(name, str)
        or not name
        or not name.isprintable()
        or name[0] == "."
        or name == "recovered.edits"
        or any(sign in name for sign in ":/\\")
        or len(name.encode()) > MAX_FAMILY_BYTES
    )
    if wrong:
        raise InvalidRequest(
            f"family name {name!r:.140} is not valid",
            hint="1 to 127 printable bytes without ':', '/' and '\\', and not '.' first",
        )


def _choice(struct: msgspec.Struct, field: str, literal: object) -> None:
    value, choices = getattr(struct, field), get_args(literal)
    if value not in choices:
        raise InvalidRequest(f"{field} {value!r} is not valid", hint=f"one of {', '.join(choices)}")


def _number(struct: msgspec.Struct, field: str, least: int, most: int) -> None:
    value = getattr(struct, field)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidRequest(
            f"{field} {value!r} is out of range", hint=f"a whole number from {least:,} to {most:,}"
        )
