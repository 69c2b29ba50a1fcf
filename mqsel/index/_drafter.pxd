# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
# Formulas read into a draft.

from cpython.object cimport PyObject
from libc.stdint cimport uint32_t, uint64_t

from mqsel.index._draft cimport Draft, Items
from mqsel.index._parts cimport *


# A set of values that fitted into a step, and that step.
cdef struct Kept:
    PyObject *values            # owned; NULL in an empty entry
    Step step


# What a formula is on the way to being read.
cdef class Drafter:
    cdef Draft draft
    cdef readonly list names            # of attributes, in order
    cdef dict numbers                   # name -> its place there
    cdef Items steps                    # Step, of what is being read
    cdef Items words                    # of the leaf that is being read
    cdef Items frames                   # of groups that are being read
    cdef Items operands                 # of arithmetic that is being read
    cdef Kept *kept                     # sets that were read, by identity; NULL where there are few formulas
    cdef Items pending                  # Link: a place, and its unit, that do not count yet

    cdef int read_many(self, const uint32_t *places, uint64_t count, formulas) except -1
    cdef void forget(self) noexcept
    cdef int read(self, uint32_t place, formula) except -1
    cdef int reserve(self) except -1
    cdef void commit(self, uint64_t count) noexcept
    cdef void drop(self, uint32_t place) noexcept
    cdef int read_unit(self, uint32_t place, formula) except -1
    cdef int read_tree(self, formula, dict shared) except -1
    cdef int read_part(self, part, dict shared) except -1
    cdef int read_leaf(self, leaf) except -1
    cdef int read_relation(self, relation) except -1
    cdef Step *step(self) except NULL
    cdef uint32_t attribute(self, str name) except? 0xFFFFFFFF
    cdef uint32_t string(self, text) except 0xFFFFFFFF
    cdef int close_chunk(self, uint64_t begin) except -1
    cdef int read_operand(self, node, int side) except -1
    cdef int push_operand(self, PyObject *node) except -1
    cdef Action *action(self, int what) except NULL
    cdef int read_term(self, one) except -1
    cdef uint32_t read_patterns(self, patterns) except? 0xFFFFFFFF
    cdef int read_set(self, PyObject *values) except -1
    cdef uint64_t *word(self, uint64_t count) except NULL
    cdef Leaf *start_leaf(self, int kind) except NULL
    cdef int add_leaf(self, uint32_t attribute, int kinds) except -1
