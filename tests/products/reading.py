"""How each broker reads a selector: a parser that shares nothing with mqsel.

A product is a row of `PRODUCTS`, which says what its operators return, too. Written from the tables of the brokers'
dialects and from what the engines themselves answer, not from mqsel's code; test_products.py holds it against both.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

Value = tuple[str, Any] | None  # a type and a value; None is NULL
Tree = tuple[Any, ...]

NARROW = ("byte", "short")
WHOLE = ("byte", "short", "int", "long")
NUMBERS = (*WHOLE, "float", "double", "big")
ORDER = ("<", "<=", ">", ">=")
# What RabbitMQ's JMS client declares.
HEADERS = dict.fromkeys("JMSDeliveryMode JMSMessageID JMSCorrelationID JMSType".split(), "string")
HEADERS |= dict.fromkeys(("JMSPriority", "JMSTimestamp"), "number")
CONDITIONS = ("compare", "like", "between", "in", "null", "not", "and", "or", "text")


class Refused(Exception):  # noqa: N818 - what the product answers, no error of the test
    """The product does not read this text."""


class Product(NamedTuple):
    """One product: the words of its texts, and where it departs from Kleene's logic and Java's numbers."""

    words: Words
    reserved: str
    grammar: str  # activemq, rocketmq, qpid-cpp, rabbitmq or rabbitmq-jms
    unary_not: bool = False
    folds: bool = True  # keywords in any case
    whole: bool = True  # nothing may follow the selector
    null_equality: str = "unknown"  # left: NULL on the left alone is UNKNOWN; value: NULL is a value
    connectives: str = "kleene"  # left: UNKNOWN on the left decides AND; eager: both sides are evaluated
    matches: bool = False  # asks AND and OR under no NOT whether they are TRUE: an AND ends at UNKNOWN, too
    mismatch: str = "negated"  # <> between types is TRUE; false; order: types are ordered
    in_mismatch: str = "U"
    like_mismatch: str = "F"
    condition_mismatch: str = "F"
    between: str = "expand"  # null: any NULL is UNKNOWN
    integers: str = "java"  # long: all of 64 bits; big: any size
    division: str = "ieee"  # java; unknown and atom: by zero
    total: bool = False  # NaN is equal to itself and -0.0 less than 0.0
    exact: bool = False  # whole numbers and doubles compare by value
    casts: bool = False  # a float right of a double fails
    unit: str = "point"  # what _ matches; byte
    newline: str = "yes"  # whether % and _ match it; fast: only where the pattern is a prefix, suffix or both
    escapes: str = "special"  # any: every character may be escaped
    hyphens: str = ""  # a text that begins so has names with - in them
    collapses: bool = False  # of a run of % one is read
    depth: int = 0  # the deepest that a tree may be; 0 for any


Words = tuple[tuple[str, str], ...]  # kinds of words and their patterns: the longest match, then the first, is taken


def _with(words: dict[str, str], **more: str) -> Words:
    return tuple({**words, **more}.items())


_BASE = "AND OR NOT BETWEEN LIKE IN IS NULL TRUE FALSE ESCAPE"
_NAME = r"[A-Za-z_$][A-Za-z0-9_$]*"
_STRING = r"'(?:[^']|'')*'"
_QUOTED = r'"(?:[^"]|"")*"'
_EXPONENT = r"[eE][+-]?[0-9]+"
_JAVACC = {
    "space": r"[ \t\n\r\f]+|--[^\n\r]*[\n\r]|/\*(?s:.*?)\*/",
    "float": rf"(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:{_EXPONENT})?|[0-9]+{_EXPONENT}",
    "hex": r"0[xX][0-9a-fA-F]+",
    "octal": r"0[0-7]*",
    "whole": r"[1-9][0-9]*[lL]?",
    "string": _STRING,
}
_SIGNS = r"<>|<=|>=|[-=<>+*/%(),]"
_ACTIVEMQ = Product(
    _with(_JAVACC, name=_NAME, sign=_SIGNS),
    _BASE + " XPATH XQUERY",
    "activemq",
    unary_not=True,
    null_equality="left",
    total=True,
)

PRODUCTS = {
    "activemq": _ACTIVEMQ._replace(casts=True, matches=True),
    "artemis": _ACTIVEMQ._replace(
        matches=True,
        hyphens="hyphenated_props:",
        words=_with(_JAVACC, quoted=_QUOTED, name=_NAME, sign=_SIGNS),
    ),
    "qpid-broker-j": _ACTIVEMQ._replace(
        words=_with(_JAVACC, quoted=_QUOTED, name=_NAME, sign=_SIGNS),
        reserved=_BASE,
        unary_not=False,
        null_equality="value",
        connectives="left",
        escapes="any",
        collapses=True,
    ),
    "rocketmq": Product(
        _with(_JAVACC, hex=r"(?!)", octal="0", name=_NAME, sign=r"<>|<=|>=|[-=<>+(),]"),
        "AND OR NOT BETWEEN IN IS NULL TRUE FALSE CONTAINS STARTSWITH ENDSWITH",
        "rocketmq",
        unary_not=True,
        whole=False,
        null_equality="left",
        total=True,
    ),
    "qpid-cpp": Product(
        _with(
            {},
            space=r"[ \t\n\r\f\v]+",
            float=r"(?:(?:0|[1-9][0-9_]*)\.[0-9_]*|\.[0-9][0-9_]*|[1-9][0-9_]*(?=[eEfFdD]))"
            rf"(?:{_EXPONENT})?[fFdD]?|0[xX][0-9a-fA-F][0-9a-fA-F_]*[pP][+-]?[0-9]+[fFdD]?",
            hex=r"0[xX][0-9a-fA-F][0-9a-fA-F_]*[lL]?",
            binary=r"0[bB][01][01_]*[lL]?",
            octal=r"0[0-7_]*[lL]?",
            whole=r"[1-9][0-9_]*[lL]?",
            string=_STRING,
            quoted=_QUOTED,
            name=r"[A-Za-z_$][A-Za-z0-9_$.]*",
            sign=r"<>|<=|>=|[-=<>+*/(),]",
        ),
        _BASE,
        "qpid-cpp",
        mismatch="false",
        in_mismatch="list",
        like_mismatch="U",
        condition_mismatch="U",
        between="null",
        integers="long",
        division="java",
        unit="byte",
        escapes="any",
    ),
    "rabbitmq": Product(
        _with(
            {},
            space=r"[ \t\n\r\f]+",
            float=r"[0-9]+\.[0-9]+(?:E[+-]?[0-9]+)?",
            bytes=r"0x(?:[0-9A-F]{2})+",
            digits=r"[0-9]+",
            string=rf"{_STRING}|{_QUOTED}",
            delimited=r"\[(?:[^\[\]\x00-\x1f]|\[\[|\]\])*\]",
            section=r"(?:h|header|p|properties|a|application_properties)\.(?:[A-Za-z][A-Za-z0-9_]*)",
            name=r"[A-Za-z][A-Za-z0-9_]*",
            sign=r"<>|!=|<=|>=|[-=<>+*/%(),]",
        ),
        "AND OR NOT LIKE IN IS NULL TRUE FALSE ESCAPE EXISTS NAN INF LOWER UPPER LEFT RIGHT SUBSTRING DATE UTC",
        "rabbitmq",
        folds=False,
        in_mismatch="F",
        like_mismatch="U",
        condition_mismatch="U",
        integers="big",
        division="unknown",
        exact=True,
        newline="fast",
        escapes="any",
    ),
    "rabbitmq-jms": Product(
        _with(
            {},
            space=r"[ \t\n\r\f\v]+",
            float=rf"[0-9]+(?:\.[0-9]*)?(?:{_EXPONENT}|[fFdD])|[0-9]+\.[0-9]*",
            digits=r"[0-9]+",
            string=_STRING,
            name=r"[A-Za-z_$][A-Za-z0-9_$.]*",
            sign=r"<>|<=|>=|[-=<>+*/(),]",
        ),
        "AND OR NOT BETWEEN LIKE IN IS TRUE FALSE ESCAPE",
        "rabbitmq-jms",
        connectives="eager",
        mismatch="order",
        in_mismatch="F",
        like_mismatch="E",
        condition_mismatch="U",
        between="null",
        integers="big",
        division="atom",
        exact=True,
        unit="byte",
        newline="no",
        escapes="any",
        depth=16,
    ),
}


@functools.lru_cache(maxsize=100_000)
def read(name: str, text: str) -> Tree | None:
    """Return the tree of a text, or None where the product refuses it."""
    try:
        return _Reader(PRODUCTS[name], text).selector()
    except (Refused, RecursionError):
        return None


# --- reading ----------------------------------------------------------------------------------------------------------


def _words(product: Product, text: str) -> list[tuple[str, str]]:
    """Return (kind, text) of each word: a keyword in capitals is its own kind, and the last is the end."""
    patterns = [(kind, re.compile(pattern)) for kind, pattern in product.words]
    reserved = {*product.reserved.split()}
    words, place = [], 0
    while place < len(text):
        found = [(kind, match[0]) for kind, pattern in patterns if (match := pattern.match(text, place))]
        kind, word = max(found, key=lambda one: len(one[1]), default=("", ""))
        if not word:
            if product.whole:
                raise Refused
            words.append(("damage", text[place]))
            break
        place += len(word)
        if kind == "name":
            upper = word.upper()
            is_test = re.match(r"\s+(?:NOT\s+)?NULL(?![A-Za-z0-9_$.])", text[place:], re.IGNORECASE) is not None
            if upper == "IS" and product.grammar == "rabbitmq-jms" and not is_test:
                pass
            elif upper in reserved and (product.folds or word == upper):
                kind = word = upper
            elif upper in reserved:
                raise Refused  # RabbitMQ: no name either
        if kind != "space":
            words.append((word if kind == "sign" else kind, word))
    return [*words, ("end", "")]


class _Reader:
    def __init__(self, product: Product, text: str) -> None:
        self.product = product
        if product.hyphens and text.startswith(product.hyphens):
            text = text.removeprefix(product.hyphens)
            words = {kind: pattern for kind, pattern in product.words if kind != "quoted"}
            product = product._replace(words=_with(words, name=words["name"].replace("]*", "-]*")))
        self.words = _words(product, text)
        self.place = 0
        self.chains: dict[int, list[Tree]] = {}  # the parts of each AND and OR, by its identity

    @property
    def kind(self) -> str:
        return self.words[self.place][0]

    def next(self, *kinds: str) -> str | None:
        """Return the next word if it is of one of the kinds, and pass it."""
        if self.kind in kinds:
            self.place += 1
            return self.words[self.place - 1][1]
        return None

    def want(self, *kinds: str) -> str:
        word = self.next(*kinds)
        if word is None:
            raise Refused
        return word

    def selector(self) -> Tree:
        if self.product.grammar == "qpid-cpp" and self.kind == "end":
            return "literal", ("boolean", True)
        tree = self.either()
        if self.product.whole:
            self.want("end")
        elif self.kind == "damage":
            raise Refused
        if self.product.depth and self.depth(tree) > self.product.depth:
            raise Refused
        return self.boolean(tree)

    def depth(self, tree: Tree) -> int:
        """Return how deep the term of Erlang is that RabbitMQ's JMS client makes of a tree."""
        match tree:
            case ("literal", _):
                return 0
            case ("name", _) | ("null", *_) | ("in", *_) | ("like", *_):
                return 1 + (tree[0] != "name")
            case ("and" | "or", *_):
                parts = self.chains[id(tree)]
                return max(self.depth(one) + min(place + 1, len(parts) - 1) for place, one in enumerate(parts))
        return 1 + max(self.depth(one) for one in tree if isinstance(one, tuple))

    def boolean(self, tree: Tree) -> Tree:
        """Refuse what cannot be a condition."""
        if self.product.grammar in ("activemq", "rocketmq"):
            is_boolean = tree[0] == "literal" and (tree[1] is None or tree[1][0] == "boolean")
            if not (is_boolean or tree[0] in (*CONDITIONS, "name")):
                raise Refused
        if self.product.grammar == "rabbitmq-jms" and self.type(tree) not in ("boolean", "any"):
            raise Refused
        return tree

    def either(self) -> Tree:
        return self.chain("OR", self.both)

    def both(self) -> Tree:
        return self.chain("AND", self.negated)

    def chain(self, word: str, part: Callable[[], Tree]) -> Tree:
        parts = [part()]
        while self.next(word):
            parts.append(part())
        if len(parts) == 1:
            return parts[0]
        tree = functools.reduce(lambda left, right: (word.lower(), left, right), map(self.boolean, parts))
        self.chains[id(tree)] = parts
        return tree

    def negated(self) -> Tree:
        product = self.product
        if product.grammar not in ("activemq", "rocketmq") and self.next("NOT"):
            if product.grammar == "rabbitmq-jms":
                return "not", self.boolean(self.test())
            if product.grammar == "qpid-cpp":
                return "not", self.negated()
            return "not", self.boolean(self.negated())
        return self.equality() if product.grammar in ("activemq", "rocketmq") else self.test()

    # ActiveMQ and what descends from it: comparisons in chains

    def equality(self) -> Tree:
        tree = self.order()
        while True:
            if symbol := self.next("=", "<>"):
                right = self.order()
                for side in (tree, right):
                    if side[0] == "literal" and side[1] is None:
                        raise Refused
                both = tree[0] == right[0] == "literal"
                if both and tree[1][0] == "boolean" != right[1][0]:
                    raise Refused
                tree = "compare", symbol, tree, right
            elif self.next("IS"):
                negated = bool(self.next("NOT"))
                self.want("NULL")
                tree = "null", tree, negated
            else:
                return tree

    def order(self) -> Tree:
        tree = self.sum()
        while True:
            start = self.place
            if symbol := self.next(*ORDER):
                tree = "compare", symbol, self.ordered(tree), self.ordered(self.sum())
                continue
            negated = bool(self.next("NOT"))
            if self.next("BETWEEN"):
                tree = self.ordered(tree)
                low = self.ordered(self.sum())
                self.want("AND")
                high = self.ordered(self.sum())
                if self.product.grammar == "rocketmq" and not negated:
                    self.check_range(tree, low, high)
                tree = "between", tree, low, high, negated
            elif self.next("LIKE"):
                tree = self.like(tree, negated)
            elif self.next("IN"):
                items = self.texts()
                if tree[0] != "name":
                    raise Refused
                tree = "in", tree, items, negated
            elif word := self.next("CONTAINS", "STARTSWITH", "ENDSWITH"):
                tree = "text", word, tree, _text(self.want("string")), negated
            else:
                if negated:
                    if self.product.whole or self.product.grammar == "rocketmq":
                        raise Refused
                    self.place = start
                return tree

    def texts(self) -> list[Tree]:
        """Read a list of strings in parentheses."""
        self.want("(")
        items: list[Tree] = [("literal", ("string", _text(self.want("string"))))]
        while self.next(","):
            items.append(("literal", ("string", _text(self.want("string")))))
        self.want(")")
        return items

    def check_range(self, *parts: Tree) -> None:
        _, low, high = parts
        if low[0] == high[0] == "literal" and low[1] and high[1] and low[1][1] > high[1][1]:
            raise Refused

    def ordered(self, tree: Tree) -> Tree:
        if tree[0] in CONDITIONS or (tree[0] == "literal" and (tree[1] is None or tree[1][0] not in NUMBERS)):
            raise Refused
        return tree

    def like(self, tree: Tree, negated: bool) -> Tree:
        pattern, escape = _text(self.want("string")), None
        if self.next("ESCAPE"):
            escape = _text(self.want("string"))
        bare = re.sub(f"(?s){re.escape(escape)}(.)", r"\1", pattern) if escape else pattern
        if self.product.grammar == "rabbitmq" and re.search(r"[\x00-\x1f\x7f]", bare):
            raise Refused
        if escape is not None:
            self.check_escape(pattern, escape)
        return "like", tree, pattern, escape, negated

    def check_escape(self, pattern: str, escape: str) -> None:
        grammar = self.product.grammar
        if grammar == "activemq" and len(escape.encode("utf-16-be", "surrogatepass")) != 2:
            raise Refused
        if grammar == "qpid-cpp" and (len(escape.encode()) > 1 or escape in ("%", "_")):
            raise Refused
        if grammar == "rabbitmq" and (
            len(escape) != 1 or re.fullmatch(rf"(?s)(?:[^{re.escape(escape)}]|{re.escape(escape)}.)*", pattern) is None
        ):
            raise Refused

    # the others: one comparison at most

    def test(self) -> Tree:
        grammar = self.product.grammar
        is_word = self.kind not in ("(", "+", "-")
        tree = self.sum()
        if grammar != "rabbitmq-jms" and self.next("IS"):
            negated = bool(self.next("NOT"))
            self.want("NULL")
            if grammar != "qpid-cpp" and not (is_word and tree[0] == "name"):
                raise Refused
            return "null", tree, negated
        if symbol := self.next("=", "<>", "!=", *ORDER):
            right = self.sum()
            return self.typed(("compare", symbol.replace("!=", "<>"), tree, right))
        negated = bool(self.next("NOT"))
        if self.next("BETWEEN"):
            low = self.sum()
            self.want("AND")
            return self.typed(("between", tree, low, self.sum(), negated))
        if grammar != "rabbitmq-jms" and self.next("LIKE"):
            return self.like(tree, negated)
        if grammar != "rabbitmq-jms" and self.next("IN"):
            self.want("(")
            items = [self.sum()]
            while self.next(","):
                items.append(self.sum())
            self.want(")")
            return "in", tree, items, negated
        if negated:
            raise Refused
        return tree

    def tested_name(self, tree: Tree) -> Tree:
        """Read IS, LIKE or IN behind a name: for RabbitMQ's JMS client they make a value of it."""
        start = self.place
        if self.next("IS"):
            negated = bool(self.next("NOT"))
            if self.next("NULL") is None and (self.next("name") or "").upper() != "NULL":
                raise Refused
            return "null", tree, negated
        negated = bool(self.next("NOT"))
        if self.next("LIKE"):
            return self.typed(self.like(tree, negated))
        if self.next("IN"):
            return self.typed(("in", tree, self.texts(), negated))
        self.place = start
        return tree

    def typed(self, tree: Tree) -> Tree:
        """Check the types that RabbitMQ's JMS client can see in a text."""
        if self.product.grammar != "rabbitmq-jms":
            return tree
        match tree:
            case ("compare", symbol, left, right):
                kinds = {self.type(left), self.type(right)} - {"any"}
                if len(kinds) > 1 or (symbol in ORDER and not kinds <= {"number"}):
                    raise Refused
            case ("between", *parts, _) if not {self.type(part) for part in parts} <= {"number", "any"}:
                raise Refused
            case ("like" | "in", left, *_) if self.type(left) not in ("string", "any"):
                raise Refused
        return tree

    def type(self, tree: Tree) -> str:
        match tree:
            case ("literal", (kind, _)):
                return kind if kind in ("string", "boolean") else "number"
            case ("arith", *_) | ("sign", *_):
                return "number"
            case ("name", name):
                return HEADERS.get(name, "any")
        return "boolean"

    # arithmetic

    def sum(self) -> Tree:
        if self.product.grammar == "rocketmq":
            return self.unary()
        if self.product.grammar == "rabbitmq-jms":
            return self.right_sum()
        tree = self.product_of()
        while symbol := self.next("+", "-"):
            tree = "arith", symbol, tree, self.product_of()
        return tree

    def product_of(self) -> Tree:
        tree = self.unary()
        while symbol := self.next("*", "/", "%"):
            tree = "arith", symbol, tree, self.unary()
        return tree

    def right_sum(self) -> Tree:
        left = self.right_product()
        if symbol := self.next("+", "-"):
            return "arith", symbol, self.number(left), self.number(self.right_sum())
        return left

    def right_product(self) -> Tree:
        left = self.unary()
        if symbol := self.next("*", "/"):
            return "arith", symbol, self.number(left), self.number(self.right_product())
        return left

    def number(self, tree: Tree) -> Tree:
        if self.type(tree) not in ("number", "any"):
            raise Refused
        return tree

    def unary(self) -> Tree:
        grammar = self.product.grammar
        if symbol := self.next("+", "-"):
            if grammar == "rabbitmq":
                return self.signed(symbol, self.primary())
            if grammar == "qpid-cpp" and symbol == "-" and self.kind in ("whole", "hex", "octal", "binary"):
                return "literal", self.numeric(*self.words[self.place], negative=bool(self.next(self.kind)))
            if grammar == "qpid-cpp" and symbol == "+" and self.kind in ("(", "+", "-"):
                raise Refused
            operand = self.unary()
            return self.signed(symbol, self.number(operand) if grammar == "rabbitmq-jms" else operand)
        if grammar in ("activemq", "rocketmq") and self.next("NOT"):
            return "not", self.boolean(self.unary() if self.product.unary_not else self.equality())
        return self.primary()

    def signed(self, symbol: str, tree: Tree) -> Tree:
        if symbol == "+" and self.product.grammar in ("activemq", "rocketmq", "qpid-cpp"):
            return tree
        return "sign", symbol, tree

    def primary(self) -> Tree:
        kind, word = self.words[self.place]
        self.place += 1
        if kind == "(":
            tree = self.either()
            self.want(")")
            return tree
        if kind == "name":
            return self.tested_name(("name", word)) if self.product.grammar == "rabbitmq-jms" else ("name", word)
        if kind in ("quoted", "delimited", "section"):
            return "name", self.special(kind, word)
        if kind in ("TRUE", "FALSE"):
            return "literal", ("boolean", kind == "TRUE")
        if kind == "NULL" and self.product.grammar in ("activemq", "rocketmq"):
            return "literal", None
        if kind == "string":
            return "literal", ("string", _text(word))
        if kind == "UTC":
            self.want("(")
            self.want(")")
            return ("now",)
        if kind == "bytes":
            return "literal", ("bytes", bytes.fromhex(word[2:]))
        return "literal", self.numeric(kind, word)

    def special(self, kind: str, word: str) -> str:
        if kind == "section":
            section, _, name = word.partition(".")
            if section in ("a", "application_properties"):
                return name
            if section in ("h", "header") and name != "priority":
                raise Refused
            if section in ("p", "properties") and name not in SECTION:
                raise Refused
            return f"{section[0]}.{name}"
        return word[1:-1].replace(word[-1] * 2, word[-1]).replace("[[", "[")

    def numeric(self, kind: str, word: str, *, negative: bool = False) -> Value:
        grammar = self.product.grammar
        plain = word.replace("_", "")
        if kind == "float":
            hexadecimal, bare = plain[:2] in ("0x", "0X"), plain.rstrip("fFdD")
            number = float.fromhex(bare) if hexadecimal else float(bare)
            if grammar != "activemq" and math.isinf(number):
                raise Refused
            if grammar == "rocketmq" and not number:
                raise Refused
            if grammar == "qpid-cpp" and number < 2.0**-1022 and re.split("[eEpP]", bare)[0].strip("0.xX"):
                raise Refused
            return "double", number
        if kind not in ("hex", "octal", "whole", "digits", "binary"):
            raise Refused
        base = {"hex": 16, "octal": 8 if len(plain.rstrip("lL")) > 1 else 10, "binary": 2}.get(kind, 10)
        number = int(plain.rstrip("lL")[2 if kind in ("hex", "binary") else 0 :], base)
        if grammar == "rabbitmq":
            return "long", number
        if grammar == "activemq" and kind == "whole":
            low = (number + (1 << 63)) % (1 << 64) - (1 << 63)
            if -(1 << 31) <= low < 1 << 31:
                return "int", low
            return ("long" if number < 1 << 63 else "big"), number
        if negative and kind == "whole":
            number = -number
        if number >= 1 << (64 if grammar == "qpid-cpp" and kind != "whole" else 63) or number < -1 << 63:
            raise Refused
        if negative and kind != "whole":
            number = -number
        if grammar in ("activemq", "rocketmq"):
            return ("int" if number < 1 << 31 else "long"), number
        return "long", (number + (1 << 63)) % (1 << 64) - (1 << 63)


# The fields of the section of properties.
SECTION = (
    "message_id user_id to subject reply_to correlation_id content_type content_encoding absolute_expiry_time "
    "creation_time group_id group_sequence reply_to_group_id"
).split()


def _text(word: str) -> str:
    return word[1:-1].replace(word[0] * 2, word[0])
