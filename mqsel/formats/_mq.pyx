# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Reads IBM MQ messages: one pass over the bytes, driven by the names that are wanted.

First the folders of an MQRFH2: which elements are properties, and the values of those that are wanted. The elements of
a folder are gathered, and count only once the folder has proved well-formed; texts in them are read in `_decoder`. Then
the structures: the MQMD, the MQMDE and the chained headers, by the tables of `mqmd`; JMS names are made by the table of
`jms`. No length is trusted: every read is bounded by the message or the folder, every loop by the bytes it consumes.
What is skipped is noted; only an invalid structure raises DecodeError. Follows formats §2 to §7.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from cpython.ref cimport Py_XDECREF
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memchr, memcmp, memcpy, memset

from mqsel.formats._decoder cimport (
    FILLED, IDENTIFIED, INVALID_NAME, NOT_IDENTIFIED, Decoder, bytes_keep, element_read, plain_read, string_keep,
    utf8_put
)
from mqsel.formats._tables cimport *
from mqsel.formats._words cimport WORD, word_at, word_cut, word_find, word_first, word_of
from mqsel.machine._values cimport (
    BOOLEAN, INT32, INT64, MQTYPE_BOOLEAN, MQTYPE_INT32, MQTYPE_INT64, NULL_VALUE, Value, int32_python,
    value_integer, value_null, value_python, zeroed
)

from array import array

from mqsel.carets import shortened
from mqsel.errors import MQRC, ArgumentError, DecodeError
from mqsel.formats import jms as _jms
from mqsel.formats import mqmd as _mqmd
from mqsel.formats import mqrfh2 as _mqrfh2
from mqsel.formats import wordings
from mqsel.names import DESCRIPTOR as _DESCRIPTOR
from mqsel.names import HIDDEN as _HIDDEN
from mqsel.names import JMS_DESCRIPTOR as _JMS_DESCRIPTOR
from mqsel.names import JMS_PREFIX as _JMS_PREFIX
from mqsel.names import RESERVED as _RESERVED
from mqsel.names import USR_FOLDER as _USR_FOLDER
from mqsel.names import is_identifier as _is_identifier
from mqsel.names import spellings
from mqsel.values import TYPE_NAMES as _TYPES

cdef extern from "Python.h":
    PyObject *PyDict_SetDefault(object data, object key, object value) except NULL
    PyObject *PyUnicode_DecodeUTF8(const char *data, Py_ssize_t size, const char *errors)
    PyObject *PyUnicode_DecodeLatin1(const char *data, Py_ssize_t size, const char *errors)
    object PyUnicode_DecodeCharmap(const char *data, Py_ssize_t size, object mapping, const char *errors)
    void PyErr_Clear()


# ---- folders ---------------------------------------------------------------------------------------------------------

cdef enum:
    MAX_DEPTH = 128             # of groups
    MAX_NAME_BYTES = 4095 * 4
    NAMES_FACTOR = 16           # the names of a folder may take so many times its length
    NAMES_FLOOR = 65536         # bytes of names that are always allowed
    MAX_PLAIN = 64              # bytes of a name, and of a text, that are read by words
    MAX_HITS = 4096             # elements written down at a time: a folder with more is read twice

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
    UNNAMED = 8192              # in an element that is skipped for its name

# What was found inside an open element, or in its tag.
cdef enum:
    CHILDREN = 1
    MARKUP = 2                  # what is neither text nor an element
    TEXT = 4                    # where there are children: text before such markup, or that is such
    ATTRIBUTES = 8              # malformed

# An element that is wanted, or a group or folder on the way to one.
cdef struct NameNode:
    int parent              # -1 for a folder
    uint32_t hash           # of parent and name
    const uint8_t *name     # in node_names
    Py_ssize_t length       # bytes
    uint64_t tail           # the name behind its last whole word
    bint plain              # ASCII, and a property may be named so: an element of this name needs no more looks at it
    int dt                  # what an element without a dt has, as in Open
    int longest             # characters of the last part of a name beneath it that has as many as names may, + 1; or 0
    int next                # in the chain of its hash, or -1
    int first               # of its targets
    int count               # of its targets
    uint64_t expected       # of its children: a bit for each length and last byte, by NODE_BIT
    uint64_t stamp          # number of the message in which it was last found


# A slot that takes the value of an element.
cdef struct ElementTarget:
    int slot
    int rank                # the least wins
    int conversion


# An element that is open.
cdef struct Open:
    const uint8_t *name
    Py_ssize_t length
    Py_ssize_t path         # bytes of the property's name down to here
    int node                # of the tree, or -1
    int group               # of the groups written down, or -1
    int flags               # what is odd about its name or one above it
    int dt                  # an MQTYPE, 0 for none, or DT_UNKNOWN
    bint nil
    int inside              # what was found inside, by flags
    int longest             # node whose name, of the greatest length, that of what is in it is cut to, or -1


# A group, as far as the names of the elements in it need it.
cdef struct NamedGroup:
    const uint8_t *name
    Py_ssize_t length
    int parent              # -1 for the folder


# An element whose value is wanted, once its folder has proved well-formed.
cdef struct Hit:
    int node                # of the tree, or -1
    int group               # of the groups written down, or -1 for the folder
    int depth               # 1: not in a group
    int dt                  # as in Open
    bint nil
    const uint8_t *name
    Py_ssize_t length
    Py_ssize_t path         # bytes of the property's name
    const uint8_t *text
    Py_ssize_t size         # of the text; below zero the number of a note, negated: there is none that can be told
    bint plain              # the text is ASCII without escapes, and not nil; a word can be read where it begins

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


# ---- tags --------------------------------------------------------------------------------------------------------

# The words of dt, each as the number that a 1 and its bytes make, and the MQTYPEs that they name.
cdef uint64_t[16] DT_WORDS
cdef int[16] DT_TYPES
cdef int DT_COUNT = len(_mqrfh2.DT)
for _place, (_word, _type) in enumerate(_mqrfh2.DT.items()):
    DT_WORDS[_place] = int.from_bytes(b"\1" + _word.encode(), "big")
    DT_TYPES[_place] = _TYPES[_type]


