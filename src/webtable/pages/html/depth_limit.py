"""Limits the depth of a page before it is parsed, since a very deep page takes minutes to parse.

The time of HTML parsers grows with the square of the nesting depth. Browsers stop at a depth of
512, and so does this module. In a page with very many tags it removes: start tags that nest deeper;
the attributes of a tag with thousands of them; repeated `html` and `body` tags; and everything
after the 500,000th tag. Links, titles and similar elements stay. The exception are links inside
SVG and MathML, where links can nest: there, a link inside 512 other links is removed.

A stack of element names decides whether a tag nests. It follows the standard's rules for the stack
of open elements, as far as they affect the depth.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import filterfalse
from typing import TYPE_CHECKING, NamedTuple

from webtable import compiled

if TYPE_CHECKING:
    from webtable.pages.html import tag_depth
else:
    tag_depth = compiled.load("webtable.pages.html", "tag_depth")

__all__ = ["MAX_DEPTH", "MAX_TAGS", "Flat", "flatten"]

MAX_DEPTH = 512
"""The largest nesting depth of elements."""
MAX_TAGS = 500_000
"""The largest number of tags of one page."""

_MANY_TAGS = 10_000
"""A page with fewer tags takes at most one second to parse, however deep they nest."""
_SLASH = ord("/")
_SOME_TAGS = 1_000
"""A page with fewer tags cannot repeat enough formatting to be slow."""
_FEW_BYTES = 8 * 1024
"""Shorter pages are not checked."""
_MAX_FORMATTING = 8
"""Open formatting elements in a page that is cut. The content of others stays, without them."""
_MUCH_FORMATTING = 100
_LONG_TAG_BYTES = 64 * 1024
"""A shorter tag cannot have enough attributes to be slow."""
_MANY_ATTRIBUTES = 1_000
_FEW_ROOTS = 2
_MANY_ROOT_BYTES = 16 * 1024
"""Bytes of repeated `html` and `body` tags. Parsers collect their attributes in one element."""

_WITH_TEXT = tuple(b"script style textarea title xmp iframe noembed noframes".split())
_TOKEN = re.compile(
    rb"<!--.*?(?:-->|\Z)"
    rb"|<(" + b"|".join(_WITH_TEXT) + rb")\b[^>]*>.*?(?:</\1|\Z)"
    rb"|<(/?)([A-Za-z][^\s/>]{0,31})[^>]*>?",
    re.DOTALL | re.IGNORECASE,
)
# Finds the same as `_TOKEN` in a page in lower case, but only names: `name`, `/name`, or empty for
# a match that is not an element. Without positions this is several times faster.
_NAMES = re.compile(
    rb"<!--.*?(?:-->|\Z)"
    + b"".join(rb"|<%(name)s\b[^>]*>.*?(?:</%(name)s|\Z)" % {b"name": name} for name in _WITH_TEXT)
    + rb"|<(/?[a-z][^\s/>]{0,31})[^>]*>?",
    re.DOTALL,
)
# These have no content, or are closed by the next of their kind, or are the links to be found.
_NOT_NESTING = frozenset(
    b"a area base basefont bgsound br col embed frame hr img input keygen link meta param source"
    b" track wbr html head body"
    b" p li dt dd tr td th thead tbody tfoot caption colgroup option rp rt rb rtc".split()
)
_FORMATTING = frozenset(b"b big code em font i nobr s small strike strong tt u".split())
_ROOT_TAG = re.compile(rb"<(?:html|body)[\s/][^>]*", re.IGNORECASE)
# In SVG and MathML (foreign content) links nest, up to the elements that end it.
_FOREIGN = frozenset({b"svg", b"math"})
_NOT_FOREIGN = _FORMATTING | frozenset(
    b"blockquote body br center dd div dl dt embed h1 h2 h3 h4 h5 h6 head hr img li listing menu"
    b" meta ol p pre ruby span sub sup table ul var"
    b" foreignobject desc title mi mo mn ms mtext annotation-xml".split()
)
_NOTHING = frozenset({b""})
_IGNORED = _NOT_NESTING | {b"/" + name for name in _NOT_NESTING} | {b""}
_MARKERS = frozenset(b"applet marquee object table template select button".split())
_SPECIAL = _MARKERS | frozenset(
    b"address article aside blockquote center details dir div dl fieldset figcaption figure footer"
    b" form frameset h1 h2 h3 h4 h5 h6 header hgroup listing main menu nav noscript ol plaintext"
    b" pre search section summary ul".split()
)
tag_depth.name_elements(
    (_NOT_NESTING, _FORMATTING, _WITH_TEXT, _SPECIAL, _MARKERS, _FOREIGN, _NOT_FOREIGN)
)


class Flat(NamedTuple):
    """HTML that parses fast, and whether something was removed from the page."""

    html: bytes
    is_changed: bool = False


def flatten(html: bytes) -> Flat:
    """Returns a page unchanged, or without its parts that nest too deep."""
    if len(html) <= _FEW_BYTES:
        return Flat(html)
    is_long = len(html) > _LONG_TAG_BYTES
    left_out = _long_tags(html) if is_long else []
    html = _without(html, left_out)
    counts = tag_depth.count_tags(html)
    if is_long and counts.roots > _FEW_ROOTS and (roots := _repeated_roots(html)):
        html = _without(html, roots)
        left_out += roots
        counts = tag_depth.count_tags(html)
    is_suspect = counts.tags > _MANY_TAGS or _is_left_open(counts)
    if is_suspect and _is_too_deep(html):
        cuts = _too_deep(html)
        if cuts:
            return Flat(_without(html, cuts), is_changed=True)
    return Flat(html, is_changed=bool(left_out))


def _without(html: bytes, cuts: list[tuple[int, int]]) -> bytes:
    if not cuts:
        return html
    parts = []
    place = 0
    for start, stop in cuts:
        parts.append(html[place:start])
        place = stop
    parts.append(html[place:])
    return b"".join(parts)


def _repeated_roots(html: bytes) -> list[tuple[int, int]]:
    """Returns the places of repeated `html` and `body` tags, if their attributes are many.

    Parsers add these attributes to the first element, and compare each with all others.
    """
    again = [found.span() for found in _ROOT_TAG.finditer(html)][_FEW_ROOTS:]
    return again if sum(stop - start for start, stop in again) > _MANY_ROOT_BYTES else []


def _is_left_open(counts: tag_depth.TagCounts) -> bool:
    """Whether much formatting stays open: a parser repeats it in every later paragraph."""
    return (
        counts.tags > _SOME_TAGS
        and counts.tags - 2 * counts.ends >= _SOME_TAGS
        and counts.formatting > _MUCH_FORMATTING
    )


def _is_too_deep(html: bytes) -> bool:
    """Whether `_too_deep` would find a tag. A quick check: few of the large pages nest deep."""
    if tag_depth.COMPILED:
        return tag_depth.is_too_deep(html, MAX_DEPTH, _MAX_FORMATTING, MAX_TAGS)
    return _nests_too_deep(html)


def _nests_too_deep(html: bytes) -> bool:
    """Returns the same as `tag_depth.is_too_deep`, in plain Python."""
    tags = _NAMES.findall(html.lower())
    if len(tags) > MAX_TAGS:
        return True
    stack = _Stack()
    opened, close, is_full_for, open_ = stack.names, stack.close, stack.is_full_for, stack.open
    ignored = _IGNORED if _FOREIGN.isdisjoint(tags) else _NOTHING
    for tag in filterfalse(ignored.__contains__, tags):
        if ignored is _NOTHING and not stack.nests(tag.lstrip(b"/")):
            continue
        if tag[0] == _SLASH:
            close(tag[1:])
        elif (tag in _FORMATTING or len(opened) >= MAX_DEPTH) and is_full_for(tag):
            return True
        else:
            open_(tag)
    return False


def _too_deep(html: bytes) -> list[tuple[int, int]]:
    """Returns the places of the tags that nest too deep, with their end tags."""
    cuts: list[tuple[int, int]] = []
    stack = _Stack()
    left_out: defaultdict[bytes, int] = defaultdict(int)
    for number, token in enumerate(_TOKEN.finditer(html)):
        if number >= MAX_TAGS:
            cuts.append((token.start(), len(html)))
            break
        slash, name = token.group(2, 3)
        if name is None or not stack.nests(name := name.lower()):
            continue
        if slash:
            if left_out[name]:
                left_out[name] -= 1
                cuts.append(token.span())
            else:
                stack.close(name)
        elif stack.is_full_for(name):
            left_out[name] += 1
            cuts.append(token.span())
        else:
            stack.open(name)
    return cuts


class _Stack:
    """The names of the open elements.

    It stores where each name was opened last, and which element stops an end tag. Otherwise every
    end tag would need a search through up to 500 elements.
    """

    def __init__(self) -> None:
        self.names: list[bytes] = []
        self._places: defaultdict[bytes, list[int]] = defaultdict(list)
        self._stops: list[tuple[int, int]] = []  # the last special element, and the last marker
        self._formatting = 0
        self._foreign: list[bool] = []  # whether the content of the element is foreign content

    def nests(self, name: bytes) -> bool:
        """Whether elements of this name can nest at this place."""
        if name not in _NOT_NESTING:
            return True
        if not self._foreign or not self._foreign[-1]:
            return False
        if name in _NOT_FOREIGN:
            self._foreign[-1] = False
        return name == b"a"

    def is_full_for(self, name: bytes) -> bool:
        if name in _FORMATTING and self._formatting >= _MAX_FORMATTING:
            return True
        # A link that is deep inside other elements stays; a link inside many links does not.
        return len(self._places[name] if name == b"a" else self.names) >= MAX_DEPTH

    def open(self, name: bytes) -> None:
        place = len(self.names)
        self.names.append(name)
        self._places[name].append(place)
        self._formatting += name in _FORMATTING
        special, marker = self._stops[-1] if self._stops else (-1, -1)
        if name in _SPECIAL:
            special, marker = place, place if name in _MARKERS else marker
        self._stops.append((special, marker))
        is_inside = bool(self._foreign) and self._foreign[-1]
        self._foreign.append(name in _FOREIGN or (is_inside and name not in _NOT_FOREIGN))

    def _pop(self) -> None:
        name = self.names.pop()
        self._stops.pop()
        self._foreign.pop()
        self._places[name].pop()
        self._formatting -= name in _FORMATTING

    def close(self, name: bytes) -> None:
        """Closes the last element of a name and the elements in it, if its end tag reaches it."""
        names, places = self.names, self._places[name]
        if not places:
            return
        place = places[-1]
        if place == len(names) - 1:  # the case of nearly every page
            self._pop()
            return
        if name in _FORMATTING:  # only this element is closed; the elements in it stay open
            kept = names[place + 1 :]
        elif place < self._stops[-1][name in _SPECIAL]:
            return
        else:
            # Formatting inside the element continues after it, as in the standard.
            kept = [each for each in names[place:] if each in _FORMATTING]
        while len(names) > place:
            self._pop()
        for each in kept:
            self.open(each)


def _long_tags(html: bytes) -> list[tuple[int, int]]:
    """Returns the places of the surplus attributes of tags that have thousands of them."""
    cuts = []
    place = 0
    while place + _LONG_TAG_BYTES < len(html):
        end = html.rfind(b">", place, place + _LONG_TAG_BYTES)
        if end >= 0:
            place = end + 1
            continue
        end = html.find(b">", place)
        end = len(html) if end < 0 else end
        start = max(html.rfind(b"<", place, end), place)
        # A long attribute is no problem (inline images have one); many attributes are.
        if len(html[start:end].split()) > _MANY_ATTRIBUTES:
            space = html.rfind(b" ", start, start + _LONG_TAG_BYTES)
            cuts.append((max(space, start + 1), end))
        place = end + 1
    return cuts
