# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""The base of every decoder; and the text of an element as a value: numbers, booleans, bytes, characters.

A reader of a text returns 0, or the number of the note on why there is no value. Follows formats §3.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from libc.math cimport INFINITY, NAN
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcmp, memcpy

from mqsel.formats._tables cimport (
    AS_TYPED, NOTE_VALUE_ENCODING, NOTE_VALUE_ESCAPE, NOTE_VALUE_MALFORMED, TO_INT32, TO_INT64, TO_STRING, TO_TOPIC
)
from mqsel.formats._words cimport word_at, word_of
from mqsel.machine._values cimport (
    BOOLEAN, FLOAT32, FLOAT64, INT32, INT64, MQTYPE_BOOLEAN, MQTYPE_BYTE_STRING, MQTYPE_FLOAT32, MQTYPE_FLOAT64,
    MQTYPE_INT8, MQTYPE_INT32, MQTYPE_INT64, MQTYPE_STRING, STRING, Value, value_float, value_integer, value_null,
    value_own
)

from mqsel.carets import type_name
from mqsel.errors import ArgumentError, PropertyTypeError
from mqsel.formats import jms as _jms
from mqsel.formats import mqrfh2 as _mqrfh2
from mqsel.formats.records import given_names

cdef extern from "Python.h":
    PyObject *PyUnicode_New(Py_ssize_t size, Py_UCS4 maximum) except NULL
    void *PyUnicode_DATA(PyObject *text)
    PyObject *PyUnicode_DecodeUTF8(const char *data, Py_ssize_t size, const char *errors)
    double PyOS_string_to_double(const char *text, char **end, PyObject *overflow) except? -1.0
    int PyErr_ExceptionMatches(object kind)
    void PyErr_Clear()

cdef uint8_t[103] HEX           # value of a hexadecimal digit, or 16
for _byte in range(103):
    HEX[_byte] = int(chr(_byte), 16) if chr(_byte) in "0123456789abcdefABCDEF" else 16

# The escapes, each as the number that its bytes make, and what they stand for.
cdef uint64_t[8] ESCAPES
cdef uint32_t[8] ESCAPED
cdef int ESCAPE_COUNT = len(_mqrfh2.ESCAPES)
for _place, (_name, _character) in enumerate(_mqrfh2.ESCAPES.items()):
    ESCAPES[_place] = int.from_bytes(f"&{_name};".encode(), "big")
    ESCAPED[_place] = ord(_character)

cdef dict DELIVERY_MODES = _jms.DELIVERY_MODES


# ---- the base ----------------------------------------------------------------------------------------------------

@cython.no_gc_clear  # the record is read in place
cdef class Decoder:
    """Reads messages of one format for the properties of a selector. Not for two threads at a time.

    If you call it with a message, it returns its `record`, filled again, or a mapping if the record can't hold the
    properties. It returns True or False if the message is decided without the selector.

    Args:
        names: The names of the properties, in the order of the slots.

    Raises: ArgumentError: if *names* are not names.
    """

    def __cinit__(self, names, *_, **__):
        self.busy = True  # for foreign code that finds it before it is complete
        self.names = given_names(names)
        self.record = Record(self.names)
        self.unread = {}
        self.busy = False

    def __call__(self, message):
        raise NotImplementedError

    cdef int enter(self) except -1:
        """Begin to read. Whoever does sets `busy` back."""
        if self.busy:
            raise ArgumentError(
                "this decoder is already reading a message: two threads cannot share it", hint="make one for each"
            )
        self.busy = True
        return 0

    cdef bytes hold(self, object raw):
        """Return the bytes of a message."""
        if PyBytes_CheckExact(raw):
            return raw
        try:
            return memoryview(raw).tobytes()
        except (TypeError, ValueError, NotImplementedError, BufferError):
            found = type_name(raw)
            raise PropertyTypeError(
                f"a message of this format is bytes: found a Python {found}",
                value_type=found,
                hint="pass all of the message as bytes, bytearray or memoryview",
            ) from None

    cdef int read(self, const uint8_t *at, const uint8_t *stop, const uint8_t *limit) except -1:
        """Read a message that stays where it is meanwhile. Returns a Decoded.

        Args:
            at, stop: the message.
            limit: the end of what may be looked at behind it.
        """
        return UNREAD


# ---- the text of an element --------------------------------------------------------------------------------------


cdef int utf8_read(Value *value, PyObject **owner, const uint8_t *text, Py_ssize_t size) except -1:
    """Read UTF-8 as a string. Returns 0 or the number of a note."""
    cdef PyObject *item = PyUnicode_DecodeUTF8(<const char *> text, size, NULL)
    if item == NULL:
        if not PyErr_ExceptionMatches(UnicodeDecodeError):
            raise MemoryError
        PyErr_Clear()
        return NOTE_VALUE_ENCODING
    value_own(value, owner, STRING, MQTYPE_STRING, item)
    return 0


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
    cdef uint64_t name = 0
    cdef uint32_t number = 0
    cdef uint32_t base = 10
    cdef Py_ssize_t place, row
    for place in range(min(left, 8)):
        name = name << 8 | at[place]
        if at[place] == c";":
            for row in range(ESCAPE_COUNT):
                if ESCAPES[row] == name:
                    point[0] = ESCAPED[row]
                    return <int> place + 1
            break
    if left < 4 or at[1] != c"#":
        return 0
    place = 2
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


cdef int text_read(Value *value, PyObject **owner, const uint8_t *text, Py_ssize_t size) except -1:
    """Read the text of an element as a string. Returns 0 or the number of a note."""
    cdef const uint8_t *at = <const uint8_t *> memchr(text, c"&", size)
    cdef const uint8_t *stop = text + size
    cdef const uint8_t *next_one
    cdef uint8_t *plain
    cdef Py_ssize_t length
    cdef uint32_t point
    cdef int taken
    if at == NULL:
        return utf8_read(value, owner, text, size)
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
        return utf8_read(value, owner, plain, length)
    finally:
        free(plain)


