# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Many messages through a set of selectors: a stream of those that are selected, and the rows of a batch.

Other threads and signals get their turn also where no message is selected. Knows readers and columns; knows no formula.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

from mqsel.columns._arrow cimport NULLS, Batch, Column, column_load
from mqsel.columns._columns cimport DECLINED
from mqsel.columns._kernel cimport TURN, Call, Kernel, call_end
from mqsel.columns._shared cimport Run, run_begin, run_count, run_end, run_formulas, run_places, words_check
from mqsel.index._index cimport Index
from mqsel.index._reader cimport MessageReader, MessageReading
from mqsel.index._candidates cimport Search
from mqsel.machine._vm cimport Pace, Value, clock_nanoseconds, pace_look, pace_start, value_null, zeroed

from functools import partial

from mqsel.columns._answers import chunks, library
from mqsel.errors import ArgumentError, DecodeError, PropertyTypeError
from mqsel.machine import wordings

cdef extern from "Python.h":
    PyObject *PyIter_Next(object iterator) except? NULL
    int PyErr_CheckSignals() except -1

cdef enum:
    FAILURES = 100              # errors that a stream keeps
    MOST = 0x7FFFFFFF           # deliveries that the offsets of a list array can count


# ---- a stream of messages --------------------------------------------------------------------------------------------

@cython.final
cdef class DeliveryStream:
    """Iterate over (message, keys) for those of *messages* that a selector of the set selects.

    Attributes:
        seen, selected, skipped: counts of messages so far.
        failures: the errors of the messages skipped, at most 100 of them; each knows its index.
        decode: the decoder of raw messages, or None.
    """

    cdef MessageReader reader
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

    def __cinit__(self, MessageReader reader not None, messages, bint skipping=False, decode=None):
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
        """Return the next message that is selected, and its keys; None at the end."""
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
cdef class DeliveryLists:
    cdef uint32_t *places
    cdef int64_t count
    cdef int64_t room
    cdef bytes offsets          # int32, rows + 1

    def __cinit__(self, int64_t rows):
        self.offsets = PyBytes_FromStringAndSize(NULL, <Py_ssize_t> ((rows + 1) * sizeof(int32_t)))
        (<int32_t *> PyBytes_AS_STRING(self.offsets))[0] = 0

    def __dealloc__(self):
        free(self.places)

    cdef int32_t *ends(self) noexcept:
        """Return where the places of each row end."""
        return <int32_t *> PyBytes_AS_STRING(self.offsets) + 1

    cdef uint32_t *more(self, int64_t count) except NULL:
        """Return where so many more places go; they count from now on."""
        cdef uint32_t *grown
        if self.count + count > self.room or self.places == NULL:
            if self.count + count > MOST:
                raise ArgumentError("more than 2,147,483,647 deliveries in one batch: no list array holds them")
            self.room = 2 * (self.count + count) + 64
            grown = <uint32_t *> realloc(self.places, self.room * sizeof(uint32_t))
            if grown == NULL:
                raise MemoryError
            self.places = grown
        self.count += count
        return self.places + self.count - count


def match_rows(MessageReader reader not None, batch, kernel_for, learn=None) -> tuple:
    """Do what `SelectorSet.match_batch` says; places are positions, and nobody changes the set meanwhile.

    Args:
        kernel_for: gives for a number of rows the Kernel of all selectors, by place, or says why the index is asked row
            by row.
        learn: notes what a chunk of the batch took, as `EngineChoice.learn`; or None.

    Returns: the lists, and why the last rows went by the index; None if they did not.
    """
    cdef DeliveryLists lists
    cdef int64_t start
    pyarrow = library("match_batch")
    found = []
    reason = "a batch of no rows"
    for chunk in chunks(pyarrow, batch):
        try:
            columns = Batch(list(reader.table.first), list(reader.table.second), chunk)
            lists = DeliveryLists((<Batch> columns).rows)
            start = clock_nanoseconds()
            reason = lists_fill(lists, reader, columns, kernel_for)
            if learn is not None:
                learn((<Batch> columns).rows, reason, clock_nanoseconds() - start, partial(trial, reader, columns))
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
        return found[0], reason
    return pyarrow.concat_arrays([pyarrow.array([], pyarrow.list_(pyarrow.uint32())), *found]), reason


def trial(MessageReader reader, Batch batch, Kernel kernel):
    """Return the nanoseconds that a kernel takes for a batch, or why it refuses it."""
    cdef int64_t start = clock_nanoseconds()
    reason = kernel_refusal(kernel, batch)
    if reason is not None:
        return reason
    by_blocks(kernel, reader, batch, DeliveryLists(batch.rows))
    return clock_nanoseconds() - start


cdef object lists_fill(DeliveryLists lists, MessageReader reader, Batch batch, kernel_for):
    """Find for each row of a batch what is true of it. Returns why the index was asked, or None."""
    found = kernel_for(batch.rows)
    reason = found if isinstance(found, str) else kernel_refusal(found, batch)
    if reason is None:
        by_blocks(found, reader, batch, lists)
    else:
        by_rows(reader, batch, lists, 0, batch.rows)
    return reason


cdef object kernel_refusal(Kernel kernel, Batch batch):
    return kernel.refuses(batch.columns, batch.rows)


