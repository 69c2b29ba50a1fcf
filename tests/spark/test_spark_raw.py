"""A column of raw IBM MQ messages: selected, taken apart and profiled as the decoder and the machine do it here."""

from __future__ import annotations

import random
import struct
from typing import Any, NamedTuple

import amqp
import pytest

import mqsel
from mqsel import _messages, errors, formats
from mqsel.formats import mq
from mqsel.formats._decoder import Decoder
from mqsel.formats.jms import CONVERSIONS
from mqsel.formats.jms import JMS as JMS_NAMES
from mqsel.language.dialect import IBM_MQ, JMS
from mqsel.names import MQMD_TYPES
from mqsel.values import Float32, Int8, Int32

pytest.importorskip("pyspark.sql", reason="pyspark is not installed")

from mqsel.spark import column, mq_message, plan, profile, properties, raw, route

pa = pytest.importorskip("pyarrow")

TRUTHS = {True: "TRUE", False: "FALSE", None: "UNKNOWN"}
KEY = bytes(range(1, 25))
SELECTORS = [
    "",
    "color = 'red' AND weight > 50",
    "NOT (color = 'red' AND weight > 50)",
    "weight / 0 = 1 OR color = 'blue'",
    "weight IS NULL",
    "JMSDeliveryMode = 'PERSISTENT' OR color LIKE 'r_d'",
    "color = 5",
    "no = 'where' OR JMSXDeliveryCount = 1",
]


def _messages_drawn(count: int = 300) -> list[bytes | None]:
    """Draw messages of both byte orders, with and without properties; NULLs, and bytes that are no message."""
    rng = random.Random("raw")
    found: list[bytes | None] = []
    for number in range(count):
        values: dict[str, Any] = {}
        if rng.random() < 0.8:
            values["color"] = rng.choice(("red", "blue", "grün", "𝄞", Int8(5)))
        if rng.random() < 0.8:
            values["weight"] = rng.choice((Int32(5), 50, Int8(77), Float32(60.5), "70", None, 1 << 40))
        mqmd = {"Priority": rng.randrange(10), "Persistence": rng.randrange(2), "MsgType": 8, "MsgId": b"x"}
        if number == 7:
            mqmd["MsgId"] = KEY
        message = mq.encode(mqmd, values, b"data" * rng.randrange(9), encoding=rng.choice((273, 546)))
        odd = rng.randrange(20)
        if odd == 1:
            found.append(message[: rng.randrange(len(message) - 40)])
        elif odd == 2:
            found.append(b"")
        elif odd == 3:
            found.append(message.replace(b"<color", b"<c-lor").replace(b"</color", b"</c-lor"))
        else:
            found.append(None if odd == 4 else message)
    return found


MESSAGES = _messages_drawn()
WHERE = mq_message("value")


@pytest.fixture(scope="module")
def frame(spark: Any) -> Any:
    """The messages, in order, in two partitions."""
    rows = [(number, None if one is None else bytearray(one)) for number, one in enumerate(MESSAGES)]
    return spark.createDataFrame(rows, "id int, value binary").coalesce(2).cache()


def _wanted(selector: str, dialect: Any, message: bytes | None, **options: Any) -> str:
    """Evaluate one message by the decoder of `matcher.filter` and the machine."""
    matcher = mqsel.compile(selector, dialect=dialect)
    try:
        found = None if message is None else matcher.decoder("mq", **options)(message)
    except errors.DecodeError:
        found = None
    if found is None:
        return "UNKNOWN"
    return str(found).upper() if isinstance(found, bool) else matcher.evaluate(found).name


