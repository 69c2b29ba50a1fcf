"""The tables of dialects: the points on which documents or engines disagree, and what each product chose there.

A field is a point, a preset a product; `python tests/tables_of_dialects.py` renders language §2 from both, and from
`mqsel.language.products`, where each product stands that does more than its documents' choices among these fields.
"""

import re
from typing import Any

from mqsel.language.product import Choice
from mqsel.language.products import NO_PRODUCT, PRODUCTS, RULES, rules_of

# The choices of each field, in the order in which programs of formats 1 and 2 number them: append only.
FIELDS: dict[str, dict[str, Choice]] = {
    "type_mismatch": {
        "operation": Choice(
            "a comparison of different types (a type mismatch) is FALSE",
            'Behavior: "the expression in question"; TIBCO; Jakarta §3.8.1.3',
        ),
        "selector": Choice(
            "a comparison of different types (a type mismatch) is ERR", 'JMS page: "the selector is always false"'
        ),
        "unknown": Choice("a comparison of different types (a type mismatch) is UNKNOWN", "Client"),
        "negated": Choice(
            "for different types, `=` is FALSE, `<>` is TRUE, and `<`, `<=`, `>` and `>=` are FALSE",
            "ActiveMQ; Artemis; Broker-J; RabbitMQ filter; RocketMQ",
        ),
        "undocumented": Choice(
            "the documentation doesn't define the result of a comparison of different types, so mqsel "
            "returns no result",
            "Service Bus: no rule",
        ),
        "ordered": Choice(
            "for different types, `=` is FALSE and `<>` is TRUE; numbers are less than booleans, and "
            "booleans less than strings",
            "sjx_evaluator.erl",
        ),
    },
    "null_arithmetic": {
        "unknown": Choice("arithmetic on NULL is NULL", "SQL-92"),
        "selector": Choice("arithmetic on NULL is ERR", "Syntax and JMS page, Arithmetic operators"),
    },
    "between_null": {
        "literal": Choice(
            "if one value is NULL, BETWEEN is FALSE and NOT BETWEEN is TRUE", "Syntax and JMS page, BETWEEN"
        ),
        "expand": Choice(
            "BETWEEN is the same as its two comparisons, also if a value is NULL",
            'Jakarta §3.8.1.1: "is equivalent to"',
        ),
        "unknown": Choice(
            "if one value is NULL, BETWEEN and NOT BETWEEN are UNKNOWN; otherwise NOT BETWEEN is the "
            "opposite of BETWEEN",
            "qpid-cpp; sjx_evaluator.erl",
        ),
    },
    "constant_false": {
        "reject": Choice("a selector that reads no property and isn't TRUE is an error (2504)", "Behavior"),
        "accept": Choice(
            "a selector that reads no property and isn't TRUE matches no message", "Jakarta §3.8.1: no such rule"
        ),
    },
    "whitespace": {
        "unicode": Choice("words are separated by the white space that IBM MQ lists", "Syntax, White space"),
        "java": Choice("words are separated by spaces, tabs, form feeds and line terminators", "Jakarta §3.8.1.1"),
        "vertical_tab": Choice(
            "words are separated by spaces, tabs, form feeds, line terminators and vertical tabs",
            "qpid-cpp; RabbitMQ client",
        ),
    },
    "identifier_dots": {
        "yes": Choice("names may contain dots", "Names; qpid-cpp"),
        "no": Choice("names can't contain dots", "Jakarta §3.8.1.1; Java §3.8"),
        "sections": Choice("`h.priority`, `p.subject` and `a.name` name a section of the message", "RabbitMQ filter"),
        "scopes": Choice("`sys.` and `user.` name a scope; without a scope, a name is in `user`", "Service Bus"),
    },
    "identifier_astral": {
        "no": Choice("names can't contain characters above U+FFFF", "Names, 2442"),
        "yes": Choice("names may contain characters above U+FFFF", "Jakarta §3.8.1.1; Java §3.8"),
    },
    "byte_strings": {
        "yes": Choice('`"0x2F1C"` is a byte string', "Syntax"),
        "no": Choice("there are no byte strings", "Jakarta §3.8.1.1"),
        "unquoted": Choice(
            "`0x2F1C` (in uppercase) is a byte string, and is compared with strings by their UTF-8 bytes",
            "RabbitMQ filter",
        ),
    },
    "hex_octal": {
        "yes": Choice("`0x1A` is hexadecimal and `0177` is octal", "Syntax; Jakarta §3.8.1.1; Java §3.10"),
        "no": Choice("all numbers are decimal, also with leading zeros", "TIBCO names no others"),
    },
    "float_suffix_on_integer": {
        "no": Choice("`5F` is an error", "Syntax and JMS page, Literals"),
        "yes": Choice("`5F` is a double", "Java §3.10.2"),
    },
    "headers": {
        "mqi": Choice("names follow the rules of IBM MQ (§6)", "Names"),
        "jms": Choice("only six headers, JMSX… and JMS_… names may begin with JMS (§6)", "JMS page; Jakarta §3.8.1.1"),
        "any": Choice(
            "every identifier is a name (§6)",
            "Client; TIBCO; ActiveMQ; Artemis; Broker-J; qpid-cpp; RabbitMQ client; RocketMQ",
        ),
        "sections": Choice(
            "every identifier is a name; `p.` and `properties.` name the same AMQP section, and so do "
            "`h.` and `header.` (§6)",
            "RabbitMQ filter",
        ),
        "folded": Choice("every identifier is a name, and names are case-insensitive (§6)", "Service Bus"),
    },
    "static_mismatch": {
        "reject": Choice("`=` and `<>` between two constants of different types are an error", "suites of JMS brokers"),
        "accept": Choice(
            "two constants of different types are a type mismatch, as properties are",
            "Syntax, JMS page, TIBCO: FALSE, no error",
        ),
    },
    "out_of_range": {
        "reject": Choice("a number outside the range of INT64 or FLOAT64 is an error", "Java §3.10"),
        "accept": Choice(
            "a number outside the range of INT64 or FLOAT64 becomes the nearest finite double",
            'Syntax, Overflow/underflow: "No checks are performed"',
        ),
    },
    "approximate_literals": {
        "plain": Choice(
            "`07.5` is 7.5; hexadecimal floating-point numbers and underscores are errors", "measured engines"
        ),
        "java": Choice(
            "floating-point numbers follow Java: hexadecimal ones and underscores are allowed, and no "
            "number may round to zero",
            "TIBCO, Literals",
        ),
        "no_leading_zero": Choice(
            "`07.5`, hexadecimal floating-point numbers and underscores are errors",
            'Syntax: "always interpreted as being the start of an octal number"',
        ),
    },
    "zero_identifier": {
        "string": Choice(
            "a message identifier of 24 zero bytes is an ordinary string", "TIBCO; Jakarta §3.8.1: no such rule"
        ),
        "any": Choice(
            "a message identifier of 24 zero bytes, if it is the whole selector, matches every message (§8)", "JMS page"
        ),
    },
    "product": {
        NO_PRODUCT: Choice("selectors follow JMS and the other fields", "Jakarta §3.8"),
        **{
            name.lower(): Choice(f"besides, the rules of {name}: §2", "; ".join(row.sources))
            for name, row in PRODUCTS.items()
        },
    },
}
# For each field and rule that has them, the choices with which every test is one of the core as it is parsed.
_FIRST_IS_PLAIN = """text_numbers null_equality connectives ordering arithmetic_mismatch in_mismatch like_mismatch
condition_mismatch integers division floats mixed_numbers narrow_types like_escapes like_units like_lines numbers
like_operands null_operand escape null_value static_types"""
PLAIN: dict[str, tuple[str, ...]] = {
    "type_mismatch": ("operation", "selector", "unknown"),
    "between_null": ("literal", "expand"),
    "byte_strings": ("yes", "no"),
    **{rule: tuple(RULES[rule])[:1] for rule in _FIRST_IS_PLAIN.split()},
    "in_operands": ("name", "enclosed"),
    "words": ("jms", "xpath", "not_null"),
}
# The field whose choices are no words.
LENGTH = "max_length"
OF_LENGTH = Choice(
    "maximum length of a selector in code points, or None",
    "IBM_MQ: MQ_SELECTOR_LENGTH; RABBITMQ: RabbitMQ filter; AZURE: Service Bus",
)

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
    "Fields": (
        "IBM MQ 9.4, [Message descriptor fields as properties]"
        "(https://www.ibm.com/support/knowledgecenter/SSFKSJ_9.4.0/develop/q022960_.html)"
    ),
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
    **{short: text for product in PRODUCTS.values() for short, text in product.sources.items()},
}

