"""HTTP answers as crawls record them: the head, and the body without its codings.

Real crawls lie about codings: many tools unpack a body and keep the header that names the coding,
or take chunking off and keep the header. So a coding is taken off where the bytes have it, and
the bytes are left as they are where they do not. What comes out is limited, whatever goes in.

brotli is imported here only.
"""

from __future__ import annotations

import re
import zlib
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import NamedTuple, Protocol

import brotli

from webtable.pages.frames import ZSTD_MAGIC, ZstdError, new_frame

__all__ = ["Body", "Head", "decode_body", "http_time", "media_type", "parse_head", "parse_headers"]

_MAX_HEAD_BYTES = 64 * 1024
_MAX_CODINGS = 4
_GZIP_MAGIC = b"\x1f\x8b"
_STEP = 1024 * 1024
_HTTP_DATE = re.compile(r"[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Head(NamedTuple):
    """The head of an HTTP answer. `headers` has the last value of a name, in lower case."""

    status: int
    headers: dict[str, str]
    length: int
    """Bytes of the head: where the body begins."""


class Body(NamedTuple):
    """A body without codings; `content` is None where it would be longer than allowed."""

    content: bytes | None
    is_cut: bool = False
    """Whether a coding broke off, and `content` is what came before."""


def parse_head(block: bytes) -> Head | None:
    """Takes the head off an HTTP answer; None where there is none to be read."""
    if not block.startswith(b"HTTP/"):
        return None
    end = block.find(b"\r\n\r\n", 0, _MAX_HEAD_BYTES)
    length = end + 4
    if end < 0:
        # Old crawls have heads with plain line ends, or a head and nothing behind it.
        end = block.find(b"\n\n", 0, _MAX_HEAD_BYTES)
        length = end + 2
        if end < 0:
            if len(block) > _MAX_HEAD_BYTES:
                return None
            end = length = len(block)
    line, _, rest = block[:end].decode("latin-1").partition("\n")
    words = line.split(None, 2)
    if len(words) < 2 or len(words[1]) != 3 or not words[1].isascii() or not words[1].isdigit():
        return None
    return Head(int(words[1]), parse_headers(rest), length)


def parse_headers(text: str) -> dict[str, str]:
    """Returns the headers of a text by their names in lower case; the last of a name counts."""
    headers: dict[str, str] = {}
    name = ""
    for line in text.split("\n"):
        before, colon, value = line.partition(":")
        if line[:1] in (" ", "\t"):  # goes on with the line before
            if name:
                headers[name] = f"{headers[name]} {line.strip()}"
        elif colon:
            name = before.strip().lower()
            headers[name] = value.strip()
    return headers


@lru_cache(4096)
def media_type(value: str) -> tuple[str, str]:
    """Returns the type and the charset of a Content-Type header.

    >>> media_type('Text/HTML; charset="UTF-8"')
    ('text/html', 'UTF-8')
    """
    kind, _, rest = value.partition(";")
    kind = kind.strip().lower()
    if kind.count("/") != 1 or not kind.isascii() or not kind.isprintable() or len(kind) > 128:
        kind = ""
    for part in rest.split(";"):
        name, _, text = part.partition("=")
        if name.strip().lower() == "charset":
            return kind, text.strip().strip("\"'").strip()[:40]
    return kind, ""


@lru_cache(4096)
def http_time(value: str) -> int | None:
    """Returns the seconds since 1970 of an HTTP date; None where it is none.

    >>> http_time("Sun, 06 Nov 1994 08:49:37 GMT")
    784111777
    """
    usual = _HTTP_DATE.fullmatch(value)
    try:
        if usual:
            day, month, year, hours, minutes, seconds = usual.groups()
            when = datetime(
                year=int(year),
                month=_MONTHS.index(month) + 1,
                day=int(day),
                hour=int(hours),
                minute=int(minutes),
                second=int(seconds),
                tzinfo=UTC,
            )
        else:
            when = parsedate_to_datetime(value)
            # `-0000` and no zone at all come without a zone: HTTP's times are those of UTC.
            when = when.replace(tzinfo=UTC) if when.tzinfo is None else when
        since = int(when.timestamp())
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return since if since > 0 else None


def decode_body(payload: bytes, headers: dict[str, str], limit: int) -> Body:
    """Takes chunking and content codings off a payload, up to `limit` bytes of body."""
    if "transfer-encoding" not in headers and "content-encoding" not in headers:
        return Body(payload if len(payload) <= limit else None)
    is_cut = False
    if "chunked" in headers.get("transfer-encoding", "").lower():
        payload, is_cut = _dechunk(payload)
    body = Body(payload, is_cut)
    codings = headers.get("content-encoding", "").lower().replace(",", " ").split()
    for coding in reversed(codings[:_MAX_CODINGS]):
        decoder = _decoder(coding, body.content or b"")
        if decoder is not None:
            body = _unpack(body, decoder, limit)
        if body.content is None:
            return body
    return body if len(body.content or b"") <= limit else Body(None, body.is_cut)


def _dechunk(payload: bytes) -> tuple[bytes, bool]:
    """Returns the payload without chunking, and whether the last chunk is missing."""
    parts: list[bytes] = []
    place = 0
    while True:
        end = payload.find(b"\n", place, place + 1024)
        size = _chunk_size(payload[place:end]) if end >= 0 else None
        if size is None:
            # Not chunked at all, unless chunks came before.
            return (b"".join(parts), True) if parts else (payload, False)
        if size == 0:
            return b"".join(parts), False
        chunk = payload[end + 1 : end + 1 + size]
        parts.append(chunk)
        if len(chunk) < size:
            return b"".join(parts), True
        place = end + 1 + size
        if payload[place : place + 2] == b"\r\n":
            place += 2
        elif payload[place : place + 1] == b"\n":
            place += 1


def _chunk_size(line: bytes) -> int | None:
    digits = line.partition(b";")[0].strip()
    if not 0 < len(digits) <= 8 or not digits.isalnum():  # int() takes signs and underscores
        return None
    try:
        return int(digits, 16)
    except ValueError:
        return None


class _Decoder(Protocol):
    """What unpacks one stream: zlib's, brotli's and zstd's objects behind one call."""

    def step(self, data: bytes) -> bytes:
        """Returns some more of the body; what does not fit into a step comes with the next."""

    @property
    def is_finished(self) -> bool:
        """Whether the end of the stream was seen."""


class _Zlib:
    def __init__(self, window_bits: int) -> None:
        self._window_bits = window_bits
        self._inflate = zlib.decompressobj(window_bits)

    def step(self, data: bytes) -> bytes:
        data = self._inflate.unconsumed_tail + data
        if self._inflate.eof:
            data = self._inflate.unused_data
            if not data.startswith(_GZIP_MAGIC):
                return b""
            self._inflate = zlib.decompressobj(self._window_bits)  # members one after another
        return self._inflate.decompress(data, _STEP)

    @property
    def is_finished(self) -> bool:
        return self._inflate.eof


class _Brotli:
    def __init__(self) -> None:
        self._inflate = brotli.Decompressor()

    def step(self, data: bytes) -> bytes:
        out: bytes = self._inflate.process(data, output_buffer_limit=_STEP)
        return out

    @property
    def is_finished(self) -> bool:
        return bool(self._inflate.is_finished())


class _Zstd:
    def __init__(self) -> None:
        # 8 MiB of window is what RFC 9659 allows for this coding.
        self._inflate = new_frame(window_log=23)

    def step(self, data: bytes) -> bytes:
        return b"" if self._inflate.eof else self._inflate.decompress(data, _STEP)

    @property
    def is_finished(self) -> bool:
        return self._inflate.eof


def _decoder(coding: str, payload: bytes) -> _Decoder | None:
    """Returns what takes a coding off this payload; None where the payload does not have it."""
    if coding in ("gzip", "x-gzip"):
        return _Zlib(31) if payload.startswith(_GZIP_MAGIC) else None
    if coding == "deflate":
        # The standard says zlib; some servers send bare deflate.
        is_zlib = (
            len(payload) > 1 and payload[0] & 15 == 8 and (payload[0] * 256 + payload[1]) % 31 == 0
        )
        return _Zlib(15 if is_zlib else -15)
    if coding == "br":
        return _Brotli()
    if coding == "zstd":
        return _Zstd() if payload.startswith(ZSTD_MAGIC) else None
    return None


def _unpack(body: Body, decoder: _Decoder, limit: int) -> Body:
    payload = body.content or b""
    parts: list[bytes] = []
    size = 0
    data = payload
    try:
        while True:
            part = decoder.step(data)
            data = b""
            if part:
                parts.append(part)
                size += len(part)
                if size > limit:
                    return Body(None, body.is_cut)
            elif decoder.is_finished:
                return Body(b"".join(parts), body.is_cut)
            else:
                return Body(b"".join(parts), is_cut=True) if parts else Body(payload, body.is_cut)
    except (zlib.error, brotli.error, ZstdError, ValueError):
        # Nothing came out: the header names a coding that the bytes do not have.
        return Body(b"".join(parts), is_cut=True) if parts else Body(payload, body.is_cut)
