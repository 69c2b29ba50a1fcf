# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Reads JSON lines for the properties of a selector: one pass over every byte, which builds only the values needed.

It accepts a line only if that is valid JSON in valid UTF-8, and each property it needs has a plain value, or a value
that names its type and fits it. Any other line, faulty or merely rare, is left to `jsonl`, which reads it again and
reports the error or returns the values. Every read is bounded by the line, every loop by the
bytes it consumes. Follows formats §8.

Most lines of a file have the keys of the line before, in its order: those are compared, not parsed.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF
from libc.math cimport INFINITY, NAN
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcmp, memcpy

from mqsel.formats._decoder cimport FILLED, UNREAD, bytes_keep, utf8_put
from mqsel.formats._words cimport text_hash
from mqsel.machine._values cimport (
    BOOLEAN, FLOAT32, FLOAT64, INT32, INT64, MQTYPE_BOOLEAN, MQTYPE_BYTE_STRING, MQTYPE_FLOAT32, MQTYPE_FLOAT64,
    MQTYPE_INT8, MQTYPE_INT64, MQTYPE_NULL, MQTYPE_STRING, NULL_VALUE, STRING, Value, value_float, value_integer,
    value_null, value_own, zeroed
)

from mqsel.formats import jsonl as _jsonl
from mqsel.names import spellings
from mqsel.values import TYPES as _TYPES

cdef extern from *:
    """
    #if defined(__SSE2__) && defined(__GNUC__)
    #include <emmintrin.h>
    /* How many of 16 bytes stand before the first that is no plain character of a string. */
    static inline int plain_run(const unsigned char *at) {
        __m128i text = _mm_loadu_si128((const __m128i *) at);
        __m128i odd = _mm_or_si128(
            _mm_or_si128(_mm_cmpeq_epi8(text, _mm_set1_epi8('"')), _mm_cmpeq_epi8(text, _mm_set1_epi8('\\\\'))),
            _mm_cmplt_epi8(text, _mm_set1_epi8(0x20)));  /* signed: control characters, and all from 0x80 */
        return __builtin_ctz(0x10000 | _mm_movemask_epi8(odd));
    }
    #define HAS_PLAIN_RUN 1
    #else
    #define plain_run(at) 0
    #define HAS_PLAIN_RUN 0
    #endif
    """
    int plain_run(const uint8_t *at) noexcept nogil
    bint HAS_PLAIN_RUN

cdef extern from "Python.h":
    PyObject *PyUnicode_DecodeUTF8(const char *data, Py_ssize_t size, const char *errors) except NULL
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL
    double PyOS_string_to_double(const char *text, char **end, PyObject *overflow) except? -1.0
    int PyUnicode_CheckExact(object item)
    bint PyUnicode_IS_ASCII(PyObject *text)
    void *PyUnicode_DATA(PyObject *text)
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject *text)

# What stands for a name that is no slot.
cdef enum Other:
    UNWANTED = -1
    ODD = -2            # what it means is for jsonl to say

cdef enum:
    DEPTH = 64          # of brackets, in what is passed over
    LONG_NUMBER = 600   # characters; of some thousand digits Python makes no number
    LONG_LINE = 1 << 20  # bytes; while one is read, signals are looked for
    NAMES_AHEAD = 4     # remembered keys that may be missing in a line
    DOUBTFUL = 16
    KNOWN = 256         # keys of lines whose names are kept

# What a byte of a string is: 0 plain, else what has to be looked at.
cdef uint8_t[256] SPECIAL
for _byte in range(256):
    SPECIAL[_byte] = _byte < 0x20 or _byte >= 0x80 or _byte in b'"\\'
# What stands behind a backslash, by the second character; 0 for none.
cdef uint8_t[256] ESCAPED
for _byte, _character in zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t'):
    ESCAPED[_byte] = _character
cdef uint8_t[256] HEX           # value of a hexadecimal digit, or 16
for _byte in range(256):
    HEX[_byte] = int(chr(_byte), 16) if chr(_byte) in "0123456789abcdefABCDEF" else 16
cdef double[23] TENS            # powers of ten that a double has exactly
for _byte in range(23):
    TENS[_byte] = 10.0**_byte

# The types a value may name. Those of numbers have the range of `TYPES`.
cdef struct TypeRow:
    const char *name
    Py_ssize_t length
    int mqtype
    int64_t low
    int64_t high

