"""Captures made of what a record says: URL, date, and an HTTP answer or a bare payload.

All readers end here, so that a URL, a date or a body means the same whatever file it came in.
"""

from __future__ import annotations

import base64
import hashlib
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from webtable.errors import InvalidUrl
from webtable.pages.captures import (
    MAX_BODY_BYTES,
    START,
    Capture,
    Kind,
    Position,
    Skipped,
    payload_digest,
)
from webtable.pages.http import Head, decode_body, http_time, media_type, parse_head
from webtable.pages.resolving import canonical
from webtable.pages.urls import resolve_url

__all__ = [
    "HEAD_BYTES",
    "MAX_BLOCK_BYTES",
    "NEWEST_AHEAD_SECONDS",
    "Recorded",
    "Rejected",
    "answer",
    "parse_date",
    "resource",
    "skipped",
]

MAX_BLOCK_BYTES = MAX_BODY_BYTES + 1024 * 1024
"""A longer record is not read whole: its body would be too large, whatever its codings are."""
HEAD_BYTES = 64 * 1024
"""What is read of such a record, for the HTTP head."""
NEWEST_AHEAD_SECONDS = 86_400
"""How far ahead of now a capture may be dated: clocks and zones are wrong by so much."""

_OLDEST = int(datetime(1989, 1, 1, tzinfo=UTC).timestamp())
_SHOWN_URL = 200
_LINK = re.compile(r"<([^<>]*)>([^<]*)")
_CANONICAL_REL = re.compile(r";\s*rel\s*=\s*\"?[^\";]*\bcanonical\b", re.IGNORECASE)
_FRACTION = re.compile(r"\.\d+")
_SHA1 = re.compile(r"[A-Z2-7]{32}")
_SHA1_HEX = re.compile(r"[0-9a-fA-F]{40}")
_OTHER_DIGEST = re.compile(r"[a-z0-9-]{2,20}:[A-Za-z0-9+/=_-]{8,200}")


class Rejected(Exception):
    """A record that cannot be taken; `reason` is one of `REASONS`."""

    def __init__(self, reason: str, why: str) -> None:
        super().__init__(why)
        self.reason = reason
        self.why = why


class Recorded(NamedTuple):
    """A record as a reader found it, before anything of it was checked."""

    url: str
    date: str
    block: bytes
    """All of it, or the first `HEAD_BYTES` of one that is longer than `MAX_BLOCK_BYTES`."""
    length: int
    source: str
    position: Position
    digest: str = ""
    record_id: str = ""
    content_type: str = ""
    """Of a bare payload."""
    more: Callable[[int], bytes] | None = None
    """Reads on in a block that is longer."""
    is_truncated: bool = False
    """Whether the crawler says that it cut the payload."""


def skipped(recorded: Recorded, rejected: Rejected, after: Position = START) -> Skipped:
    """Returns what is said of a record that cannot be taken."""
    return Skipped(
        rejected.reason,
        rejected.why,
        url=recorded.url[:_SHOWN_URL],
        record_id=recorded.record_id,
        source=recorded.source,
        position=recorded.position,
        after=after,
    )


def answer(recorded: Recorded, kind: Kind = "response", **fields: Any) -> Capture:
    """Returns the capture of a record that holds an HTTP answer.

    Raises:
        Rejected: its URL, its date or its answer cannot be taken.
    """
    url, fetched = _page(recorded)
    head = parse_head(recorded.block)
    if head is None:
        if kind != "revisit":
            raise Rejected("bad-http", "the record does not begin with the status line of HTTP")
        head = Head(0, {}, 0)
    headers = head.headers
    body, size, digest, notes = _payload(recorded, head, kind)
    content_type, charset = media_type(headers.get("content-type", ""))
    modified, location = headers.get("last-modified"), headers.get("location")
    return Capture(
        url,
        fetched,
        # `304 Not Modified` says that the page is as it was, not how it was.
        0 if kind == "revisit" and head.status == 304 else head.status,
        digest,
        kind,
        body,
        size,
        content_type,
        charset,
        last_modified=http_time(modified) if modified else None,
        location=_target(location, url) if location and 300 <= head.status < 400 else "",
        robots=headers["x-robots-tag"].lower()[:_SHOWN_URL] if "x-robots-tag" in headers else "",
        canonical=_linked(headers["link"], url) if "link" in headers else "",
        given_url=recorded.url if recorded.url != url else "",
        record_id=recorded.record_id,
        source=recorded.source,
        position=recorded.position,
        notes=notes,
        **fields,
    )


