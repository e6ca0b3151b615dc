"""The functions that programs import from `happybase.util`; the name of the module is happybase's.

Nothing here is used by the rest of the package.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import Any, ClassVar, Protocol

from webtable.happybase.conversions import as_bytes as ensure_bytes
from webtable.store.scan import prefix_end

__all__ = [
    "CAPITALS",
    "OrderedDict",
    "bytes_increment",
    "camel_case_to_pep8",
    "ensure_bytes",
    "pep8_to_camel_case",
    "thrift_attrs",
    "thrift_type_to_dict",
]

CAPITALS = re.compile("([A-Z])")


class ThriftType(Protocol):
    """A class that thriftpy2 made, or an object of one: its fields by their numbers."""

    thrift_spec: ClassVar[dict[int, tuple[Any, ...]]]


def camel_case_to_pep8(name: str) -> str:
    """Returns a name of Thrift's as Python writes it.

    >>> camel_case_to_pep8("timeToLive")
    'time_to_live'
    """
    return CAPITALS.sub(lambda found: "_" + found[0].lower(), name).removeprefix("_")


def pep8_to_camel_case(name: str, initial: bool = False) -> str:
    """Returns a name of Python's as Thrift writes it, with `initial` as that of a class.

    >>> pep8_to_camel_case("time_to_live")
    'timeToLive'
    """
    first, *others = name.split("_")
    joined = "".join(_capitalized(word) for word in others)
    return (_capitalized(first) if initial else first.lower()) + joined


def _capitalized(word: str) -> str:
    return word[:1].upper() + word[1:].lower()


def bytes_increment(b: bytes) -> bytes | None:
    r"""Returns the first key after all keys with that prefix; None when no key follows.

    >>> bytes_increment(b"a\xff")
    b'b'
    """
    return prefix_end(b) or None


def thrift_attrs(obj_or_cls: ThriftType) -> list[str]:
    """Returns the names of a Thrift type's fields."""
    return [field[1] for field in obj_or_cls.thrift_spec.values()]


def thrift_type_to_dict(obj: ThriftType) -> dict[str, Any]:
    """Returns the fields of an object of a Thrift type, by their names as Python writes them."""
    return {camel_case_to_pep8(name): getattr(obj, name) for name in thrift_attrs(obj)}