cdef TypeRow[16] TYPE_ROWS
cdef int TYPE_COUNT = len(_TYPES)
_TYPE_NAMES = [_row.name.encode() for _row in _TYPES]
for _byte, _row in enumerate(_TYPES):
    TYPE_ROWS[_byte].name = _TYPE_NAMES[_byte]
    TYPE_ROWS[_byte].length = len(_TYPE_NAMES[_byte])
    TYPE_ROWS[_byte].mqtype = _row.number
    if _row.kind == "exact":
        TYPE_ROWS[_byte].low, TYPE_ROWS[_byte].high = _row.range


cdef TypeRow *type_named(const uint8_t *text, Py_ssize_t length) noexcept:
    """Return the row of a type; NULL: no type has this name."""
    cdef int number
    for number in range(TYPE_COUNT):
        if TYPE_ROWS[number].length == length and memcmp(TYPE_ROWS[number].name, text, length) == 0:
            return &TYPE_ROWS[number]
    return NULL


# ---- what is passed over: each gives where the thing ends, or NULL ------------------------------------------------

cdef inline const uint8_t *blanks(const uint8_t *at, const uint8_t *stop) noexcept:
    while at < stop and (at[0] == c" " or at[0] == c"\t" or at[0] == c"\r" or at[0] == c"\n"):
        at += 1
    return at


cdef inline const uint8_t *plain_end(const uint8_t *at, const uint8_t *stop, const uint8_t *limit) noexcept:
    """Find the first byte that is no plain character of a string. Behind the stop comes the limit, or a line end."""
    cdef int run
    while HAS_PLAIN_RUN and limit - at >= 16:
        run = plain_run(at)
        at += run
        if run < 16:
            return at
    while at < stop and not SPECIAL[at[0]]:
        at += 1
    return at


cdef const uint8_t *character_end(const uint8_t *at, const uint8_t *stop) noexcept:
    """Pass over a character of several bytes in UTF-8: no longer than it must be, and no surrogate."""
    cdef uint8_t first = at[0]
    cdef uint8_t low = 0x80
    cdef uint8_t high = 0xBF
    cdef int rest, place
    if 0xC2 <= first <= 0xDF:
        rest = 1
    elif 0xE0 <= first <= 0xEF:
        rest = 2
        if first == 0xE0:
            low = 0xA0
        elif first == 0xED:
            high = 0x9F
    elif 0xF0 <= first <= 0xF4:
        rest = 3
        if first == 0xF0:
            low = 0x90
        elif first == 0xF4:
            high = 0x8F
    else:
        return NULL
    if stop - at <= rest or not low <= at[1] <= high:
        return NULL
    for place in range(2, rest + 1):
        if at[place] & 0xC0 != 0x80:
            return NULL
    return at + rest + 1


cdef inline const uint8_t *string_end(
    const uint8_t *at, const uint8_t *stop, const uint8_t *limit, bint *escaped
) noexcept:
    """Find the quotation mark that ends a string, from behind the one that begins it; whether it has escapes."""
    escaped[0] = False
    while True:
        at = plain_end(at, stop, limit)
        if at >= stop:
            return NULL
        if at[0] == c'"':
            return at
        if at[0] == c"\\":
            escaped[0] = True
            if stop - at < 2:
                return NULL
            if ESCAPED[at[1]]:
                at += 2
            elif at[1] == c"u" and stop - at > 6 and (HEX[at[2]] | HEX[at[3]] | HEX[at[4]] | HEX[at[5]]) < 16:
                at += 6
            else:
                return NULL
        else:
            at = character_end(at, stop) if at[0] >= 0x80 else NULL
            if at == NULL:
                return NULL


cdef inline bint is_digit(const uint8_t *at, const uint8_t *stop) noexcept:
    return at < stop and c"0" <= at[0] <= c"9"


cdef inline const uint8_t *number_end(const uint8_t *at, const uint8_t *stop, bint *exact) noexcept:
    """Pass over a number; say whether it is a whole one."""
    cdef const uint8_t *start = at
    exact[0] = True
    if at < stop and at[0] == c"-":
        at += 1
    if not is_digit(at, stop):
        return NULL
    if at[0] == c"0":
        at += 1
    else:
        while is_digit(at, stop):
            at += 1
    if at < stop and at[0] == c".":
        exact[0] = False
        at += 1
        if not is_digit(at, stop):
            return NULL
        while is_digit(at, stop):
            at += 1
    if at < stop and (at[0] | 0x20) == c"e":
        exact[0] = False
        at += 1
        if at < stop and (at[0] == c"+" or at[0] == c"-"):
            at += 1
        if not is_digit(at, stop):
            return NULL
        while is_digit(at, stop):
            at += 1
    return at if at - start < LONG_NUMBER else NULL


