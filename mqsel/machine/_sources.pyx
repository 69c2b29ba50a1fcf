# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Fetching properties from messages: each when an instruction first asks for it, and at most once for a message.

Looks for a property of a dict where it stood in the last one, and borrows strings from the message as long as that is
safe. Knows values and messages; knows no opcode.
"""

from cpython.ref cimport Py_INCREF, Py_XDECREF

from mqsel.machine import wordings

cdef extern from "Python.h":
    PyObject *PyDict_GetItemWithError(PyObject *mapping, PyObject *key) except? NULL

cdef enum:
    REST = -62      # probes before the next search for a place
    NEAR = 3        # entries before a place
    PROBE = 16      # a property that is found by its hash alone disproves its place as much as so many near it
    SEARCHED = 128  # entries of a dict among which a place is learned; one search in 63 probes

_MISSING = object()


# The same functions as those below, but an exception they raise stays set and is the caller's to notice (NULL).
FETCH_DICT = <Value *(*)(Frame *, DictSource *, uint32_t) noexcept> <void *> slot_fetch[DictSource]
FETCH_SEQUENCE = <Value *(*)(Frame *, SequenceSource *, uint32_t) noexcept> <void *> slot_fetch[SequenceSource]
FETCH_MAPPING = <Value *(*)(Frame *, MappingSource *, uint32_t) noexcept> <void *> slot_fetch[MappingSource]
LOAD = <Value *(*)(Frame *, Slot *, PyObject *) noexcept> <void *> slot_load


cdef Value *slot_fetch(Frame *frame, FetchedSource *source, uint32_t number) except NULL:
    """Fetch a slot from its source."""
    cdef Slot *slot = &frame.slots[number]
    cdef PyObject *item
    cdef int32_t position
    slot.stamp = frame.stamp
    value_null(&slot.value)
    if FetchedSource is SequenceSource:
        position = source.positions[number]
        if position < 0:
            return &slot.value
        if position >= PySequence_Fast_GET_SIZE(source.sequence):
            frame_secure(frame)
            raise wordings.wrong_length(PySequence_Fast_GET_SIZE(source.sequence), position + 1)
        slot_load(frame, slot, PySequence_Fast_ITEMS(source.sequence)[position])
        if source.types != NULL and not value_fit(&slot.value, source.types[number]):
            frame_secure(frame)
            value_refuse(&slot.value, source.types[number], <object> slot.name)
    elif FetchedSource is DictSource:
        item = dict_probe(frame, source.message, slot)
        if item != NULL:
            slot_load(frame, slot, item)
    elif FetchedSource is MappingSource:
        mapping_load(frame, source.message, slot)
    slot_admit(frame, slot)
    return &slot.value


cdef Value *slot_load(Frame *frame, Slot *slot, PyObject *item) except NULL:
    """Read a Python object as the value of a slot. A string is borrowed from the message as long as that is safe."""
    cdef object held
    if not value_read(&slot.value, item):
        # Reading it runs foreign code, which may take it, and what other slots point to, out of the message.
        slot.value.tag = NULL_VALUE
        frame_secure(frame)
        held = <object> item
        value_load_other(&slot.value, &slot.owner, <object> slot.name, held)
    slot_admit(frame, slot)
    return &slot.value


cdef inline int slot_admit(Frame *frame, Slot *slot) except -1:
    if frame.image.has_order and is_unordered(&slot.value):
        frame_secure(frame)
        value_admit(&slot.value, <object> slot.name)
    return 0


cdef int value_admit(Value *value, object name) except -1:
    """Raise what says why a dialect with a total order of floats does not take a value, if it does not."""
    if is_unordered(value):
        raise wordings.unordered_float(name, value.it.d)
    return 0


cdef void frame_secure(Frame *frame) noexcept:
    """Own what the slots point to, before foreign code runs that may change the message."""
    cdef Py_ssize_t number
    cdef Slot *slot
    cdef PyObject *old
    for number in range(frame.image.slot_count):
        slot = &frame.slots[number]
        if slot.stamp == frame.stamp and (slot.value.tag == STRING or slot.value.tag == BYTES):
            old = slot.owner
            if old != slot.value.it.o:
                Py_INCREF(<object> slot.value.it.o)
                slot.owner = slot.value.it.o
                Py_XDECREF(old)
    frame_hold(frame)


cdef void frame_hold(Frame *frame) noexcept:
    """Own the current message, if it is borrowed from a list."""
    if frame.items != NULL and frame.held == NULL:
        frame.held = frame.items[0]
        Py_INCREF(<object> frame.held)
        frame.left = 0


cdef PyObject *dict_probe(Frame *frame, PyObject *message, Slot *slot) except? NULL:
    """Look a property up shortly before its place, then by its hash, and from time to time learn its place."""
    cdef PyObject *item
    cdef Py_ssize_t near
    if slot.trust > 0:
        # Where a dict lacks others, it stands a little before: half as many instructions as by its hash.
        near = dict_place(message, max(slot.place - NEAR, 0), slot.place, slot.name, &item)
        if near >= 0:
            slot.trust -= 1
            if slot.trust == 0:
                slot.trust = TRUST
                slot.place = near
            return item
    if not dict_plain(message):
        frame_secure(frame)
    item = PyDict_GetItemWithError(message, slot.name)
    if item == NULL:
        # A missing property has no place, and does not disprove the place that it has in other dicts.
        return NULL if slot.alias == NULL else PyDict_GetItemWithError(message, slot.alias)
    if slot.trust > 0:
        slot.trust -= PROBE
        if slot.trust <= 0:
            slot.trust = REST
            slot.place = NO_PLACE
    else:
        slot.trust += 1
        if slot.trust > 0:
            dict_learn(message, slot)
    return item


cdef void dict_learn(PyObject *message, Slot *slot) noexcept:
    cdef PyObject *item
    cdef Py_ssize_t place = dict_place(message, 0, SEARCHED, slot.name, &item)
    slot.place = NO_PLACE if place < 0 else place
    slot.trust = REST if place < 0 else TRUST


cdef int mapping_load(Frame *frame, PyObject *message, Slot *slot) except -1:
    """Fetch from any Mapping by get(), which a defaultdict answers without growing."""
    frame_secure(frame)
    cdef object item = (<object> message).get(<object> slot.name, _MISSING)
    if item is _MISSING:
        item = None if slot.alias == NULL else (<object> message).get(<object> slot.alias)
    return value_load(&slot.value, &slot.owner, <object> slot.name, item)
