"""The workloads: messages from one seed, the selectors W1-W7, and what a user would write in Python instead.

Nothing here asks mqsel what is selected: `expected` evaluates the selectors' text by itself, in plain Python. Only the
Python form of the long selectors is written from their tree, and its answers are compared like everyone's.
"""

from __future__ import annotations

import functools
import gzip
import importlib.util
import itertools
import json
import operator
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import ModuleType

import mqsel
from mqsel.language import nodes
from mqsel.language.parser import parse
from mqsel.machine.schema import as_schema

SEED = 20
W7_SEED = 8  # the first that selects about what W7 does, and never meets ERR: so the plain Python form of it is right
STREAMED, CYCLED = 20_000, 2_000
SIZES = {"20k": STREAMED, "2k": CYCLED}
SHARED = Path(__file__).resolve().parents[2] / "shared" / "workloads"

# ---- messages ----------------------------------------------------------------------------------------------------

NAMES = ("JMSType", "JMSPriority", "color", "weight", "price", "region", "symbol", "active")
TYPES = ("string", "int64", "string", "int64", "float64", "string", "string", "boolean")
VEHICLES = ("car", "truck", "bike", "bus")
COLORS = ("red", "green", "blue", "black")
REGIONS = ("us-east", "us-west", "eu-west", "eu-central", "ap-south", "sa-east")
Row = tuple[object, ...]


def _symbol(random: Random) -> str:
    kind = random.random()
    if kind < 0.7:
        return f"S{random.randrange(50)}"
    return f"AB{'_' if kind < 0.85 else 'C'}{random.randrange(100):02}"


def complete_row(random: Random) -> Row:
    """Draw a message that lacks nothing, as values in the order of NAMES."""
    return (
        random.choice(VEHICLES),
        random.randrange(10),
        random.choice(COLORS),
        random.randint(1000, 4999),
        round(random.uniform(1, 100), 2),
        random.choice(REGIONS),
        _symbol(random),
        random.random() < 0.5,
    )


@functools.cache
def rows(count: int) -> list[Row]:
    """Return *count* messages as values in the order of NAMES; None where a message lacks the property."""
    random = Random(SEED)
    made = []
    for _ in range(count):
        row = list(complete_row(random))
        if random.random() < 0.1:
            for place in random.sample(range(2, 8), random.randint(1, 3)):
                row[place] = None
        made.append(tuple(row))
    return made


def _fresh(row: Row) -> Row:
    """Copy the strings: a message that arrived shares none with the next one."""
    return tuple([value.encode().decode() if isinstance(value, str) else value for value in row])


def as_dict(row: Row) -> dict[str, object]:
    return {name: value for name, value in zip(NAMES, _fresh(row), strict=True) if value is not None}


def as_json(row: Row) -> dict[str, object]:
    return json.loads(json.dumps(as_dict(row)))


def as_record(row: Row) -> mqsel.Record:
    return mqsel.Record(SCHEMA, _fresh(row))


def as_row(row: Row) -> Row:
    """Return a pyspark Row as it arrives from a data frame: all of them share one list of names."""
    from pyspark.sql import Row as SparkRow

    made = SparkRow(*_fresh(row))
    made.__fields__ = FIELDS
    return made


FIELDS = list(NAMES)
SCHEMA = as_schema(zip(NAMES, TYPES, strict=True))
FORMS: dict[str, Callable[[Row], object]] = {
    "dicts": as_dict,
    "json": as_json,  # keys are fresh objects in each message
    "tuples": _fresh,
    "records": as_record,
    "rows": as_row,
}


def has_form(form: str) -> bool:
    return form != "rows" or importlib.util.find_spec("pyspark") is not None


@functools.cache
def messages(form: str, size: str) -> list:
    return list(map(FORMS[form], rows(SIZES[size])))


def matcher(text: str, form: str = "dicts") -> mqsel.Matcher:
    """Compile *text* for messages of this form; rows and records lay themselves out."""
    return mqsel.compile(text, schema=NAMES if form == "tuples" else None)


