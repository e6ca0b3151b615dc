# C types for calls.py, for the form of it that Cython compiles; see docs/develop/compiled.md.
cimport cython
from cpython.exc cimport PyErr_CheckSignals

cdef extern from "pythread.h" nogil:
    # Python's own locks. They are acquired and released without holding that of the interpreter.
    ctypedef void* PyThread_type_lock
    PyThread_type_lock PyThread_allocate_lock()
    void PyThread_free_lock(PyThread_type_lock lock)
    int PyThread_acquire_lock(PyThread_type_lock lock, int waits)
    int PyThread_acquire_lock_timed(PyThread_type_lock lock, long long micros, int is_interruptible)
    void c_wake "PyThread_release_lock" (PyThread_type_lock lock)

cdef inline PyThread_type_lock c_acquired_lock() except NULL:
    cdef PyThread_type_lock lock = PyThread_allocate_lock()
    if lock == NULL:
        raise MemoryError
    PyThread_acquire_lock(lock, 1)
    return lock

cdef inline void c_free_lock(PyThread_type_lock lock) noexcept:
    if lock != NULL:
        PyThread_free_lock(lock)

cdef inline int c_sleep(PyThread_type_lock lock, long long micros) noexcept:
    cdef int got
    with nogil:
        got = PyThread_acquire_lock_timed(lock, micros, 1)
    return got

cdef inline int c_wake_and_sleep(
    PyThread_type_lock other, PyThread_type_lock lock, long long micros
) noexcept:
    cdef int got
    with nogil:
        c_wake(other)
        got = PyThread_acquire_lock_timed(lock, micros, 1)
    return got

cdef bint _compiled
cdef long long MOST_MESSAGE_BYTES
cdef int _WOKEN

cdef class Call:
    cdef readonly long long id
    cdef public bytes request
    cdef public bint is_withdrawn
    cdef readonly bint is_settled
    cdef object _connection
    cdef object _error
    cdef bytes _frame
    cdef long long _body_at
    cdef long long _block_bytes
    cdef object _woken
    cdef PyThread_type_lock _lock
    cdef bint _is_awake
    cdef public bint in_turn
    cdef readonly bint is_waited_for

    @cython.locals(body=bytes, frame=bytes, block_at=cython.longlong, count=cython.longlong)
    cpdef row(self, double waited)
    @cython.locals(frame=bytes, block_at=cython.longlong, size=cython.longlong, start=cython.longlong)
    cdef tuple _received(self, double timeout)
    cpdef begin_waiting(self)
    @cython.locals(micros=cython.longlong, got=cython.int)
    cpdef bint sleep(self, double seconds, Call following) except -1
    cpdef wake(self)
    cpdef receive(self, bytes frame, long long body_at, long long block_bytes)
    cpdef fail(self, object error)
