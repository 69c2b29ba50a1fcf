"""From text to matcher: `compile`, and the class `Matcher`.

A matcher is pickled as its program. If you unpickle it, mqsel verifies the program. It reads the text only when you ask
for more than an answer.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from mqsel.arguments import check_word, iterated
from mqsel.errors import MQRC, ArgumentError, DecodeError, ProgramError, PropertyTypeError, SelectorError
from mqsel.language.checker import MatchOption
from mqsel.language.dialect import IBM_MQ, Dialect, as_dialect, core_of
from mqsel.language.parameters import with_parameters
from mqsel.language.selector import as_text, at_time, read_selector
from mqsel.machine._stream import Selection
from mqsel.machine._values import Record
from mqsel.machine._vm import Machine
from mqsel.machine.compiler import program_of
from mqsel.machine.origin import read_matched, selector_of
from mqsel.machine.program import Program
from mqsel.machine.schema import Schema, SchemaLike, as_schema
from mqsel.values import Truth

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

    from mqsel import formats
    from mqsel.analysis.explain import Explanation
    from mqsel.analysis.explain.profile import Profile
    from mqsel.columns.declared import Decimals, Timestamps

Message = Mapping[str, Any] | Sequence[Any] | Record
_M = TypeVar("_M")  # whatever stands for a message
_F = TypeVar("_F")  # a frame

_CACHE_SIZE = 1024
# For each match option the field of the MQMD that is compared.
COMPARED = {"MQMO_MATCH_MSG_ID": "MsgId", "MQMO_MATCH_CORREL_ID": "CorrelId"}


@functools.cache
def _answers() -> ModuleType:
    """Return the module, which takes a fifth of the time of importing mqsel; the statement takes 0.4 us each time."""
    from mqsel.columns import _answers  # noqa: PLC0415

    return _answers


def rule_of_names(dialect: Dialect, asked: str | None) -> str:
    """Report what becomes of a message with an invalid name: the rule is IBM MQ's own (formats §2)."""
    return ("never" if core_of(dialect).naming == "mqi" else "ignore") if asked is None else asked


def check_stream(messages: object, errors: str, format: str | None, options: Mapping[str, Any]) -> None:  # noqa: A002
    """Check what `filter` is given.

    Raises: ArgumentError: no iterable of messages, a word that does not exist, options without a format.
    """
    check_word("errors", errors, ("raise", "skip"))
    kind: type = type(messages)
    if hasattr(kind, "__arrow_c_stream__") and hasattr(kind, "columns"):
        library = kind.__module__.partition(".")[0]
        raise ArgumentError(
            f"filter takes an iterable of messages, found a frame: a {library} {kind.__name__}",
            hint="match_batch(frame) reads its columns, and returns a mask of its rows",
        )
    is_one = kind is Record or not _is_iterable(kind)
    if is_one or (format is not None and isinstance(messages, (bytes, bytearray, memoryview, str))):
        raise ArgumentError(f"filter takes an iterable of messages, found one Python {kind.__name__}")
    if format is None and options:
        raise ArgumentError(f"filter takes {', '.join(options)} only with a format")


def _is_iterable(kind: type) -> bool:
    # A LazyFrame of polars has slices alone.
    return (hasattr(kind, "__iter__") or hasattr(kind, "__getitem__")) and kind.__name__ != "LazyFrame"


