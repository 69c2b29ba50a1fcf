# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Proves that a program ends and stays within its stacks, its constants, its slots and its code.

Derived from the instruction table. Runs whenever a `Verified` is made, and the machine runs nothing else. A jump goes
strictly forward, so a program of n instructions ends within n steps of each part. In C, because every executor runs it
on arrival; its time is linear in the bytes of the program.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from mqsel.machine._opcodes cimport *

from mqsel.machine import opcodes as _opcodes
from mqsel.language.dialect import Dialect
from mqsel.errors import ArgumentError, ProgramError

cdef extern from *:
    const unsigned int MQSEL_BUILD

BUILD = f"{MQSEL_BUILD:08x}"    # of the sources, by setup.py: tells builds of one version apart

# In C, where no other code can replace it.
cdef object PATTERN_CLASS = _opcodes.Pattern
cdef int64_t NO_NUMBER = <int64_t> 1 << 62     # beyond any text

cdef enum:
    MAX_DEPTH = 4096    # far beyond what the parser's nesting limit can ask for
    UNREACHED = -1
    FUSED_MASK = 0xFFF

cdef struct Rule:
    int values_in
    int truths_in
    int values_out
    int truths_out
    int first           # OperandType of the first operand
    int second          # of the second, if the operand is split in two

cdef Rule[256] RULES
cdef uint32_t RULE_COUNT = len(_opcodes.TABLE)


def _fill_rules() -> None:
    cdef int number
    for number, row in enumerate(_opcodes.TABLE):
        values_in, truths_in, values_out, truths_out = _opcodes.effect(row)
        first, second, *_ = map(_opcodes.OPERANDS.index, [*row.operand.split("+"), ""])
        RULES[number] = Rule(values_in, truths_in, values_out, truths_out, first, second)


_fill_rules()


cdef inline bint arrive(int32_t *depths, Py_ssize_t address, int values, int truths) noexcept:
    """Note the depths with which a way leads to an address. Returns whether all ways agree."""
    if depths[2 * address] == UNREACHED:
        depths[2 * address] = values
        depths[2 * address + 1] = truths
        return True
    return depths[2 * address] == values and depths[2 * address + 1] == truths


cdef object refuse(str message, Py_ssize_t address):
    return ProgramError(message, address=address)


# Not cleared by the collector: the image of a machine points into the constants as long as the machine lives.
@cython.no_gc_clear
cdef class Verified:
    """What is safe to run, and how deep its stacks grow. Set when it is made and never again.

    Args: as those of `mqsel.machine.program.Program`.
    Raises: ProgramError: with the address of the first instruction at fault, where one is at fault.
    """

    def __cinit__(self, text, dialect, slots, constants, words, span_table, exact):
        cdef Py_ssize_t size
        check_type("text", text, str)
        check_dialect(dialect)
        check_type("slots", slots, tuple)
        check_type("constants", constants, tuple)
        check_type("words", words, bytes)
        check_type("span table", span_table, bytes)
        check_type("exact address", exact, int)
        if not is_all_text(<tuple> slots):
            raise ProgramError("the slots of a program are exact str: found something else among them")
        size = len(<bytes> words) // 4
        if size == 0 or len(<bytes> words) % 4:
            raise ProgramError(
                f"the code has {len(<bytes> words)} bytes: expected 4 for each instruction, and one at least"
            )
        if size >= 1 << 24:
            raise ProgramError(f"the program has {size} instructions: a jump reaches {(1 << 24) - 1}")
        if not 0 <= exact < size:
            raise ProgramError(f"the exact code begins at {exact}: the program has {size} instructions")
        check_spans(<bytes> span_table, size, len(<str> text))
        self.text = text
        self.dialect = dialect
        self.slots = slots
        self.constants = constants
        self.words = words
        self.span_table = span_table
        self.exact = exact
        prove(self, size)


def note_source(Verified program not None, selector) -> None:
    """Keep the selector that compiles to the code of a program."""
    program.source = selector


cdef int check_type(str part, found, type expected) except -1:
    """Refuse subclasses too: they may give another answer the next time."""
    if type(found) is not expected:
        raise ProgramError(f"the {part} of a program is {expected.__name__}: found {type(found).__name__}")
    return 0


# The dialect that was checked last: most programs that arrive have one, and to check it takes as long as to prove them.
cdef object CHECKED = None


cdef int check_dialect(dialect) except -1:
    """Check its fields again: tuple.__new__ makes dialects without a check."""
    global CHECKED
    if dialect is CHECKED and dialect is not None:
        return 0
    check_type("dialect", dialect, Dialect)
    try:
        dialect.check()
    except (ArgumentError, IndexError) as error:
        raise ProgramError(f"the dialect of a program is damaged: {error}") from error
    CHECKED = dialect
    return 0


