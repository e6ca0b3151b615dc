"""Makes captures of records: of a URL, a date, and an HTTP response or a bare payload.

All readers call these functions, so the rules for URLs, dates and bodies are the same for every
kind of file.
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
from webtable.pages.formats.http_responses import (
    Head,
    canonical_link,
    dechunked,
    decode_body,
    http_time,
    media_type,
    parse_head,
    robots_rules,
)
from webtable.pages.formats.payload_digests import checked, is_digest_of, named_digest
from webtable.pages.html.link_resolver import canonical
from webtable.pages.urls import resolve_url

__all__ = [
    "HEAD_BYTES",
    "MAX_BLOCK_BYTES",
    "NEWEST_AHEAD_SECONDS",
    "HeadValues",
    "Recorded",
    "Rejected",
    "head_values",
    "parse_date",
    "resource_capture",
    "response_capture",
    "skipped",
]

MAX_BLOCK_BYTES = MAX_BODY_BYTES + 1024 * 1024
"""A longer record is not read completely: its body is too large, whatever its codings are."""
HEAD_BYTES = 64 * 1024
"""How much of such a record is read, for the HTTP head."""
NEWEST_AHEAD_SECONDS = 86_400
"""How far in the future the date of a capture may be: clocks and time zones can be so wrong."""

_OLDEST = int(datetime(1989, 1, 1, tzinfo=UTC).timestamp())
_SHOWN_URL = 200
_MAX_DATE = 100
_MAX_CLAIM = 200
_FRACTION = re.compile(r"\.\d+")


class Rejected(Exception):
    """A record of which no capture can be made; `reason` is one of `REASONS`."""

    def __init__(self, reason: str, why: str) -> None:
        super().__init__(why)
        self.reason = reason
        self.why = why


class Recorded(NamedTuple):
    """A record as a reader found it; its values are not checked yet."""

    url: str
    date: str
    block: bytes
    """The whole block, or its first `HEAD_BYTES` where it is longer than `MAX_BLOCK_BYTES`."""
    length: int
    source: str
    position: Position
    digest: str = ""
    record_id: str = ""
    content_type: str = ""
    """The media type of a bare payload."""
    more: Callable[[int], bytes] | None = None
    """Reads the next bytes of a block that is longer than `block`."""
    truncated: str = ""
    """Why the crawler cut the payload, as the record states it; empty: it did not."""
    is_bodiless: bool = False
    """Whether the record has the head of the response only; then its digest cannot be checked."""
    address: str = ""
    protocol: str = ""


class HeadValues(NamedTuple):
    """The values of a head on which the parsed values of a page depend; see `Capture`."""

    charset: str
    canonical: str
    robots: str


def head_values(head: bytes, url: str) -> HeadValues:
    """Returns the values of a stored head; empty where it has none, or is not readable."""
    parsed = parse_head(head)
    headers = {} if parsed is None else parsed.headers
    return HeadValues(
        media_type(headers.get("content-type", ""))[1],
        _canonical(headers.get("link", ""), url),
        robots_rules(headers.get("x-robots-tag", ""))[:_SHOWN_URL],
    )


def skipped(recorded: Recorded, rejected: Rejected, after: Position = START) -> Skipped:
    """Returns the entry that reports a rejected record."""
    return Skipped(
        rejected.reason,
        rejected.why,
        url=recorded.url[:_SHOWN_URL],
        record_id=recorded.record_id,
        source=recorded.source,
        position=recorded.position,
        after=after,
    )


def response_capture(
    recorded: Recorded, kind: Kind = "response", *, received: bytes | None = None, **fields: Any
) -> Capture:
    """Returns the capture of a record that contains an HTTP response.

    Args:
        received: the head as it is stored; None: the head in the record.
        fields: further fields of the capture.

    Raises:
        Rejected: the URL, the date or the response is not valid.
    """
    url, fetched = _page(recorded)
    head = parse_head(recorded.block)
    if head is None:
        if kind != "revisit":
            raise Rejected("bad-http", "the record does not begin with the status line of HTTP")
        head = Head(0, {}, 0, 0)
    headers = head.headers
    body, size, digest, notes, body_digest = _payload(recorded, head, kind)
    content_type, charset = media_type(headers.get("content-type", ""))
    modified, location = headers.get("last-modified"), headers.get("location")
    return Capture(
        url,
        fetched,
        # `304 Not Modified` means unchanged; the page has the status of the earlier capture.
        0 if kind == "revisit" and head.status == 304 else head.status,
        digest,
        kind,
        body,
        size,
        content_type,
        charset,
        last_modified=http_time(modified) if modified else None,
        location=_target(location, url) if location and 300 <= head.status < 400 else "",
        robots=robots_rules(headers["x-robots-tag"])[:_SHOWN_URL]
        if "x-robots-tag" in headers
        else "",
        canonical=_canonical(headers["link"], url) if "link" in headers else "",
        given_url=recorded.url if recorded.url != url else "",
        record_id=recorded.record_id,
        source=recorded.source,
        position=recorded.position,
        notes=notes,
        body_digest=body_digest,
        head=recorded.block[: head.end] if received is None else received,
        claimed_digest="" if recorded.digest == digest else _claimed(recorded.digest, digest),
        address=recorded.address,
        protocol=recorded.protocol,
        truncated=recorded.truncated,
        **fields,
    )


def resource_capture(recorded: Recorded) -> Capture:
    """Returns the capture of a record that contains a bare payload.

    Raises:
        Rejected: the URL or the date is not valid.
    """
    url, fetched = _page(recorded)
    body, size, digest, notes, body_digest = _payload(recorded, Head(200, {}, 0, 0), "resource")
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
        claimed_digest="" if recorded.digest == digest else _claimed(recorded.digest, digest),
        address=recorded.address,
        protocol=recorded.protocol,
        truncated=recorded.truncated,
    )


def _page(recorded: Recorded) -> tuple[str, int]:
    """Returns the canonical URL and the time of a record."""
    if not recorded.url:
        raise Rejected("no-url", "the record has no URL")
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
    # The cache keeps no exceptions, so a rejected date of the future is checked again later.
    if fetched > time.time() + NEWEST_AHEAD_SECONDS:
        raise Rejected("future", f"{date[:40]!r} is more than a day in the future")
    return fetched


def parse_date(text: str) -> int | None:
    """Returns a date in ISO 8601 or in 14 digits as seconds since 1970; None if not valid.

    Fractions of a second are dropped. A date without a time zone is in UTC. WARC allows dates
    without a day or a month: such a date means the first second of the month or year.

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
    """The body without codings, its size, the capture's digest, notes, the body's own digest."""

    body: bytes | None
    size: int
    digest: str
    notes: tuple[str, ...]
    body_digest: str | None = None


