# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""The machine: the only executor of opcodes. Values in, the loop, the LIKE matcher.

One loop, which the C compiler specialises for five property sources. A property is fetched when an instruction first
asks for it, and at most once for a message. ERR ends the program at once: no connective that evaluates it survives it
(language §1). Knows programs and values; knows no selector text. Programs are verified before they come here, so the
loop checks nothing but types.

Longer than 500 lines because what the loop uses must stand in one C unit with it to be compiled into it: values,
sources, comparison, LIKE and IN, then the streams and Records that people hold.
"""

cimport cython
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_Check, PyByteArray_GET_SIZE
from cpython.bytes cimport (
    PyBytes_AS_STRING, PyBytes_Check, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE,
)
from cpython.dict cimport PyDict_CheckExact
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check, PyFloat_CheckExact
from cpython.list cimport PyList_Check, PyList_CheckExact
from cpython.long cimport PyLong_Check, PyLong_CheckExact
from cpython.memoryview cimport PyMemoryView_Check
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_DECREF, Py_XDECREF
from cpython.tuple cimport PyTuple_Check, PyTuple_CheckExact
from cpython.unicode cimport PyUnicode_Check
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memchr, memcmp

from mqsel.machine._opcodes cimport *

from collections.abc import Mapping

from mqsel import errors
from mqsel.errors import ArgumentError, DecodeError, PropertyTypeError
from mqsel.machine.program import Program
from mqsel.machine.schema import as_schema
from mqsel.values import TYPE_NAMES as _TYPES
from mqsel.values import Float32, Int8, Int16, Int32

cdef extern from *:
    """
    /* Looks into objects of CPython in place. What a version lays out otherwise, or nobody tried, goes by the public
       functions. The keys of a dict are laid out so from 3.11 to 3.13 at least; pycore_dict.h itself cannot be included
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
    /* The value of an int of one digit. */
    static inline int long_small(PyObject *number, int64_t *value) {
    #if PY_VERSION_HEX >= 0x030C0000
        if (!PyUnstable_Long_IsCompact((PyLongObject *) number)) return 0;
        *value = PyUnstable_Long_CompactValue((PyLongObject *) number);
    #else
        Py_ssize_t size = Py_SIZE(number);
        if (size > 1 || size < -1) return 0;
        *value = size * (int64_t) ((PyLongObject *) number)->ob_digit[0];
    #endif
        return 1;
    }
    /* Nanoseconds, by a clock that never goes back. */
    static inline int64_t clock_now(void) {
    #if PY_VERSION_HEX >= 0x030D0000
        PyTime_t now = 0;
        (void) PyTime_MonotonicRaw(&now);
        return now;
    #else
        return _PyTime_GetMonotonicClock();
    #endif
    }
    /* Keeps the compiler from folding the arms of a branch into an indexed load. */
    #ifdef __GNUC__
    #define way_taken() __asm__ volatile ("")
    #else
    #define way_taken()
    #endif
    """
    void way_taken()
    PyObject *dict_entry(PyObject *mapping, Py_ssize_t place, PyObject *key)
    bint dict_plain(PyObject *mapping)
    Py_ssize_t dict_place(PyObject *mapping, PyObject *key, Py_ssize_t limit)
    int64_t clock_now()
    bint long_small(PyObject *number, int64_t *value)

cdef extern from "Python.h":
    PyObject *Py_None
    PyObject *Py_True
    PyObject *Py_False
    PyObject *PyDict_GetItemWithError(PyObject *mapping, PyObject *key) except? NULL
    PyObject **PySequence_Fast_ITEMS(PyObject *sequence)
    Py_ssize_t PySequence_Fast_GET_SIZE(PyObject *sequence)
    PyObject *PyIter_Next(PyObject *iterator)
    PyObject *PyErr_Occurred()
    long long PyLong_AsLongLongAndOverflow(PyObject *number, int *overflow)
    int PyUnicode_CheckExact(PyObject *item)
    int PyUnicode_KIND(PyObject *text)
    void *PyUnicode_DATA(PyObject *text)
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject *text)
    object PyUnicode_FromObject(object text)
    PyObject *Py_TYPE(PyObject *item)
    int __Pyx_PyUnicode_READY(PyObject *text)

cdef enum:
    NO_PLACE = 0x7FFFFFFF       # beyond the entries of any dict
    LONG_SCAN = 32              # bytes from which memchr is quicker than looking at one after the other
    FAILURES = 100              # errors that a stream keeps
    INTERRUPTED = -2            # status of a message after which a turn raised
    MILLISECOND = 1_000_000     # of the clock
    FIRST_STRETCH = 256         # messages before the first look at the clock: some milliseconds of raw ones
    LONGEST_STRETCH = 0x4000    # messages between two looks: less than a millisecond of quick ones
    SEARCHED = 128              # entries of a dict among which a place is learned; one search in 63 probes

cdef Value NOTHING              # what a slot without a position holds
NOTHING.tag = NULL_VALUE
NOTHING.mqtype = MQTYPE_NULL

# The three tables of language §1, without ERR, which never reaches a stack: [left * 3 + right].
cdef unsigned char[9] AND_TABLE = [FALSE, FALSE, FALSE, FALSE, TRUE, UNKNOWN, FALSE, UNKNOWN, UNKNOWN]
cdef unsigned char[9] OR_TABLE = [FALSE, TRUE, UNKNOWN, TRUE, TRUE, TRUE, UNKNOWN, TRUE, UNKNOWN]
cdef unsigned char[3] NOT_TABLE = [TRUE, FALSE, UNKNOWN]

_MISSING = object()

_NAMES_OF_TYPES = {int(number): name for name, number in _TYPES.items()}


# ---- values in ---------------------------------------------------------------------------------------------------

cdef inline void value_integer(Value *value, int tag, int mqtype, int64_t number) noexcept:
    value.tag = tag
    value.mqtype = mqtype
    value.it.i = number


cdef inline void value_float(Value *value, int tag, int mqtype, double number) noexcept:
    value.tag = tag
    value.mqtype = mqtype
    value.it.d = number


cdef inline void value_object(Value *value, PyObject **owner, int tag, int mqtype, PyObject *item) noexcept:
    """Point to an exact str or bytes, and own it until the owner is next overwritten."""
    cdef PyObject *old = owner[0]
    Py_INCREF(<object> item)
    owner[0] = item
    Py_XDECREF(old)
    value.tag = tag
    value.mqtype = mqtype
    value.it.o = item


cdef inline void value_copy(Value *target, Value *value) noexcept:
    """Copy what operators look at. Field by field: a wide load of what was just stored in parts would stall."""
    target.tag = value.tag
    target.it.i = value.it.i


cdef inline bint value_read(Value *value, PyObject *item) noexcept:
    """Read a Python object of a type that it knows by heart as a property value (language §1), borrowing a string.

    Returns whether it could: it runs no code of others, and so makes no error.
    """
    cdef int overflow = 0
    if PyUnicode_CheckExact(item) and __Pyx_PyUnicode_READY(item) == 0:
        value.tag = STRING
        value.mqtype = MQTYPE_STRING
        value.it.o = item
    elif PyLong_CheckExact(<object> item):
        value.tag = INT64
        value.mqtype = MQTYPE_INT64
        if not long_small(item, &value.it.i):
            value.it.i = PyLong_AsLongLongAndOverflow(item, &overflow)
            return overflow == 0
    elif PyFloat_CheckExact(<object> item):
        value_float(value, FLOAT64, MQTYPE_FLOAT64, PyFloat_AS_DOUBLE(<object> item))
    elif item == Py_None:
        value.tag = NULL_VALUE
        value.mqtype = MQTYPE_NULL
    elif item == Py_True or item == Py_False:
        value_integer(value, BOOLEAN, MQTYPE_BOOLEAN, item == Py_True)
    elif PyBytes_CheckExact(<object> item):
        value.tag = BYTES
        value.mqtype = MQTYPE_BYTE_STRING
        value.it.o = item
    else:
        return False
    return True


cdef int value_load(Value *value, PyObject **owner, object name, object item) except -1:
    """Read any Python object as a property value, and own what the value points to."""
    if not value_read(value, <PyObject *> item):
        value_load_other(value, owner, name, item)
    elif value.tag == STRING or value.tag == BYTES:
        value_object(value, owner, value.tag, value.mqtype, value.it.o)
    return 0


# numpy scalars that are no subclass of a Python type, by the name of theirs, so that nothing imports numpy: how to read
# them, and as what.
_NUMPY = {
    "bool": (bool, MQTYPE_BOOLEAN),
    "bool_": (bool, MQTYPE_BOOLEAN),
    "int8": (int, MQTYPE_INT8),
    "int16": (int, MQTYPE_INT16),
    "int32": (int, MQTYPE_INT32),
    "int64": (int, MQTYPE_INT64),
    "uint8": (int, MQTYPE_INT16),
    "uint16": (int, MQTYPE_INT32),
    "uint32": (int, MQTYPE_INT64),
    "uint64": (int, MQTYPE_INT64),
    "longlong": (int, MQTYPE_INT64),
    "ulonglong": (int, MQTYPE_INT64),
    "float16": (float, MQTYPE_FLOAT32),
    "float32": (float, MQTYPE_FLOAT32),
}


cdef int value_load_other(Value *value, PyObject **owner, object name, object item) except -1:
    """Read wrappers, subclasses, buffers, numpy scalars and too large integers. Code of others runs: own all else.

    What a subclass overrides has no say: its value is that of the type it is of.
    """
    cdef object kind = type(item)
    cdef object plain
    cdef int wanted = MQTYPE_INT64
    cdef int overflow = 0
    if PyLong_Check(item):
        if kind is Int32:
            wanted = MQTYPE_INT32
        elif kind is Int16:
            wanted = MQTYPE_INT16
        elif kind is Int8:
            wanted = MQTYPE_INT8
        value_integer(value, INT64, MQTYPE_INT64, PyLong_AsLongLongAndOverflow(<PyObject *> item, &overflow))
        if overflow or not value_fit(value, wanted):
            value_refuse(value, wanted, name)
    elif PyFloat_Check(item):
        value_float(value, FLOAT64, MQTYPE_FLOAT64, PyFloat_AS_DOUBLE(item))
        if kind is Float32:
            value_fit(value, MQTYPE_FLOAT32)
    elif PyUnicode_Check(item):
        plain = PyUnicode_FromObject(item)
        value_object(value, owner, STRING, MQTYPE_STRING, <PyObject *> plain)
    elif PyBytes_Check(item):
        plain = PyBytes_FromStringAndSize(PyBytes_AS_STRING(item), PyBytes_GET_SIZE(item))
        value_object(value, owner, BYTES, MQTYPE_BYTE_STRING, <PyObject *> plain)
    elif PyByteArray_Check(item):
        plain = PyBytes_FromStringAndSize(PyByteArray_AS_STRING(item), PyByteArray_GET_SIZE(item))
        value_object(value, owner, BYTES, MQTYPE_BYTE_STRING, <PyObject *> plain)
    elif PyMemoryView_Check(item):
        try:
            plain = item.tobytes()
        except (ValueError, NotImplementedError) as error:
            raise errors.not_a_property(name, item, f"its bytes cannot be read: {error}") from error
        value_object(value, owner, BYTES, MQTYPE_BYTE_STRING, <PyObject *> plain)
    else:
        try:
            read, wanted = _NUMPY[kind.__name__ if kind.__module__ == "numpy" else ""]
            plain = read(item)
        except Exception as error:  # also what a class of that name raises
            raise errors.not_a_property(name, item) from error
        # Exactly a bool, int or float: nothing to be read again.
        if not value_read(value, <PyObject *> plain) or not value_fit(value, wanted):
            value_refuse(value, wanted, name)
    return 0


cdef object value_python(Value *value):
    """Give a value back as the Python object that would be read as it."""
    if value.mqtype == MQTYPE_NULL:
        return None
    if value.mqtype == MQTYPE_BOOLEAN:
        return value.it.i != 0
    if value.mqtype == MQTYPE_INT64:
        return value.it.i
    if value.mqtype == MQTYPE_FLOAT64:
        return value.it.d
    if value.mqtype == MQTYPE_INT32:
        return Int32(value.it.i)
    if value.mqtype == MQTYPE_INT16:
        return Int16(value.it.i)
    if value.mqtype == MQTYPE_INT8:
        return Int8(value.it.i)
    if value.mqtype == MQTYPE_FLOAT32:
        return Float32(value.it.d)
    return <object> value.it.o


# ---- the five sources --------------------------------------------------------------------------------------------

cdef inline Value *slot_value(Frame *frame, Source *source, uint32_t number) except NULL:
    """Give the value of a slot, fetching it if this message has not been asked for it yet."""
    cdef Slot *slot
    cdef int32_t position
    if Source is RecordSource:
        position = source.positions[number]
        return &source.values[position] if position >= 0 else &NOTHING
    else:
        slot = &frame.slots[number]
        if slot.stamp == frame.stamp:
            return &slot.value
        if Source is ColumnSource:
            slot.stamp = frame.stamp
            source.load(source.columns, number, source.row, slot)
            return &slot.value
        else:
            return slot_first(frame, source, number)


cdef Value *slot_first(Frame *frame, FetchedSource *source, uint32_t number) except NULL:
    """Fetch a slot. The commonest values of the commonest messages are read here, all others by slot_fetch."""
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
        return slot_fetch(frame, source, number)
    slot.stamp = frame.stamp
    if PyUnicode_CheckExact(item) and __Pyx_PyUnicode_READY(item) == 0:
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
    return slot_load(frame, slot, item)


cdef Value *slot_fetch(Frame *frame, FetchedSource *source, uint32_t number) except NULL:
    """Fetch a slot from its source."""
    cdef Slot *slot = &frame.slots[number]
    cdef PyObject *item
    cdef int32_t position
    slot.stamp = frame.stamp
    slot.value.tag = NULL_VALUE
    slot.value.mqtype = MQTYPE_NULL
    if FetchedSource is SequenceSource:
        position = source.positions[number]
        if position < 0:
            return &slot.value
        if position >= PySequence_Fast_GET_SIZE(source.sequence):
            frame_secure(frame)
            raise errors.wrong_length(PySequence_Fast_GET_SIZE(source.sequence), position + 1)
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
        # Reading it runs code of others, which may take it, and what other slots point to, out of the message.
        slot.value.tag = NULL_VALUE
        frame_secure(frame)
        held = <object> item
        value_load_other(&slot.value, &slot.owner, <object> slot.name, held)
    return &slot.value


cdef void frame_secure(Frame *frame) noexcept:
    """Own what the slots point to, before code of others runs that may change the message."""
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
    """Own the message at hand, if it is borrowed from a list."""
    if frame.items != NULL and frame.held == NULL:
        frame.held = frame.items[0]
        Py_INCREF(<object> frame.held)
        frame.left = 0


cdef inline bint source_advance(Frame *frame, Source *source, int truth) noexcept:
    """Go on to the next message of the list that is being read, if it is one of the same kind and this one not wanted.

    In a batch go on to the next row, and leave the truth value behind.
    """
    cdef PyObject *message
    cdef bint alike = False
    if Source is ColumnSource:
        if frame.left > 0:
            source.truths[source.row] = <uint8_t> truth
            source.row += 1
            frame.left -= 1
            frame.stamp += 1
            return True
    elif truth != TRUE and frame.left > 0:
        message = frame.items[1]
        if Source is DictSource:
            alike = PyDict_CheckExact(<object> message)
            source.message = message
        elif Source is SequenceSource:
            alike = PyTuple_CheckExact(<object> message) and PySequence_Fast_GET_SIZE(message) == source.width
            source.sequence = message
        elif Source is RecordSource:
            if <PyObject *> Py_TYPE(message) == <PyObject *> Record:
                alike = <PyObject *> (<Record> message).schema == source.schema
                source.values = (<Record> message).values
        if alike:
            frame.items += 1
            frame.left -= 1
            frame.stamp += 1
    return alike


cdef enum:
    TRUST = 4       # hits forgive this many misses
    REST = -62      # probes before the next search for a place


cdef PyObject *dict_probe(Frame *frame, PyObject *message, Slot *slot) except? NULL:
    """Look a property up by its hash, and now and then learn its place."""
    cdef PyObject *item
    if not dict_plain(message):
        frame_secure(frame)
    item = PyDict_GetItemWithError(message, slot.name)
    if item == NULL:
        # What is missing has no place, and says nothing against the place it has elsewhere.
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


# ---- comparison and arithmetic: language §5 ----------------------------------------------------------------------

cdef inline bint is_number(Value *value) noexcept:
    return INT32 <= value.tag <= FLOAT64


cdef inline double as_double(Value *value) noexcept:
    return <double> value.it.i if value.tag <= INT64 else value.it.d


cdef inline float as_float(Value *value) noexcept:
    return <float> value.it.i if value.tag <= INT64 else <float> value.it.d


cdef inline int integer_relation(int64_t a, int64_t b) noexcept:
    return IS_EQUAL if a == b else IS_LESS if a < b else IS_GREATER


cdef inline int float_relation(double a, double b) noexcept:
    if a < b:
        return IS_LESS
    if a > b:
        return IS_GREATER
    return IS_EQUAL if a == b else IS_UNORDERED


cdef inline int number_relation(Value *left, Value *right) noexcept:
    """Compare two numbers after Java's binary promotion."""
    if left.tag <= INT64 and right.tag <= INT64:
        return integer_relation(left.it.i, right.it.i)
    if left.tag == FLOAT64 or right.tag == FLOAT64:
        return float_relation(as_double(left), as_double(right))
    return float_relation(as_float(left), as_float(right))


