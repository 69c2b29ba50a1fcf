# The machine's design: who owns what.
#
# Foreign code runs where an object is asked that is no exact str, int, float, bytes, list, tuple,
# Record or dict with plain keys; where such an object is let go; where an error is made, which is Python (a profiler,
# the collector and other threads may run); and where other threads are given a turn. It may change every list,
# dict and Record, call every machine and stream, collect what is garbage, and drop every reference that is not ours.
# What is read again after it has run is ours:
#
# * The current message is the caller's; while a list is walked it is borrowed from the list, until frame_hold.
# * The strings in slots, and so those on the stack, are borrowed from the message, until frame_secure, which does both.
#   After either the walk through the list is over (left = 0): its items are found anew.
# * A Layout in use is held by a reference; that of the machine's schema, once it is there, is never exchanged.
# * A frame out of the pool belongs to one evaluation. That of a Selection, and a Decoder, is guarded by a flag that is
#   set from before it can be found until after its last line.
# * A Record is read without a call in between.
#
# Items and sizes of lists and entries of dicts are never kept over such code. A class whose C fields point into what
# its other fields hold is @no_gc_clear: garbage may still be called, by a __del__ that runs while the collector clears,
# so what it points into stays until it is freed itself. None of them closes a cycle without an object of others in it,
# and that one the collector clears.

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from mqsel.machine._sources cimport *
from mqsel.machine._verifier cimport Verified


# Where the properties of a program stand in the messages of one layout. Never changed: an evaluation holds the layout
# it began with while the machine may already have gone on to another.
cdef class Layout:
    cdef object names        # what the positions were found from, as it came
    cdef object copy         # a list of the names, where what came may change in place
    cdef Py_ssize_t width    # number of names
    cdef int32_t *positions  # for each slot its place among the names, or -1; that behind all, for Records
    cdef int32_t *types      # for each slot its declared MQTYPE, or 0; NULL if none is declared
    cdef list nested         # of a Row of Spark: names that lead into its fields, as of find_nested; else None


cdef class Machine:
    cdef readonly Verified program      # a Program; only what is verified has these fields
    cdef readonly object schema         # Schema, or None
    cdef Image *image                   # NULL before the first run
    cdef uint32_t exact                 # address of the exact code
    cdef bint folds                     # case does not count in names: as an object is compared in two more steps
    cdef dict folded                    # then the names of the slots by their casefold; else None
    cdef Layout layout                  # of the schema; None without one, and before the first run
    cdef Layout row_layout              # of the rows seen last that name their positions themselves
    cdef Layout record_layout           # of the Records seen last
    cdef object mapping_type            # type of the last message that was found to be a Mapping
    cdef Frame *pool
    cdef object plan                    # for batches: see _answers.pyx; None before the first

    cdef int prepare(self) except -1
    cdef Frame *frame_take(self) except NULL
    cdef void frame_give(self, Frame *frame) noexcept
    cdef int dispatch(self, Frame *frame, PyObject *message, uint32_t start) except -1
    cdef int dispatch_slow(self, Frame *frame, object message, uint32_t start) except -1
    cdef int dispatch_mapping(self, Frame *frame, object message, uint32_t start) except -1
    cdef Layout row_layout_of(self, object message)
    cdef list spelled(self)
    cdef Layout layout_of(self, object names)


cdef void frame_release(Frame *frame) noexcept
cdef void frame_free(Frame *frame) noexcept

# Run the quick code on a message behind a source, or on one of any kind. An exception they raise stays set and is the
# caller's to notice (status -1).
ctypedef int (*run_dict)(Frame *, DictSource *, Step *) noexcept
ctypedef int (*run_sequence)(Frame *, SequenceSource *, Step *) noexcept
ctypedef int (*run_record)(Frame *, RecordSource *, Step *) noexcept
ctypedef int (*run_any)(Machine, Frame *, PyObject *) noexcept
cdef run_dict RUN_DICT
cdef run_sequence RUN_SEQUENCE
cdef run_record RUN_RECORD
cdef run_any DISPATCH


# When to give others a turn: by a clock that is looked at once in so many messages.
cdef struct Pace:
    int64_t turned           # the last turn, in nanoseconds
    int64_t looked           # the last look at the clock
    Py_ssize_t stretch       # messages from one look to the next
    Py_ssize_t due           # how many are seen when the next look is due


cdef void pace_start(Pace *pace) noexcept
cdef int pace_look(Pace *pace, Py_ssize_t seen) except -1
cdef int64_t clock_nanoseconds() noexcept nogil
