"""Rows are made in C, and what is made for each test of a selector is called in C."""

cimport cython

from mqsel._rows cimport field, row
from mqsel.logic.intervals cimport beside, gaps, overlap, sides, united


@cython.locals(is_equal=cython.bint)
cpdef numbers(object constant, object chosen)
cpdef numbers_from(object low, object high)
cpdef common(object one, object other)
cpdef outside(object values, object whole)
cpdef unite(object many)
cdef unite_texts(object many)
cdef _is_much(object many)
cdef _of_numbers(object integers, object floats32, object floats64)
cdef _common_texts(object one, object other)
cdef _joined(object many, object strings)
cdef _joined_floats(object lane, object axis)