cdef inline bint bytes_same(const uint8_t *left, const uint8_t *right, Py_ssize_t size) noexcept:
    """Compare short runs of bytes in line; memcmp costs a call."""
    if size >= 8:
        if load64(left) != load64(right) or load64(left + size - 8) != load64(right + size - 8):
            return False
        return size <= 16 or memcmp(left, right, size) == 0
    if size >= 4:
        return load32(left) == load32(right) and load32(left + size - 4) == load32(right + size - 4)
    return size == 0 or (
        left[0] == right[0] and left[size >> 1] == right[size >> 1] and left[size - 1] == right[size - 1]
    )


cdef inline bint string_equal(PyObject *left, PyObject *right) noexcept:
    cdef Py_ssize_t length
    cdef int kind
    if left == right:
        return True
    length = PyUnicode_GET_LENGTH(left)
    if length != PyUnicode_GET_LENGTH(right):
        return False
    kind = PyUnicode_KIND(left)
    return kind == PyUnicode_KIND(right) and memcmp(PyUnicode_DATA(left), PyUnicode_DATA(right), length * kind) == 0


cdef inline bint text_equal(Text *text, PyObject *string) noexcept:
    """Compare a string with a constant."""
    return (
        PyUnicode_GET_LENGTH(string) == text.length
        and PyUnicode_KIND(string) == text.kind
        and bytes_same(<const uint8_t *> PyUnicode_DATA(string), text.data, text.size)
    )


