# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""The kernel: formulas of the normal form laid out in C, and a batch begun with them.

Knows no dialect and no opcode. What runs it is `_formulas`.
"""

from libc.math cimport signbit
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from mqsel.columns._arrow cimport FIELDS, FLOAT32S, FLOAT64S, INDICES, TEXT_VIEWS, TEXTS, Column
from mqsel.columns._columns cimport BLOCK, WORDS, ColumnBlock, reader_refusal, reader_room, reader_start
from mqsel.columns._sets cimport LINEAR_POINTS, MOST_CODES, TextSet, ValueSet, Vocabulary, values_read, vocabulary_read

from mqsel.logic import formulas as _formulas
from mqsel.language.nodes import Arithmetic, Computed, Identifier, Literal, Sign, unparse
from mqsel.names import parted

cdef enum:
    MAX_DEPTH = 600          # of a formula; that of a selector is at most about its nesting
    MAX_LEVELS = 64          # of an arithmetic expression
    MAX_MEMOS = 16           # 32 KB each
    MAX_TERMS = 100_000
    LARGEST_BLOCK = 1 << 20  # bytes of texts in a block, about
    SAMPLE = 64              # views that are looked at
    LEAST_BLOCK = 8          # rows: a byte of the answer
    # Bytes that the patterns of a leaf look at in a block, up to 40 ns each (measured): signals wait until a leaf ends.
    MOST_STEPS = 1 << 18
    # From so many texts on, in all leaves of a column, each row's text is looked up once and not compared with each.
    LEAST_POINTS = 12

cdef extern from "_loops.h":
    const size_t MOST_ROOM
    enum:
        SHORT_VIEW

cdef dict _OPS = {"+": ADD, "-": SUBTRACT, "*": MULTIPLY, "/": DIVIDE, "%": REMAINDER}


class TooLargeError(Exception):
    """A formula that the kernel does not take; says why."""


# ---- a formula in C ----------------------------------------------------------------------------------------------

cdef class Kernel:
    """Formulas over the slots of a program, or over the properties of a set, with one term for equal parts.

    Immutable but for what batches show: which order of the children decides most, so that small ones gain by it.

    Args:
        formulas: such as those of TRUE and of UNKNOWN, or those of many selectors.
        slots: names of the properties, in the order of the columns.
        has_order: whether some dialect takes neither NaN nor -0.0: the kernel then refuses columns that have one.

    Raises: TooLargeError.
    """

    def __cinit__(self, tuple formulas, tuple slots, bint has_order=False):
        self.arena = Arena()
        self.slots = slots
        self.has_order = has_order
        self.next_sort = 1
        self.build(formulas)

    cdef int build(self, tuple formulas) except -1:
        """Lay the formulas out, children before parents."""
        cdef FormulaTerm *term
        cdef int number, place
        numbers = {name: slot for slot, name in enumerate(self.slots)}
        terms = []       # (formula, numbers of its children)
        known = {}       # what a term is -> its number and depth
        visited = 0
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
            children = [number for number, _ in done[first:]]
            del done[first:]
            visited += 1
            if visited > MAX_TERMS:
                raise TooLargeError(f"its normal form has more than {MAX_TERMS} parts")
            key = term_key(one, children, numbers)
            if key not in known:
                known[key] = len(terms), depth
                terms.append((one, children))
            done.append(known[key])
        deepest = max([depth for _, depth in done], default=0)
        self.root_count = len(done)
        self.roots = <int *> self.arena.take(self.root_count, sizeof(int))
        for place in range(self.root_count):
            self.roots[place] = done[place][0]
        if deepest > MAX_DEPTH:
            raise TooLargeError(f"its normal form is nested more than {MAX_DEPTH} deep")
        self.count = len(terms)
        self.terms = <FormulaTerm *> self.arena.take(self.count, sizeof(FormulaTerm))
        self.child_count = sum([len(below) for _, below in terms])
        self.children = <int *> self.arena.take(self.child_count, sizeof(int))
        self.levels = 1
        memos = {}       # subject -> its number
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
                self.terms[self.children[place]].parents += 1
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
        for place in range(self.root_count):
            self.terms[self.roots[place]].parents += 1
        self.build_codes([one for one, _ in terms])
        if self.levels > MAX_LEVELS:
            raise TooLargeError(f"an arithmetic expression is nested more than {MAX_LEVELS} deep")
        return 0

    cdef int build_codes(self, list formulas) except -1:
        """Number the short texts of each slot whose leaves compare with many."""
        cdef FormulaTerm *term
        cdef Vocabulary *vocabulary
        cdef int number, slot, code, place
        self.vocabularies = <Vocabulary **> self.arena.take(len(self.slots), sizeof(Vocabulary *))
        leaves = [[] for _ in self.slots]
        for number in range(self.count):
            term = &self.terms[number]
            if term.kind == LEAF and term.slot >= 0 and is_short(&term.values.strings):
                leaves[term.slot].append((number, formulas[number].values.strings.points))
        for slot in range(len(self.slots)):
            counts = [len(points) for _, points in leaves[slot]]
            points = sorted(set().union(*[points for _, points in leaves[slot]]))
            if len(points) > MOST_CODES or (sum(counts) < LEAST_POINTS and max(counts, default=0) <= LINEAR_POINTS):
                continue
            vocabulary = vocabulary_read(self.arena, points)
            if vocabulary == NULL:
                continue
            self.vocabularies[slot] = vocabulary
            codes = {point: code for code, point in enumerate(points, start=1)}
            for number, points in leaves[slot]:
                term = &self.terms[<int> number]
                term.is_coded = True
                term.cost = 1
                for point in points:
                    code = codes[point]
                    term.codes[code >> 6] |= <uint64_t> 1 << (code & 63)
                if term.values.strings.negated:
                    for place in range(4):
                        term.codes[place] = ~term.codes[place]
        return 0

    cdef int build_leaf(self, leaf, dict numbers, dict memos, FormulaTerm *term) except -1:
        term.kind = LEAF
        term.values = <ValueSet *> self.arena.take(1, sizeof(ValueSet))
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
            number = memos.setdefault(operand_key(leaf.subject, numbers), len(memos))
            term.memo = number if number < MAX_MEMOS else -1
            self.memos = min(len(memos), MAX_MEMOS)
        return 0

    cdef int build_operand(self, node, dict numbers, Computation *operand) except -1:
        """Write the steps that compute *node*."""
        cdef Instruction *step
        cdef int depth = 0
        steps = steps_computing(node, numbers)
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
        """Return why the kernel does not read these columns, or None."""
        cdef int slot, number, step
        cdef Column *column
        cdef FormulaTerm *term
        for slot in range(len(self.slots)):
            reason = reader_refusal(columns[slot])
            if reason is not None:
                return f"{self.name_of(slot)}: {reason}"
            column = inner_of(columns[slot])
            if column.kind == INDICES and column.inner.rows > 4 * rows + BLOCK:
                return f"{self.name_of(slot)}: its dictionary is larger than the batch"
            if self.has_order and has_unordered(column, rows):
                return f"{self.name_of(slot)}: it has NaN or -0.0"
        for number in range(self.count):
            term = &self.terms[number]
            for step in range(term.left.count + term.right.count):
                slot = refers_to(term, step)
                if slot >= 0 and inner_of(columns[slot]).kind == INDICES:
                    return (
                        f"{self.name_of(slot)}: a dictionary that arithmetic reads or that is compared with a property"
                    )
        return None

    cdef str name_of(self, int slot):
        return parted(self.slots[slot])[0]  # of a set they have their spellings

    cdef BatchRun *start(self, Column **columns, int64_t rows) except NULL:
        """Begin with a batch; `call_end` ends it."""
        cdef int slots = len(self.slots)
        cdef int slot, number
        cdef int levels = self.memos + 2 + self.levels
        cdef int64_t size
        cdef Column *column
        cdef uint8_t *room
        cdef size_t total = aligned(sizeof(BatchRun))
        cdef int block = BLOCK
        cdef double steps = 0
        cdef FormulaTerm *term
        cdef BatchRun *call
        for number in range(self.count):
            term = &self.terms[number]
            if term.kind == LEAF and term.slot >= 0:
                steps = max(steps, steps_of(term, inner_of(columns[term.slot])))
        block = block_of(steps)
        for slot in range(slots):
            total += reader_room(columns[slot])
            column = inner_of(columns[slot])
            if column.size > 0 and column.rows > 0:
                size = column.size // column.rows
                while block > 16 and size * block > LARGEST_BLOCK:
                    block //= 2
        total += aligned(self.child_count * sizeof(int)) + aligned(self.count * sizeof(Trace))
        total += aligned(slots * sizeof(ColumnBlock)) + aligned(levels * sizeof(Level))
        total += levels * BLOCK * 8 + self.count * <size_t> (8 * WORDS) + 3 * BLOCK
        room = room_take(&total)
        call = <BatchRun *> room
        memset(call, 0, sizeof(BatchRun))
        call.size = total
        call.terms = self.terms
        call.count = self.count
        call.roots = self.roots
        call.root_count = self.root_count
        call.slots = slots
        call.rows = block
        call.kernel = <PyObject *> self
        call.blocks = self.blocks
        call.next_sort = self.next_sort
        room += aligned(sizeof(BatchRun))
        call.children = <int *> room
        memcpy(call.children, self.children, self.child_count * sizeof(int))
        room += aligned(self.child_count * sizeof(int))
        call.traces = <Trace *> room
        memset(call.traces, 0, self.count * sizeof(Trace))
        for number in range(self.count):
            call.traces[number].block = -1
            call.traces[number].seen = self.terms[number].seen
            call.traces[number].passed = self.terms[number].passed
        room += aligned(self.count * sizeof(Trace))
        call.readers = <ColumnBlock *> room
        room += aligned(slots * sizeof(ColumnBlock))
        call.memos = <Level *> room
        call.pair = call.memos + self.memos
        call.stack = call.pair + 2
        room += aligned(levels * sizeof(Level))
        for slot in range(slots):
            reader_start(&call.readers[slot], columns[slot], room)
            call.readers[slot].vocabulary = self.vocabularies[slot]
            room += reader_room(columns[slot])
        for number in range(self.count):
            if self.terms[number].slot >= 0:
                call.readers[self.terms[number].slot].leaves += 1
        for number in range(levels):
            call.memos[number].block = -1
            call.memos[number].room = <int64_t *> room
            room += 8 * BLOCK
        call.bits = <uint64_t *> room
        room += self.count * <size_t> (8 * WORDS)
        call.everything = room
        memset(room, 1, BLOCK)
        call.active = room + BLOCK
        call.mask = room + 2 * BLOCK
        return call


cdef list steps_computing(node, dict numbers):
    """List the steps that compute *node*: (Action, operator or slot, number)."""
    steps = []
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Arithmetic):
            later = []
            with_number = COMPUTE_NARROW if one.rule == "narrow" else COMPUTE_WITH
            for sign, right in zip(one.operators, one.operands[1:], strict=True):
                if isinstance(right, Literal):
                    later.append((with_number, _OPS[sign], right.value))
                else:
                    later += [right, (COMPUTE, _OPS[sign], 0)]
            waiting += [*reversed(later), one.operands[0]]
        elif isinstance(one, Sign):
            waiting += [(NEGATE if one.operator == "-" else KEEP, 0, 0), one.operand]
        elif isinstance(one, Computed):
            raise TooLargeError(f"{unparse(one.expression, one.dialect)}: a test that is computed row by row")
        elif isinstance(one, Identifier):
            steps.append((PUSH_COLUMN, numbers[one.name], 0))
        elif isinstance(one, Literal):
            steps.append((PUSH_NUMBER, 0, one.value))
        else:
            steps.append(one)
    return steps


cdef object operand_key(node, dict numbers):
    """Return what is the same for operands that compute the same. 1, 1.0 and 0.0, -0.0 are not."""
    return tuple([(action, number, repr(value)) for action, number, value in steps_computing(node, numbers)])


cdef object term_key(one, list children, dict numbers):
    """Return what is the same for formulas that are equal, whose children have these numbers."""
    if isinstance(one, (_formulas.All, _formulas.Any)):
        return isinstance(one, _formulas.All), frozenset(children)
    if isinstance(one, _formulas.Leaf):
        return operand_key(one.subject, numbers), one.values
    return operand_key(one.left, numbers), operand_key(one.right, numbers), int(one.outcomes)


cdef bint has_unordered(Column *column, int64_t rows) noexcept:
    """Report whether a column has NaN or -0.0 in some rows; of a dictionary, whether this has."""
    cdef int64_t row
    cdef double number
    if column.kind == INDICES:
        return has_unordered(column.inner, column.inner.rows)
    if column.kind != FLOAT32S and column.kind != FLOAT64S:
        return False
    for row in range(column.offset, column.offset + rows):
        number = (<double *> column.values)[row] if column.kind == FLOAT64S else (<float *> column.values)[row]
        if (number != number or (number == 0 and signbit(number))) and (
            column.validity == NULL or column.validity[row >> 3] >> (row & 7) & 1
        ):
            return True
    return False


cdef bint is_short(TextSet *texts) noexcept:
    """Return whether a set is of points alone, each as short as what stands in a view."""
    cdef int number
    if texts.count == 0 or texts.pattern_count > 0:
        return False
    for number in range(texts.count):
        if texts.points[number].size > SHORT_VIEW:
            return False
    return True


cdef inline size_t aligned(size_t size) noexcept:
    return (size + 63) & ~<size_t> 63


cdef double steps_of(FormulaTerm *term, Column *column) noexcept nogil:
    """Return how many bytes the patterns of a leaf look at in a text of mean length."""
    if not TEXTS <= column.kind <= TEXT_VIEWS or term.values.strings.pattern_count == 0:
        return 0
    return term.values.strings.pattern_count * (1 + mean_size(column))


cdef double mean_size(Column *column) noexcept nogil:
    """Return the mean length of texts; of some of them, where lengths are no differences."""
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


cdef int refers_to(FormulaTerm *term, int step) noexcept:
    """Return the slot that a step of one of the operands reads, or -1."""
    cdef Instruction *code
    code = &term.left.code[step] if step < term.left.count else &term.right.code[step - term.left.count]
    return code.slot if code.action == PUSH_COLUMN else -1


# The memory of the last batch that ended, for the next one: new pages took 20 of the 50 us of a thousand rows. Whoever
# takes and leaves it holds the lock of the interpreter.
cdef uint8_t *_room = NULL
cdef size_t _size = 0


cdef uint8_t *room_take(size_t *size) except NULL:
    """Return memory of some size, which becomes that of the memory."""
    global _room, _size
    cdef uint8_t *room = _room
    if _size < size[0]:
        room = <uint8_t *> malloc(size[0])
        if room == NULL:
            raise MemoryError
        return room
    size[0] = _size
    _room = NULL
    _size = 0
    return room


cdef void call_end(BatchRun *call) noexcept:
    global _room, _size
    cdef int number
    cdef Kernel kernel = <Kernel> call.kernel
    kernel.blocks = call.blocks
    kernel.next_sort = call.next_sort
    memcpy(kernel.children, call.children, kernel.child_count * sizeof(int))
    for number in range(call.count):
        kernel.terms[number].seen = call.traces[number].seen
        kernel.terms[number].passed = call.traces[number].passed
        free(call.traces[number].words)
    if _size < call.size <= MOST_ROOM:
        free(_room)
        _room = <uint8_t *> call
        _size = call.size
    else:
        free(call)
