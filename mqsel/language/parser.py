# cython: language_level=3, annotation_typing=False, auto_pickle=False, autotestdict=False
"""Tokens to tree, by operator precedence with an explicit stack: a deep selector never exhausts the call stack.

Owns the grammar, which is that of language §4, and the errors where a text breaks it; knows no types. How strongly an
operator binds stands in `mqsel.language.operators`; a predicate does not chain.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

from mqsel import errors
from mqsel.language.dialect import Dialect, core_of
from mqsel.language.hints import adjacent, foreign
from mqsel.language.lexer import Token, Tokens, dashes, is_hyphenated, out_of_range, scan
from mqsel.language.nodes import (
    And,
    Arithmetic,
    Between,
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
    with_conversions,
)
from mqsel.language.operators import (
    BINARY,
    FOREIGN,
    HYPHEN,
    KEYWORDS,
    NO_COMMENTS,
    OPERATORS,
    PREDICATE,
    PREDICATES,
    PRIMARY,
    RELATIONS,
    SIGN,
    TWO_MINUS_SIGNS,
)
from mqsel.language.settle import settled
from mqsel.language.wordings import unexpected_token, wrong_type

MAX_NESTING = 500  # open parentheses, NOTs and signs at one place

_LITERALS = {"string": "string", "exact": "exact", "approximate": "approximate", "bytes": "bytes"}
_TRUTHS = {"TRUE": True, "FALSE": False}

# What ends a comparison, so that nothing can follow its right side.
_FINISHED = frozenset(["AND", "OR", ")", "end"])

# A node from its fields, in half the time its class takes.
_node: Callable[[type, tuple[Any, ...]], Any] = tuple.__new__

_KLEENE = "kleene"
_ROOT, _PAREN, _NOT, _SIGN, _BETWEEN = "root", "(", "NOT", "sign", "BETWEEN"


class _Open:
    """A construct that lacks its last operand.

    ``kind`` is _ROOT, _PAREN, _NOT, _SIGN, _BETWEEN or the first binary operator; ``operators`` and ``operands``
    collect a chain; ``start`` is where the construct began.
    """

    __slots__ = ("kind", "negated", "operands", "operators", "start", "strength")

    def __init__(self, kind: str, strength: int, start: int, operand: Node | None = None, operator: str = "") -> None:
        self.kind = kind
        self.strength = strength
        self.start = start
        self.operands = [] if operand is None else [operand]
        self.operators = [operator] if operator else []
        self.negated = False


def parse(text: str, dialect: Dialect) -> Node:
    """Parse *text*; an empty or blank text is the literal TRUE: it selects everything.

    Raises: SelectorSyntaxError, SelectorLimitError.
    """
    return parse_in_order(text, dialect)[-1]


def parse_in_order(text: str, dialect: Dialect) -> list[Node]:
    """Parse *text*, and give all nodes of the tree as `walk` lists them: the last one is the tree.

    A tree is read from its leaves up and from the left, so that is the order in which nodes are made.

    Raises: as `parse`.
    """
    try:
        order = _Parser(text, scan(text, dialect), dialect).selector()
        if dialect.text_numbers == "compared":
            order = walk(with_conversions(order))
        return order if core_of(dialect).is_plain else walk(settled(order[-1], dialect))
    except errors.SelectorSyntaxError as error:
        # An error behind two minus signs, on their line or right at the start of the next: they may open a comment.
        start = error.span[0]
        line = text.rfind("\n", 0, len(text[:start].rstrip())) + 1
        # Not any() of a generator: with it this function, compiled, crashed where there was no memory.
        for place in dashes(text):
            if line <= place <= start:
                error.hint = TWO_MINUS_SIGNS
        raise


class _Parser:
    def __init__(self, text: str, columns: Tokens, dialect: Dialect) -> None:
        self.text = text
        self.dialect = dialect
        self.core = core_of(dialect)
        self.other = self.core.others["="]
        self.columns = columns
        self.kinds, self.values, self.starts, self.stops = columns
        self.at = 0
        self.depth = 0
        self.start = 0  # of the operand that has just been completed, its parentheses included
        self.stack = [_Open(_ROOT, 0, 0)]
        self.not_binding = SIGN if dialect.not_operand == "primary" else OPERATORS["NOT"].binding
        self.order: list[Node] = []  # the nodes that have been made

    @functools.cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens as rows, for errors."""
        return tuple(map(Token, *self.columns))

    def selector(self) -> list[Node]:
        if self.kinds[0] == "end":
            return [Literal("boolean", True, (0, len(self.text)))]
        is_open = True
        while is_open:
            # ``strength`` is that of ``left`` as it stands; a finished predicate may not be compared on.
            left, strength = self.operand()
            is_open = self.operators(left, strength)
        return self.order

    # ---- where a value is expected

    def operand(self) -> tuple[Node, int]:
        """Open prefixes until a primary stands, and give it."""
        kinds = self.kinds
        while True:
            at = self.at
            kind = kinds[at]
            start = self.start = self.starts[at]
            if kind == "identifier":
                self.at = at + 1
                name: Identifier = _node(Identifier, (self.values[at], (start, self.stops[at]), self.other))
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
                    made: Comparison = _node(Comparison, (kinds[at + 1], name, literal, span, self.other, False))
                    self.order.append(made)
                    return made, PREDICATE
                return name, PRIMARY
            if kind in _LITERALS:
                return self.literal(at), PRIMARY
            if kind in _TRUTHS:
                self.at = at + 1
                truth = Literal("boolean", _TRUTHS[kind], (start, self.stops[at]))
                self.order.append(truth)
                return truth, PRIMARY
            top = self.stack[-1]
            if kind == "(":
                self.open(_Open(_PAREN, 0, start))
            elif kind == "NOT" and (top.strength < PREDICATE or self.not_binding > PREDICATE):
                self.open(_Open(_NOT, self.not_binding, start))
            elif kind in ("+", "-"):
                self.open(_Open(_SIGN, SIGN, start, operator=kind))
            else:
                self.fail("a value" if top.strength >= PREDICATE else "a condition")
            self.at += 1

    def open(self, construct: _Open) -> None:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise errors.SelectorLimitError(
                f"nested more than {MAX_NESTING} deep: the selector is refused",
                selector=self.text,
                span=(self.starts[self.at], self.stops[self.at]),
                hint="join terms of one kind without parentheses: a AND b AND c",
            )
        self.stack.append(construct)

    def literal(self, at: int) -> Literal:
        """Return the literal at *at*, and a sign directly before a number with it."""
        kind, value, start, stop = self.kinds[at], self.values[at], self.starts[at], self.stops[at]
        self.at = at + 1
        if self.stack[-1].kind == _SIGN and kind in ("exact", "approximate"):
            sign = self.close()
            start = self.start = sign.start
            if sign.operators[0] == "-":
                value = -value  # type: ignore[operator]
        if value == 1 << 63 and kind == "exact":
            kind = "approximate"
            value = out_of_range(self.text, (self.starts[at], stop), 1 << 63, self.dialect)
        made: Literal = _node(Literal, (_LITERALS[kind], value, (start, stop)))
        self.order.append(made)
        return made

    # ---- where an operator, a closing parenthesis or the end is expected

    def operators(self, left: Node, strength: int) -> bool:
        """Read what follows a complete operand. Returns whether another one is due: if not, the text is complete."""
        while True:
            kind = self.kinds[self.at]
            if kind in BINARY:
                binding = BINARY[kind]
                top = self.stack[-1]
                if top.strength > binding:
                    left, strength = self.reduce(left, strength, binding)
                    top = self.stack[-1]
                if binding < PREDICATE and top.strength == PREDICATE:  # reduce() leaves only a BETWEEN behind
                    if kind != "AND":
                        self.fail("AND")
                    top.operands.append(left)
                elif top.strength == binding and top.kind != _BETWEEN and binding != PREDICATE:
                    top.operators.append(kind)
                    top.operands.append(left)
                elif binding >= PREDICATE and (strength <= PREDICATE or top.strength == binding):
                    self.chained()
                else:
                    self.stack.append(_Open(kind, binding, self.start, left, kind))
                self.at += 1
                return True
            if kind in PREDICATES or kind == "NOT":
                left, strength = self.reduce(left, strength, PREDICATE)
                if strength <= PREDICATE or self.stack[-1].strength == PREDICATE:
                    self.chained()
                finished = self.predicate(left, strength)
                if finished is None:
                    return True
                self.order.append(finished)
                left, strength = finished, PREDICATE
            elif kind == ")":
                left, strength = self.reduce(left, strength, 0)
                if self.stack[-1].kind != _PAREN:
                    self.fail("the end of the selector" if len(self.stack) == 1 else "AND")
                self.start = self.close().start
                self.at += 1
                strength = PRIMARY
                # A parenthesised identifier is a value still, but no longer the identifier that IN, LIKE and IS need.
                if isinstance(left, Identifier):
                    strength = SIGN
            elif kind == "end":
                left, strength = self.reduce(left, strength, 0)
                if len(self.stack) > 1:
                    self.fail("')'" if self.stack[-1].kind == _PAREN else "AND")
                return False
            else:
                self.fail(self.expected_after())

    def close(self) -> _Open:
        self.depth -= 1
        return self.stack.pop()

    def reduce(self, left: Node, strength: int, binding: int) -> tuple[Node, int]:
        """Finish every open construct that binds tighter than an operator of strength *binding*.

        A chain of the same strength stays open, to take one more operand, and so does a BETWEEN that lacks its AND.
        """
        while True:
            top = self.stack[-1]
            if top.strength <= binding or (top.kind == _BETWEEN and len(top.operands) == 1):
                return left, strength
            self.stack.pop()
            self.start, strength = top.start, top.strength
            span = (top.start, self.stops[self.at - 1])
            operands = (*top.operands, left)
            match top.kind:
                case "NOT":
                    self.depth -= 1
                    left = _node(Not, (left, span))
                case "sign":
                    self.depth -= 1
                    left = Sign(top.operators[0], left, span, self.core.null)
                case "BETWEEN":
                    null = self.core.between[top.negated]
                    left = Between(top.negated, operands[0], operands[1], left, span, self.other, null)
                case "OR":
                    left = _node(Or, (operands, span, _KLEENE))
                case "AND":
                    left = _node(And, (operands, span, _KLEENE))
                case relation if relation in RELATIONS:
                    left = Comparison(relation, operands[0], left, span, self.other)
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
        if kind == "BETWEEN":
            between = _Open(_BETWEEN, PREDICATE, start, left)
            between.negated = negated
            self.stack.append(between)
            self.at += 1
            return None
        if kind not in ("IN", "LIKE", "IS") or (negated and kind == "IS"):
            self.fail("BETWEEN, IN or LIKE")
        if not isinstance(left, Identifier) or strength != PRIMARY:
            span = (start, self.stops[self.at - 1 - negated])
            piece = self.text[span[0] : span[1]]
            hint = f"{kind} reads a property: put its name, without parentheses, to the left"
            hint = HYPHEN if is_hyphenated(piece) else hint
            raise unexpected_token(self.text, span, f"{errors.quoted(piece)} before {kind}", "a property name", hint)
        self.at += 1
        if kind == "IS":
            negated = self.kinds[self.at] == "NOT"
            self.at += negated
            self.take("NULL", "NULL" if negated else "NULL or NOT NULL")
            return IsNull(negated, left, (start, self.stops[self.at - 1]))
        if kind == "IN":
            return self.in_list(negated, left, start)
        pattern = self.take("string", "a pattern in apostrophes")
        escape: str | None = None
        if self.kinds[self.at] == "ESCAPE":
            self.at += 1
            escape = self.take("string", "one character in apostrophes")
            if len(escape) != 1:
                raise errors.SelectorSyntaxError(
                    f"ESCAPE has {len(escape)} characters: expected exactly one",
                    selector=self.text,
                    span=(self.starts[self.at - 1], self.stops[self.at - 1]),
                    hint="name one character that takes the special meaning from _ and %, as in ESCAPE '\\'",
                )
        return Like(negated, left, pattern, escape, (start, self.stops[self.at - 1]), self.other)

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
                found = errors.quoted(self.text[span[0] : span[1]])
                hint = "for numbers join comparisons with OR, or use BETWEEN"
                raise wrong_type(self.text, span, "an IN list holds string literals only", found, hint)
            choices.append(self.take("string", "a string in apostrophes"))
            if self.kinds[self.at] != ",":
                break
            self.at += 1
        self.take(")", "',' or ')'")
        return In(negated, identifier, tuple(choices), (start, self.stops[self.at - 1]), self.other)

    def take(self, kind: str, expected: str) -> str:
        """Read a token of this kind. Returns its value, or its text."""
        at = self.at
        if self.kinds[at] != kind:
            self.fail(expected)
        self.at = at + 1
        return self.values[at]  # type: ignore[return-value]

    # ---- errors

    def expected_after(self) -> str:
        for construct in reversed(self.stack):
            if construct.kind == _BETWEEN and len(construct.operands) == 1:
                return "AND"
            if construct.kind == _PAREN:
                return "an operator or ')'"
        return "an operator or the end of the selector"

    def chained(self) -> NoReturn:
        hint = "comparisons do not chain: join two of them with AND, as in a > 1 AND a < 9"
        raise self.unexpected("AND, OR or the end of the selector", hint)

    def fail(self, expected: str) -> NoReturn:
        raise self.unexpected(expected, self.hint(self.tokens[self.at]))

    def unexpected(self, expected: str, hint: str | None) -> errors.SelectorSyntaxError:
        token = self.tokens[self.at]
        found = "end of the selector"
        if token.kind != "end":
            found = errors.quoted(self.text[token.start : token.stop])
            if self.at:
                before = self.tokens[self.at - 1]
                found += f" after {errors.quoted(self.text[before.start : before.stop])}"
        return unexpected_token(self.text, (token.start, token.stop), found, expected, hint)

    def hint(self, token: Token) -> str | None:
        """Name the mistake behind an unexpected token."""
        kind = token.kind
        before = self.tokens[self.at - 1].kind if self.at else ""
        earlier = self.tokens[self.at - 2].kind if self.at > 1 else ""
        following = self.tokens[self.at + 1].kind if kind != "end" else ""
        if before == "/" and kind == "/":
            return NO_COMMENTS
        if before in RELATIONS and kind in RELATIONS:
            if self.tokens[self.at - 1].stop < token.start and before + kind in RELATIONS:
                return f"write {before}{kind} without a blank"
            return FOREIGN.get(before + kind, "write one of = <> < <= > >=")
        if before == "IS" or (before == "NOT" and earlier == "IS"):
            return "IS is followed by NULL or NOT NULL only; to test a boolean write name = TRUE, or the name alone"
        if self.in_a_list():
            if kind == "identifier":
                return "an IN list holds string literals only: put the text between apostrophes"
            return "an IN list is written ('a', 'b'), with at least one string"
        if before == "IN":
            return "an IN list stands in parentheses: IN ('a', 'b')"
        if before in ("LIKE", "ESCAPE") and kind == "(":
            if following == "string" and self.tokens[self.at + 2].kind == ",":
                return f"{before} takes one string: join a test for each with OR"
            return f"{before} takes one string, without parentheses: {before} 'text'"
        if before in ("LIKE", "ESCAPE"):
            return "put the text between apostrophes"
        if kind == "NULL":
            return "NULL is not a value: test a property with IS NULL or IS NOT NULL"
        if before == "NULL" and kind == "end":
            return None
        if self.stack[-1].kind == _BETWEEN and len(self.stack[-1].operands) == 1 and before in _ENDS:
            return "BETWEEN takes two bounds joined by AND: name BETWEEN 1 AND 9"
        if before == "NOT" and earlier in _ENDS:
            found = self.text[token.start : token.stop]
            if kind in RELATIONS:
                return "not equal is written <>; NOT stands before a whole condition"
            return foreign(f"NOT {found}", found, self.tokens[self.at - 2].value) or (
                "NOT stands before a whole condition, or before BETWEEN, IN or LIKE"
            )
        if kind == "," and before in _NUMBERS and following in _NUMBERS:
            return "digits are not grouped, and a point stands before the decimals: 2500.50"
        if kind == "," and before:
            return "join conditions with AND or OR"
        if kind == "end" and before in _ENDS:
            count = sum(construct.kind == _PAREN for construct in self.stack)
            return "close the parenthesis with ')'" if count == 1 else f"close the {count} open parentheses with ')'"
        if self.text.strip() == "*":
            return "an empty text selects everything"
        if kind == "end":
            return "the selector stops too early: complete it or remove its last word"
        if kind == "NOT" and before in BINARY:
            return "NOT takes a whole condition: put the condition and its NOT into parentheses"
        if kind in PREDICATES and following not in RELATIONS:
            return f"write the property first: name {kind} …"
        if kind in KEYWORDS and following in RELATIONS | PREDICATES and kind not in _TRUTHS:
            return f"{kind} is a reserved word: no property can have this name"
        if before == "identifier" and kind == "(" and following in RELATIONS | PREDICATES | {"NOT"}:
            words = [self.at - 1, self.at + 1, self.at + 2][: 2 + (following == "NOT")]
            shown = " ".join(self.text[self.starts[at] : self.stops[at]] for at in words)
            return f"the name stands inside the parentheses: ({shown} …)"
        if before == "identifier" and kind == "(":
            return foreign(self.tokens[self.at - 1].value) or "there are no functions in a selector"
        if kind == ")" and before in _ENDS:
            return "a parenthesis closes here that was never opened"
        if kind in RELATIONS and before not in _ENDS and self.stack[-1].strength < PREDICATE:
            first = self.tokens[self.at - 4] if before in ("AND", "OR") and self.at >= 4 else token
            if first.kind != "identifier":
                return f"write the property first: name {kind} …"
            return f"name the property in each comparison: {before} {first.value!s} {kind} …"
        if before not in _ENDS and (kind in BINARY or kind == ")"):
            missing = "a value" if self.stack[-1].strength >= PREDICATE else "a condition"
            missing = "a value" if kind not in ("AND", "OR", ")") else missing
            if not before:
                return f"{missing} is missing before '{kind}'"
            return f"{missing} is missing between '{before}' and '{kind}'"
        if kind in ("identifier", "string", "exact", "approximate", "bytes", "TRUE", "FALSE", "(") and before in _ENDS:
            pair = self.tokens[self.at - 1 : self.at + 1]
            spans = [(one.start, one.stop) for one in pair]
            return adjacent(self.text, [one.kind for one in pair], spans, self.dialect)
        return None

    def in_a_list(self) -> bool:
        at = self.at - 1
        while at >= 0 and self.tokens[at].kind in ("string", ","):
            at -= 1
        return at > 0 and self.tokens[at].kind == "(" and self.tokens[at - 1].kind == "IN"


_ENDS = frozenset(["identifier", "string", "exact", "approximate", "bytes", "TRUE", "FALSE", "NULL", ")"])
_NUMBERS = frozenset(["exact", "approximate"])
