"""The bytes of one cell on disk.

On-disk: changing this needs a new format version (`FORMAT_VERSION`). Frozen by golden tests.

    key    escaped row | 00 | escaped qualifier | 00 | 8 bytes | 1 byte
                                                       |         └ 255 - type
                                                       └ 2^63 - 1 - timestamp, big-endian
    value  the bytes of the value                        type 4, an ordinary put; empty in a marker
           the bytes of the value | 00                   type 5, a tagged put
           the bytes of the value | ttl, 8 bytes | 01    type 5, with its own time to live in ms

From the first put with a TTL of its own on, all puts of that family are tagged; so of two puts with
one timestamp the tagged one is the later, and it comes first.

Escaping keeps byte order and frees 00 to end a part: 00 is written 01 01, and 01 is written
01 02. Timestamp and type are inverted, so that forward order is HBase's: newest version first, and
at one timestamp a delete marker before the put that it hides. The family is not in the key; every
family of a table has its own RocksDB column family. Markers of a whole family have an empty
qualifier and so come before every column of the row but the one without a name.
"""

from __future__ import annotations

from typing import Final

from webtable.store.cells_and_rows import MAX_TIMESTAMP, CellType
from webtable.store.zero_byte_escaping import escape, unescape

__all__ = [
    "FORMAT_VERSION",
    "SUFFIX_BYTES",
    "TAGGED",
    "decode_key",
    "decode_tagged",
    "decode_timestamp",
    "encode_key",
    "encode_suffix",
    "encode_tagged",
    "escape",
    "is_put",
    "row_end",
    "unescape",
]

FORMAT_VERSION: Final = 1
SUFFIX_BYTES: Final = 9
TAGGED: Final = 5


def encode_suffix(timestamp: int, kind: int) -> bytes:
    """Returns the last nine bytes of a key: inverted timestamp and inverted type."""
    return ((MAX_TIMESTAMP - timestamp) << 8 | 255 - kind).to_bytes(SUFFIX_BYTES, "big")


def encode_key(row: bytes, qualifier: bytes, timestamp: int, kind: int = CellType.PUT) -> bytes:
    """Returns the key of one cell."""
    return b"%b\x00%b\x00%b" % (escape(row), escape(qualifier), encode_suffix(timestamp, kind))


def decode_key(key: bytes) -> tuple[bytes, bytes, int, int]:
    """Returns row, qualifier, timestamp and type of a cell's key."""
    end = key.index(0)
    suffix = len(key) - SUFFIX_BYTES
    row, qualifier = unescape(key[:end]), unescape(key[end + 1 : suffix - 1])
    return row, qualifier, decode_timestamp(key[suffix:]), 255 - key[-1]


def decode_timestamp(suffix: bytes) -> int:
    """Returns the timestamp of a key's last nine bytes."""
    return MAX_TIMESTAMP - int.from_bytes(suffix[:8], "big")


def encode_tagged(value: bytes, ttl_ms: int | None = None) -> bytes:
    """Returns the value of a tagged put as it is stored."""
    if ttl_ms is None:
        return value + b"\x00"
    return value + ttl_ms.to_bytes(8, "big") + b"\x01"


def decode_tagged(stored: bytes) -> tuple[bytes, int | None]:
    """Returns the value of a tagged put, and its own time to live, None when it has none."""
    if stored[-1] == 1:
        return stored[:-9], int.from_bytes(stored[-9:-1], "big")
    return stored[:-1], None


def is_put(kind: int) -> bool:
    """Whether a stored type is that of a put, tagged or not."""
    return kind in (CellType.PUT, TAGGED)


def row_end(row_prefix: bytes) -> bytes:
    """Returns the first possible key after a row, of which `row_prefix` is `escaped row | 00`."""
    return row_prefix[:-1] + b"\x01"
