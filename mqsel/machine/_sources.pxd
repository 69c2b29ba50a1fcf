# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
# Where properties come from: the state of one evaluation, and four sources. _vm.pxd says who owns what.

from cpython.dict cimport PyDict_CheckExact
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_CheckExact
from libc.stdint cimport int32_t, uint32_t, uint64_t

from mqsel.machine._image cimport *

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
        uint8_t log2_size, log2_index_bytes, kind;  /* kind 0: any keys; else exact str alone, 2: shared keys */
        uint32_t version;
        Py_ssize_t usable, count;
        char indices[];                             /* then the entries */
    } DictKeys;
    typedef struct {
        PyObject *key, *value;
    } DictEntry;
    /* Whether the entry with this number has this very key, and its value: a quarter of what PyDict_Next costs. */
    static inline int dict_entry(PyObject *dict, Py_ssize_t place, PyObject *key, PyObject **value) {
        DictKeys *keys = (DictKeys *) ((PyDictObject *) dict)->ma_keys;
        DictEntry *entry;
        if (place >= keys->count || keys->kind != 1) return 0;
        entry = (DictEntry *) (keys->indices + ((size_t) 1 << keys->log2_index_bytes)) + place;
        if (entry->key != key) return 0;
        *value = entry->value;  /* a deleted entry has no key, and one without a value is in a dict of shared keys */
        return 1;
    }
    /* Whether a look-up can run no code of a key's class. */
    static inline int dict_plain(PyObject *dict) {
        return ((DictKeys *) ((PyDictObject *) dict)->ma_keys)->kind != 0;
    }
    /* The number of the entry with this very key among those from one to before another, or -1. Deleted ones count. */
    static inline Py_ssize_t dict_place(
        PyObject *dict, Py_ssize_t place, Py_ssize_t stop, PyObject *key, PyObject **value
    ) {
        for (; place < stop; place++)
            if (dict_entry(dict, place, key, value)) return place;
        return -1;
    }
    #else
    static inline int dict_entry(PyObject *dict, Py_ssize_t place, PyObject *key, PyObject **value) {
        PyObject *found;
        return PyDict_Next(dict, &place, &found, value) && found == key;
    }
    static inline int dict_plain(PyObject *dict) {
        return 0;
    }
    static inline Py_ssize_t dict_place(
        PyObject *dict, Py_ssize_t place, Py_ssize_t stop, PyObject *key, PyObject **value
    ) {
        PyObject *found;
        while (PyDict_Next(dict, &place, &found, value) && place <= stop)
            if (found == key) return place - 1;
        return -1;
    }
    #endif
    #ifdef __GNUC__
    #define memory_ask(address) __builtin_prefetch(address)
    #else
    #define memory_ask(address)
    #endif
    /* Asks for the memory of dicts that come later: of one for itself, of one before it for its keys. */
    static inline void dicts_ask(PyObject **items) {
        memory_ask(items[8]);
        if (PyDict_CheckExact(items[4])) {
            memory_ask(((PyDictObject *) items[4])->ma_keys);
            memory_ask((char *) ((PyDictObject *) items[4])->ma_keys + 64);
        }
    }
    """
    void dicts_ask(PyObject **items)
    bint text_ready(PyObject *text)
    bint dict_entry(PyObject *mapping, Py_ssize_t place, PyObject *key, PyObject **value)
    bint dict_plain(PyObject *mapping)
    Py_ssize_t dict_place(PyObject *mapping, Py_ssize_t place, Py_ssize_t stop, PyObject *key, PyObject **value)

cdef extern from "Python.h":
    PyObject **PySequence_Fast_ITEMS(PyObject *sequence)
    Py_ssize_t PySequence_Fast_GET_SIZE(PyObject *sequence)
    PyObject *Py_TYPE(PyObject *item)

cdef enum:
    NO_PLACE = 0x7FFFFFFF       # beyond the entries of any dict
    TRUST = 64                  # hits forgive this many misses


# One property of the current message: a cache line.
cdef struct Slot:
    uint64_t stamp           # number of the message for which it was fetched last
    Value value              # valid if the stamp is that of the frame; a string in it is borrowed from the message
    PyObject *name           # interned, kept alive by the machine
    PyObject *alias          # its other spelling (usr.x), or NULL
    PyObject *owner          # strong reference to what the value points to, where one is needed; released late
    # Dicts of one shape hold a property at one place: to look there costs a fraction of a probe.
    Py_ssize_t place         # number of the property's entry in the dicts seen last; NO_PLACE
    int trust                # > 0: misses until the place is forgotten; <= 0: counts up towards the next search for it


# What one evaluation needs. Frames are pooled by the machine: no allocation for a message.
cdef struct Frame:
    uint64_t stamp           # number of the current message
    Image *image             # of the machine
    Slot *slots              # one for each slot of the program
    Value *stack             # value stack
    unsigned char *truths    # truth stack below its top, which the loop keeps in a register
    PyObject **items         # the current message in the list that is being read; NULL where there is none
    Py_ssize_t left          # messages of the list that the loop may go on to by itself
    PyObject *held           # strong reference to the current message, once foreign code has run
    PyObject **ahead         # where the loop puts a reference to a selected message, and goes on; NULL: it ends at one
    Frame *next              # in the pool


# The four property sources: the loop is specialised for each by the compiler.
cdef struct DictSource:
    PyObject *message        # exact dict


cdef struct SequenceSource:
    PyObject *sequence       # tuple or list; a list may shrink while one of its values is read
    int32_t *positions       # of a Layout
    int32_t *types           # of a Layout, or NULL
    Py_ssize_t width         # of a Layout


cdef struct RecordSource:
    Value *values            # of a Record
    int32_t *positions       # of a Layout; none of them is negative
    PyObject *schema         # of the Record


cdef struct MappingSource:
    PyObject *message        # anything with get()


ctypedef fused Source:
    DictSource
    SequenceSource
    RecordSource
    MappingSource


# Those whose values are Python objects, to be read into slots.
ctypedef fused FetchedSource:
    DictSource
    SequenceSource
    MappingSource


# What is read less often. An exception they raise stays set and is the caller's to notice (NULL).
cdef Value *(*FETCH_DICT)(Frame *, DictSource *, uint32_t) noexcept
cdef Value *(*FETCH_SEQUENCE)(Frame *, SequenceSource *, uint32_t) noexcept
cdef Value *(*FETCH_MAPPING)(Frame *, MappingSource *, uint32_t) noexcept
cdef Value *(*LOAD)(Frame *, Slot *, PyObject *) noexcept
cdef void frame_secure(Frame *frame) noexcept
cdef void frame_hold(Frame *frame) noexcept
cdef int value_admit(Value *value, object name) except -1


cdef inline Value *slot_first(Frame *frame, FetchedSource *source, Slot *slot, uint32_t number) except NULL:
    """Fetch a slot. The commonest values of the commonest messages are read here, all others by slot_fetch.

    What else is called stands last, and its exceptions pass: so there is nothing to save, and no way back.
    """
    cdef PyObject *item = NULL
    cdef bint is_found = False
    if FetchedSource is DictSource:
        is_found = dict_entry(source.message, slot.place, slot.name, &item)
        if is_found:
            slot.trust = TRUST
    elif FetchedSource is SequenceSource:
        is_found = source.types == NULL and 0 <= source.positions[number] < PySequence_Fast_GET_SIZE(source.sequence)
        if is_found:
            item = PySequence_Fast_ITEMS(source.sequence)[source.positions[number]]
    if not is_found:
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
    if PyFloat_CheckExact(<object> item) and not frame.image.has_order:
        value_float(&slot.value, FLOAT64, MQTYPE_FLOAT64, PyFloat_AS_DOUBLE(<object> item))
        return &slot.value
    return LOAD(frame, slot, item)


cdef inline Value *slot_value(Frame *frame, Source *source, uint32_t number) except NULL:
    """Return the value of a slot, fetching it if this message has not been asked for it yet."""
    cdef Slot *slot
    if Source is RecordSource:
        return &source.values[source.positions[number]]
    else:
        slot = &frame.slots[number]
        if slot.stamp == frame.stamp:
            return &slot.value
        return slot_first(frame, source, slot, number)


cdef inline bint is_unordered(Value *value) noexcept:
    """Report whether a value is NaN or -0.0, which a dialect with a total order of floats takes from no message."""
    return (value.tag == FLOAT32 or value.tag == FLOAT64) and (
        value.it.d != value.it.d or (value.it.d == 0 and value.it.i != 0)
    )


cdef inline bint is_unordered_record(Image *image, RecordSource *source) noexcept:
    """Report whether floats have a total order and some property of a Record is NaN or -0.0."""
    cdef Py_ssize_t number
    if image.has_order:
        for number in range(image.slot_count):
            if is_unordered(&source.values[source.positions[number]]):
                return True
    return False


cdef inline bint source_advance(Frame *frame, Source *source, int truth) noexcept:
    """Go on to the next message of the list, if this one is not selected, or kept, and the next has the same source."""
    cdef PyObject *message
    cdef bint alike = False
    if frame.left > 0 and (truth != TRUE or frame.ahead != NULL):
        message = frame.items[1]
        if Source is DictSource:
            alike = PyDict_CheckExact(<object> message)
            if frame.left > 8:
                dicts_ask(frame.items)
            source.message = message
        elif Source is SequenceSource:
            alike = PyTuple_CheckExact(<object> message) and PySequence_Fast_GET_SIZE(message) == source.width
            source.sequence = message
        elif Source is RecordSource:
            if <PyObject *> Py_TYPE(message) == <PyObject *> Record:
                source.values = (<Record> message).values
                alike = <PyObject *> (<Record> message).schema == source.schema
                alike = alike and not is_unordered_record(frame.image, source)
        if alike:
            if truth == TRUE:
                Py_INCREF(<object> frame.items[0])
                frame.ahead[0] = frame.items[0]
                frame.ahead += 1
            frame.items += 1
            frame.left -= 1
            frame.stamp += 1
    return alike
