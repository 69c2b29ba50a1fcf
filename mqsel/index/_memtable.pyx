# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""The memtable: formulas of the normal form as clauses of steps, each string, leaf and clause known once.

A clause is what has to be true of a message for a selector to be, or for one part of it where it is an OR. In a clause
a step stands for each leaf, in order; it holds the depth of the group that it has in common with the next. From the
depths follow both the tree and the jumps of evaluation that stops as soon as it knows. What most leaves are fits into
the step; others lie in a pool.

What is read counts when it is committed; until then it can be taken back, whatever was wrong. Knows formulas; knows no
message.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.list cimport PyList_GET_SIZE
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from libc.math cimport INFINITY, ceil, fabs, floor, nextafter
from libc.stdint cimport INT64_MAX, INT64_MIN, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort
from libc.string cimport memcmp, memcpy, memset

from mqsel.index._segment cimport *
from mqsel.machine._image cimport NARROW
from mqsel.machine._opcodes cimport ADD, DIVIDE, MULTIPLY, REMAINDER, SUBTRACT
from mqsel.machine._values cimport FLOAT32, INT32, PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND

from mqsel.errors import ArgumentError
from mqsel.index.computed import attribute_of
from mqsel.language.nodes import Arithmetic, Computed, Identifier, Literal, Sign
from mqsel.logic import formulas, sets


# A set is a row of logic/sets.py, `Values`; so are its parts, by their places.

cdef inline PyObject *field(PyObject *row, Py_ssize_t number) noexcept:
    return <PyObject *> PyTuple_GET_ITEM(<object> row, number)


cdef inline void integers_at(PyObject *intervals, Py_ssize_t number, int64_t *low, int64_t *high) noexcept:
    cdef PyObject *pair = field(intervals, number)
    low[0] = <object> field(pair, 0)
    high[0] = <object> field(pair, 1)


cdef inline void floats_at(PyObject *intervals, Py_ssize_t number, double *low, double *high) noexcept:
    cdef PyObject *pair = field(intervals, number)
    low[0] = <object> field(pair, 0)
    high[0] = <object> field(pair, 1)


# ---- tables ------------------------------------------------------------------------------------------------------

cdef int table_room(HashTable *table, uint64_t count) noexcept nogil:
    """Reserve room for *count* items in a table.

    Returns: 0; 1 if the table is empty now, and the items have to be put again; -1 without memory: it is as it was.
    """
    cdef uint64_t size = table.size
    cdef uint32_t *numbers
    if size and 2 * count <= size:
        return 0
    while size < 64 or size < 4 * count:
        size = 2 * size if size else 64
    numbers = <uint32_t *> calloc(size, 4)
    if numbers == NULL:
        return -1
    free(table.numbers)
    table.numbers = numbers
    table.size = size
    return 1


cdef inline void table_put(HashTable *table, uint32_t hash, uint32_t number) noexcept nogil:
    cdef uint64_t slot = slot_of(hash, table.size)
    while table.numbers[slot]:
        slot = (slot + 1) & (table.size - 1)
    table.numbers[slot] = number + 1


cdef void table_drop(HashTable *table, uint32_t hash, uint64_t number) noexcept nogil:
    """Remove the number that was put last: nothing else was moved on by it."""
    cdef uint64_t slot = slot_of(hash, table.size)
    while table.numbers[slot] != number + 1:
        slot = (slot + 1) & (table.size - 1)
    table.numbers[slot] = 0


cdef Mark draft_mark(const Draft *draft) noexcept nogil:
    """Return what `draft_rewind` goes back to."""
    cdef Mark mark
    mark.strings = draft.strings.count
    mark.texts = draft.texts.count
    mark.pool = draft.pool.count
    mark.leaves = draft.leaves.count
    mark.code = draft.code.count
    mark.clauses = draft.clauses.count
    return mark


cdef void draft_rewind(Draft *draft, const Mark *mark) noexcept nogil:
    """Undo the strings, leaves and clauses that came since; no place may have one of these clauses."""
    while draft.clauses.count > mark.clauses:
        draft.clauses.count -= 1
        table_drop(
            &draft.clause_table, (<DraftClause *> draft.clauses.items)[draft.clauses.count].hash, draft.clauses.count
        )
    while draft.leaves.count > mark.leaves:
        draft.leaves.count -= 1
        table_drop(&draft.leaf_table, (<uint32_t *> draft.leaf_hashes.items)[draft.leaves.count], draft.leaves.count)
    while draft.strings.count > mark.strings:
        draft.strings.count -= 1
        table_drop(
            &draft.string_table, (<uint32_t *> draft.string_hashes.items)[draft.strings.count], draft.strings.count
        )
    draft.string_hashes.count = mark.strings
    draft.leaf_hashes.count = mark.leaves
    draft.texts.count = mark.texts
    draft.pool.count = mark.pool
    draft.code.count = mark.code


cdef void draft_free(Draft *draft) noexcept nogil:
    free(draft.strings.items)
    free(draft.string_hashes.items)
    free(draft.string_table.numbers)
    free(draft.texts.items)
    free(draft.pool.items)
    free(draft.leaves.items)
    free(draft.leaf_hashes.items)
    free(draft.leaf_table.numbers)
    free(draft.code.items)
    free(draft.clauses.items)
    free(draft.clause_table.numbers)
    free(draft.links.items)
    free(draft.work.items)
    memset(draft, 0, sizeof(Draft))


cdef uint32_t draft_string(Draft *draft, const uint8_t *data, uint64_t size, int kind, uint32_t hash) noexcept nogil:
    """Return the number of a string, or NONE without memory."""
    cdef SegmentArrays view
    cdef uint32_t *hashes
    cdef const uint8_t *known
    cdef uint8_t *texts
    cdef uint64_t slot, number, known_size
    cdef int fresh, known_kind
    if size >= NONE or draft.texts.count + size + 1 >= NONE or draft.strings.count >= NONE - 1:
        return NONE
    fresh = table_room(&draft.string_table, draft.strings.count + 1)
    if fresh < 0:
        return NONE
    hashes = <uint32_t *> draft.string_hashes.items
    if fresh:
        for number in range(draft.strings.count):
            table_put(&draft.string_table, hashes[number], <uint32_t> number)
    draft_view(draft, &view, 0)
    slot = slot_of(hash, draft.string_table.size)
    while draft.string_table.numbers[slot]:
        number = draft.string_table.numbers[slot] - 1
        if (
            hashes[number] == hash and string_at(&view, <uint32_t> number, &known, &known_size, &known_kind)
            and known_size == size and known_kind == kind and memcmp(known, data, size) == 0
        ):
            return <uint32_t> number
        slot = (slot + 1) & (draft.string_table.size - 1)
    if (
        items_room(&draft.strings, 1, 4) < 0 or items_room(&draft.string_hashes, 1, 4) < 0
        or items_room(&draft.texts, size + 1, 1) < 0
    ):
        return NONE
    number = draft.strings.count
    (<uint32_t *> draft.strings.items)[number] = <uint32_t> draft.texts.count
    (<uint32_t *> draft.string_hashes.items)[number] = hash
    texts = <uint8_t *> draft.texts.items + draft.texts.count
    texts[0] = <uint8_t> kind
    memcpy(texts + 1, data, size)
    draft.texts.count += size + 1
    draft.strings.count += 1
    draft.string_hashes.count += 1
    draft.string_table.numbers[slot] = <uint32_t> number + 1
    return <uint32_t> number


