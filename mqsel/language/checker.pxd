"""Types of what runs for each node of a tree; fields of rows are read in C."""

cimport cython

from mqsel._rows cimport field

cdef dict _OTHER


@cython.locals(names=dict, known=dict)
cpdef check(object order, str text, object dialect)


cdef bint _is_number(object node) except -1


@cython.locals(place=cython.int)
cpdef bint may_err(object order) except -1


cpdef check_types(object order, str text, object dialect)
cdef object _match_option(object node, str text, object dialect)
