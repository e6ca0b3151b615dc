"""What the HTML of a page says: title, links, base, canonical URL, robots.

selectolax's Lexbor parser reads HTML as browsers do; it is imported here only. It takes time that
grows with the square of the nesting, and of the attributes of one element: pages that are large
enough for that to hurt are looked through first (`webtable.pages.html.depth_limit`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from webtable.errors import InvalidUrl
from webtable.pages.captures import MAX_LINK_BYTES, Capture, Parsed, kept_links
from webtable.pages.html.charset import charset_of_label, decode_page
from webtable.pages.html.depth_limit import flatten
from webtable.pages.html.link_resolver import Resolver
from webtable.pages.urls import resolve_url

__all__ = [
    "MAX_ANCHOR",
    "MAX_LINKS",
    "MAX_ROBOTS",
    "MAX_TITLE",
    "is_html",
    "parse_capture",
    "parse_html",
]

MAX_ANCHOR = 500
"""Characters of an anchor that are kept."""
MAX_TITLE = 2_000
"""Characters of a title that are kept."""
MAX_ROBOTS = 2_000
"""Characters of what robots are told that are kept, of all elements together."""
MAX_LINKS = 50_000
"""Links of a page that are kept, if they take no more than `MAX_LINK_BYTES`."""

_AT_ONCE = 1_000  # elements, between two looks at how much the links take
_OPTIONS = int(LexborDocumentOptions.WO_EVENTS)
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_SNIFFED_BYTES = 1024
_ANCHORS_A_BYTE = 2
# Bytes that no text has (WHATWG mime sniffing).
_BINARY = bytes(each for each in range(32) if each not in b"\t\n\f\r\x1b")
_MAGIC = (b"%PDF-", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b")
_STRANGE_SHARE = 20
_UTF16_MARKS = (b"\xfe\xff", b"\xff\xfe")


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
    if _is_binary(body, header_charset):
        return Parsed(notes=("binary",))
    decoded = decode_page(body, header_charset)
    notes: tuple[str, ...] = ("charset-unknown",) if decoded.is_unknown else ()
    flat = flatten(decoded.utf8)
    if flat.is_changed:
        notes += ("nested-too-deep",)
    document = LexborHTMLParser(flat.html, options=_OPTIONS)
    title, robots = _head(document)
    # One search finds everything that has an address, in the order of the page.
    nodes = _Nodes(document.css("[href]"))
    base = _base(nodes, url)
    links = _links(nodes, url, Resolver(base), _ANCHORS_A_BYTE * len(flat.html))
    if links.are_cut:
        notes += ("links-cut",)
    if links.are_anchors_cut:
        notes += ("anchors-cut",)
    return Parsed(
        title=title,
        links=links.text,
        targets=links.targets,
        canonical=_canonical(nodes, base),
        robots=robots,
        charset=decoded.charset,
        hrefs=links.hrefs,
        refused=links.refused,
        to_itself=links.to_itself,
        notes=notes,
    )


class _Nodes:
    """Elements with an address, and what kind each is of.

    Two lists, since many small tuples would keep Python's collector of garbage busy.
    """

    def __init__(self, nodes: list[LexborNode]) -> None:
        self.nodes = nodes
        self.kinds = [node.tag_id for node in nodes]

    def __iter__(self) -> Iterator[tuple[int, LexborNode]]:
        return zip(self.kinds, self.nodes, strict=True)


def _head(document: LexborHTMLParser) -> tuple[str, str]:
    """Returns the title, and what robots are told."""
    title = None
    robots = []
    head = document.head
    node = head.first_child if head is not None else None
    while node is not None:
        kind = node.tag_id
        if kind == _META:
            attributes = node.attributes
            if (attributes.get("name") or "").lower() == "robots":
                content = " ".join((attributes.get("content") or "").lower().split())
                robots.append(content[:MAX_ANCHOR])
        elif kind == _TITLE and title is None:
            title = node
        node = node.next
    if title is None:  # it counts wherever it stands, but is rarely elsewhere
        title = document.css_first("title")
    text = " ".join(title.text().split())[:MAX_TITLE] if title is not None else ""
    return text, ", ".join(filter(None, robots))[:MAX_ROBOTS]


def _base(nodes: _Nodes, url: str) -> str:
    """Returns the base URL of a page: the first base element counts, wherever it stands."""
    if _BASE not in nodes.kinds:
        return url
    node = nodes.nodes[nodes.kinds.index(_BASE)]
    return _optional_url(node.attributes.get("href") or "", url) or url


def _canonical(nodes: _Nodes, base: str) -> str:
    for kind, node in nodes:
        if kind == _LINK:
            attributes = node.attributes
            if "canonical" in (attributes.get("rel") or "").lower().split():
                return _optional_url(attributes.get("href") or "", base)
    return ""


class _Links(NamedTuple):
    text: str
    targets: int
    hrefs: int
    refused: int
    to_itself: int
    are_cut: bool
    are_anchors_cut: bool


def _links(nodes: _Nodes, url: str, resolve: Resolver, most_text: int) -> _Links:
    """Returns the links of a page, each different line once. This is the hottest loop of all.

    Links inside of links have the same words again and again: after `most_text` characters of
    anchors, those that follow are taken for empty.
    """
    lines: dict[str, str] = {}
    hrefs = refused = to_itself = 0
    size, are_cut = 0, False
    known = resolve.known
    remaining = iter(nodes)
    for begin in range(0, len(nodes.kinds), _AT_ONCE):
        before = len(lines)
        for kind, node in islice(remaining, _AT_ONCE):
            if kind not in _LINKING:
                continue
            attributes = node.attributes
            if "href" not in attributes:
                continue  # the parser takes xlink:href for one, as pictures inside a page have it
            hrefs += 1
            href = attributes["href"] or ""
            target = known[href] if href in known else resolve(href)
            if target is None:
                refused += 1
            elif target == url:
                to_itself += 1
            else:
                rel = attributes.get("rel") or ""
                if rel:
                    rel = " ".join(rel.lower().split())[:MAX_ANCHOR]
                if kind != _A:
                    text = attributes.get("alt") or ""
                elif most_text >= 0:
                    text = node.text()
                    most_text -= len(text)
                else:
                    text = ""
                line = f"{target}\t{rel}\t{' '.join(text.split())[:MAX_ANCHOR]}"
                if len(lines) < MAX_LINKS:
                    lines[line] = target
                elif line not in lines:
                    are_cut = True
        # Links that are not kept are not resolved either: under a long base they would fill the
        # memory. Here characters are counted, bytes at the end.
        if begin + _AT_ONCE < len(nodes.kinds):
            size += sum(map(len, islice(lines, before, None)))
            if are_cut or size > MAX_LINK_BYTES:
                break
    hrefs += sum(kind in _LINKING and "href" in node.attributes for kind, node in remaining)
    links, targets, are_too_long = kept_links(lines)
    are_cut = are_cut or are_too_long
    return _Links(links, targets, hrefs, refused, to_itself, are_cut, most_text < 0)


def _optional_url(href: str, base: str) -> str:
    """Returns a URL made canonical; empty where it is none of a page."""
    if not href:
        return ""
    try:
        return resolve_url(href, base)
    except InvalidUrl:
        return ""


def _is_binary(body: bytes, header_charset: str) -> bool:
    if body.startswith(_MAGIC):
        return True
    start = body[:_SNIFFED_BYTES]
    strange = len(start) - len(start.translate(None, _BINARY))
    # A few such bytes get into texts by mistake. UTF-16 is half of them.
    if strange * _STRANGE_SHARE <= len(start) or body.startswith(_UTF16_MARKS):
        return False
    return not charset_of_label(header_charset).startswith("UTF-16")


def _tag_id(tag: str) -> int:
    node = LexborHTMLParser(f"<{tag}>").css_first(tag)
    assert node is not None
    return node.tag_id


_A, _AREA, _BASE, _LINK, _META, _TITLE = map(
    _tag_id, ("a", "area", "base", "link", "meta", "title")
)
_LINKING = frozenset({_A, _AREA})
