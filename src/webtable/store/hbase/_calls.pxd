# C types for calls.py, for the form of it that Cython compiles; see docs/develop/compiled.md.
cdef class Call:
    cdef readonly long long id
    cdef public bytes request
    cdef readonly bytes region
    cdef readonly double seconds
    cdef public bint is_taken_back
    cdef readonly bint is_settled
    cdef object _connection
    cdef object _error
    cdef bytes _frame
    cdef object _row
    cdef long long _body_at
    cdef long long _block_bytes
    cdef object _woken

    cpdef wait_row(self, double timeout)
    cdef bytes _settled_frame(self, double timeout)
    cpdef begin_waiting(self)
    cpdef sleep(self, double seconds)
    cpdef wake(self)
    cpdef answer(self, bytes frame, long long body_at, long long block_bytes)
    cpdef answer_row(self, object row)
    cpdef fail(self, object error)
