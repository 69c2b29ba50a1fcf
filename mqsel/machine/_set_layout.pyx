# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""From a draft to a segment: how each unit is reached, and where everything lies.

A unit is reached by a gate: leaves one of which is true wherever the unit is. Of a leaf that is itself, of an OR what
its parts have, of an AND what the part has that messages are expected to reach least often. Each leaf of a gate gives
postings, by the values that it holds: see `Access`. Then units are numbered in the order of the postings, so that a
search runs forward in memory. Knows no message; what it expects of them it takes from the constants.

Longer than 500 lines because ways, gates and what is written share one table of what is known, from first to last.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.math cimport INFINITY, fabs, nextafter
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort
from libc.string cimport memcpy, memset

from mqsel.machine._set_draft cimport (
    Draft, DraftUnit, Items, Link, Table, draft_view, items_room, steps_link,
)
from mqsel.machine._set_parts cimport *

cdef enum:
    ANY_POINT = 0xFFFFFFFF      # _ in a pattern


# One way to a leaf: postings under a value, an interval, some characters, or what a value is.
cdef enum:
    BY_POINT
    BY_INTERVAL
    BY_AFFIX
    BY_PRESENCE
    BY_NOTHING                  # always


cdef struct Access:
    int way
    uint32_t attribute
    int lane                    # a Lane, or a Presence; of an affix 0 prefix, 1 suffix, 2 contained
    int length                  # of an affix
    uint64_t value              # of a point or an affix
    double low
    double high


# What is known of an attribute: how often its constants are what, and between which numbers they lie.
cdef struct Known:
    double lanes[4]             # texts, numbers, truth values, byte strings
    double points[3]            # distinct, by Lane
    double low
    double high


# A value that is said of an attribute somewhere: an entry of a table.
cdef struct Said:
    uint64_t value
    uint32_t key                # as in Point; 0 in an empty place
    uint32_t list               # of its postings: number + 1, or 0


cdef struct Node:
    uint32_t step               # of a leaf
    uint32_t child              # first and last, + 1
    uint32_t last
    uint32_t next               # in its group, + 1
    bint is_all
    double chance               # to be true
    double cost
    uint32_t depth


cdef struct Gate:
    uint32_t step
    uint32_t second             # a step that has to be true, too; or NONE
    double chance               # of that


cdef struct Entry:
    uint32_t list
    Posting posting


cdef struct Stretch:
    double low
    double high
    uint32_t attribute
    Posting posting


# What a list of postings is for.
cdef struct Target:
    int way
    uint32_t attribute
    int lane
    uint64_t value
    uint32_t count
    uint32_t start


cdef struct Order:
    double weight
    uint32_t node


cdef struct Layout:
    Draft *draft
    uint32_t attributes
    Segment view                # of the draft
    Known *known
    Attribute *rows
    Said *said
    uint64_t said_size
    uint64_t said_count
    Items accesses              # Access
    Items nodes                 # Node
    Items stack                 # uint32_t: open groups
    Items gates                 # Gate
    Items entries               # Entry
    Items stretches             # Stretch
    Items targets               # Target
    uint32_t *presence          # of each attribute and Presence, its list + 1
    Items affixes               # Said, with the number of a list: value is its key
    Table affix_table
    Items code                  # Step, arranged
    Items order                 # Order
    Items chances               # double, of each step of a unit
    uint32_t always             # a list + 1
    uint32_t *proved            # of each unit
    uint8_t *used               # of each leaf: whether what it needs was noted
    uint32_t *starts            # of each unit, in the arranged code
    uint32_t *numbers           # of each unit, its new number + 1
    uint32_t numbered


# ---- ways to leaves ----------------------------------------------------------------------------------------------

cdef int access_add(Layout *it, int way, uint32_t attribute, int lane, uint64_t value) noexcept nogil:
    cdef Access *access
    if items_room(&it.accesses, 1, sizeof(Access)) < 0:
        return -1
    access = <Access *> it.accesses.items + it.accesses.count
    memset(access, 0, sizeof(Access))
    access.way = way
    access.attribute = attribute
    access.lane = lane
    access.value = value
    it.accesses.count += 1
    return 0


cdef int access_numbers(Layout *it, uint32_t attribute, double low, double high) noexcept nogil:
    """Add the way to numbers from one to another."""
    cdef Access *access
    if low == -INFINITY and high == INFINITY:
        return access_add(it, BY_PRESENCE, attribute, ANY_NUMBER, 0)
    if access_add(it, BY_POINT if low == high else BY_INTERVAL, attribute, LANE_NUMBER, number_bits(low)) < 0:
        return -1
    access = <Access *> it.accesses.items + it.accesses.count - 1
    access.low = low
    access.high = high
    return 0


cdef int access_kinds(Layout *it, uint32_t attribute, int kinds, bint *exact) noexcept nogil:
    """Add the ways to whole kinds of values."""
    if kinds & (KIND_FALSE | KIND_TRUE) == KIND_FALSE | KIND_TRUE and kinds & KIND_NUMBER and kinds & KIND_STRING and (
        kinds & KIND_BYTES
    ):
        exact[0] = exact[0] and kinds & KIND_NAN
        if kinds & KIND_NULL and access_add(it, BY_PRESENCE, attribute, ANY_NULL, 0) < 0:
            return -1
        return access_add(it, BY_PRESENCE, attribute, ANY_VALUE, 0)
    if kinds & KIND_NULL and access_add(it, BY_PRESENCE, attribute, ANY_NULL, 0) < 0:
        return -1
    if kinds & (KIND_FALSE | KIND_TRUE) == KIND_FALSE | KIND_TRUE:
        if access_add(it, BY_PRESENCE, attribute, ANY_TRUTH, 0) < 0:
            return -1
    elif kinds & (KIND_FALSE | KIND_TRUE):
        if access_add(it, BY_POINT, attribute, LANE_TRUTH, kinds & KIND_TRUE != 0) < 0:
            return -1
    if kinds & KIND_NUMBER:
        exact[0] = exact[0] and kinds & KIND_NAN
        if access_add(it, BY_PRESENCE, attribute, ANY_NUMBER, 0) < 0:
            return -1
    elif kinds & KIND_NAN and access_add(it, BY_PRESENCE, attribute, ANY_NAN, 0) < 0:
        return -1
    if kinds & KIND_STRING and access_add(it, BY_PRESENCE, attribute, ANY_STRING, 0) < 0:
        return -1
    if kinds & KIND_BYTES and access_add(it, BY_PRESENCE, attribute, ANY_BYTES, 0) < 0:
        return -1
    return 0


