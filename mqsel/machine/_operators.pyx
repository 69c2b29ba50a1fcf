# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Operators on values of any types, and LIKE: what the machine calls for types that its loop does not handle inline.

Knows values and constants; knows no message. Follows language §5.
"""

from libc.stdint cimport uint16_t
from libc.string cimport memchr


cdef int value_compare_other(Value *left, Value *right, int mask, int mismatch) noexcept:
    cdef bint equal
    if is_number(left) and is_number(right):
        return TRUE if number_relation(left, right) & mask else FALSE
    if left.tag == NULL_VALUE or right.tag == NULL_VALUE:
        return UNKNOWN
    if left.tag != right.tag or (mask != MASK_EQUAL and mask != MASK_NOT_EQUAL):
        return mismatch
    if left.tag == STRING:
        equal = string_equal(left.it.o, right.it.o)
    elif left.tag == BOOLEAN:
        equal = left.it.i == right.it.i
    elif left.tag == BYTES:
        equal = bytes_equal(left.it.o, right.it.o)
    else:
        return mismatch
    return equal == (mask == MASK_EQUAL)


cdef int value_between_other(Value *operand, Value *low, Value *high, bint negated, Image *image) noexcept:
    cdef int first, second
    cdef int decided = TRUE if negated else FALSE  # by one of the bounds alone
    if image.between_literal and (
        operand.tag == NULL_VALUE or low.tag == NULL_VALUE or high.tag == NULL_VALUE
    ):
        return decided
    first = value_compare(operand, low, MASK_LESS if negated else MASK_GREATER_EQUAL, image.mismatch)
    if first == ERR or first == decided:
        return first
    second = value_compare(operand, high, MASK_GREATER if negated else MASK_LESS_EQUAL, image.mismatch)
    # UNKNOWN is what the second cannot overrule.
    return UNKNOWN if first == UNKNOWN and second != decided and second != ERR else second


cdef int value_arithmetic(Value *left, Value *right, uint32_t op, bint null_is_error) noexcept:
    """Compute ``left op right`` into left, for all types. Returns 0, or ERR."""
    cdef int tag
    cdef int64_t i, j
    cdef double a, b
    cdef float f, g
    if left.tag == INT64 and right.tag == INT64:
        tag = INT64
    elif left.tag == FLOAT64 and INT64 <= right.tag <= FLOAT64:
        tag = FLOAT64
    elif left.tag == NULL_VALUE or right.tag == NULL_VALUE:
        if null_is_error:
            return ERR
        left.tag = NULL_VALUE
        return 0
    elif not is_number(left) or not is_number(right):
        left.tag = POISON
        return 0
    else:
        tag = left.tag if left.tag > right.tag else right.tag
    if tag <= INT64:
        i = left.it.i
        j = right.it.i
        if op == ADD:
            i = <int64_t> (<uint64_t> i + <uint64_t> j)
        elif op == SUBTRACT:
            i = <int64_t> (<uint64_t> i - <uint64_t> j)
        elif op == MULTIPLY:
            i = <int64_t> (<uint64_t> i * <uint64_t> j)
        elif j == 0:
            return ERR
        elif j == -1:
            i = <int64_t> (0 - <uint64_t> i)
        else:
            i = i // j
        left.it.i = wrap32(i) if tag == INT32 else i
    elif tag == FLOAT64:
        a = as_double(left)
        b = as_double(right)
        left.it.d = a + b if op == ADD else a - b if op == SUBTRACT else a * b if op == MULTIPLY else a / b
    else:
        f = as_float(left)
        g = as_float(right)
        left.it.d = f + g if op == ADD else f - g if op == SUBTRACT else f * g if op == MULTIPLY else f / g
    left.tag = tag
    return 0


ctypedef fused Point:
    uint8_t
    uint16_t
    uint32_t


cdef inline bint segment_here(const Point *text, Segment *segment) noexcept:
    cdef Py_ssize_t at
    for at in range(segment.length):
        if text[at] != segment.points[at] and segment.points[at] != <uint32_t> ANY_POINT:
            return False
    return True


cdef inline Py_ssize_t segment_find(const Point *text, Py_ssize_t start, Py_ssize_t stop, Segment *segment) noexcept:
    """Find the leftmost place in [start, stop] where the segment stands; -1 if there is none."""
    cdef Py_ssize_t at = start
    cdef uint32_t first
    cdef const void *hit
    if segment.length == 0:
        return start
    first = segment.points[0]
    while at <= stop:
        if Point is uint8_t and first != <uint32_t> ANY_POINT:
            if first > 0xFF:
                return -1
            hit = memchr(text + at, first, stop - at + 1)
            if hit == NULL:
                return -1
            at = <const Point *> hit - text
        if segment_here(text + at, segment):
            return at
        at += 1
    return -1


cdef bint like_match(const Point *text, Py_ssize_t length, Like *like) noexcept:
    """Match greedily: the ends where they must stand, everything between as far left as it can.

    Leftmost is enough: a segment further right leaves less room for the next. So each code point of the text is
    compared with at most one segment's worth of pattern, O(length · len(pattern)) at worst.
    """
    cdef Segment *first = &like.segments[0]
    cdef Segment *last = &like.segments[like.count - 1]
    cdef Py_ssize_t at, stop, number
    if length < first.length or not segment_here(text, first):
        return False
    if like.count == 1:
        return length == first.length
    at = first.length
    stop = length - last.length
    if stop < at or not segment_here(text + stop, last):
        return False
    for number in range(1, like.count - 1):
        at = segment_find(text, at, stop - like.segments[number].length, &like.segments[number])
        if at < 0:
            return False
        at += like.segments[number].length
    return True


cdef int value_like(Value *value, Like *like, bint negated, int mismatch) noexcept:
    cdef bint found
    cdef int kind
    cdef void *data
    cdef Py_ssize_t length
    if value.tag != STRING:
        return UNKNOWN if value.tag == NULL_VALUE else mismatch
    kind = PyUnicode_KIND(value.it.o)
    data = PyUnicode_DATA(value.it.o)
    length = PyUnicode_GET_LENGTH(value.it.o)
    if kind == 1:
        found = like_match[uint8_t](<uint8_t *> data, length, like)
    elif kind == 2:
        found = like_match[uint16_t](<uint16_t *> data, length, like)
    else:
        found = like_match[uint32_t](<uint32_t *> data, length, like)
    return found != negated


cdef bint text_scan(Text *text, const uint8_t *data, const uint8_t *stop) noexcept:
    """Find a text that begins in [data, stop]."""
    while data <= stop:
        data = <const uint8_t *> memchr(data, text.data[0], stop - data + 1)
        if data == NULL:
            return False
        if bytes_same(data, text.data, text.size):
            return True
        data += 1
    return False
