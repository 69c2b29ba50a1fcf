"""Columns of raw messages, of IBM MQ or AMQP 1.0: decoded and evaluated in one Arrow function, on the executors.

A message that cannot be read is NULL and does not fail the task, unless errors are to be raised. Follows
spark §7 and §9; the bytes are read by `mqsel.formats`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import mqsel.matcher
from mqsel import _messages
from mqsel.analysis.explain._tally import Parts
from mqsel.analysis.explain.account import ERROR, FALSE, NUMBERS, TRUE, UNKNOWN, parts_judged
from mqsel.arguments import check_word
from mqsel.columns.wordings import damaged_column
from mqsel.errors import ArgumentError, DecodeError
from mqsel.formats import FORMATS, Inspection, amqp, decoder, inspect
from mqsel.formats._decoder import Decoder
from mqsel.formats.jms import JMS
from mqsel.formats.mqrfh2 import ELEMENT_TYPES
from mqsel.formats.records import UNREADABLE, readers
from mqsel.language.dialect import Dialect, core_of
from mqsel.language.selector import Selector
from mqsel.machine.compiler import program_of
from mqsel.machine.origin import selector_of
from mqsel.machine.program import Program
from mqsel.matcher import Matcher, rule_of_names
from mqsel.names import DESCRIPTOR, MQMD_TYPES, look_up
from mqsel.spark import wordings
from mqsel.spark.columns import SPARK_TYPES, Layout, Place, PropertySource, PropertySources, as_layout, known_types
from mqsel.spark.ship import Call, arrow_call, options_of
from mqsel.values import Float32

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType


class MessageColumn(NamedTuple):
    """The column that has raw messages, and how they are read. `mq_message` returns it.

    Attributes:
        path: The column, of type binary.
        types: A mapping of properties to the types of their columns in `properties`.
        format: The format of the messages, a key of `mqsel.formats.FORMATS`.
        own: The other options of `Matcher.filter` for this format, as JSON.
        raising: Whether a message that can't be read fails the task.
    """

    path: str
    types: Mapping[str, str]
    format: str
    own: str
    raising: bool

    def options(self, **more: Any) -> str:
        """Return the options that executors need, as JSON.

        Args:
            more: Further options.
        """
        own = json.loads(self.own)
        return json.dumps({"format": self.format, "decoder": own, "raising": self.raising, **more})

    def type_of(self, name: str) -> str:
        """Return the type of a property that is known by its name; empty if it may have any type.

        Args:
            name: The property.
        """
        return "" if self.format == "amqp" and name not in amqp.JMS else TYPES_BY_NAME.get(name, "")


def mq_message(
    path: str,
    *,
    format: str = "mq",  # noqa: A002 (the word of the command line)
    types: Mapping[str, str] | None = None,
    strip: bool = False,
    ccsid: int | None = None,
    invalid_names: str | None = None,
    errors: str = "null",
) -> MessageColumn:
    """Describe a binary column of IBM MQ messages (MQMD or only an MQRFH2, headers, data) or AMQP 1.0 messages.

    A match option of IBM MQ, such as ``Root.MQMD.MsgId = "0x…"``, is compared as a queue manager does.

    Args:
        path: The column, or a path to it as for `layout`.
        format: "mq" or "amqp".
        types: For `properties`: the types of columns that are not known by their names. The names of the MQMD and of
            JMS are known. A selector needs no types, because each message has them.
        strip: Whether to remove trailing spaces of the MQMD, as for `mqsel.formats.properties`. Only for "mq".
        ccsid: The character set of the MQMD, as for `mqsel.formats.properties`. Only for "mq".
        invalid_names: "never" or "ignore", as for `Matcher.filter`. Only for "mq".
        errors: What happens if a message can't be read. "null": its properties are NULL, and `profile` counts it.
            "raise": the task fails.

    Raises: ArgumentError: if an argument is invalid.
    """
    if not isinstance(path, str):
        raise ArgumentError(f"the column of the messages is {path!r}: expected its name")
    check_word("errors", errors, ("null", "raise"))
    check_word("format", format, ("mq", "amqp"))
    given: dict[str, Any] = {"strip": bool(strip), "ccsid": ccsid, "invalid_names": invalid_names}
    own = {name: value for name, value in given.items() if value or format == "mq"}
    decoder(format, (), **own)  # or refuses
    return MessageColumn(path, known_types(types), format, json.dumps(own), errors == "raise")


def where(
    properties: Layout | MessageColumn | Mapping[str, Place] | str | None, types: Mapping[str, str] | None
) -> Layout | MessageColumn:
    """Read the arguments ``properties`` and ``types`` of the functions of `mqsel.spark`."""
    if isinstance(properties, MessageColumn):
        return properties._replace(types={**properties.types, **known_types(types)})
    return as_layout(properties, types)


# ---- on the driver ---------------------------------------------------------------------------------------------------

# What the conversions of `mqsel.formats.jms` make; "as typed" is the type of the field.
_MADE = {
    **dict.fromkeys(
        ("string", "delivery mode", "topic", "persistence", "identifier", "queue", "character set"), "string"
    ),
    **dict.fromkeys(("int32", "plus one", "unless zero", "bits"), "int32"),
    **dict.fromkeys(("int64", "timestamp"), "int64"),
    **dict.fromkeys(("is positive", "has bits"), "boolean"),
}
# In an order in which the type of a JMS name is that of its last source, the field of the MQMD.
TYPES_BY_NAME = {
    **{f"{DESCRIPTOR}{name}": type_name for name, type_name in MQMD_TYPES.items()},
    **{path.replace("/", "."): type_name for path, type_name in ELEMENT_TYPES.items()},
    **{
        name: _MADE.get(sources[-1].conversion) or MQMD_TYPES[sources[-1].path.rpartition("/")[2]]
        for name, sources in JMS.items()
    },
}


def message_text(rows: DataFrame | StructType | str, messages: MessageColumn) -> str:
    """Return the Catalyst text of the column of the messages.

    Raises: ArgumentError, PropertyTypeError: there is none, or it is not binary.
    """
    return PropertySources(rows, as_layout(None)).binary(messages.path)


def message_sources(names: Iterable[str], text: str, messages: MessageColumn) -> tuple[PropertySource, ...]:
    """Return where properties come from: the column, and their types where the names tell."""
    return tuple(PropertySource(name, messages.type_of(name), text, text) for name in names)


def message_call(selector: Selector, place: str, messages: MessageColumn) -> Call:
    """Call a selector: TRUE, FALSE, or NULL for UNKNOWN and for what cannot be read."""
    return _call(_program(selector), messages.options(), "truths", "boolean", place)


def message_outcomes(selector: Selector, names: Sequence[str], place: str, messages: MessageColumn) -> Column:
    """Return the array<tinyint> of what `outcomes` returns.

    Args:
        names: of the properties: those that the selector reads, and others.
    """
    more = messages.options(names=[*names])
    return _call(_program(selector), more, "outcomes", "array<tinyint>", place).column()


def message_decoder(selector: Selector, messages: MessageColumn) -> Decoder:
    """Return what reads messages here, as the executors do."""
    return _decoder(Matcher(program_of(selector)), messages.options())


def message_notes(selector: Selector, place: str, messages: MessageColumn) -> Column:
    """Return the column of texts of what `notes` says."""
    return _call(_program(selector), messages.options(), "notes", "string", place).column()


def message_properties(
    rows: DataFrame | StructType | str, names: Sequence[str], messages: MessageColumn
) -> list[Column]:
    """Return typed columns of properties: one Arrow function for all of them."""
    types = {}
    for name in names:
        type_name = look_up(messages.types, name) or messages.type_of(name)
        if not type_name:
            raise wordings.undeclared(name)
        types[name] = type_name
    if not types:
        return []
    # Names of properties have dots and differ in case: the fields are numbered.
    fields = ", ".join(f"p{number}: {SPARK_TYPES[type_name]}" for number, type_name in enumerate(types.values()))
    call = _call(b"", messages.options(types=types), "values", f"struct<{fields}>", message_text(rows, messages))
    made = call.column()
    numbers = {name: number for number, name in enumerate(types)}
    return [made.getField(f"p{numbers[name]}").alias(name) for name in names]


def _program(selector: Selector) -> bytes:
    return program_of(selector).to_bytes()


def _call(program: bytes, options: str, task: str, returned: str, text: str) -> Call:
    return arrow_call("a column of messages", program, options, [text], returned, f"mqsel.spark.raw:{task}")


# ---- on the executors ------------------------------------------------------------------------------------------------


@functools.lru_cache(64)
def _loaded(program: bytes) -> Matcher:
    return Matcher(Program.from_bytes(program))


# Decoders are made anew for each batch: one is not for two threads.


def _decoder(matcher: Matcher, options: str) -> Decoder:
    """Return what reads for a matcher."""
    chosen = options_of(options)
    return matcher.decoder(chosen["format"], **chosen["decoder"])


def _decoder_of(names: Sequence[str], dialect: Dialect, options: str) -> Decoder:
    """Return what reads properties, whoever takes them."""
    chosen = options_of(options)
    own, row = chosen["decoder"], FORMATS[chosen["format"]]
    if row.has_mqmd:
        own = {**own, "invalid_names": rule_of_names(dialect, own["invalid_names"])}
    if row.has_naming:
        own = {**own, "naming": core_of(dialect).naming}
    return decoder(chosen["format"], names, **own)


def inspected(message: bytes, options: str) -> Inspection:
    """Return all that a message has.

    Args:
        options: those of a `MessageColumn`.

    Raises: DecodeError.
    """
    chosen = options_of(options)
    if chosen["format"] != "mq":
        return FORMATS[chosen["format"]].inspect(message, {})
    return inspect(message, strip=chosen["decoder"]["strip"], ccsid=chosen["decoder"]["ccsid"])


def _validated(column: pa.Array) -> pa.Array:
    """Return a column whose last offset fits the size of its buffers.

    Raises: PropertyTypeError: it does not.
    """
    import pyarrow as pa  # noqa: PLC0415 (optional)

    try:
        column.validate()
    except pa.ArrowInvalid as error:
        raise damaged_column("the message", str(error)) from error
    return column


def _messages_of(column: pa.Array) -> _messages.MessageColumn:
    import pyarrow as pa  # noqa: PLC0415 (optional)

    column = _validated(column)
    fitting = column if column.type in (pa.binary(), pa.large_binary()) else column.cast(pa.binary())
    return _messages.MessageColumn(fitting)


def truths(program: bytes, options: str, columns: Sequence[pa.Array]) -> pa.BooleanArray:
    """Evaluate one batch of messages.

    Returns: true, false, and null for UNKNOWN and for a message that is NULL or cannot be read; ERR is false, and so
        is a message with a property name that is not allowed.
    """
    import pyarrow as pa  # noqa: PLC0415 (optional)
    import pyarrow.compute as pc  # type: ignore[import-untyped]  # noqa: PLC0415

    matcher, chosen = _loaded(program), options_of(options)
    reader = _decoder(matcher, options)
    given = _messages.truths([matcher], reader, _messages_of(columns[0]), raising=chosen["raising"])
    numbers = pa.Array.from_buffers(pa.uint8(), len(given), [None, pa.py_buffer(given)])
    unknown = pa.array([mqsel.Truth.UNKNOWN, _messages.UNREAD, _messages.ABSENT], pa.uint8())
    return pc.if_else(pc.is_in(numbers, value_set=unknown), None, pc.equal(numbers, int(mqsel.Truth.TRUE)))


_THERE, _MISSING, _UNREADABLE = range(3)


@functools.lru_cache(64)
def parts_asked(program: bytes) -> Parts:
    """Return what asks the parts of a selector."""
    return parts_judged(selector_of(_loaded(program).program))


def outcomes(program: bytes, options: str, columns: Sequence[pa.Array]) -> pa.ListArray:
    """Find of each message what the parts of a selector are, and what it has.

    Returns: for each message the place in `OUTCOMES` of each part, the state of each property, and that of the message:
        whether it is there, missing, or something that cannot be read.
    """
    import pyarrow as pa  # noqa: PLC0415 (optional)

    matcher, chosen = _loaded(program), options_of(options)
    names, asked = chosen["names"], parts_asked(program)
    reader = _decoder_of(names, matcher.dialect, options)
    own = None if matcher.match_option is None else _decoder(matcher, options)
    found: list[list[int]] = []
    for row, message in enumerate(_validated(columns[0]).to_pylist()):
        truths, states = [UNKNOWN] * asked.count, [_MISSING] * len(names)
        try:
            record = None if message is None else reader(message)
            state = _MISSING if message is None else _THERE
            if isinstance(record, bool):
                # An invalid name hides nothing: what the message has is not known, as nobody read on.
                truths, states = [ERROR] * asked.count, [_UNREADABLE] * len(names)
            elif record is not None:
                truths = [NUMBERS[found] for found in asked.of(record)]
                states = [_MISSING if record[name] is None else _THERE for name in names]
            if own is not None and message is not None:  # the only part; nothing is run
                truths = [TRUE if own(message) else FALSE]
        except DecodeError as error:
            if chosen["raising"]:
                error.index = row
                raise
            state, states = _UNREADABLE, [_UNREADABLE] * len(names)
        found.append([*truths, *states, state])
    return pa.array(found, pa.list_(pa.int8()))


def notes(program: bytes, options: str, columns: Sequence[pa.Array]) -> pa.StringArray:
    """Report of each message of a batch whether something of it was skipped: null if nothing.

    Of the first it says what, which takes reading it again, more slowly; the others have an empty text.
    """
    import pyarrow as pa  # noqa: PLC0415 (optional)

    reader = _decoder(_loaded(program), options)
    found: list[str | None] = []
    for message in columns[0].to_pylist():
        before = reader.noted
        if message is not None:
            with suppress(DecodeError):
                reader(message)
        if reader.noted == before:
            found.append(None)
        else:
            found.append("" if before else "".join(map(str, inspected(message, options).notes[:1])))
    return pa.array(found, pa.string())


_READERS = readers("hex")
_ARROW_TYPES = {name: {"boolean": "bool_", "bytes": "binary"}.get(name, name) for name in SPARK_TYPES}
_PLAIN = {"boolean": bool, "string": str, "bytes": bytes}


def _typed(value: Any, type_name: str) -> Any:
    """Return a value as one of the type that its column has, or None: by the rules of declared types."""
    if value is None or type(value) is _PLAIN.get(type_name):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        value = int(value)
    elif isinstance(value, Float32):
        value = float(value)
    try:
        made = _READERS[type_name](value)
    except UNREADABLE:
        return None
    return made


def values(_program: bytes, options: str, columns: Sequence[pa.Array]) -> pa.StructArray:
    """Read properties of one batch of messages.

    Returns: a struct of one field for each, typed; null where it is missing or no value of its type.
    """
    import pyarrow as pa  # noqa: PLC0415 (optional)

    chosen = options_of(options)
    types: dict[str, str] = chosen["types"]
    # A name that is not allowed spoils no other property: only selectors do without the message.
    reader = _decoder_of(tuple(types), mqsel.JMS, options)
    found = _messages.values(reader, _messages_of(columns[0]), raising=chosen["raising"])
    made = [
        pa.array([_typed(value, type_name) for value in one], getattr(pa, _ARROW_TYPES[type_name])())
        for one, type_name in zip(found, types.values(), strict=True)
    ]
    return pa.StructArray.from_arrays(made, [f"p{number}" for number in range(len(made))])
