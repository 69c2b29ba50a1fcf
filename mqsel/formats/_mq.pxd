# The state of the reader of IBM MQ messages, beside that of the reader of folders: where one message has its parts.

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from mqsel.formats._folders cimport Folders
from mqsel.machine._values cimport Value


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


cdef class MQDecoder(Folders):
    cdef bint strip
    cdef int ccsid                      # 0: found from StrucId
    cdef bytes identifier               # to compare in the MQMD, or None
    cdef int identifier_offset
    cdef list structures
    cdef Parts parts
    cdef bint any_later                 # some slot reads what an MQMDE may hold, or what describes the body
    cdef FieldTarget *fields
    cdef int field_count

    cdef int build(self, tuple names) except -1
    cdef bytes hold(self, object raw)
    cdef int start(self, const uint8_t *data, Py_ssize_t size) except -1
    cdef bint is_identified(self, const uint8_t *data, Py_ssize_t size) except -1
    cdef int run(self, bytes raw) except -1
    cdef int walk(self, const uint8_t *data, Py_ssize_t size) except -1
    cdef int read_mqmd(self) except -1
    cdef int read_chain(self) except -1
    cdef int read_mqmde(self, Py_ssize_t at, int encoding) except -1
    cdef int order_of(self, str name, Py_ssize_t at, bint big, Py_ssize_t least, Py_ssize_t left) except -1
    cdef uint64_t describe(self, const uint8_t *following, bint big, bint ebcdic, bint describes) noexcept
    cdef bint is_default_later(self) noexcept
    cdef Py_ssize_t read_rfh2(self, Py_ssize_t at, int encoding, bint *order) except -1
    cdef const uint8_t *field_at(self, int offset) noexcept
    cdef object field_text(self, const uint8_t *at, Py_ssize_t length, int offset)
    cdef int note_field(self, int number, int offset, object what) except -1
    cdef str describing(self)
    cdef int field_value(self, Value *value, PyObject **owner, FieldTarget *field) except -1
    cdef int fill_fields(self) except -1
    cdef int list_mqmd(self) except -1
    cdef int list_views(self) except -1
