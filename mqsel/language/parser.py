# cython: language_level=3, annotation_typing=False, auto_pickle=False, autotestdict=False
"""Tokens to tree, by operator precedence with an explicit stack: a deep selector never exhausts the call stack.

Owns the grammar, which is that of language §4, and the errors where a text breaks it; knows no types. How strongly an
operator binds stands in `mqsel.language.operators`, and what a product reads besides JMS in a record of its dialect.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, NoReturn

try:
    import cython  # type: ignore[import-untyped]
except ModuleNotFoundError:
    from mqsel.language.nodes import interpreted as cython

from mqsel import errors
from mqsel.carets import quoted
from mqsel.language.advice import (
    HYPHEN,
    NOT_NEXT,
    OPERAND_ENDS,
    TWO_MINUS_SIGNS,
    Place,
    dashes,
    is_hyphenated,
    not_modelled,
    unexpected,
    unexpected_token,
    wrong_type,
)
from mqsel.language.dialect import Core, Dialect, core_of, kept
from mqsel.language.lexer import Tokens, out_of_range, scan
from mqsel.language.nodes import (
    And,
    Arithmetic,
    Between,
    Call,
    Comparison,
    Identifier,
    In,
    IsNull,
    Like,
    Literal,
    Node,
    Not,
    Or,
    Sign,
    walk,
)
from mqsel.language.operators import (
    BINARY,
    FUNCTIONS_OF,
    NOT_MODELLED,
    OPERATORS,
    PREDICATE,
    PREDICATES,
    PRIMARY,
    READ_OF,
    RELATIONS,
    SIGN,
    SUM,
    TABLE,
    TEXT_TESTS,
)
from mqsel.language.product import Rules
from mqsel.language.settle import settled
from mqsel.language.static import check_depth, check_parsed

MAX_NESTING = 500  # open parentheses, NOTs and signs at one place

_LITERALS = {"string": "string", "exact": "exact", "approximate": "approximate", "bytes": "bytes", "big": "big"}
_TRUTHS = {"TRUE": True, "FALSE": False}

# What ends a comparison, so that nothing can follow its right side.
_FINISHED = frozenset(["AND", "OR", ")", "end"])

if not cython.compiled:
    from mqsel.language.nodes import row

_KLEENE = "kleene"
_REST = "rest"  # where a comparison ends that does not go on with what follows
_ROOT, _PAREN, _NOT, _SIGN, _BETWEEN, _IN, _LIKE = "root", "(", "NOT", "sign", "BETWEEN", "IN", "LIKE"


# Fields in a list: in what Cython compiles the types of a class are texts, each of which typing would compile.
class _Grammar(
    NamedTuple(
        "_Grammar",
        [
            ("rules", Rules),
            ("core", Core),
            ("binary", dict[str, int]),
            ("tests", dict[str, int]),
            ("chains", int),
            ("right", bool),
            ("order", int),
            ("not_binding", int),
            ("not_anywhere", bool),
        ],
    )
):
    """What the parser reads the texts of a dialect by.

    Attributes:
        binary: how strongly the operators between two operands bind.
        tests: how strongly the other tests bind.
        chains: 1 where comparisons chain: one of the same strength closes those before it. Else 0.
        right: whether arithmetic associates to the right.
        order: the strength of the comparisons that bind most.
        not_binding: how strongly NOT binds.
        not_anywhere: whether NOT stands where a value does.
    """

    __slots__ = ()


@kept
def _grammar_of(dialect: Dialect) -> _Grammar:
    rules = dialect.rules
    chains = rules.comparisons == "chained"
    words = READ_OF[rules.words]
    binding = {row.spelling: row.chained if chains and row.chained else row.binding for row in TABLE}
    is_read = {one: not one.isalpha() or one in words for one in binding}
    if rules.arithmetic == "none":
        is_read |= {one: False for one in BINARY if BINARY[one] >= SUM}
    order = binding["<"]
    return _Grammar(
        rules,
        core_of(dialect),
        {one: binding[one] for one in BINARY if is_read[one]},
        {one: binding.get(one, order) for one in ("NOT", *PREDICATES, *TEXT_TESTS) if one in words or one == "IS"}
        | {"NOT": order}
        | (dict.fromkeys(("IN", "LIKE", "IS"), PRIMARY) if rules.comparisons == "values" else {}),
        int(chains),
        rules.arithmetic == "right",
        order,
        SIGN if rules.not_operand == "primary" else OPERATORS["NOT"].binding,
        rules.not_operand in ("primary", "anywhere"),
    )


class _Open:
    """A construct that lacks its last operand.

    ``kind`` is _ROOT, _PAREN, _NOT, _SIGN, _BETWEEN, _IN, _LIKE or the first binary operator; ``operators`` and
    ``operands`` collect a chain; ``start`` is where the construct began; ``pending`` says whether it needs more than
    an operand: the AND of a BETWEEN, the parenthesis of an IN.
    """

    __slots__ = ("kind", "negated", "operands", "operators", "pending", "start", "strength")

    def __init__(self, kind: str, strength: int, start: int, operand: Node | None = None, operator: str = "") -> None:
        self.kind = kind
        self.strength = strength
        self.start = start
        self.operands = [] if operand is None else [operand]
        self.operators = [operator] if operator else []
        self.negated = False
        self.pending = False


def parse(text: str, dialect: Dialect) -> Node:
    """Parse *text*; an empty or blank text is the literal TRUE: it selects everything.

    Raises: SelectorSyntaxError, SelectorLimitError.
    """
    return parse_in_order(text, dialect)[-1]


def parse_in_order(text: str, dialect: Dialect) -> list[Node]:
    """Return all nodes of the tree of *text* as `walk` lists them: the last one is the tree.

    A tree is read from its leaves up and from the left, so that is the order in which nodes are made.

    Raises: as `parse`.
    """
    try:
        parser = _Parser(text, scan(text, dialect), dialect)
        order = parser.selector()
        if parser.rules.static_types != "jms":
            check_parsed(order, text, dialect)
        if parser.rules.max_depth != "any":
            check_depth(order, text, dialect)
        return order if parser.core.is_plain else walk(settled(order[-1], dialect))
    except errors.SelectorSyntaxError as error:
        # An error behind two minus signs, on their line or right at the start of the next: they may open a comment.
        start = error.span[0]
        line = text.rfind("\n", 0, len(text[:start].rstrip())) + 1
        # Not any() of a generator: with it this function, compiled, crashed where there was no memory.
        for place in dashes(text) if dialect.rules.comments != "dashes" else ():
            if line <= place <= start:
                error.hint = TWO_MINUS_SIGNS
        raise


class _Parser:
    def __init__(self, text: str, columns: Tokens, dialect: Dialect) -> None:
        self.text = text
        self.dialect = dialect
        self.grammar = _grammar_of(dialect)
        self.rules = self.grammar.rules
        self.core = self.grammar.core
        self.other = self.core.others["="]
        self.columns = columns
        self.kinds, self.values, self.starts, self.stops = columns
        self.at = 0
        self.depth = 0
        self.start = 0  # of the operand that has just been completed, its parentheses included
        self.stack = [_Open(_ROOT, 0, 0)]
        self.order: list[Node] = []  # the nodes that have been made
        if self.rules.words == "not_null":
            self.find_is()

    def find_is(self) -> None:
        """Turn each name IS that NULL or NOT NULL follows into a keyword."""
        names = [kind == "identifier" and value.upper() for kind, value in zip(self.kinds, self.values, strict=True)]
        for at, name in enumerate(names):
            if name == "IS" and names[at + 1 + (self.kinds[at + 1] == "NOT")] == "NULL":
                self.kinds[at] = "IS"

    def selector(self) -> list[Node]:
        if self.kinds[0] == "end" and self.rules.empty_text == "true":
            return [Literal("boolean", True, (0, len(self.text)))]
        _, _, binary, tests, chains, *_ = self.grammar
        is_open = True
        while is_open:
            # ``strength`` is that of ``left`` as it stands; a finished predicate may not be compared on.
            left, strength = self.operand()
            is_open = self.operators(left, strength, binary, tests, chains)
        return self.order

    # ---- where a value is expected

    def operand(self) -> tuple[Node, int]:
        """Open prefixes until a primary stands, and return it and its start."""
        kinds = self.kinds
        while True:
            at = self.at
            kind = kinds[at]
            start = self.start = self.starts[at]
            if kind == "identifier":
                self.at = at + 1
                name: Identifier = row(Identifier, (self.values[at], (start, self.stops[at]), self.other))
                self.order.append(name)
                # "name relation literal" at once: most selectors consist of these, and parsing takes a third less.
                if (
                    kinds[at + 1] in RELATIONS
                    and kinds[at + 2] in _LITERALS
                    and kinds[at + 3] in _FINISHED
                    and self.stack[-1].strength < PREDICATE
                ):
                    self.at = at + 2
                    literal = self.literal(at + 2)
                    self.start = start
                    span = (start, self.stops[at + 2])
                    made: Comparison = row(Comparison, (kinds[at + 1], name, literal, span, self.other, False))
                    self.order.append(made)
                    return made, PREDICATE
                return name, PRIMARY
            if kind in _LITERALS:
                return self.literal(at), PRIMARY
            if kind in _TRUTHS:
                self.at = at + 1
                truth = row(Literal, ("boolean", _TRUTHS[kind], (start, self.stops[at])))
                self.order.append(truth)
                return truth, PRIMARY
            top = self.stack[-1]
            if kind == "(":
                self.open(_Open(_PAREN, 0, start))
            elif kind == "NOT" and self.may_negate(top):
                self.open(_Open(_NOT, self.grammar.not_binding, start))
            elif kind == "+" and self.rules.plus_sign != "number":
                if self.rules.plus_sign == "primary" and kinds[at + 1] in ("(", "+", "-"):
                    self.at += 1
                    self.fail("a name or a literal")
            elif kind in ("+", "-") and (top.kind != _SIGN or self.rules.signs == "repeated"):
                self.open(_Open(_SIGN, SIGN, start, operator=kind))
            elif kind == "NULL" and self.rules.null_value == "yes":
                self.at = at + 1
                self.order.append(Literal("null", None, (start, self.stops[at])))  # type: ignore[arg-type]
                return self.order[-1], PRIMARY
            elif kind in FUNCTIONS_OF.get(self.rules.words, ()) and self.kinds[at + 1] == "(":
                return self.function(kind, start), PRIMARY
            else:
                self.fail("a value" if top.strength >= PREDICATE else "a condition")
            self.at += 1

    def may_negate(self, top: _Open) -> bool:
        """Report whether a NOT may stand within an open construct."""
        if top.kind == _NOT and self.rules.not_operand == "once":
            return False
        return top.strength < PREDICATE or self.grammar.not_anywhere

    def function(self, kind: str, start: int) -> Call:
        """Read a function, of nothing or of a name."""
        self.at += 1
        self.take("(", "'('")
        below: tuple[Node, ...] = ()
        if kind == "EXISTS":
            at = self.at
            name = self.take("identifier", "a property name")
            below = (Identifier(name, (self.starts[at], self.stops[at]), self.other),)
        self.take(")", "')'")
        made = Call(kind, False, below, (start, self.stops[self.at - 1]))
        self.order += (*below, made)
        return made

    def property_of_text(self, left: Node) -> Identifier | None:
        """Read the rest of ``property('name')`` of Azure; None where that is something else."""
        at = self.at
        if self.rules.words != "exists" or not isinstance(left, Identifier) or self.order[-1] is not left:
            return None
        if left.name.upper() not in ("PROPERTY", "P") or self.kinds[at : at + 3] != ["(", "string", ")"]:
            return None
        if self.kinds[at - 1] == ")":  # a name in parentheses is a property
            return None
        self.at = at + 3
        made = Identifier(str(self.values[at + 1]), (left.span[0], self.stops[at + 2]), self.other)
        self.order[-1] = made
        return made

    def open(self, construct: _Open) -> None:
        self.deepen()
        self.stack.append(construct)

    def deepen(self) -> None:
        """Count a construct within another; comparisons in a chain and what associates to the right nest, too."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise errors.SelectorLimitError(
                f"nested more than {MAX_NESTING} deep: mqsel rejects the selector",
                selector=self.text,
                span=(self.starts[self.at], self.stops[self.at]),
                hint="join terms of one kind without parentheses: a AND b AND c",
            )

    def literal(self, at: int) -> Literal:
        """Return the literal at *at*, and a sign directly before a number with it."""
        kind, value, start, stop = self.kinds[at], self.values[at], self.starts[at], self.stops[at]
        self.at = at + 1
        was_negative = kind == "exact" and value < 0
        top = self.stack[-1]
        if top.kind == _SIGN and kind in ("exact", "approximate", "big"):
            sign = self.close()
            start = self.start = sign.start
            if sign.operators[0] == "-":
                value = -value
                if kind == "big" and value == -1 << 63:
                    kind = "exact"
        if value == 1 << 63 and kind == "exact" and self.rules.numbers != "unbounded":
            if was_negative:  # of 64 bits, which have no such number
                value = -value
            else:
                kind = "approximate"
                value = out_of_range(self.text, (self.starts[at], stop), 1 << 63, self.dialect)
        made: Literal = row(Literal, (_LITERALS[kind], value, (start, stop)))
        self.order.append(made)
        return made

    # ---- where an operator, a closing parenthesis or the end is expected

    def operators(self, left: Node, strength: int, binary: dict[str, int], tests: dict[str, int], chains: int) -> bool:
        """Read what follows a complete operand. Returns whether another one is due: if not, the text is complete."""
        kinds = self.kinds
        while True:
            kind = kinds[self.at]
            if chains and strength == PREDICATE and self.grammar.order in (binary.get(kind), tests.get(kind)):
                kind = _REST
            binding = binary.get(kind, 0)
            if binding:
                top = self.stack[-1]
                limit = binding - chains if chains and PREDICATE <= binding < SUM else binding
                if top.strength > limit:
                    left, strength = self.reduce(left, strength, limit)
                    top = self.stack[-1]
                self.join(kind, binding, left, strength, chains)
                self.at += 1
                return True
            if kind in tests:
                binding = tests.get(self.kinds[self.at + (kind == "NOT")], self.grammar.order)
                left, strength = self.reduce(left, strength, binding - chains)
                top = self.stack[-1]
                if binding < PRIMARY and not chains and (strength <= PREDICATE or top.strength == PREDICATE):
                    self.chained()
                if top.pending and binding < PRIMARY:
                    self.fail(self.expected_after())
                if strength < SUM:
                    self.deepen()
                finished = self.predicate(left, strength)
                if finished is None:
                    return True
                self.order.append(finished)
                left, strength = finished, binding
            elif kind == ")":
                left, strength = self.reduce(left, strength, 0)
                if len(self.stack) == 1 and self.rules.rest == "ignored":
                    return False
                if self.stack[-1].kind == _IN:
                    left, strength = self.listed(left), self.grammar.order
                    continue
                if self.stack[-1].kind != _PAREN:
                    self.fail("the end of the selector" if len(self.stack) == 1 else self.expected_after())
                self.start = self.close().start
                self.at += 1
                strength = PRIMARY
                # A parenthesised identifier is a value still, but no longer the identifier that IN, LIKE and IS need.
                if isinstance(left, Identifier):
                    strength = SIGN
            elif kind == "end" or (self.rules.rest == "ignored" and kind not in ("damage", "NOT")):
                left, strength = self.reduce(left, strength, 0)
                if len(self.stack) > 1:
                    self.fail("')'" if self.stack[-1].kind == _PAREN else self.expected_after())
                return False
            elif kind == "," or (kind == "ESCAPE" and self.rules.like_operands == "pattern"):
                self.add_operand(kind, left, strength)
                return True
            else:
                named = self.property_of_text(left) if kind == "(" else None
                if named is None:
                    self.fail(self.expected_after())
                left = named

    def join(self, kind: str, binding: int, left: Node, strength: int, chains: int) -> None:
        """Give an operand to the open construct, or open the one of a binary operator, which comes next."""
        top = self.stack[-1]
        if top.pending and binding < SUM:
            if kind == "AND" and top.kind == _BETWEEN:
                top.pending = False
                top.operands.append(left)
            elif binding >= PREDICATE and not chains:
                self.chained()
            else:
                self.fail(self.expected_after())
        elif top.strength == binding and (binding < PREDICATE or (binding >= SUM and not self.grammar.right)):
            top.operators.append(kind)
            top.operands.append(left)
        elif binding >= PREDICATE and (
            (strength < SUM and (binding >= SUM or not chains)) or (top.strength == binding < SUM and not chains)
        ):
            self.chained()
        else:
            if top.strength == binding or (chains and binding >= PREDICATE and strength < SUM):
                self.deepen()
            self.stack.append(_Open(kind, binding, self.start, left, kind))

    def add_operand(self, kind: str, left: Node, strength: int) -> None:
        """Give an operand to an open IN, which a comma follows, or to an open LIKE, which ESCAPE follows."""
        left, _ = self.reduce(left, strength, 0 if kind == "," else PREDICATE)
        top = self.stack[-1]
        if top.kind != (_IN if kind == "," else _LIKE) or (kind == "ESCAPE" and len(top.operands) > 1):
            self.fail(self.expected_after())
        top.operands.append(left)
        self.at += 1

    def close(self) -> _Open:
        self.depth -= 1
        return self.stack.pop()

    def reduce(self, left: Node, strength: int, binding: int) -> tuple[Node, int]:
        """Finish every open construct that binds tighter than an operator of strength *binding*.

        A chain of the same strength stays open, to take one more operand, and so does a BETWEEN that lacks its AND.
        """
        while True:
            top = self.stack[-1]
            if top.strength <= binding or top.pending:
                return left, strength
            self.stack.pop()
            self.start, strength = top.start, top.strength
            span = (top.start, self.stops[self.at - 1])
            top.operands.append(left)
            operands = tuple(top.operands)
            kind = top.kind
            match kind:
                case "AND":  # the commonest first
                    left = row(And, (operands, span, _KLEENE))
                case "OR":
                    left = row(Or, (operands, span, _KLEENE))
                case "NOT":
                    self.depth -= 1
                    left = row(Not, (left, span))
                case "sign":
                    self.depth -= 1
                    left = Sign(top.operators[0], left, span, self.core.null)
                case "BETWEEN":
                    null = self.core.between[top.negated]
                    left = row(Between, (top.negated, operands[0], operands[1], left, span, self.other, null))
                case "LIKE":
                    left = Call("LIKE", top.negated, operands, span)
                case relation if relation in RELATIONS:
                    left = row(Comparison, (relation, operands[0], left, span, self.other, False))
                case _:
                    left = Arithmetic(tuple(top.operators), operands, span, self.core.null)
            self.order.append(left)

    # ---- BETWEEN, IN, LIKE, IS

    def predicate(self, left: Node, strength: int) -> Node | None:
        start = self.start
        negated = self.kinds[self.at] == "NOT"
        if negated:
            self.at += 1
        kind = self.kinds[self.at]
        if kind == "BETWEEN" and kind in self.grammar.tests:
            self.open_test(_BETWEEN, left, start, negated=negated)
            return None
        if kind not in self.grammar.tests or kind == "NOT" or (negated and kind == "IS"):
            self.fail(self.negatable())
        is_name = isinstance(left, Identifier)
        allowed = "any"
        if not is_name or strength != PRIMARY:
            allowed = self.rules.in_operands if kind == "IN" else self.rules.like_operands
            allowed = self.rules.null_operand if kind == "IS" else allowed
        if allowed == "name" or (allowed == "enclosed" and not is_name):
            span = (start, self.stops[self.at - 1 - negated])
            piece = self.text[span[0] : span[1]]
            hint = f"{kind} reads a property: put its name, without parentheses, to the left"
            hint = HYPHEN if is_hyphenated(piece) else NOT_NEXT if isinstance(left, Not) else hint
            raise unexpected_token(self.text, span, f"{quoted(piece)} before {kind}", "a property name", hint)
        self.at += 1
        if kind == "IS":
            negated = self.kinds[self.at] == "NOT"
            self.at += negated
            expected = "NULL" if negated else "NULL or NOT NULL"
            is_word = self.rules.words == "not_null" and str(self.values[self.at]).upper() == "NULL"
            self.take("identifier" if is_word else "NULL", expected)
            span = (start, self.stops[self.at - 1])
            return (
                row(IsNull, (negated, left, span))
                if isinstance(left, Identifier)
                else Call("IS NULL", negated, (left,), span)
            )
        if kind == "IN":
            if self.rules.in_operands == "any":
                self.take("(", "'('")
                self.at -= 1
                self.open_test(_IN, left, start, negated=negated)
                return None
            assert isinstance(left, Identifier)
            return self.in_list(negated, left, start)
        if kind == "LIKE" and self.rules.like_operands == "pattern":
            self.at -= 1
            self.open_test(_LIKE, left, start, negated=negated)
            return None
        at = self.at
        pattern = self.take("string", "a pattern in apostrophes")
        escape: str | None = None
        if self.kinds[self.at] == "ESCAPE" and kind == "LIKE":
            self.at += 1
            escape = self.take("string", "one character in apostrophes")
        span = (start, self.stops[self.at - 1])
        if kind == "LIKE":
            self.check_pattern(pattern, escape, at)
            if isinstance(left, Identifier):
                return row(Like, (negated, left, pattern, escape, span, self.other, "pattern", ""))
        texts = [Literal("string", pattern, (self.starts[at], self.stops[at]))]
        if escape is not None:
            texts.append(Literal("string", escape, (self.starts[self.at - 1], self.stops[self.at - 1])))
        self.order += texts
        return Call(kind, negated, (left, *texts), span)

    def open_test(self, kind: str, left: Node, start: int, *, negated: bool) -> None:
        """Open a test whose other operands are values, and pass its word."""
        test = _Open(kind, PREDICATE if kind == _LIKE else self.grammar.order, start, left)
        test.negated = negated
        test.pending = kind != _LIKE
        self.stack.append(test)
        self.at += 1

    def check_pattern(self, pattern: str, escape: str | None, at: int) -> None:
        """Look at the pattern at a place, and at the escape behind it.

        Raises: SelectorSyntaxError: the dialect has no such escape, or no such pattern.
        """
        rules = self.rules.escape
        if rules == "paired":
            one = re.escape(escape or "")
            is_paired = len(one) == 0 or re.fullmatch(f"(?s)(?:[^{one}]|{one}.)*", pattern) is not None
            if re.search(r"[\x00-\x1f\x7f]", re.sub(f"(?s){one}(.)", r"\1", pattern)) or not is_paired:
                what = "ends with its escape character" if not is_paired else "holds a control character"
                raise errors.SelectorSyntaxError(
                    f"the pattern {what}", selector=self.text, span=(self.starts[at], self.stops[at])
                )
        problem = None if escape is None else _ESCAPES[rules](escape)
        if problem is not None:
            raise errors.SelectorSyntaxError(
                problem,
                selector=self.text,
                span=(self.starts[self.at - 1], self.stops[self.at - 1]),
                hint="name one character that takes the special meaning from _ and %, as in ESCAPE '\\'",
            )
        # These engines write \x and one digit into a regular expression, which most of the time is none.
        escapes = self.rules.like_escapes
        if escape and escapes in ("wild", "dropped_runs"):
            for one in re.findall(f"(?s){re.escape(escape)}(.)", pattern):
                if one < "\x10" and (one == escape or escapes == "dropped_runs"):
                    span = self.starts[at], self.stops[at]
                    raise not_modelled(self.text, span, f"U+{ord(one):04X} behind an escape")

    def listed(self, last: Node) -> Node:
        """Return the IN whose list closes here."""
        test = self.stack.pop()
        self.start = test.start
        self.at += 1
        left, choices = test.operands[0], (*test.operands[1:], last)
        span = (test.start, self.stops[self.at - 1])
        texts = [str(one.value) for one in choices if isinstance(one, Literal) and one.kind == "string"]
        made: Node = Call("IN", test.negated, (left, *choices), span)
        if isinstance(left, Identifier) and len(texts) == len(choices):
            del self.order[len(self.order) - len(choices) :]
            made = In(test.negated, left, tuple(texts), span, self.other)
        self.order.append(made)
        return made

    def in_list(self, negated: bool, identifier: Identifier, start: int) -> Node:
        self.take("(", "'('")
        choices: list[str] = []
        while True:
            at = self.at
            if self.kinds[at] in ("+", "-") and self.kinds[at + 1] in ("exact", "approximate"):
                at += 1
            kind = self.kinds[at]
            if (kind in _LITERALS and kind != "string") or kind in _TRUTHS:
                span = (self.starts[at], self.stops[at])
                found = quoted(self.text[span[0] : span[1]])
                hint = "for numbers join comparisons with OR, or use BETWEEN"
                raise wrong_type(self.text, span, "an IN list holds string literals only", found, hint)
            choices.append(self.take("string", "a string in apostrophes"))
            if self.kinds[self.at] != ",":
                break
            self.at += 1
        self.take(")", "',' or ')'")
        span = (start, self.stops[self.at - 1])
        return row(In, (negated, identifier, tuple(choices), span, self.other))

    def take(self, kind: str, expected: str) -> str:
        """Read a token of this kind. Returns its value, or its text."""
        at = self.at
        if self.kinds[at] != kind:
            self.fail(expected)
        self.at = at + 1
        return self.values[at]  # type: ignore[no-any-return]

    # ---- errors

    def expected_after(self) -> str:
        for construct in reversed(self.stack):
            if construct.kind == _BETWEEN and construct.pending:
                return "AND"
            if construct.kind == _IN:
                return "',' or ')'"
            if construct.kind == _PAREN:
                return "an operator or ')'"
        return "an operator or the end of the selector"

    def chained(self) -> NoReturn:
        hint = "comparisons do not chain: join two of them with AND, as in a > 1 AND a < 9"
        raise self.unexpected("AND, OR or the end of the selector", hint)

    def fail(self, expected: str) -> NoReturn:
        value = self.values[self.at]
        if isinstance(value, errors.SelectorError):
            raise value
        self.refuse_not_modelled()
        raise self.unexpected(expected)

    def refuse_not_modelled(self) -> None:
        """Raise what is not supported, if a construct stands here, where a value may, that the product has."""
        at = self.at - (self.kinds[self.at] == "(" and self.at > 0)
        if self.kinds[at] == "end" or (at and self.kinds[at - 1] in OPERAND_ENDS):
            return
        span = (self.starts[at], self.stops[at])
        word = self.text[slice(*span)]
        if self.kinds[at] != "identifier" or self.rules.words == "exists":
            word = word.upper()
        if NOT_MODELLED[self.rules.not_modelled].get(word) == self.kinds[at + 1]:
            raise not_modelled(self.text, span, word)

    def unexpected(self, expected: str, hint: str | None = None) -> errors.SelectorSyntaxError:
        top = self.stack[-1]
        lacks_and = top.kind == _BETWEEN and top.pending
        parentheses = sum([construct.kind == _PAREN for construct in self.stack])
        kinds, values, starts, stops = self.columns
        spans = [*zip(starts, stops, strict=True)]
        place = Place(
            *(self.text, self.dialect, kinds, values, spans, self.at),
            *(top.strength, lacks_and, parentheses, self.negatable()),
        )
        return unexpected(place, expected, hint)

    def negatable(self) -> str:
        """List the words before which NOT stands."""
        words = [one for one in ("BETWEEN", "IN", "LIKE", *TEXT_TESTS) if one in self.grammar.tests]
        return f"{', '.join(words[:-1])} or {words[-1]}"


def _wants_one(size: int) -> str | None:
    return None if size == 1 else f"ESCAPE has {size} characters: expected exactly one"


# What is wrong with an escape, by the choice of the field `escape`.
_ESCAPES: dict[str, Callable[[str], str | None]] = {
    "character": lambda escape: _wants_one(len(escape)),
    "paired": lambda escape: _wants_one(len(escape)),
    "utf16": lambda escape: _wants_one(len(escape.encode("utf-16-be", "surrogatepass")) // 2),
    "byte": lambda escape: (
        "ESCAPE takes one byte of UTF-8 at most, and neither % nor _"
        if len(escape.encode("utf-8", "surrogatepass")) > 1 or escape in ("%", "_")
        else None
    ),
    "any": lambda _: None,
}
