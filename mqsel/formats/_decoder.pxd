# The base of every decoder; and the text of an element as a value.

from cpython.object cimport PyObject
from libc.stdint cimport uint8_t, uint32_t

from mqsel.machine._values cimport BYTES, MQTYPE_BYTE_STRING, MQTYPE_STRING, STRING, Record, Value, value_object


# What is known of a message that was read.
cdef enum Decoded:
    UNREAD                  # nothing: calling the decoder with it answers
    FILLED                  # the record says what it has
    NOT_IDENTIFIED          # its identifier is another than the one that is compared
    IDENTIFIED              # it is that one
    INVALID_NAME            # it has a property with a name that is not allowed


cdef class Decoder:
    cdef readonly tuple names       # of the properties, in the order of the slots
    cdef readonly Record record     # filled anew by each message that is read
    cdef readonly object unread     # for each property, how many values did not fit the type that is declared
    cdef readonly Py_ssize_t noted  # messages of which something was skipped so far
    cdef bint busy                  # inside a message

    cdef int enter(self) except -1
    cdef bytes hold(self, object raw)
    cdef int read(self, const uint8_t *at, const uint8_t *stop, const uint8_t *limit) except -1


cdef int utf8_put(uint8_t *at, uint32_t point) noexcept
cdef bint plain_read(
    Value *value, PyObject **owner, const uint8_t *text, Py_ssize_t size, int dt
) except -1
cdef int element_read(
    Value *value, PyObject **owner, const uint8_t *text, Py_ssize_t size, int dt, int conversion
) except -1


cdef inline int string_keep(Value *value, PyObject **owner, object text) noexcept:
    """Set *text* as the value. Returns 0: there is no note."""
    value_object(value, owner, STRING, MQTYPE_STRING, <PyObject *> text)
    return 0


cdef inline int bytes_keep(Value *value, PyObject **owner, object data) noexcept:
    value_object(value, owner, BYTES, MQTYPE_BYTE_STRING, <PyObject *> data)
    return 0
