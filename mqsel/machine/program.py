# cython: language_level=3, annotation_typing=False, auto_pickle=False, autotestdict=False
"""The program: what a selector is compiled to, and what is sent to an executor.

Owns the format of the bytes; `_verifier` proves on arrival that they are safe to run. Knows the instruction table and
no tree.

    bytes   : "MQSL" format:u8 version:text dialect text slots constants code exact words:u32… spans:bytes crc32:u32
    dialect : preset:text, then what differs from it: a count, and for each field its name:text and its choice:text
    spans   : for each instruction start and length, as signed differences
    numbers : LEB128 unless a width is given; texts and bytes are a length in bytes and UTF-8 (lone surrogates let
              through) or the bytes
"""

import functools
import re
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from mqsel.carets import Span, cells, padded, quoted
from mqsel.errors import ArgumentError, ProgramError
from mqsel.language.dialect import Dialect, departed
from mqsel.language.dialects import LENGTH
from mqsel.machine import _verifier
from mqsel.machine._verifier import Verified
from mqsel.machine.opcodes import FUSED_BITS, FUSED_LIMIT, TABLE, Constant, Opcode, Pattern

VERSION = "0.4.0"
BUILD = f"{VERSION} (build {_verifier.BUILD})"  # one for all that was built from the same sources
FORMAT_VERSION = 4

_MAGIC = b"MQSL"
_ONE_VERSION = "install one version of mqsel on the driver and on every executor"