cdef inline const uint8_t *word_end(
    const uint8_t *at, const uint8_t *stop, const char *word, Py_ssize_t length
) noexcept:
    return at + length if stop - at >= length and memcmp(at, word, length) == 0 else NULL


cdef inline const uint8_t *scalar_end(const uint8_t *at, const uint8_t *stop, const uint8_t *limit) noexcept:
    """Pass over a value that has no brackets."""
    cdef bint ignored
    if at[0] == c'"':
        at = string_end(at + 1, stop, limit, &ignored)
        if at == NULL:
            return NULL
        return at + 1
    if at[0] == c"t":
        return word_end(at, stop, "true", 4)
    if at[0] == c"f":
        return word_end(at, stop, "false", 5)
    if at[0] == c"n":
        return word_end(at, stop, "null", 4)
    if at[0] == c"N":
        return word_end(at, stop, "NaN", 3)
    if at[0] == c"I":
        return word_end(at, stop, "Infinity", 8)
    if at[0] == c"-" and stop - at > 1 and at[1] == c"I":
        return word_end(at, stop, "-Infinity", 9)
    return number_end(at, stop, &ignored)


cdef inline const uint8_t *colon_end(const uint8_t *at, const uint8_t *stop) noexcept:
    at = blanks(at, stop)
    if at == stop or at[0] != c":":
        return NULL
    at = blanks(at + 1, stop)
    if at == stop:
        return NULL
    return at


cdef const uint8_t *name_end(const uint8_t *at, const uint8_t *stop, const uint8_t *limit) noexcept:
    """Pass over a key and its colon to where its value begins."""
    cdef bint ignored
    if at[0] != c'"':
        return NULL
    at = string_end(at + 1, stop, limit, &ignored)
    if at == NULL:
        return NULL
    return colon_end(at + 1, stop)


cdef const uint8_t *nested_end(const uint8_t *at, const uint8_t *stop, const uint8_t *limit) noexcept:
    """Pass over an object or an array."""
    cdef uint64_t objects = 0       # a bit for each bracket that is open: whether it is a brace
    cdef int depth = 0
    while True:
        # A value begins here.
        if at[0] == c"{" or at[0] == c"[":
            if depth == DEPTH:
                return NULL
            objects = objects << 1 | (at[0] == c"{")
            depth += 1
            at = blanks(at + 1, stop)
            if at == stop:
                return NULL
            if at[0] != (c"}" if objects & 1 else c"]"):
                if not objects & 1:
                    continue
                at = name_end(at, stop, limit)
                if at == NULL:
                    return NULL
                continue
        else:
            at = scalar_end(at, stop, limit)
            if at == NULL:
                return NULL
            at = blanks(at, stop)
        # And has ended here: what is around it goes on, or ends, too.
        while at < stop and at[0] == (c"}" if objects & 1 else c"]"):
            at += 1
            objects >>= 1
            depth -= 1
            if depth == 0:
                return at
            at = blanks(at, stop)
        if at == stop or at[0] != c",":
            return NULL
        at = blanks(at + 1, stop)
        if at == stop:
            return NULL
        if objects & 1:
            at = name_end(at, stop, limit)
            if at == NULL:
                return NULL


cdef inline const uint8_t *value_end(const uint8_t *at, const uint8_t *stop, const uint8_t *limit) noexcept:
    """Pass over a value."""
    if at[0] == c"{" or at[0] == c"[":
        return nested_end(at, stop, limit)
    return scalar_end(at, stop, limit)


# ---- numbers -----------------------------------------------------------------------------------------------------

cdef bint whole_read(const uint8_t *at, const uint8_t *end, int64_t *number) noexcept:
    """Read a whole number of 64 bits. Returns whether it is one."""
    cdef bint negative = at[0] == c"-"
    cdef uint64_t found = 0
    at += negative
    if end - at > 19:
        return False
    while at < end:
        found = found * 10 + (at[0] - c"0")
        at += 1
    if found > 0x7FFFFFFFFFFFFFFFULL + negative:
        return False
    number[0] = <int64_t> (0 - found) if negative else <int64_t> found
    return True


