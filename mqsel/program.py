"""The program: what a selector becomes, what travels to an executor, what is verified on arrival.

Owns the format of the bytes and the proof that a program ends and stays within its stacks. Knows the instruction
table and no tree. A jump goes strictly forward, so a program of n instructions ends within n steps of each part.

    bytes   : "MQSL" format:u8 version:text dialect text slots constants code spans crc32:u32
    dialect : one byte a field of CHOICES, then max_length (0 = None)
    numbers : LEB128 unless a width is given; texts are a length in bytes and UTF-8 (lone surrogates let through)
"""

from __future__ import annotations

import struct
import zlib
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from mqsel.dialect import CHOICES, Dialect
from mqsel.errors import ArgumentError, ProgramError, Span, quoted
from mqsel.opcodes import CODE, FUSED_BITS, FUSED_LIMIT, TABLE, Row, effect

VERSION = "0.1.0"
FORMAT_VERSION = 1

_MAGIC = b"MQSL"
_MAX_DEPTH = 4096  # far beyond what the parser's nesting limit can ask for
_MAX_MAX_LENGTH = (1 << 32) - 1


class Pattern(NamedTuple):
    """A LIKE pattern with its escape character, as a constant."""

    text: str
    escape: str | None


Constant = int | float | str | bytes | bool | tuple[str, ...] | Pattern


@dataclass(frozen=True, slots=True)
class Program:
    """A verified program.

    Attributes:
        text: the selector.
        slots: names of the properties it reads, in order of first reading.
        constants: int (INT64), float (FLOAT64), str, bytes, bool, a tuple of strings for IN, a `Pattern` for LIKE.
        code: one unsigned 32-bit word an instruction; see opcodes.py.
        spans: for each instruction the piece of the text it comes from.
        exact: address of the code that gives all four values. Code before it, if any, only answers "is it TRUE".
        value_depth, truth_depth: what the two stacks hold at most.
    """

    text: str
    dialect: Dialect
    slots: tuple[str, ...]
    constants: tuple[Constant, ...]
    code: tuple[int, ...]
    spans: tuple[Span, ...]
    exact: int
    value_depth: int = 0
    truth_depth: int = 0

    def __post_init__(self) -> None:
        depths = verify(self)
        object.__setattr__(self, "value_depth", depths[0])
        object.__setattr__(self, "truth_depth", depths[1])


# ---- verification ------------------------------------------------------------------------------------------------

_CONSTANT_KINDS: dict[str, tuple[type, ...]] = {
    "constant": (int, float, str, bytes, bool),
    "strings": (tuple,),
    "pattern": (Pattern,),
    "text": (str,),
}
_EFFECTS = [effect(row) for row in TABLE]
_SWITCH, _JUMP = CODE["SWITCH_SLOT"], CODE["JUMP"]
_ENDINGS = {CODE["RETURN"], CODE["RETURN_TRUTH"], _JUMP}
_RESTART = CODE["RESTART_IF_UNKNOWN"]


def operands(row: Row, word: int) -> tuple[int, ...]:
    """Take the operand of *word* apart into its numbers, one for each kind that *row* names."""
    operand = word >> 8
    if not row.operand:
        return ()
    if "+" in row.operand:
        return operand & (FUSED_LIMIT - 1), operand >> FUSED_BITS
    return (operand,)


