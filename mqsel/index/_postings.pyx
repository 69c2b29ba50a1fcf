# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Posting lists: by which terms each clause is found, and where everything of a segment lies.

A leaf is true only of messages that hold one of its terms: a value, a number in an interval, some characters, a kind of
value; where the terms are exact, of all of those. A clause is indexed by leaves one of which is true wherever the
clause is: a leaf by itself, an OR by what each of its parts is indexed by, an AND by the part that messages are
expected to make true least often. What is expected is taken from the constants. Each term of such a leaf has a posting
list. Clauses are numbered in the order of the postings, so that a search runs forward in memory. What is written has no
pointers and one order: it can be mapped from a file. Knows no message.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.math cimport INFINITY, fabs, nextafter
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort
from libc.string cimport memcmp, memcpy, memmove, memset

from mqsel.index._memtable cimport Draft, DraftClause, Items, Link, draft_view, items_room, steps_link
from mqsel.index._segment cimport *


cdef extern from *:
    """
    #ifdef __linux__
    #include <sys/mman.h>
    #endif
    /* Pages of 2 MB, of which a search misses fewer: of 1,000,000 selectors ABE 13 %, dense 4 to 7 % less time. */
    static void large_pages(uint8_t *data, size_t size) {
    #ifdef MADV_HUGEPAGE
        size_t before = -(uintptr_t) data & 4095;
        if (size >= 1 << 22) (void) madvise(data + before, (size - before) & ~(size_t) 4095, MADV_HUGEPAGE);
    #endif
    }
    """
    void large_pages(uint8_t *data, size_t size) noexcept nogil


# The way to a posting list, or to intervals: by a value, an interval, some characters, or what a value is.
cdef enum:
    BY_POINT
    BY_INTERVAL
    BY_AFFIX
    BY_PRESENCE
    BY_NOTHING                  # always


cdef enum:
    MOST_LISTED = 32            # strings of a short step; more are a leaf, in which a string is looked up
    MOST_WORDS = 17             # of a step: two numbers in each but the first


# What a message has to hold for a leaf to be true: as an index of words has terms.
cdef struct LeafTerm:
    int way
    uint32_t attribute
    int lane                    # a Lane, or a Presence; of an affix 0 prefix, 1 suffix, 2 contained
    uint32_t length             # of an affix
    const uint32_t *points      # its characters, in the pool
    uint32_t leaf               # that has them
    uint64_t value              # of a point; of an affix the hash
    double low
    double high


# What is known of an attribute: how often its constants are what, and between which numbers they lie.
cdef struct AttributeStatistics:
    double lanes[4]             # texts, numbers, truth values, byte strings
    double points[3]            # distinct, by Lane
    double low
    double high


# A value or affix of an attribute that some leaf names: an entry of a table.
cdef struct NamedTerm:
    uint64_t value
    const uint32_t *points      # of an affix its characters
    uint32_t key                # attribute * 4 + Lane + 1, of an affix `affix_key`; 0 in an empty place
    uint32_t list               # of its postings: number + 1, or 0


# A part of the clause in hand.
cdef struct TreeNode:
    uint32_t step               # of a leaf
    uint32_t child              # first and last, + 1
    uint32_t last
    uint32_t next               # in its group, + 1
    bint is_all
    double chance               # to be true
    double cost
    uint32_t depth


# A leaf whose terms lead to the clause.
cdef struct IndexedLeaf:
    uint32_t step
    uint32_t second             # a step that has to be true, too; or NONE
    double chance               # of that


cdef struct WeightedNode:
    double weight
    uint32_t node


cdef struct PostingEntry:
    uint32_t list
    Posting posting


cdef struct IntervalEntry:
    double low
    double high
    uint32_t attribute
    Posting posting


# What a list of postings is for.
cdef struct TermList:
    LeafTerm term               # of one of the leaves that it is for
    uint32_t count
    uint32_t start


# A segment on its way from a draft to bytes.
cdef struct SegmentLayout:
    Draft *draft
    SegmentArrays view          # of the draft
    uint32_t attributes
    AttributeStatistics *statistics
    Attribute *rows
    NamedTerm *named
    uint64_t named_room
    uint64_t named_count
    # Of the clause in hand.
    Items terms                 # LeafTerm, of a leaf
    Items nodes                 # TreeNode
    Items stack                 # uint32_t: open groups
    Items indexed               # IndexedLeaf
    Items order                 # WeightedNode
    Items chances               # double, of each step
    # Of all clauses.
    Items code                  # ClauseStep, of the clause in hand, arranged
    Items ends                  # uint32_t: how many words its steps have, from each on
    Items words                 # uint64_t: all steps, as they are written
    Items entries               # PostingEntry
    Items intervals             # IntervalEntry
    Items lists                 # TermList
    uint32_t *presence          # of each attribute and Presence, its list + 1
    uint32_t always             # a list + 1
    uint32_t *proved            # of each clause, in words
    uint8_t *used               # of each leaf: whether what it needs was noted
    uint32_t *kept              # of each leaf, whether a step names it; then its new number
    uint32_t *starts            # of each clause, in the words
    uint32_t *sizes             # of each clause, how many words
    uint32_t *point_lists       # those of points by their buckets
    uint32_t *buckets           # where the points of each begin
    uint32_t bucket_count
    uint32_t *numbers           # of each clause, its new number + 1
    uint32_t numbered


# ---- terms -------------------------------------------------------------------------------------------------------

cdef int term_add(Items *found, int way, uint32_t attribute, int lane, uint64_t value) noexcept nogil:
    cdef LeafTerm *term
    if items_room(found, 1, sizeof(LeafTerm)) < 0:
        return -1
    term = <LeafTerm *> found.items + found.count
    memset(term, 0, sizeof(LeafTerm))
    term.way = way
    term.attribute = attribute
    term.lane = lane
    term.value = value
    found.count += 1
    return 0


cdef int term_numbers(Items *found, uint32_t attribute, double low, double high) noexcept nogil:
    """Add the way to numbers from one to another."""
    cdef LeafTerm *term
    cdef uint64_t value = 0
    if low == -INFINITY and high == INFINITY:
        return term_add(found, BY_PRESENCE, attribute, ANY_NUMBER, 0)
    if term_add(
        found, BY_POINT if low == high and number_point(low, &value) else BY_INTERVAL, attribute, LANE_NUMBER, value
    ) < 0:
        return -1
    term = <LeafTerm *> found.items + found.count - 1
    term.low = low
    term.high = high
    return 0


cdef void codes_between(const ClauseStep *step, double *low, double *high) noexcept nogil:
    """Find the numbers between which those are of which the arithmetic of a step may be true, but for large ones."""
    cdef uint32_t first = step.it.leaf[1] & 0xFFFF
    cdef uint32_t last = first + (step.it.leaf[1] >> 16)
    low[0] = code_number(first) if first else -INFINITY
    high[0] = code_number(last) + 1 if last < SHORT_LIMIT - 1 else INFINITY


cdef int term_codes(Items *found, const ClauseStep *step) noexcept nogil:
    """Add the ways to arithmetic: numbers of which it has to be computed, and those between which it may be true."""
    cdef double low, high
    codes_between(step, &low, &high)
    if term_numbers(found, step.attribute, -INFINITY, -CODED) < 0:
        return -1
    return min(term_numbers(found, step.attribute, CODED, INFINITY), term_numbers(found, step.attribute, low, high))


cdef int term_kinds(Items *found, uint32_t attribute, int kinds, bint *exact) noexcept nogil:
    """Add the ways to whole kinds of values."""
    if kinds & (KIND_FALSE | KIND_TRUE) == KIND_FALSE | KIND_TRUE and kinds & KIND_NUMBER and kinds & KIND_STRING and (
        kinds & KIND_BYTES
    ):
        exact[0] = exact[0] and kinds & KIND_NAN
        if kinds & KIND_NULL and term_add(found, BY_PRESENCE, attribute, ANY_NULL, 0) < 0:
            return -1
        return term_add(found, BY_PRESENCE, attribute, ANY_VALUE, 0)
    if kinds & KIND_NULL and term_add(found, BY_PRESENCE, attribute, ANY_NULL, 0) < 0:
        return -1
    if kinds & (KIND_FALSE | KIND_TRUE) == KIND_FALSE | KIND_TRUE:
        if term_add(found, BY_PRESENCE, attribute, ANY_TRUTH, 0) < 0:
            return -1
    elif kinds & (KIND_FALSE | KIND_TRUE):
        if term_add(found, BY_POINT, attribute, LANE_TRUTH, kinds & KIND_TRUE != 0) < 0:
            return -1
    if kinds & KIND_NUMBER:
        exact[0] = exact[0] and kinds & KIND_NAN
        if term_add(found, BY_PRESENCE, attribute, ANY_NUMBER, 0) < 0:
            return -1
    elif kinds & KIND_NAN and term_add(found, BY_PRESENCE, attribute, ANY_NAN, 0) < 0:
        return -1
    if kinds & KIND_STRING and term_add(found, BY_PRESENCE, attribute, ANY_STRING, 0) < 0:
        return -1
    if kinds & KIND_BYTES and term_add(found, BY_PRESENCE, attribute, ANY_BYTES, 0) < 0:
        return -1
    return 0


