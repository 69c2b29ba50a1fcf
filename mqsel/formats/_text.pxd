# The text of an element as a value.

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from libc.stdint cimport int64_t, uint8_t, uint32_t

from mqsel.machine._values cimport FLOAT32, FLOAT64, MQTYPE_FLOAT32, MQTYPE_NULL, NULL_VALUE, Value

cdef int utf8_put(uint8_t *at, uint32_t point) noexcept
cdef int value_converted(
    Value *value, PyObject **owner, const uint8_t *text, Py_ssize_t size, int dt, int conversion
) except -1
cdef list SMALL                 # of each number from -1 to 1023 the Int32
cdef object int32_made(int64_t number)
cdef object value_object(Value *value)
cdef str delivery_mode(bint persistent)


cdef inline object int32_object(int64_t number):
    return SMALL[number + 1] if -1 <= number < 1023 else int32_made(number)


cdef inline int value_own(Value *value, PyObject **owner, int tag, int mqtype, PyObject *item) except -1:
    """Take over a new reference; NULL is an exception that is set."""
    cdef PyObject *old = owner[0]
    if item == NULL:
        raise MemoryError
    owner[0] = item
    value.tag = tag
    value.mqtype = mqtype
    value.it.o = item
    Py_XDECREF(old)
    return 0


cdef inline int value_keep(Value *value, PyObject **owner, int tag, int mqtype, object item) except -1:
    Py_INCREF(item)
    return value_own(value, owner, tag, mqtype, <PyObject *> item)


cdef inline void value_number(Value *value, int tag, int mqtype, int64_t number) noexcept:
    value.tag = tag
    value.mqtype = mqtype
    value.it.i = number


cdef inline void value_double(Value *value, int mqtype, double number) noexcept:
    value.tag = FLOAT32 if mqtype == MQTYPE_FLOAT32 else FLOAT64
    value.mqtype = mqtype
    value.it.d = number


cdef inline void value_null(Value *value) noexcept:
    value.tag = NULL_VALUE
    value.mqtype = MQTYPE_NULL