cdef inline bint bytes_equal(PyObject *left, PyObject *right) noexcept:
    cdef Py_ssize_t length = PyBytes_GET_SIZE(<object> left)
    return length == PyBytes_GET_SIZE(<object> right) and memcmp(
        PyBytes_AS_STRING(<object> left), PyBytes_AS_STRING(<object> right), length
    ) == 0


cdef inline int value_compare(Value *left, Value *right, int mask, int mismatch) noexcept:
    """Compare two values; NULL wins over a mismatch. The two commonest pairs of types come first."""
    if left.tag == INT64 and right.tag == INT64:
        return (mask & integer_relation(left.it.i, right.it.i)) != 0
    if left.tag == FLOAT64 and right.tag == FLOAT64:
        return (mask & float_relation(left.it.d, right.it.d)) != 0
    return value_compare_other(left, right, mask, mismatch)


cdef int value_compare_other(Value *left, Value *right, int mask, int mismatch) noexcept:
    cdef bint equal
    if is_number(left) and is_number(right):
        return TRUE if number_relation(left, right) & mask else FALSE
    if left.tag == NULL_VALUE or right.tag == NULL_VALUE:
        return UNKNOWN
    if left.tag != right.tag or (mask != MASK_EQUAL and mask != MASK_NOT_EQUAL):
        return mismatch
    if left.tag == STRING:
        equal = string_equal(left.it.o, right.it.o)
    elif left.tag == BOOLEAN:
        equal = left.it.i == right.it.i
    elif left.tag == BYTES:
        equal = bytes_equal(left.it.o, right.it.o)
    else:
        return mismatch
    return equal == (mask == MASK_EQUAL)


cdef inline int value_between(Value *operand, Value *low, Value *high, bint negated, Image *image) noexcept:
    """BETWEEN is ``>= AND <=``, NOT BETWEEN ``< OR >``; between_null says what a NULL makes of them."""
    if operand.tag == INT64 and low.tag == INT64 and high.tag == INT64:
        return (low.it.i <= operand.it.i <= high.it.i) != negated
    return value_between_other(operand, low, high, negated, image)


cdef int value_between_other(Value *operand, Value *low, Value *high, bint negated, Image *image) noexcept:
    cdef int first, second
    if image.between_literal and (
        operand.tag == NULL_VALUE or low.tag == NULL_VALUE or high.tag == NULL_VALUE
    ):
        return TRUE if negated else FALSE
    first = value_compare(operand, low, MASK_LESS if negated else MASK_GREATER_EQUAL, image.mismatch)
    if first == ERR or first == (TRUE if negated else FALSE):
        return first
    second = value_compare(operand, high, MASK_GREATER if negated else MASK_LESS_EQUAL, image.mismatch)
    if second == ERR:
        return ERR
    return OR_TABLE[first * 3 + second] if negated else AND_TABLE[first * 3 + second]


cdef inline int64_t wrap32(int64_t number) noexcept:
    return <int64_t> <int32_t> <uint32_t> <uint64_t> number


cdef inline int value_operate(Value *left, Value *right, uint32_t op, bint null_is_error) noexcept:
    """Compute ``left op right`` into left, the commonest pairs of types in line. Returns 0, or ERR."""
    cdef double a, b
    if left.tag == INT64 and right.tag == INT64 and op != DIVIDE:
        if op == ADD:
            left.it.i = <int64_t> (<uint64_t> left.it.i + <uint64_t> right.it.i)
        elif op == SUBTRACT:
            left.it.i = <int64_t> (<uint64_t> left.it.i - <uint64_t> right.it.i)
        else:
            left.it.i = <int64_t> (<uint64_t> left.it.i * <uint64_t> right.it.i)
        return 0
    if left.tag == FLOAT64 and (right.tag == INT64 or right.tag == FLOAT64):
        a = left.it.d
        b = as_double(right)
        left.it.d = a + b if op == ADD else a - b if op == SUBTRACT else a * b if op == MULTIPLY else a / b
        return 0
    return value_arithmetic(left, right, op, null_is_error)


cdef int value_arithmetic(Value *left, Value *right, uint32_t op, bint null_is_error) noexcept:
    """Compute ``left op right`` into left, for all types. Returns 0, or ERR."""
    cdef int tag
    cdef int64_t i, j
    cdef double a, b
    cdef float f, g
    if left.tag == INT64 and right.tag == INT64:
        tag = INT64
    elif left.tag == FLOAT64 and INT64 <= right.tag <= FLOAT64:
        tag = FLOAT64
    elif left.tag == NULL_VALUE or right.tag == NULL_VALUE:
        if null_is_error:
            return ERR
        left.tag = NULL_VALUE
        return 0
    elif not is_number(left) or not is_number(right):
        left.tag = POISON
        return 0
    else:
        tag = left.tag if left.tag > right.tag else right.tag
    if tag <= INT64:
        i = left.it.i
        j = right.it.i
        if op == ADD:
            i = <int64_t> (<uint64_t> i + <uint64_t> j)
        elif op == SUBTRACT:
            i = <int64_t> (<uint64_t> i - <uint64_t> j)
        elif op == MULTIPLY:
            i = <int64_t> (<uint64_t> i * <uint64_t> j)
        elif j == 0:
            return ERR
        elif j == -1:
            i = <int64_t> (0 - <uint64_t> i)
        else:
            i = i // j
        left.it.i = wrap32(i) if tag == INT32 else i
    elif tag == FLOAT64:
        a = as_double(left)
        b = as_double(right)
        if op == ADD:
            a = a + b
        elif op == SUBTRACT:
            a = a - b
        elif op == MULTIPLY:
            a = a * b
        else:
            a = a / b
        left.it.d = a
    else:
        f = as_float(left)
        g = as_float(right)
        if op == ADD:
            f = f + g
        elif op == SUBTRACT:
            f = f - g
        elif op == MULTIPLY:
            f = f * g
        else:
            f = f / g
        left.it.d = f
    left.tag = tag
    return 0


