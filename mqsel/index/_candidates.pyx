# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Searching a segment: the posting lists of the terms of a record have the candidates, and these are run.

Writes nothing but its own `Search`. Numbers that may be damaged in a mapped segment are checked where they are used:
those of clauses, steps, leaves and places; jumps go forward, so that each clause ends. Knows no Python but the record's
strings.
"""

from libc.math cimport NAN
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy, memmove, memset

from mqsel.index._memtable cimport Draft, DraftClause, Link, items_room, operand_run
from mqsel.index._segment cimport *
from mqsel.machine._image cimport Like
from mqsel.machine._image cimport Segment as Part
from mqsel.machine._operators cimport long_like, number_relation
from mqsel.machine._values cimport (
    BOOLEAN, BYTES, FLOAT32, FLOAT64, INT64, NULL_VALUE, POISON, STRING, Record, Value,
    PyBytes_AS_STRING, PyBytes_GET_SIZE, PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND, bytes_equal, is_number,
    string_equal, value_copy,
)

cdef enum:
    BUCKETS = 65536
    AHEAD = 16                  # candidates of which memory is asked for before they are looked at
    WIDE = 8                    # values that are looked at together
    LISTED = 8                  # numbers of strings that are all looked at
    LARGEST_EPOCH = 0x7FFFFFFE
    TOUCHED = 8                 # 2 ** this places are one run
    NUMBER_CODE = 0             # of SHORT_RANGE and SHORT_TEXT, the lowest bit
    TEXT_CODE = 1
    OUTCOME_SAME = 16
    OUTCOME_DIFFERENT = 32
    OUTCOME_MISMATCH = 64
    OUTCOME_NULL = 128
    OUTCOME_ERROR = 256


cdef Search *search_new() except NULL:
    cdef Search *search = <Search *> calloc(1, sizeof(Search))
    if search != NULL:
        search.buckets = <uint8_t *> calloc(BUCKETS, 1)
        if search.buckets != NULL:
            return search
        free(search)
    raise MemoryError


cdef void memos_free(Search *search) noexcept:
    cdef uint64_t number
    for number in range(search.memos.count):
        free((<Memo *> search.memos.items)[number].answers)
    search.memos.count = 0


cdef void search_free(Search *search) noexcept:
    memos_free(search)
    free(search.memos.items)
    free(search.slots)
    free(search.buckets)
    free(search.present.items)
    free(search.candidates.items)
    free(search.places.items)
    free(search.bits)
    free(search.touched)
    free(search.stack.items)
    free(search.segments.items)
    free(search.seen.items)
    free(search.met.items)
    free(search.open.items)
    free(search.chunks.items)
    free(search)


cdef int memo_take(Search *search, uint64_t number, uint64_t leaves) except -1:
    """Let the memo of a segment be at hand, with room for its leaves."""
    cdef Memo *memo
    cdef uint32_t *answers
    if search.memos.count <= number:
        if items_room(&search.memos, number + 1 - search.memos.count, sizeof(Memo)) < 0:
            raise MemoryError
        memset(
            <Memo *> search.memos.items + search.memos.count, 0, (number + 1 - search.memos.count) * sizeof(Memo)
        )
        search.memos.count = number + 1
    memo = <Memo *> search.memos.items + number
    if memo.answers == NULL:
        memo.answers = <uint32_t *> calloc(leaves + 1, 4)
        if memo.answers == NULL:
            raise MemoryError
        memo.room = leaves + 1
    elif memo.room < leaves:
        answers = <uint32_t *> realloc(memo.answers, 8 * leaves)
        if answers == NULL:
            raise MemoryError
        memset(answers + memo.room, 0, (2 * leaves - memo.room) * 4)
        memo.answers = answers
        memo.room = 2 * leaves
    search.memo = memo.answers
    return 0


# ---- the record --------------------------------------------------------------------------------------------------

cdef int search_begin(
    Search *search, Record record, uint32_t attributes, uint32_t places, const uint32_t *given, uint32_t given_count
) except -1:
    """Read a record.

    Args:
        record: what is POISON in it is an open test. To a search that asks for such it may be anything; to any other
            it is nothing, so that no test of it is true.
        attributes: of the index; those that the record lacks are NULL.
        places: beyond the greatest of the index.
        given: all attributes that may not be NULL, or NULL where nobody knows.
    """
    cdef AttributeValue *slots
    cdef uint64_t number
    cdef uint32_t *present
    cdef uint32_t *texts
    cdef uint32_t count = 0
    cdef uint32_t text_count = 0
    cdef uint32_t at
    cdef int tags
    cdef uint32_t value_count = <uint32_t> min(record.count, attributes)
    cdef const Value *values = record.values
    search.is_damaged = False
    search.is_short = False
    search.places.count = 0
    places_room(search, places)
    search.present.count = 0
    search.epoch += 1
    if search.epoch > LARGEST_EPOCH:
        memos_free(search)
        search.epoch = 1
    if search.slot_room < <uint64_t> attributes + 1:
        number = search.slot_room
        slots = <AttributeValue *> realloc(search.slots, (<uint64_t> attributes + 64) * sizeof(AttributeValue))
        if slots == NULL:
            raise MemoryError
        search.slots = slots
        search.slot_room = <uint64_t> attributes + 64
        for number in range(number, search.slot_room):
            slot_clear(&slots[number])
    slots = search.slots
    search.values = values
    search.value_count = value_count
    if given == NULL:
        given_count = value_count
    if items_room(&search.present, 2 * <uint64_t> given_count + 2, 4) < 0:
        raise MemoryError
    # Strings come last, lest each loop over what is present has a branch that cannot be foretold.
    present = <uint32_t *> search.present.items
    texts = present + given_count + 1
    if given != NULL:
        for number in range(given_count):
            at = given[number]
            if at < value_count:
                present_add(values, at, present, &count, texts, &text_count)
    else:
        number = 0
        # Of many properties most are NULL, of few most are not: either way the branch can be foretold.
        while number + WIDE <= given_count:
            tags = 0
            for at in range(WIDE):
                tags |= values[number + at].tag
            if tags != NULL_VALUE:
                for at in range(WIDE):
                    present_add(values, <uint32_t> number + at, present, &count, texts, &text_count)
            number += WIDE
        for number in range(number, given_count):
            present_add(values, <uint32_t> number, present, &count, texts, &text_count)
    memmove(present + count, texts, 4 * <size_t> text_count)
    count += text_count
    for number in range(count):
        slot_fill(search, &slots[present[number]], &values[present[number]])
    search.present.count = count
    return 0


cdef inline void present_add(
    const Value *values, uint32_t at, uint32_t *present, uint32_t *count, uint32_t *texts, uint32_t *text_count
) noexcept:
    """Note a property that is not NULL, without a branch on what it is."""
    present[count[0]] = texts[text_count[0]] = at
    count[0] += (values[at].tag != NULL_VALUE) & (values[at].tag != STRING)
    text_count[0] += values[at].tag == STRING


cdef inline void slot_fill(Search *search, AttributeValue *slot, const Value *value) noexcept:
    slot.is_value = value.tag != POISON or search.asked
    if value.tag == STRING:
        mqsel_ahead(value.it.o)
        slot.kind = KIND_STRING
        slot.is_hashed = False
    elif value.tag <= INT64:
        if value.tag == BOOLEAN:
            slot.kind = KIND_TRUE if value.it.i else KIND_FALSE
        else:
            slot.kind = KIND_NUMBER
            slot.number = <double> value.it.i
            slot.codes[NUMBER_CODE] = integer_code(value.it.i)
    elif value.tag <= FLOAT64:
        slot.number = value.it.d
        slot.kind = KIND_NUMBER if slot.number == slot.number else KIND_NAN
        slot.codes[NUMBER_CODE] = number_code(slot.number)
    elif value.tag == POISON:
        slot.kind = KIND_OPEN | KIND_NULL | KIND_FALSE | KIND_TRUE | KIND_NUMBER if search.asked else 0
    else:
        slot.kind = KIND_BYTES
        slot.is_hashed = False


cdef inline void slot_clear(AttributeValue *slot) noexcept:
    slot.number = NAN
    slot.codes[TEXT_CODE] = NONE
    slot.kind = KIND_NULL
    slot.is_value = False
    slot.codes[NUMBER_CODE] = NO_CODE
    slot.hash = 0
    slot.is_hashed = False


cdef void search_end(Search *search) noexcept:
    """Forget the record."""
    cdef uint64_t at
    cdef uint32_t attribute
    for at in range(search.present.count):
        attribute = (<uint32_t *> search.present.items)[at]
        slot_clear(&search.slots[attribute])
        if attribute < BUCKETS:
            search.buckets[attribute] = 0
    search.present.count = 0
    search.values = NULL
    search.value_count = 0


cdef inline void text_of(const Value *value, const uint8_t **data, uint64_t *size, int *kind) noexcept:
    """Return the bytes of a string or byte string."""
    if value.tag == STRING:
        kind[0] = PyUnicode_KIND(value.it.o)
        data[0] = <const uint8_t *> PyUnicode_DATA(value.it.o)
        size[0] = PyUnicode_GET_LENGTH(value.it.o) * kind[0]
    else:
        kind[0] = 0
        data[0] = <const uint8_t *> PyBytes_AS_STRING(<object> value.it.o)
        size[0] = PyBytes_GET_SIZE(<object> value.it.o)


cdef inline void slot_text(Search *search, const SegmentArrays *segment, uint32_t attribute) noexcept:
    """Find the number that the string of an attribute has in a segment."""
    cdef AttributeValue *slot = &search.slots[attribute]
    cdef const uint8_t *data = NULL
    cdef uint64_t size = 0
    cdef int kind = 0
    text_of(&search.values[attribute], &data, &size, &kind)
    if not slot.is_hashed:
        slot.hash = text_hash(data, size, kind)
        slot.is_hashed = True
    slot.codes[TEXT_CODE] = string_find(segment, data, size, kind, slot.hash)


# ---- leaves ------------------------------------------------------------------------------------------------------

ctypedef fused IntervalEnd:
    int64_t
    double


cdef bint intervals_have(const IntervalEnd *ends, uint32_t count, IntervalEnd number) noexcept:
    cdef uint32_t low = 0
    cdef uint32_t middle
    while low < count:
        middle = low + (count - low) // 2
        if number < ends[2 * middle]:
            count = middle
        elif number > ends[2 * middle + 1]:
            low = middle + 1
        else:
            return True
    return False


cdef bint numbers_have(const uint32_t *numbers, uint32_t count, uint32_t number) noexcept:
    cdef uint32_t low = 0
    cdef uint32_t middle
    cdef bint found = False
    while count - low > LISTED:
        middle = low + (count - low) // 2
        if number < numbers[middle]:
            count = middle
        else:
            low = middle
    # Of a few each is looked at: which of them it is, a processor cannot foretell.
    for middle in range(low, count):
        found = found | (numbers[middle] == number)
    return found


cdef bint patterns_match(Search *search, const PooledLeaf *leaf, Value *value) noexcept:
    cdef const uint32_t *numbers = leaf_patterns(leaf)
    cdef uint32_t at = 0
    cdef uint32_t number
    cdef Like like
    cdef Part *parts
    memset(&like, 0, sizeof(Like))
    while at < leaf.patterns:
        like.count = numbers[at]
        at += 1
        search.segments.count = 0
        if items_room(&search.segments, like.count, sizeof(Part)) < 0:
            search.is_short = True
            return False
        parts = <Part *> search.segments.items
        for number in range(<uint32_t> like.count):
            parts[number].length = numbers[at]
            parts[number].points = <uint32_t *> numbers + at + 1
            at += 1 + numbers[at]
        like.segments = parts
        if long_like(value.it.o, &like, False, False):
            return True
    return False


cdef bint set_has(Search *search, const PooledLeaf *leaf, Value *value, bint is_error) noexcept:
    """Report whether a value is in the set of a leaf."""
    cdef const uint64_t *ends
    cdef uint32_t text
    cdef bint found
    if is_error:
        return leaf.flags & LEAF_ERROR != 0
    if value.tag == NULL_VALUE:
        return leaf.flags & KIND_NULL != 0
    if value.tag == BOOLEAN:
        return leaf.flags & (KIND_TRUE if value.it.i else KIND_FALSE) != 0
    if value.tag == POISON:
        return leaf.flags & LEAF_POISON != 0
    if value.tag == STRING:
        text = search.slots[leaf.attribute[0]].codes[TEXT_CODE]
        found = text != NONE and numbers_have(leaf_strings(leaf), leaf.strings, text)
        if not found and leaf.patterns:
            found = patterns_match(search, leaf, value)
        return found != (leaf.flags & LEAF_NOT_STRINGS != 0)
    if value.tag == BYTES:
        text = search.slots[leaf.attribute[0]].codes[TEXT_CODE]
        found = text != NONE and numbers_have(leaf_bytes(leaf), leaf.bytes, text)
        return found != (leaf.flags & LEAF_NOT_BYTES != 0)
    ends = leaf_intervals(leaf)
    if value.tag <= INT64:
        return intervals_have(<const int64_t *> ends, leaf.integers, value.it.i)
    if value.it.d != value.it.d:
        return leaf.flags & (LEAF_NAN32 if value.tag == FLOAT32 else LEAF_NAN64) != 0
    ends += 2 * <uint64_t> leaf.integers
    if value.tag == FLOAT32:
        return intervals_have(<const double *> ends, leaf.floats32, value.it.d)
    return intervals_have(<const double *> (ends + 2 * <uint64_t> leaf.floats32), leaf.floats64, value.it.d)


cdef void value_at(Search *search, uint32_t attribute, Value *value) noexcept:
    if attribute < search.value_count:
        value_copy(value, &search.values[attribute])
    else:
        value.tag = NULL_VALUE


cdef bint operand_find(Search *search, const PooledLeaf *leaf, int side, Value *value) noexcept:
    """Compute an operand of a leaf. Returns whether it is ERR."""
    cdef const ArithmeticStep *actions = <const ArithmeticStep *> (<const uint64_t *> leaf + LEAF_WORDS)
    cdef Value *made
    if leaf.attribute[side] != NONE:
        value_at(search, leaf.attribute[side], value)
        return False
    if items_room(&search.stack, leaf.depth + 1, sizeof(Value)) < 0:
        search.is_short = True
        return True
    made = operand_run(
        actions + (leaf.actions[0] if side else 0), leaf.actions[side], <Value *> search.stack.items, search.values,
        search.value_count, NULL
    )
    if made == NULL:
        return True
    if made.tag == STRING or made.tag == BYTES:
        search.is_damaged = True  # arithmetic that is none
        return True
    value_copy(value, made)
    return False


cdef int outcome_of(Value *left, Value *right, bint is_error) noexcept:
    """Compare two operands: a Compared of the language's formulas."""
    if is_error:
        return OUTCOME_ERROR
    if left.tag == NULL_VALUE or right.tag == NULL_VALUE:
        return OUTCOME_NULL
    if is_number(left) and is_number(right):
        return number_relation(left, right)
    if left.tag != right.tag or left.tag == POISON:
        return OUTCOME_MISMATCH
    if left.tag == STRING:
        return OUTCOME_SAME if string_equal(left.it.o, right.it.o) else OUTCOME_DIFFERENT
    if left.tag == BYTES:
        return OUTCOME_SAME if bytes_equal(left.it.o, right.it.o) else OUTCOME_DIFFERENT
    return OUTCOME_SAME if left.it.i == right.it.i else OUTCOME_DIFFERENT


