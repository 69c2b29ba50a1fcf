# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Formulas run over a block of rows, in two values: one or many, what they share computed once.

A term is computed when a formula first asks for it, and kept as a bit a row until the block is done; so AND and OR are
a few vector instructions. AND evaluates its next child for the rows still true, OR for those not yet true: when every
row is decided it ends, and the terms it did not need are not computed. Formulas have no order of evaluation (ERR is a
set of its own in them), so children run in the order that decides most at the least cost, by what the blocks before
have shown. Knows no selector, no dialect and no opcode, and needs no lock of the interpreter.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport log
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy, memset

from mqsel.columns._arrow cimport (
    BINARIES, BINARY_VIEWS, BOOLEANS, FLOAT32S, FLOAT64S, INDICES, INT8S, INT16S, INT32S, INT64S, NULLS, TEXT_VIEWS,
    TEXTS, UINT8S, UINT16S, UINT64S, Column,
)
from mqsel.columns._columns cimport (
    BLOCK, DECLINED, UNDECIDED, WORDS, ColumnBlock, coded_bits, column_bits, column_mask, dictionary_bits, doubles_mask,
    few_bits, has_texts, integers_mask, numbers_load, reader_room, reader_start, text_at, texts_load, valid_rows,
    valid_words, words_mask,
)
from mqsel.columns._kernel cimport (
    AGAIN, ALL, COMPUTE, COMPUTE_NARROW, COMPUTE_WITH, DIVIDE, LEAF, NEGATE, ONE_OF, PUSH_COLUMN, PUSH_NUMBER,
    REMAINDER, TURN, BatchRun, Instruction, Kernel, Level, Computation, FormulaTerm, Trace, block_of, call_end,
    steps_of,
)
from mqsel.columns._sets cimport ValueSet
from mqsel.machine._values cimport BOOLEAN, BYTES, FLOAT32, FLOAT64, INT32, INT64, NULL_VALUE, POISON, STRING
from mqsel.machine._vm cimport clock_nanoseconds

from mqsel.logic import formulas as _formulas

cdef extern from "_loops.h" nogil:
    void mask_settle(uint8_t *mask, const uint8_t *valid, uint8_t missing, int rows)
    void bits_settle(
        uint64_t *words, const uint8_t *mask, const uint64_t *valid, int missing, const uint64_t *active, int rows
    )
    void bits_finish(uint64_t *words, const uint64_t *valid, int missing, const uint64_t *active, int rows)
    void integers_compare(
        const int64_t *, const int64_t *, int rows, uint8_t less, uint8_t equal, uint8_t greater, uint8_t *mask
    )
    void doubles_compare(
        const double *, const double *, int rows, uint8_t less, uint8_t equal, uint8_t greater, uint8_t unordered,
        uint8_t *mask,
    )
    void mask_of_bits(uint8_t *mask, const uint8_t *bits, int64_t at, int rows)
    int words_and(uint64_t *words, const uint64_t *other, int count)
    int words_and_not(uint64_t *words, const uint64_t *other, int count)
    int words_or(uint64_t *words, const uint64_t *other, int count)
    void words_put(uint64_t *words, const uint64_t *where, int value, int count)
    int words_count(const uint64_t *words, int count)
    int lowest_bit(uint64_t word)
    void doubles_of(const int64_t *values, void *wide, int rows, int as_float)
    void integers_do(int op, const int64_t *left, const int64_t *right, int64_t *result, int rows, int narrow)
    void integers_with(int op, const int64_t *left, int64_t right, int64_t *result, int rows, int narrow)
    void integers_divide(const int64_t *, const int64_t *, int64_t *result, int rows, int narrow, uint8_t *error)
    void integers_remainder(const int64_t *, const int64_t *, int64_t *result, int rows, uint8_t *error)
    void doubles_do(int op, const double *left, const double *right, double *result, int rows, int single)
    void doubles_with(int op, const double *left, double right, double *result, int rows, int single)
    enum:
        EVERY
        FEW_WORDS
    void integers_negate(const int64_t *values, int64_t *result, int rows, int narrow)
    void doubles_negate(const double *values, double *result, int rows)

cdef double LEAST = 1e-5     # share of the rows that is none
cdef double EVEN = 1e-3      # what decides no row decides as good as nothing

cdef enum:
    DEAR = 8                 # the cost from which on a leaf looks at the rows alone that are left
    FEW_LEFT = 32            # a leaf looks at a row alone if less than one of so many is left
    LOOK = 16                # the cost of leaves between two looks at the clock
    LONGEST = 256            # blocks from one order of the children to the next
    FAR = 1 << 20            # rows from one look at what else happens to the next

