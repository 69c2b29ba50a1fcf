"""Values as literals of a dialect, and parameters in a text: what keeps a value from becoming a part of the grammar."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from mqsel.carets import quoted, shortened, type_name
from mqsel.errors import ArgumentError, SelectorError, SelectorSyntaxError
from mqsel.language.dialect import IBM_MQ, Dialect, as_dialect
from mqsel.language.nodes import Comparison, Literal, Node, Sign, mapped, unparse
from mqsel.language.selector import read_anew

_KINDS: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "exact"),
    (float, "approximate"),
    (str, "string"),
    (bytes, "bytes"),
)


def quote(value: object, dialect: Dialect | str = IBM_MQ) -> str:
    """Return a Python value as a literal that you can put into a selector.

    Args:
        value: A bool, int, float, str or bytes.
        dialect: The `Dialect` of the selector, or its name. The default is IBM_MQ.

    Raises: ArgumentError: if the dialect has no literal for the value, such as None, NaN or a number out of range.
    """
    chosen = as_dialect(dialect)
    kind = next((kind for cls, kind in _KINDS if isinstance(value, cls)), None)
    if kind is None or (isinstance(value, float) and not math.isfinite(value)):
        what = shortened(value) if value is None or isinstance(value, float) else f"a Python {type_name(value)}"
        hint = "write IS NULL for a property that is missing" if value is None else None
        raise ArgumentError(f"{what} has no literal: expected a bool, a finite number, a str or bytes", hint=hint)
    plain = {"boolean": bool, "exact": int, "approximate": float, "string": str.__str__, "bytes": bytes}[kind](value)  # type: ignore[operator]
    literal = Literal(kind, plain)
    try:
        text = unparse(literal, chosen)
    except ValueError:  # an int of more than 4,300 digits has none
        text = ""
    if not _is_read_as(text, literal, chosen):
        raise ArgumentError(
            f"{shortened(value)} has no literal in {chosen!r}",
            hint="convert it to a type or a range that the dialect has",
        )
    return text


def _is_read_as(text: str, literal: Literal, dialect: Dialect) -> bool:
    """Report whether the text of a literal is read as what it stands for."""
    try:
        read = read_anew(f"x = {text}", dialect.replace(max_length=None)).node
    except SelectorError:
        return False
    test = mapped(read, lambda node: node)
    if not isinstance(test, Comparison):
        return False
    found: Node = test.right
    return found == literal or (isinstance(found, Sign) and unparse(found) == unparse(literal))


_COMMENT = {"no": [], "dashes": [r"--[^\r\n]*", r"/\*.*?\*/"]}
_BRACKETS = ("brackets", "both")


def with_parameters(text: str, parameters: Mapping[str, Any], dialect: Dialect) -> str:
    """Return a text with the literals of values for `:name`; strings, names in quotes and comments have none.

    Raises: SelectorSyntaxError: a name without a value, or a value that is not in the text. ArgumentError: no literal
        stands for a value.
    """
    if not isinstance(parameters, Mapping) or not all(isinstance(name, str) for name in parameters):
        raise ArgumentError(f"parameters are {shortened(parameters)}: expected a mapping of names to values")
    apart = [r"'(?:[^']|'')*'", r'"(?:[^"]|"")*"', *_COMMENT[dialect.rules.comments]]
    apart += [r"\[(?:[^\]]|\]\])*\]"] * (dialect.rules.quoted_names in _BRACKETS)
    pattern = re.compile(rf"{'|'.join(apart)}|(?<![\w$:]):([^\W\d]\w*)", re.DOTALL)
    used: set[str] = set()

    def replaced(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return match[0]
        if name not in parameters:
            known = ", ".join(f":{one}" for one in parameters)
            raise SelectorSyntaxError(
                f"{quoted(match[0])} has no value: expected a parameter of this name",
                selector=text,
                span=match.span(),
                hint=f"the parameters are {known}" if known else "pass parameters={…}",
            )
        used.add(name)
        literal = quote(parameters[name], dialect)
        # Two minus signs are a comment in some dialects.
        return f" {literal}" if text[: match.start()].endswith("-") and literal.startswith("-") else literal

    made = pattern.sub(replaced, text)
    unused = [name for name in parameters if name not in used]
    if unused:
        raise SelectorSyntaxError(
            f"the text has no parameter :{unused[0]}: expected it, or no value for it",
            selector=text,
            span=(0, len(text)),
            hint="a parameter stands outside of strings and quotes",
        )
    return made
