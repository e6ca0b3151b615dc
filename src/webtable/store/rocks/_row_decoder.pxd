# C types for row_decoder.py, for the form of it that Cython compiles; see docs/develop/compiled.md.
cimport cython

cdef long long _SKIP_LIMIT, _PIECE_BYTES, _CELL_BYTES
cdef int _TAGGED, _PUT_BYTE
cdef bytes _EMPTY_QUALIFIER, _NO_COLUMN

@cython.locals(qualifier=bytes, target=bytes, key=bytes, end=cython.Py_ssize_t)
cpdef list read_newest(object family, tuple wanted, object seeker, bytes prefix)

@cython.locals(
    low=bytes, high=bytes, most=cython.longlong, cells=list, columns=dict, start=cython.Py_ssize_t, end=cython.Py_ssize_t,
    previous=bytes, skipped=cython.longlong, key=bytes, qualifier=bytes,
)
cpdef list read_piece(object family, object seeker, bytes prefix, object piece)

@cython.locals(cells=list, key=bytes, qualifier=bytes, target=bytes, stored=bytes, suffix=bytes)
cpdef list read_columns(object read, object view, object seeker, bytes prefix)

@cython.locals(target=bytes, key=bytes, suffix=bytes)
cdef tuple _family_markers(object read, object view, object seeker, bytes prefix, list cells)
cdef tuple _decode(bytes suffix, bytes stored)

cdef class RowCutter:
    cdef object _family, _matcher, _source, _timestamp, _wanted
    cdef dict _columns
    cdef bint _may_seek, _is_simple, _is_plain
    cdef long long _size, _skipped
    cdef int _kind
    cdef bytes _prefix, _previous, _suffix
    cdef list _cells, _earlier, _named
    cdef readonly bytes last, qualifier
    cdef readonly bint is_over, needs_seek, has_jumped

    cpdef go_on(self, entries)

    @cython.locals(rows=list, key=bytes, prefix=bytes, cells=list)
    cpdef list take_rows(self, long long most)

    @cython.locals(
        rows=list, columns=dict, prefix=bytes, size=cython.Py_ssize_t, skipped=cython.longlong, previous=bytes, suffix=bytes,
        is_plain=cython.bint, kind=cython.int, cells=list, earlier=list, named=list, key=bytes, qualifier=bytes, expected=bytes,
        at=cython.Py_ssize_t, total=cython.longlong, is_full=cython.bint, is_seen=cython.bint, stored=bytes, room=cython.Py_ssize_t,
    )
    cpdef list take(self, long long most)

    cdef bint _ask(self, list cells, bytes qualifier, object timestamp, int kind, bytes stored) except -1
    cdef bint _can_skip(self, bytes qualifier, bint is_plain) except -1
