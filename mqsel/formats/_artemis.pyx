# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Reads messages of Artemis's XML for the properties of a selector: one pass, which builds only the values needed.

It accepts a message only as the exporter lays it out: attributes, properties, queues, body. Any other, faulty or merely
rare, is left to `artemis`, which reads it again and reports the error or returns the values. Every read is bounded by
the message, every loop by the bytes it consumes. Follows formats §8.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport free
from libc.string cimport memchr, memcmp

from mqsel.formats._decoder cimport FILLED, UNREAD, Decoder, bytes_keep, element_read, string_keep
from mqsel.formats._json cimport Name
from mqsel.formats._words cimport text_hash
from mqsel.formats._tables cimport AS_TYPED
from mqsel.machine._values cimport (
    BOOLEAN, MQTYPE_BOOLEAN, MQTYPE_BYTE_STRING, MQTYPE_STRING, Record, Value, value_integer, value_null, value_python,
    zeroed
)

import re as _re

from mqsel.formats.mqrfh2 import ESCAPES as _ESCAPES
from mqsel.values import JAVA_WORDS as _JAVA_WORDS
from mqsel.values import TYPES as _TYPES

cdef enum:
    NOTHING = -1
    IDENTIFIED_BY = -2          # what stands for a type of property: ID: and the text
    ATTRIBUTES = 8
    WORDS = 16

# A piece of the message.
cdef struct Piece:
    const uint8_t *at
    Py_ssize_t size

# A word for a type.
cdef struct TypeWord:
    const uint8_t *text
    Py_ssize_t size
    int mqtype

# An attribute of a message that is the source of slots.
cdef struct Attribute:
    const uint8_t *text
    Py_ssize_t size
    int mqtype
    int first               # the first slot that wants it, or NOTHING

_NUMBERS = {_row.name: int(_row.number) for _row in _TYPES}
# The types that the exporter names, the commonest first: artemis-cli, XmlDataConstants.
PROPERTY_TYPES = {
    "simple-string": "string",
    **{
        _word: _JAVA_WORDS[_word]
        for _word in ("integer", "long", "boolean", "double", "string", "byte", "short", "float", "bytes")
    },
}
cdef TypeWord[WORDS] TYPE_WORDS
cdef int WORD_COUNT = len(PROPERTY_TYPES)
cdef list _WORD_TEXTS = [_word.encode() for _word in PROPERTY_TYPES]
for _place, _type in enumerate(PROPERTY_TYPES.values()):
    TYPE_WORDS[_place].text = <const uint8_t *> PyBytes_AS_STRING(_WORD_TEXTS[_place])
    TYPE_WORDS[_place].size = PyBytes_GET_SIZE(_WORD_TEXTS[_place])
    TYPE_WORDS[_place].mqtype = _NUMBERS[_type]


# ---- values ------------------------------------------------------------------------------------------------------

_REFERENCE = _re.compile(r"&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#x([0-9A-Fa-f]{1,6}));|&")


def unescaped(bytes text) -> str | None:
    """Return the characters of an attribute, or None if they are invalid.

    Line ends stay as they are: the exporter writes those of a value so. Java writes a character above U+FFFF as two
    references, one to each half.
    """
    def character(match):
        if match[1]:
            return _ESCAPES[match[1]]
        if not match[2] and not match[3]:
            raise ValueError
        return chr(int(match[2]) if match[2] else int(match[3], 16))

    try:
        found = _REFERENCE.sub(character, text.decode())
        return found.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    except (ValueError, OverflowError):
        return None


cdef int text_load(Value *value, PyObject **owner, const uint8_t *text, Py_ssize_t size, int mqtype) except -1:
    """Read a value as it stands in an attribute. Returns whether it is one of the type."""
    if size == 9 and memcmp(text, b"_AMQ_NULL", 9) == 0:
        value_null(value)
        return 1
    if mqtype == MQTYPE_BOOLEAN:
        if size == 4 and memcmp(text, b"true", 4) == 0:
            value_integer(value, BOOLEAN, MQTYPE_BOOLEAN, 1)
            return 1
        value_integer(value, BOOLEAN, MQTYPE_BOOLEAN, 0)
        return size == 5 and memcmp(text, b"false", 5) == 0
    if mqtype == MQTYPE_BYTE_STRING:
        from base64 import b64decode  # few properties are bytes
        try:
            made = b64decode((<bytes> text[:size]).translate(_URL_SAFE), validate=True)
        except ValueError:
            return 0
        bytes_keep(value, owner, made)
        return 1
    if mqtype != MQTYPE_STRING and mqtype != IDENTIFIED_BY:
        return element_read(value, owner, text, size, mqtype, AS_TYPED) == 0
    if element_read(value, owner, text, size, MQTYPE_STRING, AS_TYPED) != 0:
        made = unescaped(<bytes> text[:size])
        if made is None:
            return 0
        string_keep(value, owner, made)
    if mqtype == IDENTIFIED_BY:
        string_keep(value, owner, "ID:" + <str> <object> value.it.o)
    return 1


