"""Small crawls for tests, written byte by byte, so that they can be wrong in every way."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from webtable.pages.captures import Capture, Skipped
from webtable.pages.formats.crawl_files import read_captures, read_stream

DATE = "2026-01-01T00:00:00Z"
FETCHED = 1_767_225_600


def http(
    body: bytes, *headers: tuple[str, str], status: str = "200 OK", kind: str = "text/html"
) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def record(
    block: bytes,
    url: str | None = "https://example.com/",
    kind: str = "response",
    length: int | str | None = None,
    date: str | None = DATE,
    **more: str,
) -> bytes:
    """Returns a record of a WARC file; `more` are headers, with `_` for `-`."""
    headers = [("WARC-Type", kind), ("WARC-Record-ID", "<urn:uuid:1>")]
    if url is not None:
        headers.append(("WARC-Target-URI", url))
    if date is not None:
        headers.append(("WARC-Date", date))
    headers += [(name.replace("_", "-"), value) for name, value in more.items()]
    headers.append(("Content-Length", str(len(block) if length is None else length)))
    lines = [f"{name}: {value}" for name, value in headers]
    return "\r\n".join(["WARC/1.1", *lines]).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def page(number: int, size: int = 100) -> bytes:
    body = f"<title>Page {number}</title>".encode() + b"x" * size
    return record(http(body), f"https://example.com/{number}")


def members(records: Iterable[bytes]) -> bytes:
    return b"".join(gzip.compress(each, mtime=0) for each in records)


class Pipe(io.RawIOBase):
    """Bytes that can be read once, in small pieces."""

    def __init__(self, data: bytes, piece: int = 1 << 20) -> None:
        self._file = io.BytesIO(data)
        self._piece = piece

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def read(self, size: int = -1) -> bytes:
        return self._file.read(self._piece if size < 0 else min(size, self._piece))


def read(path: Path, data: bytes) -> list[Capture | Skipped]:
    """Reads bytes as a file and as a pipe, which must agree, and going on behind each item."""
    path.write_bytes(data)
    items = list(read_captures(path))
    assert piped(data, str(path)) == items
    for number, item in enumerate(items):
        assert list(read_captures(path, item.after)) == items[number + 1 :], f"behind {item}"
    return items


def piped(data: bytes, source: str = "-") -> list[Capture | Skipped]:
    return list(read_stream(Pipe(data), source))  # type: ignore[arg-type]


def urls(items: Sequence[Capture | Skipped]) -> list[str]:
    """Returns the last parts of the URLs of captures, and the reasons of what was skipped."""
    return [
        each.url.rpartition("/")[2] if isinstance(each, Capture) else each.reason for each in items
    ]


def only(items: Sequence[Capture | Skipped]) -> Capture:
    (item,) = items
    assert isinstance(item, Capture), item
    return item