def _payload(recorded: Recorded, head: Head, kind: Kind) -> _Payload:
    if kind == "revisit":
        return _Payload(None, 0, named_digest(recorded.digest), ())
    notes: tuple[str, ...] = ("crawler-cut",) if recorded.truncated else ()
    size = recorded.length - head.length
    if recorded.is_bodiless:
        return _Payload(None, 0, named_digest(recorded.digest), (*notes, "body-absent"))
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
    digest, is_wrong = checked(recorded.digest, payload, _other_forms(payload, headers, content))
    # The digest of an incomplete payload may be right; it cannot be checked.
    if is_wrong and content is not None and not notes:
        notes = ("wrong-digest",)
    return _Payload(content, size, digest, notes, _own_digest(content, payload, digest))


def _claimed(text: str, digest: str) -> str:
    """Returns the digest that a record claims, if it differs from that of the capture."""
    claim = named_digest(text) or text.strip()[:_MAX_CLAIM]
    return "" if claim == digest or claim.endswith(":") else claim


def _own_digest(content: bytes | None, payload: bytes, digest: str) -> str:
    """Returns the digest of a body: `digest` itself where it was computed from the body."""
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
    """Returns the digest of the recorded payload, which is too long for the memory."""
    sha1 = hashlib.sha1(recorded.block[head.length :], usedforsecurity=False)
    while recorded.more is not None and (more := recorded.more(1024 * 1024)):
        sha1.update(more)
    return f"sha1:{base64.b32encode(sha1.digest()).decode()}"


def _target(location: str, url: str) -> str:
    try:
        # Bytes outside ASCII are UTF-8, as in browsers.
        return resolve_url(location.encode("latin-1").decode("utf-8", "replace"), url)
    except (InvalidUrl, UnicodeError):
        return ""


def _canonical(header: str, url: str) -> str:
    link = canonical_link(header)
    return _target(link, url) if link else ""