cdef double float_read(const uint8_t *at, const uint8_t *end) except? -1.0:
    """Read a number as the double nearest to it; behind its end stands what is no part of a number."""
    cdef const uint8_t *start = at
    cdef bint negative = at[0] == c"-"
    cdef uint64_t digits = 0
    cdef char *behind
    cdef int exponent = 0
    cdef int shift = 0
    cdef bint below = False
    cdef double found
    at += negative
    if end - at <= 24:
        while at < end and (at[0] | 0x20) != c"e":
            if at[0] == c".":
                below = True
            else:
                if digits >= <uint64_t> 1 << 53:
                    return PyOS_string_to_double(<const char *> start, &behind, NULL)
                digits = digits * 10 + (at[0] - c"0")
                shift -= below
            at += 1
        if at < end:
            at += 1
            below = at[0] == c"-"
            at += at[0] == c"-" or at[0] == c"+"
            while at < end and exponent < 10000:
                exponent = exponent * 10 + (at[0] - c"0")
                at += 1
            shift += -exponent if below else exponent
        # One rounding of two exact numbers is right.
        if digits <= <uint64_t> 1 << 53 and -22 <= shift <= 22:
            found = <double> digits * TENS[shift] if shift >= 0 else <double> digits / TENS[-shift]
            return -found if negative else found
    return PyOS_string_to_double(<const char *> start, &behind, NULL)


# ---- for other readers of JSON: here these are inlined --------------------------------------------------------------

cdef const uint8_t *pass_blanks(const uint8_t *at, const uint8_t *stop) noexcept:
    return blanks(at, stop)


cdef const uint8_t *pass_string(
    const uint8_t *at, const uint8_t *stop, const uint8_t *limit, bint *escaped
) noexcept:
    return string_end(at, stop, limit, escaped)


cdef const uint8_t *pass_value(const uint8_t *at, const uint8_t *stop, const uint8_t *limit) noexcept:
    return value_end(at, stop, limit)


cdef const uint8_t *pass_number(const uint8_t *at, const uint8_t *stop, bint *exact) noexcept:
    return number_end(at, stop, exact)


cdef int member_next(Walk *walk) noexcept:
    """Go on to the next member. Returns 1; 0 where the object has ended; -1 if it is broken, or a key has escapes."""
    cdef const uint8_t *stop = walk.stop
    cdef const uint8_t *at = blanks(walk.at, stop)
    cdef bint escaped
    if at < stop and at[0] == c"}":
        walk.at = at + 1
        return 0
    if walk.count:
        if at == stop or at[0] != c",":
            return -1
        at = blanks(at + 1, stop)
    if at == stop or at[0] != c'"':
        return -1
    walk.key = at + 1
    walk.key_stop = string_end(walk.key, stop, walk.limit, &escaped)
    if walk.key_stop == NULL or escaped:
        return -1
    walk.at = colon_end(walk.key_stop + 1, stop)
    walk.count += 1
    return 1 if walk.at != NULL else -1


cdef bint is_new(Walk *walk, uint32_t *numbers) noexcept:
    """Report whether a key is none of those before, most likely, and may be listed; its number is put behind theirs."""
    cdef int before
    if walk.count > KEYS:
        return False
    numbers[walk.count - 1] = text_hash(walk.key, walk.key_stop - walk.key)
    for before in range(walk.count - 1):
        if numbers[before] == numbers[walk.count - 1]:
            return False
    return True


# ---- the decoder -------------------------------------------------------------------------------------------------

