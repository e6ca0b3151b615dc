# C types and inner loops for the compiled form of page_scan.py; see docs/develop/compiled.md.
# They follow the regular expressions of page_scan.py exactly: tests/pages/html/test_page_scan.py compares both forms.
cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memchr, memset

cdef bint _compiled
cdef int _MAX_SECTIONS
cdef int MAX_SPANS, MAX_HEADING_SPANS
cdef int _LESS, _GREATER, _SLASH, _EQUALS, _BANG, _QUESTION, _DOUBLE_QUOTE, _SINGLE_QUOTE
cdef uint64_t _A, _AREA, _IMG, _SCRIPT, _STYLE, _LINK, _NAV, _HEADER, _MAIN, _FOOTER, _ASIDE
cdef uint64_t _HREF, _ALT, _SRC, _DATA, _POSTER, _SRCSET, _REL, _TYPE, _ITEMTYPE, _H1, _H6
cdef uint64_t _TITLE, _TEXTAREA, _IFRAME, _NOEMBED, _NOFRAMES, _XMP, _NOSCRIPT, _TEMPLATE

cdef class VisibleText:
    cdef public Py_ssize_t words
    cdef uint64_t before, last
    cdef list _features
    cdef object _before, _last
    cdef uint64_t features[8]  # that are not added to the planes yet
    cdef int waiting
    cdef uint64_t planes[26]  # bit n of all planes together is how often bit n is set in a feature
    cdef void add(self, bytes html, Py_ssize_t start, Py_ssize_t stop)
    cpdef object fingerprint(self)

cdef class PageScan:
    cdef bytes _html
    cdef Py_ssize_t _size
    cdef VisibleText _text
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

# Words

cdef inline int clear(VisibleText text) noexcept:
    text.words = 0
    text.before = text.last = 0
    text.waiting = 0
    memset(text.planes, 0, sizeof(text.planes))
    return 0

cdef inline void add_carry(VisibleText text, uint64_t carry, int place) noexcept:
    cdef uint64_t plane
    while carry and place < 26:
        plane = text.planes[place]
        text.planes[place] = plane ^ carry
        carry &= plane
        place += 1

# A full adder of 64 columns at once: `low` becomes the sum of three bits, and the result is what is carried.
cdef inline uint64_t carried(uint64_t* low, uint64_t one, uint64_t other) noexcept:
    cdef uint64_t both = low[0] ^ one
    cdef uint64_t carry = (low[0] & one) | (both & other)
    low[0] = both ^ other
    return carry

# Adds eight features with few steps and no branches: one after the other takes three times as long.
cdef inline void add_waiting(VisibleText text) noexcept:
    cdef uint64_t* each = text.features
    cdef uint64_t twos, fours
    twos = carried(&text.planes[0], each[0], each[1])
    fours = carried(&text.planes[1], twos, carried(&text.planes[0], each[2], each[3]))
    twos = carried(&text.planes[0], each[4], each[5])
    twos = carried(&text.planes[1], twos, carried(&text.planes[0], each[6], each[7]))
    add_carry(text, carried(&text.planes[2], fours, twos), 3)
    text.waiting = 0

cdef inline uint64_t mixed(uint64_t number, uint64_t chunk) noexcept:
    number = (number ^ chunk) * 0x9E3779B97F4A7C15ULL
    return number ^ number >> 32

cdef inline void end_word(VisibleText text, uint64_t number, uint64_t chunk) noexcept:
    number = mixed(number, chunk) * 0xBF58476D1CE4E5B9ULL
    number ^= number >> 29
    if number == 0:
        number = 1
    text.words += 1
    if text.words > 2:
        text.features[text.waiting] = 5 * text.before + 3 * text.last + number
        text.waiting += 1
        if text.waiting == 8:
            add_waiting(text)
    text.before = text.last
    text.last = number

# A reference such as `&nbsp;`: 1 where it is white space, 2 where it is a sign; `length` is that of the whole reference.
cdef inline int reference(const uint8_t* first, Py_ssize_t size, Py_ssize_t* length) noexcept:
    cdef uint64_t number = 0
    cdef Py_ssize_t at = 0
    while at < size and at < 7 and first[at] != 59:
        number = number << 8 | first[at]
        at += 1
    if at >= size or first[at] != 59:
        return 0
    length[0] = at + 2
    if (
        number == 0x6E627370 or number == 0x656E7370 or number == 0x656D7370 or number == 0x7468696E7370
        or number == 0x23313630 or number == 0x23786130 or number == 0x23784130
    ):
        return 1
    if (
        number == 0x616D70 or number == 0x6C74 or number == 0x6774 or number == 0x71756F74 or number == 0x61706F73
        or number == 0x233334 or number == 0x233338 or number == 0x233339 or number == 0x23303339 or number == 0x233630
        or number == 0x233632 or number == 0x23783237 or number == 0x23783232 or number == 0x6E64617368 or number == 0x6D64617368
        or number == 0x68656C6C6970 or number == 0x6C7371756F or number == 0x727371756F or number == 0x6C6471756F
        or number == 0x726471756F or number == 0x6C6171756F or number == 0x726171756F or number == 0x6D6964646F74
        or number == 0x62756C6C or number == 0x636F7079 or number == 0x726567 or number == 0x7472616465 or number == 0x74696D6573
        or number == 0x72617272 or number == 0x6C617272 or number == 0x2338323131 or number == 0x2338323132
        or number == 0x2338323136 or number == 0x2338323137 or number == 0x2338323230 or number == 0x2338323231
        or number == 0x2338323236 or number == 0x2338323330 or number == 0x23313837 or number == 0x23313731
        or number == 0x23313639 or number == 0x2338353934
    ):
        return 2
    length[0] = 1
    return 0

