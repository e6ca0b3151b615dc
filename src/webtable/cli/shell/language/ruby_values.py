"""The values of the language, how they are shown, and what an argument must be.

A string is bytes; a hash has text as its keys. The functions that begin with `to_` convert what a
user wrote to what a command needs; their errors name what was expected.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from webtable.cli.output_formats import show_bytes
from webtable.cli.shell.language.ruby_constants import suggestion
from webtable.errors import InvalidRequest

__all__ = [
    "TableRef",
    "Value",
    "check_keys",
    "inspect_value",
    "kind_of",
    "show_float",
    "to_bool",
    "to_bytes",
    "to_hash",
    "to_int",
    "to_list",
    "to_text",
]


class TableRef:
    """A table that a variable refers to: `t = get_table 't'`."""

    def __init__(self, name: str) -> None:
        self.name = name


Value: TypeAlias = "bytes | int | float | bool | list[Value] | dict[str, Value] | TableRef | None"


def inspect_value(value: Value) -> str:
    """Returns a value as Ruby's `inspect` shows it.

    >>> inspect_value([b"t1", 5, True, None, {"NAME": b"f"}])
    '["t1", 5, true, nil, {"NAME"=>"f"}]'
    """
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return f'"{_inspect_bytes(value)}"'
    if isinstance(value, list):
        return f"[{', '.join(map(inspect_value, value))}]"
    if isinstance(value, dict):
        pairs = (f"{inspect_value(key.encode())}=>{inspect_value(v)}" for key, v in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, TableRef):
        return f"Hbase::Table - {value.name}"
    return show_float(value) if isinstance(value, float) else str(value)


def show_float(value: float) -> str:
    """Returns a number as Ruby shows it.

    >>> show_float(1.5), show_float(1e20)
    ('1.5', '1.0e+20')
    """
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    text = repr(value)
    head, exponent, tail = text.partition("e")
    return f"{head}.0e{tail}" if exponent and "." not in head else text.replace("nan", "NaN")


def _inspect_bytes(value: bytes) -> str:
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return show_bytes(value).replace('"', '\\"')
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\x1b": "\\e"}
    return "".join(
        escapes.get(char) or (char if char.isprintable() else f"\\u{ord(char):04X}")
        for char in text
    )


def kind_of(value: Value) -> str:
    """Returns the kind of a value, for an error message."""
    if value is None:
        return "nil"
    names = {
        bytes: "a string",
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "a hash",
        TableRef: "a table",
    }
    return names[type(value)]


def _wrong(what: str, expected: str, value: Value) -> InvalidRequest:
    return InvalidRequest(
        f"{what} is {kind_of(value)}: {inspect_value(value):.60}", hint=f"expected {expected}"
    )


def to_bytes(value: Value, what: str) -> bytes:
    """Returns a string as it is, a number or boolean written out, as HBase's shell does."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, (int, float)):
        return inspect_value(value).encode()
    raise _wrong(what, "a string in quotes", value)


def to_text(value: Value, what: str) -> str:
    """Returns a string, or a table's name, as text."""
    if isinstance(value, TableRef):
        return value.name
    if not isinstance(value, bytes):
        raise _wrong(what, "a string in quotes", value)
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise InvalidRequest(
            f"{what} '{show_bytes(value)}' is not text", hint="names are UTF-8"
        ) from None


def to_int(value: Value, what: str) -> int:
    """Returns a whole number; one in quotes will do."""
    if isinstance(value, bytes) and value.isascii() and 0 < len(value) <= 20:
        text = value.decode()
        if text.removeprefix("-").isdecimal():
            return int(text)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(what, "a whole number", value)
    return value


def to_bool(value: Value, what: str) -> bool:
    """Returns true or false; one in quotes will do."""
    if isinstance(value, bytes) and value.lower() in (b"true", b"false"):
        return value.lower() == b"true"
    if not isinstance(value, bool):
        raise _wrong(what, "true or false", value)
    return value


def to_list(value: Value, what: str) -> list[Value]:
    """Returns a list."""
    if not isinstance(value, list):
        raise _wrong(what, "a list, such as ['a', 'b']", value)
    return value


def to_hash(value: Value, what: str) -> dict[str, Value]:
    """Returns a hash."""
    if not isinstance(value, dict):
        raise _wrong(what, "a hash, such as {LIMIT => 10}", value)
    return value


def check_keys(command: str, options: dict[str, Value], allowed: Iterable[str]) -> None:
    """Rejects options that a command does not have.

    Raises:
        InvalidRequest: an option is unknown; the hint has the right names.
    """
    names = sorted(allowed)
    for key in options:
        if key not in names:
            hint = suggestion(key.upper(), names) or f"it has {', '.join(names)}"
            raise InvalidRequest(f"{command} has no option {key}", hint=hint)
