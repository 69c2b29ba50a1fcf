"""Invariant: any selectors with any contract are audited, compared and migrated, or an error of ours says why not.

    python tests/fuzz/fuzz_analysis.py --seconds 60 [--seed 1]

What is found holds: no selector selects the message of a gap, the contract allows it, and a message that shows a
difference has two answers. Patterns are long, deep, many and alike; contracts have huge bounds, many values, odd names.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fuzzing import begun, random_case
from migrating import condition

import mqsel
from mqsel.analysis.compare.audit import audit
from mqsel.language.dialect import PRESETS
from mqsel.language.nodes import quote

LONGEST = 30.0  # seconds for one call, with a sanitizer on a busy machine
NAMES = ("a", "b", "JMSPriority", "JMSType", "x y", 'q"', "Root.MQMD.Priority", "é", "\ud800", "")
NUMBERS = (0, 1, -1, 0.5, 10**400, -(10**5_000), 1e308, 5e-324, float("inf"), 2**63, -(2**63), 2**53 + 1, "5", None)
TYPES = ("string", "int8", "int64", "float32", "float64", "boolean", "bytes", ["int32", "string"], "null", "x", 5)
STRINGS = ("", "x", "it's", "\n", "\ud800", "x" * 9_999)
VALUES: tuple[Any, ...] = (*STRINGS, 5, 2**70, 10**5_000, 0.5, float("nan"), True, b"\x00", None, [])


def pattern(rng: random.Random) -> str:
    """Draw a pattern, of one to thousands of characters."""
    pieces = ("a", "b", "ab", "_", "%", "%%", "_%", "a%", "!%", "!_", "\\", "'", "\n", "𝒜")
    return "".join(rng.choices(pieces, k=rng.choice((1, 2, 3, 5, 20, 20, 300, 3_000))))


def likes(rng: random.Random) -> list[str]:
    """Draw tests with patterns: many short ones, or few long ones."""
    count = rng.choice((1, 2, 5, 5, 30, 30, 300, 1_000))
    name = rng.choice(("a", "a", "b"))
    made = []
    while len(made) < count:
        text = pattern(rng)[: 20_000 // count + 3]
        escape = " ESCAPE '!'" if rng.random() < 0.2 and not text.endswith("!") else ""
        made.append(f"{name} {rng.choice(('', 'NOT '))}LIKE {quote(text)}{escape}")
    if rng.random() < 0.3:
        made = [rng.choice((" AND ", " OR ")).join(made)]
    if rng.random() < 0.2:
        made = [f"{'NOT (' * 99}{one}{')' * 99}" for one in made[:50]]
    return made


def texts(rng: random.Random) -> list[str]:
    draws = (
        likes,
        likes,
        lambda rng: [condition(rng) for _ in range(rng.choice((1, 2, 5, 20)))],
        lambda rng: [random_case(rng, "IBM_MQ")[0] for _ in range(rng.choice((1, 2, 5)))],
    )
    return [text for _ in range(rng.choice((1, 1, 2))) for text in rng.choice(draws)(rng)]


def contract(rng: random.Random) -> Any:
    """Draw what messages are like: None, a selector, or a mapping, which may be none."""
    if rng.random() < 0.3:
        return None
    if rng.random() < 0.3:
        return rng.choice((*texts(rng)[:1], "a IS NOT NULL", "a > 5 AND a < 3", "TRUE = TRUE", "garbage ("))
    found: dict[Any, Any] = {}
    for _ in range(rng.choice((0, 1, 2, 3))):
        one: dict[str, Any] = {}
        if rng.random() < 0.5:
            one["type"] = rng.choice(TYPES)
        if rng.random() < 0.3:
            many = rng.choice((1, 3, 100_000))
            one["values"] = [f"v{n}" for n in range(many)] if many > 3 else rng.choices(VALUES, k=many)
        for name in ("least", "greatest"):
            if rng.random() < 0.3:
                one[name] = rng.choice(NUMBERS)
        for name in ("required", "nan"):
            if rng.random() < 0.3:
                one[name] = rng.choice((True, True, False, 1))
        found[rng.choice(NAMES)] = one
    return found


def check(rng: random.Random, many: list[str], given: Any) -> bool:
    """Ask everything of some selectors; return whether the contract was one."""
    said = mqsel.Contract(given) if isinstance(given, dict) else given  # raises an error of ours
    found = mqsel.gap(many, given=said)
    message = found.message or {}
    if found:
        assert not any(mqsel.compile(text).matches(message) for text in many), ("gap", message)
        assert not isinstance(said, mqsel.Contract) or not said.breaches(message), ("breach", message)
    destinations = {str(number): rng.choice("AB") for number in range(len(many))}
    audit([(str(number), text) for number, text in enumerate(many[:40])], given=said, destinations=destinations)
    one, other = rng.choice(many), rng.choice(many)
    mqsel.relation(one, other, given=said)
    mqsel.satisfiable(one, given=said)
    mqsel.lint(one, given=said)
    source, target = rng.sample([*PRESETS], 2)
    mqsel.difference(one, source, target, given=said)
    moved = mqsel.migrate(one, source, target, given=said)
    assert moved.truths is None or moved.truths[0] != moved.truths[1], moved
    return True


def main() -> int:
    seed, is_time = begun(__doc__)
    rng = random.Random(seed)
    rounds = held = 0
    while is_time():
        state = rng.getrandbits(64)
        drawn = random.Random(state)
        many, given = texts(drawn), contract(drawn)
        start = time.process_time()
        rounds += 1
        try:
            held += check(drawn, many, given)
        except mqsel.MqselError:
            pass
        except BaseException:
            print(f"failing: state {state}: {str(many)[:2_000]} given {str(given)[:2_000]}", flush=True)
            raise
        assert time.process_time() - start < LONGEST, f"state {state}: {str(many)[:500]} given {str(given)[:500]}"
    print(f"{rounds} rounds, {held} answered")
    return 0


if __name__ == "__main__":
    sys.exit(main())
