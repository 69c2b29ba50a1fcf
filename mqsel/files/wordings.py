"""Errors of files that cannot be read: each wording that is used more than once or has a rule of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mqsel.carets import nameable, shortened, shortened_line
from mqsel.errors import ArgumentError, FileError, MqselError, PropertyTypeError


def defect(error: Exception) -> MqselError:
    """Return the error of an exception that no part of mqsel expected, with what its developers have to know."""
    import traceback  # noqa: PLC0415 (for defects only)
    from pathlib import Path  # noqa: PLC0415 (for defects only)

    from mqsel.machine.program import BUILD  # noqa: PLC0415 (for defects only)

    frames = traceback.extract_tb(error.__traceback__)
    last = next((frame for frame in reversed(frames) if "mqsel" in Path(frame.filename).parts), frames[-1])
    where = f"{'/'.join(Path(last.filename).parts[-2:])}:{last.lineno} in {last.name}"
    return MqselError(
        f"a defect of mqsel {BUILD}: {type(error).__name__}: {shortened_line(str(error))} [{where}]",
        hint="report this line and the command; MQSEL_TRACEBACK=1 prints the whole traceback",
    )


def bad_line(path: str, line: int, what: str) -> FileError:
    return FileError(what, path=path, line=line)


def long_line(limit: int) -> FileError:
    return FileError(
        f"the line is longer than {limit:,} bytes: expected a message of this size at most",
        hint="--max-size 1G (in Python max_size=2**30) reads longer lines",
    )


def no_message(found: object) -> ArgumentError:
    return ArgumentError(f"a message is {shortened(found)}: expected bytes")


def bad_prefix(path: str, offset: int, prefix: bytes, left: int, limit: int) -> FileError:
    size = int.from_bytes(prefix, "big")
    if len(prefix) < 4:
        found = f"the file ends within a length: {len(prefix)} of its 4 bytes are left"
    elif size > limit:
        found = f"a length of {size:,} bytes: a message has at most {limit:,}"
    else:
        found = f"the file ends within a message: {left:,} of its {size:,} bytes are left"
    hint = (
        "the file was cut off, or a length before it is wrong"
        if offset
        else "expected length-prefixed messages (4 bytes, big-endian), or one message that begins with MQMD"
    )
    return FileError(found, path=path, offset=offset, hint=hint)


_ENCODING = re.compile(rb"\A\s*<\?xml[^>]*?\bencoding\s*=\s*[\"']([^\"']*)")


def foreign_encoding(path: str, head: bytes) -> FileError | None:
    """Return the error of XML that names an encoding which is not read, or None."""
    named = _ENCODING.match(head.removeprefix(b"\xef\xbb\xbf"))
    if named is None or named[1].upper() in (b"UTF-8", b"UTF-16", b"US-ASCII", b"ASCII"):  # UTF-16 was converted
        return None
    return bad_line(path, 1, f"the XML is in {shortened(named[1].decode(errors='replace'))}: expected UTF-8")


def file_trouble(path: str, why: str) -> FileError:
    said = "a message isn't a file: pass it to mqsel explain, or to other commands on stdin"
    return FileError(
        f"the file cannot be read: {nameable(path, why)}", path=path, hint=said if path[:1] == "{" else None
    )


def fault(path: str, error: Exception) -> str:
    """Return why a file cannot be used: in the words of the system or a library, or of a path that Python refuses."""
    if isinstance(error, ValueError) and "\0" in path:
        return "its path has the character NUL"
    if isinstance(error, UnicodeEncodeError):
        return "its path has half a character"
    return nameable(path, getattr(error, "strerror", None) or shortened_line(str(error)))


def unwritable(name: str, arrow_type: str, error: Exception) -> PropertyTypeError:
    return PropertyTypeError(
        f"column '{name}' of the Arrow type {arrow_type} has a value that can't be written as JSON, "
        f"{shortened_line(str(error))}: expected a value that Python knows",
        name=name,
        value_type=arrow_type,
        hint="cast it to int64 or string, or leave it out",
    )


def unreadable(path: str, error: Exception) -> FileError:
    return file_trouble(path, fault(path, error))


# What makes a column of a type that no property has one that can be read, in the language of DuckDB.
_CASTS = {
    "decimal": "CAST({} AS DOUBLE)",
    "timestamp": "epoch_ms({})",
    "date32": "CAST({} AS VARCHAR)",
    "time": "CAST({} AS VARCHAR)",
}


def column_hint(path: str, name: str, arrow_type: str) -> str:
    """Return the command that writes a file of Parquet with a column that can be read; empty where there is none."""
    column = _identifier(name)
    cast = _CASTS.get(arrow_type, "").format(column)
    return _rewritten(path, f"* REPLACE ({cast} AS {column})") if cast else ""


def map_hint(path: str, name: str, keys: Iterable[str]) -> str:
    """Return the command that writes a file of Parquet with entries of a map as columns."""
    column = _identifier(name)
    entries = [f"{column}[{_text(key)}] AS {_identifier(key)}" for key in keys]
    return _rewritten(path, f"* EXCLUDE ({column}), {', '.join(entries)}")


def _rewritten(path: str, columns: str) -> str:
    import shlex  # noqa: PLC0415 (slow to import, and rarely needed)

    source = _text(nameable(path))
    sql = f"COPY (SELECT {columns} FROM {source}) TO 'new.parquet' (FORMAT parquet)"  # noqa: S608 (it is printed)
    return f"duckdb -c {shlex.quote(sql)}"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
