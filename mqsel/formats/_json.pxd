# A line of JSON, read for the properties of a selector.

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from mqsel.formats._decoder cimport Decoder

cdef enum:
    SHAPE = 64          # keys remembered of the lines before
    SHAPE_BYTES = 2048  # and their bytes
    HEAD = 16           # of a remembered key compared at once
    KEYS = 64           # of a line, that are listed


# A name, and what to do where a line has it.
cdef struct Name:
    const uint8_t *text     # UTF-8; NULL in an empty place
    Py_ssize_t length
    int target              # a slot of the record, or an Other


# A key as the lines before had it: from its quotation mark to the blanks behind the colon.
cdef struct Remembered:
    uint64_t[2] head        # its first bytes
    uint64_t[2] mask        # which of these count
    int length
    int start               # among the remembered bytes
    int target


# A walk over the members of an object, which begins behind its brace.
cdef struct Walk:
    const uint8_t *at           # the value of a member; in the end, behind the object
    const uint8_t *stop
    const uint8_t *limit
    const uint8_t *key          # of the member, without escapes
    const uint8_t *key_stop
    int count                   # members so far


cdef inline void walk_begin(Walk *walk, const uint8_t *at, const uint8_t *stop, const uint8_t *limit) noexcept:
    """Begin behind the brace of an object."""
    walk.at = at + 1
    walk.stop = stop
    walk.limit = limit
    walk.count = 0


cdef int member_next(Walk *walk) noexcept
cdef bint is_new(Walk *walk, uint32_t *numbers) noexcept
# What is passed over, for other readers of JSON: where it ends, or NULL if it is not that.
cdef const uint8_t *pass_blanks(const uint8_t *at, const uint8_t *stop) noexcept
cdef const uint8_t *pass_string(
    const uint8_t *at, const uint8_t *stop, const uint8_t *limit, bint *escaped
) noexcept
cdef const uint8_t *pass_value(const uint8_t *at, const uint8_t *stop, const uint8_t *limit) noexcept
cdef const uint8_t *pass_number(const uint8_t *at, const uint8_t *stop, bint *exact) noexcept
cdef bint whole_read(const uint8_t *at, const uint8_t *end, int64_t *number) noexcept
cdef double float_read(const uint8_t *at, const uint8_t *end) except? -1.0


cdef class JSONDecoder(Decoder):
    cdef tuple spelled              # all their spellings
    cdef list encoded               # these in UTF-8: the table points into them
    cdef Name *table                # by hash
    cdef uint32_t mask              # of a hash; the size of the table less one
    cdef uint8_t *scratch           # a text without its escapes
    cdef Py_ssize_t room            # of the scratch
    cdef Remembered[SHAPE] shape
    cdef uint8_t[SHAPE_BYTES] shape_bytes
    cdef int shape_count
    cdef int shape_size
    cdef int doubt                  # lines with other keys than remembered, less those without; of many: learn anew
    cdef bint learning

    cdef const uint8_t *key_read(
        self, const uint8_t *at, const uint8_t *stop, const uint8_t *limit, int *target
    ) except? NULL
    cdef int enter_name(self, bytes name, int target) except -1
    cdef int find(self, const uint8_t *text, Py_ssize_t length) noexcept
    cdef int remember(self, const uint8_t *at, const uint8_t *stop, int target) noexcept
    cdef const uint8_t *load(
        self, int slot, const uint8_t *at, const uint8_t *stop, const uint8_t *limit
    ) except? NULL
    cdef const uint8_t *load_string(
        self, int slot, const uint8_t *at, const uint8_t *stop, const uint8_t *limit
    ) except? NULL
    cdef const uint8_t *load_typed(
        self, int slot, const uint8_t *at, const uint8_t *stop, const uint8_t *limit
    ) except? NULL
    cdef Py_ssize_t unescape(self, const uint8_t *at, const uint8_t *stop) except -2
