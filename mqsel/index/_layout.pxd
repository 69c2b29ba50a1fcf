# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
# From a draft to a segment.

from libc.stdint cimport uint32_t

from mqsel.index._draft cimport Draft


cdef bytes draft_layout(Draft *draft, uint32_t attributes)
