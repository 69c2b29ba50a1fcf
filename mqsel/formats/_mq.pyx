# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Reads IBM MQ messages: one pass over the bytes, driven by the names that are wanted.

The MQMD, the MQMDE and the chained headers are read here, by the tables of `mqmd`; folders in `_folders`, the texts in
them in `_decoder`; JMS names are made by the table of `jms`. No length is trusted: every read is bounded by the
message, every loop by the bytes it consumes. What is skipped is noted; only an invalid structure raises DecodeError.
Follows formats §2, §4, §5 and §7.

Longer than 500 lines because structures, fields and names share the state of one message.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from cpython.ref cimport Py_XDECREF
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcmp, memset

from mqsel.formats._folders cimport Folders
from mqsel.formats._tables cimport *
from mqsel.formats._decoder cimport FILLED, IDENTIFIED, INVALID_NAME, NOT_IDENTIFIED, bytes_keep, string_keep
from mqsel.formats._words cimport WORD
from mqsel.machine._values cimport (
    BOOLEAN, INT32, INT64, MQTYPE_BOOLEAN, MQTYPE_INT32, MQTYPE_INT64, NULL_VALUE, Value, int32_python,
    value_integer, value_null, value_python, zeroed
)

from array import array

from mqsel.errors import MQRC, ArgumentError, DecodeError, PropertyTypeError, type_name
from mqsel.formats import jms as _jms
from mqsel.formats import mqmd as _mqmd
from mqsel.formats import wordings
from mqsel.names import DESCRIPTOR as _DESCRIPTOR
from mqsel.names import JMS_DESCRIPTOR as _JMS_DESCRIPTOR
from mqsel.names import JMS_PREFIX as _JMS_PREFIX
from mqsel.names import USR_FOLDER as _USR_FOLDER
from mqsel.names import spellings
from mqsel.names import HIDDEN as _HIDDEN

cdef extern from "Python.h":
    PyObject *PyUnicode_DecodeUTF8(const char *data, Py_ssize_t size, const char *errors)
    PyObject *PyUnicode_DecodeLatin1(const char *data, Py_ssize_t size, const char *errors)
    object PyUnicode_DecodeCharmap(const char *data, Py_ssize_t size, object mapping, const char *errors)
    void PyErr_Clear()

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

# EBCDIC to Latin-1, for what has one code in all EBCDIC: names of Formats, digits.
cdef uint8_t[256] EBCDIC_500
for _byte in range(256):
    EBCDIC_500[_byte] = ord(_mqmd.EBCDIC[500][_byte])
cdef dict EBCDIC = _mqmd.EBCDIC
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
    """Tell the byte order an Encoding announces; where it announces none, the Version that follows shows it."""
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
    """Give the length of a character field without the blanks and NULs it ends with."""
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

    def __cinit__(self, names, *, bint strip=False, ccsid=None, bint never=False, identifier=None,
                  bint everything=False):
        self.busy = True  # as in the base
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
                self.names[slot]: value_python(&self.record.values[slot])
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
        """Take what is said of what follows: Format, which is returned, and the others unless they are reserved."""
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
    value_integer(
        value, INT64, MQTYPE_INT64, (days * 86400 + seconds) * 1000 + digits[14] * 100 + digits[15] * 10
    )
    return 0