cdef inline int value_sign(Value *value, bint minus, bint null_is_error) noexcept:
    """Apply a unary sign to the value. Returns 0, or ERR."""
    if value.tag == NULL_VALUE:
        return ERR if null_is_error else 0
    if not is_number(value):
        value.tag = POISON
    elif minus and value.tag >= FLOAT32:
        value.it.d = -value.it.d
    elif minus:
        value.it.i = <int64_t> (0 - <uint64_t> value.it.i)
        if value.tag == INT32:
            value.it.i = wrap32(value.it.i)
    return 0


# ---- LIKE and IN -------------------------------------------------------------------------------------------------

ctypedef fused Point:
    uint8_t
    uint16_t
    uint32_t


cdef inline bint segment_here(const Point *text, Segment *segment) noexcept:
    cdef Py_ssize_t at
    for at in range(segment.length):
        if text[at] != segment.points[at] and segment.points[at] != <uint32_t> ANY_POINT:
            return False
    return True


cdef inline Py_ssize_t segment_find(const Point *text, Py_ssize_t start, Py_ssize_t stop, Segment *segment) noexcept:
    """Find the leftmost place in [start, stop] where the segment stands; -1 if there is none."""
    cdef Py_ssize_t at = start
    cdef uint32_t first
    cdef const void *hit
    if segment.length == 0:
        return start
    first = segment.points[0]
    while at <= stop:
        if Point is uint8_t and first != <uint32_t> ANY_POINT:
            if first > 0xFF:
                return -1
            hit = memchr(text + at, first, stop - at + 1)
            if hit == NULL:
                return -1
            at = <const Point *> hit - text
        if segment_here(text + at, segment):
            return at
        at += 1
    return -1


cdef bint like_match(const Point *text, Py_ssize_t length, Like *like) noexcept:
    """Match greedily: the ends where they must stand, everything between as far left as it can.

    Leftmost is enough: a segment further right leaves less room for the next. So each code point of the text is
    compared with at most one segment's worth of pattern, O(length · len(pattern)) at worst.
    """
    cdef Segment *first = &like.segments[0]
    cdef Segment *last = &like.segments[like.count - 1]
    cdef Py_ssize_t at, stop, number
    if length < first.length or not segment_here(text, first):
        return False
    if like.count == 1:
        return length == first.length
    at = first.length
    stop = length - last.length
    if stop < at or not segment_here(text + stop, last):
        return False
    for number in range(1, like.count - 1):
        at = segment_find(text, at, stop - like.segments[number].length, &like.segments[number])
        if at < 0:
            return False
        at += like.segments[number].length
    return True


cdef inline bint affix_match(Text *text, const uint8_t *data, Py_ssize_t length, int shape) noexcept:
    """Compare a text with a string of the same kind, byte by byte."""
    cdef const uint8_t *wanted = text.data
    cdef const uint8_t *stop
    if length < text.length:
        return False
    if shape == AFFIX_START:
        return bytes_same(data, wanted, text.size)
    stop = data + (length - text.length) * text.kind
    if shape == AFFIX_END:
        return bytes_same(stop, wanted, text.size)
    if stop - data >= LONG_SCAN:
        return text_scan(text, data, stop)
    while data <= stop:
        if data[0] == wanted[0] and bytes_same(data, wanted, text.size):
            return True
        data += 1
    return False


cdef bint text_scan(Text *text, const uint8_t *data, const uint8_t *stop) noexcept:
    """Find a text that begins in [data, stop]."""
    while data <= stop:
        data = <const uint8_t *> memchr(data, text.data[0], stop - data + 1)
        if data == NULL:
            return False
        if bytes_same(data, text.data, text.size):
            return True
        data += 1
    return False


cdef inline int value_affix(Value *value, Like *like, int shape, bint negated, int mismatch) noexcept:
    """Test STARTS_WITH, ENDS_WITH or CONTAINS."""
    # Wider code points could match at half of one: anywhere is for single bytes.
    if (
        value.tag == STRING
        and PyUnicode_KIND(value.it.o) == like.text.kind
        and (shape != AFFIX_ANYWHERE or like.text.kind == 1)
    ):
        return negated ^ affix_match(
            &like.text, <const uint8_t *> PyUnicode_DATA(value.it.o), PyUnicode_GET_LENGTH(value.it.o), shape
        )
    return value_like(value, like, negated, mismatch)


cdef int value_like(Value *value, Like *like, bint negated, int mismatch) noexcept:
    cdef bint found
    cdef int kind
    cdef void *data
    cdef Py_ssize_t length
    if value.tag != STRING:
        return UNKNOWN if value.tag == NULL_VALUE else mismatch
    kind = PyUnicode_KIND(value.it.o)
    data = PyUnicode_DATA(value.it.o)
    length = PyUnicode_GET_LENGTH(value.it.o)
    if kind == 1:
        found = like_match[uint8_t](<uint8_t *> data, length, like)
    elif kind == 2:
        found = like_match[uint16_t](<uint16_t *> data, length, like)
    else:
        found = like_match[uint32_t](<uint32_t *> data, length, like)
    return found != negated


cdef inline Py_ssize_t choices_find(Choices *choices, PyObject *string) noexcept:
    """Give the number of *string* among the choices, or -1."""
    cdef const uint8_t *data = <const uint8_t *> PyUnicode_DATA(string)
    cdef Py_ssize_t length = PyUnicode_GET_LENGTH(string)
    cdef int kind = PyUnicode_KIND(string)
    cdef Py_ssize_t number
    cdef uint32_t place
    cdef Text *text
    if choices.table == NULL:
        for number in range(choices.count):
            text = &choices.items[number]
            if text.length == length and text.kind == kind and bytes_same(data, text.data, text.size):
                return number
        return -1
    place = bytes_hash(data, length * kind) & choices.mask
    while choices.table[place]:
        number = choices.table[place] - 1
        text = &choices.items[number]
        if text.length == length and text.kind == kind and bytes_same(data, text.data, text.size):
            return number
        place = (place + 1) & choices.mask
    return -1


cdef inline int value_in(Value *value, Choices *choices, bint negated, int mismatch) noexcept:
    if value.tag != STRING:
        return UNKNOWN if value.tag == NULL_VALUE else mismatch
    return (choices_find(choices, value.it.o) >= 0) != negated


# ---- the loop ----------------------------------------------------------------------------------------------------

