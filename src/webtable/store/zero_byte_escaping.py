"""Bytes without any 00, in the order of those they stand for: 00 becomes 01 01, 01 becomes 01 02.

So a 00 can end a part of a key, and a shorter part comes before a longer one that begins with it.
The embedded engine's keys and the keys of records are made so.

On-disk: changing this needs a new format version, of both.
"""

from __future__ import annotations

__all__ = ["escape", "unescape"]


def escape(part: bytes) -> bytes:
    r"""Returns the part without any 00, in the same order as unescaped parts have.

    >>> escape(b"com.example"), escape(bytes([0, 1, 2]))
    (b'com.example', b'\x01\x01\x01\x02\x02')
    """
    if b"\x01" in part:
        part = part.replace(b"\x01", b"\x01\x02")
    if b"\x00" in part:
        part = part.replace(b"\x00", b"\x01\x01")
    return part


def unescape(part: bytes) -> bytes:
    """Returns what `escape` was given."""
    if b"\x01" in part:
        # A run of 01 begins with the first byte of a pair, so no pair is found out of step.
        part = part.replace(b"\x01\x01", b"\x00").replace(b"\x01\x02", b"\x01")
    return part
