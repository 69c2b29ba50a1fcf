# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False, initializedcheck=False
"""The floor: what each of W1-W7 means, written out as C by hand, for lists of exact dicts or of exact tuples.

The physical limit the engine is compared with, never part of the package. Types, NULL and 64-bit arithmetic are those
of IBM MQ, the answer is "is it TRUE". Each property is found and read at most once. W6 and W7 are written from the
selector's tree by build_floor.py.
"""

from cpython.dict cimport PyDict_CheckExact
from cpython.list cimport PyList_GET_ITEM
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_CheckExact
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcmp, memcpy

cdef extern from *:
    """
    /* An int of one digit is read in place. */
    static inline int floor_small(PyObject *number, int64_t *value) {
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
    #define floor_text(text) ((const char *) ((PyASCIIObject *) (text) + 1))
    """
    bint floor_small(PyObject *number, int64_t *value)
    const char *floor_text(PyObject *text)

cdef extern from "Python.h":
    PyObject *Py_None
    PyObject *Py_True
    PyObject *Py_False
    PyObject *__Pyx_PyDict_GetItemStrWithError(PyObject *mapping, PyObject *key)  # with the hash the key carries
    bint PyDict_Next(PyObject *mapping, Py_ssize_t *place, PyObject **key, PyObject **item)
    PyObject **PySequence_Fast_ITEMS(PyObject *sequence)
    bint PyUnicode_CheckExact(PyObject *item)
    bint PyUnicode_IS_COMPACT_ASCII(PyObject *text)
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject *text)
    Py_UCS4 PyUnicode_READ_CHAR(PyObject *text, Py_ssize_t place)
    bint PyLong_CheckExact(PyObject *item)
    long long PyLong_AsLongLongAndOverflow(PyObject *number, int *overflow)
    bint PyFloat_CheckExact(PyObject *item)
    double PyFloat_AS_DOUBLE(PyObject *item)
    bint PyBytes_CheckExact(PyObject *item)

# ---- properties --------------------------------------------------------------------------------------------------

cdef enum:
    JMSTYPE
    JMSPRIORITY
    COLOR
    WEIGHT
    PRICE
    REGION
    SYMBOL
    ACTIVE
    COUNT

cdef enum:
    UNREAD
    NOTHING     # NULL or absent
    INT
    REAL
    TEXT        # an ASCII string
    WIDE        # any other string
    FLAG
    OTHER       # bytes, or the result of arithmetic on what is no number

# What a value is to a constant; each test is "one of these".
cdef enum:
    LESS = 1
    SAME = 2
    MORE = 4
    UNORDERED = 8
    MISFIT = 16
    ABSENT = 32

cdef enum:
    FALSE
    TRUE
    UNKNOWN

cdef int[9] AND = [FALSE, FALSE, FALSE, FALSE, TRUE, UNKNOWN, FALSE, UNKNOWN, UNKNOWN]
cdef int[9] OR = [FALSE, TRUE, UNKNOWN, TRUE, TRUE, TRUE, UNKNOWN, TRUE, UNKNOWN]
cdef int[3] NOT = [TRUE, FALSE, UNKNOWN]

cdef struct Slot:
    int tag
    int64_t i           # INT, FLAG
    double d            # REAL
    const char *text    # TEXT
    Py_ssize_t length   # TEXT
    PyObject *wide      # WIDE

cdef struct Probe:      # a dict, by the hash of the name
    PyObject *message

cdef struct Place:      # a dict whose properties most often stand in the order of NAMES, with these very keys
    PyObject *message

cdef struct Items:      # a tuple in the order of NAMES
    PyObject **items

ctypedef fused Source:
    Probe
    Place
    Items

NAMES = ("JMSType", "JMSPriority", "color", "weight", "price", "region", "symbol", "active")
ALIASES = tuple(["" if name.startswith("JMS") else "usr." + name for name in NAMES])
cdef PyObject *KEYS[COUNT]
cdef PyObject *OTHERS[COUNT]
cdef bint failed = False

import sys

_kept = [sys.intern(name) for name in NAMES + ALIASES]
for _place in range(COUNT):
    KEYS[_place] = <PyObject *> _kept[_place]
    OTHERS[_place] = <PyObject *> _kept[_place + COUNT]


cdef PyObject *probe(PyObject *message, int which) noexcept:
    """Find a property by its hash; what is missing may stand under its other spelling."""
    cdef PyObject *item = __Pyx_PyDict_GetItemStrWithError(message, KEYS[which])
    if item == NULL and which > JMSPRIORITY:
        item = __Pyx_PyDict_GetItemStrWithError(message, OTHERS[which])
    return Py_None if item == NULL else item


