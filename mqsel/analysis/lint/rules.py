"""The rules of lint, as a table: each row has a code, the texts, an example, and the function that applies the rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from mqsel.analysis.explain import near
from mqsel.analysis.lint import chains, rules_of_contracts, rules_of_names, rules_of_products, rules_of_tests
from mqsel.analysis.lint.findings import ERROR, NOTE, WARNING
from mqsel.language import nodes
from mqsel.language.checker import MAX_TESTS


class Example(NamedTuple):
    """A selector in which a rule finds a mistake, and the correction.

    Attributes:
        found: The selector with the mistake.
        instead: The selector without it.
        dialect: The name of the dialect.
        given: What is known about the messages, for rules that need it; otherwise empty.
    """

    found: str
    instead: str
    dialect: str = "IBM_MQ"
    given: str = ""


class Rule(NamedTuple):
    """A rule of `lint`.

    Attributes:
        code: The code of the rule, which doesn't change in later versions.
        find: A function that returns what the rule finds in a node and the selector, or None; or all that it finds in a
            `Structure`.
        about: What the rule finds, for lists of rules.
        says: The sentence of a finding, with places for its words.
        why: Why it is a mistake.
        example: A selector with the mistake, and without.
        classes: The classes of nodes that the rule checks; empty if it checks the whole selector.
        severity: "error", "warning" or "note", as in `Finding`.
        source: The document that is the source of the rule, a key of `mqsel.language.dialects.SOURCES`.
        is_of_place: Whether the rule is about the surroundings of a selector in its file. Then the inventory applies
            it, and the example is a piece of such a file.
    """

    code: str
    find: Callable[..., Any] | None
    about: str
    says: str
    why: str
    example: Example
    classes: tuple[type, ...] = ()
    severity: str = WARNING
    source: str = "Jakarta"
    is_of_place: bool = False


def _rule(find: Callable[..., Any], *row: Any, **options: Any) -> Rule:
    """Return a rule that has the name of its function, and checks nodes of the classes that this function takes."""
    # The annotation is a string. To evaluate the annotations of all rules takes 1.5 ms.
    argument = next(iter(find.__annotations__.values())).split(" | ")
    classes = () if argument == ["Structure"] else tuple([getattr(nodes, name) for name in argument])
    return Rule(find.__name__.replace("_", "-"), find, *row, **options)._replace(classes=classes)


RULES = (
    Rule(
        "invalid",
        None,
        "A selector that is invalid in its dialect",
        "{0}",
        "The broker rejects the selector, so there is no consumer and no subscription.",
        Example("color == 'blue'", "color = 'blue'"),
        severity=ERROR,
        source="Syntax",
    ),
    _rule(
        rules_of_tests.like_regular_expression,
        "A LIKE pattern without % that looks like a regular expression",
        "{0} has no special meaning in a LIKE pattern: write % for any string and _ for any one character",
        "LIKE has only the wildcards % and _. It compares all other characters as they are.",
        Example("color LIKE 'bl.*'", "color LIKE 'bl%'"),
    ),
    _rule(
        rules_of_tests.like_shell_pattern,
        "A LIKE pattern without % that contains * or ?",
        "{0} has no special meaning in a LIKE pattern: the wildcard is {1}",
        "Shells use * and ? as wildcards, and selectors use % and _. This pattern matches only the character itself.",
        Example("symbol LIKE 'AB*'", "symbol LIKE 'AB%'"),
    ),
    _rule(
        rules_of_tests.like_without_wildcard,
        "A LIKE pattern without a wildcard",
        "the pattern {0} has no wildcard, so LIKE means {1}: write {1}, or add the missing %",
        "Such a pattern matches exactly one string. Perhaps you forgot a %.",
        Example("color LIKE 'blue'", "color = 'blue'"),
    ),
    _rule(
        rules_of_tests.like_underscore,
        "A LIKE pattern without ESCAPE that has _ between letters or digits",
        "_ matches any character in a LIKE pattern: to match only the underscore, write {0}",
        "The pattern matches more than it seems to. In the example, it also matches orderXid.",
        Example("name LIKE 'order_id%'", "name LIKE 'order!_id%' ESCAPE '!'"),
        severity=NOTE,
    ),
    _rule(
        rules_of_tests.unquoted_text,
        "A comparison of two properties with = or <>, if the selector reads one of them nowhere else",
        near.unquoted("{0}"),
        "A word without single quotes is the name of a property. If messages don't have it, none is selected.",
        Example("color = blue", "color = 'blue'"),
        source="Syntax",
    ),
    _rule(
        rules_of_tests.boolean_literal,
        "The string 'true' or 'false', or a 0 or 1 for a property whose name sounds like a boolean",
        "{0} is a {1}, which never equals a boolean: if {2} is a boolean, write {2} = {3}",
        "If the property is a boolean, the comparison is a type mismatch and never TRUE.",
        Example("active = 'true'", "active = TRUE"),
    ),
    _rule(
        rules_of_tests.text_of_digits,
        "A comparison of a property with a number in single quotes",
        "{0} is a string, which never equals a number: if {1} is a number, write {2}",
        "If the property is a number, the comparison is a type mismatch and never TRUE.",
        Example("weight = '5'", "weight = 5"),
        severity=NOTE,
    ),
    _rule(
        rules_of_tests.blank_at_an_end,
        "A string that begins or ends with white space",
        "{0} begins or ends with white space, which counts in a comparison",
        "Two strings are equal only if all their characters are equal, spaces included.",
        Example("country = ' UK'", "country = 'UK'"),
    ),
    _rule(
        rules_of_tests.quotes_in_a_text,
        "A string that contains quotation marks at both ends",
        "the quotation marks in {0} are part of the string: without them, write {1}",
        "Only single quotes enclose a string. Other quotation marks inside them are compared.",
        Example("color = '\"blue\"'", "color = 'blue'"),
        source="Syntax",
    ),
    _rule(
        rules_of_tests.encoded_text,
        "A string that is encoded for a URL or escaped for XML",
        "{0} is {1}, but brokers don't decode strings: the plain string is {2}",
        "The broker compares the string as it is, with its escape sequences.",
        Example("company = 'Smith &amp; Sons'", "company = 'Smith & Sons'"),
        severity=NOTE,
    ),
    _rule(
        rules_of_tests.comma_in_a_list,
        "An IN list with a single string that contains a comma",
        "the list has one string with a comma in it: for several strings, write {0}",
        "Each string in a list needs its own single quotes. This list has one string, which includes the comma.",
        Example("color IN ('red, blue')", "color IN ('red', 'blue')"),
    ),
    _rule(
        rules_of_tests.repeat_in_a_list,
        "A string that is in an IN list twice",
        "{0} is in the list twice",
        "The second string has no effect. Perhaps you meant another string.",
        Example("color IN ('red', 'blue', 'red')", "color IN ('red', 'blue')"),
    ),
    _rule(
        rules_of_tests.octal_number,
        "A number with a leading zero that dialects read as different values",
        "{0} is {1} in this dialect, and {2}: write the number without the leading zero",
        "The same digits mean different numbers: 0100 is 64 if it is octal, and 100 if it is decimal.",
        Example("weight > 0100", "weight > 100"),
        source="Syntax",
    ),
    _rule(
        rules_of_names.no_number,
        "Infinity or NaN, which selectors can't write",
        "{0} is the name of a property: selectors have no literal for infinity and NaN",
        "The word is the name of a property, which messages don't have.",
        Example("weight < Infinity", "weight < 1.7E308"),
    ),
    _rule(
        rules_of_tests.out_of_range,
        "A number that no property can have, if the dialect accepts it",
        "{0} is out of range, but the broker doesn't report it: it compares with {1}",
        "The broker rounds the number, or makes it infinite, and compares with the result.",
        Example("weight < 9223372036854775808", "weight <= 9223372036854775807"),
        source="Syntax",
    ),
    _rule(
        rules_of_tests.different_kinds,
        "A comparison of two constants of different types with = or <>, if the dialect accepts it",
        "'{0}' compares {1}: a type mismatch is never TRUE; {2}",
        "The comparison reads no property, so its result is the same for every message.",
        Example("size = 1 AND 1 = 'a'", "size = 1"),
        source="Syntax",
    ),
    _rule(
        rules_of_tests.beyond_doubles,
        "Equality with a floating-point number beyond 2^53, which several 64-bit integers equal",
        "{0} is a floating-point number, which equals several 64-bit integers: write {1}",
        "Floating-point numbers have 53 bits. Beyond 2^53, different integers become the same floating-point number.",
        Example("id = 9007199254740993.0", "id = 9007199254740993"),
    ),
    _rule(
        rules_of_tests.header_value,
        "A comparison of a header with a value that it never has",
        "{0} is never {1}: it is {2}",
        "The standard or the product defines the possible values of headers.",
        Example("JMSDeliveryMode = 2", "JMSDeliveryMode = 'PERSISTENT'"),
    ),
    _rule(
        rules_of_names.identifier_in_capitals,
        "An identifier with uppercase digits that isn't the whole selector",
        "{0} has uppercase hexadecimal digits, but messages have lowercase ones: write {1}",
        "Strings are compared case-sensitively, and messages have their identifiers in lowercase.",
        Example("JMSMessageID LIKE 'ID:414D5120%'", "JMSMessageID LIKE 'ID:414d5120%'"),
        source="Behavior",
    ),
    _rule(
        rules_of_names.match_option,
        "A comparison with an identifier of 24 bytes that the queue manager can't look up",
        "the queue manager reads every message: it looks an identifier up only if {0} is the whole selector",
        "A queue manager finds an identifier quickly only if the selector is a plain comparison with it.",
        Example(
            "(JMSMessageID = 'ID:414d5120414d5120414d5120414d5120414d5120414d5120')",
            "JMSMessageID = 'ID:414d5120414d5120414d5120414d5120414d5120414d5120'",
        ),
        severity=NOTE,
        source="Behavior",
    ),
    _rule(
        rules_of_names.field_length,
        "A comparison of a field of the message descriptor with a value of another length",
        "{0} has {1} in every message, but this value has {2}",
        "Fields of the message descriptor have a fixed length. Strings in them end with spaces, which are compared.",
        Example("Root.MQMD.Format = 'MQSTR'", "Root.MQMD.Format = 'MQSTR   '"),
        source="Fields",
    ),
    _rule(
        rules_of_tests.unit_of_time,
        "JMSTimestamp compared with seconds, with the digits of a date, or with a number that is too long",
        "JMSTimestamp counts milliseconds since 1970, so {0} is {1}{2}",
        "In milliseconds, the number is a time in 1970 or thousands of years from now. So the test is TRUE for all "
        "messages or for none.",
        Example("JMSTimestamp > 1700000000", "JMSTimestamp > 1700000000000"),
    ),
    _rule(
        rules_of_tests.date_as_arithmetic,
        "A date without single quotes, which is a subtraction or a division",
        "{0} is a {1} ({2}), not a date: write {3} if the property counts milliseconds, or '{0}' if it is a string",
        "Selectors have no literal for dates. 2011-05-18 is a subtraction of numbers.",
        Example("sent > 2011-05-18", "sent > 1305676800000"),
    ),
    _rule(
        rules_of_tests.empty_range,
        "BETWEEN with a lower bound that is greater than the upper bound",
        "no number is between {0} and {1}, so the test is {2}: write the lower bound first",
        "The first bound is the lower one.",
        Example("weight BETWEEN 5 AND 1", "weight BETWEEN 1 AND 5"),
    ),
    _rule(
        rules_of_tests.integer_division,
        "Division by an integer",
        "the quotient of an integer and {0} is an integer: if you want the fraction, write {0}.0",
        "If you divide an integer by an integer, the broker drops the fraction: 5 / 2 is 2.",
        Example("weight / 2 > 10", "weight / 2.0 > 10"),
        severity=NOTE,
    ),
    _rule(
        rules_of_tests.division_by_zero,
        "Division by the constant zero",
        f"{near.DIVIDED_BY_ZERO}: {near.ALL_FALSE}",
        "The broker can't divide an integer by zero, so the selector matches no message.",
        Example("size = 1 / 0", "size = 1"),
        source="Syntax",
    ),
    _rule(
        rules_of_tests.compared_with_itself,
        "A comparison of a value with itself",
        "the selector compares {0} with itself: the test is {1}",
        "The result depends only on whether a message has the property. For that, use IS NOT NULL.",
        Example("color = color", "color IS NOT NULL"),
    ),
    _rule(
        rules_of_tests.and_before_or,
        "An AND without parentheses in an OR, next to a test of the same property",
        "AND binds before OR, so {0} belongs to {1}, but {2} doesn't: put parentheses around the tests that belong "
        "together",
        "AND binds before OR, as multiplication binds before addition. In the example, the test of weight applies only "
        "to blue messages.",
        Example("color = 'red' OR color = 'blue' AND weight > 5", "(color = 'red' OR color = 'blue') AND weight > 5"),
    ),
    _rule(
        chains.never_true,
        "Tests joined by AND that exclude each other",
        "{0} is {1}{2}",
        "The selector matches no message, or a part of an OR never does.",
        Example("weight > 5 AND weight < 3", "weight > 3 AND weight < 5"),
    ),
    _rule(
        chains.always_true,
        "Tests of one property joined by OR, if one of them is TRUE for every value",
        "{0} is TRUE for every {1}{2}",
        "The tests reject no message that has the property.",
        Example("weight > 3 OR weight <= 5", "weight > 5 OR weight <= 3"),
    ),
    _rule(
        rules_of_contracts.outside_contract,
        "With a contract: a test that is TRUE for none of its messages, because of a property, type or value",
        "{0} is TRUE for no message of the contract: {1}",
        "Your messages never pass the test. Perhaps it has the wrong name or the wrong value.",
        Example("color = 'green'", "color = 'red'", given="color IN ('red', 'blue')"),
    ),
    _rule(
        rules_of_contracts.contract_implies,
        "With a contract: a test that is TRUE for all its messages, or for all that have the property",
        "{0} is TRUE for every message of the contract{1}: {2}",
        "Your messages always pass the test. You need it only for messages that violate the contract.",
        Example("color IS NOT NULL AND weight > 5", "weight > 5", given="color IN ('red', 'blue')"),
        severity=NOTE,
    ),
    _rule(
        chains.implied,
        "A test that has no effect because of another test of the same property",
        "{0} has no effect next to {1}",
        "The selector matches the same messages without the test. Perhaps the test has the wrong value.",
        Example("weight > 5 AND weight > 3", "weight > 5"),
    ),
    _rule(
        chains.repeated,
        "A part that an AND or OR contains twice",
        "{0} is repeated, and the repetition has no effect",
        "The second part has no effect. Perhaps you meant another property or value.",
        Example("color = 'red' AND color = 'red'", "color = 'red'"),
    ),
    _rule(
        chains.constant_part,
        "A part that reads no property",
        "{0} reads no property, so it is always {1}",
        "The part has no effect, or it alone decides the result.",
        Example("1 = 1 AND color = 'red'", "color = 'red'"),
    ),
    _rule(
        chains.missing_excluded,
        "A test that excludes values, and also the messages without the property",
        near.missing_is_not_unequal("{0}", "{1}"),
        "A comparison with a missing property is UNKNOWN, and so is its negation. Only TRUE selects a message.",
        Example("color <> 'red'", "color <> 'red' OR color IS NULL"),
        severity=NOTE,
    ),
    _rule(
        rules_of_names.mixed_kinds,
        "A property that is compared with values of different types, unless one OR joins the tests",
        "the selector compares {0} with {1}: for each message, one of them is a type mismatch",
        "In each message, a property has one type. So no message passes both tests.",
        Example("code > 5 AND code <> 'x'", "code > 5 AND code <> 6"),
    ),
    _rule(
        rules_of_names.header_kind,
        "A comparison of a header with a value of a type that it never has",
        "{0} is a {1} in every message, so a comparison with a {2} is a type mismatch{3}",
        "Headers have fixed types, and a value of another type never equals them.",
        Example("JMSPriority = 'high'", "JMSPriority > 4"),
    ),
    _rule(
        rules_of_names.descriptor_field,
        "The name of a field of the message descriptor without Root.MQMD. or with only a part of it",
        "{0} is a property that the sender sets: the field of the message descriptor is {1}",
        "A selector reads a field of the message descriptor only by a name with the prefix Root.MQMD.",
        Example("Priority > 4", "Root.MQMD.Priority > 4"),
        source="Fields",
    ),
    _rule(
        rules_of_names.header_spelling,
        "A name that is almost the name of a header",
        "{0} isn't a header: did you mean {1}?",
        "Names are case-sensitive. A name with another spelling is a property, which messages don't have.",
        Example("jmspriority > 4", "JMSPriority > 4"),
    ),
    _rule(
        rules_of_names.header_prefix,
        "The name of a header without JMS, or the name that another product gives it",
        "{0} is a property that the sender sets: the header is {1}",
        "Without its prefix, the name is a property of the message, and the header has another value.",
        Example("priority > 4", "JMSPriority > 4"),
        severity=NOTE,
    ),
    _rule(
        rules_of_names.no_such_property,
        "The name of a clock, of the message body, or of a system property that doesn't exist",
        "{0} is {1}",
        "The broker reads the name as a property, which no message has. So the test is never TRUE.",
        Example("JMSTimestamp > NOW - 3600000", "JMSTimestamp > 1767607200000"),
    ),
    _rule(
        rules_of_names.name_with_hyphen,
        "A name or string with a hyphen, which is a subtraction",
        "{0} is a subtraction: {1}",
        "Without quotes, a hyphen is the minus sign, and the broker subtracts one property from another.",
        Example("region = eu-west", "region = 'eu-west'"),
    ),
    _rule(
        rules_of_names.name_alone,
        "A selector that consists of one name",
        "this selects messages whose property {0} is TRUE: a selector isn't the name of a consumer or subscription",
        "Some tools ask for a name and for a selector. Perhaps you wrote the name into the wrong field.",
        Example("OrderConsumer", "consumer = 'OrderConsumer'"),
        severity=NOTE,
    ),
    _rule(
        rules_of_names.name_case,
        "Names that differ only in case",
        "{0} and {1} are different properties: names are case-sensitive",
        "If a message has one of the properties, it usually doesn't have the other.",
        Example("Color = 'red' OR color = 'blue'", "color = 'red' OR color = 'blue'"),
    ),
    _rule(
        rules_of_names.two_minus_signs,
        "Two minus signs next to each other, which may be meant as a comment",
        "{0}",
        "Some products read a comment here, and others two minus signs. Put a space between them.",
        Example("a = 5 --b", "a = 5 - -b"),
        source="Artemis",
    ),
    _rule(
        rules_of_products.not_of_a_value,
        "NOT before a test without parentheses, if the dialect applies NOT to the next operand",
        "in this dialect, NOT applies to the next operand, so the test compares {0}: to negate the test, write "
        "NOT ({1})",
        "In this dialect, NOT a = b means (NOT a) = b.",
        Example("NOT color = 'red'", "NOT (color = 'red')", "ARTEMIS"),
        source="Artemis",
    ),
    _rule(
        rules_of_products.missing_included,
        "A test that is TRUE for messages without the property, in dialects that evaluate it so",
        "{0} is TRUE if {1} is missing: to exclude these messages, write … AND {1} IS NOT NULL",
        "In this dialect, a missing property differs from every value. In JMS, the comparison would be UNKNOWN.",
        Example("weight <> 5", "weight <> 5 AND weight IS NOT NULL", "QPID_BROKER_J"),
        severity=NOTE,
        source="Broker-J",
    ),
    _rule(
        rules_of_products.unread_rest,
        "Text after a complete selector, if the dialect ignores it",
        "the broker ignores {0}, because the selector before it is complete",
        "The broker stops reading at the end of a complete selector and reports no error.",
        Example("weight = 5 garbage", "weight = 5", "ROCKETMQ"),
        source="RocketMQ",
    ),
    _rule(
        rules_of_tests.many_tests,
        f"More than {MAX_TESTS} tests",
        "the selector has {0} tests, and IBM MQ may reject more than {1}{2}",
        "A queue manager may reject larger selectors to protect itself.",
        Example(" OR ".join(f"a = {number}" for number in range(MAX_TESTS + 1)), f"a BETWEEN 0 AND {MAX_TESTS}"),
        source="Behavior",
    ),
    Rule(
        "dropped-filter",
        None,
        "A FilterType that the Service Bus emulator doesn't know",
        "the emulator drops this rule and delivers all messages: write Sql or Correlation as FilterType",
        "ARM templates use SqlFilter and CorrelationFilter, and the Config.json of the emulator uses Sql and "
        "Correlation. The emulator reports no error, and the subscription receives every message.",
        Example('"FilterType": "SqlFilter"', '"FilterType": "Sql"', "AZURE_SERVICE_BUS"),
        source="Emulator",
        is_of_place=True,
    ),
)
