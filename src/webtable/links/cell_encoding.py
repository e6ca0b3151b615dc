r"""The bytes in the cells of the link index.

    page:cur          zlib of the links of the newest successful response: a line for each link,
                      with URL, rel and anchor separated by tabs; links to one target side by side;
                      empty if the page has no links
    page:at           the revision of the page's own row that `cur` was read from, decimal
    page:removed      the revision of the tombstone of a removed page, decimal; links that were read
                      from an earlier revision are not written any more
    page:changed      the revision of the last change of `cur`, 16 digits, TAB, `new` or `changed`
    page:journal      zlib of target URIs, one in each line; empty if no work is left
    page:incount      how many pages link here, decimal
    page:count        the same for one shard; domain:pagecount: URIs in one shard of a domain
    inlinks:<source>  `+` and a line for each link: rel TAB anchor. `-`: it linked here once.
                      The timestamp is the guard: the revision of `p:<source>` it was read from.
    members:<uri>     `+` or `-`: whether the URI is crawled or linked to; the guard likewise
    …:shardrev        revision and token, as in `webtable.index.cell_encoding`
    w:<token>         an intent: time TAB digest of the capture; the timestamp is its time
    w:targets         a mark: zlib of URIs, one in each line

On-disk: changing this needs a new format version. Frozen by tests/links/test_cell_encoding.py.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from webtable import compiled
from webtable.errors import CorruptData

if TYPE_CHECKING:
    from webtable.links import live_link_values
else:
    live_link_values = compiled.load("webtable.links", "live_link_values")

__all__ = [
    "GONE",
    "Inlink",
    "LinkText",
    "decode_cur",
    "decode_inlink",
    "decode_uris",
    "encode_cur",
    "encode_uris",
    "live_values",
    "unpacked_links",
]

GONE = b"-"
"""The state of a link that the source has no longer."""

live_values = live_link_values.live_values

_FAST = 1
_PIECE_BYTES = 65_536


class LinkText(NamedTuple):
    """One link between two pages: its rel and its anchor text."""

    rel: str
    anchor: str


class Inlink(NamedTuple):
    """What is stored at a target about a source: whether it links here now, and its links."""

    is_live: bool
    links: tuple[LinkText, ...]


def encode_cur(text: str) -> bytes:
    """Encodes the links of a page for storage."""
    return zlib.compress(text.encode(), _FAST) if text else b""


def decode_cur(stored: bytes | None) -> str:
    """Decodes the stored links of a page; one line for each link.

    Raises:
        CorruptData: the value does not decode.
    """
    return _unpacked(stored).decode() if stored else ""


def unpacked_links(stored: bytes) -> Iterator[str]:
    """Yields the links of a `page:cur`, a line for each link; decompresses only what is read.

    Raises:
        CorruptData: the links do not decode.
    """
    if not stored:
        return
    unpack, left = zlib.decompressobj(), b""
    try:
        while stored:
            *whole, left = (left + unpack.decompress(stored, _PIECE_BYTES)).split(b"\n")
            stored = unpack.unconsumed_tail
            for line in whole:
                yield line.decode()
        left += unpack.flush()
    except zlib.error as exc:
        raise CorruptData(
            f"the links of a page do not decode: {exc}", hint="rebuild the link index"
        ) from exc
    for line in left.split(b"\n"):
        yield line.decode()


def decode_inlink(stored: bytes) -> Inlink:
    """Decodes the cell of a link.

    Raises:
        CorruptData: the value is not a link's cell.
    """
    if stored == GONE:
        return Inlink(is_live=False, links=())
    if stored[:1] != b"+":
        raise CorruptData(
            f"a link's cell does not decode: {stored!r:.60}", hint="rebuild the link index"
        )
    text = stored[1:].decode()
    if "\n" not in text:  # most pages link only once to another page
        return Inlink(True, (_link_text(text),))
    return Inlink(True, tuple(map(_link_text, text.split("\n"))))


def _link_text(line: str) -> LinkText:
    rel, _, anchor = line.partition("\t")
    return LinkText(rel, anchor)


def encode_uris(uris: Iterable[bytes]) -> bytes:
    """Encodes URIs as one value, sorted; empty if there are no URIs."""
    text = b"\n".join(sorted(uris))
    return zlib.compress(text, _FAST) if text else b""


def decode_uris(stored: bytes | None) -> list[bytes]:
    """Decodes the URIs of a value.

    Raises:
        CorruptData: the value does not decode.
    """
    return _unpacked(stored).split(b"\n") if stored else []


def _unpacked(stored: bytes) -> bytes:
    try:
        return zlib.decompress(stored)
    except zlib.error as exc:
        raise CorruptData(
            f"a cell of the link index does not decode: {exc}", hint="rebuild the link index"
        ) from exc