cdef Slot read_other(PyObject *item) noexcept:
    """Read a value that is not of the type its property most often has."""
    cdef Slot slot
    cdef int overflow = 0
    slot.tag = OTHER
    if item == Py_None:
        slot.tag = NOTHING
    elif PyLong_CheckExact(item):
        slot.tag = INT
        slot.i = PyLong_AsLongLongAndOverflow(item, &overflow)
    elif PyFloat_CheckExact(item):
        slot.tag = REAL
        slot.d = PyFloat_AS_DOUBLE(item)
    elif item == Py_True or item == Py_False:
        slot.tag = FLAG
        slot.i = item == Py_True
    elif PyUnicode_CheckExact(item):
        slot.tag = TEXT if PyUnicode_IS_COMPACT_ASCII(item) else WIDE
        slot.text = floor_text(item)
        slot.length = PyUnicode_GET_LENGTH(item)
        slot.wide = item
    elif not PyBytes_CheckExact(item):
        overflow = 1
    if overflow:
        global failed
        failed = True
    return slot


cdef inline Slot read(Source *source, int which) noexcept:
    cdef PyObject *key
    cdef PyObject *item
    cdef Py_ssize_t place = which
    cdef Slot slot
    if Source is Items:
        item = source.items[which]
    elif Source is Place:
        if not PyDict_Next(source.message, &place, &key, &item) or key != KEYS[which]:
            item = probe(source.message, which)
    else:
        item = probe(source.message, which)
    if which == JMSPRIORITY or which == WEIGHT:
        if PyLong_CheckExact(item) and floor_small(item, &slot.i):
            slot.tag = INT
            return slot
    elif which == PRICE:
        if PyFloat_CheckExact(item):
            slot.tag = REAL
            slot.d = PyFloat_AS_DOUBLE(item)
            return slot
    elif which == ACTIVE:
        if item == Py_True or item == Py_False:
            slot.tag = FLAG
            slot.i = item == Py_True
            return slot
    elif PyUnicode_CheckExact(item) and PyUnicode_IS_COMPACT_ASCII(item):
        slot.tag = TEXT
        slot.text = floor_text(item)
        slot.length = PyUnicode_GET_LENGTH(item)
        return slot
    return read_other(item)


cdef Slot read_apart(Source *source, int which) noexcept:
    return read(source, which)


cdef inline Slot *need(Slot *slots, Source *source, int which) noexcept:
    """Return a property, read once for each message."""
    if slots[which].tag == UNREAD:
        slots[which] = read_apart(source, which)
    return &slots[which]


# ---- tests -------------------------------------------------------------------------------------------------------

cdef inline int against_none(Slot slot) noexcept:
    return ABSENT if slot.tag == NOTHING else MISFIT


cdef inline int against_real(Slot slot, double constant) noexcept:
    cdef double value
    if slot.tag == REAL:
        value = slot.d
    elif slot.tag == INT:
        value = <double> slot.i
    else:
        return against_none(slot)
    return LESS if value < constant else MORE if value > constant else SAME if value == constant else UNORDERED


cdef inline int against_int(Slot slot, int64_t constant) noexcept:
    if slot.tag == INT:
        return LESS if slot.i < constant else MORE if slot.i > constant else SAME
    return against_real(slot, <double> constant)


cdef inline int between(Slot slot, int64_t low, int64_t high) noexcept:
    """SAME inside, MORE outside."""
    if slot.tag == INT:
        return SAME if low <= slot.i <= high else MORE
    if slot.tag == REAL:
        return SAME if low <= slot.d <= high else MORE if slot.d == slot.d else MISFIT
    return against_none(slot)


cdef inline bint is_text(Slot slot, const char *constant, Py_ssize_t length) noexcept:
    return slot.tag == TEXT and slot.length == length and memcmp(slot.text, constant, length) == 0


cdef bint wide_has(Slot slot, Py_ssize_t at, const char *constant, Py_ssize_t length) noexcept:
    cdef Py_ssize_t place
    if at + length > slot.length:
        return False
    for place in range(length):
        if PyUnicode_READ_CHAR(slot.wide, at + place) != <Py_UCS4> constant[place]:
            return False
    return True


cdef inline bint starts(Slot slot, const char *constant, Py_ssize_t length) noexcept:
    if slot.tag == TEXT:
        return slot.length >= length and memcmp(slot.text, constant, length) == 0
    return slot.tag == WIDE and wide_has(slot, 0, constant, length)


cdef inline int against_found(Slot slot, bint found) noexcept:
    """SAME if the string is what was searched for, MORE if it is another."""
    if slot.tag == TEXT or slot.tag == WIDE:
        return SAME if found else MORE
    return against_none(slot)


cdef inline int against_flag(Slot slot, bint constant) noexcept:
    if slot.tag == FLAG:
        return SAME if slot.i == constant else MORE
    return against_none(slot)


cdef inline Slot times(Slot slot, int64_t factor) noexcept:
    if slot.tag == INT:
        slot.i = <int64_t> (<uint64_t> slot.i * <uint64_t> factor)
    elif slot.tag == REAL:
        slot.d = slot.d * <double> factor
    elif slot.tag != NOTHING:
        slot.tag = OTHER
    return slot


cdef inline Slot plus(Slot slot, int64_t addend) noexcept:
    if slot.tag == INT:
        slot.i = <int64_t> (<uint64_t> slot.i + <uint64_t> addend)
    elif slot.tag == REAL:
        slot.d = slot.d + <double> addend
    elif slot.tag != NOTHING:
        slot.tag = OTHER
    return slot


