"""The record of choices that a selector is read by, and the presets as records.

A dialect is data. Code reads its fields, never its name. Follows language §2, whose tables are those of
`mqsel.language.dialects`.
"""

import functools
from collections.abc import Callable, Mapping
from operator import attrgetter, contains
from typing import Any, NamedTuple, TypeVar

from mqsel.arguments import check_word
from mqsel.carets import shortened
from mqsel.errors import ArgumentError
from mqsel.language import dialects
from mqsel.language.product import Rules
from mqsel.language.products import RULES, rules_of, varied
from mqsel.values import Truth

# Allowed values of each field, in the order in which a program numbers them.
CHOICES: dict[str, tuple[str, ...]] = {name: tuple(choices) for name, choices in dialects.FIELDS.items()}
# What the choices of a field yield.
_F, _T, _U, _E = Truth.FALSE, Truth.TRUE, Truth.UNKNOWN, Truth.ERR
# Of a test and of its negation, as of = and <>.
_MISMATCH = {
    "operation": (_F, _F),
    "selector": (_E, _E),
    "unknown": (_U, _U),
    "negated": (_F, _T),
    "undocumented": (_E, _E),
    "ordered": (_F, _T),
}
_IN_MISMATCH = {"unknown": (_U, _U), "listed": (_F, _F)}
_LIKE_MISMATCH = {"negated": (_F, _T), "unknown": (_U, _U), "error": (_E, _E)}
_CONDITION_MISMATCH = {"false": _F, "unknown": _U}
_NULL = {"unknown": _U, "selector": _E}
_BETWEEN = {"literal": (_F, _T), "expand": (None, None), "unknown": (_U, _U)}
_CHOSEN = attrgetter(*CHOICES)
_JAKARTA = dialects.JAKARTA


class _Choices(NamedTuple):
    """The fields of a dialect. A dataclass would do, if importing those did not take a fifth of the time of a start."""

    type_mismatch: str = _JAKARTA["type_mismatch"]
    null_arithmetic: str = _JAKARTA["null_arithmetic"]
    between_null: str = _JAKARTA["between_null"]
    constant_false: str = _JAKARTA["constant_false"]
    whitespace: str = _JAKARTA["whitespace"]
    identifier_dots: str = _JAKARTA["identifier_dots"]
    identifier_astral: str = _JAKARTA["identifier_astral"]
    byte_strings: str = _JAKARTA["byte_strings"]
    hex_octal: str = _JAKARTA["hex_octal"]
    float_suffix_on_integer: str = _JAKARTA["float_suffix_on_integer"]
    headers: str = _JAKARTA["headers"]
    max_length: int | None = _JAKARTA["max_length"]
    static_mismatch: str = _JAKARTA["static_mismatch"]
    out_of_range: str = _JAKARTA["out_of_range"]
    approximate_literals: str = _JAKARTA["approximate_literals"]
    zero_identifier: str = _JAKARTA["zero_identifier"]
    product: str = _JAKARTA["product"]