# The outcomes of logic/normal.py in C.
cdef int IS_LESS = _formulas.Compared.LESS
cdef int IS_EQUAL = _formulas.Compared.EQUAL
cdef int IS_GREATER = _formulas.Compared.GREATER
cdef int IS_UNORDERED = _formulas.Compared.UNORDERED
cdef int SAME = _formulas.Compared.SAME
cdef int DIFFERENT = _formulas.Compared.DIFFERENT
cdef int MISSING = _formulas.Compared.NULL
cdef int MISMATCH = _formulas.Compared.MISMATCH
cdef int ERROR = _formulas.Compared.ERROR


# ---- arithmetic --------------------------------------------------------------------------------------------------
# By Java's binary numeric promotion (language §5). A NULL stays one, an operand of another type poisons the whole, an
# integer divided by zero is noted as an error; whoever asked decides what that means.

cdef inline Level *level_at(BatchRun *call, Level *first, int place) noexcept nogil:
    return first if place == 0 else &call.stack[place - 1]


cdef int compute(BatchRun *call, Computation *operand, Level *first, int64_t start, int rows) noexcept nogil:
    """Compute an operand into the level *first*, which is the bottom of its stack."""
    cdef int top = -1
    cdef int number, row
    cdef Instruction *step
    cdef Level *level
    for number in range(operand.count):
        step = &operand.code[number]
        if step.action == PUSH_COLUMN:
            top += 1
            if column_push(call, step.slot, level_at(call, first, top), start, rows) < 0:
                return DECLINED
        elif step.action == PUSH_NUMBER:
            top += 1
            level = level_at(call, first, top)
            level.valid = NULL
            level.has_errors = False
            level.tag = INT64 if step.integer else FLOAT64
            settle_numbers(level)
            for row in range(rows):
                if step.integer:
                    level.room[row] = step.i
                else:
                    (<double *> level.room)[row] = step.d
        elif step.action == COMPUTE:
            top -= 1
            combine(step.op, level_at(call, first, top), level_at(call, first, top + 1), rows)
        elif step.action == COMPUTE_WITH or step.action == COMPUTE_NARROW:
            combine_with(step, level_at(call, first, top), rows)
        else:
            level = level_at(call, first, top)
            if not INT32 <= level.tag <= FLOAT64:
                level.tag = POISON
            elif step.action == NEGATE:
                if level.tag <= INT64:
                    integers_negate(level.integers, level.room, rows, level.tag == INT32)
                else:
                    doubles_negate(level.doubles, <double *> level.room, rows)
                settle_numbers(level)
    return 0


cdef int column_tag(int kind) noexcept nogil:
    """Return what the values of a column are to an operator."""
    if kind == NULLS:
        return NULL_VALUE
    if kind == BOOLEANS:
        return BOOLEAN
    if TEXTS <= kind <= TEXT_VIEWS:
        return STRING
    if BINARIES <= kind <= BINARY_VIEWS:
        return BYTES
    if kind == FLOAT64S:
        return FLOAT64
    if kind == FLOAT32S:
        return FLOAT32
    return INT32 if kind == INT8S or kind == INT16S or kind == INT32S or kind == UINT8S or kind == UINT16S else INT64


cdef inline void settle_numbers(Level *level) noexcept nogil:
    """The numbers are those in the room now."""
    level.integers = level.room
    level.doubles = <double *> level.room


cdef int column_push(BatchRun *call, int slot, Level *level, int64_t start, int rows) noexcept nogil:
    cdef ColumnBlock *reader = &call.readers[slot]
    level.tag = column_tag(reader.kind)
    level.has_errors = False
    level.valid = valid_words(reader, start, rows)
    if level.tag == NULL_VALUE:
        memset(level.valid_room, 0, sizeof(level.valid_room))
        level.valid = level.valid_room
    elif reader.kind == INT64S or reader.kind == FLOAT64S:
        level.integers = <const int64_t *> reader.column.values + reader.column.offset + start
        level.doubles = <const double *> level.integers
    elif INT32 <= level.tag <= FLOAT64 or level.tag == BOOLEAN:
        if numbers_load(reader, start, rows) < 0:
            return DECLINED
        level.integers = reader.integers
        level.doubles = reader.doubles
    return 0


