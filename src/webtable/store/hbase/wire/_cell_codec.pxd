# C types for cell_codec.py, for the form of it that Cython compiles; see docs/develop/compiled.md.
# Sizes are 64 bits wide everywhere, so that no sum of sizes from the wire can overflow.
cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.ref cimport Py_INCREF, PyObject
from libc.string cimport memcmp

cdef extern from "Python.h":
    ctypedef struct PyMemberDef:
        Py_ssize_t offset
    ctypedef struct PyMemberDescrObject:
        PyMemberDef* d_member
    ctypedef struct PyTypeObject:
        object (*tp_alloc)(PyTypeObject*, Py_ssize_t)

cdef Py_ssize_t _key_offset
cdef Py_ssize_t _stored_offset
cdef Py_ssize_t _newest_offset

cdef inline Py_ssize_t c_offset(object slot):
    return (<PyMemberDescrObject*> slot).d_member.offset

cdef inline void c_fill(object row, Py_ssize_t offset, object value) noexcept:
    Py_INCREF(value)
    (<PyObject**> (<char*> <PyObject*> row + offset))[0] = <PyObject*> value

cdef inline object c_stored_row(object kind, bytes key, bytes stored):
    # The slots of a new row are empty, and where they are was looked up once.
    row = (<PyTypeObject*> kind).tp_alloc(<PyTypeObject*> kind, 0)
    c_fill(row, _key_offset, key)
    c_fill(row, _stored_offset, stored)
    c_fill(row, _newest_offset, None)
    return row

cdef inline bytes c_recent(list recent, long long number, const unsigned char* block, long long at, long long end):
    cdef tuple both = <tuple> recent[number & 63]
    cdef bytes wire = <bytes> both[0]
    if PyBytes_GET_SIZE(wire) == end - at and memcmp(PyBytes_AS_STRING(wire), block + at, end - at) == 0:
        return <bytes> both[1]
    return None

cdef list _recent
cdef bint _compiled
cdef long long LARGE_CELL_BYTES
cdef int _KEPT_COLUMNS
cdef dict _columns
cdef dict _wire_columns

@cython.locals(size=cython.longlong, column=bytes)
cdef bytes _column(bytes wire, long long number)
cpdef bytes wire_column(object column)

@cython.locals(first=cython.ulonglong)
cdef unsigned long long _u32(const unsigned char* block, long long at) noexcept
@cython.locals(high=cython.ulonglong)
cdef unsigned long long _u64(const unsigned char* block, long long at) noexcept

cpdef tuple cut_row(bytes block, long long at, long long count)
cpdef list cut_rows(bytes block, long long at, object counts)

cdef class Rows:
    cdef bytes _block
    cdef long long _at
    cdef list _ends
    cdef list _counts
    cdef long long _next

    cpdef bytes last_key(self)
    cpdef list take(self, long long most)
    cpdef take_last(self)
    cdef long long _last_at(self)
    @cython.locals(at=cython.longlong, count=cython.longlong, end=cython.longlong, ends=list, kept=list)
    cdef _check(self, const unsigned char* block, long long limit, object counts)
    @cython.locals(rows=list, at=cython.longlong, end=cython.longlong, number=cython.longlong, ends=list, counts=list)
    cdef list _make(self, const unsigned char* block, long long stop)

@cython.locals(key_at=cython.longlong)
cdef bytes _key(const unsigned char* block, long long at)
@cython.locals(key=bytes)
cdef object _row(const unsigned char* block, long long at, long long end, long long count)

@cython.locals(
    last=cython.longlong, row_size=cython.longlong, column_at=cython.longlong, least_size=cython.longlong,
    own_row_size=cython.longlong, size=cython.longlong, key_size=cython.longlong, value_size=cython.longlong,
    after=cython.longlong, compiled=cython.bint,
)
cdef long long _end_of(const unsigned char* block, long long at, long long count, long long limit) except? -2

@cython.locals(
    compiled=cython.bint, column_at=cython.longlong, size=cython.longlong, key_size=cython.longlong, after=cython.longlong,
    stamp_at=cython.longlong, timestamp=cython.ulonglong, kind=cython.uchar, cells=list, columns=dict, column=bytes, number=cython.longlong,
)
cdef list _read_cells(const unsigned char* block, long long at, long long end)

@cython.locals(
    compiled=cython.bint, column_at=cython.longlong, size=cython.longlong, key_size=cython.longlong, after=cython.longlong,
    stamp_at=cython.longlong, newest=dict, columns=dict, column=bytes, number=cython.longlong,
)
cdef dict _read_values(const unsigned char* block, long long at, long long end)

@cython.locals(row_size=cython.longlong, total=cython.longlong, key_size=cython.longlong, value_size=cython.longlong, size=cython.longlong, wire=bytes, columns=dict)
cpdef encode_cells(list parts, bytes row, object values, object timestamp)
