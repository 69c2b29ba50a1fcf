# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Reads AMQP 1.0 messages: one pass over the sections, which makes values of what is wanted alone.

The structure of all bytes is checked, whatever is wanted: each value lies within what it stands in, and compound ones
end with their last element. No length is trusted, and every loop ends with the bytes it consumes. What is wrong is a
number and a place until the reader of the message raises it. Follows formats §11, by the tables of `amqp`.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from cpython.ref cimport Py_CLEAR
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcmp, memcpy, memset

from mqsel.formats._decoder cimport FILLED, Decoder, bytes_keep, string_keep
from mqsel.formats._tables cimport UNFILLED
from mqsel.formats._words cimport text_hash
from mqsel.machine._values cimport (
    BOOLEAN, FLOAT32, FLOAT64, INT32, INT64, MQTYPE_BOOLEAN, MQTYPE_FLOAT32, MQTYPE_FLOAT64, MQTYPE_INT32, MQTYPE_INT64,
    MQTYPE_STRING, STRING, Value, value_float, value_integer, value_load, value_null, value_own, value_python, zeroed
)

from uuid import UUID

from mqsel.formats import amqp as _amqp
from mqsel.formats.inspection import Inspection, Row
from mqsel.formats.mqrfh2 import Note
from mqsel.values import CLASS_NAMES as _CLASS_NAMES
from mqsel.values import TYPE_NAMES as _TYPES

cdef str _APPLICATION = "application-properties"

cdef extern from "Python.h":
    PyObject *PyUnicode_DecodeUTF8(const char *data, Py_ssize_t size, const char *errors)
    PyObject *PyUnicode_DecodeASCII(const char *data, Py_ssize_t size, const char *errors)
    PyObject *PyUnicode_FromOrdinal(int point) except NULL
    int PyErr_ExceptionMatches(object kind)
    void PyErr_Clear()

# The rows of amqp.ERRORS, by number.
cdef enum Trouble:
    NO_TROUBLE
    CUT
    NO_CODE
    MISCOUNTED
    ODD_MAP
    TOO_DEEP
    NO_SECTION
    NO_DESCRIPTOR
    DISORDER
    OTHER_SHAPE
    OTHER_KIND
    TOO_GREAT
    EMPTY

# The rows of amqp.NOTES, by number.
cdef enum AMQPNote:
    NO_NOTE
    NOTE_NESTED
    NOTE_ENCODING
    NOTE_MALFORMED
    NOTE_ULONG
    NOTE_KEY
    NOTE_DUPLICATE
    NOTE_HEADER

# The rows of amqp.CONVERSIONS, by number.
cdef enum AMQPConversion:
    AS_TYPED
    TO_DELIVERY_MODE
    TO_DURABILITY
    TO_PRIORITY
    TO_INT32
    PLUS_ONE
    IS_POSITIVE
    TO_TEXT
    TO_MESSAGE_ID
    TO_CORRELATION_ID
    TO_PREFIXED_ID
    LIFETIME

cdef enum Shape:
    SHAPE_LIST
    SHAPE_MAP
    SHAPE_DATA
    SHAPE_SEQUENCE
    SHAPE_VALUE

# Codes of types that have a rule of their own.
cdef enum:
    DESCRIBED = 0x00
    CODE_NULL = 0x40, CODE_TRUE, CODE_FALSE, CODE_UINT0, CODE_ULONG0, CODE_LIST0
    CODE_BYTE = 0x51, CODE_SMALL_UINT, CODE_SMALL_ULONG, CODE_SMALL_INT, CODE_SMALL_LONG, CODE_BOOLEAN
    CODE_USHORT = 0x60, CODE_SHORT
    CODE_UINT = 0x70, CODE_INT, CODE_FLOAT, CODE_CHAR
    CODE_ULONG = 0x80, CODE_LONG, CODE_DOUBLE, CODE_TIMESTAMP
    CODE_UUID = 0x98
    CODE_BINARY8 = 0xA0, CODE_SYMBOL8 = 0xA3
    CODE_BINARY32 = 0xB0, CODE_SYMBOL32 = 0xB3
    CODE_LIST8 = 0xC0, CODE_MAP8
    CODE_LIST32 = 0xD0, CODE_MAP32

# The sections that are read, by their places in amqp.SECTIONS.
cdef enum:
    HEADER = 0
    ANNOTATIONS = 2
    PROPERTIES = 3
    APPLICATION = 4
    FIRST_BODY = 5
    LAST_BODY = 7
    SECTION_COUNT = 9
    FIELD_COUNT = 13        # of the longest list
    NOWHERE = -1            # no section yet

# What stands behind the code of a type: so many bytes, or as follows.
cdef enum:
    VARIABLE8 = -1          # a length of one byte, and so many bytes
    VARIABLE32 = -2         # of four bytes
    COMPOUND8 = -3          # a size and a count of one byte each, and the elements
    COMPOUND32 = -4
    ARRAY8 = -5             # the same, and the code of all elements before them
    ARRAY32 = -6
    UNKNOWN_CODE = -7

