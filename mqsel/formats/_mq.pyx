# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Reads IBM MQ messages: one pass over the bytes, driven by the names that are wanted.

The MQMD, the MQMDE and the chained headers are read by the tables of `mqmd`, folders by those of `mqrfh2`, JMS names
by those of `jms`. No length is trusted: every read is bounded by the message, every loop by the bytes it consumes. The
elements of a folder are gathered first and count only once the folder has proved well-formed. What is skipped is noted,
never raised; only a structure that cannot be what it says it is raises DecodeError. Follows formats §2 to §7.

Longer than 500 lines because the parts share the state of one message and are compiled into each other.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from libc.math cimport INFINITY, NAN
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memchr, memcmp, memcpy, memset

from mqsel.machine._values cimport (
    BOOLEAN, BYTES, FLOAT32, FLOAT64, INT32, INT64, MQTYPE_BOOLEAN, MQTYPE_BYTE_STRING, MQTYPE_FLOAT32, MQTYPE_FLOAT64,
    MQTYPE_INT8, MQTYPE_INT16, MQTYPE_INT32, MQTYPE_INT64, MQTYPE_NULL, MQTYPE_STRING, NULL_VALUE, STRING, Record, Value
)

from array import array

from mqsel.errors import MQRC, ArgumentError, DecodeError, PropertyTypeError, type_name
from mqsel.formats import wordings
from mqsel.formats import jms as _jms
from mqsel.formats import mqmd as _mqmd
from mqsel.formats import mqrfh2 as _mqrfh2
from mqsel.names import DESCRIPTOR, JMS_DESCRIPTOR, JMS_PREFIX, USR_FOLDER, spellings
from mqsel.names import HIDDEN as _HIDDEN
from mqsel.names import RESERVED as _RESERVED
from mqsel.names import is_identifier as _is_identifier
from mqsel.values import TYPE_NAMES as _TYPES
from mqsel.values import Float32, Int8, Int16, Int32

cdef extern from "Python.h":
    PyTypeObject PyLong_Type
    PyObject *PyUnicode_DecodeUTF8(const char *data, Py_ssize_t size, const char *errors)
    PyObject *PyDict_SetDefault(object data, object key, object value) except NULL
    PyObject *PyUnicode_DecodeLatin1(const char *data, Py_ssize_t size, const char *errors)
    object PyUnicode_DecodeCharmap(const char *data, Py_ssize_t size, object mapping, const char *errors)
    double PyOS_string_to_double(const char *text, char **end, PyObject *overflow) except? -1.0
    int PyErr_ExceptionMatches(object kind)
    void PyErr_Clear()
    PyObject *PyErr_Occurred()

cdef enum:
    DT_UNKNOWN = 1

# The rows of mqrfh2.NOTES, by number: each is pinned by a vector.
cdef enum:
    NOTE_NONE
    NOTE_FOLDER_NAME
    NOTE_FOLDER_MALFORMED
    NOTE_FOLDER_DEPTH
    NOTE_FOLDER_TOO_BIG
    NOTE_FOLDER_RESTRICTED
    NOTE_FOLDER_PLAIN
    NOTE_FOLDER_REPEATED
    NOTE_FOLDER_DOTTED
    NOTE_GROUP_NOT_ALLOWED
    NOTE_MIXED_CONTENT
    NOTE_ELEMENT_DOTTED
    NOTE_ELEMENT_NAME
    NOTE_ELEMENT_ATTRIBUTES
    NOTE_NAME_INVALID
    NOTE_NAME_TRUNCATED
    NOTE_TYPE_UNKNOWN
    NOTE_VALUE_MALFORMED
    NOTE_VALUE_ENCODING
    NOTE_VALUE_ESCAPE
    NOTE_VALUE_MARKUP
    NOTE_DUPLICATE
    NOTE_FIELD_ENCODING
    NOTE_FIELD_DATE
    NOTE_MDE_DEFAULT_ONLY
    NOTE_MDE_FOREIGN
    NOTE_MDE_VERSION
    NOTE_MDE_NOT_FIRST
    NOTE_FORMAT_UNKNOWN

# The rows of jms.CONVERSIONS, by number: each is pinned by a vector.
cdef enum:
    AS_TYPED
    TO_STRING
    TO_INT32
    TO_INT64
    TO_DELIVERY_MODE
    TO_TOPIC
    FROM_PERSISTENCE
    FROM_IDENTIFIER
    FROM_TIMESTAMP
    FROM_QUEUE
    IS_POSITIVE
    PLUS_ONE
    UNLESS_ZERO
    BITS
    HAS_BITS
    FROM_CCSID

cdef enum:
    MQLONG = 0
    MQCHAR = 1
    MQBYTE = 2
    MD_SPLIT = 324              # fields from here stand in version 2 alone
    MD_ENCODING = 24
    MD_CCSID = 28
    MD_FORMAT = 32
    MD_PRIORITY = 40            # Encoding, CodedCharSetId and Format end here
    MDE_SHIFT = 12              # how much nearer the head of the MQMDE they stand
    MDE_LATER = 32              # where in an MQMDE the fields of version 2 begin
    LATER_LENGTH = 40           # bytes of the fields of version 2
    MAX_DEPTH = 128             # of groups
    MAX_NAME = 4095             # characters
    MAX_NAME_BYTES = 4095 * 4
    NAMES_FACTOR = 16           # the names of a folder may take so many times its length
    NAMES_FLOOR = 65536         # bytes of names that are always allowed
    MAX_HITS = 4096             # elements written down at a time: a folder with more is read twice
    UNFILLED = 255
    MQCCSI_INHERIT = -2
    # The fields of whatever describes the data, numbered as if they stood behind the MQMD.
    BODY = 1000
    BODY_ENCODING = BODY
    BODY_CCSID = BODY + 4
    BODY_FORMAT = BODY + 8

# What a byte may do in a folder.
cdef enum:
    IN_NAME = 1
    ODD = 2                     # none of A-Z a-z 0-9 _ $
    DOT = 4
    COLON = 8
    NAMELESS = 64               # what begins with such a byte is no name
    NO_START = 16               # cannot begin a name
    SPACE = 32
    # Flags of an open element beside these.
    LOST = 256                  # in a group where there may be none
    INVALID = 512               # no property can be named so
    USR = 1024
    MQ_NAME = 2048              # the folder begins with mq and not with mq_usr
    RESTRICTED = 4096           # the mq folder

# What an open element was seen to have inside, or about it.
cdef enum:
    CHILDREN = 1
    MARKUP = 2                  # what is neither text nor an element
    TEXT = 4                    # where there are children: text before such markup, or that is such
    ATTRIBUTES = 8              # malformed

cdef uint8_t[256] CLASS


cdef int class_build() except -1:
    cdef int byte
    for byte in range(256):
        CLASS[byte] = IN_NAME
        if not (chr(byte).isascii() and (chr(byte).isalnum() or chr(byte) in "_$")):
            CLASS[byte] |= ODD | (NO_START if byte < 0x80 else 0)
    for byte in b" \t\r\n":
        CLASS[byte] = SPACE
    for byte in b"/><='\"&":
        CLASS[byte] = 0
    for byte in b"0123456789":
        CLASS[byte] |= NO_START
    CLASS[<uint8_t> c"."] |= DOT
    CLASS[<uint8_t> c":"] |= COLON
    return 0


class_build()

cdef uint8_t[103] HEX           # value of a hexadecimal digit, or 16
for _byte in range(103):
    HEX[_byte] = int(chr(_byte), 16) if chr(_byte) in "0123456789abcdefABCDEF" else 16

# EBCDIC to Latin-1, for what has one code in all EBCDIC: names of Formats, digits.
cdef uint8_t[256] EBCDIC_500
for _byte in range(256):
    EBCDIC_500[_byte] = ord(_mqmd.EBCDIC[500][_byte])
cdef dict EBCDIC = _mqmd.EBCDIC

# The fields of version 2 as they are where nobody set them; big-endian.
cdef uint8_t[40] DEFAULT_LATER
for _byte, _value in enumerate(bytes(24) + b"\0\0\0\1" + bytes(8) + b"\xff\xff\xff\xff"):
    DEFAULT_LATER[_byte] = _value

cdef struct HeaderRow:
    uint64_t format
    int length
    bint fixed
    bint describes
    int following

cdef HeaderRow[16] HEADERS
cdef int HEADER_COUNT = len(_mqmd.HEADERS)
_HEADER_IDS = [
    (_row.struc_id.encode("ascii"), _row.struc_id.encode("cp500")) for _row in _mqmd.HEADERS
]
for _place, _row in enumerate(_mqmd.HEADERS):
    HEADERS[_place].format = int.from_bytes(_row.format.encode("ascii"), "big")
    HEADERS[_place].length = _row.length
    HEADERS[_place].fixed = _row.fixed
    HEADERS[_place].describes = _row.describes
    HEADERS[_place].following = _row.following

cdef uint64_t FORMAT_RFH2 = int.from_bytes(_mqmd.MQFMT_RF_HEADER_2.encode("ascii"), "big")
cdef uint64_t FORMAT_MDE = int.from_bytes(_mqmd.MQFMT_MD_EXTENSION.encode("ascii"), "big")
cdef uint64_t FORMAT_MQH = int.from_bytes(b"MQH", "big")

cdef list SMALL = [Int32(number) for number in range(-1, 1024)]
cdef object PERSISTENT = "PERSISTENT"
cdef object NON_PERSISTENT = "NON_PERSISTENT"

# Fields of the MQMD that are properties: (property, offset, length, kind, name).
_KINDS = {"MQLONG": MQLONG, "MQCHAR": MQCHAR, "MQBYTE": MQBYTE}
_FIELDS = {
    field.name: (field.offset, field.length, _KINDS[field.kind])
    for field in _mqmd.MQMD
    if field.name not in _HIDDEN
}
cdef FieldTarget[32] LISTED
cdef list LISTED_NAMES = [DESCRIPTOR + name for name in _FIELDS]
for _place, (_offset, _length, _kind) in enumerate(_FIELDS.values()):
    LISTED[_place].offset = _offset
    LISTED[_place].length = _length
    LISTED[_place].kind = _kind
    LISTED[_place].conversion = AS_TYPED
_IDENTIFIERS = ("MsgId", "CorrelId")
cdef uint8_t[64] BLANK
memset(BLANK, c" ", 64)
cdef list BLANKS = [" " * _length for _length in range(64)]
cdef list LISTED_ALIASES = [JMS_DESCRIPTOR + name for name in _FIELDS]
cdef dict LISTED_BLANK = dict.fromkeys([*LISTED_NAMES, *LISTED_ALIASES])
_BODY = {
    "body/Encoding": (BODY_ENCODING, 4, MQLONG),
    "body/CodedCharSetId": (BODY_CCSID, 4, MQLONG),
    "body/Format": (BODY_FORMAT, 8, MQCHAR),
}


# ---- numbers -----------------------------------------------------------------------------------------------------

cdef inline uint32_t read_u32(const uint8_t *at, bint big) noexcept:
    if big:
        return <uint32_t> at[0] << 24 | <uint32_t> at[1] << 16 | <uint32_t> at[2] << 8 | at[3]
    return <uint32_t> at[3] << 24 | <uint32_t> at[2] << 16 | <uint32_t> at[1] << 8 | at[0]