class Matcher(Machine):
    """A compiled selector, which `compile` returns. It is immutable, threads may share it, and it can be pickled.

    Attributes:
        selector: The text of the selector, a str.
        dialect: The `Dialect` by which the text was read.
        schema: The layout of messages that are sequences, or None if messages are mappings.
        program: The verified `Program` that the selector was compiled to.
        properties: The names of the properties that the selector reads, a tuple in the order in which they first occur.
        in_any_case: The names in `properties` that are case-insensitive.
        constant: The `Truth` of a selector that reads no property; None for every other selector.
        match_option: ``(name, identifier)`` if a queue manager would compare the message or correlation identifier of
            24 bytes instead of running the selector; otherwise None (*IBM MQ 9.4, MatchOptions*).
    """

    # A matcher is the machine itself, so that a call of `matches` is one call.
    __slots__ = ()

    @property
    def selector(self) -> str:
        """The text of the selector."""
        return self.program.text

    @property
    def dialect(self) -> Dialect:
        """The dialect by which the text was read."""
        return self.program.dialect

    @property
    def properties(self) -> tuple[str, ...]:
        """The names of the properties that the selector reads, in the order in which they first occur."""
        return self.program.slots

    @property
    def in_any_case(self) -> tuple[str, ...]:
        """The names in `properties` that are case-insensitive."""
        return self.properties if core_of(self.dialect).naming == "folded" else ()

    # What is not part of the program is read from the text when somebody asks.

    @property
    def constant(self) -> Truth | None:
        """The truth of a selector that reads no property; None for every other selector."""
        return selector_of(self.program).constant

    @property
    def match_option(self) -> MatchOption | None:
        """The identifier that a queue manager would compare instead of running the selector, with its match option."""
        return selector_of(self.program).match_option

    def evaluate(self, message: Message) -> Truth:
        """Return whether the selector is TRUE, FALSE or UNKNOWN for *message*.

        UNKNOWN means that a property that decides is missing. A message is selected only if the result is TRUE. If an
        error makes the complete selector false, the result is FALSE.

        Args:
            message: One message: a mapping, a sequence that the schema lays out, or a `Record`.

        Raises: PropertyTypeError: if *message* is not a message, or a property has a value that no property can have.
        """
        truth = Truth(self.truth(message))
        return Truth.FALSE if truth is Truth.ERR else truth

    def filter(
        self,
        messages: Iterable[_M],
        *,
        errors: Literal["raise", "skip"] = "raise",
        format: formats.FormatName | None = None,  # noqa: A002 (the word of the command line)
        now: int | None = None,
        **options: Any,
    ) -> Selection[_M]:
        """Iterate over the messages in *messages* that the selector selects, unchanged and in order.

        The iterator reads from *messages* only as far as it needs to. You can pass this method to Spark:
        ``rdd.mapPartitions(matcher.filter)``.

        Args:
            messages: Any iterable of messages.
            errors: "raise" (default): raise the error of an invalid message, with its index. "skip": leave invalid
                messages out. The iterator counts ``seen``, ``selected`` and ``skipped``, and keeps the first errors in
                ``failures``.
            format: The format of messages in bytes: "mq" for IBM MQ messages, "amqp" for AMQP 1.0, or another key of
                `mqsel.formats.FORMATS`. The default is None: messages are not bytes.
            now: The time that UTC() returns, in milliseconds since 1970. The default is the time of this call.
            options: Options of the format. For "mq": ``invalid_names``, ``strip`` and ``ccsid``. With
                ``invalid_names="never"``, the default for IBM_MQ, a message with a property name that IBM MQ does not
                allow is not selected. With "ignore" only the property is left out.

        Raises: PropertyTypeError: if *errors* is "raise", and a message has a value that no property can have.
            DecodeError: if *errors* is "raise", and the bytes of a message are invalid.
            ArgumentError: if an argument has the wrong type, or an option doesn't belong to the format.
        """
        check_stream(messages, errors, format, options)
        decode = None if format is None else self.decoder(format, **options)
        return Selection(self._at(now), messages, errors == "skip", decode)

    def _at(self, now: int | None) -> Matcher:
        """Return the matcher that this one is at a time, by default that of the clock."""
        if now is None and not core_of(self.dialect).has_clock:
            return self
        selector = selector_of(self.program)
        fixed = at_time(selector, now)
        return self if fixed is selector else Matcher(program_of(fixed), self.schema)

    def decoder(self, format: str, **options: Any) -> formats.Decoder:  # noqa: A002 (the word of the command line)
        """Return a callable that turns one message in bytes into the form that this matcher reads fastest.

        The callable returns the values that `mqsel.formats.decoder` describes. It returns True or False if a queue
        manager would decide without running the selector. A queue manager compares the identifier of a match option,
        and never selects a message with an invalid name.

        Args:
            format: The format of the messages, as for `filter`.
            options: Options of the format, as for `filter`.

        Raises: ArgumentError: if there is no such format or option, or if the format can't be read by case-insensitive
            names.
        """
        from mqsel import formats  # noqa: PLC0415 (a fifth of what importing mqsel takes, which mappings need not)

        row = formats.row_of(format)
        if row.has_mqmd:
            options["invalid_names"] = rule_of_names(self.dialect, options.get("invalid_names"))
            if self.match_option is not None:
                name, identifier = self.match_option
                options["identifier"] = COMPARED[name], identifier
        if row.has_naming:
            options.setdefault("naming", core_of(self.dialect).naming)
        return formats.decoder(format, self.properties, in_any_case=self.in_any_case, **options)

    def match_batch(
        self,
        batch: object,
        *,
        now: int | None = None,
        decimals: Decimals | None = None,
        timestamps: Timestamps | None = None,
        threads: int | None = None,
    ) -> pa.BooleanArray:
        """Return a mask: which rows of an Arrow batch the selector selects.

        A property is the column of its name. If there is no such column, it is a field of a struct column: ``a.x`` is
        the field x of the column a. In dialects with IBM MQ's names ``x`` is also the field x of the column usr
        (formats §2). A property with neither is NULL, and so is a field of a struct that is NULL. Columns have their
        own types, so a schema that you gave to `compile` is not used.

        Args:
            batch: A pyarrow RecordBatch, Table or StructArray, or any object with Arrow's C data or stream interface
                that has columns. Properties can have the types bool, int8 to int64, uint8 to uint64, float, double,
                string, binary and null, their large and view variants, and dictionaries of these types.
            now: The time that UTC() returns, in milliseconds since 1970. The default is the time of this call.
            decimals: How to read decimal columns: "double" (the nearest double) or "int64". The default is None: a
                selector that reads a decimal column is an error.
            timestamps: How to read timestamp columns, which become int64: "seconds", "millis", "micros" or "nanos"
                since 1970. A timestamp without a zone is read as UTC. The default is None: a selector that reads one is
                an error.
            threads: The greatest number of threads. Each gets at least 262,144 rows. The default is
                ``pyarrow.cpu_count()``, which follows OMP_NUM_THREADS.

        Returns: a BooleanArray of shape (rows,). A row is null only if the product's documentation doesn't define the
            result.

        Raises: PropertyTypeError: if a column that the selector reads has another type, is damaged, or has an integer
            above int64.
            ArgumentError: if *batch* is not an Arrow batch, if two of its columns have one name that the selector
                reads, or if *decimals*, *timestamps* or *threads* is invalid.
            MqselError: if pyarrow is not installed.
        """
        if decimals is not None or timestamps is not None:
            batch = self._declared(batch, decimals, timestamps)
        return _answers().match_batch(self, batch, now, threads)

    def _declared(self, batch: object, decimals: Decimals | None, timestamps: Timestamps | None) -> object:
        """Return a batch with its decimals and timestamps as they are declared, if they are."""
        if decimals is None and timestamps is None:
            return batch
        from mqsel.columns.declared import declared  # noqa: PLC0415 (likewise)

        return declared(batch, self.properties, core_of(self.dialect).naming, decimals, timestamps)

    def truth_batch(
        self,
        batch: object,
        *,
        now: int | None = None,
        decimals: Decimals | None = None,
        timestamps: Timestamps | None = None,
        threads: int | None = None,
    ) -> pa.BooleanArray:
        """Return the truth of each row of an Arrow batch: true, false, or null for UNKNOWN.

        A row is also null if the product's documentation doesn't define the result. A row is false if an error makes
        the complete selector false.

        Args: *batch*, *now*, *decimals*, *timestamps* and *threads* are those of `match_batch`.

        Returns: a BooleanArray of shape (rows,).

        Raises: the errors of `match_batch`.
        """
        if decimals is not None or timestamps is not None:
            batch = self._declared(batch, decimals, timestamps)
        return _answers().truth_batch(self, batch, now, threads)

    def select(
        self,
        frame: _F,
        *,
        now: int | None = None,
        decimals: Decimals | None = None,
        timestamps: Timestamps | None = None,
    ) -> _F:
        """Return the rows of a DataFrame that the selector selects, as a DataFrame of the same library.

        Properties are columns, as for `match_batch`. mqsel reads only the columns that the selector names.

        Args:
            frame: A pyarrow Table or RecordBatch, a pandas DataFrame (which keeps its index), a Polars DataFrame, a
                Polars LazyFrame (which stays lazy), or a DuckDB relation. The query of a relation runs now, and its
                rows are kept in memory as Arrow. The relation that you get belongs to the same connection.
            now: The time that UTC() returns, in milliseconds since 1970. The default is the time of this call.
            decimals: How to read decimal columns, as for `match_batch`. The rows that you get are unchanged.
            timestamps: How to read timestamp columns, as for `match_batch`. The rows that you get are unchanged.

        Raises: the errors of `match_batch`.
            ArgumentError: if *frame* is no such DataFrame.
            UndocumentedError: if the product's documentation doesn't define the result for a row.
        """
        from mqsel.columns import frames  # noqa: PLC0415 (likewise)

        matcher = self._at(now)

        def match(batch: object) -> pa.BooleanArray:
            return _answers().match_batch(matcher, self._declared(batch, decimals, timestamps))

        chosen: _F = frames.select(frame, match, matcher.properties, core_of(self.dialect).naming)
        return chosen

    def explain(self, message: Message) -> Explanation:
        """Explain why the selector selects *message*, or doesn't: the truth of each part, with the values that decide.

        Args:
            message: One message: a mapping, a sequence that the schema lays out, or a `Record`.

        Returns: an `Explanation`, which you can print, and which notebooks show.

        Raises: PropertyTypeError: if *message* is not a message, or a property has a value that no property can have.
        """
        from mqsel.analysis.explain import explain  # noqa: PLC0415 (a tenth of the time that importing mqsel takes)

        values = read_matched(self, self.matches, message)
        return explain(selector_of(self.program), values, _names_of(message))

    def why(
        self,
        messages: Iterable[Any],
        *,
        errors: Literal["raise", "skip"] = "raise",
        format: formats.FormatName | None = None,  # noqa: A002 (the word of the command line)
        decimals: Decimals | None = None,
        timestamps: Timestamps | None = None,
        **options: Any,
    ) -> Profile:
        """Explain why many messages are selected or not: for each part of the selector, how many messages make it TRUE.

        The result is true if a message is selected. If you print it, you see sentences, a tree and the properties; a
        notebook shows a table. A batch is counted by columns.

        Args:
            messages: Any iterable of messages; or a batch as for `match_batch`, whose rows are the messages.
            errors: "raise" (default): raise the error of an invalid message. "skip": count invalid messages.
            format: The format of messages in bytes, as for `filter`.
            decimals: How to read decimal columns of a batch, as for `match_batch`.
            timestamps: How to read timestamp columns of a batch, as for `match_batch`.
            options: Options of the format, as for `filter`.

        Raises: the errors of `filter` and `match_batch`.
        """
        from mqsel.analysis.explain.account import Profiler  # noqa: PLC0415 (as above)
        from mqsel.analysis.explain.profile import report  # noqa: PLC0415
        from mqsel.columns.wordings import not_a_batch  # noqa: PLC0415

        check_word("errors", errors, ("raise", "skip"))
        if isinstance(messages, (Mapping, Record, bytes, bytearray, memoryview, str)):
            raise ArgumentError(
                f"why takes an iterable of messages, found one Python {type(messages).__name__}",
                hint="put one message into a list; on a file run the command mqsel why",
            )
        if format is None and options:
            raise ArgumentError(f"why takes {', '.join(options)} only with a format")
        profiler = Profiler(selector_of(self.program), self.schema)
        is_batch = hasattr(messages, "__arrow_c_stream__") or hasattr(messages, "__arrow_c_array__")
        if not is_batch and (decimals is not None or timestamps is not None):
            raise ArgumentError("decimals and timestamps are of columns, and this is no batch")
        if not is_batch and not _is_iterable(type(messages)):
            raise not_a_batch(messages)
        if is_batch:
            profiler.take_batches(self._declared(messages, decimals, timestamps))
        else:
            read = None if format is None else self.decoder(format, **options)
            skipped = 0
            for number, message in enumerate(iterated(messages, "an iterable of messages")):
                try:
                    if read is None or format is None:
                        profiler.take(message, partial(_names_of, message))
                    else:
                        profiler.take_raw(message, format, read(message))
                except (PropertyTypeError, DecodeError) as error:
                    if errors == "raise":
                        error.index = number
                        raise
                    skipped += 1
            profiler.account.skipped = skipped
        return report(profiler.selector, profiler.account, noun="row" if is_batch else "message")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Matcher):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[str, Dialect, Schema | None]:
        return self.selector, self.dialect, self.schema

    def __repr__(self) -> str:
        arguments = [repr(self.selector)]
        if self.dialect != IBM_MQ:
            arguments.append(f"dialect={self.dialect!r}")
        if self.schema is not None:
            typed = any(self.schema.types)
            layout = tuple(zip(*self.schema, strict=True)) if typed else self.schema.names
            arguments.append(f"schema={layout!r}")
        return f"mqsel.compile({', '.join(arguments)})"

    def __reduce__(self) -> tuple[Any, ...]:
        schema = None if self.schema is None else tuple(self.schema)
        data = self.program.to_bytes()
        return _load, ((data,) if schema is None else (data, *schema))


