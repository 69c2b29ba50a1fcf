# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""A verified program as the loop runs it: constants laid out for comparison, instructions decoded into steps.

Made when a program first runs. A step points to its operand and knows the next step for each outcome: the branches or
the end behind a test are resolved with it. Runs nothing, knows no messages. Takes verified programs only.
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcmp

from mqsel.machine._opcodes cimport *
from mqsel.machine._verifier cimport Verified

import functools
import sys

from mqsel.errors import ProgramError, SelectorError
from mqsel.language.computed import evaluator
from mqsel.language.dialect import core_of
from mqsel.language.nodes import Computed
from mqsel.language.pattern import segments
from mqsel.language.selector import read_selector
from mqsel.machine.opcodes import OPERANDS as _OPERANDS
from mqsel.machine.opcodes import TABLE as _TABLE
from mqsel.names import spellings
from mqsel.values import Truth as _Truth

cdef enum:
    CROWD = 64      # places passed for each string of a list, on average: at half full it is less than one

# What the table of instructions says of an opcode.
cdef struct Fact:
    bint is_test        # finds a truth value, and where it goes depends on that alone
    bint is_branch      # ends the life of a truth value
    bint is_split       # its operand is two, the first being the lower half
    bint is_pair        # both are constants
    int operand         # OperandType of its last operand
    int affix           # where its text stands in the string, or 0
    uint8_t mask        # of its step
    uint8_t taken       # a bit for each truth value with which it goes to its target
    bint is_greater     # compares by > or >=
    int null            # which of the outcomes for NULL is its own

cdef Fact[256] FACTS


def _fill_facts() -> None:
    cdef int number
    affixes = {"prefix": AFFIX_START, "suffix": AFFIX_END, "contains": AFFIX_ANYWHERE}
    masks = {
        "=": MASK_EQUAL, "<>": MASK_NOT_EQUAL, "<": MASK_LESS, "<=": MASK_LESS_EQUAL, ">": MASK_GREATER,
        ">=": MASK_GREATER_EQUAL,
    }
    for number, row in enumerate(_TABLE):
        first, _, last = row.operand.rpartition("+")
        taken, given = [side.split() for side in row.effect.split("--")]
        FACTS[number].is_test = given == ["truth"] and "truth" not in taken and row.name != "PUSH_TRUTH"
        FACTS[number].is_branch = bool(row.taken) and taken == ["truth"] and not given
        FACTS[number].is_split = first != ""
        FACTS[number].is_pair = first == last == "constant"
        FACTS[number].operand = _OPERANDS.index(last)
        FACTS[number].affix = affixes.get(row.affix, 0)
        # A text is the same or not: no relation is asked for.
        FACTS[number].mask = row.negated if last == "text" else masks.get(row.operator, row.negated)
        FACTS[number].is_greater = row.operator in (">", ">=")
        FACTS[number].null = ["BETWEEN", "NOT BETWEEN", row.operator].index(row.operator)
        FACTS[number].taken = sum([1 << _Truth[name] for name in row.taken.split()])


_fill_facts()


cdef void text_set(Text *text, PyObject *string) noexcept:
    text.data = <const uint8_t *> PyUnicode_DATA(string)
    text.length = PyUnicode_GET_LENGTH(string)
    text.kind = PyUnicode_KIND(string)
    text.size = text.length * text.kind


cdef bint text_same(Text *left, Text *right) noexcept:
    return left.kind == right.kind and left.size == right.size and memcmp(left.data, right.data, left.size) == 0


cdef Like *like_build(str pattern, object escape) except NULL:
    return like_new([[<uint32_t> ANY_POINT if character is None else ord(character) for character in segment]
                     for segment in segments(pattern, escape)])


cdef Like *like_new(list parts) except NULL:
    cdef Like *like = <Like *> zeroed(1, sizeof(Like))
    cdef Segment *segment
    like.segments = <Segment *> zeroed(len(parts), sizeof(Segment))
    like.count = len(parts)
    for number, points in enumerate(parts):
        segment = &like.segments[<Py_ssize_t> number]
        segment.points = <uint32_t *> zeroed(len(points), sizeof(uint32_t))
        segment.length = len(points)
        for place, point in enumerate(points):
            segment.points[<Py_ssize_t> place] = point
    return like