cdef int run(Frame *frame, Source *source, Step *step) except -1:
    """Run a program from *step* on the message behind *source*. Returns FALSE, TRUE, UNKNOWN or ERR."""
    cdef Image *image = frame.image
    cdef Value *stack = frame.stack            # first free cell
    cdef unsigned char *truths = frame.truths  # first free cell
    cdef int truth = FALSE                     # top of the truth stack
    cdef int result
    cdef Py_ssize_t number
    cdef Value *value
    cdef uint32_t op
    cdef Step *start = step
    frame.stamp += 1
    while True:
        op = step.op
        # The tests: each finds one truth value, and goes where that leads.
        if op == EQUAL_SLOT_STRING or op == NOT_EQUAL_SLOT_STRING:
            value = slot_value(frame, source, step.slot)
            if value.tag == STRING:
                result = text_equal(step.it.text, value.it.o) ^ step.mask
            else:
                result = UNKNOWN if value.tag == NULL_VALUE else image.mismatch
        elif (
            op == EQUAL_SLOT_CONSTANT or op == NOT_EQUAL_SLOT_CONSTANT or op == LESS_SLOT_CONSTANT
            or op == LESS_EQUAL_SLOT_CONSTANT or op == GREATER_SLOT_CONSTANT or op == GREATER_EQUAL_SLOT_CONSTANT
        ):
            value = slot_value(frame, source, step.slot)
            result = value_compare(value, step.it.constant, step.mask, image.mismatch)
        elif op == IN_SLOT or op == NOT_IN_SLOT:
            value = slot_value(frame, source, step.slot)
            result = value_in(value, step.it.choices, step.mask, image.mismatch)
        elif op == IS_NULL or op == IS_NOT_NULL:
            value = slot_value(frame, source, step.slot)
            result = (value.tag == NULL_VALUE) ^ step.mask
        elif op == BETWEEN_CONSTANTS or op == NOT_BETWEEN_CONSTANTS:
            stack -= 1
            result = value_between(stack, step.it.constant, &image.constants[step.slot], step.mask, image)
        elif (
            op == EQUAL_CONSTANT or op == NOT_EQUAL_CONSTANT or op == LESS_CONSTANT or op == LESS_EQUAL_CONSTANT
            or op == GREATER_CONSTANT or op == GREATER_EQUAL_CONSTANT
        ):
            stack -= 1
            result = value_compare(stack, step.it.constant, step.mask, image.mismatch)
        elif op == STARTS_WITH_SLOT or op == NOT_STARTS_WITH_SLOT:
            value = slot_value(frame, source, step.slot)
            result = value_affix(value, step.it.like, AFFIX_START, step.mask, image.mismatch)
        elif op == ENDS_WITH_SLOT or op == NOT_ENDS_WITH_SLOT:
            value = slot_value(frame, source, step.slot)
            result = value_affix(value, step.it.like, AFFIX_END, step.mask, image.mismatch)
        elif op == CONTAINS_SLOT or op == NOT_CONTAINS_SLOT:
            value = slot_value(frame, source, step.slot)
            result = value_affix(value, step.it.like, AFFIX_ANYWHERE, step.mask, image.mismatch)
        elif op == LIKE_SLOT or op == NOT_LIKE_SLOT:
            value = slot_value(frame, source, step.slot)
            result = value_like(value, step.it.like, step.mask, image.mismatch)
        elif op == LIKE or op == NOT_LIKE:
            stack -= 1
            result = value_like(stack, step.it.like, step.mask, image.mismatch)
        elif (
            op == EQUAL or op == NOT_EQUAL or op == LESS or op == LESS_EQUAL or op == GREATER or op == GREATER_EQUAL
        ):
            stack -= 2
            result = value_compare(stack, stack + 1, step.mask, image.mismatch)
        elif op == BETWEEN or op == NOT_BETWEEN:
            stack -= 3
            result = value_between(stack, stack + 1, stack + 2, step.mask, image)
        elif op == IN or op == NOT_IN:
            stack -= 1
            result = value_in(stack, step.it.choices, step.mask, image.mismatch)
        elif op == AS_TRUTH:
            stack -= 1
            if stack.tag == BOOLEAN:
                result = <int> stack.it.i
            else:
                result = UNKNOWN if stack.tag == NULL_VALUE else image.mismatch
        # What is no test leaves from inside its branch.
        elif op == RETURN_TRUTH:
            if not source_advance(frame, source, step.it.number):
                return step.it.number
            # An ERR comes from amid an expression.
            stack = frame.stack
            truths = frame.truths
            step = start
            continue
        elif op == PUSH_SLOT:
            value = slot_value(frame, source, step.slot)
            value_copy(stack, value)
            stack += 1
            step += 1
            continue
        elif op == PUSH_CONSTANT:
            value_copy(stack, step.it.constant)
            stack += 1
            step += 1
            continue
        elif op == AS_VALUE:
            if truth == UNKNOWN:
                stack.tag = NULL_VALUE
            else:
                stack.tag = BOOLEAN
                stack.it.i = truth
            stack += 1
            truths -= 1
            truth = truths[0]
            step += 1
            continue
        elif op == ADD:
            stack -= 1
            if value_operate(stack - 1, stack, ADD, image.null_is_error) == ERR:
                return ERR
            step += 1
            continue
        elif op == SUBTRACT:
            stack -= 1
            if value_operate(stack - 1, stack, SUBTRACT, image.null_is_error) == ERR:
                return ERR
            step += 1
            continue
        elif op == MULTIPLY:
            stack -= 1
            if value_operate(stack - 1, stack, MULTIPLY, image.null_is_error) == ERR:
                return ERR
            step += 1
            continue
        elif op == DIVIDE:
            stack -= 1
            if value_operate(stack - 1, stack, DIVIDE, image.null_is_error) == ERR:
                return ERR
            step += 1
            continue
        elif op == ADD_CONSTANT:
            if value_operate(stack - 1, step.it.constant, ADD, image.null_is_error) == ERR:
                return ERR
            step += 1
            continue
        elif op == SUBTRACT_CONSTANT:
            if value_operate(stack - 1, step.it.constant, SUBTRACT, image.null_is_error) == ERR:
                return ERR
            step += 1
            continue
        elif op == MULTIPLY_CONSTANT:
            if value_operate(stack - 1, step.it.constant, MULTIPLY, image.null_is_error) == ERR:
                return ERR
            step += 1
            continue
        elif op == DIVIDE_CONSTANT:
            if value_operate(stack - 1, step.it.constant, DIVIDE, image.null_is_error) == ERR:
                return ERR
            step += 1
            continue
        elif op == PLUS or op == NEGATE:
            if value_sign(stack - 1, op == NEGATE, image.null_is_error) == ERR:
                return ERR
            step += 1
            continue
        elif op == SWITCH_SLOT:
            value = slot_value(frame, source, step.slot)
            number = -1
            if value.tag == STRING:
                number = choices_find(step.it.choices, value.it.o)
            elif value.tag != NULL_VALUE and image.mismatch == ERR:
                return ERR
            step += 1 + (number if number >= 0 else step.it.choices.count)
            continue
        elif op == JUMP:
            step += step.to[0]
            continue
        elif op == PUSH_TRUTH:
            truths[0] = truth
            truths += 1
            truth = step.it.number
            step += step.to[0]
            continue
        elif op == AND:
            truths -= 1
            truth = AND_TABLE[truths[0] * 3 + truth]
            step += 1
            continue
        elif op == OR:
            truths -= 1
            truth = OR_TABLE[truths[0] * 3 + truth]
            step += 1
            continue
        elif op == NOT:
            truth = NOT_TABLE[truth]
            step += 1
            continue
        elif op == JUMP_IF_FALSE or op == JUMP_IF_TRUE:
            step += step.to[truth]
            continue
        elif op == BRANCH_IF_TRUE or op == BRANCH_UNLESS_TRUE or op == BRANCH_IF_FALSE or op == BRANCH_UNLESS_FALSE:
            step += step.to[truth]
            truths -= 1
            truth = truths[0]
            continue
        elif op == BRANCH_IF_UNKNOWN:
            step += step.to[truth]
            if truth == UNKNOWN:
                truths -= 1
                truth = truths[0]
            continue
        elif op == RESTART_IF_UNKNOWN:
            if truth == UNKNOWN:
                stack = frame.stack
                truths = frame.truths
            step += step.to[truth]
            continue
        else:  # op == RETURN
            return truth
        # Branches, where one could index: they are predicted, so that the next step need not wait for the result.
        if result == TRUE:
            way_taken()
            step += step.to[TRUE]
        elif result == FALSE:
            way_taken()
            step += step.to[FALSE]
        else:
            step += step.to[result]


cdef inline int load_all(Frame *frame, Source *source) except -1:
    """Fetch every slot, for people."""
    cdef Py_ssize_t number
    frame.stamp += 1
    for number in range(frame.image.slot_count):
        if Source is RecordSource:
            frame.slots[number].value = slot_value(frame, source, <uint32_t> number)[0]
            frame.slots[number].stamp = frame.stamp
        else:
            slot_value(frame, source, <uint32_t> number)
    # The message may change before people have looked.
    frame_secure(frame)
    return 0


