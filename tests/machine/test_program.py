"""The program: bytes there and back, and a verifier that lets nothing unsafe through."""

from __future__ import annotations

import collections
import copy
import copyreg
import itertools
import pickle
import random
import struct
import time
import zlib
from collections.abc import Callable

import programs
import pytest
from conftest import VECTORS_ROOT, dialects_of, json_lines

import mqsel
from mqsel import errors
from mqsel.language.dialect import IBM_MQ, JMS, Dialect
from mqsel.machine import program
from mqsel.machine._verifier import Verified, encode_spans
from mqsel.machine._vm import Machine
from mqsel.machine.opcodes import CODE, OPERAND_LIMIT, TABLE, Pattern, effect
from mqsel.machine.program import Program, encode_code
from mqsel.values import Truth

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
        Pattern("a%_", None),
        Pattern("%", "\\"),
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
        ((word("RETURN_TRUTH", 3),), {}, "expected 0 or 1"),
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
    kinds = {"slot", "constant", "strings", "pattern", "text", "truth", "target", "test"}
    assert len({row.name for row in TABLE}) == len(TABLE) <= 256
    for row in TABLE:
        assert set(row.effect.split()) <= {"--", "value", "truth"}, row.name
        assert set(row.operand.split("+")) <= kinds | {""}, row.name
        assert row.synopsis
        assert max(effect(row)) <= 3


def test_programs_are_frozen() -> None:
    """A verified program cannot be changed afterwards."""
    frozen = mqsel.compile(W2, dialect=JMS).program
    before = frozen.to_bytes()
    for name in ("words", "constants", "value_depth", "code", "other"):
        with pytest.raises(AttributeError):
            object.__setattr__(frozen, name, ())
        with pytest.raises(AttributeError):
            object.__delattr__(frozen, name)
    frozen.__init__("b = 2", JMS, (), (), b"", b"", 0)

    assert frozen.to_bytes() == before
    assert not hasattr(frozen, "__dict__")


# ---- what every program guarantees --------------------------------------------------------------------------------

GOOD = {
    "text": "a = 1",
    "dialect": IBM_MQ,
    "slots": ("a",),
    "constants": (1,),
    "words": encode_code([word("PUSH_TRUTH", 1), word("RETURN")]),
    "span_table": encode_spans([(0, 5), (0, 5)]),
    "exact": 0,
}


class Text(str):
    """A str that may change its mind."""

    __slots__ = ()


class Broken(Dialect):
    """A dialect of somebody else."""


def unset_dialect() -> Dialect:
    return tuple.__new__(Dialect)


def false_dialect() -> Dialect:
    return tuple.__new__(Dialect, ("sometimes", *IBM_MQ[1:]))


