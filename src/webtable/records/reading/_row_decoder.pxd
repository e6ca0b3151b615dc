# C types for row_decoder.py, for the form of it that Cython compiles; see docs/develop/compiled.md.
cimport cython
from libc.string cimport memcpy

cdef bint _compiled
cdef unsigned long long _all_bits
cdef int _unsigned, _signed, _text, _bytes, _false_or_true, _double

cdef class RowPlan:
    cdef public object make, fill
    cdef public str table
    cdef public Py_ssize_t skip, keys, required
    cdef public list names, codecs, template
    cdef public bytes kinds, widths, marker
    cdef public dict places

@cython.locals(
    places=dict, template=list, marker=bytes, kinds=bytes, widths=bytes, codecs=list, skip=cython.Py_ssize_t,
    required=cython.Py_ssize_t, keys=cython.Py_ssize_t, names=list, records=list, field=cython.Py_ssize_t, key=bytes,
    values=list, found=cython.Py_ssize_t, missing=cython.Py_ssize_t, cell=tuple, column=bytes, value=bytes,
    at=cython.Py_ssize_t, size=cython.Py_ssize_t, expected=cython.Py_ssize_t, cells=object,
)
cpdef list decode_rows(RowPlan plan, object rows)

@cython.locals(places=dict, marker=bytes, found=list, cell=tuple)
cpdef list decode_keys(RowPlan plan, object rows)

@cython.locals(values=list, at=cython.Py_ssize_t, size=cython.Py_ssize_t, field=cython.Py_ssize_t)
cpdef tuple decode_key(RowPlan plan, bytes key)

@cython.locals(width=cython.Py_ssize_t, end=cython.Py_ssize_t, after=cython.Py_ssize_t, part=bytes, is_escaped=cython.bint)
cdef Py_ssize_t _decode_part(RowPlan plan, list values, Py_ssize_t field, bytes key, Py_ssize_t at, Py_ssize_t size) except -1

cdef object _decode(int kind, Py_ssize_t width, bytes stored, Py_ssize_t at, Py_ssize_t end, object codec)

@cython.locals(signed=cython.longlong, unsigned=cython.ulonglong, place=cython.Py_ssize_t)
cdef object _integer(bint is_signed, bytes stored, Py_ssize_t at, Py_ssize_t end)

@cython.locals(bits=cython.ulonglong, place=cython.Py_ssize_t, number=cython.double)
cdef object _number(bytes stored, Py_ssize_t at)

cdef inline double _as_double(unsigned long long bits) noexcept:
    cdef double number
    memcpy(&number, &bits, sizeof(number))
    return number