cdef Like *affix_new(str text, int shape) except NULL:
    """Prepare the text of STARTS_WITH, ENDS_WITH or CONTAINS; the program keeps it alive."""
    cdef list points = [ord(character) for character in text]
    cdef Like *like = like_new({AFFIX_START: [points, []], AFFIX_END: [[], points]}.get(shape, [[], points, []]))
    if points:
        text_set(&like.text, <PyObject *> text)
    return like


cdef void like_free(Like *like) noexcept:
    cdef Py_ssize_t number
    if like == NULL:
        return
    for number in range(like.count):
        free(like.segments[number].points)
    free(like.segments)
    free(like)


cdef Choices *choices_new(tuple strings) except NULL:
    """Lay the strings of an IN list or a SWITCH_SLOT out for search; the program keeps them alive."""
    cdef Choices *choices = <Choices *> zeroed(1, sizeof(Choices))
    cdef Py_ssize_t number, passed = 0
    cdef uint32_t place
    choices.items = <Text *> zeroed(len(strings), sizeof(Text))
    choices.count = len(strings)
    for number, text in enumerate(strings):
        text_set(&choices.items[number], <PyObject *> text)
    if choices.count > LINEAR_CHOICES:
        choices.mask = 1
        while choices.mask < 2 * choices.count:
            choices.mask *= 2
        choices.table = <uint32_t *> zeroed(choices.mask, sizeof(uint32_t))
        choices.mask -= 1
        for number in range(choices.count):
            place = bytes_hash(choices.items[number].data, choices.items[number].size) & choices.mask
            while choices.table[place]:
                if text_same(&choices.items[choices.table[place] - 1], &choices.items[number]):
                    break  # the first of equal strings counts; the others take no place
                place = (place + 1) & choices.mask
                passed += 1
                if passed > CROWD * choices.count:
                    choices_free(choices)
                    raise ProgramError(
                        "the strings of an IN list were chosen to collide: finding one would take too long",
                        hint="do not run this program; no selector written by a person holds such a list",
                    )
            if choices.table[place] == 0:
                choices.table[place] = number + 1
    return choices


cdef void choices_free(Choices *choices) noexcept:
    if choices != NULL:
        free(choices.items)
        free(choices.table)
        free(choices)


cdef Image *image_new(Verified program) except NULL:
    """Decode a verified program."""
    cdef Image *image = <Image *> zeroed(1, sizeof(Image))
    core = core_of(program.dialect)  # the bytes of a program name this for all of its instructions
    image.has_order = core.has_greatest
    try:
        load_slots(image, program.slots, core.naming)
        load_constants(image, program.constants)
        if load_steps(image, program, core):
            load_tests(image, program)
    except BaseException:
        image_free(image)
        raise
    return image


cdef void image_free(Image *image) noexcept:
    cdef Py_ssize_t number
    if image == NULL:
        return
    if image.likes != NULL:
        for number in range(image.constant_count * 4):
            like_free(image.likes[number])
    if image.choices != NULL:
        for number in range(image.constant_count):
            choices_free(image.choices[number])
    free(image.likes)
    free(image.choices)
    free(image.constants)
    free(image.texts)
    free(image.steps)
    free(image.names)
    free(image.aliases)
    Py_XDECREF(image.kept)
    free(image)


cdef int load_slots(Image *image, tuple names, str naming) except -1:
    """Lay out the names to look for: of each property the first spelling, and the other one where it has two."""
    cdef Py_ssize_t number
    cdef list spelled
    cdef list kept = []
    Py_INCREF(kept)
    image.kept = <PyObject *> kept
    image.names = <PyObject **> zeroed(len(names), sizeof(PyObject *))
    image.aliases = <PyObject **> zeroed(len(names), sizeof(PyObject *))
    for number, name in enumerate(names):
        spelled = [sys.intern(spelling) for spelling in spellings(name, naming)]
        kept.append(spelled)
        image.names[number] = <PyObject *> spelled[0]
        if len(spelled) > 1:
            image.aliases[number] = <PyObject *> spelled[1]
    image.slot_count = len(names)
    return 0


