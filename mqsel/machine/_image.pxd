# A program as the loop reads it: constants and steps. And the hash by which lists of strings are built and searched.

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from mqsel.machine._values cimport *
from mqsel.machine._verifier cimport Verified

# A run of literal code points and _ between two %, or between % and an end of the pattern.
cdef struct Segment:
    Py_ssize_t length   # in code points
    uint32_t *points    # code points; ANY_POINT for _


# How a constant string lies in memory, to be compared without decoding.
cdef struct Text:
    const uint8_t *data
    Py_ssize_t length       # in code points
    Py_ssize_t size         # in bytes
    int kind                # bytes a code point


# A compiled LIKE pattern, or the text of STARTS_WITH, ENDS_WITH, CONTAINS as its only segment.
cdef struct Like:
    Py_ssize_t count    # segments; a pattern with k runs of % has k + 1, some of them empty
    Segment *segments
    Text text           # kind 0 for a pattern


cdef struct Choices:
    Py_ssize_t count    # strings of an IN list
    Text *items         # kept alive by the machine
    uint32_t *table     # open addressing over all their bytes: number of the string + 1, or 0; NULL for a short list
    uint32_t mask       # size of the table - 1; the size is a power of two at least twice the count


cdef enum:
    IS_LESS = 1
    IS_EQUAL = 2
    IS_GREATER = 4
    IS_UNORDERED = 8
    # Which outcomes of a comparison satisfy each operator; NaN satisfies <> alone.
    MASK_EQUAL = IS_EQUAL
    MASK_NOT_EQUAL = IS_LESS | IS_GREATER | IS_UNORDERED
    MASK_LESS = IS_LESS
    MASK_LESS_EQUAL = IS_LESS | IS_EQUAL
    MASK_GREATER = IS_GREATER
    MASK_GREATER_EQUAL = IS_GREATER | IS_EQUAL

cdef enum:
    AFFIX_START = 1
    AFFIX_END = 2
    AFFIX_ANYWHERE = 3
    ANY_POINT = 0xFFFFFFFF      # _ in a segment; no code point has this number
    LINEAR_CHOICES = 8          # an IN list up to this long is searched item by item


cdef enum:
    BY_BOUNDS = 4               # BETWEEN with a NULL is what its two comparisons make of it
    NARROW = 8                  # beside what arithmetic yields for NULL: it is that of `Arithmetic` with this rule


cdef union Operand:
    uint32_t number         # of PUSH_TRUTH and RETURN_TRUTH, where ERR too may stand
    Value *constant
    Text *text
    Like *like
    Choices *choices
    PyObject *test          # tuple: what computes a test, and the numbers of the slots that it reads


# An instruction as the loop sees it: decoded once, with its operand and the next step for each outcome.
cdef struct Step:
    uint8_t op              # an Op
    uint8_t mask            # of a comparison: the relations that satisfy it; of the other tests: whether it is negated
    uint8_t other           # what a test yields for a value of another kind
    uint8_t null            # what arithmetic yields for NULL: ERR, or UNKNOWN: NULL; BETWEEN: this, or BY_BOUNDS
    uint32_t slot
    Operand it
    int32_t to[4]           # for a truth value the step that comes next, counted from here; [0] of a jump: its target


# A program as the loop sees it, made when it first runs.
cdef struct Image:
    Step *steps             # one for each instruction, then those that outcomes need; NULL before the first run
    Value *constants
    Text *texts             # for each constant that is a string
    Like **likes            # for each constant four: as a pattern, prefix, suffix, anywhere; NULL where it is no such
    Choices **choices       # for each constant that is an IN list; both are NULL if no constant is one
    PyObject **names        # for each slot its interned name
    PyObject **aliases      # for each slot its other spelling, or NULL
    PyObject *kept          # list: Python objects that these arrays point into
    Py_ssize_t slot_count
    Py_ssize_t constant_count
    bint has_order          # floats have a total order: a property that is NaN or -0.0 is an error


cdef inline uint64_t load64(const uint8_t *data) noexcept:
    cdef uint64_t word
    memcpy(&word, data, 8)
    return word


cdef inline uint64_t load32(const uint8_t *data) noexcept:
    cdef uint32_t word
    memcpy(&word, data, 4)
    return word


cdef inline uint32_t bytes_hash(const uint8_t *data, Py_ssize_t left) noexcept:
    """Hash all bytes of a string. Python's own hash guards against collisions, which building the table refuses."""
    cdef uint64_t factor = 0x9E3779B97F4A7C15     # 2**64 divided by the golden ratio
    cdef uint64_t mixed = <uint64_t> left * factor
    while left >= 8:
        mixed = (mixed ^ load64(data)) * factor
        mixed ^= mixed >> 29
        data += 8
        left -= 8
    if left >= 4:
        mixed = (mixed ^ (load32(data) | load32(data + left - 4) << 32)) * factor
    elif left > 0:
        mixed = (mixed ^ (data[0] | <uint64_t> data[left >> 1] << 8 | <uint64_t> data[left - 1] << 16)) * factor
    return <uint32_t> (mixed >> 32)


cdef Image *image_new(Verified program) except NULL
cdef void image_free(Image *image) noexcept