_URL_SAFE = bytes.maketrans(b"-_", b"+/")


def read_text(bytes text not None, str kind not None):
    """Return the value of an attribute: of a type of `mqsel.values`, or "identifier".

    Raises: ValueError: it is none.
    """
    cdef Record record = Record(("value",))
    cdef int mqtype = IDENTIFIED_BY if kind == "identifier" else _NUMBERS[kind]
    text_at = <const uint8_t *> PyBytes_AS_STRING(text)
    if not text_load(record.values, record.owners, text_at, PyBytes_GET_SIZE(text), mqtype):
        raise ValueError
    return value_python(record.values)


# ---- markup: each returns where the thing ends, or NULL ----------------------------------------------------------

cdef inline const uint8_t *blanks(const uint8_t *at, const uint8_t *stop) noexcept:
    while at < stop and (at[0] == c" " or at[0] == c"\n" or at[0] == c"\t" or at[0] == c"\r"):
        at += 1
    return at


cdef inline const uint8_t *word(const uint8_t *at, const uint8_t *stop, const char *text, Py_ssize_t size) noexcept:
    return at + size if stop - at >= size and memcmp(at, text, size) == 0 else NULL


cdef inline bint is_word(Piece *piece, const char *text, Py_ssize_t size) noexcept:
    return piece.size == size and memcmp(piece.at, text, size) == 0


cdef inline const uint8_t *attribute_end(const uint8_t *at, const uint8_t *stop, Piece *name, Piece *value) noexcept:
    """Pass an attribute; its name is empty where the tag ends instead."""
    cdef const uint8_t *start = at
    cdef uint8_t quote
    at = blanks(at, stop)
    name.size = 0
    if at == stop:
        return NULL
    if at[0] == c">" or at[0] == c"/":
        return at
    if at == start:
        return NULL
    name.at = at
    while at < stop and at[0] != c"=":
        if at[0] <= c" " or at[0] == c"<" or at[0] == c">" or at[0] == c'"' or at[0] == c"'" or at[0] == c"/" or (
            at[0] == c"&"
        ):
            return NULL
        at += 1
    name.size = at - name.at
    if stop - at < 2 or name.size == 0:
        return NULL
    quote = at[1]
    if quote != c'"' and quote != c"'":
        return NULL
    at += 2
    value.at = at
    while at < stop and at[0] != quote:
        if at[0] == c"<":
            return NULL
        at += 1
    if at == stop:
        return NULL
    value.size = at - value.at
    return at + 1


cdef const uint8_t *attributes_end(const uint8_t *at, const uint8_t *stop) noexcept:
    """Pass all attributes of a tag, up to its end."""
    cdef Piece name, value
    name.size = 1
    while at != NULL and name.size:
        at = attribute_end(at, stop, &name, &value)
    return at


cdef const uint8_t *empty_end(const uint8_t *at, const uint8_t *stop, const char *end, Py_ssize_t size) noexcept:
    """Pass the end of an element that has nothing inside: /> or > and the tag that ends it."""
    if at[0] == c"/":
        return word(at, stop, "/>", 2)
    return word(at + 1, stop, end, size)


# ---- messages ----------------------------------------------------------------------------------------------------

