"""The tables of dialects: the points on which documents or engines disagree, and what each product chose there.

A field is a point, a preset a product; `python mqsel/language/dialects.py` renders language §2 from both. A product
that differs on no new point is one more row of PRESETS; `mqsel.language.dialect` makes the records that code asks.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple


class Choice(NamedTuple):
    """One of the ways in which a field can be read.

    Attributes:
        meaning: what it does.
        source: which document says so, by its short name, with the section or the words; empty where none does.
    """

    meaning: str
    source: str = ""


# The choices of each field, in the order in which programs of formats 1 and 2 number them: append only.
FIELDS: dict[str, dict[str, Choice]] = {
    "type_mismatch": {
        "operation": Choice(
            "a comparison of different types is FALSE",
            'Behavior: "the expression in question"; TIBCO; Jakarta §3.8.1.3',
        ),
        "selector": Choice("a comparison of different types is ERR", 'JMS page: "the selector is always false"'),
        "unknown": Choice("a comparison of different types is UNKNOWN", "Client"),
    },
    "null_arithmetic": {
        "unknown": Choice("arithmetic on NULL is NULL", "SQL-92"),
        "selector": Choice("arithmetic on NULL is ERR", "Syntax and JMS page, Arithmetic operators"),
    },
    "between_null": {
        "literal": Choice("with any NULL, BETWEEN is FALSE and NOT BETWEEN is TRUE", "Syntax and JMS page, BETWEEN"),
        "expand": Choice("with a NULL, the two comparisons of BETWEEN decide"),
    },
    "constant_false": {
        "reject": Choice("a selector that reads no property and is not TRUE is refused (2504)", "Behavior"),
        "accept": Choice("such a selector selects nothing"),
    },
    "whitespace": {
        "unicode": Choice("the list of IBM MQ parts words", "Syntax, White space"),
        "java": Choice("space, tab, form feed, line terminators part words"),
    },
    "identifier_dots": {
        "yes": Choice("a name may hold dots", "Names"),
        "no": Choice("a name holds no dots"),
    },
    "identifier_astral": {
        "no": Choice("a name holds no code point above U+FFFF", "Names, 2442"),
        "yes": Choice("a name may hold code points above U+FFFF"),
    },
    "byte_strings": {
        "yes": Choice('`"0x2F1C"` is a byte string', "Syntax"),
        "no": Choice("there are no byte strings"),
    },
    "hex_octal": {
        "yes": Choice("`0x1A` is hexadecimal, `0177` octal"),
        "no": Choice("all numbers are decimal, with leading zeros too"),
    },
    "float_suffix_on_integer": {
        "no": Choice("`5F` is an error"),
        "yes": Choice("`5F` is a double", "Java §3.10.2"),
    },
    "headers": {
        "mqi": Choice("names are those of IBM MQ: §6", "Names"),
        "jms": Choice("names that begin with JMS are six headers, JMSX… and JMS_…: §6", "JMS page; Jakarta §3.8.1.1"),
        "any": Choice("every identifier is a name: §6"),
    },
    "static_mismatch": {
        "reject": Choice("`=` and `<>` between two constants of different kinds are an error", "suites of JMS brokers"),
        "accept": Choice(
            "two constants of different kinds are a mismatch as any other", "Syntax, JMS page, TIBCO: FALSE, no error"
        ),
    },
    "out_of_range": {
        "reject": Choice("a number that no INT64 or FLOAT64 holds is an error"),
        "accept": Choice(
            "a number that no INT64 or FLOAT64 holds is the nearest finite double",
            'Syntax, Overflow/underflow: "No checks are performed"',
        ),
    },
    "approximate_literals": {
        "plain": Choice("`07.5` is 7.5; hexadecimal ones, underscores: an error", "measured engines"),
        "java": Choice("Java §3.10.2: hexadecimal ones and underscores too, none rounds to zero", "TIBCO, Literals"),
        "no_leading_zero": Choice(
            "`07.5` is an error too", 'Syntax: "always interpreted as being the start of an octal number"'
        ),
    },
    "zero_identifier": {
        "string": Choice("an identifier of 24 zero bytes is a string as any other"),
        "any": Choice("alone, it matches every message: §8", "JMS page"),
    },
    "unequal_sign": {
        "standard": Choice("not equal is written `<>`", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "exclamation": Choice("not equal may be written `!=`, too", "no preset yet"),
    },
    "remainder": {
        "no": Choice("there is no remainder operator", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "yes": Choice("`%` is the remainder, and binds as `*` does", "Java §15.17.3"),
    },
    "not_operand": {
        "predicate": Choice("NOT negates all of a predicate", "Jakarta §3.8.1.1"),
        "primary": Choice("NOT negates what stands next: `NOT a = b` is `(NOT a) = b`", "no preset yet"),
    },
    "quoted_names": {
        "no": Choice("a name is an identifier", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "double": Choice('`"any text"` is a name, with `""` for `"`', "no preset yet"),
    },
    "comments": {
        "no": Choice("there are no comments", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "slashes": Choice("`//` and what follows it in its line are white space", "no preset yet"),
    },
    "text_numbers": {
        "never": Choice("a text is no number", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "compared": Choice("beside numbers a property whose text is a number is that number: §5", "no preset yet"),
    },
    "null_equality": {
        "unknown": Choice("`=` and `<>` with a NULL are UNKNOWN", "Syntax; TIBCO; Jakarta §3.8.1.2"),
        "left": Choice(
            "NULL is equal to NULL alone where it stands on the right; on the left, beside a value, it is UNKNOWN"
        ),
        "value": Choice("NULL is equal to NULL alone"),
    },
}
# The field whose choices are no words.
LENGTH = "max_length"
_LENGTH = Choice("longest text in code points, or None", "IBM_MQ: MQ_SELECTOR_LENGTH")

# Documents by their short names, as language §2 to §8 cite them.
SOURCES: dict[str, str] = {
    "Syntax": (
        "IBM MQ 9.4, [Message selector syntax]"
        "(https://www.ibm.com/docs/en/SSFKSJ_9.2.0/com.ibm.mq.dev.doc/q023010_.html)"
    ),
    "JMS page": (
        "IBM MQ 9.4, [Message selectors in JMS]"
        "(https://www.ibm.com/docs/en/ibm-mq/9.1?topic=messages-message-selectors-in-jms)"
    ),
    "Behavior": (
        "IBM MQ 9.4, [Selection behavior]"
        "(https://www.ibm.com/support/knowledgecenter/SSFKSJ_8.0.0/com.ibm.mq.dev.doc/q023000_.htm)"
    ),
    "Rules": (
        "IBM MQ 9.4, Selection string rules and restrictions; UTF-8 and Unicode considerations when using message "
        "selectors"
    ),
    "Names": "IBM MQ 9.4, Property names; Property name restrictions; reason code 2442 MQRC_PROPERTY_NAME_ERROR",
    "Fields": "IBM MQ 9.4, Message descriptor fields as properties",
    "TIBCO": "TIBCO Enterprise Message Service, User Guide, Message Selectors",
    "Jakarta": (
        "[Jakarta Messaging 3.1](https://jakarta.ee/specifications/messaging/3.1/jakarta-messaging-spec-3.1.html), "
        "§3.8.1 Message selector"
    ),
    "Java": (
        "The Java Language Specification, §3.8 identifiers, §3.10 literals, §5.6 numeric promotion, §15.17 to 15.20 "
        "operators; Java SE, java.lang.Long.parseLong, java.lang.Double.parseDouble"
    ),
    "Client": (
        "the selector engine inside IBM's Java client 9.4.1, which selects on the client's side in its compatibility "
        "mode: not documented, measured as a black box"
    ),
}

# What Jakarta's words choose, and in what products depart from them.
JAKARTA: dict[str, Any] = {
    "type_mismatch": "operation",
    "null_arithmetic": "unknown",
    "between_null": "expand",
    "constant_false": "accept",
    "whitespace": "java",
    "identifier_dots": "no",
    "identifier_astral": "yes",
    "byte_strings": "no",
    "hex_octal": "yes",
    "float_suffix_on_integer": "yes",
    "headers": "jms",
    "static_mismatch": "reject",
    "out_of_range": "reject",
    "approximate_literals": "plain",
    "zero_identifier": "string",
    "unequal_sign": "standard",
    "remainder": "no",
    "not_operand": "predicate",
    "quoted_names": "no",
    "comments": "no",
    "text_numbers": "never",
    "null_equality": "unknown",
    LENGTH: None,
}
PRESETS: dict[str, dict[str, Any]] = {
    "IBM_MQ": {
        "null_arithmetic": "selector",
        "between_null": "literal",
        "constant_false": "reject",
        "whitespace": "unicode",
        "identifier_dots": "yes",
        "identifier_astral": "no",
        "byte_strings": "yes",
        "float_suffix_on_integer": "no",
        "headers": "mqi",
        "static_mismatch": "accept",
        "out_of_range": "accept",
        "approximate_literals": "no_leading_zero",
        "zero_identifier": "any",
        LENGTH: 10_240,
    },
    "IBM_JMS": {
        "type_mismatch": "selector",
        "null_arithmetic": "selector",
        "between_null": "literal",
        "float_suffix_on_integer": "no",
        "static_mismatch": "accept",
        "zero_identifier": "any",
    },
    "IBM_JAVA_CLIENT": {"type_mismatch": "unknown", "headers": "any", "zero_identifier": "any"},
    "TIBCO_EMS": {
        "hex_octal": "no",
        "headers": "any",
        "static_mismatch": "accept",
        "approximate_literals": "java",
    },
    "JMS": {},
}


def reading(field: str, choice: str | int | None) -> tuple[str, str]:
    """Return what a choice of a field means, and which presets and documents choose it, with the titles of these."""
    made = _LENGTH if field == LENGTH else FIELDS[field][str(choice)]
    # [title](address); a list of titles, or of sections, is cut.
    titles = {
        short: re.split(r"; |, §", re.sub(r"\[(.*?)\]\(.*?\)", r"\1", text))[0] for short, text in SOURCES.items()
    }
    said = re.sub(rf"\b({'|'.join(titles)})\b", lambda short: titles[short[1]], made.source)
    source = ", ".join(_presets(field, choice))
    return made.meaning.replace("`", ""), f"{source} ({said})" if source and said else source or said


def _presets(field: str, choice: str | int | None) -> list[str]:
    return [name for name, row in PRESETS.items() if {**JAKARTA, **row}[field] == choice]


def render_sources() -> str:
    """Return the table of documents, as the README of this folder shows it."""
    rows = ["| short | document |", "|---|---|", *[f"| {short} | {document} |" for short, document in SOURCES.items()]]
    return "\n".join(rows) + "\n"


def render_fields() -> str:
    """Return the table of fields, as the README of this folder shows it."""
    rows = ["| field | choice | presets | source |", "|---|---|---|---|"]
    for field, choices in FIELDS.items():
        name = f"`{field}`"
        for choice, made in choices.items():
            rows.append(
                f"| {name} | `{choice}`: {made.meaning} | {', '.join(_presets(field, choice))} | {made.source} |"
            )
            name = ""
    limits = [f"{row[LENGTH]:,} in {name}" for name, row in PRESETS.items() if LENGTH in row]
    rows.append(f"| `{LENGTH}` | {_LENGTH.meaning} | {', '.join(limits)} | {_LENGTH.source} |")
    return "\n".join(rows).replace("|  |", "| |") + "\n"


# What is rendered into the README, by the line above it; an empty line ends it.
RENDERED = {
    "<!-- documents: generated by python mqsel/language/dialects.py -->\n": render_sources,
    "<!-- fields: generated by python mqsel/language/dialects.py -->\n": render_fields,
}


def _main() -> None:
    readme = Path(__file__).with_name("README.md")
    text = readme.read_text(encoding="utf-8")
    for marker, render in RENDERED.items():
        head, _, rest = text.partition(marker)
        text = head + marker + "\n" + render() + rest[rest.index("\n\n", 1) + 1 :]
    readme.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    _main()
