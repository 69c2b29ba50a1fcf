# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Reads messages for a set of selectors, once each whatever the number of selectors, and asks the index.

A set reads all properties that its selectors read. It goes by the message, not by the names: what a message has is
little beside what a thousand selectors ask for, and dicts that one program makes share their keys. Also what changes
such a set, in one step for whoever asks it. Knows messages and an index; knows no formula. _reader.pxd says who owns
what.

Longer than 500 lines because a MessageReader is one class, whose parts are called inline.
"""

cimport cython
from cpython.dict cimport PyDict_CheckExact, PyDict_Next, PyDict_Size
from cpython.list cimport PyList_Check, PyList_GET_SIZE
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF
from cpython.tuple cimport PyTuple_Check
from libc.stdint cimport int32_t, uint32_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from mqsel.index._index cimport Index, IndexChange
from mqsel.index._segment cimport fault
from mqsel.machine._values cimport (
    BYTES, NULL_VALUE, STRING, Record, Value, value_fit, value_load_other, value_null, value_object, value_read,
    value_refuse, zeroed,
)

import functools
import threading
from collections.abc import Iterable, Mapping

from mqsel.errors import ArgumentError, ProgramError, shortened
from mqsel.machine import wordings
from mqsel.machine.schema import as_schema
from mqsel.names import parted
from mqsel.values import TYPE_NAMES as _TYPES

cdef extern from "Python.h":
    PyObject *PyDict_GetItemWithError(PyObject *mapping, PyObject *key) except? NULL
    PyObject **PySequence_Fast_ITEMS(PyObject *sequence)
    Py_ssize_t PySequence_Fast_GET_SIZE(PyObject *sequence)
    int PyUnicode_CheckExact(PyObject *item)
    int PyUnicode_CHECK_INTERNED(PyObject *text)
    long PyLong_AsLong(PyObject *number) except? -1

cdef enum:
    UNKNOWN_KEY = -1
    FEW = 4             # times as many entries as names, and a dict is asked for the names

_MISSING = object()
NOT_READ = object()     # a key that a file has
GONE = object()         # the key of a place that has none


# ---- changes -----------------------------------------------------------------------------------------------------


def alone(method):
    """Let a method of a set run while no other thread changes it. In compiled code no signal comes between."""
    @functools.wraps(method)
    def run(selectors, *arguments, **named):
        cdef MessageReader reader = selectors._reader
        reader.lock.acquire()
        try:
            return method(selectors, *arguments, **named)
        finally:
            reader.lock.release()
    return run


def changing(method):
    """Let a method of a set change it, as `alone`; what runs within, such as a key, cannot change it too.

    Raises: ArgumentError: it is being changed.
    """
    @functools.wraps(method)
    def run(selectors, *arguments, **named):
        cdef MessageReader reader = selectors._reader
        reader.lock.acquire()
        try:
            if reader.is_changing:
                raise ArgumentError(
                    "the set is being changed: a key, a selector or a signal handler cannot change it meanwhile",
                    hint="change it afterwards",
                )
            reader.is_changing = True
            try:
                return method(selectors, *arguments, **named)
            finally:
                reader.is_changing = False
        finally:
            reader.lock.release()
    return run


# ---- names -----------------------------------------------------------------------------------------------------------

@cython.final
cdef class SpellingTable:
    def __cinit__(self, names=(), SpellingTable older=None):
        cdef Py_ssize_t slot
        self.targets = <SpellingTarget *> zeroed(2 * <Py_ssize_t> len(names) + 1, sizeof(SpellingTarget))
        self.names = as_schema(names)
        if older is None:
            self.first, self.second, self.found, self.origin = [], [], {}, object()
        else:
            self.origin = older.origin
            self.first, self.second, self.found = older.first[:], older.second[:], older.found.copy()
            self.target_count, self.count = older.target_count, older.count
            memcpy(self.targets, older.targets, older.target_count * sizeof(SpellingTarget))
        for slot in range(self.count, len(names)):
            first, second = parted(names[slot])
            self.enter(first, slot, False)
            if second:
                self.enter(second, slot, True)
            self.first.append(first)
            self.second.append(second or None)
            fault()
        self.count = len(names)

    def __dealloc__(self):
        free(self.targets)

    cdef int enter(self, str spelling, Py_ssize_t slot, bint second) except -1:
        self.targets[self.target_count] = SpellingTarget(<uint32_t> slot, self.found.get(spelling, UNKNOWN_KEY), second)
        self.found[spelling] = self.target_count
        self.target_count += 1
        return 0

    cdef int32_t find(self, PyObject *key) except -2:
        """Return the number of the first SpellingTarget of an exact str, or UNKNOWN_KEY."""
        cdef PyObject *found = PyDict_GetItemWithError(<PyObject *> self.found, key)
        return UNKNOWN_KEY if found == NULL else <int32_t> PyLong_AsLong(found)


@cython.final
cdef class Positions:
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
        self.straight = self.count == self.width
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

@cython.final
@cython.no_gc_clear
cdef class MessageReading:
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
        value_load_other(value, &reading.record.owners[slot], reading.table.first[slot], held)
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

    Attributes: changes: how often it was changed.
    """

    __class_getitem__ = classmethod(type(list[int]))

    def __cinit__(self):
        self.keys = []
        self.pool = []
        self.table = SpellingTable()
        self.lock = threading.RLock()
        self.index = Index()
        self.placed, self.own, self.options = {}, {}, {}

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
        if PyDict_CheckExact(message):
            self.read_dict(reading, message)
            return reading.record
        if type(message) is Record:
            return self.read_record(reading, message)
        if PyTuple_Check(message) or PyList_Check(message):
            if self.messages is not None:
                positions = self.laid_out
                if not are_of(positions, reading):
                    positions = self.laid_out = Positions(reading, self.messages.names, self.messages.types)
            else:
                positions = self.positions_of_row(reading, message)
            if positions is not None:
                self.read_sequence(reading, message, positions)
                return reading.record
        elif type(message) is self.mapping_type or isinstance(message, Mapping):
            self.mapping_type = type(message)
            self.look_up(reading, message, False)
            return reading.record
        raise wordings.not_a_message(message, self.messages is not None)

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
        for number in range(positions.count):
            slot = positions.slot[number]
            if PySequence_Fast_GET_SIZE(<PyObject *> message) <= positions.position[number]:  # a list may shrink
                raise wordings.wrong_length(
                    PySequence_Fast_GET_SIZE(<PyObject *> message), positions.position[number] + 1
                )
            slot_put(reading, slot, PySequence_Fast_ITEMS(<PyObject *> message)[positions.position[number]])
            value = &reading.record.values[slot]
            if positions.types[number] != 0 and not value_fit(value, positions.types[number]):
                value_refuse(value, positions.types[number], reading.table.first[slot])
        return 0

    cdef Record read_record(self, MessageReading reading, Record message):
        cdef Positions positions = self.recorded
        cdef Py_ssize_t number
        if not are_of(positions, reading) or message.schema is not positions.names:
            if not are_of(positions, reading) or message.schema != positions.names:
                positions = Positions(reading, message.schema.names)
            positions.names = message.schema
            self.recorded = positions
        if positions.straight:
            return message
        for number in range(positions.count):
            if message.values[positions.position[number]].tag != NULL_VALUE:
                slot_touch(reading, positions.slot[number])[0] = message.values[positions.position[number]]
        return reading.record

    cdef Positions positions_of_row(self, MessageReading reading, object message):
        """Find the layout of a sequence that names its positions: pyspark's Row, or a namedtuple. None for others."""
        cdef Positions positions = self.row
        cdef object fields = getattr(message, "__fields__", None)
        if fields is None:
            fields = getattr(message, "_fields", None)
        if are_of(positions, reading) and fields is positions.names:
            if PyTuple_Check(fields) or (type(fields) is list and fields == positions.copy):
                return positions
        if not isinstance(fields, (tuple, list)):
            return None
        positions = self.row = Positions(reading, fields)
        return positions

    cdef list answer(self, object message, object within):
        """Return the keys of what selects a message."""
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
                found = self.index.search_keys(record, self.keys, None)
                if self.column is None or are_read(found):
                    return found
                return self.keys_at(self.index.search(record, None))
            finally:
                self.give(reading)
        if within is not None:
            if isinstance(within, (str, bytes)) or not isinstance(within, Iterable):
                raise ArgumentError(
                    f"within is {shortened(within)}: expected several keys", hint="write within=[key]"
                )
            within = [*within]
        while True:
            # Bitmaps are made by Python code: meanwhile another thread may have given the places other numbers.
            numbering = self.numbering
            found = self.answer_some(message, within)
            if numbering == self.numbering:
                return found

    cdef list answer_some(self, object message, list within):
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
            return self.keys_at(places)
        finally:
            self.give(reading)

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
                raise ProgramError("the set names a selector that it has no key for", hint="save it again")
            if keys[place] is NOT_READ:
                keys[place] = column[place]
        return [keys[place] for place in places]

    # ---- what the set does with it

    def places(self) -> dict:
        """Return the places by key. They are read from the keys when they are first asked for: to match takes none.

        Raises: ProgramError: two keys of a damaged file are the same.
        """
        cdef Py_ssize_t place
        cdef dict placed
        self.lock.acquire()
        try:
            if self.placed is None:
                self.keys_at([place for place in range(self.size) if self.keys[place] is NOT_READ])
                placed = {self.keys[place]: place for place in range(self.size) if self.keys[place] is not GONE}
                if len(placed) != self.living:
                    raise ProgramError("a key of the set stands there twice", hint="save it again")
                self.placed = placed
            return self.placed
        finally:
            self.lock.release()

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
        index.writing.acquire()
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
                        raise ArgumentError("keys of the set have come to equal others")
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
            index.writing.release()

    def drop(self, key, place) -> None:
        """Remove the selector of a key, which has this place."""
        cdef Index index = self.index
        cdef IndexChange change
        cdef dict placed = self.placed
        cdef Py_ssize_t packed = self.texts.packed
        cdef dict over = self.texts.over
        cdef list behind = self.texts.behind
        index.writing.acquire()
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
            index.writing.release()

    def renumber(
        self, list places not None, list keys not None, dict placed not None, texts, dict own, dict options
    ) -> None:
        """Close gaps, in one step: the new place of each old one or -1, and everything by the new places."""
        cdef Index index = self.index
        index.writing.acquire()
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
            index.writing.release()

    def match(self, message, *, within=None) -> list:
        """Return the keys of the selectors that select *message*, in order of insertion.

        Args:
            message: a mapping, a sequence laid out by the schema, a Row or namedtuple, a `Record`, or what `decoder`
                gives.
            within: look at these keys alone; one that is not in the set selects nothing.

        Raises: PropertyTypeError: no message, or a property that any selector of the set reads has no property value,
            though a Matcher might not have come to it. ArgumentError: *within* is no collection of keys.
        """
        return self.answer(message, within)


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


cdef bint are_read(list keys):
    """Report whether no key is NOT_READ."""
    for key in keys:
        if key is NOT_READ:
            return False
    return True


cdef bytes both(bytes one, bytes other):
    """Return what is in two bitmaps."""
    cdef Py_ssize_t size = min(len(one), len(other))
    shared = int.from_bytes(one[:size], "little") & int.from_bytes(other[:size], "little")
    return shared.to_bytes(size, "little")


@cython.final
cdef class Received:
    """A raw message that a queue manager would not show to every selector.

    Args:
        message: what was decoded of it.
        shown: gives a bitmap of the places whose selectors run on it, and a list of those that select it without.
    """

    def __cinit__(self, message, shown):
        self.message, self.shown = message, shown
