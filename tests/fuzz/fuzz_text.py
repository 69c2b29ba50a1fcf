"""Invariant: any text either compiles, and then runs on any message, or raises SelectorError. Nothing else, ever.

What compiles is laid out as the same tree; lint looks at every text, and what its edits make has the same answer.

    python tests/fuzz/fuzz_text.py --seconds 60 [--seed 1]

Texts are random code points, random tokens, and vectors with pieces cut, doubled, swapped and replaced.
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import strategies
from fuzzing import DIALECTS, begun, random_case

import mqsel
from mqsel.analysis.lint import fixed
from mqsel.errors import PropertyTypeError, SelectorError
from mqsel.language.dialect import PRESETS
from mqsel.language.format import formatted
from mqsel.language.nodes import unparse
from mqsel.language.parser import parse
from mqsel.language.selector import read_selector

TOKENS = [
    *"= <> < <= > >= + - * / ( ) , . ' '' \" -- /* ; ! != == && || % ` \\ [ ] { } : ? @ # ~ ^ | & $ _ €".split(),
    *"NULL TRUE FALSE NOT AND OR BETWEEN LIKE IN IS ESCAPE and nOt ＡＮＤ Iſ".split(),
    *"a b weight color JMSType JMSPriority JMSFoo usr.x a.b Root.MQMD.MsgType Body mq.a.b 𝒜 été \u180e \u00ad".split(),
    *"0 1 5 07 09 0x1F 0x 9223372036854775807 9223372036854775808 1E400 7. .5 5F 7E -57.9e-2 1e5D 5L".split(),
    *[
        "'car'",
        "'it''s'",
        "'%a_'",
        "'\\'",
        '"0x2F1C"',
        '"0x2"',
        "''",
        " ",
        "\t",
        "\n",
        "\x0b",
        "\u2003",
        "\ud800",
        "\x00",
    ],
]


def random_text(rng: random.Random, seeds: list[str]) -> str:
    kind = rng.randrange(5)
    if kind == 0:
        return "".join(chr(rng.randrange(0x250 if rng.random() < 0.8 else 0x110000)) for _ in range(rng.randrange(40)))
    if kind == 1:
        return "".join(rng.choice(TOKENS) + rng.choice(["", " ", " "]) for _ in range(rng.randrange(1, 30)))
    if kind == 2:
        return random_case(rng, rng.choice(list(DIALECTS)))[0]
    text = rng.choice(seeds)
    for _ in range(rng.randrange(1, 6)):
        at, to = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
        text = rng.choice(
            [
                text[:at] + text[to:],
                text[:at] + rng.choice(TOKENS) + text[at:],
                text[:to] + text[at:to] * rng.randrange(1, 4) + text[to:],
                text[:at] + rng.choice(TOKENS) + text[to:],
                text[at:to] + text[:at] + text[to:],
                text[:at] + "(" * rng.randrange(700) + text[at:],
                text[:at] + rng.choice(["NOT ", "-", "- ", "a+", "a=1 AND "]) * rng.randrange(700) + text[at:],
            ]
        )[:20000]
    return text


def main() -> int:
    seed, is_time = begun(__doc__)
    rng = random.Random(seed)
    vectors = Path(__file__).resolve().parent.parent / "vectors"
    dialects = {**DIALECTS, **PRESETS}
    seeds = [
        json.loads(line)["selector"]
        for path in sorted(vectors.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    texts = compiled = 0
    slowest = 0.0
    while is_time():
        text = random_text(rng, seeds)
        name = rng.choice(list(dialects))
        dialect = dialects[name]
        texts += 1
        began = time.monotonic()
        findings = mqsel.lint(text, dialect)
        assert all(0 <= one.span[0] <= one.span[1] <= len(text) for one in findings), text
        try:
            matcher = mqsel.compile(text, dialect=dialect, optimize=rng.random() < 0.8)
        except SelectorError as error:
            rendered = str(error)
            assert rendered and 0 <= error.span[0] <= error.span[1] <= len(text), (text, error.span)
        except BaseException:
            print(f"failing text: {text!r} in {name}", flush=True)
            raise
        else:
            compiled += 1
            message = strategies.to_message(
                strategies.random_properties(rng, name if name in strategies.LETTERS else "JMS")
            )
            try:
                assert matcher.matches(message) == bool(matcher.evaluate(message)), text
                if len(text) < 2000:
                    matcher.explain(message)
                    freed = dialect.replace(max_length=None)
                    tree = parse(text, freed)
                    assert parse(unparse(tree, dialect), freed) == tree, text
                    assert parse(formatted(read_selector(text, dialect)), freed) == tree, text
                    made = mqsel.compile(fixed(text, dialect), dialect=dialect)
                    assert made.truth(message) == matcher.truth(message), text
            except PropertyTypeError:
                pass
            except BaseException:
                print(f"failing text: {text!r} in {name} on {message!r}", flush=True)
                raise
        slowest = max(slowest, time.monotonic() - began)
    print(f"{texts} texts, {compiled} compiled, slowest {slowest:.3f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
