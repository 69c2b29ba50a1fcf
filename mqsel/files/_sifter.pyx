# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""The compiled loop of `match`: blocks of messages go in, the selected ones come out.

A message is a line, or is found by a splitter. The decoder reads it and the machine evaluates the selector: this module
only goes from one message to the next, and counts. Knows no format.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free
from libc.string cimport memchr, memcpy

from mqsel.files._splitters cimport GIVEN, HEAD, MORE, LongLine, Splitter
from mqsel.files._text cimport Text, text_put
from mqsel.formats._decoder cimport FILLED, IDENTIFIED, UNREAD, Decoder
from mqsel.machine._values cimport NULL_VALUE, Record, zeroed
from mqsel.machine._vm cimport FALSE, TRUE, UNKNOWN, Frame, Machine

from mqsel.errors import DecodeError, FileError, PropertyTypeError, UndocumentedError


@cython.final
@cython.no_gc_clear  # messages are read by the decoder without asking whether it is there
cdef class Sifter:
    """Counts messages, and keeps those that are asked for.

    Attributes:
        lines: how many there were, blank ones included; of other messages none.
        messages: how many there were.
        selected: messages that were asked for.
        unknown: messages for which the selector is UNKNOWN.
        skipped: messages without a truth value.
        is_over: no more is asked for.

    Args:
        machine: selects.
        decoder: reads messages, for the slots of the machine.
        judge: takes a message that the decoder does not read here, and returns its truth value.
        complain: takes the place of a message and the error that it is; returns what to yield for it, or None.
        note: takes the place, and the bytes, of the first message of which the decoder skipped something.
        counter: counts each message in the place of the machine: takes its bytes, or None if the record has every
            property, and whether it is selected, or None where that is for the selector to say. None: the machine does.
        watch: takes the bytes of each message before it is read; None where nobody does.
        path: of the file, if it has a name: stands for a message that is all that the file has; else None.
        invert: ask for the messages that are not selected.
        counting: yield no messages.
        raising: stop after a message that is an error.
        limit: stop after so many messages that were asked for; negative for none.
        reads: stop after so many messages; negative for none.
        apart: yield lists of messages in place of messages together.
        placed: with *apart*, each is a pair of its place and the message.
        runs: takes the byte, of all that was sifted, at which the first of several lines begins, the one behind the
            last, and what `gathered` takes; returns what to yield in their place. None: they are yielded.
    """

    cdef Machine machine
    cdef Decoder decoder
    cdef object judge
    cdef object complain
    cdef object note
    cdef object watch
    cdef object counter
    cdef bytes path
    cdef bint invert
    cdef bint counting
    cdef bint raising
    cdef bint apart                 # each message is an object of its own
    cdef bint placed                # and has its place beside it
    cdef object runs
    cdef const uint8_t *block       # of lines
    cdef Py_ssize_t before          # bytes of the blocks before it
    cdef Py_ssize_t size            # with *runs*, bytes of the runs whose places were kept
    cdef Py_ssize_t limit
    cdef Py_ssize_t reads
    cdef Record record              # of the decoder
    cdef Py_ssize_t *nulls          # for each slot of the record, in how many unknown messages it was NULL
    cdef list found                 # in this block
    cdef list items                 # messages that are kept apart, and have not been put among the found
    cdef bytes head                 # what stands before the first message goes out with the first that does
    cdef const uint8_t *kept        # what stands from here on, and has not been put among the found
    cdef const uint8_t *kept_stop
    cdef Text together              # what was kept before that, of this block; with *runs*, where that stands
    cdef readonly Py_ssize_t lines
    cdef readonly Py_ssize_t messages
    cdef readonly Py_ssize_t selected
    cdef readonly Py_ssize_t unknown
    cdef readonly Py_ssize_t skipped
    cdef readonly bint is_over

    def __cinit__(self, Machine machine not None, Decoder decoder not None, judge, complain, note, watch, bytes path, *,
                  bint invert=False, bint counting=False, bint raising=False, Py_ssize_t limit=-1, Py_ssize_t reads=-1,
                  bint apart=False, bint placed=False, counter=None, runs=None):
        self.machine = machine
        self.decoder = decoder
        self.judge = judge
        self.complain = complain
        self.note = note
        self.watch = watch
        self.counter = counter
        self.path = path
        self.invert = invert
        self.counting = counting
        self.raising = raising
        self.limit = limit
        self.reads = reads
        self.apart = apart
        self.placed = placed
        self.runs = runs
        self.record = decoder.record
        self.nulls = <Py_ssize_t *> zeroed(decoder.record.count, sizeof(Py_ssize_t))
        self.found = []
        self.items = []

    def __dealloc__(self):
        free(self.nulls)
        free(self.together.at)

    def missing(self) -> dict:
        """Return for each property that the decoder reads in how many of the unknown messages it was NULL."""
        return {name: self.nulls[slot] for slot, name in enumerate(self.decoder.names) if self.nulls[slot]}

    def sift(self, unit) -> list:
        """Sift a block of lines, which ends where a line does, or what a splitter finds in what it has read.

        Returns: what is asked for, in order: messages as they stand, several of them together or in a list, and
            complaints.
        """
        cdef Frame *frame = self.machine.frame_take()
        self.found = []
        self.together.size = 0
        self.kept = self.kept_stop = NULL
        try:
            self.decoder.enter()
            try:
                if isinstance(unit, Splitter):
                    self.sift_pieces(frame, <Splitter> unit)
                else:
                    self.sift_lines(frame, unit)
                self.flush()
            finally:
                self.decoder.busy = False
        finally:
            self.machine.frame_give(frame)
        found, self.found = self.found, []
        return found

    cdef int sift_lines(self, Frame *frame, const uint8_t[::1] block) except -1:
        cdef const uint8_t *at = &block[0]
        cdef const uint8_t *limit = at + block.shape[0]
        cdef const uint8_t *line
        cdef const uint8_t *stop
        cdef int truth
        self.block = at
        while at < limit and not self.is_over:
            try:  # outside of the loop: to enter it for each line would cost each
                while at < limit and not self.is_over:
                    line = at
                    stop = <const uint8_t *> memchr(line, c"\n", limit - line)
                    if stop == NULL:
                        at = stop = limit
                    else:
                        at = stop + 1
                    self.lines += 1
                    if self.decoder.read(line, stop, limit) == FILLED:
                        self.messages += 1
                        if self.watch is not None:
                            self.watch(PyBytes_FromStringAndSize(<const char *> line, stop - line))
                        truth = self.truth_of(frame, line, stop)
                        if self.is_asked_for(truth):
                            self.keep(self.lines, line, at)
                    elif not is_blank(line, stop):
                        self.messages += 1
                        if self.is_wanted(frame, self.lines, line, at - line):
                            self.keep(self.lines, line, at)
            except (UndocumentedError, PropertyTypeError) as error:
                self.refuse(self.lines, error)
        self.flush()
        self.before += block.shape[0]
        return 0

    cdef int sift_pieces(self, Frame *frame, Splitter splitter) except -1:
        cdef int outcome
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
        return 0

    cdef int take_given(self, Frame *frame, Splitter splitter) except -1:
        """Judge what was made in Python: a Piece or a FileError."""
        given, splitter.given = splitter.given, None
        cdef bytes raw, message
        cdef const uint8_t *begin
        self.messages += 1
        if isinstance(splitter, LongLine):
            self.lines += 1
            self.before += (<LongLine> splitter).skipped
            return self.refuse(self.lines, given)
        if isinstance(given, FileError):
            return self.refuse(given.line or given.offset, given)
        raw, message = given.raw, given.message
        begin = <const uint8_t *> PyBytes_AS_STRING(message)
        if self.is_wanted(frame, given.place, begin, PyBytes_GET_SIZE(message)):
            self.give(given.place, message if self.placed else self.with_head(raw))
        return 0

    cdef int take(self, Frame *frame, Splitter splitter) except -1:
        """Judge the message that was found."""
        self.messages += 1
        if not self.is_wanted(frame, splitter.place, splitter.message, splitter.size):
            return 0
        if self.placed:  # to be read again, not to be written as it stands
            return self.give(splitter.place, PyBytes_FromStringAndSize(<const char *> splitter.message, splitter.size))
        if self.path is not None and splitter.is_whole:
            return self.give(splitter.place, self.path + b"\n")
        if self.head:
            raw = PyBytes_FromStringAndSize(<const char *> splitter.raw, splitter.raw_stop - splitter.raw)
            return self.give(splitter.place, self.with_head(raw))
        return self.keep(splitter.place, splitter.raw, splitter.raw_stop)

    cdef bytes with_head(self, bytes raw):
        head, self.head = self.head, None
        return head + raw if head else raw

    cdef bint is_wanted(self, Frame *frame, Py_ssize_t place, const uint8_t *message, Py_ssize_t size) except -1:
        """Read, judge and count a message. Returns whether it is to be kept."""
        cdef int reading, truth
        if self.watch is not None:
            self.watch(PyBytes_FromStringAndSize(<const char *> message, size))
        try:
            reading = self.decoder.read(message, message + size, message + size)
            if reading == FILLED:
                truth = self.truth_of(frame, message, message + size)
            elif reading == UNREAD:
                truth = self.judge(PyBytes_FromStringAndSize(<const char *> message, size))
            else:  # without running the selector
                truth = TRUE if reading == IDENTIFIED else FALSE
                if self.counter is not None:
                    self.counter(PyBytes_FromStringAndSize(<const char *> message, size), truth == TRUE)
        except (PropertyTypeError, DecodeError) as error:
            self.refuse(place, error)
            return False
        if self.decoder.noted and self.note is not None:
            note, self.note = self.note, None
            note(place, PyBytes_FromStringAndSize(<const char *> message, size))
        return self.is_asked_for(truth)

    cdef int truth_of(self, Frame *frame, const uint8_t *message, const uint8_t *stop) except -1:
        """Judge, or count, the message that the record is of."""
        cdef Py_ssize_t slot
        cdef int truth
        if self.counter is None:
            truth = self.machine.dispatch(frame, <PyObject *> self.record, self.machine.exact)
            if truth == UNKNOWN:
                self.count_nulls()
            return truth
        data = None
        for slot in range(self.record.count):
            if self.record.values[slot].tag == NULL_VALUE:
                data = PyBytes_FromStringAndSize(<const char *> message, stop - message)
                break
        self.counter(data, None)
        return FALSE

    cdef bint is_asked_for(self, int truth) noexcept:
        """Count a message by its truth value. Returns whether it is to be kept."""
        self.unknown += truth == UNKNOWN
        self.is_over = self.messages == self.reads
        if (truth == TRUE) == self.invert:
            return False
        self.selected += 1
        self.is_over = self.is_over or self.selected == self.limit
        return not self.counting

    cdef int refuse(self, Py_ssize_t place, error) except -1:
        """Count an error in the place of a message."""
        self.skipped += 1
        complaint = self.complain(place, error)
        if complaint is not None:
            self.flush()
            self.found.append(complaint)
        self.is_over = self.raising or self.messages == self.reads
        return 0

    cdef int count_nulls(self) noexcept:
        cdef Py_ssize_t slot
        for slot in range(self.record.count):
            self.nulls[slot] += self.record.values[slot].tag == NULL_VALUE
        return 0

    cdef int keep(self, Py_ssize_t place, const uint8_t *raw, const uint8_t *stop) except -1:
        """Keep what stands in the block."""
        if self.apart:
            return self.give(place, PyBytes_FromStringAndSize(<const char *> raw, stop - raw))
        if self.kept_stop != raw:
            self.set_aside()
            self.kept = raw
        self.kept_stop = stop
        return 0

    cdef int set_aside(self) except -1:
        """Copy what was kept behind what was kept before: an object for each would take longer than to read it."""
        cdef const void *what = self.kept
        cdef Py_ssize_t size = self.kept_stop - self.kept
        cdef int64_t[2] place
        if self.runs is not None and size > 0:
            self.size += size
            place[0] = self.before + (self.kept - self.block)
            place[1] = place[0] + size
            what, size = place, sizeof(place)
        text_put(&self.together, what, size)
        self.kept = self.kept_stop
        return 0

    cdef int flush(self) except -1:
        """Add what was kept to the found: all together, or a list of what is kept apart."""
        if self.items:
            self.found.append(self.items)
            self.items = []
        elif self.runs is not None:
            self.set_aside()
            if self.together.size:
                self.found.append(self.by_place())
                self.together.size = self.size = 0
        elif self.together.size:
            self.set_aside()
            self.found.append(PyBytes_FromStringAndSize(<const char *> self.together.at, self.together.size))
            self.together.size = 0
        elif self.kept < self.kept_stop:
            self.found.append(PyBytes_FromStringAndSize(<const char *> self.kept, self.kept_stop - self.kept))
        self.kept = self.kept_stop
        return 0

    cdef object by_place(self):
        """Return what stands for the runs; themselves where they are quicker copied than read again.

        To read a byte again takes a sixth of the time of sending it, a run as long as some ten bytes.
        """
        cdef Py_ssize_t start = (<int64_t *> self.together.at)[0]
        cdef Py_ssize_t stop = self.before + (self.kept_stop - self.block)
        places = PyBytes_FromStringAndSize(<const char *> self.together.at, self.together.size)
        if self.size > 4 * self.together.size and 8 * self.size > stop - start:
            return self.runs(start, stop, places, self.size)
        return copied(self.block, self.before, places, self.size)

    cdef int give(self, Py_ssize_t place, bytes item) except -1:
        """Keep what does not stand in the block."""
        if self.apart:
            self.items.append((place, item) if self.placed else item)
        else:
            self.flush()
            self.found.append(item)
        return 0


def gathered(const uint8_t[::1] block, Py_ssize_t before, bytes places, Py_ssize_t size) -> bytes:
    """Return runs of bytes, one behind the other.

    Args:
        block: what the runs are of.
        before: the place of its first byte.
        places: of each run the place of its first byte and of the one behind it, in order, as int64.
        size: bytes of all runs.
    """
    return copied(&block[0], before, places, size)


cdef bytes copied(const uint8_t *block, Py_ssize_t before, bytes places, Py_ssize_t size):
    cdef const int64_t *place = <const int64_t *> PyBytes_AS_STRING(places)
    cdef const int64_t *stop = place + PyBytes_GET_SIZE(places) // sizeof(int64_t)
    cdef bytes runs = PyBytes_FromStringAndSize(NULL, size)
    cdef char *to = PyBytes_AS_STRING(runs)
    while place < stop:
        memcpy(to, block + (place[0] - before), place[1] - place[0])
        to += place[1] - place[0]
        place += 2
    return runs


cdef bint is_blank(const uint8_t *at, const uint8_t *stop) noexcept:
    while at < stop and (at[0] == c" " or 9 <= at[0] <= 13):
        at += 1
    return at == stop
