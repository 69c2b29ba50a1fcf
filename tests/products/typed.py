"""The second reading of a product's dialect as an oracle: of vectors, and of the operands that a normal form has."""

from __future__ import annotations

import functools
import math
import random
from typing import Any

from products import answers, selectors
from products.ours import PRESETS
from products.reading import PRODUCTS, read
from strategies import is_unordered

import mqsel
from mqsel.language.dialect import PRESETS as ALL_PRESETS
from mqsel.language.dialect import Dialect, core_of
from mqsel.language.nodes import Computed, Identifier, Node, unparse

Typed = dict[str, tuple[str, Any]]

KINDS = {"int8": "byte", "int16": "short", "int32": "int", "int64": "long", "float32": "float", "float64": "double"}
_NAMES = {kind: name for name, kind in KINDS.items()}
_TRUTHS = {"T": "TRUE", "F": "FALSE", "U": "UNKNOWN", "E": "ERR", "P": "refused", "FU": "FALSE|UNKNOWN"}
_VALUES = {"T": ("boolean", True), "F": ("boolean", False), "U": ("null", None), "E": ("error", None)}


# The products by the names of their presets.
BROKERS = {product.upper().replace("-", "_"): product for product in PRESETS}


def random_text(rng: random.Random, preset: str) -> str:
    """Draw a selector that compiles under the preset of a product, as it is and behind NOT."""
    while True:
        text = selectors.Selectors(BROKERS[preset], rng).text()
        try:
            for each in (text, f"NOT ({text}\n)"):  # RocketMQ ignores what stands behind a condition
                mqsel.compile(each, dialect=PRESETS[BROKERS[preset]])
        except mqsel.SelectorError:
            continue
        return text


def random_case(rng: random.Random, preset: str) -> tuple[str, Typed]:
    """Draw a selector that compiles under the preset of a product, and a message, of which the preset takes all."""
    text, drawn = random_text(rng, preset), selectors.message(BROKERS[preset], rng)
    typed = {name: (_NAMES.get(kind, kind), value) for name, (kind, value) in drawn.items()}
    if core_of(ALL_PRESETS[preset]).has_greatest:
        typed = {name: one for name, one in typed.items() if not is_unordered({name: one})}
    return text, typed


@functools.cache
def product_of(dialect: Dialect) -> str | None:
    """Return the product whose preset a dialect is, limits apart."""
    freed = dialect.replace(max_length=None, constant_false="accept")
    same = (name for name, one in PRESETS.items() if one.replace(max_length=None, constant_false="accept") == freed)
    return next(same, None)


def _properties(typed: Typed) -> answers.Properties:
    return {name: (KINDS.get(kind, kind), value) for name, (kind, value) in typed.items() if kind != "null"}


def is_sent(product: str, kind: str, value: Any) -> bool:
    """Report whether a product carries a value: RabbitMQ no NaN and no infinity, none of them bytes."""
    is_finite = not isinstance(value, float) or math.isfinite(value)
    return kind != "bytes" and (is_finite or not product.startswith("rabbitmq"))


def truth(product: str, text: str, typed: Typed) -> str:
    """Return what the product answers, by the name of the truth value; those that it does not part joined by |."""
    return _TRUTHS[answers.answer(product, text, _properties(typed))]


def value(product: str, subject: Node, typed: Typed, dialect: Dialect) -> tuple[str, Any]:
    """Return the value of a property, of a computed test or of arithmetic; "error" where the product fails."""
    if isinstance(subject, Identifier):
        return typed.get(subject.name, ("null", None))
    if isinstance(subject, Computed):
        text, is_below = unparse(subject.expression, dialect), subject.dialect.rules.connectives == "kleene"
        return _VALUES[answers.answer(product, text, _properties(typed), is_below=is_below)]
    tree = read(product, f"{unparse(subject, dialect)} = 0")
    assert tree is not None
    try:
        found = answers._Message(PRODUCTS[product], _properties(typed)).value(tree[2])
    except answers.Failed:
        return "error", None
    return ("null", None) if found is None else (_NAMES.get(found[0], found[0]), found[1])
