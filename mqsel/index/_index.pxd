# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
# The index behind a set of selectors.

from cpython.object cimport PyObject
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from mqsel.index._candidates cimport Search
from mqsel.index._memtable cimport Mark, Memtable
from mqsel.index._segment cimport StoredSegment
from mqsel.machine._values cimport Record


# Who changes something has it, one thread at a time; in a forked process no thread that stayed behind.
cdef class Turn:
    cdef object lock                    # an RLock: another one, if a thread held it that is not in this process
    cdef Py_ssize_t forks               # how often there had been a fork when that was last looked at

    cdef object take(self)


# A change of an index that is prepared, and does not count yet.
cdef class IndexChange:
    cdef object lock                    # under which it is prepared
    cdef Py_ssize_t names               # how many there were before
    cdef uint32_t *removed              # places whose formulas go
    cdef uint64_t removed_count
    cdef list segment_of                # of each of them the StoredSegment that has it, or None for the memtable
    cdef uint32_t *places               # places that get a formula; where places move, the new one of each, or NONE
    cdef uint64_t count                 # of those that get one
    cdef Memtable memtable              # what read their formulas: that of the index, or a new one
    cdef Mark mark                      # how much there was of it before
    cdef uint8_t *live                  # where places move: a bit for each that will have a selector
    cdef uint32_t place_limit           # beyond the greatest place, afterwards
    cdef list segments                  # that there will be; None if they stay


cdef class Index:
    cdef list _names                    # of attributes
    cdef dict numbers                   # name -> its place there
    cdef tuple named                    # the names, as given out
    cdef list segments                  # StoredSegment, the largest first; replaced as a whole
    cdef Memtable memtable              # of what was added last
    cdef uint64_t memtable_count        # selectors in it
    cdef uint64_t version               # of the segments
    cdef Search *idle                   # what searches need, while none needs it
    cdef uint8_t *live                  # a bit for each place that has a selector
    cdef uint64_t live_room             # bytes
    cdef readonly uint64_t selectors    # how many there are
    cdef uint32_t place_limit           # beyond the greatest place ever used
    cdef bint is_foreign                # some segments came from buffers that may be damaged
    cdef Turn writing                   # who changes anything has it; who searches does not
    cdef IndexChange pending            # what is being prepared, or None
    cdef list compacting                # the segments that a thread makes one of; or None
    cdef object compactor               # that thread

    cdef Search *take(self) except NULL
    cdef void give(self, Search *search) noexcept
    cdef Py_ssize_t search_c(self, Record record, const uint32_t *given, Py_ssize_t count, Search *search) except -1
    cdef Py_ssize_t search_into(
        self, Record record, const uint32_t *given, Py_ssize_t count, uint32_t *found, Py_ssize_t room
    ) except -1
    cdef list search_keys(self, Record record, const uint32_t *given, Py_ssize_t count, list keys, object missing)
    cdef list open_tests(self, Record record, uint64_t asked)
    cdef int run(
        self, Record record, const uint32_t *given, Py_ssize_t count, Search *search, bint is_search
    ) except -1
    cdef int finish(self, Search *search, const uint8_t *within, Py_ssize_t within_size) except -1
    cdef object begin_writing(self)
    cdef int change(self, removed, places, formulas) except -1
    cdef IndexChange prepare(self, removed, places, formulas)
    cdef int prepare_removal(self, IndexChange change, removed) except -1
    cdef int prepare_places_of(self, IndexChange change, places, formulas) except -1
    cdef IndexChange prepare_places(self, places)
    cdef int reserve(self, uint32_t limit) except -1
    cdef void commit(self, IndexChange change) noexcept
    cdef void abandon(self, IndexChange change) noexcept
    cdef StoredSegment new_segment(self, Memtable memtable)
    cdef int flush(self) except -1
    cdef int compact_all(self) except -1
    cdef bint compact_some(self) except -1
    cdef int replace(self, list joined, StoredSegment made) except -1
    cdef list buffers(self)
