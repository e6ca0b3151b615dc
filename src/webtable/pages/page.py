"""Pages as values: a capture to be stored, and a page as it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from webtable.errors import InvalidRequest
from webtable.pages.body_facts import Facts
from webtable.pages.captures import START, Position
from webtable.pages.columns import (
    CANONICAL,
    CHARSET,
    DIGEST,
    FETCHED,
    INLINKS,
    LAST_MODIFIED,
    METADATA_COLUMNS,
    NEWEST,
    OUTLINKS,
    REDIRECT,
    ROBOTS,
    SIZE,
    STATUS,
    TITLE,
    TYPE,
    URL,
)
from webtable.pages.storing.capture_cells import Origin, encode_time
from webtable.pages.storing.page_versions import CaptureNote
from webtable.result_base import Value

__all__ = [
    "CaptureSummary",
    "NewCapture",
    "Outcome",
    "Page",
    "PageCapture",
    "PageContent",
    "PageHead",
    "PageInfo",
    "StoredCapture",
    "capture_of",
    "changed_in",
    "info_of",
    "metadata_of",
    "page_of",
]

Outcome: TypeAlias = Literal["new", "changed", "unchanged", "older", "hidden"]
"""What a stored capture was: `new` of a page that was not stored; `changed` or `unchanged` the
newest capture of its page, with another or the same body; `older` than the newest; `hidden` on a
cluster, where the row was deleted by hand: the delete markers mask it until a major compaction."""


class PageInfo(NamedTuple):
    """The values that are parsed from the body of a page.

    `links` has one line for each link: target, rel and anchor, separated by tabs. `link_count` is
    the number of distinct targets. `context` has the headers that affect parsing, None where they
    are unknown; see `webtable.pages.storing.capture_parser.parse_context`. `links_cut`: not all
    links of the page are stored. `facts` is the cell of the facts of the body, empty where it has
    none; see `webtable.pages.body_facts`.
    """

    title: str = ""
    charset: str = ""
    canonical: str = ""
    robots: str = ""
    links: str = ""
    link_count: int = 0
    context: str | None = None
    links_cut: bool = False
    facts: bytes = b""


class NewCapture(NamedTuple):
    """A capture to be stored. `body` is None where it is missing or too large.

    `position` is the position in its file. `body_digest` is the digest of the body itself; None
    where it is unknown. `head` has the status line and the headers as received. `origin` is where
    the capture came from, as a text of `webtable.pages.storing.capture_cells.encode_origin`.
    """

    url: str
    note: CaptureNote
    body: bytes | None
    info: PageInfo | None
    position: Position = START
    body_digest: str | None = None
    head: bytes = b""
    origin: str = ""

    @property
    def key(self) -> tuple[int, str]:
        """The identity of the capture among those of its page, and their order."""
        return self.note.time, self.note.digest

    @property
    def summary(self) -> CaptureSummary | None:
        """The capture without its body; None where it has none, or an unknown parse context."""
        if self.body is None or self.info is None or self.info.context is None:
            return None
        return CaptureSummary(self.url, self.note, self.info.context, self.head, self.origin)


class CaptureSummary(NamedTuple):
    """A capture without its body, which is enough where that body is stored already."""

    url: str
    note: CaptureNote
    context: str
    head: bytes = b""
    origin: str = ""


class Page(Value, msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A page as its newest capture shows it, or as it was at an earlier time.

    A text is empty where the capture does not have it.

    Attributes:
        url: the canonical URL.
        row_key_text: its row key in the table `webtable`, as text: `row_key` of its dict and JSON.
        title: the title in the HTML.
        status: the HTTP status.
        last_modified: the time in the header, unless that is after the fetch; otherwise the time
            of the first capture with the current body.
        fetched: the time of the newest capture.
        size: the bytes of the body.
        type: the media type, without its parameters.
        digest: the digest of the body, as `sha1:…`; pages with the same body have the same digest.
        charset: the charset of the HTML.
        canonical: the URL that the page names as canonical.
        redirect: the URL that it redirects to.
        robots: the robots rules in the page and its headers.
        outlinks: the number of distinct pages it links to.
        inlinks: the number of pages that link to it; None at earlier times, and without a link
            index.
    """

    url: str
    row_key_text: str = msgspec.field(name="row_key")
    title: str
    status: int
    last_modified: str
    fetched: str
    size: int
    type: str
    digest: str
    charset: str
    canonical: str
    redirect: str
    robots: str
    outlinks: int
    inlinks: int | None

    @property
    def row_key(self) -> bytes:
        """Its row key in the table `webtable`, as the store's reads take it."""
        return self.row_key_text.encode()

    @property
    def facts(self) -> Facts | None:
        """What its body contains, of a page that `WebTable.page` returned.

        They are read when they are first used. None where no body or one without facts is stored.

        Raises:
            InvalidRequest: the page is from a list; use `WebTable.facts`.
        """
        if "facts" not in self.__dict__:
            read = self.__dict__.get("read_facts")
            if read is None:
                raise InvalidRequest(
                    f"the facts of '{self.url}' were not read with the list of pages",
                    hint="use web.facts(page.url), or web.page(page.url).facts",
                )
            self.__dict__["facts"] = read()
        facts: Facts | None = self.__dict__["facts"]
        return facts

    def with_facts(self, read: Callable[[], Facts | None]) -> Page:
        """Returns this page, which reads its facts by `read`."""
        self.__dict__["read_facts"] = read
        return self