cdef int by_blocks(Kernel kernel, MessageReader reader, Batch batch, DeliveryLists lists) except -1:
    """Run all formulas over one block after the other; where one is damaged, the index says how."""
    cdef Call *call = kernel.start(batch.columns, batch.rows)
    cdef Run *run = NULL
    cdef int32_t *ends = lists.ends()
    cdef int64_t start = 0
    cdef int64_t row, total, before
    cdef int32_t count
    cdef int rows, status
    call.turned = clock_nanoseconds()
    try:
        run = run_begin(kernel, call)
        with nogil:
            status = words_check(call)
        if status == DECLINED:
            return by_rows(reader, batch, lists, 0, batch.rows)
        while start < batch.rows:
            rows = <int> min(<int64_t> call.rows, batch.rows - start)
            with nogil:
                status = run_formulas(run, start, rows)
                if status == 0:
                    memset(ends + start, 0, rows * sizeof(int32_t))
                    total = run_count(run, ends + start)
            if status == DECLINED:
                by_rows(reader, batch, lists, start, start + rows)
                start += rows
            elif status == 0:
                before = lists.count
                lists.more(total)
                for row in range(start, start + rows):
                    count = ends[row]
                    ends[row] = <int32_t> before
                    before += count
                with nogil:
                    run_places(run, ends + start, lists.places)
                start += rows
            if clock_nanoseconds() - call.turned > TURN:
                PyErr_CheckSignals()
                call.turned = clock_nanoseconds()
    finally:
        run_end(run)
        call_end(call)
    return 0


# Which columns are read of a row: all but those that are NULL there, which is known of columns that mostly are.
@cython.final
cdef class PresentColumns:
    cdef Column **columns
    cdef int64_t stop           # behind the last row
    cdef int64_t first          # row of the bits that were taken
    cdef uint32_t *numbers      # of the columns that are always read, then of those that the row at hand has
    cdef Py_ssize_t always
    cdef uint32_t *rare         # numbers of the others
    cdef uint64_t *bits         # of each of them: a bit for each of 64 rows
    cdef Py_ssize_t count       # of them

    def __cinit__(self, Batch batch, Py_ssize_t count, int64_t start, int64_t stop):
        cdef Py_ssize_t number
        cdef Column *column
        self.columns = batch.columns
        self.stop = stop
        self.first = start - 64
        self.numbers = <uint32_t *> zeroed(count + 1, sizeof(uint32_t))
        self.rare = <uint32_t *> zeroed(count + 1, sizeof(uint32_t))
        for number in range(count):
            column = batch.columns[number]
            if column.kind == NULLS:
                continue
            if column.validity != NULL and 2 * column.nulls > column.rows:
                self.rare[self.count] = <uint32_t> number
                self.count += 1
            else:
                self.numbers[self.always] = <uint32_t> number
                self.always += 1
        self.bits = <uint64_t *> zeroed(self.count + 1, sizeof(uint64_t))

    def __dealloc__(self):
        free(self.numbers)
        free(self.rare)
        free(self.bits)

    cdef uint32_t *row(self, int64_t row, Py_ssize_t *count) noexcept:
        """Return the columns of a row, and how many they are. Rows come in order."""
        cdef Py_ssize_t number
        cdef Column *column
        cdef uint64_t bit
        cdef Py_ssize_t found = self.always
        if row >= self.first + 64:
            self.first = row
            for number in range(self.count):
                column = self.columns[self.rare[number]]
                self.bits[number] = bits_at(
                    column.validity, column.offset + row, <int> min(<int64_t> 64, self.stop - row)
                )
        bit = <uint64_t> 1 << (row - self.first)
        for number in range(self.count):
            self.numbers[found] = self.rare[number]
            found += self.bits[number] & bit != 0
        count[0] = found
        return self.numbers


cdef uint64_t bits_at(const uint8_t *bits, int64_t at, int count) noexcept:
    """Return up to 64 bits from bit *at* on; reads no byte in which none of them stands."""
    cdef uint64_t found = 0
    cdef int shift = at & 7
    cdef int place
    bits += at >> 3
    for place in range((shift + count + 7) >> 3):
        if place < 8:
            found |= <uint64_t> bits[place] << (8 * place) >> shift
        else:
            found |= <uint64_t> bits[place] << (64 - shift)
    return found


cdef int by_rows(MessageReader reader, Batch batch, DeliveryLists lists, int64_t start, int64_t stop) except -1:
    """Search for each of some rows."""
    cdef Index index = reader.index
    cdef MessageReading reading = reader.take()
    cdef Search *search
    cdef PresentColumns present
    cdef uint32_t *numbers
    cdef uint32_t number
    cdef Py_ssize_t at, count, found
    cdef Py_ssize_t last = 0
    cdef int64_t row
    cdef int32_t *ends = lists.ends()
    cdef Value *values = reading.record.values
    cdef Pace pace
    try:
        present = PresentColumns(batch, min(reading.slots, len(batch.names)), start, stop)
        numbers = present.numbers
        pace_start(&pace)
        for row in range(start, stop):
            for at in range(present.always, last):
                value_null(&values[numbers[at]])
            numbers = present.row(row, &count)
            last = count
            for at in range(count):
                number = numbers[at]
                column_load(batch.columns[number], row, row, &values[number], &reading.record.owners[number])
            search = index.take()
            try:
                found = index.search_c(reading.record, NULL, 0, search)
                if found:
                    memcpy(lists.more(found), search.places.items, found * sizeof(uint32_t))
            finally:
                index.give(search)
            ends[row] = <int32_t> lists.count
            if row - start >= pace.due:
                pace_look(&pace, <Py_ssize_t> (row - start))
        return 0
    finally:
        reading.record.clear()
        reader.give(reading)
