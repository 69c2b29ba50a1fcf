"""Dialects: one field for each point on which documents or engines disagree, and presets for known engines.

A dialect is data. Code asks it for a field, never for its name. Follows language §2.
"""

from __future__ import annotations

from operator import attrgetter, contains
from typing import Any, NamedTuple

from mqsel.errors import ArgumentError, shortened
from mqsel.values import Truth

# Allowed values of each field, in the order in which a program numbers them: append only.
CHOICES: dict[str, tuple[str, ...]] = {
    "type_mismatch": ("operation", "selector", "unknown"),
    "null_arithmetic": ("unknown", "selector"),
    "between_null": ("literal", "expand"),
    "constant_false": ("reject", "accept"),
    "whitespace": ("unicode", "java"),
    "identifier_dots": ("yes", "no"),
    "identifier_astral": ("no", "yes"),
    "byte_strings": ("yes", "no"),
    "hex_octal": ("yes", "no"),
    "float_suffix_on_integer": ("no", "yes"),
    "headers": ("mqi", "jms", "any"),
    "static_mismatch": ("reject", "accept"),
    "out_of_range": ("reject", "accept"),
    "approximate_literals": ("plain", "java", "no_leading_zero"),
    "zero_identifier": ("string", "any"),
}
# The fields that dialects had in 0.2.0, and what the others say of what it wrote.
FIELDS_1 = tuple(CHOICES)[:11]
SINCE_1 = {
    "static_mismatch": "reject",
    "out_of_range": "reject",
    "approximate_literals": "plain",
    "zero_identifier": "any",
}
# What a type mismatch is, by `type_mismatch`.
MISMATCH = {"operation": Truth.FALSE, "selector": Truth.ERR, "unknown": Truth.UNKNOWN}
_CHOSEN = attrgetter(*CHOICES)


class _Choices(NamedTuple):
    """The fields of a dialect. A dataclass would do, if importing those did not take a fifth of the time of a start."""

    type_mismatch: str = "operation"
    null_arithmetic: str = "unknown"
    between_null: str = "expand"
    constant_false: str = "accept"
    whitespace: str = "java"
    identifier_dots: str = "no"
    identifier_astral: str = "yes"
    byte_strings: str = "no"
    hex_octal: str = "yes"
    float_suffix_on_integer: str = "yes"
    headers: str = "jms"
    max_length: int | None = None
    # What follows was not there in 0.2.0, whose pickles have the fields before it.
    static_mismatch: str = "reject"
    out_of_range: str = "reject"
    approximate_literals: str = "plain"
    zero_identifier: str = "string"


