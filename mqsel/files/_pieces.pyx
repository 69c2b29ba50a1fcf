# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Blocks of MQ messages go in, those that are asked for come out: the loop over files that `_dumps` takes apart.

The splitter finds, the decoder reads, the machine executes: this module only counts. Knows no format.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport uint8_t

from mqsel.files._dumps cimport GIVEN, HEAD, MORE, Splitter
from mqsel.files._lines cimport Sifter
from mqsel.formats._mq cimport FILLED, IDENTIFIED, Decoder
from mqsel.machine._values cimport zeroed
from mqsel.machine._vm cimport FALSE, TRUE, UNKNOWN, Frame

from mqsel.errors import DecodeError, FileError, PropertyTypeError


@cython.final
@cython.no_gc_clear  # messages are read by the decoder without asking whether it is there
cdef class Pieces(Sifter):
    """Sifts what a splitter finds.

    Args:
        machine: selects.
        decoder: reads messages, for the slots of the machine.
        complain: takes the place of a message and the error that it is; gives what to yield for it, or None.
        note: takes the place, and the bytes, of the first message of which the decoder skipped something.
        path: of the file, if it has a name: is given for a message that is all that the file has; else None.
        invert: ask for the messages that are not selected.
        counting: give no messages.
        raising: stop behind a message that is an error.
        limit: stop behind so many messages that were asked for; negative for none.
        apart: give lists of messages in place of messages together.
    """

    cdef Decoder decoder
    cdef object complain
    cdef object note
    cdef bytes path
    cdef bytes head         # what stands before the first message goes out with the first that does

    def __cinit__(self, machine, Decoder decoder not None, complain, note, bytes path, *, invert=False,
                  counting=False, raising=False, limit=-1, apart=False):
        self.decoder = decoder
        self.complain = complain
        self.note = note
        self.path = path
        self.record = decoder.record
        self.names = decoder.names
        self.nulls = <Py_ssize_t *> zeroed(decoder.record.count, sizeof(Py_ssize_t))

    def sift(self, Splitter splitter not None) -> list:
        """Sift what the splitter finds in what it has read.

        Returns: what is asked for, in order: messages as they stand, several of them together or in a list, and
            complaints.
        """
        cdef Frame *frame = self.machine.frame_take()
        cdef int outcome
        self.found = []
        self.length = 0
        self.kept = self.kept_stop = NULL
        try:
            self.decoder.enter()
            try:
                while not self.is_over:
                    outcome = splitter.find()
                    if outcome == MORE:
                        break
                    if outcome == HEAD:
                        self.head = PyBytes_FromStringAndSize(
                            <const char *> splitter.raw, splitter.raw_stop - splitter.raw
                        )
                    elif outcome == GIVEN:
                        self.take_given(frame, splitter)
                    else:
                        self.take(frame, splitter)
                self.flush()
            finally:
                self.decoder.busy = False
        finally:
            self.machine.frame_give(frame)
        found, self.found = self.found, []
        return found

    cdef int take_given(self, Frame *frame, Splitter splitter) except -1:
        """Take what was made in Python: a Piece or a FileError."""
        given, splitter.given = splitter.given, None
        cdef bytes raw, message
        cdef const uint8_t *begin
        if isinstance(given, FileError):
            self.messages += 1
            return self.refuse(given.line or given.offset, given)
        raw, message = given.raw, given.message
        begin = <const uint8_t *> PyBytes_AS_STRING(message)
        if self.judge(frame, given.place, begin, PyBytes_GET_SIZE(message)):
            self.give(self.with_head(raw))
        return 0

    cdef int take(self, Frame *frame, Splitter splitter) except -1:
        """Take the message that was found."""
        if not self.judge(frame, splitter.place, splitter.message, splitter.size):
            return 0
        if self.path is not None and splitter.message == splitter.raw:
            return self.give(self.path + b"\n")
        if self.head:
            raw = PyBytes_FromStringAndSize(<const char *> splitter.raw, splitter.raw_stop - splitter.raw)
            return self.give(self.with_head(raw))
        return self.keep(splitter.raw, splitter.raw_stop)

    cdef bytes with_head(self, bytes raw):
        head, self.head = self.head, None
        return head + raw if head else raw

    cdef int judge(self, Frame *frame, Py_ssize_t place, const uint8_t *message, Py_ssize_t size) except -1:
        """Judge and count a message. Returns whether it is to be given."""
        cdef int known, truth
        self.messages += 1
        try:
            known = self.decoder.read(message, size)
            if known == FILLED:
                truth = self.machine.dispatch(frame, <PyObject *> self.decoder.record, self.machine.exact)
                if truth == UNKNOWN:
                    self.count_nulls()
            else:  # without running the selector
                truth = TRUE if known == IDENTIFIED else FALSE
        except (PropertyTypeError, DecodeError) as error:
            return self.refuse(place, error)
        if self.decoder.noted and self.note is not None:
            note, self.note = self.note, None
            note(place, PyBytes_FromStringAndSize(<const char *> message, size))
        return self.is_asked_for(truth)

    cdef int refuse(self, Py_ssize_t place, error) except -1:
        """Count an error in the place of a message."""
        self.skipped += 1
        complaint = self.complain(place, error)
        if complaint is not None:
            self.flush()
            self.found.append(complaint)
        self.is_over = self.raising
        return 0
