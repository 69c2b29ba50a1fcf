"""The errors of mqsel, the reason codes of IBM MQ, and how errors show selectors and values.

All errors are subclasses of `MqselError`. ``args`` is only the message, and everything else is an attribute. So an
error can be pickled, and comes back from a Spark executor as it was. The texts of errors are in the ``wordings.py`` of
the folder that raises them, or where they are raised. Follows *IBM MQ 9.4, Reason codes*.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from enum import IntEnum
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from typing_extensions import TypeIs

Span = tuple[int, int]
_T = TypeVar("_T")


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


class MQCC(IntEnum):
    """The completion codes of IBM MQ that mqsel reports, by IBM's names and numbers."""

    MQCC_FAILED = 2


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
    def completion(self) -> MQCC | None:
        """The completion code that a queue manager would return with the reason code, or None."""
        return None if self.reason is None else MQCC.MQCC_FAILED

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
    """The product's documentation, which the dialect follows, doesn't define the result of a test for these values."""


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


# ---- the caret -------------------------------------------------------------------------------------------------

WINDOW = 60  # cells shown either side of the span
_FRAME = 6  # cells of what stands around the text


def cells(text: str) -> int:
    """Count the cells that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.category(c) in ("Mn", "Me") else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def padded(text: str, width: int) -> str:
    """Fill a text up with blanks to *width* cells."""
    return text + " " * (width - cells(text))


def cut(text: str, width: int) -> str:
    """Shorten a text to *width* cells; an ellipsis stands for the rest."""
    return text if cells(text) <= width else f"{text[: _reach(text, 0, len(text), width - 1)]}…"


def cut_piece(text: str, width: int) -> str:
    """Return a piece of a selector in *width* cells; a string that is cut short keeps its closing quote."""
    shown, mark = cut(text, width), "'"
    if shown == text or shown.count(mark) % 2 == 0:
        return shown
    shown = cut(text, width - 1)
    return shown + mark * (shown.count(mark) % 2)


def _reach(text: str, start: int, stop: int, limit: int) -> int:
    """Go from *start* as far towards *stop* as *limit* cells allow."""
    step, place = (1 if start <= stop else -1), start
    while place != stop:
        limit -= cells(text[place if step > 0 else place - 1])
        if limit < 0:
            break
        place += step
    return place


_PICTURES = str.maketrans("\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029", "␉␊␋␌␍␜␝␞␟␤␤␤")


def visible(text: str) -> str:
    """Show what a terminal would obey as what it can show; spaces of all kinds stay as they are."""
    if text.isprintable():
        return text
    shown = text.translate(_PICTURES)
    return "".join([c if c.isprintable() or unicodedata.category(c) == "Zs" else "�" for c in shown])


def wrapped(text: str, width: int, indent: str = "", first: str = "") -> list[str]:
    """Break a line between words at *width* cells; blanks within apostrophes are those of a literal, and stay.

    Args:
        indent: before each line but the first.
        first: before the first.
    """
    lines = [first]
    for word in _WORDS.findall(text):
        if cells(lines[-1] + word.rstrip()) > width and lines[-1].strip():
            lines.append(indent)
        lines[-1] += word
    return [line.rstrip() for line in lines]


# A string, a quoted name or a name in brackets, as any dialect writes them, and what begins a comment in some.
_LITERAL = re.compile(r"""('[^']*'?|"[^"]*"?|\[[^\]]*\]?)""")
_COMMENT = re.compile(r"--|//|/\*")
_WORDS = re.compile(r"(?:'[^']*'|\S)+\s*|\s+")


def in_one_line(selector: str) -> str:
    """Return a selector for a line of a report: white space between words becomes one blank, literals stay.

    A tab or an end of line within a literal becomes a sign that shows it. A selector with comments keeps all of its
    white space: a comment ends with its line.
    """
    parts = _LITERAL.split(selector)
    if any(map(_COMMENT.search, parts[::2])):
        return visible(selector)
    parts[::2] = [re.sub(r"\s+", " ", part) for part in parts[::2]]
    return visible("".join(parts).strip(" "))


