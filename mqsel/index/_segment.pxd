# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
# A segment: flat arrays that name each other by number, so that they can lie in a file; and what was removed from it.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

cdef enum:
    NONE = 0xFFFFFFFF           # no string, no attribute
    ANY_POINT = 0xFFFFFFFF      # _ in a pattern: no code point
    NO_CODE = 0xFFFFFFFF        # of no number

cdef enum:
    SHORT_LIMIT = 65536         # numbers of 16 bits
    ZERO_CODE = 32768
    CODED = 16384               # whole numbers below it, either way, have a code of their own


# What a value is to a step, a bit each; of a property none but one, of an open test all that it may be.
cdef enum:
    KIND_NULL = 1
    KIND_FALSE = 2
    KIND_TRUE = 4
    KIND_NUMBER = 8             # that is not NaN
    KIND_NAN = 16
    KIND_STRING = 32
    KIND_BYTES = 64
    KIND_ANY = 126              # that is a value
    KIND_OPEN = 128             # beside others: a computed test that is not computed yet
    KIND_ASKED = 256            # beside that: it is listed


# How a step tests what `kinds` has not let through.
cdef enum:
    KIND                        # not at all
    TEXT                        # the string, or byte string, of a number
    BETWEEN                     # from one float to another, infinite perhaps
    # Most tests are those before: they are made together, without a branch on which it is.
    OTHER_TEXT                  # any other string
    EQUAL                       # the double
    UNEQUAL
    LEAST                       # at least the double
    MOST                        # at most the double
    LEAF                        # the leaf of a number: of any set, of arithmetic, of a relation; see Constant
    TRUTH                       # not at all, of a computed test: to compute it is dearer than all the rest
    OUTSIDE                     # below one float or above another
    TESTS

    # The tests of short steps. With SHORT_NOT they are true of all other values. Most are the first three.
    SHORT = 32
    SHORT_RANGE = 32            # a number whose code is one of 16 bits, or one of so many behind it
    SHORT_TEXT                  # the string of a number of 16 bits
    SHORT_KIND                  # a Kind of these
    SHORT_NOT = 4
    SHORT_MASK = 56             # of those, is SHORT
    SHORT_WIDE_TEXT = 40        # the string of a number
    SHORT_PAIR                  # the string of either of two numbers of 16 bits
    SHORT_TEXTS = 48            # strings of which four numbers are in each word that follows
    SHORT_WIDE_TEXTS            # two in each word
    SHORT_LEAF = 56


cdef enum:
    # In `test`, above what it is: the truth value on which the next step follows; LAST none.
    TEST_BITS = 6
    TEST_MASK = 63
    LAST = 2
    # In `link`: where to go on the other truth value, in words from here, 0 for the end; above, the depth of the group
    # that this step and the next have in common.
    JUMP_BITS = 22
    JUMP_MASK = (1 << 22) - 1
    MAX_DEPTH = 1000
    # Both of a short step.
    SHORT_JUMP_BITS = 5
    SHORT_JUMP_MASK = 31
    SHORT_DEPTHS = 8


cdef union Constant:
    uint64_t bits
    double number
    float bounds[2]
    uint32_t place              # of a string or a leaf
    # Of a leaf its place, and codes, unless all of it is 0: the first, and above it how many follow. Where the code of
    # the attribute is between 0 and 65535, it makes the leaf true within these, which are two ends of which the leaf
    # has to be looked at, and false elsewhere.
    uint32_t leaf[2]


# One test of a clause, in two words.
cdef struct ClauseStep:
    uint8_t test
    uint8_t kinds               # Kinds of which all is in the set
    uint16_t attribute
    uint32_t link
    Constant it


# One test of a clause in one word. That of SHORT_TEXTS has the words that follow in the lowest byte of `it`, and above
# them where to go on.
cdef struct ShortStep:
    uint8_t test
    uint8_t link
    uint16_t attribute
    uint32_t it


# A conjunction, nested or not, that makes places true.
cdef struct Clause:
    uint32_t code               # the word of its first step; above, how many words its postings prove, and MANY_PLACES
    uint32_t place              # its place; with MANY_PLACES, where they stand in copies behind their number


cdef enum:
    CODE_BITS = 28
    CODE_MASK = (1 << 28) - 1
    MOST_PROVED = 7
    MANY_PLACES = 1 << 31


# That a clause is to be looked at, if another attribute of its has a bucket in [low, high].
cdef struct Posting:
    uint32_t clause             # and above it in which of these buckets it is true, for nothing else is left to test
    uint16_t attribute
    uint8_t low
    uint8_t high