cdef bint leaf_holds(Search *search, const SegmentArrays *segment, uint32_t number, int depth) noexcept:
    """Report whether a leaf is true of the record."""
    cdef const PooledLeaf *leaf
    cdef Value left, right
    cdef bint is_error, truth
    if number >= segment.leaf_count:
        search.is_damaged = True
        return False
    if search.memo[number] >> 1 == search.epoch:
        return search.memo[number] & 1
    if segment.leaves[number] >= segment.pool_size:
        search.is_damaged = True
        return False
    leaf = <const PooledLeaf *> (segment.pool + segment.leaves[number])
    if segment.looked != NULL and segment.looked[number] != 1:
        if (
            segment.looked[number] == 2 or segment.pool_size - segment.leaves[number] < LEAF_WORDS
            or not leaf_is_sound(leaf, segment.pool_size - segment.leaves[number], segment.attribute_count)
        ):
            segment.looked[number] = 2
            search.is_damaged = True
            return False
        segment.looked[number] = 1
    if leaf.kind == SET:
        if leaf.attribute[0] < search.slot_room and search.slots[leaf.attribute[0]].kind & KIND_OPEN:
            truth = True
        else:
            left.tag = NULL_VALUE
            is_error = operand_find(search, leaf, 0, &left)
            truth = set_has(search, leaf, &left, is_error)
    elif leaf.kind == CODE:
        if depth > MAX_DEPTH:
            search.is_damaged = True
            return False
        truth = steps_hold(
            search, segment, <const uint64_t *> leaf + LEAF_WORDS, 2 * <uint64_t> leaf.actions[0], 0, number, depth + 1
        )
    else:
        left.tag = right.tag = NULL_VALUE
        is_error = operand_find(search, leaf, 0, &left)
        is_error = operand_find(search, leaf, 1, &right) or is_error
        truth = outcome_of(&left, &right, is_error) & leaf.outcomes != 0
    search.memo[number] = search.epoch << 1 | truth
    return truth


