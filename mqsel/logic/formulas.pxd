"""Rows are made in C, and what is made for each part of a selector is called in C."""

cimport cython

from mqsel._rows cimport field, row
from mqsel.logic.sets cimport common, outside, unite


cpdef leaf(object subject, object values)
cpdef any_of(object parts)
cpdef all_of(object parts)
cdef _merged(object connective, object group)


@cython.locals(listed=list)
cdef _flat(object connective, object parts)


@cython.locals(size=cython.Py_ssize_t, at=cython.Py_ssize_t, before=cython.Py_ssize_t)
cdef bint _is_flat(object connective, list parts) except -1
