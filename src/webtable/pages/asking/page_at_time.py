"""Computes a page as it was at an earlier time, from its captures and its body at that time."""

from __future__ import annotations

from webtable.pages.page import NewCapture, Page, PageInfo, metadata_of, page_of
from webtable.pages.storing.capture_parser import parse_stored
from webtable.pages.storing.history import CaptureNote, counting, last_modified
from webtable.pages.storing.row_write import completed
from webtable.pages.table import PageTable

__all__ = ["completed_captures", "page_at"]


def page_at(pages: PageTable, url: str, second: int) -> tuple[Page, bool] | None:
    """Returns the page as of its newest capture up to a second, and whether its body is stored.

    The values of headers for robots and the canonical URL are stored for the newest capture only,
    and the number of inlinks at that time is unknown. Without the body, all values that are parsed
    from it are empty, such as title and links. None when the page was not captured up to then.
    """
    content = pages.content(url, second)
    if content is None:
        return None
    earlier = [note for note in pages.captures(url) if note.time <= second]
    notes = {(note.time, note.digest): note for note in completed_captures(earlier)}
    note = notes[content.note.time, content.note.digest]
    info = PageInfo()
    if content.body is not None:
        info = parse_stored(url, content.body, note.type)
    capture = NewCapture(url, note, None, None)
    facts = metadata_of(capture, info, last_modified(counting(earlier)))
    page = page_of(pages.keys.row_key(url), facts)
    assert page is not None
    return page, content.body is not None


def completed_captures(notes: list[CaptureNote]) -> list[CaptureNote]:
    """Returns captures; revisits get the size and type of the captures that they repeat."""
    by_digest: dict[str, list[CaptureNote]] = {}
    for note in notes:
        by_digest.setdefault(note.digest, []).append(note)
    return [completed(note, by_digest[note.digest]) for note in notes]
