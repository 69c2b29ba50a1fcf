# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Compaction: one segment of several, without what was removed from them; and segments with other places.

Other threads may run meanwhile. Knows no key and no message.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, qsort
from libc.string cimport memcpy, memset

from mqsel.index._memtable cimport (
    Draft, Items, Memtable, by_number, draft_clause, draft_leaf, draft_place, draft_string, items_room, places_count,
)
from mqsel.index._postings cimport draft_layout
from mqsel.index._segment cimport *


# Where the strings and leaves of a segment went in a draft: number + 1, or 0.
cdef struct Moved:
    Draft *draft
    const SegmentArrays *segment
    uint32_t *strings
    uint32_t *leaves
    Items leaf                  # words


cdef uint32_t moved_string(Moved *moved, uint32_t number) noexcept nogil:
    cdef const String *string
    if number >= moved.segment.string_count:
        return NONE
    if moved.strings[number] == 0:
        string = &moved.segment.strings[number]
        if (string.start >> 3) + string.size > moved.segment.text_size:
            return NONE
        moved.strings[number] = 1 + draft_string(
            moved.draft, moved.segment.texts + (string.start >> 3), string.size, string.start & 7, string.hash
        )
    return moved.strings[number] - 1


cdef uint32_t moved_leaf(Moved *moved, uint32_t number, int depth) noexcept nogil:
    """Return the number that a leaf has in the draft; NONE without memory, or if it is damaged."""
    cdef const SegmentArrays *segment = moved.segment
    cdef const PooledLeaf *leaf
    cdef PooledLeaf *copy
    cdef uint32_t *numbers
    cdef ClauseStep *steps
    cdef uint32_t at, made
    cdef Items own
    if number >= segment.leaf_count or depth > MAX_DEPTH or segment.leaves[number] >= segment.pool_size:
        return NONE
    if moved.leaves[number]:
        return moved.leaves[number] - 1
    leaf = <const PooledLeaf *> (segment.pool + segment.leaves[number])
    if segment.pool_size - segment.leaves[number] < LEAF_WORDS or not leaf_is_sound(
        leaf, segment.pool_size - segment.leaves[number], segment.attribute_count
    ):
        return NONE
    memset(&own, 0, sizeof(Items))
    if grown(&own.items, &own.room, leaf.words, 8) < 0:
        return NONE
    copy = <PooledLeaf *> own.items
    memcpy(copy, leaf, 8 * <uint64_t> leaf.words)
    if leaf.kind == SET:
        copy.attribute[1] = NONE
    made = 0
    if leaf.kind == CODE:
        steps = <ClauseStep *> (<uint64_t *> copy + LEAF_WORDS)
        for at in range(leaf.actions[0]):
            if not moved_step(moved, &steps[at], number, depth + 1):
                made = NONE
                break
    else:
        numbers = <uint32_t *> leaf_strings(copy)
        for at in range(leaf.strings):
            numbers[at] = moved_string(moved, numbers[at])
            if numbers[at] == NONE:
                made = NONE
        qsort(numbers, leaf.strings, 4, by_number)
        numbers = <uint32_t *> leaf_bytes(copy)
        for at in range(leaf.bytes):
            numbers[at] = moved_string(moved, numbers[at])
            if numbers[at] == NONE:
                made = NONE
        qsort(numbers, leaf.bytes, 4, by_number)
    if made != NONE:
        made = draft_leaf(moved.draft, copy)
        moved.leaves[number] = made + 1
    free(own.items)
    return made


cdef bint moved_step(Moved *moved, ClauseStep *step, uint32_t limit, int depth) noexcept nogil:
    """Let a step name what the draft has; leaves below *limit* alone."""
    cdef int test = step.test & TEST_MASK
    cdef uint32_t place
    if step.attribute >= max(1, moved.segment.attribute_count):
        return False
    if test == TEXT or test == OTHER_TEXT:
        step.it.place = moved_string(moved, step.it.place)
        return step.it.place != NONE
    if test == LEAF:
        if step.it.place >= limit:
            return False
        place = moved_leaf(moved, step.it.place, depth)
        step.it.pair[0] = place
        step.it.pair[1] = 0
        return step.it.place != NONE
    return test < TESTS