cdef enum:
    CLAUSE_MASK = (1 << 30) - 1
    TRUE_INSIDE = 1 << 30       # in all of them but the first and the last
    TRUE_IN_ALL = 1 << 31
    OWN_BUCKETS = 127           # strings that share their bucket with no other


cdef struct PostingList:
    uint32_t start              # in the postings
    uint32_t count


# Postings of one value of one attribute; they end where those of the next entry begin.
cdef struct PointEntry:
    uint32_t value              # the number of a string, a whole number, or a truth value: the lowest 32 bits
    uint32_t key                # the next 14 bits of it, the Lane, the attribute
    uint32_t start              # in the postings


cdef enum:
    LANE_TEXT
    LANE_NUMBER
    LANE_TRUTH
    POINT_VALUE_BITS = 14       # of the key
    POINT_LANE_BITS = 2
    POINTS_A_BUCKET = 2


# Postings of some characters of texts, found by their hash.
cdef struct AffixEntry:
    uint32_t key                # see `affix_key`; 0 in an empty place of the table
    uint32_t points             # where the characters themselves are in the pool, in halves of its words
    PostingList list


# Lists by what a value is.
cdef enum:
    ANY_NULL
    ANY_VALUE
    ANY_TRUTH
    ANY_NUMBER                  # NaN too
    ANY_NAN
    ANY_STRING
    ANY_BYTES
    PRESENCES


cdef enum:
    # What an attribute needs of a message.
    USED = 1
    HAS_TEXTS = 2               # the numbers of strings
    HAS_TEXT_POINTS = 4
    HAS_NUMBER_POINTS = 8
    HAS_TRUTH_POINTS = 16
    HAS_INTERVALS = 32
    HAS_AFFIXES = 64
    HAS_LISTS = 128
    # Interval lists have the maximum of the upper ends of so many, and of so many of those.
    BLOCK = 32
    AFFIX_MAX = 24              # characters of a prefix or suffix that are looked up
    GRAM = 4                    # characters of a text that is contained, if it has as many
    LEAST_GRAM = 2              # it has at least so many; with fewer any text is looked at


cdef struct Attribute:
    uint32_t flags
    uint32_t prefixes           # a bit for each length in use
    uint32_t suffixes
    uint32_t grams              # likewise, of what is contained
    double base                 # the number of bucket 2
    double scale                # buckets for 1.0; 0 where they are not those of numbers
    PostingList lists[7]        # by Presence
    PostingList intervals       # in lows and highs, and where their postings begin
    uint32_t interval_postings
    uint32_t maxima             # where the maxima of their blocks begin, and behind those the maxima of theirs


# How a leaf is made up: this head, and then what it counts, in words of eight bytes.
cdef enum:
    SET                         # a property or arithmetic, and a set
    RELATION                    # two operands, and outcomes
    CODE                        # steps: a formula that is too deep to be in its clause

cdef enum:
    LEAF_NAN32 = 256
    LEAF_NAN64 = 512
    LEAF_POISON = 1024
    LEAF_ERROR = 2048
    LEAF_NOT_STRINGS = 4096     # of strings: all but those
    LEAF_NOT_BYTES = 8192
    EVERY_OTHER_KIND = 13062    # flags of all values but some strings


cdef struct PooledLeaf:
    uint32_t words              # in all
    uint16_t kind               # a LeafKind
    uint16_t flags              # KIND_NULL, KIND_FALSE, KIND_TRUE, LeafFlags
    uint32_t attribute[2]       # of the operands; NONE for arithmetic; the second of a SET is not read
    uint32_t actions[2]         # of their arithmetic; of CODE the number of steps
    uint32_t outcomes
    uint32_t depth              # of the stack
    uint32_t integers           # how many intervals
    uint32_t floats32
    uint32_t floats64
    uint32_t strings            # listed
    uint32_t bytes
    uint32_t patterns           # numbers that patterns are written in: segments, then for each its length and points


cdef enum:
    LEAF_WORDS = 7              # of its head
    MAX_STACK = 100_000         # of arithmetic


# A step of arithmetic.
cdef struct ArithmeticStep:
    uint8_t what                # an ActionKind
    uint8_t op                  # of COMPUTE, as the machine's
    uint16_t rule               # of COMPUTE: NARROW, or 0
    uint32_t attribute          # of PUSH_ATTRIBUTE
    int64_t number              # of PUSH_INTEGER; the bits of a PUSH_DOUBLE


