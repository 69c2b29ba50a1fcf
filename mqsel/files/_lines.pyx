# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Blocks of lines go in, those that are asked for come out: the loop over the messages of files of lines.

The decoder reads, the machine executes: this module only cuts lines and counts. Knows no format: a line that the
decoder does not answer for is handed to a function.
"""

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from libc.stdint cimport uint8_t
from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcpy

from mqsel.formats._json cimport Decoder
from mqsel.machine._values cimport NULL_VALUE, zeroed
from mqsel.machine._vm cimport TRUE, UNKNOWN, Frame, Machine


@cython.no_gc_clear  # as those that are derived from it
cdef class Sifter:
    """Counts messages, and keeps those that are asked for.

    Attributes:
        messages: how many there were.
        selected: messages that were asked for.
        unknown: messages for which the selector is UNKNOWN.
        skipped: messages without a truth value.
        is_over: no more is asked for.
    """

    def __cinit__(self, Machine machine not None, *_, bint invert=False, bint counting=False, bint raising=False,
                  Py_ssize_t limit=-1, bint apart=False):
        self.machine = machine
        self.invert = invert
        self.counting = counting
        self.raising = raising
        self.limit = limit
        self.apart = apart
        self.found = []
        self.items = []

    def __dealloc__(self):
        free(self.nulls)
        free(self.together)

    def missing(self) -> dict:
        """Give for each property that the decoder reads in how many of the unknown messages it was NULL."""
        return {name: self.nulls[slot] for slot, name in enumerate(self.names) if self.nulls[slot]}

    cdef int keep(self, const uint8_t *raw, const uint8_t *stop) except -1:
        """Keep what stands in the block."""
        if self.apart:
            self.items.append(PyBytes_FromStringAndSize(<const char *> raw, stop - raw))
            return 0
        if self.kept_stop != raw:
            self.set_aside()
            self.kept = raw
        self.kept_stop = stop
        return 0

    cdef int set_aside(self) except -1:
        """Copy what was kept behind what was kept before: an object for each would take longer than to read it."""
        cdef Py_ssize_t size = self.kept_stop - self.kept
        cdef void *grown
        if size > self.room - self.length:
            grown = realloc(self.together, 2 * self.room + size)
            if grown == NULL:
                raise MemoryError
            self.together = <uint8_t *> grown
            self.room = 2 * self.room + size
        if size > 0:
            memcpy(self.together + self.length, self.kept, size)
            self.length += size
        self.kept = self.kept_stop
        return 0

    cdef int flush(self) except -1:
        """Put what was kept among the found: all together, or a list of what is kept apart."""
        if self.items:
            self.found.append(self.items)
            self.items = []
        elif self.length:
            self.set_aside()
            self.found.append(PyBytes_FromStringAndSize(<const char *> self.together, self.length))
            self.length = 0
        elif self.kept < self.kept_stop:
            self.found.append(PyBytes_FromStringAndSize(<const char *> self.kept, self.kept_stop - self.kept))
        self.kept = self.kept_stop
        return 0

    cdef int give(self, bytes item) except -1:
        """Keep what does not stand in the block."""
        if self.apart:
            self.items.append(item)
        else:
            self.flush()
            self.found.append(item)
        return 0

    cdef bint is_asked_for(self, int truth) noexcept:
        """Count a message by its truth value. Returns whether it is to be given."""
        self.unknown += truth == UNKNOWN
        if (truth == TRUE) == self.invert:
            return False
        self.selected += 1
        self.is_over = self.selected == self.limit
        return not self.counting

    cdef int count_nulls(self) noexcept:
        cdef Py_ssize_t slot
        for slot in range(self.record.count):
            self.nulls[slot] += self.record.values[slot].tag == NULL_VALUE
        return 0


@cython.final
@cython.no_gc_clear  # lines are read by the decoder without asking whether it is there
cdef class Lines(Sifter):
    """Sifts blocks of lines.

    Attributes:
        lines: how many there were, blank ones included.
        messages: lines that are not blank.
        skipped: messages that *judge* gave no truth value.

    Args:
        machine: selects.
        decoder: reads what it can, for the slots of the machine.
        judge: takes a line, and its number from 1. Gives its truth value; or what to yield in its place, or None.
        invert: ask for the messages that are not selected.
        counting: give no lines.
        raising: stop behind a line that has no truth value.
        limit: stop behind so many messages that were asked for; negative for none.
        apart: give lists of lines in place of lines together.
    """

    cdef Decoder decoder
    cdef object judge
    cdef readonly Py_ssize_t lines

    def __cinit__(self, machine, Decoder decoder not None, judge, *, invert=False, counting=False, raising=False,
                  limit=-1, apart=False):
        self.decoder = decoder
        self.judge = judge
        self.record = decoder.record
        self.names = decoder.names
        self.nulls = <Py_ssize_t *> zeroed(decoder.record.count, sizeof(Py_ssize_t))

    def sift(self, const uint8_t[::1] block not None) -> list:
        """Sift a block, which ends where a line does.

        Returns: what is asked for, in order: lines as they stand, all together, or in a list, between what the judge
            gave.
        """
        cdef const uint8_t *at = &block[0]
        cdef const uint8_t *limit = at + block.shape[0]
        cdef const uint8_t *line
        cdef const uint8_t *stop
        cdef Frame *frame = self.machine.frame_take()
        cdef int truth
        self.found = []
        self.length = 0
        self.kept = self.kept_stop = at
        try:
            while at < limit and not self.is_over:
                line = at
                stop = <const uint8_t *> memchr(line, c"\n", limit - line)
                if stop == NULL:
                    at = stop = limit
                else:
                    at = stop + 1
                self.lines += 1
                if self.decoder.read(line, stop, limit):
                    self.messages += 1
                    truth = self.machine.dispatch(frame, <PyObject *> self.decoder.record, self.machine.exact)
                    if truth == UNKNOWN:
                        self.count_nulls()
                elif is_blank(line, stop):
                    continue
                else:
                    self.messages += 1
                    made = self.judge(PyBytes_FromStringAndSize(<const char *> line, at - line), self.lines)
                    if type(made) is not int:
                        self.skipped += 1
                        if made is not None:
                            self.flush()
                            self.found.append(made)
                        self.is_over = self.raising
                        continue
                    truth = made
                if self.is_asked_for(truth):
                    self.keep(line, at)
            self.flush()
        finally:
            self.machine.frame_give(frame)
        found, self.found = self.found, []
        return found


cdef bint is_blank(const uint8_t *at, const uint8_t *stop) noexcept:
    while at < stop and (at[0] == c" " or 9 <= at[0] <= 13):
        at += 1
    return at == stop
