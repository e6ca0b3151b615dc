"""The values that are read from a crawl: captures, parsed HTML, and skipped records.

These values are light and frozen, and are sent between processes. A reader
(`webtable.pages.formats.crawl_files.read_captures`) yields `Capture` and `Skipped` in the order of
the file; `webtable.pages.html.parser.parse_capture` returns the `Parsed` of a capture. This module
does not depend on a store.
"""

from __future__ import annotations

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
"""A longer body is not stored: the capture is stored without it."""

MAX_LINK_BYTES = 4 * 1024 * 1024
"""The limit for the links of a page, in bytes of UTF-8; further links are left out.

HBase accepts cells of up to 10 MB. One cell of the link index has the targets of the links that a
page had before, and of those that it has now.
"""

Kind: TypeAlias = Literal["response", "resource", "revisit"]

REASONS = {
    "bad-date": "the record's date is missing, impossible, or before the web",
    "bad-http": "the record contains no HTTP response",
    "bad-line": "the line of JSON is not an object with the fields of a page",
    "bad-record": "the record's header cannot be read",
    "bad-url": "the record's URL is not valid for a page",
    "blocked": "the URL is blocked: its page was removed",
    "crashed": "parsing the record failed, or crashed the process",
    "damaged": "the compressed data cannot be unpacked",
    "future": "the record is dated more than a day in the future",
    "garbage": "bytes that belong to no record, or a line that is not JSON",
    "links-cut": "the page is stored, but not all of its links: it has too many",
    "no-url": "the record has no URL",
    "not-a-crawl": "the file is not of a supported kind",
    "other-type": "a record that is not a capture, such as a request or the file's description",
    "refused": "the store rejects the page; the others are stored",
    "truncated": "the record is shorter than its length",
    "wrong-length": "the record's length does not lead to the next record",
}
"""Why a record was not stored, or not completely: every code of a `Skipped`, and its meaning."""

EXPECTED_REASONS = frozenset({"other-type", "blocked"})
"""The reasons that occur in every crawl and need no warning."""

ENDED_PROCESS = "the processes that read or parsed it died"
"""The text for a record that is skipped as `crashed`, for all kinds of files."""


class Position(NamedTuple):
    """A position in a file, to resume from. Positions of one file compare in its order.

    Attributes:
        offset: the bytes of the file before a record, or before its compressed member.
        inside: unpacked bytes from there, where a member contains several records.
    """

    offset: int
    inside: int = 0

    def __str__(self) -> str:
        return f"{self.offset}+{self.inside}" if self.inside else str(self.offset)


START = Position(0)


class Link(NamedTuple):
    """One link: its canonical target URL, its rel in lower case, and its anchor text."""

    url: str
    rel: str
    anchor: str


class Parsed(msgspec.Struct, frozen=True, gc=False):
    """The values that are parsed from the HTML of a page.

    `links` has every distinct (URL, rel, anchor) of `a` and `area`, those of one target next to
    each other, targets in the order of the page. Links to the page itself and to other things than
    pages are left out and counted. It is one text, as `link_text` returns it and as it is stored:
    a text is sent to another process much faster than many small values.
    """

    title: str = ""
    links: str = ""
    """One line for each link: URL, rel and anchor, separated by tabs. See `link_list`."""
    targets: int = 0
    """The number of distinct target URLs."""
    canonical: str = ""
    """The URL that the page names as canonical, in canonical form; empty where it names none."""
    robots: str = ""
    """The robots meta elements, in lower case, separated by `, `."""
    charset: str = ""
    """The charset of the body: a name of the WHATWG standard."""
    hrefs: int = 0
    """How many `a` and `area` elements have a href."""
    rejected: int = 0
    """How many of them lead to no page: other schemes, invalid or too long URLs. Where links were
    left out (`links-cut`), not all are counted."""
    to_itself: int = 0
    """How many of them lead to the page itself, counted likewise."""
    notes: tuple[str, ...] = ()
    """Remarks about the parsing: `anchors-cut`, `binary`, `charset-unknown`, `links-cut`,
    `nested-too-deep`."""
    facts: bytes = b""
    """The cell with the facts of the body; see `webtable.pages.body_facts`. Empty: it has none."""

    @property
    def link_list(self) -> list[Link]:
        """The links as a list."""
        return links_of_text(self.links)


