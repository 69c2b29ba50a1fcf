# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
# All units of a draft, and the lists of postings by which they are reached.

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from mqsel.index._draft cimport Draft, Items, Table
from mqsel.index._gates cimport Plan
from mqsel.index._parts cimport *


cdef struct Stretch:
    double low
    double high
    uint32_t attribute
    Posting posting


# What a list of postings is for.
cdef struct Target:
    int way
    uint32_t attribute
    int lane
    uint64_t value
    uint32_t count
    uint32_t start


cdef struct Layout:
    Plan plan
    Draft *draft
    Items entries               # Entry
    Items stretches             # Stretch
    Items targets               # Target
    uint32_t *presence          # of each attribute and Presence, its list + 1
    Items affixes               # Said, with the number of a list: value is its key
    Table affix_table
    uint32_t always             # a list + 1
    uint32_t *proved            # of each unit
    uint8_t *used               # of each leaf: whether what it needs was noted
    uint32_t *starts            # of each unit, in the arranged code
    uint32_t *numbers           # of each unit, its new number + 1
    uint32_t numbered


cdef void layout_free(Layout *it) noexcept nogil
cdef int layout_units(Layout *it) noexcept nogil
cdef Posting *layout_postings(Layout *it, uint32_t *total) noexcept nogil
