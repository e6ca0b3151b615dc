"""The catalog on disk: the bytes of its entries, one for each table.

On-disk: changing this needs a new format version. In RocksDB's default column family

    "catalog"       → a counter, moved by every change of tables; names new column families and
                      makes followers in other processes open the store again
    "disabled " + name  → nothing: the table is out of service
    "namespace " + name → nothing: there is such a namespace, with tables or without
    "table " + name → JSON: the schema, the split keys in hex, for each family the RocksDB column
                      family that has it, the families whose puts are tagged (`cell_keys.py`), and
                      those that ever had a marker of the whole family

A family's RocksDB column family is named `table/family/N` with N from the counter, so that a
dropped and a new family of one name never meet.
"""

from __future__ import annotations

import msgspec

from webtable.errors import CorruptData
from webtable.store.schema import TableSchema

__all__ = [
    "CATALOG_KEY",
    "DISABLED_KEY",
    "NAMESPACE_KEY",
    "TableEntry",
    "decode_entry",
    "encode_entry",
    "table_key",
]

CATALOG_KEY = b"catalog"
DISABLED_KEY = b"disabled "
NAMESPACE_KEY = b"namespace "
_TABLE_KEY = b"table "


class TableEntry(msgspec.Struct, frozen=True):
    """A table as the catalog keeps it."""

    schema: TableSchema
    splits: tuple[str, ...]
    column_families: dict[str, str]
    tagged: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()


def table_key(name: str) -> bytes:
    """Returns the key of a table's entry."""
    return _TABLE_KEY + name.encode()


def encode_entry(entry: TableEntry) -> bytes:
    """Returns the entry as it is stored."""
    return msgspec.json.encode(entry)


def decode_entry(stored: bytes) -> TableEntry:
    """Returns a stored entry.

    Raises:
        CorruptData: the bytes are not those of an entry.
    """
    try:
        return msgspec.json.decode(stored, type=TableEntry)
    except (msgspec.DecodeError, ValueError) as exc:
        raise CorruptData(
            f"a table's entry in the catalog is damaged: {exc}",
            hint="restore the store from a checkpoint",
        ) from exc
