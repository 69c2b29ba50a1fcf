"""Sets of many selectors and messages for them, drawn from a seed; a loop over Matchers, and one Python function.

The workloads are those that papers on matching measure, written as selectors: `ABE` boolean expressions over a thousand
properties (A-Tree, SIGMOD 2021, table 3), `conjunctions` (BE-Tree, SIGMOD 2011; PS-Tree, VLDB 2018, table 1), `JMS`
subscriptions by key, `dense` or `sparse`, and some that an index cannot help. Every answer is compared first.
"""

from __future__ import annotations

import gzip
import itertools
import json
from bisect import bisect
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import workloads

import mqsel

SEED = 8
Message = dict[str, Any]


class Zipf:
    """Numbers from 0, the first ones more often: the n-th with weight 1 / n ** alpha."""

    def __init__(self, count: int, alpha: float) -> None:
        self.sums = list(itertools.accumulate((n + 1) ** -alpha for n in range(count)))

    def draw(self, random: Random) -> int:
        return bisect(self.sums, random.random() * self.sums[-1])


class Workload(NamedTuple):
    """What makes selectors and messages.

    Attributes:
        name: for people.
        selectors: gives *count* texts; the first ones of many are those of few.
        message: draws one.
        dialect: of the texts.
    """

    name: str
    selectors: Callable[[int], list[str]]
    message: Callable[[Random], Message]
    dialect: mqsel.Dialect = mqsel.JMS

    def messages(self, count: int) -> list[Message]:
        random = Random(f"{self.name} messages")
        return [self.message(random) for _ in range(count)]


def listed(name: str, draw: Callable[[Random], str]) -> Callable[[int], list[str]]:
    """Give what draws a list of selectors from the seed of a workload."""

    def selectors(count: int) -> list[str]:
        random = Random(f"{SEED} {name}")
        return [draw(random) for _ in range(count)]

    return selectors


# ---- ABE: nested expressions, 14 tests each, of which three in a hundred hold ----------------------------------------

_DIMENSIONS, _CARDINALITY, _EVENT = 1000, 100, 20
_POPULAR = Zipf(_DIMENSIONS, 0.6)
_SHARED = 18.35, 4.33  # how many selectors share a test, and an inner expression


def _abe_test(random: Random) -> str:
    name, value = f"p{_POPULAR.draw(random)}", random.randrange(_CARDINALITY)
    sign = random.choices(("=", "<>", "<", "<=", ">", ">="), (4, 2, 1, 1, 1, 1))[0]
    return f"{name} {sign} {value}"


def _abe(count: int) -> list[str]:
    random = Random(f"{SEED} ABE")
    # The pools are as large as what has been drawn so far allows, so that few selectors are the first of many.
    tests: list[str] = []
    inner: list[str] = []
    drawn = [0, 0]

    def pick(pool: list[str], which: int, make: Callable[[], str]) -> str:
        drawn[which] += 1
        if len(pool) * _SHARED[which] <= drawn[which]:
            pool.append(make())
            return pool[-1]
        return pool[int(len(pool) * random.random() ** (1 / 0.4))]  # Zipf, alpha 0.6, by its inverse

    def joined(make: Callable[[], str]) -> str:
        kind = random.choices(("AND", "OR", "NOT", "XOR", "XNOR"), (40, 40, 10, 5, 5))[0]
        if kind in ("AND", "OR"):
            return "(" + f" {kind} ".join([make() for _ in range(random.randint(2, 6))]) + ")"
        if kind == "NOT":
            return f"NOT {make()}" if (one := make()) is None else f"NOT ({one})"
        one, other = make(), make()
        if kind == "XOR":
            return f"({one} AND NOT ({other}) OR NOT ({one}) AND {other})"
        return f"({one} AND {other} OR NOT ({one}) AND NOT ({other}))"

    def test() -> str:
        return pick(tests, 0, lambda: _abe_test(random))

    return [joined(lambda: pick(inner, 1, lambda: joined(test))) for _ in range(count)]


def _abe_message(random: Random) -> Message:
    message: Message = {}
    while len(message) < _EVENT:
        message[f"p{_POPULAR.draw(random)}"] = random.randrange(_CARDINALITY)
    return message


# ---- conjunctions of three to seven tests ----------------------------------------------------------------------------


def _conjunction(random: Random) -> str:
    tests = []
    for number in random.sample(range(100), random.randint(3, 7)):
        kind, value = random.random(), random.randrange(100)
        if number % 2 and kind < 0.65:
            choices = ", ".join(f"'v{random.randrange(100)}'" for _ in range(3))
            tests.append(f"s{number} = 'v{value}'" if kind < 0.55 else f"s{number} IN ({choices})")
        elif kind < 0.65:
            tests.append(f"n{number} = {value}")
        else:
            tests.append(f"n{number} BETWEEN {value} AND {value + random.randint(5, 40)}")
    return " AND ".join(tests)


def _conjunction_message(random: Random) -> Message:
    chosen = random.sample(range(100), 30)
    return {
        f"{'s' if odd else 'n'}{number}": f"v{random.randrange(100)}" if odd else random.randrange(100)
        for number in chosen
        for odd in (number % 2,)
    }


# ---- JMS: subscriptions by a key, or by what most messages have ------------------------------------------------------

