# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Operators on values of any types, and LIKE: what the machine calls for types that its loop does not handle inline.

Knows values and constants; knows no message. Follows language §5.
"""

from libc.math cimport fmod
from libc.stdint cimport uint16_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memchr, memset

from mqsel.machine._opcodes cimport REMAINDER

cdef enum:
    SHORT_TEXT = 256        # code points up to which a product does no harm: 64 comparisons a code point at most
    PATIENCE = 256          # points that a search compares in vain, beyond four a place, before it sieves
    WINDOW = 1 << 15        # places that are sieved together
    SPARSE = 8              # words of places that are not worth striking any further
    STRETCH = 1 << 16       # places that are searched from one turn to the next: some milliseconds at worst

# Runs in the interpreter's own loop. There it looks for signals, for exceptions from other threads, and whether one of
# them has waited for the GIL as long as sys.getswitchinterval() says: their turns come at Python's pace, and only where
# somebody waits.
_TURN = eval("lambda: None")


cdef int turn_give() except -1:
    _TURN()
    return 0


# The same function, but an exception it raises stays set and is the caller's to notice (-1).
cdef int (*TURN)() noexcept
TURN = <int (*)() noexcept> <void *> turn_give


cdef int value_compare_other(Value *left, Value *right, int mask, int other) noexcept:
    cdef bint equal
    if is_number(left) and is_number(right):
        return TRUE if number_relation(left, right) & mask else FALSE
    if left.tag == NULL_VALUE or right.tag == NULL_VALUE:
        return UNKNOWN
    if left.tag != right.tag or (mask != MASK_EQUAL and mask != MASK_NOT_EQUAL):
        return other
    if left.tag == STRING:
        equal = string_equal(left.it.o, right.it.o)
    elif left.tag == BOOLEAN:
        equal = left.it.i == right.it.i
    elif left.tag == BYTES:
        equal = bytes_equal(left.it.o, right.it.o)
    else:
        return other
    return equal == (mask == MASK_EQUAL)


cdef int value_between_other(Value *operand, Value *low, Value *high, Step *step) noexcept:
    cdef int first, second
    cdef bint negated = step.mask
    cdef int decided = TRUE if negated else FALSE  # by one of the bounds alone
    if step.null != BY_BOUNDS and (
        operand.tag == NULL_VALUE or low.tag == NULL_VALUE or high.tag == NULL_VALUE
    ):
        return step.null
    first = value_compare(operand, low, MASK_LESS if negated else MASK_GREATER_EQUAL, step.other)
    if first == ERR or first == decided:
        return first
    second = value_compare(operand, high, MASK_GREATER if negated else MASK_LESS_EQUAL, step.other)
    # UNKNOWN is what the second cannot overrule.
    return UNKNOWN if first == UNKNOWN and second != decided and second != ERR else second


cdef int value_arithmetic(Value *left, Value *right, uint32_t op, int null) noexcept:
    """Compute ``left op right`` into left, for all types. Returns 0, or ERR.

    Args:
        null: what it yields for NULL, and NARROW if it follows that rule.
    """
    cdef int tag
    cdef int64_t i, j
    cdef double a, b
    cdef float f, g
    cdef bint narrow = null & NARROW
    if left.tag == INT64 and right.tag == INT64:
        tag = INT64
    elif left.tag == FLOAT64 and INT64 <= right.tag <= FLOAT64:
        tag = FLOAT64
    elif left.tag == NULL_VALUE or right.tag == NULL_VALUE:
        if null & ~NARROW == ERR:
            return ERR
        left.tag = NULL_VALUE
        return 0
    elif not is_number(left) or not is_number(right):
        left.tag = POISON
        return ERR if narrow else 0
    else:
        tag = left.tag if left.tag > right.tag else right.tag
        if narrow and tag == INT64 and left.tag == INT32 and wrap32(right.it.i) == right.it.i:
            tag = INT32
    if narrow and (tag == FLOAT32 or op == DIVIDE or op == REMAINDER):
        tag = FLOAT64
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
            i = 0 if op == REMAINDER else <int64_t> (0 - <uint64_t> i)
        else:
            i = i % j if op == REMAINDER else i // j
        left.it.i = wrap32(i) if tag == INT32 else i
    elif tag == FLOAT64:
        a = as_double(left)
        b = as_double(right)
        if op == REMAINDER:
            left.it.d = fmod(a, b)
        else:
            left.it.d = a + b if op == ADD else a - b if op == SUBTRACT else a * b if op == MULTIPLY else a / b
    else:
        f = as_float(left)
        g = as_float(right)
        if op == REMAINDER:
            left.it.d = fmod(f, g)  # which is exact
        else:
            left.it.d = f + g if op == ADD else f - g if op == SUBTRACT else f * g if op == MULTIPLY else f / g
    left.tag = tag
    return 0


ctypedef fused Point:
    uint8_t
    uint16_t
    uint32_t


cdef inline Py_ssize_t points_same(const Point *text, const uint32_t *points, Py_ssize_t length) noexcept:
    """Count the points that stand at a place, up to the first that does not."""
    cdef Py_ssize_t at
    for at in range(length):
        if text[at] != points[at] and points[at] != <uint32_t> ANY_POINT:
            return at
    return length


cdef inline bint segment_here(const Point *text, Segment *segment) noexcept:
    cdef Py_ssize_t at
    for at in range(segment.length):
        if text[at] != segment.points[at] and segment.points[at] != <uint32_t> ANY_POINT:
            return False
    return True


cdef inline Py_ssize_t segment_near(const Point *text, Py_ssize_t start, Py_ssize_t stop, Segment *segment) noexcept:
    """Find the leftmost place in [start, stop] of a short text where the segment stands; -1 if there is none.

    What `segment_find` sees to first costs a message up to a quarter of its instructions.
    """
    cdef Py_ssize_t at = start
    cdef uint32_t first
    cdef const void *hit
    if segment.length == 0:
        return start
    first = segment.points[0]
    if Point is uint8_t and first > 0xFF and first != <uint32_t> ANY_POINT:
        return -1
    while at <= stop:
        if Point is uint8_t and first != <uint32_t> ANY_POINT:
            hit = memchr(text + at, first, stop - at + 1)
            if hit == NULL:
                return -1
            at = <const Point *> hit - text
        if segment_here(text + at, segment):
            return at
        at += 1
    return -1


cdef Py_ssize_t segment_find(const Point *text, Py_ssize_t start, Py_ssize_t stop, Segment *segment) noexcept:
    """Find the leftmost place in [start, stop] where the segment stands; -1 if there is none.

    The _ before its first literal point, and behind its last, are a distance: nothing is compared there.
    """
    cdef const uint32_t *points = segment.points
    cdef Py_ssize_t length = segment.length
    cdef Py_ssize_t lead = 0
    cdef Py_ssize_t spent = 0
    cdef Py_ssize_t at, same
    cdef const void *hit
    while lead < length and points[lead] == <uint32_t> ANY_POINT:
        lead += 1
    if lead == length:
        return start if start <= stop else -1
    points += lead
    length -= lead
    while points[length - 1] == <uint32_t> ANY_POINT:
        length -= 1
    start += lead
    stop += lead
    at = start
    while at <= stop:
        if Point is uint8_t:
            if points[0] > 0xFF:
                return -1
            hit = memchr(text + at, points[0], stop - at + 1)
            if hit == NULL:
                return -1
            at = <const Point *> hit - text
        same = points_same(text + at, points, length)
        if same == length:
            return at - lead
        at += 1
        spent += same
        if spent > 4 * (at - start) + PATIENCE:
            at = points_sieve(text, at, stop, points, length)
            return at - lead if at >= 0 else -1
    return -1


cdef int number_order(const void *left, const void *right) noexcept nogil:
    cdef uint64_t a = (<const uint64_t *> left)[0]
    cdef uint64_t b = (<const uint64_t *> right)[0]
    return (a > b) - (a < b)


cdef Py_ssize_t points_sieve(
    const Point *text, Py_ssize_t start, Py_ssize_t stop, const uint32_t *points, Py_ssize_t length
) noexcept:
    """Find the leftmost place in [start, stop] where points stand, for texts that agree with them almost everywhere.

    A place is a bit, and a literal point strikes 64 places at once; points that are the same share the bits that say
    where they stand in the text. So the time is at most that of len(text) · length / 64 steps, and less where one point
    strikes all.
    """
    cdef Py_ssize_t window = max(WINDOW, length)
    cdef uint64_t *order = <uint64_t *> malloc(2 * length * sizeof(uint64_t))    # point and offset, sorted
    cdef uint64_t *groups = order + length           # how often a point stands in points, and where in order
    cdef uint64_t *marks = <uint64_t *> malloc(((window + length) // 64 + 3) * sizeof(uint64_t))
    cdef uint64_t *places = <uint64_t *> malloc((window // 64 + 1) * sizeof(uint64_t))
    cdef Py_ssize_t literals = 0
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t number, at, words, left, first, behind, offset
    cdef Py_ssize_t found = -1
    if order == NULL or marks == NULL or places == NULL or length > <Py_ssize_t> 0x7FFFFFFF:
        free(order)
        free(marks)
        free(places)
        while start <= stop and points_same(text + start, points, length) < length:  # no memory: as slow as it is
            start += 1
        return start if start <= stop else -1
    for at in range(length):
        if points[at] != <uint32_t> ANY_POINT:
            order[literals] = <uint64_t> points[at] << 32 | <uint64_t> at
            literals += 1
    qsort(order, literals, sizeof(uint64_t), number_order)
    first = 0
    for at in range(1, literals + 1):
        if at == literals or order[at] >> 32 != order[first] >> 32:
            groups[count] = <uint64_t> (at - first) << 32 | <uint64_t> first
            count += 1
            first = at
    qsort(groups, count, sizeof(uint64_t), number_order)  # a point that stands in points seldom likely strikes most
    while start <= stop and found < 0:
        window = min(window, stop - start + 1)
        words = (window + 63) // 64
        memset(places, 0xFF, words * sizeof(uint64_t))
        if window % 64:
            places[words - 1] = (<uint64_t> 1 << window % 64) - 1
        left = words
        number = 0
        while number < count and left > SPARSE:
            first = <Py_ssize_t> (groups[number] & 0xFFFFFFFF)
            behind = first + <Py_ssize_t> (groups[number] >> 32)
            marks_set(text + start, window + length - 1, <uint32_t> (order[first] >> 32), marks)
            for at in range(first, behind):
                offset = <Py_ssize_t> (order[at] & 0xFFFFFFFF)
                places_strike(places, words, marks + offset // 64, offset % 64)
                if at % 64 == 0 or at == behind - 1:
                    left = words_left(places, words)
                    if left <= SPARSE:
                        break
            number += 1
        for at in range(words):
            if places[at] == 0 or found >= 0:
                continue
            for offset in range(64):
                first = start + 64 * at + offset
                if places[at] >> offset & 1 and points_same(text + first, points, length) == length:
                    found = first
                    break
        start += window
    free(order)
    free(marks)
    free(places)
    return found


cdef inline void marks_set(const Point *text, Py_ssize_t size, uint32_t point, uint64_t *marks) noexcept:
    """Set a bit for each place of a text where a point stands, and clear two words behind them."""
    cdef Py_ssize_t at, bit
    cdef uint64_t word
    for at in range(size // 64):
        word = 0
        for bit in range(64):
            word |= <uint64_t> (text[64 * at + bit] == point) << bit
        marks[at] = word
    word = 0
    for bit in range(size % 64):
        word |= <uint64_t> (text[64 * (size // 64) + bit] == point) << bit
    marks[size // 64] = word
    marks[size // 64 + 1] = 0


cdef inline void places_strike(uint64_t *places, Py_ssize_t words, const uint64_t *marks, int shift) noexcept:
    """Keep the places for which the mark *shift* bits further on is set."""
    cdef Py_ssize_t at
    for at in range(words):
        places[at] &= marks[at] >> shift | marks[at + 1] << 1 << (63 - shift)


cdef inline Py_ssize_t words_left(const uint64_t *places, Py_ssize_t words) noexcept:
    cdef Py_ssize_t at
    cdef Py_ssize_t left = 0
    for at in range(words):
        left += places[at] != 0
    return left


cdef Py_ssize_t segment_far(const Point *text, Py_ssize_t start, Py_ssize_t stop, Segment *segment) noexcept:
    """Find a segment in a long text; others have their turns meanwhile. An exception that one raises is INTERRUPTED."""
    cdef Py_ssize_t found, end
    while True:
        end = min(stop, start + STRETCH)
        found = segment_find(text, start, end, segment)
        if found >= 0 or end == stop:
            return found
        if TURN() < 0:
            return INTERRUPTED
        start = end + 1


cdef inline int like_match(const Point *text, Py_ssize_t length, Like *like, bint is_short, bint is_far) noexcept:
    """Match greedily: the ends where they must stand, everything between as far left as it can.

    Leftmost is enough: a segment further right leaves less room for the next. So each code point of the text is
    searched for one segment, and that search takes O(length · len(segment) / 64) at worst.

    Returns: whether it matches; INTERRUPTED, if others had turns (*is_far*).
    """
    cdef Segment *first = &like.segments[0]
    cdef Segment *last = &like.segments[like.count - 1]
    cdef Segment *segment
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
        segment = &like.segments[number]
        if is_short:
            at = segment_near(text, at, stop - segment.length, segment)
            if at < 0:
                return False
        elif is_far:
            at = segment_far(text, at, stop - segment.length, segment)
        else:
            at = segment_find(text, at, stop - segment.length, segment)
        if at < 0:
            return at if at == INTERRUPTED else False
        at += segment.length
    return True


cdef int long_like(PyObject *text, Like *like, bint negated, bint is_far) noexcept:
    """Test LIKE of a text of any length; what *is_far* does, and what is returned beside truths, `like_match` says."""
    cdef int found
    cdef int kind = PyUnicode_KIND(text)
    cdef void *data = PyUnicode_DATA(text)
    cdef Py_ssize_t length = PyUnicode_GET_LENGTH(text)
    if kind == 1:
        found = like_match[uint8_t](<uint8_t *> data, length, like, False, is_far)
    elif kind == 2:
        found = like_match[uint16_t](<uint16_t *> data, length, like, False, is_far)
    else:
        found = like_match[uint32_t](<uint32_t *> data, length, like, False, is_far)
    return found if found == INTERRUPTED else found != negated


cdef int value_like(Value *value, Like *like, bint negated, int other) noexcept:
    """Test LIKE. LATER says that the text is long, and that others should have their turns: see `long_like`."""
    cdef int found
    cdef int kind
    cdef void *data
    cdef Py_ssize_t length
    if value.tag != STRING:
        return UNKNOWN if value.tag == NULL_VALUE else other
    kind = PyUnicode_KIND(value.it.o)
    data = PyUnicode_DATA(value.it.o)
    length = PyUnicode_GET_LENGTH(value.it.o)
    if length >= SHORT_TEXT and like.count > 2:
        return LATER if length >= LONG_TEXT else long_like(value.it.o, like, negated, False)
    if kind == 1:
        found = like_match[uint8_t](<uint8_t *> data, length, like, True, False)
    elif kind == 2:
        found = like_match[uint16_t](<uint16_t *> data, length, like, True, False)
    else:
        found = like_match[uint32_t](<uint32_t *> data, length, like, True, False)
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
