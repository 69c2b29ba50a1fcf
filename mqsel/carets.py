"""How errors and reports show pieces of selectors, values and names: carets, quotes, and cuts to a width.

Knows no error and no rule of the language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

Span = tuple[int, int]

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
    """Pad a string with spaces to *width* cells."""
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
    """Go from *start* as far toward *stop* as *limit* cells allow."""
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
    """Break a line between words at *width* cells; spaces in single quotes belong to a literal, and stay.

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
    """Return a selector for a line of a report: white space between words becomes one space, literals stay.

    A tab or an end of line within a literal becomes a sign that shows it. A selector with comments keeps all of its
    white space: a comment ends with its line.
    """
    parts = _LITERAL.split(selector)
    if any(map(_COMMENT.search, parts[::2])):
        return visible(selector)
    parts[::2] = [re.sub(r"\s+", " ", part) for part in parts[::2]]
    return visible("".join(parts).strip(" "))


def _drawn(text: str) -> str:
    """Return a selector as it is drawn above carets, of the same length: a space for each white space between words."""
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

    Args: The same as in `caret`. If a line is too wide, each span gets a piece of its own, as `caret` draws it.
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
    """Return the name of a value's type."""
    return type(value).__qualname__


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


def shortened_line(text: str) -> str:
    """Show the first line of what another library says."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= 200 else f"{line[:199]}…"
