# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Messages for many selectors: each is read once, whatever their number; singly, in a stream, or as rows of a batch.

It reads all properties that the selectors read. It goes through the entries of the message and not through the names:
a message has few properties compared with those that a thousand selectors read, and dicts of one program share their
keys. It also changes the selectors, in one step as seen by a search. Other threads and signals get their turn even
while no message is selected. Knows messages, columns and an index; knows no formula.

A MessageReading belongs to one search, from take to give. It owns everything that its Record points to, so other code
may change the message meanwhile; the values of a Record that is a message are borrowed, because no other code runs
until the search is over. A SpellingTable never changes.
"""

cimport cython
from cpython.buffer cimport PyBUF_CONTIG, PyBUF_FORMAT, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.dict cimport PyDict_CheckExact, PyDict_Next, PyDict_Size
from cpython.list cimport PyList_Check, PyList_GET_SIZE
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF
from cpython.tuple cimport PyTuple_Check
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

from mqsel.columns._arrow cimport NULLS, Batch, Column, RowMessage, column_load, names_asked
from mqsel.columns._columns cimport DECLINED
from mqsel.columns._formulas cimport kernel_totals, run_count, run_formulas, run_places, words_check
from mqsel.columns._kernel cimport TURN, BatchRun, Kernel, call_end
from mqsel.index._candidates cimport Search
from mqsel.index._index cimport Index, IndexChange, Turn
from mqsel.index._segment cimport fault
from mqsel.machine._values cimport (
    BOOLEAN, BYTES, ERR, INT64, MQTYPE_BOOLEAN, MQTYPE_INT64, NULL_VALUE, POISON, STRING, UNKNOWN, Record, Value,
    value_fit, value_integer, value_load_other, value_null, value_object, value_python, value_read,
    value_refuse, zeroed,
)
from mqsel.machine._sources cimport value_admit
from mqsel.machine._vm cimport Pace, clock_nanoseconds, pace_look, pace_start

import functools
from collections.abc import Iterable, Mapping

from mqsel.columns._answers import chunks, library
from mqsel.columns.lookup import names_of, narrowed
from mqsel.columns.wordings import check_names
from mqsel.arguments import iterated
from mqsel.carets import shortened
from mqsel.errors import ArgumentError, DecodeError, ProgramError, PropertyTypeError, UndocumentedError
from mqsel.index.computed import computed_among
from mqsel.language.computed import set_clock, time_of
from mqsel.machine import wordings
from mqsel.machine.schema import as_schema
from mqsel.names import ANY_CASE as _ANY_CASE
from mqsel.names import find_nested, folded, parted
from mqsel.values import TYPE_NAMES as _TYPES

cdef extern from "Python.h":
    PyObject *PyIter_Next(object iterator) except? NULL
    int PyErr_CheckSignals() except -1
    PyObject *PyDict_GetItemWithError(PyObject *mapping, PyObject *key) except? NULL
    PyObject **PySequence_Fast_ITEMS(PyObject *sequence)
    Py_ssize_t PySequence_Fast_GET_SIZE(PyObject *sequence)
    int PyUnicode_CheckExact(PyObject *item)
    int PyUnicode_CHECK_INTERNED(PyObject *text)
    long PyLong_AsLong(PyObject *number) except? -1

cdef enum:
    KNOWN = 256         # keys of dicts of which a MessageReading knows what they are
    UNKNOWN_KEY = -1
    FEW = 4             # times as many entries as names, and a dict is asked for the names
    FAILURES = 100      # errors that a stream keeps
    MOST = 0x7FFFFFFF   # deliveries that the offsets of a list array can count

_MISSING = object()
NOT_READ = object()     # a key that a file has
GONE = object()         # the key of a place that has none


# ---- changes -----------------------------------------------------------------------------------------------------


def alone(method):
    """Let a method of a set run while no other thread changes it. In compiled code no signal comes between."""
    @functools.wraps(method)
    def run(selectors, *arguments, **named):
        lock = (<MessageReader> selectors._reader).begin_turn()
        try:
            return method(selectors, *arguments, **named)
        finally:
            lock.release()
    return run


def changing(method):
    """Let a method of a set change it, as `alone`; what runs within, such as a key, cannot change it too.

    Raises: ArgumentError: it is being changed.
    """
    @functools.wraps(method)
    def run(selectors, *arguments, **named):
        cdef MessageReader reader = selectors._reader
        lock = reader.begin_turn()
        try:
            if reader.changing_under is not None:
                raise ArgumentError(
                    "the set is being changed: a key, a selector or a signal handler cannot change it meanwhile",
                    hint="change it afterwards",
                )
            reader.changing_under = lock
            try:
                return method(selectors, *arguments, **named)
            finally:
                reader.changing_under = None
        finally:
            lock.release()
    return run


# ---- names -----------------------------------------------------------------------------------------------------------

# A property that some spelling is of.
cdef struct SpellingTarget:
    uint32_t slot
    int32_t next        # another property that this spelling is of, or -1
    bint second         # it counts only in a message that lacks the property's first spelling


# What the properties of a set are called.
@cython.final
cdef class SpellingTable:
    cdef object names           # Schema of the index: for each slot its spellings, joined by a blank
    cdef list first             # for each slot the spelling that counts
    cdef list second            # for each slot the other one, or None
    cdef list shown             # for each slot its name in errors, and of columns
    cdef dict folded            # by casefolded names, those first spellings that are read without regard to case
    cdef dict tests             # by slot of each that is computed what computes it, and the slots that that reads
    cdef bint reads_clock       # one of them depends on the time
    cdef dict found             # spelling -> number of its first SpellingTarget
    cdef SpellingTarget *targets
    cdef Py_ssize_t target_count
    cdef Py_ssize_t count       # slots
    cdef object origin          # shared with the tables that it became: they have its slots, and more

    def __cinit__(self, names=(), SpellingTable older=None):
        cdef Py_ssize_t slot
        self.targets = <SpellingTarget *> zeroed(2 * <Py_ssize_t> len(names) + 1, sizeof(SpellingTarget))
        self.names = as_schema(names)
        if older is None:
            self.first, self.second, self.found, self.origin = [], [], {}, object()
            self.shown, self.folded = [], {}
            self.tests = computed_among(names)
        else:
            self.origin = older.origin
            self.first, self.second, self.found = older.first[:], older.second[:], older.found.copy()
            self.shown, self.folded = older.shown[:], older.folded.copy()
            self.tests = {**older.tests, **computed_among(names, older.count)}
            self.target_count, self.count = older.target_count, older.count
            memcpy(self.targets, older.targets, older.target_count * sizeof(SpellingTarget))
        for slot in range(self.count, len(names)):
            first, second, kind = parted(names[slot])
            if kind != "test":
                self.enter(first, slot, False)
            if second:
                self.enter(second, slot, True)
            self.first.append(first)
            self.second.append(second or None)
            self.shown.append(first.removesuffix(_ANY_CASE))
            if kind != "test" and first.endswith(_ANY_CASE):
                self.folded[self.shown[slot]] = first
            fault()
        self.reads_clock = any(["UTC()" in names[slot] for slot in self.tests])
        self.count = len(names)

    def __dealloc__(self):
        free(self.targets)

    cdef int enter(self, str spelling, Py_ssize_t slot, bint second) except -1:
        self.targets[self.target_count] = SpellingTarget(<uint32_t> slot, self.found.get(spelling, UNKNOWN_KEY), second)
        self.found[spelling] = self.target_count
        self.target_count += 1
        return 0

    cdef object respelled(self, pairs):
        """Return what has names as a mapping, where those that are read without regard to case are first spellings.

        Args:
            pairs: names and values, which may be places.
        """
        kept = {name: value for name, value in pairs if not isinstance(name, str) or not name.endswith(_ANY_CASE)}
        return {**kept, **folded(pairs, self.folded)}

    cdef int32_t find(self, PyObject *key) except -2:
        """Return the number of the first SpellingTarget of an exact str, or UNKNOWN_KEY."""
        cdef PyObject *found = PyDict_GetItemWithError(<PyObject *> self.found, key)
        return UNKNOWN_KEY if found == NULL else <int32_t> PyLong_AsLong(found)


# Where the properties of a table stand in the sequences, or Records, of one layout.
@cython.final
cdef class Positions:
    cdef object names           # what they were found from, as it came
    cdef object copy            # a list of the names, where what came may change in place
    cdef Py_ssize_t width       # number of names
    cdef SpellingTable table            # that they were found for
    cdef Py_ssize_t slots       # of it, then
    cdef Py_ssize_t count       # properties that are there
    cdef uint32_t *slot         # of each
    cdef int32_t *position      # of each
    cdef int32_t *types         # its declared MQTYPE, or 0
    cdef list nested            # of a Row of Spark: names that lead into its fields, as of find_nested; else None
    cdef bint straight          # each slot stands at its own place: such a Record is searched as it is

    def __cinit__(self, MessageReading reading not None, names, types=()):
        cdef SpellingTable table = reading.table
        cdef Py_ssize_t slot
        self.names = names
        self.copy = list(names)
        self.width = len(self.copy)
        self.table = table
        self.slots = reading.slots  # the table may have grown since
        self.slot = <uint32_t *> zeroed(self.slots, sizeof(uint32_t))
        self.position = <int32_t *> zeroed(self.slots, sizeof(int32_t))
        self.types = <int32_t *> zeroed(self.slots, sizeof(int32_t))
        places = {name: place for place, name in enumerate(self.copy) if isinstance(name, str)}
        if table.folded:
            places = table.respelled(list(places.items()))
        declared = dict(enumerate(types))
        for slot in range(self.slots):
            place = places.get(table.first[slot])
            if place is None and table.second[slot] is not None:
                place = places.get(table.second[slot])
            if place is not None:
                named = declared.get(place)
                self.slot[self.count] = slot
                self.position[self.count] = place
                self.types[self.count] = 0 if named is None else int(_TYPES[named])
                self.count += 1
        self.straight = self.count == self.width and not table.tests
        for slot in range(self.count):
            self.straight = self.straight and self.slot[slot] == slot and self.position[slot] == slot

    def __dealloc__(self):
        free(self.slot)
        free(self.position)
        free(self.types)


cdef inline bint are_of(Positions positions, MessageReading reading) noexcept:
    """Report whether positions were found for what a reading reads."""
    return positions is not None and positions.table is reading.table and positions.slots == reading.slots


# ---- one reading -----------------------------------------------------------------------------------------------------

# What one search reads a message into. Kept by the reader for the next.
@cython.final
@cython.no_gc_clear
cdef class MessageReading:
    cdef SpellingTable table            # of the properties that it reads
    cdef Record record
    cdef Py_ssize_t slots       # that the record has
    cdef uint32_t *touched      # the slots that were written
    cdef Py_ssize_t count       # of them
    cdef bint *is_touched       # for each slot
    cdef PyObject *keys[KNOWN]  # of dicts, owned, by where they lie in memory; or NULL
    cdef int32_t targets[KNOWN]  # what they are

    def __cinit__(self, SpellingTable table not None):
        self.table = table
        self.record = Record(table.names)
        self.slots = table.count
        self.touched = <uint32_t *> zeroed(table.count, sizeof(uint32_t))
        self.is_touched = <bint *> zeroed(table.count, sizeof(bint))

    def __dealloc__(self):
        cdef Py_ssize_t number
        for number in range(KNOWN):
            Py_XDECREF(self.keys[number])
        free(self.touched)
        free(self.is_touched)


cdef inline Value *slot_touch(MessageReading reading, uint32_t slot) noexcept:
    """Return the value of a slot to be written."""
    if not reading.is_touched[slot]:
        reading.is_touched[slot] = True
        reading.touched[reading.count] = slot
        reading.count += 1
    return &reading.record.values[slot]


cdef inline int slot_put(MessageReading reading, uint32_t slot, PyObject *item) except -1:
    """Read a Python object as the value of a slot, and own what it points to."""
    cdef Value *value = slot_touch(reading, slot)
    cdef object held
    if value_read(value, item):
        if value.tag == STRING or value.tag == BYTES:
            value_object(value, &reading.record.owners[slot], value.tag, value.mqtype, value.it.o)
    else:
        held = <object> item
        value_null(value)
        value_load_other(value, &reading.record.owners[slot], reading.table.shown[slot], held)
    return 0


cdef int reading_compute(MessageReading reading, Index index, bint reports) except -1:
    """Compute those tests on which the search depends: UNKNOWN is NULL, ERR a number. Others may run meanwhile.

    Args:
        reports: what no document has an answer for counts as ERR.
    """
    cdef Value *value
    cdef dict tests = reading.table.tests
    cdef list slots
    cdef uint64_t asked = 1
    cdef int truth
    for slot in tests:
        if slot < reading.slots:
            slot_touch(reading, slot).tag = POISON
    # Mostly the first test of a clause is not true, and decides it. So each time twice as many are asked for.
    slots = index.open_tests(reading.record, asked)
    while slots:
        for slot in slots:
            evaluate, read = <tuple> tests[slot]
            try:
                truth = evaluate([value_python(&reading.record.values[<Py_ssize_t> one]) for one in read])
            except UndocumentedError:
                if not reports:
                    raise
                truth = ERR
            value = &reading.record.values[<Py_ssize_t> slot]
            if truth == UNKNOWN:
                value_null(value)
            elif truth == ERR:
                value_integer(value, INT64, MQTYPE_INT64, 0)
            else:
                value_integer(value, BOOLEAN, MQTYPE_BOOLEAN, truth)
        asked *= 2
        slots = index.open_tests(reading.record, asked)
    return 0


cdef void reading_reset(MessageReading reading) noexcept:
    """Set every property to NULL."""
    cdef Py_ssize_t number
    cdef uint32_t slot
    cdef PyObject *owner
    for number in range(reading.count):
        slot = reading.touched[number]
        reading.is_touched[slot] = False
        value_null(&reading.record.values[slot])
        owner = reading.record.owners[slot]
        if owner != NULL:
            reading.record.owners[slot] = NULL
            Py_DECREF(<object> owner)
    reading.count = 0


# ---- the reader ------------------------------------------------------------------------------------------------------

@cython.final
@cython.no_gc_clear
cdef class MessageReader:
    """An index, the keys of its places, and how messages are read for it.

    Threads may share it: a search has a `MessageReading` of its own, and changes come between searches. What can fail
    of a change comes first and changes nothing that counts; the change itself neither allocates nor runs Python code.

    Attributes:
        changes: how often it was changed.
        reports: whether tests without an answer count as ERR; else they raise UndocumentedError.
        facts: for a pickle: the dialect and the schema of its set, and whether it keeps texts; None of other readers.
    """

    cdef readonly Index index
    cdef object messages                # Schema of messages that are sequences, or None
    cdef Turn turn                      # who changes the set has it
    cdef object changing_under          # the lock of the one who does, or None
    cdef readonly Py_ssize_t changes    # how often it was done
    cdef public object facts
    cdef public bint reports            # for reports: see `reading_compute`
    cdef public bint has_order          # some dialect takes neither NaN nor -0.0 from a message
    cdef public object singly           # runs the selectors one by one, see `answer`; None where nothing can
    cdef list keys                      # by place: NOT_READ where a file has it, GONE where there is none; and more
    cdef readonly Py_ssize_t size       # places, also those without a key
    cdef readonly Py_ssize_t living     # keys
    cdef dict placed                    # places by key; None if they are to be read from the keys
    cdef readonly object texts          # Texts, by place
    cdef readonly dict own              # by place: dialects that are not that of the set, or None
    cdef readonly dict options          # by place: match options, or None
    cdef object column                  # keys that a file has, by place; None where all of them are here
    cdef SpellingTable table
    cdef Positions laid_out             # of the schema
    cdef Positions row                  # of the rows seen last that name their positions themselves
    cdef Positions recorded             # of the Records seen last
    cdef object mapping_type            # type of the last message that was found to be a Mapping
    cdef list pool
    cdef Py_ssize_t numbering           # how often places have got other numbers

    __class_getitem__ = classmethod(type(list[int]))

    def __cinit__(self):
        self.keys = []
        self.pool = []
        self.table = SpellingTable()
        self.turn = Turn()
        self.index = Index()
        self.placed, self.own, self.options = {}, {}, {}

    cdef object begin_turn(self):
        """Wait for the turn; return the lock. What a thread that stayed behind a fork was changing is as before."""
        lock = self.turn.take()
        if self.changing_under is not None and self.changing_under is not lock:
            self.changing_under = None
            self.placed = None  # read from the keys when it is next asked for
        return lock

    cdef MessageReading take(self):
        cdef MessageReading reading
        while self.pool:
            reading = self.pool.pop()
            if reading.table is self.table and reading.slots == self.table.count:
                return reading
        return MessageReading(self.table)

    cdef int give(self, MessageReading reading) except -1:
        reading_reset(reading)
        self.pool.append(reading)
        return 0

    cdef Record read(self, MessageReading reading, object message):
        """Return a Record of what a message has, for the index."""
        cdef Positions positions
        cdef Py_ssize_t slot
        if reading.table.folded and isinstance(message, Mapping):
            message = reading.table.respelled(list(message.items()))
        if PyDict_CheckExact(message):
            self.read_dict(reading, message)
        elif type(message) is Record:
            if self.read_record(reading, message) is message:
                if self.has_order:
                    for slot in range(min(reading.slots, (<Record> message).count)):
                        value_admit(&(<Record> message).values[slot], reading.table.shown[slot])
                return message
        elif PyTuple_Check(message) or PyList_Check(message):
            if self.messages is not None:
                positions = self.laid_out
                if not are_of(positions, reading):
                    positions = self.laid_out = Positions(reading, self.messages.names, self.messages.types)
            else:
                positions = self.positions_of_row(reading, message)
            if positions is None:
                raise wordings.not_a_message(message, self.messages is not None)
            self.read_sequence(reading, message, positions)
        elif type(message) is self.mapping_type or isinstance(message, Mapping):
            self.mapping_type = type(message)
            self.look_up(reading, message, False)
        else:
            raise wordings.not_a_message(message, self.messages is not None)
        self.admit(reading, reading.touched, reading.count)
        if reading.table.tests:
            reading_compute(reading, self.index, self.reports)
        return reading.record

    cdef int admit(self, MessageReading reading, const uint32_t *slots, Py_ssize_t count) except -1:
        """Refuse a message that some dialect may not take: whether it does is told by running the selectors singly."""
        cdef Py_ssize_t number
        if self.has_order:
            for number in range(count):
                value_admit(&reading.record.values[slots[number]], reading.table.shown[<Py_ssize_t> slots[number]])
        return 0

    cdef int read_dict(self, MessageReading reading, object message) except -1:
        """Go through a dict. A key that was met before is known by its address."""
        cdef Py_ssize_t place = 0
        cdef size_t number
        cdef PyObject *key
        cdef PyObject *item
        cdef int32_t found
        cdef uint32_t slot
        cdef SpellingTable table = reading.table
        if PyDict_Size(message) > FEW * (reading.slots + 1):
            return self.look_up(reading, message, True)
        while PyDict_Next(message, &place, &key, &item):
            number = (<size_t> key >> 4 ^ <size_t> key >> 12) % KNOWN
            if reading.keys[number] == key:
                found = reading.targets[number]
            elif not PyUnicode_CheckExact(key):
                # Only the key itself knows what it is equal to.
                reading_reset(reading)
                return self.look_up(reading, message, True)
            else:
                found = table.find(key)
                if PyUnicode_CHECK_INTERNED(key):  # others come once
                    Py_XDECREF(reading.keys[number])
                    Py_INCREF(<object> key)
                    reading.keys[number] = key
                    reading.targets[number] = found
            while found >= 0:
                slot = table.targets[found].slot
                if slot < reading.slots and not (
                    table.targets[found].second
                    and PyDict_GetItemWithError(<PyObject *> message, <PyObject *> table.first[slot]) != NULL
                ):
                    slot_put(reading, slot, item)
                found = table.targets[found].next
        return 0

    cdef int look_up(self, MessageReading reading, object message, bint is_dict) except -1:
        """Ask a mapping for every property: a dict, or one that answers by get()."""
        cdef Py_ssize_t slot
        cdef object item
        cdef PyObject *found
        cdef SpellingTable table = reading.table
        for slot in range(reading.slots):
            if is_dict:
                found = PyDict_GetItemWithError(<PyObject *> message, <PyObject *> table.first[slot])
                item = _MISSING if found == NULL else <object> found
            else:
                item = message.get(table.first[slot], _MISSING)
            if item is _MISSING:
                if table.second[slot] is None:
                    continue
                item = message.get(table.second[slot])
            if item is not None:
                slot_put(reading, slot, <PyObject *> item)
        return 0

    cdef int read_sequence(self, MessageReading reading, object message, Positions positions) except -1:
        cdef Py_ssize_t number
        cdef uint32_t slot
        cdef Value *value
        if PySequence_Fast_GET_SIZE(<PyObject *> message) != positions.width:
            raise wordings.wrong_length(PySequence_Fast_GET_SIZE(<PyObject *> message), positions.width)
        if positions.nested:
            wordings.refuse_nested(message, positions.nested, positions.copy)
        for number in range(positions.count):
            slot = positions.slot[number]
            if PySequence_Fast_GET_SIZE(<PyObject *> message) <= positions.position[number]:  # a list may shrink
                raise wordings.wrong_length(
                    PySequence_Fast_GET_SIZE(<PyObject *> message), positions.position[number] + 1
                )
            slot_put(reading, slot, PySequence_Fast_ITEMS(<PyObject *> message)[positions.position[number]])
            value = &reading.record.values[slot]
            if positions.types[number] != 0 and not value_fit(value, positions.types[number]):
                value_refuse(value, positions.types[number], reading.table.shown[slot])
        return 0

    cdef Record read_record(self, MessageReading reading, Record message):
        cdef Positions positions = self.recorded
        cdef Py_ssize_t number
        cdef Value *value
        cdef object held
        if not are_of(positions, reading) or message.schema is not positions.names:
            if not are_of(positions, reading) or message.schema != positions.names:
                positions = Positions(reading, message.schema.names)
            positions.names = message.schema
            self.recorded = positions
        if positions.straight:
            return message
        for number in range(positions.count):
            value = &message.values[positions.position[number]]
            if value.tag == NULL_VALUE:
                continue
            if reading.table.tests:  # others may run before the search, and change the message
                held = value_python(value)
                slot_put(reading, positions.slot[number], <PyObject *> held)
            else:
                slot_touch(reading, positions.slot[number])[0] = value[0]
        return reading.record

    cdef Positions positions_of_row(self, MessageReading reading, object message):
        """Find the layout of a sequence that names its positions: pyspark's Row, or a namedtuple. None for others."""
        cdef Positions positions = self.row
        cdef object fields = getattr(message, "__fields__", None)
        cdef bint is_row = fields is not None
        if not is_row:
            fields = getattr(message, "_fields", None)
        if are_of(positions, reading) and fields is positions.names:
            if PyTuple_Check(fields) or (type(fields) is list and fields == positions.copy):
                return positions
        if not isinstance(fields, (tuple, list)):
            return None
        positions = Positions(reading, fields)
        if is_row:
            spelled = zip(reading.table.shown, reading.table.second)
            positions.nested = find_nested(spelled, positions.copy, folds=bool(reading.table.folded))
        self.row = positions
        return positions

    cdef list answer(self, object message, object within):
        """Return the keys of what selects a message.

        All properties are read first. If one has a value that no property can have, the selectors run one by one: a
        selector may be decided before it comes to the property.
        """
        if within is not None:
            if isinstance(within, (str, bytes)) or not isinstance(within, Iterable):
                raise ArgumentError(
                    f"within is {shortened(within)}: expected several keys", hint="write within=[key]"
                )
            within = [*within]
        try:
            return self.answer_together(message, within)
        except PropertyTypeError:
            if self.singly is None or type(message) is Received:
                raise
            return self.singly(self, message, within)

    cdef list answer_together(self, object message, object within):
        """Return the keys of what selects a message, of which all properties that the selectors read can be read."""
        cdef MessageReading reading
        cdef Record record
        cdef Py_ssize_t numbering
        cdef list found
        while within is None and type(message) is not Received:
            reading = self.take()
            try:
                record = self.read(reading, message)
                if reading.table.origin is not self.table.origin:  # meanwhile the set was cleared
                    continue
                found = self.index.search_keys(
                    record, NULL if record is message else reading.touched, reading.count, self.keys, NOT_READ
                )
                if found is not None:
                    return found
                return self.keys_at(self.index.search(record, None))
            finally:
                self.give(reading)
        while True:
            # Bitmaps are made by Python code: meanwhile another thread may have given the places other numbers.
            numbering = self.numbering
            found = self.answer_some(message, within)
            if numbering == self.numbering:
                return found

    cdef list answer_some(self, object message, list within):
        return self.keys_at(self.places_some(message, within))

    cdef list places_some(self, object message, list within):
        cdef MessageReading reading = self.take()
        cdef Record record
        cdef list places
        allowed = None if within is None else self.allowed(within)
        selected = ()
        try:
            if type(message) is Received:
                record = self.read(reading, (<Received> message).message)
                run, selected = (<Received> message).shown()
                allowed = run if allowed is None else both(run, allowed)
            else:
                record = self.read(reading, message)
            places = self.index.search(record, allowed)
            if selected:
                if within is not None:
                    bits = self.allowed(within)
                    selected = [place for place in selected if bits[place >> 3] >> (place & 7) & 1]
                places = sorted({*places, *selected})
            return places
        finally:
            self.give(reading)

    def match_into(self, message, found) -> int:
        """Put the places of what selects a message into an array; return how many they are, or -1 if there are gaps."""
        cdef MessageReading reading
        cdef Record record
        cdef Py_ssize_t numbering, number
        cdef Py_ssize_t total = -1
        cdef Room room = Room(found)
        cdef list places
        while True:
            numbering = self.numbering  # reading a message runs Python code, and lets other threads run
            if type(message) is Received:
                places = self.places_some(message, None)
                total = PyList_GET_SIZE(places)
                for number in range(min(total, room.count)):
                    room.numbers[number] = places[number]
            else:
                reading = self.take()
                try:
                    record = self.read(reading, message)
                    if reading.table.origin is not self.table.origin:
                        continue
                    total = self.index.search_into(
                        record, NULL if record is message else reading.touched, reading.count, room.numbers, room.count
                    )
                finally:
                    self.give(reading)
            if self.size != self.living:
                return -1
            if total > room.count:
                raise ArgumentError(
                    f"found has room for {room.count:,} positions: {total:,} selectors select the message",
                    hint="let it have as many as the set has selectors",
                )
            if numbering == self.numbering:
                return total

    cdef bytes allowed(self, list within):
        """Return a bitmap of the places of some keys."""
        cdef dict places = self.places()
        try:
            return self.bitmap([place for place in map(places.get, within) if place is not None])
        except TypeError as error:
            raise no_key(next(key for key in within if not has_hash(key))) from error

    def bitmap(self, places) -> bytes:
        """Return a set of places as bits."""
        cdef Py_ssize_t place
        bits = bytearray((self.size + 7) // 8)
        for place in places:
            if place >> 3 < len(bits):  # else it has been renumbered, and whoever asks will ask again
                bits[place >> 3] |= 1 << (place & 7)
        return bytes(bits)

    cpdef list keys_at(self, list places):
        """Return the keys of some places; what a file has is read when it is first asked for."""
        cdef list keys = self.keys
        cdef object column = self.column  # of these keys: reading one lets other threads run
        cdef Py_ssize_t place
        for place in places:
            if place >= len(keys):
                raise ProgramError("the set has a selector without a key", hint="save it again")
            if keys[place] is NOT_READ:
                keys[place] = column[place]
        return [keys[place] for place in places]

    # ---- what the set does with it

    def held(self) -> list:
        """List the keys, the texts and the own dialects of all selectors, in order; a dialect of None is the set's."""
        lock = self.begin_turn()
        try:
            return [(key, self.texts[place], self.own.get(place)) for key, place in self.places().items()]
        finally:
            lock.release()

    def places(self) -> dict:
        """Return the places by key. They are read from the keys when they are first asked for: to match takes none.

        Raises: ProgramError: two keys of a damaged file are the same.
        """
        cdef Py_ssize_t place
        cdef dict placed
        lock = self.begin_turn()
        try:
            if self.placed is None:
                self.keys_at([place for place in range(self.size) if self.keys[place] is NOT_READ])
                placed = {self.keys[place]: place for place in range(self.size) if self.keys[place] is not GONE}
                if len(placed) != self.living:
                    raise ProgramError("a key stands in the set twice", hint="save it again")
                self.placed = placed
            return self.placed
        finally:
            lock.release()

    def begin(self, Index index not None, schema, list keys not None, column, texts, dict own, dict options) -> None:
        """Begin anew, in one step.

        Args:
            keys: of the places of the index; what is NOT_READ stands in *column*.
            texts, own, options: what `put` says, by place.
        """
        cdef SpellingTable table = SpellingTable(index.names)
        cdef list pool = []
        fault()
        self.index, self.messages, self.keys, self.column = index, schema, keys, column
        self.size = self.living = PyList_GET_SIZE(keys)
        self.texts, self.own, self.options, self.placed = texts, own, options, None
        self.table, self.pool = table, pool
        self.laid_out = self.row = self.recorded = None
        self.numbering += 1
        self.changes += 1

    def put(
        self, list removed not None, list places not None, list fresh not None, formulas, list texts, list own not None
    ) -> None:
        """Put selectors at places: all of them, or none.

        Args:
            removed: those of the places that have another selector now.
            places: a place for each selector; the new ones come last and begin where there are none.
            fresh: keys of the new ones.
            formulas: one for each, read one by one; then its ``options`` are the match options, or None.
            texts: one for each; None if the set keeps none.
            own: the dialect of each, or None where it is that of the set.
        """
        cdef Index index = self.index
        cdef IndexChange change
        cdef SpellingTable table = self.table
        cdef Py_ssize_t at
        cdef Py_ssize_t size = self.size + PyList_GET_SIZE(fresh)
        cdef dict placed = self.placed
        cdef list options
        cdef Py_ssize_t packed = self.texts.packed
        cdef dict over = self.texts.over
        cdef list behind = self.texts.behind
        lock = index.begin_writing()
        try:
            change = index.prepare(removed, places, formulas)
            try:
                options = formulas.options
                fault()
                if len(index.names) != table.count:
                    table = SpellingTable(index.names, table)
                have_entries(self.own, places, own)
                have_entries(self.options, places, options)
                if texts is not None:
                    self.texts.reserve(places, size)
                fault()
                self.keys[self.size:] = fresh
                if fresh:
                    placed.update(zip(fresh, places[len(places) - len(fresh):]))
                    if len(placed) != self.living + PyList_GET_SIZE(fresh):
                        raise ArgumentError("keys of the set have changed, and now equal others")
                fault()
            except BaseException:
                if fresh:
                    self.placed = None  # read from the keys when it is next asked for
                index.abandon(change)
                raise
            # From here on nothing fails.
            index.commit(change)
            self.table = table
            self.size = size
            self.living += PyList_GET_SIZE(fresh)
            self.changes += 1
            for at in range(PyList_GET_SIZE(places)):
                put_entry(self.own, places[at], own[at])
                put_entry(self.options, places[at], options[at])
                if texts is not None:
                    put_text(over, behind, packed, places[at], texts[at])
            index.compact_all()
        finally:
            lock.release()

    def drop(self, key, place) -> None:
        """Remove the selector of a key, which has this place."""
        cdef Index index = self.index
        cdef IndexChange change
        cdef dict placed = self.placed
        cdef Py_ssize_t packed = self.texts.packed
        cdef dict over = self.texts.over
        cdef list behind = self.texts.behind
        lock = index.begin_writing()
        try:
            change = index.prepare((place,), (), ())
            self.texts.reserve((place,), 0)
            fault()
            try:
                del placed[key]
            except BaseException:
                self.placed = None
                raise
            # From here on nothing fails. What the key does when it goes comes last.
            key = self.keys[place]
            index.commit(change)
            self.keys[place] = GONE
            self.living -= 1
            self.changes += 1
            self.own.pop(place, None)
            self.options.pop(place, None)
            put_text(over, behind, packed, place, "")
            index.compact_all()
        finally:
            lock.release()

    def renumber(
        self, list places not None, list keys not None, dict placed not None, texts, dict own, dict options
    ) -> None:
        """Close gaps, in one step: the new place of each old one or -1, and everything by the new places."""
        cdef Index index = self.index
        lock = index.begin_writing()
        try:
            change = index.prepare_places(places)
            fault()
            # From here on nothing fails.
            index.commit(change)
            self.keys, self.column = keys, None
            self.size = self.living = PyList_GET_SIZE(keys)
            self.placed, self.texts, self.own, self.options = placed, texts, own, options
            self.numbering += 1
            self.changes += 1
        finally:
            lock.release()

    @property
    def reads_clock(self) -> bool:
        """Whether some selector depends on the time."""
        return self.table.reads_clock

    def match(self, message, *, within=None, now=None) -> list:
        """Return the keys of the selectors that select *message*, in order of insertion.

        Args:
            message: a mapping, a sequence laid out by the schema, a Row or namedtuple, a `Record`, or what `decoder`
                gives.
            within: look at these keys alone; one that is not in the set selects nothing.
            now: what UTC() is, in milliseconds since 1970; by default the time of this call.

        Raises: PropertyTypeError: no message, or a property that a selector comes to has no property value.
            ArgumentError: *within* is no collection of keys.
        """
        if now is None and not self.table.reads_clock:
            return self.answer(message, within)
        before = set_clock(time_of(now))
        try:
            return self.answer(message, within)
        finally:
            set_clock(before)


def has_hash(key) -> bool:
    """Report whether something can be the key of a dict."""
    try:
        hash(key)
    except TypeError:
        return False
    return True


def no_key(key) -> ArgumentError:
    return ArgumentError(f"the key {shortened(key)} has no hash: expected what can be the key of a dict")


cdef int have_entries(dict entries, list places, list values) except -1:
    """Have an entry for each place that gets a value, or has one: to change it takes no memory then."""
    cdef Py_ssize_t at
    for at in range(PyList_GET_SIZE(places)):
        if values[at] is not None:
            entries.setdefault(places[at], None)
    return 0


cdef void put_entry(dict entries, object place, object value) noexcept:
    if place in entries:
        entries[place] = value


cdef void put_text(dict over, list behind, Py_ssize_t packed, object place, object text) noexcept:
    """Put a text where `Texts.reserve` made room for it."""
    cdef Py_ssize_t at = place
    at -= packed
    if at >= 0:
        if at < PyList_GET_SIZE(behind):
            behind[at] = text
    elif place in over:
        over[place] = text


cdef bytes both(bytes one, bytes other):
    """Return what is in two bitmaps."""
    cdef Py_ssize_t size = min(len(one), len(other))
    shared = int.from_bytes(one[:size], "little") & int.from_bytes(other[:size], "little")
    return shared.to_bytes(size, "little")


@cython.final
cdef class Room:
    """An array of unsigned integers of 32 bits that another object holds."""

    cdef Py_buffer view
    cdef uint32_t *numbers
    cdef Py_ssize_t count

    def __cinit__(self, found):
        try:
            PyObject_GetBuffer(found, &self.view, PyBUF_CONTIG | PyBUF_FORMAT)
        except (TypeError, BufferError, ValueError):
            self.view.itemsize = 0  # some of it may have been filled
        if self.view.itemsize != 4 or self.view.format not in (b"I", b"L"):
            raise ArgumentError(
                f"found is {shortened(found)}: expected a writable array of uint32",
                hint='make it with array("I", bytes(4 * len(selectors)))',
            )
        self.numbers, self.count = <uint32_t *> self.view.buf, self.view.len // 4

    def __dealloc__(self):
        PyBuffer_Release(&self.view)


@cython.final
cdef class Received:
    """A raw message that a queue manager would not show to every selector.

    Args:
        message: what was decoded of it.
        shown: gives a bitmap of the places whose selectors run on it, and a list of those that select it without.
    """

    cdef object message
    cdef object shown

    def __cinit__(self, message, shown):
        self.message, self.shown = message, shown


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
    cdef object now             # what UTC() is, if some selector reads it
    cdef bint skipping          # errors="skip"
    cdef bint running           # inside __next__: nobody else must enter
    cdef readonly Py_ssize_t seen       # messages pulled so far
    cdef readonly Py_ssize_t selected   # by at least one selector
    cdef readonly Py_ssize_t skipped    # that raised PropertyTypeError or DecodeError
    cdef readonly list failures         # the first of these errors

    __class_getitem__ = classmethod(type(list[int]))

    def __cinit__(self, MessageReader reader not None, messages, bint skipping=False, decode=None, now=None):
        self.running = True  # for foreign code that finds it before it is complete
        self.reader = reader
        self.now = time_of(now) if now is not None or reader.table.reads_clock else None
        self.skipping = skipping
        self.failures = []
        self.decode = decode
        self.messages = iterated(messages, "an iterable of messages")
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
                if self.decode is not None:
                    decoded = self.decode(message)
                else:
                    decoded = message
                if self.now is None:
                    keys = self.reader.answer(decoded, None)
                else:
                    keys = self.reader.match(decoded, now=self.now)
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
    cdef bytearray known        # a bit for each row: whether there are places, or none; None where all are known

    def __cinit__(self, int64_t rows):
        self.offsets = PyBytes_FromStringAndSize(NULL, <Py_ssize_t> ((rows + 1) * sizeof(int32_t)))
        (<int32_t *> PyBytes_AS_STRING(self.offsets))[0] = 0

    def __dealloc__(self):
        free(self.places)

    cdef int forget(self, int64_t row) except -1:
        """Set a row to null."""
        if self.known is None:
            self.known = bytearray(b"\xff") * (len(self.offsets) // 32 + 1)
        self.known[row >> 3] &= ~(1 << (row & 7)) & 0xFF
        return 0

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


cdef Batch columns_read(MessageReader reader, chunk):
    """Find the columns of what the selectors read."""
    cdef SpellingTable table = reader.table
    fold = [one.endswith(_ANY_CASE) for one in table.first]
    check_names(name for slot, name in enumerate(table.shown) if slot not in table.tests)
    return Batch(names_asked(list(table.shown), list(table.second), fold), chunk)


cdef object chunks_read(pyarrow, MessageReader reader, batch):
    """Return the chunks of what a batch has of it."""
    if isinstance(batch, pyarrow.RecordBatch):
        check_names(names_of(batch.schema))
    names = (name for side in (reader.table.shown, reader.table.second) for name in side if name is not None)
    return chunks(pyarrow, narrowed(pyarrow, batch, names, "folded"))


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
    for chunk in chunks_read(pyarrow, reader, batch):
        try:
            columns = columns_read(reader, chunk)
            lists = DeliveryLists((<Batch> columns).rows)
            start = clock_nanoseconds()
            reason = lists_fill(lists, reader, columns, kernel_for)
            if learn is not None:
                start = clock_nanoseconds() - start
                learn((<Batch> columns).rows, reason, start, functools.partial(trial, reader, columns))
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
            [None if lists.known is None else pyarrow.py_buffer(lists.known), pyarrow.py_buffer(lists.offsets)],
            children=[values],
        ))
    if len(found) == 1:
        return found[0], reason
    return pyarrow.concat_arrays([pyarrow.array([], pyarrow.list_(pyarrow.uint32())), *found]), reason


