# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Sets of values that fit into a step: which numbers of three lanes are one test of a double.

The lanes are integers, floats and doubles; where they do not agree, the set is a leaf in the pool. Knows no formula.
"""

from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_SIZE
from libc.math cimport INFINITY, ceil, floor, nextafter
from libc.stdint cimport INT64_MAX, INT64_MIN, int64_t

from mqsel.index._parts cimport *

cdef extern from "math.h" nogil:
    float nextafterf(float start, float towards)

cdef double EXACT = 4503599627370496.0  # 2**52: up to here a bound is one for integers as for their doubles


cdef bint is_all_numbers(PyObject *values) noexcept:
    """Tell whether a set has all numbers but NaN, which does not count."""
    cdef int64_t low, high
    cdef double least, most
    cdef int lane
    cdef PyObject *floats
    if PyTuple_GET_SIZE(<object> field(values, 2)) != 1:
        return False
    integers_at(field(values, 2), 0, &low, &high)
    if low != INT64_MIN or high != INT64_MAX:
        return False
    for lane in range(3, 5):
        floats = field(field(values, lane), 0)
        if PyTuple_GET_SIZE(<object> floats) != 1:
            return False
        floats_at(floats, 0, &least, &most)
        if least != -INFINITY or most != INFINITY:
            return False
    return True


cdef inline float float_from(double number) noexcept:
    """Give the least float that is at least *number*."""
    cdef float near = <float> number
    return nextafterf(near, <float> INFINITY) if <double> near < number else near


cdef inline float float_to(double number) noexcept:
    cdef float near = <float> number
    return nextafterf(near, <float> -INFINITY) if <double> near > number else near


cdef bint is_interval(PyObject *values, double low, double high) noexcept:
    """Tell whether the numbers of a set are those whose doubles lie in [low, high], in each lane."""
    cdef int64_t first, last, least, most
    cdef double start, stop
    cdef float from_, to
    cdef PyObject *integers = field(values, 2)
    cdef PyObject *floats = field(field(values, 3), 0)
    if not (low == -INFINITY or -EXACT <= low <= EXACT) or not (high == INFINITY or -EXACT <= high <= EXACT):
        return False
    least = INT64_MIN if low == -INFINITY else <int64_t> ceil(low)
    most = INT64_MAX if high == INFINITY else <int64_t> floor(high)
    if least > most:
        if PyTuple_GET_SIZE(<object> integers) != 0:
            return False
    else:
        if PyTuple_GET_SIZE(<object> integers) != 1:
            return False
        integers_at(integers, 0, &first, &last)
        if first != least or last != most:
            return False
    from_ = float_from(low)
    to = float_to(high)
    if from_ > to:
        return PyTuple_GET_SIZE(<object> floats) == 0
    if PyTuple_GET_SIZE(<object> floats) != 1:
        return False
    floats_at(floats, 0, &start, &stop)
    return start == <double> from_ and stop == <double> to


cdef bint is_all_but(PyObject *values, double point) noexcept:
    """Tell whether the numbers of a set are all but one, in each lane."""
    cdef int64_t first, last, third, fourth
    cdef double start, stop, from_, to
    cdef PyObject *integers = field(values, 2)
    cdef PyObject *floats = field(field(values, 3), 0)
    cdef int64_t whole
    cdef float single = <float> point
    if not -EXACT <= point <= EXACT:
        return False
    whole = <int64_t> point
    if <double> whole == point:
        if PyTuple_GET_SIZE(<object> integers) != 2:
            return False
        integers_at(integers, 0, &first, &last)
        integers_at(integers, 1, &third, &fourth)
        if first != INT64_MIN or last != whole - 1 or third != whole + 1 or fourth != INT64_MAX:
            return False
    else:
        if PyTuple_GET_SIZE(<object> integers) != 1:
            return False
        integers_at(integers, 0, &first, &last)
        if first != INT64_MIN or last != INT64_MAX:
            return False
    if <double> single == point:
        if PyTuple_GET_SIZE(<object> floats) != 2:
            return False
        floats_at(floats, 0, &start, &stop)
        floats_at(floats, 1, &from_, &to)
        return (
            start == -INFINITY and stop == <double> nextafterf(single, <float> -INFINITY)
            and from_ == <double> nextafterf(single, <float> INFINITY) and to == INFINITY
        )
    if PyTuple_GET_SIZE(<object> floats) != 1:
        return False
    floats_at(floats, 0, &start, &stop)
    return start == -INFINITY and stop == INFINITY


cdef bint number_step(PyObject *values, Step *step) noexcept:
    """Write the numbers of a set into a step, if they fit."""
    cdef PyObject *doubles = field(field(values, 4), 0)
    cdef Py_ssize_t count = PyTuple_GET_SIZE(<object> doubles)
    cdef double low, high, from_, to
    if count == 1:
        floats_at(doubles, 0, &low, &high)
        if low == INFINITY or high == -INFINITY or not is_interval(values, low, high):
            return False
        if <double> <float> low == low and <double> <float> high == high:
            step.test = BETWEEN
            step.it.bounds[0] = <float> low
            step.it.bounds[1] = <float> high
        elif low == high:
            step.test = EQUAL
            step.it.number = low
        elif low == -INFINITY:
            step.test = MOST
            step.it.number = high
        elif high == INFINITY:
            step.test = LEAST
            step.it.number = low
        else:
            return False
        return True
    if count != 2:
        return False
    floats_at(doubles, 0, &low, &high)
    floats_at(doubles, 1, &from_, &to)
    high = nextafter(high, INFINITY) + 0.0
    if low != -INFINITY or to != INFINITY or nextafter(high, INFINITY) != from_ or not is_all_but(values, high):
        return False
    step.test = UNEQUAL
    step.it.number = high
    return True