@pytest.mark.parametrize("dialect", [IBM_MQ, JMS], ids=repr)
def test_columns_of_messages_are_the_machine(frame: Any, dialect: Any) -> None:
    """Invariant: the Column = decoder and machine, in three values; what cannot be read, and NULL, is NULL."""
    dotted = ["JMSPriority > 4 AND Root.MQMD.MsgType = 8", f'Root.MQMD.MsgId = "0x{KEY.hex()}"']
    accepted = SELECTORS if dialect is JMS else [*SELECTORS, *dotted]
    made = [column(text, frame, properties=WHERE, dialect=dialect) for text in accepted]
    got = frame.select("id", *(one.alias(f"m{number}") for number, one in enumerate(made))).orderBy("id").collect()
    for number, text in enumerate(accepted):
        truths = [TRUTHS[row[number + 1]] for row in got]
        assert truths == [_wanted(text, dialect, one) for one in MESSAGES], text
        assert text in ("", "weight IS NULL") or len(set(truths)) > 1


def test_filters_keep_three_values_and_agree_with_the_stream(frame: Any) -> None:
    """A filter keeps what `matcher.filter` selects, `~` what NOT selects; the match option picks one message."""
    readable = [one for one in MESSAGES if one is not None]
    for text in SELECTORS[1:3]:
        wanted = [*mqsel.compile(text).filter(readable, format="mq", errors="skip")]
        got = frame.filter(column(text, frame, properties=WHERE)).orderBy("id").collect()
        assert [bytes(row.value) for row in got] == wanted

    inverse = frame.filter(~column("weight > 50", frame, properties=WHERE, dialect=JMS)).count()
    assert inverse == frame.filter(column("NOT (weight > 50)", frame, properties=WHERE, dialect=JMS)).count() > 0
    same = frame.filter(column(f'Root.MQMD.MsgId = "0x{KEY.hex()}"', frame, properties=WHERE)).collect()
    assert [row.id for row in same] == [7]


def test_properties_are_typed_columns(frame: Any) -> None:
    """Invariant: the columns = `formats.properties`, as the types that are known or declared, else NULL."""
    where = mq_message("value", types={"color": "string", "weight": "int32"})
    names = ["JMSPriority", "Root.MQMD.MsgId", "color", "weight", "usr.weight", "JMSRedelivered", "JMSTimestamp"]
    selected = frame.select("id", *properties(frame, names, properties=where))
    kinds = [field.dataType.simpleString() for field in selected.schema.fields[1:]]
    assert kinds == ["int", "binary", "string", "int", "int", "boolean", "bigint"]

    present = 0
    for row in selected.orderBy("id").collect():
        message = MESSAGES[row[0]]
        try:
            found = {} if message is None else formats.properties(message, names)
        except errors.DecodeError:
            found = {}
        weight = found.get("weight")
        if isinstance(weight, str):
            weight = int(weight)
        elif not isinstance(weight, int) or weight >= 1 << 31:
            weight = None
        color = found.get("color")
        wanted = [found.get("JMSPriority"), found.get("Root.MQMD.MsgId"), color if isinstance(color, str) else None]
        wanted += [weight, weight, found.get("JMSRedelivered"), found.get("JMSTimestamp")]
        assert [bytes(one) if isinstance(one, bytearray) else one for one in row[1:]] == wanted
        present += weight is not None

    assert present > 50
    plans = selected._jdf.queryExecution().executedPlan().toString()
    assert plans.count("ArrowEvalPython") == 1
    assert plans.count("values(value") <= 2  # once where it is evaluated, once among what that gives


def test_the_kinds_of_jms_names() -> None:
    """Every JMS name has a type, and all the sources of one make the same."""
    used = {source.conversion for sources in JMS_NAMES.values() for source in sources}
    assert used <= {*CONVERSIONS}
    assert used - {"as typed"} == raw._MADE.keys()
    for name, sources in JMS_NAMES.items():
        # A field of the descriptor, or of the header in front of the body: the same fields by the same names.
        kinds = {raw._MADE.get(one.conversion) or MQMD_TYPES[one.path.partition("/")[2]] for one in sources}
        assert kinds == {raw.TYPES_BY_NAME[name]}, name


