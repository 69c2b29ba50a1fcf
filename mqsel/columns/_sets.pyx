# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Sets of typed values in C, made from those of the normal form, and whether one text is in them.

Texts are UTF-8 here, as they lie in a column: a byte string equals, begins, ends and contains as its code points do.
Only `_` in a pattern counts code points. Knows no column and no formula.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from mqsel.language.pattern import shape as _shape_of

cdef extern from "_loops.h" nogil:
    uint64_t word_at(const uint8_t *data)
    uint64_t second_word(int32_t size, uint64_t tail)
    int codes_fit(CodeTable *table, int count)
    enum:
        SHORT_VIEW

cdef enum:
    PATIENCE = 4096          # what a search may cost beyond eight comparisons for each byte of a text

cdef dict _SHAPES = {"prefix": PREFIX, "suffix": SUFFIX, "contains": CONTAINS, "pattern": PATTERN}


cdef class Arena:
    def __cinit__(self):
        self.pieces = []

    cdef void *take(self, Py_ssize_t count, size_t size) except NULL:
        """Return zeroed memory for *count* items; never NULL."""
        cdef bytes piece = PyBytes_FromStringAndSize(NULL, max(count, 1) * <Py_ssize_t> size)
        memset(PyBytes_AS_STRING(piece), 0, max(count, 1) * size)
        self.pieces.append(piece)
        return PyBytes_AS_STRING(piece)


cdef int needle_read(Arena arena, bytes data, Needle *needle) except -1:
    cdef uint8_t whole[8]
    cdef uint8_t view[16]
    cdef uint8_t kept[16]
    cdef int64_t size = len(data)
    cdef int32_t length = <int32_t> size
    cdef int64_t inside = size if size <= SHORT_VIEW else 4
    cdef int half
    arena.pieces.append(data)
    needle.data = <const uint8_t *> PyBytes_AS_STRING(data)
    needle.size = size
    memset(whole, 0, 8)
    memcpy(whole, needle.data, min(size, 8))
    needle.key = word_at(whole)
    memset(whole, 0, 8)
    memset(whole, 0xFF, min(size, 8))
    needle.kept = word_at(whole)
    memset(whole, 0, 8)
    memcpy(whole + 8 - min(size, 8), needle.data + size - min(size, 8), min(size, 8))
    needle.tail = word_at(whole)
    memset(whole, 0, 8)
    memset(whole + 8 - min(size, 8), 0xFF, min(size, 8))
    needle.tail_kept = word_at(whole)
    memset(view, 0, 16)
    memset(kept, 0, 16)
    memcpy(view + 4, needle.data, inside)
    memset(kept + 4, 0xFF, inside)
    for half in range(2):
        needle.begin[half] = word_at(view + 8 * half)
        needle.begin_kept[half] = word_at(kept + 8 * half)
    memcpy(view, &length, 4)
    memset(kept, 0xFF, 4)
    for half in range(2):
        needle.view[half] = word_at(view + 8 * half)
        needle.view_kept[half] = word_at(kept + 8 * half)
    return 0


cdef bytes encoded(object text):
    # A lone surrogate stands in no UTF-8, so nothing equals it.
    return text if isinstance(text, bytes) else (<str> text).encode("utf-8", "surrogatepass")


cdef int pattern_read(Arena arena, tuple segments, LikePattern *pattern) except -1:
    cdef PatternSegment *segment
    cdef Atom *atom
    shape, text = _shape_of(segments)
    if shape == "exact":  # a point, as a pattern of one segment
        shape = "pattern"
    if shape == "prefix" and not text:
        text = ""
    pattern.shape = _SHAPES[shape]
    if pattern.shape != PATTERN:
        return needle_read(arena, encoded(text), &pattern.needle)
    pattern.count = len(segments)
    pattern.segments = <PatternSegment *> arena.take(pattern.count, sizeof(PatternSegment))
    for number, characters in enumerate(segments):
        segment = &pattern.segments[<int> number]
        segment.points = len(characters)
        if 0 < number < pattern.count - 1:
            first = 0
            while first < len(characters) and characters[first] is None:
                first += 1
            end = len(characters)
            while end > first and characters[end - 1] is None:
                end -= 1
            segment.lead = first
            segment.trail = len(characters) - end
            characters = characters[first:end]
        segment.atoms = <Atom *> arena.take(len(characters), sizeof(Atom))
        at, count = 0, len(characters)
        while at < count:
            atom = &segment.atoms[segment.count]
            segment.count += 1
            end = at
            while end < count and (characters[end] is None) == (characters[at] is None):
                end += 1
            if characters[at] is None:
                atom.points = end - at
            else:
                data = encoded("".join(characters[at:end]))
                arena.pieces.append(data)
                atom.data = <const uint8_t *> PyBytes_AS_STRING(data)
                atom.size = len(data)
            at = end
    return 0