cdef int MAX_DEPTH = _amqp.MAX_DEPTH
cdef int[256] WIDTHS
cdef uint32_t[256] KINDS    # a bit for each of amqp.KINDS
cdef int[256] MQTYPES       # what a value of the code becomes
cdef uint32_t IS_NULL = 1 << list(_amqp.KINDS).index("null")
cdef uint32_t IS_TEXT = 1 << list(_amqp.KINDS).index("text")
cdef uint32_t IS_NESTED = 1 << list(_amqp.KINDS).index("nested")

cdef int[SECTION_COUNT] SHAPES
cdef uint32_t[SECTION_COUNT][FIELD_COUNT] FIELD_KINDS
cdef int[SECTION_COUNT] FIELD_COUNTS
cdef int CREATION_TIME = _amqp.SECTIONS[PROPERTIES].fields.index("creation-time")
cdef dict SYMBOLS = {_row.symbol.encode(): _place for _place, _row in enumerate(_amqp.SECTIONS)}
cdef list DELIVERY_MODES = list(_amqp.DELIVERY_MODES)
cdef list DURABILITIES = list(_amqp.DURABILITIES)


cdef int tables_build() except -1:
    cdef int place, code, index
    fixed = {0x4: 0, 0x5: 1, 0x6: 2, 0x7: 4, 0x8: 8, 0x9: 16}
    sized = {0xA: VARIABLE8, 0xB: VARIABLE32, 0xC: COMPOUND8, 0xD: COMPOUND32, 0xE: ARRAY8, 0xF: ARRAY32}
    for code in range(256):
        WIDTHS[code] = UNKNOWN_CODE
    for place, codes in enumerate(_amqp.KINDS.values()):
        for code, kind in codes.items():
            WIDTHS[code] = {**fixed, **sized}.get(code >> 4, UNKNOWN_CODE)  # 0x00 is known to who reads it
            KINDS[code] = 1 << place
            MQTYPES[code] = 0 if kind is None else int(_TYPES[kind])
    shapes = ("list", "map", "data", "sequence", "value")
    for place, row in enumerate(_amqp.SECTIONS):
        SHAPES[place] = shapes.index(row.shape)
        FIELD_COUNTS[place] = len(row.fields)
        for index, field in enumerate(row.fields):
            for name in ("null", *_amqp.FIELD_KINDS[field]):
                FIELD_KINDS[place][index] |= 1 << list(_amqp.KINDS).index(name)
    return 0


tables_build()

# A slot that takes the value of a field, or of an entry of a map.
cdef struct AMQPTarget:
    const uint8_t *key      # of a map; in `keys`
    Py_ssize_t length
    int section
    int slot
    int rank                # the least wins
    int conversion
    bint is_sole            # the slot has no other place, and no default: NULL there is its value
    int next                # that the same place fills, or -1


# ---- numbers -----------------------------------------------------------------------------------------------------

cdef inline uint16_t read_u16(const uint8_t *at) noexcept:
    return <uint16_t> (at[0] << 8 | at[1])


cdef inline uint32_t read_u32(const uint8_t *at) noexcept:
    return <uint32_t> at[0] << 24 | <uint32_t> at[1] << 16 | <uint32_t> at[2] << 8 | at[3]


cdef inline uint64_t read_u64(const uint8_t *at) noexcept:
    return <uint64_t> read_u32(at) << 32 | read_u32(at + 4)


cdef uint64_t unsigned_read(const uint8_t *at) noexcept:
    """Read an unsigned number, or a boolean, at its code."""
    if at[0] == CODE_UINT0 or at[0] == CODE_ULONG0 or at[0] == CODE_FALSE:
        return 0
    if at[0] == CODE_TRUE:
        return 1
    if at[0] == CODE_USHORT:
        return read_u16(at + 1)
    if at[0] == CODE_UINT:
        return read_u32(at + 1)
    if at[0] == CODE_ULONG:
        return read_u64(at + 1)
    return at[1]


cdef inline Py_ssize_t text_start(const uint8_t *at) noexcept:
    """Return how far behind the code of a text or of bytes these begin."""
    return 2 if WIDTHS[at[0]] == VARIABLE8 else 5


cdef int text_read(Value *value, PyObject **owner, const uint8_t *text, Py_ssize_t size, bint symbol) except -1:
    """Read a string. Returns 0 or the number of a note."""
    cdef PyObject *item
    if symbol:
        item = PyUnicode_DecodeASCII(<const char *> text, size, NULL)
    else:
        item = PyUnicode_DecodeUTF8(<const char *> text, size, NULL)
    if item == NULL:
        if not PyErr_ExceptionMatches(UnicodeDecodeError):
            raise MemoryError
        PyErr_Clear()
        return NOTE_ENCODING
    value_own(value, owner, STRING, MQTYPE_STRING, item)
    return 0


