# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: initializedcheck=False, auto_pickle=False, autotestdict=False
"""Formulas of the normal form read into a draft.

A formula that is an OR becomes a unit for each part. What is read counts when it is committed; until then it can be
taken back, whatever was wrong. Knows formulas; knows no segment and no message.

Longer than 500 lines because `Drafter` is one class: all its ways into a formula fill the same leaf.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.list cimport PyList_GET_SIZE
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from cpython.tuple cimport PyTuple_GET_SIZE
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort
from libc.string cimport memset

from mqsel.index._draft cimport (
    DraftUnit, Link, by_number, draft_free, draft_leaf, draft_place, draft_string, draft_unit, items_room, steps_link,
)
from mqsel.index._parts cimport *
from mqsel.index._steps cimport field, floats_at, integers_at, is_all_numbers, number_step
from mqsel.machine._opcodes cimport ADD, DIVIDE, MULTIPLY, REMAINDER, SUBTRACT
from mqsel.machine._values cimport PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND

from mqsel.errors import ArgumentError
from mqsel.logic import formulas as _formulas
from mqsel.logic import sets as _sets
from mqsel.language.nodes import Arithmetic, Identifier, Literal, Sign

cdef extern from "Python.h":
    PyObject *Py_None
    PyObject *PyList_GET_ITEM(object items, Py_ssize_t place) noexcept
    void *Py_TYPE(PyObject *item) noexcept
    unsigned int PyUnicode_READ_CHAR(PyObject *text, Py_ssize_t place) noexcept

cdef object LEAF_CLASS = _formulas.Leaf
cdef object RELATION_CLASS = _formulas.Relation
cdef object ALL_CLASS = _formulas.All
cdef object ANY_CLASS = _formulas.Any
cdef object IDENTIFIER = Identifier
cdef object ARITHMETIC = Arithmetic
cdef object SIGN = Sign
cdef object LITERAL = Literal
cdef object VALUES_CLASS = _sets.Values
cdef object FLOATS_CLASS = _sets.Floats
cdef object TEXTS_CLASS = _sets.Texts
cdef object NOTHING = _sets.NOTHING
cdef object PROPERTY = _sets.PROPERTY

cdef enum:
    MUCH = 5000                 # steps of a unit from which on shared parts are looked for
    EVERYTHING = 127            # all kinds
    BATCH = 16                  # formulas whose objects memory is asked for together
    ASKED = 4096                # objects of them at most
    KNOWN = 8192                # sets of values that are kept as they were read; a power of two

cdef dict _OPS = {"+": ADD, "-": SUBTRACT, "*": MULTIPLY, "/": DIVIDE, "%": REMAINDER}


cdef struct Frame:
    PyObject *parts
    Py_ssize_t at
    Py_ssize_t count
    uint64_t begin              # of a chunk: its first step
    PyObject *group
    uint32_t depth
    bint is_all
    bint is_chunk


# A node of arithmetic that is being read: how many of its parts were.
cdef struct Operand:
    PyObject *node
    Py_ssize_t at


# The objects of many formulas lie far apart: memory is asked for those of some at once, level by level. Without this
# three quarters of the time of reading 20,000 formulas go by waiting.

cdef inline Kept *kept_at(const Kept *kept, PyObject *values) noexcept:
    return <Kept *> &kept[mixed(<uint64_t> <size_t> values) & (KNOWN - 1)]


cdef inline void object_ask(PyObject **asked, Py_ssize_t *count, PyObject *one) noexcept:
    if count[0] < ASKED:
        mqsel_ahead(one)
        asked[count[0]] = one
        count[0] += 1


cdef int objects_ask(PyObject **asked, const Kept *kept, list formulas, Py_ssize_t first) except -1:
    """Ask for the memory of the objects of a batch of formulas.

    Args:
        asked: room for ASKED.
        kept: sets of which all is known.
    """
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t at = 0
    cdef Py_ssize_t number
    cdef PyObject *one
    cdef PyObject *part
    cdef void *kind
    for number in range(first, min(first + BATCH, PyList_GET_SIZE(formulas))):
        object_ask(asked, &count, PyList_GET_ITEM(formulas, number))
    while at < count:
        one = asked[at]
        at += 1
        if <size_t> one & 1:
            # A set, the second time: now its entries are there.
            one = <PyObject *> (<size_t> one - 1)
            for entry in <frozenset> one:
                object_ask(asked, &count, <PyObject *> entry)
            continue
        kind = Py_TYPE(one)
        if kind == <void *> LEAF_CLASS:
            object_ask(asked, &count, field(one, 0))
            part = field(one, 1)
            if kept_at(kept, part).values != part:
                mqsel_ahead(<char *> part + 64)
                object_ask(asked, &count, part)
        elif kind == <void *> VALUES_CLASS:
            for number in range(2, 7):
                part = field(one, number)
                if part != field(<PyObject *> NOTHING, number) and part != field(<PyObject *> PROPERTY, number):
                    object_ask(asked, &count, part)
        elif kind == <void *> FLOATS_CLASS or kind == <void *> IDENTIFIER:
            object_ask(asked, &count, field(one, 0))
        elif kind == <void *> str:
            mqsel_ahead(<char *> one + 64)
        elif kind == <void *> frozenset:
            if len(<frozenset> one) and count < ASKED:
                for number in range(1, 4):
                    mqsel_ahead(<char *> one + 64 * number)
                asked[count] = <PyObject *> (<size_t> one + 1)
                count += 1
        elif kind == <void *> tuple or kind == <void *> ALL_CLASS or kind == <void *> ANY_CLASS:
            for number in range(PyTuple_GET_SIZE(<object> one)):
                object_ask(asked, &count, field(one, number))
        elif kind == <void *> TEXTS_CLASS:
            object_ask(asked, &count, field(one, 0))
            object_ask(asked, &count, field(one, 1))
    return 0


cdef class Drafter:
    """Reads formulas of `mqsel.logic.normal` into a draft.

    Args:
        names: of attributes; a formula adds names, even if it is refused.
        numbers: their places.
    """

    def __cinit__(self, list names, dict numbers):
        self.names = names
        self.numbers = numbers

    def __dealloc__(self):
        self.forget()
        draft_free(&self.draft)
        free(self.steps.items)
        free(self.words.items)
        free(self.frames.items)
        free(self.operands.items)
        free(self.pending.items)

    cdef int read_many(self, const uint32_t *places, uint64_t count, formulas) except -1:
        """Take in formulas, which count when they are committed: of a list, or one by one as they are made."""
        cdef uint64_t at = 0
        cdef PyObject **asked = NULL
        self.pending.count = 0
        try:
            # What is asked for, or kept, pays from some dozens of formulas on.
            if count > BATCH:
                self.kept = <Kept *> calloc(KNOWN, sizeof(Kept))
                if self.kept == NULL:
                    raise MemoryError
                if type(formulas) is list:  # what was made just now is in the cache
                    asked = <PyObject **> malloc(ASKED * sizeof(PyObject *))
                    if asked == NULL:
                        raise MemoryError
            for formula in formulas:
                if at == count:
                    at += 1
                    break
                if asked != NULL and at % BATCH == 0:
                    objects_ask(asked, self.kept, <list> formulas, at)
                self.read(places[at], formula)
                at += 1
        finally:
            free(asked)
            self.forget()
        if at != count:
            raise ArgumentError(f"there are {count} places, and {'more' if at > count else at} formulas")
        return 0

    cdef void forget(self) noexcept:
        """Drop the sets of values that were kept."""
        cdef Py_ssize_t at
        if self.kept != NULL:
            for at in range(KNOWN):
                Py_XDECREF(self.kept[at].values)
            free(self.kept)
            self.kept = NULL

    cdef int read(self, uint32_t place, formula) except -1:
        """Take in the formula of a place."""
        if type(formula) is ANY_CLASS:
            for part in <tuple> field(<PyObject *> formula, 0):
                self.read_unit(place, part)
        else:
            self.read_unit(place, formula)
        return 0

    cdef int reserve(self) except -1:
        """Have room for what was read, so that `commit` cannot fail."""
        if items_room(&self.draft.links, self.pending.count, sizeof(Link)) < 0:
            raise MemoryError
        if self.draft.links.count + self.pending.count >= NONE:
            raise ArgumentError(f"a set takes {NONE - 1} places of parts of selectors", hint="make several sets")
        return 0

    cdef void commit(self, uint64_t count) noexcept:
        """Let what was read count: *count* selectors. There is room for it: see `reserve`."""
        cdef Link *pending = <Link *> self.pending.items
        cdef uint64_t at
        for at in range(self.pending.count):
            draft_place(&self.draft, pending[at].next, pending[at].place)
        self.pending.count = 0
        self.draft.selectors += count

    cdef void drop(self, uint32_t place) noexcept:
        """Let a place have none of the units."""
        cdef DraftUnit *units = <DraftUnit *> self.draft.units.items
        cdef Link *links = <Link *> self.draft.links.items
        cdef uint64_t unit
        cdef uint32_t *link
        cdef bint had = False
        for unit in range(self.draft.units.count):
            link = &units[unit].link
            while link[0]:
                if links[link[0] - 1].place == place:
                    link[0] = links[link[0] - 1].next
                    had = True
                else:
                    link = &links[link[0] - 1].next
        self.draft.selectors -= had

    cdef int read_unit(self, uint32_t place, formula) except -1:
        cdef uint32_t unit
        self.steps.count = 0
        if not self.read_tree(formula, None):
            self.steps.count = 0
            self.read_tree(formula, shared_parts(formula))
        if self.steps.count > JUMP_MASK:
            raise ArgumentError(
                f"a selector has {self.steps.count} tests that all count: a set takes {JUMP_MASK}", hint="divide it"
            )
        unit = draft_unit(&self.draft, <Step *> self.steps.items, self.steps.count)
        if unit == NONE or items_room(&self.pending, 1, sizeof(Link)) < 0:
            raise MemoryError
        (<Link *> self.pending.items)[self.pending.count].place = place
        (<Link *> self.pending.items)[self.pending.count].next = unit
        self.pending.count += 1
        return 0

    cdef int read_tree(self, formula, dict shared) except -1:
        """Write the steps of a formula.

        Args:
            shared: by identity the leaves that stand for parts, None at first; None where parts need not be shared.

        Returns: whether it was done; if not, it is long, and parts should be shared.
        """
        cdef Frame *frame
        cdef Step *last
        self.frames.count = 0
        self.read_part(formula, shared)
        while self.frames.count:
            frame = <Frame *> self.frames.items + self.frames.count - 1
            if frame.at == frame.count:
                self.frames.count -= 1
                if frame.is_chunk:
                    group = <object> frame.group
                    self.close_chunk(frame.begin)
                    if shared is not None and id(group) in shared:
                        last = <Step *> self.steps.items + self.steps.count - 1
                        shared[id(group)] = last.it.place
                continue
            if frame.at:
                last = <Step *> self.steps.items + self.steps.count - 1
                last.link = frame.depth << JUMP_BITS
                last.test = last.test & TEST_MASK | (frame.is_all << TEST_BITS)
            frame.at += 1
            self.read_part(<object> field(frame.parts, frame.at - 1), shared)
            if shared is None and self.steps.count > MUCH:
                return False
        return True

    cdef int read_part(self, part, dict shared) except -1:
        cdef Frame *frame
        cdef Step *step
        kind = type(part)
        if kind is LEAF_CLASS:
            return self.read_leaf(part)
        if kind is RELATION_CLASS:
            return self.read_relation(part)
        if kind is not ALL_CLASS and kind is not ANY_CLASS:
            raise ArgumentError(f"found a Python {kind.__name__}: expected a formula of mqsel.logic.normal")
        parts = <object> field(<PyObject *> part, 0)
        if not parts:
            step = self.step()
            step.kinds = EVERYTHING if kind is ALL_CLASS else 0
            return 0
        is_shared = shared is not None and id(part) in shared
        if is_shared and shared[id(part)] is not None:
            step = self.step()
            step.test = LEAF
            step.it.place = shared[id(part)]
            return 0
        if items_room(&self.frames, 1, sizeof(Frame)) < 0:
            raise MemoryError
        frame = <Frame *> self.frames.items + self.frames.count
        frame.depth = (frame - 1).depth + 1 if self.frames.count else 0
        frame.is_chunk = frame.depth >= MAX_DEPTH or is_shared
        if frame.is_chunk:
            frame.depth = 0
        frame.begin = self.steps.count
        frame.group = <PyObject *> part
        frame.parts = <PyObject *> parts
        frame.at = 0
        frame.count = len(<tuple> parts)
        frame.is_all = kind is ALL_CLASS
        self.frames.count += 1
        return 0

    cdef Step *step(self) except NULL:
        """Begin a step."""
        cdef Step *step
        if items_room(&self.steps, 1, sizeof(Step)) < 0:
            raise MemoryError
        step = <Step *> self.steps.items + self.steps.count
        memset(step, 0, sizeof(Step))
        self.steps.count += 1
        return step

    cdef int close_chunk(self, uint64_t begin) except -1:
        """Let one step stand for those from *begin* on."""
        cdef uint64_t count = self.steps.count - begin
        cdef Leaf *leaf
        if count > JUMP_MASK or steps_link(&self.draft, <Step *> self.steps.items + begin, count) < 0:
            raise MemoryError
        leaf = self.start_leaf(CODE)
        leaf.actions[0] = <uint32_t> count
        memcpy(self.word(2 * count), <Step *> self.steps.items + begin, count * sizeof(Step))
        self.steps.count = begin
        return self.add_leaf(NONE, 0)

    cdef uint32_t attribute(self, str name) except? 0xFFFFFFFF:
        number = self.numbers.get(name)
        if number is None:
            number = len(self.names)
            self.names.append(name)
            try:
                self.numbers[name] = number
            except MemoryError:
                self.names.pop()
                raise
        return number

    cdef uint32_t string(self, text) except 0xFFFFFFFF:
        cdef const uint8_t *data
        cdef uint64_t size
        cdef uint32_t number
        cdef int kind = 0
        if type(text) is bytes:
            data = <const uint8_t *> PyBytes_AS_STRING(text)
            size = PyBytes_GET_SIZE(text)
        else:
            kind = PyUnicode_KIND(<PyObject *> text)
            data = <const uint8_t *> PyUnicode_DATA(<PyObject *> text)
            size = PyUnicode_GET_LENGTH(<PyObject *> text) * kind
        number = draft_string(&self.draft, data, size, kind, text_hash(data, size, kind))
        if number == NONE:
            raise MemoryError
        return number

    # ---- leaves ------------------------------------------------------------------------------------------------------

    cdef int read_leaf(self, leaf) except -1:
        cdef PyObject *subject = field(<PyObject *> leaf, 0)
        cdef PyObject *values = field(<PyObject *> leaf, 1)
        cdef PyObject *strings = field(values, 5)
        cdef PyObject *bytes_ = field(values, 6)
        cdef PyObject *booleans = field(values, 1)
        cdef bint nan32, nan64
        cdef bint numbers, texts, blobs    # whether a lane has some and not all
        cdef int kinds = 0
        cdef uint32_t attribute
        cdef Step *step
        cdef Leaf *made
        cdef Kept *kept = NULL
        if type(<object> subject) is not IDENTIFIER:
            made = self.start_leaf(SET)
            self.read_operand(<object> subject, 0)
            self.read_set(values)
            return self.add_leaf(NONE, 0)
        attribute = self.attribute(<str> field(subject, 0))
        if self.kept != NULL and attribute < 65536:
            kept = kept_at(self.kept, values)
            if kept.values == values:
                step = self.step()
                step[0] = kept.step
                step.attribute = <uint16_t> attribute
                return 0
        nan32 = <object> field(field(values, 3), 1)
        nan64 = <object> field(field(values, 4), 1)
        if <object> field(values, 0):
            kinds = KIND_NULL
        if <object> field(booleans, 0):
            kinds |= KIND_FALSE
        if <object> field(booleans, 1):
            kinds |= KIND_TRUE
        if nan32 and nan64:
            kinds |= KIND_NAN
        numbers = (
            PyTuple_GET_SIZE(<object> field(values, 2)) + PyTuple_GET_SIZE(<object> field(field(values, 3), 0))
            + PyTuple_GET_SIZE(<object> field(field(values, 4), 0))
        ) != 0
        if numbers and is_all_numbers(values):
            kinds |= KIND_NUMBER
            numbers = False
        texts = len(<frozenset> field(strings, 0)) or len(<frozenset> field(strings, 1))
        if not texts and <object> field(strings, 2):
            kinds |= KIND_STRING
        blobs = len(<frozenset> field(bytes_, 0)) != 0
        if not blobs and <object> field(bytes_, 2):
            kinds |= KIND_BYTES
        if nan32 == nan64 and attribute < 65536 and numbers + texts + blobs <= 1:
            step = self.step()
            step.attribute = <uint16_t> attribute
            step.kinds = <uint8_t> kinds
            if not numbers and not texts and not blobs:
                return 0
            if numbers and number_step(values, step):
                if kept != NULL:
                    Py_INCREF(<object> values)
                    Py_XDECREF(kept.values)
                    kept.values = values
                    kept.step = step[0]
                return 0
            if texts and len(<frozenset> field(strings, 0)) == 1 and not len(<frozenset> field(strings, 1)):
                for text in <frozenset> field(strings, 0):
                    step.test = OTHER_TEXT if <object> field(strings, 2) else TEXT
                    step.it.place = self.string(text)
                return 0
            if blobs and len(<frozenset> field(bytes_, 0)) == 1 and not <object> field(bytes_, 2):
                for text in <frozenset> field(bytes_, 0):
                    step.test = TEXT
                    step.it.place = self.string(text)
                return 0
            self.steps.count -= 1
        made = self.start_leaf(SET)
        made.attribute[0] = attribute
        self.read_set(values)
        return self.add_leaf(attribute, kinds)

    cdef int read_relation(self, relation) except -1:
        cdef Leaf *leaf = self.start_leaf(RELATION)
        leaf.outcomes = int(relation.outcomes)
        self.read_operand(relation.left, 0)
        self.read_operand(relation.right, 1)
        return self.add_leaf(NONE, 0)

    cdef uint64_t *word(self, uint64_t count) except NULL:
        """Give zeroed room for more words of the leaf that is being read; what was given before may move."""
        cdef uint64_t *words
        if items_room(&self.words, count + 1, 8) < 0:
            raise MemoryError
        words = <uint64_t *> self.words.items + self.words.count
        memset(words, 0, 8 * count)
        self.words.count += count
        return words

    cdef Leaf *start_leaf(self, int kind) except NULL:
        cdef Leaf *leaf
        self.words.count = 0
        leaf = <Leaf *> self.word(LEAF_WORDS)
        leaf.kind = kind
        leaf.attribute[0] = leaf.attribute[1] = NONE
        return leaf

    cdef int add_leaf(self, uint32_t attribute, int kinds) except -1:
        """Write a step for the leaf that was read."""
        cdef Leaf *leaf = <Leaf *> self.words.items
        cdef Step *step = self.step()
        if self.words.count >= NONE:
            raise MemoryError
        leaf.words = <uint32_t> self.words.count
        step.test = LEAF
        if attribute < 65536:
            step.attribute = <uint16_t> attribute
            step.kinds = <uint8_t> kinds
        step.it.place = draft_leaf(&self.draft, leaf)
        if step.it.place == NONE:
            raise MemoryError
        return 0

    cdef int read_operand(self, node, int side) except -1:
        """Write what computes an operand behind the head of a leaf."""
        cdef Leaf *leaf = <Leaf *> self.words.items
        cdef Operand *operand
        cdef PyObject *one
        cdef uint64_t begin = self.words.count
        cdef uint32_t height = 0
        cdef uint32_t most = 0
        if type(node) is IDENTIFIER:
            leaf.attribute[side] = self.attribute(node.name)
            return 0
        self.operands.count = 0
        self.push_operand(<PyObject *> node)
        while self.operands.count:
            operand = <Operand *> self.operands.items + self.operands.count - 1
            one = operand.node
            operand.at += 1
            if type(<object> one) is ARITHMETIC:
                if operand.at > 2:
                    self.action(COMPUTE).op = _OPS[<object> field(field(one, 0), operand.at - 3)]
                    height -= 1
                if operand.at <= PyTuple_GET_SIZE(<object> field(one, 1)):
                    self.push_operand(field(field(one, 1), operand.at - 1))
                    continue
            elif type(<object> one) is SIGN:
                if operand.at == 1:
                    self.push_operand(field(one, 1))
                    continue
                self.action(NEGATE if <object> field(one, 0) == "-" else KEEP)
            else:
                self.read_term(<object> one)
                height += 1
                most = max(most, height)
            self.operands.count -= 1
        leaf = <Leaf *> self.words.items
        leaf.actions[side] = <uint32_t> ((self.words.count - begin) // 2)
        leaf.depth = max(leaf.depth, most)
        if leaf.depth > MAX_STACK:
            raise ArgumentError(f"arithmetic is nested more than {MAX_STACK} deep: the selector is refused")
        return 0

    cdef int push_operand(self, PyObject *node) except -1:
        cdef Operand *operand
        if items_room(&self.operands, 1, sizeof(Operand)) < 0:
            raise MemoryError
        operand = <Operand *> self.operands.items + self.operands.count
        operand.node = node
        operand.at = 0
        self.operands.count += 1
        return 0

    cdef Action *action(self, int what) except NULL:
        """Begin a step of arithmetic."""
        cdef Action *action = <Action *> self.word(2)
        action.what = what
        return action

    cdef int read_term(self, one) except -1:
        """Write what arithmetic begins with: a property or a constant."""
        cdef Action *action
        cdef double number
        if type(one) is IDENTIFIER:
            self.action(PUSH_ATTRIBUTE).attribute = self.attribute(one.name)
        elif type(one) is LITERAL and isinstance(one.value, int):
            self.action(PUSH_INTEGER).number = one.value
        elif type(one) is LITERAL and isinstance(one.value, float):
            action = self.action(PUSH_DOUBLE)
            number = one.value
            memcpy(&action.number, &number, 8)
        else:
            raise ArgumentError(f"arithmetic has no {type(one).__name__}")
        return 0

    cdef int read_set(self, PyObject *values) except -1:
        """Write a set behind what is there."""
        cdef Leaf *leaf
        cdef uint32_t flags = 0
        cdef int64_t *pair
        cdef double *ends
        cdef uint32_t *numbers
        cdef uint32_t at
        cdef int lane
        cdef Py_ssize_t number
        cdef Py_ssize_t counts[5]       # by lane, from the integers on
        cdef uint32_t written
        cdef PyObject *intervals
        cdef PyObject *booleans = field(values, 1)
        cdef frozenset points, patterns
        flags |= KIND_NULL if <object> field(values, 0) else 0
        flags |= KIND_FALSE if <object> field(booleans, 0) else 0
        flags |= KIND_TRUE if <object> field(booleans, 1) else 0
        flags |= LEAF_NAN32 if <object> field(field(values, 3), 1) else 0
        flags |= LEAF_NAN64 if <object> field(field(values, 4), 1) else 0
        flags |= LEAF_NOT_STRINGS if <object> field(field(values, 5), 2) else 0
        flags |= LEAF_NOT_BYTES if <object> field(field(values, 6), 2) else 0
        flags |= LEAF_POISON if <object> field(values, 7) else 0
        flags |= LEAF_ERROR if <object> field(values, 8) else 0
        intervals = field(values, 2)
        counts[0] = PyTuple_GET_SIZE(<object> intervals)
        for number in range(counts[0]):
            pair = <int64_t *> self.word(2)
            integers_at(intervals, number, &pair[0], &pair[1])
        for lane in range(1, 3):
            intervals = field(field(values, lane + 2), 0)
            counts[lane] = PyTuple_GET_SIZE(<object> intervals)
            for number in range(counts[lane]):
                ends = <double *> self.word(2)
                floats_at(intervals, number, &ends[0], &ends[1])
        for lane in range(3, 5):
            points = <frozenset> field(field(values, lane + 2), 0)
            counts[lane] = len(points)
            if counts[lane]:
                numbers = <uint32_t *> self.word((<uint64_t> counts[lane] + 1) // 2)
                at = 0
                for text in points:
                    numbers[at] = self.string(text)
                    at += 1
                qsort(numbers, at, 4, by_number)
        written = 0
        patterns = <frozenset> field(field(values, 5), 1)
        if len(patterns) == 1:
            for pattern in patterns:
                written = self.read_patterns((pattern,))
        elif len(patterns):
            written = self.read_patterns(sorted(patterns, key=repr))  # one set is always written alike
        leaf = <Leaf *> self.words.items
        leaf.flags = <uint16_t> flags
        leaf.integers = <uint32_t> counts[0]
        leaf.floats32 = <uint32_t> counts[1]
        leaf.floats64 = <uint32_t> counts[2]
        leaf.strings = <uint32_t> counts[3]
        leaf.bytes = <uint32_t> counts[4]
        leaf.patterns = written
        return 0

    cdef uint32_t read_patterns(self, patterns) except? 0xFFFFFFFF:
        """Write patterns as numbers: of each its segments, and of each of those its length and its code points."""
        cdef uint64_t count = 0
        cdef uint32_t *numbers
        cdef Py_ssize_t at
        cdef PyObject *point
        for pattern in patterns:
            count += 1
            for part in <tuple> pattern:
                count += 1 + PyTuple_GET_SIZE(part)
        if count >= NONE:
            raise MemoryError
        numbers = <uint32_t *> self.word((count + 1) // 2)
        for pattern in patterns:
            numbers[0] = <uint32_t> PyTuple_GET_SIZE(pattern)
            numbers += 1
            for part in <tuple> pattern:
                numbers[0] = <uint32_t> PyTuple_GET_SIZE(part)
                for at in range(PyTuple_GET_SIZE(part)):
                    point = field(<PyObject *> part, at)
                    numbers[at + 1] = ANY_POINT if point == Py_None else PyUnicode_READ_CHAR(point, 0)
                numbers += 1 + PyTuple_GET_SIZE(part)
        return <uint32_t> count


cdef dict shared_parts(formula):
    """List the groups of a formula, by identity, that stand in it more than once."""
    seen = set()
    shared = {}
    waiting = [formula]
    while waiting:
        one = waiting.pop()
        if type(one) is ALL_CLASS or type(one) is ANY_CLASS:
            if id(one) in seen:
                shared[id(one)] = None
            else:
                seen.add(id(one))
                waiting += one.parts
    return shared
