# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""All units of a draft, and the lists of postings by which they are reached.

Each leaf of a gate gives postings, one for each way to it: see `Access`. Then units are numbered in the order of the
postings, so that a search runs forward in memory. Knows no message.
"""

from libc.math cimport INFINITY
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort

from mqsel.index._draft cimport DraftUnit, items_room, steps_link
from mqsel.index._gates cimport (
    Gate, Known, Node, Said, arrange, gate_find, learn, plan_free, said_find, said_grow, second_chance, tree_make,
    unit_chances,
)
from mqsel.index._parts cimport *
from mqsel.index._ways cimport BY_AFFIX, BY_INTERVAL, BY_NOTHING, BY_PRESENCE, Access, ways_find


cdef struct Entry:
    uint32_t list
    Posting posting


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
        row = &it.plan.rows[access.attribute]
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
            it.plan.rows[access.attribute].flags |= HAS_LISTS
        list = &it.presence[access.attribute * PRESENCES + access.lane]
    else:
        it.plan.rows[access.attribute].flags |= (
            HAS_TEXT_POINTS if access.lane == LANE_TEXT else HAS_NUMBER_POINTS if access.lane == LANE_NUMBER
            else HAS_TRUTH_POINTS
        )
        said = said_find(&it.plan, access.attribute * 4 + access.lane + 1, access.value)
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
        second_chance(&it.plan, &steps[gate.second], &posting)
    if ways_find(&it.plan.view, &it.plan.ways, &steps[gate.step], exact) < 0:
        return -1
    for at in range(it.plan.ways.count):
        access = <Access *> it.plan.ways.items + at
        if access.way == BY_INTERVAL:
            if items_room(&it.stretches, 1, sizeof(Stretch)) < 0:
                return -1
            stretch = <Stretch *> it.stretches.items + it.stretches.count
            stretch.low = access.low
            stretch.high = access.high
            stretch.attribute = access.attribute
            stretch.posting = posting
            it.plan.rows[access.attribute].flags |= HAS_INTERVALS
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
        if step.kinds != 127 and it.plan.attributes:
            it.plan.rows[step.attribute].flags |= USED | (HAS_TEXTS if test == TEXT or test == OTHER_TEXT else 0)
        return
    if it.used[step.it.place]:
        return
    it.used[step.it.place] = 1
    leaf = <const Leaf *> (it.plan.view.pool + it.plan.view.leaves[step.it.place])
    if leaf.kind == CODE:
        steps = <const Step *> (<const uint64_t *> leaf + LEAF_WORDS)
        for at in range(leaf.actions[0]):
            use_step(it, &steps[at])
        return
    for at in range(2):
        if leaf.attribute[at] != NONE:
            it.plan.rows[leaf.attribute[at]].flags |= USED | (HAS_TEXTS if leaf.strings + leaf.bytes else 0)
    actions = <const Action *> (<const uint64_t *> leaf + LEAF_WORDS)
    for at in range(leaf.actions[0] + leaf.actions[1]):
        if actions[at].what == PUSH_ATTRIBUTE:
            it.plan.rows[actions[at].attribute].flags |= USED


cdef int unit_enter(Layout *it, uint32_t unit) noexcept nogil:
    """Arrange the steps of a unit, and write its postings."""
    cdef const DraftUnit *given = <const DraftUnit *> it.draft.units.items + unit
    cdef const Step *steps = <const Step *> it.draft.code.items + given.code
    cdef uint64_t start = it.plan.code.count
    cdef uint64_t at
    cdef uint32_t best = NONE
    cdef uint32_t proved, child
    cdef int root
    cdef Node *nodes
    cdef bint exact = True
    cdef bint all_exact = True
    if unit_chances(&it.plan, steps, given.steps) < 0:
        return -1
    root = tree_make(&it.plan, steps, given.steps)
    if root < 0:
        return -1
    it.plan.gates.count = 0
    if gate_find(&it.plan, steps, root, &best) < 0:
        return -1
    for at in range(it.plan.gates.count):
        if gate_enter(it, unit, steps, <const Gate *> it.plan.gates.items + at, &exact) < 0:
            return -1
        all_exact = all_exact and exact
    nodes = <Node *> it.plan.nodes.items
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
    it.plan.order.count = 0
    if arrange(&it.plan, steps, root, best if nodes[root].is_all else NONE, 0) < 0:
        return -1
    for at in range(given.steps):
        use_step(it, &steps[at])
    return steps_link(it.draft, <Step *> it.plan.code.items + start, given.steps)


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
    cdef uint32_t *ends = <uint32_t *> calloc(<size_t> it.plan.attributes + 1, 4)
    cdef uint64_t at
    cdef uint32_t attribute, start
    if sorted == NULL or ends == NULL:
        free(sorted)
        free(ends)
        return -1
    for at in range(count):
        ends[given[at].attribute] += 1
    start = 0
    for attribute in range(it.plan.attributes):
        start += ends[attribute]
        ends[attribute] = start - ends[attribute]
    for at in range(count):
        sorted[ends[given[at].attribute]] = given[at]
        ends[given[at].attribute] += 1
    start = 0
    for attribute in range(it.plan.attributes):
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
    plan_free(&it.plan)
    free(it.entries.items)
    free(it.stretches.items)
    free(it.targets.items)
    free(it.presence)
    free(it.affixes.items)
    free(it.affix_table.numbers)
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
    it.plan.known = <Known *> calloc(<size_t> it.plan.attributes + 1, sizeof(Known))
    it.plan.rows = <Attribute *> calloc(<size_t> it.plan.attributes + 1, sizeof(Attribute))
    it.presence = <uint32_t *> calloc((<size_t> it.plan.attributes + 1) * PRESENCES, 4)
    it.proved = <uint32_t *> calloc(count + 1, 4)
    it.used = <uint8_t *> calloc(it.draft.leaves.count + 1, 1)
    it.starts = <uint32_t *> calloc(count + 1, 4)
    it.numbers = <uint32_t *> calloc(count + 1, 4)
    if (
        it.plan.known == NULL or it.plan.rows == NULL or it.presence == NULL or it.proved == NULL or it.used == NULL
        or it.starts == NULL or it.numbers == NULL or said_grow(&it.plan) < 0
    ):
        return -1
    for at in range(it.plan.attributes):
        it.plan.known[at].low = INFINITY
        it.plan.known[at].high = -INFINITY
    for unit in range(count):
        if units[unit].link:
            for at in range(units[unit].steps):
                if learn(&it.plan, &code[units[unit].code + at]) < 0:
                    return -1
    for at in range(it.plan.attributes):
        known = &it.plan.known[at]
        if known.low <= known.high:
            it.plan.rows[at].base = known.low
            it.plan.rows[at].scale = 253 / (known.high - known.low) if known.high > known.low else 1
            if not it.plan.rows[at].scale < INFINITY:
                it.plan.rows[at].scale = 1
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
