# What takes a file of MQ messages apart, a block at a time.

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t

cdef enum:
    MD_LENGTH_1 = 324   # bytes of an MQMD
    MD_LENGTH = 364

cdef enum Kind:
    MQLONG
    MQBYTE
    MQCHAR

cdef enum Outcome:
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
    cdef readonly bint is_over      # where the next message begins is not known
    # What was found last; it is there until the next is looked for.
    cdef Py_ssize_t place           # where it begins: see Piece
    cdef const uint8_t *raw         # how it stands in the file
    cdef const uint8_t *raw_stop
    cdef const uint8_t *message
    cdef Py_ssize_t size
    cdef object given

    cdef int find(self) except -1


# What texts have in common: lines, and a message that is put together from them.
cdef class Text(Splitter):
    cdef bint is_begun          # the mark of UTF-8 was looked for
    cdef Py_ssize_t scanned     # bytes of the rest of the block that were looked at: whole lines
    cdef Py_ssize_t searched    # of the line behind these, in which no end was found
    cdef Py_ssize_t lines       # how many were looked at
    cdef uint8_t *made          # room for an MQMD, and the data
    cdef Py_ssize_t room        # behind the MQMD
    cdef Py_ssize_t filled      # bytes of data
    cdef uint8_t[MD_LENGTH] mqmd    # big-endian

    cdef bint begin(self) except -1
    cdef const uint8_t *line_end(self, const uint8_t *at, Py_ssize_t longest) noexcept
    cdef bint compose(self, bint has_mqmd) noexcept


# A field of the MQMD that a text has.
cdef struct FieldRow:
    int offset
    int length
    int kind            # of its value
    uint8_t padding     # what is put behind a shorter one


cdef FieldRow field_row(object field, str kind)
cdef Py_ssize_t digits_read(uint8_t *to, const uint8_t *at, const uint8_t *stop) noexcept
cdef Py_ssize_t pairs_read(uint8_t *to, const uint8_t *at, const uint8_t *stop) noexcept
cdef bint number_read(uint8_t *to, const uint8_t *at, const uint8_t *stop) noexcept
cdef bint field_read(uint8_t *to, const FieldRow *row, const uint8_t *at, const uint8_t *stop) noexcept


cdef inline bytes bytes_of(const uint8_t *at, const uint8_t *stop):
    return PyBytes_FromStringAndSize(<const char *> at, stop - at)


cdef inline bint is_space(uint8_t byte) noexcept:
    return byte == c" " or 9 <= byte <= 13


cdef inline int digit_of(uint8_t byte) noexcept:
    """Give the value of a hexadecimal digit, or 16."""
    if c"0" <= byte <= c"9":
        return byte - c"0"
    byte |= 0x20
    return byte - c"a" + 10 if c"a" <= byte <= c"f" else 16


cdef inline const uint8_t *skip_space(const uint8_t *at, const uint8_t *stop) noexcept:
    while at < stop and is_space(at[0]):
        at += 1
    return at


cdef inline const uint8_t *without_space(const uint8_t *at, const uint8_t *stop) noexcept:
    """Give where a text ends without the space behind it."""
    while stop > at and is_space((stop - 1)[0]):
        stop -= 1
    return stop
