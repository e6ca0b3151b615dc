"""The tolerant reader of WARC files: wrong lengths, damage and garbage lose only what they affect.

It reads any WARC file, also from a pipe, and needs nearly twice the time of the fast reader
(`webtable.pages.formats.warc_fast`). The fast reader leaves every doubtful file to this one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from webtable.pages.captures import Capture, Position, Skipped, placed
from webtable.pages.formats.http_responses import parse_headers
from webtable.pages.formats.response_captures import HEAD_BYTES, MAX_BLOCK_BYTES
from webtable.pages.formats.unpacked_stream import Stream
from webtable.pages.formats.warc_captures import WarcRecord, capture_of_record, crashed_record

__all__ = ["read_warc_carefully"]

_VERSION = b"WARC/"
_BEGIN = re.compile(rb"WARC/[01]\.\d{1,2}\r?\n")
_MAX_HEADER_BYTES = 64 * 1024
_WINDOW_BYTES = 256 * 1024
_FIRST_WINDOW_BYTES = 4 * 1024
_FOLLOWING_BYTES = 64
_MAX_WRONG_LONG = 8
_LENGTH = re.compile(r"\d{1,15}")
_BEGIN_IN_HEADER = re.compile(rb"\nWARC/[01]\.\d{1,2}(?=\r?\n)")

Reopen = Callable[[Position], Stream]
Convert = Callable[[WarcRecord], Capture | Skipped]


def read_warc_carefully(
    stream: Stream, source: str, reopen: Reopen | None = None, *, skip_first: bool = False
) -> Iterator[Capture | Skipped]:
    """Yields the captures of a stream.

    Args:
        reopen: returns the stream from a position on. Without it (a pipe), a wrong and large
            length loses the records that it covers.
        skip_first: do not parse the first record; report it as `crashed`.
    """
    convert_first = crashed_record if skip_first else capture_of_record
    return _Reading(stream, source, reopen, convert_first).items()


class _Reading:
    def __init__(
        self, stream: Stream, source: str, reopen: Reopen | None, convert_first: Convert
    ) -> None:
        self._stream = stream
        self._source = source
        self._reopen = reopen
        self._wrong_long = 0
        self._convert = convert_first

    def items(self) -> Iterator[Capture | Skipped]:
        while True:
            self._skip_line_ends()
            stream = self._stream
            start = stream.position
            if stream.peek(len(_VERSION)) == _VERSION:
                yield self._record(start)
            elif stream.fault:
                yield self._skipped(*stream.go_on(), start)
            elif stream.peek(1):
                dropped = self._drop_until_record()
                yield self._skipped("garbage", f"{dropped:,} bytes that belong to no record", start)
            else:
                return
            self._convert = capture_of_record

    def _skip_line_ends(self) -> None:
        stream = self._stream
        while (ends := stream.peek(64)) and (some := len(ends) - len(ends.lstrip(b"\r\n"))):
            stream.skip(some)

    def _drop_until_record(self) -> int:
        """Drops bytes up to the next record of this stream, at least one; returns how many."""
        stream = self._stream
        dropped = stream.skip(1)
        size = _FIRST_WINDOW_BYTES
        while window := stream.peek(size):
            found = _BEGIN.search(window)
            if found is not None:
                return dropped + stream.skip(found.start())
            # The beginning of a record may be at the end of the window.
            is_last = len(window) < size
            dropped += stream.skip(len(window) if is_last else len(window) - 16)
            if is_last:
                break
            size = _WINDOW_BYTES
        return dropped

    def _drop_until_last_record(self, header: bytes) -> None:
        """Drops bytes up to the last record that begins inside an unreadable header.

        The other records that begin there have no end of their own. A search for the end of each
        would read the same bytes thousands of times.
        """
        begins = [found.start() for found in _BEGIN.finditer(header, 1)]
        if begins:
            self._stream.skip(begins[-1])
        else:
            self._drop_until_record()

    def _record(self, start: Position) -> Capture | Skipped:
        stream = self._stream
        end = stream.find(b"\r\n\r\n", _MAX_HEADER_BYTES)
        size = end + 4
        if end < 0:
            end = stream.find(b"\n\n", _MAX_HEADER_BYTES)
            size = end + 2
        if end < 0:
            return self._without_header(start)
        header = stream.peek(end)
        if _BEGIN_IN_HEADER.search(header) is not None:
            self._drop_until_last_record(header)
            return self._skipped("bad-record", "another record begins in its header", start)
        version, _, rest = header.decode("utf-8", "replace").partition("\n")
        headers = parse_headers(rest)
        length = headers.get("content-length", "")
        if _BEGIN.match(f"{version}\n".encode()) is None or not _LENGTH.fullmatch(length):
            self._drop_until_last_record(header)
            why = f"its length is {length[:40]!r}" if length else "it has no length"
            return self._skipped("bad-record", f"{why}, its first line {version[:40]!r}", start)
        record = WarcRecord(headers, b"", int(length), self._source, start)
        return (
            self._long(record, size)
            if record.length > MAX_BLOCK_BYTES
            else self._short(record, size)
        )

    def _without_header(self, start: Position) -> Skipped:
        stream = self._stream
        header = stream.peek(_MAX_HEADER_BYTES)
        if len(header) < _MAX_HEADER_BYTES:
            if stream.fault:
                return self._skipped(*stream.go_on(), start)
            stream.skip(_MAX_HEADER_BYTES)
            return self._skipped("truncated", "the file ends within a record's header", start)
        self._drop_until_last_record(header)
        return self._skipped("bad-record", "the header of the record has no end", start)

    def _short(self, record: WarcRecord, header_bytes: int) -> Capture | Skipped:
        """Reads a record whose block fits into memory, after a check of its length.

        Until then the stream is not consumed: where every length is wrong, the same bytes
        would be read again and again.
        """
        stream = self._stream
        end = header_bytes + record.length
        missing = end - stream.fill(end + _FOLLOWING_BYTES)
        if missing > 0:
            if stream.fault:
                return self._named(*stream.go_on(), record)
            # The length may be wrong, and cover other records.
            self._drop_until_record()
            return self._cut_off(record, missing)
        if not _leads_on(stream.peek(_FOLLOWING_BYTES, end)):
            self._drop_until_record()
            return self._wrong_length(record)
        stream.skip(header_bytes)
        item = self._convert(record._replace(block=stream.read(record.length)))
        self._skip_line_ends()
        return placed(item, self._stream.position)

    def _long(self, record: WarcRecord, header_bytes: int) -> Capture | Skipped:
        """Reads a record whose block is too long for the memory, piece by piece, up to its end.

        Where the length is wrong, that reads the rest of the file. So it is done a few times only.
        """
        stream = self._stream
        stream.skip(header_bytes)
        if self._wrong_long >= _MAX_WRONG_LONG:
            self._drop_until_record()
            return self._wrong_length(record)
        block_start, left = stream.position, record.length

        def more(size: int) -> bytes:
            nonlocal left
            data = stream.read(min(size, left))
            left -= len(data)
            return data

        block = more(HEAD_BYTES)
        item = self._convert(record._replace(block=block, more=more))
        left -= stream.skip(left)
        if left and stream.fault:
            return self._named(*stream.go_on(), record)
        if not left and _leads_on(stream.peek(_FOLLOWING_BYTES)):
            self._skip_line_ends()
            return placed(item, stream.position)
        self._wrong_long += 1
        if self._reopen is not None:
            self._stream = self._reopen(block_start)
            self._drop_until_record()
        elif not left:
            self._drop_until_record()
        return self._cut_off(record, left) if left else self._wrong_length(record)

    def _cut_off(self, record: WarcRecord, missing: int) -> Skipped:
        """Reports a record that is longer than the rest of the file, after it was dropped."""
        if self._stream.peek(1):
            why = f"its length of {record.length:,} bytes reaches over the next record"
            return self._named("wrong-length", why, record)
        why = f"{missing:,} of its {record.length:,} bytes are missing"
        return self._named("truncated", why, record)

    def _wrong_length(self, record: WarcRecord) -> Skipped:
        why = f"its length of {record.length:,} bytes does not lead to the next record"
        return self._named("wrong-length", why, record)

    def _named(self, reason: str, why: str, record: WarcRecord) -> Skipped:
        return Skipped(
            reason,
            why,
            url=record.headers.get("warc-target-uri", "")[:200],
            record_id=record.headers.get("warc-record-id", ""),
            source=self._source,
            position=record.position,
            after=self._stream.position,
        )

    def _skipped(self, reason: str, why: str, start: Position) -> Skipped:
        return Skipped(
            reason, why, source=self._source, position=start, after=self._stream.position
        )


def _leads_on(following: bytes) -> bool:
    """Whether a record can end before these bytes."""
    # The standard requires two line ends; some writers write fewer, or more.
    if following.startswith(b"\r\n\r\n"):
        return True
    rest = following.lstrip(b"\r\n")
    return not rest or rest.startswith(_VERSION)