cdef int by_low(const void *left, const void *right) noexcept nogil:
    cdef double a = (<const double *> left)[0]
    cdef double b = (<const double *> right)[0]
    return (a > b) - (a < b)


cdef int term_lanes(Items *found, const PooledLeaf *leaf, uint32_t attribute) noexcept nogil:
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
        if term_numbers(found, attribute, low, high) < 0:
            result = -1
            break
        if at < count:
            low = ends[2 * at]
            high = ends[2 * at + 1]
    free(ends)
    return result


cdef int term_pattern(
    Items *found, const uint32_t *numbers, uint32_t attribute, uint32_t leaf, bint *exact
) noexcept nogil:
    """Add the way to texts that match a pattern. Returns 1 if there is none but that they are texts."""
    cdef uint32_t segments = numbers[0]
    cdef uint32_t all = 0
    cdef uint32_t number, at, run, length
    cdef const uint32_t *points
    cdef const uint32_t *best = NULL
    cdef const uint32_t *start = numbers + 1
    cdef uint32_t most = 0
    cdef int way = 2
    cdef uint64_t hash
    cdef LeafTerm *term
    for number in range(segments):
        length = start[0]
        points = start + 1
        all += length
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
    if term_add(found, BY_AFFIX, attribute, way, hash) < 0:
        return -1
    term = <LeafTerm *> found.items + found.count - 1
    term.length = length
    term.points = best
    term.leaf = leaf
    exact[0] = exact[0] and all == length and segments == <uint32_t> (3 if way == 2 else 2)
    return 0


cdef int term_texts(
    Items *found, const PooledLeaf *leaf, uint32_t place, uint32_t attribute, bint *exact
) noexcept nogil:
    """Add the ways to the strings and byte strings of a leaf."""
    cdef const uint32_t *numbers = leaf_strings(leaf)
    cdef uint64_t before = found.count
    cdef uint32_t at, segment
    cdef int result
    cdef bint whole = leaf.flags & LEAF_NOT_STRINGS != 0
    if not whole:
        for at in range(leaf.strings):
            if term_add(found, BY_POINT, attribute, LANE_TEXT, numbers[at]) < 0:
                return -1
        numbers = leaf_patterns(leaf)
        at = 0
        while at < leaf.patterns and not whole:
            result = term_pattern(found, numbers + at, attribute, place, exact)
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
        if term_add(found, BY_PRESENCE, attribute, ANY_STRING, 0) < 0:
            return -1
    numbers = leaf_bytes(leaf)
    if leaf.flags & LEAF_NOT_BYTES:
        exact[0] = exact[0] and leaf.bytes == 0
        return term_add(found, BY_PRESENCE, attribute, ANY_BYTES, 0)
    for at in range(leaf.bytes):
        if term_add(found, BY_POINT, attribute, LANE_TEXT, numbers[at]) < 0:
            return -1
    return 0


cdef uint32_t needed(const PooledLeaf *leaf) noexcept nogil:
    """Return an attribute without which a leaf of two or of arithmetic is not true; NONE if there is none."""
    cdef const ArithmeticStep *actions = <const ArithmeticStep *> (<const uint64_t *> leaf + LEAF_WORDS)
    cdef uint32_t at
    if leaf.kind == CODE:
        return NONE
    if leaf.kind == RELATION and leaf.outcomes & (128 | 256):    # Compared.NULL, Compared.ERROR
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


cdef int leaf_terms(const SegmentArrays *view, Items *found, const ClauseStep *step, bint *exact) noexcept nogil:
    """List the ways to a leaf. Sets whether they lead nowhere else. Returns 0, or -1 without memory.

    Args:
        found: LeafTerm, what was listed before is gone.
    """
    cdef int test = step.test & TEST_MASK
    cdef const PooledLeaf *leaf
    cdef uint32_t attribute = step.attribute
    cdef double number = step.it.number
    cdef double low
    found.count = 0
    exact[0] = True
    if test == LEAF:
        leaf = <const PooledLeaf *> (view.pool + view.leaves[step.it.place])
        if leaf.kind != SET or leaf.attribute[0] == NONE:
            exact[0] = False
            if step.it.leaf[1] and leaf.flags == 0:
                return term_codes(found, step)
            attribute = needed(leaf)
            if attribute == NONE:
                return term_add(found, BY_NOTHING, 0, 0, 0)
            return term_add(found, BY_PRESENCE, attribute, ANY_VALUE, 0)
        attribute = leaf.attribute[0]
        if attribute >= 65536:
            exact[0] = False
            if leaf.flags & KIND_NULL and term_add(found, BY_PRESENCE, attribute, ANY_NULL, 0) < 0:
                return -1
            return term_add(found, BY_PRESENCE, attribute, ANY_VALUE, 0)
        if leaf.integers + leaf.floats32 + leaf.floats64:
            exact[0] = False
            if term_lanes(found, leaf, attribute) < 0:
                return -1
        if term_texts(found, leaf, step.it.place, attribute, exact) < 0:
            return -1
        if leaf.flags & LEAF_NAN32 != 0 or leaf.flags & LEAF_NAN64 != 0:
            exact[0] = False
            if term_add(found, BY_PRESENCE, attribute, ANY_NAN, 0) < 0:
                return -1
        return term_kinds(found, attribute, leaf.flags & (KIND_NULL | KIND_FALSE | KIND_TRUE), exact)
    if step.kinds == 127:
        return term_add(found, BY_NOTHING, 0, 0, 0)
    if step.kinds and term_kinds(found, attribute, step.kinds, exact) < 0:
        return -1
    if test == TEXT:
        return term_add(found, BY_POINT, attribute, LANE_TEXT, step.it.place)
    if test == OTHER_TEXT:
        exact[0] = False
        return term_add(found, BY_PRESENCE, attribute, ANY_STRING, 0)
    if test == EQUAL:
        return term_numbers(found, attribute, number, number)
    if test == UNEQUAL or test == OUTSIDE:
        low = number if test == UNEQUAL else step.it.bounds[0]
        number = number if test == UNEQUAL else step.it.bounds[1]
        if term_numbers(found, attribute, -INFINITY, nextafter(low, -INFINITY)) < 0:
            return -1
        return term_numbers(found, attribute, nextafter(number, INFINITY), INFINITY)
    if test == LEAST:
        return term_numbers(found, attribute, number, INFINITY)
    if test == MOST:
        return term_numbers(found, attribute, -INFINITY, number)
    if test == BETWEEN:
        return term_numbers(found, attribute, step.it.bounds[0], step.it.bounds[1])
    return 0


# ---- what is expected --------------------------------------------------------------------------------------------

cdef inline uint32_t term_key(const LeafTerm *term) noexcept nogil:
    if term.way == BY_AFFIX:
        return affix_key(term.attribute, term.lane, term.length, term.value)
    return term.attribute * 4 + term.lane + 1


cdef NamedTerm *named_place(
    SegmentLayout *it, uint32_t key, uint64_t value, const uint32_t *points, uint32_t length
) noexcept nogil:
    cdef uint64_t slot = point_hash(key, value) & (it.named_room - 1)
    cdef NamedTerm *named = &it.named[slot]
    while named.key and (
        named.key != key or named.value != value or (named.points == NULL) != (points == NULL)
        or points != NULL and memcmp(named.points, points, 4 * <size_t> length) != 0
    ):
        slot = (slot + 1) & (it.named_room - 1)
        named = &it.named[slot]
    return named


cdef NamedTerm *named_find(SegmentLayout *it, const LeafTerm *term) noexcept nogil:
    """Find the entry of a point or an affix; an empty one if it has none."""
    return named_place(it, term_key(term), term.value, term.points, term.length)


cdef int named_grow(SegmentLayout *it) noexcept nogil:
    """Reserve room for one more. Returns 0, or -1 without memory."""
    cdef NamedTerm *old = it.named
    cdef uint64_t size = it.named_room
    cdef uint64_t at
    if 2 * it.named_count < size:
        return 0
    it.named_room = 2 * size if size else 256
    it.named = <NamedTerm *> calloc(it.named_room, sizeof(NamedTerm))
    if it.named == NULL:
        it.named = old
        it.named_room = size
        return -1
    for at in range(size):
        if old[at].key:
            named_place(it, old[at].key, old[at].value, old[at].points, old[at].key >> 11 & 31)[0] = old[at]
    free(old)
    return 0


