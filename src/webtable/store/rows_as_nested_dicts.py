"""Rows as nested dicts, `{row: {family: {qualifier: {timestamp: value}}}}`: the data model drawn.

For printing rows, for tests and for JSON. The dicts are in the store's order: rows by key,
families and qualifiers by name, versions newest first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias, TypeVar

from webtable.errors import InvalidRequest
from webtable.store.cells_and_rows import Nested, Row

__all__ = ["NestedRows", "NestedText", "nested_rows", "nested_text", "shown"]

NestedRows: TypeAlias = dict[bytes, Nested]
"""row → family → qualifier → timestamp → value."""

NestedText: TypeAlias = dict[str, dict[str, dict[str, dict[int, str]]]]
"""The same as text."""

_Old = TypeVar("_Old")
_New = TypeVar("_New")


def nested_rows(rows: Iterable[Row]) -> NestedRows:
    """Returns rows as nested dicts, which hold all of them at once."""
    return {row.key: row.nested() for row in rows}


def nested_text(rows: Iterable[Row]) -> NestedText:
    """Returns rows as nested dicts of text; see `shown` for what becomes of bytes.

    Raises:
        InvalidRequest: two row keys, or two qualifiers of a family, have the same text.
    """

    def columns(family: dict[bytes, dict[int, bytes]]) -> dict[str, dict[int, str]]:
        return _named(family, lambda versions: {at: shown(v) for at, v in versions.items()})

    return _named(nested_rows(rows), lambda families: _named(families, columns))


def shown(part: bytes) -> str:
    r"""Returns bytes as text: UTF-8 where they are that, else as the HBase shell shows them.

    >>> shown("Zürich".encode()), shown(bytes([65, 0, 255]))
    ('Zürich', 'A\\x00\\xFF')
    """
    try:
        return part.decode()
    except UnicodeDecodeError:
        return "".join(
            chr(byte) if 32 <= byte < 127 and byte != ord("\\") else f"\\x{byte:02X}"
            for byte in part
        )


def _named(level: Mapping[bytes, _Old], change: Callable[[_Old], _New]) -> dict[str, _New]:
    named = {shown(name): change(each) for name, each in level.items()}
    if len(named) < len(level):
        seen: dict[str, bytes] = {}
        for name in level:
            if seen.setdefault(shown(name), name) != name:
                raise InvalidRequest(
                    f"{seen[shown(name)]!r:.80} and {name!r:.80} are both {shown(name)!r:.80}",
                    hint="they are not all UTF-8: leave out text=True to have the bytes",
                )
    return named
