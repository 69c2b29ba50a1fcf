# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""The proof that a program ends and stays within its stacks, its constants, its slots and its code.

Derived from the instruction table; runs when a program is made, whoever made it. A jump goes strictly forward, so a
program of n instructions ends within n steps of each part. In C, because every executor runs it on arrival.
"""

from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc

from mqsel import opcodes as _opcodes
from mqsel.errors import ProgramError

cdef enum:
    MAX_DEPTH = 4096    # far beyond what the parser's nesting limit can ask for
    UNREACHED = -1
    FUSED_MASK = 0xFFF

cdef enum Kind:
    NOTHING
    SLOT
    CONSTANT
    STRINGS
    PATTERN
    TEXT
    TRUTH
    TARGET

cdef struct Rule:
    int values_in
    int truths_in
    int values_out
    int truths_out
    int first           # Kind of the first operand
    int second          # of the second, if the operand is split in two

cdef Rule[256] RULES
cdef uint32_t RULE_COUNT = len(_opcodes.TABLE)
cdef uint32_t RETURN = _opcodes.CODE["RETURN"]
cdef uint32_t RETURN_TRUTH = _opcodes.CODE["RETURN_TRUTH"]
cdef uint32_t BRANCH_IF_UNKNOWN = _opcodes.CODE["BRANCH_IF_UNKNOWN"]
cdef uint32_t RESTART_IF_UNKNOWN = _opcodes.CODE["RESTART_IF_UNKNOWN"]
cdef uint32_t JUMP = _opcodes.CODE["JUMP"]
cdef uint32_t SWITCH_SLOT = _opcodes.CODE["SWITCH_SLOT"]

_KINDS = ["", "slot", "constant", "strings", "pattern", "text", "truth", "target"]


def _fill_rules() -> None:
    cdef int number
    for number, row in enumerate(_opcodes.TABLE):
        values_in, truths_in, values_out, truths_out = _opcodes.effect(row)
        kinds = [*row.operand.split("+"), ""]
        RULES[number] = Rule(
            values_in, truths_in, values_out, truths_out, _KINDS.index(kinds[0]), _KINDS.index(kinds[1])
        )


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


def verify(bytes code, Py_ssize_t slot_count, tuple constants, Py_ssize_t exact, type pattern) -> tuple:
    """Verify a program.

    Args:
        code: words of 32 bits, little-endian.
        exact: address of the exact code.
        pattern: the class of LIKE patterns.

    Returns: the greatest depth of the value stack and of the truth stack.
    Raises: ProgramError: with the address of the first instruction at fault.
    """
    cdef Py_ssize_t size = len(code) // 4
    cdef int32_t *depths
    if size == 0 or len(code) % 4:
        raise ProgramError(f"the code has {len(code)} bytes: expected 4 for each instruction, and one at least")
    if size >= 1 << 24:
        raise ProgramError(f"the program has {size} instructions: a jump reaches {(1 << 24) - 1}")
    if not 0 <= exact < size:
        raise ProgramError(f"the exact code begins at {exact}: the program has {size} instructions")
    depths = <int32_t *> malloc(2 * size * sizeof(int32_t))
    if depths == NULL:
        raise MemoryError
    try:
        return walk(<const uint8_t *> code, size, depths, slot_count, constants, exact, pattern)
    finally:
        free(depths)


cdef inline uint32_t word_at(const uint8_t *code, Py_ssize_t address) noexcept:
    cdef const uint8_t *place = code + 4 * address
    return <uint32_t> place[0] | <uint32_t> place[1] << 8 | <uint32_t> place[2] << 16 | <uint32_t> place[3] << 24


cdef tuple walk(
    const uint8_t *code, Py_ssize_t size, int32_t *depths, Py_ssize_t slot_count, tuple constants, Py_ssize_t exact,
    type pattern,
):
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
            check_operand(opcode, rule.first, operand & FUSED_MASK, address, slot_count, constants, pattern)
            check_operand(opcode, rule.second, operand >> 12, address, slot_count, constants, pattern)
        elif rule.first != TARGET:
            check_operand(opcode, rule.first, operand, address, slot_count, constants, pattern)
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
            following += len(<tuple> constants[operand >> 12])
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
    return deepest_value, deepest_truth


cdef str named(uint32_t opcode):
    return _opcodes.TABLE[opcode].name


cdef int check_operand(
    uint32_t opcode, int kind, uint32_t operand, Py_ssize_t address, Py_ssize_t slot_count, tuple constants,
    type pattern,
) except -1:
    """Check one operand against the slots, the constants and the kind its instruction wants."""
    cdef object constant
    cdef bint fits
    if kind == NOTHING:
        if operand:
            raise refuse(f"{named(opcode)} has an operand: it takes none", address)
    elif kind == SLOT:
        if operand >= <size_t> slot_count:
            raise refuse(f"{named(opcode)} reads slot {operand} of {slot_count}", address)
    elif kind == TRUTH:
        if operand > 1:
            raise refuse(f"{named(opcode)} has the operand {operand}: expected 0 or 1", address)
    else:
        if operand >= <size_t> len(constants):
            raise refuse(f"{named(opcode)} reads constant {operand} of {len(constants)}", address)
        constant = constants[operand]
        if kind == STRINGS:
            fits = type(constant) is tuple and is_all_text(<tuple> constant)
        elif kind == PATTERN:
            fits = type(constant) is pattern and type(constant.text) is str and is_escape(constant.escape)
        elif kind == TEXT:
            fits = type(constant) is str
        else:
            fits = is_scalar(constant)
        if not fits:
            found = type(constant).__name__
            raise refuse(f"{named(opcode)} needs a {_KINDS[kind]} constant, found {found}", address)
    return 0


cdef bint is_all_text(tuple texts):
    for text in texts:
        if type(text) is not str:
            return False
    return True


cdef bint is_escape(escape):
    return escape is None or (type(escape) is str and len(<str> escape) == 1)


cdef bint is_scalar(constant):
    if type(constant) is int:
        return -(1 << 63) <= constant < 1 << 63
    return type(constant) in (str, float, bool, bytes)