cdef uint32_t LOAD_ALL = 0xFFFFFFFF     # a start that asks for load_all instead of run


cdef inline int start_at(Machine machine, Frame *frame, Source *source, uint32_t start) except -1:
    if start == LOAD_ALL:
        return load_all(frame, source)
    return run(frame, source, machine.image.steps + start)


# ---- the machine -------------------------------------------------------------------------------------------------

@cython.final
cdef class Layout:
    def __cinit__(self, Machine machine not None, names, types=()):
        cdef Py_ssize_t slot
        machine.prepare()
        cdef Image *image = machine.image
        self.names = names
        self.copy = list(names)
        self.width = len(self.copy)
        self.positions = <int32_t *> zeroed(image.slot_count, sizeof(int32_t))
        places = {name: place for place, name in enumerate(self.copy) if isinstance(name, str)}
        for slot in range(image.slot_count):
            place = places.get(<object> image.names[slot])
            if place is None and image.aliases[slot] != NULL:
                place = places.get(<object> image.aliases[slot])
            self.positions[slot] = -1 if place is None else place
        kinds = dict(enumerate(types))
        if any(kinds.values()):
            self.types = <int32_t *> zeroed(image.slot_count, sizeof(int32_t))
            for slot in range(image.slot_count):
                kind = kinds.get(self.positions[slot])
                self.types[slot] = 0 if kind is None else int(_TYPES[kind])

    def __dealloc__(self):
        free(self.positions)
        free(self.types)


@cython.no_gc_clear  # the image points into the program
cdef class Machine:
    """A verified program, ready to run. Holds no state of an evaluation, so threads may share it.

    Args:
        program: a `Program`.
        schema: layout of the sequences it will be given, or None.
    """

    def __cinit__(self, program, schema=None):
        if type(program) is not Program:
            raise ArgumentError(f"a machine runs a Program, found {type(program).__name__}")
        self.program = program
        self.schema = None if schema is None else as_schema(schema)
        self.exact = program.exact

    cdef int prepare(self) except -1:
        """Decode the program, once, when it first runs: what is compiled to be shipped needs no steps."""
        cdef Image *image
        if self.image == NULL:
            image = image_new(self.program)
            if self.image == NULL:
                self.image = image
            else:  # another thread was quicker
                image_free(image)
        return 0

    def __dealloc__(self):
        cdef Frame *frame
        while self.pool != NULL:
            frame = self.pool
            self.pool = frame.next
            frame_free(frame)  # frames in the pool own nothing
        image_free(self.image)

    cdef Frame *frame_take(self) except NULL:
        cdef Frame *frame = self.pool
        cdef Py_ssize_t number
        if frame != NULL:
            self.pool = frame.next
            return frame
        self.prepare()
        if self.schema is not None and self.layout is None:
            layout = Layout(self, self.schema.names, self.schema.types)
            if self.layout is None:  # else another thread was quicker, and reads by its own
                self.layout = layout
        frame = <Frame *> zeroed(1, sizeof(Frame))
        try:
            frame.image = self.image
            frame.slots = <Slot *> zeroed(self.image.slot_count, sizeof(Slot))
            for number in range(self.image.slot_count):
                frame.slots[number].name = self.image.names[number]
                frame.slots[number].alias = self.image.aliases[number]
                frame.slots[number].place = NO_PLACE
            frame.stack = <Value *> zeroed(self.program.value_depth, sizeof(Value))
            frame.truths = <unsigned char *> zeroed(self.program.truth_depth, 1)
        except MemoryError:
            frame_free(frame)
            raise
        return frame

    cdef void frame_give(self, Frame *frame) noexcept:
        """Put a frame back, letting go of what it owns."""
        frame_release(frame)
        frame.next = self.pool
        self.pool = frame

    cdef int dispatch(self, Frame *frame, PyObject *message, uint32_t start) except -1:
        """Choose the property source by the type of the message, and run."""
        cdef DictSource source
        if PyDict_CheckExact(<object> message):
            source.message = message
            return start_at(self, frame, &source, start)
        return self.dispatch_slow(frame, <object> message, start)

    cdef int run_rows(self, Frame *frame, ColumnSource *source, uint32_t start) except -1:
        """Run on a row of a batch and those that follow it, for the room that knows its columns."""
        return run(frame, source, self.image.steps + start)

    cdef int dispatch_slow(self, Frame *frame, object message, uint32_t start) except -1:
        cdef SequenceSource sequence
        cdef RecordSource record
        cdef MappingSource mapping
        cdef Layout layout
        frame_hold(frame)
        if <PyObject *> Py_TYPE(<PyObject *> message) == <PyObject *> Record:
            layout = self.record_layout
            if layout is None or (<Record> message).schema is not layout.names:
                layout = self.layout_of((<Record> message).schema)
                self.record_layout = layout
            record.values = (<Record> message).values
            record.positions = layout.positions
            record.schema = <PyObject *> (<Record> message).schema
            return start_at(self, frame, &record, start)
        if PyTuple_Check(message) or PyList_Check(message):
            layout = self.layout if self.layout is not None else self.row_layout_of(message)
            if layout is not None:
                sequence.sequence = <PyObject *> message
                sequence.positions = layout.positions
                sequence.types = layout.types
                sequence.width = layout.width
                if PySequence_Fast_GET_SIZE(sequence.sequence) != layout.width:
                    raise errors.wrong_length(PySequence_Fast_GET_SIZE(sequence.sequence), layout.width)
                return start_at(self, frame, &sequence, start)
        elif type(message) is self.mapping_type or isinstance(message, Mapping):
            self.mapping_type = type(message)
            mapping.message = <PyObject *> message
            return start_at(self, frame, &mapping, start)
        raise errors.not_a_message(message, self.schema is not None)

    cdef Layout row_layout_of(self, object message):
        """Find the layout of a sequence that names its positions: pyspark's Row, or a namedtuple. None for others."""
        cdef Layout layout = self.row_layout
        cdef object fields = getattr(message, "__fields__", None)
        if fields is None:
            fields = getattr(message, "_fields", None)
        if layout is not None and fields is layout.names:
            # A tuple cannot change in place (the fields of a pyspark Row may be a Row themselves), a list can.
            if PyTuple_Check(fields) or (type(fields) is list and fields == layout.copy):
                return layout
        if not isinstance(fields, (tuple, list)):
            return None
        if layout is None or type(fields) is not list or fields != layout.copy:
            layout = Layout(self, fields)
            self.row_layout = layout
        return layout

    cdef Layout layout_of(self, object schema):
        """Lay out the Records of a schema."""
        cdef Layout layout = self.record_layout
        if layout is None or schema != layout.names:
            layout = Layout(self, schema.names)
        layout.names = schema
        return layout

    def matches(self, message) -> bool:
        """Tell whether *message* is selected, that is, whether the selector is TRUE for it.

        Raises: PropertyTypeError: no message, or a property that is read has no property value.
        """
        cdef Frame *frame = self.frame_take()
        try:
            return self.dispatch(frame, <PyObject *> message, 0) == TRUE
        finally:
            self.frame_give(frame)

    def truth(self, message) -> int:
        """Give all four values, by the exact code: 0 FALSE, 1 TRUE, 2 UNKNOWN, 3 ERR."""
        cdef Frame *frame = self.frame_take()
        try:
            return self.dispatch(frame, <PyObject *> message, self.exact)
        finally:
            self.frame_give(frame)

    def read(self, message) -> dict:
        """Read what the program would read: name -> (name of the type, value)."""
        cdef Frame *frame = self.frame_take()
        cdef Py_ssize_t slot
        try:
            self.dispatch(frame, <PyObject *> message, LOAD_ALL)
            return {
                <object> self.image.names[slot]: (
                    _NAMES_OF_TYPES[frame.slots[slot].value.mqtype], value_python(&frame.slots[slot].value)
                )
                for slot in range(self.image.slot_count)
            }
        finally:
            self.frame_give(frame)


