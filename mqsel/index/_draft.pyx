# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Drafts: units of steps, each string, leaf and unit kept once.

A unit is what has to be true of a message for a selector to be, or for one part of it where it is an OR. In a unit a
step stands for each leaf, in order; it holds the depth of the group that it has in common with the next, from which
follow both the tree and the jumps of evaluation that stops as soon as it knows. What most leaves are fits into the
step; others lie in a pool. A draft is filled from formulas by _drafter, from segments here. Knows no message.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, qsort
from libc.string cimport memset

from mqsel.index._parts cimport *


# ---- tables ------------------------------------------------------------------------------------------------------

cdef int table_room(Table *table, uint64_t count) noexcept nogil:
    """Make room for *count* items in a table.

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


cdef inline void table_put(Table *table, uint32_t hash, uint32_t number) noexcept nogil:
    cdef uint64_t slot = hash & (table.size - 1)
    while table.numbers[slot]:
        slot = (slot + 1) & (table.size - 1)
    table.numbers[slot] = number + 1


cdef void table_drop(Table *table, uint32_t hash, uint64_t number) noexcept nogil:
    """Take the number out that was put last: nothing else was moved on by it."""
    cdef uint64_t slot = hash & (table.size - 1)
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
    mark.units = draft.units.count
    return mark


cdef void draft_rewind(Draft *draft, const Mark *mark) noexcept nogil:
    """Take back the strings, leaves and units that came since; no place may have one of these units."""
    while draft.units.count > mark.units:
        draft.units.count -= 1
        table_drop(
            &draft.unit_table, (<DraftUnit *> draft.units.items)[draft.units.count].hash, draft.units.count
        )
    while draft.leaves.count > mark.leaves:
        draft.leaves.count -= 1
        table_drop(&draft.leaf_table, (<uint32_t *> draft.leaf_hashes.items)[draft.leaves.count], draft.leaves.count)
    while draft.strings.count > mark.strings:
        draft.strings.count -= 1
        table_drop(
            &draft.string_table, (<String *> draft.strings.items)[draft.strings.count].hash, draft.strings.count
        )
    draft.leaf_hashes.count = mark.leaves
    draft.texts.count = mark.texts
    draft.pool.count = mark.pool
    draft.code.count = mark.code


cdef void draft_free(Draft *draft) noexcept nogil:
    free(draft.strings.items)
    free(draft.string_table.numbers)
    free(draft.texts.items)
    free(draft.pool.items)
    free(draft.leaves.items)
    free(draft.leaf_hashes.items)
    free(draft.leaf_table.numbers)
    free(draft.code.items)
    free(draft.units.items)
    free(draft.unit_table.numbers)
    free(draft.links.items)
    free(draft.work.items)
    memset(draft, 0, sizeof(Draft))


cdef uint32_t draft_string(Draft *draft, const uint8_t *data, uint64_t size, int kind, uint32_t hash) noexcept nogil:
    """Give the number of a string, or NONE without memory."""
    cdef String *strings
    cdef uint64_t slot
    cdef uint64_t number
    cdef int fresh
    if size >= NONE or draft.strings.count >= NONE - 1:
        return NONE
    fresh = table_room(&draft.string_table, draft.strings.count + 1)
    if fresh < 0:
        return NONE
    strings = <String *> draft.strings.items
    if fresh:
        for number in range(draft.strings.count):
            table_put(&draft.string_table, strings[number].hash, <uint32_t> number)
    slot = hash & (draft.string_table.size - 1)
    while draft.string_table.numbers[slot]:
        number = draft.string_table.numbers[slot] - 1
        if (
            strings[number].hash == hash and strings[number].size == size
            and strings[number].start & 7 == <uint64_t> kind
            and (size == 0 or memcmp(<uint8_t *> draft.texts.items + (strings[number].start >> 3), data, size) == 0)
        ):
            return <uint32_t> number
        slot = (slot + 1) & (draft.string_table.size - 1)
    if items_room(&draft.strings, 1, sizeof(String)) < 0 or items_room(&draft.texts, size, 1) < 0:
        return NONE
    number = draft.strings.count
    strings = <String *> draft.strings.items
    strings[number].start = draft.texts.count << 3 | <uint64_t> kind
    strings[number].size = <uint32_t> size
    strings[number].hash = hash
    if size:
        memcpy(<uint8_t *> draft.texts.items + draft.texts.count, data, size)
    draft.texts.count += size
    draft.strings.count += 1
    draft.string_table.numbers[slot] = <uint32_t> number + 1
    return <uint32_t> number


cdef uint32_t draft_leaf(Draft *draft, const Leaf *leaf) noexcept nogil:
    """Give the number of a leaf, or NONE without memory."""
    cdef uint32_t hash = text_hash(<const uint8_t *> leaf, 8 * <uint64_t> leaf.words, 0)
    cdef uint32_t *starts
    cdef uint32_t *hashes
    cdef uint64_t slot, number
    cdef int fresh
    if draft.pool.count + leaf.words >= NONE:
        return NONE
    fresh = table_room(&draft.leaf_table, draft.leaves.count + 1)
    if fresh < 0:
        return NONE
    starts = <uint32_t *> draft.leaves.items
    hashes = <uint32_t *> draft.leaf_hashes.items
    if fresh:
        for number in range(draft.leaves.count):
            table_put(&draft.leaf_table, hashes[number], <uint32_t> number)
    slot = hash & (draft.leaf_table.size - 1)
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


cdef int steps_link(Draft *draft, Step *steps, uint64_t count) noexcept nogil:
    """Work out where each step goes on, from the depths between them. Returns 0, or -1 without memory."""
    cdef uint32_t *smaller          # of each gap the next of less depth; the last step has none behind it
    cdef uint32_t *other            # of each gap the next of less and less depth that is of the other connective
    cdef uint64_t at = count - 1
    cdef uint32_t last = <uint32_t> (count - 1)
    cdef uint32_t next, depth
    draft.work.count = 0
    if items_room(&draft.work, 2 * count, 4) < 0:
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
        steps[at].link = depth << JUMP_BITS | (next + 1 - <uint32_t> at if next < last else 0)
    return 0


cdef uint32_t draft_unit(Draft *draft, const Step *steps, uint64_t count) noexcept nogil:
    """Give the number of the unit that some steps are, of which only the depths count; NONE without memory."""
    cdef uint32_t hash
    cdef uint64_t slot, number
    cdef Step *code
    cdef DraftUnit *units
    cdef int fresh
    if items_room(&draft.code, count, sizeof(Step)) < 0 or draft.code.count + count >= NONE:
        return NONE
    if items_room(&draft.units, 1, sizeof(DraftUnit)) < 0:
        return NONE
    code = <Step *> draft.code.items + draft.code.count
    memcpy(code, steps, count * sizeof(Step))
    if steps_link(draft, code, count) < 0:
        return NONE
    hash = text_hash(<const uint8_t *> code, count * sizeof(Step), 0)
    units = <DraftUnit *> draft.units.items
    fresh = table_room(&draft.unit_table, draft.units.count + 1)
    if fresh < 0:
        return NONE
    if fresh:
        for number in range(draft.units.count):
            table_put(&draft.unit_table, units[number].hash, <uint32_t> number)
    slot = hash & (draft.unit_table.size - 1)
    while draft.unit_table.numbers[slot]:
        number = draft.unit_table.numbers[slot] - 1
        if units[number].hash == hash and units[number].steps == count and memcmp(
            <Step *> draft.code.items + units[number].code, code, count * sizeof(Step)
        ) == 0:
            return <uint32_t> number
        slot = (slot + 1) & (draft.unit_table.size - 1)
    number = draft.units.count
    units[number].code = <uint32_t> draft.code.count
    units[number].steps = <uint32_t> count
    units[number].hash = hash
    units[number].link = 0
    draft.code.count += count
    draft.units.count += 1
    draft.unit_table.numbers[slot] = <uint32_t> number + 1
    return <uint32_t> number


cdef int draft_place(Draft *draft, uint32_t unit, uint32_t place) noexcept nogil:
    """Say that a unit makes a place true. Returns 0, or -1 without memory."""
    cdef DraftUnit *found = <DraftUnit *> draft.units.items + unit
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
    """Count the places that units have, each once."""
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


cdef void draft_view(Draft *draft, Segment *segment, uint32_t attributes) noexcept nogil:
    """Let a draft be run as it is; nothing but its units, leaves and strings counts."""
    memset(segment, 0, sizeof(Segment))
    segment.attribute_count = attributes
    segment.string_count = <uint32_t> draft.strings.count
    segment.string_mask = <uint32_t> draft.string_table.size - 1
    segment.leaf_count = <uint32_t> draft.leaves.count
    segment.code_count = <uint32_t> draft.code.count
    segment.unit_count = <uint32_t> draft.units.count
    segment.place_limit = draft.place_limit
    segment.text_size = draft.texts.count
    segment.pool_size = draft.pool.count
    segment.strings = <const String *> draft.strings.items
    segment.string_table = draft.string_table.numbers
    segment.texts = <const uint8_t *> draft.texts.items
    segment.pool = <const uint64_t *> draft.pool.items
    segment.leaves = <const uint32_t *> draft.leaves.items
    segment.code = <const Step *> draft.code.items


# ---- merging -----------------------------------------------------------------------------------------------------

# Where the strings and leaves of a segment went in a draft: number + 1, or 0.
cdef struct Moved:
    Draft *draft
    const Segment *segment
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
    """Give the number that a leaf has in the draft; NONE without memory, or if it is damaged."""
    cdef const Segment *segment = moved.segment
    cdef const Leaf *leaf
    cdef Leaf *copy
    cdef uint32_t *numbers
    cdef Step *steps
    cdef uint32_t at, made
    cdef Items own
    if number >= segment.leaf_count or depth > MAX_DEPTH or segment.leaves[number] >= segment.pool_size:
        return NONE
    if moved.leaves[number]:
        return moved.leaves[number] - 1
    leaf = <const Leaf *> (segment.pool + segment.leaves[number])
    if segment.pool_size - segment.leaves[number] < LEAF_WORDS or not leaf_is_sound(
        leaf, segment.pool_size - segment.leaves[number], segment.attribute_count
    ):
        return NONE
    memset(&own, 0, sizeof(Items))
    if grown(&own.items, &own.room, leaf.words, 8) < 0:
        return NONE
    copy = <Leaf *> own.items
    memcpy(copy, leaf, 8 * <uint64_t> leaf.words)
    if leaf.kind == SET:
        copy.attribute[1] = NONE
    made = 0
    if leaf.kind == CODE:
        steps = <Step *> (<uint64_t *> copy + LEAF_WORDS)
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


cdef bint moved_step(Moved *moved, Step *step, uint32_t limit, int depth) noexcept nogil:
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


cdef int draft_absorb(Draft *draft, const Segment *segment, const uint8_t *dead) noexcept nogil:
    """Take in what lives in a segment.

    Args:
        dead: a bit for each place that is not to be taken; or NULL.

    Returns: 0; -1 without memory, or if the segment is damaged.
    """
    cdef Moved moved
    cdef Items steps
    cdef uint32_t unit, count, place, made
    cdef uint64_t at, first, number
    cdef const Unit *given
    cdef const uint32_t *places
    cdef Step *copied
    cdef uint64_t budget = segment.code_count   # no step is in two units, no place twice
    cdef uint64_t copies = <uint64_t> segment.copy_count + segment.unit_count
    cdef int result = -1
    memset(&moved, 0, sizeof(Moved))
    memset(&steps, 0, sizeof(Items))
    moved.draft = draft
    moved.segment = segment
    moved.strings = <uint32_t *> calloc(<size_t> segment.string_count + 1, 4)
    moved.leaves = <uint32_t *> calloc(<size_t> segment.leaf_count + 1, 4)
    if moved.strings != NULL and moved.leaves != NULL:
        result = 0
        for unit in range(segment.unit_count):
            given = &segment.units[unit]
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
                if place >= segment.place_limit or (dead != NULL and dead[place >> 3] >> (place & 7) & 1):
                    continue
                if made == NONE:
                    first = at = given.code
                    while at < segment.code_count and segment.code[at].test >> TEST_BITS != LAST:
                        at += 1
                    steps.count = 0
                    if at >= segment.code_count or at - first >= budget or (
                        items_room(&steps, at - first + 1, sizeof(Step)) < 0
                    ):
                        result = -1
                        break
                    budget -= at - first + 1
                    copied = <Step *> steps.items
                    memcpy(copied, segment.code + first, (at - first + 1) * sizeof(Step))
                    for at in range(at - first + 1):
                        if not moved_step(&moved, &copied[at], NONE, 0):
                            result = -1
                    if result < 0:
                        break
                    made = draft_unit(draft, copied, at + 1)
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
