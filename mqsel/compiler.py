"""Tree to program: the only emitter of opcodes.

A selector with connectives becomes two pieces of code. The exact one keeps truth values on a stack and gives all four.
The quick one before it only answers "is it TRUE": it is jumps alone, threaded straight to their ends, NOT being the
other polarity of a test. UNKNOWN counts as "not TRUE" there (Kleene's connectives are monotone), except where a test
that would then be passed over could be ERR: such a place begins again in the exact code. ERR itself ends a program
at once, in both codes, because no connective that evaluates it survives it (LANGUAGE §1).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from mqsel import errors
from mqsel.checker import Checked
from mqsel.errors import Span
from mqsel.nodes import (
    And,
    Arithmetic,
    Between,
    Comparison,
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
from mqsel.opcodes import CODE, FUSED_BITS, FUSED_LIMIT, OPERAND_LIMIT, TABLE
from mqsel.program import Constant, Pattern, Program, encode_code, encode_spans

_RELATIONS = {
    "=": "EQUAL",
    "<>": "NOT_EQUAL",
    "<": "LESS",
    "<=": "LESS_EQUAL",
    ">": "GREATER",
    ">=": "GREATER_EQUAL",
}
_ARITHMETIC = {"+": "ADD", "-": "SUBTRACT", "*": "MULTIPLY", "/": "DIVIDE"}
_SIGNS = {"+": "PLUS", "-": "NEGATE"}
MIN_CASES = 4  # strings from which one look-up is cheaper than comparing one after the other
_SHAPES = {"pattern": "LIKE", "prefix": "STARTS_WITH", "suffix": "ENDS_WITH", "contains": "CONTAINS"}


class _Label:
    """An address that is not known yet, and the instructions that wait for it."""

    __slots__ = ("address", "waiting")

    def __init__(self) -> None:
        self.address = -1
        self.waiting: list[int] = []


class _Truth(NamedTuple):
    """Work: leave the truth value of the node on the truth stack."""

    node: Node


class _Value(NamedTuple):
    """Work: leave the value of the node on the value stack."""

    node: Node


class _Branch(NamedTuple):
    """Work: go to ``yes`` if the node is TRUE (FALSE, where not ``positive``), else to ``no``.

    ``follows`` is the one of both that stands right behind. ``strict``: UNKNOWN may not pass for "no" here.
    """

    node: Node
    positive: bool
    yes: _Label
    no: _Label
    follows: _Label
    strict: bool


class _Switch(NamedTuple):
    """Operands of an OR that each demand another string of one property: string -> what else each demands."""

    identifier: Identifier
    cases: dict[str, list[tuple[Node, ...]]]
    operands: list[Node]


# Work: emit an opcode with its operand and span; an operand that is a label is filled in when the label is placed.
_Instruction = tuple[str, int | _Label, Span]
_Work = _Truth | _Value | _Branch | _Instruction | _Label


def lower(checked: Checked, *, quick: bool = True) -> Program:
    """Write the program of *checked*.

    Args:
        quick: put the quick code before the exact one, and use fused instructions.

    Raises: SelectorLimitError: more slots, constants or instructions than an operand can number.
    """
    return _Lowering(checked, quick).program()


class _Lowering:
    def __init__(self, checked: Checked, quick: bool) -> None:
        self.checked = checked
        self.quick = quick
        self.slots = {name: slot for slot, name in enumerate(dict.fromkeys(checked.names.values()))}
        self.constants: dict[tuple[type, object], int] = {}
        self.pool: list[Constant] = []
        self.code: list[int] = []
        self.spans: list[Span] = []
        self.exact = _Label()
        self.failing: set[int] = set()  # ids of nodes that may be ERR; those of arithmetic too

    def program(self) -> Program:
        checked, root = self.checked, self.checked.node
        if checked.match_option is not None and not any(checked.match_option.identifier):
            # MQMI_NONE and MQCI_NONE match any message: IBM MQ 9.4, MatchOptions (LANGUAGE §8).
            root = Literal("boolean", True, root.span)
        if self.quick and isinstance(root, (And, Or, Not)):
            self.find_failing()
            yes, no = _Label(), _Label()
            self.emit([_Branch(root, True, yes, no, yes, False), yes])
            self.emit([("RETURN_TRUTH", 1, root.span), no, ("RETURN_TRUTH", 0, root.span)])
        self.emit([self.exact, _Truth(root), ("RETURN", 0, root.span)])
        if len(self.code) >= OPERAND_LIMIT or len(self.pool) >= OPERAND_LIMIT:
            raise errors.too_large(checked.text, "instructions", OPERAND_LIMIT)
        return Program(
            checked.text,
            checked.dialect,
            tuple(self.slots),
            tuple(self.pool),
            encode_code(self.code),
            encode_spans(self.spans),
            self.exact.address,
        )

    def find_failing(self) -> None:
        """Collect the nodes whose evaluation may be ERR, from the leaves up."""
        dialect = self.checked.dialect
        classes = set(map(type, self.checked.order))
        if dialect.type_mismatch == "operation" and not classes & {Arithmetic, Sign}:
            return
        for node in self.checked.order:
            parts = children(node)
            fails = any(id(part) in self.failing for part in parts)
            match node:
                case Arithmetic(operators, operands):
                    divides = any(
                        operator == "/" and not (isinstance(operand, Literal) and operand.value)
                        for operator, operand in zip(operators, operands[1:], strict=True)
                    )
                    fails = fails or divides or dialect.null_arithmetic == "selector"
                case Sign():
                    fails = fails or dialect.null_arithmetic == "selector"
                case Literal() | IsNull() | And() | Or() | Not():
                    pass
                case _:
                    fails = fails or dialect.type_mismatch == "selector"
            if fails:
                self.failing.add(id(node))

    # ---- the work list: each piece of work is replaced by simpler ones until instructions are left

    def emit(self, work: Iterable[_Work]) -> None:
        stack = list(work)[::-1]
        while stack:
            piece = stack.pop()
            if type(piece) is tuple:
                op, operand, span = piece  # type: ignore[misc]
                opcode = CODE[op]
                if type(operand) is _Label:
                    operand.waiting.append(len(self.code))
                    operand = 0
                assert not operand or TABLE[opcode].operand, f"{op} takes no operand"
                self.code.append(opcode | operand << 8)  # type: ignore[operator]
                self.spans.append(span)
            elif type(piece) is _Truth:
                stack += self.truth(piece.node)[::-1]
            elif type(piece) is _Branch:
                stack += self.branch(piece)[::-1]
            elif type(piece) is _Label:
                self.place(piece)
            elif type(piece) is _Value:
                stack += self.value(piece.node)[::-1]

    def place(self, label: _Label) -> None:
        label.address = len(self.code)
        for address in label.waiting:
            self.code[address] |= label.address << 8

    def truth(self, node: Node) -> list[_Work]:
        """Replace "the truth of *node*"."""
        span = node.span
        match node:
            case Comparison(operator, left, right):
                name = _RELATIONS[operator]
                if isinstance(left, Identifier) and isinstance(right, Literal):
                    stringy = right.kind == "string" and operator in ("=", "<>")
                    return self.test(
                        name, left, right.value, span, fused=f"{name}_SLOT_{'STRING' if stringy else 'CONSTANT'}"
                    )
                if self.quick and isinstance(right, Literal):
                    return [_Value(left), (f"{name}_CONSTANT", self.constant(right.value), span)]
                return [_Value(left), _Value(right), (name, 0, span)]
            case And(operands) | Or(operands):
                jump, connect = ("JUMP_IF_FALSE", "AND") if isinstance(node, And) else ("JUMP_IF_TRUE", "OR")
                end = _Label()
                work: list[_Work] = [_Truth(operands[0])]
                for operand in operands[1:]:
                    work += [(jump, end, span), _Truth(operand), (connect, 0, span)]
                return [*work, end]
            case Not(operand):
                return [_Truth(operand), ("NOT", 0, span)]
            case Literal():
                return [("PUSH_TRUTH", int(node.value), span)]
            case Identifier():
                return [_Value(node), ("AS_TRUTH", 0, span)]
            case IsNull(negated, identifier):
                return [("IS_NOT_NULL" if negated else "IS_NULL", self.slot(identifier), span)]
            case In(negated, identifier, choices):
                return self.test(
                    "NOT_IN" if negated else "IN",
                    identifier,
                    choices,
                    span,
                    fused="NOT_IN_SLOT" if negated else "IN_SLOT",
                )
            case Like(negated, identifier):
                negation = "NOT_" if negated else ""
                short = max(self.slot(identifier), len(self.pool)) < FUSED_LIMIT
                shaped = short and node.shape != "pattern"
                constant = node.affix if shaped else Pattern(node.pattern, node.escape)
                fused = _SHAPES[node.shape if shaped else "pattern"]
                return self.test(f"{negation}LIKE", identifier, constant, span, fused=f"{negation}{fused}_SLOT")
            case Between(negated, operand, low, high):
                return self.between(node, negated, operand, low, high)
        raise AssertionError(node)

    def between(self, node: Between, negated: bool, operand: Node, low: Node, high: Node) -> list[_Work]:
        if self.checked.dialect.between_null == "expand" and not isinstance(high, Literal):
            # The upper bound is not evaluated, nor a property there read, where the lower one decides.
            first = Comparison("<" if negated else ">=", operand, low, node.span)
            second = Comparison(">" if negated else "<=", operand, high, node.span)
            return [_Truth((Or if negated else And)((first, second), node.span))]
        op = "NOT_BETWEEN" if negated else "BETWEEN"
        if self.quick and isinstance(low, Literal) and isinstance(high, Literal):
            numbers = self.constant(low.value), self.constant(high.value)
            if max(numbers) < FUSED_LIMIT:
                short = numbers[0] | numbers[1] << FUSED_BITS
                return [_Value(operand), (f"{op}_CONSTANTS", short, node.span)]
        return [_Value(operand), _Value(low), _Value(high), (op, 0, node.span)]

    def test(
        self, name: str, identifier: Identifier, constant: Constant, span: Span, fused: str | None = None
    ) -> list[_Work]:
        """Test a property against a constant, in one instruction if there is one and its short operands suffice."""
        slot, number = self.slot(identifier), self.constant(constant)
        if fused and self.quick and slot < FUSED_LIMIT and number < FUSED_LIMIT:
            return [(fused, slot | number << FUSED_BITS, span)]
        work: list[_Work] = [("PUSH_SLOT", slot, identifier.span)]
        if TABLE[CODE[name]].operand:
            return [*work, (name, number, span)]
        return [*work, ("PUSH_CONSTANT", number, span), (name, 0, span)]

    def value(self, node: Node) -> list[_Work]:
        """Replace "the value of *node*"."""
        match node:
            case Literal():
                return [("PUSH_CONSTANT", self.constant(node.value), node.span)]
            case Identifier():
                return [("PUSH_SLOT", self.slot(node), node.span)]
            case Sign(operator, operand):
                return [_Value(operand), (_SIGNS[operator], 0, node.span)]
            case Arithmetic(operators, operands):
                work: list[_Work] = [_Value(operands[0])]
                for operator, operand in zip(operators, operands[1:], strict=True):
                    op = _ARITHMETIC[operator]
                    if self.quick and isinstance(operand, Literal):
                        work.append((f"{op}_CONSTANT", self.constant(operand.value), node.span))
                    else:
                        work += [_Value(operand), (op, 0, node.span)]
                return work
        return [_Truth(node), ("AS_VALUE", 0, node.span)]

    def branch(self, work: _Branch) -> list[_Work]:
        """Replace "go to yes or no": connectives into their operands, a test into itself and one branch."""
        node, positive, yes, no, follows, strict = work
        if isinstance(node, Not):
            return [_Branch(node.operand, not positive, yes, no, follows, strict)]
        if isinstance(node, (And, Or)):
            # All operands must hold (AND, or an OR that is to be FALSE), or one suffices.
            every = isinstance(node, And) == positive
            if isinstance(node, Or) and positive and not strict and id(node) not in self.failing:
                switches = self.switches(node)
                if len(switches) < len(node.operands):
                    return self.alternatives(switches, work)
            pieces: list[_Work] = []
            last = len(node.operands) - 1
            later_fails = [False] * (last + 1)
            for place in range(last - 1, -1, -1):
                later_fails[place] = later_fails[place + 1] or id(node.operands[place + 1]) in self.failing
            for place, operand in enumerate(node.operands):
                # Where one suffices, UNKNOWN goes on to the next operand, as it should.
                careful = strict or (every and later_fails[place])
                if place == last:
                    pieces.append(_Branch(operand, positive, yes, no, follows, careful))
                else:
                    following = _Label()
                    ends = (following, no) if every else (yes, following)
                    pieces += [_Branch(operand, positive, *ends, following, careful), following]
            return pieces
        pieces = [_Truth(node)]
        if strict and self.may_be_unknown(node):
            pieces.append(("RESTART_IF_UNKNOWN", self.exact, node.span))
        if follows is yes:
            op, target = ("BRANCH_UNLESS_TRUE" if positive else "BRANCH_UNLESS_FALSE"), no
        else:
            op, target = ("BRANCH_IF_TRUE" if positive else "BRANCH_IF_FALSE"), yes
        return [*pieces, (op, target, node.span)]

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
                todo.append(_Branch(piece, True, work.yes, following, work.follows if last else following, work.strict))
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
                    bodies += [_Branch(condition, True, work.yes, otherwise, otherwise, work.strict), otherwise]
                bodies.append(("JUMP", following, span))
            todo.append(("JUMP", body, span))
        return todo + bodies

    def may_be_unknown(self, node: Node) -> bool:
        if isinstance(node, (IsNull, Literal)):
            return False
        return not (isinstance(node, Between) and self.checked.dialect.between_null == "literal")

    # ---- pools

    def slot(self, identifier: Identifier) -> int:
        return self.slots[self.checked.names[identifier.name]]

    def constant(self, value: Constant) -> int:
        key = (type(value), value.hex() if isinstance(value, float) else value)
        number = self.constants.get(key)
        if number is None:
            number = self.constants[key] = len(self.pool)
            self.pool.append(value)
        return number
