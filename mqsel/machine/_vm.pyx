# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""The machine: the only executor of opcodes.

One loop, which the C compiler specialises for four property sources. ERR ends the program at once: no connective that
evaluates it survives it (language §1). Knows programs and values; knows no selector text. Programs are verified before
they come here, so the loop checks nothing but types.
"""

cimport cython
from cpython.dict cimport PyDict_CheckExact
from cpython.list cimport PyList_Check
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF
from cpython.tuple cimport PyTuple_Check
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.stdlib cimport free

from mqsel.machine._opcodes cimport *
from mqsel.machine._operators cimport *

from collections.abc import Mapping

from mqsel.errors import ArgumentError
from mqsel.language.dialect import core_of
from mqsel.machine import wordings
from mqsel.machine.program import Program
from mqsel.machine.schema import as_schema
from mqsel.names import by_casefold, find_nested, folded
from mqsel.values import TYPE_NAMES as _TYPES

cdef extern from *:
    """
    /* Nanoseconds, by a clock that never goes back. */
    static inline int64_t clock_now(void) {
    #if PY_VERSION_HEX >= 0x030D0000
        PyTime_t now = 0;
        (void) PyTime_MonotonicRaw(&now);
        return now;
    #else
        return _PyTime_GetMonotonicClock();
    #endif
    }
    /* Keeps the compiler from folding the arms of a branch into an indexed load. */
    #ifdef __GNUC__
    #define way_taken() __asm__ volatile ("")
    #else
    #define way_taken()
    #endif
    /* Verified programs have no other opcodes: the loop need not look whether one is in its table. */
    #if defined(__GNUC__)
    #define no_way_leads_here() __builtin_unreachable()
    #elif defined(_MSC_VER)
    #define no_way_leads_here() __assume(0)
    #else
    #define no_way_leads_here()
    #endif
    """
    void no_way_leads_here()
    void way_taken()
    int64_t clock_now() nogil

cdef enum:
    MILLISECOND = 1_000_000     # of the clock
    FIRST_STRETCH = 256         # messages before the first look at the clock: some milliseconds of raw ones
    LONGEST_STRETCH = 0x4000    # messages between two looks: less than a millisecond of quick ones

# The three tables of language §1, without ERR, which never reaches a stack: [left * 3 + right].
cdef unsigned char[9] AND_TABLE = [FALSE, FALSE, FALSE, FALSE, TRUE, UNKNOWN, FALSE, UNKNOWN, UNKNOWN]
cdef unsigned char[9] OR_TABLE = [FALSE, TRUE, UNKNOWN, TRUE, TRUE, TRUE, UNKNOWN, TRUE, UNKNOWN]
cdef unsigned char[3] NOT_TABLE = [TRUE, FALSE, UNKNOWN]


# ---- the loop ----------------------------------------------------------------------------------------------------

cdef int run(Frame *frame, Source *source, Step *step) except -1:
    """Run a program from *step* on the message behind *source*. Returns FALSE, TRUE, UNKNOWN or ERR."""
    cdef Image *image = frame.image
    cdef Value *stack = frame.stack            # first free cell
    cdef unsigned char *truths = frame.truths  # first free cell
    cdef int truth = FALSE                     # top of the truth stack
    cdef int result
    cdef Py_ssize_t number
    cdef Value *value
    cdef uint32_t op
    cdef Step *start = step
    cdef Source own = source[0]                # where it stands is then known without a look
    source = &own
    frame.stamp += 1
    while True:
        op = step.op
        # The tests: each finds one truth value, and goes where that leads.
        if op == EQUAL_SLOT_STRING or op == NOT_EQUAL_SLOT_STRING:
            value = slot_value(frame, source, step.slot)
            if value.tag == STRING:
                result = text_equal(step.it.text, value.it.o) ^ step.mask
            else:
                result = UNKNOWN if value.tag == NULL_VALUE else step.other
        elif (
            op == EQUAL_SLOT_CONSTANT or op == NOT_EQUAL_SLOT_CONSTANT or op == LESS_SLOT_CONSTANT
            or op == LESS_EQUAL_SLOT_CONSTANT or op == GREATER_SLOT_CONSTANT or op == GREATER_EQUAL_SLOT_CONSTANT
        ):
            value = slot_value(frame, source, step.slot)
            result = value_compare(value, step.it.constant, step.mask, step.other)
        elif op == IN_SLOT or op == NOT_IN_SLOT:
            value = slot_value(frame, source, step.slot)
            result = value_in(value, step.it.choices, step.mask, step.other)
        elif op == IS_NULL or op == IS_NOT_NULL:
            value = slot_value(frame, source, step.slot)
            result = (value.tag == NULL_VALUE) ^ step.mask
        elif op == BETWEEN_CONSTANTS or op == NOT_BETWEEN_CONSTANTS:
            stack -= 1
            result = value_between(stack, step.it.constant, &image.constants[step.slot], step)
        elif (
            op == EQUAL_CONSTANT or op == NOT_EQUAL_CONSTANT or op == LESS_CONSTANT or op == LESS_EQUAL_CONSTANT
            or op == GREATER_CONSTANT or op == GREATER_EQUAL_CONSTANT
        ):
            stack -= 1
            result = value_compare(stack, step.it.constant, step.mask, step.other)
        elif op == STARTS_WITH_SLOT or op == NOT_STARTS_WITH_SLOT:
            value = slot_value(frame, source, step.slot)
            result = value_affix(value, step.it.like, AFFIX_START, step.mask, step.other)
            result = like_now(frame, value, step, result)
        elif op == ENDS_WITH_SLOT or op == NOT_ENDS_WITH_SLOT:
            value = slot_value(frame, source, step.slot)
            result = value_affix(value, step.it.like, AFFIX_END, step.mask, step.other)
            result = like_now(frame, value, step, result)
        elif op == CONTAINS_SLOT or op == NOT_CONTAINS_SLOT:
            value = slot_value(frame, source, step.slot)
            result = value_affix(value, step.it.like, AFFIX_ANYWHERE, step.mask, step.other)
            result = like_now(frame, value, step, result)
        elif op == LIKE_SLOT or op == NOT_LIKE_SLOT:
            value = slot_value(frame, source, step.slot)
            result = value_like(value, step.it.like, step.mask, step.other)
            result = like_now(frame, value, step, result)
        elif op == LIKE or op == NOT_LIKE:
            stack -= 1
            result = value_like(stack, step.it.like, step.mask, step.other)
            result = like_now(frame, stack, step, result)
        elif (
            op == EQUAL or op == NOT_EQUAL or op == LESS or op == LESS_EQUAL or op == GREATER or op == GREATER_EQUAL
        ):
            stack -= 2
            result = value_compare(stack, stack + 1, step.mask, step.other)
        elif op == BETWEEN or op == NOT_BETWEEN:
            stack -= 3
            result = value_between(stack, stack + 1, stack + 2, step)
        elif op == IN or op == NOT_IN:
            stack -= 1
            result = value_in(stack, step.it.choices, step.mask, step.other)
        elif op == AS_TRUTH:
            stack -= 1
            if stack.tag == BOOLEAN:
                result = <int> stack.it.i
            else:
                result = UNKNOWN if stack.tag == NULL_VALUE else step.other
        elif op == COMPUTED:
            result = computed_truth(frame, source, step)
        # What is no test leaves from inside its branch.
        elif op == RETURN_TRUTH:
            if not source_advance(frame, source, step.it.number):
                return step.it.number
            # An ERR comes from amid an expression.
            stack = frame.stack
            truths = frame.truths
            step = start
            continue
        elif op == PUSH_SLOT:
            value = slot_value(frame, source, step.slot)
            value_copy(stack, value)
            stack += 1
            step += 1
            continue
        elif op == PUSH_CONSTANT:
            value_copy(stack, step.it.constant)
            stack += 1
            step += 1
            continue
        elif op == AS_VALUE:
            if truth == UNKNOWN:
                stack.tag = NULL_VALUE
            else:
                stack.tag = BOOLEAN
                stack.it.i = truth
            stack += 1
            truths -= 1
            truth = truths[0]
            step += 1
            continue
        elif op == ADD:
            stack -= 1
            if value_operate(stack - 1, stack - 1, stack, ADD, step.null) == ERR:
                return ERR
            step += 1
            continue
        elif op == SUBTRACT:
            stack -= 1
            if value_operate(stack - 1, stack - 1, stack, SUBTRACT, step.null) == ERR:
                return ERR
            step += 1
            continue
        elif op == MULTIPLY:
            stack -= 1
            if value_operate(stack - 1, stack - 1, stack, MULTIPLY, step.null) == ERR:
                return ERR
            step += 1
            continue
        elif op == DIVIDE:
            stack -= 1
            if value_operate(stack - 1, stack - 1, stack, DIVIDE, step.null) == ERR:
                return ERR
            step += 1
            continue
        elif op == REMAINDER:
            stack -= 1
            if value_arithmetic(stack - 1, stack, REMAINDER, step.null) == ERR:
                return ERR
            step += 1
            continue
        elif op == ADD_CONSTANT:
            if value_operate(stack - 1, stack - 1, step.it.constant, ADD, step.null) == ERR:
                return ERR
            step += 1
            continue
        elif op == SUBTRACT_CONSTANT:
            if value_operate(stack - 1, stack - 1, step.it.constant, SUBTRACT, step.null) == ERR:
                return ERR
            step += 1
            continue
        elif op == MULTIPLY_CONSTANT:
            if value_operate(stack - 1, stack - 1, step.it.constant, MULTIPLY, step.null) == ERR:
                return ERR
            step += 1
            continue
        elif op == DIVIDE_CONSTANT:
            if value_operate(stack - 1, stack - 1, step.it.constant, DIVIDE, step.null) == ERR:
                return ERR
            step += 1
            continue
        elif op == REMAINDER_CONSTANT:
            if value_arithmetic(stack - 1, step.it.constant, REMAINDER, step.null) == ERR:
                return ERR
            step += 1
            continue
        elif op == ADD_SLOT_CONSTANT:
            value = slot_value(frame, source, step.slot)
            if value_operate(stack, value, step.it.constant, ADD, step.null) == ERR:
                return ERR
            stack += 1
            step += 1
            continue
        elif op == SUBTRACT_SLOT_CONSTANT:
            value = slot_value(frame, source, step.slot)
            if value_operate(stack, value, step.it.constant, SUBTRACT, step.null) == ERR:
                return ERR
            stack += 1
            step += 1
            continue
        elif op == MULTIPLY_SLOT_CONSTANT:
            value = slot_value(frame, source, step.slot)
            if value_operate(stack, value, step.it.constant, MULTIPLY, step.null) == ERR:
                return ERR
            stack += 1
            step += 1
            continue
        elif op == DIVIDE_SLOT_CONSTANT:
            value = slot_value(frame, source, step.slot)
            if value_operate(stack, value, step.it.constant, DIVIDE, step.null) == ERR:
                return ERR
            stack += 1
            step += 1
            continue
        elif op == REMAINDER_SLOT_CONSTANT:
            value_copy(stack, slot_value(frame, source, step.slot))
            if value_arithmetic(stack, step.it.constant, REMAINDER, step.null) == ERR:
                return ERR
            stack += 1
            step += 1
            continue
        elif op == PLUS:  # not with NEGATE: to ask again which it is keeps the opcode in a register, at every step
            if value_sign(stack - 1, False, step.null) == ERR:
                return ERR
            step += 1
            continue
        elif op == NEGATE:
            if value_sign(stack - 1, True, step.null) == ERR:
                return ERR
            step += 1
            continue
        elif op == SWITCH_SLOT:
            value = slot_value(frame, source, step.slot)
            number = -1
            if value.tag == STRING:
                number = choices_find(step.it.choices, value.it.o)
            elif value.tag != NULL_VALUE and step.other == ERR:
                return ERR
            step += 1 + (number if number >= 0 else step.it.choices.count)
            continue
        elif op == JUMP:
            step += step.to[0]
            continue
        elif op == PUSH_TRUTH:
            truths[0] = truth
            truths += 1
            truth = step.it.number
            step += step.to[0]
            continue
        elif op == AND:
            truths -= 1
            truth = AND_TABLE[truths[0] * 3 + truth]
            step += 1
            continue
        elif op == OR:
            truths -= 1
            truth = OR_TABLE[truths[0] * 3 + truth]
            step += 1
            continue
        elif op == RIGHT:
            truths -= 1
            step += 1
            continue
        elif op == NOT:
            truth = NOT_TABLE[truth]
            step += 1
            continue
        elif op == JUMP_IF_FALSE or op == JUMP_IF_TRUE or op == JUMP_UNLESS_TRUE:
            step += step.to[truth]
            continue
        elif op == BRANCH_IF_TRUE or op == BRANCH_UNLESS_TRUE or op == BRANCH_IF_FALSE or op == BRANCH_UNLESS_FALSE:
            step += step.to[truth]
            truths -= 1
            truth = truths[0]
            continue
        elif op == BRANCH_IF_UNKNOWN:
            step += step.to[truth]
            if truth == UNKNOWN:
                truths -= 1
                truth = truths[0]
            continue
        elif op == RESTART_IF_UNKNOWN:
            if truth == UNKNOWN:
                stack = frame.stack
                truths = frame.truths
            step += step.to[truth]
            continue
        elif op == RETURN:
            return truth
        else:
            no_way_leads_here()
        # Branches, where one could index: they are predicted, so that the next step need not wait for the result.
        if result == TRUE:
            way_taken()
            step += step.to[TRUE]
        elif result == FALSE:
            way_taken()
            step += step.to[FALSE]
        else:
            step += step.to[result]


cdef inline int like_now(Frame *frame, Value *value, Step *step, int found) except -1:
    """Return the truth of LIKE, which a long text has later."""
    return like_later(frame, value.it.o, step) if found == LATER else found


cdef int like_later(Frame *frame, PyObject *text, Step *step) except -1:
    """Test LIKE of a long text, while others have their turns: so what is borrowed is owned first."""
    cdef object held = <object> text
    cdef int found
    frame_secure(frame)
    turn_give()
    found = long_like(<PyObject *> held, step.it.like, step.mask, True)
    return -1 if found == INTERRUPTED else found


cdef int computed_truth(Frame *frame, Source *source, Step *step) except -1:
    """Compute a test in Python: from values that are owned, as are those on the stack, since others may run."""
    cdef object evaluate, slots
    cdef list values = []
    evaluate, slots = <tuple> step.it.test
    if Source is RecordSource:
        record_copy(frame, source)
    for slot in slots:
        values.append(value_python(slot_value(frame, source, <uint32_t> slot)))
    frame_secure(frame)
    return evaluate(values)


cdef inline int record_copy(Frame *frame, RecordSource *source) except -1:
    """Copy the values of a Record to the slots, once a message: `frame_secure` owns what the slots point to."""
    cdef Py_ssize_t number
    for number in range(frame.image.slot_count):
        if frame.slots[number].stamp != frame.stamp:
            frame.slots[number].value = slot_value(frame, source, <uint32_t> number)[0]
            frame.slots[number].stamp = frame.stamp
    return 0


cdef inline int load_all(Frame *frame, Source *source) except -1:
    """Fetch every slot, for `Machine.read`."""
    cdef Py_ssize_t number
    frame.stamp += 1
    if Source is RecordSource:
        record_copy(frame, source)
    else:
        for number in range(frame.image.slot_count):
            slot_value(frame, source, <uint32_t> number)
    # The message may change before the slots are read.
    frame_secure(frame)
    return 0


cdef uint32_t LOAD_ALL = 0xFFFFFFFF     # a start that asks for load_all instead of run


cdef inline int start_at(Machine machine, Frame *frame, Source *source, uint32_t start) except -1:
    if start == LOAD_ALL:
        return load_all(frame, source)
    return run(frame, source, machine.image.steps + start)


# ---- the machine -------------------------------------------------------------------------------------------------

@cython.final
cdef class Layout:
    def __cinit__(self, Machine machine not None, names, types=()):
        cdef Py_ssize_t slot
        machine.prepare()
        cdef Image *image = machine.image
        self.names = names
        self.copy = list(names)
        self.width = len(self.copy)
        self.positions = <int32_t *> zeroed(image.slot_count, sizeof(int32_t))
        places = {name: place for place, name in enumerate(self.copy) if isinstance(name, str)}
        if machine.folded is not None:
            places = folded(places.items(), machine.folded)
        for slot in range(image.slot_count):
            place = places.get(<object> image.names[slot])
            if place is None and image.aliases[slot] != NULL:
                place = places.get(<object> image.aliases[slot])
            self.positions[slot] = -1 if place is None else place
        declared = dict(enumerate(types))
        if any(declared.values()):
            self.types = <int32_t *> zeroed(image.slot_count, sizeof(int32_t))
            for slot in range(image.slot_count):
                named = declared.get(self.positions[slot])
                self.types[slot] = 0 if named is None else int(_TYPES[named])

    def __dealloc__(self):
        free(self.positions)
        free(self.types)


@cython.no_gc_clear  # the image points into the program
cdef class Machine:
    """A verified program, ready to run. Holds no state of an evaluation, so threads may share it.

    Args:
        program: a `Program`.
        schema: layout of the sequences it will be given, or None.

    Raises: PropertyTypeError: two names of the schema are one of those that the program reads.
    """

    def __cinit__(self, program, schema=None):
        if type(program) is not Program:
            raise ArgumentError(f"a machine runs a Program, found {type(program).__name__}")
        self.program = program
        self.schema = None if schema is None else as_schema(schema)
        self.exact = program.exact
        if core_of(program.dialect).naming == "folded":
            self.folds = True
            self.folded = by_casefold(program.slots)
            if self.schema is not None:
                folded([(name, None) for name in self.schema.names], self.folded)

    cdef int prepare(self) except -1:
        """Decode the program, once, when it first runs: what is compiled to be shipped needs no steps."""
        cdef Image *image
        if self.image == NULL:
            image = image_new(self.program)
            if self.image == NULL:
                self.image = image
            else:  # another thread was quicker
                image_free(image)
        return 0

    def __dealloc__(self):
        cdef Frame *frame
        while self.pool != NULL:
            frame = self.pool
            self.pool = frame.next
            frame_free(frame)  # frames in the pool own nothing
        image_free(self.image)

    cdef Frame *frame_take(self) except NULL:
        cdef Frame *frame = self.pool
        cdef Py_ssize_t number
        if frame != NULL:
            self.pool = frame.next
            return frame
        self.prepare()
        if self.schema is not None and self.layout is None:
            layout = Layout(self, self.schema.names, self.schema.types)
            if self.layout is None:  # else another thread was quicker, and reads by its own
                self.layout = layout
        frame = <Frame *> zeroed(1, sizeof(Frame))
        try:
            frame.image = self.image
            frame.slots = <Slot *> zeroed(self.image.slot_count, sizeof(Slot))
            for number in range(self.image.slot_count):
                frame.slots[number].name = self.image.names[number]
                frame.slots[number].alias = self.image.aliases[number]
                frame.slots[number].place = NO_PLACE
            frame.stack = <Value *> zeroed(self.program.value_depth, sizeof(Value))
            frame.truths = <unsigned char *> zeroed(self.program.truth_depth, 1)
        except MemoryError:
            frame_free(frame)
            raise
        return frame

    cdef void frame_give(self, Frame *frame) noexcept:
        """Put a frame back, letting go of what it owns."""
        frame_release(frame)
        frame.next = self.pool
        self.pool = frame

    cdef int dispatch(self, Frame *frame, PyObject *message, uint32_t start) except -1:
        """Choose the property source by the type of the message, and run."""
        cdef DictSource source
        if PyDict_CheckExact(<object> message) and not self.folds:
            source.message = message
            return start_at(self, frame, &source, start)
        return self.dispatch_slow(frame, <object> message, start)

    cdef int dispatch_slow(self, Frame *frame, object message, uint32_t start) except -1:
        cdef SequenceSource sequence
        cdef RecordSource record
        cdef DictSource respelled
        cdef Layout layout
        frame_hold(frame)
        if <PyObject *> Py_TYPE(<PyObject *> message) == <PyObject *> Record:
            layout = self.record_layout
            if layout is None or (<Record> message).schema is not layout.names:
                layout = self.layout_of((<Record> message).schema)
                self.record_layout = layout
            record.values = (<Record> message).values
            record.positions = layout.positions
            record.schema = <PyObject *> (<Record> message).schema
            if not is_unordered_record(self.image, &record):
                return start_at(self, frame, &record, start)
            # As a dict, each of whose values is looked at when it is read.
            message = dict(zip((<Record> message).schema.names, (<Record> message).as_tuple()))
            return self.dispatch_mapping(frame, message, start)
        if PyTuple_Check(message) or PyList_Check(message):
            layout = self.layout if self.layout is not None else self.row_layout_of(message)
            if layout is not None:
                sequence.sequence = <PyObject *> message
                sequence.positions = layout.positions
                sequence.types = layout.types
                sequence.width = layout.width
                if PySequence_Fast_GET_SIZE(sequence.sequence) != layout.width:
                    raise wordings.wrong_length(PySequence_Fast_GET_SIZE(sequence.sequence), layout.width)
                if layout.nested:
                    wordings.refuse_nested(message, layout.nested, layout.copy)
                return start_at(self, frame, &sequence, start)
        elif type(message) is self.mapping_type or isinstance(message, Mapping):
            self.mapping_type = type(message)
            if self.folded is None:
                return self.dispatch_mapping(frame, message, start)
            message = folded(list(message.items()), self.folded)
            respelled.message = <PyObject *> message
            return start_at(self, frame, &respelled, start)
        raise wordings.not_a_message(message, self.schema is not None)

    cdef int dispatch_mapping(self, Frame *frame, object message, uint32_t start) except -1:
        """Run on what answers by get() to the names of the slots."""
        cdef MappingSource mapping
        mapping.message = <PyObject *> message
        return start_at(self, frame, &mapping, start)

    cdef Layout row_layout_of(self, object message):
        """Find the layout of a sequence that names its positions: pyspark's Row, or a namedtuple. None for others."""
        cdef Layout layout = self.row_layout
        cdef object fields = getattr(message, "__fields__", None)
        cdef bint is_row = fields is not None
        if not is_row:
            fields = getattr(message, "_fields", None)
        if layout is not None and fields is layout.names:
            # A tuple cannot change in place (the fields of a pyspark Row may be a Row themselves), a list can.
            if PyTuple_Check(fields) or (type(fields) is list and fields == layout.copy):
                return layout
        if not isinstance(fields, (tuple, list)):
            return None
        if layout is None or type(fields) is not list or fields != layout.copy:
            layout = Layout(self, fields)
            if is_row:
                layout.nested = find_nested(self.spelled(), layout.copy, folds=self.folds)
            self.row_layout = layout
        return layout

    cdef list spelled(self):
        """List for each slot the ways to spell its name."""
        cdef Image *image = self.image
        return [
            (<object> image.names[slot], None if image.aliases[slot] == NULL else <object> image.aliases[slot])
            for slot in range(image.slot_count)
        ]

    cdef Layout layout_of(self, object schema):
        """Lay out the Records of a schema."""
        cdef Layout layout = self.record_layout
        cdef Py_ssize_t slot
        if layout is None or schema != layout.names:
            layout = Layout(self, schema.names)
            for slot in range(self.image.slot_count):
                if layout.positions[slot] < 0:
                    layout.positions[slot] = <int32_t> layout.width  # the NULL behind the values of each Record
        layout.names = schema
        return layout

    def matches(self, message) -> bool:
        """Return whether the selector selects *message*: True if it is TRUE, False if it is FALSE or UNKNOWN.

        Args:
            message: A mapping, a sequence that the schema lays out, or a `Record`.

        Raises: PropertyTypeError: if *message* is not a message, or a property has a value that no property can have.
        """
        cdef Frame *frame = self.frame_take()
        try:
            return self.dispatch(frame, <PyObject *> message, 0) == TRUE
        finally:
            self.frame_give(frame)

    def truth(self, message) -> int:
        """Return the truth of the selector as an int: 0 FALSE, 1 TRUE, 2 UNKNOWN, 3 ERR (the whole is false)."""
        cdef Frame *frame = self.frame_take()
        try:
            return self.dispatch(frame, <PyObject *> message, self.exact)
        finally:
            self.frame_give(frame)

    def read(self, message) -> dict:
        """Return the properties that the selector reads from *message*: name -> (name of the type, value)."""
        cdef Frame *frame = self.frame_take()
        cdef Py_ssize_t slot
        try:
            self.dispatch(frame, <PyObject *> message, LOAD_ALL)
            return {
                <object> self.image.names[slot]: (
                    value_type(&frame.slots[slot].value), value_python(&frame.slots[slot].value)
                )
                for slot in range(self.image.slot_count)
            }
        finally:
            self.frame_give(frame)