def verify(program: Program) -> tuple[int, int]:
    """Prove that *program* cannot leave its stacks, its constants, its slots or its code, and that it ends.

    Returns: the greatest depth of the value stack and of the truth stack.
    Raises: ProgramError: with the address of the first instruction at fault.
    """
    code, size = program.code, len(program.code)
    if len(program.spans) != size:
        raise ProgramError(f"{len(program.spans)} spans for {size} instructions: expected one each")
    if not 0 <= program.exact < max(size, 1):
        raise ProgramError(f"the exact code begins at {program.exact}: the program has {size} instructions")
    for constant in program.constants:
        _check_constant(constant)
    # states[a]: depths on arrival at address a, from wherever.
    states: dict[int, tuple[int, int]] = {0: (0, 0), program.exact: (0, 0)}
    deepest_value = deepest_truth = 0
    if not code:
        raise ProgramError("the program is empty")
    for address, word in enumerate(code):
        state = states.get(address)
        if state is None:
            raise ProgramError("no way leads to this instruction", address=address)
        opcode = word & 0xFF
        if opcode >= len(TABLE):
            raise ProgramError(f"unknown opcode {opcode}: this mqsel has {len(TABLE)}", address=address)
        row = TABLE[opcode]
        values_in, truths_in, values_out, truths_out = _EFFECTS[opcode]
        values, truths = state[0] - values_in, state[1] - truths_in
        if values < 0 or truths < 0:
            raise ProgramError(f"{row.name} finds too little on its stack", address=address)
        values, truths = values + values_out, truths + truths_out
        deepest_value, deepest_truth = max(deepest_value, values), max(deepest_truth, truths)
        if max(values, truths) > _MAX_DEPTH:
            raise ProgramError(f"the stack grows beyond {_MAX_DEPTH}", address=address)
        target = _check_operands(program, address, row, word)
        if target is not None:
            arrival = (values, truths)
            if opcode == _RESTART:
                if target != program.exact or address >= program.exact:
                    raise ProgramError(f"{row.name} leads elsewhere than to the exact code", address=address)
                arrival = (0, 0)
            elif (target >= program.exact) != (address >= program.exact):
                raise ProgramError(f"{row.name} leaves its part of the code", address=address)
            if states.setdefault(target, arrival) != arrival:
                raise ProgramError("two ways lead here with different stacks", address=target)
        if opcode == _SWITCH:
            following = _check_cases(program, address, word)
            for case in range(address + 1, following):
                if states.setdefault(case, (values, truths)) != (values, truths):
                    raise ProgramError("two ways lead here with different stacks", address=case)
        else:
            following = address + 1
        falls = opcode not in _ENDINGS
        if not falls and opcode != _JUMP and (values or truths):
            raise ProgramError(f"{row.name} leaves something on the stack", address=address)
        if falls:
            if following >= size:
                raise ProgramError("the program runs off its end", address=address)
            if states.setdefault(following, (values, truths)) != (values, truths):
                raise ProgramError("two ways lead here with different stacks", address=following)
    return deepest_value, deepest_truth


def _check_constant(constant: Constant) -> None:
    """Check what bytes could not have brought, but a program made by hand could."""
    match constant:
        case bool() | float() | str() | bytes():
            sound = True
        case int():
            sound = -(1 << 63) <= constant < 1 << 63
        case Pattern():
            sound = type(constant.text) is str and (constant.escape is None or len(constant.escape) == 1)
        case tuple():
            sound = all(type(text) is str for text in constant)
        case _:
            sound = False
    if not sound:
        raise ProgramError(f"{constant!r} is no constant of a program")


def _check_cases(program: Program, address: int, word: int) -> int:
    """Check that as many JUMPs follow a SWITCH_SLOT as it has strings; give the address behind them."""
    strings = program.constants[operands(TABLE[_SWITCH], word)[1]]
    following = address + 1 + len(strings)  # type: ignore[arg-type]
    cases = program.code[address + 1 : following]
    if any(case & 0xFF != _JUMP for case in cases) or len(cases) != len(strings):  # type: ignore[arg-type]
        raise ProgramError(f"SWITCH_SLOT is not followed by {len(strings)} JUMPs", address=address)  # type: ignore[arg-type]
    return following


def _check_operands(program: Program, address: int, row: Row, word: int) -> int | None:
    """Check the ranges of one instruction's operands; give the target of a jump."""
    if not row.operand:
        if word >> 8:
            raise ProgramError(f"{row.name} has an operand: it takes none", address=address)
        return None
    for kind, operand in zip(row.operand.split("+"), operands(row, word), strict=True):
        if kind == "slot":
            if operand >= len(program.slots):
                raise ProgramError(f"{row.name} reads slot {operand} of {len(program.slots)}", address=address)
        elif kind == "target":
            if not address < operand < len(program.code):
                raise ProgramError(
                    f"{row.name} jumps to {operand}: a jump goes forward within the code", address=address
                )
            return operand
        elif kind == "truth":
            if operand > 1:
                raise ProgramError(f"{row.name} has the operand {operand}: expected 0 or 1", address=address)
        elif operand >= len(program.constants):
            raise ProgramError(f"{row.name} reads constant {operand} of {len(program.constants)}", address=address)
        elif type(program.constants[operand]) not in _CONSTANT_KINDS[kind]:
            found = type(program.constants[operand]).__name__
            raise ProgramError(f"{row.name} needs a {kind} constant, found {found}", address=address)
    return None


