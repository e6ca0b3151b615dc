"""The difference between two versions of a page, as text and as sets of links."""

from __future__ import annotations

import difflib
import re

import msgspec

from webtable.errors import NotFound
from webtable.pages.html.charset import decode_page
from webtable.pages.page import PageCapture, PageContent, capture_of
from webtable.pages.storing.cells import encode_time
from webtable.pages.table import PageTable
from webtable.values import Value

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
        lines: a unified difference of the bodies' text; empty where they are equal. Where much
            stands in one line, elements stand in lines of their own.
        gained, lost: links that came or went; links are told apart by URL, rel and anchor.
    """

    url: str
    old: PageCapture
    new: PageCapture
    lines: list[str]
    gained: list[DiffLink]
    lost: list[DiffLink]

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
        NotFound: the page was not captured by then, or a body is not stored.
    """
    after = _stored(pages, url, new)
    if old is None:
        earlier = [
            note
            for note in pages.captures(url)
            if note.time < after.note.time and note.digest != after.note.digest
        ]
        if not earlier:
            raise NotFound("other version of page", url, hint="all its captures are the same")
        old = earlier[-1].time
    before = _stored(pages, url, old)
    was = set(pages.links(url, before.note.time) or [])
    now = set(pages.links(url, after.note.time) or [])
    return PageDiff(
        url,
        capture_of(before.note),
        capture_of(after.note),
        _difference(before, after),
        [DiffLink(*link) for link in sorted(now - was)],
        [DiffLink(*link) for link in sorted(was - now)],
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


def _difference(before: PageContent, after: PageContent) -> list[str]:
    old, new = (_lines(each.body or b"") for each in (before, after))
    was, now = encode_time(before.note.time), encode_time(after.note.time)
    return list(difflib.unified_diff(old, new, was, now, lineterm="", n=2))


def _lines(body: bytes) -> list[str]:
    text = decode_page(body, "").utf8.decode("utf-8", "replace")
    return _BETWEEN_TAGS.sub("\n", text).splitlines()
