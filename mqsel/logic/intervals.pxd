"""What is computed for each constant is called in C, and steps from one number to the next there."""

cimport cython
from libc.math cimport nextafter, nextafterf

from mqsel._rows cimport field


cpdef neighbour(object axis, object number, int step)
cpdef united(object intervals, object axis)
cpdef gaps(object intervals, object axis)
cpdef overlap(object some, object others)
cpdef beside(object constant, object axis, object chosen)


@cython.locals(is_less=cython.bint, is_equal=cython.bint, is_greater=cython.bint)
cpdef sides(object low, object high, object axis, object chosen)