cdef int by_low(const void *left, const void *right) noexcept nogil:
    cdef double a = (<const double *> left)[0]
    cdef double b = (<const double *> right)[0]
    return (a > b) - (a < b)


cdef int access_lanes(Layout *it, const Leaf *leaf, uint32_t attribute) noexcept nogil:
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
        if access_numbers(it, attribute, low, high) < 0:
            result = -1
            break
        if at < count:
            low = ends[2 * at]
            high = ends[2 * at + 1]
    free(ends)
    return result


cdef int access_pattern(Layout *it, const uint32_t *numbers, uint32_t attribute) noexcept nogil:
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
    if access_add(it, BY_AFFIX, attribute, way, affix_end(hash, way)) < 0:
        return -1
    access = <Access *> it.accesses.items + it.accesses.count - 1
    access.length = <int> length
    return 0


cdef int access_texts(Layout *it, const Leaf *leaf, uint32_t attribute, bint *exact) noexcept nogil:
    """Add the ways to the strings and byte strings of a leaf."""
    cdef const uint32_t *numbers = leaf_strings(leaf)
    cdef uint64_t before = it.accesses.count
    cdef uint32_t at, segment
    cdef int found
    cdef bint whole = leaf.flags & LEAF_NOT_STRINGS != 0
    if not whole:
        for at in range(leaf.strings):
            if access_add(it, BY_POINT, attribute, LANE_TEXT, numbers[at]) < 0:
                return -1
        numbers = leaf_patterns(leaf)
        at = 0
        while at < leaf.patterns and not whole:
            exact[0] = False
            found = access_pattern(it, numbers + at, attribute)
            if found < 0:
                return -1
            whole = found == 1
            segment = numbers[at]
            at += 1
            while segment > 0:
                at += numbers[at] + 1
                segment -= 1
    if whole:
        it.accesses.count = before
        exact[0] = exact[0] and leaf.strings == 0 and leaf.patterns == 0
        if access_add(it, BY_PRESENCE, attribute, ANY_STRING, 0) < 0:
            return -1
    numbers = leaf_bytes(leaf)
    if leaf.flags & LEAF_NOT_BYTES:
        exact[0] = exact[0] and leaf.bytes == 0
        return access_add(it, BY_PRESENCE, attribute, ANY_BYTES, 0)
    for at in range(leaf.bytes):
        if access_add(it, BY_POINT, attribute, LANE_TEXT, numbers[at]) < 0:
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


cdef int accesses_find(Layout *it, const Step *step, bint *exact) noexcept nogil:
    """List the ways to a leaf. Sets whether they lead nowhere else. Returns 0, or -1 without memory."""
    cdef int test = step.test & TEST_MASK
    cdef const Leaf *leaf
    cdef uint32_t attribute = step.attribute
    cdef double number = step.it.number
    it.accesses.count = 0
    exact[0] = True
    if test == LEAF:
        leaf = <const Leaf *> (it.view.pool + it.view.leaves[step.it.place])
        if leaf.kind != SET or leaf.attribute[0] == NONE:
            exact[0] = False
            attribute = needed(leaf)
            if attribute == NONE:
                return access_add(it, BY_NOTHING, 0, 0, 0)
            return access_add(it, BY_PRESENCE, attribute, ANY_VALUE, 0)
        attribute = leaf.attribute[0]
        if leaf.integers + leaf.floats32 + leaf.floats64:
            exact[0] = False
            if access_lanes(it, leaf, attribute) < 0:
                return -1
        if access_texts(it, leaf, attribute, exact) < 0:
            return -1
        if leaf.flags & LEAF_NAN32 != 0 or leaf.flags & LEAF_NAN64 != 0:
            exact[0] = False
            if access_add(it, BY_PRESENCE, attribute, ANY_NAN, 0) < 0:
                return -1
        return access_kinds(it, attribute, leaf.flags & (KIND_NULL | KIND_FALSE | KIND_TRUE), exact)
    if step.kinds == 127:
        return access_add(it, BY_NOTHING, 0, 0, 0)
    if step.kinds and access_kinds(it, attribute, step.kinds, exact) < 0:
        return -1
    if test == TEXT:
        return access_add(it, BY_POINT, attribute, LANE_TEXT, step.it.place)
    if test == OTHER_TEXT:
        exact[0] = False
        return access_add(it, BY_PRESENCE, attribute, ANY_STRING, 0)
    if test == EQUAL:
        return access_numbers(it, attribute, number, number)
    if test == UNEQUAL:
        if access_numbers(it, attribute, -INFINITY, nextafter(number, -INFINITY)) < 0:
            return -1
        return access_numbers(it, attribute, nextafter(number, INFINITY), INFINITY)
    if test == LEAST:
        return access_numbers(it, attribute, number, INFINITY)
    if test == MOST:
        return access_numbers(it, attribute, -INFINITY, number)
    if test == BETWEEN:
        return access_numbers(it, attribute, step.it.bounds[0], step.it.bounds[1])
    return 0


# ---- what is expected --------------------------------------------------------------------------------------------

cdef Said *said_find(Layout *it, uint32_t key, uint64_t value) noexcept nogil:
    cdef uint64_t slot = point_hash(key, value) & (it.said_size - 1)
    while it.said[slot].key and (it.said[slot].key != key or it.said[slot].value != value):
        slot = (slot + 1) & (it.said_size - 1)
    return &it.said[slot]


cdef int said_grow(Layout *it) noexcept nogil:
    cdef Said *old = it.said
    cdef uint64_t size = it.said_size
    cdef uint64_t at
    if 2 * it.said_count < size:
        return 0
    it.said_size = 2 * size if size else 256
    it.said = <Said *> calloc(it.said_size, sizeof(Said))
    if it.said == NULL:
        it.said = old
        it.said_size = size
        return -1
    for at in range(size):
        if old[at].key:
            said_find(it, old[at].key, old[at].value)[0] = old[at]
    free(old)
    return 0