cdef int promoted(int left, int right) noexcept nogil:
    """Return the tag of Java's binary numeric promotion (language §5)."""
    if left == FLOAT64 or right == FLOAT64:
        return FLOAT64
    if left == FLOAT32 or right == FLOAT32:
        return FLOAT32
    return INT64 if left == INT64 or right == INT64 else INT32


cdef void promote(Level *level, int tag, int rows) noexcept nogil:
    """Turn integers into doubles, or floats, where that is what they are computed as."""
    if level.tag <= INT64 and tag > INT64:
        doubles_of(level.integers, level.room, rows, tag == FLOAT32)
        settle_numbers(level)


cdef void add_errors(Level *level, const uint8_t *errors, int rows) noexcept nogil:
    """Note the rows of a mask that have a value; all of them where there is none."""
    cdef uint64_t[WORDS] new
    cdef int words = (rows + 63) >> 6
    if errors == NULL:
        every_row(new, rows)
    else:
        bits_settle(new, errors, NULL, 0, NULL, rows)
    if level.valid != NULL:
        words_and(new, level.valid, words)
    add_bits(level, new, words)


cdef void add_bits(Level *level, const uint64_t *errors, int words) noexcept nogil:
    if level.has_errors:
        words_or(level.errors, errors, words)
    else:
        memcpy(level.errors, errors, words * 8)
    level.has_errors = True


cdef void combine(int op, Level *left, Level *right, int rows) noexcept nogil:
    """Compute into *left*."""
    cdef int tag
    cdef int words = (rows + 63) >> 6
    cdef uint8_t errors[BLOCK]
    if right.has_errors:
        add_bits(left, right.errors, words)
    if left.valid == NULL:
        if right.valid != NULL:
            memcpy(left.valid_room, right.valid, words * 8)
            left.valid = left.valid_room
    elif right.valid != NULL:
        if left.valid != left.valid_room:
            memcpy(left.valid_room, left.valid, words * 8)
            left.valid = left.valid_room
        words_and(left.valid_room, right.valid, words)
    if not (INT32 <= left.tag <= FLOAT64 and INT32 <= right.tag <= FLOAT64):
        left.tag = POISON
        return
    tag = promoted(left.tag, right.tag)
    promote(left, tag, rows)
    promote(right, tag, rows)
    left.tag = tag
    if tag > INT64:
        doubles_do(op, left.doubles, right.doubles, <double *> left.room, rows, tag == FLOAT32)
    elif op == DIVIDE or op == REMAINDER:
        if op == DIVIDE:
            integers_divide(left.integers, right.integers, left.room, rows, tag == INT32, errors)
        else:
            integers_remainder(left.integers, right.integers, left.room, rows, errors)
        add_errors(left, errors, rows)
    else:
        integers_do(op, left.integers, right.integers, left.room, rows, tag == INT32)
    settle_numbers(left)


cdef void combine_with(Instruction *step, Level *left, int rows) noexcept nogil:
    """Compute with a number."""
    cdef int tag, row
    cdef double number
    cdef bint narrow = step.action == COMPUTE_NARROW
    if not INT32 <= left.tag <= FLOAT64:
        if narrow:
            add_errors(left, NULL, rows)
        left.tag = POISON
        return
    tag = promoted(left.tag, INT64 if step.integer else FLOAT64)
    if narrow and step.integer and left.tag == INT32 and <int32_t> step.i == step.i:
        tag = INT32
    if narrow and (tag == FLOAT32 or step.op == DIVIDE or step.op == REMAINDER):
        tag = FLOAT64
    promote(left, tag, rows)
    left.tag = tag
    if tag > INT64:
        number = <double> step.i if step.integer else step.d
        if tag == FLOAT32:
            number = <double> (<float> step.i)  # an integer: a double would have made a double
        doubles_with(step.op, left.doubles, number, <double *> left.room, rows, tag == FLOAT32)
    elif step.op != DIVIDE and step.op != REMAINDER:
        integers_with(step.op, left.integers, step.i, left.room, rows, tag == INT32)
    elif step.i == 0:
        add_errors(left, NULL, rows)
    elif step.i == -1 and step.op == DIVIDE:
        integers_negate(left.integers, left.room, rows, tag == INT32)
    elif step.i == -1:
        memset(left.room, 0, rows * sizeof(int64_t))
    elif step.op == DIVIDE:
        for row in range(rows):
            left.room[row] = left.integers[row] // step.i
    else:
        for row in range(rows):
            left.room[row] = left.integers[row] % step.i
    settle_numbers(left)


# ---- leaves ------------------------------------------------------------------------------------------------------

