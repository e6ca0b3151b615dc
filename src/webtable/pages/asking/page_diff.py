"""The difference between two versions of a page, as text and as sets of links."""

from __future__ import annotations

import re

import msgspec

from webtable.errors import InvalidRequest, NotFound
from webtable.pages.asking.line_diff import diff_lines
from webtable.pages.html.charset import decode_page
from webtable.pages.page import PageCapture, PageContent, capture_of
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_cells import encode_time
from webtable.result_base import Value

__all__ = ["DiffLink", "PageDiff", "compare"]

_BETWEEN_TAGS = re.compile(r"(?<=>)\s*(?=<)")


class DiffLink(Value, msgspec.Struct, frozen=True):
    """A link that one version of a page has and the other has not.

    Attributes:
        url: where it leads.
        rel: its relation, such as `nofollow`.
        anchor: its text.
    """

    url: str
    rel: str
    anchor: str


class PageDiff(Value, msgspec.Struct):
    """What changed from one version of a page to another.

    Attributes:
        url: the page.
        old, new: the captures that were compared.
        lines: a unified diff of the text of the bodies; empty where the texts are equal. Where a
            line is very long, each element gets a line of its own.
        gained, lost: links that only the new or only the old version has. Links are the same if
            URL, rel and anchor are equal.
        coarse_lines: how many lines, old and new, are shown as replaced whole because comparing
            them with each other would take too long; 0 for nearly every page.
    """

    url: str
    old: PageCapture
    new: PageCapture
    lines: list[str]
    gained: list[DiffLink]
    lost: list[DiffLink]
    coarse_lines: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed."""
        return not (self.lines or self.gained or self.lost)


def compare(pages: PageTable, url: str, old: int | None = None, new: int | None = None) -> PageDiff:
    """Compares a page as it was at two seconds.

    Args:
        old: None: as of the capture before the one that `new` means, with another body.
        new: None: now.

    Raises:
        InvalidRequest: `old` is after `new`.
        NotFound: the page was not captured by then, or a body is not stored.
    """
    if old is not None and new is not None and old > new:
        raise InvalidRequest(
            f"{encode_time(old)} is after {encode_time(new)}",
            hint="the older time (--from) comes first",
        )
    after = _stored(pages, url, new)
    origins = dict(pages.origins(url))
    if old is None:
        earlier = [
            note
            for note in origins
            if note.time < after.note.time and note.digest != after.note.digest
        ]
        if not earlier:
            raise NotFound("other version of page", url, hint="all its captures are the same")
        old = earlier[-1].time
    before = _stored(pages, url, old)
    was = set(pages.links(url, before.note.time) or [])
    now = set(pages.links(url, after.note.time) or [])
    lines, coarse = diff_lines(_lines(before.body or b""), _lines(after.body or b""))
    if lines:
        times = (encode_time(each.note.time) for each in (before, after))
        lines[:0] = [f"{sign} {time}" for sign, time in zip(("---", "+++"), times, strict=True)]
    return PageDiff(
        url,
        capture_of(before.note, origins[before.note]),
        capture_of(after.note, origins[after.note]),
        lines,
        [DiffLink(*link) for link in sorted(now - was)],
        [DiffLink(*link) for link in sorted(was - now)],
        coarse,
    )


def _stored(pages: PageTable, url: str, as_of: int | None) -> PageContent:
    content = pages.content(url, as_of)
    if content is None:
        raise NotFound("page", url, hint="it was not captured by then")
    if content.body is None:
        when = encode_time(content.note.time)
        raise NotFound(
            "body", f"{url} of {when}", hint="it was not stored, or is not kept any more"
        )
    return content


def _lines(body: bytes) -> list[str]:
    text = decode_page(body, "").utf8.decode("utf-8", "replace")
    return _BETWEEN_TAGS.sub("\n", text).splitlines()
