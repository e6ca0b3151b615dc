# C types and loops for the compiled form of tag_depth.py; see docs/develop/compiled.md.
# They follow tag_depth.py and depth_limit.py exactly: tests/pages/html/test_tag_depth.py compares them.
cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memchr

cdef bint _compiled

# A name of at most sixteen bytes, in lower case, as two numbers: the last eight bytes, and those before them.
cdef struct Name:
    uint64_t high
    uint64_t low
    Py_ssize_t start  # its place in the page
    Py_ssize_t length

# The kinds of elements: bits, in the order of `name_elements`.
cdef enum:
    NOT_NESTING = 1
    FORMATTING = 2
    WITH_TEXT = 4
    SPECIAL = 8
    MARKER = 16
    FOREIGN = 32
    NOT_FOREIGN = 64

# The names of the elements, by a hash.
cdef uint64_t[256] HIGHS
cdef uint64_t[256] LOWS
cdef uint8_t[256] KINDS

cdef inline int place_of(uint64_t high, uint64_t low) noexcept:
    cdef int place = <int> ((low + 31 * high) * 0x9E3779B97F4A7C15ULL >> 56)
    while LOWS[place] and not (LOWS[place] == low and HIGHS[place] == high):
        place = place + 1 & 255
    return place

cdef inline int add_name(bytes name, int kind) noexcept:
    cdef Name found
    cdef int place
    read_name(<const uint8_t*> PyBytes_AS_STRING(name), 0, PyBytes_GET_SIZE(name), &found)
    place = place_of(found.high, found.low)
    HIGHS[place] = found.high
    LOWS[place] = found.low
    KINDS[place] |= <uint8_t> kind
    return 0

cdef inline bint is_space(uint8_t byte) noexcept:
    return byte == 32 or 9 <= byte <= 13

cdef inline uint8_t lower(uint8_t byte) noexcept:
    return byte | 32 if 65 <= byte <= 90 else byte

cdef inline bint is_letter(uint8_t byte) noexcept:
    return 97 <= (byte | 32) <= 122

cdef inline Py_ssize_t find(const uint8_t* first, uint8_t byte, Py_ssize_t at, Py_ssize_t size) noexcept:
    cdef const uint8_t* found
    if at >= size:
        return size
    found = <const uint8_t*> memchr(first + at, byte, size - at)
    return size if found is NULL else found - first

cdef inline bint are_same(const uint8_t* first, Py_ssize_t one, Py_ssize_t other, Py_ssize_t length) noexcept:
    cdef Py_ssize_t place
    for place in range(length):
        if lower(first[one + place]) != lower(first[other + place]):
            return False
    return True

# Reads a name up to white space, `/` or `>`, or its first 32 bytes; returns the place behind it.
cdef inline Py_ssize_t read_name(const uint8_t* first, Py_ssize_t at, Py_ssize_t size, Name* name) noexcept:
    name.start = at
    name.high = name.low = 0
    while at < size and at - name.start < 32 and not is_space(first[at]) and first[at] != 47 and first[at] != 62:
        name.high = name.high << 8 | name.low >> 56
        name.low = name.low << 8 | lower(first[at])
        at += 1
    name.length = at - name.start
    return at

cdef inline int kind_of(Name* name) noexcept:
    return KINDS[place_of(name.high, name.low)] if name.length <= 16 else 0

cdef inline tuple counted(bytes html):
    cdef const uint8_t* first = <const uint8_t*> PyBytes_AS_STRING(html)
    cdef Py_ssize_t size = PyBytes_GET_SIZE(html), at = 0, start, stop
    cdef Py_ssize_t tags = 0, ends = 0, roots = 0, formatting = 0
    cdef bint is_end
    cdef Name name
    while True:
        at = find(first, 60, at, size) + 1
        if at > size:
            return tags, ends, roots, formatting
        tags += 1
        is_end = at < size and first[at] == 47
        ends += is_end
        start = at + is_end
        stop = read_name(first, start, size, &name)
        # These names have at most six letters.
        if stop == size or stop == start or name.length > 6:
            continue
        if kind_of(&name) & FORMATTING:
            formatting += -1 if is_end else 1
        elif not is_end and (name.low == 0x68746D6C or name.low == 0x626F6479) and first[stop] != 62:
            roots += 1

# Whether the word at a place is the name of an element whose content is text.
cdef inline bint is_with_text(const uint8_t* first, Py_ssize_t at, Py_ssize_t size, Py_ssize_t* length) noexcept:
    cdef uint64_t name = 0
    cdef Py_ssize_t start = at
    while at < size and (is_letter(first[at]) or 48 <= first[at] <= 57 or first[at] == 95):
        name = name << 8 | lower(first[at])
        at += 1
    length[0] = at - start
    return at - start <= 8 and KINDS[place_of(0, name)] & WITH_TEXT

# Returns the place behind the end mark of a comment, or of the end of its text at the name of the end tag.
cdef inline Py_ssize_t behind_comment(const uint8_t* first, Py_ssize_t at, Py_ssize_t size) noexcept:
    while True:
        at = find(first, 62, at, size) + 1
        if at > size:
            return size
        if first[at - 2] == 45 and first[at - 3] == 45:
            return at