cdef int dt_read(const uint8_t *text, Py_ssize_t size) noexcept:
    """Return the MQTYPE that a dt names."""
    cdef uint64_t word = 1
    cdef Py_ssize_t place
    if size < 8:
        for place in range(size):
            word = word << 8 | text[place]
        for place in range(DT_COUNT):
            if DT_WORDS[place] == word:
                return DT_TYPES[place]
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
    """Skip what begins with < and is no tag: a comment, an instruction, CDATA, or a < that is not escaped.

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


# The keywords, each as the number that its bytes make; for each length the letters that one begins with, as bits.
cdef uint64_t[16] KEYWORDS
cdef int KEYWORD_COUNT = len(_RESERVED)
cdef uint32_t[8] KEYWORD_STARTS
for _place, _word in enumerate(_RESERVED):
    KEYWORDS[_place] = int.from_bytes(_word.encode(), "big")
    KEYWORD_STARTS[len(_word)] |= <uint32_t> 1 << (ord(_word[0]) & 31)


cdef bint is_reserved(const uint8_t *name, Py_ssize_t length) noexcept:
    """Report whether a name is a keyword, in any case."""
    cdef uint64_t word = 0
    cdef Py_ssize_t place
    if length > 7 or not KEYWORD_STARTS[length] >> (name[0] & 31) & 1:
        return False
    for place in range(length):
        word = word << 8 | name[place] & 0xDF
    for place in range(KEYWORD_COUNT):
        if KEYWORDS[place] == word:
            return True
    return False


cdef inline bint is_refused(const uint8_t *name, Py_ssize_t length) noexcept:
    """Report whether no element of a usr folder is a property by this name."""
    return (
        (length >= 3 and memcmp(name, b"JMS", 3) == 0) or is_reserved(name, length)
        or (length == 4 and (memcmp(name, b"Root", 4) == 0 or memcmp(name, b"Body", 4) == 0))
    )


cdef inline bint name_is_plain(const uint8_t *name, Py_ssize_t length) noexcept:
    """Report whether a name consists of A-Z a-z 0-9 _ $, and begins as it may."""
    cdef Py_ssize_t place
    if length == 0 or CLASS[name[0]] != IN_NAME:
        return False
    for place in range(1, length):
        if CLASS[name[place]] & ~NO_START != IN_NAME:
            return False
    return True


# The property folders. Those of which only the first counts are numbered: before the others those of the first header.
cdef struct FolderRow:
    char[12] name
    Py_ssize_t length
    bint grouped        # elements may stand in groups
    int once            # its number, or -1

cdef FolderRow[16] FOLDERS
cdef int FOLDER_COUNT = 0
cdef int ONCE_IN_FIRST = len(_mqrfh2.FIRST_HEADER_FOLDERS)
_ONCE = (*_mqrfh2.FIRST_HEADER_FOLDERS, *_mqrfh2.FIRST_FOLDERS)
for _name in (*_mqrfh2.PLAIN_FOLDERS, *_mqrfh2.GROUPED_FOLDERS):
    _bytes = _name.encode()
    memcpy(FOLDERS[FOLDER_COUNT].name, PyBytes_AS_STRING(_bytes), len(_bytes))
    FOLDERS[FOLDER_COUNT].length = len(_bytes)
    FOLDERS[FOLDER_COUNT].grouped = _name in _mqrfh2.GROUPED_FOLDERS
    FOLDERS[FOLDER_COUNT].once = _ONCE.index(_name) if _name in _ONCE else -1
    FOLDER_COUNT += 1


cdef FolderRow *folder_find(const uint8_t *name, Py_ssize_t length) noexcept:
    """Find a property folder; NULL if it is none."""
    cdef int place
    for place in range(FOLDER_COUNT):
        if FOLDERS[place].length == length and memcmp(FOLDERS[place].name, name, length) == 0:
            return &FOLDERS[place]
    return NULL


cdef dict ELEMENT_TYPES = {
    name.partition("/")[2].encode(): int(_TYPES[kind]) for name, kind in _mqrfh2.ELEMENT_TYPES.items()
}


cdef inline int jms_type(const uint8_t *name, Py_ssize_t length):
    """Return the type an element of the jms folder has without a dt."""
    if length != 3:
        return 0
    return ELEMENT_TYPES.get(name[:3], 0)


# ---- the tree of wanted names ------------------------------------------------------------------------------------

cdef inline uint64_t name_begin(int parent) noexcept:
    """Begin the hash of a name: of all words of it, and of what is left."""
    return <uint64_t> parent * 0xD6E8FEB86659FD93ULL


cdef inline uint64_t name_mix(uint64_t state, uint64_t word) noexcept:
    state = (state ^ word) * 0x9E3779B97F4A7C15ULL
    return state ^ state >> 32


cdef inline uint64_t name_tail(const uint8_t *name, Py_ssize_t length) noexcept:
    """Return the name behind its last whole word as a word."""
    cdef uint64_t word = 0
    cdef Py_ssize_t place = length
    while place & (WORD - 1):
        place -= 1
        word = word << 8 | name[place]
    return word


cdef uint32_t name_hash(int parent, const uint8_t *name, Py_ssize_t length) noexcept:
    cdef uint64_t state = name_begin(parent)
    cdef Py_ssize_t place = 0
    while length - place >= WORD:
        state = name_mix(state, word_at(name + place))
        place += WORD
    return <uint32_t> name_mix(state, name_tail(name, length))


cdef inline uint64_t name_bit(const uint8_t *name, Py_ssize_t length) noexcept:
    """Return one of 64 bits: most names can be told from all that are wanted by their length and last byte."""
    return <uint64_t> 1 << ((name[length - 1] ^ length << 2) & 63)


@cython.no_gc_clear  # the nodes point into what is kept, and the record is read in place
cdef class Folders(Decoder):
    """Reads folders for the names that are laid out; `MQDecoder` finds them."""

    cdef bint never                     # a message with an invalid name is refused
    cdef bint everything                # all elements, not only those of the slots
    cdef bint noting                    # something of this message was skipped
    cdef bint invalid                   # this message has a property with an invalid name
    cdef list sources                   # of inspect(), or None: of each property in found
    cdef object offsets                 # as sources: an array
    cdef list notes
    cdef dict found                     # of everything: name -> value
    cdef set dropped                    # names whose first value is none, or None
    cdef uint64_t stamp
    cdef unsigned char *ranks           # of the slots: of the source that filled it, or UNFILLED
    cdef NameNode *nodes
    cdef int node_count
    cdef uint8_t *node_names            # one behind the other: no array here points into a Python object
    cdef int *table                     # hash -> first node of its chain, or -1
    cdef uint32_t mask                  # size of the table - 1
    cdef bint any_folder                # some slot reads a folder
    cdef bint any_long                  # some slot has a name of the greatest length
    cdef ElementTarget *targets
    cdef Hit *hits
    cdef Py_ssize_t hit_count
    cdef Py_ssize_t hit_room
    cdef NamedGroup *groups
    cdef Py_ssize_t group_count
    cdef Py_ssize_t group_room
    cdef const uint8_t *readable        # the last place that a word can be read from: by who finds the folders
    cdef const uint8_t *folder_start    # of the current folder
    cdef Py_ssize_t folder_origin       # where it stands in the message
    cdef bint folder_wide               # it was UTF-16: where its elements stood is no longer known
    cdef bint spilt                     # it has more elements than are written down at a time
    cdef bint committing                # it has proved well-formed, and is read again
    cdef Py_ssize_t name_bytes          # of the names of the properties of the current folder
    cdef bint invalid_here              # the current folder has a property with an invalid name
    cdef Py_ssize_t header              # where the current MQRFH2 begins
    cdef bint first_header              # it is the first MQRFH2
    cdef uint32_t first_seen            # folders of which only the first counts: a bit for each

    def __dealloc__(self):
        free(self.ranks)
        free(self.nodes)
        free(self.node_names)
        free(self.table)
        free(self.targets)
        free(self.hits)
        free(self.groups)

    cdef int lay_out(self, list nodes, list elements) except -1:
        """Lay the names of elements out as a tree.

        Args:
            nodes: (parent, name, characters of the last parts of the longest names beneath it, + 1), parents first.
            elements: (node, slot, rank, conversion).
        """
        cdef int place
        cdef int usr = -2           # of the nodes; no parent before it is there
        cdef int jms = -2
        cdef uint32_t size = 8
        cdef uint8_t *end
        self.any_folder = bool(nodes)
        self.node_count = len(nodes)
        self.nodes = <NameNode *> zeroed(len(nodes), sizeof(NameNode))
        end = self.node_names = <uint8_t *> zeroed(sum([len(part) for _, part, _ in nodes]), 1)
        while size < 2 * <uint32_t> len(nodes):
            size *= 2
        self.mask = size - 1
        self.table = <int *> zeroed(size, sizeof(int))
        memset(self.table, 0xFF, size * sizeof(int))
        for place, (parent, part, longest) in enumerate(nodes):
            memcpy(end, PyBytes_AS_STRING(part), len(part))
            self.nodes[place].parent = parent
            self.nodes[place].name = end
            self.nodes[place].length = len(part)
            self.nodes[place].longest = longest
            self.nodes[place].hash = name_hash(parent, end, len(part))
            self.nodes[place].tail = name_tail(end, len(part))
            self.nodes[place].plain = name_is_plain(end, len(part)) and not (
                parent == usr and is_refused(end, len(part))
            )
            self.nodes[place].dt = jms_type(end, len(part)) if parent == jms else 0
            if parent < 0 and part == b"usr":
                usr = place
            elif parent < 0 and part == b"jms":
                jms = place
            self.nodes[place].next = self.table[self.nodes[place].hash & self.mask]
            self.table[self.nodes[place].hash & self.mask] = place
            if parent >= 0 and part:
                self.nodes[parent].expected |= name_bit(end, len(part))
            end += len(part)
        self.targets = <ElementTarget *> zeroed(len(elements), sizeof(ElementTarget))
        for place, (node, slot, rank, conversion) in enumerate(sorted(elements)):
            if self.nodes[node].count == 0:
                self.nodes[node].first = place
            self.nodes[node].count += 1
            self.targets[place] = ElementTarget(slot, rank, conversion)
        return 0

    cdef int note(self, int number, str structure, Py_ssize_t offset, object what) except -1:
        """Note that something was skipped."""
        self.noting = True
        if self.notes is not None:
            _, reason, words = _mqrfh2.NOTES[number]
            entry = _mqrfh2.Note(structure, offset, what, reason, words)
            # A field of the MQMD may be read for several properties.
            if structure != "MQMD" or entry not in self.notes:
                self.notes.append(entry)
        return 0

    cdef void release(self) noexcept:
        """Let go of the values: the record of an idle decoder is not read."""
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

    cdef int read_wide_folder(
        self, const uint8_t *start, const uint8_t *stop, bint big, Py_ssize_t origin
    ) except -1:
        """Turn a folder of UTF-16 into UTF-8, and read that.

        Its byte order is that of the header's numbers, if it does not begin with a mark that says another. Half a
        surrogate pair stays invalid as UTF-8: the name or value that has it is skipped.
        """
        cdef uint8_t *utf8
        cdef Py_ssize_t length = 0
        cdef uint32_t unit, second
        cdef int high = 0 if big else 1
        if stop - start >= 2 and start[0] + start[1] == 0xFE + 0xFF and (start[0] == 0xFE or start[0] == 0xFF):
            high = 0 if start[0] == 0xFE else 1
        utf8 = <uint8_t *> malloc((stop - start) // 2 * 3 + 4 + WORD)
        if utf8 == NULL:
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
                length += utf8_put(utf8 + length, unit)
            memset(utf8 + length, 0, WORD)
            self.readable = utf8 + length
            # Where the elements stood is no longer known: the folder's place serves for all.
            return self.read_folder(utf8, utf8 + length, -origin)
        finally:
            free(utf8)

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
        cdef bint grouped
        cdef FolderRow *known
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
        if at[0] != c">":
            at = attributes_read(at, stop, &dt, &nil, &content, &odd)
        if at == NULL or odd:
            return self.note(NOTE_FOLDER_MALFORMED, "MQRFH2", origin, name_shown(self, name, length))
        known = folder_find(name, length)
        if known != NULL:
            grouped = known.grouped
            number = known.once
        else:
            if not content:
                return self.note(NOTE_FOLDER_PLAIN, "MQRFH2", origin, name_shown(self, name, length))
            if seen & DOT:
                return self.note(NOTE_FOLDER_DOTTED, "MQRFH2", origin, name_shown(self, name, length))
            grouped = True
            number = -1
        if number >= 0:
            if self.first_seen >> number & 1 or (number < ONCE_IN_FIRST and not self.first_header):
                return self.note(NOTE_FOLDER_REPEATED, "MQRFH2", origin, name_shown(self, name, length))
            self.first_seen |= <uint32_t> 1 << number
        folder.name = name
        folder.length = length
        folder.node = node_find(self, -1, name, length) if self.any_folder else -1
        if folder.node < 0 and not self.never and not self.everything and not self.any_long:
            return 0
        if self.any_long:
            folder.longest = node_of_long_folder(self, name, length)
        folder.path = length
        folder.group = -1
        folder.flags = 0
        folder.dt = 0
        folder.nil = False
        folder.inside = 0
        if length == 3 and known != NULL and name[0] == c"u":
            folder.flags |= USR
            folder.path = -1    # no name of a folder and no dot before that of the property
        elif name[0] | 0x20 == c"m" and length > 1 and name[1] | 0x20 == c"q":
            if not (length >= 6 and name[:6].lower() == b"mq_usr"):
                folder.flags |= MQ_NAME
            if known != NULL and length == 2:
                folder.flags |= RESTRICTED
        if known == NULL and folder_is_invalid(name, length, seen):
            folder.flags |= INVALID
        self.hit_count = self.group_count = 0
        self.name_bytes = 0
        self.invalid_here = self.spilt = self.committing = False
        noted = 0 if self.notes is None else len(self.notes)
        inside = at + 1
        if folder.flags & RESTRICTED and (content or is_beyond_restriction(start, stop)):
            trouble = NOTE_FOLDER_RESTRICTED
        elif at[0] == c"/":
            trouble = 0 if is_padding(at + 2, stop) else NOTE_FOLDER_MALFORMED
        else:
            trouble = folder_scan(self, stack, inside, stop, grouped)
            if trouble == 0 and self.name_bytes > NAMES_FACTOR * (stop - start) + NAMES_FLOOR:
                trouble = NOTE_FOLDER_TOO_BIG
        if trouble or self.spilt:
            for number in range(<int> self.hit_count):
                if self.hits[number].node >= 0:
                    self.nodes[self.hits[number].node].stamp = 0
            if self.notes is not None:
                del self.notes[noted:]  # what was found inside no longer matters, or is found again
            if trouble:
                return self.note(trouble, "MQRFH2", origin, name_shown(self, name, length))
            self.committing = True
            self.hit_count = self.group_count = 0
            folder.inside = 0
            folder_scan(self, stack, inside, stop, grouped)
        self.invalid |= self.invalid_here
        return folder_commit(self, folder)


# ---- a folder ----------------------------------------------------------------------------------------------------

cdef int node_of_long_folder(Folders self, const uint8_t *name, Py_ssize_t length) noexcept:
    """Find who wants the name without a folder that a folder's is cut to."""
    cdef Open usr
    if length < MAX_NAME:
        return -1
    usr.longest = -1
    usr.node = node_find(self, -1, b"usr", 3)
    return node_of_long(self, &usr, name, length)


