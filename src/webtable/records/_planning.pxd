# C types for planning.py, for the form of it that Cython compiles; see docs/develop/compiled.md.
cimport cython

cpdef bint is_plain(object items)

@cython.locals(
    indexes=list, revisions=list, writes=list, position=cython.Py_ssize_t, row=bytes, old=dict, new=dict, values=dict,
    cell=bytes, column=bytes, value=bytes,
)
cpdef object plan_puts(object home, object items, object found, object now_ms)

@cython.locals(before=dict, after=dict, marker=tuple)
cdef object _move(list writes, object index, bytes row, tuple facts, tuple numbers)

cdef object _put(object row, dict values, object timestamp)
