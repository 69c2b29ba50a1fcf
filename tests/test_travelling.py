"""Matchers travel and are shared: pickles, copies, processes of their own, threads."""

from __future__ import annotations

import concurrent.futures
import copy
import functools
import itertools
import multiprocessing
import pickle
import random
import sys
import threading
from collections import UserDict
from collections.abc import Iterator
from typing import Any

import pytest
import strategies
from conftest import shown
from matching import DIALECTS, JMS, SCHEMAS, SELECTORS, W2

import mqsel
from mqsel.errors import ArgumentError, ProgramError, PropertyTypeError
from mqsel.language.dialect import CHOICES
from mqsel.machine.program import FORMAT_VERSION, VERSION
from mqsel.values import Float32, Int8, Int32, Truth

PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)


# ---- travelling ------------------------------------------------------------------------------------------------------


def _cases(count: int, seed: str) -> Iterator[tuple[mqsel.Matcher, dict[str, Any]]]:
    rng = random.Random(seed)
    for name, dialect in strategies.JMS_PRESETS.items():
        for _ in range(count):
            text, properties = strategies.random_case(rng, name)
            yield mqsel.compile(text, dialect=dialect), strategies.to_message(properties)


@pytest.mark.volume
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_pickled_matchers_are_the_same(protocol: int) -> None:
    """Invariant: a matcher comes back equal, with the same program, and gives the same answers."""
    for matcher, message in _cases(50, f"pickle {protocol}"):
        twin = pickle.loads(pickle.dumps(matcher, protocol))

        assert twin == matcher
        assert twin.program.to_bytes() == matcher.program.to_bytes()
        assert (repr(twin), hash(twin)) == (repr(matcher), hash(matcher))
        assert twin.evaluate(message) is matcher.evaluate(message)
        assert twin.matches(message) is matcher.matches(message)
        assert str(twin.explain(message)) == str(matcher.explain(message))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("schema", SCHEMAS, ids=shown)
def test_pickles_keep_schema_and_dialect(schema: Any, protocol: int) -> None:
    """Also a varied dialect, an empty schema and declared types."""
    for dialect, text in itertools.product(DIALECTS, SELECTORS):
        matcher = mqsel.compile(text, dialect=dialect, schema=schema)
        twin = pickle.loads(pickle.dumps(matcher, protocol))

        assert (twin, twin.schema, twin.dialect) == (matcher, matcher.schema, matcher.dialect)


def test_every_dialect_survives() -> None:
    """Every value of every field of a dialect arrives, and the largest length."""
    for field, choices in CHOICES.items():
        for choice in choices:
            dialect = JMS.replace(**{field: choice}, max_length=(1 << 32) - 1)
            assert pickle.loads(pickle.dumps(mqsel.compile("a", dialect=dialect))).dialect == dialect


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_pickles_are_small(protocol: int) -> None:
    """The matcher of the seed's selector takes at most 400 bytes, with the class it needs and nothing of Python's."""
    data = pickle.dumps(mqsel.compile(W2), protocol)

    assert len(data) <= 400
    assert b"mqsel.matcher" in data


def test_cloudpickle() -> None:
    """What Spark uses: the matcher, its bound methods, partials of them and closures over it."""
    cloudpickle = pytest.importorskip("cloudpickle")
    matcher = mqsel.compile(W2)
    messages = [{"JMSType": "car", "color": color, "weight": 3000} for color in ("blue", "red", "blue")]
    messages.insert(1, {"JMSType": "car", "color": "blue", "weight": []})
    wanted = [messages[0], messages[3]]
    skipping = functools.partial(matcher.filter, errors="skip")

    assert len(cloudpickle.dumps(matcher)) <= 400
    assert pickle.loads(cloudpickle.dumps(matcher)) == matcher
    assert list(pickle.loads(cloudpickle.dumps(skipping))(messages)) == wanted
    assert (
        list(pickle.loads(cloudpickle.dumps(lambda stream: matcher.filter(stream, errors="skip")))(messages)) == wanted
    )
    assert list(pickle.loads(cloudpickle.dumps(matcher.filter))(wanted)) == wanted


