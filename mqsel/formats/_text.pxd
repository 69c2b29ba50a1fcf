# The text of an element as a value.

from cpython.object cimport PyObject
from libc.stdint cimport uint8_t, uint32_t

from mqsel.machine._values cimport BYTES, MQTYPE_BYTE_STRING, MQTYPE_STRING, STRING, Value, value_object

cdef int utf8_put(uint8_t *at, uint32_t point) noexcept
cdef bint plain_read(
    Value *value, PyObject **owner, const uint8_t *text, Py_ssize_t size, int dt
) except -1
cdef int element_read(
    Value *value, PyObject **owner, const uint8_t *text, Py_ssize_t size, int dt, int conversion
) except -1


cdef inline int string_keep(Value *value, PyObject **owner, object text) noexcept:
    """Make *text* the value. Returns 0: there is no note."""
    value_object(value, owner, STRING, MQTYPE_STRING, <PyObject *> text)
    return 0


cdef inline int bytes_keep(Value *value, PyObject **owner, object data) noexcept:
    value_object(value, owner, BYTES, MQTYPE_BYTE_STRING, <PyObject *> data)
    return 0
