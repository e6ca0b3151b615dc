# C types for lines.py, for the form of it that Cython compiles; see docs/develop/compiled.md.
cimport cython

cdef bint _compiled
cdef unsigned char _TAB, _LINE, _SLASH

@cython.locals(
    states=dict, data=bytes, size=cython.Py_ssize_t, start=cython.Py_ssize_t, end=cython.Py_ssize_t, tab=cython.Py_ssize_t,
    slash=cython.Py_ssize_t, last=bytes, origin=bytes, name=bytes, uri=bytes, url=bytes, words=bytes, known=object,
)
cpdef dict live_values(str text)

cdef Py_ssize_t _find(bytes data, unsigned char byte, Py_ssize_t start, Py_ssize_t end) except -1