cdef inline bint step_holds(
    Search *search, const SegmentArrays *segment, const ClauseStep *step, const AttributeValue *slot, uint32_t limit,
    int depth
) noexcept:
    """Report whether a test of two words is true. The leaf of one has to be below *limit*."""
    cdef uint32_t code
    cdef int test = step.test & TEST_MASK
    # Which of these it is, a processor cannot foretell: it makes all three.
    cdef bint truth = (
        ((step.kinds & slot.kind) != 0)
        | (test == TEXT) & (slot.codes[TEXT_CODE] == step.it.place)
        | (test == BETWEEN) & (slot.number >= step.it.bounds[0]) & (slot.number <= step.it.bounds[1])
    )
    if truth or test < OTHER_TEXT:
        return truth
    if test == LEAF:
        if step.it.leaf[1] and slot.codes[NUMBER_CODE] - 1 < SHORT_LIMIT - 2:
            code = slot.codes[NUMBER_CODE] - (step.it.leaf[1] & 0xFFFF)
            if code > step.it.leaf[1] >> 16:
                return False
            if 0 < code < step.it.leaf[1] >> 16:
                return True
        if step.it.place >= limit:
            search.is_damaged = True
            return False
        return leaf_holds(search, segment, step.it.place, depth)
    if test == LEAST:
        return slot.number >= step.it.number
    if test == MOST:
        return slot.number <= step.it.number
    if test == EQUAL:
        return slot.number == step.it.number
    if test == UNEQUAL:
        return slot.kind == KIND_NUMBER and slot.number != step.it.number
    if test == OUTSIDE:
        return slot.kind == KIND_NUMBER and not step.it.bounds[0] <= slot.number <= step.it.bounds[1]
    return test == OTHER_TEXT and slot.kind == KIND_STRING and slot.codes[TEXT_CODE] != step.it.place