cdef int value_read(Value *value, PyObject **owner, const uint8_t *at, const uint8_t *end) except -1:
    """Read a value, from its code, by `amqp.KINDS`. Returns 0 or the number of a note."""
    cdef uint8_t code = at[0]
    cdef int mqtype = MQTYPES[code]
    cdef int64_t number
    cdef uint64_t bits
    cdef uint32_t point
    cdef double wide
    cdef float narrow
    cdef Py_ssize_t start
    if KINDS[code] & IS_TEXT:
        start = text_start(at)
        return text_read(value, owner, at + start, end - at - start, code == CODE_SYMBOL8 or code == CODE_SYMBOL32)
    if KINDS[code] & IS_NESTED:
        return NOTE_NESTED
    if code == CODE_NULL:
        value_null(value)
    elif code == CODE_BOOLEAN or code == CODE_TRUE or code == CODE_FALSE:
        if code == CODE_BOOLEAN and at[1] > 1:
            return NOTE_MALFORMED
        value_integer(value, BOOLEAN, MQTYPE_BOOLEAN, <int64_t> unsigned_read(at))
    elif code == CODE_FLOAT:
        point = read_u32(at + 1)
        memcpy(&narrow, &point, 4)
        value_float(value, FLOAT32, MQTYPE_FLOAT32, narrow)
    elif code == CODE_DOUBLE:
        bits = read_u64(at + 1)
        memcpy(&wide, &bits, 8)
        value_float(value, FLOAT64, MQTYPE_FLOAT64, wide)
    elif mqtype == MQTYPE_FLOAT64:
        value_float(value, FLOAT64, MQTYPE_FLOAT64, _amqp.decimal(at[1:end - at]))
    elif code == CODE_CHAR:
        point = read_u32(at + 1)
        if point > 0x10FFFF or 0xD800 <= point < 0xE000:
            return NOTE_MALFORMED
        value_own(value, owner, STRING, MQTYPE_STRING, PyUnicode_FromOrdinal(point))
    elif code == CODE_UUID:
        bytes_keep(value, owner, PyBytes_FromStringAndSize(<const char *> at + 1, 16))
    elif code == CODE_BINARY8 or code == CODE_BINARY32:
        start = text_start(at)
        bytes_keep(value, owner, PyBytes_FromStringAndSize(<const char *> at + start, end - at - start))
    else:
        if code == CODE_INT:
            number = <int32_t> read_u32(at + 1)
        elif code == CODE_LONG or code == CODE_TIMESTAMP:
            number = <int64_t> read_u64(at + 1)
        elif code == CODE_SHORT:
            number = <int16_t> read_u16(at + 1)
        elif code == CODE_SMALL_INT or code == CODE_SMALL_LONG or code == CODE_BYTE:
            number = <signed char> at[1]
        else:
            bits = unsigned_read(at)
            if bits >> 63:
                return NOTE_ULONG
            number = <int64_t> bits
        value_integer(value, INT64 if mqtype == MQTYPE_INT64 else INT32, mqtype, number)
    return 0


# ---- the decoder -------------------------------------------------------------------------------------------------