cdef bint is_padding(const uint8_t *at, const uint8_t *stop) noexcept:
    """Report whether nothing follows the folder but what fills up, or a NUL and what it hides."""
    at = skip_padding(at, stop)
    return at == stop or at[0] == 0


cdef bint is_beyond_restriction(const uint8_t *at, const uint8_t *stop) noexcept:
    """Report whether a byte is none that the mq folder may have: no characters of several bytes, escapes, tabs."""
    while at < stop:
        if at[0] >= 0x80 or at[0] == c"&" or at[0] == c"\t" or at[0] == c"\n" or at[0] == c"\r":
            return True
        at += 1
    return False


cdef str name_shown(Folders self, const uint8_t *name, Py_ssize_t length):
    """Return a name for a note."""
    if self.notes is None:
        return ""
    text = name[:min(length, 200)].decode("utf-8", "replace")
    return text if length <= 200 else f"{text}…"


cdef bint folder_is_invalid(const uint8_t *name, Py_ssize_t length, int seen) except -1:
    """Report whether no property can have a name that begins with that of this folder."""
    if (length >= 3 and memcmp(name, b"JMS", 3) == 0) or (
        length == 4 and (memcmp(name, b"Root", 4) == 0 or memcmp(name, b"Body", 4) == 0)
    ):
        return True
    return seen & ODD and name_is_odd(name, length, True)


