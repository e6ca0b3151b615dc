# C types for entry_changes.py, for the form of it that Cython compiles; see docs/develop/compiled.md.
cimport cython

cpdef bint is_plain(object items)

@cython.locals(
    indexes=list, revisions=list, writes=list, position=cython.Py_ssize_t, row=bytes, old=dict, new=dict, values=dict,
    cell=bytes, column=bytes, value=bytes, moved=tuple,
)
cpdef object plan_puts(object home, object items, object found, object now_ms)

@cython.locals(before=dict, after=dict, put=list, removed=list)
cpdef object moved_entries(object index, bytes row, object old, object new, bint puts_all)

@cython.locals(marker=tuple)
cdef object _move(list writes, object index, bytes row, tuple moved, tuple numbers)

cdef object _put(object row, dict values, object timestamp)