@cython.final
@cython.no_gc_clear  # the record is read in place, and the targets point into the keys
cdef class AMQPDecoder(Decoder):
    """Reads AMQP 1.0 messages for the properties of a selector.

    Not for two threads at a time. Called with a message it returns its `record`, filled anew.

    Args:
        names: of the properties, in the order of the slots.
        naming: the ``naming`` of the selector, which decides what are headers; None for those of all products.
    """

    cdef readonly object naming
    cdef list keys                          # those of the maps, which the targets point into
    cdef AMQPTarget *targets
    cdef int[SECTION_COUNT][FIELD_COUNT] fields     # the first target of each, or -1
    cdef int *table                         # the first target of a key, by hash, or -1
    cdef uint32_t mask                      # of a hash; the size of the table less one
    cdef bint[SECTION_COUNT] wanted         # some target is in the map
    cdef Value *defaults
    cdef list texts                         # those among the defaults, each with its slot
    cdef list lifetimes                     # slots that may be creation-time and a ttl
    cdef unsigned char *ranks               # of each slot the rank that filled it
    cdef Py_ssize_t *offsets                # of each slot where its value stands; of a ulong beyond int64 inverted
    # Of the message that is read:
    cdef const uint8_t *data
    cdef const uint8_t *start               # of its section
    cdef int section
    cdef int trouble
    cdef const uint8_t *fault               # where the trouble shows
    cdef uint64_t detail
    cdef uint64_t ttl
    cdef int64_t creation_time
    cdef bint is_created                    # it has a creation-time
    cdef bint noting                        # something that is wanted was skipped
    cdef bint is_beyond                     # some slot may have a ulong that no property holds
    # For `inspect`:
    cdef dict found                         # rows by name, or None
    cdef list notes
    cdef list structures

    def __cinit__(self, names, *, naming=None):
        cdef int slot, rank, number, section, index
        cdef uint32_t size = 8
        cdef uint32_t place
        cdef AMQPTarget *target
        cdef PyObject *unowned = NULL
        self.busy = True  # as in the base
        self.naming = naming
        sources = [_amqp.source(name, naming) for name in self.names]
        self.defaults = <Value *> zeroed(len(sources), sizeof(Value))
        self.ranks = <unsigned char *> zeroed(len(sources), 1)
        self.offsets = <Py_ssize_t *> zeroed(len(sources), sizeof(Py_ssize_t))
        self.texts, self.lifetimes, self.keys = [], [], []
        for slot, source in enumerate(sources):
            value_null(&self.defaults[slot])
            if type(source.default) is str:
                self.texts.append((slot, source.default))
            elif source.default is not None:
                value_load(&self.defaults[slot], &unowned, self.names[slot], source.default)
        places = [(slot, rank, where, source) for slot, source in enumerate(sources)
                  for rank, where in enumerate(source.places)]
        while size < 2 * len(places):
            size *= 2
        self.mask = size - 1
        self.table = <int *> zeroed(size, sizeof(int))
        memset(self.table, 0xFF, size * sizeof(int))
        memset(self.fields, 0xFF, sizeof(self.fields))
        self.targets = <AMQPTarget *> zeroed(len(places), sizeof(AMQPTarget))
        by_name = {row.name: number for number, row in enumerate(_amqp.SECTIONS)}
        for number, (slot, rank, where, source) in enumerate(places):
            section = by_name[where.section]
            target = &self.targets[number]
            target.slot, target.rank, target.section = slot, rank, section
            target.conversion = _amqp.CONVERSIONS.index(where.conversion)
            target.is_sole = len(source.places) == 1 and source.default is None
            if target.conversion == LIFETIME:
                self.lifetimes.append(slot)
            if SHAPES[section] == SHAPE_LIST:
                index = _amqp.SECTIONS[section].fields.index(where.field)
                target.next = self.fields[section][index]
                self.fields[section][index] = number
                continue
            # Half of a pair of surrogates in a name is found by none.
            key = where.field.encode("utf-8", "surrogatepass")
            self.keys.append(key)
            self.wanted[section] = True
            target.key = <const uint8_t *> PyBytes_AS_STRING(key)
            target.length = len(key)
            target.next = self.find(section, target.key, target.length, &place)
            self.table[place] = number
        self.busy = False

    def __dealloc__(self):
        free(self.targets)
        free(self.table)
        free(self.defaults)
        free(self.ranks)
        free(self.offsets)

    def __reduce__(self):
        return _made, (self.names, self.naming)

    def __call__(self, raw):
        """Read one message.

        Raises: DecodeError, PropertyTypeError.
        """
        cdef bytes message
        self.enter()
        try:
            message = self.hold(raw)
            self.walk(<const uint8_t *> PyBytes_AS_STRING(message), PyBytes_GET_SIZE(message))
            return self.record
        finally:
            self.busy = False

    cdef int read(self, const uint8_t *at, const uint8_t *stop, const uint8_t *_) except -1:
        self.walk(at, stop - at)
        return FILLED

    def inspect(self, raw):
        """Return the `Inspection` of a message, for a decoder of the names `amqp.INSPECTED`.

        Raises: DecodeError, PropertyTypeError.
        """
        cdef int slot
        cdef bytes message
        self.enter()
        try:
            self.found, self.notes, self.structures = {}, [], []
            message = self.hold(raw)
            self.walk(<const uint8_t *> PyBytes_AS_STRING(message), PyBytes_GET_SIZE(message))
            entries, headers = self.found, []
            for slot, name in enumerate(self.names):
                value = value_python(&self.record.values[slot])
                if name in entries:
                    row = entries.pop(name)
                    self.notes.append(_note(NOTE_HEADER, row.source, row.offset, name))
                if value is None or (self.ranks[slot] == UNFILLED and name.startswith(_amqp.FIELD)):
                    continue
                origin, offset = "default", -1
                if self.ranks[slot] != UNFILLED:
                    used = _amqp.source(name, self.naming).places[self.ranks[slot]]
                    origin, offset = used.section, self.offsets[slot]
                    if not name.startswith(_amqp.FIELD):
                        origin, offset = _amqp.name_of(used), -1
                headers.append(Row(name, _CLASS_NAMES[type(value)], value, origin, offset))
            return Inspection(
                [*entries.values(), *headers], tuple(self.notes), tuple(self.structures)
            )
        finally:
            self.found = self.notes = self.structures = None
            self.busy = False

    # ---- sections

    cdef int walk(self, const uint8_t *data, Py_ssize_t size) except -1:
        cdef const uint8_t *at = data
        cdef const uint8_t *stop = data + size
        cdef Py_ssize_t count = self.record.count
        cdef int before = NOWHERE
        cdef int number
        cdef int slot
        memcpy(self.record.values, self.defaults, count * sizeof(Value))
        memset(self.ranks, UNFILLED, count)
        for slot, text in self.texts:
            string_keep(&self.record.values[slot], &self.record.owners[slot], text)
        self.data = self.start = data
        self.section = NOWHERE
        self.trouble = 0
        self.noting = self.is_created = self.is_beyond = False
        self.ttl = 0
        if size == 0:
            self.wrong(EMPTY, at, 0)
        while at < stop:
            self.start = at
            self.section = NOWHERE
            at = self.descriptor_read(at, stop, &number)
            if at == NULL:
                break
            if number <= before and not (number == before and FIRST_BODY <= number < LAST_BODY) or (
                FIRST_BODY <= before < number <= LAST_BODY
            ):
                self.wrong(DISORDER, at, before << 4 | number)
                break
            self.section = before = number
            at = self.section_read(number, at, stop)
            if at == NULL:
                break
            if self.structures is not None:
                self.structures.append((_amqp.SECTIONS[number].name, self.start - data, at - self.start))
        if self.trouble:
            raise _amqp.failure(
                self.trouble,
                "message" if self.section == NOWHERE else _amqp.SECTIONS[self.section].name,
                self.start - data,
                self.fault - data,
                self.detail,
            )
        if self.is_beyond:
            for slot in range(<int> count):
                if self.ranks[slot] != UNFILLED and self.offsets[slot] < 0:
                    at = data + ~self.offsets[slot]
                    section = _amqp.source(self.names[slot], self.naming).places[self.ranks[slot]].section
                    raise _amqp.failure(TOO_GREAT, section, at - data, at - data, unsigned_read(at))
        for slot in self.lifetimes:
            if self.ranks[slot] == UNFILLED and self.ttl:
                value_null(&self.record.values[slot])
                if self.is_created:
                    value_integer(
                        &self.record.values[slot], INT64, MQTYPE_INT64,
                        <int64_t> (<uint64_t> self.creation_time + self.ttl),
                    )
                    self.ranks[slot] = 1
        self.noted += self.noting
        return 0

    cdef const uint8_t *wrong(self, int trouble, const uint8_t *at, uint64_t detail) noexcept:
        """Remember what is wrong. Returns NULL."""
        self.trouble = trouble
        self.fault = at
        self.detail = detail
        return NULL

    cdef const uint8_t *descriptor_read(self, const uint8_t *at, const uint8_t *stop, int *section) except? NULL:
        """Find which section begins. Returns where its value does."""
        cdef const uint8_t *code = at + 1
        cdef const uint8_t *end
        cdef uint64_t number = 0
        if at[0] != DESCRIBED:
            return self.wrong(NO_SECTION, at, at[0])
        end = self.value_pass(code, stop, 1)
        if end == NULL:
            return NULL
        section[0] = NOWHERE
        if code[0] == CODE_SMALL_ULONG or code[0] == CODE_ULONG:
            number = unsigned_read(code) - 0x70
            if number < SECTION_COUNT:
                section[0] = <int> number
        elif code[0] == CODE_SYMBOL8 or code[0] == CODE_SYMBOL32:
            place = SYMBOLS.get(code[text_start(code):end - code])
            if place is not None:
                section[0] = place
        if section[0] == NOWHERE:
            return self.wrong(NO_DESCRIPTOR, code, 0)
        if end == stop:
            return self.wrong(CUT, end, 1)
        return end

    cdef const uint8_t *section_read(self, int section, const uint8_t *at, const uint8_t *stop) except? NULL:
        cdef uint8_t code = at[0]
        cdef int shape = SHAPES[section]
        if shape == SHAPE_LIST:
            return self.list_read(section, at, stop)
        if shape == SHAPE_MAP:
            if self.wanted[section] or (self.found is not None and (section == ANNOTATIONS or section == APPLICATION)):
                return self.map_read(section, at, stop)
            if code != CODE_MAP8 and code != CODE_MAP32 and code != CODE_NULL:
                return self.wrong(OTHER_SHAPE, at, code)
        elif shape == SHAPE_DATA:
            if code != CODE_BINARY8 and code != CODE_BINARY32:
                return self.wrong(OTHER_SHAPE, at, code)
        elif shape == SHAPE_SEQUENCE:
            if code != CODE_LIST8 and code != CODE_LIST32 and code != CODE_LIST0:
                return self.wrong(OTHER_SHAPE, at, code)
        return self.value_pass(at, stop, 0)

    cdef const uint8_t *sized_begin(
        self, const uint8_t *at, const uint8_t *body, const uint8_t *stop, Py_ssize_t wide, uint32_t *count,
        const uint8_t **end
    ) noexcept:
        """Read the size and the count of a compound value, *wide* bytes each. Returns where its elements begin.

        Args:
            at, body: where the value begins, and its size.
            end: where it ends.
        """
        cdef Py_ssize_t size
        if stop - body < 2 * wide:
            return self.wrong(CUT, at, 2 * wide - (stop - body))
        if wide == 1:
            size = body[0]
            count[0] = body[1]
        else:
            size = read_u32(body)
            count[0] = read_u32(body + 4)
        body += wide
        if size > stop - body:
            return self.wrong(CUT, at, size - (stop - body))
        if size < wide:
            return self.wrong(MISCOUNTED, at, count[0])
        end[0] = body + size
        return body + wide

    cdef const uint8_t *list_read(self, int section, const uint8_t *at, const uint8_t *stop) except? NULL:
        """Read the fields of a section. Returns where it ends."""
        cdef const uint8_t *origin = at
        cdef const uint8_t *end
        cdef const uint8_t *next_one
        cdef uint32_t count, index
        cdef int number
        if at[0] == CODE_LIST0:
            return at + 1
        if at[0] != CODE_LIST8 and at[0] != CODE_LIST32:
            return self.wrong(OTHER_SHAPE, at, at[0])
        at = self.sized_begin(at, at + 1, stop, 1 if WIDTHS[at[0]] == COMPOUND8 else 4, &count, &end)
        if at == NULL:
            return NULL
        for index in range(count):
            if at == end:
                return self.wrong(MISCOUNTED, origin, count)
            next_one = self.value_end(at, end)
            if next_one == NULL:
                return NULL
            if index < <uint32_t> FIELD_COUNTS[section]:
                if not KINDS[at[0]] & FIELD_KINDS[section][index]:
                    return self.wrong(OTHER_KIND, at, at[0])
                if at[0] != CODE_NULL:
                    if section == PROPERTIES and index == <uint32_t> CREATION_TIME:
                        self.is_created = True
                        self.creation_time = <int64_t> read_u64(at + 1)
                    number = self.fields[section][index]
                    while number >= 0:
                        self.take(&self.targets[number], at, next_one)
                        number = self.targets[number].next
            at = next_one
        return at if at == end else self.wrong(MISCOUNTED, origin, count)

    cdef const uint8_t *map_read(self, int section, const uint8_t *at, const uint8_t *stop) except? NULL:
        """Read the entries of a section that are wanted. Returns where it ends."""
        cdef const uint8_t *origin = at
        cdef const uint8_t *end
        cdef const uint8_t *key
        cdef const uint8_t *value
        cdef uint32_t count, place, _entry
        cdef Py_ssize_t start
        cdef AMQPTarget *target
        cdef int number
        if at[0] == CODE_NULL:
            return at + 1
        if at[0] != CODE_MAP8 and at[0] != CODE_MAP32:
            return self.wrong(OTHER_SHAPE, at, at[0])
        at = self.sized_begin(at, at + 1, stop, 1 if WIDTHS[at[0]] == COMPOUND8 else 4, &count, &end)
        if at == NULL:
            return NULL
        if count & 1:
            return self.wrong(ODD_MAP, origin, count)
        for _entry in range(count // 2):
            key = at
            if at == end:
                return self.wrong(MISCOUNTED, origin, count)
            value = self.value_end(at, end)
            if value == NULL:
                return NULL
            if value == end:
                return self.wrong(MISCOUNTED, origin, count)
            at = self.value_end(value, end)
            if at == NULL:
                return NULL
            if self.found is not None:
                self.entry_list(section, key, value, at)
            if not KINDS[key[0]] & IS_TEXT:
                continue
            start = text_start(key)
            number = self.find(section, key + start, value - key - start, &place)
            while number >= 0:
                target = &self.targets[number]
                if value[0] == CODE_NULL and not target.is_sole:  # as if it were not there
                    self.record.values[target.slot] = self.defaults[target.slot]
                    self.ranks[target.slot] = UNFILLED
                else:
                    self.take(target, value, at)
                number = target.next
        return at if at == end else self.wrong(MISCOUNTED, origin, count)

    cdef inline int find(self, int section, const uint8_t *key, Py_ssize_t length, uint32_t *place) noexcept:
        """Return the first target of a key, or -1; and its place in the table."""
        cdef AMQPTarget *target
        place[0] = text_hash(key, length) & self.mask
        while self.table[place[0]] >= 0:
            target = &self.targets[self.table[place[0]]]
            if target.length == length and target.section == section and memcmp(target.key, key, length) == 0:
                break
            place[0] = (place[0] + 1) & self.mask
        return self.table[place[0]]

    # ---- values

    cdef int take(self, AMQPTarget *target, const uint8_t *at, const uint8_t *end) except -1:
        """Fill a slot, unless a place before has."""
        cdef int slot = target.slot
        cdef int note
        if target.rank > self.ranks[slot]:
            return 0
        if target.conversion == LIFETIME:
            self.ttl = unsigned_read(at)
            return 0
        self.ranks[slot] = target.rank
        self.offsets[slot] = at - self.data
        note = self.convert(&self.record.values[slot], &self.record.owners[slot], target.conversion, at, end)
        if note:
            value_null(&self.record.values[slot])
            if self.found is not None:
                if SHAPES[target.section] == SHAPE_LIST and self.names[slot].startswith(_amqp.FIELD):
                    self.note(note, at, self.names[slot])
            elif note == NOTE_ULONG:
                self.offsets[slot] = ~self.offsets[slot]
                self.is_beyond = True
            self.noting = True
        return 0

    cdef int convert(
        self, Value *value, PyObject **owner, int conversion, const uint8_t *at, const uint8_t *end
    ) except -1:
        """Read a value as a property wants it. Returns 0 or the number of a note."""
        cdef uint64_t number
        cdef Py_ssize_t start
        if conversion == AS_TYPED:
            return value_read(value, owner, at, end)
        if conversion >= TO_MESSAGE_ID:
            return self.identifier_read(value, owner, conversion, at, end)
        if conversion == TO_TEXT:
            start = text_start(at)
            return text_read(value, owner, at + start, end - at - start, False)
        number = unsigned_read(at)
        if conversion == TO_DELIVERY_MODE or conversion == TO_DURABILITY:
            if number > 1:
                return NOTE_MALFORMED
            return string_keep(
                value, owner, (DELIVERY_MODES if conversion == TO_DELIVERY_MODE else DURABILITIES)[number]
            )
        if conversion == IS_POSITIVE:
            value_integer(value, BOOLEAN, MQTYPE_BOOLEAN, <int32_t> <uint32_t> number > 0)
            return 0
        if conversion == TO_PRIORITY:
            number = min(number, 9)
        elif conversion == PLUS_ONE:
            number += 1
        value_integer(value, INT32, MQTYPE_INT32, <int32_t> <uint32_t> number)
        return 0

    cdef int identifier_read(
        self, Value *value, PyObject **owner, int conversion, const uint8_t *at, const uint8_t *end
    ) except -1:
        """Read a message-id or correlation-id as a text. Returns 0 or the number of a note."""
        cdef Py_ssize_t start
        cdef int note
        if KINDS[at[0]] & IS_TEXT:
            note = value_read(value, owner, at, end)
            start = text_start(at)
            if note or (conversion == TO_CORRELATION_ID and (end - at - start < 3 or at[start] != c"I")):
                return note  # most of them
            identifier = <str> <object> value.it.o
        elif at[0] == CODE_UUID:
            identifier = UUID(bytes=at[1:17])
        elif at[0] == CODE_BINARY8 or at[0] == CODE_BINARY32:
            start = text_start(at)
            identifier = at[start:end - at]
        else:
            identifier = unsigned_read(at)
        return string_keep(value, owner, _amqp.identifier(identifier, _amqp.CONVERSIONS[conversion]))

    cdef inline const uint8_t *value_end(self, const uint8_t *at, const uint8_t *stop) noexcept:
        """Pass over a value in that of a section: those that are common need no more looks."""
        cdef int width
        if at < stop:
            width = WIDTHS[at[0]]
            if 0 <= width < stop - at:
                return at + 1 + width
            if width == VARIABLE8 and stop - at >= 2 and at[1] <= stop - at - 2:
                return at + 2 + at[1]
        return self.value_pass(at, stop, 1)

    cdef const uint8_t *value_pass(self, const uint8_t *at, const uint8_t *stop, int depth) noexcept:
        """Pass over a value that stands in *depth* others. Returns where it ends, or NULL: see `wrong`."""
        cdef const uint8_t *origin = at
        if at >= stop:
            return self.wrong(CUT, at, 1)
        if depth > MAX_DEPTH:
            return self.wrong(TOO_DEEP, at, MAX_DEPTH)
        if at[0] == DESCRIBED:
            at = self.value_pass(at + 1, stop, depth + 1)
            return at if at == NULL else self.value_pass(at, stop, depth + 1)
        return self.body_pass(at[0], origin, at + 1, stop, depth)

    cdef const uint8_t *body_pass(
        self, uint8_t code, const uint8_t *origin, const uint8_t *at, const uint8_t *stop, int depth
    ) noexcept:
        """Pass over what stands behind a code, as it does alone in an array."""
        cdef int width = WIDTHS[code]
        cdef const uint8_t *end = NULL
        cdef Py_ssize_t size
        cdef uint32_t count = 0
        cdef uint32_t _index
        if width >= 0:
            return at + width if width <= stop - at else self.wrong(CUT, origin, width - (stop - at))
        if width == UNKNOWN_CODE:
            return self.wrong(NO_CODE, origin, code)
        if width == VARIABLE8 or width == VARIABLE32:
            size = 1 if width == VARIABLE8 else 4
            if stop - at < size:
                return self.wrong(CUT, origin, size - (stop - at))
            size += at[0] if width == VARIABLE8 else read_u32(at)
            return at + size if size <= stop - at else self.wrong(CUT, origin, size - (stop - at))
        size = 1 if width == COMPOUND8 or width == ARRAY8 else 4
        at = self.sized_begin(origin, at, stop, size, &count, &end)
        if at == NULL:
            return NULL
        if width == ARRAY8 or width == ARRAY32:
            return self.array_pass(origin, at, end, count, depth)
        if (code == CODE_MAP8 or code == CODE_MAP32) and count & 1:
            return self.wrong(ODD_MAP, origin, count)
        for _index in range(count):
            if at == end:
                return self.wrong(MISCOUNTED, origin, count)
            at = self.value_pass(at, end, depth + 1)
            if at == NULL:
                return NULL
        return at if at == end else self.wrong(MISCOUNTED, origin, count)

    cdef const uint8_t *array_pass(
        self, const uint8_t *origin, const uint8_t *at, const uint8_t *end, uint32_t count, int depth
    ) noexcept:
        """Pass over the elements of an array, from the code that they have in common."""
        cdef uint32_t _index
        cdef uint8_t code
        while at < end and at[0] == DESCRIBED:
            depth += 1
            at = self.value_pass(at + 1, end, depth)
            if at == NULL:
                return NULL
        if at >= end:
            return self.wrong(CUT, at, 1)
        if depth >= MAX_DEPTH:
            return self.wrong(TOO_DEEP, at, MAX_DEPTH)
        code = at[0]
        if WIDTHS[code] == UNKNOWN_CODE:
            return self.wrong(NO_CODE, at, code)
        at += 1
        if WIDTHS[code] >= 0:
            if <uint64_t> count * <uint64_t> WIDTHS[code] != <uint64_t> (end - at):
                return self.wrong(MISCOUNTED, origin, count)
            return end
        for _index in range(count):
            if at == end:
                return self.wrong(MISCOUNTED, origin, count)
            at = self.body_pass(code, at, at, end, depth + 1)
            if at == NULL:
                return NULL
        return at if at == end else self.wrong(MISCOUNTED, origin, count)

    # ---- inspection

    cdef int note(self, int number, const uint8_t *at, object what) except -1:
        self.notes.append(_note(number, _amqp.SECTIONS[self.section].name, at - self.data, what))
        return 0

    cdef int entry_list(self, int section, const uint8_t *key, const uint8_t *at, const uint8_t *end) except -1:
        """List an entry of a map as a row, or note why it is none."""
        cdef Value value
        cdef PyObject *owner = NULL
        cdef int number
        cdef Py_ssize_t start
        if not KINDS[key[0]] & IS_TEXT:
            return self.note(NOTE_KEY, key, f"0x{key[0]:02X}")
        start = text_start(key)
        try:
            name = key[start:at - key].decode()
        except UnicodeDecodeError:
            return self.note(NOTE_KEY, key, key[start:at - key].decode("utf-8", "backslashreplace"))
        if section == ANNOTATIONS:
            name = _amqp.ANNOTATION + name
        if name in self.found:
            self.note(NOTE_DUPLICATE, key, name)
        try:
            number = value_read(&value, &owner, at, end)
            if number:
                self.found.pop(name, None)
                return self.note(number, at, name)
            item = value_python(&value)
        finally:
            Py_CLEAR(owner)
        self.found[name] = Row(name, _CLASS_NAMES[type(item)], item, _amqp.SECTIONS[section].name, key - self.data)
        return 0


@cython.final
cdef class WholeAMQPDecoder(Decoder):
    """Reads AMQP 1.0 messages for properties whose names count without regard to case.

    Called with a message it returns a mapping of the headers among *names*, and of all application properties.

    Args: as those of an `AMQPDecoder`.
    """

    cdef AMQPDecoder headers
    cdef AMQPDecoder whole
    cdef set taken          # names of headers, in lower case: no application property is these

    def __cinit__(self, names, *, naming=None):
        own = [one for one in self.names if _amqp.source(one, naming).places[0].section != _APPLICATION]
        self.headers = AMQPDecoder(own, naming=naming)
        self.whole = AMQPDecoder(())
        self.taken = {name.casefold() for name in own}

    def __reduce__(self):
        return _made_whole, (self.names, self.headers.naming)

    def __call__(self, raw):
        found = self.whole.inspect(raw)
        # What is no value is one that is NULL.
        every = [(one.what, None) for one in found.notes if one.structure == _APPLICATION]
        self.noted += bool(every)
        every += [(one.name, one.value) for one in found.rows if one.source == _APPLICATION]
        message = {name: value for name, value in every if name.casefold() not in self.taken}
        headers = self.headers(raw)
        message.update((name, headers[name]) for name in self.headers.names if headers[name] is not None)
        return message


def _note(number, section, offset, what):
    return Note(section, offset, what, None, _amqp.NOTES[number][1])


def _made(names, naming):
    return AMQPDecoder(names, naming=naming)


def _made_whole(names, naming):
    return WholeAMQPDecoder(names, naming=naming)
