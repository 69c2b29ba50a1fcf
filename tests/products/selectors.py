"""Random selectors in each product's own grammar, and messages of all types for them."""

from __future__ import annotations

import math
import random
import re

from products.answers import Properties

NAMES = "i5 i7 z l5 y5 s5 f25 f01 d25 t f str num e us st a b c missing".split()
_NUMBERS = (
    "0 1 2 5 5 7 6 -5 -1 -2147483648 2147483647 2147483648 9223372036854775807 10 100 3",
    "2.5 0.1 5.0 1.5 -2.5 1.0E2 100.0 1E2 5. .5 0.0 -0.0 1e-3 1E400 2.5F 5d 1.0E-400",
)
_TEXTS = "'abc' 'a' '5' '' 'red' 'a_b' 'it''s' 'true' 'PERSISTENT' '2.5' 'B' 'é' '\U0001f600'".split()
# What some products read and others refuse.
_ODD = (
    *'NULL 5L 0x5 05 09 0xFFL 0x0A \'x\ny\' 1_0 "abc" [i5] "i5" 00 0b1'.split(" "),
    *"18446744073709551616 9223372036854775808 -9223372036854775808".split(),
)
_OWN_NAMES = {
    "rabbitmq": ("p.subject", "a.i5", "h.priority", "p.foo", "[a b]", "date", "_x"),
    "rabbitmq-jms": ("a.b", "$x", "null", "JMSType", "JMSPriority", "JMSExpiration"),
    "qpid-cpp": ("a.b", "_x"),
    "artemis": ('"a b"', "$x"),
    "qpid-broker-j": ('"a b"', "$x"),
}
# What is put into a text to see whether it still is one.
_WORDS = (
    "AND OR NOT BETWEEN LIKE IN IS NULL TRUE FALSE ESCAPE EXISTS UTC() CONTAINS XPATH ( ) , + - * / % = <> < >= !="
    " a i5 'a' '%' 5 0 -1 1.5 .5 5. 1e3 0x1F 07 08 10L 2F \"a\" [a] a.b $a _a -- /* */ # ; é"
).split(" ")
_ESCAPES = ("", "", "!", "%", "_", "\\", "a", "''", "!!", "\u0461")


