"""The texts in the cells of pages: times, captures, columns.

Numbers are decimal, times `YYYY-MM-DDTHH:MM:SSZ`. A capture is one cell of the family `captures`:

    captures:20260901120000_sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ
        = kind TAB status TAB size TAB type TAB redirect TAB Last-Modified [TAB origin]

The qualifier sorts by time, then digest, which is the order of captures. `kind` is `response`,
`revisit`, or `told` where a file without bodies (WAT) describes the capture. The origin is where
the capture came from; empty fields at its end are left out, and captures of a program or of stores
up to format 3 have none:

    origin = file TAB offset[+bytes inside] TAB length TAB record id TAB IP address TAB protocols
             TAB truncation TAB claimed digest TAB revisited time TAB revisited URL

A record id `<urn:uuid:…>` is stored as 22 characters of base64, any other as it is. The claimed
digest is stored where it differs from that of the capture, the revisited URL where it differs from
that of the page.

Each version of a body has a second cell. It contains the digest of its captures, which may be the
digest of a compressed payload, and the digest of the body itself, so that every body can be
checked:

    content:digest = digest [TAB [digest of the body, where it differs]]

Stores up to format 2 have the first digest only. On-disk: changing this needs a
new format version. Frozen by tests/pages/storing/test_capture_cells.py.
"""

from __future__ import annotations

import binascii
import calendar
import re
import time
from functools import lru_cache
from typing import NamedTuple

from webtable.errors import CorruptData
from webtable.pages.columns import CAPTURE, HEAD
from webtable.pages.storing.page_versions import CaptureNote

__all__ = [
    "NO_LINKS",
    "BodyOf",
    "Origin",
    "capture_cells",
    "decode_body_of",
    "decode_note",
    "decode_origin",
    "decode_time",
    "encode_body_of",
    "encode_note",
    "encode_origin",
    "encode_time",
    "note_qualifier",
    "origin_text",
    "revisited_url",
    "with_claimed_digest",
]

NO_LINKS = "-"
"""The identity of the empty links of a response that was no success."""

_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)Z")
_STAMP = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)")
_KINDS = ("response", "revisit", "told")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
_NOTE_FIELDS = 6
_CLAIM_FIELD = 7  # of an origin
_MAX_FIELD, _MAX_NAME = 200, 2_100
_SHORT_CHARACTERS = 22
_URN = re.compile("<urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}>")
_POSITION = re.compile(r"([0-9]{1,18})(?:\+([0-9]{1,18}))?")


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


class Origin(NamedTuple):
    """Where a capture came from; it is not part of the identity of the capture.

    Attributes:
        file: the crawl file; empty for a capture of a program.
        offset: the position of the record in it, or of its compressed member.
        inside: unpacked bytes from there, where a member contains several records.
        length: the bytes of the record in the file; None where it shares a member with others.
        record_id: the id of the WARC record, as `<urn:uuid:…>`.
        address: the IP address of the server.
        protocol: the protocols of the response, separated by blanks.
        truncated: why the crawler cut the payload; empty: it did not.
        claimed_digest: the digest in the record, where it differs from that of the capture.
        revisited_time: when the capture was fetched that a revisit repeats.
        revisited_url: its URL, where it differs from that of the page.
    """

    file: str = ""
    offset: int | None = None
    inside: int = 0
    length: int | None = None
    record_id: str = ""
    address: str = ""
    protocol: str = ""
    truncated: str = ""
    claimed_digest: str = ""
    revisited_time: int | None = None
    revisited_url: str = ""


def encode_origin(origin: Origin) -> str:
    r"""Returns an origin as the last fields of a capture's cell; empty where nothing is known.

    >>> encode_origin(Origin("a.warc.gz", 120, 0, 431, address="192.0.2.1"))
    'a.warc.gz\t120\t431\t\t192.0.2.1'
    """
    file, offset, inside, length, record_id, address, protocol, cut, claim, revisited, url = origin
    every = f"{file}{record_id}{address}{protocol}{cut}{claim}{url}"
    if not every.isprintable() or len(every) > _MAX_FIELD:
        record_id, address, protocol, cut, claim = (
            _CONTROL.sub(" ", text[:_MAX_FIELD])
            for text in (record_id, address, protocol, cut, claim)
        )
        file, url = (_CONTROL.sub(" ", text[:_MAX_NAME]) for text in (file, url))
    place = "" if offset is None else f"{offset}+{inside}" if inside else f"{offset}"
    text = f"{file}\t{place}\t{'' if length is None else length}\t{_short_id(record_id)}\t{address}"
    # Most captures have none of these.
    if protocol or cut or claim or url or revisited is not None:
        at = "" if revisited is None else encode_time(revisited)
        text = f"{text}\t{protocol}\t{cut}\t{claim}\t{at}\t{url}"
    return text.rstrip("\t")


