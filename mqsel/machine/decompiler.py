"""Program to tree: the way back, for what runs a selector in another form than its code.

A matcher travels as its program, and nothing is parsed again. The tree of the exact code says all that the code does,
and is found by one walk over it, with trees on the stacks. Takes only what the compiler writes: other code may be safe
to run and mean something that no selector does. Knows the instruction table; the inverse of `compiler`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

from mqsel.errors import SelectorError
from mqsel.language.checker import check_types
from mqsel.language.nodes import (
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
    walk,
)
from mqsel.language.operators import RELATIONS
from mqsel.language.selector import Selector
from mqsel.machine.opcodes import TABLE, Constant, Opcode, Pattern
from mqsel.machine.program import Program, operands

_KINDS: dict[type, str] = {bool: "boolean", int: "exact", float: "approximate", str: "string", bytes: "bytes"}
_AFFIXES = {"prefix": "{}%", "suffix": "%{}", "contains": "%{}%"}
_ESCAPE = "\\"
# What the optimizer computes and no literal says.
_INFINITE = Arithmetic(("*",), (Literal("approximate", 1e300), Literal("approximate", 1e300)))
_NOT_FINITE: dict[str, Node] = {
    "inf": _INFINITE,
    "-inf": Sign("-", _INFINITE),
    "nan": Arithmetic(("-",), (_INFINITE, _INFINITE)),
}
_JUMPS = {"JUMP_IF_FALSE": "AND", "JUMP_IF_TRUE": "OR"}


class UnknownShapeError(Exception):
    """The compiler does not write such code."""


@dataclass(slots=True)
class _Chain:
    """Operands of an AND or OR that is not complete, or of a sum or product that may go on.

    Attributes:
        name: AND or OR; of a sum "+", of a product "*".
        end: address behind an AND or OR.
        operands: those that are complete.
        signs: what stands behind each operand: one fewer, or as many while the next operand is read.
    """

    name: str
    end: int
    operands: list[Node]
    signs: list[str]


_Stacked = Node | _Chain
_LEVELS = {"+": "+", "-": "+", "*": "*", "/": "*"}


def read_back(program: Program) -> Selector:
    """Give the selector that the exact code of *program* means; its names are those of properties.

    Raises: UnknownShapeError: no compiler wrote this code.
    """
    try:
        node = _Reader(program).root()
        order = walk(node)
        check_types(order, program.text)
    except (SelectorError, IndexError) as error:
        raise UnknownShapeError(str(error)) from error
    names = {name: name for name in program.slots}
    return Selector(program.text, program.dialect, node, order, names, None, None)


class _Reader:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.names = [Identifier(name) for name in program.slots]
        self.values: list[_Stacked] = []
        self.truths: list[_Stacked] = []

    def root(self) -> Node:
        code = self.program.code
        for address in range(self.program.exact, len(code)):
            word = code[address]
            row = TABLE[word & 0xFF]
            if row.name == "RETURN":
                if address != len(code) - 1:
                    raise UnknownShapeError("code behind its end")
                return self.truth()
            self.step(row, operands(row, word), address)
        raise UnknownShapeError("no end")

    def truth(self) -> Node:
        top = self.truths.pop()
        if isinstance(top, _Chain):
            raise UnknownShapeError("a chain that is not complete")
        return top

    def value(self) -> Node:
        return self.tree(self.values.pop())

    def tree(self, found: _Stacked) -> Node:
        """Close a sum or product."""
        return Arithmetic(tuple(found.signs), tuple(found.operands)) if isinstance(found, _Chain) else found

    def literal(self, number: int) -> Node:
        constant = self.program.constants[number]
        if isinstance(constant, float) and not math.isfinite(constant):
            return _NOT_FINITE[repr(constant)]
        kind = _KINDS.get(type(constant))
        if kind is None:
            raise UnknownShapeError("a constant that no selector has")
        return Literal(kind, constant)  # type: ignore[arg-type]

    def step(self, row: Opcode, numbers: tuple[int, ...], address: int) -> None:
        """Do with trees what an instruction does with values."""
        if row.name in _JUMPS:
            self.jump(_JUMPS[row.name], numbers[0])
        elif row.name in ("AND", "OR"):
            self.join(row.name, address)
        elif row.name == "PUSH_TRUTH":
            self.truths.append(Literal("boolean", bool(numbers[0])))
        elif row.name == "AS_TRUTH":
            self.truths.append(self.value())
        elif row.name == "AS_VALUE":
            self.values.append(self.truth())
        elif row.name == "NOT":
            self.truths.append(Not(self.truth()))
        elif row.name == "PUSH_SLOT":
            self.values.append(self.names[numbers[0]])
        elif row.name == "PUSH_CONSTANT":
            self.values.append(self.literal(numbers[0]))
        elif row.operator:
            self.operate(row, numbers)
        else:
            raise UnknownShapeError(f"{row.name} in the exact code")

    def jump(self, name: str, target: int) -> None:
        """Go on with a chain, or begin one."""
        top = self.truths[-1]
        chain = top if isinstance(top, _Chain) else _Chain(name, target, [top], [])
        if chain.name != name or chain.end != target or len(chain.signs) != len(chain.operands) - 1:
            raise UnknownShapeError("jumps that do not fit")
        chain.signs.append(name)
        self.truths[-1] = chain

    def join(self, name: str, address: int) -> None:
        last = self.truth()
        chain = self.truths[-1]
        if not isinstance(chain, _Chain) or chain.name != name or len(chain.signs) != len(chain.operands):
            raise UnknownShapeError("an operand that is not jumped over")
        chain.operands.append(last)
        if address + 1 == chain.end:
            operands = tuple(chain.operands)
            self.truths[-1] = And(operands) if name == "AND" else Or(operands)

    def operate(self, row: Opcode, numbers: tuple[int, ...]) -> None:
        """Take the operands at hand, those an instruction names first if it names a property."""
        types = row.operand.split("+") if row.operand else []
        if types[:1] == ["slot"]:
            self.values.append(self.names[numbers[0]])
            types, numbers = types[1:], numbers[1:]
        if row.operator in ("IS NULL", "IS NOT NULL"):
            self.truths.append(IsNull(row.negated, self.name()))
        elif row.affix or (types and types[0] in ("strings", "pattern")):
            self.truths.append(self.match(row, self.program.constants[numbers[0]]))
        else:
            self.values += [self.literal(number) for number in numbers]
            self.compute(row)

    def name(self) -> Identifier:
        found = self.value()
        if not isinstance(found, Identifier):
            raise UnknownShapeError("no property where one stands")
        return found

    def match(self, row: Opcode, constant: Constant) -> Node:
        """IN and LIKE."""
        name = self.name()
        if isinstance(constant, Pattern):
            return Like(row.negated, name, constant.text, constant.escape)
        if isinstance(constant, str):
            for special in (_ESCAPE, "%", "_"):
                constant = constant.replace(special, _ESCAPE + special)
            return Like(row.negated, name, _AFFIXES[row.affix].format(constant), _ESCAPE)
        if not constant:
            raise UnknownShapeError("a list without strings")
        return In(row.negated, name, cast("tuple[str, ...]", constant))

    def compute(self, row: Opcode) -> None:
        if row.operator.startswith("unary "):
            self.values.append(Sign(row.operator[-1], self.value()))
        elif row.operator in RELATIONS:
            right, left = self.value(), self.value()
            self.truths.append(Comparison(row.operator, left, right))
        elif row.operator in _LEVELS:
            right, level = self.value(), _LEVELS[row.operator]
            before: _Stacked = self.values[-1]
            goes_on = isinstance(before, _Chain) and before.name == level
            chain = cast("_Chain", before) if goes_on else _Chain(level, 0, [self.tree(before)], [])
            chain.signs.append(row.operator)
            chain.operands.append(right)
            self.values[-1] = chain
        else:  # BETWEEN
            high, low, operand = self.value(), self.value(), self.value()
            self.truths.append(Between(row.negated, operand, low, high))
