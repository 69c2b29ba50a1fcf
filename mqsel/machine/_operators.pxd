# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
# Operators on values: comparison, arithmetic, LIKE and IN (language §5). The commonest types are handled inline, in the
# loop and in the columnar kernel; the others in the .pyx.

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp

from mqsel.machine._image cimport *
from mqsel.machine._opcodes cimport ADD, DIVIDE, MULTIPLY, SUBTRACT

cdef enum:
    LONG_SCAN = 32              # bytes from which memchr is quicker than looking at one after the other
    LONG_TEXT = 1 << 15         # code points from which others have their turns while it is searched
    LATER = 4                   # instead of a truth value: a long text, see value_like
    INTERRUPTED = -2            # instead of one: a turn raised an exception, which is set

cdef int value_compare_other(Value *left, Value *right, int mask, int other) noexcept
cdef int value_between_other(Value *operand, Value *low, Value *high, Step *step) noexcept
cdef int value_arithmetic(Value *left, Value *right, uint32_t op, int null) noexcept
cdef int turn_give() except -1
cdef int long_like(PyObject *text, Like *like, bint negated, bint is_far) noexcept
cdef int value_like(Value *value, Like *like, bint negated, int other) noexcept
cdef bint text_scan(Text *text, const uint8_t *data, const uint8_t *stop) noexcept


cdef inline int integer_relation(int64_t a, int64_t b) noexcept:
    return IS_EQUAL if a == b else IS_LESS if a < b else IS_GREATER


cdef inline int float_relation(double a, double b) noexcept:
    if a < b:
        return IS_LESS
    if a > b:
        return IS_GREATER
    return IS_EQUAL if a == b else IS_UNORDERED


cdef inline int number_relation(Value *left, Value *right) noexcept:
    """Compare two numbers after Java's binary promotion."""
    if left.tag <= INT64 and right.tag <= INT64:
        return integer_relation(left.it.i, right.it.i)
    if left.tag == FLOAT64 or right.tag == FLOAT64:
        return float_relation(as_double(left), as_double(right))
    return float_relation(as_float(left), as_float(right))


cdef inline bint bytes_same(const uint8_t *left, const uint8_t *right, Py_ssize_t size) noexcept:
    """Compare short runs of bytes in line; memcmp costs a call."""
    if size >= 8:
        if load64(left) != load64(right) or load64(left + size - 8) != load64(right + size - 8):
            return False
        return size <= 16 or memcmp(left, right, size) == 0
    if size >= 4:
        return load32(left) == load32(right) and load32(left + size - 4) == load32(right + size - 4)
    return size == 0 or (
        left[0] == right[0] and left[size >> 1] == right[size >> 1] and left[size - 1] == right[size - 1]
    )


cdef inline bint text_equal(Text *text, PyObject *string) noexcept:
    """Compare a string with a constant."""
    return (
        PyUnicode_GET_LENGTH(string) == text.length
        and PyUnicode_KIND(string) == text.kind
        and bytes_same(<const uint8_t *> PyUnicode_DATA(string), text.data, text.size)
    )


cdef inline int value_compare(Value *left, Value *right, int mask, int other) noexcept:
    """Compare two values; NULL wins over a mismatch. The two commonest pairs of types come first."""
    if left.tag == INT64 and right.tag == INT64:
        return (mask & integer_relation(left.it.i, right.it.i)) != 0
    if left.tag == FLOAT64 and right.tag == FLOAT64:
        return (mask & float_relation(left.it.d, right.it.d)) != 0
    return value_compare_other(left, right, mask, other)


cdef inline int value_between(Value *operand, Value *low, Value *high, Step *step) noexcept:
    """BETWEEN is ``>= AND <=``, NOT BETWEEN ``< OR >``; the step has what a NULL makes of them."""
    if operand.tag == INT64 and low.tag == INT64 and high.tag == INT64:
        return (low.it.i <= operand.it.i <= high.it.i) != step.mask
    return value_between_other(operand, low, high, step)


cdef inline int64_t wrap32(int64_t number) noexcept:
    return <int64_t> <int32_t> <uint32_t> <uint64_t> number


