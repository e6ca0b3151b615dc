"""A page as it was at an earlier time, put together from its captures and the body of then."""

from __future__ import annotations

from webtable.pages.page import NewCapture, Page, PageInfo, metadata_of, page_of
from webtable.pages.storing.capture_parser import parse_stored
from webtable.pages.storing.history import CaptureNote, counting, last_modified
from webtable.pages.storing.row_write import described
from webtable.pages.table import PageTable

__all__ = ["described_captures", "page_at"]


def page_at(pages: PageTable, url: str, second: int) -> tuple[Page, bool] | None:
    """Returns what the newest capture by a second said, and whether its body is stored.

    What headers said about robots and the canonical URL is known of the newest capture only, and
    how many pages linked here then is not known. Without the body, title, links and what else the
    page itself says are empty. None when the page was not captured by then.
    """
    content = pages.content(url, second)
    if content is None:
        return None
    known = [note for note in pages.captures(url) if note.time <= second]
    notes = {(note.time, note.digest): note for note in described_captures(known)}
    note = notes[content.note.time, content.note.digest]
    info = PageInfo()
    if content.body is not None:
        info = parse_stored(url, content.body, note.type)
    capture = NewCapture(url, note, None, None)
    facts = metadata_of(capture, info, last_modified(counting(known)))
    page = page_of(pages.keys.row_key(url), facts)
    assert page is not None
    return page, content.body is not None


def described_captures(notes: list[CaptureNote]) -> list[CaptureNote]:
    """Returns captures with what revisits leave to those that they repeat: size and type."""
    by_digest: dict[str, list[CaptureNote]] = {}
    for note in notes:
        by_digest.setdefault(note.digest, []).append(note)
    return [described(note, by_digest[note.digest]) for note in notes]
