# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Fetching properties from messages: each when an instruction first asks for it, and at most once for a message.

Looks for a property of a dict where it stood in the last one, and borrows strings from the message as long as that is
safe. Knows values and messages; knows no opcode.
"""

from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.ref cimport Py_INCREF, Py_XDECREF

from mqsel.machine import wordings

cdef extern from *:
    """
    /* Whether the characters of a string lie where they are read; old ones may still have to be put there. */
    #if PY_VERSION_HEX >= 0x030C0000
    #define text_ready(text) 1
    #else
    #define text_ready(text) PyUnicode_IS_READY(text)
    #endif
    /* Reads dicts of CPython in place, where the layout of their keys is known and tested: 3.11 to 3.13. Every other
       version is asked by its public functions. The layout is copied here because pycore_dict.h cannot be included
       beside the public headers in all of them. */
    #if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030E0000 && !defined(Py_GIL_DISABLED)
    typedef struct {
        Py_ssize_t references;
        uint8_t log2_size, log2_index_bytes, kind;  /* kind 0: any keys; otherwise exact str alone */
        uint32_t version;
        Py_ssize_t usable, count;
        char indices[];                             /* then the entries */
    } DictKeys;
    typedef struct {
        PyObject *key, *value;
    } DictEntry;
    /* The value of the entry with this number, if it has this very key: a quarter of what PyDict_Next costs. */
    static inline PyObject *dict_entry(PyObject *dict, Py_ssize_t place, PyObject *key) {
        DictKeys *keys = (DictKeys *) ((PyDictObject *) dict)->ma_keys;
        DictEntry *entry;
        if (place >= keys->count || keys->kind == 0 || ((PyDictObject *) dict)->ma_values != NULL) return NULL;
        entry = (DictEntry *) (keys->indices + ((size_t) 1 << keys->log2_index_bytes)) + place;
        return entry->key == key ? entry->value : NULL;
    }
    /* Whether a look-up can run no code of a key's class. */
    static inline int dict_plain(PyObject *dict) {
        return ((DictKeys *) ((PyDictObject *) dict)->ma_keys)->kind != 0;
    }
    /* The number of the entry with this very key among the first so many, or -1. Deleted ones count. */
    static inline Py_ssize_t dict_place(PyObject *dict, PyObject *key, Py_ssize_t limit) {
        Py_ssize_t place;
        for (place = 0; place < limit; place++)
            if (dict_entry(dict, place, key) != NULL) return place;
        return -1;
    }
    #else
    static inline PyObject *dict_entry(PyObject *dict, Py_ssize_t place, PyObject *key) {
        PyObject *found, *value;
        return PyDict_Next(dict, &place, &found, &value) && found == key ? value : NULL;
    }
    static inline int dict_plain(PyObject *dict) {
        return 0;
    }
    static inline Py_ssize_t dict_place(PyObject *dict, PyObject *key, Py_ssize_t limit) {
        Py_ssize_t place = 0;
        PyObject *found, *value;
        while (PyDict_Next(dict, &place, &found, &value) && place <= limit)
            if (found == key) return place - 1;
        return -1;
    }
    #endif
    """
    bint text_ready(PyObject *text)
    PyObject *dict_entry(PyObject *mapping, Py_ssize_t place, PyObject *key)
    bint dict_plain(PyObject *mapping)
    Py_ssize_t dict_place(PyObject *mapping, PyObject *key, Py_ssize_t limit)

cdef extern from "Python.h":
    PyObject *PyDict_GetItemWithError(PyObject *mapping, PyObject *key) except? NULL

cdef enum:
    TRUST = 4       # hits forgive this many misses
    REST = -62      # probes before the next search for a place
    SEARCHED = 128  # entries of a dict among which a place is learned; one search in 63 probes

_MISSING = object()


cdef Value *slot_first(Frame *frame, FetchedSource *source, uint32_t number) except NULL:
    """Fetch a slot. The commonest values of the commonest messages are read here, all others by slot_fetch.

    What else is called stands last, and its exceptions pass: so there is nothing to save, and no way back.
    """
    cdef Slot *slot = &frame.slots[number]
    cdef PyObject *item = NULL
    if FetchedSource is DictSource:
        item = dict_entry(source.message, slot.place, slot.name)
        if item != NULL:
            slot.trust = TRUST
    elif FetchedSource is SequenceSource:
        if source.types == NULL and 0 <= source.positions[number] < PySequence_Fast_GET_SIZE(source.sequence):
            item = PySequence_Fast_ITEMS(source.sequence)[source.positions[number]]
    if item == NULL:
        if FetchedSource is DictSource:
            return FETCH_DICT(frame, source, number)
        elif FetchedSource is SequenceSource:
            return FETCH_SEQUENCE(frame, source, number)
        else:
            return FETCH_MAPPING(frame, source, number)
    slot.stamp = frame.stamp
    if PyUnicode_CheckExact(item) and text_ready(item):
        slot.value.tag = STRING
        slot.value.mqtype = MQTYPE_STRING
        slot.value.it.o = item
        return &slot.value
    if PyLong_CheckExact(<object> item) and long_small(item, &slot.value.it.i):
        slot.value.tag = INT64
        slot.value.mqtype = MQTYPE_INT64
        return &slot.value
    if PyFloat_CheckExact(<object> item):
        value_float(&slot.value, FLOAT64, MQTYPE_FLOAT64, PyFloat_AS_DOUBLE(<object> item))
        return &slot.value
    return LOAD(frame, slot, item)


# The same functions as those below, but an exception they raise stays set and is the caller's to notice (NULL).
cdef Value *(*FETCH_DICT)(Frame *, DictSource *, uint32_t) noexcept
cdef Value *(*FETCH_SEQUENCE)(Frame *, SequenceSource *, uint32_t) noexcept
cdef Value *(*FETCH_MAPPING)(Frame *, MappingSource *, uint32_t) noexcept
cdef Value *(*LOAD)(Frame *, Slot *, PyObject *) noexcept
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
    return &slot.value


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
    """Look a property up by its hash, and from time to time learn its place."""
    cdef PyObject *item
    if not dict_plain(message):
        frame_secure(frame)
    item = PyDict_GetItemWithError(message, slot.name)
    if item == NULL:
        # A missing property has no place, and does not disprove the place that it has in other dicts.
        return NULL if slot.alias == NULL else PyDict_GetItemWithError(message, slot.alias)
    if slot.trust > 0:
        slot.trust -= 1
        if slot.trust == 0:
            slot.trust = REST
            slot.place = NO_PLACE
    else:
        slot.trust += 1
        if slot.trust > 0:
            dict_learn(message, slot)
    return item


cdef void dict_learn(PyObject *message, Slot *slot) noexcept:
    cdef Py_ssize_t place = dict_place(message, slot.name, SEARCHED)
    slot.place = NO_PLACE if place < 0 else place
    slot.trust = REST if place < 0 else TRUST


cdef int mapping_load(Frame *frame, PyObject *message, Slot *slot) except -1:
    """Fetch from any Mapping by get(), which a defaultdict answers without growing."""
    frame_secure(frame)
    cdef object item = (<object> message).get(<object> slot.name, _MISSING)
    if item is _MISSING:
        item = None if slot.alias == NULL else (<object> message).get(<object> slot.alias)
    return value_load(&slot.value, &slot.owner, <object> slot.name, item)
