"""Random programs that a verifier accepts, random messages for them, and the comparison of machine and interpreter.

A program is written as a random walk over the instruction table that knows the depths of both stacks: where two ways
meet they are equal, every jump goes forward within its part, every instruction is reached. Behind a test stands, more
often than elsewhere, what asks for its truth value: there the machine takes short cuts.
"""

from __future__ import annotations

import types
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import interpreter
import pytest
import strategies
from strategies import JMS_PRESETS

import mqsel
from mqsel.columns import _answers
from mqsel.errors import ProgramError, SelectorError
from mqsel.language.dialect import core_of
from mqsel.machine._verifier import encode_spans
from mqsel.machine.opcodes import CODE, TABLE, Constant, Opcode, Pattern, effect
from mqsel.machine.program import Program, encode_code
from mqsel.machine.schema import as_schema
from mqsel.matcher import Matcher
from mqsel.values import Truth

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

Rows = list[strategies.Properties]
Depths = tuple[int, int]

NAMES = ("a", "b", "n", "x", "flag", "JMSPriority")
_ROWS = {row.name: row for row in TABLE if row.operand != "test"}  # a test stands in the text of a program
_ENDS = ("RETURN", "RETURN_TRUTH")
# What may follow a test: all that takes the truth value, keeps it, or must find it where a jump leads.
_BEHIND = (
    *("BRANCH_IF_UNKNOWN", "BRANCH_IF_UNKNOWN", "BRANCH_IF_UNKNOWN", "RESTART_IF_UNKNOWN", "RESTART_IF_UNKNOWN"),
    *("BRANCH_IF_TRUE", "BRANCH_UNLESS_TRUE", "BRANCH_IF_FALSE", "BRANCH_UNLESS_FALSE"),
    *("JUMP_IF_FALSE", "JUMP_IF_TRUE", "JUMP", "RETURN", "SWITCH_SLOT", "AS_VALUE", "NOT", "AND"),
)


class _Label:
    """An address that is not known yet, and the depths that every way brings there."""

    def __init__(self, depths: Depths) -> None:
        self.depths = depths
        self.address = -1