cdef int learn(Layout *it, const Step *step) noexcept nogil:
    """Note what a leaf says of its attribute."""
    cdef bint exact = True
    cdef uint64_t at
    cdef const Access *access
    cdef Known *known
    cdef Said *said
    cdef uint32_t key
    if accesses_find(it, step, &exact) < 0:
        return -1
    for at in range(it.accesses.count):
        access = <const Access *> it.accesses.items + at
        if access.way == BY_NOTHING:
            continue
        known = &it.known[access.attribute]
        if access.way == BY_POINT:
            if said_grow(it) < 0:
                return -1
            key = access.attribute * 4 + access.lane + 1
            said = said_find(it, key, access.value)
            if said.key == 0:
                said.key = key
                said.value = access.value
                it.said_count += 1
                known.points[access.lane] += 1
            if access.lane == LANE_TEXT:
                known.lanes[0] += 1
            elif access.lane == LANE_TRUTH:
                known.lanes[2] += 1
            else:
                known.lanes[1] += 1
                learn_number(known, access.low)
        elif access.way == BY_INTERVAL:
            known.lanes[1] += 1
            learn_number(known, access.low)
            learn_number(known, access.high)
        elif access.way == BY_AFFIX:
            known.lanes[0] += 1
    return 0


cdef void learn_number(Known *known, double number) noexcept nogil:
    if fabs(number) == INFINITY:
        return
    if number < known.low:
        known.low = number
    if number > known.high:
        known.high = number


cdef double lane_chance(const Known *known, int lane) noexcept nogil:
    """Guess how often the values of an attribute are of a lane: as often as its constants are."""
    cdef double all = known.lanes[0] + known.lanes[1] + known.lanes[2] + known.lanes[3]
    return 0.9 * (known.lanes[lane] + 0.05) / (all + 0.2) if all > 0 else 0.9


cdef double access_chance(Layout *it, const Access *access) noexcept nogil:
    """Guess how often a message is reached this way."""
    cdef const Known *known
    cdef double low, high, part
    if access.way == BY_NOTHING:
        return 1
    known = &it.known[access.attribute]
    if access.way == BY_POINT:
        if access.lane == LANE_TRUTH:
            return 0.5 * lane_chance(known, 2)
        return 1 / max(16, known.points[access.lane])
    if access.way == BY_INTERVAL:
        low = max(access.low, known.low)
        high = min(access.high, known.high)
        part = (high - low) / (known.high - known.low) if known.high > known.low else 0.5
        part = 0.02 if not part > 0.02 else part
        return lane_chance(known, 1) * min(part, 0.95)
    if access.way == BY_AFFIX:
        if access.lane == 2:
            return 0.05 if access.length == GRAM else 0.2
        return 0.02 if access.length >= 4 else 0.3 / access.length
    if access.lane == ANY_NULL:
        return 0.1
    if access.lane == ANY_NAN:
        return 0.001
    if access.lane == ANY_VALUE:
        return 0.9
    return lane_chance(
        known, 0 if access.lane == ANY_STRING else 1 if access.lane == ANY_NUMBER else 2 if access.lane == ANY_TRUTH
        else 3
    )


cdef int unit_chances(Layout *it, const Step *steps, uint32_t count) noexcept nogil:
    """Guess how often each leaf of a unit is true."""
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
        if accesses_find(it, &steps[at], &exact) < 0:
            return -1
        chance = 0
        for number in range(it.accesses.count):
            chance += access_chance(it, <const Access *> it.accesses.items + number)
        chances[at] = chance
    return 0


cdef double second_chance(Layout *it, const Step *step, Posting *posting) noexcept nogil:
    """Find the buckets in which an attribute has to be where a leaf is true.

    Returns: how often that is expected; 1 where nothing can be said.
    """
    cdef int test = step.test & TEST_MASK
    cdef const Attribute *row
    cdef const Leaf *leaf
    cdef const uint64_t *words
    cdef uint32_t attribute = step.attribute
    cdef int kinds = step.kinds
    cdef int low = 1
    cdef int high = 255
    cdef uint32_t at
    cdef double least, most, number
    if test == LEAF:
        leaf = <const Leaf *> (it.view.pool + it.view.leaves[step.it.place])
        attribute = needed(leaf) if leaf.kind != SET or leaf.attribute[0] == NONE else leaf.attribute[0]
        kinds = 0
        if attribute >= 65536:
            return 1
        row = &it.rows[attribute]
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
                low = bucket_of(row, least)
                high = bucket_of(row, most)
    else:
        row = &it.rows[attribute]
        if test == KIND:
            if kinds == KIND_NULL:
                low = high = 0
            elif kinds == KIND_FALSE:
                high = 1
            elif kinds == KIND_TRUE:
                low = high = 2
            elif kinds & KIND_NULL:
                return 1
        elif test == TEXT and kinds == 0:
            low = high = text_bucket(it.view.strings[step.it.place].hash)
        elif test == EQUAL and kinds == 0:
            low = high = bucket_of(row, step.it.number)
        elif test == LEAST and kinds & ~KIND_NAN == 0:
            low = bucket_of(row, step.it.number)
            high = 255 if kinds else 254
        elif test == MOST and kinds & ~KIND_NULL == 0:
            low = 0 if kinds else 1
            high = bucket_of(row, step.it.number)
        elif test == BETWEEN and (
            kinds == 0 or kinds == KIND_NAN and step.it.bounds[1] == INFINITY
            or kinds == KIND_NULL and step.it.bounds[0] == -INFINITY
        ):
            low = 0 if kinds == KIND_NULL else bucket_of(row, step.it.bounds[0])
            high = 255 if kinds == KIND_NAN else bucket_of(row, step.it.bounds[1])
        elif kinds & KIND_NULL:
            return 1
    posting.attribute = <uint16_t> attribute
    posting.low = <uint8_t> low
    posting.high = <uint8_t> high
    if low == 1 and high == 255:
        return 0.9
    return 0


# ---- one unit ----------------------------------------------------------------------------------------------------

cdef uint32_t node_add(Layout *it) noexcept nogil:
    """Add a node, of which there is room."""
    memset(<Node *> it.nodes.items + it.nodes.count, 0, sizeof(Node))
    it.nodes.count += 1
    return <uint32_t> it.nodes.count - 1


