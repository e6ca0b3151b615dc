"""`Value`: what results have in common. They turn into a dict, into JSON, into a row of a table."""

from __future__ import annotations

import msgspec

__all__ = ["Value"]


class Value:
    """A typed result. Its attributes are plain values: texts, numbers, lists, other results."""

    __slots__ = ()

    def to_dict(self) -> dict[str, object]:
        """Returns the attributes by name, as plain dicts, lists, texts and numbers."""
        plain: dict[str, object] = msgspec.to_builtins(self)
        return plain

    def to_json(self) -> str:
        """Returns the same as one line of JSON."""
        return msgspec.json.encode(self).decode()
