# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
# The ways from what a message holds to a leaf.

from libc.stdint cimport uint32_t, uint64_t

from mqsel.index._draft cimport Items
from mqsel.index._parts cimport *


# One way to a leaf: postings under a value, an interval, some characters, or what a value is.
cdef enum:
    BY_POINT
    BY_INTERVAL
    BY_AFFIX
    BY_PRESENCE
    BY_NOTHING                  # always


cdef struct Access:
    int way
    uint32_t attribute
    int lane                    # a Lane, or a Presence; of an affix 0 prefix, 1 suffix, 2 contained
    int length                  # of an affix
    uint64_t value              # of a point or an affix
    double low
    double high


cdef int ways_find(const Segment *view, Items *found, const Step *step, bint *exact) noexcept nogil
cdef uint32_t needed(const Leaf *leaf) noexcept nogil
