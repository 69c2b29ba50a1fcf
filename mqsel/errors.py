"""The errors of mqsel, and the reason codes of IBM MQ.

All errors are subclasses of `MqselError`. ``args`` is only the message, and everything else is an attribute. So an
error can be pickled, and comes back from a Spark executor as it was. The texts of errors are in the ``wordings.py`` of
the folder that raises them, or where they are raised. Follows *IBM MQ 9.4, Reason codes*.
"""

from __future__ import annotations

from enum import IntEnum

from mqsel.carets import Span, caret, nameable, shortened, visible


class MQRC(IntEnum):
    """The reason codes of IBM MQ that mqsel reports, by IBM's names and numbers."""

    MQRC_MD_ERROR = 2026
    MQRC_NO_MSG_AVAILABLE = 2033
    MQRC_HEADER_ERROR = 2142
    MQRC_MDE_ERROR = 2248
    MQRC_RFH_ERROR = 2334
    MQRC_RFH_FORMAT_ERROR = 2421
    MQRC_NO_SUBSCRIPTION = 2428
    MQRC_SUBSCRIPTION_IN_USE = 2429
    MQRC_SUB_ALREADY_EXISTS = 2432
    MQRC_PROPERTY_NAME_ERROR = 2442
    MQRC_SELECTOR_SYNTAX_ERROR = 2459
    MQRC_PROP_TYPE_NOT_SUPPORTED = 2467
    MQRC_PROP_NUMBER_FORMAT_ERROR = 2472
    MQRC_PROPERTIES_TOO_BIG = 2478
    MQRC_MIXED_CONTENT_NOT_ALLOWED = 2498
    MQRC_SELECTOR_ALWAYS_FALSE = 2504
    MQRC_PROPERTY_NAME_LENGTH_ERR = 2513
    MQRC_SELECTION_STRING_ERROR = 2519
    MQRC_SELECTOR_NOT_ALTERABLE = 2524
    MQRC_RFH_RESTRICTED_FORMAT_ERR = 2527
    MQRC_SELECTION_NOT_AVAILABLE = 2551
    MQRC_CONTENT_ERROR = 2554

    def __str__(self) -> str:
        return f"{self.name} ({self.value})"


class MqselError(Exception):
    """The base class of all errors that mqsel raises. Catch it to catch them all.

    Args:
        message: The first line of the text, without the location.
        hint: What you can do about the error. The default is None: no hint.
        reason: The reason code that a queue manager would return. The default is None: no code.

    Attributes:
        hint: What you can do about the error, or None.
        reason: The reason code, an `MQRC`, or None.
    """

    is_ibm = True  # whether the product has reason codes: those of others are no help to read

    def __init__(self, message: str, *, hint: str | None = None, reason: MQRC | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        self.reason = reason

    @property
    def message(self) -> str:
        """The first line of the text, without the location, the caret and the hint."""
        return str(self.args[0]) if self.args else ""

    def _place(self) -> list[str]:
        return []

    def _picture(self, width: int | None) -> list[str]:  # noqa: ARG002 (of those that have one)
        return []

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int | None = None) -> str:
        """Return the whole text of the error: message, location, the part at fault with a caret, and hint.

        Args:
            width: The width of the terminal in cells, to which the line above the caret is cut. The default is None: no
                limit.
        """
        place = self._place()
        if self.reason is not None and self.is_ibm:
            place.append(str(self.reason))
        first = visible(self.message) + (f" [{'; '.join(place)}]" if place else "")
        lines = [first, *self._picture(width)]
        if self.hint:
            lines.append(f"  hint: {visible(self.hint)}")
        return "\n".join(lines)


class SelectorError(MqselError, ValueError):
    """A selector is invalid.

    Args:
        message: The first line of the text.
        selector: The whole selector.
        span: The part at fault, as a pair of positions (start, end) in code points, from 0.
        hint: What you can do about the error. The default is None: no hint.
        reason: The reason code that a queue manager would return. The default is MQRC_SELECTOR_SYNTAX_ERROR.

    Attributes:
        selector: The whole selector.
        span: The part at fault.
        line: The line in which the span begins, from 1.
        column: The column in which the span begins, in code points from 1.
        key: The key of the selector in a SelectorSet. Only errors of sets have this attribute.
    """

    key: object

    def __init__(
        self,
        message: str,
        *,
        selector: str = "",
        span: Span = (0, 0),
        hint: str | None = None,
        reason: MQRC = MQRC.MQRC_SELECTOR_SYNTAX_ERROR,
    ) -> None:
        super().__init__(message, hint=hint, reason=reason)
        self.selector = selector
        self.span = span

    @property
    def line(self) -> int:
        """The line in which the part at fault begins, from 1."""
        return self.selector.count("\n", 0, self.span[0]) + 1

    @property
    def column(self) -> int:
        """The column in which the part at fault begins, in code points from 1."""
        start = self.span[0]
        return start - self.selector.rfind("\n", 0, start)

    def _place(self) -> list[str]:
        key = [f"key {shortened(self.key)}"] if hasattr(self, "key") else []
        return [*key, f"line {self.line}, column {self.column}"]

    def _picture(self, width: int | None) -> list[str]:
        return caret(self.selector, self.span, width)


class SelectorSyntaxError(SelectorError):
    """The selector breaks the grammar of the dialect, or has the name of a property that can't exist."""


class SelectorTypeError(SelectorError):
    """The selector follows the grammar, but an operator and its operands have types that never fit."""


