"""What a record class declares, ready for use: its fields, its keys as bytes, its table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from webtable.errors import CorruptData, InvalidRequest
from webtable.records.codecs import BadValue, Codec
from webtable.records.field_types import FieldType
from webtable.records.partition import Partitions
from webtable.records.reading import decoder_choice
from webtable.store.mutation import Put
from webtable.store.schema import BlockEncoding, BloomFilter, Compression, Family, TableSchema
from webtable.store.zero_byte_escaping import escape

if TYPE_CHECKING:
    from webtable.records.indexes import FieldIndex

__all__ = ["FAMILY", "MARKER", "Declaration", "Field", "Options", "StorageOptions", "table_schema"]

FAMILY = "a"
"""The one family that tables of records have."""

MARKER = b"\x00"
"""The qualifier of the empty cell that a record without any values has, so that it is there."""

MAX_FILESIZE = 4 << 30
MEMSTORE_FLUSHSIZE = 256 << 20


class StorageOptions(NamedTuple):
    """How the table of a class stores its cells; `webtable schema apply` can change all of it."""

    ttl_seconds: int | None = None
    versions: int = 1
    compression: Compression = "GZ"
    bloomfilter: BloomFilter = "NONE"
    data_block_encoding: BlockEncoding = "FAST_DIFF"
    max_filesize: int = MAX_FILESIZE
    memstore_flushsize: int = MEMSTORE_FLUSHSIZE


class Options(NamedTuple):
    """The options of the class line."""

    table: str | None
    partitions: Partitions
    storage: StorageOptions


class Field:
    """A field of a record class."""

    __slots__ = (
        "codec",
        "column",
        "default",
        "factory",
        "is_entity",
        "is_key",
        "is_nullable",
        "name",
    )

    def __init__(
        self, name: str, kind: FieldType, default: Any, factory: Callable[[], Any] | None
    ) -> None:
        self.name = name
        self.codec: Codec = kind.codec
        self.is_key = kind.is_key
        self.is_entity = kind.is_entity
        self.is_nullable = kind.is_nullable
        self.column = f"{FAMILY}:{name}".encode()
        self.default = default
        self.factory = factory

    def default_value(self) -> Any:
        """Returns the default of the class; None if it has none."""
        if self.factory is not None:
            return self.factory()
        return None if self.default is msgspec.NODEFAULT else self.default


class Declaration:
    """Everything about one record class.

    Attributes:
        record: the class.
        fields: all fields, keys first; `keys` and `values` are its two parts.
        entity_size: how many of the keys are the entity key.
        plan: what the decoder needs, for rows of the class's own table.
        columns: the columns that the class writes.
        indexes: its indexes.
    """

    def __init__(self, record: type, fields: Sequence[Field], options: Options) -> None:
        self.record = record
        self.name = record.__name__
        self.table = options.table
        self.partitions = options.partitions
        self.storage = options.storage
        self.ttl_seconds = options.storage.ttl_seconds
        self.fields = tuple(fields)
        self.keys = tuple(field for field in fields if field.is_key)
        self.values = tuple(field for field in fields if not field.is_key)
        self.entity_size = sum(field.is_entity for field in self.keys) or len(self.keys)
        self._check()
        self.plan = self._plan()
        self._marked = f"{FAMILY}:".encode() + MARKER
        self.columns = frozenset((*self.plan.places, self._marked))
        self.indexes: tuple[FieldIndex, ...] = ()

    def _check(self) -> None:
        where = f"record class {self.name}"
        if not self.keys:
            raise InvalidRequest(f"{where} has no key", hint="mark a field: `site: Key[str]`")
        if self.fields[: len(self.keys)] != self.keys:
            raise InvalidRequest(
                f"{where} has a key field after a value field", hint="key fields come first"
            )
        entity = [field.is_entity for field in self.keys]
        if any(entity) and not all(entity[: self.entity_size]):
            raise InvalidRequest(
                f"{where} has an entity key field after another key field",
                hint="the entity key is the beginning of the key",
            )
        for field in self.fields:
            default = field.default_value()
            if default is None:
                continue
            if field.is_nullable:
                raise InvalidRequest(
                    f"field '{field.name}' of {self.name} may be None and has another default",
                    hint="a field without a value is None: remove the default or the `| None`",
                )
            self._encode(field, default)

    # Keys

    def encode_parts(self, key: Sequence[object], *, is_whole: bool) -> list[bytes]:
        """Returns the parts of the beginning of a key, the last one open if the key is whole.

        Raises:
            InvalidRequest: a value is None, of the wrong type, out of range, or one too many.
        """
        fields = self.keys
        if len(key) > len(fields) or (is_whole and len(key) != len(fields)):
            names = ", ".join(field.name for field in fields)
            raise InvalidRequest(
                f"a key of {self.name} has the fields {names}; {len(key)} values were given",
                hint="give a value for each" if is_whole else "give at most one for each",
            )
        parts = []
        last = len(fields) - 1
        for position, value in enumerate(key):
            part = self.encode_key_part(fields[position], value)
            if position != last and fields[position].codec.width is None:
                part = escape(part) + b"\x00"
            parts.append(part)
        return parts

    def row_key(self, key: Sequence[object]) -> bytes:
        """Returns the row key of a whole key: the partition and the key's bytes."""
        parts = self.encode_parts(key, is_whole=True)
        return self.partition(key, parts) + b"".join(parts)

    def partition(self, key: Sequence[object], parts: Sequence[bytes]) -> bytes:
        """Returns the bytes of the partition of a key, or of the beginning of one."""
        size = self.entity_size
        if size == len(self.keys):
            return self.partitions.prefix(b"".join(parts))
        # As a key of its own, whose last part is open: so other classes with the same entity key
        # choose the same partition, whatever follows it there.
        last = self.encode_key_part(self.keys[size - 1], key[size - 1])
        return self.partitions.prefix(b"".join(parts[: size - 1]) + last)

    def encode_key_part(self, field: Field, value: object) -> bytes:
        """Returns one part of a key, open at its end."""
        try:
            return field.codec.encode_key(value)
        except BadValue as exc:
            raise self._rejected(field, value, exc) from None

    # Values

    def put(self, record: object) -> Put:
        """Returns the put that stores a record: its values, and deletes of what is None.

        Raises:
            InvalidRequest: it is of another class, or a field cannot be stored.
        """
        if type(record) is not self.record:
            raise InvalidRequest(
                f"{record!r:.80} is not a {self.name}", hint="put it into its own collection"
            )
        row = self.row_key([getattr(record, field.name) for field in self.keys])
        cells, clears = self.cells(record)
        return Put(row, cells, clears=clears)

    def cells(self, record: object) -> tuple[dict[bytes, bytes], list[bytes]]:
        """Returns column → value of what a record has, and the columns of what is None."""
        cells: dict[bytes, bytes] = {}
        clears: list[bytes] = []
        for field in self.values:
            value = getattr(record, field.name)
            if value is None and field.is_nullable:
                clears.append(field.column)
            else:
                try:
                    cells[field.column] = field.codec.encode(value)
                except BadValue as exc:
                    raise self._rejected(field, value, exc) from None
        if not cells:
            cells[self._marked] = b""
        return cells, clears

    def _encode(self, field: Field, value: object) -> bytes:
        try:
            return field.codec.encode(value)
        except BadValue as exc:
            raise self._rejected(field, value, exc) from None

    def _rejected(self, field: Field, value: object, exc: BadValue) -> InvalidRequest:
        if value is not None:
            hint = f"nothing was written; '{field.name}' is {field.codec.name}"
            return InvalidRequest(f"field '{field.name}' of {self.name}: {exc}", hint=hint)
        what = "key field" if field.is_key else "field"
        hint = "a key field needs a value" if field.is_key else "annotate it with `| None`"
        return InvalidRequest(f"{what} '{field.name}' of {self.name} is None", hint=hint)

    # Reading

    def _plan(self) -> decoder_choice.RowPlan:
        plan = decoder_choice.RowPlan()
        names = [field.name for field in self.fields]
        plan.make = self.record
        positional: tuple[str, ...] = getattr(self.record, "__match_args__", ())
        if len(positional) < len(names):
            plan.make = lambda *values: self.record(**dict(zip(names, values, strict=True)))
        plan.table = self.table or self.name
        plan.skip = self.partitions.width
        plan.names = names
        plan.codecs = [field.codec for field in self.fields]
        plan.kinds = bytes(decoder_choice.kind_of(codec) for codec in plan.codecs)
        plan.widths = bytes(codec.width or 0 for codec in plan.codecs)
        plan.keys = len(self.keys)
        plan.places = {field.column: self.fields.index(field) for field in self.values}
        plan.marker = f"{FAMILY}:".encode() + MARKER
        plan.template = [self._absent(field) for field in self.fields]
        absent = [each is decoder_choice.ABSENT for each in plan.template]
        plan.required = sum(absent[len(self.keys) :])
        plan.fill = self._fill
        return plan

    def _absent(self, field: Field) -> Any:
        """Returns what a field reads as where it has no cell."""
        if field.is_nullable:
            return None
        return decoder_choice.ABSENT if field.default is msgspec.NODEFAULT else field.default

    def _fill(self, values: list[Any], row: bytes) -> None:
        for number, field in enumerate(self.fields):
            if values[number] is decoder_choice.ABSENT:
                if field.factory is None:
                    raise CorruptData(
                        f"row {row!r:.120} of table '{self.plan.table}' has no field"
                        f" '{field.name}', and {self.name} gives it no default",
                        hint="give it a default, which such rows then read as",
                    )
                values[number] = field.factory()

    def is_there(self, columns: Iterable[bytes]) -> bool:
        """Whether a row with these columns holds a record, and not only something else."""
        return not self.columns.isdisjoint(columns)

    def decode_key(self, row: bytes) -> tuple[Any, ...]:
        """Returns the values of a row key."""
        return decoder_choice.decode_key(self.plan, row)

    def make(self, row: bytes, key: Sequence[object], stored: Mapping[str, bytes]) -> Any:
        """Returns the record of a key and the bytes of its fields, None if no field is stored.

        Raises:
            CorruptData: a field does not decode, or is missing.
        """
        values = list(self.plan.template)
        values[: len(self.keys)] = key
        found = MARKER.decode() in stored
        for number, field in enumerate(self.fields):
            if field.is_key or field.name not in stored:
                continue
            found = True
            try:
                values[number] = field.codec.decode(stored[field.name])
            except BadValue as exc:
                raise CorruptData(
                    f"row {row!r:.120} of table '{self.plan.table}': field '{field.name}' does"
                    f" not decode: {exc}",
                    hint="it was written by something else, or with another type; rewrite it",
                ) from exc
        if not found:
            return None
        self._fill(values, row)
        return self.plan.make(*values)

    def entity_declaration(self, table: str) -> Declaration:
        """Returns the declaration of the entity key alone, as the key of a table's rows."""
        options = Options(table, self.partitions, self.storage)
        return Declaration(self.record, self.keys[: self.entity_size], options)

    # The table

    def schema(self) -> TableSchema:
        """Returns the schema that a new table gets."""
        assert self.table is not None
        return table_schema(self.table, self.storage)


def table_schema(name: str, storage: StorageOptions | None = None) -> TableSchema:
    """Returns the schema of a table of records, with the defaults of HBase."""
    storage = storage or StorageOptions()
    family = Family(
        name=FAMILY,
        versions=storage.versions,
        ttl_seconds=storage.ttl_seconds,
        bloomfilter=storage.bloomfilter,
        compression=storage.compression,
        data_block_encoding=storage.data_block_encoding,
    )
    return TableSchema(
        name=name,
        families=(family,),
        max_filesize=storage.max_filesize,
        memstore_flushsize=storage.memstore_flushsize,
    )
