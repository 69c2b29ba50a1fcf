"""The program: bytes there and back, and a verifier that lets nothing unsafe through."""

from __future__ import annotations

import struct
import zlib

import pytest
from conftest import VECTORS_ROOT, dialects_of, json_lines

import mqsel
from mqsel import errors, program
from mqsel.dialect import IBM_MQ, JMS
from mqsel.opcodes import CODE, TABLE, effect
from mqsel.program import Program, encode_code, encode_spans

W2 = "JMSType = 'car' AND color = 'blue' AND weight > 2500"


def made(*code: int, slots: tuple[str, ...] = ("a",), constants: tuple[object, ...] = (1,), exact: int = 0) -> Program:
    return Program("a = 1", IBM_MQ, slots, constants, encode_code(code), encode_spans([(0, 5)] * len(code)), exact)


def word(name: str, operand: int = 0) -> int:
    return CODE[name] | operand << 8


def refusal(*code: int, **parts: object) -> str:
    with pytest.raises(errors.ProgramError) as caught:
        made(*code, **parts)
    return str(caught.value)


def test_every_vector_survives_bytes() -> None:
    """Program.from_bytes(program.to_bytes()) == program, for every selector of every vector, optimised and not."""
    count = 0
    for path in VECTORS_ROOT.glob("*.jsonl"):
        for vector in json_lines(path):
            for _, dialect in dialects_of(vector["dialect"]):
                try:
                    matchers = [mqsel.compile(vector["selector"], dialect=dialect, optimize=o) for o in (True, False)]
                except errors.SelectorError:
                    continue
                for matcher in matchers:
                    assert Program.from_bytes(matcher.program.to_bytes()) == matcher.program, vector["id"]
                    count += 1
    assert count > 2000


def test_constants_survive_bytes() -> None:
    """Every kind of constant and its extremes come back as they were."""
    constants = (
        True,
        False,
        0,
        -1,
        -(1 << 63),
        (1 << 63) - 1,
        0.0,
        -0.0,
        1e308,
        5e-324,
        float("inf"),
        "",
        "\ud800 \U0001f600",
        b"",
        b"\x00\xff",
        ("a", "", "é"),
        program.Pattern("a%_", None),
        program.Pattern("%", "\\"),
    )
    copy = Program.from_bytes(made(word("PUSH_TRUTH", 1), word("RETURN"), constants=constants).to_bytes())

    assert [(type(c), repr(c)) for c in copy.constants] == [(type(c), repr(c)) for c in constants]


def test_every_byte_counts() -> None:
    """A program with any one byte changed, or cut short anywhere, is refused with ProgramError."""
    data = mqsel.compile(W2).program.to_bytes()
    for at in range(len(data)):
        damaged = data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]
        for piece in (damaged, data[:at]):
            with pytest.raises(errors.ProgramError):
                Program.from_bytes(piece)
    with pytest.raises(errors.ProgramError):
        Program.from_bytes(data + b"\0")


def test_every_byte_counts_behind_a_right_checksum() -> None:
    """With the checksum made right again, a changed byte is refused or gives a program that runs."""
    data = mqsel.compile(W2).program.to_bytes()
    for at in range(5, len(data) - 4):
        for flip in (1, 0x55, 0x80, 0xFF):
            body = data[:at] + bytes([data[at] ^ flip]) + data[at + 1 : -4]
            try:
                changed = Program.from_bytes(body + struct.pack("<I", zlib.crc32(body)))
            except errors.ProgramError:
                continue
            mqsel.Matcher(changed).evaluate({"JMSType": "car", "color": "blue", "weight": 3000})


def test_another_format_names_both_versions() -> None:
    """Bytes of another program format are refused by an error that names the writer's version and ours."""
    data = bytearray(mqsel.compile(W2).program.to_bytes())
    data[4] += 1
    data[6 : 6 + len(program.VERSION)] = b"9.8.7"
    with pytest.raises(errors.ProgramError) as caught:
        Program.from_bytes(bytes(data))

    assert "'9.8.7'" in str(caught.value)
    assert f"'{program.VERSION}'" in str(caught.value)


@pytest.mark.parametrize(
    "data", [b"", b"M", b"MQSL", b"MQSL\x01", b"PK\x03\x04", b"MQSL\x01" + b"\xff" * 40, "text", 5]
)
def test_foreign_bytes(data: object) -> None:
    """Anything that is no program is refused with ProgramError."""
    with pytest.raises(errors.ProgramError):
        Program.from_bytes(data)


