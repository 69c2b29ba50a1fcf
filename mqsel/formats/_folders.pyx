# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""The folders of an MQRFH2: which elements are properties, and the values of those that are wanted.

The elements of a folder are gathered first and count only once the folder has proved well-formed. What is skipped is
noted, never raised. Every read is bounded by the folder, every loop by the bytes it consumes. Knows no other structure.
Follows formats §2, §3 and §6.

Longer than 500 lines because the readers of tags, elements and folders are inlined into each other.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING
from cpython.object cimport PyObject
from cpython.ref cimport Py_XDECREF
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memchr, memcmp, memcpy, memset

from mqsel.formats._tables cimport *
from mqsel.formats._decoder cimport element_read, plain_read, utf8_put
from mqsel.formats._words cimport WORD, word_at, word_cut, word_find, word_first, word_of
from mqsel.machine._values cimport Value, value_null, value_python, zeroed

from mqsel.formats import mqrfh2 as _mqrfh2
from mqsel.names import RESERVED as _RESERVED
from mqsel.names import is_identifier as _is_identifier
from mqsel.values import TYPE_NAMES as _TYPES

cdef extern from "Python.h":
    PyObject *PyDict_SetDefault(object data, object key, object value) except NULL

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
    """Give the MQTYPE that a dt names."""
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
    """Tell whether a name is a keyword, in any case."""
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
    """Tell whether no element of a usr folder is a property by this name."""
    return (
        (length >= 3 and memcmp(name, b"JMS", 3) == 0) or is_reserved(name, length)
        or (length == 4 and (memcmp(name, b"Root", 4) == 0 or memcmp(name, b"Body", 4) == 0))
    )


cdef inline bint name_is_plain(const uint8_t *name, Py_ssize_t length) noexcept:
    """Tell whether a name consists of A-Z a-z 0-9 _ $, and begins as it may."""
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
    """Give the type an element of the jms folder has without a dt."""
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
    """Give the name behind its last whole word as a word."""
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
    """Give one of 64 bits: most names can be told from all that are wanted by their length and last byte."""
    return <uint64_t> 1 << ((name[length - 1] ^ length << 2) & 63)


@cython.no_gc_clear  # the nodes point into what is kept, and the record is read in place
cdef class Folders(Decoder):
    """Reads folders for the names that are laid out. `mqsel.formats._mq` derives what finds them."""

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
        self.nodes = <Node *> zeroed(len(nodes), sizeof(Node))
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
        self.targets = <Target *> zeroed(len(elements), sizeof(Target))
        for place, (node, slot, rank, conversion) in enumerate(sorted(elements)):
            if self.nodes[node].count == 0:
                self.nodes[node].first = place
            self.nodes[node].count += 1
            self.targets[place] = Target(slot, rank, conversion)
        return 0

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
    """Tell whether nothing follows the folder but what fills up, or a NUL and what it hides."""
    at = skip_padding(at, stop)
    return at == stop or at[0] == 0


cdef bint is_beyond_restriction(const uint8_t *at, const uint8_t *stop) noexcept:
    """Tell what the mq folder may not have: characters of several bytes, escapes, white space but blanks."""
    while at < stop:
        if at[0] >= 0x80 or at[0] == c"&" or at[0] == c"\t" or at[0] == c"\n" or at[0] == c"\r":
            return True
        at += 1
    return False


cdef str name_shown(Folders self, const uint8_t *name, Py_ssize_t length):
    """Give a name for a note."""
    if self.notes is None:
        return ""
    text = name[:min(length, 200)].decode("utf-8", "replace")
    return text if length <= 200 else f"{text}…"


cdef bint folder_is_invalid(const uint8_t *name, Py_ssize_t length, int seen) except -1:
    """Tell whether no property can have a name that begins with that of this folder."""
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
    """Take elements as most are, one behind the other in the folder itself: a plain name, no attribute or a dt, text.

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
    cdef Node *node
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
    """Make more room in an array; *count* is what it has room for."""
    cdef void *more = realloc(items, (count[0] * 2 + 16) * size)
    if more == NULL:
        raise MemoryError
    count[0] = count[0] * 2 + 16
    return more


cdef int group_add(Folders self, Open *group, int parent) except -1:
    if self.group_count == self.group_room:
        self.groups = <Group *> grown(self.groups, &self.group_room, sizeof(Group))
    self.groups[self.group_count] = Group(group.name, group.length, parent)
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


cdef int folder_commit(Folders self, Open *folder) except -1:
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
