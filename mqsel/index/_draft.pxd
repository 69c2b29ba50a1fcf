# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
# A draft: units of steps, each string, leaf and unit once.

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from mqsel.index._parts cimport *


# A unit in the making: where its steps are, and the first of its links + 1.
cdef struct DraftUnit:
    uint32_t code
    uint32_t steps
    uint32_t hash
    uint32_t link


# A place of a unit, and the next link + 1.
cdef struct Link:
    uint32_t place
    uint32_t next


cdef struct Items:
    void *items
    uint64_t count
    uint64_t room


# Numbers + 1 of what is hashed, open addressing.
cdef struct Table:
    uint32_t *numbers
    uint64_t size               # a power of two


cdef struct Draft:
    Items strings               # String
    Table string_table
    Items texts                 # bytes
    Items pool                  # words
    Items leaves                # uint32_t, where they begin
    Items leaf_hashes           # uint32_t
    Table leaf_table
    Items code                  # Step
    Items units                 # DraftUnit
    Table unit_table
    Items links                 # Link
    Items work                  # uint32_t, for linking steps
    uint64_t selectors
    uint32_t place_limit        # beyond the greatest place


# How much there was of a draft.
cdef struct Mark:
    uint64_t strings
    uint64_t texts
    uint64_t pool
    uint64_t leaves
    uint64_t code
    uint64_t units


cdef Mark draft_mark(const Draft *draft) noexcept nogil
cdef void draft_rewind(Draft *draft, const Mark *mark) noexcept nogil
cdef void draft_free(Draft *draft) noexcept nogil
cdef uint32_t draft_string(Draft *draft, const uint8_t *data, uint64_t size, int kind, uint32_t hash) noexcept nogil
cdef uint32_t draft_leaf(Draft *draft, const Leaf *leaf) noexcept nogil
cdef uint32_t draft_unit(Draft *draft, const Step *steps, uint64_t count) noexcept nogil
cdef int draft_place(Draft *draft, uint32_t unit, uint32_t place) noexcept nogil
cdef int draft_absorb(Draft *draft, const Segment *segment, const uint8_t *dead) noexcept nogil
cdef uint64_t places_count(const Draft *draft) except? 0xFFFFFFFFFFFFFFFF nogil
cdef int steps_link(Draft *draft, Step *steps, uint64_t count) noexcept nogil
cdef void draft_view(Draft *draft, Segment *segment, uint32_t attributes) noexcept nogil


cdef inline int items_room(Items *items, uint64_t more, size_t size) noexcept nogil:
    return grown(&items.items, &items.room, items.count + more, size)


cdef inline int by_number(const void *left, const void *right) noexcept nogil:
    cdef uint32_t a = (<const uint32_t *> left)[0]
    cdef uint32_t b = (<const uint32_t *> right)[0]
    return (a > b) - (a < b)