cdef bint texts_have(const ShortStep *step, uint32_t text) noexcept:
    """Report whether the number of a string is among those behind a step."""
    cdef const uint64_t *words = <const uint64_t *> step + 1
    cdef bint is_wide = step.test & TEST_MASK & ~SHORT_NOT == SHORT_WIDE_TEXTS
    cdef uint64_t ones = 0x0000000100000001 if is_wide else 0x0001000100010001
    cdef uint64_t wanted = ones * text
    cdef uint64_t found = 0
    cdef uint64_t word
    cdef uint32_t at
    if text >= SHORT_LIMIT and not is_wide:
        return False
    for at in range(step.it & 255):
        word = words[at] ^ wanted
        found |= (word - ones) & ~word & ones << (31 if is_wide else 15)  # some number of the word is 0
    return found != 0


cdef bint step_holds_rare(
    Search *search, const SegmentArrays *segment, const uint64_t *code, uint64_t room, uint32_t limit, int depth
) noexcept:
    """Report whether a test is true that is not one of the most frequent. Its leaf has to be below *limit*."""
    cdef const ClauseStep *step = <const ClauseStep *> code
    cdef const ShortStep *short = <const ShortStep *> code
    cdef const AttributeValue *slot = &search.slots[step.attribute]
    cdef uint32_t text = slot.codes[TEXT_CODE]
    cdef int test = step.test & TEST_MASK & ~SHORT_NOT
    cdef bint truth
    if step_words(code) > room:
        search.is_damaged = True
        return False
    if step.test & SHORT == 0:
        return step_holds(search, segment, step, slot, limit, depth)
    if test == SHORT_LEAF:
        if short.it < limit:
            return leaf_holds(search, segment, short.it, depth)
        search.is_damaged = True
        return False
    if test == SHORT_PAIR:
        truth = text == (short.it & 0xFFFF) or text == short.it >> 16
    elif test == SHORT_WIDE_TEXT:
        truth = text == short.it
    elif step.test & SHORT_MASK == SHORT_TEXTS:
        truth = texts_have(short, text)
    else:
        search.is_damaged = True
        return False
    return truth ^ step.test >> 2 & slot.is_value


cdef inline bint step_truth(
    Search *search, const SegmentArrays *segment, const uint64_t *code, uint64_t room, uint32_t limit, int depth,
    uint32_t *words, uint32_t *jump
) noexcept:
    """Report whether a test is true. Its attribute has a slot; if it has more words than *room*, it is damaged.

    Sets how many words it has, and where it goes on if the next one does not follow; 0 for the end.
    """
    cdef const ShortStep *step = <const ShortStep *> code
    cdef const AttributeValue *slot = &search.slots[step.attribute]
    cdef bint is_in
    if step.test & SHORT_MASK != SHORT:
        words[0] = step_words(code)
        jump[0] = (
            (<const ClauseStep *> code).link & JUMP_MASK if step.test & SHORT == 0
            else step.it >> 8 if step.test & SHORT_MASK == SHORT_TEXTS else step.link & SHORT_JUMP_MASK
        )
        return step_holds_rare(search, segment, code, room, limit, depth)
    words[0] = 1
    jump[0] = step.link & SHORT_JUMP_MASK
    # Which of the three it is, a processor cannot foretell: it makes all.
    is_in = slot.codes[step.test & 1] - <uint32_t> <uint16_t> step.it <= step.it >> 16
    return (is_in | ((slot.kind & step.it) != 0) << 1) >> (step.test >> 1 & 1) & 1 ^ step.test >> 2 & slot.is_value


cdef bint steps_hold(
    Search *search, const SegmentArrays *segment, const uint64_t *code, uint64_t count, uint64_t at, uint32_t limit,
    int depth
) noexcept:
    """Run steps.

    Args:
        count: how many words they have; one of them is the last.
        at: where to begin.
        limit: the number that those of leaves have to be below.
    """
    cdef uint64_t start = at
    cdef uint32_t jump, words
    cdef bint truth
    while at < count and (<const ShortStep *> (code + at)).attribute < search.slot_room:
        truth = step_truth(search, segment, code + at, count - at, limit, depth, &words, &jump)
        if truth == (<const ShortStep *> (code + at)).test >> TEST_BITS:
            at += words
            continue
        if jump == 0:
            search.budget -= min(search.budget, at - start)
            return truth
        at += jump
    search.is_damaged = True
    return False


# ---- candidates --------------------------------------------------------------------------------------------------

cdef inline bint bucket_fits(const Search *search, const Posting *posting) noexcept:
    """Report whether the second attribute of a posting has one of its buckets."""
    return <uint8_t> (search.buckets[posting.attribute] - posting.low) <= <uint8_t> (posting.high - posting.low)


cdef inline bint is_inside(const Search *search, const Posting *posting) noexcept:
    """Report whether that is neither the first nor the last of them; it is one of them."""
    return <uint8_t> (search.buckets[posting.attribute] - posting.low - 1) < (
        <uint8_t> (posting.high - posting.low - 1)
    )