def _drawn(text: str) -> str:
    """Return a selector as it is drawn above carets, of the same length: a blank for white space between words."""
    parts = _LITERAL.split(text)
    parts[::2] = [re.sub(r"\s", " ", part) for part in parts[::2]]
    return visible("".join(parts))


def caret(text: str, span: Span, width: int | None = None) -> list[str]:
    """Draw the line of *text* that holds *span*, and carets under the whole span.

    Args:
        text: the selector.
        span: half-open, code points; may lie at the end of the text.
        width: the most cells a line may take; None for a window of 60 either side of the span.

    Returns: two lines, indented; none for an empty text.
    """
    if not text:
        return []
    start, stop = span
    line_start = text.rfind("\n", 0, start) + 1
    line_stop = text.find("\n", start)
    if line_stop < 0:
        line_stop = len(text)
    stop = max(start, min(stop, line_stop))
    window, longest = WINDOW, 2 * WINDOW
    if width is not None:
        room = max(width - _FRAME, 10)
        window = min(window, (room - min(cells(text[start:stop]), room // 2)) // 2)
        longest = min(longest, room - window)
    left = _reach(text, start, line_start, window)
    # A span longer than the window keeps its head; the tail is cut with an ellipsis like the rest of the line.
    right = min(_reach(text, stop, line_stop, window), _reach(text, start, line_stop, longest))
    shown_stop = min(stop, right)
    shown = _drawn(text)
    head = ("…" if left > line_start else "") + shown[left:start]
    body = shown[start:shown_stop]
    tail = shown[shown_stop:right] + ("…" if right < line_stop else "")
    return [f"  | {head}{body}{tail}".rstrip(), "  | " + " " * cells(head) + "^" * max(1, cells(body))]


def carets(text: str, spans: Iterable[Span], width: int | None = None) -> list[str]:
    """Draw each line of *text* that holds spans once, and carets under all of them.

    Args: those of `caret`; of a line that is too wide there is a piece for each span, as `caret` draws it.
    """
    lines: dict[int, list[Span]] = {}
    for start, stop in sorted(spans):
        lines.setdefault(text.rfind("\n", 0, start) + 1, []).append((start, stop))
    drawn: list[str] = []
    shown = _drawn(text)
    for first, inside in lines.items():
        last = text.find("\n", first)
        line = shown[first : None if last < 0 else last] + " "  # for a span at its end
        if len(inside) == 1 or cells(line) > (2 * WINDOW if width is None else width - _FRAME):
            pieces = dict.fromkeys(tuple(caret(text, span, width)) for span in inside)
            drawn += [row for piece in pieces for row in piece]
            continue
        marked = {at - first for start, stop in inside for at in range(start, max(stop, start + 1))}
        signs = [("^" if at in marked else " ") * cells(sign) for at, sign in enumerate(line)]
        drawn += [f"  | {line}".rstrip(), f"  | {''.join(signs)}".rstrip()]
    return drawn


# ---- quoting -----------------------------------------------------------------------------------------------------


def quoted(text: str) -> str:
    """Show a piece of a selector, shortened, in single quotes unless it brings quotes of its own."""
    shown = visible(text)
    mark = shown[:1] if shown[:1] in ("'", '"') else ""
    if len(shown) > 40:
        shown = f"{shown[:38]}…{mark}" if shown.endswith(mark or " ") else f"{shown[:39]}…"
    return shown if mark else f"'{shown}'"


_SECRET = ("sig", "token", "pass", "pwd", "secret", "key", "credential")  # in names of fields of a query


def _secrets(name: str) -> list[str]:
    """Return the parts of an address that open the file for whoever sees them: user and password, signatures."""
    _, is_address, rest = name.partition("://")
    if not is_address:
        return []
    place, _, query = rest.partition("?")
    user, at, _ = place.rpartition("@")
    secret = user.partition("/")[0].partition(":")[2]
    # An @ after a port is part of a path, as in http://host:80/a@b; a password may have a slash that should be escaped.
    has_password = bool(at and secret) and not (secret.isdecimal() and "/" in user)
    fields = [field.partition("=")[::2] for field in query.split("&")]
    signed = [value for word, value in fields if value and any(secret in word.lower() for secret in _SECRET)]
    return [user, user.partition(":")[2]] * has_password + signed


def nameable(name: str, text: str | None = None) -> str:
    """Return a name as errors and logs show it: an address without its password, and without a signature.

    Args:
        text: by default the name; or what a library says of it, from which the same is left out.
    """
    text = name if text is None else text
    for secret in _secrets(name):
        text = text.replace(secret, "…")
    return text


def type_name(value: object) -> str:
    """Name the type of a value. Its metaclass is not asked: it may raise, or give no text."""
    return str.__str__(type.__dict__["__qualname__"].__get__(type(value)))


def check_total(found: int, *reported: int, of: str = "selectors") -> None:
    """Check that a report has all that was found, in one of its parts.

    Raises: MqselError: it has not, by a defect of mqsel.
    """
    if found != sum(reported):
        raise MqselError(f"defect of mqsel: {found:,} {of} were found, and {sum(reported):,} are in the report")


def plural(count: int, noun: str, nouns: str = "") -> str:
    """Return a count and its noun, which agree in number: "1 message", "2,000 messages"."""
    return f"{count:,} {noun if count == 1 else nouns or f'{noun}s'}"


def shortened(value: object) -> str:
    """Show a value of a message in one short line."""
    try:
        shown = visible(repr(value[:200] if isinstance(value, (str, bytes)) else value)[:200])
    except Exception:  # noqa: BLE001 (an int of more than 4,300 digits has no text either)
        shown = f"a Python {type_name(value)}"
    return shown if len(shown) <= 60 else f"{shown[:59]}…"


def is_a(given: object, kinds: type[_T] | tuple[type[_T], ...]) -> TypeIs[_T]:
    """Report whether an argument is of a class: `isinstance` takes what stands for one, too, but C code does not."""
    return issubclass(type(given), kinds)


def check_word(name: str, given: object, known: Collection[str]) -> None:
    """Check an argument that is one of a few words.

    Raises: ArgumentError: it is none of them.
    """
    if not is_a(given, str) or str.__str__(given) not in known:
        words = [*map(repr, known)]
        expected = " or ".join(words) if len(words) == 2 else f"one of {', '.join(words)}"
        raise ArgumentError(f"{name} is {shortened(given)}: expected {expected}")


def as_flag(name: str, given: object) -> bool:
    """Return whether an argument is true.

    Raises: ArgumentError: it is neither, such as an array of several values.
    """
    try:
        return bool(given)
    except Exception as error:
        raise ArgumentError(f"{name} is {shortened(given)}: expected True or False") from error


def check_count(name: str, given: object, expected: str) -> None:
    """Check an argument that is a number from 1 on.

    Raises: ArgumentError: it is none.
    """
    if not is_a(given, int) or given < 1:
        raise ArgumentError(f"{name} is {shortened(given)}: expected {expected}")


def iterated(given: Iterable[_T], expected: str) -> Iterator[_T]:
    """Return an iterator over an argument.

    Raises: ArgumentError: it has none. What its own code raises.
    """
    try:
        return iter(given)
    except (TypeError, ValueError) as error:  # ValueError of a closed file, or a view that is released
        if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
            raise
        raise ArgumentError(f"found {shortened(given)}: expected {expected}") from error


def shortened_line(text: str) -> str:
    """Show the first line of what another library says."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= 200 else f"{line[:199]}…"


def with_extra(extra: str) -> str:
    """Return the command that installs an extra from where mqsel came from: no index of packages has it."""
    import json  # noqa: PLC0415 (for errors alone)
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 (likewise)
    from urllib.parse import unquote  # noqa: PLC0415 (likewise)

    try:
        origin = json.loads(distribution("mqsel").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        origin = {}
    where = str(origin.get("url", ""))
    if "vcs_info" in origin:
        where = f"{origin['vcs_info'].get('vcs', 'git')}+{where}@{origin['vcs_info'].get('commit_id', 'HEAD')}"
    if origin.get("dir_info", {}).get("editable"):
        return f"pip install -e '{unquote(where.removeprefix('file://'))}[{extra}]'"
    if where:
        return f"pip install 'mqsel[{extra}] @ {where}'"
    return f"pip install '/path/to/mqsel[{extra}]', with the clone or the wheel that mqsel came from"