@cython.no_gc_clear  # the record is filled in place, and the table points into the names
cdef class JSONDecoder(Decoder):
    """Reads JSON lines, as bytes or a text."""

    def __cinit__(self, names, *_):
        cdef uint32_t size = 8
        # Of a property with two spellings the one that is not asked for, or both that are: which of them counts, the
        # dialect says to the machine, and a record has a value for every name.
        self.spelled = tuple(dict.fromkeys(one for name in self.names for one in spellings(name)))
        targets = {**dict.fromkeys(self.spelled, ODD), _jsonl.INSPECTED: ODD}
        for slot, name in enumerate(self.names):
            if name != _jsonl.INSPECTED and not any(one in self.names for one in spellings(name) if one != name):
                targets[name] = slot
        # Half of a pair of surrogates in a name is found by none but jsonl.
        self.encoded = [name.encode("utf-8", "surrogatepass") for name in targets]
        while size < 2 * len(targets):
            size *= 2
        self.mask = size - 1
        self.table = <Name *> zeroed(size, sizeof(Name))
        for name, target in zip(self.encoded, targets.values()):
            self.enter_name(name, target)
        self.learning = True

    def __dealloc__(self):
        free(self.table)
        free(self.scratch)

    def __reduce__(self):
        return JSONDecoder, (self.names,)

    def __call__(self, line):
        cdef const uint8_t *text
        cdef Py_ssize_t size
        if PyBytes_CheckExact(line):
            text, size = <const uint8_t *> PyBytes_AS_STRING(line), PyBytes_GET_SIZE(line)
        elif PyUnicode_CheckExact(line):
            try:
                text = <const uint8_t *> PyUnicode_AsUTF8AndSize(line, &size)
            except UnicodeEncodeError:  # half of a pair of surrogates
                return _jsonl.message_from_json(line, self.spelled)
        else:
            return _jsonl.message_from_json(line, self.spelled)
        if JSONDecoder.read(self, text, text + size, text + size):
            return self.record
        return _jsonl.message_from_json(line, self.spelled)

    cdef int enter_name(self, bytes name, int target) except -1:
        cdef const uint8_t *text = <const uint8_t *> PyBytes_AS_STRING(name)
        cdef uint32_t place = text_hash(text, PyBytes_GET_SIZE(name)) & self.mask
        while self.table[place].text != NULL:
            place = (place + 1) & self.mask
        self.table[place].text = text
        self.table[place].length = PyBytes_GET_SIZE(name)
        self.table[place].target = target
        return 0

    cdef int find(self, const uint8_t *text, Py_ssize_t length) noexcept:
        """Return what a name is: a slot, or an Other."""
        cdef uint32_t place = text_hash(text, length) & self.mask
        while self.table[place].text != NULL:
            if self.table[place].length == length and memcmp(self.table[place].text, text, length) == 0:
                return self.table[place].target
            place = (place + 1) & self.mask
        return UNWANTED

    cdef int read(self, const uint8_t *at, const uint8_t *stop, const uint8_t *limit) except -1:
        """Fill the record from a line; behind its stop comes the limit, or the line's end. UNREAD is for `jsonl`."""
        cdef Py_ssize_t slot
        cdef uint64_t[2] head
        cdef Remembered *remembered
        cdef const uint8_t *start = at
        cdef int target, number
        cdef int expected = 0
        cdef bint is_known
        cdef bint is_strange = False
        for slot in range(self.record.count):
            value_null(&self.record.values[slot])
        at = blanks(at, stop)
        if at == stop or at[0] != c"{":
            return UNREAD
        at = blanks(at + 1, stop)
        if at == stop:
            return UNREAD
        while at[0] != c"}":
            is_known = False
            if limit - at >= HEAD:
                memcpy(head, at, HEAD)
                for number in range(expected, min(expected + NAMES_AHEAD, self.shape_count)):
                    remembered = &self.shape[number]
                    if (head[0] & remembered.mask[0]) == remembered.head[0]:
                        if (head[1] & remembered.mask[1]) == remembered.head[1] and remembered.length < stop - at:
                            if remembered.length <= HEAD or memcmp(
                                at + HEAD, &self.shape_bytes[remembered.start] + HEAD, remembered.length - HEAD
                            ) == 0:
                                is_known = True
                                expected = number + 1
                                at = blanks(at + remembered.length, stop)
                                if at == stop:
                                    return UNREAD
                                target = remembered.target
                                break
            if not is_known:
                is_strange = True
                at = self.key_read(at, stop, limit, &target)
                if at == NULL:
                    return UNREAD
            # A value begins here.
            if target >= 0:
                at = self.load(target, at, stop, limit)
            elif target == UNWANTED:
                at = value_end(at, stop, limit)
            else:
                return UNREAD
            if at == NULL:
                return UNREAD
            at = blanks(at, stop)
            if at == stop:
                return UNREAD
            if at[0] == c",":
                at = blanks(at + 1, stop)
                if at == stop or at[0] != c'"':
                    return UNREAD
            elif at[0] != c"}":
                return UNREAD
            if stop - start > LONG_LINE:
                PyErr_CheckSignals()
        if self.learning:
            self.learning = False
        elif is_strange:
            self.doubt += 2
            if self.doubt > DOUBTFUL:
                self.doubt = self.shape_count = self.shape_size = 0
                self.learning = True
        elif self.doubt > 0:
            self.doubt -= 1
        return FILLED if blanks(at + 1, stop) == stop else UNREAD

    cdef const uint8_t *key_read(
        self, const uint8_t *at, const uint8_t *stop, const uint8_t *limit, int *target
    ) except? NULL:
        """Read a key. Returns where its value begins."""
        cdef const uint8_t *start = at
        cdef const uint8_t *end
        cdef Py_ssize_t length
        cdef bint escaped
        if at[0] != c'"':
            return NULL
        end = string_end(at + 1, stop, limit, &escaped)
        if end == NULL:
            return NULL
        if escaped:
            length = self.unescape(at + 1, end)
            if length < 0:
                return NULL
            target[0] = self.find(self.scratch, length)
        else:
            target[0] = self.find(at + 1, end - at - 1)
        at = colon_end(end + 1, stop)
        if self.learning and at != NULL:
            self.remember(start, at, target[0])
        return at

    cdef int remember(self, const uint8_t *at, const uint8_t *stop, int target) noexcept:
        cdef Remembered *row = &self.shape[self.shape_count]
        cdef uint8_t[HEAD] mask
        cdef Py_ssize_t length = stop - at
        cdef Py_ssize_t place
        if self.shape_count == SHAPE or self.shape_size + length > SHAPE_BYTES:
            return 0
        for place in range(HEAD):
            mask[place] = 0xFF if place < length else 0
        row.head[0] = row.head[1] = 0
        memcpy(row.head, at, min(length, HEAD))
        memcpy(row.mask, mask, HEAD)
        row.length = <int> length
        row.start = self.shape_size
        row.target = target
        memcpy(&self.shape_bytes[self.shape_size], at, length)
        self.shape_size += <int> length
        self.shape_count += 1
        return 0

    cdef const uint8_t *load(
        self, int slot, const uint8_t *at, const uint8_t *stop, const uint8_t *limit
    ) except? NULL:
        """Read a value into a slot. Returns where it ends."""
        cdef Value *value = &self.record.values[slot]
        cdef const uint8_t *start = at
        cdef bint exact
        if at[0] == c'"':
            return self.load_string(slot, at, stop, limit)
        if at[0] == c"{":
            return self.load_typed(slot, at, stop, limit)
        if at[0] == c"t" or at[0] == c"f":
            value_integer(value, BOOLEAN, MQTYPE_BOOLEAN, at[0] == c"t")
            return scalar_end(at, stop, limit)
        if at[0] == c"n":
            value_null(value)
            return scalar_end(at, stop, limit)
        if at[0] == c"N" or at[0] == c"I" or (at[0] == c"-" and stop - at > 1 and at[1] == c"I"):
            value_float(value, FLOAT64, MQTYPE_FLOAT64, NAN if at[0] == c"N" else INFINITY)
            if at[0] == c"-":
                value.it.d = -INFINITY
            return scalar_end(at, stop, limit)
        at = number_end(at, stop, &exact)
        if at == NULL or at == stop:
            return NULL
        if exact:
            value_integer(value, INT64, MQTYPE_INT64, 0)
            return at if whole_read(start, at, &value.it.i) else NULL
        value_float(value, FLOAT64, MQTYPE_FLOAT64, float_read(start, at))
        return at

    cdef const uint8_t *load_string(
        self, int slot, const uint8_t *at, const uint8_t *stop, const uint8_t *limit
    ) except? NULL:
        cdef const uint8_t *end
        cdef const uint8_t *text = at + 1
        cdef Py_ssize_t length
        cdef bint escaped
        end = string_end(text, stop, limit, &escaped)
        if end == NULL:
            return NULL
        length = end - text
        if escaped:
            length = self.unescape(text, end)
            if length < 0:
                return NULL
            text = self.scratch
        value_own(
            &self.record.values[slot], &self.record.owners[slot], STRING, MQTYPE_STRING,
            PyUnicode_DecodeUTF8(<const char *> text, length, NULL)
        )
        return end + 1

    cdef const uint8_t *load_typed(
        self, int slot, const uint8_t *at, const uint8_t *stop, const uint8_t *limit
    ) except? NULL:
        """Read a value that names its type: an object of one member."""
        cdef Value *value = &self.record.values[slot]
        cdef TypeRow *row
        cdef const uint8_t *start
        cdef const uint8_t *end
        cdef Py_ssize_t length, place
        cdef uint8_t *data
        cdef bint flag
        at = blanks(at + 1, stop)
        if at == stop or at[0] != c'"':
            return NULL
        start = at + 1
        end = string_end(start, stop, limit, &flag)
        if end == NULL:
            return NULL
        row = type_named(start, end - start)
        if row == NULL:
            return NULL
        at = colon_end(end + 1, stop)
        if at == NULL:
            return NULL
        if row.mqtype == MQTYPE_STRING and at[0] == c'"':
            at = self.load_string(slot, at, stop, limit)
        elif (row.mqtype == MQTYPE_BOOLEAN and (at[0] == c"t" or at[0] == c"f")) or (
            row.mqtype == MQTYPE_NULL and at[0] == c"n"
        ):
            at = self.load(slot, at, stop, limit)
        elif row.mqtype == MQTYPE_BYTE_STRING and at[0] == c'"':
            start = at + 1
            end = string_end(start, stop, limit, &flag)
            if end == NULL or (end - start) & 1:
                return NULL
            length = (end - start) // 2
            made = PyBytes_FromStringAndSize(NULL, length)
            data = <uint8_t *> PyBytes_AS_STRING(made)
            for place in range(length):
                if (HEX[start[2 * place]] | HEX[start[2 * place + 1]]) > 15:
                    return NULL
                data[place] = HEX[start[2 * place]] << 4 | HEX[start[2 * place + 1]]
            bytes_keep(value, &self.record.owners[slot], made)
            at = end + 1
        elif MQTYPE_INT8 <= row.mqtype <= MQTYPE_FLOAT64:
            start = at
            at = number_end(at, stop, &flag)
            if at == NULL or at == stop:
                return NULL
            if row.mqtype <= MQTYPE_INT64:
                value_integer(value, INT64 if row.mqtype == MQTYPE_INT64 else INT32, row.mqtype, 0)
                if not flag or not whole_read(start, at, &value.it.i) or not row.low <= value.it.i <= row.high:
                    return NULL
            else:
                # A whole number has no negative zero.
                if not flag:
                    value.it.d = float_read(start, at)
                elif whole_read(start, at, &value.it.i):
                    value.it.d = <double> value.it.i
                else:
                    return NULL
                if row.mqtype == MQTYPE_FLOAT32:
                    value_float(value, FLOAT32, MQTYPE_FLOAT32, <float> value.it.d)
                else:
                    value_float(value, FLOAT64, MQTYPE_FLOAT64, value.it.d)
        else:
            return NULL
        if at == NULL:
            return NULL
        at = blanks(at, stop)
        return at + 1 if at < stop and at[0] == c"}" else NULL

    cdef Py_ssize_t unescape(self, const uint8_t *at, const uint8_t *stop) except -2:
        """Write the text of a valid string without its escapes to the scratch. Returns its length; -1: no UTF-8."""
        cdef uint8_t *to
        cdef void *grown
        cdef uint32_t point, low
        if self.room < stop - at:
            grown = realloc(self.scratch, stop - at)
            if grown == NULL:
                raise MemoryError
            self.scratch = <uint8_t *> grown
            self.room = stop - at
        to = self.scratch
        while at < stop:
            if at[0] != c"\\":
                to[0] = at[0]
                to += 1
                at += 1
            elif at[1] != c"u":
                to[0] = ESCAPED[at[1]]
                to += 1
                at += 2
            else:
                point = four_digits(at + 2)
                at += 6
                if 0xD800 <= point < 0xE000:
                    if point >= 0xDC00 or stop - at < 6 or at[0] != c"\\" or at[1] != c"u":
                        return -1
                    low = four_digits(at + 2)
                    if not 0xDC00 <= low < 0xE000:
                        return -1
                    point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00)
                    at += 6
                to += utf8_put(to, point)
        return to - self.scratch