cdef inline int list_take(Search *search, const SegmentArrays *segment, PostingList list) except -1:
    """Add as candidates the postings of a list whose second attribute fits."""
    cdef uint32_t *candidates
    cdef uint64_t count
    cdef uint32_t at
    if list.count == 0:
        return 0
    # Each posting is in one list, and each list is looked at once.
    if list.start > segment.posting_count or list.count > segment.posting_count - list.start or (
        list.count > search.budget
    ):
        search.is_damaged = True
        return 0
    search.budget -= list.count
    if items_room(&search.candidates, list.count, 4) < 0:
        raise MemoryError
    candidates = <uint32_t *> search.candidates.items
    count = search.candidates.count
    for at in range(list.start, list.start + list.count):
        candidates[count] = at
        count += bucket_fits(search, &segment.postings[at])
    search.candidates.count = count
    return 0


cdef inline int point_take(
    Search *search, const SegmentArrays *segment, uint32_t attribute, int lane, uint64_t value
) except -1:
    cdef uint32_t key = point_key(attribute, lane, value)
    cdef uint64_t bucket = slot_of(point_hash(key, <uint32_t> value), segment.bucket_count)
    cdef uint32_t end = segment.buckets[bucket + 1]
    cdef uint32_t at
    cdef const PointEntry *point
    cdef PostingList list
    if end > segment.point_count:
        search.is_damaged = True
        return 0
    for at in range(segment.buckets[bucket], end):
        point = &segment.points[at]
        if point.value == <uint32_t> value and point.key == key:
            list.start = point.start
            list.count = point[1].start - point.start
            return list_take(search, segment, list)
    return 0


cdef int seen_room(Search *search, uint64_t count) except -1:
    """Reserve room for as many bits."""
    cdef uint64_t before = search.seen.room
    cdef uint64_t words = count // 64 + 1
    if before < words:
        if items_room(&search.seen, words, 8) < 0:
            raise MemoryError
        memset(<uint64_t *> search.seen.items + before, 0, (search.seen.room - before) * 8)
    return 0


cdef inline bint is_new(Search *search, uint32_t number) except -1:
    """Note that something was met. Returns whether it was not before."""
    cdef uint64_t *word = <uint64_t *> search.seen.items + (number >> 6)
    cdef uint64_t bit = <uint64_t> 1 << (number & 63)
    if word[0] & bit:
        return False
    if items_room(&search.met, 1, 4) < 0:
        raise MemoryError
    (<uint32_t *> search.met.items)[search.met.count] = number
    search.met.count += 1
    word[0] |= bit
    return True


cdef void seen_forget(Search *search) noexcept:
    cdef uint64_t at
    for at in range(search.met.count):
        (<uint64_t *> search.seen.items)[(<uint32_t *> search.met.items)[at] >> 6] = 0
    search.met.count = 0


cdef inline uint32_t character_at(const uint8_t *data, int kind, uint64_t at) noexcept:
    if kind == 1:
        return data[at]
    if kind == 2:
        return (<const uint16_t *> data)[at]
    return (<const uint32_t *> data)[at]


cdef inline bint affix_is(
    const SegmentArrays *segment, const AffixEntry *affix, const uint8_t *data, int kind, uint64_t at, uint32_t length
) noexcept:
    """Report whether a text has the characters of an affix from a place on."""
    cdef const uint32_t *points = <const uint32_t *> segment.pool + affix.points
    cdef uint32_t number
    if affix.points + <uint64_t> length > 2 * segment.pool_size:
        return False
    for number in range(length):
        if points[number] != character_at(data, kind, at + number):
            return False
    return True


cdef int affix_take(
    Search *search, const SegmentArrays *segment, uint32_t attribute, int way, uint64_t hash, const uint8_t *data,
    int kind, uint64_t at, uint32_t length
) except -1:
    """Add as candidates the postings of the characters from a place of a text on."""
    cdef uint32_t key = affix_key(attribute, way, length, hash)
    cdef uint32_t slot = <uint32_t> (hash >> 32) & segment.affix_mask
    cdef uint32_t looks = 0
    while segment.affixes[slot].key and looks <= segment.affix_mask:
        if segment.affixes[slot].key == key and affix_is(segment, &segment.affixes[slot], data, kind, at, length):
            # A text may contain the same characters at many places.
            if way == 2 and not is_new(search, slot):
                return 0
            return list_take(search, segment, segment.affixes[slot].list)
        slot = (slot + 1) & segment.affix_mask
        looks += 1
    return 0


cdef int affixes_take(Search *search, const SegmentArrays *segment, uint32_t attribute) except -1:
    """Look up how a string begins and ends, and all that it contains."""
    cdef const Attribute *row = &segment.attributes[attribute]
    cdef const uint8_t *data = NULL
    cdef uint64_t size = 0
    cdef uint64_t at, hash, length
    cdef int kind = 0
    cdef int inner, gram
    seen_room(search, segment.affix_mask)
    text_of(&search.values[attribute], &data, &size, &kind)
    length = size // kind
    if row.prefixes:
        hash = affix_start(attribute, 0)
        for at in range(min(length, AFFIX_MAX)):
            hash = affix_more(hash, character_at(data, kind, at))
            if row.prefixes >> (at + 1) & 1:
                affix_take(search, segment, attribute, 0, hash, data, kind, 0, <uint32_t> at + 1)
            if row.prefixes >> (at + 1) == 0:
                break
    if row.suffixes:
        hash = affix_start(attribute, 1)
        for at in range(min(length, AFFIX_MAX)):
            hash = affix_more(hash, character_at(data, kind, length - 1 - at))
            if row.suffixes >> (at + 1) & 1:
                affix_take(
                    search, segment, attribute, 1, hash, data, kind, length - 1 - at, <uint32_t> at + 1
                )
            if row.suffixes >> (at + 1) == 0:
                break
    for gram in range(LEAST_GRAM, GRAM + 1):
        if not row.grams >> gram & 1 or length < <uint64_t> gram:
            continue
        for at in range(length - gram + 1):
            hash = affix_start(attribute, 2)
            for inner in range(gram):
                hash = affix_more(hash, character_at(data, kind, at + inner))
            affix_take(search, segment, attribute, 2, hash, data, kind, at, gram)
    return 0