cdef void node_join(Layout *it, uint32_t group, uint32_t node) noexcept nogil:
    """Let a node be the last of a group."""
    cdef Node *nodes = <Node *> it.nodes.items
    cdef Node *parent = &nodes[group]
    if parent.last:
        nodes[parent.last - 1].next = node + 1
    else:
        parent.child = node + 1
        parent.chance = 1
    parent.last = node + 1
    # Of an OR until it is done the chance that none is true.
    parent.chance *= nodes[node].chance if parent.is_all else 1 - min(1, nodes[node].chance)
    parent.cost += nodes[node].cost


cdef void node_done(Layout *it, uint32_t group) noexcept nogil:
    cdef Node *node = <Node *> it.nodes.items + group
    if not node.is_all:
        node.chance = 1 - node.chance


cdef double step_cost(Layout *it, const Step *step) noexcept nogil:
    """Guess how long a test takes, where 1 is a comparison."""
    cdef const Leaf *leaf
    if step.test & TEST_MASK != LEAF:
        return 1
    leaf = <const Leaf *> (it.view.pool + it.view.leaves[step.it.place])
    if leaf.patterns:
        return 10
    return 4 + 2 * <double> (leaf.actions[0] + leaf.actions[1])


cdef int tree_make(Layout *it, const Step *steps, uint32_t count) noexcept nogil:
    """Make nodes of the steps of a unit. The root is what is given back; -1 without memory."""
    cdef uint32_t *stack
    cdef Node *nodes
    cdef uint64_t open = 0
    cdef uint32_t at, node, depth
    it.nodes.count = 0
    it.stack.count = 0
    if items_room(&it.nodes, 2 * <uint64_t> count, sizeof(Node)) < 0 or items_room(&it.stack, count, 4) < 0:
        return -1
    stack = <uint32_t *> it.stack.items
    nodes = <Node *> it.nodes.items
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


cdef double gate_find(Layout *it, const Step *steps, uint32_t number, uint32_t *best) noexcept nogil:
    """Add the gate of a node. Gives how often it is expected to be reached, below 0 without memory.

    Args:
        best: of an AND the part that was chosen.
    """
    cdef Node *node = <Node *> it.nodes.items + number
    cdef Gate *gates
    cdef double chance, least, total
    cdef uint64_t base = it.gates.count
    cdef uint64_t start, kept
    cdef uint32_t child, chosen, inner
    cdef uint32_t second = NONE
    cdef Posting posting
    if not node.child:
        if items_room(&it.gates, 1, sizeof(Gate)) < 0:
            return -1
        gates = <Gate *> it.gates.items + it.gates.count
        gates.step = node.step
        gates.second = NONE
        gates.chance = 1
        it.gates.count += 1
        best[0] = number
        return node.chance
    total = 0
    least = -1
    kept = 0
    chosen = NONE
    child = node.child
    while child:
        start = it.gates.count
        chance = gate_find(it, steps, child - 1, &inner)
        if chance < 0:
            return -1
        total += chance
        if node.is_all:
            if least < 0 or chance < least:
                least = chance
                chosen = child - 1
                gates = <Gate *> it.gates.items
                kept = it.gates.count - start
                move_down(gates, base, start, kept)
            it.gates.count = base + kept
        child = (<Node *> it.nodes.items)[child - 1].next
    best[0] = chosen
    if not node.is_all:
        return total
    total = 1
    child = node.child
    while child:
        inner = child - 1
        child = (<Node *> it.nodes.items)[inner].next
        if inner == chosen or (<Node *> it.nodes.items)[inner].child:
            continue
        chance = second_chance(it, &steps[(<Node *> it.nodes.items)[inner].step], &posting)
        if chance < 1:
            chance = max(chance, (<Node *> it.nodes.items)[inner].chance)
            if chance < total:
                total = chance
                second = (<Node *> it.nodes.items)[inner].step
    gates = <Gate *> it.gates.items
    for start in range(base, it.gates.count):
        if total < gates[start].chance:
            gates[start].chance = total
            gates[start].second = second
    return least


cdef void move_down(Gate *gates, uint64_t to, uint64_t start, uint64_t count) noexcept nogil:
    cdef uint64_t at
    for at in range(count):
        gates[to + at] = gates[start + at]


cdef int by_weight(const void *left, const void *right) noexcept nogil:
    cdef const Order *a = <const Order *> left
    cdef const Order *b = <const Order *> right
    if a.weight != b.weight:
        return -1 if a.weight < b.weight else 1
    return (a.node > b.node) - (a.node < b.node)


cdef uint32_t strings_mask(Layout *it, const Step *step) noexcept nogil:
    """Give a bit for each rest by 32 of the numbers of a leaf's strings, without which no string is in it; or 0."""
    cdef const Leaf *leaf = <const Leaf *> (it.view.pool + it.view.leaves[step.it.place])
    cdef uint32_t mask = 0
    cdef uint32_t at
    if leaf.kind != SET or leaf.attribute[0] != step.attribute or leaf.patterns or (
        leaf.flags & (LEAF_NOT_STRINGS | LEAF_NOT_BYTES)
    ):
        return 0
    for at in range(leaf.strings):
        mask |= <uint32_t> 1 << (leaf_strings(leaf)[at] & 31)
    for at in range(leaf.bytes):
        mask |= <uint32_t> 1 << (leaf_bytes(leaf)[at] & 31)
    return mask


cdef int arrange(Layout *it, const Step *steps, uint32_t number, uint32_t first, uint32_t depth) noexcept nogil:
    """Write the steps of a node: what decides most at the least cost comes first.

    Args:
        first: the part that comes before all others; or NONE.
    """
    cdef Node *nodes = <Node *> it.nodes.items
    cdef Node *node = &nodes[number]
    cdef Step *last
    cdef uint64_t base = it.order.count
    cdef uint64_t at
    cdef uint32_t child = node.child
    cdef Order *order
    if not child:
        if items_room(&it.code, 1, sizeof(Step)) < 0:
            return -1
        last = <Step *> it.code.items + it.code.count
        last[0] = steps[node.step]
        if last.test & TEST_MASK == LEAF:
            last.it.pair[1] = strings_mask(it, last)
        it.code.count += 1
        return 0
    while child:
        if items_room(&it.order, 1, sizeof(Order)) < 0:
            return -1
        order = <Order *> it.order.items + it.order.count
        order.node = child - 1
        order.weight = nodes[child - 1].cost * (
            nodes[child - 1].chance if node.is_all else 1 - nodes[child - 1].chance
        ) if child - 1 != first else -1
        it.order.count += 1
        child = nodes[child - 1].next
    qsort(<Order *> it.order.items + base, it.order.count - base, sizeof(Order), by_weight)
    for at in range(base, it.order.count):
        if at > base:
            last = <Step *> it.code.items + it.code.count - 1
            last.link = depth << JUMP_BITS
            last.test = last.test & TEST_MASK | ((<int> node.is_all) << TEST_BITS)
        if arrange(it, steps, (<Order *> it.order.items)[at].node, NONE, depth + 1) < 0:
            return -1
    it.order.count = base
    return 0