cdef bint name_is_odd(const uint8_t *name, Py_ssize_t length, bint first) except -1:
    """Look at a name, or a part of one, that is not plain ASCII: what is between its dots must be identifiers."""
    cdef str part
    try:
        for part in name[:length].decode("utf-8").split("."):
            if not _is_identifier(part, first=first):
                return True
            first = False
    except UnicodeDecodeError:
        return True
    return False


cdef int node_find(Folders self, int parent, const uint8_t *name, Py_ssize_t length) noexcept:
    cdef uint32_t hashed = name_hash(parent, name, length)
    cdef int number = self.table[hashed & self.mask]
    cdef NameNode *node
    while number >= 0:
        node = &self.nodes[number]
        if (
            node.hash == hashed and node.parent == parent and node.length == length
            and memcmp(node.name, name, length) == 0
        ):
            return number
        number = node.next
    return -1


cdef int folder_scan(Folders self, Open *stack, const uint8_t *at, const uint8_t *stop, bint grouped) except -1:
    """Read the content of a folder down to the end of its bytes. Returns 0 or the number of a note."""
    cdef int depth = 0
    cdef int seen, byte, trouble
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
    cdef bint plain = quick and not restricted and not stack[0].flags & INVALID
    while True:
        if plain and depth == 0:
            at = elements_take(self, stack, at, stop)
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
                # Most elements are not wanted, and their names are plain: none is a keyword, none begins with JMS.
                if not quick or top.node >= 0 or top.flags & ~USR or length < 8 or top.name[0] == c"J":
                    element_take(self, stack, depth, text, at - text)
                else:
                    self.name_bytes += top.path if top.path < MAX_NAME_BYTES else MAX_NAME_BYTES
            elif depth and not top.inside & CHILDREN:
                trouble = NOTE_VALUE_MARKUP if top.inside & MARKUP else NOTE_ELEMENT_ATTRIBUTES
                element_take(self, stack, depth, text, -trouble)
            elif top.inside & TEXT or (text != at and not is_blank(text, at)):
                self.note(NOTE_MIXED_CONTENT, "MQRFH2", self.header, name_shown(self, top.name, length))
            at = name + 1
            if depth == 0:
                return 0 if is_padding(at, stop) else NOTE_FOLDER_MALFORMED
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
            self.note(NOTE_MIXED_CONTENT, "MQRFH2", self.header, name_shown(self, top.name, top.length))
        if not top.inside & CHILDREN:
            top.inside |= CHILDREN
            if depth:
                if not grouped:
                    if restricted:
                        return NOTE_FOLDER_RESTRICTED
                    if not top.flags & (LOST | UNNAMED):
                        self.note(NOTE_GROUP_NOT_ALLOWED, "MQRFH2", self.header, name_shown(self, top.name, top.length))
                    top.flags |= LOST
                elif self.everything:
                    top.group = group_add(self, top, stack[depth - 1].group)
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
            below.node = node_find(self, top.node, name, length)
        if seen & ODD:
            if seen & (COLON | NAMELESS):
                below.flags |= UNNAMED
                self.note(NOTE_ELEMENT_NAME, "MQRFH2", self.header, name_shown(self, name, length))
            if (judging or below.node >= 0) and name_is_odd(name, length, False):
                below.flags |= INVALID
        if not quick:
            below.group = -1
            below.longest = node_of_long(self, top, name, length) if self.any_long else -1
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
            element_take(self, stack, depth, at, -NOTE_ELEMENT_ATTRIBUTES if top.inside else 0)
            depth -= 1
            top = &stack[depth]
        else:
            at += 1


# The dt of two characters by the second one, and whether the first is i or r: the commonest ones. As bytes of a word.
cdef uint64_t[32] DT_PAIRS
cdef int[32] DT_PAIR_TYPES
cdef uint64_t DT_TAG = int.from_bytes(b" dt='\0\0'", "little")
cdef uint64_t DT_TAG_MASK = 0xFF0000FFFFFFFFFFULL
for _place in range(32):
    DT_PAIRS[_place] = 1        # in none of these bytes
