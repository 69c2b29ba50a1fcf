# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
# One segment of several, and segments with other places.

from libc.stdint cimport uint32_t

from mqsel.index._segment cimport StoredSegment


cdef int tombstones_since(StoredSegment made, StoredSegment stored, bytes before) except -1
cdef StoredSegment merged(list segments, list tombstones)
cdef StoredSegment renumbered(StoredSegment stored, const uint32_t *places, uint32_t limit)
