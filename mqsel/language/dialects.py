"""The tables of dialects: the points on which documents or engines disagree, and what each product chose there.

A field is a point, a preset a product; `python mqsel/language/dialects.py` renders language §2 from both. A product
that differs on no new point is one more row of PRESETS; `mqsel.language.dialect` makes the records that code asks.
"""

import re
from typing import Any, NamedTuple


class Choice(NamedTuple):
    """One of the ways in which a field can be read.

    Attributes:
        meaning: what it does.
        source: which document says so, by its short name, with the section or the words; or which engine does.
    """

    meaning: str
    source: str


# The choices of each field, in the order in which programs of formats 1 and 2 number them: append only.
FIELDS: dict[str, dict[str, Choice]] = {
    "type_mismatch": {
        "operation": Choice(
            "a comparison of different types is FALSE",
            'Behavior: "the expression in question"; TIBCO; Jakarta §3.8.1.3',
        ),
        "selector": Choice("a comparison of different types is ERR", 'JMS page: "the selector is always false"'),
        "unknown": Choice("a comparison of different types is UNKNOWN", "Client"),
        "negated": Choice(
            "of different types `=` is FALSE and `<>` TRUE, and neither comes before the other",
            "ActiveMQ; Artemis; Broker-J; RabbitMQ filter; RocketMQ",
        ),
        "undocumented": Choice(
            "what a comparison of different types yields is not documented: there is no answer", "Service Bus: no rule"
        ),
        "ordered": Choice(
            "of different types `=` is FALSE and `<>` TRUE; a number comes before a boolean, a boolean before a string",
            "sjx_evaluator.erl",
        ),
    },
    "null_arithmetic": {
        "unknown": Choice("arithmetic on NULL is NULL", "SQL-92"),
        "selector": Choice("arithmetic on NULL is ERR", "Syntax and JMS page, Arithmetic operators"),
    },
    "between_null": {
        "literal": Choice("with any NULL, BETWEEN is FALSE and NOT BETWEEN is TRUE", "Syntax and JMS page, BETWEEN"),
        "expand": Choice("with a NULL, the two comparisons of BETWEEN decide", 'Jakarta §3.8.1.1: "is equivalent to"'),
        "unknown": Choice(
            "with any NULL both are UNKNOWN, and NOT BETWEEN is what BETWEEN is not", "qpid-cpp; sjx_evaluator.erl"
        ),
    },
    "constant_false": {
        "reject": Choice("a selector that reads no property and is not TRUE is refused (2504)", "Behavior"),
        "accept": Choice("such a selector selects nothing", "Jakarta §3.8.1: no such rule"),
    },
    "whitespace": {
        "unicode": Choice("the list of IBM MQ parts words", "Syntax, White space"),
        "java": Choice("space, tab, form feed, line terminators part words", "Jakarta §3.8.1.1"),
        "vertical_tab": Choice("vertical tab parts words, too", "qpid-cpp; RabbitMQ client"),
    },
    "identifier_dots": {
        "yes": Choice("a name may hold dots", "Names; qpid-cpp"),
        "no": Choice("a name holds no dots", "Jakarta §3.8.1.1; Java §3.8"),
        "sections": Choice("`h.priority`, `p.subject` and `a.name` name a section of the message", "RabbitMQ filter"),
        "scopes": Choice("`sys.` and `user.` name a scope, `user` if none is written", "Service Bus"),
    },
    "identifier_astral": {
        "no": Choice("a name holds no code point above U+FFFF", "Names, 2442"),
        "yes": Choice("a name may hold code points above U+FFFF", "Jakarta §3.8.1.1; Java §3.8"),
    },
    "byte_strings": {
        "yes": Choice('`"0x2F1C"` is a byte string', "Syntax"),
        "no": Choice("there are no byte strings", "Jakarta §3.8.1.1"),
        "unquoted": Choice(
            "`0x2F1C` is a byte string, in capitals, which compares with strings as their UTF-8", "RabbitMQ filter"
        ),
    },
    "hex_octal": {
        "yes": Choice("`0x1A` is hexadecimal, `0177` octal", "Syntax; Jakarta §3.8.1.1; Java §3.10"),
        "no": Choice("all numbers are decimal, with leading zeros too", "TIBCO names no others"),
    },
    "float_suffix_on_integer": {
        "no": Choice("`5F` is an error", "Syntax and JMS page, Literals"),
        "yes": Choice("`5F` is a double", "Java §3.10.2"),
    },
    "headers": {
        "mqi": Choice("names are those of IBM MQ: §6", "Names"),
        "jms": Choice("names that begin with JMS are six headers, JMSX… and JMS_…: §6", "JMS page; Jakarta §3.8.1.1"),
        "any": Choice(
            "every identifier is a name: §6",
            "Client; TIBCO; ActiveMQ; Artemis; Broker-J; qpid-cpp; RabbitMQ client; RocketMQ",
        ),
        "sections": Choice(
            "likewise; `p.` and `properties.`, `h.` and `header.` are one section of AMQP: §6", "RabbitMQ filter"
        ),
        "folded": Choice("likewise; names that differ in case alone are one: §6", "Service Bus"),
    },
    "static_mismatch": {
        "reject": Choice("`=` and `<>` between two constants of different kinds are an error", "suites of JMS brokers"),
        "accept": Choice(
            "two constants of different kinds are a mismatch as any other", "Syntax, JMS page, TIBCO: FALSE, no error"
        ),
    },
    "out_of_range": {
        "reject": Choice("a number that no INT64 or FLOAT64 holds is an error", "Java §3.10"),
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
        "string": Choice(
            "an identifier of 24 zero bytes is a string as any other", "TIBCO; Jakarta §3.8.1: no such rule"
        ),
        "any": Choice("alone, it matches every message: §8", "JMS page"),
    },
    "unequal_sign": {
        "standard": Choice("not equal is written `<>`", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "exclamation": Choice("not equal may be written `!=`, too", "RabbitMQ filter; Service Bus"),
    },
    "remainder": {
        "no": Choice("there is no remainder operator", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "yes": Choice("`%` is the remainder, and binds as `*` does", "Java §15.17.3"),
    },
    "not_operand": {
        "predicate": Choice("NOT negates all of a predicate", "Jakarta §3.8.1.1"),
        "primary": Choice("NOT negates what stands next: `NOT a = b` is `(NOT a) = b`", "ActiveMQ; Artemis; RocketMQ"),
        "anywhere": Choice("NOT negates all of a predicate, and stands also where a value does", "Broker-J"),
        "once": Choice("NOT negates all of a predicate, and no other NOT", "RabbitMQ client"),
    },
    "quoted_names": {
        "no": Choice("a name is an identifier", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "double": Choice('`"any text"` is a name, with `""` for `"`', "Artemis; Broker-J; qpid-cpp"),
        "brackets": Choice("`[any text]` is a name, with `[[` for `[` and `]]` for `]`", "RabbitMQ filter"),
        "both": Choice('`"any text"` and `[any text]` are names', "Service Bus"),
    },
    "comments": {
        "no": Choice("there are no comments", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "dashes": Choice(
            "`--` to the end of its line, and `/* */`, are white space", "ActiveMQ; Artemis; Broker-J; RocketMQ"
        ),
    },
    "text_numbers": {
        "never": Choice("a text is no number", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "read": Choice(
            "each property is a text, read as the type of what stands beside it; ERR if that fails", "RocketMQ"
        ),
    },
    "null_equality": {
        "unknown": Choice("`=` and `<>` with a NULL are UNKNOWN", "Syntax; TIBCO; Jakarta §3.8.1.2"),
        "left": Choice(
            "a NULL on the right is equal to NULL alone; beside a value, one on the left is UNKNOWN; behind one on the "
            "left of `<` and its like nothing is computed",
            "ActiveMQ; Artemis; RocketMQ",
        ),
        "value": Choice(
            "NULL is equal to NULL alone; behind one on the left of `<` and its like nothing is computed", "Broker-J"
        ),
        "skipped": Choice("a test with a NULL is UNKNOWN; behind one on the left nothing is computed", "qpid-cpp"),
    },
    "connectives": {
        "kleene": Choice("AND and OR are those of Kleene, and end where they are decided", "SQL-92"),
        "eager": Choice("both sides are evaluated, and ERR of either is ERR", "sjx_evaluator.erl"),
        "first": Choice("AND is its first operand that is not TRUE, OR its first that is; else the last", "Broker-J"),
        "matched": Choice(
            "those of Kleene; but an AND under no NOT ends at UNKNOWN, too, if something behind its first operand can "
            "be ERR",
            "ActiveMQ; Artemis",
        ),
    },
    "ordering": {
        "numbers": Choice("`<` and its like compare numbers; of anything else they are a mismatch", "Syntax; Jakarta"),
        "texts": Choice("`<` and its like compare strings and byte strings by their bytes, too", "RabbitMQ filter"),
        "all": Choice(
            "`<` and its like compare strings by UTF-16 code units, and booleans, too",
            "ActiveMQ; Artemis; Broker-J; RocketMQ",
        ),
    },
    "arithmetic_mismatch": {
        "comparison": Choice("arithmetic on anything but numbers compares with nothing", "Jakarta §3.8.1.3"),
        "unknown": Choice("arithmetic on anything but numbers is NULL", "qpid-cpp; RabbitMQ filter; RocketMQ"),
        "error": Choice("arithmetic on anything but numbers is ERR", "sjx_evaluator.erl"),
        "joined": Choice(
            "arithmetic on anything but numbers is ERR, but a string + anything is both texts, joined",
            "ActiveMQ; Artemis; Broker-J",
        ),
    },
    "in_mismatch": {
        "comparison": Choice("IN compares by `=`, and NOT IN by `<>`", "Jakarta §3.8.1.1"),
        "unknown": Choice(
            "IN and NOT IN of anything but a string are UNKNOWN", "ActiveMQ; Artemis; Broker-J; RocketMQ"
        ),
        "listed": Choice("NOT IN that is TRUE is FALSE if any value of the list is of another type", "qpid-cpp"),
    },
    "like_mismatch": {
        "comparison": Choice("LIKE and NOT LIKE of anything but a string are mismatches", "Jakarta §3.8.1.1"),
        "negated": Choice(
            "LIKE of anything but a string is FALSE, NOT LIKE is TRUE", "ActiveMQ; Artemis; Broker-J; RocketMQ"
        ),
        "unknown": Choice("LIKE and NOT LIKE of anything but a string are UNKNOWN", "qpid-cpp; RabbitMQ filter"),
        "error": Choice("LIKE and NOT LIKE of anything but a string are ERR", "sjx_evaluator.erl"),
    },
    "condition_mismatch": {
        "comparison": Choice("a condition that is no boolean is a mismatch", "Jakarta §3.8.1.1"),
        "false": Choice("a condition that is no boolean is FALSE", "RocketMQ"),
        "unknown": Choice("a condition that is no boolean is UNKNOWN", "qpid-cpp; RabbitMQ filter; sjx_evaluator.erl"),
    },
    "integers": {
        "java": Choice("literals are INT64; results have the wider type of both operands", "Java §5.6"),
        "narrow": Choice(
            "literals that INT32 holds are INT32; floats are computed as doubles",
            "ActiveMQ; Artemis; Broker-J; RocketMQ",
        ),
        "long": Choice("all are INT64, and all approximate numbers FLOAT64", "qpid-cpp; Service Bus"),
        "unbounded": Choice(
            "integers have no bounds; all approximate numbers are FLOAT64", "RabbitMQ filter; sjx_evaluator.erl"
        ),
    },
    "division": {
        "java": Choice("integers are divided to integers; by zero it is ERR", "Java §15.17.2"),
        "ieee": Choice(
            "`/` and `%` are of doubles: by zero an infinity or NaN", "ActiveMQ; Artemis; Broker-J; RocketMQ"
        ),
        "unknown": Choice("`/` is of doubles, `%` of integers; by zero both are NULL", "RabbitMQ filter"),
        "word": Choice("`/` is of doubles; by zero the result is a word, which is no number", "sjx_evaluator.erl"),
    },
    "floats": {
        "ieee": Choice("NaN equals nothing, 0.0 and -0.0 are equal", "Java §15.20"),
        "total": Choice("NaN equals NaN and is greater than all else, -0.0 is less than 0.0", "Java, Double.compareTo"),
    },
    "mixed_numbers": {
        "double": Choice("an integer beside a double is compared as a double", "Java §5.6"),
        "exact": Choice(
            "an integer and a double are compared by their exact values", "RabbitMQ filter; sjx_evaluator.erl"
        ),
    },
    "narrow_types": {
        "promoted": Choice("INT8 and INT16 are promoted as any integer", "Java §5.6"),
        "gaps": Choice(
            "an INT8 or INT16 on the right of a wider type is a mismatch; with a minus sign it is ERR",
            "Artemis; Broker-J",
        ),
        "casts": Choice(
            "an INT8 or INT16 on the right of a wider type is a mismatch; with a minus sign it is ERR, and so is a "
            "FLOAT32 on the right of a double",
            "ActiveMQ",
        ),
    },
    "like_escapes": {
        "wildcards": Choice("the escape stands for itself before anything but `%`, `_` and itself", "Syntax; TIBCO"),
        "wild": Choice(
            "the escape stands for itself before anything but `%`, `_` and itself, and is a wildcard there if it is "
            "one",
            "ActiveMQ; Artemis",
        ),
        "any": Choice(
            "what follows the escape stands for itself; an escape at the end is no escape",
            "RabbitMQ filter; sjx_evaluator.erl",
        ),
        "dropped": Choice(
            "escapes are dropped, those behind an escape too; what follows them stands for itself", "qpid-cpp"
        ),
        "dropped_runs": Choice(
            "several `%` become one; what follows the escape stands for itself; an escape at the end is dropped",
            "Broker-J",
        ),
    },
    "like_units": {
        "characters": Choice("`_` is one code point", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "bytes": Choice("`_` is one byte of UTF-8", "qpid-cpp; sjx_evaluator.erl"),
    },
    "like_lines": {
        "all": Choice("`%` and `_` match line ends, too", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "none": Choice("neither matches a line feed", "sjx_evaluator.erl"),
        "simple": Choice(
            "`_` matches no line feed; `%` does in a pattern that has no `_` and no other `%`; any other pattern also "
            "matches with a line feed behind it",
            "RabbitMQ filter",
        ),
    },
    "letters": {
        "java": Choice("a name is of the letters of Java", "Names; Jakarta §3.8.1.1"),
        "ascii": Choice(
            "a name is of ASCII letters, digits, `_` and `$`", "ActiveMQ; Broker-J; qpid-cpp; RabbitMQ client"
        ),
        "plain": Choice("a name is of ASCII letters, digits and `_`, and begins with a letter", "RabbitMQ filter"),
        "unicode": Choice("a name is of letters, digits and `_`, and begins with a letter", "Service Bus"),
    },
    "strings": {
        "apostrophes": Choice("a string stands between apostrophes", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "either": Choice("a string stands between apostrophes or double quotes", "RabbitMQ filter"),
    },
    "words": {
        "jms": Choice("the eleven reserved words of JMS", "Syntax; TIBCO; Jakarta §3.8.1.1; Broker-J; qpid-cpp"),
        "xpath": Choice("those of JMS, XPATH and XQUERY", "ActiveMQ; Artemis"),
        "contains": Choice("those of JMS without LIKE and ESCAPE; CONTAINS, STARTSWITH, ENDSWITH", "RocketMQ"),
        "functions": Choice("those of JMS without BETWEEN; EXISTS, NAN, UTC and names of functions", "RabbitMQ filter"),
        "not_null": Choice("those of JMS without NULL and IS, which are words together only", "RabbitMQ client"),
        "exists": Choice(
            "those of JMS without BETWEEN; EXISTS; those that Transact-SQL reserves are no names without quotes",
            'Service Bus: "can\'t be a reserved keyword"',
        ),
    },
    "keyword_case": {
        "any": Choice("a keyword is written in any case", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "capitals": Choice("a keyword is written in capitals; in another case it is no name either", "RabbitMQ filter"),
    },
    "numbers": {
        "java": Choice("numbers are those of Java, by the fields above", "Jakarta §3.8.1.1"),
        "wrapped": Choice(
            "hexadecimal, octal, suffix L; what no INT64 holds keeps 32 bits where these are all that wraps to, "
            "and compares with nothing else; too great a double is infinite",
            "ActiveMQ; Artemis; Broker-J",
        ),
        "decimal": Choice("decimal ones, suffix L; `05` is `0` and a rest; a double is not zero", "RocketMQ"),
        "grouped": Choice(
            "hexadecimal, octal and binary of 64 bits, `0x1p3`, underscores, suffixes L, F and D; no subnormals",
            "qpid-cpp",
        ),
        "unbounded": Choice(
            "decimal ones of any size, digits on both sides of a point, `E` in capitals", "RabbitMQ filter"
        ),
        "suffixed": Choice("decimal ones, an exponent or a suffix F or D; `5.` but not `.5`", "RabbitMQ client"),
        "sql": Choice("decimal ones without suffixes", "Service Bus"),
    },
    "comparisons": {
        "single": Choice("a comparison is no operand of another without parentheses", "Jakarta §3.8.1.1"),
        "chained": Choice(
            "comparisons chain from the left; `=`, `<>` and IS bind less than the others",
            "ActiveMQ; Broker-J; RocketMQ",
        ),
        "values": Choice(
            "a comparison is no operand of another without parentheses, but IN, LIKE and IS are, with their name",
            "RabbitMQ client",
        ),
    },
    "arithmetic": {
        "left": Choice("`a - b - c` is `(a - b) - c`", "Jakarta §3.8.1.1"),
        "right": Choice("`a - b - c` is `a - (b - c)`", "RabbitMQ client"),
        "none": Choice("there is no arithmetic but for signs", "RocketMQ"),
    },
    "signs": {
        "repeated": Choice("a sign may stand before a sign", "Jakarta §3.8.1.1"),
        "one": Choice("one sign stands before a value", "RabbitMQ filter"),
    },
    "plus_sign": {
        "number": Choice("a plus sign stands before a number", "Jakarta §3.8.1.1"),
        "none": Choice("a plus sign before any value is no operator", "ActiveMQ; Artemis; Broker-J; RocketMQ"),
        "primary": Choice("a plus sign before a name or a literal is no operator, and stands nowhere else", "qpid-cpp"),
    },
    "in_operands": {
        "name": Choice("IN reads a name and lists strings", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "enclosed": Choice(
            "IN reads a name, also one in parentheses, and lists strings", "ActiveMQ; Broker-J; RocketMQ"
        ),
        "any": Choice("IN takes any values", "RabbitMQ filter; qpid-cpp; Service Bus"),
    },
    "like_operands": {
        "name": Choice("LIKE reads a name", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "any": Choice("LIKE takes any value on its left", "ActiveMQ; Broker-J; qpid-cpp; RabbitMQ filter"),
        "pattern": Choice("LIKE takes any value, also for a pattern and behind ESCAPE", "Service Bus"),
    },
    "null_operand": {
        "name": Choice("IS NULL reads a name", "Syntax; TIBCO; Jakarta §3.8.1.1"),
        "any": Choice("IS NULL takes any value or condition", "ActiveMQ; Broker-J; qpid-cpp; RocketMQ"),
    },
    "escape": {
        "character": Choice("an escape is one character", "Jakarta §3.8.1.1"),
        "utf16": Choice("an escape is one unit of UTF-16", "ActiveMQ; Artemis; Broker-J"),
        "byte": Choice("an escape is one byte of UTF-8 at most, and neither `%` nor `_`", "qpid-cpp"),
        "paired": Choice(
            "an escape is one character, and never the last of a pattern, which has no other control characters",
            "RabbitMQ filter",
        ),
        "any": Choice("an escape is any text", "RabbitMQ client"),
    },
    "null_value": {
        "no": Choice("NULL stands behind IS alone", "Jakarta §3.8.1.1"),
        "yes": Choice("NULL is a condition, which is UNKNOWN", "ActiveMQ; Artemis; Broker-J; RocketMQ"),
    },
    "static_types": {
        "jms": Choice("types are checked as §4 has it", "Jakarta §3.8.1.1"),
        "ordered": Choice(
            "order takes no strings and conditions, AND, OR and NOT take conditions", "ActiveMQ; Broker-J"
        ),
        "ranged": Choice(
            "order takes no strings and conditions, AND, OR and NOT take conditions; of two constants the lower bound "
            "is no greater than the upper",
            "RocketMQ",
        ),
        "numeric": Choice(
            "order and arithmetic take numbers, IN and LIKE strings, AND, OR and NOT conditions; headers of JMS have "
            "their types",
            "RabbitMQ client",
        ),
        "none": Choice("types are not checked", "RabbitMQ filter; qpid-cpp"),
    },
    "rest": {
        "error": Choice("nothing follows a complete selector", "Jakarta §3.8.1.1"),
        "ignored": Choice("what follows a complete selector is not read", "RocketMQ"),
    },
    "empty_text": {
        "true": Choice("an empty text selects everything", "Jakarta §3.8.1; qpid-cpp"),
        "error": Choice("an empty text is an error", "ActiveMQ; RabbitMQ filter; RocketMQ"),
    },
    "prefix": {
        "none": Choice("a text has no prefix", "Jakarta §3.8.1.1"),
        "hyphens": Choice("a text that begins with `hyphenated_props:` has names with hyphens", "Artemis"),
    },
    "max_depth": {
        "any": Choice("a condition is as deep as it is", "Jakarta §3.8.1: no limit"),
        "16": Choice("a condition is 16 deep at most, where `a AND b AND c` is `a AND (b AND c)`", "sjx_parser.erl"),
    },
    "max_tokens": {
        "any": Choice("a text has any number of words", "Jakarta §3.8.1: no limit"),
        "200": Choice("a text has 200 words and symbols at most", "RabbitMQ filter"),
    },
    "not_modelled": {
        "none": Choice("the product has nothing that is refused here", "this project's own choice"),
        "activemq": Choice("XPATH, XQUERY, functions and conversions of ActiveMQ are refused", "ActiveMQ"),
        "artemis": Choice("XPATH, XQUERY and conversions of Artemis are refused", "Artemis"),
        "azure": Choice("newid(), parameters and names that are computed are refused", "Service Bus"),
    },
}
# For each field that has them, the choices with which every test is one of the core as it is parsed: mostly the first.
_FIRST_IS_PLAIN = """null_equality connectives ordering arithmetic_mismatch in_mismatch like_mismatch condition_mismatch
integers division floats mixed_numbers narrow_types like_escapes like_units like_lines numbers like_operands
null_operand escape null_value static_types"""
PLAIN: dict[str, tuple[str, ...]] = {
    **{field: tuple(FIELDS[field])[:1] for field in _FIRST_IS_PLAIN.split()},
    "type_mismatch": ("operation", "selector", "unknown"),
    "between_null": ("literal", "expand"),
    "byte_strings": ("yes", "no"),
    "text_numbers": ("never",),
    "in_operands": ("name", "enclosed"),
    "words": ("jms", "xpath", "not_null"),
}
# The field whose choices are no words.
LENGTH = "max_length"
_LENGTH = Choice(
    "longest text in code points, or None", "IBM_MQ: MQ_SELECTOR_LENGTH; RABBITMQ: RabbitMQ filter; AZURE: Service Bus"
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
    "ActiveMQ": (
        "Apache ActiveMQ Classic 6.3.1, [its repository](https://github.com/apache/activemq), "
        "activemq-client/src/main/grammar/SelectorParser.jj; measured"
    ),
    "Artemis": (
        "Apache Artemis 2.56.0, [its repository](https://github.com/apache/artemis), "
        "artemis-selector/src/main/javacc/StrictParser.jj, HyphenatedParser.jj; measured"
    ),
    "Broker-J": (
        "Apache Qpid Broker-J 10.1.0, [its repository](https://github.com/apache/qpid-broker-j), "
        "broker-core/src/main/grammar/SelectorParser.jj; measured"
    ),
    "qpid-cpp": (
        "Apache Qpid C++, [its repository](https://github.com/apache/qpid-cpp), src/qpid/broker/Selector.cpp, "
        "SelectorToken.cpp; measured at 62aaa4cd"
    ),
    "RabbitMQ filter": (
        "RabbitMQ 4.3, [its repository](https://github.com/rabbitmq/rabbitmq-server), "
        "deps/rabbit/src/rabbit_amqp_sql_lexer.xrl, rabbit_amqp_sql_parser.yrl; measured"
    ),
    "RabbitMQ client": (
        "RabbitMQ JMS Client 3.7.0, [its repository](https://github.com/rabbitmq/rabbitmq-jms-client), "
        "src/main/java/com/rabbitmq/jms/parse/sql; measured"
    ),
    "RocketMQ": (
        "Apache RocketMQ 5.5.0, [its repository](https://github.com/apache/rocketmq), "
        "filter/src/main/javacc/SelectorParser.jj; measured"
    ),
    "Emulator": (
        "Azure Service Bus emulator, [issue 127](https://github.com/Azure/azure-service-bus-emulator-installer/issues/127)"
    ),
    "Service Bus": (
        "Azure Service Bus, [Subscription Rule SQL Filter Syntax]"
        "(https://learn.microsoft.com/en-us/azure/service-bus-messaging/service-bus-messaging-sql-filter); "
        "documents alone, not measured"
    ),
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
# What ActiveMQ chose, and what descends from it.
_ACTIVEMQ: dict[str, Any] = {
    "headers": "any",
    "remainder": "yes",
    "comments": "dashes",
    "letters": "ascii",
    "numbers": "wrapped",
    "comparisons": "chained",
    "plus_sign": "none",
    "in_operands": "enclosed",
    "like_operands": "any",
    "null_operand": "any",
    "escape": "utf16",
    "null_value": "yes",
    "static_types": "ordered",
    "empty_text": "error",
    "not_operand": "primary",
    "type_mismatch": "negated",
    "null_equality": "left",
    "ordering": "all",
    "arithmetic_mismatch": "joined",
    "in_mismatch": "unknown",
    "like_mismatch": "negated",
    "integers": "narrow",
    "division": "ieee",
    "floats": "total",
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
    "ACTIVEMQ": {
        **_ACTIVEMQ,
        "words": "xpath",
        "connectives": "matched",
        "not_modelled": "activemq",
        "narrow_types": "casts",
        "like_escapes": "wild",
    },
    "ARTEMIS": {
        **_ACTIVEMQ,
        "quoted_names": "double",
        "words": "xpath",
        "connectives": "matched",
        "prefix": "hyphens",
        "not_modelled": "artemis",
        "narrow_types": "gaps",
        "like_escapes": "wild",
    },
    "QPID_BROKER_J": {
        **_ACTIVEMQ,
        "not_operand": "anywhere",
        "quoted_names": "double",
        "null_equality": "value",
        "connectives": "first",
        "narrow_types": "gaps",
        "like_escapes": "dropped_runs",
    },
    "QPID_CPP": {
        "whitespace": "vertical_tab",
        "identifier_dots": "yes",
        "headers": "any",
        "quoted_names": "double",
        "letters": "ascii",
        "numbers": "grouped",
        "in_operands": "any",
        "like_operands": "any",
        "null_operand": "any",
        "escape": "byte",
        "static_types": "none",
        "between_null": "unknown",
        "arithmetic_mismatch": "unknown",
        "in_mismatch": "listed",
        "like_mismatch": "unknown",
        "condition_mismatch": "unknown",
        "integers": "long",
        "like_escapes": "dropped",
        "plus_sign": "primary",
        "null_equality": "skipped",
        "approximate_literals": "no_leading_zero",
        "like_units": "bytes",
    },
    "RABBITMQ": {
        "identifier_dots": "sections",
        "headers": "sections",
        "unequal_sign": "exclamation",
        "remainder": "yes",
        "quoted_names": "brackets",
        "letters": "plain",
        "strings": "either",
        "words": "functions",
        "keyword_case": "capitals",
        "numbers": "unbounded",
        "signs": "one",
        "in_operands": "any",
        "like_operands": "any",
        "escape": "paired",
        "static_types": "none",
        "empty_text": "error",
        "max_tokens": "200",
        LENGTH: 4_096,
        "type_mismatch": "negated",
        "ordering": "texts",
        "arithmetic_mismatch": "unknown",
        "like_mismatch": "unknown",
        "condition_mismatch": "unknown",
        "integers": "unbounded",
        "division": "unknown",
        "mixed_numbers": "exact",
        "like_escapes": "any",
        "like_lines": "simple",
        "byte_strings": "unquoted",
    },
    "RABBITMQ_JMS": {
        "whitespace": "vertical_tab",
        "identifier_dots": "yes",
        "headers": "any",
        "not_operand": "once",
        "letters": "ascii",
        "words": "not_null",
        "numbers": "suffixed",
        "arithmetic": "right",
        "comparisons": "values",
        "escape": "any",
        "static_types": "numeric",
        "empty_text": "error",
        "type_mismatch": "ordered",
        "between_null": "unknown",
        "connectives": "eager",
        "arithmetic_mismatch": "error",
        "like_mismatch": "error",
        "condition_mismatch": "unknown",
        "integers": "unbounded",
        "division": "word",
        "mixed_numbers": "exact",
        "like_escapes": "any",
        "like_units": "bytes",
        "like_lines": "none",
        "max_depth": "16",
    },
    "ROCKETMQ": {
        **_ACTIVEMQ,
        "remainder": "no",
        "words": "contains",
        "numbers": "decimal",
        "arithmetic": "none",
        "static_types": "ranged",
        "rest": "ignored",
        "text_numbers": "read",
        "condition_mismatch": "false",
        "arithmetic_mismatch": "unknown",
    },
    "AZURE_SERVICE_BUS": {
        "identifier_dots": "scopes",
        "headers": "folded",
        "unequal_sign": "exclamation",
        "remainder": "yes",
        "quoted_names": "both",
        "letters": "unicode",
        "words": "exists",
        "numbers": "sql",
        "in_operands": "any",
        "like_operands": "pattern",
        "static_types": "none",
        "empty_text": "error",
        "not_modelled": "azure",
        LENGTH: 1_024,
        "type_mismatch": "undocumented",
        "integers": "long",
    },
}


class Product(NamedTuple):
    """What a preset of a broker was held against.

    Attributes:
        product: its name, and the version whose own engine was measured; what else there is where none was.
        engine: where that engine stands in its public repository.
        not_modelled: what the preset refuses although the product reads it.
        selectors: how many had the engine's answers, and answers that were recorded.
    """

    product: str
    engine: str
    not_modelled: str = ""
    selectors: str = "376, and 5,000 random ones"


_FILTER = "src/main/java/org/apache/activemq/filter"
_CONTROL = "control characters up to U+000F behind the escape of LIKE"
PRODUCTS: dict[str, Product] = {
    "ACTIVEMQ": Product(
        "ActiveMQ Classic 6.3.1",
        f"apache/activemq, activemq-client: src/main/grammar/SelectorParser.jj, {_FILTER}",
        "functions (REGEX, INLIST, MAKELIST, SPLIT, REPLACE), XPATH, XQUERY, the prefix convert_string_expressions:, "
        f"{_CONTROL}",
    ),
    "ARTEMIS": Product(
        "Artemis 2.56.0",
        "apache/artemis, artemis-selector: src/main/javacc, src/main/java/org/apache/activemq/artemis/selector/filter",
        f"XPATH, XQUERY, the prefix convert_string_expressions:, {_CONTROL}",
    ),
    "QPID_BROKER_J": Product(
        "Qpid Broker-J 10.1.0",
        "apache/qpid-broker-j, broker-core: src/main/grammar/SelectorParser.jj, "
        "src/main/java/org/apache/qpid/server/filter",
        _CONTROL,
    ),
    "QPID_CPP": Product(
        "qpid-cpp 62aaa4cd, by its recorded answers and its source",
        "apache/qpid-cpp: src/qpid/broker/Selector.cpp, SelectorExpression.cpp, SelectorToken.cpp, SelectorValue.cpp",
        "in texts that LIKE reads, U+0000, where the engine ends them",
        "376",
    ),
    "RABBITMQ": Product(
        "RabbitMQ 4.3.6, filters of streams over AMQP 1.0",
        "rabbitmq/rabbitmq-server, deps/rabbit/src: rabbit_amqp_sql_lexer.xrl, rabbit_amqp_sql_parser.yrl, "
        "rabbit_amqp_sql_ast.erl, rabbit_amqp_filter_sql.erl",
    ),
    "RABBITMQ_JMS": Product(
        "RabbitMQ's JMS client 3.7.0, and the plug-in rabbitmq_jms_topic_exchange",
        "rabbitmq/rabbitmq-jms-client, src/main/java/com/rabbitmq/jms/parse/sql; rabbitmq/rabbitmq-server, "
        "deps/rabbitmq_jms_topic_exchange/src: sjx_evaluator.erl, sjx_parser.erl",
    ),
    "ROCKETMQ": Product(
        "RocketMQ 5.5.0",
        "apache/rocketmq, filter/src/main/java/org/apache/rocketmq/filter: parser/SelectorParser.jj, expression",
    ),
    "AZURE_SERVICE_BUS": Product(
        "documents alone: no engine could be measured",
        "[Subscription Rule SQL Filter Syntax]"
        "(https://learn.microsoft.com/en-us/azure/service-bus-messaging/service-bus-messaging-sql-filter)",
        "newid(), parameters (@p), what a comparison of different types yields",
        "none",
    ),
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


def render_products() -> str:
    """Return the table of the presets of brokers, as the README of this folder shows it."""
    rows = ["| preset | held against | selectors | engine | not modelled |", "|---|---|---|---|---|"]
    rows += [
        f"| `{name}` | {row.product} | {row.selectors} | {row.engine} | {row.not_modelled} |"
        for name, row in PRODUCTS.items()
    ]
    return "\n".join(rows).replace("|  |", "| |") + "\n"


# What is rendered into the README, by the line above it; an empty line ends it.
RENDERED = {
    "<!-- documents: generated by python mqsel/language/dialects.py -->\n": render_sources,
    "<!-- fields: generated by python mqsel/language/dialects.py -->\n": render_fields,
    "<!-- products: generated by python mqsel/language/dialects.py -->\n": render_products,
}


def _main() -> None:
    from pathlib import Path  # noqa: PLC0415 (this is a script, too: importing mqsel needs none of it)

    readme = Path(__file__).with_name("README.md")
    text = readme.read_text(encoding="utf-8")
    for marker, render in RENDERED.items():
        head, _, rest = text.partition(marker)
        text = head + marker + "\n" + render() + rest[rest.index("\n\n", 1) + 1 :]
    readme.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    _main()
