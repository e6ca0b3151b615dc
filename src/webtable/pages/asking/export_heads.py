"""The heads of responses in exported WARC files.

Bodies are stored without chunking and content codings, so the headers that describe these are
written as Common Crawl does it: `X-Crawler-Content-Encoding`, `X-Crawler-Transfer-Encoding` and
`X-Crawler-Content-Length` have the received values, and `Content-Length` is that of the written
body. warcio, pywb and this loader then read the body as it is. All other lines are as received.
"""

from __future__ import annotations

from collections.abc import Iterator

from webtable.pages.formats.content_codings import CODINGS

__all__ = ["adjusted_head"]

_RENAMED = (b"content-encoding", b"transfer-encoding", b"content-length")
_PREFIX = b"X-Crawler-"


def adjusted_head(head: bytes, size: int | None, more: bytes = b"") -> bytes:
    """Returns a received head for a body without codings, with the empty line at its end.

    Args:
        size: the bytes of the written body; None where it is unknown, as for a revisit.
        more: header lines that are added where the head has no `Content-Type`.
    """
    status_line, *lines = head.replace(b"\r\n", b"\n").split(b"\n")
    headers = list(_headers(lines))
    names = {name for name, _ in headers}
    written = [status_line]
    for name, line in headers:
        # The length is right where the body had no coding.
        is_right = name == b"content-length" and _value(line) == str(size).encode()
        if name not in _RENAMED or is_right:
            written.append(line)
            continue
        written.append(_PREFIX + line)
        if name == b"content-encoding" and (left := _unknown_codings(line)):
            written.append(b"Content-Encoding: " + left)
        if name == b"content-length" and size is not None:
            written.append(b"Content-Length: %d" % size)
    if b"content-length" not in names and size is not None and not names.isdisjoint(_RENAMED):
        written.append(b"Content-Length: %d" % size)
    if b"content-type" not in names and more:
        written.append(more)
    return b"\r\n".join([*written, b"", b""])


def _headers(lines: list[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yields the name of each header in lower case, and its lines."""
    held: list[bytes] = []
    for line in (*lines, b""):
        if line[:1] in (b" ", b"\t") and held:  # continues the line before
            held.append(line)
            continue
        if held:
            yield held[0].partition(b":")[0].strip().lower(), b"\r\n".join(held)
        held = [line] if line else []


def _value(line: bytes) -> bytes:
    return line.partition(b":")[2].strip()


def _unknown_codings(line: bytes) -> bytes:
    """Returns the codings in a Content-Encoding header that are not removed from bodies."""
    codings = _value(line).lower().replace(b",", b" ").split()
    return b", ".join(each for each in codings if each.decode("latin-1") not in CODINGS)
