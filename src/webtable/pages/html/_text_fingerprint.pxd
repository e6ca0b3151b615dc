# C types and inner loops for the compiled form of text_fingerprint.py; see docs/develop/compiled.md.
# They follow text_fingerprint.py exactly: tests/pages/html/test_page_scan.py compares both forms.
from cpython.bytes cimport PyBytes_AS_STRING
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset

cdef bint _compiled

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
            while kind > 3:
                chunk |= <uint64_t> kind << filled
                filled += 8
                at += 1
                if filled == 64 or at == stop:
                    break
                kind = CLASSES[first[at]]
            continue
        if kind == 1:
            if filled:
                end_word(text, number, chunk)
                number = chunk = 0
                filled = 0
            at += 1
            while at < stop and CLASSES[first[at]] == 1:
                at += 1
            continue
        if kind == 0:
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
