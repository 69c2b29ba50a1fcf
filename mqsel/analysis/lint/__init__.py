"""Likely mistakes in valid selectors: rules as a table, findings, edits.

A rule examines nodes of some classes, or the whole selector. An edit changes no answer, which is proved before it is
reported: by the program, or else by the normal form. Follows *IBM MQ 9.4, Selection behavior* and *Message selector
syntax*; the README of this folder lists the rules.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Container, Sequence
from typing import Any, NamedTuple

from mqsel.analysis.compare.satisfiable import contradiction, satisfied
from mqsel.analysis.compare.search import Given, contract_of, search
from mqsel.analysis.explain import near
from mqsel.analysis.lint import chains, contracts, names, products, tests
from mqsel.analysis.lint.chains import Structure, read
from mqsel.analysis.lint.findings import ERROR, NOTE, WARNING, Edit, Finding, Findings, Found, parsed, piece
from mqsel.carets import Span, cut_piece
from mqsel.errors import SelectorError
from mqsel.language import nodes
from mqsel.language.checker import MAX_TESTS
from mqsel.language.dialect import IBM_MQ, Dialect, as_dialect
from mqsel.language.nodes import And, Between, Comparison, Computed, In, IsNull, Like, Not, Or, unparse
from mqsel.language.selector import Selector, as_text, read_selector
from mqsel.logic.formulas import All, Formula, fold
from mqsel.logic.formulas import Any as AnyOf
from mqsel.machine.compiler import program_of

__all__ = ["RULES", "Edit", "Example", "Finding", "Findings", "Rule", "finding_of_place", "fixed", "lint"]


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


def _rule(find: Callable[..., Any], *row: Any, **more: Any) -> Rule:
    """Return a rule that has the name of what finds it, and looks at the nodes that this takes."""
    wanted = next(iter(find.__annotations__.values())).split(" | ")  # a text: to evaluate all takes 1.5 ms
    classes = () if wanted == ["Structure"] else tuple([getattr(nodes, one) for one in wanted])
    return Rule(find.__name__.replace("_", "-"), find, *row, **more)._replace(classes=classes)


RULES = (
    Rule(
        "invalid",
        None,
        "a text that does not compile",
        "{0}",
        "A broker that speaks this dialect refuses the text: there is no consumer, and no subscription.",
        Example("color == 'blue'", "color = 'blue'"),
        severity=ERROR,
        source="Syntax",
    ),
    _rule(
        tests.like_regular_expression,
        "signs of regular expressions in a LIKE pattern without %",
        "{0} stands for itself in a LIKE pattern: its wildcards are % for any text and _ for any one character",
        "LIKE has two wildcards; every other sign stands for itself, so this selects no text without these very signs.",
        Example("color LIKE 'bl.*'", "color LIKE 'bl%'"),
    ),
    _rule(
        tests.like_shell_pattern,
        "* or ? in a LIKE pattern without %",
        "{0} stands for itself in a LIKE pattern: the wildcard is {1}",
        "Shells write * and ?, selectors % and _: this selects a text with the sign itself, and nothing else.",
        Example("symbol LIKE 'AB*'", "symbol LIKE 'AB%'"),
    ),
    _rule(
        tests.like_without_wildcard,
        "a LIKE pattern without a wildcard",
        "the pattern {0} has no wildcard, so this is the operator {1}: write that, or put in the % that is missing",
        "Such a pattern is one text, as it would be behind =; often a % was forgotten.",
        Example("color LIKE 'blue'", "color = 'blue'"),
    ),
    _rule(
        tests.like_underscore,
        "_ between letters or digits in a LIKE pattern without ESCAPE",
        "_ is any one character in a LIKE pattern: for the sign itself write {0}",
        "The pattern selects more than it seems to: this one also a text that begins with orderXid.",
        Example("name LIKE 'order_id%'", "name LIKE 'order!_id%' ESCAPE '!'"),
        severity=NOTE,
    ),
    _rule(
        tests.unquoted_text,
        "two properties compared with = or <>, one of which is read nowhere else",
        near.unquoted("{0}"),
        "A word without apostrophes is the name of a property; messages lack it, so that none is selected.",
        Example("color = blue", "color = 'blue'"),
        source="Syntax",
    ),
    _rule(
        tests.boolean_literal,
        "'true' or 'false' as a text, or 0 or 1 for a property whose name says that it is a boolean",
        "{0} is a {1}, which a boolean never equals: if {2} is a boolean, write {2} = {3}",
        "A boolean is neither a text nor a number, and the comparison with one is never TRUE.",
        Example("active = 'true'", "active = TRUE"),
    ),
    _rule(
        tests.text_of_digits,
        "a property compared with digits between apostrophes",
        "{0} is a text, which a number never equals: if {1} is a number, write {2}",
        "Apostrophes make a text of digits. If the property is a number, nothing is selected.",
        Example("weight = '5'", "weight = 5"),
        severity=NOTE,
    ),
    _rule(
        tests.blank_at_an_end,
        "a text that begins or ends with white space",
        "{0} begins or ends with white space, which counts",
        "Texts are equal if all their characters are, blanks included; such a blank is easily overlooked.",
        Example("country = ' UK'", "country = 'UK'"),
    ),
    _rule(
        tests.quotes_in_a_text,
        "a text in quotation marks between its apostrophes",
        "the quotation marks of {0} belong to the text, and are compared: the text alone is {1}",
        "Apostrophes alone enclose a text. What stands between them is compared, quotation marks included.",
        Example("color = '\"blue\"'", "color = 'blue'"),
        source="Syntax",
    ),
    _rule(
        tests.encoded_text,
        "a text that is encoded for a URL or escaped for XML",
        "{0} is {1}, and compared as it stands: the plain text is {2}",
        "Nothing decodes a selector: a text that was escaped for its way is compared with its escapes.",
        Example("company = 'Smith &amp; Sons'", "company = 'Smith & Sons'"),
        severity=NOTE,
    ),
    _rule(
        tests.comma_in_a_list,
        "an IN list of one text with a comma in it",
        "the list has one text with a comma: two texts are written {0}",
        "A list has a text for each pair of apostrophes: this one has a single text, comma and all.",
        Example("color IN ('red, blue')", "color IN ('red', 'blue')"),
    ),
    _rule(
        tests.repeat_in_a_list,
        "a text that stands in an IN list twice",
        "{0} stands in the list twice",
        "The second one changes nothing: perhaps another text was meant.",
        Example("color IN ('red', 'blue', 'red')", "color IN ('red', 'blue')"),
    ),
    _rule(
        tests.octal_number,
        "a number with a leading zero, which dialects or pages read as different values",
        "{0} is {1}, and {2}: write it without the leading zero",
        "The same digits are another number elsewhere: 0100 is 64 in octal, and 100 in decimal.",
        Example("weight > 0100", "weight > 100"),
        source="Syntax",
    ),
    _rule(
        names.no_number,
        "Infinity or NaN, which have no literal",
        "{0} is the name of a property here: infinity and NaN have no literal",
        "Selectors have no literal for these values: the word is a property, which messages lack.",
        Example("weight < Infinity", "weight < 1.7E308"),
    ),
    _rule(
        tests.out_of_range,
        "a number that no property can have, where the dialect accepts it",
        "{0} is out of range: no check is made, and here it is {1}",
        "The number is not the one that is compared: it is rounded, or becomes infinite.",
        Example("weight < 9223372036854775808", "weight <= 9223372036854775807"),
        source="Syntax",
    ),
    _rule(
        tests.different_kinds,
        "= or <> between two constants of different kinds, where the dialect accepts it",
        "'{0}' compares {1}: it is never TRUE; {2}",
        "The comparison reads no property, and its result is always the same.",
        Example("size = 1 AND 1 = 'a'", "size = 1"),
        source="Syntax",
    ),
    _rule(
        tests.beyond_doubles,
        "equality with a floating-point number beyond 2^53, which several 64-bit integers equal",
        "{0} is a double, which more than one 64-bit integer equals: write {1}",
        "Doubles have 53 bits: beyond them, integers that differ become the same double.",
        Example("id = 9007199254740993.0", "id = 9007199254740993"),
    ),
    _rule(
        tests.header_value,
        "a header compared with a value that it never has",
        "{0} is never {1}: it is {2}",
        "The values of headers are fixed by the standard or by the product: this one does not occur.",
        Example("JMSDeliveryMode = 2", "JMSDeliveryMode = 'PERSISTENT'"),
    ),
    _rule(
        names.identifier_in_capitals,
        "an identifier in upper case that is not the whole selector",
        "{0} has digits in upper case, and identifiers of messages have lower case: write {1}",
        "Texts are compared with case, and messages have their identifiers in lower case.",
        Example("JMSMessageID LIKE 'ID:414D5120%'", "JMSMessageID LIKE 'ID:414d5120%'"),
        source="Behavior",
    ),
    _rule(
        names.match_option,
        "an identifier of 24 bytes in a form by which no queue manager looks it up",
        "every message is inspected: a queue manager looks an identifier up only if {0} is the whole selector",
        "A queue manager looks up an identifier for the plain comparison alone; otherwise it inspects every message.",
        Example(
            "(JMSMessageID = 'ID:414d5120414d5120414d5120414d5120414d5120414d5120')",
            "JMSMessageID = 'ID:414d5120414d5120414d5120414d5120414d5120414d5120'",
        ),
        severity=NOTE,
        source="Behavior",
    ),
    _rule(
        names.field_length,
        "a field of the message descriptor compared with a value of another length",
        "{0} has {1} in every message, this has {2}",
        "Fields of the message descriptor have a fixed length, and their texts are padded with blanks, which count.",
        Example("Root.MQMD.Format = 'MQSTR'", "Root.MQMD.Format = 'MQSTR   '"),
        source="Fields",
    ),
    _rule(
        tests.unit_of_time,
        "JMSTimestamp compared with seconds, a date in digits, or a number that is too long",
        "JMSTimestamp counts milliseconds since 1970: {0} is {1}{2}",
        "In another unit the number is a time in 1970, or in thousands of years: all messages are selected, or none.",
        Example("JMSTimestamp > 1700000000", "JMSTimestamp > 1700000000000"),
    ),
    _rule(
        tests.date_as_arithmetic,
        "a date without apostrophes, which is a subtraction or a division",
        "{0} is arithmetic and is {1}: write a date as the property has it, in milliseconds since 1970{2} or a text",
        "There is no literal for a date: 2011-05-18 is a subtraction.",
        Example("sent > 2011-05-18", "sent > 1305676800000"),
    ),
    _rule(
        tests.empty_range,
        "BETWEEN with a lower bound above the upper one",
        "no number is from {0} to {1}: the test is {2}",
        "The lower bound stands first; otherwise no number lies between.",
        Example("weight BETWEEN 5 AND 1", "weight BETWEEN 1 AND 5"),
    ),
    _rule(
        tests.integer_division,
        "division by a whole number",
        "an integer divided by {0} loses its remainder: write {0}.0 if that is not meant",
        "Of two integers the quotient is an integer: 5 / 2 is 2.",
        Example("weight / 2 > 10", "weight / 2.0 > 10"),
        severity=NOTE,
    ),
    _rule(
        tests.division_by_zero,
        "division by the constant zero",
        f"{near.DIVIDED_BY_ZERO}: {near.ALL_FALSE}",
        "An integer cannot be divided by zero, whatever the message.",
        Example("size = 1 / 0", "size = 1"),
        source="Syntax",
    ),
    _rule(
        tests.compared_with_itself,
        "the same on both sides of a comparison",
        "{0} is compared with itself: the test is {1}",
        "Such a test depends only on whether the property is there. IS NOT NULL is the test for that.",
        Example("color = color", "color IS NOT NULL"),
    ),
    _rule(
        tests.and_before_or,
        "an AND without parentheses in an OR, with a test of the same property as the test beside the AND",
        "AND binds before OR: {0} is joined with {1}, and {2} is not; put parentheses around what belongs together",
        "AND binds before OR, as times does before plus: the third test holds for the second alone.",
        Example("color = 'red' OR color = 'blue' AND weight > 5", "(color = 'red' OR color = 'blue') AND weight > 5"),
    ),
    _rule(
        chains.never_true,
        "tests joined by AND that exclude each other",
        "{0} is {1}{2}",
        "No message is selected: the consumer waits for ever, or the part of an OR is dead.",
        Example("weight > 5 AND weight < 3", "weight > 3 AND weight < 5"),
    ),
    _rule(
        chains.always_true,
        "tests of one property, joined by OR, of which one is TRUE whatever its value",
        "{0} is TRUE for every {1}{2}",
        "Every message that has the property is selected: the tests filter nothing.",
        Example("weight > 3 OR weight <= 5", "weight > 5 OR weight <= 3"),
    ),
    _rule(
        contracts.outside_contract,
        "with a contract, a test that is TRUE of none of its messages: of a value, type or property they do not have",
        "{0} is TRUE of no message of the contract: {1}",
        "Messages as they are sent never have what the test asks for: it is dead, or has the wrong name or value.",
        Example("color = 'green'", "color = 'red'", given="color IN ('red', 'blue')"),
    ),
    _rule(
        contracts.contract_implies,
        "with a contract, a test that is TRUE of all of its messages, or of all that have the property",
        "{0} is TRUE of every message of the contract{1}: {2}",
        "Messages as they are sent always pass the test. It guards against others, or it is superfluous.",
        Example("color IS NOT NULL AND weight > 5", "weight > 5", given="color IN ('red', 'blue')"),
        severity=NOTE,
    ),
    _rule(
        chains.implied,
        "a test that another one of the same property makes superfluous",
        "{0} adds nothing beside {1}",
        "Whatever the other test selects, this one does too: it is superfluous, or has the wrong value.",
        Example("weight > 5 AND weight > 3", "weight > 5"),
    ),
    _rule(
        chains.repeated,
        "the same part twice in one AND or OR",
        "{0} stands here twice",
        "The second one changes nothing: perhaps another property or value was meant.",
        Example("color = 'red' AND color = 'red'", "color = 'red'"),
    ),
    _rule(
        chains.constant_part,
        "a part that reads no property",
        "{0} reads no property: it is always {1}",
        "Its result is the same for every message: it is superfluous, or decides all by itself.",
        Example("1 = 1 AND color = 'red'", "color = 'red'"),
    ),
    _rule(
        chains.missing_excluded,
        "a test that excludes values, and with them the messages that lack the property",
        near.missing_is_not_unequal("{0}", "{1}"),
        "A comparison with a missing property is UNKNOWN, and NOT of that is UNKNOWN, too: only TRUE selects.",
        Example("color <> 'red'", "color <> 'red' OR color IS NULL"),
        severity=NOTE,
    ),
    _rule(
        names.mixed_kinds,
        "a property compared with values of different kinds, other than in one OR",
        "'{0}' is compared with {1}: one of them never matches",
        "A property of a message has one type, so no message meets both tests.",
        Example("code > 5 AND code <> 'x'", "code > 5 AND code <> 6"),
    ),
    _rule(
        names.header_kind,
        "a header compared with a value of a kind that it never has",
        "'{0}' is a {1} in every message: compared with a {2} it never matches{3}",
        "The types of headers are fixed, and a value of another type never equals them.",
        Example("JMSPriority = 'high'", "JMSPriority > 4"),
    ),
    _rule(
        names.descriptor_field,
        "the name of a field of the message descriptor without Root.MQMD., or with a part of it, if the dialect has it",
        "{0} is a property of the message here: the field of the message descriptor is {1}",
        "Fields are properties under the name Root.MQMD.… alone. Any other name is a property that the sender sets.",
        Example("Priority > 4", "Root.MQMD.Priority > 4"),
        source="Fields",
    ),
    _rule(
        names.header_spelling,
        "a name that is nearly a header's",
        "{0} is no header: did you mean {1}?",
        "Names are compared with case. Another spelling is a property that messages lack.",
        Example("jmspriority > 4", "JMSPriority > 4"),
    ),
    _rule(
        names.header_prefix,
        "the name of a header without JMS, or as another product has it",
        "{0} is a property of the message here: the header is {1}",
        "Without its prefix it is a property that the sender has to set. The header is another value.",
        Example("priority > 4", "JMSPriority > 4"),
        severity=NOTE,
    ),
    _rule(
        names.no_such_property,
        "a clock, the body or a system property that is not there, as the name of a property",
        "{0} is {1}",
        "The name is that of a property, which no message has: the test is never TRUE.",
        Example("JMSTimestamp > NOW - 3600000", "JMSTimestamp > 1767607200000"),
    ),
    _rule(
        names.name_with_hyphen,
        "a name or a text with a hyphen, which is a subtraction",
        "{0} is a subtraction: {1}",
        "In a name without quotes the hyphen is the minus sign, so that two properties are subtracted.",
        Example("region = eu-west", "region = 'eu-west'"),
    ),
    _rule(
        names.name_alone,
        "a selector that is one name",
        "{0} is a property that has to be TRUE: the name of a consumer or of a subscription is no selector",
        "A selector is a condition. Where tools ask for a name and for a selector, the two get mixed up.",
        Example("OrderConsumer", "consumer = 'OrderConsumer'"),
        severity=NOTE,
    ),
    _rule(
        names.name_case,
        "names that differ in case alone",
        "{0} and {1} are two properties: case counts",
        "Names are compared with case: of a message that has one of them, the other is missing.",
        Example("Color = 'red' OR color = 'blue'", "color = 'red' OR color = 'blue'"),
    ),
    _rule(
        names.two_minus_signs,
        "two minus signs side by side, which may be meant as a comment",
        "{0}",
        "Some products take what follows for a comment, others for two signs: put a blank between.",
        Example("a = 5 --b", "a = 5 - -b"),
        source="Artemis",
    ),
    _rule(
        products.not_of_a_value,
        "NOT before a test without parentheses, where the dialect negates what stands next to NOT",
        "NOT negates what stands next here, and the test compares {0}: to negate the test write NOT ({1})",
        "Here NOT belongs to the word behind it: NOT a = b is (NOT a) = b.",
        Example("NOT color = 'red'", "NOT (color = 'red')", "ARTEMIS"),
        source="Artemis",
    ),
    _rule(
        products.missing_included,
        "a test that is TRUE of messages that lack the property, in some dialects",
        "{0} is TRUE where {1} is missing: … AND {1} IS NOT NULL excludes these",
        "A missing property is unequal to every value here. In JMS the comparison is UNKNOWN, and selects nothing.",
        Example("weight <> 5", "weight <> 5 AND weight IS NOT NULL", "QPID_BROKER_J"),
        severity=NOTE,
        source="Broker-J",
    ),
    _rule(
        products.unread_rest,
        "what stands behind a complete selector, where the dialect does not read it",
        "{0} is not read: what follows a complete selector is ignored",
        "The broker stops where a selector is complete, and reports no error: what follows has no effect.",
        Example("weight = 5 garbage", "weight = 5", "ROCKETMQ"),
        source="RocketMQ",
    ),
    _rule(
        tests.many_tests,
        f"more than {MAX_TESTS} tests",
        "the selector has {0} tests: IBM MQ may refuse more than {1}{2}",
        "Beyond that number a queue manager may protect itself, and refuse the selector.",
        Example(" OR ".join(f"a = {number}" for number in range(MAX_TESTS + 1)), f"a BETWEEN 0 AND {MAX_TESTS}"),
        source="Behavior",
    ),
    Rule(
        "dropped-filter",
        None,
        "a FilterType that the emulator of Service Bus does not know",
        "the emulator drops this rule and delivers all messages: its FilterType has to be Sql or Correlation",
        "ARM templates write SqlFilter and CorrelationFilter, the emulator's Config.json Sql and Correlation. The "
        "emulator reports no error: the subscription has no rule, and receives every message.",
        Example('"FilterType": "SqlFilter"', '"FilterType": "Sql"', "AZURE_SERVICE_BUS"),
        source="Emulator",
        is_of_place=True,
    ),
)

_INVALID = RULES[0]
_OF_CODE = {rule.code: rule for rule in RULES}
_NEVER_TRUE, _ALWAYS_TRUE = _OF_CODE["never-true"], _OF_CODE["always-true"]
_OUTSIDE, _IMPLIES = _OF_CODE["outside-contract"], _OF_CODE["contract-implies"]
_SHOWN = 60  # cells of the whole, in a sentence
_SOLVED = 100  # nodes of a selector that is searched as a whole: of a hundred tests that takes longer than all rules
MAX_PROVED = 50_000  # characters of the parts whose edits are proved; findings behind them have no edits
# What to call for nodes of a class, and for the whole.
_OF_NODES: dict[type, list[tuple[Callable[..., Any], Rule]]] = {}
for _row in RULES:
    for _class in _row.classes:
        _OF_NODES.setdefault(_class, []).append((_row.find, _row))  # type: ignore[arg-type]
_CODES = frozenset(_OF_CODE)
_OF_WHOLE = [rule for rule in RULES if rule.find is not None and not rule.classes]


def lint(
    text: str, dialect: Dialect | str = IBM_MQ, *, given: Given = None, rules: Collection[str] | None = None
) -> Findings:
    """Find likely mistakes in a selector.

    Args:
        text: The selector, a str. It may be invalid.
        dialect: The `Dialect`, or its name. The default is IBM_MQ.
        given: What you know about the messages, as for `relation`. The default is None. Edits that a finding proposes
            keep the result of every message, also of messages that violate *given*.
        rules: The codes of the rules to apply. One rule may hide the finding of another. The default is all rules.

    Returns: a list of findings, in the order of the text.

    Raises: ArgumentError: if *text* is not a str, or the dialect, *given* or a rule doesn't exist.
        SelectorError: if *given* is a selector that is invalid.
    """
    contract, text = contract_of(given, dialect), as_text(text)
    try:
        selector = read_selector(text, as_dialect(dialect))
    except SelectorError as error:
        sentence = f"{error.message}; {error.hint}" if error.hint else error.message
        return Findings(text, [_finding(_INVALID, Found(error.span, (sentence,)))])
    findings = Findings(text)
    length = 0
    structure = read(selector, contract)
    pairs = [pair for pair in _found(structure) if rules is None or pair[0].code in rules]
    for rule, found in _of_whole(structure, pairs):
        finding = _finding(rule, found)
        if found.edits and length <= MAX_PROVED:
            start, stop = _around(found, selector)
            length += stop - start
            finding = finding if _is_safe(found, selector) else finding._replace(edits=())
        elif found.edits:
            finding = finding._replace(edits=())
        findings.append(finding)
    return findings


def finding_of_place(code: str, text: str) -> Finding:
    """Return the finding of a rule about what stands beside a selector, which is reported of all its text."""
    return _finding(_OF_CODE[code], Found((0, len(text))))


def _finding(rule: Rule, found: Found) -> Finding:
    return Finding(rule.code, rule.severity, found.span, rule.says.format(*found.words), found.edits)


def _found(structure: Structure) -> list[tuple[Rule, Found]]:
    selector = structure.selector
    made: list[tuple[Rule, Found]] = []
    for node in parsed(selector):
        for find, rule in _OF_NODES.get(type(node), ()):
            found = find(node, selector) if products.holds(rule.code, selector.dialect) else None
            if found is not None:
                made.append((rule, found))
    for rule in [one for one in _OF_WHOLE if products.holds(one.code, selector.dialect)]:
        made += [(rule, found) for found in rule.find(structure)]  # type: ignore[misc]
    made = [(rule, found) for rule, found in made if not contracts.is_answered(rule.code, found, structure)]
    return sorted(made, key=lambda one: one[1].span)


def _of_whole(structure: Structure, made: list[tuple[Rule, Found]]) -> list[tuple[Rule, Found]]:
    """Add what a search of the whole shows: it is TRUE of no message, or of every message of a contract.

    Of no message is for a cause that no rule sees: several properties, or ORs in an AND.
    """
    selector, contract, budget = structure.selector, structure.contract, structure.budget
    by_others = [found.span for rule, found in made if rule.severity != NOTE and rule is not _OUTSIDE]
    made = [(rule, found) for rule, found in made if rule is not _OUTSIDE or not _is_told(found.span, by_others)]
    if len(selector.order) > _SOLVED:
        return made
    cases = [(None, "")] + [(contract, " of a message of the contract")] * (contract is not None)
    for said, of_which in cases:
        if satisfied(selector, said, budget.share(contracts.OF_SEARCH)).is_none:
            parts = contradiction(selector, said, budget)
            told = [found.span for rule, found in made if rule.severity != NOTE]
            if not any(_is_told(part.span, told) for part in parts):
                pieces = [(type(one) is Or, piece(selector.text, one)) for one in parts]
                words = " AND ".join([f"({text})" if is_or else text for is_or, text in pieces])
                span = parts[0].span[0], parts[-1].span[1]
                made.append((_NEVER_TRUE, Found(span, (words, f"never TRUE{of_which}", ""))))
            return sorted(made, key=lambda one: one[1].span)
    if contract is not None and selector.names:
        own = budget.share(contracts.OF_SEARCH)
        matches = selector.machine.matches
        if search(contract, (selector,), (selector.not_true,), lambda one: not matches(one), own).is_none:
            words = cut_piece(piece(selector.text, selector.node), _SHOWN)
            made = [pair for pair in made if pair[0] is not _IMPLIES]
            made.append((_ALWAYS_TRUE, Found(selector.node.span, (words, "message of the contract", ""))))
    return sorted(made, key=lambda one: one[1].span)


def _is_told(span: Span, told: Sequence[Span]) -> bool:
    return any(start < span[1] and span[0] < stop for start, stop in told)


# ---- edits -----------------------------------------------------------------------------------------------------------


def fixed(text: str, dialect: Dialect | str = IBM_MQ, rules: Container[str] = _CODES) -> str:
    """Apply the edits of findings until none has any. No message is selected otherwise.

    All of one rule at once where that is proved to be the same selector, or else one: each takes a proof.

    Args:
        rules: the codes of those whose edits are applied.

    Raises: ArgumentError: no text, or no dialect.
    """
    text, dialect = as_text(text), as_dialect(dialect)
    while True:
        try:
            selector = read_selector(text, dialect)
        except SelectorError:
            return text
        findings = [(rule, found) for rule, found in _found(read(selector)) if found.edits and rule.code in rules]
        alike = _together([found for rule, found in findings if rule is findings[0][0]])
        safe = (found for found in (alike, *[one for _, one in findings]) if found.edits and _is_safe(found, selector))
        edits = next(safe, Found((0, 0))).edits
        if not edits:
            return text
        text = edited(text, edits)


def _together(findings: Sequence[Found]) -> Found:
    """Join the edits of findings, but for those that change what another one has changed."""
    edits: list[Edit] = []
    for edit in sorted(edit for found in findings for edit in found.edits):
        if not edits or edits[-1].span[1] <= edit.span[0]:
            edits.append(edit)
    return Found((0, 0), edits=tuple(edits))


def edited(text: str, edits: Sequence[Edit]) -> str:
    """Return a text with some pieces of it replaced."""
    pieces, at = [], 0
    for (start, stop), new in edits:
        pieces += [text[at:start], new]
        at = stop
    return "".join([*pieces, text[at:]])


_CONDITIONS = (And, Or, Not, Comparison, Between, In, Like, IsNull)


def _around(found: Found, selector: Selector) -> Span:
    """Return where the smallest condition stands that edits are part of."""
    first, last = found.edits[0].span[0], found.edits[-1].span[1]
    # Children stand before their parents.
    conditions = (one.span for one in selector.order if isinstance(one, _CONDITIONS))
    return next((span for span in conditions if span[0] <= first and last <= span[1]), (0, len(selector.text)))


def _is_safe(found: Found, selector: Selector) -> bool:
    """Prove that edits leave the same selector: by the program, or else by the normal form, of the part around them."""
    text, dialect = selector.text, selector.dialect
    start, stop = _around(found, selector)
    moved = [Edit((edit.span[0] - start, edit.span[1] - start), edit.text) for edit in found.edits]
    try:
        whole = read_selector(edited(text, found.edits), dialect)
        part = dialect.replace(constant_false="accept")
        parts = [read_selector(one, part) for one in (text[start:stop], edited(text[start:stop], moved))]
    except SelectorError:  # longer, or deeper, than the dialect allows
        return False
    if selector.match_option != whole.match_option:
        return False
    one, other = [program_of(each) for each in parts]
    # A program has its computed tests in its text alone.
    tests = [[unparse(node.expression, dialect) for node in each.order if isinstance(node, Computed)] for each in parts]
    is_one_program = (one.code, repr(one.constants), one.slots) == (other.code, repr(other.constants), other.slots)
    if is_one_program and tests[0] == tests[1]:
        return True
    known: dict[object, int] = {}
    numbers = [[_number(formula, known) for formula in each.formulas.truths] for each in parts]
    return numbers[0] == numbers[1]


def _number(formula: Formula, known: dict[object, int]) -> int:
    """Number a formula: equal ones alike, whatever the order of their parts and however often one is said."""

    def numbered(key: object) -> int:
        return known.setdefault(key, len(known))

    def joined(connective: type, parts: Sequence[int]) -> int:
        return parts[0] if len({*parts}) == 1 else numbered((connective, frozenset(parts)))

    number: int = fold(formula, numbered, functools.partial(joined, All), functools.partial(joined, AnyOf))
    return number
