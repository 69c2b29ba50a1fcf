"""Read the properties of one message: IBM MQ, AMQP 1.0, JSON and the records of other tools.

`properties` returns the properties of an IBM MQ message (MQMD, MQMDE, chained headers, MQRFH2). `inspect` also returns
their types and sources. `FORMATS` has a row for each format, and `decoder` returns a decoder for a stream of messages.
This package reads bytes that you pass to it. It opens no files and knows no selectors.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from mqsel.arguments import check_word
from mqsel.carets import shortened
from mqsel.errors import ArgumentError
from mqsel.formats._decoder import Decoder
from mqsel.formats._json import JSONDecoder, WholeJSONDecoder, property_names
from mqsel.formats._mq import MQDecoder
from mqsel.formats.inspection import Inspection, Row, Rows
from mqsel.formats.jms import JMS
from mqsel.formats.jsonl import inspect_json
from mqsel.formats.mqrfh2 import Note
from mqsel.formats.records import SCHEMAS, RecordSchema, given_names, inspect_record, reader
from mqsel.names import JMS_DESCRIPTOR

__all__ = [
    "FORMATS",
    "Decoder",
    "Inspection",
    "MessageFormat",
    "Note",
    "Row",
    "Rows",
    "decoder",
    "inspect",
    "names_of",
    "properties",
]

_Key = tuple[tuple[str, ...] | None, bool, int | None]


def properties(
    message: bytes | bytearray | memoryview,
    names: Iterable[str] | None = None,
    *,
    strip: bool = False,
    ccsid: int | None = None,
) -> dict[str, Any]:
    """Return the properties of an IBM MQ message: MQMD (or only an MQRFH2), headers, data.

    Args:
        message: The bytes of the message.
        names: The names of the properties to read. The default is None: all. A name that the message doesn't have is
            not in the result. A property without a value is None.
        strip: Whether to remove trailing spaces from the character fields of the MQMD. The default is False.
        ccsid: The character set of these fields, one of `mqsel.formats.mqmd.CCSIDS`. The default is None: mqsel finds
            it from StrucId, and for EBCDIC from CodedCharSetId.

    Returns: a dict of names to values.

    Raises: DecodeError: if *message* is not an IBM MQ message. PropertyTypeError: if *message* is not bytes.
    """
    key = _key(names, strip, ccsid)
    held = _IDLE.pop(key, None) or _make(key)
    answer = held.properties(message)
    _put_back(key, held)
    return answer


def inspect(message: bytes | bytearray | memoryview, *, strip: bool = False, ccsid: int | None = None) -> Inspection:
    """Return every property of an IBM MQ message with its type, value and source, and the parts that were skipped.

    Args:
        message: The bytes of the message.
        strip: Whether to remove trailing spaces, as for `properties`.
        ccsid: The character set of the MQMD, as for `properties`.

    Raises: the errors of `properties`.
    """
    key = _key(None, strip, ccsid)
    held = _IDLE.pop(key, None) or _make(key)
    found, sources, offsets, notes, structures = held.inspect(message)
    _put_back(key, held)
    return Inspection(Rows(found, sources, offsets), tuple(notes), tuple(structures))


# Idle decoders, by (names, strip, ccsid): laying the names out takes longer than a message. A decoder
# is taken out of here while it is used, so two threads never meet in one.
_IDLE: dict[_Key, MQDecoder] = {}
_MAX_IDLE = 64


def _put_back(key: _Key, idle: MQDecoder) -> None:
    if len(_IDLE) < _MAX_IDLE:
        _IDLE[key] = idle


def _key(names: Iterable[str] | None, strip: bool, ccsid: int | None) -> _Key:
    if ccsid is not None and not isinstance(ccsid, int):
        raise ArgumentError(f"ccsid is a number, found {type(ccsid).__name__}")
    if names is None:
        return None, bool(strip), ccsid
    return given_names(names), bool(strip), ccsid


def _make(key: _Key) -> MQDecoder:
    names, strip, ccsid = key
    # The descriptor's names are listed with its fields.
    slots = (name for name in JMS if not name.startswith(JMS_DESCRIPTOR)) if names is None else dict.fromkeys(names)
    return MQDecoder(slots, strip=strip, ccsid=ccsid, everything=names is None)


# ---- the table ---------------------------------------------------------------------------------------------------


class MessageFormat(NamedTuple):
    """How messages of one format are read.

    Attributes:
        decoder: A function that returns the decoder of messages in a file, for names of properties and options.
        options: The names of the options.
        inspect: A function that returns the `Inspection` of one message in a file, with declared types.
        has_mqmd: Whether messages have an MQMD, so that the rules of a queue manager apply.
        has_naming: Whether the option ``naming`` says whose names headers have.
        whole: A function that returns the decoder of messages with all their properties; None if there is none.
    """

    decoder: Callable[..., Decoder]
    options: tuple[str, ...]
    inspect: Callable[[bytes, Mapping[str, str]], Inspection]
    has_mqmd: bool = False
    has_naming: bool = False
    whole: Callable[..., Decoder] | None = None


def _mq_decoder(
    names: Sequence[str],
    *,
    strip: bool = False,
    ccsid: int | None = None,
    invalid_names: str | None = None,
    identifier: tuple[str, bytes] | None = None,
) -> MQDecoder:
    if invalid_names is not None:
        check_word("invalid_names", invalid_names, ("never", "ignore"))
    return MQDecoder(names, strip=strip, ccsid=ccsid, never=invalid_names == "never", identifier=identifier)


def _record_decoder(schema: RecordSchema, names: Sequence[str], types: Mapping[str, str] | None = None) -> Decoder:
    from mqsel.formats._records import RecordDecoder  # noqa: PLC0415 (few files have records)

    return RecordDecoder(names, reader(schema, names, types))


def _amqp_decoder(names: Sequence[str], *, naming: str | None = None) -> Decoder:
    from mqsel.formats import _amqp, amqp  # noqa: PLC0415 (likewise)

    if naming is not None:
        check_word("naming", naming, amqp.NAMINGS)
    return _amqp.AMQPDecoder(names, naming=naming)


def _whole_amqp_decoder(names: Sequence[str], *, naming: str | None = None) -> Decoder:
    from mqsel.formats._amqp import WholeAMQPDecoder  # noqa: PLC0415 (likewise)

    return WholeAMQPDecoder(names, naming=naming)


def _inspect_amqp(message: bytes, _: Mapping[str, str]) -> Inspection:
    from mqsel.formats import _amqp, amqp  # noqa: PLC0415 (likewise)

    return _amqp.AMQPDecoder(amqp.INSPECTED).inspect(message)


def _artemis_decoder(names: Sequence[str]) -> Decoder:
    from mqsel.formats.artemis import decoder  # noqa: PLC0415 (few files are exports)

    return decoder(names)


def _inspect_artemis(message: bytes, types: Mapping[str, str]) -> Inspection:
    from mqsel.formats.artemis import inspect  # noqa: PLC0415 (likewise)

    return inspect(message, types)


FORMATS = {
    "mq": MessageFormat(
        _mq_decoder,
        ("strip", "ccsid", "invalid_names", "identifier"),
        lambda message, _: inspect(message),
        has_mqmd=True,
    ),
    "amqp": MessageFormat(_amqp_decoder, ("naming",), _inspect_amqp, has_naming=True, whole=_whole_amqp_decoder),
    "json": MessageFormat(JSONDecoder, (), lambda message, _: inspect_json(message), whole=WholeJSONDecoder),
    "artemis": MessageFormat(_artemis_decoder, (), _inspect_artemis),
    **{
        name: MessageFormat(partial(_record_decoder, schema), ("types",), partial(inspect_record, schema))
        for name, schema in SCHEMAS.items()
    },
}


def row_of(format: object) -> MessageFormat:  # noqa: A002 (as above)
    """Return the row of a format.

    Raises: ArgumentError: no such format.
    """
    row = FORMATS.get(format) if isinstance(format, str) else None
    if row is None:
        raise ArgumentError(f"format is {shortened(format)}: expected one of {', '.join(map(repr, FORMATS))}")
    return row


def names_of(message: bytes, kind: str, types: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the properties of a message.

    Args:
        message: The bytes of the message.
        kind: The format, a key of `FORMATS`.
        types: A mapping of properties to types that the format has lost.

    Raises: the errors of `MessageFormat.inspect` of the format.
    """
    names = property_names(message) if type(message) is bytes and type(kind) is str and kind == "json" else None
    if names is None:
        rows = row_of(kind).inspect(message, types).rows
        names = rows.names() if isinstance(rows, Rows) else tuple(row.name for row in rows if row.value is not None)
    return names


