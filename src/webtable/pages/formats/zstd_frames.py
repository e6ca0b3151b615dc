"""zstd frames of crawl files, with the dictionary at the beginning of such a file.

A .warc.zst file may begin with a skippable frame that contains a dictionary, itself packed or not.
All later frames are packed with this dictionary
(https://iipc.github.io/warc-specifications/specifications/warc-zstd/). zstd is imported here only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO

from backports import zstd

__all__ = ["ZSTD_MAGIC", "ZstdError", "ZstdMember", "new_frame", "read_dictionary"]

ZstdError = zstd.ZstdError

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_DICTIONARY_MAGIC = b"\x5d\x2a\x4d\x18"
_TRAINED_MAGIC = b"\x37\xa4\x30\xec"
_MAX_DICTIONARY_BYTES = 16 * 1024 * 1024
_HEADER_BYTES = 8
# Frames whose window needs more memory than this are rejected.
_MAX_WINDOW_LOG = 27


class ZstdMember:
    """Unpacks one frame; a frame with a dictionary sets the dictionary and returns no bytes."""

    def __init__(self, dictionary: bytes, learn: Callable[[bytes], None]) -> None:
        self._dictionary = dictionary
        self._learn = learn
        self._frame: zstd.ZstdDecompressor | None = None
        self._start = b""
        self._unused: bytes | None = None

    @staticmethod
    def can_read(raw: bytes) -> bool:
        """Whether these bytes begin a frame."""
        return raw.startswith(ZSTD_MAGIC) or _is_skippable(raw)

    @property
    def eof(self) -> bool:
        """Whether the end of the frame was reached."""
        return self._unused is not None or (self._frame is not None and self._frame.eof)

    @property
    def unused_data(self) -> bytes:
        """The input bytes behind the end of the frame."""
        if self._unused is not None:
            return self._unused
        return self._frame.unused_data if self._frame is not None else b""

    def has_more(self) -> bool:
        """Whether unpacked bytes remain that need no more input."""
        return self._frame is not None and not self._frame.needs_input

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Returns the next unpacked bytes, at most `max_length`.

        Raises:
            ValueError: the frame is damaged.
        """
        if self._frame is None:
            self._start += data
            if _is_skippable(self._start):
                self._read_skippable()
                return b""
            if len(self._start) < len(ZSTD_MAGIC):
                return b""
            data, self._start = self._start, b""
        try:
            if self._frame is None:
                self._frame = new_frame(self._dictionary)
            return self._frame.decompress(data, max_length)
        except zstd.ZstdError as exc:
            raise ValueError(str(exc)) from exc

    def _read_skippable(self) -> None:
        size = int.from_bytes(self._start[4:_HEADER_BYTES], "little")
        if len(self._start) >= _HEADER_BYTES and size > _MAX_DICTIONARY_BYTES:
            raise ValueError(f"a skippable frame has {size:,} bytes")
        if len(self._start) < _HEADER_BYTES + size:
            return
        if self._start.startswith(_DICTIONARY_MAGIC):
            self._learn(_unpacked(self._start[_HEADER_BYTES : _HEADER_BYTES + size]))
        self._unused = self._start[_HEADER_BYTES + size :]


def read_dictionary(file: BinaryIO) -> bytes:
    """Returns the dictionary at the beginning of a seekable file; empty if it has none."""
    file.seek(0)
    header = file.read(_HEADER_BYTES)
    size = int.from_bytes(header[4:], "little")
    if not header.startswith(_DICTIONARY_MAGIC) or size > _MAX_DICTIONARY_BYTES:
        return b""
    try:
        return _unpacked(file.read(size))
    except ValueError:
        return b""


def new_frame(
    dictionary: bytes = b"", *, window_log: int = _MAX_WINDOW_LOG
) -> zstd.ZstdDecompressor:
    """Returns a decompressor of one frame, with a window of at most 2 ** `window_log` bytes."""
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: window_log}
    if not dictionary:
        return zstd.ZstdDecompressor(options=options)
    return zstd.ZstdDecompressor(_Prepared.of(dictionary), options=options)


class _Prepared:
    """A cache of the dictionary that was used last, prepared for any number of frames.

    To prepare a dictionary of 16 MiB takes milliseconds, and so does a comparison with another. So
    the cache compares the identity of the bytes object, not the bytes.
    """

    last: tuple[bytes, zstd.ZstdDict] | None = None

    @classmethod
    def of(cls, dictionary: bytes) -> zstd.ZstdDict:
        last = cls.last
        if last is None or last[0] is not dictionary:
            is_raw = not dictionary.startswith(_TRAINED_MAGIC)
            last = cls.last = dictionary, zstd.ZstdDict(dictionary, is_raw=is_raw)
        return last[1]


def _unpacked(dictionary: bytes) -> bytes:
    if not dictionary.startswith(ZSTD_MAGIC):
        return dictionary
    try:
        return zstd.ZstdDecompressor().decompress(dictionary, _MAX_DICTIONARY_BYTES)
    except zstd.ZstdError as exc:
        raise ValueError(str(exc)) from exc


def _is_skippable(raw: bytes) -> bool:
    return len(raw) >= 4 and raw[1:4] == b"\x2a\x4d\x18" and raw[0] & 0xF0 == 0x50