# What Jakarta's words choose, and in what products depart from them: mostly the first choice.
JAKARTA: dict[str, Any] = {
    **{field: next(iter(choices)) for field, choices in FIELDS.items()},
    "between_null": "expand",
    "constant_false": "accept",
    "whitespace": "java",
    "identifier_dots": "no",
    "identifier_astral": "yes",
    "byte_strings": "no",
    "float_suffix_on_integer": "yes",
    "headers": "jms",
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
    **{name: {**row.fields, "product": name.lower()} for name, row in PRODUCTS.items()},
}


def reading(field: str, choice: str | int | None) -> tuple[str, str]:
    """Return what a choice of a field or a rule means, and which presets and documents choose it, with their titles."""
    row = OF_LENGTH if field == LENGTH else {**FIELDS, **RULES}[field][str(choice)]
    # [title](address); a list of titles, or of sections, is cut.
    titles = {
        short: re.split(r"; |, §", re.sub(r"\[(.*?)\]\(.*?\)", r"\1", text))[0] for short, text in SOURCES.items()
    }
    cited = re.sub(rf"\b({'|'.join(titles)})\b", lambda short: titles[short[1]], row.source)
    source = ", ".join(presets_with(field, choice))
    return row.meaning.replace("`", ""), f"{source} ({cited})" if source and cited else source or cited


def choices_of(preset: str) -> dict[str, Any]:
    """Return what a preset chooses, by the names of fields and of rules."""
    row = {**JAKARTA, **PRESETS[preset]}
    return row | rules_of(row["product"])._asdict()


def presets_with(field: str, choice: str | int | None) -> list[str]:
    """List the presets that have a choice of a field or a rule."""
    return [name for name in PRESETS if choices_of(name)[field] == choice]
