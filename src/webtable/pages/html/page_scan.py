"""One pass over the bytes of a page: counts of its elements, places in it, and its visible text.

Tags end a word. The content of `script`, `style`, `template` and similar elements is not visible.
On-disk: words and fingerprints are stored, so a change of these rules needs a new version of
`webtable.pages.body_facts`.

Cython compiles this file to machine code where possible, with the C types and the inner loops of
`_page_scan.pxd`; import it from `parser`. Both forms do the same; a property test compares them.
The time is linear in the size of the page, whatever it contains.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from webtable import compiled

# Each form uses the same form of `text_fingerprint`.
COMPILED = not __file__.endswith((".py", ".pyc"))
"""Whether this is machine code."""

if TYPE_CHECKING or not COMPILED:
    from webtable.pages.html import text_fingerprint
else:
    text_fingerprint = compiled.load("webtable.pages.html", "text_fingerprint")
    if not text_fingerprint.COMPILED:
        raise ImportError("it works with text fingerprints in their compiled form only")

__all__ = ["COMPILED", "MAX_HEADING_SPANS", "MAX_SPANS", "SECTIONS", "PageScan"]

# In the compiled form this is a C variable, and its branches call C of `_page_scan.pxd`.
_compiled = COMPILED

MAX_SPANS = 32
"""How many blocks of JSON-LD, and how many item types, are found in a page."""
MAX_HEADING_SPANS = 200
"""How many headings are found in a page."""
SECTIONS = ("other", "nav", "header", "main", "footer", "aside")
"""The sections of a page where links are counted: the nearest one around a link."""
_MAX_SECTIONS = 64
_LESS, _GREATER, _SLASH, _EQUALS, _BANG, _QUESTION = b"<>/=!?"
_DOUBLE_QUOTE, _SINGLE_QUOTE = b"\"'"


def _packed_name(name: bytes) -> int:
    return int.from_bytes(name, "big")


# Names of at most eight letters are compared as numbers.
_A, _AREA, _IMG, _SCRIPT, _STYLE, _LINK = map(
    _packed_name, (b"a", b"area", b"img", b"script", b"style", b"link")
)
_NAV, _HEADER, _MAIN, _FOOTER, _ASIDE = map(
    _packed_name, (b"nav", b"header", b"main", b"footer", b"aside")
)
_HREF, _ALT, _SRC, _DATA, _POSTER, _SRCSET, _REL, _TYPE, _ITEMTYPE = map(
    _packed_name,
    (b"href", b"alt", b"src", b"data", b"poster", b"srcset", b"rel", b"type", b"itemtype"),
)
_H1, _H6 = map(_packed_name, (b"h1", b"h6"))
# The content of these is skipped up to their end tag.
_TITLE, _TEXTAREA, _IFRAME, _NOEMBED, _NOFRAMES, _XMP, _NOSCRIPT, _TEMPLATE = map(
    _packed_name,
    (b"title", b"textarea", b"iframe", b"noembed", b"noframes", b"xmp", b"noscript", b"template"),
)


class PageScan:
    """The results of one pass over a page.

    Attributes:
        words: how many words its visible text has.
        fingerprint: the simhash of the text; 0 where it is empty.
        links: how many `a` and `area` elements with a href are in each of `SECTIONS`.
        images, images_without_alt: how many `img` elements it has.
        insecure: how many elements load something by `http:`.
        scripts: how many `script` elements it has, without those of JSON-LD.
        styles: how many style sheets it has: `style` elements and links.
        headings: the first headings, as (level, start, stop) in the page.
        json_ld: the first blocks of JSON-LD, as (start, stop) in the page.
        item_types: the first values of `itemtype`, likewise.
    """

    def __init__(self, html: bytes) -> None:
        self._html = html
        self._size = len(html)
        self._text = text_fingerprint.VisibleText()
        self._section = 0
        self._sections: list[int] = []
        self.links = [0] * len(SECTIONS)
        self.images = self.images_without_alt = 0
        self.insecure = self.scripts = self.styles = 0
        self.headings: list[tuple[int, int, int]] = []
        self._level = self._heading = 0
        self.json_ld: list[tuple[int, int]] = []
        self.item_types: list[tuple[int, int]] = []
        self._scan()
        self._end_heading(self._size)
        self.words = self._text.words
        self.fingerprint = self._text.fingerprint()

    def _scan(self) -> None:
        html, size, at = self._html, self._size, 0
        while at < size:
            less = _find(html, _LESS, at, size)
            if less > at:
                self._text.add(html, at, less)
            at = less + 1
            if at >= size:
                return
            mark = html[at]
            if _is_letter(mark):
                at = self._start_tag(at)
            elif mark == _SLASH:
                at = self._end_tag(at + 1)
            elif mark == _BANG:
                if html[at + 1 : at + 3] == b"--":
                    # `<!-->` is a whole comment.
                    at = _behind(html, b"-->", at + 1, size)
                else:
                    at = _find(html, _GREATER, at, size) + 1
            elif mark == _QUESTION:
                at = _find(html, _GREATER, at, size) + 1

    def _end_tag(self, at: int) -> int:
        html, size = self._html, self._size
        stop = _name_stop(html, at, size)
        name = _name(html, at, stop)
        if _H1 <= name <= _H6:
            self._end_heading(at - 2)
        kind = _section_of(name)
        if kind and kind in self._sections:
            while self._sections.pop() != kind:
                pass
            count = len(self._sections)
            self._section = self._sections[count - 1] if count else 0
        return _find(html, _GREATER, stop, size) + 1

    def _start_tag(self, start: int) -> int:
        """Counts an element; returns the place behind its tag, or behind its hidden content."""
        html, size = self._html, self._size
        name_stop = _name_stop(html, start, size)
        at = self._attributes(name_stop)
        if at >= size:
            return size
        at += 1
        name = _name(html, start, name_stop)
        if name in (_A, _AREA):
            if self._has_href:
                self.links[self._section] += 1
        elif name == _IMG:
            self.images += 1
            self.images_without_alt += not self._has_alt
        elif name == _LINK:
            if b"stylesheet" in html[self._rel_start : self._rel_stop].lower().split():
                self.styles += 1
                self.insecure += self._is_href_insecure
        elif name == _STYLE:
            self.styles += 1
        elif _H1 <= name <= _H6:
            self._end_heading(start - 1)
            self._level, self._heading = name - _H1 + 1, at
        elif (section := _section_of(name)) and len(self._sections) < _MAX_SECTIONS:
            self._sections.append(section)
            self._section = section
        self.insecure += self._is_insecure
        if name == _SCRIPT:
            return self._script(at, start)
        return _raw_stop(html, at, start, name_stop) if _is_hidden(name) else at

    def _end_heading(self, stop: int) -> None:
        if self._level and len(self.headings) < MAX_HEADING_SPANS:
            self.headings.append((self._level, self._heading, stop))
        self._level = 0

    def _attributes(self, at: int) -> int:
        """Reads the attributes of a tag; returns the place of its end."""
        html, size = self._html, self._size
        self._has_href = self._has_alt = self._is_insecure = self._is_href_insecure = False
        self._rel_start = self._rel_stop = self._type_start = self._type_stop = 0
        while True:
            at = _attribute_start(html, at, size)
            if at >= size or html[at] == _GREATER:
                return at
            begin = at
            at = _attribute_stop(html, begin, size)
            key = _name(html, begin, at)
            value = stop = at
            equals = _white_stop(html, at, size)
            if equals < size and html[equals] == _EQUALS:
                value = _white_stop(html, equals + 1, size)
                quote = html[value] if value < size else 0
                if quote in (_DOUBLE_QUOTE, _SINGLE_QUOTE):
                    value += 1
                    stop = _find(html, quote, value, size)
                    at = stop + 1
                else:
                    stop = at = _value_stop(html, value, size)
            self._attribute(key, value, stop)

    def _attribute(self, key: int, value: int, stop: int) -> None:
        if key == _HREF:
            self._has_href = True
            self._is_href_insecure = _is_insecure(self._html, value, stop)
        elif key == _ALT:
            self._has_alt = True
        elif key in (_SRC, _DATA, _POSTER, _SRCSET):
            self._is_insecure = self._is_insecure or _is_insecure(self._html, value, stop)
        elif key == _REL:
            self._rel_start, self._rel_stop = value, stop
        elif key == _TYPE:
            self._type_start, self._type_stop = value, stop
        elif key == _ITEMTYPE and len(self.item_types) < MAX_SPANS:
            self.item_types.append((value, stop))

    def _script(self, at: int, name: int) -> int:
        stop = _raw_stop(self._html, at, name, name + len(b"script"))
        media_type = self._html[self._type_start : self._type_stop]
        if media_type and media_type.strip().lower() == b"application/ld+json":
            if len(self.json_ld) < MAX_SPANS:
                self.json_ld.append((at, stop))
        else:
            self.scripts += 1
        return stop


def _section_of(name: int) -> int:
    if name == _NAV:
        return 1
    if name == _HEADER:
        return 2
    if name == _MAIN:
        return 3
    if name == _FOOTER:
        return 4
    return 5 if name == _ASIDE else 0


def _is_hidden(name: int) -> bool:
    if name in (_STYLE, _TITLE, _TEXTAREA, _IFRAME):
        return True
    return name in (_NOEMBED, _NOFRAMES, _XMP, _NOSCRIPT, _TEMPLATE)


# Places in the page. The rules are those of the HTML standard's tokenizer.

_NAME_STOP = re.compile(rb"[\t\n\f\r />]")
_ATTRIBUTE_STOP = re.compile(rb"[\t\n\f\r />=]")
_ATTRIBUTE_START = re.compile(rb"[^\t\n\f\r /]")
_WHITE_STOP = re.compile(rb"[^\t\n\f\r ]")
_VALUE_STOP = re.compile(rb"[\t\n\f\r >]")
_INSECURE = re.compile(rb"[\t\n\f\r ]*http:", re.IGNORECASE)


def _find(html: bytes, byte: int, start: int, size: int) -> int:
    """Returns the next place of a byte; the size of the page where it does not follow."""
    if _compiled:
        return find_byte(html, byte, start, size)  # type: ignore[name-defined, no-any-return]  # noqa: F821
    at = html.find(byte, start)
    return size if at < 0 else at


def _behind(html: bytes, mark: bytes, start: int, size: int) -> int:
    at = html.find(mark, start)
    return size if at < 0 else at + len(mark)


def _is_letter(byte: int) -> bool:
    return 97 <= byte | 32 <= 122


def _name(html: bytes, start: int, stop: int) -> int:
    """Returns a name of at most eight bytes as a number, in lower case; 0 for a longer name."""
    if _compiled:
        return packed(html, start, stop)  # type: ignore[name-defined, no-any-return]  # noqa: F821
    return _packed_name(html[start:stop].lower()) if stop - start <= 8 else 0


def _name_stop(html: bytes, start: int, size: int) -> int:
    if _compiled:
        return stop_of(html, start, size, 1)  # type: ignore[name-defined, no-any-return]  # noqa: F821
    return _match(_NAME_STOP, html, start, size)


def _attribute_start(html: bytes, start: int, size: int) -> int:
    if _compiled:
        return stop_of(html, start, size, 2)  # type: ignore[name-defined, no-any-return]  # noqa: F821
    return _match(_ATTRIBUTE_START, html, start, size)


def _attribute_stop(html: bytes, start: int, size: int) -> int:
    # An equals sign at the start belongs to the name.
    if _compiled:
        return stop_of(html, start + 1, size, 4)  # type: ignore[name-defined, no-any-return]  # noqa: F821
    return _match(_ATTRIBUTE_STOP, html, start + 1, size)


def _white_stop(html: bytes, start: int, size: int) -> int:
    if _compiled:
        return stop_of(html, start, size, 8)  # type: ignore[name-defined, no-any-return]  # noqa: F821
    return _match(_WHITE_STOP, html, start, size)


def _value_stop(html: bytes, start: int, size: int) -> int:
    if _compiled:
        return stop_of(html, start, size, 16)  # type: ignore[name-defined, no-any-return]  # noqa: F821
    return _match(_VALUE_STOP, html, start, size)


def _match(pattern: re.Pattern[bytes], html: bytes, start: int, size: int) -> int:
    found = pattern.search(html, start)
    return size if found is None else found.start()


def _is_insecure(html: bytes, start: int, stop: int) -> bool:
    if _compiled:
        return is_insecure_at(html, start, stop)  # type: ignore[name-defined, no-any-return]  # noqa: F821
    return _INSECURE.match(html, start, stop) is not None


def _raw_stop(html: bytes, at: int, name: int, name_stop: int) -> int:
    """Returns the place of the end tag of the element whose name is at a place."""
    if _compiled:
        return raw_stop(html, at, name, name_stop)  # type: ignore[name-defined, no-any-return]  # noqa: F821
    found = re.compile(b"</" + re.escape(html[name:name_stop]), re.IGNORECASE).search(html, at)
    return len(html) if found is None else found.start()
