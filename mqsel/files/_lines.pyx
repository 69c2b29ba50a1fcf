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
from libc.stdlib cimport free
from libc.string cimport memchr, memcpy

from mqsel.formats._json cimport Decoder
from mqsel.machine._values cimport NULL_VALUE, zeroed
from mqsel.machine._vm cimport TRUE, UNKNOWN, Frame, Machine


@cython.final
@cython.no_gc_clear  # lines are read by the decoder without asking whether it is there
cdef class Lines:
    """Sifts blocks of lines.

    Attributes:
        lines: how many there were, blank ones included.
        messages: lines that are not blank.
        selected: messages that were asked for.
        unknown: messages for which the selector is UNKNOWN.
        skipped: messages that *judge* gave no truth value.
        is_over: no more is asked for.

    Args:
        machine: selects.
        decoder: reads what it can, for the slots of the machine.
        judge: takes a line, and its number from 1. Gives its truth value; or what to yield in its place, or None.
        invert: ask for the messages that are not selected.
        counting: give no lines.
        raising: stop behind a line that has no truth value.
        limit: stop behind so many messages that were asked for; negative for none.
    """

    cdef Machine machine
    cdef Decoder decoder
    cdef object judge
    cdef bint invert
    cdef bint counting
    cdef bint raising
    cdef Py_ssize_t limit
    cdef Py_ssize_t *nulls          # for each slot of the record, in how many unknown messages it was NULL
    cdef readonly Py_ssize_t lines
    cdef readonly Py_ssize_t messages
    cdef readonly Py_ssize_t selected
    cdef readonly Py_ssize_t unknown
    cdef readonly Py_ssize_t skipped
    cdef readonly bint is_over

    def __cinit__(self, Machine machine not None, Decoder decoder not None, judge, *, bint invert=False,
                  bint counting=False, bint raising=False, Py_ssize_t limit=-1):
        self.machine = machine
        self.decoder = decoder
        self.judge = judge
        self.invert = invert
        self.counting = counting
        self.raising = raising
        self.limit = limit
        self.nulls = <Py_ssize_t *> zeroed(decoder.record.count, sizeof(Py_ssize_t))

    def __dealloc__(self):
        free(self.nulls)

    def missing(self) -> dict:
        """Give for each property that the decoder reads in how many of the unknown messages it was NULL."""
        return {name: self.nulls[slot] for slot, name in enumerate(self.decoder.names) if self.nulls[slot]}

    def sift(self, const uint8_t[::1] block not None) -> list:
        """Sift a block, which ends where a line does.

        Returns: what is asked for, in order: lines as they stand, all together between what the judge gave.
        """
        cdef list found = []
        # Lines that do not follow each other are put together here: an object for each would take longer than to read
        # it, and whoever prints them too.
        cdef uint8_t *together = NULL
        cdef Py_ssize_t length = 0
        cdef const uint8_t *at = &block[0]
        cdef const uint8_t *limit = at + block.shape[0]
        cdef const uint8_t *kept = at       # lines from here to `kept_stop` are asked for
        cdef const uint8_t *kept_stop = at
        cdef const uint8_t *line
        cdef const uint8_t *stop
        cdef Frame *frame = self.machine.frame_take()
        cdef int truth
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
                            if kept < kept_stop:
                                found.append(joined(together, length, kept, kept_stop))
                                kept = kept_stop
                                length = 0
                            found.append(made)
                        self.is_over = self.raising
                        continue
                    truth = made
                if truth == UNKNOWN:
                    self.unknown += 1
                if (truth == TRUE) != self.invert:
                    self.selected += 1
                    self.is_over = self.selected == self.limit
                    if not self.counting:
                        if kept_stop != line:
                            if kept < kept_stop:
                                if together == NULL:
                                    together = <uint8_t *> zeroed(block.shape[0], 1)
                                memcpy(together + length, kept, kept_stop - kept)
                                length += kept_stop - kept
                            kept = line
                        kept_stop = at
            if kept < kept_stop:
                found.append(joined(together, length, kept, kept_stop))
        finally:
            free(together)
            self.machine.frame_give(frame)
        return found

    cdef int count_nulls(self) noexcept:
        cdef Py_ssize_t slot
        for slot in range(self.decoder.record.count):
            self.nulls[slot] += self.decoder.record.values[slot].tag == NULL_VALUE
        return 0


cdef bytes joined(uint8_t *together, Py_ssize_t length, const uint8_t *kept, const uint8_t *stop):
    """Make one object of the lines that were put together and those from *kept* to *stop*."""
    if length == 0:
        return PyBytes_FromStringAndSize(<const char *> kept, stop - kept)
    memcpy(together + length, kept, stop - kept)
    return PyBytes_FromStringAndSize(<const char *> together, length + (stop - kept))


cdef bint is_blank(const uint8_t *at, const uint8_t *stop) noexcept:
    while at < stop and (at[0] == c" " or 9 <= at[0] <= 13):
        at += 1
    return at == stop