class Capture(msgspec.Struct, frozen=True, gc=False):
    """One response of a web server as a crawl recorded it.

    **The body as received** is the payload of the record without chunking and content codings
    (gzip, deflate, br, zstd), in its own charset. Where the headers name a coding that the bytes do
    not have (some crawlers unpack at once), the bytes are the body. Where the coded bytes are
    damaged or incomplete, the body is the part before that (note `body-cut`). It is None for a
    revisit, in a WAT file, and when it is longer than `MAX_BODY_BYTES` (note `body-too-large`).

    **The digest** is the record's own WARC-Payload-Digest, if that is the digest of its payload:
    `sha1:` and 32 characters of base32; digests of other algorithms are unchanged. A record without
    a digest, or with a wrong one (note `wrong-digest`), gets the SHA-1 of its recorded payload. A
    revisit has the digest in its header, which is that of the capture that it repeats; empty where
    the header is missing.
    """

    url: str
    """Canonical."""
    fetched: int
    """Seconds since 1970, UTC."""
    status: int
    """The HTTP status; 200 for a resource, and 0 for a revisit without a status."""
    digest: str
    kind: Kind = "response"
    body: bytes | None = None
    size: int = 0
    """The bytes of the body; as recorded where the body is missing, 0 for a revisit."""
    content_type: str = ""
    """Type and subtype in lower case, such as `text/html`; empty where the record has none."""
    charset: str = ""
    """As it is in the header."""
    last_modified: int | None = None
    """The time in the header; None where it is missing or not valid."""
    location: str = ""
    """The canonical target of a redirect; empty where the target is not a page."""
    robots: str = ""
    """The rules of the X-Robots-Tag headers for all crawlers, in lower case."""
    canonical: str = ""
    """The first target of the Link headers with rel=canonical, in canonical form."""
    given_url: str = ""
    """The URL in the record, where it differs from `url`; otherwise empty."""
    record_id: str = ""
    refers_to: str = ""
    """The id of the record that a revisit repeats."""
    refers_to_url: str = ""
    refers_to_fetched: int | None = None
    source: str = ""
    position: Position = START
    after: Position = START
    """The position of the next record: a load resumes from there."""
    parsed: Parsed | None = None
    """Set by readers of files with parsed values instead of HTML (WAT)."""
    notes: tuple[str, ...] = ()
    body_digest: str | None = None
    """The digest of the body, which differs from `digest` where a coding was removed."""
    head: bytes = b""
    """The status line and the headers as received, without the empty line; empty where the record
    has none."""
    claimed_digest: str = ""
    """The digest in the record, where it differs from `digest`; otherwise empty."""
    address: str = ""
    """The IP address of the server (WARC-IP-Address)."""
    protocol: str = ""
    """The protocols of the response (WARC-Protocol), separated by blanks."""
    truncated: str = ""
    """Why the crawler cut the payload (WARC-Truncated); empty where it is complete."""


class Skipped(msgspec.Struct, frozen=True, gc=False):
    """A record of a file that was not stored, or not completely.

    Attributes:
        reason: one of `webtable.pages.captures.REASONS`, such as `bad-url`.
        why: a sentence about this record.
        url: the URL in the record, shortened for display.
        record_id: the id of a WARC record.
        source: the file.
        position, after: the positions of the record and of the next record.
    """

    reason: str
    why: str
    url: str = ""
    record_id: str = ""
    source: str = ""
    position: Position = START
    after: Position = START


def placed(item: Capture | Skipped, after: Position) -> Capture | Skipped:
    """Sets the position of the next record, which a reader learns last.

    It changes the item itself, which no other code has seen yet: a copy of each capture would cost
    more than all else that creates it.
    """
    msgspec.structs.force_setattr(item, "after", after)
    return item


_BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_BASE32_PAIRS = [first + second for first in _BASE32 for second in _BASE32]
_SHIFTS = range(150, -10, -10)


def payload_digest(payload: bytes) -> str:
    """Returns the SHA-1 of a payload in the form of WARC files: `sha1:` and base32."""
    digest = hashlib.sha1(payload, usedforsecurity=False).digest()
    n, pairs = int.from_bytes(digest, "big"), _BASE32_PAIRS
    # Every body that is loaded is hashed: `base64` would take longer than the SHA-1 of a short one.
    return "sha1:" + "".join([pairs[n >> shift & 1023] for shift in _SHIFTS])


def kept_links(lines: Mapping[str, str]) -> tuple[str, int, bool]:
    r"""Returns the links of a page as they are stored: the one rule for all kinds of files.

    Args:
        lines: the line of each link, as `link_text` returns it → its target; in the order of the
            page.

    Returns:
        The text, with the links of one target next to each other; how many targets it has; and
        whether links were left out because of `MAX_LINK_BYTES`.

    >>> kept_links({"https://a.org/\t\tA": "https://a.org/", "https://b.org/\t\tB": "https://b.org/"})
    ('https://a.org/\t\tA\nhttps://b.org/\t\tB', 2, False)
    """
    order = {target: place for place, target in enumerate(dict.fromkeys(lines.values()))}
    if len(order) < len(lines):
        ordered = sorted(lines, key=lambda line: order[lines[line]])
    else:
        ordered = list(lines)
    text = "\n".join(ordered)
    # A character needs at most four bytes, and most pages are far below the limit.
    if len(text) <= MAX_LINK_BYTES // 4 or len(encoded := text.encode()) <= MAX_LINK_BYTES:
        return text, len(order), False
    kept = encoded[: max(encoded.rfind(b"\n", 0, MAX_LINK_BYTES + 1), 0)].decode()
    targets = {lines[line] for line in kept.split("\n") if line}
    return kept, len(targets), True


def link_text(links: Iterable[Link]) -> str:
    r"""Returns links as one text, one line each: URL, rel and anchor, separated by tabs.

    >>> link_text([Link("https://example.com/", "nofollow", "Home")])
    'https://example.com/\tnofollow\tHome'
    """
    # None of the three contains a tab or a line end: URLs are canonical, and white space in the
    # others is replaced by single spaces.
    return "\n".join(map("\t".join, links))


def links_of_text(text: str) -> list[Link]:
    r"""Returns the links in a text of `link_text`.

    >>> links_of_text("https://example.com/\tnofollow\tHome")
    [Link(url='https://example.com/', rel='nofollow', anchor='Home')]
    """
    return [Link(*line.split("\t")) for line in text.split("\n")] if text else []
