# What takes a file of messages apart, a block at a time.

from libc.stdint cimport uint8_t

cdef enum FindResult:
    MORE                # nothing, until more is read
    MESSAGE             # a message
    HEAD                # what stands before the first
    GIVEN               # an object, made in Python: a Piece or a FileError


cdef class Splitter:
    cdef readonly str path
    cdef Py_ssize_t most            # bytes of a message
    cdef uint8_t[::1] block         # what was read; nobody else has it
    cdef const uint8_t *at          # the rest of it
    cdef const uint8_t *limit
    cdef bint is_first              # nothing was read yet
    cdef bint is_last               # nothing more can be read
    cdef bint is_whole              # the file is one message
    cdef readonly bint is_over      # where the next message begins is not known
    # What was found last; it is there until the next is looked for.
    cdef Py_ssize_t place           # where it begins: see Piece
    cdef const uint8_t *raw         # how it stands in the file
    cdef const uint8_t *raw_stop
    cdef const uint8_t *message
    cdef Py_ssize_t size
    cdef object given

    cdef int find(self) except -1


cdef class LongLine(Splitter):
    cdef readonly Py_ssize_t skipped    # bytes of the line, with its end
