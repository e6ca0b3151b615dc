"""Statements of a schema update: what the shell would be given, and the same as a call.

A statement has one content, from which both its text and its effect come. The text is in the
language of `webtable shell`, which is that of HBase's own; a test runs the text of drawn statements
in the shell, and compares the result with that of `run`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from webtable.errors import TableExists
from webtable.store.schema import MAX_TTL_SECONDS, Family, TableSchema
from webtable.store.store import Store

__all__ = [
    "FAMILY_FIELDS",
    "TABLE_FIELDS",
    "AlterTable",
    "CreateTable",
    "PutCell",
    "SplitTable",
    "Statement",
    "option_name",
]

FAMILY_FIELDS = tuple(
    field for field in Family.__struct_fields__ if field not in ("name", "attributes")
)
"""The fields of `Family` that are options."""
TABLE_FIELDS = ("max_filesize", "memstore_flushsize")
"""The fields of `TableSchema` that are options."""


class Statement(Protocol):
    """One statement: its table, its text, and its effect."""

    @property
    def table(self) -> str:
        """The table that it creates or changes."""
        ...

    @property
    def text(self) -> str:
        """The statement as a line of the shell."""
        ...

    def run(self, store: Store) -> None:
        """Does what the text does in the shell."""
        ...


class CreateTable(NamedTuple):
    """Creates a table; another process may have created it meanwhile."""

    schema: TableSchema
    splits: Sequence[bytes] = ()

    @property
    def table(self) -> str:
        """The table that it creates."""
        return self.schema.name

    @property
    def text(self) -> str:
        """The statement as a line of the shell."""
        parts = [f"create {_quoted(self.schema.name)}"]
        for family in self.schema.families:
            plain = Family(name=family.name)
            options = {
                field: getattr(family, field)
                for field in FAMILY_FIELDS
                if getattr(family, field) != getattr(plain, field)
            }
            parts.append(_family_text(family.name, options, family.attributes))
        given = {field: getattr(self.schema, field) for field in TABLE_FIELDS}
        named = {field: value for field, value in given.items() if value is not None}
        pairs = _pairs(named, self.schema.attributes)
        if self.splits:
            keys = ", ".join(f"'{_escaped_key(key)}'" for key in self.splits)
            pairs.append(f"SPLITS => [{keys}]")
        if pairs:
            parts.append(f"{{{', '.join(pairs)}}}")
        return ", ".join(parts)

    def run(self, store: Store) -> None:
        """Creates the table."""
        with contextlib.suppress(TableExists):
            store.create_table(self.schema, splits=self.splits)


class FamilyChange(NamedTuple):
    """What changes in one family, by field of `Family`."""

    options: Mapping[str, Any]
    attributes: Mapping[str, str]


class AlterTable(NamedTuple):
    """Changes options of a table, and adds families.

    Attributes:
        families: name → what changes; a family that the table does not have is added.
        options: what changes of the table, by field of `TableSchema`.
        attributes: further options of the table, by their HBase names.
    """

    table: str
    families: Mapping[str, FamilyChange]
    options: Mapping[str, Any]
    attributes: Mapping[str, str]

    @property
    def text(self) -> str:
        """The statement as a line of the shell."""
        parts = [f"alter {_quoted(self.table)}"]
        for name, change in self.families.items():
            parts.append(_family_text(name, change.options, change.attributes))
        pairs = _pairs(self.options, self.attributes)
        if pairs:
            parts.append(f"{{{', '.join(pairs)}}}")
        return ", ".join(parts)

    def changed(self, schema: TableSchema) -> TableSchema:
        """Returns a schema of the table as it is after this statement."""
        for name, change in self.families.items():
            family = schema.family(name) or Family(name=name)
            attributes = {**family.attributes, **change.attributes}
            schema = schema.with_family(
                msgspec.structs.replace(family, attributes=attributes, **change.options)
            )
        attributes = {**schema.attributes, **self.attributes}
        return msgspec.structs.replace(schema, attributes=attributes, **self.options)

    def run(self, store: Store) -> None:
        """Alters the table; what the statement does not name stays as it is."""
        store.alter_table(self.changed(store.describe_table(self.table)))


class SplitTable(NamedTuple):
    """Splits the region of a row key, with which a new region then begins."""

    table: str
    key: bytes

    @property
    def text(self) -> str:
        """The statement as a line of the shell."""
        return f"split {_quoted(self.table)}, {_quoted_bytes(self.key)}"

    def run(self, store: Store) -> None:
        """Splits the region."""
        store.admin.split(self.table, self.key)


class PutCell(NamedTuple):
    """Changes a setting of a store, which is a cell."""

    table: str
    row: bytes
    column: bytes
    value: bytes

    @property
    def text(self) -> str:
        """The statement as a line of the shell."""
        cell = (self.row, self.column, self.value)
        return f"put {_quoted(self.table)}, {', '.join(map(_quoted_bytes, cell))}"

    def run(self, store: Store) -> None:
        """Puts the cell, durably: statements that follow may rely on it after a crash."""
        store.table(self.table).put(self.row, {self.column: self.value}, durability="sync")


def option_name(field: str) -> str:
    """Returns the name that HBase has for an option.

    >>> option_name("ttl_seconds"), option_name("bloomfilter")
    ('TTL', 'BLOOMFILTER')
    """
    return "TTL" if field == "ttl_seconds" else field.upper()


def _family_text(name: str, options: Mapping[str, Any], attributes: Mapping[str, str]) -> str:
    pairs = [f"NAME => {_quoted(name)}", *_pairs(options, attributes)]
    return f"{{{', '.join(pairs)}}}"


def _pairs(options: Mapping[str, Any], attributes: Mapping[str, str]) -> list[str]:
    pairs = [f"{option_name(field)} => {_value(field, value)}" for field, value in options.items()]
    # HBase keeps names with a dot apart from the others; the shell has a word for each kind.
    for word, is_dotted in (("METADATA", False), ("CONFIGURATION", True)):
        chosen = sorted(name for name in attributes if ("." in name) is is_dotted)
        if chosen:
            inside = ", ".join(f"{_quoted(name)} => {_quoted(attributes[name])}" for name in chosen)
            pairs.append(f"{word} => {{{inside}}}")
    return pairs


def _value(field: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if field == "ttl_seconds" and value in (None, MAX_TTL_SECONDS):
        return "'FOREVER'"
    return str(value) if isinstance(value, int) else _quoted(str(value))


def _quoted(text: str) -> str:
    r"""Returns a text in quotes of Ruby.

    >>> print(_quoted("content"), _quoted("it's"), _quoted("a\\tb"))
    'content' "it's" "a\\tb"
    """
    if text.isprintable() and "'" not in text and "\\" not in text:
        return f"'{text}'"
    return _quoted_bytes(text.encode())


def _quoted_bytes(value: bytes) -> str:
    r"""Returns bytes in quotes of Ruby: single ones where every byte is plain ASCII.

    >>> print(_quoted_bytes(b"com.example"), _quoted_bytes(b"a\x00"))
    'com.example' "a\x00"
    """
    shown = "".join(_DOUBLE_QUOTED.get(byte) or _plain_byte(byte) for byte in value)
    quote = "'" if shown == value.decode("latin-1") and b"'" not in value else '"'
    return f"{quote}{shown}{quote}"


def _escaped_key(key: bytes) -> str:
    r"""Returns a split key as `SPLITS` reads it: `\xHH` for every byte that is not plain.

    >>> print(_escaped_key(b"a\x0f'"))
    a\x0F\x27
    """
    return "".join(
        f"\\x{byte:02X}" if byte in b"'\\" or not 0x20 <= byte < 0x7F else chr(byte) for byte in key
    )


def _plain_byte(byte: int) -> str:
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02X}"


_DOUBLE_QUOTED = {ord('"'): '\\"', ord("\\"): "\\\\", ord("#"): "\\#", ord("\t"): "\\t"}