@cython.final
@cython.no_gc_clear  # the record is filled in place, and the tables point into the texts
cdef class ArtemisDecoder(Decoder):
    """Reads messages of Artemis's XML, each an element.

    Args:
        names: of the properties, in the order of the slots.
        sources: for each name an attribute of the message and its type, or a property and "", or a value alone.
        slow: takes a message, and returns all that the names stand for, or raises what is wrong.
    """

    cdef tuple sources
    cdef object slow
    cdef list texts                         # what the tables point into
    cdef Name *table                        # the names of properties, by hash
    cdef uint32_t mask                      # of a hash; the size of the table less one
    cdef int *following                     # for each slot the next one with the same source, or NOTHING
    cdef Attribute[ATTRIBUTES] attributes
    cdef int attribute_count
    cdef list constants                     # (slot, text)

    def __cinit__(self, names, sources, slow):
        cdef uint32_t size = 8
        cdef int slot
        self.sources = tuple(sources)
        self.slow = slow
        self.texts = []
        self.constants = []
        while size < 2 * len(self.names):
            size *= 2
        self.mask = size - 1
        self.table = <Name *> zeroed(size, sizeof(Name))
        self.following = <int *> zeroed(len(self.names), sizeof(int))
        for slot, (place, kind) in enumerate(self.sources):
            self.following[slot] = NOTHING
            if kind is None:
                self.constants.append((slot, place))
            elif kind:
                self.enter_attribute(place.encode(), IDENTIFIED_BY if kind == "identifier" else _NUMBERS[kind], slot)
            else:
                self.enter_name(place.encode("utf-8", "surrogatepass"), slot)

    def __dealloc__(self):
        free(self.table)
        free(self.following)

    def __reduce__(self):
        return ArtemisDecoder, (self.names, self.sources, self.slow)

    def __call__(self, message):
        if isinstance(message, str):
            message = message.encode("utf-8", "surrogatepass")
        elif not isinstance(message, bytes):
            message = self.hold(message)
        text = <const uint8_t *> PyBytes_AS_STRING(message)
        if self.read(text, text + PyBytes_GET_SIZE(message), text + PyBytes_GET_SIZE(message)) == FILLED:
            return self.record
        return self.slow(message, self.names)

    cdef int enter_name(self, bytes name, int slot) except -1:
        cdef const uint8_t *text = <const uint8_t *> PyBytes_AS_STRING(name)
        cdef Py_ssize_t size = PyBytes_GET_SIZE(name)
        cdef uint32_t place = text_hash(text, size) & self.mask
        self.texts.append(name)
        while self.table[place].text != NULL:
            if self.table[place].length == size and memcmp(self.table[place].text, text, size) == 0:
                self.following[slot] = self.table[place].target
                break
            place = (place + 1) & self.mask
        self.table[place].text = text
        self.table[place].length = size
        self.table[place].target = slot
        return 0

    cdef int enter_attribute(self, bytes name, int mqtype, int slot) except -1:
        cdef Attribute *row
        cdef int number
        for number in range(self.attribute_count):
            row = &self.attributes[number]
            if name == row.text[: row.size]:
                self.following[slot] = row.first
                row.first = slot
                return 0
        if self.attribute_count == ATTRIBUTES:
            raise AssertionError("more attributes than there is room for")
        row = &self.attributes[self.attribute_count]
        self.attribute_count += 1
        self.texts.append(name)
        row.text = <const uint8_t *> PyBytes_AS_STRING(name)
        row.size = PyBytes_GET_SIZE(name)
        row.mqtype = mqtype
        row.first = slot
        return 0

    cdef int slot_of(self, Piece *name) noexcept:
        """Return the first slot of a property, or NOTHING."""
        cdef uint32_t place = text_hash(name.at, name.size) & self.mask
        cdef Name *row = &self.table[place]
        while row.text != NULL:
            if row.length == name.size and memcmp(row.text, name.at, name.size) == 0:
                return row.target
            place = (place + 1) & self.mask
            row = &self.table[place]
        return NOTHING

    cdef int load(self, int slot, Piece *text, int mqtype) except -1:
        """Read a text into a slot, and into those that follow it. Returns whether it is a value of the type."""
        while slot != NOTHING:
            if not text_load(&self.record.values[slot], &self.record.owners[slot], text.at, text.size, mqtype):
                return 0
            slot = self.following[slot]
        return 1

    cdef int read(self, const uint8_t *at, const uint8_t *stop, const uint8_t *limit) except -1:
        """Fill the record from an element. UNREAD is for `artemis`."""
        cdef const uint8_t *end
        cdef Py_ssize_t slot
        cdef bint are_properties
        for slot in range(self.record.count):
            value_null(&self.record.values[slot])
        for slot, text in self.constants:
            string_keep(&self.record.values[slot], &self.record.owners[slot], text)
        at = word(at, stop, "<message", 8)
        if at == NULL:
            return UNREAD
        at = self.read_attributes(at, stop)
        if at == NULL:
            return UNREAD
        while True:
            at = blanks(at, stop)
            end = word(at, stop, "<properties", 11)
            are_properties = end != NULL
            if end == NULL:
                end = word(at, stop, "<queues", 7)
            if end != NULL:
                if end < stop and end[0] == c"/":
                    at = word(end, stop, "/>", 2)
                else:
                    end = word(end, stop, ">", 1)
                    at = self.read_properties(end, stop) if are_properties else self.pass_queues(end, stop)
            elif word(at, stop, "<body", 5) != NULL:
                at = self.pass_body(at + 5, stop)
            else:
                return FILLED if word(at, stop, "</message>", 10) == stop else UNREAD
            if at == NULL:
                return UNREAD

    cdef const uint8_t *read_attributes(self, const uint8_t *at, const uint8_t *stop) except? NULL:
        cdef Piece name, value
        cdef Attribute *row
        cdef int number
        cdef int missing = (1 << self.attribute_count) - 1
        while True:
            at = attribute_end(at, stop, &name, &value)
            if at == NULL:
                return NULL
            if name.size == 0:
                break
            for number in range(self.attribute_count):
                row = &self.attributes[number]
                if row.size == name.size and memcmp(row.text, name.at, name.size) == 0:
                    if not self.load(row.first, &value, row.mqtype):
                        return NULL
                    missing &= ~(1 << number)
        if at[0] != c">":
            return NULL
        for number in range(self.attribute_count):
            row = &self.attributes[number]
            if missing & 1 << number and row.mqtype != IDENTIFIED_BY:  # the importer takes 0
                value.at, value.size = <const uint8_t *> b"0", 1
                self.load(row.first, &value, row.mqtype)
        return at + 1

    cdef const uint8_t *read_properties(self, const uint8_t *at, const uint8_t *stop) except? NULL:
        cdef Piece name, value, attribute, text, kind
        cdef int slot, number
        while at != NULL:
            at = blanks(at, stop)
            if stop - at < 10 or memcmp(at, "<property", 9) != 0:
                return word(at, stop, "</properties>", 13)
            at += 9
            name.at = value.at = kind.at = NULL
            name.size = value.size = kind.size = 0
            while True:
                at = attribute_end(at, stop, &attribute, &text)
                if at == NULL:
                    return NULL
                if attribute.size == 0:
                    break
                if is_word(&attribute, "name", 4):
                    name = text
                elif is_word(&attribute, "value", 5):
                    value = text
                elif is_word(&attribute, "type", 4):
                    kind = text
            at = empty_end(at, stop, "</property>", 11)
            if name.at == NULL or memchr(name.at, c"&", name.size) != NULL:
                return NULL
            slot = self.slot_of(&name)
            if slot != NOTHING:
                if value.at == NULL:
                    return NULL
                for number in range(WORD_COUNT):
                    if is_word(&kind, <const char *> TYPE_WORDS[number].text, TYPE_WORDS[number].size):
                        if not self.load(slot, &value, TYPE_WORDS[number].mqtype):
                            return NULL
                        break
                else:
                    return NULL
        return NULL

    cdef const uint8_t *pass_queues(self, const uint8_t *at, const uint8_t *stop) noexcept:
        while at != NULL:
            at = blanks(at, stop)
            if stop - at < 7 or memcmp(at, "<queue", 6) != 0:
                return word(at, stop, "</queues>", 9)
            at = attributes_end(at + 6, stop)
            if at != NULL:
                at = empty_end(at, stop, "</queue>", 8)
        return NULL

    cdef const uint8_t *pass_body(self, const uint8_t *at, const uint8_t *stop) noexcept:
        at = attributes_end(at, stop)
        if at == NULL:
            return NULL
        if at[0] == c"/":
            return word(at, stop, "/>", 2)
        while True:
            at = <const uint8_t *> memchr(at, c"<", stop - at)
            if at == NULL:
                return NULL
            if word(at, stop, "<![CDATA[", 9) == NULL:
                return word(at, stop, "</body>", 7)
            at += 9
            while True:
                at = <const uint8_t *> memchr(at, c"]", stop - at)
                if at == NULL:
                    return NULL
                if word(at, stop, "]]>", 3) != NULL:
                    break
                at += 1
            at += 3
