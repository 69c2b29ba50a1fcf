# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Counts records: the truth of each part of a selector, and the values of each property.

A part is a test, which machines run, or a connective, whose truth follows from its operands by a table. Knows no
selector, no tree and no format.
"""

cimport cython
from cpython.exc cimport PyErr_Clear, PyErr_ExceptionMatches
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free
from libc.string cimport memset

from mqsel.machine._sources cimport Frame, RecordSource
from mqsel.machine._values cimport (
    BYTES, FLOAT32, INT64, NULL_VALUE, STRING, Record, Value, is_number, value_python, value_type, zeroed
)
from mqsel.machine._vm cimport RUN_RECORD, Machine

from math import nan as _nan

from mqsel.errors import UndocumentedError
from mqsel.names import by_casefold, folded

cdef extern from "Python.h":
    PyObject *PyDict_GetItemWithError(object mapping, object key) except? NULL
    long PyLong_AsLong(PyObject *number) except? -1
    char *PyBytes_AS_STRING(object data)
    object PyBytes_FromStringAndSize(const char *data, Py_ssize_t size)

DIFFERENT = 1_000  # values of a property, and names of others, that are counted
LONG = 80          # characters, or bytes, of a value that are held

cdef enum:
    TYPES = 11          # the bits of an MQTYPE
    EMPTY = 4           # the truth of a connective before its operands are joined
    MISMATCHED = 4      # the bit of an outcome beside its truth
    OUTCOMES = 8        # a truth, with MISMATCHED or without
    ROW = 5             # of a table: a truth of the operands after it, or EMPTY
    ERR = 3             # a Truth

cdef int VALUES = DIFFERENT
cdef Py_ssize_t LENGTH = LONG


# ---- one property ----------------------------------------------------------------------------------------------------

@cython.final
cdef class PropertyTally:
    """What messages have of one property, in the order in which they had it first."""

    cdef int64_t missing
    cdef int64_t counted            # values while there were few
    cdef bint is_open
    cdef int64_t[TYPES] types       # how many have a value of each type, by the bit of its MQTYPE
    cdef list names                 # of these types, as they came
    cdef list bits                  # their bits
    cdef list numbers               # for each of these bits a dict: value -> its number
    cdef list values                # as (name of the type, value), by number
    cdef int64_t *counts            # of each
    cdef dict layouts               # names that messages have which lack it -> how many have these
    cdef tuple last_layout          # those of the last message that lacks it
    cdef int64_t repeats            # how many messages with these are not among the layouts yet
    cdef bint has_ends
    cdef Value least                # of its numbers
    cdef Value greatest

    def __cinit__(self):
        self.is_open = True
        self.names, self.bits, self.values, self.layouts = [], [], [], {}
        self.numbers = [None] * TYPES
        self.counts = <int64_t *> zeroed(VALUES, sizeof(int64_t))

    def __dealloc__(self):
        free(self.counts)

    cdef int take(self, Value *value) except -1:
        """Count a value that is there."""
        cdef int bit = 0
        cdef bint is_nan
        cdef PyObject *known
        cdef object item
        cdef dict numbers
        while value.mqtype >> (bit + 1):
            bit += 1
        if self.numbers[bit] is None:
            self.numbers[bit] = {}
            self.names.append(value_type(value))
            self.bits.append(bit)
        self.types[bit] += 1
        is_nan = is_number(value) and value.tag >= FLOAT32 and value.it.d != value.it.d
        if is_number(value) and not is_nan:
            if not self.has_ends:
                self.has_ends = True
                self.least = self.greatest = value[0]
            elif is_less(value, &self.least):
                self.least = value[0]
            elif is_less(&self.greatest, value):
                self.greatest = value[0]
        if not self.is_open:
            return 0
        self.counted += 1
        item = _nan if is_nan else value_python(value)
        if (value.tag == STRING or value.tag == BYTES) and len(item) > LENGTH:
            item = item[:LENGTH]
        numbers = <dict> self.numbers[bit]
        known = PyDict_GetItemWithError(numbers, item)
        if known != NULL:
            self.counts[PyLong_AsLong(known)] += 1
            return 0
        numbers[item] = len(self.values)
        self.counts[len(self.values)] = 1
        self.values.append((value_type(value), item))
        self.is_open = len(self.values) < VALUES
        return 0

    cdef int take_layout(self, tuple layout) except -1:
        """Count the names of a message that lacks it: mostly the very tuple of the message before."""
        if layout is not self.last_layout:
            self.add_layouts()
            self.last_layout = layout
        self.repeats += 1
        return 0

    cdef int add_layouts(self) except -1:
        """Add what was counted of the last layout to the others, whose order is that of their first messages."""
        if self.repeats:
            self.layouts[self.last_layout] = self.layouts.get(self.last_layout, 0) + self.repeats
            self.repeats = 0
        return 0

    cdef tuple counted_since(self):
        """Return what was counted, and count anew from here on; values keep their order, and their number."""
        cdef Py_ssize_t place
        self.add_layouts()
        cdef list types = [(name, self.types[<int> bit]) for name, bit in zip(self.names, self.bits)]
        cdef list values = [(value, self.counts[place]) for place, value in enumerate(self.values)]
        found = (
            self.missing, [one for one in types if one[1]], [one for one in values if one[1]], self.counted,
            self.is_open, value_python(&self.least) if self.has_ends else None,
            value_python(&self.greatest) if self.has_ends else None, list(self.layouts.items()),
        )
        self.missing = self.counted = 0
        memset(self.types, 0, sizeof(self.types))
        memset(self.counts, 0, VALUES * sizeof(int64_t))
        self.layouts.clear()
        return found


cdef bint is_less(Value *one, Value *other) except -1:
    """Compare two numbers, as Python does: an integer beside a double exactly."""
    if one.tag <= INT64 and other.tag <= INT64:
        return one.it.i < other.it.i
    if one.tag >= FLOAT32 and other.tag >= FLOAT32:
        return one.it.d < other.it.d
    return value_python(one) < value_python(other)


# ---- parts of a selector ---------------------------------------------------------------------------------------------

@cython.final
cdef class Parts:
    """The parts of a selector, each before its operands.

    Args:
        tests: for each test the machine that tells its truth, pairs of machines and the truth of a type mismatch. A
            pair differs for the messages with a type mismatch in a test: its second machine gives this another truth.
            A first machine that is None is the test's own. If the test's own is None, it is never ERR, and the second
            machine of its pair is ERR for a type mismatch alone.
        plan: for each part the place of the connective above it, or -1; the number of its test, or -1; and the table
            of a connective: for each truth of an operand the truth joined with that of the operands after it.
    """

    cdef readonly list tests
    cdef readonly Py_ssize_t count
    cdef PyObject **alone       # for each test the machine that finds its outcome, or NULL: its tuple has several
    cdef uint8_t *others        # for each test the truth of a type mismatch
    cdef int32_t *above
    cdef int32_t *numbers
    cdef uint8_t *tables

    def __cinit__(self, list tests not None, list plan not None):
        cdef Py_ssize_t place, column
        cdef bytes table
        self.tests, self.count = tests, len(plan)
        self.alone = <PyObject **> zeroed(len(tests), sizeof(PyObject *))
        self.others = <uint8_t *> zeroed(len(tests), 1)
        for place, (machine, pairs, other) in enumerate(tests):
            self.alone[place] = NULL if machine is not None else <PyObject *> <Machine?> pairs[0][1]
            self.others[place] = other
        self.above = <int32_t *> zeroed(self.count, sizeof(int32_t))
        self.numbers = <int32_t *> zeroed(self.count, sizeof(int32_t))
        self.tables = <uint8_t *> zeroed(self.count * 4 * ROW, 1)
        for place, (above, number, table) in enumerate(plan):
            self.above[place], self.numbers[place] = above, number
            for column in range(len(table)):
                self.tables[place * 4 * ROW + column] = table[column]

    def __dealloc__(self):
        free(self.alone)
        free(self.others)
        free(self.above)
        free(self.numbers)
        free(self.tables)

    cdef int judge(self, object message, uint8_t *found) except -1:
        """Find the outcome of each part for a message."""
        cdef Py_ssize_t place
        cdef int32_t number
        cdef int truth
        for place in range(self.count):
            number = self.numbers[place]
            if number < 0:
                found[place] = EMPTY
            elif self.alone[number] == NULL:
                found[place] = outcome_of(<tuple> self.tests[number], message)
            else:
                truth = truth_of(<Machine> self.alone[number], message)
                found[place] = self.others[number] | MISMATCHED if truth == ERR else truth
        self.join(found)
        return 0

    cdef void join(self, uint8_t *found) noexcept:
        """Find the truths of connectives from those of tests, the last operand first."""
        cdef Py_ssize_t place
        cdef int32_t above
        for place in range(self.count - 1, 0, -1):
            above = self.above[place]
            found[above] = self.tables[(above * 4 + (found[place] & ERR)) * ROW + found[above]]

    def of(self, message) -> bytes:
        """Return the outcome of each part for a message: a Truth, and 4 more for a type mismatch."""
        cdef bytes found = PyBytes_FromStringAndSize(NULL, self.count)
        self.judge(message, <uint8_t *> PyBytes_AS_STRING(found))
        return found

    def totals(self, Py_ssize_t rows, list answers not None) -> list:
        """Return for each part how many rows have each outcome.

        Args:
            answers: for each test the outcomes of the rows, a byte each.
        """
        cdef Py_ssize_t row, place
        cdef uint8_t *found = <uint8_t *> zeroed(self.count, 1)
        cdef int64_t *totals = NULL
        try:
            totals = <int64_t *> zeroed(self.count * OUTCOMES, sizeof(int64_t))
            for row in range(rows):
                for place in range(self.count):
                    found[place] = EMPTY
                    if self.numbers[place] >= 0:
                        found[place] = <uint8_t> PyBytes_AS_STRING(answers[self.numbers[place]])[row]
                self.join(found)
                for place in range(self.count):
                    totals[place * OUTCOMES + found[place]] += 1
            return [[totals[place * OUTCOMES + row] for row in range(OUTCOMES)] for place in range(self.count)]
        finally:
            free(found)
            free(totals)


cdef int outcome_of(tuple test, object message) except -1:
    cdef int truth, first, second
    cdef bint differs = False
    cdef tuple pair
    truth = truth_of(test[0], message)
    for pair in <tuple> test[1]:
        first = truth if pair[0] is None else truth_of(pair[0], message)
        second = truth_of(pair[1], message)
        differs = first != second
        if not differs:
            break
    return truth | MISMATCHED if differs else truth


cdef inline int truth_of(Machine machine, object message) except -1:
    """Return the truth of a message; ERR if no document says which."""
    cdef RecordSource record
    cdef Frame *frame = machine.frame_take()
    cdef int truth
    if type(message) is Record and machine.record_layout is not None:
        if (<Record> message).schema is machine.record_layout.names:  # half of the time
            record.values = (<Record> message).values
            record.positions = machine.record_layout.positions
            record.schema = <PyObject *> (<Record> message).schema
            truth = RUN_RECORD(frame, &record, machine.image.steps + machine.exact)
            machine.frame_give(frame)
            return truth if truth >= 0 else undocumented()
    try:
        return machine.dispatch(frame, <PyObject *> message, machine.exact)
    except UndocumentedError:
        return ERR
    finally:
        machine.frame_give(frame)


cdef int undocumented() except -1:
    """Return ERR for the error that no document says the truth; any other error stays."""
    if not PyErr_ExceptionMatches(UndocumentedError):
        return -1
    PyErr_Clear()
    return ERR


# ---- records ---------------------------------------------------------------------------------------------------------

@cython.final
cdef class Tally:
    """Counts records.

    Args:
        names: of the properties, and their other spellings or empty texts.
        folds: whether names are the same regardless of case.
        parts: the parts of the selector.
    """

    cdef tuple names
    cdef bint folds
    cdef Record record
    cdef object names_of
    cdef object answered
    cdef Parts parts
    cdef list properties            # a PropertyTally each
    cdef uint8_t *found             # the outcome of each part for the last record
    cdef int64_t *totals            # for each part the records with each outcome
    cdef int64_t messages
    cdef object schema              # of the last record
    cdef int32_t *positions         # for each property its place in that

    def __cinit__(self, tuple names not None, bint folds, Parts parts not None):
        self.names, self.folds, self.parts = names, folds, parts
        self.properties = [PropertyTally() for _ in names]
        self.found = <uint8_t *> zeroed(parts.count, 1)
        self.totals = <int64_t *> zeroed(parts.count * OUTCOMES, sizeof(int64_t))
        self.positions = <int32_t *> zeroed(len(names), sizeof(int32_t))

    def __dealloc__(self):
        free(self.found)
        free(self.totals)
        free(self.positions)

    cdef int lay_out(self, Record record) except -1:
        """Find where a record has what is read; what it lacks is the NULL behind its values."""
        cdef Py_ssize_t number
        cdef dict places = {name: place for place, name in enumerate(record.schema.names)}
        if self.folds:
            places = folded(places.items(), by_casefold([name for name, _ in self.names]))
        for number, (name, other) in enumerate(self.names):
            self.positions[number] = places.get(name, places.get(other, record.count))
        self.schema = record.schema
        return 0

    def watch(self, Record record not None, names_of, answered) -> None:
        """Remember what `count` counts.

        Args:
            record: filled anew by each message.
            names_of: returns the names of all that a message has, from its bytes.
            answered: counts a message of which was decided without a selector: its bytes, and whether it is selected.
        """
        self.record, self.names_of, self.answered = record, names_of, answered

    def count(self, data, answer) -> None:
        """Count the record as it is now, or the answer to a message.

        Args:
            data: the message; None if the record has all properties.
            answer: whether it is selected, where that was decided without a selector; else None.
        """
        if answer is not None:
            self.answered(data, answer)
        else:
            self.take(self.record, None if data is None else self.names_of(data))

    cpdef int take(self, Record record, tuple layout) except -1:
        """Count a record.

        Args:
            layout: the names of all that the message has; None if it lacks nothing.
        """
        cdef Py_ssize_t place
        self.take_properties(record, layout)
        self.messages += 1
        self.parts.judge(record, self.found)
        for place in range(self.parts.count):
            self.totals[place * OUTCOMES + self.found[place]] += 1
        return 0

    cpdef int take_decoded(self, Record record, names) except -1:
        """Count what a decoder has made of a message.

        Args:
            names: returns the names of all that the message has; called if it lacks something that the record is of.
        """
        cdef Py_ssize_t slot
        for slot in range(record.count):
            if record.values[slot].tag == NULL_VALUE:
                return self.take(record, names())
        return self.take(record, None)

    cpdef int take_properties(self, Record record, tuple layout) except -1:
        """Count what a record has, without the parts."""
        cdef PropertyTally one
        cdef Value *value
        cdef Py_ssize_t number
        if record.schema is not self.schema:
            self.lay_out(record)
        for number in range(len(self.properties)):
            one = <PropertyTally> self.properties[number]
            value = &record.values[self.positions[number]]
            if value.tag != NULL_VALUE:
                one.take(value)
                continue
            one.missing += 1
            if layout is not None:
                one.take_layout(layout)
        return 0

    def counts(self) -> tuple:
        """Return what was counted since this was asked last: messages, outcomes of each part, and of each property."""
        cdef Py_ssize_t place, number
        found = (
            self.messages,
            [
                [self.totals[place * OUTCOMES + number] for number in range(OUTCOMES)]
                for place in range(self.parts.count)
            ],
            [(<PropertyTally> one).counted_since() for one in self.properties],
        )
        self.messages = 0
        memset(self.totals, 0, self.parts.count * OUTCOMES * sizeof(int64_t))
        return found
