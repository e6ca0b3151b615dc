"""Parses a capture of a crawl into the values that are stored.

The HTML parser is imported when a body is parsed: most queries parse none.
"""

from __future__ import annotations

from webtable.pages.captures import Capture, Parsed
from webtable.pages.page import NewCapture, PageInfo
from webtable.pages.storing.history import CaptureNote
from webtable.pages.storing.newest_cell import CaptureSummary

__all__ = ["parse_context", "parse_stored", "ready", "summarize"]

_AS_BEFORE = 200  # of a revisit, whose response is unchanged: its status is 304 or missing


def ready(capture: Capture) -> NewCapture:
    """Parses a capture and returns the values to be stored."""
    from webtable.pages.html.parser import parse_capture

    parsed = parse_capture(capture)
    info = None
    if parsed is not None or capture.body is not None:
        info = _info(parsed or Parsed(), capture.canonical, capture.robots, parse_context(capture))
    return NewCapture(
        capture.url, _note(capture), capture.body, info, capture.position, capture.body_digest
    )


def summarize(capture: Capture) -> CaptureSummary | None:
    """Returns a capture without its body, to find out whether the store needs the body.

    None where that is not worth it: the body of an error response is short, and a capture without
    a body is not parsed.
    """
    if capture.body is None or capture.kind == "revisit" or not 200 <= capture.status <= 299:
        return None
    context = parse_context(capture)
    return None if context is None else CaptureSummary(capture.url, _note(capture), context)


def parse_context(capture: Capture) -> str | None:
    r"""Returns the values on which parsing depends, other than the body with its digest.

    These are the charset, the canonical URL and robots of its headers, separated by tabs; only the
    charset where the others are empty. The digest of the body follows, where it differs from the
    capture's digest: one payload can be read with and without its coding. None where the text would
    be ambiguous, or where the values were not parsed from the body (WAT).
    """
    if capture.parsed is not None or "\t" in capture.charset:
        return None
    if capture.body_digest not in (None, capture.digest):
        context = (capture.charset, capture.canonical, capture.robots, capture.body_digest)
        return "\t".join(map(str, context))
    if not capture.canonical and not capture.robots:
        return capture.charset
    return f"{capture.charset}\t{capture.canonical}\t{capture.robots}"


def _note(capture: Capture) -> CaptureNote:
    is_revisit = capture.kind == "revisit"
    status = _AS_BEFORE if is_revisit and capture.status in (0, 304) else capture.status
    return CaptureNote(
        capture.fetched,
        capture.digest,
        status,
        capture.size,
        capture.content_type,
        capture.location,
        capture.last_modified,
        is_revisit,
        "body-absent" in capture.notes,
    )


def parse_stored(url: str, body: bytes, media_type: str) -> PageInfo:
    """Parses a stored body; see `webtable.pages.storing.row_write.Parse`."""
    from webtable.pages.html.parser import is_html, parse_html

    return _info(parse_html(body, url) if is_html(media_type, body) else Parsed())


def _info(
    parsed: Parsed, canonical: str = "", robots: str = "", context: str | None = None
) -> PageInfo:
    return PageInfo(
        parsed.title,
        parsed.charset,
        canonical or parsed.canonical,
        ", ".join(filter(None, (robots, parsed.robots))),
        parsed.links,
        parsed.targets,
        context,
        "links-cut" in parsed.notes,
    )
