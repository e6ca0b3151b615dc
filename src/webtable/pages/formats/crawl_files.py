"""Files of a crawl, of whatever kind: what they are is told by what they hold, not by their names.

WARC, WAT and ARC files and JSON lines, plain or packed by gzip or zstd, from disk or a pipe.
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
from webtable.pages.formats.streams import Stream
from webtable.pages.formats.warc import read_warc
from webtable.pages.formats.warc_tolerant import read_warc_carefully

__all__ = ["STANDARD_INPUT", "read_captures", "read_stream"]

STANDARD_INPUT = "-"

_LOOKED_AT_BYTES = 64 * 1024
_WARC = re.compile(rb"WARC/[01]\.\d{1,2}\r?\n")
_ARC = re.compile(rb"\s*filedesc:|\s*[a-z]{3,5}:\S+ \d+\.\d+\.\d+\.\d+ \d{14} ")


def read_captures(
    source: str | Path,
    start: Position = START,
    *,
    name: str = "",
    is_careful: bool = False,
    passes_over: bool = False,
) -> Iterator[Capture | Skipped]:
    """Yields what a file holds, from a position on: the `after` of an item goes on behind it.

    `-` is standard input, where going on means to read over what came before. Whatever the file
    holds, nothing is raised while it is read: what cannot be taken is yielded as `Skipped`.

    Args:
        name: the `source` of what is found; the path unless it is given.
        is_careful: read no record before the one in front of it was yielded.
        passes_over: do not look into the first record: it is only named, as `crashed`.

    Raises:
        NotFound: there is no such file.
        InvalidRequest: it cannot be opened.
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
                yield from _items(kind, file, name, start, passes_over=passes_over)
    except FileNotFoundError as exc:
        raise NotFound("file", name, hint="check the path") from exc
    except OSError as exc:
        why = exc.strerror or str(exc)
        raise InvalidRequest(f"'{name}' cannot be read: {why}", hint="check the path") from exc


def read_stream(
    file: BinaryIO, source: str, start: Position = START
) -> Iterator[Capture | Skipped]:
    """Yields what a pipe holds, reading it once and forward."""
    kind, stream = _kind_of(file)
    for item in _read(kind, stream, source):
        if item.position >= start:
            yield item


def _kind_of(file: BinaryIO) -> tuple[str, Stream]:
    """Returns what a file is, and its stream from the beginning."""
    stream = Stream(file)
    start = stream.peek(_LOOKED_AT_BYTES)
    if _WARC.match(start.lstrip()):
        return "warc", stream
    if _ARC.match(start):
        return "arc", stream
    if start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return "jsonl", stream
    # A file that begins with something else may still hold records.
    if _WARC.search(start) or (stream.fault and stream.packing != "plain"):
        return "warc", stream
    return "", stream


def _items(
    kind: str, file: BinaryIO, source: str, start: Position, *, passes_over: bool
) -> Iterator[Capture | Skipped]:
    file.seek(0)
    packing = Stream(file).packing

    def reopen(position: Position) -> Stream:
        return Stream(file, position, packing)

    if kind == "warc":
        yield from read_warc_carefully(reopen(start), source, reopen, passes_over=passes_over)
    else:
        yield from _read(kind, reopen(start), source, passes_over=passes_over)


def _read(
    kind: str, stream: Stream, source: str, *, passes_over: bool = False
) -> Iterator[Capture | Skipped]:
    if kind == "warc":
        yield from read_warc_carefully(stream, source)
    elif kind == "arc":
        yield from read_arc(stream, source, passes_over=passes_over)
    elif kind == "jsonl":
        yield from read_jsonl(stream, source, passes_over=passes_over)
    elif stream.position == START:
        looks = "it is empty"
        if stream.peek(1):
            looks = f"it begins with {stream.peek(16)!r}"
        stream.skip(1)  # who goes on behind this is not told again
        why = f"the file is no WARC, WAT or ARC file and has no JSON lines: {looks}"
        yield Skipped("not-a-crawl", why, source=source, after=stream.position)