cdef inline int value_operate(Value *result, Value *left, Value *right, uint32_t op, int null) noexcept:
    """Compute ``left op right``, the commonest pairs of types in line; result may be left. Returns 0, or ERR."""
    cdef double a, b
    if left.tag == INT64 and right.tag == INT64 and op != DIVIDE:
        result.tag = INT64
        if op == ADD:
            result.it.i = <int64_t> (<uint64_t> left.it.i + <uint64_t> right.it.i)
        elif op == SUBTRACT:
            result.it.i = <int64_t> (<uint64_t> left.it.i - <uint64_t> right.it.i)
        else:
            result.it.i = <int64_t> (<uint64_t> left.it.i * <uint64_t> right.it.i)
        return 0
    if left.tag == FLOAT64 and (right.tag == INT64 or right.tag == FLOAT64):
        a = left.it.d
        b = as_double(right)
        result.tag = FLOAT64
        result.it.d = a + b if op == ADD else a - b if op == SUBTRACT else a * b if op == MULTIPLY else a / b
        return 0
    value_copy(result, left)
    return value_arithmetic(result, right, op, null)


cdef inline int value_sign(Value *value, bint minus, int null) noexcept:
    """Apply a unary sign to the value. Returns 0, or ERR."""
    if value.tag == NULL_VALUE:
        return ERR if null & ~NARROW == ERR else 0
    if not is_number(value):
        value.tag = POISON
    elif minus and value.tag >= FLOAT32:
        value.it.d = -value.it.d
    elif minus:
        value.it.i = <int64_t> (0 - <uint64_t> value.it.i)
        if value.tag == INT32:
            value.it.i = wrap32(value.it.i)
    return 0


cdef inline bint affix_match(Text *text, const uint8_t *data, Py_ssize_t length, int shape) noexcept:
    """Compare a text with a string whose characters are as wide, byte by byte."""
    cdef const uint8_t *wanted = text.data
    cdef const uint8_t *stop
    if length < text.length:
        return False
    if shape == AFFIX_START:
        return bytes_same(data, wanted, text.size)
    stop = data + (length - text.length) * text.kind
    if shape == AFFIX_END:
        return bytes_same(stop, wanted, text.size)
    if stop - data >= LONG_SCAN:
        return text_scan(text, data, stop)
    while data <= stop:
        if data[0] == wanted[0] and bytes_same(data, wanted, text.size):
            return True
        data += 1
    return False


cdef inline int value_affix(Value *value, Like *like, int shape, bint negated, int other) noexcept:
    """Test STARTS_WITH, ENDS_WITH or CONTAINS."""
    # Wider code points could match at half of one: anywhere is for single bytes.
    if (
        value.tag == STRING
        and PyUnicode_KIND(value.it.o) == like.text.kind
        and (shape != AFFIX_ANYWHERE or (like.text.kind == 1 and PyUnicode_GET_LENGTH(value.it.o) < LONG_TEXT))
    ):
        return negated != affix_match(
            &like.text, <const uint8_t *> PyUnicode_DATA(value.it.o), PyUnicode_GET_LENGTH(value.it.o), shape
        )
    return value_like(value, like, negated, other)


cdef inline Py_ssize_t choices_find(Choices *choices, PyObject *string) noexcept:
    """Return the number of *string* among the choices, or -1."""
    cdef const uint8_t *data = <const uint8_t *> PyUnicode_DATA(string)
    cdef Py_ssize_t length = PyUnicode_GET_LENGTH(string)
    cdef int kind = PyUnicode_KIND(string)
    cdef Py_ssize_t number
    cdef uint32_t place
    cdef Text *text
    if choices.table == NULL:
        for number in range(choices.count):
            text = &choices.items[number]
            if text.length == length and text.kind == kind and bytes_same(data, text.data, text.size):
                return number
        return -1
    place = bytes_hash(data, length * kind) & choices.mask
    while choices.table[place]:
        number = choices.table[place] - 1
        text = &choices.items[number]
        if text.length == length and text.kind == kind and bytes_same(data, text.data, text.size):
            return number
        place = (place + 1) & choices.mask
    return -1


cdef inline int value_in(Value *value, Choices *choices, bint negated, int other) noexcept:
    if value.tag != STRING:
        return UNKNOWN if value.tag == NULL_VALUE else other
    return (choices_find(choices, value.it.o) >= 0) != negated