# ---- lists -------------------------------------------------------------------------------------------------------

cdef uint32_t target_add(Layout *it, const Access *access) noexcept nogil:
    """Begin a list. Gives its number + 1; 0 without memory."""
    cdef Target *target
    if items_room(&it.targets, 1, sizeof(Target)) < 0:
        return 0
    target = <Target *> it.targets.items + it.targets.count
    target.way = access.way
    target.attribute = access.attribute
    target.lane = access.lane
    target.value = access.value
    target.count = 0
    it.targets.count += 1
    return <uint32_t> it.targets.count


cdef uint32_t target_affix(Layout *it, const Access *access) noexcept nogil:
    """Give the list of an affix + 1; 0 without memory."""
    cdef Said *affixes = <Said *> it.affixes.items
    cdef uint64_t slot, number
    if 2 * (it.affixes.count + 1) > it.affix_table.size:
        free(it.affix_table.numbers)
        it.affix_table.size = max(64, 4 * it.affix_table.size)
        it.affix_table.numbers = <uint32_t *> calloc(it.affix_table.size, 4)
        if it.affix_table.numbers == NULL:
            return 0
        for number in range(it.affixes.count):
            slot = affixes[number].value >> 2 & (it.affix_table.size - 1)
            while it.affix_table.numbers[slot]:
                slot = (slot + 1) & (it.affix_table.size - 1)
            it.affix_table.numbers[slot] = <uint32_t> number + 1
    slot = access.value >> 2 & (it.affix_table.size - 1)
    while it.affix_table.numbers[slot]:
        number = it.affix_table.numbers[slot] - 1
        if affixes[number].value == access.value:
            return affixes[number].list
        slot = (slot + 1) & (it.affix_table.size - 1)
    if items_room(&it.affixes, 1, sizeof(Said)) < 0:
        return 0
    affixes = <Said *> it.affixes.items + it.affixes.count
    affixes.value = access.value
    affixes.list = target_add(it, access)
    it.affix_table.numbers[slot] = <uint32_t> it.affixes.count + 1
    it.affixes.count += 1
    return affixes.list


cdef uint32_t list_of(Layout *it, const Access *access) noexcept nogil:
    """Give the list of a way + 1; 0 without memory."""
    cdef Attribute *row
    cdef Said *said
    cdef uint32_t *list = &it.always
    if access.way == BY_NOTHING:
        pass
    elif access.way == BY_AFFIX:
        row = &it.rows[access.attribute]
        row.flags |= HAS_AFFIXES
        if access.lane == 0:
            row.prefixes |= <uint32_t> 1 << access.length
        elif access.lane == 1:
            row.suffixes |= <uint32_t> 1 << access.length
        else:
            row.grams |= <uint32_t> 1 << access.length
        return target_affix(it, access)
    elif access.way == BY_PRESENCE:
        if access.lane != ANY_NULL:
            it.rows[access.attribute].flags |= HAS_LISTS
        list = &it.presence[access.attribute * PRESENCES + access.lane]
    else:
        it.rows[access.attribute].flags |= (
            HAS_TEXT_POINTS if access.lane == LANE_TEXT else HAS_NUMBER_POINTS if access.lane == LANE_NUMBER
            else HAS_TRUTH_POINTS
        )
        said = said_find(it, access.attribute * 4 + access.lane + 1, access.value)
        list = &said.list
    if list[0] == 0:
        list[0] = target_add(it, access)
    return list[0]


cdef int gate_enter(Layout *it, uint32_t unit, const Step *steps, const Gate *gate, bint *exact) noexcept nogil:
    """Write the postings of one leaf of a gate."""
    cdef Posting posting
    cdef Entry *entry
    cdef Stretch *stretch
    cdef Access *access
    cdef uint64_t at
    cdef uint32_t list
    posting.unit = unit
    posting.attribute = 0
    posting.low = 0
    posting.high = 255
    if gate.second != NONE:
        second_chance(it, &steps[gate.second], &posting)
    if accesses_find(it, &steps[gate.step], exact) < 0:
        return -1
    for at in range(it.accesses.count):
        access = <Access *> it.accesses.items + at
        if access.way == BY_INTERVAL:
            if items_room(&it.stretches, 1, sizeof(Stretch)) < 0:
                return -1
            stretch = <Stretch *> it.stretches.items + it.stretches.count
            stretch.low = access.low
            stretch.high = access.high
            stretch.attribute = access.attribute
            stretch.posting = posting
            it.rows[access.attribute].flags |= HAS_INTERVALS
            it.stretches.count += 1
            continue
        list = list_of(it, access)
        if list == 0 or items_room(&it.entries, 1, sizeof(Entry)) < 0:
            return -1
        entry = <Entry *> it.entries.items + it.entries.count
        entry.list = list - 1
        entry.posting = posting
        it.entries.count += 1
        (<Target *> it.targets.items)[list - 1].count += 1
    return 0


cdef void use_step(Layout *it, const Step *step) noexcept nogil:
    """Note what a step needs of a message."""
    cdef int test = step.test & TEST_MASK
    cdef const Leaf *leaf
    cdef const Action *actions
    cdef const Step *steps
    cdef uint32_t at
    if test != LEAF:
        if step.kinds != 127 and it.attributes:
            it.rows[step.attribute].flags |= USED | (HAS_TEXTS if test == TEXT or test == OTHER_TEXT else 0)
        return
    if it.used[step.it.place]:
        return
    it.used[step.it.place] = 1
    leaf = <const Leaf *> (it.view.pool + it.view.leaves[step.it.place])
    if leaf.kind == CODE:
        steps = <const Step *> (<const uint64_t *> leaf + LEAF_WORDS)
        for at in range(leaf.actions[0]):
            use_step(it, &steps[at])
        return
    for at in range(2):
        if leaf.attribute[at] != NONE:
            it.rows[leaf.attribute[at]].flags |= USED | (HAS_TEXTS if leaf.strings + leaf.bytes else 0)
    actions = <const Action *> (<const uint64_t *> leaf + LEAF_WORDS)
    for at in range(leaf.actions[0] + leaf.actions[1]):
        if actions[at].what == PUSH_ATTRIBUTE:
            it.rows[actions[at].attribute].flags |= USED