cdef inline Py_ssize_t behind_text(
    const uint8_t* first, Py_ssize_t at, Py_ssize_t size, Py_ssize_t name, Py_ssize_t length
) noexcept:
    while True:
        at = find(first, 60, at, size) + 1
        if at + 1 + length > size:
            return size
        if first[at] == 47 and are_same(first, at + 1, name, length):
            return at + 1 + length

# An open element. `special` and `marker` are the last such elements up to it, -1 without one.
cdef struct Element:
    Name name
    int kind
    bint is_foreign
    Py_ssize_t special
    Py_ssize_t marker

cdef struct Stack:
    const uint8_t* first
    Py_ssize_t depth
    Py_ssize_t formatting
    Py_ssize_t links
    Element[1025] elements  # 512, and as many links in foreign content

cdef inline bint is_link(Name* name) noexcept:
    return name.low == 97 and name.high == 0

cdef inline int open_element(Stack* stack, Name name, int kind) noexcept:
    cdef Element* element = &stack.elements[stack.depth]
    cdef Element* before = element - 1
    element.name = name
    element.kind = kind
    element.special = element.marker = -1
    element.is_foreign = kind & FOREIGN != 0
    if stack.depth:
        element.special = before.special
        element.marker = before.marker
        element.is_foreign = element.is_foreign or (before.is_foreign and not kind & NOT_FOREIGN)
    if kind & SPECIAL:
        element.special = stack.depth
        if kind & MARKER:
            element.marker = stack.depth
    stack.depth += 1
    stack.formatting += kind & FORMATTING != 0
    stack.links += is_link(&name)
    return 0

cdef inline int close_element(Stack* stack, Name* name, int kind) noexcept:
    cdef Py_ssize_t depth = stack.depth, place = depth - 1, each
    cdef Element* element
    if kind & FORMATTING and not stack.formatting:
        return 0
    while place >= 0:
        element = &stack.elements[place]
        if element.name.low == name.low and element.name.high == name.high and element.name.length == name.length and (
            name.length <= 16 or are_same(stack.first, element.name.start, name.start, name.length)
        ):
            break
        place -= 1
    if place < 0:
        return 0
    element = &stack.elements[depth - 1]
    if place < depth - 1 and not kind & FORMATTING:
        if place < (element.marker if kind & SPECIAL else element.special):
            return 0
    for each in range(place, depth):
        element = &stack.elements[each]
        stack.formatting -= element.kind & FORMATTING != 0
        stack.links -= is_link(&element.name)
    stack.depth = place
    # Formatting inside the element continues behind it; of formatting everything inside stays open.
    for each in range(place + 1, depth):
        element = &stack.elements[each]
        if kind & FORMATTING or element.kind & FORMATTING:
            open_element(stack, element.name, element.kind)
    return 0

# Whether elements of a name can nest at this place; see `_Stack.nests` of depth_limit.py.
cdef inline bint nests(Stack* stack, Name* name, int kind) noexcept:
    cdef Element* last
    if not kind & NOT_NESTING:
        return True
    if not stack.depth:
        return False
    last = &stack.elements[stack.depth - 1]
    if not last.is_foreign:
        return False
    if kind & NOT_FOREIGN:
        last.is_foreign = False
    return is_link(name)

cdef inline bint is_full(Stack* stack, Name* name, int kind, Py_ssize_t max_depth, Py_ssize_t max_formatting) noexcept:
    if kind & FORMATTING and stack.formatting >= max_formatting:
        return True
    return (stack.links if is_link(name) else stack.depth) >= max_depth

cdef inline bint nests_too_deep(
    bytes html, Py_ssize_t max_depth, Py_ssize_t max_formatting, Py_ssize_t max_tags
) except? True:
    cdef Py_ssize_t size = PyBytes_GET_SIZE(html), at = 0, start, end, length = 0, tags = 0
    cdef const uint8_t* first = <const uint8_t*> PyBytes_AS_STRING(html)
    cdef bint is_end
    cdef Stack stack
    cdef Name name
    cdef int kind
    if max_depth > 512:
        raise ValueError("the stack has room for 512 elements")
    stack.first = first
    stack.depth = stack.formatting = stack.links = 0
    while True:
        start = find(first, 60, at, size) + 1
        if start >= size:
            return tags > max_tags
        at = start
        if first[start] == 33:
            if start + 2 < size and first[start + 1] == 45 and first[start + 2] == 45:
                tags += 1
                # The end mark does not share its dashes with the start mark.
                at = behind_comment(first, start + 5, size)
            continue
        is_end = first[start] == 47
        start += is_end
        if start >= size or not is_letter(first[start]):
            continue
        tags += 1
        if not is_end and is_with_text(first, start, size, &length):
            end = find(first, 62, start + length, size)
            if end < size:
                at = behind_text(first, end + 1, size, start, length)
                continue
        at = find(first, 62, read_name(first, start, size, &name), size) + 1
        kind = kind_of(&name)
        if not nests(&stack, &name, kind):
            continue
        if is_end:
            close_element(&stack, &name, kind)
        elif is_full(&stack, &name, kind, max_depth, max_formatting):
            return True
        else:
            open_element(&stack, name, kind)