cdef int load_constants(Image *image, tuple constants) except -1:
    cdef Py_ssize_t number
    image.constants = <Value *> zeroed(len(constants), sizeof(Value))
    image.texts = <Text *> zeroed(len(constants), sizeof(Text))
    image.constant_count = len(constants)
    for number, constant in enumerate(constants):
        if type(constant) is tuple:
            if image.choices == NULL:
                image.choices = <Choices **> zeroed(len(constants), sizeof(Choices *))
            image.choices[number] = choices_new(<tuple> constant)
        elif isinstance(constant, tuple):  # a Pattern
            like_at(image, number * 4)[0] = like_build((<tuple> constant)[0], (<tuple> constant)[1])
        else:
            constant_load(&image.constants[number], &image.texts[number], constant)
    return 0


cdef int constant_load(Value *value, Text *text, constant) except -1:
    """Lay out a constant, which the program keeps alive."""
    if isinstance(constant, str):
        value.tag = STRING
        value.it.o = <PyObject *> constant
        text_set(text, <PyObject *> constant)
    elif isinstance(constant, bytes):
        value.tag = BYTES
        value.it.o = <PyObject *> constant
    elif isinstance(constant, float):
        value.tag = FLOAT64
        value.it.d = constant
    else:
        value.tag = BOOLEAN if isinstance(constant, bool) else INT64
        value.it.i = constant
    return 0


cdef Like **like_at(Image *image, Py_ssize_t place) except NULL:
    """Return a place among the likes, which few programs have."""
    if image.likes == NULL:
        image.likes = <Like **> zeroed(image.constant_count * 4, sizeof(Like *))
    return &image.likes[place]


cdef int load_steps(Image *image, Verified program, core) except -1:
    """Decode each word, and find for each test the next step of each outcome. Returns whether some test is computed."""
    cdef bytes words = program.words
    cdef tuple constants = program.constants
    cdef bytes by_opcode = others_of(program.dialect)
    cdef const uint8_t *others = <const uint8_t *> by_opcode
    cdef bint has_greatest = core.has_greatest
    cdef uint8_t[3] nulls = [
        *[BY_BOUNDS if null is None else null for null in core.between], core.null | (NARROW if core.is_narrow else 0)
    ]
    cdef const uint8_t *place = <const uint8_t *> words
    cdef Py_ssize_t size = len(words) // 4
    cdef Py_ssize_t number, count, most = size + 4
    cdef uint32_t word, operand
    cdef int outcome
    cdef bint is_computed = False
    cdef Step *step
    for number in range(size):
        most += 3 if FACTS[place[4 * number]].is_test else 0
    image.steps = <Step *> zeroed(most, sizeof(Step))
    for number in range(size):
        word = place[0] | <uint32_t> place[1] << 8 | <uint32_t> place[2] << 16 | <uint32_t> place[3] << 24
        place += 4
        operand = word >> 8
        step = &image.steps[number]
        step.op = word & 0xFF
        step.other = others[step.op]
        is_computed = is_computed or step.op == COMPUTED
        step.null = nulls[FACTS[step.op].null]
        step.slot = operand & 0xFFF if FACTS[step.op].is_split else operand
        load_operand(image, step, operand >> 12 if FACTS[step.op].is_split else operand, constants)
        if has_greatest and FACTS[step.op].is_greater:
            step.mask |= IS_UNORDERED
    count = size
    # The ends that tests share, one for each outcome.
    for outcome in range(4):
        image.steps[count].op = RETURN_TRUTH
        image.steps[count].it.number = outcome
        count += 1
    for number in range(size - 1, -1, -1):
        step = &image.steps[number]
        if FACTS[step.op].is_test:
            for outcome in range(3):
                count = load_way(image, number, outcome, size, count)
            step.to[ERR] = <int32_t> (size + ERR - number)
        elif step.op == PUSH_TRUTH:
            step.to[0] = 1
        else:
            for outcome in range(3):
                step.to[outcome] = <int32_t> (way_on(image, number, outcome) - number)
    step = <Step *> realloc(image.steps, count * sizeof(Step))  # most tests need no step of their own
    if step != NULL:
        image.steps = step
    return is_computed


@functools.lru_cache(64)
def others_of(dialect):
    """Return what each opcode yields for a value of another kind, a byte each; a switch is a chain of equalities."""
    core = core_of(dialect)
    signs = ["=" if row.name == "SWITCH_SLOT" else row.operator for row in _TABLE]
    return bytes([core.others.get(sign, FALSE) for sign in signs])