def test_loading_never_parses(monkeypatch: pytest.MonkeyPatch) -> None:
    """An executor reads and verifies a program: it neither scans, parses, checks, optimizes nor lowers."""
    matchers = [matcher for matcher, _ in _cases(5, "never")] + [
        mqsel.compile(W2, schema=("weight", "color", "JMSType"))
    ]
    message = {"JMSType": "car", "color": "blue", "weight": 3000}
    data = pickle.dumps(matchers)
    answers = [matcher.evaluate(message) for matcher in matchers]

    def never(*_: object, **__: object) -> None:
        raise AssertionError("an executor must not do this")

    for module, name in [
        ("matcher", "read_selector"),
        ("matcher", "program_of"),
        ("matcher", "_compile"),
        ("language.parser", "parse"),
        ("language.parser", "scan"),
        ("language.lexer", "scan"),
        ("language.checker", "check"),
        ("language.optimizer", "optimize"),
        ("machine.compiler", "optimized"),
        ("machine.compiler", "lower"),
        ("language.selector", "parse_in_order"),
        ("language.selector", "check"),
    ]:
        monkeypatch.setattr(f"mqsel.{module}.{name}", never)
    twins = pickle.loads(data)

    assert twins == matchers
    assert [hash(twin) for twin in twins] == [hash(matcher) for matcher in matchers]
    assert [twin.evaluate(message) for twin in twins] == answers
    assert [twin.properties for twin in twins] == [matcher.properties for matcher in matchers]
    assert list(twins[-1].filter([message, (3000, "blue", "car")])) == [message, (3000, "blue", "car")]
    assert repr(twins) == repr(matchers)
    assert pickle.dumps(twins) == data
    with pytest.raises(AssertionError):
        mqsel.compile("the trap = 'works'")


def test_copies() -> None:
    """`copy` and `deepcopy` give an equal matcher that works, alone and inside other objects."""
    matcher = mqsel.compile(W2, schema=("JMSType", "color", "weight"))
    for twin in (copy.copy(matcher), copy.deepcopy(matcher), copy.deepcopy({"m": [matcher]})["m"][0]):
        assert twin == matcher
        assert twin.matches(("car", "blue", 3000))


def _flipped(data: bytes) -> Iterator[bytes]:
    rng = random.Random("flipped")
    for place in range(len(data)):
        for bit in rng.sample(range(8), 3):
            yield data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]
    for length in range(len(data)):
        yield data[:length]
        yield data[length + 1 :]
    yield data + b"\0"
    yield data * 2


def _reload(matcher: mqsel.Matcher) -> tuple[Any, tuple[Any, ...]]:
    load, arguments = matcher.__reduce__()[:2]
    assert isinstance(arguments, tuple)
    return load, arguments


def test_damaged_programs_are_refused() -> None:
    """Any damage to the program of a pickled matcher is a ProgramError, never another exception or meaning."""
    load, (data,) = _reload(mqsel.compile("a = 'x' AND (b > 1.5 OR c LIKE 'y%z' OR d IN ('p', 'q'))"))
    for damaged in _flipped(data):
        with pytest.raises(ProgramError):
            load(damaged)
    for other in (None, 5, "text", [1, 2], object()):
        with pytest.raises(ProgramError):
            load(other)


def test_damaged_pickles_are_refused() -> None:
    """Damage anywhere in a pickle gives an exception or an equal matcher; the process lives."""
    matcher = mqsel.compile(W2, schema=("JMSType", "color", "weight"))
    for damaged in _flipped(pickle.dumps(matcher)):
        try:
            twin = pickle.loads(damaged)
        except Exception:  # noqa: BLE001 (pickle itself raises many)
            continue
        if isinstance(twin, mqsel.Matcher):
            assert twin.program == matcher.program


@pytest.mark.parametrize(
    "schema",
    [
        ("a",),
        (("a",),),
        (("a",), ()),
        (("a",), (None, None)),
        ("a", "b"),
        (("a", "a"), (None, None)),
        (("a",), ("int9",)),
    ],
    ids=shown,
)
def test_a_damaged_schema_is_refused(schema: tuple[Any, ...]) -> None:
    """What stands beside the program is checked too, with an error of ours."""
    load, (data,) = _reload(mqsel.compile("a = 1"))
    with pytest.raises((ProgramError, ArgumentError)):
        load(data, *schema)


def _of_another_version(data: bytes, format_version: int, version: str) -> bytes:
    # "MQSL", the format's number, the length and letters of the version; the checksum is for whoever gets that far.
    assert data[5] == len(VERSION)
    return data[:4] + bytes([format_version, len(version)]) + version.encode() + data[6 + len(VERSION) :]


@pytest.mark.parametrize("format_version", [FORMAT_VERSION + 1, 0, 255])
def test_another_format_is_one_error_that_names_both_versions(format_version: int) -> None:
    """A matcher written by an incompatible mqsel: what wrote it, what this is, and what to do."""
    load, (data,) = _reload(mqsel.compile(W2))
    with pytest.raises(ProgramError) as caught:
        load(_of_another_version(data, format_version, "9.8.7"))
    first = str(caught.value).splitlines()[0]

    assert all(
        part in first for part in ("'9.8.7'", f"format {format_version}", f"'{VERSION}'", f"format {FORMAT_VERSION}")
    )
    assert caught.value.hint
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_future_format_may_change_all_but_its_head() -> None:
    """Only magic, format and version are read of a program in another format; what follows may be anything."""
    load, (data,) = _reload(mqsel.compile(W2))
    for rest in (b"", b"\xff" * 100, data):
        with pytest.raises(ProgramError, match=r"9\.8\.7"):
            load(_of_another_version(data, FORMAT_VERSION + 1, "9.8.7")[:11] + rest)