cdef class WholeJSONDecoder(Decoder):
    """Reads all that JSON lines have: for properties whose names count without regard to case."""

    def __reduce__(self):
        return WholeJSONDecoder, (self.names,)

    def __call__(self, line):
        return _jsonl.message_from_json(line)


cdef inline uint32_t four_digits(const uint8_t *at) noexcept:
    return <uint32_t> HEX[at[0]] << 12 | <uint32_t> HEX[at[1]] << 8 | <uint32_t> HEX[at[2]] << 4 | HEX[at[3]]


# ---- the names of a line -----------------------------------------------------------------------------------------

cdef PyObject *KNOWN_NAMES[KNOWN]     # owned; all ASCII; NULL in an empty place


cdef object name_of(const uint8_t *text, Py_ssize_t length, uint32_t number):
    """Return a key as a string, mostly the one that an earlier line had."""
    cdef PyObject **place = &KNOWN_NAMES[number % KNOWN]
    cdef PyObject *old = place[0]
    if old != NULL and PyUnicode_GET_LENGTH(old) == length and memcmp(PyUnicode_DATA(old), text, length) == 0:
        return <object> old
    name = <object> PyUnicode_DecodeUTF8(<const char *> text, length, NULL)
    Py_DECREF(name)  # there is one more for it
    if PyUnicode_IS_ASCII(<PyObject *> name):
        Py_INCREF(name)
        old = place[0]
        place[0] = <PyObject *> name
        Py_XDECREF(old)
    return name