@pytest.mark.parametrize("selector", SELECTORS[1:5])
def test_profile_accounts_for_every_message(frame: Any, selector: str) -> None:
    """Invariant: the five numbers of each part, and the three of each property, add up to the rows."""
    made = profile(selector, frame, properties=WHERE)
    wanted = [_wanted(selector, IBM_MQ, one) for one in MESSAGES]

    assert made.messages == len(MESSAGES)
    for part in made.parts:
        assert part.true + part.false + part.unknown + part.mismatched + part.error == made.messages
    assert made.parts[0].true == wanted.count("TRUE")
    assert made.parts[0].unknown == wanted.count("UNKNOWN")
    for one in made.properties:
        assert one.present + one.missing + one.unread == made.messages
    column_seen = made.properties[-1]
    unread = sum(_reads(one) is False for one in MESSAGES)
    assert (column_seen.name, column_seen.missing, column_seen.unread) == ("value", MESSAGES.count(None), unread)


def _reads(message: bytes | None) -> bool | None:
    try:
        return None if message is None else bool(formats.properties(message) or True)
    except errors.DecodeError:
        return False


def test_profile_of_parts_and_match_options(frame: Any) -> None:
    """A constant part, a mismatch, and a match option have their outcomes too."""
    mixed = profile("color = 'red' OR weight > 50 OR 1 = 2", frame, properties=WHERE, dialect=JMS)
    by_text = {part.text: part for part in mixed.parts}
    assert by_text["weight > 50"].mismatched > 0
    assert by_text["1 = 2"].true == by_text["1 = 2"].error == 0 < by_text["1 = 2"].false
    option = profile(f'Root.MQMD.MsgId = "0x{KEY.hex()}"', frame, properties=WHERE)
    assert option.parts[0].true == 1
    assert [one.name for one in option.properties] == ["Root.MQMD.MsgId", "value"]


def test_profile_of_messages_says_what_they_have(spark: Any) -> None:
    """Values and near names of raw messages are told, as of messages here."""
    raw = [mq.encode({}, {"Color": "red", "weight": ("int32", weight)}) for weight in (5, 7)]
    frame = spark.createDataFrame([(bytearray(one),) for one in raw], "value binary")
    for text in ("color = 'red' AND weight > 9", "Color = 'Red'", "weight = 'x'"):
        made, wanted = profile(text, frame, properties=WHERE), mqsel.compile(text).why(raw, format="mq")
        assert [one.replace("row", "message") for one in made.sentences] == [*wanted.sentences]
        assert made.parts == wanted.parts


def test_profile_says_what_was_skipped(spark: Any, frame: Any) -> None:
    """It counts the messages of which something was skipped, and names the first; of none it says nothing."""
    odd = [number for number, one in enumerate(MESSAGES) if one is not None and b"<c-lor" in one]
    made = profile("color = 'red'", frame, properties=WHERE)
    clean = spark.createDataFrame([(bytearray(mq.encode({}, {"color": "red"})),)] * 3, "value binary")

    assert made.noted == len(odd) > 1
    assert made.note.startswith("MQRFH2 at byte ")
    assert made.note.endswith(", c-lor: no property can have this name [MQRC_PROPERTY_NAME_ERROR (2442)]")
    assert f"skipped in part: {len(odd)}, the first {made.note}" in str(made).splitlines()
    assert "in part" not in str(profile("color = 'red'", clean, properties=WHERE))


def test_a_message_that_cannot_be_read_may_fail_the_task(frame: Any) -> None:
    """errors="raise" ends in the decoder's error, with the row of the batch."""
    strict = mq_message("value", errors="raise")
    with pytest.raises(Exception, match=r"DecodeError: .*\[record \d+"):
        frame.select(column("color = 'red'", frame, properties=strict)).collect()
    with pytest.raises(Exception, match="DecodeError"):
        frame.select(properties(frame, ["JMSPriority"], properties=strict)).collect()


def test_the_plan_says_where_the_properties_are(frame: Any) -> None:
    """Its table names the column; a known type that no test takes is a warning without a way to declare it."""
    made = plan("color = 'red' AND JMSDeliveryMode = 2", frame, properties=WHERE)

    where = "its properties are in the bytes of the messages in `value`"
    assert str(made).splitlines() == [
        "selector           color = 'red' AND JMSDeliveryMode = 2",
        "strategy           arrow",
        "                   'color = 'red' AND JMSDeliveryMode = 2': " + where,
        "Arrow              color = 'red' AND JMSDeliveryMode = 2",
        "'color'            any type from `value`",
        "'JMSDeliveryMode'  string from `value`",
        "warning            'JMSDeliveryMode' is a string in every row: compared with a number it never matches",
    ]