cdef inline bint is_tail(uint8_t byte) noexcept:
    return 0x80 <= byte <= 0xBF

# A character that is not ASCII: 0 a part of a word, 1 white space, 2 a sign, 3 a word of its own; `length` in bytes.
cdef inline int character(const uint8_t* first, Py_ssize_t size, Py_ssize_t* length) noexcept:
    cdef uint8_t lead = first[0], second, third
    length[0] = 1
    if lead < 0xC2 or size < 2:
        return 0
    second = first[1]
    if lead == 0xC2:
        if not is_tail(second):
            return 0
        length[0] = 2
        return 1 if second == 0x85 or second == 0xA0 else 2
    if size < 3 or lead < 0xE2 or not is_tail(second):
        return 0
    third = first[2]
    if not is_tail(third):
        return 0
    length[0] = 3
    if lead == 0xE2:
        if second == 0x80:
            return 1 if third <= 0x8A or third == 0xA8 or third == 0xA9 or third == 0xAF else 2
        if second == 0x81:
            return 1 if third == 0x9F else 2
    elif lead == 0xE3:
        if second == 0x80:
            return 1 if third == 0x80 else 2
        if second <= 0x83 or second >= 0x90:
            return 3
    elif lead <= 0xE9:
        return 3
    elif lead == 0xEF:
        if 0xA4 <= second <= 0xAB:
            return 3
    elif lead == 0xF0 and second >= 0xA0 and size >= 4 and is_tail(first[3]):
        length[0] = 4
        return 3
    length[0] = 1
    return 0

# Of ASCII: the byte in lower case where it is a letter or a digit, 1 for white space, 2 for `&`, 0 for other signs; 3 for other bytes.
cdef uint8_t[256] CLASSES

cdef inline int fill_classes() noexcept:
    cdef int byte
    for byte in range(256):
        CLASSES[byte] = 3 if byte >= 128 else 0
        if 97 <= byte <= 122 or 48 <= byte <= 57:
            CLASSES[byte] = <uint8_t> byte
        elif 65 <= byte <= 90:
            CLASSES[byte] = <uint8_t> (byte + 32)
        elif byte == 32 or 9 <= byte <= 13:
            CLASSES[byte] = 1
    CLASSES[38] = 2
    return 0

cdef inline int add_text(VisibleText text, bytes html, Py_ssize_t start, Py_ssize_t stop) noexcept:
    cdef const uint8_t* first = <const uint8_t*> PyBytes_AS_STRING(html)
    cdef uint64_t number = 0, chunk = 0
    cdef int filled = 0  # bits of `chunk`; the length of a word is a part of its last chunk
    cdef Py_ssize_t at = start, length = 0, each
    cdef uint8_t kind
    while at < stop:
        kind = CLASSES[first[at]]
        if kind > 3:
            if filled == 64:
                number = mixed(number, chunk)
                chunk = 0
                filled = 0
            chunk |= <uint64_t> kind << filled
            filled += 8
            at += 1
            continue
        length = 1
        if kind == 2:
            kind = reference(first + at + 1, stop - at - 1, &length)
        elif kind == 3:
            kind = character(first + at, stop - at, &length)
            if kind == 0 or kind == 3:
                if kind == 3 and filled:
                    end_word(text, number, chunk)
                    number = chunk = 0
                    filled = 0
                for each in range(length):
                    if filled == 64:
                        number = mixed(number, chunk)
                        chunk = 0
                        filled = 0
                    chunk |= <uint64_t> first[at + each] << filled
                    filled += 8
                kind = 1 if kind == 3 else 0
        at += length
        if kind == 1 and filled:
            end_word(text, number, chunk)
            number = chunk = 0
            filled = 0
    if filled:
        end_word(text, number, chunk)
    return 0

cdef inline object simhash(VisibleText text):
    cdef uint64_t result = 0
    cdef Py_ssize_t count = text.words - 2, ones
    cdef int bit, place
    if text.words < 3:
        return 3 * text.before + text.last
    for place in range(text.waiting):
        add_carry(text, text.features[place], 0)
    text.waiting = 0
    for bit in range(64):
        ones = 0
        for place in range(26):
            ones |= <Py_ssize_t> (text.planes[place] >> bit & 1) << place
        if 2 * ones > count:
            result |= <uint64_t> 1 << bit
    return result