# ---- selectors ---------------------------------------------------------------------------------------------------

TESTS = {"W1": 1, "W2": 3, "W3": 2, "W4": 2, "W5": 3, "W6": 40, "W7": 100}
# How tables name the selectors for their readers.
TITLES = {
    "W1": "W1 one equality",
    "W2": "W2 three tests",
    "W3": "W3 arithmetic",
    "W4": "W4 LIKE",
    "W5": "W5 IN and NOT",
    "W6": "W6 OR of 20 pairs",
    "W7": "W7 100 nested tests",
    "four": "Four tests",
}
DEPTH = 13
_SHORT = {
    "W1": "color = 'blue'",
    "W2": "JMSType = 'car' AND color = 'blue' AND weight > 2500",
    "W3": "weight * 2 + 1 BETWEEN 3000 AND 9000 AND price / 2 >= 10.5",
    "W4": r"symbol LIKE 'AB\_%' ESCAPE '\' OR region LIKE '%west%'",
    "W5": "region IN ('us-east', 'us-west', 'eu-central') AND NOT (JMSPriority < 4) AND color IS NOT NULL",
}


def _weight(random: Random) -> int:
    return random.randint(1500, 3800)


def _price(random: Random) -> float:
    return round(random.uniform(20, 75), 1)


def _between(random: Random) -> str:
    low = random.randint(1050, 2500)
    return f"BETWEEN {low} AND {low + random.randint(500, 2500)}"


def _some(random: Random) -> str:
    return "IN (" + ", ".join(f"'{region}'" for region in random.sample(REGIONS, 3)) + ")"


# The mixture of W7: in a hundred tests so many of each.
_MIXTURE: tuple[tuple[int, Callable[[Random], str]], ...] = (
    (8, lambda r: f"weight {_between(r)}"),
    (3, lambda r: f"weight NOT {_between(r)}"),
    (12, lambda r: f"weight {r.choice(['<', '<=', '>', '>='])} {_weight(r)}"),
    (8, lambda r: f"weight * 2 + 1 {r.choice(['<=', '>'])} {_weight(r) * 2 + 1}"),
    (12, lambda r: f"price {r.choice(['<', '<=', '>', '>='])} {_price(r)}"),
    (7, lambda r: f"JMSPriority {r.choice(['<', '>='])} {r.randint(2, 7)}"),
    (5, lambda r: f"JMSType = '{r.choice(VEHICLES)}'"),
    (17, lambda r: f"color = '{r.choice(COLORS)}'"),
    (6, lambda r: f"region <> '{r.choice(REGIONS)}'"),
    (3, lambda r: f"region {_some(r)}"),
    (4, lambda r: f"region NOT {_some(r)}"),
    (5, lambda r: f"active = {r.choice(['TRUE', 'FALSE'])}"),
    (6, lambda r: f"{r.choice(['active', 'price', 'symbol'])} IS NOT NULL"),
    (2, lambda r: f"{r.choice(['active', 'symbol'])} IS NULL"),
    (1, lambda r: f"symbol LIKE '{r.choice(['AB', 'S1'])}%'"),
    (1, lambda r: f"symbol NOT LIKE '{r.choice(['AB', 'S1'])}%'"),
)


def _grow(random: Random, tests: list[str], word: str) -> tuple[str, int]:
    """Combine tests into a condition; give it and how deep it is."""
    if len(tests) == 1:
        return (f"NOT ({tests[0]})", 2) if random.random() < 0.1 else (tests[0], 1)
    cuts = sorted(random.sample(range(1, len(tests)), 2 if len(tests) > 2 and random.random() < 0.2 else 1))
    parts = [tests[start:stop] for start, stop in itertools.pairwise([0, *cuts, len(tests)])]
    grown = [_grow(random, part, "AND" if word == "OR" else "OR") for part in parts]
    text = "(" + f" {word} ".join(text for text, _ in grown) + ")"
    depth = 1 + max(depth for _, depth in grown)
    return (f"NOT {text}", depth + 1) if random.random() < 0.05 else (text, depth)


