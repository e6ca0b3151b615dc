"""Creates crawls from crawls: every tenth page of a crawl, or the same pages two weeks later."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecordType

__all__ = ["every_nth", "recrawl", "response_members"]

_DATE = re.compile(rb"(?im)^WARC-Date: *(\S+)")
_DIGESTS = re.compile(rb"(?im)^WARC-(?:Payload|Block)-Digest:.*\r\n")
_LENGTH = re.compile(rb"(?im)^Content-Length:.*\r\n")


def response_members(path: Path) -> Iterator[bytes]:
    """Yields the compressed response records of a WARC file; each is a gzip member of its own."""
    starts, responses = [], set()
    with path.open("rb") as file:
        for record in ArchiveIterator(file, parse_http=False):
            starts.append(record.stream_pos)
            if record.record_type == WarcRecordType.response:
                responses.add(record.stream_pos)
    ends = [*starts[1:], path.stat().st_size]
    with path.open("rb") as file:
        for start, end in zip(starts, ends, strict=True):
            if start in responses:
                file.seek(start)
                yield file.read(end - start)


def every_nth(files: Sequence[Path], folder: Path, step: int) -> list[Path]:
    """Writes files with every n-th page of other files."""
    folder.mkdir()
    made = []
    for path in files:
        out = folder / path.name
        with out.open("wb") as file:
            file.writelines(m for at, m in enumerate(response_members(path)) if at % step == 0)
        if out.stat().st_size:
            made.append(out)
    return made


def recrawl(files: Sequence[Path], folder: Path, *, changed: float) -> list[Path]:
    """Writes files with the same pages two weeks later, a share of them with one more link."""
    folder.mkdir()
    step = round(1 / changed)
    made = []
    for path in files:
        out = folder / path.name
        with out.open("wb") as file:
            for at, member in enumerate(response_members(path)):
                record = _later(gzip.decompress(member))
                if at % step == 0:
                    record = _changed(record, at)
                pack = zlib.compressobj(1, wbits=31)
                file.write(pack.compress(record) + pack.flush())
        made.append(out)
    return made


def _later(record: bytes) -> bytes:
    head, end, rest = record.partition(b"\r\n\r\n")
    found = _DATE.search(head)
    assert found is not None, head
    date = datetime.fromisoformat(found[1].decode().replace("Z", "+00:00")) + timedelta(days=15)
    text = date.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    return head[: found.start(1)] + text + head[found.end(1) :] + end + rest


def _changed(record: bytes, number: int) -> bytes:
    head, _, rest = record.partition(b"\r\n\r\n")
    http, _, body = rest[:-4].partition(b"\r\n\r\n")
    body += b'<p><a href="https://new.example/%d">new</a>' % (number % 100)
    http = _LENGTH.sub(b"", http + b"\r\n") + b"Content-Length: %d" % len(body)
    block = http + b"\r\n\r\n" + body
    head = _LENGTH.sub(b"", _DIGESTS.sub(b"", head + b"\r\n"))
    head += b"Content-Length: %d" % len(block)
    return head + b"\r\n\r\n" + block + b"\r\n\r\n"