cdef int words_load(BatchRun *call, int number) noexcept nogil:
    """Test each word of a dictionary once.

    Returns: 0, DECLINED, or AGAIN: some words are left.
    """
    cdef FormulaTerm *term = &call.terms[number]
    cdef Trace *trace = &call.traces[number]
    cdef Column *inner = call.readers[term.slot].column.inner
    cdef ColumnBlock reader
    cdef uint8_t *room
    cdef int block = block_of(steps_of(term, inner))
    cdef int rows
    if trace.tested < 0:
        return DECLINED
    room = <uint8_t *> malloc(reader_room(inner))
    if trace.words == NULL:
        trace.words = <uint8_t *> malloc(inner.rows + 1)
    if trace.words == NULL or room == NULL:
        trace.tested = -1  # the machine needs no memory
    else:
        reader_start(&reader, inner, room)
        if inner.kind == NULLS:
            memset(trace.words, term.values.null, inner.rows)
            trace.tested = inner.rows
        while 0 <= trace.tested < inner.rows:
            rows = <int> min(block, inner.rows - trace.tested)
            trace.tested = words_test(&reader, term.values, trace.tested, rows, call.everything, trace.words)
            if clock_nanoseconds() - call.turned > TURN:
                break
    free(room)
    if trace.tested < 0:
        return DECLINED
    if trace.tested < inner.rows:
        return AGAIN
    words_settle(trace, inner.rows)
    trace.is_ready = True
    return 0


cdef void words_settle(Trace *trace, int64_t count) noexcept nogil:
    """Find the one word that has a 1, or all; and the bits of a few."""
    cdef int64_t place
    cdef int64_t ones = 0
    trace.few = 0
    for place in range(count):
        if trace.words[place]:
            ones += 1
            trace.only = place
            if place < FEW_WORDS:
                trace.few |= <uint64_t> 1 << place
    if ones != 1:
        trace.only = EVERY if ones == count else -1


cdef int64_t words_test(
    ColumnBlock *reader, ValueSet *values, int64_t start, int rows, const uint8_t *everything, uint8_t *words
) noexcept nogil:
    """Test some words. Returns the place behind them, or DECLINED."""
    if column_mask(reader, values, True, start, rows, everything, words + start) < 0:
        return DECLINED
    mask_settle(words + start, valid_rows(reader, start, rows), values.null, rows)
    return start + rows


cdef int run_leaf(
    BatchRun *call, int number, int64_t start, int rows, const uint64_t *active, uint64_t *bits
) noexcept nogil:
    cdef FormulaTerm *term = &call.terms[number]
    cdef uint8_t *mask = call.mask
    cdef const uint8_t *wanted = call.everything
    cdef ColumnBlock *reader
    cdef Trace *trace
    cdef Level *level
    cdef int status
    if active != NULL:
        mask_of_bits(call.active, <const uint8_t *> active, 0, rows)
        wanted = call.active
    if term.slot >= 0:
        reader = &call.readers[term.slot]
        if reader.kind == INDICES:
            if not call.traces[number].is_ready:
                status = words_load(call, number)
                if status < 0:
                    return status
            trace = &call.traces[number]
            if dictionary_bits(reader, trace.only, trace.few, start, rows, bits, rows):
                bits_finish(bits, valid_words(reader, start, rows), term.values.null, active, rows)
                return 0
            if words_mask(reader, trace.words, trace.only, trace.few, start, rows, mask) < 0:
                return DECLINED
        elif term.is_coded and TEXTS <= reader.kind <= TEXT_VIEWS:
            if coded_bits(reader, term.codes, start, rows, bits) < 0:
                return DECLINED
            bits_finish(bits, valid_words(reader, start, rows), term.values.null, active, rows)
            return 0
        elif column_bits(reader, term.values, start, rows, bits):
            bits_finish(bits, valid_words(reader, start, rows), term.values.null, active, rows)
            return 0
        elif column_mask(reader, term.values, call.strict, start, rows, wanted, mask) < 0:
            return DECLINED
        if reader.kind == NULLS:
            memset(mask, term.values.null, rows)
        bits_settle(bits, mask, valid_words(reader, start, rows), term.values.null, active, rows)
        return 0
    level = call.pair if term.memo < 0 else &call.memos[term.memo]
    if term.memo < 0 or level.block != start:
        level.block = -1
        if compute(call, &term.left, level, start, rows) < 0:
            return DECLINED
        level.block = start
    if level.tag == INT32 or level.tag == INT64:
        integers_mask(level.integers, term.values, rows, mask)
    elif level.tag == POISON:
        memset(mask, term.values.poison, rows)
    else:
        doubles_mask(level.doubles, term.values, level.tag == FLOAT32, rows, mask)
    bits_settle(bits, mask, level.valid, term.values.null, NULL, rows)
    if level.has_errors:
        words_put(bits, level.errors, term.values.error, (rows + 63) >> 6)
    if active != NULL:
        words_and(bits, active, (rows + 63) >> 6)
    return 0