for _word, _type in _mqrfh2.DT.items():
    if len(_word) == 2 and _word[0] in "ir":
        _place = (_word[0] == "r") << 4 | ord(_word[1]) & 15
        DT_PAIRS[_place] = int.from_bytes(_word.encode(), "little") << 40
        DT_PAIR_TYPES[_place] = _TYPES[_type]


cdef const uint8_t *elements_take(
    Folders self, Open *folder, const uint8_t *at, const uint8_t *stop
) except NULL:
    """Read elements as most are, one behind the other in the folder itself: a plain name, no attribute or a dt, text.

    They are read a word at a time: a message of 18 elements takes 11,800 instructions, by the scan alone 18,800.
    Returns where the first begins that is not so, and says nothing about that one.
    """
    cdef const uint8_t *readable = self.readable
    cdef const uint8_t *name
    cdef const uint8_t *end
    cdef const uint8_t *text
    cdef uint64_t begin = name_begin(folder.node)
    cdef uint64_t state, tail, cut, word, found, odd, pair
    cdef uint64_t more = word_of(c">")
    cdef uint64_t less = word_of(c"<")
    cdef uint64_t blank = word_of(c" ")
    cdef uint64_t escape = word_of(c"&")
    cdef uint32_t hashed
    cdef Py_ssize_t length, size
    cdef int number, dt, place
    cdef bint judging = self.never and folder.flags & USR
    cdef NameNode *node
    cdef Hit *hit
    while at < stop and at[0] == c"<":
        name = at + 1
        length = 0
        state = begin
        while True:
            # What has no end nearby is left to the scan: from wherever this is tried, it looks at a few bytes.
            if name + length > readable or length > MAX_PLAIN:
                return at
            word = word_at(name + length)
            found = word_find(word, more) | word_find(word, blank)
            if found:
                break
            state = name_mix(state, word)
            length += WORD
        place = word_first(found)
        cut = word_cut(place)
        tail = word & cut
        hashed = <uint32_t> name_mix(state, tail)
        length += place
        end = name + length
        dt = 0
        text = end + 1
        if end[0] != c">":
            if end >= readable:
                return at
            word = word_at(end)
            if word & DT_TAG_MASK != DT_TAG or end[8] != c">":
                return at
            pair = word & ~DT_TAG_MASK
            place = <int> (pair >> 48 & 15) | (end[5] == c"r") << 4
            dt = DT_PAIR_TYPES[place] if DT_PAIRS[place] == pair else dt_read(end + 5, 2)
            text = end + 9
        size = 0
        odd = 0
        while True:
            if text + size > readable:
                return at
            word = word_at(text + size)
            found = word_find(word, less)
            if found:
                place = word_first(found)
                odd |= (word_find(word, escape) | word & 0x8080808080808080ULL) & word_cut(place)
                size += place
                break
            odd |= word_find(word, escape) | word & 0x8080808080808080ULL
            size += WORD
            if size > MAX_PLAIN:
                # The library searches long texts quicker, and decodes them.
                end = text + size
                end = NULL if end > stop else <const uint8_t *> memchr(end, c"<", stop - end)
                if end == NULL:
                    return at
                size = end - text
                odd = 1
                break
        end = text + size
        if end + 2 > readable or end + 3 + length > stop or end[1] != c"/" or end[2 + length] != c">":
            return at
        if length < WORD:
            if (word_at(end + 2) ^ tail) & cut:
                return at
        elif memcmp(end + 2, name, length) != 0:
            return at
        number = -1
        if folder.node >= 0:
            number = self.table[hashed & self.mask]
            while number >= 0:
                node = &self.nodes[number]
                if (
                    node.hash == hashed and node.tail == tail and node.length == length and node.parent == folder.node
                    and (length < WORD or memcmp(node.name, name, length) == 0)
                ):
                    break
                number = node.next
        if number < 0:
            if not name_is_plain(name, length) or (judging and is_refused(name, length)):
                return at
        else:
            node = &self.nodes[number]
            if not node.plain:
                return at
            if node.count and node.stamp != self.stamp:
                if self.hit_count == MAX_HITS:
                    return at
                if self.hit_count == self.hit_room:
                    self.hits = <Hit *> grown(self.hits, &self.hit_room, sizeof(Hit))
                hit = &self.hits[self.hit_count]
                self.hit_count += 1
                node.stamp = self.stamp
                hit.node = number
                hit.group = -1
                hit.depth = 1
                hit.dt = dt
                hit.nil = False
                hit.name = name
                hit.length = length
                hit.text = text
                hit.size = size
                hit.plain = odd == 0
        self.name_bytes += min(folder.path + 1 + length, MAX_NAME_BYTES)
        at = end + 3 + length
    return at


cdef void *grown(void *items, Py_ssize_t *count, size_t size) except NULL:
    """Get more room in an array; *count* is what it has room for."""
    cdef void *more = realloc(items, (count[0] * 2 + 16) * size)
    if more == NULL:
        raise MemoryError
    count[0] = count[0] * 2 + 16
    return more


cdef int group_add(Folders self, Open *group, int parent) except -1:
    if self.group_count == self.group_room:
        self.groups = <NamedGroup *> grown(self.groups, &self.group_room, sizeof(NamedGroup))
    self.groups[self.group_count] = NamedGroup(group.name, group.length, parent)
    self.group_count += 1
    return <int> self.group_count - 1


cdef int element_take(Folders self, Open *stack, int depth, const uint8_t *text, Py_ssize_t size) except -1:
    """Write an element down if it is wanted; a size below zero says why its text cannot be told."""
    cdef Open *top = &stack[depth]
    cdef Hit *hit
    cdef int node = top.node
    if top.flags & LOST:
        return 0
    if top.flags & UNNAMED:
        if top.flags & INVALID or (top.flags & USR and name_is_odd(top.name, top.length, True)):
            self.invalid_here = True
        return 0
    self.name_bytes += top.path if top.path < MAX_NAME_BYTES else MAX_NAME_BYTES
    if self.never or self.everything or top.flags & INVALID or node >= 0:
        if top.flags & INVALID or (top.flags & MQ_NAME and (depth > 1 or top.flags & DOT)) or (top.flags & USR and (
            is_refused(top.name, top.length) or (top.flags & ODD and name_is_odd(top.name, top.length, True))
        )):
            self.invalid_here = True
            return self.note(NOTE_NAME_INVALID, "MQRFH2", self.header, name_shown(self, top.name, top.length))
    if top.flags & DOT:
        return self.note(NOTE_ELEMENT_DOTTED, "MQRFH2", self.header, name_shown(self, top.name, top.length))
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
        folder_commit(self, stack)
    if node >= 0:
        self.nodes[node].stamp = self.stamp
    if self.hit_count == self.hit_room:
        self.hits = <Hit *> grown(self.hits, &self.hit_room, sizeof(Hit))
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
    hit.plain = False
    return 0


