"""Captures made of what a record says: URL, date, and an HTTP answer or a bare payload.

All readers end here, so that a URL, a date or a body means the same whatever file it came in.
"""

from __future__ import annotations

import base64
import hashlib
import re
import time
from collections.abc import Callable, Iterator
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
from webtable.pages.formats.http import (
    Head,
    canonical_link,
    dechunked,
    decode_body,
    http_time,
    media_type,
    parse_head,
)
from webtable.pages.formats.payload_digests import checked, is_digest_of, named_digest
from webtable.pages.html.link_resolver import canonical
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
_MAX_DATE = 100
_FRACTION = re.compile(r"\.\d+")


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
    is_bodiless: bool = False
    """Whether only the head of the answer is there; then the digest cannot be checked."""


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
    body, size, digest, notes, body_digest = _payload(recorded, head, kind)
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
        canonical=_canonical(headers["link"], url) if "link" in headers else "",
        given_url=recorded.url if recorded.url != url else "",
        record_id=recorded.record_id,
        source=recorded.source,
        position=recorded.position,
        notes=notes,
        body_digest=body_digest,
        **fields,
    )


def resource(recorded: Recorded) -> Capture:
    """Returns the capture of a record that holds a bare payload.

    Raises:
        Rejected: its URL or its date cannot be taken.
    """
    url, fetched = _page(recorded)
    body, size, digest, notes, body_digest = _payload(recorded, Head(200, {}, 0), "resource")
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
        body_digest=body_digest,
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
    if len(text) > _MAX_DATE:
        return None
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


class _Payload(NamedTuple):
    """The body without codings, its size, what it is known by, notes, and its own digest."""

    body: bytes | None
    size: int
    digest: str
    notes: tuple[str, ...]
    body_digest: str | None = None


def _payload(recorded: Recorded, head: Head, kind: Kind) -> _Payload:
    claim = named_digest(recorded.digest)
    if kind == "revisit":
        return _Payload(None, 0, claim, ())
    notes: tuple[str, ...] = ("crawler-cut",) if recorded.is_truncated else ()
    size = recorded.length - head.length
    if recorded.is_bodiless:
        return _Payload(None, 0, claim, (*notes, "body-absent"))
    if recorded.length > len(recorded.block):
        return _Payload(None, size, _long_digest(recorded, head), (*notes, "body-too-large"))
    payload = recorded.block[head.length :] if head.length else recorded.block
    headers = head.headers
    body = decode_body(payload, headers, MAX_BODY_BYTES)
    content = body.content
    if content is None:
        size = max(size, MAX_BODY_BYTES + 1)
        notes = (*notes, "body-too-large")
    else:
        size = len(content)
    if body.is_cut:
        notes = (*notes, "body-cut")
    digest, is_wrong = checked(claim, payload, _other_forms(payload, headers, content))
    # Of what is not whole the digest may be right, and cannot be checked.
    if is_wrong and content is not None and not notes:
        notes = ("wrong-digest",)
    return _Payload(content, size, digest, notes, _own_digest(content, payload, digest))


def _own_digest(content: bytes | None, payload: bytes, digest: str) -> str:
    """Returns the digest of a body: the one that it is known by, where that is made of it."""
    if content is None or content == payload:
        return digest
    is_own = not digest.startswith("sha1:") and is_digest_of(digest, content)
    return digest if is_own else payload_digest(content)


def _other_forms(payload: bytes, headers: dict[str, str], content: bytes | None) -> Iterator[bytes]:
    """Yields the payload without its chunking, and without any coding, where that differs."""
    bare = dechunked(payload, headers).content
    if bare is not None and len(bare) != len(payload):
        yield bare
    if content is not None and content != payload:
        yield content


def _long_digest(recorded: Recorded, head: Head) -> str:
    """Returns the digest of a payload that is too long to be held, as it was recorded."""
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


def _canonical(header: str, url: str) -> str:
    link = canonical_link(header)
    return _target(link, url) if link else ""