cdef void frame_release(Frame *frame) noexcept:
    """Let go of what the slots point to."""
    cdef Py_ssize_t number
    cdef PyObject *owner
    for number in range(frame.image.slot_count):
        owner = frame.slots[number].owner
        if owner != NULL:
            frame.slots[number].owner = NULL
            Py_DECREF(<object> owner)


cdef void frame_free(Frame *frame) noexcept:
    free(frame.slots)
    free(frame.stack)
    free(frame.truths)
    free(frame)


cdef int propagate() except -1:
    """Let the exception that is set go on its way."""
    return -1


cdef int dispatch_from_start(Machine machine, Frame *frame, PyObject *message) except -1:
    return machine.dispatch_slow(frame, <object> message, 0)


# The same functions, but an exception they raise stays set and is the caller's to notice (status -1).
ctypedef int (*run_dict_raising)(Frame *, DictSource *, Step *) except -1
ctypedef int (*run_dict_quiet)(Frame *, DictSource *, Step *) noexcept
ctypedef int (*run_sequence_raising)(Frame *, SequenceSource *, Step *) except -1
ctypedef int (*run_sequence_quiet)(Frame *, SequenceSource *, Step *) noexcept
ctypedef int (*run_record_raising)(Frame *, RecordSource *, Step *) except -1
ctypedef int (*run_record_quiet)(Frame *, RecordSource *, Step *) noexcept
ctypedef int (*dispatch_raising)(Machine, Frame *, PyObject *) except -1
ctypedef int (*dispatch_quiet)(Machine, Frame *, PyObject *) noexcept
cdef run_dict_raising _run_dict = run[DictSource]
cdef run_sequence_raising _run_sequence = run[SequenceSource]
cdef run_record_raising _run_record = run[RecordSource]
cdef dispatch_raising _dispatch = dispatch_from_start
cdef run_dict_quiet RUN_DICT = <run_dict_quiet> <void *> _run_dict
cdef run_sequence_quiet RUN_SEQUENCE = <run_sequence_quiet> <void *> _run_sequence
cdef run_record_quiet RUN_RECORD = <run_record_quiet> <void *> _run_record
cdef dispatch_quiet DISPATCH = <dispatch_quiet> <void *> _dispatch


ctypedef int (*decoded_raising)(Selection, PyObject *) except -1
ctypedef int (*decoded_quiet)(Selection, PyObject *) noexcept
cdef int selection_decoded(Selection stream, PyObject *message) except -1:
    return stream.decoded(message)
cdef decoded_raising _decoded = selection_decoded
cdef decoded_quiet RUN_DECODED = <decoded_quiet> <void *> _decoded


ctypedef int (*trouble_raising)(Selection, int) except -1
ctypedef int (*trouble_quiet)(Selection, int) noexcept
cdef int selection_trouble(Selection stream, int status) except -1:
    return stream.trouble(status)
cdef trouble_raising _trouble = selection_trouble
cdef trouble_quiet TROUBLE = <trouble_quiet> <void *> _trouble


ctypedef int (*look_raising)(Pace *, Py_ssize_t) except -1
ctypedef int (*look_quiet)(Pace *, Py_ssize_t) noexcept
cdef look_raising _look = pace_look
cdef look_quiet LOOK = <look_quiet> <void *> _look


cdef inline int run_quietly(Machine machine, Frame *frame, PyObject *message) noexcept:
    """Run the quick code on a message; the commonest kinds of message go straight to their loop."""
    cdef DictSource mapping
    cdef SequenceSource sequence
    cdef RecordSource record
    cdef PyObject *kind = <PyObject *> Py_TYPE(message)
    if PyDict_CheckExact(<object> message):
        mapping.message = message
        return RUN_DICT(frame, &mapping, machine.image.steps)
    if machine.layout is not None and PyTuple_CheckExact(<object> message):
        if PySequence_Fast_GET_SIZE(message) == machine.layout.width:
            sequence.sequence = message
            sequence.positions = machine.layout.positions
            sequence.types = machine.layout.types
            sequence.width = machine.layout.width
            return RUN_SEQUENCE(frame, &sequence, machine.image.steps)
    if kind == <PyObject *> Record and machine.record_layout is not None:
        if (<Record> message).schema is machine.record_layout.names:
            record.values = (<Record> message).values
            record.positions = machine.record_layout.positions
            record.schema = <PyObject *> (<Record> message).schema
            return RUN_RECORD(frame, &record, machine.image.steps)
    return DISPATCH(machine, frame, message)


# ---- turns -------------------------------------------------------------------------------------------------------

# Runs in the interpreter's own loop. There it looks for signals, for exceptions from other threads, and whether one of
# them has waited for the GIL as long as sys.getswitchinterval() says: their turns come at Python's pace, and only where
# somebody waits.
_TURN = eval("lambda: None")


cdef void pace_start(Pace *pace) noexcept:
    pace.turned = pace.looked = clock_now()
    pace.stretch = pace.due = FIRST_STRETCH