# ---- disassembly -------------------------------------------------------------------------------------------------


class Line(NamedTuple):
    """One instruction as data: what `disassemble` lists and `listing` prints."""

    address: int
    name: str
    operand: int
    resolved: str
    span: Span
    synopsis: str


def disassemble(program: Program) -> list[Line]:
    """List the instructions of *program*."""
    lines: list[Line] = []
    for address, (word, span) in enumerate(zip(program.code, program.spans, strict=True)):
        row = TABLE[word & 0xFF]
        resolved: list[str] = []
        for kind, operand in zip(row.operand.split("+"), operands(row, word), strict=False):
            match kind:
                case "slot":
                    resolved.append(program.slots[operand])
                case "target":
                    resolved.append(f"→ {operand}")
                case "truth":
                    resolved.append("TRUE" if operand else "FALSE")
                case _:
                    resolved.append(_shown(program.constants[operand]))
        lines.append(Line(address, row.name, word >> 8, ", ".join(resolved), span, row.synopsis))
    return lines


def _shown(constant: Constant) -> str:
    if isinstance(constant, Pattern):
        return quoted(constant.text) + (f" escape {quoted(constant.escape)}" if constant.escape else "")
    if isinstance(constant, tuple):
        return f"({', '.join([quoted(str(choice)) for choice in constant[:4]])}{', …' if len(constant) > 4 else ''})"
    if isinstance(constant, str):
        return quoted(constant)
    if isinstance(constant, bytes):
        return f'"0x{constant.hex().upper()}"'
    return str(constant).upper() if isinstance(constant, bool) else repr(constant)


def listing(program: Program) -> str:
    """Print `disassemble` as text, one line an instruction."""
    lines = disassemble(program)
    names = max(len(line.name) for line in lines)
    resolved = max(len(line.resolved) for line in lines)
    rows: list[str] = []
    for line in lines:
        if line.address == program.exact and program.exact:
            rows.append("      exact:")
        source = program.text[line.span[0] : line.span[1]]
        rows.append(f"{line.address:5} {line.name:{names}}  {line.resolved:{resolved}}  {quoted(source)}".rstrip())
    return "\n".join(rows)


# ---- bytes ---------------------------------------------------------------------------------------------------------