class Selectors:
    """Draws the texts of one product."""

    def __init__(self, product: str, rng: random.Random) -> None:
        self.product = product
        self.rng = rng

    def text(self, depth: int | None = None) -> str:
        """Return a condition; about a third of them are refused."""
        rng = self.rng
        depth = rng.randint(0, 3) if depth is None else depth
        draw = rng.random()
        if depth <= 0 or draw < 0.5:
            return self.predicate(depth)
        if draw < 0.62:
            below = self.text(depth - 1)
            return f"NOT {below}" if rng.random() < 0.5 else f"NOT ({below})"
        if draw < 0.7:
            return f"({self.text(depth - 1)})"
        return f"{self.text(depth - 1)} {rng.choice(('AND', 'OR'))} {self.text(depth - 1)}"

    def changed(self) -> str:
        """Return a condition of which one to three tokens are left out, added or replaced; most of them are refused."""
        rng, text = self.rng, self.text()
        for _ in range(rng.randint(1, 3)):
            tokens = re.findall(r"'[^']*'|[\w.]+|\s+|[<>=!]+|.", text or " ", re.DOTALL)
            place = rng.randrange(len(tokens))
            word = rng.choice(_WORDS)
            tokens[place : place + rng.randint(0, 1)] = rng.choice(([], [word], [f" {word} "]))
            text = "".join(tokens)
        return text

    def predicate(self, depth: int) -> str:
        rng = self.rng
        draw, negated = rng.random(), rng.choice(("", "", "NOT "))
        if draw < 0.10:
            return self.name()
        if draw < 0.13:
            return rng.choice(("TRUE", "FALSE", "NULL"))
        if draw < 0.17:
            right = rng.choice(("TRUE", "FALSE", self.name()))
            return f"({self.text(depth - 1)}) {rng.choice(('=', '<>'))} {right}"
        if draw < 0.19:  # what binds first
            return f"{self.predicate(0)} {rng.choice(('=', '<>', '<'))} {self.predicate(0)}"
        if draw < 0.57:
            symbol = rng.choice(("=", "=", "<>", "<>", "<", "<=", ">", ">=", "!="))
            return f"{self.operand()}{rng.choice(('', ' '))}{symbol}{rng.choice(('', ' '))}{self.operand()}"
        if draw < 0.67:
            return f"{self.operand()} {negated}BETWEEN {self.operand()} AND {self.operand()}"
        left = self.name() if rng.random() < 0.85 else self.operand()
        if draw < 0.77:
            texts = [
                rng.choice(_TEXTS[:5]) if rng.random() < 0.85 else self.operand() for _ in range(rng.randint(1, 3))
            ]
            return f"{left} {negated}IN ({', '.join(texts)})"
        if draw < 0.88 and self.product == "rocketmq":
            return f"{left} {negated}{rng.choice(('CONTAINS', 'STARTSWITH', 'ENDSWITH'))} {rng.choice(_TEXTS[:5])}"
        if draw < 0.88:
            pattern = "".join(rng.choices("abc%_%!5éx\\.\u0461", k=rng.randint(0, 5)))
            escape = rng.choice(_ESCAPES)
            return f"{left} {negated}LIKE '{pattern}'" + (f" ESCAPE '{escape.strip(chr(39))}'" if escape else "")
        return f"{left} IS {rng.choice(('', 'NOT '))}NULL"

    def operand(self) -> str:
        if self.rng.random() < 0.25:
            return self.arithmetic(2)
        return self.name() if self.rng.random() < 0.5 else self.literal()

    def arithmetic(self, depth: int) -> str:
        rng = self.rng
        draw = rng.random()
        if depth <= 0 or draw < 0.55:
            return self.name() if rng.random() < 0.6 else self.literal()
        if draw < 0.65:
            return rng.choice("+-") + rng.choice(("", " ")) + self.arithmetic(depth - 1)
        if draw < 0.78:
            return f"({self.arithmetic(depth - 1)})"
        return f"{self.arithmetic(depth - 1)} {rng.choice('+-*/%+-*')} {self.arithmetic(depth - 1)}"

    def name(self) -> str:
        own = _OWN_NAMES.get(self.product, ("$x", "_y"))
        return self.rng.choice(own if self.rng.random() < 0.03 else NAMES)

    def literal(self) -> str:
        rng = self.rng
        (kind,) = rng.choices((0, 1, 2, 3, 4), (35, 15, 30, 13, 7))
        if kind < 2:
            return rng.choice(_NUMBERS[kind].split())
        return rng.choice((_TEXTS, ("TRUE", "FALSE", "TRUE", "FALSE", "true"), _ODD)[kind - 2])


def message(product: str, rng: random.Random) -> Properties:
    """Return some properties, each of any type; those of RabbitMQ have no NaN and no infinity."""
    made = {name: _value(rng) for name in rng.sample(NAMES[:-1], rng.randint(3, 16))}
    if product.startswith("rabbitmq"):
        return {name: one for name, one in made.items() if not isinstance(one[1], float) or math.isfinite(one[1])}
    return made


def _value(rng: random.Random) -> tuple[str, object]:
    return rng.choice(
        (
            ("int", rng.choice((0, 1, 5, 7, -5, 2**31 - 1, -(2**31)))),
            ("long", rng.choice((0, 5, 7, 2**63 - 1, -(2**63), 2**53 + 1, 2**32))),
            ("byte", rng.choice((5, -128, 0))),
            ("short", rng.choice((5, 300, 0))),
            ("float", rng.choice((2.5, 0.1, 5.0, 0.0, -0.0, 1e10))),
            ("double", rng.choice((2.5, 0.1, 5.0, 0.0, -0.0, 2.0**53, 1e300, 1e-7, math.inf, math.nan))),
            ("boolean", rng.random() < 0.5),
            *[("string", rng.choice(("abc", "a", "5", "", "red", "a_b", "it's", "true", "2.5", "B", "x")))] * 2,
            (
                "string",
                rng.choice(
                    (
                        "a\nb",
                        "é",
                        "\U0001f600",
                        "\uffff",
                        "F1",
                        "aF1",
                        "100%",
                        "a\\b",
                        "\u0665",
                        "-\uff15",
                        "0x5p0",
                        " 0X.ap3d",
                    )
                ),
            ),
        )
    )