class Dialect(_Choices):
    """The rules by which one product reads selectors: one choice for each point on which products differ.

    `mqsel.IBM_MQ`, `mqsel.ARTEMIS` and so on are dialects. To change a rule, use `replace`:
    ``mqsel.JMS.replace(max_length=1024)``. A dialect is immutable, can be compared and hashed, and can be pickled.

    Attributes: Each field is the name of one of its choices. The text of a field, which ``help(mqsel.Dialect)`` shows,
        lists its choices and their meanings. ``mqsel.ARTEMIS._asdict()`` returns the choices of ARTEMIS. A number such
        as §6 is a section of the specification, mqsel/language/README.md, which also names the sources.

    Raises: ArgumentError: if a field has a value that is not among its choices.
    """

    __slots__ = ()

    def __new__(cls, *choices: Any, **named: Any) -> "Dialect":
        if choices:
            raise ArgumentError(
                f"a dialect is made of fields by name, found {len(choices)} values, as in pickles of before mqsel 0.4",
                hint="use mqsel.JMS.replace(field=choice)",
            )
        self = super().__new__(cls, **named)
        self.check()
        return self

    def check(self) -> None:
        """Check that each field has one of its choices.

        Raises: ArgumentError: if a field has another value.
        """
        chosen = _CHOSEN(self)
        # Every program that is loaded has its dialect checked.
        if {*map(type, chosen)} != {str} or not all(map(contains, CHOICES.values(), chosen)):
            for (name, allowed), choice in zip(CHOICES.items(), chosen, strict=True):
                if name != "product" or type(choice) is not str:
                    check_word(f"dialect field {name}", choice, allowed)
            rules_of(self.product)
        limit = self.max_length
        if limit is not None and (type(limit) is not int or not 0 < limit < 1 << 32):
            raise ArgumentError(f"dialect field max_length is {shortened(limit)}: expected a positive integer or None")

    @property
    def rules(self) -> Rules:
        """What the product does beyond the other fields."""
        return rules_of(self.product)

    def choice(self, name: str) -> Any:
        """Return the choice of a field, or of a rule of the product.

        Args:
            name: The name of the field or of the rule.
        """
        return getattr(self.rules if name in RULES else self, name)

    def varied(self, **changes: str) -> "Dialect":
        """Return a dialect whose product does otherwise in some rules; comparisons of dialects read selectors so.

        Args:
            changes: The name of each rule to change, and its new choice.
        """
        return self._replace(product=varied(self.product, **changes))

    def replace(self, **changes: Any) -> "Dialect":
        """Return a dialect that differs from this one in some fields.

        Args:
            changes: The name of each field to change, and its new choice.

        Raises: ArgumentError: if there is no such field, or the field has no such choice.
        """
        unknown = changes.keys() - set(self._fields)
        if own := unknown & {*RULES}:
            raise ArgumentError(
                f"{min(own)} is a part of a product since mqsel 0.4: choose product=…",
                hint=f"products are {', '.join(CHOICES['product'])}",
            )
        if unknown:
            raise ArgumentError(
                f"a dialect has no field {min(unknown)!r}", hint=f"fields are {', '.join(CHOICES)}, max_length"
            )
        return Dialect(**{**self._asdict(), **changes})

    def departures(self) -> tuple[str, dict[str, str | int | None]]:
        """Return the name of the nearest predefined dialect, and the fields that differ from it, with their values."""
        changes = {
            preset: {
                name: choice
                for name, choice, usual in zip(self._fields, self, PRESETS[preset], strict=True)
                if choice != usual
            }
            for preset in PRESETS
        }
        own = self.product.partition(" ")[0]
        nearest = min(changes, key=lambda preset: (len(changes[preset]), PRESETS[preset].product != own))
        return nearest, changes[nearest]

    def __reduce__(self) -> tuple[Any, ...]:
        return departed, self.departures()

    def __repr__(self) -> str:
        """Write the nearest preset and the fields that differ from it."""
        nearest, changes = self.departures()
        if not changes:
            return f"mqsel.{nearest}"
        return f"mqsel.{nearest}.replace({', '.join(f'{name}={value!r}' for name, value in changes.items())})"


PRESETS: "dict[str, Dialect]" = {name: Dialect(**row) for name, row in dialects.PRESETS.items()}
IBM_MQ, IBM_JMS, IBM_JAVA_CLIENT, TIBCO_EMS, JMS, *_BROKERS = PRESETS.values()
ACTIVEMQ, ARTEMIS, QPID_BROKER_J, QPID_CPP, RABBITMQ, RABBITMQ_JMS, ROCKETMQ, AZURE_SERVICE_BUS = _BROKERS


def _document_fields() -> None:
    """Give each field the text that `help` shows: its choices, from the tables."""
    for field, choices in dialects.FIELDS.items():
        lines = [f"{choice!r}: {row.meaning}" for choice, row in choices.items()]
        getattr(_Choices, field).__doc__ = "\n".join(lines)
    _Choices.max_length.__doc__ = "The greatest length of a selector in code points, as an int; None for no limit."


_document_fields()


