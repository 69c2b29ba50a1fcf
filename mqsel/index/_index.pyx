# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""The index behind a set of selectors: formulas by place, and which of them are true of a record.

Formulas are added to a memtable, of which every clause is run. When it is full it becomes a segment, which never
changes and may lie in a mapped file. Segments are merged with those that are not much larger, so that each formula is
laid out a few times as the set grows. What is removed gets a tombstone beside its segment, and is left out when that is
next merged. A search writes nothing but its own `Search`, and runs no Python code: it is atomic. Knows names and
places; of keys, texts and messages other than a Record it knows nothing.
"""

import json
import os
import threading
import zlib

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.list cimport PyList_GET_SIZE
from cpython.ref cimport Py_INCREF
from libc.math cimport INFINITY, nextafter
from libc.stdlib cimport calloc, free, qsort, realloc
from libc.string cimport memcpy, memset

from mqsel.index._candidates cimport (
    draft_scan, memo_take, memos_free, places_read, search_begin, search_end, search_free, search_new, segment_scan,
    segment_search,
)
from mqsel.index._memtable cimport (
    Draft, Items, Memtable, by_number, draft_clause, draft_leaf, draft_mark, draft_place, draft_rewind, draft_string,
    draft_view, items_room, places_count, steps_link,
)
from mqsel.index._postings cimport draft_layout
from mqsel.index._segment cimport *

from mqsel.errors import ArgumentError, ProgramError

cdef extern from "Python.h":
    list PyList_New(Py_ssize_t count)
    void PyList_SET_ITEM(object items, Py_ssize_t place, object item)
    PyObject **PySequence_Fast_ITEMS(PyObject *sequence)
    PyObject *PyList_GET_ITEM(object items, Py_ssize_t place)

cdef enum:
    MEMTABLE = 64                   # selectors that are run one by one, about a microsecond
    RATIO = 4                   # a segment this much larger than what follows it is left as it is
    AT_ONCE = 4096                 # selectors that are laid out at once, some 30 ms; more by a thread of its own

cdef uint32_t PLACES_END = 0xFFFFFFF0     # places are below
MAGIC = b"mqselidx"
FORMAT = 1


# ---- turns -------------------------------------------------------------------------------------------------------

cdef Py_ssize_t forks = 0   # through which this process came


def _forked():
    global forks
    forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


@cython.final
cdef class Turn:
    def __cinit__(self):
        self.lock = threading.RLock()
        self.forks = forks

    cdef object take(self):
        """Wait for the turn; return the lock, which is to be released.

        A lock that a thread held when the process was forked is never released in the child, which lacks that thread.
        """
        if self.forks != forks:
            fresh = threading.RLock()
            if self.forks != forks:  # no other code runs from here on: nothing is allocated, and nobody waits
                self.forks = forks
                if self.lock.acquire(False):
                    self.lock.release()
                else:
                    self.lock = fresh
        lock = self.lock
        lock.acquire()
        return lock


# ---- compaction: segments merged, without what was removed from them, and segments with other places ----------------

# Where the strings and leaves of a segment went in a draft: number + 1, or 0.
cdef struct Moved:
    Draft *draft
    const SegmentArrays *segment
    uint32_t *strings
    uint32_t *leaves
    Items leaf                  # words


cdef uint32_t moved_string(Moved *moved, uint32_t number) noexcept nogil:
    cdef const uint8_t *data
    cdef uint64_t size
    cdef int kind
    if number >= moved.segment.string_count:
        return NONE
    if moved.strings[number] == 0:
        if not string_at(moved.segment, number, &data, &size, &kind):
            return NONE
        moved.strings[number] = 1 + draft_string(moved.draft, data, size, kind, text_hash(data, size, kind))
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
        if made != NONE and steps_link(moved.draft, steps, leaf.actions[0]) < 0:
            made = NONE
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
        step.kinds = 0              # the leaf has them, too
        step.it.bits = 0
        step.it.place = place
        return step.it.place != NONE
    return test < TESTS


cdef bint step_unpack(Moved *moved, const uint64_t *code, ClauseStep *step) noexcept nogil:
    """Return a step of a segment as one of two words that names what the draft has. Returns whether it can."""
    cdef const ShortStep *short = <const ShortStep *> code
    cdef int test = short.test & TEST_MASK & ~SHORT_NOT
    cdef uint32_t low = short.it & 0xFFFF
    cdef uint32_t high = low + (short.it >> 16)
    cdef bint is_not = short.test & SHORT_NOT != 0
    if short.test & SHORT == 0:
        memcpy(step, code, sizeof(ClauseStep))
        return moved_step(moved, step, NONE, 0)
    memset(step, 0, sizeof(ClauseStep))
    step.attribute = short.attribute
    step.link = <uint32_t> short.link >> SHORT_JUMP_BITS << JUMP_BITS
    step.it.place = short.it
    if test == SHORT_KIND:
        step.test = KIND
        step.kinds = <uint8_t> short.it
    elif test == SHORT_LEAF:
        step.test = LEAF
    elif test == SHORT_TEXT or test == SHORT_WIDE_TEXT:
        step.it.place = low if test == SHORT_TEXT else short.it
        step.test = OTHER_TEXT if is_not else TEXT
        step.kinds = KIND_ANY & ~KIND_STRING if is_not else 0
    elif test == SHORT_RANGE:
        # See `range_of`: an end that is odd lies next to the whole number within.
        step.kinds = KIND_ANY & ~KIND_NUMBER if is_not else 0
        if low & 1:
            step.test = LEAST
            step.it.number = nextafter(code_number(low), INFINITY)
        elif high & 1 and high < 65535:
            step.test = MOST
            step.it.number = nextafter(code_number(high) + 1, -INFINITY)
        elif is_not and low == high:
            step.test = UNEQUAL
            step.it.number = code_number(low)
        else:
            step.test = OUTSIDE if is_not else BETWEEN
            step.it.bounds[0] = <float> -INFINITY if low == 0 else <float> code_number(low)
            step.it.bounds[1] = <float> INFINITY if high == 65535 else <float> code_number(high)
    elif test == SHORT_PAIR or test == SHORT_TEXTS or test == SHORT_WIDE_TEXTS:
        step.test = LEAF
        step.it.place = texts_leaf(moved, code, is_not)
        step.test |= short.test & ~TEST_MASK
        return step.it.place != NONE and step.attribute < moved.segment.attribute_count
    else:
        return False
    step.test |= short.test & ~TEST_MASK
    return moved_step(moved, step, NONE, 0)


cdef uint32_t texts_leaf(Moved *moved, const uint64_t *code, bint is_not) noexcept nogil:
    """Return the leaf of the draft that a short step of strings stands for; NONE without memory or if it is damaged."""
    cdef const ShortStep *short = <const ShortStep *> code
    cdef int bits = 32 if short.test & TEST_MASK & ~SHORT_NOT == SHORT_WIDE_TEXTS else 16
    cdef bint is_pair = short.test & SHORT_MASK != SHORT_TEXTS
    cdef uint32_t count = 2 if is_pair else (short.it & 255) * (64 // bits)
    cdef uint32_t at, place
    cdef uint64_t number
    cdef PooledLeaf *leaf
    cdef uint32_t *numbers
    moved.leaf.count = 0
    if items_room(&moved.leaf, LEAF_WORDS + 6 + count, 8) < 0:
        return NONE
    leaf = <PooledLeaf *> moved.leaf.items
    memset(leaf, 0, 8 * (LEAF_WORDS + 6 + <uint64_t> count))
    leaf.kind = SET
    leaf.attribute[0] = short.attribute
    leaf.attribute[1] = NONE
    if is_not:
        leaf.flags = EVERY_OTHER_KIND
        leaf.integers = leaf.floats32 = leaf.floats64 = 1
        memcpy(<void *> leaf_intervals(leaf), ALL_NUMBERS, sizeof(ALL_NUMBERS))
    numbers = <uint32_t *> leaf_strings(leaf)
    for at in range(count):
        number = short.it >> (16 * at) if is_pair else code[1 + at * bits // 64] >> (at * bits % 64)
        place = moved_string(moved, <uint32_t> (number & ((<uint64_t> 1 << (16 if is_pair else bits)) - 1)))
        if place == NONE:
            return NONE
        numbers[at] = place
    qsort(numbers, count, 4, by_number)
    # The last one fills its word.
    for at in range(count):
        if leaf.strings == 0 or numbers[at] != numbers[leaf.strings - 1]:
            numbers[leaf.strings] = numbers[at]
            leaf.strings += 1
    for at in range(leaf.strings, count):
        numbers[at] = 0
    leaf.words = LEAF_WORDS + (6 if is_not else 0) + (leaf.strings + 1) // 2
    return draft_leaf(moved.draft, leaf)


cdef int clause_absorb(
    Moved *moved, Items *steps, uint64_t at, const uint32_t *places, uint32_t count, const uint8_t *tombstones,
    uint64_t *budget,
) noexcept nogil:
    """Read a clause into a draft, if it has places that were not removed. Returns 0; -1 as `draft_absorb`.

    Args:
        steps: room.
        at: its first word.
        budget: how many words there are in all clauses: no step is in two.
    """
    cdef const SegmentArrays *segment = moved.segment
    cdef uint64_t end = segment.code_count
    cdef uint64_t words
    cdef uint32_t number
    cdef uint32_t made = NONE
    cdef ClauseStep *step
    for number in range(count):
        if places[number] >= segment.place_limit or tombstones != NULL and (
            tombstones[places[number] >> 3] >> (places[number] & 7) & 1
        ):
            continue
        if made == NONE:
            steps.count = 0
            while True:
                words = 2
                if at < end:
                    words = step_words(segment.code + at)
                if at >= end or words > end - at or words > budget[0] or items_room(steps, 1, sizeof(ClauseStep)) < 0:
                    return -1
                budget[0] -= words
                step = <ClauseStep *> steps.items + steps.count
                if not step_unpack(moved, segment.code + at, step):
                    return -1
                steps.count += 1
                at += words
                if step.test >> TEST_BITS == LAST:
                    break
            made = draft_clause(moved.draft, <ClauseStep *> steps.items, steps.count)
            if made == NONE:
                return -1
        if draft_place(moved.draft, made, places[number]) < 0:
            return -1
    return 0


cdef int draft_absorb(Draft *draft, const SegmentArrays *segment, const uint8_t *tombstones) noexcept nogil:
    """Read what was not removed from a segment into a draft.

    Args:
        segment: which may be damaged.
        tombstones: a bit for each place that is not to be taken; or NULL.

    Returns: 0; -1 without memory, or if the segment is damaged.
    """
    cdef Moved moved
    cdef Items steps
    cdef uint32_t clause, count, first, place
    cdef bint is_many
    cdef const uint32_t *places
    cdef uint64_t budget = segment.code_count
    cdef uint64_t copies = <uint64_t> segment.copy_count + segment.clause_count  # no place is in two
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
            first = segment.clauses[clause].code & CODE_MASK
            place = segment.clauses[clause].place
            is_many = segment.clauses[clause].code >> 31
            places = &place
            count = 1
            if is_many:
                if place >= segment.copy_count:
                    result = -1
                    break
                count = segment.copies[place]
                places = segment.copies + place + 1
                if count > segment.copy_count - place - 1 or count > copies:
                    result = -1
                    break
            copies -= min(copies, count)
            result = clause_absorb(&moved, &steps, first, places, count, tombstones, &budget)
            if result < 0:
                break
    free(moved.strings)
    free(moved.leaves)
    free(moved.leaf.items)
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
                raise damaged("a number in them points to nothing")
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
            if clauses[number].code & MANY_PLACES:
                first = clauses[number].place
                if first >= segment.copy_count or copies[first] > segment.copy_count - first - 1:
                    raise damaged("a number in them points to nothing")
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


# ---- the index -------------------------------------------------------------------------------------------------------

@cython.final
cdef class IndexChange:
    """A change of an index that is prepared, and does not count yet."""

    def __dealloc__(self):
        free(self.removed)
        free(self.places)
        free(self.live)


cdef int take_numbers(uint32_t **numbers, uint64_t count) except -1:
    """Have room for some numbers, in the place of those that were there."""
    cdef uint32_t *taken = <uint32_t *> realloc(numbers[0], (count + 1) * sizeof(uint32_t))
    if taken == NULL:
        raise MemoryError
    numbers[0] = taken
    return 0


@cython.final
cdef class Index:
    """Formulas by place; which of them are true of a record."""

    def __cinit__(self):
        self._names = []
        self.numbers = {}
        self.named = ()
        self.segments = []
        self.memtable = Memtable(self._names, self.numbers)
        self.writing = Turn()

    def __dealloc__(self):
        cdef Search *search
        while self.idle != NULL:
            search = self.idle
            self.idle = search.next
            search_free(search)
        free(self.live)

    @property
    def names(self) -> tuple:
        """The properties that the formulas read, in the order of first reading: a record has these, or the first."""
        if len(self.named) != PyList_GET_SIZE(self._names):
            self.named = tuple(self._names)
        return self.named

    def __len__(self):
        return self.selectors

    @property
    def places(self) -> int:
        """How many places there are: all are below."""
        return self.place_limit

    @property
    def clauses(self) -> int:
        """How many clauses are distinct within a segment or the memtable."""
        counts = [(<StoredSegment> one).arrays.clause_count for one in self.segments]
        return sum(counts, self.memtable.draft.clauses.count)

    # ---- what is in it -----------------------------------------------------------------------------------------------
    #
    # Whoever changes an index holds `writing`. What can fail comes first and changes nothing that counts; the change
    # itself is `commit`, which neither allocates nor runs Python code, so nothing ends it halfway.

    def add(self, places, formulas) -> None:
        """Add the formulas of some places: all, or none if one of them is refused.

        Args:
            places: numbers, none of which has a formula now.
            formulas: as many, of `mqsel.logic.normal`.

        Raises: ArgumentError: a place that is taken or none, or a formula that is none or too long.
        """
        self.change((), places, formulas)

    def remove(self, place) -> None:
        """Remove the formula of a place, which can then have another.

        Raises: ArgumentError: it has none.
        """
        self.change((place,), (), ())

    cdef object begin_writing(self):
        """Wait for the turn to change something; return the lock.

        A change that a thread had begun when the process was forked never ends in the child: it is abandoned.
        """
        lock = self.writing.take()
        if self.pending is not None and self.pending.lock is not lock:
            self.abandon(self.pending)
        return lock

    cdef int change(self, removed, places, formulas) except -1:
        cdef IndexChange change
        lock = self.begin_writing()
        try:
            change = self.prepare(removed, places, formulas)
            self.commit(change)
            self.compact_all()
        finally:
            lock.release()
        return 0

    def renumber(self, places) -> None:
        """Move formulas to other places.

        Args:
            places: for each place the new one, which is not greater; of those without a formula it does not count.

        Raises: ArgumentError: a place that cannot be. ProgramError: what is moved came from damaged bytes.
        """
        lock = self.begin_writing()
        try:
            self.commit(self.prepare_places(places))
        finally:
            lock.release()

    cdef IndexChange prepare(self, removed, places, formulas):
        """Prepare a change, which counts when it is committed; until then it can be abandoned.

        Args:
            removed: places whose formulas go.
            places: those that get one: they have none, or are among the removed.
            formulas: as many.
        """
        cdef IndexChange change = IndexChange()
        cdef Memtable memtable
        change.names = PyList_GET_SIZE(self._names)
        self.prepare_removal(change, removed)
        self.prepare_places_of(change, places, formulas)
        if change.count == 0:
            return change
        if change.count + self.memtable_count > MEMTABLE and change.count <= MEMTABLE:
            self.flush()
            self.prepare_removal(change, removed)  # some may lie in the segment that the memtable became
        memtable = self.memtable
        if change.count + self.memtable_count > MEMTABLE:
            memtable = Memtable(self._names, self.numbers)
        change.mark = draft_mark(&memtable.draft)
        change.memtable = memtable
        change.lock = self.writing.lock
        self.pending = change
        try:
            memtable.read_many(change.places, change.count, formulas)
            fault()
            memtable.reserve()
            if memtable is not self.memtable:
                memtable.commit(change.count)
                change.segments = [*self.segments, self.new_segment(memtable)]
            fault()
        except BaseException:
            self.abandon(change)
            raise
        return change

    cdef int prepare_removal(self, IndexChange change, removed) except -1:
        """Find the segments that have the removed places, and let each have room to mark them."""
        cdef uint64_t count = len(removed)
        cdef uint64_t at = 0
        cdef StoredSegment stored
        take_numbers(&change.removed, count)
        change.segment_of = [None] * count
        if count > 1 and len(set(removed)) != <Py_ssize_t> count:
            raise ArgumentError("a place is named twice")
        for place in removed:
            if not 0 <= place < self.place_limit or not has_bit(self.live, place):
                raise ArgumentError(f"place {place} has no formula")
            change.removed[at] = place
            for one in self.segments:
                stored = one
                if is_living(stored, change.removed[at]):
                    stored.reserve()
                    change.segment_of[at] = stored
                    break
            at += 1
        change.removed_count = count
        return 0

    cdef int prepare_places_of(self, IndexChange change, places, formulas) except -1:
        """Look at the places that get a formula, and have room for them."""
        cdef uint64_t count = len(places)
        cdef uint64_t at = 0
        cdef uint32_t place
        cdef uint32_t limit = 0
        cdef bint is_rising = True
        if <uint64_t> len(formulas) != count:
            raise ArgumentError(f"there are {count} places and {len(formulas)} formulas: expected as many")
        take_numbers(&change.places, count)
        gone = frozenset([change.removed[at] for at in range(change.removed_count)]) if change.removed_count else ()
        at = 0
        for number in places:
            if not 0 <= number < PLACES_END:
                raise ArgumentError(f"{number} is no place: expected 0 to {PLACES_END - 1}")
            place = change.places[at] = number
            if place < self.place_limit and has_bit(self.live, place) and place not in gone:
                raise ArgumentError(f"place {place} has a formula", hint="remove it first")
            is_rising = is_rising and (at == 0 or change.places[at - 1] < place)
            limit = max(limit, place + 1)
            at += 1
        if not is_rising and len(set(places)) != <Py_ssize_t> count:
            raise ArgumentError("a place is named twice")
        change.count = count
        change.place_limit = max(self.place_limit, limit)
        return self.reserve(limit)

    cdef int reserve(self, uint32_t limit) except -1:
        """Have room for places below a limit."""
        cdef uint64_t room = self.live_room
        if grown(<void **> &self.live, &self.live_room, (<uint64_t> limit + 7) // 8, 1) < 0:
            raise MemoryError
        if self.live_room > room:  # of an index of nothing there is no memory yet
            memset(self.live + room, 0, self.live_room - room)
        return 0

    cdef IndexChange prepare_places(self, places):
        """Prepare that formulas move to other places, as `renumber` says."""
        cdef IndexChange change = IndexChange()
        cdef StoredSegment stored
        cdef uint32_t old, new
        cdef uint32_t limit = 0
        cdef list moved = list(places)
        change.names = PyList_GET_SIZE(self._names)
        take_numbers(&change.places, self.place_limit)
        change.live = <uint8_t *> zeroed(self.live_room)
        for old in range(self.place_limit):
            change.places[old] = NONE
            if not has_bit(self.live, old):
                continue
            if old >= <uint64_t> PyList_GET_SIZE(moved):
                raise ArgumentError(f"{len(moved)} places: expected one for each of {self.place_limit}")
            if not 0 <= moved[old] <= old:
                raise ArgumentError(f"place {old} cannot become {moved[old]}: expected one that is not greater")
            new = moved[old]
            if has_bit(change.live, new):
                raise ArgumentError("two places cannot become one")
            change.live[new >> 3] |= <uint8_t> (1 << (new & 7))
            change.places[old] = new
            limit = max(limit, new + 1)
        change.place_limit = limit
        self.flush()
        change.segments = []
        for one in self.segments:
            stored = one
            change.segments.append(renumbered(stored, change.places, self.place_limit))
            fault()
        return change

    cdef void commit(self, IndexChange change) noexcept:
        """Let a change count. Nothing in here can fail."""
        cdef uint64_t at
        cdef uint32_t place
        self.pending = None
        for at in range(change.removed_count):
            place = change.removed[at]
            one = change.segment_of[at]
            if one is not None:
                (<StoredSegment> one).mark_removed(place)
            else:
                self.memtable.drop(place)
            self.live[place >> 3] &= <uint8_t> ~(1 << (place & 7))
        self.selectors -= change.removed_count
        if change.live != NULL:
            # What is being merged would have the old places: it is given up.
            self.compacting = None
            self.live, change.live = change.live, self.live
        if change.count:
            if change.memtable is self.memtable:
                self.memtable.commit(change.count)
                self.memtable_count += change.count
            for at in range(change.count):
                place = change.places[at]
                self.live[place >> 3] |= <uint8_t> (1 << (place & 7))
            self.selectors += change.count
        if change.count or change.segments is not None:
            self.place_limit = change.place_limit
        if change.segments is not None:
            self.segments, change.segments = change.segments, self.segments
            self.version += 1

    cdef void abandon(self, IndexChange change) noexcept:
        """Let a change that was prepared be as if it had never been. Nothing in here can fail."""
        cdef Memtable memtable = change.memtable
        self.pending = None
        if memtable is self.memtable:
            memtable.pending.count = 0
            draft_rewind(&memtable.draft, &change.mark)
        self.named = ()
        while PyList_GET_SIZE(self._names) > change.names:
            name = <object> PyList_GET_ITEM(self._names, PyList_GET_SIZE(self._names) - 1)
            try:
                self._names.pop()
            except MemoryError:  # to shrink a list takes memory: then the names stay, which nobody reads
                break
            self.numbers.pop(name, None)

    cdef StoredSegment new_segment(self, Memtable memtable):
        """Return a segment of what was read."""
        cdef uint32_t attributes = <uint32_t> PyList_GET_SIZE(self._names)
        return StoredSegment(draft_layout(&memtable.draft, attributes), False, attributes)

    # ---- segments ----------------------------------------------------------------------------------------------------

    cdef int flush(self) except -1:
        """Turn the memtable into a segment."""
        if self.memtable_count == 0:
            return 0
        segments = [*self.segments, self.new_segment(self.memtable)]
        empty = Memtable(self._names, self.numbers)
        fault()
        # No other code runs from here on: a search finds each selector in the one or in the other.
        self.memtable = empty
        self.memtable_count = 0
        self.segments = segments
        self.version += 1
        return 0

    cdef int compact_all(self) except -1:
        """Join segments, if it is time and nothing hinders: all answers are the same without."""
        try:
            while self.compact_some():
                pass
        except (MemoryError, ProgramError):
            pass
        return 0

    cdef bint compact_some(self) except -1:
        """Join the last segments that are not much larger than what follows them; or lay out one of which half died.

        Returns: whether it was done at once: there may be more to do.
        """
        cdef Py_ssize_t last = len(self.segments) - 1
        cdef Py_ssize_t keep = last
        cdef uint64_t size
        cdef StoredSegment stored
        cdef list busy
        if keep < 0:
            return False
        if self.compacting is not None and not self.compactor.is_alive():
            self.compacting = None  # in the child of a fork, or it could not be started
        busy = self.compacting if self.compacting is not None else []
        stored = self.segments[keep]
        size = stored.living()
        while keep and self.segments[keep - 1] not in busy:
            stored = self.segments[keep - 1]
            if stored.living() >= RATIO * max(size, 1):  # what is empty joins too
                break
            size += stored.living()
            keep -= 1
        joined = self.segments[keep:]
        if keep == last:
            joined = []
            for one in self.segments:
                stored = one
                if 2 * stored.removed > stored.arrays.selectors and one not in busy:
                    joined = [one]
                    size = stored.living()
                    break
        if not joined or (size >= AT_ONCE and busy):
            return False
        tombstones = [(<StoredSegment> one).tombstones_copied() for one in joined]
        if size < AT_ONCE:
            self.replace(joined, merged(joined, tombstones))
            return True
        compactor = threading.Thread(target=self.join, args=(joined, tombstones), name="mqsel-set", daemon=True)
        self.compactor = compactor
        self.compacting = joined
        try:
            compactor.start()
        except RuntimeError:  # the system has no thread left, or the interpreter ends
            self.join(joined, tombstones)
            return True
        return False

    def join(self, list joined, list tombstones) -> None:
        """Join segments while others search and write; for a thread of its own.

        Args:
            joined: those that stand in `compacting`.
            tombstones: what did not count when this was decided.
        """
        try:
            made = merged(joined, tombstones)
            lock = self.begin_writing()
            try:
                if self.compacting is joined:
                    for one, before in zip(joined, tombstones):
                        tombstones_since(made, one, before)
                    self.replace(joined, made)
                    self.compacting = None
                    self.compact_all()
            finally:
                lock.release()
        except (MemoryError, ProgramError):
            pass  # all stays as it is
        finally:
            if self.compacting is joined:
                self.compacting = None

    cdef int replace(self, list joined, StoredSegment made) except -1:
        """Let a segment stand for those that it was made of."""
        cdef Py_ssize_t at = self.segments.index(joined[0])
        fault()
        self.segments = [*self.segments[:at], made, *self.segments[at + len(joined):]]
        self.version += 1
        return 0

    def wait(self) -> None:
        """Wait until no segments are being joined."""
        while self.compacting is not None and self.compactor.is_alive():
            self.compactor.join()

    # ---- searching ---------------------------------------------------------------------------------------------------

    cdef Search *take(self) except NULL:
        """Return what a search needs; `give` puts it back."""
        cdef Search *search = self.idle
        if search == NULL:
            return search_new()
        self.idle = search.next
        search.next = NULL
        return search

    cdef void give(self, Search *search) noexcept:
        search.next = self.idle
        self.idle = search

    cdef Py_ssize_t search_c(self, Record record, const uint32_t *given, Py_ssize_t count, Search *search) except -1:
        """Search for the formulas that are true of a record.

        Args:
            record: of the names of the index, or the first of them.
            given: places in it of all that may not be NULL, or NULL where nobody knows.
            count: how many these are.
            search: what `take` gave; afterwards its places are those found, rising, until it is used again.

        Returns: how many were found.
        """
        self.run(record, given, count, search, True)
        self.finish(search, NULL, 0)
        return search.places.count

    cdef int run(
        self, Record record, const uint32_t *given, Py_ssize_t count, Search *search, bint is_search
    ) except -1:
        """Find places, in any order and more than once perhaps: by searching, or by running every formula."""
        cdef StoredSegment stored
        cdef Py_ssize_t number
        cdef SegmentArrays view
        if search.version != self.version:
            memos_free(search)
            search.version = self.version
        search_begin(
            search, record, <uint32_t> PyList_GET_SIZE(self._names), self.place_limit, given, <uint32_t> count
        )
        try:
            for number in range(PyList_GET_SIZE(self.segments)):
                stored = <StoredSegment> PyList_GET_ITEM(self.segments, number)
                search.tombstones = stored.tombstones
                memo_take(search, number + 1, stored.arrays.leaf_count)
                if is_search:
                    segment_search(search, &stored.arrays)
                else:
                    segment_scan(search, &stored.arrays)
            if self.memtable_count:
                search.tombstones = NULL
                draft_view(&self.memtable.draft, &view, <uint32_t> PyList_GET_SIZE(self._names))
                memo_take(search, 0, view.leaf_count)
                draft_scan(search, &view, &self.memtable.draft)
        finally:
            search_end(search)
        return 0

    cdef int finish(self, Search *search, const uint8_t *within, Py_ssize_t within_size) except -1:
        """Bring what was found into order."""
        cdef uint32_t *places
        cdef uint64_t at
        cdef uint64_t kept = 0
        if search.is_short:
            raise MemoryError
        if search.is_damaged:
            raise damaged("a number in them points to nothing")
        places_read(search)
        if self.is_foreign:
            places = <uint32_t *> search.places.items
            for at in range(search.places.count):
                if not has_bit(self.live, places[at]):
                    raise damaged("a clause in them belongs to a removed selector")
        if within != NULL:
            places = <uint32_t *> search.places.items
            for at in range(search.places.count):
                if (places[at] >> 3) < <uint64_t> within_size and has_bit(within, places[at]):
                    places[kept] = places[at]
                    kept += 1
            search.places.count = kept
        return 0

    def search(self, Record record not None, bytes within=None) -> list:
        """List the places whose formulas are true of a record, rising.

        Args:
            record: of the names of the index, or the first of them: what it lacks is NULL.
            within: a bit for each place that counts; None for all.

        Raises: ProgramError: what is searched came from damaged bytes.
        """
        cdef Search *search = self.take()
        try:
            self.run(record, NULL, 0, search, True)
            self.finish(search, bits_of(within), bits_size(within))
            return places_list(search)
        finally:
            self.give(search)

    cdef list search_keys(self, Record record, const uint32_t *given, Py_ssize_t count, list keys, object missing):
        """List the keys of the places that `search_c` finds: ``keys[place]``; return None if one is *missing*."""
        cdef Search *search = self.take()
        cdef Py_ssize_t at, total
        cdef Py_ssize_t known = PyList_GET_SIZE(keys)
        cdef uint32_t *places
        cdef PyObject *key
        cdef PyObject **items
        cdef PyObject **answer
        cdef list found
        try:
            total = self.search_c(record, given, count, search)
            places = <uint32_t *> search.places.items
            if total and places[total - 1] >= known:
                raise ProgramError("the set has a selector without a key", hint="save it again")
            found = PyList_New(total)
            items = PySequence_Fast_ITEMS(<PyObject *> keys)
            answer = PySequence_Fast_ITEMS(<PyObject *> found)
            for at in range(min(total, 8)):
                mqsel_ahead(items[places[at]])
            for at in range(total):
                mqsel_ahead(items[places[min(at + 8, total - 1)]])
                key = items[places[at]]
                if key == <PyObject *> missing:
                    return None
                Py_INCREF(<object> key)
                answer[at] = key
            return found
        finally:
            self.give(search)

    cdef Py_ssize_t search_into(
        self, Record record, const uint32_t *given, Py_ssize_t count, uint32_t *found, Py_ssize_t room
    ) except -1:
        """Copy the places that `search_c` finds, as far as there is room; return how many they are."""
        cdef Search *search = self.take()
        cdef Py_ssize_t total
        try:
            total = self.search_c(record, given, count, search)
            if total:
                memcpy(found, search.places.items, sizeof(uint32_t) * <size_t> min(total, room))
            return total
        finally:
            self.give(search)

    cdef list open_tests(self, Record record, uint64_t asked):
        """List attributes that are POISON in a record, and on which it depends what is true of it; none if none are.

        Args:
            asked: how many of a clause.
        """
        cdef Search *search = self.take()
        cdef uint64_t at
        try:
            search.asked = asked
            search.open.count = 0
            self.run(record, NULL, 0, search, True)
            self.finish(search, NULL, 0)
            return [(<uint32_t *> search.open.items)[at] for at in range(search.open.count)]
        finally:
            search.asked = 0
            self.give(search)

    def count(self, Record record not None) -> int:
        """Count the places that `search` gives."""
        cdef Search *search = self.take()
        try:
            return self.search_c(record, NULL, 0, search)
        finally:
            self.give(search)

    def scan(self, Record record not None) -> list:
        """List what `search` does, by running every formula whole."""
        cdef Search *search = self.take()
        try:
            self.run(record, NULL, 0, search, False)
            self.finish(search, NULL, 0)
            return places_list(search)
        finally:
            self.give(search)

    def stats(self) -> dict:
        """Return figures.

        Returns: ``selectors``; ``tail``, those of them in the memtable; ``units``, the clauses, and how many of them
            are ``shared`` by selectors; ``postings``; ``bytes`` by part and in ``all``; how many postings are
            ``reached`` in which way; the ``longest`` posting lists, (what for, how many, some places they lead to).
        """
        found = segments_stats(self.segments, self._names)
        return {"selectors": self.selectors, "tail": self.memtable_count, "segments": len(self.segments), **found}

    # ---- buffers -----------------------------------------------------------------------------------------------------

    def to_buffers(self) -> list:
        """Return what `from_buffers` makes an index of: bytes-like objects, the segments as they lie."""
        lock = self.begin_writing()
        try:
            return self.buffers()
        finally:
            lock.release()

    cdef list buffers(self):
        cdef StoredSegment stored
        segments = list(self.segments)
        if self.memtable_count:
            segments.append(self.new_segment(self.memtable))
        parts = []
        for one in segments:
            stored = one
            parts += [memoryview(<object> stored.view.obj), stored.tombstones_copied() or b""]
        alive = PyBytes_FromStringAndSize(<char *> self.live, (self.place_limit + 7) // 8) if self.live != NULL else b""
        head = json.dumps({
            "format": FORMAT,
            "names": self._names,
            "places": self.place_limit,
            "selectors": self.selectors,
            "sizes": [len(part) for part in parts],
        }).encode()
        return [MAGIC + zlib.crc32(head).to_bytes(4, "little") + head, alive, *parts]

    @staticmethod
    def from_buffers(buffers) -> Index:
        """Return the index that `to_buffers` wrote. The segments are not copied, and stay in use.

        Raises: ProgramError: these are not such buffers, or damaged where opening them looks.
        """
        cdef Index made = Index()
        cdef StoredSegment stored
        buffers = list(buffers)
        if len(buffers) < 2:
            raise damaged(f"{len(buffers)} buffers")
        try:
            head = bytes(buffers[0])
            alive = bytes(buffers[1])
        except (TypeError, ValueError, BufferError) as error:
            raise damaged("a buffer is no bytes") from error
        if head[:8] != MAGIC or len(head) < 12:
            raise damaged("they do not begin with mqselidx")
        if zlib.crc32(head[12:]).to_bytes(4, "little") != head[8:12]:
            raise damaged("the checksum of their head is wrong")
        try:
            told = json.loads(head[12:])
            names, limit, selectors, sizes = [told[name] for name in ("names", "places", "selectors", "sizes")]
            if told["format"] != FORMAT:
                raise damaged(f"they are of format {told['format']}, this mqsel reads {FORMAT}")
            made._names.extend([str(name) for name in names])
            made.numbers.update({name: place for place, name in enumerate(made._names)})
            limit, selectors, sizes = int(limit), int(selectors), [int(size) for size in sizes]
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            if isinstance(error, ProgramError):
                raise
            raise damaged("their head cannot be read") from error
        if len(made.numbers) != len(made._names):
            raise damaged("a name stands in them twice")
        if not 0 <= limit <= PLACES_END or len(alive) != (limit + 7) // 8 or bits_count(alive) != selectors:
            raise damaged("their places do not fit together")
        if len(sizes) != len(buffers) - 2 or len(sizes) % 2:
            raise damaged(f"{len(buffers)} buffers where the head says {len(sizes) + 2}")
        for number in range(0, len(sizes), 2):
            data, tombstones = buffers[number + 2], buffers[number + 3]
            try:
                tombstones = bytes(tombstones)
                stored = StoredSegment(data, True, len(made._names))
            except (TypeError, ValueError, BufferError) as error:
                if isinstance(error, ProgramError):
                    raise
                raise damaged("a buffer is no bytes") from error
            if stored.arrays.place_limit > limit:
                raise damaged("a place is too large")
            if tombstones:
                if len(tombstones) != (<uint64_t> stored.arrays.place_limit + 7) // 8:
                    raise damaged("what was removed does not fit")
                stored.tombstones = <uint8_t *> zeroed(len(tombstones))
                memcpy(stored.tombstones, PyBytes_AS_STRING(tombstones), len(tombstones))
                stored.removed = bits_count(tombstones)
            made.segments.append(stored)
        made.live = <uint8_t *> zeroed(len(alive) + 1)
        made.is_foreign = True
        made.live_room = len(alive) + 1
        memcpy(made.live, PyBytes_AS_STRING(alive), len(alive))
        made.selectors = selectors
        made.place_limit = limit
        made.version = 1
        return made


cdef uint64_t bits_count(bytes bits):
    """Count the bits that are set."""
    return int.from_bytes(bits, "little").bit_count()


cdef inline const uint8_t *bits_of(bytes within) noexcept:
    return NULL if within is None else <const uint8_t *> PyBytes_AS_STRING(within)


cdef inline Py_ssize_t bits_size(bytes within) noexcept:
    return 0 if within is None else PyBytes_GET_SIZE(within)


cdef list places_list(Search *search):
    cdef Py_ssize_t at
    cdef uint32_t *places = <uint32_t *> search.places.items
    cdef list found = PyList_New(search.places.count)
    cdef object number
    for at in range(<Py_ssize_t> search.places.count):
        number = places[at]
        Py_INCREF(number)
        PyList_SET_ITEM(found, at, number)
    return found
