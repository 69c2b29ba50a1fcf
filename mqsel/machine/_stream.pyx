# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""The stream of selected messages that `filter` returns: pulls messages, counts them, skips those that cannot be read.

Knows machines; knows no opcode. Other threads get their turn even while no message is selected.
"""

cimport cython
from cpython.dict cimport PyDict_CheckExact
from cpython.list cimport PyList_CheckExact
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.tuple cimport PyTuple_CheckExact
from libc.stdlib cimport free

from mqsel.machine._vm cimport *

from mqsel.arguments import iterated
from mqsel.errors import DecodeError, PropertyTypeError
from mqsel.machine import wordings

cdef extern from *:
    """
    #define reference(item) (item)
    """
    object reference(PyObject *item)    # takes over ours

cdef extern from "Python.h":
    PyObject *PyIter_Next(PyObject *iterator)
    PyObject *PyErr_Occurred()

cdef enum:
    FAILURES = 100              # errors that a stream keeps
    INTERRUPTED = -2            # status of a message after which a turn raised
    AHEAD = 256                 # messages of a list read ahead for who takes all: few enough to stay in the cache


cdef int propagate() except -1:
    """Raise the exception that is set."""
    return -1


cdef int (*RUN_DECODED)(Selection, PyObject *) noexcept
cdef int (*TROUBLE)(Selection, int) noexcept
cdef int (*LATE)(Selection, int) noexcept
cdef int (*LOOK)(Pace *, Py_ssize_t) noexcept


cdef inline int run_quietly(Machine machine, Frame *frame, PyObject *message) noexcept:
    """Run the quick code on a message; dicts, tuples and Records go straight to their loop."""
    cdef DictSource mapping
    cdef SequenceSource sequence
    cdef RecordSource record
    if PyDict_CheckExact(<object> message) and not machine.folds:
        mapping.message = message
        return RUN_DICT(frame, &mapping, machine.image.steps)
    if machine.layout is not None and PyTuple_CheckExact(<object> message):
        if PySequence_Fast_GET_SIZE(message) == machine.layout.width:
            sequence.sequence = message
            sequence.positions = machine.layout.positions
            sequence.types = machine.layout.types
            sequence.width = machine.layout.width
            return RUN_SEQUENCE(frame, &sequence, machine.image.steps)
    if <PyObject *> Py_TYPE(message) == <PyObject *> Record and machine.record_layout is not None:
        if (<Record> message).schema is machine.record_layout.names:
            record.values = (<Record> message).values
            record.positions = machine.record_layout.positions
            record.schema = <PyObject *> (<Record> message).schema
            if not is_unordered_record(machine.image, &record):
                return RUN_RECORD(frame, &record, machine.image.steps)
    return DISPATCH(machine, frame, message)


@cython.final
@cython.no_gc_clear  # the frame points into the machine
cdef class Selection:
    """Iterate over the selected ones of *messages*, untouched and in order. Pulls one message at a time.

    Of a list or tuple some are read ahead where list() or tuple() take all: nothing runs in between.

    Attributes:
        seen, selected, skipped: counts so far.
        failures: the errors of the messages skipped, at most 100 of them; each knows its index.
        decode: the decoder of raw messages, or None; that of IBM MQ counts as ``noted`` the messages of which it
            skipped something.
    """

    cdef Machine machine
    cdef object messages                # iterator, list or tuple; None once exhausted
    cdef readonly object decode         # makes of a raw message what the machine reads, or True or False; or None
    cdef bint indexed                   # a list or tuple, read by index: no iterator between us and it
    cdef Frame *frame
    cdef Pace pace
    cdef bint skipping                  # errors="skip"
    cdef bint running                   # being made, or inside __next__: nobody else must enter
    # For who takes all: messages of a list that are selected, read ahead. A cycle through them is not collected.
    cdef PyObject **ahead               # room for them, or NULL
    cdef PyObject **taken               # the next of them, a reference that is ours
    cdef PyObject **end                 # behind the last of them; equal where there is none
    cdef object late                    # the exception that is raised behind them, or None
    cdef readonly Py_ssize_t seen       # messages pulled so far
    cdef readonly Py_ssize_t selected
    cdef readonly Py_ssize_t skipped    # messages that raised PropertyTypeError or DecodeError
    cdef readonly list failures         # the first of these errors

    def __cinit__(self, Machine machine not None, messages, bint skipping=False, decode=None):
        self.running = True  # for foreign code that finds it before it is complete
        self.machine = machine
        self.skipping = skipping
        self.failures = []
        self.decode = decode
        self.frame = machine.frame_take()
        # Raw messages are decoded one by one: the machine cannot go through a list of them by itself.
        self.indexed = decode is None and (PyList_CheckExact(messages) or PyTuple_CheckExact(messages))
        self.messages = messages if self.indexed else iterated(messages, "an iterable of messages")
        pace_start(&self.pace)
        self.running = False

    def __dealloc__(self):
        stream_drop(self)
        free(self.ahead)
        if self.frame != NULL:
            frame_release(self.frame)
            frame_free(self.frame)

    def __iter__(self):
        return self

    def __repr__(self):
        return f"<mqsel.Selection: {self.seen:,} seen, {self.selected:,} selected, {self.skipped:,} skipped>"

    def __next__(self):
        if self.taken == self.end:
            return stream_next(self)
        return stream_take(self)

    def __length_hint__(self):
        """Read a list ahead from now on: list() and tuple() ask this before they take all of us."""
        if self.indexed and not self.running and self.ahead == NULL:
            self.ahead = <PyObject **> zeroed(AHEAD, sizeof(PyObject *))
            self.taken = self.end = self.ahead
        return NotImplemented

    def close(self) -> None:
        """End the stream."""
        self.messages = self.late = None
        stream_drop(self)


cdef inline object stream_take(Selection stream):
    """Return the next message of those read ahead."""
    stream.selected += 1
    stream.taken += 1
    return reference((stream.taken - 1)[0])


cdef object stream_next(Selection stream):
    """Return the next message that is selected, and perhaps read some ahead."""
    cdef PyObject *messages
    cdef PyObject *message
    cdef PyObject **first
    cdef Py_ssize_t left
    cdef int status
    if stream.running:
        raise wordings.stream_shared()
    held = stream.messages
    messages = <PyObject *> held  # also when somebody closes the stream
    stream.running = True
    # Nothing below propagates an exception until `running` is taken back: no try, which would cost each answer.
    while stream.messages is not None:
        if stream.indexed:
            # A list may shrink under us, as under any iterator.
            left = PySequence_Fast_GET_SIZE(messages) - stream.seen
            if left <= 0:
                break
            # The machine goes through the list by itself until a message is selected, or the clock is due. Messages
            # are borrowed from the list until foreign code runs that may change it.
            first = PySequence_Fast_ITEMS(messages) + stream.seen
            stream.frame.items = first
            stream.frame.left = min(left, stream.pace.due - stream.seen) - 1
            if stream.ahead != NULL:
                stream.frame.ahead = stream.ahead
                stream.frame.left = min(stream.frame.left, AHEAD - 1)
            status = run_quietly(stream.machine, stream.frame, first[0])
            stream.seen += stream.frame.items - first + 1
            message = stream.frame.held
            if message == NULL:
                message = stream.frame.items[0]
                Py_INCREF(<object> message)
            stream.frame.held = NULL
        else:
            message = PyIter_Next(messages)
            if message == NULL:
                break
            stream.seen += 1
            if stream.decode is None:
                status = run_quietly(stream.machine, stream.frame, message)
            else:
                status = RUN_DECODED(stream, message)
        if stream.seen >= stream.pace.due and status >= 0 and LOOK(&stream.pace, stream.seen) < 0:
            status = INTERRUPTED
        if stream.frame.ahead != stream.ahead:
            # Those read ahead come first, and an exception last.
            stream.taken = stream.ahead
            stream.end = stream.frame.ahead
            if status == TRUE:
                stream.end[0] = message
                stream.end += 1
            else:
                Py_DECREF(<object> message)
            if stream.messages is None:  # somebody closed it
                stream_drop(stream)
            if status < 0:
                LATE(stream, status)
            stream.running = False
            return stream_take(stream) if stream.taken != stream.end else stream_next(stream)
        if status == TRUE:
            stream.running = False
            stream.selected += 1
            return reference(message)
        Py_DECREF(<object> message)
        if status < 0 and TROUBLE(stream, status) < 0:
            break
    stream.running = False
    stream.messages = None
    if stream.late is not None:
        error, stream.late = stream.late, None
        raise error
    if PyErr_Occurred():
        propagate()
    raise StopIteration


cdef void stream_drop(Selection stream) noexcept:
    """Let go of the messages read ahead, each of which may call us."""
    while stream.taken != stream.end:
        stream.taken += 1
        Py_DECREF(<object> (stream.taken - 1)[0])


cdef int stream_late(Selection stream, int status) except -1:
    """Handle the exception that is set, but raise what comes of it behind the messages read ahead."""
    try:
        stream_trouble(stream, status)
    except BaseException as error:
        stream.late = error
    return 0


cdef int stream_decoded(Selection stream, PyObject *message) except -1:
    """Decode a message, and run on that if it is not the answer yet."""
    held = stream.decode(<object> message)
    if held is True or held is False:
        return held is True
    return stream.machine.dispatch(stream.frame, <PyObject *> held, 0)


cdef int stream_trouble(Selection stream, int status) except -1:
    """Handle the exception that is set: it came from the message that was just read, or from a turn."""
    try:
        propagate()
    except (PropertyTypeError, DecodeError, StopIteration) as error:
        if status == INTERRUPTED or not stream.skipping:
            stream.messages = None
            if isinstance(error, StopIteration):
                raise wordings.no_answer(stream.seen - 1) from error
            error.index = stream.seen - 1
            raise
        stream.skipped += 1
        if len(stream.failures) < FAILURES:
            error = error.with_traceback(None)
            if not isinstance(error, StopIteration):
                error.index = stream.seen - 1
                stream.failures.append(error)
    except BaseException:
        stream.messages = None
        raise
    return 0


# The same functions, but an exception they raise stays set and is the caller's to notice (status -1).
RUN_DECODED = <int (*)(Selection, PyObject *) noexcept> <void *> stream_decoded
TROUBLE = <int (*)(Selection, int) noexcept> <void *> stream_trouble
LATE = <int (*)(Selection, int) noexcept> <void *> stream_late
LOOK = <int (*)(Pace *, Py_ssize_t) noexcept> <void *> pace_look