cdef enum:
    PUSH_ATTRIBUTE
    PUSH_INTEGER
    PUSH_DOUBLE
    KEEP
    NEGATE
    COMPUTE


# ---- sections of a segment -----------------------------------------------------------------------------------------

cdef enum:
    ATTRIBUTES
    STRINGS
    STRING_TABLE
    TEXTS
    POOL
    LEAVES
    STEPS
    CLAUSES
    COPIES
    POSTINGS
    POINTS
    AFFIXES
    ENDS                        # of intervals: all lower ones, then all upper ones
    POINT_BUCKETS               # where the points of each begin, and where the last ends
    MAXIMA
    NULLS
    PLACES
    SECTIONS


cdef struct SegmentHeader:
    char magic[8]
    uint32_t version
    uint32_t order              # 0x01020304 as this machine writes it
    uint64_t size               # of all, in bytes
    uint64_t starts[17]         # of each Section, in bytes
    uint64_t counts[17]         # its items
    uint64_t selectors          # places that were laid out
    PostingList always
    uint32_t place_limit        # beyond the greatest place
    uint32_t check              # of all before


# A segment, or a draft that can be run, with its arrays at hand.
cdef struct SegmentArrays:
    uint32_t attribute_count
    uint32_t string_count
    uint32_t string_slots       # of their table
    uint32_t string_bits        # of an item of it that are a number + 1; above, the lowest of the hash
    uint32_t leaf_count
    uint32_t code_count
    uint32_t clause_count
    uint32_t copy_count
    uint32_t posting_count
    uint32_t point_count
    uint32_t bucket_count
    uint32_t affix_mask
    uint32_t interval_count
    uint32_t maximum_count
    uint32_t null_count
    uint32_t place_limit
    uint64_t text_size
    uint64_t pool_size
    uint64_t selectors
    PostingList always
    const Attribute *attributes
    const uint32_t *strings     # where each begins in the texts: its kind, bytes a code point or 0 for byte strings
    const uint32_t *string_table
    const uint8_t *texts
    const uint64_t *pool
    const uint32_t *leaves
    const uint64_t *code
    const Clause *clauses
    const uint32_t *copies
    const Posting *postings
    const PointEntry *points
    const uint32_t *buckets
    const AffixEntry *affixes
    const double *lows
    const double *highs
    const double *maxima
    const uint32_t *nulls
    const uint8_t *places       # a bit for each that it has
    uint8_t *looked             # of each leaf: whether it was checked and is sound (1) or not (2); NULL if all are


# Where a build for tests of faults (MQSEL_FAULTS in setup.py) lets a change fail; elsewhere nothing.
cdef extern from *:
    """
    #ifndef mqsel_fault
    #define mqsel_fault() 0
    #endif
    """
    int mqsel_fault() noexcept nogil


cdef inline int fault() except -1:
    if mqsel_fault():
        raise MemoryError
    return 0


cdef extern from *:
    """
    #if defined(__GNUC__)
    #define mqsel_ahead(address) __builtin_prefetch(address)
    #else
    #define mqsel_ahead(address) ((void) 0)
    #endif
    """
    void mqsel_ahead(const void *address) noexcept nogil


cdef int grown(void **items, uint64_t *capacity, uint64_t wanted, size_t size) noexcept nogil
cdef bint leaf_is_sound(const PooledLeaf *leaf, uint64_t room, uint32_t attributes) noexcept nogil
cdef uint32_t header_check(const SegmentHeader *header) noexcept nogil
cdef size_t[17] SIZES
cdef uint32_t VERSION
cdef uint64_t[6] ALL_NUMBERS    # the intervals of a leaf that has one of each lane, with all but NaN


cdef inline uint64_t mixed(uint64_t word) noexcept nogil:
    """Spread the bits of a word."""
    word = (word ^ word >> 32) * <uint64_t> 0xD6E8FEB86659FD93
    word = (word ^ word >> 32) * <uint64_t> 0xD6E8FEB86659FD93
    return word ^ word >> 32


cdef inline uint32_t point_hash(uint32_t key, uint64_t value) noexcept nogil:
    # More rounds spread points no better, and a search waits for them: 7 % of conjunctions.
    return <uint32_t> ((value * <uint64_t> 0x9E3779B97F4A7C15 + key) * <uint64_t> 0xD6E8FEB86659FD93 >> 32)