def test_the_version_alone_makes_no_difference() -> None:
    """A program of another release in the same format is read: the format decides."""
    assert mqsel.__version__ == VERSION
    assert mqsel.compile(W2).program.to_bytes()[4] == FORMAT_VERSION


def test_spawned_processes_give_the_same_answers() -> None:
    """A pool of fresh interpreters, to which matchers, messages and answers travel by pickle."""
    matcher = mqsel.compile("color = 'red' AND weight > 5 OR weight IS NULL")
    messages = [{"color": color, "weight": weight} for color in ("red", "blue") for weight in (None, Int8(5), 6, 6.5)]
    records = [mqsel.Record([("color", "string"), "weight"], message) for message in messages]
    wanted = [matcher.evaluate(message) for message in messages]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(matcher.evaluate, messages) == wanted
        assert pool.map(matcher.evaluate, records) == wanted
        assert pool.map(matcher.matches, messages) == [answer is Truth.TRUE for answer in wanted]
        assert pool.apply(pickle.loads, (pickle.dumps(matcher),)) == matcher
        with pytest.raises(PropertyTypeError) as caught:
            pool.apply(matcher.matches, ({"color": "red", "weight": [1]},))
        assert (caught.value.name, caught.value.value_type) == ("weight", "list")


# ---- threads ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def _impatient() -> Iterator[None]:
    """Let threads change places as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_impatient")
def test_eight_threads_share_a_matcher() -> None:
    """Invariant: one matcher used by eight threads, on all kinds of messages, gives what it gives to one."""
    matcher = mqsel.compile("a = 'x' AND b > 1 AND c LIKE '%z' OR b + d > 10", schema=("a", "b", "c", "d"))
    rng = random.Random("threads")
    messages: list[Any] = []
    for _ in range(400):
        values = rng.choice("xy"), Int32(rng.randrange(9)), rng.choice(("z", "yz", "q")), Float32(rng.random() * 9)
        message = dict(zip("abcd", values, strict=True))
        messages += [message, values, list(values), UserDict(message), mqsel.Record(["d", "c", "b", "a"], message)]
    wanted = [matcher.matches(message) for message in messages]

    def work(number: int) -> bool:
        order = list(range(len(messages)))
        random.Random(number).shuffle(order)
        one = all(matcher.matches(messages[place]) is wanted[place] for place in order)
        streamed = [id(message) for message in matcher.filter(messages[place] for place in order)]
        return one and streamed == [id(messages[place]) for place in order if wanted[place]]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(24))) == [True] * 24


@pytest.mark.usefixtures("_impatient")
def test_eight_threads_read_rows_of_many_layouts() -> None:
    """Rows carry their own layout: a thread never reads its row by the layout of another's."""
    numpy = pytest.importorskip("numpy")
    matcher = mqsel.compile("a = 1 AND b = 2 AND c = 3")
    orders = list(itertools.permutations(("a", "b", "c", "d")))
    rows = []
    for names in orders:
        kind = type("Row", (tuple,), {"_fields": names})
        # A numpy scalar is made into a wrapper by Python code: threads change places in the middle of a row.
        rows.append(kind(numpy.int32("abcd".index(name) + 1) for name in names))

    def work(number: int) -> bool:
        return all(matcher.matches(rows[(number * 5 + turn * 7) % len(rows)]) for turn in range(2000))

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == [True] * 8


@pytest.mark.usefixtures("_impatient")
def test_a_stream_shared_by_threads_is_refused() -> None:
    """Two threads in one stream: the second gets an ArgumentError, the first goes on undisturbed."""
    inside, leave = threading.Event(), threading.Event()

    def source() -> Iterator[dict[str, int]]:
        yield {"a": 1}
        inside.set()
        assert leave.wait(30)
        yield {"a": 2}
        yield {"a": 1}

    stream = mqsel.compile("a = 1").filter(source())
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        first = pool.submit(list, stream)
        assert inside.wait(30)
        for _ in range(3):
            with pytest.raises(ArgumentError, match="already being read"):
                next(stream)
        leave.set()

        assert first.result(30) == [{"a": 1}, {"a": 1}]
    assert (stream.seen, stream.selected) == (3, 2)


@pytest.mark.usefixtures("_impatient")
def test_many_threads_in_one_stream_do_no_harm() -> None:
    """Whoever gets through gets a message of the stream, each at most once; the others get an ArgumentError."""
    messages = [{"a": 1, "number": number} for number in range(5000)]
    stream = mqsel.compile("a = 1").filter(message for message in messages)

    def work(_: int) -> list[int]:
        found = []
        while True:
            try:
                found.append(next(stream)["number"])
            except ArgumentError:
                continue
            except StopIteration:
                return found

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        found = [number for part in pool.map(work, range(8)) for number in part]

    assert sorted(found) == list(range(5000))
