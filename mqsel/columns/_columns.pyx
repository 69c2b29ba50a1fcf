# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Columns in blocks: which rows have a value, numbers, and words of dictionaries.

Checks what it reads as `column_load` does. It makes no error: where something is wrong it declines the block, and the
machine, row by row, which reads only what it needs, finds the words or finds that it does not matter. Knows no formula.
"""

from libc.stdint cimport (
    INT8_MAX, INT8_MIN, INT16_MAX, INT16_MIN, INT32_MAX, INT32_MIN, UINT8_MAX, UINT16_MAX, UINT32_MAX, int8_t, int16_t,
    int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t,
)
from libc.string cimport memcpy, memset

from mqsel.columns._arrow cimport (
    BINARIES, BINARY_VIEWS, FIELDS, FLOAT32S, FLOAT64S, INDICES, INT8S, INT16S, INT32S, INT64S, LARGE_BINARIES,
    LARGE_TEXTS, TEXT_VIEWS, TEXTS, UINT8S, UINT16S, UINT32S, UINT64S, Column,
)
from mqsel.columns._sets cimport Floats, Interval, Stretch, Values

cdef extern from "_loops.h" nogil:
    void fetch_ahead(const void *start, int64_t size)
    void mask_and(uint8_t *mask, const uint8_t *other, int rows)
    void mask_of_bits(uint8_t *mask, const uint8_t *bits, int64_t at, int rows)
    void within_int8_t(const int8_t *values, int rows, int8_t low, int8_t high, uint8_t *mask, int join)
    void within_int16_t(const int16_t *values, int rows, int16_t low, int16_t high, uint8_t *mask, int join)
    void within_int32_t(const int32_t *values, int rows, int32_t low, int32_t high, uint8_t *mask, int join)
    void within_int64_t(const int64_t *values, int rows, int64_t low, int64_t high, uint8_t *mask, int join)
    void within_uint8_t(const uint8_t *values, int rows, uint8_t low, uint8_t high, uint8_t *mask, int join)
    void within_uint16_t(const uint16_t *values, int rows, uint16_t low, uint16_t high, uint8_t *mask, int join)
    void within_uint32_t(const uint32_t *values, int rows, uint32_t low, uint32_t high, uint8_t *mask, int join)
    void within_float(const float *values, int rows, float low, float high, uint8_t *mask, int join)
    void within_double(const double *values, int rows, double low, double high, uint8_t *mask, int join)
    void nans_float(const float *values, int rows, uint8_t *mask, int join)
    void nans_double(const double *values, int rows, uint8_t *mask, int join)
    void widen_int8_t(const int8_t *values, int rows, int64_t *wide)
    void widen_int16_t(const int16_t *values, int rows, int64_t *wide)
    void widen_int32_t(const int32_t *values, int rows, int64_t *wide)
    void widen_int64_t(const int64_t *values, int rows, int64_t *wide)
    void widen_uint8_t(const uint8_t *values, int rows, int64_t *wide)
    void widen_uint16_t(const uint16_t *values, int rows, int64_t *wide)
    void widen_uint32_t(const uint32_t *values, int rows, int64_t *wide)
    void widen_float(const float *values, int rows, double *wide)
    int beyond_int64(const int64_t *values, const uint8_t *valid, int rows)
    int indices_int8_t(const int8_t *indices, int rows, uint64_t count, const uint8_t *valid)
    int indices_int16_t(const int16_t *indices, int rows, uint64_t count, const uint8_t *valid)
    int indices_int32_t(const int32_t *indices, int rows, uint64_t count, const uint8_t *valid)
    int indices_int64_t(const int64_t *indices, int rows, uint64_t count, const uint8_t *valid)
    int indices_uint8_t(const uint8_t *indices, int rows, uint64_t count, const uint8_t *valid)
    int indices_uint16_t(const uint16_t *indices, int rows, uint64_t count, const uint8_t *valid)
    int indices_uint32_t(const uint32_t *indices, int rows, uint64_t count, const uint8_t *valid)
    int indices_uint64_t(const uint64_t *indices, int rows, uint64_t count, const uint8_t *valid)
    void words_int8_t(const int8_t *, int rows, const uint8_t *words, int64_t only, const uint8_t *, uint8_t *)
    void words_int16_t(const int16_t *, int rows, const uint8_t *words, int64_t only, const uint8_t *, uint8_t *)
    void words_int32_t(const int32_t *, int rows, const uint8_t *words, int64_t only, const uint8_t *, uint8_t *)
    void words_int64_t(const int64_t *, int rows, const uint8_t *words, int64_t only, const uint8_t *, uint8_t *)
    void words_uint8_t(const uint8_t *, int rows, const uint8_t *words, int64_t only, const uint8_t *, uint8_t *)
    void words_uint16_t(const uint16_t *, int rows, const uint8_t *words, int64_t only, const uint8_t *, uint8_t *)
    void words_uint32_t(const uint32_t *, int rows, const uint8_t *words, int64_t only, const uint8_t *, uint8_t *)
    void words_uint64_t(const uint64_t *, int rows, const uint8_t *words, int64_t only, const uint8_t *, uint8_t *)
    enum:
        INSIDE
        INSIDE_WITH_VALUE
        OUTSIDE

cdef dict _WIDTHS = {
    INT8S: 1, UINT8S: 1, INT16S: 2, UINT16S: 2, INT32S: 4, UINT32S: 4, FLOAT32S: 4, INT64S: 8, UINT64S: 8, FLOAT64S: 8,
    TEXTS: 4, BINARIES: 4, LARGE_TEXTS: 8, LARGE_BINARIES: 8, TEXT_VIEWS: 4, BINARY_VIEWS: 4,
}


cdef object reader_refusal(Column *column):
    """Say why the kernel does not read a column, or give None."""
    cdef int around = 0
    while column.kind == FIELDS:
        column = column.inner
        around += 1
    if around >= NESTED:
        return f"it stands in {around} structs"
    kind = column.index if column.kind == INDICES else column.kind
    if <size_t> column.values % <size_t> _WIDTHS.get(kind, 1):
        return "its values are not aligned"
    if column.kind == INDICES:
        return reader_refusal(column.inner)
    return None


cdef bint has_texts(int kind) noexcept nogil:
    return TEXTS <= kind <= BINARY_VIEWS


cdef size_t reader_room(Column *column) noexcept nogil:
    """Tell how many bytes a reader needs for what it keeps of a block."""
    while column.kind == FIELDS:
        column = column.inner
    return BLOCK * ((8 + 8 + 8 if has_texts(column.kind) else 8) + 8)


cdef void reader_start(Reader *reader, Column *column, uint8_t *room) noexcept nogil:
    """Begin to read a column; *room* is of the size that `reader_room` tells, aligned for numbers."""
    memset(reader, 0, sizeof(Reader))
    reader.valid_block = reader.text_block = reader.tail_block = reader.number_block = -1
    while True:
        if column.validity != NULL:
            reader.bitmaps[reader.bitmap_count] = column.validity
            reader.bitmap_starts[reader.bitmap_count] = column.offset
            reader.bitmap_count += 1
        if column.kind != FIELDS:
            break
        column = column.inner
    reader.column = column
    reader.kind = column.kind
    reader.integers = <int64_t *> room
    reader.doubles = <double *> room
    reader.keys = <uint64_t *> room
    if has_texts(column.kind):
        reader.tails = reader.keys + BLOCK
        reader.sizes = <int32_t *> (reader.tails + BLOCK)
        reader.valid = <uint8_t *> (reader.sizes + BLOCK)
    else:
        reader.valid = <uint8_t *> (reader.keys + BLOCK)


cdef uint8_t *valid_rows(Reader *reader, int64_t start, int rows) noexcept nogil:
    """Give the mask of the rows with a value; NULL if all have one."""
    cdef int number
    cdef uint8_t other[BLOCK]
    if reader.bitmap_count == 0:
        return NULL
    if reader.valid_block != start:
        reader.valid_block = start
        mask_of_bits(reader.valid, reader.bitmaps[0], reader.bitmap_starts[0] + start, rows)
        for number in range(1, reader.bitmap_count):
            mask_of_bits(other, reader.bitmaps[number], reader.bitmap_starts[number] + start, rows)
            mask_and(reader.valid, other, rows)
    return reader.valid


# ---- numbers -----------------------------------------------------------------------------------------------------

cdef bint in_intervals(Interval *items, int count, int64_t number) noexcept nogil:
    cdef int low = 0
    cdef int high = count
    cdef int middle
    while low < high:
        middle = (low + high) >> 1
        if items[middle].high < number:
            low = middle + 1
        else:
            high = middle
    return low < count and items[low].low <= number


cdef bint in_stretches(Stretch *items, int count, double number) noexcept nogil:
    cdef int low = 0
    cdef int high = count
    cdef int middle
    while low < high:
        middle = (low + high) >> 1
        if items[middle].high < number:
            low = middle + 1
        else:
            high = middle
    return low < count and items[low].low <= number


cdef inline bint clipped(Interval *item, int64_t least, int64_t most, Interval *into) noexcept nogil:
    into.low = item.low if item.low > least else least
    into.high = item.high if item.high < most else most
    return into.low <= into.high


cdef void narrow_mask(Reader *reader, Values *values, int64_t start, int rows, uint8_t *mask) noexcept nogil:
    """Find the rows whose integer, of any width but uint64, is in a set of a few intervals."""
    cdef int number
    cdef int join = 0
    cdef Interval item
    cdef int kind = reader.kind
    cdef int64_t at = reader.column.offset + start
    cdef const void *from_ = reader.column.values
    for number in range(values.integer_count):
        item = values.integers[number]
        if kind == INT64S:
            if number == 0:
                fetch_ahead(<const int64_t *> from_ + at + rows, 8 * rows)
            within_int64_t(<const int64_t *> from_ + at, rows, item.low, item.high, mask, join)
        elif kind == INT32S:
            if not clipped(&item, INT32_MIN, INT32_MAX, &item):
                continue
            within_int32_t(<const int32_t *> from_ + at, rows, <int32_t> item.low, <int32_t> item.high, mask, join)
        elif kind == INT16S:
            if not clipped(&item, INT16_MIN, INT16_MAX, &item):
                continue
            within_int16_t(<const int16_t *> from_ + at, rows, <int16_t> item.low, <int16_t> item.high, mask, join)
        elif kind == INT8S:
            if not clipped(&item, INT8_MIN, INT8_MAX, &item):
                continue
            within_int8_t(<const int8_t *> from_ + at, rows, <int8_t> item.low, <int8_t> item.high, mask, join)
        elif kind == UINT32S:
            if not clipped(&item, 0, UINT32_MAX, &item):
                continue
            within_uint32_t(<const uint32_t *> from_ + at, rows, <uint32_t> item.low, <uint32_t> item.high, mask, join)
        elif kind == UINT16S:
            if not clipped(&item, 0, UINT16_MAX, &item):
                continue
            within_uint16_t(<const uint16_t *> from_ + at, rows, <uint16_t> item.low, <uint16_t> item.high, mask, join)
        else:
            if not clipped(&item, 0, UINT8_MAX, &item):
                continue
            within_uint8_t(<const uint8_t *> from_ + at, rows, <uint8_t> item.low, <uint8_t> item.high, mask, join)
        join = 1
    if not join:
        memset(mask, 0, rows)


cdef void integers_mask(const int64_t *numbers, Values *values, int rows, uint8_t *mask) noexcept nogil:
    """Find the rows whose INT is in a set."""
    cdef int number, row
    if values.integer_count > FEW:
        for row in range(rows):
            mask[row] = in_intervals(values.integers, values.integer_count, numbers[row])
        return
    for number in range(values.integer_count):
        within_int64_t(
            numbers, rows, values.integers[number].low, values.integers[number].high, mask, number > 0
        )
    if values.integer_count == 0:
        memset(mask, 0, rows)


cdef void doubles_mask(const double *numbers, Values *values, bint single, int rows, uint8_t *mask) noexcept nogil:
    """Find the rows whose FLOAT64, or FLOAT32 where *single*, is in a set."""
    cdef Floats *floats = &values.floats32 if single else &values.floats64
    cdef int number, row
    if floats.count > FEW:
        for row in range(rows):
            mask[row] = in_stretches(floats.items, floats.count, numbers[row])
    else:
        for number in range(floats.count):
            within_double(numbers, rows, floats.items[number].low, floats.items[number].high, mask, number > 0)
        if floats.count == 0:
            memset(mask, 0, rows)
    if floats.nan:
        nans_double(numbers, rows, mask, 1)


cdef void singles_mask(const float *numbers, Floats *floats, int rows, uint8_t *mask) noexcept nogil:
    cdef int number
    for number in range(floats.count):
        within_float(
            numbers, rows, <float> floats.items[number].low, <float> floats.items[number].high, mask, number > 0
        )
    if floats.count == 0:
        memset(mask, 0, rows)
    if floats.nan:
        nans_float(numbers, rows, mask, 1)


cdef int numbers_load(Reader *reader, int64_t start, int rows) noexcept nogil:
    """Take the numbers of a block as int64 or double, booleans as 0 and 1.

    Returns: 0, or DECLINED.
    """
    cdef int64_t at = reader.column.offset + start
    cdef const void *values = reader.column.values
    cdef uint8_t bits[BLOCK]
    cdef int kind = reader.kind
    if reader.number_block == start:
        return 0
    if kind == INT64S:
        widen_int64_t(<const int64_t *> values + at, rows, reader.integers)
    elif kind == INT32S:
        widen_int32_t(<const int32_t *> values + at, rows, reader.integers)
    elif kind == FLOAT64S:
        memcpy(reader.doubles, <const double *> values + at, rows * sizeof(double))
    elif kind == FLOAT32S:
        widen_float(<const float *> values + at, rows, reader.doubles)
    elif kind == INT16S:
        widen_int16_t(<const int16_t *> values + at, rows, reader.integers)
    elif kind == INT8S:
        widen_int8_t(<const int8_t *> values + at, rows, reader.integers)
    elif kind == UINT8S:
        widen_uint8_t(<const uint8_t *> values + at, rows, reader.integers)
    elif kind == UINT16S:
        widen_uint16_t(<const uint16_t *> values + at, rows, reader.integers)
    elif kind == UINT32S:
        widen_uint32_t(<const uint32_t *> values + at, rows, reader.integers)
    elif kind == UINT64S:
        widen_int64_t(<const int64_t *> values + at, rows, reader.integers)
        if beyond_int64(reader.integers, valid_rows(reader, start, rows), rows):
            return DECLINED
    else:
        mask_of_bits(bits, <const uint8_t *> values, at, rows)
        widen_uint8_t(bits, rows, reader.integers)
    reader.number_block = start
    return 0


# ---- dictionaries ------------------------------------------------------------------------------------------------

ctypedef fused Index:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t
    uint64_t


cdef inline int indices_check(const Index *indices, int rows, uint64_t count, const uint8_t *valid) noexcept nogil:
    if Index is int8_t:
        return indices_int8_t(indices, rows, count, valid)
    elif Index is int16_t:
        return indices_int16_t(indices, rows, count, valid)
    elif Index is int32_t:
        return indices_int32_t(indices, rows, count, valid)
    elif Index is int64_t:
        return indices_int64_t(indices, rows, count, valid)
    elif Index is uint8_t:
        return indices_uint8_t(indices, rows, count, valid)
    elif Index is uint16_t:
        return indices_uint16_t(indices, rows, count, valid)
    elif Index is uint32_t:
        return indices_uint32_t(indices, rows, count, valid)
    else:
        return indices_uint64_t(indices, rows, count, valid)


cdef inline void words_find(
    const Index *indices, int rows, const uint8_t *words, int64_t only, const uint8_t *valid, uint8_t *mask
) noexcept nogil:
    if Index is int8_t:
        words_int8_t(indices, rows, words, only, valid, mask)
    elif Index is int16_t:
        words_int16_t(indices, rows, words, only, valid, mask)
    elif Index is int32_t:
        words_int32_t(indices, rows, words, only, valid, mask)
    elif Index is int64_t:
        words_int64_t(indices, rows, words, only, valid, mask)
    elif Index is uint8_t:
        words_uint8_t(indices, rows, words, only, valid, mask)
    elif Index is uint16_t:
        words_uint16_t(indices, rows, words, only, valid, mask)
    elif Index is uint32_t:
        words_uint32_t(indices, rows, words, only, valid, mask)
    else:
        words_uint64_t(indices, rows, words, only, valid, mask)


cdef int words_through(
    Reader *reader, const Index *indices, const uint8_t *words, int64_t only, int64_t start, int rows, uint8_t *mask
) noexcept nogil:
    cdef const uint8_t *valid = valid_rows(reader, start, rows)
    if reader.text_block != start:
        fetch_ahead(indices + rows, rows * sizeof(Index))
        reader.inside = indices_check(indices, rows, <uint64_t> reader.column.inner.rows, valid)
        reader.text_block = start
    if reader.inside == OUTSIDE:
        return DECLINED
    words_find(indices, rows, words, only, NULL if reader.inside == INSIDE else valid, mask)
    return 0


cdef int words_mask(
    Reader *reader, const uint8_t *words, int64_t only, int64_t start, int rows, uint8_t *mask
) noexcept nogil:
    """Find the rows of a block whose word of the dictionary has a 1 in *words*; *only* one, or -1, if several have.

    Returns: 0, or DECLINED.
    """
    cdef int64_t at = reader.column.offset + start
    cdef const void *indices = reader.column.values
    cdef int kind = reader.column.index
    if kind == INT32S:
        return words_through(reader, <const int32_t *> indices + at, words, only, start, rows, mask)
    if kind == INT8S:
        return words_through(reader, <const int8_t *> indices + at, words, only, start, rows, mask)
    if kind == INT16S:
        return words_through(reader, <const int16_t *> indices + at, words, only, start, rows, mask)
    if kind == INT64S:
        return words_through(reader, <const int64_t *> indices + at, words, only, start, rows, mask)
    if kind == UINT8S:
        return words_through(reader, <const uint8_t *> indices + at, words, only, start, rows, mask)
    if kind == UINT16S:
        return words_through(reader, <const uint16_t *> indices + at, words, only, start, rows, mask)
    if kind == UINT32S:
        return words_through(reader, <const uint32_t *> indices + at, words, only, start, rows, mask)
    return words_through(reader, <const uint64_t *> indices + at, words, only, start, rows, mask)