def _short_id(record_id: str) -> str:
    """Returns a record id, a UUID as 22 characters of base64; see `_long_id`."""
    if _URN.fullmatch(record_id):
        raw = bytes.fromhex(record_id[10:46].replace("-", ""))
        return binascii.b2a_base64(raw, newline=False)[:_SHORT_CHARACTERS].decode()
    # A blank tells another id of the same length from a short one.
    return f" {record_id}" if len(record_id) == _SHORT_CHARACTERS else record_id


@lru_cache(4_096)
def _long_id(text: str) -> str:
    if len(text) != _SHORT_CHARACTERS:
        return text[1:] if len(text) == _SHORT_CHARACTERS + 1 and text[0] == " " else text
    digits = binascii.a2b_base64(f"{text}==", strict_mode=True).hex()
    parts = digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]
    return f"<urn:uuid:{'-'.join(parts)}>"


def origin_text(value: bytes) -> str:
    """Returns the origin in a capture's cell as the text that `encode_origin` returned."""
    fields = value.decode("utf-8", "replace").split("\t", _NOTE_FIELDS)
    return fields[_NOTE_FIELDS] if len(fields) > _NOTE_FIELDS else ""


def revisited_url(origin: str) -> str:
    """Returns the URL that a revisit repeats, in a text of `encode_origin`; empty: its own."""
    fields = origin.split("\t")
    return fields[-1] if len(fields) == len(Origin._fields) - 1 else ""


def with_claimed_digest(origin: str, digest: str) -> str:
    r"""Returns a text of `encode_origin` with a claimed digest, unless it has one.

    >>> with_claimed_digest("a.warc.gz\t0", "sha1:A")
    'a.warc.gz\t0\t\t\t\t\t\tsha1:A'
    """
    fields = origin.split("\t")
    fields += [""] * (_CLAIM_FIELD + 1 - len(fields))
    fields[_CLAIM_FIELD] = fields[_CLAIM_FIELD] or digest
    return "\t".join(fields)


def decode_origin(value: bytes) -> Origin:
    """Returns the origin in a capture's cell.

    Raises:
        CorruptData: the cell is damaged.
    """
    try:
        fields = value.decode().split("\t")[_NOTE_FIELDS:]
        if not fields:
            return Origin()
        fields += [""] * (len(Origin._fields) - 1 - len(fields))
        file, at, length, record_id, address, protocol, truncated, claimed, revisited, url = fields
        found = _POSITION.fullmatch(at) if at else None
        if at and found is None:
            raise ValueError(at)
        record_bytes = int(length) if length else None
        long_id = _long_id(record_id)
    except ValueError as exc:
        raise CorruptData(
            f"the origin of a capture does not decode: {value!r:.200}",
            hint="the cell is damaged, or was written by another version of webtable",
        ) from exc
    return Origin(
        file,
        None if found is None else int(found[1]),
        0 if found is None else int(found[2] or 0),
        record_bytes,
        long_id,
        address,
        protocol,
        truncated,
        claimed,
        decode_time(revisited) if revisited else None,
        url,
    )


def encode_note(note: CaptureNote, origin: str = "") -> bytes:
    """Returns the value of a capture's cell; `origin` is a text of `encode_origin`."""
    header = "" if note.last_modified is None else encode_time(note.last_modified)
    kind = _KINDS[1 if note.is_revisit else 2 * note.is_described]
    media_type = _CONTROL.sub(" ", note.type)
    fields = (kind, str(note.status), str(note.size), media_type, note.redirect, header)
    # A file name may have bytes that are not text.
    text = "\t".join((*fields, origin) if origin else fields)
    return text.encode("utf-8", "replace")


def capture_cells(note: CaptureNote, head: bytes, origin: str) -> dict[bytes, bytes]:
    """Returns the cells of a capture: its own, and its head where it has one."""
    qualifier = note_qualifier(note)
    cells = {CAPTURE + qualifier: encode_note(note, origin)}
    if head:
        cells[HEAD + qualifier] = head
    return cells


def decode_note(qualifier: bytes, value: bytes) -> CaptureNote:
    """Returns the capture in a cell of the family `captures`.

    Raises:
        CorruptData: the cell does not contain a capture.
    """
    stamp, _, digest = qualifier.decode("utf-8", "replace").partition("_")
    at = _stamp_seconds(stamp)
    try:
        fields = value.decode().split("\t", _NOTE_FIELDS)
        kind, status, size, media_type, redirect, header = fields[:_NOTE_FIELDS]
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