def test_wrong_arguments_are_refused_on_the_driver(frame: Any) -> None:
    """No column, one that is not binary, an option that cannot be, a strategy that is none, a type nobody declared."""
    for wanted, call in (
        ("the messages are in 'Value': there is no such column; did you mean value", lambda: mq_message("Value")),
        ("the column of the messages, 'id', is int: expected binary", lambda: mq_message("id")),
        ("errors is 'skip': expected 'null' or 'raise'", lambda: mq_message("value", errors="skip")),
        ("ccsid is 5: expected 1208", lambda: mq_message("value", ccsid=5)),
        ("invalid_names is 'no'", lambda: mq_message("value", invalid_names="no")),
        ("'a' is declared 'int'", lambda: mq_message("value", types={"a": "int"})),
        ("the column of the messages is 5", lambda: mq_message(5)),  # type: ignore[arg-type]
    ):
        with pytest.raises(errors.MqselError) as caught:
            column("color = 'red'", frame, properties=call())
        assert wanted in str(caught.value)
    with pytest.raises(errors.ArgumentError, match="no exact Catalyst expression"):
        column("color = 'red'", frame, properties=WHERE, strategy="native")
    with pytest.raises(errors.PropertyTypeError, match="'color' has a type of its own in each row"):
        properties(frame, ["color"], properties=WHERE)
    with pytest.raises(errors.SelectorError):
        column("color = ", frame, properties=WHERE)


def test_layouts_of_arrow_columns() -> None:
    """Invariant: sliced, large, viewed and chunk-less columns of messages give what each message gives."""
    matcher = mqsel.compile("color = 'red' AND weight > 50")
    program, options = matcher.program.to_bytes(), WHERE.options()
    whole = pa.array(MESSAGES, pa.binary())
    wanted = [_wanted(matcher.selector, IBM_MQ, one) for one in MESSAGES]
    for given, start in (
        (whole, 0),
        (whole.slice(13, 100), 13),
        (whole.cast(pa.large_binary()).slice(8), 8),
        (pa.array(MESSAGES, pa.binary_view()), 0),
        (whole.dictionary_encode(), 0),
        (pa.array([], pa.binary()), 0),
        (pa.nulls(3, pa.binary()), -1),
    ):
        got = [TRUTHS[one] for one in raw.truths(program, options, [given]).to_pylist()]
        assert got == (["UNKNOWN"] * 3 if start < 0 else wanted[start : start + len(given)])


class _Column(NamedTuple):
    """An array that no library has looked at."""

    offsets: list[int]
    rows: int
    type = pa.binary()
    offset = 0

    def __len__(self) -> int:
        return self.rows

    def buffers(self) -> list[Any]:
        return [None, pa.py_buffer(struct.pack(f"{len(self.offsets)}i", *self.offsets)), pa.py_buffer(b"x" * 50)]


# ---- AMQP 1.0 --------------------------------------------------------------------------------------------------------

