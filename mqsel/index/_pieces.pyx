# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Segments in buffers: which of their places count no more, joining them, giving them other places, their figures.

A segment itself is never written, since it may lie in a mapped file. Knows no key and no message.
"""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdlib cimport calloc, free

from mqsel.index._draft cimport draft_absorb, places_count
from mqsel.index._drafter cimport Drafter
from mqsel.index._layout cimport draft_layout
from mqsel.index._parts cimport *

from mqsel.errors import ProgramError

SHOWN = 5   # selectors of a list of postings that are named

REMEDY = "make the set anew from its selectors"


cdef object damaged(str why):
    return ProgramError(f"these bytes are not a set of selectors that can be searched: {why}", hint=REMEDY)


@cython.final
cdef class Piece:
    """A segment in a buffer.

    Args:
        data: its bytes; where they are not aligned they are copied.
        is_foreign: whether they may be damaged.
        attributes: how many names there are.

    Raises: ProgramError: it is no segment.
    """

    def __cinit__(self, data, bint is_foreign, uint32_t attributes):
        cdef str why
        PyObject_GetBuffer(data, &self.view, PyBUF_SIMPLE)
        self.has_view = True
        if <size_t> self.view.buf % 8:
            data = bytes(data)
            PyBuffer_Release(&self.view)
            self.has_view = False
            PyObject_GetBuffer(data, &self.view, PyBUF_SIMPLE)
            self.has_view = True
        why = segment_attach(&self.segment, <const uint8_t *> self.view.buf, self.view.len)
        if why is None and self.segment.attribute_count > attributes:
            why = "there are too few names"
        if why is not None:
            raise damaged(why)
        self.is_foreign = is_foreign
        if is_foreign:
            self.segment.looked = <uint8_t *> zeroed(self.segment.leaf_count)

    def __dealloc__(self):
        free(self.dead)
        free(self.segment.looked)
        if self.has_view:
            PyBuffer_Release(&self.view)

    cdef int reserve(self) except -1:
        """Have room for what `bury` marks."""
        if self.dead == NULL:
            self.dead = <uint8_t *> zeroed((<uint64_t> self.segment.place_limit + 7) // 8)
        return 0

    cdef void bury(self, uint32_t place) noexcept:
        """Let a place count no more. There is room for it: see `reserve`."""
        self.dead[place >> 3] |= <uint8_t> (1 << (place & 7))
        self.dead_count += 1

    cdef uint64_t living(self) noexcept:
        """Tell how many selectors count."""
        return self.segment.selectors - min(self.segment.selectors, self.dead_count)


cdef void *zeroed(uint64_t size) except NULL:
    cdef void *memory = calloc(size + 8, 1)
    if memory == NULL:
        raise MemoryError
    return memory


cdef bytes dead_of(Piece piece):
    """Copy which places of a segment count no more: None while all do."""
    if piece.dead == NULL:
        return None
    return PyBytes_FromStringAndSize(<char *> piece.dead, (<uint64_t> piece.segment.place_limit + 7) // 8)


cdef int bury_since(Piece made, Piece piece, bytes before) except -1:
    """Bury in what was made of a segment the places that died in this since then."""
    cdef const uint8_t *bits = <const uint8_t *> PyBytes_AS_STRING(before) if before is not None else NULL
    cdef uint32_t place
    if piece.dead == NULL:
        return 0
    for place in range(piece.segment.place_limit):
        if has_bit(piece.dead, place) and (bits == NULL or not has_bit(bits, place)) and lives(made, place):
            made.reserve()
            made.bury(place)
    return 0


cdef Piece merged(list pieces, list dead):
    """Make one segment of some; other threads may run meanwhile.

    Args:
        dead: of each what does not count, from `dead_of`.
    """
    cdef Drafter drafter = Drafter([], {})
    cdef Piece piece
    cdef bytes bits
    cdef const uint8_t *gone
    cdef int done
    cdef uint32_t attributes = 0
    for one, bits in zip(pieces, dead):
        piece = one
        attributes = max(attributes, piece.segment.attribute_count)
        gone = <const uint8_t *> PyBytes_AS_STRING(bits) if bits is not None else NULL
        with nogil:
            done = draft_absorb(&drafter.draft, &piece.segment, gone)
        fault()
        if done < 0:
            if piece.is_foreign:
                raise damaged("a part of them names what is not there")
            raise MemoryError
    drafter.draft.selectors = places_count(&drafter.draft)
    return Piece(draft_layout(&drafter.draft, attributes), False, attributes)


cdef Piece renumbered(Piece piece, const uint32_t *places, uint32_t limit):
    """Copy a segment, with other places.

    Args:
        places: the new place of each below *limit*, which is not greater; NONE where there is none any more.
    """
    cdef bytes copy = PyBytes_FromStringAndSize(<char *> piece.view.buf, piece.view.len)
    # Found anew in the copy: what is mapped may have changed since it was looked at.
    cdef Piece made = Piece(copy, piece.is_foreign, piece.segment.attribute_count)
    cdef Header *header = <Header *> PyBytes_AS_STRING(copy)
    cdef Segment *segment = &made.segment
    cdef Unit *units = <Unit *> segment.units
    cdef uint32_t *copies = <uint32_t *> segment.copies
    cdef uint8_t *bits = <uint8_t *> zeroed(header.counts[PLACES])
    cdef uint32_t number, at, count, old, first
    cdef uint32_t *held
    segment.place_limit = 0
    segment.selectors = 0
    try:
        for number in range(segment.unit_count):
            held = &units[number].place
            count = 1
            if units[number].info & MANY_PLACES:
                first = units[number].place
                if first >= segment.copy_count or copies[first] > segment.copy_count - first - 1:
                    raise damaged("a part of them names what is not there")
                count = copies[first]
                held = copies + first + 1
            for at in range(count):
                old = held[at]
                held[at] = NONE
                if old < limit and places[old] <= old and lives(piece, old):
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


# ---- figures -----------------------------------------------------------------------------------------------------

_SECTIONS = (
    "attributes", "strings", "string table", "texts", "pool", "leaves", "steps", "units", "copies", "postings",
    "points", "affixes", "lows", "highs", "maxima", "nulls", "places",
)
_PRESENCES = ("null", "presence", "presence", "presence", "presence", "presence", "presence")
_KINDS = ("IS NULL", "any value", "any boolean", "any number", "NaN", "any string", "any byte string")
_AFFIXES = {1: "prefix", 2: "suffix", 3: "contains"}


cdef str string_shown(const Segment *segment, uint64_t number):
    """Give a string of a segment, as a person reads it."""
    cdef const String *string
    cdef bytes data
    cdef int kind
    if number >= segment.string_count:
        return "?"
    string = &segment.strings[number]
    if (string.start >> 3) + string.size > segment.text_size:
        return "?"
    data = PyBytes_FromStringAndSize(<char *> segment.texts + (string.start >> 3), string.size)
    kind = string.start & 7
    if kind == 0:
        return f'"0x{data.hex()}"'
    text = data.decode({1: "latin-1", 2: "utf-16-le", 4: "utf-32-le"}.get(kind, "latin-1"), "replace")
    return f"'{text}'"


cdef list piece_lists(Piece piece, list names):
    """List the lists of postings: how many, how they are reached, what for, and where they begin."""
    cdef const Segment *segment = &piece.segment
    cdef const Point *point
    cdef uint32_t at, attribute
    cdef int lane
    cdef double number
    found = []
    for at in range(segment.point_mask + 1):
        point = &segment.points[at]
        if point.key == 0 or point.list.count == 0:
            continue
        attribute = (point.key - 1) // 4
        lane = (point.key - 1) % 4
        if attribute >= segment.attribute_count:
            continue
        if lane == LANE_TEXT:
            value = string_shown(segment, point.value)
        elif lane == LANE_TRUTH:
            value = "TRUE" if point.value else "FALSE"
        else:
            memcpy(&number, &point.value, 8)
            value = f"{number:g}"
        found.append((point.list.count, "point", f"{names[attribute]} = {value}", point.list.start))
    for at in range(segment.affix_mask + 1):
        if segment.affixes[at].key and segment.affixes[at].list.count:
            way = _AFFIXES.get(segment.affixes[at].key & 3, "contains")
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


cdef list places_reached(Piece piece, uint64_t start, uint64_t count, Py_ssize_t most):
    """List some places of selectors that a list of postings leads to."""
    cdef const Segment *segment = &piece.segment
    cdef const Unit *unit
    cdef uint64_t at
    cdef uint32_t place
    cdef list found = []
    for at in range(start, min(start + count, segment.posting_count)):
        if segment.postings[at].unit >= segment.unit_count:
            continue
        unit = &segment.units[segment.postings[at].unit]
        place = unit.place
        if unit.info & MANY_PLACES:
            if <uint64_t> place + 1 >= segment.copy_count:
                continue
            place = segment.copies[place + 1]
        if place < segment.place_limit and lives(piece, place) and place not in found:
            found.append(place)
            if len(found) == most:
                break
    return found


cdef dict pieces_stats(list pieces, list names):
    """Give the figures of some segments: units, shared units, postings, bytes by part, ways, the longest lists.

    Of these what they are for, how many postings they have, and some places of selectors they lead to.
    """
    cdef Piece piece
    cdef const Header *header
    cdef uint32_t at
    units = shared = postings = 0
    sizes = dict.fromkeys(_SECTIONS, 0)
    ways = dict.fromkeys(("point", "interval", "prefix", "suffix", "contains", "presence", "null", "always"), 0)
    lists = {}
    for one in pieces:
        piece = one
        header = <const Header *> piece.view.buf
        units += piece.segment.unit_count
        postings += piece.segment.posting_count
        for at in range(piece.segment.unit_count):
            shared += piece.segment.units[at].info & MANY_PLACES
        for number, name in enumerate(_SECTIONS):
            sizes[name] += header.counts[<int> number] * SIZES[<int> number]
        for count, way, what, start in piece_lists(piece, names):
            ways[way] += count
            known = lists.setdefault(what, [0, []])
            known[0] += count
            if len(known[1]) < SHOWN:
                known[1] += places_reached(piece, start, count, SHOWN - len(known[1]))
    longest = [(what, count, places) for what, (count, places) in lists.items()]
    longest.sort(key=lambda one: (-one[1], one[0]))
    return {
        "units": units, "shared": shared, "postings": postings, "bytes": {**sizes, "all": sum(sizes.values())},
        "reached": ways, "longest": longest[:10],
    }
