# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""The arrays of an index: growing them, and finding them in a buffer, which may be damaged.

What is checked here when a buffer is opened takes no time that grows with the set: where the arrays lie. What they
hold is checked where it is used. Knows no message.
"""

from libc.stdlib cimport realloc

cdef uint32_t VERSION = 2
cdef size_t[17] SIZES = [
    sizeof(Attribute), sizeof(String), 4, 1, 8, 4, sizeof(Step), sizeof(Unit), 4, sizeof(Posting), sizeof(Point),
    sizeof(Affix), 8, 8, 8, 4, 1,
]


cdef int grown(void **items, uint64_t *capacity, uint64_t wanted, size_t size) noexcept nogil:
    """Make room for *wanted* items. Returns 0, or -1 without memory."""
    cdef void *larger
    cdef uint64_t count = capacity[0] + capacity[0] // 2 + 16
    if wanted <= capacity[0]:
        return 0
    count = max(count, wanted)
    larger = realloc(items[0], count * size)
    if larger == NULL:
        return -1
    items[0] = larger
    capacity[0] = count
    return 0


cdef uint32_t header_check(const Header *header) noexcept nogil:
    return text_hash(<const uint8_t *> header, sizeof(Header) - 4, 0)


cdef str segment_attach(Segment *segment, const uint8_t *data, uint64_t size):
    """Find the arrays of a segment in a buffer that is 8 bytes aligned.

    Returns: why they are not there; None if they are.
    """
    cdef const Header *header = <const Header *> data
    cdef int section
    cdef uint64_t start, count
    cdef const void *items[17]
    if size < sizeof(Header):
        return f"{size} bytes are no segment"
    if memcmp(header.magic, b"mqselset", 8) != 0:
        return "they do not begin with mqselset"
    if header.order != 0x01020304:
        return "they were written by a machine of the other byte order"
    if header.version != VERSION:
        return f"they are of version {header.version}, this mqsel reads {VERSION}"
    if header.check != header_check(header):
        return "the checksum of the header is wrong"
    if header.size != size:
        return f"{size} bytes where the header says {header.size}"
    for section in range(SECTIONS):
        start = header.starts[section]
        count = header.counts[section]
        if start % 8 or start > size or count > 0xFFFFFFFF * <uint64_t> 8 or count > (size - start) // SIZES[section]:
            return "the arrays do not lie within"
        if count >= NONE and section != TEXTS and section != POOL:
            return "an array is too long"
        items[section] = data + start
    for section in (STRING_TABLE, POINTS, AFFIXES):
        count = header.counts[section]
        if count & (count - 1) or count == 0:
            return "the size of a table is no power of two"
    if header.counts[HIGHS] != header.counts[LOWS] or (<uint64_t> header.place_limit + 7) // 8 > header.counts[PLACES]:
        return "two arrays do not fit together"
    segment.attribute_count = <uint32_t> header.counts[ATTRIBUTES]
    segment.string_count = <uint32_t> header.counts[STRINGS]
    segment.string_mask = <uint32_t> header.counts[STRING_TABLE] - 1
    segment.leaf_count = <uint32_t> header.counts[LEAVES]
    segment.code_count = <uint32_t> header.counts[STEPS]
    segment.unit_count = <uint32_t> header.counts[UNITS]
    segment.copy_count = <uint32_t> header.counts[COPIES]
    segment.posting_count = <uint32_t> header.counts[POSTINGS]
    segment.point_mask = <uint32_t> header.counts[POINTS] - 1
    segment.affix_mask = <uint32_t> header.counts[AFFIXES] - 1
    segment.interval_count = <uint32_t> header.counts[LOWS]
    segment.maximum_count = <uint32_t> header.counts[MAXIMA]
    segment.null_count = <uint32_t> header.counts[NULLS]
    segment.place_limit = header.place_limit
    segment.text_size = header.counts[TEXTS]
    segment.pool_size = header.counts[POOL]
    segment.selectors = header.selectors
    segment.always = header.always
    segment.attributes = <const Attribute *> items[ATTRIBUTES]
    segment.strings = <const String *> items[STRINGS]
    segment.string_table = <const uint32_t *> items[STRING_TABLE]
    segment.texts = <const uint8_t *> items[TEXTS]
    segment.pool = <const uint64_t *> items[POOL]
    segment.leaves = <const uint32_t *> items[LEAVES]
    segment.code = <const Step *> items[STEPS]
    segment.units = <const Unit *> items[UNITS]
    segment.copies = <const uint32_t *> items[COPIES]
    segment.postings = <const Posting *> items[POSTINGS]
    segment.points = <const Point *> items[POINTS]
    segment.affixes = <const Affix *> items[AFFIXES]
    segment.lows = <const double *> items[LOWS]
    segment.highs = <const double *> items[HIGHS]
    segment.maxima = <const double *> items[MAXIMA]
    segment.nulls = <const uint32_t *> items[NULLS]
    segment.places = <const uint8_t *> items[PLACES]
    segment.looked = NULL
    return None


cdef bint actions_are_sound(
    const Action *actions, uint32_t count, uint32_t depth, uint32_t attributes
) noexcept nogil:
    """Tell whether arithmetic stays within its stack and its attributes, and leaves one number."""
    cdef uint32_t at
    cdef uint32_t height = 0
    for at in range(count):
        if actions[at].what <= PUSH_DOUBLE:
            height += 1
            if height > depth or (actions[at].what == PUSH_ATTRIBUTE and actions[at].attribute >= attributes):
                return False
        elif actions[at].what == COMPUTE:
            if height < 2:
                return False
            height -= 1
        elif actions[at].what > COMPUTE or height < 1:
            return False
    return height == 1


cdef bint leaf_is_sound(const Leaf *leaf, uint64_t room, uint32_t attributes) noexcept nogil:
    """Tell whether a leaf is whole, in *room* words, and reads no attribute from *attributes* on."""
    cdef uint64_t words = LEAF_WORDS
    cdef const Action *actions = <const Action *> (<const uint64_t *> leaf + LEAF_WORDS)
    cdef const uint32_t *numbers
    cdef uint32_t at, segment, length
    cdef int side
    if room < words or leaf.words > room or leaf.kind > CODE or leaf.depth > MAX_STACK:
        return False
    words += 2 * (<uint64_t> leaf.actions[0] + leaf.actions[1] + leaf.integers + leaf.floats32 + leaf.floats64)
    words += (<uint64_t> leaf.strings + 1) // 2 + (<uint64_t> leaf.bytes + 1) // 2 + (<uint64_t> leaf.patterns + 1) // 2
    if words != leaf.words:
        return False
    if leaf.kind == CODE:
        return leaf.actions[0] > 0 and leaf.words == LEAF_WORDS + 2 * <uint64_t> leaf.actions[0]
    if leaf.kind == SET:
        if leaf.actions[1] or leaf.attribute[1] != NONE and (
            leaf.attribute[0] != NONE or leaf.attribute[1] >= OPERANDS
        ):
            return False
    for side in range(2 if leaf.kind == RELATION else 1):
        if leaf.attribute[side] != NONE:
            if leaf.attribute[side] >= attributes or leaf.actions[side]:
                return False
        elif not actions_are_sound(
            actions + (leaf.actions[0] if side else 0), leaf.actions[side], leaf.depth, attributes
        ):
            return False
    numbers = leaf_patterns(leaf)
    at = 0
    while at < leaf.patterns:
        segment = numbers[at]
        at += 1
        if segment == 0:
            return False
        while segment > 0:
            if at >= leaf.patterns:
                return False
            length = numbers[at]
            at += 1
            if length > leaf.patterns - at:
                return False
            at += length
            segment -= 1
    return True