class SelectorLimitError(SelectorError):
    """The selector is longer, more deeply nested or larger than the dialect or the program format allows."""


class SelectorAlwaysFalseError(SelectorError):
    """The selector reads no property and is not TRUE, so it never selects (*IBM MQ 9.4, Selection behavior*)."""


class SelectorNotAlterable(SelectorError):  # noqa: N818 (the vendor's name)
    """A durable subscription exists with another selector than the one that you passed (2524)."""


class ProgramError(MqselError, ValueError):
    """The bytes are not a program that this version of mqsel can run.

    Args:
        message: The first line of the text.
        address: The index of the instruction at fault. The default is None: the fault is not in an instruction.
        hint: What you can do about the error. The default is None: no hint.

    Attributes:
        address: The index of the instruction at fault, or None.
    """

    def __init__(self, message: str, *, address: int | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.address = address

    def _place(self) -> list[str]:
        return [] if self.address is None else [f"instruction {self.address}"]


class PropertyTypeError(MqselError, TypeError):
    """An object is not a message, or a property has a value or a type that no property can have.

    Args:
        message: The first line of the text.
        name: The name of the property. The default is None: the fault is not in one property.
        value_type: The name of the Python type that was found, or None.
        index: The index of the message in its stream, from 0. The default is None: there is no stream.
        hint: What you can do about the error. The default is None: no hint.

    Attributes:
        name: The name of the property, or None.
        value_type: The name of the Python type that was found, or None.
        index: The index of the message in its stream, from 0, or None.
        path: The file that has the column; empty if the value is not from a file.
    """

    path = ""

    def __init__(
        self,
        message: str,
        *,
        name: str | None = None,
        value_type: str | None = None,
        index: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.name = name
        self.value_type = value_type
        self.index = index

    def _place(self) -> list[str]:
        place = [visible(nameable(self.path))] if self.path else []
        return place if self.index is None else [*place, f"record {self.index}"]


class UndocumentedError(PropertyTypeError):
    """The selector has no answer for these values.

    The product's documentation, which the dialect follows, doesn't define the result of a test for them, or a property
    is NaN or -0.0 in a dialect that orders these values apart from all other numbers.
    """


class DecodeError(MqselError, ValueError):
    """The bytes are not a valid message, or not the structure that is expected.

    Args:
        message: The first line of the text.
        structure: IBM's name of the structure at fault, such as "MQRFH2". The default is empty.
        offset: The byte at which the structure begins, from the start of the message. The default is 0.
        index: The index of the message in its stream, from 0. The default is None: there is no stream.
        hint: What you can do about the error. The default is None: no hint.
        reason: The reason code that a queue manager would return. The default is None: no code.

    Attributes:
        structure: The name of the structure at fault; empty if there is none.
        offset: The byte at which the structure begins, from the start of the message.
        index: The index of the message in its stream, from 0, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        structure: str = "",
        offset: int = 0,
        index: int | None = None,
        hint: str | None = None,
        reason: MQRC | None = None,
    ) -> None:
        super().__init__(message, hint=hint, reason=reason)
        self.structure = structure
        self.offset = offset
        self.index = index

    def _place(self) -> list[str]:
        record = [] if self.index is None else [f"record {self.index}"]
        return [*record, f"{self.structure} at byte {self.offset}"] if self.structure else record


class FileError(DecodeError):
    """A file, or one of the messages or selectors in it, can't be read or written.

    Args:
        message: The first line of the text.
        path: The path of the file.
        line: The line at fault, from 1. The default is None: the file has no lines, or the error concerns all of it.
        offset: The byte at fault, from the start of the file. The default is None: there is a line, or the error
            concerns the whole file.
        hint: What you can do about the error. The default is None: no hint.

    Attributes:
        path: The path of the file.
        line: The line at fault, from 1, or None.
        offset: The byte at fault, from the start of the file.
        is_whole: Whether the error concerns the whole file.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str = "",
        line: int | None = None,
        offset: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, offset=offset or 0, hint=hint)
        self.path = path
        self.line = line
        self.is_whole = line is None and offset is None

    def _place(self) -> list[str]:
        place = f"byte {self.offset}" if self.line is None else f"line {self.line}"
        name = visible(nameable(self.path))
        return [name if self.is_whole else f"{name}, {place}"]


class QueueError(FileError):
    """The queue of a running broker can't be browsed, or not to its end.

    Args:
        message: The first line of the text.
        path: The URL of the queue.
        number: The number of messages that mqsel had read. The default is 0.
        hint: What you can do about the error. The default is None: no hint.

    Attributes:
        path: The URL of the queue.
        number: The number of messages that mqsel had read.
    """

    def __init__(self, message: str, *, path: str = "", number: int = 0, hint: str | None = None) -> None:
        super().__init__(message, path=path, hint=hint)
        self.number = number


class ArgumentError(MqselError, TypeError, ValueError):
    """An argument has the wrong type, or a value that is not allowed."""


class NoMessageAvailable(MqselError, LookupError):  # noqa: N818 (the vendor's name)
    """The queue has no message that is selected (2033)."""


class SubscriptionError(MqselError, ValueError):
    """The subscription doesn't exist (2428), exists already (2432) or is in use (2429)."""


class MessageNotWriteable(MqselError, TypeError):  # noqa: N818 (the vendor's name)
    """You set a property of a message that was received. Call ``clear_properties`` first."""