class Dialect(_Choices):
    """A set of language choices. Language §2 says which preset makes which choice, and by which source.

    Attributes:
        type_mismatch: a comparison of different types is FALSE (``operation``), makes the complete selector false
            (``selector``), or is UNKNOWN (``unknown``).
        null_arithmetic: arithmetic on NULL is NULL (``unknown``) or makes the complete selector false (``selector``).
        between_null: with a NULL, BETWEEN is FALSE and NOT BETWEEN TRUE (``literal``), or the comparisons that they
            stand for decide (``expand``).
        constant_false: a selector that reads no property and is not TRUE: ``reject`` (2504) or ``accept``.
        whitespace: ``unicode`` (the list of IBM MQ) or ``java`` (SP HT FF CR LF).
        identifier_dots: ``yes`` or ``no``.
        identifier_astral: ``no`` (code points above U+FFFF are refused in names) or ``yes``.
        byte_strings: ``yes`` (``"0x2F1C"``) or ``no``.
        hex_octal: ``yes`` or ``no`` (leading zeros are decimal).
        float_suffix_on_integer: ``no`` or ``yes`` (``5F`` is a double).
        headers: ``mqi`` (names of IBM MQ), ``jms`` (six headers, JMSX…, JMS_…) or ``any``: language §6.
        static_mismatch: ``=`` and ``<>`` between two constants of different kinds: ``reject`` or ``accept`` (a type
            mismatch as any other).
        out_of_range: a number that no INT64 or FLOAT64 holds: ``reject`` or ``accept`` (the nearest double).
        approximate_literals: ``plain``, ``java`` (hexadecimal ones and underscores too, none that rounds to zero) or
            ``no_leading_zero`` (``07.5`` is refused).
        zero_identifier: what an identifier of 24 zero bytes is, alone: a ``string`` or ``any`` message's (language §8).
        max_length: longest selector in code points, or None.
    """

    __slots__ = ()

    def __new__(cls, *choices: Any, **named: Any) -> Dialect:
        if len(choices) == len(FIELDS_1) + 1:
            named = {**SINCE_1, **named}
        self = super().__new__(cls, *choices, **named)
        self.check()
        return self

    def check(self) -> None:
        """Look at the choices.

        Raises: ArgumentError: one cannot be.
        """
        chosen = _CHOSEN(self)
        if not all(map(contains, CHOICES.values(), chosen)):  # every program that is loaded has its dialect checked
            for (name, allowed), choice in zip(CHOICES.items(), chosen, strict=True):
                if choice not in allowed:
                    expected = " or ".join(map(repr, allowed))
                    raise ArgumentError(f"dialect field {name} is {choice!r}: expected {expected}")
        limit = self.max_length
        if limit is not None and (type(limit) is not int or not 0 < limit < 1 << 32):
            raise ArgumentError(f"dialect field max_length is {limit!r}: expected a positive integer or None")

    def replace(self, **changes: Any) -> Dialect:
        """Give the same dialect with other choices in some fields.

        Raises: ArgumentError: no such field or value.
        """
        unknown = changes.keys() - set(self._fields)
        if unknown:
            raise ArgumentError(
                f"a dialect has no field {min(unknown)!r}", hint=f"fields are {', '.join(CHOICES)}, max_length"
            )
        return Dialect(**{**self._asdict(), **changes})

    def __repr__(self) -> str:
        """Write the nearest preset and the fields that differ from it."""
        changes = {
            preset: {
                name: choice
                for name, choice, usual in zip(self._fields, self, PRESETS[preset], strict=True)
                if choice != usual
            }
            for preset in PRESETS
        }
        nearest = min(changes, key=lambda preset: len(changes[preset]))
        if not changes[nearest]:
            return f"mqsel.{nearest}"
        return f"mqsel.{nearest}.replace({', '.join(f'{name}={value!r}' for name, value in changes[nearest].items())})"


JMS = Dialect()
TIBCO_EMS = Dialect(hex_octal="no", headers="any", static_mismatch="accept", approximate_literals="java")
IBM_JMS = Dialect(
    type_mismatch="selector",
    null_arithmetic="selector",
    between_null="literal",
    float_suffix_on_integer="no",
    static_mismatch="accept",
    zero_identifier="any",
)
IBM_MQ = Dialect(
    null_arithmetic="selector",
    between_null="literal",
    constant_false="reject",
    whitespace="unicode",
    identifier_dots="yes",
    identifier_astral="no",
    byte_strings="yes",
    float_suffix_on_integer="no",
    headers="mqi",
    static_mismatch="accept",
    out_of_range="accept",
    approximate_literals="no_leading_zero",
    zero_identifier="any",
    max_length=10240,
)

IBM_JAVA_CLIENT = Dialect(type_mismatch="unknown", headers="any", zero_identifier="any")

PRESETS: dict[str, Dialect] = {
    "IBM_MQ": IBM_MQ,
    "IBM_JMS": IBM_JMS,
    "IBM_JAVA_CLIENT": IBM_JAVA_CLIENT,
    "TIBCO_EMS": TIBCO_EMS,
    "JMS": JMS,
}


def as_dialect(given: Dialect | str) -> Dialect:
    """Give the preset of a name, such as JMS or tibco-ems; a dialect as it is.

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