class Core(NamedTuple):
    """What those behind the front end need to know of a dialect, each on the nodes that it concerns.

    Attributes:
        others: what a test yields for a value of another kind, by its operator, of which NOT is a part; that of a
            condition that is no boolean is empty.
        null: what arithmetic and signs yield for NULL: UNKNOWN, which is NULL again, or ERR.
        between: what BETWEEN and NOT BETWEEN yield for a NULL among their three values; None where their two
            comparisons decide.
        naming: how one property can be spelled: see `mqsel.names.spellings`.
        has_greatest: whether NaN is greater than every number, in comparisons with a constant. A property that is NaN,
            or -0.0, is then an error.
        is_narrow: whether arithmetic follows the rule "narrow" of `mqsel.language.nodes.Arithmetic`.
        is_plain: whether every test is one of the core, as it is parsed.
        is_documented: whether every test has an answer for values of any types.
        answers_all: whether a selector has an answer for every message.
        has_clock: whether a selector may read the time.
    """

    others: Mapping[str, Truth]
    null: Truth
    between: tuple[Truth | None, Truth | None]
    naming: str
    has_greatest: bool
    is_narrow: bool
    is_plain: bool
    is_documented: bool
    answers_all: bool
    has_clock: bool


_Made = TypeVar("_Made")


def kept(make: "Callable[[Dialect], _Made]") -> "Callable[[Dialect], _Made]":
    """Return a function that keeps what it makes of a dialect, by identity, then by equality.

    The hash of a dialect is that of all of its fields: three a selector were 8 % of reading it.
    """
    make = functools.lru_cache(64)(make)
    known: dict[int, tuple[Dialect, _Made]] = {}  # a dialect that is held shares its number with no other

    def of(dialect: "Dialect") -> _Made:
        pair = known.get(id(dialect))
        if pair is None:
            if len(known) >= 64:
                known.clear()
            pair = known[id(dialect)] = dialect, make(dialect)
        return pair[1]

    return functools.wraps(make)(of)


@kept
def core_of(dialect: "Dialect") -> Core:
    """Return what a dialect is behind the front end: of trees, and of programs, which name their dialect alone."""
    mismatch = _MISMATCH[dialect.type_mismatch]
    pairs = {
        ("=", "<>"): mismatch,
        ("IN", "NOT IN"): _IN_MISMATCH.get(dialect.rules.in_mismatch, mismatch),
        ("LIKE", "NOT LIKE"): _LIKE_MISMATCH.get(dialect.rules.like_mismatch, mismatch),
    }
    others = {operator: other for pair, both in pairs.items() for operator, other in zip(pair, both, strict=True)}
    others |= dict.fromkeys(("<", "<=", ">", ">=", "BETWEEN", "NOT BETWEEN"), mismatch[0])
    others[""] = _CONDITION_MISMATCH.get(dialect.rules.condition_mismatch, mismatch[0])
    return Core(
        others,
        _NULL[dialect.null_arithmetic],
        _BETWEEN[dialect.between_null],
        dialect.headers,
        dialect.rules.floats == "total",
        dialect.rules.integers == "narrow",
        all(dialect.choice(name) in plain for name, plain in dialects.PLAIN.items()),
        dialect.type_mismatch != "undocumented",
        dialect.type_mismatch != "undocumented" and dialect.rules.floats != "total",
        dialect.rules.words == "functions",
    )


def departed(preset: str, changes: Mapping[str, Any]) -> "Dialect":
    """Return a preset with other choices in some fields, as `Dialect.departures` wrote them.

    Raises: ArgumentError: no preset of today, no such field or value.
    """
    if preset not in PRESETS:
        raise ArgumentError(f"there is no dialect {shortened(preset)}")
    return PRESETS[preset].replace(**changes) if changes else PRESETS[preset]


def as_dialect(given: "Dialect | str") -> "Dialect":
    """Return the preset of a name, such as JMS or tibco-ems; a dialect as it is.

    Raises: ArgumentError: no dialect, and no name of one.
    """
    if type(given) is Dialect:
        return given
    if not isinstance(given, str):
        raise ArgumentError(
            f"dialect is a Dialect or a name, found {shortened(given)}", hint=f"use mqsel.{', mqsel.'.join(PRESETS)}"
        )
    name = str.__str__(given).upper().replace("-", "_")
    if name not in PRESETS:
        raise ArgumentError(f"there is no dialect {shortened(given)}: choose {', '.join(PRESETS)}")
    return PRESETS[name]