def _names_of(message: object) -> list[str]:
    """List the properties that a message has, of the kinds of messages that can be asked."""
    found: Iterable[tuple[Any, Any]] = ()
    if isinstance(message, dict):
        found = list(dict.items(message))
    elif isinstance(message, Record):
        found = zip(message.keys(), message.as_tuple(), strict=True)
    return [name for name, value in found if type(name) is str and value is not None]


def _load(data: bytes, names: tuple[str, ...] | None = None, types: tuple[str | None, ...] = ()) -> Matcher:
    """Unpickle a matcher: verify, never parse."""
    if names is None:
        return Matcher(Program.from_bytes(data))
    if not isinstance(names, tuple) or not isinstance(types, tuple) or len(names) != len(types):
        raise ProgramError("the schema that came with the program is damaged")
    return Matcher(Program.from_bytes(data), as_schema(tuple(zip(names, types, strict=True))))


def compile(  # noqa: A001 (like re.compile)
    text: str,
    *,
    dialect: Dialect | str = IBM_MQ,
    schema: SchemaLike | None = None,
    optimize: bool = True,
    for_subscription: bool = False,
    parameters: Mapping[str, Any] | None = None,
) -> Matcher:
    """Compile a selector. A repeated call returns a matcher from a cache, as `re.compile` does.

    Args:
        text: The selector. A str that is empty or has only white space selects every message in most dialects.
        dialect: The product whose rules apply: a `Dialect`, or its name as a str ("artemis"). The default is IBM_MQ.
            The dialects are IBM_MQ, IBM_JMS, IBM_JAVA_CLIENT, TIBCO_EMS, JMS, ACTIVEMQ, ARTEMIS, QPID_BROKER_J,
            QPID_CPP, RABBITMQ, RABBITMQ_JMS, ROCKETMQ and AZURE_SERVICE_BUS.
        schema: The layout of messages that are sequences such as tuples: a list of names, a list of (name, type)
            pairs, or a mapping of names to types. The default is None: messages are mappings.
        optimize: Whether to rearrange the selector so that it runs faster. The results are the same. The default is
            True.
        for_subscription: Whether a syntax error has the reason code that a subscription gets (2551) instead of the
            code of a consumer (2459). The default is False.
        parameters: A mapping of names to values. Each ``:name`` in the text is replaced by its value as a literal: see
            `quote`. The selector of the matcher, and the positions in errors, are those after the replacement. The
            default is None: the text has no parameters.

    Returns: the selector as a `Matcher`.

    Raises:
        SelectorSyntaxError: if the text breaks the grammar of the dialect.
        SelectorTypeError: if the types of an operator and its operands can never fit.
        SelectorLimitError: if the text is longer or more deeply nested than the dialect allows.
        SelectorAlwaysFalseError: if the selector reads no property and is not TRUE, in dialects that reject that.
        ArgumentError: if an argument has the wrong type, or the dialect doesn't exist.
    """
    written = as_text(text)
    layout = None if schema is None else as_schema(schema)
    try:
        chosen = as_dialect(dialect)
        if parameters is not None:
            written = with_parameters(written, parameters, chosen)
        return _compile(written, chosen, layout, bool(optimize))
    except SelectorError as error:
        if for_subscription and error.reason is MQRC.MQRC_SELECTOR_SYNTAX_ERROR:
            error.reason = MQRC.MQRC_SELECTION_NOT_AVAILABLE
        raise


@functools.lru_cache(_CACHE_SIZE)
def _compile(text: str, dialect: Dialect, schema: Schema | None, optimize: bool) -> Matcher:
    return Matcher(program_of(read_selector(text, dialect), optimize=optimize), schema)
