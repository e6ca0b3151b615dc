"""From a capture as a crawl has it to what is stored of it.

The HTML parser is imported when a body is parsed: most queries read none.
"""

from __future__ import annotations

from webtable.pages.captures import Capture, Parsed
from webtable.pages.page import NewCapture, PageInfo
from webtable.pages.storing.history import CaptureNote
from webtable.pages.storing.newest_cell import Offered

__all__ = ["offered", "parse_stored", "ready", "said_by"]

_AS_BEFORE = 200  # a revisit says that the answer is as it was: by 304, or by nothing


def ready(capture: Capture) -> NewCapture:
    """Parses a capture and returns what is to be stored of it."""
    from webtable.pages.html.parser import parse_capture

    parsed = parse_capture(capture)
    info = None
    if parsed is not None or capture.body is not None:
        info = _info(parsed or Parsed(), capture.canonical, capture.robots, said_by(capture))
    return NewCapture(
        capture.url, _note(capture), capture.body, info, capture.position, capture.body_digest
    )


def offered(capture: Capture) -> Offered | None:
    """Returns a capture without its body, to ask whether that is needed; None where it may be.

    An answer that was no success has few words; one that came without a body is not parsed.
    """
    if capture.body is None or capture.kind == "revisit" or not 200 <= capture.status <= 299:
        return None
    said = said_by(capture)
    return None if said is None else Offered(capture.url, _note(capture), said)


def said_by(capture: Capture) -> str | None:
    r"""Returns what parsing of a capture depends on, or adds, beside what its digest decides.

    The charset, a canonical URL and robots of its headers, with tabs between; just the charset
    where there is no more. Behind them the digest of the body, where that is another one: one
    payload may be read with and without its coding. None where nobody could tell them apart, or
    the body was not what was parsed.
    """
    if capture.parsed is not None or "\t" in capture.charset:
        return None
    if capture.body_digest not in (None, capture.digest):
        said = (capture.charset, capture.canonical, capture.robots, capture.body_digest)
        return "\t".join(map(str, said))
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
    """Parses a body that is stored already; see `webtable.pages.storing.row_write.Parse`."""
    from webtable.pages.html.parser import is_html, parse_html

    return _info(parse_html(body, url) if is_html(media_type, body) else Parsed())


def _info(
    parsed: Parsed, canonical: str = "", robots: str = "", said: str | None = None
) -> PageInfo:
    return PageInfo(
        parsed.title,
        parsed.charset,
        canonical or parsed.canonical,
        ", ".join(filter(None, (robots, parsed.robots))),
        parsed.links,
        parsed.targets,
        said,
        "links-cut" in parsed.notes,
    )