cdef tuple LAST_NAMES = ()             # of the line before: most have the same, and get this tuple again
cdef JSONDecoder TYPED = JSONDecoder(("typed",))  # its record takes the values that `typed_end` reads


cdef const uint8_t *typed_end(const uint8_t *at, const uint8_t *stop, bint *has_value) except? NULL:
    """Pass over an object or an array, which is a property if it names a type. Returns NULL where `jsonl` may know."""
    cdef const uint8_t *start = at
    cdef const uint8_t *end
    cdef bint escaped
    has_value[0] = False
    if at[0] == c"{":
        end = TYPED.load_typed(0, at, stop, stop)
        if end != NULL:
            has_value[0] = TYPED.record.values[0].tag != NULL_VALUE
            return end
    end = nested_end(at, stop, stop)
    if end == NULL or at[0] == c"[":
        return end
    at = blanks(at + 1, stop)
    if at[0] == c"}":
        return end
    at += 1
    stop = string_end(at, stop, stop, &escaped)
    if escaped or type_named(at, stop - at) != NULL:
        # The decoder leaves such as {"float64": "NaN"} to jsonl, and an object that has more members is no property.
        row = _jsonl.property_of("", PyBytes_FromStringAndSize(<const char *> start, end - start))
        has_value[0] = isinstance(row, _jsonl.Row) and row.value is not None
    return end