cdef inline int32_t read_i32(const uint8_t *at, bint big) noexcept:
    return <int32_t> read_u32(at, big)


cdef inline bint is_big(int encoding, const uint8_t *version) noexcept:
    """Tell the byte order an Encoding announces; where it announces none, the Version that follows shows it."""
    if encoding & 0xF == 1:
        return True
    if encoding & 0xF == 2:
        return False
    return version[0] == 0


cdef uint64_t read_format(const uint8_t *at, bint ebcdic) noexcept:
    cdef uint64_t form = 0
    cdef int place
    if not ebcdic:
        return <uint64_t> read_u32(at, True) << 32 | read_u32(at + 4, True)
    for place in range(8):
        form = form << 8 | EBCDIC_500[at[place]]
    return form


cdef inline Py_ssize_t stripped(const uint8_t *at, Py_ssize_t length, bint ebcdic) noexcept:
    """Give the length of a character field without the blanks and NULs it ends with."""
    cdef uint8_t blank = 0x40 if ebcdic else 0x20
    while length and (at[length - 1] == blank or at[length - 1] == 0):
        length -= 1
    return length


cdef inline uint32_t name_hash(int parent, const uint8_t *name, Py_ssize_t length) noexcept:
    """Mix what tells names apart in practice: length, the first and the last four bytes."""
    cdef uint32_t head = 0
    cdef uint32_t tail = 0
    if length >= 4:
        memcpy(&head, name, 4)
        memcpy(&tail, name + length - 4, 4)
    else:
        memcpy(&head, name, length)
    head = (head ^ <uint32_t> length * 0x5EBCA6B5) * 0x1E3779B1
    head = (head ^ head >> 15 ^ tail ^ <uint32_t> parent * 0x42B2AE35) * 0x27D4EB2F
    return head ^ head >> 13


cdef inline uint64_t name_bit(const uint8_t *name, Py_ssize_t length) noexcept:
    """Give one of 64 bits: most names can be told from all that are wanted by their length and last byte."""
    return <uint64_t> 1 << ((name[length - 1] ^ length << 2) & 63)


# ---- values ------------------------------------------------------------------------------------------------------

cdef inline int value_own(Value *value, PyObject **owner, int tag, int mqtype, PyObject *item) except -1:
    """Take over a new reference; NULL is an exception that is set."""
    cdef PyObject *old = owner[0]
    if item == NULL:
        raise MemoryError
    owner[0] = item
    value.tag = tag
    value.mqtype = mqtype
    value.it.o = item
    Py_XDECREF(old)
    return 0


cdef inline int value_keep(Value *value, PyObject **owner, int tag, int mqtype, object item) except -1:
    Py_INCREF(item)
    return value_own(value, owner, tag, mqtype, <PyObject *> item)


cdef inline void value_number(Value *value, int tag, int mqtype, int64_t number) noexcept:
    value.tag = tag
    value.mqtype = mqtype
    value.it.i = number


cdef inline void value_double(Value *value, int mqtype, double number) noexcept:
    value.tag = FLOAT32 if mqtype == MQTYPE_FLOAT32 else FLOAT64
    value.mqtype = mqtype
    value.it.d = number


cdef inline void value_null(Value *value) noexcept:
    value.tag = NULL_VALUE
    value.mqtype = MQTYPE_NULL


cdef int value_decoded(Value *value, PyObject **owner, const uint8_t *text, Py_ssize_t size) except -1:
    """Make a string of UTF-8. Returns 0 or the number of a note."""
    cdef PyObject *item = PyUnicode_DecodeUTF8(<const char *> text, size, NULL)
    if item == NULL:
        if not PyErr_ExceptionMatches(UnicodeDecodeError):
            raise MemoryError
        PyErr_Clear()
        return NOTE_VALUE_ENCODING
    return value_own(value, owner, STRING, MQTYPE_STRING, item)


cdef int utf8_put(uint8_t *at, uint32_t point) noexcept:
    """Write a code point. Returns its length."""
    if point < 0x80:
        at[0] = point
        return 1
    if point < 0x800:
        at[0] = 0xC0 | point >> 6
        at[1] = 0x80 | point & 0x3F
        return 2
    if point < 0x10000:
        at[0] = 0xE0 | point >> 12
        at[1] = 0x80 | point >> 6 & 0x3F
        at[2] = 0x80 | point & 0x3F
        return 3
    at[0] = 0xF0 | point >> 18
    at[1] = 0x80 | point >> 12 & 0x3F
    at[2] = 0x80 | point >> 6 & 0x3F
    at[3] = 0x80 | point & 0x3F
    return 4


cdef int escape_read(const uint8_t *at, const uint8_t *stop, uint32_t *point) noexcept:
    """Read an escape that begins with &. Returns its length, or 0 if there is no such escape.

    References by number are XML's; no page says that the queue manager writes them.
    """
    cdef Py_ssize_t left = stop - at
    cdef uint32_t number = 0
    cdef uint32_t base = 10
    cdef Py_ssize_t place = 2
    if left >= 4 and memcmp(at, b"&lt;", 4) == 0:
        point[0] = c"<"
        return 4
    if left >= 4 and memcmp(at, b"&gt;", 4) == 0:
        point[0] = c">"
        return 4
    if left >= 5 and memcmp(at, b"&amp;", 5) == 0:
        point[0] = c"&"
        return 5
    if left >= 6 and memcmp(at, b"&quot;", 6) == 0:
        point[0] = c'"'
        return 6
    if left >= 6 and memcmp(at, b"&apos;", 6) == 0:
        point[0] = c"'"
        return 6
    if left < 4 or at[1] != c"#":
        return 0
    if at[2] == c"x":
        base = 16
        place = 3
    if at[place] == c";":
        return 0
    while place < left and at[place] != c";":
        if at[place] >= 103 or HEX[at[place]] >= base:
            return 0
        number = number * base + HEX[at[place]]
        place += 1
        if number > 0x10FFFF or place > 12:
            return 0
    if place == left or number == 0 or 0xD800 <= number < 0xE000:
        return 0
    point[0] = number
    return <int> place + 1


cdef int value_text(Value *value, PyObject **owner, const uint8_t *text, Py_ssize_t size) except -1:
    """Make a string of the text of an element. Returns 0 or the number of a note."""
    cdef const uint8_t *at = <const uint8_t *> memchr(text, c"&", size)
    cdef const uint8_t *stop = text + size
    cdef const uint8_t *next_one
    cdef uint8_t *plain
    cdef Py_ssize_t length
    cdef uint32_t point
    cdef int taken
    if at == NULL:
        return value_decoded(value, owner, text, size)
    plain = <uint8_t *> malloc(size)
    if plain == NULL:
        raise MemoryError
    try:
        length = at - text
        memcpy(plain, text, length)
        while at != NULL:
            taken = escape_read(at, stop, &point)
            if taken == 0:
                return NOTE_VALUE_ESCAPE
            length += utf8_put(plain + length, point)
            at += taken
            next_one = <const uint8_t *> memchr(at, c"&", stop - at)
            memcpy(plain + length, at, (stop if next_one == NULL else next_one) - at)
            length += (stop if next_one == NULL else next_one) - at
            at = next_one
        return value_decoded(value, owner, plain, length)
    finally:
        free(plain)


cdef int value_integer(Value *value, const uint8_t *text, Py_ssize_t size, int mqtype) noexcept:
    """Read a decimal number with an optional sign. Returns 0 or the number of a note."""
    cdef uint64_t number = 0
    cdef uint64_t limit = <uint64_t> 1 << (63 if mqtype == MQTYPE_INT64 else (mqtype >> 1) - 1)
    cdef bint negative = False
    cdef Py_ssize_t place = 0
    cdef uint32_t digit
    if size and (text[0] == c"-" or text[0] == c"+"):
        negative = text[0] == c"-"
        place = 1
    if place == size:
        return NOTE_VALUE_MALFORMED
    while place < size:
        digit = <uint32_t> text[place] - c"0"
        if digit > 9 or number > 922337203685477580:
            return NOTE_VALUE_MALFORMED
        number = number * 10 + digit
        if number > limit:
            return NOTE_VALUE_MALFORMED
        place += 1
    if number == limit and not negative:
        return NOTE_VALUE_MALFORMED
    value_number(
        value, INT64 if mqtype == MQTYPE_INT64 else INT32, mqtype, <int64_t> (0 - number if negative else number)
    )
    return 0


cdef float float_of(double number, str text):
    """Round what *text* says to a float once: where the double lies half-way between two, the text decides."""
    cdef float near = <float> number
    cdef uint64_t bits
    memcpy(&bits, &number, 8)
    if bits & 0x1FFFFFFF != 0x10000000:
        return near
    # Comparison of Decimals is exact, and takes no more than linear time. Imported here: it is hardly ever needed.
    from decimal import Decimal
    exact = Decimal(text)
    middle = Decimal(number)
    if exact == middle:
        return near  # half to even, as the cast does
    bits = bits + 1 if (exact > middle) == (number > 0) else bits - 1
    memcpy(&number, &bits, 8)
    return <float> number


cdef int value_not_finite(Value *value, const uint8_t *text, Py_ssize_t size, int mqtype) noexcept:
    """Read what Java writes for NaN and the infinities, and so the JMS client. Returns 0 or the number of a note."""
    cdef double number
    if size == 3 and memcmp(text, b"NaN", 3) == 0:
        number = NAN
    elif size == 8 and memcmp(text, b"Infinity", 8) == 0:
        number = INFINITY
    elif size == 9 and memcmp(text, b"-Infinity", 9) == 0:
        number = -INFINITY
    else:
        return NOTE_VALUE_MALFORMED
    value_double(value, mqtype, number)
    return 0


cdef int value_float(Value *value, const uint8_t *text, Py_ssize_t size, int mqtype) except -1:
    """Read a decimal number with a point or an exponent. Returns 0 or the number of a note."""
    cdef char[64] room
    cdef char *end = NULL
    cdef const char *digits
    cdef double number
    cdef Py_ssize_t place
    cdef bytes longer
    for place in range(size):
        if not (c"0" <= text[place] <= c"9" or text[place] in (c"+", c"-", c".", c"e", c"E")):
            return value_not_finite(value, text, size, mqtype)
    if size < 64:
        memcpy(room, text, size)
        room[size] = 0
        digits = room
    else:
        longer = PyBytes_FromStringAndSize(<const char *> text, size)
        digits = PyBytes_AS_STRING(longer)
    try:
        number = PyOS_string_to_double(digits, &end, NULL)
    except ValueError:
        return NOTE_VALUE_MALFORMED
    if end != digits + size or number - number != 0:
        return NOTE_VALUE_MALFORMED
    if mqtype == MQTYPE_FLOAT32:
        number = float_of(number, (<bytes> text[:size]).decode("ascii"))
        if number - number != 0:
            return NOTE_VALUE_MALFORMED
    value_double(value, mqtype, number)
    return 0