cdef int leaf_learn(SegmentLayout *it, const ClauseStep *step) noexcept nogil:
    """Note which terms a leaf has. Returns 0, or -1 without memory."""
    cdef bint exact = True
    cdef uint64_t at
    cdef const LeafTerm *term
    cdef AttributeStatistics *known
    cdef NamedTerm *named
    if leaf_terms(&it.view, &it.terms, step, &exact) < 0:
        return -1
    for at in range(it.terms.count):
        term = <const LeafTerm *> it.terms.items + at
        if term.way == BY_NOTHING:
            continue
        known = &it.statistics[term.attribute]
        if term.way == BY_POINT or term.way == BY_AFFIX:
            if named_grow(it) < 0:
                return -1
            named = named_find(it, term)
            if named.key == 0:
                named.key = term_key(term)
                named.value = term.value
                named.points = term.points
                it.named_count += 1
                if term.way == BY_POINT:
                    known.points[term.lane] += 1
            if term.way == BY_AFFIX or term.lane == LANE_TEXT:
                known.lanes[0] += 1
            elif term.lane == LANE_TRUTH:
                known.lanes[2] += 1
            else:
                known.lanes[1] += 1
                learn_number(known, term.low)
        elif term.way == BY_INTERVAL:
            known.lanes[1] += 1
            learn_number(known, term.low)
            learn_number(known, term.high)
    return 0


cdef void learn_number(AttributeStatistics *known, double number) noexcept nogil:
    if fabs(number) == INFINITY or fabs(number) == CODED:  # of `term_codes`
        return
    if number < known.low:
        known.low = number
    if number > known.high:
        known.high = number


cdef double lane_chance(const AttributeStatistics *known, int lane) noexcept nogil:
    """Guess how often the values of an attribute are of a lane: as often as its constants are."""
    cdef double all = known.lanes[0] + known.lanes[1] + known.lanes[2] + known.lanes[3]
    return 0.9 * (known.lanes[lane] + 0.05) / (all + 0.2) if all > 0 else 0.9


cdef double term_chance(SegmentLayout *it, const LeafTerm *term) noexcept nogil:
    """Guess how often a message is reached this way."""
    cdef const AttributeStatistics *known
    cdef double low, high, part
    if term.way == BY_NOTHING:
        return 1
    known = &it.statistics[term.attribute]
    if term.way == BY_POINT:
        if term.lane == LANE_TRUTH:
            return 0.5 * lane_chance(known, 2)
        return 1 / max(16, known.points[term.lane])
    if term.way == BY_INTERVAL:
        low = max(term.low, known.low)
        high = min(term.high, known.high)
        part = (high - low) / (known.high - known.low) if known.high > known.low else 0.5
        part = 0.02 if not part > 0.02 else part
        return lane_chance(known, 1) * min(part, 0.95)
    if term.way == BY_AFFIX:
        if term.lane == 2:
            return 0.05 if term.length == GRAM else 0.2
        return 0.02 if term.length >= 4 else 0.3 / term.length
    if term.lane == ANY_NULL:
        return 0.1
    if term.lane == ANY_NAN:
        return 0.001
    if term.lane == ANY_VALUE:
        return 0.9
    return lane_chance(
        known, 0 if term.lane == ANY_STRING else 1 if term.lane == ANY_NUMBER else 2 if term.lane == ANY_TRUTH
        else 3
    )


cdef int clause_chances(SegmentLayout *it, const ClauseStep *steps, uint32_t count) noexcept nogil:
    """Guess how often each leaf of a clause is true."""
    cdef double *chances
    cdef double chance
    cdef uint32_t at
    cdef uint64_t number
    cdef bint exact = True
    it.chances.count = 0
    if items_room(&it.chances, count, 8) < 0:
        return -1
    chances = <double *> it.chances.items
    for at in range(count):
        if leaf_terms(&it.view, &it.terms, &steps[at], &exact) < 0:
            return -1
        chance = 0
        for number in range(it.terms.count):
            chance += term_chance(it, <const LeafTerm *> it.terms.items + number)
        # Only what is found by all the rest is computed.
        chances[at] = 1 if steps[at].test & TEST_MASK == TRUTH else chance
    return 0


cdef double second_buckets(SegmentLayout *it, const ClauseStep *step, Posting *posting) noexcept nogil:
    """Find the buckets in which an attribute has to be where a leaf is true, and those in which it is.

    Returns: how often that is expected; 1 where nothing can be point.
    """
    cdef int test = step.test & TEST_MASK
    cdef const Attribute *row
    cdef const PooledLeaf *leaf
    cdef const uint64_t *words
    cdef uint32_t attribute = step.attribute
    cdef int kinds = step.kinds
    cdef int low = 1
    cdef int high = 255
    cdef uint32_t at
    cdef double least, most, number
    posting.clause = 0
    if test == TRUTH:
        return 1
    if test == LEAF:
        leaf = <const PooledLeaf *> (it.view.pool + it.view.leaves[step.it.place])
        attribute = needed(leaf) if leaf.kind != SET or leaf.attribute[0] == NONE else leaf.attribute[0]
        kinds = 0
        if attribute >= 65536:
            return 1
        row = &it.rows[attribute]
        if step.it.leaf[1] and row.scale > 0:
            # From one bucket to another that is before it: with large numbers, either way, and all that is no number.
            codes_between(step, &least, &most)
            low = number_bucket(row, CODED if least == -INFINITY else least)
            high = number_bucket(row, -CODED if least != -INFINITY else most)
            if high >= low:
                low = 1
                high = 255
        if leaf.kind == SET and leaf.attribute[0] != NONE:
            if leaf.flags & KIND_NULL:
                return 1
            if leaf.flags == 0 and leaf.strings + leaf.bytes + leaf.patterns == 0:
                words = leaf_intervals(leaf)
                least = INFINITY
                most = -INFINITY
                for at in range(leaf.integers + leaf.floats32 + leaf.floats64):
                    number = (
                        <double> (<const int64_t *> words)[2 * at] if at < leaf.integers
                        else (<const double *> words)[2 * at]
                    )
                    least = min(least, number)
                    number = (
                        <double> (<const int64_t *> words)[2 * at + 1] if at < leaf.integers
                        else (<const double *> words)[2 * at + 1]
                    )
                    most = max(most, number)
                low = number_bucket(row, least)
                high = number_bucket(row, most)
    else:
        row = &it.rows[attribute]
        if test == KIND:
            if kinds == KIND_NULL:
                low = high = 0
            elif kinds == KIND_FALSE or kinds == KIND_TRUE:
                low = high = truth_bucket(row, kinds == KIND_TRUE)
            elif kinds & KIND_NULL:
                return 1
            if high < 255 or kinds == KIND_ANY:
                posting.clause = TRUE_IN_ALL
        elif test == TEXT and kinds == 0:
            low = high = text_bucket(row, step.it.place, (<uint32_t *> it.draft.string_hashes.items)[step.it.place])
            posting.clause = TRUE_IN_ALL if high <= OWN_BUCKETS else 0
        elif test == EQUAL and kinds == 0:
            low = high = number_bucket(row, step.it.number)
        # No number has the bucket 1 or 255: where an interval has no end, there is none that does not prove it.
        elif test == LEAST and kinds & ~KIND_NAN == 0:
            low = number_bucket(row, step.it.number)
            posting.clause = TRUE_INSIDE if row.scale > 0 else 0
        elif test == MOST and kinds & ~KIND_NULL == 0:
            low = 0 if kinds else 1
            high = number_bucket(row, step.it.number)
            posting.clause = TRUE_INSIDE if row.scale > 0 else 0
        elif test == BETWEEN and (
            kinds == 0 or kinds == KIND_NAN and step.it.bounds[1] == INFINITY
            or kinds == KIND_NULL and step.it.bounds[0] == -INFINITY
        ):
            low = 0 if kinds == KIND_NULL else 1
            if step.it.bounds[0] != -INFINITY:
                low = number_bucket(row, step.it.bounds[0])
            if step.it.bounds[1] != INFINITY:
                high = number_bucket(row, step.it.bounds[1])
            posting.clause = TRUE_INSIDE if row.scale > 0 else 0
        elif kinds & KIND_NULL:
            return 1
    posting.attribute = <uint16_t> attribute
    posting.low = <uint8_t> low
    posting.high = <uint8_t> high
    if low == 1 and high == 255:
        return 0.9
    return 0


# ---- one clause ----------------------------------------------------------------------------------------------------

cdef uint32_t node_add(SegmentLayout *it) noexcept nogil:
    """Add a node, of which there is room."""
    memset(<TreeNode *> it.nodes.items + it.nodes.count, 0, sizeof(TreeNode))
    it.nodes.count += 1
    return <uint32_t> it.nodes.count - 1


cdef void node_join(SegmentLayout *it, uint32_t group, uint32_t node) noexcept nogil:
    """Let a node be the last of a group."""
    cdef TreeNode *nodes = <TreeNode *> it.nodes.items
    cdef TreeNode *parent = &nodes[group]
    if parent.last:
        nodes[parent.last - 1].next = node + 1
    else:
        parent.child = node + 1
        parent.chance = 1
    parent.last = node + 1
    # Of an OR until it is done the chance that none is true.
    parent.chance *= nodes[node].chance if parent.is_all else 1 - min(1, nodes[node].chance)
    parent.cost += nodes[node].cost


