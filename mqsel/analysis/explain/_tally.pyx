# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Counts records: what their properties are like, and how many make each of some formulas true.

What a property has is counted as a record comes. The records of one layout of types are gathered in columns, and a
kernel counts a few thousand of them at once: a record costs a formula about a nanosecond, not a search. Knows no
selector, no truth value and no format.
"""

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

from mqsel.columns._arrow cimport (
    BINARIES, BOOLEANS, FLOAT32S, FLOAT64S, INT32S, INT64S, NULLS, TEXTS, Column, column_load
)
from mqsel.columns._formulas cimport kernel_totals
from mqsel.columns._kernel cimport Kernel
from mqsel.machine._values cimport (
    BOOLEAN, BYTES, FLOAT32, FLOAT64, INT32, INT64, NULL_VALUE, STRING, Record, Value, is_number, value_python,
    value_type, zeroed
)

from math import nan as _nan

from mqsel.names import ANY_CASE as _ANY_CASE
from mqsel.names import by_casefold, folded, joined, parted

cdef extern from "Python.h":
    PyObject *PyDict_GetItemWithError(object mapping, object key) except? NULL
    long PyLong_AsLong(PyObject *number) except? -1
    const char *PyBytes_AS_STRING(PyObject *data)
    Py_ssize_t PyBytes_GET_SIZE(PyObject *data)
    const char *PyUnicode_AsUTF8AndSize(PyObject *text, Py_ssize_t *size) except NULL

DIFFERENT = 1_000  # values of a property, and names of others, that are counted
LONG = 80          # characters, or bytes, of a value that are held

cdef enum:
    ROWS = 4096         # of a block: 2,048 and 8,192 took as long
    BLOCKS = 8          # layouts of types that are gathered side by side
    CONTENT = 1 << 24   # bytes of texts of a block
    TYPES = 11          # the bits of an MQTYPE

cdef int VALUES = DIFFERENT
cdef Py_ssize_t LENGTH = LONG
cdef int[9] KINDS = [NULLS, BOOLEANS, INT32S, INT64S, FLOAT32S, FLOAT64S, TEXTS, BINARIES, NULLS]  # by Tag


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


# ---- columns of records ----------------------------------------------------------------------------------------------

# A column that is filled, and where it lies.
cdef struct Lane:
    Column column
    int tag              # of its values; NULL_VALUE while there is none
    uint8_t *validity
    int64_t *values      # numbers of any width, bits, or offsets
    uint8_t *content
    Py_ssize_t room      # of the content


@cython.final
cdef class RecordBlock:
    """Columns for some thousand records, in which each property has one type."""

    cdef Py_ssize_t count       # of the columns
    cdef Lane *lanes
    cdef Column **columns
    cdef int rows
    cdef Py_ssize_t size        # of its texts

    def __cinit__(self, Py_ssize_t count):
        cdef Py_ssize_t number
        cdef Lane *lane
        self.columns = <Column **> zeroed(count, sizeof(Column *))
        self.lanes = <Lane *> zeroed(count, sizeof(Lane))
        self.count = count
        for number in range(count):
            lane = &self.lanes[number]
            self.columns[number] = &lane.column
            lane.validity = <uint8_t *> zeroed(ROWS // 8, 1)
            lane.values = <int64_t *> zeroed(ROWS + 1, sizeof(int64_t))
            lane.column.values = lane.values

    def __dealloc__(self):
        cdef Py_ssize_t number
        if self.lanes != NULL:
            for number in range(self.count):
                free(self.lanes[number].validity)
                free(self.lanes[number].values)
                free(self.lanes[number].content)
        free(self.lanes)
        free(self.columns)

    cdef bint fits(self, Record record, int32_t *positions) noexcept:
        """Report whether a record has the types of those that are here."""
        cdef Py_ssize_t number
        cdef int tag
        for number in range(self.count):
            tag = record.values[positions[number]].tag
            if tag != NULL_VALUE and tag != self.lanes[number].tag and self.lanes[number].tag != NULL_VALUE:
                return False
        return True

    cdef int add(self, Record record, int32_t *positions) except -1:
        """Add a record that fits; room for it is made first, so that an error leaves the block as it was."""
        cdef Py_ssize_t number
        cdef Py_ssize_t size
        cdef const char *data
        cdef Value *value
        cdef Lane *lane
        cdef void *grown
        for number in range(self.count):
            value = &record.values[positions[number]]
            lane = &self.lanes[number]
            if value.tag == STRING or value.tag == BYTES:
                text_of(value, &data, &size)
                if lane.column.size + size >= lane.room:  # what has no text but empty ones has a place for them, too
                    grown = realloc(lane.content, 2 * lane.room + size + 1)
                    if grown == NULL:
                        raise MemoryError
                    lane.content = <uint8_t *> grown
                    lane.room = 2 * lane.room + size + 1
        for number in range(self.count):
            lane_put(&self.lanes[number], &record.values[positions[number]], self.rows)
            self.size = max(self.size, self.lanes[number].column.size)
        self.rows += 1
        return 0

    cdef void complete(self) noexcept:
        """Describe the columns to who reads them."""
        cdef Py_ssize_t number
        cdef Lane *lane
        for number in range(self.count):
            lane = &self.lanes[number]
            lane.column.kind = KINDS[lane.tag]
            lane.column.rows = self.rows
            lane.column.validity = lane.validity if lane.column.nulls else NULL
            lane.column.content = lane.content

    cdef void clear(self) noexcept:
        cdef Py_ssize_t number
        cdef Lane *lane
        for number in range(self.count):
            lane = &self.lanes[number]
            lane.tag = NULL_VALUE
            lane.column.nulls = lane.column.size = 0
            memset(lane.validity, 0, ROWS // 8)
            memset(lane.values, 0, (ROWS + 1) * sizeof(int64_t))
        self.rows = 0
        self.size = 0


cdef inline int text_of(Value *value, const char **data, Py_ssize_t *size) except -1:
    if value.tag == STRING:
        data[0] = PyUnicode_AsUTF8AndSize(value.it.o, size)
    else:
        data[0] = PyBytes_AS_STRING(value.it.o)
        size[0] = PyBytes_GET_SIZE(value.it.o)
    return 0


cdef inline int lane_put(Lane *lane, Value *value, int row) except -1:
    cdef const char *data
    cdef Py_ssize_t size
    if value.tag == NULL_VALUE:
        lane.column.nulls += 1
    else:
        lane.tag = value.tag
        lane.validity[row >> 3] |= 1 << (row & 7)
    if lane.tag == STRING or lane.tag == BYTES:
        if value.tag != NULL_VALUE:
            text_of(value, &data, &size)
            memcpy(lane.content + lane.column.size, data, size)
            lane.column.size += size
        (<int32_t *> lane.values)[row + 1] = <int32_t> lane.column.size
    elif value.tag == INT64:
        lane.values[row] = value.it.i
    elif value.tag == FLOAT64:
        (<double *> lane.values)[row] = value.it.d
    elif value.tag == INT32:
        (<int32_t *> lane.values)[row] = <int32_t> value.it.i
    elif value.tag == FLOAT32:
        (<float *> lane.values)[row] = <float> value.it.d
    elif value.tag == BOOLEAN:
        (<uint8_t *> lane.values)[row >> 3] |= value.it.i << (row & 7)
    return 0


# ---- records ---------------------------------------------------------------------------------------------------------

@cython.final
cdef class Tally:
    """Counts records.

    Args:
        names: of the properties, and their other spellings or empty texts; to records without regard to case where
            a slot counts so.
        kernel: of the formulas; a text where none takes them.
        slots: what the formulas read, as sets write it.
        search: returns the numbers of the formulas that are true of a record.
        count: of the formulas.
    """

    cdef tuple names
    cdef tuple slots
    cdef object search
    cdef Record record
    cdef object names_of
    cdef object answered
    cdef Kernel kernel              # None: the records are searched
    cdef list properties            # a PropertyTally each
    cdef list blocks
    cdef RecordBlock block          # where the last record went
    cdef Py_ssize_t formulas        # how many
    cdef int64_t *totals            # of each formula, the records that it is true of
    cdef int64_t messages
    cdef object schema              # of the last record
    cdef int32_t *positions         # for each property its place in that
    cdef int32_t *inputs            # likewise, for each slot of the formulas

    def __cinit__(self, tuple names not None, kernel, tuple slots not None, search, Py_ssize_t count):
        self.names = names
        self.kernel = None if isinstance(kernel, str) else kernel
        self.slots, self.search, self.formulas = slots, search, count
        self.properties = [PropertyTally() for _ in names]
        self.blocks = []
        self.totals = <int64_t *> zeroed(count, sizeof(int64_t))
        self.positions = <int32_t *> zeroed(len(names), sizeof(int32_t))
        self.inputs = <int32_t *> zeroed(len(slots), sizeof(int32_t))

    def __dealloc__(self):
        free(self.totals)
        free(self.positions)
        free(self.inputs)

    cdef int lay_out(self, Record record) except -1:
        """Find where a record has what is read; what it lacks is the NULL behind its values."""
        cdef Py_ssize_t number
        cdef dict places = {name: place for place, name in enumerate(record.schema.names)}
        cdef dict found = {}
        if any(parted(slot)[0].endswith(_ANY_CASE) for slot in self.slots):
            places = folded(places.items(), by_casefold([name for name, _ in self.names]))
        for number, (name, other) in enumerate(self.names):
            found[name] = found[joined(name, "folded")] = places.get(name, places.get(other, record.count))
            self.positions[number] = found[name]
        for number, slot in enumerate(self.slots):
            first, second, _ = parted(slot)
            self.inputs[number] = found.get(first, found.get(second, record.count))
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
        self.take_properties(record, layout)
        self.messages += 1
        if self.kernel is None or not self.gather(record):
            for number in self.search(record):
                self.totals[<Py_ssize_t> number] += 1
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
        """Count what a record has, of which the formulas are not asked."""
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

    cdef bint gather(self, Record record) except -1:
        """Add a record to a block. Returns whether columns hold what it has."""
        cdef RecordBlock block = self.block
        if block is None or not block.fits(record, self.inputs):
            block = self.block_for(record)
        try:
            block.add(record, self.inputs)
        except UnicodeEncodeError:  # half of a pair of surrogates
            return False
        if block.rows == ROWS or block.size > CONTENT:
            self.empty(block)
        return True

    cdef RecordBlock block_for(self, Record record):
        cdef RecordBlock block
        for one in self.blocks:
            block = one
            if block.fits(record, self.inputs):
                self.block = block
                return block
        if len(self.blocks) < BLOCKS:
            block = RecordBlock(len(self.slots))
            self.blocks.append(block)
        else:
            block = max(self.blocks, key=rows_of)
            self.empty(block)
        self.block = block
        return block

    cdef int empty(self, RecordBlock block) except -1:
        """Count the records of a block."""
        cdef int64_t row
        block.complete()
        try:
            for start, stop in kernel_totals(self.kernel, block.columns, block.rows, self.totals):
                for row in range(start, stop):
                    self.search_row(block, row)
        finally:
            block.clear()
        return 0

    cdef int search_row(self, RecordBlock block, int64_t row) except -1:
        cdef Py_ssize_t number
        cdef Record record = Record([parted(slot)[0] for slot in self.slots])
        for number in range(block.count):
            column_load(&block.lanes[number].column, row, row, &record.values[number], &record.owners[number])
        for number in self.search(record):
            self.totals[number] += 1
        return 0

    def counts(self) -> tuple:
        """Return what was counted since this was asked last: messages, totals of the formulas, and of each property."""
        cdef Py_ssize_t number
        for block in self.blocks:
            if (<RecordBlock> block).rows:
                self.empty(block)
        found = (
            self.messages, [self.totals[number] for number in range(self.formulas)],
            [(<PropertyTally> one).counted_since() for one in self.properties],
        )
        self.messages = 0
        memset(self.totals, 0, self.formulas * sizeof(int64_t))
        return found


def rows_of(RecordBlock block):
    return block.rows
