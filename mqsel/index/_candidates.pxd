# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
# Which clauses of a segment are true of a record.

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from mqsel.index._memtable cimport Draft, Items
from mqsel.index._segment cimport SegmentArrays
from mqsel.machine._values cimport Record, Value


# What the value of an attribute is to steps.
cdef struct AttributeValue:
    double number               # NaN if it is none
    uint32_t codes[2]           # of a number; of a string or byte string its number in the segment, NONE if it has none
    uint32_t kind               # a Kind
    uint32_t is_value           # whether it is neither NULL nor nothing
    uint32_t hash               # of a string or byte string
    bint is_hashed


# The leaves of a segment that were computed: twice the epoch, and the answer.
cdef struct Memo:
    uint32_t *answers
    uint64_t room


# What one search needs beside the index; one thread's at a time.
cdef struct Search:
    Search *next                # of those that wait
    uint64_t version            # of the segments that it was used with
    uint32_t epoch              # of the message
    bint is_damaged             # something was met that no segment holds
    bint is_short               # of memory
    Value *values               # of the record
    uint32_t value_count
    AttributeValue *slots
    uint64_t slot_room
    uint8_t *buckets            # of each attribute, 65536
    Items present               # uint32_t: attributes that are not NULL
    Items candidates            # uint32_t: postings, then their clauses, and TRUE_IN_ALL where these are proved
    uint64_t *bits              # a bit for each place that was found, until they are listed
    uint16_t *touched           # for each run of places whether one of it may have been found
    uint64_t runs               # how many there are
    bint is_unread              # there may be bits
    Items places                # uint32_t: what was found, rising
    Items stack                 # Value, of arithmetic
    Items segments              # of the pattern that is matched
    Items memos                 # Memo, of each segment
    Items seen                  # uint64_t: a bit for each clause of many places, and each affix, that was met
    Items met                   # uint32_t: which bits those are
    uint64_t budget             # postings, then steps, that no sound segment has
    uint32_t *memo              # of the segment that is searched
    uint64_t asked              # how many open tests of a clause that may be true are listed; 0 to find what is true
    Items open                  # uint32_t: attributes that are such tests
    Items chunks                # uint32_t: leaves whose code was looked at for them
    const uint8_t *tombstones   # of the segment that is searched: a bit for each place that counts no more; or NULL


cdef Search *search_new() except NULL
cdef void search_free(Search *search) noexcept
cdef void memos_free(Search *search) noexcept
cdef int search_begin(
    Search *search, Record record, uint32_t attributes, uint32_t places, const uint32_t *given, uint32_t given_count
) except -1
cdef void search_end(Search *search) noexcept
cdef int memo_take(Search *search, uint64_t number, uint64_t leaves) except -1
cdef int segment_search(Search *search, const SegmentArrays *segment) except -1
cdef int segment_scan(Search *search, const SegmentArrays *segment) except -1
cdef int draft_scan(Search *search, const SegmentArrays *view, const Draft *draft) except -1
cdef int places_read(Search *search) except -1