_KEYS = {"account": Zipf(5_000, 0.8), "order": Zipf(50_000, 0.8), "customer": Zipf(100_000, 0.8)}
_CATEGORIES = {
    name: Zipf(size, 1.0)
    for name, size in zip(
        ("region", "kind", "color", "carrier", "currency", "country", "product"),
        (4, 6, 10, 20, 40, 70, 100),
        strict=True,
    )
}
_NUMBERS = {f"n{place}": size for place, size in enumerate((100, 100, 200, 200, 300, 400, 500, 600, 800, 1000))}


def _key(random: Random) -> str:
    name = random.choice([*_KEYS])
    values = [f"'{name}-{_KEYS[name].draw(random)}'" for _ in range(random.randint(2, 4))]
    return f"{name} = {values[0]}" if random.random() < 0.8 else f"{name} IN ({', '.join(values)})"


def _plain_test(random: Random) -> str:
    if random.random() < 0.45:
        name = random.choice([*_CATEGORIES])
        values = [f"'{name}-{_CATEGORIES[name].draw(random)}'" for _ in range(random.randint(2, 4))]
        return f"{name} = {values[0]}" if random.random() < 0.6 else f"{name} IN ({', '.join(values)})"
    name = random.choice([*_NUMBERS])
    size = _NUMBERS[name]
    value = random.randrange(size)
    kind = random.random()
    if kind < 0.3:
        return f"{name} = {value}"
    if kind < 0.65:
        return f"{name} {random.choice(['<', '>'])} {value}"
    return f"{name} BETWEEN {value} AND {value + random.randint(size // 10, size // 2)}"


def _jms_test(random: Random) -> str:
    kind = random.random()
    if kind < 0.1:
        return f"({_plain_test(random)} OR {_plain_test(random)})"
    if kind < 0.2:
        name = random.choice([*_CATEGORIES, *_NUMBERS])
        return f"{name} IS {'NOT ' if random.random() < 0.8 else ''}NULL"
    if kind < 0.3:
        name = random.choice([*_CATEGORIES])
        text = f"{name}-{_CATEGORIES[name].draw(random)}"
        return f"{name} LIKE '{text[: random.randint(3, len(text))]}%'" if kind < 0.25 else f"{name} LIKE '%{text[2:]}'"
    if kind < 0.35:
        return f"NOT ({_plain_test(random)})"
    if kind < 0.38:
        return f"{random.choice([*_NUMBERS])} = 'none'"  # a constant of the wrong type
    if kind < 0.41:
        name = random.choice([*_NUMBERS])
        return f"{name} * 2 + 1 > {random.randrange(2 * _NUMBERS[name])}"
    return _plain_test(random)


def _jms(keyed: float) -> Callable[[Random], str]:
    def draw(random: Random) -> str:
        tests = [_key(random)] if random.random() < keyed else []
        tests += [_jms_test(random) for _ in range(random.randint(2, 4))]
        return " AND ".join(dict.fromkeys(tests))

    return draw


def _jms_message(random: Random) -> Message:
    made: Message = {name: f"{name}-{zipf.draw(random)}" for name, zipf in (_KEYS | _CATEGORIES).items()}
    made |= {name: random.randrange(size) for name, size in _NUMBERS.items()}
    return {name: value for name, value in made.items() if random.random() >= 0.1}


# ---- what no index can help ------------------------------------------------------------------------------------------


def _one_sided(random: Random) -> str:
    tests = [f"{random.choice([*_NUMBERS])} {random.choice(['<', '>='])} {random.randrange(500)}" for _ in range(2)]
    return " AND ".join(tests)


def _contains(random: Random) -> str:
    return f"{random.choice([*_CATEGORIES])} LIKE '%{random.choice('abcdegino')}{random.choice('acdeinorty-')}%'"


def _negated(random: Random) -> str:
    tests = [_plain_test(random) for _ in range(3)]
    return " AND ".join([f"NOT ({one})" if random.random() < 0.5 else one for one in tests])


def _hundred(count: int) -> list[str]:
    few = listed("hundred", _jms(0.7))(100)
    return [few[number % 100] for number in range(count)]


def _hot(random: Random) -> str:
    return f"kind = 'kind-0' AND {_plain_test(random)} AND {_plain_test(random)}"


def shared() -> Workload | None:
    """Give the subscriptions that stand beside the checkout, and the messages they are for; None where none do."""
    path = workloads.SHARED / "subscriptions.json.gz"
    if not path.exists():
        return None
    with gzip.open(path, "rt", encoding="utf-8") as file:
        texts = json.load(file)
    drawn = iter(itertools.cycle(workloads.shared_messages()))
    return Workload("subscriptions", lambda count: texts[:count], lambda _: next(drawn), mqsel.IBM_MQ)


WORKLOADS = [
    Workload("JMS sparse", listed("sparse", _jms(1.0)), _jms_message),
    Workload("conjunctions", listed("conjunctions", _conjunction), _conjunction_message),
    Workload("JMS dense", listed("dense", _jms(0.7)), _jms_message),
    Workload("ABE", _abe, _abe_message),
]
ADVERSARIAL = [
    Workload("one-sided ranges", listed("one-sided", _one_sided), _jms_message),
    Workload("LIKE '%x%'", listed("contains", _contains), _jms_message),
    Workload("half NOT", listed("negated", _negated), _jms_message),
    Workload("copies of a hundred", _hundred, _jms_message),
    Workload("one hot value", listed("hot", _hot), _jms_message),
]
