"""How cells are shown: timestamps as HBase's shell writes them, values through a formatter.

A formatter is a method of HBase's `Bytes`, given with a column (`cf:q:toInt`, or
`cf:q:c(org.apache.hadoop.hbase.util.Bytes).toInt`) or for everything (`FORMATTER => 'toString'`).
"""

from __future__ import annotations

import re
import struct
import time
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from webtable import CellType
from webtable.cli.output_formats import show_bytes
from webtable.cli.shell.language.ruby_constants import suggestion
from webtable.cli.shell.language.ruby_values import show_float
from webtable.errors import InvalidRequest

__all__ = ["FORMATTERS", "CellFormat", "Column", "parse_column", "show_time"]

_BYTES_CLASS = "org.apache.hadoop.hbase.util.Bytes"
_CLASS_FORM = re.compile(rb"c\((.+)\)\.(\w+)")
_METHOD_FORM = re.compile(rb"to[A-Z]\w*")
_TYPES = {
    CellType.DELETE: "Delete",
    CellType.DELETE_FAMILY_VERSION: "DeleteFamilyVersion",
    CellType.DELETE_COLUMN: "DeleteColumn",
    CellType.DELETE_FAMILY: "DeleteFamily",
}


def _number(form: str, size: int) -> Callable[[bytes], str]:
    def show(value: bytes) -> str:
        if len(value) < size:
            raise InvalidRequest(
                f"'{show_bytes(value)}' has {len(value)} bytes", hint=f"a number has {size} of them"
            )
        found = struct.unpack(form, value[:size])[0]
        return show_float(found) if isinstance(found, float) else str(found)

    return show


def _boolean(value: bytes) -> str:
    if len(value) != 1:
        raise InvalidRequest(
            f"'{show_bytes(value)}' has {len(value)} bytes", hint="a boolean has 1 of them"
        )
    return "true" if value != b"\x00" else "false"


def _decimal(value: bytes) -> str:
    if len(value) < 5:
        raise InvalidRequest(
            f"'{show_bytes(value)}' has {len(value)} bytes", hint="a decimal has at least 5 of them"
        )
    scale = int.from_bytes(value[:4], "big", signed=True)
    if not -1000 <= scale <= 1000 or len(value) > 1000:
        raise InvalidRequest(f"'{show_bytes(value):.80}' is not a decimal", hint="use toHex")
    return str(Decimal(int.from_bytes(value[4:], "big", signed=True)).scaleb(-scale))


FORMATTERS: dict[str, Callable[[bytes], str]] = {
    "toBigDecimal": _decimal,
    "toBoolean": _boolean,
    "toDouble": _number(">d", 8),
    "toFloat": _number(">f", 4),
    "toHex": bytes.hex,
    "toInt": _number(">i", 4),
    "toLong": _number(">q", 8),
    "toShort": _number(">h", 2),
    "toString": lambda value: value.decode("utf-8", "replace"),
    "toStringBinary": show_bytes,
}


class Column(NamedTuple):
    """A family or a column as it was written, and its formatter."""

    family: bytes
    qualifier: bytes | None
    formatter: str | None = None

    @property
    def name(self) -> bytes:
        """The column as the store names it."""
        return self.family if self.qualifier is None else b"%s:%s" % (self.family, self.qualifier)


def parse_column(text: bytes) -> Column:
    """Returns what `family`, `family:qualifier` or `family:qualifier:formatter` names.

    A part after the last colon that is no formatter belongs to the qualifier.

    >>> parse_column(b"f:n:toInt")
    Column(family=b'f', qualifier=b'n', formatter='toInt')
    >>> parse_column(b"links:https://example.org/")
    Column(family=b'links', qualifier=b'https://example.org/', formatter=None)

    Raises:
        InvalidRequest: it names a formatter that does not exist.
    """
    family, colon, rest = text.partition(b":")
    if not colon:
        return Column(family, None)
    qualifier, colon, last = rest.rpartition(b":")
    if colon and _METHOD_FORM.fullmatch(last):
        return Column(family, qualifier, check_formatter(last.decode()))
    if colon and (found := _CLASS_FORM.fullmatch(last)):
        method = found[2].decode("ascii", "replace")
        return Column(
            family, qualifier, check_formatter(method, found[1].decode("utf-8", "replace"))
        )
    return Column(family, rest)


def check_formatter(method: str, java_class: str = _BYTES_CLASS) -> str:
    """Returns the name of a formatter if it exists.

    Raises:
        InvalidRequest: no formatter has that name.
    """
    if java_class != _BYTES_CLASS:
        raise InvalidRequest(
            f"formatters of class {java_class:.120} are not supported here",
            hint=f"use {_BYTES_CLASS}",
        )
    if method not in FORMATTERS:
        hint = suggestion(method, list(FORMATTERS)) or f"one of {', '.join(FORMATTERS)}"
        raise InvalidRequest(f"there is no formatter {method:.80}", hint=hint)
    return method


class CellFormat:
    """Turns the parts of cells into text, for one read."""

    def __init__(
        self,
        columns: list[Column],
        formatter: str = "toStringBinary",
        *,
        maxlength: int | None = None,
        epoch: bool = False,
    ) -> None:
        self.key = FORMATTERS[formatter]
        self._default = FORMATTERS[formatter]
        self._by_column = {
            each.name: FORMATTERS[each.formatter] for each in columns if each.formatter
        }
        self._maxlength = maxlength
        self._epoch = epoch
        self._columns: dict[bytes, str] = {}

    def column(self, column: bytes) -> str:
        """Returns a column as text."""
        shown = self._columns.get(column)
        if shown is None:
            family, _, qualifier = column.partition(b":")
            shown = f"{self._default(family)}:{self._default(qualifier)}"
            if (
                len(self._columns) < 1000
            ):  # columns repeat from row to row; wide rows must not pile up
                self._columns[column] = shown
        return shown

    def cell(self, column: bytes, timestamp: int, value: bytes, kind: int) -> str:
        """Returns timestamp and value of a cell, or the type of a delete marker, as text."""
        when = str(timestamp) if self._epoch else show_time(timestamp)
        if kind == CellType.PUT:
            show = self._by_column.get(column, self._default)
            try:
                text = f"timestamp={when}, value={show(value)}"
            except InvalidRequest as exc:
                where = show_bytes(column)
                raise InvalidRequest(f"value of {where}: {exc.message}", hint=exc.hint) from exc
        else:
            text = f"timestamp={when}, type={_TYPES[CellType(kind)]}"
        return text if self._maxlength is None else text[: self._maxlength]


@lru_cache(maxsize=4096)
def show_time(milliseconds: int) -> str:
    """Returns a timestamp as local time, the way Java writes it.

    Seconds and milliseconds are left out where they are 0, and years after 9999 have a plus.
    """
    seconds, rest = divmod(milliseconds, 1000)
    moment = time.localtime(seconds)
    year = f"{moment.tm_year:04}" if moment.tm_year <= 9999 else f"+{moment.tm_year}"
    text = f"{year}-{moment.tm_mon:02}-{moment.tm_mday:02}T{moment.tm_hour:02}:{moment.tm_min:02}"
    if moment.tm_sec or rest:
        text += f":{moment.tm_sec:02}"
    return f"{text}.{rest:03}" if rest else text
