# C types for stream.py, for the form of it that Cython compiles; see docs/develop/compiled.md.
cimport cython
from libc.errno cimport EAGAIN, errno as c_errno
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

cdef extern from "<sys/socket.h>":
    # Declared without `nogil`: who calls them keeps Python's lock.
    ssize_t c_send "send" (int number, const char* data, size_t size, int flags)
    ssize_t c_recv "recv" (int number, char* into, size_t size, int flags)

cdef extern from "<sys/socket.h>" nogil:
    ssize_t c_look "recv" (int number, char* into, size_t size, int flags)

cdef extern from "<sched.h>" nogil:
    int sched_yield()

cdef inline ssize_t c_peek(int number, int flags) noexcept:
    # Not into a buffer that another thread may be receiving into.
    cdef char byte
    return c_recv(number, &byte, 1, flags)

cdef inline double c_now() noexcept nogil:
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC, &now)
    return now.tv_sec + now.tv_nsec * 1e-9

cdef inline ssize_t c_spin(
    int number, char* into, size_t size, int flags, double seconds
) noexcept:
    cdef ssize_t got
    cdef double end
    with nogil:
        end = c_now() + seconds
        while True:
            got = c_look(number, into, size, flags)
            if got >= 0 or c_errno != EAGAIN or c_now() > end:
                break
            sched_yield()  # another thread with work to do runs first
    return got

cdef bint _compiled
cdef double SPIN_SECONDS
cdef int QUICK_ANSWERS
cdef long long BUFFER_BYTES
cdef int _AT_ONCE
cdef int _PEEK

cdef class Stream:
    cdef object _socket
    cdef int _number
    cdef bint _spins
    cdef readonly int _quick
    cdef char[65536] _buffer

    @cython.locals(sent=cython.longlong)
    cpdef long long send(self, bytes frame) except -1
    @cython.locals(got=cython.longlong)
    cpdef bytes take(self, long long wanted)
    @cython.locals(got=cython.longlong, started=cython.double, quick=cython.int)
    cpdef bytes receive(self, long long wanted, bint is_alone)
    @cython.locals(got=cython.longlong)
    cpdef bint is_ended(self) except -1
    cpdef end(self)