@pytest.mark.parametrize(
    ("part", "value", "found"),
    [
        *(
            (part, wrong, f"the {said} of a program is")
            for part, said in (
                ("text", "text"),
                ("dialect", "dialect"),
                ("slots", "slots"),
                ("constants", "constants"),
                ("words", "words"),
                ("span_table", "span table"),
                ("exact", "exact address"),
            )
            for wrong in (None, 1.5, [])
        ),
        ("text", Text("a = 1"), "found Text"),
        ("dialect", Broken(), "found Broken"),
        ("dialect", unset_dialect(), "is damaged"),
        ("dialect", false_dialect(), "is damaged: dialect field type_mismatch is 'sometimes'"),
        ("slots", (1,), "slots of a program are exact str"),
        ("slots", (Text("a"),), "slots of a program are exact str"),
        ("slots", collections.namedtuple("Names", "a")("a"), "found Names"),  # noqa: PYI024
        *(
            ("constants", (1, wrong), "constant 1 cannot be a constant of a program")
            for wrong in (
                None,
                2**63,
                -(2**63) - 1,
                2**200,
                1j,
                [],
                ["a"],
                bytearray(),
                Text("a"),
                Truth.TRUE,
                (1, None, 2**200),
                tuple(range(1000, 1020)),
                ("a", Text("b")),
                Pattern(5, None),
                Pattern("a", ""),
                Pattern("a", "!!"),
                Pattern("a", 5),
                Pattern(Text("a"), None),
                tuple.__new__(Pattern, ("a",)),
                tuple.__new__(Pattern, ()),
                tuple.__new__(Pattern, ("a", None, "b")),
                object(),
            )
        ),
        ("words", bytearray(8), "found bytearray"),
        ("words", b"1234567", "expected 4 for each instruction"),
        ("words", b"", "one at least"),
        ("span_table", b"", "its span is missing"),
        ("span_table", b"\0\0\0", "its span is missing"),
        ("span_table", b"\0" * 5, "the spans are not those of 2 instructions"),
        ("span_table", b"\0\0\0\x80", "its span is missing"),
        ("span_table", b"\x80" * 30 + b"\0\0\0\0", "its span is missing"),
        ("span_table", b"\xfe" * 8 + b"\x7f\0\0\0", "lies outside of the text"),
        ("span_table", b"\xff" * 8 + b"\x7f\0\0\0", "lies outside of the text"),
        ("span_table", encode_spans([(0, 5), (0, 6)]), "lies outside of the text"),
        ("span_table", encode_spans([(0, 5), (6, 6)]), "lies outside of the text"),
        ("span_table", b"\0\x0a\x01\0", "lies outside of the text"),
        ("span_table", b"\0\x01\0\0", "lies outside of the text"),
        ("exact", True, "found bool"),
        ("exact", -1, "begins at -1"),
        ("exact", 2, "begins at 2"),
        ("exact", 2**200, "begins at"),
    ],
)
def test_the_constructor_guarantees_every_part(part: str, value: object, found: str) -> None:
    """Whatever stands where a part of a program belongs: ProgramError, and no other exception."""
    with pytest.raises(errors.ProgramError) as caught:
        Program(**{**GOOD, part: value})

    assert found in str(caught.value)


def test_a_released_buffer_is_no_program() -> None:
    """A memoryview that can no longer be read is refused with ProgramError."""
    view = memoryview(b"MQSL")
    view.release()
    with pytest.raises(errors.ProgramError):
        Program.from_bytes(view)


@pytest.mark.parametrize("again", [lambda made: pickle.loads(pickle.dumps(made)), copy.copy, copy.deepcopy])
def test_programs_pickle_and_copy(again: Callable[[Program], Program]) -> None:
    """A program survives pickle, copy and deepcopy, and its repr rebuilds it."""
    original = mqsel.compile("a LIKE 'x!%%' ESCAPE '!' OR b IN ('u', 'v') OR n * 2.5 > 3", dialect=JMS).program
    twin = again(original)

    assert (type(twin), twin, hash(twin)) == (Program, original, hash(original))
    assert twin.value_depth == original.value_depth == 1
    assert eval(repr(original), {"Program": Program, "Pattern": Pattern, "mqsel": mqsel}) == original


def test_equal_programs_travel_as_the_same_bytes() -> None:
    """1, TRUE and 1.0 are three constants, 0.0 and -0.0 two; NaN is one."""
    made = [Program(**{**GOOD, "constants": (constant,)}) for constant in (1, True, 1.0, 0.0, -0.0, float("nan"))]

    assert [[one == other for other in made] for one in made] == [[i == j for j in range(6)] for i in range(6)]
    assert made[-1] == Program(**{**GOOD, "constants": (float("nan"),)})
    assert made[0] != tuple(GOOD.values())


