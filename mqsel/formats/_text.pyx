# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""The text of an element as a value: numbers, booleans, bytes, characters with their escapes; and values as objects.

Each reader gives 0, or the number of the note that says why there is no value. Follows formats §3.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.object cimport PyObject, PyTypeObject
from libc.math cimport INFINITY, NAN
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcmp, memcpy

from mqsel.formats._tables cimport (
    AS_TYPED, NOTE_VALUE_ENCODING, NOTE_VALUE_ESCAPE, NOTE_VALUE_MALFORMED, TO_INT32, TO_INT64, TO_STRING, TO_TOPIC
)
from mqsel.machine._values cimport (
    BOOLEAN, BYTES, INT32, INT64, MQTYPE_BOOLEAN, MQTYPE_BYTE_STRING, MQTYPE_FLOAT32, MQTYPE_FLOAT64, MQTYPE_INT8,
    MQTYPE_INT16, MQTYPE_INT32, MQTYPE_INT64, MQTYPE_NULL, MQTYPE_STRING, STRING, Value
)

from mqsel.values import Float32, Int8, Int16, Int32

cdef extern from "Python.h":
    PyTypeObject PyLong_Type
    PyObject *PyUnicode_DecodeUTF8(const char *data, Py_ssize_t size, const char *errors)
    double PyOS_string_to_double(const char *text, char **end, PyObject *overflow) except? -1.0
    int PyErr_ExceptionMatches(object kind)
    void PyErr_Clear()

cdef uint8_t[103] HEX           # value of a hexadecimal digit, or 16
for _byte in range(103):
    HEX[_byte] = int(chr(_byte), 16) if chr(_byte) in "0123456789abcdefABCDEF" else 16

SMALL = [Int32(number) for number in range(-1, 1024)]
cdef str PERSISTENT = "PERSISTENT"
cdef str NON_PERSISTENT = "NON_PERSISTENT"


cdef str delivery_mode(bint persistent):
    """Give the word of JMS."""
    return PERSISTENT if persistent else NON_PERSISTENT


cdef int value_decoded(Value *value, PyObject **owner, const uint8_t *text, Py_ssize_t size) except -1:
    """Make a string of UTF-8. Returns 0 or the number of a note."""
    cdef PyObject *item = PyUnicode_DecodeUTF8(<const char *> text, size, NULL)
    if item == NULL:
        if not PyErr_ExceptionMatches(UnicodeDecodeError):
            raise MemoryError
        PyErr_Clear()
        return NOTE_VALUE_ENCODING
    return value_own(value, owner, STRING, MQTYPE_STRING, item)


cdef int utf8_put(uint8_t *at, uint32_t point) noexcept:
    """Write a code point. Returns its length."""
    if point < 0x80:
        at[0] = point
        return 1
    if point < 0x800:
        at[0] = 0xC0 | point >> 6
        at[1] = 0x80 | point & 0x3F
        return 2
    if point < 0x10000:
        at[0] = 0xE0 | point >> 12
        at[1] = 0x80 | point >> 6 & 0x3F
        at[2] = 0x80 | point & 0x3F
        return 3
    at[0] = 0xF0 | point >> 18
    at[1] = 0x80 | point >> 12 & 0x3F
    at[2] = 0x80 | point >> 6 & 0x3F
    at[3] = 0x80 | point & 0x3F
    return 4


cdef int escape_read(const uint8_t *at, const uint8_t *stop, uint32_t *point) noexcept:
    """Read an escape that begins with &. Returns its length, or 0 if there is no such escape.

    References by number are XML's; no page says that the queue manager writes them.
    """
    cdef Py_ssize_t left = stop - at
    cdef uint32_t number = 0
    cdef uint32_t base = 10
    cdef Py_ssize_t place = 2
    if left >= 4 and memcmp(at, b"&lt;", 4) == 0:
        point[0] = c"<"
        return 4
    if left >= 4 and memcmp(at, b"&gt;", 4) == 0:
        point[0] = c">"
        return 4
    if left >= 5 and memcmp(at, b"&amp;", 5) == 0:
        point[0] = c"&"
        return 5
    if left >= 6 and memcmp(at, b"&quot;", 6) == 0:
        point[0] = c'"'
        return 6
    if left >= 6 and memcmp(at, b"&apos;", 6) == 0:
        point[0] = c"'"
        return 6
    if left < 4 or at[1] != c"#":
        return 0
    if at[2] == c"x":
        base = 16
        place = 3
    if at[place] == c";":
        return 0
    while place < left and at[place] != c";":
        if at[place] >= 103 or HEX[at[place]] >= base:
            return 0
        number = number * base + HEX[at[place]]
        place += 1
        if number > 0x10FFFF or place > 12:
            return 0
    if place == left or number == 0 or 0xD800 <= number < 0xE000:
        return 0
    point[0] = number
    return <int> place + 1


