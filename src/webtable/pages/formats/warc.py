"""WARC files read fast, by FastWARC, which is imported here only.

FastWARC takes a file as it is: it says nothing about a body that is cut off, a length that is
wrong and leads into the next record, or a member with several records, whose places it gives
wrong. So it is believed only where all is as it should be: every record has a type and a
length, its block has that length, and each begins where a member does, behind the one before. A
record is given out when the second one behind it was found in its place. At the first doubt, and
for the last records of a file, the careful reader (`webtable.pages.formats.warc_tolerant`) takes
over, from the first record not given out.
"""

from __future__ import annotations

import os
import zlib
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from fastwarc.warc import ArchiveIterator
from fastwarc.warc import WarcRecord as FastRecord

from webtable.pages.captures import Capture, Position, Skipped, placed
from webtable.pages.formats.responses import HEAD_BYTES, MAX_BLOCK_BYTES
from webtable.pages.formats.streams import Stream
from webtable.pages.formats.warc_records import WarcRecord, is_read, take
from webtable.pages.formats.warc_tolerant import read_warc_carefully

__all__ = ["read_warc"]

_AHEAD = 2
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_WINDOW = 31
_VERSION = b"WARC/"
_TRIED_BYTES = 512
_CHECKED_RECORDS = 16


class _Doubt(Exception):
    """Something is not as it should be."""


def read_warc(path: Path, source: str, start: Position) -> Iterator[Capture | Skipped]:
    """Yields what a WARC file holds, plain or packed by gzip, from a position on."""
    held: deque[Capture | Skipped] = deque()
    try:
        with path.open("rb") as file:
            for item in _fast_items(file, source, start):
                if held:
                    if item.position <= held[-1].position:
                        raise _Doubt
                    placed(held[-1], item.position)
                held.append(item)
                if len(held) > _AHEAD:
                    start = held[0].after
                    yield held.popleft()
    # FastWARC has no errors of its own for damaged files, and says with ValueError that text is
    # not text. That a file ends too early it does not say at all: so the last records are read
    # with care in any case.
    except (_Doubt, OSError, ValueError):
        pass
    yield from _careful_items(path, source, start)


def _fast_items(file: BinaryIO, source: str, start: Position) -> Iterator[Capture | Skipped]:
    if start.inside:
        raise _Doubt
    descriptor = file.fileno()
    is_packed = os.pread(descriptor, 2, 0) == _GZIP_MAGIC
    file.seek(start.offset)
    for number, record in enumerate(ArchiveIterator(file, parse_http=False)):
        offset = record.stream_pos
        # How a file is packed shows at its beginning, and the check costs some time.
        if number < _CHECKED_RECORDS:
            raw = os.pread(descriptor, _TRIED_BYTES, offset)
            if not _begins_record(raw, is_packed=is_packed):
                raise _Doubt
        yield _item(record, source, Position(offset))


def _begins_record(raw: bytes, *, is_packed: bool) -> bool:
    """Whether a record begins with these bytes of the file, in a member of its own."""
    if not is_packed:
        return raw.startswith(_VERSION)
    try:
        return zlib.decompressobj(_GZIP_WINDOW).decompress(raw, len(_VERSION)) == _VERSION
    except zlib.error:
        return False


def _item(record: FastRecord, source: str, position: Position) -> Capture | Skipped:
    headers = {name.lower(): value for name, value in record.headers.items()}
    length = record.content_length
    if "warc-type" not in headers or headers.get("content-length") != str(length):
        raise _Doubt
    if not is_read(headers):
        return take(WarcRecord(headers, b"", length, source, position))
    if length > MAX_BLOCK_BYTES:
        return _long_item(record, headers, source, position)
    block = record.reader.read(length)
    if len(block) < length:
        raise _Doubt
    return take(WarcRecord(headers, block, length, source, position))


def _long_item(
    record: FastRecord, headers: dict[str, str], source: str, position: Position
) -> Capture | Skipped:
    read = record.reader.read
    length = record.content_length
    block = read(HEAD_BYTES)
    left = length - len(block)

    def more(size: int) -> bytes:
        nonlocal left
        data = read(min(size, left)) if left else b""
        left -= len(data)
        return data

    item = take(WarcRecord(headers, block, length, source, position, more))
    while more(HEAD_BYTES):
        pass
    if left:
        raise _Doubt
    return item


def _careful_items(path: Path, source: str, start: Position) -> Iterator[Capture | Skipped]:
    with path.open("rb") as file:
        packing = Stream(file).packing

        def reopen(position: Position) -> Stream:
            return Stream(file, position, packing)

        yield from read_warc_carefully(reopen(start), source, reopen)
