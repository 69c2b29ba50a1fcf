# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Arithmetic over blocks of numbers, by Java's binary numeric promotion (language §5).

A NULL stays one, an operand of another type poisons the whole, an integer divided by zero is noted as an error; whoever
asked decides what that means. Knows no formula and no dialect.
"""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset

from mqsel.columns._arrow cimport (
    BINARIES, BINARY_VIEWS, BOOLEANS, FLOAT32S, FLOAT64S, INT8S, INT16S, INT32S, INT64S, NULLS, TEXT_VIEWS, TEXTS,
    UINT8S, UINT16S,
)
from mqsel.columns._columns cimport BLOCK, DECLINED, Reader, numbers_load, valid_rows
from mqsel.columns._kernel cimport (
    COMPUTE, COMPUTE_WITH, DIVIDE, NEGATE, PUSH_COLUMN, PUSH_NUMBER, REMAINDER, Call, Instruction, Level, Operand,
)
from mqsel.machine._values cimport BOOLEAN, BYTES, FLOAT32, FLOAT64, INT32, INT64, NULL_VALUE, POISON, STRING

cdef extern from "_loops.h" nogil:
    void mask_and(uint8_t *mask, const uint8_t *other, int rows)
    void mask_or(uint8_t *mask, const uint8_t *other, int rows)
    void doubles_of(const int64_t *values, void *wide, int rows, int as_float)
    void integers_do(int op, const int64_t *left, const int64_t *right, int64_t *result, int rows, int narrow)
    void integers_with(int op, const int64_t *left, int64_t right, int64_t *result, int rows, int narrow)
    void integers_divide(const int64_t *, const int64_t *, int64_t *result, int rows, int narrow, uint8_t *error)
    void integers_remainder(const int64_t *, const int64_t *, int64_t *result, int rows, uint8_t *error)
    void doubles_do(int op, const double *left, const double *right, double *result, int rows, int single)
    void doubles_with(int op, const double *left, double right, double *result, int rows, int single)
    void integers_negate(const int64_t *values, int64_t *result, int rows, int narrow)
    void doubles_negate(const double *values, double *result, int rows)


cdef inline Level *level_at(Call *call, Level *first, int place) noexcept nogil:
    return first if place == 0 else &call.stack[place - 1]


cdef int compute(Call *call, Operand *operand, Level *first, int64_t start, int rows) noexcept nogil:
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
        elif step.action == COMPUTE_WITH:
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
    """Tell what the values of a column are to an operator."""
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


cdef int column_push(Call *call, int slot, Level *level, int64_t start, int rows) noexcept nogil:
    cdef Reader *reader = &call.readers[slot]
    level.tag = column_tag(reader.kind)
    level.has_errors = False
    level.valid = valid_rows(reader, start, rows)
    if level.tag == NULL_VALUE:
        memset(level.valid_room, 0, rows)
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
    """Give the tag of Java's binary numeric promotion (language §5)."""
    if left == FLOAT64 or right == FLOAT64:
        return FLOAT64
    if left == FLOAT32 or right == FLOAT32:
        return FLOAT32
    return INT64 if left == INT64 or right == INT64 else INT32


cdef void promote(Level *level, int tag, int rows) noexcept nogil:
    """Make integers doubles, or floats, where that is what they are computed as."""
    if level.tag <= INT64 and tag > INT64:
        doubles_of(level.integers, level.room, rows, tag == FLOAT32)
        settle_numbers(level)


cdef void add_errors(Level *level, const uint8_t *errors, int rows) noexcept nogil:
    if level.has_errors:
        mask_or(level.errors, errors, rows)
    else:
        memcpy(level.errors, errors, rows)
    level.has_errors = True


cdef void combine(int op, Level *left, Level *right, int rows) noexcept nogil:
    """Compute into *left*."""
    cdef int tag
    cdef uint8_t errors[BLOCK]
    if right.has_errors:
        add_errors(left, right.errors, rows)
    if left.valid == NULL:
        if right.valid != NULL:
            memcpy(left.valid_room, right.valid, rows)
            left.valid = left.valid_room
    elif right.valid != NULL:
        if left.valid != left.valid_room:
            memcpy(left.valid_room, left.valid, rows)
            left.valid = left.valid_room
        mask_and(left.valid_room, right.valid, rows)
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
        if left.valid != NULL:
            mask_and(errors, left.valid, rows)
        add_errors(left, errors, rows)
    else:
        integers_do(op, left.integers, right.integers, left.room, rows, tag == INT32)
    settle_numbers(left)


cdef void combine_with(Instruction *step, Level *left, int rows) noexcept nogil:
    """Compute with a number."""
    cdef int tag, row
    cdef double number
    cdef uint8_t errors[BLOCK]
    if not INT32 <= left.tag <= FLOAT64:
        left.tag = POISON
        return
    tag = promoted(left.tag, INT64 if step.integer else FLOAT64)
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
        memset(errors, 1, rows)
        if left.valid != NULL:
            mask_and(errors, left.valid, rows)
        add_errors(left, errors, rows)
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