AMQP = [
    None if number % 11 == 0 else one[: len(one) // 2] if number % 13 == 0 else one
    for number, one in enumerate(
        amqp.message(number % 10, {"color": ("red", "blue", "grün")[number % 3], "weight": number}, b"data")
        for number in range(100)
    )
]
RED = "color = 'red' AND weight > 50"
PRIORITIES = {"JMS": "NOT (JMSPriority > 4)", "QPID_CPP": "amqp.priority > 3", "RABBITMQ": "h.priority > 3"}


@pytest.fixture(scope="module")
def amqp_frame(spark: Any) -> Any:
    """Messages of AMQP 1.0, in order, in two partitions; NULLs, and some that are cut."""
    rows = [(number, None if one is None else bytearray(one)) for number, one in enumerate(AMQP)]
    return spark.createDataFrame(rows, "id int, value binary").coalesce(2).cache()


def _wanted_of_amqp(text: str, dialect: str) -> list[str]:
    matcher = mqsel.compile(text, dialect=dialect)
    decode, wanted = matcher.decoder("amqp"), []
    for message in AMQP:
        try:
            wanted.append("UNKNOWN" if message is None else matcher.evaluate(decode(message)).name)
        except errors.DecodeError:
            wanted.append("UNKNOWN")
    return wanted


@pytest.mark.parametrize("dialect", PRIORITIES)
def test_columns_of_amqp_messages(amqp_frame: Any, dialect: str) -> None:
    """Invariant: of messages of AMQP, too, the Column = decoder and machine, by the names of the dialect."""
    where = mq_message("value", format="amqp")
    texts = [RED, PRIORITIES[dialect]]
    made = [column(text, amqp_frame, properties=where, dialect=dialect) for text in texts]
    got = amqp_frame.select("id", *(one.alias(f"m{number}") for number, one in enumerate(made))).orderBy("id").collect()
    for number, text in enumerate(texts):
        wanted = _wanted_of_amqp(text, dialect)
        assert [TRUTHS[row[number + 1]] for row in got] == wanted, text
        assert len({*wanted}) == 3


def test_amqp_messages_are_counted_routed_and_taken_apart(amqp_frame: Any) -> None:
    """`profile` counts those that cannot be read, `route` gives them no key, `properties` NULL; or the task fails."""
    where = mq_message("value", format="amqp", types={"color": "string", "weight": "int64"})
    wanted = _wanted_of_amqp(RED, "JMS")
    cut = sum(number % 13 == 0 and number % 11 != 0 for number in range(100))
    made = profile(RED, amqp_frame, properties=where, dialect=JMS)
    assert (made.messages, made.parts[0].true, made.parts[0].unknown) == (
        100, wanted.count("TRUE"), wanted.count("UNKNOWN"),
    )  # fmt: skip
    assert (made.properties[-1].name, made.properties[-1].unread) == ("value", cut)

    keys = route({"red": RED}, amqp_frame, properties=where, dialect=JMS)
    found = amqp_frame.select("id", keys.alias("keys")).orderBy("id").collect()
    assert [row.id for row in found if row["keys"]] == [row for row, one in enumerate(wanted) if one == "TRUE"]

    columns = properties(amqp_frame, ["color", "weight", "JMSPriority"], properties=where)
    for number, row in enumerate(amqp_frame.select("id", *columns).orderBy("id").collect()):
        is_read = number % 11 and number % 13
        color = ("red", "blue", "grün")[number % 3]
        assert tuple(row) == ((number, color, number, number % 10) if is_read else (number, None, None, None))

    strict = mq_message("value", format="amqp", errors="raise")
    with pytest.raises(Exception, match=r"DecodeError: .*\[record \d+"):
        amqp_frame.select(column("color = 'red'", amqp_frame, properties=strict)).collect()
    with pytest.raises(errors.ArgumentError, match="format is 'json': expected 'mq' or 'amqp'"):
        mq_message("value", format="json")
    with pytest.raises(errors.ArgumentError, match="format 'amqp' does not take these options: ccsid"):
        mq_message("value", format="amqp", ccsid=500)


def test_offsets_of_a_column_are_not_trusted() -> None:
    """Offsets that fall, or point past the content, are an error of ours."""
    matcher = mqsel.compile("color = 'red'")
    reader = matcher.decoder("mq")
    assert isinstance(reader, Decoder)
    for offsets in ([0, 40, 8], [0, 4, 4000], [-8, 4, 8]):
        messages = _messages.MessageColumn(_Column(offsets, 2))
        with pytest.raises(errors.PropertyTypeError, match="its offsets do not rise"):
            _messages.truths([matcher], reader, messages)
    with pytest.raises(errors.PropertyTypeError, match="its offsets are missing"):
        _messages.MessageColumn(_Column([0, 4], 2))
    with pytest.raises(errors.PropertyTypeError, match="string"):
        _messages.MessageColumn(pa.array(["MD  "]))
