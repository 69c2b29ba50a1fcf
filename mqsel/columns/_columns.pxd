# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# A column as formulas read it: a block of rows at a time.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from mqsel.columns._arrow cimport Column
from mqsel.columns._sets cimport FloatSet, ValueSet, Vocabulary


cdef enum:
    BLOCK = 2048             # rows of a block: 1,024 and 4,096 were slower (W2 2.65, 2.73; this 2.55 ns a row)
    WORDS = 32               # of a bit for each row of a block
    NESTED = 8               # structs around a column
    FEW = 8                  # intervals that are compared one after the other, and that by vectors
    UNDECIDED = -3           # it has to be found in another way
    DECLINED = -1            # the machine looks at this block row by row, and finds the words for what is wrong


# What is kept of the current block. Each part is made when something first asks for it, and holds for one block.
cdef struct ColumnBlock:
    Column *column           # the innermost, or the indices of a dictionary
    int kind                 # its ColumnKind
    int leaves               # how many tests of the column there are
    int bitmap_count
    const uint8_t *bitmaps[NESTED]
    int64_t bitmap_starts[NESTED]
    int64_t valid_block      # first row of the block that the part was made for, or -1
    int64_t mask_block
    int64_t text_block
    bint is_short            # all views of the block have their text in themselves
    int64_t tail_block
    int64_t number_block
    int64_t code_block
    Vocabulary *vocabulary   # NULL: the leaves compare with few texts
    uint64_t[WORDS] validity  # a bit for each row with a value
    uint8_t *valid           # the same as a mask
    uint64_t *keys           # of texts and byte strings, see _loops.h; of views the heads
    int32_t *sizes           # not of views
    uint64_t *tails          # of views the rests
    uint8_t *codes           # of texts, by the vocabulary
    int64_t *integers        # of integers of any width, and of booleans
    double *doubles          # in the same place


cdef object reader_refusal(Column *column)
cdef bint has_texts(int kind) noexcept nogil
cdef size_t reader_room(Column *column) noexcept nogil
cdef void reader_start(ColumnBlock *reader, Column *column, uint8_t *room) noexcept nogil
cdef const uint64_t *valid_words(ColumnBlock *reader, int64_t start, int rows) noexcept nogil
cdef uint8_t *valid_rows(ColumnBlock *reader, int64_t start, int rows) noexcept nogil
cdef int numbers_load(ColumnBlock *reader, int64_t start, int rows) noexcept nogil
cdef void integers_mask(const int64_t *numbers, ValueSet *values, int rows, uint8_t *mask) noexcept nogil
cdef void doubles_mask(const double *numbers, ValueSet *values, bint single, int rows, uint8_t *mask) noexcept nogil
cdef int words_mask(
    ColumnBlock *reader, const uint8_t *words, int64_t only, uint64_t few, int64_t start, int rows, uint8_t *mask
) noexcept nogil
cdef int texts_load(ColumnBlock *reader, int64_t start, int rows) noexcept nogil
cdef void text_at(ColumnBlock *reader, int64_t row, const uint8_t **data, int64_t *size) noexcept nogil
cdef bint dictionary_bits(
    ColumnBlock *reader, int64_t only, uint64_t few, int64_t start, int rows, uint64_t *bits, int ahead
) noexcept nogil
cdef bint column_bits(ColumnBlock *reader, ValueSet *values, int64_t start, int rows, uint64_t *bits) noexcept nogil
cdef int coded_bits(ColumnBlock *reader, const uint64_t *few, int64_t start, int rows, uint64_t *bits) noexcept nogil
cdef int few_bits(
    ColumnBlock *reader, ValueSet *values, int64_t start, int rows, const uint64_t *left, uint64_t *bits
) noexcept nogil
cdef int column_mask(
    ColumnBlock *reader, ValueSet *values, bint strict, int64_t start, int rows, const uint8_t *wanted, uint8_t *mask
) noexcept nogil
