# What every loop over the messages of files has in common: what is asked for, and the counts.

from libc.stdint cimport uint8_t

from mqsel.machine._values cimport Record
from mqsel.machine._vm cimport Machine


cdef class Sifter:
    cdef Machine machine
    cdef bint invert
    cdef bint counting
    cdef bint raising
    cdef bint apart                 # each message is an object of its own
    cdef Py_ssize_t limit
    cdef Record record              # of the decoder
    cdef tuple names                # of its slots
    cdef Py_ssize_t *nulls          # for each slot of the record, in how many unknown messages it was NULL
    cdef list found                 # in this block
    cdef list items                 # messages that are kept apart, and have not been put among the found
    cdef const uint8_t *kept        # what stands from here on, and has not been put among the found
    cdef const uint8_t *kept_stop
    cdef uint8_t *together          # what was kept before that, of this block
    cdef Py_ssize_t length          # of it
    cdef Py_ssize_t room            # for it
    cdef readonly Py_ssize_t messages
    cdef readonly Py_ssize_t selected
    cdef readonly Py_ssize_t unknown
    cdef readonly Py_ssize_t skipped
    cdef readonly bint is_over

    cdef int keep(self, const uint8_t *raw, const uint8_t *stop) except -1
    cdef int set_aside(self) except -1
    cdef int flush(self) except -1
    cdef int give(self, bytes item) except -1
    cdef bint is_asked_for(self, int truth) noexcept
    cdef int count_nulls(self) noexcept
