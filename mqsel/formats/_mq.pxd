# What the reader of IBM MQ messages keeps: the names it is asked for as a tree, and what one message holds.

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from mqsel.machine._values cimport Record, Value
from cpython.object cimport PyObject


# An element that somebody asked for, or a group or folder on the way to one.
cdef struct Node:
    int parent              # -1 for a folder
    uint32_t hash           # of parent and name
    const uint8_t *name     # in node_names
    Py_ssize_t length       # bytes
    int longest             # characters of the last part of a name beneath it that has as many as names may, + 1; or 0
    int next                # in the chain of its hash, or -1
    int first               # of its targets
    int count               # of its targets
    uint64_t expected       # of its children: a bit for each length and last byte, by NODE_BIT
    uint64_t stamp          # number of the message in which it was last found


# A slot that takes the value of an element.
cdef struct Target:
    int slot
    int rank                # the least wins
    int conversion


# A slot that takes the value of a field of the MQMD.
cdef struct FieldTarget:
    int slot
    int rank
    int conversion
    uint32_t mask           # argument of the conversion
    int offset              # of the field, in the MQMD; or BODY_ and a name
    int length              # bytes
    int kind                # MQLONG, MQCHAR, MQBYTE


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
    int inside              # what it was seen to have
    int longest             # node whose name, of the greatest length, that of what is in it is cut to, or -1


# A group, as far as the names of the elements in it need it.
cdef struct Group:
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


# Where the message at hand keeps its parts.
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
    int32_t encoding        # of what follows the structures read so far
    int32_t ccsid
    const uint8_t *format
    bint format_ebcdic


# What is known of a message that was read.
cdef enum Known:
    FILLED                  # the record says what it has
    NOT_IDENTIFIED          # its identifier is another than the one that is compared
    IDENTIFIED              # it is that one
    INVALID_NAME            # it has a property with a name that is not allowed


cdef class Decoder:
    cdef readonly tuple names           # of the slots
    cdef readonly Py_ssize_t noted      # messages of which something was skipped so far
    cdef readonly Record record         # the slots
    cdef bint strip
    cdef int ccsid                      # 0: found from StrucId
    cdef bint never                     # a message with an invalid name is refused
    cdef bint everything                # all elements, not only those of the slots
    cdef bint busy                      # inside a message
    cdef bint noting                    # something of this message was skipped
    cdef bint invalid                   # this message has a property with an invalid name
    cdef bytes identifier               # to compare in the MQMD, or None
    cdef int identifier_offset
    cdef list sources                   # of inspect(), or None: of each property in found
    cdef object offsets                 # as sources: an array
    cdef list notes
    cdef list structures
    cdef dict found                     # of everything: name -> value
    cdef set dropped                    # names whose first value is none, or None
    cdef Parts parts
    cdef uint64_t stamp
    cdef unsigned char *ranks           # of the slots: of the source that filled it, or UNFILLED
    cdef Node *nodes
    cdef int node_count
    cdef uint8_t *node_names            # one behind the other: no array here points into a Python object
    cdef int *table                     # hash -> first node of its chain, or -1
    cdef uint32_t mask                  # size of the table - 1
    cdef bint any_folder                # some slot reads a folder
    cdef bint any_later                 # some slot reads what an MQMDE may hold, or what describes the body
    cdef bint any_long                  # some slot has a name of the greatest length
    cdef Target *targets
    cdef FieldTarget *fields
    cdef int field_count
    cdef Hit *hits
    cdef Py_ssize_t hit_count
    cdef Py_ssize_t hit_room
    cdef Group *groups
    cdef Py_ssize_t group_count
    cdef Py_ssize_t group_room
    cdef const uint8_t *folder_start    # of the folder at hand
    cdef Py_ssize_t folder_origin       # where it stands in the message
    cdef bint folder_wide               # it was UTF-16: where its elements stood is no longer known
    cdef bint spilt                     # it has more elements than are written down at a time
    cdef bint committing                # it has proved well-formed, and is read again
    cdef Py_ssize_t name_bytes          # of the names of the properties of the folder at hand
    cdef bint invalid_here              # the folder at hand has a property with an invalid name
    cdef Py_ssize_t header              # where the MQRFH2 at hand begins
    cdef bint first_header              # it is the first MQRFH2
    cdef uint32_t first_seen            # folders of which only the first counts: a bit for each

    cdef int enter(self) except -1
    cdef int build(self, tuple names) except -1
    cdef void release(self) noexcept
    cdef int note(self, int number, str structure, Py_ssize_t offset, object what) except -1
    cdef bytes hold(self, object raw)
    cdef int start(self, const uint8_t *data, Py_ssize_t size) except -1
    cdef int read(self, const uint8_t *data, Py_ssize_t size) except -1
    cdef bint is_identified(self, const uint8_t *data, Py_ssize_t size) except -1
    cdef int run(self, bytes raw) except -1
    cdef int walk(self, const uint8_t *data, Py_ssize_t size) except -1
    cdef int read_mqmd(self) except -1
    cdef int read_chain(self) except -1
    cdef int read_mqmde(self, Py_ssize_t at, int encoding) except -1
    cdef uint64_t describe(self, const uint8_t *following, bint big, bint ebcdic, bint describes) noexcept
    cdef bint is_default_later(self) noexcept
    cdef Py_ssize_t read_rfh2(self, Py_ssize_t at, int encoding, bint *order) except -1
    cdef int read_wide_folder(self, const uint8_t *start, const uint8_t *stop, bint big, Py_ssize_t origin) except -1
    cdef int read_folder(self, const uint8_t *start, const uint8_t *stop, Py_ssize_t origin) except -1
    cdef bint is_padding(self, const uint8_t *at, const uint8_t *stop) noexcept
    cdef bint is_beyond_restriction(self, const uint8_t *at, const uint8_t *stop) noexcept
    cdef str shown(self, const uint8_t *name, Py_ssize_t length)
    cdef bint is_invalid_folder(self, const uint8_t *name, Py_ssize_t length, int seen) except -1
    cdef bint is_odd(self, const uint8_t *name, Py_ssize_t length, bint first) except -1
    cdef int node_find(self, int parent, const uint8_t *name, Py_ssize_t length) noexcept
    cdef int scan(self, Open *stack, const uint8_t *at, const uint8_t *stop, bint grouped) except -1
    cdef int group_add(self, Open *group, int parent) except -1
    cdef int take(self, Open *stack, int depth, const uint8_t *text, Py_ssize_t size) except -1
    cdef int node_of_long(self, Open *top, const uint8_t *name, Py_ssize_t length) noexcept
    cdef int node_of_long_folder(self, const uint8_t *name, Py_ssize_t length) noexcept
    cdef object name_of(self, Open *folder, Hit *hit)
    cdef int commit(self, Open *folder) except -1
    cdef int fill_slot(self, int slot, Hit *hit, int dt, int conversion) except -1
    cdef int commit_element(self, Open *folder, Hit *hit, int dt, Py_ssize_t offset, str source) except -1
    cdef const uint8_t *field_at(self, int offset) noexcept
    cdef object field_text(self, const uint8_t *at, Py_ssize_t length, int offset)
    cdef int note_field(self, int number, int offset, object what) except -1
    cdef str describing(self)
    cdef int field_value(self, Value *value, PyObject **owner, FieldTarget *field) except -1
    cdef int fill_fields(self) except -1
    cdef int list_mqmd(self) except -1
    cdef int list_views(self) except -1
