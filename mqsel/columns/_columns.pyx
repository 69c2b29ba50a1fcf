# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Columns in blocks: which rows have a value, numbers, words of dictionaries, texts; and which values are in a set.

Checks what it reads as `column_load` does. It raises no error: it declines a damaged block. The machine then reads that
row by row and only what it needs, and raises the exact error or finds that the damage does not matter. A text is UTF-8,
and not copied. Knows no formula.
"""

from libc.math cimport INFINITY
from libc.stdint cimport INT32_MAX, INT64_MAX, INT64_MIN, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from mqsel.columns._arrow cimport (
    BINARIES, BINARY_VIEWS, BOOLEANS, FIELDS, FLOAT32S, FLOAT64S, INDICES, INT8S, INT16S, INT32S, INT64S,
    LARGE_BINARIES, LARGE_TEXTS, NULLS, TEXT_VIEWS, TEXTS, UINT8S, UINT16S, UINT32S, UINT64S, Column,
)
from mqsel.columns._sets cimport (
    CONTAINS, PREFIX, SUFFIX, TOO_LONG, CodeTable, FloatSet, Interval, LikePattern, Needle, Stretch, TextSet, ValueSet,
    Vocabulary, pattern_matches, point_find,
)

cdef extern from "_loops.h" nogil:
    void fetch_ahead(const void *start, int64_t size)
    void bits_of_bits(uint64_t *words, const uint8_t *bits, int64_t at, int rows)
    int words_and(uint64_t *words, const uint64_t *other, int count)
    void mask_of_bits(uint8_t *mask, const uint8_t *bits, int64_t at, int rows)
    void within_int64_t(const int64_t *values, int rows, int64_t low, int64_t high, uint8_t *mask, int join)
    void within_float(const float *values, int rows, float low, float high, uint8_t *mask, int join)
    void within_double(const double *values, int rows, double low, double high, uint8_t *mask, int join)
    void nans_float(const float *values, int rows, uint8_t *mask, int join)
    void nans_double(const double *values, int rows, uint8_t *mask, int join)
    void widen_float(const float *values, int rows, double *wide)
    int beyond_int64(const int64_t *values, const uint8_t *valid, int rows)
    uint64_t word_at(const uint8_t *data)
    void mask_invert(uint8_t *mask, int rows)
    void mask_or(uint8_t *mask, const uint8_t *other, int rows)
    void mask_choose(uint8_t *mask, const uint8_t *where, uint8_t yes, uint8_t no, int rows)
    void keys_int32_t(const int32_t *offsets, const uint8_t *data, int rows, uint64_t *keys)
    void keys_int64_t(const int64_t *offsets, const uint8_t *data, int rows, uint64_t *keys)
    int views_load(const uint8_t *views, int rows, uint64_t *heads, uint64_t *rests, uint64_t *bits)
    void views_equal(
        const uint64_t *, const uint64_t *, int rows, const uint64_t *kept, const uint64_t *key, uint8_t *, int join
    )
    int views_look_once(
        const uint8_t *views, int rows, const uint64_t *kept, const uint64_t *key, uint64_t *bits, uint8_t *mask
    )
    int words_bits(
        const void *, int width, int rows, uint64_t count, int64_t only, uint64_t few, uint64_t *words, int ahead
    )
    int within_bits(const int64_t *values, int rows, int64_t low, int64_t high, uint64_t *words)
    int views_bits(
        const uint8_t *, int rows, const uint64_t *kept, const uint64_t *key, uint64_t *seen, uint64_t *words
    )
    void words_invert(uint64_t *words, int count)
    void codes_of_keys(
        const CodeTable *, const uint64_t *keys, const uint64_t *tails, const int32_t *sizes, int rows, uint8_t *codes
    )
    void codes_of_views(const CodeTable *, const uint64_t *heads, const uint64_t *rests, int rows, uint8_t *codes)
    void codes_bits(const uint8_t *codes, int rows, const uint64_t *few, uint64_t *words)
    int words_places(const uint64_t *words, int count, uint16_t *places)
    void texts_bits(
        const void *offsets, int width, const uint8_t *data, int rows, uint64_t kept, uint64_t key, int64_t size,
        uint64_t *words,
    )
    void views_least(const uint64_t *heads, int rows, uint32_t least, uint8_t *mask)
    void views_end(const uint8_t *views, int rows, uint64_t kept, uint64_t key, uint32_t least, uint8_t *mask)
    void views_within(const uint64_t *heads, int rows, const uint8_t *bits, int size, uint8_t *mask)
    void tails_int32_t(const int32_t *offsets, const uint8_t *data, int rows, uint64_t *tails)
    void tails_int64_t(const int64_t *offsets, const uint8_t *data, int rows, uint64_t *tails)
    int sizes_int32_t(const int32_t *offsets, int rows, int32_t *sizes)
    int sizes_int64_t(const int64_t *offsets, int rows, int32_t *sizes)
    void bits_of_mask(uint8_t *bits, const uint8_t *mask, int rows)
    void places_find(const uint8_t *data, int count, const uint8_t *text, const int64_t *at, uint8_t *mask)
    void places_within_int32_t(const int32_t *, int rows, const uint8_t *bits, int64_t, int64_t size, uint8_t *mask)
    void places_within_int64_t(const int64_t *, int rows, const uint8_t *bits, int64_t, int64_t size, uint8_t *mask)
    void keys_equal(
        const uint64_t *, const int32_t *, int rows, uint64_t kept, uint64_t key, int32_t size, uint8_t *mask, int join
    )
    void tails_equal(
        const uint64_t *, const uint64_t *, const int32_t *, int rows, uint64_t, uint64_t, int32_t, uint8_t *, int join
    )
    void keys_begin(
        const uint64_t *, const int32_t *, int rows, uint64_t kept, uint64_t key, int32_t least, uint8_t *, int join
    )
    int ascii_all(const uint8_t *data, int64_t size)
    const uint64_t HEADS[9]
    ctypedef struct IntegerLoops:
        int width
        void (*between)(
            const void *values, int rows, int64_t low, int64_t high, uint8_t *mask, int join
        ) noexcept nogil
        void (*widen)(const void *values, int rows, int64_t *wide) noexcept nogil
        int (*words)(
            const void *, int rows, const uint8_t *words, uint64_t count, int64_t only, uint64_t few, uint8_t *mask
        ) noexcept nogil
    const IntegerLoops INTEGER_LOOPS[8]
    enum:
        EVERY
        SHORT_VIEW

cdef enum:
    PIECE = 128              # rows of which memory is asked for together
    WINDOW = 32768           # bytes of content that are searched together
    WINDOW_BITS = 4112       # bytes of its bits, and of what may be read beyond

# What the values of each kind of column are aligned to.
cdef size_t[INDICES + 1] WIDTHS
for _kind in range(INDICES + 1):
    WIDTHS[_kind] = 1
for _kind, _width in {
    INT16S: 2, UINT16S: 2, INT32S: 4, UINT32S: 4, FLOAT32S: 4, INT64S: 8, UINT64S: 8, FLOAT64S: 8,
    TEXTS: 4, BINARIES: 4, LARGE_TEXTS: 8, LARGE_BINARIES: 8, TEXT_VIEWS: 4, BINARY_VIEWS: 4,
}.items():
    WIDTHS[<int> _kind] = _width


# A view of 16 bytes: length, and the text or its first four bytes, buffer and start.
cdef struct View:
    int32_t size
    int32_t head
    int32_t buffer
    int32_t start


cdef object reader_refusal(Column *column):
    """Return why the kernel does not read a column, or None."""
    cdef int around = 0
    while column.kind == FIELDS:
        column = column.inner
        around += 1
    if around >= NESTED:
        return f"it stands in {around} structs"
    if <size_t> column.values % WIDTHS[column.index if column.kind == INDICES else column.kind]:
        return "its values are not aligned"
    if column.kind == INDICES:
        return reader_refusal(column.inner)
    return None


cdef bint has_texts(int kind) noexcept nogil:
    return TEXTS <= kind <= BINARY_VIEWS


cdef inline bint is_view(int kind) noexcept nogil:
    return kind == TEXT_VIEWS or kind == BINARY_VIEWS


cdef size_t reader_room(Column *column) noexcept nogil:
    """Return how many bytes a reader needs for what it keeps of a block."""
    while column.kind == FIELDS:
        column = column.inner
    return BLOCK * ((8 + 8 + 8 if has_texts(column.kind) else 8) + 8)


cdef void reader_start(ColumnBlock *reader, Column *column, uint8_t *room) noexcept nogil:
    """Begin to read a column; *room* is of the size that `reader_room` tells, aligned for numbers."""
    memset(reader, 0, sizeof(ColumnBlock))
    reader.valid_block = reader.mask_block = reader.text_block = reader.tail_block = -1
    reader.number_block = reader.code_block = -1
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
        reader.codes = reader.valid + BLOCK
    else:
        reader.valid = <uint8_t *> (reader.keys + BLOCK)


cdef const uint64_t *valid_words(ColumnBlock *reader, int64_t start, int rows) noexcept nogil:
    """Return a bit for each row with a value; NULL if all have one."""
    cdef int number
    cdef uint64_t[WORDS] other
    cdef const uint8_t *words
    if reader.bitmap_count == 0:
        return NULL
    words = reader.bitmaps[0] + (reader.bitmap_starts[0] + start) // 8
    if reader.bitmap_count == 1 and (reader.bitmap_starts[0] | start | rows) & 63 == 0 and <size_t> words & 7 == 0:
        return <const uint64_t *> words
    if reader.valid_block != start:
        reader.valid_block = start
        bits_of_bits(reader.validity, reader.bitmaps[0], reader.bitmap_starts[0] + start, rows)
        for number in range(1, reader.bitmap_count):
            bits_of_bits(other, reader.bitmaps[number], reader.bitmap_starts[number] + start, rows)
            words_and(reader.validity, other, (rows + 63) >> 6)
    return reader.validity


cdef uint8_t *valid_rows(ColumnBlock *reader, int64_t start, int rows) noexcept nogil:
    """Return the mask of the rows with a value; NULL if all have one."""
    if reader.bitmap_count == 0:
        return NULL
    if reader.mask_block != start:
        reader.mask_block = start
        mask_of_bits(reader.valid, <const uint8_t *> valid_words(reader, start, rows), 0, rows)
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


cdef inline const uint8_t *integers_at(ColumnBlock *reader, const IntegerLoops *loops, int64_t start) noexcept nogil:
    return <const uint8_t *> reader.column.values + loops.width * (reader.column.offset + start)


cdef void narrow_mask(ColumnBlock *reader, ValueSet *values, int64_t start, int rows, uint8_t *mask) noexcept nogil:
    """Find the rows whose integer, of any width but uint64, is in a set of a few intervals."""
    cdef const IntegerLoops *loops = &INTEGER_LOOPS[reader.kind - INT8S]
    cdef const uint8_t *numbers = integers_at(reader, loops, start)
    cdef int number
    if values.integer_count == 0:
        memset(mask, 0, rows)
        return
    fetch_ahead(numbers + loops.width * rows, loops.width * rows)
    for number in range(values.integer_count):
        loops.between(numbers, rows, values.integers[number].low, values.integers[number].high, mask, number > 0)


cdef void integers_mask(const int64_t *numbers, ValueSet *values, int rows, uint8_t *mask) noexcept nogil:
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


cdef void doubles_mask(const double *numbers, ValueSet *values, bint single, int rows, uint8_t *mask) noexcept nogil:
    """Find the rows whose FLOAT64, or FLOAT32 where *single*, is in a set."""
    cdef FloatSet *floats = &values.floats32 if single else &values.floats64
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


cdef void singles_mask(const float *numbers, FloatSet *floats, int rows, uint8_t *mask) noexcept nogil:
    cdef int number
    for number in range(floats.count):
        within_float(
            numbers, rows, <float> floats.items[number].low, <float> floats.items[number].high, mask, number > 0
        )
    if floats.count == 0:
        memset(mask, 0, rows)
    if floats.nan:
        nans_float(numbers, rows, mask, 1)


cdef int numbers_load(ColumnBlock *reader, int64_t start, int rows) noexcept nogil:
    """Load the numbers of a block as int64 or double, booleans as 0 and 1.

    Returns: 0, or DECLINED.
    """
    cdef int64_t at = reader.column.offset + start
    cdef const void *values = reader.column.values
    cdef uint8_t bits[BLOCK]
    cdef int kind = reader.kind
    cdef const IntegerLoops *loops
    if reader.number_block == start:
        return 0
    if INT8S <= kind <= UINT64S:
        loops = &INTEGER_LOOPS[kind - INT8S]
        loops.widen(integers_at(reader, loops, start), rows, reader.integers)
        if kind == UINT64S and beyond_int64(reader.integers, valid_rows(reader, start, rows), rows):
            return DECLINED
    elif kind == FLOAT64S:
        memcpy(reader.doubles, <const double *> values + at, rows * sizeof(double))
    elif kind == FLOAT32S:
        widen_float(<const float *> values + at, rows, reader.doubles)
    else:
        mask_of_bits(bits, <const uint8_t *> values, at, rows)
        INTEGER_LOOPS[UINT8S - INT8S].widen(bits, rows, reader.integers)
    reader.number_block = start
    return 0


# ---- dictionaries ------------------------------------------------------------------------------------------------

cdef int words_mask(
    ColumnBlock *reader, const uint8_t *words, int64_t only, uint64_t few, int64_t start, int rows, uint8_t *mask
) noexcept nogil:
    """Find the rows of a block whose word of the dictionary has a 1 in *words*; *only*, *few*: see _loops.h.

    Returns: 0, or DECLINED.
    """
    cdef const IntegerLoops *loops = &INTEGER_LOOPS[reader.column.index - INT8S]
    cdef const uint8_t *indices = integers_at(reader, loops, start)
    cdef const uint8_t *valid
    cdef uint64_t count = <uint64_t> reader.column.inner.rows
    cdef int row
    fetch_ahead(indices + loops.width * rows, loops.width * rows)
    if loops.words(indices, rows, words, count, only, few, mask):
        return 0
    valid = valid_rows(reader, start, rows)  # where there is no value the index may be any
    loops.widen(indices, rows, reader.integers)
    for row in range(rows):
        if valid == NULL or valid[row]:
            if <uint64_t> reader.integers[row] >= count:
                return DECLINED
            mask[row] = only == EVERY or words[reader.integers[row]]
    return 0


cdef bint dictionary_bits(
    ColumnBlock *reader, int64_t only, uint64_t few, int64_t start, int rows, uint64_t *bits, int ahead
) noexcept nogil:
    """Find the rows as bits at once, where one loop can, and return whether it did."""
    cdef const IntegerLoops *loops = &INTEGER_LOOPS[reader.column.index - INT8S]
    cdef uint64_t count = <uint64_t> reader.column.inner.rows
    return words_bits(integers_at(reader, loops, start), loops.width, rows, count, only, few, bits, ahead)


# ---- texts -------------------------------------------------------------------------------------------------------

cdef bint is_utf8(const uint8_t *at, const uint8_t *stop) noexcept nogil:
    """Return whether bytes are UTF-8, by *Unicode, Table 3-7*: no surrogates, no overlong forms."""
    cdef uint8_t first, low, high
    cdef int more, place
    while at < stop:
        if stop - at >= 8 and word_at(at) & <uint64_t> 0x8080808080808080 == 0:
            at += 8
            continue
        first = at[0]
        at += 1
        if first < 0x80:
            continue
        low = 0x80
        high = 0xBF
        if 0xC2 <= first <= 0xDF:
            more = 1
        elif 0xE0 <= first <= 0xEF:
            more = 2
            if first == 0xE0:
                low = 0xA0
            elif first == 0xED:
                high = 0x9F
        elif 0xF0 <= first <= 0xF4:
            more = 3
            if first == 0xF0:
                low = 0x90
            elif first == 0xF4:
                high = 0x8F
        else:
            return False
        if stop - at < more or not low <= at[0] <= high:
            return False
        for place in range(1, more):
            if at[place] & 0xC0 != 0x80:
                return False
        at += more
    return True


cdef void text_at(ColumnBlock *reader, int64_t row, const uint8_t **data, int64_t *size) noexcept nogil:
    """Find a text or byte string of a block that `texts_load` has checked; rows without one may get any."""
    if column_text(reader.column, reader.column.offset + row, data, size) < 0:
        size[0] = 0
        data[0] = <const uint8_t *> HEADS


cdef int column_text(Column *column, int64_t at, const uint8_t **data, int64_t *size) noexcept nogil:
    cdef const int32_t *narrow
    cdef const int64_t *wide
    cdef View *view
    cdef int64_t length
    if column.kind == TEXTS or column.kind == BINARIES:
        narrow = <const int32_t *> column.values + at
        data[0] = column.content + narrow[0]
        size[0] = narrow[1] - narrow[0]
    elif column.kind == LARGE_TEXTS or column.kind == LARGE_BINARIES:
        wide = <const int64_t *> column.values + at
        data[0] = column.content + wide[0]
        size[0] = wide[1] - wide[0]
    else:
        view = <View *> column.values + at
        size[0] = view.size
        if view.size < 0:
            return DECLINED
        if view.size <= 12:
            data[0] = <const uint8_t *> &view.head
        else:
            if not 0 <= view.buffer < column.count or view.start < 0:
                return DECLINED
            memcpy(&length, <const uint8_t *> column.sizes + 8 * view.buffer, 8)
            if <int64_t> view.start + view.size > length:
                return DECLINED
            data[0] = <const uint8_t *> column.contents[view.buffer] + view.start
    return 0


cdef int texts_load(ColumnBlock *reader, int64_t start, int rows) noexcept nogil:
    """Check the texts of a block, and take their lengths and keys.

    Returns: 0, or DECLINED.
    """
    cdef Column *column = reader.column
    if reader.text_block == start:
        return 0
    if is_view(column.kind):
        if views_take(reader, NULL, start, rows, NULL) < 0:
            return DECLINED
    elif offsets_load(reader, NULL, start, rows, NULL) < 0:
        return DECLINED
    reader.text_block = start
    return 0


cdef int offsets_load(ColumnBlock *reader, Needle *needle, int64_t start, int rows, uint64_t *bits) noexcept nogil:
    """Check texts between offsets, and take their lengths and keys, or where there is a needle find where it is."""
    cdef Column *column = reader.column
    cdef const int32_t *narrow = <const int32_t *> column.values + column.offset + start
    cdef const int64_t *wide = <const int64_t *> column.values + column.offset + start
    cdef bint is_narrow = column.kind == TEXTS or column.kind == BINARIES
    cdef bint is_text = column.kind == TEXTS or column.kind == LARGE_TEXTS
    cdef int64_t begin = narrow[0] if is_narrow else wide[0]
    cdef int64_t end = narrow[rows] if is_narrow else wide[rows]
    cdef const uint8_t *content = column.content
    cdef const void *offsets
    cdef int64_t at
    cdef int row
    cdef int now
    cdef int quick = rows    # rows of which eight bytes can be read from the beginning on
    if begin < 0 or end > column.size or end - begin > INT32_MAX:
        return DECLINED
    if not (sizes_int32_t(narrow, rows, reader.sizes) if is_narrow else sizes_int64_t(wide, rows, reader.sizes)):
        return DECLINED
    if is_text and not ascii_all(content + begin, end - begin):
        if not is_utf8(content + begin, content + end):
            return DECLINED
        for row in range(rows):
            at = narrow[row] if is_narrow else wide[row]
            if at < end and content[at] & 0xC0 == 0x80:
                return DECLINED
    while quick > 0 and (narrow[quick - 1] if is_narrow else wide[quick - 1]) > column.size - 8:
        quick -= 1
    if needle != NULL:
        memset(bits, 0, ((rows + 63) >> 6) * 8)
    # A piece at a time: more would be asked for than the processor can wait for.
    row = 0
    while row < quick:
        now = PIECE if quick - row > PIECE else quick - row
        fetch_ahead(content + end + (end - begin) * row // rows, (end - begin) * PIECE // rows)
        if is_narrow:
            fetch_ahead(narrow + rows + row, PIECE * 4)
        else:
            fetch_ahead(wide + rows + row, PIECE * 8)
        if needle != NULL:
            offsets = <const void *> (narrow + row) if is_narrow else <const void *> (wide + row)
            texts_bits(
                offsets, 4 if is_narrow else 8, content, now, needle.kept, needle.key, needle.size, bits + (row >> 6)
            )
        elif is_narrow:
            keys_int32_t(narrow + row, content, now, reader.keys + row)
        else:
            keys_int64_t(wide + row, content, now, reader.keys + row)
        row += now
    for row in range(quick, rows):
        at = narrow[row] if is_narrow else wide[row]
        if needle == NULL:
            reader.keys[row] = key_of(content + at, reader.sizes[row])
        elif reader.sizes[row] == needle.size and memcmp(content + at, needle.data, needle.size) == 0:
            bits[row >> 6] |= <uint64_t> 1 << (row & 63)
    return 0


cdef inline uint64_t key_of(const uint8_t *data, int64_t size) noexcept nogil:
    cdef uint8_t whole[8]
    memset(whole, 0, 8)
    memcpy(whole, data, size if size < 8 else 8)
    return word_at(whole)


cdef int views_take(ColumnBlock *reader, Needle *needle, int64_t start, int rows, uint8_t *mask) noexcept nogil:
    """Check the views of a block, and take them apart, or where there is a needle only find those that are it.

    Returns: 0, UNDECIDED: they have to be taken apart, or DECLINED.
    """
    cdef const uint8_t *views = views_at(reader, start)
    cdef uint64_t bits = 0
    cdef int row = 0
    cdef int now
    reader.is_short = True
    # A piece at a time: more would be asked for than the processor can wait for.
    while row < rows:
        now = PIECE if rows - row > PIECE else rows - row
        fetch_ahead(views + 16 * row + 4096, 16 * now)
        if needle != NULL:
            reader.is_short &= views_look_once(
                views + 16 * row, now, needle.view_kept, needle.view, &bits, mask + row
            )
        else:
            reader.is_short &= views_load(views + 16 * row, now, reader.keys + row, reader.tails + row, &bits)
        row += now
    if reader.is_short and (reader.kind == BINARY_VIEWS or bits & <uint64_t> 0x8080808080808080 == 0):
        return 0
    if needle != NULL:
        return UNDECIDED
    return views_look(reader, start, rows)


cdef bint column_bits(ColumnBlock *reader, ValueSet *values, int64_t start, int rows, uint64_t *bits) noexcept nogil:
    """Find the rows as bits at once, where one loop can, and return whether it did.

    That is of integers of 64 bits in an interval, and of one short text in a column of which there is no other test.
    """
    cdef TextSet *texts = &values.strings if reader.kind <= TEXT_VIEWS else &values.bytes
    cdef Needle *needle = &texts.points[0]
    cdef Interval *interval = values.integers
    cdef const int64_t *numbers
    cdef uint64_t seen = 0
    if reader.kind == INT64S and values.integer_count == 1:
        numbers = <const int64_t *> reader.column.values + reader.column.offset + start
        return within_bits(numbers, rows, interval.low, interval.high, bits)
    if not has_texts(reader.kind) or reader.leaves != 1 or texts.count != 1 or texts.pattern_count != 0:
        return False
    if not is_view(reader.kind):
        if needle.size > 8 or offsets_load(reader, needle, start, rows, bits) < 0:
            return False
    elif needle.size > SHORT_VIEW or not views_bits(
        views_at(reader, start), rows, needle.view_kept, needle.view, &seen, bits
    ):
        return False
    elif reader.kind == TEXT_VIEWS and seen & <uint64_t> 0x8080808080808080:
        return False
    if texts.negated:
        words_invert(bits, (rows + 63) >> 6)
    return True


cdef int coded_bits(ColumnBlock *reader, const uint64_t *few, int64_t start, int rows, uint64_t *bits) noexcept nogil:
    """Find the rows whose text has a code with a bit in *few*. Returns 0, or DECLINED."""
    cdef Vocabulary *vocabulary = reader.vocabulary
    if reader.code_block != start:
        if texts_load(reader, start, rows) < 0:
            return DECLINED
        if is_view(reader.kind):
            codes_of_views(&vocabulary.views, reader.keys, reader.tails, rows, reader.codes)
        else:
            if vocabulary.has_tails:
                tails_load(reader, start, rows)
            codes_of_keys(
                &vocabulary.keys, reader.keys, reader.tails if vocabulary.has_tails else NULL, reader.sizes, rows,
                reader.codes,
            )
        reader.code_block = start
    codes_bits(reader.codes, rows, few, bits)
    return 0


cdef inline const uint8_t *views_at(ColumnBlock *reader, int64_t start) noexcept nogil:
    return <const uint8_t *> reader.column.values + 16 * (reader.column.offset + start)


cdef int views_look(ColumnBlock *reader, int64_t start, int rows) noexcept nogil:
    """Check one by one: views that point elsewhere, and texts beyond ASCII."""
    cdef Column *column = reader.column
    cdef const uint8_t *views = views_at(reader, start)
    cdef const uint8_t *data = NULL
    cdef const uint8_t *valid = valid_rows(reader, start, rows)
    cdef int64_t size = 0
    cdef uint64_t bits
    cdef int row
    for row in range(rows):
        if valid != NULL and not valid[row]:
            continue
        if column_text(column, column.offset + start + row, &data, &size) < 0:
            return DECLINED
        if size > SHORT_VIEW and memcmp(views + 16 * row + 4, data, 4) != 0:
            return DECLINED
        if column.kind == TEXT_VIEWS:
            bits = (reader.keys[row] >> 32 | reader.tails[row]) & <uint64_t> 0x8080808080808080
            if not (bits == 0 if size <= SHORT_VIEW else ascii_short(data, size)) and not is_utf8(data, data + size):
                return DECLINED
    return 0


cdef inline bint ascii_short(const uint8_t *data, int64_t size) noexcept nogil:
    cdef uint64_t bits = word_at(data + size - 8)
    while size >= 8:
        bits |= word_at(data)
        data += 8
        size -= 8
    return bits & <uint64_t> 0x8080808080808080 == 0


cdef void tails_load(ColumnBlock *reader, int64_t start, int rows) noexcept nogil:
    """Load the last eight bytes of each text of a block that was loaded. Views have none."""
    cdef Column *column = reader.column
    cdef const int32_t *narrow = <const int32_t *> column.values + column.offset + start
    cdef const int64_t *wide = <const int64_t *> column.values + column.offset + start
    cdef const uint8_t *data = NULL
    cdef int64_t size = 0
    cdef int row
    cdef int slow = rows     # rows of which eight bytes cannot be read before the end
    if reader.tail_block == start:
        return
    reader.tail_block = start
    if column.kind == TEXTS or column.kind == BINARIES:
        slow = 0
        while slow < rows and narrow[slow + 1] < 8:
            slow += 1
        tails_int32_t(narrow + slow, column.content, rows - slow, reader.tails + slow)
    else:
        slow = 0
        while slow < rows and wide[slow + 1] < 8:
            slow += 1
        tails_int64_t(wide + slow, column.content, rows - slow, reader.tails + slow)
    for row in range(slow):
        if reader.sizes[row] < 8:
            reader.tails[row] = reader.keys[row] << 8 * (8 - reader.sizes[row]) if reader.sizes[row] else 0
        else:
            text_at(reader, start + row, &data, &size)
            reader.tails[row] = word_at(data + size - 8)


cdef void places_load(const uint8_t *data, int64_t count, Needle *needle, uint8_t *bits) noexcept nogil:
    """Find places, of *count*, where four bytes of a needle stand, by vectors: a bit each, then zeros."""
    cdef int64_t at[4]
    cdef uint8_t places[BLOCK]
    cdef int64_t place = 0
    cdef int now
    at[0] = 0
    at[1] = min(1, needle.size - 1)
    at[2] = needle.size // 2
    at[3] = needle.size - 1
    while place < count:
        now = BLOCK if count - place > BLOCK else <int> (count - place)
        places_find(data + place, now, needle.data, at, places)
        bits_of_mask(bits + place // 8, places, now)
        place += now
    count = count if count > 0 else 0
    memset(bits + (count + 7) // 8, 0, 16)


cdef int contained(ColumnBlock *reader, LikePattern *pattern, int64_t start, int rows, uint8_t *mask) noexcept nogil:
    """Find the rows whose text contains a pattern's needle, by looks at windows of what lies between their offsets.

    A text asks for a place within itself. A longer needle is compared where one was found. Views are their own window.

    Returns: 0, or DECLINED.
    """
    cdef Column *column = reader.column
    cdef const int32_t *narrow = <const int32_t *> column.values + column.offset + start
    cdef const int64_t *wide = <const int64_t *> column.values + column.offset + start
    cdef bint is_narrow = column.kind == TEXTS or column.kind == BINARIES
    cdef Needle *needle = &pattern.needle
    cdef int64_t begin
    cdef uint8_t bits[WINDOW_BITS]
    cdef int first = 0
    cdef int stop, row
    if is_view(column.kind):
        places_load(views_at(reader, start), 16 * rows - needle.size + 1, needle, bits)
        views_within(reader.keys, rows, bits, <int> min(needle.size, SHORT_VIEW + 1), mask)
        first = rows
    while first < rows:
        begin = narrow[first] if is_narrow else wide[first]
        stop = rows
        while (narrow[stop] if is_narrow else wide[stop]) - begin > WINDOW:
            stop = first + (stop - first) // 2
        if stop == first:  # a text beyond any window
            if pattern_mask(reader, pattern, start, first, mask) < 0:
                return DECLINED
            first += 1
            continue
        places_load(
            column.content + begin, (narrow[stop] if is_narrow else wide[stop]) - begin - needle.size + 1, needle, bits
        )
        if is_narrow:
            places_within_int32_t(narrow + first, stop - first, bits, begin, needle.size, mask + first)
        else:
            places_within_int64_t(wide + first, stop - first, bits, begin, needle.size, mask + first)
        first = stop
    if needle.size > 4:
        for row in range(rows):
            if mask[row] and pattern_mask(reader, pattern, start, row, mask) < 0:
                return DECLINED
    return 0


cdef inline int pattern_mask(
    ColumnBlock *reader, LikePattern *pattern, int64_t start, int row, uint8_t *mask
) noexcept nogil:
    """Match one text of a block. Returns 0, or DECLINED."""
    cdef const uint8_t *data = NULL
    cdef int64_t size = 0
    cdef int truth
    text_at(reader, start + row, &data, &size)
    truth = pattern_matches(pattern, data, size)
    if truth == TOO_LONG:
        return DECLINED
    mask[row] = truth
    return 0


cdef bint many(const uint8_t *mask, int rows) noexcept nogil:
    """Return whether a quarter of the rows are in a mask."""
    cdef int row
    cdef int count = 0
    for row in range(rows):
        count += mask[row]
    return 4 * count >= rows


cdef void views_mask(
    ColumnBlock *reader, Needle *needle, bint whole, int64_t start, int rows, const uint8_t *wanted, uint8_t *mask,
    bint join,
) noexcept nogil:
    """Find the rows whose text is a needle, or begins with it. Beyond the views it is read where heads fit alone."""
    cdef const uint64_t *key = &needle.view[0] if whole else &needle.begin[0]
    cdef const uint64_t *kept = &needle.view_kept[0] if whole else &needle.begin_kept[0]
    cdef const uint8_t *data = NULL
    cdef int64_t size = 0
    cdef uint8_t also[BLOCK]
    cdef uint8_t *to = mask if whole or not join else also
    cdef int row
    if needle.size <= 4 or (needle.size <= SHORT_VIEW and (whole or reader.is_short)):
        views_equal(reader.keys, NULL if needle.size <= 4 else reader.tails, rows, kept, key, to, join and whole)
        if not whole:
            views_least(reader.keys, rows, <uint32_t> needle.size, to)
            if join:
                mask_or(mask, also, rows)
        return
    if not join:
        memset(mask, 0, rows)
    for row in range(rows):
        if reader.keys[row] & kept[0] == key[0] and wanted[row] and not mask[row]:
            text_at(reader, start + row, &data, &size)
            mask[row] = size >= needle.size and memcmp(data, needle.data, needle.size) == 0


cdef void points_mask(
    ColumnBlock *reader, Needle *needle, int64_t start, int rows, const uint8_t *wanted, uint8_t *mask, bint join
) noexcept nogil:
    """Find the rows whose text, between offsets, is a needle."""
    cdef const uint8_t *data = NULL
    cdef int64_t size = 0
    cdef int row
    if needle.size <= 8:
        keys_equal(reader.keys, reader.sizes, rows, needle.kept, needle.key, <int32_t> needle.size, mask, join)
        return
    if 8 < needle.size <= 16:
        tails_load(reader, start, rows)
        tails_equal(
            reader.keys, reader.tails, reader.sizes, rows, needle.key, needle.tail, <int32_t> needle.size, mask, join
        )
        return
    if not join:
        memset(mask, 0, rows)
    for row in range(rows):
        if reader.keys[row] == needle.key and reader.sizes[row] == needle.size and wanted[row]:
            text_at(reader, start + row, &data, &size)
            mask[row] |= memcmp(data, needle.data, size) == 0


cdef int texts_mask(
    ColumnBlock *reader, TextSet *texts, int64_t start, int rows, const uint8_t *wanted, uint8_t *mask
) noexcept nogil:
    """Find the rows whose text is in a set. What costs more than a comparison is done for *wanted* rows alone."""
    cdef Needle *needle
    cdef LikePattern *pattern
    cdef const uint8_t *data = NULL
    cdef int64_t size = 0
    cdef uint64_t key
    cdef uint8_t also[BLOCK]
    cdef int number, row
    cdef bint in_views = is_view(reader.kind)
    cdef int join = 0
    if in_views and reader.leaves == 1 and texts.count == 1 and texts.pattern_count == 0:
        needle = &texts.points[0]
        if needle.size <= SHORT_VIEW and views_take(reader, needle, start, rows, mask) == 0:
            if texts.negated:
                mask_invert(mask, rows)
            return 0
    if texts_load(reader, start, rows) < 0:
        return DECLINED
    if texts.table != NULL:
        for row in range(rows):
            mask[row] = 0
            if wanted[row]:
                text_at(reader, start + row, &data, &size)
                key = word_at(data) if in_views else reader.keys[row]
                mask[row] = point_find(texts, data, size, key & HEADS[size if size < 8 else 8]) >= 0
        join = 1
    else:
        for number in range(texts.count):
            if in_views:
                views_mask(reader, &texts.points[number], True, start, rows, wanted, mask, join)
            else:
                points_mask(reader, &texts.points[number], start, rows, wanted, mask, join)
            join = 1
    for number in range(texts.pattern_count):
        pattern = &texts.patterns[number]
        needle = &pattern.needle
        if pattern.shape == PREFIX and in_views:
            views_mask(reader, needle, False, start, rows, wanted, mask, join)
        elif pattern.shape == PREFIX and needle.size <= 8:
            keys_begin(reader.keys, reader.sizes, rows, needle.kept, needle.key, <int32_t> needle.size, mask, join)
        elif pattern.shape == SUFFIX and needle.size <= 8 and not in_views:
            tails_load(reader, start, rows)
            keys_begin(
                reader.tails, reader.sizes, rows, needle.tail_kept, needle.tail, <int32_t> needle.size, mask, join
            )
        else:
            if not join:
                memset(mask, 0, rows)
            if pattern.shape == SUFFIX and needle.size <= 8 and reader.is_short:
                views_end(
                    views_at(reader, start), rows, needle.tail_kept, needle.tail, <uint32_t> needle.size, also
                )
                mask_or(mask, also, rows)
            elif pattern.shape == CONTAINS and (reader.is_short or not in_views) and many(wanted, rows):
                if contained(reader, pattern, start, rows, also) < 0:
                    return DECLINED
                mask_or(mask, also, rows)
            else:
                for row in range(rows):
                    if wanted[row] and not mask[row] and pattern_mask(reader, pattern, start, row, mask) < 0:
                        return DECLINED
        join = 1
    if not join:
        memset(mask, 0, rows)
    if texts.negated:
        mask_invert(mask, rows)
    return 0


# ---- one leaf ----------------------------------------------------------------------------------------------------

cdef int lane_constant(int kind, ValueSet *values) noexcept nogil:
    """Return whether all the values that a kind of column can hold are in a set (1), none is (0), or some are (-1)."""
    cdef TextSet *texts
    cdef FloatSet *floats
    if has_texts(kind):
        texts = &values.strings if kind <= TEXT_VIEWS else &values.bytes
        return texts.negated if texts.count == 0 and texts.pattern_count == 0 else -1
    if kind == BOOLEANS:
        return values.booleans[0] if values.booleans[0] == values.booleans[1] else -1
    if kind == FLOAT64S or kind == FLOAT32S:
        floats = &values.floats64 if kind == FLOAT64S else &values.floats32
        if floats.count == 0 and not floats.nan:
            return 0
        if not floats.nan or floats.count != 1:
            return -1
        return 1 if floats.items[0].low == -INFINITY and floats.items[0].high == INFINITY else -1
    if kind == NULLS or values.integer_count == 0:
        return 0
    return 1 if values.integers[0].low == INT64_MIN and values.integers[0].high == INT64_MAX else -1


cdef int few_bits(
    ColumnBlock *reader, ValueSet *values, int64_t start, int rows, const uint64_t *left, uint64_t *bits
) noexcept nogil:
    """Find the rows of a block whose value is in a set, of some few, and read no others.

    Returns: 0, UNDECIDED: of such a column not, or DECLINED.
    """
    cdef Column *column = reader.column
    cdef const uint64_t *valid = valid_words(reader, start, rows)
    cdef uint64_t[WORDS] those
    cdef uint16_t[BLOCK + 1] places
    cdef int words = (rows + 63) >> 6
    cdef int64_t width = 16 if is_view(reader.kind) else <int64_t> WIDTHS[reader.kind]
    cdef int number, count, truth
    if not (has_texts(reader.kind) or INT8S <= reader.kind <= FLOAT64S) or reader.kind == UINT64S:
        return UNDECIDED
    for number in range(words):
        those[number] = left[number] & valid[number] if valid != NULL else left[number]
        bits[number] = left[number] ^ those[number] if values.null else 0
    count = words_places(those, words, places)
    for number in range(count):
        fetch_ahead(<const uint8_t *> column.values + width * (column.offset + start + places[number]), 1)
    for number in range(count):
        truth = value_in(column, values, column.offset + start + places[number])
        if truth < 0:
            return DECLINED
        bits[places[number] >> 6] |= <uint64_t> truth << (places[number] & 63)
    return 0


cdef inline int value_in(Column *column, ValueSet *values, int64_t at) noexcept nogil:
    """Return whether one value, which is there, is in a set; or DECLINED."""
    cdef int kind = column.kind
    cdef const void *numbers = column.values
    cdef const uint8_t *data = NULL
    cdef int64_t size = 0
    cdef int64_t number
    if kind == FLOAT64S:
        return double_in(&values.floats64, (<const double *> numbers)[at])
    if kind == FLOAT32S:
        return double_in(&values.floats32, (<const float *> numbers)[at])
    if has_texts(kind):
        if not offsets_fit(column, at) or column_text(column, at, &data, &size) < 0:
            return DECLINED
        if is_view(kind) and size > SHORT_VIEW and memcmp(<const uint8_t *> numbers + 16 * at + 4, data, 4) != 0:
            return DECLINED
        if kind > TEXT_VIEWS:
            return text_in(&values.bytes, data, size)
        return text_in(&values.strings, data, size) if is_utf8(data, data + size) else DECLINED
    INTEGER_LOOPS[kind - INT8S].widen(<const uint8_t *> numbers + INTEGER_LOOPS[kind - INT8S].width * at, 1, &number)
    return in_intervals(values.integers, values.integer_count, number)


cdef inline bint double_in(FloatSet *floats, double number) noexcept nogil:
    return floats.nan if number != number else in_stretches(floats.items, floats.count, number)


cdef bint offsets_fit(Column *column, int64_t at) noexcept nogil:
    """Return whether a text, if it is one between offsets, lies within the content."""
    cdef const int32_t *narrow = <const int32_t *> column.values + at
    cdef const int64_t *wide = <const int64_t *> column.values + at
    if column.kind == TEXTS or column.kind == BINARIES:
        return 0 <= narrow[0] <= narrow[1] <= column.size
    return is_view(column.kind) or 0 <= wide[0] <= wide[1] <= column.size


cdef int text_in(TextSet *texts, const uint8_t *data, int64_t size) noexcept nogil:
    """Return whether a text is in a set; or DECLINED: a search would take too long."""
    cdef int number
    cdef int truth = False
    if texts.table != NULL:
        truth = point_find(texts, data, size, key_of(data, size)) >= 0
    else:
        for number in range(texts.count):
            truth |= size == texts.points[number].size and memcmp(data, texts.points[number].data, size) == 0
    for number in range(texts.pattern_count):
        if not truth:
            truth = pattern_matches(&texts.patterns[number], data, size)
            if truth == TOO_LONG:
                return DECLINED
    return truth ^ texts.negated


cdef int column_mask(
    ColumnBlock *reader, ValueSet *values, bint strict, int64_t start, int rows, const uint8_t *wanted, uint8_t *mask
) noexcept nogil:
    """Find the rows of a block whose value is in a set; what rows without a value get means nothing.

    Args:
        strict: check texts even where it does not matter which they are.
        wanted: the rows whose answer matters.

    Returns: 0, or DECLINED.
    """
    cdef int kind = reader.kind
    cdef int64_t at = reader.column.offset + start
    cdef int constant = lane_constant(kind, values)
    if constant >= 0 and kind != UINT64S:
        memset(mask, constant, rows)
        return texts_load(reader, start, rows) if strict and has_texts(kind) else 0
    if has_texts(kind):
        return texts_mask(reader, &values.strings if kind <= TEXT_VIEWS else &values.bytes, start, rows, wanted, mask)
    elif kind == BOOLEANS:
        mask_of_bits(mask, <const uint8_t *> reader.column.values, at, rows)
        mask_choose(mask, mask, values.booleans[1], values.booleans[0], rows)
    elif kind == FLOAT64S:
        fetch_ahead(<const double *> reader.column.values + at + rows, 8 * rows)
        doubles_mask(<const double *> reader.column.values + at, values, False, rows, mask)
    elif kind == FLOAT32S:
        if values.floats32.count > FEW:
            numbers_load(reader, start, rows)
            doubles_mask(reader.doubles, values, True, rows, mask)
        else:
            singles_mask(<const float *> reader.column.values + at, &values.floats32, rows, mask)
    elif kind == UINT64S or values.integer_count > FEW:
        if numbers_load(reader, start, rows) < 0:
            return DECLINED
        integers_mask(reader.integers, values, rows, mask)
    else:
        narrow_mask(reader, values, start, rows, mask)
    return 0