cdef inline uint64_t slot_of(uint32_t hash, uint64_t size) noexcept nogil:
    """Return the place of a hash in a table: by its highest bits."""
    return hash * size >> 32


cdef inline uint32_t point_key(uint32_t attribute, int lane, uint64_t value) noexcept nogil:
    """Return the key of an entry, of which `value` has the rest."""
    return (
        attribute << (POINT_LANE_BITS + POINT_VALUE_BITS) | <uint32_t> lane << POINT_VALUE_BITS
        | <uint32_t> (value >> 32) & ((1 << POINT_VALUE_BITS) - 1)
    )


cdef inline bint number_point(double number, uint64_t *value) noexcept nogil:
    """Find the value that a number has as a point. Returns whether it has one: if it is whole, and has 46 bits."""
    if not -35184372088832.0 <= number < 35184372088832.0:
        return False
    value[0] = <uint64_t> <int64_t> number
    return <double> <int64_t> number == number


cdef inline uint32_t number_code(double number) noexcept nogil:
    """Return the code of a number, 0 to 65535: even of a whole one, the odd one between of those between two.

    NaN has NO_CODE. Below the first whole number and above the last all have one code.
    """
    cdef int32_t whole
    if not -CODED < number < CODED:
        return 65535 if number > 0 else 0 if number < 0 else <uint32_t> NO_CODE
    whole = <int32_t> number
    whole -= number < whole
    return <uint32_t> (2 * whole + ZERO_CODE + (number != whole))


cdef inline uint32_t integer_code(int64_t number) noexcept nogil:
    return <uint32_t> (2 * min(max(number, -CODED), CODED - 1) + ZERO_CODE) | (number >= CODED)


cdef inline double code_number(uint32_t code) noexcept nogil:
    """Return the whole number of a code, or that below it."""
    return <double> ((<int32_t> code - ZERO_CODE) >> 1)


cdef inline uint32_t step_words(const uint64_t *code) noexcept nogil:
    """Return how many words a step has."""
    cdef const ShortStep *step = <const ShortStep *> code
    if step.test & SHORT == 0:
        return 2
    return 1 + (step.it & 255) if step.test & SHORT_MASK == SHORT_TEXTS else 1


cdef inline uint32_t text_hash(const uint8_t *data, uint64_t left, int kind) noexcept nogil:
    """Hash all bytes of a string, or of the header of a segment."""
    cdef uint64_t factor = 0x9E3779B97F4A7C15  # 2**64 divided by the golden ratio
    cdef uint64_t hash = (left * 8 + kind) * factor
    cdef uint64_t word
    while left >= 8:
        memcpy(&word, data, 8)
        hash = (hash ^ word) * factor
        hash ^= hash >> 29
        data += 8
        left -= 8
    word = 0
    if left >= 4:
        memcpy(&word, data, 4)
        data += 4
        left -= 4
    while left > 0:
        word = word << 8 | data[0]
        data += 1
        left -= 1
    hash = (hash ^ word) * factor
    return <uint32_t> (hash >> 32)


# An attribute has the buckets 1 to 254 for one thing: numbers, the strings of the segment, or truth values. All else
# that is a value has 255, so that none of them has the bucket of a value of another kind.

cdef inline uint8_t number_bucket(const Attribute *attribute, double number) noexcept nogil:
    """Return the bucket of a number, 2 to 254: never falling as numbers rise."""
    cdef double at = (number - attribute.base) * attribute.scale
    if not attribute.scale > 0:
        return 255
    if not at > 0:
        return 2
    return 254 if at >= 252 else <uint8_t> (2 + <int> at)


cdef inline uint8_t text_bucket(const Attribute *attribute, uint32_t text, uint32_t hash) noexcept nogil:
    """Return the bucket of a string or byte string: 1 to 127 by its number alone."""
    if attribute.scale > 0 or not attribute.flags & HAS_TEXTS or text == NONE:
        return 255
    return <uint8_t> (1 + (text if text < OWN_BUCKETS else OWN_BUCKETS + (hash >> 7) % OWN_BUCKETS))


cdef inline uint8_t truth_bucket(const Attribute *attribute, bint truth) noexcept nogil:
    return 255 if attribute.scale > 0 or attribute.flags & HAS_TEXTS else 1 + truth


cdef inline uint64_t affix_start(uint32_t attribute, int way) noexcept nogil:
    """Begin the hash of characters: way 0 for a prefix, 1 for a suffix, 2 for what is contained."""
    return mixed((<uint64_t> attribute << 2 | way) + 1)


