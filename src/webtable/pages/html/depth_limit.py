"""Pages nested so deep that parsing would take minutes, made flat before they are parsed.

Parsers of HTML take time that grows with the square of the nesting. Browsers stop at a depth of
512; so do we: in a page with very many tags, start tags that would nest deeper are left out, and
so are the attributes of a tag that has thousands, `html` and `body` that begin again and again, and
what follows the 500,000th tag. Links, titles and the like stay in; only in pictures and formulas,
where links nest, those that are in 512 others do not.

Whether a tag nests is decided by a stack of names, kept as the standard keeps its stack of open
elements, as far as that matters for the depth.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import filterfalse
from typing import NamedTuple

__all__ = ["MAX_DEPTH", "MAX_TAGS", "Flat", "flatten"]

MAX_DEPTH = 512
"""Of elements in one another."""
MAX_TAGS = 500_000
"""Of one page."""

_MANY_TAGS = 10_000
"""Fewer cannot nest deep enough to hurt: a second is the worst."""
_SLASH = ord("/")
_SOME_TAGS = 1_000
"""Fewer cannot multiply enough to hurt."""
_FEW_BYTES = 8 * 1024
"""Shorter pages need no look."""
_MAX_FORMATTING = 8
"""Open elements of formatting, in a page that is made flat. What they hold is not lost."""
_MUCH_FORMATTING = 100
_LONG_TAG_BYTES = 64 * 1024
"""A tag that is shorter cannot have enough attributes to hurt."""
_MANY_ATTRIBUTES = 1_000
_MANY_ROOT_BYTES = 16 * 1024
"""Of `html` and `body` tags. Their attributes are collected in one element."""

_TOKEN = re.compile(
    rb"<!--.*?(?:-->|\Z)"
    rb"|<(script|style|textarea|title|xmp|iframe|noembed|noframes)\b[^>]*>.*?(?:</\1|\Z)"
    rb"|<(/?)([A-Za-z][^\s/>]{0,31})[^>]*>?",
    re.DOTALL | re.IGNORECASE,
)
# What `_TOKEN` finds in a page in lower case, as names alone: `name`, `/name`, or empty for what
# is no element. Without positions this is several times faster.
_NAMES = re.compile(
    rb"<!--.*?(?:-->|\Z)"
    + b"".join(
        rb"|<%(name)s\b[^>]*>.*?(?:</%(name)s|\Z)" % {b"name": name}
        for name in b"script style textarea title xmp iframe noembed noframes".split()
    )
    + rb"|<(/?[a-z][^\s/>]{0,31})[^>]*>?",
    re.DOTALL,
)
# They never have content, or are closed by the next of their kind, or are what we look for.
_NOT_NESTING = frozenset(
    b"a area base basefont bgsound br col embed frame hr img input keygen link meta param source"
    b" track wbr html head body"
    b" p li dt dd tr td th thead tbody tfoot caption colgroup option rp rt rb rtc".split()
)
_FORMATTING = frozenset(b"b big code em font i nobr s small strike strong tt u".split())
_FORMATTING_TAG = re.compile(
    rb"<(/?)(?:b(?:ig)?|code|em|font|i|nobr|s(?:mall|trike|trong)?|tt|u)[\s/>]"
)
_ROOT_TAG = re.compile(rb"<(?:html|body)[\s/][^>]*", re.IGNORECASE)
# In pictures and formulas (foreign content) links nest, up to the elements that lead out of it.
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


class Flat(NamedTuple):
    """HTML that can be parsed in time, and whether something was left out for it."""

    html: bytes
    is_changed: bool = False


def flatten(html: bytes) -> Flat:
    """Returns a page as it is, unless it is nested too deep: then without what is deeper."""
    if len(html) <= _FEW_BYTES:
        return Flat(html)
    left_out: list[tuple[int, int]] = []
    for find in (_long_tags, _repeated_roots) if len(html) > _LONG_TAG_BYTES else ():
        cuts = find(html)
        html = _without(html, cuts)
        left_out += cuts
    tags = html.count(b"<")
    is_suspect = tags > _MANY_TAGS or (tags > _SOME_TAGS and _is_left_open(html, tags))
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
    """Returns where `html` and `body` begin again with attributes, if these are many.

    Parsers add them to those that the element has, and look through all of these for each.
    """
    again = [found.span() for found in _ROOT_TAG.finditer(html)][2:]
    return again if sum(stop - start for start, stop in again) > _MANY_ROOT_BYTES else []


def _is_left_open(html: bytes, tags: int) -> bool:
    """Whether much formatting is never ended: it is repeated in every paragraph that follows."""
    if tags - 2 * html.count(b"</") < _SOME_TAGS:
        return False
    slashes = _FORMATTING_TAG.findall(html.lower())
    return len(slashes) - 2 * slashes.count(b"/") > _MUCH_FORMATTING


def _is_too_deep(html: bytes) -> bool:
    """Whether `_too_deep` would find anything. Large pages are many, and few of them nest deep."""
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
    """Returns where the tags are that nest too deep, those that end them included."""
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
    """The names of the elements that are open.

    Where each name was opened last, and what keeps an end tag from reaching below it, is known at
    once: to look through the stack for every end tag would take 500 steps for each.
    """

    def __init__(self) -> None:
        self.names: list[bytes] = []
        self._places: defaultdict[bytes, list[int]] = defaultdict(list)
        self._stops: list[tuple[int, int]] = []  # the last special element, and the last marker
        self._formatting = 0
        self._foreign: list[bool] = []  # whether what is in the element is foreign content

    def nests(self, name: bytes) -> bool:
        """Whether elements of a name can be in one another here."""
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
        # Links are what we look for: one that is deep in others stays, one in many links does not.
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
        """Closes the last element of a name, with what is in it, if the end tag reaches it."""
        names, places = self.names, self._places[name]
        if not places:
            return
        place = places[-1]
        if place == len(names) - 1:  # as it is in nearly every page
            self._pop()
            return
        if name in _FORMATTING:  # what is in it stays open, and only it is closed
            kept = names[place + 1 :]
        elif place < self._stops[-1][name in _SPECIAL]:
            return
        else:
            # Formatting that is in it goes on behind it, in the standard and so here.
            kept = [each for each in names[place:] if each in _FORMATTING]
        while len(names) > place:
            self._pop()
        for each in kept:
            self.open(each)


def _long_tags(html: bytes) -> list[tuple[int, int]]:
    """Returns where tags go on with thousands of attributes, behind the first of them."""
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
        # A long attribute is no trouble (images are put into pages so); many attributes are.
        if len(html[start:end].split()) > _MANY_ATTRIBUTES:
            space = html.rfind(b" ", start, start + _LONG_TAG_BYTES)
            cuts.append((max(space, start + 1), end))
        place = end + 1
    return cuts
