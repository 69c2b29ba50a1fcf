# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
# The index behind a set of selectors.

from cpython.object cimport PyObject
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from mqsel.index._drafter cimport Drafter
from mqsel.index._pieces cimport Piece
from mqsel.index._search cimport Search
from mqsel.machine._values cimport Record


cdef class Index:
    cdef list _names                    # of attributes
    cdef dict numbers                   # name -> its place there
    cdef tuple named                    # the names, as given out
    cdef list pieces                    # Piece, the largest first; replaced as a whole
    cdef Drafter tail                   # of what was added last
    cdef uint64_t tail_count            # selectors in it
    cdef uint64_t version               # of the pieces
    cdef Search *idle                   # what searches need, while none needs it
    cdef uint8_t *live                  # a bit for each place that has a selector
    cdef uint64_t live_room             # bytes
    cdef readonly uint64_t selectors    # how many there are
    cdef uint32_t place_limit           # beyond the greatest place ever used
    cdef object writing                 # a lock: who changes anything holds it; who searches does not
    cdef list joining                   # the pieces that a thread makes one of
    cdef object joiner                  # that thread

    cdef Search *take(self) except NULL
    cdef void give(self, Search *search) noexcept
    cdef Py_ssize_t search_c(
        self, Record record, const uint8_t *within, Py_ssize_t within_size, Search *search
    ) except -1
    cdef int run(self, Record record, Search *search, bint is_search) except -1
    cdef int finish(self, Search *search, const uint8_t *within, Py_ssize_t within_size) except -1
    cdef int mark(self, uint32_t place) except -1
    cdef int settle(self) except -1
    cdef int push(self, Piece piece) except -1
    cdef int tidy(self) except -1
    cdef int replace(self, list joined, Piece made) except -1
    cdef int add_(self, places, formulas) except -1
    cdef int remove_(self, place) except -1
    cdef int renumber_(self, places) except -1
    cdef list buffers(self)