cdef inline uint64_t affix_more(uint64_t hash, uint32_t character) noexcept nogil:
    return (hash ^ character) * <uint64_t> 0x9E3779B97F4A7C15 + (hash >> 29)


cdef inline uint32_t affix_key(uint32_t attribute, int way, uint32_t length, uint64_t hash) noexcept nogil:
    """Return what an entry has of its affix: all but the characters, and nine bits of their hash."""
    return attribute << 16 | length << 11 | <uint32_t> (way + 1) << 9 | <uint32_t> hash & 511


cdef inline bint string_at(
    const SegmentArrays *segment, uint32_t number, const uint8_t **data, uint64_t *size, int *kind
) noexcept nogil:
    """Find the bytes of a string. Returns whether it is one of the segment, and lies within."""
    cdef uint64_t start, end
    if number >= segment.string_count:
        return False
    start = segment.strings[number]
    end = segment.strings[number + 1] if number + 1 < segment.string_count else segment.text_size
    if start >= end or end > segment.text_size:
        return False
    kind[0] = segment.texts[start]
    data[0] = segment.texts + start + 1
    size[0] = end - start - 1
    return True


cdef inline uint32_t string_find(
    const SegmentArrays *segment, const uint8_t *data, uint64_t size, int kind, uint32_t hash
) noexcept nogil:
    """Return the number of a string, or NONE."""
    cdef uint64_t slot = slot_of(hash, segment.string_slots)
    cdef uint32_t mask = <uint32_t> ((<uint64_t> 1 << segment.string_bits) - 1)
    cdef uint32_t rest = <uint32_t> (<uint64_t> hash << segment.string_bits)
    cdef uint32_t _, item
    cdef const uint8_t *known
    cdef uint64_t known_size
    cdef int known_kind
    for _ in range(segment.string_slots):
        item = segment.string_table[slot]
        if item == 0:
            return NONE
        if (
            (item ^ rest) & ~mask == 0
            and string_at(segment, (item & mask) - 1, &known, &known_size, &known_kind)
            and known_size == size and known_kind == kind and memcmp(known, data, size) == 0
        ):
            return (item & mask) - 1
        slot += 1
        if slot == segment.string_slots:
            slot = 0
    return NONE


# Where the parts of a leaf lie: actions, intervals of integers, floats and doubles, strings, byte strings, patterns.

cdef inline const uint64_t *leaf_intervals(const PooledLeaf *leaf) noexcept nogil:
    return <const uint64_t *> leaf + LEAF_WORDS + 2 * (<uint64_t> leaf.actions[0] + leaf.actions[1])


cdef inline const uint32_t *leaf_strings(const PooledLeaf *leaf) noexcept nogil:
    return <const uint32_t *> (
        leaf_intervals(leaf) + 2 * (<uint64_t> leaf.integers + leaf.floats32 + leaf.floats64)
    )


cdef inline const uint32_t *leaf_bytes(const PooledLeaf *leaf) noexcept nogil:
    return leaf_strings(leaf) + (<uint64_t> leaf.strings + 1) // 2 * 2


cdef inline const uint32_t *leaf_patterns(const PooledLeaf *leaf) noexcept nogil:
    return leaf_bytes(leaf) + (<uint64_t> leaf.bytes + 1) // 2 * 2


# A segment in a buffer, and its tombstones.
cdef class StoredSegment:
    cdef SegmentArrays arrays
    cdef Py_buffer view
    cdef readonly bint is_foreign       # came from a buffer that may be damaged
    cdef bint has_view
    cdef uint8_t *tombstones            # a bit for each place that was removed; NULL while none was
    cdef readonly uint64_t removed      # how many were

    cdef int hold(self, data) except -1
    cdef int reserve(self) except -1
    cdef void mark_removed(self, uint32_t place) noexcept
    cdef uint64_t living(self) noexcept
    cdef bytes tombstones_copied(self)


cdef object damaged(str why)
cdef void *zeroed(uint64_t size) except NULL
cdef dict segments_stats(list segments, list names)


cdef inline bint has_bit(const uint8_t *bits, uint32_t place) noexcept:
    return bits[place >> 3] >> (place & 7) & 1


cdef inline bint is_living(StoredSegment stored, uint32_t place) noexcept:
    return (
        place < stored.arrays.place_limit and has_bit(stored.arrays.places, place)
        and (stored.tombstones == NULL or not has_bit(stored.tombstones, place))
    )
