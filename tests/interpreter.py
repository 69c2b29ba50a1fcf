"""The meaning of a program, written a second time: a plain interpreter of the instruction table.

Written from the effects and synopses of opcodes.py; shares nothing with the machine, the verifier or what decodes
programs into steps. A fused instruction is the row of its parents. What operations make of values is the oracle's.
Holds every program to what its verifier promised: stacks that never lack what is taken, and never outgrow their depth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import oracle
from oracle import ERR, FALSE, NULL, TRUE, UNKNOWN

from mqsel.machine.opcodes import CODE, TABLE, Pattern, effect

if TYPE_CHECKING:
    from mqsel.machine.opcodes import Opcode
    from mqsel.machine.program import Program

_SIGNS = {
    "EQUAL": "=",
    "NOT_EQUAL": "<>",
    "LESS": "<",
    "LESS_EQUAL": "<=",
    "GREATER": ">",
    "GREATER_EQUAL": ">=",
    "ADD": "+",
    "SUBTRACT": "-",
    "MULTIPLY": "*",
    "DIVIDE": "/",
    "REMAINDER": "%",
    "PLUS": "+",
    "NEGATE": "-",
}
# For which truth values a jump is taken; those that begin with BRANCH drop the truth value.
_TAKEN = {
    "JUMP_IF_FALSE": {FALSE},
    "JUMP_IF_TRUE": {TRUE},
    "JUMP_UNLESS_TRUE": {FALSE, UNKNOWN},
    "BRANCH_IF_TRUE": {TRUE},
    "BRANCH_UNLESS_TRUE": {FALSE, UNKNOWN},
    "BRANCH_IF_FALSE": {FALSE},
    "BRANCH_UNLESS_FALSE": {TRUE, UNKNOWN},
}


def run(program: Program, properties: oracle.Properties, start: int) -> str:
    """Run *program* from the instruction at *start*: 0, or that of the exact code.

    Args:
        properties: (type, value) by name; a name that is absent is NULL.

    Returns:
        "TRUE", "FALSE", "UNKNOWN" or "ERR".
    """
    try:
        return _Run(program, properties).run(start)
    except oracle._SelectorIsFalseError:
        return ERR


class _Run:
    def __init__(self, program: Program, properties: oracle.Properties) -> None:
        self.program = program
        self.code = program.code
        self.oracle = oracle._Message(properties, program.dialect)
        self.values: list[oracle.Value] = []
        self.truths: list[str] = []

    def run(self, address: int) -> str:
        for _ in range(2 * len(self.code)):
            word = self.code[address]
            row, operand = TABLE[word & 0xFF], word >> 8
            short = row.operand == "" or "+" in row.operand
            numbers = [operand & 0xFFF, operand >> 12] if short else [operand]
            if row.name == "RETURN":
                assert (self.values, len(self.truths)) == ([], 1)
                return self.truths.pop()
            if row.name == "RETURN_TRUTH":
                assert (self.values, self.truths) == ([], [])
                return TRUE if operand else FALSE
            if "target" in row.operand or row.name == "SWITCH_SLOT":
                address = self.control(row.name, address, numbers)
            else:
                self.compute(row, numbers)
                address += 1
            assert len(self.values) <= self.program.value_depth
            assert len(self.truths) <= self.program.truth_depth
        raise AssertionError("a program ends within its length, in each of its parts")

    def control(self, name: str, address: int, numbers: list[int]) -> int:
        """Return the address of the next instruction."""
        target = numbers[0]
        match name:
            case "JUMP":
                return target
            case "SWITCH_SLOT":
                strings = self.program.constants[numbers[1]]
                kind, value = self.slot(numbers[0])
                if kind == "string" and value in strings:
                    return address + 1 + strings.index(value)
                if kind not in ("string", "null"):
                    self.oracle.mismatch()
                return address + 1 + len(strings)
            case "BRANCH_IF_UNKNOWN" if self.truths[-1] == UNKNOWN:
                self.truths.pop()
                return target
            case "RESTART_IF_UNKNOWN" if self.truths[-1] == UNKNOWN:
                self.values.clear()
                self.truths.clear()
                return target
            case "BRANCH_IF_UNKNOWN" | "RESTART_IF_UNKNOWN":
                return address + 1
        truth = self.truths.pop()
        if name.startswith("JUMP"):
            self.truths.append(truth)
        return target if truth in _TAKEN[name] else address + 1

    def compute(self, row: Opcode, numbers: list[int]) -> None:
        """Do what an instruction does that goes on to the next."""
        for name in row.parent or (row.name,):
            plain = TABLE[CODE[name]]
            values_in, truths_in, values_out, truths_out = effect(plain)
            values = [self.values.pop() for _ in range(values_in)][::-1]
            truths = [self.truths.pop() for _ in range(truths_in)][::-1]
            number = numbers.pop(0) if plain.operand else 0
            result: Any = self.value(name, number, values, truths) if values_out else None
            if values_out:
                self.values.append(result)
            if truths_out:
                self.truths.append(self.truth(name, row, number, values, truths))

    def slot(self, number: int) -> oracle.Value:
        """Read a property: under mqi names also by its other spelling, as `usr.x`."""
        name, given = self.program.slots[number], self.oracle.properties
        aliased = self.program.dialect.headers == "mqi" and "." not in name and not name.startswith("JMS")
        spelling = name if name in given or not aliased else "usr." + name
        if self.program.dialect.headers == "folded":
            spelling = next((one for one in given if one.casefold() == name.casefold()), name)
        return self.oracle.read(spelling) if spelling in given else NULL

    def value(self, name: str, number: int, values: list[oracle.Value], truths: list[str]) -> oracle.Value:
        match name:
            case "PUSH_SLOT":
                return self.slot(number)
            case "PUSH_CONSTANT":
                return _typed(self.program.constants[number])
            case "AS_VALUE":
                return NULL if truths == [UNKNOWN] else ("boolean", truths == [TRUE])
            case "PLUS" | "NEGATE":
                return self.oracle.sign(_SIGNS[name], *values)
        return self.oracle.arithmetic(_SIGNS[name], *values)

    def truth(self, name: str, row: Opcode, number: int, values: list[oracle.Value], truths: list[str]) -> str:
        match name:
            case "PUSH_TRUTH":
                return TRUE if number else FALSE
            case "IS_NULL" | "IS_NOT_NULL":
                return _truth((self.slot(number)[0] == "null") == (name == "IS_NULL"))
            case "AND" | "OR":
                decisive = FALSE if name == "AND" else TRUE
                return decisive if decisive in truths else UNKNOWN if UNKNOWN in truths else truths[0]
            case "RIGHT":
                return truths[1]
            case "NOT":
                return {TRUE: FALSE, FALSE: TRUE}.get(truths[0], UNKNOWN)
            case "AS_TRUTH":
                kind, value = values[0]
                return UNKNOWN if kind == "null" else _truth(value) if kind == "boolean" else self.oracle.mismatch()
            case "BETWEEN" | "NOT_BETWEEN":
                return self.between(name == "NOT_BETWEEN", *values)
            case "IN" | "NOT_IN" | "LIKE" | "NOT_LIKE":
                kind, value = values[0]
                if kind != "string":
                    return UNKNOWN if kind == "null" else self.oracle.mismatch()
                constant = self.program.constants[number]
                if isinstance(constant, str):  # 'text%', '%text' or '%text%', as the synopsis says
                    escaped = "".join(f"!{point}" if point in "!%_" else point for point in constant)
                    constant = Pattern(row.synopsis.split("'")[1].replace("text", escaped), "!")
                found = oracle._like(value, *constant) if isinstance(constant, Pattern) else value in constant
                return _truth(found != ("NOT" in row.name))
        return self.oracle.compare(_SIGNS[name], *values)

    def between(self, negated: bool, operand: oracle.Value, low: oracle.Value, high: oracle.Value) -> str:
        """Language §5: `>= AND <=`, negated `< OR >`; §2: `between_null` says what a NULL makes of them."""
        if self.program.dialect.between_null == "literal" and NULL in (operand, low, high):
            return _truth(negated)
        decisive = TRUE if negated else FALSE
        first = self.oracle.compare("<" if negated else ">=", operand, low)
        if first == decisive:
            return first
        second = self.oracle.compare(">" if negated else "<=", operand, high)
        return second if first != UNKNOWN or second == decisive else UNKNOWN


def _truth(condition: object) -> str:
    return TRUE if condition else FALSE


def _typed(constant: object) -> oracle.Value:
    kinds = {bool: "boolean", int: "int64", float: "float64", str: "string", bytes: "bytes"}
    return kinds[type(constant)], constant
