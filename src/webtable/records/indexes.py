"""Indexes of record classes: which fields, as bytes, for the index machinery of `webtable.index`.

    class Visit(Record, table="visits", indexes=[IndexBy("status", "at", covers=("url",))]): …

On-disk: changing this needs a new format version. Frozen by golden tests.

    key of an entry    the fields as parts of a key, every str and bytes ended | the record's key
                       (of a unique index: the fields alone)
    what it covers     for each covered field: 00 if it is None, else 01 | its bytes
                       (str, bytes and lists after their length in 4 bytes)

So the entries of an index are in the order of the tuples (fields …, key …). A record of which an
indexed field is None, or NaN, is not in the index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from webtable.errors import CorruptData, InvalidRequest
from webtable.index.indexed_table import Entry, Facts, Index
from webtable.records.codecs import BadValue, FloatCodec
from webtable.records.declaration import Declaration, Field
from webtable.records.field_types import KeyValue
from webtable.records.reading.decoder_choice import decode_key
from webtable.records.reading.key_range_reader import tuple_bounds
from webtable.store.scan import Scan
from webtable.store.zero_byte_escaping import escape

__all__ = ["Covered", "FieldIndex", "IndexBy"]

Covered = Mapping[str, Any]
"""field → value, of the fields that an index covers."""

_LENGTH_BYTES = 4


class IndexBy:
    """Declares an index over fields of a record class: `IndexBy("status", "at")`.

    Args:
        fields: the fields; the first one weighs most.
        name: the index's name and its table's; by default `<table>_by_<fields>`.
        unique: whether no two records may have the same values.
        covers: further fields that can be tested before a record is read.
    """

    __slots__ = ("covers", "fields", "name", "unique")

    def __init__(
        self, *fields: str, name: str = "", unique: bool = False, covers: Sequence[str] = ()
    ) -> None:
        self.fields = fields
        self.name = name
        self.unique = unique
        self.covers = tuple(covers)


class FieldIndex:
    """An index of one record class, in the form that `webtable.index` needs, and its ranges."""

    def __init__(self, declaration: Declaration, by: IndexBy) -> None:
        fields = {field.name: field for field in declaration.fields}
        self._declaration = declaration
        self.name = by.name or f"{declaration.table}_by_{'_'.join(by.fields)}"
        self.is_unique = by.unique
        self.fields = tuple(_field(declaration, fields, name) for name in by.fields)
        self.covers = tuple(_field(declaration, fields, name) for name in by.covers)
        self._keys = declaration.keys
        self._check()
        self._needs_key = any(field.is_key for field in (*self.fields, *self.covers))
        # The column of an index over one value field that is stored as it is in a key.
        self._only: bytes | None = None
        first = self.fields[0]
        self._is_fixed = first.codec.width is not None
        if len(self.fields) == 1 and not (self.covers or self._needs_key):
            self._only = None if isinstance(first.codec, FloatCodec) else first.column
        is_as_stored = not self.covers and not any(
            field.is_key or isinstance(field.codec, FloatCodec) for field in self.fields
        )
        self._as_stored = [
            (field.column, field.codec.width is not None) for field in self.fields if is_as_stored
        ]
        self.index = Index(self.name, self._entries, columns=self._columns(), unique=by.unique)

    def _check(self) -> None:
        where = f"index '{self.name}' of {self._declaration.name}"
        if not self.fields:
            raise InvalidRequest(f"{where} has no fields", hint='write IndexBy("field")')
        if self.is_unique and self.covers:
            raise InvalidRequest(
                f"{where} is unique and covers fields", hint="a unique entry leads to one record"
            )
        for field in self.fields:
            if not field.codec.is_key:
                raise InvalidRequest(
                    f"{where} has the field '{field.name}', a {field.codec.name}",
                    hint="lists cannot be part of an index",
                )

    def _columns(self) -> tuple[bytes, ...]:
        """Returns the columns that entries depend on; none if they depend on all of them.

        A field that every entry needs shows that the record exists.
        """
        values = [field for field in self.fields if not field.is_key]
        if not any(field.is_nullable or field.default_value() is None for field in values):
            return ()
        covered = [field for field in self.covers if not field.is_key]
        return tuple(dict.fromkeys(field.column for field in (*values, *covered)))

    # Entries

    def _entries(self, row: bytes, facts: Facts) -> Iterable[Entry]:
        stored = facts.get(self._only) if self._only is not None else None
        if stored is None:
            return self._all_entries(row, facts)
        # As below, for the form that most indexes have: it runs twice for every put.
        part = stored if self._is_fixed else escape(stored) + b"\x00"
        if not self.is_unique:
            part += row[self._declaration.partitions.width :]
        return (Entry(part),)

    def _all_entries(self, row: bytes, facts: Facts) -> Iterator[Entry]:
        declaration = self._declaration
        if not declaration.is_there(facts):
            return
        keys: Mapping[str, object] = {}
        if self._needs_key:
            names = declaration.plan.names
            keys = dict(zip(names, decode_key(declaration.plan, row), strict=False))
        parts = []
        for field in self.fields:
            part = self._part(field, keys, facts)
            if part is None:
                return
            if field.codec.width is None:
                part = escape(part) + b"\x00"
            parts.append(part)
        if not self.is_unique:
            parts.append(row[declaration.partitions.width :])
        yield Entry(b"".join(parts), self._cover(keys, facts))

    def _part(self, field: Field, keys: Mapping[str, object], facts: Facts) -> bytes | None:
        """Returns a field as part of a key; None where the record is not in the index."""
        if field.is_key:
            return field.codec.encode_key(keys[field.name])
        stored = facts.get(field.column)
        if stored is None:
            default = None if field.is_nullable else field.default_value()
            return None if default is None else field.codec.encode_key(default)
        if isinstance(field.codec, FloatCodec):
            try:
                return field.codec.encode_key(field.codec.decode(stored))
            except BadValue:
                return None  # NaN
        return stored

    def _cover(self, keys: Mapping[str, object], facts: Facts) -> bytes:
        parts = []
        for field in self.covers:
            stored = facts.get(field.column)
            if field.is_key:
                stored = field.codec.encode(keys[field.name])
            elif stored is None and not field.is_nullable:
                default = field.default_value()
                stored = None if default is None else field.codec.encode(default)
            if stored is None:
                parts.append(b"\x00")
            elif field.codec.width is None:
                parts.append(b"\x01" + len(stored).to_bytes(_LENGTH_BYTES, "big") + stored)
            else:
                parts.append(b"\x01" + stored)
        return b"".join(parts)

    def covered(self, cover: bytes) -> Covered:
        """Returns the covered fields of an entry.

        Raises:
            CorruptData: they do not decode.
        """
        values: dict[str, Any] = {}
        at = 0
        try:
            for field in self.covers:
                is_there, at = cover[at] == 1, at + 1
                values[field.name] = None
                if is_there:
                    width = field.codec.width
                    if width is None:
                        width = int.from_bytes(cover[at : at + _LENGTH_BYTES], "big")
                        at += _LENGTH_BYTES
                    values[field.name] = field.codec.decode(cover[at : at + width])
                    at += width
        except (IndexError, BadValue) as exc:
            raise CorruptData(
                f"an entry of index '{self.name}' does not decode: {cover[:40]!r}",
                hint="was the index declared otherwise? rebuild it",
            ) from exc
        return values

    @property
    def form(self) -> str:
        """What is stored of the declaration, to be compared."""
        names = ", ".join(field.name for field in self.fields)
        covers = ", ".join(field.name for field in self.covers)
        return names + (" unique" if self.is_unique else "") + (covers and f" covers {covers}")

    def where(self, wanted: Callable[[Covered], bool] | None) -> Callable[[Any], bool] | None:
        """Returns a condition on covered fields as one on entries."""
        return None if wanted is None else lambda hit: wanted(self.covered(hit.cover))

    # Ranges

    def scan(
        self,
        prefix: Sequence[KeyValue],
        start: Sequence[KeyValue],
        stop: Sequence[KeyValue],
        *,
        reverse: bool,
        limit: int | None,
    ) -> Scan | None:
        """Returns the range of entries that tuples of fields and keys mean; None: it is empty."""
        size = len(self.fields) if self.is_unique else len(self.fields) + len(self._keys)
        bounds = tuple_bounds(self._bytes, (prefix, start, stop), size)
        if bounds is None:
            return None
        lower, upper = bounds
        return Scan(start=lower, stop=upper, reverse=reverse, limit=limit)

    def key(self, values: Sequence[KeyValue]) -> bytes:
        """Returns the key of a unique entry."""
        if len(values) != len(self.fields):
            names = ", ".join(field.name for field in self.fields)
            raise InvalidRequest(
                f"index '{self.name}' has the fields {names}; {len(values)} values were given",
                hint="give a value for each",
            )
        return self._bytes(values)

    def _bytes(self, values: Sequence[KeyValue]) -> bytes:
        fields = self.fields if self.is_unique else (*self.fields, *self._keys)
        if isinstance(values, str | bytes) or len(values) > len(fields):
            names = ", ".join(field.name for field in fields)
            raise InvalidRequest(
                f"{values!r:.80} is not a range of index '{self.name}'",
                hint=f"give a tuple of values for the first of: {names}",
            )
        parts = []
        for position, value in enumerate(values):
            field = fields[position]
            part = self._declaration.encode_key_part(field, value)
            # Only the key's own last part is open.
            if field.codec.width is None and (self.is_unique or position != len(fields) - 1):
                part = escape(part) + b"\x00"
            parts.append(part)
        return b"".join(parts)


def _field(declaration: Declaration, fields: Mapping[str, Field], name: str) -> Field:
    field = fields.get(name)
    if field is None:
        raise InvalidRequest(
            f"{declaration.name} has no field '{name}' for its index",
            hint=f"its fields are {', '.join(fields)}",
        )
    return field