cdef int value_hex(Value *value, PyObject **owner, const uint8_t *text, Py_ssize_t size) except -1:
    """Read pairs of hexadecimal digits. Returns 0 or the number of a note."""
    cdef Py_ssize_t place
    cdef bytes made
    cdef uint8_t *data
    if size & 1:
        return NOTE_VALUE_MALFORMED
    made = PyBytes_FromStringAndSize(NULL, size >> 1)
    data = <uint8_t *> PyBytes_AS_STRING(made)
    for place in range(0, size, 2):
        if text[place] >= 103 or text[place + 1] >= 103 or HEX[text[place]] > 15 or HEX[text[place + 1]] > 15:
            return NOTE_VALUE_MALFORMED
        data[place >> 1] = HEX[text[place]] << 4 | HEX[text[place + 1]]
    return value_keep(value, owner, BYTES, MQTYPE_BYTE_STRING, made)


cdef int value_boolean(Value *value, const uint8_t *text, Py_ssize_t size) noexcept:
    """Read 1 or 0; true and false are not confirmed, and not confused with anything. Returns 0 or a note."""
    if size == 1 and (text[0] == c"1" or text[0] == c"0"):
        value_number(value, BOOLEAN, MQTYPE_BOOLEAN, text[0] == c"1")
    elif size == 4 and memcmp(text, b"true", 4) == 0:
        value_number(value, BOOLEAN, MQTYPE_BOOLEAN, 1)
    elif size == 5 and memcmp(text, b"false", 5) == 0:
        value_number(value, BOOLEAN, MQTYPE_BOOLEAN, 0)
    else:
        return NOTE_VALUE_MALFORMED
    return 0


cdef int value_read(Value *value, PyObject **owner, const uint8_t *text, Py_ssize_t size, int dt) except -1:
    """Read the text of an element as a type. Returns 0 or the number of a note."""
    if dt == 0 or dt == MQTYPE_STRING:
        return value_text(value, owner, text, size)
    if MQTYPE_INT8 <= dt <= MQTYPE_INT64:
        return value_integer(value, text, size, dt)
    if dt == MQTYPE_FLOAT32 or dt == MQTYPE_FLOAT64:
        return value_float(value, text, size, dt)
    if dt == MQTYPE_BOOLEAN:
        return value_boolean(value, text, size)
    if dt == MQTYPE_BYTE_STRING:
        return value_hex(value, owner, text, size)
    return value_keep(value, owner, BYTES, MQTYPE_BYTE_STRING, PyBytes_FromStringAndSize(<const char *> text, size))


cdef int value_converted(Value *value, PyObject **owner, Hit *hit, int dt, int conversion) except -1:
    """Read an element as a JMS name wants it. Returns 0 or the number of a note."""
    cdef int trouble
    if hit.nil:
        value_null(value)
        return 0
    if hit.size < 0:
        return <int> -hit.size
    if conversion == AS_TYPED:
        return value_read(value, owner, hit.text, hit.size, dt)
    if conversion == TO_STRING:
        return value_text(value, owner, hit.text, hit.size)
    if conversion == TO_INT32:
        return value_integer(value, hit.text, hit.size, MQTYPE_INT32)
    if conversion == TO_INT64:
        return value_integer(value, hit.text, hit.size, MQTYPE_INT64)
    if conversion == TO_TOPIC:
        trouble = value_text(value, owner, hit.text, hit.size)
        if trouble:
            return trouble
        return value_keep(value, owner, STRING, MQTYPE_STRING, "topic://" + <str> <object> value.it.o)
    # TO_DELIVERY_MODE
    trouble = value_integer(value, hit.text, hit.size, MQTYPE_INT32)
    if trouble or not 1 <= value.it.i <= 2:
        value_null(value)
        return NOTE_VALUE_MALFORMED
    return value_keep(value, owner, STRING, MQTYPE_STRING, PERSISTENT if value.it.i == 2 else NON_PERSISTENT)


cdef inline object int32_object(int64_t number):
    if -1 <= number < 1023:
        return SMALL[number + 1]
    return (<object (*)(PyObject *, object, PyObject *)> PyLong_Type.tp_new)(<PyObject *> Int32, (number,), NULL)


cdef object value_object(Value *value):
    """Give a value as the Python object that the machine reads as it."""
    if value.mqtype == MQTYPE_INT32:
        return int32_object(value.it.i)
    if value.mqtype == MQTYPE_STRING or value.mqtype == MQTYPE_BYTE_STRING:
        return <object> value.it.o
    if value.mqtype == MQTYPE_NULL:
        return None
    if value.mqtype == MQTYPE_INT64:
        return value.it.i
    if value.mqtype == MQTYPE_FLOAT64:
        return value.it.d
    if value.mqtype == MQTYPE_BOOLEAN:
        return value.it.i != 0
    if value.mqtype == MQTYPE_INT16:
        return Int16(value.it.i)
    if value.mqtype == MQTYPE_INT8:
        return Int8(value.it.i)
    return Float32(value.it.d)


# ---- tags --------------------------------------------------------------------------------------------------------

cdef int dt_read(const uint8_t *text, Py_ssize_t size) noexcept:
    """Give the MQTYPE of a dt: mqrfh2.DT, a test compares."""
    if size == 2:
        if text[0] == c"i":
            if text[1] == c"4":
                return MQTYPE_INT32
            if text[1] == c"8":
                return MQTYPE_INT64
            if text[1] == c"2":
                return MQTYPE_INT16
            if text[1] == c"1":
                return MQTYPE_INT8
        elif text[0] == c"r":
            if text[1] == c"8":
                return MQTYPE_FLOAT64
            if text[1] == c"4":
                return MQTYPE_FLOAT32
    elif size == 3 and memcmp(text, b"int", 3) == 0:
        return MQTYPE_INT64
    elif size == 6 and memcmp(text, b"string", 6) == 0:
        return MQTYPE_STRING
    elif size == 7 and memcmp(text, b"boolean", 7) == 0:
        return MQTYPE_BOOLEAN
    elif size == 7 and memcmp(text, b"bin.hex", 7) == 0:
        return MQTYPE_BYTE_STRING
    return DT_UNKNOWN


cdef inline const uint8_t *skip_space(const uint8_t *at, const uint8_t *stop) noexcept:
    while at < stop and CLASS[at[0]] & SPACE:
        at += 1
    return at


cdef inline bint is_blank(const uint8_t *at, const uint8_t *stop) noexcept:
    return skip_space(at, stop) == stop


cdef const uint8_t *skip_padding(const uint8_t *at, const uint8_t *stop) noexcept:
    """Skip blanks and U+FEFF: the mark of a byte order, and what IBM's class MQRFH2 fills up with."""
    while True:
        at = skip_space(at, stop)
        if stop - at < 3 or memcmp(at, b"\xEF\xBB\xBF", 3) != 0:
            return at
        at += 3


cdef const uint8_t *skip_markup(const uint8_t *at, const uint8_t *stop, bint *text) noexcept:
    """Skip what begins with < and is no tag: a comment, an instruction, CDATA, or a < that nobody escaped.

    Tells whether it is *text*. Returns where it ends, or NULL if that cannot be told.
    """
    cdef const uint8_t *begin = at + 2
    cdef const uint8_t *end = b"?>"
    cdef int length = 2
    text[0] = False
    if at[1] == c"!":
        length = 3
        if stop - at >= 4 and memcmp(at, b"<!--", 4) == 0:
            end = b"-->"
            begin = at + 4
        elif stop - at >= 9 and memcmp(at, b"<![CDATA[", 9) == 0:
            end = b"]]>"
            begin = at + 9
            text[0] = True
        else:
            return NULL
    elif at[1] != c"?":
        text[0] = True
        return at + 1
    at = begin
    while True:
        at = <const uint8_t *> memchr(at, c">", stop - at)
        if at == NULL:
            return NULL
        at += 1
        if at - begin >= length and memcmp(at - length, end, length) == 0:
            return at


cdef const uint8_t *tag_end(const uint8_t *at, const uint8_t *stop) noexcept:
    """Find the > of a tag whose attributes are malformed from here; NULL if it might be another one."""
    while at < stop and at[0] != c">":
        if at[0] == c"<" or at[0] == c"/" or at[0] == c"'" or at[0] == c'"':
            return NULL
        at += 1
    if at == stop:
        return NULL
    return at


cdef const uint8_t *attributes_read(
    const uint8_t *at, const uint8_t *stop, int *dt, bint *nil, bint *content, bint *odd
) noexcept:
    """Read the attributes of a start tag.

    Returns the place of its > or />, or NULL if that cannot be told; sets *odd* if they are malformed.
    """
    cdef const uint8_t *name
    cdef const uint8_t *text
    cdef Py_ssize_t length, size
    cdef bint nil_seen = False
    while True:
        name = at = skip_space(at, stop)
        if at == stop:
            return NULL
        if at[0] == c">" or (at[0] == c"/" and stop - at > 1 and at[1] == c">"):
            return at
        while at < stop and CLASS[at[0]] & IN_NAME:
            at += 1
        length = at - name
        at = skip_space(at, stop)
        if length == 0 or stop - at < 3 or at[0] != c"=":
            odd[0] = True
            return tag_end(name, stop)
        at = skip_space(at + 1, stop)
        if at == stop or (at[0] != c"'" and at[0] != c'"'):
            odd[0] = True
            return tag_end(name, stop)
        text = at + 1
        at = <const uint8_t *> memchr(text, at[0], stop - text)
        if at == NULL:
            return NULL
        size = at - text
        at += 1
        if length == 2 and name[0] == c"d" and name[1] == c"t":
            odd[0] |= dt[0] != 0
            dt[0] = dt_read(text, size)
        elif length == 7 and memcmp(name, b"xsi:nil", 7) == 0:
            odd[0] |= nil_seen
            nil_seen = True
            nil[0] = size == 4 and memcmp(text, b"true", 4) == 0
        elif length == 7 and memcmp(name, b"content", 7) == 0:
            content[0] = size == 10 and memcmp(text, b"properties", 10) == 0


cdef bint is_reserved(const uint8_t *name, Py_ssize_t length):
    """Tell whether a name of up to seven characters is a keyword."""
    if length < 2 or length > 7 or name[0] & 0xDF not in b"NTFAOBLIE":
        return False
    return name[:length].upper().decode("latin-1") in _RESERVED


cdef bint folder_is(const uint8_t *name, Py_ssize_t length, bytes wanted) noexcept:
    return length == PyBytes_GET_SIZE(wanted) and memcmp(name, PyBytes_AS_STRING(wanted), length) == 0


cdef tuple GROUPED = tuple(name.encode() for name in _mqrfh2.GROUPED_FOLDERS)
cdef tuple PLAIN = tuple(name.encode() for name in _mqrfh2.PLAIN_FOLDERS)
# Folders of which only the first counts, numbered; those of the first header alone come first.
cdef tuple ONCE = tuple(name.encode() for name in (*_mqrfh2.FIRST_HEADER_FOLDERS, *_mqrfh2.FIRST_FOLDERS))
cdef int ONCE_IN_FIRST = len(_mqrfh2.FIRST_HEADER_FOLDERS)
cdef dict ELEMENT_TYPES = {
    name.partition("/")[2].encode(): int(_TYPES[kind]) for name, kind in _mqrfh2.ELEMENT_TYPES.items()
}