def match_totals(MessageReader reader not None, batch, kernel_for) -> tuple:
    """Count the rows of a batch, and for each place of the set those that what stands there is true of.

    Args:
        kernel_for: as for `match_rows`.

    Returns: the number of rows, and a list of counts.
    """
    cdef DeliveryLists lists
    cdef int64_t rows = 0
    cdef int64_t number
    cdef int64_t *totals = <int64_t *> zeroed(reader.size + 1, sizeof(int64_t))
    try:
        for chunk in chunks_read(library("why"), reader, batch):
            columns = columns_read(reader, chunk)
            rows += (<Batch> columns).rows
            lists = DeliveryLists((<Batch> columns).rows)
            kernel = kernel_for((<Batch> columns).rows)
            left = [(0, (<Batch> columns).rows)]
            if not isinstance(kernel, str) and kernel_refusal(kernel, columns) is None:
                left = kernel_totals(kernel, (<Batch> columns).columns, (<Batch> columns).rows, totals)
            for start, stop in left:
                by_rows(reader, columns, lists, start, stop)
            for number in range(lists.count):
                totals[lists.places[number]] += 1
        return rows, [totals[number] for number in range(reader.size)]
    finally:
        free(totals)


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
    cdef BatchRun *call = kernel.start(batch.columns, batch.rows)
    cdef int32_t *ends = lists.ends()
    cdef int64_t start = 0
    cdef int64_t row, total, before
    cdef int32_t count
    cdef int rows, status
    call.turned = clock_nanoseconds()
    try:
        with nogil:
            status = words_check(call)
        if status == DECLINED:
            return by_rows(reader, batch, lists, 0, batch.rows)
        while start < batch.rows:
            rows = <int> min(<int64_t> call.rows, batch.rows - start)
            with nogil:
                status = run_formulas(call, start, rows)
                if status == 0:
                    memset(ends + start, 0, rows * sizeof(int32_t))
                    total = run_count(call, rows, ends + start)
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
                    run_places(call, rows, ends + start, lists.places)
                start += rows
            if clock_nanoseconds() - call.turned > TURN:
                PyErr_CheckSignals()
                call.turned = clock_nanoseconds()
    finally:
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


cdef int row_apart(MessageReader reader, Batch batch, DeliveryLists lists, int64_t row) except -1:
    """Search for a row by running the selectors one by one; one without an answer, if it comes to that, is null."""
    cdef RowMessage message = RowMessage(batch)
    cdef uint32_t *room
    message.row = row
    if reader.has_order and reader.singly is not None:
        try:
            places = [reader.places()[key] for key in reader.singly(reader, message, None)]
            room = lists.more(len(places))
            for number, place in enumerate(places):
                room[<Py_ssize_t> number] = place
            return 0
        except UndocumentedError:
            pass
    return lists.forget(row)


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
            if reader.has_order or reading.table.tests:
                try:
                    reader.admit(reading, numbers, count)
                    if reading.table.tests:
                        reading_compute(reading, index, reader.reports)
                except UndocumentedError:
                    row_apart(reader, batch, lists, row)
                    ends[row] = <int32_t> lists.count
                    continue
            search = index.take()
            try:
                found = index.search_c(reading.record, NULL if reading.table.tests else numbers, count, search)
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
