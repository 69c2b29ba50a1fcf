# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""The kernel: a formula of the normal form over columns, a block of rows at a time, in two values.

A block is a mask of the rows that still matter: AND hands on what is left of it, OR what is not yet true, so a block
that is decided is left. Formulas have no order of evaluation (ERR is a set of its own in them), so children run in the
order that decides most at the least cost, by what the blocks before have shown. Knows no dialect and no opcode, and
needs no lock of the interpreter.
"""

from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy, memset

from mqsel.machine._arrow cimport (
    BINARIES, BINARY_VIEWS, BOOLEANS, FIELDS, FLOAT32S, FLOAT64S, INDICES, INT8S, INT16S, INT32S, INT64S, NULLS,
    TEXT_VIEWS, TEXTS, UINT8S, UINT16S,
)
from mqsel.machine._columns cimport (
    BLOCK, DECLINED, column_mask, doubles_mask, integers_mask, numbers_load, reader_refusal, reader_room, reader_start,
    text_at, texts_load, valid_rows, words_mask,
)
from mqsel.machine._sets cimport Values, values_read
from mqsel.machine._values cimport BOOLEAN, BYTES, FLOAT32, FLOAT64, INT32, INT64, NULL_VALUE, POISON, STRING
from mqsel.machine._vm cimport clock_nanoseconds

from mqsel.language import formulas as _formulas
from mqsel.language.nodes import Arithmetic, Identifier, Literal, Sign

cdef extern from "_loops.h" nogil:
    int mask_settle(uint8_t *mask, const uint8_t *valid, uint8_t missing, const uint8_t *active, int rows)
    void mask_and(uint8_t *mask, const uint8_t *other, int rows)
    void mask_and_not(uint8_t *mask, const uint8_t *other, int rows)
    void mask_or(uint8_t *mask, const uint8_t *other, int rows)
    void mask_put(uint8_t *mask, const uint8_t *where, uint8_t value, int rows)
    void doubles_of(const int64_t *values, void *wide, int rows, int as_float)
    void integers_do(int op, const int64_t *left, const int64_t *right, int64_t *result, int rows, int narrow)
    void integers_with(int op, const int64_t *left, int64_t right, int64_t *result, int rows, int narrow)
    void integers_divide(const int64_t *, const int64_t *, int64_t *result, int rows, int narrow, uint8_t *error)
    void doubles_do(int op, const double *left, const double *right, double *result, int rows, int single)
    void doubles_with(int op, const double *left, double right, double *result, int rows, int single)
    void integers_negate(const int64_t *values, int64_t *result, int rows, int narrow)
    void doubles_negate(const double *values, double *result, int rows)
    void integers_compare(
        const int64_t *, const int64_t *, int rows, uint8_t less, uint8_t equal, uint8_t greater, uint8_t *mask
    )
    void doubles_compare(
        const double *, const double *, int rows, uint8_t less, uint8_t equal, uint8_t greater, uint8_t unordered,
        uint8_t *mask,
    )

cdef enum:
    # As in _loops.h.
    ADD = 0
    SUBTRACT = 1
    MULTIPLY = 2
    DIVIDE = 3
    MAX_DEPTH = 600          # of a formula; that of a selector is at most about its nesting
    MAX_LEVELS = 64          # of an arithmetic expression
    MAX_MEMOS = 16           # 32 KB each
    MAX_TERMS = 100_000
    LARGEST_BLOCK = 1 << 20  # bytes of texts in a block, about
    SAMPLE = 64              # views that are looked at
    LEAST_BLOCK = 8          # rows: a byte of the answer
    # What a block may take, so that signals are looked at in time: bytes that patterns look at (measured: up to 40 ns
    # each), and comparisons.
    MOST_STEPS = 1 << 18
    MOST_COST = 1 << 24

cdef dict _OPS = {"+": ADD, "-": SUBTRACT, "*": MULTIPLY, "/": DIVIDE}

# The outcomes of language/normal.py in C.
cdef int IS_LESS = _formulas.Outcome.LESS
cdef int IS_EQUAL = _formulas.Outcome.EQUAL
cdef int IS_GREATER = _formulas.Outcome.GREATER
cdef int IS_UNORDERED = _formulas.Outcome.UNORDERED
cdef int SAME = _formulas.Outcome.SAME
cdef int DIFFERENT = _formulas.Outcome.DIFFERENT
cdef int MISSING = _formulas.Outcome.NULL
cdef int MISMATCH = _formulas.Outcome.MISMATCH
cdef int ERROR = _formulas.Outcome.ERROR


class TooLargeError(Exception):
    """A formula that the kernel does not take; says why."""


# ---- a formula in C ----------------------------------------------------------------------------------------------

cdef class Kernel:
    """Formulas over the slots of a program. Immutable.

    Args:
        formulas: three at most, such as those of TRUE and of UNKNOWN.
        slots: names of the properties, in the order of the columns.

    Raises: TooLargeError.
    """

    def __cinit__(self, tuple formulas, tuple slots):
        self.arena = Arena()
        self.slots = slots
        self.build(formulas)

    cdef int build(self, tuple formulas) except -1:
        """Lay the formulas out, children before parents."""
        cdef Term *term
        cdef int number, place
        numbers = {name: slot for slot, name in enumerate(self.slots)}
        terms = []       # (formula, numbers of its children)
        waiting = [(formula, None) for formula in reversed(formulas)]
        done = []        # numbers and depths of formulas that are complete
        while waiting:
            one, below = waiting.pop()
            parts = one.parts if isinstance(one, (_formulas.All, _formulas.Any)) else ()
            if below is None and parts:
                waiting.append((one, len(parts)))
                waiting.extend([(part, None) for part in reversed(parts)])
                if len(waiting) > 4 * MAX_TERMS:
                    raise TooLargeError(f"its normal form has more than {MAX_TERMS} parts")
                continue
            first = len(done) - len(parts)
            depth = 1 + max([depth for _, depth in done[first:]], default=0)
            terms.append((one, [number for number, _ in done[first:]]))
            del done[first:]
            done.append((len(terms) - 1, depth))
            if len(terms) > MAX_TERMS:
                raise TooLargeError(f"its normal form has more than {MAX_TERMS} parts")
        self.depth = max([depth for _, depth in done])
        self.root_count = len(done)
        for place in range(self.root_count):
            self.roots[place] = done[place][0]
        if self.depth > MAX_DEPTH:
            raise TooLargeError(f"its normal form is nested more than {MAX_DEPTH} deep")
        self.count = len(terms)
        self.terms = <Term *> self.arena.take(self.count, sizeof(Term))
        self.child_count = sum([len(below) for _, below in terms])
        self.children = <int *> self.arena.take(self.child_count, sizeof(int))
        self.levels = 1
        memos = {}       # id of a subject -> its number; leaves of one normal form share the object
        place = 0
        for number in range(self.count):
            one, below = terms[number]
            term = &self.terms[number]
            term.first = place
            term.count = len(below)
            term.slot = -1
            for child in below:
                self.children[place] = child
                term.cost += self.terms[self.children[place]].cost
                place += 1
            if isinstance(one, (_formulas.All, _formulas.Any)):
                term.kind = ALL if isinstance(one, _formulas.All) else ONE_OF
            elif isinstance(one, _formulas.Leaf):
                self.build_leaf(one, numbers, memos, term)
            else:
                term.kind = RELATION
                term.outcomes = int(one.outcomes)
                self.build_operand(one.left, numbers, &term.left)
                self.build_operand(one.right, numbers, &term.right)
                term.cost = 4 + term.left.count + term.right.count
                self.levels = max(self.levels, term.left.depth, term.right.depth)
        if self.levels > MAX_LEVELS:
            raise TooLargeError(f"an arithmetic expression is nested more than {MAX_LEVELS} deep")
        return 0

    cdef int build_leaf(self, leaf, dict numbers, dict memos, Term *term) except -1:
        term.kind = LEAF
        term.values = <Values *> self.arena.take(1, sizeof(Values))
        values_read(self.arena, leaf.values, term.values)
        if isinstance(leaf.subject, Identifier):
            term.slot = numbers[leaf.subject.name]
            strings = leaf.values.strings
            long = sum([len(point) > 8 for point in strings.points])
            term.cost = 1 + len(strings.points) / 4 + long + 8 * len(strings.patterns)
        else:
            self.build_operand(leaf.subject, numbers, &term.left)
            term.cost = 1 + term.left.count
            self.levels = max(self.levels, term.left.depth)
            number = memos.setdefault(id(leaf.subject), len(memos))
            term.memo = number if number < MAX_MEMOS else -1
            self.memos = min(len(memos), MAX_MEMOS)
        return 0

    cdef int build_operand(self, node, dict numbers, Operand *operand) except -1:
        """Write the steps that compute *node*."""
        cdef Instruction *step
        cdef int depth = 0
        steps = []
        waiting = [node]
        while waiting:
            one = waiting.pop()
            if isinstance(one, Arithmetic):
                later = []
                for sign, right in zip(one.operators, one.operands[1:], strict=True):
                    if isinstance(right, Literal):
                        later.append((COMPUTE_WITH, _OPS[sign], right.value))
                    else:
                        later += [right, (COMPUTE, _OPS[sign], 0)]
                waiting += [*reversed(later), one.operands[0]]
            elif isinstance(one, Sign):
                waiting += [(NEGATE if one.operator == "-" else KEEP, 0, 0), one.operand]
            elif isinstance(one, Identifier):
                steps.append((PUSH_COLUMN, numbers[one.name], 0))
            elif isinstance(one, Literal):
                steps.append((PUSH_NUMBER, 0, one.value))
            else:
                steps.append(one)
        operand.count = len(steps)
        operand.code = <Instruction *> self.arena.take(operand.count, sizeof(Instruction))
        for place, (action, number, value) in enumerate(steps):
            step = &operand.code[<int> place]
            step.action = action
            step.op = step.slot = number
            step.integer = isinstance(value, int)
            if step.integer:
                step.i = value
            step.d = value
            depth += (action in (PUSH_COLUMN, PUSH_NUMBER)) - (action == COMPUTE)
            operand.depth = max(operand.depth, depth)
        return 0

    cdef object refuses(self, Column **columns, int64_t rows):
        """Say why the kernel does not read these columns, or give None."""
        cdef int slot, number, step
        cdef Column *column
        cdef Term *term
        for slot in range(len(self.slots)):
            reason = reader_refusal(columns[slot])
            if reason is not None:
                return f"{self.slots[slot]}: {reason}"
            column = inner_of(columns[slot])
            if column.kind == INDICES and column.inner.rows > 4 * rows + BLOCK:
                return f"{self.slots[slot]}: its dictionary is larger than the batch"
        for number in range(self.count):
            term = &self.terms[number]
            for step in range(term.left.count + term.right.count):
                slot = refers_to(term, step)
                if slot >= 0 and inner_of(columns[slot]).kind == INDICES:
                    return f"{self.slots[slot]}: a dictionary that is reckoned with or compared with a property"
        return None

    cdef Call *start(self, Column **columns, int64_t rows) except NULL:
        """Begin with a batch; `call_end` ends it."""
        cdef int slots = len(self.slots)
        cdef int slot, number
        cdef int levels = self.memos + 2 + self.levels
        cdef int64_t size
        cdef Column *column
        cdef uint8_t *room
        cdef size_t total = aligned(sizeof(Call))
        cdef int block = BLOCK
        cdef double steps = 0
        cdef double cost = 0
        cdef Term *term
        cdef Call *call
        for number in range(self.count):
            term = &self.terms[number]
            if term.kind == LEAF and term.slot >= 0:
                steps += steps_of(term, inner_of(columns[term.slot]))
        for number in range(self.root_count):
            cost += self.terms[self.roots[number]].cost
        block = block_of(steps)
        while block > LEAST_BLOCK and cost * block > MOST_COST:
            block //= 2
        for slot in range(slots):
            total += reader_room(columns[slot])
            column = inner_of(columns[slot])
            if column.size > 0 and column.rows > 0:
                size = column.size // column.rows
                while block > 16 and size * block > LARGEST_BLOCK:
                    block //= 2
        total += aligned(self.child_count * sizeof(int)) + aligned(self.count * sizeof(Trace))
        total += aligned(slots * sizeof(Reader)) + aligned(levels * sizeof(Level))
        total += levels * BLOCK * 16 + (2 * self.depth + 3) * BLOCK
        room = <uint8_t *> malloc(total)
        if room == NULL:
            raise MemoryError
        call = <Call *> room
        memset(call, 0, sizeof(Call))
        call.terms = self.terms
        call.columns = columns
        call.count = self.count
        call.roots = self.roots
        call.slots = slots
        call.rows = block
        call.look = 8 if block == BLOCK and cost < 64 else 1
        call.next_sort = 1
        room += aligned(sizeof(Call))
        call.children = <int *> room
        memcpy(call.children, self.children, self.child_count * sizeof(int))
        room += aligned(self.child_count * sizeof(int))
        call.traces = <Trace *> room
        memset(call.traces, 0, self.count * sizeof(Trace))
        room += aligned(self.count * sizeof(Trace))
        call.readers = <Reader *> room
        room += aligned(slots * sizeof(Reader))
        call.memos = <Level *> room
        call.pair = call.memos + self.memos
        call.stack = call.pair + 2
        room += aligned(levels * sizeof(Level))
        for slot in range(slots):
            reader_start(&call.readers[slot], columns[slot], room)
            room += reader_room(columns[slot])
        for number in range(levels):
            call.memos[number].block = -1
            call.memos[number].room = <int64_t *> room
            call.memos[number].valid_room = room + 8 * BLOCK
            call.memos[number].errors = room + 9 * BLOCK
            room += 16 * BLOCK
        call.everything = room
        memset(room, 1, BLOCK)
        call.masks = room + BLOCK
        return call


cdef inline size_t aligned(size_t size) noexcept:
    return (size + 63) & ~<size_t> 63


cdef double steps_of(Term *term, Column *column) noexcept nogil:
    """Tell how many bytes the patterns of a leaf look at in a text of mean length."""
    if not TEXTS <= column.kind <= TEXT_VIEWS or term.values.strings.pattern_count == 0:
        return 0
    return term.values.strings.pattern_count * (1 + mean_size(column))


cdef double mean_size(Column *column) noexcept nogil:
    """Give the mean length of texts; of some of them, where lengths are no differences."""
    cdef const uint8_t *values = <const uint8_t *> column.values
    cdef int64_t first
    cdef int64_t row = 0
    cdef int32_t size
    cdef int64_t step = 1 + column.rows // SAMPLE
    cdef double total = 0
    if column.rows == 0:
        return 0
    if column.kind == TEXT_VIEWS:
        while row < column.rows:
            memcpy(&size, values + 16 * (column.offset + row), 4)
            total += size if size > 0 else 0
            row += step
        return total * step / column.rows
    if column.kind == TEXTS:
        memcpy(&size, values + 4 * column.offset, 4)
        first = size
    else:
        memcpy(&first, values + 8 * column.offset, 8)
    return <double> (column.size - first) / column.rows


cdef int block_of(double steps) noexcept nogil:
    """Choose the rows of a block by what patterns look at in each."""
    cdef int rows = BLOCK
    while rows > LEAST_BLOCK and steps * rows > MOST_STEPS:
        rows //= 2
    return rows


cdef Column *inner_of(Column *column) noexcept:
    while column.kind == FIELDS:
        column = column.inner
    return column


cdef int refers_to(Term *term, int step) noexcept:
    """Give the slot that a step of one of the operands reads, or -1."""
    cdef Instruction *code
    code = &term.left.code[step] if step < term.left.count else &term.right.code[step - term.left.count]
    return code.slot if code.action == PUSH_COLUMN else -1


cdef void call_end(Call *call) noexcept:
    cdef int number
    for number in range(call.count):
        free(call.traces[number].words)
    free(call)


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
        trace.tested = -1  # the row machine needs no memory
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


# ---- arithmetic --------------------------------------------------------------------------------------------------

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


cdef inline int promoted(int left, int right) noexcept nogil:
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
    elif op == DIVIDE:
        integers_divide(left.integers, right.integers, left.room, rows, tag == INT32, errors)
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
    elif step.op != DIVIDE:
        integers_with(step.op, left.integers, step.i, left.room, rows, tag == INT32)
    elif step.i == 0:
        memset(errors, 1, rows)
        if left.valid != NULL:
            mask_and(errors, left.valid, rows)
        add_errors(left, errors, rows)
    elif step.i == -1:
        integers_negate(left.integers, left.room, rows, tag == INT32)
    else:
        for row in range(rows):
            left.room[row] = left.integers[row] // step.i
    settle_numbers(left)


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
        number: of the formula. The first reads what the row machine would read, and so finds what is damaged.
        active, alive: the rows that matter, and how many they are.

    Returns: how many, or DECLINED: the row machine has to look at this block, or AGAIN.
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
