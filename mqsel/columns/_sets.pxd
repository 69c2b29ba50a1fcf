# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# Sets of typed values in C: what a leaf of the normal form holds.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t


cdef struct Interval:
    int64_t low
    int64_t high


cdef struct Stretch:
    double low
    double high


cdef struct FloatSet:
    Stretch *items
    int count
    bint nan


# Bytes to compare with: the whole, and as the loops see texts (see _loops.h).
cdef struct Needle:
    const uint8_t *data
    int64_t size
    uint64_t key             # its first eight bytes, filled up with zeros
    uint64_t kept            # which of the eight are its own
    uint64_t tail            # its last eight bytes, at the upper end
    uint64_t tail_kept
    uint64_t[2] view         # as a view: the length, and all of up to twelve bytes, else the first four
    uint64_t[2] view_kept
    uint64_t[2] begin        # likewise without the length
    uint64_t[2] begin_kept


cdef enum Shape:
    PREFIX
    SUFFIX
    CONTAINS
    PATTERN


# A part of a LIKE pattern between two %: bytes and any code points by turns.
cdef struct Atom:
    const uint8_t *data
    int64_t size             # 0 for _
    int64_t points           # of _, how many in a row


cdef struct PatternSegment:
    Atom *atoms
    int count
    int64_t points           # code points in all
    int64_t lead             # of a segment between two others: _ before its atoms, and behind them
    int64_t trail


cdef enum:
    LINEAR_POINTS = 8        # so many points are compared one after the other, and that by vectors
    TOO_LONG = -1            # instead of a truth: the search would take too long for a block


cdef struct LikePattern:
    int shape                # a Shape
    Needle needle            # of a prefix, suffix or what is contained
    PatternSegment *segments        # of a PATTERN
    int count


cdef struct TextSet:
    Needle *points
    int count
    LikePattern *patterns
    int pattern_count
    bint negated             # the set is what is none of all that
    # Open addressing over the points, number + 1 or 0; NULL for a few.
    uint32_t *table
    uint32_t mask
    bint long_points         # one is longer than eight bytes
    bint huge_points         # one is longer than sixteen


cdef struct ValueSet:
    bint null
    uint8_t booleans[2]      # whether FALSE, and TRUE, is in
    Interval *integers
    int integer_count
    FloatSet floats32
    FloatSet floats64
    TextSet strings
    TextSet bytes
    bint poison
    bint error


cdef extern from "_loops.h" nogil:
    enum:
        MOST_CODES
    ctypedef struct CodeTable:
        uint64_t[MOST_CODES + 1][2] texts


# The short texts that the leaves of a column name, by number from 1 on.
cdef struct Vocabulary:
    CodeTable keys           # of texts between offsets
    CodeTable views
    bint has_tails           # one is longer than eight bytes


# Memory for what a kernel is made of, as long as the kernel lives.
cdef class Arena:
    cdef list pieces
    cdef void *take(self, Py_ssize_t count, size_t size) except NULL


cdef int values_read(Arena arena, object given, ValueSet *values) except -1
cdef Vocabulary *vocabulary_read(Arena arena, list points) except? NULL
cdef int pattern_matches(LikePattern *pattern, const uint8_t *data, int64_t size) noexcept nogil
cdef int point_find(TextSet *texts, const uint8_t *data, int64_t size, uint64_t key) noexcept nogil