cdef int integer_read(Value *value, const uint8_t *text, Py_ssize_t size, int mqtype) noexcept:
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
    value_integer(
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


cdef int not_finite_read(Value *value, const uint8_t *text, Py_ssize_t size, int mqtype) noexcept:
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
    value_float(value, FLOAT32 if mqtype == MQTYPE_FLOAT32 else FLOAT64, mqtype, number)
    return 0


cdef int float_read(Value *value, const uint8_t *text, Py_ssize_t size, int mqtype) except -1:
    """Read a decimal number with a point or an exponent. Returns 0 or the number of a note."""
    cdef char[64] short_text
    cdef char *end = NULL
    cdef const char *digits
    cdef double number
    cdef Py_ssize_t place
    cdef bytes longer
    for place in range(size):
        if not (c"0" <= text[place] <= c"9" or text[place] in (c"+", c"-", c".", c"e", c"E")):
            return not_finite_read(value, text, size, mqtype)
    if size < 64:
        memcpy(short_text, text, size)
        short_text[size] = 0
        digits = short_text
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
    value_float(value, FLOAT32 if mqtype == MQTYPE_FLOAT32 else FLOAT64, mqtype, number)
    return 0


cdef int hex_read(Value *value, PyObject **owner, const uint8_t *text, Py_ssize_t size) except -1:
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
    return bytes_keep(value, owner, made)


cdef int boolean_read(Value *value, const uint8_t *text, Py_ssize_t size) noexcept:
    """Read 1 or 0; true and false are not confirmed, and not confused with anything. Returns 0 or a note."""
    if size == 1 and (text[0] == c"1" or text[0] == c"0"):
        value_integer(value, BOOLEAN, MQTYPE_BOOLEAN, text[0] == c"1")
    elif size == 4 and memcmp(text, b"true", 4) == 0:
        value_integer(value, BOOLEAN, MQTYPE_BOOLEAN, 1)
    elif size == 5 and memcmp(text, b"false", 5) == 0:
        value_integer(value, BOOLEAN, MQTYPE_BOOLEAN, 0)
    else:
        return NOTE_VALUE_MALFORMED
    return 0


cdef int typed_read(Value *value, PyObject **owner, const uint8_t *text, Py_ssize_t size, int dt) except -1:
    """Read the text of an element as a type. Returns 0 or the number of a note."""
    if dt == 0 or dt == MQTYPE_STRING:
        return text_read(value, owner, text, size)
    if MQTYPE_INT8 <= dt <= MQTYPE_INT64:
        return integer_read(value, text, size, dt)
    if dt == MQTYPE_FLOAT32 or dt == MQTYPE_FLOAT64:
        return float_read(value, text, size, dt)
    if dt == MQTYPE_BOOLEAN:
        return boolean_read(value, text, size)
    if dt == MQTYPE_BYTE_STRING:
        return hex_read(value, owner, text, size)
    return bytes_keep(value, owner, PyBytes_FromStringAndSize(<const char *> text, size))


cdef bint plain_read(
    Value *value, PyObject **owner, const uint8_t *text, Py_ssize_t size, int dt
) except -1:
    """Read a string of ASCII without escapes, or up to eight digits without a sign, as most values are.

    A word can be read from *text*. Returns whether it is one: nothing is said of others.
    """
    cdef PyObject *item
    cdef uint64_t word
    if dt == 0 or dt == MQTYPE_STRING:
        item = PyUnicode_New(size, 127)
        if size:
            memcpy(PyUnicode_DATA(item), text, size)
        value_own(value, owner, STRING, MQTYPE_STRING, item)
        return True
    if not MQTYPE_INT8 <= dt <= MQTYPE_INT64 or not 1 <= size <= 8:
        return False
    # The digits at the upper end, zeros below; two, four, eight of them at a time become one number.
    word = (word_at(text) ^ word_of(c"0")) << 8 * (8 - size)
    if ((word + word_of(0x76)) | word) & word_of(0x80):
        return False
    word = word * 10 + (word >> 8)
    word = (
        (word & 0x000000FF000000FFULL) * 0x000F424000000064ULL
        + (word >> 16 & 0x000000FF000000FFULL) * 0x0000271000000001ULL
    ) >> 32
    if word >> ((dt >> 1) - 1):
        return False
    value_integer(value, INT64 if dt == MQTYPE_INT64 else INT32, dt, <int64_t> word)
    return True


cdef int element_read(
    Value *value, PyObject **owner, const uint8_t *text, Py_ssize_t size, int dt, int conversion
) except -1:
    """Read an element as a JMS name wants it. Returns 0 or the number of a note."""
    cdef int trouble
    if conversion == AS_TYPED:
        return typed_read(value, owner, text, size, dt)
    if conversion == TO_STRING:
        return text_read(value, owner, text, size)
    if conversion == TO_INT32:
        return integer_read(value, text, size, MQTYPE_INT32)
    if conversion == TO_INT64:
        return integer_read(value, text, size, MQTYPE_INT64)
    if conversion == TO_TOPIC:
        trouble = text_read(value, owner, text, size)
        if trouble:
            return trouble
        return string_keep(value, owner, "topic://" + <str> <object> value.it.o)
    # TO_DELIVERY_MODE
    if integer_read(value, text, size, MQTYPE_INT32) == 0:
        word = DELIVERY_MODES.get(value.it.i)
        if word is not None:
            return string_keep(value, owner, word)
    value_null(value)
    return NOTE_VALUE_MALFORMED