# ---- relations ---------------------------------------------------------------------------------------------------

cdef int run_relation(
    BatchRun *call, int number, int64_t start, int rows, const uint64_t *active, uint64_t *bits
) noexcept nogil:
    cdef FormulaTerm *term = &call.terms[number]
    cdef uint8_t *mask = call.mask
    cdef Level *left = call.pair
    cdef Level *right = call.pair + 1
    cdef int outcomes = term.outcomes
    cdef int words = (rows + 63) >> 6
    cdef uint64_t[WORDS] both
    cdef int tag, row
    if compute(call, &term.left, left, start, rows) < 0 or compute(call, &term.right, right, start, rows) < 0:
        return DECLINED
    if INT32 <= left.tag <= FLOAT64 and INT32 <= right.tag <= FLOAT64:
        tag = promoted(left.tag, right.tag)
        promote(left, tag, rows)
        promote(right, tag, rows)
        if tag <= INT64:
            integers_compare(
                left.integers, right.integers, rows, outcomes & IS_LESS != 0, outcomes & IS_EQUAL != 0,
                outcomes & IS_GREATER != 0, mask,
            )
        else:
            doubles_compare(
                left.doubles, right.doubles, rows, outcomes & IS_LESS != 0, outcomes & IS_EQUAL != 0,
                outcomes & IS_GREATER != 0, outcomes & IS_UNORDERED != 0, mask,
            )
    elif left.tag == right.tag == BOOLEAN:
        for row in range(rows):
            mask[row] = outcomes & (SAME if left.integers[row] == right.integers[row] else DIFFERENT) != 0
    elif left.tag == right.tag and (left.tag == STRING or left.tag == BYTES):
        if texts_compare(
            &call.readers[term.left.code.slot], &call.readers[term.right.code.slot], outcomes & SAME != 0,
            outcomes & DIFFERENT != 0, start, rows, mask,
        ) < 0:
            return DECLINED
    else:
        memset(mask, outcomes & MISMATCH != 0, rows)
    if left.valid != NULL and right.valid != NULL:
        memcpy(both, left.valid, words * 8)
        words_and(both, right.valid, words)
        left.valid = both
    bits_settle(
        bits, mask, right.valid if left.valid == NULL else left.valid, outcomes & MISSING != 0, NULL, rows
    )
    if left.has_errors:
        words_put(bits, left.errors, outcomes & ERROR != 0, words)
    if right.has_errors:
        words_put(bits, right.errors, outcomes & ERROR != 0, words)
    if active != NULL:
        words_and(bits, active, words)
    return 0


cdef int texts_compare(
    ColumnBlock *left, ColumnBlock *right, bint same, bint different, int64_t start, int rows, uint8_t *mask
) noexcept nogil:
    cdef const uint8_t *data = NULL
    cdef const uint8_t *other = NULL
    cdef int64_t size = 0
    cdef int64_t other_size = 0
    cdef int row
    cdef bint equal
    if texts_load(left, start, rows) < 0 or texts_load(right, start, rows) < 0:
        return DECLINED
    for row in range(rows):
        text_at(left, start + row, &data, &size)
        text_at(right, start + row, &other, &other_size)
        equal = size == other_size and memcmp(data, other, size) == 0
        mask[row] = same if equal else different
    return 0


# ---- columns -----------------------------------------------------------------------------------------------------

cdef int words_check(BatchRun *call) noexcept nogil:
    """Look for damage in the words of dictionaries, which are few beside the rows.

    Returns: 0, or DECLINED.
    """
    cdef Column *inner
    cdef ColumnBlock reader
    cdef uint8_t *room
    cdef int64_t at
    cdef int slot, rows
    cdef int status = 0
    for slot in range(call.slots):
        if call.readers[slot].kind != INDICES:
            continue
        inner = call.readers[slot].column.inner
        if not has_texts(inner.kind) and inner.kind != UINT64S:
            continue
        room = <uint8_t *> malloc(reader_room(inner))
        if room == NULL:
            return DECLINED
        reader_start(&reader, inner, room)
        at = 0
        while at < inner.rows and status == 0:
            rows = <int> min(<int64_t> BLOCK, inner.rows - at)
            status = numbers_load(&reader, at, rows) if inner.kind == UINT64S else texts_load(&reader, at, rows)
            at += rows
        free(room)
        if status < 0:
            return DECLINED
    return 0


