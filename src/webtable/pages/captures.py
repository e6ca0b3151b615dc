"""What is read from a crawl: captures, what their HTML says, and what could not be taken.

These values are light and frozen, and go to worker processes and back. A reader
(`webtable.pages.formats.crawl_files.read_captures`) yields `Capture` and `Skipped` in the order of
the file; `webtable.pages.html.parser.parse_capture` makes a `Parsed` of a capture. Nothing here
knows a store.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, TypeAlias

import msgspec

__all__ = [
    "ENDED_PROCESS",
    "EXPECTED_REASONS",
    "MAX_BODY_BYTES",
    "MAX_LINK_BYTES",
    "REASONS",
    "START",
    "Capture",
    "Kind",
    "Link",
    "Parsed",
    "Position",
    "Skipped",
    "kept_links",
    "link_text",
    "links_of_text",
    "payload_digest",
    "placed",
]

MAX_BODY_BYTES = 8 * 1024 * 1024
"""A longer body is not kept: the capture is recorded without it."""

MAX_LINK_BYTES = 4 * 1024 * 1024
"""The links of a page take so many bytes of UTF-8 at most; those past them are left out.

HBase takes cells of up to 10 MB. One cell of the link index names the targets of the links that a
page had before and of those that it has now.
"""

Kind: TypeAlias = Literal["response", "resource", "revisit"]

REASONS = {
    "bad-date": "the record's date is missing, impossible, or before the web",
    "bad-http": "the record holds no HTTP answer",
    "bad-line": "the line of JSON is not an object with the fields of a page",
    "bad-record": "the record's header cannot be read",
    "bad-url": "the record's URL is not one of a page",
    "crashed": "parsing the record failed, or ended the process that did it",
    "damaged": "the compressed data cannot be unpacked",
    "future": "the record is dated more than a day in the future",
    "garbage": "bytes that belong to no record, or a line that is no JSON",
    "links-cut": "the page is stored, but has more links than are kept",
    "no-url": "the record names no URL",
    "not-a-crawl": "the file is none of the kinds that are read",
    "other-type": "a record that is no capture, such as a request or the file's own description",
    "refused": "the store does not take the page; the others are stored",
    "truncated": "the record ends before its length",
    "wrong-length": "the record's length does not lead to the next record",
}
"""Why something was not taken, or not in full: every code of a `Skipped`, and what it means."""

EXPECTED_REASONS = frozenset({"other-type"})
"""What every crawl has, and nobody needs to be warned of."""

ENDED_PROCESS = "the processes that read or parsed it died"
"""Why a record is passed over as `crashed`, whatever kind of file it is in."""


class Position(NamedTuple):
    """A place in a file, to go on from. Positions of one file compare in its order.

    `offset` counts the bytes of the file up to a record, or up to the compressed member that holds
    it; `inside` counts unpacked bytes from there, where a member holds more than one record.
    """

    offset: int
    inside: int = 0

    def __str__(self) -> str:
        return f"{self.offset}+{self.inside}" if self.inside else str(self.offset)


START = Position(0)


class Link(NamedTuple):
    """One link: the canonical URL it leads to, its rel in lower case, and its words."""

    url: str
    rel: str
    anchor: str


class Parsed(msgspec.Struct, frozen=True, gc=False):
    """What the HTML of a page says.

    `links` has every distinct (URL, rel, anchor) of `a` and `area`, those of one target side by
    side, targets in the order of the page; links to the page itself and to what is no page are
    left out and counted. It is one text, as `link_text` makes it: that is how it is stored, and a
    text goes from one process to another much faster than many small values.
    """

    title: str = ""
    links: str = ""
    """A line a link: URL, rel and anchor with tabs between them. See `link_list`."""
    targets: int = 0
    """How many different URLs the links lead to."""
    canonical: str = ""
    """What the page calls its canonical URL, itself made canonical; empty where it says nothing."""
    robots: str = ""
    """The robots meta elements, in lower case, with `, ` between them."""
    charset: str = ""
    """By which the body was read: a name of the WHATWG standard."""
    hrefs: int = 0
    """`a` and `area` elements with a href."""
    rejected: int = 0
    """How many of them lead to no page: other schemes, invalid or too long URLs. Where links were
    left out (`links-cut`), not all are counted."""
    to_itself: int = 0
    """How many of them lead to the page itself, counted likewise."""
    notes: tuple[str, ...] = ()
    """What a reader should know: `anchors-cut`, `binary`, `charset-unknown`, `links-cut`,
    `nested-too-deep`."""

    @property
    def link_list(self) -> list[Link]:
        """The links one by one."""
        return links_of_text(self.links)


class Capture(msgspec.Struct, frozen=True, gc=False):
    """One answer of a server as a crawl recorded it.

    **The body as received** is what the server meant to send: the payload of the record with
    chunking and content codings (gzip, deflate, br, zstd) taken off, in its own charset. Where a
    coding is named but the bytes do not have it, as crawlers leave them that unpack at once, the
    bytes are the body; where it breaks off, the body is what came before (note `body-cut`).
    It is None for a revisit, in a WAT file, and when it is over `MAX_BODY_BYTES` (note
    `body-too-large`).

    **The digest** is the record's own WARC-Payload-Digest, if that is the digest of its payload:
    `sha1:` and 32 characters of base32; other algorithms stay what they are. A record without one,
    or with a wrong one (note `wrong-digest`), gets the SHA-1 of its recorded payload. A revisit has
    the digest that it names, the one of the capture that it repeats; empty where it names none.
    """

    url: str
    """Canonical."""
    fetched: int
    """Seconds since 1970, UTC."""
    status: int
    """Of HTTP; 200 for a resource, and 0 where a revisit does not say."""
    digest: str
    kind: Kind = "response"
    body: bytes | None = None
    size: int = 0
    """Bytes of the body; as recorded where there is none, 0 for a revisit."""
    content_type: str = ""
    """Type and subtype in lower case, such as `text/html`; empty where the record has none."""
    charset: str = ""
    """As the header has it."""
    last_modified: int | None = None
    """The header's time; None where it has none or no valid one."""
    location: str = ""
    """Where a redirect leads, canonical; empty where it leads to no page."""
    robots: str = ""
    """The X-Robots-Tag header, in lower case."""
    canonical: str = ""
    """What a Link header with rel=canonical names, made canonical."""
    given_url: str = ""
    """As the record has it, where that differs from `url`; else empty."""
    record_id: str = ""
    refers_to: str = ""
    """The id of the record that a revisit repeats."""
    refers_to_url: str = ""
    refers_to_fetched: int | None = None
    source: str = ""
    position: Position = START
    after: Position = START
    """Where the next record begins: read from there to go on behind this one."""
    parsed: Parsed | None = None
    """Filled by readers of files that hold what HTML says instead of HTML (WAT)."""
    notes: tuple[str, ...] = ()
    body_digest: str | None = None
    """That of the body, which is another one than `digest` where a coding was taken off."""