cdef void frame_release(Frame *frame) noexcept:
    """Let go of what the slots point to."""
    cdef Py_ssize_t number
    cdef PyObject *owner
    for number in range(frame.image.slot_count):
        owner = frame.slots[number].owner
        if owner != NULL:
            frame.slots[number].owner = NULL
            Py_DECREF(<object> owner)


cdef void frame_free(Frame *frame) noexcept:
    free(frame.slots)
    free(frame.stack)
    free(frame.truths)
    free(frame)


cdef int dispatch_from_start(Machine machine, Frame *frame, PyObject *message) except -1:
    return machine.dispatch_slow(frame, <object> message, 0)


RUN_DICT = <run_dict> <void *> run[DictSource]
RUN_SEQUENCE = <run_sequence> <void *> run[SequenceSource]
RUN_RECORD = <run_record> <void *> run[RecordSource]
DISPATCH = <run_any> <void *> dispatch_from_start


# ---- turns -------------------------------------------------------------------------------------------------------


cdef int64_t clock_nanoseconds() noexcept nogil:
    return clock_now()


cdef void pace_start(Pace *pace) noexcept:
    pace.turned = pace.looked = clock_now()
    pace.stretch = pace.due = FIRST_STRETCH


cdef int pace_look(Pace *pace, Py_ssize_t seen) except -1:
    """Let others have a turn if the last one was a millisecond ago, and find the next time to look: in half of one."""
    cdef int64_t now = clock_now()
    cdef int64_t spent = max(now - pace.looked, 1)
    pace.looked = now
    if now - pace.turned >= MILLISECOND:
        turn_give()
        pace.turned = pace.looked = clock_now()
    pace.stretch = max(1, min(pace.stretch * (MILLISECOND // 2) // spent, 8 * pace.stretch, LONGEST_STRETCH))
    pace.due = seen + pace.stretch
    return 0
