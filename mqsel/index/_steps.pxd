# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
# Sets of values that fit into a step. A set is a row of logic/sets.py, `Values`; so are its parts, by their places.

from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM
from libc.stdint cimport int64_t

from mqsel.index._parts cimport Step


cdef bint is_all_numbers(PyObject *values) noexcept
cdef bint number_step(PyObject *values, Step *step) noexcept


cdef inline PyObject *field(PyObject *row, Py_ssize_t number) noexcept:
    return <PyObject *> PyTuple_GET_ITEM(<object> row, number)


cdef inline void integers_at(PyObject *intervals, Py_ssize_t number, int64_t *low, int64_t *high) noexcept:
    cdef PyObject *pair = field(intervals, number)
    low[0] = <object> field(pair, 0)
    high[0] = <object> field(pair, 1)


cdef inline void floats_at(PyObject *intervals, Py_ssize_t number, double *low, double *high) noexcept:
    cdef PyObject *pair = field(intervals, number)
    low[0] = <object> field(pair, 0)
    high[0] = <object> field(pair, 1)