class Skipped(msgspec.Struct, frozen=True, gc=False):
    """Something in a file that was not taken, and why. `reason` is one of `REASONS`."""

    reason: str
    why: str
    """A sentence about this very record."""
    url: str = ""
    """As the record has it, cut to what can be shown."""
    record_id: str = ""
    source: str = ""
    position: Position = START
    after: Position = START


def placed(item: Capture | Skipped, after: Position) -> Capture | Skipped:
    """Fills in where the next record begins, which a reader learns last.

    It changes the item itself, which nobody else has seen yet: a copy of each capture would cost
    more than the rest of its making.
    """
    msgspec.structs.force_setattr(item, "after", after)
    return item


def payload_digest(payload: bytes) -> str:
    """Returns the SHA-1 of a payload as WARC files have it: `sha1:` and base32."""
    digest = hashlib.sha1(payload, usedforsecurity=False).digest()
    return f"sha1:{base64.b32encode(digest).decode()}"


def kept_links(lines: Mapping[str, str]) -> tuple[str, int, bool]:
    r"""Returns the links of a page as they are stored: the one rule for all kinds of files.

    Args:
        lines: the line of each link, as `link_text` makes it → its target; in the order of the
            page.

    Returns:
        The text, with the links of one target side by side; how many targets it has; and whether
        links were left out because of `MAX_LINK_BYTES`.

    >>> kept_links({"https://a.org/\t\tA": "https://a.org/", "https://b.org/\t\tB": "https://b.org/"})
    ('https://a.org/\t\tA\nhttps://b.org/\t\tB', 2, False)
    """
    order = {target: place for place, target in enumerate(dict.fromkeys(lines.values()))}
    if len(order) < len(lines):
        ordered = sorted(lines, key=lambda line: order[lines[line]])
    else:
        ordered = list(lines)
    text = "\n".join(ordered)
    # A character takes four bytes at most, and most pages are far below the limit.
    if len(text) <= MAX_LINK_BYTES // 4 or len(encoded := text.encode()) <= MAX_LINK_BYTES:
        return text, len(order), False
    kept = encoded[: max(encoded.rfind(b"\n", 0, MAX_LINK_BYTES + 1), 0)].decode()
    targets = {lines[line] for line in kept.split("\n") if line}
    return kept, len(targets), True


def link_text(links: Iterable[Link]) -> str:
    r"""Returns links as one text, a line a link: URL, rel and anchor with tabs between them.

    >>> link_text([Link("https://example.com/", "nofollow", "Home")])
    'https://example.com/\tnofollow\tHome'
    """
    # None of the three holds a tab or the end of a line: URLs are canonical, and white space in
    # the others is made into single spaces.
    return "\n".join(map("\t".join, links))


def links_of_text(text: str) -> list[Link]:
    r"""Returns the links of a text that `link_text` made.

    >>> links_of_text("https://example.com/\tnofollow\tHome")
    [Link(url='https://example.com/', rel='nofollow', anchor='Home')]
    """
    return [Link(*line.split("\t")) for line in text.split("\n")] if text else []
