"""HTTP responses as crawls record them: the head, and the body without its codings.

In real crawls the headers are often wrong: many tools remove a content coding or the chunking and
keep the header that names it. So a coding is removed only where the bytes have it; other bytes stay
unchanged. The output is limited, whatever the input is; the time is linear in input and output.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import NamedTuple

from webtable.pages.formats.content_codings import Body, remove_coding

__all__ = [
    "MAX_HEAD_BYTES",
    "Body",
    "Head",
    "canonical_link",
    "dechunked",
    "decode_body",
    "http_time",
    "media_type",
    "parse_head",
    "parse_headers",
    "robots_rules",
]

MAX_HEAD_BYTES = 64 * 1024
"""A head with more bytes is not read."""
_MAX_CODINGS = 4
# Longer header values are not valid, and would fill the caches.
_MAX_TYPE, _MAX_DATE = 1_000, 100
_HTTP_DATE = re.compile(r"[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT")
_LISTS = frozenset({"link", "x-robots-tag", "warc-protocol"})
_CRAWLER = re.compile(r"\*|[a-z][a-z0-9_.+-]*")
_RULES_WITH_VALUES = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Head(NamedTuple):
    """The head of an HTTP response. `headers`: see `parse_headers`."""

    status: int
    headers: dict[str, str]
    length: int
    """The length of the head in bytes: the body begins there."""
    end: int
    """The length without the empty line and the line end before it."""


def parse_head(block: bytes) -> Head | None:
    """Parses the head of an HTTP response; None where it is not readable."""
    if not block.startswith(b"HTTP/"):
        return None
    end = block.find(b"\r\n\r\n", 0, MAX_HEAD_BYTES)
    length = end + 4
    if end < 0:
        # Old crawls have heads with plain line ends, or a head without a body.
        end = block.find(b"\n\n", 0, MAX_HEAD_BYTES)
        length = end + 2
        if end < 0:
            if len(block) > MAX_HEAD_BYTES:
                return None
            end, length = len(block.rstrip(b"\r\n")), len(block)
    line, _, rest = block[:end].decode("latin-1").partition("\n")
    parts = line.split(None, 2)
    if len(parts) < 2 or len(parts[1]) != 3 or not parts[1].isascii() or not parts[1].isdigit():
        return None
    return Head(int(parts[1]), parse_headers(rest), length, end)


def parse_headers(text: str) -> dict[str, str]:
    """Returns the headers of a text by name in lower case.

    The last value of a name counts. Headers that are lists may occur several times: their values
    are separated by line ends.
    """
    headers: dict[str, str] = {}
    folded: dict[str, list[str]] = {}
    earlier: dict[str, list[str]] = {}
    name = ""
    for line in text.split("\n"):
        before, colon, value = line.partition(":")
        if line[:1] in (" ", "\t"):  # continues the line before
            if name:
                folded.setdefault(name, [headers[name]]).append(line.strip())
        elif colon:
            name = before.strip().lower()
            if name in _LISTS and name in headers:
                earlier.setdefault(name, []).append(" ".join(folded.pop(name, [headers[name]])))
            headers[name] = value.strip()
            if folded:
                folded.pop(name, None)
    for name, lines in folded.items():
        headers[name] = " ".join(lines)
    for name, values in earlier.items():
        headers[name] = "\n".join([*values, headers[name]])
    return headers


def canonical_link(header: str) -> str:
    """Returns the first target of a Link header with the relation `canonical`; empty: none.

    >>> canonical_link('</a>; rel=next, <https://example.com/b>; rel="canonical"')
    'https://example.com/b'
    """
    # Every search begins where the one before ended, so the time is linear for any text.
    start = header.find("<")
    while start >= 0:
        end = header.find(">", start)
        if end < 0:
            return ""
        following = header.find("<", end)
        about = header[end + 1 : following] if following >= 0 else header[end + 1 :]
        if _is_canonical(about):
            return header[header.rfind("<", start, end) + 1 : end]
        start = following
    return ""


def _is_canonical(parameters: str) -> bool:
    for each in parameters.split(";")[1:]:
        name, _, value = each.partition("=")
        if name.strip().lower() == "rel":
            value = value.strip()
            value = value[1:].partition('"')[0] if value.startswith('"') else value
            if "canonical" in value.lower().replace(",", " ").split():
                return True
    return False


def robots_rules(header: str) -> str:
    r"""Returns the rules of X-Robots-Tag headers that are for all crawlers, in lower case.

    Rules that follow the name of a crawler are for that crawler only; the next header begins with
    rules for all crawlers again.

    >>> robots_rules("NoIndex\ngooglebot: nofollow, nosnippet\nmax-snippet: 20")
    'noindex, max-snippet: 20'
    """
    rules: list[str] = []
    for line in header.lower().split("\n"):
        is_for_all = True
        for part in line.split(","):
            name, colon, rest = part.partition(":")
            name = name.strip()
            if colon and name not in _RULES_WITH_VALUES and _CRAWLER.fullmatch(name):
                is_for_all, part = name == "*", rest
            if is_for_all and (rule := part.strip()):
                rules.append(rule)
    return ", ".join(rules)


def media_type(value: str) -> tuple[str, str]:
    """Returns the type and the charset of a Content-Type header.

    >>> media_type('Text/HTML; charset="UTF-8"')
    ('text/html', 'UTF-8')
    """
    return _media_type(value[:_MAX_TYPE])


@lru_cache(4096)
def _media_type(value: str) -> tuple[str, str]:
    kind, _, rest = value.partition(";")
    kind = kind.strip().lower()
    if kind.count("/") != 1 or not kind.isascii() or not kind.isprintable() or len(kind) > 128:
        kind = ""
    for part in rest.split(";"):
        name, _, text = part.partition("=")
        if name.strip().lower() == "charset":
            return kind, text.strip().strip("\"'").strip()[:40]
    return kind, ""


def http_time(value: str) -> int | None:
    """Returns an HTTP date as seconds since 1970; None where it is not valid.

    >>> http_time("Sun, 06 Nov 1994 08:49:37 GMT")
    784111777
    """
    return _http_time(value) if len(value) <= _MAX_DATE else None


@lru_cache(4096)
def _http_time(value: str) -> int | None:
    usual = _HTTP_DATE.fullmatch(value)
    try:
        if usual:
            day, month, year, hours, minutes, seconds = usual.groups()
            when = datetime(
                year=int(year),
                month=_MONTHS.index(month) + 1,
                day=int(day),
                hour=int(hours),
                minute=int(minutes),
                second=int(seconds),
                tzinfo=UTC,
            )
        else:
            when = parsedate_to_datetime(value)
            # The parser returns no time zone for `-0000` and for a missing zone: HTTP uses UTC.
            when = when.replace(tzinfo=UTC) if when.tzinfo is None else when
        since = int(when.timestamp())
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return since if since > 0 else None


def decode_body(payload: bytes, headers: dict[str, str], limit: int) -> Body:
    """Removes chunking and content codings from a payload, up to `limit` bytes of body."""
    if "transfer-encoding" not in headers and "content-encoding" not in headers:
        return Body(payload if len(payload) <= limit else None)
    body = dechunked(payload, headers)
    codings = headers.get("content-encoding", "").lower().replace(",", " ").split()
    for coding in reversed(codings[:_MAX_CODINGS]):
        body = remove_coding(coding, body, limit)
        if body.content is None:
            return body
    return body if len(body.content or b"") <= limit else Body(None, body.is_cut)


def dechunked(payload: bytes, headers: dict[str, str]) -> Body:
    """Returns a payload without the chunking that its headers name, but with content codings."""
    if "chunked" not in headers.get("transfer-encoding", "").lower():
        return Body(payload)
    return Body(*_dechunk(payload))


def _dechunk(payload: bytes) -> tuple[bytes, bool]:
    """Returns the payload without chunking, and whether the last chunk is missing."""
    parts: list[bytes] = []
    place = 0
    while True:
        end = payload.find(b"\n", place, place + 1024)
        size = _chunk_size(payload[place:end]) if end >= 0 else None
        if size is None:
            # Without a chunk before it, the payload is not chunked at all.
            return (b"".join(parts), True) if parts else (payload, False)
        if size == 0:
            return b"".join(parts), False
        chunk = payload[end + 1 : end + 1 + size]
        parts.append(chunk)
        if len(chunk) < size:
            return b"".join(parts), True
        place = end + 1 + size
        if payload[place : place + 2] == b"\r\n":
            place += 2
        elif payload[place : place + 1] == b"\n":
            place += 1


def _chunk_size(line: bytes) -> int | None:
    digits = line.partition(b";")[0].strip()
    if not 0 < len(digits) <= 8 or not digits.isalnum():  # int() accepts signs and underscores
        return None
    try:
        return int(digits, 16)
    except ValueError:
        return None
