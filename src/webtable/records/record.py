"""Record classes: a table's rows as typed objects.

    class Visit(Record, table="visits", ttl=timedelta(days=21)):
        site: EntityKey[str]
        at: Key[datetime]
        url: str
        status: UInt16 = 200
        referrer: str | None = None

A record is an object with slots that compares by its fields (a `msgspec.Struct`; what that takes,
like `frozen=True`, may stand in the class line too).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, dataclass_transform, get_type_hints

import msgspec

from webtable.errors import InvalidRequest
from webtable.records.codecs import BadValue
from webtable.records.declaration import (
    MAX_FILESIZE,
    MEMSTORE_FLUSHSIZE,
    Declaration,
    Field,
    Options,
    StorageOptions,
    table_schema,
)
from webtable.records.field_types import KeyValue, field_type
from webtable.records.indexes import FieldIndex, IndexBy
from webtable.records.partition import (
    DEFAULT_PARTITIONS,
    HashPartitioner,
    Partitioner,
    Partitions,
)
from webtable.store.schema import (
    MAX_TTL_SECONDS,
    BlockEncoding,
    BloomFilter,
    Compression,
)

__all__ = ["Record", "declaration_of", "key_of"]


@dataclass_transform(field_specifiers=(msgspec.field,))
class RecordMeta(msgspec.StructMeta):
    """Makes record classes: takes the options of the class line, and reads the annotations."""

    def __new__(
        mcls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        table: str | None = None,
        partitions: int = DEFAULT_PARTITIONS,
        partitioner: Partitioner | None = None,
        ttl: timedelta | None = None,
        versions: int = 1,
        compression: Compression = "GZ",
        bloomfilter: BloomFilter = "NONE",
        data_block_encoding: BlockEncoding = "FAST_DIFF",
        max_filesize: int = MAX_FILESIZE,
        memstore_flushsize: int = MEMSTORE_FLUSHSIZE,
        indexes: Sequence[IndexBy] = (),
        **struct_options: Any,
    ) -> Any:
        cls = super().__new__(mcls, name, bases, namespace, **struct_options)
        if bases == (msgspec.Struct,):
            return cls  # Record itself
        storage = StorageOptions(
            _seconds(ttl),
            versions,
            compression,
            bloomfilter,
            data_block_encoding,
            max_filesize,
            memstore_flushsize,
        )
        table_schema(table or "t", storage)  # an option that is not valid is an error of the class
        options = Options(
            table=table,
            partitions=Partitions(partitions, partitioner or HashPartitioner()),
            storage=storage,
        )
        # Names of the function that the class is made in count too.
        fields = _fields(cls, sys._getframe(1).f_locals)
        if table is not None or any(field.is_key for field in fields):
            declaration = Declaration(cls, fields, options)
            declaration.indexes = tuple(FieldIndex(declaration, by) for by in indexes)
            DECLARATIONS[cls] = declaration
        return cls


class Record(msgspec.Struct, metaclass=RecordMeta):
    """The base of record classes; its attributes here are options of the class line.

    Attributes:
        table: the table's name; a class without one can only be part of an `EntityTable`.
        partitions: how many partitions the table has, 1 to 65,536, by default 16.
        partitioner: chooses the partition; by default a hash of the entity key.
        ttl: how long a record lives after it was put; by default for ever.
        versions: how many versions of each field the table keeps. Reads give the newest.
        compression, bloomfilter, data_block_encoding: how the table stores its cells; by default
            GZ, NONE and FAST_DIFF.
        max_filesize, memstore_flushsize: the sizes in bytes at which a region is split, by default
            4 GiB, and at which its memory is written to files, by default 256 MiB.
        indexes: an `IndexBy` for each index.
    """


DECLARATIONS: dict[type, Declaration] = {}


def declaration_of(record_class: type) -> Declaration:
    """Returns what a record class declares.

    Raises:
        InvalidRequest: it is not a record class, or has no key.
    """
    declaration = DECLARATIONS.get(record_class)
    if declaration is None:
        raise InvalidRequest(
            f"{record_class!r:.120} does not declare records",
            hint="derive a class from Record, with a table and at least one Key or EntityKey",
        )
    return declaration


def key_of(record: Record) -> tuple[KeyValue, ...]:
    """Returns the values of a record's key fields."""
    fields = declaration_of(type(record)).keys
    return tuple(getattr(record, field.name) for field in fields)


def _fields(cls: Any, local_names: dict[str, Any]) -> Sequence[Field]:
    try:
        hints = get_type_hints(cls, localns=local_names, include_extras=True)
    except NameError as exc:
        raise InvalidRequest(
            f"an annotation of {cls.__name__} cannot be read: {exc}",
            hint="import or define the name before the class",
        ) from exc
    fields = []
    names, defaults = cls.__struct_fields__, cls.__struct_defaults__
    # Those of the last fields; a value that is created each time comes as an object with a
    # `factory`.
    for name, default in zip(
        names, (msgspec.NODEFAULT,) * (len(names) - len(defaults)) + defaults, strict=True
    ):
        try:
            kind = field_type(hints[name])
        except BadValue as exc:
            raise InvalidRequest(
                f"field '{name}' of {cls.__name__}: {exc}",
                hint="see webtable.records for the types that fields may have",
            ) from exc
        if type(default).__name__ == "Factory":
            fields.append(Field(name, kind, msgspec.NODEFAULT, default.factory))
        else:
            fields.append(Field(name, kind, default, None))
    return fields


def _seconds(ttl: timedelta | None) -> int | None:
    if ttl is None:
        return None
    seconds = ttl.total_seconds() if isinstance(ttl, timedelta) else -1
    if not 1 <= seconds <= MAX_TTL_SECONDS or seconds != int(seconds):
        raise InvalidRequest(
            f"ttl {ttl!r:.80} is not valid", hint="give a timedelta of whole seconds, at least 1"
        )
    return int(seconds)
