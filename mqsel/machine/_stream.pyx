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

from mqsel.machine._vm cimport *

from mqsel.errors import DecodeError, PropertyTypeError
from mqsel.machine import wordings

cdef extern from "Python.h":
    PyObject *PyIter_Next(PyObject *iterator)
    PyObject *PyErr_Occurred()

cdef enum:
    FAILURES = 100              # errors that a stream keeps
    INTERRUPTED = -2            # status of a message after which a turn raised


cdef int propagate() except -1:
    """Raise the exception that is set."""
    return -1


cdef int (*RUN_DECODED)(Selection, PyObject *) noexcept
cdef int (*TROUBLE)(Selection, int) noexcept
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
            return RUN_RECORD(frame, &record, machine.image.steps)
    return DISPATCH(machine, frame, message)


@cython.final
@cython.no_gc_clear  # the frame points into the machine
cdef class Selection:
    """Iterate over the selected ones of *messages*, untouched and in order. Pulls one message at a time.

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
        self.messages = messages if self.indexed else iter(messages)
        pace_start(&self.pace)
        self.running = False

    def __dealloc__(self):
        if self.frame != NULL:
            frame_release(self.frame)
            frame_free(self.frame)

    def __iter__(self):
        return self

    def __repr__(self):
        return f"<mqsel.Selection: {self.seen:,} seen, {self.selected:,} selected, {self.skipped:,} skipped>"

    def __next__(self):
        cdef PyObject *messages
        cdef PyObject *message
        cdef PyObject **first
        cdef Py_ssize_t left
        cdef int status
        cdef object result
        if self.running:
            raise wordings.stream_shared()
        held = self.messages
        messages = <PyObject *> held  # also when somebody closes the stream
        self.running = True
        # Nothing below propagates an exception until `running` is taken back: no try, which would cost each answer.
        while self.messages is not None:
            if self.indexed:
                # A list may shrink under us, as under any iterator.
                left = PySequence_Fast_GET_SIZE(messages) - self.seen
                if left <= 0:
                    break
                # The machine goes through the list by itself until a message is selected, or the clock is due. Messages
                # are borrowed from the list until foreign code runs that may change it.
                first = PySequence_Fast_ITEMS(messages) + self.seen
                self.frame.items = first
                self.frame.left = min(left, self.pace.due - self.seen) - 1
                status = run_quietly(self.machine, self.frame, first[0])
                self.seen += self.frame.items - first + 1
                message = self.frame.held
                if message == NULL:
                    message = self.frame.items[0]
                    Py_INCREF(<object> message)
                self.frame.held = NULL
            else:
                message = PyIter_Next(messages)
                if message == NULL:
                    break
                self.seen += 1
                if self.decode is None:
                    status = run_quietly(self.machine, self.frame, message)
                else:
                    status = RUN_DECODED(self, message)
            if self.seen >= self.pace.due and status >= 0 and LOOK(&self.pace, self.seen) < 0:
                status = INTERRUPTED
            if status == TRUE:
                self.running = False
                self.selected += 1
                result = <object> message
                Py_DECREF(result)
                return result
            Py_DECREF(<object> message)
            if status < 0 and TROUBLE(self, status) < 0:
                break
        self.running = False
        self.messages = None
        if PyErr_Occurred():
            propagate()
        raise StopIteration

    def close(self) -> None:
        """End the stream."""
        self.messages = None


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
LOOK = <int (*)(Pace *, Py_ssize_t) noexcept> <void *> pace_look