def mixed(seed: int) -> str:
    """Return a selector of W7's kind: its mixture of 100 tests, 13 deep."""
    random = Random(seed)
    tests = [make(random) for count, make in _MIXTURE for _ in range(count)]
    while True:
        random.shuffle(tests)
        text, depth = _grow(random, tests, "OR")
        if depth == DEPTH:
            return text


def selectors(*, shared: bool = True) -> dict[str, str]:
    """Return W1-W7: the long ones from the material beside the checkout if it is there, else made from the seed."""
    if shared and SHARED.exists():
        listed = json.loads((SHARED / "selectors.json").read_text(encoding="utf-8"))
        return {row["name"]: row["selector"] for row in listed}
    random = Random(SEED)
    chain = " OR ".join(f"(symbol = 'S{i}' AND price > {_price(random)})" for i in range(20))
    return {**_SHORT, "W6": chain, "W7": mixed(W7_SEED)}


def shared_counts() -> dict[str, int]:
    """Return how many of the shared messages each selects."""
    listed = json.loads((SHARED / "selectors.json").read_text(encoding="utf-8"))
    return {row["name"]: row["selected"] for row in listed}


def shared_messages() -> list[dict[str, object]]:
    with gzip.open(SHARED / "messages.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def subscriptions(count: int) -> list[str]:
    """Return *count* distinct selectors as subscribers write them: one to four tests."""
    random = Random(SEED)
    makers = (
        lambda r: f"symbol = 'S{r.randrange(50)}' AND price > {round(r.uniform(1, 100), 1)}",
        lambda r: f"JMSType = '{r.choice(VEHICLES)}' AND weight > {_weight(r)}",
        lambda r: f"region = '{r.choice(REGIONS)}' AND color = '{r.choice(COLORS)}' AND price <= {_price(r)}",
        lambda r: f"symbol IN ('S{r.randrange(50)}', 'S{r.randrange(50)}') AND JMSPriority >= {r.randrange(10)}",
        lambda r: f"weight {_between(r)} AND active = TRUE",
        lambda r: f"(region {_some(r)} AND color = '{r.choice(COLORS)}') OR NOT (price < {_price(r)})",
        lambda r: f"symbol LIKE 'AB\\_{r.randrange(10)}%' ESCAPE '\\' AND weight * 2 + 1 > {_weight(r)}",
    )
    made: dict[str, None] = {}
    while len(made) < count:
        made[random.choice(makers)(random)] = None
    return list(made)


# ---- what is selected, by plain Python ---------------------------------------------------------------------------


class _Truth(str):
    """TRUE, FALSE, UNKNOWN or ERR with the connectives of the language; a decided left side hides the right one."""

    __slots__ = ()

    def __and__(self, other: _Truth) -> _Truth:
        return _decide(self, other, FALSE, TRUE)

    def __or__(self, other: _Truth) -> _Truth:
        return _decide(self, other, TRUE, FALSE)

    def __invert__(self) -> _Truth:
        return {"FALSE": TRUE, "TRUE": FALSE}.get(self, self)


TRUE, FALSE, UNKNOWN, ERR = map(_Truth, ("TRUE", "FALSE", "UNKNOWN", "ERR"))


def _decide(left: _Truth, right: _Truth, decisive: _Truth, neutral: _Truth) -> _Truth:
    if left is decisive or left is ERR or right is neutral:
        return left
    if left is neutral or right is decisive or right is ERR:
        return right
    return UNKNOWN


_TEST = re.compile(
    r"(?P<name>[A-Za-z]+)(?P<arithmetic>(?: [*/+] \d+)*) (?:(?P<op>=|<>|<=|>=|<|>) (?P<literal>'[^']*'|[\w.]+)"
    r"|IS (?P<present>NOT )?NULL|(?P<negated>NOT )?(?:BETWEEN (?P<low>\d+) AND (?P<high>\d+)"
    r"|IN \((?P<choices>[^)]*)\)|LIKE '(?P<pattern>[^']*)'(?: ESCAPE '\\')?))"
)
_OPS = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _test(found: re.Match[str]) -> Callable[[dict], _Truth]:
    """Return a function of one test; NULL is what the documents of IBM MQ say it is, types always fit here."""
    name, null = found["name"], UNKNOWN
    compute: Callable = eval(f"lambda value: value{found['arithmetic'] or ''}")
    if found["op"]:
        compare, literal = _OPS[found["op"]], eval(found["literal"].capitalize())
        literal = found["literal"].strip("'") if isinstance(literal, str) else literal
        holds: Callable = lambda value: compare(value, literal)  # noqa: E731
    elif found["low"]:
        low, high, null = int(found["low"]), int(found["high"]), TRUE if found["negated"] else FALSE
        holds = lambda value: (low <= value <= high) != bool(found["negated"])  # noqa: E731
    elif found["choices"]:
        choices = eval(f"[{found['choices']}]")
        holds = lambda value: (value in choices) != bool(found["negated"])  # noqa: E731
    elif found["pattern"]:
        text = found["pattern"].replace(r"\_", "[_]").replace("%", ".*")
        holds = lambda value: bool(re.fullmatch(text, value, re.DOTALL)) != bool(found["negated"])  # noqa: E731
    else:
        return lambda message: TRUE if (name in message) == bool(found["present"]) else FALSE
    null = ERR if found["arithmetic"] else null

    def test(message: dict) -> _Truth:
        value = message.get(name)
        return null if value is None else TRUE if holds(compute(value)) else FALSE

    return test


def evaluator(text: str) -> Callable[[dict], _Truth]:
    """Rewrite a selector of these workloads as Python: tests become calls, AND OR NOT become & | ~."""
    tests: dict[str, Callable[[dict], _Truth]] = {}

    def name(found: re.Match[str]) -> str:
        key = f"t{len(tests)}"
        tests[key] = _test(found)
        return f"{key}(m)"

    source = _TEST.sub(name, text)
    for word, sign in ("AND", "&"), ("OR", "|"), ("NOT", "~"):
        source = re.sub(rf"\b{word}\b", sign, source)
    return eval(f"lambda m: {source}", tests)


@functools.cache
def expected(text: str, size: str) -> list[int]:
    """List which of the messages are selected."""
    evaluate = evaluator(text)
    return [place for place, message in enumerate(messages("dicts", size)) if evaluate(message) is TRUE]


# ---- what a user would write -------------------------------------------------------------------------------------

_BY_HAND = {
    "W1": "m.get('color') == 'blue'",
    "W2": "m.get('JMSType') == 'car' and m.get('color') == 'blue' and m.get('weight', 0) > 2500",
    "W3": "3000 <= m.get('weight', 0) * 2 + 1 <= 9000 and m.get('price', 0.0) / 2 >= 10.5",
    "W4": "m.get('symbol', '').startswith('AB_') or 'west' in m.get('region', '')",
    "W5": "m.get('region') in ('us-east', 'us-west', 'eu-central') and m.get('JMSPriority', 0) >= 4"
    " and m.get('color') is not None",
}


def condition(node: nodes.Node, wanted: bool, leaf: Callable[[nodes.Node, bool], str]) -> str:
    """Write "node is TRUE" (wanted) or "node is FALSE" in two-valued and, or; *leaf* writes a test.

    Exact wherever nothing is ERR: in three-valued logic NOT only swaps the two questions, and neither needs UNKNOWN.
    """
    match node:
        case nodes.Not():
            return condition(node.operand, not wanted, leaf)
        case nodes.And() | nodes.Or():
            word = " and " if isinstance(node, nodes.And) == wanted else " or "
            return "(" + word.join([condition(operand, wanted, leaf) for operand in node.operands]) + ")"
    return leaf(node, wanted)


def _python(node: nodes.Node, wanted: bool) -> str:
    """Write a test as a careful user does: what may be missing is asked for first."""
    value = getattr(node, "identifier", None) or getattr(node, "operand", None) or getattr(node, "left", None)
    name = nodes.walk(value)[0].name
    text, wanted = nodes.unparse(value), wanted != getattr(node, "negated", False)
    no = "" if wanted else "not "
    match node:
        case nodes.IsNull():
            return f"{name} is {no}None"
        case nodes.Comparison():
            sign = {"=": "==", "<>": "!="}.get(node.operator, node.operator)
            there = "" if sign == "==" and wanted else f"{name} is not None and "
            return f"({there}{no}{text} {sign} {node.right.value!r})"
        case nodes.Between() if wanted == node.negated:
            return f"({name} is None or {no}{node.low.value} <= {text} <= {node.high.value})"
        case nodes.Between():
            return f"({name} is not None and {no}{node.low.value} <= {text} <= {node.high.value})"
        case nodes.In():
            return f"({name} is not None and {text} {no}in {node.choices!r})"
        case nodes.Like():
            return f"({name} is not None and {no}{text}.startswith({node.pattern.rstrip('%')!r}))"
    raise NotImplementedError(nodes.unparse(node))


def by_hand(name: str, text: str) -> str:
    """Return the Python condition on a message ``m`` that does what the selector does."""
    if name in _BY_HAND:
        return _BY_HAND[name]
    tree = parse(text, mqsel.IBM_MQ)
    read = dict.fromkeys(node.name for node in nodes.walk(tree) if isinstance(node, nodes.Identifier))
    fetched = ", ".join(f"{name} := get({name!r})" for name in read)
    return f"(get := m.get, {fetched}) and {condition(tree, True, _python)}"


def by_lambda(name: str, text: str) -> Callable[[dict], bool]:
    return eval(f"lambda m: {by_hand(name, text)}")


def by_comprehension(name: str, text: str) -> Callable[[list], list]:
    return eval(f"lambda messages: [m for m in messages if {by_hand(name, text)}]")


# ---- side by side ------------------------------------------------------------------------------------------------

Select = Callable[[list], list]


def contenders(name: str, text: str, form: str, floor: ModuleType | None) -> dict[str, Select]:
    """Return everyone who selects from messages of this form, as functions from a list to a list."""
    stream = matcher(text, form).filter
    found: dict[str, Select] = {"mqsel": lambda messages: list(stream(messages))}
    if form in ("dicts", "json"):
        test = by_lambda(name, text)
        found["lambda"] = lambda messages: list(filter(test, messages))
        found["comprehension"] = by_comprehension(name, text)
    if floor is not None:
        ways = {"dicts": ("by_hash", "by_place"), "json": ("by_hash",), "tuples": ("by_index",)}
        for way in ways.get(form, ()):
            found[f"floor {way}"] = functools.partial(getattr(floor, way), name)
    return found


def assert_selected(select: Select, text: str, form: str, size: str) -> None:
    """Compare the answers message by message; before this no time counts."""
    given = messages(form, size)
    want, got = expected(text, size), select(given)
    assert len(want) == len(got)
    assert all(given[place] is message for place, message in zip(want, got, strict=True))


def rounds_of(select: Select, form: str, size: str) -> Callable[[], None]:
    """Run one round: 20,000 messages, streamed once or 2,000 of them ten times."""
    given, passes = messages(form, size), STREAMED // SIZES[size]

    def run() -> None:
        for _ in range(passes):
            select(given)

    return run


def calls_of(function: Callable[[object], object], size: str) -> Callable[[], None]:
    """Run one round of single calls from Python, 20,000 of them."""
    given, passes = messages("dicts", size), STREAMED // SIZES[size]

    def run() -> None:
        for _ in range(passes):
            for message in given:
                function(message)

    return run