cdef int node_of_long(Folders self, Open *top, const uint8_t *name, Py_ssize_t length) noexcept:
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
    return -1 if left > 1 else node_find(self, top.node, name, size)


cdef object name_of(Folders self, Open *folder, Hit *hit):
    """Return the name of a property, cut to the greatest length."""
    cdef int[129] groups
    cdef NamedGroup *group
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


cdef int folder_commit(Folders self, Open *folder) except -1:
    """Read the values that were written down of a folder that has proved well-formed."""
    cdef Py_ssize_t place
    cdef Hit *hit
    cdef NameNode *node
    cdef ElementTarget *target
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
            dt = jms_type(hit.name, hit.length) if hit.node < 0 else self.nodes[hit.node].dt
        if hit.node >= 0:
            node = &self.nodes[hit.node]
            for number in range(node.first, node.first + node.count):
                target = &self.targets[number]
                if self.ranks[target.slot] <= target.rank:
                    continue
                trouble = 0
                if not hit.plain or target.conversion != AS_TYPED or not plain_read(
                    &self.record.values[target.slot], &self.record.owners[target.slot], hit.text, hit.size, dt
                ):
                    trouble = slot_fill(self, target.slot, hit, dt, target.conversion)
                if trouble == 0:
                    self.ranks[target.slot] = target.rank
                else:
                    self.note(trouble, "MQRFH2", offset, self.names[target.slot])
        if self.found is not None:
            element_commit(self, folder, hit, dt, offset, source)
    self.hit_count = 0
    return 0


cdef inline int hit_read(Value *value, PyObject **owner, Hit *hit, int dt, int conversion) except -1:
    """Read the value of an element. Returns 0 or the number of a note."""
    if hit.nil:
        value_null(value)
        return 0
    if hit.size < 0:
        return <int> -hit.size
    return element_read(value, owner, hit.text, hit.size, dt, conversion)


cdef int slot_fill(Folders self, int slot, Hit *hit, int dt, int conversion) except -1:
    """Fill a slot, or leave it as it was. Returns 0 or the number of a note."""
    cdef Value value
    cdef PyObject *owner = NULL
    cdef PyObject *old
    cdef int trouble
    try:
        trouble = hit_read(&value, &owner, hit, dt, conversion)
        if trouble == 0:
            # Both at once: foreign code may hold the record and read it.
            old = self.record.owners[slot]
            self.record.values[slot] = value
            self.record.owners[slot] = owner
            owner = old
    finally:
        Py_XDECREF(owner)
    return trouble


cdef int element_commit(Folders self, Open *folder, Hit *hit, int dt, Py_ssize_t offset, str source) except -1:
    """Put one element among all that were found."""
    cdef Value value
    cdef PyObject *owner = NULL
    cdef int trouble
    cdef object name = name_of(self, folder, hit)
    if hit.path > MAX_NAME and len(name) == MAX_NAME:
        self.note(NOTE_NAME_TRUNCATED, "MQRFH2", offset, name_shown(self, hit.name, hit.length))
    cdef Py_ssize_t count = len(self.found)
    try:
        trouble = hit_read(&value, &owner, hit, dt, AS_TYPED)
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
        PyDict_SetDefault(self.found, name, value_python(&value))
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


# ---- structures ------------------------------------------------------------------------------------------------------

cdef enum:
    MQLONG = 0
    MQCHAR = 1
    MQBYTE = 2
    MD_SPLIT = 324              # fields from here stand in version 2 alone
    MD_ENCODING = 24
    MD_CCSID = 28
    MD_PRIORITY = 40            # Encoding, CodedCharSetId and Format end here
    MDE_SHIFT = 12              # how much nearer the head of the MQMDE they stand
    MDE_LATER = 32              # where in an MQMDE the fields of version 2 begin
    MQCCSI_INHERIT = -2
    # The fields of whatever describes the data, numbered as if they stood behind the MQMD.
    BODY = 1000
    BODY_ENCODING = BODY
    BODY_CCSID = BODY + 4
    BODY_FORMAT = BODY + 8

# A slot that takes the value of a field of the MQMD.
cdef struct FieldTarget:
    int slot
    int rank
    int conversion
    uint32_t mask           # argument of the conversion
    int offset              # of the field, in the MQMD; or BODY_ and a name
    int length              # bytes
    int kind                # MQLONG, MQCHAR, MQBYTE


# Where the current message has its parts.
cdef struct Parts:
    const uint8_t *data
    Py_ssize_t size
    const uint8_t *mqmd     # or NULL: the message begins with an MQRFH2
    bint big                # byte order of the MQMD
    bint ebcdic             # its characters
    int version
    const uint8_t *mqmde    # honoured, or NULL
    const uint8_t *later    # the fields of version 2, wherever they stand
    bint later_big
    bint reserved           # the structure before has no Encoding and CodedCharSetId for what follows
    int32_t encoding        # of what follows the structures read so far
    int32_t ccsid
    const uint8_t *format
    bint format_ebcdic

# EBCDIC to Latin-1, for what has one code in all EBCDIC: names of Formats, digits.
cdef uint8_t[256] EBCDIC_500
for _byte in range(256):
    EBCDIC_500[_byte] = ord(_mqmd.page_of(500)[_byte])
cdef dict CHARACTER_SETS = _mqmd.CHARACTER_SETS
cdef dict PERSISTENCE = _jms.PERSISTENCE

# The fields of version 2 with their initial values; big-endian.
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

cdef int LENGTH_1 = _mqmd.MQMD_LENGTH_1
cdef int LENGTH_2 = _mqmd.MQMD_LENGTH_2
cdef uint64_t FORMAT_RFH2 = int.from_bytes(_mqmd.MQFMT_RF_HEADER_2.encode("ascii"), "big")
cdef uint64_t FORMAT_MDE = int.from_bytes(_mqmd.MQFMT_MD_EXTENSION.encode("ascii"), "big")
cdef uint64_t FORMAT_MQH = int.from_bytes(b"MQH", "big")

# Fields of the MQMD that are properties: (property, offset, length, kind, name).
_KINDS = {"MQLONG": MQLONG, "MQCHAR": MQCHAR, "MQBYTE": MQBYTE}
_FIELDS = {
    field.name: (field.offset, field.length, _KINDS[field.kind])
    for field in _mqmd.MQMD
    if field.name not in _HIDDEN
}
cdef FieldTarget[32] LISTED
cdef list LISTED_NAMES = [_DESCRIPTOR + name for name in _FIELDS]
for _place, (_offset, _length, _kind) in enumerate(_FIELDS.values()):
    LISTED[_place].offset = _offset
    LISTED[_place].length = _length
    LISTED[_place].kind = _kind
    LISTED[_place].conversion = AS_TYPED
