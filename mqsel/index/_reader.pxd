# Reading messages for a set of selectors: who owns what.
#
# A MessageReading belongs to one search, from take to give. What its Record points to it owns itself, so foreign code
# may do to the message what it likes; the values of a Record that is a message are borrowed, because nothing runs until
# the search is over. A SpellingTable never changes.

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint32_t

from mqsel.index._index cimport Index
from mqsel.machine._values cimport Record

cdef enum:
    KNOWN = 256     # keys of dicts of which a MessageReading knows what they are


# A property that some spelling is of.
cdef struct SpellingTarget:
    uint32_t slot
    int32_t next        # another property that this spelling is of, or -1
    bint second         # it counts only in a message that lacks the property's first spelling


# What the properties of a set are called.
cdef class SpellingTable:
    cdef object names           # Schema of the index: for each slot its spellings, joined by a blank
    cdef list first             # for each slot the spelling that counts
    cdef list second            # for each slot the other one, or None
    cdef dict found             # spelling -> number of its first SpellingTarget
    cdef SpellingTarget *targets
    cdef Py_ssize_t target_count
    cdef Py_ssize_t count       # slots
    cdef object origin          # shared with the tables that it became: they have its slots, and more

    cdef int enter(self, str spelling, Py_ssize_t slot, bint second) except -1
    cdef int32_t find(self, PyObject *key) except -2


# What one search reads a message into. Kept by the reader for the next.
cdef class MessageReading:
    cdef SpellingTable table            # of the properties that it reads
    cdef Record record
    cdef Py_ssize_t slots       # that the record has
    cdef uint32_t *touched      # the slots that were written
    cdef Py_ssize_t count       # of them
    cdef bint *is_touched       # for each slot
    cdef PyObject *keys[KNOWN]  # of dicts, owned, by where they lie in memory; or NULL
    cdef int32_t targets[KNOWN]  # what they are


# Where the properties of a table stand in the sequences, or Records, of one layout.
cdef class Positions:
    cdef object names           # what they were found from, as it came
    cdef object copy            # a list of the names, where what came may change in place
    cdef Py_ssize_t width       # number of names
    cdef SpellingTable table            # that they were found for
    cdef Py_ssize_t slots       # of it, then
    cdef Py_ssize_t count       # properties that are there
    cdef uint32_t *slot         # of each
    cdef int32_t *position      # of each
    cdef int32_t *types         # its declared MQTYPE, or 0
    cdef bint straight          # each slot stands at its own place: such a Record is searched as it is


cdef class MessageReader:
    cdef readonly Index index
    cdef object messages                # Schema of messages that are sequences, or None
    cdef object lock                    # who changes the set holds it
    cdef bint is_changing               # somebody does
    cdef readonly Py_ssize_t changes    # how often it was done
    cdef list keys                      # by place: NOT_READ where a file has it, GONE where there is none; and more
    cdef readonly Py_ssize_t size       # places, also those without a key
    cdef readonly Py_ssize_t living     # keys
    cdef dict placed                    # places by key; None if they are to be read from the keys
    cdef readonly object texts          # Texts, by place
    cdef readonly dict own              # by place: dialects that are not that of the set, or None
    cdef readonly dict options          # by place: match options, or None
    cdef object column                  # keys that a file has, by place; None where all of them are here
    cdef SpellingTable table
    cdef Positions laid_out             # of the schema
    cdef Positions row                  # of the rows seen last that name their positions themselves
    cdef Positions recorded             # of the Records seen last
    cdef object mapping_type            # type of the last message that was found to be a Mapping
    cdef list pool
    cdef Py_ssize_t numbering           # how often places have got other numbers

    cdef MessageReading take(self)
    cdef int give(self, MessageReading reading) except -1
    cdef Record read(self, MessageReading reading, object message)
    cdef int read_dict(self, MessageReading reading, object message) except -1
    cdef int look_up(self, MessageReading reading, object message, bint is_dict) except -1
    cdef int read_sequence(self, MessageReading reading, object message, Positions positions) except -1
    cdef Record read_record(self, MessageReading reading, Record message)
    cdef Positions positions_of_row(self, MessageReading reading, object message)
    cdef list answer(self, object message, object within)
    cdef list answer_some(self, object message, list within)
    cdef bytes allowed(self, list within)
    cpdef list keys_at(self, list places)


# A raw message that a queue manager would not show to every selector.
cdef class Received:
    cdef object message
    cdef object shown
