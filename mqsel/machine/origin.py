"""The selector of a program, which may have come from elsewhere.

The machine runs the code and never reads the text, so unpickling a matcher needs no compiler until its tree is needed.
Then the text is read and compiled once, and a program with other code is an error. Knows no matcher.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import copysign, isnan
from typing import Any

from mqsel.carets import shortened
from mqsel.errors import ProgramError, PropertyTypeError, SelectorError
from mqsel.language.dialect import core_of
from mqsel.language.selector import Selector, read_selector
from mqsel.machine._values import Record
from mqsel.machine._verifier import note_source
from mqsel.machine._vm import Machine
from mqsel.machine.compiler import program_of
from mqsel.machine.program import VERSION, Program


def selector_of(program: Program) -> Selector:
    """Return the selector of a program, for what needs more than its code.

    A program that was compiled here has its selector. The text of a program that came as bytes is read once.

    Raises: ProgramError: the text compiles to other code, so that the tree and the code would have different results.
    """
    if program.source is not None:
        return program.source
    try:
        selector = read_selector(program.text, program.dialect)
        is_same = any(program == program_of(selector, optimize=choice) for choice in (True, False))
    except SelectorError:
        is_same = False
    if not is_same:
        raise ProgramError(
            f"the code of the program is not what its text says: expected what mqsel '{VERSION}' compiles "
            f"{shortened(program.text)} to",
            hint="compile the selector again, by the mqsel that runs it",
        )
    note_source(program, selector)
    return selector


def read_matched(reads: Machine, matches: Callable[[Any], bool], message: Any) -> dict[str, tuple[str, Any]]:
    """Read what `Machine.read` reads, for reports that count as matching does.

    Matching ends where the answer is known. A value that no property can have is missing here if matching does not come
    to the value.

    Raises: PropertyTypeError: no message, or matching comes to such a value.
    """
    try:
        return reads.read(message)
    except PropertyTypeError:
        matches(message)
        has_order = core_of(reads.program.dialect).has_greatest
        if isinstance(message, Record):
            message = dict(zip(message.schema.names, message.as_tuple(), strict=True))
        if isinstance(message, Mapping):
            return reads.read(
                {name: value for name, value in message.items() if _is_property(value, has_order=has_order)}
            )
        if isinstance(message, (tuple, list)):
            fields = getattr(message, "__fields__", None) or getattr(message, "_fields", None)
            values = [value if _is_property(value, has_order=has_order) else None for value in message]
            return reads.read(values if fields is None else dict(zip(fields, values, strict=True)))
        raise


def _is_property(value: Any, *, has_order: bool) -> bool:
    try:
        (held,) = Record(("value",), [value]).as_tuple()
    except PropertyTypeError:
        return False
    is_unordered = isinstance(held, float) and (isnan(held) or (held == 0 and copysign(1, held) < 0))
    return not (has_order and is_unordered)