class Program(Verified):
    """A verified program; immutable. Two are equal if they travel as the same bytes.

    Args, and attributes:
        text: the selector.
        dialect: what it was read as, and by its `core_of` what each instruction yields for NULL and for another kind.
        slots: names of the properties it reads, in order of first reading.
        constants: int (INT64), float (FLOAT64), str, bytes, bool, a tuple of strings for IN, a `Pattern` for LIKE.
        words: the code as it travels, 4 bytes an instruction, little-endian; read it as ``code`` (see opcodes.py).
        span_table: the spans as they travel; read them as ``spans``.
        exact: address of the code that gives all four values. Code before it, if any, only answers "is it TRUE".

    Attributes:
        value_depth, truth_depth: what the two stacks hold at most.

    Raises: ProgramError: a part of a wrong type, or code that could leave its stacks, its constants, its slots or
        itself.
    """

    __slots__ = ()

    @property
    def code(self) -> tuple[int, ...]:
        """The instructions, each an unsigned 32-bit word."""
        return struct.unpack(f"<{len(self.words) // 4}I", self.words)

    @property
    def spans(self) -> tuple[Span, ...]:
        """For each instruction the piece of the text it comes from."""
        reader = _Reader(self.span_table)
        spans: list[Span] = []
        start = 0
        for _ in range(len(self.words) // 4):
            start += reader.zigzag()
            spans.append((start, start + reader.zigzag()))
        return tuple(spans)

    def to_bytes(self) -> bytes:
        """Write the program for another process."""
        parts = [_MAGIC, bytes([FORMAT_VERSION]), _text(VERSION), _written(self.dialect), _text(self.text)]
        parts += [_number(len(self.slots)), *map(_text, self.slots)]
        parts += [_number(len(self.constants)), *map(_constant, self.constants)]
        parts += [_number(len(self.words) // 4), _number(self.exact), self.words]
        parts += [_number(len(self.span_table)), self.span_table]
        body = b"".join(parts)
        return body + struct.pack("<I", zlib.crc32(body))

    @classmethod
    def from_bytes(cls, data: bytes) -> "Program":
        """Read and verify a program.

        Raises: ProgramError: not a program, written by an incompatible mqsel, damaged, or unsafe to run.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise ProgramError(f"a program is bytes, found {type(data).__name__}")
        try:
            data = bytes(data)
        except ValueError as error:  # a memoryview that was released
            raise ProgramError(f"the bytes of the program cannot be read: {error}") from error
        if data[:4] != _MAGIC:
            raise ProgramError("these bytes are not an mqsel program: they do not begin with MQSL")
        if data[4:5] != bytes([FORMAT_VERSION]):
            raise _foreign_version(data)
        if len(data) < 9 or zlib.crc32(data[:-4]) != int.from_bytes(data[-4:], "little"):
            raise ProgramError("the checksum is wrong: the bytes were damaged on their way")
        return cls(*_read(data[:-4]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Program):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __repr__(self) -> str:
        return f"Program({', '.join([f'{name}={getattr(self, name)!r}' for name in _PARTS])})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Program.from_bytes, (self.to_bytes(),)


_PARTS = ("text", "dialect", "slots", "constants", "words", "span_table", "exact")


def _read(data: bytes) -> tuple[Any, ...]:
    """Read the parts of a program from its bytes, without the checksum."""
    reader = _Reader(data, 5)
    version = reader.text()
    preset, changes = reader.text(), tuple([(reader.text(), reader.text()) for _ in range(reader.count())])
    dialect = _by_name(version, preset, changes)
    text = reader.text()
    slots = tuple([reader.text() for _ in range(reader.count())])
    constants = tuple([reader.constant() for _ in range(reader.count())])
    size, exact = reader.number(), reader.number()
    words = reader.take(4 * size)
    span_table = reader.take(reader.number())
    if reader.at != len(data):
        raise ProgramError(f"{len(data) - reader.at} bytes follow the program")
    return text, dialect, slots, constants, words, span_table, exact


def encode_code(code: Sequence[int]) -> bytes:
    """Write instructions as they travel in a program."""
    return struct.pack(f"<{len(code)}I", *code)


def _foreign_version(data: bytes) -> ProgramError:
    if len(data) < 5:
        return ProgramError("cut short: the bytes end behind MQSL")
    return ProgramError(
        f"the program was written by mqsel {quoted(_Reader(data, 5).text())} (program format {data[4]}), "
        f"this is mqsel '{VERSION}' (program format {FORMAT_VERSION})",
        hint=_ONE_VERSION,
    )


@functools.lru_cache(64)
def _written(dialect: Dialect) -> bytes:
    preset, changes = dialect.departures()
    parts = [_text(preset), _number(len(changes))]
    for name, choice in changes.items():
        parts += [_text(name), _text("" if choice is None else str(choice))]
    return b"".join(parts)


@functools.lru_cache(64)
def _by_name(version: str, preset: str, changes: tuple[tuple[str, str], ...]) -> Dialect:
    choices: dict[str, Any] = dict(changes)
    length = choices.get(LENGTH)
    if length is not None:
        choices[LENGTH] = int(length) if re.fullmatch("[0-9]{1,10}", length) else length or None
    return dialect_of(version, preset, choices)


def dialect_of(version: str, preset: str, changes: Mapping[str, Any]) -> Dialect:
    """Return a preset with the fields that differ from it, as that version of mqsel wrote them.

    Raises: ProgramError: this one knows no such preset, field or choice.
    """
    try:
        return departed(preset, changes)
    except ArgumentError as error:
        raise ProgramError(
            f"written by mqsel {quoted(version)} for a dialect that mqsel '{VERSION}' does not know: {error.message}",
            hint=_ONE_VERSION,
        ) from error


def operands(row: Opcode, word: int) -> tuple[int, ...]:
    """Split the operand of *word* into its numbers, one for each type that *row* names."""
    operand = word >> 8
    if not row.operand:
        return ()
    if "+" in row.operand:
        return operand & (FUSED_LIMIT - 1), operand >> FUSED_BITS
    return (operand,)


# ---- disassembly -------------------------------------------------------------------------------------------------


# Fields in a list: in what Cython compiles the types of a class are texts, each of which typing would compile.
class Line(
    NamedTuple(
        "Line",
        [("address", int), ("name", str), ("operand", int), ("resolved", str), ("span", Span), ("synopsis", str)],
    )
):
    """One instruction as data: what `disassemble` lists and `listing` prints."""

    __slots__ = ()


def disassemble(program: "Program") -> list[Line]:
    """List the instructions of *program*."""
    lines: list[Line] = []
    for address, (word, span) in enumerate(zip(program.code, program.spans, strict=True)):
        row = TABLE[word & 0xFF]
        resolved: list[str] = []
        for operand_type, operand in zip(row.operand.split("+"), operands(row, word), strict=False):
            match operand_type:
                case "slot":
                    resolved.append(program.slots[operand])
                case "target":
                    resolved.append(f"→ {operand}")
                case "truth":
                    resolved.append("TRUE" if operand else "FALSE")
                case "test":
                    resolved.append(f"test {operand}")
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


def listing(program: "Program") -> str:
    """Print `disassemble` as text, one line an instruction."""
    lines = disassemble(program)
    names = max(len(line.name) for line in lines)
    resolved = max(cells(line.resolved) for line in lines)
    rows: list[str] = []
    for line in lines:
        if line.address == program.exact and program.exact:
            rows.append("      exact:")
        source = program.text[line.span[0] : line.span[1]]
        operand = padded(line.resolved, resolved)
        rows.append(f"{line.address:5} {line.name:{names}}  {operand}  {quoted(source)}".rstrip())
    return "\n".join(rows)


# ---- bytes ----------------------------------------------------------------------------------------------------------


@functools.lru_cache(1024)  # the lengths of spans and the distances between them repeat
def _number(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _text(value: str) -> bytes:
    data = value.encode("utf-8", "surrogatepass")
    return _number(len(data)) + data


def _constant(value: Constant) -> bytes:
    if isinstance(value, bool):
        return b"t" if value else b"f"
    if isinstance(value, int):
        return b"i" + _number(value << 1 if value >= 0 else (-value << 1) - 1)
    if isinstance(value, float):
        return b"d" + struct.pack("<d", value)
    if isinstance(value, str):
        return b"s" + _text(value)
    if isinstance(value, bytes):
        return b"x" + _number(len(value)) + value
    if isinstance(value, Pattern):
        return b"p" + _text(value.text) + _text(value.escape or "")
    return b"S" + _number(len(value)) + b"".join(map(_text, value))


class _Reader:
    """A place in bytes that are not trusted: every read is checked against the end."""

    __slots__ = ("at", "data")

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at

    def take(self, length: int) -> bytes:
        if length > len(self.data) - self.at:
            raise ProgramError(f"cut short: {length} bytes are due at byte {self.at} of {len(self.data)}")
        piece = self.data[self.at : self.at + length]
        self.at += length
        return piece

    def number(self) -> int:
        if self.at < len(self.data) and self.data[self.at] < 0x80:
            self.at += 1
            return self.data[self.at - 1]
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
            raise ProgramError(f"the text before byte {self.at} is not UTF-8") from error

    def count(self) -> int:
        """Read how many items follow, each of at least one byte."""
        count = self.number()
        if count > len(self.data) - self.at:
            raise ProgramError(f"cut short: {count} items are due at byte {self.at} of {len(self.data)}")
        return count

    def constant(self) -> Constant:
        tag = self.take(1)
        read = _CONSTANT_READERS.get(tag)
        if read is None:
            raise ProgramError(f"unknown kind of constant {tag!r} at byte {self.at - 1}")
        return read(self)


def _read_float(reader: _Reader) -> float:
    (value,) = struct.unpack("<d", reader.take(8))
    return float(value)


_CONSTANT_READERS: dict[bytes, Callable[[_Reader], Constant]] = {
    b"t": lambda _: True,
    b"f": lambda _: False,
    b"i": lambda reader: reader.zigzag(),
    b"d": _read_float,
    b"s": lambda reader: reader.text(),
    b"x": lambda reader: reader.take(reader.number()),
    b"p": lambda reader: Pattern(reader.text(), reader.text() or None),
    b"S": lambda reader: tuple([reader.text() for _ in range(reader.count())]),
}
