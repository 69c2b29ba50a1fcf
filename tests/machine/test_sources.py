"""The four sources of properties: mappings, dicts, sequences and records, each asked once and only where needed."""

from __future__ import annotations

import collections
import itertools
import pickle
import random
import sys
import types
from array import array
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import oracle
import pytest
import strategies
from conftest import shown
from running import JMS, Color, Line, Lookup, Pair, _line, truth
from strategies import JMS_PRESETS

import mqsel
from mqsel.errors import PropertyTypeError
from mqsel.language.parser import parse
from mqsel.machine import _vm
from mqsel.values import Float32, Truth

# ---- sources -------------------------------------------------------------------------------------------------------


class Bag(dict):  # type: ignore[type-arg]
    """A subclass of dict."""


MAPPINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "dict": dict,
    "subclass": Bag,
    "OrderedDict": collections.OrderedDict,
    "defaultdict": lambda message: collections.defaultdict(int, message),
    "Counter": collections.Counter,
    "ChainMap": lambda message: collections.ChainMap({}, message),
    "UserDict": collections.UserDict,
    "MappingProxyType": types.MappingProxyType,
    "Mapping": Lookup,
}


def sources(message: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Write one message in every form: (what it is, arguments for compile, the message)."""
    for name, kind in MAPPINGS.items():
        yield name, {}, kind(message)
    names, values = tuple(message), tuple(message.values())
    backwards = names[::-1]
    yield "tuple", {"schema": names}, values
    yield "list", {"schema": ("other name", *names)}, [object(), *values]
    yield "named", {}, _line(message)
    yield "named, by the schema", {"schema": names}, type("Line", (Line,), {"_fields": backwards})(values)
    yield "Record", {}, mqsel.Record(names, values)
    yield "Record and schema", {"schema": backwards}, mqsel.Record(backwards, message)


@pytest.mark.parametrize("name", JMS_PRESETS)
def test_every_source_gives_the_same_answer(name: str) -> None:
    """Invariant: how a message is laid out changes none of the four values."""
    rng = random.Random(f"sources {name}")
    for _ in range(150):
        text, properties = strategies.random_case(rng, name)
        wanted = oracle.evaluate(parse(text, JMS_PRESETS[name]), properties, JMS_PRESETS[name])
        message = strategies.to_message(properties)
        got = {form: truth(text, one, dialect=JMS_PRESETS[name], **options) for form, options, one in sources(message)}

        assert got == dict.fromkeys(got, wanted), (text, properties)


def test_rows_of_spark_with_and_without_schema() -> None:
    """A Row carries the names of its positions; a schema, where there is one, decides instead."""
    sql = pytest.importorskip("pyspark.sql")
    row, other = sql.Row(color="red", weight=5), sql.Row("weight", "color")(5, "red")
    matcher = mqsel.compile("color = 'red' AND weight = 5")
    renamed = mqsel.compile("a = 'red' AND b = 5", schema=("a", "b"))

    assert [matcher.matches(each) for each in (row, other, row, other)] == [True] * 4
    assert renamed.matches(row)
    assert not renamed.matches(other)
    assert mqsel.compile("size IS NULL").matches(row)
    assert mqsel.compile("color = 'red' AND weight = 5").matches(pickle.loads(pickle.dumps(row)))
    with pytest.raises(PropertyTypeError):
        matcher.matches(sql.Row("red", 5))


def test_a_row_may_hold_anything_it_is_not_asked_for() -> None:
    """Columns that are no property values hurt only the selector that reads them."""
    sql = pytest.importorskip("pyspark.sql")
    row = sql.Row(id=1, tags=["a"], inner=sql.Row(x=1))

    assert mqsel.compile("id = 1").matches(row)
    with pytest.raises(PropertyTypeError, match="tags"):
        mqsel.compile("tags = 1").matches(row)


NESTED = [
    ("st.b = 3", "st.b"),
    ("st.b IS NULL", "st.b"),
    ("id = 1 AND m.k = 'v'", "m.k"),
    ("arr.a.b IS NULL", "arr.a.b"),
    ("x IS NULL", "usr.x"),
]


@pytest.mark.parametrize(("text", "name"), NESTED)
def test_names_that_lead_into_a_row_are_errors(text: str, name: str) -> None:
    """A column of a DataFrame is followed there, so that NULL would be another answer: in a Matcher and in a set."""
    sql = pytest.importorskip("pyspark.sql")
    names = ("id", "st", "m", "arr", "usr")
    flat = sql.Row(*names)(1, None, None, None, None)
    row = sql.Row(*names)(1, sql.Row(b=3), {"k": "v"}, [sql.Row(key="a", value=1)], sql.Row(x=1))
    matcher, selectors = mqsel.compile(text), mqsel.SelectorSet({"k": text})
    ways: list[Any] = [matcher.matches, matcher.evaluate, selectors.match, lambda one: list(matcher.filter([one]))]

    for ask in ways:
        ask(flat)
        with pytest.raises(PropertyTypeError, match=f"'{name}' leads into the field") as caught:
            ask(row)
        assert caught.value.hint == "select rows of a DataFrame by mqsel.spark.rows(matcher, df), or flatten them first"


def test_names_of_rows_that_lead_nowhere_are_missing() -> None:
    """A field of the whole name counts first; a plain value has nothing in it; a namedtuple is no Row."""
    sql = pytest.importorskip("pyspark.sql")
    row = sql.Row("st.b", "st", "usr", "usr.x")(3, sql.Row(b=4), sql.Row(x=4), 3)
    insensitive = mqsel.compile("[ST.B] = 3 AND [id.x] IS NULL", dialect="AZURE_SERVICE_BUS")

    assert mqsel.compile("st.b = 3 AND x = 3").matches(row)
    assert mqsel.compile("a.b IS NULL").matches(sql.Row(a="text"))
    assert mqsel.compile("b.x IS NULL").matches(Swapped(b={"x": 1}, a=1))
    assert insensitive.matches(sql.Row("St.b", "id")(3, 5))
    with pytest.raises(PropertyTypeError, match=r"'ST.B' leads into"):
        insensitive.matches(sql.Row("St", "id")(sql.Row(b=3), 5))


class Swapped(NamedTuple):
    """The same, the other way round."""

    b: Any
    a: Any


class Wide(NamedTuple):
    """The same, further right."""

    x: Any
    y: Any
    b: Any
    a: Any


def test_named_tuples_of_many_layouts_in_one_stream() -> None:
    """Each named tuple is read by its own names, also between others."""
    stream = [Pair(1, 2), Swapped(2, 1), Wide(0, 0, 2, 1), Pair(2, 1), Pair(1, 2), Swapped(1, 2)] * 3
    matcher = mqsel.compile("a = 1 AND b = 2")

    assert [message for message in stream if (message.a, message.b) == (1, 2)] == list(matcher.filter(stream))


def test_names_that_change_in_place_are_read_again() -> None:
    """What a tuple says of its positions is believed for that tuple, not for later ones with the same list of names."""
    kind = type("Line", (Line,), {"_fields": ["a", "b"]})
    matcher = mqsel.compile("b = 'x'")
    before = matcher.matches(kind(("y", "x")))
    kind._fields.reverse()

    assert (before, matcher.matches(kind(("x", "y")))) == (True, True)


def test_a_defaultdict_does_not_grow() -> None:
    """Reading a property that is missing leaves the message as it is."""
    message = collections.defaultdict(lambda: 5, y=1)

    assert truth("x = 5 OR usr.z = 5", message) == "UNKNOWN"
    assert dict(message) == {"y": 1}


def test_a_dict_subclass_answers_by_get() -> None:
    """A subclass of dict is asked, not looked into."""

    class Upper(dict):  # type: ignore[type-arg]
        def get(self, name: str, default: Any = None) -> Any:
            return super().get(name.upper(), default)

    assert truth("x = 5", Upper(X=5)) == "TRUE"


def test_dicts_of_many_shapes_in_one_stream() -> None:
    """Invariant: where a property stood in earlier messages does not change where it is found in this one."""
    rng = random.Random("shapes")
    names = ["a", "b", "c", "usr.a", *(f"p{number}" for number in range(6))]
    stream: list[dict[str, Any]] = []
    while len(stream) < 3000:
        shape = rng.sample(names, rng.randrange(len(names) + 1))
        for _ in range(rng.choice((1, 2, 20, 100))):
            # Keys that are the very strings of the program, or only equal to them; with and without holes.
            fresh = rng.random() < 0.3
            message = {"".join(list(name)) if fresh else sys.intern(name): rng.randrange(3) for name in shape}
            if shape and rng.random() < 0.2:
                message[shape[0]] = message.pop(shape[0])
            stream.append(message)
    matcher = mqsel.compile("a = 1 AND (b <> c OR c IS NULL AND b <> 0 OR b IS NULL)")
    wanted = [
        each
        for each in stream
        if each.get("a", each.get("usr.a")) == 1
        and (each.get("b") is None or (each["b"] != 0 if each.get("c") is None else each["b"] != each["c"]))
    ]

    assert list(map(id, matcher.filter(stream))) == list(map(id, wanted))
    assert list(map(id, matcher.filter(iter(stream)))) == list(map(id, wanted))
    assert [id(each) for each in stream if matcher.matches(each)] == list(map(id, wanted))


def test_keys_of_other_kinds_are_not_properties() -> None:
    """A dict may have keys that are no strings, and strings that are no exact ones."""
    message = {1: "a", None: "b", b"x": "c", ("x",): "d", Color("x"): "e"}

    assert truth("x IS NULL", message) == "TRUE"
    assert truth("x = 5", {type("Name", (str,), {})("x"): 5}) == "TRUE"


@pytest.mark.parametrize("kind", MAPPINGS.values(), ids=MAPPINGS)
def test_usr_x_and_x_are_one_property(kind: Callable[[dict[str, Any]], Any]) -> None:
    """Language §6: under mqi names both spellings read either spelling; elsewhere a name is its letters."""
    for written, sent in itertools.product(("x", "usr.x"), repeat=2):
        assert truth(f"{written} = 5", kind({sent: 5})) == "TRUE", (written, sent)
    assert truth("x IS NULL", kind({"usr.x": 5}), dialect=JMS) == "TRUE"
    assert truth("JMSType IS NULL", kind({"usr.JMSType": "car"})) == "TRUE"
    assert truth("shop.x IS NULL", kind({"usr.shop.x": 5, "x": 5})) == "TRUE"


def test_usr_x_and_x_are_one_property_of_a_sequence() -> None:
    """A schema, a named tuple and a Record may use either spelling."""
    for written, sent in itertools.product(("x", "usr.x"), repeat=2):
        for _, options, message in sources({"y": 1, sent: 5}):
            assert truth(f"{written} = 5", message, **options) == "TRUE", (written, sent)


@pytest.mark.parametrize("message", [{"x": None, "usr.x": 5}, {"x": 5, "usr.x": None}, {"usr.x": 5, "x": 6}])
def test_a_message_with_both_spellings_has_one_answer(message: dict[str, Any]) -> None:
    """Invariant: a message that carries a property twice gives one answer in every form it may have."""
    for selector in ("x = 5", "x IS NULL", "usr.x = 5"):
        got = {form: truth(selector, one, **options) for form, options, one in sources(message)}

        assert got == dict.fromkeys(got, got["dict"]), selector


def test_a_schema_without_the_property() -> None:
    """A property that the layout does not have is NULL."""
    assert truth("z IS NULL", (1, 2), schema=("x", "y")) == "TRUE"
    assert truth("z = 1", [1, 2], schema=("x", "y")) == "UNKNOWN"
    assert truth("z = 1", mqsel.Record(["x"], [1])) == "UNKNOWN"
    assert truth("z = 1 OR x = 1", Pair(1, 2)) == "UNKNOWN"
    assert truth("x IS NULL", (), schema=()) == "TRUE"


@pytest.mark.parametrize("values", [(), (1,), (1, 2, 3), tuple(range(1000))], ids=len)
def test_a_sequence_of_the_wrong_length(values: tuple[int, ...]) -> None:
    """A sequence that the schema does not lay out is refused, whatever the selector reads."""
    for selector in ("x = 1", "z IS NULL", ""):
        for message in (values, list(values)):
            with pytest.raises(PropertyTypeError, match=f"{len(values)} values.* 2") as caught:
                mqsel.compile(selector, schema=("x", "y")).matches(message)
            assert caught.value.name is None


def test_a_mapping_needs_no_schema_and_minds_none() -> None:
    """A matcher with a schema still takes mappings and Records, by name."""
    matcher = mqsel.compile("x = 5", schema=("y", "x"))

    assert [matcher.matches(each) for each in ({"x": 5}, Lookup({"x": 5}), mqsel.Record(["x"], [5]), (0, 5))] == [
        True
    ] * 4


@pytest.mark.parametrize(
    "message",
    [
        None,
        5,
        1.5,
        True,
        "x",
        b"x",
        {"x"},
        frozenset("x"),
        object(),
        iter(()),
        range(2),
        array("b", [1]),
        dict,
        (5,),
        [5],
    ],
    ids=shown,
)
@pytest.mark.parametrize("selector", ["x = 5", ""])
def test_what_is_no_message(message: Any, selector: str) -> None:
    """Anything but a mapping, a Record and a sequence with names is refused, with its type and what to do."""
    for ask in (mqsel.compile(selector).matches, mqsel.compile(selector).evaluate, mqsel.compile(selector).explain):
        with pytest.raises(PropertyTypeError) as caught:
            ask(message)
        assert (caught.value.name, caught.value.value_type) == (None, type(message).__qualname__)
        assert caught.value.hint


@pytest.mark.parametrize(
    "message", [None, "xy", b"xy", {"x", "y"}, range(2), iter((1, 2)), array("b", [1, 2])], ids=shown
)
def test_only_tuples_and_lists_are_sequences(message: Any) -> None:
    """A schema does not make a message of a string of the right length."""
    with pytest.raises(PropertyTypeError):
        mqsel.compile("x = 5", schema=("x", "y")).matches(message)


def test_a_mapping_that_raises() -> None:
    """An exception of the message's own comes through as it is, and the matcher works on."""

    class Broken(Lookup):
        def get(self, name: str, _default: Any = None) -> Any:
            raise self.data[name]

    matcher = mqsel.compile("x = 5")
    for error in (KeyError("x"), ValueError("x"), RecursionError(), KeyboardInterrupt(), GeneratorExit()):
        before = sys.getrefcount(error)
        with pytest.raises(type(error)) as caught:
            matcher.matches(Broken({"x": error}))
        assert caught.value is error
        error.__traceback__ = None
        del caught
        assert sys.getrefcount(error) == before
        assert matcher.matches({"x": 5})


def test_a_stop_iteration_of_a_message_does_not_end_the_stream() -> None:
    """A message whose get() raises StopIteration must not make the rest of the stream vanish."""

    class Stopping(Lookup):
        def get(self, _name: str, _default: Any = None) -> Any:
            raise StopIteration

    messages = [{"x": 5}, Stopping({}), {"x": 5}]
    matcher = mqsel.compile("x = 5")
    with pytest.raises(PropertyTypeError, match="StopIteration") as caught:
        list(matcher.filter(messages))
    assert caught.value.index == 1
    stream = matcher.filter(messages, errors="skip")
    assert list(stream) == [{"x": 5}, {"x": 5}]
    assert (stream.seen, stream.selected, stream.skipped) == (3, 2, 1)


class Collision:
    """A key that stands where a property's name is looked for, and does something when compared with it."""

    def __init__(self, name: str, act: Callable[[], bool]) -> None:
        self.number = hash(name)
        self.act = act

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and self.act()


@pytest.mark.parametrize("missing", [0.1, 0.5, 0.9])
def test_a_property_is_found_wherever_it_stands(missing: float) -> None:
    """Before its place, behind it, not at all, deleted, in another order, at a place of its own from now on."""
    draw = random.Random(7)
    names = [f"p{number}" for number in range(12)]
    messages = []
    for number in range(3000):
        message = {name: draw.randrange(3) for name in names if draw.random() > missing}
        for name in draw.sample(sorted(message), min(len(message), draw.randrange(3))):
            del message[name]
        if number % 500 > 400:
            message = {name: message[name] for name in sorted(message, reverse=True)}
        messages.append(dict.fromkeys(names[: number // 300], 1) | message)
    matcher = mqsel.compile("p2 = 1 AND p7 = 2 OR p11 IS NULL AND p9 < 1")

    assert list(matcher.filter(messages)) == [
        each
        for each in messages
        if (each.get("p2") == 1 and each.get("p7") == 2) or ("p11" not in each and each.get("p9", 1) < 1)
    ]


@pytest.mark.parametrize("action", ["clear", "fill", "replace"])
def test_keys_that_change_the_dict_while_it_is_read(action: str) -> None:
    """A key's __eq__ may change the dict under the machine: the answer is of before or after, never a crash."""
    message: dict[Any, Any] = {}

    def act() -> bool:
        if action == "clear":
            message.clear()
        elif action == "fill":
            message.update((f"k{number}", number) for number in range(1000))
        elif "other" not in message:
            message["other"] = 1
            message["x"] = "y" * 3
        return False

    for _ in range(100):
        message.clear()
        message[Collision("x", act)] = 0
        message["x"] = "r" + "ed"

        assert mqsel.compile("x = 'red' OR x = 'yyy' OR x LIKE 'q%'").matches(message) in (True, False)


def test_keys_that_raise_when_compared() -> None:
    """An exception of a key's __eq__ comes through."""

    def act() -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        mqsel.compile("x = 5").matches({Collision("x", act): 1, "x": 5})
    with pytest.raises(ZeroDivisionError):
        mqsel.compile("x = 5").matches({Collision("usr.x", act): 1})


def test_a_key_that_is_equal_counts() -> None:
    """A dict finds by equality, and so does the machine."""
    assert truth("x = 5", {Collision("x", lambda: True): 5}) == "TRUE"


def test_a_mapping_that_changes_while_it_is_read() -> None:
    """A property has the value it had when first read, although the mapping gives another each time."""

    class Moving(Lookup):
        def get(self, name: str, _default: Any = None) -> Any:
            self.data[name] = self.data.get(name, 0) + 1
            self.data[f"other{len(self.data)}"] = "x" * len(self.data)
            return self.data[name]

    for optimize in (True, False):
        matcher = mqsel.compile("x = 1 AND x < 2 AND NOT x > 1 AND x BETWEEN 1 AND 1 AND x + x = 2", optimize=optimize)
        assert matcher.matches(Moving({}))


# ---- at most one fetch, and only where needed ------------------------------------------------------------------------


class Counting(Lookup):
    """A Mapping that notes what it is asked."""

    def __init__(self, data: dict[str, Any]) -> None:
        super().__init__(data)
        self.asked: collections.Counter[str] = collections.Counter()

    def get(self, name: str, default: Any = None) -> Any:
        self.asked[name] += 1
        return self.data.get(name, default)


MANY_TIMES = (
    "(x > 1 AND x < 9 OR x IS NULL) AND x + x * x <> x AND x BETWEEN -x AND x * 2 AND NOT x = 7 AND x IN ('a', 'b') "
    "OR x LIKE 'a%' OR x NOT LIKE '%b' OR x IS NOT NULL AND -x < x"
)


@pytest.mark.parametrize("value", [5, None, "abc", Float32(2.5), True, b"x"])
@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("dialect", JMS_PRESETS.values(), ids=JMS_PRESETS)
def test_a_property_is_fetched_once(value: Any, optimize: bool, dialect: mqsel.Dialect) -> None:
    """However often a selector reads a property, its message is asked once."""
    message = Counting({"x": value})
    mqsel.compile(MANY_TIMES, dialect=dialect, optimize=optimize).matches(message)

    assert message.asked.pop("x") == 1
    # A mapping that answers NULL may be asked for the other spelling of the name.
    assert sum(message.asked.values()) <= (dialect is mqsel.IBM_MQ and value is None)


def test_every_message_is_asked_anew() -> None:
    """One fetch a message: not one for all, and no value from the message before."""
    stream = [Counting({"x": number % 3}) for number in range(100)]
    chosen = list(mqsel.compile("x = 1 OR x = 2 AND x <> 0").filter(stream))

    assert chosen == [message for message in stream if message.data["x"]]
    assert {message.asked["x"] for message in stream} == {1}


class Noting(dict):  # type: ignore[type-arg]
    """Typed properties for the oracle that note which were read."""

    def __init__(self, properties: dict[str, Any]) -> None:
        super().__init__(properties)
        self.read: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.read.add(str(name).removeprefix("usr."))
        return super().__contains__(name)


@pytest.mark.sample(4)
@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("name", JMS_PRESETS)
def test_only_what_decides_is_fetched(name: str, optimize: bool) -> None:
    """Invariant: no property is fetched twice, and none that the lazy evaluation of language §1 would not read."""
    rng = random.Random(f"lazy {name}")
    for _ in range(300):
        text, properties = strategies.random_case(rng, name)
        noting, message = Noting(properties), Counting(strategies.to_message(properties))
        oracle.evaluate(parse(text, JMS_PRESETS[name]), noting, JMS_PRESETS[name])
        mqsel.compile(text, dialect=JMS_PRESETS[name], optimize=optimize).matches(message)

        assert max(message.asked.values(), default=1) == 1, (text, properties)
        assert {asked.removeprefix("usr.") for asked in message.asked} <= noting.read, (text, properties)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", JMS_PRESETS)
def test_alternatives_over_one_property(name: str) -> None:
    """Invariant: many alternatives over one property give what the oracle gives, in and before what may be ERR."""
    rng = random.Random(f"alternatives {name}")
    dialect = JMS_PRESETS[name]
    wholes = [
        "{}",
        "NOT ({})",
        "({}) AND 1 / n = 1 OR flag",
        "flag OR NOT ({}) AND n + m > 0",
        "({}) AND flag OR n / n = m",
    ]
    rests = ["", " AND n = 1", " AND n > m", " AND flag", " AND (flag OR n = 2)", " AND t = 'a'", " AND m / n = 1"]
    for _ in range(150):
        letters = rng.choices("abcdefghijkl", k=rng.choice((2, 4, 5, 12, 20)))
        terms = [f"{rng.choice('sssst')} = '{letter}'{rng.choice(rests)}" for letter in letters]
        terms += rng.choices(("flag", "s IS NULL", "s = t", "'a' = s"), k=rng.choice((0, 0, 1)))
        text = rng.choice(wholes).format(" OR ".join(terms))
        matcher = mqsel.compile(text, dialect=dialect)
        tree = parse(text, dialect)
        for _ in range(40):
            properties = {
                "s": rng.choice((("string", rng.choice("abcdefghijklm")), ("null", None), ("int64", 1))),
                "t": rng.choice((("string", "a"), ("null", None))),
                "n": rng.choice((("int64", rng.randrange(3)), ("null", None))),
                "m": ("int64", rng.randrange(3)),
                "flag": rng.choice((("boolean", True), ("boolean", False), ("null", None))),
            }
            message = strategies.to_message(properties)

            assert matcher.matches(message) is (oracle.evaluate(tree, properties, dialect) == "TRUE"), (text, message)
            assert Truth(_vm.Machine(matcher.program).truth(message)).name == oracle.evaluate(tree, properties, dialect)


@pytest.mark.parametrize("depth", [1, 50])
def test_a_mapping_that_asks_the_same_matcher(depth: int) -> None:
    """Evaluations nested in each other do not share their values: each level sees its own message."""
    matcher = mqsel.compile("x = 'yes' AND y = 'yes' AND x LIKE 'y%' AND z IS NULL")
    answers: list[bool] = []

    class Nested(Lookup):
        def get(self, name: str, default: Any = None) -> Any:
            if name == "y" and self.data["level"]:
                level = self.data["level"] - 1
                answers.append(matcher.matches(Nested({"x": "yes", "y": "yes" if level % 2 else "no", "level": level})))
            return self.data.get(name, default)

    assert matcher.matches(Nested({"x": "yes", "y": "yes", "level": depth}))
    assert answers == [bool(level % 2) for level in range(depth)]


def test_a_stream_that_asks_its_own_matcher() -> None:
    """Inside a filter, the same matcher may be asked about other messages, and run other streams."""
    matcher = mqsel.compile("x = 'yes' AND y = 'yes'")

    class Nested(Lookup):
        def get(self, name: str, default: Any = None) -> Any:
            assert list(matcher.filter([{"x": "no"}, {"x": "yes", "y": "yes"}])) == [{"x": "yes", "y": "yes"}]
            assert not matcher.matches(Pair(1, 2))
            return self.data.get(name, default)

    stream = [Nested({"x": "yes", "y": answer}) for answer in ("yes", "no", "yes")]

    assert list(matcher.filter(stream)) == [stream[0], stream[2]]
