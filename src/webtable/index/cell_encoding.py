"""The bytes of the index machinery: revision, pending removals, entries, claims.

On-disk: changing this needs a new format version; `tests/index/test_cell_encoding.py` freezes it.
Numbers are big-endian and unsigned. Every cell is stamped with a revision, see `table.py`.

In an indexed row, two cells (the prefix is configurable, for example `a:.`):

    a:.rev      | revision 8 | token 8 |
    a:.pending  empty, or
                | 1 | revision 8 | removal … |
      removal:  | kind 1 | table | row key | column |, each of the three as | length 2 | bytes |
      kind:     0 an entry, 1 a claim; revision: the one that the row had before

In an index table (the family is `e` unless the index names another):

    plain entry    row key: the entry's; column `e:` + what it covers; value: the row that it is of
    unique entry   row key: the entry's; column `e:`; value
      claimed      | 1 | revision 8 | token 8 | row key of the owner … |
      free         | 0 | timestamp 8 | token 8 |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from webtable.errors import CorruptData, InvalidRequest

__all__ = [
    "REVISION_BYTES",
    "Claim",
    "Removal",
    "Revision",
    "decode_claim",
    "decode_pending",
    "decode_revision",
    "encode_claim",
    "encode_free",
    "encode_pending",
    "encode_revision",
]

REVISION_BYTES = 16
_FREE, _CLAIMED = 0, 1
_PENDING_FORMAT = b"\x01"
_LONGEST = 0xFFFF


class Revision(NamedTuple):
    """The content of a revision cell; a row that was never written has the number 0."""

    number: int
    token: bytes


class Removal(NamedTuple):
    """One entry that a row has no more: where it is, and whether it is a claim."""

    table: str
    key: bytes
    column: bytes
    is_claim: bool = False


class Claim(NamedTuple):
    """The content of a unique entry: its owner, since which revision; None if it is free."""

    owner: bytes | None
    revision: Revision


def encode_revision(revision: Revision) -> bytes:
    """Returns a revision cell."""
    return revision.number.to_bytes(8, "big") + revision.token


def decode_revision(value: bytes) -> Revision:
    """Decodes a revision cell.

    Raises:
        CorruptData: the bytes do not decode.
    """
    if len(value) != REVISION_BYTES:
        raise CorruptData(
            f"a revision cell has {len(value)} bytes, not {REVISION_BYTES}",
            hint="was the row written without its indexes? delete the cell and rebuild the indexes",
        )
    return Revision(int.from_bytes(value[:8], "big"), value[8:])


def encode_pending(revision: int, removals: Sequence[Removal]) -> bytes:
    """Returns a pending cell; empty when there is nothing to remove.

    Raises:
        InvalidRequest: an entry is too long to be named.
    """
    if not removals:
        return b""
    parts = [_PENDING_FORMAT, revision.to_bytes(8, "big")]
    for table, key, column, is_claim in removals:
        parts.append(b"\x01" if is_claim else b"\x00")
        for field in (table.encode(), key, column):
            if len(field) > _LONGEST:
                raise InvalidRequest(
                    f"an index entry of {len(field):,} bytes: {field[:40]!r}…",
                    hint="the key of an entry, and what it covers, have up to 65,535 bytes each",
                )
            parts += (len(field).to_bytes(2, "big"), field)
    return b"".join(parts)


def decode_pending(value: bytes) -> tuple[int, list[Removal]]:
    """Returns the revision that the entries had at most, and the entries.

    Raises:
        CorruptData: it is not a pending cell.
    """
    removals: list[Removal] = []
    if not value:
        return 0, removals
    at = 9
    while at < len(value):
        is_claim = value[at] == 1
        at += 1
        fields = []
        for _ in range(3):
            end = at + 2 + int.from_bytes(value[at : at + 2], "big")
            fields.append(value[at + 2 : end])
            at = end
        removals.append(Removal(fields[0].decode(), fields[1], fields[2], is_claim))
    if value[:1] != _PENDING_FORMAT or at != len(value):
        raise CorruptData(
            f"a pending cell does not decode: {value[:40]!r}",
            hint="it was written by another version, or is damaged",
        )
    return int.from_bytes(value[1:9], "big"), removals


def encode_claim(revision: Revision, owner: bytes) -> bytes:
    """Returns the value of a unique entry that a row has."""
    return b"\x01" + encode_revision(revision) + owner


def encode_free(revision: Revision) -> bytes:
    """Returns the value of a unique entry that no row has."""
    return b"\x00" + encode_revision(revision)


def decode_claim(value: bytes) -> Claim:
    """Decodes a unique entry.

    Raises:
        CorruptData: the bytes do not decode.
    """
    kind, revision = value[:1], value[1 : REVISION_BYTES + 1]
    owner = value[REVISION_BYTES + 1 :]
    if (
        kind not in {b"\x00", b"\x01"}
        or len(revision) != REVISION_BYTES
        or (kind == b"\x01") != (len(owner) > 0)
    ):
        raise CorruptData(
            f"a unique entry does not decode: {value[:40]!r}",
            hint="was the table written without its index? empty it and rebuild the index",
        )
    return Claim(owner or None, decode_revision(revision))
