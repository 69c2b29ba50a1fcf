# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# Formulas run over a block of rows.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from mqsel.columns._arrow cimport Column
from mqsel.columns._kernel cimport BatchRun, Kernel


cdef int words_check(BatchRun *call) noexcept nogil
cdef int run_truths(BatchRun *call, int64_t start, int rows, int by_null, uint8_t **bits) noexcept nogil
cdef int64_t run_alone(BatchRun *call, int64_t start, int64_t stop, uint64_t *bits) noexcept nogil
cdef int run_formulas(BatchRun *call, int64_t start, int rows) noexcept nogil
cdef int64_t run_count(BatchRun *call, int rows, int32_t *counts) noexcept nogil
cdef void run_places(BatchRun *call, int rows, int32_t *ends, uint32_t *places) noexcept nogil
cdef list kernel_totals(Kernel kernel, Column **columns, int64_t rows, int64_t *totals)
