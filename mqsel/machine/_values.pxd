# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
# Values: truth values, types, one property value as operators see it, and the Record that holds some.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from libc.stdint cimport int64_t
from libc.string cimport memcmp

cdef extern from *:
    """
    /* The value of an int of one digit. */
    static inline int long_small(PyObject *number, int64_t *value) {
    #if PY_VERSION_HEX >= 0x030C0000
        if (!PyUnstable_Long_IsCompact((PyLongObject *) number)) return 0;
        *value = PyUnstable_Long_CompactValue((PyLongObject *) number);
    #else
        Py_ssize_t size = Py_SIZE(number);
        if (size > 1 || size < -1) return 0;
        *value = size * (int64_t) ((PyLongObject *) number)->ob_digit[0];
    #endif
        return 1;
    }
    """
    bint long_small(PyObject *number, int64_t *value)

cdef extern from "Python.h":
    PyObject *Py_None
    PyObject *Py_True
    PyObject *Py_False
    long long PyLong_AsLongLongAndOverflow(PyObject *number, int *overflow)
    int PyUnicode_CheckExact(PyObject *item)
    int PyUnicode_KIND(PyObject *text)
    void *PyUnicode_DATA(PyObject *text)
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject *text)
    int __Pyx_PyUnicode_READY(PyObject *text)


# The truth values of language §1, numbered as in mqsel.values.
cdef enum:
    FALSE = 0
    TRUE = 1
    UNKNOWN = 2
    ERR = 3


# The types of values, numbered as in mqsel.values.
cdef enum:
    MQTYPE_NULL = 2
    MQTYPE_BOOLEAN = 4
    MQTYPE_BYTE_STRING = 8
    MQTYPE_INT8 = 16
    MQTYPE_INT16 = 32
    MQTYPE_INT32 = 64
    MQTYPE_INT64 = 128
    MQTYPE_FLOAT32 = 256
    MQTYPE_FLOAT64 = 512
    MQTYPE_STRING = 1024


# What a value is to an operator. The four kinds of number stand together, in the order of Java's promotion.
cdef enum Tag:
    NULL_VALUE
    BOOLEAN
    INT32    # INT8 and INT16 too: binary promotion widens them before anything else
    INT64
    FLOAT32
    FLOAT64
    STRING
    BYTES
    POISON   # what arithmetic on a string, boolean or byte string gives


cdef union Payload:
    int64_t i      # BOOLEAN (0, 1), INT32, INT64
    double d       # FLOAT32 (exactly representable), FLOAT64
    PyObject *o    # STRING (exact str), BYTES (exact bytes); borrowed from an owner beside it


cdef struct Value:
    int tag        # a Tag
    int mqtype     # the MQTYPE it arrived with, for people
    Payload it


cdef class Record:
    cdef readonly object schema         # Schema: names and types of the slots
    cdef dict places                    # name -> slot
    cdef Py_ssize_t count
    cdef Value *values                  # and behind them a NULL, for properties that the schema lacks
    cdef PyObject **owners              # strong references to the strings and byte strings in the values

    cdef int put(self, Py_ssize_t place, object value) except -1


cdef void *zeroed(Py_ssize_t count, size_t size) except NULL
cdef int value_load(Value *value, PyObject **owner, object name, object item) except -1
cdef int value_load_other(Value *value, PyObject **owner, object name, object item) except -1
cdef bint value_fit(Value *value, int wanted) noexcept
cdef int value_refuse(Value *value, int wanted, str name) except -1
cdef str value_type(Value *value)
cdef object value_python(Value *value)
cdef list SMALL                         # of each number from -1 to 1023 the Int32
cdef object int32_made(int64_t number)


cdef inline object int32_python(int64_t number):
    return SMALL[number + 1] if -1 <= number < 1023 else int32_made(number)


cdef inline void value_integer(Value *value, int tag, int mqtype, int64_t number) noexcept:
    value.tag = tag
    value.mqtype = mqtype
    value.it.i = number


cdef inline void value_float(Value *value, int tag, int mqtype, double number) noexcept:
    value.tag = tag
    value.mqtype = mqtype
    value.it.d = number


cdef inline void value_own(Value *value, PyObject **owner, int tag, int mqtype, PyObject *item) noexcept:
    """Point to an exact str or bytes, and take over a reference to it: the owner keeps it until it is overwritten."""
    cdef PyObject *old = owner[0]
    owner[0] = item
    value.tag = tag
    value.mqtype = mqtype
    value.it.o = item
    Py_XDECREF(old)


cdef inline void value_object(Value *value, PyObject **owner, int tag, int mqtype, PyObject *item) noexcept:
    """Point to an exact str or bytes, and own it."""
    Py_INCREF(<object> item)
    value_own(value, owner, tag, mqtype, item)


cdef inline void value_null(Value *value) noexcept:
    value.tag = NULL_VALUE
    value.mqtype = MQTYPE_NULL


cdef inline void value_copy(Value *target, Value *value) noexcept:
    """Copy what operators look at. Field by field: a wide load of what was just stored in parts would stall."""
    target.tag = value.tag
    target.it.i = value.it.i


cdef inline bint value_read(Value *value, PyObject *item) noexcept:
    """Read an exact str, int, float, bytes, bool or None as a property value (language §1), borrowing a string.

    Returns whether it is one of these: no foreign code runs, and nothing is raised.
    """
    cdef int overflow = 0
    if PyUnicode_CheckExact(item) and __Pyx_PyUnicode_READY(item) == 0:
        value.tag = STRING
        value.mqtype = MQTYPE_STRING
        value.it.o = item
    elif PyLong_CheckExact(<object> item):
        value.tag = INT64
        value.mqtype = MQTYPE_INT64
        if not long_small(item, &value.it.i):
            value.it.i = PyLong_AsLongLongAndOverflow(item, &overflow)
            return overflow == 0
    elif PyFloat_CheckExact(<object> item):
        value_float(value, FLOAT64, MQTYPE_FLOAT64, PyFloat_AS_DOUBLE(<object> item))
    elif item == Py_None:
        value_null(value)
    elif item == Py_True or item == Py_False:
        value_integer(value, BOOLEAN, MQTYPE_BOOLEAN, item == Py_True)
    elif PyBytes_CheckExact(<object> item):
        value.tag = BYTES
        value.mqtype = MQTYPE_BYTE_STRING
        value.it.o = item
    else:
        return False
    return True


cdef inline bint is_number(Value *value) noexcept:
    return INT32 <= value.tag <= FLOAT64


cdef inline double as_double(Value *value) noexcept:
    return <double> value.it.i if value.tag <= INT64 else value.it.d


cdef inline float as_float(Value *value) noexcept:
    return <float> value.it.i if value.tag <= INT64 else <float> value.it.d


cdef inline bint string_equal(PyObject *left, PyObject *right) noexcept:
    cdef Py_ssize_t length
    cdef int kind
    if left == right:
        return True
    length = PyUnicode_GET_LENGTH(left)
    if length != PyUnicode_GET_LENGTH(right):
        return False
    kind = PyUnicode_KIND(left)
    return kind == PyUnicode_KIND(right) and memcmp(PyUnicode_DATA(left), PyUnicode_DATA(right), length * kind) == 0


cdef inline bint bytes_equal(PyObject *left, PyObject *right) noexcept:
    cdef Py_ssize_t length = PyBytes_GET_SIZE(<object> left)
    return length == PyBytes_GET_SIZE(<object> right) and memcmp(
        PyBytes_AS_STRING(<object> left), PyBytes_AS_STRING(<object> right), length
    ) == 0
