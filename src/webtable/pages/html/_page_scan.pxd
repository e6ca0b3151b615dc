# C types and inner loops for the compiled form of page_scan.py; see docs/develop/compiled.md.
# They follow the regular expressions of page_scan.py exactly: tests/pages/html/test_page_scan.py compares both forms.
cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memchr
from webtable.pages.html._text_fingerprint cimport VisibleText as _VisibleText

cdef bint _compiled
cdef int _MAX_SECTIONS
cdef int MAX_SPANS, MAX_HEADING_SPANS
cdef int _LESS, _GREATER, _SLASH, _EQUALS, _BANG, _QUESTION, _DOUBLE_QUOTE, _SINGLE_QUOTE
cdef uint64_t _A, _AREA, _IMG, _SCRIPT, _STYLE, _LINK, _NAV, _HEADER, _MAIN, _FOOTER, _ASIDE
cdef uint64_t _HREF, _ALT, _SRC, _DATA, _POSTER, _SRCSET, _REL, _TYPE, _ITEMTYPE, _H1, _H6
cdef uint64_t _TITLE, _TEXTAREA, _IFRAME, _NOEMBED, _NOFRAMES, _XMP, _NOSCRIPT, _TEMPLATE

cdef class PageScan:
    cdef bytes _html
    cdef Py_ssize_t _size
    cdef _VisibleText _text
    cdef int _section
    cdef list _sections
    cdef public list links
    cdef public Py_ssize_t images, images_without_alt, insecure, scripts, styles, words
    cdef public list headings, json_ld, item_types
    cdef int _level
    cdef Py_ssize_t _heading
    cdef public object fingerprint

    @cython.locals(html=bytes, size=Py_ssize_t, at=Py_ssize_t, less=Py_ssize_t, mark=uint8_t)
    cdef void _scan(self) except *
    cdef void _end_heading(self, Py_ssize_t stop) except *
    @cython.locals(html=bytes, size=Py_ssize_t, stop=Py_ssize_t, kind=int, name=uint64_t)
    cdef Py_ssize_t _end_tag(self, Py_ssize_t at) except -1
    cdef bint _has_href, _has_alt, _is_insecure, _is_href_insecure
    cdef Py_ssize_t _rel_start, _rel_stop, _type_start, _type_stop
    @cython.locals(html=bytes, size=Py_ssize_t, at=Py_ssize_t, name=uint64_t, name_stop=Py_ssize_t, section=int)
    cdef Py_ssize_t _start_tag(self, Py_ssize_t start) except -1
    @cython.locals(
        html=bytes, size=Py_ssize_t, key=uint64_t, begin=Py_ssize_t, value=Py_ssize_t, stop=Py_ssize_t, equals=Py_ssize_t, quote=uint8_t,
    )
    cdef Py_ssize_t _attributes(self, Py_ssize_t at) except -1
    cdef void _attribute(self, uint64_t key, Py_ssize_t value, Py_ssize_t stop) except *
    @cython.locals(stop=Py_ssize_t, media_type=bytes)
    cdef Py_ssize_t _script(self, Py_ssize_t at, Py_ssize_t name) except -1

cdef int _section_of(uint64_t name) noexcept
cdef bint _is_hidden(uint64_t name) noexcept
cdef Py_ssize_t _find(bytes html, int byte, Py_ssize_t start, Py_ssize_t size) except -1
@cython.locals(at=Py_ssize_t)
cdef Py_ssize_t _behind(bytes html, bytes mark, Py_ssize_t start, Py_ssize_t size) except -1
cdef bint _is_letter(int byte) noexcept
cdef uint64_t _name(bytes html, Py_ssize_t start, Py_ssize_t stop) except? 1
cdef Py_ssize_t _name_stop(bytes html, Py_ssize_t start, Py_ssize_t size) except -1
cdef Py_ssize_t _attribute_start(bytes html, Py_ssize_t start, Py_ssize_t size) except -1
cdef Py_ssize_t _attribute_stop(bytes html, Py_ssize_t start, Py_ssize_t size) except -1
cdef Py_ssize_t _white_stop(bytes html, Py_ssize_t start, Py_ssize_t size) except -1
cdef Py_ssize_t _value_stop(bytes html, Py_ssize_t start, Py_ssize_t size) except -1
cdef bint _is_insecure(bytes html, Py_ssize_t start, Py_ssize_t stop) except -1
cdef Py_ssize_t _raw_stop(bytes html, Py_ssize_t at, Py_ssize_t name, Py_ssize_t name_stop) except -1

cdef inline Py_ssize_t find_byte(bytes html, int byte, Py_ssize_t start, Py_ssize_t size) noexcept:
    if start >= size:
        return size
    cdef const char* first = PyBytes_AS_STRING(html)
    cdef const char* found = <const char*> memchr(first + start, byte, size - start)
    return size if found is NULL else found - first

cdef inline uint8_t lower(uint8_t byte) noexcept:
    return byte | 32 if 65 <= byte <= 90 else byte

cdef inline uint64_t packed(bytes html, Py_ssize_t start, Py_ssize_t stop) noexcept:
    cdef const uint8_t* first = <const uint8_t*> PyBytes_AS_STRING(html)
    cdef uint64_t number = 0
    cdef Py_ssize_t at
    if stop - start > 8:
        return 0
    for at in range(start, stop):
        number = number << 8 | lower(first[at])
    return number

cdef inline bint is_white(uint8_t byte) noexcept:
    return byte == 32 or byte == 9 or byte == 10 or byte == 12 or byte == 13

cdef inline Py_ssize_t stop_of(bytes html, Py_ssize_t start, Py_ssize_t size, int rule) noexcept:
    # 1: the end of a tag's name, 2: the start of an attribute, 4: the end of its name, 8: of white space, 16: of a value
    cdef const uint8_t* first = <const uint8_t*> PyBytes_AS_STRING(html)
    cdef uint8_t byte
    cdef Py_ssize_t at = start
    while at < size:
        byte = first[at]
        if rule == 8:
            if not is_white(byte):
                return at
        elif rule == 2:
            if not (is_white(byte) or byte == 47):
                return at
        elif is_white(byte) or byte == 62 or (byte == 47 and rule != 16) or (byte == 61 and rule == 4):
            return at
        at += 1
    return size

cdef inline bint is_insecure_at(bytes html, Py_ssize_t start, Py_ssize_t stop) noexcept:
    cdef const uint8_t* first = <const uint8_t*> PyBytes_AS_STRING(html)
    while start < stop and is_white(first[start]):
        start += 1
    return (
        stop - start >= 5
        and lower(first[start]) == 104
        and lower(first[start + 1]) == 116
        and lower(first[start + 2]) == 116
        and lower(first[start + 3]) == 112
        and first[start + 4] == 58
    )

cdef inline Py_ssize_t raw_stop(bytes html, Py_ssize_t at, Py_ssize_t name, Py_ssize_t name_stop) noexcept:
    cdef const uint8_t* first = <const uint8_t*> PyBytes_AS_STRING(html)
    cdef Py_ssize_t size = PyBytes_GET_SIZE(html), length = name_stop - name, place
    while True:
        at = find_byte(html, 60, at, size)
        if at + 2 + length > size:
            return size
        if first[at + 1] == 47:
            place = 0
            while place < length and lower(first[at + 2 + place]) == lower(first[name + place]):
                place += 1
            if place == length:
                return at
        at += 1
