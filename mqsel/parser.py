"""Tokens to tree, by operator precedence with an explicit stack: depth costs memory of ours, never the call stack.

    selector    : [condition] END
    condition   : conjunction (OR conjunction)*                                  strength 1
    conjunction : negation (AND negation)*                                       strength 2
    negation    : NOT negation | predicate                                       strength 3
    predicate   : sum [ relop sum | [NOT] BETWEEN sum AND sum                    strength 4, does not chain
                      | [NOT] IN '(' string (',' string)* ')'
                      | [NOT] LIKE string [ESCAPE string] | IS [NOT] NULL ]
    sum         : product (('+'|'-') product)*                                   strength 5
    product     : unary (('*'|'/') unary)*                                       strength 6
    unary       : ('+'|'-') unary | primary                                      strength 7
    primary     : literal | identifier | '(' condition ')'                       strength 8

Owns the grammar and what to say when it is broken; knows no types. Follows LANGUAGE §4.
"""

from __future__ import annotations

import difflib
import unicodedata
from typing import NoReturn

from mqsel import errors
from mqsel.dialect import Dialect
from mqsel.lexer import KEYWORDS, NO_COMMENTS, TWO_MINUS_SIGNS, Token, dashes, tokenize
from mqsel.nodes import (
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
)

MAX_NESTING = 500  # open parentheses, NOTs and signs at one place

_LITERALS = {"string": "string", "exact": "exact", "approximate": "approximate", "bytes": "bytes"}
_TRUTHS = {"TRUE": True, "FALSE": False}
_RELATIONS = frozenset(["=", "<>", "<", "<=", ">", ">="])
_BINARY = {"OR": 1, "AND": 2, **dict.fromkeys(_RELATIONS, 4), "+": 5, "-": 5, "*": 6, "/": 6}
_PREDICATES = frozenset(["NOT", "BETWEEN", "IN", "LIKE", "IS"])

_ROOT, _PAREN, _NOT, _SIGN, _BETWEEN = "root", "(", "NOT", "sign", "BETWEEN"


