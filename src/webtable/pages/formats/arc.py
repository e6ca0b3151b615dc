"""ARC files: the format of web archives before WARC.

A record is a line (URL, address, date of 14 digits, type, … and at its end the length), then the
HTTP response. The first record describes the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from webtable.pages.captures import ENDED_PROCESS, Capture, Position, Skipped, placed
from webtable.pages.formats.response_captures import (
    HEAD_BYTES,
    MAX_BLOCK_BYTES,
    Recorded,
    Rejected,
    response_capture,
    skipped,
)
from webtable.pages.formats.unpacked_stream import Stream

__all__ = ["read_arc"]

_MAX_LINE_BYTES = 16 * 1024
_DATE_DIGITS = 14
_MAX_LENGTH_DIGITS = 12
_WINDOW_BYTES = 64 * 1024
_NEXT = re.compile(rb"\n(?=[a-z][a-z0-9+.-]{1,20}:[^\s]{1,2100} \S+ \d{14} [^\n]{0,300}\d\r?\n)")


def read_arc(
    stream: Stream, source: str, *, skip_first: bool = False
) -> Iterator[Capture | Skipped]:
    """Yields the captures of an ARC file; `skip_first`: reports the first record as `crashed`."""
    convert = _crashed if skip_first else _convert
    while True:
        _skip_line_ends(stream)
        start = stream.position
        if stream.fault:
            reason, why = stream.go_on()
            yield Skipped(reason, why, source=source, position=start, after=stream.position)
        elif not stream.peek(1):
            return
        else:
            yield _record(stream, source, start, convert)
        convert = _convert


def _record(
    stream: Stream, source: str, start: Position, convert: Callable[[Recorded], Capture | Skipped]
) -> Capture | Skipped:
    end = stream.find(b"\n", _MAX_LINE_BYTES)
    line = _line(stream.peek(end + 1)) if end >= 0 else None
    if line is None:
        dropped = _drop_until_record(stream)
        why = f"{dropped:,} bytes that belong to no record"
        return Skipped("garbage", why, source=source, position=start, after=stream.position)
    stream.skip(end + 1)
    url, address, date, length = line
    block = stream.read(length if length <= MAX_BLOCK_BYTES else HEAD_BYTES)
    left = length - len(block)

    def more(size: int) -> bytes:
        nonlocal left
        data = stream.read(min(size, left))
        left -= len(data)
        return data

    recorded = Recorded(url, date, block, length, source, start, more=more, address=address)
    item = convert(recorded)
    left -= stream.skip(left)
    if left:
        reason, why = "truncated", f"{left:,} of its {length:,} bytes are missing"
        if stream.fault:
            reason, why = stream.go_on()
        item = skipped(recorded, Rejected(reason, why))
    elif stream.peek(1) not in (b"", b"\n", b"\r"):
        _drop_until_record(stream)
        why = f"its length of {length:,} bytes does not lead to the next record"
        item = skipped(recorded, Rejected("wrong-length", why))
    _skip_line_ends(stream)
    return placed(item, stream.position)


def _line(line: bytes) -> tuple[str, str, str, int] | None:
    """Parses the first line of a record into URL, IP address, date and length; None: not valid."""
    fields = line.rstrip().split(b" ")
    if len(fields) < 4 or any(len(field.split()) != 1 for field in fields[:3]):
        return None
    date, length = fields[2], fields[-1]
    if len(date) != _DATE_DIGITS or len(length) > _MAX_LENGTH_DIGITS:
        return None
    if not date.isdigit() or not length.isdigit():
        return None
    url, address = (field.decode("utf-8", "replace") for field in fields[:2])
    return url, address, date.decode(), int(length)


def _convert(recorded: Recorded) -> Capture | Skipped:
    try:
        if recorded.url.startswith("filedesc:"):
            raise Rejected("other-type", "the description of the file")
        return response_capture(recorded)
    except Rejected as rejected:
        return skipped(recorded, rejected)
    except Exception as exc:  # noqa: BLE001  one record must not end a load
        return skipped(recorded, Rejected("crashed", f"reading it failed: {exc!r:.200}"))


def _crashed(recorded: Recorded) -> Skipped:
    return skipped(recorded, Rejected("crashed", ENDED_PROCESS))


def _skip_line_ends(stream: Stream) -> None:
    while (ends := stream.peek(64)) and (some := len(ends) - len(ends.lstrip(b"\r\n"))):
        stream.skip(some)


def _drop_until_record(stream: Stream) -> int:
    dropped = 0
    while window := stream.peek(_WINDOW_BYTES):
        found = _NEXT.search(window)
        if found is not None:
            return dropped + stream.skip(found.end())
        is_last = len(window) < _WINDOW_BYTES
        dropped += stream.skip(len(window) if is_last else len(window) // 2)
        if is_last:
            break
    return dropped
