# The machine's design: what one evaluation holds, where properties come from.
#
# Who owns what. Code of others runs where an object is asked that is no exact str, int, float, bytes, list, tuple,
# Record or dict with plain keys; where such an object is let go; where an error is made, which is Python (a profiler,
# the collector and other threads may have their turn); and where others are given a turn. It may change every list,
# dict and Record, call every machine and stream, collect what is garbage, and drop every reference that is not ours.
# What is read again after it has run is ours:
#
# * The message at hand is the caller's; while a list is walked it is borrowed from the list, until frame_hold.
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

from mqsel.machine._image cimport *
from mqsel.machine._verifier cimport Verified


# One property of the message at hand: a cache line.
cdef struct Slot:
    uint64_t stamp           # number of the message for which it was fetched last
    Value value              # valid if the stamp is that of the frame; a string in it is borrowed from the message
    PyObject *name           # interned, kept alive by the machine
    PyObject *alias          # its other spelling (usr.x), or NULL
    PyObject *owner          # strong reference to what the value points to, where one is needed; released late
    # Dicts of one shape hold a property at one place: to look there costs a fraction of a probe.
    Py_ssize_t place         # number of the property's entry in the dicts seen last; NO_PLACE
    int trust                # > 0: misses until the place is forgotten; <= 0: counts up towards the next search for it


# Where the properties of a program stand in the messages of one layout. Never changed: an evaluation holds the layout
# it began with while the machine may already have gone on to another.
cdef class Layout:
    cdef object names        # what the positions were found from, as it came
    cdef object copy         # a list of the names, where what came may change in place
    cdef Py_ssize_t width    # number of names
    cdef int32_t *positions  # for each slot its place among the names, or -1
    cdef int32_t *types      # for each slot its declared MQTYPE, or 0; NULL if none is declared


# What one evaluation needs. Frames are pooled by the machine: no allocation for a message.
cdef struct Frame:
    uint64_t stamp           # number of the current message
    Image *image             # of the machine
    Slot *slots              # one for each slot of the program
    Value *stack             # value stack
    unsigned char *truths    # truth stack below its top, which the loop keeps in a register
    PyObject **items         # the message at hand in the list that is being read; NULL where there is none
    Py_ssize_t left          # messages of the list that the loop may go on to by itself
    PyObject *held           # strong reference to the message at hand, once code of others has run
    Frame *next              # in the pool


# The five property sources: the loop is specialised for each by the compiler.
cdef struct DictSource:
    PyObject *message        # exact dict


cdef struct SequenceSource:
    PyObject *sequence       # tuple or list; a list may shrink while one of its values is read
    int32_t *positions       # of a Layout
    int32_t *types           # of a Layout, or NULL
    Py_ssize_t width         # of a Layout


cdef struct RecordSource:
    Value *values            # of a Record
    int32_t *positions
    PyObject *schema         # of the Record


cdef struct MappingSource:
    PyObject *message        # anything with get()


# The rows of a batch whose columns the machine does not know: it asks for the values it wants.
cdef struct ColumnSource:
    int (*load)(void *columns, uint32_t number, int64_t row, Slot *slot) except -1
    void *columns            # what load knows them by
    int64_t row              # at hand
    uint8_t *truths          # of the rows before, where the machine went on by itself


ctypedef fused Source:
    DictSource
    SequenceSource
    RecordSource
    MappingSource
    ColumnSource


# Those whose values are Python objects, to be read into slots.
ctypedef fused FetchedSource:
    DictSource
    SequenceSource
    MappingSource


cdef class Machine:
    cdef readonly Verified program      # a Program; only what is verified has these fields
    cdef readonly object schema         # Schema, or None
    cdef Image *image                   # NULL before the first run
    cdef uint32_t exact                 # address of the exact code
    cdef Layout layout                  # of the schema; None without one, and before the first run
    cdef Layout row_layout              # of the rows seen last that name their positions themselves
    cdef Layout record_layout           # of the Records seen last
    cdef object mapping_type            # type of the last message that was found to be a Mapping
    cdef Frame *pool

    cdef int prepare(self) except -1
    cdef Frame *frame_take(self) except NULL
    cdef void frame_give(self, Frame *frame) noexcept
    cdef int dispatch(self, Frame *frame, PyObject *message, uint32_t start) except -1
    cdef int run_rows(self, Frame *frame, ColumnSource *source, uint32_t start) except -1
    cdef int dispatch_slow(self, Frame *frame, object message, uint32_t start) except -1
    cdef Layout row_layout_of(self, object message)
    cdef Layout layout_of(self, object names)


# When to give others a turn: by a clock that is looked at once in so many messages.
cdef struct Pace:
    int64_t turned           # the last turn, in nanoseconds
    int64_t looked           # the last look at the clock
    Py_ssize_t stretch       # messages from one look to the next
    Py_ssize_t due           # how many are seen when the next look is due


cdef void pace_start(Pace *pace) noexcept
cdef int pace_look(Pace *pace, Py_ssize_t seen) except -1


cdef class Record:
    cdef readonly object schema         # Schema: names and types of the slots
    cdef dict places                    # name -> slot
    cdef Py_ssize_t count
    cdef Value *values
    cdef PyObject **owners              # strong references to the strings and byte strings in the values

    cdef int put(self, Py_ssize_t place, object value) except -1


cdef class Selection:
    cdef Machine machine
    cdef object messages                # iterator, list or tuple; None once exhausted
    cdef readonly object decode         # makes of a raw message what the machine reads, or True or False; or None
    cdef bint indexed                   # a list or tuple, read by index: no iterator between us and it
    cdef Frame *frame
    cdef Pace pace
    cdef bint skipping                  # errors="skip"
    cdef bint running                   # being made, or inside __next__: nobody else must enter
    cdef readonly Py_ssize_t seen       # messages pulled so far
    cdef readonly Py_ssize_t selected
    cdef readonly Py_ssize_t skipped    # messages that raised PropertyTypeError or DecodeError
    cdef readonly list failures         # the first of these errors

    cdef int decoded(self, PyObject *message) except -1
    cdef int trouble(self, int status) except -1