_IDENTIFIERS = ("MsgId", "CorrelId")
cdef uint8_t[64] BLANK
memset(BLANK, c" ", 64)
cdef list BLANKS = [" " * _length for _length in range(64)]
cdef list LISTED_ALIASES = [_JMS_DESCRIPTOR + name for name in _FIELDS]
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
    """Report whether an Encoding announces big-endian; if it announces no order, the Version that follows shows it."""
    if encoding & 0xF == 1:
        return True
    if encoding & 0xF == 2:
        return False
    return version[0] == 0


cdef bint is_plausible(const uint8_t *at, bint big, Py_ssize_t least, Py_ssize_t left) noexcept:
    """Report whether Version and StrucLength make sense in a byte order: no Version to 255 does in both.

    A *least* of 0 stands for a structure without StrucLength.
    """
    cdef int32_t version = read_i32(at + 4, big)
    return 0 < version < 256 and (least == 0 or least <= read_i32(at + 8, big) <= left)


cdef uint64_t read_format(const uint8_t *at, bint ebcdic) noexcept:
    cdef uint64_t form = 0
    cdef int place
    if not ebcdic:
        return <uint64_t> read_u32(at, True) << 32 | read_u32(at + 4, True)
    for place in range(8):
        form = form << 8 | EBCDIC_500[at[place]]
    return form


cdef inline Py_ssize_t stripped(const uint8_t *at, Py_ssize_t length, bint ebcdic) noexcept:
    """Return the length of a character field without the blanks and NULs it ends with."""
    cdef uint8_t blank = 0x40 if ebcdic else 0x20
    while length and (at[length - 1] == blank or at[length - 1] == 0):
        length -= 1
    return length


# ---- the decoder -------------------------------------------------------------------------------------------------

