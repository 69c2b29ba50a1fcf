# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Many formulas over a block of rows: what they share is computed once, and a row gets the numbers of those true of it.

A term is computed for all rows of a block, when a formula first asks for it, and kept as a bit a row until the block is
done; so AND and OR are a few vector instructions. An AND that no row is left of is done, and what it did not ask for is
not computed. Knows no selector, and needs no lock of the interpreter.
"""

from libc.math cimport log
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from mqsel.columns._arrow cimport INDICES, UINT64S, Column
from mqsel.columns._columns cimport (
    BLOCK, DECLINED, Reader, has_texts, numbers_load, reader_room, reader_start, words_mask,
)
from mqsel.columns._formulas cimport run_leaf, run_relation
from mqsel.columns._kernel cimport AGAIN, ALL, LEAF, RELATION, TURN, Call, Kernel, Term, Trace
from mqsel.columns._texts cimport texts_load
from mqsel.machine._vm cimport clock_nanoseconds

cdef extern from "_loops.h" nogil:
    void mask_of_bits(uint8_t *mask, const uint8_t *bits, int64_t at, int rows)
    void bits_of_mask(uint8_t *bits, const uint8_t *mask, int rows)
    int words_and(uint64_t *words, const uint64_t *other, int count)
    int words_or(uint64_t *words, const uint64_t *other, int count)
    int words_count(const uint64_t *words, int count)
    int lowest_bit(uint64_t word)

cdef double LEAST = 1e-5     # share of the rows that is none
cdef double EVEN = 1e-3      # what passes all rows decides as good as nothing

cdef enum:
    WORDS = 32               # BLOCK / 64
    DEAR = 8                 # the cost from which on a leaf looks at the rows alone that are left
    LOOK = 16                # formulas between two looks at the clock


cdef Run *run_begin(Kernel kernel, Call *call) except NULL:
    """Begin with a batch, of which *call* has the columns; `run_end` ends it, and not the call."""
    cdef size_t count = kernel.count
    cdef size_t number
    cdef Run *run = <Run *> malloc(sizeof(Run) + 64 + count * (sizeof(Result) + WORDS * 8))
    if run == NULL:
        raise MemoryError
    run.call = call
    run.bits = <uint64_t *> ((<size_t> (run + 1) + 63) & ~<size_t> 63)
    run.results = <Result *> (run.bits + count * WORDS)
    run.roots = kernel.roots
    run.root_count = kernel.root_count
    run.next_root = 0
    for number in range(count):
        run.results[number] = Result(-1, 0, 0)
    for number in range(<size_t> kernel.child_count):
        run.results[kernel.children[number]].parents += 1
    for number in range(<size_t> kernel.root_count):
        run.results[kernel.roots[number]].parents += 1
    return run


cdef void run_end(Run *run) noexcept:
    free(run)


# ---- columns -----------------------------------------------------------------------------------------------------

cdef int words_check(Call *call) noexcept nogil:
    """Look for damage in the words of dictionaries, which are few beside the rows.

    Returns: 0, or DECLINED.
    """
    cdef Column *inner
    cdef Reader reader
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


cdef int columns_check(Call *call, int64_t start, int rows) noexcept nogil:
    """Look for damage in the rows of a block, whether or not a formula comes to it: a set reads what its selectors do.

    Returns: 0, or DECLINED.
    """
    cdef uint8_t mask[BLOCK]
    cdef Reader *reader
    cdef int slot
    for slot in range(call.slots):
        reader = &call.readers[slot]
        if has_texts(reader.kind):
            if texts_load(reader, start, rows) < 0:
                return DECLINED
        elif reader.kind == UINT64S:
            if numbers_load(reader, start, rows) < 0:
                return DECLINED
        elif reader.kind == INDICES and words_mask(reader, NULL, 0, start, rows, mask) < 0:
            return DECLINED
    return 0


# ---- terms -------------------------------------------------------------------------------------------------------

cdef int term_run(Run *run, int number, int64_t start, int rows, const uint64_t *left) noexcept nogil:
    """Compute a term for a block, unless that was done.

    Args:
        left: a bit for each row that matters to whom asks; NULL for all.

    Returns: how many rows it is true of, DECLINED, or AGAIN.
    """
    cdef Result *result = &run.results[number]
    cdef Term *term = &run.call.terms[number]
    cdef int found
    if result.block == start:
        return result.found
    if term.kind == LEAF or term.kind == RELATION:
        found = one_run(run, number, start, rows, left if result.parents == 1 and term.cost >= DEAR else NULL)
    elif term.kind == ALL:
        found = all_run(run, number, start, rows)
    else:
        found = any_run(run, number, start, rows)
    if found < 0:
        return found
    result.block = start
    result.found = found
    run.call.traces[number].seen += rows
    run.call.traces[number].passed += found
    return found


cdef int one_run(Run *run, int number, int64_t start, int rows, const uint64_t *left) noexcept nogil:
    cdef uint64_t *bits = run.bits + <size_t> number * WORDS
    cdef uint8_t active[BLOCK]
    cdef uint8_t mask[BLOCK]
    cdef int found
    if left != NULL:
        mask_of_bits(active, <const uint8_t *> left, 0, rows)
    if run.call.terms[number].kind == LEAF:
        found = run_leaf(run.call, number, start, rows, run.call.everything if left == NULL else active, mask)
    else:
        found = run_relation(run.call, number, start, rows, run.call.everything if left == NULL else active, mask)
    if found > 0:
        bits[(rows - 1) >> 6] = 0
        bits_of_mask(<uint8_t *> bits, mask, rows)
    return found


cdef int all_run(Run *run, int number, int64_t start, int rows) noexcept nogil:
    cdef Term *term = &run.call.terms[number]
    cdef uint64_t *bits = run.bits + <size_t> number * WORDS
    cdef int words = (rows + 63) >> 6
    cdef bint is_all = True
    cdef int place, child, found
    for place in range(term.first, term.first + term.count):
        child = run.call.children[place]
        found = term_run(run, child, start, rows, NULL if is_all else bits)
        if found <= 0:
            return found
        if found == rows:
            continue
        if is_all:
            memcpy(bits, run.bits + <size_t> child * WORDS, words * 8)
            is_all = False
        elif not words_and(bits, run.bits + <size_t> child * WORDS, words):
            return 0
    if is_all:
        every_row(bits, rows)
        return rows
    return words_count(bits, words)


cdef int any_run(Run *run, int number, int64_t start, int rows) noexcept nogil:
    cdef Term *term = &run.call.terms[number]
    cdef uint64_t *bits = run.bits + <size_t> number * WORDS
    cdef int words = (rows + 63) >> 6
    cdef bint is_none = True
    cdef int place, child, found
    for place in range(term.first, term.first + term.count):
        child = run.call.children[place]
        found = term_run(run, child, start, rows, NULL)
        if found < 0:
            return found
        if found == rows:
            every_row(bits, rows)
            return rows
        if found == 0:
            continue
        if is_none:
            memcpy(bits, run.bits + <size_t> child * WORDS, words * 8)
            is_none = False
        else:
            words_or(bits, run.bits + <size_t> child * WORDS, words)
    return 0 if is_none else words_count(bits, words)


cdef void every_row(uint64_t *bits, int rows) noexcept nogil:
    memset(bits, 0xFF, (rows >> 6) * 8)
    if rows & 63:
        bits[rows >> 6] = (<uint64_t> 1 << (rows & 63)) - 1


cdef int run_formulas(Run *run, int64_t start, int rows) noexcept nogil:
    """Compute all formulas for a block, or go on with it.

    Returns: 0, or DECLINED: the index has to look at this block, or AGAIN.
    """
    cdef Call *call = run.call
    cdef int status
    run.words = (rows + 63) >> 6
    if run.next_root == 0:
        if call.blocks == call.next_sort:
            children_sort(run)
            call.next_sort *= 2
        call.blocks += 1
        call.strict = False
        if columns_check(call, start, rows) < 0:
            return DECLINED
    while run.next_root < run.root_count:
        if run.next_root % LOOK == LOOK - 1 and clock_nanoseconds() - call.turned > TURN:
            return AGAIN
        status = term_run(run, run.roots[run.next_root], start, rows, NULL)
        if status < 0:
            if status == DECLINED:
                run.next_root = 0
            return status
        run.next_root += 1
    run.next_root = 0
    return 0


cdef void children_sort(Run *run) noexcept nogil:
    """Order the children of each AND: first what leaves the fewest rows for its cost.

    Only an AND that no row of the block is left of saves something. The logarithms of the shares add up to that.
    """
    cdef int number, place, before, child
    cdef Term *term
    cdef Trace *trace
    cdef double passed, mine
    cdef double ranks[64]
    cdef int *children = run.call.children
    for number in range(run.call.count):
        term = &run.call.terms[number]
        if term.kind != ALL or not 2 <= term.count <= 64:
            continue
        for place in range(term.count):
            child = children[term.first + place]
            trace = &run.call.traces[child]
            passed = 0.5
            if trace.seen:
                passed = <double> trace.passed / <double> trace.seen
            mine = run.call.terms[child].cost / (EVEN - log(passed + LEAST))
            before = place
            while before > 0 and ranks[before - 1] > mine:
                ranks[before] = ranks[before - 1]
                children[term.first + before] = children[term.first + before - 1]
                before -= 1
            ranks[before] = mine
            children[term.first + before] = child


# ---- what was found ----------------------------------------------------------------------------------------------

cdef int64_t run_count(Run *run, int32_t *counts) noexcept nogil:
    """Count for each row of the block the formulas true of it; *counts* begin with zeros. Gives their sum."""
    cdef int64_t total = 0
    cdef uint64_t *bits
    cdef uint64_t word
    cdef int number, place
    for number in range(run.root_count):
        if run.results[run.roots[number]].found == 0:
            continue
        total += run.results[run.roots[number]].found
        bits = run.bits + <size_t> run.roots[number] * WORDS
        for place in range(run.words):
            word = bits[place]
            while word:
                counts[64 * place + lowest_bit(word)] += 1
                word &= word - 1
    return total


cdef void run_places(Run *run, int32_t *ends, uint32_t *places) noexcept nogil:
    """Write the numbers of the formulas true of each row.

    Args:
        ends: where the row begins; afterwards where it ends.
    """
    cdef uint64_t *bits
    cdef uint64_t word
    cdef int number, place, row
    for number in range(run.root_count):
        if run.results[run.roots[number]].found == 0:
            continue
        bits = run.bits + <size_t> run.roots[number] * WORDS
        for place in range(run.words):
            word = bits[place]
            while word:
                row = 64 * place + lowest_bit(word)
                places[ends[row]] = <uint32_t> number
                ends[row] += 1
                word &= word - 1
