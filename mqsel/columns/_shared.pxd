# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# Many formulas over a block of rows, what they share computed once.

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from mqsel.columns._kernel cimport Call, Kernel


# What is known of a term in the current block.
cdef struct Result:
    int64_t block            # first row of the block that it holds for, or -1
    int found                # rows
    int parents              # terms, and formulas, that ask for it


# Formulas on their way over one batch; one thread's.
cdef struct Run:
    Call *call
    Result *results          # of each term
    uint64_t *bits           # of each term: a bit a row of the block
    int *roots               # terms of the formulas
    int root_count
    int next_root            # the first formula of the block that is not done
    int words                # of the block


cdef Run *run_begin(Kernel kernel, Call *call) except NULL
cdef void run_end(Run *run) noexcept
cdef int words_check(Call *call) noexcept nogil
cdef int run_formulas(Run *run, int64_t start, int rows) noexcept nogil
cdef int64_t run_count(Run *run, int32_t *counts) noexcept nogil
cdef void run_places(Run *run, int32_t *ends, uint32_t *places) noexcept nogil