cdef int unit_enter(Layout *it, uint32_t unit) noexcept nogil:
    """Arrange the steps of a unit, and write its postings."""
    cdef const DraftUnit *given = <const DraftUnit *> it.draft.units.items + unit
    cdef const Step *steps = <const Step *> it.draft.code.items + given.code
    cdef uint64_t start = it.code.count
    cdef uint64_t at
    cdef uint32_t best = NONE
    cdef uint32_t proved, child
    cdef int root
    cdef Node *nodes
    cdef bint exact = True
    cdef bint all_exact = True
    if unit_chances(it, steps, given.steps) < 0:
        return -1
    root = tree_make(it, steps, given.steps)
    if root < 0:
        return -1
    it.gates.count = 0
    if gate_find(it, steps, root, &best) < 0:
        return -1
    for at in range(it.gates.count):
        if gate_enter(it, unit, steps, <const Gate *> it.gates.items + at, &exact) < 0:
            return -1
        all_exact = all_exact and exact
    nodes = <Node *> it.nodes.items
    proved = 0
    if all_exact and nodes[root].child == 0:
        proved = ALL_PROVED
    elif all_exact and nodes[root].is_all:
        # Of a group of leaves that was chosen each is a gate.
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
    it.proved[unit] = proved
    it.starts[unit] = <uint32_t> start
    it.order.count = 0
    if arrange(it, steps, root, best if nodes[root].is_all else NONE, 0) < 0:
        return -1
    for at in range(given.steps):
        use_step(it, &steps[at])
    return steps_link(it.draft, <Step *> it.code.items + start, given.steps)


cdef int by_ends(const void *left, const void *right) noexcept nogil:
    """Sort intervals by their lower ends, and the wider before the narrower."""
    cdef const Stretch *a = <const Stretch *> left
    cdef const Stretch *b = <const Stretch *> right
    if a.low != b.low:
        return -1 if a.low < b.low else 1
    if a.high != b.high:
        return -1 if a.high > b.high else 1
    return (a.posting.unit > b.posting.unit) - (a.posting.unit < b.posting.unit)


cdef int stretches_sort(Layout *it) noexcept nogil:
    """Sort intervals: first by attribute, of which there are few. Returns 0, or -1 without memory."""
    cdef Stretch *given = <Stretch *> it.stretches.items
    cdef uint64_t count = it.stretches.count
    cdef Stretch *sorted = <Stretch *> malloc((count + 1) * sizeof(Stretch))
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
            qsort(sorted + start, ends[attribute] - start, sizeof(Stretch), by_ends)
        start = ends[attribute]
    free(given)
    free(ends)
    it.stretches.items = sorted
    it.stretches.room = count + 1
    return 0


# ---- all of them -------------------------------------------------------------------------------------------------

cdef void layout_free(Layout *it) noexcept nogil:
    free(it.known)
    free(it.rows)
    free(it.said)
    free(it.accesses.items)
    free(it.nodes.items)
    free(it.stack.items)
    free(it.gates.items)
    free(it.entries.items)
    free(it.stretches.items)
    free(it.targets.items)
    free(it.presence)
    free(it.affixes.items)
    free(it.affix_table.numbers)
    free(it.code.items)
    free(it.order.items)
    free(it.chances.items)
    free(it.proved)
    free(it.used)
    free(it.starts)
    free(it.numbers)


cdef int layout_units(Layout *it) noexcept nogil:
    """Decide how all units are reached. Returns 0, or -1 without memory."""
    cdef const DraftUnit *units = <const DraftUnit *> it.draft.units.items
    cdef const Step *code = <const Step *> it.draft.code.items
    cdef uint64_t count = it.draft.units.count
    cdef uint64_t unit
    cdef uint32_t at
    cdef Known *known
    it.known = <Known *> calloc(<size_t> it.attributes + 1, sizeof(Known))
    it.rows = <Attribute *> calloc(<size_t> it.attributes + 1, sizeof(Attribute))
    it.presence = <uint32_t *> calloc((<size_t> it.attributes + 1) * PRESENCES, 4)
    it.proved = <uint32_t *> calloc(count + 1, 4)
    it.used = <uint8_t *> calloc(it.draft.leaves.count + 1, 1)
    it.starts = <uint32_t *> calloc(count + 1, 4)
    it.numbers = <uint32_t *> calloc(count + 1, 4)
    if (
        it.known == NULL or it.rows == NULL or it.presence == NULL or it.proved == NULL or it.used == NULL
        or it.starts == NULL or it.numbers == NULL or said_grow(it) < 0
    ):
        return -1
    for at in range(it.attributes):
        it.known[at].low = INFINITY
        it.known[at].high = -INFINITY
    for unit in range(count):
        if units[unit].link:
            for at in range(units[unit].steps):
                if learn(it, &code[units[unit].code + at]) < 0:
                    return -1
    for at in range(it.attributes):
        known = &it.known[at]
        if known.low <= known.high:
            it.rows[at].base = known.low
            it.rows[at].scale = 253 / (known.high - known.low) if known.high > known.low else 1
            if not it.rows[at].scale < INFINITY:
                it.rows[at].scale = 1
    for unit in range(count):
        if units[unit].link and unit_enter(it, <uint32_t> unit) < 0:
            return -1
    return 0


cdef void unit_number(Layout *it, uint32_t *unit) noexcept nogil:
    """Number a unit when it is first met, and let a posting name it so."""
    if it.numbers[unit[0]] == 0:
        it.numbered += 1
        it.numbers[unit[0]] = it.numbered
    unit[0] = it.numbers[unit[0]] - 1