cdef void node_done(SegmentLayout *it, uint32_t group) noexcept nogil:
    cdef TreeNode *node = <TreeNode *> it.nodes.items + group
    if not node.is_all:
        node.chance = 1 - node.chance


cdef double step_cost(SegmentLayout *it, const ClauseStep *step) noexcept nogil:
    """Guess how long a test takes, where 1 is a comparison."""
    cdef const PooledLeaf *leaf
    if step.test & TEST_MASK != LEAF or step.it.leaf[1]:
        return 1
    leaf = <const PooledLeaf *> (it.view.pool + it.view.leaves[step.it.place])
    if leaf.patterns:
        return 10
    return 4 + 2 * <double> (leaf.actions[0] + leaf.actions[1])


cdef int tree_make(SegmentLayout *it, const ClauseStep *steps, uint32_t count) noexcept nogil:
    """Build the tree of a clause from its steps. Returns the root; -1 without memory."""
    cdef uint32_t *stack
    cdef TreeNode *nodes
    cdef uint64_t open = 0
    cdef uint32_t at, node, depth
    it.nodes.count = 0
    it.stack.count = 0
    if items_room(&it.nodes, 2 * <uint64_t> count, sizeof(TreeNode)) < 0 or items_room(&it.stack, count, 4) < 0:
        return -1
    stack = <uint32_t *> it.stack.items
    nodes = <TreeNode *> it.nodes.items
    for at in range(count):
        node = node_add(it)
        nodes[node].step = at
        nodes[node].chance = (<double *> it.chances.items)[at]
        nodes[node].cost = step_cost(it, &steps[at])
        depth = steps[at].link >> JUMP_BITS
        while open and (at == count - 1 or nodes[stack[open - 1]].depth > depth):
            node_join(it, stack[open - 1], node)
            open -= 1
            node = stack[open]
            node_done(it, node)
        if at == count - 1:
            return <int> node
        if not open or nodes[stack[open - 1]].depth < depth:
            stack[open] = node_add(it)
            nodes[stack[open]].depth = depth
            nodes[stack[open]].is_all = steps[at].test >> TEST_BITS == 1
            open += 1
        node_join(it, stack[open - 1], node)
    return -1


cdef double leaves_choose(SegmentLayout *it, const ClauseStep *steps, uint32_t number, uint32_t *best) noexcept nogil:
    """Add the chosen_leaf of a node. Gives how often it is expected to be reached, below 0 without memory.

    Args:
        best: of an AND the part that was chosen.
    """
    cdef TreeNode *node = <TreeNode *> it.nodes.items + number
    cdef IndexedLeaf *indexed
    cdef double chance, least, total
    cdef uint64_t base = it.indexed.count
    cdef uint64_t start, kept
    cdef uint32_t child, chosen, inner
    cdef uint32_t second = NONE
    cdef Posting posting
    if not node.child:
        if items_room(&it.indexed, 1, sizeof(IndexedLeaf)) < 0:
            return -1
        indexed = <IndexedLeaf *> it.indexed.items + it.indexed.count
        indexed.step = node.step
        indexed.second = NONE
        indexed.chance = 1
        it.indexed.count += 1
        best[0] = number
        return node.chance
    total = 0
    least = -1
    kept = 0
    chosen = NONE
    child = node.child
    while child:
        start = it.indexed.count
        chance = leaves_choose(it, steps, child - 1, &inner)
        if chance < 0:
            return -1
        total += chance
        if node.is_all:
            if least < 0 or chance < least:
                least = chance
                chosen = child - 1
                indexed = <IndexedLeaf *> it.indexed.items
                kept = it.indexed.count - start
                move_down(indexed, base, start, kept)
            it.indexed.count = base + kept
        child = (<TreeNode *> it.nodes.items)[child - 1].next
    best[0] = chosen
    if not node.is_all:
        return total
    total = 1
    child = node.child
    while child:
        inner = child - 1
        child = (<TreeNode *> it.nodes.items)[inner].next
        if inner == chosen or (<TreeNode *> it.nodes.items)[inner].child:
            continue
        chance = second_buckets(it, &steps[(<TreeNode *> it.nodes.items)[inner].step], &posting)
        if chance < 1:
            chance = max(chance, (<TreeNode *> it.nodes.items)[inner].chance)
            if chance < total:
                total = chance
                second = (<TreeNode *> it.nodes.items)[inner].step
    indexed = <IndexedLeaf *> it.indexed.items
    for start in range(base, it.indexed.count):
        if total < indexed[start].chance:
            indexed[start].chance = total
            indexed[start].second = second
    return least


cdef void move_down(IndexedLeaf *indexed, uint64_t to, uint64_t start, uint64_t count) noexcept nogil:
    cdef uint64_t at
    for at in range(count):
        indexed[to + at] = indexed[start + at]


cdef int by_weight(const void *left, const void *right) noexcept nogil:
    cdef const WeightedNode *a = <const WeightedNode *> left
    cdef const WeightedNode *b = <const WeightedNode *> right
    if a.weight != b.weight:
        return -1 if a.weight < b.weight else 1
    return (a.node > b.node) - (a.node < b.node)


cdef int arrange(
    SegmentLayout *it, const ClauseStep *steps, uint32_t number, uint32_t first, uint32_t depth
) noexcept nogil:
    """Write the steps of a node: what decides most at the least cost comes first.

    Args:
        first: the part that comes before all others; or NONE.
    """
    cdef TreeNode *nodes = <TreeNode *> it.nodes.items
    cdef TreeNode *node = &nodes[number]
    cdef ClauseStep *last
    cdef uint64_t base = it.order.count
    cdef uint64_t at
    cdef uint32_t child = node.child
    cdef WeightedNode *order
    if not child:
        if items_room(&it.code, 1, sizeof(ClauseStep)) < 0:
            return -1
        last = <ClauseStep *> it.code.items + it.code.count
        last[0] = steps[node.step]
        it.code.count += 1
        return 0
    while child:
        if items_room(&it.order, 1, sizeof(WeightedNode)) < 0:
            return -1
        order = <WeightedNode *> it.order.items + it.order.count
        order.node = child - 1
        order.weight = nodes[child - 1].cost * (
            nodes[child - 1].chance if node.is_all else 1 - nodes[child - 1].chance
        ) if child - 1 != first else -1
        it.order.count += 1
        child = nodes[child - 1].next
    qsort(<WeightedNode *> it.order.items + base, it.order.count - base, sizeof(WeightedNode), by_weight)
    for at in range(base, it.order.count):
        if at > base:
            last = <ClauseStep *> it.code.items + it.code.count - 1
            last.link = depth << JUMP_BITS
            last.test = last.test & TEST_MASK | ((<int> node.is_all) << TEST_BITS)
        if arrange(it, steps, (<WeightedNode *> it.order.items)[at].node, NONE, depth + 1) < 0:
            return -1
    it.order.count = base
    return 0


# ---- lists -------------------------------------------------------------------------------------------------------

cdef uint32_t list_add(SegmentLayout *it, const LeafTerm *term) noexcept nogil:
    """Begin a list. Gives its number + 1; 0 without memory."""
    cdef TermList *term_list
    if items_room(&it.lists, 1, sizeof(TermList)) < 0:
        return 0
    term_list = <TermList *> it.lists.items + it.lists.count
    term_list.term = term[0]
    term_list.count = 0
    it.lists.count += 1
    return <uint32_t> it.lists.count


cdef uint32_t list_of(SegmentLayout *it, const LeafTerm *term) noexcept nogil:
    """Return the list of a term + 1; 0 without memory."""
    cdef Attribute *row = &it.rows[term.attribute]
    cdef uint32_t *list = &it.always
    if term.way == BY_AFFIX:
        row.flags |= HAS_AFFIXES
        if term.lane == 0:
            row.prefixes |= <uint32_t> 1 << term.length
        elif term.lane == 1:
            row.suffixes |= <uint32_t> 1 << term.length
        else:
            row.grams |= <uint32_t> 1 << term.length
        list = &named_find(it, term).list
    elif term.way == BY_PRESENCE:
        if term.lane != ANY_NULL:
            row.flags |= HAS_LISTS
        list = &it.presence[term.attribute * PRESENCES + term.lane]
    elif term.way == BY_POINT:
        row.flags |= (
            HAS_TEXT_POINTS if term.lane == LANE_TEXT else HAS_NUMBER_POINTS if term.lane == LANE_NUMBER
            else HAS_TRUTH_POINTS
        )
        list = &named_find(it, term).list
    if list[0] == 0:
        list[0] = list_add(it, term)
    return list[0]


