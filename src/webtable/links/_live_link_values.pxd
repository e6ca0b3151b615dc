# C types for the compiled form of live_link_values.py; see docs/develop/compiled.md.
cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.string cimport memchr, memcmp, memcpy

cdef bint _compiled
cdef unsigned char _TAB, _LINE, _PLUS, _SLASH

@cython.locals(
    states=dict, data=bytes, size=cython.Py_ssize_t, start=cython.Py_ssize_t, end=cython.Py_ssize_t, tab=cython.Py_ssize_t,
    slash=cython.Py_ssize_t, begin=cython.Py_ssize_t, stop=cython.Py_ssize_t, origin=bytes, name=bytes, uri=bytes, value=bytes,
    text_start=cython.Py_ssize_t, earlier=bytes,
)
cpdef dict live_values(str text)

cdef Py_ssize_t _find(bytes data, unsigned char byte, Py_ssize_t start, Py_ssize_t end) except -1
cdef bint _is_same(bytes data, Py_ssize_t one, Py_ssize_t other, Py_ssize_t size) except -1
cdef bytes _joined(bytes value, unsigned char sign, bytes data, Py_ssize_t start, Py_ssize_t end)

cdef inline bint are_same(bytes data, Py_ssize_t one, Py_ssize_t other, Py_ssize_t size):
    cdef const char* first = PyBytes_AS_STRING(data)
    return memcmp(first + one, first + other, size) == 0

cdef inline Py_ssize_t find_byte(bytes data, unsigned char byte, Py_ssize_t start, Py_ssize_t end):
    if start >= end:
        return end
    cdef const char* first = PyBytes_AS_STRING(data)
    cdef const char* found = <const char*> memchr(first + start, byte, end - start)
    return end if found is NULL else found - first

cdef inline bytes join(bytes value, unsigned char sign, bytes data, Py_ssize_t start, Py_ssize_t end):
    cdef Py_ssize_t size = PyBytes_GET_SIZE(value)
    cdef bytes made = PyBytes_FromStringAndSize(NULL, size + 1 + end - start)
    cdef char* to = PyBytes_AS_STRING(made)
    memcpy(to, PyBytes_AS_STRING(value), size)
    to[size] = <char> sign
    memcpy(to + size + 1, PyBytes_AS_STRING(data) + start, end - start)
    return made