# The names of the table, for those who check types.
FormatName = Literal[
    "mq",
    "amqp",
    "json",
    "artemis",
    "connect",
    "connect-ibm",
    "lenses",
    "nifi",
    "pulsar",
    "a",
    "service-bus",
    "rabbitmq",
    "amazon-mq",
    "amazon-rabbitmq",
]


# What Service Bus Explorer saved, as lines of JSON with the names of the product.
_AS_LINES = (
    """jq -c '[.] | flatten[] | .properties + {"sys.Label": .label, "sys.MessageId": .messageId, "sys.To": .to,"""
    """ "sys.CorrelationId": .correlationId, "sys.ReplyTo": .replyTo, "sys.SessionId": .sessionId,"""
    """ "sys.ContentType": .contentType}' FILE"""
)


def decoder(
    format: str,  # noqa: A002 (the word of the command line)
    names: Sequence[str],
    *,
    in_any_case: Collection[str] = (),
    **options: Any,
) -> Decoder:
    """Return a decoder, which turns one message in bytes into the form that a matcher reads fastest.

    A decoder returns a mapping or a `Record`. The record is always the same object, filled again.

    Args:
        format: A key of `FORMATS`.
        names: The names of the properties, in the order of the slots.
        in_any_case: The names that are case-insensitive. If there are any, all properties of a message are returned.
            The default is none.
        options: Options of the format. "mq" has ``strip`` and ``ccsid``, as `properties`. With
            ``invalid_names="never"`` the decoder returns False for a message with a property name that is not allowed.
            With ``identifier``, the name of a field of the MQMD and 24 bytes, it reads only that field, and returns
            True if the field has these bytes or the bytes are zero. "amqp" has ``naming``: whose names headers have;
            the default is those of all products. The formats in `mqsel.formats.records.SCHEMAS` have ``types``, a
            mapping of properties to types that the format has lost.

    Raises: ArgumentError: if there is no such format or option, or the format can't be read by case-insensitive names.
    """
    row = row_of(format)
    if not options.keys() <= set(row.options):
        unknown = ", ".join(name for name in options if name not in row.options)
        raise ArgumentError(f"format {format!r} does not take these options: {unknown}")
    in_any_case = given_names(in_any_case)
    if in_any_case and row.whole is None:
        readable = ", ".join(repr(name) for name, one in FORMATS.items() if one.whole is not None)
        raise ArgumentError(
            f"messages of the format {format!r} are read by names as they are spelled: expected {readable}, columns or "
            "mappings, since this dialect reads names without regard to case",
            hint=_AS_LINES
            if format == "service-bus"
            else "write the properties of each message as a JSON object on one line",
        )
    return row.decoder(names, **options) if row.whole is None or not in_any_case else row.whole(names, **options)