@pytest.mark.parametrize(
    ("code", "parts", "found"),
    [
        ((), {}, "one at least"),
        ((word("PUSH_TRUTH", 1),), {}, "runs off its end"),
        ((200, word("RETURN")), {}, "unknown opcode 200"),
        ((word("RETURN"),), {}, "too little"),
        ((word("AND"), word("RETURN")), {}, "too little"),
        ((word("PUSH_SLOT", 0), word("RETURN")), {}, "too little"),
        ((word("PUSH_SLOT", 1), word("AS_TRUTH"), word("RETURN")), {}, "reads slot 1 of 1"),
        ((word("PUSH_CONSTANT", 1), word("AS_TRUTH"), word("RETURN")), {}, "reads constant 1 of 1"),
        ((word("PUSH_TRUTH", 2), word("RETURN")), {}, "expected 0 or 1"),
        ((word("PUSH_TRUTH", 1), word("NOT", 3), word("RETURN")), {}, "takes none"),
        ((word("PUSH_SLOT", 0), word("LIKE", 0), word("RETURN")), {}, "needs a pattern constant"),
        ((word("PUSH_SLOT", 0), word("IN", 0), word("RETURN")), {}, "needs a strings constant"),
        ((word("CONTAINS_SLOT", 0), word("RETURN")), {}, "needs a text constant"),
        ((word("EQUAL_SLOT_CONSTANT", 1 << 12), word("RETURN")), {}, "reads constant 1 of 1"),
        ((word("PUSH_TRUTH", 1), word("JUMP_IF_FALSE", 0), word("RETURN")), {}, "jump goes forward"),
        ((word("PUSH_TRUTH", 1), word("JUMP_IF_FALSE", 1), word("RETURN")), {}, "jump goes forward"),
        ((word("PUSH_TRUTH", 1), word("JUMP_IF_FALSE", 3), word("RETURN")), {}, "jump goes forward"),
        (
            (word("PUSH_TRUTH", 1), word("JUMP_IF_FALSE", 3), word("PUSH_TRUTH", 1), word("RETURN")),
            {},
            "different stacks",
        ),
        ((word("PUSH_TRUTH", 1), word("PUSH_TRUTH", 1), word("RETURN")), {}, "leaves something"),
        ((word("PUSH_TRUTH", 1), word("RETURN"), word("RETURN_TRUTH", 1)), {}, "no way leads"),
        ((word("PUSH_TRUTH", 1), word("PUSH_TRUTH", 1), word("RETURN")), {"exact": 1}, "different stacks"),
        ((word("RETURN_TRUTH", 1), word("PUSH_TRUTH", 1), word("RETURN")), {"exact": 9}, "begins at 9"),
        (
            (word("PUSH_TRUTH", 1), word("BRANCH_IF_TRUE", 3), word("RETURN_TRUTH"), word("RETURN_TRUTH")),
            {"exact": 3},
            "leaves its part",
        ),
        (
            (word("PUSH_TRUTH", 1), word("RESTART_IF_UNKNOWN", 2), word("RETURN")),
            {},
            "elsewhere than to the exact code",
        ),
    ],
)
def test_unsafe_programs_are_refused(code: tuple[int, ...], parts: dict[str, int], found: str) -> None:
    """Each way to leave the stacks, the pools or the code is found, with the address where there is one."""
    assert found in refusal(*code, **parts)


def test_deep_stacks_are_refused() -> None:
    """A program that would need an enormous stack is refused, not run."""
    code = [word("PUSH_TRUTH", 1)] * 5000 + [word("AND")] * 4999 + [word("RETURN")]

    assert "stack grows beyond" in refusal(*code)


def test_disassembly_is_data_and_text() -> None:
    """The listing of W2: one line an instruction, slots, constants and targets resolved."""
    shown = mqsel.compile(W2).program
    lines = program.disassemble(shown)

    assert [line.name for line in lines[:2]] == ["EQUAL_SLOT_STRING", "BRANCH_UNLESS_TRUE"]
    assert lines[0].resolved == "JMSType, 'car'"
    assert W2[slice(*lines[0].span)] == "JMSType = 'car'"
    first = program.listing(shown).splitlines()[0]
    assert first.split() == ["0", "EQUAL_SLOT_STRING", "JMSType,", "'car'", "'JMSType", "=", "'car''"]
    assert "exact:" in program.listing(shown)


def test_table_is_sound() -> None:
    """Rows have unique names, effects of known words, known operand kinds; 256 opcodes are the limit."""
    kinds = {"slot", "constant", "strings", "pattern", "text", "truth", "target"}
    assert len({row.name for row in TABLE}) == len(TABLE) <= 256
    for row in TABLE:
        assert set(row.effect.split()) <= {"--", "value", "truth"}, row.name
        assert set(row.operand.split("+")) <= kinds | {""}, row.name
        assert row.synopsis
        assert max(effect(row)) <= 3


def test_programs_are_frozen() -> None:
    """A verified program cannot be changed afterwards."""
    with pytest.raises(AttributeError):
        mqsel.compile(W2, dialect=JMS).program.code = ()