def resource(recorded: Recorded) -> Capture:
    """Returns the capture of a record that holds a bare payload.

    Raises:
        Rejected: its URL or its date cannot be taken.
    """
    url, fetched = _page(recorded)
    body, size, digest, notes = _payload(recorded, Head(200, {}, 0), "resource")
    content_type, charset = media_type(recorded.content_type)
    return Capture(
        url,
        fetched,
        200,
        digest,
        "resource",
        body,
        size,
        content_type,
        charset,
        given_url=recorded.url if recorded.url != url else "",
        record_id=recorded.record_id,
        source=recorded.source,
        position=recorded.position,
        notes=notes,
    )


def _page(recorded: Recorded) -> tuple[str, int]:
    """Returns the canonical URL and the time of a record."""
    if not recorded.url:
        raise Rejected("no-url", "the record names no URL")
    try:
        url = canonical(recorded.url)
    except InvalidUrl as exc:
        raise Rejected("bad-url", exc.message) from exc
    return url, _fetched(recorded.date)


@lru_cache(4096)
def _fetched(date: str) -> int:
    fetched = parse_date(date)
    if fetched is None:
        raise Rejected("bad-date", f"{date[:40]!r} is not the date of a capture")
    if fetched < _OLDEST:
        raise Rejected("bad-date", f"{date[:40]!r} is before there was a web")
    # Not cached: an exception is not kept, and a time that passed stays in the past.
    if fetched > time.time() + NEWEST_AHEAD_SECONDS:
        raise Rejected("future", f"{date[:40]!r} is more than a day in the future")
    return fetched


def parse_date(text: str) -> int | None:
    """Returns the seconds since 1970 of a date of ISO 8601 or of 14 digits; None if it is none.

    Fractions of a second are dropped. A date without a zone is one of UTC; WARC allows dates
    without a day or a month, which then begins.

    >>> parse_date("2026-09-01T00:00:00Z"), parse_date("20260901000000"), parse_date("2026-09")
    (1788220800, 1788220800, 1788220800)
    """
    text = text.strip()
    try:
        if text.isascii() and text.isdigit() and len(text) == 14:
            when = datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        elif len(text) < 10:
            form = "%Y" if len(text) == 4 else "%Y-%m"
            when = datetime.strptime(text, form).replace(tzinfo=UTC)
        else:
            when = datetime.fromisoformat(_FRACTION.sub("", text, count=1))
            when = when.replace(tzinfo=UTC) if when.tzinfo is None else when
        return (when - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
    except (ValueError, OverflowError):
        return None


def _payload(
    recorded: Recorded, head: Head, kind: Kind
) -> tuple[bytes | None, int, str, tuple[str, ...]]:
    """Returns the body, its size, the digest, and notes."""
    digest = _digest(recorded.digest)
    if kind == "revisit":
        return None, 0, digest, ()
    notes: tuple[str, ...] = ("crawler-cut",) if recorded.is_truncated else ()
    size = recorded.length - head.length
    if recorded.length > len(recorded.block):
        return None, size, digest or _long_digest(recorded, head), (*notes, "body-too-large")
    payload = recorded.block[head.length :] if head.length else recorded.block
    digest = digest or payload_digest(payload)
    body = decode_body(payload, head.headers, MAX_BODY_BYTES)
    if body.content is None:
        return None, max(size, MAX_BODY_BYTES + 1), digest, (*notes, "body-too-large")
    if body.is_cut:
        notes = (*notes, "body-cut")
    return body.content, len(body.content), digest, notes


def _digest(text: str) -> str:
    """Returns a digest as WARC files have it, `sha1:` and base32; empty where it is none."""
    name, _, value = text.strip().partition(":")
    name = name.lower()
    if name != "sha1":
        return f"{name}:{value}" if _OTHER_DIGEST.fullmatch(f"{name}:{value}") else ""
    if _SHA1_HEX.fullmatch(value):
        return f"sha1:{base64.b32encode(bytes.fromhex(value)).decode()}"
    value = value.upper()
    return f"sha1:{value}" if _SHA1.fullmatch(value) else ""


def _long_digest(recorded: Recorded, head: Head) -> str:
    sha1 = hashlib.sha1(recorded.block[head.length :], usedforsecurity=False)
    while recorded.more is not None and (more := recorded.more(1024 * 1024)):
        sha1.update(more)
    return f"sha1:{base64.b32encode(sha1.digest()).decode()}"


def _target(location: str, url: str) -> str:
    try:
        # Bytes that are no ASCII are those of UTF-8, as browsers take them.
        return resolve_url(location.encode("latin-1").decode("utf-8", "replace"), url)
    except (InvalidUrl, UnicodeError):
        return ""


def _linked(header: str, url: str) -> str:
    for link in _LINK.finditer(header):
        if _CANONICAL_REL.search(link[2]):
            return _target(link[1], url)
    return ""
