"""A crawl file as one stream of unpacked bytes, with positions from which a load can resume.

The first bytes of the file decide between plain, gzip and zstd. A packed file is a sequence of
members (gzip) or frames (zstd), often one for each record. The stream remembers where each begins:
a `Position` is a member and the number of bytes unpacked from it. The stream only reads forward, so
it works on a pipe. Its memory is bounded, whatever the file contains.

At a damaged or incomplete member the stream ends, and `fault` contains the reason. `go_on`
continues at the next readable member.
"""

from __future__ import annotations

import re
import zlib
from collections import deque
from typing import BinaryIO, Protocol

from webtable.pages.captures import START, Position
from webtable.pages.formats.zstd_frames import ZSTD_MAGIC, ZstdMember, read_dictionary

__all__ = ["Stream"]

_GZIP_MAGIC = b"\x1f\x8b"
_RAW_BYTES = 64 * 1024
_PIECE_BYTES = 2 * 1024
"""The first input of a member. A member copies the bytes behind its end, so few are better."""
_MAX_KEPT_BYTES = 4 * 1024 * 1024
_MAX_OUT = 1024 * 1024
_TRIED_BYTES = 512
_CUT = "the file ends within a compressed member"
_MEMBERS = {
    "gzip": re.compile(rb"\x1f\x8b\x08[\x00-\x1f]"),
    "zstd": re.compile(re.escape(ZSTD_MAGIC)),
}


class Member(Protocol):
    """A decompressor of one member."""

    @property
    def eof(self) -> bool:
        """Whether the end of the member was reached."""

    @property
    def unused_data(self) -> bytes:
        """The input bytes behind the end of the member."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Returns the next unpacked bytes, at most `max_length`."""

    def has_more(self) -> bool:
        """Whether unpacked bytes remain that need no more input."""


class _GzipMember:
    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(31)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inflate.decompress(self._inflate.unconsumed_tail + data, max_length)

    def has_more(self) -> bool:
        return bool(self._inflate.unconsumed_tail)

    @property
    def eof(self) -> bool:
        return self._inflate.eof

    @property
    def unused_data(self) -> bytes:
        return self._inflate.unused_data