cdef int pace_look(Pace *pace, Py_ssize_t seen) except -1:
    """Give others a turn if the last one was a millisecond ago, and find the next time to look: in half of one."""
    cdef int64_t now = clock_now()
    cdef int64_t spent = max(now - pace.looked, 1)
    pace.looked = now
    if now - pace.turned >= MILLISECOND:
        _TURN()
        pace.turned = pace.looked = clock_now()
    pace.stretch = max(1, min(pace.stretch * (MILLISECOND // 2) // spent, 8 * pace.stretch, LONGEST_STRETCH))
    pace.due = seen + pace.stretch
    return 0


# ---- streams -----------------------------------------------------------------------------------------------------

@cython.final
@cython.no_gc_clear  # the frame points into the machine
cdef class Selection:
    """Iterate over the selected ones of *messages*, untouched and in order. Pulls one message at a time.

    Attributes:
        seen, selected, skipped: counts so far.
        failures: the errors of the messages skipped, at most 100 of them; each knows its index.
        decode: the decoder of raw messages, or None; that of IBM MQ counts as ``noted`` the messages of which it
            skipped something.
    """

    def __cinit__(self, Machine machine not None, messages, bint skipping=False, decode=None):
        self.running = True  # whoever finds it before it is complete
        self.machine = machine
        self.skipping = skipping
        self.failures = []
        self.decode = decode
        self.frame = machine.frame_take()
        # Raw messages are decoded one by one: the machine cannot go through a list of them by itself.
        self.indexed = decode is None and (PyList_CheckExact(messages) or PyTuple_CheckExact(messages))
        self.messages = messages if self.indexed else iter(messages)
        pace_start(&self.pace)
        self.running = False

    def __dealloc__(self):
        if self.frame != NULL:
            frame_release(self.frame)
            frame_free(self.frame)

    def __iter__(self):
        return self

    def __next__(self):
        cdef PyObject *messages
        cdef PyObject *message
        cdef PyObject **first
        cdef Py_ssize_t left
        cdef int status
        cdef object result
        if self.running:
            raise ArgumentError(
                "this stream is already being read: two threads cannot share it", hint="give each its own filter()"
            )
        held = self.messages
        messages = <PyObject *> held  # also when somebody closes the stream
        self.running = True
        # Nothing below propagates an exception until `running` is taken back: no try, which would cost each answer.
        while self.messages is not None:
            if self.indexed:
                # A list may shrink under us, as under any iterator.
                left = PySequence_Fast_GET_SIZE(messages) - self.seen
                if left <= 0:
                    break
                # The machine goes through the list by itself until a message is selected, or the clock is to be looked
                # at. Messages are borrowed from the list until code of others runs that may change it.
                first = PySequence_Fast_ITEMS(messages) + self.seen
                self.frame.items = first
                self.frame.left = min(left, self.pace.due - self.seen) - 1
                status = run_quietly(self.machine, self.frame, first[0])
                self.seen += self.frame.items - first + 1
                message = self.frame.held
                if message == NULL:
                    message = self.frame.items[0]
                    Py_INCREF(<object> message)
                self.frame.held = NULL
            else:
                message = PyIter_Next(messages)
                if message == NULL:
                    break
                self.seen += 1
                if self.decode is None:
                    status = run_quietly(self.machine, self.frame, message)
                else:
                    status = RUN_DECODED(self, message)
            if self.seen >= self.pace.due and status >= 0 and LOOK(&self.pace, self.seen) < 0:
                status = INTERRUPTED
            if status == TRUE:
                self.running = False
                self.selected += 1
                result = <object> message
                Py_DECREF(result)
                return result
            Py_DECREF(<object> message)
            if status < 0 and TROUBLE(self, status) < 0:
                break
        self.running = False
        self.messages = None
        if PyErr_Occurred():
            propagate()
        raise StopIteration

    cdef int decoded(self, PyObject *message) except -1:
        """Decode a message, and run on that if it is not the answer yet."""
        held = self.decode(<object> message)
        if held is True or held is False:
            return held is True
        return self.machine.dispatch(self.frame, <PyObject *> held, 0)

    cdef int trouble(self, int status) except -1:
        """Handle the exception that is set: it came from the message that was just read, or from a turn."""
        try:
            propagate()
        except (PropertyTypeError, DecodeError, StopIteration) as error:
            if status == INTERRUPTED or not self.skipping:
                self.messages = None
                if isinstance(error, StopIteration):
                    raise errors.unreadable_message(self.seen - 1) from error
                error.index = self.seen - 1
                raise
            self.skipped += 1
            if len(self.failures) < FAILURES:
                error = error.with_traceback(None)
                if not isinstance(error, StopIteration):
                    error.index = self.seen - 1
                    self.failures.append(error)
        except BaseException:
            self.messages = None
            raise
        return 0

    def close(self) -> None:
        """End the stream."""
        self.messages = None


# ---- the typed record --------------------------------------------------------------------------------------------

@cython.final
@cython.no_gc  # what it holds, plain strings and byte strings, refers to nothing
cdef class Record:
    """A reusable message: one typed C slot for each property of a schema.

    Args:
        schema: names, (name, type) pairs, or a mapping of names to types; see `mqsel.machine.schema`.
        values: a mapping, or a sequence in the order of the schema; None leaves every property NULL.

    Raises: PropertyTypeError: a value that the declared type does not hold.
    """

    def __cinit__(self, schema, values=None):
        cdef Py_ssize_t place
        cdef Py_ssize_t count
        self.schema = as_schema(schema)
        self.places = {name: place for place, name in enumerate(self.schema.names)}
        count = len(self.schema.names)
        self.values = <Value *> zeroed(count, sizeof(Value))
        self.owners = <PyObject **> zeroed(count, sizeof(PyObject *))
        for place in range(count):
            self.values[place] = NOTHING
        self.count = count

    def __init__(self, schema, values=None):
        if values is not None:
            self.fill(values)

    def __dealloc__(self):
        cdef Py_ssize_t place
        if self.owners != NULL:
            for place in range(self.count):
                Py_XDECREF(self.owners[place])
        free(self.owners)
        free(self.values)

    cdef int put(self, Py_ssize_t place, object value) except -1:
        cdef Value fresh
        cdef PyObject *owner = NULL
        cdef PyObject *old
        cdef int wanted
        name, kind = self.schema.names[place], self.schema.types[place]
        value_load(&fresh, &owner, name, value)
        wanted = 0 if kind is None else _TYPES[kind]
        if not value_fit(&fresh, wanted):
            Py_XDECREF(owner)
            value_refuse(&fresh, wanted, name)
        old = self.owners[place]
        self.owners[place] = owner
        self.values[place] = fresh
        Py_XDECREF(old)
        return 0

    def fill(self, values) -> None:
        """Set every property: from a mapping (a name it lacks is NULL), or a sequence of the schema's length."""
        cdef Py_ssize_t place
        if isinstance(values, Mapping):
            for place in range(self.count):
                self.put(place, values.get(self.schema.names[place]))
        elif isinstance(values, (tuple, list)):
            fixed = tuple(values)
            if len(fixed) != self.count:
                raise errors.wrong_length(len(fixed), self.count)
            for place in range(self.count):
                self.put(place, fixed[place])
        else:
            raise errors.not_a_message(values, True)

    def clear(self) -> None:
        """Make every property NULL."""
        cdef Py_ssize_t place
        for place in range(self.count):
            self.put(place, None)

    def __setitem__(self, name, value):
        self.put(self.place(name), value)

    def __getitem__(self, name):
        cdef Py_ssize_t place = self.place(name)
        return value_python(&self.values[place])

    def place(self, name) -> int:
        """Give the position of a property in the schema."""
        place = self.places.get(name) if isinstance(name, str) else None
        if place is None:
            raise ArgumentError(f"the schema of this record has no {name!r}")
        return place

    def as_tuple(self) -> tuple:
        """Give the values in the order of the schema, the narrow types in their wrappers."""
        cdef Py_ssize_t place
        return tuple([value_python(&self.values[place]) for place in range(self.count)])

    def __len__(self):
        return self.count

    def __eq__(self, other):
        if type(other) is not Record:
            return NotImplemented
        return self.schema == other.schema and values_equal(self, <Record> other)

    __hash__ = None

    def __repr__(self):
        values = ", ".join(f"{name}={value!r}" for name, value in zip(self.schema.names, self.as_tuple()))
        return f"<mqsel.Record {values}>"

    def __reduce__(self):
        return Record, (self.schema, self.as_tuple())


cdef bint values_equal(Record left, Record right) noexcept:
    """Compare types and contents: 1, 1.0 and TRUE are three values, 0.0 and -0.0 two, NaN is one."""
    cdef Py_ssize_t place
    cdef Value *a
    cdef Value *b
    for place in range(left.count):
        a = &left.values[place]
        b = &right.values[place]
        if a.mqtype != b.mqtype:
            return False
        if a.tag == STRING:
            if not string_equal(a.it.o, b.it.o):
                return False
        elif a.tag == BYTES:
            if not bytes_equal(a.it.o, b.it.o):
                return False
        elif a.tag != NULL_VALUE and a.it.i != b.it.i:
            return False
    return True


cdef bint value_fit(Value *value, int wanted) noexcept:
    """Narrow an int to a declared integer type, a number to a float. Returns whether it has the type, or is NULL.

    Args:
        wanted: an MQTYPE, or 0 where none is declared.
    """
    cdef int64_t limit
    if wanted == 0 or value.mqtype == wanted or value.mqtype == MQTYPE_NULL:
        return True
    if MQTYPE_INT8 <= wanted <= MQTYPE_INT64 and MQTYPE_INT8 <= value.mqtype <= MQTYPE_INT64:
        limit = <int64_t> 1 << ((wanted >> 1) - 1) if wanted < MQTYPE_INT64 else 0
        if limit and not -limit <= value.it.i < limit:
            return False
        value.tag = INT64 if wanted == MQTYPE_INT64 else INT32
        value.mqtype = wanted
        return True
    if wanted >= MQTYPE_FLOAT32 and wanted <= MQTYPE_FLOAT64 and MQTYPE_INT8 <= value.mqtype <= MQTYPE_FLOAT64:
        # One rounding, straight from the integer.
        value.it.d = as_float(value) if wanted == MQTYPE_FLOAT32 else as_double(value)
        value.tag = FLOAT32 if wanted == MQTYPE_FLOAT32 else FLOAT64
        value.mqtype = wanted
        return True
    return False


cdef int value_refuse(Value *value, int wanted, str name) except -1:
    """Say why a value does not fit."""
    found = _NAMES_OF_TYPES[value.mqtype]
    if MQTYPE_INT8 <= wanted <= MQTYPE_INT64 and MQTYPE_INT8 <= value.mqtype <= MQTYPE_INT64:
        raise errors.integer_out_of_range(name, "64 bits" if wanted == MQTYPE_INT64 else _NAMES_OF_TYPES[wanted])
    raise PropertyTypeError(
        f"property '{name}' is {found}: the schema declares {_NAMES_OF_TYPES[wanted]}",
        name=name,
        value_type=found,
        hint="convert the value, or declare the type it has",
    )
