"""Removes the content codings of HTTP: gzip, deflate, br, zstd.

In real crawls the headers are often wrong: many tools decompress a body and keep the header that
names the coding. So a coding is removed only where the bytes have it; other bytes stay unchanged.

The time is linear in the bytes of input and output, for any input. A decompressor copies the bytes
behind the end of its member. So each member gets its input in small pieces, the first of few
bytes, and never the whole rest of the payload. Only this module imports brotli.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import brotli

from webtable.pages.formats.zstd_frames import ZstdError, ZstdMember, new_frame

__all__ = ["CODINGS", "Body", "remove_coding"]

CODINGS = frozenset({"gzip", "x-gzip", "deflate", "br", "zstd", "identity"})
"""The codings that a stored body does not have."""

_GZIP_MAGIC = b"\x1f\x8b"
_STEP = 1024 * 1024
"""The largest output of one call of a decompressor, in bytes."""
_FIRST_BYTES = 64 * 1024
_NEXT_BYTES = 512
_ZSTD_WINDOW_LOG = 23  # 8 MiB is what RFC 9659 allows for this coding
_MAX_FRAMES = 50_000
"""zstd frames in one payload: a frame takes 17 µs, and 8 MiB can contain a million empty ones."""
_ERRORS = (zlib.error, brotli.error, ZstdError, ValueError)


class Body(NamedTuple):
    """A body without codings; `content` is None where it is longer than the limit."""

    content: bytes | None
    is_cut: bool = False
    """Whether the coded bytes are incomplete or damaged; `content` ends before the damage."""


def remove_coding(coding: str, body: Body, limit: int) -> Body:
    """Removes one content coding from a body, up to `limit` bytes of output."""
    payload = body.content or b""
    parts: list[bytes] = []
    size = 0
    try:
        for part in _parts(coding, payload):
            parts.append(part)
            size += len(part)
            if size > limit:
                return Body(None, body.is_cut)
    except (_Broken, *_ERRORS):
        # Without any output, the header names a coding that the bytes do not have.
        return Body(b"".join(parts), is_cut=True) if parts else body
    return Body(b"".join(parts), body.is_cut) if parts else body


class _Broken(Exception):
    """The coded bytes end too early, or are damaged behind a part that was decoded."""


def _parts(coding: str, payload: bytes) -> Iterator[bytes]:
    """Yields the decoded bytes; yields nothing where the payload does not have the coding."""
    if coding in ("gzip", "x-gzip"):
        yield from _members(payload, lambda: _Zlib(31), _is_gzip)
    elif coding == "zstd":
        yield from _members(payload, _Zstd, ZstdMember.can_read, _MAX_FRAMES)
    elif coding == "deflate":
        # The standard says zlib; some servers send bare deflate.
        is_zlib = (
            len(payload) > 1 and payload[0] & 15 == 8 and (payload[0] * 256 + payload[1]) % 31 == 0
        )
        yield from _Fed(lambda: _Zlib(15 if is_zlib else -15), payload, 0).parts()
    elif coding == "br":
        fed = _Fed(_Brotli, payload, 0)
        try:
            yield from fed.parts()
        except brotli.error:
            # brotli also fails where bytes follow a complete body. Text without any coding may
            # look like a very short body at first: then most of the payload would be left over.
            rest = list(fed.salvaged())
            if not fed.is_finished or 2 * fed.end < len(payload):
                raise
            yield from rest


def _is_gzip(start: bytes) -> bool:
    return start.startswith(_GZIP_MAGIC)


def _members(
    payload: bytes,
    new: Callable[[], _Decoder],
    is_member: Callable[[bytes], bool],
    most: int | None = None,
) -> Iterator[bytes]:
    """Yields the output of all members; bytes that begin no member end it, as in browsers."""
    place = members = 0
    while is_member(payload[place : place + 4]):
        members += 1
        if most is not None and members > most:
            raise _Broken
        fed = _Fed(new, payload, place)
        try:
            yield from fed.parts()
        except _ERRORS:
            yield from fed.salvaged()
            raise _Broken from None
        place = fed.end


class _Decoder(Protocol):
    """The decoder of one member: one interface for zlib, brotli and zstd."""

    def step(self, data: bytes) -> bytes:
        """Returns the next bytes of the body; the rest is returned by later steps."""

    @property
    def is_finished(self) -> bool:
        """Whether the end of the member was reached."""

    @property
    def has_more(self) -> bool:
        """Whether a step without input may return more bytes."""

    @property
    def unused(self) -> int:
        """How many bytes of the input lie behind the end of the member."""


class _Fed:
    """One member of a payload, which its decoder gets in small pieces."""

    def __init__(self, new: Callable[[], _Decoder], payload: bytes, start: int) -> None:
        self._new = new
        self._payload = payload
        self._start = start
        self._given = self._before = (
            start  # the end of the input so far; the start of its last piece
        )
        self._size = 0
        self.end = start
        self.is_finished = False

    def parts(self) -> Iterator[bytes]:
        """Yields the output of the member: at least one part, which may be empty."""
        decoder, payload = self._new(), self._payload
        piece = _NEXT_BYTES if self._start else _FIRST_BYTES
        while not decoder.is_finished:
            data = b""
            if not decoder.has_more:
                self._before = self._given
                data = payload[self._given : self._given + piece]
                self._given += len(data)
                piece = min(piece * 4, _FIRST_BYTES)
            part = decoder.step(data)
            if not part and not data and not decoder.is_finished:
                raise _Broken
            if part or decoder.is_finished:
                self._size += len(part)
                yield part
        self.end = self._given - decoder.unused
        self.is_finished = True

    def salvaged(self) -> Iterator[bytes]:
        """Yields the output of the failed piece, decoded byte by byte, up to the damage."""
        decoder, done = self._new(), self._size
        payload, before = self._payload, self._before
        pieces = [payload[self._start : before]] if before > self._start else []
        pieces += [payload[at : at + 1] for at in range(before, self._given)]
        self.end = self._start
        for data in pieces:
            self.end += len(data)
            try:
                part = decoder.step(data)
                while part:
                    if len(part) > done:
                        yield part[done:]
                    done = max(done - len(part), 0)
                    part = decoder.step(b"") if decoder.has_more else b""
            except _ERRORS:
                return
            if decoder.is_finished:
                self.is_finished = True
                return


class _Zlib:
    def __init__(self, window_bits: int) -> None:
        self._inflate = zlib.decompressobj(window_bits)

    def step(self, data: bytes) -> bytes:
        return self._inflate.decompress(data or self._inflate.unconsumed_tail, _STEP)

    @property
    def is_finished(self) -> bool:
        return self._inflate.eof

    @property
    def has_more(self) -> bool:
        return bool(self._inflate.unconsumed_tail)

    @property
    def unused(self) -> int:
        return len(self._inflate.unused_data)


class _Brotli:
    unused = 0

    def __init__(self) -> None:
        self._inflate = brotli.Decompressor()

    def step(self, data: bytes) -> bytes:
        out: bytes = self._inflate.process(data, output_buffer_limit=_STEP)
        return out

    @property
    def is_finished(self) -> bool:
        return bool(self._inflate.is_finished())

    @property
    def has_more(self) -> bool:
        return not self._inflate.can_accept_more_data()


class _Zstd:
    def __init__(self) -> None:
        self._inflate = new_frame(window_log=_ZSTD_WINDOW_LOG)

    def step(self, data: bytes) -> bytes:
        return self._inflate.decompress(data, _STEP)

    @property
    def is_finished(self) -> bool:
        return self._inflate.eof

    @property
    def has_more(self) -> bool:
        return not self._inflate.eof and not self._inflate.needs_input

    @property
    def unused(self) -> int:
        return len(self._inflate.unused_data)
