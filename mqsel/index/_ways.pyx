# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""The ways from what a message holds to a leaf: values, intervals, affixes, kinds of values, or none.

A leaf is true only of messages that lead to it by one of its ways; where the ways are exact, of all of those. Knows
leaves; knows no unit and no message.
"""

from libc.math cimport INFINITY, nextafter
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memset

from mqsel.index._draft cimport Items, items_room
from mqsel.index._parts cimport *


cdef int access_add(Items *found, int way, uint32_t attribute, int lane, uint64_t value) noexcept nogil:
    cdef Access *access
    if items_room(found, 1, sizeof(Access)) < 0:
        return -1
    access = <Access *> found.items + found.count
    memset(access, 0, sizeof(Access))
    access.way = way
    access.attribute = attribute
    access.lane = lane
    access.value = value
    found.count += 1
    return 0


cdef int access_numbers(Items *found, uint32_t attribute, double low, double high) noexcept nogil:
    """Add the way to numbers from one to another."""
    cdef Access *access
    if low == -INFINITY and high == INFINITY:
        return access_add(found, BY_PRESENCE, attribute, ANY_NUMBER, 0)
    if access_add(found, BY_POINT if low == high else BY_INTERVAL, attribute, LANE_NUMBER, number_bits(low)) < 0:
        return -1
    access = <Access *> found.items + found.count - 1
    access.low = low
    access.high = high
    return 0


cdef int access_kinds(Items *found, uint32_t attribute, int kinds, bint *exact) noexcept nogil:
    """Add the ways to whole kinds of values."""
    if kinds & (KIND_FALSE | KIND_TRUE) == KIND_FALSE | KIND_TRUE and kinds & KIND_NUMBER and kinds & KIND_STRING and (
        kinds & KIND_BYTES
    ):
        exact[0] = exact[0] and kinds & KIND_NAN
        if kinds & KIND_NULL and access_add(found, BY_PRESENCE, attribute, ANY_NULL, 0) < 0:
            return -1
        return access_add(found, BY_PRESENCE, attribute, ANY_VALUE, 0)
    if kinds & KIND_NULL and access_add(found, BY_PRESENCE, attribute, ANY_NULL, 0) < 0:
        return -1
    if kinds & (KIND_FALSE | KIND_TRUE) == KIND_FALSE | KIND_TRUE:
        if access_add(found, BY_PRESENCE, attribute, ANY_TRUTH, 0) < 0:
            return -1
    elif kinds & (KIND_FALSE | KIND_TRUE):
        if access_add(found, BY_POINT, attribute, LANE_TRUTH, kinds & KIND_TRUE != 0) < 0:
            return -1
    if kinds & KIND_NUMBER:
        exact[0] = exact[0] and kinds & KIND_NAN
        if access_add(found, BY_PRESENCE, attribute, ANY_NUMBER, 0) < 0:
            return -1
    elif kinds & KIND_NAN and access_add(found, BY_PRESENCE, attribute, ANY_NAN, 0) < 0:
        return -1
    if kinds & KIND_STRING and access_add(found, BY_PRESENCE, attribute, ANY_STRING, 0) < 0:
        return -1
    if kinds & KIND_BYTES and access_add(found, BY_PRESENCE, attribute, ANY_BYTES, 0) < 0:
        return -1
    return 0


cdef int by_low(const void *left, const void *right) noexcept nogil:
    cdef double a = (<const double *> left)[0]
    cdef double b = (<const double *> right)[0]
    return (a > b) - (a < b)


cdef int access_lanes(Items *found, const Leaf *leaf, uint32_t attribute) noexcept nogil:
    """Add the ways to the numbers of a leaf: doubles that surround those of each lane, as messages are rounded."""
    cdef const uint64_t *words = leaf_intervals(leaf)
    cdef uint32_t count = leaf.integers + leaf.floats32 + leaf.floats64
    cdef uint32_t at
    cdef double *ends
    cdef double low, high
    cdef int result = 0
    if count == 0:
        return 0
    ends = <double *> malloc(16 * <size_t> count)
    if ends == NULL:
        return -1
    for at in range(count):
        if at < leaf.integers:
            ends[2 * at] = <double> (<const int64_t *> words)[2 * at]
            ends[2 * at + 1] = <double> (<const int64_t *> words)[2 * at + 1]
        else:
            ends[2 * at] = (<const double *> words)[2 * at]
            ends[2 * at + 1] = (<const double *> words)[2 * at + 1]
    qsort(ends, count, 16, by_low)
    # The lanes of what is unbounded end in different numbers.
    low = ends[0]
    high = ends[1]
    for at in range(1, count + 1):
        if at < count and ends[2 * at] <= high:
            high = ends[2 * at + 1] if ends[2 * at + 1] > high else high
            continue
        if access_numbers(found, attribute, low, high) < 0:
            result = -1
            break
        if at < count:
            low = ends[2 * at]
            high = ends[2 * at + 1]
    free(ends)
    return result


cdef int access_pattern(Items *found, const uint32_t *numbers, uint32_t attribute) noexcept nogil:
    """Add the way to texts that match a pattern. Returns 1 if there is none but that they are texts."""
    cdef uint32_t segments = numbers[0]
    cdef uint32_t number, at, run, length
    cdef const uint32_t *points
    cdef const uint32_t *best = NULL
    cdef const uint32_t *start = numbers + 1
    cdef uint32_t most = 0
    cdef int way = 2
    cdef uint64_t hash
    cdef Access *access
    for number in range(segments):
        length = start[0]
        points = start + 1
        run = 0
        for at in range(length + 1):
            if at < length and points[at] != <uint32_t> ANY_POINT:
                run += 1
                continue
            # Characters at the beginning count more than those somewhere.
            if number == 0 and run == at and run > 0 and run + GRAM > most:
                way = 0
                most = run + GRAM
                best = points
            elif number == segments - 1 and at == length and run > 0 and run + GRAM > most:
                way = 1
                most = run + GRAM
                best = points + at - run
            elif run >= LEAST_GRAM and run > most:
                way = 2
                most = run
                best = points + at - run
            run = 0
        start += length + 1
    if best == NULL:
        return 1
    length = min(most, GRAM) if way == 2 else most - GRAM
    if way != 2 and length > AFFIX_MAX:
        best += length - AFFIX_MAX if way == 1 else 0
        length = AFFIX_MAX
    hash = affix_start(attribute, way)
    for at in range(length):
        hash = affix_more(hash, best[length - 1 - at] if way == 1 else best[at])
    if access_add(found, BY_AFFIX, attribute, way, affix_end(hash, way)) < 0:
        return -1
    access = <Access *> found.items + found.count - 1
    access.length = <int> length
    return 0


cdef int access_texts(Items *found, const Leaf *leaf, uint32_t attribute, bint *exact) noexcept nogil:
    """Add the ways to the strings and byte strings of a leaf."""
    cdef const uint32_t *numbers = leaf_strings(leaf)
    cdef uint64_t before = found.count
    cdef uint32_t at, segment
    cdef int result
    cdef bint whole = leaf.flags & LEAF_NOT_STRINGS != 0
    if not whole:
        for at in range(leaf.strings):
            if access_add(found, BY_POINT, attribute, LANE_TEXT, numbers[at]) < 0:
                return -1
        numbers = leaf_patterns(leaf)
        at = 0
        while at < leaf.patterns and not whole:
            exact[0] = False
            result = access_pattern(found, numbers + at, attribute)
            if result < 0:
                return -1
            whole = result == 1
            segment = numbers[at]
            at += 1
            while segment > 0:
                at += numbers[at] + 1
                segment -= 1
    if whole:
        found.count = before
        exact[0] = exact[0] and leaf.strings == 0 and leaf.patterns == 0
        if access_add(found, BY_PRESENCE, attribute, ANY_STRING, 0) < 0:
            return -1
    numbers = leaf_bytes(leaf)
    if leaf.flags & LEAF_NOT_BYTES:
        exact[0] = exact[0] and leaf.bytes == 0
        return access_add(found, BY_PRESENCE, attribute, ANY_BYTES, 0)
    for at in range(leaf.bytes):
        if access_add(found, BY_POINT, attribute, LANE_TEXT, numbers[at]) < 0:
            return -1
    return 0


cdef uint32_t needed(const Leaf *leaf) noexcept nogil:
    """Give an attribute without which a leaf of two or of arithmetic is not true; NONE if there is none."""
    cdef const Action *actions = <const Action *> (<const uint64_t *> leaf + LEAF_WORDS)
    cdef uint32_t at
    if leaf.kind == CODE:
        return NONE
    if leaf.kind == RELATION and leaf.outcomes & (128 | 256):    # Outcome.NULL, Outcome.ERROR
        return NONE
    # On NULL arithmetic is NULL, unless it is ERR before.
    if leaf.kind == SET and leaf.flags & (KIND_NULL | LEAF_ERROR):
        return NONE
    for at in range(2):
        if leaf.attribute[at] != NONE:
            return leaf.attribute[at]
    for at in range(leaf.actions[0] + leaf.actions[1]):
        if actions[at].what == PUSH_ATTRIBUTE:
            return actions[at].attribute
    return NONE


cdef int ways_find(const Segment *view, Items *found, const Step *step, bint *exact) noexcept nogil:
    """List the ways to a leaf. Sets whether they lead nowhere else. Returns 0, or -1 without memory.

    Args:
        found: Access, what was listed before is gone.
    """
    cdef int test = step.test & TEST_MASK
    cdef const Leaf *leaf
    cdef uint32_t attribute = step.attribute
    cdef double number = step.it.number
    found.count = 0
    exact[0] = True
    if test == LEAF:
        leaf = <const Leaf *> (view.pool + view.leaves[step.it.place])
        if leaf.kind != SET or leaf.attribute[0] == NONE:
            exact[0] = False
            attribute = needed(leaf)
            if attribute == NONE:
                return access_add(found, BY_NOTHING, 0, 0, 0)
            return access_add(found, BY_PRESENCE, attribute, ANY_VALUE, 0)
        attribute = leaf.attribute[0]
        if leaf.integers + leaf.floats32 + leaf.floats64:
            exact[0] = False
            if access_lanes(found, leaf, attribute) < 0:
                return -1
        if access_texts(found, leaf, attribute, exact) < 0:
            return -1
        if leaf.flags & LEAF_NAN32 != 0 or leaf.flags & LEAF_NAN64 != 0:
            exact[0] = False
            if access_add(found, BY_PRESENCE, attribute, ANY_NAN, 0) < 0:
                return -1
        return access_kinds(found, attribute, leaf.flags & (KIND_NULL | KIND_FALSE | KIND_TRUE), exact)
    if step.kinds == 127:
        return access_add(found, BY_NOTHING, 0, 0, 0)
    if step.kinds and access_kinds(found, attribute, step.kinds, exact) < 0:
        return -1
    if test == TEXT:
        return access_add(found, BY_POINT, attribute, LANE_TEXT, step.it.place)
    if test == OTHER_TEXT:
        exact[0] = False
        return access_add(found, BY_PRESENCE, attribute, ANY_STRING, 0)
    if test == EQUAL:
        return access_numbers(found, attribute, number, number)
    if test == UNEQUAL:
        if access_numbers(found, attribute, -INFINITY, nextafter(number, -INFINITY)) < 0:
            return -1
        return access_numbers(found, attribute, nextafter(number, INFINITY), INFINITY)
    if test == LEAST:
        return access_numbers(found, attribute, number, INFINITY)
    if test == MOST:
        return access_numbers(found, attribute, -INFINITY, number)
    if test == BETWEEN:
        return access_numbers(found, attribute, step.it.bounds[0], step.it.bounds[1])
    return 0
