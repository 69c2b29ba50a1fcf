"""Invariant: any bytes either load as a program that ends, with what the table says, or raise ProgramError.

Nothing else, ever. What the instruction table says is computed by a plain interpreter of it (tests/interpreter.py).

    python tests/fuzz/fuzz_program.py --seconds 60 [--seed 1]

Most programs are random walks over the instruction table (tests/programs.py), so that the verifier lets them through;
the others are compiled ones with bits flipped, pieces cut and whole instructions exchanged, most of them given a right
checksum again, so that it is the verifier that is tested and not the checksum.
"""

from __future__ import annotations

import pickle
import random
import struct
import sys
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import programs
from fuzzing import DIALECTS, begun, random_case

import mqsel
from mqsel.errors import ProgramError
from mqsel.language.dialect import core_of
from mqsel.machine.opcodes import CODE, TABLE
from mqsel.machine.program import Program, encode_code


def sealed(data: bytes) -> bytes:
    return data[:-4] + struct.pack("<I", zlib.crc32(data[:-4]))


def mutated(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(changed))
        kind = rng.randrange(5)
        if kind == 0:
            changed[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            changed[at] = rng.choice([0, 1, 2, 0x7F, 0x80, 0xFF, rng.randrange(len(TABLE))])
        elif kind == 2:
            del changed[at : at + rng.randrange(1, 9)]
        elif kind == 3:
            changed[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 9)))
        else:
            to = rng.randrange(len(changed))
            changed[at : at + 4], changed[to : to + 4] = changed[to : to + 4], changed[at : at + 4]
        if len(changed) < 6:
            break
    result = bytes(changed)
    return sealed(result) if rng.random() < 0.9 and len(result) > 4 else result


def reassembled(rng: random.Random, program: Program) -> Program:
    """Exchange, drop and invent instructions of a real program."""
    code = list(program.code)
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(code))
        operand = rng.choice([0, 1, 2, 3, at + 1, at + 2, len(code) - 1, rng.randrange(1 << 24)])
        code[at] = rng.choice(
            [rng.randrange(len(TABLE)) | operand << 8, code[rng.randrange(len(code))], code[at] & 0xFF | operand << 8]
        )
    exact = rng.choice([program.exact, program.exact, rng.randrange(len(code))])
    constants = tuple(rng.sample(program.constants, len(program.constants)))
    return Program(
        program.text, program.dialect, program.slots, constants, encode_code(code), program.span_table, exact
    )


def run(program: Program, rows: programs.Rows) -> None:
    try:
        programs.assert_same(program, rows)
        assert Program.from_bytes(program.to_bytes()) == program == pickle.loads(pickle.dumps(program))
    except BaseException:
        print(f"failing program: {program!r} on {rows!r}", flush=True)
        raise


def damaged(rng: random.Random) -> tuple[int, int]:
    """Load thirty compiled programs that were tampered with, and run those that are let through."""
    name = rng.choice(list(DIALECTS))
    text, properties = random_case(rng, name)
    matcher = mqsel.compile(text, dialect=DIALECTS[name], optimize=rng.random() < 0.7)
    original = matcher.program.to_bytes()
    loaded = 0
    for _ in range(30):
        data = original if rng.random() < 0.98 else bytes(rng.randrange(256) for _ in range(rng.randrange(60)))
        try:
            if rng.random() < 0.5:
                program = reassembled(rng, matcher.program)
            else:
                data = mutated(rng, data) if len(data) > 4 else data
                program = Program.from_bytes(data)
            if CODE["COMPUTED"] in program.words[::4] or core_of(program.dialect).has_clock:
                # The text, which has the tests, or asks for the time, is read when it first runs.
                list(mqsel.Matcher(program).filter([{}]))
        except ProgramError as error:
            assert str(error)
            assert pickle.loads(pickle.dumps(error)).args == error.args
            continue
        except BaseException:
            print(f"failing bytes: {data.hex()}", flush=True)
            raise
        loaded += 1
        run(program, [properties])
    return 30, loaded


def main() -> int:
    seed, is_time = begun(__doc__)
    rng = random.Random(seed)
    walked = tried = loaded = 0
    while is_time():
        for _ in range(10):
            walked += 1
            run(programs.random_program(rng), programs.random_rows(rng, programs.NAMES, rng.randrange(1, 8)))
        more = damaged(rng)
        tried, loaded = tried + more[0], loaded + more[1]
    print(f"{walked} random walks run; of {tried} damaged programs {loaded} loaded and run")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
