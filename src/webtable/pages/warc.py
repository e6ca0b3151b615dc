"""WARC files read fast, by FastWARC, which is imported here only.

FastWARC takes a file as it is: it says nothing about a body that is cut off, a length that is
wrong and leads into the next record, or a member with several records, whose places it gives
wrong. So it is believed only where all is as it should be: every record has a type and a
length, its block has that length, and each record begins in a member behind the one before. A
record is given out when the second one behind it was found in its place. At the first doubt the
careful reader (`webtable.pages.warc_careful`) takes over, from the first record not given out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from fastwarc.warc import ArchiveIterator
from fastwarc.warc import WarcRecord as FastRecord

from webtable.pages.answers import HEAD_BYTES, MAX_BLOCK_BYTES
from webtable.pages.captures import Capture, Position, Skipped, placed
from webtable.pages.unpacking import Stream
from webtable.pages.warc_careful import read_warc_carefully
from webtable.pages.warc_records import WarcRecord, is_read, take

__all__ = ["read_warc"]

_AHEAD = 2


class _Doubt(Exception):
    """Something is not as it should be."""


def read_warc(path: Path, source: str, start: Position) -> Iterator[Capture | Skipped]:
    """Yields what a WARC file holds, plain or packed by gzip, from a position on."""
    held: deque[Capture | Skipped] = deque()
    try:
        if start.inside:
            raise _Doubt
        with path.open("rb") as file:
            for item in _fast_items(file, source, start, path.stat().st_size):
                if held and item.position <= held[-1].position:
                    raise _Doubt
                if held:
                    placed(held[-1], item.position)
                held.append(item)
                if len(held) > _AHEAD:
                    start = held[0].after
                    yield held.popleft()
            if held:
                placed(held[-1], Position(path.stat().st_size))
    # FastWARC has no errors of its own for damaged files, and says with ValueError that text is
    # not text.
    except (_Doubt, OSError, ValueError):
        held.clear()
        yield from _careful_items(path, source, start)
    yield from held


def _fast_items(
    file: BinaryIO, source: str, start: Position, size: int
) -> Iterator[Capture | Skipped]:
    file.seek(start.offset)
    # Positions count from where FastWARC began.
    for record in ArchiveIterator(file, parse_http=False):
        offset = start.offset + record.stream_pos
        if offset >= size:
            raise _Doubt
        yield _item(record, source, Position(offset))


def _item(record: FastRecord, source: str, position: Position) -> Capture | Skipped:
    get = record.headers.get
    length = record.content_length
    if get("WARC-Type") is None or get("Content-Length") != str(length):
        raise _Doubt
    if not is_read(get):
        return take(WarcRecord(get, b"", length, source, position))
    is_long = length > MAX_BLOCK_BYTES
    read = record.reader.read
    block = read(HEAD_BYTES if is_long else length)
    if len(block) < length and not is_long:
        raise _Doubt
    return take(WarcRecord(get, block, length, source, position, read if is_long else None))


def _careful_items(path: Path, source: str, start: Position) -> Iterator[Capture | Skipped]:
    with path.open("rb") as file:

        def reopen(position: Position) -> Stream:
            return Stream(file, position)

        yield from read_warc_carefully(reopen(start), source, reopen)