cdef int columns_check(BatchRun *call, int64_t start, int rows) noexcept nogil:
    """Look for damage in the rows of a block, whether or not a formula comes to it: a set reads what its selectors do.

    Returns: 0, or DECLINED.
    """
    cdef uint8_t mask[BLOCK]
    cdef ColumnBlock *reader
    cdef int slot
    for slot in range(call.slots):
        reader = &call.readers[slot]
        if has_texts(reader.kind):
            if texts_load(reader, start, rows) < 0:
                return DECLINED
        elif reader.kind == UINT64S:
            if numbers_load(reader, start, rows) < 0:
                return DECLINED
        elif reader.kind == INDICES and words_mask(reader, NULL, EVERY, 0, start, rows, mask) < 0:
            return DECLINED
    return 0


# ---- formulas ----------------------------------------------------------------------------------------------------

cdef int term_run(BatchRun *call, int number, int64_t start, int rows, const uint64_t *left) noexcept nogil:
    """Find the rows of a block for which a term is true, unless that was done.

    Args:
        left: a bit for each row that matters to whom asks; NULL for all. Whether the others are found means nothing.

    Returns: how many rows it found, DECLINED, or AGAIN.
    """
    cdef FormulaTerm *term = &call.terms[number]
    cdef Trace *trace = &call.traces[number]
    cdef int looked = rows
    cdef int found
    if trace.block == start:
        return trace.found
    if term.parents > 1:
        left = NULL
    if term.kind == ALL:
        found = all_run(call, number, start, rows, left)
    elif term.kind == ONE_OF:
        found = any_run(call, number, start, rows, left)
    else:
        found = one_run(call, number, start, rows, left, &looked)
    if found < 0:
        return found
    trace.block = start
    trace.found = found
    trace.seen += looked
    trace.passed += found
    return found


cdef int one_run(
    BatchRun *call, int number, int64_t start, int rows, const uint64_t *left, int *looked
) noexcept nogil:
    cdef FormulaTerm *term = &call.terms[number]
    cdef uint64_t *bits = term_bits(call, number)
    cdef const uint64_t *active = left if term.cost >= DEAR else NULL
    cdef int words = (rows + 63) >> 6
    cdef int status = UNDECIDED
    call.work += term.cost
    if call.work > LOOK:
        if clock_nanoseconds() - call.turned > TURN:
            return AGAIN
        call.work = 0
    if left != NULL and term.slot >= 0:
        looked[0] = words_count(left, words)
        if looked[0] * FEW_LEFT < rows:
            status = few_bits(&call.readers[term.slot], term.values, start, rows, left, bits)
    if status == UNDECIDED:
        looked[0] = rows
        if term.kind == LEAF:
            status = run_leaf(call, number, start, rows, active, bits)
        else:
            status = run_relation(call, number, start, rows, active, bits)
    return status if status < 0 else words_count(bits, words)


cdef int all_run(BatchRun *call, int number, int64_t start, int rows, const uint64_t *left) noexcept nogil:
    cdef FormulaTerm *term = &call.terms[number]
    cdef uint64_t *bits = term_bits(call, number)
    cdef int words = (rows + 63) >> 6
    cdef bint is_every = left == NULL
    cdef int place, child, found
    if not is_every:
        memcpy(bits, left, words * 8)
    for place in range(term.first, term.first + term.count):
        child = call.children[place]
        found = term_run(call, child, start, rows, NULL if is_every else bits)
        if found <= 0:
            return found
        if found == rows:
            continue
        if is_every:
            memcpy(bits, term_bits(call, child), words * 8)
            is_every = False
        elif not words_and(bits, term_bits(call, child), words):
            return 0
    if is_every:
        every_row(bits, rows)
        return rows
    return words_count(bits, words)


