# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
# Segments in buffers.

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from mqsel.index._parts cimport Segment


# A segment in a buffer, and which of its places count no more.
cdef class Piece:
    cdef Segment segment
    cdef Py_buffer view
    cdef readonly bint is_foreign       # came from a buffer that may be damaged
    cdef bint has_view
    cdef uint8_t *dead                  # a bit for each place; NULL while all count
    cdef readonly uint64_t dead_count

    cdef int reserve(self) except -1
    cdef void bury(self, uint32_t place) noexcept
    cdef uint64_t living(self) noexcept


cdef object damaged(str why)
cdef void *zeroed(uint64_t size) except NULL
cdef bytes dead_of(Piece piece)
cdef int bury_since(Piece made, Piece piece, bytes before) except -1
cdef Piece merged(list pieces, list dead)
cdef Piece renumbered(Piece piece, const uint32_t *places, uint32_t limit)
cdef dict pieces_stats(list pieces, list names)


cdef inline bint has_bit(const uint8_t *bits, uint32_t place) noexcept:
    return bits[place >> 3] >> (place & 7) & 1


cdef inline bint lives(Piece piece, uint32_t place) noexcept:
    return (
        place < piece.segment.place_limit and has_bit(piece.segment.places, place)
        and (piece.dead == NULL or not has_bit(piece.dead, place))
    )
