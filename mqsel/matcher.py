"""From text to matcher: `compile`, and the class `Matcher`.

The only module that knows the whole pipeline. A matcher is pickled as its program: unpickling verifies that, and parses
nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from mqsel.errors import (
    MQRC,
    ArgumentError,
    DecodeError,
    ProgramError,
    PropertyTypeError,
    SelectorError,
    as_flag,
    check_word,
    iterated,
)
from mqsel.language.checker import MatchOption
from mqsel.language.dialect import IBM_MQ, Dialect, as_dialect, core_of
from mqsel.language.optimizer import optimize as optimized
from mqsel.language.parameters import with_parameters
from mqsel.language.selector import as_text, at_time, read_selector
from mqsel.machine._stream import Selection
from mqsel.machine._values import Record
from mqsel.machine._vm import Machine
from mqsel.machine.compiler import lower
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
    """A selector, compiled. Made by `compile`; immutable; may be shared by threads and pickled.

    It is the machine itself, so that a call of `matches` is one call.

    Attributes:
        selector: the text.
        dialect: what the text was read as.
        schema: layout of the sequences it takes as messages, or None.
        program: the verified `Program`.
        properties: names of the properties it reads, in order of first reading.
        in_any_case: those of them that count without regard to case.
        constant: the truth of a selector that reads no property, else None.
        match_option: ``(name, identifier)`` where a queue manager would match a message or correlation identifier of
            24 bytes instead of running the selector, else None (*IBM MQ 9.4, MatchOptions*).
    """

    __slots__ = ()

    @property
    def selector(self) -> str:
        return self.program.text

    @property
    def dialect(self) -> Dialect:
        return self.program.dialect

    @property
    def properties(self) -> tuple[str, ...]:
        return self.program.slots

    @property
    def in_any_case(self) -> tuple[str, ...]:
        return self.properties if core_of(self.dialect).naming == "folded" else ()

    # What is not part of the program is read from the text when somebody asks.

    @property
    def constant(self) -> Truth | None:
        return selector_of(self.program).constant

    @property
    def match_option(self) -> MatchOption | None:
        return selector_of(self.program).match_option

    def evaluate(self, message: Message) -> Truth:
        """Return TRUE, FALSE or UNKNOWN. ERR, "the complete selector is false", is reported as FALSE."""
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
        """Iterate over the selected ones of *messages*, untouched and in order.

        Pulls from the input only what it needs for the next answer; fits ``rdd.mapPartitions(matcher.filter)``.

        Args:
            messages: any iterable of messages.
            errors: "raise" a PropertyTypeError or DecodeError with the index of the record, or "skip" it; the iterator
                counts ``seen``, ``selected`` and ``skipped``, and keeps the first errors as ``failures``.
            format: of raw messages: "mq" for an MQMD and its data, "amqp" for AMQP 1.0; see `decoder`.
            now: what UTC() is, in milliseconds since 1970; by default the time of this call.
            options: of the format; for "mq": ``invalid_names`` "never" (the default under IBM_MQ) selects no message
                with a property name IBM MQ does not allow, "ignore" skips the property; ``strip``, ``ccsid``.
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
        return self if fixed is selector else Matcher(lower(optimized(fixed)), self.schema)

    def decoder(self, format: str, **options: Any) -> formats.Decoder:  # noqa: A002 (the word of the command line)
        """Return a callable that turns one raw message into the form that this matcher reads quickest.

        It returns what `mqsel.formats.decoder` describes, or True or False where a queue manager would not run the
        selector: it compares the identifier of a match option, and never selects a message with an invalid name.

        Args: as for `filter`.

        Raises: ArgumentError: no such format or option; a format that is read by name, where case does not count.
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
        """Report which rows of a batch are selected. Its columns are the properties, and stay Arrow's.

        A property is the column of its name, or, where there is none, a field of a struct column: ``a.x`` is x in a;
        by IBM's rules ``x`` is x in usr, too (formats §2). One without either is NULL, as is a field of a struct that
        is null itself. The columns have their own types, so a schema given to `compile` is not used.

        Args:
            now: what UTC() is, in milliseconds since 1970; by default the time of this call.
            batch: a pyarrow RecordBatch, Table or StructArray, or what else offers Arrow's C data or stream interface
                with columns; of types bool, int8 to int64, uint8 to uint64, float, double, string, binary, null
                (large and view ones too), or dictionaries of such. A uint64 beyond int64 is an error.
            decimals: how decimals are read, which are no properties otherwise: "double" (the nearest) or "int64".
            timestamps: likewise, int64: "seconds", "millis", "micros" or "nanos" since 1970; without a zone in UTC.
            threads: at most so many, each for 262,144 rows or more; by default ``pyarrow.cpu_count()``, which honours
                OMP_NUM_THREADS.

        Returns: shape (rows,), without nulls but where no document says what the selector is for a row.

        Raises: PropertyTypeError: a column that is read has another type, or is damaged. ArgumentError: no batch, or
            one with two columns of a name that is read; no such meaning, no such number. MqselError: pyarrow is not
            installed.
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
        """Evaluate the rows of a batch in three values: true, false, and null for UNKNOWN or no answer. ERR is false.

        Args, Raises: those of `match_batch`.

        Returns: shape (rows,).
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
        """Return the selected rows of a frame, as a frame of the same kind.

        Columns are properties as for `match_batch`; no more of them are looked at than the selector reads.

        Args:
            frame: a pyarrow Table or RecordBatch, a pandas DataFrame, which keeps its index, a polars DataFrame, a
                polars LazyFrame, which stays lazy, or a duckdb relation. The query of a relation runs now, and its rows
                are held in memory as Arrow; the relation that is returned belongs to the same connection.
            now: what UTC() is, in milliseconds since 1970; by default the time of this call.
            decimals, timestamps: as for `match_batch`. The rows are returned as they are.

        Raises: what `match_batch` raises. ArgumentError: it is no such frame. UndocumentedError: no document says what
            the selector is for some row.
        """
        from mqsel.columns import frames  # noqa: PLC0415 (likewise)

        matcher = self._at(now)

        def match(batch: object) -> pa.BooleanArray:
            return _answers().match_batch(matcher, self._declared(batch, decimals, timestamps))

        chosen: _F = frames.select(frame, match, matcher.properties, core_of(self.dialect).naming)
        return chosen

    def explain(self, message: Message) -> Explanation:
        """Report what every part of the selector was for *message*, and why."""
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
        """Report why many messages are selected, or are not: how many made each part of the selector what, and why.

        The result is true if something is selected. It prints sentences, a tree and what the properties are; in a
        notebook it shows as a table. A batch is counted by columns.

        Args:
            messages: any iterable of messages; or a batch, as for `match_batch`, whose rows are the messages.
            errors: "raise", or "skip" and count what is no message.
            format: of raw messages; see `filter`.
            decimals, timestamps: of a batch; see `match_batch`.
            options: of the format; see `filter`.

        Raises: what `filter` and `match_batch` raise.
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
    """Compile a message selector; repeated calls are answered from a cache, like those of `re.compile`.

    Args:
        text: the selector; an empty or blank one selects everything.
        dialect: how to read it: IBM_MQ, IBM_JMS, IBM_JAVA_CLIENT, TIBCO_EMS, JMS, the name of one of
            these ("JMS"), or a variation of one.
        schema: the layout of messages that are sequences: names, (name, type) pairs, or a mapping of names to types.
        optimize: rearrange and fuse; the truth values are the same without.
        for_subscription: report a faulty text with the reason code a subscription gets (2551 instead of 2459).
        parameters: values for `:name` in the text, each of which becomes a literal: see `quote`. Spans of other errors,
            and the text of the matcher, are those of the text with the literals.

    Raises: SelectorSyntaxError, SelectorTypeError, SelectorLimitError, SelectorAlwaysFalseError: see `mqsel.errors`.
        ArgumentError: an argument of the wrong type.
    """
    written = as_text(text)
    layout = None if schema is None else as_schema(schema)
    try:
        chosen = as_dialect(dialect)
        if parameters is not None:
            written = with_parameters(written, parameters, chosen)
        return _compile(written, chosen, layout, as_flag("optimize", optimize))
    except SelectorError as error:
        if for_subscription and error.reason is MQRC.MQRC_SELECTOR_SYNTAX_ERROR:
            error.reason = MQRC.MQRC_SELECTION_NOT_AVAILABLE
        raise


@functools.lru_cache(_CACHE_SIZE)
def _compile(text: str, dialect: Dialect, schema: Schema | None, optimize: bool) -> Matcher:
    selector = read_selector(text, dialect)
    return Matcher(lower(optimized(selector) if optimize else selector, quick=optimize), schema)
