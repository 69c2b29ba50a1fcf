# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Reads messages for a set of selectors, once each whatever the number of selectors, and asks the index.

A set reads all properties that its selectors read. It goes by the message, not by the names: what a message has is
little beside what a thousand selectors ask for, and dicts that one program makes share their keys. Also what changes
such a set, in one step for whoever asks it. Knows messages and an index; knows no formula. _reading.pxd says who owns
what.

Longer than 500 lines because a Reader is one class, whose parts are called inline.
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
    BOOLEAN, BYTES, MQTYPE_BOOLEAN, NULL_VALUE, POISON, STRING, Record, Value, value_as_number, value_fit,
    value_integer, value_load_other, value_null, value_object, value_read, value_refuse, zeroed,
)

import functools
import threading
from collections.abc import Mapping

from mqsel.errors import ArgumentError, ProgramError
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
    """Let a method of a Reader run while no other thread changes it. In compiled code no signal comes between."""
    @functools.wraps(method)
    def run(Reader self not None, *arguments, **named):
        self.lock.acquire()
        try:
            return method(self, *arguments, **named)
        finally:
            self.lock.release()
    return run


def changing(method):
    """Let a method of a Reader change it, as `alone`; what runs within, such as a key, cannot change it too.

    Raises: ArgumentError: it is being changed.
    """
    @functools.wraps(method)
    def run(Reader self not None, *arguments, **named):
        self.lock.acquire()
        try:
            if self.is_changing:
                raise ArgumentError(
                    "the set is being changed: a key, a selector or a signal handler cannot change it meanwhile",
                    hint="change it afterwards",
                )
            self.is_changing = True
            try:
                return method(self, *arguments, **named)
            finally:
                self.is_changing = False
        finally:
            self.lock.release()
    return run


# ---- names -----------------------------------------------------------------------------------------------------------

@cython.final
cdef class Table:
    def __cinit__(self, names=(), Table older=None):
        cdef Py_ssize_t slot
        self.targets = <Target *> zeroed(2 * <Py_ssize_t> len(names) + 1, sizeof(Target))
        self.names = as_schema(names)
        if older is None:
            self.first, self.second, self.found, self.origin = [], [], {}, object()
            self.converted = []
        else:
            self.origin = older.origin
            self.first, self.second, self.found = older.first[:], older.second[:], older.found.copy()
            self.converted = older.converted[:]
            self.target_count, self.count = older.target_count, older.count
            memcpy(self.targets, older.targets, older.target_count * sizeof(Target))
        for slot in range(self.count, len(names)):
            first, second, kind = parted(names[slot])
            if kind:
                self.converted.append(slot)
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
        self.targets[self.target_count] = Target(<uint32_t> slot, self.found.get(spelling, UNKNOWN_KEY), second)
        self.found[spelling] = self.target_count
        self.target_count += 1
        return 0

    cdef int32_t find(self, PyObject *key) except -2:
        """Give the number of the first Target of an exact str, or UNKNOWN_KEY."""
        cdef PyObject *found = PyDict_GetItemWithError(<PyObject *> self.found, key)
        return UNKNOWN_KEY if found == NULL else <int32_t> PyLong_AsLong(found)


@cython.final
cdef class Positions:
    def __cinit__(self, Reading reading not None, names, types=()):
        cdef Table table = reading.table
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
        self.straight = self.count == self.width and not table.converted
        for slot in range(self.count):
            self.straight = self.straight and self.slot[slot] == slot and self.position[slot] == slot

    def __dealloc__(self):
        free(self.slot)
        free(self.position)
        free(self.types)


cdef inline bint are_of(Positions positions, Reading reading) noexcept:
    """Tell whether positions were found for what a reading reads."""
    return positions is not None and positions.table is reading.table and positions.slots == reading.slots


# ---- one reading -----------------------------------------------------------------------------------------------------

@cython.final
@cython.no_gc_clear
cdef class Reading:
    def __cinit__(self, Table table not None):
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


cdef inline Value *slot_touch(Reading reading, uint32_t slot) noexcept:
    """Give the value of a slot to be written."""
    if not reading.is_touched[slot]:
        reading.is_touched[slot] = True
        reading.touched[reading.count] = slot
        reading.count += 1
    return &reading.record.values[slot]


