"""From a capture as a crawl has it to what is stored of it."""

from __future__ import annotations

from webtable.pages.captures import Capture, Parsed
from webtable.pages.history import CaptureNote
from webtable.pages.html import is_html, parse_capture, parse_html
from webtable.pages.page import NewCapture, PageInfo

__all__ = ["parse_stored", "ready"]

_AS_BEFORE = 200  # a revisit says that the answer is as it was: by 304, or by nothing


def ready(capture: Capture) -> NewCapture:
    """Parses a capture and returns what is to be stored of it."""
    is_revisit = capture.kind == "revisit"
    status = _AS_BEFORE if is_revisit and capture.status in (0, 304) else capture.status
    note = CaptureNote(
        capture.fetched,
        capture.digest,
        status,
        capture.size,
        capture.content_type,
        capture.location,
        capture.last_modified,
        is_revisit,
    )
    parsed = parse_capture(capture)
    info = None
    if parsed is not None or capture.body is not None:
        info = _info(parsed or Parsed(), capture.canonical, capture.robots)
    return NewCapture(capture.url, note, capture.body, info)


def parse_stored(url: str, body: bytes, media_type: str) -> PageInfo:
    """Parses a body that is stored already; see `webtable.pages.writing.Parse`."""
    return _info(parse_html(body, url) if is_html(media_type, body) else Parsed())


def _info(parsed: Parsed, canonical: str = "", robots: str = "") -> PageInfo:
    return PageInfo(
        parsed.title,
        parsed.charset,
        canonical or parsed.canonical,
        ", ".join(filter(None, (robots, parsed.robots))),
        parsed.links,
        parsed.targets,
    )
