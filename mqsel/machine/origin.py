"""Whether a program that came from elsewhere is what its text says.

The machine runs the code and never reads the text, so unpickling a matcher needs no compiler until its tree is needed.
Then the text is compiled once, and a program with other code is refused. Knows the compiler; knows no matcher.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mqsel.carets import shortened
from mqsel.errors import ProgramError, PropertyTypeError, SelectorError
from mqsel.language.optimizer import optimize
from mqsel.language.selector import Selector, read_selector
from mqsel.machine._values import Record
from mqsel.machine._verifier import note_source, source_noted
from mqsel.machine._vm import Machine
from mqsel.machine.compiler import lower
from mqsel.machine.program import VERSION, Program


def check_source(program: Program) -> None:
    """Check once that the text of a program, which may come from elsewhere, compiles to its code.

    Raises: ProgramError: it does not: the tree of the text and the code would have different results.
    """
    if source_noted(program):
        return
    try:
        selector = read_selector(program.text, program.dialect)
        compiled = program in (lower(optimize(selector)), lower(selector, quick=False))
    except SelectorError:
        compiled = False
    if not compiled:
        raise ProgramError(
            f"the code of the program is not what its text says: expected what mqsel '{VERSION}' compiles "
            f"{shortened(program.text)} to",
            hint="compile the selector again, by the mqsel that runs it",
        )
    note_source(program)


def selector_of(program: Program) -> Selector:
    """Read the text of a program, for what needs more than its code.

    Raises: ProgramError: see `check_source`.
    """
    check_source(program)
    return read_selector(program.text, program.dialect)


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
        if isinstance(message, Mapping):
            return reads.read({name: value for name, value in message.items() if _is_property(value)})
        if isinstance(message, (tuple, list)):
            fields = getattr(message, "__fields__", None) or getattr(message, "_fields", None)
            values = [value if _is_property(value) else None for value in message]
            return reads.read(values if fields is None else dict(zip(fields, values, strict=True)))
        raise


def _is_property(value: Any) -> bool:
    try:
        Record(("value",), [value])
    except PropertyTypeError:
        return False
    return True