cdef uint32_t draft_leaf(Draft *draft, const PooledLeaf *leaf) noexcept nogil:
    """Return the number of a leaf, or NONE without memory."""
    cdef uint32_t hash = text_hash(<const uint8_t *> leaf, 8 * <uint64_t> leaf.words, 0)
    cdef uint32_t *starts
    cdef uint32_t *hashes
    cdef uint64_t slot, number
    cdef int fresh
    if draft.pool.count + leaf.words >= NONE // 2:  # an affix is found by the halves of words
        return NONE
    fresh = table_room(&draft.leaf_table, draft.leaves.count + 1)
    if fresh < 0:
        return NONE
    starts = <uint32_t *> draft.leaves.items
    hashes = <uint32_t *> draft.leaf_hashes.items
    if fresh:
        for number in range(draft.leaves.count):
            table_put(&draft.leaf_table, hashes[number], <uint32_t> number)
    slot = slot_of(hash, draft.leaf_table.size)
    while draft.leaf_table.numbers[slot]:
        number = draft.leaf_table.numbers[slot] - 1
        if hashes[number] == hash and memcmp(
            <uint64_t *> draft.pool.items + starts[number], leaf, 8 * <uint64_t> leaf.words
        ) == 0:
            return <uint32_t> number
        slot = (slot + 1) & (draft.leaf_table.size - 1)
    if (
        items_room(&draft.pool, leaf.words, 8) < 0 or items_room(&draft.leaves, 1, 4) < 0
        or items_room(&draft.leaf_hashes, 1, 4) < 0
    ):
        return NONE
    number = draft.leaves.count
    memcpy(<uint64_t *> draft.pool.items + draft.pool.count, leaf, 8 * <uint64_t> leaf.words)
    (<uint32_t *> draft.leaves.items)[number] = <uint32_t> draft.pool.count
    (<uint32_t *> draft.leaf_hashes.items)[number] = hash
    draft.pool.count += leaf.words
    draft.leaves.count += 1
    draft.leaf_hashes.count += 1
    draft.leaf_table.numbers[slot] = <uint32_t> number + 1
    return <uint32_t> number


cdef int steps_link(Draft *draft, ClauseStep *steps, uint64_t count) noexcept nogil:
    """Work out where each step goes on, from the depths between them. Returns 0, or -1 without memory."""
    cdef uint32_t *smaller          # of each gap the next of less depth; the last step has none behind it
    cdef uint32_t *other            # of each gap the next of less and less depth that is of the other connective
    cdef uint64_t at = count - 1
    cdef uint32_t last = <uint32_t> (count - 1)
    cdef uint32_t next, depth
    draft.work.count = 0
    if count > MOST_STEPS or items_room(&draft.work, 2 * count, 4) < 0:
        return -1
    smaller = <uint32_t *> draft.work.items
    other = smaller + count
    steps[last].test = steps[last].test & TEST_MASK | LAST << TEST_BITS
    steps[last].link = 0
    while at > 0:
        at -= 1
        depth = steps[at].link >> JUMP_BITS
        next = <uint32_t> at + 1
        while next < last and steps[next].link >> JUMP_BITS >= depth:
            next = smaller[next]
        smaller[at] = next
        if next < last and steps[next].test >> TEST_BITS == steps[at].test >> TEST_BITS:
            next = other[next]
        other[at] = next
        steps[at].link = depth << JUMP_BITS | (2 * (next + 1 - <uint32_t> at) if next < last else 0)
    return 0


cdef uint32_t draft_clause(Draft *draft, const ClauseStep *steps, uint64_t count) noexcept nogil:
    """Return the number of the clause that some steps are, of which only the depths count; NONE without memory."""
    cdef uint32_t hash
    cdef uint64_t slot, number
    cdef ClauseStep *code
    cdef DraftClause *clauses
    cdef int fresh
    if items_room(&draft.code, count, sizeof(ClauseStep)) < 0 or draft.code.count + count >= NONE // 2:
        return NONE
    if items_room(&draft.clauses, 1, sizeof(DraftClause)) < 0:
        return NONE
    code = <ClauseStep *> draft.code.items + draft.code.count
    memcpy(code, steps, count * sizeof(ClauseStep))
    if steps_link(draft, code, count) < 0:
        return NONE
    hash = text_hash(<const uint8_t *> code, count * sizeof(ClauseStep), 0)
    clauses = <DraftClause *> draft.clauses.items
    fresh = table_room(&draft.clause_table, draft.clauses.count + 1)
    if fresh < 0:
        return NONE
    if fresh:
        for number in range(draft.clauses.count):
            table_put(&draft.clause_table, clauses[number].hash, <uint32_t> number)
    slot = slot_of(hash, draft.clause_table.size)
    while draft.clause_table.numbers[slot]:
        number = draft.clause_table.numbers[slot] - 1
        if clauses[number].hash == hash and clauses[number].steps == count and memcmp(
            <ClauseStep *> draft.code.items + clauses[number].code, code, count * sizeof(ClauseStep)
        ) == 0:
            return <uint32_t> number
        slot = (slot + 1) & (draft.clause_table.size - 1)
    number = draft.clauses.count
    clauses[number].code = <uint32_t> draft.code.count
    clauses[number].steps = <uint32_t> count
    clauses[number].hash = hash
    clauses[number].link = 0
    draft.code.count += count
    draft.clauses.count += 1
    draft.clause_table.numbers[slot] = <uint32_t> number + 1
    return <uint32_t> number