cdef inline int jms_type(const uint8_t *name, Py_ssize_t length):
    """Give the type an element of the jms folder has without a dt."""
    if length != 3:
        return 0
    return ELEMENT_TYPES.get(name[:3], 0)


# ---- the decoder -------------------------------------------------------------------------------------------------

cdef void *zeroed(Py_ssize_t count, size_t size) except NULL:
    cdef void *room = calloc(count if count else 1, size)
    if room == NULL:
        raise MemoryError
    return room


@cython.final
@cython.no_gc_clear  # the nodes point into what is kept, and the record is read in place
cdef class Decoder:
    """Reads IBM MQ messages for the properties of a selector, or for all of them.

    Not for two threads at a time. Called with a message it gives its `record`, filled anew; False for one with an
    invalid name where *never* says so; and with an *identifier* whether the message has it.

    Args:
        names: of the properties, in the order of the slots.
        strip: take trailing blanks and NULs off the character fields of the MQMD.
        ccsid: of the character fields of the MQMD; None to find it.
        never: answer False for a message that has a property with an invalid name.
        identifier: (field of the MQMD, 24 bytes) to compare in the MQMD, instead of reading any more; or None.
        everything: for `properties` and `inspect`: all elements of property folders.
    """

    def __cinit__(self, names, *, bint strip=False, ccsid=None, bint never=False, identifier=None,
                  bint everything=False):
        self.busy = True  # whoever finds it before it is complete
        self.names = tuple(names)
        for name in self.names:
            if not isinstance(name, str):
                raise ArgumentError(f"the name of a property is a string, found {type(name).__name__}")
        if ccsid is not None and (type(ccsid) is not int or ccsid not in _mqmd.CCSIDS):
            raise wordings.unknown_ccsid(ccsid, _mqmd.CCSIDS)
        self.strip = strip
        self.ccsid = ccsid or 0
        self.never = never
        self.everything = everything
        if identifier is not None:
            if not isinstance(identifier, tuple) or len(identifier) != 2 or identifier[0] not in _IDENTIFIERS:
                raise ArgumentError(f"identifier is {identifier!r}: expected {' or '.join(_IDENTIFIERS)} and its bytes")
            if type(identifier[1]) is not bytes or len(identifier[1]) != 24:
                raise ArgumentError(f"identifier is {identifier!r}: expected 24 bytes for {identifier[0]}")
            self.identifier = identifier[1]
            self.identifier_offset = _FIELDS[identifier[0]][0]
        self.record = Record(self.names)
        self.ranks = <unsigned char *> zeroed(len(self.names), 1)
        self.build(self.names)
        self.busy = False

    def __dealloc__(self):
        free(self.ranks)
        free(self.nodes)
        free(self.node_names)
        free(self.table)
        free(self.targets)
        free(self.fields)
        free(self.hits)
        free(self.groups)

    cdef int build(self, tuple names) except -1:
        """Lay the names out: elements as a tree of folders, groups and elements, fields as a list."""
        cdef list elements = []     # (node, slot, rank, conversion)
        cdef list fields = []       # (slot, rank, conversion, mask, offset, length, kind)
        cdef list nodes = []        # (parent, name, characters of the last parts of the longest names beneath it, + 1)
        cdef int node, slot, place
        cdef uint32_t size
        cdef uint8_t *room
        tree = {}
        for slot, name in enumerate(names):
            size = len(spellings(name)[0])
            if name in _jms.JMS:
                sources = _jms.JMS[name]
            elif name.startswith(DESCRIPTOR):
                field = name.removeprefix(DESCRIPTOR)
                sources = (_jms.Source(f"MQMD/{field}", "as typed"),) if field in _FIELDS else ()
            elif name.startswith((JMS_PREFIX, USR_FOLDER + JMS_PREFIX)) or size > MAX_NAME:
                sources = ()
            else:
                sources = (None,)   # the element that it names
            for rank, source in enumerate(sources):
                conversion = AS_TYPED
                if source is None:
                    parts = (name if "." in name else USR_FOLDER + name).split(".")
                else:
                    parts = source.path.split("/")
                    conversion = _jms.CONVERSIONS.index(source.conversion)
                if source is not None and parts[0] in ("MQMD", "body"):
                    offset, length, kind = _BODY.get(source.path) or _FIELDS[parts[1]]
                    fields.append((slot, rank, conversion, source.argument, offset, length, kind))
                    # A timestamp and a queue read the field behind theirs too; both stand before the split.
                    self.any_later |= offset >= MD_SPLIT or MD_ENCODING <= offset < MD_PRIORITY
                    continue
                node = -1
                for part in parts:
                    parent = node
                    if (parent, part) not in tree:
                        tree[parent, part] = len(nodes)
                        nodes.append([parent, part.encode("utf-8", "surrogatepass"), 0])
                    node = tree[parent, part]
                if size == MAX_NAME:
                    self.any_long = True
                    nodes[parent][2] = len(parts[len(parts) - 1]) + 1
                elements.append((node, slot, rank, conversion))
        self.any_folder = bool(nodes)
        self.node_count = len(nodes)
        self.nodes = <Node *> zeroed(len(nodes), sizeof(Node))
        room = self.node_names = <uint8_t *> zeroed(sum([len(part) for _, part, _ in nodes]), 1)
        size = 8
        while size < 2 * <uint32_t> len(nodes):
            size *= 2
        self.mask = size - 1
        self.table = <int *> zeroed(size, sizeof(int))
        memset(self.table, 0xFF, size * sizeof(int))
        for place, (parent, part, longest) in enumerate(nodes):
            memcpy(room, PyBytes_AS_STRING(part), len(part))
            self.nodes[place].parent = parent
            self.nodes[place].name = room
            self.nodes[place].length = len(part)
            self.nodes[place].longest = longest
            self.nodes[place].hash = name_hash(parent, room, len(part))
            self.nodes[place].next = self.table[self.nodes[place].hash & self.mask]
            self.table[self.nodes[place].hash & self.mask] = place
            if parent >= 0 and part:
                self.nodes[parent].expected |= name_bit(room, len(part))
            room += len(part)
        self.targets = <Target *> zeroed(len(elements), sizeof(Target))
        for place, (node, slot, rank, conversion) in enumerate(sorted(elements)):
            if self.nodes[node].count == 0:
                self.nodes[node].first = place
            self.nodes[node].count += 1
            self.targets[place] = Target(slot, rank, conversion)
        self.field_count = len(fields)
        self.fields = <FieldTarget *> zeroed(len(fields), sizeof(FieldTarget))
        for place, (slot, rank, conversion, mask, offset, length, kind) in enumerate(fields):
            self.fields[place] = FieldTarget(slot, rank, conversion, mask, offset, length, kind)
        return 0

    def __call__(self, raw):
        """Read one message.

        Raises: DecodeError, PropertyTypeError.
        """
        cdef bytes held
        cdef int known
        self.enter()
        try:
            held = self.hold(raw)
            known = self.read(<const uint8_t *> PyBytes_AS_STRING(held), PyBytes_GET_SIZE(held))
            return self.record if known == FILLED else known == IDENTIFIED
        finally:
            self.busy = False

    def properties(self, raw) -> dict:
        """Give the properties of one message as Python values.

        Raises: DecodeError, PropertyTypeError.
        """
        cdef Py_ssize_t slot
        self.enter()
        try:
            if self.everything:
                self.found = {}
            self.run(self.hold(raw))
            if self.everything:
                return self.found
            return {
                self.names[slot]: value_object(&self.record.values[slot])
                for slot in range(len(self.names))
                if self.ranks[slot] != UNFILLED
            }
        finally:
            self.release()
            self.found = self.dropped = None
            self.busy = False

    def inspect(self, raw) -> tuple:
        """Give (properties, sources, offsets, notes, structures) of one message: see `mqsel.formats.Inspection`.

        Raises: DecodeError, PropertyTypeError.
        """
        self.enter()
        try:
            self.found = {}
            self.sources, self.offsets, self.notes, self.structures = [], array("q"), [], []
            self.run(self.hold(raw))
            return self.found, self.sources, self.offsets, self.notes, self.structures
        finally:
            self.release()
            self.found = self.dropped = self.sources = self.offsets = self.notes = self.structures = None
            self.busy = False

    cdef int enter(self) except -1:
        if self.busy:
            raise ArgumentError(
                "this decoder is already reading a message: two threads cannot share it", hint="make one for each"
            )
        self.busy = True
        return 0

    cdef void release(self) noexcept:
        """Let go of the values: nobody reads the record of a decoder that lies idle."""
        cdef Py_ssize_t slot
        cdef PyObject *old
        for slot in range(self.record.count):
            value_null(&self.record.values[slot])
            old = self.record.owners[slot]
            self.record.owners[slot] = NULL
            Py_XDECREF(old)
        if self.group_room > MAX_HITS:
            free(self.groups)
            self.groups = NULL
            self.group_room = 0

    cdef int note(self, int number, str structure, Py_ssize_t offset, object what) except -1:
        """Say that something was skipped."""
        self.noting = True
        if self.notes is not None:
            _, reason, words = _mqrfh2.NOTES[number]
            entry = _mqrfh2.Note(structure, offset, what, reason, words)
            # A field of the MQMD may be read for several properties.
            if structure != "MQMD" or entry not in self.notes:
                self.notes.append(entry)
        return 0

    # ---- the chain of structures

    cdef bytes hold(self, object raw):
        """Take the bytes of a message."""
        if PyBytes_CheckExact(raw):
            return raw
        try:
            return memoryview(raw).tobytes()
        except (TypeError, ValueError, NotImplementedError, BufferError):
            found = type_name(raw)
            raise PropertyTypeError(
                f"a message of this format is bytes: found a Python {found}",
                value_type=found,
                hint="pass the MQMD and the data as bytes, bytearray or memoryview",
            ) from None

    cdef int start(self, const uint8_t *data, Py_ssize_t size) except -1:
        memset(&self.parts, 0, sizeof(Parts))
        self.parts.data = data
        self.parts.size = size
        return self.read_mqmd()

    cdef int read(self, const uint8_t *data, Py_ssize_t size) except -1:
        """Read one message that stays where it is meanwhile. Returns a Known."""
        if self.identifier is not None:
            return IDENTIFIED if self.is_identified(data, size) else NOT_IDENTIFIED
        self.walk(data, size)
        return INVALID_NAME if self.invalid and self.never else FILLED

    cdef bint is_identified(self, const uint8_t *data, Py_ssize_t size) except -1:
        """Compare the identifier in the MQMD, as a queue manager does; 24 zero bytes match every message."""
        self.start(data, size)
        if self.identifier == bytes(24):
            return True
        return self.parts.mqmd != NULL and memcmp(
            self.parts.mqmd + self.identifier_offset, PyBytes_AS_STRING(self.identifier), 24
        ) == 0

    cdef int run(self, bytes raw) except -1:
        return self.walk(<const uint8_t *> PyBytes_AS_STRING(raw), PyBytes_GET_SIZE(raw))

    cdef int walk(self, const uint8_t *data, Py_ssize_t size) except -1:
        cdef Py_ssize_t slot
        cdef Py_ssize_t count = len(self.names)
        self.stamp += 1
        self.noting = self.invalid = False
        for slot in range(count):
            value_null(&self.record.values[slot])
        memset(self.ranks, UNFILLED, count)
        self.start(data, size)
        if self.found is not None and self.sources is None and self.parts.mqmd != NULL:
            # A dict that has its fields need not grow for them: a quarter of the instructions of the whole.
            self.found = LISTED_BLANK.copy()
        if self.any_folder or self.never or self.everything or self.any_later:
            self.read_chain()
        if self.parts.mqmd != NULL:
            self.fill_fields()
        if self.found is not None:
            self.list_views()
            self.list_mqmd()
        self.noted += self.noting
        return 0

    cdef int read_mqmd(self) except -1:
        """Find the MQMD, or an MQRFH2 that stands without one."""
        cdef const uint8_t *data = self.parts.data
        cdef Py_ssize_t size = self.parts.size
        cdef int length
        if size >= 4 and (memcmp(data, b"RFH ", 4) == 0 or memcmp(data, b"\xD9\xC6\xC8\x40", 4) == 0):
            return 0
        if size < 4 or not (memcmp(data, b"MD  ", 4) == 0 or memcmp(data, b"\xD4\xC4\x40\x40", 4) == 0):
            raise DecodeError(
                f"the message begins with {data[:size if size < 4 else 4]!r}: "
                "expected an MQMD ('MD  ') or an MQRFH2 ('RFH ')",
                structure="MQMD",
                hint="dump the message descriptor with the data, in ASCII or EBCDIC",
                reason=MQRC.MQRC_MD_ERROR,
            )
        if size < 8:
            raise wordings.truncated_structure("MQMD", 0, _mqmd.MQMD_LENGTH_1, size, MQRC.MQRC_MD_ERROR)
        self.parts.ebcdic = data[0] == 0xD4
        self.parts.big = data[4] == 0
        self.parts.version = read_i32(data + 4, self.parts.big)
        if not 1 <= self.parts.version <= 2:
            raise wordings.wrong_version("MQMD", 0, self.parts.version, "1 or 2", None, MQRC.MQRC_MD_ERROR)
        length = _mqmd.MQMD_LENGTH_1 if self.parts.version == 1 else _mqmd.MQMD_LENGTH_2
        if size < length:
            raise wordings.truncated_structure("MQMD", 0, length, size, MQRC.MQRC_MD_ERROR)
        self.parts.mqmd = data
        self.parts.later = DEFAULT_LATER
        self.parts.later_big = True
        if self.parts.version == 2:
            self.parts.later = data + MD_SPLIT
            self.parts.later_big = self.parts.big
        return 0

    cdef int read_chain(self) except -1:
        """Follow the Formats from structure to structure. Each consumes bytes: the message ends the chain."""
        cdef const uint8_t *data = self.parts.data
        cdef Py_ssize_t at = 0
        cdef Py_ssize_t length
        cdef uint64_t form = FORMAT_RFH2
        cdef int encoding = 0
        cdef int place
        cdef bint big
        cdef HeaderRow *row
        self.first_header = True
        self.first_seen = 0
        if self.parts.mqmd != NULL:
            at = 324 if self.parts.version == 1 else 364
            form = self.describe(data + MD_ENCODING, self.parts.big, self.parts.ebcdic, True)
            encoding = self.parts.encoding
            if self.structures is not None:
                self.structures.append(("MQMD", 0, at))
            if form == FORMAT_MDE:
                if self.read_mqmde(at, encoding) == 0:
                    return 0
                at += 72
                form = self.describe(self.parts.mqmde + 12, self.parts.big, self.parts.ebcdic, True)
                encoding = self.parts.encoding
        while True:
            if form == FORMAT_RFH2:
                length = self.read_rfh2(at, encoding, &big)
                form = self.describe(data + at + 12, big, data[at] == 0xD9, True)
                encoding = self.parts.encoding
                at += length
                continue
            for place in range(HEADER_COUNT):
                if HEADERS[place].format == form:
                    break
            else:
                break
            row = &HEADERS[place]
            name = _mqmd.HEADERS[place].name
            if self.parts.size - at < row.length:
                raise wordings.truncated_structure(
                    name, at, row.length, self.parts.size - at, MQRC.MQRC_HEADER_ERROR
                )
            if data[at:at + 4] not in _HEADER_IDS[place]:
                raise wordings.wrong_struc_id(
                    name, at, data[at:at + 4], _mqmd.HEADERS[place].struc_id, MQRC.MQRC_HEADER_ERROR
                )
            big = is_big(encoding, data + at + 4)
            length = row.length if row.fixed else read_i32(data + at + 8, big)
            if length < row.length:
                raise wordings.wrong_struc_length(
                    name, at, "StrucLength", length, f"at least {row.length}", encoding, MQRC.MQRC_HEADER_ERROR
                )
            if length > self.parts.size - at:
                raise wordings.past_end(
                    name, at, "StrucLength", length, self.parts.size - at, encoding, MQRC.MQRC_HEADER_ERROR
                )
            if form == FORMAT_MDE:
                self.note(NOTE_MDE_NOT_FIRST, name, at, name)
            if self.structures is not None:
                self.structures.append((name, at, length))
            form = self.describe(
                data + at + row.following, big, data[at:at + 4] == _HEADER_IDS[place][1], row.describes
            )
            encoding = self.parts.encoding
            at += length
        if form >> 40 == FORMAT_MQH:
            self.note(NOTE_FORMAT_UNKNOWN, "data", at, form.to_bytes(8, "big").decode("latin-1").rstrip())
        if self.structures is not None:
            self.structures.append(("data", at, self.parts.size - at))
        return 0

    cdef uint64_t describe(self, const uint8_t *following, bint big, bint ebcdic, bint describes) noexcept:
        """Take what is said of what follows: Format, which is returned, and the others unless they are reserved."""
        cdef int32_t ccsid = read_i32(following + 4, big)
        if describes:
            self.parts.encoding = read_i32(following, big)
            if ccsid != MQCCSI_INHERIT:
                self.parts.ccsid = ccsid
        self.parts.format = following + 8
        self.parts.format_ebcdic = ebcdic
        return read_format(self.parts.format, ebcdic)

    cdef int read_mqmde(self, Py_ssize_t at, int encoding) except -1:
        """Judge the MQMDE behind the MQMD: formats §4. Returns whether it is honoured."""
        cdef const uint8_t *data = self.parts.data + at
        cdef Py_ssize_t left = self.parts.size - at
        cdef int32_t number
        cdef int trouble = 0
        cdef bint big
        if left < 72:
            raise wordings.truncated_structure("MQMDE", at, 72, left, MQRC.MQRC_MDE_ERROR)
        big = self.parts.big if encoding & 0xF not in (1, 2) else encoding & 0xF == 1
        if memcmp(data, b"MDE ", 4) != 0 and memcmp(data, b"\xD4\xC4\xC5\x40", 4) != 0:
            raise wordings.wrong_struc_id("MQMDE", at, data[:4], "MDE ", MQRC.MQRC_MDE_ERROR)
        if (data[0] == 0xD4) != self.parts.ebcdic or big != self.parts.big:
            trouble = NOTE_MDE_FOREIGN
        else:
            number = read_i32(data + 4, big)
            if number > 2:
                trouble = NOTE_MDE_VERSION
            elif number != 2:
                raise wordings.wrong_version("MQMDE", at, number, "2", encoding, MQRC.MQRC_MDE_ERROR)
        if trouble == 0:
            number = read_i32(data + 8, big)
            if number != 72:
                raise wordings.wrong_struc_length(
                    "MQMDE", at, "StrucLength", number, "72", encoding, MQRC.MQRC_MDE_ERROR
                )
            number = read_i32(data + 16, big)
            if number <= 0 and number != -2:
                raise wordings.wrong_ccsid(
                    "MQMDE", at, "CodedCharSetId", number, "a character set or -2 (inherit)", MQRC.MQRC_MDE_ERROR
                )
            if self.parts.version == 2 and not self.is_default_later():
                trouble = NOTE_MDE_DEFAULT_ONLY
        if trouble:
            self.note(trouble, "MQMDE", at, "MQMDE")
            if self.structures is not None:
                self.structures.append(("data", at, left))
            return 0
        self.parts.mqmde = data
        self.parts.later = data + MDE_LATER
        self.parts.later_big = big
        if self.structures is not None:
            self.structures.append(("MQMDE", at, 72))
        return 1

    cdef bint is_default_later(self) noexcept:
        cdef const uint8_t *later = self.parts.later
        return (
            memcmp(later, DEFAULT_LATER, 24) == 0
            and read_u32(later + 24, self.parts.big) == 1
            and memcmp(later + 28, DEFAULT_LATER + 28, 12) == 0
        )

    cdef Py_ssize_t read_rfh2(self, Py_ssize_t at, int encoding, bint *order) except -1:
        """Read one MQRFH2. Returns its length."""
        cdef const uint8_t *data = self.parts.data + at
        cdef Py_ssize_t left = self.parts.size - at
        cdef Py_ssize_t place = 36
        cdef int32_t length, number
        cdef int32_t ccsid
        cdef bint big
        if left < 36:
            raise wordings.truncated_structure("MQRFH2", at, 36, left, MQRC.MQRC_RFH_ERROR)
        if memcmp(data, b"RFH ", 4) != 0 and memcmp(data, b"\xD9\xC6\xC8\x40", 4) != 0:
            raise wordings.wrong_struc_id("MQRFH2", at, data[:4], "RFH ", MQRC.MQRC_RFH_ERROR)
        big = order[0] = is_big(encoding, data + 4)
        number = read_i32(data + 4, big)
        if number != 2:
            raise wordings.wrong_version("MQRFH2", at, number, "2", encoding, MQRC.MQRC_RFH_ERROR)
        length = read_i32(data + 8, big)
        if length < 36 or length & 3:
            raise wordings.wrong_struc_length(
                "MQRFH2", at, "StrucLength", length, "a multiple of 4, at least 36", encoding, MQRC.MQRC_RFH_ERROR
            )
        if length > left:
            raise wordings.past_end("MQRFH2", at, "StrucLength", length, left, encoding, MQRC.MQRC_RFH_ERROR)
        number = read_i32(data + 16, big)
        if number <= 0 and number != -2:
            raise wordings.wrong_ccsid(
                "MQRFH2", at, "CodedCharSetId", number, "a character set or -2 (inherit)", MQRC.MQRC_RFH_ERROR
            )
        ccsid = read_i32(data + 32, big)
        if ccsid != 1208 and ccsid != 1200 and ccsid != 13488 and ccsid != 17584:
            raise wordings.wrong_ccsid(
                "MQRFH2", at, "NameValueCCSID", ccsid, "1208, 1200, 13488 or 17584", MQRC.MQRC_RFH_ERROR
            )
        if self.structures is not None:
            self.structures.append(("MQRFH2", at, length))
        self.header = at
        while place < length:
            # Lengths are multiples of four: four bytes are there.
            number = read_i32(data + place, big)
            place += 4
            if number < 0 or number & 3:
                raise wordings.wrong_struc_length(
                    "MQRFH2", at, "NameValueLength", number, "a multiple of 4, at least 0", encoding,
                    MQRC.MQRC_RFH_ERROR,
                )
            if number > length - place:
                raise wordings.past_end(
                    "MQRFH2", at, "NameValueLength", number, length - place, encoding, MQRC.MQRC_RFH_ERROR
                )
            if ccsid == 1208:
                self.read_folder(data + place, data + place + number, at + place)
            else:
                self.read_wide_folder(data + place, data + place + number, big, at + place)
            place += number
        self.first_header = False
        return length

    # ---- folders

    cdef int read_wide_folder(
        self, const uint8_t *start, const uint8_t *stop, bint big, Py_ssize_t origin
    ) except -1:
        """Turn a folder of UTF-16 into UTF-8, and read that.

        Its byte order is that of the header's numbers, if it does not begin with a mark that says another. Half a
        surrogate pair becomes what is no UTF-8 either: the name or value that has it is the one that is skipped.
        """
        cdef uint8_t *room
        cdef Py_ssize_t length = 0
        cdef uint32_t unit, second
        cdef int high = 0 if big else 1
        if stop - start >= 2 and start[0] + start[1] == 0xFE + 0xFF and (start[0] == 0xFE or start[0] == 0xFF):
            high = 0 if start[0] == 0xFE else 1
        room = <uint8_t *> malloc((stop - start) // 2 * 3 + 4)
        if room == NULL:
            raise MemoryError
        try:
            while start < stop:
                unit = <uint32_t> start[high] << 8 | start[1 - high]
                start += 2
                if 0xD800 <= unit < 0xDC00 and stop - start >= 2:
                    second = <uint32_t> start[high] << 8 | start[1 - high]
                    if 0xDC00 <= second < 0xE000:
                        start += 2
                        unit = 0x10000 + ((unit - 0xD800) << 10) + (second - 0xDC00)
                length += utf8_put(room + length, unit)
            # Where the elements stood is no longer known: the folder's place serves for all.
            return self.read_folder(room, room + length, -origin)
        finally:
            free(room)

    cdef int read_folder(self, const uint8_t *start, const uint8_t *stop, Py_ssize_t origin) except -1:
        """Read one folder; a negative origin is that of a folder that was UTF-16."""
        cdef Open[129] stack
        cdef Open *folder = stack
        cdef const uint8_t *at = skip_padding(start, stop)
        cdef const uint8_t *name
        cdef const uint8_t *inside
        cdef Py_ssize_t length, noted
        cdef int seen = 0
        cdef int number, trouble
        cdef int dt = 0
        cdef bint nil = False
        cdef bint content = False
        cdef bint grouped = False
        cdef bint known = False
        cdef bint odd = False
        self.folder_start = start
        self.folder_wide = origin < 0
        if origin < 0:
            origin = -origin
        self.folder_origin = origin
        if at == stop or at[0] == 0:
            return 0
        name = at + 1
        if at[0] == c"<" and name < stop and CLASS[name[0]] & (IN_NAME | NO_START) == IN_NAME:
            at = name
            while at < stop and CLASS[at[0]] & IN_NAME:
                seen |= CLASS[at[0]]
                at += 1
            length = at - name
        else:
            return self.note(NOTE_FOLDER_NAME, "MQRFH2", origin, "")
        if at == stop or seen & COLON or not CLASS[at[0]] & SPACE and at[0] != c">" and at[0] != c"/":
            return self.note(NOTE_FOLDER_NAME, "MQRFH2", origin, "")
        at = attributes_read(at, stop, &dt, &nil, &content, &odd)
        if at == NULL or odd:
            return self.note(NOTE_FOLDER_MALFORMED, "MQRFH2", origin, self.shown(name, length))
        if folder_is(name, length, b"usr"):
            known = True
        else:
            for folder_name in GROUPED:
                if folder_is(name, length, <bytes> folder_name):
                    known = grouped = True
                    break
            else:
                for folder_name in PLAIN:
                    if folder_is(name, length, <bytes> folder_name):
                        known = True
                        break
        if not known:
            if not content:
                return self.note(NOTE_FOLDER_PLAIN, "MQRFH2", origin, self.shown(name, length))
            if seen & DOT:
                return self.note(NOTE_FOLDER_DOTTED, "MQRFH2", origin, self.shown(name, length))
            grouped = True
        number = 0
        for folder_name in ONCE:
            if folder_is(name, length, <bytes> folder_name):
                if self.first_seen >> number & 1 or (number < ONCE_IN_FIRST and not self.first_header):
                    return self.note(NOTE_FOLDER_REPEATED, "MQRFH2", origin, self.shown(name, length))
                self.first_seen |= <uint32_t> 1 << number
                break
            number += 1
        folder.name = name
        folder.length = length
        folder.node = self.node_find(-1, name, length) if self.any_folder else -1
        if folder.node < 0 and not self.never and not self.everything and not self.any_long:
            return 0
        if self.any_long:
            folder.longest = self.node_of_long_folder(name, length)
        folder.path = length
        folder.group = -1
        folder.flags = 0
        folder.dt = 0
        folder.nil = False
        folder.inside = 0
        if length == 3 and known and name[0] == c"u":
            folder.flags |= USR
            folder.path = -1    # no name of a folder and no dot before that of the property
        elif name[0] | 0x20 == c"m" and length > 1 and name[1] | 0x20 == c"q":
            if not (length >= 6 and name[:6].lower() == b"mq_usr"):
                folder.flags |= MQ_NAME
            if known and length == 2:
                folder.flags |= RESTRICTED
        if not known and self.is_invalid_folder(name, length, seen):
            folder.flags |= INVALID
        self.hit_count = self.group_count = 0
        self.name_bytes = 0
        self.invalid_here = self.spilt = self.committing = False
        noted = 0 if self.notes is None else len(self.notes)
        inside = at + 1
        if folder.flags & RESTRICTED and (content or self.is_beyond_restriction(start, stop)):
            trouble = NOTE_FOLDER_RESTRICTED
        elif at[0] == c"/":
            trouble = 0 if self.is_padding(at + 2, stop) else NOTE_FOLDER_MALFORMED
        else:
            trouble = self.scan(stack, inside, stop, grouped)
            if trouble == 0 and self.name_bytes > NAMES_FACTOR * (stop - start) + NAMES_FLOOR:
                trouble = NOTE_FOLDER_TOO_BIG
        if trouble or self.spilt:
            for number in range(<int> self.hit_count):
                if self.hits[number].node >= 0:
                    self.nodes[self.hits[number].node].stamp = 0
            if self.notes is not None:
                del self.notes[noted:]  # what was found inside no longer matters, or is found again
            if trouble:
                return self.note(trouble, "MQRFH2", origin, self.shown(name, length))
            self.committing = True
            self.hit_count = self.group_count = 0
            folder.inside = 0
            self.scan(stack, inside, stop, grouped)
        self.invalid |= self.invalid_here
        return self.commit(folder)

    cdef int node_of_long_folder(self, const uint8_t *name, Py_ssize_t length) noexcept:
        """Find who wants the name without a folder that a folder's is cut to."""
        cdef Open usr
        if length < MAX_NAME:
            return -1
        usr.longest = -1
        usr.node = self.node_find(-1, b"usr", 3)
        return self.node_of_long(&usr, name, length)

    cdef bint is_padding(self, const uint8_t *at, const uint8_t *stop) noexcept:
        """Tell whether nothing follows the folder but what fills up, or a NUL and what it hides."""
        at = skip_padding(at, stop)
        return at == stop or at[0] == 0

    cdef bint is_beyond_restriction(self, const uint8_t *at, const uint8_t *stop) noexcept:
        """Tell what the mq folder may not have: characters of several bytes, escapes, white space but blanks."""
        while at < stop:
            if at[0] >= 0x80 or at[0] == c"&" or at[0] == c"\t" or at[0] == c"\n" or at[0] == c"\r":
                return True
            at += 1
        return False

    cdef str shown(self, const uint8_t *name, Py_ssize_t length):
        """Give a name for a note."""
        if self.notes is None:
            return ""
        text = name[:min(length, 200)].decode("utf-8", "replace")
        return text if length <= 200 else f"{text}…"

    cdef bint is_invalid_folder(self, const uint8_t *name, Py_ssize_t length, int seen) except -1:
        """Tell whether no property can have a name that begins with that of this folder."""
        if (length >= 3 and memcmp(name, b"JMS", 3) == 0) or (
            length == 4 and (memcmp(name, b"Root", 4) == 0 or memcmp(name, b"Body", 4) == 0)
        ):
            return True
        return seen & ODD and self.is_odd(name, length, True)

    cdef bint is_odd(self, const uint8_t *name, Py_ssize_t length, bint first) except -1:
        """Look at a part of a name that is not plain ASCII."""
        try:
            return not _is_identifier(name[:length].decode("utf-8"), first=first)
        except UnicodeDecodeError:
            return True

    cdef int node_find(self, int parent, const uint8_t *name, Py_ssize_t length) noexcept:
        cdef uint32_t hashed = name_hash(parent, name, length)
        cdef int number = self.table[hashed & self.mask]
        cdef Node *node
        while number >= 0:
            node = &self.nodes[number]
            if (
                node.hash == hashed and node.parent == parent and node.length == length
                and memcmp(node.name, name, length) == 0
            ):
                return number
            number = node.next
        return -1

    cdef int scan(self, Open *stack, const uint8_t *at, const uint8_t *stop, bint grouped) except -1:
        """Read the content of a folder down to the end of its bytes. Returns 0 or the number of a note."""
        cdef int depth = 0
        cdef int seen, byte
        cdef bint content = False
        cdef bint odd, is_text
        cdef bint judging = self.never or self.everything
        cdef bint restricted = stack[0].flags & RESTRICTED
        cdef bint quick = not self.everything and not self.any_long
        cdef Open *top = stack
        cdef Open *below
        cdef const uint8_t *text
        cdef const uint8_t *name
        cdef Py_ssize_t length
        while True:
            text = at
            at = <const uint8_t *> memchr(at, c"<", stop - at)
            if at == NULL or stop - at < 3:
                return NOTE_FOLDER_MALFORMED
            if at[1] == c"/":
                length = top.length
                name = at + 2 + length
                if name >= stop or memcmp(at + 2, top.name, length) != 0:
                    if at[2] != c">":
                        return NOTE_FOLDER_MALFORMED
                    top.inside |= MARKUP | TEXT
                    at += 3
                    continue
                if name[0] != c">":
                    name = skip_space(name, stop)
                    if name == stop or name[0] != c">":
                        return NOTE_FOLDER_MALFORMED
                if depth and not top.inside:
                    # Most elements nobody wants, and their names are plain: none is a keyword, none begins with JMS.
                    if not quick or top.node >= 0 or top.flags & ~USR or length < 8 or top.name[0] == c"J":
                        self.take(stack, depth, text, at - text)
                    else:
                        self.name_bytes += top.path if top.path < MAX_NAME_BYTES else MAX_NAME_BYTES
                elif depth and not top.inside & CHILDREN:
                    self.take(
                        stack, depth, text, -(NOTE_VALUE_MARKUP if top.inside & MARKUP else NOTE_ELEMENT_ATTRIBUTES)
                    )
                elif top.inside & TEXT or (text != at and not is_blank(text, at)):
                    self.note(NOTE_MIXED_CONTENT, "MQRFH2", self.header, self.shown(top.name, length))
                at = name + 1
                if depth == 0:
                    return 0 if self.is_padding(at, stop) else NOTE_FOLDER_MALFORMED
                depth -= 1
                top = &stack[depth]
                continue
            name = at + 1
            seen = 0
            byte = CLASS[name[0]]
            if byte & (IN_NAME | NO_START) != IN_NAME:
                if not byte & IN_NAME or name[0] == c"!" or name[0] == c"?":
                    top.inside |= MARKUP if is_blank(text, at) else MARKUP | TEXT
                    at = skip_markup(at, stop, &is_text)
                    if at == NULL:
                        return NOTE_FOLDER_MALFORMED
                    if is_text:
                        top.inside |= TEXT
                    continue
                seen = NAMELESS | ODD
            if text != at and not is_blank(text, at):
                self.note(NOTE_MIXED_CONTENT, "MQRFH2", self.header, self.shown(top.name, top.length))
            if not top.inside & CHILDREN:
                top.inside |= CHILDREN
                if depth:
                    if not grouped:
                        if restricted:
                            return NOTE_FOLDER_RESTRICTED
                        if not top.flags & LOST:
                            top.flags |= LOST
                            self.note(NOTE_GROUP_NOT_ALLOWED, "MQRFH2", self.header, self.shown(top.name, top.length))
                    elif self.everything:
                        top.group = self.group_add(top, stack[depth - 1].group)
            if depth == MAX_DEPTH:
                return NOTE_FOLDER_DEPTH
            at = name
            while True:
                seen |= byte
                at += 1
                if at == stop:
                    return NOTE_FOLDER_MALFORMED
                byte = CLASS[at[0]]
                if not byte & IN_NAME:
                    break
            length = at - name
            below = &stack[depth + 1]
            below.name = name
            below.length = length
            below.path = top.path + 1 + length
            below.flags = top.flags | seen & (DOT | ODD)
            below.dt = 0
            below.nil = False
            below.inside = 0
            below.node = -1
            if top.node >= 0 and self.nodes[top.node].expected & name_bit(name, length):
                below.node = self.node_find(top.node, name, length)
            if seen & ODD:
                if seen & (COLON | NAMELESS):
                    below.flags |= LOST
                    self.note(NOTE_ELEMENT_NAME, "MQRFH2", self.header, self.shown(name, length))
                elif (judging or below.node >= 0) and self.is_odd(name, length, False):
                    below.flags |= INVALID
            if not quick:
                below.group = -1
                below.longest = self.node_of_long(top, name, length) if self.any_long else -1
            if at[0] != c">":
                if not byte & SPACE and at[0] != c"/":
                    return NOTE_FOLDER_MALFORMED
                # The one form of attributes that a queue manager writes most.
                if stop - at > 9 and memcmp(at, b" dt='", 5) == 0 and at[7] == c"'" and at[8] == c">":
                    below.dt = dt_read(at + 5, 2)
                    at += 8
                else:
                    odd = False
                    at = attributes_read(at, stop, &below.dt, &below.nil, &content, &odd)
                    if odd:
                        below.inside = ATTRIBUTES
                if at == NULL:
                    return NOTE_FOLDER_MALFORMED
                if restricted and (content or below.nil):
                    return NOTE_FOLDER_RESTRICTED
            depth += 1
            top = below
            if at[0] == c"/":
                at += 2
                self.take(stack, depth, at, -NOTE_ELEMENT_ATTRIBUTES if top.inside else 0)
                depth -= 1
                top = &stack[depth]
            else:
                at += 1

    cdef int group_add(self, Open *group, int parent) except -1:
        cdef void *room
        if self.group_count == self.group_room:
            room = realloc(self.groups, (self.group_room * 2 + 16) * sizeof(Group))
            if room == NULL:
                raise MemoryError
            self.groups = <Group *> room
            self.group_room = self.group_room * 2 + 16
        self.groups[self.group_count].name = group.name
        self.groups[self.group_count].length = group.length
        self.groups[self.group_count].parent = parent
        self.group_count += 1
        return <int> self.group_count - 1

    cdef int take(self, Open *stack, int depth, const uint8_t *text, Py_ssize_t size) except -1:
        """Write an element down if somebody wants it; a size below zero says why its text cannot be told."""
        cdef Open *top = &stack[depth]
        cdef Hit *hit
        cdef void *room
        cdef int node = top.node
        if top.flags & LOST:
            return 0
        self.name_bytes += top.path if top.path < MAX_NAME_BYTES else MAX_NAME_BYTES
        if top.flags & DOT:
            return self.note(NOTE_ELEMENT_DOTTED, "MQRFH2", self.header, self.shown(top.name, top.length))
        if self.never or self.everything or top.flags & INVALID or node >= 0:
            if top.flags & INVALID or (top.flags & MQ_NAME and depth > 1) or (top.flags & USR and (
                (top.length >= 3 and memcmp(top.name, b"JMS", 3) == 0) or is_reserved(top.name, top.length)
                or (top.length == 4 and (memcmp(top.name, b"Root", 4) == 0 or memcmp(top.name, b"Body", 4) == 0))
                or (top.flags & ODD and self.is_odd(top.name, top.length, True))
            )):
                self.invalid_here = True
                return self.note(NOTE_NAME_INVALID, "MQRFH2", self.header, self.shown(top.name, top.length))
        if top.path > MAX_NAME and self.any_long and top.longest >= 0:
            node = top.longest
        if node >= 0 and (self.nodes[node].count == 0 or self.nodes[node].stamp == self.stamp):
            node = -1
        if node < 0 and not self.everything:
            return 0
        if self.hit_count == MAX_HITS:
            if not self.committing:
                self.spilt = True
                return 0
            self.commit(stack)
        if node >= 0:
            self.nodes[node].stamp = self.stamp
        if self.hit_count == self.hit_room:
            room = realloc(self.hits, (self.hit_room * 2 + 16) * sizeof(Hit))
            if room == NULL:
                raise MemoryError
            self.hits = <Hit *> room
            self.hit_room = self.hit_room * 2 + 16
        hit = &self.hits[self.hit_count]
        self.hit_count += 1
        hit.node = node
        hit.group = stack[depth - 1].group if depth > 1 else -1
        hit.depth = depth
        hit.dt = top.dt
        hit.nil = top.nil
        hit.name = top.name
        hit.length = top.length
        hit.path = top.path
        hit.text = text
        hit.size = size
        return 0

    cdef int node_of_long(self, Open *top, const uint8_t *name, Py_ssize_t length) noexcept:
        """Find who wants the name that a longer one, of this element or one in it, is cut to.

        The last part of a name that is as long as names may be is compared in characters, with the beginning of an
        element's: so it takes no more than the element's bytes, however long the path to it.
        """
        cdef Py_ssize_t size = 0
        cdef int left
        if top.longest >= 0:
            return top.longest
        if top.node < 0 or self.nodes[top.node].longest == 0:
            return -1
        left = self.nodes[top.node].longest
        while size < length:
            if name[size] & 0xC0 != 0x80:
                left -= 1
                if left == 0:
                    break
            size += 1
        return -1 if left > 1 else self.node_find(top.node, name, size)

    cdef object name_of(self, Open *folder, Hit *hit):
        """Make the name of a property, cut to the greatest length."""
        cdef int[129] groups
        cdef Group *group
        cdef int number = hit.group
        cdef int count = 0
        cdef Py_ssize_t size
        cdef list parts
        if hit.length <= MAX_NAME and folder.flags & USR and number < 0:
            return hit.name[:hit.length].decode("utf-8")
        while number >= 0:
            groups[count] = number
            number = self.groups[number].parent
            count += 1
        # From the folder down to what counts: a path may be far longer.
        size = 0 if folder.flags & USR else min(folder.length, MAX_NAME_BYTES)
        parts = [] if folder.flags & USR else [folder.name[:size]]
        while count and size < MAX_NAME_BYTES:
            count -= 1
            group = &self.groups[groups[count]]
            parts.append(group.name[:min(group.length, MAX_NAME_BYTES)])
            size += group.length
        if size < MAX_NAME_BYTES:
            parts.append(hit.name[:min(hit.length, MAX_NAME_BYTES)])
        # Its parts are UTF-8, or the name would be invalid; a character cut in two stands behind the 4095 that count.
        return b".".join(parts).decode("utf-8", "replace")[:MAX_NAME]

    cdef int commit(self, Open *folder) except -1:
        """Take the values that were written down of a folder that has proved well-formed."""
        cdef Py_ssize_t place
        cdef Hit *hit
        cdef Node *node
        cdef Target *target
        cdef int number, dt, trouble
        cdef Py_ssize_t offset
        cdef bint is_jms = folder.length == 3 and memcmp(folder.name, b"jms", 3) == 0
        cdef str source = None
        if self.sources is not None:
            source = folder.name[:folder.length].decode("utf-8", "replace")
        for place in range(self.hit_count):
            hit = &self.hits[place]
            dt = hit.dt
            offset = self.folder_origin
            if not self.folder_wide:
                offset += hit.name - 1 - self.folder_start
            if dt == 0 and is_jms and hit.depth == 1:
                dt = jms_type(hit.name, hit.length)
            if hit.node >= 0:
                node = &self.nodes[hit.node]
                for number in range(node.first, node.first + node.count):
                    target = &self.targets[number]
                    if self.ranks[target.slot] <= target.rank:
                        continue
                    trouble = self.fill_slot(target.slot, hit, dt, target.conversion)
                    if trouble == 0:
                        self.ranks[target.slot] = target.rank
                    else:
                        self.note(trouble, "MQRFH2", offset, self.names[target.slot])
            if self.found is not None:
                self.commit_element(folder, hit, dt, offset, source)
        self.hit_count = 0
        return 0

    cdef int fill_slot(self, int slot, Hit *hit, int dt, int conversion) except -1:
        """Fill a slot, or leave it as it was. Returns 0 or the number of a note."""
        cdef Value value
        cdef PyObject *owner = NULL
        cdef PyObject *old
        cdef int trouble
        try:
            trouble = value_converted(&value, &owner, hit, dt, conversion)
            if trouble == 0:
                # Both at once: whoever holds the record may read it whenever code of others runs.
                old = self.record.owners[slot]
                self.record.values[slot] = value
                self.record.owners[slot] = owner
                owner = old
        finally:
            Py_XDECREF(owner)
        return trouble

    cdef int commit_element(self, Open *folder, Hit *hit, int dt, Py_ssize_t offset, str source) except -1:
        """Put one element among all that were found."""
        cdef Value value
        cdef PyObject *owner = NULL
        cdef int trouble
        cdef object name = self.name_of(folder, hit)
        if hit.path > MAX_NAME and len(name) == MAX_NAME:
            self.note(NOTE_NAME_TRUNCATED, "MQRFH2", offset, self.shown(hit.name, hit.length))
        cdef Py_ssize_t count = len(self.found)
        try:
            trouble = value_converted(&value, &owner, hit, dt, AS_TYPED)
            if self.dropped is not None and name in self.dropped:
                return self.note(NOTE_DUPLICATE, "MQRFH2", offset, name)
            if trouble:
                if name in self.found:
                    return self.note(NOTE_DUPLICATE, "MQRFH2", offset, name)
                if self.dropped is None:
                    self.dropped = set()
                self.dropped.add(name)
                return self.note(trouble, "MQRFH2", offset, name)
            # One look into the dict: it grows if the name was not there.
            PyDict_SetDefault(self.found, name, value_object(&value))
            if len(self.found) == count:
                return self.note(NOTE_DUPLICATE, "MQRFH2", offset, name)
            if self.sources is not None:
                self.sources.append(source)
                self.offsets.append(offset)
            if dt == DT_UNKNOWN:
                self.note(NOTE_TYPE_UNKNOWN, "MQRFH2", offset, name)
        finally:
            Py_XDECREF(owner)
        return 0

    # ---- fields of the MQMD

    cdef const uint8_t *field_at(self, int offset) noexcept:
        """Find a field of the MQMD: it may stand in an honoured MQMDE. Of the body, the Format."""
        if offset >= BODY:
            return self.parts.format
        if offset >= MD_SPLIT:
            return self.parts.later + (offset - MD_SPLIT)
        if self.parts.mqmde != NULL and MD_ENCODING <= offset < MD_PRIORITY:
            return self.parts.mqmde + (offset - MDE_SHIFT)
        return self.parts.mqmd + offset

    cdef object field_text(self, const uint8_t *at, Py_ssize_t length, int offset):
        """Make a string of a character field."""
        cdef bint ebcdic = self.parts.format_ebcdic if offset >= BODY else self.parts.ebcdic
        cdef PyObject *made
        cdef int ccsid = self.ccsid
        if self.strip:
            length = stripped(at, length, ebcdic)
        if ebcdic:
            if ccsid == 0:
                ccsid = read_i32(self.parts.mqmd + MD_CCSID, self.parts.big)
            page = EBCDIC.get(ccsid) or EBCDIC[500]
            try:
                return PyUnicode_DecodeCharmap(<const char *> at, length, page, NULL)
            except UnicodeDecodeError:
                self.note_field(NOTE_FIELD_ENCODING, offset, "")
                return PyUnicode_DecodeCharmap(<const char *> at, length, page, b"replace")
        # Most fields are blank in most messages: a third of the instructions that reading all fields takes.
        if memcmp(at, BLANK, length) == 0:
            return BLANKS[length]
        if ccsid == 819:
            made = PyUnicode_DecodeLatin1(<const char *> at, length, NULL)
        else:
            made = PyUnicode_DecodeUTF8(<const char *> at, length, NULL)
            if made == NULL:
                PyErr_Clear()
                self.note_field(NOTE_FIELD_ENCODING, offset, "")
                return at[:length].decode("utf-8", "replace")
        if made == NULL:
            raise MemoryError
        text = <object> made
        Py_XDECREF(made)
        return text

    cdef int note_field(self, int number, int offset, object what) except -1:
        """Say that something is wrong with a field."""
        if offset < BODY:
            return self.note(number, "MQMD", offset, what)
        return self.note(number, self.describing(), self.parts.format - self.parts.data, what)

    cdef str describing(self):
        """Name the structure that describes the data; for a note or a row."""
        return "" if self.structures is None else self.structures[len(self.structures) - 2][0]

    cdef int field_value(self, Value *value, PyObject **owner, FieldTarget *field) except -1:
        """Read a field as a slot wants it. Returns 0, or the number of a note."""
        cdef const uint8_t *at = self.field_at(field.offset)
        cdef bint big = self.parts.later_big if field.offset >= MD_SPLIT else self.parts.big
        cdef int64_t number
        cdef Py_ssize_t length
        cdef int conversion = field.conversion
        value_null(value)
        if field.kind == MQLONG:
            if field.offset < BODY:
                number = read_i32(at, big)
            else:
                number = self.parts.encoding if field.offset == BODY_ENCODING else self.parts.ccsid
            if conversion == AS_TYPED:
                value_number(value, INT32, MQTYPE_INT32, number)
            elif conversion == FROM_PERSISTENCE:
                if number == 0 or number == 1:
                    return value_keep(
                        value, owner, STRING, MQTYPE_STRING, PERSISTENT if number else NON_PERSISTENT
                    )
            elif conversion == IS_POSITIVE:
                value_number(value, BOOLEAN, MQTYPE_BOOLEAN, number > 0)
            elif conversion == PLUS_ONE:
                value_number(value, INT32, MQTYPE_INT32, number + 1 if number < 0x7FFFFFFF else number)
            elif conversion == UNLESS_ZERO:
                if number:
                    value_number(value, INT32, MQTYPE_INT32, number)
            elif conversion == BITS:
                if number & field.mask:
                    value_number(value, INT32, MQTYPE_INT32, number & field.mask)
            elif conversion == HAS_BITS:
                value_number(value, BOOLEAN, MQTYPE_BOOLEAN, number & field.mask != 0)
            elif number in _mqmd.CHARACTER_SETS:
                return value_keep(value, owner, STRING, MQTYPE_STRING, _mqmd.CHARACTER_SETS[number])
            return 0
        if field.kind == MQBYTE:
            if conversion == AS_TYPED:
                return value_keep(
                    value, owner, BYTES, MQTYPE_BYTE_STRING, PyBytes_FromStringAndSize(<const char *> at, field.length)
                )
            if memcmp(at, DEFAULT_LATER, 24) != 0:
                return value_keep(value, owner, STRING, MQTYPE_STRING, identifier_text(at))
            return 0
        if conversion == AS_TYPED:
            return value_keep(
                value, owner, STRING, MQTYPE_STRING, self.field_text(at, field.length, field.offset)
            )
        if conversion == FROM_TIMESTAMP:
            return timestamp_read(value, at, self.parts.ebcdic)
        # FROM_QUEUE: ReplyToQ, and behind it ReplyToQMgr
        length = stripped(at, 48, self.parts.ebcdic)
        if length:
            queue = self.field_text(at, length, field.offset)
            length = stripped(at + 48, 48, self.parts.ebcdic)
            manager = self.field_text(at + 48, length, field.offset + 48)
            return value_keep(value, owner, STRING, MQTYPE_STRING, f"queue://{manager}/{queue}")
        return 0

    cdef int fill_fields(self) except -1:
        """Fill the slots that no element has filled, or could."""
        cdef FieldTarget *field
        cdef int place, trouble
        for place in range(self.field_count):
            field = &self.fields[place]
            if self.ranks[field.slot] <= field.rank:
                continue
            trouble = self.field_value(&self.record.values[field.slot], &self.record.owners[field.slot], field)
            if trouble:
                self.note_field(trouble, field.offset, self.names[field.slot])
            elif self.record.values[field.slot].tag != NULL_VALUE:
                self.ranks[field.slot] = field.rank
        return 0

    cdef int list_mqmd(self) except -1:
        """Put the fields of the MQMD among all that was found."""
        cdef int place, offset
        cdef FieldTarget *field
        cdef dict found = self.found
        cdef object value
        cdef const uint8_t *at
        if self.parts.mqmd == NULL:
            return 0
        for place in range(len(LISTED_NAMES)):
            field = &LISTED[place]
            at = self.field_at(field.offset)
            if field.kind == MQLONG:
                value = int32_object(
                    read_i32(at, self.parts.later_big if field.offset >= MD_SPLIT else self.parts.big)
                )
            elif field.kind == MQBYTE:
                value = PyBytes_FromStringAndSize(<const char *> at, field.length)
            else:
                value = self.field_text(at, field.length, field.offset)
            found[LISTED_NAMES[place]] = found[LISTED_ALIASES[place]] = value
            if self.sources is not None:
                source, offset = "default", -1
                if self.parts.data <= at < self.parts.data + self.parts.size:
                    offset = <int> (at - self.parts.data)
                    source = "MQMD" if offset < (324 if self.parts.version == 1 else 364) else "MQMDE"
                self.sources += [source, LISTED_NAMES[place]]
                self.offsets.extend((offset, -1))
        return 0

    cdef int list_views(self) except -1:
        """Put the JMS names among all that was found."""
        cdef Py_ssize_t slot
        cdef str source
        cdef Value *value
        for slot in range(len(self.names)):
            if self.ranks[slot] == UNFILLED:
                continue
            value = &self.record.values[slot]
            name = self.names[slot]
            if self.sources is not None:
                path = _jms.JMS[name][self.ranks[slot]].path
                source = path.replace("/", ".")
                if source.startswith("body."):
                    structure = self.describing()
                    source = f"{'MQMD' if structure == 'MQMDE' else structure}{source[4:]}"
                if source.startswith("MQMD."):
                    source = f"Root.{source}"
                self.sources.append(source)
                self.offsets.append(-1)
            self.found[name] = value_object(value)
        return 0


cdef str identifier_text(const uint8_t *at):
    """Write an identifier as JMS does."""
    return "ID:" + at[:24].hex()


cdef int timestamp_read(Value *value, const uint8_t *at, bint ebcdic) noexcept:
    """Read PutDate YYYYMMDD and, behind it, PutTime HHMMSSTH. Returns 0, or the number of a note."""
    cdef int[16] digits
    cdef int place
    cdef uint8_t byte
    cdef bint blank = True
    cdef int64_t year, month, day, era, days, seconds
    for place in range(16):
        byte = EBCDIC_500[at[place]] if ebcdic else at[place]
        blank = blank and (byte == c" " or byte == 0)
        digits[place] = <int> byte - <int> c"0"
    if blank:
        return 0
    for place in range(16):
        if not 0 <= digits[place] <= 9:
            return NOTE_FIELD_DATE
    year = digits[0] * 1000 + digits[1] * 100 + digits[2] * 10 + digits[3]
    month = digits[4] * 10 + digits[5]
    day = digits[6] * 10 + digits[7]
    if not 1 <= month <= 12 or not 1 <= day <= 31 or digits[8] * 10 + digits[9] > 23:
        return NOTE_FIELD_DATE
    # 60 and 61 are leap seconds: milliseconds since 1970 count them as the first of the next minute.
    if digits[10] > 5 or digits[12] * 10 + digits[13] > 61:
        return NOTE_FIELD_DATE
    # Days since 1970 in the Gregorian calendar, years beginning in March.
    year -= month <= 2
    era = (year if year >= 0 else year - 399) // 400
    year -= era * 400
    days = era * 146097 + year * 365 + year // 4 - year // 100 + (
        (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    ) - 719468
    seconds = ((digits[8] * 10 + digits[9]) * 60 + digits[10] * 10 + digits[11]) * 60 + digits[12] * 10 + digits[13]
    value_number(
        value, INT64, MQTYPE_INT64, (days * 86400 + seconds) * 1000 + digits[14] * 100 + digits[15] * 10
    )
    return 0