cdef int64_t read_signed(const uint8_t *table, Py_ssize_t size, Py_ssize_t *at) noexcept:
    """Read a signed LEB128 number of at most 63 bits; NO_NUMBER where none stands."""
    cdef uint64_t value = 0
    cdef int shift = 0
    while at[0] < size and shift < 63:
        value |= <uint64_t> (table[at[0]] & 0x7F) << shift
        shift += 7
        at[0] += 1
        if table[at[0] - 1] < 0x80:
            return <int64_t> (value >> 1) ^ -<int64_t> (value & 1)
    return NO_NUMBER


cdef inline uint8_t *number_written(uint8_t *place, uint64_t number) noexcept:
    """Write an unsigned LEB128 number, of ten bytes at most. Returns the place behind it."""
    while number > 0x7F:
        place[0] = <uint8_t> (number & 0x7F | 0x80)
        place += 1
        number >>= 7
    place[0] = <uint8_t> number
    return place + 1


def encode_spans(list spans not None) -> bytes:
    """Write spans as they travel in a program: what `check_spans` follows."""
    cdef int64_t start, stop, last = 0
    cdef uint8_t *table = <uint8_t *> malloc(20 * len(spans) + 1)
    cdef uint8_t *place = table
    if table == NULL:
        raise MemoryError
    try:
        for start, stop in spans:
            place = number_written(place, <uint64_t> (start - last) << 1 ^ <uint64_t> ((start - last) >> 63))
            place = number_written(place, <uint64_t> (stop - start) << 1)
            last = start
        return (<const char *> table)[:place - table]
    finally:
        free(table)


cdef int check_spans(bytes span_table, Py_ssize_t size, Py_ssize_t length) except -1:
    """Follow the spans of all instructions: each lies within the text, and nothing comes after them."""
    cdef const uint8_t *table = <const uint8_t *> span_table
    cdef Py_ssize_t left = len(span_table)
    cdef Py_ssize_t at = 0
    cdef Py_ssize_t address
    cdef int64_t start = 0
    cdef int64_t count
    for address in range(size):
        start += read_signed(table, left, &at)
        count = read_signed(table, left, &at)
        if not (0 <= start <= length and 0 <= count <= length - start):
            raise refuse("its span is missing, or lies outside of the text", address)
    if at != left:
        raise ProgramError(f"the spans are not those of {size} instructions")
    return 0


cdef int prove(Verified program, Py_ssize_t size) except -1:
    """Find what each constant can be an operand as, then walk the code once."""
    cdef Py_ssize_t count = len(program.constants)
    cdef Py_ssize_t number
    cdef uint8_t *types = <uint8_t *> malloc(count + 1)
    cdef int32_t *depths = <int32_t *> malloc(2 * size * sizeof(int32_t))
    try:
        if types == NULL or depths == NULL:
            raise MemoryError
        for number in range(count):
            types[number] = operand_type_of(program.constants[number])
            if types[number] == NOTHING:
                found = type(program.constants[number]).__name__
                raise ProgramError(
                    f"constant {number} cannot be a constant of a program: found {found}",
                    hint="a constant is an int of 64 bits, float, str, bytes, bool, tuple of str, or Pattern",
                )
        walk(program, <const uint8_t *> program.words, size, depths, types)
    finally:
        free(types)
        free(depths)
    return 0


cdef int operand_type_of(constant) except -1:
    """Return the type of operand that a constant can be, NOTHING if it is none; a TEXT is a CONSTANT too."""
    cdef object found = type(constant)
    if found is str:
        return TEXT
    if found is int:
        return CONSTANT if -(1 << 63) <= constant < 1 << 63 else NOTHING
    if found is float or found is bytes or found is bool:
        return CONSTANT
    if found is tuple:
        return STRINGS if is_all_text(<tuple> constant) else NOTHING
    if found is PATTERN_CLASS and is_pattern(<tuple> constant):
        return PATTERN
    return NOTHING


cdef bint is_all_text(tuple texts):
    for text in texts:
        if type(text) is not str:
            return False
    return True


cdef bint is_pattern(tuple pattern):
    """Look at the items themselves: tuple.__new__ makes a Pattern of any."""
    if len(pattern) != 2 or type(pattern[0]) is not str:
        return False
    escape = pattern[1]
    return escape is None or (type(escape) is str and len(<str> escape) == 1)


cdef inline uint32_t word_at(const uint8_t *code, Py_ssize_t address) noexcept:
    cdef const uint8_t *place = code + 4 * address
    return <uint32_t> place[0] | <uint32_t> place[1] << 8 | <uint32_t> place[2] << 16 | <uint32_t> place[3] << 24


