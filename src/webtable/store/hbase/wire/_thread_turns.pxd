# C types for thread_turns.py, for the form of it that Cython compiles; see docs/develop/compiled.md.
cimport cython
from webtable.store.hbase.wire._stream cimport c_now

cdef bint _compiled
cdef int WATCHES
cdef double LEAST_PATIENCE_SECONDS
cdef double FIRST_PATIENCE_SECONDS
cdef double MOST_PATIENCE_SECONDS
cdef double LONG_SECONDS
cdef double FIRST_PAUSE_SECONDS
cdef double LAST_PAUSE_SECONDS
cdef double MISSED_SECONDS
cdef int TURNS_IN_PEACE

cdef double _now()

cdef class Right:
    cdef readonly bint is_in_use
    cdef object _lock

    cpdef bint take(self) except -1
    cpdef give_back(self)

cdef class Turns:
    cdef public double long_seconds
    cdef public double patience
    cdef object _waiting
    cdef double _seconds
    cdef double _since
    cdef double _none_until
    cdef double _pause
    cdef long long _turns_given
    cdef long long _running

    cpdef bint are_used(self) except -1
    cpdef bint are_waited_for(self) except -1
    cpdef add(self, object call)
    @cython.locals(now=cython.double)
    cpdef next(self)
    cpdef begin(self)
    cpdef end(self)
    cpdef double patience_of(self, long long number) except -1
    @cython.locals(patience=cython.double)
    cpdef waited(self, double seconds)
    @cython.locals(now=cython.double, is_somebody_waiting=cython.bint)
    cpdef bint leave(self, object call) except -1
    cdef _stop(self, double now)
