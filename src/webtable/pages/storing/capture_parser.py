"""Parses a capture of a crawl into the values that are stored.

The parsers are imported when a body is parsed: most queries parse none.
"""

from __future__ import annotations

from webtable.pages.captures import Capture, Parsed
from webtable.pages.page import CaptureSummary, NewCapture, PageInfo
from webtable.pages.storing.capture_cells import Origin, encode_origin
from webtable.pages.storing.page_versions import CaptureNote

__all__ = [
    "parse_context",
    "parse_stored",
    "ready",
    "stored_facts",
    "summarize",
    "with_head",
]

_AS_BEFORE = 200  # of a revisit, whose response is unchanged: its status is 304 or missing


def ready(capture: Capture) -> NewCapture:
    """Parses a capture and returns the values to be stored."""
    from webtable.pages.html.parser import parse_capture

    parsed, body = parse_capture(capture), capture.body
    info = None
    if parsed is None and body is not None:
        parsed = Parsed(facts=_site_facts(capture.url, capture.content_type, body))
    if parsed is not None:
        info = _info(parsed, capture.canonical, capture.robots, parse_context(capture))
    return NewCapture(
        capture.url,
        _note(capture),
        capture.body,
        info,
        capture.position,
        capture.body_digest,
        capture.head,
        _origin(capture),
    )


def summarize(capture: Capture) -> CaptureSummary | None:
    """Returns a capture without its body, to find out whether the store needs the body.

    None where that is not worth it: the body of an error response is short, and a capture without
    a body is not parsed.
    """
    if capture.body is None or capture.kind == "revisit" or not 200 <= capture.status <= 299:
        return None
    context = parse_context(capture)
    if context is None:
        return None
    return CaptureSummary(capture.url, _note(capture), context, capture.head, _origin(capture))


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


def _origin(capture: Capture) -> str:
    position, after = capture.position, capture.after
    # A record that shares a compressed member with others has no length of its own in the file.
    is_alone = not position.inside and not after.inside and after.offset > position.offset
    revisited = capture.refers_to_url
    return encode_origin(
        Origin(
            capture.source,
            position.offset if capture.source else None,
            position.inside,
            after.offset - position.offset if is_alone else None,
            capture.record_id,
            capture.address,
            capture.protocol,
            capture.truncated,
            capture.claimed_digest,
            capture.refers_to_fetched,
            "" if revisited in (capture.url, capture.given_url) else revisited,
        )
    )


def parse_stored(url: str, body: bytes, media_type: str, head: bytes = b"") -> PageInfo:
    """Parses a stored body; see `webtable.pages.storing.row_write.Parse`.

    Args:
        head: the head of its response, where that is stored.
    """
    from webtable.pages.formats.response_captures import head_values
    from webtable.pages.html.parser import is_html, parse_html

    charset, canonical, robots = head_values(head, url)
    if is_html(media_type, body):
        parsed = parse_html(body, url, charset)
    else:
        parsed = Parsed(facts=_site_facts(url, media_type, body))
    return _info(parsed, canonical, robots)


def with_head(info: PageInfo, head: bytes, url: str) -> PageInfo:
    """Returns the values of a body with those that the head of a response has."""
    from webtable.pages.formats.response_captures import head_values

    _, canonical, robots = head_values(head, url)
    both = ", ".join(filter(None, (robots, info.robots)))
    return info._replace(canonical=canonical or info.canonical, robots=both)


def stored_facts(url: str, body: bytes, media_type: str, charset: str = "") -> bytes:
    """Returns the cell with the facts of a stored body; empty where it has none.

    Args:
        charset: the charset of the HTML, where it is known.
    """
    from webtable.pages.html.parser import is_html, parse_html

    if is_html(media_type, body):
        return parse_html(body, url, charset).facts
    return _site_facts(url, media_type, body)


def _site_facts(url: str, media_type: str, body: bytes) -> bytes:
    from webtable.pages.site_files.site_file_facts import site_facts

    return site_facts(url, media_type, body)


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
        parsed.facts,
    )