cdef int intervals_take(Search *search, const SegmentArrays *segment, const Attribute *row, double number) except -1:
    """Add as candidates the intervals that a number lies in: those before it that end behind it."""
    cdef const double *lows = segment.lows + row.intervals.start
    cdef const double *highs = segment.highs + row.intervals.start
    cdef const double *maxima = segment.maxima + row.maxima
    cdef const double *upper
    cdef uint32_t *candidates
    cdef uint64_t count, total
    cdef uint32_t first, low, middle, high, block, at, stop
    cdef uint64_t blocks = (<uint64_t> row.intervals.count + BLOCK - 1) // BLOCK
    total = row.intervals.count
    if (
        total > search.budget
        or row.intervals.start > segment.interval_count or total > segment.interval_count - row.intervals.start
        or row.interval_postings > segment.posting_count or total > segment.posting_count - row.interval_postings
        or row.maxima > segment.maximum_count
        or blocks + (blocks + BLOCK - 1) // BLOCK > segment.maximum_count - row.maxima
    ):
        search.is_damaged = True
        return 0
    search.budget -= total
    high = row.intervals.count
    low = 0 if high > BLOCK else high  # of a few each is looked at: halving them, a processor cannot foretell
    while low < high:
        middle = low + (high - low) // 2
        if lows[middle] <= number:
            low = middle + 1
        else:
            high = middle
    first = 0
    if items_room(&search.candidates, low, 4) < 0:
        raise MemoryError
    candidates = <uint32_t *> search.candidates.items
    count = search.candidates.count
    upper = maxima + blocks
    block = 0
    while first < low:
        if block % BLOCK == 0 and not upper[block // BLOCK] >= number:
            block += BLOCK
            first += BLOCK * BLOCK
            continue
        if maxima[block] >= number:
            stop = min(low, first + BLOCK)
            for at in range(first, stop):
                candidates[count] = row.interval_postings + at
                count += (lows[at] <= number) & (highs[at] >= number) & bucket_fits(
                    search, &segment.postings[row.interval_postings + at]
                )
        block += 1
        first += BLOCK
    search.candidates.count = count
    return 0


cdef void segment_read(Search *search, const SegmentArrays *segment) noexcept:
    """See the record as a segment does: its strings' numbers, and the bucket of each attribute."""
    cdef const uint32_t *present = <const uint32_t *> search.present.items
    cdef const Attribute *row
    cdef AttributeValue *slot
    cdef uint64_t at
    cdef uint32_t attribute
    cdef uint8_t bucket
    for at in range(search.present.count):
        attribute = present[at]
        if attribute >= segment.attribute_count:
            continue
        row = &segment.attributes[attribute]
        if row.flags == 0:
            continue
        slot = &search.slots[attribute]
        if slot.kind & (KIND_STRING | KIND_BYTES):
            if row.flags & HAS_TEXTS:
                slot_text(search, segment, attribute)
            bucket = text_bucket(row, slot.codes[TEXT_CODE], slot.hash)
        elif slot.kind == KIND_NUMBER:
            bucket = number_bucket(row, slot.number)
        elif slot.kind == KIND_FALSE or slot.kind == KIND_TRUE:
            bucket = truth_bucket(row, slot.kind == KIND_TRUE)
        else:
            bucket = 255
        if attribute < BUCKETS:
            search.buckets[attribute] = bucket


cdef int candidates_find(Search *search, const SegmentArrays *segment) except -1:
    """List the clauses that the record may make true; one may stand there more than once."""
    cdef const uint32_t *present = <const uint32_t *> search.present.items
    cdef const Attribute *row
    cdef const AttributeValue *slot
    cdef uint64_t at
    cdef uint64_t value = 0
    cdef uint32_t attribute, number
    search.candidates.count = 0
    search.budget = segment.posting_count
    for at in range(search.present.count):
        attribute = present[at]
        if attribute >= segment.attribute_count:
            continue
        row = &segment.attributes[attribute]
        if row.flags & ~(USED | HAS_TEXTS) == 0:
            continue
        slot = &search.slots[attribute]
        if slot.kind == KIND_STRING:
            if row.flags & HAS_TEXT_POINTS and slot.codes[TEXT_CODE] != NONE:
                point_take(search, segment, attribute, LANE_TEXT, slot.codes[TEXT_CODE])
            if row.flags & HAS_AFFIXES:
                affixes_take(search, segment, attribute)
            list_take(search, segment, row.lists[ANY_STRING])
        elif slot.kind == KIND_NUMBER:
            if row.flags & HAS_NUMBER_POINTS and number_point(slot.number, &value):
                point_take(search, segment, attribute, LANE_NUMBER, value)
            if row.flags & HAS_INTERVALS:
                intervals_take(search, segment, row, slot.number)
            list_take(search, segment, row.lists[ANY_NUMBER])
        elif slot.kind == KIND_NAN:
            list_take(search, segment, row.lists[ANY_NUMBER])
            list_take(search, segment, row.lists[ANY_NAN])
        elif slot.kind == KIND_BYTES:
            if row.flags & HAS_TEXT_POINTS and slot.codes[TEXT_CODE] != NONE:
                point_take(search, segment, attribute, LANE_TEXT, slot.codes[TEXT_CODE])
            list_take(search, segment, row.lists[ANY_BYTES])
        elif slot.kind & KIND_OPEN:
            for number in range(2):
                point_take(search, segment, attribute, LANE_TRUTH, number)
            list_take(search, segment, row.lists[ANY_TRUTH])
            list_take(search, segment, row.lists[ANY_NUMBER])
        elif slot.kind == 0:
            continue
        else:
            if row.flags & HAS_TRUTH_POINTS:
                point_take(search, segment, attribute, LANE_TRUTH, slot.kind == KIND_TRUE)
            list_take(search, segment, row.lists[ANY_TRUTH])
        list_take(search, segment, row.lists[ANY_VALUE])
    for at in range(segment.null_count):
        attribute = segment.nulls[at]
        if attribute >= segment.attribute_count:
            search.is_damaged = True
        elif attribute >= search.slot_room or search.slots[attribute].kind & KIND_NULL:
            list_take(search, segment, segment.attributes[attribute].lists[ANY_NULL])
    return list_take(search, segment, segment.always)


# ---- clauses -------------------------------------------------------------------------------------------------------

cdef int clause_ask(Search *search, const SegmentArrays *segment, const uint64_t *code) except -1:
    """List the first open tests of a clause that may be true: of its steps, then of the code that it shares.

    Args:
        code: the first of its steps.
    """
    cdef const PooledLeaf *leaf
    cdef const uint64_t *end = segment.code + segment.code_count
    cdef const ClauseStep *step
    cdef uint32_t number
    cdef uint64_t done = 0
    cdef uint64_t listed = 0
    search.chunks.count = 0
    while True:
        while code < end:
            step = <const ClauseStep *> code
            number = (<const ShortStep *> step).it if step.test & SHORT else step.it.place
            if step.test & TEST_MASK != LEAF and step.test & TEST_MASK != SHORT_LEAF:
                listed += open_add(search, step.attribute)
            elif leaf_holds(search, segment, number, 0) or not search.is_damaged:
                leaf = <const PooledLeaf *> (segment.pool + segment.leaves[number])
                if leaf.kind == CODE:
                    chunk_add(search, number)
                elif leaf.kind == SET:
                    listed += open_add(search, leaf.attribute[0])
            if search.is_damaged or listed >= search.asked:
                return 0
            if step.test >> TEST_BITS == LAST:
                break
            code += step_words(code)
        if done == search.chunks.count:
            return 0
        leaf = <const PooledLeaf *> (segment.pool + segment.leaves[(<uint32_t *> search.chunks.items)[done]])
        code = <const uint64_t *> leaf + LEAF_WORDS
        end = code + 2 * <uint64_t> leaf.actions[0]
        done += 1


cdef bint open_add(Search *search, uint32_t attribute) except -1:
    """List an attribute that is an open test, once a search. Returns whether it is one."""
    if attribute >= search.slot_room or search.slots[attribute].kind & KIND_OPEN == 0:
        return False
    if search.slots[attribute].kind & KIND_ASKED == 0:
        if items_room(&search.open, 1, 4) < 0:
            raise MemoryError
        (<uint32_t *> search.open.items)[search.open.count] = attribute
        search.open.count += 1
        search.slots[attribute].kind |= KIND_ASKED
    return True


cdef int chunk_add(Search *search, uint32_t number) except -1:
    """List a leaf whose code is to be looked at, once a clause."""
    cdef uint64_t at
    for at in range(search.chunks.count):
        if (<uint32_t *> search.chunks.items)[at] == number:
            return 0
    if items_room(&search.chunks, 1, 4) < 0:
        raise MemoryError
    (<uint32_t *> search.chunks.items)[search.chunks.count] = number
    search.chunks.count += 1
    return 0


cdef inline void place_add(Search *search, const SegmentArrays *segment, uint32_t place) noexcept:
    """Add a place, if it was not removed."""
    if place >= segment.place_limit:
        search.is_damaged = search.is_damaged or place != NONE  # NONE was removed
        return
    if search.tombstones == NULL or search.tombstones[place >> 3] >> (place & 7) & 1 == 0:
        search.bits[place >> 6] |= <uint64_t> 1 << (place & 63)
        search.touched[place >> TOUCHED] = 1


cdef void clause_emit(Search *search, const SegmentArrays *segment, const Clause *clause) noexcept:
    """Add the places of a clause that is true."""
    cdef const uint32_t *places = &clause.place
    cdef uint32_t count = 1
    cdef uint32_t at
    if clause.code & MANY_PLACES:
        if clause.place >= segment.copy_count:
            search.is_damaged = True
            return
        count = segment.copies[clause.place]
        places = segment.copies + clause.place + 1
        if count > segment.copy_count - clause.place - 1:
            search.is_damaged = True
            return
    if count >= search.budget:
        search.is_damaged = True
        return
    search.budget -= count
    for at in range(count):
        place_add(search, segment, places[at])


cdef int segment_search(Search *search, const SegmentArrays *segment) except -1:
    """Add the places that the record makes true."""
    segment_read(search, segment)
    try:
        candidates_find(search, segment)
    finally:
        seen_forget(search)
    seen_room(search, segment.clause_count)
    try:
        candidates_run(search, segment)
    finally:
        seen_forget(search)
    return 0


cdef inline uint64_t steps_enough(const SegmentArrays *segment) noexcept:
    """Return more steps than a search of a sound segment runs, which begins no clause more than once a posting."""
    return (<uint64_t> segment.code_count + segment.copy_count + 1024) * 64


cdef inline int clause_add(Search *search, const SegmentArrays *segment, uint32_t number) except -1:
    """Add the places of a clause that is true; one that is reached in several ways adds them once."""
    cdef const Clause *clause = &segment.clauses[number]
    if search.asked:
        clause_ask(search, segment, segment.code + (clause.code & CODE_MASK))
    if clause.code & MANY_PLACES == 0:
        place_add(search, segment, clause.place)
    elif is_new(search, number):
        clause_emit(search, segment, clause)
    return 0


cdef int candidates_run(Search *search, const SegmentArrays *segment) except -1:
    """Add the places of those candidates that are true."""
    cdef uint32_t *proved
    cdef uint32_t *others
    cdef uint64_t count = search.candidates.count
    cdef uint64_t proved_count = 0
    cdef uint64_t proved_before = 0
    cdef uint64_t at, start, number, code_count, slot_room
    cdef const Posting *postings = segment.postings
    cdef const Posting *posting
    cdef const Clause *clauses
    cdef const Clause *clause
    cdef const uint64_t *code
    cdef uint32_t jump, words, named
    cdef uint32_t greatest = 0
    cdef bint truth
    if count == 0:
        return 0
    if items_room(&search.candidates, count + 2 * AHEAD, 4) < 0:
        raise MemoryError
    # The clauses of postings that fit; apart from the others, lest that is a branch, those that are proved.
    proved = <uint32_t *> search.candidates.items
    others = proved + count + AHEAD
    for at in range(count):
        posting = &postings[proved[at]]
        named = posting.clause
        proved_count += named >> 31 | named >> 30 & is_inside(search, posting)
        named &= CLAUSE_MASK
        greatest = max(greatest, named)
        proved[proved_before] = others[at - proved_before] = named
        proved_before = proved_count
    if greatest >= segment.clause_count:
        search.is_damaged = True
        return 0
    search.budget = steps_enough(segment)
    clauses = segment.clauses
    for at in range(proved_count):
        mqsel_ahead(clauses + proved[at + AHEAD])
        clause_add(search, segment, proved[at])
    count -= proved_count
    for at in range(count, count + AHEAD):
        others[at] = others[0]
    code = segment.code
    code_count = segment.code_count
    slot_room = search.slot_room
    for at in range(AHEAD):
        mqsel_ahead(clauses + others[at])
    for at in range(AHEAD // 2):
        mqsel_ahead(code + (clauses[others[at]].code & CODE_MASK))
    for at in range(count):
        mqsel_ahead(clauses + others[at + AHEAD])
        mqsel_ahead(code + (clauses[others[at + AHEAD // 2]].code & CODE_MASK))
        clause = &clauses[others[at]]
        start = number = (clause.code & CODE_MASK) + (clause.code >> CODE_BITS & MOST_PROVED)
        while True:  # as in `steps_hold`
            if number >= code_count or (<const ShortStep *> (code + number)).attribute >= slot_room:
                search.is_damaged = True
                return 0
            truth = step_truth(search, segment, code + number, code_count - number, NONE, 0, &words, &jump)
            if truth == (<const ShortStep *> (code + number)).test >> TEST_BITS:
                number += words
                continue
            if jump == 0:
                break
            number += jump
        search.budget -= min(search.budget, number - start)
        if truth:
            clause_add(search, segment, others[at])
        if search.budget == 0:
            search.is_damaged = True
            return 0
    return 0


cdef int segment_scan(Search *search, const SegmentArrays *segment) except -1:
    """Add the places that the record makes true, by running every clause whole."""
    cdef uint32_t at
    segment_read(search, segment)
    search.budget = steps_enough(segment)
    seen_room(search, segment.clause_count)
    for at in range(segment.clause_count):
        if steps_hold(search, segment, segment.code, segment.code_count, segment.clauses[at].code & CODE_MASK, NONE, 0):
            clause_emit(search, segment, &segment.clauses[at])
        if search.budget == 0:
            search.is_damaged = True
            return 0
    return 0


cdef int draft_scan(Search *search, const SegmentArrays *view, const Draft *draft) except -1:
    """Add the places that the record makes true, of a draft."""
    cdef const DraftClause *clauses = <const DraftClause *> draft.clauses.items
    cdef const Link *links = <const Link *> draft.links.items
    cdef uint32_t attribute, link
    cdef uint64_t at
    for at in range(search.present.count):
        attribute = (<const uint32_t *> search.present.items)[at]
        if search.slots[attribute].kind & (KIND_STRING | KIND_BYTES):
            if view.string_count:
                slot_text(search, view, attribute)
            else:
                search.slots[attribute].codes[TEXT_CODE] = NONE
    for at in range(draft.clauses.count):
        link = clauses[at].link
        if link and steps_hold(search, view, view.code, view.code_count, 2 * <uint64_t> clauses[at].code, NONE, 0):
            if search.asked:
                clause_ask(search, view, view.code + 2 * <uint64_t> clauses[at].code)
            while link:
                place_add(search, view, links[link - 1].place)
                link = links[link - 1].next
    return 0


# ---- what was found ----------------------------------------------------------------------------------------------

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define mqsel_lowest(word) ((unsigned) __builtin_ctzll((word) | 1ULL << 63))
    #else
    static unsigned mqsel_lowest(unsigned long long word) {
        unsigned at = 0;
        while (at < 63 && !(word >> at & 1)) at++;
        return at;
    }
    #endif
    """
    unsigned int mqsel_lowest(unsigned long long word) noexcept nogil


cdef int places_room(Search *search, uint32_t limit) except -1:
    """Reserve a bit for each place, and a number for each run of them. All are 0 between two searches."""
    cdef uint64_t runs = ((<uint64_t> limit >> TOUCHED) + 4) & ~<uint64_t> 3
    cdef uint64_t bits = runs << TOUCHED
    if search.runs < runs:
        free(search.bits)
        free(search.touched)
        search.runs = 0
        search.touched = NULL
        search.bits = <uint64_t *> calloc(bits // 64, 8)
        if search.bits != NULL:
            search.touched = <uint16_t *> calloc(runs, 2)
        if search.touched == NULL:
            raise MemoryError
        search.runs = runs
    elif search.is_unread:
        memset(search.bits, 0, (search.runs << TOUCHED) // 8)
        memset(search.touched, 0, search.runs * 2)
    search.is_unread = True
    return 0


cdef int places_read(Search *search) except -1:
    """List the places that were added, rising."""
    cdef uint64_t at, word
    cdef uint64_t total = 0
    cdef uint64_t run = 0
    cdef uint32_t *places
    cdef uint32_t first
    while run < search.runs:
        if run & 3 == 0:
            memcpy(&word, search.touched + run, 8)
            if word == 0:
                run += 4
                continue
        run += 1
        if not search.touched[run - 1]:
            continue
        search.touched[run - 1] = 0
        search.places.count = total
        if items_room(&search.places, (1 << TOUCHED) + 4, 4) < 0:
            raise MemoryError
        places = <uint32_t *> search.places.items
        for at in range((run - 1) << TOUCHED >> 6, run << TOUCHED >> 6):
            word = search.bits[at]
            search.bits[at] = 0
            first = <uint32_t> (at << 6)
            # How many bits a word has, a processor cannot foretell: four are always read, which mostly are all.
            while True:
                places[total] = first | mqsel_lowest(word)
                total += word != 0
                word &= word - 1
                places[total] = first | mqsel_lowest(word)
                total += word != 0
                word &= word - 1
                places[total] = first | mqsel_lowest(word)
                total += word != 0
                word &= word - 1
                places[total] = first | mqsel_lowest(word)
                total += word != 0
                word &= word - 1
                if word == 0:
                    break
    search.places.count = total
    search.is_unread = False
    return 0
