# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
# Where properties come from: the state of one evaluation, and four sources. _vm.pxd says who owns what.

from cpython.dict cimport PyDict_CheckExact
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_CheckExact
from libc.stdint cimport int32_t, uint32_t, uint64_t

from mqsel.machine._image cimport *

cdef extern from "Python.h":
    PyObject **PySequence_Fast_ITEMS(PyObject *sequence)
    Py_ssize_t PySequence_Fast_GET_SIZE(PyObject *sequence)
    PyObject *Py_TYPE(PyObject *item)

cdef enum:
    NO_PLACE = 0x7FFFFFFF       # beyond the entries of any dict


# One property of the current message: a cache line.
cdef struct Slot:
    uint64_t stamp           # number of the message for which it was fetched last
    Value value              # valid if the stamp is that of the frame; a string in it is borrowed from the message
    PyObject *name           # interned, kept alive by the machine
    PyObject *alias          # its other spelling (usr.x), or NULL
    PyObject *owner          # strong reference to what the value points to, where one is needed; released late
    # Dicts of one shape hold a property at one place: to look there costs a fraction of a probe.
    Py_ssize_t place         # number of the property's entry in the dicts seen last; NO_PLACE
    int trust                # > 0: misses until the place is forgotten; <= 0: counts up towards the next search for it


# What one evaluation needs. Frames are pooled by the machine: no allocation for a message.
cdef struct Frame:
    uint64_t stamp           # number of the current message
    Image *image             # of the machine
    Slot *slots              # one for each slot of the program
    Value *stack             # value stack
    unsigned char *truths    # truth stack below its top, which the loop keeps in a register
    PyObject **items         # the current message in the list that is being read; NULL where there is none
    Py_ssize_t left          # messages of the list that the loop may go on to by itself
    PyObject *held           # strong reference to the current message, once foreign code has run
    Frame *next              # in the pool


# The four property sources: the loop is specialised for each by the compiler.
cdef struct DictSource:
    PyObject *message        # exact dict


cdef struct SequenceSource:
    PyObject *sequence       # tuple or list; a list may shrink while one of its values is read
    int32_t *positions       # of a Layout
    int32_t *types           # of a Layout, or NULL
    Py_ssize_t width         # of a Layout


cdef struct RecordSource:
    Value *values            # of a Record
    int32_t *positions       # of a Layout; none of them is negative
    PyObject *schema         # of the Record


cdef struct MappingSource:
    PyObject *message        # anything with get()


ctypedef fused Source:
    DictSource
    SequenceSource
    RecordSource
    MappingSource


# Those whose values are Python objects, to be read into slots.
ctypedef fused FetchedSource:
    DictSource
    SequenceSource
    MappingSource


cdef Value *slot_first(Frame *frame, FetchedSource *source, uint32_t number) except NULL
cdef void frame_secure(Frame *frame) noexcept
cdef void frame_hold(Frame *frame) noexcept


cdef inline Value *slot_value(Frame *frame, Source *source, uint32_t number) except NULL:
    """Return the value of a slot, fetching it if this message has not been asked for it yet."""
    cdef Slot *slot
    if Source is RecordSource:
        return &source.values[source.positions[number]]
    else:
        slot = &frame.slots[number]
        if slot.stamp == frame.stamp:
            return &slot.value
        return slot_first(frame, source, number)


cdef inline bint source_advance(Frame *frame, Source *source, int truth) noexcept:
    """Go on to the next message of the list, if this one is not selected and the next has the same source."""
    cdef PyObject *message
    cdef bint alike = False
    if truth != TRUE and frame.left > 0:
        message = frame.items[1]
        if Source is DictSource:
            alike = PyDict_CheckExact(<object> message)
            source.message = message
        elif Source is SequenceSource:
            alike = PyTuple_CheckExact(<object> message) and PySequence_Fast_GET_SIZE(message) == source.width
            source.sequence = message
        elif Source is RecordSource:
            if <PyObject *> Py_TYPE(message) == <PyObject *> Record:
                alike = <PyObject *> (<Record> message).schema == source.schema
                source.values = (<Record> message).values
        if alike:
            frame.items += 1
            frame.left -= 1
            frame.stamp += 1
    return alike