class Stream:
    """The unpacked bytes of a file from a position on.

    `packing` is `plain`, `gzip` or `zstd`; where the caller passes none, the bytes at the position
    decide. `fault` is empty, or the reason why the stream ended before the file did.
    """

    def __init__(self, file: BinaryIO, start: Position = START, packing: str = "") -> None:
        self._file = file
        self._dictionary = b""
        self.is_seekable = file.seekable()
        if start.offset:
            self._dictionary = read_dictionary(file) if self.is_seekable else b""
        _skip_to(file, start.offset, is_seekable=self.is_seekable)
        self._raw_place = start.offset  # the offset in the file behind `_raw`
        self._raw = b""
        self._at = 0  # the first byte of `_raw` that is not consumed
        self._member_at = 0  # where the member begins in `_raw`, or continues
        self._piece = _PIECE_BYTES
        self._buffer = bytearray()
        self._place = 0  # how many unpacked bytes precede the buffer
        self._starts: deque[tuple[int, int]] = deque()  # unpacked place, offset of the file
        self._member: Member | None = None
        self._kept = bytearray()  # bytes of this member before `_raw`; a recovery searches them
        self._kept_place = start.offset
        self.fault = ""
        self.packing = packing
        self._detect()
        self._starts.append((0, start.offset))
        if start.inside:
            self.skip(start.inside)

    @property
    def position(self) -> Position:
        """The position of the next byte."""
        if not self._buffer and not self.fault:
            self._fill(1)  # a new member may begin here
        starts = self._starts
        while len(starts) > 1 and starts[1][0] <= self._place:
            starts.popleft()
        begin, offset = starts[0]
        if self.packing == "plain":
            return Position(offset + self._place - begin)
        if not self._buffer and self._member is None:
            return Position(self._offset())
        return Position(offset, self._place - begin)

    def peek(self, size: int, after: int = 0) -> bytes:
        """Returns `size` bytes from `after` on without consuming them; fewer at the end."""
        self._fill(after + size)
        return bytes(self._buffer[after : after + size])

    def fill(self, size: int) -> int:
        """Reads the next `size` bytes into memory; returns how many bytes are in memory."""
        self._fill(size)
        return len(self._buffer)

    def find(self, needle: bytes, limit: int) -> int:
        """Returns the distance to the next `needle`; -1 if it is not within `limit` bytes."""
        size = min(_RAW_BYTES, limit)
        done = 0
        while True:
            self._fill(size)
            found = self._buffer.find(needle, max(done - len(needle), 0), limit)
            if found >= 0 or len(self._buffer) < size or size >= limit:
                return found
            done = len(self._buffer)
            size = min(size * 4, limit)

    def read(self, size: int) -> bytes:
        """Returns and consumes the next bytes, fewer at the end. All of them are in memory."""
        self._fill(size)
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        self._place += len(data)
        return data

    def skip(self, size: int) -> int:
        """Consumes the next bytes piece by piece; returns how many there were."""
        left = size
        while left:
            skipped = len(self.read(min(left, _MAX_OUT)))
            if not skipped:
                break
            left -= skipped
        return size - left

    def go_on(self) -> tuple[str, str]:
        """Continues behind a fault, if possible; returns the skip reason and the fault."""
        fault = self.fault
        is_cut = fault == _CUT
        if self._recover():
            return "damaged", "a compressed member breaks off" if is_cut else fault
        return "truncated" if is_cut else "damaged", fault

    def _recover(self) -> bool:
        """Continues at the next readable member; False where the file has none."""
        self.fault = ""
        self._place += len(self._buffer)
        self._buffer.clear()
        self._member = None
        pattern = _MEMBERS.get(self.packing)
        if pattern is None:
            return False
        # No copy where `_kept` is empty: in a file in which every member fails, each member
        # would copy all bytes that were read ahead.
        data, begin = self._raw, self._raw_place - len(self._raw)
        place = self._member_at + 1  # behind the first byte of the failed member
        if self._kept:
            data, begin, place = bytes(self._kept) + data[place - 1 :], self._kept_place, 1
        self._raw, self._at = b"", 0
        while True:
            for found in pattern.finditer(data, place):
                if len(data) - found.start() < _TRIED_BYTES:
                    break
                if self._is_member(data, found.start()):
                    return self._restart(data, begin, found.start())
            more = self._file.read(_RAW_BYTES)
            self._raw_place += len(more)
            keep = max(len(data) - _TRIED_BYTES, 0)
            if not more:
                last = pattern.search(data, max(place, keep))
                if last is not None and self._is_member(data, last.start()):
                    return self._restart(data, begin, last.start())
                return False
            place = max(place - keep, 0)
            data, begin = data[keep:] + more, begin + keep

    def _restart(self, raw: bytes, begin: int, at: int) -> bool:
        self._raw, self._at = raw, at
        self._starts.append((self._place, begin + at))
        self._begin_member()
        return True

    def _is_member(self, raw: bytes, at: int) -> bool:
        try:
            return bool(self._new_member().decompress(raw[at : at + _TRIED_BYTES], 16))
        except (zlib.error, ValueError, EOFError):
            return False

    def _detect(self) -> None:
        self._read_raw()
        is_gzip = self._raw.startswith(_GZIP_MAGIC)
        is_zstd = ZstdMember.can_read(self._raw)
        self.packing = self.packing or ("gzip" if is_gzip else "zstd" if is_zstd else "plain")
        if self.packing != "plain" and self._raw:
            self._begin_member()
            if not (is_gzip if self.packing == "gzip" else is_zstd):
                self._fail()

    def _fail(self) -> None:
        self.fault = "these bytes are not a compressed member"

    def _offset(self) -> int:
        """Returns the offset of the first byte of the file that is not consumed."""
        return self._raw_place - len(self._raw) + self._at

    def _read_raw(self) -> bool:
        """Reads the next bytes of the file; keeps the member's bytes for a recovery."""
        more = self._file.read(_RAW_BYTES)
        if not more:
            return False
        self._raw_place += len(more)
        if self._member is not None and self.packing != "plain":
            self._keep(self._raw[self._member_at : self._at])
        self._raw = self._raw[self._at :] + more
        self._at = self._member_at = 0
        return True

    def _fill(self, size: int) -> None:
        while len(self._buffer) < size and not self.fault:
            if self.packing == "plain":
                if self._at >= len(self._raw) and not self._read_raw():
                    return
                self._buffer += self._raw
                self._at = len(self._raw)
            elif not self._unpack(min(max(size - len(self._buffer), _RAW_BYTES), _MAX_OUT)):
                return

    def _unpack(self, size: int) -> bool:
        """Adds unpacked bytes to the buffer; False at the end of the file."""
        member = self._member
        if member is None:
            if not self._next_member():
                return False
            member = self._member
            assert member is not None
        piece = b""
        if not member.has_more():
            if self._at >= len(self._raw) and not self._read_raw():
                self.fault = _CUT
                return False
            piece = self._raw[self._at : self._at + self._piece]
            self._at += len(piece)
            self._piece = min(self._piece * 4, _RAW_BYTES)
        try:
            self._buffer += member.decompress(piece, size)
        except (zlib.error, ValueError, EOFError) as exc:
            self.fault = f"a compressed member cannot be unpacked ({exc})"
            return False
        if member.eof:
            self._at -= len(member.unused_data)
            self._member = None
        return True

    def _next_member(self) -> bool:
        if self._at >= len(self._raw) and not self._read_raw():
            return False
        while len(self._raw) - self._at < 4 and self._read_raw():
            pass
        unpacked = self._place + len(self._buffer)
        if self._starts[-1][0] == unpacked:  # a hostile file may have very many empty members
            self._starts.pop()
        self._starts.append((unpacked, self._offset()))
        self._begin_member()
        start = self._raw[self._at : self._at + 4]
        is_gzip = self.packing == "gzip"
        if start.startswith(_GZIP_MAGIC) if is_gzip else ZstdMember.can_read(start):
            return True
        self._fail()
        return False

    def _begin_member(self) -> None:
        self._kept.clear()
        self._kept_place = self._offset()
        self._member_at = self._at
        self._piece = _PIECE_BYTES
        self._member = self._new_member()

    def _new_member(self) -> Member:
        if self.packing == "gzip":
            return _GzipMember()
        return ZstdMember(self._dictionary, self._learn)

    def _learn(self, dictionary: bytes) -> None:
        self._dictionary = dictionary

    def _keep(self, raw: bytes) -> None:
        self._kept += raw
        if len(self._kept) > _MAX_KEPT_BYTES:
            dropped = len(self._kept) - _MAX_KEPT_BYTES // 2
            del self._kept[:dropped]
            self._kept_place += dropped


def _skip_to(file: BinaryIO, offset: int, *, is_seekable: bool) -> None:
    if is_seekable:
        file.seek(offset)
        return
    while offset:
        skipped = len(file.read(min(offset, _RAW_BYTES)))
        if not skipped:
            return
        offset -= skipped
