# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
# The memtable: formulas as clauses of steps, each string, leaf and clause once, in arrays that grow.

from cpython.object cimport PyObject
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from mqsel.index._segment cimport *
from mqsel.machine._operators cimport value_arithmetic, value_sign
from mqsel.machine._values cimport ERR, FLOAT64, INT64, NULL_VALUE, UNKNOWN, Value, value_copy


# A clause in the making: where its steps are, and the first of its links + 1.
cdef struct DraftClause:
    uint32_t code
    uint32_t steps
    uint32_t hash
    uint32_t link


# A place of a clause, and the next link + 1.
cdef struct Link:
    uint32_t place
    uint32_t next


cdef struct Items:
    void *items
    uint64_t count
    uint64_t room


# Numbers + 1 of what is hashed, open addressing.
cdef struct HashTable:
    uint32_t *numbers
    uint64_t size               # a power of two


cdef struct Draft:
    Items strings               # uint32_t, where they begin
    Items string_hashes         # uint32_t
    HashTable string_table
    Items texts                 # bytes
    Items pool                  # words
    Items leaves                # uint32_t, where they begin
    Items leaf_hashes           # uint32_t
    HashTable leaf_table
    Items code                  # ClauseStep
    Items clauses               # DraftClause
    HashTable clause_table
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
    uint64_t clauses


cdef Mark draft_mark(const Draft *draft) noexcept nogil
cdef void draft_rewind(Draft *draft, const Mark *mark) noexcept nogil
cdef void draft_free(Draft *draft) noexcept nogil
cdef uint32_t draft_string(Draft *draft, const uint8_t *data, uint64_t size, int kind, uint32_t hash) noexcept nogil
cdef uint32_t draft_leaf(Draft *draft, const PooledLeaf *leaf) noexcept nogil
cdef uint32_t draft_clause(Draft *draft, const ClauseStep *steps, uint64_t count) noexcept nogil
cdef int draft_place(Draft *draft, uint32_t clause, uint32_t place) noexcept nogil
cdef uint64_t places_count(const Draft *draft) except? 0xFFFFFFFFFFFFFFFF nogil
cdef int steps_link(Draft *draft, ClauseStep *steps, uint64_t count) noexcept nogil
cdef void draft_view(Draft *draft, SegmentArrays *segment, uint32_t attributes) noexcept nogil


cdef inline int items_room(Items *items, uint64_t more, size_t size) noexcept nogil:
    return 0 if items.count + more <= items.room else grown(&items.items, &items.room, items.count + more, size)


cdef inline int by_number(const void *left, const void *right) noexcept nogil:
    cdef uint32_t a = (<const uint32_t *> left)[0]
    cdef uint32_t b = (<const uint32_t *> right)[0]
    return (a > b) - (a < b)


cdef inline Value *operand_run(
    const ArithmeticStep *actions, uint32_t count, Value *top, Value *values, uint32_t value_count, Value *only
) noexcept:
    """Run arithmetic of attributes, each of which is *only*, unless that is NULL. Returns NULL if the result is ERR."""
    cdef uint32_t at
    for at in range(count):
        if actions[at].what == PUSH_ATTRIBUTE:
            if only != NULL:
                value_copy(top, only)
            elif actions[at].attribute < value_count:
                value_copy(top, &values[actions[at].attribute])
            else:
                top.tag = NULL_VALUE
            top += 1
        elif actions[at].what == PUSH_INTEGER or actions[at].what == PUSH_DOUBLE:
            top.tag = INT64 if actions[at].what == PUSH_INTEGER else FLOAT64
            top.it.i = actions[at].number
            top += 1
        elif actions[at].what == COMPUTE:
            top -= 1
            if value_arithmetic(top - 1, top, actions[at].op, UNKNOWN | actions[at].rule) == ERR:
                return NULL
        elif value_sign(top - 1, actions[at].what == NEGATE, UNKNOWN) == ERR:
            return NULL
    return top - 1


# A set of values that fitted into a step, and that step.
cdef struct KnownSet:
    PyObject *values            # owned; NULL in an empty entry
    ClauseStep step


# What a formula is on the way to being read.
cdef class Memtable:
    cdef Draft draft
    cdef readonly list names            # of attributes, in order
    cdef dict numbers                   # name -> its place there
    cdef Items steps                    # ClauseStep, of what is being read
    cdef Items words                    # of the leaf that is being read
    cdef Items frames                   # of groups that are being read
    cdef Items operands                 # of arithmetic that is being read
    cdef KnownSet *known                # sets that were read, by identity; NULL where there are few formulas
    cdef Items pending                  # Link: a place, and its clause, that do not count yet

    cdef int read_many(self, const uint32_t *places, uint64_t count, formulas) except -1
    cdef void forget(self) noexcept
    cdef int read(self, uint32_t place, formula) except -1
    cdef int reserve(self) except -1
    cdef void commit(self, uint64_t count) noexcept
    cdef void drop(self, uint32_t place) noexcept
    cdef int read_clause(self, uint32_t place, formula) except -1
    cdef int read_tree(self, formula, dict shared) except -1
    cdef int read_part(self, part, dict shared) except -1
    cdef int read_leaf(self, leaf) except -1
    cdef int read_relation(self, relation) except -1
    cdef ClauseStep *step(self) except NULL
    cdef uint32_t attribute(self, str name) except? 0xFFFFFFFF
    cdef uint32_t string(self, text) except 0xFFFFFFFF
    cdef int close_chunk(self, uint64_t begin) except -1
    cdef int read_operand(self, node, int side) except -1
    cdef int push_operand(self, PyObject *node) except -1
    cdef ArithmeticStep *action(self, int what) except NULL
    cdef int read_term(self, one) except -1
    cdef uint32_t read_patterns(self, patterns) except? 0xFFFFFFFF
    cdef int read_set(self, PyObject *values) except -1
    cdef uint64_t *word(self, uint64_t count) except NULL
    cdef PooledLeaf *start_leaf(self, int kind) except NULL
    cdef int add_leaf(self, uint32_t attribute) except -1