class PageCapture(Value, msgspec.Struct, frozen=True):
    """One capture of a page.

    Attributes:
        fetched: its time.
        status: the HTTP status.
        type: the media type, without its parameters.
        digest: the digest of the body, as `sha1:…`.
        size: the bytes of the body; None for a revisit whose body was never loaded.
        redirect: the target of a redirect; empty: none.
        revisit: whether it has no body, but refers to an earlier capture with the same body.
        revisited_time: when that capture was fetched; empty where the record does not name it.
        revisited_url: its URL, where it differs from that of the page; otherwise empty.
        file: the crawl file that it was loaded from; empty for a capture of a program, and for
            captures of stores up to format 3, which have none of the following values.
        offset: the position of its record in the file, or of the compressed member of the record.
        inside: unpacked bytes from there, where a member contains several records.
        length: the bytes of the record in the file; None where it shares a member with others.
        record_id: the id of its WARC record.
        ip: the IP address of the server.
        protocol: the protocols of the response, separated by blanks, such as `h2 tls/1.3`.
        truncated: why the crawler cut the payload, such as `length`; empty: it did not.
        claimed_digest: the digest in the record, where it differs from `digest`; otherwise empty.
    """

    fetched: str
    status: int
    size: int | None
    type: str
    digest: str
    redirect: str
    revisit: bool
    revisited_time: str = ""
    revisited_url: str = ""
    file: str = ""
    offset: int | None = None
    inside: int = 0
    length: int | None = None
    record_id: str = ""
    ip: str = ""
    protocol: str = ""
    truncated: str = ""
    claimed_digest: str = ""


def capture_of(note: CaptureNote, origin: Origin) -> PageCapture:
    """Returns a capture in the form of the public interface."""
    return PageCapture(
        encode_time(note.time),
        note.status,
        None if note.is_revisit and not note.size else note.size,
        note.type,
        note.digest,
        note.redirect,
        note.is_revisit,
        "" if origin.revisited_time is None else encode_time(origin.revisited_time),
        origin.revisited_url,
        origin.file,
        origin.offset,
        origin.inside,
        origin.length,
        origin.record_id,
        origin.address,
        origin.protocol,
        origin.truncated,
        origin.claimed_digest,
    )


class PageContent(NamedTuple):
    """A page at some time: its capture, and its body where that is stored."""

    note: CaptureNote
    body: bytes | None


class StoredCapture(NamedTuple):
    """A capture with everything that is stored of it; None: not stored, or expired."""

    note: CaptureNote
    origin: Origin
    body: bytes | None
    head: bytes | None


class PageHead(NamedTuple):
    """A capture, and the head of its response where that is stored."""

    note: CaptureNote
    head: bytes | None


def metadata_of(capture: NewCapture, info: PageInfo, modified: int) -> dict[bytes, bytes]:
    """Returns all columns of `metadata` that the newest capture writes; empty: no such value."""
    note = capture.note
    texts = (
        capture.url,
        info.title,
        str(note.status),
        encode_time(modified),
        encode_time(note.time),
        str(note.size),
        note.type,
        note.digest,
        info.charset,
        info.canonical,
        note.redirect,
        info.robots,
        str(info.link_count if note.is_ok else 0),
    )
    return dict(zip(METADATA_COLUMNS, map(str.encode, texts), strict=True))


def changed_in(facts: Mapping[bytes, bytes], metadata: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """Returns the columns of `metadata` whose values differ from those of a row.

    Unchanged columns keep their timestamps. An empty newest cell is not written where none exists.
    """
    changed = {column: value for column, value in metadata.items() if facts.get(column) != value}
    if NEWEST in changed and not changed[NEWEST] and NEWEST not in facts:
        del changed[NEWEST]
    return changed


def info_of(facts: Mapping[bytes, bytes]) -> PageInfo:
    """Returns the values of the body in a row's metadata; the links are not among them."""
    get = facts.get
    title, charset, canonical, robots = (
        get(column, b"").decode() for column in (TITLE, CHARSET, CANONICAL, ROBOTS)
    )
    return PageInfo(title, charset, canonical, robots)


def page_of(row_key: bytes, facts: Mapping[bytes, bytes]) -> Page | None:
    """Returns the page of a row; None where its metadata has no URL."""

    def text(column: bytes) -> str:
        return facts.get(column, b"").decode()

    if not text(URL):
        return None
    inlinks = text(INLINKS)
    return Page(
        url=text(URL),
        row_key_text=row_key.decode("ascii", "backslashreplace"),
        title=text(TITLE),
        status=int(text(STATUS) or 0),
        last_modified=text(LAST_MODIFIED),
        fetched=text(FETCHED),
        size=int(text(SIZE) or 0),
        type=text(TYPE),
        digest=text(DIGEST),
        charset=text(CHARSET),
        canonical=text(CANONICAL),
        redirect=text(REDIRECT),
        robots=text(ROBOTS),
        outlinks=int(text(OUTLINKS) or 0),
        inlinks=int(inlinks) if inlinks else None,
    )
