"""Parses the HTML of a page: title, links, base, canonical URL, robots.

selectolax's Lexbor parser reads HTML as browsers do; only this module imports it. Its time grows
with the square of the nesting depth, and of the attributes of one element. So large pages are
checked first (`webtable.pages.html.depth_limit`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from webtable import compiled
from webtable.errors import InvalidUrl
from webtable.pages.body_facts import (
    MAX_ALTERNATES,
    MAX_FACT_TEXT,
    MAX_FACT_URL,
    MAX_HEADINGS,
    encode_page,
)
from webtable.pages.captures import MAX_LINK_BYTES, Capture, Parsed, kept_links
from webtable.pages.html.charset import charset_of_label, decode_page
from webtable.pages.html.depth_limit import flatten
from webtable.pages.html.link_resolver import Resolver
from webtable.pages.html.structured_data import structured_types
from webtable.pages.urls import resolve_url

if TYPE_CHECKING:
    from webtable.pages.html import page_scan
else:
    page_scan = compiled.load("webtable.pages.html", "page_scan")

__all__ = [
    "MAX_ANCHOR",
    "MAX_LINKS",
    "MAX_ROBOTS",
    "MAX_TITLE",
    "element_texts",
    "is_html",
    "parse_capture",
    "parse_html",
]

MAX_ANCHOR = 500
"""How many characters of an anchor are stored."""
MAX_TITLE = 2_000
"""How many characters of a title are stored."""
MAX_ROBOTS = 2_000
"""How many characters of all robots elements together are stored."""
MAX_LINKS = 50_000
"""How many links of a page are stored, if they need at most `MAX_LINK_BYTES`."""

_AT_ONCE = 1_000  # elements between two checks of the size of the links
_OPTIONS = int(LexborDocumentOptions.WO_EVENTS)
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_SNIFFED_BYTES = 1024
_ANCHORS_A_BYTE = 2
# Bytes that do not occur in text (WHATWG mime sniffing).
_BINARY = bytes(each for each in range(32) if each not in b"\t\n\f\r\x1b")
_MAGIC = (b"%PDF-", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b")
_STRANGE_SHARE = 20
_MAX_LANG = 35
_MAX_HEADING_BYTES = 8_000
_TAG = re.compile(rb"""<!--.*?-->|</?[A-Za-z!?](?:[^>"']|"[^"]*"|'[^']*')*+>""", re.DOTALL)
_OPEN_GRAPH = ("og:title", "og:type", "og:image", "og:description")
_NO_GRAPH = ("", "", "", "")
_UTF16_MARKS = (b"\xfe\xff", b"\xff\xfe")


def is_html(content_type: str, body: bytes) -> bool:
    """Whether a body is HTML: by its media type, or by its first bytes if it has no type."""
    if content_type:
        return content_type in _HTML_TYPES
    start = body[:_SNIFFED_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n\f").lower()
    return start.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<!--"))


def parse_capture(capture: Capture) -> Parsed | None:
    """Parses the HTML of a capture; None where the capture has no body, or no HTML."""
    if capture.parsed is not None:
        return capture.parsed
    if capture.body is None or not is_html(capture.content_type, capture.body):
        return None
    return parse_html(capture.body, capture.url, capture.charset)


def parse_html(body: bytes, url: str, header_charset: str = "") -> Parsed:
    """Parses HTML that was found at a canonical URL.

    It never fails: parts that are not readable give no values. Binary data is not parsed.
    """
    if _is_binary(body, header_charset):
        return Parsed(notes=("binary",))
    decoded = decode_page(body, header_charset)
    notes: tuple[str, ...] = ("charset-unknown",) if decoded.is_unknown else ()
    flat = flatten(decoded.utf8)
    if flat.is_changed:
        notes += ("nested-too-deep",)
    document = LexborHTMLParser(flat.html, options=_OPTIONS)
    head = _head(document)
    # One search finds all elements with a href, in the order of the page.
    nodes = _Nodes(document.css("[href]"))
    base = _base(nodes, url)
    links = _links(nodes, url, Resolver(base), _ANCHORS_A_BYTE * len(flat.html))
    if links.are_cut:
        notes += ("links-cut",)
    if links.are_anchors_cut:
        notes += ("anchors-cut",)
    canonical, alternates = _named_pages(nodes, base)
    facts = _facts(document, flat.html, head, alternates, (decoded.charset, canonical, url))
    return Parsed(
        title=head.title,
        links=links.text,
        targets=links.targets,
        canonical=canonical,
        robots=head.robots,
        charset=decoded.charset,
        hrefs=links.hrefs,
        rejected=links.rejected,
        to_itself=links.to_itself,
        notes=notes,
        facts=facts,
    )


def element_texts(body: bytes, names: Sequence[str]) -> dict[str, list[str]]:
    """Returns the texts of all elements with some names in XML that is similar to HTML.

    A text does not include those of elements inside: nested elements would repeat it many times.
    """
    text = decode_page(body).utf8.replace(b"<![CDATA[", b"").replace(b"]]>", b"")
    document = LexborHTMLParser(flatten(text).html, options=_OPTIONS)
    return {name: [node.text(deep=False).strip() for node in document.tags(name)] for name in names}


class _Nodes:
    """Elements with a href, and the kind of each.

    Two lists, since many small tuples would keep Python's garbage collector busy.
    """

    def __init__(self, nodes: list[LexborNode]) -> None:
        self.nodes = nodes
        self.kinds = [node.tag_id for node in nodes]

    def __iter__(self) -> Iterator[tuple[int, LexborNode]]:
        return zip(self.kinds, self.nodes, strict=True)


class _Head(NamedTuple):
    title: str
    robots: str
    description: str
    open_graph: dict[str, str]


def _head(document: LexborHTMLParser) -> _Head:
    """Returns the title, and the values of the meta elements."""
    title = None
    robots = []
    description = ""
    open_graph: dict[str, str] = {}
    head = document.head
    node = head.first_child if head is not None else None
    while node is not None:
        kind = node.tag_id
        if kind == _META:
            attributes = node.attributes
            name = (attributes.get("name") or attributes.get("property") or "").lower()
            if name == "robots":
                content = " ".join((attributes.get("content") or "").lower().split())
                robots.append(content[:MAX_ANCHOR])
            elif name == "description":
                description = description or _short(attributes.get("content"))
            elif name in _OPEN_GRAPH and name not in open_graph:
                open_graph[name] = _short(attributes.get("content"))
        elif kind == _TITLE and title is None:
            title = node
        node = node.next
    if title is None:  # a title outside of the head counts too, but is rare
        title = document.css_first("title")
    text = " ".join(title.text().split())[:MAX_TITLE] if title is not None else ""
    return _Head(text, ", ".join(filter(None, robots))[:MAX_ROBOTS], description, open_graph)


def _short(text: str | None) -> str:
    # Of a very long text only a part is split.
    return " ".join((text or "")[: 4 * MAX_FACT_TEXT].split())[:MAX_FACT_TEXT]


def _facts(
    document: LexborHTMLParser,
    html: bytes,
    head: _Head,
    alternates: Sequence[tuple[str, str]],
    names: tuple[str, str, str],
) -> bytes:
    """Returns the cell with the facts of a page; `names` are its charset, canonical URL and URL."""
    scan = page_scan.PageScan(html)
    charset, canonical, url = names
    types: Sequence[str] = ()
    if scan.json_ld or scan.item_types:
        types = structured_types(html, scan.json_ld, scan.item_types)
    root = document.root
    lang = root.attributes.get("lang") if root is not None else None
    graph = head.open_graph.get
    return encode_page(
        (
            charset,
            (lang or "").strip()[:_MAX_LANG],
            head.description,
            head.robots,
            canonical,
            _headings(html, scan.headings) if scan.headings else (),
            alternates,
            scan.words,
            scan.fingerprint,
            scan.links,
            scan.images,
            scan.images_without_alt,
            scan.insecure if url.startswith("https:") else 0,
            scan.scripts,
            scan.styles,
            types,
            [graph(name, "") for name in _OPEN_GRAPH] if head.open_graph else _NO_GRAPH,
        )
    )


def _headings(html: bytes, found: Sequence[tuple[int, int, int]]) -> list[tuple[int, str]]:
    """Returns the first headings of a page, among them the first one of level 1.

    Args:
        found: the level of each, and its start and stop in the page.
    """
    chosen = list(found[:MAX_HEADINGS])
    if len(found) > MAX_HEADINGS and all(level > 1 for level, _, _ in chosen):
        chosen[-1:] = [each for each in found if each[0] == 1][:1] or chosen[-1:]
    headings = []
    for level, start, stop in chosen:
        part = html[start : min(stop, start + _MAX_HEADING_BYTES)]
        if b"<" in part:
            part = _TAG.sub(b"", part)
        text = part.decode("utf-8", "replace")
        headings.append((level, _short(unescape(text) if "&" in text else text)))
    return headings


def _base(nodes: _Nodes, url: str) -> str:
    """Returns the base URL of a page: the first base element counts, at any place."""
    if _BASE not in nodes.kinds:
        return url
    node = nodes.nodes[nodes.kinds.index(_BASE)]
    return _optional_url(node.attributes.get("href") or "", url) or url


def _named_pages(nodes: _Nodes, base: str) -> tuple[str, list[tuple[str, str]]]:
    """Returns the canonical URL, and the languages and URLs of alternate pages."""
    canonical = None
    alternates: list[tuple[str, str]] = []
    for kind, node in nodes:
        if kind == _LINK:
            attributes = node.attributes
            rel = (attributes.get("rel") or "").lower()
            if canonical is None and "canonical" in rel.split():
                canonical = _optional_url(attributes.get("href") or "", base)
            elif "hreflang" in attributes and "alternate" in rel.split():
                if len(alternates) == MAX_ALTERNATES:
                    continue
                url = _optional_url(attributes.get("href") or "", base)
                if url and len(url) <= MAX_FACT_URL:
                    lang = (attributes["hreflang"] or "").strip()[:_MAX_LANG]
                    alternates.append((lang, url))
    return canonical or "", alternates


class _Links(NamedTuple):
    text: str
    targets: int
    hrefs: int
    rejected: int
    to_itself: int
    are_cut: bool
    are_anchors_cut: bool


def _links(nodes: _Nodes, url: str, resolve: Resolver, most_text: int) -> _Links:
    """Returns the links of a page, each different line once. This is the hottest loop of a load.

    Nested links repeat the same text in their anchors: after `most_text` characters of anchors,
    all further anchors are empty.
    """
    lines: dict[str, str] = {}
    hrefs = rejected = to_itself = 0
    size, are_cut = 0, False
    cache = resolve.cache
    remaining = iter(nodes)
    for begin in range(0, len(nodes.kinds), _AT_ONCE):
        before = len(lines)
        for kind, node in islice(remaining, _AT_ONCE):
            if kind not in _LINKING:
                continue
            attributes = node.attributes
            if "href" not in attributes:
                continue  # the search also finds xlink:href, an attribute of SVG
            hrefs += 1
            href = attributes["href"] or ""
            target = cache[href] if href in cache else resolve(href)
            if target is None:
                rejected += 1
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
        # Links beyond the limit are not resolved: with a long base URL they would fill the
        # memory. This check counts characters; the final one counts bytes.
        if begin + _AT_ONCE < len(nodes.kinds):
            size += sum(map(len, islice(lines, before, None)))
            if are_cut or size > MAX_LINK_BYTES:
                break
    hrefs += sum(kind in _LINKING and "href" in node.attributes for kind, node in remaining)
    links, targets, are_too_long = kept_links(lines)
    are_cut = are_cut or are_too_long
    return _Links(links, targets, hrefs, rejected, to_itself, are_cut, most_text < 0)


def _optional_url(href: str, base: str) -> str:
    """Returns the canonical form of a URL; empty where it is not valid for a page."""
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
    # A text may contain a few such bytes by mistake. In UTF-16 half of the bytes are such.
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
