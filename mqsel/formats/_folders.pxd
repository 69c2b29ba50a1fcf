# The reader of folders: the wanted names as a tree, and the state of one folder.

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from mqsel.formats._decoder cimport Decoder


# An element that is wanted, or a group or folder on the way to one.
cdef struct Node:
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
cdef struct Target:
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
    bint plain              # the text is ASCII without escapes, and not nil; a word can be read where it begins


cdef class Folders(Decoder):
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
    cdef Node *nodes
    cdef int node_count
    cdef uint8_t *node_names            # one behind the other: no array here points into a Python object
    cdef int *table                     # hash -> first node of its chain, or -1
    cdef uint32_t mask                  # size of the table - 1
    cdef bint any_folder                # some slot reads a folder
    cdef bint any_long                  # some slot has a name of the greatest length
    cdef Target *targets
    cdef Hit *hits
    cdef Py_ssize_t hit_count
    cdef Py_ssize_t hit_room
    cdef Group *groups
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

    cdef int lay_out(self, list nodes, list elements) except -1
    cdef void release(self) noexcept
    cdef int note(self, int number, str structure, Py_ssize_t offset, object what) except -1
    cdef int read_wide_folder(self, const uint8_t *start, const uint8_t *stop, bint big, Py_ssize_t origin) except -1
    cdef int read_folder(self, const uint8_t *start, const uint8_t *stop, Py_ssize_t origin) except -1
