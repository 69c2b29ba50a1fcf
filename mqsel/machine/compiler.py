"""Tree to program: the only emitter of opcodes.

A selector with connectives becomes two pieces of code. The exact one keeps truth values on a stack and gives all four.
The quick one before it only answers "is it TRUE": tests and jumps, each straight to its final target; NOT reverses the
polarity of a test. UNKNOWN counts as "not TRUE" there (Kleene's connectives are monotone), except where a test
that would then be passed over could be ERR: from such a place a copy of the rest is run, which looks for ERR alone.
ERR itself ends a program at once, in both codes, because no connective that evaluates it survives it (language §1).
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, cast

from mqsel.carets import Span
from mqsel.errors import SelectorLimitError
from mqsel.language.checker import may_err
from mqsel.language.nodes import (
    And,
    Arithmetic,
    Between,
    Comparison,
    Computed,
    Identifier,
    In,
    IsNull,
    Like,
    Literal,
    Node,
    Not,
    Or,
    Sign,
    children,
)
from mqsel.language.operators import BOUNDS, FAILING
from mqsel.language.optimizer import optimize as optimized
from mqsel.language.selector import Selector
from mqsel.machine._verifier import encode_spans, note_source
from mqsel.machine.opcodes import CHOICE, CODE, FUSED_BITS, FUSED_LIMIT, OPERAND_LIMIT, Constant, Pattern
from mqsel.machine.program import Program, encode_code
from mqsel.values import Truth

COPIED = 4  # how often the nodes of a tree may be copied, on average
MIN_CASES = 4  # strings from which one look-up is cheaper than comparing one after the other


# By connective and rule, in the exact code: what ends it behind an operand, and what joins one with the next.
_JOINED = {
    (And, "kleene"): ("JUMP_IF_FALSE", "AND"),
    (Or, "kleene"): ("JUMP_IF_TRUE", "OR"),
    (And, "first"): ("JUMP_UNLESS_TRUE", "RIGHT"),
    (Or, "first"): ("JUMP_IF_TRUE", "RIGHT"),
    (And, "eager"): ("", "AND"),
    (Or, "eager"): ("", "OR"),
}


class _Label(list[int]):
    """The instructions that wait for an address that is not known yet; the address, once the label is placed."""

    __slots__ = ("address",)

    address: int


class _Operand(NamedTuple):
    """Work: leave the value of the node on the value stack."""

    node: Node


class _Branch(NamedTuple):
    """Work: go to ``yes`` if the node is TRUE (FALSE, where not ``positive``), else to ``no``.

    ``follows`` is the one of both that stands right behind. ``unknown`` is where UNKNOWN leads if it may not pass for
    "no" here, else None; the label of the exact code is one such place.
    """

    node: Node
    positive: bool
    yes: _Label
    no: _Label
    follows: _Label
    unknown: _Label | None


# The same from its fields, in half the time its class takes.
_branch: Callable[[tuple[Node, bool, _Label, _Label, _Label, _Label | None]], _Branch] = partial(tuple.__new__, _Branch)


class _Copies(NamedTuple):
    """Work: behind each label the operands of a connective from the second, the third … on; see `connective`."""

    work: _Branch
    labels: list[_Label]


class _Switch(NamedTuple):
    """Operands of an OR that each demand another string of one property: string -> what else each demands."""

    identifier: Identifier
    cases: dict[str, list[tuple[Node, ...]]]
    operands: list[Node]


# Work: emit an opcode with its operand and span; an operand that is a label is filled in when the label is placed.
# A node is work itself: leave its truth value on the truth stack.
_Instruction = tuple[str, int | _Label, Span]
_Work = Node | _Operand | _Branch | _Copies | _Instruction | _Label


def lower(selector: Selector, *, quick: bool = True) -> Program:
    """Write the program of *selector*.

    Args:
        quick: put the quick code before the exact one, and use fused instructions.

    Raises: SelectorLimitError: more slots, constants or instructions than an operand can number.
    """
    return _Lowering(selector.of_core(), quick).program()


def program_of(selector: Selector, *, optimize: bool = True) -> Program:
    """Compile a selector that was read: the one place where the optimizer's result becomes a program.

    Args:
        optimize: rearrange the selector, and write quick code.

    Raises: SelectorLimitError: see `lower`.
    """
    program = lower(optimized(selector) if optimize else selector, quick=optimize)
    note_source(program, selector)
    return program


class _Lowering:
    def __init__(self, selector: Selector, quick: bool) -> None:
        self.selector = selector
        self.quick = quick
        self.slots = {name: slot for slot, name in enumerate(dict.fromkeys(selector.names.values()))}
        self.constants: dict[tuple[type, object], int] = {}
        self.pool: list[Constant] = []
        self.code: list[int] = []
        self.spans: list[Span] = []
        self.exact = _Label()
        self.failing: set[int] = set()  # ids of nodes that may be ERR; those of arithmetic too
        self.tests: dict[int, tuple[_Work, ...]] = {}  # ids of nodes without labels -> their work, which both codes do
        self.weights: dict[int, int] = {}  # ids of nodes -> how many nodes they have
        self.budget = COPIED * len(selector.order)

    def program(self) -> Program:
        selector, root = self.selector, self.selector.node
        if selector.match_option is not None and selector.match_option.matches_any:
            root = Literal("boolean", True, root.span)
        span = root.span
        work: list[_Work] = [self.exact, root, ("RETURN", 0, span)]
        if self.quick and isinstance(root, (And, Or, Not)):
            self.find_failing()
            yes, no = _Label(), _Label()
            work[:0] = (
                _Branch(root, True, yes, no, yes, None),
                *(yes, ("RETURN_TRUTH", 1, span), no, ("RETURN_TRUTH", 0, span)),
            )
        self.emit(work)
        if len(self.code) >= OPERAND_LIMIT or len(self.pool) >= OPERAND_LIMIT:
            raise SelectorLimitError(
                f"the selector needs more than {OPERAND_LIMIT} instructions: a program holds no more",
                selector=selector.text,
                span=(0, len(selector.text)),
                hint="split the selector and combine the answers",
            )
        return Program(
            selector.text,
            selector.dialect,
            tuple(self.slots),
            tuple(self.pool),
            encode_code(self.code),
            encode_spans(self.spans),
            self.exact.address,
        )

    def find_failing(self) -> None:
        """Collect the nodes whose evaluation may be ERR, from the leaves up; weigh all, if there is one."""
        if not may_err(self.selector.order):
            return
        failing, weights = self.failing, self.weights
        for node in self.selector.order:
            if type(node) is Literal:
                continue
            fails = not failing.isdisjoint(map(id, children(node)))
            match node:
                case Arithmetic(operators, operands, _, null, rule):
                    divides = not FAILING.isdisjoint(operators) and any(
                        operator in FAILING and not (isinstance(operand, Literal) and operand.value)
                        for operator, operand in zip(operators, operands[1:], strict=True)
                    )
                    fails = fails or divides or null is Truth.ERR or rule == "narrow"  # of what is no number
                case Sign():
                    fails = fails or node.null is Truth.ERR
                case Computed():
                    fails = True
                case Comparison() | Between() | In() | Like() | Identifier():
                    fails = fails or node.other is Truth.ERR
            if fails:
                failing.add(id(node))
        if failing:
            for node in self.selector.order:
                weights[id(node)] = sum([weights[id(part)] for part in children(node)], 1)

    # ---- the work list: each piece of work is replaced by simpler ones until instructions are left

    def emit(self, work: list[_Work]) -> None:
        stack = work[::-1]
        code, spans = self.code, self.spans
        while stack:
            piece = stack.pop()
            work_type = type(piece)
            if work_type is tuple:
                op, operand, span = piece  # type: ignore[misc]
                if type(operand) is _Label:
                    operand.append(len(code))
                    operand = 0
                code.append(CODE[op] | operand << 8)  # type: ignore[index, operator]
                spans.append(span)  # type: ignore[arg-type]
            elif work_type is _Branch:
                stack += self.branch(piece)[::-1]  # type: ignore[arg-type]
            elif work_type is _Label:
                piece.address = len(code)  # type: ignore[union-attr]
                for address in piece:
                    code[address] |= len(code) << 8  # type: ignore[index]
            elif work_type is _Operand:
                stack += self.value(piece.node)[::-1]  # type: ignore[union-attr]
            elif work_type is _Copies:
                stack += self.copies(piece)[::-1]  # type: ignore[arg-type]
            else:
                stack += self.truth(piece)[::-1]  # type: ignore[arg-type]

    def truth(self, node: Node) -> tuple[_Work, ...]:
        """Replace "the truth of *node*"."""
        work = self.tests.get(id(node))
        if work is None:
            work = self.comparison(node) if type(node) is Comparison else self.condition(node)
            if type(node) not in (And, Or):
                self.tests[id(node)] = work
        return work

    def comparison(self, node: Comparison) -> tuple[_Work, ...]:
        operator, left, right, span, *_ = node
        if type(left) is Identifier and type(right) is Literal:
            operand = "slot+text" if right.kind == "string" else "slot+constant"
            return self.fused(operator, operand, left, right.value, span)
        if self.quick and isinstance(right, Literal):
            return _Operand(left), (CHOICE[operator, "constant", ""], self.constant(right.value), span)
        return _Operand(left), _Operand(right), (CHOICE[operator, "", ""], 0, span)

    def condition(self, node: Node) -> tuple[_Work, ...]:
        span = node.span
        match node:
            case And(operands) | Or(operands):
                jump, connect = _JOINED[type(node), node.rule]
                end = _Label()
                before: tuple[_Work, ...] = ((jump, end, span),) if jump else ()
                behind: _Work = (connect, 0, span)
                work: list[_Work] = [operands[0]]
                for operand in operands[1:]:
                    work += (*before, operand, behind)
                return (*work, end)
            case Not(operand):
                return operand, ("NOT", 0, span)
            case Literal():
                return (("PUSH_TRUTH", int(node.value), span),)
            case Computed():
                return (("COMPUTED", node.number, span),)
            case Identifier():
                return _Operand(node), ("AS_TRUTH", 0, span)
            case IsNull(negated, identifier):
                op = CHOICE["IS NOT NULL" if negated else "IS NULL", "slot", ""]
                return ((op, self.slot(identifier), span),)
            case In(negated, identifier, choices):
                return self.fused("NOT IN" if negated else "IN", "slot+strings", identifier, choices, span)
            case Like(negated, identifier):
                relation = "NOT LIKE" if negated else "LIKE"
                short = max(self.slot(identifier), len(self.pool)) < FUSED_LIMIT
                if self.quick and short and node.shape != "pattern":
                    return self.fused(relation, "slot+text", identifier, node.affix, span, affix=node.shape)
                return self.fused(relation, "slot+pattern", identifier, Pattern(node.pattern, node.escape), span)
            case Between(negated, operand, low, high):
                return self.between(node, negated, operand, low, high)
        raise AssertionError(node)

    def between(self, node: Between, negated: bool, operand: Node, low: Node, high: Node) -> tuple[_Work, ...]:
        if node.null is None and not isinstance(high, Literal):
            # The upper bound is not evaluated, nor a property there read, where the lower one decides.
            first = Comparison(BOUNDS[negated][0], operand, low, node.span, node.other)
            second = Comparison(BOUNDS[negated][1], operand, high, node.span, node.other)
            return ((Or if negated else And)((first, second), node.span),)
        relation = "NOT BETWEEN" if negated else "BETWEEN"
        if self.quick and isinstance(low, Literal) and isinstance(high, Literal):
            numbers = self.constant(low.value), self.constant(high.value)
            if max(numbers) < FUSED_LIMIT:
                short = numbers[0] | numbers[1] << FUSED_BITS
                return _Operand(operand), (CHOICE[relation, "constant+constant", ""], short, node.span)
        return _Operand(operand), _Operand(low), _Operand(high), (CHOICE[relation, "", ""], 0, node.span)

    def fused(
        self, relation: str, operand: str, identifier: Identifier, constant: Constant, span: Span, affix: str = ""
    ) -> tuple[_Work, ...]:
        """Bring a property and a constant together: in one instruction with this type of *operand*, where both fit."""
        slot, number = self.slot(identifier), self.constant(constant)
        if self.quick and slot < FUSED_LIMIT and number < FUSED_LIMIT:
            return ((CHOICE[relation, operand, affix], slot | number << FUSED_BITS, span),)
        push = ("PUSH_SLOT", slot, identifier.span)
        of_values = CHOICE.get((relation, "", ""))
        if of_values is None:
            return push, (CHOICE[relation, operand.removeprefix("slot+"), ""], number, span)
        return push, ("PUSH_CONSTANT", number, span), (of_values, 0, span)

    def value(self, node: Node) -> list[_Work]:
        """Replace "the value of *node*"."""
        match node:
            case Literal():
                return [("PUSH_CONSTANT", self.constant(node.value), node.span)]
            case Identifier():
                return [("PUSH_SLOT", self.slot(node), node.span)]
            case Sign(operator, operand):
                return [_Operand(operand), (CHOICE[f"unary {operator}", "", ""], 0, node.span)]
            case Arithmetic(operators, operands):
                first, second = operands[:2]
                work: list[_Work] = [_Operand(first)]
                pairs = zip(operators, operands[1:], strict=True)
                if type(first) is Identifier and type(second) is Literal:
                    next(pairs)
                    work = [*self.fused(operators[0], "slot+constant", first, second.value, node.span)]
                for operator, operand in pairs:
                    if self.quick and isinstance(operand, Literal):
                        work.append((CHOICE[operator, "constant", ""], self.constant(operand.value), node.span))
                    else:
                        work += (_Operand(operand), (CHOICE[operator, "", ""], 0, node.span))
                return work
        return [node, ("AS_VALUE", 0, node.span)]

    def branch(self, work: _Branch) -> list[_Work]:
        """Replace "go to yes or no": connectives into their operands, a test into itself and one branch."""
        node, positive, yes, no, follows, unknown = work
        cls = type(node)
        if cls is Not:
            return [_branch((node.operand, not positive, yes, no, follows, unknown))]  # type: ignore[union-attr]
        if (cls is And or cls is Or) and not self.needs_all(node, positive=positive):
            if isinstance(node, Or) and positive and unknown is None and id(node) not in self.failing:
                switches = self.switches(node)
                if len(switches) < len(node.operands):
                    return self.alternatives(switches, work)
            return self.connective(work)
        pieces = [*self.truth(node)]
        if unknown is not None and self.may_be_unknown(node):
            op = "RESTART_IF_UNKNOWN" if unknown is self.exact else "BRANCH_IF_UNKNOWN"
            pieces.append((op, unknown, node.span))
        if follows is yes:
            op, target = ("BRANCH_UNLESS_TRUE" if positive else "BRANCH_UNLESS_FALSE"), no
        else:
            op, target = ("BRANCH_IF_TRUE" if positive else "BRANCH_IF_FALSE"), yes
        pieces.append((op, target, node.span))
        return pieces

    def needs_all(self, node: Node, *, positive: bool) -> bool:
        """Report whether a connective is TRUE, or FALSE if not *positive*, of other messages than Kleene's is."""
        rule: str = node.rule  # type: ignore[union-attr]
        return id(node) in self.failing if rule == "eager" else rule == "first" and not positive

    def connective(self, work: _Branch) -> list[_Work]:
        """Replace "go to yes or no" for AND and OR.

        Behind an operand that is UNKNOWN the rest can no longer make the whole what it might have been, but it can
        decide it, or be ERR. A copy of the rest finds that out. Copies of copies grow with the square of the depth:
        when they have used up their budget, an UNKNOWN begins again in the exact code.
        """
        node, positive, yes, no, follows, unknown = work
        operands = children(node)
        last = len(operands) - 1
        every = isinstance(node, And) == positive  # must hold; else one suffices
        copied, long = last, True
        is_first = (
            cast("And | Or", node).rule == "first"
        )  # what decides is the operand at which evaluation stops, or the last
        if is_first:
            copied = 0
        elif unknown is None:
            # UNKNOWN may pass for "no": where all must hold it matters only up to the last operand that can be ERR.
            copied = 0
            if every and self.failing:
                copied = max([place for place in range(last + 1) if id(operands[place]) in self.failing], default=0)
        if copied and unknown is not self.exact:
            weight = sum([self.weights[id(operand)] for operand in operands[1 : copied + 1]])
            long = weight > self.budget
            if not long:
                self.budget -= weight
        labels = [self.exact] * copied if long else [_Label() for _ in range(copied)]
        pieces: list[_Work] = []
        for place, operand in enumerate(operands):
            otherwise = labels[place] if place < copied else unknown
            if is_first and not every and place < last:
                otherwise = None  # OR goes on
            following = _Label()
            if place < last:
                ends = (following, no) if every else (yes, following)
            else:
                # Copies may stand between the last operand and what follows.
                ends = (following, no) if follows is yes else (yes, following)
            pieces += (_branch((operand, positive, *ends, following, otherwise)), following)
        return pieces if long else [*pieces, _Copies(work, labels)]

    def copies(self, piece: _Copies) -> list[_Work]:
        """Replace "what is behind an operand that was UNKNOWN", if one can be."""
        (node, positive, yes, no, follows, unknown), labels = piece
        first = next((place for place, label in enumerate(labels) if label), None)
        if first is None:
            return []
        every = isinstance(node, And) == positive
        decided, done = no if every else yes, no if unknown is None else unknown
        pieces: list[_Work] = [("JUMP", follows, node.span)]
        labels = [*labels[first:], _Label()]
        for label, following, operand in zip(labels, labels[1:], children(node)[first + 1 :], strict=False):
            pieces += [label, _Branch(operand, positive != every, decided, following, following, None)]
        return [*pieces, labels[-1], ("JUMP", done, node.span)]

    def switches(self, node: Or) -> list[Node | _Switch]:
        """Gather runs of ``x = 'a' AND …`` over one property: at most one string of each run can be the value of x.

        What is read, and in which order, stays the same; nothing in *node* or behind it can be ERR, so an UNKNOWN may
        pass for "not TRUE".
        """
        gathered: list[Node | _Switch] = []
        for operand in node.operands:
            first, *rest = operand.operands if isinstance(operand, And) else (operand,)
            last = gathered[-1] if gathered else None
            match first:
                case Comparison("=", Identifier() as name, Literal("string", str() as text)):
                    if not isinstance(last, _Switch) or last.identifier != name:
                        last = _Switch(name, {}, [])
                        gathered.append(last)
                    last.cases.setdefault(text, []).append(tuple(rest))
                    last.operands.append(operand)
                case _:
                    gathered.append(operand)
        flat: list[Node | _Switch] = []
        for piece in gathered:
            if isinstance(piece, _Switch) and (
                len(piece.cases) < MIN_CASES or self.slot(piece.identifier) >= FUSED_LIMIT
            ):
                flat.extend(piece.operands)
            else:
                flat.append(piece)
        return flat

    def alternatives(self, pieces: list[Node | _Switch], work: _Branch) -> list[_Work]:
        """Replace "one of the pieces is TRUE", where some are switches."""
        todo: list[_Work] = []
        for place, piece in enumerate(pieces):
            last = place == len(pieces) - 1
            following = work.no if last else _Label()
            if isinstance(piece, _Switch):
                todo += self.switch(piece, work, following)
            else:
                todo.append(
                    _Branch(piece, True, work.yes, following, work.follows if last else following, work.unknown)
                )
            if not last:
                todo.append(following)
        return todo

    def switch(self, switch: _Switch, work: _Branch, following: _Label) -> list[_Work]:
        """Look the property up among the strings; behind each string stands what else must be TRUE with it."""
        span = work.node.span
        strings = self.constant(tuple(switch.cases))
        todo: list[_Work] = [("SWITCH_SLOT", self.slot(switch.identifier) | strings << FUSED_BITS, span)]
        bodies: list[_Work] = [("JUMP", following, span)]
        for rests in switch.cases.values():
            body = work.yes
            if () not in rests:
                body = _Label()
                bodies.append(body)
                for rest in rests:
                    condition = rest[0] if len(rest) == 1 else And(rest, span)
                    otherwise = _Label()
                    bodies += [_Branch(condition, True, work.yes, otherwise, otherwise, work.unknown), otherwise]
                bodies.append(("JUMP", following, span))
            todo.append(("JUMP", body, span))
        return todo + bodies

    @staticmethod
    def may_be_unknown(node: Node) -> bool:
        if isinstance(node, Between):
            return node.null is None or node.other is Truth.UNKNOWN
        return not isinstance(node, (IsNull, Literal))

    # ---- pools

    def slot(self, identifier: Identifier) -> int:
        return self.slots[self.selector.names[identifier.name]]

    def constant(self, value: Constant) -> int:
        key = (type(value), value.hex() if isinstance(value, float) else value)
        number = self.constants.get(key)
        if number is None:
            number = self.constants[key] = len(self.pool)
            self.pool.append(value)
        return number