cdef Posting *layout_postings(Layout *it, uint32_t *total) noexcept nogil:
    """Bring the postings together, list by list, and number the units. NULL without memory."""
    cdef uint64_t count = it.entries.count + it.stretches.count
    cdef Posting *postings = <Posting *> malloc((count + 1) * sizeof(Posting))
    cdef Entry *entries = <Entry *> it.entries.items
    cdef Stretch *stretches = <Stretch *> it.stretches.items
    cdef Target *targets = <Target *> it.targets.items
    cdef uint64_t at
    cdef uint32_t start = 0
    if postings == NULL or count >= NONE:
        free(postings)
        return NULL
    for at in range(it.targets.count):
        targets[at].start = start
        start += targets[at].count
        targets[at].count = 0
    for at in range(it.entries.count):
        postings[targets[entries[at].list].start + targets[entries[at].list].count] = entries[at].posting
        targets[entries[at].list].count += 1
    if stretches_sort(it) < 0:
        free(postings)
        return NULL
    stretches = <Stretch *> it.stretches.items
    for at in range(it.stretches.count):
        postings[it.entries.count + at] = stretches[at].posting
    for at in range(count):
        unit_number(it, &postings[at].unit)
    total[0] = <uint32_t> count
    return postings


cdef uint64_t rounded(uint64_t size) noexcept nogil:
    return (size + 63) & ~<uint64_t> 63


cdef uint64_t power_above(uint64_t count) noexcept nogil:
    """Give the size of a table for so many: a power of two, three quarters full at most."""
    cdef uint64_t size = 8
    while 3 * size < 4 * count:
        size *= 2
    return size


cdef uint64_t maxima_count(uint64_t count) noexcept nogil:
    cdef uint64_t blocks = (count + BLOCK - 1) // BLOCK
    return blocks + (blocks + BLOCK - 1) // BLOCK


cdef void header_make(Layout *it, Header *header, uint64_t copies, uint32_t postings) noexcept nogil:
    """Say where everything will lie."""
    cdef Draft *draft = it.draft
    cdef Target *targets = <Target *> it.targets.items
    cdef Stretch *stretches = <Stretch *> it.stretches.items
    cdef uint64_t at, points, run
    cdef uint64_t start = rounded(sizeof(Header))
    cdef int section
    memset(header, 0, sizeof(Header))
    memcpy(header.magic, b"mqselset", 8)
    header.version = VERSION
    header.order = 0x01020304
    header.selectors = draft.selectors
    header.place_limit = draft.place_limit
    points = 0
    for at in range(it.targets.count):
        points += targets[at].way == BY_POINT
    header.counts[ATTRIBUTES] = it.attributes
    header.counts[STRINGS] = draft.strings.count
    header.counts[STRING_TABLE] = power_above(draft.strings.count)
    header.counts[TEXTS] = draft.texts.count + 8
    header.counts[POOL] = draft.pool.count
    header.counts[LEAVES] = draft.leaves.count
    header.counts[STEPS] = it.code.count
    header.counts[UNITS] = it.numbered
    header.counts[COPIES] = copies
    header.counts[POSTINGS] = postings
    header.counts[POINTS] = power_above(points)
    header.counts[AFFIXES] = power_above(it.affixes.count)
    header.counts[LOWS] = it.stretches.count
    header.counts[HIGHS] = it.stretches.count
    run = 0
    for at in range(it.stretches.count):
        run += 1
        if at + 1 == it.stretches.count or stretches[at + 1].attribute != stretches[at].attribute:
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
        header.always.start = targets[it.always - 1].start
        header.always.count = targets[it.always - 1].count
    header.check = header_check(header)


