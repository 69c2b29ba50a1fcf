# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
# How a unit is reached, and in which order its steps run.

from libc.stdint cimport uint32_t, uint64_t

from mqsel.index._draft cimport Items
from mqsel.index._parts cimport *


# What is known of an attribute: how often its constants are what, and between which numbers they lie.
cdef struct Known:
    double lanes[4]             # texts, numbers, truth values, byte strings
    double points[3]            # distinct, by Lane
    double low
    double high


# A value that is said of an attribute somewhere: an entry of a table.
cdef struct Said:
    uint64_t value
    uint32_t key                # as in Point; 0 in an empty place
    uint32_t list               # of its postings: number + 1, or 0


cdef struct Node:
    uint32_t step               # of a leaf
    uint32_t child              # first and last, + 1
    uint32_t last
    uint32_t next               # in its group, + 1
    bint is_all
    double chance               # to be true
    double cost
    uint32_t depth


cdef struct Gate:
    uint32_t step
    uint32_t second             # a step that has to be true, too; or NONE
    double chance               # of that


# What is known of the attributes, and the unit in hand.
cdef struct Plan:
    uint32_t attributes
    Segment view                # of the draft
    Known *known
    Attribute *rows
    Said *said
    uint64_t said_size
    uint64_t said_count
    Items ways                  # Access
    Items nodes                 # Node
    Items stack                 # uint32_t: open groups
    Items gates                 # Gate
    Items code                  # Step, arranged
    Items order                 # Order
    Items chances               # double, of each step of a unit


cdef void plan_free(Plan *it) noexcept nogil
cdef Said *said_find(Plan *it, uint32_t key, uint64_t value) noexcept nogil
cdef int said_grow(Plan *it) noexcept nogil
cdef int learn(Plan *it, const Step *step) noexcept nogil
cdef int unit_chances(Plan *it, const Step *steps, uint32_t count) noexcept nogil
cdef double second_chance(Plan *it, const Step *step, Posting *posting) noexcept nogil
cdef int tree_make(Plan *it, const Step *steps, uint32_t count) noexcept nogil
cdef double gate_find(Plan *it, const Step *steps, uint32_t number, uint32_t *best) noexcept nogil
cdef int arrange(Plan *it, const Step *steps, uint32_t number, uint32_t first, uint32_t depth) noexcept nogil
