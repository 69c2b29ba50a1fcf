# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# A formula of the normal form, ready to be run over the columns of a batch.

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from mqsel.columns._arrow cimport Column
from mqsel.columns._columns cimport WORDS, ColumnBlock
from mqsel.columns._sets cimport Arena, ValueSet, Vocabulary


cdef enum:
    AGAIN = -2               # signals have to be looked at before the block goes on
    TURN = 10_000_000        # nanoseconds without a look at them


# As in _loops.h.
cdef enum:
    ADD = 0
    SUBTRACT = 1
    MULTIPLY = 2
    DIVIDE = 3
    REMAINDER = 4


cdef enum TermKind:
    ALL              # true where all its children are
    ONE_OF           # true where one of its children is
    LEAF             # true where a property, or a sum, is in a set
    RELATION         # true where comparing two operands gives one of some outcomes


cdef enum Operation:
    PUSH_COLUMN
    PUSH_NUMBER
    KEEP             # unary plus
    NEGATE
    COMPUTE          # with what was pushed last
    COMPUTE_WITH     # with the number that stands in the instruction
    COMPUTE_NARROW   # likewise, by that rule of `Arithmetic`


# One step of an arithmetic expression, on a stack of blocks of numbers.
cdef struct Instruction:
    int action
    int op                   # of COMPUTE: see _loops.h
    int slot                 # of PUSH_COLUMN
    bint integer             # of a number: INT64, else FLOAT64
    int64_t i
    double d


cdef struct Computation:
    Instruction *code
    int count
    int depth                # of its stack


cdef struct FormulaTerm:
    int kind                 # a TermKind
    int first                # of its children, in the list of all
    int count
    int slot                 # of a LEAF that is a property, else -1
    ValueSet *values           # of a LEAF
    bint is_coded            # a LEAF whose texts are points that have a code
    uint64_t[4] codes        # a bit for each code that is in the set; 0 is that of all other texts
    int memo                 # of a LEAF that is arithmetic: where its numbers are kept for other leaves, or -1
    Computation left             # of such a LEAF
    Computation right            # of a RELATION
    int outcomes             # of a RELATION
    double cost              # what a row is expected to take, where 1 is a comparison
    int parents              # terms, and formulas, that ask for it
    int64_t seen             # rows of the batches before, see Trace
    int64_t passed


# What became of a term so far.
cdef struct Trace:
    int64_t block            # first row of the block that it was last computed for, or -1
    int found                # rows of that
    int64_t seen             # rows, older ones by half
    int64_t passed
    uint8_t *words           # of a leaf over a dictionary: a byte a word
    int64_t only             # the one word with a 1, EVERY, or -1
    uint64_t few             # a bit a word, of a few
    bint is_ready            # all words were tested
    int64_t tested           # how many words were tested so far; -1 if that is for the machine


# A block of numbers: where they are read from, which is a column itself at first, and where results go.
cdef struct Level:
    int tag                  # a Tag of _values
    bint has_errors
    int64_t block            # first row of the block that a memo is of, or -1
    const int64_t *integers
    const double *doubles    # in the same place
    const uint64_t *valid    # a bit for each row with a value; NULL if all have one
    int64_t *room
    uint64_t[WORDS] valid_room
    uint64_t[WORDS] errors


# One batch on its way through a kernel; one thread's.
cdef struct BatchRun:
    FormulaTerm *terms
    int *children            # a copy: their order changes
    Trace *traces            # one for each term
    ColumnBlock *readers          # one for each slot
    Level *memos
    Level *pair              # of a relation's two operands
    Level *stack             # what stands above the first number of an operand
    uint64_t *bits           # of each term: a bit a row of the block
    uint8_t *mask            # of the leaf at hand
    uint8_t *active          # the rows that matter to it
    uint8_t *everything      # all rows
    int *roots
    int root_count
    int next_root            # the first formula of the block that is not done
    int count
    int slots
    int rows                 # of a block
    int64_t turned           # when signals were looked at
    double work              # what a row took since the clock was looked at
    bint by_blocks           # what could be run over many of them was tried, and has to be looked at
    bint strict              # texts are checked even where it does not matter which they are
    int64_t blocks           # that were run, those of the batches before too
    size_t size              # of the memory
    int64_t next_sort        # after how many the children are sorted
    PyObject *kernel         # whose caller holds it


cdef class Kernel:
    cdef readonly tuple slots
    cdef Arena arena
    cdef FormulaTerm *terms
    cdef int *children       # in the order that the last batch ended with
    cdef readonly int count  # of the terms
    cdef int child_count
    cdef int *roots          # of the formulas, in order
    cdef int root_count
    cdef Vocabulary **vocabularies   # of each slot, or NULL
    cdef int memos           # blocks of numbers that are computed once
    cdef int levels          # of the stack of blocks of numbers
    cdef int64_t blocks      # that were run
    cdef int64_t next_sort
    cdef bint has_order      # NaN and -0.0 are refused

    cdef int build(self, tuple formulas) except -1
    cdef int build_codes(self, list formulas) except -1
    cdef int build_leaf(self, leaf, dict numbers, dict memos, FormulaTerm *term) except -1
    cdef int build_operand(self, node, dict numbers, Computation *operand) except -1
    cdef str name_of(self, int slot)
    cdef object refuses(self, Column **columns, int64_t rows)
    cdef BatchRun *start(self, Column **columns, int64_t rows) except NULL


cdef void call_end(BatchRun *call) noexcept
cdef double steps_of(FormulaTerm *term, Column *column) noexcept nogil
cdef int block_of(double steps) noexcept nogil