cdef int any_run(BatchRun *call, int number, int64_t start, int rows, const uint64_t *left) noexcept nogil:
    cdef FormulaTerm *term = &call.terms[number]
    cdef uint64_t *bits = term_bits(call, number)
    cdef uint64_t[WORDS] undecided
    cdef int words = (rows + 63) >> 6
    cdef bint is_none = True
    cdef int place, child, found
    if left == NULL:
        every_row(undecided, rows)
    else:
        memcpy(undecided, left, words * 8)
    for place in range(term.first, term.first + term.count):
        child = call.children[place]
        found = term_run(call, child, start, rows, left if is_none else undecided)
        if found < 0:
            return found
        if found == 0:
            continue
        if is_none:
            memcpy(bits, term_bits(call, child), words * 8)
            is_none = False
        else:
            words_or(bits, term_bits(call, child), words)
        if not words_and_not(undecided, bits, words):
            break
    return 0 if is_none else words_count(bits, words)


cdef inline uint64_t *term_bits(BatchRun *call, int number) noexcept nogil:
    return call.bits + <size_t> number * WORDS


cdef void every_row(uint64_t *bits, int rows) noexcept nogil:
    memset(bits, 0xFF, (rows >> 6) * 8)
    if rows & 63:
        bits[rows >> 6] = (<uint64_t> 1 << (rows & 63)) - 1


cdef void sort_children(BatchRun *call) noexcept nogil:
    """Order the children of each connective: first what leaves the fewest rows undecided for its cost.

    Most is saved where no row is left. The logarithms of the shares that are left add up to that. What was seen counts
    by half from then on: other data may follow.
    """
    cdef int number, place, before, child
    cdef FormulaTerm *term
    cdef Trace *trace
    cdef double kept, mine
    cdef double[64] ranks
    cdef int *children = call.children
    for number in range(call.count):
        term = &call.terms[number]
        if not 2 <= term.count <= 64:
            continue
        for place in range(term.count):
            child = children[term.first + place]
            trace = &call.traces[child]
            kept = 0.5
            if trace.seen:
                kept = <double> trace.passed / <double> trace.seen
                if term.kind == ONE_OF:
                    kept = 1 - kept
            mine = call.terms[child].cost / (EVEN - log(kept + LEAST))
            before = place
            while before > 0 and ranks[before - 1] > mine:
                ranks[before] = ranks[before - 1]
                children[term.first + before] = children[term.first + before - 1]
                before -= 1
            ranks[before] = mine
            children[term.first + before] = child
    for number in range(call.count):
        call.traces[number].seen //= 2
        call.traces[number].passed //= 2


cdef void block_begin(BatchRun *call) noexcept nogil:
    if call.blocks == call.next_sort:
        sort_children(call)
        call.next_sort += min(call.next_sort, LONGEST)
    call.blocks += 1