cdef int draft_place(Draft *draft, uint32_t clause, uint32_t place) noexcept nogil:
    """Note that a clause makes a place true. Returns 0, or -1 without memory."""
    cdef DraftClause *found = <DraftClause *> draft.clauses.items + clause
    cdef Link *links = <Link *> draft.links.items
    if found.link and links[found.link - 1].place == place:
        return 0
    if items_room(&draft.links, 1, sizeof(Link)) < 0 or draft.links.count >= NONE - 1:
        return -1
    links = <Link *> draft.links.items
    links[draft.links.count].place = place
    links[draft.links.count].next = found.link
    draft.links.count += 1
    found.link = <uint32_t> draft.links.count
    if place >= draft.place_limit:
        draft.place_limit = place + 1
    return 0


cdef uint64_t places_count(const Draft *draft) except? 0xFFFFFFFFFFFFFFFF nogil:
    """Count the places that clauses have, each once."""
    cdef const Link *links = <const Link *> draft.links.items
    cdef uint8_t *bits = <uint8_t *> calloc(<size_t> draft.place_limit // 8 + 1, 1)
    cdef uint64_t at
    cdef uint64_t count = 0
    if bits == NULL:
        with gil:
            raise MemoryError
    for at in range(draft.links.count):
        if not bits[links[at].place >> 3] >> (links[at].place & 7) & 1:
            bits[links[at].place >> 3] |= <uint8_t> (1 << (links[at].place & 7))
            count += 1
    free(bits)
    return count


cdef void draft_view(Draft *draft, SegmentArrays *segment, uint32_t attributes) noexcept nogil:
    """Let a draft be run as it is; nothing but its clauses, leaves and strings counts."""
    memset(segment, 0, sizeof(SegmentArrays))
    segment.attribute_count = attributes
    segment.string_count = <uint32_t> draft.strings.count
    segment.string_slots = <uint32_t> draft.string_table.size
    segment.string_bits = 32
    segment.leaf_count = <uint32_t> draft.leaves.count
    segment.code_count = 2 * <uint32_t> draft.code.count
    segment.clause_count = <uint32_t> draft.clauses.count
    segment.place_limit = draft.place_limit
    segment.text_size = draft.texts.count
    segment.pool_size = draft.pool.count
    segment.strings = <const uint32_t *> draft.strings.items
    segment.string_table = draft.string_table.numbers
    segment.texts = <const uint8_t *> draft.texts.items
    segment.pool = <const uint64_t *> draft.pool.items
    segment.leaves = <const uint32_t *> draft.leaves.items
    segment.code = <const uint64_t *> draft.code.items


# ---- sets of numbers that are one test of a double ----

cdef extern from "math.h" nogil:
    float nextafterf(float start, float towards)

cdef double EXACT = 4503599627370496.0  # 2**52: up to here a bound is one for integers as for their doubles


cdef inline float float_from(double number) noexcept:
    """Return the least float that is at least *number*."""
    cdef float near = <float> number
    return nextafterf(near, <float> INFINITY) if <double> near < number else near


cdef inline float float_to(double number) noexcept:
    cdef float near = <float> number
    return nextafterf(near, <float> -INFINITY) if <double> near > number else near


cdef bint integers_are(PyObject *intervals, const int64_t *ends, Py_ssize_t count) noexcept:
    """Report whether the intervals of the integers end in these numbers."""
    cdef Py_ssize_t at
    cdef int64_t low, high
    if PyTuple_GET_SIZE(<object> intervals) != count:
        return False
    for at in range(count):
        integers_at(intervals, at, &low, &high)
        if low != ends[2 * at] or high != ends[2 * at + 1]:
            return False
    return True


cdef bint floats_are(PyObject *floats, const double *ends, Py_ssize_t count) noexcept:
    """Report whether the intervals of a lane of floats end in these numbers."""
    cdef PyObject *intervals = field(floats, 0)
    cdef Py_ssize_t at
    cdef double low, high
    if PyTuple_GET_SIZE(<object> intervals) != count:
        return False
    for at in range(count):
        floats_at(intervals, at, &low, &high)
        if low != ends[2 * at] or high != ends[2 * at + 1]:
            return False
    return True


cdef bint is_interval(PyObject *values, double low, double high) noexcept:
    """Report whether the integers and floats of a set are those whose doubles lie in [low, high]."""
    cdef int64_t integers[2]
    cdef double floats[2]
    if not (low == -INFINITY or -EXACT <= low <= EXACT) or not (high == INFINITY or -EXACT <= high <= EXACT):
        return False
    integers[0] = INT64_MIN if low == -INFINITY else <int64_t> ceil(low)
    integers[1] = INT64_MAX if high == INFINITY else <int64_t> floor(high)
    floats[0] = float_from(low)
    floats[1] = float_to(high)
    return integers_are(field(values, 2), integers, integers[0] <= integers[1]) and (
        floats_are(field(values, 3), floats, floats[0] <= floats[1])
    )


cdef bint is_all_numbers(PyObject *values) noexcept:
    """Report whether a set has all numbers but NaN, which does not count."""
    cdef double all[2]
    all[0] = -INFINITY
    all[1] = INFINITY
    return floats_are(field(values, 4), all, 1) and is_interval(values, -INFINITY, INFINITY)


cdef bint is_all_but(PyObject *values, double low, double high) noexcept:
    """Report whether the integers and floats of a set are all whose doubles do not lie in [low, high]."""
    cdef int64_t integers[4]
    cdef double floats[4]
    cdef bint is_integer, is_float
    if not -EXACT <= low <= high <= EXACT:
        return False
    is_integer = ceil(low) <= floor(high)
    is_float = float_from(low) <= float_to(high)
    integers[0] = INT64_MIN
    integers[1] = <int64_t> ceil(low) - 1 if is_integer else INT64_MAX
    integers[2] = <int64_t> floor(high) + 1
    integers[3] = INT64_MAX
    floats[0] = -INFINITY
    floats[1] = nextafterf(float_from(low), <float> -INFINITY) if is_float else INFINITY
    floats[2] = nextafterf(float_to(high), <float> INFINITY)
    floats[3] = INFINITY
    return integers_are(field(values, 2), integers, 1 + is_integer) and (
        floats_are(field(values, 3), floats, 1 + is_float)
    )


cdef bint number_step(PyObject *values, ClauseStep *step) noexcept:
    """Write the numbers of a set into a step, if they fit."""
    cdef PyObject *doubles = field(field(values, 4), 0)
    cdef Py_ssize_t count = PyTuple_GET_SIZE(<object> doubles)
    cdef double low, high, from_, to
    if count == 1:
        floats_at(doubles, 0, &low, &high)
        if low == INFINITY or high == -INFINITY or not is_interval(values, low, high):
            return False
        if <double> <float> low == low and <double> <float> high == high:
            step.test = BETWEEN
            step.it.bounds[0] = <float> low
            step.it.bounds[1] = <float> high
        elif low == high:
            step.test = EQUAL
            step.it.number = low
        elif low == -INFINITY:
            step.test = MOST
            step.it.number = high
        elif high == INFINITY:
            step.test = LEAST
            step.it.number = low
        else:
            return False
        return True
    if count != 2:
        return False
    floats_at(doubles, 0, &low, &high)
    floats_at(doubles, 1, &from_, &to)
    high = nextafter(high, INFINITY) + 0.0
    from_ = nextafter(from_, -INFINITY) + 0.0
    if low != -INFINITY or to != INFINITY or not is_all_but(values, high, from_):
        return False
    if high == from_:
        step.test = UNEQUAL
        step.it.number = high
        return True
    step.test = OUTSIDE
    step.it.bounds[0] = <float> high
    step.it.bounds[1] = <float> from_
    return <double> step.it.bounds[0] == high and <double> step.it.bounds[1] == from_


# ---- arithmetic that is a range of codes ----

cdef uint32_t property_of(const PooledLeaf *leaf) noexcept:
    """Return the property of arithmetic that, up to CODED, never falls, or never rises, as it rises; NONE of any other.

    Each operation of a number with a constant does one or the other, a division that cuts off or rounds, too; unless an
    integer wraps, or the divisor is the property, or there is a remainder.
    """
    cdef const ArithmeticStep *action = <const ArithmeticStep *> (<const uint64_t *> leaf + LEAF_WORDS)
    cdef double most = CODED    # that is computed, either way
    cdef double constant = 0
    cdef bint is_constant = False
    cdef uint32_t found = NONE
    cdef uint32_t _
    for _ in range(leaf.actions[0] if leaf.depth <= 2 else 0):
        if action.what == COMPUTE:
            if found == NONE or action.op == REMAINDER or action.op == DIVIDE and not is_constant:
                return NONE
            most = (
                most * constant if action.op == MULTIPLY else most / constant if action.op == DIVIDE
                else most + constant
            )
        is_constant = action.what == PUSH_INTEGER or action.what == PUSH_DOUBLE
        if is_constant:
            memcpy(&constant, &action.number, 8)
            constant = fabs(<double> action.number if action.what == PUSH_INTEGER else constant)
        elif action.what == PUSH_ATTRIBUTE:
            if found != NONE or action.attribute >= 65536:
                return NONE
            found = action.attribute
        if not most < 1 << 31:  # NaN, too
            return NONE
        action += 1
    return found


cdef int side_of(const PooledLeaf *leaf, int way, int tag, int32_t number) noexcept:
    """Report whether arithmetic of a number is before its set (-1), in it, or behind it (1), as the number rises."""
    cdef const double *ends = <const double *> leaf_intervals(leaf)
    cdef Value value
    cdef Value[2] stack
    cdef Value *made
    value.tag = tag
    value.it.d = number
    if tag <= INT64:
        value.it.i = number
    made = operand_run(
        <const ArithmeticStep *> (<const uint64_t *> leaf + LEAF_WORDS), leaf.actions[0], stack, NULL, 0, &value
    )
    if made.tag <= INT64:
        return way * ((made.it.i > (<const int64_t *> ends)[1]) - (made.it.i < (<const int64_t *> ends)[0]))
    ends += 2 if made.tag == FLOAT32 else 4
    return way * ((made.it.d > ends[1]) - (made.it.d < ends[0]))


cdef int32_t code_before(const PooledLeaf *leaf, int way, int side) noexcept:
    """Return the code just before the first whole number that is on a side or behind it; -1 if types differ in that."""
    cdef int32_t low = -CODED - 1
    cdef int32_t high = CODED + 1
    cdef int32_t middle
    cdef int tag
    while high - low > 1:
        middle = low + (high - low) // 2
        if side_of(leaf, way, INT64, middle) < side:
            low = middle
        else:
            high = middle
    for tag in range(INT32, FLOAT64 + 1):
        if low >= -CODED and side_of(leaf, way, tag, low) >= side or high <= CODED and (
            side_of(leaf, way, tag, high) < side
        ):
            return -1
    return min(max(2 * high - 1 + ZERO_CODE, 0), SHORT_LIMIT - 1)


cdef uint32_t arithmetic_codes(const PooledLeaf *leaf) noexcept:
    """Return the codes of the numbers for which monotone arithmetic may be in a set, as in a step of its leaf; or 0.

    For the numbers of one type it is in an interval of them, if the set is one. The first whole number of that, and the
    first behind it, are those of all types. So of two neighbours among the whole numbers both are in or both are out,
    and all between them, too; but for the numbers just before these two.
    """
    cdef int32_t low, high
    cdef int way = 1
    if not leaf.integers == leaf.floats32 == leaf.floats64 == 1:
        return 0
    if side_of(leaf, 1, INT64, -CODED) > side_of(leaf, 1, INT64, CODED):
        way = -1
    low = code_before(leaf, way, 0)
    high = code_before(leaf, way, 1)
    return 0 if low < 0 or high < 0 else <uint32_t> (low | (high - low) << 16)


cdef extern from "Python.h":
    PyObject *Py_None
    PyObject *PyList_GET_ITEM(object items, Py_ssize_t place) noexcept
    void *Py_TYPE(PyObject *item) noexcept
    unsigned int PyUnicode_READ_CHAR(PyObject *text, Py_ssize_t place) noexcept

cdef object LEAF_CLASS = formulas.Leaf
cdef object RELATION_CLASS = formulas.Relation
cdef object ALL_CLASS = formulas.All
cdef object ANY_CLASS = formulas.Any
cdef object IDENTIFIER = Identifier
cdef object COMPUTED = Computed
cdef object ARITHMETIC = Arithmetic
cdef object SIGN = Sign
cdef object LITERAL = Literal
cdef object VALUES_CLASS = sets.Values
cdef object FLOATS_CLASS = sets.Floats
cdef object TEXTS_CLASS = sets.Texts
cdef object NOTHING = sets.NOTHING
cdef object NUMBERS = sets.NUMBERS
cdef object PROPERTY = sets.PROPERTY

cdef enum:
    MUCH = 5000                 # steps of a clause from which on shared parts are looked for
    EVERYTHING = 127            # all kinds
    BATCH = 16                  # formulas whose memory is asked for together; of so few no sets are remembered
    ASKED = 4096                # objects of them at most
    MOST_STEPS = JUMP_MASK // 2  # of a clause
    KNOWN = 8192                # sets that are remembered as they were read; a power of two

cdef dict _OPS = {"+": ADD, "-": SUBTRACT, "*": MULTIPLY, "/": DIVIDE, "%": REMAINDER}


cdef struct OpenGroup:
    PyObject *parts
    Py_ssize_t at
    Py_ssize_t count
    uint64_t begin              # of a chunk: its first step
    PyObject *group
    uint32_t depth
    bint is_all
    bint is_chunk


# A node of arithmetic that is being read: how many of its parts were.
cdef struct OpenOperand:
    PyObject *node
    Py_ssize_t at


cdef inline KnownSet *known_at(const KnownSet *known, PyObject *values) noexcept:
    return <KnownSet *> &known[mixed(<uint64_t> <size_t> values) & (KNOWN - 1)]


# The objects of formulas that were made long ago lie far apart: memory is asked for those of some at once, level by
# level. Without this 40 % fewer formulas at hand are read a second (bench/table.py --sets).

cdef inline void object_ask(PyObject **asked, Py_ssize_t *count, PyObject *one) noexcept:
    if count[0] < ASKED:
        mqsel_ahead(one)
        asked[count[0]] = one
        count[0] += 1


cdef int objects_ask(PyObject **asked, const KnownSet *known, list items, Py_ssize_t first) except -1:
    """Ask for the memory of the objects of a batch of formulas.

    Args:
        asked: room for ASKED.
        known: sets of which all is known.
    """
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t at = 0
    cdef Py_ssize_t number
    cdef PyObject *one
    cdef PyObject *part
    cdef void *kind
    for number in range(first, min(first + BATCH, PyList_GET_SIZE(items))):
        object_ask(asked, &count, PyList_GET_ITEM(items, number))
    while at < count:
        one = asked[at]
        at += 1
        if <size_t> one & 1:
            # A set, the second time: now its entries are there.
            one = <PyObject *> (<size_t> one - 1)
            for entry in <frozenset> one:
                object_ask(asked, &count, <PyObject *> entry)
            continue
        kind = Py_TYPE(one)
        if kind == <void *> LEAF_CLASS:
            object_ask(asked, &count, field(one, 0))
            part = field(one, 1)
            if known_at(known, part).values != part:
                mqsel_ahead(<char *> part + 64)
                object_ask(asked, &count, part)
        elif kind == <void *> VALUES_CLASS:
            for number in range(2, 7):
                part = field(one, number)
                if part != field(<PyObject *> NOTHING, number) and part != field(<PyObject *> PROPERTY, number):
                    object_ask(asked, &count, part)
        elif kind == <void *> FLOATS_CLASS or kind == <void *> IDENTIFIER:
            object_ask(asked, &count, field(one, 0))
        elif kind == <void *> str:
            mqsel_ahead(<char *> one + 64)
        elif kind == <void *> frozenset:
            if len(<frozenset> one) and count < ASKED:
                for number in range(1, 4):
                    mqsel_ahead(<char *> one + 64 * number)
                asked[count] = <PyObject *> (<size_t> one + 1)
                count += 1
        elif kind == <void *> tuple or kind == <void *> ALL_CLASS or kind == <void *> ANY_CLASS:
            for number in range(PyTuple_GET_SIZE(<object> one)):
                object_ask(asked, &count, field(one, number))
        elif kind == <void *> TEXTS_CLASS:
            object_ask(asked, &count, field(one, 0))
            object_ask(asked, &count, field(one, 1))
    return 0


cdef class Memtable:
    """Reads formulas of `mqsel.logic.normal` into a draft.

    Args:
        names: of attributes; a formula adds names, even if it is refused.
        numbers: their places.
    """

    def __cinit__(self, list names, dict numbers):
        self.names = names
        self.numbers = numbers

    def __dealloc__(self):
        self.forget()
        draft_free(&self.draft)
        free(self.steps.items)
        free(self.words.items)
        free(self.frames.items)
        free(self.operands.items)
        free(self.pending.items)

    cdef int read_many(self, const uint32_t *places, uint64_t count, formulas) except -1:
        """Read formulas, which count when they are committed."""
        cdef uint64_t at = 0
        cdef PyObject **asked = NULL
        self.pending.count = 0
        try:
            if count > BATCH:
                self.known = <KnownSet *> calloc(KNOWN, sizeof(KnownSet))
                if self.known == NULL:
                    raise MemoryError
                if type(formulas) is list:  # what was made just now is in the cache
                    asked = <PyObject **> malloc(ASKED * sizeof(PyObject *))
                    if asked == NULL:
                        raise MemoryError
            for formula in formulas:
                if at == count:
                    at += 1
                    break
                if asked != NULL and at % BATCH == 0:
                    objects_ask(asked, self.known, <list> formulas, at)
                self.read(places[at], formula)
                at += 1
        finally:
            free(asked)
            self.forget()
        if at != count:
            raise ArgumentError(f"there are {count} places, and {'more' if at > count else at} formulas")
        return 0

    cdef void forget(self) noexcept:
        """Drop the sets of values that were known."""
        cdef Py_ssize_t at
        if self.known != NULL:
            for at in range(KNOWN):
                Py_XDECREF(self.known[at].values)
            free(self.known)
            self.known = NULL

    cdef int read(self, uint32_t place, formula) except -1:
        """Read the formula of a place."""
        if type(formula) is ANY_CLASS:
            for part in <tuple> field(<PyObject *> formula, 0):
                self.read_clause(place, part)
        else:
            self.read_clause(place, formula)
        return 0

    cdef int reserve(self) except -1:
        """Have room for what was read, so that `commit` cannot fail."""
        if items_room(&self.draft.links, self.pending.count, sizeof(Link)) < 0:
            raise MemoryError
        if self.draft.links.count + self.pending.count >= NONE:
            raise ArgumentError(f"a set has at most {NONE - 1} clauses of selectors", hint="build several sets")
        return 0

    cdef void commit(self, uint64_t count) noexcept:
        """Let what was read count: *count* selectors. There is room for it: see `reserve`."""
        cdef Link *pending = <Link *> self.pending.items
        cdef uint64_t at
        for at in range(self.pending.count):
            draft_place(&self.draft, pending[at].next, pending[at].place)
        self.pending.count = 0
        self.draft.selectors += count

    cdef void drop(self, uint32_t place) noexcept:
        """Let a place have none of the clauses."""
        cdef DraftClause *clauses = <DraftClause *> self.draft.clauses.items
        cdef Link *links = <Link *> self.draft.links.items
        cdef uint64_t clause
        cdef uint32_t *link
        cdef bint had = False
        for clause in range(self.draft.clauses.count):
            link = &clauses[clause].link
            while link[0]:
                if links[link[0] - 1].place == place:
                    link[0] = links[link[0] - 1].next
                    had = True
                else:
                    link = &links[link[0] - 1].next
        self.draft.selectors -= had

    cdef int read_clause(self, uint32_t place, formula) except -1:
        cdef uint32_t clause
        self.steps.count = 0
        if not self.read_tree(formula, None):
            self.steps.count = 0
            self.read_tree(formula, shared_parts(formula))
        if self.steps.count > MOST_STEPS:
            raise ArgumentError(
                f"a clause has {self.steps.count} tests: a set takes at most {MOST_STEPS}", hint="split the selector"
            )
        clause = draft_clause(&self.draft, <ClauseStep *> self.steps.items, self.steps.count)
        if clause == NONE or items_room(&self.pending, 1, sizeof(Link)) < 0:
            raise MemoryError
        (<Link *> self.pending.items)[self.pending.count].place = place
        (<Link *> self.pending.items)[self.pending.count].next = clause
        self.pending.count += 1
        return 0

    cdef int read_tree(self, formula, dict shared) except -1:
        """Write the steps of a formula.

        Args:
            shared: by identity the leaves that stand for parts, None at first; None where parts need not be shared.

        Returns: whether it was done; if not, it is long, and parts should be shared.
        """
        cdef OpenGroup *frame
        cdef ClauseStep *last
        self.frames.count = 0
        self.read_part(formula, shared)
        while self.frames.count:
            frame = <OpenGroup *> self.frames.items + self.frames.count - 1
            if frame.at == frame.count:
                self.frames.count -= 1
                if frame.is_chunk:
                    group = <object> frame.group
                    self.close_chunk(frame.begin)
                    if shared is not None and id(group) in shared:
                        last = <ClauseStep *> self.steps.items + self.steps.count - 1
                        shared[id(group)] = last.it.place
                continue
            if frame.at:
                last = <ClauseStep *> self.steps.items + self.steps.count - 1
                last.link = frame.depth << JUMP_BITS
                last.test = last.test & TEST_MASK | (frame.is_all << TEST_BITS)
            frame.at += 1
            self.read_part(<object> field(frame.parts, frame.at - 1), shared)
            if shared is None and self.steps.count > MUCH:
                return False
        return True

    cdef int read_part(self, part, dict shared) except -1:
        cdef OpenGroup *frame
        cdef ClauseStep *step
        kind = type(part)
        if kind is LEAF_CLASS:
            return self.read_leaf(part)
        if kind is RELATION_CLASS:
            return self.read_relation(part)
        if kind is not ALL_CLASS and kind is not ANY_CLASS:
            raise ArgumentError(f"found a Python {kind.__name__}: expected a formula of mqsel.logic.normal")
        parts = <object> field(<PyObject *> part, 0)
        if not parts:
            step = self.step()
            step.kinds = EVERYTHING if kind is ALL_CLASS else 0
            return 0
        is_shared = shared is not None and id(part) in shared
        if is_shared and shared[id(part)] is not None:
            step = self.step()
            step.test = LEAF
            step.it.place = shared[id(part)]
            return 0
        if items_room(&self.frames, 1, sizeof(OpenGroup)) < 0:
            raise MemoryError
        frame = <OpenGroup *> self.frames.items + self.frames.count
        frame.depth = (frame - 1).depth + 1 if self.frames.count else 0
        frame.is_chunk = frame.depth >= MAX_DEPTH or is_shared
        if frame.is_chunk:
            frame.depth = 0
        frame.begin = self.steps.count
        frame.group = <PyObject *> part
        frame.parts = <PyObject *> parts
        frame.at = 0
        frame.count = len(<tuple> parts)
        frame.is_all = kind is ALL_CLASS
        self.frames.count += 1
        return 0

    cdef ClauseStep *step(self) except NULL:
        """Begin a step."""
        cdef ClauseStep *step
        if items_room(&self.steps, 1, sizeof(ClauseStep)) < 0:
            raise MemoryError
        step = <ClauseStep *> self.steps.items + self.steps.count
        memset(step, 0, sizeof(ClauseStep))
        self.steps.count += 1
        return step

    cdef int close_chunk(self, uint64_t begin) except -1:
        """Let one step stand for those from *begin* on."""
        cdef uint64_t count = self.steps.count - begin
        cdef PooledLeaf *leaf
        if steps_link(&self.draft, <ClauseStep *> self.steps.items + begin, count) < 0:
            raise MemoryError
        leaf = self.start_leaf(CODE)
        leaf.actions[0] = <uint32_t> count
        memcpy(self.word(2 * count), <ClauseStep *> self.steps.items + begin, count * sizeof(ClauseStep))
        self.steps.count = begin
        return self.add_leaf(NONE)

    cdef uint32_t attribute(self, str name) except? 0xFFFFFFFF:
        number = self.numbers.get(name)
        if number is None:
            number = len(self.names)
            self.names.append(name)
            try:
                self.numbers[name] = number
            except MemoryError:
                self.names.pop()
                raise
        return number

    cdef uint32_t string(self, text) except 0xFFFFFFFF:
        cdef const uint8_t *data
        cdef uint64_t size
        cdef uint32_t number
        cdef int kind = 0
        if type(text) is bytes:
            data = <const uint8_t *> PyBytes_AS_STRING(text)
            size = PyBytes_GET_SIZE(text)
        else:
            kind = PyUnicode_KIND(<PyObject *> text)
            data = <const uint8_t *> PyUnicode_DATA(<PyObject *> text)
            size = PyUnicode_GET_LENGTH(<PyObject *> text) * kind
        number = draft_string(&self.draft, data, size, kind, text_hash(data, size, kind))
        if number == NONE:
            raise MemoryError
        return number

    # ---- leaves ------------------------------------------------------------------------------------------------------

    cdef int read_leaf(self, leaf) except -1:
        cdef PyObject *subject = field(<PyObject *> leaf, 0)
        cdef PyObject *values = field(<PyObject *> leaf, 1)
        cdef PyObject *strings = field(values, 5)
        cdef PyObject *bytes_ = field(values, 6)
        cdef PyObject *booleans = field(values, 1)
        cdef bint nan32, nan64
        cdef bint numbers, texts, blobs    # whether a lane has some and not all
        cdef int kinds = 0
        cdef uint32_t attribute
        cdef ClauseStep *step
        cdef PooledLeaf *whole
        cdef KnownSet *known = NULL
        cdef object own
        if type(<object> subject) is COMPUTED:
            for one in (<object> subject).identifiers:  # which the reader needs, before the test
                self.attribute(one.name)
            attribute = self.attribute(attribute_of(<object> subject))
            if (<object> values).error:  # such an attribute is a number where the test is ERR: see `reading_compute`
                own = NUMBERS._replace(null=(<object> values).null, booleans=(<object> values).booleans)
                values = <PyObject *> own
                booleans = field(values, 1)
        elif type(<object> subject) is not IDENTIFIER:
            whole = self.start_leaf(SET)
            self.read_operand(<object> subject, 0)
            self.read_set(values)
            attribute = property_of(<PooledLeaf *> self.words.items)
            self.add_leaf(attribute)
            if attribute != NONE:
                step = <ClauseStep *> self.steps.items + self.steps.count - 1
                step.it.leaf[1] = arithmetic_codes(<PooledLeaf *> self.words.items)
            return 0
        else:
            attribute = self.attribute(<str> field(subject, 0))
        if self.known != NULL and attribute < 65536:
            known = known_at(self.known, values)
            if known.values == values:
                step = self.step()
                step[0] = known.step
                step.attribute = <uint16_t> attribute
                return 0
        nan32 = <object> field(field(values, 3), 1)
        nan64 = <object> field(field(values, 4), 1)
        if <object> field(values, 0):
            kinds = KIND_NULL
        if <object> field(booleans, 0):
            kinds |= KIND_FALSE
        if <object> field(booleans, 1):
            kinds |= KIND_TRUE
        if nan32 and nan64:
            kinds |= KIND_NAN
        numbers = (
            PyTuple_GET_SIZE(<object> field(values, 2)) + PyTuple_GET_SIZE(<object> field(field(values, 3), 0))
            + PyTuple_GET_SIZE(<object> field(field(values, 4), 0))
        ) != 0
        if numbers and is_all_numbers(values):
            kinds |= KIND_NUMBER
            numbers = False
        texts = len(<frozenset> field(strings, 0)) or len(<frozenset> field(strings, 1))
        if not texts and <object> field(strings, 2):
            kinds |= KIND_STRING
        blobs = len(<frozenset> field(bytes_, 0)) != 0
        if not blobs and <object> field(bytes_, 2):
            kinds |= KIND_BYTES
        if nan32 == nan64 and attribute < 65536 and numbers + texts + blobs <= 1:
            step = self.step()
            step.attribute = <uint16_t> attribute
            step.kinds = <uint8_t> kinds
            if not numbers and not texts and not blobs:
                step.test = TRUTH if type(<object> subject) is COMPUTED else KIND
                return 0
            if numbers and number_step(values, step):
                if known != NULL:
                    Py_INCREF(<object> values)
                    Py_XDECREF(known.values)
                    known.values = values
                    known.step = step[0]
                return 0
            if texts and len(<frozenset> field(strings, 0)) == 1 and not len(<frozenset> field(strings, 1)):
                for text in <frozenset> field(strings, 0):
                    step.test = OTHER_TEXT if <object> field(strings, 2) else TEXT
                    step.it.place = self.string(text)
                return 0
            if blobs and len(<frozenset> field(bytes_, 0)) == 1 and not <object> field(bytes_, 2):
                for text in <frozenset> field(bytes_, 0):
                    step.test = TEXT
                    step.it.place = self.string(text)
                return 0
            self.steps.count -= 1
        whole = self.start_leaf(SET)
        whole.attribute[0] = attribute
        self.read_set(values)
        return self.add_leaf(attribute)

    cdef int read_relation(self, relation) except -1:
        cdef PooledLeaf *leaf = self.start_leaf(RELATION)
        leaf.outcomes = int(relation.outcomes)
        self.read_operand(relation.left, 0)
        self.read_operand(relation.right, 1)
        return self.add_leaf(NONE)

    cdef uint64_t *word(self, uint64_t count) except NULL:
        """Return zeroed room for more words of the leaf that is being read; what was given before may move."""
        cdef uint64_t *words
        if items_room(&self.words, count + 1, 8) < 0:
            raise MemoryError
        words = <uint64_t *> self.words.items + self.words.count
        memset(words, 0, 8 * count)
        self.words.count += count
        return words

    cdef PooledLeaf *start_leaf(self, int kind) except NULL:
        cdef PooledLeaf *leaf
        self.words.count = 0
        leaf = <PooledLeaf *> self.word(LEAF_WORDS)
        leaf.kind = kind
        leaf.attribute[0] = leaf.attribute[1] = NONE
        return leaf

    cdef int add_leaf(self, uint32_t attribute) except -1:
        """Write a step for the leaf that was read."""
        cdef PooledLeaf *leaf = <PooledLeaf *> self.words.items
        cdef ClauseStep *step = self.step()
        if self.words.count >= NONE:
            raise MemoryError
        leaf.words = <uint32_t> self.words.count
        step.test = LEAF
        if attribute < 65536:
            step.attribute = <uint16_t> attribute
        step.it.place = draft_leaf(&self.draft, leaf)
        if step.it.place == NONE:
            raise MemoryError
        return 0

    cdef int read_operand(self, node, int side) except -1:
        """Write what computes an operand behind the head of a leaf."""
        cdef PooledLeaf *leaf = <PooledLeaf *> self.words.items
        cdef OpenOperand *operand
        cdef ArithmeticStep *action
        cdef PyObject *one
        cdef uint64_t begin = self.words.count
        cdef uint32_t height = 0
        cdef uint32_t most = 0
        if type(node) is IDENTIFIER:
            leaf.attribute[side] = self.attribute(node.name)
            return 0
        self.operands.count = 0
        self.push_operand(<PyObject *> node)
        while self.operands.count:
            operand = <OpenOperand *> self.operands.items + self.operands.count - 1
            one = operand.node
            operand.at += 1
            if type(<object> one) is ARITHMETIC:
                if operand.at > 2:
                    action = self.action(COMPUTE)
                    action.op = _OPS[<object> field(field(one, 0), operand.at - 3)]
                    action.rule = NARROW if (<object> one).rule == "narrow" else 0
                    height -= 1
                if operand.at <= PyTuple_GET_SIZE(<object> field(one, 1)):
                    self.push_operand(field(field(one, 1), operand.at - 1))
                    continue
            elif type(<object> one) is SIGN:
                if operand.at == 1:
                    self.push_operand(field(one, 1))
                    continue
                self.action(NEGATE if <object> field(one, 0) == "-" else KEEP)
            else:
                self.read_term(<object> one)
                height += 1
                most = max(most, height)
            self.operands.count -= 1
        leaf = <PooledLeaf *> self.words.items
        leaf.actions[side] = <uint32_t> ((self.words.count - begin) // 2)
        leaf.depth = max(leaf.depth, most)
        if leaf.depth > MAX_STACK:
            raise ArgumentError(f"arithmetic is nested more than {MAX_STACK} deep: the selector is refused")
        return 0

    cdef int push_operand(self, PyObject *node) except -1:
        cdef OpenOperand *operand
        if items_room(&self.operands, 1, sizeof(OpenOperand)) < 0:
            raise MemoryError
        operand = <OpenOperand *> self.operands.items + self.operands.count
        operand.node = node
        operand.at = 0
        self.operands.count += 1
        return 0

    cdef ArithmeticStep *action(self, int what) except NULL:
        """Begin a step of arithmetic."""
        cdef ArithmeticStep *action = <ArithmeticStep *> self.word(2)
        action.what = what
        return action

    cdef int read_term(self, one) except -1:
        """Write what arithmetic begins with: a property or a constant."""
        cdef ArithmeticStep *action
        cdef double number
        if type(one) is IDENTIFIER:
            self.action(PUSH_ATTRIBUTE).attribute = self.attribute(one.name)
        elif type(one) is LITERAL and isinstance(one.value, int):
            self.action(PUSH_INTEGER).number = one.value
        elif type(one) is LITERAL and isinstance(one.value, float):
            action = self.action(PUSH_DOUBLE)
            number = one.value
            memcpy(&action.number, &number, 8)
        else:
            raise ArgumentError(f"arithmetic has no {type(one).__name__}")
        return 0

    cdef int read_set(self, PyObject *values) except -1:
        """Write a set behind what is there."""
        cdef PooledLeaf *leaf
        cdef uint32_t flags = 0
        cdef int64_t *pair
        cdef double *ends
        cdef uint32_t *numbers
        cdef uint32_t at
        cdef int lane
        cdef Py_ssize_t number
        cdef Py_ssize_t counts[5]       # by lane, from the integers on
        cdef uint32_t written
        cdef PyObject *intervals
        cdef PyObject *booleans = field(values, 1)
        cdef frozenset points, patterns
        flags |= KIND_NULL if <object> field(values, 0) else 0
        flags |= KIND_FALSE if <object> field(booleans, 0) else 0
        flags |= KIND_TRUE if <object> field(booleans, 1) else 0
        flags |= LEAF_NAN32 if <object> field(field(values, 3), 1) else 0
        flags |= LEAF_NAN64 if <object> field(field(values, 4), 1) else 0
        flags |= LEAF_NOT_STRINGS if <object> field(field(values, 5), 2) else 0
        flags |= LEAF_NOT_BYTES if <object> field(field(values, 6), 2) else 0
        flags |= LEAF_POISON if <object> field(values, 7) else 0
        flags |= LEAF_ERROR if <object> field(values, 8) else 0
        intervals = field(values, 2)
        counts[0] = PyTuple_GET_SIZE(<object> intervals)
        for number in range(counts[0]):
            pair = <int64_t *> self.word(2)
            integers_at(intervals, number, &pair[0], &pair[1])
        for lane in range(1, 3):
            intervals = field(field(values, lane + 2), 0)
            counts[lane] = PyTuple_GET_SIZE(<object> intervals)
            for number in range(counts[lane]):
                ends = <double *> self.word(2)
                floats_at(intervals, number, &ends[0], &ends[1])
        for lane in range(3, 5):
            points = <frozenset> field(field(values, lane + 2), 0)
            counts[lane] = len(points)
            if counts[lane]:
                numbers = <uint32_t *> self.word((<uint64_t> counts[lane] + 1) // 2)
                at = 0
                for text in points:
                    numbers[at] = self.string(text)
                    at += 1
                qsort(numbers, at, 4, by_number)
        written = 0
        patterns = <frozenset> field(field(values, 5), 1)
        if len(patterns) == 1:
            for pattern in patterns:
                written = self.read_patterns((pattern,))
        elif len(patterns):
            written = self.read_patterns(sorted(patterns, key=repr))  # one set is always written alike
        leaf = <PooledLeaf *> self.words.items
        leaf.flags = <uint16_t> flags
        leaf.integers = <uint32_t> counts[0]
        leaf.floats32 = <uint32_t> counts[1]
        leaf.floats64 = <uint32_t> counts[2]
        leaf.strings = <uint32_t> counts[3]
        leaf.bytes = <uint32_t> counts[4]
        leaf.patterns = written
        return 0

    cdef uint32_t read_patterns(self, patterns) except? 0xFFFFFFFF:
        """Write patterns as numbers: of each its segments, and of each of those its length and its code points."""
        cdef uint64_t count = 0
        cdef uint32_t *numbers
        cdef Py_ssize_t at
        cdef PyObject *point
        for pattern in patterns:
            count += 1
            for part in <tuple> pattern:
                count += 1 + PyTuple_GET_SIZE(part)
        if count >= NONE:
            raise MemoryError
        numbers = <uint32_t *> self.word((count + 1) // 2)
        for pattern in patterns:
            numbers[0] = <uint32_t> PyTuple_GET_SIZE(pattern)
            numbers += 1
            for part in <tuple> pattern:
                numbers[0] = <uint32_t> PyTuple_GET_SIZE(part)
                for at in range(PyTuple_GET_SIZE(part)):
                    point = field(<PyObject *> part, at)
                    numbers[at + 1] = ANY_POINT if point == Py_None else PyUnicode_READ_CHAR(point, 0)
                numbers += 1 + PyTuple_GET_SIZE(part)
        return <uint32_t> count


cdef dict shared_parts(formula):
    """List the groups of a formula, by identity, that stand in it more than once."""
    seen = set()
    shared = {}
    waiting = [formula]
    while waiting:
        one = waiting.pop()
        if type(one) is ALL_CLASS or type(one) is ANY_CLASS:
            if id(one) in seen:
                shared[id(one)] = None
            else:
                seen.add(id(one))
                waiting += one.parts
    return shared
