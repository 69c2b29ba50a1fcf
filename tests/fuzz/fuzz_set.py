"""Invariant: a set finds what a scan of it and a loop over Matchers find, however it came to be what it is.

    python tests/fuzz/fuzz_set.py --seconds 60 [--seed 1]

Random selectors of random choices of a dialect, added at once and one by one, removed, replaced, pickled, opened from
buffers; messages are dicts, rows by a schema, Records. Then words of the buffers are changed: opening and searching
give a list or ProgramError, and nothing else.
"""

from __future__ import annotations

import pickle
import random
import struct
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fuzzing import DIALECTS, begun, random_case, random_dialect

import mqsel
from mqsel.errors import ProgramError
from mqsel.index._index import Index
from mqsel.machine._values import Record
from mqsel.values import Float32, Int8, Int16, Int32

WRAPPERS = {"int8": Int8, "int16": Int16, "int32": Int32, "float32": Float32}
WORDS = 0, 1, 2, 0x7F, 0xFF, 0x7FFFFFFF, 0xFFFFFFFF


def drawn(rng: random.Random, name: str) -> tuple[str, dict[str, Any]]:
    text, message = random_case(rng, name)
    return text, {name: WRAPPERS.get(kind, lambda one: one)(value) for name, (kind, value) in message.items()}


def check(selectors: mqsel.SelectorSet[int], loop: dict[int, mqsel.Matcher], message: dict[str, Any]) -> None:
    wanted = [key for key, matcher in loop.items() if matcher.matches(message)]
    for one in (message, mqsel.Record([*message], message)):
        assert selectors.match(one) == wanted, message
        assert selectors.scan(one) == wanted, message


def run_case(rng: random.Random) -> int:
    """Change a set in all ways, and ask it between; give how many messages it answered."""
    name = rng.choice([*DIALECTS])
    dialect = random_dialect(rng, name)
    cases = [drawn(rng, name) for _ in range(rng.choice((3, 30, 120)))]
    loop = {key: mqsel.compile(text, dialect=dialect) for key, (text, _) in enumerate(cases)}
    selectors: mqsel.SelectorSet[int] = mqsel.SelectorSet(
        {key: text for key, (text, _) in enumerate(cases)}, dialect=dialect
    )
    asked = 0
    for _ in range(rng.randrange(2, 12)):
        way = rng.randrange(5)
        if way == 0 and loop:
            for key in rng.sample([*loop], rng.randrange(len(loop))):
                del selectors[key], loop[key]
        elif way == 1:
            fresh = [drawn(rng, name) for _ in range(rng.choice((1, 1, 5, 70)))]
            cases += fresh
            start = max(loop, default=-1) + 1
            loop |= {start + at: mqsel.compile(text, dialect=dialect) for at, (text, _) in enumerate(fresh)}
            selectors.update({start + at: text for at, (text, _) in enumerate(fresh)})
        elif way == 2 and loop:
            key = rng.choice([*loop])
            text = rng.choice(cases)[0]
            selectors[key] = text
            loop[key] = mqsel.compile(text, dialect=dialect)
        elif way == 3:
            selectors = pickle.loads(pickle.dumps(selectors, rng.choice((2, 5))))
        for _, message in rng.sample(cases, min(3, len(cases))):
            check(selectors, loop, message)
            asked += 1
    return asked


def broken(rng: random.Random, part: bytes) -> bytearray:
    """Change some words of a buffer, or cut it; mostly behind the head, whose checksum finds everything."""
    changed = bytearray(part)
    for _ in range(rng.choice((1, 1, 2, 8, 40))):
        if len(changed) < 8:
            break
        at = rng.randrange(min(384, len(changed) - 4) if rng.random() < 0.95 else 0, len(changed) - 3) & ~3
        way = rng.random()
        if way < 0.3:
            changed[at] ^= 1 << rng.randrange(8)
        elif way < 0.97:
            word = rng.choice((*WORDS, rng.randrange(500), rng.getrandbits(32)))
            changed[at : at + 4] = struct.pack("<I", word)
        else:
            del changed[at:]
    return changed


def run_damaged(rng: random.Random) -> int:
    """Damage the buffers of an index and use it in all ways; give how often that was refused."""
    name = rng.choice([*DIALECTS])
    dialect = random_dialect(rng, name)
    cases = [drawn(rng, name) for _ in range(rng.choice((5, 40)))]
    made = mqsel.SelectorSet({key: text for key, (text, _) in enumerate(cases)}, dialect=dialect)
    parts = [bytes(part) for part in made._reader.index.to_buffers()]
    refused = 0
    for _ in range(20):
        damaged: list[Any] = [*parts]
        which = rng.choice((0, 1, 2, 2, 2, 2, 2, 2))
        if which < len(damaged):
            damaged[which] = broken(rng, parts[which])
        try:
            index = Index.from_buffers(damaged)
        except ProgramError:
            refused += 1
            continue
        for _, message in rng.sample(cases, 3):
            record = Record(index.names, {name: message.get(name.split()[0]) for name in index.names})
            for ask in (index.search, index.scan, index.count):
                try:
                    ask(record)
                except ProgramError:
                    refused += 1
        try:
            index.stats()
            index.remove(0)
            index.add([0], [mqsel.logic.normal.true_of(mqsel.language.selector.read_selector(cases[0][0], dialect))])
            index.wait()
            Index.from_buffers(index.to_buffers())
        except (ProgramError, mqsel.ArgumentError):
            refused += 1
    return refused


def main() -> int:
    seed, is_time = begun(__doc__)
    rounds = asked = refused = 0
    while is_time():
        rounds += 1
        rng = random.Random(f"{seed} {rounds}")
        try:
            asked += run_case(rng)
            refused += run_damaged(rng)
        except BaseException:
            print(f"failing: random.Random('{seed} {rounds}')", flush=True)
            raise
    print(f"{rounds} sets, {asked} messages; damaged buffers were refused {refused} times")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