cdef int load_operand(Image *image, Step *step, uint32_t operand, tuple constants) except -1:
    """Find what the operand of a step numbers, the second one where there are two."""
    cdef Like **like
    cdef Fact *fact = &FACTS[step.op]
    step.mask = fact.mask
    if fact.operand == STRINGS:
        step.it.choices = image.choices[operand]
    elif fact.operand == PATTERN:
        step.it.like = image.likes[operand * 4]
    elif fact.affix:
        like = like_at(image, operand * 4 + fact.affix)
        if like[0] == NULL:
            like[0] = affix_new(constants[operand], fact.affix)
        step.it.like = like[0]
    elif fact.operand == TEXT:
        step.it.text = &image.texts[operand]
    elif fact.is_pair:
        # No slot: the first stands where an only one would, the second where a slot would.
        step.it.constant = &image.constants[step.slot]
        step.slot = operand
    elif fact.operand == CONSTANT:
        step.it.constant = &image.constants[operand]
    else:  # a slot, a truth value, a target, a test, or nothing
        step.it.number = operand
    return 0


cdef int load_tests(Image *image, Verified program) except -1:
    """Find the computed tests of a program in its selector, or in the text of a program that came as bytes."""
    cdef Py_ssize_t number
    cdef Step *step
    cdef dict tests = {}
    try:
        selector = program.source or read_selector(program.text, program.dialect)
    except SelectorError as error:
        raise ProgramError(f"the text of the program, whose tests are computed, is refused: {error}") from error
    slots = {name: number for number, name in enumerate(program.slots)}
    for node in selector.order:
        if type(node) is Computed:
            tests[node.number] = node, tuple([slots.get(selector.names[one.name]) for one in node.identifiers])
    for number in range(len(program.words) // 4):
        step = &image.steps[number]
        if step.op == COMPUTED:
            test = tests.get(step.it.number)
            if test is None or None in test[1]:
                missing = "no slot for a property of" if test else "no"
                raise ProgramError(
                    f"the program has {missing} computed test {step.it.number} of its text", address=number,
                    hint="compile the selector again, by the mqsel that runs it",
                )
            test = evaluator(test[0]), test[1]
            (<list> image.kept).append(test)
            step.it.test = <PyObject *> test
    return 0


cdef Py_ssize_t way_on(Image *image, Py_ssize_t number, int truth) noexcept:
    """Return the address that comes after instruction *number*, no test, when *truth* lies on the truth stack."""
    cdef Step *step = &image.steps[number]
    cdef Py_ssize_t following = step.it.number if FACTS[step.op].taken >> truth & 1 else number + 1
    # A JUMP there already leads to the end of its chain: jumps go forward, and steps are finished from the last to the
    # first. So a chain of JUMPs costs no more than its length.
    if image.steps[following].op == JUMP:
        following += image.steps[following].to[0]
    return following


cdef Py_ssize_t load_way(Image *image, Py_ssize_t number, int outcome, Py_ssize_t ends, Py_ssize_t count) noexcept:
    """Find where an outcome of test *number* leads. Returns the new count.

    One instruction behind the test is taken at once where it ends the truth's life: a branch or an end. One that asks
    for UNKNOWN, before it, lets any other truth pass. Before anything else a step of its own pushes the truth.
    """
    cdef Py_ssize_t following = number + 1
    cdef int op = image.steps[following].op
    if (op == BRANCH_IF_UNKNOWN or op == RESTART_IF_UNKNOWN) and outcome != UNKNOWN:
        following += 1
        op = image.steps[following].op
    if FACTS[op].is_branch or (op == BRANCH_IF_UNKNOWN and outcome == UNKNOWN):
        following = way_on(image, following, outcome)
    elif op == RETURN:
        following = ends + outcome
    else:
        if op == JUMP_IF_FALSE or op == JUMP_IF_TRUE or op == JUMP_UNLESS_TRUE:
            following = way_on(image, following, outcome)
        image.steps[count].op = PUSH_TRUTH
        image.steps[count].it.number = outcome
        image.steps[count].to[0] = <int32_t> (following - count)
        following = count
        count += 1
    image.steps[number].to[outcome] = <int32_t> (following - number)
    return count
