"""The texts in the cells of pages: times, captures, columns.

Numbers are decimal, times `YYYY-MM-DDTHH:MM:SSZ`. A capture is one cell of the family `captures`:

    captures:20260901120000_sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ
        = kind TAB status TAB size TAB type TAB redirect TAB Last-Modified

The qualifier sorts by time, then digest, which is the order of captures. `kind` is `response`,
`revisit`, or `told` where a file without bodies (WAT) describes the capture.

Each version of a body has a second cell. It contains the digest of its captures, which may be the
digest of a compressed payload, and the digest of the body itself, so that every body can be
checked:

    content:digest = digest [TAB [digest of the body, where it differs]]

Stores up to format 2 have the first digest only. On-disk: changing this needs a
new format version. Frozen by tests/pages/storing/test_cells.py.
"""

from __future__ import annotations

import calendar
import re
import time
from functools import lru_cache
from typing import NamedTuple

from webtable.errors import CorruptData
from webtable.pages.storing.history import CaptureNote

__all__ = [
    "NO_LINKS",
    "BodyOf",
    "decode_body_of",
    "decode_note",
    "decode_time",
    "encode_body_of",
    "encode_note",
    "encode_time",
    "note_qualifier",
]

NO_LINKS = "-"
"""The identity of the empty links of a response that was no success."""

_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)Z")
_STAMP = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)")
_KINDS = ("response", "revisit", "told")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")


@lru_cache(4_096)
def encode_time(seconds: int) -> str:
    """Returns a time as text.

    >>> encode_time(1_788_264_000)
    '2026-09-01T12:00:00Z'
    """
    return "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z".format(*time.gmtime(seconds)[:6])


@lru_cache(4_096)
def decode_time(text: str) -> int:
    """Returns a time from text, in seconds since 1970.

    Raises:
        CorruptData: the text is not a time.
    """
    return _seconds(_TIME.fullmatch(text), text)


class BodyOf(NamedTuple):
    """The digests of a stored body.

    Attributes:
        digest: the digest of its captures.
        own: the digest of the body itself; None where it was not stored.
    """

    digest: str
    own: str | None


def encode_body_of(digest: str, own: str | None) -> bytes:
    r"""Returns the value of the digest cell of a body.

    >>> encode_body_of("sha1:A", "sha1:A"), encode_body_of("sha1:A", "sha1:B")
    (b'sha1:A\t', b'sha1:A\tsha1:B')
    """
    if own is None:
        return digest.encode()
    return f"{digest}\t{'' if own == digest else own}".encode()


def decode_body_of(value: bytes) -> BodyOf:
    """Returns the digests in the digest cell of a body."""
    digest, tab, own = value.decode().partition("\t")
    return BodyOf(digest, (own or digest) if tab else None)


def note_qualifier(note: CaptureNote) -> bytes:
    """Returns the qualifier of a capture's cell."""
    return f"{_stamp(note.time)}_{note.digest}".encode()


@lru_cache(4_096)
def _stamp(seconds: int) -> str:
    return "{:04}{:02}{:02}{:02}{:02}{:02}".format(*time.gmtime(seconds)[:6])


def encode_note(note: CaptureNote) -> bytes:
    """Returns the value of a capture's cell."""
    header = "" if note.last_modified is None else encode_time(note.last_modified)
    kind = _KINDS[1 if note.is_revisit else 2 * note.is_described]
    media_type = _CONTROL.sub(" ", note.type)
    fields = (kind, str(note.status), str(note.size), media_type, note.redirect, header)
    return "\t".join(fields).encode()


def decode_note(qualifier: bytes, value: bytes) -> CaptureNote:
    """Returns the capture in a cell of the family `captures`.

    Raises:
        CorruptData: the cell does not contain a capture.
    """
    stamp, _, digest = qualifier.decode("utf-8", "replace").partition("_")
    at = _stamp_seconds(stamp)
    try:
        kind, status, size, media_type, redirect, header = value.decode().split("\t")
        return CaptureNote(
            at,
            digest,
            int(status),
            int(size),
            media_type,
            redirect,
            decode_time(header) if header else None,
            kind == "revisit",
            _KINDS.index(kind) == 2,
        )
    except ValueError as exc:
        raise CorruptData(
            f"the capture {qualifier!r:.80} does not decode: {value!r:.80}",
            hint="the cell is damaged, or was written by another version of webtable",
        ) from exc


@lru_cache(4_096)
def _stamp_seconds(stamp: str) -> int:
    return _seconds(_STAMP.fullmatch(stamp), stamp)


def _seconds(found: re.Match[str] | None, text: str) -> int:
    if found is None:
        raise CorruptData(f"{text!r:.40} is not a time", hint="the cell is damaged")
    year, month, day, hour, minute, second = map(int, found.groups())
    return calendar.timegm((year, month, day, hour, minute, second))
