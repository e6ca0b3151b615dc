"""Content codings of HTTP taken off: gzip, deflate, br, zstd.

Real crawls lie about codings: many tools decompress a body and keep the header that names the
coding. So a coding is taken off where the bytes have it; other bytes are left as they are.

Time grows with the bytes that go in and come out, and no more, whatever they are. A decompressor
copies what lies behind its member; so each member is fed a little at a time, beginning with few
bytes, and never the whole rest of the payload. brotli is imported here only.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import brotli

from webtable.pages.formats.zstd_frames import ZstdError, ZstdMember, new_frame

__all__ = ["Body", "take_off"]

_GZIP_MAGIC = b"\x1f\x8b"
_STEP = 1024 * 1024
"""The most that comes out of one call of a decompressor."""
_FIRST_BYTES = 64 * 1024
_NEXT_BYTES = 512
_ZSTD_WINDOW_LOG = 23  # 8 MiB is what RFC 9659 allows for this coding
_MAX_FRAMES = 50_000
"""Of zstd in one payload: to begin a frame takes 17 µs, and 8 MiB hold a million empty ones."""
_ERRORS = (zlib.error, brotli.error, ZstdError, ValueError)


class Body(NamedTuple):
    """A body without codings; `content` is None where it would be longer than allowed."""

    content: bytes | None
    is_cut: bool = False
    """Whether a coding broke off, and `content` is what came before."""


def take_off(coding: str, body: Body, limit: int) -> Body:
    """Takes one content coding off a body, up to `limit` bytes of what comes out."""
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
        # Nothing came out: the header names a coding that the bytes do not have.
        return Body(b"".join(parts), is_cut=True) if parts else body
    return Body(b"".join(parts), body.is_cut) if parts else body


class _Broken(Exception):
    """The coded bytes end too early, or go wrong behind something that could be decoded."""


def _parts(coding: str, payload: bytes) -> Iterator[bytes]:
    """Yields the decoded bytes; nothing at all where the payload does not have the coding."""
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
            # It also fails where a whole body has bytes behind it. Text that is not coded at all
            # may begin like a very short body: then most of the payload would be left over.
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
    """Yields what one member after another gives; what is no member ends them, as in browsers."""
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
    """One member: zlib's, brotli's and zstd's objects behind one call."""

    def step(self, data: bytes) -> bytes:
        """Returns some of the body; what does not fit into a step comes with the next."""

    @property
    def is_finished(self) -> bool:
        """Whether the end of the member was seen."""

    @property
    def has_more(self) -> bool:
        """Whether a step without data may give more."""

    @property
    def unused(self) -> int:
        """How many of the bytes it was given lie behind the member."""


class _Fed:
    """One member of a payload, fed to its decoder a little at a time."""

    def __init__(self, new: Callable[[], _Decoder], payload: bytes, start: int) -> None:
        self._new = new
        self._payload = payload
        self._start = start
        self._given = self._before = start  # up to where, and before the last piece
        self._size = 0
        self.end = start
        self.is_finished = False

    def parts(self) -> Iterator[bytes]:
        """Yields what the member gives, at least one part, which may be empty."""
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
        """Yields what the piece that failed still gives, byte by byte, up to what is wrong."""
        decoder, known = self._new(), self._size
        payload, before = self._payload, self._before
        pieces = [payload[self._start : before]] if before > self._start else []
        pieces += [payload[at : at + 1] for at in range(before, self._given)]
        self.end = self._start
        for data in pieces:
            self.end += len(data)
            try:
                part = decoder.step(data)
                while part:
                    if len(part) > known:
                        yield part[known:]
                    known = max(known - len(part), 0)
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
