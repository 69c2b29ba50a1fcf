"""What a normal form says of a message: the oracle computes the operands of a formula, too.

Whether a value is in a set, and what comparing two gives, is written here a second time.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import oracle
from products.typed import product_of, value

from mqsel.language import nodes
from mqsel.language.dialect import Dialect
from mqsel.logic import normal
from mqsel.logic.formulas import All, Compared, Formula, Leaf, Relation
from mqsel.logic.normal import Normal
from mqsel.logic.sets import Values
from mqsel.names import spellings

PARTS = {"TRUE": "true", "FALSE": "false", "ERR": "error", "UNKNOWN": "unknown"}  # of a normal form

ERROR: oracle.Value = ("error", None)
Read = Callable[[nodes.Node], oracle.Value]


def reader(properties: oracle.Properties, dialect: Dialect) -> Read:
    """Return what computes a subject from typed properties: (type, value), or ERROR."""
    # A subject names properties, not spellings of them.
    named: oracle.Properties = {}
    for name in properties:
        found = spellings(name, dialect.headers)
        named[found[0]] = next(properties[one] for one in found if one in properties)
    message = oracle._Message(named, dialect)
    product = product_of(dialect)
    if product is not None:
        return lambda subject: value(product, subject, named, dialect)

    def read(subject: nodes.Node) -> oracle.Value:
        try:
            return message.value(subject)
        except oracle._SelectorIsFalseError:
            return ERROR

    return read


def is_in(value: oracle.Value, values: Values) -> bool:
    """Report whether a typed value is in a set."""
    kind, held = value
    if kind in ("null", "poison", "error"):
        return bool(getattr(values, kind))
    if kind == "boolean":
        return values.booleans[bool(held)]
    if kind in ("string", "bytes"):
        texts = values.strings if kind == "string" else values.bytes
        found = held in texts.points or any(is_like(held, pattern) for pattern in texts.patterns)
        return found != texts.negated
    if kind not in ("float32", "float64"):
        return any(low <= held <= high for low, high in values.integers)
    floats = values.floats32 if kind == "float32" else values.floats64
    return floats.nan if math.isnan(held) else any(low <= held <= high for low, high in floats.intervals)


def is_like(text: str, pattern: normal.Pattern) -> bool:
    """Match a pattern of segments by the oracle's LIKE, which reads a pattern as written."""
    written = "%".join(
        "".join("_" if one is None else f"!{one}" if one in "!%_" else one for one in part) for part in pattern
    )
    return oracle._like(text, written, "!")


def outcome(left: oracle.Value, right: oracle.Value) -> Compared:
    """Compare two typed values."""
    kinds = left[0], right[0]
    if "error" in kinds:
        return Compared.ERROR
    if "null" in kinds:
        return Compared.NULL
    numbers = {*kinds} <= {*oracle._NUMBERS}
    if not numbers and (kinds[0] != kinds[1] or "poison" in kinds):
        return Compared.MISMATCH
    if not numbers:
        return Compared.SAME if left[1] == right[1] else Compared.DIFFERENT
    _, first, second = oracle._promote(left, right)
    if first == second:
        return Compared.EQUAL
    return Compared.LESS if first < second else Compared.GREATER if first > second else Compared.UNORDERED


def walked(*roots: Formula) -> list[Formula]:
    """List the parts of formulas, each once, inner ones first."""
    found: dict[int, Formula] = {}
    stack = [*roots]
    while stack:
        one = stack[-1]
        waiting = [part for part in getattr(one, "parts", ()) if id(part) not in found]
        if id(one) in found or not waiting:
            found.setdefault(id(one), stack.pop())
        stack += waiting
    return [*found.values()]


def holds(formula: Formula, read: Read) -> bool:
    """Report whether a formula is true of a message."""
    truths: dict[int, bool] = {}
    for one in walked(formula):
        if isinstance(one, Leaf):
            truths[id(one)] = is_in(read(one.subject), one.values)
        elif isinstance(one, Relation):
            truths[id(one)] = bool(outcome(read(one.left), read(one.right)) & one.outcomes)
        else:
            inner = [truths[id(part)] for part in one.parts]
            truths[id(one)] = all(inner) if isinstance(one, All) else any(inner)
    return truths[id(formula)]


def said(made: Normal, read: Read) -> list[str]:
    """List the truth values whose formula is true of a message: there must be one."""
    return [truth for truth, part in PARTS.items() if holds(getattr(made, part), read)]
