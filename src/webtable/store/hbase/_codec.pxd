# C types for codec.py, for the form of it that Cython compiles; see docs/develop/compiled.md.
# Sizes are 64 bits wide everywhere, so that no sum of sizes from the wire can overflow.
cimport cython

cdef bint _compiled
cdef long long LARGE_CELL_BYTES
cdef int _KEPT_COLUMNS
cdef dict _columns
cdef dict _wire_columns

cdef bytes _column(bytes wire)
cpdef bytes wire_column(object column)

@cython.locals(first=cython.ulonglong)
cdef unsigned long long _u32(const unsigned char* block, long long at) noexcept
@cython.locals(high=cython.ulonglong)
cdef unsigned long long _u64(const unsigned char* block, long long at) noexcept

cpdef tuple cut_row(bytes block, long long at, long long count)
cpdef list cut_rows(bytes block, long long at, object counts)

@cython.locals(rows=list, count=cython.longlong, end=cython.longlong)
cdef list _cut_rows(const unsigned char* block, long long at, long long limit, object counts)

@cython.locals(key_at=cython.longlong, key=bytes)
cdef object _row(const unsigned char* block, long long at, long long end, long long count)

@cython.locals(
    last=cython.longlong, row_size=cython.longlong, column_at=cython.longlong, least_size=cython.longlong,
    own_row_size=cython.longlong, size=cython.longlong, key_size=cython.longlong, value_size=cython.longlong,
    after=cython.longlong, compiled=cython.bint,
)
cdef long long _end_of(const unsigned char* block, long long at, long long count, long long limit) except? -2

@cython.locals(
    compiled=cython.bint, column_at=cython.longlong, size=cython.longlong, key_size=cython.longlong, after=cython.longlong,
    stamp_at=cython.longlong, timestamp=cython.ulonglong, kind=cython.uchar, cells=list, columns=dict, wire=bytes, column=bytes,
)
cdef list _read_cells(const unsigned char* block, long long at, long long end)

@cython.locals(
    compiled=cython.bint, column_at=cython.longlong, size=cython.longlong, key_size=cython.longlong, after=cython.longlong,
    stamp_at=cython.longlong, newest=dict, columns=dict, wire=bytes, column=bytes,
)
cdef dict _read_values(const unsigned char* block, long long at, long long end)

@cython.locals(row_size=cython.longlong, total=cython.longlong, key_size=cython.longlong, value_size=cython.longlong, size=cython.longlong, wire=bytes, columns=dict)
cpdef encode_cells(list parts, bytes row, object values, object timestamp)
