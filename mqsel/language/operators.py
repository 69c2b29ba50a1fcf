"""The operators of the language, one row each. The rest is computed from them.

A row does not say what an operator does: `mqsel.values` does it for constants, the machine for messages.
Follows language §3 and §4.
"""

from collections.abc import Mapping
from typing import NamedTuple

from mqsel.language.products import PRODUCTS
from mqsel.names import RESERVED

_ARITHMETIC = "arithmetic is for numbers only"
_ORDER = "strings and booleans compare with = and <> only"
_RANGE = "BETWEEN is an arithmetic comparison; for strings use IN or LIKE"


class Operator(NamedTuple):
    """How an operator is written, how strongly it binds, and what fits it.

    Attributes:
        spelling: as written, keywords in capitals.
        binding: the larger, the stronger (language §4).
        operands: the kind that it takes, "number", "string" or "boolean"; empty for any.
        result: the kind that it gives.
        mirrored: of a comparison, the one that says the same with its sides exchanged.
        negated: of a comparison, the one that is TRUE of two numbers where it is FALSE.
        hint: what to say of an operand of another kind.
        fails: whether integers can be ERR, by zero.
        choice: the field of a dialect and its choice that have it, where not all dialects do.
        chained: of a comparison, how strongly it binds where comparisons chain.
    """

    spelling: str
    binding: int
    operands: str
    result: str
    mirrored: str = ""
    negated: str = ""
    hint: str = ""
    fails: bool = False
    choice: tuple[str, str] | None = None
    chained: int = 0


TABLE = (
    Operator("OR", 1, "boolean", "boolean", hint="compare it with something: OR takes conditions"),
    Operator("AND", 2, "boolean", "boolean", hint="compare it with something: AND takes conditions"),
    Operator("NOT", 3, "boolean", "boolean", hint="compare it with something: NOT takes conditions"),
    Operator("=", 4, "", "boolean", "=", "<>", chained=4),
    Operator("<>", 4, "", "boolean", "<>", "=", chained=4),
    Operator("<", 4, "number", "boolean", ">", ">=", _ORDER, chained=5),
    Operator("<=", 4, "number", "boolean", ">=", ">", _ORDER, chained=5),
    Operator(">", 4, "number", "boolean", "<", "<=", _ORDER, chained=5),
    Operator(">=", 4, "number", "boolean", "<=", "<", _ORDER, chained=5),
    Operator("BETWEEN", 4, "number", "boolean", hint=_RANGE, chained=5),
    Operator("IN", 4, "string", "boolean", chained=5),
    Operator("LIKE", 4, "string", "boolean", chained=5),
    Operator("IS", 4, "", "boolean", chained=4),
    Operator("+", 6, "number", "number", hint=_ARITHMETIC),
    Operator("-", 6, "number", "number", hint=_ARITHMETIC),
    Operator("*", 7, "number", "number", hint=_ARITHMETIC),
    Operator("/", 7, "number", "number", hint=_ARITHMETIC, fails=True),
    Operator("%", 7, "number", "number", hint=_ARITHMETIC, fails=True, choice=("remainder", "yes")),
)
OPERATORS = {row.spelling: row for row in TABLE}

# How strongly levels of the grammar bind.
PREDICATE = OPERATORS["="].binding
SUM = OPERATORS["+"].binding
SIGN = OPERATORS["*"].binding + 1
PRIMARY = SIGN + 1

WORDS = tuple([row.spelling for row in TABLE if row.spelling.isalpha()])
SYMBOLS = tuple([row.spelling for row in TABLE if not row.spelling.isalpha() and row.choice is None])
# Symbols of some dialects alone: by the field and its choice that have them, each with the operator that it is.
ADDED = {
    ("unequal_sign", "exclamation"): {"!=": "<>"},
    **{row.choice: {row.spelling: row.spelling} for row in TABLE if row.choice is not None},
}
RELATIONS = frozenset(row.spelling for row in TABLE if row.mirrored)
PREDICATES = frozenset(row.spelling for row in TABLE if row.binding == PREDICATE) - RELATIONS
FAILING = frozenset(row.spelling for row in TABLE if row.fails)
# Those that stand between two operands.
BINARY = {row.spelling: row.binding for row in TABLE if row.spelling not in PREDICATES | {"NOT"}}

KEYWORDS = frozenset((*RESERVED, *WORDS))

# Tests of texts, which are written as LIKE is: RocketMQ has them.
TEXT_TESTS = ("CONTAINS", "STARTSWITH", "ENDSWITH")
# The words of each choice of the rule `words` that stand for something.
READ_OF: dict[str, frozenset[str]] = {"jms": KEYWORDS}
# Those that are reserved.
RESERVED_OF: dict[str, frozenset[str]] = {"jms": KEYWORDS}
for _product in PRODUCTS.values():
    _words, _name = _product.words.split(), _product.rules.words
    if _words:
        READ_OF[_name] = KEYWORDS - {word[1:] for word in _words} | {word for word in _words if word[0] != "-"}
        RESERVED_OF[_name] = READ_OF[_name] | {*_product.reserved.split()}
# The functions among them: UTC() and EXISTS(name).
FUNCTIONS_OF = {row.rules.words: row.functions for row in PRODUCTS.values() if row.functions}
FUNCTIONS = frozenset(name for names in FUNCTIONS_OF.values() for name in names)
# What names begin with, and what they go on with.
# Those of Java are not written so: the lexer looks at each character's category.
NAMES = {
    "ascii": ("[A-Za-z_$]", "[A-Za-z0-9_$]"),
    "plain": ("[A-Za-z]", "[A-Za-z0-9_]"),
    "unicode": (r"[^\W\d_]", r"\w"),
}
# What a product has and mqsel refuses, by the choice of the rule `not_modelled`.
NOT_MODELLED: dict[str, Mapping[str, str]] = {
    "none": {},
    **{row.rules.not_modelled: row.unmodelled for row in PRODUCTS.values() if row.unmodelled},
}

# BETWEEN, and NOT BETWEEN, as two comparisons: with the lower and with the upper bound.
BOUNDS = {False: (">=", "<="), True: (OPERATORS[">="].negated, OPERATORS["<="].negated)}