cdef int run_truths(BatchRun *call, int64_t start, int rows, int by_null, uint8_t **bits) noexcept nogil:
    """Run formulas of which at most one is true of a row over a block, each for the rows that those before leave.

    Args:
        by_null: number of the formula that is true of rows with a NULL alone, or -1.
        bits: a bitmap for each formula, to be filled.

    Returns: 0, DECLINED: the machine has to look at this block, or AGAIN.
    """
    cdef uint64_t[WORDS] left
    cdef uint64_t[WORDS] mine
    cdef uint64_t *those
    cdef int words = (rows + 63) >> 6
    cdef bint is_any = True
    cdef int number, found
    block_begin(call)
    if call.root_count > 1:
        every_row(left, rows)
    for number in range(call.root_count):
        if number > 0:
            memcpy(mine, left, words * 8)
        if number == by_null:
            is_any = nulls_among(call, start, rows, mine)
        # The first reads what the machine would read, and so finds what is damaged.
        call.strict = number == 0
        found = term_run(call, call.roots[number], start, rows, NULL if number == 0 else mine) if is_any else 0
        if found < 0:
            return found
        if found > 0:
            those = term_bits(call, call.roots[number])
            if number > 0:
                words_and(mine, those, words)
                those = mine
            memcpy(bits[number] + start // 8, those, (rows + 7) >> 3)
            if call.root_count > 1:
                is_any = words_and_not(left, those, words)
        else:
            memset(bits[number] + start // 8, 0, (rows + 7) >> 3)
            is_any = True
    return 0


cdef int64_t run_alone(BatchRun *call, int64_t start, int64_t stop, uint64_t *bits) noexcept nogil:
    """Run a formula that is one test of the words of a dictionary over many rows at once, for which it was begun.

    Columns that are read by turns are asked for ahead, this one comes by itself: 0.093 -> 0.06 ns a row.

    Returns: the row before which all have their bits.
    """
    cdef Trace *trace = &call.traces[0]
    cdef ColumnBlock *reader
    cdef int rows = <int> min(stop - start, <int64_t> FAR) & ~63
    if call.by_blocks or call.count != 1 or call.root_count != 1 or not trace.is_ready or rows == 0:
        return start
    reader = &call.readers[call.terms[0].slot]
    if not dictionary_bits(reader, trace.only, trace.few, start, rows, bits + start // 64, 0):
        call.by_blocks = True  # or all of them were read in vain for each
        return start
    stop = start + rows
    while start < stop:
        rows = <int> min(<int64_t> BLOCK, stop - start)
        bits_finish(bits + start // 64, valid_words(reader, start, rows), call.terms[0].values.null, NULL, rows)
        start += rows
    return stop


cdef bint nulls_among(BatchRun *call, int64_t start, int rows, uint64_t *bits) noexcept nogil:
    """Clear the rows in which no column has a NULL from *bits*. Returns whether a row may be left."""
    cdef uint64_t[WORDS] complete
    cdef const uint64_t *valid
    cdef ColumnBlock *reader
    cdef int slot
    every_row(complete, rows)
    for slot in range(call.slots):
        reader = &call.readers[slot]
        if reader.kind == NULLS:
            return True
        if reader.kind == INDICES and (reader.column.inner.nulls or reader.column.inner.kind == NULLS):
            return True
        valid = valid_words(reader, start, rows)
        if valid != NULL:
            words_and(complete, valid, (rows + 63) >> 6)
    return words_and_not(bits, complete, (rows + 63) >> 6)


cdef int run_formulas(BatchRun *call, int64_t start, int rows) noexcept nogil:
    """Run all formulas over a block, in which every row is looked at for damage, or go on with it.

    Returns: 0, or DECLINED: the index has to look at this block, or AGAIN.
    """
    cdef int status
    if call.next_root == 0:
        block_begin(call)
        call.strict = False
        if columns_check(call, start, rows) < 0:
            return DECLINED
    while call.next_root < call.root_count:
        status = term_run(call, call.roots[call.next_root], start, rows, NULL)
        if status < 0:
            if status == DECLINED:
                call.next_root = 0
            return status
        call.next_root += 1
    call.next_root = 0
    return 0


# ---- what was found ----------------------------------------------------------------------------------------------

cdef int64_t run_count(BatchRun *call, int rows, int32_t *counts) noexcept nogil:
    """Count for each row of the block the formulas true of it; *counts* begin with zeros. Returns their sum."""
    cdef int64_t total = 0
    cdef uint64_t *bits
    cdef uint64_t word
    cdef int number, place
    for number in range(call.root_count):
        if call.traces[call.roots[number]].found == 0:
            continue
        total += call.traces[call.roots[number]].found
        bits = term_bits(call, call.roots[number])
        for place in range((rows + 63) >> 6):
            word = bits[place]
            while word:
                counts[64 * place + lowest_bit(word)] += 1
                word &= word - 1
    return total


cdef void run_places(BatchRun *call, int rows, int32_t *ends, uint32_t *places) noexcept nogil:
    """Write the numbers of the formulas true of each row.

    Args:
        ends: where the row begins; afterwards where it ends.
    """
    cdef uint64_t *bits
    cdef uint64_t word
    cdef int number, place, row
    for number in range(call.root_count):
        if call.traces[call.roots[number]].found == 0:
            continue
        bits = term_bits(call, call.roots[number])
        for place in range((rows + 63) >> 6):
            word = bits[place]
            while word:
                row = 64 * place + lowest_bit(word)
                places[ends[row]] = <uint32_t> number
                ends[row] += 1
                word &= word - 1


cdef list kernel_totals(Kernel kernel, Column **columns, int64_t rows, int64_t *totals):
    """Add for each formula the number of rows of which it is true.

    Returns: pieces (start, stop) of the rows, which are not counted: the index has to look at them.
    """
    cdef BatchRun *call = kernel.start(columns, rows)
    cdef int64_t start = 0
    cdef int count, number, status
    cdef list left = []
    call.turned = clock_nanoseconds()
    try:
        with nogil:
            status = words_check(call)
        if status == DECLINED:
            return [(0, rows)]
        while start < rows:
            count = <int> min(<int64_t> call.rows, rows - start)
            with nogil:
                status = run_formulas(call, start, count)
                if status == 0:
                    for number in range(call.root_count):
                        totals[number] += call.traces[call.roots[number]].found
            if status == DECLINED:
                left.append((start, start + count))
            if status != AGAIN:
                start += count
            if clock_nanoseconds() - call.turned > TURN:
                PyErr_CheckSignals()
                call.turned = clock_nanoseconds()
    finally:
        call_end(call)
    return left
