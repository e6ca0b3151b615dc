# C types for request_bytes.py, for the form of it that Cython compiles; see docs/develop/compiled.md.
cimport cython
from webtable.store.hbase.wire._frames cimport c_varint

cdef bint _compiled
cdef tuple _ONE_BYTE
cdef dict _DURABILITY
cdef dict _COMPARE
cdef dict _region_fields
cdef int _KEPT_REGIONS

@cython.locals(out=bytearray)
cpdef bytes varint(unsigned long long number)
cpdef bytes sized(bytes tag, bytes content)
@cython.locals(field=bytes)
cpdef bytes region_field(bytes name)

@cython.locals(message=bytes)
cpdef bytes get_bytes(object get)

@cython.locals(row=bytes, key=bytes, kept=bytes, lifetime=bytes, kind=bytes, when=bytes, size=cython.longlong, count=cython.longlong)
cpdef tuple mutation_bytes(list parts, object mutation, object durability, unsigned long long nonce)

@cython.locals(size=cython.longlong, content=bytes, message=bytes)
cpdef tuple action_field(list parts, unsigned long long index, object entry, object durability, unsigned long long nonce)

@cython.locals(message=bytes, family=bytes, qualifier=bytes, value=bytes, comparator=bytes)
cpdef bytes condition_bytes(bytes row, object check)

@cython.locals(size=cython.longlong, count=cython.longlong)
cpdef long long cells_in_result(bytes response) except -2

@cython.locals(
    at=cython.longlong, size=cython.longlong, tag=cython.uchar, length=cython.longlong, shift=cython.int,
    byte=cython.uchar, piece=cython.longlong, end=cython.longlong, entry_end=cython.longlong, middle=cython.longlong,
    index=cython.longlong, regions=list, entries=list,
)
cpdef list done_entries(bytes response)

@cython.locals(qualifiers=dict)
cpdef bytes column_fields(bytes tag, object columns)
cpdef bytes time_range_field(bytes tag, tuple time_range)