cdef inline int slot_put(Reading reading, uint32_t slot, PyObject *item) except -1:
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


cdef int reading_convert(Reading reading) except -1:
    """Read as numbers the properties that are read so. What is no number is FALSE, as formulas of them have it."""
    cdef Value *value
    for slot in reading.table.converted:
        value = &reading.record.values[<Py_ssize_t> slot]
        value_as_number(value)
        if value.tag == POISON:
            value_integer(value, BOOLEAN, MQTYPE_BOOLEAN, False)
    return 0


cdef void reading_reset(Reading reading) noexcept:
    """Make every property NULL."""
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

@cython.no_gc_clear
cdef class Reader:
    """An index, the keys of its places, and how messages are read for it.

    Threads may share it: a search has a `Reading` of its own, and changes come between searches. What can fail of a
    change comes first and changes nothing that counts; the change itself neither allocates nor runs Python code.

    Attributes: changes: how often it was changed.
    """

    __class_getitem__ = classmethod(type(list[int]))

    def __cinit__(self, *_, **__):
        self.keys = []
        self.pool = []
        self.table = Table()
        self.lock = threading.RLock()
        self.index = Index()
        self._placed, self._own, self._options = {}, {}, {}

    cdef Reading take(self):
        cdef Reading reading
        while self.pool:
            reading = self.pool.pop()
            if reading.table is self.table and reading.slots == self.table.count:
                return reading
        return Reading(self.table)

    cdef int give(self, Reading reading) except -1:
        reading_reset(reading)
        self.pool.append(reading)
        return 0

    cdef Record read(self, Reading reading, object message):
        """Give a Record of what a message has, for the index."""
        cdef Positions positions
        if PyDict_CheckExact(message):
            self.read_dict(reading, message)
        elif type(message) is Record:
            if self.read_record(reading, message) is message:
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
        if reading.table.converted:
            reading_convert(reading)
        return reading.record

    cdef int read_dict(self, Reading reading, object message) except -1:
        """Go through a dict. A key that was met before is known by its address."""
        cdef Py_ssize_t place = 0
        cdef size_t number
        cdef PyObject *key
        cdef PyObject *item
        cdef int32_t found
        cdef uint32_t slot
        cdef Table table = reading.table
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

    cdef int look_up(self, Reading reading, object message, bint is_dict) except -1:
        """Ask a mapping for every property: a dict, or one that answers by get()."""
        cdef Py_ssize_t slot
        cdef object item
        cdef PyObject *found
        cdef Table table = reading.table
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

    cdef int read_sequence(self, Reading reading, object message, Positions positions) except -1:
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

    cdef Record read_record(self, Reading reading, Record message):
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

    cdef Positions positions_of_row(self, Reading reading, object message):
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
        """Give the keys of what selects a message."""
        cdef Reading reading
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
            within = self._collected(within)
        while True:
            # Bitmaps are made by Python code: meanwhile another thread may have given the places other numbers.
            numbering = self.numbering
            found = self.answer_some(message, within)
            if numbering == self.numbering:
                return found

    cdef list answer_some(self, object message, object within):
        cdef Reading reading = self.take()
        cdef Record record
        cdef list places
        allowed = None if within is None else self._allowed(within)
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
                    bits = self._allowed(within)
                    selected = [place for place in selected if bits[place >> 3] >> (place & 7) & 1]
                places = sorted({*places, *selected})
            return self.keys_at(places)
        finally:
            self.give(reading)

    cdef list keys_at(self, list places):
        """Give the keys of some places; what a file has is read when it is first asked for."""
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

    def _index(self):
        return self.index

    def _size(self) -> int:
        """Count places, also those without a key."""
        return self.size

    def _living(self) -> int:
        """Count keys."""
        return self.living

    def _keys_at(self, list places not None) -> list:
        return self.keys_at(places)

    def _place_keys(self) -> dict:
        """Return the places by key. They are read from the keys when they are first asked for: to match takes none.

        Raises: ProgramError: two keys of a damaged file are the same.
        """
        cdef Py_ssize_t place
        cdef dict placed
        self.lock.acquire()
        try:
            if self._placed is None:
                self.keys_at([place for place in range(self.size) if self.keys[place] is NOT_READ])
                placed = {self.keys[place]: place for place in range(self.size) if self.keys[place] is not GONE}
                if len(placed) != self.living:
                    raise ProgramError("a key of the set stands there twice", hint="save it again")
                self._placed = placed
            return self._placed
        finally:
            self.lock.release()

    def _begin(self, Index index not None, schema, list keys not None, column, texts, dict own, dict options) -> None:
        """Begin anew, in one step.

        Args:
            keys: of the places of the index; what is NOT_READ stands in *column*.
            texts, own, options: what `_put` says, by place.
        """
        cdef Table table = Table(index.names)
        cdef list pool = []
        fault()
        self.index, self.messages, self.keys, self.column = index, schema, keys, column
        self.size = self.living = PyList_GET_SIZE(keys)
        self._texts, self._own, self._options, self._placed = texts, own, options, None
        self.table, self.pool = table, pool
        self.laid_out = self.row = self.recorded = None
        self.numbering += 1
        self.changes += 1

    def _put(
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
        cdef Table table = self.table
        cdef Py_ssize_t at
        cdef Py_ssize_t size = self.size + PyList_GET_SIZE(fresh)
        cdef dict placed = self._placed
        cdef list options
        cdef Py_ssize_t packed = self._texts.packed
        cdef dict over = self._texts.over
        cdef list behind = self._texts.behind
        index.writing.acquire()
        try:
            change = index.prepare(removed, places, formulas)
            try:
                options = formulas.options
                fault()
                if len(index.names) != table.count:
                    table = Table(index.names, table)
                have_entries(self._own, places, own)
                have_entries(self._options, places, options)
                if texts is not None:
                    self._texts.reserve(places, size)
                fault()
                self.keys[self.size:] = fresh
                if fresh:
                    placed.update(zip(fresh, places[len(places) - len(fresh):]))
                    if len(placed) != self.living + PyList_GET_SIZE(fresh):
                        raise ArgumentError("keys of the set have come to equal others")
                fault()
            except BaseException:
                if fresh:
                    self._placed = None  # read from the keys when it is next asked for
                index.abandon(change)
                raise
            # From here on nothing fails.
            index.commit(change)
            self.table = table
            self.size = size
            self.living += PyList_GET_SIZE(fresh)
            self.changes += 1
            for at in range(PyList_GET_SIZE(places)):
                put_entry(self._own, places[at], own[at])
                put_entry(self._options, places[at], options[at])
                if texts is not None:
                    put_text(over, behind, packed, places[at], texts[at])
            index.compact_all()
        finally:
            index.writing.release()

    def _drop(self, key, place) -> None:
        """Remove the selector of a key, which has this place."""
        cdef Index index = self.index
        cdef IndexChange change
        cdef dict placed = self._placed
        cdef Py_ssize_t packed = self._texts.packed
        cdef dict over = self._texts.over
        cdef list behind = self._texts.behind
        index.writing.acquire()
        try:
            change = index.prepare((place,), (), ())
            self._texts.reserve((place,), 0)
            fault()
            try:
                del placed[key]
            except BaseException:
                self._placed = None
                raise
            # From here on nothing fails. What the key does when it goes comes last.
            key = self.keys[place]
            index.commit(change)
            self.keys[place] = GONE
            self.living -= 1
            self.changes += 1
            self._own.pop(place, None)
            self._options.pop(place, None)
            put_text(over, behind, packed, place, "")
            index.compact_all()
        finally:
            index.writing.release()

    def _renumber(
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
            self._placed, self._texts, self._own, self._options = placed, texts, own, options
            self.numbering += 1
            self.changes += 1
        finally:
            index.writing.release()

    def match(self, message, *, within=None) -> list:
        """Give the keys of the selectors that select *message*, in order of insertion.

        Args:
            message: a mapping, a sequence laid out by the schema, a Row or namedtuple, a `Record`, or what `decoder`
                gives.
            within: look at these keys alone; one that is not in the set selects nothing.

        Raises: PropertyTypeError: no message, or a property that any selector of the set reads has no property value,
            though a Matcher might not have come to it. ArgumentError: *within* is no collection of keys.
        """
        return self.answer(message, within)


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
    """Tell whether no key is NOT_READ."""
    for key in keys:
        if key is NOT_READ:
            return False
    return True


cdef bytes both(bytes one, bytes other):
    """Give what is in two bitmaps."""
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