class _Walk:
    """Writes one program."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.constants = _random_constants(rng)
        kinds = {tuple: "strings", Pattern: "pattern", str: "text"}
        self.numbers: dict[str, list[int]] = {"constant": [], "strings": [], "pattern": [], "text": []}
        for number, constant in enumerate(self.constants):
            self.numbers[kinds.get(type(constant), "constant")].append(number)
        self.numbers["constant"] += self.numbers["text"]
        self.numbers["slot"] = list(range(len(NAMES)))
        self.numbers["truth"] = [0, 1]
        self.code: list[tuple[str, list[int | _Label]]] = []
        self.exact = _Label((0, 0))
        self.deepest = rng.choice((2, 3, 4, 4, 5, 40))

    def program(self) -> Program:
        rng = self.rng
        if rng.random() < 0.7:
            self.part(rng.randrange(1, 50), quick=True)
        self.exact.address = len(self.code)
        self.part(rng.randrange(1, 50), quick=False)
        text = "a = 1"
        words: list[int] = []
        spans: list[tuple[int, int]] = []
        for name, operands in self.code:
            first, *second = [each.address if isinstance(each, _Label) else each for each in operands] or [0]
            words.append(CODE[name] | first << 8 | (second[0] << 20 if second else 0))
            start = rng.randrange(len(text) + 1)
            spans.append((start, rng.randrange(start, len(text) + 1)))
        dialect = JMS_PRESETS[rng.choice(list(JMS_PRESETS))]
        return Program(
            text, dialect, NAMES, self.constants, encode_code(words), encode_spans(spans), self.exact.address
        )

    def part(self, length: int, *, quick: bool) -> None:
        """Write one of the two codes: *length* instructions, and what empties the stacks behind each open label."""
        stop = len(self.code) + length
        depths: Depths | None = (0, 0)
        pending: list[_Label] = []
        behind = False
        while depths is not None or pending:
            closing = len(self.code) >= stop
            if closing and quick and depths == (0, 0) and not pending and self.rng.random() < 0.3:
                return  # on into the exact code
            if depths is None:
                label = pending.pop(self.rng.randrange(len(pending)))
                label.address = len(self.code)
                depths = label.depths
            for label in [each for each in pending if each.depths == depths and self.rng.random() < 0.3]:
                pending.remove(label)
                label.address = len(self.code)
            row = self.choose(depths, closing=closing, quick=quick, behind=behind)
            _, truths_in, _, truths_out = effect(row)
            # A test, or what lets a truth value pass.
            behind = truths_out > truths_in or (truths_out > 0 and row.operand == "target")
            depths = self.write(row, depths, pending)

    def choose(self, depths: Depths, *, closing: bool, quick: bool, behind: bool) -> Opcode:
        """Choose an instruction that finds on its stacks what it takes."""
        if closing:
            names: Sequence[str] = ("EQUAL", "LESS", "SUBTRACT") if depths[0] > 1 else ("AS_TRUTH", "IN", "NOT_LIKE")
            if not depths[0]:
                names = ("AND", "OR") if depths[1] > 1 else _ENDS
        elif behind and self.rng.random() < 0.7:
            names = _BEHIND
        else:
            names = list(_ROWS)
        most = self.deepest
        fitting: list[Opcode] = []
        weights: list[int] = []
        for row in map(_ROWS.__getitem__, names):
            values_in, truths_in, values_out, truths_out = effect(row)
            if (
                depths[0] >= values_in
                and depths[1] >= truths_in
                and (row.name not in _ENDS or depths == (values_in, truths_in))
                and (row.name != "RESTART_IF_UNKNOWN" or quick)
                and (closing or max(depths[0] - values_in + values_out, depths[1] - truths_in + truths_out) <= most)
            ):
                fitting.append(row)
                # Few instructions push values: without more weight few would find two or three of them.
                weights.append(1 + values_in**3 + 20 * (row.effect == "-- value"))
        return (
            self.rng.choices(fitting, weights)[0]
            if fitting
            else self.choose(depths, closing=True, quick=quick, behind=False)
        )

    def write(self, row: Opcode, depths: Depths, pending: list[_Label]) -> Depths | None:
        """Write an instruction with random operands; give the depths behind it, None if no way leads there."""
        values_in, truths_in, values_out, truths_out = effect(row)
        after = depths[0] - values_in + values_out, depths[1] - truths_in + truths_out
        if row.operand != "target":
            numbers: list[int | _Label] = [
                self.rng.choice(self.numbers[kind]) for kind in row.operand.split("+") if kind
            ]
            self.code.append((row.name, numbers))
            if row.name == "SWITCH_SLOT":
                for _ in self.constants[numbers[1]]:  # type: ignore[union-attr,index,call-overload]
                    self.code.append(("JUMP", [self.label(after, pending)]))
            return None if row.name in _ENDS else after
        if row.name == "RESTART_IF_UNKNOWN":
            label = self.exact
        else:
            label = self.label((after[0], after[1] - (row.name == "BRANCH_IF_UNKNOWN")), pending)
        self.code.append((row.name, [label]))
        return None if row.name == "JUMP" else after

    def label(self, depths: Depths, pending: list[_Label]) -> _Label:
        open_ones = [each for each in pending if each.depths == depths]
        if open_ones and self.rng.random() < 0.7:
            return self.rng.choice(open_ones)
        pending.append(_Label(depths))
        return pending[-1]


def _random_constants(rng: random.Random) -> tuple[Constant, ...]:
    """Draw constants of every kind, many of them values that messages hold too."""
    strings = [value for value in strategies._STRINGS if value != "\ud800"]
    constants: list[Constant] = [
        *rng.sample(strategies._INTEGERS + strategies._EXTREMES, 4),
        *rng.sample((*strategies._FLOATS, float("nan"), float("-inf")), 3),
        *rng.sample(strings, 3),
        *rng.sample(strategies._BYTES, 2),
        rng.random() < 0.5,
        (),
        tuple(rng.sample(strings, 2)),
        tuple(rng.choices(strings, k=3)),
        tuple(rng.sample(strings, 12)),
        Pattern("".join(rng.choices(["%", "_", "a", "d", "!", "e"], k=rng.randrange(6))), rng.choice((None, "!"))),
        Pattern(rng.choice(strings)[:2] + "%", None),
    ]
    rng.shuffle(constants)
    return tuple(constants)


def random_program(rng: random.Random) -> Program:
    """Draw a program, and let it travel."""
    return Program.from_bytes(_Walk(rng).program().to_bytes())


def random_rows(rng: random.Random, names: Sequence[str], count: int) -> Rows:
    """Draw messages in which a property has one type or is missing, so that they fit in a batch of columns."""
    pool: dict[str, list[Any]] = {}
    for _ in range(30 * len(names)):
        kind, value = strategies._typed(rng)
        if value != "\ud800":
            pool.setdefault(kind, []).append(value)
    kinds = {name: rng.choice(list(pool)) for name in names}
    return [
        {name: (kind, rng.choice(pool[kind])) for name, kind in kinds.items() if rng.random() < 0.75}
        for _ in range(count)
    ]


def assert_same(program: Program, rows: Rows) -> list[str]:
    """Compare machine and interpreter on messages of every form, and of a random program in columns too.

    The interpreter knows no operation but the core's of plain dialects: forms of others are compared with each other.

    Returns: the truth values of the exact code.
    """
    dicts = [strategies.to_message(row) for row in rows]
    names = tuple(dict.fromkeys([*(name for row in rows for name in row), "unread"]))
    tuples = [tuple([message.get(name) for name in names]) for message in dicts]
    plain, laid_out = Matcher(program), Matcher(program, as_schema(names))
    if core_of(program.dialect).is_plain:
        exact = [interpreter.run(program, row, program.exact) for row in rows]
        quick = [interpreter.run(program, row, 0) == "TRUE" for row in rows]
    else:
        exact = [Truth(plain.truth(message)).name for message in dicts]
        quick = [plain.matches(message) for message in dicts]
    forms: dict[str, tuple[Matcher, list[Any]]] = {
        "dict": (plain, dicts),
        "mapping": (plain, [types.MappingProxyType(message) for message in dicts]),
        "tuple": (laid_out, tuples),
        "list": (laid_out, [list(message) for message in tuples]),
        "record": (plain, [mqsel.Record(names, message) for message in tuples]),
    }
    for form, (matcher, messages) in forms.items():
        assert exact == [Truth(matcher.truth(message)).name for message in messages], form
        assert quick == [matcher.matches(message) for message in messages], form
        wanted = [message for message, selected in zip(messages, quick, strict=True) if selected]
        for stream in messages, iter(messages):
            found = list(matcher.filter(stream))
            assert list(map(id, wanted)) == list(map(id, found)), form
    if find_spec("pyarrow") and program.slots == NAMES:
        batch = _batch(rows)
        if not is_what_its_text_says(program):
            for ask in (_answers.truths, _answers.match_batch, _answers.refusal):
                with pytest.raises(ProgramError):
                    ask(plain, batch)
            return exact
        assert exact == [Truth(number).name for number in _answers.truths(plain, batch)], "batch"
        # The kernel knows the exact code alone; that the quick code says the same is the compiler's doing.
        by_exact = _answers.refusal(plain, batch) is None
        wanted = [truth == "TRUE" for truth in exact] if by_exact else quick
        assert wanted == _answers.match_batch(plain, batch).to_pylist(), "batch"
    return exact


def is_what_its_text_says(program: Program) -> bool:
    """Report whether the text of a program compiles to it, optimized or not."""
    try:
        compiled = [mqsel.compile(program.text, dialect=program.dialect, optimize=one).program for one in (True, False)]
    except SelectorError:
        return False
    return program in compiled


def _batch(rows: Rows) -> object:
    import pyarrow as pa

    types = {"boolean": pa.bool_(), "float32": pa.float32(), "float64": pa.float64(), "bytes": pa.binary()}
    types |= {f"int{width}": getattr(pa, f"int{width}")() for width in (8, 16, 32, 64)}
    types |= {"string": pa.string(), "null": pa.null()}
    columns = {}
    for name in NAMES:
        cells = [row.get(name, ("null", None)) for row in rows]
        kind = next((kind for kind, _ in cells if kind != "null"), "null")
        columns[name] = pa.array([value for _, value in cells], types[kind])
    return pa.RecordBatch.from_pydict(columns)