cdef int value_text(Value *value, PyObject **owner, const uint8_t *text, Py_ssize_t size) except -1:
    """Make a string of the text of an element. Returns 0 or the number of a note."""
    cdef const uint8_t *at = <const uint8_t *> memchr(text, c"&", size)
    cdef const uint8_t *stop = text + size
    cdef const uint8_t *next_one
    cdef uint8_t *plain
    cdef Py_ssize_t length
    cdef uint32_t point
    cdef int taken
    if at == NULL:
        return value_decoded(value, owner, text, size)
    plain = <uint8_t *> malloc(size)
    if plain == NULL:
        raise MemoryError
    try:
        length = at - text
        memcpy(plain, text, length)
        while at != NULL:
            taken = escape_read(at, stop, &point)
            if taken == 0:
                return NOTE_VALUE_ESCAPE
            length += utf8_put(plain + length, point)
            at += taken
            next_one = <const uint8_t *> memchr(at, c"&", stop - at)
            memcpy(plain + length, at, (stop if next_one == NULL else next_one) - at)
            length += (stop if next_one == NULL else next_one) - at
            at = next_one
        return value_decoded(value, owner, plain, length)
    finally:
        free(plain)


cdef int value_integer(Value *value, const uint8_t *text, Py_ssize_t size, int mqtype) noexcept:
    """Read a decimal number with an optional sign. Returns 0 or the number of a note."""
    cdef uint64_t number = 0
    cdef uint64_t limit = <uint64_t> 1 << (63 if mqtype == MQTYPE_INT64 else (mqtype >> 1) - 1)
    cdef bint negative = False
    cdef Py_ssize_t place = 0
    cdef uint32_t digit
    if size and (text[0] == c"-" or text[0] == c"+"):
        negative = text[0] == c"-"
        place = 1
    if place == size:
        return NOTE_VALUE_MALFORMED
    while place < size:
        digit = <uint32_t> text[place] - c"0"
        if digit > 9 or number > 922337203685477580:
            return NOTE_VALUE_MALFORMED
        number = number * 10 + digit
        if number > limit:
            return NOTE_VALUE_MALFORMED
        place += 1
    if number == limit and not negative:
        return NOTE_VALUE_MALFORMED
    value_number(
        value, INT64 if mqtype == MQTYPE_INT64 else INT32, mqtype, <int64_t> (0 - number if negative else number)
    )
    return 0


cdef float float_of(double number, str text):
    """Round what *text* says to a float once: where the double lies half-way between two, the text decides."""
    cdef float near = <float> number
    cdef uint64_t bits
    memcpy(&bits, &number, 8)
    if bits & 0x1FFFFFFF != 0x10000000:
        return near
    # Comparison of Decimals is exact, and takes no more than linear time. Imported here: it is hardly ever needed.
    from decimal import Decimal
    exact = Decimal(text)
    middle = Decimal(number)
    if exact == middle:
        return near  # half to even, as the cast does
    bits = bits + 1 if (exact > middle) == (number > 0) else bits - 1
    memcpy(&number, &bits, 8)
    return <float> number


cdef int value_not_finite(Value *value, const uint8_t *text, Py_ssize_t size, int mqtype) noexcept:
    """Read what Java writes for NaN and the infinities, and so the JMS client. Returns 0 or the number of a note."""
    cdef double number
    if size == 3 and memcmp(text, b"NaN", 3) == 0:
        number = NAN
    elif size == 8 and memcmp(text, b"Infinity", 8) == 0:
        number = INFINITY
    elif size == 9 and memcmp(text, b"-Infinity", 9) == 0:
        number = -INFINITY
    else:
        return NOTE_VALUE_MALFORMED
    value_double(value, mqtype, number)
    return 0


cdef int value_float(Value *value, const uint8_t *text, Py_ssize_t size, int mqtype) except -1:
    """Read a decimal number with a point or an exponent. Returns 0 or the number of a note."""
    cdef char[64] room
    cdef char *end = NULL
    cdef const char *digits
    cdef double number
    cdef Py_ssize_t place
    cdef bytes longer
    for place in range(size):
        if not (c"0" <= text[place] <= c"9" or text[place] in (c"+", c"-", c".", c"e", c"E")):
            return value_not_finite(value, text, size, mqtype)
    if size < 64:
        memcpy(room, text, size)
        room[size] = 0
        digits = room
    else:
        longer = PyBytes_FromStringAndSize(<const char *> text, size)
        digits = PyBytes_AS_STRING(longer)
    try:
        number = PyOS_string_to_double(digits, &end, NULL)
    except ValueError:
        return NOTE_VALUE_MALFORMED
    if end != digits + size or number - number != 0:
        return NOTE_VALUE_MALFORMED
    if mqtype == MQTYPE_FLOAT32:
        number = float_of(number, (<bytes> text[:size]).decode("ascii"))
        if number - number != 0:
            return NOTE_VALUE_MALFORMED
    value_double(value, mqtype, number)
    return 0