def _number(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _zigzag(value: int) -> bytes:
    return _number(value << 1 if value >= 0 else (-value << 1) - 1)


def _text(value: str) -> bytes:
    data = value.encode("utf-8", "surrogatepass")
    return _number(len(data)) + data


def _constant(value: Constant) -> bytes:
    if isinstance(value, bool):
        return b"t" if value else b"f"
    if isinstance(value, int):
        return b"i" + _zigzag(value)
    if isinstance(value, float):
        return b"d" + struct.pack("<d", value)
    if isinstance(value, str):
        return b"s" + _text(value)
    if isinstance(value, bytes):
        return b"x" + _number(len(value)) + value
    if isinstance(value, Pattern):
        return b"p" + _text(value.text) + _text(value.escape or "")
    return b"S" + _number(len(value)) + b"".join(map(_text, value))


def to_bytes(program: Program) -> bytes:
    """Write *program* for another process."""
    words = array("I", program.code)
    parts = [_MAGIC, bytes([FORMAT_VERSION]), _text(VERSION)]
    parts.append(bytes(CHOICES[name].index(getattr(program.dialect, name)) for name in CHOICES))
    parts += [_number(program.dialect.max_length or 0), _text(program.text)]
    parts += [_number(len(program.slots)), *map(_text, program.slots)]
    parts += [_number(len(program.constants)), *map(_constant, program.constants)]
    parts += [_number(len(words)), _number(program.exact), struct.pack(f"<{len(words)}I", *words)]
    before = 0
    for start, stop in program.spans:
        parts.append(_zigzag(start - before) + _zigzag(stop - start))
        before = start
    body = b"".join(parts)
    return body + struct.pack("<I", zlib.crc32(body))


class _Reader:
    """A place in foreign bytes; every read is checked against the end."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at

    def take(self, length: int) -> bytes:
        if length > len(self.data) - self.at:
            raise ProgramError(f"cut short: {length} bytes are due at byte {self.at} of {len(self.data)}")
        piece = self.data[self.at : self.at + length]
        self.at += length
        return piece

    def number(self) -> int:
        value = shift = 0
        while True:
            (byte,) = self.take(1)
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 63:
                raise ProgramError(f"a number at byte {self.at} has no end")

    def zigzag(self) -> int:
        value = self.number()
        return value >> 1 if not value & 1 else -((value + 1) >> 1)

    def text(self) -> str:
        try:
            return self.take(self.number()).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise ProgramError(f"the text before byte {self.at} is no UTF-8") from error

    def items(self) -> Iterator[int]:
        count = self.number()
        if count > len(self.data) - self.at:
            raise ProgramError(f"cut short: {count} items are due at byte {self.at} of {len(self.data)}")
        return iter(range(count))

    def constant(self) -> Constant:
        tag = self.take(1)
        read = _CONSTANT_READERS.get(tag)
        if read is None:
            raise ProgramError(f"unknown kind of constant {tag!r} at byte {self.at - 1}")
        return read(self)


def _read_exact(reader: _Reader) -> int:
    value = reader.zigzag()
    if not -(1 << 63) <= value < 1 << 63:
        raise ProgramError(f"the integer before byte {reader.at} does not fit 64 bits")
    return value


def _read_float(reader: _Reader) -> float:
    (value,) = struct.unpack("<d", reader.take(8))
    return float(value)


def _read_pattern(reader: _Reader) -> Pattern:
    text, escape = reader.text(), reader.text()
    if len(escape) > 1:
        raise ProgramError(f"the escape before byte {reader.at} is not one character")
    return Pattern(text, escape or None)


_CONSTANT_READERS: dict[bytes, Callable[[_Reader], Constant]] = {
    b"t": lambda _: True,
    b"f": lambda _: False,
    b"i": _read_exact,
    b"d": _read_float,
    b"s": _Reader.text,
    b"x": lambda reader: reader.take(reader.number()),
    b"p": _read_pattern,
    b"S": lambda reader: tuple(reader.text() for _ in reader.items()),
}


def from_bytes(data: bytes) -> Program:
    """Read and verify a program.

    Raises: ProgramError: not a program, written by an incompatible mqsel, damaged, or unsafe to run.
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise ProgramError(f"a program is bytes, found {type(data).__name__}")
    data = bytes(data)
    reader = _Reader(data, 0)
    if reader.take(min(4, len(data))) != _MAGIC:
        raise ProgramError("these bytes are no mqsel program: they do not begin with MQSL")
    (format_version,) = reader.take(1)
    if format_version != FORMAT_VERSION:
        writer = reader.text()
        raise ProgramError(
            f"the program was written by mqsel {quoted(writer)} (program format {format_version}), "
            f"this is mqsel '{VERSION}' (program format {FORMAT_VERSION})",
            hint="install one version of mqsel on the driver and on every executor",
        )
    if len(data) < 9 or struct.pack("<I", zlib.crc32(data[:-4])) != data[-4:]:
        raise ProgramError("the checksum is wrong: the bytes were damaged on their way")
    reader = _Reader(data[:-4], 5)
    reader.text()
    try:
        choices = {name: allowed[reader.take(1)[0]] for name, allowed in CHOICES.items()}
        dialect = Dialect(**choices, max_length=reader.number() or None)
    except (IndexError, ArgumentError) as error:
        raise ProgramError(f"the dialect record before byte {reader.at} is invalid") from error
    text = reader.text()
    slots = tuple(reader.text() for _ in reader.items())
    constants = tuple(reader.constant() for _ in reader.items())
    count, exact = reader.number(), reader.number()
    code = struct.unpack(f"<{count}I", reader.take(count * 4))
    spans: list[Span] = []
    before = 0
    for _ in range(count):
        before += reader.zigzag()
        spans.append((before, before + reader.zigzag()))
    if reader.at != len(reader.data):
        raise ProgramError(f"{len(reader.data) - reader.at} bytes follow the program")
    return Program(text, dialect, slots, constants, code, tuple(spans), exact)
