"""Typed records over a store: classes, collections, partitions, indexes, wide entities.

class Visit(Record, table="visits", indexes=[IndexBy("status")]):
    site: EntityKey[str]
    at: Key[datetime]
    url: str
    status: UInt16 = 200

visits = Collection(store, Visit)
"""

from webtable.records.collection import Collection
from webtable.records.declaration_catalog import drop_index
from webtable.records.field_types import (
    EntityKey,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Key,
    KeyValue,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
)
from webtable.records.indexes import Covered, IndexBy
from webtable.records.partition import HashPartitioner, Partitioner
from webtable.records.reading.index_found_records import FoundRecords
from webtable.records.record import Record, key_of
from webtable.records.removed_fields import Ghost, clean_ghosts, find_ghosts
from webtable.records.wide_entity import EntityTable, WideEntity

__all__ = [
    "Collection",
    "Covered",
    "EntityKey",
    "EntityTable",
    "Float32",
    "Float64",
    "FoundRecords",
    "Ghost",
    "HashPartitioner",
    "IndexBy",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Key",
    "KeyValue",
    "Partitioner",
    "Record",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "WideEntity",
    "clean_ghosts",
    "drop_index",
    "find_ghosts",
    "key_of",
]