cdef int value_hex(Value *value, PyObject **owner, const uint8_t *text, Py_ssize_t size) except -1:
    """Read pairs of hexadecimal digits. Returns 0 or the number of a note."""
    cdef Py_ssize_t place
    cdef bytes made
    cdef uint8_t *data
    if size & 1:
        return NOTE_VALUE_MALFORMED
    made = PyBytes_FromStringAndSize(NULL, size >> 1)
    data = <uint8_t *> PyBytes_AS_STRING(made)
    for place in range(0, size, 2):
        if text[place] >= 103 or text[place + 1] >= 103 or HEX[text[place]] > 15 or HEX[text[place + 1]] > 15:
            return NOTE_VALUE_MALFORMED
        data[place >> 1] = HEX[text[place]] << 4 | HEX[text[place + 1]]
    return value_keep(value, owner, BYTES, MQTYPE_BYTE_STRING, made)


cdef int value_boolean(Value *value, const uint8_t *text, Py_ssize_t size) noexcept:
    """Read 1 or 0; true and false are not confirmed, and not confused with anything. Returns 0 or a note."""
    if size == 1 and (text[0] == c"1" or text[0] == c"0"):
        value_number(value, BOOLEAN, MQTYPE_BOOLEAN, text[0] == c"1")
    elif size == 4 and memcmp(text, b"true", 4) == 0:
        value_number(value, BOOLEAN, MQTYPE_BOOLEAN, 1)
    elif size == 5 and memcmp(text, b"false", 5) == 0:
        value_number(value, BOOLEAN, MQTYPE_BOOLEAN, 0)
    else:
        return NOTE_VALUE_MALFORMED
    return 0


cdef int value_read(Value *value, PyObject **owner, const uint8_t *text, Py_ssize_t size, int dt) except -1:
    """Read the text of an element as a type. Returns 0 or the number of a note."""
    if dt == 0 or dt == MQTYPE_STRING:
        return value_text(value, owner, text, size)
    if MQTYPE_INT8 <= dt <= MQTYPE_INT64:
        return value_integer(value, text, size, dt)
    if dt == MQTYPE_FLOAT32 or dt == MQTYPE_FLOAT64:
        return value_float(value, text, size, dt)
    if dt == MQTYPE_BOOLEAN:
        return value_boolean(value, text, size)
    if dt == MQTYPE_BYTE_STRING:
        return value_hex(value, owner, text, size)
    return value_keep(value, owner, BYTES, MQTYPE_BYTE_STRING, PyBytes_FromStringAndSize(<const char *> text, size))


cdef int value_converted(
    Value *value, PyObject **owner, const uint8_t *text, Py_ssize_t size, int dt, int conversion
) except -1:
    """Read an element as a JMS name wants it. Returns 0 or the number of a note."""
    cdef int trouble
    if conversion == AS_TYPED:
        return value_read(value, owner, text, size, dt)
    if conversion == TO_STRING:
        return value_text(value, owner, text, size)
    if conversion == TO_INT32:
        return value_integer(value, text, size, MQTYPE_INT32)
    if conversion == TO_INT64:
        return value_integer(value, text, size, MQTYPE_INT64)
    if conversion == TO_TOPIC:
        trouble = value_text(value, owner, text, size)
        if trouble:
            return trouble
        return value_keep(value, owner, STRING, MQTYPE_STRING, "topic://" + <str> <object> value.it.o)
    # TO_DELIVERY_MODE
    trouble = value_integer(value, text, size, MQTYPE_INT32)
    if trouble or not 1 <= value.it.i <= 2:
        value_null(value)
        return NOTE_VALUE_MALFORMED
    return value_keep(value, owner, STRING, MQTYPE_STRING, delivery_mode(value.it.i == 2))


cdef object int32_made(int64_t number):
    return (<object (*)(PyObject *, object, PyObject *)> PyLong_Type.tp_new)(<PyObject *> Int32, (number,), NULL)


cdef object value_object(Value *value):
    """Give a value as the Python object that the machine reads as it."""
    if value.mqtype == MQTYPE_INT32:
        return int32_object(value.it.i)
    if value.mqtype == MQTYPE_STRING or value.mqtype == MQTYPE_BYTE_STRING:
        return <object> value.it.o
    if value.mqtype == MQTYPE_NULL:
        return None
    if value.mqtype == MQTYPE_INT64:
        return value.it.i
    if value.mqtype == MQTYPE_FLOAT64:
        return value.it.d
    if value.mqtype == MQTYPE_BOOLEAN:
        return value.it.i != 0
    if value.mqtype == MQTYPE_INT16:
        return Int16(value.it.i)
    if value.mqtype == MQTYPE_INT8:
        return Int8(value.it.i)
    return Float32(value.it.d)
