"""Computes a page as it was at an earlier time, from its captures and its body at that time."""

from __future__ import annotations

from webtable.pages.body_facts import Facts, Indexability, indexability
from webtable.pages.page import (
    NewCapture,
    Page,
    PageCapture,
    PageInfo,
    capture_of,
    metadata_of,
    page_of,
)
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored
from webtable.pages.storing.page_versions import (
    CaptureNote,
    completed,
    counting,
    last_modified,
)

__all__ = ["captures_of", "completed_captures", "indexability_of", "page_at"]


def page_at(pages: PageTable, url: str, second: int) -> tuple[Page, bool] | None:
    """Returns the page as of its newest capture up to a second, and whether its body is stored.

    The number of inlinks at that time is unknown. Without the body, all values that are parsed from
    it are empty, such as title and links; without the head, those of its headers. None when the
    page was not captured up to then.
    """
    content = pages.content(url, second)
    if content is None:
        return None
    earlier = [note for note in pages.captures(url) if note.time <= second]
    notes = {(note.time, note.digest): note for note in completed_captures(earlier)}
    note = notes[content.note.time, content.note.digest]
    info = PageInfo()
    if content.body is not None:
        # A revisit has the values of the capture that it repeats, also those of its headers.
        same = [each for each in earlier if each.digest == note.digest and not each.is_revisit]
        head = pages.head_of(url, same[-1] if note.is_revisit and same else note)
        info = parse_stored(url, content.body, note.type, head or b"")
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


def captures_of(pages: PageTable, url: str) -> list[PageCapture]:
    """Returns the captures of a page with their origins, the newest first."""
    found = pages.origins(url)
    notes = completed_captures([note for note, _ in found])
    both = zip(notes, (origin for _, origin in found), strict=True)
    return [capture_of(note, origin) for note, origin in both][::-1]


def indexability_of(page: Page, facts: Facts | None) -> Indexability:
    """Returns whether search engines may index a page, given the facts of its body."""
    return indexability(
        facts, url=page.url, status=page.status, robots=page.robots, canonical=page.canonical
    )
