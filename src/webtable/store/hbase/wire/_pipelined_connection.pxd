# C types for pipelined_connection.py, for the form of it that Cython compiles; see docs/develop/compiled.md.
cimport cython
from cpython.exc cimport PyErr_CheckSignals
from webtable.store.hbase.wire._calls cimport Call as _Call
from webtable.store.hbase.wire._frames cimport Frames as _Frames
from webtable.store.hbase.wire._stream cimport Stream as _Stream, c_now
from webtable.store.hbase.wire._thread_turns cimport Right as _Right, Turns as _Turns

cdef bint _compiled
cdef double IDLE_SECONDS
cdef double SLEEP_SECONDS

cdef class Connection:
    cdef readonly object server
    cdef public bint is_open
    cdef object _ids
    cdef readonly dict _pending
    cdef object _outbox
    cdef list _settled
    cdef readonly _Turns _turns
    cdef bint _is_crowded
    cdef readonly _Right _sending
    cdef readonly _Right _reading
    cdef _Frames _frames
    cdef double _heard_at
    cdef double _sent_at
    cdef object _socket
    cdef _Stream _stream

    @cython.locals(call=_Call, call_id=cython.longlong, body=bytes, is_idle=cython.bint)
    cpdef submit(self, str method, object request, double timeout, bytes cells=*)
    @cython.locals(call=_Call, call_id=cython.longlong, body=bytes, method=str, is_idle=cython.bint)
    cpdef get(self, bytes region, bytes message, double timeout)
    cdef double _now(self)
    cdef _begin(self, _Call call, double timeout, bint is_idle)
    @cython.locals(end=cython.double, patience=cython.double)
    cpdef bint settle(self, _Call call, double timeout) except -1
    @cython.locals(is_on=cython.bint)
    cdef bint _reads_for(self, _Call call, double end) except -1
    cpdef take_in(self)
    cpdef abandon(self, _Call call, double waited)
    cdef _check_alive(self)
    cdef _send_out(self, double timeout)
    @cython.locals(frames=list, frame=bytes, size=cython.longlong)
    cdef bytes _next_out(self)
    @cython.locals(sent=cython.longlong)
    cdef _send(self, bytes frame, double timeout)
    cdef _send_rest(self, object rest, double timeout)
    @cython.locals(complete=list)
    cdef bint _read(self, bint waits) except -1
    @cython.locals(wanted=cython.longlong, data=bytes)
    cdef bytes _receive(self, bint waits)
    @cython.locals(call=_Call, settled=list, are_used=cython.bint)
    cdef _wake_settled(self)
    @cython.locals(following=_Call)
    cdef _wake_next(self)
    @cython.locals(call=_Call)
    cdef _wake_all(self)
    @cython.locals(call=_Call)
    cdef _stop_reading(self, _Call reader)
    @cython.locals(call=_Call)
    cdef _wake_reader(self, _Call former)
    @cython.locals(call=_Call)
    cdef _deliver(self, bytes frame)
    @cython.locals(call=_Call)
    cdef _break(self, object error, bint take_back=*)
    cdef _close_if_unused(self)