cdef int leaf_index(
    SegmentLayout *it, uint32_t clause, const ClauseStep *steps, const IndexedLeaf *leaf, bint *exact
) noexcept nogil:
    """Write the postings of one leaf."""
    cdef Posting posting
    cdef PostingEntry *entry
    cdef IntervalEntry *interval
    cdef LeafTerm *term
    cdef uint64_t at
    cdef uint32_t list
    posting.clause = 0
    posting.attribute = 0
    posting.low = 0
    posting.high = 255
    if leaf.second != NONE:
        second_buckets(it, &steps[leaf.second], &posting)
    posting.clause |= clause
    if leaf_terms(&it.view, &it.terms, &steps[leaf.step], exact) < 0:
        return -1
    for at in range(it.terms.count):
        term = <LeafTerm *> it.terms.items + at
        if term.way == BY_INTERVAL:
            if items_room(&it.intervals, 1, sizeof(IntervalEntry)) < 0:
                return -1
            interval = <IntervalEntry *> it.intervals.items + it.intervals.count
            interval.low = term.low
            interval.high = term.high
            interval.attribute = term.attribute
            interval.posting = posting
            it.rows[term.attribute].flags |= HAS_INTERVALS
            it.intervals.count += 1
            continue
        list = list_of(it, term)
        if list == 0 or items_room(&it.entries, 1, sizeof(PostingEntry)) < 0:
            return -1
        entry = <PostingEntry *> it.entries.items + it.entries.count
        entry.list = list - 1
        entry.posting = posting
        it.entries.count += 1
        (<TermList *> it.lists.items)[list - 1].count += 1
    return 0


cdef void use_step(SegmentLayout *it, const ClauseStep *step) noexcept nogil:
    """Note what a step needs of a message."""
    cdef int test = step.test & TEST_MASK
    cdef const PooledLeaf *leaf
    cdef const ArithmeticStep *actions
    cdef const ClauseStep *steps
    cdef uint32_t at
    if test != LEAF:
        if step.kinds != 127 and it.attributes:
            it.rows[step.attribute].flags |= USED | (HAS_TEXTS if test == TEXT or test == OTHER_TEXT else 0)
        return
    if it.used[step.it.place]:
        return
    it.used[step.it.place] = 1
    leaf = <const PooledLeaf *> (it.view.pool + it.view.leaves[step.it.place])
    if leaf.kind == CODE:
        steps = <const ClauseStep *> (<const uint64_t *> leaf + LEAF_WORDS)
        for at in range(leaf.actions[0]):
            use_step(it, &steps[at])
        return
    for at in range(2):
        if leaf.attribute[at] != NONE:
            it.rows[leaf.attribute[at]].flags |= USED | (HAS_TEXTS if leaf.strings + leaf.bytes else 0)
    actions = <const ArithmeticStep *> (<const uint64_t *> leaf + LEAF_WORDS)
    for at in range(leaf.actions[0] + leaf.actions[1]):
        if actions[at].what == PUSH_ATTRIBUTE:
            it.rows[actions[at].attribute].flags |= USED


# ---- steps in words ----------------------------------------------------------------------------------------------

cdef uint32_t listed_texts(const PooledLeaf *leaf, uint16_t attribute, bint *is_not) noexcept nogil:
    """Return how many strings a short step has to list for a leaf; 0 where that is not all that the leaf is."""
    is_not[0] = leaf.flags == EVERY_OTHER_KIND
    return leaf.strings if (
        leaf.kind == SET and leaf.attribute[0] == attribute and not leaf.bytes and not leaf.patterns
        and leaf.strings <= MOST_LISTED and (is_not[0] or leaf.flags == 0)
        and leaf.integers == leaf.floats32 == leaf.floats64 == <uint32_t> is_not[0]
        and (not is_not[0] or memcmp(leaf_intervals(leaf), ALL_NUMBERS, sizeof(ALL_NUMBERS)) == 0)
    ) else 0


cdef bint range_of(const ClauseStep *step, uint32_t *low, uint32_t *high) noexcept nogil:
    """Find the codes between which a number makes a test of one true, or false one of all but some."""
    cdef int test = step.test & TEST_MASK
    cdef double least = -INFINITY
    cdef double most = INFINITY
    if test == BETWEEN or test == OUTSIDE:
        least, most = step.it.bounds[0], step.it.bounds[1]
    elif test == UNEQUAL or test == LEAST or test == MOST:
        least = -INFINITY if test == MOST else step.it.number
        most = INFINITY if test == LEAST else step.it.number
    else:
        return False
    if least != -INFINITY and fabs(least) >= CODED or most != INFINITY and fabs(most) >= CODED:
        return False
    low[0] = number_code(least)
    high[0] = number_code(most)
    # A number between two whole ones is an end of what begins next to one of them alone.
    return (least == -INFINITY or low[0] & 1 == 0 or least == nextafter(code_number(low[0]), INFINITY)) and (
        most == INFINITY or high[0] & 1 == 0 or most == nextafter(code_number(high[0]) + 1, -INFINITY)
    )


cdef uint32_t step_shorten(
    SegmentLayout *it, const ClauseStep *step, uint32_t beyond, ShortStep *short, const PooledLeaf **texts
) noexcept nogil:
    """Write a step as a short one.

    Args:
        beyond: how many words there are between it and where it may go on; 0 where it does not.
        texts: the leaf whose strings are to follow.

    Returns: its words; 0 if it cannot be short.
    """
    cdef int test = step.test & TEST_MASK
    cdef uint32_t depth = step.link >> JUMP_BITS
    cdef const PooledLeaf *leaf
    cdef uint32_t count, last
    cdef uint32_t low = 0
    cdef uint32_t high = 0
    cdef bint is_not = False
    short.attribute = step.attribute
    short.it = step.it.place
    if depth >= SHORT_DEPTHS or test == LEAF and step.it.leaf[1]:
        return 0
    if test == KIND:
        test = SHORT_KIND
        short.it = step.kinds
    elif test == TEXT and step.kinds == 0:
        test = SHORT_TEXT if short.it < SHORT_LIMIT else SHORT_WIDE_TEXT
    elif test == OTHER_TEXT and step.kinds == KIND_ANY & ~KIND_STRING:
        test = (SHORT_TEXT if short.it < SHORT_LIMIT else SHORT_WIDE_TEXT) | SHORT_NOT
    elif test == LEAF:
        leaf = <const PooledLeaf *> (it.view.pool + it.view.leaves[step.it.place])
        test = SHORT_LEAF
        count = listed_texts(leaf, step.attribute, &is_not)
        if count:
            texts[0] = leaf
            last = leaf_strings(leaf)[count - 1]
            if count == 2 and last < SHORT_LIMIT:
                test = SHORT_PAIR | (SHORT_NOT if is_not else 0)
                short.it = leaf_strings(leaf)[0] | last << 16
            else:
                test = SHORT_TEXTS if last < SHORT_LIMIT else SHORT_WIDE_TEXTS
                count = (count + 3) // 4 if last < SHORT_LIMIT else (count + 1) // 2
                short.test = <uint8_t> (test | (SHORT_NOT if is_not else 0) | step.test & ~TEST_MASK)
                short.link = <uint8_t> (depth << SHORT_JUMP_BITS)
                short.it = count | (beyond + 1 + count if beyond else 0) << 8
                return 1 + count
    elif (test == OUTSIDE or test == UNEQUAL) == (step.kinds == KIND_ANY & ~KIND_NUMBER) and (
        (test == OUTSIDE or test == UNEQUAL or step.kinds == 0) and range_of(step, &low, &high)
    ):
        test = SHORT_RANGE | (SHORT_NOT if step.kinds else 0)
        short.it = low | (high - low) << 16
    else:
        return 0
    if beyond >= SHORT_JUMP_MASK:
        return 0
    short.test = <uint8_t> (test | step.test & ~TEST_MASK)
    short.link = <uint8_t> (depth << SHORT_JUMP_BITS | (beyond + 1 if beyond else 0))
    return 1


