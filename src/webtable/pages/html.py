"""What the HTML of a page says: title, links, base, canonical URL, robots.

selectolax's Lexbor parser reads HTML as browsers do; it is imported here only. It takes time that
grows with the square of the nesting, and of the attributes of one element: pages that are large
enough for that to hurt are looked through first (`webtable.pages.flattening`).
"""

from __future__ import annotations

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from webtable.errors import InvalidUrl
from webtable.pages.captures import Capture, Parsed
from webtable.pages.charset import decode_page
from webtable.pages.flattening import flatten
from webtable.pages.resolving import Resolver
from webtable.pages.urls import resolve_url

__all__ = ["MAX_ANCHOR", "MAX_LINKS", "MAX_TITLE", "is_html", "parse_capture", "parse_html"]

MAX_ANCHOR = 500
"""Characters of an anchor that are kept."""
MAX_TITLE = 2_000
"""Characters of a title that are kept."""
MAX_LINKS = 50_000
"""Links of a page that are kept; the others are counted."""

_OPTIONS = int(LexborDocumentOptions.WO_EVENTS)
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_SNIFFED_BYTES = 1024
# Bytes that no text has (WHATWG mime sniffing), but for those of a UTF-16 text.
_BINARY = bytes(each for each in range(32) if each not in b"\t\n\f\r\x1b")
_MAGIC = (b"%PDF-", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b")
_UTF16_MARKS = (b"\xfe\xff", b"\xff\xfe")
_AS_SPACES = bytes(each if each > 32 else 32 for each in range(256))


def is_html(content_type: str, body: bytes) -> bool:
    """Whether a body is to be read as HTML: by its type, or by its beginning if it has none."""
    if content_type:
        return content_type in _HTML_TYPES
    start = body[:_SNIFFED_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n\f").lower()
    return start.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<!--"))


def parse_capture(capture: Capture) -> Parsed | None:
    """Returns what the HTML of a capture says; None where it has no body, or none of HTML."""
    if capture.parsed is not None:
        return capture.parsed
    if capture.body is None or not is_html(capture.content_type, capture.body):
        return None
    return parse_html(capture.body, capture.url, capture.charset)


def parse_html(body: bytes, url: str, header_charset: str = "") -> Parsed:
    """Returns what HTML says that was found at a canonical URL.

    It never fails: what cannot be read says nothing. Binary data is not looked into.
    """
    if _is_binary(body):
        return Parsed(notes=("binary",))
    decoded = decode_page(body, header_charset)
    notes: tuple[str, ...] = ("charset-unknown",) if decoded.is_unknown else ()
    flat = flatten(decoded.utf8)
    if flat.is_changed:
        notes += ("nested-too-deep",)
    document = LexborHTMLParser(flat.html, options=_OPTIONS)
    head = _Head(document, flat.html)
    base = _base_url(head.base, url)
    links = _Links(url, Resolver(base))
    # Most pages have no maps, and to ask for one kind of element is cheaper.
    has_maps = b"<area" in flat.html or b"<AREA" in flat.html or b"<Area" in flat.html
    for node in document.css("a, area") if has_maps else document.tags("a"):
        links.add(node)
    if links.are_cut:
        notes += ("links-cut",)
    return Parsed(
        title=head.title,
        links=links.text(),
        targets=len(links.targets),
        canonical=_optional_url(head.canonical, base),
        robots=", ".join(head.robots),
        charset=decoded.charset,
        hrefs=links.hrefs,
        refused=links.refused,
        to_itself=links.to_itself,
        notes=notes,
    )


class _Head:
    """What the elements of the head say; the first of a kind counts."""

    def __init__(self, document: LexborHTMLParser, html: bytes) -> None:
        self.title = ""
        self.base = ""
        self.canonical = ""
        self.robots: list[str] = []
        has_title = False
        head = document.head
        node = head.first_child if head is not None else None
        while node is not None:
            kind = node.tag_id
            if kind == _TITLE and not has_title:
                has_title = True
                self._take_title(node)
            elif kind == _META:
                self._take_meta(node)
            elif kind == _LINK:
                self._take_link(node)
            elif kind == _BASE and not self.base:
                self.base = node.attributes.get("href") or ""
            node = node.next
        # Both count wherever they stand; that they stand in the body is rare.
        if not has_title and (title := document.css_first("title")) is not None:
            self._take_title(title)
        if not self.base and (b"<base" in html or b"<BASE" in html):
            base = document.css_first("base[href]")
            self.base = (base.attributes.get("href") or "") if base is not None else ""

    def _take_title(self, node: LexborNode) -> None:
        self.title = " ".join(node.text().split())[:MAX_TITLE]

    def _take_meta(self, node: LexborNode) -> None:
        attributes = node.attributes
        if (attributes.get("name") or "").lower() == "robots":
            content = " ".join((attributes.get("content") or "").lower().split())
            if content:
                self.robots.append(content[:MAX_ANCHOR])

    def _take_link(self, node: LexborNode) -> None:
        attributes = node.attributes
        if not self.canonical and "canonical" in (attributes.get("rel") or "").lower().split():
            self.canonical = attributes.get("href") or ""


class _Links:
    """Collects the links of a page, each different line once."""

    def __init__(self, url: str, resolve: Resolver) -> None:
        self._url = url
        self._resolve = resolve
        self._lines: dict[str, str] = {}
        self.targets: dict[str, int] = {}
        self.hrefs = 0
        self.refused = 0
        self.to_itself = 0
        self.are_cut = False

    def add(self, node: LexborNode) -> None:
        """Takes one `a` or `area`."""
        attributes = node.attributes
        href = attributes.get("href")
        if href is None:
            return
        self.hrefs += 1
        target = self._resolve(href)
        if target is None:
            self.refused += 1
            return
        if target == self._url:
            self.to_itself += 1
            return
        rel = attributes.get("rel")
        if rel:
            rel = " ".join(rel.lower().split())[:MAX_ANCHOR]
        text = node.text() if node.tag_id == _A else attributes.get("alt") or ""
        line = f"{target}\t{rel or ''}\t{' '.join(text.split())[:MAX_ANCHOR]}"
        if len(self._lines) < MAX_LINKS:
            self._lines[line] = target
            self.targets.setdefault(target, len(self.targets))
        elif line not in self._lines:
            self.are_cut = True

    def text(self) -> str:
        """Returns all lines, those of one target side by side."""
        lines = self._lines
        if len(lines) == len(self.targets):
            return "\n".join(lines)
        return "\n".join(sorted(lines, key=lambda line: self.targets[lines[line]]))


def _base_url(href: str, url: str) -> str:
    if not href:
        return url
    return _optional_url(href, url) or url


def _optional_url(href: str, base: str) -> str:
    """Returns a URL made canonical; empty where it is none of a page."""
    if not href:
        return ""
    try:
        return resolve_url(href, base)
    except InvalidUrl:
        return ""


def _is_binary(body: bytes) -> bool:
    if body.startswith(_MAGIC):
        return True
    start = body[:_SNIFFED_BYTES]
    return (
        len(start.translate(None, _BINARY)) != len(start)
        and not body.startswith(_UTF16_MARKS)
    )


def _tag_id(tag: str) -> int:
    node = LexborHTMLParser(f"<{tag}>").css_first(tag)
    assert node is not None
    return node.tag_id


_A, _BASE, _LINK, _META, _TITLE = map(_tag_id, ("a", "base", "link", "meta", "title"))
