"""The types of structured data in a page: `@type` of JSON-LD, and `itemtype` of microdata."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from webtable.pages.body_facts import MAX_TYPES

__all__ = ["MAX_JSON_BYTES", "structured_types"]

MAX_JSON_BYTES = 256 * 1024
"""How many bytes of JSON-LD of a page are read, all blocks together."""

_MAX_TYPE = 100
_MAX_VALUES = 20_000
_SCHEMA = ("http://schema.org/", "https://schema.org/")
_decode = msgspec.json.Decoder().decode


def structured_types(
    page: bytes, json_ld: Iterable[tuple[int, int]], item_types: Iterable[tuple[int, int]]
) -> Sequence[str]:
    """Returns the distinct types in a page, in its order, first those of JSON-LD.

    Types of schema.org have their short name, such as `Product`. Blocks that are not JSON are left
    out.

    Args:
        page: the HTML.
        json_ld, item_types: places in it, as (start, stop).
    """
    found: dict[str, None] = {}
    left = MAX_JSON_BYTES
    for start, stop in json_ld:
        left -= stop - start
        if left < 0:
            break
        for each in _types_in(page[start:stop]):
            _add(found, each)
    for start, stop in item_types:
        text = html.unescape(page[start : min(stop, start + 1_000)].decode("utf-8", "replace"))
        for each in text.split():
            _add(found, each)
    return list(found)


def _add(found: dict[str, None], name: str) -> None:
    name = name.strip()
    for prefix in _SCHEMA:
        name = name.removeprefix(prefix)
    if name and len(found) < MAX_TYPES:
        found[name[:_MAX_TYPE]] = None


def _types_in(block: bytes) -> Iterator[str]:
    """Yields the values of `@type` in a block of JSON, in its order."""
    try:
        waiting: list[object] = [_decode(block)]
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return
    steps = 0
    while waiting and steps < _MAX_VALUES:
        steps += 1
        value = waiting.pop()
        if isinstance(value, list):
            waiting += reversed(value)
        elif isinstance(value, dict):
            named = value.get("@type")
            for each in named if isinstance(named, list) else (named,):
                if isinstance(each, str):
                    yield each
            waiting += reversed([each for each in value.values() if isinstance(each, dict | list)])
