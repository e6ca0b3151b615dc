"""Reads crawl files of every kind; their content decides the kind, not their names.

WARC, WAT and ARC files and JSON lines, plain or packed with gzip or zstd, from disk or a pipe.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from webtable.errors import InvalidRequest, NotFound
from webtable.pages.captures import START, Capture, Position, Skipped
from webtable.pages.formats.arc import read_arc
from webtable.pages.formats.jsonl import read_jsonl
from webtable.pages.formats.unpacked_stream import Stream
from webtable.pages.formats.warc_fast import read_warc
from webtable.pages.formats.warc_tolerant import read_warc_carefully

__all__ = ["STANDARD_INPUT", "read_captures", "read_stream"]

STANDARD_INPUT = "-"

_DETECTION_BYTES = 64 * 1024
_WARC = re.compile(rb"WARC/[01]\.\d{1,2}\r?\n")
_ARC = re.compile(rb"\s*filedesc:|\s*[a-z]{3,5}:\S+ \d+\.\d+\.\d+\.\d+ \d{14} ")


def read_captures(
    source: str | Path,
    start: Position = START,
    *,
    name: str = "",
    is_careful: bool = False,
    skip_first: bool = False,
) -> Iterator[Capture | Skipped]:
    """Yields the captures of a file from a position on; start at an item's `after` to resume.

    `-` is standard input; there, to resume means to read the earlier records again and drop them.
    The content of a file never raises an error: a record that is not valid is yielded as `Skipped`.

    Args:
        name: the `source` of the yielded items; by default the path.
        is_careful: read a record only after the record before it was yielded.
        skip_first: do not parse the first record; report it as `crashed`.

    Raises:
        NotFound: the file does not exist.
        InvalidRequest: the file cannot be opened.
    """
    name = name or str(source)
    if str(source) == STANDARD_INPUT:
        yield from read_stream(sys.stdin.buffer, name, start)
        return
    path = Path(source)
    try:
        with path.open("rb") as file:
            if not file.seekable():
                yield from read_stream(file, name, start)
                return
            kind, stream = _kind_of(file)
            if kind == "warc" and stream.packing != "zstd" and not is_careful:
                yield from read_warc(path, name, start)
            else:
                yield from _items(kind, file, name, start, skip_first=skip_first)
    except FileNotFoundError as exc:
        raise NotFound("file", name, hint="check the path") from exc
    except OSError as exc:
        why = exc.strerror or str(exc)
        raise InvalidRequest(f"'{name}' cannot be read: {why}", hint="check the path") from exc


def read_stream(
    file: BinaryIO, source: str, start: Position = START
) -> Iterator[Capture | Skipped]:
    """Yields the captures of a pipe; reads it once, forward."""
    kind, stream = _kind_of(file)
    for item in _read(kind, stream, source):
        if item.position >= start:
            yield item


def _kind_of(file: BinaryIO) -> tuple[str, Stream]:
    """Returns the kind of a file, and its stream from the beginning."""
    stream = Stream(file)
    start = stream.peek(_DETECTION_BYTES)
    if _WARC.match(start.lstrip()):
        return "warc", stream
    if _ARC.match(start):
        return "arc", stream
    if start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return "jsonl", stream
    # A file that begins with other bytes may still contain records.
    if _WARC.search(start) or (stream.fault and stream.packing != "plain"):
        return "warc", stream
    return "", stream


def _items(
    kind: str, file: BinaryIO, source: str, start: Position, *, skip_first: bool
) -> Iterator[Capture | Skipped]:
    file.seek(0)
    packing = Stream(file).packing

    def reopen(position: Position) -> Stream:
        return Stream(file, position, packing)

    if kind == "warc":
        yield from read_warc_carefully(reopen(start), source, reopen, skip_first=skip_first)
    else:
        yield from _read(kind, reopen(start), source, skip_first=skip_first)


def _read(
    kind: str, stream: Stream, source: str, *, skip_first: bool = False
) -> Iterator[Capture | Skipped]:
    if kind == "warc":
        yield from read_warc_carefully(stream, source)
    elif kind == "arc":
        yield from read_arc(stream, source, skip_first=skip_first)
    elif kind == "jsonl":
        yield from read_jsonl(stream, source, skip_first=skip_first)
    elif stream.position == START:
        beginning = "it is empty"
        if stream.peek(1):
            beginning = f"it begins with {stream.peek(16)!r}"
        stream.skip(1)  # a load that resumes here does not report the file again
        why = f"the file is not a WARC, WAT or ARC file and has no JSON lines: {beginning}"
        yield Skipped("not-a-crawl", why, source=source, after=stream.position)