cdef int texts_read(Arena arena, object given, TextSet *texts) except -1:
    cdef uint32_t slot, size
    cdef Needle *needle
    points = sorted(map(encoded, given.points))
    texts.negated = given.negated
    texts.count = len(points)
    texts.points = <Needle *> arena.take(texts.count, sizeof(Needle))
    for number, data in enumerate(points):
        needle_read(arena, data, &texts.points[<int> number])
        texts.long_points |= len(data) > 8
        texts.huge_points |= len(data) > 16
    texts.pattern_count = len(given.patterns)
    texts.patterns = <LikePattern *> arena.take(texts.pattern_count, sizeof(LikePattern))
    for number, segments in enumerate(given.patterns):
        pattern_read(arena, segments, &texts.patterns[<int> number])
    if texts.count > LINEAR_POINTS:
        size = 1
        while size < <uint32_t> (2 * texts.count):
            size *= 2
        texts.mask = size - 1
        texts.table = <uint32_t *> arena.take(size, sizeof(uint32_t))
        for number in range(texts.count):
            needle = &texts.points[<int> number]
            slot = text_hash(needle.key, needle.data, needle.size) & texts.mask
            while texts.table[slot]:
                slot = (slot + 1) & texts.mask
            texts.table[slot] = <uint32_t> number + 1
    return 0


cdef Vocabulary *vocabulary_read(Arena arena, list points) except? NULL:
    """Number the points, of which a view holds each as a whole. Returns NULL where no table separates them."""
    cdef Vocabulary *vocabulary = <Vocabulary *> arena.take(1, sizeof(Vocabulary))
    cdef Needle needle
    cdef int code
    for number, point in enumerate(points, start=1):
        code = number
        needle_read(arena, encoded(point), &needle)
        vocabulary.has_tails |= needle.size > 8
        vocabulary.keys.texts[code][0] = needle.key
        vocabulary.keys.texts[code][1] = second_word(<int32_t> needle.size, needle.tail)
        vocabulary.views.texts[code][0] = needle.view[0]
        vocabulary.views.texts[code][1] = needle.view[1]
    if codes_fit(&vocabulary.keys, len(points)) and codes_fit(&vocabulary.views, len(points)):
        return vocabulary
    return NULL


cdef int floats_read(Arena arena, object given, FloatSet *floats) except -1:
    floats.nan = given.nan
    floats.count = len(given.intervals)
    floats.items = <Stretch *> arena.take(floats.count, sizeof(Stretch))
    for number, (low, high) in enumerate(given.intervals):
        floats.items[<int> number].low = low
        floats.items[<int> number].high = high
    return 0


cdef int values_read(Arena arena, object given, ValueSet *values) except -1:
    """Build a set of *given*, a `mqsel.logic.sets.Values`."""
    values.null = given.null
    values.booleans[0], values.booleans[1] = given.booleans
    values.integer_count = len(given.integers)
    values.integers = <Interval *> arena.take(values.integer_count, sizeof(Interval))
    for number, (low, high) in enumerate(given.integers):
        values.integers[<int> number].low = low
        values.integers[<int> number].high = high
    floats_read(arena, given.floats32, &values.floats32)
    floats_read(arena, given.floats64, &values.floats64)
    texts_read(arena, given.strings, &values.strings)
    texts_read(arena, given.bytes, &values.bytes)
    values.poison = given.poison
    values.error = given.error
    return 0


# ---- one text ----------------------------------------------------------------------------------------------------

cdef inline uint32_t text_hash(uint64_t key, const uint8_t *data, int64_t size) noexcept nogil:
    """Hash the length, the first eight bytes and the last eight: texts that differ elsewhere alone are compared."""
    cdef uint64_t factor = 0x9E3779B97F4A7C15     # 2**64 divided by the golden ratio
    cdef uint64_t mixed = (key ^ <uint64_t> size) * factor
    if size > 8:
        mixed = (mixed ^ mixed >> 29 ^ word_at(data + size - 8)) * factor
    return <uint32_t> (mixed >> 32)


cdef int point_find(TextSet *texts, const uint8_t *data, int64_t size, uint64_t key) noexcept nogil:
    """Return the number of the point that a text is, or -1; of sets with a table."""
    cdef uint32_t slot = text_hash(key, data, size) & texts.mask
    cdef Needle *needle
    while texts.table[slot]:
        needle = &texts.points[texts.table[slot] - 1]
        if needle.key == key and needle.size == size and (size <= 8 or memcmp(needle.data, data, size) == 0):
            return <int> texts.table[slot] - 1
        slot = (slot + 1) & texts.mask
    return -1


