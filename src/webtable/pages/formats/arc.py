"""ARC files, which archives wrote before there was WARC.

A record is a line (URL, address, date of 14 digits, type, … and at its end the length), then the
HTTP answer. The first record describes the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from webtable.pages.captures import ENDED_PROCESS, Capture, Position, Skipped, placed
from webtable.pages.formats.responses import (
    HEAD_BYTES,
    MAX_BLOCK_BYTES,
    Recorded,
    Rejected,
    answer,
    skipped,
)
from webtable.pages.formats.streams import Stream

__all__ = ["read_arc"]

_MAX_LINE_BYTES = 16 * 1024
_DATE_DIGITS = 14
_MAX_LENGTH_DIGITS = 12
_WINDOW_BYTES = 64 * 1024
_NEXT = re.compile(rb"\n(?=[a-z][a-z0-9+.-]{1,20}:[^\s]{1,2100} \S+ \d{14} [^\n]{0,300}\d\r?\n)")


def read_arc(
    stream: Stream, source: str, *, passes_over: bool = False
) -> Iterator[Capture | Skipped]:
    """Yields what an ARC file holds; `passes_over`: the first record is only named."""
    take = _take_none if passes_over else _taken
    while True:
        _skip_line_ends(stream)
        start = stream.position
        if stream.fault:
            reason, why = stream.go_on()
            yield Skipped(reason, why, source=source, position=start, after=stream.position)
        elif not stream.peek(1):
            return
        else:
            yield _record(stream, source, start, take)
        take = _taken


def _record(
    stream: Stream, source: str, start: Position, take: Callable[[Recorded], Capture | Skipped]
) -> Capture | Skipped:
    end = stream.find(b"\n", _MAX_LINE_BYTES)
    line = _line(stream.peek(end + 1)) if end >= 0 else None
    if line is None:
        dropped = _drop_until_record(stream)
        why = f"{dropped:,} bytes that are no record"
        return Skipped("garbage", why, source=source, position=start, after=stream.position)
    stream.skip(end + 1)
    url, date, length = line
    block = stream.read(length if length <= MAX_BLOCK_BYTES else HEAD_BYTES)
    left = length - len(block)

    def more(size: int) -> bytes:
        nonlocal left
        data = stream.read(min(size, left))
        left -= len(data)
        return data

    recorded = Recorded(url, date, block, length, source, start, more=more)
    item = take(recorded)
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


def _line(line: bytes) -> tuple[str, str, int] | None:
    """Returns URL, date and length of the line before a record; None where it is none."""
    words = line.rstrip().split(b" ")
    if len(words) < 4 or any(len(word.split()) != 1 for word in words[:3]):
        return None
    date, length = words[2], words[-1]
    if len(date) != _DATE_DIGITS or len(length) > _MAX_LENGTH_DIGITS:
        return None
    if not date.isdigit() or not length.isdigit():
        return None
    return words[0].decode("utf-8", "replace"), date.decode(), int(length)


def _taken(recorded: Recorded) -> Capture | Skipped:
    try:
        if recorded.url.startswith("filedesc:"):
            raise Rejected("other-type", "the description of the file")
        return answer(recorded)
    except Rejected as rejected:
        return skipped(recorded, rejected)
    except Exception as exc:  # noqa: BLE001  one record must not end a load
        return skipped(recorded, Rejected("crashed", f"reading it failed: {exc!r:.200}"))


def _take_none(recorded: Recorded) -> Skipped:
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
