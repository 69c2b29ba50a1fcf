"""Accounts of files: why their messages are selected, or are not. What ``mqsel why`` runs.

A `Work` of `mqsel.files.scan`: each part of a file gives complaints about what is broken, and then what was counted.
Rows of Parquet are counted by columns, of which no more are read than the selector needs, and those whose names are
near a missing one. Prints nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from mqsel import formats
from mqsel.analysis.account import Account, Profiler
from mqsel.analysis.columns import names_of
from mqsel.analysis.near import near_names
from mqsel.errors import FileError, MqselError, PropertyTypeError
from mqsel.files import parquet
from mqsel.files.framings import FORMATS, each, taken_apart
from mqsel.files.parts import Part
from mqsel.files.scan import Ask, Broken, Complaint, Work, in_json_words, of_rows, reader, refused, why
from mqsel.machine.origin import selector_of
from mqsel.matcher import Matcher

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

Profiled = Complaint | Broken | Account


def profile(matcher: Matcher, ask: Ask, units: Iterable[Any], _path: str = "-") -> Iterator[Profiled]:
    """Count what became of the messages of a file; last of its records is the account.

    Args:
        matcher: has the selector.
        ask: the format of the file, and types that are declared.
        units: what `reading` gives for it in blocks.
    """
    kind = FORMATS[ask.format].message
    assert kind is not None
    is_lines = FORMATS[ask.format].is_lines
    types = dict(ask.types)
    decoder = reader(ask.format, matcher, types=types)
    assert isinstance(decoder, formats.Decoder)
    profiler = Profiler(selector_of(matcher.program))
    account = profiler.account

    def judge(data: bytes) -> None:
        found = None
        try:
            found = decoder(data)
            profiler.take_raw(data, kind, found, types)
        except PropertyTypeError as error:
            raise (in_json_words(error, found, matcher) if kind == "json" else error) from None

    for piece, problem in each(taken_apart(units), judge):
        if piece is None:
            assert isinstance(problem, FileError)
            yield Broken(why(problem))
            continue
        account.lines += 1
        place = account.lines if is_lines else piece.place
        if isinstance(problem, MqselError):
            yield from refused(account, place, problem)
        if decoder.noted and account.note is None and piece.message is not None:
            account.note = (place, formats.first_note(piece.message))
    account.noted = decoder.noted
    for name, count in decoder.unread.items():
        account.held[name].unread += count
    yield account


def _profile_rows(matcher: Matcher, _: Ask, part: Part) -> Iterator[Profiled]:
    profiler = Profiler(selector_of(matcher.program))
    try:
        # Rows that cannot be selected count, too: nothing is left out.
        for group in parquet.groups(
            matcher, part.path, part.start, part.stop, fixed=dict(part.fixed), is_inverted=True
        ):
            with parquet.trouble_of(part.path):
                table = _with_near_columns(matcher, group)
            if not table.num_columns:
                import pyarrow as pa  # noqa: PLC0415 (optional; `groups` found it)

                profiler.take_batch(pa.StructArray.from_buffers(pa.struct([]), group.rows, [None]))
                continue
            for batch in table.to_batches():
                profiler.take_batch(batch)
    except (FileError, PropertyTypeError) as error:
        yield of_rows(error)
    profiler.account.lines = profiler.account.messages
    yield profiler.account


PROFILE = Work(profile, _profile_rows, Account)


def _with_near_columns(matcher: Matcher, group: parquet.Group) -> pa.Table:
    """Add the columns whose names are near those of properties that rows lack."""
    table = group.table
    assert table is not None
    names = [*names_of(group.file.schema_arrow)]
    has = set(names_of(table.schema))
    wanted = [
        near
        for name in matcher.properties
        if name not in has or table.column(name).null_count
        for near in near_names(name, names)
        if near not in has
    ]
    columns = [*dict.fromkeys(name.partition(".")[0] for name in wanted)]
    if columns:
        more = group.file.read_row_group(group.number, columns=columns, use_threads=False)
        for name in more.column_names:
            table = table.append_column(name, more.column(name))
    return table