def test_no_way_leads_around_the_verifier(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine runs what was verified: whoever forges a Program gets an error, or the verified one."""
    unsafe = {**GOOD, "words": encode_code([word("ADD"), word("RETURN")])}

    class Pretender:
        __class__ = Program  # type: ignore[assignment]
        words, value_depth = unsafe["words"], 0

    class Heir(Program):
        words = unsafe["words"]

    for forge in (
        lambda: object.__new__(Program),
        lambda: tuple.__new__(Program, tuple(unsafe.values())),
        lambda: Verified.__new__(Program),
        lambda: copyreg.__newobj__(Program),
        lambda: copyreg._reconstructor(Program, object, None),
        lambda: Program.__new__(Program, *unsafe.values()),
        lambda: Verified.__new__(Program, *unsafe.values()),
        lambda: Heir(*unsafe.values()),
    ):
        with pytest.raises((TypeError, errors.ProgramError)):
            forge()
    for other in (Pretender(), Heir(**GOOD), Verified(**GOOD), None, tuple(GOOD.values())):
        for machine in (Machine, mqsel.Matcher):
            with pytest.raises(errors.ArgumentError, match="a machine runs a Program"):
                machine(other)
    verified = Program(**GOOD)
    for name, value in {"words": unsafe["words"], "exact": 5, "constants": (), "slots": (), "truth_depth": 0}.items():
        monkeypatch.setattr(Program, name, value, raising=False)

    assert mqsel.Matcher(verified).matches({})


# ---- what the machine makes of a program, beside a plain interpreter ------------------------------------------------


@pytest.mark.parametrize(
    "passed",
    [kinds for count in (1, 2, 3) for kinds in itertools.product(("BRANCH", "RESTART", "JUMP"), repeat=count)],
)
@pytest.mark.parametrize("end", ["AND", "OR", "AS_VALUE", "BRANCH_IF_TRUE", "JUMP_IF_FALSE", "RETURN"])
def test_a_truth_value_that_passes_is_not_lost(passed: tuple[str, ...], end: str) -> None:
    """Behind a test the truth value is there for whatever wants it, however many instructions let it pass."""
    code = [word("PUSH_TRUTH", 1)] * (end != "RETURN") + [word("PUSH_SLOT"), word("AS_TRUTH")]
    behind = {
        "AS_VALUE": [word("AS_VALUE"), word("AS_TRUTH"), word("AND"), word("RETURN")],
        "BRANCH_IF_TRUE": [word("BRANCH_IF_TRUE", len(code) + len(passed) + 2), word("NOT"), word("RETURN")],
        "JUMP_IF_FALSE": [word("JUMP_IF_FALSE", len(code) + len(passed) + 1), word("AND"), word("RETURN")],
        "RETURN": [word("RETURN")],
    }.get(end, [word(end), word("RETURN")])
    unknown = len(code) + len(passed) + len(behind)
    landing = [word("RETURN") if end != "RETURN" else word("RETURN_TRUTH")] if "BRANCH" in passed else []
    exact = unknown + len(landing)
    for kind in passed:
        targets = {"BRANCH": ("BRANCH_IF_UNKNOWN", unknown), "RESTART": ("RESTART_IF_UNKNOWN", exact)}
        code.append(word(*targets.get(kind, ("JUMP", len(code) + 1))))
    shown = made(*code, *behind, *landing, word("IS_NULL"), word("RETURN"), slots=programs.NAMES, exact=exact)

    programs.assert_same(shown, [{"a": ("boolean", True)}, {"a": ("boolean", False)}, {}])
    programs.assert_same(shown, [{"a": ("string", "x")}])


def test_random_programs_mean_what_the_table_says() -> None:
    """Machine and interpreter agree on random walks over the instruction table, on every form of message."""
    opcodes: set[str] = set()
    truths: collections.Counter[str] = collections.Counter()
    for seed in range(250):
        rng = random.Random(seed)
        shown = programs.random_program(rng)
        opcodes.update(line.name for line in program.disassemble(shown))
        truths.update(programs.assert_same(shown, programs.random_rows(rng, programs.NAMES, 5)))

    assert opcodes == set(CODE) - {"COMPUTED"}  # which the text of a program has
    assert min(truths[truth.name] for truth in Truth) > 100


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def test_rows_of_jumps_take_linear_time() -> None:
    """A JUMP to a JUMP to a JUMP …, and tests that lead there, are decoded in time that is linear in their number."""
    half = 100_000
    tests = [each for at in range(half) for each in (word("IS_NULL"), word("BRANCH_IF_TRUE", 2 * half))]
    code = [*tests, *(word("JUMP", 2 * half + at + 1) for at in range(half)), word("RETURN_TRUTH", 1)]
    jumping = mqsel.Matcher(made(*code))

    assert seconds(lambda: jumping.matches({})) < 2


def test_long_lists_are_verified_once() -> None:
    """Verification is linear in a program's bytes: many instructions may look in one long list."""
    texts = tuple(map(str, range(100_000)))
    code = [word("PUSH_SLOT"), word("IN"), word("BRANCH_IF_TRUE", 0)] * 50_000
    code = [each | (at + 1) << 8 if each == word("BRANCH_IF_TRUE", 0) else each for at, each in enumerate(code)]

    assert seconds(lambda: made(*code, word("RETURN_TRUTH"), constants=(texts,))) < 2


def test_many_equal_strings_take_linear_time() -> None:
    """A list that holds one string again and again is laid out in time that is linear in its length."""
    many = mqsel.Matcher(made(word("IN_SLOT"), word("RETURN"), constants=(("x",) * 200_000 + ("y",),)))

    assert seconds(lambda: [many.matches({"a": text}) for text in "xyz"]) < 2
    assert [many.matches({"a": text}) for text in "xyz"] == [True, True, False]


def test_the_least_and_the_longest_switch() -> None:
    """SWITCH_SLOT over no string goes on at once; over more strings than it has JUMPs behind it, it is refused."""
    behind = (word("JUMP", 3), word("JUMP", 3), word("RETURN_TRUTH", 1))
    empty = made(word("SWITCH_SLOT"), word("RETURN_TRUTH", 1), constants=((),))

    assert mqsel.Matcher(empty).matches({"a": "x"})
    assert mqsel.Matcher(made(word("SWITCH_SLOT"), *behind, constants=(("x", "x"),))).matches({"a": "x"})
    assert "fewer JUMPs" in refusal(word("SWITCH_SLOT"), *behind, constants=(("x", "y", "z"),))
    assert "fewer JUMPs" in refusal(word("SWITCH_SLOT"), *behind, constants=(("x",) * 9,))


def test_more_instructions_than_a_jump_reaches() -> None:
    """2**24 instructions are refused before anything is made of them."""
    with pytest.raises(errors.ProgramError, match="a jump reaches"):
        Program(**{**GOOD, "words": bytes(4 * OPERAND_LIMIT)})


def colliding(blocks: int) -> tuple[str, ...]:
    """Return 2 ** blocks strings of one hash: the second of two words takes back what the first has changed in it."""
    plain = bytes(range(65, 81))
    twisted = bytes(byte ^ {7: 0x80, 12: 0x04, 15: 0x80}.get(place, 0) for place, byte in enumerate(plain))
    return tuple(b"".join(pieces).decode("latin-1") for pieces in itertools.product((plain, twisted), repeat=blocks))


def test_strings_that_collide_are_refused() -> None:
    """A list of strings chosen to have one hash ends in ProgramError when it is laid out; a short one is searched."""
    text = "a IN ('x')"
    short, long = (
        Program.from_bytes(
            Program(
                text, JMS, ("a",), (colliding(blocks),), encode_code([word("IN_SLOT"), word("RETURN")]),
                encode_spans([(0, 10)] * 2), 0,
            ).to_bytes()
        )
        for blocks in (5, 12)
    )  # fmt: skip

    assert mqsel.Matcher(short).matches({"a": colliding(5)[-1]})
    with pytest.raises(errors.ProgramError, match="collide"):
        mqsel.Matcher(long).matches({"a": "x"})