cdef inline const uint8_t *found(
    const uint8_t *at, const uint8_t *stop, Atom *atom, int64_t *patience
) noexcept nogil:
    """Find the bytes of an atom from *at* on; NULL, too, without any patience left."""
    cdef uint8_t first = atom.data[0]
    cdef uint8_t last = atom.data[atom.size - 1]
    stop -= atom.size
    while at <= stop:
        if at[0] == first:
            if at[atom.size - 1] == last and (atom.size <= 2 or memcmp(at, atom.data, atom.size) == 0):
                return at
            patience[0] -= 1 + atom.size // 16
            if patience[0] <= 0:
                return NULL
        at += 1
    return NULL


cdef inline const uint8_t *point_passed(const uint8_t *at, const uint8_t *stop) noexcept nogil:
    at += 1
    while at < stop and at[0] & 0xC0 == 0x80:
        at += 1
    return at


cdef inline const uint8_t *points_passed(const uint8_t *at, const uint8_t *stop, int64_t points) noexcept nogil:
    """Pass code points; NULL where there are fewer."""
    cdef int64_t _point
    for _point in range(points):
        if at >= stop:
            return NULL
        at = point_passed(at, stop)
    return at


cdef inline const uint8_t *segment_matches(
    PatternSegment *segment, const uint8_t *at, const uint8_t *stop, int64_t *patience
) noexcept nogil:
    """Match a segment from *at* on. Returns where it ends, or NULL; only what fails takes patience."""
    cdef int number
    cdef Atom *atom
    cdef const uint8_t *start = at
    for number in range(segment.count):
        atom = &segment.atoms[number]
        if atom.size:
            if stop - at < atom.size or memcmp(at, atom.data, atom.size) != 0:
                patience[0] -= 1 + number + (at - start) + atom.size // 16
                return NULL
            at += atom.size
        else:
            at = points_passed(at, stop, atom.points)
            if at == NULL:
                patience[0] -= 1 + number + (stop - start)
                return NULL
    return at


cdef const uint8_t *segment_found(
    PatternSegment *segment, const uint8_t *at, const uint8_t *stop, int64_t *patience
) noexcept nogil:
    """Find a segment between two others. Returns where it ends, or NULL."""
    cdef const uint8_t *end = at
    cdef int64_t left = patience[0]  # in a register
    at = points_passed(at, stop, segment.lead)
    if at == NULL or segment.count == 0:
        return at
    while left > 0:
        at = found(at, stop, &segment.atoms[0], &left)
        if at == NULL:
            break
        end = segment_matches(segment, at, stop, &left)
        if end != NULL:
            patience[0] = left
            return points_passed(end, stop, segment.trail)
        at += 1
    patience[0] = left
    return NULL


cdef int pattern_matches(LikePattern *pattern, const uint8_t *data, int64_t size) noexcept nogil:
    """Return whether a text in UTF-8 matches. Every segment but the last is taken where it first fits.

    What agrees with a pattern almost everywhere is TOO_LONG for this simple search: the machine has one for that.
    """
    cdef const uint8_t *at = data
    cdef const uint8_t *stop = data + size
    cdef const uint8_t *start
    cdef PatternSegment *segment = pattern.segments
    cdef PatternSegment *last
    cdef Atom atom
    cdef int number
    cdef int64_t _point
    cdef int64_t patience = PATIENCE + 8 * size
    cdef Needle *needle = &pattern.needle
    if pattern.shape == PREFIX:
        return size >= needle.size and memcmp(data, needle.data, needle.size) == 0
    if pattern.shape == SUFFIX:
        return size >= needle.size and memcmp(stop - needle.size, needle.data, needle.size) == 0
    if pattern.shape == CONTAINS:
        atom.data = needle.data
        atom.size = needle.size
        at = found(at, stop, &atom, &patience)
        return TOO_LONG if patience <= 0 else at != NULL
    at = segment_matches(segment, at, stop, &patience)
    if pattern.count == 1 or at == NULL:
        return at == stop
    last = &pattern.segments[pattern.count - 1]
    start = stop
    for _point in range(last.points):
        if start <= at:
            return False
        start -= 1
        while start > at and start[0] & 0xC0 == 0x80:
            start -= 1
    if segment_matches(last, start, stop, &patience) != stop:
        return False
    for number in range(1, pattern.count - 1):
        at = segment_found(&pattern.segments[number], at, start, &patience)
        if at == NULL:
            return TOO_LONG if patience <= 0 else 0
    return True
