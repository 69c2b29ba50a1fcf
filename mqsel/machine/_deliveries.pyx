# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Many messages through a set of selectors: a stream of those that are selected, and the rows of a batch.

Other threads and signals get their turn also where no message is selected. Knows readers and columns; knows no formula.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_XDECREF
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from mqsel.machine._arrow cimport NULLS, Batch, batch_load
from mqsel.machine._reading cimport Reader, Reading
from mqsel.machine._set cimport Index
from mqsel.machine._set_search cimport Search
from mqsel.machine._vm cimport Pace, Slot, pace_look, pace_start, value_null, zeroed

from mqsel.errors import ArgumentError, DecodeError, PropertyTypeError
from mqsel.machine import wordings
from mqsel.machine._answers import chunks, library

cdef extern from "Python.h":
    PyObject *PyIter_Next(object iterator) except? NULL

cdef enum:
    FAILURES = 100              # errors that a stream keeps
    MOST = 0x7FFFFFFF           # deliveries that the offsets of a list array can count


# ---- a stream of messages --------------------------------------------------------------------------------------------

@cython.final
cdef class Deliveries:
    """Iterate over (message, keys) for those of *messages* that a selector of the set selects.

    Attributes:
        seen, selected, skipped: counts of messages so far.
        failures: the errors of the messages skipped, at most 100 of them; each knows its index.
        decode: the decoder of raw messages, or None.
    """

    cdef Reader reader
    cdef object messages        # iterator; None once exhausted
    cdef readonly object decode  # makes of a raw message what the reader reads; or None
    cdef Pace pace
    cdef bint skipping          # errors="skip"
    cdef bint running           # inside __next__: nobody else must enter
    cdef readonly Py_ssize_t seen       # messages pulled so far
    cdef readonly Py_ssize_t selected   # by at least one selector
    cdef readonly Py_ssize_t skipped    # that raised PropertyTypeError or DecodeError
    cdef readonly list failures         # the first of these errors

    __class_getitem__ = classmethod(type(list[int]))

    def __cinit__(self, Reader reader not None, messages, bint skipping=False, decode=None):
        self.running = True  # for foreign code that finds it before it is complete
        self.reader = reader
        self.skipping = skipping
        self.failures = []
        self.decode = decode
        self.messages = iter(messages)
        pace_start(&self.pace)
        self.running = False

    def __iter__(self):
        return self

    def __next__(self):
        if self.running:
            raise wordings.stream_shared()
        self.running = True
        try:
            found = self.advance()
        except BaseException:
            self.messages = None
            raise
        finally:
            self.running = False
        if found is None:
            self.messages = None
            raise StopIteration
        return found

    cdef object advance(self):
        """Give the next message that is selected, and its keys; None at the end."""
        cdef PyObject *got
        messages = self.messages  # also when somebody closes the stream
        while self.messages is not None:
            got = PyIter_Next(messages)
            if got == NULL:
                return None
            message = <object> got
            Py_DECREF(message)
            self.seen += 1
            try:
                keys = self.reader.answer(message if self.decode is None else self.decode(message), None)
            except (PropertyTypeError, DecodeError) as error:
                error.index = self.seen - 1
                if not self.skipping:
                    raise
                self.skipped += 1
                if len(self.failures) < FAILURES:
                    self.failures.append(error.with_traceback(None))
                keys = None
            except StopIteration as error:
                if not self.skipping:
                    raise wordings.no_answer(self.seen - 1) from error
                self.skipped += 1
                keys = None
            if self.seen >= self.pace.due:
                pace_look(&self.pace, self.seen)
            if keys:
                self.selected += 1
                return message, keys
        return None

    def close(self) -> None:
        """End the stream."""
        self.messages = None


# ---- the rows of a batch ---------------------------------------------------------------------------------------------

# Places found so far, and where those of each row begin.
@cython.final
cdef class Lists:
    cdef uint32_t *places
    cdef int64_t count
    cdef int64_t room
    cdef bytes offsets          # int32, rows + 1

    def __dealloc__(self):
        free(self.places)

    cdef int extend(self, const uint32_t *found, int64_t count) except -1:
        cdef uint32_t *grown
        if self.count + count > self.room:
            if self.count + count > MOST:
                raise ArgumentError("more than 2,147,483,647 deliveries in one batch: no list array holds them")
            self.room = 2 * (self.count + count)
            grown = <uint32_t *> realloc(self.places, self.room * sizeof(uint32_t))
            if grown == NULL:
                raise MemoryError
            self.places = grown
        memcpy(self.places + self.count, found, count * sizeof(uint32_t))
        self.count += count
        return 0


def match_rows(Reader reader not None, batch):
    """Do what `SelectorSet.match_batch` says; places are positions, and nobody changes the set meanwhile."""
    cdef Lists lists
    pyarrow = library("match_batch")
    found = []
    for chunk in chunks(pyarrow, batch):
        columns = Batch(list(reader.table.first), list(reader.table.second), chunk)
        try:
            lists = lists_of(reader, columns)
        except PropertyTypeError as error:
            if error.index is not None:
                error.index += sum(map(len, found))
            raise
        values = pyarrow.Array.from_buffers(
            pyarrow.uint32(), lists.count, [None, pyarrow.py_buffer(PyBytes_FromStringAndSize(
                <char *> lists.places, <Py_ssize_t> (lists.count * sizeof(uint32_t))
            ))]
        )
        found.append(pyarrow.Array.from_buffers(
            pyarrow.list_(pyarrow.uint32()), len(lists.offsets) // sizeof(int32_t) - 1,
            [None, pyarrow.py_buffer(lists.offsets)], children=[values],
        ))
    if len(found) == 1:
        return found[0]
    return pyarrow.concat_arrays([pyarrow.array([], pyarrow.list_(pyarrow.uint32())), *found])


cdef Lists lists_of(Reader reader, Batch batch):
    """Search for each row of a batch."""
    cdef Lists lists = Lists()
    cdef Index index = reader.index
    cdef Reading reading = reader.take()
    cdef Search *search
    cdef Slot *slots = NULL
    cdef uint32_t *there = <uint32_t *> zeroed(reading.slots, sizeof(uint32_t))
    cdef Py_ssize_t number
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t found
    cdef int64_t row
    cdef int32_t *offsets
    cdef Pace pace
    try:
        slots = <Slot *> zeroed(reading.slots, sizeof(Slot))
        for number in range(min(reading.slots, len(batch.names))):
            if batch.columns[number].kind != NULLS:
                there[count] = <uint32_t> number
                slots[count].name = <PyObject *> batch.names[number]
                count += 1
        lists.offsets = PyBytes_FromStringAndSize(NULL, <Py_ssize_t> ((batch.rows + 1) * sizeof(int32_t)))
        offsets = <int32_t *> PyBytes_AS_STRING(lists.offsets)
        offsets[0] = 0
        pace_start(&pace)
        for row in range(batch.rows):
            for number in range(count):
                batch_load(batch.columns, there[number], row, &slots[number])
                reading.record.values[there[number]] = slots[number].value
            search = index.take()
            try:
                found = index.search_c(reading.record, NULL, 0, search)
                lists.extend(<uint32_t *> search.places.items, found)
            finally:
                index.give(search)
            offsets[row + 1] = <int32_t> lists.count
            if row >= pace.due:
                pace_look(&pace, <Py_ssize_t> row)
        return lists
    finally:
        # What the values point to goes before the record is used again.
        for number in range(count):
            value_null(&reading.record.values[there[number]])
            Py_XDECREF(slots[number].owner)
        free(slots)
        free(there)
        reader.give(reading)