cdef void texts_write(uint64_t *words, const ShortStep *short, const PooledLeaf *leaf) noexcept nogil:
    """Write the numbers of the strings of a leaf behind a short step; the last as often as there is room."""
    cdef int bits = 32 if short.test & TEST_MASK & ~SHORT_NOT == SHORT_WIDE_TEXTS else 16
    cdef uint32_t at
    memset(words, 0, 8 * (short.it & 255))
    for at in range((short.it & 255) * (64 // bits)):
        words[at * bits // 64] |= <uint64_t> leaf_strings(leaf)[min(at, leaf.strings - 1)] << (at * bits % 64)


cdef int clause_pack(SegmentLayout *it, uint32_t count) noexcept nogil:
    """Write the steps of the clause in hand as words. Returns 0, or -1 without memory."""
    cdef const ClauseStep *steps = <const ClauseStep *> it.code.items
    cdef uint64_t room = <uint64_t> count * MOST_WORDS
    cdef uint32_t *ends
    cdef uint64_t *words
    cdef uint64_t *here
    cdef ShortStep short
    cdef ClauseStep long
    cdef const PooledLeaf *texts = NULL
    cdef uint32_t at, size, jump, beyond
    if items_room(&it.ends, <uint64_t> count + 1, 4) < 0 or items_room(&it.words, room, 8) < 0:
        return -1
    ends = <uint32_t *> it.ends.items
    words = <uint64_t *> it.words.items + it.words.count
    ends[count] = 0
    # From the last to the first: where a step goes on counts the words between.
    at = count
    while at > 0:
        at -= 1
        jump = (steps[at].link & JUMP_MASK) // 2
        beyond = ends[at + 1] - ends[at + jump] if jump else 0
        here = words + room - ends[at + 1]
        size = step_shorten(it, &steps[at], beyond, &short, &texts)
        here -= size if size else 2
        if size:
            memcpy(here, &short, sizeof(ShortStep))
            if size > 1:
                texts_write(here + 1, &short, texts)
            elif short.test & TEST_MASK == SHORT_LEAF:
                leaf_keep(it, short.it)
        else:
            long = steps[at]
            long.link = long.link & ~<uint32_t> JUMP_MASK | (beyond + 2 if jump else 0)
            if long.test & TEST_MASK == LEAF:
                leaf_keep(it, long.it.place)
            memcpy(here, &long, sizeof(ClauseStep))
        ends[at] = <uint32_t> (words + room - here)
    if it.words.count + ends[0] > CODE_MASK:
        return -1
    memmove(words, words + room - ends[0], 8 * <uint64_t> ends[0])
    it.words.count += ends[0]
    return 0


cdef void leaf_keep(SegmentLayout *it, uint32_t number) noexcept nogil:
    """Note that a leaf is named, and those that its code names: they have lower numbers."""
    cdef const PooledLeaf *leaf = <const PooledLeaf *> (it.view.pool + it.view.leaves[number])
    cdef const ClauseStep *steps = <const ClauseStep *> (<const uint64_t *> leaf + LEAF_WORDS)
    cdef uint32_t at
    if it.kept[number] == 0:
        it.kept[number] = 1
        if leaf.kind == CODE:
            for at in range(leaf.actions[0]):
                if steps[at].test & TEST_MASK == LEAF:
                    leaf_keep(it, steps[at].it.place)


cdef void leaves_rename(const SegmentLayout *it, uint64_t *code, uint64_t count) noexcept nogil:
    """Let steps name leaves by their new numbers."""
    cdef uint64_t at = 0
    while at < count:
        if (<ClauseStep *> (code + at)).test & TEST_MASK == LEAF:
            (<ClauseStep *> (code + at)).it.place = it.kept[(<ClauseStep *> (code + at)).it.place]
        elif (<ShortStep *> (code + at)).test & TEST_MASK == SHORT_LEAF:
            (<ShortStep *> (code + at)).it = it.kept[(<ShortStep *> (code + at)).it]
        at += step_words(code + at)


cdef inline void clause_prove(Posting *posting, uint32_t kept, uint32_t proof) noexcept nogil:
    posting.clause = posting.clause & kept | proof


cdef int clause_enter(SegmentLayout *it, uint32_t clause) noexcept nogil:
    """Arrange the steps of a clause, and write its postings."""
    cdef const DraftClause *given = <const DraftClause *> it.draft.clauses.items + clause
    cdef const ClauseStep *steps = <const ClauseStep *> it.draft.code.items + given.code
    cdef uint64_t at
    cdef uint64_t entries = it.entries.count
    cdef uint64_t intervals = it.intervals.count
    cdef uint32_t best = NONE
    cdef uint32_t proved, child, kept, proof
    cdef int root
    cdef TreeNode *nodes
    cdef bint exact = True
    cdef bint all_exact = True
    if clause_chances(it, steps, given.steps) < 0:
        return -1
    root = tree_make(it, steps, given.steps)
    if root < 0:
        return -1
    it.indexed.count = 0
    if leaves_choose(it, steps, root, &best) < 0:
        return -1
    for at in range(it.indexed.count):
        if leaf_index(it, clause, steps, <const IndexedLeaf *> it.indexed.items + at, &exact) < 0:
            return -1
        all_exact = all_exact and exact
    nodes = <TreeNode *> it.nodes.items
    proved = 0
    if all_exact and nodes[root].child == 0:
        proved = 1
    elif all_exact and nodes[root].is_all:
        # Of a group of leaves that was chosen each is a leaf.
        proved = 1
        if nodes[best].child:
            proved = 0
            child = nodes[best].child
            while child:
                proved += 1
                if nodes[child - 1].child:
                    proved = 0
                    break
                child = nodes[child - 1].next
    # A posting proves the clause only if that of the term and its buckets are all the tests there are.
    proof = TRUE_IN_ALL if proved == given.steps else 0
    kept = ~<uint32_t> 0 if proved + 1 == given.steps and proved else <uint32_t> CLAUSE_MASK
    for at in range(entries, it.entries.count):
        clause_prove(&(<PostingEntry *> it.entries.items)[at].posting, kept, proof)
    for at in range(intervals, it.intervals.count):
        clause_prove(&(<IntervalEntry *> it.intervals.items)[at].posting, kept, proof)
    it.starts[clause] = <uint32_t> it.words.count
    it.order.count = 0
    it.code.count = 0
    if arrange(it, steps, root, best if nodes[root].is_all else NONE, 0) < 0:
        return -1
    if steps_link(it.draft, <ClauseStep *> it.code.items, given.steps) < 0 or clause_pack(it, given.steps) < 0:
        return -1
    proved = (<uint32_t *> it.ends.items)[0] - (<uint32_t *> it.ends.items)[proved]
    it.proved[clause] = proved if proved <= MOST_PROVED else 0
    it.sizes[clause] = <uint32_t> it.words.count - it.starts[clause]
    return 0


cdef int by_ends(const void *left, const void *right) noexcept nogil:
    """Sort intervals by their lower ends, and the wider before the narrower."""
    cdef const IntervalEntry *a = <const IntervalEntry *> left
    cdef const IntervalEntry *b = <const IntervalEntry *> right
    if a.low != b.low:
        return -1 if a.low < b.low else 1
    if a.high != b.high:
        return -1 if a.high > b.high else 1
    return (a.posting.clause > b.posting.clause) - (a.posting.clause < b.posting.clause)


cdef int intervals_sort(SegmentLayout *it) noexcept nogil:
    """Sort intervals: first by attribute, of which there are few. Returns 0, or -1 without memory."""
    cdef IntervalEntry *given = <IntervalEntry *> it.intervals.items
    cdef uint64_t count = it.intervals.count
    cdef IntervalEntry *sorted = <IntervalEntry *> malloc((count + 1) * sizeof(IntervalEntry))
    cdef uint32_t *ends = <uint32_t *> calloc(<size_t> it.attributes + 1, 4)
    cdef uint64_t at
    cdef uint32_t attribute, start
    if sorted == NULL or ends == NULL:
        free(sorted)
        free(ends)
        return -1
    for at in range(count):
        ends[given[at].attribute] += 1
    start = 0
    for attribute in range(it.attributes):
        start += ends[attribute]
        ends[attribute] = start - ends[attribute]
    for at in range(count):
        sorted[ends[given[at].attribute]] = given[at]
        ends[given[at].attribute] += 1
    start = 0
    for attribute in range(it.attributes):
        if ends[attribute] > start + 1:
            qsort(sorted + start, ends[attribute] - start, sizeof(IntervalEntry), by_ends)
        start = ends[attribute]
    free(given)
    free(ends)
    it.intervals.items = sorted
    it.intervals.room = count + 1
    return 0


# ---- all of them -------------------------------------------------------------------------------------------------

cdef void layout_free(SegmentLayout *it) noexcept nogil:
    free(it.statistics)
    free(it.rows)
    free(it.named)
    free(it.terms.items)
    free(it.nodes.items)
    free(it.stack.items)
    free(it.indexed.items)
    free(it.order.items)
    free(it.chances.items)
    free(it.code.items)
    free(it.ends.items)
    free(it.words.items)
    free(it.entries.items)
    free(it.intervals.items)
    free(it.lists.items)
    free(it.presence)
    free(it.proved)
    free(it.used)
    free(it.kept)
    free(it.starts)
    free(it.sizes)
    free(it.point_lists)
    free(it.buckets)
    free(it.numbers)


cdef int layout_clauses(SegmentLayout *it) noexcept nogil:
    """Decide how all clauses are reached. Returns 0, or -1 without memory."""
    cdef const DraftClause *clauses = <const DraftClause *> it.draft.clauses.items
    cdef const ClauseStep *code = <const ClauseStep *> it.draft.code.items
    cdef uint64_t count = it.draft.clauses.count
    cdef uint64_t clause
    cdef uint32_t at
    cdef AttributeStatistics *known
    it.statistics = <AttributeStatistics *> calloc(<size_t> it.attributes + 1, sizeof(AttributeStatistics))
    it.rows = <Attribute *> calloc(<size_t> it.attributes + 1, sizeof(Attribute))
    it.presence = <uint32_t *> calloc((<size_t> it.attributes + 1) * PRESENCES, 4)
    it.proved = <uint32_t *> calloc(count + 1, 4)
    it.used = <uint8_t *> calloc(it.draft.leaves.count + 1, 1)
    it.kept = <uint32_t *> calloc(it.draft.leaves.count + 1, 4)
    it.starts = <uint32_t *> calloc(count + 1, 4)
    it.sizes = <uint32_t *> calloc(count + 1, 4)
    it.numbers = <uint32_t *> calloc(count + 1, 4)
    if (
        it.statistics == NULL or it.rows == NULL or it.presence == NULL or it.proved == NULL or it.used == NULL
        or it.kept == NULL or it.starts == NULL or it.sizes == NULL or it.numbers == NULL or named_grow(it) < 0
    ):
        return -1
    for at in range(it.attributes):
        it.statistics[at].low = INFINITY
        it.statistics[at].high = -INFINITY
    for clause in range(count):
        if clauses[clause].link:
            for at in range(clauses[clause].steps):
                if leaf_learn(it, &code[clauses[clause].code + at]) < 0:
                    return -1
                use_step(it, &code[clauses[clause].code + at])
    for at in range(it.attributes):
        known = &it.statistics[at]
        if known.low <= known.high and not (it.rows[at].flags & HAS_TEXTS and known.lanes[0] > known.lanes[1]):
            it.rows[at].base = known.low
            it.rows[at].scale = 252 / (known.high - known.low) if known.high > known.low else 1
            if not it.rows[at].scale < INFINITY:
                it.rows[at].scale = 1
    for clause in range(count):
        if clauses[clause].link and clause_enter(it, <uint32_t> clause) < 0:
            return -1
    return points_sort(it)


cdef int points_sort(SegmentLayout *it) noexcept nogil:
    """Bring the lists of points together, bucket by bucket. Returns 0, or -1 without memory."""
    cdef const TermList *lists = <const TermList *> it.lists.items
    cdef uint64_t at, bucket
    cdef uint32_t count = 0
    for at in range(it.lists.count):
        count += lists[at].term.way == BY_POINT
    it.bucket_count = count // POINTS_A_BUCKET + 1
    it.point_lists = <uint32_t *> malloc((count + 1) * <size_t> 4)
    it.buckets = <uint32_t *> calloc(it.bucket_count + <size_t> 2, 4)
    if it.point_lists == NULL or it.buckets == NULL:
        return -1
    # Where each begins is kept one place further on, until it is where the one before ends.
    for at in range(it.lists.count):
        if lists[at].term.way == BY_POINT:
            it.buckets[list_bucket(it, &lists[at].term) + 2] += 1
    for at in range(2, it.bucket_count + <uint64_t> 2):
        it.buckets[at] += it.buckets[at - 1]
    for at in range(it.lists.count):
        if lists[at].term.way == BY_POINT:
            bucket = list_bucket(it, &lists[at].term) + 1
            it.point_lists[it.buckets[bucket]] = <uint32_t> at
            it.buckets[bucket] += 1
    return 0


cdef uint64_t list_bucket(const SegmentLayout *it, const LeafTerm *term) noexcept nogil:
    cdef uint32_t key = point_key(term.attribute, term.lane, term.value)
    return slot_of(point_hash(key, <uint32_t> term.value), it.bucket_count)


cdef void clause_number(SegmentLayout *it, uint32_t *clause) noexcept nogil:
    """Number a clause when it is first met, and let a posting name it so."""
    cdef uint32_t *number = &it.numbers[clause[0] & CLAUSE_MASK]
    if number[0] == 0:
        it.numbered += 1
        number[0] = it.numbered
    clause[0] = clause[0] & ~<uint32_t> CLAUSE_MASK | (number[0] - 1)


cdef Posting *layout_postings(SegmentLayout *it, uint32_t *total) noexcept nogil:
    """Bring the postings together, list by list, and number the clauses. NULL without memory."""
    cdef uint64_t count = it.entries.count + it.intervals.count
    cdef Posting *postings = <Posting *> malloc((count + 1) * sizeof(Posting))
    cdef PostingEntry *entries = <PostingEntry *> it.entries.items
    cdef IntervalEntry *intervals = <IntervalEntry *> it.intervals.items
    cdef TermList *lists = <TermList *> it.lists.items
    cdef uint64_t at
    cdef uint32_t start = 0
    if postings == NULL or count >= NONE or it.draft.clauses.count > CLAUSE_MASK:
        free(postings)
        return NULL
    for at in range(it.buckets[it.bucket_count]):
        lists[it.point_lists[at]].start = start
        start += lists[it.point_lists[at]].count
    for at in range(it.lists.count):
        if lists[at].term.way != BY_POINT:
            lists[at].start = start
            start += lists[at].count
        lists[at].count = 0
    for at in range(it.entries.count):
        postings[lists[entries[at].list].start + lists[entries[at].list].count] = entries[at].posting
        lists[entries[at].list].count += 1
    if intervals_sort(it) < 0:
        free(postings)
        return NULL
    intervals = <IntervalEntry *> it.intervals.items
    for at in range(it.intervals.count):
        postings[it.entries.count + at] = intervals[at].posting
    for at in range(count):
        clause_number(it, &postings[at].clause)
    total[0] = <uint32_t> count
    return postings


cdef uint64_t rounded(uint64_t size) noexcept nogil:
    return (size + 63) & ~<uint64_t> 63


cdef uint64_t power_above(uint64_t count) noexcept nogil:
    """Return the size of a table for so many: a power of two, three quarters full at most."""
    cdef uint64_t size = 8
    while 3 * size < 4 * count:
        size *= 2
    return size


cdef uint64_t maxima_count(uint64_t count) noexcept nogil:
    cdef uint64_t blocks = (count + BLOCK - 1) // BLOCK
    return blocks + (blocks + BLOCK - 1) // BLOCK


cdef void header_make(SegmentLayout *it, SegmentHeader *header, uint64_t copies, uint32_t postings) noexcept nogil:
    """Work out where everything will lie."""
    cdef Draft *draft = it.draft
    cdef TermList *lists = <TermList *> it.lists.items
    cdef IntervalEntry *intervals = <IntervalEntry *> it.intervals.items
    cdef uint64_t at, affixes, run
    cdef uint32_t leaves
    cdef uint64_t start = rounded(sizeof(SegmentHeader))
    cdef int section
    memset(header, 0, sizeof(SegmentHeader))
    memcpy(header.magic, b"mqselset", 8)
    header.version = VERSION
    header.order = 0x01020304
    header.selectors = draft.selectors
    header.place_limit = draft.place_limit
    affixes = 0
    for at in range(it.lists.count):
        affixes += lists[at].term.way == BY_AFFIX
    leaves = 0
    for at in range(draft.leaves.count):
        if it.kept[at]:
            it.kept[at] = leaves
            leaves += 1
            header.counts[POOL] += (<const PooledLeaf *> (it.view.pool + it.view.leaves[at])).words
        else:
            it.kept[at] = NONE
    header.counts[ATTRIBUTES] = it.attributes
    header.counts[STRINGS] = draft.strings.count
    header.counts[STRING_TABLE] = draft.strings.count * 2 + 256
    header.counts[TEXTS] = draft.texts.count
    header.counts[LEAVES] = leaves
    header.counts[STEPS] = it.words.count
    header.counts[CLAUSES] = it.numbered
    header.counts[COPIES] = copies
    header.counts[POSTINGS] = postings
    header.counts[POINTS] = it.buckets[it.bucket_count] + <uint64_t> 1
    header.counts[AFFIXES] = power_above(affixes)
    header.counts[ENDS] = 2 * it.intervals.count
    header.counts[POINT_BUCKETS] = it.bucket_count + <uint64_t> 1
    run = 0
    for at in range(it.intervals.count):
        run += 1
        if at + 1 == it.intervals.count or intervals[at + 1].attribute != intervals[at].attribute:
            header.counts[MAXIMA] += maxima_count(run)
            run = 0
    for at in range(it.attributes):
        header.counts[NULLS] += it.presence[at * PRESENCES + ANY_NULL] != 0
    header.counts[PLACES] = (<uint64_t> draft.place_limit + 7) // 8
    for section in range(SECTIONS):
        header.starts[section] = start
        start += rounded(header.counts[section] * SIZES[section])
    header.size = start
    if it.always:
        header.always.start = lists[it.always - 1].start
        header.always.count = lists[it.always - 1].count
    header.check = header_check(header)


cdef void write_intervals(SegmentLayout *it, uint8_t *data, const SegmentHeader *header) noexcept nogil:
    """Write the intervals, and the maxima of their upper ends."""
    cdef IntervalEntry *intervals = <IntervalEntry *> it.intervals.items
    cdef double *lows = <double *> (data + header.starts[ENDS])
    cdef double *highs = lows + it.intervals.count
    cdef double *maxima = <double *> (data + header.starts[MAXIMA])
    cdef double *upper
    cdef uint64_t first = 0
    cdef uint64_t at, count, blocks, maximum
    cdef Attribute *row
    maximum = 0
    while first < it.intervals.count:
        count = 0
        while first + count < it.intervals.count and (
            intervals[first + count].attribute == intervals[first].attribute
        ):
            count += 1
        row = &it.rows[intervals[first].attribute]
        row.intervals.start = <uint32_t> first
        row.intervals.count = <uint32_t> count
        row.interval_postings = <uint32_t> (it.entries.count + first)
        row.maxima = <uint32_t> maximum
        blocks = (count + BLOCK - 1) // BLOCK
        upper = maxima + maximum + blocks
        for at in range(blocks):
            maxima[maximum + at] = -INFINITY
            upper[at // BLOCK] = -INFINITY
        for at in range(count):
            lows[first + at] = intervals[first + at].low
            highs[first + at] = intervals[first + at].high
            maxima[maximum + at // BLOCK] = max(maxima[maximum + at // BLOCK], intervals[first + at].high)
        for at in range(blocks):
            upper[at // BLOCK] = max(upper[at // BLOCK], maxima[maximum + at])
        maximum += maxima_count(count)
        first += count


cdef void write_lists(SegmentLayout *it, uint8_t *data, const SegmentHeader *header) noexcept nogil:
    """Write where the list of each value, affix and presence is, and then the attributes."""
    cdef TermList *lists = <TermList *> it.lists.items
    cdef const TermList *term_list
    cdef const LeafTerm *term
    cdef PointEntry *points = <PointEntry *> (data + header.starts[POINTS])
    cdef AffixEntry *affixes = <AffixEntry *> (data + header.starts[AFFIXES])
    cdef uint32_t *nulls = <uint32_t *> (data + header.starts[NULLS])
    cdef const uint32_t *leaves = <const uint32_t *> (data + header.starts[LEAVES])
    cdef uint64_t at, slot
    cdef uint32_t next = 0
    cdef PostingList list
    for at in range(it.lists.count):
        term_list = &lists[at]
        term = &term_list.term
        list.start = term_list.start
        list.count = term_list.count
        if term.way == BY_AFFIX:
            slot = term.value >> 32 & (header.counts[AFFIXES] - 1)
            while affixes[slot].key:
                slot = (slot + 1) & (header.counts[AFFIXES] - 1)
            affixes[slot].key = term_key(term)
            affixes[slot].points = 2 * leaves[it.kept[term.leaf]] + <uint32_t> (
                term.points - <const uint32_t *> (it.view.pool + it.view.leaves[term.leaf])
            )
            affixes[slot].list = list
        elif term.way == BY_PRESENCE:
            it.rows[term.attribute].lists[term.lane] = list
    for at in range(it.buckets[it.bucket_count]):
        term_list = &lists[it.point_lists[at]]
        term = &term_list.term
        points[at].value = <uint32_t> term.value
        points[at].key = point_key(term.attribute, term.lane, term.value)
        points[at].start = term_list.start
        next = term_list.start + term_list.count
    points[it.buckets[it.bucket_count]].start = next
    memcpy(data + header.starts[POINT_BUCKETS], it.buckets, header.counts[POINT_BUCKETS] * 4)
    slot = 0
    for at in range(it.attributes):
        if it.presence[at * PRESENCES + ANY_NULL]:
            nulls[slot] = <uint32_t> at
            slot += 1
    if it.attributes:
        memcpy(data + header.starts[ATTRIBUTES], it.rows, it.attributes * sizeof(Attribute))


cdef void write_clauses(SegmentLayout *it, uint8_t *data, const SegmentHeader *header) noexcept nogil:
    """Write the clauses in their order, with their steps and places."""
    cdef const DraftClause *given = <const DraftClause *> it.draft.clauses.items
    cdef const Link *links = <const Link *> it.draft.links.items
    cdef Clause *clauses = <Clause *> (data + header.starts[CLAUSES])
    cdef uint64_t *code = <uint64_t *> (data + header.starts[STEPS])
    cdef uint32_t *copies = <uint32_t *> (data + header.starts[COPIES])
    cdef uint8_t *places = data + header.starts[PLACES]
    cdef uint64_t at, clause
    cdef uint64_t copied = 0
    cdef uint64_t steps = 0
    cdef uint32_t link, count
    # Units by their new numbers, in the room where those are written.
    for at in range(it.draft.clauses.count):
        if it.numbers[at]:
            clauses[it.numbers[at] - 1].code = <uint32_t> at
    for clause in range(it.numbered):
        at = clauses[clause].code
        memcpy(code + steps, <uint64_t *> it.words.items + it.starts[at], 8 * <uint64_t> it.sizes[at])
        clauses[clause].code = <uint32_t> steps | it.proved[at] << CODE_BITS
        steps += it.sizes[at]
        link = given[at].link
        clauses[clause].place = links[link - 1].place
        if links[link - 1].next:
            clauses[clause].code |= MANY_PLACES
            clauses[clause].place = <uint32_t> copied
            count = 0
            while link:
                count += 1
                copies[copied + count] = links[link - 1].place
                link = links[link - 1].next
            copies[copied] = count
            copied += count + 1
        link = given[at].link
        while link:
            places[links[link - 1].place >> 3] |= <uint8_t> (1 << (links[link - 1].place & 7))
            link = links[link - 1].next
    leaves_rename(it, code, steps)


cdef void write_strings(SegmentLayout *it, uint8_t *data, const SegmentHeader *header) noexcept nogil:
    cdef uint32_t *table = <uint32_t *> (data + header.starts[STRING_TABLE])
    cdef uint64_t *pool = <uint64_t *> (data + header.starts[POOL])
    cdef uint32_t *leaves = <uint32_t *> (data + header.starts[LEAVES])
    cdef const uint32_t *hashes = <const uint32_t *> it.draft.string_hashes.items
    cdef const PooledLeaf *leaf
    cdef uint64_t at, slot
    cdef int bits = 0
    cdef Draft *draft = it.draft
    while draft.strings.count >> bits:
        bits += 1
    for at in range(draft.strings.count):
        slot = slot_of(hashes[at], header.counts[STRING_TABLE])
        while table[slot]:
            slot = slot + 1 if slot + 1 < header.counts[STRING_TABLE] else 0
        table[slot] = <uint32_t> (at + 1 | <uint64_t> hashes[at] << bits)
    if draft.strings.count:
        memcpy(data + header.starts[STRINGS], draft.strings.items, draft.strings.count * 4)
    if draft.texts.count:
        memcpy(data + header.starts[TEXTS], draft.texts.items, draft.texts.count)
    for at in range(draft.leaves.count):
        if it.kept[at] == NONE:
            continue
        leaf = <const PooledLeaf *> (it.view.pool + it.view.leaves[at])
        memcpy(pool, leaf, 8 * <uint64_t> leaf.words)
        leaves[it.kept[at]] = <uint32_t> (pool - <uint64_t *> (data + header.starts[POOL]))
        if leaf.kind == CODE:
            leaves_rename(it, pool + LEAF_WORDS, 2 * <uint64_t> leaf.actions[0])
        pool += leaf.words


cdef uint64_t copies_count(const Draft *draft) noexcept nogil:
    cdef const DraftClause *clauses = <const DraftClause *> draft.clauses.items
    cdef const Link *links = <const Link *> draft.links.items
    cdef uint64_t count = 0
    cdef uint64_t clause
    cdef uint32_t link
    for clause in range(draft.clauses.count):
        link = clauses[clause].link
        if link and links[link - 1].next:
            count += 1
            while link:
                count += 1
                link = links[link - 1].next
    return count


cdef bytes draft_layout(Draft *draft, uint32_t attributes):
    """Write a draft as a segment.

    Args:
        attributes: how many there are.

    Returns: its bytes.
    """
    cdef SegmentLayout it
    cdef SegmentHeader header
    cdef Posting *postings = NULL
    cdef uint32_t count = 0
    cdef uint8_t *data
    cdef bytes made = None
    cdef int done
    memset(&it, 0, sizeof(SegmentLayout))
    it.draft = draft
    it.attributes = attributes
    draft_view(draft, &it.view, attributes)
    try:
        with nogil:
            done = layout_clauses(&it)
            if done == 0:
                postings = layout_postings(&it, &count)
                if postings != NULL:
                    header_make(&it, &header, copies_count(draft), count)
        if postings == NULL:
            raise MemoryError
        made = PyBytes_FromStringAndSize(NULL, header.size)
        data = <uint8_t *> PyBytes_AS_STRING(made)
        with nogil:
            large_pages(data, header.size)
            memset(data, 0, header.size)
            memcpy(data, &header, sizeof(SegmentHeader))
            write_strings(&it, data, &header)
            write_clauses(&it, data, &header)
            memcpy(data + header.starts[POSTINGS], postings, count * sizeof(Posting))
            write_intervals(&it, data, &header)
            write_lists(&it, data, &header)
    finally:
        free(postings)
        layout_free(&it)
    return made
