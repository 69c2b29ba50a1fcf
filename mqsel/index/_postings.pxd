# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
# From a draft to a segment.

from mqsel.index._memtable cimport Draft
from mqsel.index._segment cimport uint32_t


cdef bytes draft_layout(Draft *draft, uint32_t attributes)
