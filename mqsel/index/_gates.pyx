# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""How a unit is reached, and in which order its steps run, by what messages are expected to hold.

A unit is reached by a gate: leaves one of which is true wherever the unit is. Of a leaf that is itself, of an OR what
its parts have, of an AND what the part has that messages are expected to reach least often. What is expected is taken
from the constants. Knows no message, and no list.
"""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, qsort
from libc.string cimport memset

from mqsel.index._draft cimport items_room
from mqsel.index._parts cimport *
from mqsel.index._ways cimport BY_AFFIX, BY_INTERVAL, BY_NOTHING, BY_POINT, Access, needed, ways_find


cdef struct Order:
    double weight
    uint32_t node


cdef void plan_free(Plan *it) noexcept nogil:
    free(it.known)
    free(it.rows)
    free(it.said)
    free(it.ways.items)
    free(it.nodes.items)
    free(it.stack.items)
    free(it.gates.items)
    free(it.code.items)
    free(it.order.items)
    free(it.chances.items)


# ---- what is expected --------------------------------------------------------------------------------------------

cdef Said *said_find(Plan *it, uint32_t key, uint64_t value) noexcept nogil:
    cdef uint64_t slot = point_hash(key, value) & (it.said_size - 1)
    while it.said[slot].key and (it.said[slot].key != key or it.said[slot].value != value):
        slot = (slot + 1) & (it.said_size - 1)
    return &it.said[slot]


cdef int said_grow(Plan *it) noexcept nogil:
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


cdef int learn(Plan *it, const Step *step) noexcept nogil:
    """Note what a leaf says of its attribute."""
    cdef bint exact = True
    cdef uint64_t at
    cdef const Access *access
    cdef Known *known
    cdef Said *said
    cdef uint32_t key
    if ways_find(&it.view, &it.ways, step, &exact) < 0:
        return -1
    for at in range(it.ways.count):
        access = <const Access *> it.ways.items + at
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


cdef double access_chance(Plan *it, const Access *access) noexcept nogil:
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


cdef int unit_chances(Plan *it, const Step *steps, uint32_t count) noexcept nogil:
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
        if ways_find(&it.view, &it.ways, &steps[at], &exact) < 0:
            return -1
        chance = 0
        for number in range(it.ways.count):
            chance += access_chance(it, <const Access *> it.ways.items + number)
        chances[at] = chance
    return 0


cdef double second_chance(Plan *it, const Step *step, Posting *posting) noexcept nogil:
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

cdef uint32_t node_add(Plan *it) noexcept nogil:
    """Add a node, of which there is room."""
    memset(<Node *> it.nodes.items + it.nodes.count, 0, sizeof(Node))
    it.nodes.count += 1
    return <uint32_t> it.nodes.count - 1


cdef void node_join(Plan *it, uint32_t group, uint32_t node) noexcept nogil:
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


cdef void node_done(Plan *it, uint32_t group) noexcept nogil:
    cdef Node *node = <Node *> it.nodes.items + group
    if not node.is_all:
        node.chance = 1 - node.chance


cdef double step_cost(Plan *it, const Step *step) noexcept nogil:
    """Guess how long a test takes, where 1 is a comparison."""
    cdef const Leaf *leaf
    if step.test & TEST_MASK != LEAF:
        return 1
    leaf = <const Leaf *> (it.view.pool + it.view.leaves[step.it.place])
    if leaf.patterns:
        return 10
    return 4 + 2 * <double> (leaf.actions[0] + leaf.actions[1])


cdef int tree_make(Plan *it, const Step *steps, uint32_t count) noexcept nogil:
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


cdef double gate_find(Plan *it, const Step *steps, uint32_t number, uint32_t *best) noexcept nogil:
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


cdef uint32_t strings_mask(Plan *it, const Step *step) noexcept nogil:
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


cdef int arrange(Plan *it, const Step *steps, uint32_t number, uint32_t first, uint32_t depth) noexcept nogil:
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