class _Open:
    """A construct that still waits for its last operand.

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
    try:
        return _Parser(text, tokenize(text, dialect)).selector()
    except errors.SelectorSyntaxError as error:
        # What is no selector behind two minus signs, on their line or right at the start of the next, is a remark.
        start = error.span[0]
        line = text.rfind("\n", 0, len(text[:start].rstrip())) + 1
        if any(line <= place <= start for place in dashes(text)):
            error.hint = TWO_MINUS_SIGNS
        raise


class _Parser:
    def __init__(self, text: str, tokens: tuple[Token, ...]) -> None:
        self.text = text
        self.tokens = tokens
        self.at = 0
        self.depth = 0
        self.start = 0  # of the operand that has just been completed, its parentheses included
        self.stack = [_Open(_ROOT, 0, 0)]

    def selector(self) -> Node:
        if self.tokens[0].kind == "end":
            return Literal("boolean", True, (0, len(self.text)))
        while True:
            # ``strength`` is that of ``left`` as it stands: 4 for a finished predicate, which may not be compared on.
            left, strength = self.operand()
            finished = self.operators(left, strength)
            if finished is not None:
                return finished

    # ---- where a value is expected

    def operand(self) -> tuple[Node, int]:
        """Open prefixes until a primary stands, and give it."""
        while True:
            token = self.tokens[self.at]
            kind = token.kind
            self.start = token.start
            if kind == "identifier":
                self.at += 1
                return Identifier(str(token.value), (token.start, token.stop)), 8
            if kind in _LITERALS:
                self.at += 1
                return self.literal(token), 8
            if kind in _TRUTHS:
                self.at += 1
                return Literal("boolean", _TRUTHS[kind], (token.start, token.stop)), 8
            top = self.stack[-1]
            if kind == "(":
                self.open(_Open(_PAREN, 0, token.start))
            elif kind == "NOT" and top.strength < 4:
                self.open(_Open(_NOT, 3, token.start))
            elif kind in ("+", "-"):
                self.open(_Open(_SIGN, 7, token.start, operator=kind))
            else:
                self.fail(token, "a value" if top.strength >= 4 else "a condition")
            self.at += 1

    def open(self, construct: _Open) -> None:
        self.depth += 1
        if self.depth > MAX_NESTING:
            token = self.tokens[self.at]
            raise errors.too_deep(self.text, (token.start, token.stop), MAX_NESTING)
        self.stack.append(construct)

    def literal(self, token: Token) -> Literal:
        value, start = token.value, token.start
        if token.kind in ("exact", "approximate") and self.stack[-1].kind == _SIGN:
            sign = self.close()
            start = self.start = sign.start
            if sign.operators[0] == "-":
                value = -value  # type: ignore[operator]
        if value == 1 << 63 and token.kind == "exact":
            raise errors.number_out_of_range(self.text, (token.start, token.stop), "exact")
        return Literal(_LITERALS[token.kind], value, (start, token.stop))

    # ---- where an operator, a closing parenthesis or the end is expected

    def operators(self, left: Node, strength: int) -> Node | None:
        """Take what follows a complete operand, until another operand is due (None) or the selector is complete."""
        while True:
            token = self.tokens[self.at]
            kind = token.kind
            if kind in _BINARY:
                binding = _BINARY[kind]
                left, strength = self.reduce(left, strength, binding)
                top = self.stack[-1]
                if binding < 4 and top.strength == 4:  # reduce() leaves only a BETWEEN behind
                    if kind != "AND":
                        self.fail(token, "AND")
                    top.operands.append(left)
                elif top.strength == binding and top.kind != _BETWEEN and binding != 4:
                    top.operators.append(kind)
                    top.operands.append(left)
                elif binding >= 4 and (strength <= 4 or top.strength == binding):
                    self.chained(token)
                else:
                    self.stack.append(_Open(kind, binding, self.start, left, kind))
                self.at += 1
                return None
            if kind in _PREDICATES:
                left, strength = self.reduce(left, strength, 4)
                if strength <= 4 or self.stack[-1].strength == 4:
                    self.chained(token)
                finished = self.predicate(left, strength, token)
                if finished is None:
                    return None
                left, strength = finished, 4
            elif kind == ")":
                left, strength = self.reduce(left, strength, 0)
                if self.stack[-1].kind != _PAREN:
                    self.fail(token, "the end of the selector" if len(self.stack) == 1 else "AND")
                self.start = self.close().start
                self.at += 1
                strength = 8
                # A parenthesised identifier is a value still, but no longer the identifier that IN, LIKE and IS need.
                if isinstance(left, Identifier):
                    strength = 7
            elif kind == "end":
                left, strength = self.reduce(left, strength, 0)
                if len(self.stack) > 1:
                    self.fail(token, "')'" if self.stack[-1].kind == _PAREN else "AND")
                return left
            else:
                self.fail(token, self.expected_after())

    def close(self) -> _Open:
        self.depth -= 1
        return self.stack.pop()

    def reduce(self, left: Node, strength: int, binding: int) -> tuple[Node, int]:
        """Finish every open construct that binds tighter than an operator of strength *binding*.

        A chain of the same strength stays open, to take one more operand, and so does a BETWEEN in want of its AND.
        """
        while True:
            top = self.stack[-1]
            if top.strength <= binding or (top.kind == _BETWEEN and len(top.operands) == 1):
                return left, strength
            self.stack.pop()
            self.start, strength = top.start, top.strength
            span = (top.start, self.tokens[self.at - 1].stop)
            operands = (*top.operands, left)
            match top.kind:
                case "NOT":
                    self.depth -= 1
                    left = Not(left, span)
                case "sign":
                    self.depth -= 1
                    left = Sign(top.operators[0], left, span)
                case "BETWEEN":
                    left = Between(top.negated, operands[0], operands[1], left, span)
                case "OR":
                    left = Or(operands, span)
                case "AND":
                    left = And(operands, span)
                case "+" | "-" | "*" | "/":
                    left = Arithmetic(tuple(top.operators), operands, span)
                case relation:
                    left = Comparison(relation, operands[0], left, span)

    # ---- BETWEEN, IN, LIKE, IS

    def predicate(self, left: Node, strength: int, token: Token) -> Node | None:
        start = self.start
        negated = token.kind == "NOT"
        if negated:
            self.at += 1
        token = self.tokens[self.at]
        kind = token.kind
        if kind == "BETWEEN":
            between = _Open(_BETWEEN, 4, start, left)
            between.negated = negated
            self.stack.append(between)
            self.at += 1
            return None
        if kind not in ("IN", "LIKE", "IS") or (negated and kind == "IS"):
            self.fail(token, "BETWEEN, IN or LIKE")
        if not isinstance(left, Identifier) or strength != 8:
            span = (start, self.tokens[self.at - 1 - negated].stop)
            found = errors.quoted(self.text[span[0] : span[1]])
            hint = f"{kind} reads a property: put its name, without parentheses, to the left"
            raise errors.unexpected_token(self.text, span, f"{found} before {kind}", "a property name", hint)
        self.at += 1
        if kind == "IS":
            negated = self.tokens[self.at].kind == "NOT"
            self.at += negated
            self.take("NULL", "NULL" if negated else "NULL or NOT NULL")
            return IsNull(negated, left, (start, self.tokens[self.at - 1].stop))
        if kind == "IN":
            return self.in_list(negated, left, start)
        pattern = str(self.take("string", "a pattern in apostrophes").value)
        escape: str | None = None
        if self.tokens[self.at].kind == "ESCAPE":
            self.at += 1
            token = self.take("string", "one character in apostrophes")
            escape = str(token.value)
            if len(escape) != 1:
                raise errors.bad_escape(self.text, (token.start, token.stop), len(escape))
        return Like(negated, left, pattern, escape, (start, self.tokens[self.at - 1].stop))

    def in_list(self, negated: bool, identifier: Identifier, start: int) -> Node:
        self.take("(", "'('")
        choices: list[str] = []
        while True:
            token = self.tokens[self.at]
            if token.kind in ("+", "-") and self.tokens[self.at + 1].kind in ("exact", "approximate"):
                token = self.tokens[self.at + 1]
            if (token.kind in _LITERALS and token.kind != "string") or token.kind in _TRUTHS:
                span = (token.start, token.stop)
                found = errors.quoted(self.text[span[0] : span[1]])
                hint = "for numbers join comparisons with OR, or use BETWEEN"
                raise errors.wrong_type(self.text, span, "an IN list holds string literals only", found, hint)
            choices.append(str(self.take("string", "a string in apostrophes").value))
            if self.tokens[self.at].kind != ",":
                break
            self.at += 1
        self.take(")", "',' or ')'")
        return In(negated, identifier, tuple(choices), (start, self.tokens[self.at - 1].stop))

    def take(self, kind: str, expected: str) -> Token:
        token = self.tokens[self.at]
        if token.kind != kind:
            self.fail(token, expected)
        self.at += 1
        return token

    # ---- errors

    def expected_after(self) -> str:
        for construct in reversed(self.stack):
            if construct.kind == _BETWEEN and len(construct.operands) == 1:
                return "AND"
            if construct.kind == _PAREN:
                return "an operator or ')'"
        return "an operator or the end of the selector"

    def chained(self, token: Token) -> NoReturn:
        hint = "comparisons do not chain: join two of them with AND, as in a > 1 AND a < 9"
        raise self.unexpected(token, "AND, OR or the end of the selector", hint)

    def fail(self, token: Token, expected: str) -> NoReturn:
        raise self.unexpected(token, expected, self.hint(token))

    def unexpected(self, token: Token, expected: str, hint: str | None) -> errors.SelectorSyntaxError:
        found = "end of the selector"
        if token.kind != "end":
            found = errors.quoted(self.text[token.start : token.stop])
            if self.at:
                before = self.tokens[self.at - 1]
                found += f" after {errors.quoted(self.text[before.start : before.stop])}"
        return errors.unexpected_token(self.text, (token.start, token.stop), found, expected, hint)

    def hint(self, token: Token) -> str | None:
        """Name the mistake behind an unexpected token."""
        kind = token.kind
        before = self.tokens[self.at - 1].kind if self.at else ""
        earlier = self.tokens[self.at - 2].kind if self.at > 1 else ""
        following = self.tokens[self.at + 1].kind if kind != "end" else ""
        if before == "/" and kind == "/":
            return NO_COMMENTS
        if before in _RELATIONS and kind in _RELATIONS:
            if self.tokens[self.at - 1].stop < token.start and before + kind in _RELATIONS:
                return f"write {before}{kind} without a blank"
            return _RELATION_HINTS.get(before + kind, "write one of = <> < <= > >=")
        if before == "IS" or (before == "NOT" and earlier == "IS"):
            return "IS is followed by NULL or NOT NULL only; to test a boolean write name = TRUE, or the name alone"
        if self.in_a_list():
            if kind == "identifier":
                return "an IN list holds string literals only: put the text between apostrophes"
            return "an IN list is written ('a', 'b'), with at least one string"
        if before == "IN":
            return "an IN list stands in parentheses: IN ('a', 'b')"
        if before in ("LIKE", "ESCAPE"):
            return "put the text between apostrophes"
        if kind == "NULL":
            return "NULL is no value: test a property with IS NULL or IS NOT NULL"
        if before == "NULL" and kind == "end":
            return None
        if self.stack[-1].kind == _BETWEEN and len(self.stack[-1].operands) == 1 and before in _ENDS:
            return "BETWEEN takes two bounds joined by AND: name BETWEEN 1 AND 9"
        if before == "NOT" and earlier in _ENDS and kind in _RELATIONS:
            return "not equal is written <>; NOT stands before a whole condition"
        if kind == "," and before == "exact" and following == "exact":
            return "digits are not grouped"
        if kind == "," and before:
            return "join conditions with AND or OR"
        if kind == "end":
            return "the selector stops too early: complete it or remove its last word"
        if kind == "NOT" and before in _BINARY:
            return "NOT takes a whole condition: put the condition and its NOT into parentheses"
        if kind in ("IS", "IN", "LIKE", "BETWEEN") and following not in _RELATIONS:
            return f"write the property first: name {kind} …"
        if kind in KEYWORDS and following in _RELATIONS | {"IN", "IS", "LIKE", "BETWEEN"} and kind not in _TRUTHS:
            return f"{kind} is a reserved word: no property can have this name"
        if before == "identifier" and kind == "(":
            return "there are no functions in a selector"
        if kind == ")":
            return "a parenthesis closes here that was never opened" if before in _ENDS else "something is missing here"
        if kind in ("identifier", "string", "exact", "approximate", "bytes", "TRUE", "FALSE", "(") and before in _ENDS:
            return self.adjacent_hint(token, before)
        return None

    def in_a_list(self) -> bool:
        at = self.at - 1
        while at >= 0 and self.tokens[at].kind in ("string", ","):
            at -= 1
        return at > 0 and self.tokens[at].kind == "(" and self.tokens[at - 1].kind == "IN"

    def adjacent_hint(self, token: Token, before: str) -> str:
        for word in (token, self.tokens[self.at - 1]):
            if word.kind == "identifier":
                name = str(word.value)
                if name.upper() in _FOREIGN:
                    return _FOREIGN[name.upper()]
                plain = unicodedata.normalize("NFKC", name).upper()
                near = difflib.get_close_matches(plain, KEYWORDS - {"NULL", "TRUE", "FALSE"}, 1, 0.6)
                if near:
                    return f"did you mean {near[0]} instead of {name}?"
        if token.kind in ("exact", "approximate") and before in ("exact", "approximate"):
            return "a date or time is no number: compare with milliseconds since 1970"
        if token.kind == "identifier" and before == "identifier":
            return "a name has no blanks, and text stands between apostrophes; join conditions with AND or OR"
        if (token.kind == "identifier" and before == "string") or (token.kind == "string" and before == "string"):
            return "an apostrophe inside a string is written twice: 'it''s'"
        return "an operator is missing between the two: compare them, or join conditions with AND or OR"


_ENDS = frozenset(["identifier", "string", "exact", "approximate", "bytes", "TRUE", "FALSE", "NULL", ")"])

_RELATION_HINTS = {
    "==": "equality is written '=' in a selector",
    "=<": "less than or equal is written <=",
    "=>": "greater than or equal is written >=",
    "=<=": "write <= alone",
    "=>=": "write >= alone",
    "><": "not equal is written <>",
}

# Words of other languages that people write where an operator stands.
_FOREIGN = {
    "CONTAINS": "use LIKE with %: name LIKE '%text%'",
    "STARTSWITH": "use LIKE with %: name LIKE 'text%'",
    "ENDSWITH": "use LIKE with %: name LIKE '%text'",
    "REGEXP": "there are no regular expressions: use LIKE with % and _",
    "RLIKE": "there are no regular expressions: use LIKE with % and _",
    "MATCHES": "there are no regular expressions: use LIKE with % and _",
    "EQ": "equality is written =",
    "NE": "not equal is written <>",
    "XOR": "there is no XOR: write a <> b",
    "MOD": "there is no remainder operator",
    "XPATH": "a selector reads properties, never the body: XPATH is an extension of ActiveMQ",
    "XQUERY": "a selector reads properties, never the body",
}
