"""The fast reader of WARC files. It uses FastWARC, which only this module imports.

FastWARC does not check a file: it reports no incomplete body, no wrong length that ends inside the
next record, and wrong positions for a member with several records. So its result is used only where
these checks pass: every record has a type and a length, its block has that length, and each record
begins where a member begins, behind the record before. A record is yielded after the second record
behind it was found at its place. When a check fails, and for the last records of a file, the
tolerant reader (`webtable.pages.formats.warc_tolerant`) continues from the first record that was
not yielded.
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
from webtable.pages.formats.response_captures import HEAD_BYTES, MAX_BLOCK_BYTES
from webtable.pages.formats.unpacked_stream import Stream
from webtable.pages.formats.warc_captures import WarcRecord, capture_of_record, is_read
from webtable.pages.formats.warc_tolerant import read_warc_carefully

__all__ = ["read_warc"]

_AHEAD = 2
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_WINDOW = 31
_VERSION = b"WARC/"
_TRIED_BYTES = 512
_CHECKED_RECORDS = 16


class _Doubt(Exception):
    """A check of the file failed."""


def read_warc(path: Path, source: str, start: Position) -> Iterator[Capture | Skipped]:
    """Yields the captures of a WARC file, plain or packed with gzip, from a position on."""
    pending: deque[Capture | Skipped] = deque()
    try:
        with path.open("rb") as file:
            for item in _fast_items(file, source, start):
                if pending:
                    if item.position <= pending[-1].position:
                        raise _Doubt
                    placed(pending[-1], item.position)
                pending.append(item)
                if len(pending) > _AHEAD:
                    start = pending[0].after
                    yield pending.popleft()
    # FastWARC has no errors of its own for damaged files; it raises ValueError for undecodable
    # text. It does not report that a file ends too early: so the tolerant reader always reads the
    # last records.
    except (_Doubt, OSError, ValueError):
        pass
    yield from _tolerant_items(path, source, start)


def _fast_items(file: BinaryIO, source: str, start: Position) -> Iterator[Capture | Skipped]:
    if start.inside:
        raise _Doubt
    descriptor = file.fileno()
    is_packed = os.pread(descriptor, 2, 0) == _GZIP_MAGIC
    file.seek(start.offset)
    for number, record in enumerate(ArchiveIterator(file, parse_http=False)):
        offset = record.stream_pos
        # The first records show how a file is packed, and the check costs some time.
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
    if "warc-protocol" in headers:  # one header for each protocol
        named = [v for name, v in record.headers.items() if name.lower() == "warc-protocol"]
        headers["warc-protocol"] = "\n".join(named)
    length = record.content_length
    if "warc-type" not in headers or headers.get("content-length") != str(length):
        raise _Doubt
    if not is_read(headers):
        return capture_of_record(WarcRecord(headers, b"", length, source, position))
    if length > MAX_BLOCK_BYTES:
        return _long_item(record, headers, source, position)
    block = record.reader.read(length)
    if len(block) < length:
        raise _Doubt
    return capture_of_record(WarcRecord(headers, block, length, source, position))


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

    item = capture_of_record(WarcRecord(headers, block, length, source, position, more))
    while more(HEAD_BYTES):
        pass
    if left:
        raise _Doubt
    return item


def _tolerant_items(path: Path, source: str, start: Position) -> Iterator[Capture | Skipped]:
    with path.open("rb") as file:
        packing = Stream(file).packing

        def reopen(position: Position) -> Stream:
            return Stream(file, position, packing)

        yield from read_warc_carefully(reopen(start), source, reopen)
