# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# Texts of a column, and one leaf of a formula.

from libc.stdint cimport int64_t, uint8_t

from mqsel.columns._columns cimport Reader
from mqsel.columns._sets cimport Values


cdef int texts_load(Reader *reader, int64_t start, int rows) noexcept nogil
cdef void text_at(Reader *reader, int64_t row, const uint8_t **data, int64_t *size) noexcept nogil
cdef int column_mask(
    Reader *reader, Values *values, bint strict, int64_t start, int rows, const uint8_t *wanted, uint8_t *mask
) noexcept nogil
