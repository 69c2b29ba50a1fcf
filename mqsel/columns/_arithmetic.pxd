# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# Blocks of numbers, computed.

from libc.stdint cimport int64_t

from mqsel.columns._kernel cimport Call, Level, Operand


cdef int compute(Call *call, Operand *operand, Level *first, int64_t start, int rows) noexcept nogil
cdef int promoted(int left, int right) noexcept nogil
cdef void promote(Level *level, int tag, int rows) noexcept nogil
