"""The writers of the command line: `print_text` for people, `print_json` for programs. No other module prints.

The rules for everyone who adds output (`tests/test_house.py` holds them):

* ``print_text(line)`` prints one line. It replaces whatever a terminal or the log of a build would obey, so pass names,
  keys, paths and values as they are. A newline within them becomes a space: call it once for each line.
* ``print_lines(text)`` prints a text of several lines. Whoever lays the text out applies `visible` to names and values,
  because a newline within them would begin a line.
* ``print_json(value)`` prints JSON, which `mqsel.formats.jsonl.json_text` writes: characters that cannot be seen are
  escapes, and all of it is ASCII unless stdout is UTF-8. JSON in a file or in a page is from `json_text`, too.
* ``print_exact(text)`` prints a selector that another program reads, and reports an error if stdout cannot show it.
* ``print_data(data)`` prints the bytes of a file as they are: messages that were selected, a file that was rewritten.
* ``say`` and ``complain`` print one line, or an error with its caret and hint, to stderr.
* ``write_file`` writes a report or a baseline.

Names of files go through `mqsel.files.framings.shown` first, which hides passwords.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, TextIO

from mqsel._interrupt import held
from mqsel.carets import cut, shortened, visible, wrapped
from mqsel.errors import MqselError
from mqsel.files.framings import shown
from mqsel.formats.jsonl import json_text

# GitHub obeys a line that begins with ::, GitHub and Azure obey ##[ and ##vso[ anywhere in it, TeamCity ##teamcity[.
_COMMAND = re.compile(r"^(\s*:)(?=:)|#(?=#(?:\[|vso\[|teamcity\[))")
# What is coloured on a terminal: answers, and the words with which complaints, warnings and hints begin.
_COLORED = re.compile(
    r"(?P<green>\bTRUE\b)|(?P<red>\b(?:FALSE|MISMATCH)\b|^mqsel:|\berror:|(?<=\|)[ ~]*\^+$)"
    r"|(?P<yellow>\bUNKNOWN\b|\bwarning:)|(?P<cyan>\bhint:)",
    re.MULTILINE,
)
_SGR = {"green": 32, "red": 31, "yellow": 33, "cyan": 36}  # ECMA-48, 8.3.117


class StdoutFile(io.FileIO):
    """Writes all that it is given to stdout, or fails: without Python's buffers a nearly full disk takes only a part.

    If the reader has gone, nothing is written, and that is no error: the exit code is that of the whole answer.

    Attributes:
        is_unread: whether the reader has gone; of the class, as the process has one stdout.
    """

    is_unread = False

    def write(self, data: Any) -> int:
        left = memoryview(data)
        while left and not StdoutFile.is_unread:
            try:
                size = super().write(left)
            except BrokenPipeError:
                StdoutFile.is_unread = True
                break
            if size is None:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
            left = left[size:]
        return len(data)


def width_of(stream: TextIO) -> int | None:
    """Return the columns of the terminal that shows a stream; None if none does: a log keeps its lines whole."""
    with suppress(OSError, ValueError):
        return os.get_terminal_size(stream.fileno()).columns or None
    return None


def print_width() -> int | None:
    """Return the columns of the terminal that shows stdout, for a text that is laid out in columns."""
    return width_of(sys.stdout)


def choose_color(when: str) -> None:
    """Set when answers are coloured: always, never, or auto: on a terminal, unless NO_COLOR is set."""
    global _when  # noqa: PLW0603 (of the process, as its terminal is)
    _when = when


_when = "auto"


def _colored(text: str, stream: TextIO) -> str:
    """Return what is printed to a stream, in colours where they are wanted."""
    is_wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and width_of(stream) is not None
    if not (_when == "always" or (_when == "auto" and is_wanted)):
        return text
    return _COLORED.sub(lambda word: f"\x1b[{_SGR[word.lastgroup or '']}m{word[0]}\x1b[0m", text)


def harmless(text: str) -> str:
    """Return a line in which neither a terminal nor the log of a build finds anything to obey."""
    text = visible(text)
    return _COMMAND.sub(r"\g<0> ", text) if "::" in text or "##" in text else text


def print_text(
    *cells: str,
    indent: str | None = None,
    is_cut: bool = False,
    is_colored: bool = False,
    stream: TextIO | None = None,
    end: str = "\n",
) -> None:
    """Print one line for people.

    Args:
        cells: the line; several are printed with tabs between them.
        indent: on a terminal, break a line that is too long between words, and begin its further lines with this.
        is_cut: on a terminal, cut a line that is too long.
        is_colored: colour the words of an answer.
        stream: stdout unless it is said.
        end: what follows the line.
    """
    stream = sys.stdout if stream is None else stream
    text = "\t".join(map(harmless, cells))
    width = width_of(stream) if is_cut or indent is not None else None
    if width is not None:
        text = cut(text, width) if is_cut else "\n".join(map(harmless, wrapped(text, width, indent or "")))
    print(_colored(text, stream) if is_colored else text, end=end, file=stream)


def print_lines(text: str, *, is_colored: bool = False, end: str = "\n") -> None:
    """Print a text of several lines, which lies within the terminal already.

    Args:
        is_colored: colour the words of an answer.
        end: what follows the last line.
    """
    text = "\n".join(map(harmless, text.split("\n")))
    print(_colored(text, sys.stdout) if is_colored else text, end=end)


def _is_utf8(stream: TextIO) -> bool:
    return codecs.lookup(getattr(stream, "encoding", None) or "utf-8").name == "utf-8"


def print_json(value: Mapping[str, Any], *, indent: int | None = None, lines_of: str = "") -> None:
    """Print an object as JSON.

    Args:
        indent: spaces for each level; by default the object is one line.
        lines_of: a member that is an object: the members of both get a line each.
    """
    if not lines_of:
        return print(json_text(value, indent=indent, is_ascii=is_ascii()))
    texts = {name: json_text(one, is_ascii=is_ascii()) for name, one in value.items()}
    pairs = ({name: one} for name, one in value[lines_of].items())
    inner = ",\n".join(f"    {json_text(pair, is_ascii=is_ascii())[1:-1]}" for pair in pairs)
    texts[lines_of] = f"{{\n{inner}\n  }}" if inner else "{}"
    names = [lines_of, *(name for name in texts if name != lines_of)]
    print("{\n" + ",\n".join(f'  "{name}": {texts[name]}' for name in names) + "\n}")
    return None


def is_ascii() -> bool:
    """Return whether JSON for stdout has to be ASCII, because stdout is not UTF-8."""
    return not _is_utf8(sys.stdout)


def print_exact(text: str) -> None:
    """Print a selector, of several lines or of one, exactly: a program may read it.

    Raises: MqselError: it has a character that stdout cannot show or a terminal would obey.
    """
    lines = text.split("\n")
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    for line in lines:
        plain = line.replace("\t", " ")
        if plain != harmless(plain) or line.encode(encoding, "ignore").decode(encoding) != line:
            raise MqselError(
                f"{shortened(text)} has a character that {encoding} has not, or that a terminal or a log would "
                "obey: "
                "expected a selector that can be printed",
                hint="put it into a file and let --write change the file",
            )
    print(text)


def line_bytes(line: str) -> bytes:
    """Return a line for people, or its beginning, as `print_data` takes it: it goes before bytes of a file."""
    return harmless(line).encode(getattr(sys.stdout, "encoding", None) or "utf-8", "backslashreplace")


def print_data(data: bytes, *, is_live: bool = False) -> None:
    """Print bytes of a file as they are; after `print_text` call `flush` first.

    Args:
        is_live: somebody waits for them.
    """
    sys.stdout.buffer.write(data)  # print would write other line ends on some systems
    if is_live:
        flush()


def flush() -> None:
    """Bring what was printed to where stdout goes."""
    sys.stdout.flush()


def say(what: str | MqselError, before: str = "") -> None:
    """Print a line, or an error, to stderr; on a terminal lines end between words, and a caret is under its word.

    Args:
        what: also the text of an error, whose further lines, the caret and the hint, begin with two spaces.
        before: goes before the first line.
    """
    sys.stdout.flush()
    text = before + (what if isinstance(what, str) else what.text(width_of(sys.stderr)))
    for line in re.split(r"\n(?=  )", text):
        # A picture keeps its lines, and so does a command that you copy.
        indent = None if re.match(r"  (?:\| |hint: (?:jq|python3) )", line) else "    "
        print_text(line, indent=indent, is_colored=True, stream=sys.stderr)


def complain(what: str | MqselError, where: str = "") -> None:
    """Print what is wrong."""
    say(what, f"mqsel: {where}")


def write_file(path: str, lines: Iterable[str]) -> None:
    """Write lines into a file, all of them though Ctrl-C comes meanwhile, or leave it as it was.

    Raises: MqselError: the file cannot be written.
    """
    from pathlib import Path  # noqa: PLC0415 (most commands write no file)

    from mqsel.machine.sections import replace_file  # noqa: PLC0415

    data = "\n".join([*lines, ""]).encode()
    target = Path(path)
    try:
        with held():
            is_plain = target.is_file() and os.access(target, os.W_OK) and not path.startswith(("/dev/", "/proc/"))
            if is_plain or not target.exists():
                try:
                    return replace_file(Path(os.path.realpath(path)), [data])
                except OSError as error:  # a folder that takes no other file, or a file that is mounted
                    if error.errno not in (errno.EACCES, errno.EPERM, errno.EBUSY):
                        raise
            target.write_bytes(data)
    except OSError as error:
        raise MqselError(f"{shown(path)}: cannot be written: {error.strerror or error}") from error
