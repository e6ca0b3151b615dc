r"""The bytes in the cells of the link index.

    page:cur          zlib of the links of the newest good answer: a line a link, URL, rel and
                      anchor with tabs between, those of one target side by side; empty where there
                      are none
    page:at           the revision of the page's own row that `cur` was taken from, decimal
    page:journal      zlib of target URIs, one a line; empty where nothing is to be done
    page:incount      how many pages link here, decimal
    page:count        the same of one shard; domain:pagecount: URIs of one shard of a domain
    inlinks:<source>  `+` and a line a link: rel TAB anchor. `-`: the source linked here once.
                      The timestamp is the guard: the revision of `p:<source>` it was taken from.
    members:<uri>     `+` or `-`: whether the URI is crawled or linked to; the guard likewise
    …:shardrev        revision and token, as in `webtable.index.cells`
    w:<token>         an intent: time TAB digest of the capture; the timestamp says how old it is
    w:targets         a mark: zlib of URIs, one a line

On-disk: changing this needs a new format version. Frozen by tests/links/test_cells.py.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from webtable import compiled
from webtable.errors import CorruptData

if TYPE_CHECKING:
    from webtable.links import target_states
else:
    target_states = compiled.load("webtable.links", "target_states")

__all__ = [
    "GONE",
    "Inlink",
    "Words",
    "decode_cur",
    "decode_inlink",
    "decode_uris",
    "encode_cur",
    "encode_uris",
    "live_values",
]

GONE = b"-"
"""The state of a link that was there once."""

live_values = target_states.live_values

_FAST = 1


class Words(NamedTuple):
    """One of the links between two pages: its rel and its anchor."""

    rel: str
    anchor: str


class Inlink(NamedTuple):
    """What a target remembers of a source: whether it links here now, and how."""

    is_live: bool
    words: tuple[Words, ...]


def encode_cur(text: str) -> bytes:
    """Returns the links of a page as they are stored."""
    return zlib.compress(text.encode(), _FAST) if text else b""


def decode_cur(stored: bytes | None) -> str:
    """Returns the links of a page, a line a link.

    Raises:
        CorruptData: they do not decode.
    """
    return _unpacked(stored).decode() if stored else ""


def decode_inlink(stored: bytes) -> Inlink:
    """Returns what a link's cell says.

    Raises:
        CorruptData: it is none.
    """
    if stored == GONE:
        return Inlink(is_live=False, words=())
    if stored[:1] != b"+":
        raise CorruptData(
            f"a link's cell does not decode: {stored!r:.60}", hint="rebuild the link index"
        )
    text = stored[1:].decode()
    if "\n" not in text:  # most pages link to another one once
        return Inlink(True, (_words(text),))
    return Inlink(True, tuple(map(_words, text.split("\n"))))


def _words(line: str) -> Words:
    rel, _, anchor = line.partition("\t")
    return Words(rel, anchor)


def encode_uris(uris: Iterable[bytes]) -> bytes:
    """Returns URIs as one value, sorted; empty where there are none."""
    text = b"\n".join(sorted(uris))
    return zlib.compress(text, _FAST) if text else b""


def decode_uris(stored: bytes | None) -> list[bytes]:
    """Returns the URIs of a value.

    Raises:
        CorruptData: they do not decode.
    """
    return _unpacked(stored).split(b"\n") if stored else []


def _unpacked(stored: bytes) -> bytes:
    try:
        return zlib.decompress(stored)
    except zlib.error as exc:
        raise CorruptData(
            f"a cell of the link index does not decode: {exc}", hint="rebuild the link index"
        ) from exc
