# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Formulas run: over a block of rows, in two values.

A block is a mask of the rows that still matter: AND hands on what is left of it, OR what is not yet true, so a block
that is decided is left. Formulas have no order of evaluation (ERR is a set of its own in them), so children run in the
order that decides most at the least cost, by what the blocks before have shown. Knows no dialect and no opcode, and
needs no lock of the interpreter.
"""

from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy, memset

from mqsel.columns._arithmetic cimport compute, promote, promoted
from mqsel.columns._arrow cimport INDICES, NULLS, Column
from mqsel.columns._columns cimport (
    BLOCK, DECLINED, Reader, doubles_mask, integers_mask, reader_room, reader_start, valid_rows, words_mask,
)
from mqsel.columns._kernel cimport AGAIN, ALL, LEAF, RELATION, TURN, Call, Level, Term, Trace, block_of, steps_of
from mqsel.columns._sets cimport Values
from mqsel.columns._texts cimport column_mask, text_at, texts_load
from mqsel.machine._values cimport BOOLEAN, BYTES, FLOAT32, FLOAT64, INT32, INT64, POISON, STRING
from mqsel.machine._vm cimport clock_nanoseconds

from mqsel.logic import formulas as _formulas

cdef extern from "_loops.h" nogil:
    int mask_settle(uint8_t *mask, const uint8_t *valid, uint8_t missing, const uint8_t *active, int rows)
    void mask_and(uint8_t *mask, const uint8_t *other, int rows)
    void mask_and_not(uint8_t *mask, const uint8_t *other, int rows)
    void mask_or(uint8_t *mask, const uint8_t *other, int rows)
    void mask_put(uint8_t *mask, const uint8_t *where, uint8_t value, int rows)
    void integers_compare(
        const int64_t *, const int64_t *, int rows, uint8_t less, uint8_t equal, uint8_t greater, uint8_t *mask
    )
    void doubles_compare(
        const double *, const double *, int rows, uint8_t less, uint8_t equal, uint8_t greater, uint8_t unordered,
        uint8_t *mask,
    )

# The outcomes of logic/normal.py in C.
cdef int IS_LESS = _formulas.Outcome.LESS
cdef int IS_EQUAL = _formulas.Outcome.EQUAL
cdef int IS_GREATER = _formulas.Outcome.GREATER
cdef int IS_UNORDERED = _formulas.Outcome.UNORDERED
cdef int SAME = _formulas.Outcome.SAME
cdef int DIFFERENT = _formulas.Outcome.DIFFERENT
cdef int MISSING = _formulas.Outcome.NULL
cdef int MISMATCH = _formulas.Outcome.MISMATCH
cdef int ERROR = _formulas.Outcome.ERROR


# ---- leaves ------------------------------------------------------------------------------------------------------

cdef int words_load(Call *call, int number) noexcept nogil:
    """Test each word of a dictionary once.

    Returns: 0, DECLINED, or AGAIN: some words are left.
    """
    cdef Term *term = &call.terms[number]
    cdef Trace *trace = &call.traces[number]
    cdef Column *inner = call.readers[term.slot].column.inner
    cdef Reader reader
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
    trace.only = only_one(trace.words, inner.rows)
    trace.is_ready = True
    return 0


cdef int64_t words_test(
    Reader *reader, Values *values, int64_t start, int rows, const uint8_t *everything, uint8_t *words
) noexcept nogil:
    """Test some words. Gives the place behind them, or DECLINED."""
    if column_mask(reader, values, False, start, rows, everything, words + start) < 0:
        return DECLINED
    mask_settle(words + start, valid_rows(reader, start, rows), values.null, everything, rows)
    return start + rows


cdef int64_t only_one(const uint8_t *words, int64_t count) noexcept nogil:
    """Give the place of the one byte that is 1, or -1."""
    cdef int64_t only = -1
    cdef int64_t place
    for place in range(count):
        if words[place]:
            if only >= 0:
                return -1
            only = place
    return only


cdef int run_leaf(Call *call, int number, int64_t start, int rows, const uint8_t *active, uint8_t *mask) noexcept nogil:
    cdef Term *term = &call.terms[number]
    cdef Reader *reader
    cdef Level *level
    cdef int status
    if term.slot >= 0:
        reader = &call.readers[term.slot]
        if reader.kind == INDICES:
            if not call.traces[number].is_ready:
                status = words_load(call, number)
                if status < 0:
                    return status
            if words_mask(reader, call.traces[number].words, call.traces[number].only, start, rows, mask) < 0:
                return DECLINED
        elif column_mask(reader, term.values, call.strict, start, rows, active, mask) < 0:
            return DECLINED
        if reader.kind == NULLS:
            memset(mask, term.values.null, rows)
            return mask_settle(mask, NULL, 0, active, rows)
        return mask_settle(mask, valid_rows(reader, start, rows), term.values.null, active, rows)
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
    if level.has_errors:
        mask_settle(mask, level.valid, term.values.null, call.everything, rows)
        mask_put(mask, level.errors, term.values.error, rows)
        return mask_settle(mask, NULL, 0, active, rows)
    return mask_settle(mask, level.valid, term.values.null, active, rows)


# ---- relations ---------------------------------------------------------------------------------------------------

cdef int run_relation(
    Call *call, int number, int64_t start, int rows, const uint8_t *active, uint8_t *mask
) noexcept nogil:
    cdef Term *term = &call.terms[number]
    cdef Level *left = call.pair
    cdef Level *right = call.pair + 1
    cdef int outcomes = term.outcomes
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
    mask_settle(mask, left.valid, outcomes & MISSING != 0, call.everything, rows)
    if right.valid != NULL:
        mask_settle(mask, right.valid, outcomes & MISSING != 0, call.everything, rows)
    if left.has_errors:
        mask_put(mask, left.errors, outcomes & ERROR != 0, rows)
    if right.has_errors:
        mask_put(mask, right.errors, outcomes & ERROR != 0, rows)
    return mask_settle(mask, NULL, 0, active, rows)


cdef int texts_compare(
    Reader *left, Reader *right, bint same, bint different, int64_t start, int rows, uint8_t *mask
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
        equal = left.sizes[row] == right.sizes[row]
        if equal:
            text_at(left, start + row, &data, &size)
            text_at(right, start + row, &other, &other_size)
            equal = size == other_size and memcmp(data, other, size) == 0
        mask[row] = same if equal else different
    return 0


# ---- formulas ----------------------------------------------------------------------------------------------------

cdef int run_term(
    Call *call, int number, int64_t start, int rows, const uint8_t *active, int alive, uint8_t *mask, uint8_t *room
) noexcept nogil:
    """Find the rows of *active* for which a term is true.

    Args:
        alive: how many rows are active.
        room: masks for what is below.

    Returns: how many rows it found, or DECLINED, or AGAIN.
    """
    cdef Term *term = &call.terms[number]
    cdef Trace *trace = &call.traces[number]
    cdef int found
    if term.kind == LEAF:
        found = run_leaf(call, number, start, rows, active, mask)
    elif term.kind == RELATION:
        found = run_relation(call, number, start, rows, active, mask)
    elif term.kind == ALL:
        found = run_all(call, term, start, rows, active, alive, mask, room)
    else:
        found = run_one_of(call, term, start, rows, active, alive, mask, room)
    if found >= 0:
        trace.seen += alive
        trace.passed += found
    return found


cdef int run_all(
    Call *call, Term *term, int64_t start, int rows, const uint8_t *active, int alive, uint8_t *mask, uint8_t *room
) noexcept nogil:
    cdef uint8_t *into
    cdef int place
    if term.count == 0:
        memcpy(mask, active, rows)
    for place in range(term.count):
        # The last writes to the mask itself, those before by turns to this and the other room.
        into = mask if place == term.count - 1 else room + (place & 1) * BLOCK
        alive = run_term(
            call, call.children[term.first + place], start, rows, active, alive, into, room + 2 * BLOCK
        )
        if alive <= 0:
            if alive == 0:
                memset(mask, 0, rows)
            return alive
        active = into
    return alive


cdef int run_one_of(
    Call *call, Term *term, int64_t start, int rows, const uint8_t *active, int alive, uint8_t *mask, uint8_t *room
) noexcept nogil:
    cdef uint8_t *left = room
    cdef uint8_t *into = room + BLOCK
    cdef int place, found
    cdef int total = 0
    if term.count == 0:
        memset(mask, 0, rows)
    for place in range(term.count):
        found = run_term(
            call, call.children[term.first + place], start, rows, active if place == 0 else left, alive - total,
            mask if place == 0 else into, room + 2 * BLOCK,
        )
        if found < 0:
            return found
        total += found
        if place > 0:
            mask_or(mask, into, rows)
        if total == alive:
            break
        if place == 0:
            memcpy(left, active, rows)
            mask_and_not(left, mask, rows)
        else:
            mask_and_not(left, into, rows)
    return total


cdef void sort_children(Call *call) noexcept nogil:
    """Order the children of each connective by how soon they decide it for their cost."""
    cdef int number, place, before, child
    cdef Term *term
    cdef Trace *trace
    cdef double decided, mine
    cdef double ranks[64]
    for number in range(call.count):
        term = &call.terms[number]
        if term.count < 2 or term.count > 64:
            continue
        for place in range(term.count):
            child = call.children[term.first + place]
            trace = &call.traces[child]
            decided = 0.5
            if trace.seen:
                decided = <double> trace.passed / <double> trace.seen
                if term.kind == ALL:
                    decided = 1 - decided
            mine = call.terms[child].cost / (decided + 0.001)
            before = place
            while before > 0 and ranks[before - 1] > mine:
                ranks[before] = ranks[before - 1]
                call.children[term.first + before] = call.children[term.first + before - 1]
                before -= 1
            ranks[before] = mine
            call.children[term.first + before] = child


cdef int run_block(
    Call *call, int number, int64_t start, int rows, const uint8_t *active, int alive, uint8_t *mask
) noexcept nogil:
    """Find the rows of a block for which a formula is true.

    Args:
        number: of the formula. The first reads what the machine would read, and so finds what is damaged.
        active, alive: the rows that matter, and how many they are.

    Returns: how many, or DECLINED: the machine has to look at this block, or AGAIN.
    """
    if number == 0:
        if call.blocks == call.next_sort:
            sort_children(call)
            call.next_sort *= 2
        call.blocks += 1
    call.strict = number == 0
    return run_term(call, call.roots[number], start, rows, active, alive, mask, call.masks)


cdef void nulls_among(Call *call, int64_t start, int rows, uint8_t *mask) noexcept nogil:
    """Take the rows in which no column has a NULL out of a mask."""
    cdef uint8_t complete[BLOCK]
    cdef const uint8_t *valid
    cdef Reader *reader
    cdef int slot
    memset(complete, 1, rows)
    for slot in range(call.slots):
        reader = &call.readers[slot]
        if reader.kind == NULLS:
            return
        if reader.kind == INDICES and (reader.column.inner.nulls or reader.column.inner.kind == NULLS):
            return
        valid = valid_rows(reader, start, rows)
        if valid != NULL:
            mask_and(complete, valid, rows)
    mask_and_not(mask, complete, rows)