cdef void write_intervals(Layout *it, uint8_t *data, const Header *header) noexcept nogil:
    """Write the intervals, and the maxima of their upper ends."""
    cdef Stretch *stretches = <Stretch *> it.stretches.items
    cdef double *lows = <double *> (data + header.starts[LOWS])
    cdef double *highs = <double *> (data + header.starts[HIGHS])
    cdef double *maxima = <double *> (data + header.starts[MAXIMA])
    cdef double *upper
    cdef uint64_t first = 0
    cdef uint64_t at, count, blocks, maximum
    cdef Attribute *row
    maximum = 0
    while first < it.stretches.count:
        count = 0
        while first + count < it.stretches.count and (
            stretches[first + count].attribute == stretches[first].attribute
        ):
            count += 1
        row = &it.rows[stretches[first].attribute]
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
            lows[first + at] = stretches[first + at].low
            highs[first + at] = stretches[first + at].high
            maxima[maximum + at // BLOCK] = max(maxima[maximum + at // BLOCK], stretches[first + at].high)
        for at in range(blocks):
            upper[at // BLOCK] = max(upper[at // BLOCK], maxima[maximum + at])
        maximum += maxima_count(count)
        first += count


cdef void write_lists(Layout *it, uint8_t *data, const Header *header) noexcept nogil:
    """Write where the list of each value, affix and presence is, and then the attributes."""
    cdef Target *targets = <Target *> it.targets.items
    cdef Target *target
    cdef Point *points = <Point *> (data + header.starts[POINTS])
    cdef Affix *affixes = <Affix *> (data + header.starts[AFFIXES])
    cdef uint32_t *nulls = <uint32_t *> (data + header.starts[NULLS])
    cdef uint64_t at, slot
    cdef uint32_t key
    cdef List list
    for at in range(it.targets.count):
        target = &targets[at]
        list.start = target.start
        list.count = target.count
        if target.way == BY_POINT:
            key = target.attribute * 4 + target.lane + 1
            slot = point_hash(key, target.value) & (header.counts[POINTS] - 1)
            while points[slot].key:
                slot = (slot + 1) & (header.counts[POINTS] - 1)
            points[slot].key = key
            points[slot].value = target.value
            points[slot].list = list
        elif target.way == BY_AFFIX:
            slot = target.value >> 2 & (header.counts[AFFIXES] - 1)
            while affixes[slot].key:
                slot = (slot + 1) & (header.counts[AFFIXES] - 1)
            affixes[slot].key = target.value
            affixes[slot].list = list
        elif target.way == BY_PRESENCE:
            it.rows[target.attribute].lists[target.lane] = list
    slot = 0
    for at in range(it.attributes):
        if it.presence[at * PRESENCES + ANY_NULL]:
            nulls[slot] = <uint32_t> at
            slot += 1
        if it.rows[at].flags & HAS_TEXT_POINTS:
            it.rows[at].flags |= HAS_TEXTS
    if it.attributes:
        memcpy(data + header.starts[ATTRIBUTES], it.rows, it.attributes * sizeof(Attribute))


cdef void write_units(Layout *it, uint8_t *data, const Header *header) noexcept nogil:
    """Write the units in their order, with their steps and places."""
    cdef const DraftUnit *given = <const DraftUnit *> it.draft.units.items
    cdef const Link *links = <const Link *> it.draft.links.items
    cdef Unit *units = <Unit *> (data + header.starts[UNITS])
    cdef Step *code = <Step *> (data + header.starts[STEPS])
    cdef uint32_t *copies = <uint32_t *> (data + header.starts[COPIES])
    cdef uint8_t *places = data + header.starts[PLACES]
    cdef uint64_t at, unit
    cdef uint64_t copied = 0
    cdef uint64_t steps = 0
    cdef uint32_t link, count
    # Units by their new numbers, in the room where those are written.
    for at in range(it.draft.units.count):
        if it.numbers[at]:
            units[it.numbers[at] - 1].code = <uint32_t> at
    for unit in range(it.numbered):
        at = units[unit].code
        memcpy(code + steps, <Step *> it.code.items + it.starts[at], given[at].steps * sizeof(Step))
        units[unit].code = <uint32_t> steps
        steps += given[at].steps
        units[unit].info = it.proved[at] << 1
        link = given[at].link
        units[unit].place = links[link - 1].place
        if links[link - 1].next:
            units[unit].info |= MANY_PLACES
            units[unit].place = <uint32_t> copied
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


cdef void write_strings(Layout *it, uint8_t *data, const Header *header) noexcept nogil:
    cdef uint32_t *table = <uint32_t *> (data + header.starts[STRING_TABLE])
    cdef const String *strings = <const String *> it.draft.strings.items
    cdef uint64_t at, slot
    cdef Draft *draft = it.draft
    for at in range(draft.strings.count):
        slot = strings[at].hash & (header.counts[STRING_TABLE] - 1)
        while table[slot]:
            slot = (slot + 1) & (header.counts[STRING_TABLE] - 1)
        table[slot] = <uint32_t> at + 1
    if draft.strings.count:
        memcpy(data + header.starts[STRINGS], strings, draft.strings.count * sizeof(String))
    if draft.texts.count:
        memcpy(data + header.starts[TEXTS], draft.texts.items, draft.texts.count)
    if draft.leaves.count:
        memcpy(data + header.starts[POOL], draft.pool.items, draft.pool.count * 8)
        memcpy(data + header.starts[LEAVES], draft.leaves.items, draft.leaves.count * 4)


cdef int write_operands(Layout *it, uint8_t *data, const Header *header) noexcept nogil:
    """Give each arithmetic that leaves have a number, below OPERANDS. Returns 0, or -1 without memory."""
    cdef uint64_t *pool = <uint64_t *> (data + header.starts[POOL])
    cdef const uint32_t *leaves = <const uint32_t *> (data + header.starts[LEAVES])
    cdef uint32_t *table = <uint32_t *> calloc(2 * OPERANDS, 4)     # a leaf of each number + 1
    cdef Leaf *leaf
    cdef Leaf *other
    cdef uint32_t at, slot
    cdef uint32_t count = 0
    cdef uint64_t size
    if table == NULL:
        return -1
    for at in range(it.draft.leaves.count):
        leaf = <Leaf *> (pool + leaves[at])
        if leaf.kind != SET or leaf.attribute[0] != NONE:
            continue
        size = <uint64_t> leaf.actions[0] * sizeof(Action)
        slot = text_hash(<const uint8_t *> leaf + 8 * LEAF_WORDS, size, 0) & (2 * OPERANDS - 1)
        while table[slot]:
            other = <Leaf *> (pool + leaves[table[slot] - 1])
            if other.actions[0] == leaf.actions[0] and memcmp(
                <uint8_t *> other + 8 * LEAF_WORDS, <uint8_t *> leaf + 8 * LEAF_WORDS, size
            ) == 0:
                leaf.attribute[1] = other.attribute[1]
                break
            slot = (slot + 1) & (2 * OPERANDS - 1)
        else:
            if count < OPERANDS:
                table[slot] = at + 1
                leaf.attribute[1] = count
                count += 1
    free(table)
    return 0


cdef uint64_t copies_count(const Draft *draft) noexcept nogil:
    cdef const DraftUnit *units = <const DraftUnit *> draft.units.items
    cdef const Link *links = <const Link *> draft.links.items
    cdef uint64_t count = 0
    cdef uint64_t unit
    cdef uint32_t link
    for unit in range(draft.units.count):
        link = units[unit].link
        if link and links[link - 1].next:
            count += 1
            while link:
                count += 1
                link = links[link - 1].next
    return count


cdef bytes draft_layout(Draft *draft, uint32_t attributes):
    """Make a segment of a draft.

    Args:
        attributes: how many there are.

    Returns: its bytes.
    """
    cdef Layout it
    cdef Header header
    cdef Posting *postings = NULL
    cdef uint32_t count = 0
    cdef uint8_t *data
    cdef bytes made = None
    cdef int done
    memset(&it, 0, sizeof(Layout))
    it.draft = draft
    it.attributes = attributes
    draft_view(draft, &it.view, attributes)
    try:
        with nogil:
            done = layout_units(&it)
            if done == 0:
                postings = layout_postings(&it, &count)
                if postings != NULL:
                    header_make(&it, &header, copies_count(draft), count)
        if postings == NULL:
            raise MemoryError
        made = PyBytes_FromStringAndSize(NULL, header.size)
        data = <uint8_t *> PyBytes_AS_STRING(made)
        with nogil:
            memset(data, 0, header.size)
            memcpy(data, &header, sizeof(Header))
            write_strings(&it, data, &header)
            write_units(&it, data, &header)
            memcpy(data + header.starts[POSTINGS], postings, count * sizeof(Posting))
            write_intervals(&it, data, &header)
            write_lists(&it, data, &header)
            done = write_operands(&it, data, &header)
        if done < 0:
            raise MemoryError
    finally:
        free(postings)
        layout_free(&it)
    return made