cdef int draft_absorb(Draft *draft, const SegmentArrays *segment, const uint8_t *tombstones) noexcept nogil:
    """Read what was not removed from a segment into a draft.

    Args:
        tombstones: a bit for each place that is not to be taken; or NULL.

    Returns: 0; -1 without memory, or if the segment is damaged.
    """
    cdef Moved moved
    cdef Items steps
    cdef uint32_t clause, count, place, made
    cdef uint64_t at, first, number
    cdef const Clause *given
    cdef const uint32_t *places
    cdef ClauseStep *copied
    cdef uint64_t budget = segment.code_count   # no step is in two clauses, no place twice
    cdef uint64_t copies = <uint64_t> segment.copy_count + segment.clause_count
    cdef int result = -1
    memset(&moved, 0, sizeof(Moved))
    memset(&steps, 0, sizeof(Items))
    moved.draft = draft
    moved.segment = segment
    moved.strings = <uint32_t *> calloc(<size_t> segment.string_count + 1, 4)
    moved.leaves = <uint32_t *> calloc(<size_t> segment.leaf_count + 1, 4)
    if moved.strings != NULL and moved.leaves != NULL:
        result = 0
        for clause in range(segment.clause_count):
            given = &segment.clauses[clause]
            places = &given.place
            count = 1
            if given.info & MANY_PLACES:
                if given.place >= segment.copy_count:
                    result = -1
                    break
                count = segment.copies[given.place]
                places = segment.copies + given.place + 1
                if count > segment.copy_count - given.place - 1 or count > copies:
                    result = -1
                    break
            copies -= min(copies, count)
            made = NONE
            for number in range(count):
                place = places[number]
                if place >= segment.place_limit or (tombstones != NULL and tombstones[place >> 3] >> (place & 7) & 1):
                    continue
                if made == NONE:
                    first = at = given.code
                    while at < segment.code_count and segment.code[at].test >> TEST_BITS != LAST:
                        at += 1
                    steps.count = 0
                    if at >= segment.code_count or at - first >= budget or (
                        items_room(&steps, at - first + 1, sizeof(ClauseStep)) < 0
                    ):
                        result = -1
                        break
                    budget -= at - first + 1
                    copied = <ClauseStep *> steps.items
                    memcpy(copied, segment.code + first, (at - first + 1) * sizeof(ClauseStep))
                    for at in range(at - first + 1):
                        if not moved_step(&moved, &copied[at], NONE, 0):
                            result = -1
                    if result < 0:
                        break
                    made = draft_clause(draft, copied, at + 1)
                    if made == NONE:
                        result = -1
                        break
                if draft_place(draft, made, place) < 0:
                    result = -1
                    break
            if result < 0:
                break
    free(moved.strings)
    free(moved.leaves)
    free(steps.items)
    return result


cdef int tombstones_since(StoredSegment made, StoredSegment stored, bytes before) except -1:
    """Bury in what was made of a segment the places that died in this since then."""
    cdef const uint8_t *bits = <const uint8_t *> PyBytes_AS_STRING(before) if before is not None else NULL
    cdef uint32_t place
    if stored.tombstones == NULL:
        return 0
    for place in range(stored.arrays.place_limit):
        if has_bit(stored.tombstones, place) and (bits == NULL or not has_bit(bits, place)) and is_living(made, place):
            made.reserve()
            made.mark_removed(place)
    return 0


cdef StoredSegment merged(list segments, list tombstones):
    """Merge segments into one; other threads may run meanwhile.

    Args:
        tombstones: of each what does not count, from `tombstones_of`.
    """
    cdef Memtable memtable = Memtable([], {})
    cdef StoredSegment stored
    cdef bytes bits
    cdef const uint8_t *gone
    cdef int done
    cdef uint32_t attributes = 0
    for one, bits in zip(segments, tombstones):
        stored = one
        attributes = max(attributes, stored.arrays.attribute_count)
        gone = <const uint8_t *> PyBytes_AS_STRING(bits) if bits is not None else NULL
        with nogil:
            done = draft_absorb(&memtable.draft, &stored.arrays, gone)
        fault()
        if done < 0:
            if stored.is_foreign:
                raise damaged("a part of them names what is not there")
            raise MemoryError
    memtable.draft.selectors = places_count(&memtable.draft)
    return StoredSegment(draft_layout(&memtable.draft, attributes), False, attributes)


cdef StoredSegment renumbered(StoredSegment stored, const uint32_t *places, uint32_t limit):
    """Copy a segment, with other places.

    Args:
        places: the new place of each below *limit*, which is not greater; NONE where there is none any more.
    """
    cdef bytes copy = PyBytes_FromStringAndSize(<char *> stored.view.buf, stored.view.len)
    # Found anew in the copy: what is mapped may have changed since it was looked at.
    cdef StoredSegment made = StoredSegment(copy, stored.is_foreign, stored.arrays.attribute_count)
    cdef SegmentHeader *header = <SegmentHeader *> PyBytes_AS_STRING(copy)
    cdef SegmentArrays *segment = &made.arrays
    cdef Clause *clauses = <Clause *> segment.clauses
    cdef uint32_t *copies = <uint32_t *> segment.copies
    cdef uint8_t *bits = <uint8_t *> zeroed(header.counts[PLACES])
    cdef uint32_t number, at, count, old, first
    cdef uint32_t *held
    segment.place_limit = 0
    segment.selectors = 0
    try:
        for number in range(segment.clause_count):
            held = &clauses[number].place
            count = 1
            if clauses[number].info & MANY_PLACES:
                first = clauses[number].place
                if first >= segment.copy_count or copies[first] > segment.copy_count - first - 1:
                    raise damaged("a part of them names what is not there")
                count = copies[first]
                held = copies + first + 1
            for at in range(count):
                old = held[at]
                held[at] = NONE
                if old < limit and places[old] <= old and is_living(stored, old):
                    held[at] = places[old]
                    segment.selectors += not has_bit(bits, held[at])
                    bits[held[at] >> 3] |= <uint8_t> (1 << (held[at] & 7))
                    segment.place_limit = max(segment.place_limit, held[at] + 1)
        memcpy(<uint8_t *> segment.places, bits, header.counts[PLACES])
    finally:
        free(bits)
    header.place_limit = segment.place_limit
    header.selectors = segment.selectors
    header.check = header_check(header)
    return made
