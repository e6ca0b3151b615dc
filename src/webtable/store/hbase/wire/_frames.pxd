# C types for frames.py, for the form of it that Cython compiles; see docs/develop/compiled.md.
# Lengths and positions are 64 bits wide, so that no sum of lengths of four bytes can overflow. A varint
# has up to 63 bits: it is compared with what is left, and added only then.
cimport cython

cdef inline bytes c_varint(unsigned long long number):
    cdef char[10] out
    cdef Py_ssize_t size = 0
    while number >= 0x80:
        out[size] = <char> (number & 0x7F | 0x80)
        number >>= 7
        size += 1
    out[size] = <char> number
    return out[: size + 1]

cdef bint _compiled
cdef long long MAX_RESPONSE_BYTES
cdef long long _MOST_HEAD_BYTES
cdef int _FEW_PARTS
cdef bytes _TEXT
cdef int _MOST_SHIFT
cdef tuple _ONE_BYTE
cdef dict _usual

cdef bytes _usual_head(str method)

@cython.locals(out=bytearray)
cpdef bytes varint(unsigned long long number)

@cython.locals(number=cython.ulonglong, piece=cython.ulonglong, shift=cython.int, size=cython.longlong, byte=cython.uchar)
cpdef tuple read_varint(bytes data, long long at)

@cython.locals(number=bytes, limit=bytes, block=bytes, length=bytes, usual=bytes, head=bytes, head_size=bytes, body_size=bytes, total=cython.longlong)
cpdef bytes request_frame(unsigned long long call_id, str method, bytes body, double timeout, bytes cells)

@cython.locals(head_end=cython.longlong, at=cython.longlong, end=cython.longlong, size=cython.longlong, start=cython.longlong, call_id=cython.ulonglong, length=cython.ulonglong)
cpdef tuple read_head(bytes frame)

cdef class Frames:
    cdef object _server
    cdef bint _is_met
    cdef bytes _rest
    cdef list _parts
    cdef object _buffer
    cdef long long _missing
    cdef readonly long long wanted

    @cython.locals(frames=list, at=cython.longlong, size=cython.longlong, first=cython.longlong, length=cython.longlong, end=cython.longlong)
    cpdef list add(self, bytes data)
    cdef _meet(self, bytes data)
    cdef _miss(self, long long missing)
    cdef _put_by(self)
    cdef bytes _whole(self)
