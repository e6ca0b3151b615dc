"""WARC files read with care: wrong lengths, damage and garbage cost what they touch, no more.

It reads any WARC file, from a pipe too, and takes nearly twice the time of the fast reader
(`webtable.pages.warc`), which leaves everything that is not quite right to this one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from webtable.pages.answers import HEAD_BYTES, MAX_BLOCK_BYTES
from webtable.pages.captures import Capture, Position, Skipped, placed
from webtable.pages.http import parse_headers
from webtable.pages.unpacking import Stream
from webtable.pages.warc_records import WarcRecord, take

__all__ = ["read_warc_carefully"]

_VERSION = b"WARC/"
_BEGIN = re.compile(rb"WARC/[01]\.\d{1,2}\r?\n")
_MAX_HEADER_BYTES = 64 * 1024
_WINDOW_BYTES = 256 * 1024
_FOLLOWING_BYTES = 64
_LENGTH = re.compile(r"\d{1,15}")

Reopen = Callable[[Position], Stream]


def read_warc_carefully(
    stream: Stream, source: str, reopen: Reopen | None = None
) -> Iterator[Capture | Skipped]:
    """Yields what a stream holds. `reopen` gives it again from a position, if that can be done.

    Without it (a pipe), a length that is wrong and large costs the records that it reaches over.
    """
    return _Reading(stream, source, reopen).items()


class _Reading:
    def __init__(self, stream: Stream, source: str, reopen: Reopen | None) -> None:
        self._stream = stream
        self._source = source
        self._reopen = reopen

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
                yield self._skipped("garbage", f"{dropped:,} bytes that are no record", start)
            else:
                return

    def _skip_line_ends(self) -> None:
        stream = self._stream
        while (ends := stream.peek(64)) and (some := len(ends) - len(ends.lstrip(b"\r\n"))):
            stream.skip(some)

    def _drop_until_record(self) -> int:
        """Drops bytes up to the next record of this stream, at least one; returns how many."""
        stream = self._stream
        dropped = stream.skip(1)
        while window := stream.peek(_WINDOW_BYTES):
            found = _BEGIN.search(window)
            if found is not None:
                return dropped + stream.skip(found.start())
            # The beginning of one may be at the end of the window.
            is_last = len(window) < _WINDOW_BYTES
            dropped += stream.skip(len(window) if is_last else len(window) - 16)
            if is_last:
                break
        return dropped

    def _record(self, start: Position) -> Capture | Skipped:
        stream = self._stream
        end = stream.find(b"\r\n\r\n", _MAX_HEADER_BYTES)
        size = end + 4
        if end < 0:
            end = stream.find(b"\n\n", _MAX_HEADER_BYTES)
            size = end + 2
        if end < 0:
            return self._without_header(start)
        header = stream.read(size)
        text = header[:end].decode("utf-8", "replace")
        version, _, rest = text.partition("\n")
        headers = parse_headers(rest)
        length = headers.get("content-length", "")
        if _BEGIN.match(f"{version}\n".encode()) is None or not _LENGTH.fullmatch(length):
            # The next record may begin within what was taken for this one's header.
            stream.unread(header[len(_VERSION) :])
            self._drop_until_record()
            why = f"its length is {length[:40]!r}" if length else "it has no length"
            return self._skipped("bad-record", f"{why}, its first line {version[:40]!r}", start)
        return self._with_length(start, headers, int(length))

    def _without_header(self, start: Position) -> Skipped:
        stream = self._stream
        if len(stream.peek(_MAX_HEADER_BYTES)) < _MAX_HEADER_BYTES:
            if stream.fault:
                return self._skipped(*stream.go_on(), start)
            stream.skip(_MAX_HEADER_BYTES)
            return self._skipped("truncated", "the file ends within a record's header", start)
        self._drop_until_record()
        return self._skipped("bad-record", "the header of the record has no end", start)

    def _with_length(
        self, start: Position, headers: dict[str, str], length: int
    ) -> Capture | Skipped:
        stream = self._stream
        body_start = stream.position if length > MAX_BLOCK_BYTES else start
        block = stream.read(length if length <= MAX_BLOCK_BYTES else HEAD_BYTES)
        left = length - len(block)

        def more(size: int) -> bytes:
            nonlocal left
            data = stream.read(min(size, left))
            left -= len(data)
            return data

        record = WarcRecord(headers, block, length, self._source, start, more)
        item = take(record)
        left -= stream.skip(left)
        if left:
            return self._cut_off(record, left, body_start)
        following = stream.peek(_FOLLOWING_BYTES)
        # Two line ends are what the standard asks for; some writers have fewer, or more.
        if not following.startswith(b"\r\n\r\n"):
            rest = following.lstrip(b"\r\n")
            if rest and not rest.startswith(_VERSION):
                return self._wrong_length(record, body_start)
        self._skip_line_ends()
        return placed(item, stream.position)

    def _cut_off(self, record: WarcRecord, left: int, body_start: Position) -> Skipped:
        """The record reaches over the end: of the file, or of what can be unpacked."""
        stream = self._stream
        if stream.fault:
            return self._named(*stream.go_on(), record)
        # The length may be wrong, and reach over other records.
        if self._go_back(record, body_start):
            self._drop_until_record()
            if self._stream.peek(1):
                why = f"{record.length:,} bytes are more than there are before the next record"
                return self._named("wrong-length", why, record)
        why = f"{left:,} of its {record.length:,} bytes are missing"
        return self._named("truncated", why, record)

    def _wrong_length(self, record: WarcRecord, body_start: Position) -> Skipped:
        self._go_back(record, body_start)
        self._drop_until_record()
        why = f"its length of {record.length:,} bytes does not lead to the next record"
        return self._named("wrong-length", why, record)

    def _go_back(self, record: WarcRecord, body_start: Position) -> bool:
        """Goes back to the block of a record; False where that cannot be done."""
        if self._reopen is None:
            if record.length <= MAX_BLOCK_BYTES:
                self._stream.unread(record.block)
                return True
            return False
        self._stream = self._reopen(body_start)
        if record.length <= MAX_BLOCK_BYTES:
            self._stream.skip(len(_VERSION))  # of the record's own header
        return True

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