@cython.final
@cython.no_gc_clear  # the nodes point into what is kept, and the record is read in place
cdef class MQDecoder(Folders):
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

    cdef bint strip
    cdef int ccsid                      # 0: found from StrucId
    cdef bytes identifier               # to compare in the MQMD, or None
    cdef int identifier_offset
    cdef list structures
    cdef Parts parts
    cdef bint any_later                 # some slot reads what an MQMDE may hold, or what describes the body
    cdef FieldTarget *fields
    cdef int field_count

    def __cinit__(self, names, *, strip=False, ccsid=None, bint never=False, identifier=None,
                  bint everything=False):
        self.busy = True  # as in the base
        if ccsid is not None and (type(ccsid) is not int or ccsid not in _mqmd.CCSIDS):
            raise wordings.unknown_ccsid(ccsid, _mqmd.CCSIDS)
        self.strip = bool(strip)
        self.ccsid = ccsid or 0
        self.never = never
        self.everything = everything
        if identifier is not None:
            if not isinstance(identifier, tuple) or len(identifier) != 2 or identifier[0] not in _IDENTIFIERS:
                known = " or ".join(_IDENTIFIERS)
                raise ArgumentError(f"identifier is {shortened(identifier)}: expected {known} and its bytes")
            if type(identifier[1]) is not bytes or len(identifier[1]) != 24:
                raise ArgumentError(f"identifier is {shortened(identifier)}: expected 24 bytes for {identifier[0]}")
            self.identifier = identifier[1]
            self.identifier_offset = _FIELDS[identifier[0]][0]
        self.ranks = <unsigned char *> zeroed(len(self.names), 1)
        self.build(self.names)
        self.busy = False

    def __dealloc__(self):
        free(self.fields)

    cdef int build(self, tuple names) except -1:
        """Lay the names out: elements as a tree of folders, groups and elements, fields as a list."""
        cdef list elements = []     # (node, slot, rank, conversion)
        cdef list fields = []       # (slot, rank, conversion, mask, offset, length, kind)
        cdef list nodes = []        # (parent, name, characters of the last parts of the longest names beneath it, + 1)
        cdef int node, slot, place
        cdef Py_ssize_t size
        tree = {}
        for slot, name in enumerate(names):
            size = len(spellings(name)[0])
            if name in _jms.JMS:
                sources = _jms.JMS[name]
            elif name.startswith(_DESCRIPTOR):
                field = name.removeprefix(_DESCRIPTOR)
                sources = (_jms.Place(f"MQMD/{field}", "as typed"),) if field in _FIELDS else ()
            elif name.startswith((_JMS_PREFIX, _USR_FOLDER + _JMS_PREFIX)) or size > MAX_NAME:
                sources = ()
            else:
                sources = (None,)   # the element that it names
            for rank, source in enumerate(sources):
                conversion = AS_TYPED
                if source is None:
                    parts = (name if "." in name else _USR_FOLDER + name).split(".")
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
        self.lay_out(nodes, elements)
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
        cdef const uint8_t *at
        cdef int known
        self.enter()
        try:
            held = self.hold(raw)
            at = <const uint8_t *> PyBytes_AS_STRING(held)
            known = self.read(at, at + PyBytes_GET_SIZE(held), at + PyBytes_GET_SIZE(held))
            return self.record if known == FILLED else known == IDENTIFIED
        finally:
            self.busy = False

    def properties(self, raw) -> dict:
        """Return the properties of one message as Python values.

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
                self.names[slot]: value_python(&self.record.values[slot])
                for slot in range(len(self.names))
                if self.ranks[slot] != UNFILLED
            }
        finally:
            self.release()
            self.found = self.dropped = None
            self.busy = False

    def inspect(self, raw) -> tuple:
        """Return (properties, sources, offsets, notes, structures) of one message: see `mqsel.formats.Inspection`.

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

    # ---- the chain of structures

    cdef int start(self, const uint8_t *data, Py_ssize_t size) except -1:
        memset(&self.parts, 0, sizeof(Parts))
        self.parts.data = data
        self.parts.size = size
        return self.read_mqmd()

    cdef int read(self, const uint8_t *at, const uint8_t *stop, const uint8_t *_) except -1:
        if self.identifier is not None:
            return IDENTIFIED if self.is_identified(at, stop - at) else NOT_IDENTIFIED
        self.walk(at, stop - at)
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
            raise wordings.wrong_field("MQMD", 0, "Version", self.parts.version, "1 or 2", None, MQRC.MQRC_MD_ERROR)
        length = LENGTH_1 if self.parts.version == 1 else LENGTH_2
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
            big = self.order_of(
                name, at, is_big(encoding, data + at + 4), 0 if row.fixed else row.length, self.parts.size - at
            )
            length = row.length if row.fixed else read_i32(data + at + 8, big)
            if length < row.length:
                raise wordings.wrong_field(
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

    cdef int order_of(self, str name, Py_ssize_t at, bint big, Py_ssize_t least, Py_ssize_t left) except -1:
        """Return the byte order of a header: the announced one, unless it makes sense in the other alone."""
        cdef const uint8_t *data = self.parts.data + at
        if is_plausible(data, big, least, left) or not is_plausible(data, not big, least, left):
            return big
        self.note(NOTE_HEADER_ORDER, name, at, name)
        return not big

    cdef uint64_t describe(self, const uint8_t *following, bint big, bint ebcdic, bint describes) noexcept:
        """Read the description of what follows: Format, which is returned, and the others unless they are reserved."""
        cdef int32_t ccsid = read_i32(following + 4, big)
        if describes:
            self.parts.encoding = read_i32(following, big)
            if ccsid != MQCCSI_INHERIT:
                self.parts.ccsid = ccsid
        self.parts.reserved = not describes
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
                raise wordings.wrong_field("MQMDE", at, "Version", number, "2", encoding, MQRC.MQRC_MDE_ERROR)
        if trouble == 0:
            number = read_i32(data + 8, big)
            if number != 72:
                raise wordings.wrong_field(
                    "MQMDE", at, "StrucLength", number, "72", encoding, MQRC.MQRC_MDE_ERROR
                )
            number = read_i32(data + 16, big)
            if number <= 0 and number != -2:
                raise wordings.wrong_field(
                    "MQMDE", at, "CodedCharSetId", number, "a character set or -2 (inherit)", None, MQRC.MQRC_MDE_ERROR
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
        big = is_big(encoding, data + 4)
        number = read_i32(data + 4, big)
        if number != 2 and self.parts.reserved:
            big = self.order_of("MQRFH2", at, big, 36, left)
            number = read_i32(data + 4, big)
            if number == 2:
                encoding = 0  # of no order: for the hints
        order[0] = big
        if number != 2:
            raise wordings.wrong_field("MQRFH2", at, "Version", number, "2", encoding, MQRC.MQRC_RFH_ERROR)
        length = read_i32(data + 8, big)
        if length < 36 or length & 3:
            raise wordings.wrong_field(
                "MQRFH2", at, "StrucLength", length, "a multiple of 4, at least 36", encoding, MQRC.MQRC_RFH_ERROR
            )
        if length > left:
            raise wordings.past_end("MQRFH2", at, "StrucLength", length, left, encoding, MQRC.MQRC_RFH_ERROR)
        number = read_i32(data + 16, big)
        if number <= 0 and number != -2:
            raise wordings.wrong_field(
                "MQRFH2", at, "CodedCharSetId", number, "a character set or -2 (inherit)", None, MQRC.MQRC_RFH_ERROR
            )
        ccsid = read_i32(data + 32, big)
        if ccsid != 1208 and ccsid != 1200 and ccsid != 13488 and ccsid != 17584:
            raise wordings.wrong_field(
                "MQRFH2", at, "NameValueCCSID", ccsid, "1208, 1200, 13488 or 17584", None, MQRC.MQRC_RFH_ERROR
            )
        if self.structures is not None:
            self.structures.append(("MQRFH2", at, length))
        self.header = at
        self.readable = data + left - WORD
        while place < length:
            # Lengths are multiples of four: four bytes are there.
            number = read_i32(data + place, big)
            place += 4
            if number < 0 or number & 3:
                raise wordings.wrong_field(
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
        """Return a character field as a string."""
        cdef bint ebcdic = self.parts.format_ebcdic if offset >= BODY else self.parts.ebcdic
        cdef PyObject *made
        cdef int ccsid = self.ccsid
        if self.strip:
            length = stripped(at, length, ebcdic)
        if ebcdic:
            if ccsid == 0 and self.parts.mqmd != NULL:
                ccsid = read_i32(self.parts.mqmd + MD_CCSID, self.parts.big)
            page = _mqmd.page_of(ccsid)
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
        """Note that something is wrong with a field."""
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
                value_integer(value, INT32, MQTYPE_INT32, number)
            elif conversion == IS_POSITIVE:
                value_integer(value, BOOLEAN, MQTYPE_BOOLEAN, number > 0)
            elif conversion == PLUS_ONE:
                value_integer(value, INT32, MQTYPE_INT32, number + 1 if number < 0x7FFFFFFF else number)
            elif conversion == UNLESS_ZERO:
                if number:
                    value_integer(value, INT32, MQTYPE_INT32, number)
            elif conversion == BITS:
                if number & field.mask:
                    value_integer(value, INT32, MQTYPE_INT32, number & field.mask)
            elif conversion == HAS_BITS:
                value_integer(value, BOOLEAN, MQTYPE_BOOLEAN, number & field.mask != 0)
            else:
                word = (PERSISTENCE if conversion == FROM_PERSISTENCE else CHARACTER_SETS).get(number)
                if word is not None:
                    return string_keep(value, owner, word)
            return 0
        if field.kind == MQBYTE:
            if conversion == AS_TYPED:
                return bytes_keep(value, owner, PyBytes_FromStringAndSize(<const char *> at, field.length))
            if memcmp(at, DEFAULT_LATER, 24) != 0:
                return string_keep(value, owner, identifier_text(at))
            return 0
        if conversion == AS_TYPED:
            return string_keep(value, owner, self.field_text(at, field.length, field.offset))
        if conversion == FROM_TIMESTAMP:
            return timestamp_read(value, at, self.parts.ebcdic)
        # FROM_QUEUE: ReplyToQ, and behind it ReplyToQMgr
        length = stripped(at, 48, self.parts.ebcdic)
        if length:
            queue = self.field_text(at, length, field.offset)
            length = stripped(at + 48, 48, self.parts.ebcdic)
            manager = self.field_text(at + 48, length, field.offset + 48)
            return string_keep(value, owner, f"queue://{manager}/{queue}")
        return 0

    cdef int fill_fields(self) except -1:
        """Fill the slots that no element has filled, or could."""
        cdef FieldTarget *field
        cdef int place, trouble
        for place in range(self.field_count):
            field = &self.fields[place]
            if self.ranks[field.slot] <= field.rank or (self.parts.mqmd == NULL and field.offset < BODY):
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
                value = int32_python(
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
            self.found[name] = value_python(value)
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
    cdef int64_t year, month, day, last, era, days, seconds
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
    last = 30 + (month + month // 8) % 2
    if month == 2:
        last = 28 + (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))
    if not 1 <= month <= 12 or not 1 <= day <= last or digits[8] * 10 + digits[9] > 23:
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
    value_integer(
        value, INT64, MQTYPE_INT64, (days * 86400 + seconds) * 1000 + digits[14] * 100 + digits[15] * 10
    )
    return 0