def property_names(bytes line not None):
    """List the names of the properties that a line has, as `inspect_json` does.

    Returns: a tuple; None where that is left to it.
    """
    global LAST_NAMES
    cdef Walk walk
    cdef const uint8_t *start
    cdef const uint8_t *stop
    cdef uint32_t[KEYS] numbers
    cdef int64_t whole
    cdef int more
    cdef bint flag
    cdef Py_ssize_t count = 0       # names so far
    cdef bint is_same = True        # they are those of the line before
    cdef tuple last = LAST_NAMES
    cdef list names = None
    cdef object name
    start = <const uint8_t *> PyBytes_AS_STRING(line)
    stop = start + PyBytes_GET_SIZE(line)
    start = blanks(start, stop)
    if start == stop or start[0] != c"{":
        return None
    walk_begin(&walk, start, stop, stop)
    while True:
        more = member_next(&walk)
        if more <= 0:
            break
        start = walk.at
        if not is_new(&walk, numbers):
            return None
        if start[0] == c"{" or start[0] == c"[":
            walk.at = typed_end(start, walk.stop, &flag)
        else:
            walk.at = scalar_end(start, walk.stop, walk.stop)
            flag = start[0] != c"n"
        if walk.at == NULL:
            return None
        if c"0" <= start[0] <= c"9" or start[0] == c"-":
            if start[0] == c"-" and start[1] == c"I":
                flag = True
            else:
                number_end(start, walk.stop, &flag)
                flag = not flag or whole_read(start, walk.at, &whole)
        if flag:
            name = name_of(walk.key, walk.key_stop - walk.key, numbers[walk.count - 1])
            if is_same and (count == len(last) or last[count] is not name):
                is_same = False
                names = list(last[:count])
            if not is_same:
                names.append(name)
            count += 1
    if more < 0 or blanks(walk.at, walk.stop) != walk.stop:
        return None
    if not is_same or count < len(last):
        names = list(last[:count]) if is_same else names
        if _jsonl.INSPECTED in names:
            return None
        LAST_NAMES = tuple(names)
    return LAST_NAMES
