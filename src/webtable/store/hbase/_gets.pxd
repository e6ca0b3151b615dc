# C types for gets.py, for the form of it that Cython compiles; see docs/develop/compiled.md.
cimport cython

cdef int CALLS_UNDER_WAY
cdef int MOST_TOGETHER
cdef double TOGETHER_BYTES
cdef double SLOW_SECONDS
cdef int SLOW_CALLS
cdef double OVERDUE_SECONDS
cdef double FIRST_PAUSE_SECONDS
cdef double LAST_PAUSE_SECONDS

cdef class Gets:
    cdef public double slow_seconds
    cdef public double overdue_seconds
    cdef object _held
    cdef dict _out
    cdef double _bytes
    cdef int _slow
    cdef double _alone_until
    cdef double _pause

    cpdef bytes at_once(self, object call)
    cdef bytes _alone(self, object call)
    cpdef bint take_back(self, object call) except -1
    @cython.locals(held=cython.longlong, calls=cython.longlong)
    cpdef bint are_due(self) except -1
    @cython.locals(calls=list, ordered=list, parts=list, actions=list, by_region=dict, members=list, seconds=cython.double, most=cython.longlong)
    cpdef bytes next_frame(self, object ids)
    @cython.locals(count=cython.longlong, now=cython.double)
    cpdef object answered(self, long long call_id, long long size)
    cdef long long _under_way(self) except -1
    cdef long long _most(self) except -1
    @cython.locals(now=cython.double)
    cdef bint _is_overdue(self) except -1
    cdef _go_alone(self, double now)

@cython.locals(block_at=cython.longlong, size=cython.longlong, start=cython.longlong)
cpdef tuple body_of(bytes frame, long long body_at, long long block_bytes, object server)
cpdef object row_of(bytes frame, long long body_at, long long block_bytes, object server)