cdef int walk(Verified program, const uint8_t *code, Py_ssize_t size, int32_t *depths, uint8_t *types) except -1:
    """Go through the code once, with the depths of both stacks; leave the greatest ones in the program."""
    cdef Py_ssize_t exact = program.exact
    cdef Py_ssize_t address, following, target, case
    cdef int values, truths, arriving_values, arriving_truths
    cdef int deepest_value = 0, deepest_truth = 0
    cdef uint32_t opcode, operand
    cdef Rule *rule
    cdef bint agree
    for address in range(size):
        depths[2 * address] = UNREACHED
    arrive(depths, 0, 0, 0)
    arrive(depths, exact, 0, 0)
    for address in range(size):
        operand = word_at(code, address)
        opcode = operand & 0xFF
        operand >>= 8
        values = depths[2 * address]
        truths = depths[2 * address + 1]
        if values == UNREACHED:
            raise refuse("no way leads to this instruction", address)
        if opcode >= RULE_COUNT:
            raise refuse(f"unknown opcode {opcode}: this mqsel has {RULE_COUNT}", address)
        rule = &RULES[opcode]
        values -= rule.values_in
        truths -= rule.truths_in
        if values < 0 or truths < 0:
            raise refuse(f"{named(opcode)} finds too little on its stack", address)
        values += rule.values_out
        truths += rule.truths_out
        deepest_value = max(deepest_value, values)
        deepest_truth = max(deepest_truth, truths)
        if values > MAX_DEPTH or truths > MAX_DEPTH:
            raise refuse(f"the stack grows beyond {MAX_DEPTH}", address)
        if rule.second != NOTHING:
            check_operand(program, opcode, rule.first, operand & FUSED_MASK, address, types)
            check_operand(program, opcode, rule.second, operand >> 12, address, types)
        elif rule.first != TARGET:
            check_operand(program, opcode, rule.first, operand, address, types)
        else:
            target = operand
            if not address < target < size:
                raise refuse(f"{named(opcode)} jumps to {target}: a jump goes forward within the code", address)
            arriving_values = values
            arriving_truths = truths
            if opcode == RESTART_IF_UNKNOWN:
                if target != exact:
                    raise refuse(f"{named(opcode)} leads elsewhere than to the exact code", address)
                arriving_values = arriving_truths = 0
            elif (target >= exact) != (address >= exact):
                raise refuse(f"{named(opcode)} leaves its part of the code", address)
            elif opcode == BRANCH_IF_UNKNOWN:
                arriving_truths -= 1
            if not arrive(depths, target, arriving_values, arriving_truths):
                raise refuse("two ways lead here with different stacks", target)
        if opcode == RETURN or opcode == RETURN_TRUTH:
            if values or truths:
                raise refuse(f"{named(opcode)} leaves something on the stack", address)
            continue
        if opcode == JUMP:
            continue
        following = address + 1
        if opcode == SWITCH_SLOT:
            following += len(<tuple> program.constants[operand >> 12])
            if following >= size:
                raise refuse(f"{named(opcode)} has fewer JUMPs behind it than strings", address)
            for case in range(address + 1, following):
                if word_at(code, case) & 0xFF != JUMP:
                    raise refuse(f"{named(opcode)} has fewer JUMPs behind it than strings", address)
                if not arrive(depths, case, values, truths):
                    raise refuse("two ways lead here with different stacks", case)
        if following >= size:
            raise refuse("the program runs off its end", address)
        agree = arrive(depths, following, values, truths)
        if not agree or (address < exact <= following and (values or truths)):
            raise refuse("two ways lead here with different stacks", following)
    program.value_depth = deepest_value
    program.truth_depth = deepest_truth
    return 0


cdef str named(uint32_t opcode):
    return _opcodes.TABLE[opcode].name


cdef int check_operand(
    Verified program, uint32_t opcode, int wanted, uint32_t operand, Py_ssize_t address, uint8_t *types
) except -1:
    """Check one operand against the slots, the constants and the type its instruction wants."""
    if wanted == NOTHING:
        if operand:
            raise refuse(f"{named(opcode)} has an operand: it takes none", address)
    elif wanted == SLOT:
        if operand >= <size_t> len(program.slots):
            raise refuse(f"{named(opcode)} reads slot {operand} of {len(program.slots)}", address)
    elif wanted == TRUTH:
        if operand > 1:
            raise refuse(f"{named(opcode)} has the operand {operand}: expected 0 or 1", address)
    elif wanted == TEST:
        pass  # `_image` looks for it: it stands in the text, which is not read here
    elif operand >= <size_t> len(program.constants):
        raise refuse(f"{named(opcode)} reads constant {operand} of {len(program.constants)}", address)
    elif types[operand] != wanted and not (wanted == CONSTANT and types[operand] == TEXT):
        found = type(program.constants[operand]).__name__
        raise refuse(f"{named(opcode)} needs a {_opcodes.OPERANDS[wanted]} constant, found {found}", address)
    return 0
