"""What a set of selectors consists of, in a file and in a pickle: a header, keys, texts, and the arrays of its index.

Knows no message and no engine.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from mqsel.carets import quoted, shortened, type_name
from mqsel.errors import ArgumentError, FileError, ProgramError
from mqsel.index._index import Index
from mqsel.index._reader import NOT_READ
from mqsel.index.computed import computed_among
from mqsel.language.checker import MatchOption
from mqsel.language.dialect import Dialect
from mqsel.machine import sections
from mqsel.machine.program import VERSION, dialect_of
from mqsel.machine.schema import Schema, as_schema
from mqsel.machine.sections import Texts, keys_of, packed, packed_keys
from mqsel.matcher import COMPARED

# What reading a header that nobody has written ends in; a deep one is a RecursionError.
_DAMAGE = (LookupError, TypeError, ValueError, AttributeError, RecursionError)
_OPTIONS = {name: name for name in COMPARED}
FORMAT = 4  # of the header and of what follows it; formats before were those of mqsel before 0.4


class Contents(NamedTuple):
    """What a set consists of; places are positions of keys.

    Attributes:
        dialect, schema, keep_text: of the set.
        keys: by place; NOT_READ where *column* has it.
        column: keys by place, or None.
        texts: by place, none if they are not kept.
        own: by place, dialects that are not that of the set, or None.
        options: by place, match options, or None.
        formulas: the index of them.
    """

    dialect: Dialect
    schema: Schema | None
    keep_text: bool
    keys: list[Any]
    column: Any
    texts: Texts
    own: dict[int, Dialect | None]
    options: dict[int, MatchOption | None]
    formulas: Index


def parts(contents: Contents) -> tuple[dict[str, Any], list[Any], list[sections.Buffer]]:
    """Return the header, which JSON takes, the keys where they are no column of str or int, and the arrays."""
    keys = contents.keys
    header = {
        "version": VERSION,
        "format": FORMAT,
        "dialect": contents.dialect.departures(),
        "schema": contents.schema,
        "keep_text": contents.keep_text,
        "own": [(place, one.departures()) for place, one in contents.own.items() if one is not None],
        "options": [
            (place, one.name, one.identifier.hex()) for place, one in contents.options.items() if one is not None
        ],
    }
    texts = packed(contents.texts.listed(len(keys)) if contents.keep_text else [])
    column = packed_keys(keys)
    arrays = [*texts, *contents.formulas.to_buffers()]
    return (header, keys, arrays) if column is None else (header, [], [*column, *arrays])


def save(path: str | os.PathLike[str], header: dict[str, Any], keys: list[Any], arrays: list[sections.Buffer]) -> None:
    """Write what `parts` returned to a file, as `SelectorSet.save` says."""
    if keys:
        key = next(key for key in keys if type(key) not in (str, int))
        raise ArgumentError(
            f"the key {shortened(key)} is a Python {type_name(key)}: a file has keys that are str or int",
            hint="pickle the set, or number its selectors",
        )
    sections.save(path, sections.written(header, arrays))


def opened(path: str | os.PathLike[str]) -> Contents:
    """Read a file, as `SelectorSet.open` says."""
    data = sections.read(path)
    try:
        header, arrays = sections.opened(data)
        return _contents(header, [], arrays)
    except ProgramError as error:
        raise FileError(error.message, path=os.fsdecode(path), hint=error.hint) from error
    except _DAMAGE as error:  # what no save has written
        raise FileError("the header of the file is damaged", path=os.fsdecode(path), hint="save it again") from error


def unpickled(header: dict[str, Any], keys: list[Any], arrays: list[Any]) -> Contents:
    """Return what `parts` was made of.

    Raises: ProgramError: it is damaged.
    """
    try:
        return _contents(header, keys, arrays)
    except ProgramError:
        raise
    except _DAMAGE as error:  # what no pickling has written
        raise ProgramError("the pickle of a SelectorSet is damaged", hint="pickle it again") from error


def _contents(header: dict[str, Any], keys: list[Any], arrays: list[Any]) -> Contents:
    version, format_ = str(header.get("version", "0.2.0")), header.get("format")
    if format_ != FORMAT:
        raise ProgramError(
            f"the set was written by mqsel {quoted(version)}, this is mqsel '{VERSION}' (set format {FORMAT})",
            hint="build the set again from its selectors",
        )
    column = None
    if not keys:
        column = keys_of(*[memoryview(one) for one in arrays[:3]])
        keys, arrays = [NOT_READ] * len(column), arrays[3:]
    dialect, schema = dialect_of(version, *header["dialect"]), header["schema"]
    keep_text = bool(header["keep_text"])
    texts, index = Texts(*arrays[:2]), Index.from_buffers(arrays[2:])
    computed_among(index.names)
    if not len(index) == len(keys) == index.places or len(texts) != (len(keys) if keep_text else 0):
        raise ProgramError(
            f"there are {len(keys)} keys, {len(texts)} texts and {len(index)} formulas", hint="save the set again"
        )
    own: dict[int, Dialect | None] = {_place_of(place, keys): dialect_of(version, *one) for place, one in header["own"]}
    options: dict[int, MatchOption | None] = {
        _place_of(place, keys): MatchOption(_OPTIONS[name], bytes.fromhex(one))
        for place, name, one in header["options"]
    }
    laid_out = None if schema is None else as_schema(Schema(*map(tuple, schema)))
    return Contents(dialect, laid_out, keep_text, list(keys), column, texts, own, options, index)


def _place_of(place: object, keys: list[Any]) -> int:
    """Return a place that a header names.

    Raises: LookupError: there is none.
    """
    if type(place) is not int or not 0 <= place < len(keys):
        raise LookupError(place)
    return place
