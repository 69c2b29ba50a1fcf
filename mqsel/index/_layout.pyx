# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""From a draft to a segment: where everything lies.

What is written has no pointers and one order, so it can be mapped from a file: see _parts.pxd.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.math cimport INFINITY
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy, memset

from mqsel.index._draft cimport Draft, DraftUnit, Link, draft_view
from mqsel.index._lists cimport Layout, Stretch, Target, layout_free, layout_postings, layout_units
from mqsel.index._parts cimport *
from mqsel.index._ways cimport BY_AFFIX, BY_POINT, BY_PRESENCE


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
    header.counts[ATTRIBUTES] = it.plan.attributes
    header.counts[STRINGS] = draft.strings.count
    header.counts[STRING_TABLE] = power_above(draft.strings.count)
    header.counts[TEXTS] = draft.texts.count + 8
    header.counts[POOL] = draft.pool.count
    header.counts[LEAVES] = draft.leaves.count
    header.counts[STEPS] = it.plan.code.count
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
    for at in range(it.plan.attributes):
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
        row = &it.plan.rows[stretches[first].attribute]
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
            it.plan.rows[target.attribute].lists[target.lane] = list
    slot = 0
    for at in range(it.plan.attributes):
        if it.presence[at * PRESENCES + ANY_NULL]:
            nulls[slot] = <uint32_t> at
            slot += 1
        if it.plan.rows[at].flags & HAS_TEXT_POINTS:
            it.plan.rows[at].flags |= HAS_TEXTS
    if it.plan.attributes:
        memcpy(data + header.starts[ATTRIBUTES], it.plan.rows, it.plan.attributes * sizeof(Attribute))


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
        memcpy(code + steps, <Step *> it.plan.code.items + it.starts[at], given[at].steps * sizeof(Step))
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
    it.plan.attributes = attributes
    draft_view(draft, &it.plan.view, attributes)
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
