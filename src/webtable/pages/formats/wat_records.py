"""WAT files: the metadata that Common Crawl and others extract from the captures of a WARC file.

Each record is JSON about one record of the WARC file: its headers, the HTTP headers, and of the
HTML the title, the links and the meta elements. It has no body, and so the captures have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from webtable.pages.captures import MAX_LINK_BYTES, Capture, Parsed, kept_links
from webtable.pages.formats.http_responses import MAX_HEAD_BYTES
from webtable.pages.formats.response_captures import Recorded, Rejected, response_capture
from webtable.pages.html.link_resolver import Resolver
from webtable.pages.html.parser import MAX_ANCHOR, MAX_LINKS, MAX_ROBOTS, MAX_TITLE

__all__ = ["capture_of_wat"]

_LINKING = re.compile(r"(?:A|AREA)@/href", re.IGNORECASE)
_STATUS = re.compile(r"[1-9][0-9]{2}")


def capture_of_wat(recorded: Recorded) -> Capture:
    """Returns the capture that a record of a WAT file describes.

    Raises:
        Rejected: the record describes no capture.
    """
    try:
        envelope = msgspec.json.decode(recorded.block).get("Envelope")
        header = _object(envelope, "WARC-Header-Metadata")
    except (msgspec.DecodeError, UnicodeDecodeError, AttributeError, RecursionError) as exc:
        raise Rejected("bad-record", "the record is not the JSON of a WAT file") from exc
    kind = str(header.get("WARC-Type", ""))
    message = _object(envelope, "Payload-Metadata", "HTTP-Response-Metadata")
    if kind not in ("response", "revisit") or not message:
        raise Rejected("other-type", f"it describes a record of type {kind[:40]!r}")
    head = _head(message)
    length = _number(message.get("Entity-Length"))
    described = recorded._replace(
        url=_text(header, "WARC-Target-URI") or recorded.url,
        date=_text(header, "WARC-Date") or recorded.date,
        digest=_text(header, "WARC-Payload-Digest") or _text(message, "Entity-Digest"),
        record_id=_text(header, "WARC-Record-ID") or recorded.record_id,
        block=head,
        # A length that is larger than the block shows that the body is missing.
        length=len(head) + length,
        truncated=_text(header, "WARC-Truncated"),
        address=_text(header, "WARC-IP-Address"),
        protocol=_text(header, "WARC-Protocol"),
    )
    received = _received_head(message)
    if kind == "revisit":
        return response_capture(described, "revisit", received=received)
    html = _object(message, "HTML-Metadata")
    described = described._replace(length=len(head), is_bodiless=True)
    capture = response_capture(described, received=received)
    return msgspec.structs.replace(
        capture,
        size=length,
        parsed=_parsed(html, capture.url) if html else None,
    )


def _head(message: dict[str, Any]) -> bytes:
    """Returns the head of the HTTP response, to be read like the head of a record."""
    status = _text(_object(message, "Response-Message"), "Status")
    if not _STATUS.fullmatch(status):
        raise Rejected("bad-http", f"{status[:40]!r} is not an HTTP status")
    lines = [f"HTTP/1.1 {status} "]
    for name, value in _object(message, "Headers").items():
        # The body is missing, and so are its codings.
        if name.lower() not in ("transfer-encoding", "content-encoding"):
            lines.append(f"{name}: {' '.join(str(value).split())}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


def _received_head(message: dict[str, Any]) -> bytes:
    """Returns the head of the HTTP response as the server sent it, as far as the file has it."""
    first = _object(message, "Response-Message")
    version, status, reason = (_text(first, name) for name in ("Version", "Status", "Reason"))
    lines = [f"{version if version.startswith('HTTP/') else 'HTTP/1.1'} {status} {reason}"]
    for name, value in _object(message, "Headers").items():
        for each in value if isinstance(value, list) else [value]:
            lines.append(f"{name}: {each}")
    text = "\r\n".join(" ".join(line.split()) for line in lines)
    return text.encode("latin-1", "replace")[:MAX_HEAD_BYTES]


def _parsed(html: dict[str, Any], url: str) -> Parsed:
    head = _object(html, "Head")
    base = url
    if head.get("Base"):
        base = Resolver(url)(str(head["Base"])) or url
    resolve = Resolver(base)
    lines: dict[str, str] = {}
    hrefs = rejected = to_itself = 0
    room, are_cut = MAX_LINK_BYTES, False
    for item in _items(html.get("Links")):
        if not _LINKING.fullmatch(_text(item, "path")):
            continue
        hrefs += 1
        if are_cut:
            continue
        target = resolve(_text(item, "url"))
        if target is None:
            rejected += 1
        elif target == url:
            to_itself += 1
        else:
            rel = " ".join(_text(item, "rel").lower().split())[:MAX_ANCHOR]
            anchor = " ".join((_text(item, "text") or _text(item, "alt")).split())[:MAX_ANCHOR]
            line = f"{target}\t{rel}\t{anchor}"
            if line not in lines:
                room -= len(line)
                are_cut = room < 0 or len(lines) >= MAX_LINKS
                if not are_cut:
                    lines[line] = target
    links, targets, are_too_long = kept_links(lines)
    return Parsed(
        title=" ".join(_text(head, "Title").split())[:MAX_TITLE],
        links=links,
        targets=targets,
        canonical=_canonical(head, resolve),
        robots=", ".join(_robots(head))[:MAX_ROBOTS],
        hrefs=hrefs,
        rejected=rejected,
        to_itself=to_itself,
        notes=("links-cut",) if are_cut or are_too_long else (),
    )


def _canonical(head: dict[str, Any], resolve: Resolver) -> str:
    for item in _items(head.get("Link")):
        if "canonical" in _text(item, "rel").lower().split():
            return resolve(_text(item, "url")) or ""
    return ""


def _robots(head: dict[str, Any]) -> Iterator[str]:
    for item in _items(head.get("Metas")):
        if _text(item, "name").lower() == "robots" and (content := _text(item, "content")):
            yield " ".join(content.lower().split())[:MAX_ANCHOR]


def _object(value: Any, *names: str) -> dict[str, Any]:
    """Returns the object at a path of names; empty where it does not exist."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _items(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _text(values: dict[str, Any], name: str) -> str:
    value = values.get(name)
    return str(value) if isinstance(value, str | int) else ""


def _number(value: Any) -> int:
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0
