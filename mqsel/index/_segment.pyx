# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Segments: finding their arrays in a buffer, which may be damaged; tombstones; figures.

A segment is never written, since it may lie in a mapped file: what is removed from it gets a tombstone beside it. What
is checked when a buffer is opened takes no time that grows with it: where the arrays lie. What they hold is checked
where it is used. Knows no key and no message.
"""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from mqsel.errors import ProgramError

SHOWN = 5   # selectors of a posting list that are named

cdef uint32_t VERSION = 6
cdef uint64_t[6] ALL_NUMBERS = [
    0x8000000000000000, 0x7FFFFFFFFFFFFFFF, 0xFFF0000000000000, 0x7FF0000000000000, 0xFFF0000000000000,
    0x7FF0000000000000,
]
cdef size_t[17] SIZES = [
    sizeof(Attribute), 4, 4, 1, 8, 4, 8, sizeof(Clause), 4, sizeof(Posting), sizeof(PointEntry), sizeof(AffixEntry),
    8, 4, 8, 4, 1,
]


cdef int grown(void **items, uint64_t *capacity, uint64_t wanted, size_t size) noexcept nogil:
    """Reserve room for *wanted* items. Returns 0, or -1 without memory."""
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


cdef uint32_t header_check(const SegmentHeader *header) noexcept nogil:
    return text_hash(<const uint8_t *> header, sizeof(SegmentHeader) - 4, 0)


cdef str segment_attach(SegmentArrays *segment, const uint8_t *data, uint64_t size):
    """Find the arrays of a segment in a buffer that is 8 bytes aligned.

    Returns: why they are not there; None if they are.
    """
    cdef const SegmentHeader *header = <const SegmentHeader *> data
    cdef int section
    cdef uint64_t start, count
    cdef const void *items[17]
    if size < sizeof(SegmentHeader):
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
    count = header.counts[AFFIXES]
    if count & (count - 1) or count == 0:
        return "the size of a table is no power of two"
    if (<uint64_t> header.place_limit + 7) // 8 > header.counts[PLACES] or (
        header.counts[ENDS] % 2 or header.counts[POINTS] == 0 or header.counts[POINT_BUCKETS] < 2
    ):
        return "two arrays do not fit together"
    memset(segment, 0, sizeof(SegmentArrays))
    segment.attribute_count = <uint32_t> header.counts[ATTRIBUTES]
    segment.string_count = <uint32_t> header.counts[STRINGS]
    segment.string_slots = <uint32_t> header.counts[STRING_TABLE]
    while header.counts[STRINGS] >> segment.string_bits:
        segment.string_bits += 1
    segment.leaf_count = <uint32_t> header.counts[LEAVES]
    segment.code_count = <uint32_t> header.counts[STEPS]
    segment.clause_count = <uint32_t> header.counts[CLAUSES]
    segment.copy_count = <uint32_t> header.counts[COPIES]
    segment.posting_count = <uint32_t> header.counts[POSTINGS]
    segment.point_count = <uint32_t> header.counts[POINTS] - 1
    segment.bucket_count = <uint32_t> header.counts[POINT_BUCKETS] - 1
    segment.affix_mask = <uint32_t> header.counts[AFFIXES] - 1
    segment.interval_count = <uint32_t> header.counts[ENDS] // 2
    segment.maximum_count = <uint32_t> header.counts[MAXIMA]
    segment.null_count = <uint32_t> header.counts[NULLS]
    segment.place_limit = header.place_limit
    segment.text_size = header.counts[TEXTS]
    segment.pool_size = header.counts[POOL]
    segment.selectors = header.selectors
    segment.always = header.always
    segment.attributes = <const Attribute *> items[ATTRIBUTES]
    segment.strings = <const uint32_t *> items[STRINGS]
    segment.string_table = <const uint32_t *> items[STRING_TABLE]
    segment.texts = <const uint8_t *> items[TEXTS]
    segment.pool = <const uint64_t *> items[POOL]
    segment.leaves = <const uint32_t *> items[LEAVES]
    segment.code = <const uint64_t *> items[STEPS]
    segment.clauses = <const Clause *> items[CLAUSES]
    segment.copies = <const uint32_t *> items[COPIES]
    segment.postings = <const Posting *> items[POSTINGS]
    segment.points = <const PointEntry *> items[POINTS]
    segment.affixes = <const AffixEntry *> items[AFFIXES]
    segment.buckets = <const uint32_t *> items[POINT_BUCKETS]
    segment.lows = <const double *> items[ENDS]
    segment.highs = segment.lows + segment.interval_count
    segment.maxima = <const double *> items[MAXIMA]
    segment.nulls = <const uint32_t *> items[NULLS]
    segment.places = <const uint8_t *> items[PLACES]
    return None


cdef bint actions_are_sound(
    const ArithmeticStep *actions, uint32_t count, uint32_t depth, uint32_t attributes
) noexcept nogil:
    """Report whether arithmetic stays within its stack and its attributes, and leaves one number."""
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


cdef bint leaf_is_sound(const PooledLeaf *leaf, uint64_t room, uint32_t attributes) noexcept nogil:
    """Report whether a leaf is whole, in *room* words, and reads no attribute from *attributes* on."""
    cdef uint64_t words = LEAF_WORDS
    cdef const ArithmeticStep *actions = <const ArithmeticStep *> (<const uint64_t *> leaf + LEAF_WORDS)
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
    if leaf.kind == SET and leaf.actions[1]:
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


REMEDY = "build the set again from its selectors"


cdef object damaged(str why):
    return ProgramError(f"these bytes are not a set of selectors that can be searched: {why}", hint=REMEDY)


@cython.final
@cython.no_gc_clear  # the buffer is released last
cdef class StoredSegment:
    """A segment in a buffer.

    Args:
        data: its bytes; where they are not aligned they are copied.
        is_foreign: whether they may be damaged.
        attributes: how many names there are.

    Raises: ProgramError: it is no segment.
    """

    def __cinit__(self, data, bint is_foreign, uint32_t attributes):
        cdef str why
        self.hold(data)
        if <size_t> self.view.buf % 8:
            self.hold(bytes(data))
        why = segment_attach(&self.arrays, <const uint8_t *> self.view.buf, self.view.len)
        if why is None and self.arrays.attribute_count > attributes:
            why = "there are too few names"
        if why is not None:
            raise damaged(why)
        self.is_foreign = is_foreign
        if is_foreign:
            self.arrays.looked = <uint8_t *> zeroed(self.arrays.leaf_count)

    def __dealloc__(self):
        free(self.tombstones)
        free(self.arrays.looked)
        if self.has_view:
            PyBuffer_Release(&self.view)

    cdef int hold(self, data) except -1:
        """Have the buffer of some bytes in place of any before."""
        if self.has_view:
            PyBuffer_Release(&self.view)
            self.has_view = False
        PyObject_GetBuffer(data, &self.view, PyBUF_SIMPLE)
        self.has_view = True
        return 0

    cdef int reserve(self) except -1:
        """Have room for what `mark_removed` writes."""
        if self.tombstones == NULL:
            self.tombstones = <uint8_t *> zeroed((<uint64_t> self.arrays.place_limit + 7) // 8)
        return 0

    cdef void mark_removed(self, uint32_t place) noexcept:
        """Write a tombstone. There is room for it: see `reserve`."""
        self.tombstones[place >> 3] |= <uint8_t> (1 << (place & 7))
        self.removed += 1

    cdef uint64_t living(self) noexcept:
        """Return how many selectors were not removed."""
        return self.arrays.selectors - min(self.arrays.selectors, self.removed)

    cdef bytes tombstones_copied(self):
        """Return the tombstones of now; None while there are none."""
        if self.tombstones == NULL:
            return None
        return PyBytes_FromStringAndSize(<char *> self.tombstones, (<uint64_t> self.arrays.place_limit + 7) // 8)


cdef void *zeroed(uint64_t size) except NULL:
    cdef void *memory = calloc(size + 8, 1)
    if memory == NULL:
        raise MemoryError
    return memory


# ---- figures -----------------------------------------------------------------------------------------------------

_SECTIONS = (
    "attributes", "strings", "string table", "texts", "pool", "leaves", "steps", "units", "copies", "postings",
    "points", "affixes", "ends", "buckets", "maxima", "nulls", "places",
)
_PRESENCES = ("null", "presence", "presence", "presence", "presence", "presence", "presence")
_KINDS = ("IS NULL", "any value", "any boolean", "any number", "NaN", "any string", "any byte string")
_AFFIXES = {1: "prefix", 2: "suffix", 3: "contains"}


cdef str string_shown(const SegmentArrays *segment, uint64_t number):
    """Return a string of a segment, as a person reads it."""
    cdef const uint8_t *start
    cdef uint64_t size
    cdef bytes data
    cdef int kind
    if number >= segment.string_count or not string_at(segment, <uint32_t> number, &start, &size, &kind):
        return "?"
    data = PyBytes_FromStringAndSize(<char *> start, size)
    if kind == 0:
        return f'"0x{data.hex()}"'
    text = data.decode({1: "latin-1", 2: "utf-16-le", 4: "utf-32-le"}.get(kind, "latin-1"), "replace")
    return f"'{text}'"


cdef list posting_lists(StoredSegment stored, list names):
    """List the lists of postings: how many, how they are reached, what for, and where they begin."""
    cdef const SegmentArrays *segment = &stored.arrays
    cdef const PointEntry *point
    cdef uint32_t at, attribute
    cdef int lane
    cdef int64_t number
    found = []
    for at in range(segment.point_count):
        point = &segment.points[at]
        attribute = point.key >> (POINT_LANE_BITS + POINT_VALUE_BITS)
        lane = point.key >> POINT_VALUE_BITS & ((1 << POINT_LANE_BITS) - 1)
        if attribute >= segment.attribute_count or point[1].start <= point.start:
            continue
        if lane == LANE_TEXT:
            value = string_shown(segment, point.value)
        elif lane == LANE_TRUTH:
            value = "TRUE" if point.value else "FALSE"
        else:
            number = <int64_t> (<uint64_t> point.key << 50 | <uint64_t> point.value << 18) >> 18
            value = f"{<double> number:g}"
        found.append((point[1].start - point.start, "point", f"{names[attribute]} = {value}", point.start))
    for at in range(segment.affix_mask + 1):
        if segment.affixes[at].key and segment.affixes[at].list.count:
            way = _AFFIXES.get(segment.affixes[at].key >> 9 & 3, "contains")
            what = "LIKE '%…%'" if way == "contains" else f"LIKE, by a {way}"
            found.append((segment.affixes[at].list.count, way, what, segment.affixes[at].list.start))
    for attribute in range(segment.attribute_count):
        if segment.attributes[attribute].intervals.count:
            found.append((
                segment.attributes[attribute].intervals.count, "interval", f"{names[attribute]} in an interval",
                segment.attributes[attribute].interval_postings,
            ))
        for lane in range(PRESENCES):
            if segment.attributes[attribute].lists[lane].count:
                found.append((
                    segment.attributes[attribute].lists[lane].count, _PRESENCES[lane],
                    f"{names[attribute]}: {_KINDS[lane]}", segment.attributes[attribute].lists[lane].start,
                ))
    if segment.always.count:
        found.append((segment.always.count, "always", "always", segment.always.start))
    return found


cdef list places_reached(StoredSegment stored, uint64_t start, uint64_t count, Py_ssize_t most):
    """List some places of selectors that a list of postings leads to."""
    cdef const SegmentArrays *segment = &stored.arrays
    cdef const Clause *clause
    cdef uint64_t at
    cdef uint32_t place
    cdef list found = []
    for at in range(start, min(start + count, segment.posting_count)):
        if segment.postings[at].clause & CLAUSE_MASK >= segment.clause_count:
            continue
        clause = &segment.clauses[segment.postings[at].clause & CLAUSE_MASK]
        place = clause.place
        if clause.code & MANY_PLACES:
            if <uint64_t> place + 1 >= segment.copy_count:
                continue
            place = segment.copies[place + 1]
        if place < segment.place_limit and is_living(stored, place) and place not in found:
            found.append(place)
            if len(found) == most:
                break
    return found


cdef dict segments_stats(list segments, list names):
    """Return the figures of some segments: clauses, shared clauses, postings, bytes by part, ways, the longest lists.

    Of these what they are for, how many postings they have, and some places of selectors they lead to.
    """
    cdef StoredSegment stored
    cdef const SegmentHeader *header
    cdef uint32_t at
    clauses = shared = postings = 0
    sizes = dict.fromkeys(_SECTIONS, 0)
    ways = dict.fromkeys(("point", "interval", "prefix", "suffix", "contains", "presence", "null", "always"), 0)
    lists = {}
    for one in segments:
        stored = one
        header = <const SegmentHeader *> stored.view.buf
        clauses += stored.arrays.clause_count
        postings += stored.arrays.posting_count
        for at in range(stored.arrays.clause_count):
            shared += stored.arrays.clauses[at].code >> 31
        for number, name in enumerate(_SECTIONS):
            sizes[name] += header.counts[<int> number] * SIZES[<int> number]
        for count, way, what, start in posting_lists(stored, names):
            ways[way] += count
            known = lists.setdefault(what, [0, []])
            known[0] += count
            if len(known[1]) < SHOWN:
                known[1] += places_reached(stored, start, count, SHOWN - len(known[1]))
    longest = [(what, count, places) for what, (count, places) in lists.items()]
    longest.sort(key=lambda one: (-one[1], one[0]))
    return {
        "units": clauses, "shared": shared, "postings": postings, "bytes": {**sizes, "all": sum(sizes.values())},
        "reached": ways, "longest": longest[:10],
    }
