# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# A formula run over a block of rows.

from libc.stdint cimport int64_t, uint8_t

from mqsel.columns._kernel cimport Call


cdef int run_leaf(Call *call, int number, int64_t start, int rows, const uint8_t *active, uint8_t *mask) noexcept nogil
cdef int run_relation(
    Call *call, int number, int64_t start, int rows, const uint8_t *active, uint8_t *mask
) noexcept nogil
cdef int run_block(
    Call *call, int number, int64_t start, int rows, const uint8_t *active, int alive, uint8_t *mask
) noexcept nogil
cdef void nulls_among(Call *call, int64_t start, int rows, uint8_t *mask) noexcept nogil
