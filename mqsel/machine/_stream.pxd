# The stream of selected messages.

from cpython.object cimport PyObject

from mqsel.machine._vm cimport Frame, Machine, Pace


cdef class Selection:
    cdef Machine machine
    cdef object messages                # iterator, list or tuple; None once exhausted
    cdef readonly object decode         # makes of a raw message what the machine reads, or True or False; or None
    cdef bint indexed                   # a list or tuple, read by index: no iterator between us and it
    cdef Frame *frame
    cdef Pace pace
    cdef bint skipping                  # errors="skip"
    cdef bint running                   # being made, or inside __next__: nobody else must enter
    cdef readonly Py_ssize_t seen       # messages pulled so far
    cdef readonly Py_ssize_t selected
    cdef readonly Py_ssize_t skipped    # messages that raised PropertyTypeError or DecodeError
    cdef readonly list failures         # the first of these errors

    cdef int decoded(self, PyObject *message) except -1
    cdef int trouble(self, int status) except -1