cdef inline int truth(int relation, int accepted, int refused) noexcept:
    return TRUE if relation & accepted else FALSE if relation & refused else UNKNOWN


cdef inline uint64_t word(const char *text, Py_ssize_t length) noexcept:
    cdef uint64_t packed = 0
    memcpy(&packed, text, length)
    return packed


# ---- W1-W5 -------------------------------------------------------------------------------------------------------

cdef inline bint w1(Source *source) noexcept:
    return is_text(read(source, COLOR), b"blue", 4)


cdef inline bint w2(Source *source) noexcept:
    return (
        is_text(read(source, JMSTYPE), b"car", 3)
        and is_text(read(source, COLOR), b"blue", 4)
        and against_int(read(source, WEIGHT), 2500) == MORE
    )


cdef inline bint w3(Source *source) noexcept:
    cdef Slot price
    if between(plus(times(read(source, WEIGHT), 2), 1), 3000, 9000) != SAME:
        return False
    price = read(source, PRICE)
    if price.tag == INT:
        price.i = price.i // 2
    elif price.tag == REAL:
        price.d = price.d / 2
    return against_real(price, 10.5) & (SAME | MORE) != 0


cdef inline bint w4(Source *source) noexcept:
    cdef Slot region
    cdef Py_ssize_t place
    if starts(read(source, SYMBOL), b"AB_", 3):
        return True
    region = read(source, REGION)
    if region.tag == TEXT:
        for place in range(region.length - 3):
            if memcmp(region.text + place, b"west", 4) == 0:
                return True
    elif region.tag == WIDE:
        for place in range(region.length - 3):
            if wide_has(region, place, b"west", 4):
                return True
    return False


cdef inline bint w5(Source *source) noexcept:
    cdef Slot region = read(source, REGION)
    if region.tag != TEXT or not (
        (region.length == 7 and (memcmp(region.text, b"us-east", 7) == 0 or memcmp(region.text, b"us-west", 7) == 0))
        or (region.length == 10 and memcmp(region.text, b"eu-central", 10) == 0)
    ):
        return False
    # NOT of a mismatch is TRUE.
    return against_int(read(source, JMSPRIORITY), 4) & (SAME | MORE | UNORDERED | MISFIT) != 0 and (
        read(source, COLOR).tag != NOTHING
    )


include "floor_long.pxi"  # W6, W7 and TEXTS

# ---- the loop ----------------------------------------------------------------------------------------------------

cdef struct W1:
    char unused
cdef struct W2:
    char unused
cdef struct W3:
    char unused
cdef struct W4:
    char unused
cdef struct W5:
    char unused
cdef struct W6:
    char unused
cdef struct W7:
    char unused

ctypedef fused Workload:
    W1
    W2
    W3
    W4
    W5
    W6
    W7


cdef list selected(Source *source, Workload *workload, list messages):
    cdef list result = []
    cdef Py_ssize_t place
    cdef PyObject *message
    cdef bint hit
    global failed
    failed = False
    for place in range(len(messages)):
        message = <PyObject *> PyList_GET_ITEM(messages, place)
        if Source is Items:
            if not PyTuple_CheckExact(<object> message):
                raise TypeError("the floor reads exact tuples")
            source.items = PySequence_Fast_ITEMS(message)
        else:
            if not PyDict_CheckExact(<object> message):
                raise TypeError("the floor reads exact dicts")
            source.message = message
        if Workload is W1:
            hit = w1(source)
        elif Workload is W2:
            hit = w2(source)
        elif Workload is W3:
            hit = w3(source)
        elif Workload is W4:
            hit = w4(source)
        elif Workload is W5:
            hit = w5(source)
        elif Workload is W6:
            hit = w6(source)
        else:
            hit = w7(source)
        if hit:
            result.append(<object> message)
    if failed:
        raise TypeError("the floor reads exact types only")
    return result


cdef list choose(Source *source, str name, list messages):
    if name == "W1":
        return selected(source, <W1 *> NULL, messages)
    if name == "W2":
        return selected(source, <W2 *> NULL, messages)
    if name == "W3":
        return selected(source, <W3 *> NULL, messages)
    if name == "W4":
        return selected(source, <W4 *> NULL, messages)
    if name == "W5":
        return selected(source, <W5 *> NULL, messages)
    if name == "W6":
        return selected(source, <W6 *> NULL, messages)
    return selected(source, <W7 *> NULL, messages)


def by_hash(str name, list messages) -> list:
    """Select from dicts, each property found by the hash of its name."""
    cdef Probe source
    return choose(&source, name, messages)


def by_place(str name, list messages) -> list:
    """Select from dicts, each property looked for first where a dict of all eight properties holds it."""
    cdef Place source
    return choose(&source, name, messages)


def by_index(str name, list messages) -> list:
    """Select from tuples in the order of NAMES."""
    cdef Items source
    return choose(&source, name, messages)
